/* Moments of a scene that runs: saved as a scene or as a checkpoint, at any time, also while the window
 * closes. */
#include "tests/live_model.h"

#include "cache/cache.h"
#include "io/image.h"

#include <dirent.h>
#include <time.h>

static und_sim *load_sim(const char *path, und_scene **scene)
{
    und_error err = {0};
    *scene = und_scene_load(path, NULL, 0, &err);
    if (!*scene)
        fail_msg("%s", err.text);
    und_sim *sim = und_sim_create(*scene, 2, &err);
    if (!sim)
        fail_msg("%s", err.text);
    return sim;
}

static void fields_are_near(const und_frame *a, const und_frame *b, const char *name, double tolerance)
{
    size_t count, other;
    const float *x = field(a, name, &count), *y = field(b, name, &other);
    assert_int_equal(count, other);
    for (size_t i = 0; i < count; i++)
        assert_double_near((double)x[i], (double)y[i], tolerance);
}

/* The room of bodies is found anew, and in waves the surface there is moved with it. */
static void surfaces_are_near(const und_frame *a, const und_frame *b, bool waves)
{
    const double body = 0.6, dx = 0.1;
    size_t count, numbers;
    const float *x = field(a, "surface", &count), *y = field(b, "surface", &count);
    const float *place = field(a, "bodies/position", &numbers);
    for (size_t i = 0; i < count; i++) {
        double at[2] = {((double)(i % 40) + 0.5) * dx, ((double)(i / 40) + 0.5) * dx}, nearest = INFINITY;
        for (size_t k = 0; k < numbers; k += 3)
            nearest = fmin(nearest, hypot((double)place[k] - at[0], (double)place[k + 2] - at[1]));
        assert_double_near((double)x[i], (double)y[i], !waves ? 2e-3 : nearest > body ? 1e-6 : 0.02);
    }
}

/* A person at it for a while, and stopped at a time that is no frame's. */
static und_live *played(const char *path, bool ball)
{
    und_live *live = open_live(path);
    und_mouse_tool hand = a_hand(UND_TOOL_RAISE, 1), none = {.tool = UND_TOOL_NONE};
    und_live_hand(live, &hand);
    und_live_step(live, 5);
    hand = a_hand(UND_TOOL_STIR, 0.05);
    und_live_hand(live, &hand);
    und_live_step(live, 20);
    und_live_tune(live, &(und_tuning){.gravity = 7, .damping = 0.3, .viscosity = NAN, .rain = NAN});
    und_live_hand(live, &none);
    if (ball)
        und_live_throw(
            live,
            &(und_ball){.place = {1, 0.5, 2.5}, .velocity = {0.5, 0, 0}, .radius = 0.25, .density = 600});
    und_live_step(live, 30);
    settled(live);
    return live;
}

static const char *const models[] = {
    "scene { fps = 30, substeps = 2, frames = 20 }\n"
    "liquid.waves { size = {4, 4}, cells = 40, ground = -0.5, order = 1, edges = { left = 'open' } }\n"
    "camera { eye = {9, 3, 9}, look = function(t) return {t, 0, 0} end }\n",
    "scene { fps = 30, substeps = 2, frames = 20, name = 'tank' }\n"
    "liquid.columns { size = {4, 4}, cells = 40, ground = -0.5, level = 0,\n"
    "  bodies = { { shape = box { size = {0.6, 0.4, 0.5} }, density = 500, at = {3, 0.4, 1}, turn = {20, 30, "
    "40} },\n"
    "    { shape = sphere { radius = 0.3 }, keys = { { time = 0, at = {1, 0, 1} }, { time = 2, at = {1, "
    "-0.3, 1} } } },\n"
    "    { shape = sphere { radius = 0.1 }, density = 300, at = {2, 1, 3}, release = 5 } } }\n",
};

/* Saved while it ran, and loaded. */
static und_sim *saved_and_loaded(und_live *live, const char *name, char path[256], und_scene **scene)
{
    snprintf(path, 256, "%s/%s.lua", folder.path, name);
    und_live_save_scene(live, path);
    und_live_state now = settled(live);
    if (!strstr(now.note, "undine run"))
        fail_msg("%s", now.note);
    return load_sim(path, scene);
}

/* A moment may be written over; a scene may not. */
static void a_scene_is_not_written_over(und_live *live, const char *moment, const char *text)
{
    char path[256];
    und_live_save_scene(live, moment);
    assert_non_null(strstr(settled(live).note, "undine run"));
    und_live_save_scene(live, "wrong name.lua");
    assert_non_null(strstr(settled(live).note, "letters"));
    snprintf(path, sizeof path, "%s/played.lua", folder.path);
    und_live_save_scene(live, path);
    und_live_state now = settled(live);
    assert_int_equal(now.notes, 4);
    assert_non_null(strstr(now.note, "was not written"));
    char *same = read_text(path);
    assert_string_equal(same, text);
    free(same);
}

/* It loads, and begins with the surface, the ground, the bodies, the water and the tuning of that moment. */
static void a_moment_is_saved_as_a_scene(void **state)
{
    (void)state;
    for (int model = 0; model < 2; model++) {
        char saved[256];
        und_scene *scene;
        und_live *live = played(write_scene("played", models[model]), true);
        und_sim *sim = saved_and_loaded(live, model == 0 ? "moment0" : "moment1", saved, &scene);
        und_live_state now = settled(live);
        assert_int_equal(now.notes, 1);
        const und_scene_view *view = und_scene_get(scene);
        assert_double_near(view->begin, 55 * dt, 1e-9);
        assert_string_equal(view->name, model == 0 ? "moment0" : "moment1");
        assert_double_near(view->height_field->gravity, 7, 0);
        assert_double_near(view->height_field->damping, 0.3, 0);
        const und_frame *was = und_live_take(live), *is = und_sim_frame(sim);
        assert_double_near(was->time, is->time, 1e-9);
        fields_are_near(was, is, "ground", 0);
        fields_are_near(was, is, "bodies/position", 1e-5);
        fields_are_near(was, is, "bodies/rotation", 1e-5);
        surfaces_are_near(was, is, model == 0);
        assert_double_near(und_sim_ledger(sim).measured, now.ledger.measured,
                           model == 0 ? 1e-8 : 0.1 * 4.0 / 3 * M_PI * pow(0.25, 3));
        und_sim_destroy(sim);
        und_scene_destroy(scene);
        und_live_destroy(live);

        live = open_live(saved); /* a moment of a moment */
        und_live_step(live, 4);
        sim = saved_and_loaded(live, model == 0 ? "later0" : "later1", saved, &scene);
        assert_double_near(und_scene_get(scene)->begin, 59 * dt, 1e-9);
        surfaces_are_near(und_live_take(live), und_sim_frame(sim), model == 0);
        a_scene_is_not_written_over(live, saved, models[model]);
        und_sim_destroy(sim);
        und_scene_destroy(scene);
        und_live_destroy(live);
    }
}

/* It goes on as it did, as far as a scene knows of motion. */
static void a_moment_goes_on_as_it_did(void **state)
{
    (void)state;
    const struct {
        const char *water; /* besides its size */
        bool ball;
        double edge, within; /* how far it may be off, over the highest wave: at the left edge; elsewhere */
    } cases[] = {
        {"order = 1", true, 1e-6, 1e-6},
        /* Waves that leave aslant pass an open edge as what it met before tells (its slant, and how fast that
         * changes, per cell): a scene has no words for it, and the edge begins without. */
        {"order = 1, edges = { left = 'open' }", true, 2e-3, 1e-3},
        {"order = 2", false, 3e-3, 3e-3}, /* a hand's eddies are lost */
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char text[512], saved[256];
        snprintf(text, sizeof text,
                 "scene { fps = 30, substeps = 2, frames = 20 }\n"
                 "liquid.waves { size = {4, 4}, cells = 40, ground = -0.5, %s }\n",
                 cases[k].water);
        und_scene *scene;
        und_live *live = played(write_scene("played", text), cases[k].ball);
        und_sim *sim = saved_and_loaded(live, "goes_on", saved, &scene);
        for (int i = 0; i < 3; i++)
            assert_int_equal(und_sim_advance(sim, &(und_error){0}), UND_OK);
        und_live_step(live, 6);
        settled(live);
        size_t count;
        double most = 0, off[2] = {0};
        const float *was = field(und_live_take(live), "surface", &count);
        const float *is = field(und_sim_frame(sim), "surface", &count);
        for (size_t i = 0; i < count; i++) {
            most = fmax(most, fabs((double)was[i]));
            off[i % 40 > 0] = fmax(off[i % 40 > 0], fabs((double)was[i] - (double)is[i]));
        }
        print_message("%s: %.3g off at the left edge, %.3g elsewhere\n", cases[k].water, off[0] / most,
                      off[1] / most);
        assert_true(most > 0.01);
        assert_double_near(off[0] / most, 0, cases[k].edge);
        assert_double_near(off[1] / most, 0, cases[k].within);
        und_sim_destroy(sim);
        und_scene_destroy(scene);
        und_live_destroy(live);
    }
}

/* Another run goes on from it with the same bits as the one that was played with. */
static void a_moment_is_saved_as_a_checkpoint(void **state)
{
    (void)state;
    for (int model = 0; model < 2; model++) {
        und_live *live = played(write_scene("played", models[model]), true);
        char saved[256], copy[256];
        snprintf(saved, sizeof saved, "%s/cache%d", folder.path, model);
        und_live_save_checkpoint(live, saved);
        und_live_state now = settled(live);
        assert_double_near(now.time, 56 * dt, 1e-9); /* the next whole frame: the 29th */
        assert_non_null(strstr(now.note, "@29 -o NEW"));
        und_live_save_checkpoint(live, saved); /* there is one already */
        assert_non_null(strstr(settled(live).note, "was not written"));

        und_error err = {0};
        und_frame state_then = und_frame_empty(0, 0, (und_grid){0});
        und_cache *cache = und_cache_open(saved, &err);
        assert_non_null(cache);
        und_cache_info info = und_cache_describe(cache);
        assert_int_equal(info.row_count, 1);
        assert_int_equal(info.rows[0].frame, 29);
        assert_int_equal(und_cache_state(cache, 29, &state_then, &err), UND_OK);
        snprintf(copy, sizeof copy, "%s/played.lua", folder.path);
        und_scene *scene;
        und_sim *sim = load_sim(copy, &scene);
        if (und_sim_branch(sim, &state_then, &err) != UND_OK)
            fail_msg("%s", err.text);
        assert_int_equal(und_sim_frame_number(sim), 29);
        assert_true(und_sim_hash(sim) == info.rows[0].state_hash);
        for (int i = 0; i < 4; i++)
            assert_int_equal(und_sim_advance(sim, &err), UND_OK);
        und_live_step(live, 8);
        settled(live);
        const und_frame *was = und_live_take(live), *is = und_sim_frame(sim);
        assert_double_near(was->time, is->time, 1e-9);
        fields_are_near(was, is, "surface", 0);
        fields_are_near(was, is, "ground", 0);
        fields_are_near(was, is, "bodies/position", 0);
        und_sim_destroy(sim);
        und_scene_destroy(scene);
        und_frame_clear(&state_then);
        und_cache_close(cache, NULL, 0, &err);
        und_live_destroy(live);
    }
}

static int files_in(const char *path)
{
    DIR *open = opendir(path);
    assert_non_null(open);
    int count = 0;
    for (const struct dirent *entry; (entry = readdir(open)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

/* One that cannot be written leaves the one before it whole, and files that are of no moment stay. */
static void a_moment_replaces_a_moment_or_nothing(void **state)
{
    (void)state;
    char home[256], away[256], map[256], ground[256], needed[256], text[1024];
    snprintf(home, sizeof home, "%s/home", folder.path);
    snprintf(away, sizeof away, "%s/home/m.lua", folder.path);
    snprintf(map, sizeof map, "%s/home/m.surface.exr", folder.path);
    snprintf(ground, sizeof ground, "%s/home/m.ground.exr", folder.path);
    und_live *live = open_live(write_scene("pond", pond));
    und_mouse_tool hand = a_hand(UND_TOOL_RAISE, 1);
    und_live_hand(live, &hand);
    und_live_step(live, 5);
    und_live_save_scene(live, away);
    assert_non_null(strstr(settled(live).note, "undine run"));
    assert_int_equal(files_in(home), 4); /* the text, surface, ground, rising */
    und_live_reset(live);
    und_live_save_scene(live, away); /* the ground is not moved any more */
    assert_non_null(strstr(settled(live).note, "undine run"));
    assert_int_equal(files_in(home), 3);
    und_error err;
    assert_int_equal(und_file_write(ground, "mine", 4, &err), UND_OK);
    char *scene = read_text(away);
    uint64_t hash, again;
    size_t bytes;
    assert_int_equal(und_file_hash(map, 1, &hash, &bytes, &err), UND_OK);
    und_live_hand(live, &hand);
    und_live_step(live, 5);
    und_live_save_scene(live, away);
    assert_non_null(strstr(settled(live).note, "m.ground.exr, and it is of no moment"));
    und_live_destroy(live);

    float dry = 1; /* a scene with a file that is not beside the moment */
    und_exr_channel channel = {.name = "Y", .data = &dry, .stride = 1, .whole = true};
    snprintf(needed, sizeof needed, "%s/sand.exr", folder.path);
    assert_int_equal(und_exr_write_channels(needed, 1, 1, &channel, 1, &err), UND_OK);
    snprintf(text, sizeof text, "local sand = map { file = 'sand.exr' }\n%s", pond);
    live = open_live(write_scene("sandy", text));
    und_live_step(live, 3);
    und_live_save_scene(live, away);
    assert_non_null(strstr(settled(live).note, "would not load"));
    und_live_destroy(live);
    char *same = read_text(away), *mine = read_text(ground);
    assert_string_equal(same, scene);
    assert_string_equal(mine, "mine");
    assert_int_equal(und_file_hash(map, 1, &again, &bytes, &err), UND_OK);
    assert_true(hash == again);
    assert_int_equal(files_in(home), 4);
    free(same);
    free(mine);
    free(scene);
}

/* A moment keeps the times of the scene's rain where something else was turned, and has none of them where
 * the rain was. */
static void a_moment_keeps_the_times_of_rain(void **state)
{
    (void)state;
    und_live *live = open_live(
        write_scene("squall", "scene { fps = 30, substeps = 2, frames = 20 }\n"
                              "liquid.waves { size = {4, 4}, cells = 20, ground = -0.5, level = 0,\n"
                              "  rain = { rate = 50, radius = 0.02, top = 1, start = 0.5, stop = 4 } }\n"));
    char saved[256];
    snprintf(saved, sizeof saved, "%s/before.lua", folder.path);
    for (int turned = 0; turned < 2; turned++) {
        und_tuning tuning = {.gravity = NAN, .damping = 0.5, .viscosity = NAN, .rain = turned ? 30 : NAN};
        und_live_step(live, 4);
        und_live_tune(live, &tuning);
        und_live_save_scene(live, saved);
        settled(live);
        und_error err = {0};
        und_scene *scene = und_scene_load(saved, NULL, 0, &err);
        if (!scene)
            fail_msg("%s", err.text);
        const und_height_field_def *height_field = und_scene_get(scene)->height_field;
        assert_double_near(height_field->damping, 0.5, 0);
        assert_true(height_field->rain.on);
        assert_double_near(height_field->rain.rate.number, turned ? 30 : 50, 0);
        assert_true(turned ? height_field->rain.start < 0.1 && isinf(height_field->rain.end)
                           : height_field->rain.start == 0.5 && height_field->rain.end == 4);
        und_scene_destroy(scene);
    }
    und_live_destroy(live);
}

/* Bodies in the flow of cells fall and float as the liquid goes on, whatever its time step. */
static void floating_bodies_go_along(void **state)
{
    (void)state;
    und_live *live = open_live(write_scene(
        "cells", "scene { fps = 30, frames = 20 }\n"
                 "liquid.cells { size = {1, 1, 0.5}, cells = {20, 20, 10}, level = 0.4, keep_flow = true }\n"
                 "bodies { { shape = sphere { radius = 0.1 }, density = 500, at = {0.5, 0.8, 0.25} } }\n"));
    size_t count;
    assert_double_near((double)field(und_live_take(live), "bodies/position", &count)[1], 0.8, 1e-6);
    assert_int_equal(count, 3);
    und_live_time_step(live, 0.01);
    und_live_step(live, 20);
    assert_double_near(settled(live).time, 0.2, 1e-12);
    assert_double_near((double)field(und_live_take(live), "bodies/position", &count)[1],
                       0.8 - 0.5 * 9.81 * 0.04, 0.01);
    und_live_time_step(live, 1.0 / 30);
    und_live_step(live, 120);
    settled(live);
    assert_double_near((double)field(und_live_take(live), "bodies/position", &count)[1], 0.4, 0.04);
    und_live_save_scene(live, "cells-moment.lua");
    assert_non_null(strstr(settled(live).note, "checkpoint"));
    char saved[256], copy[256];
    snprintf(saved, sizeof saved, "%s/afloat", folder.path);
    und_live_save_checkpoint(live, saved); /* 4.2 s: the 127th frame */
    assert_non_null(strstr(settled(live).note, "@127 -o NEW"));
    und_error err = {0};
    und_frame then = und_frame_empty(0, 0, (und_grid){0});
    und_cache *cache = und_cache_open(saved, &err);
    assert_non_null(cache);
    assert_int_equal(und_cache_state(cache, 127, &then, &err), UND_OK);
    und_cache_close(cache, NULL, 0, &err);
    snprintf(copy, sizeof copy, "%s/cells.lua", folder.path);
    und_scene *scene;
    und_sim *sim = load_sim(copy, &scene);
    if (und_sim_branch(sim, &then, &err) != UND_OK || und_sim_advance(sim, &err) != UND_OK)
        fail_msg("%s", err.text);
    und_live_step(live, 1);
    settled(live);
    fields_are_near(und_live_take(live), und_sim_frame(sim), "bodies/position", 0);
    und_frame_clear(&then);
    und_sim_destroy(sim);
    und_scene_destroy(scene);
    und_live_destroy(live);
}

/* What was to be saved when the window closed is there afterwards. */
static void closing_saves_what_was_asked_for(void **state)
{
    (void)state;
    und_live *live = played(write_scene("played", models[1]), true);
    char scene_path[256], saved[256];
    snprintf(scene_path, sizeof scene_path, "%s/last.lua", folder.path);
    snprintf(saved, sizeof saved, "%s/last", folder.path);
    und_live_step(live, 1);
    und_live_save_scene(live, scene_path);
    und_live_save_checkpoint(live, saved);
    und_live_destroy(live);
    und_scene *scene;
    und_sim_destroy(load_sim(scene_path, &scene));
    und_scene_destroy(scene);
    und_error err;
    und_cache *cache = und_cache_open(saved, &err);
    assert_non_null(cache);
    assert_int_equal(und_cache_describe(cache).row_count, 1);
    und_cache_close(cache, NULL, 0, &err);
}

/* A checkpoint that is being made when the window closes goes on to its frame. */
static void closing_waits_for_a_checkpoint(void **state)
{
    (void)state;
    und_live *live =
        open_live(write_scene("fall", "scene { fps = 1, frames = 5 }\n"
                                      "liquid.cells { size = {2, 2}, cells = {40, 40}, level = 0.3,\n"
                                      "  fill = box { max = {0.8, 1.6, 9} } }\n"));
    char saved[256];
    snprintf(saved, sizeof saved, "%s/fall", folder.path);
    und_live_time_step(live, 0.02);
    und_live_step(live, 1);
    assert_double_near(settled(live).time, 0.02, 1e-12);
    und_live_save_checkpoint(live, saved);
    struct timespec rest = {.tv_nsec = 100000000}; /* a part of what the checkpoint takes */
    nanosleep(&rest, NULL);
    und_live_destroy(live);
    und_error err = {0};
    und_cache *cache = und_cache_open(saved, &err);
    if (!cache)
        fail_msg("%s", err.text);
    und_cache_info info = und_cache_describe(cache);
    assert_int_equal(info.row_count, 1);
    assert_int_equal(info.rows[0].frame, 2);
    assert_double_near(info.rows[0].time, 1, 1e-9);
    und_cache_close(cache, NULL, 0, &err);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_moment_is_saved_as_a_scene),
        cmocka_unit_test(a_moment_goes_on_as_it_did),
        cmocka_unit_test(a_moment_is_saved_as_a_checkpoint),
        cmocka_unit_test(a_moment_replaces_a_moment_or_nothing),
        cmocka_unit_test(a_moment_keeps_the_times_of_rain),
        cmocka_unit_test(floating_bodies_go_along),
        cmocka_unit_test(closing_saves_what_was_asked_for),
        cmocka_unit_test(closing_waits_for_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
