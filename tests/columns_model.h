/* The column model in tests: made or the test fails, and the hash of its state. */
#ifndef UND_TESTS_COLUMNS_MODEL_H
#define UND_TESTS_COLUMNS_MODEL_H

#include "tests/state_hash.h"

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
    return state_hash(und_columns_liquid(columns), kept);
}

#endif
