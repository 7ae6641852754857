/* Faces of which solids leave little. */
#ifndef UND_FLOW_MAC_FLOW_NARROW_KERNEL_H
#define UND_FLOW_MAC_FLOW_NARROW_KERNEL_H

#include "grid/pass.h"

#define UND_NARROW 0.25f /* of a face: what is open of one that is narrow, at most */

typedef struct und_narrow_args {
    und_mac mac;
    const float *open[3];
    float *u[3], *next[3];
} und_narrow_args;

/* Of UND_LANES faces inside of the domain along x. */
UND_INLINE unsigned und_narrow_faces(und_lanes open, und_place p)
{
    return und_lanes_bits((open > 0) & (open < UND_NARROW)) & (p.x < 0 ? p.which & ~1u : p.which);
}

/* No faster than the faces beside it that are wider; as it is where there are none. */
UND_INLINE void und_narrow_bound(const und_narrow_args *a, und_place p, int axis)
{
    const float *const u = a->u[axis] + p.at, *const open = a->open[axis] + p.at;
    const und_lanes here = und_lanes_load(open), own = und_lanes_load(u);
    const unsigned which = und_narrow_faces(here, p);
    if (!which)
        return;
    und_lanes low = und_lanes_all(__builtin_inff()), high = -low;
    for (int way = 0; way < (a->mac.n[2] > 1 ? 6 : 4); way++) {
        const ptrdiff_t step = way % 2 ? a->mac.step[way / 2] : -a->mac.step[way / 2];
        const und_lanes_int wider = und_lanes_load(open + step) > here;
        const und_lanes beside = und_lanes_load(u + step);
        low = und_lanes_select(wider, und_lanes_min(low, beside), low);
        high = und_lanes_select(wider, und_lanes_max(high, beside), high);
    }
    const und_lanes bound = und_lanes_max(low, und_lanes_min(high, own));
    und_lanes_store_some(a->next[axis] + p.at, und_lanes_select(low <= high, bound, own), which);
}
UND_KERNEL_AXES(und_narrow_bound, und_narrow_args, UND_EACH_CELL)

UND_INLINE void und_narrow_take(const und_narrow_args *a, und_place p, int axis)
{
    const unsigned which = und_narrow_faces(und_lanes_load(a->open[axis] + p.at), p);
    if (which)
        und_lanes_store_some(a->u[axis] + p.at, und_lanes_load(a->next[axis] + p.at), which);
}
UND_KERNEL_AXES(und_narrow_take, und_narrow_args, UND_EACH_CELL)

#endif
