/* The velocity between the faces of a staggered grid. */
#include "tests/test.h"

#include "base/random.h"
#include "grid/mac_sample.h"

/* Component c is base[c] + slope[c] . place. */
static const double base[3] = {0.3, -1.2, 0.7};
static const double slope[3][3] = {{1.5, -0.4, 0.9}, {0.2, 0.8, -1.1}, {-0.6, 0.5, 0.25}};

static double linear(int c, const double p[3])
{
    return base[c] + slope[c][0] * p[0] + slope[c][1] * p[1] + slope[c][2] * p[2];
}

static void fill_linear(const und_mac *m, double *u[3])
{
    for (int c = 0; c < 3; c++) {
        u[c] = calloc(m->count, sizeof **u);
        assert_non_null(u[c]);
        for (int z = -1; z <= m->n[2]; z++)
            for (int y = -1; y <= m->n[1]; y++)
                for (int x = -1; x <= m->n[0]; x++) {
                    double p[3] = {und_mac_middle(m, 0, x), und_mac_middle(m, 1, y), und_mac_middle(m, 2, z)};
                    p[c] += 0.5 * m->d[c];
                    u[c][und_mac_at(m, x, y, z)] = linear(c, p);
                }
    }
}

static void check_linear(const int n[3], int dimensions)
{
    const double d[3] = {0.1, 0.25, 0.4}, origin[3] = {-0.35, 2, 1};
    und_mac m = und_mac_make(n, d, origin);
    double *u[3];
    fill_linear(&m, u);
    for (uint64_t i = 0; i < 3000; i++) {
        double p[3], v[3];
        for (int a = 0; a < 3; a++) {
            double part = und_random(7, (uint64_t)a, i);
            part = i % 7 == 0 ? round(part) : i % 5 == 0 ? round(part * n[a]) / n[a] : part; /* ends, faces */
            p[a] = a < dimensions ? origin[a] + part * n[a] * d[a] : und_mac_middle(&m, a, 0);
        }
        und_mac_velocity(&m, u, p, v);
        for (int c = 0; c < 3; c++)
            assert_double_near(v[c], c < dimensions ? linear(c, p) : 0, 1e-13);
    }
    for (int c = 0; c < 3; c++)
        free(u[c]);
}

static void linear_fields_come_out_exactly(void **state)
{
    (void)state;
    check_linear((const int[3]){7, 5, 4}, 3);
    check_linear((const int[3]){1, 2, 3}, 3);
    check_linear((const int[3]){7, 5, 1}, 2);
    check_linear((const int[3]){1, 1, 1}, 2);
}

/* Beyond the domain, even at infinity, it is what it is at the end; nothing is read outside of the arrays. */
static void places_outside_are_at_the_ends(void **state)
{
    (void)state;
    const int n[3] = {3, 4, 5};
    const double d[3] = {1, 1, 1}, origin[3] = {0};
    und_mac m = und_mac_make(n, d, origin);
    double *u[3], v[3];
    fill_linear(&m, u);
    und_mac_velocity(&m, u, (const double[3]){1e300, -INFINITY, 2.5}, v);
    assert_double_near(v[0], linear(0, (const double[3]){3, -0.5, 2.5}), 1e-13);
    assert_double_near(v[1], linear(1, (const double[3]){3.5, 0, 2.5}), 1e-13);
    assert_double_near(v[2], linear(2, (const double[3]){3.5, -0.5, 2.5}), 1e-13);
    und_mac_velocity(&m, u, (const double[3]){NAN, NAN, NAN}, v);
    assert_double_near(v[0], linear(0, (const double[3]){0, -0.5, -0.5}), 1e-13);
    for (int c = 0; c < 3; c++)
        free(u[c]);
}

/* A velocity that is the same everywhere is not even rounded. */
static void uniform_fields_are_not_rounded(void **state)
{
    (void)state;
    const int n[3] = {6, 6, 6};
    const double d[3] = {0.1, 0.1, 0.1}, origin[3] = {0}, same[3] = {0.1, -1.0 / 3, 1e-7};
    und_mac m = und_mac_make(n, d, origin);
    double *u[3], v[3];
    fill_linear(&m, u);
    for (int c = 0; c < 3; c++)
        for (size_t i = 0; i < m.count; i++)
            u[c][i] = same[c];
    for (uint64_t i = 0; i < 1000; i++) {
        const double p[3] = {0.6 * und_random(1, 1, i), 0.6 * und_random(1, 2, i), 0.6 * und_random(1, 3, i)};
        und_mac_velocity(&m, u, p, v);
        for (int c = 0; c < 3; c++)
            assert_true(v[c] == same[c]);
    }
    for (int c = 0; c < 3; c++)
        free(u[c]);
}

/* Many at once are what each is alone, bit by bit. */
static void many_are_the_same(void **state)
{
    (void)state;
    for (int nz = 1; nz <= 5; nz += 4) {
        const int n[3] = {7, 6, nz};
        const double d[3] = {0.1, 0.2, 0.3}, origin[3] = {0};
        und_mac m = und_mac_make(n, d, origin);
        double *u[3], cells[3][UND_MAC_MANY], out[3][UND_MAC_MANY], one[3];
        fill_linear(&m, u);
        for (int c = 0; c < 3; c++)
            for (size_t i = 0; i < m.count; i++)
                u[c][i] = und_random(2, (uint64_t)c, i) - 0.5;
        for (int i = 0; i < UND_MAC_MANY; i++)
            for (int a = 0; a < 3; a++)
                cells[a][i] = (n[a] + 4) * und_random(3, (uint64_t)a, (uint64_t)i) - 2;
        und_mac_velocity_many(&m, u, UND_MAC_MANY - 3, cells, out);
        for (int i = 0; i < UND_MAC_MANY - 3; i++) {
            und_mac_velocity_cells(&m, u, (const double[3]){cells[0][i], cells[1][i], cells[2][i]}, one);
            for (int c = 0; c < 3; c++)
                assert_true(out[c][i] == one[c]);
        }
        for (int c = 0; c < 3; c++)
            free(u[c]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_fields_come_out_exactly),
        cmocka_unit_test(places_outside_are_at_the_ends),
        cmocka_unit_test(uniform_fields_are_not_rounded),
        cmocka_unit_test(many_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
