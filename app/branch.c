#include "branch.h"

#include "base/status.h"
#include "links.h"
#include "scene/cached_scene.h"

#include <stdlib.h>
#include <string.h>

/* CACHE@FRAME, at the last @. */
static und_status split(branch *b, const char *text, und_error *err)
{
    const char *at = strrchr(text, '@');
    char *end = NULL;
    long frame = at && at > text ? strtol(at + 1, &end, 10) : 0;
    if (!end || end == at + 1 || *end || frame < -999999 || frame > 999999)
        return und_error_set(err, UND_INVALID, "--from wants CACHE@FRAME, such as out/letters@40, not %s",
                             text);
    b->frame = (int)frame;
    return und_path_set(b->folder, err, "%.*s", (int)(at - text), text);
}

static const und_cache_row *find_row(const und_cache_info *info, int frame)
{
    for (int i = 0; i < info->row_count; i++)
        if (info->rows[i].frame == frame)
            return &info->rows[i];
    return NULL;
}

und_status branch_open(branch *b, const args *a, const und_scene_view *view, int *first, const int *last,
                       und_error *err)
{
    und_status status = split(b, a->from, err);
    if (status == UND_OK && a->given & OPT_START)
        status = und_error_set(err, UND_INVALID,
                               "--start does not go with --from: a branch begins where %s does", b->folder);
    if (status != UND_OK || !(b->cache = open_to_read(b->folder, err)))
        return status ? status : err->status;
    und_cache_info info = und_cache_describe(b->cache);
    if (info.flow)
        return und_error_set(err, UND_INVALID, "%s holds bodies in another's flow: branch off that, %s",
                             b->folder, info.flow);
    if (strcmp(info.model, und_model_name(view->model)) != 0)
        return und_error_set(err, UND_INVALID, "%s was made with liquid.%s, and %s has liquid.%s", b->folder,
                             info.model, view->path, und_model_name(view->model));
    if (!find_row(&info, b->frame)) {
        if (info.row_count == 0)
            return und_error_set(err, UND_INVALID, "%s has no frames", b->folder);
        return und_error_set(err, UND_INVALID, "%s has frames %d to %d, not %d", b->folder,
                             info.rows[0].frame, info.rows[info.row_count - 1].frame, b->frame);
    }
    if (*last < b->frame)
        return und_error_set(err, UND_INVALID, "the last frame, %d, is before the branch at %d", *last,
                             b->frame);
    *first = info.start;
    return UND_OK;
}

/* Steps of the other's scene, from the state on to the frame. */
static und_status simulate_on(const branch *b, und_sim *other, bool quiet, und_error *err)
{
    progress bar;
    int from = und_sim_frame_number(other);
    und_status status = UND_OK;
    if (!quiet)
        printf("no state of %s is kept at frame %d: simulating its scene from frame %d\n", b->folder,
               b->frame, from);
    signals_install();
    progress_start(&bar, "branch", from, b->frame, quiet);
    for (int step = 1; status == UND_OK && und_sim_frame_number(other) < b->frame; step++) {
        bool step_done, done = false;
        if (signals_stop())
            status = UND_STOPPED;
        else
            status = und_sim_part(other, &step_done, &done, err);
        progress_substep(&bar, und_sim_frame_number(other) + !done, step);
        if (done)
            progress_frame(&bar, und_sim_frame_number(other));
    }
    progress_end(&bar);
    return status;
}

/* The state that the other's scene has at the frame, which must be the one that made the frames there. */
static und_status make_state(const branch *b, const args *a, const und_cache_info *info, und_frame *state,
                             und_error *err)
{
    links joined = {0};
    und_scene *scene = und_scene_of_cache(info, NULL, 0, err);
    und_status status = scene ? UND_OK : err->status;
    if (status == UND_OK && info->grid)
        status = links_read(&joined, a, scene, info->folder, err);
    und_sim *other = status == UND_OK ? und_sim_create(scene, a->threads, err) : NULL;
    status = other ? UND_OK : err->status;
    und_frame made = und_frame_empty(0, 0, (und_grid){0});
    if (status == UND_OK && state->count > 0)
        status = info->branch && state->number == info->branch_frame ? und_sim_branch(other, state, err)
                                                                     : und_sim_restore(other, state, err);
    if (status == UND_OK)
        status = simulate_on(b, other, a->quiet, err);
    if (status == UND_OK && und_sim_hash(other) != find_row(info, b->frame)->state_hash)
        status = und_error_set(err, UND_FAILED,
                               "%s: its scene no longer gives the frames that are there, so that nothing can "
                               "go on from frame %d: has a file of the scene changed?",
                               info->folder, b->frame);
    if (status == UND_OK)
        status = und_sim_save(other, &made, err);
    und_frame_clear(state);
    *state = und_frame_empty(made.number, made.time, made.grid);
    if (status == UND_OK)
        status = und_frame_copy(&made, state, err);
    und_frame_clear(&made);
    und_sim_destroy(other);
    links_close(&joined);
    und_scene_destroy(scene);
    return status;
}

und_status branch_state(branch *b, const args *a, und_sim *sim, und_frame *state, und_error *err)
{
    char holder[UND_PATH_MAX];
    und_error ignored; /* reading only: nothing is lost */
    und_status status = und_cache_holder(b->cache, b->frame, holder, sizeof holder, err);
    und_cache *cache = status == UND_OK ? und_cache_open(holder, err) : NULL;
    if (!cache)
        return err->status;
    und_cache_info info = und_cache_describe(cache);
    status = und_cache_state(cache, b->frame, state, err);
    if (status == UND_OK && (state->count == 0 || state->number < b->frame))
        status = make_state(b, a, &info, state, err);
    if (status == UND_OK)
        status = und_sim_branch(sim, state, err);
    und_cache_close(cache, NULL, 0, &ignored);
    return status;
}

void branch_close(branch *b)
{
    und_error ignored; /* reading only: nothing is lost */
    und_cache_close(b->cache, NULL, 0, &ignored);
}
