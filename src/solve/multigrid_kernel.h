/* Segments of a level of multigrid, see src/solve/multigrid.h. */
#ifndef UND_SOLVE_MULTIGRID_KERNEL_H
#define UND_SOLVE_MULTIGRID_KERNEL_H

#include "base/parallel.h"
#include "solve/eights.h"
#include "solve/multigrid.h"

enum { UND_COEFFICIENTS = 6 * UND_EIGHT }; /* of the cells of one colour in an eight */

/* Cells of the other colour beside those of one whose und_colour_offset is `offset`. */
typedef struct und_beside {
    ptrdiff_t side[6]; /* low and high along each axis */
} und_beside;

static inline und_beside und_level_beside(const und_level *level, int offset)
{
    return (und_beside){{offset - 1, offset, -level->pitch, level->pitch, -level->plane, level->plane}};
}

/* Eight sums of weighted neighbours in v[], where all sides have the full weight. */
#define UND_PLAIN_SUM(w, v, side, q)                                            \
    ((w)[0] * (UND_F8((v) + (q) + (side)[0]) + UND_F8((v) + (q) + (side)[1])) + \
     (w)[1] * (UND_F8((v) + (q) + (side)[2]) + UND_F8((v) + (q) + (side)[3])) + \
     (w)[2] * (UND_F8((v) + (q) + (side)[4]) + UND_F8((v) + (q) + (side)[5])))

/* The same with the weights stored. */
#define UND_CUT_SUM(k, v, side, q)                                                                           \
    (UND_F8(k) * UND_F8((v) + (q) + (side)[0]) + UND_F8((k) + 8) * UND_F8((v) + (q) + (side)[1]) +           \
     (UND_F8((k) + 16) * UND_F8((v) + (q) + (side)[2]) + UND_F8((k) + 24) * UND_F8((v) + (q) + (side)[3])) + \
     (UND_F8((k) + 32) * UND_F8((v) + (q) + (side)[4]) + UND_F8((k) + 40) * UND_F8((v) + (q) + (side)[5])))

/* 0 where a cell is not unknown. */
#define UND_WHERE_UNKNOWN(v, inverse) ((und_f8)((und_i8)(v) & ((inverse) > 0)))

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

static inline const float *und_coefficients(const und_level *level, int colour, const und_segment *s)
{
    return level->coefficient[colour] + (size_t)s->eight * UND_COEFFICIENTS;
}

/* Gauss-Seidel from x = 0: nothing beside yet. */
static inline void und_segment_start(const und_level *level, int colour, const und_segment *s)
{
    const float *const b = level->b[colour] + s->at, *const inverse = level->inverse[colour] + s->at;
    const float full = level->full_inverse;
    float *const x = level->x[colour] + s->at;
    const int count = s->count;
    if (s->kind == UND_EIGHT_WHOLE)
        for (int q = 0; q < count; q += 8)
            UND_SET_F8(x + q) = full * UND_F8(b + q);
    else
        for (int q = 0; q < count; q += 8)
            UND_SET_F8(x + q) = UND_F8(inverse + q) * UND_F8(b + q);
}

/* Gauss-Seidel: each cell's equation holds afterwards. */
static inline void und_segment_smooth(const und_level *level, int colour, const und_segment *s)
{
    /* Copies: a store might change what is read through a pointer, for all that the compiler knows. */
    const float w[3] = {level->weight[0], level->weight[1], level->weight[2]}, full = level->full_inverse;
    const float *const b = level->b[colour] + s->at, *const inverse = level->inverse[colour] + s->at;
    const float *const v = level->x[1 - colour] + s->at;
    float *const x = level->x[colour] + s->at;
    const und_beside beside = und_level_beside(level, s->offset ^ colour);
    const ptrdiff_t *const side = beside.side;
    const int count = s->count;
    if (s->kind == UND_EIGHT_WHOLE) {
        for (int q = 0; q < count; q += 8)
            UND_SET_F8(x + q) = full * (UND_F8(b + q) + UND_PLAIN_SUM(w, v, side, q));
    } else if (s->kind == UND_EIGHT_PLAIN) {
        for (int q = 0; q < count; q += 8)
            UND_SET_F8(x + q) = UND_F8(inverse + q) * (UND_F8(b + q) + UND_PLAIN_SUM(w, v, side, q));
    } else {
        const float *k = und_coefficients(level, colour, s);
        for (int q = 0; q < count; q += 8, k += UND_COEFFICIENTS)
            UND_SET_F8(x + q) = UND_F8(inverse + q) * (UND_F8(b + q) + UND_CUT_SUM(k, v, side, q));
    }
}

/* b - A x of cells [low, high) of the segment, eights, is added to residual[low] and on. */
static inline void und_segment_residual(const und_level *level, int colour, const und_segment *s, int low,
                                        int high, float *residual)
{
    const float w[3] = {level->weight[0], level->weight[1], level->weight[2]};
    const float full = 1 / level->full_inverse;
    const float *const b = level->b[colour] + s->at, *const inverse = level->inverse[colour] + s->at;
    const float *const x = level->x[colour] + s->at, *const v = level->x[1 - colour] + s->at;
    const und_beside beside = und_level_beside(level, s->offset ^ colour);
    const ptrdiff_t *const side = beside.side;
    if (s->kind == UND_EIGHT_WHOLE) {
        for (int q = low; q < high; q += 8) {
            und_f8 left = UND_F8(b + q) + UND_PLAIN_SUM(w, v, side, q) - full * UND_F8(x + q);
            UND_SET_F8(residual + q) = UND_F8(residual + q) + left;
        }
        return;
    }
    const float *k = und_coefficients(level, colour, s) + low / 8 * UND_COEFFICIENTS;
    const bool plain = s->kind == UND_EIGHT_PLAIN;
    for (int q = low; q < high; q += 8, k += UND_COEFFICIENTS) {
        und_f8 sum = plain ? UND_PLAIN_SUM(w, v, side, q) : UND_CUT_SUM(k, v, side, q);
        und_f8 left = UND_F8(b + q) + sum - UND_F8(x + q) / UND_F8(inverse + q);
        UND_SET_F8(residual + q) = UND_F8(residual + q) + UND_WHERE_UNKNOWN(left, UND_F8(inverse + q));
    }
}

#endif
