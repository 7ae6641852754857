/* What forces and pressure give faces in a step: a half of it acts where the liquid comes from in the next.
 */
#ifndef UND_FLOW_MAC_FLOW_GAIN_KERNEL_H
#define UND_FLOW_MAC_FLOW_GAIN_KERNEL_H

#include "grid/pass.h"

enum { UND_GAIN_AHEAD = 5 }; /* rows: what is read there is fetched */
#define UND_GAIN_NONE 1e30f  /* of a face that did not flow */

typedef struct und_gain_args {
    und_mac mac;
    und_mask flows[3], set[3]; /* faces; those that had a velocity in the step before, or flow */
    und_mask held;             /* cells whose faces gain nothing */
    bool holds;
    const float *u[3];
    float *gained[3], *latest[3];
    float scale,
        sudden; /* this step's length over that of the one before; how much a gain may always change */
} und_gain_args;

UND_INLINE unsigned und_gain_held(const und_gain_args *a, und_place p, int axis)
{
    unsigned held = 0;
    for (unsigned left = a->holds ? p.which : 0; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        held |= (unsigned)und_mask_has_face(&a->held, axis, p.x + i, p.y, p.z) << i;
    }
    return held;
}

/* Half of what a face gained since it had what `gained` has.  A blow, as where liquid hits something, is over
 * when the next step begins: so of what differs from the gain before more than that is left out. */
UND_INLINE void und_gain(const und_gain_args *a, und_place p, int axis)
{
    float *gained = a->gained[axis] + p.at, *latest = a->latest[axis] + p.at;
    const und_lanes half = 0.5f * (und_lanes_load(a->u[axis] + p.at) - und_lanes_load(gained));
    const und_lanes before = a->scale * und_lanes_load(latest), size = und_lanes_max(before, -before);
    const und_lanes room = und_lanes_max(size, und_lanes_all(a->sudden));
    const und_lanes steady = und_lanes_max(before - room, und_lanes_min(before + room, half));
    und_lanes_store_some(gained, steady, p.which);
    und_lanes_store_some(latest, half, p.which);
}

/* A row, whose faces that do not flow have gained nothing: where there is no velocity that is so already. */
UND_INLINE void und_gain_row(const und_gain_args *a, und_place row, int axis)
{
    const uint64_t *flows = und_mask_row(&a->flows[axis], row.y, row.z),
                   *set = und_mask_row(&a->set[axis], row.y, row.z);
    const und_lanes nothing = {0}, none = und_lanes_all(UND_GAIN_NONE);
    und_place p = {.y = row.y, .z = row.z};
    unsigned in;
    for (p.x = -1; (p.x = und_mask_batch(&a->set[axis], set, p.x, UND_LANES, &in)) <= a->mac.n[0];
         p.x += UND_LANES) {
        p.at = (size_t)((ptrdiff_t)row.at + p.x);
        const size_t soon = p.at + (size_t)(UND_GAIN_AHEAD * a->mac.step[1]);
        und_lanes_fetch(a->u[axis] + soon);
        und_lanes_fetch(a->gained[axis] + soon);
        und_lanes_fetch(a->latest[axis] + soon);
        p.which = und_mask_sixteen(&a->flows[axis], flows, p.x) & in;
        p.which &= ~und_gain_held(a, p, axis);
        if (p.which)
            und_gain(a, p, axis);
        und_lanes_store_some(a->gained[axis] + p.at, nothing, in & ~p.which);
        und_lanes_store_some(a->latest[axis] + p.at, none, in & ~p.which);
    }
}

#endif
