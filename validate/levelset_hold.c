/* The level set holds its water (`surface = "volume"`): what is poured, dropped, shaken or thinner than cells
 * is all there afterwards, in the ledger to the last bit and in the surface within a few percent. */
#include "validate/levelset.h"

#include "geom/motion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const kept = "what was poured in is there";

static und_shape *flat_box(double x0, double y0, double x1, double y1, und_error *err)
{
    return und_shape_create(&(und_shape){.kind = UND_BOX,
                                         .center = {(x0 + x1) / 2, (y0 + y1) / 2, 0},
                                         .half = {(x1 - x0) / 2, (y1 - y0) / 2, 1}},
                            err);
}

static und_levelset_def tank(const case_sink *sink, int nx, int ny, int nz, double dx)
{
    und_levelset_def def = case_levelset_tank(sink, nx, ny, nz, dx);
    def.surface_rule = UND_SURFACE_VOLUME;
    return def;
}

/* Runs it and reports what the ledger and the surface have lost: in the end, and at worst once nothing is
 * poured in. */
static und_status hold(case_sink *sink, const und_levelset_def *def, const char *what, double until,
                       double worst, und_error *err)
{
    char text[3][96];
    double off = 0, shown = 1;
    und_levelset *levelset = und_levelset_create(def, err);
    if (!levelset)
        return err->status;
    for (int frame = 1; frame <= (int)(24 * until + 0.5); frame++) {
        case_levelset_run(levelset, frame / 24.0, 1.0 / 24);
        shown = und_levelset_shown(levelset) / und_levelset_ledger(levelset).measured;
        if ((def->element_count == 0 || frame / 24.0 > def->elements[0].end) && fabs(shown - 1) > fabs(off))
            off = shown - 1;
    }
    const und_ledger l = und_levelset_ledger(levelset);
    snprintf(text[0], sizeof text[0], "%s: made or lost, of the volume", what);
    case_report(sink, (case_result){text[0], l.correction / (l.start + l.sources), 0, 1e-12, kept});
    snprintf(text[1], sizeof text[1], "%s: what the surface shows of it", what);
    case_report(sink, (case_result){text[1], shown, 1, 0.01, kept});
    snprintf(text[2], sizeof text[2], "%s: the same in its worst frame", what);
    case_report(sink, (case_result){text[2], 1 + off, 1, worst, kept});
    und_levelset_destroy(levelset);
    return UND_OK;
}

/* A tap runs for half a second onto a dry floor. */
und_status case_levelset_hold_puddle(case_sink *sink, und_error *err)
{
    und_status status = UND_OK;
    for (int n = 48; n <= 96 && status == UND_OK; n *= 2) {
        char what[32];
        snprintf(what, sizeof what, "%d cells", n);
        und_levelset_def def = tank(sink, n, n / 2, 1, 1.0 / n);
        und_shape *tap = flat_box(0.46, 0.3, 0.54, 0.4, err);
        und_element_def element = {.role = UND_ELEMENT_SOURCE, .shape = tap, .end = 0.5};
        element.field.value[1].number = -0.5;
        def.elements = &element;
        def.element_count = 1;
        status = tap ? hold(sink, &def, what, 2, 0.03, err) : err->status;
        und_shape_destroy(tap);
    }
    return status;
}

/* A ball of 24 litres falls 0.32 m. */
und_status case_levelset_hold_ball(case_sink *sink, und_error *err)
{
    und_status status = UND_OK;
    for (int n = 24; n <= 32 && status == UND_OK; n += 8) {
        char what[32];
        snprintf(what, sizeof what, "%d cells", n);
        und_levelset_def def = tank(sink, n, n, n, 1.0 / n);
        und_shape *ball = und_shape_create(
            &(und_shape){.kind = UND_SPHERE, .center = {0.5, 0.5, 0.5}, .radius = 0.18}, err);
        und_fill_def fill = {.shape = ball};
        def.fills = &fill;
        def.fill_count = 1;
        status = ball ? hold(sink, &def, what, 1, 0.03, err) : err->status;
        und_shape_destroy(ball);
    }
    return status;
}

static und_shape *make_cup(double wall, und_error *err)
{
    und_shape **parts = malloc(2 * sizeof *parts);
    if (!parts)
        return NULL;
    parts[0] = flat_box(-0.1 - wall, -0.1 - wall, 0.1 + wall, 0.1, err);
    parts[1] = flat_box(-0.1, -0.1, 0.1, 0.2, err);
    return und_shape_create(&(und_shape){.kind = UND_DIFFERENCE, .child_count = 2, .children = parts}, err);
}

/* A cup of ten cells is shaken for a second. */
und_status case_levelset_hold_cup(case_sink *sink, und_error *err)
{
    const und_key keys[] = {{.time = 0.1, .position = {0.25, 0.4, 0}},
                            {.time = 0.35, .position = {0.45, 0.4, 0}},
                            {.time = 0.6, .position = {0.25, 0.4, 0}},
                            {.time = 0.85, .position = {0.4, 0.42, 0}}};
    und_motion *motion = und_motion_create(keys, 4, UND_EASE_SPLINE, err);
    und_status status = motion ? UND_OK : err->status;
    for (int n = 48; n <= 96 && status == UND_OK; n += 16) {
        char what[32];
        snprintf(what, sizeof what, "%d cells", n);
        und_levelset_def def = tank(sink, n, n * 3 / 4, 1, 0.8 / n);
        und_shape *cup = make_cup(0.05, err), *water = flat_box(0.16, 0.31, 0.34, 0.42, err);
        und_obstacle_def solid = {.name = "cup", .shape = cup, .motion = motion};
        und_fill_def fill = {.shape = water};
        def.obstacles = &solid;
        def.obstacle_count = 1;
        def.fills = &fill;
        def.fill_count = 1;
        status = cup && water ? hold(sink, &def, what, 2, 0.03, err) : err->status;
        und_shape_destroy(cup);
        und_shape_destroy(water);
    }
    und_motion_destroy(motion);
    return status;
}

/* Sheets of one and two cells fall. */
und_status case_levelset_hold_sheet(case_sink *sink, und_error *err)
{
    und_status status = UND_OK;
    for (int k = 0; k < 4 && status == UND_OK; k++) {
        const int n = k < 2 ? 48 : 96, thick = 1 + k % 2;
        char what[32];
        snprintf(what, sizeof what, "%d of %d cells", thick, n);
        und_levelset_def def = tank(sink, n, n, 1, 1.0 / n);
        und_shape *sheet = flat_box(0.2, 0.6, 0.8, 0.6 + (double)thick / n, err);
        und_fill_def fill = {.shape = sheet};
        def.fills = &fill;
        def.fill_count = 1;
        status = sheet ? hold(sink, &def, what, 1, 0.03, err) : err->status;
        und_shape_destroy(sheet);
    }
    return status;
}

/* A jet for half a second onto a ball that lets go. */
und_status case_levelset_hold_off(case_sink *sink, und_error *err)
{
    und_status status = UND_OK;
    for (int n = 40; n <= 64 && status == UND_OK; n += 24) {
        char what[32];
        snprintf(what, sizeof what, "%d cells", n);
        und_levelset_def def = tank(sink, n, n, 1, 1.0 / n);
        und_shape *jet = flat_box(0.44, 0.86, 0.56, 0.93, err);
        und_shape *ball = und_shape_create(
            &(und_shape){.kind = UND_SPHERE, .center = {0.5, 0.5, 0.5 / n}, .radius = 0.18}, err);
        und_element_def element = {.role = UND_ELEMENT_SOURCE, .shape = jet, .end = 0.5};
        const und_obstacle_def solid = {
            .name = "ball", .shape = ball, .separate = UND_SEPARATE_ALWAYS, .friction = 0.2};
        element.field.value[1].number = -1;
        def.elements = &element;
        def.obstacles = &solid;
        def.element_count = def.obstacle_count = 1;
        status = jet && ball ? hold(sink, &def, what, 1.5, 0.03, err) : err->status;
        und_shape_destroy(jet);
        und_shape_destroy(ball);
    }
    return status;
}

/* A layer of 0.3 cells, of which no cell's middle is wet, is there and stays. */
static und_status hold_layer(case_sink *sink, und_error *err)
{
    const int n = 32;
    und_levelset_def def = tank(sink, n, n / 2, 1, 1.0 / n);
    def.has_level = true;
    def.level.number = 0.3 / n;
    und_levelset *levelset = und_levelset_create(&def, err);
    if (!levelset)
        return err->status;
    case_levelset_run(levelset, 2, 1.0 / 24);
    case_report(sink, (case_result){"a layer of 0.3 cells, cells",
                                    und_levelset_ledger(levelset).measured * n * n, 0.3, 1e-5, "at rest"});
    und_levelset_destroy(levelset);
    return UND_OK;
}

/* Where its surface stands in the middle (cells), and how fast it is. */
static void report_rest(case_sink *sink, const und_levelset *levelset, const und_levelset_def *def,
                        const char *what, double level)
{
    char text[2][96];
    const int n = def->n[0], low = def->obstacle_count > 0 ? (int)level - 1 : 0;
    snprintf(text[0], sizeof text[0], "%s: level after 2 s, cells", what);
    case_report(sink,
                (case_result){text[0], case_levelset_surface(levelset, def, 1, n / 2, low, def->n[2] / 2) * n,
                              level, 0.001, "at rest"});
    snprintf(text[1], sizeof text[1], "%s: speed, m/s", what);
    case_report(sink, (case_result){text[1], case_levelset_fastest(levelset, def), 0, 1e-4, "at rest"});
}

/* A pool in a solid bowl. */
static und_status hold_bowl(case_sink *sink, int n, double level, const und_obstacle_def *bowl,
                            const char *what, und_error *err)
{
    char text[64];
    und_levelset_def def = tank(sink, n, n, 1, 1.0 / n);
    und_shape *pool = flat_box(0, 0, 1, level, err);
    und_fill_def fill = {.shape = pool};
    def.fills = &fill;
    def.obstacles = bowl;
    def.fill_count = def.obstacle_count = 1;
    und_levelset *levelset = pool && bowl->shape ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 2, 1.0 / 24);
        snprintf(text, sizeof text, "%.2f m in %s, %d cells", level, what, n);
        report_rest(sink, levelset, &def, text, level * n);
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(pool);
    return levelset ? UND_OK : err->status;
}

/* Round bowls, and boxes that are tilted: one wall leans over the surface where it meets it. */
static und_status hold_in(case_sink *sink, double tilt, double level, und_error *err)
{
    const bool round = tilt < 0;
    const und_key key = {.position = {0.5, round ? 0.53 : 0.5, 0}, .rotation = {0, 0, round ? 0 : tilt}};
    und_motion *motion = und_motion_create(&key, 1, UND_EASE_LINEAR, err);
    und_shape *shape = round ? und_shape_create(&(und_shape){.kind = UND_SPHERE, .radius = 0.4}, err)
                             : flat_box(-0.35, -0.25, 0.35, 0.25, err);
    const und_obstacle_def bowl = {.name = "bowl", .shape = shape, .motion = motion, .inside_out = true};
    und_status status = motion ? UND_OK : err->status;
    char what[32];
    snprintf(what, sizeof what, round ? "a round bowl" : "a box tilted by %g", tilt);
    for (int n = 32; n <= 48 && status == UND_OK; n += 16)
        status = hold_bowl(sink, n, level, &bowl, what, err);
    und_shape_destroy(shape);
    und_motion_destroy(motion);
    return status;
}

static und_status hold_bowls(case_sink *sink, und_error *err)
{
    static const double bowl[] = {0.16, 0.21, 0.25, 0.45, 0.6, 0.7, 0.91};
    static const double box[][2] = {{5, 0.45},  {10, 0.3},  {10, 0.6},  {20, 0.37}, {20, 0.45},
                                    {20, 0.6},  {20, 0.65}, {30, 0.37}, {30, 0.45}, {45, 0.37},
                                    {45, 0.45}, {60, 0.37}, {60, 0.6}};
    und_status status = UND_OK;
    for (size_t k = 0; k < sizeof bowl / sizeof *bowl && status == UND_OK; k++)
        status = hold_in(sink, -1, bowl[k], err);
    for (size_t k = 0; k < sizeof box / sizeof *box && status == UND_OK; k++)
        status = hold_in(sink, box[k][0], box[k][1], err);
    return status;
}

/* Pools among solids that they meet at any angle. */
typedef struct among {
    const char *what;
    int n;
    double level, turn; /* m, degrees */
    bool space, container;
    int count;
    und_shape shape[2];
} among;

#define BALL(x, y, z, r)                                             \
    {                                                                \
        .kind = UND_SPHERE, .center = {(x), (y), (z)}, .radius = (r) \
    }
#define PLATE(wide, thick)                                   \
    {                                                        \
        .kind = UND_BOX, .half = {(wide), 0.5 * (thick), 1 } \
    }
static const among pools[] = {
    {"below two balls", 24, 0.23, 0, false, false, 2, {BALL(0.27, 0.4, 0, 0.19), BALL(0.71, 0.45, 0, 0.213)}},
    {"below two balls", 48, 0.23, 0, false, false, 2, {BALL(0.27, 0.4, 0, 0.19), BALL(0.71, 0.45, 0, 0.213)}},
    {"around a ball", 24, 0.444, 0, false, false, 1, {BALL(0.483, 0.47, 0, 0.213)}},
    {"below a plate at 7 degrees", 40, 0.444, 7, false, false, 1, {PLATE(0.3, 0.06)}},
    {"below a plate at 7 degrees", 48, 0.444, 7, false, false, 1, {PLATE(0.3, 0.06)}},
    {"below a plate at 25 degrees", 32, 0.444, -25, false, false, 1, {PLATE(0.3, 0.1)}},
    {"in a round bowl in space", 24, 0.5, 0, true, true, 1, {BALL(0.517, 0.523, 0.489, 0.41)}}};

static und_status hold_among(case_sink *sink, const among *a, und_error *err)
{
    char text[64];
    const bool turned = a->turn != 0;
    const und_key key = {.position = {turned ? 0.51 : 0, turned ? 0.47 : 0, 0}, .rotation = {0, 0, a->turn}};
    und_levelset_def def = tank(sink, a->n, a->n, a->space ? a->n : 1, 1.0 / a->n);
    und_motion *motion = und_motion_create(&key, 1, UND_EASE_LINEAR, err);
    und_shape *pool =
        und_shape_create(&(und_shape){.kind = UND_PLANE, .center = {0, a->level, 0}, .half = {0, 1, 0}}, err);
    const und_fill_def fill = {.shape = pool};
    und_obstacle_def solid[2];
    for (int i = 0; i < a->count; i++)
        solid[i] = (und_obstacle_def){.shape = &a->shape[i], .motion = motion, .inside_out = a->container};
    def.fills = &fill;
    def.obstacles = solid;
    def.fill_count = 1;
    def.obstacle_count = a->count;
    und_levelset *levelset = motion && pool ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 2, 1.0 / 24);
        snprintf(text, sizeof text, "a pool %s, %d cells: speed, m/s", a->what, a->n);
        case_report(sink, (case_result){text, case_levelset_fastest(levelset, &def), 0, 1e-4, "at rest"});
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(pool);
    und_motion_destroy(motion);
    return levelset ? UND_OK : err->status;
}

static und_shape *ball_or_drum(bool space, und_vec3 middle, double high, double radius, und_error *err)
{
    return und_shape_create(&(und_shape){.kind = space ? UND_CYLINDER : UND_SPHERE,
                                         .center = middle,
                                         .half = {0, high, 0},
                                         .radius = radius},
                            err);
}

static und_shape *combine(und_shape_kind kind, und_shape *first, und_shape *second, und_error *err)
{
    und_shape **parts = malloc(2 * sizeof *parts);
    if (!parts)
        return NULL;
    parts[0] = first;
    parts[1] = second;
    return und_shape_create(&(und_shape){.kind = kind, .child_count = 2, .children = parts}, err);
}

/* A pool in a round cup whose wall is so many cells thick, a bowl in a plane or a drum in space: the fill
 * ends within the wall. */
static und_status hold_thin(case_sink *sink, bool space, double cells, double level, und_error *err)
{
    const int n = 32;
    const double wall = cells / n, radius = space ? 0.25 : 0.4, high = 0.22;
    const und_vec3 middle = {0.5, space ? 0.35 : 0.5, space ? 0.5 : 0.5 / n};
    char text[64];
    und_levelset_def def = tank(sink, n, n, space ? n : 1, 1.0 / n);
    und_shape *outer = ball_or_drum(space, middle, high, radius, err);
    und_shape *inner =
        ball_or_drum(space, und_add(middle, und_vec(0, space ? wall : 0, 0)), high, radius - wall, err);
    und_shape *cup = combine(UND_DIFFERENCE, combine(UND_DIFFERENCE, outer, inner, err),
                             flat_box(-1, space ? 0.5 : 0.8, 2, 2, err), err);
    und_shape *pool =
        combine(UND_INTERSECTION, ball_or_drum(space, middle, high - wall / 2, radius - wall / 2, err),
                flat_box(-1, -1, 2, level / n, err), err);
    const und_obstacle_def solid = {.name = "cup", .shape = cup};
    const und_fill_def fill = {.shape = pool};
    def.obstacles = &solid;
    def.fills = &fill;
    def.obstacle_count = def.fill_count = 1;
    und_levelset *levelset = cup && pool ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 2, 1.0 / 24);
        snprintf(text, sizeof text, "%g cells in a round cup%s, wall %g", level, space ? " in space" : "",
                 cells);
        report_rest(sink, levelset, &def, text, level);
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(cup);
    und_shape_destroy(pool);
    return levelset ? UND_OK : err->status;
}

/* A pool that is a box which ends at the tank's sides. */
static und_status hold_box(case_sink *sink, und_error *err)
{
    const int n = 32;
    const double level = 10.3;
    und_levelset_def def = tank(sink, n, n / 2, 1, 1.0 / n);
    und_shape *pool = flat_box(0, 0, 1, level / n, err);
    const und_fill_def fill = {.shape = pool};
    def.fills = &fill;
    def.fill_count = 1;
    und_levelset *levelset = pool ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 2, 1.0 / 24);
        report_rest(sink, levelset, &def, "a box of 10.3 cells from side to side", level);
    }
    und_levelset_destroy(levelset);
    und_shape_destroy(pool);
    return levelset ? UND_OK : err->status;
}

static und_status hold_thin_cups(case_sink *sink, und_error *err)
{
    static const double wall[] = {0.1, 0.3, 0.6, 1.5}, level[] = {10, 10.25, 10.5};
    und_status status = UND_OK;
    for (int i = 0; i < 12 && status == UND_OK; i++)
        status = hold_thin(sink, false, wall[i / 3], level[i % 3], err);
    return status == UND_OK ? hold_thin(sink, true, 0.3, 10, err) : status;
}

/* A ball of liquid falls into a pool; a wall of three cells, or of 0.6, keeps another pool from it, which has
 * nothing to do with what the first one's surface shows. */
und_status case_levelset_hold_pieces(case_sink *sink, und_error *err)
{
    const int n = 48;
    const double level = 6.3;
    und_status status = UND_OK;
    for (int k = 0; k < 2 && status == UND_OK; k++) {
        const double thick = k ? 0.6 / n : 3.0 / n;
        char what[40], still[96];
        snprintf(what, sizeof what, "beside a wall of %.1f cells", thick * n);
        snprintf(still, sizeof still, "still %s: mean level, cells", what);
        und_levelset_def def = tank(sink, n, n * 2 / 3, 1, 1.0 / n);
        und_shape *wall = flat_box(0.6, -1, 0.6 + thick, 2, err);
        und_shape *ball = und_shape_create(
            &(und_shape){.kind = UND_SPHERE, .center = {0.3, 0.4, 0.5 / n}, .radius = 0.12}, err);
        und_shape *left = flat_box(-1, -1, 0.6, 4.4 / n, err),
                  *right = flat_box(0.6 + thick, -1, 2, level / n, err);
        const und_fill_def fill[3] = {{.shape = ball}, {.shape = left}, {.shape = right}};
        const und_obstacle_def solid = {.name = "wall", .shape = wall};
        def.fills = fill;
        def.fill_count = 3;
        def.obstacles = &solid;
        def.obstacle_count = 1;
        und_levelset *levelset = NULL;
        status = wall && ball && left && right ? hold(sink, &def, what, 1, 0.03, err) : err->status;
        if (status == UND_OK && (levelset = und_levelset_create(&def, err))) {
            const int from = (int)ceil((0.6 + thick) * n); /* beyond the wall */
            double mean = 0;
            case_levelset_run(levelset, 1, 1.0 / 24);
            for (int x = from; x < n; x++)
                mean += case_levelset_surface(levelset, &def, 1, x, 0, 0) * n / (n - from);
            case_report(sink, (case_result){still, mean, level, 0.01 * level, kept});
        }
        status = status == UND_OK && !levelset ? err->status : status;
        und_levelset_destroy(levelset);
        und_shape_destroy(wall);
        und_shape_destroy(ball);
        und_shape_destroy(left);
        und_shape_destroy(right);
    }
    return status;
}

/* Pools and layers whose level is anywhere in a cell, on its middle too, stay as they are. */
und_status case_levelset_hold_pool(case_sink *sink, und_error *err)
{
    static const double level[] = {0.6, 0.7, 0.8, 1, 1.5, 2.5, 3, 10, 10.1, 10.3, 10.5, 10.7, 10.9};
    for (size_t k = 0; k < sizeof level / sizeof *level; k++)
        for (int n = 32; n <= 64; n *= 2) {
            char text[64];
            und_levelset_def def = tank(sink, n, n / 2, 1, 1.0 / n);
            def.has_level = true;
            def.level.number = level[k] / n;
            und_levelset *levelset = und_levelset_create(&def, err);
            if (!levelset)
                return err->status;
            case_levelset_run(levelset, 2, 1.0 / 24);
            snprintf(text, sizeof text, "%.1f of %d cells", level[k], n);
            report_rest(sink, levelset, &def, text, level[k]);
            und_levelset_destroy(levelset);
        }
    und_status status = hold_bowls(sink, err);
    for (size_t k = 0; k < sizeof pools / sizeof *pools && status == UND_OK; k++)
        status = hold_among(sink, &pools[k], err);
    status = status == UND_OK ? hold_thin_cups(sink, err) : status;
    status = status == UND_OK ? hold_box(sink, err) : status;
    return status == UND_OK ? hold_layer(sink, err) : status;
}

/* Sources of 0.26 to 7.7 cells run for a time that is no number of steps: speed times area times time. */
static und_status pour(case_sink *sink, int n, double wide, double across, und_error *err)
{
    const double high = 0.1, speed = 0.5, end = 0.51;
    char text[96];
    und_levelset_def def = tank(sink, n, n / 2, 1, 1.0 / n);
    und_shape *tap = flat_box(0.5 - wide / 2, 0.3, 0.5 + wide / 2, 0.3 + high, err);
    und_element_def element = {.role = UND_ELEMENT_SOURCE, .shape = tap, .end = end};
    element.field.value[0].number = across;
    element.field.value[1].number = -speed;
    def.elements = &element;
    def.element_count = 1;
    und_levelset *levelset = tap ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 1, 1.0 / 24);
        snprintf(text, sizeof text, "%.2f of %d cells%s: brought", wide * n, n,
                 across > 0 ? ", slanted" : "");
        const double wanted = (speed * wide + across * high) * end * def.dx;
        case_report(sink, (case_result){text, und_levelset_ledger(levelset).sources / wanted, 1, 0.02,
                                        "speed x area x time"});
    }
    const und_status status = levelset ? UND_OK : err->status;
    und_levelset_destroy(levelset);
    und_shape_destroy(tap);
    return status;
}

/* Spouts: of a source that is partly in a solid, what that leaves open of its front is the area. */
typedef struct spout {
    const char *what;
    double low[2], high[2], velocity[2];
    double solid_low[2][2], solid_high[2][2]; /* two boxes */
    double turned;                            /* degrees: the first, about the middle of its right side */
    double area;                              /* m, across */
} spout;

static const spout spouts[] = {
    {"out of a wall",
     {0.13, 0.283},
     {0.313, 0.365},
     {0.5, 0},
     {{-0.5, -0.5}, {3, 3}},
     {{0.213, 1.5}, {4, 4}},
     0,
     0.082},
    {"out of a wall that leans",
     {0.13, 0.283},
     {0.313, 0.365},
     {0.5, 0},
     {{-0.5, -0.5}, {3, 3}},
     {{0.213, 1.5}, {4, 4}},
     25,
     0.082},
    {"along a wall",
     {0.15, 0.3},
     {0.271, 0.4},
     {0, -0.5},
     {{-0.5, -0.5}, {3, 3}},
     {{0.213, 1.5}, {4, 4}},
     0,
     0.058},
    {"in a channel",
     {0.4, 0.3},
     {0.6, 0.4},
     {0, -0.5},
     {{0.2, 0.27}, {0.537, 0.27}},
     {{0.463, 0.45}, {0.8, 0.45}},
     0,
     0.074},
};

static und_shape *corner_box(const double low[2], const double high[2], und_error *err)
{
    return flat_box(low[0], low[1], high[0], high[1], err);
}

static und_status pour_spout(case_sink *sink, const spout *p, int n, double dt, und_error *err)
{
    const double end = 0.51, speed = fabs(p->velocity[0]) + fabs(p->velocity[1]);
    char text[96];
    und_levelset_def def = tank(sink, n, n / 2, 1, 1.0 / n);
    const und_key key = {.position = {p->turned ? 0.213 : 0, p->turned ? 0.324 : 0, 0},
                         .rotation = {0, 0, p->turned}};
    und_motion *motion = und_motion_create(&key, 1, UND_EASE_LINEAR, err);
    und_shape *tap = corner_box(p->low, p->high, err);
    und_shape *solid[2] = {p->turned ? flat_box(-0.7, -1, 0, 1, err)
                                     : corner_box(p->solid_low[0], p->solid_high[0], err),
                           corner_box(p->solid_low[1], p->solid_high[1], err)};
    und_element_def element = {.role = UND_ELEMENT_SOURCE, .shape = tap, .end = end};
    const und_obstacle_def solids[2] = {{.shape = solid[0], .motion = motion}, {.shape = solid[1]}};
    element.field.value[0].number = p->velocity[0];
    element.field.value[1].number = p->velocity[1];
    def.elements = &element;
    def.element_count = 1;
    def.obstacles = solids;
    def.obstacle_count = 2;
    und_levelset *levelset = tap && motion && solid[0] && solid[1] ? und_levelset_create(&def, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 0.75, dt);
        snprintf(text, sizeof text, "%s, %d cells, frames of 1/%.0f s: brought", p->what, n, 1 / dt);
        case_report(sink, (case_result){
                              text, und_levelset_ledger(levelset).sources / (speed * p->area * end * def.dx),
                              1, 0.02, "speed x area x time"});
    }
    const und_status status = levelset ? UND_OK : err->status;
    und_levelset_destroy(levelset);
    und_shape_destroy(tap);
    und_shape_destroy(solid[0]);
    und_shape_destroy(solid[1]);
    und_motion_destroy(motion);
    return status;
}

und_status case_levelset_hold_source(case_sink *sink, und_error *err)
{
    static const double wide[] = {0.008, 0.02, 0.05, 0.08};
    und_status status = UND_OK;
    for (int n = 32; n <= 96 && status == UND_OK; n *= 3) {
        for (size_t k = 0; k < sizeof wide / sizeof *wide && status == UND_OK; k++)
            status = pour(sink, n, wide[k], 0, err);
        status = status == UND_OK ? pour(sink, n, 0.08, 0.3, err) : status;
        for (size_t k = 0; k < sizeof spouts / sizeof *spouts && status == UND_OK; k++) {
            status = pour_spout(sink, &spouts[k], n, 1.0 / 24, err);
            status = status == UND_OK ? pour_spout(sink, &spouts[k], n, 1.0 / 240, err) : status;
        }
    }
    return status;
}
