/* Cells cut by planes: parts that are known, and what must hold of all. */
#include "tests/test.h"

#include "base/random.h"
#include "surface/plane_kernel.h"

/* Slopes of all kinds: along axes and diagonals, two of a size, all but along an axis, any. */
static void slope_of(uint64_t i, double slope[3])
{
    static const double special[][3] = {
        {1, 0, 0},           {0, -1, 0},       {0, 0, 2},          {1, 1, 0},       {0, 1, -1},
        {1, 1, 1},           {-1, 1, -1},      {1, 1, 2},          {1, 2, 3},       {0.5, 0.5, 1},
        {1, 1, 1e-3},        {1, 1e-3, 0},     {1e-4, 1, -1},      {1e-7, 1e-7, 1}, {1e-12, 1, 1e-9},
        {1e-16, 0, 1},       {1e-40, 1, 1},    {3e-6, 2e-6, 5e-6}, {1e6, -3e6, 0},  {1e-9, 1e-9, 1e-9},
        {1, 1 - 1e-7, 1e-7}, {1e-3, -2e-3, 1},
    };
    const uint64_t count = sizeof special / sizeof *special;
    for (uint64_t a = 0; a < 3; a++) {
        double v = 2 * und_random(7, a, i) - 1;
        slope[a] = i < count ? special[i][a] : i % 3 == 0 ? v * v * v * v * v * v * v : v;
    }
}
enum { SLOPES = 600, PARTS = 60 };

/* Parts from 1e-12 to 1 less that, closer at both ends. */
static double part_of(int i)
{
    double near = pow(10, -12.0 + 12.0 * (i % 30) / 30) / 2;
    return i < 30 ? near : 1 - near;
}

static double part_along(const double slope[3],
                         double depth) /* below slope.x = depth, x from the lowest corner */
{
    return und_plane_part((fabs(slope[0]) + fabs(slope[1]) + fabs(slope[2])) / 2 - depth, slope);
}

static void parts_are_those_of_known_solids(void **state)
{
    (void)state;
    /* tetrahedra at a corner: a^3 / (6 l m n) */
    assert_double_near(part_along((double[]){1, 1, 1}, 0.5), 0.125 / 6, 1e-16);
    assert_double_near(part_along((double[]){1, -2, 4}, 1), 1.0 / 48, 1e-16);
    assert_double_near(part_along((double[]){3, 2, -5}, 2), 8.0 / 180, 1e-16);
    assert_double_near(part_along((double[]){1, 1, 1}, 1), 1.0 / 6, 1e-16);
    assert_double_near(part_along((double[]){1, 1, 1}, 1.5), 0.5, 1e-15);
    assert_double_near(part_along((double[]){1, 1, 1}, 2), 5.0 / 6, 1e-15);
    /* a corner less the three that stick out, of half its size: 1.25^3/6 - 3 0.25^3/6 */
    assert_double_near(part_along((double[]){1, 1, 1}, 1.25), (1.25 * 1.25 * 1.25 - 3.0 / 64) / 6, 1e-15);
    /* prisms: triangles and trapezia times 1 */
    assert_double_near(part_along((double[]){1, 0, 1}, 0.5), 0.125, 1e-16);
    assert_double_near(part_along((double[]){0, 1, -3}, 1), 1.0 / 6, 1e-16);
    assert_double_near(part_along((double[]){1, 4, 0}, 2), 0.375, 1e-15);
    assert_double_near(part_along((double[]){0, 0, 3}, 0.6), 0.2, 1e-15);
    /* a plane through all four upright edges: the mean of their heights */
    assert_double_near(part_along((double[]){0.25, 1, 0.5}, 0.875), 0.5, 1e-15);
    assert_double_near(part_along((double[]){0.25, 1, 0.125}, 0.5), 0.3125, 1e-15);
    /* all and nothing */
    assert_double_near(und_plane_part(-9, (double[]){1, 2, 3}), 1, 0);
    assert_double_near(und_plane_part(9, (double[]){1, 2, 3}), 0, 0);
    assert_double_near(und_plane_part(0.2, (double[]){0, 0, 0}), 0.3, 1e-16);
}

static void turned_and_mirrored_planes_cut_the_same(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOPES; i++) {
        double s[3];
        slope_of(i, s);
        double size = fabs(s[0]) + fabs(s[1]) + fabs(s[2]), value = (und_random(7, 5, i) - 0.5) * size;
        double part = und_plane_part(value, s);
        for (int turn = 0; turn < 6; turn++)
            for (int signs = 0; signs < 8; signs++) {
                double t[3];
                for (int a = 0; a < 3; a++)
                    t[a] = s[(turn % 3 + (turn < 3 ? a : 3 - a)) % 3] * (signs >> a & 1 ? -1 : 1);
                assert_double_near(und_plane_part(value, t), part, 1e-15);
                assert_double_near(und_plane_part(-value, t), 1 - part, 2e-15);
            }
    }
}

static void a_part_s_plane_has_that_part(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOPES; i++) {
        double s[3];
        slope_of(i, s);
        assert_double_near(und_plane_part(und_plane_value(0, s), s), 0, 0);
        assert_double_near(und_plane_part(und_plane_value(1, s), s), 1, 0);
        for (int k = 0; k < PARTS; k++)
            assert_double_near(und_plane_part(und_plane_value(part_of(k), s), s), part_of(k), 1e-14);
    }
    assert_double_near(und_plane_value(0.3, (double[]){0, 0, 0}), 0.2, 1e-16);
}

static void parts_grow_with_the_plane(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOPES; i++) {
        double s[3], loss, last = 0;
        slope_of(i, s);
        double size = fabs(s[0]) + fabs(s[1]) + fabs(s[2]), sum = 0;
        enum { TIMES = 1000 };
        for (int k = 0; k <= TIMES; k++) {
            double part = und_plane_part_of((0.5 - (k - 0.5) / TIMES) * size, s, &loss);
            assert_true(part >= last - 4e-16 && part <= 1);
            last = part;
            sum += loss * size / TIMES;
        }
        assert_double_near(last, 1, 2e-3);
        assert_double_near(sum, 1, 2e-3); /* the derivative is that of the part */
    }
}

static void slabs_add_up_to_the_whole(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOPES; i++) {
        double s[3];
        slope_of(i, s);
        double size = fabs(s[0]) + fabs(s[1]) + fabs(s[2]), value = (und_random(7, 5, i) - 0.5) * size;
        double a = und_random(7, 6, i), b = a + (1 - a) * und_random(7, 7, i),
               whole = und_plane_part(value, s);
        for (int axis = 0; axis < 3; axis++) {
            double low = und_plane_slab(value, s, axis, 0, a), mid = und_plane_slab(value, s, axis, a, b),
                   high = und_plane_slab(value, s, axis, b, 1);
            assert_double_near(low + mid + high, whole, 2e-15);
            assert_true(low <= a && high <= 1 - b && low >= 0 && mid >= 0 && high >= 0);
            assert_double_near(und_plane_slab(value, s, axis, 0, 1), whole, 0);
            assert_double_near(und_plane_slab(value, s, axis, a, a), 0, 0);
        }
    }
    /* of a corner with sides of 1/2: within x < 1/4 all but a corner of half that size */
    const double diagonal[3] = {1, 1, 1};
    assert_double_near(und_plane_slab(1, diagonal, 2, 0, 0.25), (0.125 - 0.015625) / 6, 1e-16);
    assert_double_near(und_plane_slab(1, diagonal, 2, 0.5, 1), 0, 0);
    assert_double_near(und_plane_slab(0.1, (double[]){0, 0, 0}, 1, 0.8, 1), 0.08, 1e-16);
}

/* Each lane is what doubles give but for the rounding of floats. */
static void lanes_do_the_same_in_floats(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < SLOPES; i++) {
        double s[3];
        slope_of(i, s);
        const und_lanes slope[3] = {und_lanes_all((float)s[0]), und_lanes_all((float)s[1]),
                                    und_lanes_all((float)s[2])};
        const double exact[3] = {(float)s[0], (float)s[1], (float)s[2]};
        for (int k = 0; k < PARTS; k += UND_LANES) {
            und_lanes part;
            for (int l = 0; l < UND_LANES; l++)
                part[l] = (float)(k + l < PARTS ? part_of(k + l) : l % 2);
            und_lanes value = und_planes_value(part, slope), back = und_planes_part(value, slope),
                      slab =
                          und_planes_slab(value, slope, (int)(i % 3), und_lanes_all(0.7f), und_lanes_all(1));
            for (int l = 0; l < UND_LANES; l++) {
                assert_double_near((double)back[l], (double)part[l], 6e-7);
                assert_double_near((double)back[l], und_plane_part((double)value[l], exact), 6e-7);
                assert_double_near((double)slab[l],
                                   und_plane_slab((double)value[l], exact, (int)(i % 3), (double)0.7f, 1),
                                   6e-7);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_those_of_known_solids),
        cmocka_unit_test(turned_and_mirrored_planes_cut_the_same),
        cmocka_unit_test(a_part_s_plane_has_that_part),
        cmocka_unit_test(parts_grow_with_the_plane),
        cmocka_unit_test(slabs_add_up_to_the_whole),
        cmocka_unit_test(lanes_do_the_same_in_floats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
