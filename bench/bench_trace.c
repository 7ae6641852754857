/* trace.frame: a picture of the dam break at 128 cells a side in its splash, 960 x 540, ray-traced to the
 * noise of review quality; trace.preview: the same by the preview; trace.rays: the rays of a pinhole camera
 * at 1280 x 720, and those that go on into the liquid. */
#include "bench/bench.h"

#include "base/parallel.h"
#include "base/stage.h"
#include "base/status.h"
#include "geom/shape.h"
#include "liquid/levelset.h"
#include "render/render.h"
#include "trace/trace.h"

#include <stdio.h>
#include <stdlib.h>

enum { N = 128, FRAME = 12 };

typedef struct shot {
    und_frame frame;
    und_picture_def def;
} shot;

static void add(bench_result *r, const char *name, double value)
{
    r->extra[r->extra_count++] = (bench_extra){name, value};
}

static und_status break_dam(const bench_context *context, shot *s, und_error *err)
{
    und_levelset_def def = und_levelset_def_default();
    und_shape *dam = und_shape_create(
        &(und_shape){.kind = UND_BOX, .center = {0.2, 0.3, 0.5}, .half = {0.2, 0.3, 0.5}}, err);
    und_fill_def fill = {.shape = dam};
    def.n[0] = def.n[1] = def.n[2] = N;
    def.dx = 1.0 / N;
    def.fills = &fill;
    def.fill_count = 1;
    def.threads = context->threads;
    und_levelset *levelset = dam ? und_levelset_create(&def, err) : NULL;
    und_status status = levelset ? UND_OK : UND_FAILED;
    for (int k = 1; k < FRAME && levelset; k++)
        und_levelset_step(levelset, 1.0 / 24);
    s->def = und_picture_def_default();
    s->frame = und_frame_empty(FRAME, (FRAME - 1) / 24.0,
                               (und_grid){.n = {N, N, N}, .dx = 1.0 / N, .origin = {0, 0, 0}});
    if (levelset) {
        und_liquid *liquid = und_levelset_liquid(levelset);
        status = liquid->class->frame(liquid, &s->frame, err);
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(dam);
    return status;
}

static void report(const bench_context *context, const char *name, const shot *s, int threads, double seconds,
                   bench_result *result)
{
    result->name = name;
    result->threads = threads;
    result->seconds = seconds;
    result->cells = (double)s->def.width * s->def.height;
    result->sweep_seconds = bench_sweep_once(context->sweep);
    snprintf(result->size, sizeof result->size, "%dx%d", s->def.width, s->def.height);
    context->report(context->user, result);
}

static und_status trace_once(const bench_context *context, shot *s, int threads, und_error *err)
{
    bench_result result = {0};
    und_film_report film = {0};
    und_layers layers = {0};
    s->def.threads = threads;
    s->def.quality = UND_QUALITY_REVIEW;
    und_trace *trace = und_trace_create(&s->def, err);
    und_status status = trace ? und_layers_create(&layers, s->def.width, s->def.height, err) : err->status;
    double start = und_clock();
    if (status == UND_OK)
        status = und_trace_draw(trace, &s->frame, &layers, &film, err);
    double seconds = und_clock() - start;
    if (status == UND_OK) {
        const und_stage *list;
        int count = und_trace_stages(trace, &list);
        add(&result, "samples", film.samples);
        add(&result, "noise", film.noise);
        add(&result, "reached", film.reached);
        add(&result, "paths_per_second", film.paths / seconds);
        add(&result, "rays_per_second", film.rays / seconds);
        for (int k = 0; k < count; k++)
            if (list[k].calls > 0)
                add(&result, list[k].name, list[k].seconds);
        report(context, "trace.frame", s, threads, seconds, &result);
    }
    und_layers_destroy(&layers);
    und_trace_destroy(trace);
    return status;
}

und_status bench_trace_frame(const bench_context *context, und_error *err)
{
    shot s;
    und_status status = break_dam(context, &s, err);
    s.def.width = 960;
    s.def.height = 540;
    if (status == UND_OK)
        status = trace_once(context, &s, context->threads, err);
    if (status == UND_OK && context->threads > 1)
        status = trace_once(context, &s, 1, err);
    und_frame_clear(&s.frame);
    return status;
}

und_status bench_trace_preview(const bench_context *context, und_error *err)
{
    shot s;
    und_image image = {0};
    bench_result result = {0};
    und_status status = break_dam(context, &s, err);
    s.def.width = 960;
    s.def.height = 540;
    s.def.threads = context->threads;
    und_render *render = status == UND_OK ? und_render_create(&s.def, err) : NULL;
    double start = und_clock();
    if (status == UND_OK)
        status = render ? und_render_draw(render, &s.frame, &image, err) : err->status;
    if (status == UND_OK)
        report(context, "trace.preview", &s, context->threads, und_clock() - start, &result);
    und_image_destroy(&image);
    und_render_destroy(render);
    und_frame_clear(&s.frame);
    return status;
}

/* The first generation of rays, and those that they become in the liquid. */
typedef struct rays {
    const und_world *world;
    und_ray *first, *second;
    int width, height, threads;
} rays;

static void cast_first(const rays *r)
{
    PARALLEL_FOR(r->threads)
    for (int j = 0; j < r->height; j++)
        for (int i = 0; i < r->width; i++) {
            size_t at = (size_t)j * (size_t)r->width + (size_t)i;
            und_hit hit;
            const und_ray *ray = &r->first[at];
            r->second[at] = (und_ray){.far = -1};
            if (!r->world->cast(r->world, ray, &hit) || hit.matter.kind != UND_MATTER_DIELECTRIC)
                continue;
            float c = -f3_dot(ray->dir, hit.normal), n = hit.matter.index;
            if (c <= 0)
                continue;
            float k = sqrtf(1 - (1 - c * c) / (n * n));
            f3 dir = f3_along(f3_scale(ray->dir, 1 / n), hit.normal, c / n - k);
            r->second[at] = (und_ray){.from = f3_along(hit.place, hit.face, -hit.offset),
                                      .dir = f3_unit(dir),
                                      .far = INFINITY,
                                      .time = ray->time,
                                      .spread = ray->spread};
        }
}

static void cast_second(const rays *r)
{
    PARALLEL_FOR(r->threads)
    for (int j = 0; j < r->height; j++)
        for (int i = 0; i < r->width; i++) {
            const und_ray *ray = &r->second[(size_t)j * (size_t)r->width + (size_t)i];
            und_hit hit;
            if (ray->far > 0)
                r->world->cast(r->world, ray, &hit);
        }
}

static void aim(const rays *r, const und_scenery *stage)
{
    const und_shot *c = &stage->camera;
    float side = 2 * tanf((float)(0.5 * stage->def.fov * M_PI / 180)) / (float)r->height;
    for (int j = 0; j < r->height; j++)
        for (int i = 0; i < r->width; i++) {
            float x = ((float)i + 0.5f - 0.5f * (float)r->width) * side;
            float y = (0.5f * (float)r->height - (float)j - 0.5f) * side;
            f3 dir = f3_along(f3_along(c->forward, c->right, x), c->up, y);
            r->first[(size_t)j * (size_t)r->width + (size_t)i] = (und_ray){
                .from = c->eye, .dir = f3_unit(dir), .far = INFINITY, .time = 1, .spread = 0.5f * side};
        }
}

static void time_rays(const bench_context *context, const shot *s, rays *r, int threads)
{
    size_t count = (size_t)r->width * (size_t)r->height, refracted = 0;
    bench_result result = {0};
    r->threads = threads;
    double start = und_clock();
    cast_first(r);
    double between = und_clock();
    cast_second(r);
    double end = und_clock();
    for (size_t k = 0; k < count; k++)
        refracted += r->second[k].far > 0;
    add(&result, "primary_per_second", (double)count / (between - start));
    add(&result, "refracted_per_second", (double)refracted / (end - between));
    add(&result, "refracted", (double)refracted);
    report(context, "trace.rays", s, threads, end - start, &result);
}

und_status bench_trace_rays(const bench_context *context, und_error *err)
{
    shot s;
    und_status status = break_dam(context, &s, err);
    s.def.width = 1280;
    s.def.height = 720;
    s.def.threads = context->threads;
    rays r = {.width = s.def.width, .height = s.def.height};
    size_t count = (size_t)r.width * (size_t)r.height;
    r.first = und_alloc(count, sizeof *r.first, "rays", err);
    r.second = und_alloc(count, sizeof *r.second, "rays", err);
    und_scenery *stage =
        status == UND_OK && r.first && r.second ? und_scenery_create(&s.def, false, err) : NULL;
    status = stage ? und_scenery_prepare(stage, &s.frame, err) : UND_FAILED;
    und_world *world = status == UND_OK ? und_world_create(stage, &s.frame, err) : NULL;
    if (world) {
        r.world = world;
        aim(&r, stage);
        time_rays(context, &s, &r, context->threads);
        if (context->threads > 1)
            time_rays(context, &s, &r, 1);
        und_world_destroy(world);
    } else
        status = err->status;
    und_scenery_destroy(stage);
    free(r.first);
    free(r.second);
    und_frame_clear(&s.frame);
    return status;
}
