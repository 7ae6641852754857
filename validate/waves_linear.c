/* Small waves over a flat bed: the scheme's own damping and dispersion, the wave equation, seiches, orders of
 * convergence.  For the modes of a closed tank of N cells with walls half a cell beyond the outer samples,
 * equation 14's operator has the frequencies w = (2 sqrt(g d) / dx) sin(m pi / 2 N); the first-order step
 * multiplies a mode by lambda with |lambda| = (1 + w^2 dt^2)^(-1/2), arg lambda = atan(w dt); the trapezoidal
 * one by |lambda| = 1, arg lambda = 2 atan(w dt / 2). */
#include "base/status.h"
#include "validate/waves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define G 9.81
#define KM90 "Kass & Miller 1990, eq. 14-16"
#define MERIAN "Merian 1828; Lamb 1932, sec. 190"

/* A mode of a closed tank, followed for a number of steps. */
typedef struct mode_run {
    int nx, nz, m, n, order, steps;
    double dx, depth, dt, amplitude;
} mode_run;

/* Frequency of the discrete operator, 1/s. */
static double grid_frequency(const mode_run *r)
{
    double sx = sin(M_PI * r->m / (2.0 * r->nx)), sz = sin(M_PI * r->n / (2.0 * r->nz));
    return 2 * sqrt(G * r->depth) / r->dx * hypot(sx, sz);
}

/* And of the wave equation. */
static double true_frequency(const mode_run *r)
{
    return sqrt(G * r->depth) * M_PI / r->dx * hypot((double)r->m / r->nx, (double)r->n / r->nz);
}

/* The mode's amplitude at every step, from 0; to be freed. */
static double *follow(const mode_run *r, und_error *err)
{
    und_waves_def def = case_tank(r->nx, r->nz, r->dx, r->depth, r->order);
    case_mode_start start = {r->amplitude, M_PI * r->m / (r->nx * r->dx), M_PI * r->n / (r->nz * r->dx)};
    def.height_field.surface = (und_value){.fn = case_mode_surface, .context = &start};
    double *series = und_alloc((size_t)r->steps + 1, sizeof *series, "series", err);
    und_waves *waves = series ? und_waves_create(&def, err) : NULL;
    if (!waves) {
        free(series);
        return NULL;
    }
    for (int i = 0; i <= r->steps; i++) {
        series[i] = case_mode(waves, &def, r->m, r->n);
        und_waves_step(waves, r->dt);
    }
    und_waves_destroy(waves);
    return series;
}

/* Runs about two periods and fits lambda. */
static und_status fit_mode(mode_run r, case_fit *fit, und_error *err)
{
    double period = 2 * M_PI / grid_frequency(&r);
    int lag = (int)fmax(1, round(period / r.dt / 4));
    r.steps = 8 * lag + 2;
    double *series = follow(&r, err);
    if (!series)
        return err->status;
    *fit = case_fit_series(series, r.steps + 1, lag);
    free(series);
    return UND_OK;
}

/* 10 m of water 1 m deep in 100 cells. */
und_status case_km_modes(case_sink *sink, und_error *err)
{
    static const int modes[] = {1, 4, 8, 32}, rates[] = {24, 60, 480};
    for (int order = 1; order <= 2; order++)
        for (int d = 0; d < 3; d++)
            for (int i = 0; i < 4; i++) {
                mode_run r = {.nx = 100, .nz = 1, .m = modes[i], .order = order, .dx = 0.1, .depth = 1};
                r.dt = 1.0 / rates[d];
                r.amplitude = 1e-6;
                case_fit fit;
                if (fit_mode(r, &fit, err))
                    return err->status;
                double a = grid_frequency(&r) * r.dt, size = order == 1 ? 1 / sqrt(1 + a * a) : 1;
                double angle = order == 1 ? atan(a) : 2 * atan(a / 2);
                const char *source = order == 1 ? KM90 ": |lambda| = (1 + w^2 dt^2)^(-1/2), arg = atan(w dt)"
                                                : "trapezoidal rule: |lambda| = 1, arg = 2 atan(w dt / 2)";
                char text[2][80];
                snprintf(text[0], sizeof *text, "order %d mode %d dt 1/%d: |lambda|", order, modes[i],
                         rates[d]);
                snprintf(text[1], sizeof *text, "order %d mode %d dt 1/%d: omega, 1/s", order, modes[i],
                         rates[d]);
                case_report(sink, (case_result){text[0], fit.size, size, 1e-6 * size, source});
                case_report(sink, (case_result){text[1], fit.angle / r.dt, angle / r.dt, 1e-6 * angle / r.dt,
                                                source});
            }
    return UND_OK;
}

/* A Gaussian exp(-((x - 3)/0.4)^2) released from rest in 10 m of water 1 m deep, 200 cells, dt = 1/60 s: the
 * sum of the scheme's modes after round(t / dt) steps. */
static const struct {
    double t, x, height;
} pulse_table[] = {
    {0.5, 1.425, 0.3520014806}, {0.5, 4.425, 0.339685487}, {0.5, 5.025, 0.1745134214},
    {1, 0.025, 0.5645667307},   {1, 5.025, 0.01994209149}, {1, 6.125, 0.2872582147},
    {2, 3.025, 0.2121961141},   {2, 4.425, 0.04264640565}, {2, 9.225, 0.2375325491},
    {4, 3.025, 0.0393785463},   {4, 4.575, 0.165040039},   {4, 9.975, 0.2753361418},
};

und_status case_km_pulse(case_sink *sink, und_error *err)
{
    double eps = 1e-6, worst = 0, c = sqrt(G);
    case_pulse pulse = {.amplitude = eps, .width = 0.4, .center = 3};
    und_waves_def def = case_tank(200, 1, 0.05, 1, 1);
    def.height_field.surface = (und_value){.fn = case_pulse_surface, .context = &pulse};
    for (int order = 1; order <= 2; order++) {
        def.order = order;
        und_waves *waves = und_waves_create(&def, err);
        if (!waves)
            return err->status;
        double crest[2] = {0};
        int done = 0;
        for (size_t i = 0; i < sizeof pulse_table / sizeof *pulse_table; i++) {
            int steps = (int)round(60 * pulse_table[i].t), x = (int)(pulse_table[i].x / def.height_field.dx);
            case_steps(waves, steps - done, 1.0 / 60);
            done = steps;
            worst = fmax(worst, fabs(und_waves_surface(waves, x, 0) / eps - pulse_table[i].height));
            if (i == 0 || i == 3)
                crest[i / 3] = (case_crest(waves, 0, 60, 199, NULL) + 0.5) * def.height_field.dx;
        }
        und_waves_destroy(waves);
        if (order == 1)
            case_report(sink, (case_result){"order 1: largest difference, of amplitude", worst, 0, 1e-4,
                                            KM90 ", sum of its modes"});
        /* Dispersion delays the crest: by less than a cell in 1/2 s. */
        case_report(sink, (case_result){order == 1 ? "order 1: crest at 1 s, m" : "order 2: crest at 1 s, m",
                                        crest[1], 3 + c, def.height_field.dx, "d'Alembert: 3 + sqrt(g d) t"});
    }
    return UND_OK;
}

und_status case_wave_speed(case_sink *sink, und_error *err)
{
    static const double depths[] = {0.05, 0.5, 5, 50};
    static const int modes[][2] = {{8, 0}, {7, 3}, {6, 6}, {3, 7}};
    char text[80];
    for (int i = 0; i < 4; i++) {
        double dx = 0.1, width = 20 * dx, c = sqrt(G * depths[i]), dt = 0.25 * dx / c, height;
        case_pulse pulse = {.amplitude = 1e-5 * depths[i], .width = width, .center = 10};
        und_waves_def def = case_tank(400, 1, dx, depths[i], 2);
        def.height_field.surface = (und_value){.fn = case_pulse_surface, .context = &pulse};
        und_waves *waves = und_waves_create(&def, err);
        if (!waves)
            return err->status;
        case_steps(waves, 320, dt); /* the halves are 8 m from the middle */
        double from = case_crest(waves, 0, 120, 399, &height);
        case_steps(waves, 400, dt);
        double to = case_crest(waves, 0, 120, 399, &height);
        und_waves_destroy(waves);
        snprintf(text, sizeof text, "curve, %g m deep: speed, m/s", depths[i]);
        case_report(sink, (case_result){text, (to - from) * dx / (400 * dt), c, 2e-3 * c, "sqrt(g d)"});
    }
    for (int i = 0; i < 4; i++) {
        mode_run r = {.nx = 96, .nz = 96, .m = modes[i][0], .n = modes[i][1], .order = 2, .dx = 0.1};
        r.depth = 0.5;
        r.amplitude = 1e-6;
        r.dt = 2 * M_PI / true_frequency(&r) / 100;
        case_fit fit;
        if (fit_mode(r, &fit, err))
            return err->status;
        double c = sqrt(G * r.depth);
        snprintf(text, sizeof text, "surface, %.0f degrees from x: speed, m/s", atan2(r.n, r.m) * 180 / M_PI);
        case_report(sink,
                    (case_result){text, fit.angle / r.dt / true_frequency(&r) * c, c, 5e-3 * c, "sqrt(g d)"});
    }
    return UND_OK;
}

und_status case_seiche(case_sink *sink, und_error *err)
{
    for (int order = 1; order <= 2; order++)
        for (int i = 0; i < CASE_BASINS; i++) {
            const case_basin *b = &case_basins[i];
            mode_run r = {.nx = b->nx, .nz = b->nz, .m = b->m, .n = b->n, .dx = b->dx, .depth = b->depth};
            r.order = order;
            r.dt = 1.0 / 240;
            r.amplitude = 1e-6;
            case_fit fit;
            if (fit_mode(r, &fit, err))
                return err->status;
            double true_period = 2 * M_PI / true_frequency(&r), period = 2 * M_PI / fit.angle * r.dt;
            double a = true_frequency(&r) * r.dt, right = order == 1 ? atan(a) / a : 1;
            char text[80];
            snprintf(text, sizeof text, "order %d, %d x %d cells, mode %d,%d: period, s", order, r.nx, r.nz,
                     r.m, r.n);
            case_report(sink, (case_result){text, period * right, true_period, 1e-3 * true_period, MERIAN});
        }
    return UND_OK;
}

/* What is left of a seiche's amplitude after 20 periods of 96 steps. */
und_status case_seiche_decay(case_sink *sink, und_error *err)
{
    static const int modes[][3] = {{1, 0, 1}, {1, 1, 64}};
    for (int order = 1; order <= 2; order++)
        for (int i = 0; i < 2; i++) {
            mode_run r = {.nx = 64, .nz = modes[i][2], .m = 1, .n = modes[i][1], .order = order, .dx = 0.1};
            r.depth = 0.5;
            r.amplitude = 1e-4;
            r.dt = 2 * M_PI / grid_frequency(&r) / 96;
            r.steps = 96 * 20 + 96;
            double *series = follow(&r, err), first = 0, last = 0, a = grid_frequency(&r) * r.dt;
            if (!series)
                return err->status;
            for (int s = 0; s < 96; s++) {
                first = fmax(first, fabs(series[s]));
                last = fmax(last, fabs(series[96 * 20 + s]));
            }
            free(series);
            /* A surface's step multiplies by each direction's factor in turn. */
            double along = i == 0 ? a * a : a * a / 2,
                   loss = 1 / (1 + along) * (i == 0 ? 1 : 1 / (1 + along));
            double kept = order == 1 ? pow(loss, 0.5 * 96 * 20) : 1;
            char text[80];
            snprintf(text, sizeof text, "order %d, %s: amplitude after 20 periods", order,
                     i == 0 ? "curve" : "surface");
            case_report(sink, (case_result){text, last / first, kept, order == 1 ? 0.01 * kept : 2e-3,
                                            order == 1 ? KM90 : "the step keeps energy"});
        }
    return UND_OK;
}

/* The largest difference from cos(w t) over three periods, of the amplitude. */
static und_status time_error(mode_run r, int steps_per_period, double *error, und_error *err)
{
    double w = grid_frequency(&r);
    r.dt = 2 * M_PI / w / steps_per_period;
    r.steps = 3 * steps_per_period;
    r.amplitude = 1e-6;
    double *series = follow(&r, err);
    if (!series)
        return err->status;
    *error = 0;
    for (int i = 0; i <= r.steps; i++)
        *error = fmax(*error, fabs(series[i] / series[0] - cos(w * r.dt * i)));
    free(series);
    return UND_OK;
}

/* Root mean square difference from d'Alembert's solution of a pulse that splits, reflects and comes back. */
static und_status pulse_error(int order, int cells, double courant, double *error, und_error *err)
{
    double length = 10, dx = length / cells, c = sqrt(G), eps = 1e-6, t = 4 / c, sum = 0;
    case_pulse pulse = {.amplitude = eps, .width = 1, .center = 3};
    und_waves_def def = case_tank(cells, 1, dx, 1, order);
    def.height_field.surface = (und_value){.fn = case_pulse_surface, .context = &pulse};
    und_waves *waves = und_waves_create(&def, err);
    if (!waves)
        return err->status;
    int steps = (int)ceil(t * c / (courant * dx) - 1e-9);
    case_steps(waves, steps, t / steps);
    for (int i = 0; i < cells; i++) {
        double x = (i + 0.5) * dx, exact = 0;
        for (int side = -1; side <= 1; side += 2) { /* the wall at 0 mirrors what went left */
            exact += 0.5 * case_pulse_surface(&pulse, x + side * 4, 0, 0, 0);
            exact += 0.5 * case_pulse_surface(&pulse, -x + side * 4, 0, 0, 0);
        }
        double off = (und_waves_surface(waves, i, 0) - exact) / eps;
        sum += off * off / cells;
    }
    und_waves_destroy(waves);
    *error = sqrt(sum);
    return UND_OK;
}

und_status case_converge(case_sink *sink, und_error *err)
{
    double coarse, fine;
    char text[80];
    for (int order = 1; order <= 2; order++)
        for (int surface = 0; surface <= 1; surface++) {
            mode_run r = {
                .nx = 32, .nz = surface ? 32 : 1, .m = 1, .n = 2 * surface, .order = order, .dx = 0.1};
            r.depth = 0.5;
            int steps = order == 1 ? 400 : 50;
            if (time_error(r, steps, &coarse, err) || time_error(r, 2 * steps, &fine, err))
                return err->status;
            snprintf(text, sizeof text, "order %d, %s: order in dt", order, surface ? "surface" : "curve");
            case_report(sink, (case_result){text, log2(coarse / fine), order, 0.1, "cos(w t)"});
        }
    mode_run grids[2] = {{.nx = 16, .nz = 1, .m = 1, .order = 2, .dx = 0.2, .depth = 0.5, .dt = 0.01}};
    grids[1] = grids[0];
    grids[1].nx = 32;
    grids[1].dx = 0.1;
    double off[2];
    for (int i = 0; i < 2; i++) {
        case_fit fit;
        grids[i].amplitude = 1e-6;
        if (fit_mode(grids[i], &fit, err))
            return err->status;
        off[i] = fabs(2 * tan(fit.angle / 2) / grids[i].dt / true_frequency(&grids[i]) - 1);
    }
    case_report(sink, (case_result){"frequency: order in dx", log2(off[0] / off[1]), 2, 0.1, MERIAN});
    for (int order = 1; order <= 2; order++) {
        double courant = order == 1 ? 0.05 : 0.5;
        if (pulse_error(order, 100, courant, &coarse, err) || pulse_error(order, 200, courant, &fine, err))
            return err->status;
        snprintf(text, sizeof text, "order %d, a pulse: order in dx and dt together", order);
        case_report(sink,
                    (case_result){text, log2(coarse / fine), order, order == 1 ? 0.2 : 0.1, "d'Alembert"});
    }
    return UND_OK;
}
