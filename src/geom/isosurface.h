/* Triangles of the surface where a field on a lattice of points is zero. */
#ifndef UND_GEOM_ISOSURFACE_H
#define UND_GEOM_ISOSURFACE_H

#include "geom/shell.h"

typedef struct und_lattice {
    int n[3];         /* points, stored with x fastest, then y, then z */
    double d[3];      /* from one to the next, m */
    double origin[3]; /* of the first */
} und_lattice;

static inline size_t und_lattice_count(const und_lattice *l)
{
    return (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2];
}

/* Three corners a triangle, counter-clockwise seen from outside. */
typedef struct und_isosurface {
    int triangle_count;
    float *position; /* [3 * triangle_count][3], m */
    float *normal;   /* the same size: unit vectors along the field's gradient, outward; at
                        creases, more than 60 degrees off it, the triangle's own */
} und_isosurface;

/* The inside is where the field is below 0.  Neighbouring cells of the lattice share corners and edges bit by
 * bit, so that the surface is closed where all points of the lattice's border are outside; at a border that
 * is inside it ends.  Where corners of a cell's side are inside crosswise they are kept apart.  A field that
 * is not finite somewhere is outside there.  The same bits at any number of threads. */
und_status und_isosurface_make(const und_lattice *lattice, const float *field, int threads,
                               und_isosurface *surface, und_error *err);
/* Which corners of an indexed surface's triangle, bit 1 << corner, are at creases; the triangle's own normal.
 */
unsigned und_isosurface_creases(const und_shell *shell, int triangle, float own[3]);
/* The loose triangles of an indexed surface. */
und_status und_isosurface_of(const und_shell *shell, int threads, und_isosurface *surface, und_error *err);
void und_isosurface_free(und_isosurface *surface);

#endif
