#include "check.h"

#include "geom/value.h"

#include "bodies/mass.h"
#include "geom/motion.h"

#include <math.h>
#include <stdio.h>

enum { BODIES_LISTED = 12 };

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

/* Bodies that begin in something solid or in each other fly apart. */
static void check_room(survey *s, const check_crowd *c, int body)
{
    double side, other;
    und_vec3 at = middle_of(&c->bodies[body], &side);
    if (c->in_solid(c->context, at))
        check_warn(s, "body %d begins with its middle in %s", body + 1, c->solid);
    for (int i = 0; i < body; i++) {
        und_vec3 there = middle_of(&c->bodies[i], &other);
        bool free = isfinite(c->bodies[i].release) && !c->bodies[i].skeleton;
        if (free && und_length(und_sub(at, there)) < 0.25 * (side + other))
            check_warn(s, "bodies %d and %d begin in each other", i + 1, body + 1);
    }
}

/* A mesh in centimetres is a hundred times too large. */
static void check_fits(survey *s, const und_bounds *b, int number)
{
    const und_grid *g = &s->scene->grid;
    double domain = fmax(g->n[0] * und_grid_size(g, 0), g->n[2] * und_grid_size(g, 2));
    double side = fmax(b->high.x - b->low.x, b->high.z - b->low.z);
    if (side > domain)
        check_warn(s,
                   "body %d is larger than the domain: %.4g m long, the domain %.4g m; a mesh in centimetres "
                   "wants scale = 0.01",
                   number, side, domain);
}

/* Archimedes: a body floats where it is lighter than the liquid, with that part of it under water. */
static void check_free(survey *s, const check_crowd *c, int number, bool list)
{
    const und_body_def *body = &c->bodies[number - 1];
    double volume = und_mass_of_shape(body->shape).volume, liquid = c->density;
    double density = (body->mass > 0 ? body->mass / volume : body->density) + body->ballast / volume;
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
    check_fits(s, &b, number);
    if (fmin(b.high.x - b.low.x, b.high.z - b.low.z) < c->narrow)
        check_warn(s, "body %d is narrower than a cell of %g m: the water hardly feels it", number,
                   c->narrow);
    if (body->release > s->seconds && isfinite(body->release))
        check_warn(s, "body %d is let go at %g s, after the last frame at %g s", number, body->release,
                   s->seconds);
}

void check_bodies(survey *s, const check_crowd *c)
{
    int free = 0;
    for (int i = 0; i < c->count; i++)
        free += isfinite(c->bodies[i].release);
    if (c->count > 0)
        printf("bodies     %d free, %d led or held\n", free, c->count - free);
    for (int i = 0, listed = 0; i < c->count; i++)
        if (isfinite(c->bodies[i].release)) {
            check_free(s, c, i + 1, listed++ < BODIES_LISTED);
            check_room(s, c, i);
        }
}

static bool in_ground(const void *context, und_vec3 at)
{
    const survey *s = context;
    return at.y < und_value_at(&s->height_field->ground, at.x, 0, at.z, 0);
}

void check_height_field_bodies(survey *s, const und_body_def *bodies, int count)
{
    check_bodies(s, &(check_crowd){.count = count,
                                   .bodies = bodies,
                                   .density = s->height_field->density,
                                   .narrow = s->height_field->dx,
                                   .solid = "the ground",
                                   .in_solid = in_ground,
                                   .context = s});
}
