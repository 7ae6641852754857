/* render.frame: a picture of 1280 x 720, two samples along each side of a pixel, of a bay of 512 x 512 cells;
 * render.spray: what a million drops over it add. */
#include "bench/bench.h"

#include "base/random.h"
#include "base/status.h"
#include "geom/value.h"
#include "liquid/waves.h"
#include "render/internal.h"

#include <math.h>
#include <stdio.h>

enum { N = 512, WARM_STEPS = 24, DROPS = 1000000 };
static const double SIZE = 40; /* m */

static double beach(const void *context, double x, double y, double z, double t)
{
    (void)context;
    (void)y;
    (void)t;
    return -2 + 4 * x / SIZE + 0.3 * sin(0.3 * z);
}

static double swell(const void *context, double x, double y, double z, double t)
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
    def.height_field.nx = def.height_field.nz = N;
    def.height_field.dx = SIZE / N;
    def.height_field.ground = (und_value){.fn = beach};
    def.height_field.surface = (und_value){.fn = swell};
    def.height_field.threads = threads;
    und_waves *waves = und_waves_create(&def, err);
    for (int i = 0; waves && i < WARM_STEPS; i++)
        und_waves_step(waves, 1.0 / 48);
    return waves;
}

/* A splash of 8 m over the bay, seen from afar: fine drops, few large ones, each with its way. */
static und_status add_spray(und_frame *frame, und_error *err)
{
    und_item_def def = {.name = "spray/position", .unit = "m", .kind = UND_PARTICLES, .type = UND_F32};
    def.rank = 2;
    def.dim[0] = DROPS;
    def.dim[1] = 3;
    und_item *item = und_frame_add(frame, &def, err);
    float *p = item ? item->data : NULL;
    def.name = "spray/velocity";
    def.unit = "m/s";
    item = p ? und_frame_add(frame, &def, err) : NULL;
    float *v = item ? item->data : NULL;
    def.name = "spray/radius";
    def.unit = "m";
    def.rank = 1;
    item = v ? und_frame_add(frame, &def, err) : NULL;
    float *r = item ? item->data : NULL;
    if (!r)
        return err->status;
    for (int k = 0; k < DROPS; k++) {
        double u[5];
        for (int c = 0; c < 5; c++)
            u[c] = und_random(3, (uint64_t)c, (uint64_t)k);
        double angle = 2 * M_PI * u[0], away = 3 + 5 * u[1] * u[2], up = 8 * u[1] * u[1];
        double place[3] = {14 + away * cos(angle), up, 22 + away * sin(angle)};
        double speed[3] = {3 * cos(angle), 6 - 12 * u[3], 3 * sin(angle)};
        for (int c = 0; c < 3; c++) {
            p[3 * k + c] = (float)place[c];
            v[3 * k + c] = (float)speed[c];
        }
        r[k] = (float)(0.003 + 0.02 * pow(u[4], 6));
    }
    return UND_OK;
}

/* Draws the drops alone, over the picture they were drawn in before. */
static void draw_drops(void *context)
{
    drawing *d = context;
    if (d->status == UND_OK)
        d->status = und_drops(d->render, &d->frame, &d->image, d->err);
}

static void measure(const bench_context *context, drawing *d, bool spray)
{
    bench_result result = {.name = spray ? "render.spray" : "render.frame",
                           .cells = spray ? DROPS : (double)d->image.width * d->image.height};
    snprintf(result.size, sizeof result.size, "%dx%d", d->image.width, d->image.height);
    if (spray)
        draw(d);
    bench_measure(context, spray ? draw_drops : draw, d, 7, &result);
    if (d->status == UND_OK)
        context->report(context->user, &result);
}

static und_status draw_bay(const bench_context *context, bool spray, und_error *err)
{
    und_picture_def def = und_picture_def_default();
    drawing d = {.frame =
                     und_frame_empty(1, 0, (und_grid){.n = {N, 1, N}, .dx = SIZE / N, .origin = {0, 0, 0}}),
                 .err = err};
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
    if (d.status == UND_OK && spray)
        d.status = add_spray(&d.frame, err);
    d.render = d.status == UND_OK ? und_render_create(&def, err) : NULL;
    if (!d.render)
        d.status = err->status;
    if (d.status == UND_OK)
        d.status = und_image_create(&d.image, def.width, def.height, err);
    if (d.status == UND_OK)
        measure(context, &d, spray);
    und_image_destroy(&d.image);
    und_render_destroy(d.render);
    und_frame_clear(&d.frame);
    und_waves_destroy(waves);
    return d.status;
}

und_status bench_render_frame(const bench_context *context, und_error *err)
{
    return draw_bay(context, false, err);
}

und_status bench_render_spray(const bench_context *context, und_error *err)
{
    return draw_bay(context, true, err);
}
