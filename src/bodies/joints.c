/* Joints of a figure that has been let go: the bones stay together, each joint turns within its limits, and
 * goes on with its keys as far as its strength reaches.  Rows of the contacts' solver, made anew each step.
 */
#include "base/maths.h"
#include "bodies/skeleton.h"
#include "bodies/state.h"

#include <stdlib.h>

static const double weight = 9.81; /* m/s2: strength counts limbs held straight out against it */
static const double follow = 0.08; /* s in which a joint would reach its key */
static const double fastest = 15;  /* rad/s at which it tries */
static const double still =
    0.01745; /* rad: a range below this is none, and the joint stiff about that axis */

/* The bone's own coordinates in those of its body, whose origin is the middle of the ellipsoid. */
static und_pose bone_in_body(const und_body *body)
{
    const und_pose *e = und_skeleton_ellipsoid(body->def->skeleton, body->def->bone);
    und_quat back = und_back(e->rotation);
    return (und_pose){und_mul(und_quat_rotate(back, e->position), -1), back};
}

static int find_bone(const und_bodies *s, const und_skeleton *skeleton, int bone)
{
    for (int i = 0; i < s->count; i++)
        if (s->bodies[i].def->skeleton == skeleton && s->bodies[i].def->bone == bone)
            return i;
    return -1;
}

/* Mass times distance from the joint of all that hangs on a bone, kg m. */
static double burden_of(const und_bodies *s, int body)
{
    const und_body_def *d = s->bodies[body].def;
    und_vec3 joint = und_skeleton_joint(d->skeleton, d->bone, s->world.time).position;
    double sum = 0;
    for (int i = 0; i < s->count; i++) {
        const und_body_def *other = s->bodies[i].def;
        int bone = other->skeleton == d->skeleton ? other->bone : -1;
        while (bone >= 0 && bone != d->bone)
            bone = und_skeleton_parent(d->skeleton, bone);
        if (bone >= 0)
            sum += s->bodies[i].mass *
                   und_length(
                       und_sub(und_skeleton_pose(d->skeleton, other->bone, s->world.time).position, joint));
    }
    return sum;
}

/* Parents come before their children, so that a body's joint is to one before it. */
void und_joints_create(und_bodies *s)
{
    for (int i = 0; i < s->count; i++) {
        und_body *body = &s->bodies[i];
        const und_skeleton *skeleton = body->def->skeleton;
        int parent = skeleton ? und_skeleton_parent(skeleton, body->def->bone) : -1;
        body->parent = parent >= 0 ? find_bone(s, skeleton, parent) : -1;
        if (body->parent < 0)
            continue;
        const und_body *on = &s->bodies[body->parent];
        und_pose own = bone_in_body(body), other = bone_in_body(on);
        body->joint = und_sub(own.position, body->center);
        body->joint_on =
            und_sub(und_pose_point(&other, und_skeleton_hinge(skeleton, body->def->bone)), on->center);
        body->bone_turn = own.rotation;
        body->burden = burden_of(s, i);
    }
    for (int i = 0; i < s->count; i++) /* the parent's, where it is a root, too */
        if (s->bodies[i].def->skeleton)
            s->bodies[i].bone_turn = bone_in_body(&s->bodies[i]).rotation;
}

bool und_joints_near(const und_bodies *s, int i, int j)
{
    int a = s->bodies[i].parent, b = s->bodies[j].parent;
    if (!s->bodies[i].def->skeleton || s->bodies[i].def->skeleton != s->bodies[j].def->skeleton)
        return false;
    return a == j || b == i || (a >= 0 && a == b) || (a >= 0 && s->bodies[a].parent == j) ||
           (b >= 0 && s->bodies[b].parent == i);
}

static und_contact *add(und_bodies *s, und_contact_kind kind, int child)
{
    und_contact *c = &s->contacts[s->contact_count++];
    *c = (und_contact){.kind = kind, .a = child, .b = s->bodies[child].parent};
    s->bodies[c->a].contact_count++;
    s->bodies[c->b].contact_count++;
    return c;
}

void und_joints_find(und_bodies *s)
{
    for (int i = 0; i < s->count; i++) {
        const und_body *body = &s->bodies[i];
        if (body->parent < 0 || s->kept[i].led > 0 || s->contact_count + 3 > s->contact_limit)
            continue;
        add(s, UND_JOINT_POINT, i);
        add(s, UND_JOINT_LIMITS, i);
        if (body->def->hold > 0)
            add(s, UND_JOINT_HOLD, i);
    }
}

/* Two bodies' speeds at an anchor along a direction, or about an axis. */
static und_row row_of(const und_bodies *s, const und_contact *c, und_vec3 along, und_vec3 arm_a,
                      und_vec3 arm_b)
{
    const und_body *a = &s->bodies[c->a], *b = &s->bodies[c->b];
    und_row row = {.along = along, .arm_a = arm_a, .arm_b = arm_b};
    row.turn_a = und_matrix_mul(a->world_inverse_inertia, arm_a);
    row.turn_b = und_matrix_mul(b->world_inverse_inertia, arm_b);
    row.give = und_dot(along, along) * (a->inverse_mass + b->inverse_mass) + und_dot(arm_a, row.turn_a) +
               und_dot(arm_b, row.turn_b);
    return row;
}

/* The two ends of a joint stay together. */
static void point_rows(und_bodies *s, und_contact *c)
{
    const und_body *body = &s->bodies[c->a];
    const und_body_state *a = &s->kept[c->a].now, *b = &s->kept[c->b].now;
    und_vec3 arm_a = und_quat_rotate(und_rotation_of(a), body->joint);
    und_vec3 arm_b = und_quat_rotate(und_rotation_of(b), body->joint_on);
    und_vec3 apart = und_sub(und_add(und_of(a->position), arm_a), und_add(und_of(b->position), arm_b));
    const double off[3] = {apart.x, apart.y, apart.z};
    for (int k = 0; k < 3; k++) {
        und_vec3 e = und_vec(k == 0, k == 1, k == 2);
        c->row[k] = row_of(s, c, e, und_cross(arm_a, e), und_cross(arm_b, e));
        c->row[k].least = -INFINITY;
        c->row[k].most = INFINITY;
        c->row[k].off = off[k];
    }
}

/* A joint's turns about x, y and z, and for each the vector whose product with the spin between the bones is
 * its rate.  R = Rz Ry Rx: the spin is z' ez + y' Rz ey + x' Rz Ry ex. */
typedef struct turns {
    double angle[3];
    und_vec3 rate[3];
} turns;

static turns turns_of(const und_bodies *s, int child)
{
    const und_body *body = &s->bodies[child], *on = &s->bodies[body->parent];
    const double steep = 0.2; /* of cos y: beyond, x and z are no longer apart */
    und_quat own = und_quat_mul(und_rotation_of(&s->kept[child].now), body->bone_turn);
    und_quat other = und_quat_mul(und_rotation_of(&s->kept[body->parent].now), on->bone_turn);
    und_quat q = und_quat_mul(und_back(other), own);
    double sine = fmax(-1, fmin(2 * (q.w * q.y - q.z * q.x), 1));
    turns t = {.angle = {und_atan2(2 * (q.w * q.x + q.y * q.z), 1 - 2 * (q.x * q.x + q.y * q.y)),
                         und_asin(sine),
                         und_atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))}};
    und_vec3 z = und_quat_rotate(other, und_vec(0, 0, 1)), x = und_quat_rotate(own, und_vec(1, 0, 0));
    und_vec3 y = und_unit(und_cross(z, x)), along_x = und_cross(y, z), along_z = und_cross(x, y);
    double open = fmax(und_dot(along_x, x), steep);
    t.rate[0] = und_mul(along_x, 1 / open);
    t.rate[1] = y;
    t.rate[2] = und_mul(along_z, 1 / open);
    return t;
}

/* The same angle, whole turns apart, that is nearest to another. */
static double beside(double angle, double to)
{
    const double whole = 2 * M_PI;
    return angle + whole * round((to - angle) / whole);
}

static void limit_rows(und_bodies *s, und_contact *c, double dt)
{
    const und_body_def *d = s->bodies[c->a].def;
    turns t = turns_of(s, c->a);
    und_vec3 low, high;
    und_skeleton_limits(d->skeleton, d->bone, &low, &high);
    const double lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
    for (int k = 0; k < 3; k++) {
        double middle = 0.5 * (lows[k] + highs[k]), angle = beside(t.angle[k], middle);
        und_row *row = &c->row[k];
        *row = row_of(s, c, und_vec(0, 0, 0), t.rate[k], t.rate[k]);
        bool stiff = highs[k] - lows[k] < still, below = angle < middle;
        double gap = below ? angle - lows[k] : highs[k] - angle;
        row->least = stiff || !below ? -INFINITY : 0;
        row->most = stiff || below ? INFINITY : 0;
        row->off = stiff ? angle - middle : gap < 0 ? (below ? gap : -gap) : 0;
        row->target = !stiff && gap > 0 ? (below ? -gap : gap) / dt : 0;
    }
}

/* Towards the turns that the keys have at the end of the step. */
static void hold_rows(und_bodies *s, und_contact *c, double time, double dt)
{
    const und_body *body = &s->bodies[c->a];
    turns t = turns_of(s, c->a);
    und_vec3 key = und_skeleton_turn(body->def->skeleton, body->def->bone, time + dt);
    const double keys[3] = {key.x, key.y, key.z};
    double strength = body->def->hold * body->burden * weight * dt;
    for (int k = 0; k < 3; k++) {
        und_row *row = &c->row[k];
        *row = row_of(s, c, und_vec(0, 0, 0), t.rate[k], t.rate[k]);
        double way = keys[k] - beside(t.angle[k], keys[k]);
        row->least = -strength;
        row->most = strength;
        row->target = fmax(-fastest, fmin(way / fmax(follow, dt), fastest));
    }
}

void und_joint_rows(und_bodies *s, und_contact *c, double time, double dt)
{
    if (c->kind == UND_JOINT_POINT)
        point_rows(s, c);
    else if (c->kind == UND_JOINT_LIMITS)
        limit_rows(s, c, dt);
    else
        hold_rows(s, c, time, dt);
}

void und_bodies_let_go(und_bodies *s, int i, double time)
{
    const und_skeleton *skeleton = s->bodies[i].def->skeleton;
    for (int k = 0; k < s->count; k++)
        if (k == i || (skeleton && s->bodies[k].def->skeleton == skeleton))
            und_body_free(s, k, time);
}
