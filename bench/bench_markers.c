/* cells.markers: a million markers turn in a tank of 64^3 cells, half a cell a step where it is fastest:
 * moved; counted per cell, with the labels of all cells. */
#include "bench/bench.h"

#include "base/status.h"
#include "surface/markers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 64, PER_CELL = 4 };

typedef struct stir {
    und_markers *markers;
    double *u[3];
    uint8_t *label, *wall;
    und_wall_def walls[1];
} stir;

static void move(void *context)
{
    stir *s = context;
    und_markers_move(s->markers, s->u, s->label, s->wall, s->walls, 0.5 / SIDE);
}

static void label(void *context)
{
    stir *s = context;
    und_markers_label(s->markers, s->label);
}

/* Around the tank's middle, and none through its walls: u = (x - x2) (1 - 2 y), in cells of 1 / SIDE. */
static void set_velocity(const und_mac *m, double *const u[3])
{
    for (int z = -1; z <= SIDE; z++)
        for (int y = -1; y <= SIDE; y++)
            for (int x = -1; x <= SIDE; x++) {
                size_t i = und_mac_at(m, x, y, z);
                double edge[2] = {(x + 1.0) / SIDE, (y + 1.0) / SIDE};
                double middle[2] = {(x + 0.5) / SIDE, (y + 0.5) / SIDE};
                u[0][i] = 4 * edge[0] * (1 - edge[0]) * (1 - 2 * middle[1]);
                u[1][i] = -4 * edge[1] * (1 - edge[1]) * (1 - 2 * middle[0]);
            }
}

static bool everywhere(void *context, double x, double y, double z)
{
    (void)context, (void)x, (void)y, (void)z;
    return true;
}

static und_status open_stir(stir *s, int threads, und_error *err)
{
    const int n[3] = {SIDE, SIDE, SIDE};
    const double d[3] = {1.0 / SIDE, 1.0 / SIDE, 1.0 / SIDE}, origin[3] = {0};
    und_mac m = und_mac_make(n, d, origin);
    for (int a = 0; a < 3; a++)
        if (!(s->u[a] = und_alloc(m.count, sizeof **s->u, "velocity", err)))
            return err->status;
    if (!(s->label = und_alloc(m.count, 1, "labels", err)) ||
        !(s->wall = und_alloc(m.count, 1, "walls", err)) ||
        !(s->markers = und_markers_create(&m, 1, threads, err)))
        return err->status;
    memset(s->label, UND_CELL_SOLID, m.count);
    for (int row = 0; row < und_mac_rows(&m); row++)
        memset(s->label + und_mac_row(&m, row), UND_CELL_EMPTY, SIDE);
    set_velocity(&m, s->u);
    return und_markers_fill(s->markers, everywhere, NULL, s->label, PER_CELL, err);
}

und_status bench_cells_markers(const bench_context *context, und_error *err)
{
    static const struct {
        const char *what;
        bench_kernel *kernel;
    } kernels[] = {{"move", move}, {"label", label}};
    stir s = {0};
    und_status status = open_stir(&s, context->threads, err);
    for (int k = 0; k < 2 && status == UND_OK; k++) {
        bench_result result = {.name = "cells.markers", .cells = s.markers->count};
        snprintf(result.size, sizeof result.size, "%s", kernels[k].what);
        bench_measure(context, kernels[k].kernel, &s, 32, &result);
        context->report(context->user, &result);
    }
    und_markers_destroy(s.markers);
    for (int a = 0; a < 3; a++)
        free(s.u[a]);
    free(s.label);
    free(s.wall);
    return status;
}
