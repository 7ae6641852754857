#include "geom/shape.h"

#include "base/status.h"
#include "geom/distance_grid.h"
#include "geom/trimesh.h"
#include "geom/voxels.h"

#include <stdlib.h>

static bool finite3(und_vec3 v)
{
    return isfinite(v.x) && isfinite(v.y) && isfinite(v.z);
}

static bool is_group(const und_shape *s)
{
    return s->kind == UND_UNION || s->kind == UND_INTERSECTION || s->kind == UND_DIFFERENCE;
}

/* What is wrong with a shape's numbers, or NULL. */
static const char *fault(const und_shape *s)
{
    bool has_extent = s->half.x > 0 && s->half.y > 0 && s->half.z > 0;
    if (!finite3(s->center) || !finite3(s->half) || !isfinite(s->radius))
        return "a shape has a number that is not finite";
    switch (s->kind) {
    case UND_SPHERE:
        return s->radius > 0 ? NULL : "a sphere's radius must be above 0";
    case UND_BOX:
        return has_extent ? NULL : "a box's edges must be longer than 0";
    case UND_CYLINDER:
        return s->radius > 0 && s->half.y > 0 ? NULL : "a cylinder's radius and height must be above 0";
    case UND_CAPSULE:
        return s->radius > 0 ? NULL : "a capsule's radius must be above 0";
    case UND_ELLIPSOID:
        return has_extent ? NULL : "an ellipsoid's semi-axes must be above 0";
    case UND_PLANE:
        return und_length(s->half) > 0 ? NULL : "a plane's normal must not be zero";
    case UND_MESH:
        return s->mesh ? NULL : "a mesh needs triangles";
    case UND_VOXELS:
        return s->voxels ? NULL : "voxels need a map";
    case UND_VOLUME:
        return s->volume ? NULL : "a volume needs values";
    case UND_UNION:
    case UND_INTERSECTION:
    case UND_DIFFERENCE:
        return s->child_count > 0 && s->children ? NULL : "a union, intersection or difference needs shapes";
    }
    return "a shape of an unknown kind";
}

static void destroy_parts(const und_shape *shape)
{
    for (int i = 0; i < shape->child_count; i++)
        und_shape_destroy(shape->children[i]);
    free(shape->children);
    und_trimesh_release(shape->mesh);
    und_voxels_release(shape->voxels);
    und_distance_grid_release(shape->volume);
}

und_shape *und_shape_create(const und_shape *like, und_error *err)
{
    const char *wrong = fault(like);
    if (wrong) {
        und_error_set(err, UND_INVALID, "%s", wrong);
        destroy_parts(like);
        return NULL;
    }
    und_shape *shape = und_alloc(1, sizeof *shape, "a shape", err);
    if (!shape) {
        destroy_parts(like);
        return NULL;
    }
    *shape = *like;
    if (shape->kind == UND_PLANE)
        shape->half = und_unit(shape->half);
    return shape;
}

void und_shape_destroy(und_shape *shape)
{
    if (!shape)
        return;
    destroy_parts(shape);
    free(shape);
}

static double box_distance(und_vec3 p, und_vec3 half)
{
    und_vec3 q = und_vec(fabs(p.x) - half.x, fabs(p.y) - half.y, fabs(p.z) - half.z);
    und_vec3 out = und_vec(fmax(q.x, 0), fmax(q.y, 0), fmax(q.z, 0));
    return und_length(out) + fmin(fmax(q.x, fmax(q.y, q.z)), 0);
}

static double cylinder_distance(und_vec3 p, double radius, double half_height)
{
    double side = sqrt(p.x * p.x + p.z * p.z) - radius, end = fabs(p.y) - half_height;
    double out_side = fmax(side, 0), out_end = fmax(end, 0);
    return sqrt(out_side * out_side + out_end * out_end) + fmin(fmax(side, end), 0);
}

static double capsule_distance(und_vec3 p, und_vec3 half, double radius)
{
    double square = und_dot(half, half);
    double along = square > 0 ? fmin(fmax(und_dot(p, half) / square, -1), 1) : 0;
    return und_length(und_sub(p, und_mul(half, along))) - radius;
}

/* f / |grad f| of f = |p / semi-axes| - 1: right to first order near the surface, right sign everywhere. */
static double ellipsoid_distance(und_vec3 p, und_vec3 half)
{
    und_vec3 q = und_vec(p.x / half.x, p.y / half.y, p.z / half.z);
    double f = und_length(q), slope = und_length(und_vec(q.x / half.x, q.y / half.y, q.z / half.z));
    return slope > 0 ? f * (f - 1) / slope : -fmin(half.x, fmin(half.y, half.z));
}

static double group_distance(const und_shape *s, und_vec3 p)
{
    double distance = und_shape_distance(s->children[0], p);
    for (int i = 1; i < s->child_count; i++) {
        double other = und_shape_distance(s->children[i], p);
        if (s->kind == UND_UNION)
            distance = fmin(distance, other);
        else
            distance = fmax(distance, s->kind == UND_DIFFERENCE ? -other : other);
    }
    return distance;
}

double und_shape_distance(const und_shape *s, und_vec3 p)
{
    und_vec3 q = und_sub(p, s->center);
    switch (s->kind) {
    case UND_SPHERE:
        return und_length(q) - s->radius;
    case UND_BOX:
        return box_distance(q, s->half);
    case UND_CYLINDER:
        return cylinder_distance(q, s->radius, s->half.y);
    case UND_CAPSULE:
        return capsule_distance(q, s->half, s->radius);
    case UND_ELLIPSOID:
        return ellipsoid_distance(q, s->half);
    case UND_PLANE:
        return und_dot(q, s->half);
    case UND_MESH:
        return und_trimesh_distance(s->mesh, q);
    case UND_VOXELS:
        return und_voxels_distance(s->voxels, q);
    case UND_VOLUME:
        return und_distance_grid_distance(s->volume, q);
    case UND_UNION:
    case UND_INTERSECTION:
    case UND_DIFFERENCE:
        return group_distance(s, p);
    }
    return INFINITY;
}

static und_bounds bounds_about(und_vec3 center, und_vec3 reach)
{
    return (und_bounds){und_sub(center, reach), und_add(center, reach)};
}

static und_vec3 lower(und_vec3 a, und_vec3 b)
{
    return und_vec(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
}

static und_vec3 upper(und_vec3 a, und_vec3 b)
{
    return und_vec(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
}

static und_bounds moved_bounds(und_bounds b, und_vec3 by)
{
    return (und_bounds){und_add(b.low, by), und_add(b.high, by)};
}

static und_bounds group_bounds(const und_shape *s)
{
    und_bounds all = und_shape_bounds(s->children[0]);
    for (int i = 1; i < s->child_count && s->kind != UND_DIFFERENCE; i++) {
        und_bounds child = und_shape_bounds(s->children[i]);
        if (s->kind == UND_UNION)
            all = (und_bounds){lower(all.low, child.low), upper(all.high, child.high)};
        else
            all = (und_bounds){upper(all.low, child.low), lower(all.high, child.high)};
    }
    return all;
}

und_bounds und_shape_bounds(const und_shape *s)
{
    double r = s->radius;
    switch (s->kind) {
    case UND_SPHERE:
        return bounds_about(s->center, und_vec(r, r, r));
    case UND_BOX:
    case UND_ELLIPSOID:
        return bounds_about(s->center, s->half);
    case UND_CYLINDER:
        return bounds_about(s->center, und_vec(r, s->half.y, r));
    case UND_CAPSULE:
        return bounds_about(s->center,
                            und_vec(fabs(s->half.x) + r, fabs(s->half.y) + r, fabs(s->half.z) + r));
    case UND_PLANE:
        return bounds_about(und_vec(0, 0, 0), und_vec(INFINITY, INFINITY, INFINITY));
    case UND_MESH:
        return moved_bounds(und_trimesh_bounds(s->mesh), s->center);
    case UND_VOXELS:
        return moved_bounds(und_voxels_bounds(s->voxels), s->center);
    case UND_VOLUME:
        return moved_bounds(und_distance_grid_bounds(s->volume), s->center);
    case UND_UNION:
    case UND_INTERSECTION:
    case UND_DIFFERENCE:
        return group_bounds(s);
    }
    return bounds_about(s->center, und_vec(0, 0, 0));
}

/* The stretch of a line inside a convex shape; empty where low > high. */
typedef struct span {
    double low, high;
} span;

static const span nothing = {INFINITY, -INFINITY};

static span overlap(span a, span b)
{
    return (span){und_larger(a.low, b.low), und_smaller(a.high, b.high)};
}

/* Where |p + t d| < half along one axis. */
static span slab_span(double p, double d, double half)
{
    if (d == 0)
        return fabs(p) < half ? (span){-INFINITY, INFINITY} : nothing;
    double a = (-half - p) / d, b = (half - p) / d;
    return (span){und_smaller(a, b), und_larger(a, b)};
}

/* Where |p + t d|^2 < radius^2. */
static span round_span(und_vec3 p, und_vec3 d, double radius)
{
    double dd = und_dot(d, d);
    if (dd <= 0)
        return und_dot(p, p) < radius * radius ? (span){-INFINITY, INFINITY} : nothing;
    double scale = 1 / dd, middle = -und_dot(p, d) * scale;
    und_vec3 nearest = und_add(p, und_mul(d, middle)); /* less cancellation than pd^2 - dd pp */
    double under = (radius * radius - und_dot(nearest, nearest)) * scale;
    if (!(under > 0))
        return nothing;
    double root = sqrt(under);
    return (span){middle - root, middle + root};
}

static span cylinder_span(const und_shape *s, und_vec3 p, und_vec3 d)
{
    span side = round_span(und_vec(p.x, 0, p.z), und_vec(d.x, 0, d.z), s->radius);
    return overlap(side, slab_span(p.y, d.y, s->half.y));
}

/* A capsule is two balls and the tube between them; it is convex, so one stretch covers the three. */
static span capsule_span(const und_shape *s, und_vec3 p, und_vec3 d)
{
    span a = round_span(und_sub(p, s->half), d, s->radius), b = round_span(und_add(p, s->half), d, s->radius);
    span all = {fmin(a.low, b.low), fmax(a.high, b.high)};
    double length = und_length(s->half);
    if (length <= 0)
        return all;
    und_vec3 axis = und_mul(s->half, 1 / length);
    double pa = und_dot(p, axis), da = und_dot(d, axis);
    span tube = round_span(und_sub(p, und_mul(axis, pa)), und_sub(d, und_mul(axis, da)), s->radius);
    tube = overlap(tube, slab_span(pa, da, length));
    return tube.low < tube.high ? (span){fmin(all.low, tube.low), fmax(all.high, tube.high)} : all;
}

static span plane_span(const und_shape *s, und_vec3 p, und_vec3 d)
{
    double height = und_dot(p, s->half), climb = und_dot(d, s->half);
    if (climb == 0)
        return height < 0 ? (span){-INFINITY, INFINITY} : nothing;
    double t = -height / climb;
    return climb > 0 ? (span){-INFINITY, t} : (span){t, INFINITY};
}

static span leaf_span(const und_shape *s, und_vec3 origin, und_vec3 d)
{
    und_vec3 p = und_sub(origin, s->center), h = s->half;
    switch (s->kind) {
    case UND_SPHERE:
        return round_span(p, d, s->radius);
    case UND_ELLIPSOID:
        return round_span(und_vec(p.x / h.x, p.y / h.y, p.z / h.z), und_vec(d.x / h.x, d.y / h.y, d.z / h.z),
                          1);
    case UND_BOX:
        return overlap(slab_span(p.x, d.x, h.x), overlap(slab_span(p.y, d.y, h.y), slab_span(p.z, d.z, h.z)));
    case UND_CYLINDER:
        return cylinder_span(s, p, d);
    case UND_CAPSULE:
        return capsule_span(s, p, d);
    case UND_PLANE:
        return plane_span(s, p, d);
    default:
        return nothing;
    }
}

/* A stretch of a line, and what encloses it. */
typedef struct ray {
    und_vec3 origin, direction;
    und_bounds box;
} ray;

static ray ray_of(und_vec3 origin, und_vec3 direction, double low, double high)
{
    und_vec3 from = und_add(origin, und_mul(direction, low)), to = und_add(origin, und_mul(direction, high));
    return (ray){origin, direction, {lower(from, to), upper(from, to)}};
}

static bool apart(const und_bounds *a, const und_bounds *b)
{
    return a->low.x > b->high.x || a->high.x < b->low.x || a->low.y > b->high.y || a->high.y < b->low.y ||
           a->low.z > b->high.z || a->high.z < b->low.z;
}

/* The first place after `after` where the line enters or leaves one of the parts that are near it. */
static double next_crossing(const und_shape *s, const ray *line, double after)
{
    const und_vec3 origin = und_sub(line->origin, s->center);
    double next = INFINITY;
    if (s->kind == UND_MESH)
        return und_trimesh_next(s->mesh, origin, line->direction, after);
    if (s->kind == UND_VOXELS)
        return und_voxels_next(s->voxels, origin, line->direction, after);
    if (s->kind == UND_VOLUME)
        return und_distance_grid_next(s->volume, origin, line->direction, after);
    if (!is_group(s)) {
        span inside = leaf_span(s, line->origin, line->direction);
        if (inside.low < inside.high)
            next = inside.low > after ? inside.low : inside.high > after ? inside.high : INFINITY;
        return next;
    }
    for (int i = 0; i < s->child_count; i++) {
        const und_bounds b = und_shape_bounds(s->children[i]);
        if (!apart(&b, &line->box))
            next = fmin(next, next_crossing(s->children[i], line, after));
    }
    return next;
}

/* Between two crossings a line is wholly inside or wholly outside: the middle tells. */
double und_shape_line(const und_shape *shape, und_vec3 origin, und_vec3 direction, double low, double high,
                      double *first)
{
    double total = 0;
    bool found = false;
    *first = high;
    if (shape->kind == UND_MESH)
        return und_trimesh_line(shape->mesh, und_sub(origin, shape->center), direction, low, high, first);
    if (shape->kind == UND_VOXELS)
        return und_voxels_line(shape->voxels, und_sub(origin, shape->center), direction, low, high, first);
    if (shape->kind == UND_VOLUME)
        return und_distance_grid_line(shape->volume, und_sub(origin, shape->center), direction, low, high,
                                      first);
    if (!is_group(shape)) { /* convex: one stretch, and no need of the middle */
        span inside = overlap(leaf_span(shape, origin, direction), (span){low, high});
        if (!(inside.low < inside.high))
            return 0;
        *first = inside.low;
        return inside.high - inside.low;
    }
    const ray line = ray_of(origin, direction, low, high);
    for (double t = low; t < high;) {
        double next = fmin(next_crossing(shape, &line, t), high);
        und_vec3 middle = und_add(origin, und_mul(direction, 0.5 * (t + next)));
        if (und_shape_distance(shape, middle) < 0) {
            total += next - t;
            *first = found ? *first : t;
            found = true;
        }
        t = next;
    }
    return total;
}

bool und_shape_stretch(const und_shape *shape, und_vec3 origin, und_vec3 direction, double low, double high,
                       bool inside, double least, double *from, double *to)
{
    bool found = false;
    *from = *to = high;
    const ray line = ray_of(origin, direction, low, high);
    for (double t = low; t < high;) {
        double next = fmin(next_crossing(shape, &line, t), high);
        und_vec3 middle = und_add(origin, und_mul(direction, 0.5 * (t + next)));
        bool is = next - t < least ? found : (und_shape_distance(shape, middle) < 0) == inside;
        if (found && !is)
            break;
        *from = is && !found ? t : *from;
        *to = next;
        found = is;
        t = next;
    }
    return found;
}

/* A ball of radius 1 about the origin: round_span for many lines at once. */
static void ball_lines(und_vec3 origin, und_vec3 step, und_vec3 d, double low, double high, int count,
                       double *restrict length, double *restrict first)
{
    const double scale = 1 / und_dot(d, d);
    for (int k = 0; k < count; k++) {
        double x = origin.x + k * step.x, y = origin.y + k * step.y, z = origin.z + k * step.z;
        double middle = -(x * d.x + y * d.y + z * d.z) * scale;
        double nx = x + d.x * middle, ny = y + d.y * middle, nz = z + d.z * middle;
        double under = (1 - (nx * nx + ny * ny + nz * nz)) * scale, root = sqrt(under > 0 ? under : 0);
        double from = und_larger(middle - root, low), to = und_smaller(middle + root, high);
        bool meets = under > 0 && from < to;
        length[k] = meets ? to - from : 0;
        first[k] = meets ? from : high;
    }
}

void und_shape_lines(const und_shape *shape, und_vec3 origin, und_vec3 step, und_vec3 direction, double low,
                     double high, int count, double *length, double *first)
{
    if (shape->kind == UND_SPHERE || shape->kind == UND_ELLIPSOID) {
        double r = shape->radius;
        und_vec3 h = shape->kind == UND_SPHERE ? und_vec(r, r, r) : shape->half;
        und_vec3 p = und_sub(origin, shape->center);
        ball_lines(und_vec(p.x / h.x, p.y / h.y, p.z / h.z),
                   und_vec(step.x / h.x, step.y / h.y, step.z / h.z),
                   und_vec(direction.x / h.x, direction.y / h.y, direction.z / h.z), low, high, count, length,
                   first);
        return;
    }
    for (int k = 0; k < count; k++)
        length[k] = und_shape_line(shape, und_add(origin, und_mul(step, k)), direction, low, high, &first[k]);
}

double und_shape_column(const und_shape *shape, double x, double z, double low, double high, double *bottom)
{
    return und_shape_line(shape, und_vec(x, 0, z), und_vec(0, 1, 0), low, high, bottom);
}
