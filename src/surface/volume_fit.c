/* phi follows what cells hold.
 *
 * What a cell holds beside what phi encloses of it goes to the surface, is evened out along it, and phi is
 * shifted there by as much as the surface's area makes of it. */
#include "surface/volume_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TO_SURFACE = 3, EVENING = 4, LEVELLING = 2, PAYING = 2, SHIFTS = 4 }; /* rounds */
static const double SHOWN = 0.01;             /* of all: as long as more is not shown it is gone on */
static const float NEAR = 2.6f, DEEP = -2.5f; /* cells: what is looked at; what can be cut */
static const float LEAST_ROOM = 0.02f;
static const float EVEN = 0.15f;                                    /* of the difference to a neighbour */
static const float SHIFT = 0.7f, MOST_SHIFT = 0.5f, SHIFTED = 1.6f; /* of what is asked; cells; cells */
static const float LEAST_AREA = 1.6f, WEIGHTS = 64;                 /* the sum of und_volume_weight */

/* Cells of the list, in mark[]; others have 0. */
enum {
    EVENS = 1, /* at the surface: exchanges what it has too much */
    COUNTS = 2 /* near it: what it has too much, and its area, move phi */
};

typedef struct fit {
    und_volume *v;
    const und_volume_walls *walls;
    float *phi;
    float level;
} fit;

static bool is_held(const fit *f, size_t at)
{
    return f->v->parts->kind[at] == UND_VOLUME_HELD;
}

static bool is_near(const void *context, size_t at)
{
    const fit *f = context;
    return !is_held(f, at) && (fabsf(f->phi[at]) < NEAR || (f->v->c[at] != 0 && f->phi[at] > 0));
}

static unsigned look_near(const void *context, size_t at)
{
    const fit *f = context;
    const und_lanes phi = und_lanes_load(f->phi + at), near = und_lanes_all(NEAR);
    return und_lanes_bits((phi < near) & (phi > -near)) | und_volume_aloft(f->v, f->phi, at);
}

/* ---- What phi encloses ---- */

/* Cells that the surface may cut. */
typedef struct batch {
    int count;
    size_t at[UND_LANES];
    float phi[UND_LANES], slope[3][UND_LANES], along[UND_LANES];
} batch;

static void finish_parts(const fit *f, batch *b)
{
    const float by = 0.25f; /* cells: the area is what the part gains over twice this */
    und_lanes slope[3], value = und_lanes_load(b->phi), part[3];
    for (int a = 0; a < 3; a++)
        slope[a] = und_lanes_load(b->slope[a]);
    const und_lanes length = und_lanes_sqrt(slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]);
    const und_lanes_int flat = length <= und_lanes_all(0.1f); /* what is thinner than cells has no gradient */
    for (int k = 0; k < 3; k++) {
        const und_lanes there = value + by * (float)(1 - k);
        const und_lanes plain =
            und_lanes_min(und_lanes_max(0.5f - there, und_lanes_all(0)), und_lanes_all(1));
        part[k] = und_lanes_select(flat, plain, und_planes_part(there * length, slope));
    }
    for (int i = 0; i < b->count; i++) {
        const float room = und_volume_room(f->walls, b->at[i]);
        const float less = und_volume_within(part[0][i], room, b->along[i]);
        const float more = und_volume_within(part[2][i], room, b->along[i]);
        f->v->parts->part[b->at[i]] = und_volume_units(und_volume_within(part[1][i], room, b->along[i]));
        f->v->parts->area[b->at[i]] = (more - less) / (2 * by);
    }
    b->count = 0;
}

static void set_part(const fit *f, size_t at, batch *b)
{
    const und_volume *v = f->v;
    const float phi = f->phi[at];
    v->parts->area[at] = 0;
    if (phi <= DEEP)
        v->parts->part[at] = v->c[at]; /* deep errors are the pressure's */
    else if (!und_volume_is_cut(v, f->walls, f->phi, at))
        v->parts->part[at] = phi < 0 ? und_volume_units(und_volume_room(f->walls, at)) : 0;
    else {
        float slope[3];
        und_volume_gradient(v, f->walls, f->phi, at, slope);
        b->at[b->count] = at;
        b->phi[b->count] = phi;
        b->along[b->count] = und_volume_along(v, f->walls, at, slope);
        for (int a = 0; a < 3; a++)
            b->slope[a][b->count] = slope[a];
        if (++b->count == UND_LANES)
            finish_parts(f, b);
    }
}

static void set_parts(const fit *f)
{
    const und_volume_parts *p = f->v->parts;
    PARALLEL_FOR(und_workers(f->v->threads, (size_t)p->count, UND_VOLUME_TO_SHARE))
    for (int block = 0; block < (p->count + UND_VOLUME_BLOCK - 1) / UND_VOLUME_BLOCK; block++) {
        batch b = {0};
        for (int i = block * UND_VOLUME_BLOCK; i < p->count && i < (block + 1) * UND_VOLUME_BLOCK; i++)
            set_part(f, (size_t)p->list[i], &b);
        if (b.count > 0)
            finish_parts(f, &b);
    }
    UND_VOLUME_EACH(f->v, p->count, at, p->list)
    {
        f->v->film[at] = und_volume_is_film(f->v, f->walls, f->phi, at, p->part[at]);
        if (f->v->film[at]) {
            p->part[at] = f->v->c[at];
            p->area[at] = 0;
        }
        const float away = fabsf(f->phi[at]);
        const bool evens = away < 1 && und_volume_room(f->walls, at) > LEAST_ROOM;
        p->mark[at] = f->v->film[at] ? 0 : (evens ? EVENS : 0) | (away < NEAR ? COUNTS : 0);
        p->extra[at] = f->v->c[at] - p->part[at];
        p->to[at] = UND_VOLUME_STAY;
    }
}

/* ---- Along the surface ---- */

/* The sum over the neighbours that a cell exchanges with, over open faces. */
typedef int32_t exchange_fn(const fit *f, size_t at, size_t next);

static int32_t exchanged(const fit *f, size_t at, int but, exchange_fn *fn)
{
    const ptrdiff_t *step = f->v->mac.step;
    int32_t sum = 0;
    for (int way = 0; way < 6; way++) {
        const int a = way / 2;
        const size_t next = way % 2 ? at + (size_t)step[a] : at - (size_t)step[a];
        if (a != but && f->v->parts->own[next] && f->walls->open[a][way % 2 ? at : next] > 0)
            sum += fn(f, at, next);
    }
    return sum;
}

static int32_t evened(const fit *f, size_t at, size_t next)
{
    const und_volume_parts *p = f->v->parts;
    return p->mark[next] & EVENS ? (int32_t)(EVEN * (float)(p->extra[next] - p->extra[at])) : 0;
}

static int32_t levelled(const fit *f, size_t at, size_t next)
{
    return f->v->film[next] ? und_volume_levelling(f->v->c[next], f->v->c[at], f->level) : 0;
}

/* Films that lie on something level out. */
static void level_films(const fit *f)
{
    const und_volume_parts *p = f->v->parts;
    int32_t *c = f->v->c;
    for (int round = 0; round < LEVELLING; round++) {
        UND_VOLUME_EACH(f->v, p->count, at, p->list)
        p->spare[at] = f->v->film[at] ? exchanged(f, at, 1, levelled) : 0;
        UND_VOLUME_EACH(f->v, p->count, at, p->list)
        if (f->v->film[at])
            p->part[at] = c[at] += p->spare[at];
    }
}

/* The neighbour that is nearest to the surface. */
static uint8_t to_surface(const fit *f, size_t at)
{
    const und_volume *v = f->v;
    float best = fabsf(f->phi[at]) - 0.05f;
    uint8_t to = UND_VOLUME_STAY;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + v->parts->around[k]);
        const float there = fabsf(f->phi[next]);
        if (there < best && there < NEAR && v->parts->own[next] && !is_held(f, next) &&
            und_volume_room(f->walls, next) > LEAST_ROOM && und_volume_linked(v, f->walls, at, k)) {
            best = there;
            to = (uint8_t)k;
        }
    }
    return to;
}

static void bring_to_surface(const fit *f)
{
    und_volume_parts *p = f->v->parts;
    for (int round = 0; round < TO_SURFACE; round++) {
        UND_VOLUME_EACH(f->v, p->count, at, p->list)
        p->to[at] =
            p->mark[at] & EVENS || f->v->film[at] || p->extra[at] == 0 ? UND_VOLUME_STAY : to_surface(f, at);
        und_volume_hand_over(f->v, p->extra, p->list, p->count);
    }
}

static void even_out(const fit *f)
{
    const und_volume_parts *p = f->v->parts;
    for (int round = 0; round < EVENING; round++) {
        UND_VOLUME_EACH(f->v, p->count, at, p->list)
        p->spare[at] = p->mark[at] & EVENS ? exchanged(f, at, -1, evened) : 0;
        UND_VOLUME_EACH(f->v, p->count, at, p->list)
        p->extra[at] += p->spare[at];
    }
}

/* ---- Debts ---- */

static uint8_t fullest(const fit *f, size_t at)
{
    int32_t best = 0;
    uint8_t to = UND_VOLUME_STAY;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + f->v->parts->around[k]);
        if (f->v->parts->own[next] && f->v->c[next] > best && !is_held(f, next) &&
            und_volume_linked(f->v, f->walls, at, k)) {
            best = f->v->c[next];
            to = (uint8_t)k;
        }
    }
    return to;
}

/* What cells owe is paid by their fullest neighbours. */
static void pay(const fit *f)
{
    und_volume_parts *p = f->v->parts;
    for (int round = 0; round < PAYING; round++) {
        UND_VOLUME_EACH(f->v, p->count, at, p->list)
        p->to[at] = f->v->c[at] < 0 ? fullest(f, at) : UND_VOLUME_STAY;
        und_volume_hand_over(f->v, f->v->c, p->list, p->count);
    }
}

/* ---- phi ---- */

/* What cells around have too much, and their area, by und_volume_weight; beside walls that no cell shows, of
 * those on the same side. */
static void sum_around(const fit *f, size_t at, float *extra, float *area)
{
    const und_volume *v = f->v;
    const ptrdiff_t *around = v->parts->around;
    const int32_t *extras = v->parts->extra + at;
    const float *areas = v->parts->area + at;
    const bool beside_thin = f->walls->room && f->walls->beside_thin[at];
    *extra = *area = 0;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        if (beside_thin && !und_volume_linked(v, f->walls, at, k))
            continue;
        *extra += und_volume_weight(k) * und_volume_cells(extras[around[k]]);
        *area += und_volume_weight(k) * areas[around[k]];
    }
}

/* Where there is next to no surface around, but liquid, some comes up. */
static float shifted(const fit *f, size_t at)
{
    const und_volume *v = f->v;
    const und_volume_parts *p = v->parts;
    const float phi = f->phi[at];
    float extra, area;
    p->spare[at] = 0;
    if (fabsf(phi) > SHIFTED)
        return phi;
    sum_around(f, at, &extra, &area);
    p->spare[at] = abs(und_volume_units(extra / WEIGHTS));
    if (area > LEAST_AREA)
        return phi - und_volume_clip(SHIFT * extra / area, MOST_SHIFT);
    const bool wet = und_volume_cells(v->c[at]) > 0.3f * und_volume_room(f->walls, at);
    return extra > 2.5f * LEAST_AREA && phi > 0 && wet ? phi - 0.3f : phi;
}

/* A film ends so far from its wall. */
static float film_surface(const fit *f, size_t at, float phi)
{
    float distance, normal[3];
    if (!(phi > 0) || !(und_volume_cells(f->v->c[at]) > 0.01f) || !f->v->film[at] ||
        !und_volume_leans(f->v, f->walls, at, &distance, normal))
        return phi;
    return fminf(phi, distance - und_volume_cells(f->v->c[at]));
}

/* Once; what is then still to be shown around cells, all together. */
static int64_t shift(const fit *f, bool first)
{
    und_volume *v = f->v;
    und_volume_parts *p = v->parts;
    float *next = p->fraction;
    int64_t left = 0;
    set_parts(f);
    if (first)
        level_films(f);
    bring_to_surface(f);
    even_out(f);
    int32_t owing = 0;
    UND_VOLUME_EACH(v, p->count, at, p->list)
    {
        v->c[at] = p->part[at] + p->extra[at];
        if (v->c[at] < 0)
            __atomic_store_n(&owing, 1, __ATOMIC_RELAXED);
    }
    if (owing)
        pay(f);
    UND_VOLUME_EACH(v, p->count, at, p->list)
    {
        const int32_t extra = v->c[at] - p->part[at], most = UND_VOLUME_ONE;
        p->extra[at] = !(p->mark[at] & COUNTS) ? 0 : extra > most ? most : extra < -most ? -most : extra;
        p->area[at] = p->mark[at] & COUNTS ? p->area[at] : 0;
    }
    UND_VOLUME_EACH(v, p->count, at, p->list)
    next[at] = shifted(f, at);
    UND_VOLUME_EACH(v, p->count, at, p->list)
    f->phi[at] = film_surface(f, at, next[at]);
    for (int i = 0; i < p->count; i++)
        left += p->spare[p->list[i]];
    return left;
}

void und_volume_fit(und_volume *v, und_distance *d, const und_volume_walls *walls, float level)
{
    const fit f = {v, walls, d->phi, level};
    und_volume_leave_solids(v, d, walls);
    memset(v->film, 0, v->mac.count);
    memset(v->parts->extra, 0, v->mac.count * sizeof *v->parts->extra); /* of cells that are not looked at */
    memset(v->parts->area, 0, v->mac.count * sizeof *v->parts->area);
    und_volume_list(v, look_near, is_near, &f);
    const double enough = SHOWN * (double)und_volume_sum(v);
    for (int round = 0; round < SHIFTS && (double)shift(&f, round == 0) > enough; round++)
        ;
    und_distance_refresh(d);
}
