#include "geom/sequence.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "geom/mesh_band.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The triangles of one frame or of several that follow each other. */
typedef struct topology {
    int vertex_count, triangle_count;
    int (*triangle)[3];
    long open_edges;
} topology;

typedef struct mesh_frame {
    double time;
    int sheet;
    float (*vertex)[3]; /* from the sequence's middle */
    und_bounds bounds;
} mesh_frame;

struct und_sequence {
    double thickness;
    und_vec3 middle; /* of the first frame, so that floats suffice */
    int frame_count, frame_room, sheet_count;
    mesh_frame *frame;
    topology *sheet;
};

und_sequence *und_sequence_create(double thickness, und_error *err)
{
    if (!(thickness >= 0 && isfinite(thickness))) {
        und_error_set(err, UND_INVALID, "expected a thickness of 0 m or more, found %g", thickness);
        return NULL;
    }
    und_sequence *s = und_alloc(1, sizeof *s, "meshes in time", err);
    if (s)
        s->thickness = thickness;
    return s;
}

void und_sequence_destroy(und_sequence *sequence)
{
    if (!sequence)
        return;
    for (int i = 0; i < sequence->frame_count; i++)
        free(sequence->frame[i].vertex);
    for (int i = 0; i < sequence->sheet_count; i++)
        free(sequence->sheet[i].triangle);
    free(sequence->frame);
    free(sequence->sheet);
    free(sequence);
}

static bool make_room(und_sequence *s, und_error *err)
{
    if (s->frame_count < s->frame_room)
        return true;
    int room = s->frame_room > 0 ? 2 * s->frame_room : 16;
    mesh_frame *frame = realloc(s->frame, (size_t)room * sizeof *frame);
    s->frame = frame ? frame : s->frame;
    topology *sheets = realloc(s->sheet, (size_t)room * sizeof *sheets);
    s->sheet = sheets ? sheets : s->sheet;
    if (!frame || !sheets) {
        und_error_set(err, UND_FAILED, "out of memory: meshes in time");
        return false;
    }
    s->frame_room = room;
    return true;
}

static bool same_sheet(const topology *sheet, const und_trimesh_def *def)
{
    return sheet->vertex_count == def->vertex_count && sheet->triangle_count == def->triangle_count &&
           memcmp(sheet->triangle, def->triangle, (size_t)def->triangle_count * sizeof *def->triangle) == 0;
}

static und_status add_sheet(und_sequence *s, const und_trimesh_def *def, und_error *err)
{
    topology new = {.vertex_count = def->vertex_count, .triangle_count = def->triangle_count};
    if (s->thickness == 0) {
        und_trimesh *mesh = und_trimesh_create(def, err);
        if (!mesh)
            return err ? err->status : UND_INVALID;
        new.open_edges = und_trimesh_open_edges(mesh);
        und_trimesh_release(mesh);
    }
    new.triangle = und_alloc((size_t)def->triangle_count, sizeof *new.triangle, "meshes in time", err);
    if (!new.triangle)
        return UND_FAILED;
    memcpy(new.triangle, def->triangle, (size_t)def->triangle_count * sizeof *new.triangle);
    s->sheet[s->sheet_count++] = new;
    return UND_OK;
}

static und_bounds bounds_of(const und_trimesh_def *def)
{
    und_bounds box = {def->vertex[0], def->vertex[0]};
    for (int i = 1; i < def->vertex_count; i++) {
        und_vec3 v = def->vertex[i];
        box.low = und_vec(fmin(box.low.x, v.x), fmin(box.low.y, v.y), fmin(box.low.z, v.z));
        box.high = und_vec(fmax(box.high.x, v.x), fmax(box.high.y, v.y), fmax(box.high.z, v.z));
    }
    return box;
}

und_status und_sequence_add(und_sequence *s, const und_trimesh_def *def, double time, und_error *err)
{
    const mesh_frame *last = s->frame_count > 0 ? &s->frame[s->frame_count - 1] : NULL;
    if (!isfinite(time) || (last && !(time > last->time)))
        return und_error_set(err, UND_INVALID, "frame %d of a mesh is at %g s, not after the frame before it",
                             s->frame_count + 1, time);
    if (und_trimesh_check(def, err) != UND_OK)
        return UND_INVALID;
    if (!make_room(s, err))
        return UND_FAILED;
    if (s->sheet_count == 0 || !same_sheet(&s->sheet[s->sheet_count - 1], def)) {
        und_status status = add_sheet(s, def, err);
        if (status != UND_OK)
            return status;
    }
    mesh_frame new = {.time = time, .sheet = s->sheet_count - 1, .bounds = bounds_of(def)};
    if (s->frame_count == 0)
        s->middle = und_mul(und_add(new.bounds.low, new.bounds.high), 0.5);
    new.vertex = und_alloc((size_t)def->vertex_count, sizeof *new.vertex, "meshes in time", err);
    if (!new.vertex)
        return UND_FAILED;
    for (int i = 0; i < def->vertex_count; i++) {
        und_vec3 v = und_sub(def->vertex[i], s->middle);
        new.vertex[i][0] = (float)v.x;
        new.vertex[i][1] = (float)v.y;
        new.vertex[i][2] = (float)v.z;
    }
    s->frame[s->frame_count++] = new;
    return UND_OK;
}

size_t und_sequence_bytes(const und_sequence *sequence)
{
    size_t bytes = sizeof *sequence;
    for (int i = 0; i < sequence->frame_count; i++)
        bytes += sizeof *sequence->frame + (size_t)sequence->sheet[sequence->frame[i].sheet].vertex_count *
                                               sizeof *sequence->frame->vertex;
    for (int i = 0; i < sequence->sheet_count; i++)
        bytes += sizeof *sequence->sheet +
                 (size_t)sequence->sheet[i].triangle_count * sizeof *sequence->sheet->triangle;
    return bytes;
}

long und_sequence_open_edges(const und_sequence *sequence)
{
    for (int i = 0; i < sequence->sheet_count; i++)
        if (sequence->sheet[i].open_edges > 0)
            return sequence->sheet[i].open_edges;
    return 0;
}

/* What the mesh is made of at a time: part 1 - s of a frame and part s of the next. */
typedef struct between {
    const mesh_frame *a, *b; /* the same where it rests */
    double s, rate;          /* rate: 1/s, of s */
} between;

static between find_frames(const und_sequence *q, double time)
{
    assert(q->frame_count > 0);
    const mesh_frame *frame = q->frame, *last = &frame[q->frame_count - 1];
    if (!(time > frame[0].time))
        return (between){frame, frame, 0, 0};
    if (time > last->time)
        return (between){last, last, 0, 0};
    int low = 0, high = q->frame_count - 1; /* frame[low].time < time <= frame[high].time */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (frame[middle].time < time)
            low = middle;
        else
            high = middle;
    }
    const mesh_frame *a = &frame[low], *b = &frame[high];
    if (a->sheet != b->sheet) {
        const mesh_frame *rest = time < b->time ? a : b;
        return (between){rest, rest, 0, 0};
    }
    double span = b->time - a->time;
    return (between){a, b, (time - a->time) / span, 1 / span};
}

static und_bounds join(und_bounds a, und_bounds b)
{
    return (und_bounds){
        und_vec(fmin(a.low.x, b.low.x), fmin(a.low.y, b.low.y), fmin(a.low.z, b.low.z)),
        und_vec(fmax(a.high.x, b.high.x), fmax(a.high.y, b.high.y), fmax(a.high.z, b.high.z))};
}

/* Between two frames no vertex leaves the box around both. */
und_bounds und_sequence_bounds(const und_sequence *sequence, double low_time, double high_time)
{
    between first = find_frames(sequence, low_time), last = find_frames(sequence, high_time);
    und_bounds box = join(first.a->bounds, first.b->bounds);
    for (const mesh_frame *f = first.b; f <= last.b; f++)
        box = join(box, f->bounds);
    double half = 0.5 * sequence->thickness;
    und_vec3 pad = und_vec(half, half, half);
    return (und_bounds){und_sub(box.low, pad), und_add(box.high, pad)};
}

static und_vec3 vertex_velocity(const between *m, int i)
{
    const float *a = m->a->vertex[i], *b = m->b->vertex[i];
    return und_mul(und_vec((double)b[0] - a[0], (double)b[1] - a[1], (double)b[2] - a[2]), m->rate);
}

double und_sequence_speed(const und_sequence *sequence, double time)
{
    between m = find_frames(sequence, time);
    double fastest = 0;
    for (int i = 0; i < sequence->sheet[m.a->sheet].vertex_count; i++)
        fastest = fmax(fastest, und_length(vertex_velocity(&m, i)));
    return fastest;
}

double und_sequence_thickness(const und_sequence *sequence)
{
    return sequence->thickness;
}

double und_sequence_clock(const und_sequence *sequence, double time)
{
    return fmin(fmax(time, sequence->frame[0].time), sequence->frame[sequence->frame_count - 1].time);
}

static und_vec3 vertex_at(const und_sequence *q, const between *m, int i)
{
    const float *a = m->a->vertex[i], *b = m->b->vertex[i];
    und_vec3 v = und_vec(a[0] + m->s * ((double)b[0] - a[0]), a[1] + m->s * ((double)b[1] - a[1]),
                         a[2] + m->s * ((double)b[2] - a[2]));
    return und_add(q->middle, v);
}

und_trimesh *und_sequence_mesh(const und_sequence *sequence, double time, und_error *err)
{
    between m = find_frames(sequence, time);
    const topology *sheet = &sequence->sheet[m.a->sheet];
    und_vec3 *vertex = und_alloc((size_t)sheet->vertex_count, sizeof *vertex, "a mesh in time", err);
    if (!vertex)
        return NULL;
    for (int i = 0; i < sheet->vertex_count; i++)
        vertex[i] = vertex_at(sequence, &m, i);
    und_trimesh *mesh = und_trimesh_create(&(und_trimesh_def){.vertex_count = sheet->vertex_count,
                                                              .triangle_count = sheet->triangle_count,
                                                              .vertex = vertex,
                                                              .triangle = sheet->triangle},
                                           err);
    free(vertex);
    return mesh;
}

und_status und_sequence_soup(const und_sequence *sequence, double time, und_soup *soup, und_error *err)
{
    between m = find_frames(sequence, time);
    const topology *sheet = &sequence->sheet[m.a->sheet];
    *soup = (und_soup){.triangle_count = sheet->triangle_count};
    soup->position =
        und_alloc((size_t)sheet->triangle_count, 9 * sizeof *soup->position, "a mesh in time", err);
    if (!soup->position)
        return UND_FAILED;
    for (int i = 0; i < sheet->triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            und_vec3 v = vertex_at(sequence, &m, sheet->triangle[i][k]);
            float *to = soup->position + 9 * (size_t)i + 3 * (size_t)k;
            to[0] = (float)v.x;
            to[1] = (float)v.y;
            to[2] = (float)v.z;
        }
    return UND_OK;
}

/* Vertices where the pose puts them, in the lattice's units. */
static void place_vertices(const und_sequence *q, const between *m, const und_pose *pose,
                           const und_lattice *lattice, double (*place)[3])
{
    double scale = 1 / lattice->d[0];
    for (int i = 0; i < q->sheet[m->a->sheet].vertex_count; i++) {
        und_vec3 v = und_pose_point(pose, vertex_at(q, m, i));
        place[i][0] = (v.x - lattice->origin[0]) * scale;
        place[i][1] = (v.y - lattice->origin[1]) * scale;
        place[i][2] = (v.z - lattice->origin[2]) * scale;
    }
}

static double along_edge(und_vec3 from, und_vec3 edge)
{
    double length = und_dot(edge, edge), s = length > 0 ? und_dot(from, edge) / length : 0;
    return fmin(fmax(s, 0), 1);
}

/* Weights of the corners in the triangle's point nearest to p: over its face, or on the nearest edge. */
static void nearest_weights(const und_corners *t, und_vec3 p, double weight[3])
{
    und_vec3 c[3], edge[3], from[3];
    for (int k = 0; k < 3; k++)
        c[k] = und_vec(t->at[k][0], t->at[k][1], t->at[k][2]);
    for (int k = 0; k < 3; k++) {
        edge[k] = und_sub(c[(k + 1) % 3], c[k]);
        from[k] = und_sub(p, c[k]);
    }
    und_vec3 normal = und_cross(edge[0], edge[1]);
    double area = und_dot(normal, normal), best = INFINITY;
    bool over = area > 0;
    for (int k = 0; k < 3; k++) { /* the part of the area across from corner k + 2 is edge k's */
        double part = und_dot(und_cross(normal, edge[k]), from[k]);
        weight[(k + 2) % 3] = part / area;
        over &= part >= 0;
    }
    for (int k = 0; k < 3 && !over; k++) {
        double s = along_edge(from[k], edge[k]);
        und_vec3 gap = und_sub(from[k], und_mul(edge[k], s));
        if (und_dot(gap, gap) < best) {
            best = und_dot(gap, gap);
            weight[k] = 1 - s;
            weight[(k + 1) % 3] = s;
            weight[(k + 2) % 3] = 0;
        }
    }
}

static void set_velocities(const und_sequence *q, const between *m, const und_pose *pose,
                           const und_corners *corners, const int n[3], int threads, const int32_t *nearest,
                           float *const velocity[3])
{
    const topology *sheet = &q->sheet[m->a->sheet];
    PARALLEL_FOR(threads)
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++) {
                size_t i = ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x;
                und_vec3 v = {0, 0, 0};
                if (nearest[i] >= 0 && m->rate > 0) {
                    double weight[3];
                    nearest_weights(&corners[nearest[i]], und_vec(x, y, z), weight);
                    for (int k = 0; k < 3; k++)
                        v = und_add(v,
                                    und_mul(vertex_velocity(m, sheet->triangle[nearest[i]][k]), weight[k]));
                    v = und_quat_rotate(pose->rotation, v);
                }
                velocity[0][i] = (float)v.x;
                velocity[1][i] = (float)v.y;
                velocity[2][i] = (float)v.z;
            }
}

typedef struct render_room {
    double (*place)[3];
    und_corners *corners;
    int32_t *nearest;
} render_room;

static und_status render(const und_sequence *q, const between *m, const und_pose *pose,
                         const und_lattice *lattice, double reach, int threads, const render_room *room,
                         float *distance, float *const velocity[3], und_error *err)
{
    const topology *sheet = &q->sheet[m->a->sheet];
    float d = (float)lattice->d[0], half = (float)(0.5 * q->thickness), most = (float)reach;
    und_sign_rule rule = q->thickness > 0         ? UND_SIGN_NONE
                         : sheet->open_edges == 0 ? UND_SIGN_CLOSED
                                                  : UND_SIGN_OPEN;
    place_vertices(q, m, pose, lattice, room->place);
    for (int i = 0; i < sheet->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            memcpy(room->corners[i].at[k], room->place[sheet->triangle[i][k]], sizeof *room->place);
    und_status status =
        und_corners_distance(room->corners, sheet->triangle_count, rule, lattice->n,
                             (reach + half) / lattice->d[0], threads, distance, room->nearest, err);
    if (status != UND_OK)
        return status;
    for (size_t i = 0; i < und_lattice_count(lattice); i++) {
        distance[i] = fminf(fmaxf(distance[i] * d - half, -most), most);
        room->nearest[i] = fabsf(distance[i]) < most ? room->nearest[i] : -1;
    }
    if (velocity)
        set_velocities(q, m, pose, room->corners, lattice->n, threads, room->nearest, velocity);
    return UND_OK;
}

und_status und_sequence_render(const und_sequence *sequence, double time, const und_pose *pose,
                               const und_lattice *lattice, double reach, int threads, float *distance,
                               float *const velocity[3], und_error *err)
{
    if (und_lattice_cubes(lattice, reach + 0.5 * sequence->thickness, err) != UND_OK)
        return UND_INVALID;
    between m = find_frames(sequence, time);
    const topology *sheet = &sequence->sheet[m.a->sheet];
    und_pose rest = und_motion_at(NULL, 0);
    const char *what = "a mesh on a lattice";
    render_room room = {.place = und_alloc((size_t)sheet->vertex_count, sizeof *room.place, what, err),
                        .corners = und_alloc((size_t)sheet->triangle_count, sizeof *room.corners, what, err),
                        .nearest =
                            und_pages_alloc(und_lattice_count(lattice) * sizeof *room.nearest, what, err)};
    und_status status = UND_FAILED;
    if (room.place && room.corners && room.nearest)
        status = render(sequence, &m, pose ? pose : &rest, lattice, reach, threads, &room, distance, velocity,
                        err);
    free(room.place);
    free(room.corners);
    und_pages_free(room.nearest);
    return status;
}
