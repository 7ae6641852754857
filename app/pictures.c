#include "pictures.h"

#include "base/file.h"
#include "base/stage.h"
#include "base/status.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STAGE_PNG, STAGE_EXR, STAGE_VECTOR, STAGE_MOVIE, STAGES };

struct pictures {
    pictures_def def;
    und_render *render;
    und_image image;
    und_movie *movie;
    bool started, movie_done;
    int png_count, exr_count, vector_count;
    char movie_path[UND_PATH_MAX], first_png[UND_PATH_MAX], last_png[UND_PATH_MAX];
    und_stage stage[STAGES];
};

pictures_def pictures_from_args(const args *a, const und_scene_view *scene, const char *folder, int first,
                                int last)
{
    bool asked = a->png || a->exr || a->movie || a->given & OPT_STILLS;
    return (pictures_def){
        .scene = scene,
        .folder = folder,
        .name = scene->name,
        .first = first,
        .last = last,
        .stills = a->given & OPT_STILLS || !asked ? a->stills : 0,
        .png = a->png,
        .exr = a->exr,
        .svg = a->svg,
        .pdf = a->pdf,
        .movie = a->movie || (!asked && last > first),
        .width = a->width,
        .height = a->height,
        .samples = a->samples,
        .threads = a->threads,
        .fps = scene->fps,
    };
}

und_status folder_make(const char *path, und_error *err)
{
    char part[UND_PATH_MAX];
    und_status status = und_path_set(part, err, "%s", path);
    for (char *slash = part + 1; status == UND_OK && *part; slash++) {
        char was = *slash;
        if (was != '/' && was)
            continue;
        *slash = 0;
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return und_error_set(err, UND_FAILED, "cannot make the folder %s: %s", part, strerror(errno));
        if (!was)
            break;
        *slash = was;
    }
    return status;
}

pictures *pictures_create(const pictures_def *def, und_error *err)
{
    pictures *p = und_alloc(1, sizeof *p, "the pictures", err);
    if (!p)
        return NULL;
    p->def = *def;
    p->stage[STAGE_PNG].name = "write png";
    p->stage[STAGE_EXR].name = "write exr";
    p->stage[STAGE_VECTOR].name = "write svg, pdf";
    p->stage[STAGE_MOVIE].name = "write movie";
    und_render_def render = def->scene->render;
    if (def->width)
        render.width = def->width;
    if (def->height)
        render.height = def->height;
    if (def->samples)
        render.samples = def->samples;
    if (def->paint)
        render.paint = *def->paint;
    render.threads = def->threads;
    render.title = def->name;
    render.stop = signals_stop;
    p->render = und_render_create(&render, err);
    if (!p->render || und_image_create(&p->image, render.width, render.height, err) != UND_OK) {
        pictures_destroy(p);
        return NULL;
    }
    return p;
}

static und_status start_files(pictures *p, und_error *err)
{
    const pictures_def *d = &p->def;
    char path[UND_PATH_MAX];
    und_status status = folder_make(d->folder, err);
    if (status == UND_OK && (d->png || d->stills > 0)) {
        status = und_path_set(path, err, "%s/stills", d->folder);
        status = status ? status : folder_make(path, err);
    }
    if (status == UND_OK && d->exr) {
        status = und_path_set(path, err, "%s/exr", d->folder);
        status = status ? status : folder_make(path, err);
    }
    if (status == UND_OK && d->movie) {
        status = und_path_set(p->movie_path, err, "%s/%s.mp4", d->folder, d->name);
        if (status != UND_OK)
            return status;
        p->movie = und_movie_open(p->movie_path, p->image.width, p->image.height, d->fps, d->threads, err);
        status = p->movie ? UND_OK : err->status;
    }
    p->started = status == UND_OK;
    return status;
}

/* The stills stand at equal distances from the first frame to the last; a single one is the last. */
static bool is_still(const pictures_def *d, int frame)
{
    int last = d->stills - 1, span = d->last - d->first;
    for (int i = 0; i <= last; i++)
        if (frame == d->first + (last > 0 ? (int)lround((double)i * span / last) : span))
            return true;
    return false;
}

static und_status write_png(pictures *p, int number, und_error *err)
{
    und_status status =
        und_path_set(p->last_png, err, "%s/stills/%s.%04d.png", p->def.folder, p->def.name, number);
    if (status == UND_OK && p->png_count++ == 0)
        memcpy(p->first_png, p->last_png, sizeof p->first_png);
    return status ? status : und_png_write(p->last_png, &p->image, p->def.threads, err);
}

static und_status write_exr(pictures *p, int number, und_error *err)
{
    char path[UND_PATH_MAX];
    und_status status = und_path_set(path, err, "%s/exr/%s.%04d.exr", p->def.folder, p->def.name, number);
    p->exr_count++;
    return status ? status : und_exr_write(path, &p->image, err);
}

/* Drawings of lines, next to the PNG. */
static und_status write_vectors(pictures *p, const und_frame *frame, und_error *err)
{
    const bool wanted[2] = {p->def.svg, p->def.pdf};
    static const char *const end[2] = {"svg", "pdf"};
    static const und_vector_format format[2] = {UND_VECTOR_SVG, UND_VECTOR_PDF};
    und_status status = UND_OK;
    for (int k = 0; k < 2 && status == UND_OK; k++) {
        char path[UND_PATH_MAX];
        if (!wanted[k])
            continue;
        status = und_path_set(path, err, "%s/stills/%s.%04d.%s", p->def.folder, p->def.name, frame->number,
                              end[k]);
        if (status == UND_OK)
            status = und_render_vector(p->render, frame, format[k], path, err);
        p->vector_count += status == UND_OK;
    }
    return status;
}

und_status pictures_add(pictures *p, const und_frame *frame, und_error *err)
{
    const pictures_def *d = &p->def;
    bool still = d->png || is_still(d, frame->number);
    if (frame->number > d->last)
        return UND_OK;
    if (frame->number < d->first || !(still || d->exr || d->movie))
        return und_render_observe(p->render, frame, err);
    und_status status = p->started ? UND_OK : start_files(p, err);
    if (status == UND_OK)
        status = und_render_draw(p->render, frame, &p->image, err);
    if (status == UND_OK && d->exr) /* linear, before the tone curve */
        STAGE (&p->stage[STAGE_EXR])
            status = write_exr(p, frame->number, err);
    if (status != UND_OK)
        return status;
    und_render_tone(p->render, &p->image);
    if (still)
        STAGE (&p->stage[STAGE_PNG])
            status = write_png(p, frame->number, err);
    if (still && status == UND_OK && (d->svg || d->pdf))
        STAGE (&p->stage[STAGE_VECTOR])
            status = write_vectors(p, frame, err);
    if (status == UND_OK && p->movie)
        STAGE (&p->stage[STAGE_MOVIE])
            status = und_movie_add(p->movie, &p->image, err);
    return status;
}

und_status pictures_finish(pictures *p, und_error *err)
{
    und_movie *movie = p->movie;
    und_status status = UND_OK;
    p->movie = NULL;
    if (movie)
        STAGE (&p->stage[STAGE_MOVIE])
            status = und_movie_close(movie, err);
    p->movie_done = movie && status == UND_OK;
    return status;
}

void pictures_print(const pictures *p)
{
    if (p->movie_done)
        printf("movie  %s\n", p->movie_path);
    if (p->png_count == 1)
        printf("still  %s\n", p->last_png);
    else if (p->png_count > 1)
        printf("stills %s\n  to   %s (%d)\n", p->first_png, p->last_png, p->png_count);
    if (p->vector_count > 0)
        printf("lines  %s/stills/%s.*.%s (%d)\n", p->def.folder, p->def.name,
               !p->def.svg   ? "pdf"
               : !p->def.pdf ? "svg"
                             : "{svg,pdf}",
               p->vector_count);
    if (p->exr_count > 0)
        printf("exr    %s/exr/%s.*.exr (%d)\n", p->def.folder, p->def.name, p->exr_count);
}

int pictures_stages(const pictures *p, und_stage *list, int room)
{
    const und_stage *render;
    int count = 0, from_render = und_render_stages(p->render, &render);
    for (int i = 0; i < from_render && count < room; i++)
        list[count++] = render[i];
    for (int i = 0; i < STAGES && count < room; i++)
        if (p->stage[i].calls > 0)
            list[count++] = p->stage[i];
    return count;
}

void pictures_destroy(pictures *p)
{
    if (!p)
        return;
    und_error ignored; /* a movie left open here belongs to a run that failed */
    if (p->movie)
        und_movie_close(p->movie, &ignored);
    und_render_destroy(p->render);
    und_image_destroy(&p->image);
    free(p);
}
