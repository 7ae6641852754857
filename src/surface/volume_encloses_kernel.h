/* What phi encloses of cells that und_volume_fit looks at, and what is to be done with what they hold
 * besides. */
#ifndef UND_SURFACE_VOLUME_ENCLOSES_KERNEL_H
#define UND_SURFACE_VOLUME_ENCLOSES_KERNEL_H

#include "grid/pass.h"
#include "surface/distance_kernel.h"
#include "surface/volume_walls_kernel.h"

#define UND_VOLUME_ENCLOSES_DEEP (-2.5f) /* cells: what can be cut */
#define UND_VOLUME_ENCLOSES_LEAST_ROOM 0.02f
#define UND_VOLUME_ENCLOSES_BEND 0.5f /* a second difference of phi: what is thin has more */
#define UND_VOLUME_ENCLOSES_SHEET 0.9f

/* Over the list's chunks: part[], area[], extra[], films, and what the chunks and mark[] say of cells. */
typedef struct und_volume_enclosing {
    und_volume_arrays v;
    und_volume_walls walls;
    const float *phi;
    bool tracked; /* particles have the shape: what they cannot know well is unsure[] */
} und_volume_enclosing;

/* Cells that the surface may cut, packed. */
typedef struct und_volume_cut_batch {
    int count;
    float phi[2 * UND_LANES], slope[3][2 * UND_LANES], at[2 * UND_LANES]; /* at: bits of an int32_t */
    float room[2 * UND_LANES], along[2 * UND_LANES];                      /* where there are walls */
} und_volume_cut_batch;

/* The first of them, UND_LANES at most. */
static inline void und_volume_encloses_finish_parts(const und_volume_enclosing *e, und_volume_cut_batch *b)
{
    const float by = 0.25f; /* cells: the area is what the part gains over twice this */
    const int count = b->count < UND_LANES ? b->count : UND_LANES;
    und_lanes slope[3], value = und_lanes_load(b->phi), part[3];
    int32_t at[UND_LANES];
    for (int a = 0; a < 3; a++)
        slope[a] = und_lanes_load(b->slope[a]);
    const und_lanes length = und_lanes_sqrt(slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2]);
    const und_lanes_int flat = length <= und_lanes_all(0.1f); /* what is thinner than cells has no gradient */
    for (int k = 0; k < 3; k++) {
        const und_lanes there = value + by * (float)(1 - k);
        const und_lanes plain =
            und_lanes_min(und_lanes_max(0.5f - there, und_lanes_all(0)), und_lanes_all(1));
        part[k] = und_lanes_select(flat, plain, und_planes_part(there * length, slope));
        if (e->walls.room)
            part[k] = und_volumes_within(part[k], und_lanes_load(b->room), und_lanes_load(b->along));
    }
    const und_lanes_int units = und_volumes_units(part[1]);
    const und_lanes_int area =
        __builtin_convertvector((part[2] - part[0]) * (UND_VOLUME_AREA_ONE / (2 * by)), und_lanes_int);
    __builtin_memcpy(at, b->at, sizeof at);
    for (int i = 0; i < count; i++) {
        e->v.part[at[i]] = units[i];
        e->v.area[at[i]] = area[i];
    }
    b->count -= count;
}

/* To the front. */
static inline void und_volume_encloses_move_up(float *list)
{
    und_lanes_store(list, und_lanes_load(list + UND_LANES));
}
static inline void und_volume_encloses_finish_full(const und_volume_enclosing *e, und_volume_cut_batch *b)
{
    und_volume_encloses_finish_parts(e, b);
    und_volume_encloses_move_up(b->phi);
    und_volume_encloses_move_up(b->at);
    und_volume_encloses_move_up(b->room);
    und_volume_encloses_move_up(b->along);
    for (int a = 0; a < 3; a++)
        und_volume_encloses_move_up(b->slope[a]);
}

/* Of a chunk's cells, bits of those that are behind a solid; and of those beside thin walls that the surface
 * does not cut. */
static inline unsigned und_volume_encloses_behind(const und_volume_enclosing *e, const und_volume_chunk *k)
{
    unsigned bits = 0;
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    if (e->phi[at] > UND_VOLUME_ENCLOSES_DEEP && und_volume_is_behind(&e->v, &e->walls, e->phi[at], at))
        bits |= 1u << (at - (size_t)k->at);
    return bits;
}
static inline unsigned und_volume_encloses_uncut(const und_volume_enclosing *e, const und_volume_chunk *k)
{
    unsigned bits = 0;
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    if (e->walls.beside_thin[at] && !und_volume_is_cut(&e->v, &e->walls, e->phi, at))
        bits |= 1u << (at - (size_t)k->at);
    return bits;
}

/* As und_volume_gradient has it. */
static inline und_lanes und_volume_encloses_slope_along(const und_volume_enclosing *e, size_t at, int a)
{
    const size_t step = (size_t)e->v.mac.step[a];
    const und_lanes phi = und_lanes_load(e->phi + at);
    und_lanes_int low = und_lanes_bytes(e->v.inside + at - step) != 0;
    und_lanes_int high = und_lanes_bytes(e->v.inside + at + step) != 0;
    if (e->walls.room) {
        const und_lanes_int thick = und_lanes_bytes(e->walls.beside_thin + at) == 0;
        low &= thick | (und_lanes_load(e->walls.open[a] + at - step) > 0);
        high &= thick | (und_lanes_load(e->walls.open[a] + at) > 0);
    }
    const und_lanes from = und_lanes_select(low, und_lanes_load(e->phi + at - step), phi);
    const und_lanes to = und_lanes_select(high, und_lanes_load(e->phi + at + step), phi);
    return und_lanes_select(low & high, 0.5f * (to - from), to - from);
}

/* Packs those of a chunk that are cut. */
static inline void und_volume_encloses_add_cut(const und_volume_enclosing *e, size_t first, unsigned cut,
                                               und_volume_cut_batch *b)
{
    und_lanes slope[3];
    const int32_t count = b->count;
    und_lanes_int at = {0};
    for (int i = 0; i < UND_LANES; i++)
        at[i] = i;
    und_lanes_pack(b->at + count, (und_lanes)(at + (int32_t)first), cut);
    und_lanes_pack(b->phi + count, und_lanes_load(e->phi + first), cut);
    for (int a = 0; a < 3; a++) {
        slope[a] = und_volume_encloses_slope_along(e, first, a);
        und_lanes_pack(b->slope[a] + count, slope[a], cut);
    }
    if (e->walls.room) {
        const und_lanes room = und_lanes_load(e->walls.room + first);
        und_lanes along = {0};
        for (unsigned bits = cut & und_lanes_bits(room < 1); bits; bits &= bits - 1) {
            const int i = __builtin_ctz(bits);
            along[i] = und_volume_along(&e->v, &e->walls, first + (size_t)i,
                                        (const float[3]){slope[0][i], slope[1][i], slope[2][i]});
        }
        und_lanes_pack(b->room + count, room, cut);
        und_lanes_pack(b->along + count, along, cut);
    }
    b->count += __builtin_popcount(cut);
    if (b->count >= UND_LANES)
        und_volume_encloses_finish_full(e, b);
}

static inline void und_volume_encloses_set_part(const und_volume_enclosing *e, const und_volume_chunk *k,
                                                und_volume_cut_batch *b)
{
    const und_volume_arrays *v = &e->v;
    const und_lanes phi = und_lanes_load(e->phi + k->at), beside = und_lanes_all(UND_VOLUME_BESIDE);
    const und_lanes_int full = und_volumes_units(und_volume_rooms(&e->walls, (size_t)k->at));
    const unsigned near = und_lanes_bits((phi <= beside) & (phi >= -beside)) & k->bits;
    const unsigned none = e->walls.room ? und_volume_encloses_behind(e, k) : 0;
    const unsigned cut = near & ~(none | (e->walls.room ? und_volume_encloses_uncut(e, k) : 0));
    const und_lanes_int all =
        und_lanes_int_select(phi <= UND_VOLUME_ENCLOSES_DEEP, und_lanes_int_load(v->c + k->at),
                             (phi < 0) & full & ~und_lanes_where(none));
    und_lanes_int_store_some(v->part + k->at, all, k->bits); /* deep errors are the pressure's */
    und_lanes_int_store_some(v->area + k->at, (und_lanes_int){0}, k->bits);
    if (cut)
        und_volume_encloses_add_cut(e, (size_t)k->at, cut, b);
}

/* Of a chunk's cells those with a closed face: what runs along walls is to come by its own flow. */
static inline unsigned und_volume_encloses_at_walls(const und_volume_enclosing *e, const und_volume_chunk *k)
{
    const und_volume_walls *w = &e->walls;
    und_lanes_int shut = {0};
    for (int way = 0; way < (e->v.mac.n[2] > 1 ? 6 : 4); way++) {
        const ptrdiff_t step = e->v.mac.step[way / 2], next = k->at + (way % 2 ? step : -step);
        if (w->room)
            shut |= ~(und_lanes_load(w->open[way / 2] + (way % 2 ? k->at : next)) > 0);
        else if (w->closed[way])
            shut |= und_lanes_bytes(e->v.inside + next) == 0;
    }
    return und_lanes_bits(shut);
}

/* What is thin, by second differences of phi, of which the surface's curvature makes less; and walls.  Where
 * of a chunk's cells little does not go far, as of thin ones does where the flow keeps its volume: corners
 * have less than sheets. */
static inline und_lanes_int und_volume_encloses_find_thin(const und_volume_enclosing *e,
                                                          const und_volume_chunk *k, und_lanes_int at_wall)
{
    uint8_t *unsure = e->v.unsure + k->at;
    const und_lanes_int flow = und_lanes_bytes(unsure) & UND_VOLUME_BY_FLOW;
    und_lanes most = {0};
    for (int a = 0; a < (e->v.mac.n[2] > 1 ? 3 : 2); a++) {
        const float *phi = e->phi + k->at;
        const ptrdiff_t step = e->v.mac.step[a];
        const und_lanes bend =
            und_lanes_load(phi + step) + und_lanes_load(phi - step) - 2 * und_lanes_load(phi);
        most = und_lanes_max(most, und_size(bend));
    }
    und_lanes_bytes_store_some(
        unsure, flow | (at_wall & UND_VOLUME_WALL) | ((most > UND_VOLUME_ENCLOSES_BEND) & UND_VOLUME_THIN),
        k->bits);
    return at_wall | ((flow == 0) & (most > UND_VOLUME_ENCLOSES_SHEET));
}

/* Films, and what is to be done with the others of a chunk. */
static inline void und_volume_encloses_set_marks(const und_volume_enclosing *e, und_volume_chunk *k)
{
    const und_volume_arrays *p = &e->v;
    const und_lanes phi = und_lanes_load(e->phi + k->at), near = und_lanes_all(UND_VOLUME_NEAR);
    const und_lanes_int c = und_lanes_int_load(e->v.c + k->at);
    const und_lanes_int roomy = und_volume_rooms(&e->walls, (size_t)k->at) > UND_VOLUME_ENCLOSES_LEAST_ROOM;
    k->film = 0;
    const unsigned aloft = k->bits & und_lanes_bits((phi > 0) & (c > 0));
    const unsigned may_be = aloft ? aloft & und_volume_may_lean(&e->v, &e->walls, (size_t)k->at) : 0;
    UND_VOLUME_OF_CHUNK(k, may_be, at)
    if (und_volume_is_film(&e->v, &e->walls, e->phi, at, p->part[at]))
        k->film |= (uint16_t)(1u << (at - (size_t)k->at));
    const unsigned others = k->bits & ~(unsigned)k->film;
    k->evens = (uint16_t)(others & und_lanes_bits((phi < 1) & (phi > -1) & roomy));
    k->some = (uint16_t)(others & und_lanes_bits((phi < near) & (phi > -near)));
    k->gives = 0;
    const und_lanes_int films = und_lanes_where(k->film);
    und_lanes_int_store_some(p->extra + k->at, ~films & (c - und_lanes_int_load(p->part + k->at)), k->bits);
    if (k->film) {
        und_lanes_int_store_some(p->part + k->at, c, k->film);
        und_lanes_int_store_some(p->area + k->at, (und_lanes_int){0}, k->film);
    }
    und_lanes_bytes_store_some(e->v.film + k->at, films & 1, k->bits);
    const und_lanes_int at_wall = und_lanes_where(und_volume_encloses_at_walls(e, k)),
                        other = (und_lanes_int){0} + UND_VOLUME_OTHER;
    const und_lanes_int near_only = e->tracked ? und_volume_encloses_find_thin(e, k, at_wall) : at_wall;
    const und_lanes_int free = UND_VOLUME_FREE - (near_only & 1);
    und_lanes_bytes_store_some(p->mark + k->at, und_lanes_int_select(und_lanes_where(k->evens), free, other),
                               k->bits);
    und_lanes_bytes_store_some(p->to + k->at, (und_lanes_int){0} + UND_VOLUME_UNKNOWN, k->bits);
}

static inline void und_volume_encloses(const und_volume_enclosing *e, und_place block)
{
    und_volume_chunk *const first = e->v.chunk + block.at, *const end = first + block.x;
    und_volume_cut_batch b = {0};
    for (const und_volume_chunk *k = first; k < end; k++) {
        und_volume_fetch_around(&e->v.mac, e->phi, k, end);
        und_volume_fetch_around(&e->v.mac, e->v.c, k, end);
        und_volume_fetch(e->v.part, und_volume_ahead(k, end)->at);
        und_volume_encloses_set_part(e, k, &b);
    }
    if (b.count > 0)
        und_volume_encloses_finish_parts(e, &b);
    for (und_volume_chunk *k = first; k < end; k++) {
        const ptrdiff_t ahead = und_volume_ahead(k, end)->at;
        und_volume_fetch(e->v.extra, ahead);
        und_volume_fetch(e->v.area, ahead);
        und_volume_encloses_set_marks(e, k);
    }
}
UND_KERNEL(und_volume_encloses, und_volume_enclosing, UND_EACH_SOME)

#endif
