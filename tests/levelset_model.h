/* The level set liquid in tests: its state's hash. */
#ifndef UND_TESTS_LEVELSET_MODEL_H
#define UND_TESTS_LEVELSET_MODEL_H

#include "tests/test.h"

#include "grid/frame.h"
#include "liquid/levelset.h"

static inline und_levelset *start_levelset(const und_levelset_def *def)
{
    und_error err = {0};
    und_levelset *levelset = und_levelset_create(def, &err);
    if (!levelset)
        fail_msg("%s", err.text);
    return levelset;
}

static inline uint64_t hash_of_levelset(und_levelset *levelset)
{
    und_error err;
    und_liquid *liquid = und_levelset_liquid(levelset);
    und_frame state = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    assert_int_equal(liquid->class->save(liquid, &state, &err), UND_OK);
    uint64_t hash = und_frame_hash(&state, 1);
    und_frame_clear(&state);
    return hash;
}

#endif
