/* spray.step: a million drops in flight over a 512x512 floor, parabolas and with drag; spray.remove: taking
 * out those of them that landed, one in 64. */
#include "bench/bench.h"

#include "base/random.h"
#include "base/status.h"
#include "spray/spray.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DROPS = 1000000, SIDE = 512, LANDED = 64 };

typedef struct flight {
    und_spray *spray;
    und_spray_floor floor;
} flight;

/* A millisecond: all stay in the air as long as it is measured. */
static void step(void *context)
{
    flight *f = context;
    und_spray_step(f->spray, 0, 1e-3, &f->floor);
}

static void take_out(void *context)
{
    flight *f = context;
    und_spray *spray = f->spray;
    spray->count = DROPS;
    spray->landed_count = DROPS / LANDED;
    for (int i = 0; i < spray->landed_count; i++)
        spray->landed[i] = LANDED * i + i % LANDED;
    und_spray_remove(spray);
}

static void throw_all(und_spray *spray)
{
    for (int i = 0; i < DROPS; i++) {
        double r[4], place[3] = {0, 1, 0}, speed[3] = {0, 2.5, 0};
        for (int k = 0; k < 4; k++)
            r[k] = und_random(3, (uint64_t)k, (uint64_t)i);
        for (int a = 0; a < 3; a += 2) {
            place[a] = 16 * r[a];
            speed[a] = 2 * r[a + 1] - 1;
        }
        und_spray_add(spray, place, speed, (float)(0.004 + 0.008 * r[1]));
    }
}

static void measure(const bench_context *context, const char *name, const char *what, bench_kernel *kernel,
                    flight *f)
{
    bench_result result = {.name = name, .cells = DROPS};
    snprintf(result.size, sizeof result.size, "%s", what);
    bench_measure(context, kernel, f, 25, &result);
    context->report(context->user, &result);
}

und_status bench_spray_step(const bench_context *context, und_error *err)
{
    und_status status = UND_OK;
    float *height = und_alloc(SIDE * SIDE, sizeof *height, "floor", err);
    if (!height)
        return err->status;
    for (int drag = 0; drag < 2 && status == UND_OK; drag++) {
        und_spray_def def = {.most = DROPS, .drag = drag};
        flight f = {.spray = und_spray_create(&def, 9.81, 1, context->threads, err)};
        if (!f.spray) {
            status = err->status;
            break;
        }
        f.floor = (und_spray_floor){
            .nx = SIDE, .nz = SIDE, .stride = SIDE, .dx = 16.0 / SIDE, .height = height, .outside = -1};
        throw_all(f.spray);
        measure(context, "spray.step", drag ? "1M drag" : "1M", step, &f);
        if (!drag)
            measure(context, "spray.remove", "1M", take_out, &f);
        und_spray_destroy(f.spray);
    }
    free(height);
    return status;
}
