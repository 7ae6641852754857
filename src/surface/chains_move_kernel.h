/* Markers of chains go along the flow, and stay before what is solid. */
#ifndef UND_SURFACE_CHAINS_MOVE_KERNEL_H
#define UND_SURFACE_CHAINS_MOVE_KERNEL_H

#include "grid/mac_sample.h"
#include "grid/pass.h"

#include <undine/walls.h>

/* ---- Points ---- */

typedef struct und_point {
    double x, y;
} und_point;

UND_INLINE und_point und_point_add(und_point a, und_point b, double scale) /* a + scale b */
{
    return (und_point){a.x + scale * b.x, a.y + scale * b.y};
}
UND_INLINE und_point und_point_from(und_point a, und_point b) /* from a to b */
{
    return (und_point){b.x - a.x, b.y - a.y};
}
UND_INLINE double und_point_dot(und_point a, und_point b)
{
    return a.x * b.x + a.y * b.y;
}
UND_INLINE double und_point_cross(und_point a, und_point b)
{
    return a.x * b.y - a.y * b.x;
}
UND_INLINE double und_point_length(und_point a)
{
    return __builtin_sqrt(und_point_dot(a, a));
}
UND_INLINE double und_point_gap(und_point a, und_point b)
{
    return und_point_length(und_point_from(a, b));
}

/* ---- Walls ---- */

/* What lies beside the domain is solid. */
UND_INLINE bool und_chains_solid(const und_mac *m, const uint8_t *label, int x, int y)
{
    return x < 0 || y < 0 || x >= m->n[0] || y >= m->n[1] || label[und_mac_at(m, x, y, 0)] == UND_CELL_SOLID;
}

/* Markers on a wall stand this far before it, in cells, so that they are in the cell they belong to. */
#define UND_CHAINS_SKIN 1e-6

/* The walls that a place is on: bits 0 to 3 for a solid on its low and high side along x and y, bit 4 for a
 * solid's corner; and bit 5 where liquid comes in there. */
enum { UND_AT_CORNER = 16, UND_AT_INFLOW = 32 };
#define UND_CHAINS_LONGEST_PIECE 0.5 /* of a way, in cells, so that no solid is jumped over */
#define UND_CHAINS_WALL_GAP \
    0.1 /* cells: air thinner than this between a wall and liquid that comes to it is closed */

UND_INLINE double und_chains_coordinate(const und_mac *m, int axis, double value)
{
    return (value - m->origin[axis]) / m->d[axis];
}

UND_INLINE unsigned und_chains_walls_at(const und_mac *m, const uint8_t *label, und_point p)
{
    double at[2] = {und_chains_coordinate(m, 0, p.x), und_chains_coordinate(m, 1, p.y)};
    int cell[2] = {(int)__builtin_floor(at[0]), (int)__builtin_floor(at[1])}, side[2] = {0, 0};
    unsigned walls = 0;
    for (int a = 0; a < 2; a++) {
        double part = at[a] - cell[a];
        side[a] = part < 2 * UND_CHAINS_SKIN ? -1 : part > 1 - 2 * UND_CHAINS_SKIN ? 1 : 0;
        if (side[a] && und_chains_solid(m, label, cell[0] + (a == 0) * side[a], cell[1] + (a == 1) * side[a]))
            walls |= 1u << (2 * a + (side[a] > 0));
    }
    if (side[0] && side[1] && und_chains_solid(m, label, cell[0] + side[0], cell[1] + side[1]))
        walls |= UND_AT_CORNER;
    return walls;
}

/* A way in cells, along one axis after the other; at solids it ends. */
UND_INLINE und_point und_chains_slide(const und_mac *m, const uint8_t *label, und_point p, und_point way)
{
    double at[2] = {und_chains_coordinate(m, 0, p.x), und_chains_coordinate(m, 1, p.y)};
    double go[2] = {way.x / m->d[0], way.y / m->d[1]};
    double longest = und_double_max(__builtin_fabs(go[0]), __builtin_fabs(go[1]));
    if (!(longest < 1e3))
        return p; /* numerical trouble elsewhere must not become a place */
    int pieces = (int)__builtin_ceil(longest / UND_CHAINS_LONGEST_PIECE);
    for (int k = 0; k < pieces; k++)
        for (int a = 0; a < 2; a++) {
            int cell[2] = {(int)__builtin_floor(at[0]), (int)__builtin_floor(at[1])};
            double to = at[a] + go[a] / pieces, low = cell[a] + UND_CHAINS_SKIN,
                   high = cell[a] + 1 - UND_CHAINS_SKIN;
            bool stuck = und_chains_solid(m, label, cell[0], cell[1]);
            int step = to < low ? -1 : to > high ? 1 : 0;
            if (step && !stuck &&
                und_chains_solid(m, label, cell[0] + (a == 0) * step, cell[1] + (a == 1) * step))
                to = step < 0 ? low : high;
            at[a] = und_double_min(und_double_max(to, UND_CHAINS_SKIN), m->n[a] - UND_CHAINS_SKIN);
        }
    return (und_point){m->origin[0] + at[0] * m->d[0], m->origin[1] + at[1] * m->d[1]};
}

/* ---- Moving ---- */

typedef struct und_chains_move_args {
    und_mac mac;
    double *u[3];
    const uint8_t *label, *wall;
    const und_wall_def *walls;
    int wall_count;
    const double *place[2];
    double *to[2];
    const int32_t *next, *prev;
    uint8_t *flag; /* the walls that each is on */
    double dt;
} und_chains_move_args;

UND_INLINE und_point und_chains_place(const und_chains_move_args *s, size_t i)
{
    return (und_point){s->place[0][i], s->place[1][i]};
}
UND_INLINE void und_chains_put(const und_chains_move_args *s, size_t i, und_point p)
{
    s->to[0][i] = p.x;
    s->to[1][i] = p.y;
}

/* Does liquid come into the cell from its low (-1) or high (1) side along an axis? */
UND_INLINE bool und_chains_comes_in(const und_chains_move_args *in, const und_mac *m, const int cell[2],
                                    int axis, int side)
{
    const size_t step = (size_t)m->step[axis], at = und_mac_at(m, cell[0], cell[1], 0);
    const size_t solid = side > 0 ? at + step : at - step;
    const double speed = in->u[axis][side > 0 ? at : solid];
    return in->label[solid] == UND_CELL_SOLID && in->wall[solid] < in->wall_count &&
           in->walls[in->wall[solid]].kind == UND_WALL_INFLOW && speed * side < 0 &&
           __builtin_fabs(speed) < __builtin_inf();
}

/* Whether liquid comes in through one of the walls that a place is on. */
UND_INLINE bool und_chains_is_at_inflow(const und_mac *m, const und_chains_move_args *in, und_point p,
                                        unsigned walls)
{
    const int cell[2] = {(int)__builtin_floor(und_chains_coordinate(m, 0, p.x)),
                         (int)__builtin_floor(und_chains_coordinate(m, 1, p.y))};
    for (int k = 0; k < 4; k++)
        if (walls >> k & 1 && und_chains_comes_in(in, m, cell, k / 2, k % 2 ? 1 : -1))
            return true;
    return false;
}

UND_INLINE void und_chains_find_walls(const und_chains_move_args *s, und_place p)
{
    for (size_t i = p.at; i < p.at + (size_t)p.x; i++) {
        const und_point at = und_chains_place(s, i);
        const unsigned walls = und_chains_walls_at(&s->mac, s->label, at);
        s->flag[i] = (uint8_t)(walls | (und_chains_is_at_inflow(&s->mac, s, at, walls) ? UND_AT_INFLOW : 0));
    }
}
UND_KERNEL(und_chains_find_walls, und_chains_move_args, UND_EACH_BLOCK)

/* Markers between two others on walls stay where they are: there the liquid's outline is the wall, however
 * it slides along, and around a solid's corners too.  So do those at openings, from which it is drawn out. */
UND_INLINE bool und_chains_stays(const und_chains_move_args *s, size_t i)
{
    return (s->flag[i] && s->flag[s->prev[i]] && s->flag[s->next[i]]) || s->flag[i] & UND_AT_INFLOW;
}

/* Velocity by area weighting (figure 3), along the walls only. */
UND_INLINE und_point und_chains_velocity_at(const und_mac *m, double *const u[3], und_point p, unsigned walls)
{
    double v[3];
    und_mac_velocity(m, u, (const double[3]){p.x, p.y, m->origin[2]}, v);
    return (und_point){walls & 3 ? 0 : v[0], walls & 12 ? 0 : v[1]};
}

/* The midpoint rule. */
UND_INLINE void und_chains_carry(const und_chains_move_args *s, und_place p)
{
    for (size_t i = p.at; i < p.at + (size_t)p.x; i++) {
        const und_point at = und_chains_place(s, i), still = {0, 0};
        und_point to = at;
        if (!und_chains_stays(s, i)) {
            und_point v = und_chains_velocity_at(&s->mac, s->u, at, s->flag[i]);
            const und_point middle =
                und_chains_slide(&s->mac, s->label, at, und_point_add(still, v, s->dt / 2));
            v = und_chains_velocity_at(&s->mac, s->u, middle, s->flag[i]);
            to = und_chains_slide(&s->mac, s->label, at, und_point_add(still, v, s->dt));
        }
        und_chains_put(s, i, to);
    }
}
UND_KERNEL(und_chains_carry, und_chains_move_args, UND_EACH_BLOCK)

/* Liquid comes to a wall ever more slowly, the velocity across being none at it; the last bit of air between
 * them is closed. */
UND_INLINE und_point und_chains_land_at(const und_chains_move_args *s, size_t i)
{
    const und_mac *m = &s->mac;
    const double *x = s->place[0], *y = s->place[1];
    double at[2] = {und_chains_coordinate(m, 0, x[i]), und_chains_coordinate(m, 1, y[i])};
    int cell[2] = {(int)__builtin_floor(at[0]), (int)__builtin_floor(at[1])};
    und_point along = {x[s->next[i]] - x[s->prev[i]], y[s->next[i]] - y[s->prev[i]]};
    double length = und_point_length(along), out[2] = {along.y, -along.x};
    for (int a = 0; a < 2; a++) {
        int step = out[a] > 0 ? 1 : -1;
        double gap = step > 0 ? cell[a] + 1 - at[a] : at[a] - cell[a];
        if (__builtin_fabs(out[a]) > 0.7 * length && gap < UND_CHAINS_WALL_GAP &&
            !und_chains_solid(m, s->label, cell[0], cell[1]) &&
            und_chains_solid(m, s->label, cell[0] + (a == 0) * step, cell[1] + (a == 1) * step))
            at[a] = step > 0 ? cell[a] + 1 - UND_CHAINS_SKIN : cell[a] + UND_CHAINS_SKIN;
    }
    return (und_point){m->origin[0] + at[0] * m->d[0], m->origin[1] + at[1] * m->d[1]};
}

UND_INLINE void und_chains_land(const und_chains_move_args *s, und_place p)
{
    for (size_t i = p.at; i < p.at + (size_t)p.x; i++)
        und_chains_put(s, i, und_chains_stays(s, i) ? und_chains_place(s, i) : und_chains_land_at(s, i));
}
UND_KERNEL(und_chains_land, und_chains_move_args, UND_EACH_BLOCK)

#endif
