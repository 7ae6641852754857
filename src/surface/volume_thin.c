/* Liquid in the air that is thinner than cells: sheets, threads and rims, and what phi shows nothing of. */
#include "surface/distance_parts.h"
#include "surface/volume_parts.h"

#include <math.h>

enum { GATHERING = 3 }; /* rounds */
enum { NOT, THIN, LOOSE };
enum { MOST_ALONG = 8 * UND_VOLUME_ONE };
static const float LEAST_ROOM = 0.02f;
static const float FROM_WALL = 1.5f; /* cells */
static const float BULK = -1;        /* cells: phi of liquid that is no longer thin */
static const float GONE = 0.5f;      /* cells: phi where all has left */
static const float OUT = 0.9f;       /* cells: phi of what it shows nothing of */

typedef struct thin {
    und_volume *v;
    const und_volume_walls *walls;
    float *phi;
} thin;

/* ---- Sheets and threads ---- */

/* What the cells around each of a chunk's hold, as a sheet's thickness. */
static und_lanes thicknesses(const thin *t, const und_volume_chunk *chunk)
{
    const und_volume *v = t->v;
    const bool flat = v->mac.n[2] == 1;
    und_lanes sum = {0};
    for (int k = flat ? 9 : 0; k < (flat ? 18 : UND_VOLUME_AROUND); k++)
        sum += und_volumes_cells(und_lanes_int_load(v->c + chunk->at + v->parts->around[k]));
    return sum / (flat ? 3.0f : 9.0f);
}

static int clip_to(int at, int count)
{
    return at < 0 ? 0 : at < count ? at : count - 1;
}

/* Whether that is not known: beside walls, and other grids. */
static bool is_beside(const thin *t, size_t at)
{
    const und_volume *v = t->v;
    const bool flat = v->mac.n[2] == 1;
    if (t->walls->room && (t->walls->distance[at] < FROM_WALL || t->walls->beside_thin[at]))
        return true;
    for (int k = flat ? 9 : 0; k < (flat ? 18 : UND_VOLUME_AROUND); k++)
        if (!v->parts->own[(ptrdiff_t)at + v->parts->around[k]])
            return true;
    return false;
}

/* Bits of a chunk's cells that may be either: no other along an axis is so deep that they are not thin, nor
 * are they so far out that they may be loose. */
static unsigned may_be_thin(const thin *t, const und_volume_chunk *k)
{
    const float *phi = t->phi + k->at;
    const und_lanes own = und_lanes_load(phi);
    und_lanes_int bulk = {0};
    for (int a = 0; a < 3; a++) {
        const ptrdiff_t step = t->v->mac.step[a];
        bulk |= (und_lanes_load(phi + step) < BULK) | (und_lanes_load(phi - step) < BULK);
    }
    return k->bits &
           und_lanes_bits((und_lanes_int_load(t->v->c + k->at) > 0) & (own > BULK) & (~bulk | (own >= OUT)));
}

/* Of a chunk's cells those that have more of it within two cells; for a row beyond the domain stands its
 * last.
 */
static unsigned bulk_near(const thin *t, const und_volume_chunk *k)
{
    enum { REACH = 2, ACROSS = 2 * REACH + 1 };
    const und_mac *m = &t->v->mac;
    und_lanes least = und_lanes_load(t->phi + k->at);
    und_lanes_int there[ACROSS];
    int cell[3];
    und_volume_cell(m, (size_t)k->at, cell);
    for (int i = 0; i < ACROSS; i++) {
        const und_lanes x = und_lanes_count() + (float)(cell[0] + i - REACH);
        there[i] = (x >= 0) & (x < (float)m->n[0]);
    }
    for (int row = 0; row < ACROSS * ACROSS; row++) {
        const int y = clip_to(cell[1] + row % ACROSS - REACH, m->n[1]);
        const int z = clip_to(cell[2] + row / ACROSS - REACH, m->n[2]);
        const float *from = t->phi + und_mac_at(m, cell[0], y, z) - REACH;
        for (int i = 0; i < ACROSS; i++)
            least = und_lanes_min(und_lanes_select(there[i], und_lanes_load(from + i), least), least);
    }
    return und_lanes_bits(least < und_lanes_all(BULK));
}

/* ---- Beads ---- */

/* Liquid of which phi shows nothing, nor is any near. */
static bool is_loose(const thin *t, size_t at)
{
    const und_volume *v = t->v;
    float distance, normal[3];
    if (t->phi[at] < OUT || und_volume_room(t->walls, at) < LEAST_ROOM ||
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
        UND_VOLUME_EACH_CHUNK(t->v, k)
        {
            k->gives = 0;
            UND_VOLUME_OF_CHUNK(k, k->some, at)
            if (p->mark[at] == LOOSE && t->v->c[at] > 0) {
                p->to[at] = larger_bead(t, at);
                k->gives |= (uint16_t)(1u << (at - (size_t)k->at));
            }
        }
        und_volume_hand_over(t->v, t->v->c);
    }
}

/* ---- Both ---- */

/* Which of the two a cell that may be is. */
static uint8_t kind_at(const thin *t, size_t at, bool may_be_thin)
{
    return is_loose(t, at) ? LOOSE : may_be_thin && !is_beside(t, at) ? THIN : NOT;
}

/* Of the cells that und_volume_fit looked at. */
static void choose(const thin *t)
{
    und_volume_parts *p = t->v->parts;
    UND_VOLUME_EACH_CHUNK(t->v, k)
    {
        const und_volume_chunk *const ahead = und_volume_ahead(k, end_);
        __builtin_prefetch(t->phi + ahead->at + t->v->mac.step[2]);
        __builtin_prefetch(t->v->c + ahead->at + t->v->mac.step[2]);
        k->some = 0;
        und_lanes_bytes_store_some(p->mark + k->at, (und_lanes_int){0} + NOT, k->bits);
        const unsigned may_be = may_be_thin(t, k);
        if (!may_be)
            continue;
        const und_lanes thickness = thicknesses(t, k);
        const unsigned out = may_be & und_lanes_bits(und_lanes_load(t->phi + k->at) >= OUT);
        unsigned thinner = may_be & und_lanes_bits(thickness < und_lanes_all(1));
        thinner &= thinner ? ~bulk_near(t, k) : 0;
        UND_VOLUME_OF_CHUNK(k, out | thinner, at)
        {
            const int i = (int)(at - (size_t)k->at);
            p->mark[at] = kind_at(t, at, thinner >> i & 1);
            p->fraction[at] = p->mark[at] == LOOSE ? 0 : thickness[i];
            k->some |= (uint16_t)((p->mark[at] != NOT) << i);
        }
    }
}

/* Of those the ones that break up now. */
static void choose_breaking(const thin *t, und_volume_breaks_fn *breaks, const void *context)
{
    const und_volume *v = t->v;
    UND_VOLUME_EACH_CHUNK(v, k)
    {
        k->gives = 0;
        UND_VOLUME_OF_CHUNK(k, k->some, at)
        {
            int cell[3];
            und_volume_cell(&v->mac, at, cell);
            k->gives |= (uint16_t)((v->c[at] > 0 && breaks(context, cell, v->parts->fraction[at]))
                                   << (at - (size_t)k->at));
        }
    }
}

/* Whether neighbour k is as thin, so that drops of a cell may take some of it along. */
static bool goes_along(const thin *t, size_t at, int k, size_t *next)
{
    const und_volume *v = t->v;
    *next = (size_t)((ptrdiff_t)at + v->parts->around[k]);
    return *next != at && v->parts->mark[*next] != NOT && v->parts->own[*next] && v->c[*next] > 0 &&
           und_volume_linked(v, t->walls, at, k);
}

static int32_t thin_around(const thin *t, size_t at)
{
    int64_t sum = 0;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        size_t next;
        if (goes_along(t, at, k, &next))
            sum += t->v->c[next];
    }
    return (int32_t)(sum < MOST_ALONG ? sum : MOST_ALONG);
}

/* phi shows as much less of the cell, or none where all has left. */
static void take(und_volume *v, und_distance *d, size_t at, int32_t amount)
{
    int cell[3];
    v->c[at] -= amount;
    if (!(d->phi[at] < GONE))
        return;
    und_volume_cell(&v->mac, at, cell);
    d->phi[at] = v->c[at] == 0 ? GONE : fminf(d->phi[at] + und_volume_cells(amount), GONE);
    und_distance_refresh_at(d, cell[1], cell[2]);
}

/* First of the cell itself. */
static void take_away(const thin *t, und_distance *d, size_t at, int32_t amount)
{
    und_volume *v = t->v;
    int32_t part = amount < v->c[at] ? amount : v->c[at];
    if (part > 0 || v->c[at] == 0)
        take(v, d, at, part);
    amount -= part;
    for (int k = 0; k < UND_VOLUME_AROUND && amount > 0; k++) {
        size_t next;
        if (!goes_along(t, at, k, &next))
            continue;
        part = amount < v->c[next] ? amount : v->c[next];
        take(v, d, next, part);
        amount -= part;
    }
}

void und_volume_thin(und_volume *v, und_distance *d, const und_volume_walls *walls,
                     und_volume_breaks_fn *breaks, und_volume_thin_fn *fn, void *context)
{
    const thin t = {v, walls, d->phi};
    const und_volume_parts *p = v->parts;
    choose(&t);
    gather(&t);
    choose_breaking(&t, breaks, context);
    for (const und_volume_chunk *k = p->chunk; k < p->chunk + p->chunk_count; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
        {
            int cell[3];
            und_volume_cell(&v->mac, at, cell);
            if (v->c[at] > 0)
                take_away(&t, d, at, fn(context, cell, at, thin_around(&t, at)));
        }
}
