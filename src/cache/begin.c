/* How a run's folder begins: made anew, or opened to go on. */
#include "base/hash.h"
#include "base/parallel.h"
#include "base/status.h"
#include "cache/branch.h"
#include "cache/cache.h"
#include "cache/files.h"
#include "cache/lock.h"
#include "cache/rebuild.h"
#include "cache/shared_flow.h"
#include "cache/state.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const FOLDERS[] = {"frames", "checkpoints", "files"};
static const char *const FILES[] = {"manifest.json", "static.h5", "ledger.csv", "bands"};
enum { COUNT_OF_FOLDERS = 3, COUNT_OF_FILES = 4 };

static bool there(const und_cache *cache, const char *name)
{
    char path[UND_PATH_MAX];
    return !und_cache_path(cache, name, path, NULL) && !access(path, F_OK);
}

/* NAME.0001.h5, as a cache has them. */
static bool is_numbered(const char *name)
{
    size_t length = strlen(name), end = length - 3;
    if (length < 9 || strcmp(name + end, ".h5") != 0)
        return false;
    size_t at = end;
    while (at > 0 && strchr("0123456789", name[at - 1]))
        at--;
    size_t digits = end - at;
    if (at > 0 && name[at - 1] == '-')
        at--;
    return digits >= 3 && at > 1 && name[at - 1] == '.';
}

/* Removes from a folder what killed runs left half written, and if `all`, the files of a cache too. */
static void sweep(const und_cache *cache, const char *name, bool all)
{
    char folder[UND_PATH_MAX], path[UND_PATH_MAX];
    DIR *dir = und_cache_path(cache, name, folder, NULL) ? NULL : opendir(folder);
    if (!dir)
        return;
    for (struct dirent *entry; (entry = readdir(dir));)
        if ((und_file_is_temp(entry->d_name) ||
             (all && (is_numbered(entry->d_name) || und_files_is_kept(entry->d_name)))) &&
            !und_path_set(path, NULL, "%s/%s", folder, entry->d_name))
            unlink(path);
    closedir(dir);
}

static void sweep_temporary(const und_cache *cache)
{
    sweep(cache, ".", false);
    for (int i = 0; i < COUNT_OF_FOLDERS; i++)
        sweep(cache, FOLDERS[i], false);
}

/* Whether the folder has a ledger; *count: of how many frames, whole or not. */
static bool has_ledger(const und_cache *cache, int *count)
{
    char path[UND_PATH_MAX];
    cache_rows rows = {0};
    bool has = !und_cache_path(cache, "ledger.csv", path, NULL) && !und_rows_read(path, &rows, NULL);
    *count = rows.count + rows.torn;
    und_rows_clear(&rows);
    return has;
}

/* A run that was killed before its first manifest left a ledger without rows: that may be begun again. */
static und_status check_vacant(const und_cache *cache, und_error *err)
{
    int rows = 0;
    if (there(cache, "manifest.json"))
        return und_error_set(err, UND_INVALID,
                             "%s holds a cache already: --resume goes on with it, --force replaces it",
                             cache->folder);
    if (there(cache, "ledger.csv") && !(has_ledger(cache, &rows) && rows == 0))
        return und_error_set(
            err, UND_INVALID,
            "%s holds what is left of a cache without its manifest.json: --force replaces it", cache->folder);
    return UND_OK;
}

/* Whether the folder may be begun anew: a cache, what a killed run left of one, or nothing at all. */
static und_status check_replaceable(const und_cache *cache, und_error *err)
{
    int rows = 0;
    bool ours = there(cache, "manifest.json") || has_ledger(cache, &rows);
    DIR *dir = ours ? NULL : opendir(cache->folder);
    if (!dir)
        return UND_OK; /* one that is there and cannot be read fails at the lock */
    bool foreign = false;
    for (struct dirent *entry; !foreign && (entry = readdir(dir));)
        foreign = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
                  strcmp(entry->d_name, "lock") != 0 && !und_file_is_temp(entry->d_name);
    closedir(dir);
    if (foreign)
        return und_error_set(err, UND_INVALID,
                             "%s is not a cache and has files in it: --force replaces only a cache",
                             cache->folder);
    return UND_OK;
}

/* The manifest goes first: what is left of a cache without it is no cache. */
static und_status remove_old(const und_cache *cache, und_error *err)
{
    char path[UND_PATH_MAX];
    for (int i = 0; i < COUNT_OF_FILES; i++) {
        und_status status = und_cache_path(cache, FILES[i], path, err);
        if (status)
            return status;
        if (unlink(path) && errno != ENOENT)
            return und_error_set(err, UND_FAILED, "cannot remove %s: %s", path, strerror(errno));
    }
    for (int i = 0; i < COUNT_OF_FOLDERS; i++)
        sweep(cache, FOLDERS[i], true);
    return UND_OK;
}

/* Makes a folder and those above it; *made: the length of the shortest path that was not there, 0 for none.
 */
static und_status make_folders(const char *folder, size_t *made, und_error *err)
{
    char path[UND_PATH_MAX];
    und_status status = und_path_set(path, err, "%s", folder);
    *made = 0;
    for (char *end = path; !status && *end;) {
        end = strchrnul(end + 1, '/');
        char kept = *end;
        *end = 0;
        if (!mkdir(path, 0777))
            *made = *made ? *made : strlen(path);
        else if (errno != EEXIST)
            status = und_error_set(err, UND_FAILED, "cannot make the folder %s: %s", path, strerror(errno));
        *end = kept;
    }
    struct stat info;
    if (!status && !stat(folder, &info) && !S_ISDIR(info.st_mode))
        status = und_error_set(err, UND_FAILED, "cannot make the folder %s: %s", folder, strerror(ENOTDIR));
    return status;
}

/* Takes back folders made, from the deepest up, as long as they are empty. */
static void remove_folders(const char *folder, size_t made)
{
    char path[UND_PATH_MAX];
    if (!made || und_path_set(path, NULL, "%s", folder))
        return;
    for (size_t length = strlen(path); length >= made && length > 0; length--)
        if (path[length] == 0 || path[length] == '/') {
            path[length] = 0;
            if (rmdir(path) && errno != ENOENT)
                return;
        }
}

static und_status fill_manifest(und_cache *cache, const und_cache_def *def, und_error *err)
{
    cache_manifest *m = &cache->manifest;
    m->program = strdup("undine " UND_VERSION);
    m->name = strdup(def->name);
    m->model = strdup(def->model);
    m->scene_path = strdup(def->scene_path);
    m->scene_text = strdup(def->scene_text);
    m->settings = strdup(def->settings ? def->settings : "");
    snprintf(m->scene_hash, sizeof m->scene_hash, "%016" PRIx64,
             und_hash(def->scene_text, strlen(def->scene_text), 0, 1));
    m->grid = def->grid ? strdup(def->grid) : NULL;
    m->start = def->start;
    m->end = def->end;
    m->fps = def->fps;
    bool good = m->program && m->name && m->model && m->scene_path && m->scene_text && m->settings &&
                (m->grid || !def->grid);
    return good ? UND_OK : und_error_set(err, UND_FAILED, "out of memory: manifest");
}

static void take_def(und_cache *cache, const und_cache_def *def)
{
    cache->compress = def->compress;
    cache->keep = def->keep;
    cache->commit_every = def->commit_every;
    cache->threads = und_threads(def->threads);
}

static und_status keep_files(und_cache *cache, const und_cache_def *def, und_error *err)
{
    cache_manifest *m = &cache->manifest;
    if (cache->flow) {
        und_status status = und_files_share(cache, cache->flow, err);
        return status
                   ? status
                   : und_files_keep(cache, def->bodies_files, def->bodies_file_count, &m->bodies_files, err);
    }
    m->keeps_files = true;
    return und_files_keep(cache, def->files, def->file_count, &m->files, err);
}

/* What was made before caches kept files takes those of now for its own. */
static und_status same_files(und_cache *cache, const und_cache_def *def, und_error *err)
{
    return cache->manifest.keeps_files ? und_cache_compare_files(cache, def->files, def->file_count, err)
                                       : keep_files(cache, def, err);
}

/* Of the state that a branch begins with: who made it has seen that it is the one of the other's frame. */
static uint64_t branch_hash(const und_cache *cache, const und_frame *state)
{
    for (int i = 0; i < cache->rows.count; i++)
        if (cache->rows.row[i].frame == state->number && cache->rows.row[i].time == state->time)
            return cache->rows.row[i].state_hash;
    return und_frame_hash(state, cache->threads);
}

/* A branch is one from its first manifest on: that is written with its state. */
static und_status make_parts(und_cache *cache, const und_cache_def *def, bool made[COUNT_OF_FOLDERS],
                             und_error *err)
{
    char path[UND_PATH_MAX];
    und_status status = UND_OK;
    for (int i = 0; !status && i < COUNT_OF_FOLDERS; i++) {
        status = und_cache_path(cache, FOLDERS[i], path, err);
        made[i] = !status && !mkdir(path, 0777);
        if (!status && !made[i] && errno != EEXIST)
            status = und_error_set(err, UND_FAILED, "cannot make the folder %s: %s", path, strerror(errno));
    }
    if (!status)
        status = und_cache_path(cache, "ledger.csv", path, err);
    if (!status && cache->manifest.branch)
        status = und_branch_add_rows(cache, err);
    if (!status)
        status = und_rows_write(path, &cache->rows, err);
    if (!status)
        status = keep_files(cache, def, err);
    if (!status && def->branch_state)
        status =
            und_cache_checkpoint_as(cache, def->branch_state, branch_hash(cache, def->branch_state), err);
    return status ? status : und_cache_commit(cache, err);
}

/* After a failure the empty beginnings go again. */
static und_status write_first(und_cache *cache, const und_cache_def *def, bool replace, und_error *err)
{
    char path[UND_PATH_MAX];
    bool made[COUNT_OF_FOLDERS] = {false};
    und_status status = replace ? UND_OK : check_vacant(cache, err);
    if (status)
        return status;
    sweep_temporary(cache);
    status = remove_old(cache, err);
    if (!status)
        status = make_parts(cache, def, made, err);
    if (status)
        remove_old(cache, NULL);
    for (int i = 0; status && i < COUNT_OF_FOLDERS; i++)
        if (made[i] && !und_cache_path(cache, FOLDERS[i], path, NULL))
            rmdir(path);
    return status;
}

und_cache *und_cache_create(const und_cache_def *def, bool replace, und_error *err)
{
    und_cache *cache = und_cache_new(def->folder, err);
    if (!cache)
        return NULL;
    take_def(cache, def);
    und_cache_make_slug(def->name, cache->slug);
    char lock[UND_PATH_MAX];
    size_t made = 0;
    und_status status = fill_manifest(cache, def, err);
    if (!status && def->flow)
        status = und_shared_flow_check_apart(def, err);
    if (!status && def->branch)
        status = und_branch_check_apart(def, err);
    if (!status && replace)
        status = check_replaceable(cache, err);
    if (!status)
        status = make_folders(def->folder, &made, err);
    if (!status)
        status = und_cache_path(cache, "lock", lock, err);
    if (!status)
        status = und_lock_take(lock, &cache->lock, err);
    cache->writes = !status;
    if (!status && def->flow)
        status = und_shared_flow_share(cache, def, err);
    if (!status && def->branch)
        status = und_branch_share(cache, def, err);
    if (!status)
        status = write_first(cache, def, replace, err);
    if (!status)
        return cache;
    if (cache->writes)
        und_lock_release(lock, cache->lock);
    remove_folders(def->folder, made);
    und_cache_free(cache);
    return NULL;
}

static und_status same_run(const und_cache *cache, const und_cache_def *def, und_error *err)
{
    const cache_manifest *m = &cache->manifest;
    char hash[17];
    if (m->flow)
        return und_error_set(err, UND_INVALID,
                             "%s holds what was made of another's flow: undine %s --force makes it anew",
                             cache->folder, m->pass);
    snprintf(hash, sizeof hash, "%016" PRIx64, und_hash(def->scene_text, strlen(def->scene_text), 0, 1));
    const char *settings = def->settings ? def->settings : "";
    if (strcmp(hash, m->scene_hash) != 0 || strcmp(def->model, m->model) != 0 ||
        strcmp(def->name, m->name) != 0)
        return und_error_set(err, UND_INVALID,
                             "%s: the scene has changed since %s was made: put it back as it was (the "
                             "manifest has its text), or use --force to begin anew",
                             def->scene_path, cache->folder);
    if (strcmp(settings, m->settings) != 0)
        return und_error_set(err, UND_INVALID,
                             "%s was made with the settings \"%s\", not \"%s\": use the same, or --force to "
                             "begin anew",
                             cache->folder, m->settings, settings);
    if (def->branch && (!m->branch || def->branch_frame != m->branch_frame))
        return und_error_set(err, UND_INVALID,
                             "%s is no branch after frame %d: resume it without --from, or use --force to "
                             "begin anew",
                             cache->folder, def->branch_frame);
    if ((!m->branch && def->start != m->start) || def->fps != m->fps)
        return und_error_set(err, UND_INVALID,
                             "%s begins at frame %d with %g frames per second, not at %d with %g: use the "
                             "same, or --force to begin anew",
                             cache->folder, m->start, m->fps, def->start, def->fps);
    return UND_OK;
}

/* The number of rows up to and with `frame`; -1 where the ledger does not reach it.  A state from before the
 * first frame has none. */
static int rows_up_to(const cache_rows *rows, int frame, int start)
{
    int count = 0;
    if (frame < start)
        return 0;
    while (count < rows->count && rows->row[count].frame <= frame)
        count++;
    return count > 0 && rows->row[count - 1].frame == frame ? count : -1;
}

/* Loads a checkpoint if it is whole and its state is what the manifest says. */
static bool load_checkpoint(const und_cache *cache, const cache_checkpoint *checkpoint, und_frame *state)
{
    char name[2 * SLUG_MAX], path[UND_PATH_MAX];
    und_cache_name(cache, "checkpoints", checkpoint->frame, name);
    if (und_cache_check_file(cache, "checkpoint", name, &checkpoint->stamp, NULL) ||
        und_cache_path(cache, name, path, NULL) || und_store_read(path, NULL, state, NULL))
        return false;
    bool good =
        state->number == checkpoint->frame && und_frame_hash(state, cache->threads) == checkpoint->state_hash;
    if (!good)
        und_frame_clear(state);
    return good;
}

/* Finds the last checkpoint that serves, and forgets what comes after it.  The manifest forgets first: rows
 * that it does not count do no harm. */
static und_status go_back(und_cache *cache, und_frame *state, und_error *err)
{
    cache_manifest *m = &cache->manifest;
    int rows = 0;
    cache->lost_frame = und_cache_first_lost(cache);
    while (m->checkpoint_count > 0) {
        const cache_checkpoint *last = &m->checkpoints[m->checkpoint_count - 1];
        rows = rows_up_to(&cache->rows, last->frame, m->start);
        if (rows >= 0 && last->frame < cache->lost_frame && load_checkpoint(cache, last, state))
            break;
        rows = 0;
        m->checkpoint_count--;
    }
    if (m->branch && m->checkpoint_count == 0)
        return und_error_set(err, UND_FAILED, "%s: no checkpoint of it is whole: branch again, with --force",
                             cache->folder);
    und_rows_keep(&cache->rows, rows);
    m->has_static = m->has_static && !und_cache_check_file(cache, "", "static.h5", &m->static_stamp, NULL);
    char path[UND_PATH_MAX];
    und_status status = und_cache_commit(cache, err);
    if (!status)
        status = und_cache_path(cache, "ledger.csv", path, err);
    if (!status)
        status = cache->rows.lost ? und_rows_write(path, &cache->rows, err)
                                  : und_rows_trim(path, &cache->rows, err);
    cache->rows.lost = false;
    return status;
}

und_status und_cache_state(und_cache *cache, int frame, und_frame *state, und_error *err)
{
    const cache_manifest *m = &cache->manifest;
    const und_cache_row *row = NULL;
    *state = und_frame_empty(frame, 0, (und_grid){0});
    for (int i = 0; i < cache->rows.count && !row; i++)
        row = cache->rows.row[i].frame == frame ? &cache->rows.row[i] : NULL;
    if (!row)
        return und_error_set(err, UND_INVALID, "%s has no frame %d", cache->folder, frame);
    for (int i = m->checkpoint_count - 1; i >= 0; i--) {
        const cache_checkpoint *c =
            &m->checkpoints[i]; /* a run that was stopped leaves one after its frame */
        bool serves = c->frame < frame || (c->frame == frame && c->row_hash == row->state_hash);
        if (serves && load_checkpoint(cache, c, state))
            return UND_OK;
    }
    *state = und_frame_empty(frame, 0, (und_grid){0});
    return UND_OK;
}

und_cache *und_cache_resume(const und_cache_def *def, und_frame *state, und_error *err)
{
    *state = und_frame_empty(def->start, 0, (und_grid){0});
    und_cache *cache = und_cache_new(def->folder, err);
    if (!cache)
        return NULL;
    take_def(cache, def);
    char lock[UND_PATH_MAX];
    und_status status = und_cache_path(cache, "lock", lock, err);
    if (!status && !there(cache, "manifest.json"))
        status = und_error_set(err, UND_INVALID,
                               "%s holds no cache to go on with: without --resume it is begun", def->folder);
    if (!status)
        status = und_lock_take(lock, &cache->lock, err);
    cache->writes = !status;
    if (!status)
        status = und_cache_load(cache, err);
    if (!status)
        status = same_run(cache, def, err);
    if (!status)
        status = same_files(cache, def, err);
    if (!status) {
        sweep_temporary(cache);
        cache->manifest.end = def->end;
        status = go_back(cache, state, err);
    }
    if (!status)
        return cache;
    und_frame_clear(state);
    if (cache->writes)
        und_lock_release(lock, cache->lock);
    und_cache_free(cache);
    return NULL;
}
