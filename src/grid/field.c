#include "grid/field.h"

#include "base/pages.h"
#include "base/scratch.h"

#include <assert.h>
#include <string.h>

static void **place_of(void *part, const und_field *f)
{
    return (void **)((char *)part + f->offset);
}

static size_t count_of(const und_field *f, const und_field_room *room)
{
    const und_mac *m = room->mac;
    switch (f->at) {
    case UND_AT_ROWS:
        return (size_t)und_mac_rows(m);
    case UND_AT_ROWS_BESIDE:
        return (size_t)(m->n[1] + 2) * (size_t)(m->n[2] + 2);
    default:
        return f->at < UND_AT_ROWS ? m->count + room->spare : room->own[f->at - UND_AT_OWN];
    }
}

static void *alloc(const und_field *f, size_t bytes, const und_field_room *room, const char *what,
                   und_error *err)
{
    const bool sparse = room->mac && room->mac->present;
    const size_t size = und_field_size(f);
    const uint8_t whole = (uint8_t)f->outside;
    const void *value = size == sizeof whole ? (const void *)&whole : &f->outside;
    if (!sparse || f->outside == 0)
        return und_pages_alloc_some(bytes, f->sparse || sparse, what, err);
    assert(size == sizeof whole || size == sizeof f->outside);
    return und_pages_alloc_of(bytes, value, size, what, err);
}

/* Of one field, or of those that lie in a block with it. */
static und_status open_block(void *part, const und_field *f, const und_field_room *room, const char *what,
                             und_error *err)
{
    const size_t own = count_of(f, room) * und_field_size(f), each = und_scratch_bytes(own),
                 bytes = f->with > 0 ? (size_t)(f->with + 1) * each : own;
    char *block = alloc(f, bytes, room, what, err);
    for (int i = 0; block && i <= f->with; i++)
        *place_of(part, f + i) = block + (size_t)i * each;
    return block ? UND_OK : err->status;
}

static bool is_open(const void *part, const und_field *f)
{
    void *array;
    memcpy(&array, (const char *)part + f->offset, sizeof array);
    return array != NULL;
}

und_status und_field_open_more(void *part, const und_field *list, int fields, const und_field_room *room,
                               const char *what, und_error *err)
{
    for (const und_field *f = list; f < list + fields; f += f->with + 1) {
        const bool asked = f->when == 0 || f->when & room->asked;
        if (asked && !is_open(part, f) && open_block(part, f, room, what, err) != UND_OK)
            return err->status;
    }
    return UND_OK;
}

und_status und_field_open_all(void *part, const und_field *list, int fields, const und_field_room *room,
                              const char *what, und_error *err)
{
    for (const und_field *f = list; f < list + fields; f += f->with + 1) {
        if (f->when != 0 && !(f->when & room->asked))
            continue;
        if (open_block(part, f, room, what, err) != UND_OK)
            return err->status;
    }
    return UND_OK;
}

void und_field_close_all(void *part, const und_field *list, int fields)
{
    int inside = 0; /* of a block: how many are to come */
    for (const und_field *f = list; f < list + fields; f++) {
        if (inside == 0)
            und_pages_free(*place_of(part, f));
        inside = inside > 0 ? inside - 1 : f->with;
        *place_of(part, f) = NULL;
    }
}

und_halo_field und_field_halo(const void *part, const und_field *f, const und_mac *mac, int reach)
{
    void *values;
    memcpy(&values, (const char *)part + f->offset, sizeof values);
    assert(f->at < UND_AT_ROWS && f->halo != UND_HALO_NONE);
    assert(f->halo != UND_HALO_BESIDE || reach <= UND_HALO_FEW);
    und_halo_field halo = und_halo_of(mac, values, und_field_size(f), reach);
    halo.type = f->type;
    return halo;
}
