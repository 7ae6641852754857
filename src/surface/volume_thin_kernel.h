/* Liquid in the air that is thinner than cells: which it is, and what is gathered into beads. */
#ifndef UND_SURFACE_VOLUME_THIN_KERNEL_H
#define UND_SURFACE_VOLUME_THIN_KERNEL_H

#include "grid/pass.h"
#include "surface/volume_walls_kernel.h"

enum { UND_VOLUME_THIN_NOT, UND_VOLUME_THIN_THIN, UND_VOLUME_THIN_LOOSE };
#define UND_VOLUME_THIN_LEAST_ROOM 0.02f
#define UND_VOLUME_THIN_FROM_WALL 1.5f /* cells */
#define UND_VOLUME_THIN_BULK (-1.0f)   /* cells: phi of liquid that is no longer thin */
#define UND_VOLUME_THIN_OUT 0.9f       /* cells: phi of what it shows nothing of */

typedef struct und_volume_thinning {
    und_volume_arrays v;
    und_volume_walls walls;
    float *phi;
    bool *none; /* is loose */
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

/* Bits of the cells around one that are as thin, so that drops of it may take some of them along. */
static inline unsigned und_volume_thin_find_along(const und_volume_thinning *t, size_t at)
{
    const und_volume_arrays *p = &t->v;
    unsigned along = 0;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + p->around[k]);
        if (next != at && p->mark[next] != UND_VOLUME_THIN_NOT && p->own[next] &&
            und_volume_linked(&t->v.mac, &t->walls, at, k))
            along |= 1u << k;
    }
    return along;
}

#endif
