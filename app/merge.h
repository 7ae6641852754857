/* Frames of grids whose cells are the same, as one frame on a grid around them all: what pictures are drawn
 * of. */
#ifndef UND_APP_MERGE_H
#define UND_APP_MERGE_H

#include "app.h"
#include "grid/frame.h"

/* Fields are put side by side, where grids overlap those of the first; particles and triangles are brought
 * together, such of solids once; the rest is the first's. */
und_status merge_frames(const und_frame *frames, int count, und_frame *out, und_error *err);

#endif
