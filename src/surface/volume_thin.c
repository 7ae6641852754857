/* Liquid in the air that is thinner than cells: sheets, threads and rims, and what phi shows nothing of. */
#include "surface/distance_parts.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <string.h>

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
    bool *none; /* is loose */
    und_volume_breaks_fn *breaks;
    const void *context;
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
 * last: first the least of all rows, then along x. */
static unsigned bulk_near(const thin *t, const und_volume_chunk *k)
{
    enum { REACH = 2, WIDE = 2 * REACH, ACROSS = WIDE + 1 };
    enum { PARTS = (int)UND_LANES > (int)WIDE ? 2 : ACROSS, APART = PARTS == 2 ? WIDE : 1 }; /* of a row */
    const und_mac *m = &t->v->mac;
    und_lanes least = und_lanes_load(t->phi + k->at), part[PARTS];
    float row[WIDE + UND_LANES];
    int cell[3];
    und_mac_cell(m, (size_t)k->at, cell);
    for (int i = 0; i < ACROSS * ACROSS; i++) {
        const int y = clip_to(cell[1] + i % ACROSS - REACH, m->n[1]);
        const int z = clip_to(cell[2] + i / ACROSS - REACH, m->n[2]);
        const float *from = t->phi + und_mac_at(m, cell[0], y, z) - REACH;
        for (int j = 0; j < PARTS; j++) {
            const und_lanes there = und_lanes_load(from + j * APART);
            part[j] = i > 0 ? und_lanes_min(there, part[j]) : there;
        }
    }
    for (int j = 0; j < PARTS; j++)
        und_lanes_store(row + j * APART, part[j]);
    for (int i = 0; i < ACROSS; i++) {
        const und_lanes x = und_lanes_count() + (float)(cell[0] + i - REACH);
        const und_lanes_int there = (x >= 0) & (x < (float)m->n[0]);
        least = und_lanes_min(und_lanes_select(there, und_lanes_load(row + i), least), least);
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

/* What is loose goes to its largest neighbour: how much, */
static inline void find_beads(const thin *t, und_place block)
{
    const und_volume *v = t->v;
    und_volume_chunk *const first = v->parts->chunk + block.at;
    for (und_volume_chunk *k = first; k < first + block.x; k++) {
        k->gives = 0;
        UND_VOLUME_OF_CHUNK(k, k->some, at)
        if (v->parts->mark[at] == LOOSE && v->c[at] > 0) {
            v->parts->to[at] = larger_bead(t, at);
            k->gives |= (uint16_t)(1u << (at - (size_t)k->at));
        }
        und_volume_set_out(v, k, v->c);
    }
}
UND_KERNEL(find_beads, thin, UND_EACH_BLOCK)

/* and then all of it. */
static inline void gather(const thin *t, und_place block)
{
    const und_volume_chunk *const first = t->v->parts->chunk + block.at;
    for (const und_volume_chunk *k = first; k < first + block.x; k++)
        und_volume_give_out(t->v, k, t->v->c);
}
UND_KERNEL(gather, thin, UND_EACH_BLOCK)

/* ---- Both ---- */

/* Which of the two a cell that may be is. */
static uint8_t kind_at(const thin *t, size_t at, bool may_be_thin)
{
    return is_loose(t, at) ? LOOSE : may_be_thin && !is_beside(t, at) ? THIN : NOT;
}

/* Of a chunk's cells those that are either. */
static unsigned choose_some(const thin *t, const und_volume_chunk *k, unsigned may_be)
{
    const und_volume_parts *p = t->v->parts;
    const und_lanes thickness = thicknesses(t, k);
    const unsigned out = may_be & und_lanes_bits(und_lanes_load(t->phi + k->at) >= OUT);
    unsigned thinner = may_be & und_lanes_bits(thickness < und_lanes_all(1)), some = 0;
    thinner &= thinner ? ~bulk_near(t, k) : 0;
    UND_VOLUME_OF_CHUNK(k, out | thinner, at)
    {
        const int i = (int)(at - (size_t)k->at);
        p->mark[at] = kind_at(t, at, thinner >> i & 1);
        p->fraction[at] = p->mark[at] == LOOSE ? 0 : thickness[i];
        some |= (unsigned)(p->mark[at] != NOT) << i;
        if (p->mark[at] == LOOSE)
            __atomic_store_n(t->none, false, __ATOMIC_RELAXED);
    }
    return some;
}

/* Of the cells that und_volume_fit looked at. */
static inline void choose(const thin *t, und_place block)
{
    const und_volume_parts *p = t->v->parts;
    und_volume_chunk *const first = p->chunk + block.at, *const end = first + block.x;
    for (und_volume_chunk *k = first; k < end; k++) {
        const ptrdiff_t ahead = und_volume_ahead(k, end)->at;
        und_volume_fetch(t->phi, ahead + t->v->mac.step[2]);
        und_volume_fetch(t->v->c, ahead + t->v->mac.step[2]);
        und_lanes_bytes_store_some(p->mark + k->at, (und_lanes_int){0} + NOT, k->bits);
        const unsigned may_be = may_be_thin(t, k);
        k->some = (uint16_t)(may_be ? choose_some(t, k, may_be) : 0);
    }
}
UND_KERNEL(choose, thin, UND_EACH_BLOCK)

/* Bits of the cells around one that are as thin, so that drops of it may take some of them along. */
static unsigned find_along(const thin *t, size_t at)
{
    const und_volume_parts *p = t->v->parts;
    unsigned along = 0;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + p->around[k]);
        if (next != at && p->mark[next] != NOT && p->own[next] && und_volume_linked(t->v, t->walls, at, k))
            along |= 1u << k;
    }
    return along;
}

/* Of those the ones that break up now; and cells that owe.  fraction[] has what is along then. */
static inline void choose_breaking(const thin *t, und_place block)
{
    const und_volume *v = t->v;
    und_volume_chunk *const first = v->parts->chunk + block.at;
    for (und_volume_chunk *k = first; k < first + block.x; k++) {
        k->gives = (uint16_t)(k->bits & und_lanes_bits(und_lanes_int_load(v->c + k->at) < 0));
        UND_VOLUME_OF_CHUNK(k, k->some, at)
        {
            int cell[3];
            und_mac_cell(&v->mac, at, cell);
            if (!(v->c[at] > 0) || !t->breaks(t->context, cell, v->parts->fraction[at]))
                continue;
            const unsigned along = find_along(t, at);
            memcpy(v->parts->fraction + at, &along, sizeof along);
            k->gives |= (uint16_t)(1u << (at - (size_t)k->at));
        }
    }
}
UND_KERNEL(choose_breaking, thin, UND_EACH_BLOCK)

static void find_breaking(const thin *t)
{
    enum { STEPS = 2 + 2 * GATHERING };
    const und_set chunks = und_volume_chunks(t->v);
    const und_pass chosen = UND_PASS(choose, t, &chunks), beads = UND_PASS(find_beads, t, &chunks),
                   gathered = UND_PASS(gather, t, &chunks), breaking = UND_PASS(choose_breaking, t, &chunks);
    und_step steps[STEPS];
    int count = 0;
    steps[count++] = (und_step){.passes = &chosen, .count = 1};
    for (int round = 0; round < GATHERING; round++) {
        steps[count++] = (und_step){.passes = &beads, .count = 1, .unless = t->none};
        steps[count++] = (und_step){.passes = &gathered, .count = 1, .unless = t->none};
    }
    steps[count++] = (und_step){.passes = &breaking, .count = 1};
    *t->none = true;
    und_pass_steps(&t->v->device, steps, count);
}

static unsigned along_of(const thin *t, size_t at)
{
    unsigned along;
    memcpy(&along, t->v->parts->fraction + at, sizeof along);
    return along;
}

static int32_t thin_around(const thin *t, size_t at)
{
    int64_t sum = 0;
    for (unsigned along = along_of(t, at); along; along &= along - 1) {
        const int32_t c = t->v->c[(ptrdiff_t)at + t->v->parts->around[__builtin_ctz(along)]];
        sum += c > 0 ? c : 0;
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
    und_mac_cell(&v->mac, at, cell);
    d->phi[at] = v->c[at] == 0 ? GONE : fminf(d->phi[at] + und_volume_cells(amount), GONE);
    und_distance_refresh_cell(d, cell);
}

/* First of the cell itself. */
static void take_away(const thin *t, und_distance *d, size_t at, int32_t amount)
{
    und_volume *v = t->v;
    int32_t part = amount < v->c[at] ? amount : v->c[at];
    if (part > 0 || v->c[at] == 0)
        take(v, d, at, part);
    amount -= part;
    for (unsigned along = along_of(t, at); along && amount > 0; along &= along - 1) {
        const size_t next = (size_t)((ptrdiff_t)at + v->parts->around[__builtin_ctz(along)]);
        if (!(v->c[next] > 0))
            continue;
        part = amount < v->c[next] ? amount : v->c[next];
        take(v, d, next, part);
        amount -= part;
    }
}

/* What is taken along is taken of those beside, of what others have left; beads go on in each round, and to
 * one that others may go to.  Debts are few, and far from each other. */
static void get_beside(const und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    enum { TAKES = 2 * UND_VOLUME_TAKES, GATHERS = 2 * GATHERING, TOLD_BY = 2 };
    const int pays = 2 * (walls->room ? 2 : UND_VOLUME_PAY_FURTHEST);
    und_volume_get_cells(v, TAKES + pays + GATHERS + TOLD_BY);
    und_distance_get_phi(d, TAKES + pays + GATHERS + TOLD_BY);
}

void und_volume_thin(und_volume *v, und_distance *d, const und_volume_walls *walls,
                     und_volume_breaks_fn *breaks, und_volume_thin_fn *fn, void *context)
{
    bool none;
    const thin t = {v, walls, d->phi, &none, breaks, context};
    const und_volume_parts *p = v->parts;
    get_beside(v, d, walls);
    find_breaking(&t);
    for (const und_volume_chunk *k = p->chunk; k < p->chunk + p->chunk_count; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
    und_volume_pay_far(v, walls, at); /* as long as somebody is near who can */
    for (const und_volume_chunk *k = p->chunk; k < p->chunk + p->chunk_count; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
        {
            int cell[3];
            und_mac_cell(&v->mac, at, cell);
            if (v->c[at] > 0)
                take_away(&t, d, at, fn(context, cell, at, thin_around(&t, at)));
        }
}
