#include "grid/field.h"

#include "base/pages.h"

static void **place_of(void *part, const und_field *f)
{
    return (void **)((char *)part + f->offset);
}

und_status und_field_open_all(void *part, const und_field *list, int fields, const size_t *count,
                              unsigned asked, const char *what, und_error *err)
{
    for (const und_field *f = list; f < list + fields; f++) {
        const size_t bytes = count[f->at] * f->size;
        if (f->when != 0 && !(f->when & asked))
            continue;
        *place_of(part, f) =
            f->sparse ? und_pages_alloc_sparse(bytes, what, err) : und_pages_alloc(bytes, what, err);
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
