/* waves.step: the whole step of the height field, all cells wet. */
#include "bench/bench.h"

#include "base/status.h"
#include "geom/value.h"

#include <math.h>
#include <stdio.h>
#include <undine/waves.h>

static double bump(const void *context, double x, double y, double z, double t)
{
    (void)context;
    (void)y;
    (void)t;
    return 1 + 0.1 * sin(0.5 * x) * cos(0.4 * z);
}

static void step(void *waves)
{
    und_waves_step(waves, 1.0 / 96);
}

static und_status measure(const bench_context *context, int n, und_error *err)
{
    und_waves_def def = und_waves_def_default();
    bench_result result = {.name = "waves.step", .cells = (double)n * n};
    def.height_field.nx = def.height_field.nz = n;
    def.height_field.dx = 0.05;
    def.height_field.ground = und_value_constant(0);
    def.height_field.surface = (und_value){.fn = bump};
    def.height_field.threads = context->threads;
    und_waves *waves = und_waves_create(&def, err);
    if (!waves)
        return err->status;
    snprintf(result.size, sizeof result.size, "%dx%d", n, n);
    bench_measure(context, step, waves, n > 2048 ? 9 : 25, &result);
    und_waves_destroy(waves);
    context->report(context->user, &result);
    return UND_OK;
}

und_status bench_waves_step(const bench_context *context, und_error *err)
{
    und_status status = UND_OK;
    for (int n = 1024; n <= 4096 && status == UND_OK; n *= 2)
        status = measure(context, n, err);
    return status;
}
