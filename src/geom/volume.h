/* A shape that is a sampled distance: a lattice of values, linear between them along each axis, as level sets
 * come from files.
 *
 * The surface is where the interpolated value is zero, exactly.  Distances are as good as the values are;
 * beside the lattice they go on growing.  Queries allocate nothing and may run on any number of threads. */
#ifndef UND_GEOM_VOLUME_H
#define UND_GEOM_VOLUME_H

#include "geom/isosurface.h"
#include "geom/shape.h"

enum { UND_VOLUME_MAX = 1 << 26 }; /* values */

typedef struct und_volume_def {
    und_lattice lattice; /* at least two points along each axis, at most 1e6 m from the origin */
    const float *value;  /* m, negative inside */
} und_volume_def;

/* Copies the values; those of the lattice's border are made positive, so that the shape ends there.
 * UND_INVALID where a number is not finite or no value is below 0. */
und_volume *und_volume_create(const und_volume_def *def, und_error *err);

/* Shared: each holder releases it, the last one frees it. */
und_volume *und_volume_keep(und_volume *volume);
void und_volume_release(und_volume *volume); /* NULL is fine */

size_t und_volume_bytes(const und_volume *volume);      /* of memory */
und_bounds und_volume_bounds(const und_volume *volume); /* of the inside, to a spacing */

/* As und_shape_distance and und_shape_line. */
double und_volume_distance(const und_volume *volume, und_vec3 p);
double und_volume_line(const und_volume *volume, und_vec3 origin, und_vec3 direction, double low, double high,
                       double *first);
/* The first t above `after` where the line enters or leaves the shape; infinite where it does not. */
double und_volume_next(const und_volume *volume, und_vec3 origin, und_vec3 direction, double after);

#endif
