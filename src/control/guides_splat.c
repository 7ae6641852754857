/* Control particles into cells.
 *
 * They are put in the order of the slices that they are in, and of their places there, and each slice is done
 * by one thread that goes through those that may reach it in that order: so means have the same bits at any
 * number of threads. */
#include "base/parallel.h"
#include "control/guides_state.h"

#include <math.h>
#include <string.h>

/* alpha by the distance over the radius, 0 to 1. */
static inline float falloff(const und_guide_def *def, float s)
{
    switch (def->falloff) {
    case UND_FALLOFF_HAT:
        return 1 - s;
    case UND_FALLOFF_CUBIC:
        return 1 - s * s * (3 - 2 * s);
    case UND_FALLOFF_CURVE: {
        float at = s * (float)(def->sample_count - 1);
        int i = (int)at;
        i = i < def->sample_count - 2 ? i : def->sample_count - 2;
        float part = at - (float)i;
        return (1 - part) * (float)def->samples[i] + part * (float)def->samples[i + 1];
    }
    case UND_FALLOFF_BOX:
        break;
    }
    return 1;
}

/* One row's cells. */
typedef struct row {
    und_guide_cell *cell; /* of x = 0 */
    int32_t *span;
    float y, z; /* of their middles, in cells */
} row;

static inline void touch(const row *r, int begin, int end)
{
    if (begin < end) {
        r->span[0] = begin < r->span[0] ? begin : r->span[0];
        r->span[1] = end > r->span[1] ? end : r->span[1];
    }
}

/* One more to the mean: as it goes, so that what all agree on is what they say, to the bit. */
static inline void add(und_guide_cell *c, const und_guide_def *def, float alpha, const float value[3])
{
    c->alpha = alpha > c->alpha ? alpha : c->alpha;
    c->hard = alpha > (float)def->hard ? 1 : c->hard;
    c->weight += alpha;
    float part = c->weight > 0 ? alpha / c->weight : 0;
    for (int k = 0; k < 3; k++)
        c->value[k] += part * (value[k] - c->value[k]);
}

static void splat_sphere(const und_guide_def *def, const guide_now *p, const row *r)
{
    const float dy = r->y - p->place[1], dz = r->z - p->place[2], inverse = 1 / p->radius;
    const float off = dy * dy + dz * dz, square = p->radius * p->radius;
    if (!(off <= square))
        return;
    for (int x = p->low[0]; x <= p->high[0]; x++) {
        float dx = (float)x + 0.5F - p->place[0], far = dx * dx + off;
        if (far <= square)
            add(&r->cell[x], def, p->strength * falloff(def, sqrtf(far) * inverse), p->value);
    }
    touch(r, p->low[0], p->high[0] + 1);
}

static void splat_cylinder(const und_guide_def *def, const guide_now *p, const row *r)
{
    float dy = r->y - p->place[1], dz = r->z - p->place[2], inverse = 1 / p->radius;
    bool plane = def->kind == UND_GUIDE_SURFACE;
    for (int x = p->low[0]; x <= p->high[0]; x++) {
        float dx = (float)x + 0.5F - p->place[0];
        float along = dx * p->normal[0] + dy * p->normal[1] + dz * p->normal[2];
        float across = dx * dx + dy * dy + dz * dz - along * along;
        float s = sqrtf(across > 0 ? across : 0) * inverse;
        float alpha = s <= 1 && fabsf(along) <= p->half ? p->strength * falloff(def, s) : 0;
        if (!(alpha > 0))
            continue;
        touch(r, x, x + 1);
        add(&r->cell[x], def, alpha, plane ? (const float[3]){along} : p->value);
    }
}

/* The distance to the nearest shape that adds, or erases. */
static void splat_shape(const guide_now *p, const row *r)
{
    float dy = r->y - p->place[1], dz = r->z - p->place[2];
    for (int x = p->low[0]; x <= p->high[0]; x++) {
        float dx = (float)x + 0.5F - p->place[0], square = dx * dx + dy * dy + dz * dz, d;
        if (p->half < 0)
            d = sqrtf(square) - p->radius;
        else {
            float along = dx * p->normal[0] + dy * p->normal[1] + dz * p->normal[2];
            float across = square - along * along, out = fabsf(along) - p->half;
            float side = sqrtf(across > 0 ? across : 0) - p->radius;
            float beyond = hypotf(side > 0 ? side : 0, out > 0 ? out : 0);
            d = beyond > 0 ? beyond : fmaxf(side, out);
        }
        und_guide_cell *c = &r->cell[x];
        if (!(d < GUIDES_MARGIN) || (c->weight > 0 && c->value[0] <= d))
            continue;
        touch(r, x, x + 1);
        *c = (und_guide_cell){.alpha = 1, .weight = 1, .value = {d}};
    }
}

static void splat_row(const und_guides *g, const guide_now *p, const row *r)
{
    const und_guide_def *def = &g->groups[p->group].def;
    if (def->kind >= UND_GUIDE_ERASER)
        splat_shape(p, r);
    else if (p->half < 0)
        splat_sphere(def, p, r);
    else
        splat_cylinder(def, p, r);
}

/* What a particle does in slices [begin, end). */
static void splat(const und_guides *g, guide_field *f, const guide_now *p, int begin, int end)
{
    const und_mac *m = &g->mac;
    const int axis = guides_axis(m), from = p->low[axis] > begin ? p->low[axis] : begin;
    const int to = p->high[axis] < end - 1 ? p->high[axis] : end - 1;
    if (p->low[0] > p->high[0])
        return;
    for (int slice = from; slice <= to; slice++) {
        const int low = axis == 1 ? slice : p->low[1], high = axis == 1 ? slice : p->high[1];
        const int z = axis == 1 ? 0 : slice;
        for (int y = low; y <= high; y++) {
            row r = {f->cell + und_mac_at(m, 0, y, z), f->span[y + m->n[1] * z], (float)y + 0.5F,
                     (float)z + 0.5F};
            splat_row(g, p, &r);
        }
        f->row_low[slice] = low < f->row_low[slice] ? low : f->row_low[slice];
        f->row_high[slice] = high > f->row_high[slice] ? high : f->row_high[slice];
    }
}

/* Rows of a slice that were touched: their cells are 0 again. */
static void clear_slice(const und_guides *g, guide_field *f, int slice)
{
    const und_mac *m = &g->mac;
    int z = m->n[2] == 1 ? 0 : slice;
    for (int y = f->row_low[slice]; y <= f->row_high[slice]; y++) {
        int32_t *span = f->span[y + m->n[1] * z];
        if (span[0] < span[1])
            memset(f->cell + und_mac_at(m, span[0], y, z), 0, (size_t)(span[1] - span[0]) * sizeof *f->cell);
        span[0] = INT32_MAX;
        span[1] = 0;
    }
    f->row_low[slice] = m->n[1];
    f->row_high[slice] = -1;
}

/* A thread's work: so many slices that few particles are in two. */
static void do_slab(const und_guides *g, guide_field *f, int begin)
{
    const int slices = guides_slices(&g->mac);
    const int end = begin + GUIDES_SLAB < slices ? begin + GUIDES_SLAB : slices;
    const int from = begin > f->reach ? begin - f->reach : 0,
              to = end + f->reach < slices ? end + f->reach : slices;
    for (int slice = begin; slice < end; slice++)
        clear_slice(g, f, slice);
    for (int32_t k = f->first[GUIDES_BANDS * from]; k < f->first[GUIDES_BANDS * to]; k++)
        splat(g, f, &f->list[k], begin, end);
    for (int32_t k = f->first[GUIDES_BANDS * slices]; k < f->acting; k++)
        splat(g, f, &f->list[k], begin, end);
}

/* ---- Their order ---- */

/* Calls fn for particles [begin, end) of a kind, which are several groups'. */
typedef void particle_fn(const und_guides *g, guide_field *f, int group, int i, int all, int block);

static void for_block(const und_guides *g, guide_field *f, int block, int count, particle_fn *fn)
{
    int begin = block * GUIDES_BLOCK, end = count - begin < GUIDES_BLOCK ? count : begin + GUIDES_BLOCK;
    for (int i = 0; i < g->count; i++) {
        const guide_group *group = &g->groups[i];
        if (group->def.kind != f->kind || group->now == 0)
            continue;
        int from = begin - group->first, to = end - group->first;
        from = from > 0 ? from : 0;
        to = to < group->now ? to : group->now;
        for (int k = from; k < to; k++)
            fn(g, f, i, k, group->first + k, block);
    }
}

static int32_t *counts_of(const und_guides *g, const guide_field *f, int block)
{
    return f->block_count + (size_t)block * (size_t)guides_piles(&g->mac);
}

static void count_one(const und_guides *g, guide_field *f, int group, int i, int all, int block)
{
    float reach;
    int pile = und_guide_pile(&g->groups[group], &g->mac, i, &reach);
    f->pile[all] = pile;
    if (pile < 0)
        return;
    counts_of(g, f, block)[pile]++;
    if (pile < guides_piles(&g->mac) - 1 && reach > f->block_reach[block])
        f->block_reach[block] = reach;
}

static void pose_one(const und_guides *g, guide_field *f, int group, int i, int all, int block)
{
    if (f->pile[all] < 0)
        return;
    guide_now *out = &f->list[counts_of(g, f, block)[f->pile[all]]++];
    und_guide_pose(&g->groups[group], &g->mac, i, out);
    out->group = group;
}

/* How many there are in each pile becomes where the first of each block goes. */
static void share_out(const und_guides *g, guide_field *f, int blocks)
{
    const int piles = guides_piles(&g->mac);
    int32_t before = 0;
    float reach = 0;
    for (int pile = 0; pile < piles; pile++) {
        f->first[pile] = before;
        for (int block = 0; block < blocks; block++) {
            int32_t *here = &counts_of(g, f, block)[pile], some = *here;
            *here = before;
            before += some;
        }
    }
    for (int block = 0; block < blocks; block++)
        reach = fmaxf(reach, f->block_reach[block]);
    f->first[piles] = before;
    f->acting = before;
    f->reach = (int)ceilf(reach);
}

static void sort(und_guides *g, guide_field *f, int count, int threads)
{
    const int blocks = (count + GUIDES_BLOCK - 1) / GUIDES_BLOCK;
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++) {
        memset(counts_of(g, f, block), 0, (size_t)guides_piles(&g->mac) * sizeof(int32_t));
        f->block_reach[block] = 0;
        for_block(g, f, block, count, count_one);
    }
    share_out(g, f, blocks);
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        for_block(g, f, block, count, pose_one);
}

/* How many of each group there are, and where they stand; in all. */
static int set_out(und_guides *g, guide_field *f, double time, double dt)
{
    int count = 0;
    f->until = INFINITY;
    for (int i = 0; i < g->count; i++) {
        guide_group *group = &g->groups[i];
        if (group->def.kind != f->kind)
            continue;
        group->first = count;
        group->now = und_guide_count(group, time);
        count += group->now;
        if (group->now > 0)
            und_guide_set(group, &g->mac, time, dt);
        f->until = fmin(f->until, und_guide_rests(group, time));
    }
    return count;
}

void und_guide_render(und_guides *g, guide_field *f, double time, double dt)
{
    if (f->capacity == 0 || (f->rendered && time >= f->time && time < f->until))
        return;
    const int slices = guides_slices(&g->mac), count = set_out(g, f, time, dt);
    int threads = und_workers(g->threads, (size_t)count, GUIDES_TO_SHARE);
    f->time = time;
    f->rendered = true;
    sort(g, f, count, threads);
    PARALLEL_FOR(threads)
    for (int slice = 0; slice < slices; slice += GUIDES_SLAB)
        do_slab(g, f, slice);
}
