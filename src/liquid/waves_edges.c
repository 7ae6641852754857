/* The height field's exchange with what stands outside its open edges. */
#include "grid/field.h"
#include "liquid/waves_kernel.h"
#include "liquid/waves_state.h"

#include <math.h>

/* (1 - w / 4) / (1 - 3 w / 4), w = 1 - exp(-i k dx), is nearly exp(i k dx / 2), what a wave is half a cell
 * further on: tan^3(k dx / 4) comes back, 1 % of waves of 8 cells; without it 4 %. */
static const double INNER = 0.25;

enum { AT_EDGE = UND_AT_OWN };
static const und_field fields[] = {
    UND_FIELD(und_waves_edge, coupling, AT_EDGE), UND_FIELD(und_waves_edge, change, AT_EDGE),
    UND_FIELD(und_waves_edge, inner, AT_EDGE),    UND_FIELD(und_waves_edge, drive, AT_EDGE),
    UND_FIELD(und_waves_edge, outside, AT_EDGE),  UND_FIELD(und_waves_edge, inflow, AT_EDGE)};
enum { FIELDS = sizeof fields / sizeof *fields };

und_status und_waves_create_edges(und_waves *s, und_error *err)
{
    for (int e = 0; e < UND_EDGES; e++) {
        const int count = s->height_field.edge[e].count;
        const und_field_room room = {.own = (const size_t[]){(size_t)count}};
        if (und_field_open_all(&s->edge[e], fields, FIELDS, &room, "edge", err) != UND_OK)
            return err->status;
        for (int i = 0; i < count && s->def.height_field.edge[e].kind == UND_EDGE_OPEN; i++)
            s->edge[e].outside[i] =
                und_height_field_outside_level(&s->height_field, e, i, s->height_field.time);
    }
    return UND_OK;
}

void und_waves_destroy_edges(und_waves *s)
{
    for (int e = 0; e < UND_EDGES; e++)
        und_field_close_all(&s->edge[e], fields, FIELDS);
}

/* The first order counts with the level at the end of the step.  The second takes the slant from before it:
 * in the part of a step along x, a wave along z has not gone on yet. */
static void find_outside(und_waves *s, int e, double dt, bool second)
{
    und_waves_edge *edge = &s->edge[e];
    double time = s->height_field.time + (second ? 0.5 * dt : dt);
    for (int i = 0; i < s->height_field.edge[e].count; i++) {
        double before = edge->outside[i];
        edge->outside[i] = und_height_field_outside_level(&s->height_field, e, i, time) +
                           und_height_field_slant(&s->height_field, e, i);
        edge->drive[i] = (float)(edge->outside[i] - before);
    }
}

static void find_couplings(und_waves *s, int e, double dt, bool second)
{
    und_waves_edge *edge = &s->edge[e];
    bool line = e == UND_LOW_X || e == UND_HIGH_X || s->height_field.nz > 1;
    for (int i = 0; i < s->height_field.edge[e].count; i++) {
        size_t at = und_height_field_edge_cell(&s->height_field, e, i);
        double depth = und_waves_depth(s, at);
        /* A wave of any height that leaves has the flow int c dh: c at its mean depth. */
        double mean = 0.5 * (depth + fmax(edge->outside[i] - (double)s->ground[at], 0));
        double coupling =
                   depth > 0 ? sqrt(s->def.height_field.gravity * mean) * dt / s->height_field.grid.dx : 0,
               inner = 0;
        if (line && coupling > 0) {
            size_t next = und_height_field_inner_cell(&s->height_field, e, i);
            double beside = und_waves_depth(s, next), step = s->height[next] - s->height[at];
            inner =
                beside > 0 && und_waves_late((float)depth, (float)beside, (float)step) <= 0.5f ? INNER : 0;
        }
        edge->coupling[i] = (float)coupling;
        edge->inner[i] = (float)(inner * coupling);
        edge->change[i] = line && coupling > 0 ? (float)(0.5 + inner) : 0;
        s->open += second ? 0 : coupling / s->height_field.nx / s->height_field.nz;
    }
}

void und_waves_prepare_edges(und_waves *s, double dt)
{
    bool second = s->def.order == 2;
    s->open = 0;
    for (int e = 0; e < UND_EDGES; e++)
        if (s->def.height_field.edge[e].kind == UND_EDGE_OPEN) {
            find_outside(s, e, dt, second);
            find_couplings(s, e, dt, second);
        }
}

/* By how much the part of the step along an axis changed a cell; the first order's has no parts. */
static double change_along(const und_waves *s, size_t at, int axis)
{
    if (s->def.order == 2 && axis == 0)
        return (double)s->middle[at];
    return (double)s->rise[at] - (s->def.order == 2 ? (double)s->middle[at] : 0);
}

/* The level that open edges count with: at the end of the step for the first order, at the middle of the part
 * along their axis for the second.  After the rows the heights are still the old ones. */
static double level_along(const und_waves *s, size_t at, int axis)
{
    if (s->def.order == 1)
        return s->height[at];
    return s->height[at] + (axis == 0 ? 0.5 : -0.5) * change_along(s, at, axis);
}

/* What an edge met, and what it let in. */
static void find_inflow(und_waves *s, int e)
{
    und_waves_edge *edge = &s->edge[e];
    int axis = e == UND_LOW_Z || e == UND_HIGH_Z;
    for (int i = 0; i < s->height_field.edge[e].count; i++) {
        size_t at = und_height_field_edge_cell(&s->height_field, e, i);
        double level = level_along(s, at, axis), coupling = (double)edge->coupling[i];
        if (edge->inner[i] > 0)
            level -= (double)edge->inner[i] / coupling *
                     (level - level_along(s, und_height_field_inner_cell(&s->height_field, e, i), axis));
        edge->inflow[i] = coupling * (edge->outside[i] - level) / (1 + s->open) +
                          (double)edge->change[i] * change_along(s, at, axis);
        s->height_field.edge[e].met[i] = level;
        s->height_field.edge[e].passed[i] = coupling > 0 ? -edge->inflow[i] / coupling : 0;
    }
}

/* Adds the slants at the ends of the edges along x to the levels outside. */
static void add_ends(und_waves *s, double times)
{
    for (int e = UND_LOW_Z; e <= UND_HIGH_Z; e++)
        for (int k = 0; k < 2 && s->def.height_field.edge[e].kind == UND_EDGE_OPEN && s->height_field.nx > 1;
             k++) {
            int i = k * (s->height_field.nx - 1);
            s->edge[e].outside[i] += times * und_height_field_slant(&s->height_field, e, i);
        }
}

/* The first order's edges let the water pass at the end of the step, all together. */
void und_waves_cross_edges(und_waves *s, int axis)
{
    bool second = s->def.order == 2;
    if (!second && axis == 0)
        return;
    double time = s->height_field.time + (second ? 0.5 : 1) * s->dt;
    for (int e = 0; e < UND_EDGES; e++)
        if ((!second || e / 2 == axis) && s->def.height_field.edge[e].kind == UND_EDGE_OPEN)
            find_inflow(s, e);
    if (second) {
        add_ends(s, axis == 0 ? -1 : 0);
        und_height_field_slants_leave(&s->height_field, !axis, time, s->dt, INFINITY);
        add_ends(s, axis == 0 ? 1 : 0);
        und_height_field_advance_slants(&s->height_field, axis, time, s->dt, INFINITY);
    } else
        und_height_field_advance_all_slants(&s->height_field, time, s->dt, INFINITY);
}
