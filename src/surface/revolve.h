/* A surface of revolution around a vertical axis from the chains' profiles, smoothed by bicubic splines
 * (Foster & Metaxas 1996, section 8). */
#ifndef UND_SURFACE_REVOLVE_H
#define UND_SURFACE_REVOLVE_H

#include "grid/frame.h"

#include <undine/revolve.h>

/* Adds "liquid/mesh_position" and "liquid/mesh_normal" [corners][3] from the frame's chains. */
und_status und_revolve(const und_revolve_def *def, und_frame *frame, und_error *err);

#endif
