/* undine export: a cache's frames as files for other programs. */
#include "exports.h"
#include "grids.h"

#include "base/parallel.h"
#include "base/status.h"
#include "cache/cache.h"
#include "cached_flow.h"
#include "scene/cached_scene.h"
#include "scene/scene.h"

#include <string.h>

static und_status export_frames(und_cache *cache, const und_cache_info *info, exports *e, progress *bar,
                                int first, int last, und_error *err)
{
    und_status status = UND_OK;
    for (int i = 0; i < info->row_count && status == UND_OK; i++) {
        int number = info->rows[i].frame;
        if (number < first || number > last)
            continue;
        if (signals_stop())
            return UND_STOPPED;
        und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        status = und_cache_read(cache, number, &frame, err);
        if (status == UND_OK)
            status = exports_add(e, &frame, err);
        und_frame_clear(&frame);
        if (status == UND_OK)
            progress_frame(bar, number);
    }
    return status;
}

static und_status export_cache(und_cache *cache, const args *a, const und_paint *paint, und_error *err)
{
    und_cache_info info = und_cache_describe(cache);
    exports_def def;
    if (exports_from_args(a, &def, err) != UND_OK)
        return err->status;
    def.paint = *paint;
    def.textured = a->texture;
    int first = info.rows[0].frame, last = info.rows[info.row_count - 1].frame;
    def.first = a->given & OPT_START ? a->start : first;
    def.last = a->given & OPT_END ? a->end : last;
    if (def.first < first || def.first > last || def.last < first || def.last > last)
        return und_error_set(err, UND_INVALID, "%s has frames %d to %d", info.folder, first, last);
    if (def.last < def.first)
        return und_error_set(err, UND_INVALID, "the last frame, %d, is before the first, %d", def.last,
                             def.first);
    def.folder = a->output ? a->output : info.folder;
    def.name = info.name;
    def.model = info.model;
    def.threads = und_threads(a->threads);
    exports *e = exports_create(&def, err);
    if (!e)
        return err->status;
    progress bar;
    signals_install();
    progress_start(&bar, "export", def.first, def.last, a->quiet);
    bar.only_draws = true;
    und_status status = export_frames(cache, &info, e, &bar, def.first, def.last, err);
    progress_end(&bar);
    if (status == UND_STOPPED && !a->quiet)
        printf("stopped; what was written so far is there\n");
    if ((status == UND_OK || status == UND_STOPPED) && !a->quiet)
        exports_print(e);
    if (status == UND_OK && a->profile) {
        und_stage stages[8];
        print_stages(stages, exports_stages(e, stages, 8));
    }
    exports_destroy(e);
    return status;
}

/* What the meshes are painted with: as the scene says, or --texture. */
static und_status export_painted(und_cache *cache, const args *a, und_error *err)
{
    und_cache_info info = und_cache_describe(cache);
    und_paint paint = {0};
    und_image image = {0};
    und_scene *scene = NULL;
    und_status status = UND_OK;
    if (info.pass && strcmp(info.pass, "texture") == 0) {
        scene = und_scene_of_cache(&info, NULL, 0, err);
        status = scene ? UND_OK : err->status;
        if (scene)
            paint = und_scene_get(scene)->render.paint;
    }
    if (status == UND_OK)
        status = paint_from_args(a, &paint, &image, err);
    if (status == UND_OK)
        status = export_cache(cache, a, &paint, err);
    und_image_destroy(&image);
    und_scene_destroy(scene);
    return status;
}

und_status command_export(const args *a, und_error *err)
{
    grids_list list;
    if (grids_read(a->words[0], &list))
        return grids_each(a, &list, command_export, err);
    und_cache *cache = open_to_read(a->words[0], err);
    if (!cache)
        return err->status;
    und_cache_info info = und_cache_describe(cache);
    und_status status = info.row_count > 0 ? export_painted(cache, a, err)
                                           : und_error_set(err, UND_FAILED, "%s has no frames", a->words[0]);
    und_error ignored; /* reading only: nothing is lost */
    und_cache_close(cache, NULL, 0, &ignored);
    return status;
}
