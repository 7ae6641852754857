/* The liquid's temperature, which it carries and which spreads in it, and the viscosity that follows from it:
 * melting (Rasmussen et al. 2004, 5.1). */
#include "base/maths.h"
#include "base/status.h"
#include "flow/carried.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "liquid/levelset_state.h"

#include <math.h>
#include <stdlib.h>

struct und_levelset_heat {
    und_heat_def def;
    und_carried carried;
    double *log_nu; /* of the table */
    bool walls;     /* some side or solid has a temperature of its own */
};

static bool is_temperature(double t)
{
    return isfinite(t) && fabs(t) <= UND_HEAT_MOST;
}

static und_status check_table(const und_heat_def *def, und_error *err)
{
    for (int i = 0; i < def->count; i++) {
        const double *row = def->viscosity[i];
        if (!is_temperature(row[0]) || !(row[1] > 0 && row[1] <= 1e6) ||
            (i > 0 && !(row[0] > def->viscosity[i - 1][0])))
            return und_error_set(err, UND_INVALID,
                                 "levelset: temperature.viscosity: expected {temperature, viscosity} with "
                                 "growing temperatures and viscosities above 0, up to 1e6, found {%g, %g}",
                                 row[0], row[1]);
    }
    if (!(def->diffusivity >= 0 && def->diffusivity <= 1e6))
        return und_error_set(err, UND_INVALID,
                             "levelset: temperature.diffusivity: expected a number from 0 to 1e6, found %g",
                             def->diffusivity);
    return UND_OK;
}

und_status und_levelset_heat_open(und_levelset *s, und_error *err)
{
    if (!s->def.heat)
        return UND_OK;
    struct und_levelset_heat *h = s->heat = und_alloc(1, sizeof *h, "the temperature", err);
    if (!h || check_table(s->def.heat, err) != UND_OK)
        return err->status;
    h->def = *s->def.heat;
    h->walls = h->def.walls != NULL;
    for (int i = 0; i < s->def.obstacle_count; i++)
        h->walls = h->walls || s->def.obstacles[i].temperature;
    if (!(h->log_nu = und_alloc((size_t)h->def.count + 1, sizeof *h->log_nu, "the temperature", err)))
        return err->status;
    for (int i = 0; i < h->def.count; i++)
        h->log_nu[i] = und_log(h->def.viscosity[i][1]);
    return und_carried_open(&h->carried, &s->mac, s->device.threads, err);
}

void und_levelset_heat_close(und_levelset *s)
{
    if (!s->heat)
        return;
    und_carried_close(&s->heat->carried);
    free(s->heat->log_nu);
    free(s->heat);
}

static float value_at(const und_value *v, const double at[3], double time)
{
    double t = und_value_at(v, at[0], at[1], at[2], time);
    return is_temperature(t) ? (float)t : 0;
}

static void place_of(const und_mac *m, int x, int y, int z, double at[3])
{
    at[0] = und_mac_middle(m, 0, x);
    at[1] = und_mac_middle(m, 1, y);
    at[2] = und_mac_middle(m, 2, z);
}

/* What a fill says holds a cell beyond it too: its surface is not to be cut off. */
void und_levelset_heat_fill(und_levelset *s)
{
    const und_mac *m = &s->mac;
    for (int z = 0; s->heat && z < m->n[2]; z++)
        for (int y = 0; y < m->n[1]; y++)
            for (int x = 0; x < m->n[0]; x++) {
                double at[3];
                place_of(m, x, y, z, at);
                float value = value_at(&s->heat->def.start, at, 0);
                for (int i = 0; i < s->def.fill_count; i++) {
                    const und_fill_def *fill = &s->def.fills[i];
                    if (fill->temperature &&
                        und_shape_distance(fill->shape, und_vec(at[0], at[1], at[2])) < s->def.dx)
                        value = value_at(fill->temperature, at, 0);
                }
                s->heat->carried.value[und_mac_at(m, x, y, z)] = value;
            }
}

/* What comes out of sources has their temperature. */
static void pour_heat(und_levelset *s)
{
    const und_mac *m = &s->mac;
    const und_mask *held = und_elements_held(s->elements);
    for (int row = 0; held && row < und_mac_rows(m); row++)
        for (int begin, end = -1; und_mask_stretch(held, row % m->n[1], row / m->n[1], end, &begin, &end);)
            for (int x = begin; x < end; x++) {
                double at[3];
                int source = und_elements_source_at(s->elements, x, row % m->n[1], row / m->n[1]);
                place_of(m, x, row % m->n[1], row / m->n[1], at);
                if (source >= 0 && s->def.elements[source].temperature)
                    s->heat->carried.value[und_mac_row(m, row) + (size_t)x] =
                        value_at(s->def.elements[source].temperature, at, s->time);
            }
}

static bool wall_at(void *levelset, const int cell[3], int axis, int side, double *value)
{
    const und_levelset *s = levelset;
    int beside[3] = {cell[0], cell[1], cell[2]};
    double at[3];
    beside[axis] += side ? 1 : -1;
    bool outside = beside[axis] < 0 || beside[axis] >= s->mac.n[axis];
    const size_t i = und_mac_at(&s->mac, beside[0], beside[1], beside[2]);
    const und_value *given = outside         ? s->heat->def.walls
                             : s->solids.any ? s->def.obstacles[s->solids.owner[i]].temperature
                                             : NULL;
    if (!given)
        return false;
    place_of(&s->mac, cell[0], cell[1], cell[2], at);
    at[axis] += (side ? 0.5 : -0.5) * s->def.dx;
    *value = (double)value_at(given, at, s->time + s->dt);
    return true;
}

void und_levelset_heat_spread(und_levelset *s)
{
    const und_carried_wall wall = {wall_at, s};
    if (!s->heat)
        return;
    pour_heat(s);
    double number = s->heat->def.diffusivity * s->dt / (s->def.dx * s->def.dx);
    if (number > 1e-9)
        und_carried_diffuse(&s->heat->carried, &s->flow.liquid, &s->solids, s->system, number,
                            s->heat->walls ? &wall : NULL, s->def.tolerance, s->def.max_iterations);
}

void und_levelset_heat_move(und_levelset *s)
{
    const und_trace_order trace = s->def.trace == 3 ? UND_TRACE_RK3 : UND_TRACE_RK2;
    if (s->heat)
        und_distance_get_phi(&s->surface, s->layers + und_carried_reach(s->layers));
    if (s->heat)
        und_carried_move(&s->heat->carried, s->surface.phi, s->flow.u, s->dt / s->def.dx, trace, s->layers);
}

float *und_levelset_temperatures(const und_levelset *s)
{
    return s->heat ? s->heat->carried.value : NULL;
}

double und_levelset_temperature(const und_levelset *s, int x, int y, int z)
{
    return s->heat ? (double)s->heat->carried.value[und_mac_at(&s->mac, x, y, z)] : 0;
}

bool und_levelset_melts(const und_levelset *s)
{
    return s->heat && s->heat->def.count > 0;
}

double und_levelset_melt_viscosity(const und_levelset *s, size_t cell)
{
    const struct und_levelset_heat *h = s->heat;
    const double t = (double)h->carried.value[cell];
    int low = 0, high = h->def.count - 1;
    if (!(t > h->def.viscosity[low][0]))
        return h->def.viscosity[low][1];
    if (t >= h->def.viscosity[high][0])
        return h->def.viscosity[high][1];
    while (high - low > 1) {
        int middle = (low + high) / 2;
        *(t < h->def.viscosity[middle][0] ? &high : &low) = middle;
    }
    double part = (t - h->def.viscosity[low][0]) / (h->def.viscosity[high][0] - h->def.viscosity[low][0]);
    return und_exp(h->log_nu[low] + part * (h->log_nu[high] - h->log_nu[low]));
}
