/* Bodies in columns of water: how deep they float, how they bob, how they sink. */
#include "base/status.h"
#include "geom/shape.h"
#include "validate/columns.h"
#include "validate/hull.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define G 9.81

static const char *const rules[] = {[UND_FORCE_ESTIMATE] = "estimate", [UND_FORCE_SEARCH] = "search"};

/* Part of a ball or of a lying cylinder of radius 1 that is below the depth t, 0 to 2. */
static double ball_below(double t)
{
    return t * t * (3 - t) / 4;
}
static double cylinder_below(double t)
{
    return (acos(1 - t) - (1 - t) * sqrt(t * (2 - t))) / M_PI;
}

/* Where `below` says `part`. */
static double draft_of(double (*below)(double), double part)
{
    double low = 0, high = 2;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        *(below(middle) < part ? &low : &high) = middle;
    }
    return low;
}

/* Mean level over a ring of columns two from the walls. */
static double level_away(const und_columns *columns, const und_columns_def *def)
{
    double sum = 0;
    int nx = def->height_field.nx, nz = def->height_field.nz;
    for (int x = 2; x < nx - 2; x++)
        sum += und_columns_surface(columns, x, 2) + und_columns_surface(columns, x, nz - 3);
    for (int z = 2; z < nz - 2; z++)
        sum += und_columns_surface(columns, 2, z) + und_columns_surface(columns, nx - 3, z);
    return sum / (2 * (nx - 4) + 2 * (nz - 4));
}

/* A body that settles in 2 x 2 m of water 0.5 m deep: how far its centre is below the water's level, over the
 * last second. */
static und_status settle(const und_body_def *body, und_force_rule rule, double *below, und_error *err)
{
    und_columns_def def = case_columns_tank(61, 61, 2.0 / 61, 0.5);
    def.bodies = body, def.body_count = 1;
    def.force = rule;
    def.height_field.damping = 1.5;
    und_columns *columns = und_columns_create(&def, err);
    if (!columns)
        return err->status;
    const int settling = 8 * 60, looking = 60;
    case_columns_steps(columns, settling, 1.0 / 60);
    *below = 0;
    for (int i = 0; i < looking; i++) {
        und_columns_step(columns, 1.0 / 60);
        *below += (level_away(columns, &def) - und_columns_body(columns, 0).position[1]) / looking;
    }
    und_columns_destroy(columns);
    return UND_OK;
}

und_status case_draft(case_sink *sink, und_error *err)
{
    static const und_shape ball = {.kind = UND_SPHERE, .radius = 0.2};
    static const und_shape box = {.kind = UND_BOX, .half = {0.3, 0.125, 0.25}};
    static const und_shape cylinder = {.kind = UND_CYLINDER, .half = {0, 0.4, 0}, .radius = 0.2};
    static const struct {
        const char *what;
        const und_shape *shape;
        double half, turn; /* of its height; degrees about z, so that the cylinder lies along x */
        double (*below)(double);
    } shapes[] = {{"ball", &ball, 0.2, 0, ball_below},
                  {"box", &box, 0.125, 0, NULL},
                  {"lying cylinder", &cylinder, 0.2, 90, cylinder_below}};
    static const double ratios[] = {0.3, 0.5, 0.7, 0.1, 0.9}; /* the last two for the ball alone */
    char text[80];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < (k == 0 ? 5 : 3); i++)
            for (int rule = UND_FORCE_ESTIMATE; rule <= UND_FORCE_SEARCH; rule++) {
                double half = shapes[k].half, below = NAN;
                double exact =
                    half * (shapes[k].below ? draft_of(shapes[k].below, ratios[i]) : 2 * ratios[i]);
                und_body_def body = und_body_def_default();
                body.shape = shapes[k].shape;
                body.density = 1000 * ratios[i];
                body.rotation[2] = shapes[k].turn;
                body.position[0] = 1.01, body.position[2] = 0.99;
                body.position[1] = half - exact + 0.03;
                if (settle(&body, (und_force_rule)rule, &below, err))
                    return err->status;
                snprintf(text, sizeof text, "%s, density ratio %g, %s: draft, m", shapes[k].what, ratios[i],
                         rules[rule]);
                case_report(sink, (case_result){text, below + half, exact, 0.02 * 2 * half, "Archimedes"});
            }
    return UND_OK;
}

/* A body of draft D with a level bottom over a gap h of water, between or in long waves that run out over the
 * depth H, c = sqrt(g H).  Derived here, to first order in its height y above the place where it floats.
 *
 * A box of half length a across a channel.  Water fills the gap as the box rises: its flow at x is -y' x, so
 * the pressure is p(a) + rho y'' (x^2 - a^2) / (2 h).  Outside a wave carries the flow away: c eta = -a y' at
 * x = a, and p(a) = rho g eta.  Summed over the bottom, per metre of width:
 *   (m + m_a) y'' + (2 rho g a^2 / c) y' + 2 a rho g y = 0,  m = 2 a rho D,  m_a = (2/3) rho a^3 / h.
 * An upright cylinder of radius a: flow -y' r / 2, pressure p(a) + rho y'' (r^2 - a^2) / (4 h), m_a = pi rho
 * a^4 / (8 h), and outside rings that obey eta_tt = c^2 (eta_rr + eta_r / r), followed numerically. */
typedef struct floater {
    double a, depth, draft;
} floater;

/* Heights of the box in time, relative to the first, and of the cylinder. */
static double box_heave(const floater *f, double t)
{
    double gap = f->depth - f->draft, c = sqrt(G * f->depth), length = f->draft + f->a * f->a / (3 * gap);
    double decay = 0.5 * G * f->a / (c * length), turn = sqrt(G / length - decay * decay);
    return exp(-decay * t) * (cos(turn * t) + decay / turn * sin(turn * t));
}

enum { RINGS = 4000, RINGS_WITHIN = 100 }; /* in the water around; as wide as the cylinder's radius */

static void cylinder_heave(const floater *f, double *height, int count, double dt, double *rings)
{
    const double gap = f->depth - f->draft, dr = f->a / RINGS_WITHIN, c = sqrt(G * f->depth);
    const double length = f->draft + f->a * f->a / (8 * gap);
    const int parts = (int)ceil(2 * c * dt / dr);
    double *eta = rings, *u = rings + RINGS, y = 1, rising = 0, step = dt / parts;
    for (int i = 0; i < 2 * RINGS; i++)
        rings[i] = 0;
    for (int n = 0; n < count * parts; n++) {
        if (n % parts == 0)
            height[n / parts] = y;
        for (int i = 1; i < RINGS; i++)
            u[i] -= step * G * (eta[i] - eta[i - 1]) / dr;
        rising += step * G * (1.5 * eta[0] - 0.5 * eta[1] - y) / length;
        u[0] = -f->a * rising / (2 * f->depth);
        for (int i = 0; i + 1 < RINGS; i++) {
            double r = f->a + i * dr;
            eta[i] -= step * f->depth * ((r + dr) * u[i + 1] - r * u[i]) / ((r + 0.5 * dr) * dr);
        }
        y += step * rising;
    }
}

/* Lets a body go a tenth of its draft above where it floats, and notes its height, relative to that. */
static und_status let_bob(const floater *f, bool across, und_force_rule rule, double *height, int count,
                          double dt, und_error *err)
{
    const double dx = 0.025, thick = 0.3, width = 0.5, afloat = thick / 2 - f->draft, above = 0.1 * f->draft;
    const und_shape box = {.kind = UND_BOX, .half = {f->a, thick / 2, width / 2 - 1e-4}};
    const und_shape cylinder = {.kind = UND_CYLINDER, .half = {0, thick / 2, 0}, .radius = f->a};
    int nx = across ? 240 : 200, nz = across ? (int)round(width / dx) : nx;
    und_body_def body = und_body_def_default();
    und_columns_def def = case_columns_tank(nx, nz, dx, f->depth);
    body.shape = across ? &box : &cylinder;
    body.density = 1000 * f->draft / thick;
    body.drag = 0;
    body.friction = body.bounce = 0;
    body.position[0] = nx * dx / 2, body.position[2] = nz * dx / 2;
    body.position[1] = afloat + above;
    def.bodies = &body, def.body_count = 1;
    def.force = rule;
    def.height_field.edge[UND_LOW_X].kind = def.height_field.edge[UND_HIGH_X].kind = UND_EDGE_OPEN;
    if (!across)
        def.height_field.edge[UND_LOW_Z].kind = def.height_field.edge[UND_HIGH_Z].kind = UND_EDGE_OPEN;
    und_columns *columns = und_columns_create(&def, err);
    if (!columns)
        return err->status;
    for (int i = 0; i < count; i++) {
        height[i] = (und_columns_body(columns, 0).position[1] - afloat) / above;
        und_columns_step(columns, dt);
    }
    und_columns_destroy(columns);
    return UND_OK;
}

und_status case_heave(case_sink *sink, und_error *err)
{
    static const floater floaters[] = {{0.25, 0.5, 0.25}, {0.25, 1, 0.25}, {0.5, 0.5, 0.25}};
    const double dt = 1.0 / 240;
    enum { COUNT = 480 };
    double run[COUNT], exact[COUNT], *rings = und_alloc(2 * RINGS, sizeof *rings, "rings", err);
    char text[100];
    for (int i = 0; rings && i < 3; i++)
        for (int across = 1; across >= 0; across--)
            for (int rule = UND_FORCE_ESTIMATE; rule <= (i < 2 ? UND_FORCE_SEARCH : UND_FORCE_ESTIMATE);
                 rule++) {
                const floater *f = &floaters[i];
                if (let_bob(f, across, (und_force_rule)rule, run, COUNT, dt, err)) {
                    free(rings);
                    return err->status;
                }
                for (int n = 0; across && n < COUNT; n++)
                    exact[n] = box_heave(f, n * dt);
                if (!across)
                    cylinder_heave(f, exact, COUNT, dt, rings);
                case_fit found = case_fit_series(run, COUNT, 60), wanted = case_fit_series(exact, COUNT, 60);
                double period = 2 * M_PI / wanted.angle * dt;
                snprintf(text, sizeof text, "%s a %g, water %g, draft %g m, %s: period, s",
                         across ? "box" : "cylinder", f->a, f->depth, f->draft, rules[rule]);
                case_report(sink,
                            (case_result){
                                text, 2 * M_PI / found.angle * dt, period, 0.1 * period,
                                "long waves, derived; 2 pi sqrt(D / g) = 1.003 s without the water's mass"});
            }
    free(rings);
    return rings ? UND_OK : err->status;
}

/* A ball half again as dense as water sinks through 8 m of it. */
und_status case_impact(case_sink *sink, und_error *err)
{
    static const double drags[] = {0.5, 1};
    char text[80];
    for (int rule = UND_FORCE_ESTIMATE; rule <= UND_FORCE_SEARCH; rule++)
        for (int i = 0; i < 2; i++) {
            const und_shape ball = {.kind = UND_SPHERE, .radius = 0.2};
            const double ratio = 1.5, bed = 8;
            und_columns_def def = case_columns_tank(40, 40, 0.1, bed);
            und_body_def body = und_body_def_default();
            body.shape = &ball;
            body.density = 1000 * ratio;
            body.drag = drags[i];
            body.position[0] = body.position[2] = 2.03, body.position[1] = 0.5;
            def.bodies = &body, def.body_count = 1;
            def.force = (und_force_rule)rule;
            und_columns *columns = und_columns_create(&def, err);
            if (!columns)
                return err->status;
            double from = 0, start = 0, speed = NAN;
            while (und_columns_time(columns) < 20 && !isfinite(speed)) {
                und_columns_step(columns, 1.0 / 240);
                und_body_state s = und_columns_body(columns, 0);
                if (from == 0 && s.position[1] < -5) {
                    from = s.position[1];
                    start = und_columns_time(columns);
                }
                if (s.position[1] < -7)
                    speed = (from - s.position[1]) / (und_columns_time(columns) - start);
            }
            und_columns_destroy(columns);
            double exact = sqrt(8.0 / 3 * (ratio - 1) * G * ball.radius / body.drag);
            snprintf(text, sizeof text, "drag %g, %s: sinking speed, m/s", drags[i], rules[rule]);
            case_report(sink, (case_result){text, speed, exact, 0.05 * exact,
                                            "weight less buoyancy = C_d rho v^2 / 2 pi R^2"});
        }
    return UND_OK;
}

/* Follows a box with a weight in it for some seconds: its heel, the mean over the last one, and the period of
 * its rolling, from the first turning points of the heel. */
static und_status roll(const und_body_def *body, und_force_rule rule, double damping, double seconds,
                       double *heel, double *period, und_error *err)
{
    enum { TURNS = 3 };
    const double dt = 1.0 / 240;
    double turn[TURNS], last = 0;
    int turns = 0, count = (int)(seconds / dt), looking = (int)(1 / dt);
    und_columns_def def = case_columns_tank(80, 60, 0.05, 1.5);
    def.bodies = body, def.body_count = 1;
    def.force = rule;
    def.height_field.damping = damping;
    und_columns *columns = und_columns_create(&def, err);
    if (!columns)
        return err->status;
    *heel = 0;
    for (int n = 1; n <= count; n++) {
        und_columns_step(columns, dt);
        und_body_state now = und_columns_body(columns, 0);
        double w = now.spin[2];
        if (w * last < 0 && turns < TURNS)
            turn[turns++] = (n - w / (w - last)) * dt;
        last = w;
        *heel += n > count - looking ? case_heel(&now) / looking : 0;
    }
    *period = turns == TURNS ? turn[TURNS - 1] - turn[0] : NAN;
    und_columns_destroy(columns);
    return UND_OK;
}

/* Rolls about its length, rights itself when it is put in upside down, and leans where the weight is aside.
 */
und_status case_ballast(case_sink *sink, und_error *err)
{
    static const und_shape box = {.kind = UND_BOX, .half = {0.3, 0.15, 0.4}};
    static const und_shape ball = {.kind = UND_SPHERE, .radius = 0.3};
    static const struct {
        double at[2], turn; /* m; degrees */
    } rows[] = {{{0, -0.13}, 6}, {{0.05, -0.13}, 0}, {{-0.1, -0.13}, 0}, {{0, -0.13}, 165}};
    char text[80];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int rule = UND_FORCE_ESTIMATE; rule <= UND_FORCE_SEARCH; rule++) {
            und_body_def body = und_body_def_default();
            body.shape = &box;
            body.density = 250;
            body.ballast = 30;
            memcpy(body.ballast_at, rows[i].at, sizeof rows[i].at);
            case_hull hull = case_hull_of(&body);
            double heel = NAN, period = NAN, exact = case_hull_period(&hull);
            body.position[0] = 2.01, body.position[1] = box.half.y - hull.draft, body.position[2] = 1.49;
            body.rotation[2] = rows[i].turn;
            if (rows[i].turn > 90) /* a box floats upside down too */
                body.shape = &ball;
            bool rolls = rows[i].turn > 0 && rows[i].turn < 90;
            if (roll(&body, (und_force_rule)rule, rolls ? 0 : 1, rolls ? 3 : 12, &heel, &period, err) !=
                UND_OK)
                return err->status;
            if (rolls) {
                snprintf(text, sizeof text, "GM %.3f m, %s: period of rolling, s", hull.metacentre,
                         rules[rule]);
                case_report(sink, (case_result){text, period, exact, 0.1 * exact,
                                                "2 pi sqrt(I / m g GM), without the water's mass"});
            } else {
                snprintf(text, sizeof text, "from %g degrees, weight %g m aside, %s: heel, degrees",
                         rows[i].turn, rows[i].at[0], rules[rule]);
                case_report(sink, (case_result){text, heel, case_hull_heel(&hull), 0.5,
                                                "GZ = sin a (GM + BM tan^2 a / 2)"});
            }
        }
    return UND_OK;
}
