/* Indexed triangles of the surface around the inside of a field on points: closed, every edge that of two
 * triangles, around every vertex one ring of them. */
#ifndef UND_GEOM_SHELL_H
#define UND_GEOM_SHELL_H

#include <undine/types.h>

typedef struct und_shell {
    int vertex_count, triangle_count;
    float *position;   /* [vertex_count][3], m */
    float *normal;     /* the same size: unit vectors, outward */
    float *velocity;   /* the same size, m/s; NULL: not known */
    int32_t *triangle; /* [triangle_count][3] vertices, counter-clockwise seen from outside */
} und_shell;

/* Where the surface crosses an edge from a point on that has something between its ends, and its normals
 * there, from the low end on. */
typedef void und_shell_put_fn(const void *context, size_t at, int axis, float *position, float *normal);

/* A field at the points of a lattice whose planes need not be equally far apart. */
typedef struct und_shell_def {
    int n[3];            /* points, stored with x fastest, then y, then z */
    const double *at[3]; /* where they are along each axis, m, not decreasing; an edge between two at the same
                            place is crossed there, and the normal is along it */
    const float *field;  /* inside is where it is below 0 ... */
    const float *room;   /* ... and this above 0; NULL: everywhere */
    const uint16_t *edges; /* what is between a point and the next ones (geom/shell_edges.h), where the latter
                              are not on the border; NULL: nothing */
    und_shell_put_fn *put;
    const void *context;
    const uint64_t *rows; /* bits of rows along x, y fastest: all points of others are outside; NULL: all */
    int threads;
} und_shell_def;

/* Both fields are linear along an edge, and the surface crosses it where the first of them ends the inside;
 * its normal is that one's gradient.  Closed where all points of the lattice's border are outside; at a
 * border that is inside it ends.  Where corners of a cell's side are inside crosswise they are kept apart.
 * What is not finite is outside.  The same bits at any number of threads. */
und_status und_shell_make(const und_shell_def *def, und_shell *shell, und_error *err);

/* Takes out vertices, while those that stay keep their place, where the one that stands in for them is off
 * the planes of the triangles around them by at most `tolerance`, in the root mean square over their area;
 * no edge made is longer than `longest`.  What was closed, with two triangles at each edge, still is. */
und_status und_shell_thin(und_shell *shell, double tolerance, double longest, und_error *err);

/* The same of loose triangles, [3 triangles][3] corners: those at the same place become one vertex, whose
 * normal is the mean of theirs (NULL: of the triangles' own). */
und_status und_shell_weld(const float *position, const float *normal, size_t triangles, und_shell *shell,
                          und_error *err);

void und_shell_free(und_shell *shell);

/* Three numbers of each vertex, [vertex_count][3], at the corners of a triangle. */
static inline void und_shell_corners(const und_shell *shell, const float *values, size_t triangle,
                                     float out[9])
{
    const int32_t *v = shell->triangle + 3 * triangle;
    for (size_t k = 0; k < 9; k++)
        out[k] = values[3 * (size_t)v[k / 3] + k % 3];
}

#endif
