/* The particle level set: Wrenninge, "Fluid Simulation for Visual Effects", 2003. */
#include "liquid/levelset.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "grid/mac_frame.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITERATIONS = 100 };
#define AIR_TOLERANCE 1e-3 /* of the air's projection */

#define STEP(stage) STAGE_WATCHED (&s->stages[STAGE_##stage], &s->liquid.watch)

/* 4.4.3, and what it adds to the ledger.  Drains took what they were found to hold, or what flowed into them
 * where that is more: liquid that comes into a drain from several sides is pressed together there. */
static void fill_and_drain(und_levelset *s)
{
    double before = s->solids.any ? und_levelset_volume(s) : s->ledger.measured; /* solids may have moved */
    double changed = 0;
    und_levelset_volume_before(s);
    const bool filled = und_elements_fill(s->elements, &s->surface, true);
    if (s->volume)
        und_levelset_volume_elements(s);
    if (filled)
        und_distance_redistance(&s->surface, s->def.redistance);
    /* Air that the last step carried into a source is liquid now: it would be cut out of what flows from it.
     */
    if (s->particles && und_elements_held(s->elements))
        und_level_set_particles_refit(s->particles, &s->surface, NULL, und_elements_held(s->elements), NULL);
    if (s->volume)
        return;
    if (filled)
        changed = und_levelset_volume(s) - before;
    if (changed > 0)
        und_ledger_add(&s->ledger.sources, &s->lost[0], changed);
    bool drains = false;
    for (int i = 0; i < s->def.element_count; i++)
        drains = drains || s->def.elements[i].role == UND_ELEMENT_DRAIN;
    if (drains)
        und_ledger_add(&s->ledger.drains, &s->lost[1], fmax(s->drained, -changed));
    s->drained = 0;
}

/* What takes much of a velocity in a step waits for forces and pressure, with which it is in balance. */
static bool drags(const und_levelset *s)
{
    return s->viscous || s->solids.friction || und_levelset_diffuses(s);
}

/* Plain viscosity, friction, and walls under thin layers.  What they drag is a flow that keeps its volume: or
 * walls would hold up the liquid's weight beside them, which the pressure of all of it would then drive up
 * there. */
static void drag(und_levelset *s, und_levelset_pressed *pressed)
{
    const und_mac_flow_projection plain = {.surface = &pressed->surface,
                                           .solids = &s->solids,
                                           .dt = s->kick,
                                           .pull = und_levelset_suction(s),
                                           .keen = s->volume != NULL,
                                           .held = und_levelset_held(s),
                                           .pressure = s->flow.p,
                                           .tolerance = s->def.tolerance,
                                           .max_iterations = s->def.max_iterations};
    const bool viscous = s->viscous; /* it has kept its volume just now */
    if (!viscous) {
        und_levelset_beyond_sides(s, pressed->surface.phi, true);
        und_mac_flow_project(&s->flow, s->system, &plain);
        und_levelset_enforce_held_velocities(s);
    }
    und_levelset_diffuse(s);
    und_mac_flow_rub(&s->flow, &s->solids, s->kick);
    und_levelset_volume_slow(s);
    if (!viscous) {
        und_mac_flow_push(&s->flow, plain.surface, s->flow.p, -s->kick, plain.keen);
        und_levelset_beyond_sides(s, pressed->surface.phi, false);
    }
    und_levelset_enforce_held_velocities(s);
}

static void tell(und_levelset *s, const und_mac_flow_report *report, const und_mac_flow_report *air)
{
    s->substeps++;
    double n = s->step_stats[STEP_STATS_SUBSTEPS]++;
    s->step_stats[STEP_STATS_SHORTEST] = n == 0 ? s->dt : fmin(s->step_stats[STEP_STATS_SHORTEST], s->dt);
    und_liquid_tell_solve(s->step_stats + STEP_STATS_SOLVES, n, report->iterations, report->divergence,
                          report->converged);
    s->ran_away |= !isfinite(report->residual);
    s->last = (und_levelset_report){.dt = s->dt,
                                    .iterations = report->iterations,
                                    .residual = report->residual,
                                    .divergence = report->divergence,
                                    .converged = report->converged,
                                    .air_divergence = air->divergence,
                                    .liquid = und_mask_count(&s->flow.liquid),
                                    .particles = s->particles ? s->particles->count : 0,
                                    .drops = s->spray ? und_levelset_drops(s)->count : 0,
                                    .substeps = (long)s->substeps};
}

/* The ledger's last line: what following the surface added or lost is the correction. */
static void measure(und_levelset *s)
{
    const double lately = 0.3; /* the share of this substep in what is lost of late */
    double before = s->ledger.correction;
    s->ledger.measured = s->volume ? und_levelset_volume_fitted(s) : und_levelset_volume(s);
    s->ledger.correction = 0;
    s->ledger.correction = s->ledger.measured - und_ledger_expected(&s->ledger);
    double lost = before + s->given - s->ledger.correction;
    s->losing += lately * (lost - s->losing);
    s->given = 0;
}

/* How far from the liquid what moves in a substep comes, in cells; layers go further along the axes than
 * diagonally. */
static float reach(const und_levelset *s)
{
    return (float)fmin(s->furthest + 1, s->layers / sqrt(3));
}

/* False where what the substep needs is not there: nothing has changed then. */
static bool begin_substep(und_levelset *s)
{
    const double last_two_equal = s->last_two_equal;
    bool ready = true;
    und_levelset_choose_step(s); /* 4.4.1 */
    if (s->control)
        STAGE (&s->stages[STAGE_CONTROL])
            ready = und_levelset_control_ready(s);
    if (!ready) {
        s->last_two_equal = last_two_equal;
        return false;
    }
    STEP (WINDOW)
        und_levelset_move_window(s);
    und_levelset_bands_step(s);
    s->kick = und_levelset_kick(s, s->dt);
    return true;
}

static void carry_velocity(und_levelset *s)
{
    const und_trace_order trace = s->def.trace == 3 ? UND_TRACE_RK3 : UND_TRACE_RK2;
    const und_advection rule =
        s->def.velocity_rule == UND_VELOCITY_MACCORMACK ? UND_ADVECT_MACCORMACK : UND_ADVECT_SEMI_LAGRANGIAN;
    if (s->def.order == 2)
        und_mac_flow_scale_gained(&s->flow, s->kicked > 0 ? s->kick / s->kicked : 0);
    if (s->solids.any)
        und_mac_flow_bound_narrow(&s->flow, &s->solids, (int)ceil(s->furthest) + 1, s->kick / s->def.dx);
    und_mac_flow_advect(&s->flow, s->kick / s->def.dx, trace, rule);
}

/* What walls do to thin layers comes first, where nothing else drags. */
static void push(und_levelset *s)
{
    und_volume_slowing slowing;
    const int steps = drags(s) ? 0 : und_levelset_volume_slow_begin(s, &slowing);
    und_elements_force(s->elements, &s->flow, s->def.gravity, s->kick, slowing.step, steps); /* 4.4.4 */
    if (!drags(s))
        und_levelset_volume_slow_end(s);
    und_elements_modify(s->elements, &s->flow, s->dt); /* 4.4.5 */
    if (s->control)
        und_control_particles_lead(und_levelset_control_particles(s), &s->flow, s->dt);
    und_levelset_enforce_held_velocities(s);
}

/* The velocity beyond the liquid; what is left of divergence there where the air keeps its volume. */
static und_mac_flow_report extend(und_levelset *s)
{
    und_mac_flow_report air = {0};
    und_levelset_find_speeds(s);
    if (s->def.order == 2)
        und_mac_flow_find_gained(&s->flow, und_levelset_held(s), 0.5 * s->kick * und_levelset_pull(s));
    und_mac_flow_extend(&s->flow, &s->solids, s->layers);
    und_levelset_enforce_held_velocities(s); /* at closed sides too: what comes from there is as fast */
    s->before = s->dt;
    s->kicked = s->kick;
    if (s->def.free_air)
        air = und_mac_flow_free_air(&s->flow, &s->surface, &s->solids, s->system, und_levelset_held(s),
                                    reach(s), AIR_TOLERANCE, s->def.max_iterations);
    if (s->control)
        und_control_particles_enforce_in_air(und_levelset_control_particles(s), &s->flow, &s->solids);
    und_levelset_take_flow(s);
    return air;
}

/* What the solids, and whoever brings and takes, do to the liquid. */
static void change_liquid(und_levelset *s)
{
    STEP (SOLIDS) {
        und_levelset_volume_excess(s);
        if (s->def.element_count > 0 || s->control || s->bands)
            und_levelset_closing_forget(s);
        if (und_solids_move(&s->solids, s->time, s->dt)) {
            und_levelset_closing_forget(s);
            und_levelset_volume_passed(s);
            und_levelset_into_solids(s, true);
        }
    }
    STEP (SOURCES)
        if (s->elements) {
            und_elements_render(s->elements, s->time, s->dt, &s->surface);
            fill_and_drain(s); /* 4.4.3 */
        }
    STEP (CONTROL)
        if (s->control)
            und_control_particles_render(und_levelset_control_particles(s), s->time, s->dt);
}

/* The velocity that the liquid moves by in the substep. */
static und_mac_flow_report make_flow(und_levelset *s)
{
    und_mac_flow_report report = {0};
    und_levelset_pressed pressed = {0};
    STEP (LABELS) {
        pressed = und_levelset_press(s);
        und_mac_flow_label_and_forget(&s->flow, &pressed.surface, &s->solids); /* 4.4.2 */
        und_levelset_hold(s);
    }
    STEP (ADVECT)
        carry_velocity(s); /* 4.4.6 */
    STEP (FORCES) {
        und_levelset_viscous_keep(s);
        push(s);
        und_levelset_volume_keep(s, &pressed);
    }
    STEP (DIFFUSE) {
        und_levelset_heat_spread(s);
        und_levelset_viscosity(s, &pressed); /* 4.4.7 */
        if (drags(s))
            drag(s, &pressed);
    }
    STEP (PROJECT) {
        report = und_levelset_project(s, &pressed); /* 4.4.8 */
        und_levelset_volume_free(s, &pressed);
        und_levelset_leave(s);
    }
    und_levelset_release(s, &pressed);
    return report;
}

/* 4.4, in its order; false where it is to be tried again later. */
static bool substep(und_levelset *s)
{
    und_mac_flow_report report, air = {0};
    if (!begin_substep(s))
        return false;
    change_liquid(s);
    report = make_flow(s);
    STEP (EXTEND) {
        air = extend(s);
        und_levelset_heat_move(s);
    }
    und_levelset_move_surface(s); /* 4.4.9 */
    STEP (MEASURE) {
        if (s->def.free_air)
            und_mac_flow_plain_air(&s->flow);
        s->time += s->dt;
        und_levelset_closing_forget(s);
        measure(s);
        tell(s, &report, &air);
    }
    return true;
}

/* What comes from other grids in the substep ahead is there; nothing has changed where it is not. */
static bool bands_ready(und_levelset *s)
{
    if (!s->bands)
        return true;
    if (s->recorded == 0)
        und_levelset_bands_keep(s);
    if (!und_levelset_bands_begin(s))
        return false;
    double last_two_equal = s->last_two_equal;
    und_levelset_choose_step(s);
    s->last_two_equal = last_two_equal;
    return und_levelset_bands_ready(s, s->dt);
}

/* One substep of a step of dt; true where it was the last. */
static bool go_on(und_levelset *s, double dt)
{
    assert(und_step_valid(dt));
    if (!(s->left > 0)) {
        s->left = dt;
        s->end = s->time + dt;
        for (int i = 0; i < STEP_STATS_COUNT; i++)
            s->step_stats[i] = 0;
        und_levelset_viscous_begin(s);
    }
    if (!bands_ready(s))
        return false;
    if (!substep(s))
        return false;
    s->left = s->dt < s->left && !s->ran_away ? s->left - s->dt : 0;
    bool last = !(s->left > 0);
    if (last) {
        s->time = s->end;
        und_levelset_control_tell(s);
    }
    und_levelset_bands_keep(s);
    return last;
}

void und_levelset_step(und_levelset *s, double dt)
{
    und_error unused;
    while (!go_on(s, dt) && und_levelset_control_trouble(s, &unused) == UND_OK)
        ;
}

und_levelset_def und_levelset_def_default(void)
{
    return (und_levelset_def){
        .n = {32, 32, 1},
        .dx = 1.0 / 32,
        .gravity = {0, -9.81, 0},
        .density = 1000,
        .viscosity_solver = UND_VISCOSITY_COUPLED,
        .max_step = INFINITY,
        .trace = 2,
        .velocity_rule = UND_VELOCITY_MACCORMACK,
        .surface_rule = UND_SURFACE_VOLUME,
        .redistance = 2,
        .particles = 16,
        .reseed = 20,
        .tolerance = 1e-4,
        .max_iterations = ITERATIONS,
        .spray = true,
        .spray_most = 1 << 20,
        .keep_velocity = true,
        .window.margin = 10,
        .window.automatic = 1 << 18,
    };
}

double und_levelset_time(const und_levelset *s)
{
    return s->time;
}
und_ledger und_levelset_ledger(const und_levelset *s)
{
    return s->ledger;
}
und_levelset_report und_levelset_last(const und_levelset *s)
{
    return s->last;
}
void und_levelset_window(const und_levelset *s, int low[3], int n[3])
{
    memcpy(low, s->mac.low, sizeof s->mac.low);
    memcpy(n, s->mac.n, sizeof s->mac.n);
}

/* Where a cell of the domain, or its low face along the axis, stands in the grid's arrays; false: it has
 * none. */
static bool find_cell(const und_levelset *s, int axis, int x, int y, int z, size_t *at)
{
    const und_mac *m = &s->mac;
    const int cell[3] = {x - m->low[0], y - m->low[1], z - m->low[2]};
    for (int a = 0; a < 3; a++)
        if (cell[a] < 0 || cell[a] >= m->n[a] + (a == axis))
            return false;
    *at = und_mac_at(m, cell[0], cell[1], cell[2]);
    return und_mac_has(m, cell[0], cell[1], cell[2]);
}
double und_levelset_distance(const und_levelset *s, int x, int y, int z)
{
    size_t at;
    return s->def.dx * (find_cell(s, UND_MAC_CELLS, x, y, z, &at) ? (double)s->surface.phi[at] : s->layers);
}
double und_levelset_pressure(const und_levelset *s, int x, int y, int z)
{
    size_t at;
    return find_cell(s, UND_MAC_CELLS, x, y, z, &at) ? s->def.density * s->flow.p[at] : 0;
}
double und_levelset_velocity(const und_levelset *s, int axis, int x, int y, int z)
{
    size_t at;
    return find_cell(s, axis, x, y, z, &at) ? (double)s->flow.u[axis][at - (size_t)s->mac.step[axis]] : 0;
}
double und_levelset_squeezed(const und_levelset *s, int obstacle)
{
    return s->squeezed[obstacle];
}
double und_levelset_leaked(const und_levelset *s, int obstacle)
{
    return s->leaked[obstacle];
}
und_liquid *und_levelset_liquid(und_levelset *s)
{
    return &s->liquid;
}

und_grid und_levelset_grid(const und_levelset_def *def)
{
    return (und_grid){.n = {def->n[0], def->n[1], def->n[2]},
                      .dx = def->dx,
                      .origin = {def->origin[0], def->origin[1], def->origin[2]}};
}

static bool shapes_surface(const und_levelset_def *def)
{
    for (int i = 0; i < def->control_particle_count; i++)
        if (def->control_particles[i].kind == UND_CONTROL_SURFACE)
            return true;
    return false;
}

/* Where liquid comes in through its surface, what goes on beyond it would grow from step to step. */
static bool takes_first_order(const und_levelset_def *def)
{
    return und_levelset_is_viscous(def) && shapes_surface(def);
}

static int order_of(const und_levelset_def *def)
{
    return def->order != 0                                                ? def->order
           : takes_first_order(def) || und_levelset_viscosity_varies(def) ? 1
                                                                          : 2;
}

static und_status check_def(const und_levelset_def *def, und_error *err)
{
    const und_liquid_range range[] = {{"size", def->dx, 1e-9, 1e9},
                                      {"density", def->density, 1e-9, 1e9},
                                      {"viscosity", def->viscosity, 0, 1e9},
                                      {"courant", und_levelset_courant(def), 0.01, 20},
                                      {"max_step", def->max_step, 1e-12, INFINITY},
                                      {"trace", def->trace, 2, 3},
                                      {"order", def->order, 0, 2},
                                      {"redistance", def->redistance, 1, 2},
                                      {"particles", def->particles, 0, 1024},
                                      {"reseed", def->reseed, 0, 1e9},
                                      {"tolerance", def->tolerance, 1e-12, 0.5},
                                      {"iterations", def->max_iterations, 1, 1e6},
                                      {"spray_most", def->spray_most, 1, 1 << 26},
                                      {"solids", def->obstacle_count, 0, UND_LEVELSET_OBSTACLES}};
    const int few[3] = {def->n[0] < 1 ? def->n[0] : 1, def->n[1] < 1 ? def->n[1] : 1, def->n[2]};
    if (und_liquid_check_cells("levelset", def->endless ? few : def->n, err) != UND_OK)
        return err->status;
    for (int a = 0; a < 3; a++)
        if (def->n[a] > UND_LEVELSET_ENDLESS)
            return und_error_set(err, UND_INVALID,
                                 "levelset: cells: expected at most %d along an axis, found %d",
                                 UND_LEVELSET_ENDLESS, def->n[a]);
    for (int a = 0; a < 3; a++)
        if (!isfinite(def->origin[a]) || !isfinite(def->gravity[a]))
            return und_error_set(err, UND_INVALID, "levelset: origin and gravity: expected finite numbers");
    if (def->order == 2 && takes_first_order(def))
        return und_error_set(
            err, UND_INVALID,
            "levelset: order: 2 does not go with control of the surface of a viscous liquid; expected 1");
    return und_liquid_check_ranges("levelset", range, sizeof range / sizeof *range, err);
}

UND_LIQUID_OWN(levelset, go_on)

/* The solid that has pressed most liquid together, where that is more than a cell, for a message; else
 * nothing. */
static const char *presser(const und_levelset *s, char text[96])
{
    const double cell = s->def.dx * s->def.dx * s->def.dx;
    int most = 0;
    text[0] = 0;
    for (int i = 1; i < s->def.obstacle_count; i++)
        most = s->squeezed[i] > s->squeezed[most] ? i : most;
    if (s->def.obstacle_count == 0 || !(s->squeezed[most] > cell))
        return text;
    if (s->def.obstacles[most].name)
        snprintf(text, 96, ".  The solid %.40s has pressed %.3g m3 together", s->def.obstacles[most].name,
                 s->squeezed[most]);
    else
        snprintf(text, 96, ".  Solid %d has pressed %.3g m3 together", most + 1, s->squeezed[most]);
    return text;
}

static und_status trouble_liquid(const und_liquid *liquid, und_error *err)
{
    char by[96];
    const und_levelset *s = (const und_levelset *)liquid;
    if (s->window_failed)
        return und_error_set(err, s->window_error.status, "%s", s->window_error.text);
    if (!s->ran_away && und_levelset_control_trouble(s, err) != UND_OK)
        return err->status;
    if (!s->ran_away)
        return und_levelset_bands_trouble(s, err);
    if (s->crawls)
        return und_error_set(err, UND_INVALID, "levelset: max_step: %g s would need %d steps a frame or more",
                             s->def.max_step, UND_LEVELSET_MOST_SUBSTEPS);
    return und_error_set(
        err, UND_FAILED,
        "levelset: the liquid ran away at %g s: its speed would need steps of %g s.  Liquid that "
        "is forced where there is no room does that%s",
        s->time, s->needed, presser(s, by));
}
static bool intact_liquid(const und_liquid *liquid)
{
    und_error unused;
    return und_levelset_control_trouble((const und_levelset *)liquid, &unused) != UND_OK;
}
static const und_liquid_class levelset_class = {
    .name = "levelset",
    .destroy = destroy_liquid,
    .step = step_liquid,
    .trouble = trouble_liquid,
    .intact = intact_liquid,
    .frame = und_levelset_write_frame,
    .save = und_levelset_save,
    .restore = und_levelset_restore,
    .hash = und_levelset_hash,
    .ledger = ledger_liquid,
    .inspect = und_levelset_save,
};

static und_status check_memory(const und_levelset *s, und_error *err)
{
    const double per_cell =
        100; /* bytes: velocities, distances, the system; particles lie near the surface */
    const double viscous = s->viscous ? 400 : 0;
    const double cells = s->present ? s->present->cells : (double)s->mac.count;
    return und_liquid_check_memory("levelset", s->mac.n, (per_cell + viscous) * cells, err);
}

static void share_grid(und_levelset *s)
{
    s->surface.device.halo = s->flow.device.halo = s->solids.device.halo = s->device.halo;
    if (s->volume)
        und_levelset_volumes(s)->device.halo = s->device.halo;
    und_levelset_viscous_share(s);
}

void und_levelset_share(und_levelset *s, const und_halo *halo)
{
    s->device.halo = halo;
    share_grid(s);
    und_pressure_share(s->system, halo);
    if (s->particles)
        s->particles->device.halo = halo;
}

und_status und_levelset_open_grid(und_levelset *s, und_error *err)
{
    const und_levelset_def *def = &s->def;
    const struct und_levelset_control *old = s->control; /* on the grid before this one */
    s->surface = (und_distance){0};
    s->flow = (und_mac_flow){0};
    s->solids = (und_solids){0};
    s->elements = NULL;
    s->held = NULL;
    s->viscous = NULL;
    s->heat = NULL;
    s->volume = NULL;
    s->control = NULL;
    s->pockets = NULL;
    s->film_cell = NULL;
    s->closing = NULL;
    und_levelset_closing_forget(s);
    s->wet = (und_mask){0};
    s->lent = 0;
    if (und_levelset_viscous_open(s, err) || und_levelset_heat_open(s, err) || check_memory(s, err) ||
        und_levelset_wall_films_open(s, err) || und_levelset_volume_open(s, err) ||
        und_levelset_held_open(s, err) ||
        und_distance_open(&s->surface, &s->mac, s->layers, s->device.threads, err) ||
        und_mac_flow_open(&s->flow, &s->mac, s->device.threads, s->scratch, err) ||
        (s->def.order == 2 && und_mac_flow_keep_gained(&s->flow, und_levelset_is_viscous(def), err)) ||
        und_solids_open(&s->solids, &s->mac, def->obstacles, def->obstacle_count, s->open, s->time,
                        s->device.threads, err) ||
        !(s->elements =
              und_elements_create(&s->mac, def->elements, def->element_count, s->device.threads, err)) ||
        und_levelset_control_open(s, old, err))
        return err->status;
    s->solids.windowed = def->window.on;
    s->solids.jump = und_levelset_jump(s);
    if (s->volume)
        und_elements_hold_thin(s->elements);
    s->surface.keeps_thin = s->volume != NULL; /* how thick it is, cells know */
    share_grid(s);
    s->flow.crosses = (int)ceil(s->furthest) + 1;
    return UND_OK;
}

void und_levelset_close_grid(und_levelset *s)
{
    und_levelset_control_close(s);
    und_levelset_viscous_close(s);
    und_levelset_volume_close(s);
    und_levelset_heat_close(s);
    und_levelset_held_close(s);
    und_elements_destroy(s->elements);
    und_solids_close(&s->solids);
    und_mac_flow_close(&s->flow);
    und_distance_close(&s->surface);
    und_levelset_wall_films_close(s);
    und_levelset_rows_close(s);
}

static und_status make_parts(und_levelset *s, und_error *err)
{
    const und_levelset_def *def = &s->def;
    und_level_set_particles_def particles = und_level_set_particles_def_default();
    const bool traced = def->particles > 0;
    particles.per_cell = def->particles;
    particles.reseed = def->reseed;
    for (int i = 0; i < def->obstacle_count; i++)
        particles.layered |= def->obstacles[i].separate == UND_SEPARATE_ALWAYS;
    if (und_levelset_rows_open(s, err) || und_levelset_first_rows(s, err) ||
        und_scratch_renew(s->scratch, s->present, err) || und_levelset_open_grid(s, err) ||
        und_levelset_bands_open(s, err) ||
        !(s->leaked = und_alloc((size_t)def->obstacle_count + 1, sizeof *s->leaked, "solids", err)) ||
        !(s->squeezed = und_alloc((size_t)def->obstacle_count + 1, sizeof *s->squeezed, "solids", err)) ||
        !(s->system = und_pressure_create(&s->mac, s->device.threads, s->scratch, err)) ||
        (traced && !(s->particles = und_level_set_particles_create(&s->mac, &particles, def->seed,
                                                                   s->device.threads, s->scratch, err))) ||
        (((traced && def->spray) || s->volume) && und_levelset_spray_open(s, err)) ||
        und_levelset_fill(s, err))
        return err->status;
    und_levelset_share(s, s->device.halo);
    return UND_OK;
}

und_levelset *und_levelset_create(const und_levelset_def *def, und_error *err)
{
    static const char *const stage_names[STAGE_COUNT] = {
        "window",  "solids", "sources", "control",   "labels",  "advect",     "forces", "diffuse",
        "project", "extend", "surface", "particles", "correct", "redistance", "spray",  "measure"};
    if (check_def(def, err) != UND_OK)
        return NULL;
    und_levelset *s = und_alloc(1, sizeof *s, "levelset", err);
    if (!s)
        return NULL;
    und_liquid_init(&s->liquid, &levelset_class, &s->time, s->stages, stage_names, STAGE_COUNT);
    s->def = *def;
    s->def.order = order_of(def);
    s->device.threads = und_threads(def->threads);
    und_levelset_set_courant(s);
    s->mac = und_mac_make(def->n, (double[3]){def->dx, def->dx, def->dx}, def->origin);
    und_levelset_first_window(s);
    s->scratch = und_scratch_join(NULL, 0, err);
    if (!s->scratch || make_parts(s, err) != UND_OK) {
        und_levelset_destroy(s);
        return NULL;
    }
    s->ledger.start = s->ledger.measured = und_levelset_volume(s);
    return s;
}

void und_levelset_destroy(und_levelset *s)
{
    if (!s)
        return;
    und_levelset_spray_close(s);
    und_levelset_bands_close(s);
    und_level_set_particles_destroy(s->particles);
    und_pressure_destroy(s->system);
    und_levelset_close_grid(s);
    und_scratch_leave(s->scratch, 0);
    free(s->leaked);
    free(s->squeezed);
    free(s);
}
