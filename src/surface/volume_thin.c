/* Liquid in the air that is thinner than cells: sheets, threads and rims, and what phi shows nothing of. */
#include "surface/distance_parts.h"
#include "surface/volume_parts.h"

#include <math.h>

enum { GATHERING = 3 }; /* rounds */
enum { NOT, THIN, LOOSE };
static const float LEAST_ROOM = 0.02f;
static const float FROM_WALL = 1.5f; /* cells */
static const float BULK = -1;        /* cells: phi of liquid that is no longer thin */
static const float GONE = 0.5f;      /* cells: phi where all has left */

typedef struct thin {
    und_volume *v;
    const und_volume_walls *walls;
    float *phi;
} thin;

/* ---- Sheets and threads ---- */

/* What the cells around hold, as a sheet's thickness; INFINITY beside walls. */
static float thickness_at(const thin *t, size_t at)
{
    const und_volume *v = t->v;
    const bool flat = v->mac.n[2] == 1;
    float sum = 0;
    if (t->walls->room && (t->walls->distance[at] < FROM_WALL || t->walls->beside_thin[at]))
        return INFINITY;
    for (int k = flat ? 9 : 0; k < (flat ? 18 : UND_VOLUME_AROUND); k++) {
        const size_t next = (size_t)((ptrdiff_t)at + v->parts->around[k]);
        if (!v->parts->own[next])
            return INFINITY;
        sum += und_volume_cells(v->c[next]);
    }
    return sum / (flat ? 3 : 9);
}

/* Whether it is so deep in the next cell along an axis: a first look. */
static bool is_bulk_beside(const thin *t, size_t at)
{
    const ptrdiff_t *step = t->v->mac.step;
    for (int a = 0; a < 3; a++)
        if (t->phi[(ptrdiff_t)at + step[a]] < BULK || t->phi[(ptrdiff_t)at - step[a]] < BULK)
            return true;
    return false;
}

/* Whether there is more of it within two cells. */
static bool is_bulk_near(const thin *t, size_t at)
{
    const und_mac *m = &t->v->mac;
    int cell[3], low[3], high[3];
    und_volume_cell(m, at, cell);
    for (int a = 0; a < 3; a++) {
        low[a] = cell[a] > 2 ? cell[a] - 2 : 0;
        high[a] = cell[a] + 2 < m->n[a] ? cell[a] + 2 : m->n[a] - 1;
    }
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++)
                if (t->phi[und_mac_at(m, x, y, z)] < BULK)
                    return true;
    return false;
}

/* ---- Beads ---- */

/* Liquid of which phi shows nothing, nor is any near. */
static bool is_loose(const thin *t, size_t at)
{
    const und_volume *v = t->v;
    float distance, normal[3];
    if (t->phi[at] < 0.9f || und_volume_room(t->walls, at) < LEAST_ROOM ||
        und_volume_leans(v, t->walls, at, &distance, normal))
        return false;
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        if (t->phi[(ptrdiff_t)at + v->parts->around[k]] < 0.3f)
            return false;
    return true;
}

/* The neighbour of those that holds most, and more than the cell itself. */
static uint8_t larger_bead(const thin *t, size_t at)
{
    const und_volume *v = t->v;
    size_t best = at;
    uint8_t to = UND_VOLUME_STAY;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + v->parts->around[k]);
        if (!v->parts->own[next] || v->parts->mark[next] != LOOSE || !und_volume_linked(v, t->walls, at, k))
            continue;
        if (v->c[next] > v->c[best] || (v->c[next] == v->c[best] && next < best)) {
            best = next;
            to = (uint8_t)k;
        }
    }
    return to;
}

static void gather(const thin *t)
{
    und_volume_parts *p = t->v->parts;
    for (int round = 0; round < GATHERING; round++) {
        UND_VOLUME_EACH(t->v, p->count, at, p->list)
        p->to[at] = p->mark[at] == LOOSE && t->v->c[at] > 0 ? larger_bead(t, at) : UND_VOLUME_STAY;
        und_volume_hand_over(t->v, t->v->c, p->list, p->count);
    }
}

/* ---- Both ---- */

/* Which a cell is, and the thickness there. */
static uint8_t kind_at(const thin *t, size_t at, float *thickness)
{
    *thickness = 0;
    if (!(t->v->c[at] > 0 && t->phi[at] > BULK))
        return NOT;
    if (is_loose(t, at))
        return LOOSE;
    if (is_bulk_beside(t, at))
        return NOT;
    *thickness = thickness_at(t, at);
    return *thickness < 1 && !is_bulk_near(t, at) ? THIN : NOT;
}

/* Of the cells that und_volume_fit looked at. */
static void choose(const thin *t)
{
    und_volume_parts *p = t->v->parts;
    int count = 0;
    UND_VOLUME_EACH(t->v, p->count, at, p->list)
    p->mark[at] = kind_at(t, at, &p->area[at]);
    for (int i = 0; i < p->count; i++)
        if (p->mark[p->list[i]] != NOT)
            p->list[count++] = p->list[i];
    p->count = count;
}

void und_volume_thin(und_volume *v, und_distance *d, const und_volume_walls *walls, und_volume_thin_fn *fn,
                     void *context)
{
    const thin t = {v, walls, d->phi};
    const und_volume_parts *p = v->parts;
    choose(&t);
    gather(&t);
    for (int i = 0; i < p->count; i++) {
        const size_t at = (size_t)p->list[i];
        int cell[3];
        und_volume_cell(&v->mac, at, cell);
        if (v->c[at] > 0)
            v->c[at] -= fn(context, cell, at, p->area[at]);
        if (v->c[at] == 0 && d->phi[at] < GONE) {
            d->phi[at] = GONE;
            und_distance_refresh_row(d, cell[1], cell[2]);
        }
    }
}
