#include "base/file.h"
#include "base/parallel.h"
#include "base/status.h"
#include "cache/deflate.h"
#include "cache/hdf5_file.h"
#include "cache/store.h"
#include "cache/store_format.h"
#include "cache/store_weld.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Arrays of at least COMPRESS_FROM bytes are cut along their slowest axis into chunks of about CHUNK bytes;
 * those of which little was written into smaller ones, CUBE values along each axis where there are three. */
enum { COMPRESS_FROM = 1 << 14, CHUNK = 1 << 20, FEW_CHUNK = 1 << 16, CUBE = 32, BATCH = 16, CUTS = 16 };
static const size_t CHUNK_MAX = (size_t)1 << 30;

static void put_header(hdf5_file *file, const und_frame *frame, const char *names, int format)
{
    und_hdf5_text(file, "program", "undine " UND_VERSION);
    und_hdf5_ints(file, "format", 0, &format);
    und_hdf5_ints(file, "number", 0, &frame->number);
    und_hdf5_doubles(file, "time", 0, &frame->time);
    und_hdf5_ints(file, "cells", 3, frame->grid.n);
    und_hdf5_doubles(file, "dx", 0, &frame->grid.dx);
    und_hdf5_doubles(file, "dy", 0, &frame->grid.dy);
    und_hdf5_doubles(file, "dz", 0, &frame->grid.dz);
    und_hdf5_doubles(file, "origin", 3, frame->grid.origin);
    und_hdf5_text(file, "items", names);
}

/* HDF5's shuffle: first bytes of all elements, then second bytes, and so on. */
static void shuffle(const unsigned char *from, size_t count, size_t size, size_t plane, unsigned char *to)
{
    for (size_t byte = 0; byte < size; byte++)
        for (size_t i = 0; i < count; i++)
            to[byte * plane + i] = from[i * size + byte];
}

typedef struct packer {
    const und_item *item;
    size_t dim[4], along[4]; /* of a chunk; chunks along each axis */
    size_t values, chunks;   /* of a chunk; of the item */
    int level;
    size_t bound; /* of a chunk that is packed */
    unsigned char *mixed, *packed;
    size_t size[BATCH];     /* 0: zlib failed */
    size_t *due, due_count; /* chunks to be packed: of those of which nothing was written only the first */
} packer;

/* A zlib stream of any level; its length, 0 where it failed. */
static size_t deflate_well(unsigned char *from, size_t bytes, unsigned char *to, size_t room, int level)
{
    uLongf length = room;
    return compress2(to, &length, from, bytes, level) == Z_OK ? length : 0;
}

/* The same of values from `first` on; those that were not written are not looked at. */
static void shuffle_written(const und_item *item, size_t first, size_t count, size_t plane, unsigned char *to)
{
    const size_t size = und_type_size(item->type), end = first + count;
    const double outside = item->rows ? item->rows->outside : 0;
    const float single = (float)outside;
    const unsigned char *value =
        (const unsigned char *)(item->type == UND_F64 ? (const void *)&outside : &single);
    for (size_t at = first, next; at < end; at = next) {
        unsigned char *part = to + (at - first);
        if (und_item_written(item, at, end, &next))
            shuffle((const unsigned char *)item->data + at * size, next - at, size, plane, part);
        else
            for (size_t byte = 0; byte < size; byte++)
                memset(part + byte * plane, value[byte], next - at);
    }
}

/* Where a chunk begins along each axis, and along which it goes on beyond the item: bits. */
static unsigned place_of(const packer *p, size_t number, size_t begin[4])
{
    unsigned cut = 0;
    for (int i = p->item->rank - 1; i >= 0; i--) {
        begin[i] = number % p->along[i] * p->dim[i];
        number /= p->along[i];
        cut |= (unsigned)(begin[i] + p->dim[i] > p->item->dim[i]) << i;
    }
    return cut;
}

/* The chunk that a value lies in; how many from it on do, at least. */
static size_t chunk_of(const packer *p, size_t value, size_t *more)
{
    const size_t last = (size_t)p->item->rank - 1, x = value % p->item->dim[last];
    size_t number = 0, times = 1;
    *more = p->dim[last] - x % p->dim[last];
    *more = *more < p->item->dim[last] - x ? *more : p->item->dim[last] - x;
    for (int i = p->item->rank - 1; i >= 0; i--) {
        number += times * (value % p->item->dim[i] / p->dim[i]);
        times *= p->along[i];
        value /= p->item->dim[i];
    }
    return number;
}

/* Chunks of which nothing was written are all the same where they are cut off alike: for each chunk the
 * number of the one that is packed for it, malloc'ed. */
static size_t *list_chunks(packer *p)
{
    size_t *as = malloc(2 * p->chunks * sizeof *as), plain[CUTS], begin[4];
    const size_t count = und_item_count(p->item);
    for (int k = 0; k < CUTS; k++)
        plain[k] = SIZE_MAX;
    for (size_t k = 0; as && k < p->chunks; k++)
        as[k] = !p->item->rows ? k : SIZE_MAX;
    for (size_t at = 0, next; as && at < count && p->item->rows; at = next)
        if (und_item_written(p->item, at, count, &next))
            for (size_t v = at, more; v < next; v += more) {
                const size_t k = chunk_of(p, v, &more);
                as[k] = k;
            }
    p->due = as ? as + p->chunks : NULL;
    p->due_count = 0;
    for (size_t k = 0; as && k < p->chunks; k++) {
        size_t *alike = &plain[place_of(p, k, begin)];
        *alike = *alike == SIZE_MAX && as[k] == SIZE_MAX ? k : *alike;
        as[k] = as[k] == SIZE_MAX ? *alike : k;
        if (as[k] == k)
            p->due[p->due_count++] = k;
    }
    return as;
}

/* The values of a chunk, row by row along the fastest axis; what is beyond the array's end is zero. */
static void mix(const packer *p, size_t number, unsigned char *to)
{
    const und_item *item = p->item;
    const int last = item->rank - 1;
    size_t begin[4], at[4], size = und_type_size(item->type), wide = p->dim[last];
    if (place_of(p, number, begin))
        memset(to, 0, p->values * size);
    const size_t left = item->dim[last] - begin[last], count = left < wide ? left : wide;
    for (size_t row = 0; row < p->values / wide; row++) {
        size_t rest = row, first = 0;
        bool inside = true;
        for (int i = last; i >= 0; i--) {
            at[i] = begin[i] + (i < last ? rest % p->dim[i] : 0);
            rest /= i < last ? p->dim[i] : 1;
            inside &= at[i] < item->dim[i];
        }
        for (int i = 0; i <= last; i++)
            first = first * item->dim[i] + at[i];
        if (inside)
            shuffle_written(item, first, count, p->values, to + row * wide);
    }
}

/* Packs chunk `number` into slot `k`. */
static void pack(packer *p, size_t number, int k)
{
    const size_t size = und_type_size(p->item->type), bytes = p->values * size;
    unsigned char *mixed = p->mixed + (size_t)k * bytes, *to = p->packed + (size_t)k * p->bound;
    mix(p, number, mixed);
    p->size[k] = p->level > 1 ? deflate_well(mixed, bytes, to, p->bound, p->level)
                              : und_deflate(mixed, bytes, size, to);
}

/* Packs chunks side by side, and closes the gaps between them: the same bytes at any thread count. */
static void put_chunks(hdf5_file *file, packer *p, hdf5_chunk *chunk, int threads)
{
    size_t *as = list_chunks(p), bytes = p->values * und_type_size(p->item->type),
           slots = p->due_count < BATCH ? p->due_count : BATCH;
    size_t ours = und_deflate_bound(bytes, und_type_size(p->item->type)), zlib = compressBound((uLong)bytes);
    p->bound = ours > zlib ? ours : zlib;
    p->mixed = malloc(slots * bytes);
    file->failed |= !p->mixed || !as;
    for (size_t first = 0; first < p->due_count && !file->failed; first += BATCH) {
        int count = p->due_count - first < BATCH ? (int)(p->due_count - first) : BATCH;
        int team = count < threads ? count : threads;
        p->packed = und_hdf5_room(file, (size_t)count * p->bound);
        if (!p->packed)
            break;
        PARALLEL_FOR(team)
        for (int k = 0; k < count; k++)
            pack(p, p->due[first + (size_t)k], k);
        for (int k = 0; k < count; k++) {
            chunk[p->due[first + (size_t)k]] = (hdf5_chunk){file->bytes, p->size[k]};
            memmove(file->data + file->bytes, p->packed + (size_t)k * p->bound, p->size[k]);
            file->bytes += p->size[k];
            file->failed |= p->size[k] == 0;
        }
    }
    for (size_t k = 0; k < p->chunks && !file->failed; k++)
        chunk[k] = chunk[as[k]];
    free(p->mixed);
    free(as);
}

static bool is_packed(const und_item *item, int compress, packer *p)
{
    const size_t bytes = und_item_bytes(item), most = item->rows ? FEW_CHUNK : CHUNK;
    if (compress <= 0 || item->rank < 1 || bytes < COMPRESS_FROM)
        return false;
    const size_t row_bytes = bytes / item->dim[0];
    *p = (packer){.item = item, .level = compress < 9 ? compress : 9, .values = 1, .chunks = 1};
    for (int i = 0; i < item->rank; i++) {
        p->dim[i] = i > 0 ? item->dim[i] : most / row_bytes ? most / row_bytes : 1;
        p->dim[i] = item->rows && item->rank == 3 ? CUBE : p->dim[i];
        p->dim[i] = p->dim[i] < item->dim[i] ? p->dim[i] : item->dim[i];
        p->along[i] = (item->dim[i] + p->dim[i] - 1) / p->dim[i];
        p->values *= p->dim[i];
        p->chunks *= p->along[i];
    }
    return p->values * und_type_size(item->type) <= CHUNK_MAX;
}

/* The values, then what describes them; its address. */
static size_t put_item(hdf5_file *file, const und_item *item, bool indexed, const store_def *def)
{
    assert(item->rank >= 0 && item->rank <= 4 && !strpbrk(item->name, "\n\t"));
    packer p = {0};
    const int one = 1;
    hdf5_array array = {.type = item->type, .rank = item->rank, .dim = item->dim};
    hdf5_chunk *chunk = NULL;
    if (is_packed(item, def->compress, &p)) {
        memcpy(array.chunk_dim, p.dim, sizeof p.dim);
        array.chunk_count = p.chunks;
        array.level = p.level;
        array.chunk = chunk = malloc(p.chunks * sizeof *chunk);
        file->failed |= !chunk;
        if (chunk)
            put_chunks(file, &p, chunk, def->threads);
    } else {
        array.bytes = und_item_bytes(item);
        array.address = und_hdf5_put(file, item->data, array.bytes);
    }
    if (!file->failed)
        und_hdf5_begin_array(file, &array);
    free(chunk);
    und_hdf5_text(file, "unit", item->unit);
    und_hdf5_text(file, "kind", und_store_kind_name(item->kind));
    if (item->is_static)
        und_hdf5_ints(file, "static", 0, &one);
    if (indexed)
        und_hdf5_ints(file, STORE_INDEXED, 0, &one);
    return und_hdf5_end_object(file);
}

static bool belongs(const und_item *item, store_part part)
{
    return part == STORE_ALL || item->is_static == (part == STORE_STATIC);
}

/* The list of names, malloc'ed. */
static char *list_names(const und_frame *frame, store_part part)
{
    size_t room = (size_t)frame->count * (sizeof frame->items->name + sizeof STORE_ELSEWHERE) + 1, at = 0;
    char *names = calloc(room, 1);
    for (int i = 0; names && i < frame->count; i++) {
        const und_item *item = &frame->items[i];
        bool here = belongs(item, part);
        if (here || part == STORE_MOVING)
            at += (size_t)snprintf(names + at, room - at, "%s%s\n", item->name, here ? "" : STORE_ELSEWHERE);
    }
    return names;
}

enum { WELDS = 4 };

static int find_welds(const und_frame *frame, store_part part, store_weld welds[WELDS])
{
    int count = 0;
    for (int i = 0; i < frame->count && count < WELDS; i++)
        if (belongs(&frame->items[i], part))
            count += und_weld_make(frame, &frame->items[i], &welds[count]);
    return count;
}

/* An array in the file, by the name of its item. */
typedef struct entry {
    char name[sizeof((und_item *)0)->name];
    size_t address;
} entry;

typedef struct entries {
    int count;
    entry *entry;
} entries;

static void enter(entries *all, const char *name, size_t address)
{
    entry *e = &all->entry[all->count++];
    snprintf(e->name, sizeof e->name, "%s", name);
    e->address = address;
}

/* An item of a mesh, for its vertices; and with the positions, which vertices its corners are. */
static void put_welded(hdf5_file *file, const und_item *item, const store_weld *weld, const store_def *def,
                       entries *all)
{
    und_item rows = *item;
    rows.dim[0] = weld->vertices;
    rows.data = und_weld_gather(weld, item);
    file->failed |= !rows.data;
    if (rows.data)
        enter(all, item->name, put_item(file, &rows, true, def));
    free(rows.data);
    und_item index = {.unit = "1", .kind = item->kind, .type = UND_I32, .rank = 1, .dim = {weld->corners}};
    if (strcmp(item->name + strlen(weld->prefix), "position") == 0 &&
        und_weld_index_name(item->name, index.name)) {
        index.data = weld->index;
        enter(all, index.name, put_item(file, &index, false, def));
    }
}

static int depth_of(const char *name)
{
    int slashes = 0;
    for (; *name; name++)
        slashes += *name == '/';
    return slashes;
}

/* Begins a group of the arrays and groups whose names begin with `prefix`, and takes them off the list. */
static void begin_group(hdf5_file *file, entries *all, const char *prefix)
{
    size_t length = strlen(prefix);
    int left = 0;
    und_hdf5_begin_group(file);
    for (int i = 0; i < all->count; i++) {
        const entry *e = &all->entry[i];
        if (strncmp(e->name, prefix, length) == 0)
            und_hdf5_link(file, e->name + length, strlen(e->name) - length, e->address);
        else
            all->entry[left++] = *e;
    }
    all->count = left;
}

/* Names such as "rain/position" lie in groups: the deepest is written first, and takes the place of what is
 * in it. */
static void put_groups(hdf5_file *file, entries *all)
{
    for (;;) {
        int deepest = 0;
        for (int i = 1; i < all->count; i++)
            if (depth_of(all->entry[i].name) > depth_of(all->entry[deepest].name))
                deepest = i;
        char *slash = all->count ? strrchr(all->entry[deepest].name, '/') : NULL;
        if (!slash)
            return;
        entry group = all->entry[deepest];
        size_t length = (size_t)(slash - all->entry[deepest].name);
        group.name[length + 1] = 0;
        begin_group(file, all, group.name);
        group.name[length] = 0;
        enter(all, group.name, und_hdf5_end_object(file));
    }
}

static void put_items(hdf5_file *file, const und_frame *frame, const store_weld *welds, int weld_count,
                      const store_def *def, entries *all)
{
    for (int i = 0; i < frame->count; i++) {
        const und_item *item = &frame->items[i];
        int k = 0;
        while (k < weld_count && !und_weld_has(&welds[k], item))
            k++;
        if (belongs(item, def->part) && k < weld_count)
            put_welded(file, item, &welds[k], def, all);
        else if (belongs(item, def->part))
            enter(all, item->name, put_item(file, item, false, def));
    }
}

static bool put_frame(hdf5_file *file, const und_frame *frame, const store_def *def)
{
    store_weld welds[WELDS];
    int weld_count = find_welds(frame, def->part, welds);
    char *names = list_names(frame, def->part);
    entries all = {.entry = malloc(((size_t)frame->count + WELDS) * sizeof *all.entry)};
    file->failed |= !names || !all.entry;
    if (!file->failed) {
        put_items(file, frame, welds, weld_count, def, &all);
        put_groups(file, &all);
        begin_group(file, &all, "");
        put_header(file, frame, names, weld_count ? STORE_WELDED : STORE_FORMAT);
    }
    bool good = und_hdf5_end(file, und_hdf5_end_object(file));
    for (int k = 0; k < weld_count; k++)
        und_weld_free(&welds[k]);
    free(all.entry);
    free(names);
    return good;
}

und_status und_store_write(const char *path, const und_frame *frame, const store_def *def, store_stamp *stamp,
                           und_error *err)
{
    hdf5_file file;
    und_hdf5_begin(&file, (size_t)frame->count * 512);
    bool good = put_frame(&file, frame, def);
    if (good && def->tail)
        und_hdf5_put(&file, def->tail, strlen(def->tail));
    if (!good || file.failed) {
        free(file.data);
        return und_error_set(err, UND_FAILED, "cannot write %s: out of memory, or an item that HDF5 refuses",
                             path);
    }
    stamp->bytes = file.bytes;
    stamp->hash = und_file_hash_memory(file.data, file.bytes, def->threads);
    und_status status = und_file_write_unsynced(path, file.data, file.bytes, err);
    free(file.data);
    return status;
}
