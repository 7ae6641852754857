/* liquid.levelset.window{} into a und_window_def. */
#include "liquid/levelset.h"

#include "scene/levelset_block.h"

#include <lauxlib.h>
#include <string.h>

enum { MARGIN_MAX = 4096 };

/* A key of the window: where its middle is, and how large it is. */
typedef struct window_key {
    und_key key; /* first: und_key_fields */
    double size[3];
} window_key;

typedef struct window_read {
    und_window_def def;
    window_key rest; /* `at` and `size`, for all times */
    const window_key *keys;
    int count;
    und_easing easing;
} window_read;

#define WINDOW(member_) offsetof(window_read, member_)

/* Lengths; in two dimensions {x, y} is enough. */
static void read_lengths(reader *r, const field *f, void *def)
{
    double *size = (double *)((char *)def + f->offset);
    size[2] = f->high;
    int count = und_read_numbers(r, size, r->scene->curve ? 2 : 3, 3, f->expected);
    for (int i = 0; i < count; i++)
        if (!(size[i] >= f->low && size[i] <= f->high))
            und_read_fail(r, "expected lengths from %g to %g (m), found %g", f->low, f->high, size[i]);
}

static void read_follow(reader *r, const field *f, void *def)
{
    und_window_def *w = &((window_read *)def)->def;
    const und_levelset_def *l = &r->scene->view.levelset;
    const char *name = lua_type(r->L, -1) == LUA_TSTRING ? lua_tostring(r->L, -1) : NULL;
    if (!name)
        und_read_expected(r, f->expected);
    w->follow = UND_WINDOW_SOLID;
    for (w->solid = 0; w->solid < l->obstacle_count; w->solid++)
        if (l->obstacles[w->solid].name && strcmp(l->obstacles[w->solid].name, name) == 0)
            return;
    if (strcmp(name, "liquid") != 0)
        und_read_fail(r, "expected %s, found \"%.100s\": no solid has that name", f->expected, name);
    w->follow = UND_WINDOW_LIQUID;
}

#define SIZE_FIELD(offset_, doc_)                                                         \
    {                                                                                     \
        "size", F_OTHER, "m", 1e-6, 1e6, .offset = offset_, .read = read_lengths,         \
                                         .expected = "lengths {x, y, z} (m)", .doc = doc_ \
    }

static const field key_fields[] = {
    {"time", F_NUMBER, "s", -1e9, 1e9, true, offsetof(window_key, key.time), .doc = "when it is there"},
    {"at", F_POINT, "m", .required = true, .offset = offsetof(window_key, key.position),
     .doc = "where its middle is, {x, y, z}"},
    SIZE_FIELD(offsetof(window_key, size), "how large it is then; else as the window's size says"),
    {0}};

static void read_window_keys(reader *r, const field *f, void *def)
{
    window_read *w = def;
    w->keys = und_read_list(r, f->inside, sizeof(window_key), NULL, NULL, &w->count);
    if (w->count == 0)
        und_read_fail(r, "expected at least one key");
}

const field und_window_fields[] = {
    {"follow", F_OTHER, .read = read_follow, .expected = "\"liquid\" or the name of a solid",
     .doc = "what it goes with: \"liquid\", or the name of a solid"},
    SIZE_FIELD(WINDOW(rest.size), "how large it is; without, as large as what it follows and the margin"),
    {"at", F_POINT, "m", .offset = WINDOW(rest.key.position),
     .doc = "where its middle is; with a solid: as seen from that solid's origin"},
    {"keys", F_OTHER, .read = read_window_keys, .inside = key_fields,
     .expected = "a list of keys {{ time = 0, at = {...} }, ...}",
     .doc = "where its middle is and when, and how large it is, instead of \"at\""},
    {"easing", F_CHOICE, .offset = WINDOW(easing), .choices = und_easings,
     .doc = "how it moves between the keys"},
    {"resize", F_FLAG, .offset = WINDOW(def.resize),
     .doc = "grows beyond its size where the liquid and its margin need it, and shrinks again"},
    {"margin", F_INTEGER, NULL, 4, MARGIN_MAX, .offset = WINDOW(def.margin),
     .doc = "cells of air around the liquid, or the solid, that it is fitted to"},
    {0}};

/* The path of the middle, or how the lengths change, which is one as well. */
static const und_motion *read_path(reader *r, const window_read *w, bool lengths)
{
    int count = w->keys ? w->count : 1;
    und_key *keys = und_scene_alloc(r, (size_t)count, sizeof *keys);
    for (int i = 0; i < count; i++) {
        const window_key *from = w->keys ? &w->keys[i] : &w->rest;
        const double *size = from->size[0] > 0 ? from->size : w->rest.size;
        keys[i] = (und_key){.time = from->key.time};
        keys[i].position = lengths ? und_vec(size[0], size[1], size[2]) : from->key.position;
        if (lengths && !(size[0] > 0))
            und_read_fail(r, "key %d has no size, and the window has none either", i + 1);
    }
    return und_read_motion(r, &(path_def){.keys = keys, .count = count, .easing = w->easing});
}

void und_read_window(reader *r, const field *f, void *def)
{
    und_levelset_def *l = def;
    window_read w = {.def = l->window, .easing = UND_EASE_MONOTONE};
    if (lua_type(r->L, -1) == LUA_TBOOLEAN && !lua_toboolean(r->L, -1)) {
        l->window.automatic = 0;
        return;
    }
    w.def.follow = UND_WINDOW_PATH;
    und_read_table(r, f->inside, &w);
    bool at = und_read_has(r, "at"), sized = w.rest.size[0] > 0;
    for (int i = 0; i < w.count; i++)
        sized |= w.keys[i].size[0] > 0;
    if (at && w.keys)
        und_read_fail(r, "expected either keys or \"at\", found both: keys say where it is");
    if (!w.keys && und_read_has(r, "easing"))
        und_read_fail(r, "easing is between keys, and there are none");
    if (w.def.follow == UND_WINDOW_LIQUID && (at || w.keys))
        und_read_fail(r, "a window that follows the liquid is where that is: \"%s\" means nothing here",
                      at ? "at" : "keys");
    if (w.def.follow == UND_WINDOW_PATH && !at && !w.keys)
        und_read_fail(r, "missing key \"follow\", \"keys\" or \"at\": where is the window?");
    if ((at || w.keys) && !sized)
        und_read_fail(r, "missing key \"size\" (m): how large is the window?");
    w.def.path = at || w.keys ? read_path(r, &w, false) : NULL;
    w.def.size = sized ? read_path(r, &w, true) : NULL;
    w.def.on = true;
    l->window = w.def;
}
