/* Bodies in the flow of cells at rest: how deep they float, how they bob, sink and rise. */
#include "base/status.h"
#include "bodies/floating_bodies.h"
#include "liquid/cells.h"
#include "validate/cells.h"
#include "validate/hull.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define G 9.81

/* A tank of still liquid, and a body in it. */
typedef struct floating {
    und_cells *cells;
    und_floating_bodies *floating_bodies;
    und_grid grid;
    int number;
} floating;

static und_status take_frame(const floating *f, und_frame *frame, und_error *err)
{
    und_liquid *liquid = und_cells_liquid(f->cells);
    *frame = und_frame_empty(f->number, und_cells_time(f->cells), f->grid);
    return liquid->class->frame(liquid, frame, err);
}

static void close_tank(floating *f)
{
    und_floating_bodies_destroy(f->floating_bodies);
    und_cells_destroy(f->cells);
}

/* 1 x 1 x 1 m with 0.62 m of water in 12 cells along each edge, so that the surface is inside its cells. */
static const double level = 0.62;

static und_status open_tank(floating *f, const und_body_def *body, double damping, und_error *err)
{
    und_cells_def def = case_cells_tank(12, 12, 1.0 / 12);
    und_floating_bodies_def floating_bodies = und_floating_bodies_def_default();
    und_frame frame = {0};
    def.n[2] = 12;
    def.track = UND_TRACK_HEIGHT;
    def.has_level = true;
    def.level.number = level;
    floating_bodies.bodies = body, floating_bodies.body_count = 1;
    floating_bodies.damping = damping;
    floating_bodies.threads = 1;
    *f = (floating){.grid = und_cells_grid(&def), .cells = und_cells_create(&def, err)};
    und_status status = f->cells ? take_frame(f, &frame, err) : err->status;
    if (status == UND_OK && !(f->floating_bodies = und_floating_bodies_create(&floating_bodies, &frame, err)))
        status = err->status;
    und_frame_clear(&frame);
    if (status != UND_OK)
        close_tank(f);
    return status;
}

/* To the next frame, dt later; the body there. */
static und_status next_frame(floating *f, double dt, und_body_state *body, und_error *err)
{
    und_frame frame = {0};
    und_cells_step(f->cells, dt);
    f->number++;
    und_status status = take_frame(f, &frame, err);
    if (status == UND_OK)
        status = und_floating_bodies_advance(f->floating_bodies, &frame, err);
    und_frame_clear(&frame);
    *body = und_bodies_state(und_floating_bodies_bodies(f->floating_bodies), 0);
    return status;
}

static und_body_def body_of(const und_shape *shape, double ratio, double y)
{
    und_body_def body = und_body_def_default();
    body.shape = shape;
    body.density = 1000 * ratio;
    body.position[0] = 0.503, body.position[1] = y, body.position[2] = 0.491;
    return body;
}

und_status case_cells_draft(case_sink *sink, und_error *err)
{
    static const double r = 0.13;
    static const und_shape ball = {.kind = UND_SPHERE, .radius = r};
    static const und_shape cylinder = {.kind = UND_CYLINDER, .half = {0, r, 0}, .radius = r};
    static const und_shape raft = {.kind = UND_BOX, .half = {2 * r, 0.5 * r, 1.5 * r}};
    /* drafts over the radius; over the height for the raft */
    static const struct {
        double ratio, ball, cylinder, raft;
    } rows[] = {
        {0.3, 0.7265149822, 0.6803084902, 0.3}, {0.5, 1, 1, 0.5}, {0.7, 1.273485018, 1.31969151, 0.7}};
    static const char *const names[] = {"ball", "lying cylinder", "raft"};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const und_shape *shape = k == 0 ? &ball : k == 1 ? &cylinder : &raft;
            double half = k == 2 ? 0.5 * r : r;
            double exact = k == 0 ? rows[i].ball : k == 1 ? rows[i].cylinder : rows[i].raft;
            und_body_def body = body_of(shape, rows[i].ratio, level + 0.02);
            und_body_state now = {0};
            floating f;
            char text[80];
            body.rotation[0] = k == 1 ? 90 : 0;
            und_status status = open_tank(&f, &body, 20, err);
            if (status != UND_OK)
                return status;
            for (int n = 0; n < 72 && status == UND_OK; n++)
                status = next_frame(&f, 1.0 / 24, &now, err);
            close_tank(&f);
            if (status != UND_OK)
                return status;
            snprintf(text, sizeof text, "%s, density ratio %g: draft over %s", names[k], rows[i].ratio,
                     k == 2 ? "height" : "radius");
            double below = level - now.position[1] + half;
            case_report(sink,
                        (case_result){text, below / (k == 2 ? 2 * half : half), exact, 0.02, "Archimedes"});
        }
    return UND_OK;
}

/* The time between the first and the last of `wanted` turning points, as a period: of its height, or of its
 * heel about z. */
static und_status bob(const und_body_def *body, bool rolls, double *period, und_error *err)
{
    enum { WANTED = 7, MOST = 1200 };
    const double dt = 1.0 / 240;
    double last = 0, first = 0, latest = 0;
    int turns = 0;
    floating f;
    und_status status = open_tank(&f, body, 0, err);
    if (status != UND_OK)
        return status;
    for (int n = 1; n < MOST && turns < WANTED && status == UND_OK; n++) {
        und_body_state now;
        status = next_frame(&f, dt, &now, err);
        double v = rolls ? now.spin[2] : now.velocity[1];
        if (v * last < 0) {
            latest = (n - v / (v - last)) * dt;
            first = turns++ == 0 ? latest : first;
        }
        last = v;
    }
    close_tank(&f);
    *period = turns == WANTED ? 2 * (latest - first) / (WANTED - 1) : NAN;
    return status;
}

und_status case_cells_heave(case_sink *sink, und_error *err)
{
    static const und_shape ball = {.kind = UND_SPHERE, .radius = 0.15};
    static const und_shape box = {.kind = UND_BOX, .half = {0.2, 0.1, 0.2}};
    und_body_def bodies[2] = {body_of(&ball, 0.5, level - 0.02), body_of(&box, 0.5, level - 0.02)};
    const double exact[2] = {2 * M_PI * sqrt(2 * 0.15 / (3 * G)), 2 * M_PI * sqrt(0.1 / G)};
    static const char *const text[2] = {"half-submerged ball, no damping: period, s",
                                        "box, no damping: period, s"};
    static const char *const source[2] = {"2 pi sqrt(2 R / 3 g), the liquid does not move",
                                          "2 pi sqrt(draft / g), the liquid does not move"};
    for (int i = 0; i < 2; i++) {
        double period = NAN;
        if (bob(&bodies[i], false, &period, err) != UND_OK)
            return err->status;
        case_report(sink, (case_result){text[i], period, exact[i], 0.01 * exact[i], source[i]});
    }
    return UND_OK;
}

/* A box with a weight in it: upright, and the weight aside. */
und_status case_cells_ballast(case_sink *sink, und_error *err)
{
    static const und_shape box = {.kind = UND_BOX, .half = {0.2, 0.12, 0.15}};
    static const struct {
        double ballast, at[2];
    } rows[] = {{5, {0, -0.1}}, {3, {0, -0.06}}, {5, {0.03, -0.1}}, {4, {-0.05, -0.1}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        und_body_def body = body_of(&box, 0.3, level);
        und_body_state now = {0};
        floating f;
        char text[80];
        body.ballast = rows[i].ballast;
        memcpy(body.ballast_at, rows[i].at, sizeof rows[i].at);
        case_hull hull = case_hull_of(&body);
        double period = NAN, exact = case_hull_period(&hull);
        body.position[1] = level - hull.draft + box.half.y;
        if (rows[i].at[0] == 0) {
            body.rotation[2] = 3;
            if (bob(&body, true, &period, err) != UND_OK)
                return err->status;
            snprintf(text, sizeof text, "%g kg, GM %.3f m: period of rolling, s", body.ballast,
                     hull.metacentre);
            case_report(sink, (case_result){text, period, exact, 0.005 * exact, "2 pi sqrt(I / m g GM)"});
            continue;
        }
        und_status status = open_tank(&f, &body, 20, err);
        if (status != UND_OK)
            return status;
        for (int n = 0; n < 96 && status == UND_OK; n++)
            status = next_frame(&f, 1.0 / 24, &now, err);
        close_tank(&f);
        if (status != UND_OK)
            return status;
        snprintf(text, sizeof text, "%g kg, %g m aside: heel, degrees", body.ballast, rows[i].at[0]);
        case_report(sink, (case_result){text, case_heel(&now), case_hull_heel(&hull), 0.05,
                                        "GZ = sin a (GM + BM tan^2 a / 2)"});
    }
    return UND_OK;
}

und_status case_cells_sink(case_sink *sink, und_error *err)
{
    static const und_shape ball = {.kind = UND_SPHERE, .radius = 0.06};
    static const struct {
        double ratio, damping, y;
        int frames;
        const char *text, *source;
    } rows[] = {
        {0.5, 0, 0.15, 24, "density ratio 0.5: acceleration, m/s2", "g (1 / s - 1)"},
        {2, 0, 0.5, 24, "density ratio 2: acceleration, m/s2", "g (1 / s - 1)"},
        {1, 5, 0.3, 240, "density ratio 1: way in a second, m", "stays"},
        {0.8, 20, 0.15, 160, "density ratio 0.8, damped: speed at last, m/s", "(rho V - m) g / D, eq. 16"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double dt = 1.0 / 240, s = rows[i].ratio;
        und_body_def body = body_of(&ball, s, rows[i].y);
        und_body_state now = {0};
        floating f;
        und_status status = open_tank(&f, &body, rows[i].damping, err);
        if (status != UND_OK)
            return status;
        for (int n = 0; n < rows[i].frames && status == UND_OK; n++)
            status = next_frame(&f, dt, &now, err);
        close_tank(&f);
        if (status != UND_OK)
            return status;
        double end = G * (1 - s) / (rows[i].damping * body.drag), a = G * (1 / s - 1);
        double value = i < 2    ? now.velocity[1] / (rows[i].frames * dt)
                       : i == 2 ? now.position[1] - rows[i].y
                                : now.velocity[1];
        double exact = i < 2 ? a : i == 2 ? 0 : end;
        case_report(sink, (case_result){rows[i].text, value, exact, i == 2 ? 1e-3 : 0.01 * fabs(exact),
                                        rows[i].source});
    }
    return UND_OK;
}
