#include "geom/trimesh_file.h"

#include "base/file.h"
#include "base/maths.h"
#include "base/status.h"
#include "geom/motion.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

und_status und_mesh_expected(und_mesh_text *text, const char *what)
{
    char found[32] = "";
    size_t n = 0;
    while (n < sizeof found - 1 && text->at + n < text->end && isgraph((unsigned char)text->at[n])) {
        found[n] = text->at[n];
        n++;
    }
    if (n > 0)
        return und_error_set(text->err, UND_INVALID, "%s:%d: expected %s, found \"%s\"", text->path,
                             text->line, what, found);
    const char *end = text->at >= text->end                    ? "the end of the file"
                      : *text->at == '\r' || *text->at == '\n' ? "the end of the line"
                                                               : "a byte that is no text";
    return und_error_set(text->err, UND_INVALID, "%s:%d: expected %s, found %s", text->path, text->line, what,
                         end);
}

static int next_room(int room, int most)
{
    return room == 0 ? 1024 : room > most / 2 ? most : 2 * room;
}

static und_status too_many(und_mesh_text *text, int most, const char *what)
{
    return und_error_set(text->err, UND_INVALID, "%s: more than %d %s, or no memory for them", text->path,
                         most, what);
}

/* IEC 61966-2-1. */
static float linear_light(double srgb)
{
    double s = fmin(fmax(srgb, 0), 1);
    return (float)(s <= 0.04045 ? s / 12.92 : und_pow((s + 0.055) / 1.055, 2.4));
}

und_status und_mesh_add_vertex(und_mesh_text *text, und_vec3 v, const double *srgb)
{
    const int most = 3 * UND_TRIMESH_MAX;
    if (text->vertex_count == text->vertex_room) {
        int room = next_room(text->vertex_room, most);
        und_vec3 *vertex =
            room > text->vertex_room ? realloc(text->vertex, (size_t)room * sizeof *vertex) : NULL;
        text->vertex = vertex ? vertex : text->vertex;
        float(*color)[3] = vertex ? realloc(text->color, (size_t)room * sizeof *color) : NULL;
        text->color = color ? color : text->color;
        if (!color)
            return too_many(text, most, "vertices");
        text->vertex_room = room;
    }
    for (int k = 0; k < 3; k++)
        text->color[text->vertex_count][k] = srgb ? linear_light(srgb[k]) : -1;
    text->colored |= srgb != NULL;
    text->vertex[text->vertex_count++] = v;
    return UND_OK;
}

und_status und_mesh_add_triangle(und_mesh_text *text, int a, int b, int c)
{
    if (text->triangle_count == text->triangle_room) {
        int room = next_room(text->triangle_room, UND_TRIMESH_MAX);
        int(*larger)[3] =
            room > text->triangle_room ? realloc(text->triangle, (size_t)room * sizeof *larger) : NULL;
        if (!larger)
            return too_many(text, UND_TRIMESH_MAX, "triangles");
        text->triangle = larger;
        text->triangle_room = room;
    }
    int *t = text->triangle[text->triangle_count++];
    t[0] = a;
    t[1] = b;
    t[2] = c;
    return UND_OK;
}

/* Reads PLY, or where it may be one OBJ, into what text has room for. */
static und_status read_file(und_mesh_text *text, const char *path, bool may_be_obj, und_error *err)
{
    char *data;
    size_t bytes;
    text->path = path;
    text->line = 1;
    text->err = err;
    und_status status = und_file_read(path, UND_TRIMESH_FILE_MAX, &data, &bytes, err);
    if (status != UND_OK)
        return status;
    text->start = text->at = data;
    text->end = data + bytes;
    bool is_ply = bytes >= 4 && memcmp(data, "ply", 3) == 0 && isspace((unsigned char)data[3]);
    if (is_ply)
        status = und_mesh_read_ply(text);
    else if (may_be_obj)
        status = und_mesh_read_obj(text);
    else
        status = und_error_set(err, UND_INVALID, "%s:1: expected a PLY file, which begins with ply", path);
    free(data);
    text->start = text->at = text->end = NULL;
    return status;
}

und_status und_mesh_load(und_mesh_text *text, const char *path, double scale, und_vec3 turn, und_error *err)
{
    *text = (und_mesh_text){0};
    und_status status = read_file(text, path, true, err);
    und_quat q = und_quat_euler(turn);
    for (int i = 0; i < text->vertex_count; i++)
        text->vertex[i] = und_quat_rotate(q, und_mul(text->vertex[i], scale));
    return status;
}

und_status und_mesh_rows(und_mesh_text *text, const char *path, und_error *err)
{
    return read_file(text, path, false, err);
}

und_trimesh_def und_mesh_def(const und_mesh_text *text)
{
    return (und_trimesh_def){.vertex_count = text->vertex_count,
                             .triangle_count = text->triangle_count,
                             .vertex = text->vertex,
                             .color = text->colored ? (const float(*)[3])text->color : NULL,
                             .triangle = (const int(*)[3])text->triangle};
}

void und_mesh_free(und_mesh_text *text)
{
    free(text->vertex);
    free(text->color);
    free(text->triangle);
    *text = (und_mesh_text){0};
}

und_trimesh *und_trimesh_read(const char *path, double scale, und_vec3 turn, und_error *err)
{
    und_mesh_text text;
    und_trimesh *mesh = NULL;
    if (und_mesh_load(&text, path, scale, turn, err) == UND_OK) {
        und_trimesh_def def = und_mesh_def(&text);
        und_error why = {0};
        mesh = und_trimesh_create(&def, &why);
        if (!mesh)
            und_error_set(err, why.status, "%s: %s", path, why.text);
    }
    und_mesh_free(&text);
    return mesh;
}
