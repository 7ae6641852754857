/* Liquid that solids push against closed sides of the domain and solids at rest: it goes round them, and none
 * goes through. */
#include "validate/levelset.h"

#include "geom/motion.h"

#include <math.h>
#include <stdio.h>

#define END 3.0 /* s */
enum { STEPS = 72 };

static const char *const source = "none goes through";

/* Boxes in a tank of 1 m by 1 m, in its plane; the first moves by `way` within 2.5 s.  Lengths in m, and gaps
 * in cells are added to them. */
typedef struct push {
    const char *what;
    double level, low[2], high[2], way[2];
    double gap[2]; /* cells: of the way, not gone */
    int rests;
    double rest_low[2][2], rest_high[2][2];
    double thick; /* cells: where not 0, how thick the first is along x */
} push;

static und_shape *box_of(const double low[2], const double high[2], double from[2], und_error *err)
{
    for (int a = 0; a < 2; a++)
        from[a] = 0.5 * (low[a] + high[a]);
    const und_vec3 half = {0.5 * (high[0] - low[0]), 0.5 * (high[1] - low[1]), 1};
    return und_shape_create(&(und_shape){.kind = UND_BOX, .half = half}, err);
}

/* A cell that a solid has all of holds no liquid, however far the distance to it goes on in there. */
static bool is_solid(const und_levelset *levelset, const und_obstacle_def *solids, int count,
                     const int cell[2], double dx)
{
    const und_vec3 at = und_vec((cell[0] + 0.5) * dx, (cell[1] + 0.5) * dx, 0);
    for (int i = 0; i < count; i++) {
        const und_pose pose = und_motion_at(solids[i].motion, und_levelset_time(levelset));
        if (und_shape_distance(solids[i].shape, und_pose_local(&pose, at)) < -0.5 * dx)
            return true;
    }
    return false;
}

/* How much flows through the sides where there is liquid, m3/s: nothing should. */
static double through_sides(const und_levelset *levelset, const und_obstacle_def *solids, int count, int n,
                            double dx)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int side = 0; side < 4; side++) {
            const int axis = side / 2, at = side % 2 ? n - 1 : 0, cell[2] = {axis ? i : at, axis ? at : i};
            const int face[2] = {cell[0] + (axis == 0 && side % 2), cell[1] + (axis == 1 && side % 2)};
            if (und_levelset_distance(levelset, cell[0], cell[1], 0) < 0 &&
                !is_solid(levelset, solids, count, cell, dx))
                sum += fabs(und_levelset_velocity(levelset, axis, face[0], face[1], 0)) * dx * dx;
        }
    return sum;
}

static und_status push_boxes(case_sink *sink, const push *p, int n, und_error *err)
{
    const double dx = 1.0 / n;
    und_levelset_def def = case_levelset_tank(sink, n, n, 1, dx);
    und_obstacle_def solids[3] = {{0}};
    und_shape *shape[3];
    und_motion *motion[3];
    double at[2];
    for (int i = 0; i < 1 + p->rests; i++) {
        const double *low = i ? p->rest_low[i - 1] : p->low, *high = i ? p->rest_high[i - 1] : p->high;
        const double wide[2] = {p->thick > 0 && i == 0 ? low[0] + p->thick * dx : high[0], high[1]};
        solids[i].shape = shape[i] = box_of(low, wide, at, err);
        und_key keys[2] = {{.position = {at[0], at[1], 0}}, {.time = 2.5, .position = {at[0], at[1], 0}}};
        if (i == 0) {
            keys[1].position.x += p->way[0] - p->gap[0] * dx;
            keys[1].position.y += p->way[1] - p->gap[1] * dx;
        }
        solids[i].motion = motion[i] = und_motion_create(keys, i == 0 ? 2 : 1, UND_EASE_SPLINE, err);
    }
    def.obstacles = solids;
    def.obstacle_count = 1 + p->rests;
    def.has_level = true;
    def.level.number = p->level;
    bool made = true;
    for (int i = 0; i < 1 + p->rests; i++)
        made = made && solids[i].shape && solids[i].motion;
    und_levelset *levelset = made ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        char text[2][96];
        double through = 0;
        for (int i = 1; i <= STEPS; i++) {
            und_levelset_step(levelset, END / STEPS);
            through += END / STEPS * through_sides(levelset, solids, def.obstacle_count, n, dx);
        }
        und_ledger ledger = und_levelset_ledger(levelset);
        snprintf(text[0], sizeof text[0], "through closed sides, of the liquid, %s, %d cells", p->what, n);
        snprintf(text[1], sizeof text[1], "volume, of what it was, %s, %d cells", p->what, n);
        case_report(sink, (case_result){text[0], through / ledger.start, 0, 1e-6, source});
        case_report(sink, (case_result){text[1], ledger.measured / ledger.start, 1, 0.02, source});
    }
    und_levelset_destroy(levelset);
    for (int i = 0; i < 1 + p->rests; i++) {
        und_shape_destroy(shape[i]);
        und_motion_destroy(motion[i]);
    }
    return levelset ? UND_OK : err->status;
}

und_status case_levelset_pushed(case_sink *sink, und_error *err)
{
    static const push list[] = {
        {.what = "plunger",
         .level = 0.4,
         .low = {0.3, 0.42},
         .high = {0.7, 0.92},
         .way = {0, -0.42},
         .gap = {0, -1}},
        {.what = "paddle",
         .level = 0.4,
         .low = {0.3, -0.1},
         .high = {0.42, 0.25},
         .way = {0.58, 0},
         .gap = {1, 0}},
        {.what = "piston into a corner",
         .level = 0.45,
         .low = {-0.6, 0.12},
         .high = {0.2, 1.2},
         .way = {0.4, 0},
         .gap = {1, 0},
         .rests = 2,
         .rest_low = {{-0.1, -0.1}, {0.6, -0.1}},
         .rest_high = {{1.1, 0.137}, {1.1, 0.31}}},
        {.what = "wall of 0.6 cells",
         .level = 0.4,
         .low = {0.3, 0.1},
         .high = {0, 0.95},
         .way = {0.2, 0},
         .rests = 1,
         .rest_low = {{-0.1, -0.1}},
         .rest_high = {{1.1, 0.137}},
         .thick = 0.6},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        for (int n = 32; n <= 64; n *= 2) {
            und_status status = push_boxes(sink, &list[i], n, err);
            if (status != UND_OK)
                return status;
        }
    return UND_OK;
}
