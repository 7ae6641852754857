/* Floating bodies against formulas: Archimedes, bobbing, sinking and rising, drifting and spinning with the
 * liquid, bumps into solid cells and each other, and the same bits at any number of threads and after a
 * checkpoint. */
#include "tests/body.h"
#include "tests/frame_item.h"
#include "tests/still_tank.h"

#include "bodies/floating_bodies.h"

static const double pi = 3.14159265358979323846, g = 9.81;

static und_shape ball(double radius)
{
    return (und_shape){.kind = UND_SPHERE, .radius = radius};
}

static und_floating_bodies *make(const und_body_def *bodies, int count, double damping, int threads,
                                 const und_frame *frame)
{
    und_error err = {0};
    und_floating_bodies_def def = und_floating_bodies_def_default();
    def.body_count = count;
    def.bodies = bodies;
    def.damping = damping;
    def.threads = threads;
    und_floating_bodies *s = und_floating_bodies_create(&def, frame, &err);
    if (!s)
        fail_msg("%s", err.text);
    return s;
}

/* Frames 1/24 s apart. */
static void advance(und_floating_bodies *s, const tank *t, int first, int count)
{
    for (int i = 0; i < count; i++) {
        und_error err = {0};
        und_frame f = tank_frame(t, first + i, (first + i) / 24.0);
        if (und_floating_bodies_advance(s, &f, &err) != UND_OK)
            fail_msg("%s", err.text);
        und_frame_clear(&f);
    }
}

static und_floating_bodies *start(const tank *t, const und_body_def *bodies, int count, double damping,
                                  int threads)
{
    und_frame f = tank_frame(t, 0, 0);
    und_floating_bodies *s = make(bodies, count, damping, threads, &f);
    und_frame_clear(&f);
    return s;
}

static und_body_state after(const tank *t, const und_body_def *def, double damping, int frames)
{
    und_floating_bodies *s = start(t, def, 1, damping, 1);
    advance(s, t, 1, frames);
    und_body_state now = und_bodies_state(und_floating_bodies_bodies(s), 0);
    und_floating_bodies_destroy(s);
    return now;
}

/* ---- Archimedes ---- */

/* The draft of a body in still water whose lowest point is `below` its origin. */
static double draft(const tank *t, const und_shape *shape, double density, const double turn[3], double below)
{
    und_body_def def = body(shape, density, 0.503, t->level + 0.3 * below, 0.491);
    memcpy(def.rotation, turn, sizeof def.rotation);
    und_body_state now = after(t, &def, 20, 96);
    assert_double_near(now.velocity[1], 0, 1e-4);
    return t->level - (now.position[1] - below);
}

static void test_draft(void **state)
{
    (void)state;
    /* density relative to the liquid; drafts over the radius: sphere, lying cylinder; over the height: box */
    static const double rows[][4] = {{0.1, 0.3916002113, 0.3129511739, 0.1},
                                     {0.3, 0.7265149822, 0.6803084902, 0.3},
                                     {0.5, 1, 1, 0.5},
                                     {0.7, 1.273485018, 1.31969151, 0.7},
                                     {0.9, 1.608399789, 1.687048826, 0.9}};
    const double r = 0.13, lying[3] = {90, 0, 0}, upright[3] = {0, 0, 0};
    und_shape sphere = ball(r), tube = {.kind = UND_CYLINDER, .radius = r, .half = {0, 2 * r, 0}};
    und_shape raft = {.kind = UND_BOX, .half = {2 * r, 0.5 * r, 1.5 * r}};
    for (int i = 0; i < test_cases(sizeof rows / sizeof *rows, 1); i++) {
        tank t = small_tank(12, 1, 0.487);
        double density = 1000 * rows[i][0];
        assert_double_near(draft(&t, &sphere, density, upright, r) / r, rows[i][1], 0.01);
        assert_double_near(draft(&t, &tube, density, lying, r) / r, rows[i][2], 0.01);
        assert_double_near(draft(&t, &raft, density, upright, 0.5 * r) / r, rows[i][3], 0.003);
    }
}

/* Without heights the surface is where the pressure is that of the air: at the middle of the Surface cells.
 */
static void test_draft_without_heights(void **state)
{
    (void)state;
    const double r = 0.13, upright[3] = {0, 0, 0};
    tank t = small_tank(12, 1, 6.5 / 12);
    und_shape sphere = ball(r);
    t.heights = false;
    assert_double_near(draft(&t, &sphere, 300, upright, r) / r, 0.7265149822, 0.01);
    assert_double_near(draft(&t, &sphere, 700, upright, r) / r, 1.273485018, 0.01);
}

/* The weight lost under water is that of the liquid displaced: a = g (1 / s - 1). */
static void test_sinks_and_rises(void **state)
{
    (void)state;
    tank t = small_tank(16, 2, 1.93);
    und_shape shapes[] = {ball(0.11),
                          {.kind = UND_BOX, .half = {0.2, 0.05, 0.1}},
                          {.kind = UND_CYLINDER, .radius = 0.1, .half = {0, 0.13, 0}},
                          {.kind = UND_CAPSULE, .radius = 0.05, .half = {0.1, 0.05, 0}}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int heavy = 0; heavy < 2; heavy++) {
            double s = heavy ? 2 : 0.5, a = g * (1 / s - 1);
            und_body_def def = body(&shapes[i], 1000 * s, 1.03, 1.01, 0.97);
            def.rotation[2] = 30;
            und_body_state now = after(&t, &def, 0, 5);
            assert_double_near(now.velocity[1], a * 5 / 24, 0.001 * fabs(a));
            for (int k = 0; k < 3; k++)
                assert_double_near(now.spin[k], 0, 1e-4);
        }
}

/* v = v_end (1 - exp(-t D / m)) with D = damping drag rho V, v_end = (rho V - m) g / D */
static void test_terminal_speed(void **state)
{
    (void)state;
    tank t = small_tank(16, 2, 1.93);
    und_shape sphere = ball(0.1);
    double s = 0.8, damping = 10, drag = 0.7, rate = damping * drag / s, end = g * (1 - s) / (damping * drag);
    und_body_def def = body(&sphere, 1000 * s, 1, 0.5, 1);
    def.drag = drag;
    und_body_state early = after(&t, &def, damping, 3), late = after(&t, &def, damping, 40);
    assert_double_near(early.velocity[1], end * (1 - exp(-rate * 3 / 24)), 0.01 * end);
    assert_double_near(late.velocity[1], end, 1e-3 * end);
}

/* However strong the damping, it does not throw a body about. */
static void test_strong_damping(void **state)
{
    (void)state;
    tank t = small_tank(8, 1, 0.9);
    und_shape sphere = ball(0.1);
    und_body_def def = body(&sphere, 10, 0.5, 0.4, 0.5);
    def.velocity[0] = 30;
    def.spin[1] = 100;
    und_body_state now = after(&t, &def, 1e9, test_cases(3, 1));
    assert_double_near(now.velocity[0], 0, 1e-3);
    assert_double_near(now.spin[1], 0, 1e-3);
    assert_true(now.position[0] < 0.6);
}

static void test_neutral_stays(void **state)
{
    (void)state;
    for (int heights = 0; heights < 2; heights++) {
        tank t = small_tank(10, 1, 0.87);
        und_shape pile = {.kind = UND_BOX, .half = {0.13, 0.07, 0.1}};
        t.heights = heights;
        und_body_def def = body(&pile, 1000, 0.47, 0.42, 0.55);
        def.rotation[0] = 20;
        def.rotation[2] = 35;
        und_body_state now = after(&t, &def, 5, 48);
        for (int k = 0; k < 3; k++) {
            assert_double_near(now.position[k], def.position[k], 1e-4);
            assert_double_near(now.velocity[k], 0, 1e-4);
        }
    }
}

/* A body half out of the water, pushed down a little, bobs at sqrt(rho g A / m): a box of draft D in 2 pi
 * sqrt(D / g), a sphere of half the liquid's density in 2 pi sqrt(2 R / 3 g). */
static double bobbing_period(const und_shape *shape, double below)
{
    tank t = small_tank(12, 1.2, 0.61);
    und_body_def def = body(shape, 500, 0.6, t.level - below, 0.6);
    und_floating_bodies *s = start(&t, &def, 1, 0, 1);
    double last = -1, crossed[2] = {0};
    int crossings = 0, wanted = 7;
    for (int i = 1; i < 800 && crossings < wanted; i++) {
        und_error err = {0};
        und_frame f = tank_frame(&t, i, i / 240.0);
        assert_int_equal(und_floating_bodies_advance(s, &f, &err), UND_OK);
        und_frame_clear(&f);
        double v = und_bodies_state(und_floating_bodies_bodies(s), 0).velocity[1];
        if (v * last < 0)
            crossed[crossings++ > 0] = (i - v / (v - last)) / 240.0;
        last = v;
    }
    und_floating_bodies_destroy(s);
    assert_int_equal(crossings, wanted);
    return 2 * (crossed[1] - crossed[0]) / (wanted - 1);
}

static void test_bobbing(void **state)
{
    (void)state;
    und_shape sphere = ball(0.15), block = {.kind = UND_BOX, .half = {0.2, 0.08, 0.2}};
    double t_sphere = 2 * pi * sqrt(2 * 0.15 / (3 * g)), t_block = 2 * pi * sqrt(0.08 / g);
    assert_double_near(bobbing_period(&sphere, 0.02), t_sphere, 0.01 * t_sphere);
    assert_double_near(bobbing_period(&block, 0.02), t_block, 0.01 * t_block);
}

/* ---- the flow ---- */

static double current(int axis, double x, double z)
{
    (void)x, (void)z;
    return axis == 0 ? 0.3 : axis == 2 ? -0.1 : 0;
}

static void test_drifts_with_the_current(void **state)
{
    (void)state;
    tank t = small_tank(10, 2, 1.03);
    und_shape sphere = ball(0.1);
    t.velocity = current;
    und_body_def def = body(&sphere, 1000, 0.4, 0.6, 1);
    und_body_state now = after(&t, &def, 5, 72);
    assert_double_near(now.velocity[0], 0.3, 1e-3);
    assert_double_near(now.velocity[2], -0.1, 1e-3);
    def = body(&sphere, 600, 0.4, 1.03, 1); /* at the surface it also comes to rest from rolling */
    now = after(&t, &def, 5, 72);
    assert_double_near(now.velocity[0], 0.3, 3e-3);
    assert_double_near(now.velocity[2], -0.1, 1e-3);
    /* behind by its velocity over the rate, which is that of drag 0.6, damping 5, density ratio 0.6 */
    assert_double_near(now.position[0], 0.4 + 0.3 * (3 - 1 / (5 * 0.6)), 0.05);
}

static const double turning = 0.8; /* rad/s about (1, 1) */

static double vortex(int axis, double x, double z)
{
    return axis == 0 ? turning * (z - 1) : axis == 2 ? -turning * (x - 1) : 0;
}

static void test_spins_in_a_vortex(void **state)
{
    (void)state;
    tank t = small_tank(16, 2, 1.5);
    und_shape plank = {.kind = UND_BOX, .half = {0.3, 0.06, 0.1}};
    t.velocity = vortex;
    und_body_def def = body(&plank, 1000, 1, 0.8, 1);
    und_body_state now = after(&t, &def, 5, 72);
    assert_double_near(now.spin[1], turning, 0.005 * turning);
    assert_double_near(now.position[0], 1, 1e-3);
    assert_double_near(now.position[2], 1, 1e-3);
}

/* A slope of the pressure moves a neutral body as it moves the liquid. */
static void test_pushed_by_pressure(void **state)
{
    (void)state;
    tank t = small_tank(10, 2, 1.6);
    und_shape sphere = ball(0.1);
    t.pressure_x = -250;
    und_body_def def = body(&sphere, 1000, 0.7, 0.8, 1);
    und_body_state now = after(&t, &def, 0, 24);
    assert_double_near(now.velocity[0], 0.25, 1e-4);
}

/* Between frames pressure goes linearly: v = a / 2 after a second in which the slope grows to rho a. */
static void test_linear_in_time(void **state)
{
    (void)state;
    tank t = small_tank(8, 2, 1.7);
    und_shape sphere = ball(0.1);
    und_body_def def = body(&sphere, 1000, 0.7, 0.8, 1);
    und_floating_bodies *s = start(&t, &def, 1, 0, 1);
    und_error err = {0};
    t.pressure_x = -300;
    und_frame f = tank_frame(&t, 1, 1);
    assert_int_equal(und_floating_bodies_advance(s, &f, &err), UND_OK);
    und_frame_clear(&f);
    assert_double_near(und_bodies_state(und_floating_bodies_bodies(s), 0).velocity[0], 0.15, 0.003);
    und_floating_bodies_destroy(s);
}

/* The first frame of a run is from before the pressure was found: bodies must not fall until the next. */
static void test_first_frame_without_pressure(void **state)
{
    (void)state;
    tank t = small_tank(8, 2, 1.7);
    und_shape sphere = ball(0.1);
    und_body_def def = body(&sphere, 1000, 0.7, 0.8, 1);
    und_frame f = tank_frame(&t, 0, 0);
    const und_item *p = und_frame_find(&f, "pressure");
    const uint8_t *label = und_frame_find(&f, "label")->data;
    for (size_t i = 0; i < und_item_count(p); i++)
        if (label[i] == UND_CELL_FULL)
            ((float *)p->data)[i] = 0;
    und_floating_bodies *s = make(&def, 1, 0, 1, &f);
    und_frame_clear(&f);
    advance(s, &t, 1, 1);
    assert_double_near(und_bodies_state(und_floating_bodies_bodies(s), 0).velocity[1], 0, 1e-4);
    und_floating_bodies_destroy(s);
}

/* ---- bumps ---- */

static bool pier(double x, double y, double z)
{
    (void)y, (void)z;
    return x > 1.2 && x < 1.4;
}

static double stream(int axis, double x, double z)
{
    (void)x, (void)z;
    return axis == 0 ? 0.5 : 0;
}

static void test_stops_at_solid_cells(void **state)
{
    (void)state;
    tank t = small_tank(10, 2, 1.03);
    und_shape shapes[] = {ball(0.1),
                          {.kind = UND_BOX, .half = {0.1, 0.05, 0.1}},
                          {.kind = UND_ELLIPSOID, .half = {0.1, 0.07, 0.1}}};
    t.velocity = stream;
    t.solid = pier;
    for (int i = 0; i < test_cases(sizeof shapes / sizeof *shapes, 1); i++) {
        und_body_def def = body(&shapes[i], 600, 0.5, 1.03, 0.9);
        und_body_state now = after(&t, &def, 5, 96);
        assert_double_near(now.position[0], 1.1, 0.003);
        assert_double_near(now.velocity[0], 0, 0.01);
    }
}

static bool step_of_cells(double x, double y, double z)
{
    (void)z;
    return y < 0.2 || (y < 0.4 && x > 1.4);
}

/* A heavy block slides over the seams of a floor made of cells, with nothing to stop it but the step. */
static void test_slides_over_seams(void **state)
{
    (void)state;
    tank t = small_tank(10, 2, 0.01);
    und_shape block = {.kind = UND_BOX, .half = {0.12, 0.06, 0.12}};
    t.solid = step_of_cells;
    und_body_def def = body(&block, 3000, 0.3, 0.26, 1.0);
    def.friction = 0;
    def.bounce = 0;
    def.velocity[0] = 1;
    und_body_state now = after(&t, &def, 5, 18);
    assert_double_near(now.position[0], 0.3 + 18 / 24.0, 0.002);
    assert_double_near(now.position[1], 0.26, 0.002);
    now = after(&t, &def, 5, 48);
    assert_double_near(now.position[0], 1.4 - 0.12, 0.003);
    assert_double_near(now.position[1], 0.26, 0.002);
}

static void test_rests_on_the_floor_and_walls(void **state)
{
    (void)state;
    tank t = small_tank(10, 2, 1.03);
    und_shape sphere = ball(0.1);
    t.d[2] = 0.1; /* cells need not be cubes */
    t.velocity = stream;
    und_body_def def = body(&sphere, 2000, 0.5, 0.5, 0.9);
    def.velocity[2] = 1;
    def.friction = 0;
    und_body_state now = after(&t, &def, 5, 240);
    assert_double_near(now.position[0], 1.9, 0.003);
    assert_double_near(now.position[1], 0.1, 0.003);
    assert_true(now.position[2] <= 0.903);
}

static void test_bodies_bump_into_each_other(void **state)
{
    (void)state;
    tank t = small_tank(10, 2, 1.03);
    und_shape sphere = ball(0.1);
    und_body_def defs[2] = {body(&sphere, 500, 0.6, 1.03, 1), body(&sphere, 500, 1.0, 1.03, 1)};
    defs[0].velocity[0] = 1;
    und_floating_bodies *s = start(&t, defs, 2, 0, 1);
    advance(s, &t, 1, 24);
    und_body_state a = und_bodies_state(und_floating_bodies_bodies(s), 0),
                   b = und_bodies_state(und_floating_bodies_bodies(s), 1);
    assert_true(b.position[0] - a.position[0] > 0.2 - 0.002);
    assert_double_near(a.velocity[0] + b.velocity[0], 1, 1e-6);   /* momentum */
    assert_double_near(b.velocity[0] - a.velocity[0], 0.3, 0.02); /* the bounce */
    und_floating_bodies_destroy(s);
}

/* Solid cells that come and go, as a gate does. */
static void test_gate_opens(void **state)
{
    (void)state;
    tank t = small_tank(10, 2, 1.03);
    und_shape sphere = ball(0.1);
    t.velocity = stream;
    t.solid = pier;
    und_body_def def = body(&sphere, 600, 0.9, 1.03, 0.9);
    und_floating_bodies *s = start(&t, &def, 1, 5, 1);
    advance(s, &t, 1, 48);
    assert_double_near(und_bodies_state(und_floating_bodies_bodies(s), 0).position[0], 1.1, 0.003);
    t.solid = NULL;
    advance(s, &t, 49, 48);
    assert_true(und_bodies_state(und_floating_bodies_bodies(s), 0).position[0] > 1.6);
    und_floating_bodies_destroy(s);
}

/* ---- one cell deep ---- */

static void test_flat(void **state)
{
    (void)state;
    tank t = small_tank(10, 1, 0.53);
    und_shape sphere = ball(0.1);
    t.n[2] = 1;
    t.velocity = stream;
    und_body_def def = body(&sphere, 500, 0.3, 0.53, 0.05);
    def.friction = 0; /* at the wall that the stream takes it to */
    und_body_state now = after(&t, &def, 5, 96);
    assert_double_near(now.position[0], 0.9, 0.003);
    assert_double_near(now.position[1], 0.53, 0.002);
    assert_double_near(now.position[2], 0.05, 1e-9);
}

/* A disc stays in the plane, whatever it was given and wherever it hits. */
static void test_flat_stays_flat(void **state)
{
    (void)state;
    tank t = small_tank(10, 1, 0.53);
    und_shape disc = {.kind = UND_CYLINDER, .radius = 0.1, .half = {0, 0.03, 0}};
    t.n[2] = 1;
    t.velocity = stream;
    und_body_def def = body(&disc, 500, 0.3, 0.8, 0.05);
    def.rotation[0] = 90;
    def.velocity[2] = 1;
    def.spin[0] = def.spin[1] = 3;
    def.spin[2] = -4;
    und_body_state now = after(&t, &def, 5, 48);
    /* turned about x, and then about z alone: q = {c, s, ...} with w^2 + z^2 = x^2 + y^2 = 1/2 */
    const double *q = now.rotation;
    assert_double_near(q[0] * q[0] + q[3] * q[3], 0.5, 0.01);
    assert_double_near(now.position[2], 0.05, 0.005);
    assert_double_near(now.velocity[2], 0, 0);
    assert_double_near(now.spin[0], 0, 0);
    assert_double_near(now.spin[1], 0, 0);
}

/* ---- the same bits ---- */

enum { CROWD = 9 };

static void crowd(const und_shape *shape, und_body_def defs[CROWD])
{
    for (int i = 0; i < CROWD; i++) {
        defs[i] = body(shape, 300 + 100 * i, 0.4 + 0.35 * (i % 3), 1.1, 0.4 + 0.35 * (i / 3));
        defs[i].velocity[0] = 0.5 - 0.1 * i;
        defs[i].spin[2] = i;
    }
}

static void test_same_bits(void **state)
{
    (void)state;
    tank t = small_tank(10, 2, 1.03);
    und_shape block = {.kind = UND_BOX, .half = {0.1, 0.07, 0.15}};
    und_body_def defs[CROWD];
    const int threads[] = {1, 2, 7};
    double *saved[4] = {0};
    size_t count = 0;
    t.velocity = vortex;
    t.solid = pier;
    crowd(&block, defs);
    for (int i = 0; i < 4; i++) {
        und_error err = {0};
        und_floating_bodies *s = start(&t, defs, CROWD, 5, threads[i % 3]);
        advance(s, &t, 1, i == 3 ? 10 : 24);
        if (i == 3) { /* stopped, and gone on from the checkpoint by another */
            und_frame kept = und_frame_empty(0, 0, (und_grid){0}), copy = kept;
            assert_int_equal(und_floating_bodies_save(s, &kept, &err), UND_OK);
            assert_int_equal(und_frame_copy(&kept, &copy, &err), UND_OK);
            und_frame_clear(&kept);
            und_floating_bodies_destroy(s);
            s = start(&t, defs, CROWD, 5, 1);
            if (und_floating_bodies_restore(s, &copy, &err) != UND_OK)
                fail_msg("%s", err.text);
            und_frame_clear(&copy);
            advance(s, &t, 11, 14);
        }
        double *now = und_bodies_saved(und_floating_bodies_bodies(s), &count);
        saved[i] = malloc(count * sizeof *now);
        memcpy(saved[i], now, count * sizeof *now);
        und_floating_bodies_destroy(s);
        assert_memory_equal(saved[i], saved[0], count * sizeof *now);
    }
    for (int i = 0; i < 4; i++)
        free(saved[i]);
}

/* ---- what is wrong is said ---- */

static void expect(const und_frame *f, const char *text)
{
    und_error err = {0};
    und_floating_bodies_def def = und_floating_bodies_def_default();
    und_shape sphere = ball(0.1);
    und_body_def b = body(&sphere, 500, 0.5, 0.5, 0.5);
    def.body_count = 1;
    def.bodies = &b;
    assert_null(und_floating_bodies_create(&def, f, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, text));
}

static void test_wrong_frames(void **state)
{
    (void)state;
    static const char *const names[] = {"label", "pressure", "velocity_x", "velocity_z", "ground"};
    tank t = small_tank(6, 1, 0.5);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        und_frame f = tank_frame(&t, 3, 0);
        char text[64];
        strcpy(item_of(&f, names[i])->name, "other");
        snprintf(text, sizeof text, "frame 3 has no \"%s\"", names[i]);
        expect(&f, text);
        und_frame_clear(&f);
    }
    und_frame f = tank_frame(&t, 3, 0);
    item_of(&f, "pressure")->dim[0] = 2;
    expect(&f, "\"pressure\" does not fit the grid");
    und_frame_clear(&f);
    f = und_frame_empty(1, 0, (und_grid){0});
    expect(&f, "no grid");
}

static void test_wrong_next_frame(void **state)
{
    (void)state;
    und_error err = {0};
    tank t = small_tank(6, 1, 0.5), other = small_tank(7, 1, 0.5);
    und_shape sphere = ball(0.1);
    und_body_def def = body(&sphere, 500, 0.5, 0.5, 0.5);
    und_floating_bodies *s = start(&t, &def, 1, 5, 1);
    und_frame f = tank_frame(&other, 1, 1);
    assert_int_equal(und_floating_bodies_advance(s, &f, &err), UND_INVALID);
    assert_non_null(strstr(err.text, "another grid"));
    und_frame_clear(&f);
    f = tank_frame(&t, 0, 0);
    assert_int_equal(und_floating_bodies_advance(s, &f, &err), UND_INVALID);
    assert_non_null(strstr(err.text, "not after"));
    und_frame_clear(&f);
    und_floating_bodies_destroy(s);
}

/* A frame full of NaN leaves bodies where numbers are still numbers. */
static void test_nan(void **state)
{
    (void)state;
    und_error err = {0};
    tank t = small_tank(6, 1, 0.5);
    und_shape sphere = ball(0.1);
    und_body_def def = body(&sphere, 500, 0.5, 0.5, 0.5);
    und_floating_bodies *s = start(&t, &def, 1, 5, 1);
    und_frame f = tank_frame(&t, 1, 1.0 / 24);
    float *p = und_frame_find(&f, "pressure")->data, *u = und_frame_find(&f, "velocity_x")->data;
    for (int i = 0; i < 6 * 6 * 6; i++)
        p[i] = u[i] = NAN;
    assert_int_equal(und_floating_bodies_advance(s, &f, &err), UND_OK);
    und_frame_clear(&f);
    und_body_state now = und_bodies_state(und_floating_bodies_bodies(s), 0);
    for (int k = 0; k < 3; k++)
        assert_true(isfinite(now.position[k]) && isfinite(now.velocity[k]) && isfinite(now.spin[k]));
    und_floating_bodies_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_draft),
        cmocka_unit_test(test_draft_without_heights),
        cmocka_unit_test(test_sinks_and_rises),
        cmocka_unit_test(test_terminal_speed),
        cmocka_unit_test(test_strong_damping),
        cmocka_unit_test(test_neutral_stays),
        cmocka_unit_test(test_bobbing),
        cmocka_unit_test(test_drifts_with_the_current),
        cmocka_unit_test(test_spins_in_a_vortex),
        cmocka_unit_test(test_pushed_by_pressure),
        cmocka_unit_test(test_linear_in_time),
        cmocka_unit_test(test_first_frame_without_pressure),
        cmocka_unit_test(test_stops_at_solid_cells),
        cmocka_unit_test(test_slides_over_seams),
        cmocka_unit_test(test_rests_on_the_floor_and_walls),
        cmocka_unit_test(test_bodies_bump_into_each_other),
        cmocka_unit_test(test_gate_opens),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_flat_stays_flat),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_wrong_frames),
        cmocka_unit_test(test_wrong_next_frame),
        cmocka_unit_test(test_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
