/* What comes and goes: springs, drains, drops, rain, pressure, and the edges of the domain. */
#include "base/pages.h"
#include "base/status.h"
#include "liquid/waves_state.h"

#include <math.h>
#include <stdlib.h>

static int clamp_index(double cells, int count)
{
    return cells < 0 ? 0 : cells >= count ? count - 1 : (int)cells;
}

static int cell_x(const und_waves *s, double x)
{
    return clamp_index((x - s->grid.origin[0]) / s->grid.dx, s->nx);
}
static int cell_z(const und_waves *s, double z)
{
    return clamp_index((z - s->grid.origin[2]) / s->grid.dx, s->nz);
}

/* Raises a cell by `height` (m), or lowers it as far as there is water; "add or subtract the amounts from the
 * current and last values of h": the rise stays.  Returns what was added. */
static double add_water(und_waves *s, size_t at, double height)
{
    double added = fmax(height, -und_waves_depth(s, at));
    s->height[at] += added;
    if (s->height[at] <= (double)s->ground[at]) {
        s->height[at] = (double)s->ground[at];
        s->rise[at] = 0;
    }
    return added;
}

static double distance_from(const und_waves *s, double x, double z, int cx, int cz)
{
    double dz = s->nz > 1 ? und_waves_z(s, cz) - z : 0;
    return hypot(und_waves_x(s, cx) - x, dz);
}

/* A smooth bump, 1 in the middle and 0 at the radius. */
static double bump(double distance, double radius)
{
    return distance < radius ? 0.5 + 0.5 * cos(M_PI * distance / radius) : 0;
}

double und_waves_add_drop(und_waves *s, double x, double z, double radius, double volume)
{
    int x0 = cell_x(s, x - radius), x1 = cell_x(s, x + radius), z0 = cell_z(s, z - radius),
        z1 = cell_z(s, z + radius);
    double total = 0, added = 0, cell = s->grid.dx * s->grid.dx;
    for (int cz = z0; cz <= z1; cz++)
        for (int cx = x0; cx <= x1; cx++)
            total += bump(distance_from(s, x, z, cx, cz), radius);
    if (total <= 0)
        return cell * add_water(s, und_waves_at(s, cell_x(s, x), cell_z(s, z)), volume / cell);
    for (int cz = z0; cz <= z1; cz++)
        for (int cx = x0; cx <= x1; cx++) {
            double part = bump(distance_from(s, x, z, cx, cz), radius) / total;
            if (part > 0)
                added += cell * add_water(s, und_waves_at(s, cx, cz), part * volume / cell);
        }
    return added;
}

static void book(und_waves *s, double volume)
{
    if (volume > 0)
        und_ledger_add(&s->ledger.sources, &s->lost.sources, volume);
    else
        und_ledger_add(&s->ledger.drains, &s->lost.drains, -volume);
}

/* A source's area seen from above: a disc, or a shape cut at its middle height. */
typedef struct area {
    const und_source_def *def;
    und_bounds bounds;
    double middle;
} area;

static area area_of(const und_source_def *def)
{
    area a = {.def = def};
    if (def->shape) {
        a.bounds = und_shape_bounds(def->shape);
        double y = 0.5 * (a.bounds.low.y + a.bounds.high.y);
        a.middle = isfinite(y) ? y : 0;
    } else {
        a.bounds.low = und_vec(def->center[0] - def->radius, 0, def->center[2] - def->radius);
        a.bounds.high = und_vec(def->center[0] + def->radius, 0, def->center[2] + def->radius);
    }
    return a;
}

static bool in_area(const und_waves *s, const area *a, int cx, int cz)
{
    if (!a->def->shape)
        return distance_from(s, a->def->center[0], a->def->center[2], cx, cz) <= a->def->radius;
    return und_shape_distance(a->def->shape, und_vec(und_waves_x(s, cx), a->middle, und_waves_z(s, cz))) <= 0;
}

/* Spreads a volume evenly over the cells of an area, or over its middle cell where it is smaller than one. */
static void add_source(und_waves *s, const und_source_def *def, double volume)
{
    area a = area_of(def);
    int x0 = cell_x(s, a.bounds.low.x), x1 = cell_x(s, a.bounds.high.x);
    int z0 = cell_z(s, a.bounds.low.z), z1 = cell_z(s, a.bounds.high.z), count = 0;
    double cell = s->grid.dx * s->grid.dx, added = 0;
    for (int z = z0; z <= z1; z++)
        for (int x = x0; x <= x1; x++)
            count += in_area(s, &a, x, z);
    if (count == 0)
        added = add_water(s, und_waves_at(s, (x0 + x1) / 2, (z0 + z1) / 2), volume / cell);
    else
        for (int z = z0; z <= z1; z++)
            for (int x = x0; x <= x1; x++)
                if (in_area(s, &a, x, z))
                    added += add_water(s, und_waves_at(s, x, z), volume / (cell * count));
    book(s, added * cell);
}

static double rain_height(void *context, double x, double z)
{
    const und_waves *s = context;
    return s->height[und_waves_at(s, cell_x(s, x), cell_z(s, z))];
}

static void rain_hit(void *context, double x, double z, double volume)
{
    und_waves *s = context;
    /* A drop smaller than the cells still makes a ring they can carry. */
    book(s, und_waves_add_drop(s, x, z, fmax(s->def.pool.rain.splash, 2 * s->grid.dx), volume));
}

/* Rivers flow in at a set rate; a fall lets out the critical flow (2/3)^(3/2) sqrt(g) d^(3/2) of a free
 * overfall. */
static void flow_over_edges(und_waves *s, double dt)
{
    double dx = s->grid.dx, middle = s->time + 0.5 * dt;
    for (int e = 0; e < UND_EDGES; e++) {
        const und_edge_def *def = &s->def.pool.edge[e];
        bool along_z = e == UND_LOW_X || e == UND_HIGH_X;
        for (int i = 0; i < s->edge[e].count && (def->kind == UND_EDGE_FLOW || def->kind == UND_EDGE_FALL);
             i++) {
            int x = along_z ? (e == UND_LOW_X ? 0 : s->nx - 1) : i;
            int z = along_z ? i : (e == UND_LOW_Z ? 0 : s->nz - 1);
            size_t at = und_waves_at(s, x, z);
            double depth = und_waves_depth(s, at), px = und_waves_x(s, x), pz = und_waves_z(s, z);
            if (def->kind == UND_EDGE_FALL) {
                double out = pow(2.0 / 3.0, 1.5) * sqrt(s->def.pool.gravity) * pow(depth, 1.5) * dt / dx;
                und_ledger_add(&s->ledger.left, &s->lost.left,
                               -add_water(s, at, -fmin(out, 0.5 * depth)) * dx * dx);
            } else if (!def->has_level ||
                       (double)s->ground[at] < und_value_at(&def->level, px, 0, pz, middle)) {
                book(s, add_water(s, at, und_value_at(&def->rate, px, 0, pz, middle) * dt / dx) * dx * dx);
            }
        }
    }
}

void und_waves_add_sources(und_waves *s, double dt)
{
    double from = s->time, to = s->time + dt;
    for (int i = 0; i < s->def.pool.source_count; i++) {
        const und_source_def *def = &s->def.pool.sources[i];
        double active = fmin(to, def->end) - fmax(from, def->start);
        if (active > 0)
            add_source(s, def,
                       active *
                           und_value_at(&def->rate, def->center[0], def->center[1], def->center[2], from));
    }
    for (int i = 0; i < s->def.pool.drop_count; i++) {
        const und_drop_def *def = &s->def.pool.drops[i];
        if (def->time >= from && def->time < to)
            book(s, und_waves_add_drop(s, def->center[0], def->center[2], def->radius, def->volume));
    }
    if (s->rain)
        und_rain_step(s->rain, from, dt, rain_height, rain_hit, s);
    flow_over_edges(s, dt);
}

static void add_stir(und_waves *s, const und_stir_def *def, double time)
{
    double center[3];
    und_vector_at(&def->center, time, center);
    double head = def->amplitude * sin(2 * M_PI * (time - def->start) / def->period);
    int x0 = cell_x(s, center[0] - def->radius), x1 = cell_x(s, center[0] + def->radius);
    int z0 = cell_z(s, center[2] - def->radius), z1 = cell_z(s, center[2] + def->radius);
    for (int z = z0; z <= z1; z++)
        for (int x = x0; x <= x1; x++)
            s->head[und_waves_at(s, x, z)] +=
                (float)(head * bump(distance_from(s, center[0], center[2], x, z), def->radius));
}

/* Outside pressure, as a height of water: what a function says, and the stirring. */
void und_waves_press(und_waves *s, double dt)
{
    if (!s->head)
        return;
    double time = s->time + dt, per_pascal = 1 / (s->def.pool.density * s->def.pool.gravity);
    for (int z = 0; z < s->nz; z++)
        for (int x = 0; x < s->nx; x++)
            s->head[und_waves_at(s, x, z)] =
                (float)(per_pascal *
                        und_value_at(&s->def.pool.pressure, und_waves_x(s, x), 0, und_waves_z(s, z), time));
    for (int i = 0; i < s->def.pool.stir_count; i++)
        if (time >= s->def.pool.stirs[i].start && time < s->def.pool.stirs[i].end)
            add_stir(s, &s->def.pool.stirs[i], time);
}

/* The level outside an open edge: what is set or was there at the start, and the incoming wave.  Water that
 * flows in with a wave of height a, at an angle, brings c cos(angle) a; with the c a that the edge lets out
 * of it: 1 + cos. */
static double outside_level(const und_waves *s, int e, int i, double time)
{
    const und_edge_def *def = &s->def.pool.edge[e];
    bool along_z = e == UND_LOW_X || e == UND_HIGH_X;
    double x = along_z ? (e == UND_LOW_X ? s->grid.origin[0] : s->grid.origin[0] + s->nx * s->grid.dx)
                       : und_waves_x(s, i);
    double z = along_z ? und_waves_z(s, i)
                       : (e == UND_LOW_Z ? s->grid.origin[2] : s->grid.origin[2] + s->nz * s->grid.dx);
    double level = def->has_level ? und_value_at(&def->level, x, 0, z, time) : s->edge[e].rest_level[i];
    if (def->amplitude == 0 || def->period <= 0)
        return level;
    double grown = def->ramp > 0 ? fmin(time / def->ramp, 1) : 1;
    double phase = 2 * M_PI * time / def->period - s->edge[e].wave_number * (along_z ? z : x);
    return level + (1 + cos(def->direction * M_PI / 180)) * def->amplitude * grown * sin(phase);
}

static size_t edge_cell(const und_waves *s, int e, int i)
{
    switch (e) {
    case UND_LOW_X:
        return und_waves_at(s, 0, i);
    case UND_HIGH_X:
        return und_waves_at(s, s->nx - 1, i);
    case UND_LOW_Z:
        return und_waves_at(s, i, 0);
    default:
        return und_waves_at(s, i, s->nz - 1);
    }
}

und_status und_waves_create_edges(und_waves *s, und_error *err)
{
    /* The sense in which a wave's direction turns is the same for all edges: from +x towards +z. */
    static const double turn[UND_EDGES] = {1, -1, -1, 1};
    for (int e = 0; e < UND_EDGES; e++) {
        und_waves_edge *edge = &s->edge[e];
        const und_edge_def *def = &s->def.pool.edge[e];
        size_t count = (size_t)(edge->count = e == UND_LOW_X || e == UND_HIGH_X ? s->nz : s->nx);
        edge->coupling = und_alloc(count, sizeof(float), "edge", err);
        edge->drive = und_alloc(count, sizeof(float), "edge", err);
        edge->outside = und_alloc(count, sizeof(double), "edge", err);
        edge->rest_level = und_alloc(count, sizeof(double), "edge", err);
        if (!edge->coupling || !edge->drive || !edge->outside || !edge->rest_level)
            return err->status;
        double deepest = 0;
        for (int i = 0; i < edge->count; i++) {
            edge->rest_level[i] = s->height[edge_cell(s, e, i)];
            deepest = fmax(deepest, und_waves_depth(s, edge_cell(s, e, i)));
        }
        if (def->period > 0 && deepest > 0)
            edge->wave_number = turn[e] * sin(def->direction * M_PI / 180) * 2 * M_PI / def->period /
                                sqrt(s->def.pool.gravity * deepest);
        for (int i = 0; i < edge->count && def->kind == UND_EDGE_OPEN; i++)
            edge->outside[i] = outside_level(s, e, i, 0);
    }
    return UND_OK;
}

void und_waves_prepare_edges(und_waves *s, double dt)
{
    for (int e = 0; e < UND_EDGES; e++) {
        und_waves_edge *edge = &s->edge[e];
        for (int i = 0; i < edge->count && s->def.pool.edge[e].kind == UND_EDGE_OPEN; i++) {
            size_t at = edge_cell(s, e, i);
            double depth = und_waves_depth(s, at), before = edge->outside[i];
            edge->outside[i] = outside_level(s, e, i, s->time + dt);
            /* A wave of any height that leaves has the flow int c dh: c at its mean depth. */
            double mean = 0.5 * (depth + fmax(edge->outside[i] - (double)s->ground[at], 0));
            edge->coupling[i] = depth > 0 ? (float)(sqrt(s->def.pool.gravity * mean) * dt / s->grid.dx) : 0;
            edge->drive[i] = (float)(edge->outside[i] - before);
        }
    }
}
