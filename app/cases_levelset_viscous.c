/* The flow of the particle level set without a surface: vortices that die away. */
#include "cases_levelset.h"

#include <math.h>
#include <stdio.h>

/* Velocity of the vortex in a box with walls that slip, [0, 1/2]^2; the context is its axis. */
static double vortex_at(void *context, double x, double y, double z, double t)
{
    const int *axis = context;
    (void)z, (void)t;
    double a = 2 * M_PI * x, b = 2 * M_PI * y;
    return *axis == 0 ? sin(a) * cos(b) : -cos(a) * sin(b);
}

/* The error in u after 0.2 s, root of the mean square. */
static und_status decay(case_sink *sink, int n, und_velocity_rule rule, int order, double step, double *error,
                        und_error *err)
{
    static int axes[2] = {0, 1};
    const double nu = 0.01, until = 0.2, dx = 0.5 / n;
    und_levelset_def def = case_levelset_tank(sink, n, n, 1, dx);
    und_shape *all = case_levelset_box(1, 1, 1, err);
    und_fill_def fill = {.shape = all};
    for (int a = 0; a < 2; a++)
        fill.velocity[a] = (und_value){.fn = vortex_at, .context = &axes[a]};
    def.fills = &fill;
    def.fill_count = 1;
    def.gravity[1] = 0;
    def.viscosity = nu;
    def.velocity_rule = rule;
    def.order = order;
    def.courant = 1;
    def.max_step = step;
    def.tolerance = 1e-6;
    und_levelset *levelset = all ? und_levelset_create(&def, err) : NULL;
    double factor = exp(-8 * M_PI * M_PI * nu * until), sum = 0;
    if (levelset)
        case_levelset_run(levelset, until, until);
    for (int a = 0; levelset && a < 2; a++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++) {
                double at = vortex_at(&axes[a], (x + 0.5 * a) * dx, (y + 0.5 * (1 - a)) * dx, 0, 0);
                double u = und_levelset_velocity(levelset, a, x, y, 0);
                sum += (u - at * factor) * (u - at * factor) / 2;
            }
    *error = sqrt(sum / (n * (double)n));
    und_levelset_destroy(levelset);
    und_shape_destroy(all);
    return levelset ? UND_OK : err->status;
}

/* Semi-Lagrangian at one cell a step; MacCormack with steps as the square of the cells, so that the split of
 * the step, of first order in time, errs as the space does; and with order 2 at one cell a step. */
und_status case_levelset_taylor_green(case_sink *sink, und_error *err)
{
    static const char *const source = "Taylor & Green 1937: exp(-8 pi^2 nu t)";
    static const double plain[3] = {0.04, 0.02, 0.01}, second[3] = {1e-3, 2e-4, 2e-4};
    double error[3][3];
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 3; i++) {
            const int n = r == 1 ? 16 << i : 32 << i;
            const double step = r == 1 ? 0.00125 * 32 * 32 / (n * (double)n) : INFINITY;
            if (decay(sink, n, r == 0 ? UND_VELOCITY_SEMI_LAGRANGIAN : UND_VELOCITY_MACCORMACK,
                      r == 2 ? 2 : 1, step, &error[r][i], err) != UND_OK)
                return err->status;
        }
    for (int i = 0; i < 3; i++) {
        char what[64];
        snprintf(what, sizeof what, "L2 error of u, %d cells, MacCormack, order 2, a cell a step", 32 << i);
        case_report(sink, (case_result){what, error[2][i], 0, second[i], source});
    }
    for (int i = 0; i < 3; i++) {
        char what[64];
        snprintf(what, sizeof what, "L2 error of u, %d cells, semi-Lagrangian", 32 << i);
        case_report(sink, (case_result){what, error[0][i], 0, plain[i], source});
    }
    case_report(sink, (case_result){"order, 64 to 128 cells, semi-Lagrangian",
                                    log2(error[0][1] / error[0][2]), 1, 0.2, source});
    case_report(sink, (case_result){"L2 error of u, 32 cells, MacCormack", error[1][1], 0, 1e-3, source});
    case_report(sink, (case_result){"order, 16 to 32 cells, MacCormack", log2(error[1][0] / error[1][1]), 2,
                                    0.2, source});
    case_report(sink, (case_result){"order, 32 to 64 cells, MacCormack", log2(error[1][1] / error[1][2]), 2,
                                    0.2, source});
    return UND_OK;
}
