#include "tests/waves_model.h"

#include "base/pages.h"
#include "base/random.h"
#include "geom/motion.h"
#include "geom/shape.h"
#include "solve/transpose_kernel.h"
#include "solve/tridiag_kernel.h"

static uint64_t hash_of(und_waves *w)
{
    und_error err;
    und_frame state = und_frame_empty(0, 0, (und_grid){0});
    assert_int_equal(und_waves_liquid(w)->class->save(und_waves_liquid(w), &state, &err), UND_OK);
    uint64_t hash = und_frame_hash(&state, 1);
    und_frame_clear(&state);
    return hash;
}

/* Rough ground with hills above the water, made of waves so that it has all slopes. */
static double rough_ground(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return 0.4 * sin(1.7 * x) * cos(1.3 * z) + 0.25 * sin(4.1 * x + 2) * sin(3.7 * z + 1) +
           0.1 * cos(9 * x - 7 * z) - 0.2;
}

static double sloping(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return 0.3 - 0.1 * x;
}

static void tridiagonal_rows_are_solved(void **state)
{
    (void)state;
    enum { N = 50, LANES = UND_LANES };
    float x[N + 1][LANES] = {{0}}, f[N + 1][LANES], b[N][LANES];
    und_tridiag_row row[N + 1] = {{{0}, {0}}};
    und_lanes solution = {0};
    for (int i = 0; i <= N; i++)
        for (int l = 0; l < LANES; l++)
            f[i][l] = (float)(10 * und_random(1, (uint64_t)l, (uint64_t)i));
    for (int i = 0; i < N; i++)
        for (int l = 0; l < LANES; l++)
            b[i][l] = (float)(und_random(2, (uint64_t)l, (uint64_t)i) - 0.5);
    for (int i = 0; i < N; i++)
        row[i + 1] =
            und_tridiag_forward(und_lanes_load(f[i]), und_lanes_load(f[i + 1]), und_lanes_load(b[i]), row[i]);
    for (int i = N; i >= 1; i--) {
        solution = und_tridiag_back(row[i], solution);
        und_lanes_store(x[i], solution);
    }
    for (int i = 0; i < N; i++)
        for (int l = 0; l < LANES; l++) {
            double left = i > 0 ? x[i][l] : 0, right = i + 1 < N ? x[i + 2][l] : 0;
            double ax = (1.0 + f[i][l] + f[i + 1][l]) * x[i + 1][l] - f[i][l] * left - f[i + 1][l] * right;
            assert_double_near(ax, b[i][l], 1e-5);
        }
}

static void blocks_are_transposed(void **state)
{
    (void)state;
    enum { ROWS = 24, COLUMNS = 16, STRIDE = 20 };
    float in[ROWS * STRIDE], out[COLUMNS * ROWS];
    for (int i = 0; i < ROWS * STRIDE; i++)
        in[i] = (float)i;
    und_transpose(ROWS, COLUMNS, in, STRIDE, out, ROWS);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            assert_true(out[j * ROWS + i] == in[i * STRIDE + j]);
}

static void lake_with_islands_stays_at_rest(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        und_waves_def def = und_waves_def_default();
        def.height_field.nx = 150;
        def.height_field.nz = 90;
        def.height_field.dx = 0.07;
        def.height_field.ground.fn = rough_ground;
        def.order = order;
        def.height_field.threads = 1;
        und_waves *w = make(&def);
        run(w, test_cases(1000, 100), 0.1);
        int dry = 0;
        for (int z = 0; z < def.height_field.nz; z++)
            for (int x = 0; x < def.height_field.nx; x++) {
                double ground = und_waves_ground(w, x, z);
                dry += ground >= 0;
                assert_double_near(und_waves_surface(w, x, z), fmax(0, ground), 1e-15);
            }
        assert_true(dry > 1000);
        ledger_closes(w, 1e-15);
        und_waves_destroy(w);
    }
}

/* Kass & Miller eqs 14 to 16 for one mode: |lambda| = (1 + a^2)^(-1/2), a = 2 sqrt(g d) dt / dx sin(k dx /
 * 2). */
static double cosine(const void *context, double x, double y, double z, double t)
{
    (void)y, (void)z, (void)t;
    return 1e-6 * cos(*(const double *)context * x);
}

static void modes_decay_as_the_scheme_says(void **state)
{
    (void)state;
    double dx = 0.1, dt = 1 / 30.0, k = 4 * M_PI / 10, a = 2 * sqrt(9.81) * dt / dx * sin(0.5 * k * dx);
    und_waves_def def = und_waves_def_default();
    def.height_field.nx = 100;
    def.height_field.nz = 1;
    def.height_field.surface = (und_value){.fn = cosine, .context = &k};
    def.order = 1;
    und_waves *w = make(&def);
    /* From rest, h = Re(A lambda^n) with lambda = (1 + i a) / (1 + a^2): compare with the recurrence itself.
     */
    double old = 1e-6, now = 1e-6;
    for (int i = 0; i < 90; i++) {
        double next = (2 * now - old) / (1 + a * a);
        old = now;
        now = next;
        und_waves_step(w, dt);
    }
    double found = 0, norm = 0;
    for (int x = 0; x < def.height_field.nx; x++) {
        double shape = cos(k * (x + 0.5) * dx);
        found += und_waves_surface(w, x, 0) * shape;
        norm += shape * shape;
    }
    assert_double_near(found / norm, now, 1e-6 * 1e-6);
    und_waves_destroy(w);
}

static void water_is_kept_over_100000_steps(void **state)
{
    (void)state;
    und_waves_def def = und_waves_def_default();
    def.height_field.nx = 24;
    def.height_field.nz = 20;
    def.height_field.dx = 0.2;
    def.height_field.ground.fn = rough_ground;
    def.height_field.surface.fn = sloping; /* runs down, wets and dries hills, leaves puddles */
    const int steps = test_cases(100000, 10000);
    const und_drop_def drops[] = {{.time = 1e-3 * steps, .center = {1, 0, 1}, .radius = 0.5, .volume = 0.3},
                                  {.time = 1e-2 * steps, .center = {3, 0, 2}, .radius = 0.5, .volume = 0.3}};
    def.height_field.drops = drops;
    def.height_field.drop_count = 2;
    def.height_field.threads = 1;
    und_waves *w = make(&def);
    run(w, steps, 1 / 60.0);
    und_ledger ledger = und_waves_ledger(w);
    assert_double_near(ledger.sources, 0.6, 1e-12);
    ledger_closes(w, 1e-12);
    for (int z = 0; z < def.height_field.nz; z++)
        for (int x = 0; x < def.height_field.nx; x++)
            assert_true(und_waves_surface(w, x, z) >= und_waves_ground(w, x, z));
    und_waves_destroy(w);
}

/* Two ponds with a dry ridge between them: each keeps its own volume. */
static double ridge(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return fabs(x - 2.4) < 0.3 ? 1 : -0.3 - 0.1 * sin(5 * x);
}

static double two_levels(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return (x < 2.4 ? 0.4 : 0) + 0.2 * exp(-4 * ((x - 1) * (x - 1) + (z - 1) * (z - 1)));
}

static double volume_left(const und_waves *w, int nx, int nz, double dx)
{
    double sum = 0;
    for (int z = 0; z < nz; z++)
        for (int x = 0; x < nx; x++)
            sum += und_waves_surface(w, x, z) - und_waves_ground(w, x, z);
    return sum * dx * dx;
}

static void each_piece_keeps_its_volume(void **state)
{
    (void)state;
    und_waves_def def = und_waves_def_default();
    def.height_field.nx = 96;
    def.height_field.nz = 64;
    def.height_field.dx = 0.05;
    def.height_field.ground.fn = ridge;
    def.height_field.surface.fn = two_levels;
    und_waves *w = make(&def);
    double left = volume_left(w, 48, def.height_field.nz, def.height_field.dx);
    run(w, 2000, 1 / 30.0);
    assert_double_near(volume_left(w, 48, def.height_field.nz, def.height_field.dx), left, 1e-13 * left);
    ledger_closes(w, 1e-13);
    und_waves_destroy(w);
}

/* 50 cells a step, cliffs, dry land: the surface stays between the ground and a bound. */
static double cliffs(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    double r = und_random(9, (uint64_t)(x * 2), (uint64_t)(z * 2));
    return r < 0.2 ? 4 : r < 0.6 ? -10 : -3 - 2 * r;
}

static double towers(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)t;
    return und_random(10, (uint64_t)x, (uint64_t)z) < 0.3 ? 2 : -4;
}

static void nothing_blows_up(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        und_waves_def def = und_waves_def_default();
        def.height_field.nx = 50;
        def.height_field.nz = 40;
        def.height_field.dx = 0.2;
        def.height_field.ground.fn = cliffs;
        def.height_field.surface.fn = towers;
        def.order = order;
        def.velocity = true;
        def.height_field.threads = 1;
        und_waves *w = make(&def);
        double speed = sqrt(9.81 * 12), dt = 50 * def.height_field.dx / speed;
        run(w, 3000, dt);
        for (int z = 0; z < def.height_field.nz; z++)
            for (int x = 0; x < def.height_field.nx; x++) {
                double h = und_waves_surface(w, x, z);
                assert_true(h >= und_waves_ground(w, x, z) && h <= (order == 1 ? 4 : 40));
            }
        ledger_closes(w, 1e-11);
        und_waves_destroy(w);
    }
}

static und_waves *everything(int threads)
{
    static und_shape ball = {.kind = UND_SPHERE, .radius = 0.4};
    static const und_source_def sources[] = {
        {.center = {1, 0, 1}, .radius = 0.3, .rate = {.number = 0.05}, .end = INFINITY},
        {.center = {5, 0, 3}, .radius = 0.4, .rate = {.number = -0.02}, .end = INFINITY}};
    static const und_stir_def stirs[] = {
        {.center = {.constant = {3, 0, 3}}, .radius = 0.8, .amplitude = 0.1, .period = 0.7, .end = INFINITY}};
    static const und_object_def objects[] = {{.shape = &ball}};
    und_waves_def def = und_waves_def_default();
    def.height_field.nx = 300;
    def.height_field.nz = 260;
    def.height_field.dx = 0.025;
    def.height_field.ground.fn = rough_ground;
    def.height_field.surface.fn = sloping;
    def.height_field.edge[UND_LOW_X] =
        (und_edge_def){.kind = UND_EDGE_OPEN, .amplitude = 0.1, .period = 1.5, .direction = 20};
    def.height_field.edge[UND_HIGH_X].kind = UND_EDGE_FALL;
    def.height_field.edge[UND_LOW_Z] = (und_edge_def){.kind = UND_EDGE_FLOW, .rate = {.number = 0.01}};
    def.height_field.rain.on = true;
    def.height_field.rain.rate.number = 30;
    def.height_field.rain.top = 2;
    def.height_field.sources = sources;
    def.height_field.source_count = 2;
    def.height_field.stirs = stirs;
    def.height_field.stir_count = 1;
    def.objects = objects;
    def.object_count = 1;
    def.foam.on = true;
    def.has_dye = def.texture = true;
    def.dye.fn = rough_ground;
    def.height_field.threads = threads;
    return make(&def);
}

static void same_bits_at_any_thread_count(void **state)
{
    (void)state;
    const int threads[] = {1, 2, 7};
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
        und_waves *w = everything(threads[i]);
        run(w, 60, 1 / 30.0);
        hash[i] = hash_of(w);
        ledger_closes(w, 1e-10);
        und_waves_destroy(w);
    }
    assert_int_equal(hash[0], hash[1]);
    assert_int_equal(hash[0], hash[2]);
}

static void restored_state_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    und_error err;
    und_waves *a = everything(2), *b = everything(2);
    run(a, 40, 1 / 30.0);
    und_frame saved = und_frame_empty(0, 0, (und_grid){0});
    assert_int_equal(und_waves_liquid(a)->class->save(und_waves_liquid(a), &saved, &err), UND_OK);
    assert_int_equal(und_waves_liquid(b)->class->restore(und_waves_liquid(b), &saved, &err), UND_OK);
    und_frame_clear(&saved);
    for (int k = 0; k < 40; k++) {
        und_waves_step(a, 1 / 30.0);
        und_waves_step(b, 1 / 30.0);
    }
    assert_int_equal(hash_of(a), hash_of(b));
    und_waves_destroy(a);
    und_waves_destroy(b);
}

static double seiche(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return 1e-4 * cos(M_PI * x / 2);
}

/* Small waves on water of one depth: friction is damping at the rate 3 nu / d^2. */
static void friction_is_damping_by_depth(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        und_waves_def def = und_waves_def_default();
        def.height_field.nx = 64;
        def.height_field.nz = 4;
        def.height_field.dx = 2 / 64.0;
        def.height_field.ground.number = -0.2;
        def.height_field.surface.fn = seiche;
        def.order = order;
        und_waves *free = make(&def);
        def.viscosity = 0.02;
        und_waves *viscous = make(&def);
        def.viscosity = 0;
        def.height_field.damping = 3 * 0.02 / (0.2 * 0.2);
        und_waves *damped = make(&def);
        for (int k = 0; k < 50; k++) {
            und_waves_step(free, 0.01);
            und_waves_step(viscous, 0.01);
            und_waves_step(damped, 0.01);
        }
        double expected = und_waves_surface(damped, 3, 2);
        assert_true(fabs(und_waves_surface(free, 3, 2) - expected) > 1e-5);
        assert_double_near(und_waves_surface(viscous, 3, 2), expected, 1e-7);
        ledger_closes(viscous, 1e-10);
        und_waves_destroy(free);
        und_waves_destroy(viscous);
        und_waves_destroy(damped);
    }
}

static void wrong_defs_are_refused(void **state)
{
    (void)state;
    und_error err;
    und_waves_def def = und_waves_def_default();
    def.height_field.nx = 1;
    assert_null(und_waves_create(&def, &err));
    assert_int_equal(err.status, UND_INVALID);
    def = und_waves_def_default();
    def.height_field.ground.number = NAN;
    assert_null(und_waves_create(&def, &err));
    def = und_waves_def_default();
    def.order = 3;
    assert_null(und_waves_create(&def, &err));
    def = und_waves_def_default();
    def.height_field.nx = def.height_field.nz = 32768;
    def.texture = def.foam.on = def.has_dye = true; /* 60 GB and more */
    if (und_memory_size() < 6e10) {
        assert_null(und_waves_create(&def, &err));
        assert_non_null(strstr(err.text, "GB"));
    }
    def = und_waves_def_default();
    def.viscosity = NAN;
    assert_null(und_waves_create(&def, &err));
}

/* Hills, some of them dry, and on them a mound of water as high as they are. */
static double hills(const void *context, double x, double y, double z, double t)
{
    (void)context;
    (void)y;
    (void)t;
    return -0.5 + 0.35 * sin(1.3 * x) * cos(0.9 * z) + 0.3 * exp(-(z - 1.5) * (z - 1.5)) + 0.25 * sin(3 * z);
}
static double mound(const void *context, double x, double y, double z, double t)
{
    (void)context;
    (void)y;
    (void)t;
    return exp(-4 * ((x - 1) * (x - 1) + (z - 1.2) * (z - 1.2)));
}

/* What comes at open edges leaves, whatever the ground and the steps, and the level stays that outside. */
static void open_edges_calm_the_water(void **state)
{
    (void)state;
    static const double courants[] = {0.5, 1, 20};
    for (int i = 0; i < 6; i++) {
        und_waves_def def = und_waves_def_default();
        und_error err;
        def.order = 1 + i % 2;
        def.height_field.nx = 48;
        def.height_field.nz = 40;
        def.height_field.dx = 0.07;
        def.height_field.ground = (und_value){.fn = hills};
        def.height_field.surface = (und_value){.fn = mound};
        for (int e = 0; e < UND_EDGES; e++)
            def.height_field.edge[e] = (und_edge_def){.kind = UND_EDGE_OPEN, .has_level = true};
        und_waves *waves = und_waves_create(&def, &err);
        assert_non_null(waves);
        double highest = 0, mean = 0;
        int wet = 0;
        for (int n = 0; n < 800; n++) {
            und_waves_step(waves, courants[i / 2] * def.height_field.dx / sqrt(9.81 * 0.5));
            for (int x = 0; x < def.height_field.nx; x++)
                highest = fmax(highest, und_waves_surface(waves, x, n % def.height_field.nz));
        }
        for (int z = 0; z < def.height_field.nz; z++)
            for (int x = 0; x < def.height_field.nx; x++)
                if (und_waves_ground(waves, x, z) < -0.1) {
                    mean += und_waves_surface(waves, x, z);
                    wet++;
                }
        assert_true(highest < 1);
        assert_float_equal(mean / wet, 0, 0.005);
        und_waves_destroy(waves);
    }
}

static double dammed(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z, (void)t;
    return x < 0.1 ? 0.4 : -1;
}

/* A dam breaks beside an open edge: a step takes from cells there what they have not, before pieces are put
 * right, and their slants must be numbers all the same. */
static void dams_break_along_open_edges(void **state)
{
    (void)state;
    for (int order = 1; order <= 2; order++) {
        und_waves_def def = und_waves_def_default();
        def.order = order;
        def.height_field.nx = 6;
        def.height_field.nz = 30;
        def.height_field.dx = 0.05;
        def.height_field.surface.fn = dammed;
        def.height_field.edge[UND_LOW_Z].kind = UND_EDGE_OPEN;
        und_waves *w = make(&def);
        run(w, 48, 1 / 24.0);
        for (int z = 0; z < def.height_field.nz; z++)
            for (int x = 0; x < def.height_field.nx; x++) {
                double h = und_waves_surface(w, x, z);
                assert_true(h >= und_waves_ground(w, x, z) && h < 1.4);
            }
        ledger_closes(w, 1e-12);
        und_waves_destroy(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tridiagonal_rows_are_solved),
        cmocka_unit_test(blocks_are_transposed),
        cmocka_unit_test(lake_with_islands_stays_at_rest),
        cmocka_unit_test(modes_decay_as_the_scheme_says),
        cmocka_unit_test(water_is_kept_over_100000_steps),
        cmocka_unit_test(each_piece_keeps_its_volume),
        cmocka_unit_test(nothing_blows_up),
        cmocka_unit_test(same_bits_at_any_thread_count),
        cmocka_unit_test(restored_state_goes_on_with_the_same_bits),
        cmocka_unit_test(open_edges_calm_the_water),
        cmocka_unit_test(dams_break_along_open_edges),
        cmocka_unit_test(friction_is_damping_by_depth),
        cmocka_unit_test(wrong_defs_are_refused),
    };
    return cmocka_run_group_tests_name("waves", tests, NULL, NULL);
}
