/* The liquid's distance goes on into solids. */
#ifndef UND_SURFACE_DISTANCE_SOLIDS_KERNEL_H
#define UND_SURFACE_DISTANCE_SOLIDS_KERNEL_H

#include "grid/mask_kernel.h"
#include "surface/distance_advect_kernel.h"

/* Cells: values are taken so far in front of the wall, and once more so much further: so that most of those
 * around are not in the solid; or, where what is there is known from the step before, from nearer, as far out
 * they make more of what is off there than there is, which grows in corners that the surface meets.  What is
 * known deeper than any room and off by less than `stays` is kept: below a wall that leans over it the
 * surface is nearest within the wall, so the distances that values are taken from come from what they make,
 * and little would grow.  All is kept as it was carried where the second place is not so far before another
 * wall: across a gap so narrow walls would make what is in each of them of what they made of the other. */
typedef struct und_distance_reach {
    float before, apart, stays, along, clear;
} und_distance_reach;

/* Cells: a surface that far from where values are taken does not come to the wall there: in the solid is
 * then no other side, or liquid on one side of a wall would grow through it to the other; at least so deep
 * is what is there. */
#define UND_INTO_ELSEWHERE 1.5f
#define UND_INTO_AT_LEAST 0.5f
/* Cells, and cells per cell: liquid whose surface faces the wall and is so near touches it: a gap that the
 * grid cannot see, as where a fill ends right at a wall, would be lost volume. */
#define UND_INTO_TOUCHES 0.5f
#define UND_INTO_FACES 0.9f
/* Cells: less than the least between the two places tells no slope, and where the grid ends so near all is
 * kept too; more than any way is. */
#define UND_INTO_LEAST_APART 0.5f
#define UND_INTO_ANY 1e6f
/* Where cells know how thick the liquid is nothing is lost: it has to be `along` the wall, or if nothing
 * moves does not touch it, as what meets a ceiling at an angle would touch more of it in each step. */

typedef struct und_into_args {
    und_mac mac;
    float *phi, *next;
    const float *wall;
    und_mask kept; /* cells that stay as they are; no bits: none */
    und_distance_reach from;
    uint8_t *taken; /* of rows: whether something was */
    float width;
    bool keeps_thin;
} und_into_args;

/* How far from a place along a direction there are middles of cells on both sides, in cells: beyond the last
 * nothing is known. */
UND_INLINE und_lanes und_into_known(const und_mac *m, const und_lanes place[3], const und_lanes way[3])
{
    und_lanes far = und_lanes_all(UND_INTO_ANY);
    for (int a = 0; a < 3; a++) {
        if (m->n[a] == 1)
            continue;
        const float low = (float)m->low[a] + 0.5f, high = (float)(m->low[a] + m->n[a]) - 0.5f;
        const und_lanes to = und_lanes_select(way[a] > 0, high - place[a], place[a] - low);
        const und_lanes size = und_lanes_max(und_lanes_max(way[a], -way[a]), und_lanes_all(1e-6f));
        far = und_lanes_min(far, to / size);
    }
    return far;
}

/* phi goes on straight along the solid's normal: what is flat outside stays flat. */
UND_INLINE und_lanes und_into_inside(const und_into_args *d, size_t at, const float *wall,
                                     und_distance_reach r, und_lanes place[3])
{
    const und_mac *m = &d->mac;
    und_lanes normal[3], far[3], near[3], sum = {0}, own = und_lanes_load(wall), first, second, clear;
    for (int a = 0; a < 3; a++) {
        normal[a] = und_lanes_load(wall + m->step[a]) - und_lanes_load(wall - m->step[a]);
        if (m->n[a] == 1)
            normal[a] = (und_lanes){0};
        sum += normal[a] * normal[a];
    }
    und_lanes over = 1 / und_lanes_sqrt(und_lanes_max(sum, und_lanes_all(1e-12f))), out = r.before - own;
    und_lanes half = {0}; /* of the cell, along the normal */
    for (int a = 0; a < 3; a++) {
        normal[a] *= over;
        half += 0.5f * und_lanes_max(normal[a], -normal[a]);
        near[a] = place[a] + normal[a] * out;
    }
    const bool keeps = r.clear > 0; /* where all is found anew a place beyond the grid is its last cell */
    und_lanes apart = und_lanes_all(r.apart);
    if (keeps)
        apart = und_lanes_min(apart, und_into_known(m, near, normal));
    const und_lanes_int untold = apart < UND_INTO_LEAST_APART;
    for (int a = 0; a < 3; a++)
        far[a] = near[a] + normal[a] * apart;
    und_sample_cells(m, d->phi, near, &first, NULL);
    und_sample_cells(m, d->phi, far, &second, NULL);
    und_sample_cells(m, d->wall, far, &clear, NULL);
    und_lanes slope = (first - second) / und_lanes_max(apart, und_lanes_all(UND_INTO_LEAST_APART)),
              one = und_lanes_all(1), width = und_lanes_all(d->width);
    slope = und_lanes_max(und_lanes_min(slope, one), -one);
    und_lanes value = first + slope * out;
    value = und_lanes_select(first > UND_INTO_ELSEWHERE,
                             und_lanes_max(value, und_lanes_all(UND_INTO_AT_LEAST)), value);
    und_lanes_int liquid =
        (first < -UND_INTO_ELSEWHERE) |
        ((first < UND_INTO_TOUCHES - r.before) & (slope > (d->keeps_thin ? r.along : UND_INTO_FACES)));
    value = und_lanes_select(liquid, und_lanes_min(value, und_lanes_all(-UND_INTO_AT_LEAST)), value);
    value = und_lanes_max(und_lanes_min(value, width), -width);
    const und_lanes before = und_lanes_load(d->phi + at), off = value - before;
    const und_lanes_int little = (own < -half) & (off < r.stays) & (off > -r.stays);
    return und_lanes_select(little | (clear < r.clear) | untold, before, value);
}

/* Of a batch: the cells in the solid, less such that are too deep for its distance to be known. */
UND_INLINE unsigned und_into_solid_lanes(const und_into_args *d, und_place p)
{
    const und_lanes wall = und_lanes_load(d->wall + p.at), none = {0};
    const unsigned kept = d->kept.bits ? und_mask_lanes(&d->kept, p.x, p.y, p.z) : 0;
    return und_lanes_bits((wall < none) & (wall > 0.9f - d->width)) & p.which & ~kept;
}

UND_INLINE void und_into_cells(const und_into_args *d, und_place p)
{
    const unsigned lanes = und_into_solid_lanes(d, p);
    und_lanes place[3];
    if (!lanes)
        return;
    und_cell_middles(&d->mac, p, place);
    und_lanes_store_some(d->next + p.at, und_into_inside(d, p.at, d->wall + p.at, d->from, place), lanes);
}
UND_KERNEL(und_into_cells, und_into_args, UND_EACH_CELL)

UND_INLINE void und_into_take_cells(const und_into_args *d, und_place p)
{
    const unsigned lanes = und_into_solid_lanes(d, p);
    und_lanes_store_some(d->phi + p.at, und_lanes_load(d->next + p.at), lanes);
    if (lanes)
        d->taken[p.z * d->mac.n[1] + p.y] = 1;
}
UND_KERNEL(und_into_take_cells, und_into_args, UND_EACH_CELL)

#endif
