#include "check.h"

#include "bodies/mass.h"
#include "geom/motion.h"
#include "geom/value.h"

#include <math.h>
#include <stdio.h>

enum { BODIES_LISTED = 12 };

/* Cells a wave may cross in a step before the parts it is taken in are a surprise. */
static const double MANY = 100;

/* Where it is at the start or, led by keys, when it is let go. */
static und_vec3 start_of(const und_body_def *body)
{
    if (body->motion)
        return und_motion_at(body->motion, isfinite(body->release) ? body->release : 0).position;
    return und_vec(body->position[0], body->position[1], body->position[2]);
}

/* The middle of a body at the start, and its smallest side. */
static und_vec3 middle_of(const und_body_def *body, double *side)
{
    und_bounds b = und_shape_bounds(body->shape);
    und_vec3 size = und_sub(b.high, b.low);
    *side = fmin(size.x, fmin(size.y, size.z));
    return und_add(
        start_of(body),
        und_quat_rotate(und_quat_euler(und_vec(body->rotation[0], body->rotation[1], body->rotation[2])),
                        und_mul(und_add(b.low, b.high), 0.5)));
}

/* Bodies that begin in the ground or in each other fly apart. */
static void check_room(survey *s, const und_columns_def *def, int body)
{
    double side, other;
    und_vec3 at = middle_of(&def->bodies[body], &side);
    if (at.y < und_value_at(&s->pool->ground, at.x, 0, at.z, 0))
        check_warn(s, "body %d begins with its middle in the ground", body + 1);
    for (int i = 0; i < body; i++) {
        und_vec3 there = middle_of(&def->bodies[i], &other);
        bool free = isfinite(def->bodies[i].release) && !def->bodies[i].skeleton;
        if (free && und_length(und_sub(at, there)) < 0.25 * (side + other))
            check_warn(s, "bodies %d and %d begin in each other", i + 1, body + 1);
    }
}

/* Archimedes: a body floats where it is lighter than the liquid, with that part of it under water. */
static void check_free(survey *s, const und_body_def *body, int number, bool list)
{
    double volume = und_shape_moments(body->shape).volume, liquid = s->pool->density;
    double density = body->mass > 0 ? body->mass / volume : body->density;
    und_bounds b = und_shape_bounds(body->shape);
    double reach = und_length(und_sub(b.high, b.low));
    und_vec3 at = start_of(body);
    if (list && density < liquid)
        printf("body %-5d floats: %.4g kg/m3 in a liquid of %.4g, %.0f %% of it above the water\n", number,
               density, liquid, 100 * (1 - density / liquid));
    else if (list)
        printf("body %-5d sinks: %.4g kg/m3 in a liquid of %.4g\n", number, density, liquid);
    if (check_outside(s, at.x - reach, at.x + reach, at.z - reach, at.z + reach))
        check_warn(s, "body %d begins outside the domain", number);
    if (fmin(b.high.x - b.low.x, b.high.z - b.low.z) < s->pool->dx)
        check_warn(s, "body %d is narrower than a cell of %g m: the water hardly feels it", number,
                   s->pool->dx);
    if (body->release > s->seconds && isfinite(body->release))
        check_warn(s, "body %d is let go at %g s, after the last frame at %g s", number, body->release,
                   s->seconds);
}

static void check_bodies(survey *s, const und_columns_def *def)
{
    int free = 0;
    for (int i = 0; i < def->body_count; i++)
        free += isfinite(def->bodies[i].release);
    if (def->body_count > 0)
        printf("bodies     %d free, %d led or held\n", free, def->body_count - free);
    for (int i = 0, listed = 0; i < def->body_count; i++)
        if (isfinite(def->bodies[i].release)) {
            check_free(s, &def->bodies[i], i + 1, listed++ < BODIES_LISTED);
            check_room(s, def, i);
        }
}

static void check_spray(survey *s, const und_spray_def *spray)
{
    if (!spray->on)
        return;
    printf("spray      drops of %g to %g m where water rises faster than %g m/s, at most %d in the air\n",
           spray->radius[0], spray->radius[1], spray->threshold, spray->most);
    const double *wind = spray->wind.constant;
    if (!(spray->drag > 0) && (spray->wind.fn || wind[0] != 0 || wind[1] != 0 || wind[2] != 0))
        check_warn(s, "wind moves spray through its drag, which is 0");
    if (2 * spray->radius[1] > s->pool->dx)
        check_warn(s, "the largest drops of spray, %g m across, are wider than a cell of %g m",
                   2 * spray->radius[1], s->pool->dx);
}

void check_columns(survey *s)
{
    const und_columns_def *def = &s->scene->columns;
    double cells = check_wave_speed(s, fmin(s->deepest, def->pipe_depth));
    if (cells > MANY)
        check_warn(s,
                   "waves cross %.0f cells a step, which is then taken in more parts than that; pipe_depth = "
                   "%.3g would make it %.0f",
                   cells, fmin(s->deepest, def->pipe_depth) * MANY * MANY / (cells * cells), MANY);
    check_spray(s, &def->spray);
    check_bodies(s, def);
}
