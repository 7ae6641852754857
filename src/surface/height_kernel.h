/* The surface as one height in each column: equations 11 and 12 of Foster & Metaxas 1996, a row of columns at
 * a time. */
#ifndef UND_SURFACE_HEIGHT_KERNEL_H
#define UND_SURFACE_HEIGHT_KERNEL_H

#include "grid/pass.h"

#include <undine/walls.h>

#define UND_HEIGHT_AT_FACE 1e-9 /* of a cell: so near to a face the surface belongs to the cell below */
#define UND_HEIGHT_FILM 1e-3    /* of a cell: thinner water has no liquid cell */

/* One of the four sides of a column, and what is behind it. */
typedef struct und_height_side {
    int axis, to;         /* 0 or 2; -1 or 1 */
    ptrdiff_t column;     /* from a column to the one behind */
    ptrdiff_t cell, face; /* from a cell to the one behind, and to the one that keeps the face between */
    double size;          /* m, of cells along the axis */
} und_height_side;

typedef struct und_height_args {
    und_mac mac;
    int stride;
    double *h;
    const double *before, *ground;
    double *speed[3], *bend, *gain, *clip;
    int32_t *cell;
    const double *u[3];
    const uint8_t *label;
    und_height_side side[4];
    double dt, smoothing;
} und_height_args;

UND_INLINE double und_height_less(double a, double b) /* the second where one is no number */
{
    return a < b ? a : b;
}
UND_INLINE double und_height_more(double a, double b)
{
    return a > b ? a : b;
}

UND_INLINE size_t und_height_column(int stride, int x, int z)
{
    return (size_t)z * (size_t)stride + (size_t)x;
}

UND_INLINE double und_height_top(const und_mac *m)
{
    return m->origin[1] + m->n[1] * m->d[1];
}

/* The cell that height h is in. */
UND_INLINE int und_height_cell(const und_mac *m, double h)
{
    const double y = (h - m->origin[1]) / m->d[1];
    return (int)und_height_less(und_height_more(__builtin_ceil(y - UND_HEIGHT_AT_FACE) - 1, 0), m->n[1] - 1);
}

/* ---- The surface's velocity ---- */

UND_INLINE bool und_height_is_liquid(uint8_t label)
{
    return label == UND_CELL_FULL || label == UND_CELL_SURFACE;
}

/* The liquid cell nearest to the surface of column (x, z), lower ones first; -1: the column is dry. */
UND_INLINE int und_height_liquid_cell(const und_height_args *s, double h, int x, int z)
{
    const int y = und_height_cell(&s->mac, h), n = s->mac.n[1];
    for (int k = 0; k < n; k++) {
        if (y - k >= 0 && und_height_is_liquid(s->label[und_mac_at(&s->mac, x, y - k, z)]))
            return y - k;
        if (y + k < n && und_height_is_liquid(s->label[und_mac_at(&s->mac, x, y + k, z)]))
            return y + k;
    }
    return -1;
}

/* That of the cell it is in, the vertical one between that of the cell's low and of its high face. */
UND_INLINE void und_height_find_speeds(const und_height_args *s, und_place p)
{
    const und_mac *m = &s->mac;
    const int z = p.y;
    for (int x = 0; x < m->n[0]; x++) {
        const size_t column = und_height_column(s->stride, x, z);
        const double h = s->before[column];
        const int y = und_height_liquid_cell(s, h, x, z);
        s->cell[column] = y;
        for (int a = 0; a < 3; a++) {
            const size_t high = und_mac_at(m, x, y < 0 ? 0 : y, z), low = high - (size_t)m->step[a];
            double share = 0.5;
            if (a == 1)
                share = und_height_less(und_height_more((h - m->origin[1]) / m->d[1] - y, 0), 1);
            s->speed[a][column] = y < 0 ? 0 : s->u[a][low] + share * (s->u[a][high] - s->u[a][low]);
        }
    }
}
UND_KERNEL(und_height_find_speeds, und_height_args, UND_EACH_BLOCK)

/* ---- From column to column ---- */

/* Whether water can go through a side between two wet columns at their surfaces: no wall is there, and both
 * have water above both grounds. */
UND_INLINE bool und_height_is_joined(const und_height_args *s, const und_height_side *d, size_t column,
                                     size_t cell)
{
    const size_t behind = (size_t)((ptrdiff_t)column + d->column);
    if (s->label[(size_t)((ptrdiff_t)cell + d->cell)] == UND_CELL_SOLID || s->cell[behind] < 0)
        return false;
    const ptrdiff_t level = (s->cell[behind] - s->cell[column]) * s->mac.step[1];
    return s->label[(size_t)((ptrdiff_t)cell + level)] != UND_CELL_SOLID &&
           s->before[behind] > s->ground[column] && s->before[column] > s->ground[behind];
}

/* By how much the columns beside are higher, together. */
UND_INLINE void und_height_find_bends(const und_height_args *s, und_place p)
{
    const int z = p.y;
    for (int x = 0; x < s->mac.n[0]; x++) {
        const size_t column = und_height_column(s->stride, x, z),
                     cell = und_mac_at(&s->mac, x, s->cell[column], z);
        double bend = 0;
        for (int k = 0; k < 4 && s->cell[column] >= 0; k++)
            if (und_height_is_joined(s, &s->side[k], column, cell))
                bend += s->before[(size_t)((ptrdiff_t)column + s->side[k].column)] - s->before[column];
        s->bend[column] = bend;
    }
}
UND_KERNEL(und_height_find_bends, und_height_args, UND_EACH_BLOCK)

/* Equation 12's share of one side in the change of a wet column, m/s: convection by the central difference,
 * a wall behind being as high as the surface before it; then what goes from column to column, the viscosity
 * and the smoothing. */
UND_INLINE double und_height_through_side(const und_height_args *s, const und_height_side *d, size_t column,
                                          size_t cell)
{
    const size_t behind = (size_t)((ptrdiff_t)column + d->column);
    if (s->label[(size_t)((ptrdiff_t)cell + d->cell)] == UND_CELL_SOLID)
        return 0;
    const double h = s->before[column], other = s->before[behind];
    const double slope = d->to * (und_height_more(other, s->ground[column]) - h) / d->size;
    const double change = -0.5 * slope * s->speed[d->axis][column];
    if (!und_height_is_joined(s, d, column, cell))
        return change;
    double viscosity = 0;
    const size_t both[2] = {column, behind};
    for (int k = 0; k < 2; k++) {
        const double along = __builtin_fabs(s->speed[d->axis][both[k]]),
                     across = __builtin_fabs(s->speed[2 - d->axis][both[k]]);
        viscosity += 0.25 * s->dt * along * (along + across * d->size / s->mac.d[2 - d->axis]);
    }
    const double smoothing = und_height_less(s->smoothing, 0.25 / s->dt) / 16;
    return change + viscosity * (other - h) / (d->size * d->size) +
           smoothing * (s->bend[column] - s->bend[behind]);
}

/* What comes into a dry column from a wet one: equation 12 with the velocity of the face between and level
 * ground behind.  Nothing leaves it. */
UND_INLINE double und_height_into_dry(const und_height_args *s, const und_height_side *d, int x, int z)
{
    const size_t column = und_height_column(s->stride, x, z), from = (size_t)((ptrdiff_t)column + d->column);
    const int inside = (d->axis == 0 ? x : z) + d->to;
    if (inside < 0 || inside >= s->mac.n[d->axis] || s->cell[from] < 0)
        return 0;
    const size_t cell = und_mac_at(&s->mac, x, s->cell[from], z);
    if (s->label[cell] == UND_CELL_SOLID)
        return 0;
    const double speed = -d->to * s->u[d->axis][(size_t)((ptrdiff_t)cell + d->face)];
    return und_height_more(speed, 0) * und_height_more(s->before[from] - s->ground[column], 0) /
           (2 * d->size);
}

/* What the row gains, and what the ground and the domain's top stop, is added up from one end to the other.
 */
UND_INLINE void und_height_go(const und_height_args *s, und_place p)
{
    const int z = p.y;
    const double top = und_height_top(&s->mac), endless = __builtin_inf();
    double gain = 0, clip = 0;
    for (int x = 0; x < s->mac.n[0]; x++) {
        const size_t column = und_height_column(s->stride, x, z),
                     cell = und_mac_at(&s->mac, x, s->cell[column], z);
        double change = s->speed[1][column];
        for (int k = 0; k < 4; k++)
            change += s->cell[column] < 0 ? und_height_into_dry(s, &s->side[k], x, z)
                                          : und_height_through_side(s, &s->side[k], column, cell);
        const double wanted = s->before[column] + s->dt * change;
        const double h = und_height_less(und_height_more(wanted, s->ground[column]),
                                         top); /* of what is no number: the ground */
        clip += __builtin_fabs(wanted) < endless ? h - wanted : 0;
        gain += h - s->before[column];
        s->h[column] = h;
    }
    s->gain[z] = gain;
    s->clip[z] = clip;
}
UND_KERNEL(und_height_go, und_height_args, UND_EACH_BLOCK)

/* ---- Labels ---- */

typedef struct und_height_label_args {
    und_mac mac;
    int stride;
    const double *h, *ground;
    uint8_t *label;
} und_height_label_args;

/* Of columns x in [0, count) of cells `at` on. */
enum { UND_HEIGHT_STRIP = UND_LANES > 1 ? 256 : 1 };
UND_INLINE void und_height_label_strip(const und_height_label_args *s, size_t column, size_t at, int count)
{
    int32_t surface[UND_HEIGHT_STRIP];
    const double film = UND_HEIGHT_FILM * s->mac.d[1];
    for (int x = 0; x < count; x++) {
        const double h = s->h[column + (size_t)x];
        const bool dry = !(h - s->ground[column + (size_t)x] >= film);
        surface[x] = dry ? -1 : und_height_cell(&s->mac, h);
    }
    for (int y = 0; y < s->mac.n[1]; y++) {
        uint8_t *restrict label = s->label + at + (size_t)(y * s->mac.step[1]);
        for (int x = 0; x < count; x++) {
            uint8_t open = y < surface[x] ? UND_CELL_FULL : UND_CELL_EMPTY;
            open = y == surface[x] ? UND_CELL_SURFACE : open;
            label[x] = label[x] == UND_CELL_SOLID ? label[x] : open;
        }
    }
}
UND_INLINE void und_height_label_row(const und_height_label_args *s, und_place p)
{
    const int n = s->mac.n[0], z = p.y;
    for (int x = 0; x < n; x += UND_HEIGHT_STRIP)
        und_height_label_strip(s, und_height_column(s->stride, x, z), und_mac_at(&s->mac, x, 0, z),
                               n - x < UND_HEIGHT_STRIP ? n - x : UND_HEIGHT_STRIP);
}
UND_KERNEL(und_height_label_row, und_height_label_args, UND_EACH_BLOCK)

#endif
