/* Redistancing: beside the surface phi is divided by the length of its gradient, which leaves the surface
 * where it is, and stays; further out the upwind Eikonal equation is iterated in a few passes over the band
 * at once, each from the one before, so that the order of cells does not matter. */
#include "surface/distance_kernel.h"
#include "surface/distance_parts.h"

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

/* Cells of a row and those beside them along x. */
static inline uint64_t along(const uint64_t *row, int w, int words)
{
    return row[w] | row[w] << 1 | row[w] >> 1 | (w > 0 ? row[w - 1] >> 63 : 0) |
           (w + 1 < words ? row[w + 1] << 63 : 0);
}

/* Adds those that share an edge with a cell of the set, and with `corners` a corner. */
static void dilate_row(und_distance *d, const und_mask *in, und_mask *out, bool corners, int y, int z)
{
    int words = in->words;
    uint64_t *row = und_mask_row(out, y, z);
    memset(row, 0, (size_t)words * sizeof *row);
    for (int k = -1; k <= 1; k++)
        for (int j = -1; j <= 1; j++) {
            const uint64_t *from = row_of(d, in, y + j, z + k);
            bool wide = corners || !j || !k;
            for (int w = 0; from && w < words; w++)
                row[w] |= wide ? along(from, w, words) : from[w];
        }
    for (int w = 0; w < words; w++)
        row[w] &= und_distance_inside(d, w);
}

static void grow_edges(und_distance *d, int row)
{
    dilate_row(d, &d->parts->near, &d->parts->wide, false, row % d->mac.n[1], row / d->mac.n[1]);
}
static void grow_corners(und_distance *d, int row)
{
    dilate_row(d, &d->parts->near, &d->parts->wide, true, row % d->mac.n[1], row / d->mac.n[1]);
}

/* near: all cells that can be nearer to the surface than the width. Steps of edges, and a last one of
 * corners, get as far in every direction, but for what the first cells beside the surface are away. */
static void find_near(und_distance *d)
{
    und_distance_parts *p = d->parts;
    each_row(d, front_row);
    und_mask_copy(&p->front, &p->near);
    for (int i = 1; i < d->width; i++) {
        each_row(d, i + 1 < d->width ? grow_edges : grow_corners);
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
 * straight. */
typedef float und_line[5][UND_LANES];

static void line_of(const und_distance *d, const float *v, int axis, int at, und_line line)
{
    ptrdiff_t step = d->mac.step[axis];
    int n = d->mac.n[axis];
    for (int k = 0; k < 5; k++) {
        int there = at + k - 2, inside = there < 0 ? 0 : there > n - 1 ? n - 1 : there;
        int in = inside > 0 ? (inside < n - 1 || n < 2 ? 0 : -1) : n > 1 ? 1 : 0; /* towards the inside */
        float beyond = (float)abs(there - inside);
        const float *border = v + (inside - at) * step, *next = border + in * step;
        if (there == inside)
            memcpy(line[k], border, sizeof line[k]);
        else
            for (int i = 0; i < UND_LANES; i++)
                line[k][i] = border[i] + beyond * (border[i] - next[i]);
    }
}

/* Along x the two ends of the row are beyond the domain. */
static void line_along(const und_distance *d, const float *row, int x, und_line line)
{
    float stretch[UND_LANES + 4];
    int n = d->mac.n[0], inner = n > 1 ? 1 : 0;
    memcpy(stretch, row + x - 2, sizeof stretch);
    for (int k = -2; k < 0; k++)
        if (k - (x - 2) >= 0)
            stretch[k - (x - 2)] = row[0] - (float)k * (row[0] - row[inner]);
    for (int k = n; k < n + 2; k++)
        if (k - (x - 2) < UND_LANES + 4)
            stretch[k - (x - 2)] = row[n - 1] + (float)(k - n + 1) * (row[n - 1] - row[n - 1 - inner]);
    for (int k = 0; k < 5; k++)
        memcpy(line[k], stretch + k, sizeof line[k]);
}

static inline float nearest_crossing(const und_line line, int i)
{
    return fminf(und_crossing(line[2][i], line[1][i]), und_crossing(line[2][i], line[3][i]));
}

/* Distances of the cells beside the surface: phi over its slope, and no further than linear crossings. */
static void start_front(const und_distance *d, const float *row, int x, int y, int z, int order, float *out)
{
    und_line lx, ly, lz;
    line_along(d, row, x, lx);
    line_of(d, row + x, 1, y, ly);
    line_of(d, row + x, 2, z, lz);
    for (int i = 0; i < UND_LANES; i++) {
        float own = lx[2][i];
        und_slope sx = und_slope_make(lx[0][i], lx[1][i], own, lx[3][i], lx[4][i], order);
        und_slope sy = und_slope_make(ly[0][i], ly[1][i], own, ly[3][i], ly[4][i], order);
        und_slope sz = und_slope_make(lz[0][i], lz[1][i], own, lz[3][i], lz[4][i], order);
        float away = fabsf(own) / und_slope_length(sx, sy, sz);
        away = fminf(away, fminf(nearest_crossing(lx, i), nearest_crossing(ly, i)));
        away = fminf(away, nearest_crossing(lz, i));
        out[i] = und_more(away, 1e-6f); /* the side stays known */
    }
}

/* next: what the passes start from. Cells that are near neither now nor before keep what they have. */
static void start_row(und_distance *d, int row, int order)
{
    const und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    int y = row % m->n[1], z = row / m->n[1];
    size_t first = und_mac_row(m, row);
    const float *phi = d->phi + first;
    float *next = d->next + first, width = (float)d->width;
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        uint32_t front = lanes_of(&p->front, y, z, batch.x), near = lanes_of(&p->near, y, z, batch.x);
        const float *v = phi + batch.x;
        float away[UND_LANES], value[UND_LANES];
        if (front & batch.lanes)
            start_front(d, phi, batch.x, y, z, order, away);
        else
            for (int i = 0; i < UND_LANES; i++)
                away[i] = width;
        for (int i = 0; i < UND_LANES; i++) {
            float far = fminf(und_more(fabsf(v[i]), 1e-6f), width);
            float size = front >> i & 1 ? away[i] : near >> i & 1 ? far : width;
            value[i] = v[i] < 0 ? -size : size;
        }
        und_lanes_store_some(next + batch.x, und_lanes_load(value), batch.lanes);
    }
}

/* Where the values stand that a batch looks at along an axis: the first, second and third on both sides. */
typedef struct und_stencil {
    const float *low[3], *high[3];
} und_stencil;

static und_stencil stencil(const und_distance *d, const float *v, int axis, int at)
{
    und_stencil s;
    for (int i = 0; i < 3; i++) {
        s.low[i] = at > i ? v - (i + 1) * d->mac.step[axis] : d->parts->none;
        s.high[i] = at + i + 1 < d->mac.n[axis] ? v + (i + 1) * d->mac.step[axis] : d->parts->none;
    }
    return s;
}

static inline und_upwind upwind(const und_stencil *s, int i, float sign, int order)
{
    float low = fabsf(s->low[0][i]), high = fabsf(s->high[0][i]); /* both on the same side as the cell */
    bool lower = low < high;
    float b = 0, c = 0;
    if (order == 2) {
        b = (lower ? s->low[1][i] : s->high[1][i]) * sign;
        c = (lower ? s->low[2][i] : s->high[2][i]) * sign;
    }
    return und_upwind_make(lower ? low : high, b, c, order);
}

static inline void pass_batch(const float *v, const und_stencil *x, const und_stencil *y,
                              const und_stencil *z, uint32_t lanes, float width, float *out, int order,
                              int axes)
{
    float value[UND_LANES];
    for (int i = 0; i < UND_LANES; i++) {
        float sign = v[i] < 0 ? -1.0f : 1.0f;
        und_upwind none = {0, 1};
        float u = und_upwind_solve(upwind(x, i, sign, order), upwind(y, i, sign, order),
                                   axes == 3 ? upwind(z, i, sign, order) : none, axes);
        value[i] = sign * fminf(u, width);
    }
    und_lanes_store_some(out, und_lanes_load(value), lanes);
}

/* One pass over a row from `in` to `out`, which are the same but for the cells that it works on. */
static void pass_row(const und_distance *d, const float *in, float *out, int row, int order)
{
    const und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    int y = row % m->n[1], z = row / m->n[1];
    size_t first = und_mac_row(m, row);
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        const float *v = in + first + batch.x;
        und_stencil sx = {{v - 1, v - 2, v - 3}, {v + 1, v + 2, v + 3}};
        und_stencil sy = stencil(d, v, 1, y), sz = stencil(d, v, 2, z);
        float *to = out + first + batch.x, width = (float)d->width;
        if (m->n[2] > 1 && order == 2)
            pass_batch(v, &sx, &sy, &sz, batch.lanes, width, to, 2, 3);
        else if (m->n[2] > 1)
            pass_batch(v, &sx, &sy, &sz, batch.lanes, width, to, 1, 3);
        else if (order == 2)
            pass_batch(v, &sx, &sy, &sz, batch.lanes, width, to, 2, 2);
        else
            pass_batch(v, &sx, &sy, &sz, batch.lanes, width, to, 1, 2);
    }
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
        und_lanes_store_some(phi + batch.x, und_lanes_load(next + batch.x), batch.lanes);
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
        const float *v = d->phi + first + batch.x;
        float width = (float)d->width;
        uint32_t bits = 0;
        for (int i = 0; i < UND_LANES; i++)
            bits |= (uint32_t)(fabsf(v[i]) < width) << i;
        und_lanes_store_some(d->next + first + batch.x, und_lanes_load(v), batch.lanes);
        uint64_t lanes = bits & batch.lanes;
        int bit = batch.x + 1;
        band[bit >> 6] |= lanes << (bit & 63);
        if ((bit & 63) > 64 - UND_LANES && (bit >> 6) + 1 < d->band.words)
            band[(bit >> 6) + 1] |= lanes >> (64 - (bit & 63));
    }
}

static void swap_fields(und_distance *d)
{
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
    pass_row(d, d->phi, d->next, row, 1);
}
static void pass_second(und_distance *d, int row)
{
    pass_row(d, d->phi, d->next, row, 2);
}

void und_distance_redistance(und_distance *d, int order)
{
    und_distance_parts *p = d->parts;
    und_distance_signs(d);
    find_near(d);
    size_t words = (size_t)(d->mac.n[1] + 2) * (size_t)(d->mac.n[2] + 2) * (size_t)p->near.words;
    for (size_t i = 0; i < words; i++)
        p->wide.bits[i] = p->near.bits[i] | d->band.bits[i];
    und_distance_list(d, &p->wide);
    each_row(d, order == 2 ? start_second : start_first);
    each_row(d, settle_row);
    und_distance_list(d, &p->wide);
    /* What is `width` away along a diagonal is so many neighbours away. */
    int passes = (int)ceilf(1.7321f * (float)d->width);
    for (int i = 0; i < passes; i++) {
        each_row(d, order == 2 ? pass_second : pass_first);
        swap_fields(d);
    }
    each_row(d, finish_row);
    und_distance_beside(d, d->phi);
    und_distance_beside(d, d->next);
}
