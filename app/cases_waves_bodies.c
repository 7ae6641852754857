/* Bodies in height-field water: how deep they float, how they roll and lean. */
#include "cases_hull.h"
#include "cases_waves.h"
#include "geom/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* 3 x 3 m of water 1 m deep, and a body in it. */
static und_waves *open_pool(und_waves_def *def, const und_body_def *body, int order, double damping,
                            und_error *err)
{
    *def = case_tank(60, 60, 0.05, 1, order);
    def->pool.damping = damping;
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
        und_waves *waves = open_pool(&def, &body, order, 1, err);
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
        case_report(sink, (case_result){text, (below + half) / (box ? 2 * half : half), exact[box][k], 0.02,
                                        "Archimedes"});
    }
    return UND_OK;
}

/* The period from three turning points, and the heel over the last second. */
static und_status roll(const und_body_def *body, int order, bool rolls, double *period, double *heel,
                       und_error *err)
{
    const double dt = 1.0 / 240;
    double turn[3], last = 0;
    int turns = 0, count = rolls ? 720 : 2400;
    und_waves_def def;
    und_waves *waves = open_pool(&def, body, order, rolls ? 0 : 1, err);
    if (!waves)
        return err->status;
    *heel = 0;
    for (int n = 1; n <= count; n++) {
        und_waves_step(waves, dt);
        und_body_state now = und_waves_body(waves, 0);
        if (now.spin[2] * last < 0 && turns < 3)
            turn[turns++] = (n - now.spin[2] / (now.spin[2] - last)) * dt;
        last = now.spin[2];
        *heel += n > count - 240 ? case_heel(&now) / 240 : 0;
    }
    *period = turns == 3 ? turn[2] - turn[0] : NAN;
    und_waves_destroy(waves);
    return UND_OK;
}

static und_status ballast(case_sink *sink, und_error *err)
{
    static const und_shape box = {.kind = UND_BOX, .half = {0.3, 0.15, 0.4}};
    static const double aside[] = {0, 0.05, -0.1};
    for (int i = 0; i < 6; i++) {
        int order = 1 + i % 2;
        bool rolls = aside[i / 2] == 0;
        und_body_def body = und_body_def_default();
        char text[80];
        body.shape = &box;
        body.density = 250;
        body.ballast = 30;
        body.ballast_at[0] = aside[i / 2], body.ballast_at[1] = -0.13;
        case_hull hull = case_hull_of(&body);
        double period = NAN, heel = NAN, exact = case_hull_period(&hull);
        body.position[0] = 1.51, body.position[1] = box.half.y - hull.draft, body.position[2] = 1.49;
        body.rotation[2] = rolls ? 6 : 0;
        if (roll(&body, order, rolls, &period, &heel, err) != UND_OK)
            return err->status;
        if (rolls) {
            snprintf(text, sizeof text, "GM %.3f m, order %d: period of rolling, s", hull.metacentre, order);
            case_report(sink, (case_result){text, period, exact, 0.05 * exact, "2 pi sqrt(I / m g GM)"});
        } else {
            snprintf(text, sizeof text, "weight %g m aside, order %d: heel, degrees", aside[i / 2], order);
            case_report(sink, (case_result){text, heel, case_hull_heel(&hull), 0.5,
                                            "GZ = sin a (GM + BM tan^2 a / 2)"});
        }
    }
    return UND_OK;
}

und_status case_waves_bodies(case_sink *sink, und_error *err)
{
    und_status status = draft(sink, err);
    return status == UND_OK ? ballast(sink, err) : status;
}
