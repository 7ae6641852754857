/* The liquid's surface as one height in each column (Foster & Metaxas 1996, section 4.3). */
#ifndef UND_SURFACE_HEIGHT_H
#define UND_SURFACE_HEIGHT_H

#include "grid/frame.h"
#include "grid/mac.h"

#include <undine/cells.h>

typedef struct und_height {
    und_mac mac;
    int threads;
    int stride;     /* of a row along x; one column beside the domain on all sides is there */
    double *h;      /* m; points to column (0, 0), [z * stride + x] */
    double *before; /* the same, before the step */
    double *ground; /* m: top of the solid cells that a column stands on (of the lowest run of them) */
    double *scratch;
} und_height;

und_height *und_height_create(const und_mac *mac, int threads, und_error *err);
void und_height_destroy(und_height *height);

/* Reads the ground from Solid cells.  Water below `ground` is none: h is never below it. */
void und_height_ground(und_height *height, const uint8_t *label);

/* Equation 12 over dt with the velocity u on high faces, the vertical one taken at the surface's own height
 * and the surface's convection kept stable; returns the volume that the surface gained, m3. */
double und_height_move(und_height *height, double *const u[3], const uint8_t *label, double dt);

/* Adds `volume` (m3), spread over the columns that hold water; what could not be taken is returned. */
double und_height_add(und_height *height, double volume);

/* Cells below the surface UND_CELL_FULL, those that it crosses UND_CELL_SURFACE, above Empty; Solid stay. */
void und_height_label(const und_height *height, uint8_t *label);

double und_height_volume(const und_height *height); /* m3 */

/* Adds "surface" [nz][nx] and "ground" [nz][nx] (static). */
und_status und_height_frame(const und_height *height, und_frame *frame, und_error *err);

und_status und_height_save(und_height *height, und_frame *state, und_error *err);
und_status und_height_restore(und_height *height, const und_frame *state, und_error *err);

#endif
