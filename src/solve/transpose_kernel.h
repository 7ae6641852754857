/* Turns rows into lanes: blocks of floats transposed in registers. */
#ifndef UND_SOLVE_TRANSPOSE_KERNEL_H
#define UND_SOLVE_TRANSPOSE_KERNEL_H

#include <stddef.h>

typedef float und_v8 __attribute__((vector_size(32), aligned(4), may_alias));

#define UND_MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define UND_PAIR_LOW(a, b) UND_MIX(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define UND_PAIR_HIGH(a, b) UND_MIX(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define UND_FOUR_LOW(a, b) UND_MIX(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define UND_FOUR_HIGH(a, b) UND_MIX(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define UND_HALF_LOW(a, b) UND_MIX(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define UND_HALF_HIGH(a, b) UND_MIX(a, b, 4, 5, 6, 7, 12, 13, 14, 15)

static inline und_v8 und_row8(const float *rows, size_t stride, int row)
{
    return *(const und_v8 *)(rows + (size_t)row * stride);
}

/* Four rows of an 8 x 8 block: interleaved by pairs, then by fours. */
static inline void und_interleave(const float *in, size_t stride, und_v8 out[4])
{
    und_v8 a = und_row8(in, stride, 0), b = und_row8(in, stride, 1), c = und_row8(in, stride, 2),
           d = und_row8(in, stride, 3);
    und_v8 ab = UND_PAIR_LOW(a, b), ab2 = UND_PAIR_HIGH(a, b), cd = UND_PAIR_LOW(c, d),
           cd2 = UND_PAIR_HIGH(c, d);
    out[0] = UND_FOUR_LOW(ab, cd);
    out[1] = UND_FOUR_HIGH(ab, cd);
    out[2] = UND_FOUR_LOW(ab2, cd2);
    out[3] = UND_FOUR_HIGH(ab2, cd2);
}

static inline void und_transpose8(const float *in, size_t in_stride, float *out, size_t out_stride)
{
    und_v8 top[4], low[4];
    und_interleave(in, in_stride, top);
    und_interleave(in + 4 * in_stride, in_stride, low);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        *(und_v8 *)(out + i * out_stride) = UND_HALF_LOW(top[i], low[i]);
        *(und_v8 *)(out + (i + 4) * out_stride) = UND_HALF_HIGH(top[i], low[i]);
    }
}

/* `rows` rows of `columns` values, `in_stride` apart, to `columns` rows `out_stride` apart; multiples of 8.
 */
static inline void und_transpose(int rows, int columns, const float *in, size_t in_stride, float *out,
                                 size_t out_stride)
{
    for (size_t i = 0; i < (size_t)rows; i += 8)
        for (size_t j = 0; j < (size_t)columns; j += 8)
            und_transpose8(in + i * in_stride + j, in_stride, out + j * out_stride + i, out_stride);
}

#endif
