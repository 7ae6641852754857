#include "scene/particles_block.h"

#include "base/status.h"
#include "geom/motion.h"
#include "io/points.h"
#include "scene/sequence_block.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_MAX = 9999999, FRAMES_MAX = 1000, CSV_FRAMES_MAX = 100000 };

typedef struct particles_read {
    const char *file, *files, *grid;
    int first, last;
    double fps, start, scale;
    und_vec3 turn;
} particles_read;

/* What a loader reads from. */
typedef struct sources {
    und_particles particles;
    particles_read def;
    const char *where;     /* "scene.lua:4: liquid.levelset.control[1].particles" */
    const char **path;     /* of each frame, or of the one file */
    und_point_index index; /* of that */
} sources;

static void read_name(reader *r, const field *f, void *def)
{
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, f->expected);
    ((particles_read *)def)->file = lua_tostring(r->L, -1);
}

static void read_names(reader *r, const field *f, void *def)
{
    ((particles_read *)def)->files = und_read_numbered(r, f->expected);
}

#define FROM(member_) .offset = offsetof(particles_read, member_)

const field und_particles_fields[] = {
    {"file", F_OTHER, .read = read_name, .expected = "the name of a CSV, PLY or VDB file",
     .doc = "all of them: a CSV names its columns in the first line, x y z and frame id vx vy vz nx ny nz "
            "radius "
            "strength value; a PLY its vertices' properties the same; a VDB has points"},
    {"files", F_OTHER, .read = read_names, .expected = "a name with a number in it, as \"ctl.####.ply\"",
     .doc = "one for each frame instead; #### is its number, in at least so many digits"},
    {"grid", F_NAME, FROM(grid), .doc = "the points' name in a VDB"},
    {"first", F_INTEGER, NULL, -NUMBER_MAX, NUMBER_MAX, FROM(first),
     .doc = "number of the frame that is at start"},
    {"last", F_INTEGER, NULL, -NUMBER_MAX, NUMBER_MAX, FROM(last),
     .doc = "number of the last of several files"},
    {"fps", F_NUMBER, NULL, 1e-3, 1e6, FROM(fps),
     .doc = "frames a second; in between particles follow splines"},
    {"start", F_NUMBER, "s", -1e9, 1e9, FROM(start), .doc = "when the first frame is"},
    {"scale", F_NUMBER, NULL, 1e-9, 1e9, FROM(scale), .doc = "metres per unit of the files"},
    {"turn", F_POINT, "degrees", FROM(turn), .doc = "about x, then y, then z, after scaling"},
    {0}};

/* ---- One frame ---- */

static const char *path_of(const sources *s, int frame)
{
    return s->path[s->def.file ? 0 : frame];
}

static const char *name_frame(void *context, int frame)
{
    return path_of(context, frame);
}

static void release_frame(void *context, void *memory)
{
    (void)context;
    free(memory);
}

/* The next part of the frame's memory. */
static float *part(float **free_from, size_t numbers)
{
    float *out = *free_from;
    *free_from += numbers;
    return out;
}

/* Three numbers of each row, turned and scaled; NULL where the rows do not have them. */
static const float (*vectors(const particles_read *d, const und_point_rows *rows, int number, double scale,
                             float **free_from))[3]
{
    if ((rows->has >> number & 7) != 7)
        return NULL;
    float(*out)[3] = (float(*)[3])part(free_from, 3 * (size_t)rows->count);
    const und_quat q = und_quat_euler(d->turn);
    for (int i = 0; i < rows->count; i++) {
        const float *from = rows->number[i] + number;
        und_vec3 v =
            und_quat_rotate(q, und_mul(und_vec((double)from[0], (double)from[1], (double)from[2]), scale));
        out[i][0] = (float)v.x;
        out[i][1] = (float)v.y;
        out[i][2] = (float)v.z;
    }
    return (const float(*)[3])out;
}

static const float *numbers(const und_point_rows *rows, int number, double scale, float **free_from)
{
    if (!(rows->has >> number & 1))
        return NULL;
    float *out = part(free_from, (size_t)rows->count);
    for (int i = 0; i < rows->count; i++)
        out[i] = (float)((double)rows->number[i][number] * scale);
    return out;
}

static void make_frame(const particles_read *d, const und_point_rows *rows, void *memory,
                       und_control_particle_frame *out)
{
    float *from = memory;
    *out = (und_control_particle_frame){.count = rows->count,
                                        .at = vectors(d, rows, UND_POINT_X, d->scale, &from),
                                        .velocity = vectors(d, rows, UND_POINT_VX, d->scale, &from),
                                        .normal = vectors(d, rows, UND_POINT_NX, 1, &from),
                                        .radius = numbers(rows, UND_POINT_RADIUS, d->scale, &from),
                                        .strength = numbers(rows, UND_POINT_STRENGTH, 1, &from),
                                        .value = numbers(rows, UND_POINT_VALUE, 1, &from)};
    if (rows->has_id) /* without them they are 0, 1, 2 and on */
        out->id = memcpy(from, rows->id, (size_t)rows->count * sizeof *rows->id);
}

/* The file is where it was when the scene was read: a link put there since may lead out of the folder. */
static und_status check_place(const char *path, und_error *err)
{
    char *real = realpath(path, NULL);
    und_status status = UND_OK;
    if (!real)
        status = und_error_set(err, UND_INVALID, "cannot open %s: %s", path, strerror(errno));
    else if (strcmp(real, path) != 0)
        status = und_error_set(err, UND_INVALID, "%s has become a link to %s", path, real);
    free(real);
    return status;
}

static und_status load_frame(void *context, int frame, und_control_particle_frame *out, void **memory,
                             und_error *err)
{
    const sources *s = context;
    const char *path = path_of(s, frame);
    und_point_rows rows = {0};
    und_status status = check_place(path, err);
    if (status == UND_OK)
        status = und_points_read_frame(path, s->def.grid, &s->index, frame, &rows, err);
    if (status == UND_OK) {
        const int columns = __builtin_popcount(rows.has) + rows.has_id;
        *memory = und_alloc((size_t)rows.count * (size_t)columns, sizeof(float), path, err);
        status = *memory ? UND_OK : err->status;
    }
    if (status == UND_OK)
        make_frame(&s->def, &rows, *memory, out);
    und_points_free(&rows);
    if (status == UND_OK)
        return UND_OK;
    const und_error why = *err;
    return und_error_set(err, UND_INVALID, "%s: %s", s->where, why.text);
}

/* ---- All of them ---- */

static void free_index(void *index)
{
    und_points_index_free(index);
}

static und_control_particle_frame *make_frames(reader *r, sources *s, int count)
{
    und_control_particle_frame *frames = und_scene_alloc(r, (size_t)count, sizeof *frames);
    s->particles.frames = frames;
    s->particles.frame_count = count;
    return frames;
}

static double time_of(const particles_read *d, double number)
{
    return d->start + (number - d->first) / d->fps;
}

/* One file with all frames: a CSV's by their numbers, or one alone. */
static void use_file(reader *r, sources *s)
{
    und_error err = {0};
    und_point_index *index = &s->index;
    s->path = und_scene_alloc(r, 1, sizeof *s->path);
    s->path[0] = und_scene_file(r, s->def.file);
    owned *place = und_scene_own(r, free_index);
    place->resource = index;
    if (und_points_index(s->path[0], index, &err) != UND_OK)
        und_read_fail(r, "%s", err.text);
    double rows = 0;
    for (int i = 0; i < index->count; i++)
        rows += index->span[i].rows;
    und_sandbox_charge(r->L, 5 * rows);
    r->scene->held += (double)index->run_count * sizeof *index->run;
    if (index->count > CSV_FRAMES_MAX)
        und_read_fail(r, "%s: expected at most %d frames, found %d", s->path[0], (int)CSV_FRAMES_MAX,
                      index->count);
    und_control_particle_frame *frames = make_frames(r, s, index->has_frame ? index->count : 1);
    for (int i = 0; i < s->particles.frame_count; i++)
        frames[i].time = time_of(&s->def, index->has_frame ? index->span[i].frame : s->def.first);
}

static void use_files(reader *r, sources *s)
{
    const particles_read *d = &s->def;
    if (d->last < d->first || d->last - d->first >= FRAMES_MAX)
        und_read_fail(r, "expected 1 to %d frames, found first = %d and last = %d", (int)FRAMES_MAX, d->first,
                      d->last);
    const int count = d->last - d->first + 1;
    und_control_particle_frame *frames = make_frames(r, s, count);
    s->path = und_scene_alloc(r, (size_t)count, sizeof *s->path);
    for (int i = 0; i < count; i++) {
        char name[512];
        und_numbered_name(d->files, d->first + i, name, sizeof name);
        s->path[i] = und_scene_file(r, name);
        frames[i].time = time_of(d, d->first + i);
    }
}

static const char *where(reader *r)
{
    char path[256], text[1024];
    und_read_path(r, path, sizeof path);
    snprintf(text, sizeof text, "%s:%d: %s", r->scene->view.path,
             und_locate(r->scene->view.text, r->scene->text_size, r->line, r), path);
    char *out = und_scene_alloc(r, strlen(text) + 1, 1);
    return memcpy(out, text, strlen(text));
}

const und_particles *und_read_particles(reader *r, const field *f)
{
    sources *s = und_scene_alloc(r, 1, sizeof *s);
    particles_read *d = &s->def;
    *d = (particles_read){.first = 1, .last = 0, .fps = 24, .scale = 1};
    if (lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, f->expected);
    und_read_table(r, f->inside, d);
    if (!d->file == !d->files)
        und_read_fail(r, d->file ? "expected either \"file\" or \"files\", found both"
                                 : "missing key \"file\" or \"files\"");
    if (d->file && und_read_has(r, "last"))
        und_read_fail(r, "\"last\" is of several files, and there is one");
    s->where = where(r);
    (d->file ? use_file : use_files)(r, s);
    s->particles.loader = (und_control_particle_loader){load_frame, release_frame, name_frame, s};
    return &s->particles;
}
