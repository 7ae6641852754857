/* How thick the walls of solids are, along the normals of their surfaces. */
#include "flow/solids_parts.h"

#include "geom/trimesh.h"

enum { LATTICE = 96, TRIANGLES = 20000, ROW = LATTICE + 2 };
enum { PROBES = 1 << 15 }; /* cells that a slice of them is worth */

typedef struct wall {
    const und_solids *solids;
    const und_obstacle_def *def;
    double cell; /* m */
    bool flat;
    und_quat turn; /* from its own axes to the world's, at the start */
} wall;

/* The thinnest place of some part of a solid. */
typedef struct thinnest {
    double thickness; /* m */
    und_vec3 place;   /* in the solid's own coordinates */
} thinnest;

static thinnest thinner(thinnest a, thinnest b)
{
    return b.thickness < a.thickness ? b : a;
}

static double shape_distance(const void *context, und_vec3 p)
{
    return und_shape_distance(context, p);
}

/* The first solid stretch of a line that begins outside, near the surface. */
static thinnest probe(const wall *w, und_vec3 from, und_vec3 along)
{
    const thinnest none = {INFINITY, from};
    const double far = (UND_SOLIDS_THICK + 1) * w->cell;
    if (w->flat && fabs(und_quat_rotate(w->turn, along).z) > 0.5)
        return none; /* through the plane of a two-dimensional liquid */
    double in, out;
    if (!und_shape_stretch(w->def->shape, from, along, 0, far, !w->def->inside_out, 1e-9 * w->cell, &in,
                           &out))
        return none;
    und_vec3 middle = und_add(from, und_mul(along, 0.5 * (in + out)));
    return out - in < UND_SOLIDS_THICK * w->cell ? (thinnest){out - in, middle} : none;
}

/* From points of a row of a lattice that are near the surface. */
static thinnest probe_row(const wall *w, und_vec3 start, double spacing, int count)
{
    double distance[ROW], sign = w->def->inside_out ? -1 : 1;
    thinnest best = {INFINITY, start};
    und_shape_distances(w->def->shape, start, und_vec(spacing, 0, 0), 0, count, distance);
    for (int k = 0; k < count; k++) {
        if (!(fabs(distance[k]) < spacing))
            continue;
        und_vec3 p = und_add(start, und_vec(k * spacing, 0, 0));
        und_vec3 n = und_unit(und_solids_normal(shape_distance, w->def->shape, p, 1e-5 * w->cell, false));
        und_vec3 outside = und_add(p, und_mul(n, sign * 0.25 * w->cell - distance[k]));
        best = thinner(best, probe(w, outside, und_mul(n, -sign)));
    }
    return best;
}

/* The shape's bounds, or the domain's as the solid sees them where it has none. */
static und_bounds region(const und_solids *s, int solid)
{
    const und_mac *m = &s->mac;
    const und_obstacle_def *def = &s->parts->defs[solid];
    und_bounds b = def->sequence ? und_sequence_bounds(def->sequence, -INFINITY, INFINITY)
                                 : und_shape_bounds(def->shape);
    if (isfinite(und_length(und_sub(b.high, b.low))))
        return b;
    b = (und_bounds){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    for (int k = 0; k < 8; k++) {
        und_vec3 p = und_vec(m->origin[0] + (k & 1 ? m->whole[0] * m->d[0] : 0),
                             m->origin[1] + (k & 2 ? m->whole[1] * m->d[1] : 0),
                             m->origin[2] + (k & 4 ? m->whole[2] * m->d[2] : 0));
        und_vec3 q = und_pose_local(&s->parts->state[solid].to, p);
        b.low = und_vec(fmin(b.low.x, q.x), fmin(b.low.y, q.y), fmin(b.low.z, q.z));
        b.high = und_vec(fmax(b.high.x, q.x), fmax(b.high.y, q.y), fmax(b.high.z, q.z));
    }
    return b;
}

static int points_along(double length, double spacing)
{
    return (int)fmin(ceil(length / spacing) + 1, ROW);
}

typedef struct lattice_args {
    const wall *w;
    und_vec3 low;
    double spacing;
    int nx, ny;
    thinnest *slice;
} lattice_args;

static inline void probe_slice(const lattice_args *a, und_place p)
{
    thinnest best = {INFINITY, a->low};
    for (int y = 0; y < a->ny; y++) {
        const und_vec3 start = und_add(a->low, und_vec(0, y * a->spacing, (double)p.at * a->spacing));
        best = thinner(best, probe_row(a->w, start, a->spacing, a->nx));
    }
    a->slice[p.at] = best;
}
UND_KERNEL(probe_slice, lattice_args, UND_EACH_BLOCK)

static thinnest probe_lattice(const wall *w, und_bounds b)
{
    und_vec3 size = und_sub(b.high, b.low);
    double spacing = fmax(w->cell, fmax(size.x, fmax(size.y, size.z)) / LATTICE);
    const int nx = points_along(size.x, spacing), ny = points_along(size.y, spacing),
              nz = points_along(size.z, spacing);
    thinnest slice[ROW], best = {INFINITY, b.low};
    const lattice_args args = {w, b.low, spacing, nx, ny, slice};
    const und_set slices = und_set_list(slice, nz, 1, PROBES);
    und_pass(&w->solids->device, probe_slice, &args, &slices);
    for (int z = 0; z < nz; z++)
        best = thinner(best, slice[z]);
    return best;
}

/* From the middles of triangles, which are many fewer than the points of a lattice, and cheap to know. */
static thinnest probe_mesh(const wall *w)
{
    const und_trimesh *mesh = w->def->shape->mesh;
    const double sign = w->def->inside_out ? -1 : 1;
    int count = und_trimesh_count(mesh), stride = count / TRIANGLES + 1;
    thinnest best = {INFINITY, w->def->shape->center};
    for (int i = 0; i < count; i += stride) {
        und_vec3 a = und_trimesh_corner(mesh, i, 0), b = und_trimesh_corner(mesh, i, 1),
                 c = und_trimesh_corner(mesh, i, 2);
        und_vec3 n = und_unit(und_cross(und_sub(b, a), und_sub(c, a)));
        und_vec3 p = und_add(und_mul(und_add(a, und_add(b, c)), 1.0 / 3), w->def->shape->center);
        und_vec3 outside = und_add(p, und_mul(n, sign * 1e-3 * w->cell));
        best = thinner(best, probe(w, outside, und_mul(n, -sign)));
    }
    return best;
}

static thinnest thinnest_of(const wall *w, und_bounds bounds)
{
    const und_shape *shape = w->def->shape;
    if (shape)
        return shape->kind == UND_MESH ? probe_mesh(w) : probe_lattice(w, bounds);
    return (thinnest){und_sequence_thickness(w->def->sequence),
                      und_mul(und_add(bounds.low, bounds.high), 0.5)};
}

static bool in_domain(const und_mac *m, und_vec3 p)
{
    const double q[3] = {p.x, p.y, p.z};
    for (int a = 0; a < 3; a++)
        if (!(q[a] >= m->origin[a] && q[a] <= m->origin[a] + m->whole[a] * m->d[a]))
            return false;
    return true;
}

static und_thin_wall audit_one(const und_solids *s, int solid, double start, double dt, int count)
{
    const und_obstacle_def *def = &s->parts->defs[solid];
    const und_bounds bounds = region(s, solid);
    const und_pose at_start = und_motion_at(def->motion, start);
    const wall w = {s, def, s->mac.d[0], s->mac.n[2] == 1, at_start.rotation};
    thinnest found = thinnest_of(&w, bounds);
    und_thin_wall out = {.solid = solid, .thickness = found.thickness / w.cell};
    und_vec3 place = und_pose_point(&at_start, found.place);
    bool seen = in_domain(&s->mac, place);
    for (int i = 0; i < count; i++) {
        und_pose pose = und_motion_at(def->motion, start + i * dt);
        und_vec3 then = und_pose_point(&pose, found.place);
        if (!seen && (seen = in_domain(&s->mac, then)))
            place = then;
        out.speed = fmax(out.speed, und_solids_speed_of(s, solid, start + i * dt));
    }
    out.place[0] = place.x;
    out.place[1] = place.y;
    out.place[2] = place.z;
    return out;
}

void und_solids_audit(und_solids *s, double start, double dt, int count, und_thin_wall *list)
{
    for (int i = 0; i < s->count; i++)
        list[i] = audit_one(s, i, start, dt, count);
}
