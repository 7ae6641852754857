/* The liquid's surface as triangles for OpenGL. */
#include "view/volume_mesh.h"

#include "base/parallel.h"
#include "base/status.h"
#include "stage/f3.h"
#include "surface/frame_mesh.h"

#include <stdlib.h>
#include <string.h>

static void *grown(void *from, size_t size, size_t used, size_t room, und_error *err)
{
    void *to = und_alloc(room, size, "triangles to draw", err);
    if (to && used > 0)
        memcpy(to, from, used * size);
    if (to)
        free(from);
    return to;
}

und_status und_triangles_reserve(und_triangles *t, size_t corners, size_t triangles, und_error *err)
{
    if (corners > t->corner_room) {
        size_t room = corners + corners / 2;
        void *to = grown(t->corner, sizeof *t->corner, t->corners, room, err);
        if (!to)
            return UND_FAILED;
        t->corner = to;
        t->corner_room = room;
    }
    if (3 * triangles > t->index_room) {
        size_t room = 3 * (triangles + triangles / 2);
        void *to = grown(t->index, sizeof *t->index, 3 * t->triangles, room, err);
        if (!to)
            return UND_FAILED;
        t->index = to;
        t->index_room = room;
    }
    return UND_OK;
}

static void set_corner(und_corner *c, const float place[3], const float normal[3], const float color[4])
{
    memcpy(c->place, place, sizeof c->place);
    for (int a = 0; a < 3; a++)
        c->normal[a] = (int16_t)lrintf(32767 * clampf(normal[a], -1, 1));
    c->normal[3] = 0;
    for (int k = 0; k < 3; k++)
        c->color[k] = (uint8_t)lrintf(255 * clampf(und_srgb_encode(color[k]), 0, 1));
    c->color[3] = (uint8_t)lrintf(255 * clampf(color[3], 0, 1));
}

void und_triangles_corner(und_triangles *t, const float place[3], const float normal[3], const float color[4])
{
    set_corner(&t->corner[t->corners++], place, normal, color);
}

void und_triangles_close(und_triangles *t)
{
    for (size_t k = 0; k < 3; k++)
        t->index[3 * t->triangles + k] = (uint32_t)(t->corners - 3 + k);
    t->triangles++;
}

void und_triangles_free(und_triangles *t)
{
    free(t->corner);
    free(t->index);
    *t = (und_triangles){0};
}

/* Moeller & Trumbore 1997. */
static double cast_one(const float *a, const float *b, const float *c, const double o[3], const double d[3])
{
    double e1[3], e2[3], s[3];
    for (int k = 0; k < 3; k++) {
        e1[k] = (double)b[k] - (double)a[k];
        e2[k] = (double)c[k] - (double)a[k];
        s[k] = o[k] - (double)a[k];
    }
    double p[3] = {d[1] * e2[2] - d[2] * e2[1], d[2] * e2[0] - d[0] * e2[2], d[0] * e2[1] - d[1] * e2[0]};
    double q[3] = {s[1] * e1[2] - s[2] * e1[1], s[2] * e1[0] - s[0] * e1[2], s[0] * e1[1] - s[1] * e1[0]};
    double det = e1[0] * p[0] + e1[1] * p[1] + e1[2] * p[2];
    double u = (s[0] * p[0] + s[1] * p[1] + s[2] * p[2]) / det,
           v = (d[0] * q[0] + d[1] * q[1] + d[2] * q[2]) / det;
    double t = (e2[0] * q[0] + e2[1] * q[1] + e2[2] * q[2]) / det;
    return det != 0 && u >= 0 && v >= 0 && u + v <= 1 && t > 0 ? t : INFINITY;
}

double und_triangles_cast(const und_triangles *t, const double origin[3], const double direction[3])
{
    double far = INFINITY;
    for (size_t k = 0; k < t->triangles; k++) {
        const uint32_t *i = t->index + 3 * k;
        far = fmin(far, cast_one(t->corner[i[0]].place, t->corner[i[1]].place, t->corner[i[2]].place, origin,
                                 direction));
    }
    return far;
}

/* ---- A frame's ---- */

typedef struct between {
    int low, high;
    float part;
} between;

/* Where centre i of `to` cells lies among those of `from` cells over the same length. */
static between find_between(int i, int from, int to)
{
    float s = clampf(((float)i + 0.5f) * (float)from / (float)to - 0.5f, 0, (float)(from - 1));
    int low = (int)s;
    return (between){low, low + 1 < from ? low + 1 : low, s - (float)low};
}

/* A field of cells on another grid of the same box, linear between the cells' centres. */
static void resample(const und_grid *from, const float *values, const und_grid *to, float *out, int threads)
{
    PARALLEL_FOR(threads)
    for (int z = 0; z < to->n[2]; z++)
        for (int y = 0; y < to->n[1]; y++) {
            between bz = find_between(z, from->n[2], to->n[2]), by = find_between(y, from->n[1], to->n[1]);
            size_t across = (size_t)from->n[0], plane = across * (size_t)from->n[1];
            const float *row[4] = {values + (size_t)bz.low * plane + (size_t)by.low * across,
                                   values + (size_t)bz.low * plane + (size_t)by.high * across,
                                   values + (size_t)bz.high * plane + (size_t)by.low * across,
                                   values + (size_t)bz.high * plane + (size_t)by.high * across};
            float *to_row = out + ((size_t)z * (size_t)to->n[1] + (size_t)y) * (size_t)to->n[0];
            for (int x = 0; x < to->n[0]; x++) {
                between bx = find_between(x, from->n[0], to->n[0]);
                float at[4];
                for (int k = 0; k < 4; k++)
                    at[k] = mixf(row[k][bx.low], row[k][bx.high], bx.part);
                to_row[x] = mixf(mixf(at[0], at[1], by.part), mixf(at[2], at[3], by.part), bz.part);
            }
        }
}

/* The frame's distances on every other cell. */
static und_status halve(const und_frame *frame, int threads, und_frame *half, und_error *err)
{
    static const char *const names[] = {"distance", "solid/distance"};
    const und_grid *g = &frame->grid;
    und_grid grid = *g;
    double size[3];
    for (int a = 0; a < 3; a++) {
        grid.n[a] = (g->n[a] + 1) / 2;
        size[a] = und_grid_size(g, a) * g->n[a] / (grid.n[a] > 0 ? grid.n[a] : 1);
    }
    grid.dx = size[0];
    grid.dy = size[1];
    grid.dz = size[2];
    *half = und_frame_empty(frame->number, frame->time, grid);
    for (int i = 0; i < 2; i++) {
        const float *values;
        und_item_def def = {.name = names[i],
                            .unit = "m",
                            .kind = UND_FIELD,
                            .type = UND_F32,
                            .rank = 3,
                            .dim = {(size_t)grid.n[2], (size_t)grid.n[1], (size_t)grid.n[0]}};
        if (und_frame_field(frame, names[i], -1, &values, err) != UND_OK)
            return err->status;
        und_item *item = values ? und_frame_add(half, &def, err) : NULL;
        if (values && !item)
            return err->status;
        if (values)
            resample(g, values, &grid, item->data, threads);
    }
    return UND_OK;
}

static und_status make_shell(const und_frame *frame, const und_space_mesh_def *def, und_shell *shell,
                             und_error *err)
{
    const und_frame_mesh_def mesh = {.into_solids = def->into_solids, .threads = def->threads};
    if (!def->coarse || !und_frame_mesh_has_distance(frame))
        return und_frame_mesh(frame, &mesh, shell, err);
    und_frame half;
    und_status status = halve(frame, def->threads, &half, err);
    if (status == UND_OK)
        status = und_frame_mesh(&half, &mesh, shell, err);
    und_frame_clear(&half);
    return status;
}

/* Linear colours of the vertices, by where their liquid was at first. */
static und_status find_paint(const und_frame *frame, const und_space_mesh_def *def, const und_shell *shell,
                             float **color, und_error *err)
{
    size_t count = (size_t)shell->vertex_count;
    und_texture_map *map = und_texture_map_create(frame, def->threads, err);
    float *rest = map ? und_alloc(3 * count + 1, sizeof *rest, "paint", err) : NULL;
    if (rest) {
        und_texture_map_look(map, shell->position, shell->vertex_count, rest);
        for (size_t v = 0; v < count; v++) {
            float at[3] = {rest[3 * v], rest[3 * v + 1], rest[3 * v + 2]};
            und_paint_at(def->paint, map, at, (float)frame->grid.dx, rest + 3 * v);
        }
    }
    und_texture_map_destroy(map);
    *color = rest;
    return rest ? UND_OK : err->status;
}

und_status und_space_mesh(const und_frame *frame, const und_space_mesh_def *def, und_triangles *skin,
                          und_error *err)
{
    und_shell shell = {0};
    float *color = NULL;
    und_status status = make_shell(frame, def, &shell, err);
    size_t corners = (size_t)shell.vertex_count, triangles = (size_t)shell.triangle_count;
    skin->corners = skin->triangles = 0;
    if (status == UND_OK && def->paint && corners > 0)
        status = find_paint(frame, def, &shell, &color, err);
    if (status == UND_OK)
        status = und_triangles_reserve(skin, corners, triangles, err);
    if (status == UND_OK && triangles > 0) {
        static const float none[4] = {0};
        PARALLEL_FOR(und_workers(und_threads(def->threads), corners, 1 << 14))
        for (size_t c = 0; c < corners; c++) {
            float painted[4] = {0};
            if (color)
                memcpy(painted, color + 3 * c, 3 * sizeof *painted);
            set_corner(&skin->corner[c], shell.position + 3 * c, shell.normal + 3 * c,
                       color ? painted : none);
        }
        memcpy(skin->index, shell.triangle, 3 * triangles * sizeof *skin->index);
        skin->corners = corners;
        skin->triangles = triangles;
    }
    free(color);
    und_shell_free(&shell);
    return status;
}
