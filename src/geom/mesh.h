/* Triangles of a shape, to draw it. */
#ifndef UND_GEOM_MESH_H
#define UND_GEOM_MESH_H

#include "geom/shape.h"

/* Three corners a triangle, counter-clockwise seen from outside. */
typedef struct und_soup {
    int triangle_count;
    float *position; /* [3 * triangle_count][3], m, in the shape's own coordinates */
} und_soup;

enum { UND_SOUP_MAX = 1 << 20 }; /* triangles */

/* Round shapes are tessellated with their corners on the surface; a union is the triangles of its children;
 * intersections and differences are cut out of a grid of 48 cells along their longest edge.  A plane has no
 * triangles.  UND_INVALID where there would be more than UND_SOUP_MAX. */
und_status und_shape_mesh(const und_shape *shape, und_soup *soup, und_error *err);
void und_soup_destroy(und_soup *soup);

#endif
