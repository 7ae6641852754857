/* Meshes of triangles against the shapes they are made of. */
#include "tests/test.h"

#include "base/random.h"
#include "base/status.h"
#include "geom/mesh.h"
#include "geom/motion.h"
#include "geom/trimesh.h"

static const double pi = 3.14159265358979323846;

/* A mesh with a vertex per corner, as a soup has it. */
static und_trimesh *mesh_of_soup(const und_soup *soup, int triangles)
{
    int corners = 3 * triangles;
    und_vec3 *vertex = malloc((size_t)corners * sizeof *vertex);
    int(*triangle)[3] = malloc((size_t)triangles * sizeof *triangle);
    assert_true(vertex && triangle);
    for (int i = 0; i < corners; i++) {
        const float *p = soup->position + 3 * i;
        vertex[i] = und_vec(p[0], p[1], p[2]);
        triangle[i / 3][i % 3] = i;
    }
    und_trimesh_def def = {
        .vertex_count = corners, .triangle_count = triangles, .vertex = vertex, .triangle = triangle};
    und_error err = {0};
    und_trimesh *mesh = und_trimesh_create(&def, &err);
    if (!mesh)
        fail_msg("%s", err.text);
    free(vertex);
    free(triangle);
    return mesh;
}

static und_shape *shape_of_mesh(und_trimesh *mesh, und_vec3 center)
{
    und_shape *shape = und_shape_create(&(und_shape){.kind = UND_MESH, .center = center, .mesh = mesh}, NULL);
    assert_non_null(shape);
    return shape;
}

/* The mesh of a shape's own triangles. */
static und_trimesh *mesh_of(const und_shape *shape)
{
    und_soup soup;
    assert_int_equal(und_shape_mesh(shape, &soup, NULL), UND_OK);
    und_trimesh *mesh = mesh_of_soup(&soup, soup.triangle_count);
    und_soup_destroy(&soup);
    return mesh;
}

static double noise(int stream, int i)
{
    return 2 * und_random(7, (uint64_t)stream, (uint64_t)i) - 1;
}

static und_vec3 noise_point(int stream, int i)
{
    return und_vec(noise(stream, i), noise(stream + 1, i), noise(stream + 2, i));
}

/* All of a box's faces are triangles: the mesh is the box, but for the floats of its corners. */
static void box_is_exact(void **state)
{
    (void)state;
    und_shape box = {.kind = UND_BOX, .center = {3, 4, 5}, .half = {1, 0.5, 0.25}};
    und_trimesh *mesh = mesh_of(&box);
    assert_int_equal(und_trimesh_count(mesh), 12);
    assert_int_equal(und_trimesh_open_edges(mesh), 0);
    assert_double_near(und_trimesh_volume(mesh), 1, 1e-14);
    und_shape *shape = shape_of_mesh(mesh, und_vec(-1, 0, 0));
    box.center.x -= 1;
    und_bounds b = und_shape_bounds(shape);
    assert_true(b.low.x == 1 && b.low.y == 3.5 && b.high.z == 5.25);
    for (int i = 0; i < 20000; i++) {
        und_vec3 p = und_add(box.center, und_mul(noise_point(0, i), 1.5)), d = noise_point(10, i);
        double low = 2 * noise(20, i) - 1, high = low + 4 * und_random(7, 21, (uint64_t)i), first, expected;
        assert_double_near(und_shape_distance(shape, p), und_shape_distance(&box, p), 1e-14);
        double length = und_shape_line(&box, p, d, low, high, &expected);
        assert_double_near(und_shape_line(shape, p, d, low, high, &first), length, 1e-10);
        assert_double_near(first, expected, length > 1e-9 ? 1e-10 : 10);
    }
    und_shape_destroy(shape);
}

/* The facets of a sphere lie up to the sagitta of a facet inside it: r (1 - cos(pi / 24)) at most. */
static void sphere_is_near(void **state)
{
    (void)state;
    und_shape sphere = {.kind = UND_SPHERE, .center = {0.1, -0.2, 0.3}, .radius = 0.8};
    und_shape *shape = shape_of_mesh(mesh_of(&sphere), und_vec(0, 0, 0));
    double sagitta = 0.8 * (1 - cos(pi / 24)), volume = 4 * pi / 3 * 0.8 * 0.8 * 0.8;
    assert_int_equal(und_trimesh_open_edges(shape->mesh), 0);
    assert_true(und_trimesh_volume(shape->mesh) < volume && und_trimesh_volume(shape->mesh) > 0.99 * volume);
    for (int i = 0; i < 20000; i++) {
        und_vec3 p = und_mul(noise_point(0, i), 1.2), d = und_unit(noise_point(10, i));
        double off = und_shape_distance(shape, p) - und_shape_distance(&sphere, p), first, last;
        assert_true(off > -1e-6 && off < 1.01 * sagitta);
        double whole = und_shape_line(&sphere, p, d, -9, 9, &first);
        double length = und_shape_line(shape, p, d, -9, 9, &last);
        assert_true(length < whole + 1e-6);
        if (whole > 0.5) /* each end is moved by at most the sagitta over the cosine there */
            assert_true(whole - length < 2 * sagitta * 0.8 / (0.5 * whole) + 1e-9 && last > first - 1e-6);
    }
    und_shape_destroy(shape);
}

/* Lines through the corners and edges of a mesh, along the axes and from corner to corner: the length inside
 * a convex mesh is the distance between the two ends, and never goes on for ever. */
static void lines_through_corners(void **state)
{
    (void)state;
    const und_shape box = {.kind = UND_BOX, .half = {1, 1, 1}};
    und_trimesh *mesh = mesh_of(&box);
    double first;
    for (int x = -1; x <= 1; x++)
        for (int y = -1; y <= 1; y++)
            for (int z = -1; z <= 1; z++) {
                und_vec3 d = und_vec(x, y, z), out = und_vec(5 * x, 5 * y, 5 * z);
                if (x == 0 && y == 0 && z == 0)
                    continue;
                /* through the middle, and both a face's diagonal (an edge of it) and a corner */
                assert_double_near(und_trimesh_line(mesh, out, d, -100, 100, &first), 2, 1e-14);
                assert_double_near(first, -6, 1e-14);
                assert_double_near(und_trimesh_line(mesh, und_vec(0, 0, 0), d, 0.25, 0.5, &first), 0.25, 0);
                /* in a face or along an edge: in or out, but nothing in between */
                double grazing = und_trimesh_line(mesh, und_vec(1, 1, 0.5), d, -100, 100, &first);
                assert_true(grazing >= 0 && grazing <= 2 + 1e-12);
            }
    und_trimesh_release(mesh);
}

/* From every corner of a round mesh to others: a closed mesh is never entered without being left. */
static void lines_between_vertices(void **state)
{
    (void)state;
    /* longest along y, so that vertices lie above each other */
    const und_shape ball = {.kind = UND_ELLIPSOID, .center = {0.3, 0, 0}, .half = {0.6, 1, 0.8}};
    und_trimesh *mesh = mesh_of(&ball);
    int count = und_trimesh_count(mesh);
    double first;
    for (int i = 0; i < count; i++) {
        und_vec3 a = und_trimesh_corner(mesh, i, 0), up = und_vec(0, 1, 0);
        und_vec3 b = und_trimesh_corner(mesh, (i * 7 + count / 2) % count, i % 3), ab = und_sub(b, a);
        if (und_length(ab) > 0.3) {
            assert_double_near(und_trimesh_line(mesh, a, ab, -100, 100, &first), 1, 1e-6);
            assert_double_near(first, 0, 1e-6);
        }
        /* the vertical line through a vertex goes in and out where the ellipsoid's does, to a facet */
        double whole = und_shape_line(&ball, a, up, -5, 5, &first);
        double length = und_trimesh_line(mesh, a, up, -5, 5, &first);
        assert_true(length <= whole + 1e-5 && length >= whole - 0.05);
    }
    und_trimesh_release(mesh);
}

/* The sum of the columns of a grid is the volume, and does not depend on the direction they are taken in. */
static void lines_add_up_to_the_volume(void **state)
{
    (void)state;
    const und_shape ball = {.kind = UND_CAPSULE, .half = {0.3, 0.2, 0.1}, .radius = 0.4};
    und_trimesh *mesh = mesh_of(&ball);
    for (int turn = 0; turn < 4; turn++) {
        und_quat q = und_quat_euler(und_vec(30 * turn, 50 * turn, 10 * turn));
        und_vec3 u = und_quat_rotate(q, und_vec(1, 0, 0)), v = und_quat_rotate(q, und_vec(0, 0, 1));
        und_vec3 d = und_quat_rotate(q, und_vec(0, 1, 0));
        double sum = 0, first, step = 0.01;
        for (int i = -100; i < 100; i++)
            for (int j = -100; j < 100; j++) {
                und_vec3 p = und_add(und_mul(u, (i + 0.5) * step), und_mul(v, (j + 0.5) * step));
                sum += step * step * und_trimesh_line(mesh, p, d, -2, 2, &first);
            }
        assert_double_near(sum, und_trimesh_volume(mesh), 1e-3 * und_trimesh_volume(mesh));
    }
    und_trimesh_release(mesh);
}

/* A stack of 60 plates is crossed 120 times: more than one batch. */
static void many_crossings(void **state)
{
    (void)state;
    enum { PLATES = 60 };
    und_shape plate[PLATES], *list[PLATES];
    for (int i = 0; i < PLATES; i++) {
        plate[i] = (und_shape){.kind = UND_BOX, .center = {0, i, 0}, .half = {1, 0.25, 1}};
        list[i] = &plate[i];
    }
    const und_shape stack = {.kind = UND_UNION, .child_count = PLATES, .children = list};
    und_shape *shape = shape_of_mesh(mesh_of(&stack), und_vec(0, 0, 0));
    double first;
    assert_double_near(und_shape_line(shape, und_vec(0, 0, 0), und_vec(0, 2, 0), -99, 99, &first), 15, 1e-12);
    assert_double_near(first, -0.125, 1e-15);
    assert_double_near(und_shape_column(shape, 0.5, 0.5, 40, 200, &first), 0.25 + 19 * 0.5, 1e-12);
    assert_double_near(first, 40, 0);
    assert_double_near(und_shape_distance(shape, und_vec(0, 50, 0)), -0.25, 1e-12);
    assert_double_near(und_shape_distance(shape, und_vec(0, 50.5, 0)), 0.25, 1e-12);
    und_shape_destroy(shape);
}

/* Boxes within boxes, all about one middle, make a lopsided tree; the outermost decides. */
static void nested_boxes(void **state)
{
    (void)state;
    enum { BOXES = 90 };
    und_shape box[BOXES], *list[BOXES];
    for (int i = 0; i < BOXES; i++) {
        double half = pow(0.8, i);
        box[i] = (und_shape){.kind = UND_BOX, .half = {half, half, half}};
        list[i] = &box[i];
    }
    const und_shape all = {.kind = UND_UNION, .child_count = BOXES, .children = list};
    und_trimesh *mesh = mesh_of(&all);
    double first;
    for (int i = 0; i < 1000; i++) {
        und_vec3 p = noise_point(0, i), d = und_unit(noise_point(10, i));
        double length = und_shape_line(&box[0], p, d, -9, 9, &first), found;
        assert_double_near(und_trimesh_line(mesh, p, d, -9, 9, &found), length, 1e-9);
        assert_double_near(found, first, 1e-9);
        assert_true(und_trimesh_distance(mesh, p) < 0);
    }
    und_trimesh_release(mesh);
}

/* A tetrahedron with colours beside a ball without: the ball is painted, the tetrahedron only on demand. */
static void soup_colors(void **state)
{
    (void)state;
    const und_vec3 vertex[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const float color[4][3] = {{0.25F, 0, 0}, {0.25F, 1, 0}, {0.25F, 2, 0}, {0.25F, 3, 0}};
    const int triangle[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    const und_trimesh_def def = {4, 4, vertex, color, triangle};
    und_shape *mesh = shape_of_mesh(und_trimesh_create(&def, NULL), und_vec(0, 0, 0));
    und_shape ball = {.kind = UND_SPHERE, .radius = 1}, *both[2] = {&ball, mesh};
    const und_shape pair = {.kind = UND_UNION, .child_count = 2, .children = both};
    und_soup soup;
    assert_int_equal(und_shape_mesh(&pair, &soup, NULL), UND_OK);
    int corners = 3 * soup.triangle_count, own = corners - 12;
    float *out = malloc((size_t)corners * 3 * sizeof *out);
    assert_true(soup.color && soup.color[0] < 0 && out);
    for (int i = own; i < corners; i++) { /* the second number tells the vertex */
        const float *p = soup.position + 3 * i, *c = soup.color + 3 * i;
        assert_true(c[0] == 0.25F && c[1] == p[0] + 2 * p[1] + 3 * p[2]);
    }
    und_soup_paint(&soup, (const float[3]){-1, 0, 0}, out);
    assert_memory_equal(out + 3 * own, soup.color + 3 * own, 36 * sizeof *out);
    assert_true(out[0] == 0.55F && out[1] == 0.12F && out[2] == 0.08F);
    und_soup_paint(&soup, (const float[3]){0, 0.5F, 1}, out);
    assert_true(out[1] == 0.5F && out[3 * own + 1] == 0.5F);
    free(out);
    und_soup_destroy(&soup);
    und_shape_destroy(mesh);
    assert_int_equal(und_shape_mesh(&ball, &soup, NULL), UND_OK);
    assert_null(soup.color);
    und_soup_destroy(&soup);
}

/* In a group a mesh is one shape among others: a ball cut from a box. */
static void mesh_in_a_group(void **state)
{
    (void)state;
    const und_shape box = {.kind = UND_BOX, .half = {1, 1, 1}};
    und_shape ball = {.kind = UND_SPHERE, .radius = 0.5},
              *mesh = shape_of_mesh(mesh_of(&box), und_vec(0, 0, 0));
    und_shape *both[2] = {mesh, &ball};
    const und_shape hollow = {.kind = UND_DIFFERENCE, .child_count = 2, .children = both};
    double first;
    assert_double_near(und_shape_column(&hollow, 0, 0, -9, 9, &first), 1, 1e-12);
    assert_double_near(first, -1, 1e-12);
    assert_double_near(und_shape_column(&hollow, 0.3, 0, -9, 9, &first), 2 - 2 * 0.4, 1e-12);
    und_shape_destroy(mesh);
}

/* Parts that overlap are inside once; a mesh that is inside out is turned. */
static void overlaps_and_inside_out(void **state)
{
    (void)state;
    und_shape a = {.kind = UND_BOX, .half = {1, 1, 1}}, b = a, *both[2] = {&a, &b};
    b.center.y = 1;
    const und_shape pair = {.kind = UND_UNION, .child_count = 2, .children = both};
    und_trimesh *mesh = mesh_of(&pair);
    double first;
    assert_double_near(und_trimesh_line(mesh, und_vec(0.3, 0, 0.2), und_vec(0, 1, 0), -9, 9, &first), 3,
                       1e-12);
    assert_double_near(und_trimesh_distance(mesh, und_vec(0, 0.5, 0)), -0.5,
                       1e-12); /* to a's lid, inside b */
    und_trimesh_release(mesh);

    und_soup soup;
    assert_int_equal(und_shape_mesh(&a, &soup, NULL), UND_OK);
    for (int i = 0; i < soup.triangle_count; i++)
        for (int k = 0; k < 3; k++) {
            float *p = soup.position + 9 * i, swap = p[k];
            p[k] = p[3 + k];
            p[3 + k] = swap;
        }
    mesh = mesh_of_soup(&soup, soup.triangle_count);
    assert_double_near(und_trimesh_volume(mesh), 8, 1e-12);
    assert_double_near(und_trimesh_distance(mesh, und_vec(0, 0.75, 0)), -0.25, 1e-12);
    und_trimesh_release(mesh);
    und_soup_destroy(&soup);
}

/* A box without its lid, or with one triangle less, still knows its inside. */
static void open_meshes(void **state)
{
    (void)state;
    const und_shape box = {.kind = UND_BOX, .half = {1, 1, 1}};
    und_soup soup;
    assert_int_equal(und_shape_mesh(&box, &soup, NULL), UND_OK);
    for (int missing = 1; missing <= 2; missing++) {
        und_trimesh *mesh = mesh_of_soup(&soup, soup.triangle_count - missing);
        double first;
        assert_int_equal(und_trimesh_open_edges(mesh), 2 + missing);
        assert_double_near(und_trimesh_distance(mesh, und_vec(0, 0, -0.5)), -0.5, 1e-12);
        assert_double_near(und_trimesh_distance(mesh, und_vec(0, 0, -3)), 2, 1e-12);
        assert_true(und_trimesh_distance(mesh, und_vec(0.2, 0.1, 3)) > 0);
        assert_double_near(und_trimesh_line(mesh, und_vec(0.5, 0.25, 0), und_vec(0, 1, 0), -9, 9, &first), 2,
                           1e-12);
        und_trimesh_release(mesh);
    }
    und_soup_destroy(&soup);
}

static void wrong_meshes(void **state)
{
    (void)state;
    und_vec3 vertex[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    int triangle[4][3] = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
    und_trimesh_def def = {.vertex_count = 4, .triangle_count = 4, .vertex = vertex, .triangle = triangle};
    und_error err = {0};
    und_trimesh *mesh = und_trimesh_create(&def, &err);
    assert_non_null(mesh);
    assert_double_near(und_trimesh_volume(mesh), 1.0 / 6, 1e-15);
    und_trimesh_release(und_trimesh_keep(mesh)); /* still held */
    assert_int_equal(und_trimesh_count(mesh), 4);
    assert_true(isnan(und_trimesh_distance(mesh, und_vec(NAN, 0, 0))));
    double first;
    assert_true(und_trimesh_line(mesh, und_vec(NAN, 0, 0), und_vec(0, 1, 0), -1, 1, &first) == 0);
    assert_true(und_trimesh_line(mesh, und_vec(0.1, 0.1, 0.1), und_vec(0, 0, 0), -1, 1, &first) == 2);
    assert_true(und_trimesh_line(mesh, und_vec(0.1, 0.1, 0.1), und_vec(NAN, 0, 1), -1, 1, &first) <= 2);
    und_trimesh_release(mesh);

    triangle[3][1] = 4;
    assert_null(und_trimesh_create(&def, &err));
    assert_non_null(strstr(err.text, "triangle 4: there is no vertex 5"));
    triangle[3][1] = -1;
    assert_null(und_trimesh_create(&def, &err));
    triangle[3][1] = 2;
    vertex[1].x = NAN;
    assert_null(und_trimesh_create(&def, &err));
    assert_non_null(strstr(err.text, "vertex 2"));
    vertex[1].x = 1;
    vertex[3].z = 0; /* flat */
    assert_null(und_trimesh_create(&def, &err));
    assert_non_null(strstr(err.text, "no volume"));
    vertex[0] = vertex[1] = vertex[2] = vertex[3];
    assert_null(und_trimesh_create(&def, &err));
    assert_non_null(strstr(err.text, "three different corners"));
    def.triangle_count = 0;
    assert_null(und_trimesh_create(&def, &err));
    assert_null(und_shape_create(&(und_shape){.kind = UND_MESH}, &err));
    assert_non_null(strstr(err.text, "a mesh needs triangles"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(box_is_exact),
        cmocka_unit_test(sphere_is_near),
        cmocka_unit_test(lines_through_corners),
        cmocka_unit_test(lines_between_vertices),
        cmocka_unit_test(lines_add_up_to_the_volume),
        cmocka_unit_test(many_crossings),
        cmocka_unit_test(nested_boxes),
        cmocka_unit_test(soup_colors),
        cmocka_unit_test(mesh_in_a_group),
        cmocka_unit_test(overlaps_and_inside_out),
        cmocka_unit_test(open_meshes),
        cmocka_unit_test(wrong_meshes),
    };
    return cmocka_run_group_tests_name("triangle meshes", tests, NULL, NULL);
}
