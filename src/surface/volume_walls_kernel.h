/* Walls, and what lies on them that is thinner than phi can show: films. */
#ifndef UND_SURFACE_VOLUME_WALLS_KERNEL_H
#define UND_SURFACE_VOLUME_WALLS_KERNEL_H

#include "surface/volume_cells_kernel.h"

#define UND_VOLUME_NEAR_WALL 1 /* cells */
#define UND_VOLUME_LEANS_ROOM 0.01f
#define UND_VOLUME_INNER \
    0.5f /* cells: middles so near to a slanted wall have what is before it beside them */
#define UND_VOLUME_LEAST_WALL 0.1f /* of a face */
#define UND_VOLUME_ALONG 0.5f      /* cosine: faces that a film goes over along its wall */
enum { UND_VOLUME_NEAR_LIQUID = 3 };

/* Whether a wall of this normal lies along the grid. */
static inline bool und_volume_is_straight(const float normal[3])
{
    const float a = normal[0] * normal[0], b = normal[1] * normal[1], c = normal[2] * normal[2];
    const float most = a > b ? (a > c ? a : c) : b > c ? b : c;
    return most > 0.998f * (a + b + c);
}
static inline int und_volume_across(const float normal[3])
{
    const float size[3] = {__builtin_fabsf(normal[0]), __builtin_fabsf(normal[1]),
                           __builtin_fabsf(normal[2])};
    return size[0] > size[1] ? (size[0] > size[2] ? 0 : 2) : size[1] >= size[2] ? 1 : 2;
}
/* Of what is in a cell on a slanted wall, what a face that is open so far lets over: the rest goes round the
 * corner that the wall makes there. */
static inline float und_volume_film_part(const und_volume_walls *walls, size_t at, float open)
{
    return open < walls->room[at] ? open / walls->room[at] : 1;
}
/* What a wall takes of a cell's faces: its area there, as a vector. */
static inline float und_volume_wall_area(const und_volume_arrays *v, const und_volume_walls *walls, size_t at,
                                         float normal[3])
{
    float sum = 0;
    for (int a = 0; a < 3; a++) {
        const float *open = walls->open[a] + at;
        normal[a] = v->mac.n[a] > 1 ? open[0] - open[-v->mac.step[a]] : 0;
        sum += normal[a] * normal[a];
    }
    return __builtin_sqrtf(sum);
}

static inline bool und_volume_in_column(const und_volume_arrays *v, const und_volume_walls *walls, size_t at,
                                        int axis, int by, size_t *next)
{
    *next = (size_t)((ptrdiff_t)at + by * v->mac.step[axis]);
    return v->inside[*next] && (by == 0 || walls->open[axis][by < 0 ? *next : at] > 0);
}

/* Whether phi shows liquid outside of walls within so many cells. */
static inline bool und_volume_is_near_liquid(const und_volume_arrays *v, const und_volume_walls *walls,
                                             const float *phi, size_t at)
{
    const und_mac *m = &v->mac;
    int cell[3], low[3], high[3];
    und_mac_cell(m, at, cell);
    for (int a = 0; a < 3; a++) {
        low[a] = cell[a] > UND_VOLUME_NEAR_LIQUID ? cell[a] - UND_VOLUME_NEAR_LIQUID : 0;
        high[a] = cell[a] + UND_VOLUME_NEAR_LIQUID < m->n[a] ? cell[a] + UND_VOLUME_NEAR_LIQUID + 1 : m->n[a];
    }
    for (int z = low[2]; z < high[2]; z++)
        for (int y = low[1]; y < high[1]; y++)
            for (int x = low[0]; x < high[0]; x++) {
                const size_t there = und_mac_at(m, x, y, z);
                if (phi[there] < 0 && und_volume_room(walls, there) > 0)
                    return true;
            }
    return false;
}

/* In walls phi goes on: below a film as below the edge of a pool, which is not far from that. */
static inline bool und_volume_is_beside_liquid(const und_volume_arrays *v, const und_volume_walls *walls,
                                               const float *phi, size_t at)
{
    bool in_wall = false;
    for (int way = 0; way < 6; way++) {
        const size_t step = (size_t)v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
        if (phi[next] < 0 && und_volume_room(walls, next) > 0)
            return true;
        in_wall = in_wall || phi[next] < 0;
    }
    return in_wall && und_volume_is_near_liquid(v, walls, phi, at);
}

/* Whether the wall of this normal at a cell cuts cells aslant, and films run along it by themselves.  Then
 * what is on it is told by columns of cells, as the wall cuts them anyhow, along the axis across. */
static inline bool und_volume_is_slanted(const und_volume_arrays *v, const und_volume_walls *walls,
                                         const float *phi, size_t at, const float normal[3])
{
    const int across = und_volume_across(normal);
    float sum[3] = {0}, area[3];
    size_t next;
    const double off = (double)normal[0] * walls->gravity[0] + (double)normal[1] * walls->gravity[1] +
                       (double)normal[2] * walls->gravity[2];
    if (!walls->rest || off > 0 || und_volume_is_straight(normal) ||
        (phi && und_volume_is_beside_liquid(v, walls, phi, at)))
        return false;
    for (int by = -1; by <= 1; by++)
        if (und_volume_in_column(v, walls, at, across, by, &next)) {
            und_volume_wall_area(v, walls, next, area);
            for (int a = 0; a < 3; a++)
                sum[a] += area[a];
        }
    return __builtin_fabsf(sum[across]) > 0.1f && !und_volume_is_straight(sum);
}

/* On a side of the domain. */
static inline bool und_volume_leans_on_side(const und_volume_arrays *v, const und_volume_walls *walls,
                                            size_t at, float normal[3])
{
    const und_mac *m = &v->mac;
    const uint8_t *inside = v->inside;
    const int32_t half = v->c[at] / 2;
    for (int a = 0; a < und_volume_axes(m); a++) {
        const size_t low = at - (size_t)m->step[a], high = at + (size_t)m->step[a];
        if (m->n[a] < 2)
            continue;
        if (!inside[low] && walls->closed[2 * a] && v->c[high] < half) {
            normal[a] = 1;
            return true;
        }
        if (!inside[high] && walls->closed[2 * a + 1] && v->c[low] < half) {
            normal[a] = -1;
            return true;
        }
    }
    return false;
}

static inline void und_volume_solid_normal(const und_volume_arrays *v, const und_volume_walls *walls,
                                           size_t at, float normal[3])
{
    const und_mac *m = &v->mac;
    const float *d = walls->distance + at;
    for (int a = 0; a < 3; a++)
        normal[a] = m->n[a] > 1 ? 0.5f * (d[m->step[a]] - d[-m->step[a]]) : 0;
}

static inline bool und_volume_leans_on_solid(const und_volume_arrays *v, const und_volume_walls *walls,
                                             size_t at, float normal[3])
{
    const und_mac *m = &v->mac;
    const float *d = walls->distance + at;
    und_volume_solid_normal(v, walls, at, normal);
    const int best = und_volume_across(normal);
    const float most = normal[best];
    const size_t step = (size_t)m->step[best];
    size_t next = most > 0 ? at + step : at - step;
    const bool within = und_volume_is_slanted(v, walls, NULL, at, normal) && *d < UND_VOLUME_INNER;
    if (most == 0 || !v->inside[next])
        return false;
    if (walls->room[next] < 1 || within) /* of a slanted wall: what lies on it may be there too */
        next = most > 0 ? next + step : next - step;
    return v->inside[next] ? v->c[next] < v->c[at] / 2 : within;
}

/* The wall that what is in a cell lies on: how far its surface is from the cell's middle, and its normal;
 * false where there is none, or the cell before it holds half as much, or more. */
static inline bool und_volume_leans(const und_volume_arrays *v, const und_volume_walls *walls, size_t at,
                                    float *distance, float normal[3])
{
    normal[0] = normal[1] = normal[2] = 0;
    *distance = 0.5f;
    if (und_volume_leans_on_side(v, walls, at, normal))
        return true;
    if (!walls->room ||
        !(walls->distance[at] < UND_VOLUME_NEAR_WALL && walls->room[at] > UND_VOLUME_LEANS_ROOM))
        return false;
    *distance = walls->distance[at];
    return und_volume_leans_on_solid(v, walls, at, normal);
}

/* Bits of UND_LANES cells: of all others it is false. */
static inline unsigned und_volume_may_lean(const und_volume_arrays *v, const und_volume_walls *walls,
                                           size_t at)
{
    const uint8_t *inside = v->inside + at;
    und_lanes_int may = {0};
    for (int a = 0; a < und_volume_axes(&v->mac); a++)
        may |=
            (und_lanes_bytes(inside - v->mac.step[a]) == 0) | (und_lanes_bytes(inside + v->mac.step[a]) == 0);
    if (walls->room)
        may |= (und_lanes_load(walls->distance + at) < UND_VOLUME_NEAR_WALL) &
               (und_lanes_load(walls->room + at) > UND_VOLUME_LEANS_ROOM);
    return und_lanes_bits(may);
}

/* Where the surface meets a wall a cell may hold liquid though its middle is in the air: that is no film, phi
 * shows it. */
typedef enum und_volume_place {
    UND_VOLUME_NOT_ON_WALL,
    UND_VOLUME_ON_WALL,
    UND_VOLUME_BESIDE_LIQUID
} und_volume_place;

static inline und_volume_place und_volume_place_of(const und_volume_arrays *v, const und_volume_walls *walls,
                                                   const float *phi, size_t at)
{
    float distance, normal[3];
    if (!(phi[at] > 0 && v->c[at] > 0) || !und_volume_leans(v, walls, at, &distance, normal))
        return UND_VOLUME_NOT_ON_WALL;
    return und_volume_is_beside_liquid(v, walls, phi, at) ? UND_VOLUME_BESIDE_LIQUID : UND_VOLUME_ON_WALL;
}

static inline bool und_volume_is_film_beside_liquid(const und_volume_arrays *v, const und_volume_walls *walls,
                                                    size_t at, int32_t part)
{
    float distance, normal[3];
    und_volume_walls plain = *walls;
    plain.rest = false; /* beside liquid a slanted wall is as any other */
    return part < v->c[at] / 2 && und_volume_leans(v, &plain, at, &distance, normal);
}

static inline bool und_volume_is_film(const und_volume_arrays *v, const und_volume_walls *walls,
                                      const float *phi, size_t at, int32_t part)
{
    const und_volume_place here = und_volume_place_of(v, walls, phi, at);
    return here == UND_VOLUME_ON_WALL ||
           (here == UND_VOLUME_BESIDE_LIQUID && und_volume_is_film_beside_liquid(v, walls, at, part));
}

/* What a column of three cells holds, the middle of which is given: those that are open to it, cells. */
static inline float und_volume_column_at(const und_volume_arrays *v, const und_volume_walls *walls, size_t at,
                                         int axis)
{
    float held = 0;
    size_t next;
    for (int by = -1; by <= 1; by++)
        if (und_volume_in_column(v, walls, at, axis, by, &next))
            held += und_volume_cells(v->c[next] > 0 ? v->c[next] : 0);
    return held;
}

/* How thick the liquid is that lies on a wall which cuts a cell, cells; no number where that is not known. */
static inline float und_volume_held_layer(const und_volume_arrays *v, const und_volume_walls *walls,
                                          size_t at)
{
    float normal[3], way[3], area = und_volume_wall_area(v, walls, at, normal);
    const int across = und_volume_across(normal);
    size_t next;
    if (!(walls->room[at] < 1) || !(area > UND_VOLUME_LEAST_WALL))
        return __builtin_inff();
    for (int by = -1; by <= 1; by += 2)
        if (und_volume_in_column(v, walls, at, across, by, &next))
            area += und_volume_wall_area(v, walls, next, way);
    return und_volume_column_at(v, walls, at, across) / area;
}

/* The film on a slanted wall of this normal around a cell: how thick it is, cells. */
static inline float und_volume_film_thickness(const und_volume_arrays *v, const und_volume_walls *walls,
                                              size_t at, const float normal[3])
{
    const int axis = und_volume_across(normal);
    float held = 0, area = 0, way[3];
    size_t next;
    for (int by = -1; by <= 1; by++)
        if (und_volume_in_column(v, walls, at, axis, by, &next)) {
            held += v->film[next] ? und_volume_cells(v->c[next]) : 0;
            area += und_volume_wall_area(v, walls, next, way);
        }
    return area > 0.1f ? held / area : und_volume_cells(v->c[at]);
}

/* Whether a film closes over a dry cell at a wall of this normal: films go round most of
 * it, as of holes of a cell, and bays as narrow. */
static inline bool und_volume_is_hole(const und_volume_arrays *v, size_t at, const float normal[3])
{
    int wet = 0, all = 0;
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++) {
            const size_t row = (size_t)((ptrdiff_t)at + y * v->mac.step[1] + z * v->mac.step[2]);
            for (int x = -1; x <= 1; x++) {
                const float off = (float)x * normal[0] + (float)y * normal[1] + (float)z * normal[2];
                const size_t next = (size_t)((ptrdiff_t)row + x);
                if (next == at || __builtin_fabsf(off) > UND_VOLUME_ALONG || !v->inside[next])
                    continue;
                all++;
                wet += v->c[next] > 0;
            }
        }
    return 8 * wet >= 5 * all;
}

/* Whether such a film's contact line stands in a cell: it does not go on to the next. */
static inline bool und_volume_film_stands(const und_volume_arrays *v, const und_volume_walls *walls,
                                          size_t behind, size_t from, size_t to, const float normal[3],
                                          float pin)
{
    const int across = und_volume_across(normal);
    const float thin = __builtin_fabsf(normal[across]);
    if (und_volume_column_at(v, walls, to, across) > 0 || und_volume_is_hole(v, to, normal))
        return false;
    const float own = und_volume_column_at(v, walls, from, across) * thin;
    const float after = v->inside[behind] ? und_volume_column_at(v, walls, behind, across) * thin : 0;
    return own < pin && own < 0.875f * after;
}

#endif
