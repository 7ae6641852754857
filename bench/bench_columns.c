/* columns.step: the whole step of columns and pipes, deep water with waves; columns.shore: the same where
 * shores wet and dry and pipes are scaled back; columns.balls: figure 6 of O'Brien & Hodgins 1995, balls on 2
 * x 2 m of water, over 2 s. */
#include "bench/bench.h"

#include "base/stage.h"
#include "base/status.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "liquid/columns.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <undine/undine.h>
#include <unistd.h>

static double bump(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return 0.1 * sin(0.5 * x) * cos(0.4 * z);
}

/* Islands and pools, 6 m from one to the next. */
static double islands(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return 0.5 * sin(1.05 * x) * cos(1.05 * z);
}

static double surge(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return 0.4 * sin(0.35 * x) * cos(0.3 * z);
}

/* One substep, at the longest that the pipes allow where it is 1 m deep. */
static const double STEP = 0.005, CELL = 0.05;

static void step(void *columns)
{
    und_columns_step(columns, STEP);
}

static und_columns_def square(const bench_context *context, int n)
{
    und_columns_def def = und_columns_def_default();
    def.height_field.nx = def.height_field.nz = n;
    def.height_field.dx = CELL;
    def.height_field.threads = context->threads;
    def.height_field.ground = und_value_constant(-1);
    return def;
}

static und_status measure(const bench_context *context, const char *name, const und_columns_def *def,
                          int warm_steps, und_error *err)
{
    int n = def->height_field.nx;
    bench_result result = {.name = name, .cells = (double)n * n};
    und_columns *columns = und_columns_create(def, err);
    if (!columns)
        return err->status;
    snprintf(result.size, sizeof result.size, "%dx%d", n, n);
    for (int i = 0; i < warm_steps; i++)
        step(columns);
    bench_measure(context, step, columns, n > 1024 ? 15 : 51, &result);
    und_columns_destroy(columns);
    context->report(context->user, &result);
    return UND_OK;
}

und_status bench_columns_step(const bench_context *context, und_error *err)
{
    static const int sizes[] = {241, 2048};
    und_status status = UND_OK;
    for (int i = 0; i < 2 && status == UND_OK; i++) {
        und_columns_def def = square(context, sizes[i]);
        def.height_field.surface = (und_value){.fn = bump};
        status = measure(context, "columns.step", &def, 4, err);
    }
    return status;
}

und_status bench_columns_shore(const bench_context *context, und_error *err)
{
    und_columns_def def = square(context, 1024);
    def.height_field.ground = (und_value){.fn = islands};
    def.height_field.surface = (und_value){.fn = surge};
    return measure(context, "columns.shore", &def, 100, err);
}

enum { BALLS = 4, FRAMES = 48 };
static const double SECONDS = 2;

/* Three balls afloat and one that drops among them. */
typedef struct pond {
    und_columns_def def;
    und_shape ball[BALLS];
    und_body_def body[BALLS];
    und_columns *columns;
    und_frame start; /* its state before the balls fall */
    und_error err;
} pond;

static void fill_pond(pond *p, const bench_context *context, bool spray)
{
    static const double radius[BALLS] = {0.20, 0.14, 0.09, 0.13}; /* as in scenes/balls.lua */
    static const double place[BALLS][3] = {
        {0.50, 0.45, 0.62}, {1.52, 0.55, 0.50}, {1.40, 0.40, 1.50}, {0.98, 1.50, 1.08}};
    p->def = und_columns_def_default();
    p->def.height_field.nx = p->def.height_field.nz = 61;
    p->def.height_field.dx = 2.0 / 61;
    p->def.height_field.threads = context->threads;
    p->def.height_field.ground = und_value_constant(-0.6);
    p->def.pipe_depth = 0.25;
    p->def.spray.on = spray;
    p->def.spray.most = 1 << 17; /* room enough; making room for more would be measured too */
    p->def.bodies = p->body, p->def.body_count = BALLS;
    for (int i = 0; i < BALLS; i++) {
        p->ball[i] = (und_shape){.kind = UND_SPHERE, .radius = radius[i]};
        p->body[i] = und_body_def_default();
        p->body[i].shape = &p->ball[i];
        p->body[i].density = i == BALLS - 1 ? 2600 : 350;
        for (int k = 0; k < 3; k++)
            p->body[i].position[k] = place[i][k];
    }
}

/* Makes the pond and keeps a copy of its state. */
static und_status start_pond(pond *p, und_error *err)
{
    und_frame state = und_frame_empty(0, 0, (und_grid){0});
    p->columns = und_columns_create(&p->def, err);
    und_liquid *liquid = p->columns ? und_columns_liquid(p->columns) : NULL;
    und_status status = liquid ? liquid->class->save(liquid, &state, err) : err->status;
    if (status == UND_OK)
        status = und_frame_copy(&state, &p->start, err);
    und_frame_clear(&state);
    return status;
}

/* Each run starts from the same state, so that every one does the same. */
static void let_fall(void *context)
{
    pond *p = context;
    und_liquid *liquid = und_columns_liquid(p->columns);
    if (p->err.status == UND_OK)
        p->err.status = liquid->class->restore(liquid, &p->start, &p->err);
    for (int i = 0; p->err.status == UND_OK && i < FRAMES; i++)
        und_columns_step(p->columns, SECONDS / FRAMES);
}

static und_status measure_balls(const bench_context *context, bool spray, const char *size, und_error *err)
{
    pond p = {.err.status = UND_OK};
    bench_result result = {.name = "columns.balls", .cells = 61 * 61};
    snprintf(result.size, sizeof result.size, "%s", size);
    fill_pond(&p, context, spray);
    und_status status = start_pond(&p, err);
    if (status == UND_OK) {
        bench_measure(context, let_fall, &p, 9, &result);
        *err = p.err;
        status = p.err.status;
    }
    if (status == UND_OK) {
        result.extra[result.extra_count++] = (bench_extra){"times_real_time", SECONDS / result.seconds};
        context->report(context->user, &result);
    }
    und_frame_clear(&p.start);
    und_columns_destroy(p.columns);
    return status;
}

und_status bench_columns_balls(const bench_context *context, und_error *err)
{
    und_status status = measure_balls(context, false, "61x61, 2 s", err);
    return status == UND_OK ? measure_balls(context, true, "with spray", err) : status;
}

/* As long as the paper's; frames are made, as for a cache, and dropped.  One run: it takes its time. */
und_status bench_columns_diver(const bench_context *context, und_error *err)
{
    static const char path[] = "scenes/diver.lua";
    const double seconds = 20;
    bench_result result = {.name = "columns.diver", .cells = 241 * 241, .size = "241x241, 20 s"};
    if (access(path, R_OK) != 0)
        return UND_OK;
    und_scene *scene = und_scene_load(path, NULL, 0, err);
    und_sim *sim = scene ? und_sim_create(scene, context->threads, err) : NULL;
    und_status status = sim ? UND_OK : err->status;
    int frames = sim ? (int)lround(seconds * und_scene_fps(scene)) : 0;
    double start = und_clock();
    for (int i = 0; i < frames && status == UND_OK; i++)
        status = und_sim_advance(sim, err);
    result.seconds = und_clock() - start;
    und_sim_destroy(sim);
    und_scene_destroy(scene);
    if (status != UND_OK)
        return status;
    bench_report_once(context, &result, (bench_extra){"times_real_time", seconds / result.seconds});
    return UND_OK;
}
