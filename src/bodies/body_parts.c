/* How bodies, the ground and the walls collide: made once, at create. */
#include "base/status.h"
#include "bodies/state.h"

#include <stdlib.h>
#include <string.h>

/* The turn that takes the z axis, which is that of the engine's long shapes, to an axis. */
static und_quat turn_to(und_vec3 axis)
{
    und_vec3 to = und_unit(axis);
    if (to.z < -1 + 1e-12)
        return (und_quat){.x = 1};
    und_vec3 c = und_cross(und_vec(0, 0, 1), to);
    double w = 1 + to.z, length = sqrt(w * w + und_dot(c, c));
    return (und_quat){w / length, c.x / length, c.y / length, c.z / length};
}

/* A simple shape with its skin. */
static und_collider *geom_of(const und_shape *s, double skin, und_quat *turn)
{
    double r = s->radius + skin;
    und_vec3 h = s->half;
    *turn = (und_quat){.w = 1};
    switch (s->kind) {
    case UND_SPHERE:
        return und_collide_sphere(r);
    case UND_BOX:
        return und_collide_box(und_vec(2 * (h.x + skin), 2 * (h.y + skin), 2 * (h.z + skin)));
    case UND_CYLINDER:
        *turn = turn_to(und_vec(0, 1, 0));
        return und_collide_cylinder(r, 2 * (h.y + skin));
    case UND_CAPSULE:
        if (und_length(h) <= 0)
            return und_collide_sphere(r);
        *turn = turn_to(h);
        return und_collide_capsule(r, 2 * und_length(h));
    default:
        return NULL;
    }
}

enum { BOXES = 10 }; /* along each axis: one place at most on the surface in each */

typedef struct thinning {
    und_vec3 low;
    double cell;
    und_vec3 middle;
    int count, slot[BOXES * BOXES * BOXES];
    und_vec3 points[BOXES * BOXES * BOXES];
} thinning;

static int box_of(double p, double low, double cell)
{
    return (int)fmin(fmax((p - low) / cell, 0), BOXES - 1);
}

/* Keeps the place farthest out of each box, so that corners stay. */
static void keep(thinning *t, und_vec3 p)
{
    int box = box_of(p.x, t->low.x, t->cell) +
              BOXES * (box_of(p.y, t->low.y, t->cell) + BOXES * box_of(p.z, t->low.z, t->cell));
    if (t->slot[box] < 0) {
        t->slot[box] = t->count;
        t->points[t->count++] = p;
    }
    und_vec3 *had = &t->points[t->slot[box]];
    if (und_length(und_sub(p, t->middle)) > und_length(und_sub(*had, t->middle)))
        *had = p;
}

static void keep_triangle(thinning *t, const float *corner)
{
    und_vec3 a = und_vec(corner[0], corner[1], corner[2]);
    und_vec3 ab = und_sub(und_vec(corner[3], corner[4], corner[5]), a);
    und_vec3 ac = und_sub(und_vec(corner[6], corner[7], corner[8]), a);
    double longest = fmax(und_length(ab), und_length(ac));
    int n = 1;
    while (n < 2 * BOXES && n * t->cell < longest)
        n++;
    for (int i = 0; i <= n; i++)
        for (int j = 0; i + j <= n; j++)
            keep(t, und_add(a, und_add(und_mul(ab, (double)i / n), und_mul(ac, (double)j / n))));
}

static und_status find_points(und_body_part *part, und_error *err)
{
    und_soup soup;
    und_status status = und_shape_mesh(part->shape, &soup, err);
    if (status != UND_OK)
        return status;
    thinning *t = und_alloc(1, sizeof *t, "places on a body", err);
    if (!t) {
        und_soup_destroy(&soup);
        return err->status;
    }
    und_bounds b = und_shape_bounds(part->shape);
    und_vec3 size = und_sub(b.high, b.low);
    t->low = b.low;
    t->cell = fmax(size.x, fmax(size.y, size.z)) / BOXES;
    t->middle = und_mul(und_add(b.low, b.high), 0.5);
    memset(t->slot, -1, sizeof t->slot);
    for (int i = 0; i < soup.triangle_count; i++)
        keep_triangle(t, soup.position + 9 * (size_t)i);
    for (int i = 0; i < 8 && t->count < 8;
         i++) /* too thin for its triangles: it still must not fall through */
        keep(t, und_vec(i & 1 ? b.high.x : b.low.x, i & 2 ? b.high.y : b.low.y, i & 4 ? b.high.z : b.low.z));
    part->points = und_alloc((size_t)t->count + 1, sizeof *part->points, "places on a body", err);
    if (part->points) {
        memcpy(part->points, t->points, (size_t)t->count * sizeof *part->points);
        part->point_count = t->count;
        part->center = t->middle;
        for (int i = 0; i < t->count; i++)
            part->reach = fmax(part->reach, 1.02 * und_length(und_sub(t->points[i], t->middle)));
    }
    free(t);
    und_soup_destroy(&soup);
    return part->points ? UND_OK : err->status;
}

static int leaf_count(const und_shape *s)
{
    int count = 0;
    if (s->kind != UND_UNION)
        return 1;
    for (int i = 0; i < s->child_count; i++)
        count += leaf_count(s->children[i]);
    return count;
}

static und_status add_parts(und_body *body, const und_shape *s, und_error *err)
{
    und_status status = UND_OK;
    if (s->kind == UND_UNION) {
        for (int i = 0; i < s->child_count && status == UND_OK; i++)
            status = add_parts(body, s->children[i], err);
        return status;
    }
    und_body_part *part = &body->parts[body->part_count++];
    part->shape = s;
    part->geom = geom_of(s, body->skin, &part->turn);
    return find_points(part, err);
}

und_status und_body_parts_create(und_body *body, und_error *err)
{
    body->parts =
        und_alloc((size_t)leaf_count(body->def->shape), sizeof *body->parts, "the parts of a body", err);
    return body->parts ? add_parts(body, body->def->shape, err) : err->status;
}

void und_body_parts_destroy(und_body *body)
{
    for (int i = 0; i < body->part_count; i++) {
        und_collide_free(body->parts[i].geom);
        free(body->parts[i].points);
    }
    free(body->parts);
}

static void add_plane(und_bodies *s, und_vec3 normal, double offset)
{
    double *p = s->plane[s->plane_count];
    und_to(p, normal);
    p[3] = offset;
    s->plane_geom[s->plane_count++] = und_collide_plane(p);
}

/* The ground's plane is the first. */
static void add_ground_plane(und_bodies *s, double height)
{
    add_plane(s, und_vec(0, 1, 0), height);
    int last = s->plane_count - 1;
    double plane[4];
    und_collider *geom = s->plane_geom[last];
    memcpy(plane, s->plane[last], sizeof plane);
    memmove(s->plane + 1, s->plane, (size_t)last * sizeof *s->plane);
    memmove(s->plane_geom + 1, s->plane_geom, (size_t)last * sizeof *s->plane_geom);
    memcpy(s->plane[0], plane, sizeof plane);
    s->plane_geom[0] = geom;
    s->flat = true;
}

static void remove_ground_plane(und_bodies *s)
{
    und_collide_free(s->plane_geom[0]);
    s->plane_count--;
    memmove(s->plane, s->plane + 1, (size_t)s->plane_count * sizeof *s->plane);
    memmove(s->plane_geom, s->plane_geom + 1, (size_t)s->plane_count * sizeof *s->plane_geom);
    s->flat = false;
}

und_status und_bodies_set_ground(und_bodies *s, const float *ground, und_error *err)
{
    const und_bodies_world *w = &s->world;
    size_t n = (size_t)w->nx * (size_t)w->nz;
    float low = INFINITY, high = -INFINITY;
    if (!s->ground)
        s->ground = und_alloc(n, sizeof *s->ground, "the ground under bodies", err);
    if (!s->ground)
        return err->status;
    for (int z = 0; z < w->nz; z++)
        for (int x = 0; x < w->nx; x++) {
            float y = ground[(size_t)z * (size_t)w->stride + (size_t)x];
            if (!isfinite(y))
                return und_error_set(err, UND_INVALID,
                                     "the ground under bodies has a height that is not finite");
            s->ground[(size_t)z * (size_t)w->nx + (size_t)x] = y;
            low = fminf(low, y);
            high = fmaxf(high, y);
        }
    s->ground_top = (double)high;
    if (s->flat)
        remove_ground_plane(s);
    if (low == high) { /* a plane, which gives the best contacts */
        free(s->ground);
        s->ground = NULL;
        add_ground_plane(s, (double)high);
    }
    return UND_OK;
}

bool und_ground_create(und_bodies *s, const und_bodies_world *w, und_error *err)
{
    bool has_edges =
        w->ground || w->wall[UND_LOW_X] || w->wall[UND_HIGH_X] || w->wall[UND_LOW_Z] || w->wall[UND_HIGH_Z];
    if (!isfinite(w->gravity) ||
        (has_edges && !(w->nx > 0 && w->nz > 0 && w->dx > 0 && isfinite(w->dx + w->dz) &&
                        isfinite(w->origin[0]) && isfinite(w->origin[1])))) {
        und_error_set(err, UND_INVALID, "bodies: the world's gravity, size or place is not finite");
        return false;
    }
    s->world = *w;
    s->world.ground = NULL; /* read once */
    s->box_geom = und_collide_box(und_vec(1, 1, 1));
    if (w->ground && und_bodies_set_ground(s, w->ground, err) != UND_OK)
        return false;
    double x0 = w->origin[0], x1 = x0 + w->nx * w->dx, z0 = w->origin[1], z1 = z0 + w->nz * und_world_dz(w);
    if (w->wall[UND_LOW_X])
        add_plane(s, und_vec(1, 0, 0), x0);
    if (w->wall[UND_HIGH_X])
        add_plane(s, und_vec(-1, 0, 0), -x1);
    if (w->wall[UND_LOW_Z] && w->nz > 1) /* a curve has no width */
        add_plane(s, und_vec(0, 0, 1), z0);
    if (w->wall[UND_HIGH_Z] && w->nz > 1)
        add_plane(s, und_vec(0, 0, -1), -z1);
    return true;
}

void und_ground_destroy(und_bodies *s)
{
    und_collide_free(s->box_geom);
    for (int i = 0; i < s->plane_count; i++)
        und_collide_free(s->plane_geom[i]);
    free(s->ground);
}

static int sample_near(double place, double origin, double dx, int n)
{
    return (int)fmin(fmax((place - origin) / dx - 0.5, 0), n - 1);
}

double und_ground_top(const und_bodies *s, double x, double z, double reach)
{
    enum { WORTH = 1024 }; /* samples: to look at more would take longer than it saves */
    const und_bodies_world *w = &s->world;
    int x0 = sample_near(x - reach, w->origin[0], w->dx, w->nx);
    int x1 = sample_near(x + reach + w->dx, w->origin[0], w->dx, w->nx);
    int z0 = sample_near(z - reach, w->origin[1], und_world_dz(w), w->nz);
    int z1 = sample_near(z + reach + und_world_dz(w), w->origin[1], und_world_dz(w), w->nz);
    if ((long)(x1 - x0 + 1) * (z1 - z0 + 1) > WORTH)
        return s->ground_top;
    float top = -INFINITY;
    for (int j = z0; j <= z1; j++)
        for (int i = x0; i <= x1; i++)
            top = fmaxf(top, s->ground[(size_t)j * (size_t)w->nx + (size_t)i]);
    return (double)top;
}

/* Between samples linearly in x and z; beyond the edges as at the edge. */
double und_ground_at(const und_bodies *s, double x, double z, und_vec3 *normal)
{
    const und_bodies_world *w = &s->world;
    double u = fmin(fmax((x - w->origin[0]) / w->dx - 0.5, 0), w->nx - 1);
    double v = fmin(fmax((z - w->origin[1]) / und_world_dz(w) - 0.5, 0), w->nz - 1);
    int i = (int)fmin(u, fmax(w->nx - 2, 0)), j = (int)fmin(v, fmax(w->nz - 2, 0));
    int right = w->nx > 1, up = w->nz > 1 ? w->nx : 0;
    const float *g = s->ground + (size_t)j * (size_t)w->nx + (size_t)i;
    double a = (double)g[0], b = (double)g[right], c = (double)g[up], d = (double)g[up + right];
    u -= i;
    v -= j;
    double du = (1 - v) * (b - a) + v * (d - c), dv = (1 - u) * (c - a) + u * (d - b);
    *normal = und_unit(und_vec(-du / w->dx, 1, -dv / und_world_dz(w)));
    return (1 - v) * (a + u * (b - a)) + v * (c + u * (d - c));
}
