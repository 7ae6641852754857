/* A small pond that runs in its thread: for the tests of live scenes. */
#ifndef UND_TESTS_LIVE_MODEL_H
#define UND_TESTS_LIVE_MODEL_H

#include "scene/sim.h"
#include "tests/folder.h"
#include "tests/test.h"
#include "view/live.h"

static inline int setup(void **state)
{
    (void)state;
    test_folder_make(&folder);
    return 0;
}

static inline const char *write_scene(const char *name, const char *text)
{
    static char path[256];
    und_error err;
    snprintf(path, sizeof path, "%s/%s.lua", folder.path, name);
    if (und_file_write(path, text, strlen(text), &err) != UND_OK)
        fail_msg("%s", err.text);
    return path;
}

static const char *const pond =
    "scene { fps = 30, substeps = 2, frames = 20 }\n"
    "liquid.waves { size = {4, 4}, cells = param('cells', 40), ground = -0.5, level = 0 }\n";
static const double dt = 1.0 / 60;

static inline und_live *open_live(const char *path)
{
    und_error err = {0};
    und_live *live = und_live_create(path, NULL, 0, 2, &err);
    if (!live)
        fail_msg("%s", err.text);
    return live;
}

static inline und_live_state settled(und_live *live)
{
    und_live_state state;
    und_live_settle(live);
    und_live_state_now(live, &state);
    return state;
}

static inline const float *field(const und_frame *frame, const char *name, size_t *count)
{
    const und_item *item = und_frame_find(frame, name);
    assert_non_null(item);
    *count = und_item_count(item);
    return item->data;
}

static inline und_mouse_tool a_hand(und_tool tool, double strength)
{
    return (und_mouse_tool){
        .tool = tool, .radius = 0.6, .strength = strength, .period = 0.5, .place = {2, 0, 2}};
}

#endif
