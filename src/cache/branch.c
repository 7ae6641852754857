#include "cache/branch.h"

#include "base/status.h"
#include "cache/shared_flow.h"

#include <stdlib.h>
#include <string.h>

/* A branch of a branch of ...: as deep as anybody would go, and an end for folders that name each other. */
enum { DEEPEST = 64 };

static bool same_folder(const char *a, const char *b)
{
    char *first = realpath(a, NULL), *second = first ? realpath(b, NULL) : NULL;
    bool same = first && second && strcmp(first, second) == 0;
    free(first);
    free(second);
    return same;
}

und_status und_branch_check_apart(const und_cache_def *def, und_error *err)
{
    und_error cause = {0};
    char folder[UND_PATH_MAX], next[UND_PATH_MAX];
    und_status status = und_path_set(folder, err, "%s", def->branch);
    for (int depth = 0; !status && depth < DEEPEST; depth++) {
        if (same_folder(folder, def->folder))
            return und_error_set(err, UND_INVALID,
                                 "%s holds frames that the branch begins with: a branch needs another folder "
                                 "(-o)",
                                 def->folder);
        und_cache *cache = und_cache_open(folder, &cause);
        bool more = cache && cache->manifest.branch;
        if (more)
            status = und_cache_beside(cache, cache->manifest.branch, next, err);
        if (cache)
            und_cache_free(cache);
        if (!more)
            return status;
        if (!status)
            status = und_path_set(folder, err, "%s", next);
    }
    return status ? status
                  : und_error_set(err, UND_FAILED, "%s: more than %d branches of branches", def->branch,
                                  (int)DEEPEST);
}

/* Rows of the ledger up to and with the frame where a branch begins; 0 where that frame is not there. */
static int shared_rows(const cache_rows *rows, int frame)
{
    int count = 0;
    while (count < rows->count && rows->row[count].frame <= frame)
        count++;
    return count > 0 && rows->row[count - 1].frame == frame ? count : 0;
}

und_status und_branch_share(und_cache *cache, const und_cache_def *def, und_error *err)
{
    cache_manifest *m = &cache->manifest;
    char path[UND_PATH_MAX];
    und_status status = und_cache_path_to(cache, def->branch, path, err);
    if (status)
        return status;
    m->branch = strdup(path);
    m->branch_frame = def->branch_frame;
    if (!m->branch)
        return und_error_set(err, UND_FAILED, "out of memory: manifest");
    cache->parent = und_cache_open(def->branch, err);
    if (!cache->parent)
        return err->status;
    if (shared_rows(&cache->parent->rows, m->branch_frame) == 0)
        return und_error_set(err, UND_INVALID, "%s has no frame %d", def->branch, m->branch_frame);
    return UND_OK;
}

und_status und_branch_add_rows(und_cache *cache, und_error *err)
{
    char path[UND_PATH_MAX];
    und_status status = und_cache_beside(cache, cache->manifest.branch, path, err);
    if (!status && !cache->parent && !(cache->parent = und_cache_open(path, err)))
        status = UND_FAILED;
    int count = status ? 0 : shared_rows(&cache->parent->rows, cache->manifest.branch_frame);
    for (int i = 0; i < count && !status; i++)
        status = und_rows_add(&cache->rows, &cache->parent->rows.row[i], err);
    return status;
}

/* The hash of a row is of all rows before it too. */
static und_status check_same(const und_cache *cache, const und_cache *parent, und_error *err)
{
    int frame = cache->manifest.branch_frame, own = shared_rows(&cache->rows, frame);
    int count = shared_rows(&parent->rows, frame);
    if (count > 0 && own > 0 && parent->rows.hash[count - 1] == cache->rows.hash[own - 1])
        return UND_OK;
    return und_error_set(err, UND_FAILED,
                         "%s: frames up to %d of %s, which it begins with, have changed since: branch again",
                         cache->folder, frame, parent->folder);
}

/* The parent, opened where it is not open yet, and checked to be still the one. */
static und_cache *parent_of(und_cache *cache, und_error *err)
{
    char path[UND_PATH_MAX];
    und_error cause = {0};
    if (cache->parent || und_cache_beside(cache, cache->manifest.branch, path, err))
        return cache->parent;
    und_cache *parent = und_cache_open(path, &cause);
    if (!parent) {
        und_error_set(err, UND_FAILED, "%.300s: the cache that it branches off is not there: %.600s",
                      cache->folder, cause.text);
        return NULL;
    }
    if (check_same(cache, parent, err)) {
        und_cache_free(parent);
        return NULL;
    }
    parent->threads = cache->threads;
    cache->parent = parent;
    return parent;
}

und_cache *und_branch_holder(und_cache *cache, int frame, und_error *err)
{
    for (int depth = 0; cache && depth < DEEPEST; depth++) {
        if (!cache->manifest.branch || frame > cache->manifest.branch_frame)
            return cache;
        cache = parent_of(cache, err);
    }
    if (cache)
        und_error_set(err, UND_FAILED, "%s: more than %d branches of branches", cache->folder, (int)DEEPEST);
    return NULL;
}
