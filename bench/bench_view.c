/* view.sea: how fast water runs that a person plays with, a sea of 1024 x 1024 in the viewer's thread with 60
 * steps a second of its time: by itself, and while pictures of it are drawn offscreen as fast as that goes;
 * then the same by the clock, which it should keep up with. */
#include "base/stage.h"
#include "bench/bench.h"
#include "view/live.h"
#include "view/painter.h"
#include "view/screen.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

enum { CELLS = 1024, WIDE = 1280, HIGH = 720 };

static const double span = 3; /* s of the wall's clock, each */

static const char *const sea =
    "scene { fps = 60, frames = 1000000 }\n"
    "liquid.waves { size = {100, 100}, cells = 1024,\n"
    "  ground = function(x, z) return -6 + 0.07 * x end,\n"
    "  surface = function(x, z) return 0.4 * math.sin(0.5 * x + 0.2 * math.sin(0.3 * z)) end }\n"
    "camera { eye = {110, 25, 130}, look = {50, -2, 45} }\n";

/* What draws; no screen: this machine has no OpenGL, and frames are only taken. */
typedef struct easel {
    und_screen *screen;
    und_painter *painter;
    und_lens lens;
} easel;

static easel set_up(const und_scene_view *scene)
{
    und_error err;
    easel e = {0};
    e.screen = und_screen_create(
        &(und_screen_def){.title = "bench", .width = WIDE, .height = HIGH, .offscreen = true}, &err);
    e.painter = e.screen ? und_sea_create(&scene->render, &err) : NULL;
    und_camera camera = {.view_angle = M_PI / 4};
    const double eye[3] = {110, 25, 130}, look[3] = {50, -2, 45};
    const int viewport[4] = {0, 0, WIDE, HIGH};
    und_camera_look(&camera, eye, look, M_PI / 4);
    e.lens = und_camera_lens(&camera, viewport, HIGH, 150);
    return e;
}

static void take_down(easel *e)
{
    if (e->painter)
        e->painter->class->destroy(e->painter);
    if (e->screen)
        und_screen_destroy(e->screen);
}

/* One picture of the newest frame, finished; false: nothing new was there. */
static bool draw(easel *e, und_live *live)
{
    und_error err;
    const und_frame *frame = und_live_take(live);
    if (!frame)
        return false;
    if (!e->painter || e->painter->class->take(e->painter, frame, &err) != UND_OK)
        return true;
    und_screen_bind(e->screen);
    e->painter->class->draw(e->painter, &e->lens, und_clock());
    und_screen_show(e->screen);
    return true;
}

static void rest(double seconds)
{
    struct timespec time = {.tv_nsec = (long)(1e9 * seconds)};
    nanosleep(&time, NULL);
}

typedef struct way {
    const char *name;
    double speed; /* of the liquid; 0: as fast as it can */
    bool drawn;
} way;

static bench_result measure(const bench_context *context, const way *w, und_live *live, easel *e)
{
    und_live_state before, after;
    int pictures = 0;
    double drawing = 0;
    und_live_speed(live, w->speed);
    und_live_play(live, true);
    double start = und_clock();
    while (und_clock() - start < 0.5) /* until it is under way */
        if (!w->drawn || !draw(e, live))
            rest(0.001);
    und_live_state_now(live, &before);
    start = und_clock();
    while (und_clock() - start < span) {
        double from = und_clock();
        bool drew = w->drawn && draw(e, live);
        pictures += drew;
        drawing += drew ? und_clock() - from : 0;
        if (!drew)
            rest(0.001);
    }
    und_live_state_now(live, &after);
    double passed = und_clock() - start, steps = (after.time - before.time) / after.time_step;
    und_live_play(live, false);
    und_live_settle(live);
    bench_result r = {.name = w->name,
                      .cells = (double)CELLS * CELLS,
                      .threads = context->threads,
                      .seconds = passed / fmax(steps, 1e-9)};
    snprintf(r.size, sizeof r.size, "%dx%d", CELLS, CELLS);
    r.extra[r.extra_count++] = (bench_extra){"best_seconds", r.seconds}; /* it is run once */
    r.extra[r.extra_count++] = (bench_extra){"steps_a_second", steps / passed};
    if (w->drawn) {
        r.extra[r.extra_count++] = (bench_extra){"pictures_a_second", pictures / passed};
        r.extra[r.extra_count++] = (bench_extra){"picture_ms", pictures ? 1e3 * drawing / pictures : 0};
        r.extra[r.extra_count++] = (bench_extra){"drawn", e->painter != NULL};
    }
    return r;
}

und_status bench_view_sea(const bench_context *context, und_error *err)
{
    static const way ways[] = {{"view.alone", 0, false}, {"view.drawn", 0, true}, {"view.clock", 1, true}};
    und_live *live = und_live_from_text(sea, "sea.lua", context->threads, err);
    if (!live)
        return err->status;
    easel e = set_up(und_live_scene(live));
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double sweep = INFINITY;
        for (int k = 0; k < 5; k++)
            sweep = fmin(sweep, bench_sweep_once(context->sweep));
        bench_result result = measure(context, &ways[i], live, &e);
        result.sweep_seconds = sweep;
        result.extra[result.extra_count++] =
            (bench_extra){"best_sweeps", result.seconds / (sweep * result.cells)};
        context->report(context->user, &result);
    }
    take_down(&e);
    und_live_destroy(live);
    return UND_OK;
}
