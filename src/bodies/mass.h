/* Volume, centre and spread of a shape: what its mass and inertia follow from. */
#ifndef UND_BODIES_MASS_H
#define UND_BODIES_MASS_H

#include "geom/shape.h"

typedef struct und_moments {
    double volume;    /* m3 */
    und_vec3 center;  /* of volume */
    double spread[9]; /* integral of d d^T over the volume, d from the centre, m5 */
} und_moments;

/* Exact for round shapes, boxes and cylinders and for unions of parts that lie apart; by lines through the
 * shape along the three axes otherwise, where overlapping parts count once.  The shape must have an end. */
und_moments und_mass_of_shape(const und_shape *shape);

/* The inertia about the centre at a density: (trace(S) 1 - S) density. */
void und_moments_inertia(const und_moments *moments, double density, double inertia[9]);

#endif
