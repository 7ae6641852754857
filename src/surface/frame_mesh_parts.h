/* What the files of the frame's mesh share. */
#ifndef UND_SURFACE_FRAME_MESH_PARTS_H
#define UND_SURFACE_FRAME_MESH_PARTS_H

#include "geom/shell.h"

/* How far a place is from the solids, m, below 0 within them, and the gradient of that. */
typedef float und_frame_mesh_wall_fn(const void *context, const float place[3], float gradient[3]);

/* Bends the mesh round edges of solids: an edge of it with both ends, of those marked in `film`, at a wall,
 * which cuts through the solid between, gets a vertex in its middle, and that is put on the wall.  `film` is
 * as long as there are vertices; both grow. */
und_status und_frame_mesh_bend(und_shell *shell, uint8_t **film, und_frame_mesh_wall_fn *wall,
                               const void *context, double dx, und_error *err);

#endif
