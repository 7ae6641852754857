/* Shapes as signed distances, negative inside. */
#ifndef UND_GEOM_SHAPE_H
#define UND_GEOM_SHAPE_H

#include "geom/vec.h"

#include <undine/shape.h>

typedef enum und_shape_kind {
    UND_SPHERE,       /* center, radius */
    UND_BOX,          /* center, half = half the edge lengths */
    UND_CYLINDER,     /* center, axis along y, radius, half.y = half the height */
    UND_CAPSULE,      /* from center - half to center + half, radius */
    UND_ELLIPSOID,    /* center, half = semi-axes; the distance is a first-order estimate */
    UND_PLANE,        /* half-space below: center is a point on it, half its normal */
    UND_MESH,         /* triangles, moved by center */
    UND_VOXELS,       /* boxes side by side, moved by center */
    UND_VOLUME,       /* a sampled distance, moved by center */
    UND_UNION,        /* of children */
    UND_INTERSECTION, /* of children */
    UND_DIFFERENCE    /* the first child without the others */
} und_shape_kind;

typedef struct und_trimesh und_trimesh;             /* geom/trimesh.h */
typedef struct und_voxels und_voxels;               /* geom/voxels.h */
typedef struct und_distance_grid und_distance_grid; /* geom/distance_grid.h */

struct und_shape {
    und_shape_kind kind;
    und_vec3 center, half;
    double radius;
    int child_count;
    und_shape **children;      /* owned */
    und_trimesh *mesh;         /* UND_MESH: held */
    und_voxels *voxels;        /* UND_VOXELS: held */
    und_distance_grid *volume; /* UND_VOLUME: held */
};

/* A copy that takes over the children (malloc'ed) and the hold on mesh, voxels and volume, also where it
 * fails: NULL with the error set where a number is not finite or a size not above 0. */
und_shape *und_shape_create(const und_shape *like, und_error *err);
void und_shape_destroy(und_shape *shape); /* with its children */
double und_shape_distance(const und_shape *shape, und_vec3 p);
/* The same, but for rounding, at the `count` points origin + (from + k) step; a point's bits do not depend on
 * where the row begins. */
void und_shape_distances(const und_shape *shape, und_vec3 origin, und_vec3 step, int from, int count,
                         double *distance);

typedef struct und_bounds {
    und_vec3 low, high; /* a plane's are infinite */
} und_bounds;

und_bounds und_shape_bounds(const und_shape *shape);

/* The stretches of the line origin + t direction inside the shape, exact for every kind: returns their total
 * length in t between low and high (finite); *first is the smallest t inside, or high where none is. */
double und_shape_line(const und_shape *shape, und_vec3 origin, und_vec3 direction, double low, double high,
                      double *first);

/* The first stretch of the line inside the shape, or outside it; false where there is none.  Less than
 * `least` in t is none, and no gap either. */
bool und_shape_stretch(const und_shape *shape, und_vec3 origin, und_vec3 direction, double low, double high,
                       bool inside, double least, double *from, double *to);

/* The stretches along `count` lines side by side, from origin, origin + step, and so on; length[] and
 * first[]. */
void und_shape_lines(const und_shape *shape, und_vec3 origin, und_vec3 step, und_vec3 direction, double low,
                     double high, int count, double *length, double *first);

/* The same along the vertical line through (x, z): *bottom is the lowest point inside. */
double und_shape_column(const und_shape *shape, double x, double z, double low, double high, double *bottom);

#endif
