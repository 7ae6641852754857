/* Liquid at objects (Rasmussen et al. 2004, 5.5): what hangs from a ceiling falls, little stays below a ball,
 * and friction holds it back.  In two dimensions. */
#include "cases_direct.h"
#include "cases_levelset.h"

#include "geom/shape.h"

#include <math.h>

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
    s->solid = (und_obstacle_def){.shape = &s->body, .separate = true};
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
