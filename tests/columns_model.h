/* The column model in tests: made or the test fails, and the hash of its state. */
#ifndef UND_TESTS_COLUMNS_MODEL_H
#define UND_TESTS_COLUMNS_MODEL_H

#include "tests/test.h"

#include "grid/frame.h"
#include "liquid/columns.h"

static inline und_columns *make(const und_columns_def *def)
{
    und_error err = {0};
    und_columns *columns = und_columns_create(def, &err);
    if (!columns)
        fail_msg("%s", err.text);
    return columns;
}

/* The state itself goes to `kept`, unless that is NULL. */
static inline uint64_t hash_of(und_columns *columns, und_frame *kept)
{
    und_liquid *liquid = und_columns_liquid(columns);
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    assert_int_equal(liquid->class->save(liquid, &frame, NULL), UND_OK);
    uint64_t hash = und_frame_hash(&frame, 1);
    if (kept)
        assert_int_equal(und_frame_copy(&frame, kept, NULL), UND_OK);
    und_frame_clear(&frame);
    return hash;
}

#endif
