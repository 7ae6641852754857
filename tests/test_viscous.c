/* The viscous step on its own: motions without strain, layers, orders of convergence, stability. */
#include "tests/levelset_model.h"

#include "base/random.h"
#include "flow/viscous.h"
#include "geom/shape.h"

#include <math.h>
#include <string.h>

typedef struct flow_box {
    und_mac mac;
    und_distance surface;
    und_solids solids;
    und_mac_flow flow;
    und_viscous *solver;
    float *nu;
} flow_box;

typedef double place_fn(const void *context, double x, double y, double z); /* cells */

static void open_box(flow_box *f, const int n[3], const bool open[6], bool coupled, int threads)
{
    static const bool closed[6] = {false};
    und_error err = {0};
    f->mac = und_mac_make(n, (double[3]){1, 1, 1}, (double[3]){0, 0, 0});
    assert_int_equal(und_distance_open(&f->surface, &f->mac, 5, threads, &err), UND_OK);
    assert_int_equal(und_solids_open(&f->solids, &f->mac, NULL, 0, open ? open : closed, 0, threads, &err),
                     UND_OK);
    assert_int_equal(und_mac_flow_open(&f->flow, &f->mac, threads, NULL, &err), UND_OK);
    f->solver = und_viscous_create(&f->mac, coupled, threads, &err);
    f->nu = calloc(f->mac.count, sizeof *f->nu);
    assert_true(f->solver && f->nu);
}

static void close_box(flow_box *f)
{
    und_viscous_destroy(f->solver);
    und_mac_flow_close(&f->flow);
    und_solids_close(&f->solids);
    und_distance_close(&f->surface);
    free(f->nu);
}

static void set_cells(flow_box *f, float *out, place_fn *fn, const void *context)
{
    for (int z = 0; z < f->mac.n[2]; z++)
        for (int y = 0; y < f->mac.n[1]; y++)
            for (int x = 0; x < f->mac.n[0]; x++)
                out[und_mac_at(&f->mac, x, y, z)] = (float)fn(context, x + 0.5, y + 0.5, z + 0.5);
}

static void set_surface(flow_box *f, place_fn *fn, const void *context)
{
    set_cells(f, f->surface.phi, fn, context);
    und_distance_refresh(&f->surface);
    und_mac_flow_label(&f->flow, &f->surface, &f->solids);
}

static und_mac_flow_report step_box(flow_box *f, bool stick, double dt, double tolerance)
{
    const und_viscous_flow flow = {.flow = &f->flow,
                                   .surface = &f->surface,
                                   .solids = &f->solids,
                                   .nu = f->nu,
                                   .stick = stick,
                                   .dt = dt,
                                   .tolerance = tolerance,
                                   .max_iterations = 1000};
    und_viscous_keep(f->solver, &f->flow);
    return und_viscous_step(f->solver, &flow);
}

/* ---- Motions without strain ---- */

typedef struct ball {
    double middle[3], radius;
    double velocity[3], turn[3]; /* cells/s, 1/s */
} ball;

static double ball_distance(const void *context, double x, double y, double z)
{
    const ball *b = context;
    double d[3] = {x - b->middle[0], y - b->middle[1], z - b->middle[2]};
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) - b->radius;
}

static double ball_speed(const ball *b, int axis, const double at[3])
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    return b->velocity[axis] + b->turn[i] * (at[j] - b->middle[j]) - b->turn[j] * (at[i] - b->middle[i]);
}

/* 1 to 100 across the ball, times the number. */
static double graded(const void *context, double x, double y, double z)
{
    (void)y, (void)z;
    return *(const double *)context * pow(100, x / 40);
}

static void place_of(int axis, int x, int y, int z, double at[3])
{
    at[0] = x + (axis == 0 ? 1 : 0.5);
    at[1] = y + (axis == 1 ? 1 : 0.5);
    at[2] = z + (axis == 2 ? 1 : 0.5);
}

/* Sets the ball's motion, or gives the largest difference from it. */
static double compare_ball(flow_box *f, const ball *b, bool set)
{
    double most = 0;
    for (int a = 0; a < (f->mac.n[2] > 1 ? 3 : 2); a++)
        for (int z = 0; z < f->mac.n[2]; z++)
            for (int y = 0; y < f->mac.n[1]; y++)
                for (int x = 0; x < f->mac.n[0]; x++) {
                    double at[3];
                    place_of(a, x, y, z, at);
                    float *u = &f->flow.u[a][und_mac_at(&f->mac, x, y, z)];
                    if (set)
                        *u = (float)ball_speed(b, a, at);
                    else if (und_mask_has(&f->flow.flows[a], x, y, z))
                        most = fmax(most, fabs((double)*u - ball_speed(b, a, at)));
                }
    return most;
}

/* A ball or a disc in the air keeps its motion, at any viscosity. */
static void rigid_motion_stays(void **state)
{
    (void)state;
    static const double sizes[] = {1e-6, 1, 1e4, 1e8};
    for (int three = 0; three < 2; three++)
        for (int coupled = 0; coupled < 2; coupled++) {
            flow_box f;
            const int n[3] = {40, 40, three ? 40 : 1};
            open_box(&f, n, NULL, coupled, 2);
            ball b = {{20.3, 19.8, three ? 20.1 : 0.5}, 13.7, {0.3, -0.2, three ? 0.1 : 0}, {0, 0, 0.05}};
            if (three)
                b.turn[0] = 0.03;
            set_surface(&f, ball_distance, &b);
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
                set_cells(&f, f.nu, graded, &sizes[i]);
                compare_ball(&f, &b, true);
                for (int step = 0; step < 3; step++)
                    assert_true(step_box(&f, false, 1, 1e-6).converged);
                assert_true(compare_ball(&f, &b, false) < 1e-6);
            }
            close_box(&f);
        }
}

/* ---- A mode of a box that slips ---- */

static double everywhere(const void *context, double x, double y, double z)
{
    (void)context, (void)x, (void)y, (void)z;
    return -5;
}
static double constant(const void *context, double x, double y, double z)
{
    (void)x, (void)y, (void)z;
    return *(const double *)context;
}

static double mode_at(int axis, int n, int x, int y)
{
    double at[3];
    place_of(axis, x, y, 0, at);
    double a = M_PI * at[0] / n, b = M_PI * at[1] / n;
    return axis == 0 ? sin(a) * cos(b) : -cos(a) * sin(b);
}

/* What a step leaves of it: backward Euler's 1 / (1 + 2 s) with s = pi^2 nu dt / n^2; of the split solver,
 * whose own derivatives are 2 along its axis and 1.5 across, 1 - 2 s / (1 + 3.5 s). */
static double mode_error(int n, bool coupled)
{
    const double s = 0.7, nu = s * n * n / (M_PI * M_PI),
                 left = coupled ? 1 / (1 + 2 * s) : 1 - 2 * s / (1 + 3.5 * s);
    flow_box f;
    double worst = 0;
    open_box(&f, (int[3]){n, n, 1}, NULL, coupled, 1);
    set_surface(&f, everywhere, NULL);
    set_cells(&f, f.nu, constant, &nu);
    for (int a = 0; a < 2; a++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                f.flow.u[a][und_mac_at(&f.mac, x, y, 0)] = (float)mode_at(a, n, x, y);
    assert_true(step_box(&f, false, 1, 1e-7).converged);
    for (int a = 0; a < 2; a++)
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                if (und_mask_has(&f.flow.flows[a], x, y, 0))
                    worst = fmax(worst, fabs((double)f.flow.u[a][und_mac_at(&f.mac, x, y, 0)] -
                                             left * mode_at(a, n, x, y)));
    close_box(&f);
    return worst;
}

static void a_mode_decays_to_second_order(void **state)
{
    (void)state;
    for (int coupled = 0; coupled < 2; coupled++) {
        double coarse = mode_error(16, coupled), fine = mode_error(32, coupled);
        assert_true(fine < 1e-3);
        assert_double_near(log2(coarse / fine), 2, 0.1);
    }
}

/* ---- Viscosities of 1e-6 and 1e4 side by side ---- */

static const uint64_t seed = 5;

/* Balls of liquid here and there. */
static double lumps(const void *context, double x, double y, double z)
{
    const int *n = context;
    double least = 5;
    for (uint64_t i = 0; i < 40; i++) {
        double at[3];
        for (uint64_t a = 0; a < 3; a++)
            at[a] = n[a] * und_random(seed, 1, 4 * i + a);
        double r = 1 + 5 * und_random(seed, 1, 4 * i + 3);
        double away = hypot(hypot(x - at[0], y - at[1]), n[2] > 1 ? z - at[2] : 0) - r;
        least = fmin(least, away);
    }
    return least;
}
static double jumps(const void *context, double x, double y, double z)
{
    const int *n = context;
    uint64_t cell = (uint64_t)x + (uint64_t)n[0] * ((uint64_t)y + (uint64_t)n[1] * (uint64_t)z);
    return und_random(seed, 2, cell) < 0.5 ? 1e-6 : 1e4;
}

/* The kinetic energy. */
static double energy_of(const flow_box *f)
{
    double sum = 0;
    for (int a = 0; a < (f->mac.n[2] > 1 ? 3 : 2); a++)
        for (int z = 0; z < f->mac.n[2]; z++)
            for (int y = 0; y < f->mac.n[1]; y++)
                for (int x = 0; x < f->mac.n[0]; x++)
                    if (und_mask_has(&f->flow.flows[a], x, y, z)) {
                        double u = (double)f->flow.u[a][und_mac_at(&f->mac, x, y, z)];
                        sum += u * u;
                    }
    return sum;
}

static void shake(flow_box *f)
{
    for (uint64_t a = 0; a < 3; a++)
        for (size_t i = 0; i < f->mac.count; i++)
            f->flow.u[a][i] = (float)(2 * und_random(seed, 3 + a, i) - 1);
}

/* Noise in random lumps: there is never more energy than at the start. */
static void any_jump_is_stable(void **state)
{
    (void)state;
    const int n[2][3] = {{24, 24, 1}, {12, 12, 12}};
    for (int box = 0; box < 2; box++)
        for (int coupled = 0; coupled < 2; coupled++) {
            flow_box f;
            open_box(&f, n[box], NULL, coupled, 1);
            set_surface(&f, lumps, n[box]);
            set_cells(&f, f.nu, jumps, n[box]);
            shake(&f);
            double before = energy_of(&f);
            assert_true(before > 0);
            for (int step = 0; step < 10; step++) {
                assert_true(step_box(&f, box == 1, 0.1, 1e-4).converged);
                assert_true(energy_of(&f) < before);
            }
            close_box(&f);
        }
}

/* ---- In the model ---- */

static double two_liquids(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)y, (void)z;
    return x < 0.3 + 0.2 * t ? 1e4 : 1e-6;
}
static double warmer_below(const void *context, double x, double y, double z, double t)
{
    (void)context, (void)x, (void)z, (void)t;
    return 10 * (1 - y);
}

/* A dam on a hot plate: its viscosity jumps from place to place and follows from its temperature by turns. */
typedef struct dam {
    und_shape box, plate;
    und_value hot;
    und_fill_def fill;
    und_obstacle_def solid;
    und_heat_def heat;
    und_levelset_def def;
} dam;

static const double melting[2][2] = {{2, 10}, {15, 1e-3}};

static void make_dam(dam *d, bool melts, bool coupled, int threads)
{
    *d = (dam){.box = {.kind = UND_BOX, .center = {0.2, 0.3, 0.5}, .half = {0.2, 0.3, 0.5}},
               .plate = {.kind = UND_BOX, .center = {0.5, 0, 0.5}, .half = {0.5, 0.1, 0.5}},
               .hot = {.number = 20},
               .heat = {.start = {.fn = warmer_below}, .diffusivity = 1e-3, .count = 2, .viscosity = melting},
               .def = und_levelset_def_default()};
    d->fill.shape = &d->box;
    d->solid = (und_obstacle_def){.shape = &d->plate, .temperature = &d->hot};
    for (int a = 0; a < 3; a++)
        d->def.n[a] = 16;
    d->def.dx = 1.0 / 16;
    d->def.fills = &d->fill;
    d->def.obstacles = &d->solid;
    d->def.fill_count = d->def.obstacle_count = 1;
    d->def.threads = threads;
    d->def.stick = true;
    d->def.viscosity_solver = coupled ? UND_VISCOSITY_COUPLED : UND_VISCOSITY_SPLIT;
    if (melts)
        d->def.heat = &d->heat;
    else
        d->def.viscosity_field.fn = two_liquids;
}

static void same_bits_at_any_thread_count(void **state)
{
    (void)state;
    static const int threads[] = {1, 2, 7};
    for (int kind = 0; kind < 4; kind++) {
        uint64_t hash[3];
        for (int i = 0; i < 3; i++) {
            dam d;
            make_dam(&d, kind & 1, kind & 2, threads[i]);
            und_levelset *levelset = start_levelset(&d.def);
            und_levelset_step(levelset, 1.0 / 24);
            und_levelset_step(levelset, 1.0 / 24);
            hash[i] = hash_of_levelset(levelset);
            und_levelset_destroy(levelset);
        }
        assert_int_equal(hash[0], hash[1]);
        assert_int_equal(hash[0], hash[2]);
    }
}

/* Saved between two substeps and given to another, which goes on with the same bits. */
static void goes_on_after_a_resume(void **unused)
{
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        dam d;
        und_error err = {0};
        make_dam(&d, kind & 1, kind & 2, 1);
        und_levelset *first = start_levelset(&d.def), *second = start_levelset(&d.def);
        und_liquid *from = und_levelset_liquid(first), *to = und_levelset_liquid(second);
        while (!from->class->step(from, 1.0 / 12))
            ;
        from->class->step(from, 1.0 / 3);
        und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1}), copy = saved;
        assert_int_equal(from->class->save(from, &saved, &err), UND_OK);
        assert_int_equal(und_frame_copy(&saved, &copy, &err), UND_OK);
        assert_int_equal(to->class->restore(to, &copy, &err), UND_OK);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(from->class->step(from, 1.0 / 3), to->class->step(to, 1.0 / 3));
            assert_int_equal(hash_of_levelset(first), hash_of_levelset(second));
        }
        und_frame_clear(&saved);
        und_frame_clear(&copy);
        und_levelset_destroy(first);
        und_levelset_destroy(second);
    }
}

/* Neither what is stiff nor what is thin runs away where they meet. */
static void a_jump_in_a_dam_is_quiet(void **state)
{
    (void)state;
    for (int coupled = 0; coupled < 2; coupled++) {
        dam d;
        make_dam(&d, false, coupled, 2);
        und_levelset *levelset = start_levelset(&d.def);
        for (int frame = 0; frame < 6; frame++) {
            und_levelset_step(levelset, 1.0 / 24);
            und_ledger l = und_levelset_ledger(levelset);
            assert_true(fabs(l.correction) < 0.1 * l.start);
            for (int y = 0; y < 16; y++)
                for (int x = 0; x < 16; x++)
                    assert_true(fabs(und_levelset_velocity(levelset, 0, x, y, 8)) < 5);
        }
        und_levelset_destroy(levelset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_motion_stays),     cmocka_unit_test(a_mode_decays_to_second_order),
        cmocka_unit_test(any_jump_is_stable),     cmocka_unit_test(same_bits_at_any_thread_count),
        cmocka_unit_test(goes_on_after_a_resume), cmocka_unit_test(a_jump_in_a_dam_is_quiet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
