/* Rows of a level of multigrid, see src/solve/multigrid.h. */
#ifndef UND_SOLVE_MULTIGRID_KERNEL_H
#define UND_SOLVE_MULTIGRID_KERNEL_H

#include "base/parallel.h"
#include "solve/multigrid.h"

/* Cells of the other colour beside those of one: `at` is a row's q = 0, `offset` und_colour_offset of the
 * cells whose neighbours are asked for. */
typedef struct und_beside {
    ptrdiff_t side[6]; /* low and high along each axis */
} und_beside;

static inline und_beside und_level_beside(const und_level *level, int offset)
{
    return (und_beside){{offset - 1, offset, -level->pitch, level->pitch, -level->plane, level->plane}};
}

/* Sum of the weighted neighbours in v[], where all sides have the full weight; `type` is what is computed in.
 */
#define UND_PLAIN_SUM(type, w, v, side, q)                                \
    ((w)[0] * ((type)(v)[(q) + (side)[0]] + (type)(v)[(q) + (side)[1]]) + \
     (w)[1] * ((type)(v)[(q) + (side)[2]] + (type)(v)[(q) + (side)[3]]) + \
     (w)[2] * ((type)(v)[(q) + (side)[4]] + (type)(v)[(q) + (side)[5]]))

/* The same with the weights stored: a cell's high sides, and those of its low neighbours. */
#define UND_FACE_SUM(own, other, v, side, q)                                                   \
    ((other)[0][(q) + (side)[0]] * (v)[(q) + (side)[0]] + (own)[0][q] * (v)[(q) + (side)[1]] + \
     (other)[1][(q) + (side)[2]] * (v)[(q) + (side)[2]] + (own)[1][q] * (v)[(q) + (side)[3]] + \
     (other)[2][(q) + (side)[4]] * (v)[(q) + (side)[4]] + (own)[2][q] * (v)[(q) + (side)[5]])

static inline int und_within(int v, int low, int high)
{
    return v < low ? low : v > high ? high : v;
}

/* The first (0) or second (1) of a coarser row's along an axis, -1 where there is none. */
static inline int und_child(const und_level *fine, int axis, int coarse, int which)
{
    if (!fine->halved[axis])
        return which ? -1 : coarse;
    return 2 * coarse + which < fine->n[axis] ? 2 * coarse + which : -1;
}

/* A row of cells into its two colours, and back; `offset` of colour 0, `n` cells of each. */
static inline void und_split(const float *restrict row, int offset, int n, float *restrict zero,
                             float *restrict one)
{
    float *even = offset ? one : zero, *odd = offset ? zero : one;
    for (int q = 0; q < n; q++) {
        even[q] = row[2 * q];
        odd[q] = row[2 * q + 1];
    }
}
static inline void und_join(const float *restrict zero, const float *restrict one, int offset, int n,
                            float *restrict row)
{
    const float *even = offset ? one : zero, *odd = offset ? zero : one;
    for (int q = 0; q < n; q++) {
        row[2 * q] = even[q];
        row[2 * q + 1] = odd[q];
    }
}

/* One colour of one row, as the kernels read it. */
typedef struct und_row {
    const float *b, *inverse, *other; /* other: x of the other colour */
    float *x;
    size_t at;
    int low, inner_low, inner_high, high;
    und_beside beside;
} und_row;

static inline und_row und_level_get_row(const und_level *level, int colour, int y, int z)
{
    size_t at = und_level_row(level, y, z), row = (size_t)(y + z * level->n[1]);
    return (und_row){.b = level->b[colour] + at,
                     .inverse = level->inverse[colour] + at,
                     .other = level->x[1 - colour] + at,
                     .x = level->x[colour] + at,
                     .at = at,
                     .low = level->low[row],
                     .inner_low = level->inner_low[row],
                     .inner_high = level->inner_high[row],
                     .high = level->high[row],
                     .beside = und_level_beside(level, und_colour_offset(colour, y, z))};
}

/* The stored sides of the cells of a row, and of those of the other colour. */
typedef struct und_faces {
    const float *own[3], *other[3];
} und_faces;

static inline und_faces und_level_faces(const und_level *level, int colour, size_t at)
{
    und_faces f;
    for (int a = 0; a < 3; a++) {
        f.own[a] = level->face[a][colour] + at;
        f.other[a] = level->face[a][1 - colour] + at;
    }
    return f;
}

/* Gauss-Seidel from x = 0: nothing beside yet. */
static inline void und_row_start(const und_row *r)
{
    const float *restrict b = r->b, *restrict inverse = r->inverse;
    float *restrict x = r->x;
    SIMD
    for (int q = r->low; q < r->high; q++)
        x[q] = inverse[q] * b[q];
}

static inline void und_row_smooth_ends(const und_row *r, const float w[3], int low, int high)
{
    const float *restrict b = r->b, *restrict inverse = r->inverse, *restrict v = r->other;
    float *restrict x = r->x;
    const und_beside n = r->beside;
    SIMD
    for (int q = low; q < high; q++)
        x[q] = inverse[q] * (b[q] + UND_PLAIN_SUM(float, w, v, n.side, q));
}

/* Gauss-Seidel: each cell's equation holds afterwards. */
static inline void und_row_smooth(const und_level *level, int colour, const und_row *r)
{
    const float *restrict b = r->b, *restrict inverse = r->inverse, *restrict v = r->other;
    float *restrict x = r->x;
    const und_beside n = r->beside;
    if (r->inner_low < r->inner_high || !level->face[0][0]) {
        const float w[3] = {level->weight[0], level->weight[1], level->weight[2]};
        const float full = level->full_inverse;
        und_row_smooth_ends(r, w, r->low, r->inner_low);
        SIMD
        for (int q = r->inner_low; q < r->inner_high; q++)
            x[q] = full * (b[q] + UND_PLAIN_SUM(float, w, v, n.side, q));
        und_row_smooth_ends(r, w, r->inner_high, r->high);
        return;
    }
    const und_faces f = und_level_faces(level, colour, r->at);
    SIMD
    for (int q = r->low; q < r->high; q++)
        x[q] = inverse[q] * (b[q] + UND_FACE_SUM(f.own, f.other, v, n.side, q));
}

static inline void und_row_residual_ends(const und_row *r, const float w[3], int low, int high,
                                         float *restrict residual)
{
    const float *restrict b = r->b, *restrict inverse = r->inverse, *restrict v = r->other;
    const float *restrict x = r->x;
    const und_beside n = r->beside;
    SIMD
    for (int q = low; q < high; q++) {
        float left = b[q] + UND_PLAIN_SUM(float, w, v, n.side, q) - x[q] / inverse[q];
        residual[q] += inverse[q] > 0 ? left : 0;
    }
}

/* b - A x of cells [low, high) is added to residual[low] and on. */
static inline void und_row_residual(const und_level *level, int colour, const und_row *r, int low, int high,
                                    float *restrict residual)
{
    const float *restrict b = r->b, *restrict inverse = r->inverse, *restrict v = r->other;
    const float *restrict x = r->x;
    const und_beside n = r->beside;
    if (r->inner_low < r->inner_high || !level->face[0][0]) {
        const float w[3] = {level->weight[0], level->weight[1], level->weight[2]};
        const float full = 1 / level->full_inverse;
        int inner_low = und_within(r->inner_low, low, high),
            inner_high = und_within(r->inner_high, low, high);
        und_row_residual_ends(r, w, low, inner_low, residual);
        SIMD
        for (int q = inner_low; q < inner_high; q++)
            residual[q] += b[q] + UND_PLAIN_SUM(float, w, v, n.side, q) - full * x[q];
        und_row_residual_ends(r, w, inner_high, high, residual);
        return;
    }
    const und_faces f = und_level_faces(level, colour, r->at);
    SIMD
    for (int q = low; q < high; q++) {
        float left = b[q] + UND_FACE_SUM(f.own, f.other, v, n.side, q) - x[q] / inverse[q];
        residual[q] += inverse[q] > 0 ? left : 0;
    }
}

#endif
