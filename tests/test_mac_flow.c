/* Which cells and faces of a flow are active. */
#include "tests/mac_flow_model.h"

#include "base/random.h"

static bool inside(const und_mac *m, int x, int y, int z)
{
    return x >= 0 && y >= 0 && z >= 0 && x < m->n[0] && y < m->n[1] && z < m->n[2];
}

static bool is_liquid(const stream_model *w, int x, int y, int z)
{
    const und_mac *m = &w->s.mac;
    if (!inside(m, x, y, z) || !(w->d.phi[und_mac_at(m, x, y, z)] < 0))
        return false;
    for (int a = 0; a < (m->n[2] == 1 ? 2 : 3); a++) {
        size_t at = und_mac_at(m, x, y, z);
        if (w->solids.open[a][at] > 0 || w->solids.open[a][at - (size_t)m->step[a]] > 0)
            return true;
    }
    return false;
}

static void check_labels(int nx, int ny, int nz, bool sides, int threads)
{
    stream_model w;
    model_open(&w, nx, ny, nz, sides, threads);
    const und_mac *m = &w.s.mac;
    for (int round = 0; round < 3; round++) {
        for (int z = -1; z <= nz; z++)
            for (int y = -1; y <= ny; y++)
                for (int x = -1; x <= nx; x++) {
                    size_t at = und_mac_at(m, x, y, z);
                    uint64_t stream = (uint64_t)round * 8;
                    w.d.phi[at] = (float)(und_random(5, stream, at) - 0.4);
                    for (int a = 0; a < 3; a++)
                        if (und_random(5, stream + 1 + (uint64_t)a, at) < 0.6)
                            w.solids.open[a][at] = 0;
                }
        und_mac_flow_label(&w.s, &w.d, &w.solids);
        for (int z = -1; z <= nz; z++)
            for (int y = -1; y <= ny; y++)
                for (int x = -1; x <= nx; x++) {
                    bool here = is_liquid(&w, x, y, z);
                    assert_int_equal(und_mask_has(&w.s.liquid, x, y, z), here);
                    for (int a = 0; a < 3; a++) {
                        bool touches = here || is_liquid(&w, x + (a == 0), y + (a == 1), z + (a == 2));
                        bool flows = touches && w.solids.open[a][und_mac_at(m, x, y, z)] > 0;
                        assert_int_equal(und_mask_has(&w.s.flows[a], x, y, z), flows && (a < 2 || nz > 1));
                    }
                }
    }
    model_close(&w);
}

static void test_labels(void **state)
{
    (void)state;
    for (int sides = 0; sides < 2; sides++) {
        check_labels(5, 4, 3, sides, 1);
        check_labels(62, 5, 4, sides, 2);
        check_labels(63, 3, 4, sides, 7);
        check_labels(130, 20, 3, sides, 2);
        check_labels(1, 1, 2, sides, 1);
        check_labels(70, 33, 1, sides, 2);
        check_labels(1, 1, 1, sides, 1);
    }
}

static double liquid_low(double x, double y, double z)
{
    (void)x, (void)z;
    return y - 7;
}

static void test_fastest(void **state)
{
    (void)state;
    stream_model w;
    model_open(&w, 70, 12, 5, false, 2);
    const und_mac *m = &w.s.mac;
    model_label(&w, liquid_low);
    double usual;
    assert_true(und_mac_flow_fastest(&w.s, 0, 2, &usual) == 0 && usual == 0);
    w.s.u[1][und_mac_at(m, 66, 9, 2)] = 9; /* not of the flow */
    w.s.u[0][und_mac_at(m, 69, 3, 2)] = 8; /* closed */
    w.s.u[1][und_mac_at(m, 66, 6, 4)] = -5;
    w.s.u[2][und_mac_at(m, 0, 0, 0)] = 4;
    assert_true(und_mac_flow_fastest(&w.s, 0, 1, &usual) == 5 && usual == 5);
    long faces = 0;
    for (int a = 0; a < 3; a++)
        faces += und_mask_count(&w.s.flows[a]);
    const double one = 1.5 / (double)faces;
    const struct {
        double few, times, usual;
    } asked[] = {{0, 2, 5},        /* none may be faster */
                 {one, 2, 4.0625}, /* one may: in steps of 2.5 / 8 */
                 {one, 1.25, 4},
                 {2 * one, 2, 2.5}}; /* no less is looked for */
    for (int i = 0; i < 4; i++) {
        assert_true(und_mac_flow_fastest(&w.s, asked[i].few, asked[i].times, &usual) == 5);
        assert_true(usual == asked[i].usual);
    }
    w.s.u[2][und_mac_at(m, 0, 0, 1)] = NAN;
    assert_true(isinf(und_mac_flow_fastest(&w.s, one, 2, &usual)) && isinf(usual));
    model_close(&w);
}

static void test_too_large(void **state)
{
    (void)state;
    und_mac_flow s;
    und_error err;
    und_mac m = und_mac_make((int[]){40000, 2, 2}, (double[]){1, 1, 1}, (double[]){0, 0, 0});
    assert_int_equal(und_mac_flow_open(&s, &m, 1, NULL, &err), UND_INVALID);
    m = und_mac_make((int[]){2000, 2000, 2000}, (double[]){1, 1, 1}, (double[]){0, 0, 0});
    assert_int_equal(und_mac_flow_open(&s, &m, 1, NULL, &err), UND_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_fastest),
        cmocka_unit_test(test_too_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
