/* The liquid's surface as one height in each column (Foster & Metaxas 1996, section 4.3). */
#ifndef UND_SURFACE_HEIGHT_H
#define UND_SURFACE_HEIGHT_H

#include "grid/frame.h"
#include "grid/pass.h"

#include <undine/walls.h>

typedef struct und_height {
    und_mac mac;
    und_device device;
    int stride;        /* of a row along x; one column beside the domain on all sides is there */
    size_t first;      /* index of column (0, 0) in what was allocated */
    size_t count;      /* columns that were allocated */
    double *h;         /* m; points to column (0, 0), [z * stride + x] */
    double *before;    /* the same, before the last move */
    double *ground;    /* m: top of the solid cells that a column stands on (of the lowest run of them) */
    bool ground_moves; /* it is not the same in all frames */
    /* Of the last move: the cell whose velocity the surface has, -1 where a column is dry; and that velocity,
     * m/s, 0 where it is dry. */
    int32_t *cell;
    double *speed[3];
    double smoothing; /* 1/s: how fast waves two columns long die; 0 until it is set */
    double *bend;     /* scratch: m, by how much the columns beside are higher, together */
    double *row_gain; /* scratch: m, of each row of columns */
    double *row_clip; /* the same of what follows */
    double clipped; /* m3: added in the last move where the ground, or the domain's top, stopped the surface;
                       negative: taken away */
} und_height;

und_height *und_height_create(const und_mac *mac, int threads, und_error *err);
void und_height_destroy(und_height *height);

static inline size_t und_height_at(const und_height *height, int x, int z)
{
    return (size_t)z * (size_t)height->stride + (size_t)x;
}
static inline double und_height_area(const und_height *height) /* of a column, m2 */
{
    return height->mac.d[0] * height->mac.d[2];
}
/* A column with less water than this above the ground is dry: no cell of it is liquid; m. */
double und_height_film(const und_height *height);

/* Reads the ground from Solid cells.  Water below it is none: h is never below it.  Where the ground changed
 * the water above it keeps its depth; what found no place below the domain's top is returned, m3. */
double und_height_ground(und_height *height, const uint8_t *label);

/* Equation 12 over dt with the velocity u on high faces, the vertical one taken at the surface's own height
 * and the surface's convection kept stable; returns the volume that the surface gained, m3. */
double und_height_move(und_height *height, double *const u[3], const uint8_t *label, double dt);

/* Adds `volume` (m3), spread over the columns that hold water; what could not be taken is returned. */
double und_height_add(und_height *height, double volume);

/* Cells below the surface UND_CELL_FULL, those that it crosses UND_CELL_SURFACE, above Empty; Solid stay. */
void und_height_label(const und_height *height, uint8_t *label);

double und_height_volume(const und_height *height); /* m3 */

/* Adds "surface" [nz][nx] and "ground" [nz][nx] (static, unless it moves). */
und_status und_height_frame(const und_height *height, und_frame *frame, und_error *err);

/* The state, as items "height_..." of a checkpoint; save borrows the arrays. */
und_status und_height_save(und_height *height, und_frame *state, und_error *err);
und_status und_height_restore(und_height *height, const und_frame *state, und_error *err);

#endif
