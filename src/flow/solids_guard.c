/* Liquid does not pass walls.  What follows a surface along the flow sees values on both sides of a wall that
 * is thinner than its stencil; so after each step a cell near solids is liquid only if some was within reach
 * over open faces, and is not liquid any more only if some that was not was within reach. */
#include "flow/solids_parts.h"

#include <string.h>

enum { MOST_STEPS = 5, SIDE = 2 * MOST_STEPS + 1, VOLUME = SIDE * SIDE * SIDE };
static const float NEAR = 4;    /* cells */
static const float PUSH = 0.5f; /* cells: from the surface to cells that are put back on their side */

static bool inside(const und_mac *m, const int cell[3])
{
    for (int a = 0; a < 3; a++)
        if (cell[a] < 0 || cell[a] >= m->n[a])
            return false;
    return true;
}

/* Cells that a search has come to, relative to where it began. */
typedef struct search {
    bool seen[VOLUME];
    int16_t list[VOLUME];
    int count;
} search;

static int number_of(const int by[3])
{
    return ((by[2] + MOST_STEPS) * SIDE + by[1] + MOST_STEPS) * SIDE + by[0] + MOST_STEPS;
}

static void come_to(search *f, const int by[3])
{
    int k = number_of(by);
    if (!f->seen[k])
        f->list[f->count++] = (int16_t)k;
    f->seen[k] = true;
}

/* Whether a cell of the set (or, where it is asked for, one not of it) is at most so many steps away, each
 * over an open face; *any: whether the cell has an open face at all. */
static bool within_reach(const und_solids *s, const und_mask *set, bool asked, const int cell[3], int steps,
                         bool *any)
{
    const und_mac *m = &s->mac;
    search f;
    memset(f.seen, 0, sizeof f.seen);
    f.count = 0;
    come_to(&f, (const int[3]){0, 0, 0});
    for (int step = 0, begin = 0; step < steps && begin < f.count; step++) {
        int end = f.count;
        for (; begin < end; begin++) {
            int k = f.list[begin];
            int by[3] = {k % SIDE - MOST_STEPS, k / SIDE % SIDE - MOST_STEPS, k / SIDE / SIDE - MOST_STEPS};
            for (int way = 0; way < 6; way++) {
                int a = way / 2, next[3] = {by[0], by[1], by[2]};
                next[a] += way % 2 ? 1 : -1;
                const int to[3] = {cell[0] + next[0], cell[1] + next[1], cell[2] + next[2]};
                size_t at = und_mac_at(m, cell[0] + by[0], cell[1] + by[1], cell[2] + by[2]);
                if (!(s->open[a][way % 2 ? at : at - (size_t)m->step[a]] > 0))
                    continue;
                *any = true;
                if (!inside(m, to) ? !asked : und_mask_has(set, to[0], to[1], to[2]) == asked)
                    return true;
                if (inside(m, to))
                    come_to(&f, next);
            }
        }
    }
    return false;
}

static void guard_cell(const und_solids *s, const und_mask *was, float *phi, int steps, const int cell[3])
{
    const size_t at = und_mac_at(&s->mac, cell[0], cell[1], cell[2]);
    const bool liquid = phi[at] < 0;
    bool any = false;
    if (!liquid && s->separate && und_mask_has(&s->loose, cell[0], cell[1], cell[2]))
        return; /* it came off */
    if (!(s->distance[at] < NEAR) || within_reach(s, was, liquid, cell, steps, &any) || !any)
        return;
    double part = 0.5 - (double)phi[at], room = (double)s->room[at];
    if (liquid)
        s->parts->leaks[cell[2] * s->count + s->owner[at]] += (part < 1 ? part : 1) * room;
    phi[at] = liquid ? PUSH : -PUSH;
}

/* A cell that a thin wall is in, or has passed, is as its neighbours are on the side where it will be when
 * the wall has gone on. */
static void settle_cell(const und_solids *s, float *phi, const int cell[3])
{
    const und_mac *m = &s->mac;
    bool any = false, liquid = false;
    size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    for (int way = 0; way < (m->n[2] > 1 ? 6 : 4); way++) {
        int to[3] = {cell[0], cell[1], cell[2]};
        to[way / 2] += way % 2 ? 1 : -1;
        size_t next = und_mac_at(m, to[0], to[1], to[2]);
        if (!inside(m, to) || s->parts->thin[next] == UND_THIN_SHUT || !und_solids_side_of(s, cell, to))
            continue;
        any = true;
        liquid |= phi[next] < 0;
    }
    if (any && liquid != (phi[at] < 0))
        phi[at] = liquid ? -PUSH : PUSH;
}

typedef struct guarding {
    const und_solids *s;
    const und_mask *was;
    float *phi;
    int steps;
} guarding;

static inline void guard_row(const guarding *g, und_place p)
{
    const float *row = g->phi + p.at;
    for (int x = 0; x < g->s->mac.n[0]; x++)
        if ((row[x] < 0) != und_mask_has(g->was, x, p.y, p.z))
            guard_cell(g->s, g->was, g->phi, g->steps, (const int[3]){x, p.y, p.z});
}
UND_KERNEL(guard_row, guarding, UND_EACH_ROW)

static inline void settle_row(const guarding *g, und_place p)
{
    const uint8_t *thin = g->s->parts->thin + p.at;
    for (int x = 0; x < g->s->mac.n[0]; x++)
        if (thin[x] == UND_THIN_SHUT)
            settle_cell(g->s, g->phi, (const int[3]){x, p.y, p.z});
}
UND_KERNEL(settle_row, guarding, UND_EACH_ROW)

/* What is within reach, of a cell and of those beside it; what each slice has lost. */
static void get_around(const guarding *g)
{
    const und_solids *s = g->s;
    const und_mac *m = &s->mac;
    const und_halo_field halo[] = {und_halo_of_mask(m, g->was, g->steps + 1),
                                   und_halo_of(m, g->phi, sizeof *g->phi, 1),
                                   und_halo_of_mask(m, &s->loose, 1)};
    und_halo_get(s->device.halo, halo, s->separate ? 3 : 2);
}
static void get_leaks(const und_solids *s)
{
    und_halo_field leaks =
        und_halo_of_slices(&s->mac, s->parts->leaks, sizeof *s->parts->leaks, 0, s->mac.n[2]);
    leaks.step = s->count;
    leaks.count = (size_t)s->count;
    und_halo_get(s->device.halo, &leaks, 1);
}

void und_solids_guard(const und_solids *s, const und_mask *was, float *phi, int steps, double *leaked)
{
    const und_mac *m = &s->mac;
    if (!s->any)
        return;
    const size_t slices = (size_t)m->n[2], count = (size_t)s->count;
    const guarding g = {s, was, phi, steps < MOST_STEPS ? steps : MOST_STEPS};
    und_set rows = und_set_slices(m, UND_ROWS_INSIDE);
    rows.per_block = rows.wide; /* in two dimensions too, as each slice has its own leaks */
    rows.blocks = m->n[2];
    const und_pass guard = UND_PASS(guard_row, &g, &rows), settle = UND_PASS(settle_row, &g, &rows);
    const und_step steps_of[2] = {{.passes = &guard, .count = 1}, {.passes = &settle, .count = 1}};
    memset(s->parts->leaks, 0, slices * count * sizeof *s->parts->leaks);
    get_around(&g);
    und_pass_steps(&s->device, steps_of, s->parts->some_move ? 2 : 1);
    if (leaked)
        get_leaks(s);
    for (size_t k = 0; leaked && k < slices * count; k++)
        leaked[k % count] += s->parts->leaks[k] * m->d[0] * m->d[1] * m->d[2];
}
