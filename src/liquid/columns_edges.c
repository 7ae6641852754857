/* The columns' exchange with what stands outside their open edges. */
#include "liquid/columns_state.h"

#include <math.h>

/* Of the level that the flow through an edge counts with, what the column further in has: waves of 8 columns
 * come back with half as much. */
static const double INNER = 0.1;

/* How fast the flow from further in raises the i-th column of an edge, m/s: without what diagonal pipes carry
 * along the edge. */
static double from_inside(const und_columns *s, int e, int i)
{
    switch (e) {
    case UND_LOW_X:
        return -und_columns_pipe_flux(s, PIPE_X, 0, i) / s->height_field.grid.dx;
    case UND_HIGH_X:
        return und_columns_pipe_flux(s, PIPE_X, s->nx - 2, i) / s->height_field.grid.dx;
    case UND_LOW_Z:
        return -und_columns_pipe_flux(s, PIPE_Z, i, 0) / s->height_field.grid.dx;
    default:
        return und_columns_pipe_flux(s, PIPE_Z, i, s->nz - 2) / s->height_field.grid.dx;
    }
}

/* What an edge lets into a column over the substep, m.  A wave that leaves carries c (h - outside), c =
 * sqrt(g d) (Sommerfeld 1912), less what its slant makes of it; the tide and waves from outside come in.
 *
 * The flow goes through the edge at the middle of the substep, half a column beyond the sample, where a wave
 * that leaves is later by dx / 2c: half of what the substep changes along its way comes in besides. */
static double let_in(const und_columns *s, int e, int i, double level)
{
    size_t at = und_height_field_edge_cell(&s->height_field, e, i);
    const und_height_field_edge *edge = &s->height_field.edge[e];
    double dx = s->height_field.grid.dx;
    double outside =
        level + und_height_field_slant(&s->height_field, e, i) - 0.5 * s->dt * (double)edge->slant_rate[i];
    double ground = (double)s->ground[at], mean = 0.5 * (s->depth[at] + fmax(outside - ground, 0));
    double speed = sqrt(s->def.height_field.gravity * fmin(mean, s->def.pipe_depth));
    double share = fmin(speed * s->dt / dx, 1); /* deep water outside a dry bed: not beyond its level */
    double before = und_columns_level(s, at) - s->dt * (double)s->rise[at]; /* as the pipes saw it */
    double change = 0, inner = 0, besides = 0;
    bool line = e == UND_LOW_X || e == UND_HIGH_X || s->nz > 1;
    if (line && s->depth[at] > 0) {
        change = s->dt * from_inside(s, e, i);
        size_t next = und_height_field_inner_cell(&s->height_field, e, i);
        double step = before - (und_columns_level(s, next) - s->dt * (double)s->rise[next]);
        bool calm = s->depth[next] > 0 && fabs(step) < 0.1 * mean;
        besides = 0.5 + (calm ? INNER : 0);
        inner = calm ? INNER * step : 0;
    }
    double middle = before + 0.5 * s->dt * (double)s->rise[at];
    return (share * (outside - middle + inner) + besides * change) / (1 + 0.5 * share - besides);
}

void und_columns_open_edges(und_columns *s)
{
    double dx = s->height_field.grid.dx;
    for (int e = 0; e < UND_EDGES; e++)
        for (int i = 0;
             i < s->height_field.edge[e].count && s->def.height_field.edge[e].kind == UND_EDGE_OPEN; i++) {
            size_t at = und_height_field_edge_cell(&s->height_field, e, i);
            double level =
                und_height_field_outside_level(&s->height_field, e, i, s->height_field.time + 0.5 * s->dt);
            double in = fmax(let_in(s, e, i, level), -s->depth[at]);
            double deep = fmin(s->depth[at], s->def.pipe_depth);
            double share = sqrt(s->def.height_field.gravity * deep) * s->dt / dx;
            s->height_field.edge[e].passed[i] = share > 0 ? -in / share : 0;
            s->depth[at] += in;
            s->rise[at] += (float)(in / s->dt);
            und_ledger_add(&s->height_field.ledger.left, &s->height_field.lost.left, -in * dx * dx);
        }
    for (int e = 0; e < UND_EDGES; e++)
        for (int i = 0;
             i < s->height_field.edge[e].count && s->def.height_field.edge[e].kind == UND_EDGE_OPEN; i++)
            s->height_field.edge[e].met[i] =
                und_columns_level(s, und_height_field_edge_cell(&s->height_field, e, i));
    und_height_field_advance_all_slants(&s->height_field, s->height_field.time + s->dt, s->dt,
                                        s->def.pipe_depth);
}
