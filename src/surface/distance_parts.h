/* What the stages of the level set share among themselves. */
#ifndef UND_SURFACE_DISTANCE_PARTS_H
#define UND_SURFACE_DISTANCE_PARTS_H

#include "base/lanes.h"
#include "base/parallel.h"
#include "surface/distance.h"

/* Up to UND_LANES cells side by side in a row that are worked on at once: bit i of `lanes` is cell x + i. */
typedef struct und_batch {
    int32_t x;
    uint32_t lanes;
} und_batch;

typedef struct und_distance_parts {
    und_mask negative; /* phi < 0; beside the domain as in the cell it touches; see und_distance_signs */
    und_mask front;    /* cells with a neighbour on the other side of the surface */
    und_mask near, wide;
    int per_row;           /* batches that a row has at most */
    und_batch *batch;      /* [rows][per_row] */
    int32_t *batches;      /* [rows] */
    uint8_t *change[2];    /* [rows]: whether a pass, and the one before, changed values */
    uint8_t *look;         /* [rows]: whether a row looks at such */
    uint8_t *rows_changed; /* what change[] points into: there are zeros around */
    double *row_sum;       /* [rows] */
    float *stage;          /* as phi: what is between in motion by HJ-WENO */
    float *none;           /* a row of values further than any, which stands for what is beyond the domain */
} und_distance_parts;

/* Further away than anything, in cells. */
#define UND_DISTANCE_NONE 1e4f

/* Rows are shared out in blocks. */
enum { UND_DISTANCE_ROWS = 32 };
static inline int und_distance_blocks(const und_distance *d)
{
    return (und_mac_rows(&d->mac) + UND_DISTANCE_ROWS - 1) / UND_DISTANCE_ROWS;
}
static inline int und_distance_block_end(const und_distance *d, int block)
{
    int end = (block + 1) * UND_DISTANCE_ROWS, rows = und_mac_rows(&d->mac);
    return end < rows ? end : rows;
}

static inline int und_distance_axes(const und_distance *d)
{
    return d->mac.n[2] > 1 ? 3 : 2;
}

/* How many threads are worth it. */
static inline int und_distance_workers(const und_distance *d)
{
    return und_workers(d->threads, (size_t)und_mac_rows(&d->mac) * (size_t)d->mac.n[0], 1 << 15);
}

/* Of UND_LANES cells of a row of the mask from this bit (x + 1) on, those that are in it. */
static inline uint32_t und_mask_lanes(const und_mask *m, const uint64_t *row, int bit)
{
    uint64_t lanes = row[bit >> 6] >> (bit & 63);
    if ((bit & 63) > 64 - UND_LANES && (bit >> 6) + 1 < m->words)
        lanes |= row[(bit >> 6) + 1] << (64 - (bit & 63));
    return (uint32_t)(lanes & ((UINT64_C(1) << UND_LANES) - 1));
}

/* The bits of the cells of a row inside the domain in its word w. */
static inline uint64_t und_distance_inside(const und_distance *d, int w)
{
    int low = 64 * w, n = d->mac.n[0]; /* bits 1 to n of the row are inside */
    uint64_t bits = low == 0 ? ~UINT64_C(1) : ~UINT64_C(0);
    if (n + 1 - low < 64)
        bits &= n + 1 > low ? (UINT64_C(1) << (n + 1 - low)) - 1 : 0;
    return bits;
}

/* The batches that hold the cells of a mask: parts->batch and batches. */
void und_distance_list(und_distance *d, const und_mask *cells);

/* distance_thin.c: what is one cell thick gets thinner or thicker as the flow across it goes. */
void und_distance_draw_thin(und_distance *d, float *const u[3], double cells_per_speed);

/* parts->negative anew where the band is: elsewhere signs have not changed. */
void und_distance_signs(und_distance *d);

/* The layer beside the domain. */
void und_distance_beside(const und_distance *d, float *phi);

/* The band and the signs of row (y, z) anew; beyond the band phi and next are +-width. */
void und_distance_refresh_row(und_distance *d, int y, int z);

#endif
