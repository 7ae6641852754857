/* Equation 3.2 at faces: what they have is what was where the liquid came from. */
#ifndef UND_FLOW_MAC_FLOW_ADVECT_KERNEL_H
#define UND_FLOW_MAC_FLOW_ADVECT_KERNEL_H

#include "flow/mac_flow_gain_kernel.h"
#include "flow/mac_flow_kernel.h"
#include "grid/pass.h"
#include "grid/sample_near.h"

typedef struct und_advect_args {
    und_mac mac;
    float *u[3], *next[3]; /* the latter: what u becomes, for second order in time in place of `gained` */
    const float *moved[3]; /* what is carried along: u, or */
    float *sum;            /* u and what it gained, of a component at a time; NULL: nothing is kept */
    float cells_per_speed;
    bool third;
    float *guess;               /* a component as semi-Lagrangian advection has it */
    float *to[3];               /* cells: where the flow takes a face of the component that is moved */
    float *low, *high;          /* the least and the largest around where it comes from; these five are */
    const ptrdiff_t *away;      /* of each slice from -1 on so far from where the faces are */
    float *reach;               /* of each slice from -1 on: cells along z that faces go at most */
    und_mask flows[3], shut[3]; /* faces that flow; that are closed and touch the liquid */
    und_mask whole;             /* places between faces whose guesses are known, each at its lowest face */
    float *gained[3], *latest[3], scale; /* for second order in time; NULL: not kept */
} und_advect_args;

UND_INLINE void und_face_middles(const und_mac *m, und_place p, int axis, und_lanes place[3])
{
    place[0] = und_lanes_count() + ((float)(p.x + m->low[0]) + (axis == 0 ? 1 : 0.5f));
    place[1] = und_lanes_all((float)(p.y + m->low[1]) + (axis == 1 ? 1 : 0.5f));
    place[2] = und_lanes_all((float)(p.z + m->low[2]) + (axis == 2 ? 1 : 0.5f));
}

/* What is carried along for second order in time. */
UND_INLINE void und_advect_add_gained(const und_advect_args *a, und_place p, int axis)
{
    const und_span span = und_mac_span_beside(&a->mac, p.y, p.z);
    const int end = span.end;
    for (int x = span.begin; x < end; x += UND_LANES) {
        const size_t at = (size_t)((ptrdiff_t)p.at + x);
        const und_lanes value =
            und_lanes_load(a->u[axis] + at) + a->scale * und_lanes_load(a->gained[axis] + at);
        und_lanes_store_some(a->sum + at, value, end - x < UND_LANES ? (1u << (end - x)) - 1 : UND_LANES_ALL);
    }
}
UND_KERNEL_AXES(und_advect_add_gained, und_advect_args, UND_EACH_ROW)

/* What was gained on the way is taken off where it arrives, and what u is then is kept, to know what is
 * gained in this step.  A face that did not flow gained what it would have from inside. */
UND_INLINE void und_advect_arrive(const und_advect_args *a, und_place p, int axis, und_lanes value)
{
    if (a->gained[axis]) {
        float *latest = a->latest[axis] + p.at;
        const und_lanes came = und_lanes_load(a->gained[axis] + p.at), here = und_lanes_load(latest);
        value -= a->scale * came;
        und_lanes_store_some(latest, und_lanes_select(here < UND_GAIN_NONE, here, came), p.which);
    }
    und_lanes_store_some(a->next[axis] + p.at, value, p.which);
}

/* Semi-Lagrangian. */
UND_INLINE void und_advect_take_over(const und_advect_args *a, und_place p, int axis)
{
    und_lanes place[3], speed[3], foot[3], value;
    und_face_middles(&a->mac, p, axis, place);
    und_faces_velocity(&a->mac, a->u, axis, p.at, speed);
    und_sample_trace(&a->mac, a->u, place, speed, -a->cells_per_speed, a->third, foot);
    und_sample_faces(&a->mac, a->moved[axis], axis, foot, &value, NULL);
    und_advect_arrive(a, p, axis, value);
}
UND_KERNEL_AXES(und_advect_take_over, und_advect_args, UND_EACH_CELL)

/* Where what is kept of faces between guess and correction lies. */
UND_INLINE size_t und_advect_kept(const und_advect_args *a, und_place p)
{
    return (size_t)((ptrdiff_t)p.at + a->away[p.z + 1]);
}

/* The same, with the range of the values it is made of.  That and where faces go to is kept, for the
 * correction. */
UND_INLINE void und_advect_guess(const und_advect_args *a, und_place p, int axis)
{
    const und_mac *m = &a->mac;
    const und_lanes furthest = und_lanes_all((float)m->n[2]), none = {0};
    und_lanes place[3], speed[3], foot[3], to[3], value;
    und_sample_range range;
    const size_t soon = p.at + (size_t)(2 * (m->step[1] + m->step[2]));
    for (size_t more = 0; more <= UND_LANES; more += UND_LANES) {
        for (int k = 0; k < 3; k++)
            und_lanes_fetch(a->u[k] + soon + more);
        und_lanes_fetch(a->moved[axis] + soon + more);
    }
    und_face_middles(m, p, axis, place);
    und_faces_velocity(m, a->u, axis, p.at, speed);
    und_sample_near_trace(m, a->u, place, speed, -a->cells_per_speed, a->third, p.which, foot);
    und_sample_near_trace(m, a->u, place, speed, a->cells_per_speed, a->third, p.which, to);
    const size_t kept = und_advect_kept(a, p);
    for (int k = 0; k < 3; k++)
        und_lanes_store_some(a->to[k] + kept, to[k], p.which);
    const und_lanes way = to[2] - place[2], far = und_lanes_max(way, -way);
    const und_lanes bounded = und_lanes_select(far < furthest, far, furthest);
    float *reach = a->reach + p.z + 1;
    if (und_lanes_bits(bounded > *reach) & p.which)
        *reach = und_lanes_most(und_lanes_select(und_lanes_where(p.which), bounded, none));
    und_sample_near_faces(m, a->moved[axis], axis, foot, p.which, &value, &range);
    und_lanes_store_some(a->guess + p.at, value, p.which);
    und_lanes_store_some(a->low + kept, range.low, p.which);
    und_lanes_store_some(a->high + kept, range.high, p.which);
}
UND_KERNEL_AXES(und_advect_guess, und_advect_args, UND_EACH_CELL)

/* The guess is followed forward: what does not come back to the face is twice its error. */
UND_INLINE void und_advect_correct(const und_advect_args *a, und_place p, int axis)
{
    const size_t kept = und_advect_kept(a, p), soon = p.at + (size_t)(2 * a->mac.step[1]);
    und_lanes place[3], foot[3], back, value = und_lanes_load(a->guess + p.at);
    if (a->gained[axis]) {
        und_lanes_fetch(a->gained[axis] + soon);
        und_lanes_fetch(a->latest[axis] + soon);
    }
    und_face_middles(&a->mac, p, axis, place);
    for (int k = 0; k < 3; k++)
        foot[k] = und_lanes_select(und_lanes_where(p.which), und_lanes_load(a->to[k] + kept), place[k]);
    const unsigned known = und_sample_near_known(&a->mac, a->guess, &a->whole, axis, foot, p.which, &back);
    if (known) {
        und_lanes better = value + 0.5f * (und_lanes_load(a->moved[axis] + p.at) - back);
        better = und_lanes_max(better, und_lanes_load(a->low + kept));
        better = und_lanes_min(better, und_lanes_load(a->high + kept));
        value = und_lanes_select(und_lanes_where(known), better, value);
    }
    und_advect_arrive(a, p, axis, value);
}
UND_KERNEL_AXES(und_advect_correct, und_advect_args, UND_EACH_CELL)

/* Places between faces that flow or are shut: a word at a time. */
UND_INLINE void und_advect_know(const und_advect_args *a, und_place p, int axis)
{
    const int w = p.x, words = a->whole.words, sides = a->mac.n[2] == 1 ? 2 : 4;
    uint64_t all = ~UINT64_C(0), after = ~UINT64_C(0);
    for (int i = 0; i < sides && all; i++) {
        const uint64_t *flows = und_mask_row(&a->flows[axis], p.y + i % 2, p.z + i / 2);
        const uint64_t *shut = und_mask_row(&a->shut[axis], p.y + i % 2, p.z + i / 2);
        all &= flows[w] | shut[w];
        after &= w + 1 < words ? flows[w + 1] | shut[w + 1] : 0;
    }
    und_mask_row(&a->whole, p.y, p.z)[w] = all & (all >> 1 | after << 63);
}
UND_KERNEL_AXES(und_advect_know, und_advect_args, UND_EACH_WORD)

/* The guess of faces that are shut is what they have. */
UND_INLINE void und_advect_guess_shut(const und_advect_args *a, und_place p, int axis)
{
    und_lanes_store_some(a->guess + p.at, und_lanes_load(a->moved[axis] + p.at), p.which);
}
UND_KERNEL_AXES(und_advect_guess_shut, und_advect_args, UND_EACH_CELL)

UND_INLINE void und_advect_put_back(const und_advect_args *a, und_place p, int axis)
{
    const size_t soon = p.at + (size_t)(2 * a->mac.step[1]);
    und_lanes_fetch(a->u[axis] + soon);
    und_lanes_fetch(a->next[axis] + soon);
    und_lanes_store_some(a->u[axis] + p.at, und_lanes_load(a->next[axis] + p.at), p.which);
}
UND_KERNEL_AXES(und_advect_put_back, und_advect_args, UND_EACH_CELL)

#endif
