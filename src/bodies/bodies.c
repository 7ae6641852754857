/* Bodies in six degrees of freedom.  The Open Dynamics Engine tells where simple shapes touch and keeps
 * nothing from one step to the next, so that a step depends on the state alone. */
#include "bodies/bodies.h"

#include "base/maths.h"
#include "base/status.h"
#include "bodies/mass.h"
#include "bodies/skeleton.h"
#include "bodies/state.h"

#include <stdlib.h>
#include <string.h>

und_body_def und_body_def_default(void)
{
    return (und_body_def){.density = 500, .drag = 0.6, .bounce = 0.3, .friction = 0.4, .color = {-1, -1, -1}};
}

/* ---- create ---- */

static und_status wrong(und_error *err, int body, const char *expected, double found)
{
    return und_error_set(err, UND_INVALID, "body %d: expected %s, found %g", body + 1, expected, found);
}

static und_status check_def(const und_body_def *d, int i, und_error *err)
{
    if (!d->shape)
        return und_error_set(err, UND_INVALID, "body %d: expected a shape, found none", i + 1);
    und_bounds b = und_shape_bounds(d->shape);
    if (!und_finite(b.low) || !und_finite(b.high))
        return und_error_set(err, UND_INVALID,
                             "body %d: expected a shape of finite size, found one without end", i + 1);
    const double *numbers[] = {d->position, d->rotation, d->velocity, d->spin, d->ballast_at};
    for (int k = 0; k < 15; k++)
        if (!isfinite(numbers[k / 3][k % 3]))
            return wrong(err, i, "a finite position, rotation, velocity, spin and place of the ballast",
                         numbers[k / 3][k % 3]);
    if (!isfinite(d->mass) || d->mass < 0)
        return wrong(err, i, "a mass of 0 or above", d->mass);
    if (!isfinite(d->ballast) || d->ballast < 0)
        return wrong(err, i, "a ballast of 0 or above", d->ballast);
    if (d->mass <= 0 && !(d->density > 0 && isfinite(d->density)))
        return wrong(err, i, "a mass or a density above 0", d->density);
    if (!(d->bounce >= 0 && d->bounce <= 1))
        return wrong(err, i, "a bounce from 0 to 1", d->bounce);
    if (!(d->friction >= 0 && isfinite(d->friction)))
        return wrong(err, i, "a friction of 0 or above", d->friction);
    if (isnan(d->release))
        return wrong(err, i, "a time of release", d->release);
    if (d->skeleton && (d->bone < 0 || d->bone >= und_skeleton_bones(d->skeleton)))
        return wrong(err, i, "a bone of the skeleton", d->bone);
    return UND_OK;
}

/* The inverse of a symmetric matrix by cofactors; false where it is not positive. */
static bool invert(const double m[9], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int a = (j + 1) % 3, b = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            out[3 * i + j] = m[3 * a + c] * m[3 * b + d] - m[3 * a + d] * m[3 * b + c];
        }
    double determinant = m[0] * out[0] + m[1] * out[3] + m[2] * out[6];
    for (int i = 0; i < 9; i++)
        out[i] /= determinant;
    return determinant > 0 && isfinite(out[0] + out[4] + out[8]);
}

/* Where the body is led at a time; the start where it is held. */
static und_pose led_pose(const und_body_def *d, double time)
{
    if (d->skeleton)
        return und_skeleton_pose(d->skeleton, d->bone, time);
    if (d->motion)
        return und_motion_at(d->motion, time);
    return (und_pose){und_of(d->position), und_quat_euler(und_of(d->rotation))};
}

static void put_pose(const und_body *body, und_body_state *to, const und_pose *pose)
{
    und_to(to->position, und_pose_point(pose, body->center));
    to->rotation[0] = pose->rotation.w;
    to->rotation[1] = pose->rotation.x;
    to->rotation[2] = pose->rotation.y;
    to->rotation[3] = pose->rotation.z;
}

static void throw(const und_body_def *d, und_body_state *now)
{
    und_to(now->velocity, und_of(d->velocity));
    und_to(now->spin, und_of(d->spin));
}

static void start(const und_body *body, double time, und_kept *kept)
{
    const und_body_def *d = body->def;
    bool led = d->skeleton || d->release > time;
    und_pose pose = {und_of(d->position), und_quat_euler(und_of(d->rotation))};
    if (led)
        pose = led_pose(d, time);
    *kept = (und_kept){.led = led};
    put_pose(body, &kept->now, &pose);
    if (!led)
        throw(d, &kept->now);
}

/* A weight without size, in the body: the centre of mass moves towards it, and about that the two have the
 * reduced mass at their distance besides (Steiner). */
static void add_ballast(und_body *body)
{
    double ballast = body->def->ballast, all = body->mass + ballast;
    und_vec3 away = und_sub(und_of(body->def->ballast_at), body->middle);
    double d[3] = {away.x, away.y, away.z}, reduced = body->mass * ballast / all,
           square = und_dot(away, away);
    for (int i = 0; i < 9; i++)
        body->inertia[i] += reduced * ((i % 4 == 0 ? square : 0) - d[i / 3] * d[i % 3]);
    body->center = und_add(body->middle, und_mul(away, ballast / all));
    body->mass = all;
}

static und_status weigh(und_body *body, int i, und_error *err)
{
    und_moments m = und_mass_of_shape(body->def->shape);
    if (!(m.volume > 0 && isfinite(m.volume)))
        return wrong(err, i, "a shape with a volume above 0", m.volume);
    body->volume = m.volume;
    body->center = body->middle = m.center;
    body->mass = body->def->mass > 0 ? body->def->mass : body->def->density * m.volume;
    und_moments_inertia(&m, body->mass / m.volume, body->inertia);
    if (body->def->ballast > 0)
        add_ballast(body);
    if (!(body->mass > 0 && isfinite(1 / body->mass)) || !invert(body->inertia, body->inverse_inertia))
        return wrong(err, i, "a mass above 0 that numbers can hold", body->mass);
    return UND_OK;
}

und_vec3 und_body_center(const und_body_def *def)
{
    und_body body = {.def = def};
    und_error err;
    return weigh(&body, 0, &err) == UND_OK ? body.center : und_vec(0, 0, 0);
}

static void measure(und_body *body)
{
    und_bounds b = und_shape_bounds(body->def->shape);
    und_vec3 extent = und_sub(b.high, b.low);
    body->size = 0.5 * fmin(extent.x, fmin(extent.y, extent.z));
    body->skin = 0.005 * body->size;
}

static und_status create_body(und_bodies *s, int i, und_error *err)
{
    und_body *body = &s->bodies[i];
    und_status status = check_def(body->def, i, err);
    if (status == UND_OK)
        status = weigh(body, i, err);
    if (status == UND_OK)
        status = und_meshes_add(&s->meshes, body->def->shape, body->center, body->def->color, err);
    if (status != UND_OK)
        return status;
    measure(body);
    status = und_body_parts_create(body, err);
    if (status != UND_OK)
        return status;
    for (int k = 0; k < body->part_count; k++) {
        const und_body_part *part = &body->parts[k];
        body->reach = fmax(body->reach, und_length(und_sub(part->center, body->center)) + part->reach);
    }
    start(body, s->world.time, &s->kept[i]);
    return UND_OK;
}

static size_t contacts_for(int count)
{
    return 256 + 64 * (size_t)count;
}

static bool create_arrays(und_bodies *s, int count, und_error *err)
{
    size_t n = (size_t)s->limit + 1; /* the last is the ground */
    size_t contacts = contacts_for(s->limit);
    s->contact_limit = (int)contacts_for(count);
    s->bodies = und_alloc(n, sizeof *s->bodies, "bodies", err);
    s->kept = s->bodies ? und_alloc(n, sizeof *s->kept, "bodies", err) : NULL;
    s->speed = s->kept ? und_alloc(n, sizeof *s->speed, "bodies", err) : NULL;
    s->shift = s->speed ? und_alloc(n, sizeof *s->shift, "bodies", err) : NULL;
    s->contacts = s->shift ? und_alloc(contacts, sizeof *s->contacts, "contacts of bodies", err) : NULL;
    s->order = s->contacts ? und_alloc(contacts, sizeof *s->order, "contacts of bodies", err) : NULL;
    return s->order;
}

und_bodies *und_bodies_create(const und_body_def *defs, int count, const und_bodies_world *world,
                              und_error *err)
{
    und_bodies *s = und_alloc(1, sizeof *s, "bodies", err);
    if (!s)
        return NULL;
    s->limit = count + world->spare;
    if (!create_arrays(s, count, err) || !(s->can_collide = und_collide_open(err)) ||
        !und_ground_create(s, world, err)) {
        und_bodies_destroy(s);
        return NULL;
    }
    for (; s->count < count; s->count++) {
        s->bodies[s->count].def = &defs[s->count];
        if (create_body(s, s->count, err) != UND_OK) {
            s->count++;
            und_bodies_destroy(s);
            return NULL;
        }
    }
    und_joints_create(s);
    return s;
}

void und_bodies_destroy(und_bodies *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->count; i++)
        und_body_parts_destroy(&s->bodies[i]);
    und_meshes_destroy(&s->meshes);
    und_ground_destroy(s);
    if (s->can_collide)
        und_collide_close();
    free(s->order);
    free(s->contacts);
    free(s->shift);
    free(s->speed);
    free(s->kept);
    free(s->bodies);
    free(s);
}

und_status und_bodies_add(und_bodies *s, const und_body_def *def, und_error *err)
{
    if (s->count >= s->limit)
        return und_error_set(err, UND_INVALID, "no body is left that could be added");
    und_body *body = &s->bodies[s->count];
    *body = (und_body){.def = def, .parent = -1};
    und_status status = create_body(s, s->count, err);
    s->count++;
    s->contact_limit = (int)contacts_for(s->count);
    if (status != UND_OK)
        und_bodies_drop(s, s->count - 1);
    s->meshes.changes = true;
    return status;
}

/* The place after the last is the ground's: nothing may be left in it. */
void und_bodies_drop(und_bodies *s, int count)
{
    while (s->count > count) {
        s->count--;
        und_body_parts_destroy(&s->bodies[s->count]);
        s->bodies[s->count] = (und_body){0};
        s->kept[s->count] = (und_kept){0};
        s->speed[s->count] = s->shift[s->count] = (und_speed){0};
    }
    s->contact_limit = (int)contacts_for(s->count);
    if (s->meshes.count > count)
        s->meshes.count = count;
}

void und_bodies_set_gravity(und_bodies *s, double gravity)
{
    s->world.gravity = gravity;
}

void und_bodies_boxes(und_bodies *s, const und_bounds *boxes, int count)
{
    s->boxes = boxes;
    s->box_count = count;
}

/* ---- what others ask ---- */

int und_bodies_count(const und_bodies *s)
{
    return s->count;
}

und_body_state und_bodies_state(const und_bodies *s, int i)
{
    return s->kept[i].now;
}

und_status und_bodies_frame(const und_bodies *s, und_frame *frame, und_error *err)
{
    return und_meshes_frame(&s->meshes, &s->kept[0].now, sizeof *s->kept, frame, err);
}

double und_bodies_mass(const und_bodies *s, int i)
{
    return s->bodies[i].mass;
}

double und_bodies_volume(const und_bodies *s, int i)
{
    return s->bodies[i].volume;
}

bool und_bodies_led(const und_bodies *s, int i)
{
    return s->kept[i].led > 0;
}

und_pose und_bodies_pose(const und_bodies *s, int i)
{
    const und_body_state *now = &s->kept[i].now;
    und_quat turn = und_rotation_of(now);
    return (und_pose){und_sub(und_of(now->position), und_quat_rotate(turn, s->bodies[i].center)), turn};
}

und_vec3 und_bodies_middle(const und_bodies *s, int i)
{
    und_pose pose = und_bodies_pose(s, i);
    return und_pose_point(&pose, s->bodies[i].middle);
}

double und_bodies_inverse_mass(const und_bodies *s, int i)
{
    return und_bodies_led(s, i) ? 0 : 1 / s->bodies[i].mass;
}

/* R m R^T */
static void turned(und_quat turn, const double m[9], double out[9])
{
    double half[9]; /* R m, by columns of m */
    for (int k = 0; k < 3; k++) {
        und_vec3 c = und_quat_rotate(turn, und_vec(m[k], m[3 + k], m[6 + k]));
        half[k] = c.x;
        half[3 + k] = c.y;
        half[6 + k] = c.z;
    }
    for (int k = 0; k < 3; k++)
        und_to(&out[3 * k], und_quat_rotate(turn, und_of(&half[3 * k])));
}

void und_bodies_inverse_inertia(const und_bodies *s, int i, double out[9])
{
    if (und_bodies_led(s, i))
        memset(out, 0, 9 * sizeof *out);
    else
        turned(und_rotation_of(&s->kept[i].now), s->bodies[i].inverse_inertia, out);
}

void und_bodies_inertia(const und_bodies *s, int i, double out[9])
{
    turned(und_rotation_of(&s->kept[i].now), s->bodies[i].inertia, out);
}

void und_bodies_push(und_bodies *s, int i, und_vec3 force, und_vec3 at)
{
    und_vec3 arm = und_sub(at, und_of(s->kept[i].now.position));
    s->bodies[i].force = und_add(s->bodies[i].force, force);
    s->bodies[i].torque = und_add(s->bodies[i].torque, und_cross(arm, force));
}

void und_bodies_twist(und_bodies *s, int i, und_vec3 torque)
{
    s->bodies[i].torque = und_add(s->bodies[i].torque, torque);
}

und_vec3 und_bodies_speed_at(const und_bodies *s, int i, und_vec3 at)
{
    const und_body_state *now = &s->kept[i].now;
    und_vec3 arm = und_sub(at, und_of(now->position));
    return und_add(und_of(now->velocity), und_cross(und_of(now->spin), arm));
}

double *und_bodies_saved(und_bodies *s, size_t *count)
{
    *count = (size_t)s->count * (sizeof *s->kept / sizeof(double));
    return (double *)s->kept;
}

void und_bodies_restored(und_bodies *s, double time)
{
    (void)time;
    for (int i = 0; i < s->count; i++)
        s->bodies[i].force = s->bodies[i].torque = und_vec(0, 0, 0);
}

/* ---- the step ---- */

/* The turn by a rotation vector. */
static und_quat turn_by(und_vec3 v)
{
    double angle = und_length(v), s = angle > 1e-9 ? und_sin(0.5 * angle) / angle : 0.5;
    return (und_quat){und_cos(0.5 * angle), v.x * s, v.y * s, v.z * s};
}

static und_quat unit(und_quat q)
{
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (und_quat){q.w / length, q.x / length, q.y / length, q.z / length};
}

/* The rotation vector from one rotation to another, the short way. */
static und_vec3 turn_between(und_quat from, und_quat to)
{
    und_quat d = und_quat_mul(to, und_back(from));
    double sign = d.w < 0 ? -1 : 1, length = und_length(und_vec(d.x, d.y, d.z));
    double scale = length > 1e-12 ? 2 * und_atan2(length, sign * d.w) / length : 2;
    return und_mul(und_vec(d.x, d.y, d.z), sign * scale);
}

/* A held body is thrown when it is let go; one that is led keeps the velocity of its way. */
void und_body_free(und_bodies *s, int i, double time)
{
    const double before = 1e-3; /* s */
    const und_body *body = &s->bodies[i];
    und_body_state *now = &s->kept[i].now;
    if (!(s->kept[i].led > 0))
        return;
    s->kept[i].led = 0;
    if (body->def->skeleton) {
        und_pose to = led_pose(body->def, time), from = led_pose(body->def, time - before);
        und_vec3 way = und_sub(und_pose_point(&to, body->center), und_pose_point(&from, body->center));
        und_to(now->velocity, und_mul(way, 1 / before));
        und_to(now->spin, und_mul(turn_between(from.rotation, to.rotation), 1 / before));
    } else if (!body->def->motion) {
        throw(body->def, now);
    }
}

/* Where led bodies are at the end of the step, and the velocity that takes them there.  A body is free in the
 * first step that begins at its release or after. */
static void lead(und_bodies *s, double time, double dt)
{
    for (int i = 0; i < s->count; i++) {
        und_body *body = &s->bodies[i];
        und_body_state *now = &s->kept[i].now;
        if (!(s->kept[i].led > 0))
            continue;
        if (time >= body->def->release - 1e-9 * dt) {
            und_body_free(s, i, time);
            continue;
        }
        body->target = led_pose(body->def, time + dt);
        und_vec3 way = und_sub(und_pose_point(&body->target, body->center), und_of(now->position));
        und_vec3 turn = turn_between(und_rotation_of(now), body->target.rotation);
        und_to(now->velocity, und_mul(way, 1 / dt));
        und_to(now->spin, und_mul(turn, 1 / dt));
    }
}

static void prepare(und_bodies *s)
{
    for (int i = 0; i < s->count; i++) {
        und_body *body = &s->bodies[i];
        const und_body_state *now = &s->kept[i].now;
        body->place = und_bodies_pose(s, i);
        body->inverse_mass = und_bodies_inverse_mass(s, i);
        body->contact_count = 0;
        s->speed[i] = (und_speed){und_of(now->velocity), und_of(now->spin)};
        s->shift[i] = (und_speed){0};
        if (!und_finite(body->force) || !und_finite(body->torque))
            body->force = body->torque = und_vec(0, 0, 0);
    }
}

/* What gravity and forces do to the speeds. */
static void accelerate(und_bodies *s, double dt)
{
    for (int i = 0; i < s->count; i++) {
        const und_body *body = &s->bodies[i];
        und_speed *speed = &s->speed[i];
        if (s->kept[i].led > 0)
            continue;
        und_vec3 pull = und_add(und_mul(body->force, body->inverse_mass), und_vec(0, -s->world.gravity, 0));
        speed->velocity = und_add(speed->velocity, und_mul(pull, dt));
        if (und_dot(body->torque, body->torque) > 0) {
            double inverse[9];
            und_bodies_inverse_inertia(s, i, inverse);
            speed->spin = und_add(speed->spin, und_mul(und_matrix_mul(inverse, body->torque), dt));
        }
    }
}

/* R m R^T v */
static und_vec3 turned_mul(und_quat turn, const double m[9], und_vec3 v)
{
    return und_quat_rotate(turn, und_matrix_mul(m, und_quat_rotate(und_back(turn), v)));
}

/* Turns a free body over dt by the midpoint rule with the angular momentum kept: the spin is what it makes
 * of the inertia in the body's new place.  Fast spins go in several parts. */
static void turn(const und_body *body, und_body_state *now, und_vec3 shift, double dt)
{
    und_vec3 spin = und_of(now->spin), tilt = und_mul(shift, dt);
    if (und_dot(spin, spin) <= 0 && und_dot(tilt, tilt) <= 0)
        return;
    int parts = 1 + (int)fmin(und_length(spin) * dt / 0.1, 63);
    und_quat q = und_quat_mul(turn_by(tilt), und_rotation_of(now));
    und_vec3 momentum = turned_mul(und_rotation_of(now), body->inertia, spin);
    spin = turned_mul(q, body->inverse_inertia, momentum);
    for (int i = 0; i < parts; i++) {
        und_quat middle = und_quat_mul(turn_by(und_mul(spin, 0.5 * dt / parts)), q);
        und_vec3 mean = turned_mul(middle, body->inverse_inertia, momentum);
        q = unit(und_quat_mul(turn_by(und_mul(mean, dt / parts)), q));
        spin = turned_mul(q, body->inverse_inertia, momentum);
    }
    /* a needle that spins too fast to be followed must not gain from it */
    double before = und_dot(und_of(now->spin), momentum), after = und_dot(spin, momentum);
    if (after > (1 + 1e-4) * before)
        spin = und_mul(spin, sqrt(before / after));
    und_to(now->spin, spin);
    now->rotation[0] = q.w;
    now->rotation[1] = q.x;
    now->rotation[2] = q.y;
    now->rotation[3] = q.z;
}

static void move(und_bodies *s, double dt)
{
    for (int i = 0; i < s->count; i++) {
        und_body *body = &s->bodies[i];
        und_body_state *now = &s->kept[i].now;
        body->force = body->torque = und_vec(0, 0, 0);
        if (s->kept[i].led > 0) {
            put_pose(body, now, &body->target);
            continue;
        }
        und_vec3 way = und_mul(und_add(s->speed[i].velocity, s->shift[i].velocity), dt);
        und_to(now->velocity, s->speed[i].velocity);
        und_to(now->spin, s->speed[i].spin);
        und_to(now->position, und_add(und_of(now->position), way));
        turn(body, now, s->shift[i].spin, dt);
    }
}

void und_bodies_step(und_bodies *s, double time, double dt)
{
    if (!(dt > 0))
        return;
    lead(s, time, dt);
    prepare(s);
    s->contact_count = 0;
    und_joints_find(s);
    und_contacts_find(s);
    und_contacts_prepare(s, time, dt);
    accelerate(s, dt);
    und_contacts_solve(s);
    und_contacts_separate(s, dt);
    move(s, dt);
}
