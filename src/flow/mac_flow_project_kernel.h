/* Equations 4.6 and 4.7 at cells and faces, with the surface and the solids where they are within the cells.
 */
#ifndef UND_FLOW_MAC_FLOW_PROJECT_KERNEL_H
#define UND_FLOW_MAC_FLOW_PROJECT_KERNEL_H

#include "grid/pass.h"

/* Cells that the pressure is asked for: of the liquid those whose faces' velocities are not given.  And it
 * was asked for there, until it is forgotten. */
typedef struct und_ask_args {
    und_mask liquid, held, asked, pressed;
    bool holds; /* some are */
} und_ask_args;
UND_INLINE void und_ask(const und_ask_args *a, und_place p)
{
    const uint64_t held = a->holds ? und_mask_row(&a->held, p.y, p.z)[p.x] : 0;
    const uint64_t bits = und_mask_row(&a->liquid, p.y, p.z)[p.x] & ~held;
    und_mask_row(&a->asked, p.y, p.z)[p.x] = bits;
    und_mask_row(&a->pressed, p.y, p.z)[p.x] |= bits;
}
UND_KERNEL(und_ask, und_ask_args, UND_EACH_WORD)

/* One over the part of the way from a liquid cell to an air cell that is in liquid (the ghost fluid method):
 * at most this much, or a cell whose centre is all but on the surface would outweigh its neighbours. */
#define UND_MOST_INVERSE 100.0f

/* least: where above 0, a cell counts as so far in the liquid at least. */
UND_INLINE und_lanes und_inverse_part(und_lanes liquid, und_lanes air, float least)
{
    const und_lanes deepest = und_lanes_all(-least),
                    most = und_lanes_all(least > 0 ? __builtin_inff() : UND_MOST_INVERSE);
    const und_lanes inverse = 1 - air / und_lanes_select(liquid < deepest, liquid, deepest);
    return und_lanes_select(inverse < most, inverse, most);
}

enum { UND_PROJECT_AHEAD = 2 }; /* rows: what is read there is fetched */

/* ---- The right-hand side and the diagonal ---- */

typedef struct und_system_sides_args {
    und_mac mac;
    const float *phi, *open[3], *u[3];
    const float *room, *push[3]; /* NULL: no solid takes any, or moves */
    const float *grown;          /* NULL: nothing */
    bool none;                   /* faces inside are wholly open */
    float level, least, gain, speed;
    float *known, *b;
} und_system_sides_args;

/* Sides of cells along an axis: what the surface adds to the diagonal, and what flows out.  inner: they are
 * known to be wholly open. */
UND_INLINE void und_add_sides(const und_system_sides_args *s, int axis, size_t at, unsigned which, bool inner,
                              und_lanes *known, und_lanes *b)
{
    const ptrdiff_t step = s->mac.step[axis];
    const float *phi = s->phi + at, *open = s->open[axis] + at, *u = s->u[axis] + at;
    const und_lanes here = und_lanes_load(phi) - s->level, none = {0};
    const und_lanes low = und_lanes_load(phi - step) - s->level, high = und_lanes_load(phi + step) - s->level;
    const und_lanes all = und_lanes_all(1);
    const und_lanes open_low = inner ? all : und_lanes_load(open - step);
    const und_lanes open_high = inner ? all : und_lanes_load(open);
    if (und_lanes_bits((low >= 0) | (high >= 0)) & which)
        *known += und_lanes_select(low >= 0, open_low * und_inverse_part(here, low, s->least), none) +
                  und_lanes_select(high >= 0, open_high * und_inverse_part(here, high, s->least), none);
    *b -= open_high * und_lanes_load(u) - open_low * und_lanes_load(u - step);
}

/* What solids push out along an axis.  The part of a cell that a solid takes up is closed by its surface and
 * by what it shuts of the faces, so it pushes out through the one what it brings through the other. */
UND_INLINE und_lanes und_pushed_out(const und_system_sides_args *s, int axis, size_t at)
{
    const float *push = s->push[axis] + at;
    return und_lanes_load(push) - und_lanes_load(push - s->mac.step[axis]);
}

/* Gives |b|. */
UND_INLINE und_lanes und_set_sides(const und_system_sides_args *s, und_place p)
{
    const int *n = s->mac.n;
    const und_lanes none = {0};
    const size_t soon = p.at + (size_t)(UND_PROJECT_AHEAD * s->mac.step[1]);
    und_lanes_fetch(s->phi + soon);
    for (int a = 0; a < 3; a++)
        und_lanes_fetch(s->u[a] + soon);
    if (s->grown)
        und_lanes_fetch(s->grown + soon);
    const bool inner[3] = {s->none && p.x > 0 && p.x + UND_LANES < n[0], s->none && p.y > 0 && p.y < n[1] - 1,
                           s->none && p.z > 0 && p.z < n[2] - 1};
    const und_lanes room = s->room ? und_lanes_load(s->room + p.at) : und_lanes_all(1);
    und_lanes known = none,
              b = s->gain * room + (s->grown ? s->speed * und_lanes_load(s->grown + p.at) : none);
    for (int a = 0; a < 3; a++) {
        und_add_sides(s, a, p.at, p.which, inner[a], &known, &b);
        if (s->push[a])
            b -= und_pushed_out(s, a, p.at);
    }
    und_lanes_store_some(s->known + p.at, known, p.which);
    und_lanes_store_some(s->b + p.at, b, p.which);
    return und_lanes_select(b < 0, -b, b);
}
UND_KERNEL_MOST(und_set_sides, und_system_sides_args, UND_EACH_CELL)

/* ---- What the pressure does ---- */

typedef struct und_push_args {
    const float *phi;
    const double *p;
    float *u[3];
    ptrdiff_t step[3];
    double unit;
    float level, least;
} und_push_args;

typedef double und_pressures __attribute__((vector_size(8 * UND_LANES)));
typedef int64_t und_pressures_int __attribute__((vector_size(8 * UND_LANES)));

/* Pressures of lanes, 0 in air. */
UND_INLINE und_pressures und_pressures_load(const double *p, und_lanes_int liquid)
{
    und_pressures_int bits;
    __builtin_memcpy(&bits, p, sizeof bits);
    return (und_pressures)(bits & __builtin_convertvector(liquid, und_pressures_int));
}

/* Equation 4.7 at faces. */
UND_INLINE void und_push_faces(const und_push_args *a, und_place p, int axis)
{
    const size_t at = p.at, next = at + (size_t)a->step[axis],
                 soon = at + (size_t)(UND_PROJECT_AHEAD * a->step[1]);
    und_lanes_fetch(a->u[axis] + soon);
    if (axis == 0) {
        und_lanes_fetch(a->phi + soon);
        und_lanes_fetch(a->p + soon);
        und_lanes_fetch(a->p + soon + UND_LANES / 2);
    }
    const und_lanes low = und_lanes_load(a->phi + at) - a->level,
                    high = und_lanes_load(a->phi + next) - a->level;
    const und_pressures rise =
        a->unit * (und_pressures_load(a->p + next, high < 0) - und_pressures_load(a->p + at, low < 0));
    und_lanes change = __builtin_convertvector(rise, und_lanes);
    if (und_lanes_bits((low >= 0) | (high >= 0)) & p.which) {
        const und_lanes liquid = und_lanes_select(low < 0, low, high),
                        air = und_lanes_select(low < 0, high, low);
        change = und_lanes_select(air >= 0, change * und_inverse_part(liquid, air, a->least), change);
    }
    und_lanes_store_some(a->u[axis] + at, und_lanes_load(a->u[axis] + at) - change, p.which);
}
UND_KERNEL_AXES(und_push_faces, und_push_args, UND_EACH_CELL)

/* ---- The air ---- */

typedef struct und_copy_faces_args {
    const float *from;
    float *to;
} und_copy_faces_args;

UND_INLINE void und_copy_faces(const und_copy_faces_args *a, und_place p)
{
    und_lanes_store_some(a->to + p.at, und_lanes_load(a->from + p.at), p.which);
}
UND_KERNEL(und_copy_faces, und_copy_faces_args, UND_EACH_CELL)

#endif
