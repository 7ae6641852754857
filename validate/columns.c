/* The validation cases of columns and pipes, and small waves over a level bed.
 *
 * In a closed tank the wave cos(a i) cos(b j) turns at w^2 = (g d / dx^2) share (S + diagonal D) with
 * S = 4 sin^2(a/2) + 4 sin^2(b/2) through the straight pipes, D = 4 - 4 cos a cos b through the diagonal ones
 * and share = 1 / (1 + 2 diagonal): long waves run at sqrt(g d) in every direction.  A step of dt turns the
 * wave by 2 asin(w dt / 2) where the new flow moves the water, and keeps its height; with equations 6 and 7
 * as printed lambda^2 - (2 - w^2 dt^2 / 2) lambda + 1 + w^2 dt^2 / 2 = 0, and it grows. */
#include "validate/columns.h"

#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define G 9.81
#define MERIAN "Merian 1828; Lamb 1932, sec. 190"
#define PIPES OH95 ", eqs 5 to 8: the modes of the pipes"

const validation_case columns_cases[] = {
    {"pipe_dispersion", "columns", case_pipe_dispersion},
    {"pipe_growth", "columns", case_pipe_growth},
    {"seiche", "columns", case_pipe_seiche},
    {"pulse", "columns", case_pipe_pulse},
    {"ring", "columns", case_pipe_ring},
    {"slanted_edge", "columns", case_pipe_edge},
    {"lake_at_rest", "columns", case_pipe_lake},
    {"pipe_volume", "columns", case_pipe_volume},
    {"static_load", "columns", case_static_load},
    {"ballistic", "columns", case_ballistic},
    {"draft", "columns", case_draft},
    {"heave", "columns", case_heave},
    {"impact", "columns", case_impact},
    {"ballast", "columns", case_ballast},
    {"figure", "columns", case_figure},
    {0},
};

und_columns_def case_columns_tank(int nx, int nz, double dx, double depth)
{
    und_columns_def def = und_columns_def_default();
    def.height_field.nx = nx;
    def.height_field.nz = nz;
    def.height_field.dx = dx;
    def.height_field.ground.number = -depth;
    def.height_field.threads = 1;
    return def;
}

void case_columns_steps(und_columns *columns, int count, double dt)
{
    for (int i = 0; i < count; i++)
        und_columns_step(columns, dt);
}

static double surface_of(const void *columns, int x, int z)
{
    return und_columns_surface(columns, x, z);
}

case_water case_columns_water(const und_columns *columns, const und_columns_def *def)
{
    return (case_water){columns, surface_of, def->height_field.nx, def->height_field.nz};
}

/* A mode of a closed tank, followed for a number of steps. */
typedef struct mode_run {
    int nx, nz, m, n, steps;
    double dx, depth, dt, amplitude, diagonal, smoothing;
    und_marker_flow_rule flow;
} mode_run;

/* Frequency of the pipes, 1/s. */
static double pipe_frequency(const mode_run *r)
{
    double a = M_PI * r->m / r->nx, b = M_PI * r->n / r->nz, sa = sin(a / 2), sb = sin(b / 2);
    double straight = 4 * (sa * sa + sb * sb), across = 4 - 4 * cos(a) * cos(b);
    return sqrt(G * r->depth * (straight + r->diagonal * across) / (1 + 2 * r->diagonal)) / r->dx;
}

/* And of the wave equation. */
static double true_frequency(const mode_run *r)
{
    return sqrt(G * r->depth) * M_PI / r->dx * hypot((double)r->m / r->nx, (double)r->n / r->nz);
}

/* The mode's amplitude at every step, from 0; to be freed. */
static double *follow(const mode_run *r, und_error *err)
{
    und_columns_def def = case_columns_tank(r->nx, r->nz, r->dx, r->depth);
    case_mode_start start = {r->amplitude, M_PI * r->m / (r->nx * r->dx), M_PI * r->n / (r->nz * r->dx)};
    def.height_field.surface = (und_value){.fn = case_mode_surface, .context = &start};
    def.diagonal = r->diagonal;
    def.smoothing = r->smoothing;
    def.flow = r->flow;
    double *series = und_alloc((size_t)r->steps + 1, sizeof *series, "series", err);
    und_columns *columns = series ? und_columns_create(&def, err) : NULL;
    if (!columns) {
        free(series);
        return NULL;
    }
    for (int i = 0; i <= r->steps; i++) {
        series[i] = case_water_mode(case_columns_water(columns, &def), r->m, r->n);
        und_columns_step(columns, r->dt);
    }
    und_columns_destroy(columns);
    return series;
}

/* Runs some periods and fits lambda. */
static und_status fit_mode(mode_run r, int periods, case_fit *fit, und_error *err)
{
    double period = 2 * M_PI / pipe_frequency(&r);
    int lag = (int)fmax(1, round(period / r.dt / 4));
    r.steps = 4 * periods * lag + 2;
    double *series = follow(&r, err);
    if (!series)
        return err->status;
    *fit = case_fit_series(series, r.steps + 1, lag);
    free(series);
    return UND_OK;
}

/* Tanks whose modes (m, m) or (m, 0) run at 0, 22.5 and 45 degrees to the grid, all 54 / m columns long. */
static const struct {
    int nx, nz, n;
    const char *what;
} directions[] = {{27, 8, 0, "0"}, {29, 70, 1, "22.5"}, {38, 38, 1, "45"}};
enum { DIRECTIONS = sizeof directions / sizeof *directions };

static const struct {
    double diagonal;
    const char *what;
} joints[] = {{0.25, "diagonal 1/4"}, {M_SQRT1_2, "equal sections"}, {0, "four pipes"}};

/* Speed of a mode over sqrt(g d), for a step so short that only the pipes count. */
static und_status mode_speed(double diagonal, int direction, int m, double *speed, double *exact,
                             und_error *err)
{
    mode_run r = {.nx = directions[direction].nx, .nz = directions[direction].nz, .m = m, .dx = 0.1};
    r.n = m * directions[direction].n;
    r.depth = 0.5;
    r.amplitude = 1e-6;
    r.diagonal = diagonal;
    r.dt = 2 * M_PI / true_frequency(&r) / 200;
    case_fit fit;
    if (fit_mode(r, 2, &fit, err))
        return err->status;
    *speed = 2 * sin(fit.angle / 2) / r.dt / true_frequency(&r);
    *exact = pipe_frequency(&r) / true_frequency(&r);
    return UND_OK;
}

und_status case_pipe_dispersion(case_sink *sink, und_error *err)
{
    static const int modes[] = {1, 3, 9};
    char text[80];
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            double least = INFINITY, most = 0, even = 0, odd = INFINITY;
            for (int k = 0; k < DIRECTIONS; k++) {
                double speed, exact;
                if (mode_speed(joints[j].diagonal, k, modes[i], &speed, &exact, err))
                    return err->status;
                least = fmin(least, speed);
                most = fmax(most, speed);
                even = fmax(even, exact);
                odd = fmin(odd, exact);
                snprintf(text, sizeof text, "%s, %s degrees, %d long: speed/sqrt(g d)", joints[j].what,
                         directions[k].what, 54 / modes[i]);
                if (modes[i] == 1)
                    case_report(sink, (case_result){text, speed, 1, 1e-3, "sqrt(g d)"});
                else
                    case_report(sink, (case_result){text, speed, exact, 1e-5, PIPES});
            }
            snprintf(text, sizeof text, "%s, %d long: spread of speed", joints[j].what, 54 / modes[i]);
            case_report(sink, (case_result){text, most - least, even - odd, 2e-5, PIPES});
        }
    return UND_OK;
}

/* How a step treats a mode: |lambda| and its argument for a = w dt, the root of lambda^2 - p lambda + q. */
typedef struct step_rule {
    const char *what, *source;
    und_marker_flow_rule flow;
    double smoothing;
} step_rule;

static case_fit lambda_of(const step_rule *rule, double a)
{
    double pull = a * a, p = 2 - pull * (1 + rule->smoothing), q = 1 - pull * rule->smoothing;
    if (rule->flow == UND_FLOW_MEAN) {
        p = 2 - pull / 2;
        q = 1 + pull / 2;
    }
    return (case_fit){.size = sqrt(q), .angle = acos(p / (2 * sqrt(q)))};
}

/* |lambda| of a mode of 32 x 3 columns, fitted over some periods.  The flow in the pipes is kept in single
 * precision, so this measures the rule and its rounding together. */
und_status case_pipe_growth(case_sink *sink, und_error *err)
{
    static const step_rule steps[] = {
        {"new flow", "symplectic: 1", UND_FLOW_NEW, 0},
        {"mean flow", OH95 ", eqs 6, 7: sqrt(1 + (w dt)^2 / 2)", UND_FLOW_MEAN, 0},
        {"smoothing 0.1", "sqrt(1 - smoothing (w dt)^2)", UND_FLOW_NEW, 0.1}};
    static const double turns[] = {0.05, 0.1, 0.2, 0.5};
    char text[80];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 4; i++) {
            mode_run r = {.nx = 32, .nz = 3, .m = 16, .dx = 0.1, .depth = 0.5, .amplitude = 1e-6};
            r.diagonal = 0.25;
            r.flow = steps[k].flow;
            r.smoothing = steps[k].smoothing;
            r.dt = turns[i] / pipe_frequency(&r);
            case_fit fit, exact = lambda_of(&steps[k], turns[i]);
            if (fit_mode(r, k == 0 ? 10 : 2, &fit, err))
                return err->status;
            snprintf(text, sizeof text, "%s, w dt %g: growth per step", steps[k].what, turns[i]);
            case_report(sink, (case_result){text, fit.size, exact.size, 1e-6, steps[k].source});
            snprintf(text, sizeof text, "%s, w dt %g: turn per step, rad", steps[k].what, turns[i]);
            case_report(sink, (case_result){text, fit.angle, exact.angle, 1e-5 * exact.angle, PIPES});
        }
    return UND_OK;
}

enum { PER_PERIOD = 240, KEPT = 20 };

/* Follows a seiche for KEPT + 1 periods; its period, s, and what is left of its height after KEPT. */
static und_status follow_seiche(mode_run r, double *period, double *kept, und_error *err)
{
    double first = 0, last = 0;
    r.dt = 2 * M_PI / true_frequency(&r) / PER_PERIOD;
    r.steps = (KEPT + 1) * PER_PERIOD;
    double *series = follow(&r, err);
    if (!series)
        return err->status;
    case_fit fit = case_fit_series(series, r.steps + 1, PER_PERIOD / 4);
    for (int s = 0; s <= PER_PERIOD; s++) {
        first = fmax(first, fabs(series[s]));
        last = fmax(last, fabs(series[KEPT * PER_PERIOD + s]));
    }
    free(series);
    *period = 2 * M_PI / fit.angle * r.dt;
    *kept = last / first;
    return UND_OK;
}

/* The basins, without smoothing and with as much as a scene has
 * that does not ask. */
und_status case_pipe_seiche(case_sink *sink, und_error *err)
{
    char text[80];
    for (int i = 0; i < CASE_BASINS; i++)
        for (int smooth = 0; smooth <= 1; smooth++) {
            const case_basin *b = &case_basins[i];
            mode_run r = {.nx = b->nx, .nz = b->nz, .m = b->m, .n = b->n, .dx = b->dx, .depth = b->depth};
            double true_period = 2 * M_PI / true_frequency(&r), period = NAN, kept = NAN;
            step_rule rule = {.smoothing = smooth ? und_columns_def_default().smoothing : 0};
            r.diagonal = 0.25;
            r.amplitude = 1e-4;
            r.smoothing = rule.smoothing;
            if (follow_seiche(r, &period, &kept, err))
                return err->status;
            double step = lambda_of(&rule, 2 * M_PI / PER_PERIOD).size;
            const char *what = smooth ? ", smoothed" : "";
            snprintf(text, sizeof text, "%d x %d, mode %d,%d%s: period, s", r.nx, r.nz, r.m, r.n, what);
            case_report(sink, (case_result){text, period, true_period, 1e-3 * true_period, MERIAN});
            snprintf(text, sizeof text, "%d x %d, mode %d,%d%s: height kept", r.nx, r.nz, r.m, r.n, what);
            case_report(sink,
                        (case_result){text, kept, pow(step, KEPT * PER_PERIOD), 2e-3,
                                      "after 20 periods of 240 steps; sqrt(1 - smoothing (w dt)^2) a step"});
        }
    return UND_OK;
}

/* A Gaussian exp(-((x - 3)/0.4)^2) let go in 10 m of water 1 m deep. */
typedef struct pulse_run {
    int cells;
    double dt, width;
} pulse_run;

static const double PULSE = 1e-6, LENGTH = 10, CENTER = 3; /* m */

static und_columns *let_go(const pulse_run *r, case_pulse *pulse, und_columns_def *def, und_error *err)
{
    *pulse = (case_pulse){.amplitude = PULSE, .width = r->width, .center = CENTER};
    *def = case_columns_tank(r->cells, 1, LENGTH / r->cells, 1);
    def->smoothing = 0;
    def->height_field.surface = (und_value){.fn = case_pulse_surface, .context = pulse};
    return und_columns_create(def, err);
}

/* The sum of the pipes' modes after n steps: each is cos((n + 1/2) turn) / cos(turn / 2), since the flow that
 * starts at 0 is that of half a step before. */
static double modal_pulse(const pulse_run *r, const double *part, int steps, int x)
{
    double sum = part[0], dx = LENGTH / r->cells;
    for (int m = 1; m < r->cells; m++) {
        double w = 2 * sqrt(G) / dx * sin(M_PI * m / (2.0 * r->cells)), turn = 2 * asin(w * r->dt / 2);
        sum += part[m] * cos((steps + 0.5) * turn) / cos(turn / 2) * cos(M_PI * m * (x + 0.5) / r->cells);
    }
    return sum;
}

/* d'Alembert's solution between walls, relative to the pulse. */
static double dalembert(const pulse_run *r, double x, double t)
{
    double sum = 0, way = sqrt(G) * t;
    for (int image = -2; image <= 2; image++)
        for (int side = -1; side <= 1; side += 2)
            for (int mirror = -1; mirror <= 1; mirror += 2) {
                double s = (2 * LENGTH * image + mirror * (x + side * way) - CENTER) / r->width;
                sum += 0.5 * exp(-s * s);
            }
    return sum;
}

/* Root mean square difference from d'Alembert's solution at 2 s, relative to the pulse.  The flow starts half
 * a step before the water, so that is where the solution is taken. */
static und_status pulse_error(pulse_run r, double *error, und_error *err)
{
    case_pulse pulse;
    und_columns_def def;
    und_columns *columns = let_go(&r, &pulse, &def, err);
    if (!columns)
        return err->status;
    int steps = (int)round(2 / r.dt);
    double sum = 0;
    case_columns_steps(columns, steps, r.dt);
    for (int x = 0; x < r.cells; x++) {
        double off = und_columns_surface(columns, x, 0) / PULSE -
                     dalembert(&r, (x + 0.5) * LENGTH / r.cells, (steps + 0.5) * r.dt);
        sum += off * off / r.cells;
    }
    und_columns_destroy(columns);
    *error = sqrt(sum);
    return UND_OK;
}

und_status case_pipe_pulse(case_sink *sink, und_error *err)
{
    enum { CELLS = 200 };
    static const double times[] = {0.5, 1, 2, 4};
    pulse_run r = {CELLS, 1.0 / 120, 0.4};
    case_pulse pulse;
    und_columns_def def;
    und_columns *columns = let_go(&r, &pulse, &def, err);
    if (!columns)
        return err->status;
    double part[CELLS], crest[4], worst = 0, dx = LENGTH / CELLS, c = sqrt(G);
    for (int m = 0; m < CELLS; m++)
        part[m] = case_water_mode(case_columns_water(columns, &def), m, 0) / PULSE;
    for (int i = 0, done = 0; i < 4; i++) {
        int steps = (int)round(times[i] / r.dt);
        case_columns_steps(columns, steps - done, r.dt);
        done = steps;
        for (int x = 0; x < CELLS; x++)
            worst = fmax(worst,
                         fabs(und_columns_surface(columns, x, 0) / PULSE - modal_pulse(&r, part, steps, x)));
        crest[i] = (case_water_crest(case_columns_water(columns, &def), 0, 60, CELLS - 1, NULL) + 0.5) * dx;
    }
    und_columns_destroy(columns);
    case_report(sink, (case_result){"profile at 0.5 to 4 s: largest difference, of height", worst, 0, 1e-4,
                                    PIPES ", their sum"});
    case_report(sink,
                (case_result){"crest at 1 s, m", crest[1], CENTER + c, dx, "d'Alembert: 3 + sqrt(g d) t"});
    case_report(
        sink, (case_result){"crest at 2 s, m", crest[2], CENTER + 2 * c, dx, "d'Alembert: 3 + sqrt(g d) t"});
    pulse_run wide = {CELLS, 1.0 / 120, 1};
    double coarse = NAN, fine = NAN;
    if (pulse_error(wide, &coarse, err))
        return err->status;
    wide.cells *= 2;
    wide.dt /= 2;
    if (pulse_error(wide, &fine, err))
        return err->status;
    case_report(sink,
                (case_result){"order in dx and dt together", log2(coarse / fine), 2, 0.1, "d'Alembert"});
    return UND_OK;
}

/* A drop 6 columns wide falls into a pond; its ring is looked at when it is 60 columns wide. */
static und_status see_drop(double diagonal, case_ring_view *ring, und_error *err)
{
    const int side = 193;
    const double dx = 0.1, expected = 60, courant = 0.5;
    und_columns_def def = case_columns_tank(side, side, dx, 1);
    und_drop_def drop = {.center = {side * dx / 2, 0, side * dx / 2}, .radius = 6 * dx, .volume = 1e-5};
    def.height_field.drops = &drop;
    def.height_field.drop_count = 1;
    def.diagonal = diagonal;
    und_columns *columns = und_columns_create(&def, err);
    if (!columns)
        return err->status;
    case_columns_steps(columns, (int)round(expected / courant), courant * dx / sqrt(G));
    case_see_ring(case_columns_water(columns, &def), expected, ring);
    und_columns_destroy(columns);
    return UND_OK;
}

und_status case_pipe_ring(case_sink *sink, und_error *err)
{
    double radius[3], height[3];
    char text[80];
    for (int j = 0; j < 3; j++) {
        case_ring_view ring;
        if (see_drop(joints[j].diagonal, &ring, err))
            return err->status;
        radius[j] = case_spread(ring.radius);
        height[j] = case_spread(ring.height);
    }
    case_report(sink,
                (case_result){"radius in 48 directions, spread", radius[0], 0, 0.02, "a ring is round"});
    case_report(sink, (case_result){"height in 48 directions, spread", height[0], 0, 0.02,
                                    "a ring is as high all around"});
    for (int j = 1; j < 3; j++) {
        snprintf(text, sizeof text, "radius: spread over that of %s", joints[j].what);
        case_report(sink, (case_result){text, radius[0] / radius[j], 0, 0.5, "1/4 is rounder"});
        snprintf(text, sizeof text, "height: spread over that of %s", joints[j].what);
        case_report(sink, (case_result){text, height[0] / height[j], 0, 0.5, "1/4 is rounder"});
    }
    return UND_OK;
}
