#include "geom/motion.h"

#include "base/maths.h"
#include "base/status.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

typedef struct knot {
    double time;
    und_vec3 position, tangent; /* tangent: m/s, for the spline */
    und_quat rotation;
} knot;

struct und_motion {
    int count;
    und_easing easing;
    knot knots[];
};

static bool finite3(und_vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static double quat_dot(und_quat a, und_quat b)
{
    return a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
}

static und_quat quat_blend(und_quat a, double wa, und_quat b, double wb)
{
    und_quat q = {a.w * wa + b.w * wb, a.x * wa + b.x * wb, a.y * wa + b.y * wb, a.z * wa + b.z * wb};
    double length = sqrt(quat_dot(q, q));
    return (und_quat){q.w / length, q.x / length, q.y / length, q.z / length};
}

/* Neighbours are kept on the same side of the sphere of rotations, so that this is the short way. */
static und_quat slerp(und_quat a, und_quat b, double s)
{
    double cosine = fmin(quat_dot(a, b), 1);
    if (cosine > 1 - 1e-10)
        return quat_blend(a, 1 - s, b, s);
    double angle = und_acos(cosine);
    return quat_blend(a, und_sin((1 - s) * angle), b, und_sin(s * angle));
}

static bool keys_good(const und_key *keys, int count, und_error *err)
{
    if (count < 1) {
        und_error_set(err, UND_INVALID, "a motion needs at least one key");
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (!isfinite(keys[i].time) || !finite3(keys[i].position) || !finite3(keys[i].rotation)) {
            und_error_set(err, UND_INVALID, "key %d of a motion has a number that is not finite", i + 1);
            return false;
        }
        if (i > 0 && keys[i].time <= keys[i - 1].time) {
            und_error_set(err, UND_INVALID,
                          "key %d of a motion is at %g s, not after the key before it at %g s", i + 1,
                          keys[i].time, keys[i - 1].time);
            return false;
        }
    }
    return true;
}

/* The slope of the parabola through three keys; at rest at the ends, where the motion is held. */
static void find_tangents(und_motion *m)
{
    for (int i = 1; i + 1 < m->count; i++) {
        const knot *a = &m->knots[i - 1], *b = &m->knots[i], *c = &m->knots[i + 1];
        double before = b->time - a->time, after = c->time - b->time;
        und_vec3 in = und_mul(und_sub(b->position, a->position), after / (before * (before + after)));
        und_vec3 out = und_mul(und_sub(c->position, b->position), before / (after * (before + after)));
        m->knots[i].tangent = und_add(in, out);
    }
}

/* The harmonic mean of the slopes on both sides, weighted for uneven times, or 0 at a turning point: no cubic
 * leaves the range of its ends.  Fritsch & Butland 1984. */
static double monotone_slope(double in, double out, double before, double after)
{
    if (!(in * out > 0))
        return 0;
    double near = before + 2 * after, far = 2 * before + after;
    return (near + far) / (near / in + far / out);
}

static void find_monotone_tangents(und_motion *m)
{
    for (int i = 1; i + 1 < m->count; i++) {
        const knot *a = &m->knots[i - 1], *b = &m->knots[i], *c = &m->knots[i + 1];
        double before = b->time - a->time, after = c->time - b->time;
        und_vec3 in = und_mul(und_sub(b->position, a->position), 1 / before);
        und_vec3 out = und_mul(und_sub(c->position, b->position), 1 / after);
        m->knots[i].tangent =
            und_vec(monotone_slope(in.x, out.x, before, after), monotone_slope(in.y, out.y, before, after),
                    monotone_slope(in.z, out.z, before, after));
    }
}

und_motion *und_motion_create(const und_key *keys, int count, und_easing easing, und_error *err)
{
    if (!keys_good(keys, count, err))
        return NULL;
    und_motion *m = und_alloc(1, sizeof *m + (size_t)count * sizeof *m->knots, "a motion", err);
    if (!m)
        return NULL;
    m->count = count;
    m->easing = easing;
    for (int i = 0; i < count; i++) {
        und_quat q = und_quat_euler(keys[i].rotation);
        if (i > 0 && quat_dot(q, m->knots[i - 1].rotation) < 0)
            q = (und_quat){-q.w, -q.x, -q.y, -q.z};
        m->knots[i] = (knot){.time = keys[i].time, .position = keys[i].position, .rotation = q};
    }
    if (easing == UND_EASE_MONOTONE)
        find_monotone_tangents(m);
    else
        find_tangents(m);
    return m;
}

void und_motion_set_velocity(und_motion *motion, int key, und_vec3 velocity)
{
    assert(key >= 0 && key < motion->count);
    motion->knots[key].tangent = velocity;
}

void und_motion_destroy(und_motion *motion)
{
    free(motion);
}

bool und_motion_moves(const und_motion *motion)
{
    for (int i = 1; motion && i < motion->count; i++) {
        const knot *a = &motion->knots[i - 1], *b = &motion->knots[i];
        bool held = und_length(und_sub(b->position, a->position)) == 0 && und_length(a->tangent) == 0 &&
                    und_length(b->tangent) == 0;
        if (!held || memcmp(&a->rotation, &b->rotation, sizeof a->rotation) != 0)
            return true;
    }
    return false;
}

static und_vec3 hermite(const knot *a, const knot *b, double s)
{
    double span = b->time - a->time;
    und_vec3 moved = und_mul(und_sub(b->position, a->position), s * s * (3 - 2 * s));
    und_vec3 leave = und_mul(a->tangent, span * s * (1 - s) * (1 - s));
    und_vec3 arrive = und_mul(b->tangent, span * s * s * (s - 1));
    return und_add(und_add(a->position, moved), und_add(leave, arrive));
}

und_pose und_motion_at(const und_motion *motion, double time)
{
    if (!motion)
        return (und_pose){.rotation = {.w = 1}};
    const knot *knots = motion->knots, *last = &knots[motion->count - 1];
    if (!(time > knots[0].time))
        return (und_pose){knots[0].position, knots[0].rotation};
    if (time >= last->time)
        return (und_pose){last->position, last->rotation};
    int low = 0, high = motion->count - 1; /* knots[low].time <= time < knots[high].time */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (knots[middle].time <= time)
            low = middle;
        else
            high = middle;
    }
    const knot *a = &knots[low], *b = &knots[high];
    double s = (time - a->time) / (b->time - a->time);
    und_pose pose = {.rotation = slerp(a->rotation, b->rotation, s)};
    if (motion->easing == UND_EASE_LINEAR)
        pose.position = und_add(a->position, und_mul(und_sub(b->position, a->position), s));
    else
        pose.position = hermite(a, b, s);
    return pose;
}

static und_vec3 hermite_slope(const knot *a, const knot *b, double s)
{
    double span = b->time - a->time;
    und_vec3 moved = und_mul(und_sub(b->position, a->position), 6 * s * (1 - s) / span);
    und_vec3 leave = und_mul(a->tangent, (1 - s) * (1 - 3 * s));
    und_vec3 arrive = und_mul(b->tangent, s * (3 * s - 2));
    return und_add(moved, und_add(leave, arrive));
}

/* The way from one rotation to another is a turn about one axis at one speed. */
static und_vec3 slerp_spin(const knot *a, const knot *b)
{
    und_quat back = {a->rotation.w, -a->rotation.x, -a->rotation.y, -a->rotation.z};
    und_quat turn = und_quat_mul(b->rotation, back);
    und_vec3 axis = und_vec(turn.x, turn.y, turn.z);
    double length = und_length(axis), angle = 2 * und_atan2(length, turn.w);
    return length > 0 ? und_mul(axis, angle / (length * (b->time - a->time))) : und_vec(0, 0, 0);
}

und_vec3 und_motion_velocity(const und_motion *motion, double time, und_vec3 *spin)
{
    *spin = und_vec(0, 0, 0);
    if (!motion || !(time > motion->knots[0].time) || !(time <= motion->knots[motion->count - 1].time))
        return und_vec(0, 0, 0);
    const knot *b = &motion->knots[1];
    while (b->time < time)
        b++;
    const knot *a = b - 1;
    *spin = slerp_spin(a, b);
    if (motion->easing == UND_EASE_LINEAR)
        return und_mul(und_sub(b->position, a->position), 1 / (b->time - a->time));
    return hermite_slope(a, b, (time - a->time) / (b->time - a->time));
}

und_quat und_quat_mul(und_quat a, und_quat b)
{
    return (und_quat){
        a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
        a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

und_quat und_quat_euler(und_vec3 degrees)
{
    double half = M_PI / 360;
    und_quat x = {.w = und_cos(degrees.x * half), .x = und_sin(degrees.x * half)};
    und_quat y = {.w = und_cos(degrees.y * half), .y = und_sin(degrees.y * half)};
    und_quat z = {.w = und_cos(degrees.z * half), .z = und_sin(degrees.z * half)};
    return und_quat_mul(z, und_quat_mul(y, x));
}

und_vec3 und_quat_rotate(und_quat q, und_vec3 v)
{
    und_vec3 axis = und_vec(q.x, q.y, q.z);
    und_vec3 twice = und_mul(und_cross(axis, v), 2);
    return und_add(v, und_add(und_mul(twice, q.w), und_cross(axis, twice)));
}

und_vec3 und_pose_point(const und_pose *pose, und_vec3 local)
{
    return und_add(pose->position, und_quat_rotate(pose->rotation, local));
}

und_vec3 und_pose_local(const und_pose *pose, und_vec3 world)
{
    und_quat back = {pose->rotation.w, -pose->rotation.x, -pose->rotation.y, -pose->rotation.z};
    return und_quat_rotate(back, und_sub(world, pose->position));
}

und_pose und_pose_on(const und_pose *base, const und_pose *local)
{
    return (und_pose){und_pose_point(base, local->position), und_quat_mul(base->rotation, local->rotation)};
}
