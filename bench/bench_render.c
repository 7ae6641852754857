/* render.frame: a picture of 1280 x 720, two samples along each side of a pixel, of a bay of 512 x 512 cells.
 */
#include "bench/bench.h"

#include "base/status.h"
#include "geom/value.h"
#include "liquid/waves.h"
#include "render/render.h"

#include <math.h>
#include <stdio.h>

enum { N = 512, WARM_STEPS = 24 };
static const double SIZE = 40; /* m */

static double beach(void *context, double x, double y, double z, double t)
{
    (void)context;
    (void)y;
    (void)t;
    return -2 + 4 * x / SIZE + 0.3 * sin(0.3 * z);
}

static double swell(void *context, double x, double y, double z, double t)
{
    (void)context;
    (void)y;
    (void)t;
    return 0.3 * exp(-0.05 * ((x - 10) * (x - 10) + (z - 20) * (z - 20)));
}

typedef struct drawing {
    und_render *render;
    und_frame frame;
    und_image image;
    und_status status;
    und_error *err;
} drawing;

static void draw(void *context)
{
    drawing *d = context;
    if (d->status == UND_OK)
        d->status = und_render_draw(d->render, &d->frame, &d->image, d->err);
}

static und_waves *make_bay(int threads, und_error *err)
{
    und_waves_def def = und_waves_def_default();
    def.pool.nx = def.pool.nz = N;
    def.pool.dx = SIZE / N;
    def.pool.ground = (und_value){.fn = beach};
    def.pool.surface = (und_value){.fn = swell};
    def.pool.threads = threads;
    und_waves *waves = und_waves_create(&def, err);
    for (int i = 0; waves && i < WARM_STEPS; i++)
        und_waves_step(waves, 1.0 / 48);
    return waves;
}

und_status bench_render_frame(const bench_context *context, und_error *err)
{
    und_render_def def = und_render_def_default();
    drawing d = {.frame = und_frame_empty(1, 0, (und_grid){{N, 1, N}, SIZE / N, {0, 0, 0}}), .err = err};
    def.width = 1280;
    def.height = 720;
    def.samples = 2;
    def.eye = und_vector_constant(-8, 9, 48);
    def.look = und_vector_constant(18, 0, 20);
    def.threads = context->threads;
    und_waves *waves = make_bay(context->threads, err);
    if (!waves)
        return err->status;
    und_liquid *liquid = und_waves_liquid(waves);
    d.status = liquid->class->frame(liquid, &d.frame, err);
    d.render = d.status == UND_OK ? und_render_create(&def, err) : NULL;
    if (!d.render)
        d.status = err->status;
    if (d.status == UND_OK)
        d.status = und_image_create(&d.image, def.width, def.height, err);
    if (d.status == UND_OK) {
        bench_result result = {.name = "render.frame", .cells = (double)def.width * def.height};
        snprintf(result.size, sizeof result.size, "%dx%d", def.width, def.height);
        bench_measure(context, draw, &d, 7, &result);
        if (d.status == UND_OK)
            context->report(context->user, &result);
    }
    und_image_destroy(&d.image);
    und_render_destroy(d.render);
    und_frame_clear(&d.frame);
    und_waves_destroy(waves);
    return d.status;
}
