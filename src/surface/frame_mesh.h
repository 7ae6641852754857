/* The indexed mesh of a frame's liquid.  Where the frame holds its distance it is made when it is drawn or
 * handed on, not cached. */
#ifndef UND_SURFACE_FRAME_MESH_H
#define UND_SURFACE_FRAME_MESH_H

#include "geom/shell.h"
#include "grid/frame.h"

#include <math.h>

typedef struct und_frame_mesh_def {
    double into_solids; /* cells that the liquid reaches into solids, so that no gap shows; 0 */
    double adaptive;    /* cells that the surface may be off where triangles are saved; 0: none are */
    bool velocity;      /* of the vertices, where the frame has it */
    int threads;
} und_frame_mesh_def;

/* Is the frame one of a liquid whose surface is a distance? */
bool und_frame_mesh_has_distance(const und_frame *frame);

/* Has the frame what a mesh of its liquid is made of: a distance, or "liquid/mesh_position"? */
bool und_frame_mesh_has_liquid(const und_frame *frame);

/* Of a distance, the surface of where it is below 0, within the grid's box and outside of "solid/distance":
 * closed, flat and exact at the box's walls.  Of loose triangles, those, with shared vertices; `into_solids`
 * is not heeded.  UND_FAILED where an item is not what it should be. */
und_status und_frame_mesh(const und_frame *frame, const und_frame_mesh_def *def, und_shell *shell,
                          und_error *err);

/* Half a cell on, as steeply as between the last two, but no more so than a distance is.  Liquid whose border
 * runs along the wall touches it: between the two there is less than half a cell, which no flow can tell from
 * nothing. */
static inline float und_distance_on_wall(float last, float before, float half)
{
    const float along = 0.9F, across = 0.7F; /* rise, of a distance's, from which on it runs along the wall */
    float rise = 0.5F * (last - before);
    rise = rise > half ? half : rise < -half ? -half : rise;
    if (last < 0 && rise > across * half)
        rise *= fmaxf(along - rise / half, 0) / (along - across);
    return last + rise;
}

#endif
