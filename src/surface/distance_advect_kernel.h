/* phi followed back along the flow, with what a cubic polynomial has beyond a linear one. */
#ifndef UND_SURFACE_DISTANCE_ADVECT_KERNEL_H
#define UND_SURFACE_DISTANCE_ADVECT_KERNEL_H

#include "grid/pass.h"
#include "grid/sample_near.h"
#include "surface/distance_kernel.h"

#define UND_DISTANCE_CURVED 2.0f /* cells from the surface within which it is done */

typedef struct und_distance_advect_args {
    und_mac mac;
    const float *phi;
    float *next, *u[3];
    float back; /* cells at 1 m/s, below 0 */
    bool third;
} und_distance_advect_args;

/* What a cubic polynomial through v[0] to v[3], at -1 to 2, has at t beyond the line from v[1] to v[2]. */
UND_INLINE und_lanes und_distance_curve(const und_lanes v[4], und_lanes t)
{
    und_lanes a = v[0] - 2 * v[1] + v[2], b = v[1] - 2 * v[2] + v[3];
    und_lanes low = und_minmod(a, 2 * b), high = und_minmod(b, 2 * a);
    return t * (t - 1) * (1.0f / 6) * ((2 - t) * low + (1 + t) * high);
}

UND_INLINE und_lanes und_distance_mix(und_lanes a, und_lanes b, und_lanes t)
{
    return a + t * (b - a);
}

/* Linear along x in rows at these offsets from a place. */
UND_INLINE void und_distance_rows_at(const und_distance_advect_args *d, und_lanes_int index,
                                     const ptrdiff_t *row, int rows, und_lanes t, und_lanes *out)
{
    und_lanes high[4];
    und_sample_pairs(&d->mac, d->phi, index, row, rows, out, high);
    for (int r = 0; r < rows; r++)
        out[r] = und_distance_mix(out[r], high[r], t);
}

UND_INLINE und_lanes und_distance_curved_flat(const und_distance_advect_args *d, und_lanes_int index,
                                              const und_between *at)
{
    const ptrdiff_t y = d->mac.step[1];
    const und_lanes tx = at[0].part, ty = at[1].part;
    und_lanes before[2], low[2], high[2], after[2], along_x[4], along_y[4];
    const ptrdiff_t own[2] = {0, y}, beside[2] = {-y, 2 * y};
    und_sample_pairs(&d->mac, d->phi, index - 1, own, 2, before, low);
    und_sample_pairs(&d->mac, d->phi, index + 1, own, 2, high, after);
    along_x[0] = und_distance_mix(before[0], before[1], ty);
    along_x[1] = und_distance_mix(low[0], low[1], ty);
    along_x[2] = und_distance_mix(high[0], high[1], ty);
    along_x[3] = und_distance_mix(after[0], after[1], ty);
    und_distance_rows_at(d, index, beside, 2, tx, before);
    along_y[0] = before[0];
    along_y[1] = und_distance_mix(low[0], high[0], tx);
    along_y[2] = und_distance_mix(low[1], high[1], tx);
    along_y[3] = before[1];
    return und_distance_mix(along_x[1], along_x[2], tx) + und_distance_curve(along_x, tx) +
           und_distance_curve(along_y, ty);
}

UND_INLINE und_lanes und_distance_curved_solid(const und_distance_advect_args *d, und_lanes_int index,
                                               const und_between *at)
{
    const ptrdiff_t y = d->mac.step[1], z = d->mac.step[2];
    const und_lanes tx = at[0].part, ty = at[1].part, tz = at[2].part;
    und_lanes before[4], low[4], high[4], after[4], along_x[4], along_y[4], along_z[4];
    const ptrdiff_t own[4] = {0, y, z, y + z}, beside_y[4] = {-y, z - y, 2 * y, z + 2 * y},
                    beside_z[4] = {-z, y - z, 2 * z, y + 2 * z};
    und_sample_pairs(&d->mac, d->phi, index - 1, own, 4, before, low);
    und_sample_pairs(&d->mac, d->phi, index + 1, own, 4, high, after);
    along_x[0] = und_distance_mix(und_distance_mix(before[0], before[1], ty),
                                  und_distance_mix(before[2], before[3], ty), tz);
    along_x[1] =
        und_distance_mix(und_distance_mix(low[0], low[1], ty), und_distance_mix(low[2], low[3], ty), tz);
    along_x[2] =
        und_distance_mix(und_distance_mix(high[0], high[1], ty), und_distance_mix(high[2], high[3], ty), tz);
    along_x[3] = und_distance_mix(und_distance_mix(after[0], after[1], ty),
                                  und_distance_mix(after[2], after[3], ty), tz);
    for (int r = 0; r < 4; r++)
        low[r] = und_distance_mix(low[r], high[r], tx);
    und_distance_rows_at(d, index, beside_y, 4, tx, before);
    along_y[0] = und_distance_mix(before[0], before[1], tz);
    along_y[1] = und_distance_mix(low[0], low[2], tz);
    along_y[2] = und_distance_mix(low[1], low[3], tz);
    along_y[3] = und_distance_mix(before[2], before[3], tz);
    und_distance_rows_at(d, index, beside_z, 4, tx, after);
    along_z[0] = und_distance_mix(after[0], after[1], ty);
    along_z[1] = und_distance_mix(low[0], low[1], ty);
    along_z[2] = und_distance_mix(low[2], low[3], ty);
    along_z[3] = und_distance_mix(after[2], after[3], ty);
    return und_distance_mix(along_x[1], along_x[2], tx) + und_distance_curve(along_x, tx) +
           und_distance_curve(along_y, ty) + und_distance_curve(along_z, tz);
}

/* The middles of cells, in cells from the whole grid's corner. */
UND_INLINE void und_cell_middles(const und_mac *m, und_place p, und_lanes place[3])
{
    place[0] = und_lanes_count() + ((float)(p.x + m->low[0]) + 0.5f);
    place[1] = und_lanes_all((float)(p.y + m->low[1]) + 0.5f);
    place[2] = und_lanes_all((float)(p.z + m->low[2]) + 0.5f);
}

UND_INLINE void und_distance_fetch(const float *values, size_t at)
{
    __builtin_prefetch(values + at);
    __builtin_prefetch(values + at + UND_LANES - 1);
}

UND_INLINE void und_distance_follow(const und_distance_advect_args *a, und_place p)
{
    const und_mac *m = &a->mac;
    und_lanes place[3], speed[3] = {{0}}, foot[3];
    und_between at[3];
    und_cell_middles(m, p, place);
    und_distance_fetch(a->phi, p.at + 4 * (size_t)m->step[1] + 2 * (size_t)m->step[2]);
    for (int k = 0; k < 3; k++)
        und_distance_fetch(a->u[k], p.at + 3 * (size_t)m->step[1] + 2 * (size_t)m->step[2]);
    for (int k = 0; k < (m->n[2] > 1 ? 3 : 2); k++)
        speed[k] =
            0.5f * (und_lanes_load(a->u[k] + p.at) + und_lanes_load(a->u[k] + p.at - (size_t)m->step[k]));
    und_sample_near_trace(m, a->u, place, speed, a->back, a->third, p.which, foot);
    for (int k = 0; k < 3; k++)
        at[k] = und_between_middles(m, k, foot[k]);
    und_lanes value = und_sample_between(m, a->phi, at, NULL);
    const und_lanes_int close = (value < UND_DISTANCE_CURVED) & (value > -UND_DISTANCE_CURVED);
    if (und_lanes_bits(close) & p.which) {
        const und_lanes_int index = at[0].low + at[1].low + (int32_t)m->first;
        const und_lanes curved = m->n[2] > 1 ? und_distance_curved_solid(a, index + at[2].low, at)
                                             : und_distance_curved_flat(a, index, at);
        value = und_lanes_select(close, curved, value);
    }
    und_lanes_store_some(a->next + p.at, value, p.which);
}
UND_KERNEL(und_distance_follow, und_distance_advect_args, UND_EACH_CELL)

#endif
