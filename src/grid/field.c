#include "grid/field.h"

#include "base/pages.h"
#include "base/scratch.h"

static void **place_of(void *part, const und_field *f)
{
    return (void **)((char *)part + f->offset);
}

/* Of one field, or of those that lie in a block with it. */
static und_status open_block(void *part, const und_field *f, const size_t *count, const char *what,
                             und_error *err)
{
    const size_t own = count[f->at] * f->size, each = und_scratch_bytes(own),
                 bytes = f->with > 0 ? (size_t)(f->with + 1) * each : own;
    char *block = f->sparse ? und_pages_alloc_sparse(bytes, what, err) : und_pages_alloc(bytes, what, err);
    for (int i = 0; block && i <= f->with; i++)
        *place_of(part, f + i) = block + (size_t)i * each;
    return block ? UND_OK : err->status;
}

und_status und_field_open_all(void *part, const und_field *list, int fields, const size_t *count,
                              unsigned asked, const char *what, und_error *err)
{
    for (const und_field *f = list; f < list + fields; f += f->with + 1) {
        if (f->when != 0 && !(f->when & asked))
            continue;
        if (open_block(part, f, count, what, err) != UND_OK)
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
