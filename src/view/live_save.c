/* Saving a moment of a scene that runs: as a scene, or as a cache with a checkpoint. */
#include "base/status.h"
#include "cache/cache.h"
#include "scene/write_scene.h"
#include "view/disk.h"
#include "view/live_state.h"

#include <stdio.h>

void und_live_write_scene(und_live *live, const char *path)
{
    const und_scene_moment moment = {.scene = live->scene,
                                     .sim = live->sim,
                                     .settings = live->settings,
                                     .setting_count = live->setting_count,
                                     .dt = live->dt,
                                     .threads = live->threads};
    und_error err = {0};
    if (und_scene_write(&moment, path, &err) != UND_OK)
        und_live_note(live, "%s was not written: %s", path, err.text);
    else
        und_live_note(live, "%s begins at %g s. To run it: undine run %s", path,
                      und_sim_frame(live->sim)->time, path);
}

/* The frame and the state of it; the folder must be a new one. */
static und_status write_cache(und_live *live, const char *folder, int *number, und_error *err)
{
    const und_scene_view *view = und_scene_get(live->scene);
    const und_frame *frame = und_sim_frame(live->sim);
    if (!frame)
        return und_error_set(err, UND_FAILED, "out of memory: a frame");
    und_ledger ledger = und_sim_ledger(live->sim);
    *number = frame->number;
    und_cache_def def = {.folder = folder,
                         .name = view->name,
                         .model = und_model_name(view->model),
                         .scene_path = view->path,
                         .scene_text = view->text,
                         .settings = view->settings,
                         .files = view->files,
                         .file_count = view->file_count,
                         .grid = view->grid_name,
                         .start = frame->number,
                         .end = frame->number,
                         .fps = view->fps,
                         .threads = live->threads};
    und_cache *cache = und_cache_create(&def, false, err);
    if (!cache)
        return err->status;
    und_frame state = und_frame_empty(0, 0, (und_grid){0});
    und_status status = und_cache_write(cache, frame, &ledger, und_sim_hash(live->sim), err);
    if (status == UND_OK)
        status = und_sim_save(live->sim, &state, err);
    if (status == UND_OK)
        status = und_cache_checkpoint_as(cache, &state, und_sim_hash(live->sim), err);
    und_frame_clear(&state);
    und_error ignored; /* the first error is the one to tell */
    und_status closed = und_cache_close(cache, NULL, 0, status == UND_OK ? err : &ignored);
    return status == UND_OK ? closed : status;
}

/* A checkpoint stands at a whole frame: the liquid goes on to the next one first. */
void und_live_write_checkpoint(und_live *live, const char *folder)
{
    und_error err = {0};
    int number = 0;
    double left = und_sim_to_frame(live->sim);
    if (live->failed || (left > 0 && !und_live_go(live, left))) {
        und_live_note(live, "%s was not written: the liquid cannot go on to the next frame", folder);
        return;
    }
    und_disk_lock();
    und_status status = write_cache(live, folder, &number, &err);
    und_disk_unlock();
    if (status != UND_OK) {
        und_live_note(live, "%s was not written: %s", folder, err.text);
        return;
    }
    char settings[256] = "";
    size_t length = 0;
    for (int i = 0; i < live->setting_count && length < sizeof settings; i++)
        length += (size_t)snprintf(settings + length, sizeof settings - length, " --set %s=%s",
                                   live->settings[i].name, live->settings[i].value);
    und_live_note(live, "%s holds frame %d. To go on: undine sim %s%s --from %s@%d -o NEW", folder, number,
                  live->path, settings, folder, number);
}
