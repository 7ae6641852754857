#include "liquid/floats.h"

#include "base/maths.h"
#include "base/parallel.h"
#include "base/status.h"
#include "bodies/sunk.h"

#include <math.h>
#include <stdlib.h>

enum { MANY_BODIES = 256 };
enum { FEW_BODIES = 8 }; /* with fewer, starting threads costs more than it saves */

/* The longest diagonal of a body's bounds, m. */
static double size_of(const und_body_def *def)
{
    und_bounds b = und_shape_bounds(def->shape);
    return und_length(und_sub(b.high, b.low));
}

/* ---- create ---- */

/* Fewer nodes where there are many bodies. */
static und_status make_hull(und_floats *f, int body, und_error *err)
{
    und_pose pose = und_bodies_pose(f->bodies, body);
    und_vec3 middle = und_pose_local(&pose, und_bodies_middle(f->bodies, body));
    return und_hull_open(&f->contact[body].hull, f->defs[body].shape, und_bodies_volume(f->bodies, body),
                         middle, f->count > MANY_BODIES ? 8 : 16, err);
}

static und_status make_contact(und_floats *f, int body, und_error *err)
{
    const und_height_field *p = f->height_field;
    double size = size_of(&f->defs[body]), side = size / p->grid.dx + 4;
    size_t nx = (size_t)fmin(side, p->nx + 2), nz = (size_t)fmin(side, p->nz + 2);
    und_float_contact *c = &f->contact[body];
    und_bounds b = und_shape_bounds(f->defs[body].shape);
    und_vec3 d = und_sub(b.high, b.low);
    f->reach = fmax(f->reach, size);
    c->smallest = fmin(d.x, fmin(d.y, d.z));
    c->face = und_alloc(nx * (nz + 1), sizeof *c->face, "bodies", err);
    c->length = und_alloc(UND_FLOAT_LINES * (nx + 1), sizeof *c->length, "bodies", err);
    c->first = und_alloc(UND_FLOAT_LINES * (nx + 1), sizeof *c->first, "bodies", err);
    if (!c->face || !c->length || !c->first)
        return err->status;
    return und_sunk_needs_hull(f->defs[body].shape) ? make_hull(f, body, err) : UND_OK;
}

static void free_contact(und_float_contact *c)
{
    free(c->face);
    und_hull_close(&c->hull);
    free(c->length);
    free(c->first);
    *c = (und_float_contact){0};
}

static und_status open_bodies(und_floats *f, const bool walls[UND_EDGES], und_error *err)
{
    const und_height_field *p = f->height_field;
    und_bodies_world world = {.gravity = p->def->gravity,
                              .nx = p->nx,
                              .nz = p->nz,
                              .stride = p->stride,
                              .dx = p->grid.dx,
                              .origin = {p->grid.origin[0], p->grid.origin[2]},
                              .ground = p->ground + p->mac.first,
                              .spare = UND_BALLS,
                              .time = p->time};
    for (int e = 0; e < UND_EDGES; e++)
        world.wall[e] = walls[e];
    size_t most = (size_t)f->count + UND_BALLS;
    f->bodies = und_bodies_create(f->defs, f->count, &world, err);
    f->contact = f->bodies ? und_alloc(most, sizeof *f->contact, "bodies", err) : NULL;
    f->view = f->contact ? und_alloc(most, sizeof *f->view, "bodies", err) : NULL;
    f->still = f->view ? und_alloc(most, sizeof *f->still, "bodies", err) : NULL;
    for (size_t i = 0; f->still && i < most; i++)
        f->still[i][0] = -INFINITY; /* not known yet */
    return f->still ? UND_OK : err->status;
}

/* A body bobs at sqrt(rho g A / m) at most: half a radian of that a step. */
static double bobbing_step(const und_floats *f, int body)
{
    und_bounds b = und_shape_bounds(f->defs[body].shape);
    und_vec3 d = und_sub(b.high, b.low);
    double area = fmax(d.x * d.y, fmax(d.y * d.z, d.x * d.z));
    double stiffness = f->height_field->def->density * f->height_field->def->gravity * area;
    return stiffness > 0 ? 0.5 * sqrt(und_bodies_mass(f->bodies, body) / stiffness) : INFINITY;
}

static void find_bobbing(und_floats *f)
{
    f->bobbing = INFINITY;
    for (int i = 0; i < f->count; i++)
        if ((isfinite(f->defs[i].release) || f->defs[i].release_wet) &&
            size_of(&f->defs[i]) > 0.1 * f->height_field->grid.dx) /* dust makes no waves */
            f->bobbing = fmin(f->bobbing, bobbing_step(f, i));
}

und_status und_floats_open(und_floats *f, const und_body_def *defs, int count, const bool walls[UND_EDGES],
                           und_error *err)
{
    f->defs = defs;
    f->count = f->own = count;
    f->bobbing = INFINITY;
    if (count == 0)
        return UND_OK;
    if (open_bodies(f, walls, err) != UND_OK)
        return err->status;
    for (int i = 0; i < count; i++)
        if (make_contact(f, i, err) != UND_OK)
            return err->status;
    find_bobbing(f);
    return UND_OK;
}

void und_floats_close(und_floats *f)
{
    for (int i = 0; f->contact && i < f->count; i++)
        free_contact(&f->contact[i]);
    free(f->contact);
    free(f->view);
    free(f->still);
    free(f->thrown);
    und_bodies_destroy(f->bodies);
}

/* ---- balls ---- */

static void drop_to(und_floats *f, int count)
{
    while (f->count > count)
        free_contact(&f->contact[--f->count]);
    if (f->bodies)
        und_bodies_drop(f->bodies, count);
    find_bobbing(f);
}

static und_status add(und_floats *f, const bool walls[UND_EDGES], const und_body_def *def, und_error *err)
{
    if (!f->still && open_bodies(f, walls, err) != UND_OK)
        return err->status;
    if (!f->thrown) {
        f->thrown = und_alloc((size_t)f->own + UND_BALLS, sizeof *f->thrown, "bodies", err);
        if (!f->thrown)
            return err->status;
        for (int i = 0; i < f->own; i++)
            f->thrown[i] = f->defs[i];
        f->defs = f->thrown;
    }
    int i = f->count++;
    f->thrown[i] = *def;
    f->view[i] = (und_body_view){0};
    f->still[i][0] = -INFINITY;
    if (und_bodies_add(f->bodies, &f->thrown[i], err) != UND_OK || make_contact(f, i, err) != UND_OK) {
        drop_to(f, i);
        return err->status;
    }
    find_bobbing(f);
    return UND_OK;
}

bool und_floats_throw(und_floats *f, const bool walls[UND_EDGES], const und_ball *ball)
{
    und_error err;
    und_ball thrown = *ball;
    if (f->height_field->nz == 1) { /* a curve has no width */
        thrown.place[2] = und_height_field_z(f->height_field, 0);
        thrown.velocity[2] = 0;
    }
    const und_body_def *def = und_balls_add(&f->balls, &thrown);
    if (!def)
        return false;
    if (add(f, walls, def, &err) == UND_OK)
        return true;
    f->balls.count--;
    return false;
}

void und_floats_drop_balls(und_floats *f)
{
    drop_to(f, f->own);
    f->balls.count = 0;
}

void und_floats_set_gravity(und_floats *f)
{
    if (!f->bodies)
        return;
    und_bodies_set_gravity(f->bodies, f->height_field->def->gravity);
    find_bobbing(f);
}

/* ---- steps ---- */

void und_floats_view(und_floats *f)
{
    PARALLEL_FOR(f->count < FEW_BODIES ? 1 : f->height_field->threads)
    for (int i = 0; i < f->count; i++)
        f->view[i] = und_float_view(f, i);
}

void und_floats_release(und_floats *f)
{
    for (int i = 0; i < f->count; i++)
        if (f->defs[i].release_wet && f->view[i].room > 0 && und_bodies_led(f->bodies, i))
            und_bodies_let_go(f->bodies, i, f->height_field->time);
}

/* Fast bodies move no more than half of their smallest side in a step, so that they meet what is in their
 * way; the fastest of all are not waited for. */
double und_floats_longest_step(const und_floats *f)
{
    const double shortest = 1e-4;
    double step = f->bobbing;
    for (int i = 0; i < f->count; i++) {
        if (und_bodies_led(f->bodies, i))
            continue;
        und_body_state state = und_bodies_state(f->bodies, i);
        double speed = und_length(und_vec(state.velocity[0], state.velocity[1], state.velocity[2]));
        if (speed > 0)
            step = fmin(step, fmax(0.5 * f->contact[i].smallest / speed, shortest));
    }
    return step;
}

/* ---- drag ---- */

static void slow_spin(und_floats *f, const und_body_view *v, const double turn[9], double dt)
{
    const und_height_field_def *p = f->height_field->def;
    const double *w = v->state.spin;
    double spin = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), length = und_cbrt(v->room);
    double still = 0.1 * sqrt(p->gravity / fmax(length, 1e-6)); /* so that it stops turning at all */
    double slow = 0.5 * v->def->drag * p->density * v->room * length * length * (spin + still);
    slow /= 1 + dt * slow * fmax(turn[0], fmax(turn[4], turn[8]));
    und_bodies_twist(f->bodies, v->body, und_mul(und_vec(w[0], w[1], w[2]), -slow));
}

/* Force over speed, implicit for what gives way, so that no step is too long. */
static double implicit(double drag, double dt, double give_way)
{
    return drag / (1 + dt * drag * give_way);
}

/* The displaced water's weight pushes down slopes; it and the drag act at the middle of the room. */
void und_floats_carry(und_floats *f, const und_body_view *v, und_float_drag *d)
{
    const und_float_contact *c = v->contact;
    const und_height_field_def *p = f->height_field->def;
    und_vec3 place = und_vec(v->state.position[0], v->state.position[1], v->state.position[2]);
    und_vec3 arm = und_sub(v->middle, place);
    und_vec3 flow = und_sub(c->water, und_bodies_speed_at(f->bodies, v->body, v->middle));
    double turn[9], half = 0.5 * v->def->drag * p->density, side = und_pow(v->room, 2.0 / 3.0);
    double weight = p->density * p->gravity * v->room, mass = und_bodies_mass(f->bodies, v->body);
    und_bodies_inverse_inertia(f->bodies, v->body, turn);
    double give_way = und_bodies_inverse_mass(f->bodies, v->body) * d->given +
                      und_dot(arm, arm) * fmax(turn[0], fmax(turn[4], turn[8]));
    double along = half * side * und_hypot(flow.x, flow.z) + d->waves;
    double across = half * v->area * (flow.y > 0 ? 1 : v->under) * fabs(flow.y);
    double x = implicit(along, d->dt, give_way + (d->mass[0] > 0 ? 1 / d->mass[0] : 0)) * flow.x;
    double z = implicit(along, d->dt, give_way + (d->mass[1] > 0 ? 1 / d->mass[1] : 0)) * flow.z;
    double y = implicit(across, d->dt, give_way) * flow.y;
    d->impulse[0] = x * d->dt;
    d->impulse[1] = z * d->dt;
    und_vec3 force = und_vec(x - weight * c->slope[0], y, z - weight * c->slope[1]);
    und_bodies_push(f->bodies, v->body, und_mul(force, d->given), v->middle);
    /* The bodies' own step takes all of the weight off. */
    und_bodies_push(f->bodies, v->body,
                    und_vec(0, d->given * v->force + (1 - d->given) * mass * p->gravity, 0), place);
    und_bodies_twist(f->bodies, v->body, v->twist);
    slow_spin(f, v, turn, d->dt);
}
