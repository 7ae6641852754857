/* Eight floats or four doubles at a time, in the compilers' own vectors: where a loop's sums or mixed types
 * keep them from finding it out. */
#ifndef UND_SOLVE_CELL_PACKS_H
#define UND_SOLVE_CELL_PACKS_H

#include <stdbool.h>
#include <stdint.h>

typedef float und_f8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float und_f4 __attribute__((vector_size(16), aligned(4), may_alias));
typedef double und_d4 __attribute__((vector_size(32), aligned(8), may_alias));
typedef int32_t und_i8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int64_t und_i4 __attribute__((vector_size(32), aligned(8), may_alias));

/* What stands at p and on: to be read or, where p is not const, written. */
#define UND_F8(p) (*(const und_f8 *)(p))
#define UND_F4(p) (*(const und_f4 *)(p))
#define UND_D4(p) (*(const und_d4 *)(p))
#define UND_D4_OF(p) ((und_d4){(p)[0], (p)[1], (p)[2], (p)[3]}) /* of floats: one instruction */
#define UND_SET_F8(p) (*(und_f8 *)(p))
#define UND_SET_F4(p) (*(und_f4 *)(p))
#define UND_SET_D4(p) (*(und_d4 *)(p))

static inline double und_f8_sum(const und_f8 *v)
{
    double sum = 0;
    for (int i = 0; i < 8; i++)
        sum += (double)(*v)[i];
    return sum;
}

/* Not 0 where one of sixteen values is not 1 whose bit is set, in the lane of either pack. */
static inline und_i8 und_not_one(const float *v, unsigned bits)
{
    const und_i8 bit = {1, 2, 4, 8, 16, 32, 64, 128}, none = {0};
    return ((UND_F8(v) != 1.0f) & (((none + (int)bits) & bit) != 0)) |
           ((UND_F8(v + 8) != 1.0f) & (((none + (int)(bits >> 8)) & bit) != 0));
}
static inline bool und_i8_any(const und_i8 *v)
{
    int any = 0;
    for (int i = 0; i < 8; i++)
        any |= (*v)[i];
    return any;
}

#endif
