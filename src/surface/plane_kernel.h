/* A cell cut by a plane: the part below it, the plane for a part, and what lies in a slab of the cell (what
 * is swept over a face).  For one plane in doubles, und_plane_*, and for some at a time in floats,
 * und_planes_*: one text, without libm, so that it has the same bits everywhere.
 *
 * The plane is value + slope.x = 0, with x from the cell's middle and the cell one long; liquid is where the
 * sum is below 0, so slope points out of it and need not be of length 1.  Without a slope the part is that of
 * a plane of slope 1 whichever way it is seen, and of a slab the same. */
#ifndef UND_SURFACE_PLANE_KERNEL_H
#define UND_SURFACE_PLANE_KERNEL_H

#include "base/lanes.h"

#define PLANE(name) und_plane_##name
#define REAL double
#define WHERE int
#define ALL(v) (v)
#define SELECT(where, a, b) ((where) ? (a) : (b))
#define LEAST 1e-290 /* what is smaller is 0 */
#define STEPS 5      /* Newton's, until nothing changes */
#define CUBE_ROOT und_cube_root_near
#define SQUARE_ROOT __builtin_sqrt

/* Within 4 %: a number's bits are nearly its logarithm. */
UND_INLINE double und_cube_root_near(double v)
{
    int64_t bits;
    __builtin_memcpy(&bits, &v, sizeof bits);
    bits = (int64_t)((double)bits * (1.0 / 3)) + 0x2a9f7893782da1ce;
    __builtin_memcpy(&v, &bits, sizeof v);
    return v;
}

#include "surface/plane_text.h"

#define PLANE(name) und_planes_##name
#define REAL und_lanes
#define WHERE und_lanes_int
#define ALL(v) und_lanes_all(v)
#define SELECT(where, a, b) und_lanes_select(where, a, b)
#define LEAST 1e-30f
#define STEPS 3
#define CUBE_ROOT und_cube_roots_near
#define SQUARE_ROOT und_lanes_sqrt

UND_INLINE und_lanes und_cube_roots_near(und_lanes v)
{
    und_lanes third = __builtin_convertvector((und_lanes_int)v, und_lanes) * (1.0f / 3);
    return (und_lanes)(__builtin_convertvector(third, und_lanes_int) + 0x2a514067);
}

#include "surface/plane_text.h"

#endif
