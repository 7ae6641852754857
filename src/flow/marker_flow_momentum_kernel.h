/* The arithmetic of equation 2 of Foster & Metaxas 1996.
 *
 * Forward steps with central differences make waves grow as a viscosity below zero would: along an axis by
 * a d C / 2, a being the speed along it, d the cell's size and C the sum over all axes of the cells crossed
 * in a step; the cross terms are covered, for 2 a b x y <= a b (x^2 + y^2).  A flux gets that viscosity
 * where the liquid's own does not reach it, and no more: where it does, this is equation 2 as printed.  The
 * donor cell has a d / 2, so C is the share of it that stability asks for; a larger one may be wished. */
#ifndef UND_FLOW_MARKER_FLOW_MOMENTUM_KERNEL_H
#define UND_FLOW_MARKER_FLOW_MOMENTUM_KERNEL_H

#include "flow/marker_flow_parts.h"

/* ---- What comes in from the air ---- */

typedef struct und_momentum_slow_args {
    und_mac mac;
    double *u[3];
    double speed[3]; /* that is slow, m/s */
    const uint8_t *label;
} und_momentum_slow_args;

/* What comes in from the air, if it is not slow, brings no more speed than the liquid has at the opposite
 * side: open faces make up for what gathers in their cell (3.2.3), and if the liquid took that for its own,
 * it would go faster and faster. */
UND_INLINE void und_momentum_slow(const und_momentum_slow_args *k, und_place p)
{
    unsigned surface = und_doubles_bytes_are(k->label + p.at, UND_CELL_SURFACE) & p.which;
    for (; surface; surface &= surface - 1) {
        const size_t at = p.at + (size_t)__builtin_ctz(surface);
        for (int a = 0; a < (k->mac.n[2] > 1 ? 3 : 2); a++) {
            const size_t step = (size_t)k->mac.step[a];
            double *low = &k->u[a][at - step], *high = &k->u[a][at];
            const bool low_open = k->label[at - step] == UND_CELL_EMPTY;
            const bool high_open = k->label[at + step] == UND_CELL_EMPTY;
            if (low_open && !high_open && *low > 0)
                *low = und_double_min(*low, und_double_max(*high, k->speed[a]));
            if (high_open && !low_open && *high < 0)
                *high = und_double_max(*high, und_double_min(*low, -k->speed[a]));
        }
    }
}
UND_KERNEL(und_momentum_slow, und_momentum_slow_args, UND_EACH_SPAN)

/* ---- The donor cell's viscosity ---- */

typedef struct und_momentum_share_args {
    const double *u[3];
    ptrdiff_t step[2];
    double per_cell[3]; /* dt / d */
    const uint8_t *label;
    float *share, most, wished;
} und_momentum_share_args;

/* The share of it in each cell: as much as cells are crossed in a step, along all axes together, and what is
 * wished besides; in walls 0, at the surface all.  There open faces have the velocity of the face opposite
 * (3.2.3), and where liquid comes in through one, a difference that looks downstream makes it faster without
 * end. */
UND_INLINE void und_momentum_share(const und_momentum_share_args *a, und_place p)
{
    const und_doubles none = {0}, most = none + (double)a->most;
    const und_doubles cells = und_marker_cells(a->u, a->step, a->per_cell, p.at);
    const und_doubles all = und_doubles_of(und_doubles_to_floats(cells) + a->wished);
    und_doubles share = und_doubles_min(all, most);
    share = und_doubles_some(und_doubles_bytes_are(a->label + p.at, UND_CELL_SURFACE), most, share);
    share = und_doubles_some(und_doubles_bytes_are(a->label + p.at, UND_CELL_SOLID), none, share);
    und_doubles_floats_store_some(a->share + p.at, und_doubles_to_floats(share), p.which);
}
UND_KERNEL(und_momentum_share, und_momentum_share_args, UND_EACH_SPAN)

/* ---- Fluxes ---- */

/* Momentum through a point between two velocities at distance d, over d, four times: of the convection by the
 * mean of both as printed, and of the viscosity.  `speeds` is the sum of the two that carry it, `own` four
 * times nu / d, and `share` that of the donor cell's viscosity, |a| d / 2, which there shall be at least. */
UND_INLINE und_doubles und_momentum_flux4(und_doubles speeds, und_doubles low, und_doubles high,
                                          und_doubles share, double own)
{
    const und_doubles none = {0}, least = und_doubles_abs(speeds) * share;
    return speeds * (low + high) - und_doubles_max(least, none + own) * (high - low);
}

/* What the faces along one axis need, with the axis first and the others after it; d is the cell's size and
 * step 0 where there is no such axis. */
typedef struct und_momentum_across {
    const double *u[3];
    ptrdiff_t step[3];
    double gain[3]; /* dt / d, a quarter of it */
    double own[3];  /* nu / d, four times */
    double push;    /* dt / d along the axis */
    double fall;    /* g dt */
} und_momentum_across;

/* Four times the flux at the high point of faces from `at` on along one direction: between them and the next
 * ones that way.  Along the faces' own axis, direction 0, that is the middle of the next cell. */
UND_INLINE und_doubles und_momentum_flux(const und_momentum_across *k, int direction, const float *share,
                                         size_t at)
{
    const ptrdiff_t ahead = k->step[0], beside = k->step[direction];
    const double *u = k->u[0] + at, *v = k->u[direction] + at;
    const float *c = share + at;
    const und_doubles here = und_doubles_load(u), next = und_doubles_load(u + beside);
    if (direction == 0)
        return und_momentum_flux4(here + next, here, next, und_doubles_of(und_doubles_floats_load(c + ahead)),
                                  k->own[0]);
    const und_doubles_floats most = und_doubles_floats_max(
        und_doubles_floats_max(und_doubles_floats_load(c), und_doubles_floats_load(c + ahead)),
        und_doubles_floats_max(und_doubles_floats_load(c + beside),
                               und_doubles_floats_load(c + ahead + beside)));
    return und_momentum_flux4(und_doubles_load(v) + und_doubles_load(v + ahead), here, next,
                              und_doubles_of(most), k->own[direction]);
}

/* ---- Equation 2 ---- */

/* A piece of the grid that is stepped plane after plane, row after row, so that each flux is made once and
 * kept for the cell behind it; a device has a cell, and makes each flux twice. */
enum {
    UND_MOMENTUM_STRIP = UND_LANES > 1 ? 256 : 1,
    UND_MOMENTUM_ROWS = UND_LANES > 1 ? 8 : 1,
    UND_MOMENTUM_PLANES = UND_LANES > 1 ? 16 : 1
};

typedef struct und_momentum_tile {
    int from[3], to[3];                  /* cells [from, to); along x only where a row of it has liquid */
    double below[3][UND_MOMENTUM_STRIP]; /* fluxes of each component: those on the low side along y */
    double behind[3][UND_MOMENTUM_ROWS][UND_MOMENTUM_STRIP]; /* and along z */
} und_momentum_tile;

typedef struct und_momentum_args {
    und_mac mac;
    int axes, tiles[3]; /* along each axis */
    und_momentum_across across[3];
    double *next[3];
    const double *p;
    const float *share;
    const uint8_t *label;
    const int32_t *low, *high, *near_low, *near_high; /* of each row: liquid; what is kept */
} und_momentum_args;

static inline und_set und_momentum_tiles(und_momentum_args *a, size_t worth)
{
    const int size[3] = {UND_MOMENTUM_STRIP, UND_MOMENTUM_ROWS, UND_MOMENTUM_PLANES};
    for (int i = 0; i < 3; i++)
        a->tiles[i] = (a->mac.n[i] + size[i] - 1) / size[i];
    und_set tiles = und_set_list(a, a->tiles[0] * a->tiles[1] * a->tiles[2], 1, 1);
    tiles.worth = worth;
    return tiles;
}

/* The high faces of a row's cells from `at` on, by the fluxes on their low sides, which become those on their
 * high sides.  Faces that have no liquid on one side or the other keep their velocity.  The axis is a
 * constant to the compiler: the three directions are not alike. */
UND_INLINE void und_momentum_row(const und_momentum_args *a, const int axis, int count, size_t at,
                                 double *below, double *behind)
{
    const und_momentum_across k = a->across[axis];
    const int dx = (3 - axis) % 3, dy = (4 - axis) % 3, dz = (5 - axis) % 3;
    und_doubles last = und_momentum_flux(&k, dx, a->share, at - UND_DOUBLES);
    for (int x = 0; x < count; x += UND_DOUBLES) {
        const size_t i = at + (size_t)x, ahead = i + (size_t)k.step[0];
        const und_doubles along = und_momentum_flux(&k, dx, a->share, i),
                          above = und_momentum_flux(&k, dy, a->share, i),
                          before = und_momentum_flux(&k, dz, a->share, i);
        const und_doubles u = und_doubles_load(k.u[0] + i);
        const und_doubles gain = k.gain[dx] * (und_doubles_behind(last, along) - along) +
                                 k.gain[dy] * (und_doubles_load(below + x) - above) +
                                 k.gain[dz] * (und_doubles_load(behind + x) - before) +
                                 k.push * (und_doubles_load(a->p + i) - und_doubles_load(a->p + ahead)) +
                                 k.fall;
        const unsigned both = und_marker_liquid(a->label + i) & und_marker_liquid(a->label + ahead);
        und_doubles_store_some(a->next[axis] + i, und_doubles_some(both, u + gain, u),
                               und_marker_first(count - x));
        und_doubles_store_some(below + x, above, UND_DOUBLES_ALL);
        und_doubles_store_some(behind + x, before, UND_DOUBLES_ALL);
        last = along;
    }
}

UND_INLINE void und_momentum_carry_over(const und_momentum_args *a, int axis, size_t row, int from, int to)
{
    for (int x = from; x < to; x += UND_DOUBLES)
        und_doubles_store_some(a->next[axis] + row + x, und_doubles_load(a->across[axis].u[0] + row + x),
                               und_marker_first(to - x));
}

UND_INLINE bool und_momentum_has_liquid(const und_momentum_args *a, int y, int z)
{
    const int row = y + a->mac.n[1] * z;
    return y < a->mac.n[1] && z < a->mac.n[2] && a->low[row] < a->high[row];
}

/* Narrows a tile to the cells along x that have liquid in some row. */
static inline void und_momentum_narrow(const und_momentum_args *a, und_momentum_tile *t)
{
    int from = t->to[0], to = t->from[0];
    for (int z = t->from[2]; z < t->to[2]; z++)
        for (int y = t->from[1]; y < t->to[1]; y++)
            if (und_momentum_has_liquid(a, y, z)) {
                from = und_marker_sooner(from, a->low[y + a->mac.n[1] * z]);
                to = und_marker_later(to, a->high[y + a->mac.n[1] * z]);
            }
    t->from[0] = und_marker_later(from, t->from[0]);
    t->to[0] = und_marker_later(und_marker_sooner(to, t->to[0]), t->from[0]);
}

/* The fluxes on the low sides of a row along y or z. */
UND_INLINE void und_momentum_enter_row(const und_momentum_args *a, int axis, int direction, int count,
                                       size_t at, double *out)
{
    const und_momentum_across k = a->across[axis];
    for (int x = 0; x < count; x += UND_DOUBLES)
        und_doubles_store_some(out + x, und_momentum_flux(&k, direction, a->share, at + (size_t)x),
                               UND_DOUBLES_ALL);
}
/* Of the tile before its first plane (along z), or before the first row of a plane. */
static inline void und_momentum_enter(const und_momentum_args *a, und_momentum_tile *t, int along, int z)
{
    const int count = t->to[0] - t->from[0];
    for (int axis = 0; axis < a->axes; axis++)
        for (int y = t->from[1]; y < (along == 1 ? t->from[1] + 1 : t->to[1]); y++) {
            const size_t at = und_mac_at(&a->mac, t->from[0], y, z) - (size_t)a->mac.step[along];
            double *out = along == 1 ? t->below[axis] : t->behind[axis][y - t->from[1]];
            switch ((3 + along - axis) % 3) {
            case 0:
                und_momentum_enter_row(a, axis, 0, count, at, out);
                break;
            case 1:
                und_momentum_enter_row(a, axis, 1, count, at, out);
                break;
            default:
                und_momentum_enter_row(a, axis, 2, count, at, out);
            }
        }
}

static inline void und_momentum_step_row(const und_momentum_args *a, und_momentum_tile *t, int axis, int row,
                                         size_t at)
{
    const int count = t->to[0] - t->from[0];
    if (axis == 0)
        und_momentum_row(a, 0, count, at, t->below[0], t->behind[0][row]);
    else if (axis == 1)
        und_momentum_row(a, 1, count, at, t->below[1], t->behind[1][row]);
    else
        und_momentum_row(a, 2, count, at, t->below[2], t->behind[2][row]);
}

/* A row of a tile, which had cells from `from` to below `to` before it was narrowed; it is done where it has
 * liquid, and where the fluxes behind it are needed. */
static inline void und_momentum_go_on(const und_momentum_args *a, und_momentum_tile *t, int y, int z,
                                      int from, int to)
{
    const int number = y + a->mac.n[1] * z, low = und_marker_later(a->near_low[number], from),
              high = und_marker_sooner(a->near_high[number], to);
    const size_t row = und_mac_at(&a->mac, 0, y, z);
    const bool done =
        t->from[0] < t->to[0] && (und_momentum_has_liquid(a, y, z) || und_momentum_has_liquid(a, y + 1, z) ||
                                  und_momentum_has_liquid(a, y, z + 1));
    for (int axis = 0; axis < a->axes; axis++) {
        if (done)
            und_momentum_step_row(a, t, axis, y - t->from[1], row + (size_t)t->from[0]);
        und_momentum_carry_over(a, axis, row, low, done ? und_marker_sooner(high, t->from[0]) : high);
        und_momentum_carry_over(a, axis, row, done ? und_marker_later(low, t->to[0]) : high, high);
    }
}

UND_INLINE void und_momentum_step(const und_momentum_args *a, und_place p)
{
    const int size[3] = {UND_MOMENTUM_STRIP, UND_MOMENTUM_ROWS, UND_MOMENTUM_PLANES};
    const int c[3] = {p.y % a->tiles[0], p.y / a->tiles[0] % a->tiles[1], p.y / (a->tiles[0] * a->tiles[1])};
    und_momentum_tile t;
    for (int i = 0; i < 3; i++) {
        t.from[i] = c[i] * size[i];
        t.to[i] = und_marker_sooner(t.from[i] + size[i], a->mac.n[i]);
    }
    const int from = t.from[0], to = t.to[0];
    und_momentum_narrow(a, &t);
    for (int z = t.from[2]; z < t.to[2]; z++) {
        if (t.from[0] < t.to[0]) {
            if (z == t.from[2])
                und_momentum_enter(a, &t, 2, z);
            und_momentum_enter(a, &t, 1, z);
        }
        for (int y = t.from[1]; y < t.to[1]; y++)
            und_momentum_go_on(a, &t, y, z, from, to);
    }
}
UND_KERNEL(und_momentum_step, und_momentum_args, UND_EACH_BLOCK)

#endif
