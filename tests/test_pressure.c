/* The pressure's system with weights of its own: known answers, second order at a surface between cells,
 * iterations that do not grow with the grid, parts that nothing known touches, diffusion, what is no number,
 * the same bits at any thread count. */
#include "tests/test.h"

#include "base/random.h"
#include "solve/pressure.h"

enum { SEED = 11 };

typedef struct problem {
    und_mac mac;
    und_pressure *pressure;
    und_mask unknown;
    float *weight[3], *known, *b;
    double *x;
} problem;

static problem make(int nx, int ny, int nz, int threads)
{
    const int n[3] = {nx, ny, nz};
    const double d[3] = {1, 1, 1}, origin[3] = {0};
    und_error err = {.status = UND_OK};
    problem p = {.mac = und_mac_make(n, d, origin)};
    p.pressure = und_pressure_create(&p.mac, threads, NULL, &err);
    assert_non_null(p.pressure);
    assert_int_equal(und_mask_open(&p.unknown, &p.mac, "cells", &err), UND_OK);
    for (int a = 0; a < 3; a++)
        assert_non_null(p.weight[a] = calloc(p.mac.count, sizeof(float)));
    p.known = calloc(p.mac.count, sizeof *p.known);
    p.b = calloc(p.mac.count, sizeof *p.b);
    p.x = calloc(p.mac.count, sizeof *p.x);
    assert_true(p.known && p.b && p.x);
    return p;
}

static void drop(problem *p)
{
    und_pressure_destroy(p->pressure);
    und_mask_close(&p->unknown);
    for (int a = 0; a < 3; a++)
        free(p->weight[a]);
    free(p->known);
    free(p->b);
    free(p->x);
}

static void set(problem *p)
{
    und_pressure_set(p->pressure, &p->unknown, (const float *const *)p->weight, p->known);
}

static double chance(uint64_t stream, uint64_t i)
{
    return und_random(SEED, stream, i);
}

#define EACH_CELL(m, x, y, z)               \
    for (int z = 0; z < (m)->n[2]; z++)     \
        for (int y = 0; y < (m)->n[1]; y++) \
            for (int x = 0; x < (m)->n[0]; x++)

/* A x of a cell, written out from the header's equation. */
static double apply(const problem *p, int x, int y, int z, const double *v)
{
    size_t i = und_mac_at(&p->mac, x, y, z);
    double sum = (double)p->known[i] * v[i];
    for (int side = 0; side < 6; side++) {
        int at[3] = {x, y, z};
        at[side / 2] += side % 2 ? 1 : -1;
        size_t n = und_mac_at(&p->mac, at[0], at[1], at[2]);
        if (und_mask_has(&p->unknown, at[0], at[1], at[2]))
            sum += (double)p->weight[side / 2][side % 2 ? i : n] * (v[i] - v[n]);
    }
    return sum;
}

/* The largest |b - A x| over the largest |b|. */
static double defect(const problem *p)
{
    double largest = 0, largest_b = 0;
    EACH_CELL(&p->mac, x, y, z)
    {
        double b = (double)p->b[und_mac_at(&p->mac, x, y, z)];
        if (!und_mask_has(&p->unknown, x, y, z))
            continue;
        largest = fmax(largest, fabs(b - apply(p, x, y, z, p->x)));
        largest_b = fmax(largest_b, fabs(b));
    }
    return largest / largest_b;
}

/* The distance to the nearest liquid in cells, negative inside: a pool with waves, a sheet, droplets. */
static double splash(int n, double x, double y, double z)
{
    double pool = y - 0.25 - 0.03 * sin(12 * x) * cos(9 * z);
    double sheet = fmax(fabs(x - 0.3 - 0.1 * y * y) - 0.9 / n, fmax(y - 0.75, fabs(z - 0.5) - 0.35));
    double phi = fmin(pool, sheet);
    for (uint64_t i = 0; i < 40; i++)
        phi = fmin(phi, sqrt(pow(x - chance(1, i), 2) + pow(y - chance(2, i), 2) + pow(z - chance(3, i), 2)) -
                            1.5 / n);
    return n * phi;
}

static double ball(int n, double x, double y, double z)
{
    return n * (sqrt(pow(x - 0.6, 2) + pow(y - 0.2, 2) + pow(z - 0.5, 2)) - 0.17);
}

/* How open a face is: from its middle's distance to the ball. */
static double openness(const problem *p, int axis, int x, int y, int z)
{
    const int n = p->mac.n[0];
    double at[3] = {x + 0.5, y + 0.5, z + 0.5};
    at[axis] += 0.5;
    return fmin(fmax(0.5 + ball(n, at[0] / n, at[1] / n, at[2] / n), 0), 1);
}

static bool is_inside(const problem *p, const int at[3])
{
    for (int a = 0; a < 3; a++)
        if (at[a] < 0 || at[a] >= p->mac.n[a])
            return false;
    return true;
}

/* Weights from a distance to the liquid's surface (Gibou et al. 2002) and from the ball, if `cut`. */
static void weigh(problem *p, double (*distance)(int n, double x, double y, double z), bool cut)
{
    const int n = p->mac.n[0];
    double *phi = calloc(p->mac.count, sizeof *phi);
    assert_non_null(phi);
    EACH_CELL(&p->mac, x, y, z)
    {
        size_t i = und_mac_at(&p->mac, x, y, z);
        phi[i] = distance(n, (x + 0.5) / n, (y + 0.5) / n, (z + 0.5) / n);
        if (phi[i] < 0 && (!cut || ball(n, (x + 0.5) / n, (y + 0.5) / n, (z + 0.5) / n) > -1))
            und_mask_add(&p->unknown, x, y, z);
        p->b[i] = NAN; /* not to be read where nothing is unknown */
        for (int a = 0; a < 3; a++)
            p->weight[a][i] = NAN;
        p->known[i] = 0;
    }
    EACH_CELL(&p->mac, x, y, z)
    for (int side = 0; side < 6; side++) {
        int at[3] = {x, y, z}, a = side / 2;
        at[a] += side % 2 ? 1 : -1;
        size_t i = und_mac_at(&p->mac, x, y, z), k = und_mac_at(&p->mac, at[0], at[1], at[2]);
        if (!und_mask_has(&p->unknown, x, y, z) || !is_inside(p, at))
            continue;
        double open =
            !cut ? 1 : openness(p, a, side % 2 ? x : at[0], side % 2 ? y : at[1], side % 2 ? z : at[2]);
        if (phi[k] >= 0)
            p->known[i] += (float)(open / fmax(phi[i] / (phi[i] - phi[k]), 0.01));
        else if (side % 2 && und_mask_has(&p->unknown, at[0], at[1], at[2]))
            p->weight[a][i] = (float)open;
    }
    free(phi);
}

static void random_b(problem *p)
{
    const int n = p->mac.n[0];
    EACH_CELL(&p->mac, x, y, z)
    {
        size_t i = und_mac_at(&p->mac, x, y, z);
        if (und_mask_has(&p->unknown, x, y, z))
            p->b[i] = (float)(0.3 * (chance(5, i) - 0.5) + sin(3.0 * x / n) * cos(5.0 * z / n) +
                              (double)y / n - 0.5);
    }
}

/* Weights of all sizes, cells closed all around, walls without thickness: x is found where it is known. */
static void test_exact(void **state)
{
    static const int sizes[][3] = {{1, 1, 1}, {5, 3, 2}, {40, 12, 20}, {33, 47, 1}, {70, 20, 9}, {300, 3, 2}};
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        problem p = make(sizes[s][0], sizes[s][1], sizes[s][2], 2);
        double *chosen = calloc(p.mac.count, sizeof *chosen);
        assert_non_null(chosen);
        EACH_CELL(&p.mac, x, y, z)
        {
            size_t i = und_mac_at(&p.mac, x, y, z);
            if (chance(1, i) < 0.9)
                und_mask_add(&p.unknown, x, y, z);
            for (int a = 0; a < 3; a++)
                p.weight[a][i] = chance(2 + (uint64_t)a, i) < 0.6 ? 1 : (float)chance(5 + (uint64_t)a, i);
            p.known[i] = chance(8, i) < 0.2 ? (float)pow(10, 4 * chance(9, i) - 2) : 0.01f;
            chosen[i] = sin(0.3 * x + 1) * cos(0.2 * y) + 0.1 * z;
            p.x[i] = 0.5;
        }
        EACH_CELL(&p.mac, x, y, z)
        p.b[und_mac_at(&p.mac, x, y, z)] = (float)apply(&p, x, y, z, chosen);
        set(&p);
        und_pressure_report report = und_pressure_solve(p.pressure, p.b, p.x, s % 2, 1e-9, 200);
        assert_true(report.converged && report.residual < 1e-9 && report.closed == 0);
        assert_true(defect(&p) < 1.01e-9);
        EACH_CELL(&p.mac, x, y, z)
        {
            size_t i = und_mac_at(&p.mac, x, y, z);
            bool unknown = und_mask_has(&p.unknown, x, y, z);
            assert_double_near(p.x[i], unknown ? chosen[i] : 0.5, unknown ? 1e-4 : 0); /* b is rounded */
        }
        free(chosen);
        drop(&p);
    }
}

static double slope(int n, double x, double y, double z)
{
    (void)z;
    return n * (y - 0.52 - 0.2 * (x - 0.5));
}

/* 0 at the slope. */
static double chosen_u(double x, double y)
{
    double s = y - 0.52 - 0.2 * (x - 0.5);
    return s * cos(2 * y + x);
}

static double minus_laplace(double x, double y)
{
    const double e = 1e-4;
    return (4 * chosen_u(x, y) - chosen_u(x - e, y) - chosen_u(x + e, y) - chosen_u(x, y - e) -
            chosen_u(x, y + e)) /
           (e * e);
}

/* The largest error for a smooth u under a slanted surface; what flows through walls is put into b. */
static double slope_error(int n)
{
    problem p = make(n, n, 1, 1);
    double error = 0;
    weigh(&p, slope, false);
    EACH_CELL(&p.mac, x, y, z)
    {
        double h = 1.0 / n, at_x = (x + 0.5) * h, at_y = (y + 0.5) * h, b = h * h * minus_laplace(at_x, at_y);
        double u = chosen_u(at_x, at_y);
        b += x == 0 ? chosen_u(at_x - h, at_y) - u : x == n - 1 ? chosen_u(at_x + h, at_y) - u : 0;
        b += y == 0 ? chosen_u(at_x, at_y - h) - u : 0;
        p.b[und_mac_at(&p.mac, x, y, z)] = (float)b;
    }
    set(&p);
    assert_true(und_pressure_solve(p.pressure, p.b, p.x, false, 1e-7, 60).converged);
    EACH_CELL(&p.mac, x, y, z)
    if (und_mask_has(&p.unknown, x, y, z))
        error = fmax(error, fabs(p.x[und_mac_at(&p.mac, x, y, z)] - chosen_u((x + 0.5) / n, (y + 0.5) / n)));
    drop(&p);
    return error;
}

static void test_second_order(void **state)
{
    double coarse = slope_error(32), fine = slope_error(64), finest = slope_error(128);
    (void)state;
    assert_true(log2(coarse / fine) > 1.7 && log2(fine / finest) > 1.7);
    assert_true(finest < 1e-4);
}

static int iterations_of(int n, double tolerance)
{
    problem p = make(n, n, n, 2);
    weigh(&p, splash, true);
    random_b(&p);
    set(&p);
    und_pressure_report report = und_pressure_solve(p.pressure, p.b, p.x, false, tolerance, 40);
    assert_true(report.converged && report.residual < tolerance);
    if (report.closed == 0)
        assert_double_near(defect(&p), report.residual, 1e-3 * tolerance);
    drop(&p);
    return report.iterations;
}

static void test_iterations(void **state)
{
    static const double tolerance[] = {1e-4, 1e-6, 1e-7};
    static const int most[] = {8, 10, 11};
    (void)state;
    for (int n = 32; n <= 128; n *= 2)
        for (int i = 0; i < 3; i++) {
            int iterations = iterations_of(n, tolerance[i]);
            if (iterations > most[i])
                fail_msg("%d iterations to %g at %d cells", iterations, tolerance[i], n);
        }
}

/* Two boxes in the air of which nothing is known, and a cell closed all around: each has its mean taken out.
 */
static void test_pockets(void **state)
{
    problem p = make(40, 30, 20, 1);
    double mean = 0;
    (void)state;
    EACH_CELL(&p.mac, x, y, z)
    {
        size_t i = und_mac_at(&p.mac, x, y, z);
        bool first = x >= 3 && x < 20 && y >= 2 && y < 10, second = x >= 20 && x < 33 && y >= 2 && y < 10;
        bool lone = x == 35 && y == 20 && z == 5, pool = y >= 25;
        if (first || second || lone || pool)
            und_mask_add(&p.unknown, x, y, z);
        p.weight[0][i] = x == 19 ? 0 : 1; /* the boxes share a wall without thickness */
        p.weight[1][i] = p.weight[2][i] = 1;
        p.known[i] = y == 29 ? 2 : 0;
        p.b[i] = (float)(sin(x) + cos(2 * y) * z / 20 + (first ? 3 : 0));
        p.x[i] = 7;
    }
    p.b[und_mac_at(&p.mac, 35, 20, 5)] = 1;
    set(&p);
    und_pressure_report report = und_pressure_solve(p.pressure, p.b, p.x, true, 1e-8, 60);
    assert_true(report.converged);
    assert_int_equal(report.closed, 3);
    assert_double_near(p.x[und_mac_at(&p.mac, 35, 20, 5)], 0, 0);
    double largest = 0, sum = 0, x_sum = 0;
    EACH_CELL(&p.mac, x, y, z)
    {
        double b = (double)p.b[und_mac_at(&p.mac, x, y, z)];
        if (und_mask_has(&p.unknown, x, y, z))
            largest = fmax(largest, fabs(b));
        if (und_mask_has(&p.unknown, x, y, z) && x < 20 && y < 10) {
            sum += b;
            x_sum += p.x[und_mac_at(&p.mac, x, y, z)];
        }
    }
    mean = sum / (17 * 8 * 20);
    assert_double_near(report.unfit, fabs(mean) / largest, 1e-6);
    assert_double_near(x_sum, 0, 1e-8);
    EACH_CELL(&p.mac, x, y, z)
    if (und_mask_has(&p.unknown, x, y, z) && x < 20 && y < 10)
        assert_double_near(apply(&p, x, y, z, p.x), (double)p.b[und_mac_at(&p.mac, x, y, z)] - mean,
                           1.01e-8 * largest);
    drop(&p);
}

/* A pocket that hangs on the rest by a nearly closed face is solved like any. */
static void test_nearly_closed(void **state)
{
    problem p = make(40, 24, 12, 1);
    (void)state;
    EACH_CELL(&p.mac, x, y, z)
    {
        size_t i = und_mac_at(&p.mac, x, y, z);
        und_mask_add(&p.unknown, x, y, z);
        p.weight[0][i] = x != 19 ? 1 : y == 11 && z == 6 ? 1e-6f : 0;
        p.weight[1][i] = p.weight[2][i] = 1;
        p.known[i] = y == 23 && x < 20 ? 100 : 0;
        p.b[i] = (float)(chance(1, i) - 0.5);
    }
    set(&p);
    und_pressure_report report = und_pressure_solve(p.pressure, p.b, p.x, false, 1e-6, 60);
    assert_true(report.converged && report.closed == 0 && defect(&p) < 1.01e-6);
    drop(&p);
}

/* (1 + w (2 - 2 cos k)) u = b for a wave between walls: implicit diffusion, from hardly any to very much. */
static void test_diffusion(void **state)
{
    (void)state;
    for (int power = -6; power <= 6; power += 2)
        for (int depth = 1; depth <= 24; depth += 23) {
            problem p = make(32, 48, depth, 1);
            double w = pow(10, power), k = M_PI / 48 * 3, error = 0;
            EACH_CELL(&p.mac, x, y, z)
            {
                size_t i = und_mac_at(&p.mac, x, y, z);
                und_mask_add(&p.unknown, x, y, z);
                for (int a = 0; a < 3; a++)
                    p.weight[a][i] = (float)w;
                p.known[i] = 1;
                p.b[i] = (float)(1 + cos(k * (y + 0.5)));
            }
            set(&p);
            und_pressure_report report = und_pressure_solve(p.pressure, p.b, p.x, false, 1e-6, 20);
            assert_true(report.converged);
            EACH_CELL(&p.mac, x, y, z)
            {
                double expected = 1 + cos(k * (y + 0.5)) / (1 + (double)(float)w * (2 - 2 * cos(k)));
                error = fmax(error, fabs(p.x[und_mac_at(&p.mac, x, y, z)] - expected));
            }
            assert_double_near(error, 0, 5e-6);
            assert_true(defect(&p) < 1.01e-6);
            drop(&p);
        }
}

static void test_warm(void **state)
{
    problem p = make(48, 48, 48, 1);
    (void)state;
    weigh(&p, splash, true);
    random_b(&p);
    set(&p);
    und_pressure_report cold = und_pressure_solve(p.pressure, p.b, p.x, false, 1e-6, 40);
    und_pressure_report warm = und_pressure_solve(p.pressure, p.b, p.x, true, 1.01e-6, 40);
    assert_true(cold.converged && warm.converged);
    assert_int_equal(warm.iterations, 0);
    EACH_CELL(&p.mac, x, y, z)
    p.x[und_mac_at(&p.mac, x, y, z)] *= 1.001;
    warm = und_pressure_solve(p.pressure, p.b, p.x, true, 1e-6, 40);
    assert_true(warm.converged && warm.iterations < cold.iterations);
    drop(&p);
}

/* What is no number ends the solve, and the next one is as if it had not been. */
static void test_not_a_number(void **state)
{
    problem p = make(40, 40, 40, 2);
    double *first = calloc(p.mac.count, sizeof *first);
    (void)state;
    assert_non_null(first);
    weigh(&p, splash, true);
    random_b(&p);
    set(&p);
    assert_true(und_pressure_solve(p.pressure, p.b, first, false, 1e-6, 40).converged);
    size_t i = und_mac_at(&p.mac, 12, 4, 20);
    float kept = p.b[i];
    static const float wrong[] = {NAN, INFINITY, -INFINITY};
    for (int k = 0; k < 3; k++) {
        p.b[i] = wrong[k];
        p.x[i] = 3;
        und_pressure_report report = und_pressure_solve(p.pressure, p.b, p.x, k == 1, 1e-6, 40);
        assert_false(report.converged);
        assert_double_near(p.x[i], 3, 0);
    }
    p.b[i] = kept;
    float *known = &p.known[i], known_kept = *known, right = p.weight[0][i];
    *known = NAN;
    p.weight[0][i] = INFINITY;
    set(&p);
    und_pressure_solve(p.pressure, p.b, p.x, false, 1e-6, 40);
    *known = known_kept;
    p.weight[0][i] = right;
    memset(p.x, 0, p.mac.count * sizeof *p.x);
    set(&p);
    assert_true(und_pressure_solve(p.pressure, p.b, p.x, false, 1e-6, 40).converged);
    assert_memory_equal(p.x, first, p.mac.count * sizeof *p.x);
    free(first);
    drop(&p);
}

/* Nothing unknown, nothing to do; and what an earlier system left behind is not seen. */
static void test_changing(void **state)
{
    problem p = make(64, 40, 30, 1), fresh = make(64, 40, 30, 1);
    (void)state;
    set(&p);
    und_pressure_report report = und_pressure_solve(p.pressure, p.b, p.x, false, 1e-6, 10);
    assert_true(report.converged && report.iterations == 0 && report.closed == 0);
    for (int shape = 0; shape < 3; shape++) {
        problem *both[2] = {&p, &fresh};
        for (int k = 0; k < 2; k++) {
            und_mask_clear(&both[k]->unknown);
            weigh(both[k], shape == 1 ? slope : splash, shape == 0);
            random_b(both[k]);
            memset(both[k]->x, 0, p.mac.count * sizeof *p.x);
            if (k == 0 || shape == 2) { /* the second sees only the last shape */
                set(both[k]);
                assert_true(
                    und_pressure_solve(both[k]->pressure, both[k]->b, both[k]->x, false, 1e-6, 40).converged);
            }
        }
    }
    assert_memory_equal(p.x, fresh.x, p.mac.count * sizeof *p.x);
    drop(&p);
    drop(&fresh);
}

static void test_threads(void **state)
{
    static const int threads[] = {1, 2, 7}, sizes[][3] = {{80, 80, 80}, {700, 600, 1}};
    (void)state;
    for (int s = 0; s < 2; s++) {
        double *first = NULL;
        for (int i = 0; i < 3; i++) {
            problem p = make(sizes[s][0], sizes[s][1], sizes[s][2], threads[i]);
            weigh(&p, s == 0 ? splash : slope, s == 0);
            random_b(&p);
            set(&p);
            assert_true(und_pressure_solve(p.pressure, p.b, p.x, false, 1e-6, 40).converged);
            if (i == 0) {
                first = p.x;
                p.x = NULL;
            } else {
                assert_memory_equal(p.x, first, p.mac.count * sizeof *p.x);
            }
            drop(&p);
        }
        free(first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),         cmocka_unit_test(test_second_order),
        cmocka_unit_test(test_iterations),    cmocka_unit_test(test_pockets),
        cmocka_unit_test(test_nearly_closed), cmocka_unit_test(test_diffusion),
        cmocka_unit_test(test_warm),          cmocka_unit_test(test_not_a_number),
        cmocka_unit_test(test_changing),      cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
