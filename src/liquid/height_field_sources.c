/* What comes and goes in a height field: springs, drains, drops, rain and pressure. */
#include "base/maths.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "liquid/height_field_state.h"

#include <math.h>

static int clamp_index(double cells, int count)
{
    return cells < 0 ? 0 : cells >= count ? count - 1 : (int)cells;
}

int und_height_field_cell_x(const und_height_field *p, double x)
{
    return clamp_index((x - p->grid.origin[0]) / p->grid.dx, p->nx);
}
int und_height_field_cell_z(const und_height_field *p, double z)
{
    return clamp_index((z - p->grid.origin[2]) / p->grid.dx, p->nz);
}

double und_height_field_add_water(und_height_field *p, size_t at, double height)
{
    double added = fmax(height, -und_height_field_depth(p, at)), floor = p->floor ? (double)p->floor[at] : 0;
    p->water[at] += added;
    if (p->water[at] <= floor) {
        p->water[at] = floor;
        if (p->dried)
            p->dried(p->context, at);
    }
    return added;
}

void und_height_field_book(und_height_field *p, double volume)
{
    if (volume > 0)
        und_ledger_add(&p->ledger.sources, &p->lost.sources, volume);
    else
        und_ledger_add(&p->ledger.drains, &p->lost.drains, -volume);
}

static double distance_from(const und_height_field *p, double x, double z, int cx, int cz)
{
    double dz = p->nz > 1 ? und_height_field_z(p, cz) - z : 0;
    return und_hypot(und_height_field_x(p, cx) - x, dz);
}

/* Adds `volume` (m3; negative: takes, as far as there is water) as a smooth bump; returns what was added.
 * The ledger is the caller's. */
static double add_drop(und_height_field *p, double x, double z, double radius, double volume)
{
    int x0 = und_height_field_cell_x(p, x - radius), x1 = und_height_field_cell_x(p, x + radius);
    int z0 = und_height_field_cell_z(p, z - radius), z1 = und_height_field_cell_z(p, z + radius);
    double total = 0, added = 0, cell = und_height_field_cell_area(p);
    for (int cz = z0; cz <= z1; cz++)
        for (int cx = x0; cx <= x1; cx++)
            total += und_height_field_bump(distance_from(p, x, z, cx, cz), radius);
    if (total <= 0)
        return cell * und_height_field_add_water(p,
                                                 und_height_field_at(p, und_height_field_cell_x(p, x),
                                                                     und_height_field_cell_z(p, z)),
                                                 volume / cell);
    for (int cz = z0; cz <= z1; cz++)
        for (int cx = x0; cx <= x1; cx++) {
            double part = und_height_field_bump(distance_from(p, x, z, cx, cz), radius) / total;
            if (part > 0)
                added += cell *
                         und_height_field_add_water(p, und_height_field_at(p, cx, cz), part * volume / cell);
        }
    return added;
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

static bool in_area(const und_height_field *p, const area *a, int cx, int cz)
{
    if (!a->def->shape)
        return distance_from(p, a->def->center[0], a->def->center[2], cx, cz) <= a->def->radius;
    return und_shape_distance(a->def->shape,
                              und_vec(und_height_field_x(p, cx), a->middle, und_height_field_z(p, cz))) <= 0;
}

/* Spreads a volume evenly over the cells of an area, or over its middle cell where it is smaller than one. */
static void add_source(und_height_field *p, const und_source_def *def, double volume)
{
    area a = area_of(def);
    int x0 = und_height_field_cell_x(p, a.bounds.low.x), x1 = und_height_field_cell_x(p, a.bounds.high.x);
    int z0 = und_height_field_cell_z(p, a.bounds.low.z), z1 = und_height_field_cell_z(p, a.bounds.high.z),
        count = 0;
    double cell = und_height_field_cell_area(p), added = 0;
    for (int z = z0; z <= z1; z++)
        for (int x = x0; x <= x1; x++)
            count += in_area(p, &a, x, z);
    if (count == 0)
        added = und_height_field_add_water(p, und_height_field_at(p, (x0 + x1) / 2, (z0 + z1) / 2),
                                           volume / cell);
    else
        for (int z = z0; z <= z1; z++)
            for (int x = x0; x <= x1; x++)
                if (in_area(p, &a, x, z))
                    added +=
                        und_height_field_add_water(p, und_height_field_at(p, x, z), volume / (cell * count));
    und_height_field_book(p, added * cell);
}

static double rain_height(void *context, double x, double z)
{
    const und_height_field *p = context;
    return und_height_field_surface(
        p, und_height_field_at(p, und_height_field_cell_x(p, x), und_height_field_cell_z(p, z)));
}

static void rain_hit(void *context, double x, double z, double volume)
{
    und_height_field *p = context;
    /* A drop smaller than the cells still makes a ring they can carry. */
    und_height_field_book(p, add_drop(p, x, z, fmax(p->def->rain.splash, 2 * p->grid.dx), volume));
}

und_status und_height_field_create_rain(und_height_field *p, und_error *err)
{
    if (!p->def->rain.on)
        return UND_OK;
    const double low[2] = {p->grid.origin[0], p->grid.origin[2]};
    const double high[2] = {low[0] + p->nx * p->grid.dx, low[1] + p->nz * p->grid.dx};
    double floor = INFINITY;
    for (int z = 0; z < p->nz; z++)
        for (int x = 0; x < p->nx; x++)
            floor = fmin(floor, (double)p->ground[und_height_field_at(p, x, z)]);
    p->rain = und_rain_create(&p->def->rain, p->def->seed, low, high, floor, err);
    return p->rain ? UND_OK : err->status;
}

void und_height_field_add_sources(und_height_field *p, double dt)
{
    double from = p->time, to = p->time + dt;
    for (int i = 0; i < p->def->source_count; i++) {
        const und_source_def *def = &p->def->sources[i];
        double active = fmin(to, def->end) - fmax(from, def->start);
        if (active > 0)
            add_source(p, def,
                       active *
                           und_value_at(&def->rate, def->center[0], def->center[1], def->center[2], from));
    }
    for (int i = 0; i < p->def->drop_count; i++) {
        const und_drop_def *def = &p->def->drops[i];
        if (def->time >= from && def->time < to)
            und_height_field_book(p, add_drop(p, def->center[0], def->center[2], def->radius, def->volume));
    }
    if (p->rain)
        und_rain_step(p->rain, from, dt, rain_height, rain_hit, p);
    und_height_field_flow_over_edges(p, dt);
}

void und_height_field_press_at(und_height_field *p, double px, double pz, double radius, double head)
{
    int x0 = und_height_field_cell_x(p, px - radius), x1 = und_height_field_cell_x(p, px + radius);
    int z0 = und_height_field_cell_z(p, pz - radius), z1 = und_height_field_cell_z(p, pz + radius);
    for (int z = z0; z <= z1; z++)
        for (int x = x0; x <= x1; x++)
            p->head[und_height_field_at(p, x, z)] +=
                (float)(head * und_height_field_bump(distance_from(p, px, pz, x, z), radius));
}

static void add_stir(und_height_field *p, const und_stir_def *def, double time)
{
    double center[3];
    und_vector_at(&def->center, time, center);
    und_height_field_press_at(p, center[0], center[2], def->radius,
                              def->amplitude * und_sin(2 * M_PI * (time - def->start) / def->period));
}

/* Outside pressure, as a height of water: what a function says, and the stirring. */
void und_height_field_press(und_height_field *p, double dt)
{
    und_height_field_end_hand(p);
    if (!p->head)
        return;
    double time = p->time + dt, per_pascal = 1 / (p->def->density * p->def->gravity);
    for (int z = 0; z < p->nz && und_height_field_presses(p->def); z++)
        for (int x = 0; x < p->nx; x++)
            p->head[und_height_field_at(p, x, z)] =
                (float)(per_pascal * und_value_at(&p->def->pressure, und_height_field_x(p, x), 0,
                                                  und_height_field_z(p, z), time));
    for (int i = 0; i < p->def->stir_count; i++)
        if (time >= p->def->stirs[i].start && time < p->def->stirs[i].end)
            add_stir(p, &p->def->stirs[i], time);
    und_height_field_press_hand(p, time);
}
