/* Two frames with the same bits in them: bodies put into a flow must be those of the run. */
#ifndef UND_TESTS_SAME_ITEMS_H
#define UND_TESTS_SAME_ITEMS_H

#include "tests/test.h"

#include "grid/frame.h"

static inline bool is_body(const und_item *item)
{
    return strncmp(item->name, "bodies/", 7) == 0;
}

/* Those items of `a` that are bodies, or those that are not, are in `b` with the same bits; their number. */
static inline int same_items(const und_frame *a, const und_frame *b, bool bodies)
{
    int count = 0;
    for (int i = 0; i < a->count; i++) {
        const und_item *x = &a->items[i], *y = und_frame_find(b, x->name);
        if (is_body(x) != bodies)
            continue;
        assert_non_null(y);
        assert_int_equal(und_item_bytes(x), und_item_bytes(y));
        if (memcmp(x->data, y->data, und_item_bytes(x)) != 0)
            fail_msg("frame %d: %s differs", a->number, x->name);
        count++;
    }
    return count;
}

#endif
