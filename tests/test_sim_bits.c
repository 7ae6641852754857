/* The same bits with any number of threads, and after a save and restore in the middle of a frame. */
#include "tests/sim_model.h"

/* Every part of each liquid at once, on a grid whose sides are no multiples of anything, and large enough for
 * several threads. */
#define START "scene { start = -2, frames = 12, fps = 24, substeps = 3, seed = 11 }\n"
#define HEIGHT_FIELD                                                                                        \
    "  size = {6.6, 4.5}, cells = {110, 75}, origin = {-1, 2}, damping = 0.05,\n"                           \
    "  ground = function(x, z) return -0.8 + 0.15 * x + 0.2 * fbm(x, z, 3) end,\n"                          \
    "  surface = function(x, z) return 0.1 * math.sin(2 * x) end,\n"                                        \
    "  edges = { left = { kind = 'open', amplitude = 0.1, period = 1, ramp = 0.2, direction = 15 },\n"      \
    "            right = 'fall', back = { kind = 'flow', rate = 0.05 } },\n"                                \
    "  springs = { { center = {1, 4}, radius = 0.4, rate = function(x, z, t) return 0.1 * t end } },\n"     \
    "  drains = { { shape = box { center = {0, 0, 3}, size = {1, 5, 1} }, rate = 0.05, start = 0.1 } },\n"  \
    "  drops = { { time = 0.13, center = {2, 4}, radius = 0.5, height = 0.2 } },\n"                         \
    "  rain = { rate = 20, radius = 0.02, top = 1.5, speed = 6, wind = {1, 0.5} },\n"                       \
    "  stirs = { { center = function(t) return {t, 5} end, radius = 0.5, amplitude = 0.05, period = 0.3 } " \
    "},"                                                                                                    \
    "\n"

typedef struct busy_scene {
    const char *text, *setting, *value;
} busy_scene;

static const char *const busy_waves =
    START "liquid.waves {\n" HEIGHT_FIELD "  order = param('order', 1),\n"
          "  pressure = function(x, z, t) return 50 * math.sin(x + 3 * t) end,\n"
          "  objects = { { shape = union { sphere { radius = 0.4 }, box { size = {1.2, 0.2, 0.2} } },\n"
          "                keys = { { time = 0, at = {0, 0, 4} }, { time = 0.5, at = {2, 0.1, 5}, turn = {0, "
          "60, 0} } } } },\n"
          "  foam = true, dye = function(x, z) return x > 1 and 1 or 0 end, texture = true,\n"
          "}\n";

static const char *const busy_columns = START
    "liquid.columns {\n" HEIGHT_FIELD
    "  force = param('force', 'estimate'), pipe_depth = 0.7, velocity = true,\n"
    "  spray = { threshold = 0.5, rate = 1000, drag = 1, wind = {1, 0, 0}, sheets = true },\n"
    "  bodies = { { shape = sphere { radius = 0.3 }, density = 2000, at = {1.5, 0.4, 4},\n"
    "               velocity = {0.5, -4, 0}, spin = {0, 90, 200} },\n"
    "             { shape = box { size = {0.5, 0.2, 0.4} }, density = 400, at = {0, 0.05, 4.5} },\n"
    "             { shape = cylinder { radius = 0.2, height = 0.5 }, mass = 20, release = 0.15,\n"
    "               keys = { { time = 0, at = {0.5, 0.8, 5.5} }, { time = 0.2, at = {0.6, 0, 5.5} } } } "
    "},\n"
    "}\n";

#define GATES                                                                                              \
    "  walls = { left = 'stick', top = { kind = 'stick', velocity = function(t) return t, 0, 0 end } },\n" \
    "  gates = { { side = 'left', shape = box { min = {-1, 0.2, -1}, max = {1, 0.4, 2} }, kind = "         \
    "'inflow',\n"                                                                                          \
    "              velocity = function(x, y, z, t) return 0.5 + t, 0, 0.1 * z end, stop = 0.15 },\n"       \
    "            { side = 'right', kind = 'outflow', start = 0.1 } },\n"                                   \
    "  surface_pressure = function(x, y, z, t) return 20 * math.sin(5 * x + 9 * t) end,\n"

static const char *const busy_markers = START
    "liquid.cells {\n" GATES "  size = {1.1, 0.9, 0.5}, cells = {23, 17, 11}, origin = {0, -0.2, 0.1},\n"
    "  pressure = param('pressure', 'multigrid'), markers = 8, viscosity = 1e-4, level = 0.1,\n"
    "  fill = { { shape = sphere { center = {0.4, 0.45, 0.3}, radius = 0.15 }, velocity = {0, -2, 0} } },\n"
    "  solids = { { shape = box { min = {0.7, -1, 0}, max = {0.8, 0, 0.4} }, wall = 'stick' } },\n"
    "}\n";

static const char *const busy_chains =
    START "liquid.cells {\n" GATES "  size = {0.9, 0.9}, cells = {27, 31}, track = 'chains', level = 0.3,\n"
          "  pressure = param('pressure', 'multigrid'), revolve = { around = 8 },\n"
          "  fill = { { shape = sphere { center = {0.4, 0.6, 0}, radius = 0.1 }, velocity = {0, -1}, chain = "
          "40 } },\n"
          "}\n";

static const char *const busy_height =
    START "liquid.cells {\n" GATES "  size = {2.2, 0.8, 1.3}, cells = {37, 14, 21}, track = 'height',\n"
          "  pressure = param('pressure', 'multigrid'),\n"
          "  level = function(x, z) return 0.3 + 0.2 * math.exp(-20 * ((x - 1)^2 + (z - 0.6)^2)) end,\n"
          "  spray = { threshold = 0.05, rate = 2000, drag = 1 }, split = 20, foam = true,\n"
          "  wave_makers = { { amplitude = 0.05, wavelength = 1, depth = 0.3, time = 0.2 } },\n"
          "}\n";

static const char *const busy_levelset = START
    "liquid.levelset {\n"
    "  size = {1.15, 0.85, 0.55}, cells = {23, 17, 11}, origin = {0, -0.2, 0.1}, open = 'right',\n"
    "  particles = param('particles', 8), order = param('order', 1), level = 0.1, viscosity = 1e-4, pressure "
    "= true,\n"
    "  gravity = {1, -9, 0.5}, reseed = 3, free_air = true, keep_volume = true,\n"
    "  fill = { { shape = sphere { center = {0.4, 0.45, 0.3}, radius = 0.15 }, velocity = {0, -2, 0} } },\n"
    "  solids = { box { min = {0.7, -1, 0}, max = {0.8, 0, 0.4} },\n"
    "             { shape = sphere { radius = 0.12 },\n"
    "               keys = { { time = 0, at = {1, 0.4, 0.3} }, { time = 0.3, at = {0.6, 0, 0.3} } } } },\n"
    "  sources = { { shape = box { min = {0, 0.2, 0.2}, max = {0.1, 0.3, 0.3} }, stop = 0.15,\n"
    "                velocity = function(x, y, z, t) return 1 + t, 0, 0.1 * z end } },\n"
    "  drains = { { shape = box { min = {0.3, -0.2, 0.2}, max = {0.5, -0.1, 0.5} }, start = 0.1 } },\n"
    "  forces = { { acceleration = function(t) return 3 * math.sin(9 * t), 0, 0 end },\n"
    "             { spline = { points = {{0, 0, 0.3}, {0.5, 0.2, 0.3}, {1, 0, 0.3}}, radius = 0.2, speed = 5 "
    "} } },\n"
    "  modifiers = { { shape = sphere { center = {0.9, 0.1, 0.5}, radius = 0.2 }, velocity = {0, 1, 0},\n"
    "                  alpha = 0.5, soft = 0.05 } },\n"
    "}\n";

enum {
    WAVES_1,
    WAVES_2,
    COLUMNS_ESTIMATE,
    COLUMNS_SEARCH,
    MARKERS,
    CHAINS,
    HEIGHT,
    RELAX,
    LEVELSET,
    PLAIN_LEVELSET,
    SECOND_LEVELSET,
    SCENES
};

enum { MOST_FRAMES = 6, SAVED = 3 };

static int frames_of_a_run(void)
{
    return test_cases(MOST_FRAMES, SAVED + 1);
}

static und_scene *load(int which)
{
    const busy_scene scenes[SCENES] = {{busy_waves, "order", "1"},
                                       {busy_waves, "order", "2"},
                                       {busy_columns, "force", "estimate"},
                                       {busy_columns, "force", "search"},
                                       {busy_markers, "pressure", "multigrid"},
                                       {busy_chains, "pressure", "multigrid"},
                                       {busy_height, "pressure", "multigrid"},
                                       {busy_markers, "pressure", "relax"},
                                       {busy_levelset, "particles", "8"},
                                       {busy_levelset, "particles", "0"},
                                       {busy_levelset, "order", "2"}};
    und_error err = {0};
    und_setting setting = {scenes[which].setting, scenes[which].value};
    und_scene *scene = und_scene_from_text(scenes[which].text, "busy.lua", &setting, 1, &err);
    if (!scene)
        fail_msg("%s", err.text);
    return scene;
}

static void advance(und_sim *sim, int frames)
{
    und_error err = {0};
    for (int i = 0; i < frames; i++)
        if (und_sim_advance(sim, &err) != UND_OK)
            fail_msg("%s", err.text);
}

static void run(int which, int threads, uint64_t hash[MOST_FRAMES + 1])
{
    und_scene *scene = load(which);
    und_sim *sim = start(scene, threads);
    hash[0] = und_sim_hash(sim);
    for (int i = 1; i <= frames_of_a_run(); i++) {
        advance(sim, 1);
        hash[i] = und_sim_hash(sim);
    }
    und_sim_destroy(sim);
    und_scene_destroy(scene);
}

static void same_at_any_thread_count(void **state)
{
    (void)state;
    for (int which = 0; which < SCENES; which++) {
        uint64_t one[MOST_FRAMES + 1] = {0}, other[MOST_FRAMES + 1] = {0};
        run(which, 1, one);
        for (int i = 1; i <= frames_of_a_run(); i++)
            assert_int_not_equal(one[i], one[i - 1]);
        for (int i = 0; i < test_cases(2, 1); i++) {
            run(which, i ? 2 : 7, other);
            assert_memory_equal(one, other, sizeof one);
        }
    }
}

/* A copy that owns its data, as a checkpoint read from disk does. */
static und_frame copy_of(const und_frame *state)
{
    und_frame copy = und_frame_empty(state->number, state->time, state->grid);
    for (int i = 0; i < state->count; i++) {
        const und_item *from = &state->items[i];
        und_item_def def = {.name = from->name,
                            .unit = from->unit,
                            .kind = from->kind,
                            .type = from->type,
                            .is_static = from->is_static,
                            .rank = from->rank};
        memcpy(def.dim, from->dim, sizeof def.dim);
        und_item *to = und_frame_add(&copy, &def, NULL);
        assert_non_null(to);
        if (und_item_bytes(from) > 0)
            memcpy(to->data, from->data, und_item_bytes(from));
    }
    return copy;
}

static void restore_in_the_middle(int which)
{
    und_error err = {0};
    uint64_t whole[MOST_FRAMES + 1];
    const int frames = frames_of_a_run();
    run(which, 2, whole);
    und_scene *scene = load(which);
    und_sim *first = start(scene, 2);
    bool done = false, step_done;
    advance(first, SAVED);
    assert_int_equal(und_sim_step(first, &done, &err), UND_OK);
    assert_int_equal(und_sim_part(first, &step_done, &done, &err),
                     UND_OK); /* where there are several, in a step */
    assert_false(done);
    und_frame saved = und_frame_empty(0, 0, (und_grid){0});
    assert_int_equal(und_sim_save(first, &saved, &err), UND_OK);
    double step = 1.0 / (und_scene_get(scene)->fps * und_scene_get(scene)->substeps);
    assert_true(step_done || (saved.time > (double)SAVED / und_scene_get(scene)->fps + step * (1 - 1e-9) &&
                              saved.time < (double)SAVED / und_scene_get(scene)->fps + 2 * step));
    und_frame kept = copy_of(&saved);
    und_frame_clear(&saved);
    und_sim_destroy(first);
    und_scene_destroy(scene);

    scene = load(which);
    und_sim *second = start(scene, 3);
    if (und_sim_restore(second, &kept, &err) != UND_OK)
        fail_msg("%s", err.text);
    assert_int_equal(und_sim_frame_number(second), und_scene_start(scene) + SAVED);
    advance(second, 1);
    for (int i = SAVED + 1; i <= frames; i++) {
        assert_int_equal(und_sim_hash(second), whole[i]);
        if (i < frames)
            advance(second, 1);
    }
    assert_int_equal(und_sim_frame_number(second), und_scene_start(scene) + frames);
    und_sim_destroy(second);
    und_frame_clear(&kept);
    und_scene_destroy(scene);
}

static void same_after_save_and_restore(void **state)
{
    (void)state;
    for (int which = 0; which < SCENES; which++)
        restore_in_the_middle(which);
}

static void stand_at_their_times(int which)
{
    und_scene *scene = load(which);
    und_sim *sim = start(scene, 2);
    assert_int_equal(und_sim_frame_number(sim), -2);
    assert_double_near(und_sim_frame(sim)->time, 0, 0);
    const int frames = test_cases(5, 2);
    advance(sim, frames);
    const und_frame *frame = und_sim_frame(sim);
    assert_int_equal(frame->number, frames - 2);
    assert_double_near(frame->time, frames / 24.0, 1e-15);
    assert_double_near(*und_sim_liquid(sim)->time, frames / 24.0, 1e-12);
    const und_item *field = und_frame_find(frame, which < MARKERS ? "surface" : "pressure");
    assert_non_null(field);
    assert_int_equal(field->dim[0], frame->grid.n[2]);
    assert_int_equal(field->dim[field->rank - 1], frame->grid.n[0]);
    und_ledger ledger = und_sim_ledger(sim);
    assert_double_near(und_ledger_expected(&ledger), ledger.measured, 1e-9 * ledger.start);
    und_sim_destroy(sim);
    und_scene_destroy(scene);
}

static void frames_stand_at_their_times(void **state)
{
    (void)state;
    for (int which = 0; which < SCENES; which++)
        stand_at_their_times(which);
}

/* States that do not fit are refused, and the simulation stays what it was. */
static void wrong_states_are_refused(void **state)
{
    (void)state;
    und_error err = {0};
    und_scene *scene = load(WAVES_1);
    und_sim *sim = start(scene, 1);
    uint64_t before = und_sim_hash(sim);
    und_frame saved = und_frame_empty(0, 0, (und_grid){0});
    assert_int_not_equal(und_sim_restore(sim, &saved, &err), UND_OK);
    assert_non_null(strstr(err.text, "sim"));
    assert_int_equal(und_sim_save(sim, &saved, &err), UND_OK);
    und_frame kept = copy_of(&saved);
    und_frame_clear(&saved);
    int32_t *mark = und_frame_find(&kept, "sim")->data;
    mark[1] = 99;
    assert_int_equal(und_sim_restore(sim, &kept, &err), UND_FAILED);
    mark[1] = 0;
    mark[2] = 4;
    assert_int_equal(und_sim_restore(sim, &kept, &err), UND_INVALID);
    assert_non_null(strstr(err.text, "saved with 4 substeps per frame, the scene has 3"));
    assert_int_equal(und_sim_hash(sim), before);
    und_frame_clear(&kept);
    und_sim_destroy(sim);
    und_scene_destroy(scene);
}

/* A drop given by its height raises the water by that much, over a plane and on a curve. */
static void drops_have_their_height(void **state)
{
    (void)state;
    static const char *const sizes[] = {"{4.1, 4.1}, cells = 205", "4.1, cells = 205"};
    for (int i = 0; i < 2; i++) {
        char text[200];
        und_error err = {0};
        snprintf(text, sizeof text,
                 "scene { fps = 1e5 }\nliquid.waves { size = %s, ground = -1, level = 0,\n"
                 "  drops = { { center = {2.05, 2.05}, radius = 0.8, height = 0.25 } } }",
                 sizes[i]);
        und_scene *scene = und_scene_from_text(text, "d.lua", NULL, 0, &err);
        if (!scene)
            fail_msg("%s", err.text);
        und_sim *sim = start(scene, 1);
        advance(sim, 1);
        const und_item *surface = und_frame_find(und_sim_frame(sim), "surface");
        const float *height = surface->data;
        double top = 0;
        for (size_t k = 0; k < und_item_count(surface); k++)
            top = fmax(top, (double)height[k]);
        assert_double_near(top, 0.25, 0.25 * 1e-3);
        und_sim_destroy(sim);
        und_scene_destroy(scene);
    }
}

static void trouble_stops_the_run(void **state)
{
    (void)state;
    und_error err = {0};
    und_scene *scene =
        und_scene_from_text("liquid.waves { size = 4, cells = 32, pressure = function(x, z, t)\n"
                            "  if t > 0.2 then return nil + x end return 0 end }",
                            "t.lua", NULL, 0, &err);
    assert_non_null(scene);
    und_sim *sim = start(scene, 1);
    und_status status = UND_OK;
    for (int i = 0; i < 24 && status == UND_OK; i++)
        status = und_sim_advance(sim, &err);
    assert_int_equal(status, UND_INVALID);
    assert_non_null(strstr(err.text, "t.lua:2: attempt to perform arithmetic on a nil value"));
    und_sim_destroy(sim);
    und_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_at_any_thread_count),    cmocka_unit_test(same_after_save_and_restore),
        cmocka_unit_test(frames_stand_at_their_times), cmocka_unit_test(wrong_states_are_refused),
        cmocka_unit_test(drops_have_their_height),     cmocka_unit_test(trouble_stops_the_run)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
