/* Turns rows into lanes: a 16 x 16 block of floats transposed in registers. */
#ifndef UND_SOLVE_TRANSPOSE_KERNEL_H
#define UND_SOLVE_TRANSPOSE_KERNEL_H

enum { UND_LANES = 16 };

typedef float und_v8 __attribute__((vector_size(32), aligned(4), may_alias));

#define UND_MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#define UND_PAIR_LOW(a, b) UND_MIX(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define UND_PAIR_HIGH(a, b) UND_MIX(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define UND_FOUR_LOW(a, b) UND_MIX(a, b, 0, 1, 8, 9, 4, 5, 12, 13)
#define UND_FOUR_HIGH(a, b) UND_MIX(a, b, 2, 3, 10, 11, 6, 7, 14, 15)
#define UND_HALF_LOW(a, b) UND_MIX(a, b, 0, 1, 2, 3, 8, 9, 10, 11)
#define UND_HALF_HIGH(a, b) UND_MIX(a, b, 4, 5, 6, 7, 12, 13, 14, 15)

static inline und_v8 und_row8(const float *tile, int row)
{
    return *(const und_v8 *)(tile + row * UND_LANES);
}

/* Four rows of an 8 x 8 block: interleaved by pairs, then by fours. */
static inline void und_interleave(const float *in, und_v8 out[4])
{
    und_v8 a = und_row8(in, 0), b = und_row8(in, 1), c = und_row8(in, 2), d = und_row8(in, 3);
    und_v8 ab = UND_PAIR_LOW(a, b), ab2 = UND_PAIR_HIGH(a, b), cd = UND_PAIR_LOW(c, d),
           cd2 = UND_PAIR_HIGH(c, d);
    out[0] = UND_FOUR_LOW(ab, cd);
    out[1] = UND_FOUR_HIGH(ab, cd);
    out[2] = UND_FOUR_LOW(ab2, cd2);
    out[3] = UND_FOUR_HIGH(ab2, cd2);
}

/* 8 x 8 within tiles. */
static inline void und_transpose8(const float *in, float *out)
{
    und_v8 top[4], low[4];
    und_interleave(in, top);
    und_interleave(in + 4 * UND_LANES, low);
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        *(und_v8 *)(out + i * UND_LANES) = UND_HALF_LOW(top[i], low[i]);
        *(und_v8 *)(out + (i + 4) * UND_LANES) = UND_HALF_HIGH(top[i], low[i]);
    }
}

/* A UND_LANES x UND_LANES tile, stored densely. */
static inline void und_transpose_tile(const float *in, float *out)
{
    for (int i = 0; i < UND_LANES; i += 8)
        for (int j = 0; j < UND_LANES; j += 8)
            und_transpose8(in + i * UND_LANES + j, out + j * UND_LANES + i);
}

#endif
