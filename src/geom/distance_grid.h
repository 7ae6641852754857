/* A shape that is a sampled distance: a lattice of values, linear between them along each axis, as level sets
 * come from files.
 *
 * The surface is where the interpolated value is zero, exactly.  Distances are as good as the values are;
 * beside the lattice they go on growing.  Queries allocate nothing and may run on any number of threads. */
#ifndef UND_GEOM_DISTANCE_GRID_H
#define UND_GEOM_DISTANCE_GRID_H

#include "geom/isosurface.h"
#include "geom/shape.h"

enum { UND_DISTANCE_GRID_MAX = 1 << 26 }; /* values */

typedef struct und_distance_grid_def {
    und_lattice lattice; /* at least two points along each axis, at most 1e6 m from the origin */
    const float *value;  /* m, negative inside */
} und_distance_grid_def;

/* Copies the values; those of the lattice's border are made positive, so that the shape ends there.
 * UND_INVALID where a number is not finite or no value is below 0. */
und_distance_grid *und_distance_grid_create(const und_distance_grid_def *def, und_error *err);

/* Shared: each holder releases it, the last one frees it. */
und_distance_grid *und_distance_grid_keep(und_distance_grid *volume);
void und_distance_grid_release(und_distance_grid *volume); /* NULL is fine */

size_t und_distance_grid_bytes(const und_distance_grid *volume);      /* of memory */
und_bounds und_distance_grid_bounds(const und_distance_grid *volume); /* of the inside, to a spacing */

/* As und_shape_distance and und_shape_line. */
double und_distance_grid_distance(const und_distance_grid *volume, und_vec3 p);
double und_distance_grid_line(const und_distance_grid *volume, und_vec3 origin, und_vec3 direction,
                              double low, double high, double *first);
/* The first t above `after` where the line enters or leaves the shape; infinite where it does not. */
double und_distance_grid_next(const und_distance_grid *volume, und_vec3 origin, und_vec3 direction,
                              double after);

#endif
