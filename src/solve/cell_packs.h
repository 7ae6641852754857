/* The cells of one colour in a pack, UND_PACK_LANES of its eight at a time, in the compilers' own vectors:
 * all of them, or one (UND_ONE_LANE), which is what a device with threads of its own has. */
#ifndef UND_SOLVE_CELL_PACKS_H
#define UND_SOLVE_CELL_PACKS_H

#include "base/lanes.h"

#include <stdbool.h>
#include <stddef.h>

#ifdef UND_ONE_LANE
enum { UND_PACK_LANES = 1 };
#else
enum { UND_PACK_LANES = 8 };
#endif

typedef float und_pack_float __attribute__((vector_size(4 * UND_PACK_LANES), aligned(4), may_alias));
typedef int32_t und_pack_int __attribute__((vector_size(4 * UND_PACK_LANES), aligned(4), may_alias));
typedef double und_pack_double __attribute__((vector_size(8 * UND_PACK_LANES), aligned(8), may_alias));
typedef int64_t und_pack_long __attribute__((vector_size(8 * UND_PACK_LANES), aligned(8), may_alias));

/* What stands at p and on, floats or doubles: to be read or, where p is not const, written. */
#define UND_PF(p) (*(const und_pack_float *)(p))
#define UND_PD(p) (*(const und_pack_double *)(p))
#define UND_PD_OF(p) und_pack_double_of(UND_PF(p)) /* of floats */
#define UND_SET_PF(p) (*(und_pack_float *)(p))
#define UND_SET_PD(p) (*(und_pack_double *)(p))

UND_INLINE und_pack_double und_pack_double_of(und_pack_float v)
{
#ifdef UND_LANES_512 /* of which gcc 12 makes two halves */
    return (und_pack_double)_mm512_cvtps_pd((__m256)v);
#else
    return __builtin_convertvector(v, und_pack_double);
#endif
}

/* -1 where the bit of a cell is set, from `lane` on. */
UND_INLINE und_pack_int und_pack_where(unsigned bits, int lane)
{
#ifdef UND_ONE_LANE
    return (und_pack_int){-(int32_t)(bits >> lane & 1)};
#else
    const und_pack_int bit = {1, 2, 4, 8, 16, 32, 64, 128};
    (void)lane;
    return (((und_pack_int){0} + (int32_t)bits) & bit) != 0;
#endif
}

/* Every second of sixteen values from `from` on, the even ones or the odd: those of lanes from `lane` on. */
#ifdef UND_ONE_LANE
#define UND_PACK_SECOND(type, from, odd, lane) ((type){(from)[2 * (lane) + (odd)]})
#else
#define UND_PACK_SECOND(type, from, odd, lane)                                                              \
    ((odd) ? __builtin_shufflevector(*(const type *)(from), *(const type *)((from) + UND_PACK_LANES), 1, 3, \
                                     5, 7, 9, 11, 13, 15)                                                   \
           : __builtin_shufflevector(*(const type *)(from), *(const type *)((from) + UND_PACK_LANES), 0, 2, \
                                     4, 6, 8, 10, 12, 14))
#endif

/* Eight floats of a row: where a level is set. */
typedef float und_f8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t und_i8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef double und_d8 __attribute__((vector_size(64)));
#define UND_F8(p) (*(const und_f8 *)(p))
#define UND_SET_F8(p) (*(und_f8 *)(p))

/* Not 0 where one of sixteen values is not 1 whose bit is set, in the lane of either pack. */
static inline und_i8 und_not_one(const float *v, unsigned bits)
{
    const und_i8 bit = {1, 2, 4, 8, 16, 32, 64, 128}, none = {0};
    return ((UND_F8(v) != 1.0f) & (((none + (int)bits) & bit) != 0)) |
           ((UND_F8(v + 8) != 1.0f) & (((none + (int)(bits >> 8)) & bit) != 0));
}
/* 1 where a bit is set. */
static inline und_f8 und_ones(unsigned bits)
{
    const und_i8 bit = {1, 2, 4, 8, 16, 32, 64, 128}, none = {0};
    const und_f8 one = {1, 1, 1, 1, 1, 1, 1, 1};
    return (und_f8)((und_i8)one & (((none + (int)bits) & bit) != 0));
}
/* Bits of those above 0. */
static inline unsigned und_d8_above(und_d8 v)
{
    unsigned bits = 0;
#ifdef __AVX512F__
    bits = _mm512_cmp_pd_mask((__m512d)v, _mm512_setzero_pd(), _CMP_GT_OQ);
#else
    for (int i = 0; i < 8; i++)
        bits |= (unsigned)(v[i] > 0) << i;
#endif
    return bits;
}
static inline bool und_i8_any(const und_i8 *v)
{
    int any = 0;
    for (int i = 0; i < 8; i++)
        any |= (*v)[i];
    return any;
}

#endif
