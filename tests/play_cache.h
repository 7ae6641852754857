/* A cache to be played: frames of waves whose surface is the frame's number. */
#ifndef UND_TESTS_PLAY_CACHE_H
#define UND_TESTS_PLAY_CACHE_H

#include "tests/folder.h"

#include "cache/cache.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLAY_X = 40, PLAY_Z = 30 };

static inline und_cache_def play_definition(const char *path, int start, int end, double fps)
{
    return (und_cache_def){.folder = path,
                           .name = "play",
                           .model = "waves",
                           .scene_path = "play.lua",
                           .scene_text = "scene { name = 'play' }\n"
                                         "liquid.waves { size = {4, 3}, cells = {40, 30}, surface = 1 }\n",
                           .settings = "",
                           .start = start,
                           .end = end,
                           .fps = fps,
                           .compress = 1,
                           .threads = 1,
                           .commit_every = -1}; /* readers see each frame at once */
}

/* Time is that of a run: 0 at the first frame. */
static inline void play_write(und_cache *cache, int number)
{
    und_cache_info info = und_cache_describe(cache);
    und_grid grid = {.n = {PLAY_X, 1, PLAY_Z}, .dx = 0.1};
    und_frame frame = und_frame_empty(number, (number - info.start) / info.fps, grid);
    const und_item_def defs[] = {{"surface", "m", UND_FIELD, UND_F32, false, 2, {PLAY_Z, PLAY_X}},
                                 {"ground", "m", UND_FIELD, UND_F32, true, 2, {PLAY_Z, PLAY_X}}};
    und_error err = {0};
    for (int i = 0; i < 2; i++) {
        und_item *item = und_frame_add(&frame, &defs[i], &err);
        if (!item)
            abort();
        for (size_t k = 0; k < und_item_count(item); k++)
            ((float *)item->data)[k] = i ? -1 : (float)number;
    }
    und_ledger ledger = {.start = 10, .sources = 0.5 * number, .measured = 10 + 0.25 * number};
    if (und_cache_write(cache, &frame, &ledger, 1, &err)) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    und_frame_clear(&frame);
}

/* Begins a cache and writes its frames up to `last`; it is still being written. */
static inline und_cache *play_begin(const char *path, int start, int last, int end, double fps)
{
    und_cache_def def = play_definition(path, start, end, fps);
    und_error err = {0};
    und_cache *cache = und_cache_create(&def, true, &err);
    if (!cache) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    for (int i = start; i <= last; i++)
        play_write(cache, i);
    return cache;
}

static inline void play_end(und_cache *cache)
{
    und_error err = {0};
    if (und_cache_close(cache, NULL, 0, &err))
        abort();
}

static inline void play_cache(const char *path, int start, int end, double fps)
{
    play_end(play_begin(path, start, end, end, fps));
}

#endif
