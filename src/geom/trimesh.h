/* A shape that is a mesh of triangles, with a tree of boxes over them.
 *
 * Whether a point is inside is told by counting how often a line to it enters and leaves (a winding number):
 * parts of a mesh may overlap, and a part that is inside out is a hole.  The count is kept per edge, so that
 * a line through an edge or a corner of a closed mesh enters as often as it leaves, whatever the rounding.
 * Queries allocate nothing and may run on any number of threads. */
#ifndef UND_GEOM_TRIMESH_H
#define UND_GEOM_TRIMESH_H

#include "geom/shape.h"

enum { UND_TRIMESH_MAX = 1 << 20 }; /* triangles; as many vertices as they have corners */

typedef struct und_trimesh_def {
    int vertex_count, triangle_count;
    const und_vec3 *vertex;   /* m, at most 1e6 from the origin */
    const float (*color)[3];  /* of each vertex, linear; NULL: none */
    const int (*triangle)[3]; /* vertices, counter-clockwise seen from outside */
} und_trimesh_def;

/* UND_INVALID where a number or an index is wrong, or there are too many. */
und_status und_trimesh_check(const und_trimesh_def *def, und_error *err);

/* Copies what it needs.  Vertices at the same place become one, triangles without three different corners are
 * dropped, and a mesh that is inside out is turned.  UND_INVALID where no volume is left or an index is
 * wrong.
 */
und_trimesh *und_trimesh_create(const und_trimesh_def *def, und_error *err);

/* A mesh is shared: each holder releases it, the last one frees it. */
und_trimesh *und_trimesh_keep(und_trimesh *mesh);
void und_trimesh_release(und_trimesh *mesh); /* NULL is fine */

int und_trimesh_count(const und_trimesh *mesh); /* triangles */
long und_trimesh_open_edges(
    const und_trimesh *mesh);                       /* without a partner that runs the other way; 0: closed */
double und_trimesh_volume(const und_trimesh *mesh); /* m3; overlaps count twice */
size_t und_trimesh_bytes(const und_trimesh *mesh);  /* of memory */
und_bounds und_trimesh_bounds(const und_trimesh *mesh);
und_vec3 und_trimesh_corner(const und_trimesh *mesh, int triangle, int corner);
/* The colour of a corner; NULL where the mesh has none. */
const float *und_trimesh_color(const und_trimesh *mesh, int triangle, int corner);

/* As und_shape_distance; where parts overlap, to the nearest triangle even if that is inside another part.
 * Where the mesh is open, the sign is the majority's of six lines along the axes. */
double und_trimesh_distance(const und_trimesh *mesh, und_vec3 p);

/* As und_shape_line.  Crossings are found 64 at a time: a line with more takes a walk for each 64. */
double und_trimesh_line(const und_trimesh *mesh, und_vec3 origin, und_vec3 direction, double low, double high,
                        double *first);

/* The first t above `after` where the line meets a triangle; infinite where none is. */
double und_trimesh_next(const und_trimesh *mesh, und_vec3 origin, und_vec3 direction, double after);

#endif
