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

/* Where no liquid is or was near, unless that is a function of place. */
static float far_from_liquid(const und_heat_def *def)
{
    return !def->start.fn && is_temperature(def->start.number) ? (float)def->start.number : 0;
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
    return und_carried_open(&h->carried, &s->mac, far_from_liquid(&h->def), s->device.threads, err);
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

/* Of a cell that no liquid is or was near. */
static float start_at(const und_levelset *s, int x, int y, int z)
{
    double at[3];
    place_of(&s->mac, x, y, z, at);
    return s->heat->def.start.fn ? value_at(&s->heat->def.start, at, 0) : far_from_liquid(&s->heat->def);
}

/* What a fill says holds a cell beyond it too: its surface is not to be cut off. */
static float filled_at(const und_levelset *s, int x, int y, int z)
{
    double at[3];
    place_of(&s->mac, x, y, z, at);
    float value = value_at(&s->heat->def.start, at, 0);
    for (int i = 0; i < s->def.fill_count; i++) {
        const und_fill_def *fill = &s->def.fills[i];
        if (fill->temperature && und_shape_distance(fill->shape, und_vec(at[0], at[1], at[2])) < s->def.dx)
            value = value_at(fill->temperature, at, 0);
    }
    return value;
}

void und_levelset_heat_fill(und_levelset *s)
{
    const und_mac *m = &s->mac;
    if (s->heat)
        UND_MAC_EACH_ROW (m, row) {
            const int y = row % m->n[1], z = row / m->n[1];
            const und_span part = und_mac_span(m, y, z);
            for (int x = part.begin; x < part.end; x++)
                s->heat->carried.value[und_mac_at(m, x, y, z)] = filled_at(s, x, y, z);
        }
}

/* What comes out of sources has their temperature. */
static void pour_heat(und_levelset *s)
{
    const und_mac *m = &s->mac;
    const und_mask *held = und_elements_held(s->elements);
    for (int row = und_mac_next_row(m, 0); held && row < und_mac_rows(m); row = und_mac_next_row(m, row + 1))
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

/* What the liquid has left behind is as if it had never been there, unless a film is: so nothing tells how
 * much of the domain a window has had. */
static inline void forget(const und_levelset *s, und_place p)
{
    und_carried *c = &s->heat->carried;
    const int32_t *held = s->volume ? und_levelset_volume_cells(s) : NULL;
    const uint64_t *known = und_mask_row(und_carried_known(c, s->layers), p.y, p.z),
                   *liquid = und_mask_row(&s->flow.liquid, p.y, p.z);
    uint64_t *had = und_mask_row(&c->had, p.y, p.z);
    const und_span words = und_mac_words(&s->mac, p.y, p.z);
    for (int w = words.begin; w < words.end; w++) {
        uint64_t kept = 0;
        for (uint64_t gone = (had[w] | liquid[w]) & ~known[w]; gone; gone &= gone - 1) {
            const int x = 64 * w - 1 + __builtin_ctzll(gone);
            const size_t cell = (size_t)((ptrdiff_t)p.at + x);
            if (held && held[cell] != 0)
                kept |= gone & -gone;
            else
                c->value[cell] = start_at(s, x, p.y, p.z);
        }
        had[w] = known[w] | kept;
    }
}
UND_KERNEL(forget, und_levelset, UND_EACH_ROW)

/* One who asks a scene's function does so alone. */
static und_device asks_start(const und_levelset *s)
{
    return (und_device){.threads = s->heat->def.start.fn ? 1 : s->device.threads};
}

typedef struct came_args {
    const und_levelset *s;
    const und_mac *from;
} came_args;

static inline void came(const came_args *a, und_place p)
{
    const und_mac *m = &a->s->mac, *from = a->from;
    const int y = p.y + m->low[1] - from->low[1], z = p.z + m->low[2] - from->low[2];
    const bool row = y >= 0 && y < from->n[1] && z >= 0 && z < from->n[2];
    const int begin = row ? from->low[0] - m->low[0] : 0, end = row ? begin + from->n[0] : 0;
    for (int x = 0; x < m->n[0]; x++)
        if (x < begin || x >= end)
            a->s->heat->carried.value[p.at + (size_t)x] = start_at(a->s, x, p.y, p.z);
}
UND_KERNEL(came, came_args, UND_EACH_ROW)

void und_levelset_heat_came(und_levelset *s, const und_mac *from)
{
    if (!s->heat || !s->heat->def.start.fn) /* a number is what came in anyway */
        return;
    const und_device device = asks_start(s);
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    const came_args args = {s, from};
    und_pass(&device, came, &args, &rows);
}

float und_levelset_heat_outside(const und_levelset *s)
{
    return far_from_liquid(&s->heat->def);
}

void und_levelset_heat_move(und_levelset *s)
{
    const und_trace_order trace = s->def.trace == 3 ? UND_TRACE_RK3 : UND_TRACE_RK2;
    if (s->heat)
        und_distance_get_phi(&s->surface, s->layers + und_carried_reach(s->layers));
    if (s->heat)
        und_carried_move(&s->heat->carried, s->surface.phi, s->flow.u, s->dt / s->def.dx, trace, s->layers);
    if (s->heat) {
        const und_device device = asks_start(s);
        const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
        und_pass(&device, forget, s, &rows);
    }
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
