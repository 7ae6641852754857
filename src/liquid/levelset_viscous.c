/* The liquid's viscosity where it is more than a number: Rasmussen et al. 2004, 5.1. */
#include "base/status.h"
#include "flow/viscous.h"
#include "geom/value.h"
#include "grid/field.h"
#include "liquid/levelset_kernel.h"
#include "liquid/levelset_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_NU = 1e6; /* m2/s */
/* How much of the viscous pressure lasts to the next substep in the split solver.  With all of it a free disc
 * of 100 R^2 Omega bulges by a quarter of its radius in 10 turns; with 0.95 it is round. */
static const double LASTS = 0.9;

struct und_levelset_viscous {
    und_viscous *solver;
    float *nu;   /* m2/s, of cells of liquid */
    float *left; /* of that, but for thin layers, which walls slow down as they do films */
    /* Of p, m2/s2: what the liquid's weight and inertia call for, in this substep, and what its viscosity
     * does, from the substep before on; 0 outside the liquid. */
    double *plain, *viscous;
    double lasts;
    double step_stats[UND_LEVELSET_VISCOUS_STATS];
};

bool und_levelset_viscosity_varies(const und_levelset_def *def)
{
    for (int i = 0; i < def->control_particle_count; i++)
        if (def->control_particles[i].kind == UND_CONTROL_VISCOSITY)
            return true;
    return def->viscosity_field.fn != NULL || (def->heat && def->heat->count > 0);
}

#define FIELD(member, ...) UND_FIELD(struct und_levelset_viscous, member, UND_AT_CELLS, ##__VA_ARGS__)

static const und_field fields[] = {FIELD(nu, .halo = UND_HALO_BESIDE), FIELD(left, .halo = UND_HALO_BESIDE),
                                   FIELD(plain), FIELD(viscous, .halo = UND_HALO_BESIDE)};
enum { OF_VISCOUS = 3, FIELDS = sizeof fields / sizeof *fields };

und_status und_levelset_viscous_open(und_levelset *s, und_error *err)
{
    static const char *const what = "the viscosity";
    const und_levelset_def *def = &s->def;
    if (!und_levelset_viscosity_varies(def) &&
        (def->viscosity_solver == UND_VISCOSITY_DIFFUSE || !(def->viscosity > 0)))
        return UND_OK;
    struct und_levelset_viscous *v = s->viscous = und_alloc(1, sizeof *v, what, err);
    if (!v || und_field_open_all(v, fields, FIELDS, &(und_field_room){.mac = &s->mac}, what, err) ||
        !(v->solver = und_viscous_create(&s->mac, def->viscosity_solver == UND_VISCOSITY_COUPLED,
                                         s->device.threads, err)))
        return err->status;
    v->lasts = def->viscosity_solver == UND_VISCOSITY_COUPLED ? 1 : LASTS;
    return UND_OK;
}

void und_levelset_viscous_share(und_levelset *s)
{
    if (s->viscous)
        und_viscous_share(s->viscous->solver, s->device.halo);
}

void und_levelset_viscous_close(und_levelset *s)
{
    if (!s->viscous)
        return;
    und_viscous_destroy(s->viscous->solver);
    und_field_close_all(s->viscous, fields, FIELDS);
    free(s->viscous);
}

/* A field's value may be anything: what is no number counts as 0. */
static float within(double nu)
{
    return nu > 0 ? (float)fmin(nu, MOST_NU) : 0;
}

typedef struct viscosity_args {
    und_levelset *s;
    const und_distance *surface;
} viscosity_args;

static inline void set_row(const viscosity_args *a, und_place p)
{
    const und_levelset *s = a->s;
    const und_mac *m = &s->mac;
    const und_value *given = &s->def.viscosity_field;
    float *nu = s->viscous->nu + p.at;
    const float *phi = a->surface->phi + p.at;
    const double place[2] = {und_mac_middle(m, 1, p.y), und_mac_middle(m, 2, p.z)};
    const und_span span = und_mac_span(m, p.y, p.z);
    for (int x = span.begin; x < span.end; x++)
        nu[x] = !(phi[x] < 0)
                    ? 0
                    : within(given->fn ? und_value_at(given, und_mac_middle(m, 0, x), place[0], place[1],
                                                      s->time + s->dt)
                             : und_levelset_melts(s) ? und_levelset_melt_viscosity(s, p.at + (size_t)x)
                                                     : s->def.viscosity);
}
UND_KERNEL(set_row, viscosity_args, UND_EACH_ROW)

/* The viscosity of each cell of liquid at the end of the substep. */
static void set_viscosity(und_levelset *s, const und_distance *surface)
{
    const viscosity_args args = {s, surface};
    const und_device device = {.threads = s->def.viscosity_field.fn ? 1 : s->device.threads};
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    und_pass(&device, set_row, &args, &rows);
    if (s->control)
        und_control_particles_viscosity(und_levelset_control_particles(s), s->viscous->nu);
}

/* Of cells that have a pressure; of the others the viscous one is 0. */
static void each_cell(und_levelset *s, const und_kernel *kernel, double *pressure)
{
    const und_viscous_pressure_args args = {.mac = s->mac,
                                            .asked = s->flow.asked,
                                            .pressure = pressure,
                                            .p = s->flow.p,
                                            .plain = s->viscous->plain,
                                            .viscous = s->viscous->viscous,
                                            .lasts = s->viscous->lasts};
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE),
                  cells = und_set_cells(&s->mac, UND_ROWS_INSIDE, &s->flow.asked);
    const und_pass passes[2] = {{kernel, &args, &cells}, UND_PASS(und_clear_viscous, &args, &rows)};
    und_pass_run(&s->device, passes, 2);
}

static void tell(struct und_levelset_viscous *v, const und_mac_flow_report *report)
{
    double n = v->step_stats[UND_LEVELSET_VISCOUS_STEPS]++, *mean = &v->step_stats[UND_LEVELSET_VISCOUS_MEAN];
    *mean += (report->iterations - *mean) / (n + 1);
    v->step_stats[UND_LEVELSET_VISCOUS_MOST] =
        fmax(v->step_stats[UND_LEVELSET_VISCOUS_MOST], report->iterations);
    v->step_stats[UND_LEVELSET_VISCOUS_FAILED] += !report->converged;
}

static inline void copy_row(const und_viscous_pressure_args *a, und_place p)
{
    const und_span part = und_mac_span_beside(&a->mac, p.y, p.z);
    memcpy(a->pressure + (ptrdiff_t)p.at + part.begin, a->p + (ptrdiff_t)p.at + part.begin,
           (size_t)(part.end - part.begin) * sizeof *a->p);
}
UND_KERNEL(copy_row, und_viscous_pressure_args, UND_EACH_ROW)

/* The stresses of a flow that keeps its volume: without the projection before it, viscosity would hold up
 * the liquid's weight in the place of the pressure.  The pressure that viscosity called for in the substep
 * before acts here too, or what it drives would slip along walls until the projection that follows. */
static void stress(und_levelset *s, und_levelset_pressed *pressed)
{
    const und_mac_flow_projection plain = {.surface = &pressed->surface,
                                           .solids = &s->solids,
                                           .dt = s->dt,
                                           .pull = und_levelset_suction(s),
                                           .held = und_levelset_held(s),
                                           .pressure = pressed->pressure,
                                           .tolerance = s->def.tolerance,
                                           .max_iterations = s->def.max_iterations};
    set_viscosity(s, plain.surface);
    const und_viscous_flow flow = {.flow = &s->flow,
                                   .surface = plain.surface,
                                   .solids = &s->solids,
                                   .held = plain.held,
                                   .nu =
                                       und_levelset_volume_leave_layers(s, s->viscous->nu, s->viscous->left),
                                   .stick = s->def.stick,
                                   .dt = s->dt,
                                   .tolerance = s->def.tolerance,
                                   .max_iterations = s->def.max_iterations};
    const und_set all = und_set_rows(&s->mac, UND_ROWS_ALL);
    und_pass(&s->device, copy_row,
             &((und_viscous_pressure_args){.mac = s->mac, .pressure = plain.pressure, .p = s->flow.p}), &all);
    und_levelset_beyond_sides(s, pressed->surface.phi, true);
    und_mac_flow_project(&s->flow, s->system, &plain);
    und_levelset_beyond_sides(s, pressed->surface.phi, false);
    each_cell(s, &und_put_aside_kernel, plain.pressure);
    const und_halo_field beside = und_field_halo(s->viscous, &fields[OF_VISCOUS], &s->mac, 1);
    und_halo_get(s->device.halo, &beside, 1);
    und_mac_flow_push(&s->flow, plain.surface, s->viscous->viscous, s->dt, false);
    und_levelset_enforce_held_velocities(s);
    und_mac_flow_report report = und_viscous_step(s->viscous->solver, &flow);
    tell(s->viscous, &report);
}

void und_levelset_viscous_keep(und_levelset *s)
{
    if (s->viscous)
        und_viscous_keep(s->viscous->solver, &s->flow);
}

void und_levelset_viscosity(und_levelset *s, und_levelset_pressed *pressed)
{
    if (!s->viscous)
        return;
    stress(s, pressed);
    und_levelset_enforce_held_velocities(s);
}

bool und_levelset_diffuses(const und_levelset *s)
{
    return !s->viscous && s->def.viscosity > 0;
}

void und_levelset_diffuse(und_levelset *s)
{
    if (und_levelset_diffuses(s))
        und_mac_flow_diffuse(&s->flow, &s->solids, s->system, s->def.viscosity, s->def.stick, s->dt,
                             s->def.tolerance, s->def.max_iterations); /* Wrenninge 2003, 4.4.7 */
}

void und_levelset_viscous_add(und_levelset *s, double *pressure)
{
    if (s->viscous)
        each_cell(s, &und_add_pressures_kernel, pressure);
}

void und_levelset_viscous_begin(und_levelset *s)
{
    for (int i = 0; s->viscous && i < UND_LEVELSET_VISCOUS_STATS; i++)
        s->viscous->step_stats[i] = 0;
}

double *und_levelset_viscous_stats(und_levelset *s)
{
    return s->viscous ? s->viscous->step_stats : NULL;
}

double *und_levelset_viscous_pressure(const und_levelset *s)
{
    return s->viscous ? s->viscous->viscous : NULL;
}

const float *und_levelset_viscosities(const und_levelset *s)
{
    return s->viscous ? s->viscous->nu : NULL;
}
