/* What frames hold of the solids. */
#include "flow/solids_parts.h"

#include "base/pages.h"
#include "base/status.h"
#include "geom/isosurface.h"
#include "geom/mesh.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_OF_A_LATTICE = 96, MOST_IN_ALL = 1 << 24 };
static const double CREASE = 0.5;  /* cosine: a corner further off the triangle's normal has that */
static const double UPWARD = 0.05; /* of a container only what looks up is drawn: the rest would hide it */

static und_vec3 corner_at(const float *p)
{
    return und_vec((double)p[0], (double)p[1], (double)p[2]);
}

static void put(float *to, und_vec3 v)
{
    to[0] = (float)v.x;
    to[1] = (float)v.y;
    to[2] = (float)v.z;
}

static double shape_distance(const void *context, und_vec3 p)
{
    return und_shape_distance(context, p);
}

/* Smooth where the shape is; NULL: triangles of no shape. */
static void find_normals(const und_shape *shape, und_solid_skin *skin)
{
    bool faceted = !shape || shape->kind == UND_MESH || shape->kind == UND_VOXELS || shape->kind == UND_UNION;
    und_bounds b = faceted ? (und_bounds){0} : und_shape_bounds(shape);
    double small = 1e-4 * und_length(und_sub(b.high, b.low));
    for (size_t i = 0; i + 2 < skin->corners; i += 3) {
        und_vec3 p[3];
        for (int k = 0; k < 3; k++)
            p[k] = corner_at(skin->position + 3 * (i + (size_t)k));
        und_vec3 flat = und_unit(und_cross(und_sub(p[1], p[0]), und_sub(p[2], p[0])));
        for (int k = 0; k < 3; k++) {
            und_vec3 n = flat;
            if (!faceted)
                n = und_unit(und_solids_normal(shape_distance, shape, p[k], small, false));
            put(skin->normal + 3 * (i + (size_t)k), und_dot(n, flat) > CREASE ? n : flat);
        }
    }
}

/* Of a shape that ends nowhere: what the domain has of it. */
static und_status skin_in_domain(const und_solids *s, int solid, und_solid_skin *skin, und_error *err)
{
    const und_mac *m = &s->mac;
    const und_obstacle_def *def = &s->parts->defs[solid];
    und_isosurface surface = {0};
    und_lattice l = {{0}, {0}, {m->origin[0], m->origin[1], m->origin[2]}};
    const bool large = s->windowed && (double)m->whole[0] * m->whole[1] * m->whole[2] > MOST_IN_ALL;
    for (int a = 0; a < 3; a++) { /* a window's domain may be very large */
        int most = large && m->whole[a] > MOST_OF_A_LATTICE ? MOST_OF_A_LATTICE : m->whole[a];
        l.n[a] = most + 1;
        l.d[a] = most == m->whole[a] ? m->d[a] : m->d[a] * m->whole[a] / most;
    }
    float *field = und_pages_alloc(und_lattice_count(&l) * sizeof *field, "the surface of a solid", err);
    if (!field)
        return UND_FAILED;
    for (int z = 0; z < l.n[2]; z++)
        for (int y = 0; y < l.n[1]; y++)
            for (int x = 0; x < l.n[0]; x++) {
                und_vec3 p =
                    und_vec(l.origin[0] + x * l.d[0], l.origin[1] + y * l.d[1], l.origin[2] + z * l.d[2]);
                field[((size_t)z * (size_t)l.n[1] + (size_t)y) * (size_t)l.n[0] + (size_t)x] =
                    (float)und_shape_distance(def->shape, und_pose_local(&s->parts->state[solid].to, p));
            }
    und_status status = und_isosurface_make(&l, field, s->device.threads, &surface, err);
    und_pages_free(field);
    skin->corners = 3 * (size_t)surface.triangle_count;
    skin->position = surface.position;
    skin->normal = surface.normal;
    skin->in_world = true;
    return status;
}

static bool ends(const und_shape *shape)
{
    und_bounds b = und_shape_bounds(shape);
    return isfinite(und_length(und_sub(b.high, b.low)));
}

static und_status make_skin(const und_solids *s, int solid, double time, und_solid_skin *skin, und_error *err)
{
    const und_obstacle_def *def = &s->parts->defs[solid];
    und_soup soup = {0};
    und_solids_skin_free(skin);
    if (!def->sequence && !ends(def->shape))
        return skin_in_domain(s, solid, skin, err);
    und_status status = def->sequence ? und_sequence_soup(def->sequence, time, &soup, err)
                                      : und_shape_mesh(def->shape, &soup, err);
    if (status != UND_OK)
        return status;
    skin->corners = 3 * (size_t)soup.triangle_count;
    skin->position = soup.position;
    soup.position = NULL;
    und_soup_destroy(&soup);
    skin->normal = und_alloc(skin->corners + 1, 3 * sizeof *skin->normal, "the surface of a solid", err);
    if (!skin->normal)
        return UND_FAILED;
    find_normals(def->sequence ? NULL : def->shape, skin);
    return UND_OK;
}

void und_solids_take_skins(und_solids *s, und_solids *from)
{
    if (!s->parts || !from->parts || s->parts->skin || s->count != from->count)
        return;
    s->parts->skin = from->parts->skin;
    from->parts->skin = NULL;
}

void und_solids_skin_free(und_solid_skin *skin)
{
    free(skin->position);
    free(skin->normal);
    *skin = (und_solid_skin){0};
}

static und_status find_skins(const und_solids *s, double time, und_error *err)
{
    und_solids_parts *p = s->parts;
    if (!p->skin && !(p->skin = und_alloc((size_t)s->count, sizeof *p->skin, "the surfaces of solids", err)))
        return UND_FAILED;
    und_status status = UND_OK;
    for (int i = 0; i < s->count && status == UND_OK; i++)
        if (!p->skin[i].position || p->defs[i].sequence || (p->skin[i].in_world && p->ever_moves[i]))
            status = make_skin(s, i, time, &p->skin[i], err);
    return status;
}

static und_vec3 turned(const und_quat *q, const float *v)
{
    return und_quat_rotate(*q, corner_at(v));
}

/* Triangles of a solid that are drawn, posed; to == NULL: only counts them. */
static size_t put_skin(const und_solids *s, int solid, const und_pose *pose, float *position, float *normal)
{
    const und_solid_skin *skin = &s->parts->skin[solid];
    const und_pose rest = und_motion_at(NULL, 0);
    const bool turn_round = s->parts->defs[solid].inside_out;
    size_t count = 0;
    pose = skin->in_world ? &rest : pose;
    for (size_t i = 0; i + 2 < skin->corners; i += 3) {
        const float *n = skin->normal + 3 * i;
        double upward = turned(&pose->rotation, n).y + turned(&pose->rotation, n + 3).y +
                        turned(&pose->rotation, n + 6).y;
        if (turn_round && !(-upward / 3 > UPWARD))
            continue;
        for (size_t k = 0; k < 3 && position; k++) {
            size_t from = i + (turn_round ? 2 - k : k), to = 3 * (count + k);
            und_vec3 side = turned(&pose->rotation, skin->normal + 3 * from);
            put(position + to, und_pose_point(pose, corner_at(skin->position + 3 * from)));
            put(normal + to, turn_round ? und_mul(side, -1) : side);
        }
        count += 3;
    }
    return count;
}

static und_status add_distance(const und_solids *s, und_frame *frame, und_error *err)
{
    const und_mac *m = &s->mac;
    const und_item_def def = {.name = "solid/distance",
                              .unit = "m",
                              .kind = UND_FIELD,
                              .type = UND_F32,
                              .is_static = !s->parts->some_move && !s->windowed,
                              .rank = 3,
                              .dim = {(size_t)m->n[2], (size_t)m->n[1], (size_t)m->n[0]}};
    und_item *item = und_frame_add(frame, &def, err);
    if (!item)
        return UND_FAILED;
    float *out = item->data;
    const float scale = (float)m->d[0];
    for (int row = 0; row < und_mac_rows(m); row++, out += m->n[0])
        for (int x = 0; x < m->n[0]; x++)
            out[x] = scale * s->distance[und_mac_row(m, row) + (size_t)x];
    return UND_OK;
}

static und_status add_skins(const und_solids *s, double time, und_frame *frame, und_error *err)
{
    und_item_def def = {.name = "solid/mesh_position",
                        .unit = "m",
                        .kind = UND_PARTICLES,
                        .type = UND_F32,
                        .is_static = !s->parts->some_move,
                        .rank = 2,
                        .dim = {0, 3}};
    const und_item_def firsts = {.name = "solid/mesh_first",
                                 .unit = "1",
                                 .kind = UND_NUMBERS,
                                 .type = UND_I32,
                                 .is_static = !s->parts->some_move,
                                 .rank = 1,
                                 .dim = {(size_t)s->count + 1}};
    und_pose pose;
    und_item *item = und_frame_add(frame, &firsts, err);
    if (!item)
        return UND_FAILED;
    int32_t *first = item->data; /* corners of a solid begin here, and of the last end */
    for (int i = 0; i < s->count; i++) {
        pose = und_motion_at(s->parts->defs[i].motion, time);
        def.dim[0] += put_skin(s, i, &pose, NULL, NULL);
        first[i + 1] = (int32_t)def.dim[0];
    }
    if (def.dim[0] == 0)
        return UND_OK;
    item = und_frame_add(frame, &def, err);
    float *position = item ? item->data : NULL;
    def.name = "solid/mesh_normal";
    def.unit = "1";
    item = item ? und_frame_add(frame, &def, err) : NULL;
    if (!item)
        return UND_FAILED;
    float *normal = item->data;
    for (int i = 0; i < s->count; i++) {
        pose = und_motion_at(s->parts->defs[i].motion, time);
        size_t count = 3 * put_skin(s, i, &pose, position, normal);
        position += count;
        normal += count;
    }
    return UND_OK;
}

/* How solids move, where some do: a point of each, m, its velocity, m/s, and the spin, rad/s. */
static und_status add_motion(const und_solids *s, double time, und_frame *frame, und_error *err)
{
    const und_item_def def = {.name = "solid/motion",
                              .unit = "1",
                              .kind = UND_BODIES,
                              .type = UND_F32,
                              .rank = 2,
                              .dim = {(size_t)s->count, 9}};
    if (!s->parts->some_move)
        return UND_OK;
    und_item *item = und_frame_add(frame, &def, err);
    for (int i = 0; i < s->count && item; i++) {
        const und_motion *motion = s->parts->defs[i].motion;
        float *out = (float *)item->data + 9 * (size_t)i;
        und_vec3 spin, velocity = und_motion_velocity(motion, time, &spin);
        put(out, und_motion_at(motion, time).position);
        put(out + 3, velocity);
        put(out + 6, spin);
    }
    return item ? UND_OK : UND_FAILED;
}

und_status und_solids_frame(const und_solids *s, double time, und_frame *frame, und_error *err)
{
    if (!s->any)
        return UND_OK;
    und_status status = add_distance(s, frame, err);
    if (status == UND_OK)
        status = find_skins(s, time, err);
    if (status == UND_OK)
        status = add_skins(s, time, frame, err);
    return status == UND_OK ? add_motion(s, time, frame, err) : status;
}
