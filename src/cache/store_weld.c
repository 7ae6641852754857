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

/* Nearly all rows have three words: those are taken at once. */
static uint64_t hash_of(const keys *k, size_t corner)
{
    uint64_t hash = 0;
    for (int m = 0; m < k->count; m++) {
        const uint32_t *row = k->data[m] + corner * k->words[m];
        size_t i = k->words[m] % 3;
        for (size_t j = 0; j < i; j++)
            hash = (hash ^ row[j]) * 0x9e3779b97f4a7c15;
        for (; i < k->words[m]; i += 3)
            hash = (hash ^ row[i] ^ (uint64_t)row[i + 1] << 32) * 0x9e3779b97f4a7c15 +
                   row[i + 2] * 0xd6e8feb86659fd93;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool are_same(const keys *k, size_t a, size_t b)
{
    for (int m = 0; m < k->count; m++) {
        const uint32_t *x = k->data[m] + a * k->words[m], *y = k->data[m] + b * k->words[m];
        uint32_t differs = 0;
        size_t i = k->words[m] % 3;
        for (size_t j = 0; j < i; j++)
            differs |= x[j] ^ y[j];
        for (; i < k->words[m]; i += 3)
            differs |= (x[i] ^ y[i]) | (x[i + 1] ^ y[i + 1]) | (x[i + 2] ^ y[i + 2]);
        if (differs)
            return false;
    }
    return true;
}

/* Vertices are numbered as they come; `slot` is a hash table of them, -1: free.  Hashes are made some corners
 * ahead, so that the slots are at hand.  Stops where too many are vertices of their own to save anything. */
static void number_vertices(store_weld *w, const keys *k, int32_t *slot, size_t slots)
{
    enum { AHEAD = 32 };
    size_t at[AHEAD];
    memset(slot, -1, slots * sizeof *slot);
    for (size_t first = 0; first < w->corners && 4 * w->vertices < 3 * w->corners; first += AHEAD) {
        size_t count = w->corners - first < AHEAD ? w->corners - first : AHEAD;
        for (size_t i = 0; i < count; i++) {
            at[i] = hash_of(k, first + i) & (slots - 1);
            __builtin_prefetch(&slot[at[i]]);
        }
        for (size_t i = 0; i < count; i++) {
            size_t c = first + i, s = at[i];
            while (slot[s] >= 0 && !are_same(k, c, (size_t)w->corner[slot[s]]))
                s = (s + 1) & (slots - 1);
            if (slot[s] < 0) {
                w->corner[w->vertices] = (int32_t)c;
                slot[s] = (int32_t)w->vertices++;
            }
            w->index[c] = slot[s];
        }
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
    while (slots < w->corners)
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
