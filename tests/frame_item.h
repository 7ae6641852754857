/* An item of a frame, to be damaged. */
#ifndef UND_TESTS_FRAME_ITEM_H
#define UND_TESTS_FRAME_ITEM_H

#include "tests/test.h"

#include "grid/frame.h"

static inline und_item *item_of(und_frame *frame, const char *name)
{
    const und_item *item = und_frame_find(frame, name);
    assert_non_null(item);
    return &frame->items[item - frame->items];
}

#endif
