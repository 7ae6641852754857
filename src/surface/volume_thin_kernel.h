/* Liquid in the air that is thinner than cells: which it is, and what is gathered into beads. */
#ifndef UND_SURFACE_VOLUME_THIN_KERNEL_H
#define UND_SURFACE_VOLUME_THIN_KERNEL_H

#include "grid/pass.h"
#include "surface/distance_refresh_kernel.h"
#include "surface/volume_walls_kernel.h"

/* In mark[] of cells that are looked at: thin, what phi shows nothing of, those of both that break up; and
 * those that owe. */
enum {
    UND_VOLUME_THIN_NOT,
    UND_VOLUME_THIN_THIN,
    UND_VOLUME_THIN_LOOSE,
    UND_VOLUME_THIN_BREAKS,
    UND_VOLUME_THIN_OWES
};
enum { UND_VOLUME_THIN_ROUNDS = 4 }; /* of paying */
#define UND_VOLUME_THIN_LEAST_ROOM 0.02f
#define UND_VOLUME_THIN_FROM_WALL 1.5f /* cells */
#define UND_VOLUME_THIN_BULK (-1.0f)   /* cells: phi of liquid that is no longer thin */
#define UND_VOLUME_THIN_OUT 0.9f       /* cells: phi of what it shows nothing of */
#define UND_VOLUME_THIN_GONE 0.5f      /* cells: phi where all has left */

typedef struct und_volume_thinning {
    und_volume_arrays v;
    und_volume_walls walls;
    float *phi;
    und_distance_refresh_args refresh;
    bool *none;      /* is loose */
    bool *none_owes; /* in each round of paying; and before the first */
} und_volume_thinning;

/* ---- Sheets and threads ---- */

/* What the cells around each of a chunk's hold, as a sheet's thickness. */
static inline und_lanes und_volume_thin_thicknesses(const und_volume_thinning *t,
                                                    const und_volume_chunk *chunk)
{
    const und_volume_arrays *v = &t->v;
    const bool flat = v->mac.n[2] == 1;
    und_lanes sum = {0};
    for (int k = flat ? 9 : 0; k < (flat ? 18 : UND_VOLUME_AROUND); k++)
        sum += und_volumes_cells(und_lanes_int_load(v->c + chunk->at + v->around[k]));
    return sum / (flat ? 3.0f : 9.0f);
}

static inline int und_volume_thin_clip_to(int at, int count)
{
    return at < 0 ? 0 : at < count ? at : count - 1;
}

/* Whether that is not known: beside walls, and other grids. */
static inline bool und_volume_thin_is_beside(const und_volume_thinning *t, size_t at)
{
    const und_volume_arrays *v = &t->v;
    const bool flat = v->mac.n[2] == 1;
    if (t->walls.room && (t->walls.distance[at] < UND_VOLUME_THIN_FROM_WALL || t->walls.beside_thin[at]))
        return true;
    for (int k = flat ? 9 : 0; k < (flat ? 18 : UND_VOLUME_AROUND); k++)
        if (!v->own[(ptrdiff_t)at + v->around[k]])
            return true;
    return false;
}

/* Bits of a chunk's cells that may be either: no other along an axis is so deep that they are not thin, nor
 * are they so far out that they may be loose. */
static inline unsigned und_volume_thin_may_be_thin(const und_volume_thinning *t, const und_volume_chunk *k)
{
    const float *phi = t->phi + k->at;
    const und_lanes own = und_lanes_load(phi);
    und_lanes_int bulk = {0};
    for (int a = 0; a < 3; a++) {
        const ptrdiff_t step = t->v.mac.step[a];
        bulk |= (und_lanes_load(phi + step) < UND_VOLUME_THIN_BULK) |
                (und_lanes_load(phi - step) < UND_VOLUME_THIN_BULK);
    }
    return k->bits & und_lanes_bits((und_lanes_int_load(t->v.c + k->at) > 0) & (own > UND_VOLUME_THIN_BULK) &
                                    (~bulk | (own >= UND_VOLUME_THIN_OUT)));
}

/* Of a chunk's cells those that have more of it within two cells; for a row beyond the domain stands its
 * last: first the least of all rows, then along x. */
static inline unsigned und_volume_thin_bulk_near(const und_volume_thinning *t, const und_volume_chunk *k)
{
    enum { REACH = 2, WIDE = 2 * REACH, ACROSS = WIDE + 1 };
    enum { PARTS = (int)UND_LANES > (int)WIDE ? 2 : ACROSS, APART = PARTS == 2 ? WIDE : 1 }; /* of a row */
    const und_mac *m = &t->v.mac;
    und_lanes least = und_lanes_load(t->phi + k->at), part[PARTS];
    float row[WIDE + UND_LANES];
    int cell[3];
    und_mac_cell(m, (size_t)k->at, cell);
    for (int i = 0; i < ACROSS * ACROSS; i++) {
        const int y = und_volume_thin_clip_to(cell[1] + i % ACROSS - REACH, m->n[1]);
        const int z = und_volume_thin_clip_to(cell[2] + i / ACROSS - REACH, m->n[2]);
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
    return und_lanes_bits(least < und_lanes_all(UND_VOLUME_THIN_BULK));
}

/* ---- Beads ---- */

/* Liquid of which phi shows nothing, nor is any near. */
static inline bool und_volume_thin_is_loose(const und_volume_thinning *t, size_t at)
{
    const und_volume_arrays *v = &t->v;
    float distance, normal[3];
    if (t->phi[at] < UND_VOLUME_THIN_OUT || und_volume_room(&t->walls, at) < UND_VOLUME_THIN_LEAST_ROOM ||
        und_volume_leans(v, &t->walls, at, &distance, normal))
        return false;
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        if (t->phi[(ptrdiff_t)at + v->around[k]] < 0.3f)
            return false;
    return true;
}

/* The neighbour of those that holds most, and more than the cell itself. */
static inline uint8_t und_volume_thin_larger_bead(const und_volume_thinning *t, size_t at)
{
    const und_volume_arrays *v = &t->v;
    size_t best = at;
    uint8_t to = UND_VOLUME_STAY;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + v->around[k]);
        if (!v->own[next] || v->mark[next] != UND_VOLUME_THIN_LOOSE ||
            !und_volume_linked(&v->mac, &t->walls, at, k))
            continue;
        if (v->c[next] > v->c[best] || (v->c[next] == v->c[best] && next < best)) {
            best = next;
            to = (uint8_t)k;
        }
    }
    return to;
}

/* What is loose goes to its largest neighbour: how much, */
static inline void und_volume_thin_find_beads(const und_volume_thinning *t, und_place block)
{
    const und_volume_arrays *v = &t->v;
    und_volume_chunk *const first = v->chunk + block.at;
    for (und_volume_chunk *k = first; k < first + block.x; k++) {
        k->gives = 0;
        UND_VOLUME_OF_CHUNK(k, k->some, at)
        if (v->mark[at] == UND_VOLUME_THIN_LOOSE && v->c[at] > 0) {
            v->to[at] = und_volume_thin_larger_bead(t, at);
            k->gives |= (uint16_t)(1u << (at - (size_t)k->at));
        }
        und_volume_set_out(v, k, v->c, UND_VOLUME_MOST * UND_VOLUME_ONE);
    }
}
UND_KERNEL(und_volume_thin_find_beads, und_volume_thinning, UND_EACH_BLOCK)

/* and then all of it. */
static inline void und_volume_thin_gather(const und_volume_thinning *t, und_place block)
{
    const und_volume_chunk *const first = t->v.chunk + block.at;
    for (const und_volume_chunk *k = first; k < first + block.x; k++)
        und_volume_give_out(&t->v, k, t->v.c);
}
UND_KERNEL(und_volume_thin_gather, und_volume_thinning, UND_EACH_BLOCK)

/* ---- Both ---- */

/* Which of the two a cell that may be is. */
static inline uint8_t und_volume_thin_kind_at(const und_volume_thinning *t, size_t at, bool may_be_thin)
{
    return und_volume_thin_is_loose(t, at)                    ? UND_VOLUME_THIN_LOOSE
           : may_be_thin && !und_volume_thin_is_beside(t, at) ? UND_VOLUME_THIN_THIN
                                                              : UND_VOLUME_THIN_NOT;
}

/* Of a chunk's cells those that are either. */
static inline unsigned und_volume_thin_choose_some(const und_volume_thinning *t, const und_volume_chunk *k,
                                                   unsigned may_be)
{
    const und_volume_arrays *p = &t->v;
    const und_lanes thickness = und_volume_thin_thicknesses(t, k);
    const unsigned out = may_be & und_lanes_bits(und_lanes_load(t->phi + k->at) >= UND_VOLUME_THIN_OUT);
    unsigned thinner = may_be & und_lanes_bits(thickness < und_lanes_all(1)), some = 0;
    thinner &= thinner ? ~und_volume_thin_bulk_near(t, k) : 0;
    UND_VOLUME_OF_CHUNK(k, out | thinner, at)
    {
        const int i = (int)(at - (size_t)k->at);
        p->mark[at] = und_volume_thin_kind_at(t, at, thinner >> i & 1);
        p->fraction[at] = p->mark[at] == UND_VOLUME_THIN_LOOSE ? 0 : thickness[i];
        some |= (unsigned)(p->mark[at] != UND_VOLUME_THIN_NOT) << i;
        if (p->mark[at] == UND_VOLUME_THIN_LOOSE)
            und_shared_deny(t->none);
    }
    return some;
}

/* Of the cells that und_volume_fit looked at. */
static inline void und_volume_thin_choose(const und_volume_thinning *t, und_place block)
{
    const und_volume_arrays *p = &t->v;
    und_volume_chunk *const first = p->chunk + block.at, *const end = first + block.x;
    for (und_volume_chunk *k = first; k < end; k++) {
        const ptrdiff_t ahead = und_volume_ahead(k, end)->at;
        und_volume_fetch(t->phi, ahead + t->v.mac.step[2]);
        und_volume_fetch(t->v.c, ahead + t->v.mac.step[2]);
        und_lanes_bytes_store_some(p->mark + k->at, (und_lanes_int){0} + UND_VOLUME_THIN_NOT, k->bits);
        const unsigned may_be = und_volume_thin_may_be_thin(t, k);
        k->some = (uint16_t)(may_be ? und_volume_thin_choose_some(t, k, may_be) : 0);
    }
}
UND_KERNEL(und_volume_thin_choose, und_volume_thinning, UND_EACH_BLOCK)

/* ---- Which break up ---- */

/* Whether a cell that is thin, or loose, does; what it is as thin as stands in fraction[]. */
typedef bool und_volume_breaks_fn(const void *context, const int cell[3], size_t at);

/* Those of a block, and cells that owe (`left`). */
UND_INLINE void und_volume_thin_choose_breaking(const und_volume_thinning *t, und_place block,
                                                und_volume_breaks_fn *breaks, const void *context)
{
    const und_volume_arrays *v = &t->v;
    und_volume_chunk *const first = v->chunk + block.at;
    for (und_volume_chunk *k = first; k < first + block.x; k++) {
        k->gives = 0;
        k->left = (uint16_t)(k->bits & und_lanes_bits(und_lanes_int_load(v->c + k->at) < 0));
        if (k->left)
            und_shared_deny(&t->none_owes[0]);
        UND_VOLUME_OF_CHUNK(k, k->some, at)
        {
            int cell[3];
            und_mac_cell(&v->mac, at, cell);
            if (!(v->c[at] > 0) || !breaks(context, cell, at))
                continue;
            v->mark[at] = UND_VOLUME_THIN_BREAKS;
            k->gives |= (uint16_t)(1u << (at - (size_t)k->at));
        }
    }
}

/* ---- What is owed ----
 *
 * As und_volume_pay_kernel.h does it, as long as somebody is near who can: but for where there are solids,
 * those that are asked may be some cells away. */

enum { UND_VOLUME_PAY_FURTHEST = 8 };

UND_INLINE bool und_volume_thin_pays(const und_volume_arrays *v, size_t at, int32_t more_than)
{
    return v->c[at] > 0 && v->c[at] > more_than && v->own[at] && !(v->held && v->kind[at] == UND_VOLUME_HELD);
}

static inline size_t und_volume_thin_fullest_around(const und_volume_thinning *t, size_t at)
{
    const und_volume_arrays *v = &t->v;
    size_t best = at;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + v->around[k]);
        if (und_volume_thin_pays(v, next, v->c[best]) && und_volume_linked(&v->mac, &t->walls, at, k))
            best = next;
    }
    return best;
}

/* A cell further, where none around holds anything. */
static inline size_t und_volume_thin_fullest_near(const und_volume_thinning *t, size_t at)
{
    const und_volume_arrays *v = &t->v;
    size_t best = und_volume_thin_fullest_around(t, at);
    for (int k = 0; k < UND_VOLUME_AROUND && v->c[best] <= 0; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + v->around[k]);
        if (v->own[next] && und_volume_linked(&v->mac, &t->walls, at, k))
            best = und_volume_thin_fullest_around(t, next);
    }
    return v->c[best] > 0 ? best : at;
}

/* The next cell so many away from one along x, y or z, from number *i of the box around it on; false where
 * there is none. */
static inline bool und_volume_thin_next_away(const und_mac *m, const int cell[3], int away, bool shell,
                                             int *i, size_t *next)
{
    const int wide = 2 * away + 1, deep = m->n[2] > 1 ? wide : 1;
    for (; *i < wide * wide * deep; ++*i) {
        const int by[3] = {*i % wide - away, *i / wide % wide - away,
                           deep > 1 ? *i / (wide * wide) - away : 0};
        bool in = !shell, there = true;
        for (int a = 0; a < 3; a++) {
            in = in || by[a] == away || by[a] == -away;
            there = there && cell[a] + by[a] >= 0 && cell[a] + by[a] < m->n[a];
        }
        if (!in || !there || !und_mac_has(m, cell[0] + by[0], cell[1] + by[1], cell[2] + by[2]))
            continue;
        *next = und_mac_at(m, cell[0] + by[0], cell[1] + by[1], cell[2] + by[2]);
        return true;
    }
    return false;
}

/* Who is to pay for a cell; the cell itself: nobody can. */
static inline size_t und_volume_thin_payer(const und_volume_thinning *t, size_t at)
{
    const und_volume_arrays *v = &t->v;
    size_t best = und_volume_thin_fullest_near(t, at), next;
    int cell[3];
    und_mac_cell(&v->mac, at, cell);
    for (int away = 2; best == at && away <= UND_VOLUME_PAY_FURTHEST && !t->walls.room; away++)
        for (int i = 0; und_volume_thin_next_away(&v->mac, cell, away, true, &i, &next); i++)
            if (und_volume_thin_pays(v, next, v->c[best]))
                best = next;
    return best;
}

/* A round of it. */
typedef struct und_volume_thin_paying {
    und_volume_thinning t;
    int round;
} und_volume_thin_paying;

/* In spare[]: which cell is asked; -1: none. */
static inline void und_volume_thin_ask(const und_volume_thin_paying *p, und_place block)
{
    const und_volume_arrays *v = &p->t.v;
    const und_volume_chunk *const first = v->chunk + block.at;
    for (const und_volume_chunk *k = first; k < first + block.x; k++)
        UND_VOLUME_OF_CHUNK(k, k->left, at)
        {
            const size_t from = v->c[at] < 0 ? und_volume_thin_payer(&p->t, at) : at;
            v->mark[at] = UND_VOLUME_THIN_OWES;
            v->spare[at] = from == at ? -1 : (int32_t)from;
            if (from != at)
                und_shared_deny(&p->t.none_owes[p->round + 1]);
        }
}
UND_KERNEL(und_volume_thin_ask, und_volume_thin_paying, UND_EACH_BLOCK)

/* The next that asks a cell. */
static inline bool und_volume_thin_next_asker(const und_volume_thinning *t, const int cell[3], size_t from,
                                              int *i, size_t *asker)
{
    const und_volume_arrays *v = &t->v;
    const int away = t->walls.room ? 2 : UND_VOLUME_PAY_FURTHEST;
    for (; und_volume_thin_next_away(&v->mac, cell, away, false, i, asker); ++*i)
        if (v->mark[*asker] == UND_VOLUME_THIN_OWES && v->spare[*asker] == (int32_t)from)
            return true;
    return false;
}

/* The first of those that ask a cell lets it give to all of them. */
static inline void und_volume_thin_pay_all(const und_volume_thinning *t, size_t at)
{
    const und_volume_arrays *v = &t->v;
    const size_t from = (size_t)v->spare[at];
    size_t asker;
    int cell[3], i = 0;
    und_mac_cell(&v->mac, from, cell);
    if (!und_volume_thin_next_asker(t, cell, from, &i, &asker) || asker != at)
        return;
    do {
        const int32_t part = v->c[from] < -v->c[asker] ? v->c[from] : -v->c[asker];
        v->c[from] -= part;
        v->c[asker] += part;
        i++;
    } while (und_volume_thin_next_asker(t, cell, from, &i, &asker));
}

static inline void und_volume_thin_pay(const und_volume_thin_paying *p, und_place block)
{
    const und_volume_arrays *v = &p->t.v;
    const und_volume_chunk *const first = v->chunk + block.at;
    for (const und_volume_chunk *k = first; k < first + block.x; k++)
        UND_VOLUME_OF_CHUNK(k, k->left, at)
    if (v->spare[at] >= 0)
        und_volume_thin_pay_all(&p->t, at);
}
UND_KERNEL(und_volume_thin_pay, und_volume_thin_paying, UND_EACH_BLOCK)

/* ---- What is taken along ---- */

UND_INLINE bool und_volume_thin_stays(const und_volume_arrays *v, size_t at)
{
    return v->mark[at] == UND_VOLUME_THIN_THIN || v->mark[at] == UND_VOLUME_THIN_LOOSE;
}

/* A cell that does not break up is there for one around it that does: the fullest. */
static inline uint8_t und_volume_thin_taker(const und_volume_thinning *t, size_t at)
{
    const und_volume_arrays *v = &t->v;
    int32_t most = 0;
    uint8_t to = UND_VOLUME_STAY;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + v->around[k]);
        if (v->mark[next] != UND_VOLUME_THIN_BREAKS || v->c[next] <= most ||
            !und_volume_linked(&v->mac, &t->walls, at, k))
            continue;
        most = v->c[next];
        to = (uint8_t)k;
    }
    return to;
}

static inline void und_volume_thin_lend(const und_volume_thinning *t, und_place block)
{
    const und_volume_arrays *v = &t->v;
    const und_volume_chunk *const first = v->chunk + block.at;
    for (const und_volume_chunk *k = first; k < first + block.x; k++)
        UND_VOLUME_OF_CHUNK(k, k->some & ~k->gives, at)
    if (und_volume_thin_stays(v, at))
        v->to[at] = v->own[at] ? und_volume_thin_taker(t, at) : UND_VOLUME_STAY;
}
UND_KERNEL(und_volume_thin_lend, und_volume_thinning, UND_EACH_BLOCK)

/* Neighbour k of a cell that breaks up, where that is there for it and holds something; else the cell
 * itself. */
UND_INLINE size_t und_volume_thin_lender(const und_volume_arrays *v, size_t at, int k)
{
    const size_t next = (size_t)((ptrdiff_t)at + v->around[k]);
    return und_volume_thin_stays(v, next) && v->to[next] == UND_VOLUME_AROUND - 1 - k && v->c[next] > 0 ? next
                                                                                                        : at;
}

/* What they hold. */
static inline int32_t und_volume_thin_beside(const und_volume_thinning *t, size_t at)
{
    const int64_t most = 8 * (int64_t)UND_VOLUME_ONE;
    int64_t sum = 0;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = und_volume_thin_lender(&t->v, at, k);
        sum += next != at ? t->v.c[next] : 0;
    }
    return (int32_t)(sum < most ? sum : most);
}

/* phi shows as much less of the cell, or none where all has left. */
static inline void und_volume_thin_take(const und_volume_thinning *t, size_t at, int32_t amount)
{
    int cell[3];
    t->v.c[at] -= amount;
    if (!(t->phi[at] < UND_VOLUME_THIN_GONE))
        return;
    const float less = t->phi[at] + und_volume_cells(amount);
    t->phi[at] = t->v.c[at] == 0 || less > UND_VOLUME_THIN_GONE ? UND_VOLUME_THIN_GONE : less;
    und_mac_cell(&t->v.mac, at, cell);
    und_distance_change_cell(&t->refresh, at, cell);
}

/* First of the cell itself. */
static inline void und_volume_thin_take_away(const und_volume_thinning *t, size_t at, int32_t amount)
{
    const und_volume_arrays *v = &t->v;
    int32_t part = amount < v->c[at] ? amount : v->c[at];
    if (part > 0 || v->c[at] == 0)
        und_volume_thin_take(t, at, part);
    amount -= part;
    for (int k = 0; k < UND_VOLUME_AROUND && amount > 0; k++) {
        const size_t next = und_volume_thin_lender(v, at, k);
        if (next == at)
            continue;
        part = amount < v->c[next] ? amount : v->c[next];
        und_volume_thin_take(t, next, part);
        amount -= part;
    }
}

#endif
