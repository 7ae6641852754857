/* Liquid at objects (Rasmussen et al. 2004, 5.5): what hangs from a ceiling falls, a sheet that leaves the
 * edge of a slope flies on as it would in the air, none stays below a ball, and friction holds it back.  In
 * two dimensions. */
#include "cases_direct.h"
#include "cases_levelset.h"

#include "geom/motion.h"
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
    und_motion *motion;
} setup;

static void set_up(setup *s, const case_sink *sink, int nx, int ny, double dx)
{
    *s = (setup){.def = case_levelset_tank(sink, nx, ny, 1, dx)};
    s->solid = (und_obstacle_def){.shape = &s->body, .separate = true};
    s->def.obstacles = &s->solid;
    s->def.obstacle_count = 1;
}

static und_levelset *begin_filled(setup *s, double along, und_error *err)
{
    s->fill = (und_fill_def){.shape = &s->shape, .velocity = {{.number = along}}};
    s->def.fills = &s->fill;
    s->def.fill_count = 1;
    return und_levelset_create(&s->def, err);
}

static und_levelset *begin_poured(setup *s, double u, double v, double end, und_error *err)
{
    s->source = (und_element_def){.role = UND_ELEMENT_SOURCE,
                                  .shape = &s->shape,
                                  .motion = s->motion,
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

static void report_leaks(case_sink *sink, const und_levelset *levelset)
{
    und_ledger ledger = und_levelset_ledger(levelset);
    double all = ledger.start + ledger.sources;
    case_report(sink, (case_result){"volume, of what came", 1 + ledger.correction / all, 1, 0.06,
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
    und_levelset *levelset = begin_filled(&s, 0, err);
    if (!levelset)
        return err->status;
    const double first = height_of(levelset, &s.def, low);
    case_levelset_run(levelset, time, 0.01);
    const double fallen = first - height_of(levelset, &s.def, low);
    case_report(sink, (case_result){"a slab under a ceiling: fallen after 0.3 s, of g t^2 / 2",
                                    fallen / (0.5 * GRAVITY * time * time), 1, 0.06, falls});
    report_leaks(sink, levelset);
    und_levelset_destroy(levelset);
    return UND_OK;
}

/* ---- A slope ---- */

/* The middle of a column's liquid, m; 0: there is none. */
static double sheet_at(const und_levelset *levelset, const und_levelset_def *def, int x)
{
    double all = 0, sum = 0;
    for (int y = def->n[1] / 5; y < def->n[1]; y++) { /* what has fallen lies below */
        all += part_of(levelset, def, x, y);
        sum += part_of(levelset, def, x, y) * (y + 0.5) * def->dx;
    }
    return all > 0 ? sum / all : 0;
}

/* Liquid comes in along a slope, three cells thick, and leaves it at its edge. */
und_status case_direct_slope(case_sink *sink, und_error *err)
{
    enum { N = 80 };
    const double dx = 1.0 / N, angle = M_PI / 9, c = cos(angle), sine = sin(angle), speed = 1.2,
                 thick = 3 * dx, length = 0.25, deep = 0.1, edge[2] = {0.4, 0.62};
    setup s;
    set_up(&s, sink, N, N * 4 / 5, dx);
    /* in the slope's own coordinates its edge is the origin and its surface y = 0 */
    const und_key key = {.position = {edge[0], edge[1], 0}, .rotation = {0, 0, -angle * 180 / M_PI}};
    s.body = (und_shape){.kind = UND_BOX, .center = {-1, -deep, 0}, .half = {1, deep, 2}};
    s.shape = (und_shape){
        .kind = UND_BOX, .center = {-length, thick / 2, 0}, .half = {2 * dx, thick / 2 + 0.01 * dx, 2}};
    s.motion = und_motion_create(&key, 1, UND_EASE_LINEAR, err);
    s.solid.motion = s.motion;
    s.def.open[1] = true;
    und_levelset *levelset = s.motion ? begin_poured(&s, speed * c, -speed * sine, INFINITY, err) : NULL;
    if (levelset) {
        case_levelset_run(levelset, 0.5, 0.01);
        /* what slides gains g sin(angle) along the slope, then flies */
        const double fast = sqrt(speed * speed + 2 * GRAVITY * sine * (length - 2 * dx));
        const double half = 0.5 * thick * speed / fast;
        double most = 0;
        for (int x = (int)((edge[0] + 0.03) * N); x < (int)((edge[0] + 0.4) * N); x++) {
            double t = ((x + 0.5) * dx - edge[0] - half * sine) / (fast * c);
            double y = edge[1] + half * c - fast * sine * t - 0.5 * GRAVITY * t * t;
            if (y > 0.25)
                most = fmax(most, fabs(sheet_at(levelset, &s.def, x) - y) / dx);
        }
        case_report(sink, (case_result){"a sheet beyond its edge: furthest from the parabola, cells", most, 0,
                                        1.5, falls});
        report_leaks(sink, levelset);
    }
    und_levelset_destroy(levelset);
    und_motion_destroy(s.motion);
    return levelset ? UND_OK : err->status;
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
                                    wet_below(levelset, &s.def, &s.body), 0, 0.05, falls});
    report_leaks(sink, levelset);
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
    und_levelset *levelset = begin_filled(&s, 1, err);
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
