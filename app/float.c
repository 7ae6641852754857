/* undine float: bodies in a flow that is in a cache already.  The flow's cache is only read. */
#include "flow.h"

#include "base/file.h"
#include "base/parallel.h"
#include "base/stage.h"
#include "base/status.h"
#include "scene/sim.h"

#include <string.h>

enum { STAGE_READ, STAGE_FLOAT, STAGE_WRITE, STAGES };

typedef struct job {
    const args *args;
    char flow_folder[UND_PATH_MAX], folder[UND_PATH_MAX];
    und_cache *flow, *cache;
    und_cache_info info;            /* of the flow */
    und_scene *flow_scene, *bodies; /* what gravity is, and what floats */
    int first, last;                /* rows of the flow */
    und_afloat *afloat;
    und_frame frame; /* of the flow */
    progress progress;
    und_stage stage[STAGES];
} job;

static und_status load_scenes(job *j, und_error *err)
{
    const args *a = j->args;
    if (strcmp(j->info.model, "cells") != 0)
        return und_error_set(err, UND_INVALID,
                             "%s was made with liquid.%s: bodies are put into the flow of liquid.cells",
                             j->flow_folder, j->info.model);
    j->bodies = und_scene_load_bodies(a->words[1], a->settings, a->setting_count, err);
    j->flow_scene = j->bodies ? scene_of_cache(&j->info, NULL, 0, err) : NULL;
    if (!j->flow_scene)
        return err->status;
    return a->output ? und_path_set(j->folder, err, "%s", a->output)
                     : und_path_set(j->folder, err, "out/%s", und_scene_name(j->bodies));
}

static und_status read_frame(job *j, int row, und_error *err)
{
    und_status status = UND_OK;
    und_frame_clear(&j->frame);
    STAGE (&j->stage[STAGE_READ])
        status = und_cache_read(j->flow, j->info.rows[row].frame, &j->frame, err);
    return status;
}

/* Before anything is written, so that wrong bodies leave nothing behind. */
static und_status start_bodies(job *j, und_error *err)
{
    und_afloat_def def =
        und_sim_afloat_def(und_scene_get(j->bodies), und_scene_get(j->flow_scene), j->args->threads);
    und_status status = read_frame(j, j->first, err);
    if (status != UND_OK)
        return status;
    j->afloat = und_afloat_create(&def, &j->frame, err);
    return j->afloat ? UND_OK : err->status;
}

static und_status open_cache(job *j, und_error *err)
{
    const und_scene_view *bodies = und_scene_get(j->bodies);
    und_cache_def def = {.folder = j->folder,
                         .name = bodies->name,
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
                         .bodies_path = j->args->words[1],
                         .bodies_text = bodies->text,
                         .bodies_settings = bodies->settings};
    j->cache = und_cache_create(&def, j->args->force, err);
    return j->cache ? UND_OK : err->status;
}

static uint64_t state_hash(job *j, und_error *err)
{
    und_frame state = und_frame_empty(j->frame.number, j->frame.time, j->frame.grid);
    uint64_t hash = 0;
    if (und_afloat_save(j->afloat, &state, err) == UND_OK)
        hash = und_frame_hash(&state, und_threads(j->args->threads));
    und_frame_clear(&state);
    return hash;
}

/* The bodies alone: the rest of the frame stays where it is. */
static und_status write_frame(job *j, int row, und_error *err)
{
    und_frame own = und_frame_empty(j->frame.number, j->frame.time, j->frame.grid);
    und_status status = und_afloat_frame(j->afloat, &own, err);
    STAGE (&j->stage[STAGE_WRITE])
        if (status == UND_OK)
            status = und_cache_write(j->cache, &own, &j->info.rows[row].ledger, state_hash(j, err), err);
    und_frame_clear(&own);
    progress_frame(&j->progress, j->info.rows[row].frame);
    return status;
}

static und_status float_frames(job *j, und_error *err)
{
    und_status status = write_frame(j, j->first, err);
    for (int row = j->first + 1; row <= j->last && status == UND_OK; row++) {
        if (signals_stop())
            return UND_STOPPED;
        status = read_frame(j, row, err);
        STAGE (&j->stage[STAGE_FLOAT])
            if (status == UND_OK)
                status = und_afloat_advance(j->afloat, &j->frame, err);
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
    und_afloat_destroy(j->afloat);
    und_scene_destroy(j->flow_scene);
    und_scene_destroy(j->bodies);
    und_cache_close(j->flow, NULL, 0, &later); /* reading only: nothing is lost */
    return status;
}

static void print_made(const job *j, und_status status)
{
    int first = j->info.rows[j->first].frame, last = j->info.rows[j->last].frame;
    if (status == UND_STOPPED)
        printf("stopped; what was made so far is in %s; --force begins again\n", j->folder);
    else
        printf("cache  %s (frames %d to %d, in the flow of %s)\n", j->folder, first, last, j->flow_folder);
}

und_status command_float(const args *a, und_error *err)
{
    job j = {.args = a};
    static const char *const names[STAGES] = {"cache read", "float", "cache write"};
    for (int i = 0; i < STAGES; i++)
        j.stage[i].name = names[i];
    und_status status = flow_open(a, j.flow_folder, &j.flow, &j.info, err);
    if (status == UND_OK)
        status = flow_rows(a, &j.info, &j.first, &j.last, err);
    if (status == UND_OK)
        status = load_scenes(&j, err);
    if (status == UND_OK)
        status = start_bodies(&j, err);
    if (status == UND_OK)
        status = open_cache(&j, err);
    if (status == UND_OK) {
        signals_install();
        progress_start(&j.progress, "float", j.info.rows[j.first].frame, j.info.rows[j.last].frame, a->quiet);
        j.progress.only_draws = true;
        status = float_frames(&j, err);
        progress_end(&j.progress);
    }
    if ((status == UND_OK || status == UND_STOPPED) && !a->quiet)
        print_made(&j, status);
    return close_job(&j, status, err);
}
