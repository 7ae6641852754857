/* The window that large domains have by themselves: every bit is what the whole grid has. */
#include "tests/levelset_automatic.h"

#include "geom/motion.h"

static void a_splash_on_the_floor(void **state)
{
    (void)state;
    scene t;
    make_scene(&t, 220, 1);
    assert_true(compare(t.def, 10) < 0.5);
    make_scene(&t, 90, 80);
    assert_true(compare(t.def, 3) < 0.5);
}

/* What needs more than a quarter of the cells has all, until most of it has gone. */
static void much_of_a_domain(void **state)
{
    (void)state;
    scene t;
    make_scene(&t, 128, 1);
    t.def.window.automatic = 1;
    und_levelset *small = start_levelset(&t.def);
    t.drop = (und_shape){.kind = UND_BOX, .center = {1, 1, 0}, .half = {0.9, 0.4, 1}};
    und_levelset *large = start_levelset(&t.def);
    assert_true(cells_of(small) < 128 * 128 && cells_of(large) == 128 * 128);
    und_levelset_destroy(small);
    und_levelset_destroy(large);
    und_shape hole = {.kind = UND_BOX, .center = {1, 0, 0}, .half = {1.4, 0.4, 1}};
    t.source = (und_element_def){.role = UND_ELEMENT_DRAIN, .shape = &hole, .end = INFINITY};
    t.def.element_count = 1;
    assert_true(compare(t.def, 24) < 0.5);
}

/* Two drops in opposite corners, of which one flies: the box around them is the domain, and most of its rows
 * have nothing in them. */
static void liquid_far_apart(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 220; depth += 219) {
        scene t;
        make_scene(&t, depth == 1 ? 400 : 220, depth);
        const double far = t.def.n[0] * t.def.dx - 0.2;
        und_shape drops[2] = {t.drop, t.drop};
        drops[0].center = (und_vec3){0.2, 0.16, depth == 1 ? t.drop.center.z : 0.2};
        drops[1].center = (und_vec3){far, far, depth == 1 ? t.drop.center.z : far};
        und_fill_def fills[2] = {{.shape = &drops[0]}, {.shape = &drops[1]}};
        fills[1].velocity[0].number = -4;
        t.def.fills = fills;
        t.def.fill_count = 2;
        compare(t.def, depth == 1 ? 16 : 3);
    }
}

static und_motion *path(const und_vec3 *from, const und_vec3 *to, double end)
{
    und_error err = {0};
    const und_key keys[2] = {{.time = 0, .position = *from}, {.time = end, .position = *to}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    assert_non_null(motion);
    return motion;
}

/* Fast enough that its drops come down where no liquid has been, on the floor and on a solid there. */
static void spray_that_lands_far_off(void **state)
{
    (void)state;
    scene t;
    make_scene(&t, 256, 1);
    t.fill.velocity[0].number = 4;
    t.fill.velocity[1].number = 3;
    t.other = (und_shape){.kind = UND_BOX, .center = {4, 0.2, 0}, .half = {0.4, 0.1, 1}};
    t.def.obstacle_count = 1;
    assert_true(compare(t.def, 24) < 0.2);
}

/* There is nothing; then liquid comes from far away of where the window waits, and runs into a drain. */
static void a_source_that_opens_late(void **state)
{
    (void)state;
    scene t;
    make_scene(&t, 200, 1);
    t.other = (und_shape){.kind = UND_BOX, .center = {3.6, 0.8, 0}, .half = {0.06, 0.06, 1}};
    und_shape hole = {.kind = UND_BOX, .center = {2.6, 0, 0}, .half = {0.1, 0.04, 1}};
    und_element_def elements[2] = {t.source, {.role = UND_ELEMENT_DRAIN, .shape = &hole, .end = INFINITY}};
    elements[0].start = 0.2;
    elements[0].end = 0.6;
    elements[0].field.value[0].number = -2.5;
    t.def.fill_count = 0;
    t.def.elements = elements;
    t.def.element_count = 2;
    assert_true(compare(t.def, 20) < 0.2);
}

/* A plate comes from far away, goes through the liquid and takes some along; it lets go, and rubs. */
static void a_solid_that_moves_in(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        scene t;
        make_scene(&t, 200, 1);
        t.other = (und_shape){.kind = UND_BOX, .half = {0.05, 0.15, 1}};
        und_motion *way = path(&(und_vec3){0.6, 0.17, 0}, &(und_vec3){3.4, 0.17, 0}, 0.8);
        t.solid.motion = way;
        t.solid.separate = kind == 1;
        t.solid.friction = kind == 2 ? 0.5 : 0;
        t.def.obstacle_count = 1;
        assert_true(compare(t.def, 20) < 0.4);
        und_motion_destroy(way);
    }
}

/* In a bowl, by open sides, under a pull that is aslant, in long steps, by other rules. */
static void other_settings(void **state)
{
    (void)state;
    scene t;
    make_scene(&t, 160, 1);
    t.other = (und_shape){.kind = UND_SPHERE, .center = {1.7, 1.0, 0}, .radius = 0.95};
    t.solid.inside_out = true;
    t.drop.center.y = 1;
    t.def.obstacle_count = 1;
    assert_true(compare(t.def, 12) < 0.5);
    make_scene(&t, 160, 1);
    t.def.open[0] = t.def.open[2] = true;
    t.def.gravity[0] = -4;
    t.fill.velocity[0].number = -5;
    assert_true(compare(t.def, 12) < 0.5);
    make_scene(&t, 160, 1);
    t.def.courant = 5;
    assert_true(compare(t.def, 8) < 0.5);
    make_scene(&t, 160, 1);
    t.def.surface_rule = UND_SURFACE_PARTICLES;
    t.def.keep_volume = true;
    assert_true(compare(t.def, 8) < 0.5);
    make_scene(&t, 160, 1);
    t.def.order = 2;
    t.def.particles = 0;
    assert_true(compare(t.def, 8) < 0.5);
}

/* A state of the one goes on in the other, whichever window that stands in. */
static void goes_on(und_levelset_def def)
{
    und_error err = {0};
    def.window.automatic = 1;
    und_levelset *first = start_levelset(&def), *second = start_levelset(&def);
    for (int i = 0; i < 6; i++)
        und_levelset_step(first, 1.0 / 24);
    und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    und_liquid *a = und_levelset_liquid(first), *b = und_levelset_liquid(second);
    assert_int_equal(a->class->save(a, &saved, &err), UND_OK);
    assert_int_equal(b->class->restore(b, &saved, &err), UND_OK);
    und_frame_clear(&saved);
    assert_int_equal(hash_of(first), hash_of(second));
    for (int i = 0; i < 6; i++) {
        und_levelset_step(first, 1.0 / 24);
        und_levelset_step(second, 1.0 / 24);
        assert_int_equal(hash_of(first), hash_of(second));
    }
    und_levelset_destroy(first);
    und_levelset_destroy(second);
}

static void a_state_goes_on(void **state)
{
    (void)state;
    scene t;
    make_scene(&t, 160, 1);
    goes_on(t.def);
    make_scene(&t, 400, 1);
    und_shape drops[2] = {t.drop, t.drop};
    drops[0].center = (und_vec3){0.2, 0.16, t.drop.center.z};
    drops[1].center = (und_vec3){8, 8, t.drop.center.z};
    und_fill_def fills[2] = {{.shape = &drops[0]}, {.shape = &drops[1]}};
    t.def.fills = fills;
    t.def.fill_count = 2;
    goes_on(t.def);
}

/* A thin stream along the diagonal is near all rows, and in little of each. */
static void liquid_along_the_diagonal(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 120; depth += 119) {
        enum { PIECES = 40 };
        scene t;
        make_scene(&t, depth == 1 ? 400 : 120, depth);
        und_shape drops[PIECES];
        und_fill_def fills[PIECES] = {{0}};
        for (int i = 0; i < PIECES; i++) {
            const double at = (i + 0.5) / PIECES * t.def.n[0] * t.def.dx;
            drops[i] = t.drop;
            drops[i].radius = 0.06;
            drops[i].center = (und_vec3){at, at, depth == 1 ? t.drop.center.z : at};
            fills[i].shape = &drops[i];
            fills[i].velocity[0].number = fills[i].velocity[1].number = 2;
        }
        t.def.fills = fills;
        t.def.fill_count = PIECES;
        compare(t.def, depth == 1 ? 6 : 2);
    }
}

/* It ends nowhere: what its window is, and when that grows, no bit tells.  Then, at the end of what cells are
 * counted, it has left. */
static void a_domain_that_ends_nowhere(void **state)
{
    (void)state;
    const int ends = UND_LEVELSET_ENDLESS;
    scene t;
    make_scene(&t, 64, 1);
    t.def.n[0] = t.def.n[1] = ends;
    t.def.endless = true;
    t.drop.center = (und_vec3){0.5 * ends * t.def.dx, 1.1, t.drop.center.z};
    t.other =
        (und_shape){.kind = UND_BOX, .center = {t.drop.center.x - 0.1, 0.6, 0}, .half = {0.15, 0.05, 1}};
    t.def.obstacle_count = 1;
    for (int side = 0; side < 4; side++)
        t.def.open[side] = true;
    und_levelset *first = start_levelset(&t.def);
    t.def.window = (und_window_def){.on = true, .follow = UND_WINDOW_LIQUID, .margin = 60};
    und_levelset *second = start_levelset(&t.def);
    for (int i = 0; i < 30; i++) {
        und_levelset_step(first, 1.0 / 24);
        und_levelset_step(second, 1.0 / 24);
        assert_int_equal(hash_of(first), hash_of(second));
    }
    const und_ledger l = und_levelset_ledger(first);
    assert_true(l.left > 0.1 * l.start && l.measured < 0.9 * l.start);
    assert_double_near(l.correction, 0, 1e-9 * l.start);
    assert_true(cells_of(first) < 256L * 256 && cells_of(first) != cells_of(second));
    und_levelset_destroy(first);
    und_levelset_destroy(second);
}

/* Where not every bit would be the same, and where a domain is small, there is none. */
static void no_window_where_it_would_show(void **state)
{
    (void)state;
    scene t;
    make_scene(&t, 160, 1);
    und_levelset *small = start_levelset(&t.def);
    assert_int_equal(cells_of(small), 160 * 160);
    und_levelset_destroy(small);
    make_scene(&t, 160, 1);
    t.def.window.automatic = 1;
    t.def.free_air = true;
    und_levelset *airy = start_levelset(&t.def);
    assert_int_equal(cells_of(airy), 160 * 160);
    und_levelset_destroy(airy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_splash_on_the_floor),
        cmocka_unit_test(much_of_a_domain),
        cmocka_unit_test(liquid_far_apart),
        cmocka_unit_test(liquid_along_the_diagonal),
        cmocka_unit_test(spray_that_lands_far_off),
        cmocka_unit_test(a_source_that_opens_late),
        cmocka_unit_test(a_solid_that_moves_in),
        cmocka_unit_test(other_settings),
        cmocka_unit_test(a_state_goes_on),
        cmocka_unit_test(a_domain_that_ends_nowhere),
        cmocka_unit_test(no_window_where_it_would_show),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
