/* The pressure makes the flow keep its volume: equations 4.6 and 4.7, with the surface and the solids where
 * they are within the cells. */
#include "flow/mac_flow_label_kernel.h"
#include "flow/mac_flow_let_go_kernel.h"
#include "flow/mac_flow_parts.h"
#include "flow/mac_flow_project_kernel.h"
#include "grid/mask_grow_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* The centre of a cell of the liquid counts as so far in it at least, which is as near to the
 * surface as redistancing lets it: neighbours whose centres straddle the surface by a hair are then pushed
 * alike, to gravity times this. */
#define LEAST_DEPTH 1e-6f

/* What the projection works on: pressures q = p dt / (density dx), m/s, so that a face's velocity changes by
 * their difference. */
typedef struct project {
    und_mac_flow *s;
    const und_distance *surface;
    const float *phi, *grown;
    const und_step *growing; /* makes what is grown, or NULL */
    int growing_steps;
    const und_solids *solids;
    const und_mask *asked;   /* cells; */
    const und_ask_args *ask; /* which are found first; NULL: they are known */
    und_mask *loose;         /* those that solids let go */
    float *known, *b;
    const double *p;   /* m2/s2, or as q is */
    double unit;       /* p times this is q */
    float level;       /* of phi: below it the pressure is asked for, or the velocity given */
    float gain, speed; /* m/s: what all of the liquid gains; dx / dt */
    float least;       /* cells: how deep a cell of the liquid is at least; 0: as it is */
    bool lets_go;      /* solids may */
    bool again;        /* in the same step */
    double pull;       /* m/s, as q is: so much below the air's pressure is suction */
} project;

enum { MOST_GROWING = 4 }; /* steps */

/* The right-hand side and the diagonal; gives the largest |b|. */
static double set_system(project *p)
{
    und_mac_flow *s = p->s;
    const und_solids *solids = p->solids;
    und_system_sides_args args = {.mac = s->mac,
                                  .phi = p->phi,
                                  .room = solids->any ? solids->room : NULL,
                                  .grown = p->grown,
                                  .none = solids->none,
                                  .level = p->level,
                                  .least = p->least,
                                  .gain = p->gain,
                                  .speed = p->speed,
                                  .known = p->known,
                                  .b = p->b};
    for (int a = 0; a < 3; a++) {
        args.open[a] = solids->open[a];
        args.u[a] = s->u[a];
        args.push[a] = solids->push[a];
    }
    und_set cells = und_set_shared(&s->device, &s->mac, UND_ROWS_INSIDE);
    cells.cells = p->asked;
    const und_found found = {&args, s->parts->fastest};
    const und_pass sides = {&und_set_sides_kernel, &found, &cells};
    const und_set words = und_set_rows(&s->mac, UND_ROWS_ALL);
    const und_pass asks = UND_PASS(und_ask, p->ask, &words);
    und_step steps[MOST_GROWING + 2];
    int count = 0;
    assert(p->growing_steps <= MOST_GROWING);
    if (p->ask)
        steps[count++] = (und_step){.passes = &asks, .count = 1};
    for (int i = 0; i < p->growing_steps; i++)
        steps[count++] = p->growing[i];
    p->ask = NULL; /* it is there from now on */
    p->growing_steps = 0;
    steps[count++] = (und_step){.passes = &sides, .count = 1};
    und_pass_steps(&s->device, steps, count);
    const und_halo_field most =
        und_halo_of_slices(&s->mac, s->parts->fastest, sizeof *s->parts->fastest, 0, s->mac.n[2]);
    und_halo_get(s->device.halo, &most, 1);
    return (double)und_most_of(s->parts->fastest, cells.blocks);
}

/* Cells that solids let go, and whether some were not before. */
static bool let_all_go(const project *p)
{
    const und_mac_flow *s = p->s;
    const und_solids *solids = p->solids;
    und_let_go_args args = {.mac = s->mac,
                            .phi = p->phi,
                            .distance = solids->distance,
                            .owner = solids->owner,
                            .separate = solids->separate,
                            .never = UND_SEPARATE_NEVER,
                            .always = UND_SEPARATE_ALWAYS,
                            .p = p->p,
                            .unit = p->unit,
                            .pull = p->pull,
                            .again = p->again,
                            .asked = *p->asked,
                            .loose = *p->loose,
                            .known = p->known,
                            .b = p->b};
    for (int a = 0; a < 3; a++) {
        args.u[a] = s->u[a];
        args.solid_u[a] = solids->u[a];
        args.open[a] = solids->open[a];
    }
    const und_set rows = und_set_shared(&s->device, &s->mac, UND_ROWS_INSIDE);
    return und_pass_most(&s->device, &UND_PASS(und_let_go_row, &args, &rows), 1, s->parts->fastest) > 0;
}

static void push(const project *p)
{
    und_mac_flow *s = p->s;
    und_push_args args = {.phi = p->phi, .p = p->p, .unit = p->unit, .level = p->level, .least = p->least};
    und_set faces[3];
    und_pass passes[3];
    for (int a = 0; a < 3; a++) {
        args.u[a] = s->u[a];
        args.step[a] = s->mac.step[a];
        faces[a] = und_set_slices(&s->mac, UND_ROWS_FACES);
        faces[a].cells = &s->flows[a];
        passes[a] = UND_PASS_AXIS(und_push_faces, a, &args, &faces[a]);
    }
    und_pass_chain(&s->device, passes, 3);
}

/* A face is pushed by the pressures on its sides. */
static void get_pressure(const und_mac_flow *s, double *pressure)
{
    const und_halo_field halo = und_halo_of(&s->mac, pressure, sizeof *pressure, 1);
    und_halo_get(s->device.halo, &halo, 1);
}

/* Of a cell: its faces, where the surface is beside it, and what pressure there was. */
static void get_given(const project *p, double *pressure)
{
    und_distance_get_phi(p->surface, 1);
    und_mac_flow_get(p->s, UND_GET_U, 1);
    if (p->lets_go)
        get_pressure(p->s, pressure);
}

/* Where no air gets in nothing comes off: there the pressure, which is known but for a constant, is above the
 * air's.  What is let go is known by the pressure of the step before; at solids that move then by that of the
 * step itself too, as one that draws back all at once has not pulled before. */
static und_mac_flow_report solve(project *p, und_pressure *system, double *pressure, bool warm,
                                 double tolerance, int max_iterations)
{
    const und_solids *solids = p->solids;
    const float *weight[3] = {solids->open[0], solids->open[1], solids->open[2]};
    und_pressure_report solved = {0};
    double largest = 0;
    int iterations = 0;
    get_given(p, pressure);
    p->p = pressure;
    p->known = und_mac_flow_take(p->s);
    p->b = und_mac_flow_take(p->s);
    if (p->lets_go)
        und_mask_clear(p->loose);
    for (int round = 0; round < (p->lets_go && solids->push[0] ? 2 : 1); round++) {
        p->again = round > 0;
        largest = set_system(p);
        if (p->lets_go && !let_all_go(p) && p->again)
            break;
        und_pressure_set(system, p->asked, solids->none ? NULL : weight, p->known);
        solved = und_pressure_solve_in(system, p->b, pressure, p->unit, warm, tolerance, max_iterations);
        iterations += solved.iterations;
        if (p->lets_go)
            und_pressure_lift(system, pressure);
    }
    und_pressure_done(system);
    und_mac_flow_give_back(p->s, &p->known);
    get_pressure(p->s, pressure);
    push(p);
    return (und_mac_flow_report){.iterations = iterations,
                                 .residual = solved.residual,
                                 .divergence = solved.residual * largest / p->s->mac.d[0],
                                 .converged = solved.converged,
                                 .closed = solved.closed};
}

void und_mac_flow_push(und_mac_flow *s, const und_distance *d, const double *pressure, double dt, bool keen)
{
    const project p = {
        .s = s, .phi = d->phi, .p = pressure, .unit = dt / s->mac.d[0], .least = keen ? LEAST_DEPTH : 0};
    und_distance_get_phi(d, 1);
    push(&p);
}

und_mac_flow_report und_mac_flow_project(und_mac_flow *s, und_pressure *system,
                                         const und_mac_flow_projection *what)
{
    const double dx = s->mac.d[0], dt = what->dt, time = what->time > 0 ? what->time : dt;
    project p = {.s = s,
                 .surface = what->surface,
                 .phi = what->surface->phi,
                 .grown = what->grown,
                 .growing = what->growing,
                 .growing_steps = what->growing ? what->growing_steps : 0,
                 .least = what->keen ? LEAST_DEPTH : 0,
                 .solids = what->solids,
                 .asked = &s->asked,
                 .loose = &what->solids->loose,
                 .unit = dt / dx,
                 .gain = (float)(what->everywhere * dx / time),
                 .speed = (float)(dx / time),
                 .lets_go = what->solids->separate != NULL,
                 .pull = what->pull * dt / dx};
    und_ask_args ask = {.liquid = s->liquid, .asked = s->asked, .pressed = s->parts->pressed};
    if (what->held) {
        ask.held = *what->held;
        ask.holds = true;
    }
    p.ask = &ask;
    return solve(&p, system, what->pressure, true, what->tolerance, what->max_iterations);
}

und_mac_flow_report und_mac_flow_project_again(und_mac_flow *s, und_pressure *system,
                                               const und_mac_flow_projection *what)
{
    double *before = s->parts->system.x, *pressure = what->pressure;
    UND_MAC_EACH_STRETCH(&s->mac, at, count)
    {
        memcpy(before + at, pressure + at, count * sizeof *before);
        memset(pressure + at, 0, count * sizeof *pressure);
    }
    const und_mac_flow_report report = und_mac_flow_project(s, system, what);
    UND_MAC_EACH_STRETCH(&s->mac, first, count)
    for (size_t at = first; at < first + count; at++)
        pressure[at] += before[at];
    return report;
}

/* ---- The air ---- */

/* Faces of cells whose velocities are given, and of those beside them, are none of the air's: no pressure was
 * asked for there, and what stands in its place is left from another solve. */
static void leave_faces(und_mac_flow *air, const und_mask *near)
{
    und_leave_faces_args args = {.cells = *near};
    const und_set rows = und_set_rows(&air->mac, UND_ROWS_FACES);
    und_pass passes[3];
    for (int a = 0; a < 3; a++) {
        args.faces[a] = air->flows[a];
        passes[a] = UND_PASS_AXIS(und_leave_faces, a, &args, &rows);
    }
    und_pass_run(&air->device, passes, air->mac.n[2] == 1 ? 2 : 3);
}

/* Cells that are not liquid and nearer to it than `reach`, and their faces that the liquid does not have. */
static void label_air(und_mac_flow *air, const und_mac_flow *s, const und_distance *d,
                      const und_solids *solids, const und_mask *held, float reach)
{
    und_mask *near = s->parts->extend.known[0], *nearer = s->parts->extend.known[1];
    und_mac_flow_label_cells(air, d, solids, reach);
    und_mask_remove(&air->liquid, &s->liquid);
    if (held) {
        const und_grow_args args[] = {{*held, *nearer}, {*nearer, *near}};
        const und_set rows = und_set_rows(&s->mac, UND_ROWS_ALL);
        const und_pass passes[] = {UND_PASS(und_grow_row, &args[0], &rows),
                                   UND_PASS(und_grow_row, &args[1], &rows)};
        und_pass_steps(
            &s->device,
            (const und_step[]){{.passes = &passes[0], .count = 1}, {.passes = &passes[1], .count = 1}}, 2);
        und_mask_remove(&air->liquid, near);
    }
    und_mac_flow_label_faces(air, solids);
    if (held)
        leave_faces(air, near);
    for (int a = 0; a < 3; a++)
        und_mask_remove(&air->flows[a], &s->flows[a]);
}

/* The air's faces, from one velocity into another. */
static void copy_air(const und_mac_flow *s, float *const from[3], float *const to[3])
{
    und_copy_faces_args args[3];
    und_set faces[3];
    und_pass passes[3];
    for (int a = 0; a < 3; a++) {
        args[a] = (und_copy_faces_args){from[a], to[a]};
        faces[a] = und_set_cells(&s->mac, UND_ROWS_FACES, &s->parts->air.faces[a]);
        passes[a] = UND_PASS(und_copy_faces, &args[a], &faces[a]);
    }
    und_pass_run(&s->device, passes, 3);
}

und_mac_flow_report und_mac_flow_free_air(und_mac_flow *s, const und_distance *d, const und_solids *solids,
                                          und_pressure *system, const und_mask *held, float reach,
                                          double tolerance, int max_iterations)
{
    und_mac_flow air = *s;
    air.liquid = s->parts->air.cells;
    for (int a = 0; a < 3; a++)
        air.flows[a] = s->parts->air.faces[a];
    project p = {.s = &air,
                 .surface = d,
                 .phi = d->phi,
                 .solids = solids,
                 .asked = &air.liquid,
                 .unit = 1,
                 .level = reach};
    und_distance_get_phi(d, 1);
    label_air(&air, s, d, solids, held, reach);
    copy_air(s, s->u, s->parts->air.before);
    return solve(&p, system, s->parts->system.x, false, tolerance, max_iterations);
}

void und_mac_flow_plain_air(und_mac_flow *s)
{
    copy_air(s, s->parts->air.before, s->u);
}
