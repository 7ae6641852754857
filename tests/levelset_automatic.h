/* Scenes in the window that large domains have by themselves, beside the whole grid. */
#ifndef UND_TESTS_LEVELSET_AUTOMATIC_H
#define UND_TESTS_LEVELSET_AUTOMATIC_H

#include "tests/levelset_model.h"

#include "geom/shape.h"
#include "liquid/liquid.h"

#include <math.h>

static inline uint64_t hash_of(und_levelset *levelset)
{
    und_liquid *liquid = und_levelset_liquid(levelset);
    return liquid->class->hash(liquid);
}

static inline long cells_of(const und_levelset *levelset)
{
    int low[3], n[3];
    und_levelset_window(levelset, low, n);
    return (long)n[0] * n[1] * n[2];
}

typedef struct scene {
    und_shape drop, other;
    und_fill_def fill;
    und_obstacle_def solid;
    und_element_def source;
    und_levelset_def def;
} scene;

/* A drop above the floor of a box that is much larger. */
static inline void make_scene(scene *t, int cells, int depth)
{
    const double dx = 1.0 / 48, z = depth == 1 ? 0.5 * dx : 0.5 * depth * dx;
    *t = (scene){.drop = {.kind = UND_SPHERE, .center = {0.5 * cells * dx, 0.16, z}, .radius = 0.12},
                 .def = und_levelset_def_default()};
    t->fill.shape = &t->drop;
    t->solid.shape = &t->other;
    t->source = (und_element_def){.role = UND_ELEMENT_SOURCE, .shape = &t->other, .end = INFINITY};
    t->def.dx = dx;
    t->def.n[0] = t->def.n[1] = cells;
    t->def.n[2] = depth;
    t->def.fills = &t->fill;
    t->def.obstacles = &t->solid;
    t->def.elements = &t->source;
    t->def.fill_count = 1;
    t->def.threads = 1;
}

/* What a frame does not tell is as it says that it is. */
static inline void check_untold(const und_item *item)
{
    const size_t count = und_item_count(item);
    const float *value = item->data;
    for (size_t at = 0, next; at < count && item->rows; at = next)
        if (!und_item_written(item, at, count, &next))
            for (size_t i = at; i < next; i++)
                assert_true(value[i] == (float)item->rows->outside);
}

/* What is drawn, where both have the same cells. */
static inline void compare_frames(und_levelset *whole, und_levelset *window)
{
    und_error err = {0};
    und_frame due = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1.0 / 48}), has = due;
    und_liquid *a = und_levelset_liquid(whole), *b = und_levelset_liquid(window);
    assert_int_equal(a->class->frame(a, &due, &err), UND_OK);
    assert_int_equal(b->class->frame(b, &has, &err), UND_OK);
    const und_item *first = und_frame_find(&due, "distance"), *second = und_frame_find(&has, "distance");
    if (und_item_bytes(first) == und_item_bytes(second))
        assert_memory_equal(first->data, second->data, und_item_bytes(first));
    for (int i = 0; i < has.count; i++)
        if (has.items[i].rows)
            check_untold(&has.items[i]);
    und_frame_clear(&due);
    und_frame_clear(&has);
}

/* Substep by substep for so many frames; how small a part of the cells the window had at least. */
static inline double compare(und_levelset_def def, int frames)
{
    double part = 1;
    long substep = 0;
    def.window.automatic = 0;
    und_levelset *whole = start_levelset(&def);
    def.window.automatic = 1;
    und_levelset *window = start_levelset(&def);
    und_liquid *a = und_levelset_liquid(whole), *b = und_levelset_liquid(window);
    assert_int_equal(hash_of(whole), hash_of(window));
    for (int frame = 0; frame < frames; frame++)
        for (bool done = false; !done; substep++) {
            done = a->class->step(a, 1.0 / 24);
            assert_int_equal(b->class->step(b, 1.0 / 24), done);
            if (hash_of(whole) != hash_of(window))
                fail_msg("other bits in substep %ld, frame %d, of a part %g of the cells", substep, frame,
                         (double)cells_of(window) / (double)cells_of(whole));
            part = fmin(part, (double)cells_of(window) / (double)cells_of(whole));
        }
    const und_ledger has = und_levelset_ledger(window), due = und_levelset_ledger(whole);
    assert_memory_equal(&has, &due, sizeof due);
    compare_frames(whole, window);
    und_levelset_destroy(whole);
    und_levelset_destroy(window);
    return part;
}

#endif
