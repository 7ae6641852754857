/* undine render: pictures and a movie of a cache.  The scene comes from the cache's manifest. */
#include "app.h"

#include "base/parallel.h"
#include "base/status.h"
#include "cache/cache.h"
#include "flow.h"
#include "pictures.h"

#include <stdlib.h>
#include <string.h>

/* Ground stays wet after the water has gone, so that frames before the first drawn are read too. */
static und_status draw_frames(und_cache *cache, const und_cache_info *info, pictures *p, progress *bar,
                              int first, int last, und_error *err)
{
    und_status status = UND_OK;
    for (int i = 0; i < info->row_count && status == UND_OK; i++) {
        int number = info->rows[i].frame;
        und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        if (number > last)
            break;
        if (signals_stop())
            return UND_STOPPED;
        status = und_cache_read(cache, number, &frame, err);
        if (status == UND_OK)
            status = pictures_add(p, &frame, err);
        und_frame_clear(&frame);
        if (status == UND_OK && number >= first)
            progress_frame(bar, number);
    }
    return status;
}

static und_status draw_cache(und_cache *cache, und_scene *scene, const args *a, const und_paint *paint,
                             und_error *err)
{
    und_cache_info info = und_cache_describe(cache);
    int threads = und_threads(a->threads);
    int first = info.rows[0].frame, last = info.rows[info.row_count - 1].frame;
    if ((a->given & OPT_START && (a->start < first || a->start > last)) ||
        (a->given & OPT_END && (a->end < first || a->end > last)))
        return und_error_set(err, UND_INVALID, "%s has frames %d to %d", info.folder, first, last);
    first = a->given & OPT_START ? a->start : first;
    last = a->given & OPT_END ? a->end : last;
    if (last < first)
        return und_error_set(err, UND_INVALID, "the last frame, %d, is before the first, %d", last, first);
    const char *folder = a->output ? a->output : info.folder;
    pictures_def def = pictures_from_args(a, und_scene_get(scene), folder, first, last);
    def.threads = threads;
    def.paint = paint;
    def.name = info.name;
    def.fps = info.fps;
    pictures *p = pictures_create(&def, err);
    if (!p)
        return err->status;
    progress bar;
    signals_install();
    progress_start(&bar, "render", first, last, a->quiet);
    bar.only_draws = true;
    und_status status = draw_frames(cache, &info, p, &bar, first, last, err), finished = UND_OK;
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
    }
    pictures_destroy(p);
    return status;
}

static und_status draw_painted(und_cache *cache, und_scene *scene, const args *a, und_error *err)
{
    und_cache_info info = und_cache_describe(cache);
    und_paint paint = und_scene_get(scene)->render.paint;
    und_image image = {0};
    if (a->texture && !(info.pass && strcmp(info.pass, "texture") == 0))
        return und_error_set(err, UND_INVALID, "%s has no texture particles: undine texture %s makes them",
                             info.folder, info.folder);
    und_status status = paint_from_args(a, &paint, &image, err);
    if (status == UND_OK)
        status = draw_cache(cache, scene, a, &paint, err);
    und_image_destroy(&image);
    return status;
}

und_status command_render(const args *a, und_error *err)
{
    und_cache *cache = open_to_read(a->words[0], err);
    if (!cache)
        return err->status;
    und_cache_info info = und_cache_describe(cache);
    und_status status = UND_OK;
    und_scene *scene = NULL;
    if (info.row_count == 0)
        status = und_error_set(err, UND_FAILED, "%s has no frames", a->words[0]);
    else if (!(scene = scene_of_cache(&info, a->settings, a->setting_count, err)))
        status = err->status;
    else
        status = draw_painted(cache, scene, a, err);
    und_scene_destroy(scene);
    und_error ignored; /* reading only: nothing is lost */
    und_cache_close(cache, NULL, 0, &ignored);
    return status;
}
