/* cells.step: a substep of the Navier-Stokes liquid in a sloshing tank with obstacles, by both pressure
 * methods, per Full cell; cells.momentum: equation 2 alone; cells.cove: the grid and the iterations of
 * Moonlight Cove, for which Foster & Metaxas 1996 needed two and a half hours. */
#include "bench/bench.h"

#include "base/stage.h"
#include "geom/shape.h"
#include "liquid/cells.h"
#include "liquid/liquid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <undine/undine.h>
#include <unistd.h>

static double sloping(const void *context, double x, double y, double z, double t)
{
    (void)y, (void)t;
    double depth = *(const double *)context;
    return depth * (0.6 + 0.1 * cos(2 * x / depth) * cos(1.5 * z / depth));
}

/* A tank with two blocks in it. */
typedef struct tank {
    und_cells_def def;
    double height;
    und_shape block[2];
    und_solid_def solid[2];
    und_cells *cells;
    double iterations;
    int steps;
} tank;

static void make_tank(tank *t, const bench_context *context, const int n[3], und_pressure_rule rule)
{
    t->def = und_cells_def_default();
    t->height = 1;
    for (int a = 0; a < 3; a++) {
        t->def.n[a] = n[a];
        t->def.cell[a] = t->height / n[1];
    }
    double width = n[0] * t->def.cell[0], depth = n[2] * t->def.cell[2];
    for (int i = 0; i < 2; i++) {
        t->block[i] = (und_shape){.kind = UND_BOX,
                                  .center = {width * (0.3 + 0.4 * i), 0.15, depth * (0.4 + 0.3 * i)},
                                  .half = {0.2, 0.15 + 0.3 * i, 0.2}};
        t->solid[i].shape = &t->block[i];
    }
    t->def.solids = t->solid;
    t->def.solid_count = 2;
    t->def.track = UND_TRACK_HEIGHT;
    t->def.has_level = true;
    t->def.level = (und_value){.fn = sloping, .context = &t->height};
    t->def.pressure_rule = rule;
    t->def.threads = context->threads;
}

static void step(void *context)
{
    tank *t = context;
    und_cells_substep(t->cells, 1);
    t->iterations += und_cells_last(t->cells).iterations;
    t->steps++;
}

static double stage_seconds(und_cells *cells, const char *name)
{
    const und_liquid *liquid = und_cells_liquid(cells);
    for (int i = 0; i < liquid->stage_count; i++)
        if (strcmp(liquid->stages[i].name, name) == 0)
            return liquid->stages[i].seconds;
    return 0;
}

static und_status measure(const bench_context *context, const int n[3], und_pressure_rule rule,
                          int max_sweeps, int warm, int repeats, und_error *err)
{
    tank t = {0};
    make_tank(&t, context, n, rule);
    t.def.max_sweeps = max_sweeps;
    t.cells = und_cells_create(&t.def, err);
    if (!t.cells)
        return err->status;
    for (int i = 0; i < warm; i++)
        step(&t);
    t.iterations = t.steps = 0;
    bench_result result = {.name = "cells.step", .cells = (double)und_cells_last(t.cells).full};
    snprintf(result.size, sizeof result.size, "%dx%dx%d %s", n[0], n[1], n[2],
             rule == UND_PRESSURE_RELAX ? "relax" : "multigrid");
    double momentum = stage_seconds(t.cells, "momentum"), pressure = stage_seconds(t.cells, "pressure");
    bench_measure(context, step, &t, repeats, &result);
    momentum = (stage_seconds(t.cells, "momentum") - momentum) / t.steps;
    pressure = (stage_seconds(t.cells, "pressure") - pressure) / t.steps;
    double sweep = result.sweep_seconds * result.cells;
    result.extra[result.extra_count++] = (bench_extra){"iterations", t.iterations / t.steps};
    result.extra[result.extra_count++] = (bench_extra){"divergence", und_cells_last(t.cells).divergence};
    result.extra[result.extra_count++] = (bench_extra){"momentum_sweeps", momentum / sweep};
    result.extra[result.extra_count++] = (bench_extra){"pressure_sweeps", pressure / sweep};
    und_cells_destroy(t.cells);
    context->report(context->user, &result);
    return UND_OK;
}

/* Relaxation of the large tank from rest would go on for hours: what a hundred sweeps cost, and what
 * divergence they leave, says enough. */
und_status bench_cells_step(const bench_context *context, und_error *err)
{
    static const int small[3] = {40, 12, 40}, large[3] = {256, 96, 256};
    if (measure(context, small, UND_PRESSURE_MULTIGRID, 0, 200, 51, err) ||
        measure(context, small, UND_PRESSURE_RELAX, 0, 200, 51, err) ||
        measure(context, large, UND_PRESSURE_MULTIGRID, 0, 5, 7, err) ||
        measure(context, large, UND_PRESSURE_RELAX, 100, 1, 1, err))
        return err->status;
    return UND_OK;
}

/* All 20,000 iterations of the scene, one run; the paper took 9,000 s. */
und_status bench_cells_cove(const bench_context *context, und_error *err)
{
    static const char path[] = "scenes/cove.lua";
    enum { ITERATIONS = 20000 };
    bench_result result = {.name = "cells.cove", .cells = 50 * 15 * 40, .size = "50x15x40, 20000 it"};
    if (access(path, R_OK) != 0)
        return UND_OK;
    und_scene *scene = und_scene_load(path, NULL, 0, err);
    und_sim *sim = scene ? und_sim_create(scene, context->threads, err) : NULL;
    und_status status = sim ? UND_OK : err->status;
    const und_item *told = NULL;
    double done = 0, start = und_clock();
    while (status == UND_OK && done < ITERATIONS) {
        status = und_sim_advance(sim, err);
        told = status == UND_OK ? und_frame_find(und_sim_frame(sim), "step") : NULL;
        done += told ? *(const double *)told->data : ITERATIONS;
    }
    result.seconds = (und_clock() - start) * ITERATIONS / done;
    und_sim_destroy(sim);
    und_scene_destroy(scene);
    if (status != UND_OK)
        return status;
    bench_report_once(context, &result, (bench_extra){"times_the_paper", 9000 / result.seconds});
    return UND_OK;
}
