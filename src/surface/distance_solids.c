/* The liquid's distance goes on into solids. */
#include "grid/sample.h"
#include "surface/distance_parts.h"

#include <math.h>

/* Cells: values are taken so far in front of the wall, and once more so much further: so that most of those
 * around are not in the solid; or, where what is there is known from the step before, from nearer, as far out
 * they make more of what is off there than there is, which grows in corners that the surface meets.  What is
 * known deeper than any room and off by less than `stays` is kept: below a wall that leans over it the
 * surface is nearest within the wall, so the distances that values are taken from come from what they make,
 * and little would grow. */
typedef struct reach {
    float before, apart, stays, along;
} reach;
static const reach FIRST = {1, 1, 0, INFINITY}, ANEW = {1, 1, 0, 0.98f},
                   KNOWN = {0.1f, 2.5f, 0.02f, INFINITY};
/* Cells: a surface that far from where values are taken does not come to the wall there: in the solid is
 * then no other side, or liquid on one side of a wall would grow through it to the other; at least so deep
 * is what is there. */
#define ELSEWHERE 1.5f
#define AT_LEAST 0.5f
/* Cells, and cells per cell: liquid whose surface faces the wall and is so near touches it: a gap that the
 * grid cannot see, as where a fill ends right at a wall, would be lost volume. */
#define TOUCHES 0.5f
#define FACES 0.9f
/* Where cells know how thick the liquid is nothing is lost: it has to be `along` the wall, or if nothing
 * moves does not touch it, as what meets a ceiling at an angle would touch more of it in each step. */

static und_lanes square_root(und_lanes v)
{
    for (int i = 0; i < UND_LANES; i++)
        v[i] = sqrtf(v[i]);
    return v;
}

/* phi goes on straight along the solid's normal: what is flat outside stays flat. */
static und_lanes inside(const und_distance *d, size_t at, const float *wall, reach r, und_lanes place[3])
{
    const und_mac *m = &d->mac;
    und_lanes normal[3], far[3], near[3], sum = {0}, own = und_lanes_load(wall), first, second;
    for (int a = 0; a < 3; a++) {
        normal[a] = und_lanes_load(wall + m->step[a]) - und_lanes_load(wall - m->step[a]);
        if (m->n[a] == 1)
            normal[a] = (und_lanes){0};
        sum += normal[a] * normal[a];
    }
    und_lanes over = 1 / square_root(und_lanes_max(sum, und_lanes_all(1e-12f))), out = r.before - own;
    und_lanes half = {0}; /* of the cell, along the normal */
    for (int a = 0; a < 3; a++) {
        half += 0.5f * und_lanes_max(normal[a], -normal[a]) * over;
        near[a] = place[a] + normal[a] * over * out;
        far[a] = near[a] + normal[a] * over * r.apart;
    }
    und_sample_cells(m, d->phi, near, &first, NULL);
    und_sample_cells(m, d->phi, far, &second, NULL);
    und_lanes slope = (first - second) / r.apart, one = und_lanes_all(1),
              width = und_lanes_all((float)d->width);
    slope = und_lanes_max(und_lanes_min(slope, one), -one);
    und_lanes value = first + slope * out;
    value = und_lanes_select(first > ELSEWHERE, und_lanes_max(value, und_lanes_all(AT_LEAST)), value);
    und_lanes_int liquid =
        (first < -ELSEWHERE) | ((first < TOUCHES - r.before) & (slope > (d->keeps_thin ? r.along : FACES)));
    value = und_lanes_select(liquid, und_lanes_min(value, und_lanes_all(-AT_LEAST)), value);
    value = und_lanes_max(und_lanes_min(value, width), -width);
    const und_lanes before = und_lanes_load(d->phi + at), off = value - before;
    return und_lanes_select((own < -half) & (off < r.stays) & (off > -r.stays), before, value);
}

/* Of a batch: the cells in the solid, less such that are too deep for its distance to be known. */
static uint32_t solid_lanes(const und_distance *d, const float *wall, const und_mask *kept, int row, int x,
                            uint32_t lanes)
{
    float deepest = 0.9f - (float)d->width;
    uint32_t in = 0;
    if (kept) {
        const uint64_t *bits = und_mask_row(kept, row % d->mac.n[1], row / d->mac.n[1]);
        for (int i = 0; i < UND_LANES; i += 16)
            lanes &= ~(und_mask_sixteen(kept, bits, x + i) << i);
    }
    for (int i = 0; i < UND_LANES; i++)
        in |= (uint32_t)(wall[i] < 0 && wall[i] > deepest) << i;
    return in & lanes;
}

static void into_row(und_distance *d, const float *wall, const und_mask *kept, reach from, int row)
{
    const und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    size_t first = und_mac_row(m, row);
    und_lanes place[3] = {{0},
                          und_lanes_all((float)(row % m->n[1] + m->low[1]) + 0.5f),
                          und_lanes_all((float)(row / m->n[1] + m->low[2]) + 0.5f)};
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        const float *own = wall + first + batch.x;
        uint32_t lanes = solid_lanes(d, own, kept, row, batch.x, batch.lanes);
        if (!lanes)
            continue;
        place[0] = und_lanes_count() + ((float)(batch.x + m->low[0]) + 0.5f);
        und_lanes_store_some(d->next + first + batch.x, inside(d, first + (size_t)batch.x, own, from, place),
                             lanes);
    }
}

/* Takes them over; the last time what follows from them. */
static void take_row(und_distance *d, const float *wall, const und_mask *kept, int row, bool last)
{
    const und_distance_parts *p = d->parts;
    size_t first = und_mac_row(&d->mac, row);
    bool any = false;
    for (int b = 0; b < p->batches[row]; b++) {
        und_batch batch = p->batch[(size_t)row * (size_t)p->per_row + (size_t)b];
        size_t at = first + (size_t)batch.x;
        uint32_t lanes = solid_lanes(d, wall + at, kept, row, batch.x, batch.lanes);
        und_lanes_store_some(d->phi + at, und_lanes_load(d->next + at), lanes);
        any |= lanes != 0;
    }
    if (any && last)
        und_distance_refresh_row(d, row % d->mac.n[1], row / d->mac.n[1]);
}

static void into_solids(und_distance *d, const float *wall, const und_mask *kept, reach from)
{
    enum { PASSES = 3 }; /* the later ones have good values where the first met such as are in the solid */
    int threads = und_distance_workers(d), blocks = und_distance_blocks(d);
    if (!wall)
        return;
    und_distance_list(d, &d->band);
    for (int pass = 0; pass < PASSES; pass++) {
        PARALLEL_FOR(threads)
        for (int block = 0; block < blocks; block++)
            for (int r = block * UND_DISTANCE_ROWS; r < und_distance_block_end(d, block); r++)
                into_row(d, wall, kept, from, r);
        PARALLEL_FOR(threads)
        for (int block = 0; block < blocks; block++)
            for (int r = block * UND_DISTANCE_ROWS; r < und_distance_block_end(d, block); r++)
                take_row(d, wall, kept, r, pass + 1 == PASSES);
    }
    und_distance_beside(d, d->phi);
}

void und_distance_into_solids(und_distance *d, const float *wall)
{
    into_solids(d, wall, NULL, FIRST);
}

void und_distance_into_solids_but(und_distance *d, const float *wall, const und_mask *kept, bool known)
{
    into_solids(d, wall, kept, known ? KNOWN : ANEW);
}
