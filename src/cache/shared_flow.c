#include "cache/shared_flow.h"

#include "base/status.h"

#include <stdlib.h>
#include <string.h>

und_status und_shared_flow_check_apart(const und_cache_def *def, und_error *err)
{
    char *flow = realpath(def->flow, NULL), *own = flow ? realpath(def->folder, NULL) : NULL;
    bool same = flow && own && strcmp(flow, own) == 0;
    free(flow);
    free(own);
    return same ? und_error_set(err, UND_INVALID, "%s is the flow's own cache: the pass needs another folder",
                                def->folder)
                : UND_OK;
}

static char *copy_of(const char *text)
{
    return strdup(text ? text : "");
}

und_status und_shared_flow_share(und_cache *cache, const und_cache_def *def, und_error *err)
{
    cache_manifest *m = &cache->manifest;
    char path[UND_PATH_MAX];
    und_status status = und_cache_path_to(cache, def->flow, path, err);
    if (status)
        return status;
    m->flow = copy_of(path);
    m->bodies_path = copy_of(def->bodies_path);
    m->bodies_text = copy_of(def->bodies_text);
    m->bodies_settings = copy_of(def->bodies_settings);
    m->pass = copy_of(def->pass ? def->pass : "float");
    if (!m->pass || !m->flow || !m->bodies_path || !m->bodies_text || !m->bodies_settings)
        return und_error_set(err, UND_FAILED, "out of memory: manifest");
    return und_shared_flow_attach(cache, err);
}

und_status und_shared_flow_folder(const und_cache *cache, char path[UND_PATH_MAX], und_error *err)
{
    return und_cache_beside(cache, cache->manifest.flow, path, err);
}

/* The ledger's row of a frame, -1 where it has none. */
static int row_of(const und_cache *cache, int frame)
{
    for (int i = 0; i < cache->rows.count; i++)
        if (cache->rows.row[i].frame == frame)
            return i;
    return -1;
}

und_status und_shared_flow_mark(und_cache *cache, int frame, und_error *err)
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
                             "%s: its flow, %s, has changed since undine %s read it: run that again",
                             cache->folder, cache->flow->folder, m->pass);
    return UND_OK;
}

und_status und_shared_flow_attach(und_cache *cache, und_error *err)
{
    char path[UND_PATH_MAX];
    if (cache->flow)
        return UND_OK;
    und_status status = und_shared_flow_folder(cache, path, err);
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

/* What the items are called that a pass makes. */
static const char *prefix_of(const char *pass)
{
    return strcmp(pass, "texture") == 0 ? "texture/" : "bodies/";
}

/* Takes items out of a frame and adds them to another: all but those with the prefix (NULL: all). */
static und_status move_items(und_frame *from, und_frame *to, const char *but, und_error *err)
{
    for (int i = 0; i < from->count; i++) {
        und_item *item = &from->items[i];
        if (but && strncmp(item->name, but, strlen(but)) == 0)
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

und_status und_shared_flow_merge(und_cache *cache, und_frame *frame, und_error *err)
{
    und_frame flow, whole = und_frame_empty(frame->number, frame->time, frame->grid);
    und_status status = und_shared_flow_attach(cache, err);
    if (!status)
        status = und_cache_read(cache->flow, frame->number, &flow, err);
    if (status) {
        und_frame_clear(frame);
        return status;
    }
    whole.grid = flow.grid;
    status = move_items(&flow, &whole, prefix_of(cache->manifest.pass), err);
    if (!status)
        status = move_items(frame, &whole, NULL, err);
    und_frame_clear(&flow);
    und_frame_clear(frame);
    if (status)
        und_frame_clear(&whole);
    else
        *frame = whole;
    return status;
}
