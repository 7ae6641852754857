/* Triangles of a shape, to draw it. */
#ifndef UND_GEOM_MESH_H
#define UND_GEOM_MESH_H

#include "geom/shape.h"

/* Three corners a triangle, counter-clockwise seen from outside. */
typedef struct und_soup {
    int triangle_count;
    float *position; /* [3 * triangle_count][3], m, in the shape's own coordinates */
    float *color;    /* the same size, linear; negative where a part has none; NULL: none has */
} und_soup;

enum { UND_SOUP_MAX = 1 << 20 }; /* triangles */

/* Round shapes are tessellated with their corners on the surface, so finely that outlines are out by at most
 * 0.2 % of half the longest extent; a union is the triangles of its children;
 * intersections and differences are cut out of a grid of 48 cells along their longest edge.  A plane has no
 * triangles, a mesh its own; voxels have theirs' faces, joined.  UND_INVALID where there would be more than
 * UND_SOUP_MAX. */
und_status und_shape_mesh(const und_shape *shape, und_soup *soup, und_error *err);
void und_soup_destroy(und_soup *soup);

/* The colours of all corners, [3 * triangle_count][3]: `color`, or where that is negative the soup's own, or
 * where it has none a dark red. */
void und_soup_paint(const und_soup *soup, const float color[3], float *out);

#endif
