/* Free surfaces of the particle level set: a fall, sloshing, a dam that breaks, a drop that is drawn out. */
#include "validate/dam.h"
#include "validate/levelset.h"

#include <math.h>
#include <stdio.h>

#define G 9.81

/* The middle of the liquid, m, and how far its surface is from it, least and most. */
typedef struct blob {
    double middle[3], volume;
} blob;

static blob look(const und_levelset *levelset, const und_levelset_def *def)
{
    blob b = {0};
    for (int z = 0; z < def->n[2]; z++)
        for (int y = 0; y < def->n[1]; y++)
            for (int x = 0; x < def->n[0]; x++) {
                double in = 0.5 - und_levelset_distance(levelset, x, y, z) / def->dx;
                in = fmax(0, fmin(1, in));
                b.volume += in;
                b.middle[0] += in * (x + 0.5) * def->dx;
                b.middle[1] += in * (y + 0.5) * def->dx;
                b.middle[2] += in * (z + 0.5) * def->dx;
            }
    for (int a = 0; a < 3; a++)
        b.middle[a] /= b.volume;
    return b;
}

/* A ball of liquid that falls for 0.4 s and drifts. */
und_status case_levelset_fall(case_sink *sink, und_error *err)
{
    static const char *const source = "y = y0 - g t^2 / 2";
    const double dx = 0.01, until = 0.4, sideways = 0.3, radius = 0.1;
    und_levelset_def def = case_levelset_tank(sink, 40, 112, 26, dx);
    und_shape *ball = und_shape_create(
        &(und_shape){.kind = UND_SPHERE, .center = {0.13, 1.0, 0.13}, .radius = radius}, err);
    und_fill_def fill = {.shape = ball};
    fill.velocity[0].number = sideways;
    def.fills = &fill;
    def.fill_count = 1;
    def.max_step = 0.005;
    und_levelset *levelset = ball ? und_levelset_create(&def, err) : NULL;
    if (!levelset) {
        und_shape_destroy(ball);
        return err->status;
    }
    case_levelset_run(levelset, until, 1.0 / 24);
    blob b = look(levelset, &def);
    double uneven = 0, least = INFINITY, most = 0;
    for (int z = 0; z < def.n[2]; z++)
        for (int y = 0; y < def.n[1]; y++)
            for (int x = 1; x < def.n[0]; x++) {
                double phi = und_levelset_distance(levelset, x, y, z);
                if (phi < 0 && und_levelset_distance(levelset, x - 1, y, z) < 0)
                    uneven = fmax(uneven, fabs(und_levelset_velocity(levelset, 0, x, y, z) - sideways));
                if (fabs(phi) < dx) {
                    double r = hypot(hypot((x + 0.5) * dx - b.middle[0], (y + 0.5) * dx - b.middle[1]),
                                     (z + 0.5) * dx - b.middle[2]) -
                               phi;
                    least = fmin(least, r);
                    most = fmax(most, r);
                }
            }
    und_ledger ledger = und_levelset_ledger(levelset);
    case_report(sink, (case_result){"height of the middle, m", b.middle[1], 1 - G * until * until / 2,
                                    G * until * def.max_step / 2 + 0.1 * dx, source});
    case_report(sink,
                (case_result){"x of the middle, m", b.middle[0], 0.13 + sideways * until, 0.1 * dx, source});
    case_report(sink, (case_result){"unevenness of u, m/s", uneven, 0, 1e-5, source});
    case_report(sink, (case_result){"largest less least radius, cells", (most - least) / dx, 0, 1, source});
    case_report(sink,
                (case_result){"volume, of what it was", ledger.measured / ledger.start, 1, 0.01, source});
    und_levelset_destroy(levelset);
    und_shape_destroy(ball);
    return UND_OK;
}

und_status case_levelset_dam(case_sink *sink, und_error *err)
{
    enum { PER_WIDTH = 16 };
    const double a = CASE_DAM_WIDTH, dx = a / PER_WIDTH;
    und_levelset_def def = case_levelset_tank(sink, 8 * PER_WIDTH, 3 * PER_WIDTH, 1, dx);
    und_shape *column = case_levelset_box(a, 2 * a, dx, err);
    und_fill_def fill = {.shape = column};
    def.fills = &fill;
    def.fill_count = 1;
    und_levelset *levelset = column ? und_levelset_create(&def, err) : NULL;
    case_dam d;
    for (int i = 0; levelset && i < CASE_DAM_SAMPLES; i++) {
        d.time[i] = und_levelset_time(levelset);
        d.front[i] = case_levelset_surface(levelset, &def, 0, 0, 0, 0) / a;
        d.height[i] = case_levelset_surface(levelset, &def, 1, 0, 0, 0) / (2 * a);
        und_levelset_step(levelset, CASE_DAM_END / CASE_DAM_SAMPLES);
    }
    if (levelset)
        case_report_dam(sink, &d);
    und_levelset_destroy(levelset);
    und_shape_destroy(column);
    return levelset ? UND_OK : err->status;
}

typedef struct tilt {
    double depth, amplitude, k;
} tilt;

static double tilted(const void *context, double x, double y, double z, double t)
{
    const tilt *m = context;
    (void)y, (void)z, (void)t;
    return m->depth + m->amplitude * cos(m->k * x);
}

/* How much of the mode there is in the surface, m. */
static double mode_of(const und_levelset *levelset, const und_levelset_def *def, int mode)
{
    double sum = 0;
    for (int x = 0; x < def->n[0]; x++)
        sum += case_levelset_surface(levelset, def, 1, x, 0, 0) * cos(M_PI * mode * (x + 0.5) / def->n[0]);
    return 2 * sum / def->n[0];
}

static und_status slosh(case_sink *sink, double depth, int mode, und_error *err)
{
    enum { N = 64, PER_PERIOD = 100, PERIODS = 8 };
    const char *const source = "w^2 = g k tanh(k h)";
    double k = M_PI * mode, omega = sqrt(G * k * tanh(k * depth)), guess = 2 * M_PI / omega;
    und_levelset_def def = case_levelset_tank(sink, N, (int)((depth + 0.2) * N), 1, 1.0 / N);
    tilt start = {depth, 0.005, k};
    def.has_level = true;
    def.level = (und_value){.fn = tilted, .context = &start};
    und_levelset *levelset = und_levelset_create(&def, err);
    if (!levelset)
        return err->status;
    double first = NAN, last = NAN, before = mode_of(levelset, &def, mode), begin = before, most = 0;
    int crossings = 0;
    for (int i = 1; i <= (PERIODS + 2) * PER_PERIOD && crossings <= PERIODS; i++) {
        und_levelset_step(levelset, guess / PER_PERIOD);
        double now = mode_of(levelset, &def, mode), t = und_levelset_time(levelset);
        if (before < 0 && now >= 0) {
            last = t - guess / PER_PERIOD * now / (now - before);
            first = crossings++ == 0 ? last : first;
        }
        if (crossings == PERIODS)
            most = fmax(most, now);
        before = now;
    }
    und_levelset_destroy(levelset);
    char what[2][64];
    snprintf(what[0], sizeof what[0], "period, s, mode %d, depth %g m", mode, depth);
    snprintf(what[1], sizeof what[1], "amplitude left, mode %d, depth %g m", mode, depth);
    case_report(sink, (case_result){what[0], (last - first) / (crossings - 1), guess, 0.01 * guess, source});
    case_report(sink, (case_result){what[1], most / begin, 1, 0.5, source});
    return UND_OK;
}

und_status case_levelset_sloshing(case_sink *sink, und_error *err)
{
    und_status status = slosh(sink, 0.5, 1, err);
    return status == UND_OK ? slosh(sink, 0.5, 2, err) : status;
}

/* A disc drawn out by u = (-x, y), without gravity, stays an ellipse; its semi-axes at t = 1 and 2 solve an
 * ordinary differential equation. */
static double strain(const void *context, double x, double y, double z, double t)
{
    (void)z, (void)t;
    return context ? y - 4 : 1.5 - x;
}

und_status case_levelset_ellipse(case_sink *sink, und_error *err)
{
    enum { PER_RADIUS = 32 };
    static const char *const source = "Monaghan 1994, the elliptical drop";
    const double dx = 1.0 / PER_RADIUS, long_axis[2] = {2.27551598, 3.67898951}, tolerance[2] = {0.02, 0.04};
    und_levelset_def def = case_levelset_tank(sink, 3 * PER_RADIUS, 8 * PER_RADIUS, 1, dx);
    und_shape *disc =
        und_shape_create(&(und_shape){.kind = UND_SPHERE, .center = {1.5, 4, dx / 2}, .radius = 1}, err);
    und_fill_def fill = {.shape = disc, .velocity = {{.fn = strain}, {.fn = strain, .context = &fill}}};
    def.fills = &fill;
    def.fill_count = 1;
    def.gravity[1] = 0;
    und_levelset *levelset = disc ? und_levelset_create(&def, err) : NULL;
    for (int i = 0; levelset && i < 2; i++) {
        char what[48];
        case_levelset_run(levelset, 1 + i, 0.02);
        double up = case_levelset_surface(levelset, &def, 1, def.n[0] / 2, def.n[1] / 2, 0) - 4;
        double across = case_levelset_surface(levelset, &def, 0, def.n[0] / 2, def.n[1] / 2, 0) - 1.5;
        snprintf(what, sizeof what, "long semi-axis at t = %d", 1 + i);
        case_report(sink, (case_result){what, up, long_axis[i], tolerance[i] * long_axis[i], source});
        snprintf(what, sizeof what, "short semi-axis at t = %d", 1 + i);
        case_report(sink, (case_result){what, across, 1 / long_axis[i], dx * tolerance[i] / 0.04, source});
    }
    if (levelset) {
        und_ledger ledger = und_levelset_ledger(levelset);
        case_report(sink,
                    (case_result){"area, of what it was", ledger.measured / ledger.start, 1, 0.01, source});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(disc);
    return levelset ? UND_OK : err->status;
}
