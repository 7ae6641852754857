/* Liquid at objects (Rasmussen et al. 2004, 5.5): what hangs from a ceiling falls, little stays below a ball,
 * friction holds it back, and a sheet runs off an edge into free fall.  In two dimensions. */
#include "validate/direct.h"
#include "validate/levelset.h"

#include "geom/motion.h"
#include "geom/shape.h"

#include <math.h>
#include <stdlib.h>

#define GRAVITY 9.81
static const char *const falls = "free fall: a solid cannot pull", *const passes = "nothing passes";

/* One solid, and liquid that is there at first or comes in. */
typedef struct setup {
    und_levelset_def def;
    und_shape body, shape; /* of the solid, of the liquid */
    und_obstacle_def solid;
    und_fill_def fill;
    und_element_def source;
} setup;

static void set_up(setup *s, const case_sink *sink, int nx, int ny, double dx)
{
    *s = (setup){.def = case_levelset_tank(sink, nx, ny, 1, dx)};
    s->solid = (und_obstacle_def){.shape = &s->body, .separate = UND_SEPARATE_ALWAYS};
    s->def.obstacles = &s->solid;
    s->def.obstacle_count = 1;
}

static und_levelset *begin_filled(setup *s, double u, double v, und_error *err)
{
    s->fill = (und_fill_def){.shape = &s->shape, .velocity = {{.number = u}, {.number = v}}};
    s->def.fills = &s->fill;
    s->def.fill_count = 1;
    return und_levelset_create(&s->def, err);
}

static und_levelset *begin_poured(setup *s, double u, double v, double end, und_error *err)
{
    s->source = (und_element_def){.role = UND_ELEMENT_SOURCE,
                                  .shape = &s->shape,
                                  .field.value = {{.number = u}, {.number = v}},
                                  .end = end};
    s->def.elements = &s->source;
    s->def.element_count = 1;
    return und_levelset_create(&s->def, err);
}

static double part_of(const und_levelset *levelset, const und_levelset_def *def, int x, int y)
{
    return fmin(fmax(0.5 - und_levelset_distance(levelset, x, y, 0) / def->dx, 0), 1);
}

static void report_leaks(case_sink *sink, const und_levelset *levelset, double drift)
{
    und_ledger ledger = und_levelset_ledger(levelset);
    double all = ledger.start + ledger.sources;
    case_report(sink, (case_result){"volume, of what came", 1 + ledger.correction / all, 1, drift,
                                    "nothing is added"});
    case_report(
        sink, (case_result){"leaked, of what came", und_levelset_leaked(levelset, 0) / all, 0, 2e-3, passes});
}

/* ---- A ceiling ---- */

/* How high the middle of what is below a place is, m. */
static double height_of(const und_levelset *levelset, const und_levelset_def *def, double below)
{
    double all = 0, sum = 0;
    for (int y = 0; (y + 1) * def->dx < below; y++)
        for (int x = 0; x < def->n[0]; x++) {
            all += part_of(levelset, def, x, y);
            sum += part_of(levelset, def, x, y) * (y + 0.5) * def->dx;
        }
    return sum / all;
}

und_status case_direct_ceiling(case_sink *sink, und_error *err)
{
    enum { N = 48 };
    const double time = 0.3, low = 0.9;
    setup s;
    set_up(&s, sink, N, N, 1.0 / N);
    s.body = (und_shape){.kind = UND_BOX, .center = {0.5, low + 0.5, 0}, .half = {1, 0.5, 2}};
    s.shape = (und_shape){.kind = UND_BOX, .center = {0.5, low - 0.08, 0}, .half = {0.25, 0.08, 2}};
    und_levelset *levelset = begin_filled(&s, 0, 0, err);
    if (!levelset)
        return err->status;
    const double first = height_of(levelset, &s.def, low);
    case_levelset_run(levelset, time, 0.01);
    const double fallen = first - height_of(levelset, &s.def, low);
    case_report(sink, (case_result){"a slab under a ceiling: fallen after 0.3 s, of g t^2 / 2",
                                    fallen / (0.5 * GRAVITY * time * time), 1, 0.06, falls});
    report_leaks(sink, levelset, 0.02);
    und_levelset_destroy(levelset);
    return UND_OK;
}

/* ---- A ball ---- */

/* Liquid on the lower half of the ball, m of its outline, of all that half. */
static double wet_below(const und_levelset *levelset, const und_levelset_def *def, const und_shape *ball)
{
    enum { PLACES = 100 };
    double wet = 0;
    for (int i = 0; i < PLACES; i++) {
        double turn = -M_PI * (i + 0.5) / PLACES, away = ball->radius + 0.75 * def->dx;
        int x = (int)((ball->center.x + away * cos(turn)) / def->dx);
        int y = (int)((ball->center.y + away * sin(turn)) / def->dx);
        wet += und_levelset_distance(levelset, x, y, 0) < 0;
    }
    return wet / PLACES;
}

/* A jet falls on a ball for a while. */
und_status case_direct_ball(case_sink *sink, und_error *err)
{
    enum { N = 64 };
    const double dx = 1.0 / N;
    setup s;
    set_up(&s, sink, N, N, dx);
    s.body = (und_shape){.kind = UND_SPHERE, .center = {0.5, 0.55, 0.5 * dx}, .radius = 0.17};
    s.shape = (und_shape){.kind = UND_BOX, .center = {0.5, 0.92, 0}, .half = {3 * dx, 2 * dx, 2}};
    und_levelset *levelset = begin_poured(&s, 0, -1, 0.3, err);
    if (!levelset)
        return err->status;
    case_levelset_run(levelset, 0.8, 0.01);
    case_report(sink, (case_result){"of a ball's lower half: wet 0.5 s after a jet on it ended",
                                    wet_below(levelset, &s.def, &s.body), 0, 0.1, falls});
    report_leaks(sink, levelset, 0.1);
    und_levelset_destroy(levelset);
    return UND_OK;
}

/* ---- Friction ---- */

/* The mean speed along x at a slab's surface, m/s, after 0.1 s: liquid on it sets out with 1 m/s. */
static und_status slide(case_sink *sink, double friction, double *speed, und_error *err)
{
    enum { N = 64, TOP = N / 4 };
    setup s;
    double count = 0;
    set_up(&s, sink, N, N / 2, 1.0 / N);
    s.body = (und_shape){.kind = UND_BOX, .center = {0.5, 0, 0}, .half = {2, (double)TOP / N, 2}};
    s.shape = (und_shape){.kind = UND_BOX, .center = {0.3, (TOP + 2.0) / N, 0}, .half = {0.2, 2.0 / N, 2}};
    s.solid.friction = friction;
    und_levelset *levelset = begin_filled(&s, 1, 0, err);
    if (!levelset)
        return err->status;
    case_levelset_run(levelset, 0.1, 0.01);
    *speed = 0;
    for (int x = 1; x < N; x++)
        if (und_levelset_distance(levelset, x - 1, TOP, 0) < 0 &&
            und_levelset_distance(levelset, x, TOP, 0) < 0) {
            *speed += und_levelset_velocity(levelset, 0, x, TOP, 0);
            count++;
        }
    *speed /= fmax(count, 1);
    und_levelset_destroy(levelset);
    return UND_OK;
}

und_status case_direct_friction(case_sink *sink, und_error *err)
{
    double slips, sticks;
    if (slide(sink, 0, &slips, err) != UND_OK || slide(sink, 1, &sticks, err) != UND_OK)
        return err->status;
    case_report(sink, (case_result){"speed at a slab, m/s, friction 0", slips, 1, 0.1, "nothing drags"});
    case_report(sink, (case_result){"speed at a slab, m/s, friction 1", sticks, 0, 0.05, "the slab's"});
    return UND_OK;
}

/* ---- A slope ---- */

enum { SLOPE_CELLS = 64 };
static const double STEEP = 20, RUN = 0.25; /* degrees, and m from where the sheet comes in to the edge */

/* A sheet, and what became of it. */
typedef struct sheet {
    und_vec3 edge; /* of the slope, m */
    int thick;     /* cells */
    double landed; /* cells off the parabola that its speed behind the edge gives */
    double volume; /* of what came */
} sheet;

/* The middle of the liquid in a column or a row of cells, m, and its mean velocity. */
static und_vec3 middle_of(const und_levelset *levelset, const und_levelset_def *def, int axis, int at,
                          und_vec3 *speed)
{
    double all = 0;
    und_vec3 place = {0}, flow = {0};
    for (int i = 0; i < def->n[1 - axis]; i++) {
        const int x = axis == 0 ? at : i, y = axis == 0 ? i : at;
        const double part = part_of(levelset, def, x, y);
        const und_vec3 u = {0.5 * (und_levelset_velocity(levelset, 0, x, y, 0) +
                                   und_levelset_velocity(levelset, 0, x + 1, y, 0)),
                            0.5 * (und_levelset_velocity(levelset, 1, x, y, 0) +
                                   und_levelset_velocity(levelset, 1, x, y + 1, 0)),
                            0};
        all += part;
        place = und_add(place, und_mul(und_vec(x + 0.5, y + 0.5, 0), part * def->dx));
        flow = und_add(flow, und_mul(u, part));
    }
    *speed = und_mul(flow, 1 / all);
    return und_mul(place, 1 / all);
}

static void measure_sheet(const und_levelset *levelset, const und_levelset_def *def, sheet *out)
{
    const und_ledger ledger = und_levelset_ledger(levelset);
    und_vec3 leaves, lands;
    /* Over the edge its own pressure still drives it: as far behind as it is thick it falls freely. */
    const und_vec3 from = middle_of(levelset, def, 0, (int)(out->edge.x / def->dx) + out->thick, &leaves);
    const und_vec3 to = middle_of(levelset, def, 1, def->n[1] / 4, &lands);
    const double fall = from.y - to.y;
    const double time = (leaves.y + sqrt(leaves.y * leaves.y + 2 * GRAVITY * fall)) / GRAVITY;
    out->landed = (to.x - from.x - leaves.x * time) / def->dx;
    out->volume = 1 + ledger.correction / (ledger.start + ledger.sources);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Where it lands once it runs evenly: the median, as a drop off the edge that passes moves the mean. */
static void follow_sheet(und_levelset *levelset, const und_levelset_def *def, sheet *out)
{
    enum { TIMES = 41 };
    double landed[TIMES];
    for (int i = 0; i < TIMES; i++) {
        case_levelset_run(levelset, 0.7 + 0.01 * i, 0.01);
        measure_sheet(levelset, def, out);
        landed[i] = out->landed;
    }
    qsort(landed, TIMES, sizeof *landed, by_size);
    out->landed = landed[TIMES / 2];
}

/* Comes in on the slope, runs down and off its edge, and out of the domain. */
static und_status run_off(case_sink *sink, sheet *out, und_error *err)
{
    const double turn = STEEP * M_PI / 180, dx = 1.0 / SLOPE_CELLS, thick = out->thick * dx, speed = 1.5;
    const und_vec3 along = {cos(turn), -sin(turn), 0}, up = {sin(turn), cos(turn), 0};
    const und_vec3 half = {0.3, 0.1, 2}, edge = out->edge, end = und_add(edge, und_mul(along, -RUN));
    const und_vec3 middle = und_add(und_add(edge, und_mul(along, -half.x)), und_mul(up, -half.y));
    setup s;
    set_up(&s, sink, 3 * SLOPE_CELLS / 2, SLOPE_CELLS, dx);
    s.def.open[2] = true;
    s.body = (und_shape){.kind = UND_BOX, .half = half};
    und_motion *motion = und_motion_create(&(und_key){.position = middle, .rotation = {0, 0, -STEEP}}, 1,
                                           UND_EASE_LINEAR, err);
    /* From 0.1 m before its end to there, and from within the slope to its top. */
    und_shape part[4] = {
        {.kind = UND_PLANE, .center = und_add(edge, und_mul(up, thick)), .half = up},
        {.kind = UND_PLANE, .center = und_add(edge, und_mul(up, -0.02)), .half = und_mul(up, -1)},
        {.kind = UND_PLANE, .center = end, .half = along},
        {.kind = UND_PLANE, .center = und_add(end, und_mul(along, -0.1)), .half = und_mul(along, -1)}};
    und_shape *parts[4] = {&part[0], &part[1], &part[2], &part[3]};
    s.shape = (und_shape){.kind = UND_INTERSECTION, .child_count = 4, .children = parts};
    s.solid.motion = motion;
    und_levelset *levelset =
        motion ? begin_poured(&s, speed * along.x, speed * along.y, INFINITY, err) : NULL;
    if (levelset) {
        follow_sheet(levelset, &s.def, out);
    }
    und_levelset_destroy(levelset);
    und_motion_destroy(motion);
    return levelset ? UND_OK : err->status;
}

/* The edge at several places within a cell: the worst of them. */
und_status case_direct_slope(case_sink *sink, und_error *err)
{
    static const double shift[4][2] = {{0.05, 0.35}, {0.3, 0}, {0.55, 0.7}, {0.8, 0.35}};
    double landed = 0, thin = 1, thick = 1;
    for (int i = 0; i < 8; i++) {
        sheet one = {.edge = {0.5 + shift[i % 4][0] / SLOPE_CELLS, 0.7 + shift[i % 4][1] / SLOPE_CELLS, 0},
                     .thick = i < 4 ? 4 : 6};
        double *volume = i < 4 ? &thin : &thick;
        if (run_off(sink, &one, err) != UND_OK)
            return err->status;
        landed = fabs(one.landed) > fabs(landed) ? one.landed : landed;
        *volume = fabs(one.volume - 1) > fabs(*volume - 1) ? one.volume : *volume;
    }
    case_report(sink, (case_result){"a sheet off a slope lands: cells off its parabola", landed, 0, 0.5,
                                    "free fall"});
    case_report(sink,
                (case_result){"volume, of what came, 4 cells thick", thin, 1, 0.09, "nothing is added"});
    case_report(sink,
                (case_result){"volume, of what came, 6 cells thick", thick, 1, 0.05, "nothing is added"});
    return UND_OK;
}
