#include "scene/sequence_block.h"

#include "geom/trimesh_file.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES_MAX = 1000, NUMBER_MAX = 9999999 };

typedef struct sequence_def {
    const char *files;
    int first, last;
    double fps, start, scale, thickness;
    und_vec3 turn;
    bool open;
} sequence_def;

const char *und_read_numbered(reader *r, const char *expected)
{
    const char *name = lua_type(r->L, -1) == LUA_TSTRING ? lua_tostring(r->L, -1) : NULL;
    if (!name)
        und_read_expected(r, expected);
    const char *number = strchr(name, '#');
    size_t width = number ? strspn(number, "#") : 0;
    if (width == 0 || width > 7 || strchr(number + width, '#') || strlen(name) > 400)
        und_read_fail(r, "expected %s, found \"%.100s\"", expected, name);
    return name;
}

void und_numbered_name(const char *files, int number, char *name, size_t size)
{
    const char *hash = strchr(files, '#');
    int width = (int)strspn(hash, "#");
    snprintf(name, size, "%.*s%0*d%s", (int)(hash - files), files, width, number, hash + width);
}

static void read_files(reader *r, const field *f, void *def)
{
    ((sequence_def *)def)->files = und_read_numbered(r, f->expected);
}

#define AT(member_) .offset = offsetof(sequence_def, member_)

const field und_sequence_fields[] = {
    {"files", F_OTHER, .read = read_files, .required = true,
     .expected = "a name with one number in it, as \"flag.####.obj\"",
     .doc = "an OBJ or PLY for each frame; #### is its number, in at least so many digits"},
    {"first", F_INTEGER, NULL, 0, NUMBER_MAX, AT(first), .doc = "number of the first frame"},
    {"last", F_INTEGER, NULL, 0, NUMBER_MAX, true, AT(last), .doc = "number of the last one"},
    {"fps", F_NUMBER, NULL, 1e-3, 1e6, AT(fps), .doc = "frames a second; in between vertices move evenly"},
    {"start", F_NUMBER, "s", -1e9, 1e9, AT(start),
     .doc = "when the first frame is; it rests before, and after the last"},
    {"scale", F_NUMBER, NULL, 1e-9, 1e9, AT(scale), .doc = "metres per unit of the files"},
    {"turn", F_POINT, "degrees", AT(turn), .doc = "about x, then y, then z, after scaling"},
    {"thickness", F_NUMBER, "m", 0, 1e6, AT(thickness),
     .doc =
         "of a sheet such as a flag, half of it on each side of the triangles; 0: they are a body's surface"},
    {"open", F_FLAG, AT(open),
     .doc = "takes meshes that are not closed: six lines along the axes vote on what is inside"},
    {0}};

static void release_sequence(void *sequence)
{
    und_sequence_destroy(sequence);
}

static void release_text(void *text)
{
    und_mesh_free(text);
}

static void add_frame(reader *r, const sequence_def *d, int number, und_mesh_text *text, owned *loaded,
                      und_sequence *sequence)
{
    char name[512];
    und_error err = {0};
    und_numbered_name(d->files, number, name, sizeof name);
    const char *path = und_scene_file(r, name);
    loaded->resource = text;
    if (und_mesh_load(text, path, d->scale, d->turn, &err) != UND_OK)
        und_read_fail(r, "%s", err.text);
    und_trimesh_def def = und_mesh_def(text);
    if (und_sequence_add(sequence, &def, d->start + (number - d->first) / d->fps, &err) != UND_OK)
        und_read_fail(r, "%s: %s", path, err.text);
    und_sandbox_charge(r->L, 100.0 * def.triangle_count);
    loaded->resource = NULL;
    und_mesh_free(text);
}

const und_sequence *und_read_sequence(reader *r)
{
    sequence_def d = {.first = 1, .fps = 24, .scale = 1};
    und_error err = {0};
    if (lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, "a table { files = \"flag.####.obj\", first = 1, last = 48 }");
    und_read_table(r, und_sequence_fields, &d);
    if (d.last < d.first || d.last - d.first >= FRAMES_MAX)
        und_read_fail(r, "expected 1 to %d frames, found first = %d and last = %d", (int)FRAMES_MAX, d.first,
                      d.last);
    und_mesh_text *text = und_scene_alloc(r, 1, sizeof *text); /* outlives what is released after it */
    owned *place = und_scene_own(r, release_sequence), *loaded = und_scene_own(r, release_text);
    und_sequence *sequence = und_sequence_create(d.thickness, &err);
    if (!sequence)
        und_read_fail(r, "%s", err.text);
    place->resource = sequence;
    for (int number = d.first; number <= d.last; number++) {
        double before = (double)und_sequence_bytes(sequence);
        add_frame(r, &d, number, text, loaded, sequence);
        r->scene->held += (double)und_sequence_bytes(sequence) - before;
    }
    long open = und_sequence_open_edges(sequence);
    if (open > 0 && !d.open)
        und_read_fail(
            r,
            "expected closed meshes, found %ld open edge%s: with open = true they are taken as they "
            "are, with a thickness they are sheets",
            open, open == 1 ? "" : "s");
    return sequence;
}
