/* Rows of a level of multigrid, see src/solve/multigrid.h. */
#ifndef UND_SOLVE_MULTIGRID_KERNEL_H
#define UND_SOLVE_MULTIGRID_KERNEL_H

#include "base/parallel.h"
#include "solve/eights.h"
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

/* Eight sums of weighted neighbours in v[], where all sides have the full weight. */
#define UND_PLAIN_SUM(w, v, side, q)                                            \
    ((w)[0] * (UND_F8((v) + (q) + (side)[0]) + UND_F8((v) + (q) + (side)[1])) + \
     (w)[1] * (UND_F8((v) + (q) + (side)[2]) + UND_F8((v) + (q) + (side)[3])) + \
     (w)[2] * (UND_F8((v) + (q) + (side)[4]) + UND_F8((v) + (q) + (side)[5])))

/* The same with the weights stored: a cell's high sides, and those of its low neighbours. */
#define UND_FACE_SUM(own, other, v, side, q)                                \
    (UND_F8((other)[0] + (q) + (side)[0]) * UND_F8((v) + (q) + (side)[0]) + \
     UND_F8((own)[0] + (q)) * UND_F8((v) + (q) + (side)[1]) +               \
     UND_F8((other)[1] + (q) + (side)[2]) * UND_F8((v) + (q) + (side)[2]) + \
     UND_F8((own)[1] + (q)) * UND_F8((v) + (q) + (side)[3]) +               \
     UND_F8((other)[2] + (q) + (side)[4]) * UND_F8((v) + (q) + (side)[4]) + \
     UND_F8((own)[2] + (q)) * UND_F8((v) + (q) + (side)[5]))

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

/* One colour of one row, as the kernels read it. */
typedef struct und_row {
    const float *b, *inverse, *other; /* other: x of the other colour */
    float *x;
    size_t at;
    int low, inner_low, inner_high, high;
    bool plain;
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
                     .plain = level->plain[row],
                     .beside = und_level_beside(level, und_colour_offset(colour, y, z))};
}

/* Asks for what an array of the finest level's layout holds in the ends of a row that comes soon: they are
 * read alone, and too far from each other for the processor to foresee it.  Always inline, for gcc 12 leaves
 * out calls of functions that do nothing else. */
static inline __attribute__((always_inline)) void und_level_foresee(const und_level *level, const void *array,
                                                                    size_t size, int y, int z)
{
    enum { AHEAD = 2 };
    if (y + AHEAD >= level->n[1])
        return;
    size_t row = (size_t)(y + AHEAD + z * level->n[1]), at = und_level_row(level, y + AHEAD, z);
    const char *first = (const char *)array + at * size;
    __builtin_prefetch(first + level->low[row] * (ptrdiff_t)size);
    __builtin_prefetch(first + level->inner_high[row] * (ptrdiff_t)size);
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
static inline void und_row_start(const und_level *level, const und_row *r)
{
    const float *const b = r->b, *const inverse = r->inverse, full = level->full_inverse;
    const int inner_low = r->inner_low, inner_high = r->inner_high, high = r->high;
    float *const x = r->x;
    int q = r->low;
    for (; q < inner_low; q += 8)
        UND_SET_F8(x + q) = UND_F8(inverse + q) * UND_F8(b + q);
    for (; q < inner_high; q += 8)
        UND_SET_F8(x + q) = full * UND_F8(b + q);
    for (; q < high; q += 8)
        UND_SET_F8(x + q) = UND_F8(inverse + q) * UND_F8(b + q);
}

/* Gauss-Seidel: each cell's equation holds afterwards. */
static inline void und_row_smooth(const und_level *level, int colour, const und_row *r)
{
    /* Copies: a store might change what is read through a pointer, for all that the compiler knows. */
    const float w[3] = {level->weight[0], level->weight[1], level->weight[2]}, full = level->full_inverse;
    const float *const b = r->b, *const inverse = r->inverse, *const v = r->other;
    float *const x = r->x;
    const und_beside beside = r->beside;
    const ptrdiff_t *const side = beside.side;
    const int inner_low = r->inner_low, inner_high = r->inner_high, high = r->high;
    int q = r->low;
    if (r->plain) {
        for (; q < inner_low; q += 8)
            UND_SET_F8(x + q) = UND_F8(inverse + q) * (UND_F8(b + q) + UND_PLAIN_SUM(w, v, side, q));
        for (; q < inner_high; q += 8)
            UND_SET_F8(x + q) = full * (UND_F8(b + q) + UND_PLAIN_SUM(w, v, side, q));
        for (; q < high; q += 8)
            UND_SET_F8(x + q) = UND_F8(inverse + q) * (UND_F8(b + q) + UND_PLAIN_SUM(w, v, side, q));
        return;
    }
    const und_faces f = und_level_faces(level, colour, r->at);
    for (; q < high; q += 8)
        UND_SET_F8(x + q) = UND_F8(inverse + q) * (UND_F8(b + q) + UND_FACE_SUM(f.own, f.other, v, side, q));
}

/* b - A x of cells [low, high), eights, is added to residual[low] and on. */
static inline void und_row_residual(const und_level *level, int colour, const und_row *r, int low, int high,
                                    float *residual)
{
    const float w[3] = {level->weight[0], level->weight[1], level->weight[2]};
    const float *const b = r->b, *const x = r->x, *const inverse = r->inverse, *const v = r->other;
    const und_beside beside = r->beside;
    const ptrdiff_t *const side = beside.side;
    const int inner_low = r->inner_low, inner_high = r->inner_high;
    if (r->plain) {
        const float full = 1 / level->full_inverse;
        for (int q = low; q < high; q += 8) {
            und_f8 left = UND_F8(b + q) + UND_PLAIN_SUM(w, v, side, q);
            if (q >= inner_low && q < inner_high)
                left -= full * UND_F8(x + q);
            else
                left = UND_WHERE_UNKNOWN(left - UND_F8(x + q) / UND_F8(inverse + q), UND_F8(inverse + q));
            UND_SET_F8(residual + q) = UND_F8(residual + q) + left;
        }
        return;
    }
    const und_faces f = und_level_faces(level, colour, r->at);
    for (int q = low; q < high; q += 8) {
        und_f8 left =
            UND_F8(b + q) + UND_FACE_SUM(f.own, f.other, v, side, q) - UND_F8(x + q) / UND_F8(inverse + q);
        UND_SET_F8(residual + q) = UND_F8(residual + q) + UND_WHERE_UNKNOWN(left, UND_F8(inverse + q));
    }
}

#endif
