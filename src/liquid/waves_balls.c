/* Balls thrown into height-field water.  They move by themselves, as rigid bodies do, and push the water
 * aside as objects do (waves_objects.c).
 *
 * The water acts on them as in O'Brien & Hodgins 1995, section 4: what is below the level of the water around
 * is lifted by Archimedes' law, slides down that water's slope, and is dragged along by it.  To it is added
 * the water that a ball takes along (half of what it displaces), and the loss by the waves that it makes,
 * which the level around it does not show. */
#include "base/pages.h"
#include "base/status.h"
#include "liquid/rim.h"
#include "liquid/waves_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int und_waves_balls_left(const und_liquid *liquid)
{
    return UND_BALLS - ((const und_waves *)liquid)->balls.count;
}

/* ---- the water around one ---- */

typedef struct around {
    double level, slope[2]; /* m at the ball's middle; no water: -infinity */
    und_vec3 speed;         /* m/s */
} around;

static void add_to_rim(const und_waves *s, und_rim *r, const double place[3], int x, int z)
{
    if (x < 0 || z < 0 || x >= s->pool.nx || z >= s->pool.nz)
        return;
    size_t at = und_waves_at(s, x, z);
    double depth = und_waves_depth(s, at);
    if (!(depth > s->shallow))
        return;
    double u = und_waves_x(s, x) - place[0], speed[2] = {0};
    double v = s->pool.nz > 1 ? und_waves_z(s, z) - place[2] : 0; /* a curve has no slope along z */
    if (s->speed_x) {
        speed[0] = (double)s->speed_x[at];
        speed[1] = (double)s->speed_z[at];
    } else if (s->flux_x) {
        double most = 2 * sqrt(s->def.pool.gravity * depth);
        speed[0] = fmax(-most, fmin((double)s->flux_x[at] / depth, most));
        speed[1] = fmax(-most, fmin((double)s->flux_z[at] / depth, most));
    }
    und_rim_add(r, u, v, s->height[at], (double)s->rise[at] / s->rise_time, speed);
}

static around look_around(const und_waves *s, const und_waves_object *o, const double place[3])
{
    und_rim r = {0};
    int beside = s->pool.nz > 1;
    for (int x = o->x0 - 1; x <= o->x1 && beside; x++) {
        add_to_rim(s, &r, place, x, o->z0 - 1);
        add_to_rim(s, &r, place, x, o->z1);
    }
    for (int z = o->z0; z < o->z1; z++) {
        add_to_rim(s, &r, place, o->x0 - 1, z);
        add_to_rim(s, &r, place, o->x1, z);
    }
    around a = {.level = -INFINITY};
    if (r.n == 0)
        return a;
    a.level = und_rim_fit(&r, 0.5, a.slope);
    a.speed = und_vec(r.speed[0] / r.n, r.rise / r.n, r.speed[1] / r.n);
    return a;
}

/* ---- forces ---- */

/* Of the water on a ball, for a step of dt; drag is implicit, so that no step is too long. */
static void push(und_waves *s, int i, const around *a, double dt)
{
    const double rho = s->def.pool.density, g = s->def.pool.gravity, r = s->balls.kept[i][0];
    und_body_state now = und_bodies_state(s->bodies, i);
    double under = fmax(0, fmin(a->level - (now.position[1] - r), 2 * r));
    double volume = M_PI * under * under * (r - under / 3), whole = 4.0 / 3.0 * M_PI * r * r * r;
    if (!(volume > 0))
        return;
    double mass = und_bodies_mass(s->bodies, i), heavy = mass + 0.5 * rho * volume, given = mass / heavy;
    und_vec3 flow = und_sub(a->speed, und_vec(now.velocity[0], now.velocity[1], now.velocity[2]));
    double area = M_PI * r * r * fmin(1, 2 * volume / whole), speed = und_length(flow);
    double drag = 0.5 * rho * s->balls.def[i].drag * area * speed + 0.2 * rho * volume * sqrt(g / r);
    drag /= 1 + dt * drag / heavy;
    double lift = rho * g * volume;
    /* The water that goes along weighs nothing, but is to be moved: all that acts does less by `given`. */
    und_vec3 force = und_vec(-lift * a->slope[0] + drag * flow.x, lift + drag * flow.y - mass * g,
                             -lift * a->slope[1] + drag * flow.z);
    force = und_mul(force, given);
    force.y += mass * g; /* which the bodies' own step takes off */
    if (s->pool.nz == 1)
        force.z = 0;
    und_bodies_push(s->bodies, i, force, und_vec(now.position[0], now.position[1], now.position[2]));
    double slow = 2.0 * volume / whole, inertia = 0.4 * mass * r * r; /* it stops turning within a second */
    und_bodies_twist(
        s->bodies, i,
        und_mul(und_vec(now.spin[0], now.spin[1], now.spin[2]), -inertia * slow / (1 + dt * slow)));
}

/* Half a radian of the fastest bobbing, and half of a radius, at most in a step. */
static int parts_of_step(const und_waves *s, double dt)
{
    double parts = 1;
    for (int i = 0; i < s->balls.count; i++) {
        double r = s->balls.kept[i][0], mass = und_bodies_mass(s->bodies, i);
        und_body_state now = und_bodies_state(s->bodies, i);
        double bobbing = sqrt(s->def.pool.density * s->def.pool.gravity * M_PI * r * r / mass);
        double speed = und_length(und_vec(now.velocity[0], now.velocity[1], now.velocity[2]));
        parts = fmax(parts, fmax(2 * dt * bobbing, 2 * dt * speed / r));
    }
    return (int)fmin(ceil(parts), 64);
}

void und_waves_move_balls(und_waves *s, double dt)
{
    around water[UND_BALLS];
    if (s->balls.count == 0 || !(dt > 0))
        return;
    for (int i = 0; i < s->balls.count; i++)
        water[i] =
            look_around(s, &s->objects[s->def.object_count + i], und_bodies_state(s->bodies, i).position);
    int parts = parts_of_step(s, dt);
    for (int k = 0; k < parts; k++) {
        for (int i = 0; i < s->balls.count; i++)
            push(s, i, &water[i], dt / parts);
        und_bodies_step(s->bodies, s->pool.time + k * dt / parts, dt / parts);
    }
}

/* ---- throwing ---- */

/* The ground without what stands on it gets an array of its own. */
static und_status part_bed(und_waves *s, und_error *err)
{
    if (s->bed != s->ground)
        return UND_OK;
    float *bed = und_waves_field(s, sizeof *bed, "bed", err);
    if (!bed)
        return err->status;
    memcpy(bed, s->ground, (size_t)s->pool.stride * (size_t)s->pool.nz * sizeof *bed);
    s->bed = bed;
    s->pool.ground = bed;
    return UND_OK;
}

static und_status prepare(und_waves *s, und_error *err)
{
    const und_grid *g = &s->pool.grid;
    if (s->bodies)
        return UND_OK;
    if (part_bed(s, err) != UND_OK)
        return err->status;
    if (!s->objects) {
        s->objects = und_alloc(UND_BALLS, sizeof *s->objects, "balls", err);
        if (!s->objects)
            return err->status;
    }
    und_bodies_world world = {.gravity = s->def.pool.gravity,
                              .nx = s->pool.nx,
                              .nz = s->pool.nz,
                              .stride = s->pool.stride,
                              .dx = g->dx,
                              .origin = {g->origin[0], g->origin[2]},
                              .ground = s->bed,
                              .wall = {true, true, true, true},
                              .spare = UND_BALLS};
    s->bodies = und_bodies_create(NULL, 0, &world, err);
    return s->bodies ? UND_OK : err->status;
}

static bool add_ball(und_waves *s, const und_ball *ball)
{
    und_error err;
    if (prepare(s, &err) != UND_OK)
        return false;
    const und_body_def *def = und_balls_add(&s->balls, ball);
    if (!def)
        return false;
    int last = s->balls.count - 1;
    if (und_bodies_add(s->bodies, def, &err) != UND_OK ||
        und_meshes_add(&s->meshes, def->shape, und_vec(0, 0, 0), def->color, &err) != UND_OK) {
        und_bodies_drop(s->bodies, last);
        s->balls.count = last;
        return false;
    }
    und_waves_find_objects(s);
    return true;
}

und_status und_waves_create_balls(und_waves *s, und_error *err)
{
    for (int i = 0; i < s->def.ball_count; i++)
        if (!und_waves_throw_ball(&s->liquid, &s->def.balls[i]))
            return und_error_set(
                err, UND_INVALID,
                "ball %d: expected at most %d balls, each with a place, a radius and a density", i + 1,
                UND_BALLS);
    s->meshes.changes = false; /* as long as none is thrown */
    return UND_OK;
}

bool und_waves_throw_ball(und_liquid *liquid, const und_ball *ball)
{
    und_waves *s = (und_waves *)liquid;
    und_ball thrown = *ball;
    if (s->pool.nz == 1) { /* a curve has no width */
        thrown.place[2] = und_waves_z(s, 0);
        thrown.velocity[2] = 0;
    }
    s->meshes.changes = true;
    return add_ball(s, &thrown);
}

void und_waves_ground_balls(und_waves *s)
{
    und_error err;
    if (s->bodies)
        und_bodies_set_ground(s->bodies, s->bed, &err); /* without memory they fall on the old one */
}

void und_waves_tune_balls(und_waves *s)
{
    if (s->bodies)
        und_bodies_set_gravity(s->bodies, s->def.pool.gravity);
}

/* As many as a state has, where and how they move being restored with its parts.  The bed is the def's, or
 * the state's. */
und_status und_waves_restore_balls(und_waves *s, const und_frame *state, bool moved, und_error *err)
{
    double kept[UND_BALLS][2];
    int count = und_balls_kept(state, kept);
    if (count < 0)
        return und_error_set(err, UND_FAILED, "the saved state has a wrong item \"balls\": it is damaged");
    if (count > 0 && part_bed(s, err) != UND_OK)
        return err->status;
    if (moved && s->bed != s->ground && und_pool_sample_ground(&s->pool, s->bed, err) != UND_OK)
        return err->status;
    if (s->bodies)
        und_bodies_drop(s->bodies, 0);
    s->balls.count = 0;
    s->meshes.count = s->def.object_count;
    s->meshes.changes = count != s->def.ball_count;
    for (int i = 0; i < count; i++)
        if (!add_ball(s, &(und_ball){.radius = kept[i][0], .density = kept[i][1]}))
            return und_error_set(err, UND_FAILED, "a ball of the saved state could not be made again");
    return UND_OK;
}
