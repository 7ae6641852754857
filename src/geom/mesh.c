#include "geom/mesh.h"

#include "base/maths.h"
#include "base/status.h"
#include "geom/isosurface.h"
#include "geom/trimesh.h"
#include "geom/voxels.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST = 24, CELLS = 48 };     /* chords around anything round; cells along what is cut out */
static const double OUTLINE = 0.002; /* how far outlines may be out, of half the longest extent */

/* Gathers triangles; with no room yet (position NULL) it only counts them, so that the same walk sizes the
 * array and fills it. */
typedef struct sink {
    long count;
    float *position;
    float *color; /* NULL: not wanted */
    bool colored; /* some part has colours */
} sink;

static void put_corner(float *to, und_vec3 p)
{
    to[0] = (float)p.x;
    to[1] = (float)p.y;
    to[2] = (float)p.z;
}

static void put_triangle(sink *out, und_vec3 a, und_vec3 b, und_vec3 c)
{
    if (out->position) {
        float *to = out->position + 9 * out->count;
        put_corner(to, a);
        put_corner(to + 3, b);
        put_corner(to + 6, c);
    }
    out->count++;
}

static void put_quad(sink *out, und_vec3 a, und_vec3 b, und_vec3 c, und_vec3 d)
{
    put_triangle(out, a, b, c);
    put_triangle(out, a, c, d);
}

/* How many chords go around a circle, so that its outline is out by at most OUTLINE of half the shape's
 * longest extent: what is as long as a ball is wide is seen as large, and needs no more detail across than
 * along. A multiple of 4, so that halves of it are halved by an equator. */
static int chords(double radius, double longest)
{
    double out = OUTLINE * longest / fmax(radius, 1e-3 * longest); /* of a radius: 1 - cos(pi / chords) */
    int count = out < 1 ? (int)ceil(M_PI / und_acos(1 - out)) : 0;
    return count < LEAST ? LEAST : (count + 3) / 4 * 4;
}

/* Rings of points on the unit sphere from the north pole, 0, to the south pole. */
typedef struct rings {
    int count, around;
    double ratio; /* of the ellipsoid's radius across to that along */
} rings;

/* A ring near a pole is shorter and less upright, and needs fewer steps: what its chords are out by, seen
 * along the surface, is sin^2 / (steps^2 hypot(sin, ratio cos)) of the equator's.  None at the poles. */
static int ring_steps(const rings *r, int ring)
{
    double polar = M_PI * ring / r->count, across = und_sin(polar);
    if (ring == 0 || ring == r->count)
        return 0;
    int steps = (int)ceil(r->around * across / sqrt(und_hypot(across, r->ratio * und_cos(polar))) - 1e-9);
    return steps < 6 ? 6 : steps;
}

static und_vec3 circle_point(int step, int steps)
{
    double turn = 2 * M_PI * (step % steps) / steps;
    return und_vec(und_sin(turn), 0, und_cos(turn));
}

static und_vec3 sphere_point(const rings *r, int ring, int step)
{
    double polar = M_PI * ring / r->count;
    int steps = ring_steps(r, ring);
    if (steps == 0)
        return und_vec(0, ring == 0 ? 1 : -1, 0);
    und_vec3 p = und_mul(circle_point(step, steps), und_sin(polar));
    p.y = und_cos(polar);
    return p;
}

/* An ellipsoid pulled apart along y by twice `stretch`, in axes (x, y, z): sphere, ellipsoid and capsule. */
typedef struct frame3 {
    und_vec3 center, x, y, z;
    double stretch;
} frame3;

static und_vec3 on_frame(const frame3 *f, und_vec3 p, double lift)
{
    und_vec3 flat = und_add(und_mul(f->x, p.x), und_mul(f->z, p.z));
    und_vec3 up = und_add(und_mul(f->y, p.y), und_mul(und_unit(f->y), lift));
    return und_add(f->center, und_add(flat, up));
}

/* The strip between a ring and the next: each triangle goes one step on along one of the two, so that the
 * edge across is the shorter. */
static void put_strip(sink *out, const frame3 *f, const rings *r, int ring, double lift)
{
    int above = ring_steps(r, ring), below = ring_steps(r, ring + 1);
    for (int i = 0, j = 0; i < above || j < below;) {
        und_vec3 a = on_frame(f, sphere_point(r, ring, i), lift),
                 b = on_frame(f, sphere_point(r, ring + 1, j), lift);
        bool is_above = j == below || (i < above && (2 * i + 1) * below <= (2 * j + 1) * above);
        und_vec3 c = is_above ? sphere_point(r, ring, ++i) : sphere_point(r, ring + 1, ++j);
        put_triangle(out, a, b, on_frame(f, c, lift));
    }
}

static void put_round(sink *out, const frame3 *f)
{
    double across = fmax(und_length(f->x), und_length(f->z)), along = und_length(f->y);
    double longest = fmax(across, along + f->stretch);
    const rings r = {.count = chords(fmax(across, along), longest) / 2,
                     .around = chords(across, longest),
                     .ratio = along > 0 ? across / along : 1};
    for (int ring = 0; ring < r.count; ring++)
        put_strip(out, f, &r, ring, ring < r.count / 2 ? f->stretch : -f->stretch);
    for (int step = 0; step < r.around && f->stretch > 0; step++) {
        und_vec3 p = sphere_point(&r, r.count / 2, step), q = sphere_point(&r, r.count / 2, step + 1);
        put_quad(out, on_frame(f, p, f->stretch), on_frame(f, p, -f->stretch), on_frame(f, q, -f->stretch),
                 on_frame(f, q, f->stretch));
    }
}

static frame3 round_frame(const und_shape *s)
{
    double r = s->radius;
    frame3 f = {.center = s->center, .x = {r, 0, 0}, .y = {0, r, 0}, .z = {0, 0, r}};
    if (s->kind == UND_ELLIPSOID) { /* its poles at the ends of the longest axis */
        und_vec3 h = s->half, x = {h.x, 0, 0}, y = {0, h.y, 0}, z = {0, 0, h.z};
        f.x = h.y >= h.x && h.y >= h.z ? x : h.x >= h.z ? z : y;
        f.y = h.y >= h.x && h.y >= h.z ? y : h.x >= h.z ? x : z;
        f.z = h.y >= h.x && h.y >= h.z ? z : h.x >= h.z ? y : x;
    }
    if (s->kind == UND_CAPSULE && und_length(s->half) > 0) {
        und_vec3 axis = und_unit(s->half);
        und_vec3 aside = fabs(axis.y) < 0.9 ? und_vec(0, 1, 0) : und_vec(0, 0, 1);
        und_vec3 x = und_unit(und_cross(axis, aside));
        f.x = und_mul(x, r);
        f.y = und_mul(axis, r);
        f.z = und_mul(und_cross(x, axis), r);
        f.stretch = und_length(s->half);
    }
    return f;
}

static void put_box(sink *out, const und_shape *s)
{
    und_vec3 corner[8];
    for (int i = 0; i < 8; i++) {
        und_vec3 side = und_vec(i & 1 ? s->half.x : -s->half.x, i & 2 ? s->half.y : -s->half.y,
                                i & 4 ? s->half.z : -s->half.z);
        corner[i] = und_add(s->center, side);
    }
    static const int face[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                   {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    for (int i = 0; i < 6; i++)
        put_quad(out, corner[face[i][0]], corner[face[i][1]], corner[face[i][2]], corner[face[i][3]]);
}

static void put_cylinder(sink *out, const und_shape *s)
{
    und_vec3 up = und_vec(0, s->half.y, 0);
    und_vec3 top = und_add(s->center, up), bottom = und_sub(s->center, up);
    int steps = chords(s->radius, fmax(s->radius, s->half.y));
    for (int step = 0; step < steps; step++) {
        und_vec3 p = und_mul(circle_point(step, steps), s->radius);
        und_vec3 q = und_mul(circle_point(step + 1, steps), s->radius);
        put_triangle(out, top, und_add(top, p), und_add(top, q));
        put_triangle(out, bottom, und_add(bottom, q), und_add(bottom, p));
        put_quad(out, und_add(top, p), und_add(bottom, p), und_add(bottom, q), und_add(top, q));
    }
}

static void put_mesh(sink *out, const und_shape *s)
{
    for (int i = 0; i < und_trimesh_count(s->mesh); i++) {
        und_vec3 p[3];
        for (int k = 0; k < 3; k++) {
            const float *color = und_trimesh_color(s->mesh, i, k);
            p[k] = und_add(s->center, und_trimesh_corner(s->mesh, i, k));
            out->colored |= color != NULL;
            if (out->color && color)
                memcpy(out->color + 9 * out->count + 3 * k, color, 3 * sizeof *color);
        }
        put_triangle(out, p[0], p[1], p[2]);
    }
}

typedef struct moved_sink {
    sink *out;
    und_vec3 by;
} moved_sink;

static void put_face(void *context, const und_vec3 corner[4])
{
    const moved_sink *to = context;
    put_quad(to->out, und_add(corner[0], to->by), und_add(corner[1], to->by), und_add(corner[2], to->by),
             und_add(corner[3], to->by));
}

/* The distance at all points, [nz][ny][nx]. */
static void sample_distance(const und_lattice *l, const und_shape *s, float *field)
{
    for (int z = 0; z < l->n[2]; z++)
        for (int y = 0; y < l->n[1]; y++)
            for (int x = 0; x < l->n[0]; x++) {
                und_vec3 p = {l->origin[0] + x * l->d[0], l->origin[1] + y * l->d[1],
                              l->origin[2] + z * l->d[2]};
                *field++ = (float)und_shape_distance(s, p);
            }
}

/* A volume, or what is cut out of other shapes: from the distance, on a lattice that reaches past the bounds.
 */
static und_status put_cut(sink *out, const und_shape *s, und_error *err)
{
    und_bounds b = und_shape_bounds(s);
    und_vec3 size = und_sub(b.high, b.low);
    double longest = fmax(size.x, fmax(size.y, size.z)), cell = longest / CELLS;
    if (!isfinite(longest))
        return und_error_set(err, UND_INVALID, "a shape without end cannot be drawn");
    if (!(size.x > 0 && size.y > 0 && size.z > 0))
        return UND_OK; /* empty */
    const und_lattice l = {
        .n = {(int)ceil(size.x / cell) + 3, (int)ceil(size.y / cell) + 3, (int)ceil(size.z / cell) + 3},
        .d = {cell, cell, cell},
        .origin = {b.low.x - 0.99 * cell, b.low.y - 0.99 * cell, b.low.z - 0.99 * cell}};
    und_isosurface surface = {0};
    float *field = und_alloc(und_lattice_count(&l), sizeof *field, "a shape's distances", err);
    if (!field)
        return UND_FAILED;
    sample_distance(&l, s, field);
    und_status status = und_isosurface_make(&l, field, 1, &surface, err);
    for (int i = 0; status == UND_OK && i < surface.triangle_count; i++) {
        const float *p = surface.position + 9 * (size_t)i;
        if (out->position)
            memcpy(out->position + 9 * out->count, p, 9 * sizeof *p);
        out->count++;
    }
    free(field);
    und_isosurface_free(&surface);
    return status;
}

static und_status put_shape(sink *out, const und_shape *s, und_error *err)
{
    frame3 f;
    und_status status = UND_OK;
    switch (s->kind) {
    case UND_SPHERE:
    case UND_CAPSULE:
    case UND_ELLIPSOID:
        f = round_frame(s);
        put_round(out, &f);
        break;
    case UND_BOX:
        put_box(out, s);
        break;
    case UND_CYLINDER:
        put_cylinder(out, s);
        break;
    case UND_PLANE:
        break;
    case UND_MESH:
        put_mesh(out, s);
        break;
    case UND_VOXELS:
        status = und_voxels_faces(s->voxels, put_face, &(moved_sink){out, s->center}, err);
        break;
    case UND_UNION:
        for (int i = 0; i < s->child_count && status == UND_OK; i++)
            status = put_shape(out, s->children[i], err);
        break;
    case UND_VOLUME:
    case UND_INTERSECTION:
    case UND_DIFFERENCE:
        status = put_cut(out, s, err);
        break;
    }
    if (status == UND_OK && out->count > UND_SOUP_MAX)
        status = und_error_set(err, UND_INVALID, "a shape has too many parts to draw");
    return status;
}

und_status und_shape_mesh(const und_shape *shape, und_soup *soup, und_error *err)
{
    sink out = {0};
    *soup = (und_soup){0};
    und_status status = put_shape(&out, shape, err);
    if (status != UND_OK)
        return status;
    size_t numbers = 9 * (size_t)out.count;
    soup->position = und_alloc(numbers, sizeof(float), "a shape's triangles", err);
    if (out.colored)
        soup->color = und_alloc(numbers, sizeof(float), "a shape's triangles", err);
    if (!soup->position || (out.colored && !soup->color)) {
        und_soup_destroy(soup);
        return UND_FAILED;
    }
    for (size_t i = 0; i < numbers && soup->color; i++)
        soup->color[i] = -1;
    soup->triangle_count = (int)out.count;
    out = (sink){.position = soup->position, .color = soup->color};
    return put_shape(&out, shape, err);
}

void und_soup_destroy(und_soup *soup)
{
    free(soup->position);
    free(soup->color);
    *soup = (und_soup){0};
}

void und_soup_paint(const und_soup *soup, const float color[3], float *out)
{
    static const float dark_red[3] = {0.55F, 0.12F, 0.08F};
    for (int i = 0; i < 3 * soup->triangle_count; i++, out += 3) {
        const float *own = soup->color && soup->color[3 * i] >= 0 ? soup->color + 3 * i : dark_red;
        memcpy(out, color[0] >= 0 ? color : own, 3 * sizeof *out);
    }
}
