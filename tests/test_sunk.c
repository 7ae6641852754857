/* What of a body is below a plane: against closed forms, and against sums over points. */
#include "tests/test.h"

#include "bodies/mass.h"
#include "bodies/sunk.h"

static const und_vec3 ups[] = {{0, 1, 0}, {0.6, 0.8, 0}, {0.36, 0.48, 0.8}, {-0.48, 0.8, 0.36}};

/* A box cut through its middle, by symmetry and at its corners. */
static void boxes_are_exact(void **state)
{
    (void)state;
    const und_shape box = {.kind = UND_BOX, .half = {0.3, 0.15, 0.2}, .center = {1, 2, 3}};
    double whole = 8 * 0.3 * 0.15 * 0.2;
    for (int k = 0; k < 4; k++) {
        und_sunk half = und_sunk_below(&box, NULL, box.center, ups[k]);
        assert_double_near(half.volume, whole / 2, 1e-15);
        for (int n = -5; n <= 5; n++) { /* both sides make the whole, and balance about its middle */
            und_vec3 at = und_add(box.center, und_mul(ups[k], 0.08 * n));
            und_sunk a = und_sunk_below(&box, NULL, at, ups[k]);
            und_sunk b = und_sunk_below(&box, NULL, at, und_mul(ups[k], -1));
            und_vec3 sum = und_add(und_mul(und_sub(a.middle, box.center), a.volume),
                                   und_mul(und_sub(b.middle, box.center), b.volume));
            assert_double_near(a.volume + b.volume, whole, 1e-15);
            assert_double_near(und_length(sum), 0, 1e-15);
        }
    }
    /* a corner is a tetrahedron: its middle is a quarter of the way from its base to its tip */
    und_vec3 up = und_unit(und_vec(1, 1, 1)), corner = und_sub(box.center, box.half);
    double leg = 0.1;
    und_sunk tip = und_sunk_below(&box, NULL, und_add(corner, und_vec(leg, 0, 0)), up);
    assert_double_near(tip.volume, leg * leg * leg / 6, 1e-15);
    assert_double_near(und_length(und_sub(tip.middle, und_add(corner, und_vec(leg / 4, leg / 4, leg / 4)))),
                       0, 1e-13);
}

static void balls_are_exact(void **state)
{
    (void)state;
    const und_shape ball = {.kind = UND_SPHERE, .radius = 0.2, .center = {0, 1, 0}};
    const und_shape egg = {.kind = UND_ELLIPSOID, .half = {0.1, 0.2, 0.4}};
    for (int k = 0; k < 4; k++) {
        und_sunk half = und_sunk_below(&ball, NULL, ball.center, ups[k]);
        assert_double_near(half.volume, 2.0 / 3 * M_PI * 0.008, 1e-15);
        und_vec3 low = und_sub(ball.center, und_mul(ups[k], 0.375 * 0.2)); /* 3/8 r */
        assert_double_near(und_length(und_sub(half.middle, low)), 0, 1e-15);
        und_sunk none = und_sunk_below(&ball, NULL, und_sub(ball.center, und_mul(ups[k], 0.3)), ups[k]);
        assert_double_near(none.volume, 0, 0);
        und_vec3 at = und_mul(ups[k], 0.05);
        und_sunk a = und_sunk_below(&egg, NULL, at, ups[k]),
                 b = und_sunk_below(&egg, NULL, at, und_mul(ups[k], -1));
        assert_double_near(a.volume + b.volume, 4.0 / 3 * M_PI * 0.008, 1e-15);
        und_vec3 sum = und_add(und_mul(a.middle, a.volume), und_mul(b.middle, b.volume));
        assert_double_near(und_length(sum), 0, 1e-15);
    }
}

/* Nodes: a box by them against the same exactly, and a lying cylinder against its segment. */
static void nodes_come_close(void **state)
{
    (void)state;
    und_error err;
    const und_shape box = {.kind = UND_BOX, .half = {0.3, 0.15, 0.2}};
    const und_shape cylinder = {.kind = UND_CYLINDER, .radius = 0.2, .half = {0, 0.5, 0}};
    und_shape twin = box, *children[1] = {&twin};
    const und_shape boxes = {.kind = UND_UNION, .child_count = 1, .children = children};
    und_hull hull = {0};
    double whole = und_mass_of_shape(&box).volume;
    assert_int_equal(und_hull_open(&hull, &boxes, whole, und_vec(0, 0, 0), 16, &err), UND_OK);
    for (int k = 0; k < 4; k++)
        for (int n = -3; n <= 3; n++) {
            und_vec3 at = und_mul(ups[k], 0.05 * n);
            und_sunk exact = und_sunk_below(&box, NULL, at, ups[k]),
                     found = und_sunk_below(&boxes, &hull, at, ups[k]);
            assert_double_near(found.volume, exact.volume, 0.002 * whole);
            assert_double_near(und_length(und_sub(found.middle, exact.middle)) * exact.volume, 0,
                               0.001 * whole);
        }
    und_hull_close(&hull);
    hull = (und_hull){0};
    whole = und_mass_of_shape(&cylinder).volume;
    assert_int_equal(und_hull_open(&hull, &cylinder, whole, und_vec(0, 0, 0), 16, &err), UND_OK);
    double t = -0.5, part = (acos(-t) + t * sqrt(1 - t * t)) / M_PI; /* up to t radii above the axis */
    und_sunk low = und_sunk_below(&cylinder, &hull, und_vec(0.2 * t, 0, 0), und_vec(1, 0, 0));
    assert_double_near(low.volume / whole, part, 0.005);
    assert_double_near(low.middle.y, 0, 1e-12);
    assert_double_near(low.middle.z, 0, 1e-12);
    und_hull_close(&hull);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_are_exact),
        cmocka_unit_test(balls_are_exact),
        cmocka_unit_test(nodes_come_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
