#include "cache/state.h"

#include "base/parallel.h"
#include "base/stage.h"
#include "base/status.h"
#include "cache/rebuild.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

und_cache *und_cache_new(const char *folder, und_error *err)
{
    und_cache *cache = und_alloc(1, sizeof *cache, "cache", err);
    if (cache && und_path_set(cache->folder, err, "%s", folder)) {
        free(cache);
        return NULL;
    }
    if (cache) {
        cache->threads = und_threads(0);
        cache->lost_frame = INT_MAX;
    }
    return cache;
}

void und_cache_free(und_cache *cache)
{
    und_manifest_clear(&cache->manifest);
    und_rows_clear(&cache->rows);
    und_frame_clear(&cache->statics);
    free(cache->dropped);
    if (cache->flow)
        und_cache_free(cache->flow);
    if (cache->parent)
        und_cache_free(cache->parent);
    free(cache);
}

und_status und_cache_path(const und_cache *cache, const char *name, char path[UND_PATH_MAX], und_error *err)
{
    return und_path_set(path, err, "%s/%s", cache->folder, name);
}

/* The path that leads from one folder to another, both without links and dots. */
static und_status relative(const char *from, const char *to, char path[UND_PATH_MAX], und_error *err)
{
    size_t common = 0;
    for (size_t i = 0;; i++) {
        bool ends_from = !from[i] || from[i] == '/', ends_to = !to[i] || to[i] == '/';
        if (ends_from && ends_to)
            common = i;
        if (!from[i] || !to[i] || from[i] != to[i])
            break;
    }
    und_status status = und_path_set(path, err, "%s", "");
    for (const char *rest = from + common; !status && *rest; rest++)
        if (*rest == '/' && rest[1]) {
            char up[UND_PATH_MAX];
            status = und_path_set(up, err, "../%s", path);
            if (!status)
                status = und_path_set(path, err, "%s", up);
        }
    const char *down = to + common;
    down += *down == '/';
    char whole[UND_PATH_MAX];
    if (!status)
        status = und_path_set(whole, err, "%s%s", path, down);
    return status ? status : und_path_set(path, err, "%s", *whole ? whole : ".");
}

und_status und_cache_path_to(const und_cache *cache, const char *other, char path[UND_PATH_MAX],
                             und_error *err)
{
    char *own = realpath(cache->folder, NULL), *to = realpath(other, NULL);
    und_status status =
        own && to ? relative(own, to, path, err)
                  : und_error_set(err, UND_FAILED, "%s: %s", own ? other : cache->folder, strerror(errno));
    free(own);
    free(to);
    return status;
}

und_status und_cache_beside(const und_cache *cache, const char *name, char path[UND_PATH_MAX], und_error *err)
{
    return *name == '/' ? und_path_set(path, err, "%s", name)
                        : und_path_set(path, err, "%s/%s", cache->folder, name);
}

void und_cache_name(const und_cache *cache, const char *kind, int number, char name[2 * SLUG_MAX])
{
    snprintf(name, 2 * SLUG_MAX, "%s/%s.%04d.h5", kind, cache->slug, number);
}

und_status und_cache_check_file(const und_cache *cache, const char *what, const char *name,
                                const store_stamp *stamp, und_error *err)
{
    char path[UND_PATH_MAX];
    und_status status = und_cache_path(cache, name, path, err);
    if (status)
        return status;
    if (access(path, F_OK))
        return und_error_set(err, UND_FAILED, "%s: %s is missing", what, name);
    store_stamp found;
    und_error cause = {0};
    if (und_file_hash(path, cache->threads, &found.hash, &found.bytes, &cause))
        return und_error_set(err, UND_FAILED, "%s: %.900s", what, cause.text);
    size_t bytes = stamp->bytes ? stamp->bytes : und_store_claimed_bytes(path);
    if (found.bytes < bytes)
        return und_error_set(err, UND_FAILED, "%s: %s is cut short (%zu of %zu bytes)", what, name,
                             found.bytes, bytes);
    if (found.hash != stamp->hash)
        return und_error_set(err, UND_FAILED,
                             "%s: %s has changed (hash %016" PRIx64 " should be %016" PRIx64 ")", what, name,
                             found.hash, stamp->hash);
    return UND_OK;
}

void und_cache_make_slug(const char *name, char slug[SLUG_MAX])
{
    static const char SAFE[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    snprintf(slug, SLUG_MAX, "%.48s", *name ? name : "scene");
    for (char *c = slug; *c; c++)
        if (!strchr(SAFE, *c) || (c == slug && *c == '.'))
            *c = '-';
}

/* The manifest is written last, so the ledger may have more rows, or half a row more, than it says: they do
 * not count.  One row less with the rest of it there, torn, is what a disk that lost its last write leaves.
 */
static und_status match_rows(und_cache *cache, const char *path, und_error *err)
{
    cache_rows *rows = &cache->rows;
    int count = cache->manifest.row_count;
    if (rows->count < count && !(rows->torn && rows->count == count - 1))
        return und_error_set(err, UND_FAILED, "%s is cut short (%d of %d rows)", path, rows->count, count);
    rows->torn = rows->count < count;
    und_rows_keep(rows, count);
    if (rows->count == count && count > 0 && rows->hash[count - 1] != cache->manifest.ledger_hash)
        return und_error_set(err, UND_FAILED, "%s has changed (hash %016" PRIx64 " should be %016" PRIx64 ")",
                             path, rows->hash[count - 1], cache->manifest.ledger_hash);
    return UND_OK;
}

/* Another folder, or none, is wrong input; a cache that lost its manifest is damaged. */
static und_status without_manifest(const und_cache *cache, int why, und_error *err)
{
    char path[UND_PATH_MAX];
    if (why != ENOENT && why != ENOTDIR)
        return und_error_set(err, UND_FAILED, "%s/manifest.json: %s", cache->folder, strerror(why));
    bool damaged = !und_cache_path(cache, "ledger.csv", path, NULL) && !access(path, F_OK);
    return und_error_set(err, damaged ? UND_FAILED : UND_INVALID,
                         damaged ? "%s is a damaged cache: %s/manifest.json is missing"
                                 : "%s is not a cache: %s/manifest.json is missing",
                         cache->folder, cache->folder);
}

und_status und_cache_load(und_cache *cache, und_error *err)
{
    char path[UND_PATH_MAX];
    und_status status = und_cache_path(cache, "manifest.json", path, err);
    if (!status && access(path, F_OK))
        status = without_manifest(cache, errno, err);
    if (!status)
        status = und_manifest_read(path, &cache->manifest, err);
    if (!status)
        und_cache_make_slug(cache->manifest.name, cache->slug);
    if (!status)
        status = und_cache_path(cache, "ledger.csv", path, err);
    if (!status && access(path, F_OK) && errno == ENOENT)
        return und_rebuild_rows(cache, err);
    if (!status)
        status = und_rows_read(path, &cache->rows, err);
    return status ? status : match_rows(cache, path, err);
}

static void remove_dropped(und_cache *cache)
{
    char name[2 * SLUG_MAX], path[UND_PATH_MAX];
    for (int i = 0; i < cache->dropped_count; i++) {
        und_cache_name(cache, "checkpoints", cache->dropped[i], name);
        if (!und_cache_path(cache, name, path, NULL))
            unlink(path);
    }
    cache->dropped_count = 0;
}

und_status und_cache_commit(und_cache *cache, und_error *err)
{
    cache_rows *rows = &cache->rows;
    char path[UND_PATH_MAX];
    double start = und_clock();
    cache->manifest.row_count = rows->count;
    cache->manifest.ledger_hash = rows->count ? rows->hash[rows->count - 1] : 0;
    und_status status = cache->pending ? und_file_sync_disk(cache->folder, err) : UND_OK;
    if (!status)
        status = und_cache_path(cache, "manifest.json", path, err);
    if (!status)
        status = und_manifest_write(path, &cache->manifest, err);
    if (!status)
        remove_dropped(cache);
    cache->pending = cache->pending && status;
    cache->committed = und_clock();
    cache->commit_cost = cache->committed - start;
    return status;
}

und_status und_cache_settle(und_cache *cache, und_error *err)
{
    const double patience = 10; /* of the time, at most a tenth goes into commits */
    double every = cache->commit_every != 0 ? cache->commit_every : 1;
    if (cache->commit_every == 0 && every < patience * cache->commit_cost)
        every = patience * cache->commit_cost;
    bool due = cache->pending && (every < 0 || und_clock() - cache->committed >= every);
    return due ? und_cache_commit(cache, err) : UND_OK;
}
