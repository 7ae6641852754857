/* Arithmetic on faces of a staggered grid, several at a time. */
#ifndef UND_FLOW_MAC_FLOW_KERNEL_H
#define UND_FLOW_MAC_FLOW_KERNEL_H

#include "base/lanes.h"
#include "grid/mac.h"

/* The velocity at the faces across the axis from index `at` on: their own component, and the means of the
 * four faces around of the others. */
UND_INLINE void und_faces_velocity(const und_mac *m, float *const u[3], int axis, size_t at,
                                   und_lanes speed[3])
{
    for (int c = 0; c < 3; c++) {
        const float *high = u[c] + at, *low = high - m->step[c];
        if (c == axis)
            speed[c] = und_lanes_load(high);
        else if (c == 2 && m->n[2] == 1)
            speed[c] = (und_lanes){0};
        else
            speed[c] = 0.25f * (und_lanes_load(high) + und_lanes_load(high + m->step[axis]) +
                                (und_lanes_load(low) + und_lanes_load(low + m->step[axis])));
    }
}

/* The gradient there of what stands at the middles of cells, per cell. */
UND_INLINE void und_faces_gradient(const und_mac *m, const float *v, int axis, size_t at,
                                   und_lanes gradient[3])
{
    const float *here = v + at, *there = here + m->step[axis];
    for (int c = 0; c < 3; c++) {
        ptrdiff_t step = m->step[c];
        if (c == axis)
            gradient[c] = und_lanes_load(there) - und_lanes_load(here);
        else if (c == 2 && m->n[2] == 1)
            gradient[c] = (und_lanes){0};
        else
            gradient[c] = 0.25f * (und_lanes_load(here + step) - und_lanes_load(here - step) +
                                   (und_lanes_load(there + step) - und_lanes_load(there - step)));
    }
}

#endif
