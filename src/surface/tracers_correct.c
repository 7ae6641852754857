/* Particles on the wrong side of the surface put the level set right. */
#include "surface/tracers_parts.h"

#include <math.h>

/* On the wrong side by more than their radius. */
UND_INLINE und_lanes_int is_escaped(und_lanes phi, und_lanes radius)
{
    return (phi + radius) * radius < 0;
}

/* Lists those of a block that are, in order. */
UND_INLINE void list_block(und_tracers *t, const und_distance *d, int block)
{
    int begin = block * UND_TRACERS_BLOCK, end = und_tracers_block_end(t, block);
    int32_t *list = t->parts->order + begin, count = 0;
    for (int i = begin; i < end; i += UND_LANES) {
        und_lanes phi = und_tracers_field(t, d->phi, i), radius = und_lanes_load(t->radius + i);
        unsigned bits = und_tracers_bits(is_escaped(phi, radius)) & und_tracers_before(i, end);
        for (; bits; bits &= bits - 1)
            list[count++] = i + __builtin_ctz(bits);
    }
    t->parts->block_count[block] = count;
}

/* A part of the domain, which one thread puts right: every `parts`th group of planes. */
typedef struct share {
    int part, parts;
} share;

enum { PLANES = 4 };

typedef void corner_fn(und_tracers *t, und_distance *d, const int at[3], int i);

/* Calls fn for the middles of cells around particle i that are this share's. */
UND_INLINE void for_corners(und_tracers *t, und_distance *d, share s, int i, corner_fn *fn)
{
    const und_mac *m = &t->mac;
    int low[3], axis = und_tracers_axis(m);
    for (int a = 0; a < 3; a++) {
        float place = t->place[a][i];
        bool there = place > (float)m->low[a] && place <= (float)(m->low[a] + m->n[a]);
        low[a] = there ? (int)(place + 0.5F) - 1 - m->low[a] : -1;
    }
    for (int k = 0; k < (m->n[2] == 1 ? 4 : 8); k++) {
        const int at[3] = {low[0] + (k & 1), low[1] + (k >> 1 & 1), m->n[2] == 1 ? 0 : low[2] + (k >> 2)};
        bool inside = true;
        for (int a = 0; a < 3; a++)
            inside &= at[a] >= 0 && at[a] < m->n[a];
        if (inside && at[axis] / PLANES % s.parts == s.part)
            fn(t, d, at, i);
    }
}

UND_INLINE void take_phi(und_tracers *t, und_distance *d, const int at[3], int i)
{
    (void)i;
    size_t cell = und_mac_at(&t->mac, at[0], at[1], at[2]);
    t->parts->above[cell] = t->parts->below[cell] = d->phi[cell];
}

/* phi of the sphere that a particle is. */
UND_INLINE void reach_cell(und_tracers *t, und_distance *d, const int at[3], int i)
{
    (void)d;
    size_t cell = und_mac_at(&t->mac, at[0], at[1], at[2]);
    float square = 0, *above = &t->parts->above[cell], *below = &t->parts->below[cell];
    for (int a = 0; a < 3; a++) {
        float way = (float)(at[a] + t->mac.low[a]) + 0.5F - t->place[a][i];
        square += way * way;
    }
    float inside = fabsf(t->radius[i]) - sqrtf(square);
    if (t->radius[i] > 0)
        *above = *above > inside ? *above : inside;
    else
        *below = *below < -inside ? *below : -inside;
}

/* Whichever is nearer to the surface; into the layer beside the domain too. */
UND_INLINE void settle_cell(und_tracers *t, und_distance *d, const int at[3], int i)
{
    (void)i;
    const und_mac *m = &t->mac;
    size_t cell = und_mac_at(m, at[0], at[1], at[2]);
    float above = t->parts->above[cell], below = t->parts->below[cell];
    float phi = fabsf(above) < fabsf(below) ? above : below;
    int low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = at[a] == 0 ? -1 : at[a];
        high[a] = at[a] == m->n[a] - 1 ? m->n[a] : at[a];
    }
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++)
                d->phi[und_mac_at(m, x, y, z)] = phi;
    if (fabsf(phi) < (float)d->width)
        und_mask_add(&d->band, at[0], at[1], at[2]);
}

UND_INLINE void for_listed(und_tracers *t, und_distance *d, share s, corner_fn *fn)
{
    int blocks = und_tracers_blocks(t->count);
    for (int block = 0; block < blocks; block++) {
        const int32_t *list = t->parts->order + (size_t)block * UND_TRACERS_BLOCK;
        for (int32_t k = 0; k < t->parts->block_count[block]; k++)
            for_corners(t, d, s, list[k], fn);
    }
}

static void put_right(und_tracers *t, und_distance *d, share s)
{
    for_listed(t, d, s, take_phi);
    for_listed(t, d, s, reach_cell);
    for_listed(t, d, s, settle_cell);
}

/* ---- What the grid cannot hold ----
 *
 * Beyond the liquid the flow is made up: where liquid closes in on air it leads air into the liquid, and what
 * leaves the liquid is thinner than cells.  The liquid's own flow keeps its volume, and so the number of its
 * particles in a cell tells how much of it there is.  Escaped air among much liquid was overrun, and goes;
 * escaped liquid where there is little of it is on its own. */

typedef void listed_fn(und_tracers *t, int32_t *list, int32_t *count, const und_tracers_lost *lost);

static void for_lists(und_tracers *t, listed_fn *fn, const und_tracers_lost *lost)
{
    int blocks = und_tracers_blocks(t->count);
    for (int block = 0; block < blocks; block++)
        fn(t, t->parts->order + (size_t)block * UND_TRACERS_BLOCK, &t->parts->block_count[block], lost);
}

static void mark_cells(und_tracers *t, int32_t *list, int32_t *count, const und_tracers_lost *lost)
{
    (void)lost;
    for (int32_t k = 0; k < *count; k++)
        t->parts->liquid[und_tracers_cell(t, list[k])] = 1;
}
static void unmark_cells(und_tracers *t, int32_t *list, int32_t *count, const und_tracers_lost *lost)
{
    (void)lost;
    for (int32_t k = 0; k < *count; k++)
        t->parts->liquid[und_tracers_cell(t, list[k])] = 0;
}

/* One more than how many of the liquid there are, in cells that are marked. */
static void count_liquid(und_tracers *t, int begin, int end)
{
    enum { ENOUGH = 200 };
    for (int i = begin; i < end; i++) {
        uint8_t *liquid = &t->parts->liquid[und_tracers_cell(t, i)];
        if (*liquid && *liquid < ENOUGH && t->radius[i] < 0)
            __atomic_fetch_add(liquid, 1, __ATOMIC_RELAXED);
    }
}

/* Whether what the cells around one hold says that it is wrong. */
static bool disproved(const und_tracers *t, const und_tracers_lost *lost, int i)
{
    const und_mac *m = &t->mac;
    const bool air = t->radius[i] > 0;
    int at[3], low[3], high[3];
    und_tracers_cell_at(t, i, at);
    for (int a = 0; a < 3; a++) {
        low[a] = at[a] > 0 ? at[a] - 1 : 0;
        high[a] = at[a] < m->n[a] - 1 ? at[a] + 1 : at[a];
    }
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                const int32_t held = lost->held[und_mac_at(m, x, y, z)];
                if (air ? held <= lost->most : held >= lost->least)
                    return false;
            }
    return true;
}

/* Those that go have no radius. */
static void judge(und_tracers *t, int32_t *list, int32_t *count, const und_tracers_lost *lost)
{
    float much = lost->much * (float)t->def.per_cell, little = lost->little * (float)t->def.per_cell;
    for (int32_t k = 0; k < *count; k++) {
        int32_t i = list[k];
        const size_t cell = und_tracers_cell(t, i);
        const int liquid = t->parts->liquid[cell] - 1;
        const bool air = t->radius[i] > 0;
        if (lost->held ? !disproved(t, lost, i) : (air ? (float)liquid < much : (float)liquid >= little))
            continue;
        const float place[3] = {t->place[0][i], t->place[1][i], t->place[2][i]};
        if (!air && lost->fn)
            lost->fn(lost->context, place, t->radius[i]);
        t->radius[i] = 0;
    }
}
static void keep_others(und_tracers *t, int32_t *list, int32_t *count, const und_tracers_lost *lost)
{
    (void)lost;
    int32_t kept = 0;
    for (int32_t k = 0; k < *count; k++)
        if (t->radius[list[k]] != 0)
            list[kept++] = list[k];
    *count = kept;
}

static void take_lost(und_tracers *t, const und_tracers_lost *lost)
{
    int blocks = und_tracers_blocks(t->count);
    if (!lost->held) {
        for_lists(t, mark_cells, lost);
        PARALLEL_FOR(und_tracers_workers(t))
        for (int block = 0; block < blocks; block++)
            count_liquid(t, block * UND_TRACERS_BLOCK, und_tracers_block_end(t, block));
    }
    for_lists(t, judge, lost);
    if (!lost->held)
        for_lists(t, unmark_cells, lost);
    for_lists(t, keep_others, lost);
}

/* phi+ is the largest of phi and of the spheres of the escaped air, phi- the least of phi and of those of the
 * liquid; what is nearer to 0 is taken (Enright et al. 2002, eq. 11 to 13). */
void und_tracers_correct(und_tracers *t, und_distance *d, const und_tracers_lost *lost)
{
    enum { ENOUGH = 1 << 12 };
    int blocks = und_tracers_blocks(t->count);
    PARALLEL_FOR(und_tracers_workers(t))
    for (int block = 0; block < blocks; block++)
        list_block(t, d, block);
    size_t escaped = 0;
    for (int block = 0; block < blocks; block++)
        escaped += (size_t)t->parts->block_count[block];
    if (escaped > 0 && lost)
        take_lost(t, lost);
    int workers = und_workers(t->threads, escaped, ENOUGH);
    PARALLEL_FOR(workers)
    for (int part = 0; part < workers; part++)
        put_right(t, d, (share){part, workers});
}
