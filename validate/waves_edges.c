/* Rings, edges, and the flow recovered from the heights. */
#include "base/status.h"
#include "liquid/waves.h"
#include "validate/waves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define G 9.81

enum { RING = 193 }; /* samples along a side */

/* Root mean square along the four axes over that along all rays. */
static double on_axes(const double *v)
{
    double axes = 0, all = 0;
    for (int i = 0; i < CASE_RAYS; i++) {
        all += v[i] / CASE_RAYS;
        axes += i % (CASE_RAYS / 4) == 0 ? v[i] / 4 : 0;
    }
    return sqrt(axes / all);
}

/* A drop 6 cells wide falls into a pond; its ring is looked at when it is 60 cells wide. */
und_status case_ring(case_sink *sink, und_error *err)
{
    static const double courants[] = {0.5, 1, 2};
    double dx = 0.1, depth = 1, c = sqrt(G * depth), expected = 60;
    char text[80];
    for (int order = 1; order <= 2; order++)
        for (int i = 0; i < 3; i++) {
            double dt = courants[i] * dx / c, side = RING * dx;
            und_drop_def drop = {.center = {side / 2, 0, side / 2}, .radius = 6 * dx, .volume = 1e-5};
            und_waves_def def = case_tank(RING, RING, dx, depth, order);
            def.height_field.drops = &drop;
            def.height_field.drop_count = 1;
            und_waves *waves = und_waves_create(&def, err);
            if (!waves)
                return err->status;
            case_steps(waves, (int)round(expected / courants[i]), dt);
            case_ring_view r;
            case_see_ring(case_waves_water(waves, RING, RING), expected, &r);
            und_waves_destroy(waves);
            snprintf(text, sizeof text, "order %d, Courant %g: radius, spread", order, courants[i]);
            case_report(sink, (case_result){text, case_spread(r.radius), 0, 0.01, "a ring is round"});
            snprintf(text, sizeof text, "order %d, Courant %g: height, spread", order, courants[i]);
            case_report(sink,
                        (case_result){text, case_spread(r.height), 0, 0.3, "a ring is as high all around"});
            snprintf(text, sizeof text, "order %d, Courant %g: wake on the axes", order, courants[i]);
            case_report(sink,
                        (case_result){text, on_axes(r.wake), 1, 0.15, "the axes are like any direction"});
        }
    return UND_OK;
}

/* A pulse runs out of an open end: what comes back, as part of what left. */
und_status case_open_edge(case_sink *sink, und_error *err)
{
    static const double amplitudes[] = {1e-5, 0.1};
    for (int order = 1; order <= 2; order++)
        for (int i = 0; i < 2; i++) {
            double dx = 0.05, c = sqrt(G), dt = 0.5 * dx / c, gone, back = 0;
            case_pulse pulse = {.amplitude = 2 * amplitudes[i], .width = 0.8, .center = 10};
            und_waves_def def = case_tank(400, 1, dx, 1, order);
            def.height_field.surface = (und_value){.fn = case_pulse_surface, .context = &pulse};
            def.height_field.edge[UND_LOW_X].kind = def.height_field.edge[UND_HIGH_X].kind = UND_EDGE_OPEN;
            und_waves *waves = und_waves_create(&def, err);
            if (!waves)
                return err->status;
            case_steps(waves, 280, dt); /* 7 m */
            case_crest(waves, 0, 200, 399, &gone);
            case_steps(waves, 400, dt); /* out, and up to 7 m back */
            for (int x = 0; x < def.height_field.nx; x++)
                back = fmax(back, fabs(und_waves_surface(waves, x, 0)));
            und_waves_destroy(waves);
            char text[80];
            snprintf(text, sizeof text, "order %d, height %g of the depth: comes back", order, amplitudes[i]);
            case_report(sink, (case_result){text, back / gone, 0, 0.01, "Sommerfeld 1912"});
        }
    return UND_OK;
}

/* Amplitude and phase of an oscillation of known frequency, summed up sample by sample. */
typedef struct phasor {
    double c, s;
} phasor;

static void add_sample(phasor *p, double value, double phase, int count)
{
    p->c += 2 * value * cos(phase) / count;
    p->s += 2 * value * sin(phase) / count;
}

/* The incoming wave's amplitude and direction, from the phasors of a patch of cells: neighbours differ by the
 * wave number times dx.  Averaged over the patch, fringes from the ends of the edge do not count. */
static void read_wave(const phasor *p, int nx, int nz, double *amplitude, double *angle)
{
    double square = 0, dot[2] = {0}, cross[2] = {0};
    for (int z = 0; z < nz; z++)
        for (int x = 0; x < nx; x++) {
            const phasor *a = p + z * nx + x, *next[2] = {a + 1, a + nx};
            square += (a->c * a->c + a->s * a->s) / (nx * nz);
            for (int i = 0; i < 2; i++)
                if (i == 0 ? x + 1 < nx : z + 1 < nz) {
                    dot[i] += a->c * next[i]->c + a->s * next[i]->s;
                    cross[i] += a->c * next[i]->s - a->s * next[i]->c;
                }
        }
    *amplitude = sqrt(square);
    *angle = atan2(nz > 1 ? atan2(cross[1], dot[1]) : 0, atan2(cross[0], dot[0])) * 180 / M_PI;
}

/* A wave of 1 mm and 1.5 s comes in at an angle through the edge at low x; all edges are open. */
static und_status drive(int order, int rows, double degrees, double *amplitude, double *angle, und_error *err)
{
    enum { WIDE = 30, PER = 60 };
    double dx = 0.1, depth = 0.5, period = 1.5, c = sqrt(G * depth), dt = period / PER;
    int x0 = rows > 1 ? 20 : 135, high = rows > 1 ? 60 : 1, z0 = (rows - high) / 2;
    und_waves_def def = case_tank(rows > 1 ? 80 : 200, rows, dx, depth, order);
    for (int e = 0; e < UND_EDGES; e++)
        def.height_field.edge[e].kind = e < 2 || rows > 1 ? UND_EDGE_OPEN : UND_EDGE_WALL;
    def.height_field.edge[UND_LOW_X].amplitude = 1e-3;
    def.height_field.edge[UND_LOW_X].period = period;
    def.height_field.edge[UND_LOW_X].direction = degrees;
    def.height_field.edge[UND_LOW_X].ramp = period;
    phasor *patch = und_alloc((size_t)(WIDE * high), sizeof *patch, "patch", err);
    und_waves *waves = patch ? und_waves_create(&def, err) : NULL;
    if (!waves) {
        free(patch);
        return err->status;
    }
    double path = (x0 + WIDE) * dx / cos(degrees * M_PI / 180);
    case_steps(waves, PER * (int)ceil(2 + path / c / period), dt); /* the front has passed */
    for (int i = 1; i <= PER; i++) {
        und_waves_step(waves, dt);
        for (int z = 0; z < high; z++)
            for (int x = 0; x < WIDE; x++)
                add_sample(&patch[z * WIDE + x], und_waves_surface(waves, x0 + x, z0 + z), 2 * M_PI * i / PER,
                           PER);
    }
    und_waves_destroy(waves);
    read_wave(patch, WIDE, high, amplitude, angle);
    *amplitude /= def.height_field.edge[UND_LOW_X].amplitude;
    free(patch);
    return UND_OK;
}

und_status case_driven_edge(case_sink *sink, und_error *err)
{
    static const double directions[] = {0, 20, -35};
    double amplitude = NAN, angle = NAN;
    char text[80];
    for (int order = 1; order <= 2; order++) {
        if (drive(order, 1, 0, &amplitude, &angle, err))
            return err->status;
        /* The first order's own loss over 15 m of travel. */
        double w = 2 * M_PI / 1.5, dt = 1.5 / 60, t = 15 / sqrt(G * 0.5);
        double kept = order == 1 ? exp(-0.5 * w * w * dt * t) : 1;
        snprintf(text, sizeof text, "order %d, channel: amplitude, of that asked", order);
        case_report(sink, (case_result){text, amplitude, kept, 0.04 * kept,
                                        order == 1 ? "exp(-w^2 dt t / 2), Kass & Miller 1990" : "as asked"});
    }
    for (int i = 0; i < 3; i++) {
        if (drive(2, 241, directions[i], &amplitude, &angle, err))
            return err->status;
        snprintf(text, sizeof text, "order 2, %g degrees: direction, degrees", directions[i]);
        case_report(sink, (case_result){text, angle, directions[i], 2, "as asked"});
        snprintf(text, sizeof text, "order 2, %g degrees: amplitude, of that asked", directions[i]);
        case_report(sink, (case_result){text, amplitude, 1, 0.05, "as asked"});
    }
    return UND_OK;
}

static const und_item *item_of(const und_frame *frame, const char *name, und_error *err)
{
    const und_item *item = und_frame_find(frame, name);
    if (!item)
        und_error_set(err, UND_FAILED, "no %s", name);
    return item;
}

/* The largest difference between a step's change of height and what its flows carry, of the largest change.
 * The second order's water moves by the mean of the flows before and after. */
static und_status divergence(int order, double *off, und_error *err)
{
    enum { N = 48, ROW = 64 };
    und_drop_def drop = {.center = {2, 0, 2.6}, .radius = 0.6, .volume = 1e-3};
    und_waves_def def = case_tank(N, N, 0.1, 0.5, order);
    def.height_field.drops = &drop;
    def.height_field.drop_count = 1;
    def.velocity = true;
    und_waves *waves = und_waves_create(&def, err);
    if (!waves)
        return err->status;
    case_steps(waves, 50, 0.02);
    double before[N][N];
    float flow[2][2][N * ROW];
    double largest = 0, back = order == 2 ? 0.5 : 0;
    *off = 0;
    for (int pass = 0; pass < 2; pass++) {
        und_liquid *liquid = und_waves_liquid(waves);
        und_frame state = {0};
        const und_item *fx, *fz;
        if (liquid->class->save(liquid, &state, err) || !(fx = item_of(&state, "flux_x", err)) ||
            !(fz = item_of(&state, "flux_z", err))) {
            und_frame_clear(&state);
            und_waves_destroy(waves);
            return err->status;
        }
        for (int i = 0; i < N * ROW; i++) {
            flow[pass][0][i] = ((const float *)fx->data)[i];
            flow[pass][1][i] = ((const float *)fz->data)[i];
        }
        und_frame_clear(&state);
        for (int i = 0; pass == 0 && i < N * N; i++)
            before[i / N][i % N] = und_waves_surface(waves, i % N, i / N);
        if (pass == 0)
            und_waves_step(waves, 0.02);
    }
    for (int z = 0; z < N; z++)
        for (int x = 0; x < N; x++) {
            double in = 0, change = und_waves_surface(waves, x, z) - before[z][x];
            for (int p = 0; p < 2; p++) {
                const float *qx = flow[p][0] + z * ROW + x, *qz = flow[p][1] + z * ROW + x;
                double weight = p == 0 ? back : 1 - back;
                in += weight * ((x > 0 ? (double)qx[-1] : 0) - (x < N - 1 ? (double)qx[0] : 0));
                in += weight * ((z > 0 ? (double)qz[-ROW] : 0) - (z < N - 1 ? (double)qz[0] : 0));
            }
            *off = fmax(*off, fabs(change - in * 0.02 / def.height_field.dx));
            largest = fmax(largest, fabs(change));
        }
    *off /= largest;
    und_waves_destroy(waves);
    return UND_OK;
}

/* u = eta sqrt(g / d) under the crest of a wave that travels one way. */
static und_status under_crest(int order, double *ratio, und_error *err)
{
    double dx = 0.05, depth = 0.5, c = sqrt(G * depth), height;
    case_pulse pulse = {.amplitude = 2e-4, .width = 1, .center = 6};
    und_waves_def def = case_tank(400, 1, dx, depth, order);
    def.height_field.surface = (und_value){.fn = case_pulse_surface, .context = &pulse};
    def.velocity = true;
    und_waves *waves = und_waves_create(&def, err);
    if (!waves)
        return err->status;
    case_steps(waves, 400, 0.25 * dx / c);
    int crest = (int)round(case_crest(waves, 0, 160, 399, &height));
    und_frame frame = {0};
    const und_item *u = NULL;
    if (und_waves_liquid(waves)->class->frame(und_waves_liquid(waves), &frame, err) == UND_OK)
        u = item_of(&frame, "velocity_x", err);
    if (u)
        *ratio = (double)((const float *)u->data)[crest] / (height * sqrt(G / depth));
    und_frame_clear(&frame);
    und_waves_destroy(waves);
    return u ? UND_OK : err->status;
}

/* The upward speed with which a pulse that travels towards high x begins: -c d eta/dx. */
static double one_way_rising(const void *context, double x, double y, double z, double t)
{
    const case_pulse *p = context;
    return 2 * (x - p->center) / (p->width * p->width) * sqrt(G * 0.5) *
           case_pulse_surface(context, x, y, z, t);
}

/* Height of what goes the wrong way, of the height of the pulse. */
static und_status one_way(int order, double *wrong, und_error *err)
{
    double dx = 0.05, c = sqrt(G * 0.5), right;
    case_pulse pulse = {.amplitude = 1e-4, .width = 1, .center = 10};
    und_waves_def def = case_tank(400, 1, dx, 0.5, order);
    def.height_field.surface = (und_value){.fn = case_pulse_surface, .context = &pulse};
    def.velocity0 = (und_value){.fn = one_way_rising, .context = &pulse};
    und_waves *waves = und_waves_create(&def, err);
    if (!waves)
        return err->status;
    case_steps(waves, 480, 0.25 * dx / c); /* 6 m */
    case_crest(waves, 0, 200, 399, &right);
    *wrong = 0;
    for (int x = 0; x < 200; x++)
        *wrong = fmax(*wrong, fabs(und_waves_surface(waves, x, 0)) / right);
    und_waves_destroy(waves);
    return UND_OK;
}

und_status case_flow(case_sink *sink, und_error *err)
{
    double value = NAN;
    char text[80];
    for (int order = 1; order <= 2; order++) {
        if (divergence(order, &value, err))
            return err->status;
        snprintf(text, sizeof text, "order %d: divergence against change", order);
        case_report(sink, (case_result){text, value, 0, 1e-4, "Kass & Miller 1990, eq. 3"});
        if (one_way(order, &value, err))
            return err->status;
        snprintf(text, sizeof text, "order %d: starts one way, part that goes back", order);
        case_report(sink, (case_result){text, value, 0, 0.02, "d'Alembert"});
        if (under_crest(order, &value, err))
            return err->status;
        snprintf(text, sizeof text, "order %d: u over eta sqrt(g / d)", order);
        case_report(sink,
                    (case_result){text, value, 1, 0.02, "a wave that travels one way, Lamb 1932, sec. 170"});
    }
    return UND_OK;
}
