/* Solids of the particle level set hold what is in them: cups that tilt, walls thinner than a cell, a box
 * that turns. */
#include "validate/levelset.h"

#include "geom/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define RADIUS 0.25
#define HALF 0.22

static const char *const source = "nothing is poured: all of it stays";

/* Part of the liquid, by cells, that is out of the solid and not where it should be: what the region (in the
 * solid's own coordinates) does not have. */
static double outside(const und_levelset *levelset, const und_levelset_def *def, const und_motion *motion,
                      const und_shape *wall, const und_shape *region)
{
    const und_pose pose = und_motion_at(motion, und_levelset_time(levelset));
    double all = 0, out = 0;
    for (int z = 0; z < def->n[2]; z++)
        for (int y = 0; y < def->n[1]; y++)
            for (int x = 0; x < def->n[0]; x++) {
                und_vec3 p = und_mul(und_vec(x + 0.5, y + 0.5, z + 0.5), def->dx);
                und_vec3 own = und_pose_local(&pose, p);
                if (und_levelset_distance(levelset, x, y, z) >= 0 || und_shape_distance(wall, own) <= 0)
                    continue;
                all++;
                out += und_shape_distance(region, own) > 0;
            }
    return all > 0 ? out / all : 1;
}

static und_shape *cylinder(und_vec3 center, double half, double radius, und_error *err)
{
    return und_shape_create(
        &(und_shape){.kind = UND_CYLINDER, .center = center, .half = {0, half, 0}, .radius = radius}, err);
}

static und_shape *make_cup(double wall, und_error *err)
{
    und_shape **parts = malloc(2 * sizeof *parts);
    if (!parts)
        return NULL;
    parts[0] = cylinder(und_vec(0, 0, 0), HALF, RADIUS, err);
    parts[1] = cylinder(und_vec(0, wall, 0), HALF, RADIUS - wall, err);
    return und_shape_create(&(und_shape){.kind = UND_DIFFERENCE, .child_count = 2, .children = parts}, err);
}

/* Runs for 1 s and reports what is outside the region, and the volume. */
static und_status report(case_sink *sink, const und_levelset_def *def, const und_shape *region,
                         const char *what, double drift, und_error *err)
{
    char text[2][80];
    und_levelset *levelset = und_levelset_create(def, err);
    if (!levelset)
        return err->status;
    case_levelset_run(levelset, 1, 1.0 / 24);
    const und_ledger ledger = und_levelset_ledger(levelset);
    snprintf(text[0], sizeof text[0], "outside after 1 s, of the liquid, %s", what);
    snprintf(text[1], sizeof text[1], "volume, of what it was, %s", what);
    const und_obstacle_def *solid = def->obstacles;
    case_report(sink, (case_result){text[0], outside(levelset, def, solid->motion, solid->shape, region), 0,
                                    0.005, source});
    case_report(sink, (case_result){text[1], ledger.measured / ledger.start, 1, drift, source});
    und_levelset_destroy(levelset);
    return UND_OK;
}

/* A cup, half full, is tilted by 30 degrees in 1 s: its rim stays above the liquid. */
static und_status tilt_cup(case_sink *sink, double cells, double drift, und_error *err)
{
    enum { N = 40 };
    const double wall = cells / N, low = 0.35 - HALF + wall / 2, high = 0.37;
    const und_vec3 at = {0.5, 0.35, 0.5};
    const und_key keys[3] = {{.time = 0, .position = at},
                             {.time = 0.5, .position = at, .rotation = {0, 0, 15}},
                             {.time = 1, .position = at, .rotation = {0, 0, 30}}};
    und_levelset_def def = case_levelset_tank(sink, N, N, N, 1.0 / N);
    und_shape *cup = make_cup(wall, err), *region = cylinder(und_vec(0, 0.5, 0), HALF + 0.5, RADIUS, err),
              *pool = cylinder(und_vec(0.5, (low + high) / 2, 0.5), (high - low) / 2, RADIUS - wall / 2, err);
    und_motion *motion = und_motion_create(keys, 3, UND_EASE_SPLINE, err);
    const und_obstacle_def solid = {.shape = cup, .motion = motion};
    const und_fill_def fill = {.shape = pool};
    def.obstacles = &solid;
    def.fills = &fill;
    def.obstacle_count = def.fill_count = 1;
    char what[40];
    snprintf(what, sizeof what, "wall of %g cells", cells);
    bool made = cup && region && pool && motion;
    und_status status = made ? report(sink, &def, region, what, drift, err) : err->status;
    und_shape_destroy(cup);
    und_shape_destroy(region);
    und_shape_destroy(pool);
    und_motion_destroy(motion);
    return status;
}

und_status case_levelset_cup(case_sink *sink, und_error *err)
{
    und_status status = tilt_cup(sink, 3, 0.01, err);
    if (status == UND_OK)
        status = tilt_cup(sink, 1, 0.01, err);
    return status == UND_OK ? tilt_cup(sink, 0.3, 0.02, err) : status;
}

/* A wall, aslant to the grid, with liquid on one side of it. */
static und_status divide(case_sink *sink, double cells, und_error *err)
{
    enum { N = 32 };
    und_levelset_def def = case_levelset_tank(sink, N, N, N, 1.0 / N);
    const und_key key = {.position = {0.45, 0.4, 0.5}, .rotation = {0, 10, 20}};
    und_motion *motion = und_motion_create(&key, 1, UND_EASE_LINEAR, err);
    und_shape *wall = und_shape_create(&(und_shape){.kind = UND_BOX, .half = {cells / N / 2, 3, 3}}, err);
    und_shape *region = und_shape_create(&(und_shape){.kind = UND_PLANE, .half = {-1, 0, 0}}, err);
    und_shape **parts = malloc(2 * sizeof *parts), *pool = NULL;
    if (motion && parts) {
        und_pose pose = und_motion_at(motion, 0);
        und_vec3 side = und_quat_rotate(pose.rotation, und_vec(-1, 0, 0));
        parts[0] =
            und_shape_create(&(und_shape){.kind = UND_PLANE, .center = key.position, .half = side}, err);
        parts[1] =
            und_shape_create(&(und_shape){.kind = UND_PLANE, .center = {0, 0.5, 0}, .half = {0, 1, 0}}, err);
        pool = und_shape_create(&(und_shape){.kind = UND_INTERSECTION, .child_count = 2, .children = parts},
                                err);
    } else
        free(parts);
    const und_obstacle_def solid = {.shape = wall, .motion = motion};
    const und_fill_def fill = {.shape = pool};
    def.obstacles = &solid;
    def.fills = &fill;
    def.obstacle_count = def.fill_count = 1;
    char what[40];
    snprintf(what, sizeof what, "wall of %g cells", cells);
    bool made = wall && region && pool && motion;
    und_status status = made ? report(sink, &def, region, what, 0.002, err) : err->status;
    und_shape_destroy(wall);
    und_shape_destroy(region);
    und_shape_destroy(pool);
    und_motion_destroy(motion);
    return status;
}

und_status case_levelset_thin(case_sink *sink, und_error *err)
{
    und_status status = divide(sink, 0.3, err);
    return status == UND_OK ? divide(sink, 1, err) : status;
}

/* A box that is all there is, half full, turns by 90 degrees in 1 s. */
und_status case_levelset_box_turns(case_sink *sink, und_error *err)
{
    enum { N = 40 };
    const und_vec3 at = {0.5, 0.5, 0.5}, half = {0.3, 0.25, 0.2};
    const und_key keys[3] = {{.time = 0, .position = at},
                             {.time = 0.5, .position = at, .rotation = {0, 0, 45}},
                             {.time = 1, .position = at, .rotation = {0, 0, 90}}};
    und_levelset_def def = case_levelset_tank(sink, N, N, N, 1.0 / N);
    und_shape *box = und_shape_create(&(und_shape){.kind = UND_BOX, .half = half}, err);
    und_shape *pool =
        und_shape_create(&(und_shape){.kind = UND_PLANE, .center = {0, 0.5, 0}, .half = {0, 1, 0}}, err);
    und_motion *motion = und_motion_create(keys, 3, UND_EASE_SPLINE, err);
    const und_obstacle_def solid = {.shape = box, .motion = motion, .inside_out = true};
    const und_fill_def fill = {.shape = pool};
    def.obstacles = &solid;
    def.fills = &fill;
    def.obstacle_count = def.fill_count = 1;
    und_levelset *levelset = box && pool && motion ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 1, 1.0 / 24);
        und_ledger ledger = und_levelset_ledger(levelset);
        case_report(sink, (case_result){"volume at the start, of half the box",
                                        ledger.start / (4 * half.x * half.y * half.z), 1, 0.005, source});
        case_report(sink, (case_result){"volume after a turn by 90 degrees, of what it was",
                                        ledger.measured / ledger.start, 1, 0.02, source});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(box);
    und_shape_destroy(pool);
    und_motion_destroy(motion);
    return levelset ? UND_OK : err->status;
}

/* How fast a tank runs empty through a slot in its floor, whose edges are sharp and let go: of the width of
 * the slot, the jet has what Torricelli's speed makes of that.  `at`: where edge and floor lie, cells from
 * faces. */
static und_status drain(case_sink *sink, int wide, const double at[2], const char *where, und_error *err)
{
    const int n = 16 * wide, below = 2 * wide;
    const double dx = 1.0 / n, lip = (below + 3 + at[1]) * dx, left = 0.5 - (wide / 2.0 - at[0]) * dx;
    und_levelset_def def = case_levelset_tank(sink, n, below + 3 + n * 2 / 3, 1, dx);
    und_shape **parts = malloc(2 * sizeof *parts), *floor = NULL, *water = NULL;
    const und_vec3 half = {1, 1.5 * dx, 1};
    for (int side = 0; side < 2 && parts; side++) {
        const und_vec3 middle = {side ? left + wide * dx + 1 : left - 1, lip - 1.5 * dx, 0};
        parts[side] = und_shape_create(&(und_shape){.kind = UND_BOX, .center = middle, .half = half}, err);
    }
    if (parts)
        floor = und_shape_create(&(und_shape){.kind = UND_UNION, .child_count = 2, .children = parts}, err);
    water = und_shape_create(
        &(und_shape){.kind = UND_BOX, .center = {0.5, lip + 0.3, 0}, .half = {1, 0.3, 1}}, err);
    const und_obstacle_def solid = {.name = "floor", .shape = floor};
    const und_fill_def fill = {.shape = water};
    def.obstacles = &solid;
    def.fills = &fill;
    def.obstacle_count = def.fill_count = 1;
    def.open[2] = true;
    und_levelset *levelset = floor && water ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        double root[2]; /* of the depth: falls by half of the jet's width over the tank's times sqrt(2 g) t */
        for (int k = 0; k < 2; k++) {
            double level = 0;
            case_levelset_run(levelset, k ? 0.75 : 0.25, 1.0 / 24);
            for (int x = 0; x < n; x++)
                level += case_levelset_surface(levelset, &def, 1, x, below + 4, 0) / n;
            root[k] = sqrt(level - lip);
        }
        const double jet = 2 * (root[0] - root[1]) / (0.5 * sqrt(2 * 9.81)) / (wide * dx);
        char text[64];
        snprintf(text, sizeof text, "jet, of the slot's width, %d cells%s", wide, where);
        case_report(sink, (case_result){text, jet, M_PI / (M_PI + 2), 0.1 * M_PI / (M_PI + 2),
                                        "Kirchhoff 1869: pi / (pi + 2)"});
        const und_ledger l = und_levelset_ledger(levelset);
        snprintf(text, sizeof text, "made or lost, of the volume, %d cells%s", wide, where);
        case_report(sink, (case_result){text, l.correction / l.start, 0, 1e-12, source});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(floor);
    und_shape_destroy(water);
    return levelset ? UND_OK : err->status;
}

und_status case_levelset_slot(case_sink *sink, und_error *err)
{
    static const double at[4][2] = {{0, 0}, {0.25, 0.25}, {0.5, 0}, {0.5, 0.5}};
    static const char *const where[4] = {"", ", within cells", ", edges in middles", ", all in middles"};
    und_status status = UND_OK;
    for (int wide = 6; wide <= 12 && status == UND_OK; wide *= 2)
        for (int k = 0; k < 4 && status == UND_OK; k++)
            status = drain(sink, wide, at[k], where[k], err);
    return status;
}
