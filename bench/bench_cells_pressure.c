/* cells.solve: the pressure's system of a tank half full of liquid with an uneven surface, set and solved to
 * 1e-6 of the right-hand side. */
#include "bench/bench.h"

#include "base/random.h"
#include "base/status.h"
#include "solve/poisson.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct tank {
    und_mac mac;
    und_poisson *poisson;
    uint8_t *kind;
    double *b, *x;
    double weight[3];
    double tolerance;
    double cells; /* that are unknown */
    und_poisson_report report;
} tank;

static und_status open_tank(tank *t, int across, int threads, und_error *err)
{
    const int n[3] = {across, across * 3 / 8, across};
    const double d[3] = {1.0 / across, 1.0 / across, 1.0 / across}, origin[3] = {0};
    *t = (tank){.mac = und_mac_make(n, d, origin)};
    t->poisson = und_poisson_create(&t->mac, threads, err);
    t->kind = t->poisson ? und_alloc(t->mac.count, 1, "cells of a bench", err) : NULL;
    t->b = t->kind ? und_alloc(t->mac.count, sizeof *t->b, "cells of a bench", err) : NULL;
    t->x = t->b ? und_alloc(t->mac.count, sizeof *t->x, "cells of a bench", err) : NULL;
    for (int a = 0; a < 3; a++)
        t->weight[a] = 1 / (d[a] * d[a]);
    return t->x ? UND_OK : err->status;
}

static void close_tank(tank *t)
{
    und_poisson_destroy(t->poisson);
    free(t->kind);
    free(t->b);
    free(t->x);
}

static void fill_tank(tank *t)
{
    enum { SEED = 1 };
    const int *n = t->mac.n;
    double largest = 0;
    for (int row = 0; row < und_mac_rows(&t->mac); row++)
        for (int x = 0; x < n[0]; x++) {
            size_t i = und_mac_row(&t->mac, row) + (size_t)x;
            double u = (x + 0.5) / n[0], v = (row % n[1] + 0.5) / n[1], w = (row / n[1] + 0.5) / n[2];
            double surface = 0.5 + 0.12 * sin(9 * u) * cos(7 * w) + 0.05 * sin(31 * u + 17 * w);
            t->kind[i] = v > surface ? UND_POISSON_KNOWN : UND_POISSON_UNKNOWN;
            if (v > surface)
                continue;
            t->b[i] = und_random(SEED, 0, i) - 0.5 + sin(3 * u) * cos(5 * w) + v;
            largest = fmax(largest, fabs(t->b[i]));
            t->cells++;
        }
    t->tolerance = 1e-6 * largest;
}

static void set(void *context)
{
    tank *t = context;
    und_poisson_set(t->poisson, t->kind, t->weight);
}

static void set_and_solve(void *context)
{
    tank *t = context;
    memset(t->x, 0, t->mac.count * sizeof *t->x);
    set(t);
    t->report = und_poisson_solve(t->poisson, t->b, t->x, t->tolerance, 100);
}

und_status bench_cells_solve(const bench_context *context, und_error *err)
{
    static const int across[] = {32, 64, 128, 256};
    und_status status = UND_OK;
    for (size_t i = 0; i < sizeof across / sizeof *across && status == UND_OK; i++) {
        tank t;
        status = open_tank(&t, across[i], context->threads, err);
        if (status == UND_OK) {
            bench_result result = {.name = "cells.solve"}, setting;
            fill_tank(&t);
            result.cells = t.cells;
            snprintf(result.size, sizeof result.size, "%dx%dx%d", t.mac.n[0], t.mac.n[1], t.mac.n[2]);
            setting = result;
            bench_measure(context, set, &t, 9, &setting);
            bench_measure(context, set_and_solve, &t, across[i] > 128 ? 9 : 21, &result);
            result.extra[result.extra_count++] = (bench_extra){"iterations", t.report.iterations};
            result.extra[result.extra_count++] = (bench_extra){"set_seconds", setting.seconds};
            context->report(context->user, &result);
        }
        close_tank(&t);
    }
    return status;
}
