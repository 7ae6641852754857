/* Eights of a level of multigrid, see src/solve/multigrid.h. */
#ifndef UND_SOLVE_MULTIGRID_KERNEL_H
#define UND_SOLVE_MULTIGRID_KERNEL_H

#include "base/parallel.h"
#include "solve/cell_packs.h"
#include "solve/multigrid.h"

enum { UND_COEFFICIENTS = 6 * UND_CELL_PACK }; /* of the cells of one colour in a pack */

/* Eight sums of weighted neighbours of a pack's cells of one colour, where all sides have the full weight.
 * v: values of the other colour; `offset`: und_colour_offset of the cells themselves. */
#define UND_PLAIN_SUM(w, v, e, offset)                                                                     \
    ((w)[0] *                                                                                              \
         (UND_F8((v) + und_cell_pack_at(e) + (offset)-1) + UND_F8((v) + und_cell_pack_at(e) + (offset))) + \
     (w)[1] * (UND_F8((v) + (e)->beside[0]) + UND_F8((v) + (e)->beside[1])) +                              \
     (w)[2] * (UND_F8((v) + (e)->beside[2]) + UND_F8((v) + (e)->beside[3])))

/* The same with the weights stored. */
#define UND_CUT_SUM(k, v, e, offset)                                                                       \
    ((UND_F8(k) * UND_F8((v) + und_cell_pack_at(e) + (offset)-1) +                                         \
      UND_F8((k) + 8) * UND_F8((v) + und_cell_pack_at(e) + (offset))) +                                    \
     (UND_F8((k) + 16) * UND_F8((v) + (e)->beside[0]) + UND_F8((k) + 24) * UND_F8((v) + (e)->beside[1])) + \
     (UND_F8((k) + 32) * UND_F8((v) + (e)->beside[2]) + UND_F8((k) + 40) * UND_F8((v) + (e)->beside[3])))

/* 0 where a cell is not unknown. */
#define UND_WHERE_UNKNOWN(v, inverse) ((und_f8)((und_i8)(v) & ((inverse) > 0)))

/* The first (0) or second (1) of a coarser row's along an axis, -1 where there is none. */
static inline int und_child(const und_level *fine, int axis, int coarse, int which)
{
    if (!fine->halved[axis])
        return which ? -1 : coarse;
    const int own = 2 * coarse + which - fine->shift[axis];
    return own >= 0 && own < fine->n[axis] ? own : -1;
}

/* A row of cells into its two colours; `offset` of colour 0, `n` cells of each. */
static inline void und_split(const float *restrict row, int offset, int n, float *restrict zero,
                             float *restrict one)
{
    float *even = offset ? one : zero, *odd = offset ? zero : one;
    for (int q = 0; q < n; q++) {
        even[q] = row[2 * q];
        odd[q] = row[2 * q + 1];
    }
}
static inline const float *und_coefficients(const und_level *level, int colour, const und_cell_pack *e)
{
    return level->coefficient[colour] + und_cell_pack_at(e) / UND_CELL_PACK * UND_COEFFICIENTS;
}

/* Gauss-Seidel from x = 0: nothing beside yet. */
static inline void und_slice_start(const und_level *level, int colour, int z)
{
    const float *const b = level->b[colour], *const inverse = level->inverse[colour];
    const float full = level->full_inverse;
    float *const x = level->x[colour];
    und_cell_packs in = und_level_list(level, UND_CELL_PACK_WHOLE, UND_CELL_PACK_WHOLE, z);
    for (const und_cell_pack *e = in.begin; e < in.end; e++)
        UND_SET_F8(x + und_cell_pack_at(e)) = full * UND_F8(b + und_cell_pack_at(e));
    in = und_level_list(level, UND_CELL_PACK_PLAIN, UND_CELL_PACK_CUT, z);
    for (const und_cell_pack *e = in.begin; e < in.end; e++)
        UND_SET_F8(x + und_cell_pack_at(e)) =
            UND_F8(inverse + und_cell_pack_at(e)) * UND_F8(b + und_cell_pack_at(e));
}

/* Gauss-Seidel: each cell's equation holds afterwards. */
static inline void und_slice_smooth(const und_level *level, int colour, int z)
{
    /* Copies: a store might change what is read through a pointer, for all that the compiler knows. */
    const float w[3] = {level->weight[0], level->weight[1], level->weight[2]}, full = level->full_inverse;
    const float *const b = level->b[colour], *const inverse = level->inverse[colour];
    const float *const v = level->x[1 - colour];
    float *const x = level->x[colour];
    und_cell_packs in = und_level_list(level, UND_CELL_PACK_WHOLE, UND_CELL_PACK_WHOLE, z);
    for (const und_cell_pack *e = in.begin; e < in.end; e++) {
        size_t at = und_cell_pack_at(e), offset = (e->at ^ (unsigned)colour) & 1;
        UND_SET_F8(x + at) = full * (UND_F8(b + at) + UND_PLAIN_SUM(w, v, e, offset));
    }
    in = und_level_list(level, UND_CELL_PACK_PLAIN, UND_CELL_PACK_PLAIN, z);
    for (const und_cell_pack *e = in.begin; e < in.end; e++) {
        size_t at = und_cell_pack_at(e), offset = (e->at ^ (unsigned)colour) & 1;
        UND_SET_F8(x + at) = UND_F8(inverse + at) * (UND_F8(b + at) + UND_PLAIN_SUM(w, v, e, offset));
    }
    in = und_level_list(level, UND_CELL_PACK_CUT, UND_CELL_PACK_CUT, z);
    for (const und_cell_pack *e = in.begin; e < in.end; e++) {
        size_t at = und_cell_pack_at(e), offset = (e->at ^ (unsigned)colour) & 1;
        const float *k = und_coefficients(level, colour, e);
        UND_SET_F8(x + at) = UND_F8(inverse + at) * (UND_F8(b + at) + UND_CUT_SUM(k, v, e, offset));
    }
}

/* b - A x of a pack's cells of one colour; `kind` is known when this is compiled. */
static inline __attribute__((always_inline)) void
und_cell_pack_residual(const und_level *level, int colour, const und_cell_pack *e, int kind, und_f8 *residual)
{
    const float w[3] = {level->weight[0], level->weight[1], level->weight[2]};
    size_t at = und_cell_pack_at(e), offset = (e->at ^ (unsigned)colour) & 1;
    const float *b = level->b[colour] + at, *x = level->x[colour] + at, *v = level->x[1 - colour];
    const float *inverse = level->inverse[colour] + at, *k = und_coefficients(level, colour, e);
    if (kind == UND_CELL_PACK_WHOLE) {
        const float full = 1 / level->full_inverse;
        *residual = UND_F8(b) + UND_PLAIN_SUM(w, v, e, offset) - full * UND_F8(x);
        return;
    }
    und_f8 sum = kind == UND_CELL_PACK_PLAIN ? UND_PLAIN_SUM(w, v, e, offset) : UND_CUT_SUM(k, v, e, offset);
    und_f8 left = UND_F8(b) + sum - UND_F8(x) / UND_F8(inverse);
    *residual = UND_WHERE_UNKNOWN(left, UND_F8(inverse));
}

/* A v of a pack's cells of one colour on the finest level, over the largest weight.  From differences, which
 * lose few digits where v is smooth. */
static inline __attribute__((always_inline)) void und_cell_pack_apply(const und_level *level,
                                                                      float *const values[2], int colour,
                                                                      const und_cell_pack *e, int kind,
                                                                      und_f8 *out)
{
    const float w[3] = {level->weight[0], level->weight[1], level->weight[2]};
    const size_t at = und_cell_pack_at(e), offset = (e->at ^ (unsigned)colour) & 1;
    const float *v = values[1 - colour], *k = und_coefficients(level, colour, e);
    const und_f8 own = UND_F8(values[colour] + at);
    und_f8 d[6] = {own - UND_F8(v + at + offset - 1), own - UND_F8(v + at + offset),
                   own - UND_F8(v + e->beside[0]),    own - UND_F8(v + e->beside[1]),
                   own - UND_F8(v + e->beside[2]),    own - UND_F8(v + e->beside[3])};
    if (kind == UND_CELL_PACK_CUT) {
        *out = (UND_F8(k) * d[0] + UND_F8(k + 8) * d[1]) + (UND_F8(k + 16) * d[2] + UND_F8(k + 24) * d[3]) +
               (UND_F8(k + 32) * d[4] + UND_F8(k + 40) * d[5]);
    } else {
        const uint64_t beside = kind == UND_CELL_PACK_PLAIN ? level->beside[colour][at / UND_CELL_PACK] : 0;
        for (int i = 0; i < 6 && kind == UND_CELL_PACK_PLAIN; i++) {
            const und_i8 bit = {1, 2, 4, 8, 16, 32, 64, 128}, bits = (und_i8){0} + (int)(beside >> 8 * i);
            d[i] = (und_f8)((und_i8)d[i] & ((bits & bit) != 0));
        }
        *out = w[0] * (d[0] + d[1]) + w[1] * (d[2] + d[3]) + w[2] * (d[4] + d[5]);
    }
    if (kind != UND_CELL_PACK_WHOLE)
        *out += UND_F8(level->known[colour] + at) * own;
}

#endif
