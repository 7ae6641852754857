/* Volume, centre and inertia of shapes against formulas. */
#include "tests/test.h"

#include "bodies/bodies.h"
#include "bodies/mass.h"
#include "tests/brick.h"

static const double pi = 3.14159265358979323846;

static und_shape sphere(double radius)
{
    return (und_shape){.kind = UND_SPHERE, .radius = radius};
}

static und_shape box(double x, double y, double z)
{
    return (und_shape){.kind = UND_BOX, .half = {x, y, z}};
}

static void check_moments(const und_shape *s, double volume, und_vec3 center, const double inertia[3],
                          double tolerance)
{
    und_moments m = und_mass_of_shape(s);
    double I[9];
    und_moments_inertia(&m, 1, I);
    assert_double_near(m.volume / volume, 1, tolerance);
    double size = sqrt(inertia[0] / volume);
    assert_double_near(m.center.x, center.x, tolerance * size);
    assert_double_near(m.center.y, center.y, tolerance * size);
    assert_double_near(m.center.z, center.z, tolerance * size);
    for (int k = 0; k < 3; k++)
        assert_double_near(I[4 * k] / inertia[k], 1, tolerance);
    assert_double_near(I[1] / inertia[0], 0, tolerance);
    assert_double_near(I[2] / inertia[0], 0, tolerance);
    assert_double_near(I[5] / inertia[0], 0, tolerance);
}

static void test_mass_of_each_shape(void **state)
{
    (void)state;
    und_vec3 c = und_vec(1, -2, 3);
    double r = 0.7, v = 4.0 / 3 * pi * r * r * r, i = 0.4 * v * r * r;
    und_shape s = {.kind = UND_SPHERE, .center = c, .radius = r};
    check_moments(&s, v, c, (double[]){i, i, i}, 1e-12);
    s = (und_shape){.kind = UND_BOX, .center = c, .half = {0.5, 1, 1.5}};
    check_moments(&s, 6, c, (double[]){6 * (4 + 9) / 12.0, 6 * (1 + 9) / 12.0, 6 * (1 + 4) / 12.0}, 1e-12);
    double h = 1.3, w = pi * r * r * h; /* a cylinder about y */
    s = (und_shape){.kind = UND_CYLINDER, .center = c, .radius = r, .half = {0, h / 2, 0}};
    double across = w * (3 * r * r + h * h) / 12;
    check_moments(&s, w, c, (double[]){across, w * r * r / 2, across}, 1e-12);
    s = (und_shape){.kind = UND_ELLIPSOID, .center = c, .half = {1, 2, 3}};
    v = 8 * pi;
    check_moments(&s, v, c, (double[]){v * 13 / 5, v * 10 / 5, v * 5 / 5}, 1e-12);
    /* a capsule along y: a cylinder and two half balls, each 3/8 r beyond the cylinder's end */
    v = 4.0 / 3 * pi * r * r * r;
    double ends = v * (0.4 * r * r + h * h / 4 + 3.0 / 8 * h * r);
    s = (und_shape){.kind = UND_CAPSULE, .center = c, .radius = r, .half = {0, h / 2, 0}};
    check_moments(&s, w + v, c, (double[]){across + ends, w * r * r / 2 + 0.4 * v * r * r, across + ends},
                  1e-12);
}

static void test_mass_of_unions(void **state)
{
    (void)state;
    double r = 0.5, v = 4.0 / 3 * pi * r * r * r, i = 0.4 * v * r * r;
    und_shape left = sphere(r), right = sphere(r), *both[2] = {&left, &right};
    und_shape s = {.kind = UND_UNION, .child_count = 2, .children = both};
    left.center.x = -30;
    right.center.x = 50;
    check_moments(&s, 2 * v, und_vec(10, 0, 0), (double[]){2 * i, 2 * (i + v * 1600), 2 * (i + v * 1600)},
                  1e-12);
    right.center.x = -30; /* the same place twice counts once */
    check_moments(&s, v, left.center, (double[]){i, i, i}, 1e-3);
    /* two boxes that overlap by a half make one of 3 x 2 x 2 */
    und_shape a = box(1, 1, 1), b = box(1, 1, 1);
    und_shape *boxes[2] = {&a, &b};
    b.center.x = 1;
    s.children = boxes;
    check_moments(&s, 12, und_vec(0.5, 0, 0), (double[]){12 * 8 / 12.0, 12 * 13 / 12.0, 12 * 13 / 12.0},
                  1e-3);
}

static void test_mass_of_a_cut(void **state)
{
    (void)state;
    und_shape ball = sphere(1), hole = sphere(0.6), *parts[2] = {&ball, &hole};
    und_shape s = {.kind = UND_DIFFERENCE, .child_count = 2, .children = parts};
    double v = 4.0 / 3 * pi * (1 - 0.216), i = 8.0 / 15 * pi * (1 - pow(0.6, 5));
    check_moments(&s, v, und_vec(0, 0, 0), (double[]){i, i, i}, 1e-3);
}

static void test_mass_of_a_mesh(void **state)
{
    (void)state;
    und_shape s = {.kind = UND_MESH, .mesh = brick()};
    double v = 0.12;
    check_moments(&s, v, und_vec(0.3, 0.2, 0.25), (double[]){v * 0.41 / 12, v * 0.61 / 12, v * 0.52 / 12},
                  1e-3);
    und_trimesh_release(s.mesh);
}

/* A weight moves the centre of mass; the inertia is that of box and weight about it. */
static void test_ballast(void **state)
{
    (void)state;
    und_shape s = {.kind = UND_BOX, .half = {0.3, 0.2, 0.1}};
    und_body_def def = und_body_def_default();
    und_error err;
    def.shape = &s;
    def.position[0] = 1, def.position[1] = 2, def.position[2] = 3;
    def.mass = 6;
    def.ballast = 3;
    def.ballast_at[0] = 0.15;
    def.ballast_at[1] = -0.18;
    und_bodies *b = und_bodies_create(&def, 1, &(und_bodies_world){.gravity = 0}, &err);
    assert_non_null(b);
    double inertia[9], reduced = 6.0 * 3 / 9;
    und_bodies_inertia(b, 0, inertia);
    und_body_state now = und_bodies_state(b, 0);
    assert_double_near(und_bodies_mass(b, 0), 9, 1e-12);
    assert_double_near(now.position[0], 1.05, 1e-12);
    assert_double_near(now.position[1], 1.94, 1e-12);
    assert_double_near(now.position[2], 3, 1e-12);
    assert_double_near(inertia[0], 2 * (0.04 + 0.01) + reduced * 0.18 * 0.18, 1e-12);
    assert_double_near(inertia[1], reduced * 0.15 * 0.18, 1e-12);
    assert_double_near(inertia[8], 2 * (0.09 + 0.04) + reduced * (0.15 * 0.15 + 0.18 * 0.18), 1e-12);
    assert_double_near(inertia[5], 0, 1e-12);
    und_pose pose = und_bodies_pose(b, 0);
    assert_double_near(pose.position.x, 1, 1e-12);
    und_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ballast),        cmocka_unit_test(test_mass_of_each_shape),
        cmocka_unit_test(test_mass_of_unions), cmocka_unit_test(test_mass_of_a_cut),
        cmocka_unit_test(test_mass_of_a_mesh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
