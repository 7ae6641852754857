/* Where bodies touch each other, the ground and walls.  Pairs are visited in the order of the bodies, so that
 * contacts come in an order that the state alone decides. */
#include "bodies/state.h"

#include <string.h>

enum { FOUND = 256, KEPT = 4 };

/* What two parts have in common, before it is thinned. */
typedef struct touching {
    int count;
    und_vec3 at[FOUND], normal[FOUND]; /* the normal points into the first of the pair */
    double depth[FOUND];
} touching;

static void touch(touching *t, und_vec3 at, und_vec3 normal, double depth)
{
    if (t->count >= FOUND || !und_finite(at) || !und_finite(normal) || !isfinite(depth))
        return;
    t->at[t->count] = at;
    t->normal[t->count] = normal;
    t->depth[t->count++] = depth;
}

static void add_contact(und_bodies *s, int a, int b, const touching *t, int k)
{
    bool a_led = s->kept[a].led > 0, b_free = b < s->count && !(s->kept[b].led > 0);
    if (s->contact_count >= s->contact_limit || (a_led && !b_free))
        return;
    und_contact *c = &s->contacts[s->contact_count++];
    *c = (und_contact){.a = a, .b = b, .at = t->at[k], .normal = t->normal[k], .depth = t->depth[k]};
    if (a_led) {
        c->a = b;
        c->b = a;
        c->normal = und_mul(c->normal, -1);
    }
    s->bodies[c->a].contact_count++;
    s->bodies[c->b].contact_count++;
}

/* The deepest, then always the one farthest from those taken: a face keeps its corners. */
static void add_contacts(und_bodies *s, int a, int b, const touching *t)
{
    double away[FOUND];
    int next = 0;
    for (int i = 0; i < t->count; i++) {
        away[i] = INFINITY;
        next = t->depth[i] > t->depth[next] ? i : next;
    }
    for (int taken = 0; taken < KEPT && taken < t->count; taken++) {
        und_vec3 from = t->at[next];
        add_contact(s, a, b, t, next);
        for (int i = 0; i < t->count; i++)
            away[i] = fmin(away[i], und_length(und_sub(t->at[i], from)));
        next = 0;
        for (int i = 1; i < t->count; i++)
            next = away[i] > away[next] ? i : next;
        if (!(away[next] > 0))
            return;
    }
}

static void place_geom(const und_body *body, const und_body_part *part)
{
    und_vec3 p = und_pose_point(&body->place, part->shape->center);
    und_quat q = und_quat_mul(body->place.rotation, part->turn);
    und_collide_place(part->geom, p, q);
}

static void collide_geoms(und_collider *a, und_collider *b, double skin, touching *t)
{
    und_collision found[UND_COLLISIONS];
    const int count = und_collide(a, b, found);
    for (int i = 0; i < count; i++)
        touch(t, found[i].at, found[i].normal, found[i].depth - skin);
}

/* The direction in which the distance grows. */
static und_vec3 outward(const und_shape *shape, und_vec3 p, double step)
{
    double d[3];
    for (int k = 0; k < 3; k++) {
        und_vec3 e = und_vec(k == 0 ? step : 0, k == 1 ? step : 0, k == 2 ? step : 0);
        d[k] = und_shape_distance(shape, und_add(p, e)) - und_shape_distance(shape, und_sub(p, e));
    }
    return und_unit(und_of(d));
}

/* Places on one part that lie inside another. */
static void collide_points(const und_body *of, const und_body_part *with, const und_body *other,
                           const und_body_part *in, double sign, touching *t)
{
    und_vec3 middle = und_pose_local(&of->place, und_pose_point(&other->place, in->center));
    for (int i = 0; i < with->point_count; i++) {
        und_vec3 away =
            und_sub(with->points[i], middle); /* unturned: most places are far, and soon seen to be */
        if (und_dot(away, away) > in->reach * in->reach)
            continue;
        und_vec3 at = und_pose_point(&of->place, with->points[i]);
        und_vec3 local = und_pose_local(&other->place, at);
        double distance = und_shape_distance(in->shape, local);
        if (!(distance < of->skin + other->skin))
            continue;
        und_vec3 normal = outward(in->shape, local, 1e-4 * in->reach);
        if (und_dot(normal, normal) > 0)
            touch(t, at, und_mul(und_quat_rotate(other->place.rotation, normal), sign), -distance);
    }
}

static bool near(const und_body *a, const und_body_part *p, const und_body *b, const und_body_part *q)
{
    und_vec3 way = und_sub(und_pose_point(&a->place, p->center), und_pose_point(&b->place, q->center));
    double reach = p->reach + q->reach;
    return und_dot(way, way) < reach * reach;
}

static void collide_bodies(und_bodies *s, int i, int j, touching *t)
{
    const und_body *a = &s->bodies[i], *b = &s->bodies[j];
    for (int k = 0; k < a->part_count; k++)
        for (int l = 0; l < b->part_count; l++) {
            const und_body_part *p = &a->parts[k], *q = &b->parts[l];
            if (!near(a, p, b, q))
                continue;
            t->count = 0;
            if (p->geom && q->geom) {
                place_geom(a, p);
                place_geom(b, q);
                collide_geoms(p->geom, q->geom, a->skin + b->skin, t);
            } else {
                collide_points(a, p, b, q, 1, t);
                collide_points(b, q, a, p, -1, t);
            }
            add_contacts(s, i, j, t);
        }
}

/* The point of a part farthest against a direction: exact for an ellipsoid, A^2 n / |A n| from its centre. */
static bool support(const und_body *body, const und_body_part *part, und_vec3 against, und_vec3 *at)
{
    if (part->shape->kind != UND_ELLIPSOID)
        return false;
    und_vec3 n = und_quat_rotate(und_back(body->place.rotation), against), h = part->shape->half;
    und_vec3 an = und_vec(h.x * n.x, h.y * n.y, h.z * n.z);
    und_vec3 out = und_mul(und_vec(h.x * an.x, h.y * an.y, h.z * an.z), -1 / und_length(an));
    *at = und_pose_point(&body->place, und_add(part->shape->center, out));
    return true;
}

static void touch_plane(und_vec3 at, und_vec3 normal, double offset, double skin, touching *t)
{
    double depth = offset - und_dot(at, normal);
    if (depth > -skin)
        touch(t, at, normal, depth);
}

static void collide_plane(und_bodies *s, int i, int plane, touching *t)
{
    const und_body *body = &s->bodies[i];
    und_vec3 normal = und_of(s->plane[plane]), at;
    double offset = s->plane[plane][3];
    if (und_dot(und_of(s->kept[i].now.position), normal) - offset > body->reach)
        return;
    for (int k = 0; k < body->part_count; k++) {
        const und_body_part *part = &body->parts[k];
        t->count = 0;
        if (und_dot(und_pose_point(&body->place, part->center), normal) - offset > part->reach)
            continue;
        if (part->geom) {
            place_geom(body, part);
            collide_geoms(part->geom, s->plane_geom[plane], body->skin, t);
        } else if (support(body, part, normal, &at)) {
            touch_plane(at, normal, offset, body->skin, t);
        } else {
            for (int p = 0; p < part->point_count; p++)
                touch_plane(und_pose_point(&body->place, part->points[p]), normal, offset, body->skin, t);
        }
        add_contacts(s, i, s->count, t);
    }
}

static void touch_ground(const und_bodies *s, und_vec3 at, double skin, touching *t)
{
    und_vec3 normal;
    double depth = und_ground_at(s, at.x, at.z, &normal) - at.y;
    if (depth * normal.y > -skin)
        touch(t, at, normal, depth * normal.y);
}

/* A ball meets the ground at the end of the radius that stands on it. */
static void touch_ground_ball(const und_bodies *s, und_vec3 center, double radius, double skin, touching *t)
{
    und_vec3 normal = und_vec(0, 1, 0), at = center;
    for (int pass = 0; pass < 3; pass++) {
        at = und_sub(center, und_mul(normal, radius));
        und_ground_at(s, at.x, at.z, &normal);
    }
    touch_ground(s, at, skin, t);
}

static void touch_ground_points(const und_bodies *s, const und_body *body, const und_body_part *part,
                                double top, touching *t)
{
    und_vec3 up = und_quat_rotate(und_back(body->place.rotation), und_vec(0, 1, 0));
    double low = top + 2 * body->skin - body->place.position.y;
    for (int p = 0; p < part->point_count; p++)
        if (und_dot(up, part->points[p]) < low)
            touch_ground(s, und_pose_point(&body->place, part->points[p]), body->skin, t);
}

static void collide_ground(und_bodies *s, int i, touching *t)
{
    const und_body *body = &s->bodies[i];
    const double *at = s->kept[i].now.position;
    if (at[1] - body->reach > s->ground_top)
        return;
    double top = und_ground_top(s, at[0], at[2], body->reach);
    for (int k = 0; k < body->part_count; k++) {
        const und_body_part *part = &body->parts[k];
        und_vec3 center = und_pose_point(&body->place, part->center);
        t->count = 0;
        if (center.y - part->reach > top)
            continue;
        if (part->shape->kind == UND_SPHERE)
            touch_ground_ball(s, center, part->shape->radius, body->skin, t);
        else
            touch_ground_points(s, body, part, top, t);
        add_contacts(s, i, s->count, t);
    }
}

/* How far a place is outside a box along the axis that tells most; *normal is that face's. */
static double outside_box(const und_bounds *box, und_vec3 p, und_vec3 *normal)
{
    const double low[3] = {box->low.x - p.x, box->low.y - p.y, box->low.z - p.z};
    const double high[3] = {p.x - box->high.x, p.y - box->high.y, p.z - box->high.z};
    double most = -INFINITY, n[3] = {0};
    int axis = 0;
    for (int k = 0; k < 3; k++)
        if (fmax(low[k], high[k]) > most) {
            most = fmax(low[k], high[k]);
            axis = k;
        }
    n[axis] = low[axis] > high[axis] ? -1 : 1;
    *normal = und_of(n);
    return most;
}

static bool in_other_box(const und_bodies *s, int box, und_vec3 p, double skin)
{
    und_vec3 unused;
    for (int i = 0; i < s->box_count; i++)
        if (i != box && outside_box(&s->boxes[i], p, &unused) < skin)
            return true;
    return false;
}

/* A contact whose normal leads into another box may be at a seam inside the solid, where nothing can touch.
 * It is, unless a little farther inside the body it would be at a free part of the same face. */
static bool at_seam(const und_bodies *s, const und_body *body, int box, const touching *t, int i)
{
    const und_bounds *b = &s->boxes[box];
    und_vec3 n = t->normal[i], out = und_mul(n, fmax(t->depth[i], 0) + 2 * body->skin), at = t->at[i], unused;
    if (!in_other_box(s, box, und_add(at, out), body->skin))
        return false;
    und_vec3 side = und_sub(b->high, b->low),
             inwards = und_sub(und_pose_point(&body->place, body->center), at);
    double shift = 0.6 * fmin(body->size, fmin(side.x, fmin(side.y, side.z)));
    inwards = und_unit(und_sub(inwards, und_mul(n, und_dot(n, inwards)))); /* along the face */
    at = und_add(at, und_mul(inwards, shift));
    return outside_box(b, at, &unused) > 2 * body->skin || in_other_box(s, box, und_add(at, out), body->skin);
}

static void drop_seams(const und_bodies *s, const und_body *body, int box, touching *t)
{
    int kept = 0;
    for (int i = 0; i < t->count; i++) {
        if (at_seam(s, body, box, t, i))
            continue;
        t->at[kept] = t->at[i];
        t->normal[kept] = t->normal[i];
        t->depth[kept++] = t->depth[i];
    }
    t->count = kept;
}

/* Places of the part inside the box, and corners of the box inside the part. */
static void touch_box_points(const und_body *body, const und_body_part *part, const und_bounds *b,
                             touching *t)
{
    und_vec3 normal;
    for (int p = 0; p < part->point_count; p++) {
        und_vec3 at = und_pose_point(&body->place, part->points[p]);
        double out = outside_box(b, at, &normal);
        if (out < body->skin)
            touch(t, at, normal, -out);
    }
    for (int c = 0; c < 8; c++) {
        und_vec3 at =
            und_vec(c & 1 ? b->high.x : b->low.x, c & 2 ? b->high.y : b->low.y, c & 4 ? b->high.z : b->low.z);
        und_vec3 local = und_pose_local(&body->place, at);
        double distance = und_shape_distance(part->shape, local);
        if (!(distance < body->skin))
            continue;
        normal = outward(part->shape, local, 1e-4 * part->reach);
        if (und_dot(normal, normal) > 0)
            touch(t, at, und_quat_rotate(body->place.rotation, und_mul(normal, -1)), -distance);
    }
}

static void collide_box(und_bodies *s, int i, int box, touching *t)
{
    const und_body *body = &s->bodies[i];
    const und_bounds *b = &s->boxes[box];
    und_vec3 unused, middle = und_mul(und_add(b->low, b->high), 0.5), size = und_sub(b->high, b->low);
    if (outside_box(b, und_of(s->kept[i].now.position), &unused) > body->reach)
        return;
    for (int k = 0; k < body->part_count; k++) {
        const und_body_part *part = &body->parts[k];
        t->count = 0;
        if (outside_box(b, und_pose_point(&body->place, part->center), &unused) > part->reach)
            continue;
        if (part->geom) {
            place_geom(body, part);
            und_collide_place_box(s->box_geom, middle, size);
            collide_geoms(part->geom, s->box_geom, body->skin, t);
        } else {
            touch_box_points(body, part, b, t);
        }
        drop_seams(s, body, box, t);
        add_contacts(s, i, s->count, t);
    }
}

/* A body whose numbers went bad touches nothing: the engine must not see them. */
static bool sound(const und_body_state *b)
{
    const double *all = b->position;
    double sum = 0;
    for (size_t i = 0; i < sizeof *b / sizeof *all; i++)
        sum += ((const double *)b)[i];
    return isfinite(sum) && fabs(all[0]) + fabs(all[1]) + fabs(all[2]) < 1e7;
}

void und_contacts_find(und_bodies *s)
{
    touching t;
    for (int i = 0; i < s->count; i++) {
        const und_body_state *a = &s->kept[i].now;
        bool led = s->kept[i].led > 0;
        if (!sound(a))
            continue;
        for (int p = 0; p < s->plane_count && !led; p++)
            collide_plane(s, i, p, &t);
        if (s->ground && !led)
            collide_ground(s, i, &t);
        for (int b = 0; b < s->box_count && !led; b++)
            collide_box(s, i, b, &t);
        for (int j = i + 1; j < s->count; j++) {
            und_vec3 way = und_sub(und_of(a->position), und_of(s->kept[j].now.position));
            double reach = s->bodies[i].reach + s->bodies[j].reach;
            if (und_dot(way, way) < reach * reach && !(led && s->kept[j].led > 0) && sound(&s->kept[j].now) &&
                !und_joints_near(s, i, j))
                collide_bodies(s, i, j, &t);
        }
    }
}
