/* Thick liquid with a free surface: a film that runs down a slope. */
#include "validate/cells.h"

#include "geom/shape.h"

#include <math.h>

#define G 9.81

static double film_at(const void *context, double x, double y, double z, double t)
{
    const double *film = context; /* its depth and the speed of its surface */
    double at = y / film[0];
    (void)x;
    (void)z;
    (void)t;
    return film[1] * at * (2 - at);
}

/* A film 16 cells deep on a slope of 30 degrees sets out with its profile and keeps it, for eight times as
 * long as viscosity takes to cross it. */
und_status case_film(case_sink *sink, und_error *err)
{
    enum { DEPTH = 16, LONG = 6 * DEPTH };
    static const char *const source = "Nusselt 1916: u = (g sin a / nu) (h y - y^2 / 2)";
    const double dx = 0.01, h = DEPTH * dx, nu = 0.1, along = G * 0.5, us = along * h * h / (2 * nu);
    double film[2] = {h, us};
    und_cells_def def = case_cells_tank(LONG, DEPTH + 4, dx);
    def.track = UND_TRACK_HEIGHT;
    const und_shape all = {.kind = UND_BOX, .center = {0, 0, 0}, .half = {9, h, 9}};
    const und_fill_def fill = {.shape = &all, .velocity = {{.fn = film_at, .context = film}}};
    def.fills = &fill;
    def.fill_count = 1;
    def.gravity[0] = along;
    def.gravity[1] = -G * sqrt(0.75);
    def.viscosity = nu;
    def.wall[0] = (und_wall_def){.kind = UND_WALL_INFLOW, .velocity = {{.fn = film_at, .context = film}}};
    def.wall[1].kind = UND_WALL_OUTFLOW;
    def.wall[2].kind = UND_WALL_STICK;
    und_cells *cells = und_cells_create(&def, err);
    if (!cells)
        return err->status;
    case_cells_run(cells, 8 * h * h / nu, 0.05);
    double u[DEPTH], worst = 0;
    for (int y = 0; y < DEPTH; y++) {
        u[y] = und_cells_velocity(cells, 0, LONG / 2, y, 0);
        worst = fmax(worst, fabs(u[y] - film_at(film, 0, (y + 0.5) * dx, 0, 0)) / us);
    }
    /* Differences lie half a cell and one and a half below the surface, and the first cell half above the
     * floor. */
    double shear = 2 * (u[DEPTH - 1] - u[DEPTH - 2]) - (u[DEPTH - 2] - u[DEPTH - 3]);
    double depth = und_cells_height(cells, LONG / 2, 0) / h, floor = 2 * u[0];
    und_cells_destroy(cells);
    case_report(sink, (case_result){"profile, largest error / surface speed", worst, 0, 0.02, source});
    case_report(sink, (case_result){"shear at the surface / at the floor", shear / floor, 0, 0.02, source});
    case_report(sink, (case_result){"depth / h", depth, 1, 0.02, source});
    return UND_OK;
}
