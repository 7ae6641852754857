/* What comes in and goes out of the particle level set, drops that meet, and the same shot on two grids. */
#include "validate/levelset.h"

#include <math.h>
#include <stdio.h>

#define G 9.81

static und_shape *box(double x0, double y0, double z0, double x1, double y1, double z1, und_error *err)
{
    return und_shape_create(&(und_shape){.kind = UND_BOX,
                                         .center = {(x0 + x1) / 2, (y0 + y1) / 2, (z0 + z1) / 2},
                                         .half = {(x1 - x0) / 2, (y1 - y0) / 2, (z1 - z0) / 2}},
                            err);
}

/* The part of a cell below the surface, about. */
static double part(const und_levelset *levelset, const und_levelset_def *def, int x, int y, int z)
{
    return fmax(0, fmin(1, 0.5 - und_levelset_distance(levelset, x, y, z) / def->dx));
}

/* A tank of 1 m2 is filled through a side by 0.2 x 0.1 m for 5 s. */
und_status case_levelset_filling(case_sink *sink, und_error *err)
{
    static const char *const source = "A U t";
    const double dx = 0.02, poured = 0.2 * 0.1 * 5;
    und_levelset_def def = case_levelset_tank(sink, 50, 25, 50, dx);
    und_shape *spout = box(-1, 0.06, 0.4, 2 * dx, 0.16, 0.6, err);
    und_element_def element = {.role = UND_ELEMENT_SOURCE, .shape = spout, .end = 5};
    element.field.value[0].number = 1;
    def.elements = &element;
    def.element_count = 1;
    def.has_level = true;
    def.level.number = 0.2;
    und_levelset *levelset = spout ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 5, 1.0 / 24);
        und_ledger ledger = und_levelset_ledger(levelset);
        case_report(sink, (case_result){"what the ledger counts in 5 s, m3", ledger.sources, poured,
                                        0.001 * poured, source});
        case_report(sink, (case_result){"what the liquid gained, m3", ledger.measured - ledger.start, poured,
                                        0.02 * poured, source});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(spout);
    return levelset ? UND_OK : err->status;
}

/* How far the middle of a jet is off its parabola, on average, cells; and how much its speed, relatively,
 * where it has fallen furthest. */
static void look_at_jet(const und_levelset *levelset, const und_levelset_def *def, double x0, double y0,
                        double speed, double *off, double *wrong)
{
    int columns = 0;
    *off = *wrong = 0;
    for (int x = (int)(x0 / def->dx); x < def->n[0]; x++) {
        double exact = y0 - G * pow(((x + 0.5) * def->dx - x0) / speed, 2) / 2, sum = 0, middle = 0;
        for (int y = 0; y < def->n[1]; y++) {
            double in = part(levelset, def, x, y, 0);
            sum += in;
            middle += in * (y + 0.5) * def->dx;
        }
        if (exact < 0.15 || sum == 0)
            break;
        middle /= sum;
        *off += fabs(middle - exact) / def->dx;
        columns++;
        int y = (int)(middle / def->dx);
        double u = und_levelset_velocity(levelset, 0, x, y, 0),
               v = und_levelset_velocity(levelset, 1, x, y, 0);
        *wrong = hypot(u, v) / sqrt(speed * speed + 2 * G * (y0 - y * def->dx)) - 1;
    }
    *off /= columns;
}

und_status case_levelset_jet(case_sink *sink, und_error *err)
{
    static const char *const source = "y0 - g x^2 / (2 U^2), sqrt(U^2 + 2 g drop)";
    static const double speeds[2] = {3, 1.5};
    for (int i = 0; i < 2; i++) {
        const double dx = 1.0 / 80, y0 = 0.75, x0 = 2 * dx;
        und_levelset_def def = case_levelset_tank(sink, 96, 72, 1, dx);
        und_shape *spout = box(-1, y0 - 3 * dx, -1, x0, y0 + 3 * dx, 1, err);
        und_element_def element = {.role = UND_ELEMENT_SOURCE, .shape = spout, .end = INFINITY};
        element.field.value[0].number = speeds[i];
        def.elements = &element;
        def.element_count = 1;
        def.open[1] = def.open[2] = true;
        und_levelset *levelset = spout ? und_levelset_create(&def, err) : NULL;
        if (levelset) {
            double off, wrong;
            char what[64];
            case_levelset_run(levelset, 1.2, 1.0 / 24);
            look_at_jet(levelset, &def, x0, y0, speeds[i], &off, &wrong);
            snprintf(what, sizeof what, "off the parabola, cells, %g m/s", speeds[i]);
            case_report(sink, (case_result){what, off, 0, 1, source});
            snprintf(what, sizeof what, "speed far down, relative error, %g m/s", speeds[i]);
            case_report(sink, (case_result){what, wrong, 0, 0.02, source});
        }
        und_levelset_destroy(levelset);
        und_shape_destroy(spout);
        if (!levelset)
            return err->status;
    }
    return UND_OK;
}

und_levelset *case_levelset_drops(const case_sink *sink, und_surface_rule rule, bool free_air, uint64_t seed,
                                  und_levelset_def *def, und_error *err)
{
    const double dx = 0.01, middle = CASE_DROPS_Y / 2 * dx;
    und_shape *drops[2];
    und_fill_def fills[2] = {0};
    for (int i = 0; i < 2; i++) {
        double x = (CASE_DROPS_X / 2 + (i ? 1 : -1) * (CASE_DROP_R + 2)) * dx;
        drops[i] = und_shape_create(
            &(und_shape){.kind = UND_SPHERE, .center = {x, middle, middle}, .radius = CASE_DROP_R * dx}, err);
        fills[i].shape = drops[i];
        fills[i].velocity[0].number = i ? -CASE_DROP_SPEED : CASE_DROP_SPEED;
    }
    *def = case_levelset_tank(sink, CASE_DROPS_X, CASE_DROPS_Y, CASE_DROPS_Y, dx);
    def->fills = fills;
    def->fill_count = 2;
    def->gravity[1] = 0;
    def->surface_rule = rule;
    def->free_air = free_air;
    def->seed = seed;
    und_levelset *levelset = drops[0] && drops[1] ? und_levelset_create(def, err) : NULL;
    def->fills = NULL;
    def->fill_count = 0;
    for (int i = 0; i < 2; i++)
        und_shape_destroy(drops[i]);
    return levelset;
}

/* The drops' momentum together, of what each had, and cells with air in their middle. */
static double look_at_drops(const und_levelset *levelset, const und_levelset_def *def, double *air)
{
    enum { R = CASE_DROP_R, NX = CASE_DROPS_X, NY = CASE_DROPS_Y };
    double momentum = 0, liquid = 0;
    for (int z = 0; z < NY; z++)
        for (int y = 0; y < NY; y++)
            for (int x = 0; x < NX; x++) {
                double in = part(levelset, def, x, y, z);
                liquid += in;
                momentum += in *
                            (und_levelset_velocity(levelset, 0, x, y, z) +
                             und_levelset_velocity(levelset, 0, x + 1, y, z)) /
                            2;
                double r = hypot(hypot(x + 0.5 - NX / 2.0, y + 0.5 - NY / 2.0), z + 0.5 - NY / 2.0);
                *air += r < R / 2.0 && in < 1;
            }
    return 2 * momentum / (liquid * CASE_DROP_SPEED);
}

/* Two drops run into each other, with plain extrapolation: air that keeps its volume is in
 * validate/direct_drops.c.  Where they touch first is by the particles' chance, and what is left of their
 * momentum differs from seed to seed: what all of them leave is what is not kept. */
und_status case_levelset_merge(case_sink *sink, und_error *err)
{
    enum { SEEDS = 8 };
    static const char *const source = "momentum is kept";
    double mean = 0, square = 0, air = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        und_levelset_def def;
        und_levelset *levelset =
            case_levelset_drops(sink, case_of_particles(sink) ? UND_SURFACE_PARTICLES : UND_SURFACE_VOLUME,
                                false, (uint64_t)seed, &def, err);
        if (!levelset)
            return err->status;
        case_levelset_run(levelset, 0.2, 1.0 / 48);
        const double momentum = look_at_drops(levelset, &def, &air);
        mean += momentum / SEEDS;
        square += momentum * momentum / SEEDS;
        und_levelset_destroy(levelset);
    }
    case_report(sink, (case_result){"momentum, of what each had, mean of 8 seeds", mean, 0, 0.002, source});
    case_report(sink, (case_result){"the same, rms", sqrt(square), 0, 0.004, source});
    case_report(sink, (case_result){"cells with air in the middle", air, 0, 0, "the drops are one"});
    return UND_OK;
}

/* Of the benchmark's dam with `surface = "particles"`, what following its surface loses in 2 s. */
static und_status drift(case_sink *sink, int n, bool keep, double limit, und_error *err)
{
    char text[64];
    und_levelset_def def = case_levelset_tank(sink, n, n, n, 1.0 / n);
    und_shape *dam = case_levelset_box(0.4, 0.6, 1, err);
    const und_fill_def fill = {.shape = dam};
    def.surface_rule = UND_SURFACE_PARTICLES;
    def.keep_volume = keep;
    def.fills = &fill;
    def.fill_count = 1;
    und_levelset *levelset = dam ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 2, 1.0 / 24);
        const und_ledger ledger = und_levelset_ledger(levelset);
        snprintf(text, sizeof text, "%d cells%s: share gained in 2 s", n, keep ? ", keep_volume" : "");
        case_report(sink, (case_result){text, ledger.correction / ledger.start, 0, limit, "volume is kept"});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(dam);
    return levelset ? UND_OK : err->status;
}

und_status case_levelset_drift(case_sink *sink, und_error *err)
{
    und_status status = drift(sink, 64, false, 0.025, err);
    return status == UND_OK ? drift(sink, 32, true, 0.002, err) : status;
}

enum { SHOTS = 24 };
typedef struct shot {
    double front[SHOTS], middle[SHOTS][2]; /* m, every 1/24 s */
} shot;

/* The dam of the benchmark. */
static und_status shoot(case_sink *sink, int n, shot *s, und_error *err)
{
    und_levelset_def def = case_levelset_tank(sink, n, n, n, 1.0 / n);
    und_shape *dam = case_levelset_box(0.4, 0.6, 1, err);
    und_fill_def fill = {.shape = dam};
    def.fills = &fill;
    def.fill_count = 1;
    und_levelset *levelset = dam ? und_levelset_create(&def, err) : NULL;
    for (int i = 0; levelset && i < SHOTS; i++) {
        double sum = 0, middle[2] = {0};
        und_levelset_step(levelset, 1.0 / 24);
        s->front[i] = 0;
        for (int z = 0; z < n; z++) /* fingers of it are by chance */
            s->front[i] += case_levelset_surface(levelset, &def, 0, 0, 0, z) / n;
        for (int z = 0; z < n; z++)
            for (int y = 0; y < n; y++)
                for (int x = 0; x < n; x++) {
                    double in = part(levelset, &def, x, y, z);
                    sum += in;
                    middle[0] += in * (x + 0.5) / n;
                    middle[1] += in * (y + 0.5) / n;
                }
        for (int a = 0; a < 2; a++)
            s->middle[i][a] = middle[a] / sum;
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(dam);
    return levelset ? UND_OK : err->status;
}

und_status case_levelset_grids(case_sink *sink, und_error *err)
{
    enum { N = 32 };
    static const char *const source = "the same motion on any grid";
    shot coarse, fine;
    if (shoot(sink, N, &coarse, err) != UND_OK || shoot(sink, 2 * N, &fine, err) != UND_OK)
        return err->status;
    double front = 0, middle = 0;
    for (int i = 0; i < SHOTS; i++) {
        if (fine.front[i] < 0.95)
            front = fmax(front, fabs(coarse.front[i] - fine.front[i]) * N);
        for (int a = 0; a < 2; a++)
            middle = fmax(middle, fabs(coarse.middle[i][a] - fine.middle[i][a]) * N);
    }
    case_report(sink, (case_result){"front, 32 and 64 cells, coarse cells apart", front, 0, 1, source});
    case_report(sink, (case_result){"middle over 1 s, coarse cells apart", middle, 0, 1, source});
    return UND_OK;
}
