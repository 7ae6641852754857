#include "cache/cache.h"

#include "base/parallel.h"
#include "base/status.h"
#include "cache/branch.h"
#include "cache/lock.h"
#include "cache/shared_flow.h"
#include "cache/state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

und_cache *und_cache_open(const char *folder, und_error *err)
{
    und_cache *cache = und_cache_new(folder, err);
    if (cache && und_cache_load(cache, err)) {
        und_cache_free(cache);
        return NULL;
    }
    return cache;
}

und_status und_cache_close(und_cache *cache, const und_stage *stages, int stage_count, und_error *err)
{
    if (!cache)
        return UND_OK;
    und_status status = UND_OK;
    if (cache->writes) {
        struct rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        size_t peak = (size_t)usage.ru_maxrss * 1024; /* Linux counts in KiB */
        if (peak > cache->manifest.peak_memory)
            cache->manifest.peak_memory = peak;
        status = und_manifest_add_stages(&cache->manifest, stages, stage_count, err);
        if (!status)
            status = und_cache_commit(cache, err);
        char path[UND_PATH_MAX];
        if (!und_cache_path(cache, "lock", path, NULL))
            und_lock_release(path, cache->lock);
    }
    und_cache_free(cache);
    return status;
}

/* A frame that holds the static items of another, borrowed. */
static und_status select_static(const und_frame *frame, und_frame *statics, und_error *err)
{
    *statics = und_frame_empty(0, 0, frame->grid);
    for (int i = 0; i < frame->count; i++) {
        const und_item *item = &frame->items[i];
        if (!item->is_static)
            continue;
        und_item_def def = {item->name, item->unit, item->kind, item->type, true, item->rank, {0}};
        memcpy(def.dim, item->dim, sizeof def.dim);
        if (!und_frame_borrow(statics, &def, item->data, err)) {
            und_frame_clear(statics);
            return UND_FAILED;
        }
    }
    return UND_OK;
}

/* The static items are written with the first frame that has any, and must be the same ever after. */
static und_status write_static(und_cache *cache, const und_frame *frame, und_error *err)
{
    cache_manifest *m = &cache->manifest;
    und_frame statics;
    und_status status = select_static(frame, &statics, err);
    if (status || statics.count == 0)
        return status;
    uint64_t hash = und_frame_hash(&statics, cache->threads);
    char path[UND_PATH_MAX];
    if (m->has_static && m->static_hash != hash) {
        status = und_error_set(err, UND_FAILED, "frame %d: its static items are not those of %s/static.h5",
                               frame->number, cache->folder);
    } else if (!m->has_static) {
        store_def def = {.part = STORE_STATIC, .compress = cache->compress, .threads = cache->threads};
        status = und_cache_path(cache, "static.h5", path, err);
        if (!status)
            status = und_store_write(path, &statics, &def, &m->static_stamp, err);
        m->has_static = !status;
        m->static_hash = hash;
    }
    und_frame_clear(&statics);
    return status;
}

und_status und_cache_write(und_cache *cache, const und_frame *frame, const und_ledger *ledger,
                           uint64_t state_hash, und_error *err)
{
    const cache_rows *rows = &cache->rows;
    char name[2 * SLUG_MAX], path[UND_PATH_MAX];
    if (rows->count && frame->number <= rows->row[rows->count - 1].frame)
        return und_error_set(err, UND_FAILED, "frame %d of %s is written already", frame->number,
                             cache->folder);
    cache->pending = true;
    und_status status = write_static(cache, frame, err);
    if (status)
        return status;
    und_cache_row row = {
        .frame = frame->number, .time = frame->time, .ledger = *ledger, .state_hash = state_hash};
    char tail[ROW_MAX];
    und_row_print(&row, tail);
    store_def def = {
        .part = STORE_MOVING, .compress = cache->compress, .threads = cache->threads, .tail = tail};
    store_stamp stamp;
    und_cache_name(cache, "frames", frame->number, name);
    status = und_cache_path(cache, name, path, err);
    if (!status)
        status = und_store_write(path, frame, &def, &stamp, err);
    if (!status)
        status = und_cache_path(cache, "ledger.csv", path, err);
    if (status)
        return status;
    row.file_hash = stamp.hash;
    if (cache->manifest.flow)
        status = und_shared_flow_mark(cache, frame->number, err);
    if (!status)
        status = und_rows_append(path, &cache->rows, &row, err);
    char *fields = status ? NULL : und_manifest_describe_fields(frame);
    if (fields) {
        free(cache->manifest.fields);
        cache->manifest.fields = fields;
    }
    return status ? status : und_cache_settle(cache, err);
}

/* Adds to the list, which forgets what it knew of this frame and later ones. */
static und_status list_checkpoint(cache_manifest *m, const cache_checkpoint *checkpoint, und_error *err)
{
    while (m->checkpoint_count && m->checkpoints[m->checkpoint_count - 1].frame >= checkpoint->frame)
        m->checkpoint_count--;
    cache_checkpoint *grown = realloc(m->checkpoints, (size_t)(m->checkpoint_count + 1) * sizeof *grown);
    if (!grown)
        return und_error_set(err, UND_FAILED, "out of memory: checkpoints");
    m->checkpoints = grown;
    grown[m->checkpoint_count++] = *checkpoint;
    return UND_OK;
}

/* Takes those that are too many off the list; their files go with the next commit. */
static und_status drop_checkpoints(und_cache *cache, und_error *err)
{
    cache_manifest *m = &cache->manifest;
    int drop = cache->keep > 0 ? m->checkpoint_count - cache->keep : 0;
    if (drop <= 0)
        return UND_OK;
    int *grown = realloc(cache->dropped, (size_t)(cache->dropped_count + drop) * sizeof *grown);
    if (!grown)
        return und_error_set(err, UND_FAILED, "out of memory: checkpoints");
    cache->dropped = grown;
    for (int i = 0; i < drop; i++)
        grown[cache->dropped_count++] = m->checkpoints[i].frame;
    m->checkpoint_count -= drop;
    memmove(m->checkpoints, m->checkpoints + drop, (size_t)m->checkpoint_count * sizeof *m->checkpoints);
    return UND_OK;
}

/* The new one first, then the manifest, then the old ones go: there is always one to go on from. */
und_status und_cache_checkpoint_as(und_cache *cache, const und_frame *state, uint64_t hash, und_error *err)
{
    char name[2 * SLUG_MAX], path[UND_PATH_MAX];
    store_def def = {.part = STORE_ALL, .compress = cache->compress, .threads = cache->threads};
    cache_checkpoint checkpoint = {.frame = state->number,
                                   .time = state->time,
                                   .state_hash = und_frame_hash(state, cache->threads),
                                   .row_hash = hash};
    und_cache_name(cache, "checkpoints", state->number, name);
    und_status status = und_cache_path(cache, name, path, err);
    cache->pending = true;
    if (!status)
        status = und_store_write(path, state, &def, &checkpoint.stamp, err);
    if (!status)
        status = list_checkpoint(&cache->manifest, &checkpoint, err);
    if (!status)
        status = drop_checkpoints(cache, err);
    return status ? status : und_cache_settle(cache, err);
}

und_status und_cache_checkpoint(und_cache *cache, const und_frame *state, und_error *err)
{
    return und_cache_checkpoint_as(cache, state, und_frame_hash(state, cache->threads), err);
}

und_status und_cache_dump(und_cache *cache, const und_frame *state, int index, const char *stage,
                          und_error *err)
{
    char name[2 * SLUG_MAX], path[UND_PATH_MAX], file[UND_PATH_MAX];
    store_def def = {.part = STORE_ALL, .compress = cache->compress, .threads = cache->threads};
    store_stamp stamp;
    und_cache_name(cache, "stages", state->number, name);
    name[strlen(name) - strlen(".h5")] = 0;
    und_status status = und_cache_path(cache, "stages", path, err);
    if (!status && mkdir(path, 0777) && errno != EEXIST)
        status = und_error_set(err, UND_FAILED, "%s: %s", path, strerror(errno));
    if (!status)
        status = und_cache_path(cache, name, path, err);
    if (!status)
        status = und_path_set(file, err, "%s.%02d.%s.h5", path, index, stage);
    return status ? status : und_store_write(file, state, &def, &stamp, err);
}

/* Says which cache an error is about. */
static und_status in_folder(const und_cache *cache, und_status status, const und_error *cause, und_error *err)
{
    return und_error_set(err, status, "%.400s: %.600s", cache->folder, cause->text);
}

static und_status read_static(und_cache *cache, und_error *err)
{
    if (cache->statics_read || !cache->manifest.has_static)
        return UND_OK;
    und_error cause;
    char path[UND_PATH_MAX];
    und_status status =
        und_cache_check_file(cache, "static items", "static.h5", &cache->manifest.static_stamp, &cause);
    if (status)
        return in_folder(cache, status, &cause, err);
    status = und_cache_path(cache, "static.h5", path, err);
    if (!status)
        status = und_store_read(path, NULL, &cache->statics, err);
    cache->statics_read = !status;
    return status;
}

/* A frame, or one item of it. */
static und_status read_frame(und_cache *cache, int number, const char *only, und_frame *frame, und_error *err)
{
    const cache_rows *rows = &cache->rows;
    *frame = und_frame_empty(number, 0, (und_grid){0});
    int i = 0;
    while (i < rows->count && rows->row[i].frame != number)
        i++;
    if (i == rows->count)
        return und_error_set(err, UND_FAILED, "%s has no frame %d", cache->folder, number);
    und_cache *holder = und_branch_holder(cache, number, err);
    if (holder != cache)
        return holder ? read_frame(holder, number, only, frame, err) : err->status;
    und_status status = only ? UND_OK : read_static(cache, err);
    if (status)
        return status;
    char name[2 * SLUG_MAX], path[UND_PATH_MAX], what[32];
    store_stamp stamp = {.hash = rows->row[i].file_hash};
    und_error cause;
    snprintf(what, sizeof what, "frame %d", number);
    und_cache_name(cache, "frames", number, name);
    if (und_cache_check_file(cache, what, name, &stamp, &cause))
        return in_folder(cache, UND_FAILED, &cause, err);
    status = und_cache_path(cache, name, path, err);
    if (!status)
        status = only ? und_store_read_item(path, only, frame, err)
                      : und_store_read(path, &cache->statics, frame, err);
    if (!status && frame->number != number) {
        und_frame_clear(frame);
        status = und_error_set(err, UND_FAILED, "%s holds frame %d", path, frame->number);
    }
    return !status && cache->manifest.flow ? und_shared_flow_merge(cache, frame, err) : status;
}

und_status und_cache_read(und_cache *cache, int number, und_frame *frame, und_error *err)
{
    return read_frame(cache, number, NULL, frame, err);
}

und_status und_cache_read_item(und_cache *cache, int number, const char *name, und_frame *frame,
                               und_error *err)
{
    return read_frame(cache, number, name, frame, err);
}

und_cache_info und_cache_describe(const und_cache *cache)
{
    const cache_manifest *m = &cache->manifest;
    return (und_cache_info){.folder = cache->folder,
                            .name = m->name,
                            .model = m->model,
                            .program = m->program,
                            .scene_path = m->scene_path,
                            .scene_text = m->scene_text,
                            .scene_hash = m->scene_hash,
                            .settings = m->settings,
                            .start = m->start,
                            .end = m->end,
                            .fps = m->fps,
                            .row_count = cache->rows.count,
                            .rows = cache->rows.row,
                            .stage_count = m->stage_count,
                            .stages = m->stages,
                            .peak_memory = m->peak_memory,
                            .flow = m->flow,
                            .pass = m->pass,
                            .bodies_path = m->bodies_path,
                            .bodies_text = m->bodies_text,
                            .bodies_settings = m->bodies_settings,
                            .grid = m->grid,
                            .branch = m->branch,
                            .branch_frame = m->branch_frame,
                            .lost_frame = cache->lost_frame,
                            .keeps_files = m->keeps_files,
                            .file_count = m->files.count,
                            .files = m->files.file,
                            .bodies_file_count = m->bodies_files.count,
                            .bodies_files = m->bodies_files.file};
}

bool und_cache_is_written(const char *folder)
{
    char path[UND_PATH_MAX];
    return !und_path_set(path, NULL, "%s/lock", folder) && und_lock_held(path);
}

und_status und_cache_holder(und_cache *cache, int frame, char *path, size_t size, und_error *err)
{
    const und_cache *holder = und_branch_holder(cache, frame, err);
    if (!holder)
        return err->status;
    if (snprintf(path, size, "%s", holder->folder) >= (int)size)
        return und_error_set(err, UND_FAILED, "the path %s is too long", holder->folder);
    return UND_OK;
}

und_status und_cache_flow_folder(const und_cache *cache, char *path, size_t size, und_error *err)
{
    char folder[UND_PATH_MAX];
    und_status status = cache->manifest.flow ? und_shared_flow_folder(cache, folder, err)
                                             : und_path_set(folder, err, "%s", cache->folder);
    if (!status && snprintf(path, size, "%s", folder) >= (int)size)
        status = und_error_set(err, UND_FAILED, "the path %s is too long", folder);
    return status;
}
