/* What flows between the height field's columns, and what the water carries. */
#ifndef UND_LIQUID_WAVES_TRANSPORT_KERNEL_H
#define UND_LIQUID_WAVES_TRANSPORT_KERNEL_H

#include "base/exp_kernel.h"
#include "grid/pass.h"
#include "grid/sample.h"
#include "liquid/waves_kernel.h"

/* ---- Flows, after a step ---- */

typedef struct und_waves_flow_args {
    const double *height;
    const float *ground, *middle, *rise, *head; /* und_waves; head may be NULL */
    float *flow;                                /* to the cell that is `beside`, m2/s */
    ptrdiff_t beside;
    float kept, push; /* the part kept, and what a metre of head does to a metre of depth */
    bool second;
} und_waves_flow_args;

UND_INLINE und_lanes und_waves_between(const float *values, size_t a, size_t b)
{
    return und_lanes_load(values + b) - und_lanes_load(values + a);
}

/* A face's flow moves on by -g d dh/dx dt. */
UND_INLINE void und_waves_flow_on(const und_waves_flow_args *a, und_place p, und_lanes depth,
                                  und_lanes depth_next, und_lanes face, und_lanes slope)
{
    const und_lanes flow = und_lanes_load(a->flow + p.at),
                    after = a->kept * und_waves_open(flow, depth, depth_next, face) - a->push * face * slope;
    und_lanes_store_some(a->flow + p.at, und_lanes_select(face > 0, after, (und_lanes){0}), p.which);
}

/* The head that drives the flow is the new one for the first order, half old and half new for the second, or
 * as late as und_waves_lates says. */
UND_INLINE void und_waves_flow_x(const und_waves_flow_args *a, und_place p)
{
    const size_t next = p.at + (size_t)a->beside;
    const und_lanes depth = und_waves_depths(a->height, a->ground, p.at),
                    depth_next = und_waves_depths(a->height, a->ground, next),
                    step = und_waves_steps(a->height, p.at, next),
                    head = a->head ? und_waves_between(a->head, p.at, next) : (und_lanes){0};
    const und_lanes new = a->second ? und_waves_lates(depth, depth_next, step) : und_lanes_all(1);
    und_waves_flow_on(a, p, depth, depth_next, und_waves_faces(depth, depth_next, step),
                      step + new *und_waves_between(a->middle, p.at, next) + head);
}
UND_KERNEL(und_waves_flow_x, und_waves_flow_args, UND_EACH_INSIDE)

/* The heights are new here and `rise` holds their change; the faces' depths belong to the old ones. */
UND_INLINE void und_waves_flow_z(const und_waves_flow_args *a, und_place p)
{
    const size_t next = p.at + (size_t)a->beside;
    und_doubles depths[UND_HALVES], depths_next[UND_HALVES], steps[UND_HALVES];
    for (int k = 0; k < UND_HALVES; k++) {
        const size_t at = p.at + (size_t)(k * UND_DOUBLES), beside = next + (size_t)(k * UND_DOUBLES);
        const und_doubles old = und_waves_depth_half(a->height, a->rise, at),
                          old_next = und_waves_depth_half(a->height, a->rise, beside);
        depths[k] = old - und_doubles_of(und_doubles_floats_load(a->ground + at));
        depths_next[k] = old_next - und_doubles_of(und_doubles_floats_load(a->ground + beside));
        steps[k] = old_next - old;
    }
    const und_lanes depth = und_lanes_of_doubles(depths), depth_next = und_lanes_of_doubles(depths_next),
                    step = und_lanes_of_doubles(steps),
                    head = a->head ? und_waves_between(a->head, p.at, next) : (und_lanes){0};
    const und_lanes old = a->second ? 1 - und_waves_lates(depth, depth_next, step) : (und_lanes){0};
    const und_lanes half = old * (und_lanes_load(a->rise + p.at) - und_lanes_load(a->middle + p.at)),
                    half_next = old * (und_lanes_load(a->rise + next) - und_lanes_load(a->middle + next));
    und_waves_flow_on(a, p, depth, depth_next, und_waves_faces(depth, depth_next, step),
                      und_waves_steps(a->height, p.at, next) - (half_next - half) + head);
}
UND_KERNEL(und_waves_flow_z, und_waves_flow_args, UND_EACH_INSIDE)

/* ---- Films: friction of the ground ---- */

typedef struct und_waves_film_args {
    const double *height;
    const float *ground;
    float *motion;    /* the rise, or a flow to the cell that is `beside` */
    ptrdiff_t beside; /* a face's water is as deep as the mean of its sides */
    double rate;      /* -3 viscosity dt, m2 */
} und_waves_film_args;

/* "dq/dt = -3 nu q / d^2". */
UND_INLINE void und_waves_film(const und_waves_film_args *a, und_place p)
{
    und_doubles kept[UND_HALVES];
    for (int k = 0; k < UND_HALVES; k++) {
        const size_t at = p.at + (size_t)(k * UND_DOUBLES);
        const und_doubles depth = 0.5 * (und_waves_depth_half(a->height, a->ground, at) +
                                         und_waves_depth_half(a->height, a->ground, at + (size_t)a->beside)),
                          part = und_doubles_exp_fallen(a->rate / (depth * depth));
        kept[k] = und_doubles_select(depth > 0, part, (und_doubles){0});
    }
    und_lanes_store_some(a->motion + p.at, und_lanes_load(a->motion + p.at) * und_lanes_of_doubles(kept),
                         p.which);
}
UND_KERNEL(und_waves_film, und_waves_film_args, UND_EACH_INSIDE)

/* ---- Velocities ---- */

typedef struct und_waves_speed_args {
    const double *height;
    const float *ground, *flux_x, *flux_z;
    float *speed_x, *speed_z;
    ptrdiff_t row;
    double gravity;
} und_waves_speed_args;

UND_INLINE und_doubles und_waves_middle_flow(const float *flow, size_t at, size_t before)
{
    return 0.5 * (und_doubles_of(und_doubles_floats_load(flow + at)) +
                  und_doubles_of(und_doubles_floats_load(flow + before)));
}

/* Flow over depth at a cell's centre; a thin film cannot outrun twice the wave speed.  Nothing flows through
 * faces that have no cell before them. */
UND_INLINE void und_waves_speed(const und_waves_speed_args *a, und_place p)
{
    und_doubles u[UND_HALVES], w[UND_HALVES];
    const und_doubles none = {0};
    for (int k = 0; k < UND_HALVES; k++) {
        const size_t at = p.at + (size_t)(k * UND_DOUBLES);
        const und_doubles depth = und_waves_depth_half(a->height, a->ground, at),
                          limit = 2 * und_doubles_sqrt(a->gravity * depth),
                          x = und_waves_middle_flow(a->flux_x, at, at - 1) / depth,
                          z = und_waves_middle_flow(a->flux_z, at, at - (size_t)a->row) / depth;
        const und_doubles speed = und_doubles_sqrt(x * x + z * z),
                          scale = und_doubles_select(speed > limit, limit / speed, none + 1);
        u[k] = und_doubles_select(depth > 0, x * scale, none);
        w[k] = und_doubles_select(depth > 0, z * scale, none);
    }
    und_lanes_store_some(a->speed_x + p.at, und_lanes_of_doubles(u), p.which);
    und_lanes_store_some(a->speed_z + p.at, und_lanes_of_doubles(w), p.which);
}
UND_KERNEL(und_waves_speed, und_waves_speed_args, UND_EACH_INSIDE)

/* ---- What is carried ---- */

typedef struct und_waves_carry_args {
    und_mac mac;
    const double *height;
    const float *ground, *speed_x, *speed_z, *field;
    float *carried;
    float cells; /* that a metre a second crosses in a step */
} und_waves_carry_args;

/* Where to read fields at points given in cells: the low corner, and the weights. */
typedef struct und_waves_spot {
    und_lanes_int corner, last_x, last_z; /* of which the next along an axis is not there */
    und_lanes x, z;
} und_waves_spot;

UND_INLINE und_waves_spot und_waves_spot_at(const und_mac *m, und_lanes x, und_lanes z)
{
    const und_lanes none = {0};
    x = und_lanes_min(und_lanes_max(x, none), und_lanes_all((float)(m->n[0] - 1)));
    z = und_lanes_min(und_lanes_max(z, none), und_lanes_all((float)(m->n[2] - 1)));
    const und_lanes_int i = __builtin_convertvector(x, und_lanes_int),
                        k = __builtin_convertvector(z, und_lanes_int);
    return (und_waves_spot){(int32_t)m->first + k * (int32_t)m->step[2] + i, i + 1 >= m->n[0],
                            k + 1 >= m->n[2], x - __builtin_convertvector(i, und_lanes),
                            z - __builtin_convertvector(k, und_lanes)};
}

UND_INLINE und_lanes und_waves_read(const und_mac *m, const float *field, const und_waves_spot *s)
{
    const ptrdiff_t row[2] = {0, m->step[2]};
    const und_lanes none = {0};
    und_lanes left[2], right[2], along[2];
    und_sample_pairs(m, field, s->corner, row, 2, left, right);
    for (int k = 0; k < 2; k++)
        along[k] = left[k] + s->x * und_lanes_select(s->last_x, none, right[k] - left[k]);
    return along[0] + s->z * und_lanes_select(s->last_z, none, along[1] - along[0]);
}

/* Each wet cell takes the value from where its water was (midpoint rule). */
UND_INLINE void und_waves_carry(const und_waves_carry_args *a, und_place p)
{
    const und_mac *m = &a->mac;
    const und_lanes x = (float)p.x + und_lanes_count(), z = und_lanes_all((float)p.z),
                    u0 = und_lanes_load(a->speed_x + p.at), w0 = und_lanes_load(a->speed_z + p.at);
    const und_waves_spot half = und_waves_spot_at(m, x - 0.5f * a->cells * u0, z - 0.5f * a->cells * w0);
    const und_lanes u = und_waves_read(m, a->speed_x, &half), w = und_waves_read(m, a->speed_z, &half);
    const und_waves_spot from = und_waves_spot_at(m, x - a->cells * u, z - a->cells * w);
    und_lanes_store_some(a->carried + p.at,
                         und_lanes_select(und_waves_wet(a->height, a->ground, p.at),
                                          und_waves_read(m, a->field, &from),
                                          und_lanes_load(a->field + p.at)),
                         p.which);
}
UND_KERNEL(und_waves_carry, und_waves_carry_args, UND_EACH_INSIDE)

/* ---- Foam ---- */

typedef struct und_waves_foam_args {
    const double *height;
    const float *ground, *speed_x, *speed_z;
    float *foam;
    double gravity, holds; /* as much foam as there can be, in water so deep, m */
    float fade, rate, threshold;
} und_waves_foam_args;

/* Foam is made where the water is faster than the threshold or runs together, and fades. */
UND_INLINE void und_waves_foam(const und_waves_foam_args *a, und_place p)
{
    const und_lanes none = {0}, one = und_lanes_all(1);
    und_doubles speeds[UND_HALVES], waves[UND_HALVES], bodies[UND_HALVES];
    for (int k = 0; k < UND_HALVES; k++) {
        const size_t at = p.at + (size_t)(k * UND_DOUBLES);
        const und_doubles u = und_doubles_of(und_doubles_floats_load(a->speed_x + at)),
                          w = und_doubles_of(und_doubles_floats_load(a->speed_z + at)),
                          depth = und_waves_depth_half(a->height, a->ground, at), zero = {0};
        const und_doubles body = depth / a->holds;
        speeds[k] = und_doubles_sqrt(u * u + w * w);
        waves[k] = und_doubles_sqrt(a->gravity * und_doubles_select(depth > 0, depth, zero));
        bodies[k] = und_doubles_select(body < 1, body, zero + 1); /* a film cannot hold foam */
    }
    const und_lanes speed = und_lanes_of_doubles(speeds), wave = und_lanes_of_doubles(waves),
                    body = und_lanes_of_doubles(bodies);
    /* Fast against its own waves: about to break (a Froude number of one half and up). */
    const und_lanes breaking = und_lanes_min(und_lanes_max(2 * speed - wave, none) / (wave + 1e-3f), one);
    const und_lanes excess = und_lanes_max(speed - a->threshold, none) * breaking * body,
                    foam = und_lanes_load(a->foam + p.at) * a->fade + a->rate * excess;
    und_lanes_store_some(
        a->foam + p.at,
        und_lanes_select(und_waves_wet(a->height, a->ground, p.at), und_lanes_min(foam, one), foam * a->fade),
        p.which);
}
UND_KERNEL(und_waves_foam, und_waves_foam_args, UND_EACH_INSIDE)

#endif
