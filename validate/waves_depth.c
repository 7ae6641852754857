/* Waves where the depth changes: a step, a slope, a plane beach. */
#include "validate/waves.h"

#include <math.h>
#include <stdio.h>

#define G 9.81
#define LONG_WAVES "linear long waves, Lamb 1932, sec. 176"

/* Ground at -deep up to x = 0, at -shallow from x = width on, a plane between them. */
typedef struct shelf {
    double deep, shallow, width;
} shelf;

static double shelf_ground(const void *context, double x, double y, double z, double t)
{
    const shelf *s = context;
    (void)y, (void)z, (void)t;
    if (x <= 0 || x >= s->width)
        return x <= 0 ? -s->deep : -s->shallow;
    return -s->deep + (s->deep - s->shallow) * x / s->width;
}

/* A pulse in 1 m of water meets a step to `shallow`: heights of what goes on and of what comes back, as parts
 * of what arrives.  All three crests are broad: dispersion takes little of them. */
static und_status split_at_step(int order, double shallow, double dt, double *on, double *back,
                                und_error *err)
{
    double dx = 0.05, come, high, low;
    shelf ground = {1, shallow, 0};
    case_pulse pulse = {.amplitude = 2e-5, .width = 1.2, .center = -9};
    und_waves_def def = case_tank(600, 1, dx, 1, order);
    def.height_field.origin[0] = -20;
    def.height_field.ground = (und_value){.fn = shelf_ground, .context = &ground};
    def.height_field.surface = (und_value){.fn = case_pulse_surface, .context = &pulse};
    und_waves *waves = und_waves_create(&def, err);
    if (!waves)
        return err->status;
    int zero = (int)(20 / dx), left = (int)(8 / dx);
    double c = sqrt(G);
    case_steps(waves, (int)round(4.5 / c / dt), dt);
    case_crest(waves, 0, left + (int)(3 / dx), zero, &come);
    case_steps(waves, (int)round(9 / c / dt), dt); /* 4.5 m beyond the step, in deep water's metres */
    case_crest(waves, 0, zero + 5, def.height_field.nx - 1, &high);
    case_crest(waves, 0, left + (int)(4 / dx), zero - 5, &low);
    if (shallow > 1) { /* it comes back upside down */
        low = 0;
        for (int x = left + (int)(4 / dx); x < zero - 5; x++)
            low = fmin(low, und_waves_surface(waves, x, 0));
    }
    und_waves_destroy(waves);
    *on = high / come;
    *back = low / come;
    return UND_OK;
}

und_status case_step(case_sink *sink, und_error *err)
{
    static const double depths[] = {0.25, 0.5, 2};
    char text[80];
    for (int i = 0; i < 3; i++) {
        double q = sqrt(depths[i]), through = 2 / (1 + q), off = (1 - q) / (1 + q), on, back;
        if (split_at_step(2, depths[i], 1.0 / 240, &on, &back, err))
            return err->status;
        snprintf(text, sizeof text, "order 2, 1 m to %g m: transmitted", depths[i]);
        case_report(sink, (case_result){text, on, through, 0.02 * through, LONG_WAVES});
        snprintf(text, sizeof text, "order 2, 1 m to %g m: reflected", depths[i]);
        case_report(sink, (case_result){text, back, off, 0.02 * fabs(off), LONG_WAVES});
        snprintf(text, sizeof text, "order 2, 1 m to %g m: their ratio", depths[i]);
        case_report(sink,
                    (case_result){text, back / on, off / through, 0.01 * fabs(off / through), LONG_WAVES});
    }
    static const int rates[] = {240, 2000}; /* the first order damps, but both alike */
    for (int i = 0; i < 2; i++) {
        double on, back;
        if (split_at_step(1, 0.25, 1.0 / rates[i], &on, &back, err))
            return err->status;
        snprintf(text, sizeof text, "order 1, dt 1/%d, 1 m to 0.25 m: ratio", rates[i]);
        case_report(sink, (case_result){text, back / on, 0.25, 0.0025, LONG_WAVES});
        snprintf(text, sizeof text, "order 1, dt 1/%d, 1 m to 0.25 m: transmitted", rates[i]);
        if (rates[i] == 2000)
            case_report(sink, (case_result){text, on, 4 / 3.0, 0.02 * 4 / 3.0, LONG_WAVES});
    }
    return UND_OK;
}

/* Angle between a pulse's crest and the step or slope it has crossed, degrees.  The crest starts in the deep
 * water only; where its end touches the shallow it sends out a disturbance that follows along the step at c,
 * while the crest's foot runs along it at c / sin(angle): between the two the crest is clean. */
static und_status crossing_angle(const shelf *ground, double angle, double *found, und_error *err)
{
    enum { ROWS = 300 };
    double dx = 0.1, c = sqrt(G * ground->deep), run = 10, foot = 5;
    case_pulse pulse = {.amplitude = 1e-5, .width = 0.8, .angle = angle, .cut = 1e-9};
    pulse.center = foot * tan(angle); /* the crest's foot is at z = 5 */
    und_waves_def def = case_tank(220, ROWS, dx, 1, 2);
    def.height_field.origin[0] = -14;
    def.height_field.ground = (und_value){.fn = shelf_ground, .context = ground};
    def.height_field.surface = (und_value){.fn = case_pulse_surface, .context = &pulse};
    und_waves *waves = und_waves_create(&def, err);
    if (!waves)
        return err->status;
    case_steps(waves, 100, run / c / 100);
    double z[ROWS], x[ROWS];
    int count = 0, shallow = (int)((14 + ground->width) / dx) + 3;
    /* Only rows whose crest is well beyond the slope and was never near the end of it. */
    for (int row = 0; row < ROWS; row++) {
        double at = case_crest(waves, row, shallow - 2, def.height_field.nx - 1, NULL);
        double where = (row + 0.5) * dx;
        if (where < foot + run + 1 || where > foot + run / sin(angle) - 1.5 || at < shallow + 4)
            continue;
        z[count] = where;
        x[count++] = at * dx;
    }
    und_waves_destroy(waves);
    *found = count > 10 ? atan(-case_slope(z, x, count)) * 180 / M_PI : NAN;
    return UND_OK;
}

und_status case_refraction(case_sink *sink, und_error *err)
{
    static const struct {
        const char *what;
        double angle;
        shelf ground;
    } beds[] = {
        {"step 1 m to 0.25 m, from 30 degrees: angle, degrees", 30, {1, 0.25, 0}},
        {"step 1 m to 0.5 m, from 30 degrees: angle, degrees", 30, {1, 0.5, 0}},
        {"step 1 m to 0.25 m, from 45 degrees: angle, degrees", 45, {1, 0.25, 0}},
        {"slope 1 m to 0.25 m, from 30 degrees: angle, degrees", 30, {1, 0.25, 1}},
    };
    for (size_t i = 0; i < sizeof beds / sizeof *beds; i++) {
        double in = beds[i].angle * M_PI / 180, found;
        double snell = asin(sin(in) * sqrt(beds[i].ground.shallow / beds[i].ground.deep)) * 180 / M_PI;
        if (crossing_angle(&beds[i].ground, in, &found, err))
            return err->status;
        case_report(sink, (case_result){beds[i].what, found, snell, 1, "Snell's law with c = sqrt(g d)"});
    }
    return UND_OK;
}

/* A standing wave on a plane beach of depth s x: eta = A J0(2 w sqrt(x / (g s))) cos(w t), Lamb 1932, sec.
 * 186; its linear run-up is the nonlinear one of Carrier & Greenspan 1958.  Here s = 1/20, T = 4 s, 40 m. */
typedef struct beach {
    double slope, omega, amplitude, length, dx;
} beach;

static double beach_phase(const beach *b, double x)
{
    return 2 * b->omega * sqrt(fmax(x, 0) / (G * b->slope));
}

static double beach_ground(const void *context, double x, double y, double z, double t)
{
    const beach *b = context;
    (void)y, (void)z, (void)t;
    return -b->slope * x;
}

static double beach_surface(const void *context, double x, double y, double z, double t)
{
    const beach *b = context;
    (void)y, (void)z;
    return b->amplitude * j0(beach_phase(b, x)) * cos(b->omega * t);
}

/* The level outside for which the open edge lets in what the standing wave has there: eta + q / c, with the
 * flow q towards the shore from eta_t = (s x eta_x g) ... : q = g d eta_x sin(w t) / w. */
static double beach_level(const void *context, double x, double y, double z, double t)
{
    const beach *b = context;
    double phase = beach_phase(b, x), depth = b->slope * x, center = x - b->dx / 2;
    double eta_x = -b->amplitude * j1(phase) * phase / (2 * x);
    double in = G * depth * eta_x * sin(b->omega * t) / b->omega;
    return beach_surface(context, center, y, z, t) + in / sqrt(G * b->slope * center);
}

enum { BEACH = 800, BEACH_START = 20, SAMPLES = BEACH + BEACH_START };

/* Follows the wave for `periods`, the last of them into cosine amplitudes. */
static und_status run_beach(const beach *b, int order, int periods, double found[SAMPLES], double *run_up,
                            und_error *err)
{
    int steps = order == 1 ? 1600 : 800; /* the first order's own damping must stay small */
    double dt = 2 * M_PI / b->omega / steps;
    und_waves_def def = case_tank(SAMPLES, 1, b->dx, 0, order);
    def.height_field.origin[0] = -BEACH_START * b->dx;
    def.height_field.ground = (und_value){.fn = beach_ground, .context = b};
    def.height_field.surface = (und_value){.fn = beach_surface, .context = b};
    def.height_field.edge[UND_HIGH_X] = (und_edge_def){.kind = UND_EDGE_OPEN, .has_level = true};
    def.height_field.edge[UND_HIGH_X].level = (und_value){.fn = beach_level, .context = b};
    und_waves *waves = und_waves_create(&def, err);
    if (!waves)
        return err->status;
    case_steps(waves, (periods - 1) * steps, dt);
    *run_up = -1;
    for (int i = 0; i < SAMPLES; i++)
        found[i] = 0;
    for (int i = 1; i <= steps; i++) {
        und_waves_step(waves, dt);
        for (int x = 0; x < SAMPLES; x++) {
            double h = und_waves_surface(waves, x, 0);
            found[x] += h * cos(b->omega * dt * i) * 2 / steps;
            if (h > und_waves_ground(waves, x, 0) + 1e-3 * b->amplitude)
                *run_up = fmax(*run_up, -(def.height_field.origin[0] + x * b->dx));
        }
    }
    und_waves_destroy(waves);
    return UND_OK;
}

und_status case_linear_beach(case_sink *sink, und_error *err)
{
    const char *source = "Lamb 1932, sec. 186; Carrier & Greenspan 1958";
    char text[80];
    for (int order = 1; order <= 2; order++) {
        beach b = {.slope = 0.05, .omega = M_PI / 2, .amplitude = 1e-3, .length = 40, .dx = 0.05};
        double found[SAMPLES], run_up = NAN, worst = 0, depth[16], height[16];
        if (run_beach(&b, order, 6, found, &run_up, err))
            return err->status;
        int crests = 0;
        for (int i = 0; i < SAMPLES; i++) {
            double x = (i - BEACH_START + 0.5) * b.dx;
            if (x >= 4 * b.dx)
                worst = fmax(worst, fabs(found[i] / b.amplitude - j0(beach_phase(&b, x))));
            if (x * b.slope < 0.3 || x * b.slope > 1.8 || crests == 16)
                continue;
            if (fabs(found[i]) > fabs(found[i - 1]) && fabs(found[i]) >= fabs(found[i + 1])) {
                depth[crests] = log(x * b.slope);
                height[crests++] = log(fabs(found[i]));
            }
        }
        snprintf(text, sizeof text, "order %d: largest difference, of A", order);
        case_report(sink, (case_result){text, worst, 0, 0.03, source});
        snprintf(text, sizeof text, "order %d: growth with depth, exponent", order);
        case_report(sink, (case_result){text, crests > 2 ? case_slope(depth, height, crests) : NAN, -0.25,
                                        0.02, "Green 1838"});
        b.amplitude = 4e-3; /* high enough to wet more than a cell, low enough not to break */
        if (run_beach(&b, order, 3, found, &run_up, err))
            return err->status;
        snprintf(text, sizeof text, "order %d: run-up along the beach, m", order);
        case_report(sink, (case_result){text, run_up, b.amplitude / b.slope, b.dx, source});
    }
    return UND_OK;
}
