/* Shapes as signed distances, negative inside. */
#ifndef UND_GEOM_SHAPE_H
#define UND_GEOM_SHAPE_H

#include "geom/vec.h"

#include <undine/waves.h>

typedef enum und_shape_kind {
    UND_SPHERE,       /* center, radius */
    UND_BOX,          /* center, half = half the edge lengths */
    UND_CYLINDER,     /* center, axis along y, radius, half.y = half the height */
    UND_CAPSULE,      /* from center - half to center + half, radius */
    UND_ELLIPSOID,    /* center, half = semi-axes; the distance is a first-order estimate */
    UND_PLANE,        /* half-space below: center is a point on it, half its normal */
    UND_UNION,        /* of children */
    UND_INTERSECTION, /* of children */
    UND_DIFFERENCE    /* the first child without the others */
} und_shape_kind;

struct und_shape {
    und_shape_kind kind;
    und_vec3 center, half;
    double radius;
    int child_count;
    und_shape **children; /* owned */
};

und_shape *und_shape_create(const und_shape *like, und_error *err); /* a copy; takes over the children */
void und_shape_destroy(und_shape *shape);                           /* with its children */
double und_shape_distance(const und_shape *shape, und_vec3 p);

typedef struct und_bounds {
    und_vec3 low, high; /* a plane's are infinite */
} und_bounds;

und_bounds und_shape_bounds(const und_shape *shape);

/* The stretches of the vertical line through (x, z) that lie inside: returns their total length between low
 * and high, found by marching the distance; *bottom is the lowest point inside. */
double und_shape_column(const und_shape *shape, double x, double z, double low, double high, double *bottom);

#endif
