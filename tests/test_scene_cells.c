/* liquid.cells{}: what a scene says is what the def has. */
#include "tests/test.h"

#include "geom/shape.h"
#include "geom/value.h"
#include "scene/scene.h"

static und_scene *load(const char *text)
{
    und_error err = {0};
    und_scene *scene = und_scene_from_text(text, "c.lua", NULL, 0, &err);
    if (!scene)
        fail_msg("%s\n%s", text, err.text);
    return scene;
}

static void grids_are_as_asked(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int n[3];
        double cell[3];
    } grids[] = {{"size = {3, 4}, cells = 40", {30, 40, 1}, {0.1, 0.1, 0.1}},
                 {"size = {3, 4}, cells = {30, 80}", {30, 80, 1}, {0.1, 0.05, 0.1}},
                 {"size = {1.5, 3, 0.3}, cells = {15, 30, 1}", {15, 30, 1}, {0.1, 0.1, 0.3}},
                 {"size = {5, 1.5, 4}, cells = 50", {50, 15, 40}, {0.1, 0.1, 0.1}},
                 {"size = {5, 1.5, 4}, cells = {50, 30, 20}", {50, 30, 20}, {0.1, 0.05, 0.2}},
                 {"size = {1, 1, 0.001}, cells = 10", {10, 10, 1}, {0.1, 0.1, 0.001}},
                 {"size = {1, 0.38}, cells = 10", {10, 4, 1}, {0.1, 0.095, 0.1}}};
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        char text[200];
        snprintf(text, sizeof text, "liquid.cells { %s, origin = {1, 2, 3} }", grids[i].text);
        und_scene *scene = load(text);
        const und_scene_view *view = und_scene_get(scene);
        assert_int_equal(view->model, UND_MODEL_CELLS);
        assert_null(view->height_field);
        for (int a = 0; a < 3; a++) {
            assert_int_equal(view->cells.n[a], grids[i].n[a]);
            assert_double_near(view->cells.cell[a], grids[i].cell[a], 1e-12);
            assert_int_equal(view->grid.n[a], grids[i].n[a]);
            assert_double_near(und_grid_size(&view->grid, a), grids[i].cell[a], 1e-12);
            assert_double_near(view->grid.origin[a], a + 1, 0);
        }
        und_scene_destroy(scene);
    }
}

static const char everything[] =
    "scene { seed = 7 }\n"
    "liquid.cells {\n"
    "  size = {4, 2, 3}, cells = {8, 4, 6}, gravity = {1, -2, 3}, density = 900, viscosity = 0.003,\n"
    "  surface_pressure = function(x, y, z, t) return 1000 * x + 100 * y + 10 * z + t end,\n"
    "  wave_makers = {{ amplitude = 0.1, wavelength = 2, depth = 1, frequency = 3, direction = 45,\n"
    "                   mean = 0.5, time = 0.25, start = 1, stop = 4 }},\n"
    "  walls = { left = 'stick', top = { kind = 'stick', velocity = {1, 0, 0} }, front = 'outflow' },\n"
    "  solids = { sphere { radius = 1 }, { shape = box { size = {1, 1, 1} }, wall = 'stick' } },\n"
    "  gates = { { side = 'right', shape = sphere { radius = 2 }, kind = 'inflow', velocity = {-1, 0, 0},\n"
    "              markers = 500, start = 0.5, stop = 3 },\n"
    "            { shape = box { size = {2, 2, 2} }, kind = 'outflow', start = 3 } },\n"
    "  fill = { { shape = sphere { radius = 0.5 }, velocity = {0, -0.2, 0}, chain = 50 } },\n"
    "  level = function(x, z) return x + 10 * z end, track = 'height',\n"
    "  keep_volume = false, surface_in_cell = false, spray = { threshold = 1, drag = 2 }, split = 0.25,\n"
    "  foam = { life = 3 }, pressure = 'relax', relaxation = 1.5, epsilon = 1e-3, sweeps = 77,\n"
    "  courant = 0.25, upwind = 0.125, plain = true, max_step = 0.01, keep_flow = false }\n";

static void what_is_said_is_in_the_def(void **state)
{
    (void)state;
    und_scene *scene = load(everything);
    const und_cells_def *c = &und_scene_get(scene)->cells;
    assert_true(c->gravity[0] == 1 && c->gravity[1] == -2 && c->gravity[2] == 3);
    assert_true(c->density == 900 && c->viscosity == 0.003 && c->seed == 7);
    assert_double_near(und_value_at(&c->pressure, 1, 2, 3, 4), 1234, 0);
    assert_int_equal(c->maker_count, 1);
    const und_wave_maker *m = c->makers;
    assert_true(m->amplitude == 0.1 && m->wavelength == 2 && m->depth == 1 && m->frequency == 3);
    assert_true(m->direction == 45 && m->mean == 0.5 && m->time == 0.25 && m->start == 1 && m->end == 4);
    const und_wall_kind kinds[UND_SIDES] = {UND_WALL_STICK, UND_WALL_SLIP, UND_WALL_SLIP,
                                            UND_WALL_STICK, UND_WALL_SLIP, UND_WALL_OUTFLOW};
    for (int side = 0; side < UND_SIDES; side++)
        assert_int_equal(c->wall[side].kind, kinds[side]);
    assert_double_near(und_value_at(&c->wall[3].velocity[0], 0, 0, 0, 0), 1, 0);
    assert_int_equal(c->solid_count, 2);
    assert_int_equal(c->solids[0].shape->kind, UND_SPHERE);
    assert_int_equal(c->solids[0].wall.kind, UND_WALL_SLIP);
    assert_int_equal(c->solids[1].wall.kind, UND_WALL_STICK);
    assert_int_equal(c->gate_count, 2);
    assert_int_equal(c->gates[0].side, 1);
    assert_int_equal(c->gates[0].wall.kind, UND_WALL_INFLOW);
    assert_true(c->gates[0].wall.markers == 500 && c->gates[0].start == 0.5 && c->gates[0].end == 3);
    assert_int_equal(c->gates[1].side, -1);
    assert_non_null(c->gates[1].shape);
    assert_true(c->gates[1].start == 3 && isinf(c->gates[1].end));
    assert_int_equal(c->fill_count, 1);
    assert_int_equal(c->fills[0].chain, 50);
    assert_double_near(c->fills[0].velocity[1].number, -0.2, 0);
    assert_true(c->has_level);
    assert_double_near(und_value_at(&c->level, 2, 99, 3, 0), 32, 0);
    assert_int_equal(c->track, UND_TRACK_HEIGHT);
    assert_true(!c->keep_volume && !c->surface_in_cell && c->spray.on && c->spray.drag == 2);
    assert_true(c->split == 0.25 && c->foam.on && c->foam.life == 3);
    assert_int_equal(c->pressure_rule, UND_PRESSURE_RELAX);
    assert_true(c->beta0 == 1.5 && c->epsilon == 1e-3 && c->max_sweeps == 77 && c->courant == 0.25);
    assert_true(c->upwind == 0.125 && c->plain && c->max_step == 0.01 && !c->keep_flow);
    und_scene_destroy(scene);
}

static void short_forms(void **state)
{
    (void)state;
    und_scene *scene =
        load("liquid.cells { size = {1, 2}, cells = 8, gravity = 3, origin = {1, 2},\n"
             "  solids = sphere { radius = 1 }, fill = { shape = sphere { radius = 2 }, chain = 9 },\n"
             "  track = 'chains', revolve = true }");
    const und_cells_def *c = &und_scene_get(scene)->cells;
    assert_double_near(c->gravity[1], -3, 0);
    assert_int_equal(c->solid_count, 1);
    assert_int_equal(c->fill_count, 1);
    assert_int_equal(c->fills[0].chain, 9);
    assert_int_equal(c->markers_per_cell, 25);
    assert_false(c->has_level);
    assert_int_equal(c->revolve.around, 96);
    assert_double_near(c->revolve.axis_x, 1, 0);
    assert_double_near(c->revolve.axis_z, 0.125, 0);
    und_scene_destroy(scene);
    scene = load("liquid.cells { size = {1, 1, 1}, cells = 8, track = 'height', spray = false }");
    assert_false(und_scene_get(scene)->cells.spray.on);
    assert_int_equal(und_scene_get(scene)->cells.markers_per_cell, 27);
    und_scene_destroy(scene);
}

static double at(const und_gate_def *gate, int axis, double x, double y, double z, double t)
{
    return und_value_at(&gate->wall.velocity[axis], x, y, z, t);
}

/* A velocity is one function: of time, or of place and time; three numbers or a list of them. */
static void velocities_are_functions(void **state)
{
    (void)state;
    und_scene *scene =
        load("local calls = 0\n"
             "local function g(f) return { side = 'left', kind = 'inflow', velocity = f } end\n"
             "liquid.cells { size = {1, 1, 1}, cells = 4, gates = {\n"
             "  g(function(t) return {t, 2 * t, 3 * t} end),\n"
             "  g(function(x, y, z, t) return x, 10 * y + z, t end),\n"
             "  g(function(x, y, z, t) calls = calls + 1 return calls, calls, calls end) } }");
    const und_gate_def *gates = und_scene_get(scene)->cells.gates;
    for (int axis = 0; axis < 3; axis++)
        assert_double_near(at(&gates[0], axis, 9, 9, 9, 2), 2 * (axis + 1), 0);
    assert_double_near(at(&gates[0], 0, 9, 9, 9, 3), 3, 0);
    assert_double_near(at(&gates[1], 0, 1, 2, 3, 4), 1, 0);
    assert_double_near(at(&gates[1], 1, 1, 2, 3, 4), 23, 0);
    assert_double_near(at(&gates[1], 2, 1, 2, 3, 4), 4, 0);
    double first = at(&gates[2], 0, 1, 2, 3, 4);
    assert_double_near(at(&gates[2], 1, 1, 2, 3, 4), first, 0); /* one call for all three */
    assert_double_near(at(&gates[2], 2, 1, 2, 3, 4), first, 0);
    assert_double_near(at(&gates[2], 2, 1, 2, 3, 5), first + 1, 0);
    und_scene_destroy(scene);
    scene = load("liquid.cells { size = {1, 1}, cells = 4, gates = { { side = 'left', kind = 'inflow',\n"
                 "  velocity = function(t) return {1 + t, 2} end } } }");
    gates = und_scene_get(scene)->cells.gates;
    for (int axis = 0; axis < 3; axis++)
        assert_double_near(at(&gates[0], axis, 0, 0, 0, 3), axis == 0 ? 4 : axis == 1 ? 2 : 0, 0);
    und_scene_destroy(scene);
}

/* A function that fails only later is reported, with its place. */
static void later_trouble_is_told(void **state)
{
    (void)state;
    und_scene *scene = load("liquid.cells { size = {1, 1, 1}, cells = 4, walls = { top = { kind = 'stick',\n"
                            "  velocity = function(x, y, z, t) return t < 1 and 1 or nil, 0, 0 end } } }");
    und_error err = {0};
    const und_value *v = &und_scene_get(scene)->cells.wall[3].velocity[0];
    assert_double_near(und_value_at(v, 0, 0, 0, 0.5), 1, 0);
    assert_int_equal(und_scene_trouble(scene, &err), UND_OK);
    assert_double_near(und_value_at(v, 1, 2, 3, 1.5), 0, 0);
    assert_int_equal(und_scene_trouble(scene, &err), UND_INVALID);
    assert_non_null(strstr(err.text,
                           "c.lua:2: liquid.cells.walls.top.velocity: expected the function to return "
                           "{x, y, z}, found nil at x = 1, y = 2, z = 3, t = 1.5"));
    und_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_are_as_asked), cmocka_unit_test(what_is_said_is_in_the_def),
        cmocka_unit_test(short_forms), cmocka_unit_test(velocities_are_functions),
        cmocka_unit_test(later_trouble_is_told)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
