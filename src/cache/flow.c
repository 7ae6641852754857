#include "cache/flow.h"

#include "base/status.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

und_status und_flow_check_apart(const und_cache_def *def, und_error *err)
{
    char *flow = realpath(def->flow, NULL), *own = flow ? realpath(def->folder, NULL) : NULL;
    bool same = flow && own && strcmp(flow, own) == 0;
    free(flow);
    free(own);
    return same ? und_error_set(err, UND_INVALID, "%s is the flow's own cache: bodies need another folder",
                                def->folder)
                : UND_OK;
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

static char *copy_of(const char *text)
{
    return strdup(text ? text : "");
}

und_status und_flow_share(und_cache *cache, const und_cache_def *def, und_error *err)
{
    cache_manifest *m = &cache->manifest;
    char path[UND_PATH_MAX];
    char *own = realpath(cache->folder, NULL), *flow = realpath(def->flow, NULL);
    und_status status = own && flow ? relative(own, flow, path, err)
                                    : und_error_set(err, UND_FAILED, "%s: %s",
                                                    own ? def->flow : cache->folder, strerror(errno));
    free(own);
    free(flow);
    if (status)
        return status;
    m->flow = copy_of(path);
    m->bodies_path = copy_of(def->bodies_path);
    m->bodies_text = copy_of(def->bodies_text);
    m->bodies_settings = copy_of(def->bodies_settings);
    if (!m->flow || !m->bodies_path || !m->bodies_text || !m->bodies_settings)
        return und_error_set(err, UND_FAILED, "out of memory: manifest");
    return und_flow_attach(cache, err);
}

und_status und_flow_folder(const und_cache *cache, char path[UND_PATH_MAX], und_error *err)
{
    const char *flow = cache->manifest.flow;
    return *flow == '/' ? und_path_set(path, err, "%s", flow)
                        : und_path_set(path, err, "%s/%s", cache->folder, flow);
}

/* The ledger's row of a frame, -1 where it has none. */
static int row_of(const und_cache *cache, int frame)
{
    for (int i = 0; i < cache->rows.count; i++)
        if (cache->rows.row[i].frame == frame)
            return i;
    return -1;
}

und_status und_flow_mark(und_cache *cache, int frame, und_error *err)
{
    int row = row_of(cache->flow, frame);
    if (row < 0)
        return und_error_set(err, UND_FAILED, "%s has no frame %d", cache->flow->folder, frame);
    cache->manifest.flow_frame = frame;
    cache->manifest.flow_hash = cache->flow->rows.hash[row];
    return UND_OK;
}

static und_status check_same(const und_cache *cache, und_error *err)
{
    const cache_manifest *m = &cache->manifest;
    int row = row_of(cache->flow, m->flow_frame);
    if (cache->flow->manifest.flow)
        return und_error_set(err, UND_FAILED, "%s: its flow, %s, shares the flow of another itself",
                             cache->folder, cache->flow->folder);
    if (cache->rows.count > 0 && (row < 0 || cache->flow->rows.hash[row] != m->flow_hash))
        return und_error_set(err, UND_FAILED,
                             "%s: its flow, %s, has changed since the bodies were put into it: float them "
                             "again",
                             cache->folder, cache->flow->folder);
    return UND_OK;
}

und_status und_flow_attach(und_cache *cache, und_error *err)
{
    char path[UND_PATH_MAX];
    if (cache->flow)
        return UND_OK;
    und_status status = und_flow_folder(cache, path, err);
    if (status)
        return status;
    und_error cause = {0};
    cache->flow = und_cache_open(path, &cause);
    if (!cache->flow)
        return und_error_set(err, UND_FAILED, "%.300s: its flow is not there: %.600s", cache->folder,
                             cause.text);
    status = check_same(cache, err);
    if (status) {
        und_cache_free(cache->flow);
        cache->flow = NULL;
    }
    return status;
}

static bool is_body(const und_item *item)
{
    return strncmp(item->name, "bodies/", 7) == 0;
}

/* Takes the items that are not bodies' out of a frame and adds them to another. */
static und_status move_items(und_frame *from, und_frame *to, bool bodies_too, und_error *err)
{
    for (int i = 0; i < from->count; i++) {
        und_item *item = &from->items[i];
        if (is_body(item) && !bodies_too)
            continue;
        und_item_def def = {item->name, item->unit, item->kind, item->type, item->is_static, item->rank, {0}};
        memcpy(def.dim, item->dim, sizeof def.dim);
        und_item *moved = und_frame_borrow(to, &def, item->data, err);
        if (!moved)
            return UND_FAILED;
        moved->borrowed = item->borrowed;
        item->borrowed = true; /* it is the other's now */
    }
    return UND_OK;
}

und_status und_flow_merge(und_cache *cache, und_frame *frame, und_error *err)
{
    und_frame flow, whole = und_frame_empty(frame->number, frame->time, frame->grid);
    und_status status = und_flow_attach(cache, err);
    if (!status)
        status = und_cache_read(cache->flow, frame->number, &flow, err);
    if (status) {
        und_frame_clear(frame);
        return status;
    }
    whole.grid = flow.grid;
    status = move_items(&flow, &whole, false, err);
    if (!status)
        status = move_items(frame, &whole, true, err);
    und_frame_clear(&flow);
    und_frame_clear(frame);
    if (status)
        und_frame_clear(&whole);
    else
        *frame = whole;
    return status;
}
