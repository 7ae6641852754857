/* A shape that is a set of voxels: boxes side by side in a larger box, each of them in the shape or not.
 *
 * Whether a point is inside is exact.  Its distance is that to the faces of a voxel of the other kind: the
 * nearest one where that is close by, of those further away one that may be a little further.
 * Queries allocate nothing and may run on any number of threads. */
#ifndef UND_GEOM_VOXELS_H
#define UND_GEOM_VOXELS_H

#include "geom/shape.h"

#include <stdint.h>

enum { UND_VOXELS_MAX = 1 << 24, UND_VOXELS_SIDE = 4096 }; /* in all, along an axis */

typedef struct und_voxels_def {
    int n[3];
    und_vec3 low, high;    /* corners of the whole, m, at most 1e6 from the origin */
    const uint8_t *filled; /* [z][y][x]; not 0: in the shape */
} und_voxels_def;

/* Copies what it needs.  UND_INVALID where no voxel is in the shape. */
und_voxels *und_voxels_create(const und_voxels_def *def, und_error *err);

/* Shared: each holder releases it, the last one frees it. */
und_voxels *und_voxels_keep(und_voxels *voxels);
void und_voxels_release(und_voxels *voxels); /* NULL is fine */

size_t und_voxels_bytes(const und_voxels *voxels);      /* of memory */
und_bounds und_voxels_bounds(const und_voxels *voxels); /* of those in the shape */

/* As und_shape_distance and und_shape_line. */
double und_voxels_distance(const und_voxels *voxels, und_vec3 p);
double und_voxels_line(const und_voxels *voxels, und_vec3 origin, und_vec3 direction, double low, double high,
                       double *first);
/* The first t above `after` where the line enters or leaves the shape; infinite where it does not. */
double und_voxels_next(const und_voxels *voxels, und_vec3 origin, und_vec3 direction, double after);

/* The faces between voxels of the shape and others, those in one plane joined to rectangles; corners
 * counter-clockwise seen from outside. */
typedef void und_voxel_face_fn(void *context, const und_vec3 corner[4]);
und_status und_voxels_faces(const und_voxels *voxels, und_voxel_face_fn *each, void *context, und_error *err);

#endif
