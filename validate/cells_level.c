/* A slope that is lower than a cell: it swings and comes to rest, whatever follows the liquid. */
#include "liquid/cells.h"
#include "validate/cells.h"

#include <math.h>
#include <stdio.h>

#define G 9.81

enum { N = 24, SWINGS = 10 };                /* cells along the tank */
static const double DX = 0.02, DEPTH = 10.3; /* cells */

/* From one end to the other 0.8 cells. */

static double sloped(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return DX * DEPTH + 0.8 * (x / N - 0.5 * DX);
}

/* The height of the liquid in a column, m. */
static double column(const und_cells *cells, const und_cells_def *def, int x, int z)
{
    double sum = 0;
    for (int y = 0; y < def->n[1]; y++)
        sum += und_cells_wet(cells, x, y, z) * def->cell[1];
    return sum;
}

/* How much of the first mode along x there is in the surface, m. */
static double first_mode(const und_cells *cells, const und_cells_def *def)
{
    double sum = 0;
    for (int z = 0; z < def->n[2]; z++)
        for (int x = 0; x < N; x++)
            sum += column(cells, def, x, z) * cos(M_PI * (x + 0.5) / N);
    return 2 * sum / (N * def->n[2]);
}

/* The largest height of a column less the smallest, cells. */
static double unevenness(const und_cells *cells, const und_cells_def *def)
{
    double low = INFINITY, high = -INFINITY;
    for (int z = 0; z < def->n[2]; z++)
        for (int x = 0; x < N; x++) {
            double h = column(cells, def, x, z);
            low = fmin(low, h);
            high = fmax(high, h);
        }
    return (high - low) / def->cell[1];
}

static und_status swing(const und_cells_def *def, int periods, double guess, double *period, und_error *err)
{
    enum { PER_PERIOD = 60 };
    und_cells *cells = und_cells_create(def, err);
    if (!cells)
        return err->status;
    double first = NAN, last = NAN, before = first_mode(cells, def);
    int crossings = 0;
    for (int i = 0; i < (periods + 1) * PER_PERIOD && crossings <= periods; i++) {
        und_cells_step(cells, guess / PER_PERIOD);
        double now = first_mode(cells, def), t = und_cells_time(cells);
        if (before < 0 && now >= 0) {
            last = t - guess / PER_PERIOD * now / (now - before);
            first = crossings++ == 0 ? last : first;
        }
        before = now;
    }
    und_cells_destroy(cells);
    *period = (last - first) / (crossings - 1);
    return UND_OK;
}

/* It swings for a while, and then thickens and comes to rest. */
static und_status settle(const und_cells_def *def, double swings, double *uneven, und_error *err)
{
    und_cells *cells = und_cells_create(def, err);
    if (!cells)
        return err->status;
    und_liquid *liquid = und_cells_liquid(cells);
    und_tuning thick;
    case_cells_run(cells, swings, 0.05);
    liquid->class->tuning(liquid, &thick);
    thick.viscosity = 0.05;
    liquid->class->tune(liquid, &thick);
    case_cells_run(cells, swings + 4, 0.05);
    *uneven = unevenness(cells, def);
    und_cells_destroy(cells);
    return UND_OK;
}

und_status case_levelling(case_sink *sink, und_error *err)
{
    static const struct {
        und_track track;
        int nz;
        const char *what;
    } runs[] = {{UND_TRACK_MARKERS, 1, "markers"},
                {UND_TRACK_CHAINS, 1, "chains"},
                {UND_TRACK_MARKERS, 3, "markers in space"}};
    const double k = M_PI / (N * DX), omega = sqrt(G * k * tanh(k * DX * DEPTH));
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        und_cells_def def = case_cells_tank(N, 14, DX);
        def.n[2] = runs[i].nz;
        def.track = runs[i].track;
        def.has_level = true;
        def.level = (und_value){.fn = sloped};
        double period = 0, uneven[2] = {0};
        und_status status = swing(&def, 3, 2 * M_PI / omega, &period, err);
        for (int j = 0; j < 2 && status == UND_OK; j++)
            status = settle(&def, j * SWINGS * 2 * M_PI / omega, &uneven[j], err);
        if (status != UND_OK)
            return status;
        char what[3][80];
        snprintf(what[0], sizeof what[0], "period, s, %s", runs[i].what);
        snprintf(what[1], sizeof what[1], "unevenness at rest, cells, %s", runs[i].what);
        case_report(sink, (case_result){what[0], period, 2 * M_PI / omega, 0.02 * 2 * M_PI / omega,
                                        "w^2 = g k tanh(k h)"});
        snprintf(what[2], sizeof what[2], "the same after %d swings, %s", SWINGS, runs[i].what);
        for (int j = 0; j < 2; j++)
            case_report(sink, (case_result){what[1 + j], uneven[j], 0, 0.05, "flat"});
    }
    return UND_OK;
}
