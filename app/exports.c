#include "exports.h"

#include "base/file.h"
#include "base/stage.h"
#include "base/status.h"
#include "io/vdb_frame.h"
#include "pictures.h"
#include "surface/frame_mesh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_VDB, KIND_PLY, KIND_SPRAY, KINDS };

/* A kind's files are FOLDER/KIND/NAME.0001.END. */
static const char *const kind_folder[KINDS] = {"vdb", "ply", "spray"};
static const char *const kind_end[KINDS] = {"vdb", "ply", "ply"};

struct exports {
    exports_def def;
    bool started;
    bool wanted[KINDS];
    int count[KINDS];
    und_stage stage[KINDS + 2]; /* the last: meshing, texture */
};

und_status exports_from_args(const args *a, exports_def *def, und_error *err)
{
    bool y = !a->up || strcmp(a->up, "y") == 0, z = a->up && strcmp(a->up, "z") == 0;
    if (!y && !z)
        return und_error_set(err, UND_INVALID, "--up wants y or z, not %s", a->up);
    *def = (exports_def){.vdb = a->vdb,
                         .ply = a->ply,
                         .spray = a->spray,
                         .half = a->half,
                         .up = z ? UND_UP_Z : UND_UP_Y,
                         .adaptive = a->adaptive,
                         .threads = a->threads};
    return UND_OK;
}

exports *exports_create(const exports_def *def, und_error *err)
{
    exports *e = und_alloc(1, sizeof *e, "the exports", err);
    if (!e)
        return NULL;
    e->def = *def;
    e->wanted[KIND_VDB] = def->vdb;
    e->wanted[KIND_PLY] = def->ply;
    e->wanted[KIND_SPRAY] = def->spray;
    static const char *const name[KINDS + 2] = {"write vdb", "write ply", "write spray", "export mesh",
                                                "texture"};
    for (int k = 0; k < KINDS + 2; k++)
        e->stage[k].name = name[k];
    return e;
}

/* What a frame can be made into. */
static void find_kinds(const und_frame *frame, bool has[KINDS])
{
    has[KIND_VDB] = und_frame_mesh_has_distance(frame);
    has[KIND_PLY] = und_frame_mesh_has_liquid(frame);
    has[KIND_SPRAY] = und_frame_find(frame, "spray/position");
}

static und_status start(exports *e, const und_frame *frame, und_error *err)
{
    static const char *const what[KINDS] = {"distance of the liquid for --vdb",
                                            "mesh of the liquid for --ply", "spray for --spray"};
    bool has[KINDS];
    find_kinds(frame, has);
    if (!exports_asked(&e->def))
        memcpy(e->wanted, has, sizeof e->wanted);
    for (int k = 0; k < KINDS; k++)
        if (e->wanted[k] && !has[k])
            return und_error_set(err, UND_INVALID, "frames of this liquid.%s hold no %s", e->def.model,
                                 what[k]);
    if (!e->wanted[KIND_VDB] && !e->wanted[KIND_PLY] && !e->wanted[KIND_SPRAY])
        return und_error_set(err, UND_INVALID,
                             "frames of this liquid.%s hold nothing to export: no distance, mesh or spray",
                             e->def.model);
    if (e->def.textured && !(e->wanted[KIND_PLY] && und_texture_in_frame(frame)))
        return und_error_set(
            err, UND_INVALID,
            "--texture is for meshes with texture particles, which undine texture CACHE makes");
    for (int k = 0; k < KINDS; k++) {
        char path[UND_PATH_MAX];
        if (e->wanted[k] && (und_path_set(path, err, "%s/%s", e->def.folder, kind_folder[k]) != UND_OK ||
                             und_folder_make(path, err) != UND_OK))
            return err->status;
    }
    e->started = true;
    return UND_OK;
}

/* What the frame's texture particles say of a mesh's vertices. */
typedef struct mesh_texture {
    und_texture_map *map;
    float *uv, *rest;
    uint8_t *color;
} mesh_texture;

static void texture_free(mesh_texture *t)
{
    und_texture_map_destroy(t->map);
    free(t->uv);
    free(t->rest);
    free(t->color);
}

static uint8_t byte_of(float linear)
{
    return (uint8_t)(255 * und_srgb_encode(fminf(fmaxf(linear, 0), 1)) + 0.5f);
}

static und_status texture_make(const exports *e, const und_frame *frame, const und_shell *shell,
                               mesh_texture *t, und_error *err)
{
    size_t count = (size_t)shell->vertex_count;
    bool painted = e->def.paint.kind != UND_PAINT_NONE;
    *t = (mesh_texture){.map = und_texture_map_create(frame, e->def.threads, err)};
    if (!t->map)
        return UND_FAILED;
    const und_plate *plate = und_texture_map_plate(t->map);
    t->rest = und_alloc(3 * count + 3, sizeof *t->rest, "a texture", err);
    t->uv = plate ? und_alloc(2 * count + 2, sizeof *t->uv, "a texture", err) : NULL;
    t->color = painted ? und_alloc(3 * count + 3, 1, "a texture", err) : NULL;
    if (!t->rest || (plate && !t->uv) || (painted && !t->color))
        return UND_FAILED;
    und_texture_map_look(t->map, shell->position, shell->vertex_count, t->rest);
    for (size_t i = 0; i < count; i++) {
        float rgb[3];
        if (plate)
            und_plate_project(plate, t->rest + 3 * i, t->uv + 2 * i);
        if (!painted)
            continue;
        und_paint_at(&e->def.paint, t->map, t->rest + 3 * i, (float)frame->grid.dx, rgb);
        for (int k = 0; k < 3; k++)
            t->color[3 * i + (size_t)k] = byte_of(rgb[k]);
    }
    return UND_OK;
}

static und_status write_mesh(exports *e, const und_frame *frame, const char *path, und_error *err)
{
    und_frame_mesh_def def = {.adaptive = e->def.adaptive, .velocity = true, .threads = e->def.threads};
    und_shell shell;
    mesh_texture t = {0};
    und_status status = UND_OK;
    STAGE (&e->stage[KINDS])
        status = und_frame_mesh(frame, &def, &shell, err);
    if (status == UND_OK && und_texture_in_frame(frame))
        STAGE (&e->stage[KINDS + 1])
            status = texture_make(e, frame, &shell, &t, err);
    if (status == UND_OK)
        STAGE (&e->stage[KIND_PLY])
            status = und_ply_write(path, &shell, &(und_ply_texture){t.uv, t.rest, t.color}, e->def.up, err);
    texture_free(&t);
    und_shell_free(&shell);
    return status;
}

/* An item of `width` four-byte values for each drop, or NULL where the frame does not have it so. */
static const void *drops(const und_frame *frame, const char *name, und_type type, size_t count, size_t width)
{
    const und_item *item = und_frame_find(frame, name);
    bool good = item && item->type == type && item->rank >= 1 && item->dim[0] == count &&
                und_item_count(item) == count * width;
    return good ? item->data : NULL;
}

static und_status write_spray(exports *e, const und_frame *frame, const char *path, und_error *err)
{
    const und_item *item = und_frame_find(frame, "spray/position");
    size_t count = item && item->rank == 2 ? item->dim[0] : 0;
    und_ply_particles p = {.count = (int)count,
                           .position = drops(frame, "spray/position", UND_F32, count, 3),
                           .velocity = drops(frame, "spray/velocity", UND_F32, count, 3),
                           .radius = drops(frame, "spray/radius", UND_F32, count, 1),
                           .age = drops(frame, "spray/age", UND_F32, count, 1),
                           .id = drops(frame, "spray/id", UND_I32, count, 1)};
    if (!p.position || count > INT32_MAX)
        return und_error_set(err, UND_FAILED, "frame %d: the spray is damaged", frame->number);
    und_status status = UND_OK;
    STAGE (&e->stage[KIND_SPRAY])
        status = und_ply_write_particles(path, &p, e->def.up, err);
    return status;
}

static und_status write_kind(exports *e, int kind, const und_frame *frame, und_error *err)
{
    const exports_def *d = &e->def;
    char path[UND_PATH_MAX];
    und_status status = und_path_set(path, err, "%s/%s/%s.%04d.%s", d->folder, kind_folder[kind], d->name,
                                     frame->number, kind_end[kind]);
    if (status != UND_OK)
        return status;
    if (kind == KIND_VDB)
        STAGE (&e->stage[KIND_VDB])
            status = und_vdb_write_frame(path, frame, d->up, d->half, d->threads, err);
    else
        status = kind == KIND_PLY ? write_mesh(e, frame, path, err) : write_spray(e, frame, path, err);
    e->count[kind] += status == UND_OK;
    return status;
}

und_status exports_add(exports *e, const und_frame *frame, und_error *err)
{
    if (frame->number < e->def.first || frame->number > e->def.last)
        return UND_OK;
    und_status status = e->started ? UND_OK : start(e, frame, err);
    for (int k = 0; k < KINDS && status == UND_OK; k++)
        if (e->wanted[k])
            status = write_kind(e, k, frame, err);
    return status;
}

void exports_print(const exports *e)
{
    for (int k = 0; k < KINDS; k++)
        if (e->count[k] > 0)
            printf("%-6s %s/%s/%s.*.%s (%d)\n", kind_folder[k], e->def.folder, kind_folder[k], e->def.name,
                   kind_end[k], e->count[k]);
}

int exports_stages(const exports *e, und_stage *list, int room)
{
    int count = 0;
    for (int k = 0; k < KINDS + 2 && count < room; k++)
        if (e->stage[k].calls > 0)
            list[count++] = e->stage[k];
    return count;
}

void exports_destroy(exports *e)
{
    free(e);
}
