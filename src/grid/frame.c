#include "grid/frame.h"

#include "base/hash.h"
#include "base/pages.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

und_frame und_frame_empty(int number, double time, und_grid grid)
{
    return (und_frame){.number = number, .time = time, .grid = grid};
}

static void free_item(und_item *item)
{
    free(item->rows);
    if (!item->borrowed && item->paged)
        und_pages_free(item->data);
    else if (!item->borrowed)
        free(item->data);
    item->rows = NULL;
}

void und_frame_clear(und_frame *frame)
{
    for (int i = 0; i < frame->count + frame->spares; i++)
        free_item(&frame->items[i]);
    free(frame->items);
    *frame = und_frame_empty(frame->number, frame->time, frame->grid);
}

void und_frame_recycle(und_frame *frame)
{
    int kept = 0;
    for (int i = 0; i < frame->count + frame->spares; i++)
        if (i < frame->count && !frame->items[i].borrowed && !frame->items[i].rows)
            frame->items[kept++] = frame->items[i];
        else
            free_item(&frame->items[i]); /* nothing took it the last time, or little of it is there */
    frame->count = 0;
    frame->spares = kept;
}

size_t und_type_size(und_type type)
{
    switch (type) {
    case UND_F64:
        return 8;
    case UND_U8:
        return 1;
    default:
        return 4;
    }
}

size_t und_item_count(const und_item *item)
{
    size_t count = 1;
    for (int i = 0; i < item->rank; i++)
        count *= item->dim[i];
    return count;
}

size_t und_item_bytes(const und_item *item)
{
    return und_item_count(item) * und_type_size(item->type);
}

const und_item *und_frame_find(const und_frame *frame, const char *name)
{
    for (int i = 0; i < frame->count; i++)
        if (strcmp(frame->items[i].name, name) == 0)
            return &frame->items[i];
    return NULL;
}

und_status und_frame_field(const und_frame *frame, const char *name, int faces_along, const float **data,
                           und_error *err)
{
    const und_item *item = und_frame_find(frame, name);
    *data = NULL;
    if (!item)
        return UND_OK;
    bool good = item->type == UND_F32 && item->rank == 3 && item->data;
    for (int a = 0; a < 3 && good; a++)
        good = item->dim[2 - a] == (size_t)(frame->grid.n[a] + (a == faces_along));
    if (!good)
        return und_error_set(err, UND_FAILED, "frame %d: \"%s\" does not fit the grid", frame->number, name);
    *data = item->data;
    return UND_OK;
}

und_item *und_frame_borrow(und_frame *frame, const und_item_def *def, void *data, und_error *err)
{
    if (frame->count + frame->spares == frame->capacity) {
        int capacity = frame->capacity ? 2 * frame->capacity : 16;
        und_item *items = realloc(frame->items, (size_t)capacity * sizeof *items);
        if (!items) {
            und_error_set(err, UND_FAILED, "out of memory: frame items");
            return NULL;
        }
        frame->items = items;
        frame->capacity = capacity;
    }
    if (frame->spares > 0)
        frame->items[frame->count + frame->spares] = frame->items[frame->count];
    und_item *item = &frame->items[frame->count++];
    *item = (und_item){.kind = def->kind,
                       .type = def->type,
                       .is_static = def->is_static,
                       .borrowed = true,
                       .rank = def->rank,
                       .data = data};
    snprintf(item->name, sizeof item->name, "%s", def->name);
    snprintf(item->unit, sizeof item->unit, "%s", def->unit);
    memcpy(item->dim, def->dim, sizeof item->dim);
    return item;
}

/* The memory of a spare item as large as that, zeroed; NULL: there is none. */
static void *take_spare(und_frame *frame, size_t bytes)
{
    for (int i = frame->count; i < frame->count + frame->spares && bytes > 0; i++)
        if (und_item_bytes(&frame->items[i]) == bytes) {
            void *data = frame->items[i].data;
            frame->spares--;
            frame->items[i] = frame->items[frame->count + frame->spares];
            return memset(data, 0, bytes);
        }
    return NULL;
}

und_item *und_frame_add(und_frame *frame, const und_item_def *def, und_error *err)
{
    und_item shape = {.type = def->type, .rank = def->rank};
    memcpy(shape.dim, def->dim, sizeof shape.dim);
    void *data = take_spare(frame, und_item_bytes(&shape));
    if (!data)
        data = und_alloc(und_item_count(&shape), und_type_size(def->type), def->name, err);
    und_item *item = data ? und_frame_borrow(frame, def, data, err) : NULL;
    if (item)
        item->borrowed = false;
    else
        free(data);
    return item;
}

und_status und_item_keep_rows(und_item *item, size_t values, double outside, und_error *err)
{
    const size_t rows = (und_item_count(item) + values - 1) / values;
    item->rows = und_alloc(1, sizeof *item->rows + (rows / 64 + 1) * sizeof(uint64_t), "rows", err);
    if (!item->rows)
        return err->status;
    item->rows->values = values;
    item->rows->outside = outside;
    return UND_OK;
}

und_item *und_frame_add_rows(und_frame *frame, const und_item_def *def, size_t values, double outside,
                             und_error *err)
{
    const float value = (float)outside;
    und_item shape = {.type = def->type, .rank = def->rank};
    memcpy(shape.dim, def->dim, sizeof shape.dim);
    void *data = und_pages_alloc_of(und_item_bytes(&shape), &value, sizeof value, def->name, err);
    und_item *item = data ? und_frame_borrow(frame, def, data, err) : NULL;
    if (!item)
        und_pages_free(data);
    if (!item)
        return NULL;
    item->borrowed = false;
    item->paged = true;
    return und_item_keep_rows(item, values, outside, err) == UND_OK ? item : NULL;
}

bool und_item_written(const und_item *item, size_t begin, size_t end, size_t *next)
{
    const und_item_rows *r = item->rows;
    size_t row = r ? begin / r->values : 0, last = r ? (end - 1) / r->values : 0;
    const bool first = !r || (r->bits[row >> 6] >> (row & 63) & 1);
    const uint64_t alike = first ? ~UINT64_C(0) : 0;
    uint64_t other = r ? (r->bits[row >> 6] ^ alike) & ~UINT64_C(0) << (row & 63) : 0;
    for (row &= ~(size_t)63; r && row <= last && !other; row += 64)
        other = row + 64 <= last ? r->bits[(row + 64) >> 6] ^ alike : 0;
    row += other ? (size_t)__builtin_ctzll(other) : 0;
    *next = r && row <= last ? row * r->values : end;
    return first;
}

const float *und_frame_points(const und_frame *frame, const char *name, size_t *count)
{
    const und_item *item = und_frame_find(frame, name);
    *count = 0;
    if (!item || item->type != UND_F32 || item->rank != 2 || item->dim[1] != 3 || !item->data ||
        item->dim[0] > INT32_MAX / 16)
        return NULL;
    const float *p = item->data;
    for (size_t k = 0; k < 3 * item->dim[0]; k++)
        if (!(fabsf(p[k]) < 1e9f))
            return NULL;
    *count = item->dim[0];
    return p;
}

bool und_frame_domain(const und_frame *frame, double low[3], double high[3])
{
    const und_item *item = und_frame_find(frame, "domain");
    if (!item || item->type != UND_F64 || !item->data || und_item_count(item) != 6)
        return false;
    const double *d = item->data;
    for (int a = 0; a < 3; a++)
        if (!(fabs(d[a]) < 1e9 && fabs(d[3 + a]) < 1e9 && d[a] < d[3 + a]))
            return false;
    memcpy(low, d, 3 * sizeof *low);
    memcpy(high, d + 3, 3 * sizeof *high);
    return true;
}

static und_item_def def_of(const und_item *item)
{
    und_item_def def = {.name = item->name,
                        .unit = item->unit,
                        .kind = item->kind,
                        .type = item->type,
                        .is_static = item->is_static,
                        .rank = item->rank};
    memcpy(def.dim, item->dim, sizeof def.dim);
    return def;
}

und_status und_frame_copy_item(und_frame *to, const und_item *item, und_error *err)
{
    und_item_def def = def_of(item);
    und_item *copy = und_frame_add(to, &def, err);
    if (!copy)
        return UND_FAILED;
    if (und_item_bytes(item) > 0)
        memcpy(copy->data, item->data, und_item_bytes(item));
    return UND_OK;
}

und_status und_frame_borrow_item(und_frame *to, const und_item *item, und_error *err)
{
    und_item_def def = def_of(item);
    return und_frame_borrow(to, &def, item->data, err) ? UND_OK : UND_FAILED;
}

und_status und_frame_copy(const und_frame *from, und_frame *to, und_error *err)
{
    for (int i = 0; i < from->count; i++)
        if (und_frame_copy_item(to, &from->items[i], err) != UND_OK)
            return UND_FAILED;
    return UND_OK;
}

/* Of an item of which little was written, and values that nobody wrote: what is not there is not looked at.
 */
typedef struct sparse {
    const und_item *item;
    const char *plain; /* so many bytes: */
    size_t room;
} sparse;

static const void *find_piece(const void *context, size_t at, size_t *bytes)
{
    const sparse *s = context;
    const size_t size = und_type_size(s->item->type);
    size_t next;
    const bool written = und_item_written(s->item, at / size, (at + *bytes) / size, &next);
    *bytes = next * size - at;
    *bytes = written || *bytes < s->room ? *bytes : s->room;
    return written ? (const char *)s->item->data + at : s->plain;
}

static uint64_t hash_rows(const und_item *item, uint64_t hash, int threads)
{
    enum { FEW = 1 << 12 }; /* bytes, where there is no memory for more */
    const float single = (float)item->rows->outside;
    const size_t size = und_type_size(item->type), bytes = und_item_bytes(item);
    const void *value = size == 8 ? (const void *)&item->rows->outside : &single;
    char few[FEW];
    und_error unused;
    char *plain = bytes < UND_HASH_BLOCK ? NULL : und_pages_alloc(UND_HASH_BLOCK, "a hash", &unused);
    const sparse s = {item, plain ? plain : few, plain ? UND_HASH_BLOCK : FEW};
    for (size_t at = 0; at < s.room; at += size)
        memcpy((plain ? plain : few) + at, value, size);
    hash = und_hash_pieces(find_piece, &s, plain, bytes, hash, threads);
    und_pages_free(plain);
    return hash;
}

uint64_t und_frame_hash(const und_frame *frame, int threads)
{
    uint64_t hash = und_hash(&frame->number, sizeof frame->number, 0, 1);
    hash = und_hash(&frame->time, sizeof frame->time, hash, 1);
    for (int i = 0; i < frame->count; i++) {
        const und_item *item = &frame->items[i];
        hash = und_hash(item->name, strlen(item->name), hash, 1);
        hash = und_hash(item->dim, (size_t)item->rank * sizeof item->dim[0], hash, 1);
        hash = item->rows && und_type_size(item->type) > 1
                   ? hash_rows(item, hash, threads)
                   : und_hash(item->data, und_item_bytes(item), hash, threads);
    }
    return hash;
}
