/* Faces of which solids leave little. */
#ifndef UND_FLOW_MAC_FLOW_NARROW_KERNEL_H
#define UND_FLOW_MAC_FLOW_NARROW_KERNEL_H

#include "flow/mac_flow_gain_kernel.h"
#include "grid/pass.h"

#define UND_NARROW 0.25f /* of a face: what is open of one that is narrow, at most */

typedef struct und_narrow_args {
    und_mac mac;
    const float *open[3];
    float *u[3], *next[3], *gained[3], *latest[3]; /* the last two may be NULL */
    int reach;                                     /* cells that liquid crosses in a step, at most */
    float fast;                                    /* m/s: slower ones are left alone */
} und_narrow_args;

/* Of UND_LANES faces inside of the domain along x those that are narrow, and far from which what they have
 * comes in the step. */
UND_INLINE unsigned und_narrow_faces(const und_narrow_args *a, und_place p, int axis)
{
    const und_lanes open = und_lanes_load(a->open[axis] + p.at), u = und_lanes_load(a->u[axis] + p.at);
    const und_lanes_int narrow = (open > 0) & (open < UND_NARROW) & ((u > a->fast) | (u < -a->fast));
    return und_lanes_bits(narrow) & (p.x < 0 ? p.which & ~1u : p.which);
}

/* The face that is wider, on from one on, `steps` of them at most: the next, or behind as narrow ones the
 * first that is not narrow.  0: there is none. */
UND_INLINE ptrdiff_t und_narrow_wider(const float *open, ptrdiff_t step, int steps)
{
    const float own = *open;
    for (int k = 1; k <= steps && open[k * step] > 0; k++)
        if (open[k * step] >= (k == 1 ? 1.5f * own : UND_NARROW))
            return k * step;
    return 0;
}

/* No faster than wider faces beside it are, or where the gap ends; as it is where there are none. */
UND_INLINE float und_narrow_bounded(const und_narrow_args *a, size_t at, const int face[3], int axis)
{
    const float *const u = a->u[axis] + at, *const open = a->open[axis] + at;
    float low = __builtin_inff(), high = -low;
    for (int way = 0; way < (a->mac.n[2] > 1 ? 6 : 4); way++) {
        const int along = way / 2, left = way % 2 ? a->mac.n[along] - 1 - face[along] : face[along] + 1;
        const int most = along == axis ? a->reach : 1;
        const ptrdiff_t step = way % 2 ? a->mac.step[along] : -a->mac.step[along];
        const ptrdiff_t wider = und_narrow_wider(open, step, left < most ? left : most);
        low = wider && u[wider] < low ? u[wider] : low;
        high = wider && u[wider] > high ? u[wider] : high;
    }
    return low > high ? *u : *u < low ? low : *u > high ? high : *u;
}

UND_INLINE void und_narrow_bound(const und_narrow_args *a, und_place p, int axis)
{
    for (unsigned which = und_narrow_faces(a, p, axis); which; which &= which - 1) {
        const int i = __builtin_ctz(which), face[3] = {p.x + i, p.y, p.z};
        a->next[axis][p.at + (size_t)i] = und_narrow_bounded(a, p.at + (size_t)i, face, axis);
    }
}
UND_KERNEL_AXES(und_narrow_bound, und_narrow_args, UND_EACH_CELL)

/* What such a face gained is no part of a steady flow: it is none the slower in the next step. */
UND_INLINE void und_narrow_take(const und_narrow_args *a, und_place p, int axis)
{
    const unsigned which = und_narrow_faces(a, p, axis);
    if (!which)
        return;
    und_lanes_store_some(a->u[axis] + p.at, und_lanes_load(a->next[axis] + p.at), which);
    if (!a->gained[axis])
        return;
    und_lanes_store_some(a->gained[axis] + p.at, (und_lanes){0}, which);
    und_lanes_store_some(a->latest[axis] + p.at, und_lanes_all(UND_GAIN_NONE), which);
}
UND_KERNEL_AXES(und_narrow_take, und_narrow_args, UND_EACH_CELL)

/* ---- Where the surface is ---- */

typedef struct und_narrow_surface_args {
    und_mac mac;
    const float *phi, *open[3];
    float *u[3];
} und_narrow_surface_args;

/* Where the cell with the surface gets narrow towards the air what flows through the narrow face is as fast
 * as the surface over the cell's width there. */
UND_INLINE void und_narrow_surface(const und_narrow_surface_args *a, und_place p, int axis)
{
    const ptrdiff_t step = a->mac.step[axis];
    const float *phi = a->phi + p.at, *o = a->open[axis] + p.at;
    const und_lanes low = und_lanes_load(phi), high = und_lanes_load(phi + step), open = und_lanes_load(o);
    const und_lanes_int rises = low < 0, narrow = (open > 0) & (open < UND_NARROW) & (rises ^ (high < 0));
    if (!(und_lanes_bits(narrow) & p.which))
        return;
    const und_lanes liquid = und_lanes_select(rises, low, high), air = und_lanes_select(rises, high, low);
    const und_lanes behind = und_lanes_select(rises, und_lanes_load(o - step), und_lanes_load(o + step));
    const und_lanes from =
        und_lanes_max(0.5f - liquid / (liquid - air), und_lanes_all(0)); /* cells, the face */
    const und_lanes wide = open + (behind - open) * from, u = und_lanes_load(a->u[axis] + p.at);
    und_lanes_store_some(a->u[axis] + p.at, u * open / und_lanes_max(wide, open),
                         und_lanes_bits(narrow) & p.which);
}
UND_KERNEL_AXES(und_narrow_surface, und_narrow_surface_args, UND_EACH_CELL)

#endif
