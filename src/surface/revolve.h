/* A surface of revolution around a vertical axis from the chains' profiles, smoothed by bicubic splines
 * (Foster & Metaxas 1996, section 8). */
#ifndef UND_SURFACE_REVOLVE_H
#define UND_SURFACE_REVOLVE_H

#include "grid/frame.h"

typedef struct und_revolve_def {
    double axis_x, axis_z; /* m; where the axis stands; the profile is the half with x >= axis_x */
    int around;            /* triangles around, 96 */
    int along;             /* spline samples per marker, 3 */
} und_revolve_def;

/* Adds "liquid/mesh_position" and "liquid/mesh_normal" [corners][3] from the frame's chains. */
und_status und_revolve(const und_revolve_def *def, und_frame *frame, und_error *err);

#endif
