/* Distances to triangles on a lattice, against those that the mesh's own tree finds. */
#include "tests/test.h"

#include "base/random.h"
#include "geom/sequence.h"
#include "tests/ball.h"

typedef struct field {
    und_lattice lattice;
    float *distance;
    int32_t *nearest;
} field;

static field field_of(const und_trimesh *mesh, const und_pose *pose, int n, double shift, double reach,
                      int threads)
{
    double d = 2.0 / n;
    field f = {.lattice = {{n, n + 3, n - 2}, {d, d, d}, {-1 + shift * d, -1, -1 + 0.5 * d}}};
    f.distance = malloc(und_lattice_count(&f.lattice) * sizeof *f.distance);
    f.nearest = malloc(und_lattice_count(&f.lattice) * sizeof *f.nearest);
    assert_true(f.distance && f.nearest);
    und_error err = {0};
    if (und_mesh_distance(mesh, pose, &f.lattice, reach * d, threads, f.distance, f.nearest, &err) != UND_OK)
        fail_msg("%s", err.text);
    return f;
}

static void free_field(field *f)
{
    free(f->distance);
    free(f->nearest);
}

static und_vec3 place(const und_lattice *l, size_t i)
{
    size_t x = i % (size_t)l->n[0], y = i / (size_t)l->n[0] % (size_t)l->n[1];
    size_t z = i / (size_t)l->n[0] / (size_t)l->n[1];
    return und_vec(l->origin[0] + (double)x * l->d[0], l->origin[1] + (double)y * l->d[1],
                   l->origin[2] + (double)z * l->d[2]);
}

/* At random points: the tree's distance, clamped, to float rounding; the same sign away from the surface. */
static void compare(const und_trimesh *mesh, const und_pose *pose, const field *f, double reach, int samples)
{
    double d = f->lattice.d[0];
    for (int i = 0; i < samples; i++) {
        size_t at = (size_t)(und_random(3, 1, (uint64_t)i) * (double)und_lattice_count(&f->lattice));
        und_vec3 p = place(&f->lattice, at);
        double exact = und_trimesh_distance(mesh, pose ? und_pose_local(pose, p) : p);
        double clamped = fmin(fmax(exact, -reach * d), reach * d);
        if (fabs(exact) > 1e-6)
            assert_double_near(f->distance[at], clamped, 1e-6 * d * reach);
        if (fabs(fabs(exact) - reach * d) > 1e-6)
            assert_int_equal(f->nearest[at] >= 0, fabs(exact) < reach * d);
        assert_true(f->nearest[at] < und_trimesh_count(mesh));
    }
}

static void test_agrees_with_the_tree(void **state)
{
    (void)state;
    und_pose pose = {und_vec(0.1, -0.07, 0.2), und_quat_euler(und_vec(20, 35, -70))};
    for (int rings = 3; rings <= 30; rings += 9) {
        und_trimesh *mesh = ball_mesh(rings, 0.6, und_vec(0.05, 0, 0.02), 0);
        assert_int_equal(und_trimesh_open_edges(mesh), 0);
        for (int turned = 0; turned < 2; turned++) {
            field f = field_of(mesh, turned ? &pose : NULL, 24, 0.3 * turned, 4, 2);
            compare(mesh, turned ? &pose : NULL, &f, 4, 3000);
            free_field(&f);
        }
        und_trimesh_release(mesh);
    }
}

/* A mesh far larger than the lattice, which lies inside it or across one of its faces. */
static void test_large_triangles(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        und_trimesh *mesh = ball_mesh(3, 1e4, und_vec(0, i == 0 ? 0 : i == 1 ? 1e4 : 3e4, 0), 0);
        field f = field_of(mesh, NULL, 16, 0, 5, 2);
        compare(mesh, NULL, &f, 5, 1000);
        free_field(&f);
        und_trimesh_release(mesh);
    }
}

/* A ball without its top: what the six lines' majority says. */
static void test_open_mesh(void **state)
{
    (void)state;
    und_trimesh *mesh = ball_mesh(12, 0.7, und_vec(0, 0, 0), 3);
    assert_true(und_trimesh_open_edges(mesh) > 0);
    field f = field_of(mesh, NULL, 20, 0.37, 6, 2);
    compare(mesh, NULL, &f, 6, 4000);
    free_field(&f);
    und_trimesh_release(mesh);
}

/* The distance to a mesh of a ball is that to the ball to second order in the size of its triangles. */
static void test_order(void **state)
{
    (void)state;
    double error[3];
    for (int level = 0; level < 3; level++) {
        und_trimesh *mesh = ball_mesh(8 << level, 0.6, und_vec(0, 0, 0), 0);
        field f = field_of(mesh, NULL, 20, 0, 3, 2);
        error[level] = 0;
        for (size_t i = 0; i < und_lattice_count(&f.lattice); i++) {
            double exact = und_length(place(&f.lattice, i)) - 0.6;
            if (fabs(exact) < 0.25)
                error[level] = fmax(error[level], fabs(f.distance[i] - exact));
        }
        free_field(&f);
        und_trimesh_release(mesh);
    }
    assert_double_near(log2(error[0] / error[1]), 2, 0.25);
    assert_double_near(log2(error[1] / error[2]), 2, 0.25);
}

static void test_threads(void **state)
{
    (void)state;
    und_trimesh *mesh = ball_mesh(20, 0.6, und_vec(0.011, 0, 0), 1);
    field one = field_of(mesh, NULL, 32, 0.1, 5, 1);
    for (int threads = 2; threads <= 7; threads += 5) {
        field f = field_of(mesh, NULL, 32, 0.1, 5, threads);
        size_t bytes = und_lattice_count(&f.lattice) * sizeof(float);
        assert_memory_equal(one.distance, f.distance, bytes);
        assert_memory_equal(one.nearest, f.nearest, bytes);
        free_field(&f);
    }
    free_field(&one);
    und_trimesh_release(mesh);
}

static void test_wrong_lattices(void **state)
{
    (void)state;
    und_trimesh *mesh = ball_mesh(4, 0.6, und_vec(0, 0, 0), 0);
    und_error err;
    float value;
    const und_lattice wrong[] = {{{1, 1, 1}, {1, 2, 1}, {0, 0, 0}},
                                 {{1, 1, 0}, {1, 1, 1}, {0, 0, 0}},
                                 {{1, 1, 1}, {NAN, NAN, NAN}, {0, 0, 0}},
                                 {{1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
                                 {{1, 1, 1}, {1, 1, 1}, {0, INFINITY, 0}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(und_mesh_distance(mesh, NULL, &wrong[i], 1, 1, &value, NULL, &err), UND_INVALID);
    const und_lattice good = {{1, 1, 1}, {1, 1, 1}, {0, 0, 0}};
    const double reach[] = {0, -1, NAN, INFINITY, 1e9};
    for (size_t i = 0; i < sizeof reach / sizeof *reach; i++)
        assert_int_equal(und_mesh_distance(mesh, NULL, &good, reach[i], 1, &value, NULL, &err), UND_INVALID);
    assert_int_equal(und_mesh_distance(mesh, NULL, &good, 1, 1, &value, NULL, &err), UND_OK);
    assert_double_near(value, und_trimesh_distance(mesh, und_vec(0, 0, 0)), 1e-6);
    und_trimesh_release(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees_with_the_tree),
        cmocka_unit_test(test_large_triangles),
        cmocka_unit_test(test_open_mesh),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_wrong_lattices),
    };
    return cmocka_run_group_tests_name("mesh_distance", tests, NULL, NULL);
}
