/* dambreak: the dam break that everybody can run, box 1x1x1 m, N cells a side, liquid x < 0.4, y < 0.6 at
 * full depth, closed walls, 24 frames of 1/24 s, with all the threads asked for and, of the smaller two,
 * with one.  Stages are in sweeps over the liquid's cells, per substep. */
#include "bench/bench.h"

#include "base/parallel.h"
#include "base/stage.h"
#include "geom/shape.h"
#include "liquid/levelset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 24, EXTRAS = sizeof((bench_result *)0)->extra / sizeof(bench_extra) };

static void add(bench_result *result, const char *name, double value)
{
    if (result->extra_count < (int)EXTRAS)
        result->extra[result->extra_count++] = (bench_extra){name, value};
}

/* A line of what Linux says of this process, in bytes: "VmRSS:" it has now, "VmHWM:" the most since the last
 * reset. */
static double memory(const char *line)
{
    char text[128];
    double kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(text, sizeof text, status))
        if (strncmp(text, line, strlen(line)) == 0)
            kilobytes = strtod(text + strlen(line), NULL);
    if (status)
        fclose(status);
    return 1024 * kilobytes;
}

/* The peak from here on is this run's, not that of the sweep's arrays or of a larger run before it. */
static void reset_peak_memory(void)
{
    FILE *refs = fopen("/proc/self/clear_refs", "w");
    if (refs) {
        fputs("5", refs);
        fclose(refs);
    }
}

/* What peers took for a frame of this dam break on two cores of this kind, seconds. */
static double rival_seconds(int n)
{
    return n == 64 ? 0.94 : n == 128 ? 12.4 : 0; /* Blender 3.4, Mantaflow's FLIP without a mesh */
}

static void add_stages(bench_result *result, und_levelset *levelset, double substeps)
{
    const und_liquid *liquid = und_levelset_liquid(levelset);
    double sweep = result->sweep_seconds * result->cells;
    for (int i = 0; i < liquid->stage_count; i++)
        add(result, liquid->stages[i].name, liquid->stages[i].seconds / substeps / sweep);
}

static und_status break_dam(const bench_context *context, int n, int threads, und_error *err)
{
    bench_result result = {.name = "dambreak", .threads = threads};
    und_levelset_def def = und_levelset_def_default();
    und_shape *dam = und_shape_create(
        &(und_shape){.kind = UND_BOX, .center = {0.2, 0.3, 0.5}, .half = {0.2, 0.3, 0.5}}, err);
    und_fill_def fill = {.shape = dam};
    snprintf(result.size, sizeof result.size, "%d^3, %d thr.", n, threads);
    for (int a = 0; a < 3; a++)
        def.n[a] = n;
    def.dx = 1.0 / n;
    def.fills = &fill;
    def.fill_count = 1;
    def.threads = threads;
    reset_peak_memory();
    const double held = memory("VmRSS:");
    und_levelset *levelset = dam ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        const unsigned shared = und_loops_shared();
        double start = und_clock(), iterations = 0, cells = 0, sweep = bench_sweep_once(context->sweep);
        for (int frame = 0; frame < FRAMES; frame++) {
            und_levelset_step(levelset, 1.0 / 24);
            iterations += und_levelset_last(levelset).iterations / (double)FRAMES;
            cells += (double)und_levelset_last(levelset).liquid / FRAMES;
        }
        und_levelset_report last = und_levelset_last(levelset);
        und_ledger ledger = und_levelset_ledger(levelset);
        result.seconds = und_clock() - start;
        const double regions = (double)(und_loops_shared() - shared);
        for (int i = 0; i < 8; i++) {
            double again = bench_sweep_once(context->sweep);
            sweep = again < sweep ? again : sweep;
        }
        result.sweep_seconds = sweep;
        result.cells = cells;
        result.seconds /= FRAMES;
        add(&result, "seconds_per_frame", result.seconds);
        add(&result, "substeps", (double)last.substeps / FRAMES);
        add(&result, "iterations", iterations);
        if (threads > 1)
            add(&result, "parallel_regions", regions / (double)last.substeps);
        add(&result, "particles", (double)last.particles);
        add(&result, "volume_drift", ledger.correction / ledger.start);
        add(&result, "peak_memory", memory("VmHWM:") - held);
        if (threads == 2 && rival_seconds(n) > 0)
            add(&result, "times_faster_than_mantaflow", rival_seconds(n) / result.seconds);
        add_stages(&result, levelset, (double)last.substeps);
        context->report(context->user, &result);
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(dam);
    return levelset ? UND_OK : err->status;
}

static und_status break_dams(const bench_context *context, int n, und_error *err)
{
    und_status status = break_dam(context, n, context->threads, err);
    return status == UND_OK && context->threads > 1 ? break_dam(context, n, 1, err) : status;
}

und_status bench_dambreak_64(const bench_context *context, und_error *err)
{
    return break_dams(context, 64, err);
}
und_status bench_dambreak_128(const bench_context *context, und_error *err)
{
    return break_dams(context, 128, err);
}
und_status bench_dambreak_256(const bench_context *context, und_error *err)
{
    return break_dam(context, 256, context->threads, err);
}
