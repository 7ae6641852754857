#include "validate/hull.h"

#include "geom/shape.h"

#include <math.h>

static const double gravity = 9.81, water = 1000;

case_hull case_hull_of(const und_body_def *b)
{
    und_vec3 h = b->shape->half;
    double own = b->density * 8 * h.x * h.y * h.z, mass = own + b->ballast, up = b->ballast / mass;
    double draft = mass / (water * 4 * h.x * h.z), arm = hypot(b->ballast_at[0], b->ballast_at[1]);
    double radius = h.x * h.x / (3 * draft), center = h.y + up * b->ballast_at[1];
    return (case_hull){.mass = mass,
                       .draft = draft,
                       .metacentre = 0.5 * draft + radius - center,
                       .radius = radius,
                       .aside = up * b->ballast_at[0],
                       .inertia = own * (h.x * h.x + h.y * h.y) / 3 + own * up * arm * arm};
}

double case_hull_heel(const case_hull *hull)
{
    double t = 0;
    for (int i = 0; i < 200; i++) /* tan(a): a fixed point, as long as the weight is not far aside */
        t = hull->aside / (hull->metacentre + 0.5 * hull->radius * t * t);
    return atan(t) * 180 / M_PI;
}

double case_hull_period(const case_hull *hull)
{
    return 2 * M_PI * sqrt(hull->inertia / (hull->mass * gravity * hull->metacentre));
}

double case_heel(const und_body_state *state)
{
    return -2 * atan2(state->rotation[3], state->rotation[0]) * 180 / M_PI;
}
