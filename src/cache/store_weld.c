#include "cache/store_weld.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 8, SMALL = 1 << 14 /* bytes */ };
static const char MESH[] = "/mesh_";

/* The length of "liquid/mesh_" in a name; 0: it is of no mesh. */
static size_t prefix_length(const char *name)
{
    const char *mesh = strstr(name, MESH);
    size_t length = mesh ? (size_t)(mesh - name) + strlen(MESH) : 0;
    return length < sizeof((store_weld *)0)->prefix ? length : 0;
}

bool und_weld_index_name(const char *item, char name[48])
{
    size_t length = prefix_length(item);
    snprintf(name, 48, "%.*sindex", (int)length, item);
    return length > 0;
}

bool und_weld_has(const store_weld *w, const und_item *item)
{
    return strncmp(item->name, w->prefix, strlen(w->prefix)) == 0 && item->type == UND_F32 &&
           item->rank >= 1 && item->rank <= 2 && item->dim[0] == w->corners &&
           item->is_static == w->is_static;
}

static size_t row_bytes(const und_item *item)
{
    return und_item_bytes(item) / item->dim[0];
}

/* What a corner has: words of several items. */
typedef struct keys {
    int count;
    const uint32_t *data[MEMBERS];
    size_t words[MEMBERS], sum;
} keys;

static keys find_members(const store_weld *w, const und_frame *frame)
{
    keys k = {0};
    for (int i = 0; i < frame->count; i++) {
        const und_item *item = &frame->items[i];
        if (!und_weld_has(w, item))
            continue;
        if (k.count == MEMBERS)
            return (keys){0};
        k.data[k.count] = item->data;
        k.words[k.count] = row_bytes(item) / sizeof **k.data;
        k.sum += k.words[k.count++];
    }
    return k;
}

static uint64_t hash_of(const keys *k, size_t corner)
{
    uint64_t hash = 0;
    for (int m = 0; m < k->count; m++) {
        const uint32_t *row = k->data[m] + corner * k->words[m];
        for (size_t i = 0; i < k->words[m]; i++) {
            hash = (hash ^ row[i]) * 0x9e3779b97f4a7c15;
            hash ^= hash >> 29;
        }
    }
    return hash;
}

static bool are_same(const keys *k, size_t a, size_t b)
{
    uint32_t differs = 0;
    for (int m = 0; m < k->count; m++)
        for (size_t i = 0; i < k->words[m]; i++)
            differs |= k->data[m][a * k->words[m] + i] ^ k->data[m][b * k->words[m] + i];
    return !differs;
}

/* Vertices are numbered as they come; `slot` is a hash table of them, -1: free. */
static void number_vertices(store_weld *w, const keys *k, int32_t *slot, size_t slots)
{
    memset(slot, -1, slots * sizeof *slot);
    for (size_t c = 0; c < w->corners; c++) {
        size_t at = hash_of(k, c) & (slots - 1);
        while (slot[at] >= 0 && !are_same(k, c, (size_t)w->corner[slot[at]]))
            at = (at + 1) & (slots - 1);
        if (slot[at] < 0) {
            w->corner[w->vertices] = (int32_t)c;
            slot[at] = (int32_t)w->vertices++;
        }
        w->index[c] = slot[at];
    }
}

bool und_weld_make(const und_frame *frame, const und_item *position, store_weld *w)
{
    char index[48];
    size_t length = prefix_length(position->name), slots = 1;
    *w = (store_weld){.corners = position->rank > 0 ? position->dim[0] : 0, .is_static = position->is_static};
    if (length == 0 || strcmp(position->name + length, "position") != 0 || w->corners > INT32_MAX / 4 ||
        und_item_bytes(position) < SMALL || !und_weld_index_name(position->name, index) ||
        und_frame_find(frame, index))
        return false;
    snprintf(w->prefix, sizeof w->prefix, "%.*s", (int)length, position->name);
    keys k = find_members(w, frame);
    while (slots < 2 * w->corners)
        slots *= 2;
    w->index = k.count ? malloc(w->corners * sizeof *w->index) : NULL;
    w->corner = k.count ? malloc(w->corners * sizeof *w->corner) : NULL;
    int32_t *slot = k.count ? malloc(slots * sizeof *slot) : NULL;
    if (w->index && w->corner && slot)
        number_vertices(w, &k, slot, slots);
    free(slot);
    size_t row = k.sum * sizeof(float);
    bool saves =
        w->vertices > 0 && w->vertices * row + w->corners * sizeof *w->index < w->corners * row * 3 / 4;
    if (!saves)
        und_weld_free(w);
    return saves;
}

void *und_weld_gather(const store_weld *w, const und_item *item)
{
    size_t bytes = row_bytes(item);
    char *rows = malloc(w->vertices * bytes);
    for (size_t v = 0; rows && v < w->vertices; v++)
        memcpy(rows + v * bytes, (const char *)item->data + (size_t)w->corner[v] * bytes, bytes);
    return rows;
}

void und_weld_free(store_weld *w)
{
    free(w->index);
    free(w->corner);
    *w = (store_weld){0};
}
