/* Surfaces of fields. */
#include "tests/mesh_check.h"

#include "base/random.h"
#include "geom/isosurface.h"

static const double PI = 3.14159265358979323846;

typedef double field_fn(double x, double y, double z);

static double sphere(double x, double y, double z)
{
    return sqrt(x * x + y * y + z * z) - 0.7;
}

static double plane(double x, double y, double z)
{
    return 0.6 * x + 0.8 * y - 0.1 * z - 0.05;
}

static double torus(double x, double y, double z)
{
    return hypot(hypot(x, z) - 0.6, y) - 0.25;
}

/* From -1 to 1 along all axes. */
static und_lattice lattice_of(int nx, int ny, int nz)
{
    const int n[3] = {nx, ny, nz};
    und_lattice l = {.n = {nx, ny, nz}, .origin = {-1, -1, -1}};
    for (int a = 0; a < 3; a++)
        l.d[a] = 2.0 / (n[a] - 1);
    return l;
}

static float *sample(const und_lattice *l, field_fn *fn)
{
    float *field = calloc(und_lattice_count(l), sizeof *field), *at = field;
    assert_non_null(field);
    for (int z = 0; z < l->n[2]; z++)
        for (int y = 0; y < l->n[1]; y++)
            for (int x = 0; x < l->n[0]; x++)
                *at++ = (float)fn(l->origin[0] + x * l->d[0], l->origin[1] + y * l->d[1],
                                  l->origin[2] + z * l->d[2]);
    return field;
}

static und_isosurface make(const und_lattice *l, const float *field, int threads)
{
    und_error err;
    und_isosurface s;
    assert_int_equal(und_isosurface_make(l, field, threads, &s, &err), UND_OK);
    return s;
}

/* Normals are of unit length and on the outer side of their triangle. */
static void check_normals(const und_isosurface *s)
{
    for (size_t i = 0; i < 3 * (size_t)s->triangle_count; i++) {
        const float *n = s->normal + 3 * i, *p = s->position + 3 * (i - i % 3);
        double a[3], b[3], along = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            a[k] = (double)p[3 + k] - (double)p[k];
            b[k] = (double)p[6 + k] - (double)p[k];
        }
        for (int k = 0; k < 3; k++) {
            double cross = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
            along += cross * (double)n[k];
            square += cross * cross;
        }
        assert_double_near(sqrt((double)(n[0] * n[0] + n[1] * n[1] + n[2] * n[2])), 1, 1e-5);
        assert_true(along > 0.49 * sqrt(square) || square < 1e-12); /* slivers are mostly rounding */
    }
}

static void check_round(field_fn *fn, double volume, double area, double relative, int n)
{
    und_lattice l = lattice_of(n, n + 3, n - 4);
    float *field = sample(&l, fn);
    und_isosurface s = make(&l, field, 2);
    mesh_size size = measure_mesh(s.position, s.triangle_count);
    assert_int_equal(open_edges(s.position, s.triangle_count), 0);
    assert_double_near(size.volume, volume, relative * volume);
    assert_double_near(size.area, area, relative * area);
    check_normals(&s);
    free(field);
    und_isosurface_free(&s);
}

/* Errors are a quarter at twice the points. */
static void round_shapes_converge(void **state)
{
    (void)state;
    for (int n = 20; n <= 80; n *= 2) {
        double relative = 0.02 * 400 / (n * n);
        check_round(sphere, 4 * PI / 3 * 0.343, 4 * PI * 0.49, relative, n);
        check_round(torus, 2 * PI * PI * 0.6 * 0.0625, 4 * PI * PI * 0.6 * 0.25, 4 * relative, n);
    }
}

static void normals_of_a_sphere_are_radial(void **state)
{
    (void)state;
    und_lattice l = lattice_of(41, 37, 45);
    float *field = sample(&l, sphere);
    und_isosurface s = make(&l, field, 2);
    for (size_t i = 0; i < 3 * (size_t)s.triangle_count; i++) {
        const float *p = s.position + 3 * i, *n = s.normal + 3 * i;
        double radius = sqrt((double)(p[0] * p[0] + p[1] * p[1] + p[2] * p[2])), along = 0;
        for (int k = 0; k < 3; k++)
            along += (double)(n[k] * p[k]) / radius;
        assert_double_near(radius, 0.7, l.d[1] * l.d[1] / 1.4); /* chords of a circle */
        assert_true(along > 0.9999);
    }
    free(field);
    und_isosurface_free(&s);
}

/* A plane is flat to a thousandth of an edge, how near corners come to points of the lattice, whatever the
 * cells' sizes; it ends at the lattice's border. */
static void a_plane_is_flat(void **state)
{
    (void)state;
    und_lattice l = lattice_of(9, 17, 12);
    float *field = sample(&l, plane);
    und_isosurface s = make(&l, field, 1);
    assert_true(s.triangle_count > 100);
    for (size_t i = 0; i < 3 * (size_t)s.triangle_count; i++) {
        const float *p = s.position + 3 * i, *n = s.normal + 3 * i;
        double length = sqrt(0.36 + 0.64 + 0.01);
        assert_double_near(plane((double)p[0], (double)p[1], (double)p[2]), 0, 1e-3 * l.d[0]);
        assert_double_near((double)n[0], 0.6 / length, 1e-4);
        assert_double_near((double)n[1], 0.8 / length, 1e-4);
        assert_double_near((double)n[2], -0.1 / length, 1e-4);
    }
    free(field);
    und_isosurface_free(&s);
}

static void random_field(const und_lattice *l, float *field, uint64_t seed, bool mad)
{
    for (int z = 0; z < l->n[2]; z++)
        for (int y = 0; y < l->n[1]; y++)
            for (int x = 0; x < l->n[0]; x++) {
                size_t i = ((size_t)z * (size_t)l->n[1] + (size_t)y) * (size_t)l->n[0] + (size_t)x;
                bool border =
                    x == 0 || y == 0 || z == 0 || x == l->n[0] - 1 || y == l->n[1] - 1 || z == l->n[2] - 1;
                double r = und_random(seed, 1, i);
                field[i] = border ? 1 : (float)(2 * r - 1);
                if (mad && r < 0.1)
                    field[i] = r < 0.02   ? NAN
                               : r < 0.04 ? INFINITY
                               : r < 0.06 ? -INFINITY
                               : r < 0.08 ? 0
                                          : 3e38F;
            }
}

/* Noise has all 256 cases next to each other: each edge is still that of two triangles. */
static void noise_is_closed(void **state)
{
    (void)state;
    und_lattice l = lattice_of(24, 21, 26);
    float *field = calloc(und_lattice_count(&l), sizeof *field);
    assert_non_null(field);
    for (uint64_t seed = 0; seed < 6; seed++) {
        random_field(&l, field, seed, seed >= 3);
        und_isosurface s = make(&l, field, 2);
        assert_true(s.triangle_count > 10000);
        assert_int_equal(open_edges(s.position, s.triangle_count), 0);
        assert_true(measure_mesh(s.position, s.triangle_count).volume > 0);
        check_normals(&s);
        und_isosurface_free(&s);
    }
    free(field);
}

/* Each of the 256 cases alone: what is inside is enclosed, facing outward; few enough triangles. */
static void each_case_is_closed(void **state)
{
    (void)state;
    und_lattice l = lattice_of(4, 4, 4);
    for (int inside = 0; inside < 256; inside++) {
        float field[64];
        int corners = 0;
        for (int i = 0; i < 64; i++)
            field[i] = 1;
        for (int c = 0; c < 8; c++)
            if (inside >> c & 1) {
                field[(c >> 2) * 16 + (c >> 1 & 1) * 4 + (c & 1) + 21] = -1;
                corners++;
            }
        und_isosurface s = make(&l, field, 1);
        mesh_size size = measure_mesh(s.position, s.triangle_count);
        double cell = pow(2.0 / 3, 3);
        assert_int_equal(open_edges(s.position, s.triangle_count), 0);
        assert_true(size.volume >= corners * cell / 6 - 1e-6); /* at least an octahedron for each */
        assert_true(size.volume <= corners * cell);
        und_isosurface_free(&s);
    }
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    und_lattice l = lattice_of(24, 21, 26);
    float *field = sample(&l, torus);
    und_isosurface a = make(&l, field, 1), b = make(&l, field, 7);
    assert_int_equal(a.triangle_count, b.triangle_count);
    assert_memory_equal(a.position, b.position, 36 * (size_t)a.triangle_count);
    assert_memory_equal(a.normal, b.normal, 36 * (size_t)a.triangle_count);
    und_isosurface_free(&a);
    und_isosurface_free(&b);
    free(field);
}

static void lattices_without_cells_have_no_surface(void **state)
{
    (void)state;
    und_lattice l = lattice_of(5, 5, 2);
    float field[50] = {0};
    l.n[2] = 1;
    for (int i = 0; i < 25; i++)
        field[i] = i == 12 ? -1 : 1;
    und_isosurface s = make(&l, field, 1);
    assert_int_equal(s.triangle_count, 0);
    und_isosurface_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_shapes_converge),
        cmocka_unit_test(normals_of_a_sphere_are_radial),
        cmocka_unit_test(a_plane_is_flat),
        cmocka_unit_test(noise_is_closed),
        cmocka_unit_test(each_case_is_closed),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(lattices_without_cells_have_no_surface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
