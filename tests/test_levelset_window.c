/* The grid as a window of a larger one: the bits of the large one, what leaves, states, sizes. */
#include "tests/frame_item.h"
#include "tests/levelset_model.h"

#include "geom/motion.h"
#include "geom/shape.h"
#include "grid/mac.h"

/* A drop that is thrown across a domain, past or onto a ball. */
typedef struct throw
{
    und_shape drop, ball;
    und_fill_def fill;
    und_obstacle_def solid;
    und_levelset_def def;
}
throw;

static void make_throw(throw *t, bool flat)
{
    double z = flat ? 0.5 / 48 : 0.35;
    *t = (throw){.drop = {.kind = UND_SPHERE, .center = {0.3, 1.35, z}, .radius = 0.11},
                 .ball = {.kind = UND_SPHERE, .center = {0.72, 1.03, z}, .radius = 0.12},
                 .def = und_levelset_def_default()};
    t->fill.shape = &t->drop;
    t->fill.velocity[0] = (und_value){.number = 1.5};
    t->solid.shape = &t->ball;
    t->def.dx = 1.0 / 48;
    t->def.n[0] = 72;
    t->def.n[1] = 80;
    t->def.n[2] = flat ? 1 : 34;
    t->def.fills = &t->fill;
    t->def.obstacles = &t->solid;
    t->def.fill_count = 1;
    t->def.threads = 1;
}

/* Cells and faces of the domain in which two have other bits; pressures are those of the liquid. */
static long differences(const und_levelset_def *def, const und_levelset *a, const und_levelset *b)
{
    long count = 0;
    for (int z = 0; z < def->n[2]; z++)
        for (int y = 0; y < def->n[1]; y++)
            for (int x = 0; x < def->n[0]; x++) {
                double phi = und_levelset_distance(a, x, y, z);
                count += phi != und_levelset_distance(b, x, y, z);
                count += phi < 0 && und_levelset_pressure(a, x, y, z) != und_levelset_pressure(b, x, y, z);
                for (int axis = 0; axis < 3; axis++)
                    count +=
                        und_levelset_velocity(a, axis, x, y, z) != und_levelset_velocity(b, axis, x, y, z);
            }
    count += und_levelset_last(a).particles != und_levelset_last(b).particles;
    count += und_levelset_ledger(a).measured != und_levelset_ledger(b).measured;
    return count;
}

static long cells_of(const und_levelset *levelset)
{
    int low[3], n[3];
    und_levelset_window(levelset, low, n);
    return (long)n[0] * n[1] * n[2];
}

/* Frames for which a window has the bits of the large grid, of `frames`; it must change its place meanwhile.
 */
static int same_frames(und_levelset_def def, const und_window_def *window, int frames)
{
    int first[3], low[3], n[3], same = 0;
    und_levelset *large = start_levelset(&def);
    def.window = *window;
    und_levelset *small = start_levelset(&def);
    und_levelset_window(small, first, n);
    while (same < frames) {
        und_levelset_step(large, 1.0 / 24);
        und_levelset_step(small, 1.0 / 24);
        if (differences(&def, large, small) > 0)
            break;
        same++;
    }
    und_levelset_window(small, low, n);
    assert_true(memcmp(first, low, sizeof low) != 0);
    assert_true(4 * cells_of(small) < 3 * cells_of(large));
    und_levelset_destroy(large);
    und_levelset_destroy(small);
    return same;
}

static const und_window_def follows_liquid = {.on = true, .follow = UND_WINDOW_LIQUID, .margin = 10};

/* Through the air, then onto the ball, where the liquid is torn. */
static void a_fitted_window_has_the_bits_of_the_large_grid(void **state)
{
    (void)state;
    throw t;
    make_throw(&t, false);
    t.def.obstacle_count = 1;
    assert_int_equal(same_frames(t.def, &follows_liquid, 6), 6);
    make_throw(&t, true);
    assert_int_equal(same_frames(t.def, &follows_liquid, 10), 10);
}

/* Cells that have volumes of their own take them along. */
static void a_window_loses_nothing(void **state)
{
    (void)state;
    throw t;
    make_throw(&t, true);
    t.def.surface_rule = UND_SURFACE_VOLUME;
    t.def.obstacle_count = 1;
    t.def.window = follows_liquid;
    und_levelset *levelset = start_levelset(&t.def);
    for (int i = 0; i < 24; i++) {
        und_levelset_step(levelset, 1.0 / 24);
        const und_ledger l = und_levelset_ledger(levelset);
        assert_double_near(l.correction / l.start, 0, 1e-12);
    }
    und_levelset_destroy(levelset);
}

static und_motion *path(double x0, double y0, double x1, double y1, double z, double end)
{
    und_error err = {0};
    const und_key keys[2] = {{.time = 0, .position = {x0, y0, z}}, {.time = end, .position = {x1, y1, z}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    assert_non_null(motion);
    return motion;
}

/* Two drops meet while the window goes past them. */
static void gaps_close_while_the_window_moves(void **state)
{
    (void)state;
    throw t;
    make_throw(&t, true);
    t.def.n[0] = 192;
    t.def.gravity[1] = 0;
    t.def.spray = false;
    t.drop.center = (und_vec3){1.3, 0.8, t.drop.center.z};
    t.ball = t.drop;
    und_fill_def fills[2] = {{.shape = &t.drop}, {.shape = &t.ball}};
    fills[1].velocity[0].number = -(fills[0].velocity[0].number = 2);
    t.def.fills = fills;
    t.def.fill_count = 2;
    und_motion *way = path(1.2, 0.8, 2.2, 0.8, 0, 0.25), *size = path(2, 1.5, 2, 1.5, 1, 1);
    const und_window_def window = {.on = true, .path = way, .size = size};
    for (int i = 0; i < 4; i++) {
        t.ball.center.x = t.drop.center.x + 0.3 + 0.01 * i;
        assert_int_equal(same_frames(t.def, &window, 2), 2);
    }
    und_motion_destroy(way);
    und_motion_destroy(size);
}

/* A blob without gravity beside a plate that pushes it along; the window goes with the plate. */
static void a_window_goes_with_a_solid(void **state)
{
    (void)state;
    throw t;
    make_throw(&t, true);
    t.drop.center = (und_vec3){0.45, 0.9, t.drop.center.z};
    t.ball = (und_shape){.kind = UND_BOX, .half = {0.05, 0.2, 1}};
    t.def.obstacle_count = 1;
    t.def.gravity[1] = 0;
    und_motion *motion = path(0.25, 0.9, 1.0, 0.9, 0, 0.5);
    und_motion *size = path(0.85, 0.85, 0.85, 0.85, 1, 1);
    und_motion *ahead = path(0.12, 0, 0.12, 0, 0, 1);
    t.solid.motion = motion;
    und_window_def window = {.on = true, .follow = UND_WINDOW_SOLID, .size = size, .path = ahead};
    assert_int_equal(same_frames(t.def, &window, 8), 8);
    window = (und_window_def){.on = true, .follow = UND_WINDOW_SOLID, .margin = 8, .resize = true};
    assert_int_equal(same_frames(t.def, &window, 8), 8);
    und_motion_destroy(motion);
    und_motion_destroy(size);
    und_motion_destroy(ahead);
}

/* The window leaves a drop at rest behind, cell by cell: all of it has left in the end, and nothing is owed.
 */
static void what_is_left_behind_is_booked(void **state)
{
    (void)state;
    throw t;
    make_throw(&t, true);
    t.def.gravity[1] = 0;
    t.fill.velocity[0].number = 0;
    und_motion *way = path(0.5, 1.2, 1.1, 1.2, 0, 0.5), *size = path(0.6, 0.6, 0.6, 0.6, 1, 1);
    t.def.window = (und_window_def){.on = true, .path = way, .size = size};
    und_levelset *window = start_levelset(&t.def);
    double before = und_levelset_ledger(window).measured;
    assert_true(before > 0);
    for (int i = 0; i < 12; i++) {
        und_levelset_step(window, 1.0 / 24);
        und_ledger ledger = und_levelset_ledger(window);
        assert_double_near(ledger.left + ledger.measured - ledger.correction, before, 1e-12 * before);
        assert_double_near(ledger.correction, 0, 0.02 * before); /* of the drop that is cut in two */
        assert_true(i < 4 || ledger.left > 0);
    }
    assert_double_near(und_levelset_ledger(window).measured, 0, 0);
    und_levelset_destroy(window);
    und_motion_destroy(way);
    und_motion_destroy(size);
}

static void saved(und_levelset *levelset, und_frame *copy)
{
    und_error err = {0};
    und_liquid *liquid = und_levelset_liquid(levelset);
    und_frame state = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    *copy = state;
    assert_int_equal(liquid->class->save(liquid, &state, &err), UND_OK);
    assert_int_equal(und_frame_copy(&state, copy, &err), UND_OK);
    und_frame_clear(&state);
}

/* A state goes to one that stands in another window; at any thread count. */
static void same_bits_after_a_resume_and_at_any_thread_count(void **state)
{
    (void)state;
    throw t;
    und_error err = {0};
    und_frame copy;
    make_throw(&t, false);
    t.def.obstacle_count = 1;
    t.def.window = follows_liquid;
    und_levelset *first = start_levelset(&t.def);
    t.def.threads = 3;
    und_levelset *second = start_levelset(&t.def);
    for (int i = 0; i < 4; i++)
        und_levelset_step(first, 1.0 / 24);
    saved(first, &copy);
    und_liquid *liquid = und_levelset_liquid(second);
    assert_int_equal(liquid->class->restore(liquid, &copy, &err), UND_OK);
    assert_int_equal(hash_of_levelset(first), hash_of_levelset(second));
    for (int i = 0; i < 3; i++) {
        und_levelset_step(first, 1.0 / 24);
        und_levelset_step(second, 1.0 / 24);
        assert_int_equal(hash_of_levelset(first), hash_of_levelset(second));
    }
    und_item *window = item_of(&copy, "window");
    static const int32_t wrong[][6] = {{-1, 0, 0, 20, 20, 20},        {0, 0, 0, 20, 90, 20},
                                       {60, 0, 0, 20, 20, 20},        {0, 0, 0, 3, 20, 20},
                                       {INT32_MAX, 0, 0, 20, 20, 20}, {0, INT32_MIN, 0, 20, 20, INT32_MAX}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        memcpy(window->data, wrong[i], sizeof wrong[i]);
        assert_int_equal(liquid->class->restore(liquid, &copy, &err), UND_FAILED);
        assert_non_null(strstr(err.text, "window"));
    }
    und_frame_clear(&copy);
    und_levelset_destroy(first);
    und_levelset_destroy(second);
}

/* Nothing to follow: the window stays; then a source opens elsewhere, and it goes there. */
static void a_window_without_liquid_waits_for_a_source(void **state)
{
    (void)state;
    throw t;
    make_throw(&t, true);
    t.drop.radius = 0.08;
    und_element_def source = {.role = UND_ELEMENT_SOURCE,
                              .shape = &t.drop,
                              .start = 0.1,
                              .end = INFINITY,
                              .field = {.value = {{.number = 1}}}};
    t.def.fill_count = 0;
    t.def.elements = &source;
    t.def.element_count = 1;
    t.def.window = follows_liquid;
    und_levelset *window = start_levelset(&t.def);
    int first[3], low[3], n[3];
    und_levelset_window(window, first, n);
    und_levelset_step(window, 0.05);
    und_levelset_window(window, low, n);
    assert_memory_equal(first, low, sizeof low);
    assert_double_near(und_levelset_ledger(window).measured, 0, 0);
    for (int i = 0; i < 8; i++)
        und_levelset_step(window, 0.05);
    und_ledger ledger = und_levelset_ledger(window);
    assert_true(ledger.measured > 3.14 * 0.08 * 0.08 / 48 && ledger.sources > 0);
    assert_double_near(ledger.left, 0, 0);
    und_levelset_destroy(window);
}

/* As large as the domain, or larger; so small that the drop does not fit. */
static void sizes_that_do_not_fit(void **state)
{
    (void)state;
    throw t;
    make_throw(&t, true);
    und_motion *large = path(10, 10, 10, 10, 10, 1), *small = path(1e-6, 1e-6, 1e-6, 1e-6, 1, 1);
    und_motion *at = path(0.3, 1.35, 0.3, 1.35, 0, 1);
    und_levelset *whole = start_levelset(&t.def);
    t.def.window = (und_window_def){.on = true, .follow = UND_WINDOW_LIQUID, .size = large};
    und_levelset *same = start_levelset(&t.def);
    for (int i = 0; i < 3; i++) {
        und_levelset_step(whole, 1.0 / 24);
        und_levelset_step(same, 1.0 / 24);
    }
    assert_int_equal(cells_of(same), cells_of(whole));
    assert_int_equal(differences(&t.def, whole, same), 0);
    t.drop.radius = 0.3;
    t.def.window = (und_window_def){.on = true, .path = at, .size = small};
    und_levelset *tiny = start_levelset(&t.def);
    assert_int_equal(cells_of(tiny), 16 * 16);
    double before = und_levelset_ledger(tiny).measured;
    assert_double_near(before, 16.0 * 16 / (48.0 * 48 * 48), 1e-9); /* all of it is in the drop */
    for (int i = 0; i < 6; i++) {
        und_levelset_step(tiny, 1.0 / 24);
        und_ledger ledger = und_levelset_ledger(tiny);
        assert_true(ledger.left > 0 && ledger.measured > 0 && ledger.measured <= before);
    }
    und_levelset_destroy(whole);
    und_levelset_destroy(same);
    und_levelset_destroy(tiny);
    und_motion_destroy(large);
    und_motion_destroy(small);
    und_motion_destroy(at);
}

/* Cells and faces of one window to another, and what is beside it. */
static void fields_are_carried_by_whole_cells(void **state)
{
    (void)state;
    const double d[3] = {1, 1, 1}, origin[3] = {0};
    const und_mac whole = und_mac_make((int[]){20, 18, 6}, d, origin);
    const und_mac a = und_mac_window(&whole, (int[]){2, 3, 1}, (int[]){10, 9, 4});
    const und_mac b = und_mac_window(&whole, (int[]){5, 1, 0}, (int[]){12, 8, 5});
    float *from = calloc(a.count, sizeof *from), *to = calloc(b.count, sizeof *to), fill = -1;
    for (int axis = 0; axis < 4; axis++) {
        for (int z = -1; z < a.n[2]; z++)
            for (int y = -1; y < a.n[1]; y++)
                for (int x = -1; x < a.n[0]; x++)
                    from[und_mac_at(&a, x, y, z)] =
                        (float)((x + a.low[0]) + 100 * (y + a.low[1]) + 10000 * (z + a.low[2]));
        und_mac_carry(&a, from, &b, to, sizeof *to, axis, &fill);
        for (int z = -1; z <= b.n[2]; z++)
            for (int y = -1; y <= b.n[1]; y++)
                for (int x = -1; x <= b.n[0]; x++) {
                    int at[3] = {x, y, z};
                    bool had = true;
                    for (int k = 0; k < 3; k++) {
                        int least = k == axis ? -1 : 0;
                        at[k] = at[k] < least ? least : at[k] > b.n[k] - 1 ? b.n[k] - 1 : at[k];
                        at[k] += b.low[k];
                        had &= at[k] >= a.low[k] + least && at[k] < a.low[k] + a.n[k];
                    }
                    float expected = had ? (float)(at[0] + 100 * at[1] + 10000 * at[2]) : fill;
                    assert_double_near((double)to[und_mac_at(&b, x, y, z)], (double)expected, 0);
                }
    }
    assert_int_equal(und_mac_number(&b, 3, 4, 2), und_mac_at(&whole, 8, 5, 2));
    assert_double_near(und_mac_middle(&b, 0, 3), und_mac_middle(&whole, 0, 8), 0);
    free(from);
    free(to);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_carried_by_whole_cells),
        cmocka_unit_test(a_fitted_window_has_the_bits_of_the_large_grid),
        cmocka_unit_test(a_window_loses_nothing),
        cmocka_unit_test(gaps_close_while_the_window_moves),
        cmocka_unit_test(a_window_goes_with_a_solid),
        cmocka_unit_test(what_is_left_behind_is_booked),
        cmocka_unit_test(same_bits_after_a_resume_and_at_any_thread_count),
        cmocka_unit_test(a_window_without_liquid_waits_for_a_source),
        cmocka_unit_test(sizes_that_do_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
