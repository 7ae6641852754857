/* The edges of a height field: rivers, falls, and what stands outside an open edge. */
#include "base/maths.h"
#include "base/status.h"
#include "geom/value.h"
#include "liquid/height_field_state.h"

#include <math.h>

static bool along_z(int edge)
{
    return edge == UND_LOW_X || edge == UND_HIGH_X;
}

size_t und_height_field_edge_cell(const und_height_field *p, int e, int i)
{
    switch (e) {
    case UND_LOW_X:
        return und_height_field_at(p, 0, i);
    case UND_HIGH_X:
        return und_height_field_at(p, p->nx - 1, i);
    case UND_LOW_Z:
        return und_height_field_at(p, i, 0);
    default:
        return und_height_field_at(p, i, p->nz - 1);
    }
}

size_t und_height_field_inner_cell(const und_height_field *p, int e, int i)
{
    const ptrdiff_t inwards[UND_EDGES] = {1, -1, p->stride, -(ptrdiff_t)p->stride};
    return (size_t)((ptrdiff_t)und_height_field_edge_cell(p, e, i) + inwards[e]);
}

/* A fall lets out the critical flow (2/3)^(3/2) sqrt(g) d^(3/2) of a free overfall. */
static void fall_over(und_height_field *p, size_t at, double dt)
{
    double dx = p->grid.dx, depth = und_height_field_depth(p, at);
    double out = 2.0 / 3.0 * depth * sqrt(2.0 / 3.0 * p->def->gravity * depth) * dt / dx;
    und_ledger_add(&p->ledger.left, &p->lost.left,
                   -und_height_field_add_water(p, at, -fmin(out, 0.5 * depth)) * dx * dx);
}

void und_height_field_flow_over_edges(und_height_field *p, double dt)
{
    double dx = p->grid.dx, middle = p->time + 0.5 * dt;
    for (int e = 0; e < UND_EDGES; e++) {
        const und_edge_def *def = &p->def->edge[e];
        for (int i = 0; i < p->edge[e].count && (def->kind == UND_EDGE_FLOW || def->kind == UND_EDGE_FALL);
             i++) {
            size_t at = und_height_field_edge_cell(p, e, i);
            if (def->kind == UND_EDGE_FALL) {
                fall_over(p, at, dt);
                continue;
            }
            double x = und_height_field_x(p, along_z(e) ? (e == UND_LOW_X ? 0 : p->nx - 1) : i);
            double z = und_height_field_z(p, along_z(e) ? i : (e == UND_LOW_Z ? 0 : p->nz - 1));
            if (!def->has_level ||
                und_height_field_bottom(p, at) < und_value_at(&def->level, x, 0, z, middle))
                und_height_field_book(p, und_height_field_add_water(
                                             p, at, und_value_at(&def->rate, x, 0, z, middle) * dt / dx) *
                                             dx * dx);
        }
    }
}

/* Where the i-th cell of an edge meets the outside. */
static void edge_place(const und_height_field *p, int e, int i, double *x, double *z)
{
    *x = !along_z(e) ? und_height_field_x(p, i)
                     : p->grid.origin[0] + (e == UND_LOW_X ? 0 : p->nx * p->grid.dx);
    *z =
        along_z(e) ? und_height_field_z(p, i) : p->grid.origin[2] + (e == UND_LOW_Z ? 0 : p->nz * p->grid.dx);
}

double und_height_field_incoming(const und_height_field *p, int e, int i, double time)
{
    const und_edge_def *def = &p->def->edge[e];
    if (def->amplitude == 0 || def->period <= 0)
        return 0;
    double x, z, grown = def->ramp > 0 ? fmin(time / def->ramp, 1) : 1;
    edge_place(p, e, i, &x, &z);
    double phase = 2 * M_PI * time / def->period - p->edge[e].wave_number * (along_z(e) ? z : x);
    return def->amplitude * grown * und_sin(phase);
}

/* What is set or was there at the start, and the incoming wave.  Water that flows in with a wave of height a,
 * at an angle, brings c cos(angle) a; with the c a that the edge lets out of it: 1 + cos. */
double und_height_field_outside_level(const und_height_field *p, int e, int i, double time)
{
    const und_edge_def *def = &p->def->edge[e];
    double x, z, level = p->edge[e].rest_level[i];
    edge_place(p, e, i, &x, &z);
    if (def->has_level)
        level = und_value_at(&def->level, x, 0, z, time);
    return level + (1 + und_cos(def->direction * M_PI / 180)) * und_height_field_incoming(p, e, i, time);
}

und_status und_height_field_create_sources(und_height_field *p, und_error *err)
{
    /* The sense in which a wave's direction turns is the same for all edges: from +x towards +z. */
    static const double turn[UND_EDGES] = {1, -1, -1, 1};
    for (int e = 0; e < UND_EDGES; e++) {
        und_height_field_edge *edge = &p->edge[e];
        const und_edge_def *def = &p->def->edge[e];
        edge->count = along_z(e) ? p->nz : p->nx;
        edge->rest_level = und_alloc((size_t)edge->count, sizeof *edge->rest_level, "edge", err);
        if (!edge->rest_level)
            return err->status;
        double deepest = 0;
        for (int i = 0; i < edge->count; i++) {
            size_t at = und_height_field_edge_cell(p, e, i);
            edge->rest_level[i] = und_height_field_surface(p, at);
            deepest = fmax(deepest, und_height_field_depth(p, at));
        }
        if (def->period > 0 && deepest > 0)
            edge->wave_number = turn[e] * und_sin(def->direction * M_PI / 180) * 2 * M_PI / def->period /
                                sqrt(p->def->gravity * deepest);
    }
    return und_height_field_create_slants(p, err) ? err->status : und_height_field_create_rain(p, err);
}
