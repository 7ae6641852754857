/* Control particles into cells.
 *
 * They are put in the order of the slices that they are in, and of their places there, and each slice is done
 * by one thread that goes through those that may reach it in that order: so means have the same bits at any
 * number of threads. */
#include "base/lanes.h"
#include "base/maths.h"
#include "control/control_particles_state.h"

#include <math.h>
#include <string.h>

enum { AHEAD = 4 * UND_LANES }; /* particles in the list that are fetched before they are needed */

/* alpha by the distance over the radius, 0 to 1. */
static inline float falloff(const und_control_particle_def *def, float s)
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

/* The same of several, whatever is beyond 1. */
UND_INLINE und_lanes falloff_lanes(const und_control_particle_def *def, und_falloff kind, und_lanes s)
{
    switch (kind) {
    case UND_FALLOFF_HAT:
        return 1 - s;
    case UND_FALLOFF_CUBIC:
        return 1 - s * s * (3 - 2 * s);
    case UND_FALLOFF_CURVE:
        for (int i = 0; i < UND_LANES; i++)
            s[i] = falloff(def, s[i] < 1 ? s[i] : 1);
        return s;
    case UND_FALLOFF_BOX:
        break;
    }
    return und_lanes_all(1);
}

/* One row's cells. */
typedef struct row {
    und_control_particle_cell *cell; /* of x = 0 */
    int32_t *span;
    int begin, end, most; /* cells that are looked at, and all */
    int low;              /* the cell of the whole grid that x = 0 is */
    float y, z;           /* of their middles, in cells of that */
} row;

/* Whole stretches of cells, so that few of those that follow touch more. */
static inline void touch(int32_t span[2], int begin, int end, int most)
{
    const int low = begin & ~(CONTROL_STRETCH - 1),
              high = (end + CONTROL_STRETCH - 1) & ~(CONTROL_STRETCH - 1);
    span[0] = low < span[0] ? low : span[0];
    span[1] = high < most ? (high > span[1] ? high : span[1]) : most;
}

static inline void touch_row(control_field *f, int slice, int y)
{
    f->row_low[slice] = y < f->row_low[slice] ? y : f->row_low[slice];
    f->row_high[slice] = y > f->row_high[slice] ? y : f->row_high[slice];
}

typedef float four __attribute__((vector_size(16)));

static inline four load_four(const float *from)
{
    four v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* One more, of an alpha above 0, to the mean: as it goes, so that what all agree on is what they say, to the
 * bit.  value[3] is any number. */
static inline void add(und_control_particle_cell *c, float alpha, float hard, four value)
{
    four mean;
    memcpy(&mean, c, sizeof mean); /* and its weight */
    const float weight = mean[3] + alpha;
    mean += (alpha / weight) * (value - mean);
    mean[3] = weight;
    memcpy(c, &mean, sizeof mean);
    c->alpha = alpha > c->alpha ? alpha : c->alpha;
    c->hard = alpha > hard ? 1 : c->hard;
}

static void splat_sphere(const und_control_particle_def *def, const control_now *p, const row *r)
{
    const float dy = r->y - p->place[1], dz = r->z - p->place[2], inverse = 1 / p->radius;
    const float off = dy * dy + dz * dz, square = p->radius * p->radius;
    const four value = load_four(p->value);
    if (!(off <= square))
        return;
    for (int x = r->begin; x < r->end; x++) {
        float dx = (float)(x + r->low) + 0.5F - p->place[0], far = dx * dx + off;
        float alpha = far <= square ? p->strength * falloff(def, sqrtf(far) * inverse) : 0;
        if (alpha > 0)
            add(&r->cell[x], alpha, (float)def->hard, value);
    }
    touch(r->span, r->begin, r->end, r->most);
}

static void splat_cylinder(const und_control_particle_def *def, const control_now *p, const float normal[3],
                           float half, const row *r)
{
    float dy = r->y - p->place[1], dz = r->z - p->place[2], inverse = 1 / p->radius;
    const four value = load_four(p->value);
    bool plane = def->kind == UND_CONTROL_SURFACE;
    for (int x = r->begin; x < r->end; x++) {
        float dx = (float)(x + r->low) + 0.5F - p->place[0];
        float along = dx * normal[0] + dy * normal[1] + dz * normal[2];
        float across = dx * dx + dy * dy + dz * dz - along * along;
        float s = sqrtf(across > 0 ? across : 0) * inverse;
        float alpha = s <= 1 && fabsf(along) <= half ? p->strength * falloff(def, s) : 0;
        if (!(alpha > 0))
            continue;
        touch(r->span, x, x + 1, r->most);
        add(&r->cell[x], alpha, (float)def->hard, plane ? (four){along} : value);
    }
}

/* The distance to the nearest shape that adds, or erases. */
static void splat_shape(const control_now *p, const float normal[3], float half, const row *r)
{
    float dy = r->y - p->place[1], dz = r->z - p->place[2];
    for (int x = r->begin; x < r->end; x++) {
        float dx = (float)(x + r->low) + 0.5F - p->place[0], square = dx * dx + dy * dy + dz * dz, d;
        if (half < 0)
            d = sqrtf(square) - p->radius;
        else {
            float along = dx * normal[0] + dy * normal[1] + dz * normal[2];
            float across = square - along * along, out = fabsf(along) - half;
            float side = sqrtf(across > 0 ? across : 0) - p->radius;
            float beyond = und_hypotf(side > 0 ? side : 0, out > 0 ? out : 0);
            d = beyond > 0 ? beyond : fmaxf(side, out);
        }
        und_control_particle_cell *c = &r->cell[x];
        if (!(d < CONTROL_MARGIN) || (c->weight > 0 && c->value[0] <= d))
            continue;
        touch(r->span, x, x + 1, r->most);
        *c = (und_control_particle_cell){.alpha = 1, .weight = 1, .value = {d}};
    }
}

/* How far a particle reaches along an axis, in cells. */
static float reach_along(const control_now *p, const float normal[3], float half, int axis)
{
    if (half < 0)
        return p->radius;
    float n = normal[axis], across = 1 - n * n;
    return half * fabsf(n) + p->radius * sqrtf(across > 0 ? across : 0);
}

/* The cells from low to high - 1 whose middles it may reach. */
static void set_reach(const control_group *group, const und_mac *m, const control_now *p,
                      const float normal[3], int low[3], int high[3])
{
    const float more = (group->def.kind >= UND_CONTROL_ERASER ? CONTROL_MARGIN : 0) + 1e-3F;
    for (int a = 0; a < 3; a++) {
        const float reach = reach_along(p, normal, control_half(group, p->radius), a) + more;
        const float begin = (float)m->low[a], end = (float)(m->low[a] + m->n[a]);
        float first = ceilf(p->place[a] - reach - 0.5F), last = floorf(p->place[a] + reach - 0.5F);
        low[a] = first > begin ? (int)((first < end ? first : end) - begin) : 0;
        high[a] = last < end - 1 ? (last >= begin ? (int)(last - begin) + 1 : 0) : m->n[a];
    }
}

/* What a particle of a group does in slices [begin, end). */
static void splat(const und_control_particles *g, control_field *f, const control_group *group, int which,
                  int begin, int end)
{
    const und_mac *m = &g->mac;
    const control_now *p = &f->now[which];
    const float *normal = group->half < 0 ? NULL : f->normal[which];
    const float half = control_half(group, p->radius);
    const int axis = control_axis(m);
    int low[3], high[3];
    set_reach(group, m, p, normal, low, high);
    low[axis] = low[axis] > begin ? low[axis] : begin;
    high[axis] = high[axis] < end ? high[axis] : end;
    for (int z = low[2]; z < high[2] && low[0] < high[0]; z++)
        for (int y = low[1]; y < high[1]; y++) {
            const row r = {f->cell + und_mac_at(m, 0, y, z),
                           f->span[y + m->n[1] * z],
                           low[0],
                           high[0],
                           m->n[0],
                           m->low[0],
                           (float)(y + m->low[1]) + 0.5F,
                           (float)(z + m->low[2]) + 0.5F};
            if (group->def.kind >= UND_CONTROL_ERASER)
                splat_shape(p, normal, half, &r);
            else if (half < 0)
                splat_sphere(&group->def, p, &r);
            else
                splat_cylinder(&group->def, p, normal, half, &r);
            touch_row(f, axis == 1 ? y : z, y);
        }
}

/* ---- Small spheres ----
 *
 * Such as reach no farther than a cell reach the middles of the eight cells around them alone: those of as
 * many particles as there are lanes are weighed at a time, and added in the particles' order. */

typedef struct eights {
    float alpha[8][UND_LANES];
    int32_t base[3][UND_LANES];                 /* the lowest of the eight cells */
    int32_t which[UND_LANES], small[UND_LANES]; /* bits of those that are reached; is it such a particle? */
    int32_t row[4][UND_LANES], low[UND_LANES], high[UND_LANES]; /* their rows' spans, and cells there */
} eights;

/* One axis of them: the squares of both distances, and which of both cells are in [begin, end), of a grid
 * whose first cell is `from` of the whole one; then both as the nearest that are. */
typedef struct packs_axis {
    und_lanes square[2];
    und_lanes_int in[2], cell[2];
} packs_axis;

UND_INLINE und_lanes_int within(und_lanes_int i, int begin, int end)
{
    const und_lanes_int below = i < begin, above = i >= end;
    return (~(below | above) & i) | (below & begin) | (above & (end - 1));
}

UND_INLINE packs_axis set_axis(und_lanes place, int begin, int end, int from, int32_t *base)
{
    /* Also what is far away or no number gets a cell beside these. */
    und_lanes near = und_lanes_max(und_lanes_min(place, und_lanes_all((float)(end + from) + 1)),
                                   und_lanes_all((float)(begin + from) - 1));
    und_lanes_int low = und_lanes_floor(near - 0.5F);
    und_lanes d = __builtin_convertvector(low, und_lanes) + 0.5F - place, e = d + 1;
    low -= from;
    memcpy(base, &low, sizeof low);
    return (packs_axis){{d * d, e * e},
                        {(low >= begin) & (low < end), (low >= begin - 1) & (low < end - 1)},
                        {within(low, begin, end), within(low + 1, begin, end)}};
}

/* A number of each particle in its lane. */
UND_INLINE und_lanes across(const control_now *const p[UND_LANES], size_t offset)
{
    und_lanes v;
    for (int i = 0; i < UND_LANES; i++)
        memcpy((char *)&v + 4 * i, (const char *)p[i] + offset, 4);
    return v;
}

UND_INLINE void weigh_by(const und_control_particles *g, const und_control_particle_def *def,
                         und_falloff falloff_kind, const control_now *const p[UND_LANES], int begin, int end,
                         eights *out)
{
    const int slices = control_axis(&g->mac), *n = g->mac.n;
    const und_lanes radius = across(p, offsetof(control_now, radius)), inverse = 1 / radius;
    const und_lanes strength = across(p, offsetof(control_now, strength)), square = radius * radius;
    const bool ends = falloff_kind == UND_FALLOFF_HAT || falloff_kind == UND_FALLOFF_CUBIC; /* in 0 */
    const und_lanes_int small = ends ? radius <= 1 : radius < 1;
    packs_axis at[3];
    for (int a = 0; a < 3; a++)
        at[a] = set_axis(across(p, offsetof(control_now, place) + (size_t)a * sizeof(float)),
                         a == slices ? begin : 0, a == slices ? end : n[a], g->mac.low[a], out->base[a]);
    und_lanes_int which = {0};
    for (int k = 0; k < 8; k++) {
        const int x = k & 1, y = k >> 1 & 1, z = k >> 2;
        und_lanes far = at[0].square[x] + (at[1].square[y] + at[2].square[z]);
        und_lanes alpha = strength * falloff_lanes(def, falloff_kind, und_lanes_sqrt(far) * inverse);
        which |= (far <= square) & (alpha > 0) & at[0].in[x] & at[1].in[y] & at[2].in[z] & (1 << k);
        und_lanes_store(out->alpha[k], alpha);
    }
    memcpy(out->which, &which, sizeof which);
    memcpy(out->small, &small, sizeof small);
    for (int k = 0; k < 4; k++) {
        const und_lanes_int rows = at[1].cell[k & 1] + n[1] * at[2].cell[k >> 1];
        memcpy(out->row[k], &rows, sizeof rows);
    }
    memcpy(out->low, &at[0].cell[0], sizeof out->low);
    memcpy(out->high, &at[0].cell[1], sizeof out->high);
}

static void weigh(const und_control_particles *g, const und_control_particle_def *def,
                  const control_now *const p[UND_LANES], int begin, int end, eights *out)
{
    switch (def->falloff) {
    case UND_FALLOFF_BOX:
        weigh_by(g, def, UND_FALLOFF_BOX, p, begin, end, out);
        break;
    case UND_FALLOFF_HAT:
        weigh_by(g, def, UND_FALLOFF_HAT, p, begin, end, out);
        break;
    case UND_FALLOFF_CUBIC:
        weigh_by(g, def, UND_FALLOFF_CUBIC, p, begin, end, out);
        break;
    case UND_FALLOFF_CURVE:
        weigh_by(g, def, UND_FALLOFF_CURVE, p, begin, end, out);
        break;
    }
}

/* Are the rows around particle i touched that far already? */
static inline bool is_touched(const control_field *f, const eights *e, int i)
{
    bool all = true;
    for (int k = 0; k < 4; k++) {
        const int32_t *span = f->span[e->row[k][i]];
        all &= (span[0] <= e->low[i]) & (span[1] > e->high[i]);
    }
    return all;
}

static void touch_eight(const und_control_particles *g, control_field *f, const int c[3], unsigned which)
{
    const int *n = g->mac.n, axis = control_axis(&g->mac);
    for (int k = 0; k < 4; k++) {
        const unsigned both = which >> (2 * k) & 3;
        const int y = c[1] + (k & 1), z = c[2] + (k >> 1);
        if (both == 0)
            continue;
        touch(f->span[y + n[1] * z], both & 1 ? c[0] : c[0] + 1, both & 2 ? c[0] + 2 : c[0] + 1, n[0]);
        touch_row(f, axis == 1 ? y : z, y);
    }
}

/* Particles of one group, as many as there are lanes or fewer. */
static void splat_eights(const und_control_particles *g, control_field *f, const control_group *group,
                         const int32_t *list, int count, int begin, int end)
{
    const und_mac *m = &g->mac;
    const float hard = (float)group->def.hard;
    const control_now *p[UND_LANES];
    size_t step[8];
    eights e;
    for (int i = 0; i < UND_LANES; i++)
        p[i] = &f->now[list[i < count ? i : 0]];
    weigh(g, &group->def, p, begin, end, &e);
    for (size_t k = 0; k < 8; k++)
        step[k] = (k & 1) + (k >> 1 & 1) * (size_t)m->step[1] + (k >> 2) * (size_t)m->step[2];
    for (int i = 0; i < count; i++) {
        const int c[3] = {e.base[0][i], e.base[1][i], e.base[2][i]};
        if (!e.small[i]) {
            splat(g, f, group, list[i], begin, end);
            continue;
        }
        if (e.which[i] == 0)
            continue;
        und_control_particle_cell *cell = f->cell + und_mac_at(m, c[0], c[1], c[2]);
        const four value = load_four(p[i]->value);
        for (unsigned left = (unsigned)e.which[i]; left; left &= left - 1) {
            const int k = __builtin_ctz(left);
            add(cell + step[k], e.alpha[k][i], hard, value);
        }
        if (!is_touched(f, &e, i))
            touch_eight(g, f, c, (unsigned)e.which[i]);
    }
}

/* The group of a kind that a particle is of. */
static const control_group *group_of(const und_control_particles *g, und_control_particle_kind kind,
                                     int which)
{
    const control_group *group = g->groups;
    while (group->def.kind != kind || which - group->first >= group->now)
        group++;
    return group;
}

/* Those of the list from .. to, in slices [begin, end). */
static void splat_list(const und_control_particles *g, control_field *f, int32_t from, int32_t to, int begin,
                       int end)
{
    const control_group *group = NULL;
    for (int32_t k = from, next; k < to; k = next) {
        const int32_t *list = f->list + k;
        if (!group || *list < group->first || *list - group->first >= group->now)
            group = group_of(g, f->kind, *list);
        const bool spheres = group->half < 0 && group->def.kind < UND_CONTROL_ERASER;
        const int32_t most = spheres ? (to - k < UND_LANES ? to - k : UND_LANES) : 1;
        int32_t count = 1;
        while (count < most && list[count] >= group->first && list[count] - group->first < group->now)
            count++;
        next = k + count;
        for (int32_t i = 0; i < count && k + AHEAD + i < to; i++)
            __builtin_prefetch(&f->now[list[AHEAD + i]]);
        if (spheres)
            splat_eights(g, f, group, list, count, begin, end);
        else
            splat(g, f, group, *list, begin, end);
    }
}

/* Rows of a slice that were touched: their cells are 0 again. */
static void clear_slice(const und_control_particles *g, control_field *f, int slice)
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

/* A thread's work, slices [begin, end): so many that few particles are in two. */
static void do_slab(const und_control_particles *g, control_field *f, int begin, int end)
{
    const int reach = f->reach;
    int clear = begin;
    for (int at = begin - reach; at < end + reach; at++) {
        for (; clear < end && clear <= at + reach; clear++)
            clear_slice(g, f, clear);
        splat_list(g, f, f->first[control_pile_of_slice(at)], f->first[control_pile_of_slice(at + 1)], begin,
                   end);
    }
    splat_list(g, f, f->first[control_piles(&g->mac) - 1], f->acting, begin, end);
}

/* ---- Their order ---- */

static int32_t *counts_of(const und_control_particles *g, const control_field *f, int block)
{
    return f->block_count + (size_t)block * (size_t)control_piles(&g->mac);
}

/* The particles of a block are several groups'. */
static void pose_block(const und_control_particles *g, control_field *f, int block, int count)
{
    const int begin = block * CONTROL_BLOCK,
              end = count - begin < CONTROL_BLOCK ? count : begin + CONTROL_BLOCK;
    memset(counts_of(g, f, block), 0, (size_t)control_piles(&g->mac) * sizeof(int32_t));
    f->block_reach[block] = 0;
    f->block_told[block] = 0;
    for (int i = 0; i < g->count; i++) {
        const control_group *group = &g->groups[i];
        const int from = begin > group->first ? begin : group->first;
        const int to = end < group->first + group->now ? end : group->first + group->now;
        if (group->def.kind == f->kind && from < to)
            und_control_particle_pose(group, &g->mac, f, from - group->first, to - group->first,
                                      counts_of(g, f, block), &f->block_reach[block], &f->block_told[block]);
    }
}

static void list_block(const und_control_particles *g, control_field *f, int block, int count)
{
    const int begin = block * CONTROL_BLOCK,
              end = count - begin < CONTROL_BLOCK ? count : begin + CONTROL_BLOCK;
    int32_t *where = counts_of(g, f, block);
    for (int i = begin; i < end; i++)
        if (f->pile[i] >= 0)
            f->list[where[f->pile[i]]++] = i;
}

/* How many there are in each pile becomes where the first of each block goes. */
static void share_out(const und_control_particles *g, control_field *f, int blocks)
{
    const int piles = control_piles(&g->mac);
    int32_t before = 0;
    float reach = 0;
    f->told = 0;
    memset(f->first, 0, ((size_t)piles + 1) * sizeof *f->first);
    for (int block = 0; block < blocks; block++)
        for (int pile = 0; pile < piles; pile++)
            f->first[pile + 1] += counts_of(g, f, block)[pile];
    for (int pile = 0; pile <= piles; pile++)
        before = f->first[pile] += before;
    for (int block = blocks - 1; block >= 0; block--) { /* from the ends of the piles */
        int32_t *here = counts_of(g, f, block);
        for (int pile = 0; pile < piles; pile++)
            here[pile] = f->first[pile + 1] -= here[pile];
        reach = fmaxf(reach, f->block_reach[block]);
        f->told += f->block_told[block];
    }
    memmove(f->first, f->first + 1, (size_t)piles * sizeof *f->first);
    f->first[piles] = before;
    f->acting = before;
    f->reach = (int)ceilf(reach);
}

typedef struct render_args {
    const und_control_particles *g;
    control_field *f;
    int count; /* particles */
} render_args;

static inline void pose_some(const render_args *a, und_place p)
{
    pose_block(a->g, a->f, p.y, a->count);
}
UND_KERNEL(pose_some, render_args, UND_EACH_BLOCK)

static inline void list_some(const render_args *a, und_place p)
{
    list_block(a->g, a->f, p.y, a->count);
}
UND_KERNEL(list_some, render_args, UND_EACH_BLOCK)

static inline void do_slices(const render_args *a, und_place p)
{
    do_slab(a->g, a->f, (int)p.at, (int)p.at + p.x);
}
UND_KERNEL(do_slices, render_args, UND_EACH_BLOCK)

static void sort(const und_device *device, const render_args *args)
{
    const und_set blocks = und_set_list(args->f, args->count, CONTROL_BLOCK, CONTROL_WORTH);
    und_pass(device, pose_some, args, &blocks);
    share_out(args->g, args->f, blocks.blocks);
    und_pass(device, list_some, args, &blocks);
}

/* How many of each group there are, and where they stand; in all. */
static int set_out(und_control_particles *g, control_field *f, double time, double dt)
{
    int count = 0;
    f->until = INFINITY;
    for (int i = 0; i < g->count; i++) {
        control_group *group = &g->groups[i];
        if (group->def.kind != f->kind)
            continue;
        group->first = count;
        group->now = und_control_particle_count(group, time);
        count += group->now;
        if (group->now > 0)
            und_control_particle_set(group, &g->mac, time, dt);
        f->until = fmin(f->until, und_control_particle_rests(group, time));
    }
    return count;
}

/* Whether its cells are what they would be then. */
static bool is_rendered(const control_field *f, double time)
{
    return f->rendered && time >= f->time && time < f->until;
}

/* Cells of the whole grid, or beside it. */
static void box_of(const control_group *group, const und_mac *m, const control_now *p, const float normal[3],
                   int low[3], int high[3])
{
    for (int a = 0; a < 3; a++) {
        const float reach = reach_along(p, normal, control_half(group, p->radius), a) + CONTROL_MARGIN,
                    end = (float)m->whole[a];
        low[a] = (int)fmaxf(-1, fminf(end, floorf(p->place[a] - reach)));
        high[a] = (int)fmaxf(-1, fminf(end, floorf(p->place[a] + reach) + 1));
    }
}

static void find_boxes(und_control_particles *g, control_field *f, double time, und_control_box_fn *fn,
                       void *context)
{
    if (!is_rendered(f, time)) {
        const render_args args = {g, f, set_out(g, f, time, 0)};
        const und_set blocks = und_set_list(f, args.count, CONTROL_BLOCK, CONTROL_WORTH);
        und_pass(&(und_device){.threads = g->threads}, pose_some, &args, &blocks);
        f->rendered = false; /* until when it would be the same is another time's now */
    }
    for (int i = 0; i < g->count; i++) {
        const control_group *group = &g->groups[i];
        for (int k = group->first; group->def.kind == f->kind && k < group->first + group->now; k++) {
            int low[3], high[3];
            if (!(f->now[k].radius > 0) || !(f->now[k].strength > 0))
                continue;
            box_of(group, &g->mac, &f->now[k], group->half < 0 ? NULL : f->normal[k], low, high);
            if (low[0] < high[0] && low[1] < high[1] && low[2] < high[2])
                fn(context, low, high);
        }
    }
}

void und_control_particles_each_box(und_control_particles *g, double time, und_control_box_fn *fn,
                                    void *context)
{
    static const und_control_particle_kind kinds[] = {UND_CONTROL_SURFACE, UND_CONTROL_ADDER};
    for (int k = 0; k < 2; k++)
        if (g->field[kinds[k]].capacity > 0)
            find_boxes(g, &g->field[kinds[k]], time, fn, context);
}

void und_control_particle_render(und_control_particles *g, control_field *f, double time, double dt)
{
    if (f->capacity == 0 || is_rendered(f, time))
        return;
    const int slices = control_slices(&g->mac), count = set_out(g, f, time, dt);
    const und_device device = {.threads = g->threads};
    const int share = slices / (4 * g->threads), slab = share > CONTROL_SLAB ? share : CONTROL_SLAB;
    const render_args args = {g, f, count};
    und_set slabs = und_set_list(f, slices, slab, 1);
    f->time = time;
    f->rendered = true;
    sort(&device, &args);
    slabs.worth = CONTROL_WORTH * (size_t)count;
    und_pass(&device, do_slices, &args, &slabs);
}
