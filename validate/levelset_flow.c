/* The flow of the particle level set: rest, containers that move, what the projection leaves, volume. */
#include "validate/levelset.h"

#include "geom/motion.h"
#include "liquid/levelset.h"

#include <math.h>
#include <stdio.h>

#define G 9.81

/* Half a round bowl of liquid under a gravity that is not along any axis. */
und_status case_levelset_rest(case_sink *sink, und_error *err)
{
    enum { N = 40 };
    static const char *const source = "hydrostatics: nothing moves, p = rho g depth";
    und_levelset_def def = case_levelset_tank(sink, N, N, N, 1.0 / N);
    const double down[3] = {0.48, -0.8, 0.36}, radius = 0.45;
    und_shape *bowl =
        und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = {0.5, 0.5, 0.5}, .radius = radius}, err);
    und_shape *pool = und_shape_create(
        &(und_shape){.kind = UND_PLANE, .center = {0.5, 0.5, 0.5}, .half = {-down[0], -down[1], -down[2]}},
        err);
    und_obstacle_def solid = {.shape = bowl, .inside_out = true};
    und_fill_def fill = {.shape = pool};
    for (int a = 0; a < 3; a++)
        def.gravity[a] = G * down[a];
    def.obstacles = &solid;
    def.fills = &fill;
    def.obstacle_count = def.fill_count = 1;
    def.tolerance = 1e-6;
    und_levelset *levelset = bowl && pool ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 1, 1.0 / 24);
        und_ledger ledger = und_levelset_ledger(levelset);
        double wrong = 0;
        for (int i = 0; i < N; i++) { /* down the middle */
            double depth = 0, p = und_levelset_pressure(levelset, N / 2, i, N / 2);
            for (int a = 0; a < 3; a++)
                depth += down[a] * (((a == 1 ? i : N / 2) + 0.5) / N - 0.5);
            double wall = radius - hypot(hypot(0.5 / N, (i + 0.5) / N - 0.5), 0.5 / N);
            if (depth > 0.5 / N && wall > 0)
                wrong = fmax(wrong, fabs(p / (1000 * G * depth) - 1));
        }
        case_report(sink,
                    (case_result){"fastest after 1 s, of sqrt(g R)",
                                  case_levelset_fastest(levelset, &def) / sqrt(G * radius), 0, 2e-3, source});
        case_report(sink, (case_result){"pressure, largest relative error", wrong, 0, 0.02, source});
        case_report(sink,
                    (case_result){"volume, of what it was", ledger.measured / ledger.start, 1, 1e-3, source});
        case_report(sink, (case_result){"volume at the start, of half a ball's",
                                        ledger.start / (2 * M_PI / 3 * radius * radius * radius), 1, 0.005,
                                        source});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(bowl);
    und_shape_destroy(pool);
    return levelset ? UND_OK : err->status;
}

/* A round container, full, is moved: what fills it moves as it does, all of it at the same velocity; turned
 * about its own middle, it leaves what slips along it at rest. */
static und_status move_container(case_sink *sink, const und_key *keys, int count, const char *what,
                                 und_error *err)
{
    enum { N = 64 };
    static const char *const source = "potential flow in a moving circle: uniform";
    und_levelset_def def = case_levelset_tank(sink, N, N, 1, 1.0 / N);
    und_shape *round =
        und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = {0, 0, 0}, .radius = 0.25}, err);
    und_shape *all =
        und_shape_create(&(und_shape){.kind = UND_BOX, .center = {0.5, 0.5, 0}, .half = {1, 1, 1}}, err);
    und_motion *motion = und_motion_create(keys, count, UND_EASE_SPLINE, err);
    und_obstacle_def solid = {.shape = round, .motion = motion, .inside_out = true};
    und_fill_def fill = {.shape = all};
    def.obstacles = &solid;
    def.fills = &fill;
    def.obstacle_count = def.fill_count = 1;
    und_levelset *levelset = round && all && motion ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        const double until = 0.5;
        char text[80];
        case_levelset_run(levelset, until, 1.0 / 48);
        double before = until - und_levelset_last(levelset).dt, wrong = 0;
        und_pose now = und_motion_at(motion, until), then = und_motion_at(motion, before);
        double v[2] = {(now.position.x - then.position.x) / (until - before),
                       (now.position.y - then.position.y) / (until - before)};
        for (int y = 1; y < N; y++)
            for (int x = 1; x < N; x++)
                for (int a = 0; a < 2; a++) {
                    double px = (x + (a == 0 ? 0 : 0.5)) / N - now.position.x,
                           py = (y + (a == 1 ? 0 : 0.5)) / N - now.position.y;
                    if (hypot(px, py) < 0.25)
                        wrong = fmax(wrong, fabs(und_levelset_velocity(levelset, a, x, y, 0) - v[a]));
                }
        und_ledger ledger = und_levelset_ledger(levelset);
        snprintf(text, sizeof text, "largest error of the velocity, m/s, %s", what);
        case_report(sink, (case_result){text, wrong, 0, 0.03, source});
        snprintf(text, sizeof text, "volume, of what it was, %s", what);
        case_report(sink, (case_result){text, ledger.measured / ledger.start, 1, 0.005, source});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(round);
    und_shape_destroy(all);
    und_motion_destroy(motion);
    return levelset ? UND_OK : err->status;
}

und_status case_levelset_turning(case_sink *sink, und_error *err)
{
    const double z = 0.5 / 64;
    const und_key moved[3] = {{.time = 0, .position = {0.35, 0.4, z}},
                              {.time = 0.5, .position = {0.5, 0.5, z}},
                              {.time = 1, .position = {0.65, 0.6, z}}};
    const und_key turned[3] = {{.time = 0, .position = {0.5, 0.5, z}},
                               {.time = 0.5, .position = {0.5, 0.5, z}, .rotation = {0, 0, 120}},
                               {.time = 1, .position = {0.5, 0.5, z}, .rotation = {0, 0, 240}}};
    und_status status = move_container(sink, moved, 3, "moved", err);
    return status == UND_OK ? move_container(sink, turned, 3, "turned", err) : status;
}

/* A dam of n cells a side, over a time. */
static und_levelset *break_dam(case_sink *sink, und_levelset_def *def, int n, double until, und_error *err)
{
    und_shape *dam = case_levelset_box(0.4, 0.6, 1, err);
    und_fill_def fill = {.shape = dam};
    for (int a = 0; a < 3; a++)
        def->n[a] = n;
    def->dx = 1.0 / n;
    def->threads = case_threads(sink);
    def->fills = &fill;
    def->fill_count = 1;
    und_levelset *levelset = dam ? und_levelset_create(def, err) : NULL;
    if (levelset)
        case_levelset_run(levelset, until, 1.0 / 24);
    und_shape_destroy(dam);
    return levelset;
}

/* What flows out of a cell of liquid that no surface or wall is in beside what was to, 1/s: from the
 * velocities alone. */
static double divergence(const und_levelset *levelset, const und_levelset_def *def)
{
    double most = 0;
    for (int z = 0; z < def->n[2]; z++)
        for (int y = 0; y < def->n[1]; y++)
            for (int x = 0; x < def->n[0]; x++) {
                double out = 0;
                for (int a = 0; a < 3; a++) {
                    int high[3] = {x + (a == 0), y + (a == 1), z + (a == 2)};
                    out += und_levelset_velocity(levelset, a, high[0], high[1], high[2]) -
                           und_levelset_velocity(levelset, a, x, y, z);
                }
                if (und_levelset_distance(levelset, x, y, z) < -3 * def->dx)
                    most = fmax(most, fabs(out / def->dx - und_levelset_asked(levelset, x, y, z)));
            }
    return most;
}

und_status case_levelset_divergence(case_sink *sink, und_error *err)
{
    static const char *const source = "the projection's tolerance";
    for (int i = 0; i < 2; i++) {
        const double tolerance = i == 0 ? 1e-4 : 1e-6;
        und_levelset_def def = und_levelset_def_default();
        def.tolerance = tolerance;
        und_levelset *levelset = break_dam(sink, &def, 48, 0.25, err);
        if (!levelset)
            return err->status;
        char what[64];
        und_levelset_step(levelset, 1e-3); /* in which no bubble goes: what is deep was liquid */
        double speed = case_levelset_fastest(levelset, &def);
        snprintf(what, sizeof what, "divergence dx / fastest, tolerance %g", tolerance);
        case_report(sink,
                    (case_result){what, divergence(levelset, &def) * def.dx / speed, 0, tolerance, source});
        case_report(sink, (case_result){"the residual that is left", und_levelset_last(levelset).residual, 0,
                                        tolerance, source});
        und_levelset_destroy(levelset);
    }
    return UND_OK;
}

/* Cells that hold their volume lose none, whatever their size, and keep_volume has nothing to add. */
und_status case_levelset_volume(case_sink *sink, und_error *err)
{
    for (int keep = 0; keep < 2; keep++) {
        und_levelset_def def = und_levelset_def_default();
        def.keep_volume = keep;
        und_levelset *levelset = break_dam(sink, &def, 32, 2, err);
        if (!levelset)
            return err->status;
        const und_ledger ledger = und_levelset_ledger(levelset);
        case_report(
            sink, (case_result){keep ? "drift after 2 s, 32 cells, keep_volume" : "drift after 2 s, 32 cells",
                                ledger.correction / ledger.start, 0, 1e-9, "volume is kept"});
        und_levelset_destroy(levelset);
    }
    return UND_OK;
}
