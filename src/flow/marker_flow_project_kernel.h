/* Equations 5 to 9 of Foster & Metaxas 1996 at cells and faces: as one system, and cell by cell. */
#ifndef UND_FLOW_MARKER_FLOW_PROJECT_KERNEL_H
#define UND_FLOW_MARKER_FLOW_PROJECT_KERNEL_H

#include "flow/marker_flow_parts.h"

/* ---- What cells are to the system ---- */

typedef struct und_marker_kinds_args {
    und_mac mac;
    const uint8_t *label;
    uint8_t *kind, *ease;
    const int32_t *low, *high;
} und_marker_kinds_args;

/* All but Solid cells have their label's number. */
UND_INLINE void und_marker_find_kinds(const und_marker_kinds_args *a, und_place row)
{
    _Static_assert((int)UND_CELL_EMPTY == UND_POISSON_CLOSED && (int)UND_CELL_SURFACE == UND_POISSON_KNOWN &&
                       (int)UND_CELL_FULL == UND_POISSON_UNKNOWN,
                   "labels are kinds");
    const uint8_t *label = a->label + row.at;
    uint8_t *restrict kind = a->kind + row.at;
    for (int x = 0; x < a->mac.n[0]; x++)
        kind[x] = label[x] == UND_CELL_SOLID ? UND_POISSON_CLOSED : label[x];
}
UND_KERNEL(und_marker_find_kinds, und_marker_kinds_args, UND_EACH_ROW)

/* Most rows are full of liquid from end to end, and so are those beside: what need not be asked cell by cell.
 * Bit 0: all cells of the row are Full; bit 1 + side: none beside it at that side is a wall. */
UND_INLINE void und_marker_find_ease(const und_marker_kinds_args *a, und_place row)
{
    const int number = und_marker_flow_row(&a->mac, row), count = a->high[number] - a->low[number];
    const uint8_t *kind = a->kind + row.at + a->low[number];
    const bool full =
        !und_marker_any(kind, count, UND_POISSON_CLOSED) && !und_marker_any(kind, count, UND_POISSON_KNOWN);
    unsigned ease = full;
    for (int side = 2; full && side < (a->mac.n[2] > 1 ? 6 : 4); side++) {
        const ptrdiff_t to = side % 2 ? a->mac.step[side / 2] : -a->mac.step[side / 2];
        ease |= (unsigned)!und_marker_any(kind + to, count, UND_POISSON_CLOSED) << (1 + side);
    }
    a->ease[number] = (uint8_t)ease;
}
UND_KERNEL(und_marker_find_ease, und_marker_kinds_args, UND_EACH_ROW)

/* ---- One system ---- */

typedef struct und_marker_sides_args {
    und_marker_missing_args missing;
    const uint8_t *kind;
    double *rhs, *change;
} und_marker_sides_args;

UND_INLINE void und_marker_set_sides(const und_marker_sides_args *a, und_place p)
{
    const und_doubles none = {0};
    const unsigned unknown = und_doubles_bytes_are(a->kind + p.at, UND_POISSON_UNKNOWN);
    und_doubles_store_some(a->rhs + p.at,
                           und_doubles_some(unknown, und_marker_missing(&a->missing, p.at), none), p.which);
    und_doubles_store_some(a->change + p.at, none, p.which);
}
UND_KERNEL(und_marker_set_sides, und_marker_sides_args, UND_EACH_SPAN)

typedef struct und_marker_push_args {
    double *u[3], *p;
    const double *change;
    const uint8_t *label;
    double push[3]; /* dt / d */
    ptrdiff_t step[3];
    int axes;
} und_marker_push_args;

/* High faces between two cells of liquid: eq. 8 for both at once; then eq. 9.  The change is zero in Surface
 * cells. */
UND_INLINE void und_marker_push(const und_marker_push_args *a, und_place p)
{
    const und_doubles none = {0}, change = und_doubles_load(a->change + p.at);
    const unsigned here = und_marker_liquid(a->label + p.at);
    for (int axis = 0; axis < a->axes; axis++) {
        const size_t next = p.at + (size_t)a->step[axis];
        double *u = a->u[axis] + p.at;
        const und_doubles by = a->push[axis] * (change - und_doubles_load(a->change + next));
        und_doubles_store_some(
            u, und_doubles_load(u) + und_doubles_some(here & und_marker_liquid(a->label + next), by, none),
            p.which);
    }
    und_doubles_store_some(a->p + p.at, und_doubles_load(a->p + p.at) + change, p.which);
}
UND_KERNEL(und_marker_push, und_marker_push_args, UND_EACH_SPAN)

/* ---- Cell by cell ---- */

typedef struct und_marker_relax_args {
    und_marker_missing_args missing;
    double *u[3], *p;
    const uint8_t *kind, *ease;
    double push[3], beta; /* dt / d; equation 7 */
    ptrdiff_t step[3];
    int axes, wide; /* rows of a slice */
    int colour;     /* of a chess board: 0 or 1 */
} und_marker_relax_args;

/* Of a chess board's row from cell p on, those of one colour. */
UND_INLINE unsigned und_marker_coloured(und_place p, int colour)
{
    return 0x5555u << ((p.x + p.y + p.z + colour) & 1) & p.which;
}

/* Faces from u on move by what is given where there is no wall: `here` are no walls. */
UND_INLINE void und_marker_move_faces(double *u, und_doubles by, unsigned here, const uint8_t *beside,
                                      bool all, unsigned which)
{
    const und_doubles none = {0};
    if (!all)
        by = und_doubles_some(here & ~und_doubles_bytes_are(beside, UND_POISSON_CLOSED), by, none);
    und_doubles_store_some(u, und_doubles_load(u) + by, which);
}

/* One colour of a row; |D|, as it was.  Of a colour no two cells have a face in common. */
UND_INLINE und_doubles und_marker_relax(const und_marker_relax_args *a, und_place p)
{
    const und_doubles none = {0};
    const unsigned own = und_marker_coloured(p, a->colour), ease = a->ease[p.y + a->wide * p.z];
    const uint8_t *kind = a->kind + p.at;
    const bool full = ease & 1;
    const unsigned here = full ? ~0u : ~und_doubles_bytes_are(kind, UND_POISSON_CLOSED);
    const unsigned unknown = full ? own : own & und_doubles_bytes_are(kind, UND_POISSON_UNKNOWN);
    const und_doubles missing =
        und_doubles_some(unknown, und_marker_missing(&a->missing, p.at), none);             /* 5 */
    const und_doubles change = a->beta * missing;                                           /* 6 */
    und_doubles_store_some(a->p + p.at, und_doubles_load(a->p + p.at) + change, p.which);   /* 9 */
    und_marker_move_faces(a->u[0] + p.at, a->push[0] * change, here, kind + 1, false, own); /* 8 */
    und_marker_move_faces(a->u[0] + p.at - 1, a->push[0] * (none - change), here, kind - 1, false, own);
    for (int axis = 1; axis < a->axes; axis++) {
        const ptrdiff_t step = a->step[axis];
        double *u = a->u[axis] + p.at;
        und_marker_move_faces(u, a->push[axis] * change, here, kind + step, ease >> (2 + 2 * axis) & 1,
                              p.which);
        und_marker_move_faces(u - step, -a->push[axis] * change, here, kind - step,
                              ease >> (1 + 2 * axis) & 1, p.which);
    }
    return und_doubles_abs(missing);
}
UND_KERNEL_LARGEST(und_marker_relax, und_marker_relax_args)

#endif
