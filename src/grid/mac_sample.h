/* The velocity anywhere in a staggered grid, by area weighting (Foster & Metaxas 1996, figure 3): each
 * component is linear between the eight nearest of its own faces. */
#ifndef UND_GRID_MAC_SAMPLE_H
#define UND_GRID_MAC_SAMPLE_H

#include "base/lanes.h"
#include "grid/mac.h"

/* Of a place along one axis: the lower of two neighbouring values, and how far it is towards the upper. */
typedef struct und_mac_between {
    ptrdiff_t low; /* what its place along this axis adds to an index */
    double part;   /* 0 to 1 */
} und_mac_between;

/* t counts from the first of `last + 1` intervals; places beyond the ends are at the ends, and so is NaN. */
static inline und_mac_between und_mac_between_at(double t, int last, ptrdiff_t step)
{
    t = t > 0 ? t : 0;
    t = t < last + 1 ? t : last + 1;
    int i = (int)t;
    i = i < last ? i : last;
    return (und_mac_between){(i - 1) * step, t - i};
}

static inline double und_mac_mix(double a, double b, double part)
{
    return a + part * (b - a);
}

/* Two neighbours along x, which are mixed along the other axes at once. */
typedef double und_mac_pair __attribute__((vector_size(16)));

static inline und_mac_pair und_mac_pair_mix(const double *v, ptrdiff_t up, double part)
{
    und_mac_pair a, b;
    __builtin_memcpy(&a, v, sizeof a);
    __builtin_memcpy(&b, v + up, sizeof b);
    return a + part * (b - a);
}

/* Linear between the 2^dimensions values from v on. */
static inline double und_mac_mix_all(const double *v, const ptrdiff_t step[3], const double part[3],
                                     int dimensions)
{
    und_mac_pair pair = und_mac_pair_mix(v, step[1], part[1]);
    if (dimensions == 3)
        pair += part[2] * (und_mac_pair_mix(v + step[2], step[1], part[1]) - pair);
    return und_mac_mix(pair[0], pair[1], part[0]);
}

/* The place in cells from the grid's low corner. */
static inline void und_mac_cells(const und_mac *m, const double place[3], double cells[3])
{
    for (int a = 0; a < 3; a++)
        cells[a] = (place[a] - m->origin[a]) / m->d[a];
}

/* The first `dimensions` components of the velocity; inlined for a constant number. */
static inline void und_mac_components(const und_mac *m, double *const u[3], const double cells[3],
                                      double out[3], int dimensions)
{
    und_mac_between on[3], off[3]; /* of the component along the axis: on its faces; of others: on middles */
    ptrdiff_t middle = (ptrdiff_t)m->first;
    for (int a = 0; a < dimensions; a++) {
        on[a] = und_mac_between_at(cells[a], m->n[a] - 1, m->step[a]);
        off[a] = und_mac_between_at(cells[a] + 0.5, m->n[a], m->step[a]);
        middle += off[a].low;
    }
    for (int c = 0; c < dimensions; c++) {
        double part[3];
        for (int a = 0; a < dimensions; a++)
            part[a] = a == c ? on[a].part : off[a].part;
        out[c] = und_mac_mix_all(u[c] + middle - off[c].low + on[c].low, m->step, part, dimensions);
    }
}

/* The velocity, m/s, at a place in cells.  In two dimensions all places are in the one layer, whose third
 * component is 0. */
static inline void und_mac_velocity_cells(const und_mac *m, double *const u[3], const double cells[3],
                                          double out[3])
{
    out[2] = 0;
    if (m->n[2] == 1)
        und_mac_components(m, u, cells, out, 2);
    else
        und_mac_components(m, u, cells, out, 3);
}

/* The velocity at a place in metres. */
static inline void und_mac_velocity(const und_mac *m, double *const u[3], const double place[3],
                                    double out[3])
{
    double cells[3];
    und_mac_cells(m, place, cells);
    und_mac_velocity_cells(m, u, cells, out);
}

/* The same at up to UND_MAC_MANY places at once, and faster: cells[axis][i] to out[axis][i]. */
enum { UND_MAC_MANY = UND_LANES > 1 ? 64 : 1 };

typedef struct und_mac_betweens {
    int32_t low[UND_MAC_MANY];
    double part[UND_MAC_MANY];
} und_mac_betweens;

static inline void und_mac_betweens_at(const double *cells, double shift, int last, ptrdiff_t step, int count,
                                       und_mac_betweens *out)
{
    for (int i = 0; i < count; i++) {
        double t = cells[i] + shift;
        t = t > 0 ? t : 0;
        t = t < last + 1 ? t : last + 1;
        int at = (int)t;
        at = at < last ? at : last;
        out->low[i] = (at - 1) * (int32_t)step;
        out->part[i] = t - at;
    }
}

static inline void und_mac_velocity_many(const und_mac *m, double *const u[3], int count,
                                         const double cells[3][UND_MAC_MANY], double out[3][UND_MAC_MANY])
{
    und_mac_betweens on[3], off[3];
    const ptrdiff_t step[3] = {m->step[0], m->step[1], m->step[2]}, first = (ptrdiff_t)m->first;
    int dimensions = m->n[2] == 1 ? 2 : 3;
    for (int a = 0; a < 3; a++) {
        und_mac_betweens_at(cells[a], 0, m->n[a] - 1, m->step[a], count, &on[a]);
        und_mac_betweens_at(cells[a], 0.5, m->n[a], m->step[a], count, &off[a]);
    }
    for (int c = 0; c < 3; c++) {
        const und_mac_betweens *x = c == 0 ? &on[0] : &off[0], *y = c == 1 ? &on[1] : &off[1],
                               *z = c == 2 ? &on[2] : &off[2];
        for (int i = 0; i < count; i++) {
            const double part[3] = {x->part[i], y->part[i], z->part[i]};
            const double *v = u[c] + first + x->low[i] + y->low[i];
            if (dimensions == 3)
                out[c][i] = und_mac_mix_all(v + z->low[i], step, part, 3);
            else
                out[c][i] = c == 2 ? 0 : und_mac_mix_all(v, step, part, 2);
        }
    }
}

#endif
