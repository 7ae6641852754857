#include "grid/field.h"

#include "base/pages.h"
#include "base/scratch.h"

#include <assert.h>

static void **place_of(void *part, const und_field *f)
{
    return (void **)((char *)part + f->offset);
}

static void *alloc(const und_field *f, size_t bytes, bool sparse, const char *what, und_error *err)
{
    const uint8_t whole = (uint8_t)f->outside;
    const void *value = f->size == sizeof whole ? (const void *)&whole : &f->outside;
    if (!sparse || f->outside == 0)
        return und_pages_alloc_some(bytes, f->sparse || sparse, what, err);
    assert(f->size == sizeof whole || f->size == sizeof f->outside);
    return und_pages_alloc_of(bytes, value, f->size, what, err);
}

/* Of one field, or of those that lie in a block with it. */
static und_status open_block(void *part, const und_field *f, const size_t *count, bool sparse,
                             const char *what, und_error *err)
{
    const size_t own = count[f->at] * f->size, each = und_scratch_bytes(own),
                 bytes = f->with > 0 ? (size_t)(f->with + 1) * each : own;
    char *block = alloc(f, bytes, sparse, what, err);
    for (int i = 0; block && i <= f->with; i++)
        *place_of(part, f + i) = block + (size_t)i * each;
    return block ? UND_OK : err->status;
}

und_status und_field_open_all(void *part, const und_field *list, int fields, const size_t *count,
                              unsigned asked, bool sparse, const char *what, und_error *err)
{
    for (const und_field *f = list; f < list + fields; f += f->with + 1) {
        if (f->when != 0 && !(f->when & asked))
            continue;
        if (open_block(part, f, count, sparse, what, err) != UND_OK)
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
