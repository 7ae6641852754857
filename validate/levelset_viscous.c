/* Flows of the particle level set that die away by their viscosity: vortices, and a wave. */
#include "validate/levelset.h"

#include <math.h>
#include <stdio.h>

/* Velocity of the vortex in a box with walls that slip, [0, 1/2]^2; the context is its axis. */
static double vortex_at(const void *context, double x, double y, double z, double t)
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

/* A standing wave of 1 m on deep liquid of 0.005 m2/s, walls that slip: it is free of rotation but for a
 * layer below the surface, so it dies by the stresses there. */
#define WAVE_HEIGHT 0.01
static double wave_at(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return 1 + WAVE_HEIGHT * cos(2 * M_PI * x);
}

/* How high it is, of what it was. */
static double wave_left(const und_levelset *levelset, const und_levelset_def *def)
{
    double sum = 0;
    for (int x = 0; x < def->n[0]; x++)
        sum += case_levelset_surface(levelset, def, 1, x, 0, 0) * cos(2 * M_PI * (x + 0.5) / def->n[0]);
    return 2 * sum / def->n[0] / WAVE_HEIGHT;
}

und_status case_levelset_viscous_wave(case_sink *sink, und_error *err)
{
    enum { TIMES = 20 };
    static const double height[TIMES] = {0.04433,  -0.87673, -0.05898, 0.75740,  0.06154,  -0.65976, -0.06695,
                                         0.57076,  0.06672,  -0.49627, -0.06773, 0.42931,  0.06552,  -0.37284,
                                         -0.06412, 0.32242,  0.06082,  -0.27973, -0.05819, 0.24177};
    static const double tolerance[2] = {0.03, 0.02};
    for (int i = 0; i < 2; i++) {
        const int n = 32 << i;
        und_levelset_def def = case_levelset_tank(sink, n, n * 5 / 4, 1, 1.0 / n);
        def.has_level = true;
        def.level = (und_value){.fn = wave_at};
        def.viscosity = 0.005;
        und_levelset *levelset = und_levelset_create(&def, err);
        if (!levelset)
            return err->status;
        double sum = 0;
        for (int k = 0; k < TIMES; k++) {
            case_levelset_run(levelset, 0.2 * (k + 1), 0.01);
            double off = wave_left(levelset, &def) - height[k];
            sum += off * off;
        }
        und_levelset_destroy(levelset);
        char what[64];
        snprintf(what, sizeof what, "height off in 4 s, of the first, rms, %d cells", n);
        case_report(sink, (case_result){what, sqrt(sum / TIMES), 0, tolerance[i], "Prosperetti 1981"});
    }
    return UND_OK;
}
