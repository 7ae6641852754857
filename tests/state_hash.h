/* The hash of a liquid's state: what is the same to the last bit has the same. */
#ifndef UND_TESTS_STATE_HASH_H
#define UND_TESTS_STATE_HASH_H

#include "tests/test.h"

#include "grid/frame.h"
#include "liquid/liquid.h"

/* The state itself goes to `kept`, unless that is NULL. */
static inline uint64_t state_hash(und_liquid *liquid, und_frame *kept)
{
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    assert_int_equal(liquid->class->save(liquid, &frame, NULL), UND_OK);
    uint64_t hash = und_frame_hash(&frame, 1);
    if (kept)
        assert_int_equal(und_frame_copy(&frame, kept, NULL), UND_OK);
    und_frame_clear(&frame);
    return hash;
}

#endif
