#include "io/ply.h"

#include "base/file.h"
#include "base/status.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 1024, WORD = 4, FACE = 1 + 3 * WORD };

/* Properties that stand next to each other: three of a vector, or one number. */
typedef struct property {
    const char *names; /* "nx ny nz" */
    const char *type;
    const void *from; /* four bytes each, or one where the type is uchar; NULL: left out */
    int width;
} property;

static size_t bytes_of(const property *p)
{
    return strcmp(p->type, "uchar") == 0 ? 1 : WORD;
}

/* Bytes of the file as they come. */
typedef struct sheet {
    char *data;
    size_t used;
} sheet;

static void put_word(sheet *s, const void *word)
{
    uint32_t bits;
    memcpy(&bits, word, WORD);
    bits = htole32(bits);
    memcpy(s->data + s->used, &bits, WORD);
    s->used += WORD;
}

static void put_vertex(sheet *s, const property *list, int count, size_t vertex, und_up up)
{
    for (int i = 0; i < count; i++) {
        size_t width = (size_t)list[i].width, bytes = bytes_of(&list[i]);
        const char *from = (const char *)list[i].from + vertex * width * bytes;
        float vector[3];
        if (!list[i].from)
            continue;
        if (bytes == 1) {
            memcpy(s->data + s->used, from, width);
            s->used += width;
            continue;
        }
        if (width == 3) {
            memcpy(vector, from, sizeof vector);
            und_up_turn(up, vector, vector);
            from = (const char *)vector;
        }
        for (size_t k = 0; k < width; k++)
            put_word(s, from + k * WORD);
    }
}

static void put_faces(sheet *s, const int32_t *triangle, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        s->data[s->used++] = 3;
        for (int k = 0; k < 3; k++)
            put_word(s, triangle + 3 * i + k);
    }
}

/* "property float x" for each name. */
static int print_properties(char *to, size_t room, const property *p)
{
    int length = 0;
    for (const char *name = p->names; *name && length < (int)room;) {
        int letters = (int)strcspn(name, " ");
        length += snprintf(to + length, room - (size_t)length, "property %s %.*s\n", p->type, letters, name);
        name += letters + (name[letters] == ' ');
    }
    return length;
}

static int print_header(char to[HEADER], const property *list, int count, int vertices, int faces, und_up up)
{
    int length = snprintf(to, HEADER,
                          "ply\nformat binary_little_endian 1.0\ncomment undine %s, metres, %c up\n"
                          "element vertex %d\n",
                          UND_VERSION, up == UND_UP_Z ? 'z' : 'y', vertices);
    for (int i = 0; i < count; i++)
        if (list[i].from)
            length += print_properties(to + length, HEADER - (size_t)length, &list[i]);
    if (faces >= 0)
        length += snprintf(to + length, HEADER - (size_t)length,
                           "element face %d\nproperty list uchar int vertex_indices\n", faces);
    return length + snprintf(to + length, HEADER - (size_t)length, "end_header\n");
}

/* faces < 0: there is no such element. */
static und_status write_file(const char *path, const property *list, int count, int vertices,
                             const int32_t *triangle, int faces, und_up up, und_error *err)
{
    char header[HEADER];
    int length = print_header(header, list, count, vertices, faces, up);
    size_t each = 0;
    for (int i = 0; i < count; i++)
        each += list[i].from ? (size_t)list[i].width * bytes_of(&list[i]) : 0;
    size_t bytes = (size_t)length + each * (size_t)vertices + (faces > 0 ? FACE * (size_t)faces : 0);
    sheet s = {.data = und_alloc(bytes, 1, path, err)};
    if (!s.data)
        return UND_FAILED;
    memcpy(s.data, header, (size_t)length);
    s.used = (size_t)length;
    for (int v = 0; v < vertices; v++)
        put_vertex(&s, list, count, (size_t)v, up);
    put_faces(&s, triangle, faces > 0 ? (size_t)faces : 0);
    und_status status = und_file_write(path, s.data, s.used, err);
    free(s.data);
    return status;
}

und_status und_ply_write(const char *path, const und_shell *shell, const und_ply_texture *texture, und_up up,
                         und_error *err)
{
    const und_ply_texture t = texture ? *texture : (und_ply_texture){0};
    const property list[] = {{"x y z", "float", shell->position, 3},
                             {"nx ny nz", "float", shell->normal, 3},
                             {"vx vy vz", "float", shell->velocity, 3},
                             {"u v", "float", t.uv, 2},
                             {"s t", "float", t.uv, 2},
                             {"rest_x rest_y rest_z", "float", t.rest, 3},
                             {"red green blue", "uchar", t.color, 3}};
    return write_file(path, list, 7, shell->vertex_count, shell->triangle, shell->triangle_count, up, err);
}

und_status und_ply_write_particles(const char *path, const und_ply_particles *p, und_up up, und_error *err)
{
    const property list[] = {{"x y z", "float", p->position, 3},
                             {"vx vy vz", "float", p->velocity, 3},
                             {"radius", "float", p->radius, 1},
                             {"age", "float", p->age, 1},
                             {"id", "int", p->id, 1}};
    return write_file(path, list, 5, p->count, NULL, -1, up, err);
}
