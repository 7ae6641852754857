/* Columns and pipes: the volume model against what is known of it. */
#include "tests/columns_model.h"

#include "liquid/columns_state.h"
#include "liquid/liquid.h"

#include <math.h>
#include <stdlib.h>

static und_columns_def tank(int nx, int nz, double dx, double depth)
{
    und_columns_def def = und_columns_def_default();
    def.height_field.nx = nx;
    def.height_field.nz = nz;
    def.height_field.dx = dx;
    def.height_field.ground.number = -depth;
    def.height_field.threads = 1;
    return def;
}

static double mode_surface(const void *context, double x, double y, double z, double t)
{
    const und_columns_def *def = context;
    (void)y, (void)z, (void)t;
    return 1e-6 * cos(2 * M_PI * x / (def->height_field.nx * def->height_field.dx));
}

/* |lambda| of h(n + 1) = T h(n) - |lambda|^2 h(n - 1), from four heights in a row. */
static double growth(und_marker_flow_rule flow, double smoothing, double dt, double *w_dt)
{
    und_columns_def def = tank(32, 3, 0.1, 0.5);
    def.smoothing = smoothing;
    def.height_field.surface = (und_value){.fn = mode_surface, .context = &def};
    def.flow = flow;
    und_columns *columns = make(&def);
    double h[4], k = 2 * M_PI / 3.2;
    for (int i = 0; i < 4; i++) {
        h[i] = und_columns_surface(columns, 0, 1);
        und_columns_step(columns, dt);
    }
    und_columns_destroy(columns);
    *w_dt = 2 / 0.1 * sin(0.05 * k) * sqrt(9.81 * 0.5) * dt;
    return sqrt((h[2] * h[2] - h[3] * h[1]) / (h[1] * h[1] - h[2] * h[0]));
}

static void printed_rule_grows(void **state)
{
    (void)state;
    double w_dt;
    for (double dt = 0.005; dt < 0.03; dt *= 2) {
        double printed = growth(UND_FLOW_MEAN, 0, dt, &w_dt);
        assert_double_near(printed, sqrt(1 + 0.5 * w_dt * w_dt), 2e-5);
        assert_true(printed > 1 + 0.2 * w_dt * w_dt);
        assert_double_near(growth(UND_FLOW_NEW, 0, dt, &w_dt), 1, 2e-5);
        assert_double_near(growth(UND_FLOW_NEW, 0.2, dt, &w_dt), sqrt(1 - 0.2 * w_dt * w_dt), 2e-5);
    }
}

static double step_surface(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return x < 3 && z < 3 ? 2 : -2;
}

static double rough_ground(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return 0.4 * sin(2.1 * x) * cos(1.7 * z) + 0.05 * (x - 4) * (x - 4) - 0.5;
}

/* No setting blows up: depth, cell, frame rate and gravity over many orders. */
static void nothing_blows_up(void **state)
{
    (void)state;
    const double depths[] = {1e-3, 1, 1e3}, cells[] = {1e-2, 1, 100}, steps[] = {1e-4, 1.0 / 24, 10};
    for (int i = 0; i < 27; i++) {
        double depth = depths[i % 3], dx = cells[i / 3 % 3], dt = steps[i / 9];
        if (dt / dx * sqrt(9.81 * depth) > 3000)
            continue; /* many steps, no new case */
        und_columns_def def = tank(12, 9, dx, depth);
        und_columns *columns = make(&def);
        columns->depth[und_columns_at(columns, 5, 4)] *= 2;
        double before = und_height_field_volume(&columns->height_field);
        for (int n = 0; n < 5; n++)
            und_columns_step(columns, dt);
        for (int z = 0; z < 9; z++)
            for (int x = 0; x < 12; x++) {
                assert_true(und_columns_depth(columns, x, z) >= 0);
                assert_true(und_columns_depth(columns, x, z) <= 3 * depth);
            }
        assert_double_near(und_columns_ledger(columns).measured / before, 1, 1e-13);
        und_columns_destroy(columns);
    }
}

/* No water is faster than a column a step, also where pipes at its edge fall dry. */
static void check_speeds(const und_columns *columns)
{
    for (int z = 0; z < columns->nz; z++)
        for (int x = 0; x < columns->nx; x++) {
            double speed[2];
            und_columns_speed(columns, x, z, speed);
            for (int k = 0; k < 2; k++)
                assert_true(fabs(speed[k]) <= columns->height_field.grid.dx / columns->dt);
        }
}

/* A dam break over rough, partly dry ground: no column is ever below zero, nothing is lost, and the rounds of
 * scaling back stay within their bound. */
static void columns_are_never_overdrawn(void **state)
{
    (void)state;
    und_columns_def def = tank(80, 70, 0.1, 1);
    def.height_field.ground = (und_value){.fn = rough_ground};
    def.height_field.surface = (und_value){.fn = step_surface};
    und_columns *columns = make(&def);
    for (int n = 0; n < 300; n++) {
        und_columns_step(columns, 1.0 / 60);
        for (int z = 0; z < 70; z++)
            for (int x = 0; x < 80; x++)
                assert_true(und_columns_depth(columns, x, z) >= 0);
        check_speeds(columns);
    }
    und_ledger ledger = und_columns_ledger(columns);
    assert_double_near(ledger.measured / ledger.start, 1, 1e-13);
    assert_true(columns->rounds >= 2 && columns->rounds <= 5);
    und_columns_destroy(columns);
}

/* Mirroring the scene mirrors the result: scaling back has no preferred direction. */
static double mirrored_surface(const void *context, double x, double y, double z, double t)
{
    return step_surface(NULL, 8 - x, y, *(const int *)context ? 7 - z : z, t);
}
static double mirrored_ground(const void *context, double x, double y, double z, double t)
{
    return rough_ground(NULL, 8 - x, y, *(const int *)context ? 7 - z : z, t);
}

static void no_direction_is_preferred(void **state)
{
    (void)state;
    for (int both = 0; both < 2; both++) { /* x alone, which swaps the diagonals, and x and z */
        und_columns_def def = tank(80, 70, 0.1, 1), other = def;
        def.height_field.ground = (und_value){.fn = rough_ground};
        def.height_field.surface = (und_value){.fn = step_surface};
        other.height_field.ground = (und_value){.fn = mirrored_ground, .context = &both};
        other.height_field.surface = (und_value){.fn = mirrored_surface, .context = &both};
        und_columns *a = make(&def), *b = make(&other);
        for (int n = 0; n < 30; n++) {
            und_columns_step(a, 1.0 / 60);
            und_columns_step(b, 1.0 / 60);
        }
        for (int z = 0; z < 70; z++)
            for (int x = 0; x < 80; x++)
                assert_double_near(und_columns_depth(a, x, z),
                                   und_columns_depth(b, 79 - x, both ? 69 - z : z), 1e-5);
        und_columns_destroy(a);
        und_columns_destroy(b);
    }
}

/* A step depends on the state alone, also after one whose last round of scaling back was needed: a narrow
 * channel into which drops fall, run on and begun again. */
static double channel_ground(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)y, (void)t;
    return -0.3 + (z > 6 ? 0.5 * (z - 6) : 0);
}
static double channel_surface(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)y, (void)t;
    return z < 2.3 ? 1.5 : -2;
}

static void steps_depend_on_the_state_alone(void **state)
{
    (void)state;
    und_drop_def drops[20];
    for (int i = 0; i < 20; i++)
        drops[i] = (und_drop_def){.time = 0.1 * (i + 1),
                                  .center = {(7 + i * 5) % 3 * 0.1, 0, (3 + i * 11) % 80 * 0.1},
                                  .radius = 0.4 + 0.1 * (i % 4),
                                  .volume = 0.2};
    und_columns_def def = tank(3, 80, 0.1, 1);
    def.height_field.ground = (und_value){.fn = channel_ground};
    def.height_field.surface = (und_value){.fn = channel_surface};
    def.height_field.drop_count = 20;
    def.height_field.drops = drops;
    und_columns *on = make(&def);
    for (int n = 0; n < 120; n++) {
        und_frame kept = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        und_columns *again = make(&def);
        und_liquid *liquid = und_columns_liquid(again);
        hash_of(on, &kept);
        assert_int_equal(liquid->class->restore(liquid, &kept, NULL), UND_OK);
        und_columns_step(on, 1.0 / 60);
        und_columns_step(again, 1.0 / 60);
        assert_true(hash_of(on, NULL) == hash_of(again, NULL));
        und_columns_destroy(again);
        und_frame_clear(&kept);
    }
    assert_int_equal(on->rounds, 5);
    und_columns_destroy(on);
}

/* An open edge brings a dry bed up to the level outside, however deep that is, and not beyond. */
static void open_edges_do_not_overshoot(void **state)
{
    (void)state;
    const double beds[] = {1, 100};
    for (int i = 0; i < 2; i++) {
        und_columns_def def = tank(40, 3, 0.1, beds[i]);
        def.height_field.surface.number = -beds[i];
        def.height_field.edge[UND_LOW_X].kind = UND_EDGE_OPEN;
        def.height_field.edge[UND_LOW_X].has_level = true;
        und_columns *columns = make(&def);
        double highest = -INFINITY;
        for (int n = 0; n < 100; n++) {
            und_columns_step(columns, 1.0 / 24);
            highest = fmax(highest, und_columns_surface(columns, 0, 1));
        }
        assert_true(highest > -0.5 * beds[i] && highest < 0.05 * beds[i]);
        und_columns_destroy(columns);
    }
}

static void same_bits_with_any_threads(void **state)
{
    (void)state;
    uint64_t hash[3];
    const int threads[3] = {1, 2, 7};
    for (int i = 0; i < 3; i++) {
        und_columns_def def = tank(300, 250, 0.1, 1);
        def.height_field.ground = (und_value){.fn = rough_ground};
        def.height_field.surface = (und_value){.fn = step_surface};
        def.height_field.threads = threads[i];
        def.spray.on = true;
        def.spray.threshold = 0.5;
        und_columns *columns = make(&def);
        for (int n = 0; n < 20; n++)
            und_columns_step(columns, 1.0 / 60);
        if (i == 0)
            assert_true(und_columns_spray_count(columns) > 10);
        hash[i] = hash_of(columns, NULL);
        und_columns_destroy(columns);
    }
    assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
}

/* High waves stay as smooth as they were: no step is so long that they feed the finest. */
static double hump_surface(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return 0.15 * exp(-((x - 0.7) * (x - 0.7) + (z - 0.9) * (z - 0.9)) / 0.09);
}

static double roughness(const und_columns *columns, int n)
{
    double sum = 0;
    for (int z = 1; z < n - 1; z++)
        for (int x = 1; x < n - 1; x++) {
            double off = 4 * und_columns_surface(columns, x, z) - und_columns_surface(columns, x - 1, z) -
                         und_columns_surface(columns, x + 1, z) - und_columns_surface(columns, x, z - 1) -
                         und_columns_surface(columns, x, z + 1);
            sum += off * off;
        }
    return sqrt(sum);
}

static void high_waves_stay_smooth(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        und_columns_def def = tank(40, 40, 0.05, 0.5);
        def.height_field.surface = (und_value){.fn = hump_surface};
        und_columns *columns = make(&def);
        double before = roughness(columns, 40), dt = 0.0150 + 0.001 * i; /* around the longest */
        while (und_columns_time(columns) < 60)
            und_columns_step(columns, dt);
        assert_true(roughness(columns, 40) < 3 * before);
        und_columns_destroy(columns);
    }
}

/* A set flow at an edge: sources and sinks, to rounding. */
static void edges_let_in_what_is_set(void **state)
{
    (void)state;
    und_columns_def def = tank(20, 10, 0.5, 1);
    def.height_field.edge[UND_LOW_X].kind = UND_EDGE_FLOW;
    def.height_field.edge[UND_LOW_X].rate.number = 0.2; /* m2/s over 5 m */
    def.height_field.edge[UND_HIGH_X].kind = UND_EDGE_FLOW;
    def.height_field.edge[UND_HIGH_X].rate.number = -0.05;
    und_columns *columns = make(&def);
    for (int n = 0; n < 100; n++)
        und_columns_step(columns, 0.1);
    und_ledger ledger = und_columns_ledger(columns);
    assert_double_near(ledger.measured, 50 + (0.2 - 0.05) * 5 * 10, 1e-9);
    assert_double_near(und_ledger_expected(&ledger), ledger.measured, 1e-10);
    und_columns_destroy(columns);
}

/* A pulse that meets an open edge leaves: little of it is still there when it would be back. */
static double pulse_surface(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return 0.001 * exp(-(x - 5) * (x - 5) / 0.5);
}

/* What comes back of it, relative to a half of the pulse. */
static double reflected(int nx)
{
    und_columns_def def = tank(nx, 1, 10.0 / nx, 1);
    def.height_field.edge[UND_LOW_X].kind = def.height_field.edge[UND_HIGH_X].kind = UND_EDGE_OPEN;
    def.height_field.surface = (und_value){.fn = pulse_surface};
    und_columns *columns = make(&def);
    und_columns_step(columns, 3); /* 9.4 m: it would be back near the middle */
    double largest = 0;
    for (int x = 0; x < nx; x++)
        largest = fmax(largest, fabs(und_columns_surface(columns, x, 0)));
    und_ledger ledger = und_columns_ledger(columns);
    assert_double_near(und_ledger_expected(&ledger), ledger.measured, 1e-12);
    und_columns_destroy(columns);
    return largest / 0.0005;
}

/* The edge is half a cell and half a step off: first order. */
static void open_edges_let_waves_out(void **state)
{
    (void)state;
    double coarse = reflected(200), fine = reflected(400);
    assert_true(coarse < 0.01);
    assert_true(fine < 0.6 * coarse);
}

/* A frame right after a restore is the frame that was there, with the water's velocity. */
static void restored_frames_are_the_same(void **state)
{
    (void)state;
    und_columns_def def = tank(30, 20, 0.2, 1);
    def.height_field.surface = (und_value){.fn = step_surface};
    def.velocity = true;
    und_columns *on = make(&def), *again = make(&def);
    und_frame kept = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}}),
              a = kept, b = kept;
    for (int n = 0; n < 5; n++)
        und_columns_step(on, 1.0 / 60);
    hash_of(on, &kept);
    und_liquid *first = und_columns_liquid(on), *second = und_columns_liquid(again);
    assert_int_equal(second->class->restore(second, &kept, NULL), UND_OK);
    assert_int_equal(first->class->frame(first, &a, NULL), UND_OK);
    assert_int_equal(second->class->frame(second, &b, NULL), UND_OK);
    const float *speed = und_frame_find(&a, "velocity_x")->data;
    double fastest = 0;
    for (int k = 0; k < 30 * 20; k++)
        fastest = fmax(fastest, fabs((double)speed[k]));
    assert_true(fastest > 0.1 && fastest < 100);
    assert_true(und_frame_hash(&a, 1) == und_frame_hash(&b, 1));
    und_frame_clear(&kept);
    und_frame_clear(&a);
    und_frame_clear(&b);
    und_columns_destroy(on);
    und_columns_destroy(again);
}

/* Equation 10: a control point is the mean of its four columns. */
static double tilted_surface(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return 0.1 * x + 0.2 * z;
}

static void control_points_are_means(void **state)
{
    (void)state;
    und_columns_def def = tank(8, 6, 0.5, 1);
    def.height_field.surface = (und_value){.fn = tilted_surface};
    und_columns *columns = make(&def);
    assert_double_near(und_columns_control(columns, 2, 3), 0.1 * 3 * 0.5 + 0.2 * 4 * 0.5, 1e-12);
    assert_double_near(und_columns_control(columns, -1, 3), 0.1 * 0.25 + 0.2 * 4 * 0.5, 1e-12);
    und_columns_destroy(columns);
}

static void wrong_defs_are_refused(void **state)
{
    (void)state;
    und_error err;
    und_columns_def def = tank(8, 8, 0.1, 1);
    def.pipe_depth = 0;
    assert_null(und_columns_create(&def, &err));
    assert_int_equal(err.status, UND_INVALID);
    def = tank(8, 8, 0.1, 1);
    def.diagonal = NAN;
    assert_null(und_columns_create(&def, &err));
    def = tank(1, 8, 0.1, 1);
    assert_null(und_columns_create(&def, &err));
    def = tank(8, 8, 0.1, 1);
    def.spray.on = true;
    def.spray.radius[0] = 0;
    assert_null(und_columns_create(&def, &err));
    assert_non_null(strstr(err.text, "spray"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(printed_rule_grows),
        cmocka_unit_test(nothing_blows_up),
        cmocka_unit_test(columns_are_never_overdrawn),
        cmocka_unit_test(no_direction_is_preferred),
        cmocka_unit_test(steps_depend_on_the_state_alone),
        cmocka_unit_test(open_edges_do_not_overshoot),
        cmocka_unit_test(same_bits_with_any_threads),
        cmocka_unit_test(edges_let_in_what_is_set),
        cmocka_unit_test(open_edges_let_waves_out),
        cmocka_unit_test(restored_frames_are_the_same),
        cmocka_unit_test(control_points_are_means),
        cmocka_unit_test(wrong_defs_are_refused),
        cmocka_unit_test(high_waves_stay_smooth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
