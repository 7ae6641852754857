/* The height field's exchange with what stands outside its open edges. */
#include "base/status.h"
#include "liquid/waves_kernel.h"
#include "liquid/waves_state.h"

#include <math.h>
#include <stdlib.h>

/* The second order's waves of 8 cells come back with 4 % without it, with 2.5 % so; more and steps of many
 * cells are no longer stable. */
static const double INNER = 0.1;

und_status und_waves_create_edges(und_waves *s, und_error *err)
{
    for (int e = 0; e < UND_EDGES; e++) {
        und_waves_edge *edge = &s->edge[e];
        size_t count = (size_t)s->pool.edge[e].count;
        edge->coupling = und_alloc(count, sizeof *edge->coupling, "edge", err);
        edge->change = und_alloc(count, sizeof *edge->change, "edge", err);
        edge->inner = und_alloc(count, sizeof *edge->inner, "edge", err);
        edge->drive = und_alloc(count, sizeof *edge->drive, "edge", err);
        edge->outside = und_alloc(count, sizeof *edge->outside, "edge", err);
        if (!edge->coupling || !edge->change || !edge->inner || !edge->drive || !edge->outside)
            return err->status;
        for (int i = 0; i < s->pool.edge[e].count && s->def.pool.edge[e].kind == UND_EDGE_OPEN; i++)
            edge->outside[i] = und_pool_outside_level(&s->pool, e, i, s->pool.time);
    }
    return UND_OK;
}

void und_waves_destroy_edges(und_waves *s)
{
    for (int e = 0; e < UND_EDGES; e++) {
        free(s->edge[e].coupling);
        free(s->edge[e].change);
        free(s->edge[e].inner);
        free(s->edge[e].drive);
        free(s->edge[e].outside);
    }
}

/* The first order counts with the level at the end of the step.  The second takes the slant from before it:
 * in the part of a step along x, a wave along z has not gone on yet. */
static void find_outside(und_waves *s, int e, double dt, bool second)
{
    und_waves_edge *edge = &s->edge[e];
    double time = s->pool.time + (second ? 0.5 * dt : dt);
    for (int i = 0; i < s->pool.edge[e].count; i++) {
        double before = edge->outside[i];
        edge->outside[i] = und_pool_outside_level(&s->pool, e, i, time) + und_pool_slant(&s->pool, e, i);
        edge->drive[i] = (float)(edge->outside[i] - before);
    }
}

static void find_couplings(und_waves *s, int e, double dt, bool second)
{
    und_waves_edge *edge = &s->edge[e];
    bool line = e == UND_LOW_X || e == UND_HIGH_X || s->pool.nz > 1;
    for (int i = 0; i < s->pool.edge[e].count; i++) {
        size_t at = und_pool_edge_cell(&s->pool, e, i);
        double depth = und_waves_depth(s, at);
        /* A wave of any height that leaves has the flow int c dh: c at its mean depth. */
        double mean = 0.5 * (depth + fmax(edge->outside[i] - (double)s->ground[at], 0));
        double coupling = depth > 0 ? sqrt(s->def.pool.gravity * mean) * dt / s->pool.grid.dx : 0, inner = 0;
        if (second && line && coupling > 0) {
            size_t next = und_pool_inner_cell(&s->pool, e, i);
            double beside = und_waves_depth(s, next), step = s->height[next] - s->height[at];
            inner =
                beside > 0 && und_waves_late((float)depth, (float)beside, (float)step) <= 0.5f ? INNER : 0;
        }
        edge->coupling[i] = (float)coupling;
        edge->inner[i] = (float)(inner * coupling);
        edge->change[i] = line && coupling > 0 ? (float)(0.5 + inner) : 0;
        s->open += second ? 0 : coupling / s->pool.nx / s->pool.nz;
    }
}

void und_waves_prepare_edges(und_waves *s, double dt)
{
    bool second = s->def.order == 2;
    s->open = 0;
    if (!second)
        und_pool_advance_slants(&s->pool, s->pool.time, dt, INFINITY);
    for (int e = 0; e < UND_EDGES; e++)
        if (s->def.pool.edge[e].kind == UND_EDGE_OPEN) {
            find_outside(s, e, dt, second);
            find_couplings(s, e, dt, second);
        }
    if (second)
        und_pool_advance_slants(&s->pool, s->pool.time, dt, INFINITY);
}
