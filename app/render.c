/* undine render: pictures and a movie of a cache.  The scene comes from the cache's manifest. */
#include "app.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/status.h"
#include "cache/cache.h"
#include "cached_flow.h"
#include "grids.h"
#include "merge.h"
#include "pictures.h"
#include "scene/cached_scene.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* What is drawn: a cache, or the caches of grids that make one picture. */
typedef struct footage {
    und_cache *caches[UND_GRIDS_MAX];
    int count;
    const char *folder, *name;
    und_cache_info info; /* of the last, which has the latest scene */
    int first, last;     /* frames that all have */
} footage;

static und_status read_frame(const footage *f, int number, und_frame *frame, und_error *err)
{
    if (f->count == 1)
        return und_cache_read(f->caches[0], number, frame, err);
    und_frame parts[UND_GRIDS_MAX];
    und_status status = UND_OK;
    int read = 0;
    while (read < f->count && status == UND_OK) {
        status = und_cache_read(f->caches[read], number, &parts[read], err);
        read += status == UND_OK;
    }
    if (status == UND_OK)
        status = merge_frames(parts, f->count, frame, err);
    for (int i = 0; i < read; i++)
        und_frame_clear(&parts[i]);
    return status;
}

static und_status open_footage(footage *f, const char *path, const grids_list *list, und_error *err)
{
    f->folder = path;
    f->first = INT_MIN;
    f->last = INT_MAX;
    for (int i = 0; i < (list->count > 0 ? list->count : 1); i++) {
        char folder[UND_PATH_MAX];
        und_status status = list->count > 0 ? und_path_set(folder, err, "%s/%s", path, list->grid[i])
                                            : und_path_set(folder, err, "%s", path);
        und_cache *cache = status == UND_OK ? open_to_read(folder, err) : NULL;
        if (!cache)
            return err->status;
        f->caches[f->count++] = cache;
        f->info = und_cache_describe(cache);
        if (f->info.row_count == 0)
            return und_error_set(err, UND_FAILED, "%s has no frames", folder);
        int first = f->info.rows[0].frame, last = f->info.rows[f->info.row_count - 1].frame;
        f->first = first > f->first ? first : f->first;
        f->last = last < f->last ? last : f->last;
    }
    f->name = list->count > 0 ? list->name : f->info.name;
    if (f->last < f->first)
        return und_error_set(err, UND_FAILED, "%s: its grids have no frame in common", path);
    return UND_OK;
}

/* Ground stays wet after the water has gone, so that frames before the first drawn are read too, unless they
 * have no such ground. */
static und_status draw_frames(const footage *f, pictures *p, progress *bar, int first, int last,
                              und_error *err)
{
    und_status status = UND_OK;
    for (int i = 0; i < f->info.row_count && status == UND_OK; i++) {
        int number = f->info.rows[i].frame;
        und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        if (number > last)
            break;
        bool passed = number < f->first;
        if (!passed)
            status = pictures_pass(p, number, &passed, err);
        if (passed || status != UND_OK)
            continue;
        if (signals_stop())
            return UND_STOPPED;
        status = read_frame(f, number, &frame, err);
        if (status == UND_OK)
            status = pictures_add(p, &frame, err);
        und_frame_clear(&frame);
        if (status == UND_OK && number >= first)
            progress_frame(bar, number);
    }
    return status;
}

/* Which frames are asked for. */
static und_status choose_frames(const footage *f, const args *a, int *first, int *last, und_error *err)
{
    *first = f->first;
    *last = f->last;
    if ((a->given & OPT_START && (a->start < *first || a->start > *last)) ||
        (a->given & OPT_END && (a->end < *first || a->end > *last)))
        return und_error_set(err, UND_INVALID, "%s has frames %d to %d", f->folder, *first, *last);
    *first = a->given & OPT_START ? a->start : *first;
    *last = a->given & OPT_END ? a->end : *last;
    if (*last < *first)
        return und_error_set(err, UND_INVALID, "the last frame, %d, is before the first, %d", *last, *first);
    return UND_OK;
}

/* What is made of them, and where; undine run of several grids comes here too. */
static und_status choose_pictures(const footage *f, const und_scene_view *scene, const args *a,
                                  pictures_def *def, char folder[UND_PATH_MAX], und_error *err)
{
    int first, last;
    und_status status = choose_frames(f, a, &first, &last, err);
    if (status != UND_OK)
        return status;
    bool run = strcmp(a->command, "render") != 0,
         asks = a->png || a->exr || a->movie || a->given & OPT_STILLS;
    *def = pictures_from_args(a, scene, folder, first, last);
    status = pictures_quality(a, scene, run ? UND_QUALITY_PREVIEW : UND_QUALITY_REVIEW, &def->quality, err);
    const char *within = pictures_folder(def->quality);
    if (status == UND_OK)
        status = a->output ? und_path_set(folder, err, "%s", a->output)
                           : und_path_set(folder, err, *within ? "%s/%s" : "%s%s", f->folder, within);
    if (!asks) { /* the whole movie, when the last of its pictures is there */
        def->movie = def->movie || (def->quality != UND_QUALITY_PREVIEW && f->last > f->first);
        def->movie_first = f->first;
        def->movie_last = f->last;
    }
    def->threads = und_threads(a->threads);
    def->name = f->name;
    def->fps = f->info.fps;
    return status;
}

static und_status draw_cache(const footage *f, und_scene *scene, const args *a, const und_paint *paint,
                             und_error *err)
{
    pictures_def def;
    char folder[UND_PATH_MAX];
    und_status status = choose_pictures(f, und_scene_get(scene), a, &def, folder, err), finished = UND_OK;
    progress bar;
    def.paint = paint;
    def.bar = &bar;
    pictures *p = status == UND_OK ? pictures_create(&def, err) : NULL;
    if (!p)
        return err->status;
    signals_install();
    if (pictures_want_extent(def.scene)) {
        und_extent extent = {.any = false};
        for (int i = 0; i < f->count; i++)
            und_extent_of_cache(&extent, f->caches[i], 0);
        pictures_frame_on(p, &extent);
    }
    progress_start(&bar, "render", def.first, def.last, a->quiet);
    bar.only_draws = true;
    status = draw_frames(f, p, &bar, def.first, def.last, err);
    progress_end(&bar);
    if (status == UND_OK || status == UND_STOPPED)
        finished = pictures_finish(p, err);
    if (finished != UND_OK)
        status = finished;
    if (status == UND_STOPPED && !a->quiet)
        printf("stopped; what was drawn so far is there\n");
    if ((status == UND_OK || status == UND_STOPPED) && !a->quiet)
        pictures_print(p);
    if (status == UND_OK && a->profile) {
        und_stage stages[64];
        print_stages(stages, pictures_stages(p, stages, 64));
        pictures_print_film(p);
    }
    pictures_destroy(p);
    return status;
}

static und_status draw_painted(const footage *f, und_scene *scene, const args *a, und_error *err)
{
    const und_cache_info info = f->info;
    und_paint paint = und_scene_get(scene)->render.paint;
    und_image image = {0};
    if (a->texture && !(info.pass && strcmp(info.pass, "texture") == 0))
        return und_error_set(err, UND_INVALID, "%s has no texture particles: undine texture %s makes them",
                             info.folder, info.folder);
    und_status status = paint_from_args(a, &paint, &image, err);
    if (status == UND_OK)
        status = draw_cache(f, scene, a, &paint, err);
    und_image_destroy(&image);
    return status;
}

und_status command_render(const args *a, und_error *err)
{
    grids_list list;
    footage f = {0};
    und_scene *scene = NULL;
    grids_read(a->words[0], &list);
    und_status status = open_footage(&f, a->words[0], &list, err);
    if (status == UND_OK) {
        scene = a->look ? und_scene_for_cache(&f.info, a->look, a->settings, a->setting_count, err)
                        : und_scene_of_cache(&f.info, a->settings, a->setting_count, err);
        status = scene ? UND_OK : err->status;
    }
    if (status == UND_OK)
        status = draw_painted(&f, scene, a, err);
    und_scene_destroy(scene);
    und_error ignored; /* reading only: nothing is lost */
    for (int i = 0; i < f.count; i++)
        und_cache_close(f.caches[i], NULL, 0, &ignored);
    return status;
}
