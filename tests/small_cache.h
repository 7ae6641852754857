/* A small cache, for the tests that damage one: frames 1 to 4, checkpoints at 2 and 4, static items. */
#ifndef UND_TESTS_SMALL_CACHE_H
#define UND_TESTS_SMALL_CACHE_H

#include "tests/folder.h"

#include "base/random.h"
#include "cache/cache.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { SMALL_FRAMES = 4 };

static inline und_cache_def small_definition(const char *path)
{
    return (und_cache_def){.folder = path,
                           .name = "beach",
                           .model = "waves",
                           .scene_path = "beach.lua",
                           .scene_text = "scene {}",
                           .settings = "",
                           .start = 1,
                           .end = SMALL_FRAMES,
                           .fps = 24,
                           .compress = 1,
                           .threads = 1};
}

static inline und_frame small_frame(int number)
{
    und_frame f =
        und_frame_empty(number, number / 24.0, (und_grid){.n = {80, 1, 60}, .dx = 0.5, .origin = {0, 0, 0}});
    const und_item_def defs[] = {{"surface", "m", UND_FIELD, UND_F32, false, 2, {60, 80}},
                                 {"floor", "m", UND_FIELD, UND_F32, true, 2, {60, 80}},
                                 {"rain/position", "m", UND_PARTICLES, UND_F32, false, 2, {20, 3}},
                                 {"energy", "J", UND_NUMBERS, UND_F64, false, 1, {4}}};
    for (int i = 0; i < 4; i++) {
        und_item *item = und_frame_add(&f, &defs[i], NULL);
        if (!item)
            abort();
        uint64_t seed = item->is_static ? 0 : (uint64_t)number;
        for (size_t k = 0; k < und_item_count(item); k++) {
            double value = und_random(seed, (uint64_t)i, k / 4);
            if (item->type == UND_F64)
                ((double *)item->data)[k] = value;
            else
                ((float *)item->data)[k] = (float)value;
        }
    }
    return f;
}

static inline void small_cache(const char *path)
{
    und_cache_def def = small_definition(path);
    und_error err = {0};
    und_cache *cache = und_cache_create(&def, true, &err);
    bool good = cache != NULL;
    for (int i = 1; good && i <= SMALL_FRAMES; i++) {
        und_frame frame = small_frame(i);
        und_ledger ledger = {.start = 10, .sources = 0.5 * i, .measured = 10 + 0.5 * i};
        good = !und_cache_write(cache, &frame, &ledger, und_frame_hash(&frame, 1), &err) &&
               (i % 2 || !und_cache_checkpoint(cache, &frame, &err));
        und_frame_clear(&frame);
    }
    und_stage stage = {"rows", 0.5, 3};
    if (!good || und_cache_close(cache, &stage, 1, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
}

static char small_path[80] __attribute__((unused));

static inline int small_setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    snprintf(small_path, sizeof small_path, "%s/beach", folder.path);
    small_cache(small_path);
    return 0;
}

#endif
