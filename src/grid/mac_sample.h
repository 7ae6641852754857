/* The velocity anywhere in a staggered grid, by area weighting (Foster & Metaxas 1996, figure 3): each
 * component is linear between the eight nearest of its own faces. */
#ifndef UND_GRID_MAC_SAMPLE_H
#define UND_GRID_MAC_SAMPLE_H

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

static inline double und_mac_mix4(const double *v, ptrdiff_t up, double part_x, double part_y)
{
    return und_mac_mix(und_mac_mix(v[0], v[1], part_x), und_mac_mix(v[up], v[up + 1], part_x), part_y);
}

/* The place in cells from the grid's low corner. */
static inline void und_mac_cells(const und_mac *m, const double place[3], double cells[3])
{
    for (int a = 0; a < 3; a++)
        cells[a] = (place[a] - m->origin[a]) / m->d[a];
}

/* The velocity, m/s, at a place in cells.  In two dimensions all places are in the one layer, whose third
 * component is 0. */
static inline void und_mac_velocity_cells(const und_mac *m, double *const u[3], const double cells[3],
                                          double out[3])
{
    und_mac_between on[3], off[3]; /* of the component along the axis: on its faces; of others: on middles */
    int dimensions = m->n[2] == 1 ? 2 : 3;
    for (int a = 0; a < dimensions; a++) {
        on[a] = und_mac_between_at(cells[a], m->n[a] - 1, m->step[a]);
        off[a] = und_mac_between_at(cells[a] + 0.5, m->n[a], m->step[a]);
    }
    out[2] = 0;
    for (int c = 0; c < dimensions; c++) {
        const und_mac_between *x = c == 0 ? &on[0] : &off[0], *y = c == 1 ? &on[1] : &off[1];
        const double *v = u[c] + (ptrdiff_t)m->first + x->low + y->low;
        if (dimensions == 2) {
            out[c] = und_mac_mix4(v, m->step[1], x->part, y->part);
            continue;
        }
        const und_mac_between *z = c == 2 ? &on[2] : &off[2];
        v += z->low;
        out[c] = und_mac_mix(und_mac_mix4(v, m->step[1], x->part, y->part),
                             und_mac_mix4(v + m->step[2], m->step[1], x->part, y->part), z->part);
    }
}

/* The velocity at a place in metres. */
static inline void und_mac_velocity(const und_mac *m, double *const u[3], const double place[3],
                                    double out[3])
{
    double cells[3];
    und_mac_cells(m, place, cells);
    und_mac_velocity_cells(m, u, cells, out);
}

#endif
