/* The particle level set as a model: the ledger, the same bits at any thread count and after a resume,
 * errors. */
#include "tests/levelset_model.h"

#include "geom/shape.h"

/* A dam that breaks onto a ball, in a small box. */
typedef struct dam {
    und_shape box, ball;
    und_fill_def fill;
    und_obstacle_def solid;
    und_levelset_def def;
} dam;

static void make_dam(dam *d, int n, int threads)
{
    *d = (dam){.box = {.kind = UND_BOX, .center = {0.2, 0.3, 0.5}, .half = {0.2, 0.3, 0.5}},
               .ball = {.kind = UND_SPHERE, .center = {0.7, 0.1, 0.5}, .radius = 0.15},
               .def = und_levelset_def_default()};
    d->fill.shape = &d->box;
    d->solid.shape = &d->ball;
    for (int a = 0; a < 3; a++)
        d->def.n[a] = n;
    d->def.dx = 1.0 / n;
    d->def.fills = &d->fill;
    d->def.obstacles = &d->solid;
    d->def.fill_count = d->def.obstacle_count = 1;
    d->def.threads = threads;
}

static void same_bits_at_any_thread_count(void **state)
{
    (void)state;
    static const int threads[] = {1, 7, 2};
    uint64_t first = 0;
    for (int i = 0; i < test_cases(3, 2); i++) {
        dam d;
        make_dam(&d, 32, threads[i]);
        und_levelset *levelset = start_levelset(&d.def);
        for (int frame = 0; frame < test_cases(6, 2); frame++)
            und_levelset_step(levelset, 1.0 / 12);
        uint64_t hash = hash_of_levelset(levelset);
        first = i ? first : hash;
        assert_int_equal(hash, first);
        und_levelset_destroy(levelset);
    }
}

/* Saved between two substeps of a step, given to another, which then goes on with the same bits. */
static void resume(const und_levelset_def *def)
{
    und_error err = {0};
    und_levelset *first = start_levelset(def), *second = start_levelset(def);
    und_liquid *from = und_levelset_liquid(first), *to = und_levelset_liquid(second);
    const double dt = 1.0 / 6;
    while (!from->class->step(from, dt))
        ;
    assert_false(from->class->step(from, dt));
    und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1}), copy = saved;
    assert_int_equal(from->class->save(from, &saved, &err), UND_OK);
    assert_int_equal(und_frame_copy(&saved, &copy, &err), UND_OK);
    assert_int_equal(to->class->restore(to, &copy, &err), UND_OK);
    assert_int_equal(hash_of_levelset(first), hash_of_levelset(second));
    for (int i = 0; i < test_cases(3, 1); i++) {
        while (!from->class->step(from, dt))
            ;
        while (!to->class->step(to, dt))
            ;
        assert_int_equal(hash_of_levelset(first), hash_of_levelset(second));
    }
    und_frame_clear(&saved);
    und_frame_clear(&copy);
    und_levelset_destroy(first);
    und_levelset_destroy(second);
}

static void goes_on_after_a_resume(void **unused)
{
    (void)unused;
    dam d;
    make_dam(&d, 32, 2);
    resume(&d.def);
}

/* While a tap has not yet brought all that it was filled with. */
static void goes_on_after_a_resume_of_sources(void **unused)
{
    (void)unused;
    dam d;
    make_dam(&d, 24, 2);
    const und_shape tap = {.kind = UND_BOX, .center = {0.6, 0.7, 0.5}, .half = {0.1, 0.2, 0.015}};
    und_element_def element = {.role = UND_ELEMENT_SOURCE, .shape = &tap, .end = 0.5};
    element.field.value[1].number = -0.8;
    d.def.surface_rule = UND_SURFACE_VOLUME;
    d.def.elements = &element;
    d.def.element_count = 1;
    resume(&d.def);
}

static void a_damaged_state_is_refused(void **unused)
{
    (void)unused;
    dam d;
    und_error err = {0};
    make_dam(&d, 16, 1);
    und_levelset *levelset = start_levelset(&d.def);
    und_liquid *liquid = und_levelset_liquid(levelset);
    und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1}), copy = saved;
    assert_int_equal(liquid->class->save(liquid, &saved, &err), UND_OK);
    for (int i = 0; i < saved.count; i++) {
        und_frame_clear(&copy);
        copy = und_frame_empty(0, 0, saved.grid);
        assert_int_equal(und_frame_copy(&saved, &copy, &err), UND_OK);
        copy.items[i].dim[0]++; /* another scene's */
        copy.items[i].data = realloc(copy.items[i].data, und_item_bytes(&copy.items[i]));
        assert_non_null(copy.items[i].data);
        memset((char *)copy.items[i].data + und_item_bytes(&saved.items[i]), 0xff,
               und_item_bytes(&copy.items[i]) - und_item_bytes(&saved.items[i]));
        assert_int_equal(liquid->class->restore(liquid, &copy, &err), UND_FAILED);
    }
    und_frame_clear(&saved);
    und_frame_clear(&copy);
    und_levelset_destroy(levelset);
}

static void the_ledger_closes(void **unused)
{
    (void)unused;
    dam d;
    make_dam(&d, 32, 2);
    und_levelset *levelset = start_levelset(&d.def);
    for (int frame = 0; frame < test_cases(24, 6); frame++) {
        und_levelset_step(levelset, 1.0 / 24);
        und_ledger l = und_levelset_ledger(levelset);
        assert_double_near(und_ledger_expected(&l), l.measured, 1e-12 * l.start);
    }
    assert_double_near(und_levelset_ledger(levelset).start, 0.24, 0.24 * 0.01);
    und_levelset_destroy(levelset);
}

static void wrong_defs_are_refused(void **unused)
{
    (void)unused;
    struct {
        double courant, tolerance, dx;
        int n, particles;
    } wrong[] = {{-1, 1e-4, 1, 4, 8}, {1, 0, 1, 4, 8},      {1, 1e-4, 0, 4, 8},       {1, 1e-4, 1, 0, 8},
                 {1, 1e-4, 1, 4, -1}, {NAN, 1e-4, 1, 4, 8}, {1, 1e-4, INFINITY, 4, 8}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        und_error err = {0};
        und_levelset_def def = und_levelset_def_default();
        def.courant = wrong[i].courant;
        def.tolerance = wrong[i].tolerance;
        def.dx = wrong[i].dx;
        def.n[0] = wrong[i].n;
        def.particles = wrong[i].particles;
        assert_null(und_levelset_create(&def, &err));
        assert_int_equal(err.status, UND_INVALID);
        assert_non_null(strstr(err.text, "expected"));
    }
}

/* 4.4.1: a frame ends on time, and no sliver of it is left: its last two substeps are equal, or the last is
 * longer where the liquid has become slower. */
static void the_last_two_substeps_are_equal(void **unused)
{
    (void)unused;
    dam d;
    int equal = 0;
    const int frames = test_cases(6, 2);
    make_dam(&d, 32, 1);
    und_levelset *levelset = start_levelset(&d.def);
    und_liquid *liquid = und_levelset_liquid(levelset);
    und_levelset_step(levelset, 0.1);
    for (int frame = 0; frame < frames; frame++) {
        double before = 0, last = 0;
        int count = 0;
        for (bool done = false; !done; count++) {
            before = last;
            done = liquid->class->step(liquid, 0.1);
            last = und_levelset_last(levelset).dt;
        }
        assert_true(count >= 2);
        assert_true(last >= before - 1e-12);
        equal += fabs(last - before) < 1e-12;
    }
    assert_true(2 * equal >= frames);
    assert_double_near(und_levelset_time(levelset), 0.1 * (frames + 1), 1e-12);
    und_levelset_destroy(levelset);
}

/* A pool in a box without a right side runs out there, and all that is missing has left by it. */
static void leaves_by_open_sides(void **unused)
{
    (void)unused;
    for (int depth = 1; depth <= 6; depth += 5) {
        und_levelset_def def = und_levelset_def_default();
        def.n[0] = 24, def.n[1] = 16, def.n[2] = depth;
        def.dx = 1.0 / 24;
        def.has_level = true;
        def.level.number = 0.3;
        def.open[1] = true;
        def.threads = 2;
        und_levelset *levelset = start_levelset(&def);
        for (int frame = 0; frame < 24; frame++)
            und_levelset_step(levelset, 1.0 / 24);
        und_ledger l = und_levelset_ledger(levelset);
        assert_double_near(und_ledger_expected(&l), l.measured, 1e-12 * l.start);
        assert_true(l.left > 0.5 * l.start);
        assert_double_near(l.left, l.start - l.measured, 0.05 * l.start);
        und_levelset_destroy(levelset);
    }
}

/* Around a ball at rest: those of the liquid inside, those of the air outside, none far from its surface. */
static void frames_show_the_particles(void **unused)
{
    (void)unused;
    dam d;
    und_error err = {0};
    make_dam(&d, 24, 2);
    d.ball.center = (und_vec3){0.5, 0.5, 0.5};
    d.ball.radius = 0.3;
    d.fill.shape = &d.ball;
    d.def.obstacle_count = 0;
    d.def.keep_level_set_particles = true;
    und_levelset *levelset = start_levelset(&d.def);
    und_liquid *liquid = und_levelset_liquid(levelset);
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {24, 24, 24}, .dx = d.def.dx});
    assert_int_equal(liquid->class->frame(liquid, &frame, &err), UND_OK);
    size_t count = 0;
    const float *at = und_frame_points(&frame, "tracers/position", &count);
    const und_item *item = und_frame_find(&frame, "tracers/radius");
    assert_true(at && item && und_item_count(item) == count && count > 1000);
    for (size_t i = 0; i < count; i++) {
        double off = sqrt(pow((double)at[3 * i] - 0.5, 2) + pow((double)at[3 * i + 1] - 0.5, 2) +
                          pow((double)at[3 * i + 2] - 0.5, 2)) -
                     0.3;
        float radius = ((const float *)item->data)[i];
        assert_true(fabs(off) < 1.1 * d.def.dx && fabs((double)radius) < 0.51 * d.def.dx);
        assert_true(fabs(off) < 0.1 * d.def.dx || (radius < 0) == (off < 0));
    }
    und_frame_clear(&frame);
    und_levelset_destroy(levelset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_at_any_thread_count),
                                       cmocka_unit_test(goes_on_after_a_resume),
                                       cmocka_unit_test(goes_on_after_a_resume_of_sources),
                                       cmocka_unit_test(a_damaged_state_is_refused),
                                       cmocka_unit_test(the_ledger_closes),
                                       cmocka_unit_test(wrong_defs_are_refused),
                                       cmocka_unit_test(the_last_two_substeps_are_equal),
                                       cmocka_unit_test(leaves_by_open_sides),
                                       cmocka_unit_test(frames_show_the_particles)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
