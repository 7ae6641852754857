/* Water with a shore: Thacker's bowls, lakes at rest, volume on rough terrain, water carried over a hump. */
#include "base/status.h"
#include "validate/waves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define G 9.81
#define THACKER "Thacker 1981, J. Fluid Mech. 107"

/* A parabolic bowl, ground h0 (r^2 / a^2 - 1), with water in it that leans by `lean` h0 / a along x, or that
 * bulges as for Thacker's curved solution of parameter `bulge`; turning: the lean rotates towards z. */
typedef struct bowl {
    double a, h0, lean, bulge;
    bool turning, curve;
} bowl;

static double bowl_radius2(const bowl *b, double x, double z)
{
    return x * x + (b->curve ? 0 : z * z);
}

static double bowl_ground(const void *context, double x, double y, double z, double t)
{
    const bowl *b = context;
    (void)y, (void)t;
    return b->h0 * (bowl_radius2(b, x, z) / (b->a * b->a) - 1);
}

static double bowl_surface(const void *context, double x, double y, double z, double t)
{
    const bowl *b = context;
    (void)y, (void)t;
    double leaning = b->lean * b->h0 / b->a * (2 * x / b->a - b->lean / b->a), q = 1 - b->bulge;
    double bulging = sqrt(1 - b->bulge * b->bulge) / q - 1 -
                     bowl_radius2(b, x, z) / (b->a * b->a) * ((1 + b->bulge) / q - 1);
    return b->lean != 0 ? leaning : b->h0 * bulging;
}

static double bowl_rising(const void *context, double x, double y, double z, double t)
{
    const bowl *b = context;
    (void)x, (void)y, (void)t;
    return b->turning ? b->lean * b->h0 / b->a * 2 * z / b->a * sqrt(2 * G * b->h0) / b->a : 0;
}

/* Moments of the water: its volume in cells, its centre of mass, its mean square radius. */
typedef struct moments {
    double volume, x, z, r2;
} moments;

static moments measure(const und_waves *waves, const und_waves_def *def)
{
    moments m = {0};
    for (int z = 0; z < def->height_field.nz; z++)
        for (int x = 0; x < def->height_field.nx; x++) {
            double depth = und_waves_surface(waves, x, z) - und_waves_ground(waves, x, z);
            double px = def->height_field.origin[0] + (x + 0.5) * def->height_field.dx,
                   pz = def->height_field.origin[1] + (z + 0.5) * def->height_field.dx;
            m.volume += depth;
            m.x += depth * px;
            m.z += depth * pz;
            m.r2 += depth * (px * px + pz * pz);
        }
    m.x /= m.volume;
    m.z /= m.volume;
    m.r2 /= m.volume;
    return m;
}

/* What a bowl's water did. */
typedef struct bowl_result {
    double period, least, most; /* of the swings, each against the one before */
    double defect, round;       /* of the volume; of the path, z swing over x swing */
} bowl_result;

/* Period from the series' passages through 0, and the swings between them. */
static void read_swings(const double *series, int count, double dt, bowl_result *r)
{
    double first = 0, last = 0, swing = 0, before = 0;
    int passages = 0;
    r->least = INFINITY;
    r->most = 0;
    for (int i = 1; i < count; i++) {
        swing = fmax(swing, fabs(series[i - 1]));
        if ((series[i] > 0) == (series[i - 1] > 0))
            continue;
        last = (i - 1 + series[i - 1] / (series[i - 1] - series[i])) * dt;
        first = passages++ == 0 ? last : first;
        if (before > 0) {
            r->least = fmin(r->least, swing / before);
            r->most = fmax(r->most, swing / before);
        }
        before = swing;
        swing = 0;
    }
    r->period = passages > 2 ? 2 * (last - first) / (passages - 1) : NAN;
}

/* Runs the bowl for `periods` of `expected` seconds. */
static und_status run_bowl(bowl *b, und_waves_def def, double expected, double periods, double dt,
                           bowl_result *result, und_error *err)
{
    def.height_field.origin[0] = -0.5 * def.height_field.nx * def.height_field.dx;
    def.height_field.origin[1] = -0.5 * def.height_field.nz * def.height_field.dx;
    def.height_field.ground = (und_value){.fn = bowl_ground, .context = b};
    def.height_field.surface = (und_value){.fn = bowl_surface, .context = b};
    def.velocity0 = (und_value){.fn = bowl_rising, .context = b};
    int steps = (int)round(periods * expected / dt);
    double *series = und_alloc((size_t)steps, sizeof *series, "series", err), mean = 0, most_x = 0,
           most_z = 0;
    und_waves *waves = series ? und_waves_create(&def, err) : NULL;
    if (!waves) {
        free(series);
        return err->status;
    }
    for (int i = 0; i < steps; i++) {
        moments m = measure(waves, &def);
        series[i] = b->lean != 0 ? m.x : m.r2;
        mean += b->lean != 0 ? 0 : m.r2 / steps;
        most_x = fmax(most_x, fabs(m.x));
        most_z = fmax(most_z, fabs(m.z));
        und_waves_step(waves, dt);
    }
    result->defect = case_ledger_defect(waves);
    result->round = most_z / most_x;
    und_waves_destroy(waves);
    for (int i = 0; i < steps; i++)
        series[i] -= mean;
    read_swings(series, steps, dt, result);
    free(series);
    return UND_OK;
}

static void report_bowl(case_sink *sink, const char *what, const bowl_result *r, double period)
{
    char text[80];
    snprintf(text, sizeof text, "%s: period, s", what);
    case_report(sink, (case_result){text, r->period, period, 0.01 * period, THACKER});
    snprintf(text, sizeof text, "%s: least of swing over swing", what);
    case_report(sink, (case_result){text, r->least, 0.85, 0.15, "0.7 to 1: loses at the shore, never grows"});
    snprintf(text, sizeof text, "%s: most of swing over swing", what);
    case_report(sink, (case_result){text, r->most, 0.85, 0.15, "0.7 to 1: loses at the shore, never grows"});
    snprintf(text, sizeof text, "%s: volume's defect, relative", what);
    case_report(sink, (case_result){text, r->defect, 0, 1e-12, "the ledger"});
}

/* A curve: a = 1 m, h0 = 0.5 m.  A plane surface over a parabola solves Kass & Miller's equation too. */
und_status case_thacker(case_sink *sink, und_error *err)
{
    static const struct {
        const char *what;
        int order;
        double lean;
    } runs[] = {{"order 1, lean 0.1", 1, 0.1}, {"order 2, lean 0.1", 2, 0.1}, {"order 2, lean 0.2", 2, 0.2}};
    double period = 2 * M_PI / sqrt(2 * G * 0.5);
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        bowl b = {.a = 1, .h0 = 0.5, .lean = runs[i].lean, .curve = true};
        bowl_result r = {0};
        if (run_bowl(&b, case_tank(400, 1, 0.01, 0, runs[i].order), period, 4, 1.0 / 240, &r, err))
            return err->status;
        report_bowl(sink, runs[i].what, &r, period);
    }
    return UND_OK;
}

/* Surfaces: a = 1 m, h0 = 0.1 m; a plane that goes round and a bulge that breathes. */
und_status case_thacker_surface(case_sink *sink, und_error *err)
{
    double round_period = 2 * M_PI / sqrt(2 * G * 0.1), breath = 2 * M_PI / sqrt(8 * G * 0.1), r0 = 0.95;
    for (int order = 1; order <= 2; order++) {
        bowl leaning = {.a = 1, .h0 = 0.1, .lean = 0.1, .turning = true};
        bowl bulging = {.a = 1, .h0 = 0.1, .bulge = (1 - r0 * r0) / (1 + r0 * r0)};
        bowl_result r = {0};
        char what[64];
        if (run_bowl(&leaning, case_tank(112, 112, 0.025, 0, order), round_period, 2, 1.0 / 60, &r, err))
            return err->status;
        snprintf(what, sizeof what, "order %d, turning plane", order);
        report_bowl(sink, what, &r, round_period);
        snprintf(what, sizeof what, "order %d, turning plane: z swing over x swing", order);
        case_report(sink, (case_result){what, r.round, 1, 0.3, THACKER});
        if (run_bowl(&bulging, case_tank(112, 112, 0.025, 0, order), breath, 3, 1.0 / 120, &r, err))
            return err->status;
        snprintf(what, sizeof what, "order %d, bulge", order);
        report_bowl(sink, what, &r, breath);
    }
    return UND_OK;
}

und_status case_lake_at_rest(case_sink *sink, und_error *err)
{
    for (int order = 1; order <= 2; order++)
        for (int rows = 1; rows <= 16; rows += 15) {
            und_waves_def def = case_tank(rows == 1 ? 200 : 80, rows, rows == 1 ? 0.1 : 0.25, 0, order);
            def.height_field.ground = (und_value){.fn = case_island_ground};
            def.height_field.surface = (und_value){.fn = case_island_surface};
            und_waves *waves = und_waves_create(&def, err);
            if (!waves)
                return err->status;
            double start = und_waves_ledger(waves).start, valley = 0;
            case_steps(waves, 10000, 1.0 / 30);
            for (int z = 0; z < def.height_field.nz; z++)
                for (int x = (int)(16 / def.height_field.dx); x < def.height_field.nx; x++)
                    valley += und_waves_surface(waves, x, z) - und_waves_ground(waves, x, z);
            char text[80];
            const char *source = "water at rest stays at rest; Delestre et al. 2013, sec. 3.1.2";
            snprintf(text, sizeof text, "order %d, %d rows: largest |h - h0|, m", order, rows);
            case_report(sink, (case_result){text, case_largest(waves, &def, 0.1), 0, 1e-13, source});
            snprintf(text, sizeof text, "order %d, %d rows: water in the valley, m", order, rows);
            case_report(sink, (case_result){text, valley, 0, 0, source});
            snprintf(text, sizeof text, "order %d, %d rows: volume's change, relative", order, rows);
            case_report(sink,
                        (case_result){text, und_waves_ledger(waves).measured / start - 1, 0, 1e-13, source});
            und_waves_destroy(waves);
        }
    return UND_OK;
}

static double rough_ground(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return 0.3 * sin(1.7 * x + 0.4 * z) * cos(1.3 * z - 0.5 * x) + 0.12 * sin(5.1 * x) * sin(4.3 * z + 1) +
           0.05 * sin(13.7 * x + 9.1 * z);
}

/* Everything that adds or takes water at once, over islands and pools that come and go. */
und_status case_rough_volume(case_sink *sink, und_error *err)
{
    const und_source_def sources[] = {
        {.center = {2, 0, 2}, .radius = 0.4, .rate = {.number = 0.3}, .end = 30},
        {.center = {7, 0, 6}, .radius = 0.5, .rate = {.number = -0.4}, .start = 5, .end = 60},
    };
    const und_drop_def drops[] = {{1, {5, 0, 5}, 0.5, 0.3}, {2, {3, 0, 8}, 0.6, -0.5}};
    const und_stir_def stir = {
        .center = {.constant = {4, 0, 4}}, .radius = 1, .amplitude = 0.2, .period = 1.5, .end = 100};
    for (int order = 1; order <= 2; order++) {
        und_waves_def def = case_tank(96, 96, 0.1, 0, order);
        def.height_field.ground = (und_value){.fn = rough_ground};
        def.height_field.sources = sources, def.height_field.source_count = 2;
        def.height_field.drops = drops, def.height_field.drop_count = 2;
        def.height_field.stirs = &stir, def.height_field.stir_count = 1;
        def.height_field.rain.on = true, def.height_field.rain.rate.number = 2,
        def.height_field.rain.radius = 0.03, def.height_field.rain.splash = 0.2;
        def.height_field.edge[UND_LOW_X] =
            (und_edge_def){.kind = UND_EDGE_OPEN, .amplitude = 0.1, .period = 3, .ramp = 3};
        def.height_field.edge[UND_HIGH_X].kind = UND_EDGE_FALL;
        def.height_field.edge[UND_LOW_Z] = (und_edge_def){.kind = UND_EDGE_FLOW, .rate = {.number = 0.01}};
        und_waves *waves = und_waves_create(&def, err);
        if (!waves)
            return err->status;
        double worst = 0, correction = 0;
        for (int i = 0; i < 20; i++) {
            case_steps(waves, 50, 1.0 / 30);
            und_ledger l = und_waves_ledger(waves);
            worst = fmax(worst, case_ledger_defect(waves));
            correction = fmax(correction, fabs(l.correction) / l.start);
        }
        double largest = case_largest(waves, &def, 0);
        und_waves_destroy(waves);
        char text[80];
        snprintf(text, sizeof text, "order %d: ledger's defect, relative", order);
        case_report(sink, (case_result){text, worst, 0, 1e-10, "start + sources - drains - left = now"});
        snprintf(text, sizeof text, "order %d: unexplained volume, relative", order);
        case_report(sink, (case_result){text, correction, 0, 1e-10, "no water from nothing"});
        snprintf(text, sizeof text, "order %d: largest |h|, m", order);
        case_report(sink, (case_result){text, largest, 0, 2, "stays bounded"});
    }
    return UND_OK;
}

/* A hump 0.5 m high between a full basin and an empty one. */
static double hump_ground(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return 0.5 * exp(-(x - 10) * (x - 10) / 4);
}

static double hump_surface(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return x < 3 ? 1.2 : -1;
}

/* Water in the cells from x = first on, in metres of depth. */
static double water_from(const und_waves *waves, const und_waves_def *def, double first)
{
    double sum = 0;
    for (int x = (int)(first / def->height_field.dx); x < def->height_field.nx; x++)
        sum += und_waves_surface(waves, x, 0) - und_waves_ground(waves, x, 0);
    return sum;
}

und_status case_hump(case_sink *sink, und_error *err)
{
    for (int order = 1; order <= 2; order++) {
        und_waves_def def = case_tank(200, 1, 0.1, 0, order);
        def.height_field.ground = (und_value){.fn = hump_ground};
        def.height_field.surface = (und_value){.fn = hump_surface};
        def.height_field.damping = 0.5;
        und_waves *waves = und_waves_create(&def, err);
        if (!waves)
            return err->status;
        double all = water_from(waves, &def, 0), dt = 1.0 / 60;
        case_steps(waves, 6000, dt);
        double puddle = water_from(waves, &def, 10), total = water_from(waves, &def, 0);
        case_steps(waves, 6000, dt);
        double later = water_from(waves, &def, 10);
        und_waves_destroy(waves);
        char text[80];
        snprintf(text, sizeof text, "order %d: carried over the hump, part", order);
        case_report(sink, (case_result){text, puddle / all, 0.05, 0.045, "some of it, not all"});
        snprintf(text, sizeof text, "order %d: change of the puddle, relative", order);
        case_report(sink, (case_result){text, later / puddle - 1, 0, 1e-10, "a piece keeps its volume"});
        snprintf(text, sizeof text, "order %d: change of all the water, relative", order);
        case_report(sink, (case_result){text, total / all - 1, 0, 1e-12, "water is kept"});
    }
    return UND_OK;
}
