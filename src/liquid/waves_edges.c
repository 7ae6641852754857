/* The height field's exchange with what stands outside its open edges. */
#include "base/status.h"
#include "liquid/waves_state.h"

#include <math.h>

und_status und_waves_create_edges(und_waves *s, und_error *err)
{
    for (int e = 0; e < UND_EDGES; e++) {
        und_waves_edge *edge = &s->edge[e];
        int count = s->pool.edge[e].count;
        edge->coupling = und_alloc((size_t)count, sizeof *edge->coupling, "edge", err);
        edge->drive = und_alloc((size_t)count, sizeof *edge->drive, "edge", err);
        edge->outside = und_alloc((size_t)count, sizeof *edge->outside, "edge", err);
        if (!edge->coupling || !edge->drive || !edge->outside)
            return err->status;
        for (int i = 0; i < count && s->def.pool.edge[e].kind == UND_EDGE_OPEN; i++)
            edge->outside[i] = und_pool_outside_level(&s->pool, e, i, 0);
    }
    return UND_OK;
}

void und_waves_prepare_edges(und_waves *s, double dt)
{
    for (int e = 0; e < UND_EDGES; e++) {
        und_waves_edge *edge = &s->edge[e];
        for (int i = 0; i < s->pool.edge[e].count && s->def.pool.edge[e].kind == UND_EDGE_OPEN; i++) {
            size_t at = und_pool_edge_cell(&s->pool, e, i);
            double depth = und_waves_depth(s, at), before = edge->outside[i];
            edge->outside[i] = und_pool_outside_level(&s->pool, e, i, s->pool.time + dt);
            /* A wave of any height that leaves has the flow int c dh: c at its mean depth. */
            double mean = 0.5 * (depth + fmax(edge->outside[i] - (double)s->ground[at], 0));
            edge->coupling[i] =
                depth > 0 ? (float)(sqrt(s->def.pool.gravity * mean) * dt / s->pool.grid.dx) : 0;
            edge->drive[i] = (float)(edge->outside[i] - before);
        }
    }
}
