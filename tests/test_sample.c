/* Values between those of a staggered grid. */
#include "grid/sample_near.h"
#include "tests/test.h"

#include "base/random.h"

typedef struct field {
    und_mac mac;
    float *u[3], *cell;
} field;

static double linear(int c, const double x[3])
{
    static const double slope[4][3] = {{0.5, -0.25, 1}, {2, 0.125, -0.5}, {-1, 0.75, 0.25}, {0.25, 1, -2}};
    return c + slope[c][0] * x[0] + slope[c][1] * x[1] + slope[c][2] * x[2];
}

static float *array_of(const und_mac *m)
{
    float *v = malloc(m->count * sizeof *v);
    assert_non_null(v);
    for (size_t i = 0; i < m->count; i++)
        v[i] = m->n[0] > 1 ? NAN : 0; /* what is read and must not be shows */
    return v;
}

/* Linear inside and on the border, NaN beside the domain. */
static field linear_field(int nx, int ny, int nz)
{
    field f = {.mac = und_mac_make((int[]){nx, ny, nz}, (double[]){1, 1, 1}, (double[]){0, 0, 0})};
    for (int c = 0; c < 4; c++) {
        float *v = array_of(&f.mac);
        for (int z = c == 2 ? -1 : 0; z < nz; z++)
            for (int y = c == 1 ? -1 : 0; y < ny; y++)
                for (int x = c == 0 ? -1 : 0; x < nx; x++) {
                    const double at[3] = {x + (c == 0 ? 1 : 0.5), y + (c == 1 ? 1 : 0.5),
                                          nz == 1  ? 0
                                          : c == 2 ? z + 1
                                                   : z + 0.5};
                    v[und_mac_at(&f.mac, x, y, z)] = (float)linear(c, at);
                }
        *(c < 3 ? &f.u[c] : &f.cell) = v;
    }
    return f;
}

static void close_field(field *f)
{
    for (int c = 0; c < 3; c++)
        free(f->u[c]);
    free(f->cell);
}

static double clamp(double x, double low, double high)
{
    return x < low ? low : x > high ? high : x;
}

/* The linear field at a place, where the outermost values hold as far as the border. */
static double expected(const field *f, int c, const double place[3])
{
    double at[3];
    for (int a = 0; a < 3; a++)
        at[a] = a == c ? clamp(place[a], 0, f->mac.n[a]) : clamp(place[a], 0.5, f->mac.n[a] - 0.5);
    if (f->mac.n[2] == 1)
        at[2] = 0;
    return linear(c, at);
}

static void check_linear(int nx, int ny, int nz)
{
    field f = linear_field(nx, ny, nz);
    for (uint64_t batch = 0; batch < 400; batch++) {
        und_lanes place[3], speed[3], one, cell;
        und_sample_range range;
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < UND_LANES; i++) {
                double share = und_random(3, batch, (uint64_t)(3 * i + a));
                place[a][i] = (float)(batch % 2 ? share * (f.mac.n[a] + 2) - 1 : rint(share * f.mac.n[a]));
            }
        und_sample_velocity(&f.mac, f.u, place, speed);
        und_sample_cells(&f.mac, f.cell, place, &cell, &range);
        for (int i = 0; i < UND_LANES; i++) {
            const double at[3] = {place[0][i], place[1][i], place[2][i]};
            for (int c = 0; c < (nz == 1 ? 2 : 3); c++) {
                und_sample_faces(&f.mac, f.u[c], c, place, &one, NULL);
                assert_double_near(speed[c][i], expected(&f, c, at), 1e-4);
                assert_true(one[i] == speed[c][i]);
            }
            assert_double_near(cell[i], expected(&f, 3, at), 1e-4);
            assert_true(range.low[i] <= cell[i] + 1e-4f && cell[i] <= range.high[i] + 1e-4f);
            if (nx > 1) /* the slopes' sum */
                assert_true(range.high[i] - range.low[i] <= 3.25f + 1e-4f);
        }
        if (nz == 1)
            assert_true(speed[2][0] == 0);
    }
    close_field(&f);
}

static void test_linear(void **state)
{
    (void)state;
    check_linear(20, 9, 7);
    check_linear(70, 3, 2);
    check_linear(2, 2, 2);
    check_linear(1, 1, 2);
    check_linear(33, 12, 1);
    check_linear(1, 1, 1);
}

static void test_odd_places(void **state)
{
    (void)state;
    static const float odd[] = {NAN, INFINITY, -INFINITY, 1e30f, -1e30f, -0.0f, 5, 1e-30f};
    field f = linear_field(5, 5, 5);
    und_lanes place[3], speed[3];
    for (int shift = 0; shift < 8; shift++) {
        for (int a = 0; a < 3; a++)
            for (int i = 0; i < UND_LANES; i++)
                place[a][i] = odd[(i + a * shift) % 8];
        und_sample_velocity(&f.mac, f.u, place, speed);
        for (int i = 0; i < UND_LANES; i++) {
            double at[3];
            for (int a = 0; a < 3; a++)
                at[a] = place[a][i] > 0 ? place[a][i] : 0;
            for (int c = 0; c < 3; c++)
                assert_double_near(speed[c][i], expected(&f, c, at), 1e-5);
        }
    }
    close_field(&f);
}

/* The flow u = A x takes x0 to exp(A t) x0; here a rotation.  Halving the step shows the order. */
static double trace_error(const field *f, bool third, int steps)
{
    const double angle = 1, r = 6;
    und_lanes place[3], speed[3];
    for (int a = 0; a < 3; a++)
        place[a] = und_lanes_all(a == 0 ? 10 + (float)r : 10);
    for (int s = 0; s < steps; s++) {
        und_lanes next[3];
        und_sample_velocity(&f->mac, f->u, place, speed);
        und_sample_trace(&f->mac, f->u, place, speed, (float)(-angle / steps), third, next);
        memcpy(place, next, sizeof place);
    }
    return hypot(place[0][0] - 10 - r * cos(angle), place[1][0] - 10 + r * sin(angle));
}

static void test_trace(void **state)
{
    (void)state;
    field f = linear_field(20, 20, 1);
    for (int y = -1; y <= 20; y++)
        for (int x = -1; x <= 20; x++) {
            f.u[0][und_mac_at(&f.mac, x, y, 0)] = (float)-(y + 0.5 - 10);
            f.u[1][und_mac_at(&f.mac, x, y, 0)] = (float)(x + 0.5 - 10);
        }
    for (int third = 0; third < 2; third++) {
        double order = log2(trace_error(&f, third, 2) / trace_error(&f, third, 4));
        assert_double_near(order, third ? 3 : 2, 0.15);
    }
    close_field(&f);
}

static bool same_bits(und_lanes a, und_lanes b, unsigned which)
{
    for (int i = 0; i < UND_LANES; i++)
        if (which >> i & 1 && memcmp((const float *)&a + i, (const float *)&b + i, sizeof(float)) != 0)
            return false;
    return true;
}

/* The lower of the two values that a place is between along an axis. */
static int lower(const und_mac *m, int axis, int along, float place)
{
    const float t = along == axis ? place : place + 0.5f, least = along == axis ? 0 : 1;
    const float most = (float)m->n[along], bounded = !(t > least) ? least : t < most ? t : most;
    const int i = (int)bounded;
    return (i < m->n[along] ? i : m->n[along] - 1) - 1;
}

static void check_near_known(const field *f, const und_mask *mask, const und_lanes place[3], unsigned which)
{
    const und_mac *m = &f->mac;
    und_lanes value, near = {0};
    const int dimensions = m->n[2] == 1 ? 2 : 3;
    for (int c = 0; c < dimensions; c++) {
        const unsigned bits = und_sample_near_known(m, f->u[c], mask, c, place, which, &near);
        assert_int_equal(bits & ~which, 0);
        und_sample_faces(m, f->u[c], c, place, &value, NULL);
        assert_true(same_bits(value, near, bits));
        for (int i = 0; i < UND_LANES; i++) {
            int at[3] = {0, 0, 0};
            for (int a = 0; a < dimensions; a++)
                at[a] = lower(m, c, a, place[a][i]);
            if (which >> i & 1)
                assert_int_equal(bits >> i & 1, und_mask_has(mask, at[0], at[1], at[2]));
        }
    }
}

/* Where neighbours in a row come from, the further apart the larger `spread` is: the values are those of
 * each by itself, whatever stands beside the domain and in lanes that do not count. */
static void check_near(const field *f, const und_mask *mask, float spread)
{
    const und_mac *m = &f->mac;
    for (uint64_t batch = 0; batch < 3000; batch++) {
        und_lanes place[3], speed[3], near_speed[3], one, near_one;
        und_sample_range range, near_range;
        const unsigned which =
            1 | ((unsigned)(und_random(5, batch, 0) * (UND_LANES_ALL + 1)) & UND_LANES_ALL);
        for (int a = 0; a < 3; a++) {
            const double from = und_random(5, batch, (uint64_t)(1 + a)) * (m->n[a] + 2) - 1;
            for (int i = 0; i < UND_LANES; i++)
                place[a][i] = (float)(from + (a == 0 ? i : 0) +
                                      (double)spread * und_random(6, batch, (uint64_t)(3 * i + a)));
        }
        for (int i = 1; i < UND_LANES; i++)
            if (!(which >> i & 1))
                place[i % 3][i] = i % 2 ? NAN : 1e30f;
        check_near_known(f, mask, place, which);
        und_sample_velocity(m, f->u, place, speed);
        und_sample_near_velocity(m, f->u, place, which, near_speed);
        for (int c = 0; c < (m->n[2] == 1 ? 2 : 3); c++) {
            assert_true(same_bits(speed[c], near_speed[c], which));
            und_sample_faces(m, f->u[c], c, place, &one, &range);
            und_sample_near_faces(m, f->u[c], c, place, which, &near_one, &near_range);
            assert_true(same_bits(one, near_one, which));
            assert_true(same_bits(range.low, near_range.low, which));
            assert_true(same_bits(range.high, near_range.high, which));
        }
    }
}

static void test_near(void **state)
{
    (void)state;
    static const int n[][3] = {{40, 11, 9}, {70, 3, 2}, {2, 2, 2}, {33, 12, 1}};
    for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
        field f = linear_field(n[k][0], n[k][1], n[k][2]);
        for (size_t i = 0; i < f.mac.count; i++)
            for (int c = 0; c < 3; c++)
                if (!isnan(f.u[c][i]))
                    f.u[c][i] = (float)(und_random(7, i, (uint64_t)c) - 0.5);
        und_mask mask;
        und_error err;
        assert_int_equal(und_mask_open(&mask, &f.mac, "bits", &err), UND_OK);
        for (int z = -1; z <= n[k][2]; z++)
            for (int y = -1; y <= n[k][1]; y++)
                for (int x = -1; x <= n[k][0]; x++)
                    if (und_random(8, und_mac_at(&f.mac, x, y, z), 0) < 0.7)
                        und_mask_add(&mask, x, y, z);
        check_near(&f, &mask, 0.3f);
        check_near(&f, &mask, 1.2f);
        check_near(&f, &mask, 5);
        und_mask_close(&mask);
        close_field(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linear),
        cmocka_unit_test(test_odd_places),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
