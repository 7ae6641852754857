/* undine texture: texture particles on the surface of a liquid that is in a cache already.  The flow's cache
 * is only read. */
#include "flow.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/stage.h"
#include "base/status.h"
#include "scene/scene.h"

#include <string.h>

enum { STAGE_READ, STAGE_CARRY, STAGE_WRITE, STAGES };

typedef struct job {
    const args *args;
    char flow_folder[UND_PATH_MAX], folder[UND_PATH_MAX], settings[64];
    und_cache *flow, *cache;
    und_cache_info info; /* of the flow */
    und_scene *scene;    /* its camera */
    int first, last;     /* rows of the flow */
    und_plate plate;
    und_texture *texture;
    und_frame frame; /* of the flow */
    progress progress;
    und_stage stage[STAGES];
} job;

static und_status check_flow(job *j, und_error *err)
{
    if (strcmp(j->info.model, "levelset") != 0)
        return und_error_set(err, UND_INVALID,
                             "%s was made with liquid.%s: texture particles are put on the surface of "
                             "liquid.levelset",
                             j->flow_folder, j->info.model);
    return UND_OK;
}

/* Without -o beside the flow. */
static und_status choose_folder(job *j, und_error *err)
{
    if (j->args->output)
        return und_path_set(j->folder, err, "%s", j->args->output);
    size_t length = strlen(j->flow_folder);
    while (length > 1 && j->flow_folder[length - 1] == '/')
        length--;
    return und_path_set(j->folder, err, "%.*s-texture", (int)length, j->flow_folder);
}

static und_status read_frame(job *j, int row, und_error *err)
{
    und_status status = UND_OK;
    und_frame_clear(&j->frame);
    STAGE (&j->stage[STAGE_READ])
        status = und_cache_read(j->flow, j->info.rows[row].frame, &j->frame, err);
    return status;
}

/* Says which cache it is about. */
static und_status in_flow(const job *j, und_error *err)
{
    und_error cause = *err;
    return und_error_set(err, cause.status, "%.400s: %.600s", j->flow_folder, cause.text);
}

/* Before anything is written, so that a flow without velocities leaves nothing behind. */
static und_status start_texture(job *j, und_error *err)
{
    und_texture_def def = und_texture_def_default();
    und_status status = read_frame(j, j->first, err);
    if (status != UND_OK)
        return status;
    def.threads = j->args->threads;
    if (j->args->given & OPT_SPACING)
        def.spacing = j->args->spacing;
    snprintf(j->settings, sizeof j->settings, "spacing=%g", def.spacing);
    j->plate = und_render_plate(&und_scene_get(j->scene)->render, &j->frame);
    def.plate = &j->plate;
    STAGE (&j->stage[STAGE_CARRY])
        j->texture = und_texture_create(&def, &j->frame, err);
    return j->texture ? UND_OK : in_flow(j, err);
}

static und_status open_cache(job *j, und_error *err)
{
    und_cache_def def = {.folder = j->folder,
                         .name = j->info.name,
                         .model = j->info.model,
                         .scene_path = j->info.scene_path,
                         .scene_text = j->info.scene_text,
                         .settings = j->info.settings,
                         .start = j->info.rows[j->first].frame,
                         .end = j->info.rows[j->last].frame,
                         .fps = j->info.fps,
                         .compress = j->args->compress,
                         .threads = und_threads(j->args->threads),
                         .flow = j->flow_folder,
                         .pass = "texture",
                         .bodies_path = "",
                         .bodies_text = "",
                         .bodies_settings = j->settings};
    j->cache = und_cache_create(&def, j->args->force, err);
    return j->cache ? UND_OK : err->status;
}

/* The particles alone: the rest of the frame stays where it is. */
static und_status write_frame(job *j, int row, und_error *err)
{
    und_frame own = und_frame_empty(j->frame.number, j->frame.time, j->frame.grid);
    und_status status = und_texture_frame(j->texture, &own, err);
    STAGE (&j->stage[STAGE_WRITE])
        if (status == UND_OK)
            status = und_cache_write(j->cache, &own, &j->info.rows[row].ledger,
                                     und_frame_hash(&own, und_threads(j->args->threads)), err);
    und_frame_clear(&own);
    progress_frame(&j->progress, j->info.rows[row].frame);
    return status;
}

static und_status carry_frames(job *j, und_error *err)
{
    und_status status = write_frame(j, j->first, err);
    for (int row = j->first + 1; row <= j->last && status == UND_OK; row++) {
        if (signals_stop())
            return UND_STOPPED;
        status = read_frame(j, row, err);
        STAGE (&j->stage[STAGE_CARRY])
            if (status == UND_OK && und_texture_advance(j->texture, &j->frame, err) != UND_OK)
                status = in_flow(j, err);
        if (status == UND_OK)
            status = write_frame(j, row, err);
    }
    return status;
}

static und_status close_job(job *j, und_status status, und_error *err)
{
    und_error later = {0};
    if (j->cache && und_cache_close(j->cache, j->stage, STAGES, &later) != UND_OK &&
        (status == UND_OK || status == UND_STOPPED)) {
        *err = later;
        status = later.status;
    }
    if (j->args->profile && (status == UND_OK || status == UND_STOPPED))
        print_stages(j->stage, STAGES);
    und_frame_clear(&j->frame);
    und_texture_destroy(j->texture);
    und_scene_destroy(j->scene);
    und_cache_close(j->flow, NULL, 0, &later); /* reading only: nothing is lost */
    return status;
}

static void print_made(const job *j, und_status status)
{
    if (status == UND_STOPPED)
        printf("stopped; what was made so far is in %s; --force begins again\n", j->folder);
    else
        printf("cache  %s (frames %d to %d, %d texture particles, in the flow of %s)\n", j->folder,
               j->info.rows[j->first].frame, j->info.rows[j->last].frame,
               und_texture_counts(j->texture).particles, j->flow_folder);
}

und_status command_texture(const args *a, und_error *err)
{
    job j = {.args = a};
    static const char *const names[STAGES] = {"cache read", "texture", "cache write"};
    for (int i = 0; i < STAGES; i++)
        j.stage[i].name = names[i];
    und_status status = flow_open(a, j.flow_folder, &j.flow, &j.info, err);
    if (status == UND_OK)
        status = flow_rows(a, &j.info, &j.first, &j.last, err);
    if (status == UND_OK)
        status = check_flow(&j, err);
    if (status == UND_OK && !(j.scene = scene_of_cache(&j.info, NULL, 0, err)))
        status = err->status;
    if (status == UND_OK)
        status = choose_folder(&j, err);
    if (status == UND_OK)
        status = start_texture(&j, err);
    if (status == UND_OK)
        status = open_cache(&j, err);
    if (status == UND_OK) {
        signals_install();
        progress_start(&j.progress, "texture", j.info.rows[j.first].frame, j.info.rows[j.last].frame,
                       a->quiet);
        j.progress.only_draws = true;
        status = carry_frames(&j, err);
        progress_end(&j.progress);
    }
    if ((status == UND_OK || status == UND_STOPPED) && !a->quiet)
        print_made(&j, status);
    return close_job(&j, status, err);
}
