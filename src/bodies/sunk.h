/* What of a body lies below a plane: where the displaced water's weight lifts it. */
#ifndef UND_BODIES_SUNK_H
#define UND_BODIES_SUNK_H

#include "bodies/hull.h"

typedef struct und_sunk {
    double volume;   /* m3 */
    und_vec3 middle; /* its centre, where there is any */
} und_sunk;

/* Of the side of the plane through `at` that `up`, of length 1, points away from; own coordinates.  Exact for
 * balls, ellipsoids and boxes; of others the hull's nodes, which must be about their own origin. */
und_sunk und_sunk_below(const und_shape *shape, const und_hull *hull, und_vec3 at, und_vec3 up);
bool und_sunk_needs_hull(const und_shape *shape);

#endif
