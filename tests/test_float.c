/* Bodies that are put into a flow afterwards are those of the run, bit for bit, and the flow does not feel
 * them. */
#include "tests/folder.h"
#include "tests/same_items.h"
#include "tests/sim_model.h"

#include "cache/cache.h"

enum { FRAMES = 8, SAVED_AT = 3 };

#define START "scene { start = 5, frames = 9, fps = 24, substeps = 3 }\n"
#define FLOW                                                               \
    "  size = {1.5, 0.6, 1}, cells = {15, 8, 10}, viscosity = 1e-4,\n"     \
    "  solids = { box { min = {0.7, 0, 0.3}, max = {0.8, 0.6, 0.6} } },\n" \
    "  fill = { box { min = {0, 0, 0}, max = {0.6, 0.5, 1} } }, level = 0.2,\n"
#define BODIES                                                                                              \
    "{ { shape = cylinder { radius = 0.06, height = 0.15 }, density = 200, at = {0.9, 0.3, 0.4},\n"         \
    "    turn = {90, 20, 0} },\n"                                                                           \
    "  { shape = box { size = {0.2, 0.1, 0.15} }, density = 600, at = {0.4, 0.5, 0.5}, spin = {0, 90, 30} " \
    "},\n"                                                                                                  \
    "  { shape = sphere { radius = 0.07 }, mass = 0.5, at = {1.2, 0.5, 0.8}, release = 0.1 } }"

typedef struct flow {
    const char *name, *with, *without;
} flow;

static const flow flows[] = {
    {"height", START "liquid.cells {\n" FLOW "  track = 'height', bodies = " BODIES " }",
     START "liquid.cells {\n" FLOW "  track = 'height' }"},
    {"markers", START "liquid.cells {\n" FLOW "  track = 'markers', markers = 8 }\nbodies " BODIES,
     START "liquid.cells {\n" FLOW "  track = 'markers', markers = 8 }"},
};
enum { FLOWS = sizeof flows / sizeof *flows };

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    return 0;
}

static und_scene *load(const char *text)
{
    und_error err = {0};
    und_scene *scene = und_scene_from_text(text, "flow.lua", NULL, 0, &err);
    if (!scene)
        fail_msg("%s", err.text);
    return scene;
}

static und_frame copy_of(const und_frame *frame)
{
    und_frame copy = und_frame_empty(frame->number, frame->time, frame->grid);
    assert_int_equal(und_frame_copy(frame, &copy, NULL), UND_OK);
    return copy;
}

static void run(const char *text, int threads, und_frame frames[FRAMES + 1])
{
    und_error err = {0};
    und_scene *scene = load(text);
    und_sim *sim = start(scene, threads);
    for (int i = 0; i <= FRAMES; i++) {
        if (i > 0 && und_sim_advance(sim, &err) != UND_OK)
            fail_msg("%s", err.text);
        frames[i] = copy_of(und_sim_frame(sim));
    }
    und_sim_destroy(sim);
    und_scene_destroy(scene);
}

/* Through a cache on disk, as the program does. */
static void write_flow(const char *text, const und_frame frames[FRAMES + 1])
{
    und_error err = {0};
    und_ledger ledger = {0};
    und_cache_def def = {.folder = test_path(&folder, "flow"),
                         .name = "flow",
                         .model = "cells",
                         .scene_path = "flow.lua",
                         .scene_text = text,
                         .start = frames[0].number,
                         .end = frames[FRAMES].number,
                         .fps = 24,
                         .compress = 1};
    und_cache *cache = und_cache_create(&def, true, &err);
    assert_non_null(cache);
    for (int i = 0; i <= FRAMES; i++)
        if (und_cache_write(cache, &frames[i], &ledger, 0, &err) != UND_OK)
            fail_msg("%s", err.text);
    assert_int_equal(und_cache_close(cache, NULL, 0, &err), UND_OK);
}

static void float_in(const char *text, int threads, const und_frame expected[FRAMES + 1])
{
    und_error err = {0};
    und_scene *scene = load(text);
    const und_scene_view *view = und_scene_get(scene);
    und_floating_bodies_def def = und_sim_floating_bodies_def(view, view, threads);
    und_floating_bodies *floating_bodies = NULL;
    und_cache *cache = und_cache_open(test_path(&folder, "flow"), &err);
    assert_non_null(cache);
    for (int i = 0; i <= FRAMES; i++) {
        und_frame frame, own = und_frame_empty(expected[i].number, expected[i].time, expected[i].grid);
        if (und_cache_read(cache, expected[i].number, &frame, &err) != UND_OK ||
            (i == 0 && !(floating_bodies = und_floating_bodies_create(&def, &frame, &err))) ||
            (i > 0 && und_floating_bodies_advance(floating_bodies, &frame, &err) != UND_OK) ||
            und_floating_bodies_frame(floating_bodies, &own, &err) != UND_OK)
            fail_msg("%s", err.text);
        assert_int_equal(same_items(&expected[i], &own, true), 7);
        und_frame_clear(&own);
        und_frame_clear(&frame);
    }
    und_cache_close(cache, NULL, 0, &err);
    und_floating_bodies_destroy(floating_bodies);
    und_scene_destroy(scene);
}

static void test_same_as_in_the_run(void **state)
{
    (void)state;
    for (int k = 0; k < FLOWS; k++) {
        und_frame with[FRAMES + 1], without[FRAMES + 1];
        run(flows[k].with, 1, with);
        run(flows[k].without, 2, without);
        for (int i = 0; i <= FRAMES; i++) {
            assert_null(und_frame_find(&without[i], "bodies/position"));
            assert_true(same_items(&with[i], &without[i], false) >= 6);
        }
        /* they do move */
        const float *first = und_frame_find(&with[0], "bodies/position")->data;
        const float *last = und_frame_find(&with[FRAMES], "bodies/position")->data;
        for (int b = 0; b < 3; b++)
            assert_true(fabsf(last[3 * b + 1] - first[3 * b + 1]) > 1e-3f);
        write_flow(flows[k].without, without);
        float_in(flows[k].with, 1, with);
        float_in(flows[k].with, 7, with);
        for (int i = 0; i <= FRAMES; i++) {
            und_frame_clear(&with[i]);
            und_frame_clear(&without[i]);
        }
    }
}

/* Stopped in the middle of a frame, and gone on with by another run. */
static void test_same_after_a_resume(void **state)
{
    (void)state;
    for (int k = 0; k < FLOWS; k++) {
        und_error err = {0};
        bool done;
        und_frame whole[FRAMES + 1], kept = und_frame_empty(0, 0, (und_grid){0});
        run(flows[k].with, 1, whole);
        und_scene *scene = load(flows[k].with);
        und_sim *sim = start(scene, 1);
        for (int i = 0; i < 3 * SAVED_AT + 1; i++)
            assert_int_equal(und_sim_step(sim, &done, &err), UND_OK);
        assert_int_equal(und_sim_save(sim, &kept, &err), UND_OK);
        und_frame copy = copy_of(&kept);
        und_frame_clear(&kept);
        und_sim_destroy(sim);
        sim = start(scene, 2);
        if (und_sim_restore(sim, &copy, &err) != UND_OK)
            fail_msg("%s", err.text);
        und_frame_clear(&copy);
        for (int i = SAVED_AT + 1; i <= FRAMES; i++) {
            assert_int_equal(und_sim_advance(sim, &err), UND_OK);
            assert_int_equal(same_items(&whole[i], und_sim_frame(sim), true), 7);
            same_items(&whole[i], und_sim_frame(sim), false);
        }
        und_sim_destroy(sim);
        und_scene_destroy(scene);
        for (int i = 0; i <= FRAMES; i++)
            und_frame_clear(&whole[i]);
    }
}

static void expect_wrong(const char *text, bool bodies, const char *expected)
{
    und_error err = {0};
    const char *path = test_path(&folder, "wrong.lua");
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    und_scene *scene =
        bodies ? und_scene_load_bodies(path, NULL, 0, &err) : und_scene_load(path, NULL, 0, &err);
    assert_null(scene);
    assert_int_equal(err.status, UND_INVALID);
    if (!strstr(err.text, expected))
        fail_msg("\"%s\" does not say \"%s\"", err.text, expected);
}

static void test_wrong_bodies(void **state)
{
    (void)state;
    expect_wrong("film { width = 64 }", true, "no bodies: expected bodies {");
    expect_wrong("bodies { { density = 300 } }", true, "wrong.lua:1: bodies[1]: missing key \"shape\"");
    expect_wrong("bodies { { shape = sphere { radius = 1 } } }", true, "missing key \"density\"");
    expect_wrong("bodies { { shape = sphere { radius = 1 }, density = 3, colour = 1 } }", true, "color");
    expect_wrong("float { nodes = 0 }", true, "float.nodes");
    expect_wrong("bodies { { shape = sphere { radius = 1 }, density = 3 } }", false, "no liquid");
    expect_wrong("liquid.waves { size = {2, 2}, cells = 16 }\n"
                 "bodies { { shape = sphere { radius = 1 }, density = 3 } }",
                 false, "float in the flow of liquid.cells");
    expect_wrong("liquid.cells { size = {1, 1, 1}, cells = 8, level = 0.5, keep_flow = false,\n"
                 "bodies = { { shape = sphere { radius = 1 }, density = 3 } } }",
                 false, "keep_flow = true");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_same_as_in_the_run, setup, teardown),
        cmocka_unit_test_setup_teardown(test_same_after_a_resume, setup, teardown),
        cmocka_unit_test_setup_teardown(test_wrong_bodies, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
