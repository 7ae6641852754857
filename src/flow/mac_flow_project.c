/* The pressure makes the flow keep its volume: equations 4.6 and 4.7, with the surface and the solids where
 * they are within the cells. */
#include "base/parallel.h"
#include "base/status.h"
#include "flow/mac_flow_parts.h"
#include "flow/mac_flow_project_kernel.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_TO_SHARE = 1 << 14 };

und_status und_mac_flow_system_open(und_mac_flow_system_parts *p, const und_mac *mac, und_error *err)
{
    static const char *const what = "the pressure's system";
    p->slice = und_alloc((size_t)mac->n[2], sizeof *p->slice, what, err);
    return p->slice ? UND_OK : err->status;
}

void und_mac_flow_system_close(und_mac_flow_system_parts *p)
{
    free(p->slice);
}

/* The centre of a cell of the liquid counts as so far in it at least, which is as near to the
 * surface as redistancing lets it: neighbours whose centres straddle the surface by a hair are then pushed
 * alike, to gravity times this. */
#define LEAST_DEPTH 1e-6f

/* What the projection works on: pressures q = p dt / (density dx), m/s, so that a face's velocity changes by
 * their difference. */
typedef struct project {
    und_mac_flow *s;
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
    const und_set cells = und_set_cells(&s->mac, UND_ROWS_INSIDE, p->asked);
    const und_most found = {&args, s->parts->fastest};
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
    return (double)und_most_of(s->parts->fastest, cells.blocks);
}

/* ---- Solids that let go ---- */

#define WEIGHT 20 /* times the pull is what gravity gives in a step */

/* What a solid covers of a cell: where it is, towards the liquid, in faces; and how fast the liquid comes off
 * it there, times that. */
static float leaving(const project *p, const int cell[3], size_t at, float *off)
{
    const und_mac *m = &p->s->mac;
    float square = 0;
    *off = 0;
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++) {
        const size_t low = at - (size_t)m->step[a];
        const float *open = p->solids->open[a], *u = p->s->u[a], *us = p->solids->u[a];
        float sum = open[at] + open[low];
        if (cell[a] == 0 || cell[a] == m->n[a] - 1 || !(sum > 0))
            continue; /* the domain's side is none that lets go */
        float area = open[at] - open[low], own = (open[at] * u[at] + open[low] * u[low]) / sum;
        square += area * area;
        *off += area * (own - 0.5f * (us[at] + us[low]));
    }
    return sqrtf(square);
}

/* The pressure where a solid that covers a part of a cell is, if that is in the liquid: it goes on from the
 * cell's middle as it does the other way.  Behind an edge it falls within half a cell. */
static double pressure_at_wall(const project *p, const int cell[3], size_t at)
{
    const und_mac *m = &p->s->mac;
    double away = 0, inwards = 0, square = 0;
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++) {
        const size_t low = at - (size_t)m->step[a];
        const float area = p->solids->open[a][at] - p->solids->open[a][low];
        if (cell[a] == 0 || cell[a] == m->n[a] - 1 || area == 0)
            continue;
        const size_t next = area > 0 ? at + (size_t)m->step[a] : low;
        if (p->phi[next] >= 0)
            return p->unit * p->p[at];
        away += (double)fabsf(area) * p->unit * (p->p[next] - p->p[at]);
        inwards += (double)fabsf(area) * (double)(p->phi[next] - p->phi[at]);
        square += (double)(area * area);
    }
    const double reach = square > 0 ? (double)p->solids->distance[at] / sqrt(square) : 0;
    return p->unit * p->p[at] - (p->phi[at] - reach * inwards < 0 ? reach * away : 0);
}

/* Whether there is air in the solid beside a cell: liquid has come off there. */
static bool air_behind(const project *p, size_t at)
{
    const und_mac *m = &p->s->mac;
    for (int way = 0; way < (m->n[2] > 1 ? 6 : 4); way++) {
        size_t next = way % 2 ? at + (size_t)m->step[way / 2] : at - (size_t)m->step[way / 2];
        if (p->solids->distance[next] < 0 && p->phi[next] >= 0)
            return true;
    }
    return false;
}

static bool solid_moves(const project *p, size_t at)
{
    for (int a = 0; a < 3; a++)
        if (p->solids->u[a][at] != 0 || p->solids->u[a][at - (size_t)p->s->mac.step[a]] != 0)
            return true;
    return false;
}

/* Whether air touches a cell, over a corner too. */
static bool beside_air(const project *p, const int cell[3])
{
    const und_mac *m = &p->s->mac;
    for (int k = 0; k < 27; k++) {
        const int next[3] = {cell[0] + k % 3 - 1, cell[1] + k / 3 % 3 - 1, cell[2] + k / 9 - 1};
        bool inside = true;
        for (int a = 0; a < 3; a++)
            inside = inside && next[a] >= 0 && next[a] < m->n[a];
        if (inside && p->phi[und_mac_at(m, next[0], next[1], next[2])] >= 0)
            return true;
    }
    return false;
}

/* Whether the solid would have to pull at liquid that leaves it so fast, `off` over `area`.  One that lets go
 * beside air alone holds half a cell's weight, and what gravity gives in three steps: what touches its
 * underside is at rest. */
static bool pulls(const project *p, const int cell[3], size_t at, float off, float area, float depth)
{
    const bool always = p->solids->separate[p->solids->owner[at]] == UND_SEPARATE_ALWAYS;
    const double held = always ? 1 : 10, falls = always ? WEIGHT : 3 * WEIGHT;
    if (!(pressure_at_wall(p, cell, at) < -held * p->pull) &&
        !(air_behind(p, at) && off > area * (p->unit * p->p[at] / depth + falls * p->pull)))
        return false;
    return always || beside_air(p, cell);
}

/* A wall cannot pull: where liquid leaves a solid that lets go, and the pressure there is below the air's,
 * the solid is to the pressure as air is.  So that is for as long as there is air between them and the
 * pressure, which is the air's at the solid, does not turn the liquid back to it.  Whether it was not let go
 * before in this step. */
static bool let_go(const project *p, int x, int y, int z)
{
    const float nearest = 0.25f, reach = 1.5f, least = 0.05f; /* cells, and of a face */
    const int cell[3] = {x, y, z};
    const size_t at = und_mac_at(&p->s->mac, x, y, z);
    const und_solids *solids = p->solids;
    const float distance = solids->distance[at];
    const bool gone = und_mask_has(p->loose, x, y, z);
    if (!(distance < reach) || !und_solids_lets_go(solids, solids->owner[at]))
        return false;
    float off, area = leaving(p, cell, at, &off);
    const float depth = distance > nearest ? distance : nearest;
    if (!gone && (!(area > least) || !(off > 0) || (p->again && !solid_moves(p, at)) ||
                  !pulls(p, cell, at, off, area, depth)))
        return false;
    p->known[at] += area / depth;
    p->b[at] += off;
    und_mask_add(p->loose, x, y, z);
    return !gone;
}

static bool let_all_go(const project *p)
{
    const und_mac_flow *s = p->s;
    float *gone = s->parts->system.slice;
    PARALLEL_FOR(und_workers(s->device.threads, s->mac.count, CELLS_TO_SHARE))
    for (int z = 0; z < s->mac.n[2]; z++) {
        gone[z] = 0;
        for (int y = 0; y < s->mac.n[1]; y++)
            for (int begin, end = -1; und_mask_stretch(p->asked, y, z, end, &begin, &end);)
                for (int x = begin; x < end; x++)
                    gone[z] = let_go(p, x, y, z) ? 1 : gone[z];
    }
    bool any = false;
    for (int z = 0; z < s->mac.n[2]; z++)
        any = any || gone[z] > 0;
    return any;
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
    push(&p);
}

und_mac_flow_report und_mac_flow_project(und_mac_flow *s, und_pressure *system,
                                         const und_mac_flow_projection *what)
{
    const double dx = s->mac.d[0], dt = what->dt, time = what->time > 0 ? what->time : dt;
    project p = {.s = s,
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
    const size_t wide = (size_t)s->mac.n[0];
    UND_MAC_EACH_ROW (&s->mac, row) {
        const size_t at = und_mac_row(&s->mac, row);
        memcpy(before + at, pressure + at, wide * sizeof *before);
        memset(pressure + at, 0, wide * sizeof *pressure);
    }
    const und_mac_flow_report report = und_mac_flow_project(s, system, what);
    UND_MAC_EACH_ROW (&s->mac, row)
        for (size_t at = und_mac_row(&s->mac, row), end = at + wide; at < end; at++)
            pressure[at] += before[at];
    return report;
}

/* ---- The air ---- */

/* Cells that are not liquid and nearer to it than `reach`, and their faces that the liquid does not have. */
static void label_air(und_mac_flow *air, const und_mac_flow *s, const und_distance *d,
                      const und_solids *solids, const und_mask *held, float reach)
{
    und_mask *near = s->parts->extend.known[0], *nearer = s->parts->extend.known[1];
    und_mac_flow_label_cells(air, d, solids, reach);
    und_mask_remove(&air->liquid, &s->liquid);
    if (held) {
        und_mask_grow(held, nearer, s->device.threads);
        und_mask_grow(nearer, near, s->device.threads);
        und_mask_remove(&air->liquid, near);
    }
    und_mac_flow_label_faces(air, solids);
    for (int a = 0; a < 3; a++)
        und_mask_remove(&air->flows[a], &s->flows[a]);
}

/* The air's faces, from one velocity into another. */
static void copy_air(const und_mac_flow *s, float *const from[3], float *const to[3])
{
    int threads = und_workers(s->device.threads, s->mac.count, CELLS_TO_SHARE);
    PARALLEL_FOR(threads)
    for (int z = -1; z < s->mac.n[2]; z++)
        for (int a = 0; a < 3; a++)
            for (int y = -1; y < s->mac.n[1]; y++) {
                size_t row = und_mac_at(&s->mac, 0, y, z);
                for (int begin, end = -1; und_mask_stretch(&s->parts->air.faces[a], y, z, end, &begin, &end);)
                    for (int x = begin; x < end; x++)
                        to[a][(ptrdiff_t)row + x] = from[a][(ptrdiff_t)row + x];
            }
}

und_mac_flow_report und_mac_flow_free_air(und_mac_flow *s, const und_distance *d, const und_solids *solids,
                                          und_pressure *system, const und_mask *held, float reach,
                                          double tolerance, int max_iterations)
{
    und_mac_flow air = *s;
    air.liquid = s->parts->air.cells;
    for (int a = 0; a < 3; a++)
        air.flows[a] = s->parts->air.faces[a];
    project p = {.s = &air, .phi = d->phi, .solids = solids, .asked = &air.liquid, .unit = 1, .level = reach};
    label_air(&air, s, d, solids, held, reach);
    copy_air(s, s->u, s->parts->air.before);
    return solve(&p, system, s->parts->system.x, false, tolerance, max_iterations);
}

void und_mac_flow_plain_air(und_mac_flow *s)
{
    copy_air(s, s->parts->air.before, s->u);
}
