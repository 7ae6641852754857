/* What the files of the frame's mesh share. */
#ifndef UND_SURFACE_FRAME_MESH_PARTS_H
#define UND_SURFACE_FRAME_MESH_PARTS_H

#include "geom/shell.h"
#include "grid/frame.h"

#include <stdbool.h>

enum { UND_FRAME_MESH_BESIDE = 2 }; /* planes of points on each side beyond the cells' */

typedef struct und_frame_mesh_lattice {
    const und_grid *grid;
    int n[3], threads; /* points */
    ptrdiff_t step[3];
    double *at[3];
} und_frame_mesh_lattice;

/* What of the mesh is at a film: it bounds it from below, on the wall, or from above. */
enum { UND_FRAME_MESH_BELOW = 1, UND_FRAME_MESH_ABOVE = 2 };

/* How far a place is from the solids, m, below 0 within them, or from these and the liquid, and the gradient
 * of that. */
typedef float und_frame_mesh_surface_fn(const void *context, uint8_t sheet, const float place[3],
                                        float gradient[3]);

/* The box that the liquid is in: nothing leaves it. */
typedef struct und_frame_mesh_box {
    double low[3], high[3], at; /* m: what is so near to a side is at it */
} und_frame_mesh_box;

static inline bool und_frame_mesh_at_side(const und_frame_mesh_box *b, int axis, double place)
{
    return place - b->low[axis] < b->at || b->high[axis] - place < b->at;
}

static inline double und_frame_mesh_within(const und_frame_mesh_box *b, int axis, double place)
{
    return place < b->low[axis] ? b->low[axis] : place > b->high[axis] ? b->high[axis] : place;
}

/* On a solid a layer may be thinner than the points lie apart: one point is in the air, the next one in the
 * solid, and what is between the two no point tells, but edges of the lattice do.  So they do of walls that
 * are thinner than that. */
typedef struct und_frame_mesh_films {
    const und_frame_mesh_lattice *p;
    const float *field, *room; /* m, to the liquid's surface and to the solids, of points */
    const uint64_t *rows;      /* und_shell_def's */
    uint16_t *edges;           /* of points: geom/shell_edges.h; and whether it is at such a wall */
    und_frame_mesh_box box;
} und_frame_mesh_films;

enum { UND_FRAME_MESH_THIN = 1 << 12 };

und_status und_frame_mesh_find_films(und_frame_mesh_films *films, und_error *err);
/* An und_shell_put_fn of films. */
void und_frame_mesh_put(const void *context, size_t at, int axis, float *position, float *normal);

/* Bends the mesh round edges of solids: an edge of it with both ends, of those marked in `film`, on one
 * sheet, which cuts through what that is around between, gets a vertex in its middle, and that is put on the
 * sheet.  `film` is as long as there are vertices; both grow. */
und_status und_frame_mesh_bend(und_shell *shell, uint8_t **film, und_frame_mesh_surface_fn *surface,
                               const void *context, const und_frame_mesh_box *box, double dx, und_error *err);

#endif
