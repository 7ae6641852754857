/* The velocity carried along by itself. */
#include "tests/mac_flow_model.h"

#include "base/random.h"

static double full(double x, double y, double z)
{
    (void)x, (void)y, (void)z;
    return -1;
}

/* A blob of liquid off the sides, of odd shape; in two dimensions a disc. */
static double disc(double x, double y, double z)
{
    (void)z;
    return hypot(x - 19, y - 12) - 7 + sin(x);
}
static double blob(double x, double y, double z)
{
    return sqrt((x - 19) * (x - 19) + (y - 12) * (y - 12) + (z - 9) * (z - 9)) - 7 + sin(x);
}

static void fill_random(const und_mac *m, float *v, uint64_t stream)
{
    for (size_t i = 0; i < m->count; i++)
        v[i] = (float)(2 * und_random(11, stream, i) - 1);
}

/* ---- A constant is carried to itself, and what does not flow is left alone ---- */

static void check_constant(int nz, und_advection rule, und_trace_order trace)
{
    stream_model w;
    model_open(&w, 37, 24, nz, true, 2);
    const und_mac *m = &w.s.mac;
    static const float constant[3] = {0.7f, -1.3f, 0.1f};
    model_label(&w, nz == 1 ? disc : blob);
    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < m->count; i++)
            w.s.u[a][i] = nz == 1 && a == 2 ? 0 : constant[a];
    und_mac_flow_advect(&w.s, 1.9, trace, rule);
    for (int a = 0; a < (nz == 1 ? 2 : 3); a++)
        for (size_t i = 0; i < m->count; i++)
            assert_true(w.s.u[a][i] == constant[a]);
    model_close(&w);
}

static void test_constant(void **state)
{
    (void)state;
    for (int rule = 0; rule < 2; rule++)
        for (int trace = 0; trace < 2; trace++)
            for (int nz = 1; nz < 20; nz += 17)
                check_constant(nz, (und_advection)rule, (und_trace_order)trace);
}

/* ---- A linear flow, straight along each line: the values are exact ---- */

static double shear(double x, double y, double z)
{
    (void)x;
    return 0.02 * y + 0.03 * z;
}

static void test_shear(void **state)
{
    (void)state;
    for (int rule = 0; rule < 2; rule++) {
        stream_model w;
        model_open(&w, 40, 30, 20, false, 2);
        const und_mac *m = &w.s.mac;
        model_label(&w, blob);
        model_fill(m, w.s.u[0], 0, shear);
        for (size_t i = 0; i < m->count; i++)
            w.s.u[2][i] = -0.5f;
        und_mac_flow_advect(&w.s, 3, UND_TRACE_RK2, (und_advection)rule);
        /* it comes from 1.5 cells above, where the flow along x is 0.045 faster; along x nothing changes */
        long count = 0;
        for (int z = 0; z < 20; z++)
            for (int y = 0; y < 30; y++)
                for (int x = 0; x < 40; x++) {
                    double was = shear(x + 1, y + 0.5, z + 0.5);
                    bool flows = und_mask_has(&w.s.flows[0], x, y, z);
                    assert_double_near(w.s.u[0][und_mac_at(m, x, y, z)], flows ? was + 0.045 : was, 1e-6);
                    count += flows;
                }
        assert_true(count > 500);
        model_close(&w);
    }
}

/* ---- Order of convergence: a bump carried round in a two-dimensional rotation ---- */

/* The flow is a rotation about the middle of n x n cells, all alike along z, and does not change; the small
 * component along z is what is carried, a quarter round. */
static double rotation_error(int n, double cells_per_step, und_advection rule, und_trace_order trace)
{
    stream_model w;
    model_open(&w, n, n, 2, true, 2);
    const und_mac *m = &w.s.mac;
    model_label(&w, full);
    const double angle = acos(0), way = angle * n / 4; /* cells that the bump's middle goes */
    const int steps = (int)ceil(way / cells_per_step);
    float *start[3];
    for (int a = 0; a < 3; a++)
        start[a] = model_array(m);
    for (int z = -1; z <= 2; z++)
        for (int y = -1; y <= n; y++)
            for (int x = -1; x <= n; x++) {
                size_t at = und_mac_at(m, x, y, z);
                double bx = (x + 0.5) / n - 0.75, by = (y + 0.5) / n - 0.5;
                start[0][at] = (float)-(y + 0.5 - n / 2.0);
                start[1][at] = (float)(x + 0.5 - n / 2.0);
                start[2][at] = (float)(1e-3 * exp(-80 * (bx * bx + by * by)));
            }
    memcpy(w.s.u[2], start[2], m->count * sizeof(float));
    for (int s = 0; s < steps; s++) {
        for (int a = 0; a < 2; a++)
            memcpy(w.s.u[a], start[a], m->count * sizeof(float));
        und_mac_flow_advect(&w.s, angle / steps, trace, rule);
    }
    double sum = 0;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) { /* from (0.75, 0.5) it came to (0.5, 0.75) */
            double bx = (x + 0.5) / n - 0.5, by = (y + 0.5) / n - 0.75;
            sum += fabs(w.s.u[2][und_mac_at(m, x, y, 0)] - 1e-3 * exp(-80 * (bx * bx + by * by)));
        }
    for (int a = 0; a < 3; a++)
        und_pages_free(start[a]);
    model_close(&w);
    return sum / (n * n) / 1e-3;
}

static void test_order(void **state)
{
    (void)state;
    static const double speed[] = {0.5, 1.7, 4};
    for (int trace = 0; trace < 2; trace++)
        for (int i = 0; i < 3; i++)
            for (int rule = 0; rule < 2; rule++) {
                double coarse = rotation_error(48, speed[i], (und_advection)rule, (und_trace_order)trace);
                double fine = rotation_error(96, speed[i], (und_advection)rule, (und_trace_order)trace);
                double order = log2(coarse / fine);
                assert_true(order > (rule ? 1.75 : 0.75));
            }
}

/* ---- No new extremes, the same bits, and any number ---- */

static void random_flow(stream_model *w, int nz, int threads)
{
    model_open(w, 37, 24, nz, false, threads);
    model_label(w, nz == 1 ? disc : blob);
    for (int a = 0; a < (nz == 1 ? 2 : 3); a++)
        fill_random(&w->s.mac, w->s.u[a], (uint64_t)a);
}

static void test_limits(void **state)
{
    (void)state;
    for (int nz = 1; nz < 20; nz += 17) {
        stream_model w;
        random_flow(&w, nz, 2);
        const und_mac *m = &w.s.mac;
        float *old = model_array(m);
        memcpy(old, w.s.u[0], m->count * sizeof *old);
        for (size_t i = 0; i < m->count; i++) { /* nothing comes from further than a cell away */
            w.s.u[1][i] *= 0.9f;
            w.s.u[2][i] *= 0.9f;
        }
        und_mac_flow_advect(&w.s, 1, UND_TRACE_RK2, UND_ADVECT_MACCORMACK);
        long changed = 0;
        for (int z = 0; z < nz; z++)
            for (int y = 0; y < 24; y++)
                for (int x = 0; x < 37; x++) {
                    size_t at = und_mac_at(m, x, y, z);
                    float low = INFINITY, high = -INFINITY;
                    for (int i = 0; i < 27; i++) {
                        int px = x + i % 3 - 1, py = y + i / 3 % 3 - 1, pz = z + i / 9 - 1;
                        if (py < 0 || pz < 0 || pz >= nz)
                            continue;
                        low = fminf(low, old[und_mac_at(m, px, py, pz)]);
                        high = fmaxf(high, old[und_mac_at(m, px, py, pz)]);
                    }
                    assert_true(w.s.u[0][at] >= low && w.s.u[0][at] <= high);
                    changed += w.s.u[0][at] != old[at];
                }
        assert_true(changed > 50);
        und_pages_free(old);
        model_close(&w);
    }
}

static void test_threads(void **state)
{
    (void)state;
    for (int rule = 0; rule < 2; rule++)
        for (int nz = 1; nz < 20; nz += 17) {
            stream_model one, many;
            random_flow(&one, nz, 1);
            und_mac_flow_advect(&one.s, 2.5, UND_TRACE_RK3, (und_advection)rule);
            for (int threads = 2; threads <= 7; threads += 5) {
                random_flow(&many, nz, threads);
                model_spoil_scratch(&many.s, 66); /* 48: some number, where the other has none */
                und_mac_flow_advect(&many.s, 2.5, UND_TRACE_RK3, (und_advection)rule);
                for (int a = 0; a < 3; a++)
                    assert_memory_equal(one.s.u[a], many.s.u[a], one.s.mac.count * sizeof(float));
                model_close(&many);
            }
            model_close(&one);
        }
}

/* Faces that do not flow have the bits they had. */
static void check_rest(const und_mac_flow *s, float *const old[3])
{
    const und_mac *m = &s->mac;
    for (int a = 0; a < 3; a++)
        for (int z = -1; z <= m->n[2]; z++)
            for (int y = -1; y <= m->n[1]; y++)
                for (int x = -1; x <= m->n[0]; x++)
                    if (!und_mask_has(&s->flows[a], x, y, z)) {
                        size_t at = und_mac_at(m, x, y, z);
                        assert_memory_equal(&s->u[a][at], &old[a][at], sizeof(float));
                    }
}

static void test_odd_numbers(void **state)
{
    (void)state;
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1e38f, -1e38f};
    for (int rule = 0; rule < 2; rule++)
        for (int nz = 1; nz < 20; nz += 17) {
            stream_model w;
            random_flow(&w, nz, 2);
            for (int a = 0; a < 3; a++)
                for (size_t i = (size_t)a; i < w.s.mac.count; i += 7)
                    w.s.u[a][i] = odd[i % 5];
            float *old[3];
            for (int a = 0; a < 3; a++) {
                old[a] = model_array(&w.s.mac);
                memcpy(old[a], w.s.u[a], w.s.mac.count * sizeof(float));
            }
            und_mac_flow_advect(&w.s, 1e30, UND_TRACE_RK3, (und_advection)rule);
            und_mac_flow_advect(&w.s, (double)NAN, UND_TRACE_RK2, (und_advection)rule);
            check_rest(&w.s, old);
            for (int a = 0; a < 3; a++)
                und_pages_free(old[a]);
            model_close(&w);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_constant), cmocka_unit_test(test_shear),   cmocka_unit_test(test_order),
        cmocka_unit_test(test_limits),   cmocka_unit_test(test_threads), cmocka_unit_test(test_odd_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
