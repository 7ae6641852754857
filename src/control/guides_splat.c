/* Control particles into cells.
 *
 * They are put in the order of the first slice that they reach, and each slice is done by one thread that
 * goes through them in that order: so sums have the same bits at any number of threads. */
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
    int n;
    float y, z; /* of their middles, in cells */
} row;

static inline void touch(const row *r, int x)
{
    r->span[0] = x < r->span[0] ? x : r->span[0];
    r->span[1] = x >= r->span[1] ? x + 1 : r->span[1];
}

/* Where along the row the reach around a place begins and ends. */
static inline void row_range(const row *r, float middle, float reach, int *begin, int *end)
{
    float low = ceilf(middle - reach - 0.5F), high = floorf(middle + reach - 0.5F);
    *begin = low > 0 ? (int)fminf(low, (float)r->n) : 0;
    *end = high < (float)r->n ? (int)fmaxf(high + 1, 0) : r->n;
}

/* One more to the mean: as it goes, so that what all agree on is what they say, to the bit. */
static inline void add(und_guide_cell *c, const und_guide_def *def, float alpha, const float value[3])
{
    c->alpha = alpha > c->alpha ? alpha : c->alpha;
    c->hard = alpha > (float)def->hard ? 1 : c->hard;
    c->weight += alpha;
    float part = alpha / c->weight;
    for (int k = 0; k < 3; k++)
        c->value[k] += part * (value[k] - c->value[k]);
}

static void splat_sphere(const und_guide_def *def, const guide_now *p, const row *r)
{
    float dy = r->y - p->place[1], dz = r->z - p->place[2];
    float square = p->radius * p->radius, off = dy * dy + dz * dz, inverse = 1 / p->radius;
    int begin, end;
    if (!(off <= square))
        return;
    row_range(r, p->place[0], sqrtf(square - off) + 1e-3F, &begin, &end);
    for (int x = begin; x < end; x++) {
        float dx = (float)x + 0.5F - p->place[0], s = sqrtf(dx * dx + off) * inverse;
        float alpha = s <= 1 ? p->strength * falloff(def, s) : 0;
        if (!(alpha > 0))
            continue;
        touch(r, x);
        add(&r->cell[x], def, alpha, p->value);
    }
}

static void splat_cylinder(const und_guide_def *def, const guide_now *p, const row *r)
{
    float dy = r->y - p->place[1], dz = r->z - p->place[2], inverse = 1 / p->radius;
    bool plane = def->kind == UND_GUIDE_SURFACE;
    int begin, end;
    row_range(r, p->place[0], (float)guide_reach(p, 0) + 1e-3F, &begin, &end);
    for (int x = begin; x < end; x++) {
        float dx = (float)x + 0.5F - p->place[0];
        float along = dx * p->normal[0] + dy * p->normal[1] + dz * p->normal[2];
        float across = dx * dx + dy * dy + dz * dz - along * along;
        float s = sqrtf(across > 0 ? across : 0) * inverse;
        float alpha = s <= 1 && fabsf(along) <= p->half ? p->strength * falloff(def, s) : 0;
        if (!(alpha > 0))
            continue;
        touch(r, x);
        add(&r->cell[x], def, alpha, plane ? (const float[3]){along} : p->value);
    }
}

/* The distance to the nearest shape that adds, or erases. */
static void splat_shape(const guide_now *p, const row *r)
{
    float dy = r->y - p->place[1], dz = r->z - p->place[2];
    int begin, end;
    row_range(r, p->place[0], (float)guide_reach(p, 0) + GUIDES_MARGIN, &begin, &end);
    for (int x = begin; x < end; x++) {
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
        touch(r, x);
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

/* What a particle does in a slice. */
static void splat(const und_guides *g, guide_field *f, const guide_now *p, int slice)
{
    const und_mac *m = &g->mac;
    int low = slice, high = slice, z = m->n[2] == 1 ? 0 : slice;
    if (p->low > slice || p->high < slice)
        return;
    if (m->n[2] > 1) {
        int margin = f->kind >= UND_GUIDE_ERASER ? GUIDES_MARGIN : 0;
        double reach = guide_reach(p, 1) + margin + 1e-3;
        low = (int)fmax(ceil((double)p->place[1] - reach - 0.5), 0);
        high = (int)fmin(floor((double)p->place[1] + reach - 0.5), m->n[1] - 1);
    }
    for (int y = low; y <= high; y++) {
        row r = {f->cell + und_mac_at(m, 0, y, z), f->span[y + m->n[1] * z], m->n[0], (float)y + 0.5F,
                 m->n[2] == 1 ? 0.5F : (float)z + 0.5F};
        splat_row(g, p, &r);
    }
    f->row_low[slice] = low < f->row_low[slice] ? low : f->row_low[slice];
    f->row_high[slice] = high > f->row_high[slice] ? high : f->row_high[slice];
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

static void do_slice(const und_guides *g, guide_field *f, int slice)
{
    const int slices = guides_slices(&g->mac);
    int from = slice - GUIDES_REACH + 1;
    clear_slice(g, f, slice);
    for (int32_t k = f->first[from > 0 ? from : 0]; k < f->first[slice + 1]; k++)
        splat(g, f, &f->list[f->order[k]], slice);
    for (int32_t k = f->first[slices]; k < f->first[slices + 1]; k++)
        splat(g, f, &f->list[f->order[k]], slice);
}

/* ---- Their order ---- */

static int pile_of(const guide_now *p, int slices)
{
    return p->high - p->low < GUIDES_REACH ? p->low : slices;
}

static void count_block(const und_guides *g, const guide_field *f, int block, int count)
{
    const int slices = guides_slices(&g->mac), end = (block + 1) * GUIDES_BLOCK;
    int32_t *counts = f->block_count + (size_t)block * (size_t)(slices + 1);
    memset(counts, 0, (size_t)(slices + 1) * sizeof *counts);
    for (int i = block * GUIDES_BLOCK; i < end && i < count; i++)
        if (f->list[i].group >= 0)
            counts[pile_of(&f->list[i], slices)]++;
}

static void order_block(const und_guides *g, const guide_field *f, int block, int count)
{
    const int slices = guides_slices(&g->mac), end = (block + 1) * GUIDES_BLOCK;
    int32_t *next = f->block_count + (size_t)block * (size_t)(slices + 1);
    for (int i = block * GUIDES_BLOCK; i < end && i < count; i++)
        if (f->list[i].group >= 0)
            f->order[next[pile_of(&f->list[i], slices)]++] = i;
}

static void sort(const und_guides *g, guide_field *f, int count, int threads)
{
    const int piles = guides_slices(&g->mac) + 1, blocks = (count + GUIDES_BLOCK - 1) / GUIDES_BLOCK;
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        count_block(g, f, block, count);
    int32_t before = 0;
    for (int pile = 0; pile < piles; pile++) {
        f->first[pile] = before;
        for (int block = 0; block < blocks; block++) {
            int32_t *here = f->block_count + (size_t)block * (size_t)piles + pile, some = *here;
            *here = before;
            before += some;
        }
    }
    f->first[piles] = before;
    f->acting = before;
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        order_block(g, f, block, count);
}

/* Particles [begin, end) of the field's list, which are several groups'. */
static void pose_block(const und_guides *g, const guide_field *f, double time, double dt, int begin, int end)
{
    for (int i = 0; i < g->count; i++) {
        const guide_group *group = &g->groups[i];
        if (group->def.kind != f->kind || group->now == 0)
            continue;
        int from = begin - group->first, to = end - group->first;
        from = from > 0 ? from : 0;
        to = to < group->now ? to : group->now;
        if (from >= to)
            continue;
        und_guide_pose(group, &g->mac, time, dt, from, to, f->list + group->first);
        for (int k = from; k < to; k++)
            if (f->list[group->first + k].group >= 0)
                f->list[group->first + k].group = i;
    }
}

/* How many of each group there are, and where they stand; in all. */
static int set_out(und_guides *g, guide_field *f, double time)
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
            und_guide_link(group, time);
        f->until = fmin(f->until, und_guide_rests(group, time));
    }
    return count;
}

void und_guide_render(und_guides *g, guide_field *f, double time, double dt)
{
    if (f->capacity == 0 || (f->rendered && time >= f->time && time < f->until))
        return;
    const int slices = guides_slices(&g->mac), count = set_out(g, f, time);
    const int blocks = (count + GUIDES_BLOCK - 1) / GUIDES_BLOCK;
    int threads = und_workers(g->threads, (size_t)count, GUIDES_TO_SHARE);
    f->time = time;
    f->rendered = true;
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        pose_block(g, f, time, dt, block * GUIDES_BLOCK,
                   count < (block + 1) * GUIDES_BLOCK ? count : (block + 1) * GUIDES_BLOCK);
    sort(g, f, count, threads);
    PARALLEL_FOR(threads)
    for (int slice = 0; slice < slices; slice++)
        do_slice(g, f, slice);
}
