/* What the files of the frame's mesh share. */
#ifndef UND_SURFACE_FRAME_MESH_PARTS_H
#define UND_SURFACE_FRAME_MESH_PARTS_H

#include "geom/shell.h"

#include <stdbool.h>

/* How far a place is from the solids, m, below 0 within them, and the gradient of that. */
typedef float und_frame_mesh_wall_fn(const void *context, const float place[3], float gradient[3]);

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

/* Bends the mesh round edges of solids: an edge of it with both ends, of those marked in `film`, at a wall,
 * which cuts through the solid between, gets a vertex in its middle, and that is put on the wall.  `film` is
 * as long as there are vertices; both grow. */
und_status und_frame_mesh_bend(und_shell *shell, uint8_t **film, und_frame_mesh_wall_fn *wall,
                               const void *context, const und_frame_mesh_box *box, double dx, und_error *err);

#endif
