/* Shapes, motions, tables and triangles against answers worked out by hand. */
#include "tests/test.h"

#include "geom/mesh.h"
#include "geom/motion.h"
#include "geom/shape.h"
#include "geom/value.h"

static const double pi = 3.14159265358979323846;

static und_shape *shape_of(und_shape like)
{
    und_error err = {0};
    und_shape *shape = und_shape_create(&like, &err);
    if (!shape)
        fail_msg("%s", err.text);
    return shape;
}

static und_shape *pair(und_shape_kind kind, und_shape *a, und_shape *b)
{
    und_shape **children = malloc(2 * sizeof *children);
    assert_non_null(children);
    children[0] = a;
    children[1] = b;
    return shape_of((und_shape){.kind = kind, .child_count = 2, .children = children});
}

static und_shape *sphere(double x, double y, double z, double r)
{
    return shape_of((und_shape){.kind = UND_SPHERE, .center = {x, y, z}, .radius = r});
}

static und_shape *box(und_vec3 center, und_vec3 half)
{
    return shape_of((und_shape){.kind = UND_BOX, .center = center, .half = half});
}

static void expect_distance(und_shape *shape, und_vec3 p, double expected)
{
    assert_double_near(und_shape_distance(shape, p), expected, 1e-12);
}

static void distances(void **state)
{
    (void)state;
    und_shape *s = sphere(1, 2, 3, 0.5);
    expect_distance(s, und_vec(1, 2, 3), -0.5);
    expect_distance(s, und_vec(4, 6, 3), 4.5);
    und_shape_destroy(s);

    s = box(und_vec(1, 0, 0), und_vec(1, 2, 3));
    expect_distance(s, und_vec(1.25, 0, 0), -0.75);
    expect_distance(s, und_vec(5, 0, 0), 3);
    expect_distance(s, und_vec(5, 6, 3), 5); /* an edge: 3, 4 */
    expect_distance(s, und_vec(4, 5, 9), 7); /* a corner: 2, 3, 6 */
    und_shape_destroy(s);

    s = shape_of((und_shape){.kind = UND_CYLINDER, .half = {0, 2, 0}, .radius = 1});
    expect_distance(s, und_vec(0, 0, 0), -1);
    expect_distance(s, und_vec(0, 1.75, 0), -0.25);
    expect_distance(s, und_vec(0, 5, 0), 3);
    expect_distance(s, und_vec(3, 0, 4), 4);
    expect_distance(s, und_vec(4, 6, 0), 5); /* the rim: 3, 4 */
    und_shape_destroy(s);

    s = shape_of((und_shape){.kind = UND_CAPSULE, .half = {2, 0, 0}, .radius = 0.5});
    expect_distance(s, und_vec(1, 0, 3), 2.5);
    expect_distance(s, und_vec(5, 4, 0), 4.5);
    expect_distance(s, und_vec(-2.25, 0, 0), -0.25);
    und_shape_destroy(s);

    s = shape_of((und_shape){.kind = UND_ELLIPSOID, .half = {3, 1, 2}});
    expect_distance(s, und_vec(3, 0, 0), 0);
    expect_distance(s, und_vec(5, 0, 0), 2); /* exact along an axis */
    expect_distance(s, und_vec(0, 0, 0), -1);
    und_shape_destroy(s);

    s = shape_of((und_shape){.kind = UND_PLANE, .center = {0, 1, 0}, .half = {0, 10, 0}});
    expect_distance(s, und_vec(7, 3, -2), 2);
    expect_distance(s, und_vec(7, -3, -2), -4);
    und_shape_destroy(s);
}

/* A point has one nearest point on an exact shape, away from edges' bisectors: the distance grows at 1 m/m.
 */
static void gradients(void **state)
{
    (void)state;
    und_shape *shapes[] = {
        sphere(0.1, 0.2, 0.3, 0.7),
        box(und_vec(0, 0, 0), und_vec(1, 0.5, 0.25)),
        shape_of((und_shape){.kind = UND_CYLINDER, .half = {0, 0.6, 0}, .radius = 0.4}),
        shape_of((und_shape){.kind = UND_CAPSULE, .half = {0.3, 0.4, 0.5}, .radius = 0.2}),
        shape_of((und_shape){.kind = UND_PLANE, .half = {1, 2, 3}}),
    };
    const und_vec3 points[] = {{1.7, 0.9, 0.61}, {-1.3, 0.21, 0.1}, {0.33, -1.4, 0.17}, {0.21, 0.11, 0.05}};
    const double h = 1e-5;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t k = 0; k < sizeof points / sizeof *points; k++) {
            und_vec3 p = points[k], g;
            g.x = und_shape_distance(shapes[i], und_vec(p.x + h, p.y, p.z)) -
                  und_shape_distance(shapes[i], und_vec(p.x - h, p.y, p.z));
            g.y = und_shape_distance(shapes[i], und_vec(p.x, p.y + h, p.z)) -
                  und_shape_distance(shapes[i], und_vec(p.x, p.y - h, p.z));
            g.z = und_shape_distance(shapes[i], und_vec(p.x, p.y, p.z + h)) -
                  und_shape_distance(shapes[i], und_vec(p.x, p.y, p.z - h));
            assert_double_near(und_length(g) / (2 * h), 1, 1e-8);
        }
        und_shape_destroy(shapes[i]);
    }
}

static void groups(void **state)
{
    (void)state;
    und_shape *s = pair(UND_UNION, sphere(-1, 0, 0, 1), sphere(1, 0, 0, 0.5));
    expect_distance(s, und_vec(3, 0, 0), 1.5);
    expect_distance(s, und_vec(-1, 0, 0), -1);
    und_bounds b = und_shape_bounds(s);
    assert_double_near(b.low.x, -2, 0);
    assert_double_near(b.high.x, 1.5, 0);
    assert_double_near(b.high.y, 1, 0);
    und_shape_destroy(s);

    s = pair(UND_INTERSECTION, sphere(-0.5, 0, 0, 1), sphere(0.5, 0, 0, 1));
    expect_distance(s, und_vec(0, 0, 0), -0.5);
    expect_distance(s, und_vec(1, 0, 0), 0.5);
    b = und_shape_bounds(s);
    assert_double_near(b.low.x, -0.5, 0);
    assert_double_near(b.high.x, 0.5, 0);
    und_shape_destroy(s);

    s = pair(UND_DIFFERENCE, sphere(0, 0, 0, 1), sphere(0, 0, 0, 0.5));
    expect_distance(s, und_vec(0, 0, 0), 0.5);
    expect_distance(s, und_vec(0.8, 0, 0), -0.2);
    b = und_shape_bounds(s);
    assert_double_near(b.low.z, -1, 0);
    und_shape_destroy(s);
}

static void bounds(void **state)
{
    (void)state;
    und_shape *s =
        shape_of((und_shape){.kind = UND_CAPSULE, .center = {1, 1, 1}, .half = {-2, 0, 1}, .radius = 0.5});
    und_bounds b = und_shape_bounds(s);
    assert_double_near(b.low.x, -1.5, 0);
    assert_double_near(b.high.x, 3.5, 0);
    assert_double_near(b.high.y, 1.5, 0);
    assert_double_near(b.low.z, -0.5, 0);
    und_shape_destroy(s);
    s = shape_of((und_shape){.kind = UND_PLANE, .half = {0, 1, 0}});
    assert_true(isinf(und_shape_bounds(s).high.y) && isinf(und_shape_bounds(s).low.x));
    und_shape_destroy(s);
}

static void columns(void **state)
{
    (void)state;
    double bottom;
    und_shape *s = sphere(1, 2, 3, 0.5);
    for (int i = 0; i < 10; i++) { /* a chord at distance d from the centre is 2 sqrt(r^2 - d^2) */
        double d = 0.05 * i, chord = 2 * sqrt(0.25 - d * d);
        assert_double_near(und_shape_column(s, 1 + d, 3, -10, 10, &bottom), chord, 1e-14);
        assert_double_near(bottom, 2 - chord / 2, 1e-14);
    }
    assert_double_near(und_shape_column(s, 1.51, 3, -10, 10, &bottom), 0, 0);
    assert_double_near(und_shape_column(s, 1, 3, 2, 10, &bottom), 0.5, 1e-14);
    assert_double_near(bottom, 2, 0);
    und_shape_destroy(s);

    s = pair(UND_DIFFERENCE, sphere(0, 0, 0, 1), sphere(0, 0, 0, 0.5)); /* a shell: two stretches */
    assert_double_near(und_shape_column(s, 0, 0, -2, 2, &bottom), 1, 1e-14);
    assert_double_near(bottom, -1, 1e-14);
    und_shape_destroy(s);

    s = pair(UND_UNION, sphere(0, 0, 0, 1), sphere(0, 1, 0, 1)); /* overlapping: counted once */
    assert_double_near(und_shape_column(s, 0, 0, -5, 5, &bottom), 3, 1e-14);
    und_shape_destroy(s);

    s = pair(UND_INTERSECTION, sphere(0, 0, 0, 1),
             shape_of((und_shape){.kind = UND_PLANE, .half = {0, 1, 0}})); /* the lower half */
    assert_double_near(und_shape_column(s, 0.6, 0, -5, 5, &bottom), 0.8, 1e-14);
    und_shape_destroy(s);
}

static void lines(void **state)
{
    (void)state;
    double first;
    und_shape *s = shape_of((und_shape){.kind = UND_CAPSULE, .half = {0, 2, 0}, .radius = 0.5});
    assert_double_near(und_shape_column(s, 0, 0, -9, 9, &first), 5, 1e-14);
    assert_double_near(und_shape_line(s, und_vec(-4, 1, 0.3), und_vec(1, 0, 0), 0, 9, &first), 0.8, 1e-14);
    assert_double_near(first, 3.6, 1e-14);
    assert_double_near(und_shape_line(s, und_vec(-4, 2.3, 0), und_vec(1, 0, 0), 0, 9, &first), 0.8, 1e-13);
    und_shape_destroy(s);
    s = box(und_vec(0, 0, 0), und_vec(1, 1, 1));
    double d = sqrt(1.0 / 3);
    assert_double_near(und_shape_line(s, und_vec(0, 0, 0), und_vec(d, d, d), -9, 9, &first), 2 * sqrt(3),
                       1e-14);
    und_shape_destroy(s);
    s = shape_of((und_shape){.kind = UND_CYLINDER, .half = {0, 1, 0}, .radius = 2});
    assert_double_near(und_shape_column(s, 1.9, 0, -9, 9, &first), 2, 1e-14);
    assert_double_near(und_shape_line(s, und_vec(0, 0, 1.2), und_vec(1, 0, 0), -9, 9, &first), 3.2, 1e-14);
    und_shape_destroy(s);
    s = shape_of((und_shape){.kind = UND_ELLIPSOID, .half = {3, 1, 2}});
    assert_double_near(und_shape_column(s, 1.8, 0, -9, 9, &first), 1.6, 1e-14);
    und_shape_destroy(s);
}

static void wrong_shapes(void **state)
{
    (void)state;
    und_error err = {0};
    const und_shape wrong[] = {
        {.kind = UND_SPHERE, .radius = 0},
        {.kind = UND_SPHERE, .radius = NAN},
        {.kind = UND_BOX, .half = {1, -1, 1}},
        {.kind = UND_CYLINDER, .half = {0, 0, 0}, .radius = 1},
        {.kind = UND_ELLIPSOID, .half = {1, INFINITY, 1}},
        {.kind = UND_PLANE},
        {.kind = UND_UNION},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (und_error){0};
        assert_null(und_shape_create(&wrong[i], &err));
        assert_int_equal(err.status, UND_INVALID);
    }
}

/* Volume by the divergence theorem; it also fails where a triangle is turned the wrong way round. */
static double soup_volume(const und_soup *soup)
{
    double six = 0;
    for (int i = 0; i < soup->triangle_count; i++) {
        const float *p = soup->position + 9 * i;
        und_vec3 a = und_vec(p[0], p[1], p[2]), b = und_vec(p[3], p[4], p[5]), c = und_vec(p[6], p[7], p[8]);
        six += und_dot(a, und_cross(b, c));
    }
    return six / 6;
}

static void expect_mesh(und_shape *shape, double volume, double relative, bool convex)
{
    und_error err = {0};
    und_soup soup;
    if (und_shape_mesh(shape, &soup, &err) != UND_OK)
        fail_msg("%s", err.text);
    assert_true(soup.triangle_count > 0 && soup.triangle_count <= UND_SOUP_MAX);
    assert_double_near(soup_volume(&soup), volume, relative * volume);
    for (int i = 0; i < soup.triangle_count && convex; i++) {
        const float *p = soup.position + 9 * i;
        und_vec3 a = und_vec(p[0], p[1], p[2]), b = und_vec(p[3], p[4], p[5]), c = und_vec(p[6], p[7], p[8]);
        und_vec3 normal = und_cross(und_sub(b, a), und_sub(c, a));
        assert_true(und_dot(normal, und_sub(a, shape->center)) > 0);
        assert_double_near(und_shape_distance(shape, a), 0, 1e-6);
    }
    und_soup_destroy(&soup);
    und_shape_destroy(shape);
}

static void meshes(void **state)
{
    (void)state;
    und_vec3 c = {0.3, -0.2, 0.1};
    /* an inscribed sphere whose outline is out by 0.2 % misses about 1 % of the volume */
    expect_mesh(sphere(c.x, c.y, c.z, 1), 4 * pi / 3, 0.015, true);
    expect_mesh(box(c, und_vec(1, 2, 3)), 48, 1e-5, true);
    expect_mesh(shape_of((und_shape){.kind = UND_ELLIPSOID, .center = c, .half = {1, 2, 3}}), 8 * pi, 0.015,
                true);
    expect_mesh(shape_of((und_shape){.kind = UND_CAPSULE, .center = c, .half = {1, 2, 2}, .radius = 0.5}),
                pi * 0.25 * 6 + pi / 6, 0.015, true);
    expect_mesh(shape_of((und_shape){.kind = UND_CAPSULE, .center = c, .half = {0, -1, 0}, .radius = 0.5}),
                pi * 0.25 * 2 + pi / 6, 0.015, true);
    expect_mesh(pair(UND_UNION, sphere(0, 0, 0, 1), sphere(4, 0, 0, 1)), 8 * pi / 3, 0.015, false);
    expect_mesh(pair(UND_DIFFERENCE, sphere(0, 0, 0, 1), sphere(0, 0, 0, 0.5)), 4 * pi / 3 * 0.875, 0.01,
                false);
    /* two unit spheres a radius apart: a lens of 5 pi / 12 */
    expect_mesh(pair(UND_INTERSECTION, sphere(-0.5, 0, 0, 1), sphere(0.5, 0, 0, 1)), 5 * pi / 12, 0.01,
                false);
}

static void cylinder_mesh(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) { /* wide: pi / acos(1 - 0.002) = 49.7 and up; slender: the fewest */
        double half = k ? 4 : 0.5, facets = k ? 24 : 52;
        double area = facets / 2 * sin(2 * pi / facets) * 0.25; /* an inscribed polygon */
        expect_mesh(shape_of((und_shape){.kind = UND_CYLINDER, .half = {0, half, 0}, .radius = 0.5}),
                    2 * half * area, 1e-6, false);
    }
}

/* Chords along and around are inside by at most 0.2 % of half the longest extent, so what joins the two, the
 * diagonal of a square, by twice that; a slender shape needs fewer triangles than a ball. */
static void outlines_are_close(void **state)
{
    (void)state;
    const und_shape shapes[] = {
        {.kind = UND_SPHERE, .radius = 0.5},
        {.kind = UND_ELLIPSOID, .half = {0.5, 0.15, 0.1}},
        {.kind = UND_ELLIPSOID, .half = {0.1, 0.15, 0.5}},
        {.kind = UND_ELLIPSOID, .half = {0.1, 0.5, 0.5}},
        {.kind = UND_CAPSULE, .half = {0, 0.4, 0}, .radius = 0.1},
    };
    enum { SHAPES = sizeof shapes / sizeof *shapes };
    int count[SHAPES];
    for (int i = 0; i < SHAPES; i++) {
        und_error err = {0};
        und_soup soup;
        und_shape *shape = shape_of(shapes[i]);
        assert_int_equal(und_shape_mesh(shape, &soup, &err), UND_OK);
        double deepest = 0;
        for (int k = 0; k < 3 * soup.triangle_count; k++) {
            const float *p = soup.position + 3 * k, *q = soup.position + 3 * (k % 3 == 2 ? k - 2 : k + 1);
            und_vec3 middle = und_mul(und_vec(p[0] + q[0], p[1] + q[1], p[2] + q[2]), 0.5);
            deepest = fmax(deepest, -und_shape_distance(shape, middle));
        }
        count[i] = soup.triangle_count;
        assert_true(deepest < 2 * 0.002 * 0.5);
        und_soup_destroy(&soup);
        und_shape_destroy(shape);
    }
    assert_true(count[0] > 1200 && count[0] < 2000);
    assert_true(count[1] == count[2] && count[1] < count[0] * 2 / 3 && count[4] < count[0] / 2);
}

static void motions(void **state)
{
    (void)state;
    und_error err = {0};
    const und_key keys[] = {{0, {0, 0, 0}, {0, 0, 0}},
                            {1, {1, 2, 3}, {0, 90, 0}},
                            {3, {5, 2, 3}, {0, 90, 0}},
                            {4, {5, 9, 3}, {0, 180, 0}}};
    und_motion *line = und_motion_create(keys, 4, UND_EASE_LINEAR, &err);
    und_motion *spline = und_motion_create(keys, 4, UND_EASE_SPLINE, &err);
    assert_non_null(line);
    assert_non_null(spline);
    for (int i = 0; i < 4; i++) {
        und_pose a = und_motion_at(line, keys[i].time), b = und_motion_at(spline, keys[i].time);
        assert_double_near(und_length(und_sub(a.position, keys[i].position)), 0, 1e-15);
        assert_double_near(und_length(und_sub(b.position, keys[i].position)), 0, 1e-15);
    }
    und_pose half = und_motion_at(line, 2);
    assert_double_near(half.position.x, 3, 1e-15);
    assert_double_near(und_motion_at(line, 0.25).position.y, 0.5, 1e-15);
    assert_double_near(und_motion_at(line, -1).position.x, 0, 0);
    assert_double_near(und_motion_at(line, 99).position.y, 9, 0);

    /* half of a quarter turn about y takes x to (cos 45, 0, -sin 45) */
    und_pose turned = und_motion_at(line, 0.5);
    und_vec3 x = und_quat_rotate(turned.rotation, und_vec(1, 0, 0));
    assert_double_near(x.x, sqrt(0.5), 1e-14);
    assert_double_near(x.z, -sqrt(0.5), 1e-14);

    /* at rest at the ends, no jump of velocity in between, and there the slope of the parabola */
    double h = 1e-6;
    for (int i = 0; i < 4; i++) {
        double t = keys[i].time, at = und_motion_at(spline, t).position.x;
        double before = (at - und_motion_at(spline, t - h).position.x) / h;
        double after = (und_motion_at(spline, t + h).position.x - at) / h;
        assert_double_near(before, after, 1e-4);
        assert_double_near(after, i == 1 ? (1.0 * 2 + 2.0 * 1) / 3 : i == 2 ? 2.0 / 3 : 0, 1e-4);
    }
    und_motion_destroy(line);
    und_motion_destroy(spline);
    und_pose rest = und_motion_at(NULL, 5);
    assert_double_near(rest.rotation.w, 1, 0);
    assert_double_near(rest.position.x, 0, 0);
}

/* Velocity and spin are the differences of nearby poses, at keys of those before; nothing moves beyond. */
static void motion_velocities(void **state)
{
    (void)state;
    und_error err = {0};
    const und_key keys[] = {{0, {0, 0, 0}, {0, 0, 0}},
                            {1, {1, 2, 3}, {30, 90, 0}},
                            {3, {5, 2, 3}, {30, 90, -70}},
                            {4, {5, 9, 3}, {0, 180, 10}}};
    const double h = 2e-7, times[] = {-1, 0, 0.25, 1, 1.7, 3, 3.9, 4, 4 + 2e-6};
    for (int easing = UND_EASE_LINEAR; easing <= UND_EASE_MONOTONE; easing++) {
        und_motion *m = und_motion_create(keys, 4, (und_easing)easing, &err);
        assert_non_null(m);
        for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
            und_vec3 spin, velocity = und_motion_velocity(m, times[i], &spin);
            und_pose a = und_motion_at(m, times[i] - h), b = und_motion_at(m, times[i]);
            und_vec3 way = und_mul(und_sub(b.position, a.position), 1 / h);
            assert_double_near(und_length(und_sub(velocity, way)), 0, 2e-5);
            for (int k = 0; k < 3; k++) { /* axes turn by w x axis */
                und_vec3 axis = und_vec(k == 0, k == 1, k == 2), now = und_quat_rotate(b.rotation, axis);
                und_vec3 turn = und_mul(und_sub(now, und_quat_rotate(a.rotation, axis)), 1 / h);
                assert_double_near(und_length(und_sub(und_cross(spin, now), turn)), 0, 2e-5);
            }
        }
        und_motion_destroy(m);
    }
    und_vec3 spin = und_vec(1, 1, 1);
    assert_double_near(und_length(und_motion_velocity(NULL, 1, &spin)) + und_length(spin), 0, 0);
}

/* A parabola through uneven keys comes out exactly between inner keys. */
static void spline_parabola(void **state)
{
    (void)state;
    und_error err = {0};
    const double times[] = {0, 0.5, 2, 3, 3.25, 5};
    und_key keys[6];
    for (int i = 0; i < 6; i++)
        keys[i] = (und_key){times[i], {1 + times[i] - 2 * times[i] * times[i], 0, 0}, {0, 0, 0}};
    und_motion *m = und_motion_create(keys, 6, UND_EASE_SPLINE, &err);
    assert_non_null(m);
    for (double t = 0.5; t <= 3.25; t += 0.11)
        assert_double_near(und_motion_at(m, t).position.x, 1 + t - 2 * t * t, 1e-12);
    und_motion_destroy(m);
}

static void wrong_motions(void **state)
{
    (void)state;
    und_error err = {0};
    const und_key same[] = {{1, {0, 0, 0}, {0, 0, 0}}, {1, {1, 0, 0}, {0, 0, 0}}};
    const und_key nan = {0, {NAN, 0, 0}, {0, 0, 0}};
    assert_null(und_motion_create(same, 2, UND_EASE_LINEAR, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_null(und_motion_create(&nan, 1, UND_EASE_LINEAR, &err));
    assert_null(und_motion_create(same, 0, UND_EASE_LINEAR, &err));
}

static void rotations(void **state)
{
    (void)state;
    /* x first: y goes to z; then about y: z goes to x; about z: x goes to y */
    und_vec3 y = und_quat_rotate(und_quat_euler(und_vec(90, 90, 90)), und_vec(0, 1, 0));
    assert_double_near(und_length(und_sub(y, und_vec(0, 1, 0))), 0, 1e-15);
    und_vec3 z = und_quat_rotate(und_quat_euler(und_vec(90, 0, 0)), und_vec(0, 1, 0));
    assert_double_near(und_length(und_sub(z, und_vec(0, 0, 1))), 0, 1e-15);

    und_pose pose = {{1, 2, 3}, und_quat_euler(und_vec(10, 20, 30))};
    und_vec3 p = und_vec(0.4, -0.5, 0.6), back = und_pose_local(&pose, und_pose_point(&pose, p));
    assert_double_near(und_length(und_sub(back, p)), 0, 1e-15);

    /* 350 degrees is 10 the other way: half-way is -5 */
    und_error err = {0};
    const und_key keys[] = {{0, {0, 0, 0}, {0, 0, 0}}, {1, {0, 0, 0}, {0, 0, 350}}};
    und_motion *m = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    und_vec3 x = und_quat_rotate(und_motion_at(m, 0.5).rotation, und_vec(1, 0, 0));
    assert_double_near(x.y, sin(-5 * pi / 180), 1e-14);
    und_motion_destroy(m);
}

static double bilinear(double x, double z)
{
    return 1 + 2 * x - 3 * z + 0.5 * x * z;
}

static void tables(void **state)
{
    (void)state;
    double sample[4 * 5];
    for (int z = 0; z < 4; z++)
        for (int x = 0; x < 5; x++)
            sample[z * 5 + x] = bilinear(-1 + 0.5 * x, 2 + z);
    und_table table = {.nx = 5, .nz = 4, .low = {-1, 2}, .high = {1, 5}, .sample = sample};
    und_value value = und_value_table(&table);
    for (double z = 2; z <= 5; z += 0.3)
        for (double x = -1; x <= 1; x += 0.07)
            assert_double_near(und_value_at(&value, x, 9, z, 9), bilinear(x, z), 1e-13);
    assert_double_near(und_table_at(&table, 1, 5), bilinear(1, 5), 1e-13);
    assert_double_near(und_table_at(&table, 50, 3), bilinear(1, 3), 1e-13);
    assert_double_near(und_table_at(&table, 0, -50), bilinear(0, 2), 1e-13);
    assert_true(isfinite(und_table_at(&table, NAN, INFINITY)));

    und_table one = {.nx = 1, .nz = 1, .sample = sample};
    assert_double_near(und_table_at(&one, 3, 4), sample[0], 0);
    und_table row = {.nx = 5, .nz = 1, .low = {-1, 0}, .high = {1, 0}, .sample = sample};
    assert_double_near(und_table_at(&row, 0.1, 7), bilinear(0.1, 2), 1e-13);
}

static void count_up(const void *context, double t, double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = *(const double *)context * (i + t);
}

static void values(void **state)
{
    (void)state;
    double out[3], two = 2;
    und_value five = und_value_constant(5);
    assert_double_near(und_value_at(&five, 1, 2, 3, 4), 5, 0);
    und_vector fixed = und_vector_constant(1, 2, 3);
    und_vector_at(&fixed, 7, out);
    assert_double_near(out[2], 3, 0);
    und_vector moving = {.fn = count_up, .context = &two};
    und_vector_at(&moving, 0.5, out);
    assert_double_near(out[1], 3, 0);
}

/* Many lines at once are the lines one by one. */
static void lines_side_by_side(void **state)
{
    (void)state;
    und_error err;
    const und_shape like[] = {{.kind = UND_SPHERE, .center = {0.1, 0.2, -0.1}, .radius = 0.7},
                              {.kind = UND_ELLIPSOID, .center = {0.1, 0, 0}, .half = {0.9, 0.3, 0.5}},
                              {.kind = UND_BOX, .half = {0.4, 0.6, 0.5}}};
    const und_vec3 origin = {-1.3, -0.2, 0.15}, step = {0.13, 0.01, -0.02}, up = {0.2, 0.9, -0.1};
    for (int i = 0; i < 3; i++) {
        und_shape *shape = und_shape_create(&like[i], &err);
        double length[21], first[21], alone, from;
        int met = 0;
        und_shape_lines(shape, origin, step, up, -2, 0.3, 21, length, first);
        for (int k = 0; k < 21; k++) {
            alone = und_shape_line(shape, und_add(origin, und_mul(step, k)), up, -2, 0.3, &from);
            assert_double_near(length[k], alone, 1e-13);
            assert_double_near(first[k], from, 1e-13);
            met += alone > 0;
        }
        assert_true(met > 5 && met < 21);
        und_shape_destroy(shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances),
        cmocka_unit_test(gradients),
        cmocka_unit_test(groups),
        cmocka_unit_test(bounds),
        cmocka_unit_test(columns),
        cmocka_unit_test(lines),
        cmocka_unit_test(wrong_shapes),
        cmocka_unit_test(meshes),
        cmocka_unit_test(cylinder_mesh),
        cmocka_unit_test(motion_velocities),
        cmocka_unit_test(outlines_are_close),
        cmocka_unit_test(motions),
        cmocka_unit_test(spline_parabola),
        cmocka_unit_test(rotations),
        cmocka_unit_test(wrong_motions),
        cmocka_unit_test(tables),
        cmocka_unit_test(values),
        cmocka_unit_test(lines_side_by_side),
    };
    return cmocka_run_group_tests_name("geom", tests, NULL, NULL);
}
