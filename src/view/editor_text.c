/* Bodies as the text of a file that `undine float` takes, and back. */
#include "base/file.h"
#include "base/status.h"
#include "geom/shape.h"
#include "scene/cached_scene.h"
#include "view/editor_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What files that it may write over begin with. */
#define MARK "-- Bodies to float in a flow of cells: undine float CACHE THIS_FILE\n"

/* ---- to text ---- */

static bool is_zero(const double v[3])
{
    return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

/* As few digits as make the same number when it is read. */
static void write_number(FILE *to, const char *before, double v)
{
    char text[40];
    int digits = 6;
    do
        snprintf(text, sizeof text, "%.*g", digits, v);
    while (++digits <= 17 && strtod(text, NULL) != v);
    fprintf(to, "%s%s", before, text);
}

static void write_point(FILE *to, const char *before, const double v[3])
{
    fputs(before, to);
    write_number(to, "{", v[0]);
    write_number(to, ", ", v[1]);
    write_number(to, ", ", v[2]);
    fputs("}", to);
}

static void write_shape(FILE *to, const und_buoy *b)
{
    const double *s = b->size, radii[3] = {0.5 * s[0], 0.5 * s[1], 0.5 * s[2]};
    if (b->kind == UND_BUOY_BOX)
        write_point(to, "box { size = ", s);
    else if (b->kind == UND_BUOY_EGG)
        write_point(to, "ellipsoid { radii = ", radii);
    else
        write_number(to,
                     b->kind == UND_BUOY_CYLINDER ? "cylinder { radius = " : "sphere { radius = ", radii[0]);
    if (b->kind == UND_BUOY_CYLINDER)
        write_number(to, ", height = ", s[1]);
    fputs(" }", to);
}

static void write_buoy(FILE *to, const und_buoy *b)
{
    const und_body_def usual = und_body_def_default();
    double color[3];
    for (int k = 0; k < 3; k++) /* a float in few digits is one in decimals that it is nearest to */
        color[k] = round(1e7 * (double)b->color[k]) / 1e7;
    fputs("  { shape = ", to);
    write_shape(to, b);
    write_number(to, ", density = ", b->density);
    write_point(to, ",\n    at = ", b->at);
    if (!is_zero(b->turn))
        write_point(to, ", turn = ", b->turn);
    if (!is_zero(b->velocity))
        write_point(to, ", velocity = ", b->velocity);
    if (!is_zero(b->spin))
        write_point(to, ", spin = ", b->spin);
    if (b->release > 0)
        write_number(to, ", release = ", b->release);
    if (b->drag != usual.drag)
        write_number(to, ", drag = ", b->drag);
    if (b->bounce != usual.bounce)
        write_number(to, ", bounce = ", b->bounce);
    if (b->friction != usual.friction)
        write_number(to, ", friction = ", b->friction);
    if (b->color[0] >= 0)
        write_point(to, ", color = ", color);
    fputs(" },\n", to);
}

char *und_editor_text(const und_editor *e, und_error *err)
{
    const und_floating_bodies_def usual = und_floating_bodies_def_default();
    char *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    if (!to) {
        und_error_set(err, UND_FAILED, "out of memory: a file of bodies");
        return NULL;
    }
    if (!e->fixed || strncmp(e->fixed, MARK, strlen(MARK)) != 0)
        fputs(MARK "\n", to);
    if (e->fixed)
        fprintf(to, "%s\n\n", e->fixed);
    if (!e->fixed && (e->damping != usual.damping || e->nodes != usual.nodes)) {
        write_number(to, "float { damping = ", e->damping);
        fprintf(to, ", nodes = %d }\n\n", e->nodes);
    }
    if (e->count > 0) {
        fprintf(to, "bodies {\n");
        for (int i = 0; i < e->count; i++)
            write_buoy(to, &e->buoys[i]);
        fprintf(to, "}\n");
    }
    if (fclose(to) != 0) {
        free(text);
        und_error_set(err, UND_FAILED, "out of memory: a file of bodies");
        return NULL;
    }
    return text;
}

/* Is there no file of that name, or one that was saved here? */
static und_status check_free(const char *path, und_error *err)
{
    char begin[sizeof MARK] = "";
    struct stat info;
    if (lstat(path, &info) != 0)
        return UND_OK; /* where it cannot be looked at, writing will tell */
    FILE *file = S_ISREG(info.st_mode) ? fopen(path, "rb") : NULL; /* opening a pipe would wait */
    size_t bytes = file ? fread(begin, 1, strlen(MARK), file) : 0;
    if (file)
        fclose(file);
    if (bytes == strlen(MARK) && strcmp(begin, MARK) == 0)
        return UND_OK;
    return und_error_set(err, UND_INVALID, "%s is there, and was not saved here: choose another name", path);
}

und_status und_editor_save(und_editor *e, const char *path, und_error *err)
{
    if (e->count + e->fixed_count == 0)
        return und_error_set(err, UND_INVALID, "there are no bodies to save yet");
    und_status status = check_free(path, err);
    char *text = status == UND_OK ? und_editor_text(e, err) : NULL;
    if (!text)
        return err->status;
    /* What was loaded may name files that are not beside the new one. */
    und_scene *again = und_scene_bodies_from_text(text, path, NULL, 0, err);
    status = again ? und_file_write(path, text, strlen(text), err) : err->status;
    und_scene_destroy(again);
    free(text);
    return status;
}

/* ---- from text ---- */

/* The body as the editor has them; false: it is something else, to be left as it is. */
static bool buoy_of(const und_body_def *body, und_buoy *b)
{
    const und_shape *s = body->shape;
    *b = und_buoy_default();
    if (body->motion || body->skeleton || body->mass > 0 || body->ballast > 0 || !isfinite(body->release) ||
        s->center.x != 0 || s->center.y != 0 || s->center.z != 0)
        return false;
    switch (s->kind) {
    case UND_SPHERE:
        b->kind = UND_BUOY_BALL;
        b->size[0] = b->size[1] = b->size[2] = 2 * s->radius;
        break;
    case UND_CYLINDER:
        b->kind = UND_BUOY_CYLINDER;
        b->size[0] = b->size[2] = 2 * s->radius;
        b->size[1] = 2 * s->half.y;
        break;
    case UND_BOX:
    case UND_ELLIPSOID:
        b->kind = s->kind == UND_BOX ? UND_BUOY_BOX : UND_BUOY_EGG;
        b->size[0] = 2 * s->half.x;
        b->size[1] = 2 * s->half.y;
        b->size[2] = 2 * s->half.z;
        break;
    default:
        return false;
    }
    for (int a = 0; a < 3; a++) {
        b->at[a] = body->position[a];
        b->turn[a] = body->rotation[a];
        b->velocity[a] = body->velocity[a];
        b->spin[a] = body->spin[a] * 180 / M_PI;
        b->color[a] = body->color[a];
    }
    b->density = body->density;
    b->release = body->release;
    b->drag = body->drag;
    b->bounce = body->bounce;
    b->friction = body->friction;
    return true;
}

und_status und_editor_read(und_editor *e, const char *text, const char *path, const und_cache_info *kept,
                           und_error *err)
{
    und_scene *scene = kept ? und_scene_bodies_of_cache(kept, text, err)
                            : und_scene_bodies_from_text(text, path, NULL, 0, err);
    if (!scene)
        return err->status;
    const und_scene_view *view = und_scene_get(scene);
    const und_floating_bodies_def *def = &view->floating_bodies;
    bool plain = def->body_count <= UND_BUOYS && view->render.looks.body_count == 0;
    und_buoy buoy, *buoys = und_alloc((size_t)def->body_count + 1, sizeof *buoys, "bodies", err);
    for (int i = 0; i < def->body_count && plain && buoys; i++) {
        plain = buoy_of(&def->bodies[i], &buoy);
        buoys[i] = buoy;
    }
    char *fixed = plain || !buoys ? NULL : strdup(text), *fixed_path = fixed ? strdup(path) : NULL;
    und_status status = buoys && (plain || fixed_path) ? UND_OK : UND_FAILED;
    if (status == UND_OK) {
        free(e->buoys);
        free(e->fixed);
        free(e->fixed_path);
        e->buoys = buoys;
        e->room = def->body_count + 1;
        e->count = plain ? def->body_count : 0;
        e->fixed = fixed;
        e->fixed_path = fixed_path;
        e->fixed_kept = fixed && kept;
        e->fixed_count = plain ? 0 : def->body_count;
        e->damping = def->damping;
        e->nodes = def->nodes;
        e->selected = -1;
    } else {
        free(buoys);
        free(fixed);
        status = und_error_set(err, UND_FAILED, "out of memory: %s", path);
    }
    und_scene_destroy(scene);
    return status;
}

und_status und_editor_load(und_editor *e, const char *path, und_error *err)
{
    und_scene *scene = und_scene_load_bodies(path, NULL, 0, err);
    if (!scene)
        return err->status;
    und_status status = und_editor_read(e, und_scene_get(scene)->text, path, NULL, err);
    und_scene_destroy(scene);
    if (status == UND_OK)
        und_editor_changed(e);
    return status;
}
