/* The Navier-Stokes liquid: Foster & Metaxas, "Realistic Animation of Liquids", 1996. */
#include "liquid/cells.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "liquid/cells_state.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_WALLS = 255 };
enum { SWEEPS = 10000, ITERATIONS = 100 };
enum { MOST_SUBSTEPS = 1000000 }; /* of a step */

#define STEP(stage) STAGE_WATCHED (&s->stages[STAGE_##stage], &s->liquid.watch)

static und_momentum momentum_of(const und_cells *s)
{
    const und_cells_def *def = &s->def;
    return (und_momentum){.gravity = {def->gravity[0], def->gravity[1], def->gravity[2]},
                          .viscosity = def->viscosity,
                          .upwind = def->upwind,
                          .plain = def->plain};
}

/* Where a Surface cell's pressure is that of the surface in it, the shortest waves of a height field swing by
 * omega^2 = g (4 dy (1/dx^2 + 1/dz^2) + 1/dy) at most: Surface cells full of liquid, over still ones. Heights
 * that follow velocities, and velocities that follow heights, are stable while omega dt < 2. */
double und_cells_longest_swing(const und_cells_def *def)
{
    const double safe = 0.9, *d = def->cell;
    double fastest = 0;
    for (int a = 0; a < 3 && def->surface_in_cell; a++) {
        double bend = 0;
        for (int b = 0; b < (def->n[2] > 1 ? 3 : 2); b++)
            bend += b == a ? 0 : 1 / (d[b] * d[b]);
        bool rises = a == 1 || def->track != UND_TRACK_HEIGHT;
        fastest = fmax(fastest, rises ? fabs(def->gravity[a]) * (4 * d[a] * bend + 1 / d[a]) : 0);
    }
    return fastest > 0 ? 2 * safe / sqrt(fastest) : INFINITY;
}

/* As long as stability allows, in equal parts of what is left, or of the time until a gate turns. */
static void choose_step(und_cells *s, double left)
{
    double turn = und_cells_next_turn(s) - s->time;
    left = turn < left - und_cells_rounding(s->time + left) ? turn : left;
    und_momentum m = momentum_of(s);
    und_step_limit limit = UND_LIMIT_FRAME;
    double most = und_marker_flow_longest_step(&s->flow, &m, s->def.courant, &limit);
    double swing = und_cells_longest_swing(&s->def);
    if (swing < most) {
        most = swing;
        limit = UND_LIMIT_WAVES;
    }
    if (s->def.max_step < most) {
        most = s->def.max_step;
        limit = UND_LIMIT_MAX_STEP;
    }
    double parts = fmin(ceil(left / most), MOST_SUBSTEPS);
    s->ran_away = !(parts < MOST_SUBSTEPS); /* or a velocity is none */
    s->crawls = s->ran_away && limit == UND_LIMIT_MAX_STEP;
    s->needed = most;
    s->dt = parts > 1 ? left / parts : left;
    s->last.limit = parts > 1 ? limit : UND_LIMIT_FRAME;
    s->last.dt = s->dt;
}

static und_marker_flow_report make_incompressible(und_cells *s)
{
    const und_cells_def *def = &s->def;
    if (s->poisson)
        return und_marker_flow_project(&s->flow, s->poisson, s->dt, def->epsilon,
                                       def->max_sweeps ? def->max_sweeps : ITERATIONS);
    return und_marker_flow_relax(&s->flow, s->dt, def->beta0, def->epsilon,
                                 def->max_sweeps ? def->max_sweeps : SWEEPS);
}

static void tell(und_cells *s, und_marker_flow_report report)
{
    s->last.iterations = report.iterations;
    s->last.divergence = report.divergence;
    s->last.converged = report.converged;
    s->last.full = s->flow.full;
    s->last.surface = s->flow.surface;
    s->last.substeps = (long)++s->substeps;
    double n = s->step_stats[STEP_STATS_SUBSTEPS]++;
    if (n == 0 || s->dt < s->step_stats[STEP_STATS_SHORTEST]) {
        s->step_stats[STEP_STATS_SHORTEST] = s->dt;
        s->step_stats[STEP_STATS_LIMIT] = s->last.limit;
    }
    und_liquid_tell_solve(s->step_stats + STEP_STATS_SOLVES, n, report.iterations, report.divergence,
                          report.converged);
    s->ran_away |= !isfinite(report.divergence);
}

/* The algorithm of section 6; cell contents (its step 3) are found at the end, so that they always are those
 * of the surface. */
static void substep(und_cells *s, double left)
{
    und_marker_flow_report report = {0};
    und_momentum momentum = momentum_of(s);
    STEP (WALLS) {
        und_cells_turn_gates(s);
        if (s->walls_at != s->time || s->flow.sheds)
            und_marker_flow_set_walls(&s->flow, s->time, true); /* 4 */
        und_cells_pour(s);
    }
    STEP (SURFACE)
        und_marker_flow_set_surface(&s->flow, s->def.gravity, 0);
    choose_step(s, left);
    STEP (MOMENTUM)
        und_marker_flow_momentum(&s->flow, &momentum, s->dt); /* 5: eq. 2 */
    STEP (PRESSURE) {
        und_marker_flow_set_walls(&s->flow, s->time + s->dt, false);
        und_cells_keep_density(s);
        report = make_incompressible(s); /* 6: eqs 5 to 9 */
    }
    STEP (OPEN) {
        und_marker_flow_set_surface(&s->flow, s->def.gravity, s->dt); /* 7 */
        und_marker_flow_set_walls(&s->flow, s->time + s->dt, true);
        s->walls_at = s->time + s->dt;
    }
    STEP (TRACK)
        und_cells_track(s); /* 8 */
    STEP (SPRAY)
        und_cells_splash(s);
    double turn = und_cells_next_turn(s);
    s->time = s->dt == turn - s->time ? turn : s->time + s->dt;
    STEP (LABEL)
        und_cells_find_labels(s); /* 3 */
    und_cells_measure(s);
    tell(s, report);
}

double und_cells_substep(und_cells *s, double dt)
{
    assert(und_step_valid(dt));
    substep(s, dt);
    return s->dt;
}

/* One substep of a step of dt; true where it was the last. */
static bool go_on(und_cells *s, double dt)
{
    assert(und_step_valid(dt));
    if (!(s->left > 0)) {
        s->left = dt;
        s->end = s->time + dt;
        for (int i = 0; i < STEP_STATS_COUNT; i++)
            s->step_stats[i] = 0;
        und_cells_make_room(s, dt);
    }
    substep(s, s->left);
    s->left = s->dt < s->left && !s->ran_away ? s->left - s->dt : 0;
    if (s->left <= 0)
        s->time = s->end;
    return s->left <= 0;
}

void und_cells_step(und_cells *s, double dt)
{
    while (!go_on(s, dt))
        ;
}

und_cells_def und_cells_def_default(void)
{
    return (und_cells_def){
        .n = {32, 32, 1},
        .cell = {1.0 / 32, 1.0 / 32, 1.0 / 32},
        .gravity = {0, -9.81, 0},
        .density = 1000,
        .viscosity = 1e-6,
        .keep_volume = true,
        .surface_in_cell = true,
        .spray = und_spray_def_default(),
        .split = 0.5,
        .foam = {.life = 0.5, .most = 1 << 18},
        .beta0 = 1.7,
        .epsilon = 1e-4,
        .courant = 0.5,
        .max_step = INFINITY,
        .keep_flow = true,
    };
}

const char *und_step_limit_name(und_step_limit limit)
{
    static const char *const names[] = {"the frame", "equation 3", "viscosity", "max_step", "waves"};
    return names[limit];
}

double und_cells_time(const und_cells *s)
{
    return s->time;
}
und_ledger und_cells_ledger(const und_cells *s)
{
    return s->ledger;
}
und_cells_report und_cells_last(const und_cells *s)
{
    return s->last;
}
und_label und_cells_label(const und_cells *s, int x, int y, int z)
{
    return (und_label)s->flow.label[und_mac_at(&s->mac, x, y, z)];
}
double und_cells_pressure(const und_cells *s, int x, int y, int z)
{
    return s->def.density * s->flow.p[und_mac_at(&s->mac, x, y, z)];
}
double und_cells_velocity(const und_cells *s, int axis, int x, int y, int z)
{
    return s->flow.u[axis][und_mac_at(&s->mac, x, y, z) - (size_t)s->mac.step[axis]];
}
double und_cells_height(const und_cells *s, int x, int z)
{
    return s->height->h[(size_t)z * (size_t)s->height->stride + (size_t)x];
}
int und_cells_marker_count(const und_cells *s)
{
    return s->markers ? s->markers->count : 0;
}
void und_cells_marker(const und_cells *s, int i, double place[3])
{
    for (int a = 0; a < 3; a++)
        place[a] = s->markers->place[a][i];
}
und_liquid *und_cells_liquid(und_cells *s)
{
    return &s->liquid;
}

und_grid und_cells_grid(const und_cells_def *def)
{
    return (und_grid){.n = {def->n[0], def->n[1], def->n[2]},
                      .dx = def->cell[0],
                      .dy = def->cell[1],
                      .dz = def->cell[2],
                      .origin = {def->origin[0], def->origin[1], def->origin[2]}};
}

static und_status check_grid(const und_cells_def *def, und_error *err)
{
    if (und_liquid_check_cells("cells", def->n, err) != UND_OK)
        return err->status;
    for (int a = 0; a < 3; a++)
        if (!(def->cell[a] > 0) || !isfinite(def->cell[a]) || !isfinite(def->origin[a]) ||
            !isfinite(def->gravity[a]))
            return und_error_set(err, UND_INVALID,
                                 "cells: size: expected cells of a size above 0 and finite numbers, found %g",
                                 def->cell[a]);
    return UND_OK;
}

static und_status check_def(const und_cells_def *def, und_error *err)
{
    const und_liquid_range range[] = {
        {"density", def->density, 1e-9, 1e9},         {"viscosity", def->viscosity, 0, 1e9},
        {"relaxation", def->beta0, 1e-3, 2},          {"epsilon", def->epsilon, 1e-300, 1e9},
        {"courant", def->courant, 1e-6, 1},           {"upwind", def->upwind, 0, 1},
        {"max_step", def->max_step, 1e-12, INFINITY}, {"split", def->split, 0, 1e6}};
    if (check_grid(def, err) != UND_OK)
        return err->status;
    if (und_liquid_check_ranges("cells", range, sizeof range / sizeof *range, err) != UND_OK)
        return err->status;
    if (def->track == UND_TRACK_CHAINS && def->n[2] != 1)
        return und_error_set(err, UND_INVALID,
                             "cells: track: chains are outlines in two dimensions: expected 1 cell along z, "
                             "found %d",
                             def->n[2]);
    if (def->track != UND_TRACK_HEIGHT && def->spray.on)
        return und_error_set(err, UND_INVALID,
                             "cells: spray: leaves a height field: expected track = \"height\"");
    if (UND_SIDES + def->solid_count + def->gate_count > MOST_WALLS)
        return und_error_set(err, UND_INVALID, "cells: solids and gates: %d together, at most %d",
                             def->solid_count + def->gate_count, MOST_WALLS - UND_SIDES);
    return UND_OK;
}

UND_LIQUID_OWN(cells, go_on)

static und_status trouble_liquid(const und_liquid *liquid, und_error *err)
{
    const und_cells *s = (const und_cells *)liquid;
    if (!s->ran_away)
        return UND_OK;
    if (s->crawls)
        return und_error_set(err, UND_INVALID, "cells: max_step: %g s would need %d steps a frame or more",
                             s->def.max_step, MOST_SUBSTEPS);
    return und_error_set(
        err, UND_FAILED,
        "cells: the liquid ran away at %g s: its speed would need steps of %g s.  Liquid that is "
        "forced where there is no room does that; else a smaller courant, or some upwind, may help",
        s->time, s->needed);
}
static const und_liquid_class cells_class = {
    .name = "cells",
    .destroy = destroy_liquid,
    .step = step_liquid,
    .trouble = trouble_liquid,
    .frame = und_cells_write_frame,
    .save = und_cells_save,
    .restore = und_cells_restore,
    .ledger = ledger_liquid,
    .inspect = und_cells_save,
    .tools = 1 << UND_TOOL_LIQUID | 1 << UND_TOOL_SOLID | 1 << UND_TOOL_ERASE | 1 << UND_TOOL_INFLOW,
    .touch = und_cells_touch,
    .tuning = und_cells_tuning,
    .tune = und_cells_tune,
};

static und_status check_memory(const und_cells *s, und_error *err)
{
    /* velocity, tentative velocity, pressure, labels, the system and its preconditioner */
    const double per_cell =
        8 * sizeof(double) + 4 + (s->def.pressure_rule == UND_PRESSURE_MULTIGRID ? 60 : 0);
    return und_liquid_check_memory("cells", s->mac.n, per_cell * (double)s->mac.count, err);
}

static und_status make_parts(und_cells *s, und_error *err)
{
    if (!(s->made = und_alloc((size_t)s->def.maker_count + 1, sizeof *s->made, "wave makers", err)))
        return err->status;
    if (check_memory(s, err) || und_cells_make_walls(s, err))
        return err->status;
    if (s->def.pressure_rule == UND_PRESSURE_MULTIGRID &&
        !(s->poisson = und_poisson_create(&s->mac, s->threads, err)))
        return err->status;
    return und_cells_fill(s, err);
}

und_cells *und_cells_create(const und_cells_def *def, und_error *err)
{
    static const char *const stage_names[STAGE_COUNT] = {"walls", "surface", "momentum", "pressure",
                                                         "open",  "track",   "spray",    "label"};
    if (check_def(def, err) != UND_OK)
        return NULL;
    und_cells *s = und_alloc(1, sizeof *s, "cells", err);
    if (!s)
        return NULL;
    und_liquid_init(&s->liquid, &cells_class, &s->time, s->stages, stage_names, STAGE_COUNT);
    s->def = *def;
    if (!s->def.markers_per_cell)
        s->def.markers_per_cell = def->n[2] == 1 ? 25 : 27;
    s->scene_gravity = def->gravity[1];
    s->scene_viscosity = def->viscosity;
    s->threads = und_threads(def->threads);
    s->walls_at = NAN;
    s->mac = und_mac_make(def->n, def->cell, def->origin);
    if (make_parts(s, err) != UND_OK) {
        und_cells_destroy(s);
        return NULL;
    }
    s->ledger.start = s->ledger.measured = und_cells_volume(s);
    return s;
}

void und_cells_destroy(und_cells *s)
{
    if (!s)
        return;
    und_marker_flow_close(&s->flow);
    und_poisson_destroy(s->poisson);
    und_markers_destroy(s->markers);
    und_chains_destroy(s->chains);
    und_height_destroy(s->height);
    und_cells_spray_destroy(s->spray);
    free(s->walls);
    free(s->solid_label);
    free(s->solid_wall);
    free(s->gate_open);
    free(s->painted);
    free(s->change);
    free(s->made);
    free(s);
}
