/* What comes and goes, and what the water carries. */
#include "tests/waves_model.h"

#include "geom/motion.h"
#include "geom/shape.h"

static und_frame frame_of(und_waves *w)
{
    und_error err;
    und_frame frame = und_frame_empty(0, 0, (und_grid){0});
    assert_int_equal(und_waves_liquid(w)->class->frame(und_waves_liquid(w), &frame, &err), UND_OK);
    return frame;
}

static und_waves_def height_field(void)
{
    und_waves_def def = und_waves_def_default();
    def.height_field.nx = 60;
    def.height_field.nz = 50;
    def.height_field.threads = 1;
    return def;
}

static void springs_and_drains_move_what_they_say(void **state)
{
    (void)state;
    und_shape box = {.kind = UND_BOX, .center = {4, 0, 2}, .half = {0.5, 0.2, 0.5}};
    const und_source_def sources[] = {
        {.center = {1, 0, 1}, .radius = 0.4, .rate = {.number = 0.3}, .start = 0.5, .end = 2.25},
        {.shape = &box, .rate = {.number = -0.2}, .start = 1, .end = INFINITY},
        {.center = {3, 0, 4}, .radius = 0.001, .rate = {.number = 0.01}, .end = INFINITY}};
    und_waves_def def = height_field();
    def.height_field.sources = sources;
    def.height_field.source_count = 3;
    und_waves *w = make(&def);
    run(w, 100, 0.03); /* until 3 s */
    und_ledger ledger = und_waves_ledger(w);
    assert_double_near(ledger.sources, 0.3 * 1.75 + 0.01 * 3, 1e-12);
    assert_double_near(ledger.drains, 0.2 * 2, 1e-12);
    ledger_closes(w, 1e-13);
    und_waves_destroy(w);
}

static void a_drain_takes_no_more_than_there_is(void **state)
{
    (void)state;
    const und_source_def drain = {
        .center = {3, 0, 2}, .radius = 1, .rate = {.number = -1000}, .end = INFINITY};
    und_waves_def def = height_field();
    def.height_field.sources = &drain;
    def.height_field.source_count = 1;
    und_waves *w = make(&def);
    run(w, 400, 1 / 30.0);
    und_ledger ledger = und_waves_ledger(w);
    assert_true(ledger.measured >= 0 && ledger.measured < 0.6 * ledger.start);
    assert_true(ledger.drains <= ledger.start * (1 + 1e-12));
    ledger_closes(w, 1e-13);
    und_waves_destroy(w);
}

static void drops_add_their_volume(void **state)
{
    (void)state;
    const und_drop_def drops[] = {{.time = 0.1, .center = {2, 0, 2}, .radius = 0.5, .volume = 0.02},
                                  {.time = 0.4, .center = {0, 0, 0}, .radius = 0.5, .volume = 0.01},
                                  {.time = 0.5, .center = {3, 0, 3}, .radius = 0, .volume = 0.003},
                                  {.time = 9, .center = {3, 0, 3}, .radius = 1, .volume = 1}};
    und_waves_def def = height_field();
    def.height_field.drops = drops;
    def.height_field.drop_count = 4;
    und_waves *w = make(&def);
    run(w, 30, 1 / 30.0);
    assert_double_near(und_waves_ledger(w).sources, 0.033, 1e-14);
    ledger_closes(w, 1e-13);
    und_waves_destroy(w);
}

static void rain_adds_whole_drops_at_its_rate(void **state)
{
    (void)state;
    und_waves_def def = height_field();
    def.height_field.rain = (und_rain_def){.on = true,
                                           .rate = {.number = 40},
                                           .radius = 0.01,
                                           .splash = 0.2,
                                           .top = 3,
                                           .speed = 6,
                                           .wind = {1, -0.5},
                                           .start = 0.2,
                                           .end = 4};
    und_waves *w = make(&def);
    run(w, 300, 1 / 50.0); /* 6 s: all have landed */
    double volume = 4.0 / 3.0 * M_PI * 1e-6, drops = und_waves_ledger(w).sources / volume;
    assert_double_near(drops, round(drops), 1e-6);
    double expected =
        40 * 30 * 3.8; /* per m2 and second, 6 x 5 m, 3.8 s; the wind blows some past the edge */
    assert_true(drops > 0.93 * expected && drops <= expected);
    ledger_closes(w, 1e-13);
    und_frame frame = frame_of(w);
    assert_int_equal(und_frame_find(&frame, "rain/position")->dim[0], 0);
    und_frame_clear(&frame);
    und_waves_destroy(w);
}

/* One step would make 67 million drops, and a signal would wait for it. */
static void rain_has_a_measure(void **state)
{
    (void)state;
    und_waves_def def = height_field();
    def.height_field.rain =
        (und_rain_def){.on = true, .rate = {.number = 1e8}, .radius = 1e-4, .top = 3, .speed = 6, .end = 4};
    und_error err = {0};
    assert_null(und_waves_create(&def, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(
        strstr(err.text, "rain of 3e+09 drops a second on all of the water: expected at most 1e+08"));
}

static void stirring_adds_no_water_and_makes_waves(void **state)
{
    (void)state;
    const und_stir_def stir = {
        .center = {.constant = {3, 0, 2.5}}, .radius = 0.6, .amplitude = 0.2, .period = 0.8, .end = INFINITY};
    und_waves_def def = height_field();
    def.height_field.stirs = &stir;
    def.height_field.stir_count = 1;
    und_waves *w = make(&def);
    run(w, 60, 1 / 60.0);
    double most = 0;
    for (int x = 0; x < def.height_field.nx; x++)
        most = fmax(most, fabs(und_waves_surface(w, x, 25)));
    assert_true(most > 0.01 && most < 0.4);
    assert_double_near(und_waves_ledger(w).sources, 0, 0);
    ledger_closes(w, 1e-13);
    und_waves_destroy(w);
}

/* A constant pressure over one half pushes its water down by p / (rho g) against the other. */
static double half_pressure(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return x < 3 ? 1000 : 0;
}

static void pressure_is_balanced_by_height(void **state)
{
    (void)state;
    und_waves_def def = height_field();
    def.height_field.pressure.fn = half_pressure;
    def.height_field.damping = 1;
    und_waves *w = make(&def);
    run(w, 3000, 1 / 30.0);
    assert_double_near(und_waves_surface(w, 50, 20) - und_waves_surface(w, 5, 20), 1000 / (1000 * 9.81),
                       1e-4);
    ledger_closes(w, 1e-13);
    und_waves_destroy(w);
}

/* The object of the next test half-way to its second key, as a frame has it. */
static void expect_object(und_waves *w)
{
    und_frame frame = frame_of(w);
    static const char *const name[] = {"bodies/position", "bodies/velocity", "bodies/spin"};
    static const double known[3][3] = {{3, -0.1, 2.5}, {3, -0.2, 0}, {0, 0, 0}};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            assert_double_near(((const float *)und_frame_find(&frame, name[i])->data)[k], known[i][k], 1e-6);
    const und_item *mesh = und_frame_find(&frame, "bodies/mesh_position");
    assert_true(mesh->is_static && mesh->dim[0] > 1000);
    assert_int_equal(((const int32_t *)und_frame_find(&frame, "bodies/mesh_first")->data)[1], mesh->dim[0]);
    und_frame_clear(&frame);
}

static void objects_push_water_and_keep_it(void **state)
{
    (void)state;
    und_error err;
    und_shape ball = {.kind = UND_SPHERE, .radius = 0.5};
    const und_key keys[] = {{.time = 0, .position = {1.5, 0, 2.5}},
                            {.time = 1, .position = {4.5, -0.2, 2.5}},
                            {.time = 2, .position = {4.5, 3, 2.5}}};
    und_motion *motion = und_motion_create(keys, 3, UND_EASE_LINEAR, &err);
    const und_object_def object = {.shape = &ball, .motion = motion};
    und_waves_def def = height_field();
    def.objects = &object;
    def.object_count = 1;
    und_waves *w = make(&def);
    double cells = 6 * 5 * 1.0, half_ball = 2.0 / 3.0 * M_PI * 0.125;
    assert_double_near(und_waves_ledger(w).start, cells - half_ball, 0.02 * half_ball);
    for (int x = 0; x < def.height_field.nx; x++) /* level at the start, around and above it */
        assert_double_near(und_waves_surface(w, x, 25), 0, 1e-6);
    run(w, 30, 1 / 60.0);
    double front = -1, behind = 1; /* the ball is at x = 3 */
    for (int x = 0; x < def.height_field.nx; x++) {
        double h = und_waves_surface(w, x, 25);
        front = x > 30 ? fmax(front, h) : front;
        behind = x < 30 ? fmin(behind, h) : behind;
    }
    assert_true(front > 0.05 && behind < -0.05);
    expect_object(w);
    run(w, 600, 1 / 60.0); /* it is lifted out: all the water lies on the bare bed again */
    ledger_closes(w, 1e-13);
    for (int z = 0; z < def.height_field.nz; z++)
        for (int x = 0; x < def.height_field.nx; x++)
            assert_double_near(und_waves_ground(w, x, z), -1, 0);
    und_waves_destroy(w);
    und_motion_destroy(motion);
}

/* A still object displaces its weight's worth of nothing: water at rest around it stays at rest. */
static void water_rests_around_a_still_object(void **state)
{
    (void)state;
    und_shape box = {.kind = UND_BOX, .center = {3, 0, 2.5}, .half = {0.8, 0.4, 0.6}};
    const und_object_def object = {.shape = &box};
    und_waves_def def = height_field();
    def.objects = &object;
    def.object_count = 1;
    und_waves *w = make(&def);
    run(w, 200, 1 / 30.0);
    for (int z = 0; z < def.height_field.nz; z++)
        for (int x = 0; x < def.height_field.nx; x++)
            assert_double_near(und_waves_surface(w, x, z), 0, 1e-6);
    ledger_closes(w, 1e-13);
    und_waves_destroy(w);
}

static double slope(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return -0.5 - 0.02 * x;
}

static void a_river_comes_in_and_falls_off(void **state)
{
    (void)state;
    und_waves_def def = height_field();
    def.height_field.nx = 100;
    def.height_field.nz = 10;
    def.height_field.ground.fn = slope;
    def.height_field.surface.number = -10;
    def.height_field.damping = 0.5;
    def.height_field.edge[UND_LOW_X] = (und_edge_def){.kind = UND_EDGE_FLOW, .rate = {.number = 0.1}};
    def.height_field.edge[UND_HIGH_X].kind = UND_EDGE_FALL;
    und_waves *w = make(&def);
    run(w, 6000, 1 / 60.0);
    und_ledger first = und_waves_ledger(w);
    assert_double_near(first.sources, 0.1 * 1.0 * 100, 1e-9); /* per metre, 1 m wide, 100 s */
    run(w, 1200, 1 / 60.0);
    und_ledger second = und_waves_ledger(w);
    assert_double_near((second.left - first.left) / 20, 0.1, 0.005); /* what comes in goes out */
    ledger_closes(w, 1e-13);
    und_waves_destroy(w);
}

static double half_cosine(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return 0.01 * cos(M_PI * x / 10);
}

/* A seiche moves the water along by (a / k d) sin(k x) (1 - cos w t): there and back. */
static void the_water_carries_what_is_in_it(void **state)
{
    (void)state;
    und_waves_def def = height_field();
    def.height_field.nx = 200;
    def.height_field.nz = 1;
    def.height_field.dx = 0.05;
    def.height_field.surface.fn = half_cosine;
    def.order = 2;
    def.texture = true;
    und_waves *w = make(&def);
    double k = M_PI / 10, period = 2 * M_PI / (k * sqrt(9.81)), dt = period / 800;
    run(w, 400, dt);
    und_frame frame = frame_of(w);
    const float *u = und_frame_find(&frame, "texture_u")->data;
    const float *speed = und_frame_find(&frame, "velocity_x")->data;
    /* The surface swings from one end to the other: 2 a / (k d) in the middle, then at rest. */
    assert_double_near(5.025 - u[100], 2 * 0.01 / k, 0.03 * 0.02 / k);
    assert_double_near(speed[100], 0, 1e-3);
    und_frame_clear(&frame);
    run(w, 400, dt);
    frame = frame_of(w);
    u = und_frame_find(&frame, "texture_u")->data;
    assert_double_near(5.025 - u[100], 0, 0.03 * 0.02 / k);
    und_frame_clear(&frame);
    und_waves_destroy(w);
}

/* The recovered flows differ from cell to cell by the change of volume. */
static void flows_account_for_the_change_of_height(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        und_waves_def def = height_field();
        def.height_field.nz = 1;
        def.height_field.nx = 100;
        def.height_field.surface.fn = half_cosine;
        def.velocity = true;
        def.order = order;
        und_waves *w = make(&def);
        double dt = 1 / 60.0, moved = 0, before[100];
        run(w, 50, dt);
        for (int x = 0; x < 100; x++)
            before[x] = und_waves_surface(w, x, 0);
        run(w, 1, dt);
        und_frame frame = frame_of(w);
        const float *speed = und_frame_find(&frame, "velocity_x")->data;
        double flow = 0, worst = 0;
        for (int x = 0; x < 99; x++) {
            flow -= (und_waves_surface(w, x, 0) - before[x]) * def.height_field.dx /
                    dt; /* through the face at high x */
            double mean = 0.5 * (speed[x] * (1 + und_waves_surface(w, x, 0)) +
                                 speed[x + 1] * (1 + und_waves_surface(w, x + 1, 0)));
            worst = fmax(worst, fabs(mean - flow));
            moved = fmax(moved, fabs(flow));
        }
        /* The second order's flow is at the end of the step, the change over it. */
        assert_true(moved > 1e-3 && worst < (order == 1 ? 0.002 : 0.03) * moved);
        und_frame_clear(&frame);
        und_waves_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(springs_and_drains_move_what_they_say),
        cmocka_unit_test(a_drain_takes_no_more_than_there_is),
        cmocka_unit_test(drops_add_their_volume),
        cmocka_unit_test(rain_adds_whole_drops_at_its_rate),
        cmocka_unit_test(rain_has_a_measure),
        cmocka_unit_test(stirring_adds_no_water_and_makes_waves),
        cmocka_unit_test(pressure_is_balanced_by_height),
        cmocka_unit_test(objects_push_water_and_keep_it),
        cmocka_unit_test(water_rests_around_a_still_object),
        cmocka_unit_test(a_river_comes_in_and_falls_off),
        cmocka_unit_test(the_water_carries_what_is_in_it),
        cmocka_unit_test(flows_account_for_the_change_of_height),
    };
    return cmocka_run_group_tests_name("waves sources", tests, NULL, NULL);
}
