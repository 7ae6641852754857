/* Bodies in height-field water: how deep they float, how they roll and lean. */
#include "geom/shape.h"
#include "validate/hull.h"
#include "validate/waves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 3 x 3 m of water, and a body in it. */
static und_waves *open_pool(und_waves_def *def, const und_body_def *body, int order, double deep,
                            double damping, und_error *err)
{
    *def = case_tank(60, 60, 0.05, deep, order);
    def->height_field.damping = damping;
    def->bodies = body;
    def->body_count = 1;
    return und_waves_create(def, err);
}

/* Far from the body. */
static double level_away(const und_waves *waves)
{
    double sum = 0;
    for (int x = 2; x < 58; x++)
        sum += und_waves_surface(waves, x, 2) + und_waves_surface(waves, x, 57);
    return sum / 112;
}

static und_status draft(case_sink *sink, und_error *err)
{
    static const und_shape ball = {.kind = UND_SPHERE, .radius = 0.2};
    static const und_shape raft = {.kind = UND_BOX, .half = {0.3, 0.1, 0.25}};
    /* over the radius, and over the height */
    static const double ratios[] = {0.3, 0.7}, exact[2][2] = {{0.7265149822, 1.273485018}, {0.3, 0.7}};
    for (int i = 0; i < 8; i++) {
        int order = 1 + i % 2, k = i / 2 % 2, box = i / 4;
        und_body_def body = und_body_def_default();
        und_waves_def def;
        char text[80];
        double half = box ? raft.half.y : ball.radius, below = 0;
        body.shape = box ? &raft : &ball;
        body.density = 1000 * ratios[k];
        body.position[0] = 1.51, body.position[1] = 0.03, body.position[2] = 1.48;
        und_waves *waves = open_pool(&def, &body, order, 1, 1, err);
        if (!waves)
            return err->status;
        case_steps(waves, 8 * 60, 1.0 / 60);
        for (int n = 0; n < 60; n++) {
            und_waves_step(waves, 1.0 / 60);
            below += (level_away(waves) - und_waves_body(waves, 0).position[1]) / 60;
        }
        und_waves_destroy(waves);
        snprintf(text, sizeof text, "%s, density ratio %g, order %d: draft over %s", box ? "raft" : "ball",
                 ratios[k], order, box ? "height" : "radius");
        case_report(sink, (case_result){text, (below + half) / (box ? 2 * half : half), exact[box][k], 0.01,
                                        "Archimedes"});
    }
    return UND_OK;
}

/* The period of heaving or rolling, from three turning points, and the heel over the last second.  What moves
 * does so in water so deep that its own waves have left before it turns. */
static und_status follow(const und_body_def *body, int order, bool swings, bool heaves, double *period,
                         double *heel, und_error *err)
{
    const double dt = 1.0 / 240;
    double turn[3], last = 0;
    int turns = 0, count = swings ? 480 : 2400;
    und_waves_def def;
    und_waves *waves = open_pool(&def, body, order, swings ? 100 : 1, swings ? 0 : 1, err);
    if (!waves)
        return err->status;
    *heel = 0;
    for (int n = 1; n <= count; n++) {
        und_waves_step(waves, dt);
        und_body_state now = und_waves_body(waves, 0);
        double speed = heaves ? now.velocity[1] : now.spin[2];
        if (speed * last < 0 && turns < 3)
            turn[turns++] = (n - speed / (speed - last)) * dt;
        last = speed;
        *heel += n > count - 240 ? case_heel(&now) / 240 : 0;
    }
    *period = turns == 3 ? turn[2] - turn[0] : NAN;
    und_waves_destroy(waves);
    return UND_OK;
}

static und_body_def box_with_weight(const und_shape *box, double aside, case_hull *hull)
{
    und_body_def body = und_body_def_default();
    body.shape = box;
    body.density = 250;
    body.ballast = 30;
    body.ballast_at[0] = aside, body.ballast_at[1] = -0.13;
    *hull = case_hull_of(&body);
    body.position[0] = 1.51, body.position[1] = box->half.y - hull->draft, body.position[2] = 1.49;
    return body;
}

/* On the grid, off it, and for heaving turned. */
static und_status swing(case_sink *sink, und_error *err)
{
    static const und_shape box = {.kind = UND_BOX, .half = {0.3, 0.15, 0.4}};
    static const double places[][2] = {{1.5, 1.5}, {1.525, 1.48}, {1.537, 1.462}};
    for (int i = 0; i < 8; i++) {
        int order = i < 6 ? 2 : 1, place = i % 3;
        bool heaves = i % 2 == 1;
        char text[80];
        double period = NAN, heel, area = 4 * box.half.x * box.half.z, height_field = 9;
        case_hull hull;
        und_body_def body = box_with_weight(&box, 0, &hull);
        body.drag = 0;
        body.position[0] = places[place][0], body.position[2] = places[place][1];
        body.position[1] += heaves ? 0.015 : 0;
        body.rotation[heaves ? 1 : 2] = heaves ? 25 * place : 3;
        if (follow(&body, order, true, heaves, &period, &heel, err) != UND_OK)
            return err->status;
        /* half of the displaced water goes along, and the pool's level rises as the body sinks */
        double exact = heaves ? 2 * M_PI * sqrt(1.5 * hull.draft / 9.81 * (1 - area / height_field))
                              : case_hull_period(&hull);
        snprintf(text, sizeof text, "at %g, %g m, order %d: period of %s, s", places[place][0],
                 places[place][1], order, heaves ? "heaving" : "rolling");
        case_report(sink, (case_result){text, period, exact, 0.02 * exact,
                                        heaves ? "2 pi sqrt(1.5 m / rho g A)" : "2 pi sqrt(I / m g GM)"});
    }
    return UND_OK;
}

static und_status ballast(case_sink *sink, und_error *err)
{
    static const und_shape box = {.kind = UND_BOX, .half = {0.3, 0.15, 0.4}};
    static const double aside[] = {0.05, -0.1};
    for (int i = 0; i < 4; i++) {
        int order = 1 + i % 2;
        char text[80];
        double period, heel = NAN;
        case_hull hull;
        und_body_def body = box_with_weight(&box, aside[i / 2], &hull);
        if (follow(&body, order, false, false, &period, &heel, err) != UND_OK)
            return err->status;
        snprintf(text, sizeof text, "weight %g m aside, order %d: heel, degrees", aside[i / 2], order);
        case_report(
            sink, (case_result){text, heel, case_hull_heel(&hull), 0.05, "GZ = sin a (GM + BM tan^2 a / 2)"});
    }
    return UND_OK;
}

und_status case_waves_bodies(case_sink *sink, und_error *err)
{
    und_status status = draft(sink, err);
    if (status == UND_OK)
        status = swing(sink, err);
    return status == UND_OK ? ballast(sink, err) : status;
}
