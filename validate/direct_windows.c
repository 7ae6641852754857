/* Windows of the grid against the whole grid (Rasmussen et al. 2004, 5.3). */
#include "validate/direct.h"
#include "validate/levelset.h"

#include "geom/motion.h"

#include <math.h>
#include <stdio.h>

static const char *const source = "Rasmussen et al. 2004, 5.3: the window is a part of the fixed grid";

/* What two have in their cells and on their faces, compared over the domain. */
typedef struct comparison {
    double values, cells; /* that differ; cells of the window, over those of the whole */
    double left;          /* m3, over the start */
} comparison;

static double differing(const und_levelset_def *def, const und_levelset *a, const und_levelset *b)
{
    double count = 0;
    for (int z = 0; z < def->n[2]; z++)
        for (int y = 0; y < def->n[1]; y++)
            for (int x = 0; x < def->n[0]; x++) {
                double phi = und_levelset_distance(a, x, y, z);
                count += phi != und_levelset_distance(b, x, y, z);
                count += phi < 0 && und_levelset_pressure(a, x, y, z) != und_levelset_pressure(b, x, y, z);
                for (int k = 0; k < 3; k++)
                    count += und_levelset_velocity(a, k, x, y, z) != und_levelset_velocity(b, k, x, y, z);
            }
    return count + fabs((double)(und_levelset_last(a).particles - und_levelset_last(b).particles));
}

static und_status compare(und_levelset_def def, const und_window_def *window, double until, comparison *out,
                          und_error *err)
{
    int low[3], n[3];
    und_levelset *whole = und_levelset_create(&def, err);
    def.window = *window;
    und_levelset *part = whole ? und_levelset_create(&def, err) : NULL;
    *out = (comparison){0};
    for (int i = 1; part && i <= 4; i++) {
        case_levelset_run(whole, until * i / 4, 1.0 / 24);
        case_levelset_run(part, until * i / 4, 1.0 / 24);
        und_levelset_window(part, low, n);
        out->values += differing(&def, whole, part);
        out->cells = fmax(out->cells, (double)n[0] * n[1] * n[2] / ((double)def.n[0] * def.n[1] * def.n[2]));
    }
    if (part)
        out->left = (und_levelset_ledger(part).left - und_levelset_ledger(whole).left) /
                    und_levelset_ledger(part).start;
    und_levelset_destroy(whole);
    und_levelset_destroy(part);
    return part ? UND_OK : err->status;
}

static void report(case_sink *sink, const char *what, const comparison *c)
{
    char text[64];
    snprintf(text, sizeof text, "%s: values that differ", what);
    case_report(sink, (case_result){text, c->values, 0, 0, source});
    snprintf(text, sizeof text, "%s: left besides, of the liquid", what);
    case_report(sink, (case_result){text, c->left, 0, 0, source});
    snprintf(text, sizeof text, "%s: cells, of the whole's", what);
    case_report(sink, (case_result){text, c->cells, 0, 0.6, "so that there is something to compare"});
}

/* A drop that falls and spreads on a ball. */
und_status case_direct_window_drop(case_sink *sink, und_error *err)
{
    und_levelset_def def = case_levelset_tank(sink, 64, 112, 64, 1.0 / 64);
    und_shape drop = {.kind = UND_SPHERE, .center = {0.5, 1.45, 0.5}, .radius = 0.1};
    und_shape ball = {.kind = UND_SPHERE, .center = {0.52, 0.75, 0.5}, .radius = 0.12};
    und_fill_def fill = {.shape = &drop};
    und_obstacle_def solid = {.shape = &ball};
    const und_window_def window = {.on = true, .follow = UND_WINDOW_LIQUID, .margin = 10};
    comparison c;
    def.fills = &fill;
    def.obstacles = &solid;
    def.fill_count = def.obstacle_count = 1;
    und_status status = compare(def, &window, 0.4, &c, err);
    if (status == UND_OK)
        report(sink, "falling drop, fitted", &c);
    return status;
}

/* A blob that a plate pushes along; the window goes with the plate, and is as high as the domain: what the
 * blow throws off leaves both at its sides. */
und_status case_direct_window_blob(case_sink *sink, und_error *err)
{
    const double dx = 1.0 / 64, z = dx / 2;
    und_levelset_def def = case_levelset_tank(sink, 320, 96, 1, dx);
    und_shape blob = {.kind = UND_SPHERE, .center = {0.58, 0.75, z}, .radius = 0.12};
    und_shape plate = {.kind = UND_BOX, .half = {0.05, 0.2, 1}};
    const und_key way[2] = {{.time = 0, .position = {0.38, 0.75, 0}},
                            {.time = 0.8, .position = {2, 0.75, 0}}};
    const und_key size = {.position = {1.4, 1.5, 1}}, ahead = {.position = {0.1, 0, 0}};
    und_motion *motion = und_motion_create(way, 2, UND_EASE_SPLINE, err);
    und_motion *length = und_motion_create(&size, 1, UND_EASE_LINEAR, err);
    und_motion *offset = und_motion_create(&ahead, 1, UND_EASE_LINEAR, err);
    und_fill_def fill = {.shape = &blob};
    und_obstacle_def solid = {.shape = &plate, .motion = motion};
    const und_window_def window = {
        .on = true, .follow = UND_WINDOW_SOLID, .path = offset, .size = length, .resize = true, .margin = 10};
    comparison c;
    def.gravity[1] = 0;
    def.spray = false; /* drops that leave a window do not come back */
    def.fills = &fill;
    def.obstacles = &solid;
    def.fill_count = def.obstacle_count = 1;
    und_status status = motion && length && offset ? compare(def, &window, 0.7, &c, err) : err->status;
    if (status == UND_OK)
        report(sink, "blob pushed by a plate", &c);
    und_motion_destroy(motion);
    und_motion_destroy(length);
    und_motion_destroy(offset);
    return status;
}

/* A window that leaves a drop at rest behind: what is in it and what has left are all there was. */
und_status case_direct_window_left(case_sink *sink, und_error *err)
{
    const double dx = 1.0 / 64;
    und_levelset_def def = case_levelset_tank(sink, 128, 64, 1, dx);
    und_shape drop = {.kind = UND_SPHERE, .center = {0.5, 0.5, dx / 2}, .radius = 0.2};
    const und_key way[2] = {{.time = 0, .position = {0.5, 0.5, 0}}, {.time = 1, .position = {1.5, 0.5, 0}}};
    const und_key size = {.position = {0.6, 0.6, 1}};
    und_motion *path = und_motion_create(way, 2, UND_EASE_LINEAR, err);
    und_motion *length = und_motion_create(&size, 1, UND_EASE_LINEAR, err);
    und_fill_def fill = {.shape = &drop};
    def.gravity[1] = 0;
    def.fills = &fill;
    def.fill_count = 1;
    def.window = (und_window_def){.on = true, .path = path, .size = length};
    und_levelset *levelset = path && length ? und_levelset_create(&def, err) : NULL;
    for (int i = 1; levelset && i <= 2; i++) {
        case_levelset_run(levelset, 0.5 * i, 1.0 / 24);
        und_ledger ledger = und_levelset_ledger(levelset);
        /* at half of the time the window begins at x = 0.7, where the drop ends */
        if (i == 2)
            case_report(sink, (case_result){"left of a drop that is left behind", ledger.left / ledger.start,
                                            1, 0.01, source});
        else
            case_report(sink, (case_result){"balance while it is", fabs(ledger.correction) / ledger.start, 0,
                                            0.01, source});
    }
    und_levelset_destroy(levelset);
    und_motion_destroy(path);
    und_motion_destroy(length);
    return levelset ? UND_OK : err->status;
}
