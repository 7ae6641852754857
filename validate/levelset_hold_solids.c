/* Solids and the level set's water: what they push goes round them, what they hold stays where it is, and
 * what they press together is told.  All of it counted in what cells hold, to the last bit. */
#include "validate/levelset.h"

#include "geom/motion.h"
#include "liquid/levelset_state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const kept = "none goes through, none vanishes";

/* Cells of a grid that count, by their middle, m. */
typedef bool counts_fn(const void *context, und_vec3 middle);

/* What they hold, m3; also where that is below 0, which nothing may be. */
static double held(const und_levelset *s, counts_fn *counts, const void *context)
{
    const und_mac *m = &s->mac;
    double sum = 0;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (int x = 0; x < m->n[0]; x++) {
            const size_t at = und_mac_row(m, row) + (size_t)x;
            const int y = row % m->n[1], z = row / m->n[1];
            const und_vec3 middle = {(x + 0.5) * m->d[0], (y + 0.5) * m->d[1], (z + 0.5) * m->d[2]};
            if (counts(context, middle))
                sum += fabs((double)und_levelset_volume_cells(s)[at]) / UND_VOLUME_ONE;
        }
    return sum * m->d[0] * m->d[1] * m->d[2];
}

/* What cells without room hold, m3. */
static double in_solids_of(const und_levelset *s)
{
    const und_mac *m = &s->mac;
    double sum = 0;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (size_t at = und_mac_row(m, row), end = at + (size_t)m->n[0]; at < end; at++)
            if (s->solids.room[at] == 0)
                sum += fabs((double)und_levelset_volume_cells(s)[at]) / UND_VOLUME_ONE;
    return sum * m->d[0] * m->d[1] * m->d[2];
}

static void report(case_sink *sink, const char *what, int n, const char *quantity, case_result result)
{
    char text[96];
    snprintf(text, sizeof text, "%s, %d cells: %s", what, n, quantity);
    result.quantity = text;
    result.source = kept;
    case_report(sink, result);
}

/* What the ledger says, and the solids: nothing was made, lost, or let out. */
static void report_ledger(case_sink *sink, const und_levelset *s, const char *what, int n, double in_solids)
{
    const und_ledger l = und_levelset_ledger(s);
    report(sink, what, n, "made, lost or let out",
           (case_result){.value = (fabs(l.correction) + l.left) / l.start, .tolerance = 1e-12});
    report(sink, what, n, "in solids", (case_result){.value = in_solids / l.start, .tolerance = 0});
}

/* ---- Boxes that push ---- */

/* In a tank of 1 m by 1 m, in its plane; the first moves by `way` within 0.6 s, and stops `gap` cells short
 * of that.  Lengths in m. */
typedef struct push {
    const char *what;
    double fill_high[2], low[2], high[2], way[2], gap[2];
    int rests;
    double rest_low[2][2], rest_high[2][2];
    double thick; /* cells: where not 0, how thick the first is along x, and there is a dry side behind it */
} push;

static const push pushes[] = {
    {"plunger", {1, 0.4}, {0.3, 0.42}, {0.7, 0.92}, {0, -0.42}, {0, -1}, 0, {{0}}, {{0}}, 0},
    {"paddle", {1, 0.4}, {0.3, -0.1}, {0.42, 0.25}, {0.58, 0}, {1, 0}, 0, {{0}}, {{0}}, 0},
    {"piston into a corner",
     {1, 0.45},
     {-0.6, 0.12},
     {0.2, 1.2},
     {0.4, 0},
     {1, 0},
     2,
     {{-0.1, -0.1}, {0.6, -0.1}},
     {{1.1, 0.137}, {1.1, 0.31}},
     0},
    {"gate of 0.6 cells",
     {0.5, 0.4},
     {0.5, 0.1},
     {0, 1.2},
     {-0.15, 0},
     {0, 0},
     1,
     {{-0.1, -0.1}},
     {{1.1, 0.137}},
     0.6},
};

static und_shape *box(const double low[2], const double high[2], und_error *err)
{
    const und_vec3 center = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), 0};
    const und_vec3 half = {0.5 * (high[0] - low[0]), 0.5 * (high[1] - low[1]), 1};
    return und_shape_create(&(und_shape){.kind = UND_BOX, .center = center, .half = half}, err);
}

static bool is_right_of(const void *context, und_vec3 middle)
{
    return middle.x > *(const double *)context;
}

/* Its frames: what is in solids at worst, and behind the gate where there is one. */
static void run_push(case_sink *sink, und_levelset *levelset, const push *p, int n)
{
    double in_solids = 0, behind = 0;
    for (int frame = 1; frame <= 24; frame++) {
        case_levelset_run(levelset, frame / 24.0, 1.0 / 24);
        const double t = fmin(frame / 24.0 / 0.6, 1), gate = p->low[0] + p->way[0] * t + (p->thick + 0.5) / n;
        in_solids = fmax(in_solids, in_solids_of(levelset));
        if (p->thick > 0)
            behind = fmax(behind, held(levelset, is_right_of, &gate));
    }
    report_ledger(sink, levelset, p->what, n, in_solids);
    const double start = und_levelset_ledger(levelset).start;
    if (p->thick > 0)
        report(sink, p->what, n, "behind it", (case_result){.value = behind / start, .tolerance = 0});
}

static und_status push_boxes(case_sink *sink, const push *p, int n, und_error *err)
{
    const double dx = 1.0 / n, wide[2] = {p->thick > 0 ? p->low[0] + p->thick * dx : p->high[0], p->high[1]};
    const double corner[2] = {-1, -1};
    const und_key keys[2] = {
        {.time = 0}, {.time = 0.6, .position = {p->way[0] - p->gap[0] * dx, p->way[1] - p->gap[1] * dx, 0}}};
    und_levelset_def def = case_levelset_tank(sink, n, n, 1, dx);
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, err);
    und_shape *shapes[3] = {box(p->low, wide, err)}, *liquid = box(corner, p->fill_high, err);
    bool made = motion && liquid && shapes[0];
    for (int i = 0; i < p->rests; i++)
        made = (shapes[1 + i] = box(p->rest_low[i], p->rest_high[i], err)) && made;
    const und_obstacle_def solids[3] = {
        {.shape = shapes[0], .motion = motion}, {.shape = shapes[1]}, {.shape = shapes[2]}};
    const und_fill_def fill = {.shape = liquid};
    def.obstacles = solids;
    def.obstacle_count = 1 + p->rests;
    def.fills = &fill;
    def.fill_count = 1;
    und_levelset *levelset = made ? und_levelset_create(&def, err) : NULL;
    if (levelset)
        run_push(sink, levelset, p, n);
    und_levelset_destroy(levelset);
    for (int i = 0; i < 3; i++)
        und_shape_destroy(shapes[i]);
    und_shape_destroy(liquid);
    und_motion_destroy(motion);
    return levelset ? UND_OK : err->status;
}

/* A channel that is full and closed: what a piston has come into is pressed together, all of it told. */
static und_status press(case_sink *sink, int n, und_error *err)
{
    const double dx = 1.0 / n, low[2] = {-1, -1}, high[2] = {0.25, 2}, way = 4 * dx;
    const und_key keys[2] = {{.time = 0}, {.time = 0.5, .position = {way, 0, 0}}};
    und_levelset_def def = case_levelset_tank(sink, n, n / 4, 1, dx);
    und_shape *piston = box(low, high, err);
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, err);
    const und_obstacle_def solid = {.shape = piston, .motion = motion};
    def.obstacles = &solid;
    def.obstacle_count = 1;
    def.has_level = true;
    def.level.number = 1;
    und_levelset *levelset = piston && motion ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        const double displaced = way * (n / 4) * dx * dx;
        case_levelset_run(levelset, 0.5, 1.0 / 24);
        report_ledger(sink, levelset, "piston in a full channel", n, in_solids_of(levelset));
        report(sink, "piston in a full channel", n, "whether it is told",
               (case_result){.value = und_levelset_squeezed(levelset, 0) > 0.2 * displaced, .reference = 1});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(piston);
    und_motion_destroy(motion);
    return levelset ? UND_OK : err->status;
}

und_status case_levelset_hold_pushed(case_sink *sink, und_error *err)
{
    und_status status = UND_OK;
    for (int n = 32; n <= 48 && status == UND_OK; n += 16) {
        for (size_t i = 0; i < sizeof pushes / sizeof *pushes && status == UND_OK; i++)
            status = push_boxes(sink, &pushes[i], n, err);
        status = status == UND_OK ? press(sink, n, err) : status;
    }
    return status;
}

/* ---- Cups ---- */

#define HALF 0.15   /* m: of a cup's inside, across */
#define HEIGHT 0.45 /* of that, up */

typedef struct outside {
    und_pose pose;
    double wall;
} outside;

static bool is_outside(const void *context, und_vec3 middle)
{
    const outside *o = context;
    const und_vec3 p = und_pose_local(&o->pose, und_vec(middle.x, middle.y, 0));
    return fabs(p.x) > HALF + o->wall || p.y < -o->wall;
}

/* A cup, a third full, is carried and tilted within 0.6 s. */
static und_status carry_cup(case_sink *sink, int n, double cells, und_error *err)
{
    const double dx = 1.0 / n, wall = cells * dx, at[2] = {0.35, 0.3};
    const und_key keys[3] = {{.time = 0, .position = {at[0], at[1], 0}},
                             {.time = 0.3, .position = {0.45, 0.35, 0}, .rotation = {0, 0, 12}},
                             {.time = 0.6, .position = {0.55, 0.35, 0}, .rotation = {0, 0, 25}}};
    const double outer[2][2] = {{-HALF - wall, -wall}, {HALF + wall, HEIGHT}},
                 inner[2][2] = {{-HALF, 0}, {HALF, 1}},
                 water[2][2] = {{at[0] - HALF - wall / 2, at[1] - wall / 2}, {at[0] + HALF + wall / 2, 0.45}};
    und_levelset_def def = case_levelset_tank(sink, n, n, 1, dx);
    und_shape **parts = malloc(2 * sizeof *parts), *cup = NULL, *liquid = box(water[0], water[1], err);
    und_motion *motion = und_motion_create(keys, 3, UND_EASE_SPLINE, err);
    if (parts) {
        parts[0] = box(outer[0], outer[1], err);
        parts[1] = box(inner[0], inner[1], err);
        cup =
            und_shape_create(&(und_shape){.kind = UND_DIFFERENCE, .child_count = 2, .children = parts}, err);
    }
    const und_obstacle_def solid = {.shape = cup, .motion = motion};
    const und_fill_def fill = {.shape = liquid};
    def.obstacles = &solid;
    def.fills = &fill;
    def.obstacle_count = def.fill_count = 1;
    und_levelset *levelset = cup && liquid && motion ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        char what[40];
        double in_solids = 0, out = 0;
        snprintf(what, sizeof what, "cup of %.1f cells", cells);
        for (int frame = 1; frame <= 18; frame++) {
            case_levelset_run(levelset, frame / 24.0, 1.0 / 24);
            const outside o = {und_motion_at(motion, und_levelset_time(levelset)), wall};
            in_solids = fmax(in_solids, in_solids_of(levelset));
            out = fmax(out, held(levelset, is_outside, &o));
        }
        report_ledger(sink, levelset, what, n, in_solids);
        report(sink, what, n, "outside",
               (case_result){.value = out / und_levelset_ledger(levelset).start, .tolerance = 0});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(cup);
    und_shape_destroy(liquid);
    und_motion_destroy(motion);
    return levelset ? UND_OK : err->status;
}

und_status case_levelset_hold_cups(case_sink *sink, und_error *err)
{
    und_status status = UND_OK;
    for (int n = 40; n <= 56 && status == UND_OK; n += 16) {
        status = carry_cup(sink, n, 0.6, err);
        status = status == UND_OK ? carry_cup(sink, n, 2, err) : status;
    }
    return status;
}
