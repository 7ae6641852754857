/* Redistancing: beside the surface phi is divided by the length of its gradient, which leaves the surface
 * where it is, and stays; further out the upwind Eikonal equation is iterated in a few passes over the band
 * at once, each from the one before, so that the order of cells does not matter. */
#include "surface/distance_kernel.h"
#include "surface/distance_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef void row_fn(und_distance *d, int row);

static void each_row(und_distance *d, row_fn *fn)
{
    int threads = und_distance_workers(d), blocks = und_distance_blocks(d);
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        for (int r = block * UND_DISTANCE_ROWS; r < und_distance_block_end(d, block); r++)
            fn(d, r);
}

/* Which rows a set of cells is in, seen from row (y, z); those beyond the domain are NULL. */
static const uint64_t *row_of(const und_distance *d, const und_mask *m, int y, int z)
{
    const int *n = d->mac.n;
    return y < 0 || z < 0 || y >= n[1] || z >= n[2] ? NULL : und_mask_row(m, y, z);
}

static void front_row(und_distance *d, int row)
{
    int y = row % d->mac.n[1], z = row / d->mac.n[1];
    const und_mask *negative = &d->parts->negative;
    const uint64_t *own = und_mask_row(negative, y, z);
    uint64_t *out = und_mask_row(&d->parts->front, y, z);
    int words = negative->words;
    for (int w = 0; w < words; w++) {
        uint64_t low = own[w] << 1 | (w > 0 ? own[w - 1] >> 63 : 0);
        uint64_t high = own[w] >> 1 | (w + 1 < words ? own[w + 1] << 63 : 0);
        out[w] = (own[w] ^ low) | (own[w] ^ high);
    }
    const uint64_t *beside[4] = {row_of(d, negative, y - 1, z), row_of(d, negative, y + 1, z),
                                 row_of(d, negative, y, z - 1), row_of(d, negative, y, z + 1)};
    for (int i = 0; i < 4; i++)
        for (int w = 0; beside[i] && w < words; w++)
            out[w] |= own[w] ^ beside[i][w];
    for (int w = 0; w < words; w++)
        out[w] &= und_distance_inside(d, w);
}

/* wide: near, and what shares an edge with a cell of it, or with `corners` a corner.  Rows of a slice stand
 * one behind the other, and nothing is in the layer beside the domain: so a slice is one long row, but for
 * its ends. */
static void grow_slice(und_distance *d, int z, bool corners)
{
    const und_mask *near = &d->parts->near;
    ptrdiff_t y = near->words, slice = y * (d->mac.n[1] + 2), count = y * d->mac.n[1];
    const uint64_t *in = und_mask_row(near, 0, z);
    uint64_t *out = und_mask_row(&d->parts->wide, 0, z);
    for (ptrdiff_t i = 0; i < count; i++) {
        const uint64_t *v = in + i;
        uint64_t edges = v[-slice - y] | v[-slice + y] | v[slice - y] | v[slice + y];
        uint64_t own = v[0] | v[-y] | v[y] | v[-slice] | v[slice] | (corners ? edges : 0);
        const uint64_t *l = v - 1, *h = v + 1;
        uint64_t low = l[0] | l[-y] | l[y] | l[-slice] | l[slice];
        uint64_t high = h[0] | h[-y] | h[y] | h[-slice] | h[slice];
        if (corners) {
            low |= l[-slice - y] | l[-slice + y] | l[slice - y] | l[slice + y];
            high |= h[-slice - y] | h[-slice + y] | h[slice - y] | h[slice + y];
        }
        out[i] = own | own << 1 | own >> 1 | low >> 63 | high << 63 | edges;
    }
    int n = d->mac.n[0], last = (n + 1) >> 6;
    for (ptrdiff_t i = 0; i < count; i += y) {
        out[i] &= ~UINT64_C(1);
        out[i + last] &= ~(UINT64_C(1) << ((n + 1) & 63));
    }
}

/* near: all cells that can be nearer to the surface than the width. Steps of edges, and a last one of
 * corners, get as far in every direction, but for what the first cells beside the surface are away. */
static void find_near(und_distance *d)
{
    und_distance_parts *p = d->parts;
    int threads = und_distance_workers(d);
    each_row(d, front_row);
    und_mask_copy(&p->front, &p->near);
    for (int i = 1; i < d->width; i++) {
        PARALLEL_FOR(threads)
        for (int z = 0; z < d->mac.n[2]; z++)
            grow_slice(d, z, i + 1 == d->width);
        und_mask swap = p->near;
        p->near = p->wide;
        p->wide = swap;
    }
}

static inline uint32_t lanes_of(const und_mask *m, int y, int z, int x)
{
    return und_mask_lanes(m, und_mask_row(m, y, z), x + 1);
}

/* The values of a batch and of two neighbours on both sides along an axis; beyond the domain such as go on
 * straight.  Where what is thin is kept and the surface is between the last cell and the next, as in a layer
 * of one cell, straight is the slope on its other side: so both see the same slopes, and dividing by them
 * leaves the surface where it is. */
static inline void line_of(const und_distance *d, const float *v, int axis, int at, und_lanes line[5])
{
    ptrdiff_t step = d->mac.step[axis];
    int n = d->mac.n[axis];
    if (at >= 2 && at + 2 < n) {
        for (int k = 0; k < 5; k++)
            line[k] = und_lanes_load(v + (k - 2) * step);
        return;
    }
    for (int k = 0; k < 5; k++) {
        int there = at + k - 2, inside = there < 0 ? 0 : there > n - 1 ? n - 1 : there;
        int by = inside == there || n == 1 ? 0 : there < 0 ? 1 : -1;
        und_lanes border = und_lanes_load(v + (inside - at) * step);
        und_lanes next = und_lanes_load(v + (inside + by - at) * step);
        und_lanes after = und_lanes_load(v + (inside + (n > 2 ? 2 : 1) * by - at) * step);
        und_lanes slope = border - next;
        if (d->keeps_thin)
            slope = und_lanes_select((border < 0) ^ (next < 0), next - after, slope);
        line[k] = border + (float)abs(there - inside) * slope;
    }
}

/* The same of one cell, from the last of a row inwards. */
static inline float slope_beyond(const und_distance *d, const float *last, int inwards)
{
    int n = d->mac.n[0];
    float next = last[n > 1 ? inwards : 0], after = last[n > 2 ? 2 * inwards : n > 1 ? inwards : 0];
    return d->keeps_thin && (*last < 0) != (next < 0) ? next - after : *last - next;
}

/* Along x the two ends of the row are beyond the domain. */
static inline void line_along(const und_distance *d, const float *row, int x, und_lanes line[5])
{
    float stretch[UND_LANES + 4];
    int n = d->mac.n[0];
    if (x >= 2 && x + UND_LANES + 2 <= n) {
        for (int k = 0; k < 5; k++)
            line[k] = und_lanes_load(row + x + k - 2);
        return;
    }
    memcpy(stretch, row + x - 2, sizeof stretch);
    for (int k = -2; k < 0; k++)
        if (k - (x - 2) >= 0)
            stretch[k - (x - 2)] = row[0] - (float)k * slope_beyond(d, row, 1);
    for (int k = n; k < n + 2; k++)
        if (k - (x - 2) < UND_LANES + 4)
            stretch[k - (x - 2)] = row[n - 1] + (float)(k - n + 1) * slope_beyond(d, row + n - 1, -1);
    for (int k = 0; k < 5; k++)
        line[k] = und_lanes_load(stretch + k);
}

UND_INLINE und_lanes steepest_crossing(const und_lanes line[5])
{
    return und_lanes_max(und_crossing(line[2], line[1]), und_crossing(line[2], line[3]));
}

/* Distances of the cells beside the surface: phi over its slope, and no further than linear crossings. */
static inline und_lanes start_front(const und_distance *d, const float *row, int x, int y, int z, int order)
{
    und_lanes lx[5], ly[5], lz[5];
    line_along(d, row, x, lx);
    line_of(d, row + x, 1, y, ly);
    line_of(d, row + x, 2, z, lz);
    und_lanes slope =
        und_slope_length(und_slope_make(lx, order), und_slope_make(ly, order), und_slope_make(lz, order));
    und_lanes crossing = und_lanes_max(steepest_crossing(lx), steepest_crossing(ly));
    return und_size(lx[2]) / und_lanes_max(slope, und_lanes_max(crossing, steepest_crossing(lz)));
}

/* Whole batches are written faster than parts of them, as far as they do not leave the row. */
UND_INLINE void store(const und_distance *d, float *row, und_batch batch, und_lanes v)
{
    if (batch.x + UND_LANES < d->mac.step[1])
        und_lanes_store(row + batch.x,
                        und_lanes_select(und_lanes_where(batch.lanes), v, und_lanes_load(row + batch.x)));
    else
        und_lanes_store_some(row + batch.x, v, batch.lanes);
}

/* next: what the passes start from. Cells that are near neither now nor before keep what they have. */
static inline void start_row(und_distance *d, int row, int order)
{
    const und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    int y = row % m->n[1], z = row / m->n[1];
    size_t first = und_mac_row(m, row);
    const float *phi = d->phi + first;
    const und_lanes width = und_lanes_all((float)d->width), tiny = und_lanes_all(1e-6f);
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        uint32_t front = lanes_of(&p->front, y, z, batch.x) & batch.lanes;
        und_lanes v = und_lanes_load(phi + batch.x);
        und_lanes away =
            und_lanes_select(und_lanes_where(lanes_of(&p->near, y, z, batch.x)), und_size(v), width);
        if (front)
            away = und_lanes_select(und_lanes_where(front), start_front(d, phi, batch.x, y, z, order), away);
        away = und_lanes_min(und_lanes_max(away, tiny), width); /* the side stays known */
        store(d, d->next + first, batch, und_signed(away, und_sign(v)));
    }
}

/* Upwind along an axis: `low` and `high` are where the next values on both sides stand, and others a step
 * each behind them; `reach` of those are inside the domain. */
typedef struct und_side {
    const float *at[3];
} und_side;

static inline und_side side_of(const und_distance *d, const float *v, ptrdiff_t step, int reach)
{
    und_side s;
    for (int i = 0; i < 3; i++)
        s.at[i] = reach > i ? v + (i + 1) * step : d->parts->none;
    return s;
}

UND_INLINE und_upwind upwind(und_side low, und_side high, und_lanes_int sign, int order)
{
    /* Both are on the same side of the surface as the cell, or beyond the domain. */
    und_lanes a = und_size(und_lanes_load(low.at[0])), b = und_size(und_lanes_load(high.at[0]));
    if (order == 1)
        return (und_upwind){und_lanes_min(a, b), und_lanes_all(1)};
    und_lanes_int lower = a < b;
    und_lanes second = und_lanes_select(lower, und_lanes_load(low.at[1]), und_lanes_load(high.at[1]));
    und_lanes third = und_lanes_select(lower, und_lanes_load(low.at[2]), und_lanes_load(high.at[2]));
    return und_upwind_make(und_lanes_min(a, b), und_signed(second, sign), und_signed(third, sign));
}

#define SETTLED 2e-4f /* cells: a change that is none */

/* parts->look: rows that look at such as the last pass changed.  A row is beside the first and the last of
 * the next slice here, too: no harm is in that. */
static void find_changes(und_distance *d)
{
    const uint8_t *change = d->parts->change[0];
    uint8_t *restrict look = d->parts->look;
    ptrdiff_t slice = d->mac.n[1], rows = und_mac_rows(&d->mac);
    for (ptrdiff_t i = 0; i < rows; i++) {
        const uint8_t *c = change + i;
        look[i] = c[0] | c[-1] | c[-2] | c[-3] | c[1] | c[2] | c[3] | c[-slice] | c[-2 * slice] |
                  c[-3 * slice] | c[slice] | c[2 * slice] | c[3 * slice];
    }
}

/* One pass over a row from phi to next, which are the same but for the cells that it works on. */
UND_INLINE void pass_row(const und_distance *d, int row, int order, int axes)
{
    const und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    int y = row % m->n[1], z = row / m->n[1], count = p->batches[row];
    const float *phi = d->phi + und_mac_row(m, row);
    float *next = d->next + und_mac_row(m, row);
    const und_batch *batch = p->batch + (size_t)row * (size_t)p->per_row;
    const und_lanes width = und_lanes_all((float)d->width);
    und_lanes most = {0};
    p->change[1][row] = 0;
    if (!p->look[row])
        return;
    for (int i = 0; i < count; i++) {
        const float *v = phi + batch[i].x;
        und_lanes_int sign = und_sign(und_lanes_load(v));
        und_upwind along_z = {{0}, {0}};
        und_upwind along_x = upwind(side_of(d, v, -1, 3), side_of(d, v, 1, 3), sign, order);
        und_upwind along_y =
            upwind(side_of(d, v, -m->step[1], y), side_of(d, v, m->step[1], m->n[1] - 1 - y), sign, order);
        if (axes == 3)
            along_z = upwind(side_of(d, v, -m->step[2], z), side_of(d, v, m->step[2], m->n[2] - 1 - z), sign,
                             order);
        und_lanes u = und_upwind_solve(along_x, along_y, along_z, order, axes);
        u = und_signed(und_lanes_min(u, width), sign);
        und_lanes_int in = und_lanes_where(batch[i].lanes);
        most = und_lanes_max(most, und_lanes_select(in, und_size(u - und_lanes_load(v)), (und_lanes){0}));
        store(d, next, batch[i], u);
    }
    float change = 0;
    for (int i = 0; i < UND_LANES; i++)
        change = most[i] > change ? most[i] : change;
    p->change[1][row] = change > SETTLED;
}

/* phi is what next is, nothing comes from beyond the ends of rows, and cells beside the surface are done. */
static void settle_row(und_distance *d, int row)
{
    und_distance_parts *p = d->parts;
    size_t first = und_mac_row(&d->mac, row);
    float *phi = d->phi + first, *next = d->next + first;
    int y = row % d->mac.n[1], z = row / d->mac.n[1], n = d->mac.n[0];
    if (p->batches[row] == 0)
        return;
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        store(d, phi, batch, und_lanes_load(next + batch.x));
    }
    phi[-1] = phi[n] = next[-1] = next[n] = UND_DISTANCE_NONE;
    const uint64_t *near = und_mask_row(&p->near, y, z), *front = und_mask_row(&p->front, y, z);
    uint64_t *left = und_mask_row(&p->wide, y, z);
    for (int w = 0; w < p->near.words; w++)
        left[w] = near[w] & ~front[w];
}

/* The band; beyond it both arrays are the same. */
static void finish_row(und_distance *d, int row)
{
    const und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    int y = row % m->n[1], z = row / m->n[1];
    size_t first = und_mac_row(m, row);
    uint64_t *band = und_mask_row(&d->band, y, z);
    memcpy(band, und_mask_row(&p->front, y, z), (size_t)d->band.words * sizeof *band);
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        und_lanes v = und_lanes_load(d->phi + first + batch.x);
        store(d, d->next + first, batch, v);
        uint64_t lanes = und_lanes_bits(und_size(v) < (float)d->width) & batch.lanes;
        int bit = batch.x + 1;
        band[bit >> 6] |= lanes << (bit & 63);
        if ((bit & 63) > 64 - UND_LANES && (bit >> 6) + 1 < d->band.words)
            band[(bit >> 6) + 1] |= lanes >> (64 - (bit & 63));
    }
}

static void swap_fields(und_distance *d)
{
    uint8_t *change = d->parts->change[0];
    d->parts->change[0] = d->parts->change[1];
    d->parts->change[1] = change;
    float *phi = d->phi;
    d->phi = d->next;
    d->next = phi;
}

static void start_first(und_distance *d, int row)
{
    start_row(d, row, 1);
}
static void start_second(und_distance *d, int row)
{
    start_row(d, row, 2);
}
static void pass_first(und_distance *d, int row)
{
    if (d->mac.n[2] > 1)
        pass_row(d, row, 1, 3);
    else
        pass_row(d, row, 1, 2);
}
static void pass_second(und_distance *d, int row)
{
    if (d->mac.n[2] > 1)
        pass_row(d, row, 2, 3);
    else
        pass_row(d, row, 2, 2);
}

/* wide: what is near the surface, and what was. */
static void join_row(und_distance *d, int row)
{
    int y = row % d->mac.n[1], z = row / d->mac.n[1];
    const uint64_t *near = und_mask_row(&d->parts->near, y, z), *band = und_mask_row(&d->band, y, z);
    uint64_t *wide = und_mask_row(&d->parts->wide, y, z);
    for (int w = 0; w < d->band.words; w++)
        wide[w] = near[w] | band[w];
}

void und_distance_redistance(und_distance *d, int order)
{
    und_distance_parts *p = d->parts;
    und_distance_signs(d);
    find_near(d);
    each_row(d, join_row);
    und_distance_list(d, &p->wide);
    each_row(d, order == 2 ? start_second : start_first);
    each_row(d, settle_row);
    und_distance_list(d, &p->wide);
    /* What is `width` away along a diagonal is so many neighbours away. */
    int passes = (int)ceilf(1.7321f * (float)d->width);
    memset(p->change[0], 1, (size_t)und_mac_rows(&d->mac));
    for (int i = 0; i < passes; i++) {
        find_changes(d);
        each_row(d, order == 2 ? pass_second : pass_first);
        swap_fields(d);
    }
    each_row(d, finish_row);
    und_distance_beside(d, d->phi);
}
