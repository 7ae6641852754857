#include "pictures.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/stage.h"
#include "base/status.h"
#include "picture_files.h"
#include "render/render.h"
#include "trace/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STAGE_PNG, STAGE_EXR, STAGE_VECTOR, STAGE_MOVIE, STAGES };

struct pictures {
    pictures_def def;
    und_scenery *scenery; /* that either prepares frames on */
    und_render *render;   /* of previews */
    und_trace *trace;     /* NULL: previews */
    und_layers layers;
    und_picture_def look; /* of traced pictures, settled */
    und_image image;      /* of a traced picture: its layer */
    und_movie *movie;
    bool started, movie_done, observed;
    und_film_report film; /* sums over traced pictures */
    int drawn;            /* the frame that is */
    int traced_count, kept_count, left_count,
        missing; /* traced: were there; are others'; the movie waits for */
    int png_count, exr_count, vector_count;
    char movie_path[UND_PATH_MAX], first_png[UND_PATH_MAX], last_png[UND_PATH_MAX];
    und_stage stage[STAGES];
};

static const char *const quality_name[] = {"", "preview", "review", "final"};

und_status pictures_quality(const args *a, const und_scene_view *scene, und_quality unsaid,
                            und_quality *quality, und_error *err)
{
    *quality = scene->render.quality != UND_QUALITY_UNSAID ? scene->render.quality : unsaid;
    if (a->preview && a->quality)
        return und_error_set(err, UND_INVALID, "--preview is --quality preview: give one of them");
    if (a->preview)
        *quality = UND_QUALITY_PREVIEW;
    for (int k = UND_QUALITY_PREVIEW; a->quality && k <= UND_QUALITY_FINAL; k++)
        if (strcmp(a->quality, quality_name[k]) == 0) {
            *quality = (und_quality)k;
            return UND_OK;
        }
    return a->quality ? und_error_set(err, UND_INVALID, "--quality wants preview, review or final, not %s",
                                      a->quality)
                      : UND_OK;
}

const char *pictures_folder(und_quality quality)
{
    return quality == UND_QUALITY_PREVIEW ? "" : quality_name[quality];
}

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
        .movie_first = first,
        .movie_last = last,
        .quality = UND_QUALITY_PREVIEW,
        .noise = a->noise,
        .overwrite = a->overwrite,
        .threads = a->threads,
        .fps = scene->fps,
    };
}

static void tell(void *context, double share)
{
    const pictures *p = context;
    progress_part(p->def.bar, p->drawn, share);
}

static und_status make_drawer(pictures *p, const und_picture_def *render, und_error *err)
{
    if (p->def.quality == UND_QUALITY_PREVIEW) {
        p->render = und_render_create(render, err);
        p->scenery = p->render ? und_render_stage(p->render) : NULL;
        return p->render ? und_image_create(&p->image, render->width, render->height, err) : err->status;
    }
    p->def.png = p->def.png || p->def.movie; /* which is made of them */
    p->trace = und_trace_create(render, err);
    if (!p->trace || und_layers_create(&p->layers, render->width, render->height, err) != UND_OK)
        return err->status;
    p->scenery = und_trace_stage(p->trace);
    p->image = (und_image){render->width, render->height, p->layers.rgb};
    p->look = *render;
    und_trace_settle(&p->look);
    return UND_OK;
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
    und_picture_def render = def->scene->render;
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
    if (def->bar) {
        render.told = tell;
        render.told_context = p;
    }
    if (def->noise > 0)
        render.noise = def->noise;
    render.quality = def->quality;
    if (make_drawer(p, &render, err) != UND_OK) {
        pictures_destroy(p);
        return NULL;
    }
    return p;
}

bool pictures_want_extent(const und_scene_view *scene)
{
    return !scene->height_field && scene->grid.n[2] > 1 && scene->render.tank == UND_TANK_NONE &&
           !und_picture_has_camera(&scene->render);
}

void pictures_frame_on(pictures *p, const und_extent *extent)
{
    und_scenery_frame_on(p->scenery, extent);
    p->look.framed = *extent;
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

static picture_files files_of(const pictures *p, int number)
{
    const pictures_def *d = &p->def;
    return (picture_files){d->folder, d->name, d->png || is_still(d, number), d->exr};
}

/* What the pictures of a folder are made of, on one line. */
static und_status sign_folder(const pictures *p, und_error *err)
{
    const und_picture_def *d = &p->look;
    const und_scene_view *scene = p->def.scene;
    char look[512];
    uint64_t hash = und_hash(scene->text, strlen(scene->text), 1, 1);
    if (scene->settings)
        hash = und_hash(scene->settings, strlen(scene->settings), hash, 1);
    hash = und_hash(&d->paint.kind, sizeof d->paint.kind, hash, 1);
    if (d->framed.any) {
        hash = und_hash(d->framed.low, sizeof d->framed.low, hash, 1);
        hash = und_hash(d->framed.high, sizeof d->framed.high, hash, 1);
    }
    const und_image *plate = d->paint.image;
    if (plate)
        hash =
            und_hash(plate->rgb, (size_t)plate->width * (size_t)plate->height * 3 * sizeof(float), hash, 1);
    snprintf(look, sizeof look, "%s, %d x %d pixels, noise %g, %d to %d samples, scene %016llx\n",
             quality_name[d->quality], d->width, d->height, d->noise, d->least_samples, d->most_samples,
             (unsigned long long)hash);
    picture_files files = files_of(p, p->def.first);
    return picture_sign(&files, look, p->def.overwrite, err);
}

static und_status start_files(pictures *p, und_error *err)
{
    const pictures_def *d = &p->def;
    char path[UND_PATH_MAX];
    und_status status = und_folder_make(d->folder, err);
    if (status == UND_OK && (d->png || d->stills > 0)) {
        status = und_path_set(path, err, "%s/stills", d->folder);
        status = status ? status : und_folder_make(path, err);
    }
    if (status == UND_OK && d->exr) {
        status = und_path_set(path, err, "%s/exr", d->folder);
        status = status ? status : und_folder_make(path, err);
    }
    if (status == UND_OK && p->trace)
        status = sign_folder(p, err);
    if (status == UND_OK && d->movie)
        status = und_path_set(p->movie_path, err, "%s/%s.mp4", d->folder, d->name);
    if (status == UND_OK && d->movie && und_movie_supported() && !p->trace) {
        p->movie = und_movie_open(p->movie_path, p->image.width, p->image.height, d->fps, d->threads, err);
        status = p->movie ? UND_OK : err->status;
    }
    p->started = status == UND_OK;
    return status;
}

static und_status write_png(pictures *p, int number, und_error *err)
{
    picture_files files = files_of(p, number);
    und_status status = picture_png(&files, number, p->last_png, err);
    if (status == UND_OK && p->png_count++ == 0)
        memcpy(p->first_png, p->last_png, sizeof p->first_png);
    return status ? status : und_png_write(p->last_png, &p->image, p->def.threads, err);
}

static und_status write_exr(pictures *p, int number, und_error *err)
{
    char path[UND_PATH_MAX];
    picture_files files = files_of(p, number);
    und_status status = picture_exr(&files, number, path, err);
    p->exr_count++;
    if (status != UND_OK)
        return status;
    return p->trace ? und_layers_write(&p->layers, path, err) : und_exr_write(path, &p->image, err);
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
            status = und_render_vector(p->scenery, frame, format[k], path, err);
        p->vector_count += status == UND_OK;
    }
    return status;
}

/* Linear, before the tone curve. */
static und_status draw(pictures *p, const und_frame *frame, und_error *err)
{
    if (!p->trace)
        return und_render_draw(p->render, frame, &p->image, err);
    und_film_report report;
    p->drawn = frame->number;
    und_status status = und_trace_draw(p->trace, frame, &p->layers, &report, err);
    p->traced_count += status == UND_OK;
    p->film.samples += report.samples;
    p->film.paths += report.paths;
    p->film.rays += report.rays;
    p->film.noise += report.noise;
    p->film.reached += report.reached;
    p->film.dropped += report.dropped;
    p->film.cleaned += report.cleaned;
    return status;
}

static und_status draw_files(pictures *p, const und_frame *frame, bool still, und_error *err)
{
    const pictures_def *d = &p->def;
    und_status status = draw(p, frame, err);
    if (status == UND_OK && d->exr)
        STAGE (&p->stage[STAGE_EXR])
            status = write_exr(p, frame->number, err);
    if (status != UND_OK)
        return status;
    und_scenery_tone(p->scenery, &p->image);
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

static bool is_wanted(const pictures *p, int number)
{
    const pictures_def *d = &p->def;
    return number >= d->first && number <= d->last && (d->png || d->exr || d->movie || is_still(d, number));
}

und_status pictures_pass(pictures *p, int number, bool *passed, und_error *err)
{
    picture_files files = files_of(p, number);
    bool wanted = is_wanted(p, number);
    bool there = wanted && p->trace && !p->def.overwrite && picture_there(&files, number);
    *passed = p->observed && !und_scenery_remembers(p->scenery) && (!wanted || there);
    if (!*passed || !there)
        return UND_OK;
    p->kept_count++;
    return p->started ? UND_OK : start_files(p, err);
}

/* A traced picture, unless it is there or another process's. */
static und_status draw_claimed(pictures *p, const und_frame *frame, und_error *err)
{
    int number = frame->number;
    picture_files files = files_of(p, number);
    bool there = !p->def.overwrite && picture_there(&files, number);
    int lock;
    bool mine = !there && picture_claim(&files, number, &lock);
    if (mine && !p->def.overwrite && picture_there(&files, number)) { /* finished in between */
        picture_release(&files, number, lock);
        there = true;
        mine = false;
    }
    p->kept_count += there;
    p->left_count += !there && !mine;
    if (!mine)
        return und_trace_observe(p->trace, frame, err);
    und_status status = draw_files(p, frame, files.png, err);
    picture_release(&files, number, lock);
    return status;
}

und_status pictures_add(pictures *p, const und_frame *frame, und_error *err)
{
    if (frame->number > p->def.last)
        return UND_OK;
    p->observed = true;
    if (!is_wanted(p, frame->number))
        return und_scenery_observe(p->scenery, frame, err);
    und_status status = p->started ? UND_OK : start_files(p, err);
    if (status != UND_OK)
        return status;
    return p->trace ? draw_claimed(p, frame, err) : draw_files(p, frame, files_of(p, frame->number).png, err);
}

static und_status finish_traced(pictures *p, und_error *err)
{
    const pictures_def *d = &p->def;
    picture_files files = files_of(p, d->first);
    picture_movie movie = {.first = d->movie_first,
                           .last = d->movie_last,
                           .fps = d->fps,
                           .threads = d->threads,
                           .stop = signals_stop};
    memcpy(movie.path, p->movie_path, sizeof movie.path);
    und_status status = UND_OK;
    STAGE (&p->stage[STAGE_MOVIE])
        status = picture_movie_make(&files, &movie, &p->missing, err);
    p->movie_done = status == UND_OK && p->missing == 0;
    return status;
}

und_status pictures_finish(pictures *p, und_error *err)
{
    und_movie *movie = p->movie;
    und_status status = UND_OK;
    p->movie = NULL;
    if (p->trace && p->def.movie && und_movie_supported() && p->started && !signals_stop())
        return finish_traced(p, err);
    if (movie)
        STAGE (&p->stage[STAGE_MOVIE])
            status = und_movie_close(movie, err);
    p->movie_done = movie && status == UND_OK;
    return status;
}

void pictures_print(const pictures *p)
{
    if (p->def.movie && !und_movie_supported())
        printf("movie  none: this build was made without libavcodec\n");
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
    if (p->kept_count > 0)
        printf("kept   %d that were there; --overwrite draws them again\n", p->kept_count);
    if (p->left_count > 0)
        printf("left   %d that other processes are drawing (%s/%s.*.lock)\n", p->left_count, p->def.folder,
               p->def.name);
    if (p->missing > 0)
        printf("movie  waits for %d pictures\n", p->missing);
    if (p->exr_count > 0)
        printf("exr    %s/exr/%s.*.exr (%d)\n", p->def.folder, p->def.name, p->exr_count);
}

void pictures_print_film(const pictures *p)
{
    double n = p->traced_count;
    if (p->traced_count > 0)
        printf(
            "%.1f samples a pixel of %.1f rays, noise %.4f, reached in %.1f %% of pixels; %g paths dropped, "
            "%g pixels cleaned\n",
            p->film.samples / n, p->film.rays / fmax(p->film.paths, 1), p->film.noise / n,
            100 * p->film.reached / n, p->film.dropped, p->film.cleaned);
}

int pictures_stages(const pictures *p, und_stage *list, int room)
{
    const und_stage *render;
    int count = 0,
        from_render = p->trace ? und_trace_stages(p->trace, &render) : und_render_stages(p->render, &render);
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
    und_movie_cancel(p->movie); /* one left open here belongs to a run that failed */
    if (p->trace) {
        und_trace_destroy(p->trace);
        und_layers_destroy(&p->layers);
    } else {
        und_render_destroy(p->render);
        und_image_destroy(&p->image);
    }
    free(p);
}
