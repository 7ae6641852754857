/* What the level set does to cells between the stages of its parts. */
#ifndef UND_LIQUID_LEVELSET_KERNEL_H
#define UND_LIQUID_LEVELSET_KERNEL_H

#include "grid/pass.h"
#include "surface/volume_list_kernel.h"

/* ---- What cells hold too much of ---- */

/* Of a cell: fluxes are off by so much, which the pressure is not to push; of less than this it pushes but a
 * part, that what falls falls evenly. */
#define UND_EXCESS_OFF 3e-4f
#define UND_EXCESS_LITTLE 0.05f

enum { UND_EXCESS_AHEAD = 2 }; /* rows: what is read there is fetched */

typedef struct und_excess_args {
    und_mac mac;
    const int32_t *c;
    const float *phi, *room;    /* NULL: all of each cell is open */
    const float *grown;         /* what cells gain besides; NULL: nothing */
    float *gain;                /* of a cell, where it is liquid */
    bool moving;                /* solids do; then: */
    const float *push[3];       /* what they push through faces, */
    const uint8_t *beside_thin; /* and cells at walls too thin for the grid */
    float half, most;           /* of it goes, and no more than that */
    float deep;                 /* phi; further in all of it does */
    float per_speed;
} und_excess_args;

UND_INLINE und_lanes und_rooms(const und_excess_args *a, size_t at)
{
    return a->room ? und_lanes_load(a->room + at) : und_lanes_all(1);
}

/* How much more cells hold than they have room for. */
UND_INLINE void und_excess(const und_excess_args *a, und_place p)
{
    const und_lanes holds = und_volumes_cells(und_lanes_int_load(a->c + p.at));
    und_lanes_store_some(a->gain + p.at, holds - und_rooms(a, p.at), p.which);
}
UND_KERNEL(und_excess, und_excess_args, UND_EACH_INSIDE)

/* What solids that move push out of a cell in the step, of a cell: they are where they come to already. */
UND_INLINE float und_swept(const und_excess_args *a, size_t at)
{
    float sum = 0;
    for (int axis = 0; axis < 3; axis++)
        sum += a->push[axis][at - (size_t)a->mac.step[axis]] - a->push[axis][at];
    return sum * a->per_speed;
}

/* Where solids move what was too much before they did counts; beside walls too thin for the grid what they
 * will do to it. */
UND_INLINE und_lanes und_excess_at(const und_excess_args *a, size_t at, unsigned bits)
{
    und_lanes over = {0};
    if (!a->moving)
        return und_volumes_cells(und_lanes_int_load(a->c + at)) - und_rooms(a, at);
    for (; bits; bits &= bits - 1) {
        const size_t cell = at + (size_t)__builtin_ctz(bits);
        const float room = (a->room ? a->room[cell] : 1) + und_swept(a, cell);
        over[__builtin_ctz(bits)] =
            a->beside_thin[cell] ? und_volume_cells(a->c[cell]) - room : a->gain[cell];
    }
    return over;
}

/* Of cells that no side and no solid touches, bits of those that have liquid on all sides. */
UND_INLINE unsigned und_enclosed(const und_excess_args *a, und_place p)
{
    const int *n = a->mac.n, last = n[0] - 1 - p.x;
    und_lanes most = und_lanes_all(-1), room = und_rooms(a, p.at);
    if (p.y == 0 || p.y == n[1] - 1 || (n[2] > 1 && (p.z == 0 || p.z == n[2] - 1)))
        return 0;
    for (int way = 0; way < (n[2] > 1 ? 6 : 4); way++) {
        const ptrdiff_t step = way % 2 ? a->mac.step[way / 2] : -a->mac.step[way / 2];
        const size_t beside = (size_t)((ptrdiff_t)p.at + step);
        most = und_lanes_max(most, und_lanes_load(a->phi + beside));
        room = und_lanes_min(room, und_rooms(a, beside));
    }
    const unsigned within = (last < UND_LANES ? (1u << last) - 1 : ~0u) & (p.x == 0 ? ~1u : ~0u);
    return p.which & within & und_lanes_bits((most < 0) & (room >= 1));
}

/* Inside of the liquid half of what cells hold too much goes, or comes, in a step; near the surface, where
 * phi may be moved instead, of what is a good deal too much.  Of air that is left where surfaces
 * met half goes. */
UND_INLINE void und_gain_excess(const und_excess_args *a, und_place p)
{
    const und_lanes phi = und_lanes_load(a->phi + p.at), none = {0};
    const size_t soon = p.at + (size_t)(UND_EXCESS_AHEAD * a->mac.step[1]);
    und_lanes part = none;
    und_lanes_fetch(a->phi + soon);
    und_lanes_fetch(a->c + soon);
    und_lanes_fetch(a->gain + soon);
    if (und_lanes_bits(phi < 0) & p.which) {
        const und_lanes over = und_excess_at(a, p.at, p.which);
        const und_lanes_int much = (phi < 0) & (over > 0.1f);
        part = und_lanes_select(much, a->half * und_volumes_clip(over - 0.1f, a->most), none);
        const und_lanes_int left = (phi < 0) & (phi > -0.5f) & (over < 0);
        if (und_lanes_bits(left) & p.which)
            part = und_lanes_select(left & und_lanes_where(und_enclosed(a, p)),
                                    a->half * und_volumes_clip(over, a->most), part);
        const und_lanes rest = over - und_volumes_clip(over, UND_EXCESS_OFF);
        const und_lanes little = und_volumes_clip(und_lanes_max(rest, -rest) / UND_EXCESS_LITTLE, 1);
        part = und_lanes_select(phi < a->deep, little * a->half * und_volumes_clip(rest, a->most), part);
    }
    und_lanes_store_some(a->gain + p.at, a->grown ? part + und_lanes_load(a->grown + p.at) : part, p.which);
}
UND_KERNEL(und_gain_excess, und_excess_args, UND_EACH_CELL)

/* ---- What solids come over ---- */

#define UND_COVERED_ROOM 0.02f
#define UND_COVERED_DEEP (-1.0f) /* cells: phi, and distance, of cells that solids pass */
#define UND_COVERED_NEAR 3

typedef struct und_covering {
    und_volume_list_args list;
    const float *phi, *distance, *room;
} und_covering;

/* Cells that hold something where there is no room left. */
UND_INLINE unsigned und_covered_look(const void *covering, size_t at)
{
    const und_covering *c = covering;
    return und_lanes_bits((und_lanes_int_load(c->list.c + at) != 0) &
                          (und_lanes_load(c->room + at) < UND_COVERED_ROOM));
}

static inline void und_covered_mark(const und_covering *c, und_place p)
{
    und_volume_mark_rows(&c->list, p, und_covered_look, NULL, c);
}
UND_KERNEL(und_covered_mark, und_covering, UND_EACH_BLOCK)

/* Cells inside of the liquid that solids may have come over or uncovered. */
UND_INLINE unsigned und_passed_look(const void *covering, size_t at)
{
    const und_covering *c = covering;
    return und_lanes_bits((und_lanes_load(c->phi + at) < UND_COVERED_DEEP) &
                          (und_lanes_load(c->distance + at) < UND_COVERED_NEAR) &
                          (und_lanes_load(c->room + at) > UND_COVERED_ROOM));
}

static inline void und_passed_mark(const und_covering *c, und_place p)
{
    und_volume_mark_rows(&c->list, p, und_passed_look, NULL, c);
}
UND_KERNEL(und_passed_mark, und_covering, UND_EACH_BLOCK)

/* ---- Where sources begin ---- */

/* phi may say that a cell is so much further in than what it holds makes it, cells. */
#define UND_AHEAD_MOST 1.0f

typedef struct und_ahead_args {
    const int32_t *c;
    const float *distance; /* cells, to the nearest solid; NULL: there are none */
    float *phi;
} und_ahead_args;

/* Where cells are less than half full, away from solids, in which phi goes on. */
UND_INLINE void und_hold_back(const und_ahead_args *a, und_place p)
{
    const und_lanes phi = und_lanes_load(a->phi + p.at);
    const und_lanes least = 0.5f - und_volumes_cells(und_lanes_int_load(a->c + p.at));
    und_lanes_int ahead = (least > 0) & (phi < least - UND_AHEAD_MOST);
    if (a->distance)
        ahead &= und_lanes_load(a->distance + p.at) > 2;
    und_lanes_store_some(a->phi + p.at, und_lanes_select(ahead, least, phi), p.which);
}
UND_KERNEL(und_hold_back, und_ahead_args, UND_EACH_INSIDE)

/* ---- Where the liquid is at rest ---- */

typedef struct und_still_args {
    und_mac mac;
    const float *u[3];
    uint8_t *still;
    float least; /* m2/s2: the square of the speed */
} und_still_args;

UND_INLINE void und_mark_still(const und_still_args *a, und_place p)
{
    und_lanes square = {0};
    for (int axis = 0; axis < 3; axis++) {
        const float *u = a->u[axis] + p.at;
        const und_lanes mean = 0.5f * (und_lanes_load(u) + und_lanes_load(u - a->mac.step[axis]));
        square += mean * mean;
    }
    und_lanes_bytes_store_some(a->still + p.at, (square < a->least) & 1, p.which);
}
UND_KERNEL(und_mark_still, und_still_args, UND_EACH_INSIDE)

/* ---- The pressure of a viscous liquid ---- */

typedef struct und_viscous_pressure_args {
    und_mac mac;
    und_mask asked;   /* cells that have a pressure */
    double *pressure; /* what the projection found; */
    double *p, *plain, *viscous;
    double lasts; /* of the viscous one until the next step */
} und_viscous_pressure_args;

/* Of cells that have none the viscous pressure is 0, and so is the plain one, or what is left there would be
 * that of cells that get one when the pressure is found again. */
UND_INLINE void und_clear_viscous(const und_viscous_pressure_args *a, und_place p)
{
    const uint64_t *row = und_mask_row(&a->asked, p.y, p.z);
    const und_doubles none = {0};
    const und_span span = und_mac_span(&a->mac, p.y, p.z);
    for (int x = span.begin; x < span.end; x += UND_DOUBLES) {
        const int left = span.end - x;
        const unsigned in = left < UND_DOUBLES ? (1u << left) - 1 : UND_DOUBLES_ALL;
        const unsigned others = in & ~und_mask_sixteen(&a->asked, row, x);
        und_doubles_store_some(a->viscous + p.at + x, none, others);
        und_doubles_store_some(a->plain + p.at + x, none, others);
    }
}
UND_KERNEL(und_clear_viscous, und_viscous_pressure_args, UND_EACH_ROW)

/* What was found is the plain one: what is asked for next is what changes in the viscous one. */
UND_INLINE void und_put_aside(const und_viscous_pressure_args *a, und_place p)
{
    const und_doubles none = {0};
    und_doubles_store_some(a->plain + p.at, und_doubles_load(a->pressure + p.at), p.which);
    und_doubles_store_some(a->pressure + p.at, none, p.which);
}
UND_KERNEL(und_put_aside, und_viscous_pressure_args, UND_EACH_DOUBLES)

UND_INLINE void und_add_pressures(const und_viscous_pressure_args *a, und_place p)
{
    const und_doubles viscous = und_doubles_load(a->pressure + p.at) + und_doubles_load(a->viscous + p.at);
    und_doubles_store_some(a->viscous + p.at, a->lasts * viscous, p.which);
    und_doubles_store_some(a->p + p.at, viscous + und_doubles_load(a->plain + p.at), p.which);
}
UND_KERNEL(und_add_pressures, und_viscous_pressure_args, UND_EACH_DOUBLES)

#endif
