#include "grid/field.h"

#include "base/pages.h"

#include <assert.h>

static void **place_of(void *part, const und_field *f)
{
    return (void **)((char *)part + f->offset);
}

static void *alloc_outside(const und_field *f, size_t bytes, const char *what, und_error *err)
{
    const uint8_t whole = (uint8_t)f->outside;
    const void *value = f->size == sizeof whole ? (const void *)&whole : &f->outside;
    assert(f->size == sizeof whole || f->size == sizeof f->outside);
    return und_pages_alloc_of(bytes, value, f->size, what, err);
}

und_status und_field_open_all(void *part, const und_field *list, int fields, const size_t *count,
                              unsigned asked, bool sparse, const char *what, und_error *err)
{
    for (const und_field *f = list; f < list + fields; f++) {
        const size_t bytes = count[f->at] * f->size;
        if (f->when != 0 && !(f->when & asked))
            continue;
        *place_of(part, f) = sparse && f->outside != 0
                                 ? alloc_outside(f, bytes, what, err)
                                 : und_pages_alloc_some(bytes, f->sparse || sparse, what, err);
        if (!*place_of(part, f))
            return err->status;
    }
    return UND_OK;
}

void und_field_close_all(void *part, const und_field *list, int fields)
{
    for (const und_field *f = list; f < list + fields; f++) {
        und_pages_free(*place_of(part, f));
        *place_of(part, f) = NULL;
    }
}
