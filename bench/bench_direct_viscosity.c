/* direct.viscosity: the viscous step by both solvers on the liquid of the dam break, 48^3, in a shear flow.
 * Sweeps are over the liquid's cells.  The liquid is honey-like (nu dt / dx^2 = 10), stiff (1e4), and with
 * stiff and thin layers side by side (1e4 and 1e-4). */
#include "bench/bench.h"

#include "flow/viscous.h"
#include "geom/shape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 48, REPEATS = 3 };

typedef struct liquid {
    und_mac mac;
    und_distance surface;
    und_solids solids;
    und_mac_flow flow;
    und_viscous *solver;
    float *nu, *start[3];
    und_mac_flow_report report;
} liquid;

static void set_flow(liquid *l, double nu, bool layers)
{
    for (int z = 0; z < N; z++)
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++) {
                size_t i = und_mac_at(&l->mac, x, y, z);
                l->nu[i] = (float)(layers && y / 8 % 2 ? 1e-8 * nu : nu);
                l->start[0][i] = sinf(0.2f * (float)y + 0.05f * (float)z);
                l->start[1][i] = cosf(0.15f * (float)x);
                l->start[2][i] = sinf(0.1f * (float)(x + y));
            }
}

static und_status open_liquid(liquid *l, bool coupled, int threads, und_error *err)
{
    static const bool closed[6] = {false};
    const int n[3] = {N, N, N};
    und_shape dam = {.kind = UND_BOX, .center = {0.2 * N, 0.3 * N, 0.5 * N}, .half = {0.2 * N, 0.3 * N, N}};
    *l = (liquid){.mac = und_mac_make(n, (double[3]){1, 1, 1}, (double[3]){0, 0, 0})};
    if (und_distance_open(&l->surface, &l->mac, 5, threads, err) ||
        und_solids_open(&l->solids, &l->mac, NULL, 0, closed, 0, threads, err) ||
        und_mac_flow_open(&l->flow, &l->mac, threads, NULL, err) ||
        !(l->solver = und_viscous_create(&l->mac, coupled, threads, err)))
        return err->status;
    und_distance_csg(&l->surface, UND_CSG_UNION, &dam);
    und_mac_flow_label(&l->flow, &l->surface, &l->solids);
    l->nu = calloc(l->mac.count, sizeof *l->nu);
    for (int a = 0; a < 3; a++)
        l->start[a] = calloc(l->mac.count, sizeof *l->start[a]);
    return UND_OK;
}

static void close_liquid(liquid *l)
{
    und_viscous_destroy(l->solver);
    und_mac_flow_close(&l->flow);
    und_solids_close(&l->solids);
    und_distance_close(&l->surface);
    free(l->nu);
    for (int a = 0; a < 3; a++)
        free(l->start[a]);
}

static void step(void *context)
{
    liquid *l = context;
    const und_viscous_flow flow = {.flow = &l->flow,
                                   .surface = &l->surface,
                                   .solids = &l->solids,
                                   .nu = l->nu,
                                   .stick = true,
                                   .dt = 1,
                                   .tolerance = 1e-4,
                                   .max_iterations = 200};
    for (int a = 0; a < 3; a++)
        memcpy(l->flow.u[a], l->start[a], l->mac.count * sizeof(float));
    und_viscous_keep(l->solver, &l->flow);
    l->report = und_viscous_step(l->solver, &flow);
}

und_status bench_direct_viscosity(const bench_context *context, und_error *err)
{
    static const struct {
        const char *what;
        double nu;
        bool layers;
    } kinds[] = {{"honey", 10, false}, {"stiff", 1e4, false}, {"layers", 1e4, true}};
    for (int coupled = 0; coupled < 2; coupled++) {
        liquid l;
        und_status status = open_liquid(&l, coupled, context->threads, err);
        for (size_t i = 0; status == UND_OK && i < sizeof kinds / sizeof *kinds; i++) {
            bench_result result = {.name = "direct.viscosity", .threads = context->threads};
            snprintf(result.size, sizeof result.size, "%s, %s", coupled ? "coupled" : "split", kinds[i].what);
            result.cells = (double)und_mask_count(&l.flow.liquid);
            set_flow(&l, kinds[i].nu, kinds[i].layers);
            step(&l);
            result.extra[result.extra_count++] = (bench_extra){"iterations", l.report.iterations};
            bench_measure(context, step, &l, REPEATS, &result);
            context->report(context->user, &result);
        }
        close_liquid(&l);
        if (status != UND_OK)
            return status;
    }
    return UND_OK;
}
