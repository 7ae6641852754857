/* The viscous step's system at faces whose velocity is unknown: see viscous.h. */
#ifndef UND_FLOW_VISCOUS_KERNEL_H
#define UND_FLOW_VISCOUS_KERNEL_H

#include "grid/reduce.h"

/* What a face is to the step. */
enum { UND_FACE_AIR, UND_FACE_SHUT, UND_FACE_HELD, UND_FACE_UNKNOWN };

typedef struct und_viscous_args {
    und_mac mac;
    int axes; /* of the grid: 2 or 3 */
    bool coupled;
    float own_share;             /* of shear stress that a component's own derivative bears */
    const uint8_t *kind[3];      /* of faces */
    const float *cell, *mass[3]; /* weights: of normal stress, of the liquid's part */
    const float *edge[3][2];     /* of shear stress */
    double *x[3], *r[3], *p[3], *q[3];
    float *weight[3], *known; /* of the preconditioner's system */
    double factor;            /* of a combination */
    float divide;             /* the preconditioner's weights, by so much */
    float *u[3], *base[3];    /* m/s: the flow, and before forces acted */
    const float *solid_u[3];
} und_viscous_args;

/* The weights of a component's own difference on edges across another axis. */
UND_INLINE const float *und_viscous_edges(const und_viscous_args *a, int component, int other)
{
    return a->edge[3 - component - other][component > other];
}

UND_INLINE und_doubles und_viscous_weights_at(const float *weight)
{
    return und_doubles_of(und_doubles_floats_load(weight));
}

/* ---- The operator ---- */

/* What the cells' stresses along the component's axis make of p. */
UND_INLINE und_doubles und_viscous_normal(const und_viscous_args *a, size_t at, int axis)
{
    const ptrdiff_t step = a->mac.step[axis];
    const double *p = a->p[axis] + at;
    const und_doubles here = und_doubles_load(p);
    return und_viscous_weights_at(a->mass[axis] + at) * here +
           und_viscous_weights_at(a->cell + at) * (here - und_doubles_load(p - step)) +
           und_viscous_weights_at(a->cell + at + step) * (here - und_doubles_load(p + step));
}

/* The same of edges across axis b, by both components; added to q. */
UND_INLINE und_doubles und_viscous_shear(const und_viscous_args *a, size_t at, int axis, int b, und_doubles q)
{
    const ptrdiff_t sa = a->mac.step[axis], sb = a->mac.step[b];
    const float *own = und_viscous_edges(a, axis, b) + at, *other = und_viscous_edges(a, b, axis) + at;
    const double *p = a->p[axis] + at, *across = a->p[b] + at;
    const und_doubles here = und_doubles_load(p), below = und_viscous_weights_at(own - sb),
                      above = und_viscous_weights_at(own);
    const und_doubles low = below * (here - und_doubles_load(p - sb)) +
                            und_viscous_weights_at(other - sb) *
                                (und_doubles_load(across - sb + sa) - und_doubles_load(across - sb));
    const und_doubles high =
        above * (und_doubles_load(p + sb) - here) +
        und_viscous_weights_at(other) * (und_doubles_load(across + sa) - und_doubles_load(across));
    return q + (below * low - above * high);
}

UND_INLINE und_doubles und_viscous_own_shear(const und_viscous_args *a, size_t at, int axis, int b,
                                             und_doubles q)
{
    const ptrdiff_t sb = a->mac.step[b];
    const float *own = und_viscous_edges(a, axis, b) + at;
    const double *p = a->p[axis] + at;
    const und_doubles_floats low = und_doubles_floats_load(own - sb), high = und_doubles_floats_load(own);
    const und_doubles here = und_doubles_load(p);
    return q + (double)a->own_share * (und_doubles_of(low * low) * (here - und_doubles_load(p - sb)) +
                                       und_doubles_of(high * high) * (here - und_doubles_load(p + sb)));
}

/* q = A p; sums p q. */
UND_INLINE und_totals und_viscous_apply(const und_viscous_args *a, und_place p, int axis)
{
    und_doubles q = und_viscous_normal(a, p.at, axis);
    for (int b = 0; b < a->axes; b++)
        if (b != axis)
            q = a->coupled ? und_viscous_shear(a, p.at, axis, b, q)
                           : und_viscous_own_shear(a, p.at, axis, b, q);
    und_doubles_store_some(a->q[axis] + p.at, q, p.which);
    return (und_totals){.sum = und_doubles_load(a->p[axis] + p.at) * q};
}
UND_KERNEL_SUM_AXES(und_viscous_apply, und_viscous_args)

/* ---- Its preconditioner ---- */

/* The largest weight of a component. */
UND_INLINE und_totals und_viscous_largest(const und_viscous_args *a, und_place p, int axis)
{
    und_totals t = {.most = und_viscous_weights_at(a->cell + p.at)};
    t.most = und_larger_totals(und_viscous_weights_at(a->cell + p.at + a->mac.step[axis]), t.most);
    for (int b = 0; b < a->axes; b++)
        if (b != axis) {
            const und_doubles_floats own = und_doubles_floats_load(und_viscous_edges(a, axis, b) + p.at);
            t.most = und_larger_totals(und_doubles_of(own * own), t.most);
        }
    return t;
}
UND_KERNEL_SUM_AXES(und_viscous_largest, und_viscous_args)

UND_INLINE void und_viscous_sides(const und_viscous_args *a, und_place p, int axis)
{
    for (unsigned bits = p.which; bits; bits &= bits - 1) {
        const size_t i = p.at + (size_t)__builtin_ctz(bits);
        float known = a->mass[axis][i];
        for (int b = 0; b < a->axes; b++) {
            const size_t step = (size_t)a->mac.step[b];
            const float *own = b == axis ? NULL : und_viscous_edges(a, axis, b);
            const float low = own ? a->own_share * own[i - step] * own[i - step] : a->cell[i];
            const float high = own ? a->own_share * own[i] * own[i] : a->cell[i + step];
            known += a->kind[axis][i - step] == UND_FACE_UNKNOWN ? 0 : low;
            known += a->kind[axis][i + step] == UND_FACE_UNKNOWN ? 0 : high;
            a->weight[b][i] = high * a->divide;
        }
        a->known[i] = known * a->divide;
    }
}
UND_KERNEL_AXES(und_viscous_sides, und_viscous_args, UND_EACH_CELL)

/* q = P r, which it is up to the scale; sums r q and finds the largest q. */
UND_INLINE und_totals und_viscous_product(const und_viscous_args *a, und_place p, int axis)
{
    const und_doubles q = a->factor * und_doubles_load(a->q[axis] + p.at);
    und_doubles_store_some(a->q[axis] + p.at, q, p.which);
    return (und_totals){und_doubles_load(a->r[axis] + p.at) * q, und_doubles_abs(q)};
}
UND_KERNEL_SUM_AXES(und_viscous_product, und_viscous_args)

/* ---- Conjugate gradients ---- */

UND_INLINE void und_viscous_turn(const und_viscous_args *a, und_place p, int axis)
{
    const und_doubles turned =
        und_doubles_load(a->q[axis] + p.at) + a->factor * und_doubles_load(a->p[axis] + p.at);
    und_doubles_store_some(a->p[axis] + p.at, turned, p.which);
}
UND_KERNEL_AXES(und_viscous_turn, und_viscous_args, UND_EACH_DOUBLES)

UND_INLINE void und_viscous_advance(const und_viscous_args *a, und_place p, int axis)
{
    double *x = a->x[axis] + p.at, *r = a->r[axis] + p.at;
    und_doubles_store_some(x, und_doubles_load(x) + a->factor * und_doubles_load(a->p[axis] + p.at), p.which);
    und_doubles_store_some(r, und_doubles_load(r) - a->factor * und_doubles_load(a->q[axis] + p.at), p.which);
}
UND_KERNEL_AXES(und_viscous_advance, und_viscous_args, UND_EACH_DOUBLES)

/* ---- The step ---- */

UND_INLINE und_totals und_viscous_fastest(const und_viscous_args *a, und_place p, int axis)
{
    return (und_totals){.most = und_doubles_abs(und_viscous_weights_at(a->u[axis] + p.at))};
}
UND_KERNEL_SUM_AXES(und_viscous_fastest, und_viscous_args)

UND_INLINE void und_viscous_keep_base(const und_viscous_args *a, und_place p, int axis)
{
    und_lanes_store_some(a->base[axis] + p.at, und_lanes_load(a->u[axis] + p.at), p.which);
}
UND_KERNEL_AXES(und_viscous_keep_base, und_viscous_args, UND_EACH_CELL)

/* What forces added is the first guess, and the stress of it is implicit. */
UND_INLINE void und_viscous_guess(const und_viscous_args *a, und_place p, int axis)
{
    und_doubles_store_some(
        a->p[axis] + p.at,
        und_viscous_weights_at(a->u[axis] + p.at) - und_viscous_weights_at(a->base[axis] + p.at), p.which);
}
UND_KERNEL_AXES(und_viscous_guess, und_viscous_args, UND_EACH_DOUBLES)

UND_INLINE void und_viscous_take_guess(const und_viscous_args *a, und_place p, int axis)
{
    double *r = a->r[axis] + p.at;
    const und_doubles stress =
        und_doubles_load(a->q[axis] + p.at) -
        und_viscous_weights_at(a->mass[axis] + p.at) * und_doubles_load(a->p[axis] + p.at);
    und_doubles_store_some(r, und_doubles_load(r) - stress, p.which);
}
UND_KERNEL_AXES(und_viscous_take_guess, und_viscous_args, UND_EACH_DOUBLES)

/* Leaves x and p 0 everywhere, as the next step finds them. */
UND_INLINE void und_viscous_give(const und_viscous_args *a, und_place p, int axis)
{
    float *u = a->u[axis] + p.at;
    const und_doubles changed = und_viscous_weights_at(u) + und_doubles_load(a->x[axis] + p.at), none = {0};
    und_doubles_floats_store_some(u, __builtin_convertvector(changed, und_doubles_floats), p.which);
    und_doubles_store_some(a->x[axis] + p.at, none, p.which);
    und_doubles_store_some(a->p[axis] + p.at, none, p.which);
}
UND_KERNEL_AXES(und_viscous_give, und_viscous_args, UND_EACH_DOUBLES)

/* ---- The flow's own force ---- */

UND_INLINE double und_viscous_speed(const und_viscous_args *a, int axis, size_t i)
{
    return (double)(a->kind[axis][i] == UND_FACE_SHUT ? a->solid_u[axis][i] : a->u[axis][i]);
}

/* The difference of a component across an edge.  A wall's velocity is wanted on the edge: half way between
 * what the solid has at both faces. */
UND_INLINE double und_viscous_across(const und_viscous_args *a, int axis, size_t i, size_t next)
{
    const bool shut = a->kind[axis][i] == UND_FACE_SHUT, shut_next = a->kind[axis][next] == UND_FACE_SHUT;
    double here = und_viscous_speed(a, axis, i), there = und_viscous_speed(a, axis, next);
    if (shut != shut_next) {
        const float *us = a->solid_u[axis];
        const double wall = 0.5 * ((double)us[i] + (double)us[next]);
        here = shut ? wall : here;
        there = shut_next ? wall : there;
    }
    return there - here;
}

UND_INLINE double und_viscous_force_on(const und_viscous_args *a, int axis, size_t i)
{
    const size_t sa = (size_t)a->mac.step[axis];
    const double here = und_viscous_speed(a, axis, i);
    double force = (double)a->cell[i + sa] * (und_viscous_speed(a, axis, i + sa) - here) -
                   (double)a->cell[i] * (here - und_viscous_speed(a, axis, i - sa));
    for (int b = 0; b < a->axes; b++) {
        if (b == axis)
            continue;
        const float *own = und_viscous_edges(a, axis, b), *other = und_viscous_edges(a, b, axis);
        const size_t sb = (size_t)a->mac.step[b], edge[2] = {i - sb, i};
        for (int side = 0; side < 2; side++) {
            const size_t e = edge[side];
            if (own[e] > 0) {
                const double stress = (double)own[e] * und_viscous_across(a, axis, e, e + sb) +
                                      (double)other[e] * und_viscous_across(a, b, e, e + sa);
                force += (side ? 1 : -1) * (double)own[e] * stress;
            }
        }
    }
    return force;
}

/* r = -dt K u. */
UND_INLINE void und_viscous_force_face(const und_viscous_args *a, und_place p, int axis)
{
    for (unsigned bits = p.which; bits; bits &= bits - 1) {
        const size_t i = p.at + (size_t)__builtin_ctz(bits);
        a->r[axis][i] = und_viscous_force_on(a, axis, i);
    }
}
UND_KERNEL_AXES(und_viscous_force_face, und_viscous_args, UND_EACH_CELL)

#endif
