/* The liquid's temperature: how it spreads, and how it flies with the liquid. */
#include "validate/direct.h"
#include "validate/levelset.h"

#include <math.h>
#include <stdio.h>

/* ---- A step that spreads, in a box that is full ---- */

static double step_start(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return x < 0.5 ? 20 : 21;
}

static double step_later(double x, double diffusivity, double t)
{
    return 20.5 + 0.5 * erf((x - 0.5) / sqrt(4 * diffusivity * t));
}

/* The largest error after the step has spread over a fifth of the box; and with a wall of 21 on the left of
 * liquid of 20. */
static und_status spread_heat(case_sink *sink, int n, bool wall, double *error, und_error *err)
{
    const double until = 1, diffusivity = 0.005;
    und_levelset_def def = case_levelset_tank(sink, n, 4, 1, 1.0 / n);
    und_shape *all = case_levelset_box(2, 1, 1, err);
    und_shape plate = {.kind = UND_BOX, .center = {-1 + 0.25, 0, 0}, .half = {1, 9, 9}};
    const und_value hot = {.number = 21};
    und_fill_def fill = {.shape = all};
    und_obstacle_def solid = {.shape = &plate, .temperature = &hot};
    und_heat_def heat = {.start = {.number = 20, .fn = wall ? NULL : step_start}, .diffusivity = diffusivity};
    def.fills = &fill;
    def.fill_count = 1;
    def.obstacles = &solid;
    def.obstacle_count = wall;
    def.gravity[1] = 0;
    def.heat = &heat;
    def.max_step = 4.0 / n / n;
    und_levelset *levelset = all ? und_levelset_create(&def, err) : NULL;
    *error = 0;
    if (levelset)
        case_levelset_run(levelset, until, until);
    for (int x = wall ? n / 4 : 0; levelset && x < n; x++) {
        double at = (x + 0.5) / n, t = und_levelset_temperature(levelset, x, 1, 0);
        double exact = wall ? 20 + erfc((at - 0.25) / sqrt(4 * diffusivity * until))
                            : step_later(at, diffusivity, until);
        *error = fmax(*error, fabs(t - exact));
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(all);
    return levelset ? UND_OK : err->status;
}

und_status case_direct_heat(case_sink *sink, und_error *err)
{
    static const char *const source = "erf(x / sqrt(4 a t))";
    double error[3] = {0};
    if (spread_heat(sink, 32, false, &error[0], err) || spread_heat(sink, 64, false, &error[1], err) ||
        spread_heat(sink, 64, true, &error[2], err))
        return err->status;
    case_report(sink, (case_result){"error of a step of 1, 64 cells", error[1], 0, 2e-3, source});
    case_report(sink, (case_result){"order, 32 to 64 cells", log2(error[0] / error[1]), 2, 0.3, source});
    case_report(sink, (case_result){"error beside a wall that is 1 hotter", error[2], 0, 4e-3, source});
    return UND_OK;
}

/* ---- A drop with a hot spot that flies ---- */

static double spot(const void *context, double x, double y, double z, double t)
{
    const double *middle = context;
    (void)z, (void)t;
    double r2 = (x - middle[0]) * (x - middle[0]) + (y - middle[1]) * (y - middle[1]);
    return exp(-r2 / (2 * 0.08 * 0.08));
}

und_status case_direct_heat_flies(case_sink *sink, und_error *err)
{
    static const char *const source = "it moves with the liquid";
    const double dx = 1.0 / 64, until = 0.4, start[2] = {0.3, 0.3}, speed[2] = {1, 0.7};
    double most = 0, error = 0, first[2] = {start[0], start[1]};
    double now[2] = {start[0] + speed[0] * until, start[1] + speed[1] * until};
    und_levelset_def def = case_levelset_tank(sink, 64, 64, 1, dx);
    und_shape drop = {.kind = UND_SPHERE, .center = {start[0], start[1], dx / 2}, .radius = 0.25};
    und_fill_def fill = {.shape = &drop, .velocity = {{.number = speed[0]}, {.number = speed[1]}}};
    und_heat_def heat = {.start = {.fn = spot, .context = first}};
    def.fills = &fill;
    def.fill_count = 1;
    def.gravity[1] = 0;
    def.heat = &heat;
    und_levelset *levelset = und_levelset_create(&def, err);
    if (!levelset)
        return err->status;
    case_levelset_run(levelset, until, until);
    for (int y = 0; y < 64; y++)
        for (int x = 0; x < 64; x++)
            if (und_levelset_distance(levelset, x, y, 0) < 0) {
                double t = und_levelset_temperature(levelset, x, y, 0);
                most = fmax(most, t);
                error = fmax(error, fabs(t - spot(now, (x + 0.5) * dx, (y + 0.5) * dx, 0, 0)));
            }
    und_levelset_destroy(levelset);
    case_report(sink, (case_result){"largest error of a spot of 1, after 31 cells", error, 0, 0.05, source});
    case_report(sink, (case_result){"its peak", most, 1, 0.03, source});
    return UND_OK;
}
