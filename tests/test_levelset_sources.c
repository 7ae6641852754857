/* What sources bring to the level set liquid, and drains take, stands in its ledger. */
#include "tests/levelset_model.h"

#include "geom/motion.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "liquid/levelset_state.h"

enum { N = 32, FRAMES = 12 };

#define DX (1.0 / N)
#define SPEED 0.5

static und_shape *box(double x0, double y0, double x1, double y1)
{
    und_shape like = {.kind = UND_BOX,
                      .center = {(x0 + x1) / 2, (y0 + y1) / 2, 0},
                      .half = {(x1 - x0) / 2, (y1 - y0) / 2, 1}};
    und_shape *shape = und_shape_create(&like, NULL);
    assert_non_null(shape);
    return shape;
}

static double held_at(und_levelset *l, int x, int y)
{
    return und_levelset_volume_cells(l)[und_mac_at(&l->mac, x, y, 0)] / (double)UND_VOLUME_ONE;
}

static und_levelset_def half_full(const und_element_def *elements, int count, double viscosity)
{
    und_levelset_def def = und_levelset_def_default();
    def.n[0] = def.n[1] = N;
    def.n[2] = 1;
    def.dx = DX;
    def.level = und_value_constant(0.5);
    def.has_level = true;
    def.viscosity = viscosity;
    def.keep_volume = true;
    def.elements = elements;
    def.element_count = count;
    def.threads = 2;
    return def;
}

static und_ledger run(const und_levelset_def *def)
{
    und_levelset *l = start_levelset(def);
    for (int i = 0; i < FRAMES; i++)
        und_levelset_step(l, 1.0 / 24);
    und_ledger ledger = und_levelset_ledger(l);
    und_levelset_destroy(l);
    return ledger;
}

/* Four cells at the left side, under water, thick or thin: what they bring is their faces times the speed. */
static void a_source_brings_its_area_times_its_speed(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        int thick = i % 2 ? 3 : 1;
        und_shape *shape = box(0, 4 * DX, thick * DX, 8 * DX);
        und_element_def source = {.role = UND_ELEMENT_SOURCE,
                                  .shape = shape,
                                  .field.value = {und_value_constant(SPEED)},
                                  .end = INFINITY};
        und_levelset_def def = half_full(&source, 1, i < 2 ? 0 : 1e-3);
        und_ledger ledger = run(&def);
        double brings = 4 * DX * DX * SPEED * FRAMES / 24;
        assert_double_near(ledger.sources - ledger.drains, brings, 0.01 * brings);
        assert_double_near(ledger.measured - ledger.start, brings, 0.05 * brings);
        und_shape_destroy(shape);
    }
}

/* In the open air, without gravity: the air that follows the liquid into the source cuts nothing out of it.
 */
static void a_source_in_the_air_loses_nothing(void **state)
{
    (void)state;
    const double wide = 8 * DX, high = 4 * DX;
    und_shape *shape = box(12 * DX, 24 * DX, 20 * DX, 28 * DX);
    und_element_def source = {.role = UND_ELEMENT_SOURCE,
                              .shape = shape,
                              .field.value = {und_value_constant(0), und_value_constant(-SPEED)},
                              .end = INFINITY};
    for (int i = 0; i < 2; i++) { /* with particles it is filled beside, and the last step's not yet */
        und_levelset_def def = half_full(&source, 1, 0);
        def.has_level = def.keep_volume = false;
        def.gravity[1] = 0;
        def.reseed = 2;
        def.surface_rule = i == 0 ? UND_SURFACE_PARTICLES : UND_SURFACE_VOLUME;
        und_ledger ledger = run(&def);
        double brings = wide * (i == 0 ? high + SPEED * (FRAMES - 1) / 24 : SPEED * FRAMES / 24) * DX;
        assert_double_near(ledger.sources, brings, 0.02 * brings);
        assert_double_near(ledger.measured, brings, 0.02 * brings);
    }
    und_shape_destroy(shape);
}

static double slower(const void *context, double x, double y, double z, double time)
{
    (void)context, (void)x, (void)y, (void)z;
    return -2 * SPEED * exp(-2 * time);
}

/* Thinner than a cell, off the grid, and slower and slower: what the cells' faces make would be far more. */
static void a_thin_source_of_a_changing_speed_brings_its_flow(void **state)
{
    (void)state;
    const double wide = 0.4 * DX, time = FRAMES / 24.0;
    und_shape *shape = box(15.7 * DX, 24.2 * DX, 15.7 * DX + wide, 24.6 * DX);
    und_element_def source = {.role = UND_ELEMENT_SOURCE,
                              .shape = shape,
                              .field.value = {und_value_constant(0), {.fn = slower, .uniform = true}},
                              .end = INFINITY};
    und_levelset_def def = half_full(&source, 1, 0);
    def.has_level = def.keep_volume = false;
    def.surface_rule = UND_SURFACE_VOLUME;
    const und_ledger ledger = run(&def);
    const double brings = wide * DX * SPEED * (1 - exp(-2 * time));
    assert_double_near(ledger.sources, brings, 0.02 * brings);
    und_shape_destroy(shape);
}

/* It begins and ends between two steps. */
static void a_source_shorter_than_a_step_brings_its_flow(void **state)
{
    (void)state;
    const double time = 0.03, wide = 4 * DX, high = 0.6 * SPEED * time;
    und_shape *shape = box(14 * DX, 24 * DX, 14 * DX + wide, 24 * DX + high);
    und_element_def source = {.role = UND_ELEMENT_SOURCE,
                              .shape = shape,
                              .field.value = {und_value_constant(0), und_value_constant(-SPEED)},
                              .start = 2.2 / 24,
                              .end = 2.2 / 24 + time};
    und_levelset_def def = half_full(&source, 1, 0);
    def.has_level = def.keep_volume = false;
    def.surface_rule = UND_SURFACE_VOLUME;
    const und_ledger ledger = run(&def);
    const double brings = wide * DX * SPEED * time;
    assert_double_near(ledger.sources, brings, 0.02 * brings);
    und_shape_destroy(shape);
}

/* A cell thick and off the grid, aslant, and so slow that what comes out of it bends: what is evened out
 * along the surface behind it, and flows into it again, is no stream that comes from elsewhere. */
static void a_slow_source_brings_its_flow_whatever_the_step(void **state)
{
    (void)state;
    const double x = 20.03 * DX, y = 14.5 * DX, wide = DX, high = 6 * DX;
    und_shape *shape = box(x, y, x + wide, y + high);
    und_element_def source = {.role = UND_ELEMENT_SOURCE,
                              .shape = shape,
                              .field.value = {und_value_constant(0.56), und_value_constant(-0.44)},
                              .end = INFINITY};
    for (double courant = 0.5; courant < 4; courant *= 2) {
        und_levelset_def def = half_full(&source, 1, 0);
        def.has_level = def.keep_volume = false;
        def.courant = courant;
        const und_ledger ledger = run(&def);
        const double brings = (0.56 * high + 0.44 * wide) * DX * FRAMES / 24;
        assert_double_near(ledger.sources, brings, 0.02 * brings);
    }
    und_shape_destroy(shape);
}

/* A spout of two cells at a closed side, in steps in which its jet crosses more than that: what comes from
 * the side is as fast as the source. */
static void a_jet_from_a_side_has_its_sources_speed(void **state)
{
    (void)state;
    const double fast = 3;
    und_shape *spout = box(-1, 19 * DX, 2 * DX, 25 * DX);
    const und_element_def source = {.role = UND_ELEMENT_SOURCE,
                                    .shape = spout,
                                    .field.value = {und_value_constant(fast)},
                                    .end = INFINITY};
    und_levelset_def def = half_full(&source, 1, 0);
    double most = 0;
    def.has_level = def.keep_volume = false;
    def.open[1] = def.open[2] = true;
    def.courant = 3.5;
    def.gravity[1] = 0;
    und_levelset *l = start_levelset(&def);
    for (int i = 0; i < FRAMES; i++) {
        und_levelset_step(l, 1.0 / 24);
        for (int x = 0; x < N / 2 && i > FRAMES / 2; x++)
            most = fmax(most, fabs(und_levelset_velocity(l, 0, x, (int)(0.7 * N), 0) / fast - 1));
    }
    if (!(most < 1e-3))
        fail_msg("the jet's speed is off by %g of it", most);
    und_levelset_destroy(l);
    und_shape_destroy(spout);
}

/* In an empty domain no flow is known as a source begins, with the step or within it, at rest or as its shape
 * moves: steps are as short from the first on as its speed asks for, and its shape is not pressed together.
 */
static void a_source_in_an_empty_domain_is_cut_into_steps(void **state)
{
    (void)state;
    const double fast = 4, dt = 1.0 / 24, moved = 0.5;
    const und_key keys[] = {{.time = 0}, {.time = 2 * dt, .position = {moved, 0, 0}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, NULL);
    und_shape *shape = box(0.2, 0.5, 0.2 + 4 * DX, 0.5 + 6 * DX);
    assert_non_null(motion);
    for (int kind = 0; kind < 4; kind++) {
        const double start = kind == 1 ? 0.6 * dt : 0, speed = kind == 2 ? moved / (2 * dt) : fast;
        und_element_def source = {.role = UND_ELEMENT_SOURCE,
                                  .shape = shape,
                                  .motion = kind == 2 ? motion : NULL,
                                  .field.value = {und_value_constant(kind == 2 ? 0.1 : -fast)},
                                  .start = start,
                                  .end = kind == 3 ? 0.5 * dt : INFINITY};
        und_levelset_def def = half_full(&source, 1, 0);
        def.has_level = def.keep_volume = false;
        def.gravity[1] = 0;
        und_levelset *l = start_levelset(&def);
        und_levelset_step(l, dt);
        const double longest = und_levelset_last(l).dt, crossed = longest * speed / DX;
        if (kind < 3 && !(crossed < 3 + 1e-6 && longest < dt))
            fail_msg("source %d: the last substep crosses %g cells", kind, crossed);
        for (int y = 0; y < N; y++)
            for (int x = 0; x < N; x++)
                assert_true(held_at(l, x, y) < 1.5);
        und_levelset_destroy(l);
    }
    und_shape_destroy(shape);
    und_motion_destroy(motion);
}

/* A drain at the bottom takes what is in it, and what flows into it. */
static void a_drain_takes_what_comes(void **state)
{
    (void)state;
    und_shape *shape = box(0.4, -1, 0.6, 2 * DX);
    und_element_def drain = {.role = UND_ELEMENT_DRAIN, .shape = shape, .end = INFINITY};
    und_levelset_def def = half_full(&drain, 1, 0);
    und_ledger ledger = run(&def);
    double held = 0.2 * 2 * DX * DX;
    assert_true(ledger.drains > 2 * held && ledger.sources == 0);
    assert_true(ledger.measured < ledger.start - 2 * held);
    const double flies = ledger.spray_out - ledger.spray_back;
    assert_double_near(ledger.start - ledger.drains - flies + ledger.correction, ledger.measured, 1e-12);
    def.keep_volume = false; /* what is missing is what the ledger says was drained */
    ledger = run(&def);
    assert_double_near(ledger.correction, 0, 0.1 * ledger.drains);
    und_shape_destroy(shape);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_source_brings_its_area_times_its_speed),
                                       cmocka_unit_test(a_source_in_the_air_loses_nothing),
                                       cmocka_unit_test(a_thin_source_of_a_changing_speed_brings_its_flow),
                                       cmocka_unit_test(a_source_shorter_than_a_step_brings_its_flow),
                                       cmocka_unit_test(a_slow_source_brings_its_flow_whatever_the_step),
                                       cmocka_unit_test(a_jet_from_a_side_has_its_sources_speed),
                                       cmocka_unit_test(a_source_in_an_empty_domain_is_cut_into_steps),
                                       cmocka_unit_test(a_drain_takes_what_comes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
