/* The surface moves with the flow: phi is followed back along it.
 *
 * Linear interpolation takes from everything round what its chords cut off: a ball of 6 cells is half gone
 * after 20 cells.  So near the surface second differences along the axes are taken into account as a cubic
 * polynomial does it, limited where they jump: kinks stay kinks. */
#include "grid/sample.h"
#include "surface/distance_parts.h"

#include <math.h>

#define CURVED 2.0f /* cells from the surface within which it is done */

UND_INLINE und_lanes smaller(und_lanes a, und_lanes b) /* minmod */
{
    und_lanes low = und_lanes_min(a, b), high = und_lanes_max(a, b), zero = {0};
    return und_lanes_max(low, zero) + und_lanes_min(high, zero);
}

/* What a cubic polynomial through v[0] to v[3], at -1 to 2, has at t beyond the line from v[1] to v[2]. */
UND_INLINE und_lanes curve(const und_lanes v[4], und_lanes t)
{
    und_lanes a = v[0] - 2 * v[1] + v[2], b = v[1] - 2 * v[2] + v[3];
    und_lanes low = smaller(a, 2 * b), high = smaller(b, 2 * a);
    return t * (t - 1) * (1.0f / 6) * ((2 - t) * low + (1 + t) * high);
}

UND_INLINE und_lanes mix(und_lanes a, und_lanes b, und_lanes t)
{
    return a + t * (b - a);
}

/* Linear along x in rows at these offsets from a place. */
UND_INLINE void rows_at(const und_distance *d, und_lanes_int index, const ptrdiff_t *row, int rows,
                        und_lanes t, und_lanes *out)
{
    und_lanes high[4];
    und_sample_pairs(&d->mac, d->phi, index, row, rows, out, high);
    for (int r = 0; r < rows; r++)
        out[r] = mix(out[r], high[r], t);
}

UND_INLINE und_lanes curved_flat(const und_distance *d, und_lanes_int index, const und_between *at)
{
    const ptrdiff_t y = d->mac.step[1];
    const und_lanes tx = at[0].part, ty = at[1].part;
    und_lanes before[2], low[2], high[2], after[2], along_x[4], along_y[4];
    const ptrdiff_t own[2] = {0, y}, beside[2] = {-y, 2 * y};
    und_sample_pairs(&d->mac, d->phi, index - 1, own, 2, before, low);
    und_sample_pairs(&d->mac, d->phi, index + 1, own, 2, high, after);
    along_x[0] = mix(before[0], before[1], ty);
    along_x[1] = mix(low[0], low[1], ty);
    along_x[2] = mix(high[0], high[1], ty);
    along_x[3] = mix(after[0], after[1], ty);
    rows_at(d, index, beside, 2, tx, before);
    along_y[0] = before[0];
    along_y[1] = mix(low[0], high[0], tx);
    along_y[2] = mix(low[1], high[1], tx);
    along_y[3] = before[1];
    return mix(along_x[1], along_x[2], tx) + curve(along_x, tx) + curve(along_y, ty);
}

UND_INLINE und_lanes curved_solid(const und_distance *d, und_lanes_int index, const und_between *at)
{
    const ptrdiff_t y = d->mac.step[1], z = d->mac.step[2];
    const und_lanes tx = at[0].part, ty = at[1].part, tz = at[2].part;
    und_lanes before[4], low[4], high[4], after[4], along_x[4], along_y[4], along_z[4];
    const ptrdiff_t own[4] = {0, y, z, y + z}, beside_y[4] = {-y, z - y, 2 * y, z + 2 * y},
                    beside_z[4] = {-z, y - z, 2 * z, y + 2 * z};
    und_sample_pairs(&d->mac, d->phi, index - 1, own, 4, before, low);
    und_sample_pairs(&d->mac, d->phi, index + 1, own, 4, high, after);
    along_x[0] = mix(mix(before[0], before[1], ty), mix(before[2], before[3], ty), tz);
    along_x[1] = mix(mix(low[0], low[1], ty), mix(low[2], low[3], ty), tz);
    along_x[2] = mix(mix(high[0], high[1], ty), mix(high[2], high[3], ty), tz);
    along_x[3] = mix(mix(after[0], after[1], ty), mix(after[2], after[3], ty), tz);
    for (int r = 0; r < 4; r++)
        low[r] = mix(low[r], high[r], tx);
    rows_at(d, index, beside_y, 4, tx, before);
    along_y[0] = mix(before[0], before[1], tz);
    along_y[1] = mix(low[0], low[2], tz);
    along_y[2] = mix(low[1], low[3], tz);
    along_y[3] = mix(before[2], before[3], tz);
    rows_at(d, index, beside_z, 4, tx, after);
    along_z[0] = mix(after[0], after[1], ty);
    along_z[1] = mix(low[0], low[1], ty);
    along_z[2] = mix(low[2], low[3], ty);
    along_z[3] = mix(after[2], after[3], ty);
    return mix(along_x[1], along_x[2], tx) + curve(along_x, tx) + curve(along_y, ty) + curve(along_z, tz);
}

/* first: the batch's first cell, whose middle is between two faces of each axis. */
static void advect_batch(const und_distance *d, float *const u[3], size_t first, und_lanes place[3],
                         float back, bool third, uint32_t lanes)
{
    const und_mac *m = &d->mac;
    und_lanes speed[3] = {{0}}, foot[3];
    for (int a = 0; a < und_distance_axes(d); a++)
        speed[a] = 0.5f * (und_lanes_load(u[a] + first) + und_lanes_load(u[a] + first - (size_t)m->step[a]));
    und_sample_trace(m, u, place, speed, back, third, foot);
    und_between at[3];
    for (int a = 0; a < 3; a++)
        at[a] = und_between_middles(m, a, foot[a]);
    und_lanes value = und_sample_between(m, d->phi, at, NULL);
    und_lanes_int close = (value < CURVED) & (value > -CURVED);
    if (und_lanes_bits(close) & lanes) {
        und_lanes_int index = at[0].low + at[1].low + (int32_t)m->first;
        und_lanes curved = m->n[2] > 1 ? curved_solid(d, index + at[2].low, at) : curved_flat(d, index, at);
        value = und_lanes_select(close, curved, value);
    }
    und_lanes_store_some(d->next + first, value, lanes);
}

static void advect_row(und_distance *d, float *const u[3], float back, bool third, int row)
{
    const und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    size_t first = und_mac_row(m, row);
    und_lanes place[3] = {{0},
                          und_lanes_all((float)(row % m->n[1] + m->low[1]) + 0.5f),
                          und_lanes_all((float)(row / m->n[1] + m->low[2]) + 0.5f)};
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        place[0] = und_lanes_count() + ((float)(batch.x + m->low[0]) + 0.5f);
        advect_batch(d, u, first + (size_t)batch.x, place, back, third, batch.lanes);
    }
}

void und_distance_advect(und_distance *d, float *const u[3], double cells_per_speed, und_trace_order trace)
{
    int threads = und_distance_workers(d), blocks = und_distance_blocks(d);
    bool third = trace == UND_TRACE_RK3;
    float back = -(float)cells_per_speed;
    und_distance_list(d, &d->band);
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        for (int r = block * UND_DISTANCE_ROWS; r < und_distance_block_end(d, block); r++)
            advect_row(d, u, back, third, r);
    float *phi = d->phi;
    d->phi = d->next;
    d->next = phi;
    if (!d->keeps_thin)
        und_distance_draw_thin(d, u, cells_per_speed);
    und_distance_beside(d, d->phi);
}
