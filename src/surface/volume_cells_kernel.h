/* What kernels know of cells: what they hold and what is found out about that, by plain pointers, so that
 * they may be run where neither the grid's owner nor its parts are; and what phi encloses of a cell. */
#ifndef UND_SURFACE_VOLUME_CELLS_KERNEL_H
#define UND_SURFACE_VOLUME_CELLS_KERNEL_H

#include "base/shared.h"
#include "surface/volume_kernel.h"

#define UND_VOLUME_ONE (1 << 24) /* a whole cell */

/* What walls leave of cells; arrays of the grid's layout. */
typedef struct und_volume_walls {
    const float *open[3];  /* 0 to 1, of high faces */
    const float *room;     /* 0 to 1, of cells; NULL: there are no solids, and neither are the next two */
    const float *distance; /* cells, to the nearest solid; negative inside */
    const uint8_t *beside_thin; /* cells between whose neighbours may be a wall that no cell shows */
    bool closed[6];             /* sides of the domain that are walls */
    bool rest;                  /* no solid moves: films run along slanted ones too, */
    double gravity[3];          /* where it does not pull them off */
} und_volume_walls;

/* What comes over a face from a cell that is another grid's, in a step: up the axis, or below 0. */
typedef struct und_volume_inflow {
    size_t face, into;
    int axis;
    int32_t amount;
} und_volume_inflow;

/* Of all cells, as und_volume and its parts have them. */
typedef struct und_volume_arrays {
    und_mac mac;
    int32_t *c;
    uint8_t *film;
    const uint8_t *inside, *own;
    uint8_t *kind, *mark, *unsure, *to;
    int32_t *extra, *spare, *part, *area, *over;
    float *fraction;
    uint8_t *row_films;
    und_volume_chunk *chunk; /* cells that are looked at, in order */
    ptrdiff_t around[UND_VOLUME_AROUND];
    bool others, held;
} und_volume_arrays;

#define UND_VOLUME_NEAR 2.6f        /* cells: of phi, what und_volume_fit looks at */
#define UND_VOLUME_AREA_ONE 0x1p20f /* in area[]: so many are 1 */
enum { UND_VOLUME_UNKNOWN = 255 };  /* in to[]: not looked for yet */
/* In mark[]: cells at the surface, those from which little goes far or not; others; 0 is in those that are
 * not looked at. */
enum { UND_VOLUME_NEAR_ONLY = 1, UND_VOLUME_FREE, UND_VOLUME_OTHER };

static inline int und_volume_axes(const und_mac *m)
{
    return m->n[2] > 1 ? 3 : 2;
}

static inline ptrdiff_t und_volume_step(const und_mac *m, int k) /* to neighbour k */
{
    return (k % 3 - 1) + (k / 3 % 3 - 1) * m->step[1] + (k / 9 - 1) * m->step[2];
}

static inline und_lanes und_volume_rooms(const und_volume_walls *walls, size_t at)
{
    return walls->room ? und_lanes_load(walls->room + at) : und_lanes_all(1);
}
static inline float und_volume_room(const und_volume_walls *walls, size_t at)
{
    return walls->room ? walls->room[at] : 1;
}

/* Whether neighbour k is on the same side of walls: those that no cell shows, and those that a cell and its
 * neighbour are both half in. */
static inline bool und_volume_linked(const und_mac *m, const und_volume_walls *walls, size_t at, int k)
{
    return !walls->room || !(walls->beside_thin[at] || walls->distance[at] < 1) ||
           und_volume_way(walls->open, m->step, at, k);
}

/* Whether gravity pulls from neighbour k to the cell. */
static inline bool und_volume_is_up(const und_volume_walls *walls, int k)
{
    const double *g = walls->gravity;
    return (k % 3 - 1) * g[0] + (k / 3 % 3 - 1) * g[1] + (k / 9 - 1) * g[2] < 0;
}

/* Cells of a chunk from the lowest of `bits` on. */
#define UND_VOLUME_OF_CHUNK(k, which, cell) \
    for (size_t bits_ = (which), cell;      \
         bits_ != 0 && (cell = (size_t)(k)->at + (size_t)__builtin_ctzll(bits_), 1); bits_ &= bits_ - 1)

/* Some chunks further on, which is to be fetched by the time it is worked on. */
static inline const und_volume_chunk *und_volume_ahead(const und_volume_chunk *k, const und_volume_chunk *end)
{
    enum { AHEAD = 6 };
    return end - k > AHEAD ? k + AHEAD : k;
}

/* What is read of it and of the rows around it. */
UND_INLINE void und_volume_fetch_around(const und_mac *m, const void *values, const und_volume_chunk *k,
                                        const und_volume_chunk *end)
{
    const ptrdiff_t at = und_volume_ahead(k, end)->at;
    und_volume_fetch(values, at);
    und_volume_fetch(values, at + m->step[1]);
    und_volume_fetch(values, at + m->step[2]);
}

/* Sums over the cells around by und_volume_weight, of numbers over 2^less; whole ones, so that in what order
 * does not matter. */
UND_INLINE und_lanes_int und_volumes_weighted(const und_mac *m, const int32_t *first, int less)
{
    und_lanes_int low = {0}, high = {0}, amid = {0};
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++) {
            const int32_t *at = first + y * m->step[1] + z * m->step[2];
            const int weight = (y == 0) + (z == 0);
            low += (und_lanes_int_load(at - 1) >> less) << weight;
            high += (und_lanes_int_load(at + 1) >> less) << weight;
#ifdef UND_ONE_LANE
            amid += (und_lanes_int_load(at) >> less) << weight;
#endif
        }
#ifndef UND_ONE_LANE
    amid = und_lanes_int_amid(low, high);
#endif
    return low + high + (amid << 1);
}
/* Those that hold something though their middles are in the air. */
static inline unsigned und_volume_aloft(const int32_t *c, const float *phi, size_t at)
{
    return und_lanes_bits((und_lanes_int_load(c + at) != 0) & (und_lanes_load(phi + at) >= und_lanes_all(0)));
}

/* For each of them in a row, in order. */
#define UND_VOLUME_ALOFT(v, phi, row, at)                                                                    \
    for (size_t at_ = und_mac_row_begin(&(v)->mac, row), end_ = und_mac_row_end(&(v)->mac, row); at_ < end_; \
         at_ += UND_LANES)                                                                                   \
        for (size_t bits_ = und_volume_aloft((v)->c, phi, at_) & und_volume_row_bits(end_ - at_), at;        \
             bits_ != 0 && (at = at_ + (size_t)__builtin_ctzll(bits_), 1); bits_ &= bits_ - 1)

/* The same of those that were films when these were looked for. */
static inline unsigned und_volume_films_at(const int32_t *c, const uint8_t *film, const float *phi, size_t at)
{
    const unsigned films = und_lanes_bits(und_lanes_bytes(film + at) != 0);
    return films ? films & und_volume_aloft(c, phi, at) : 0;
}
#define UND_VOLUME_FILMS_OF(v, row_films, phi, row, at)                                                      \
    for (size_t at_ = und_mac_row_begin(&(v)->mac, row),                                                     \
                end_ = (row_films)[row] ? und_mac_row_end(&(v)->mac, row) : at_;                             \
         at_ < end_; at_ += UND_LANES)                                                                       \
        for (size_t                                                                                          \
                 bits_ = und_volume_films_at((v)->c, (v)->film, phi, at_) & und_volume_row_bits(end_ - at_), \
                 at;                                                                                         \
             bits_ != 0 && (at = at_ + (size_t)__builtin_ctzll(bits_), 1); bits_ &= bits_ - 1)

/* Of the list, those that a chunk's `gives` says hand what they hold of amounts[] to the neighbour that `to`
 * says, unless that has `full` and more than they: 13 is itself, and one more is one further along x, three
 * along y, nine along z. In two turns, since a cell that gives may be given to: of a chunk, how much it is,
 * into spare[]; then all of it. */
static inline void und_volume_set_out(const und_volume_arrays *v, const und_volume_chunk *k,
                                      const int32_t *amounts, int32_t full)
{
    UND_VOLUME_OF_CHUNK(k, k->gives, at)
    {
        const int32_t most = UND_VOLUME_AT_ONCE * UND_VOLUME_ONE, own = amounts[at];
        const int32_t there = amounts[(ptrdiff_t)at + v->around[v->to[at]]];
        const bool stays =
            v->to[at] == UND_VOLUME_STAY || und_volume_crowded(there) || (there > full && there > own);
        v->spare[at] = stays ? 0 : own > most ? most : own < -most ? -most : own;
    }
}

/* Whole numbers are the same added in any order. */
static inline void und_volume_give_out(const und_volume_arrays *v, const und_volume_chunk *k,
                                       int32_t *amounts)
{
    UND_VOLUME_OF_CHUNK(k, k->gives, at)
    {
        const int32_t amount = v->spare[at];
        if (amount == 0)
            continue;
        und_shared_add(&amounts[at], -amount);
        und_shared_add(&amounts[(ptrdiff_t)at + v->around[v->to[at]]], amount);
    }
}

/* ---- What phi encloses ---- */

#define UND_VOLUME_BESIDE 1.2f   /* cells: further from the surface a cell is full or empty */
#define UND_VOLUME_HAIR 0.02f    /* cells: phi of cells that their surface goes through */
#define UND_VOLUME_ONE_SIDE 0.02 /* of a cell */
#define UND_VOLUME_BEHIND 1      /* cells: from a solid to what may be behind it */

/* The gradient of phi, of what is on the same side. */
static inline void und_volume_gradient(const und_volume_arrays *v, const und_volume_walls *walls,
                                       const float *phi, size_t at, float slope[3])
{
    const bool thin = walls->room && walls->beside_thin[at];
    for (int a = 0; a < 3; a++) {
        const size_t step = (size_t)v->mac.step[a];
        const bool low = v->inside[at - step] && (!thin || walls->open[a][at - step] > 0);
        const bool high = v->inside[at + step] && (!thin || walls->open[a][at] > 0);
        const float from = low ? phi[at - step] : phi[at], to = high ? phi[at + step] : phi[at];
        slope[a] = low && high ? 0.5f * (to - from) : to - from;
    }
}
/* Whether a cell beside walls that no cell shows has no more to do with them than its nearest wall, of that
 * rise, leaves of it: as at the edge of a thick solid. */
static inline bool und_volume_has_one_side(const und_volume_walls *walls, size_t at, const float rise[3],
                                           float square)
{
    const double along[3] = {(double)rise[0], (double)rise[1], (double)rise[2]};
    const double left = 1 - und_plane_part((double)walls->distance[at], along);
    return square > 0.9f && square < 1.1f &&
           __builtin_fabs(left - (double)walls->room[at]) < UND_VOLUME_ONE_SIDE;
}

/* By how much a surface of that slope faces the way that the solid in the cell does (a cosine); how much of
 * the cell phi encloses beside that. */
static inline float und_volume_along(const und_volume_arrays *v, const und_volume_walls *walls, size_t at,
                                     const float slope[3])
{
    float product = 0, own = 0, wall = 0, rise[3];
    if (!walls->room || !(walls->room[at] < 1))
        return 0;
    for (int a = 0; a < 3; a++) {
        const size_t step = (size_t)v->mac.step[a];
        rise[a] = v->mac.n[a] > 1 ? 0.5f * (walls->distance[at + step] - walls->distance[at - step]) : 0;
        product += slope[a] * rise[a];
        own += slope[a] * slope[a];
        wall += rise[a] * rise[a];
    }
    if (walls->beside_thin[at] && !und_volume_has_one_side(walls, at, rise, wall))
        return 0;
    return own > 0.01f && wall > 0 ? und_volume_clip(product / __builtin_sqrtf(own * wall), 1) : 0;
}

/* What phi is right before the wall that the middle of a cell is in: what is open of it may be above a
 * surface that goes on into the wall. */
static inline float und_volume_before_wall(const und_volume_arrays *v, const und_volume_walls *walls,
                                           const float *phi, size_t at)
{
    const float *distance = walls->distance;
    float product = 0, square = 0;
    if (!(distance[at] < 0))
        return phi[at];
    for (int a = 0; a < 3; a++) {
        const size_t low = at - (size_t)v->mac.step[a], high = at + (size_t)v->mac.step[a];
        const float rise = v->mac.n[a] > 1 ? distance[high] - distance[low] : 0;
        product += rise * (phi[high] - phi[low]);
        square += rise * rise;
    }
    return square > 1 ? phi[at] - distance[at] * product / square : phi[at];
}

/* Whether the surface is between a cell and one that it is open to, but for those along one axis; */
static inline bool und_volume_is_next_to_liquid(const und_volume_arrays *v, const und_volume_walls *walls,
                                                const float *phi, size_t at, int but)
{
    for (int way = 0; way < 6; way++) {
        const size_t step = (size_t)v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
        if (way / 2 != but && v->inside[next] && walls->open[way / 2][way % 2 ? at : next] > 0 &&
            phi[next] < UND_VOLUME_HAIR && und_volume_before_wall(v, walls, phi, next) < UND_VOLUME_HAIR)
            return true;
    }
    return false;
}

/* or at most two axes away over such: beside the edge of a solid the cell below is shut. */
static inline bool und_volume_is_above_liquid(const und_volume_arrays *v, const und_volume_walls *walls,
                                              const float *phi, size_t at)
{
    if (und_volume_is_next_to_liquid(v, walls, phi, at, -1))
        return true;
    for (int way = 0; way < 6; way++) {
        const size_t step = (size_t)v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
        if (v->inside[next] && walls->open[way / 2][way % 2 ? at : next] > 0 &&
            und_volume_is_next_to_liquid(v, walls, phi, next, way / 2))
            return true;
    }
    return false;
}

/* Whether the surface may cut a cell: beside walls that no cell shows one of the air has liquid only where
 * there is some on the same side. */
static inline bool und_volume_is_cut(const und_volume_arrays *v, const und_volume_walls *walls,
                                     const float *phi, size_t at)
{
    if (__builtin_fabsf(phi[at]) > UND_VOLUME_BESIDE)
        return false;
    return phi[at] < 0 || !walls->room || !walls->beside_thin[at] ||
           und_volume_is_above_liquid(v, walls, phi, at);
}

/* Whether a cell is behind a solid: phi goes on from the liquid's side into walls of two cells, so its
 * surface is in them and seen from the other side, where neither the cell nor those that it is open to hold
 * any. */
static inline bool und_volume_is_behind(const und_volume_arrays *v, const und_volume_walls *walls, float phi,
                                        size_t at)
{
    if (!walls->room || !(walls->distance[at] < (phi < 0 ? 0 : UND_VOLUME_BEHIND)) || v->c[at] > 0)
        return false;
    for (int way = 0; way < 6; way++) {
        const size_t step = (size_t)v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
        if (walls->open[way / 2][way % 2 ? at : next] > 0 && v->c[next] > 0)
            return false;
    }
    return true;
}

/* Of what is thinner than cells there is no gradient. */
static inline float und_volume_part(const und_volume_arrays *v, const und_volume_walls *walls,
                                    const float *phi, size_t at)
{
    const float room = und_volume_room(walls, at);
    float slope[3];
    if (!und_volume_is_cut(v, walls, phi, at))
        return phi[at] < 0 ? room : 0;
    und_volume_gradient(v, walls, phi, at, slope);
    const double g[3] = {(double)slope[0], (double)slope[1], (double)slope[2]}, value = (double)phi[at];
    const double length = __builtin_sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    const double part =
        length > 0.1 ? und_plane_part(value * length, g) : und_double_min(und_double_max(0.5 - value, 0), 1);
    return und_volume_within((float)part, room, und_volume_along(v, walls, at, slope));
}

#endif
