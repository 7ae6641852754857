/* liquid.levelset{}: what a scene says is what the def has, and what is wrong is told where it stands. */
#include "tests/test.h"

#include "geom/motion.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "io/vdb.h"
#include "scene/scene.h"
#include "tests/folder.h"

static und_scene *load(const char *text)
{
    und_error err = {0};
    und_scene *scene = und_scene_from_text(text, "l.lua", NULL, 0, &err);
    if (!scene)
        fail_msg("%s\n%s", text, err.text);
    return scene;
}

static void cells_are_cubes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int n[3];
        double dx;
    } grids[] = {{"size = {1, 1, 1}, cells = 96", {96, 96, 96}, 1.0 / 96},
                 {"size = {3, 4}, cells = 40", {30, 40, 1}, 0.1},
                 {"size = {3, 4}, cells = {30, 40}", {30, 40, 1}, 0.1},
                 {"size = {5, 1.52, 4}, cells = 50", {50, 15, 40}, 0.1},
                 {"size = {5, 1.52, 4}, cells = {50, 15, 40}", {50, 15, 40}, 0.1},
                 {"size = {1, 1, 0.001}, cells = 10", {10, 10, 1}, 0.1}};
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        char text[200];
        snprintf(text, sizeof text, "liquid.levelset { %s, origin = {1, 2, 3} }", grids[i].text);
        und_scene *scene = load(text);
        const und_scene_view *view = und_scene_get(scene);
        assert_int_equal(view->model, UND_MODEL_LEVELSET);
        assert_null(view->height_field);
        assert_double_near(view->levelset.dx, grids[i].dx, 1e-12);
        for (int a = 0; a < 3; a++) {
            assert_int_equal(view->levelset.n[a], grids[i].n[a]);
            assert_int_equal(view->grid.n[a], grids[i].n[a]);
            assert_double_near(und_grid_size(&view->grid, a), grids[i].dx, 1e-12);
            assert_double_near(view->grid.origin[a], a + 1, 0);
        }
        und_scene_destroy(scene);
    }
}

/* Scenes that were made before `courant` had its name. */
static void the_old_name_of_courant_is_understood(void **state)
{
    (void)state;
    und_scene *scene = load("liquid.levelset { size = {1, 1, 1}, cells = 8, cfl = 0.4 }\n");
    assert_double_near(und_scene_get(scene)->levelset.courant, 2.5, 1e-15);
    und_scene_destroy(scene);
}

static const char everything[] =
    "scene { seed = 7 }\n"
    "liquid.levelset {\n"
    "  size = {4, 2, 3}, cells = {8, 4, 6}, gravity = {1, -2, 3}, density = 900, viscosity = 0.003,\n"
    "  stick = true, open = {'top', 'left'}, courant = 1.5, max_step = 0.01, trace = 3,\n"
    "  advection = 'semi-lagrangian', surface = 'weno', redistance = 1, particles = 32, reseed = 7,\n"
    "  tolerance = 1e-6, iterations = 12, free_air = true, keep_volume = true, spray = { most = 99 },\n"
    "  velocity = false, pressure = true, tracers = true, level = function(x, z) return x + 10 * z end,\n"
    "  fill = { sphere { radius = 0.5 }, { shape = box { size = {1, 1, 1} }, velocity = {0, -0.2, 0} } },\n"
    "  solids = { sphere { radius = 1 },\n"
    "             { shape = box { size = {1, 1, 1} }, at = {1, 2, 3}, turn = {0, 90, 0}, name = 'step', "
    "separate "
    "= true },\n"
    "             { shape = box { size = {3, 3, 3} }, container = true, separate = false, easing = "
    "'linear',\n"
    "               keys = { { time = 0, at = {0, 0, 0} }, { time = 2, at = {4, 0, 0} } } } } }\n";

static void what_is_said_is_in_the_def(void **state)
{
    (void)state;
    und_scene *scene = load(everything);
    const und_levelset_def *l = &und_scene_get(scene)->levelset;
    assert_true(l->gravity[0] == 1 && l->gravity[1] == -2 && l->gravity[2] == 3);
    assert_true(l->density == 900 && l->viscosity == 0.003 && l->stick && l->seed == 7);
    for (int side = 0; side < UND_SIDES; side++)
        assert_int_equal(l->open[side], side == 0 || side == 3);
    assert_true(l->courant == 1.5 && l->max_step == 0.01 && l->trace == 3 && l->redistance == 1);
    assert_int_equal(l->velocity_rule, UND_VELOCITY_SEMI_LAGRANGIAN);
    assert_int_equal(l->surface_rule, UND_SURFACE_WENO);
    assert_true(l->particles == 32 && l->reseed == 7 && l->tolerance == 1e-6 && l->max_iterations == 12);
    assert_true(l->free_air && l->keep_volume && l->spray && l->spray_most == 99 && !l->keep_velocity &&
                l->keep_pressure && l->keep_level_set_particles);
    assert_true(l->has_level);
    assert_double_near(und_value_at(&l->level, 2, 99, 3, 0), 32, 0);
    assert_int_equal(l->fill_count, 2);
    assert_int_equal(l->fills[0].shape->kind, UND_SPHERE);
    assert_double_near(l->fills[1].velocity[1].number, -0.2, 0);
    assert_int_equal(l->obstacle_count, 3);
    assert_true(!l->obstacles[0].motion && !l->obstacles[0].inside_out && !l->obstacles[0].name);
    assert_string_equal(l->obstacles[1].name, "step");
    und_pose pose = und_motion_at(l->obstacles[1].motion, 55);
    und_vec3 p = und_pose_point(&pose, und_vec(1, 0, 0));
    assert_double_near(p.x, 1, 1e-12);
    assert_double_near(p.z, 2, 1e-12);
    assert_true(l->obstacles[2].inside_out);
    assert_int_equal(l->obstacles[0].separate, UND_SEPARATE_AT_AIR);
    assert_int_equal(l->obstacles[1].separate, UND_SEPARATE_ALWAYS);
    assert_int_equal(l->obstacles[2].separate, UND_SEPARATE_NEVER);
    assert_double_near(und_motion_at(l->obstacles[2].motion, 0.5).position.x, 1, 1e-12);
    und_scene_destroy(scene);
}

static const char elements[] =
    "liquid.levelset { size = {4, 2, 3}, cells = 16,\n"
    "  modifiers = {\n"
    "    { velocity = {1, 0, 0}, alpha = function(x, y, z, t) return x / 10 end },\n"
    "    { shape = sphere { radius = 1 }, soft = 0.25, start = 3,\n"
    "      spline = { points = {{0, 0, 0}, {1, 2, 3}, {2, 0, 0}}, radius = 0.5, speed = 2, pull = 3 } } },\n"
    "  sources = { { shape = sphere { radius = 0.5 }, at = {1, 1, 1},\n"
    "                velocity = function(t) return {3 * t, 0, 0} end, start = 1, stop = 2 } },\n"
    "  forces = { { grid = { min = {0, 0, 0}, max = {1, 2, 4}, samples = {2, 3, 5},\n"
    "                        value = function(x, y, z) return x, 10 * y, 100 * z end } },\n"
    "             { acceleration = {0, 5, 0} } },\n"
    "  drains = { { shape = box { size = {1, 1, 1} },\n"
    "               keys = { { time = 0, at = {0, 0, 0} }, { time = 1, at = {1, 0, 0} } } } } }\n";

static void elements_stand_in_the_order_they_act_in(void **state)
{
    (void)state;
    und_scene *scene = load(elements);
    const und_levelset_def *l = &und_scene_get(scene)->levelset;
    static const und_element_role roles[] = {UND_ELEMENT_SOURCE, UND_ELEMENT_DRAIN,    UND_ELEMENT_FORCE,
                                             UND_ELEMENT_FORCE,  UND_ELEMENT_VELOCITY, UND_ELEMENT_VELOCITY};
    assert_int_equal(l->element_count, 6);
    for (int i = 0; i < 6; i++)
        assert_int_equal(l->elements[i].role, roles[i]);
    const und_element_def *e = l->elements;
    assert_double_near(und_value_at(&e[0].field.value[0], 0, 0, 0, 2), 6, 0);
    assert_true(e[0].start == 1 && e[0].end == 2);
    assert_double_near(und_motion_at(e[0].motion, 9).position.y, 1, 0);
    assert_double_near(und_motion_at(e[1].motion, 1).position.x, 1, 0);
    assert_ptr_equal(e[2].field.kind, &und_field_grid_kind);
    const und_field_grid *g = e[2].field.data;
    assert_true(g->n[0] == 2 && g->n[1] == 3 && g->n[2] == 5 && g->high[2] == 4);
    assert_true(!g->sample && !g->value[0].uniform && e[0].field.value[0].uniform);
    assert_double_near(und_value_at(&g->value[2], 1, 2, 3, 0), 300, 0);
    assert_true(!e[3].shape && !e[3].field.kind && e[3].field.value[1].number == 5);
    assert_double_near(und_value_at(&e[4].alpha, 5, 0, 0, 0), 0.5, 0);
    assert_ptr_equal(e[5].field.kind, &und_field_spline_kind);
    const und_field_spline *s = e[5].field.data;
    assert_true(s->points.count == 3 && s->points.at[1][2] == 3 && s->radius == 0.5 && s->speed == 2 &&
                s->pull == 3);
    assert_true(e[5].soft == 0.25 && e[5].start == 3 && isinf(e[5].end) && e[5].alpha.number == 1);
    und_scene_destroy(scene);
}

/* Voxels of 0.5 m whose faces have 1 + (c + 1) times their place along c: so have their middles, in the end.
 */
static void vectors_come_from_files(void **state)
{
    (void)state;
    enum { NX = 6, NY = 5, NZ = 4, N = NX * NY * NZ };
    static float value[3][N];
    static uint8_t active[N];
    und_vdb_grid vectors = {.name = "vel",
                            .kind = UND_VDB_STAGGERED,
                            .n = {NX, NY, NZ},
                            .voxel = 0.5,
                            .origin = {1, 2, 3},
                            .value = {value[0], value[1], value[2]},
                            .active = active};
    for (int i = 0; i < N; i++) {
        const int at[3] = {i % NX, i / NX % NY, i / NX / NY};
        active[i] = 1;
        for (int c = 0; c < 3; c++)
            value[c][i] = (float)(1 + (c + 1) * (vectors.origin[c] + 0.5 * (at[c] - 0.5)));
    }
    und_error err = {0};
    test_folder_make(&folder);
    assert_int_equal(und_vdb_write(test_path(&folder, "wind.vdb"),
                                   &(und_vdb_def){.grid_count = 1, .grids = &vectors}, &err),
                     UND_OK);
    const char *text = "liquid.levelset { size = {4, 2, 3}, cells = 16,\n"
                       "  forces = {{ vdb = { file = 'wind.vdb', name = 'vel', scale = 2 } }} }";
    und_scene *scene = und_scene_from_text(text, test_path(&folder, "v.lua"), NULL, 0, &err);
    if (!scene)
        fail_msg("%s", err.text);
    const und_field_def *force = &und_scene_get(scene)->levelset.elements[0].field;
    const und_field_kind *kind = force->kind;
    void *ready = kind->prepare(force->data, &err);
    assert_non_null(ready);
    for (int c = 0; c < 3; c++) {
        float out[2];
        const double place[3] = {1.9, 2.6, 3.7};
        kind->row(ready, c, place, 0.3, 2, 0, out);
        assert_double_near((double)out[0], 2 * (1 + (c + 1) * place[c]), 1e-5);
        assert_double_near((double)out[1], 2 * (1 + (c + 1) * (place[c] + (c == 0 ? 0.3 : 0))), 1e-5);
    }
    kind->release(ready);
    und_scene_destroy(scene);
    static const char *const wrong[][2] = {
        {"file = 'wind.vdb', name = 'wind'", "v.lua:1: liquid.levelset.forces[1].vdb: "},
        {"file = 'wind.vdb', name = 'wind'", "there is no grid of vectors named wind in it"},
        {"file = 'none.vdb'", "none.vdb"},
        {"file = 3", "expected the name of a VDB file, found 3"}};
    for (int i = 0; i < 4; i++) {
        char bad[200];
        snprintf(bad, sizeof bad,
                 "liquid.levelset { size = {4, 2, 3}, cells = 16, forces = {{ vdb = { %s } }} }",
                 wrong[i][0]);
        assert_null(und_scene_from_text(bad, test_path(&folder, "v.lua"), NULL, 0, &err));
        if (!strstr(err.text, wrong[i][1]))
            fail_msg("expected \"%s\", found \"%s\"", wrong[i][1], err.text);
    }
    test_folder_remove(&folder);
}

static void short_forms(void **state)
{
    (void)state;
    und_scene *scene =
        load("liquid.levelset { size = {1, 2}, cells = 8, gravity = 3, open = 'top', spray = false,\n"
             "  solids = sphere { radius = 1 }, fill = sphere { radius = 2 },\n"
             "  forces = {{ spline = { points = {{0, 0}, {1, 1}}, radius = 1 } }} }");
    const und_levelset_def *l = &und_scene_get(scene)->levelset;
    assert_double_near(l->gravity[1], -3, 0);
    assert_true(l->obstacle_count == 1 && l->fill_count == 1 && l->open[3] && !l->spray);
    const und_field_spline *s = l->elements[0].field.data;
    assert_double_near(s->points.at[1][2], 0.125, 1e-15); /* the middle of the layer */
    und_scene_destroy(scene);
}

#define L(text_) "liquid.levelset { size = {4, 2, 2}, cells = 8,\n  " text_ " }"
#define BALL "shape = sphere { radius = 1 }"

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *text, *told;
    } wrong[] = {
        {L("solid = sphere { radius = 1 }"),
         "l.lua:2: liquid.levelset: unknown key \"solid\" (did you mean \"solids\"?)"},
        {L("foam = true"), "unknown key \"foam\" (did you mean \"spray\"?)"},
        {L("cfl = 1, courant = 1"), "liquid.levelset.cfl: is the old name of 1 / courant"},
        {L("cfl = 0"), "cfl: expected a number from 0.05 to 100, found 0"},
        {"liquid.levelset { size = {1, 1, 1},\n cells = {8, 9, 8} }",
         "l.lua:2: liquid.levelset.cells: cells are cubes: 8 along x are 0.125 m wide, and along y 8 of "
         "those fit into 1 m, not 9"},
        {"liquid.levelset { size = {1, 1, 1}, cells = 7.5 }",
         "expected whole numbers from 1 to 4096, found 7.5"},
        {"liquid.levelset { size = {1, 1, 1}, cells = 0/0 }", "expected a finite number from 1 to 4096"},
        {"liquid.levelset { size = {1, 1, 1}, cells = {0/0, 1, 1} }",
         "cells[1]: expected a finite number, found nan"},
        {"liquid.levelset { size = {1, 1, 1}, cells = 4096 }", "expected at most 2^30 cells in all"},
        {"liquid.levelset { size = {1, 1}, cells = {8, 8, 2} }", "one cell deep; found 2 along z"},
        {L("open = 'up'"), "l.lua:2: liquid.levelset.open: expected \"left\", \"right\""},
        {L("open = { top = true }"), "expected a side of the domain"},
        {"liquid.levelset { size = {1, 1}, cells = 8, open = 'front' }", "has no \"front\""},
        {L("trace = 4"), "expected a whole number from 2 to 3, found 4"},
        {L("surface = 'wemo'"), "found \"wemo\" (did you mean \"weno\"?)"},
        {L("solids = {{ " BALL ", at = {0, 0, 0}, keys = {{ time = 0, at = {0, 0, 0} }} }}"),
         "solids[1]: expected either keys or \"at\" and \"turn\", found both"},
        {L("solids = {{ " BALL ", separate = 1 }}"), "separate: expected true or false, found 1"},
        {L("solids = {{ " BALL ", easing = 'linear' }}"), "easing is between keys, and there are none"},
        {L("sources = {{ velocity = {1, 0, 0} }}"), "sources[1]: missing key \"shape\""},
        {L("sources = {{ " BALL ", soft = 1 }}"), "sources[1]: unknown key \"soft\""},
        {L("drains = {{ " BALL ", start = 2, stop = 1 }}"), "expected it to stop after it starts"},
        {L("forces = {{ }}"), "forces[1]: missing key \"acceleration\", or a field of some kind"},
        {L("modifiers = {{ alpha = 1 }}"), "missing key \"velocity\", or a field of some kind"},
        {L("modifiers = {{ velocity = {0, 0, 0}, alpha = 2 }}"), "expected a number from 0 to 1, found 2"},
        {L("modifiers = {{ velocity = {0, 0, 0}, soft = 1 }}"), "the border of the shape, and there is none"},
        {L("forces = {{ acceleration = {0, 1, 0}, at = {1, 1, 1} }}"), "lead the shape, and there is none"},
        {L("forces = {{ acceleration = {0, 1, 0},\n grid = { min = {0, 0, 0}, max = {1, 1, 1}, samples = {2, "
           "2, 2}, value = {1, 1, 1} } }}"),
         "expected either \"acceleration\" or \"grid\", found both"},
        {L("forces = {{ grid = { min = {0, 0, 0}, max = {1, 1, 1}, samples = {2, 2, 0}, value = {1, 1, 1} } "
           "}}"),
         "samples: expected whole numbers from 1 to 1024, found 0"},
        {L("sources = {{ " BALL " }}"), "sources[1]: missing key \"velocity\""},
        {L("forces = {{ spline = { points = {{0, 0, 0}}, radius = 1 } }}"), "from 2 to 10000 of them"},
        {L("forces = {{ spline = { points = {{0, 0, 0}, {0, 0, 0}}, radius = 1 } }}"),
         "points[2]: expected another point"},
        {L("forces = {{ spline = { points = {{0, 0, 0}, {1, 0, 0}}, radius = 0 } }}"),
         "radius: expected a number"},
        {"liquid.levelset { size = {1, 1, 1}, cells = 8 }\nliquid.cells { size = {1, 1, 1}, cells = 8 }",
         "l.lua:2: liquid.cells: a scene has only one liquid"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        und_error err = {0};
        assert_null(und_scene_from_text(wrong[i].text, "l.lua", NULL, 0, &err));
        if (err.status != UND_INVALID || !strstr(err.text, wrong[i].told))
            fail_msg("%s\nexpected \"%s\",\nfound \"%s\"", wrong[i].text, wrong[i].told, err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(cells_are_cubes),
                                       cmocka_unit_test(what_is_said_is_in_the_def),
                                       cmocka_unit_test(the_old_name_of_courant_is_understood),
                                       cmocka_unit_test(elements_stand_in_the_order_they_act_in),
                                       cmocka_unit_test(short_forms),
                                       cmocka_unit_test(vectors_come_from_files),
                                       cmocka_unit_test(what_is_wrong_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
