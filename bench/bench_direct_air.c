/* direct.extrapolation: the velocity extended beyond the liquid, and then the air near it made to keep its
 * volume, on two balls that close in on each other in a box of 128^3.  Sweeps are over the cells around the
 * liquid that are reached. */
#include "bench/bench.h"

#include "flow/mac_flow.h"
#include "geom/shape.h"

#include <stdio.h>

enum { N = 128, LAYERS = 5, REPEATS = 5 };
static const float REACH = 2.6F; /* cells: what a substep of the default length asks for */

typedef struct balls {
    und_mac mac;
    und_distance surface;
    und_solids solids;
    und_mac_flow flow;
    und_pressure *system;
    und_mac_flow_report report;
} balls;

static und_status open_balls(balls *b, int threads, und_error *err)
{
    static const bool closed[6] = {false};
    const int n[3] = {N, N, N};
    *b = (balls){.mac = und_mac_make(n, (double[3]){1, 1, 1}, (double[3]){0, 0, 0})};
    if (und_distance_open(&b->surface, &b->mac, LAYERS, threads, err) ||
        und_solids_open(&b->solids, &b->mac, NULL, 0, closed, 0, threads, err) ||
        und_mac_flow_open(&b->flow, &b->mac, threads, NULL, err) ||
        !(b->system = und_pressure_create(&b->mac, threads, NULL, err)))
        return err->status;
    for (int i = 0; i < 2; i++) {
        und_shape ball = {.kind = UND_SPHERE, .center = {i ? 96 : 32, 64, 64}, .radius = 31};
        und_distance_csg(&b->surface, UND_CSG_UNION, &ball);
    }
    und_distance_redistance(&b->surface, 2);
    und_mac_flow_label(&b->flow, &b->surface, &b->solids);
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                b->flow.u[0][und_mac_at(&b->mac, x, y, z)] = x < N / 2 ? 1.0F : -1.0F;
    und_mac_flow_restored(&b->flow);
    return UND_OK;
}

static void close_balls(balls *b)
{
    und_pressure_destroy(b->system);
    und_mac_flow_close(&b->flow);
    und_solids_close(&b->solids);
    und_distance_close(&b->surface);
}

static double cells_near(const balls *b)
{
    double cells = 0;
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                float phi = b->surface.phi[und_mac_at(&b->mac, x, y, z)];
                cells += phi >= 0 && phi < REACH;
            }
    return cells;
}

static void extend(void *context)
{
    balls *b = context;
    und_mac_flow_extend(&b->flow, &b->solids, LAYERS);
}

static void free_air(void *context)
{
    balls *b = context;
    b->report = und_mac_flow_free_air(&b->flow, &b->surface, &b->solids, b->system, NULL, REACH, 1e-3, 100);
    und_mac_flow_plain_air(&b->flow);
}

und_status bench_direct_extrapolation(const bench_context *context, und_error *err)
{
    balls b;
    und_status status = open_balls(&b, context->threads, err);
    for (int air = 0; air < 2 && status == UND_OK; air++) {
        bench_result result = {.name = "direct.extrapolation", .threads = context->threads};
        snprintf(result.size, sizeof result.size, "%s", air ? "free air" : "5 layers");
        result.cells = cells_near(&b);
        extend(&b);
        if (air) {
            free_air(&b);
            result.extra[result.extra_count++] = (bench_extra){"iterations", b.report.iterations};
        }
        bench_measure(context, air ? free_air : extend, &b, REPEATS, &result);
        context->report(context->user, &result);
    }
    close_balls(&b);
    return status;
}
