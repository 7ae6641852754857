/* What the stages of the level set share among themselves. */
#ifndef UND_SURFACE_DISTANCE_PARTS_H
#define UND_SURFACE_DISTANCE_PARTS_H

#include "grid/reduce.h"
#include "surface/distance.h"

/* Cells of a row from low to below high. */
typedef struct und_row_extent {
    int32_t low, high;
} und_row_extent;

typedef struct und_distance_parts {
    und_mask negative; /* phi < 0; beside the domain as in the cell it touches; see und_distance_signs */
    und_mask front;    /* cells with a neighbour on the other side of the surface */
    und_mask near, wide;
    uint8_t *change[2];         /* [rows]: whether a pass, and the one before, changed values */
    uint8_t *taken;             /* [rows] */
    uint8_t *rows_changed;      /* what change[] points into: there are zeros around */
    und_total *row_total;       /* [rows] */
    und_row_extent *row_extent; /* [rows]: where there is liquid */
    float *block_most;          /* of each block of rows */
    float *stage;               /* as phi: what is between in motion by HJ-WENO */
    float *none; /* a row of values further than any, which stands for what is beyond the domain */
} und_distance_parts;

static inline int und_distance_axes(const und_distance *d)
{
    return d->mac.n[2] > 1 ? 3 : 2;
}

/* distance_thin.c: what is one cell thick gets thinner or thicker as the flow across it goes. */
void und_distance_draw_thin(und_distance *d, float *const u[3], double cells_per_speed);

/* parts->negative anew where the band is: elsewhere signs have not changed. */
void und_distance_signs(und_distance *d);

/* The layer beside the domain. */
void und_distance_beside(const und_distance *d, float *phi);

/* The band and the signs of row (y, z) anew; beyond the band phi and next are +-width. */
void und_distance_refresh_at(und_distance *d, int y, int z);
struct und_distance_refresh_args und_distance_refresh_of(const und_distance *d); /* what kernels do it by */
void und_distance_refresh_rows(und_distance *d,
                               const uint8_t *some); /* [rows]; NULL: all; and the layer beside */

#endif
