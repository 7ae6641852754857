/* Shapes that are sampled distances, against the shapes they are samples of. */
#include "tests/folder.h"
#include "tests/test.h"

#include "base/random.h"
#include "geom/distance_grid.h"
#include "geom/mesh.h"
#include "io/vdb.h"
#include "scene/scene.h"

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    return 0;
}

static double noise(int stream, int i)
{
    return 2 * und_random(11, (uint64_t)stream, (uint64_t)i) - 1;
}

static und_vec3 noise_point(int stream, int i)
{
    return und_vec(noise(stream, i), noise(stream + 1, i), noise(stream + 2, i));
}

/* A shape's distances over [-1, 1]^3, with different spacings along the axes. */
static und_distance_grid *sample(const und_shape *shape, int n, und_error *err)
{
    und_lattice l = {{n, n + n / 4, n - n / 8}, {0, 0, 0}, {-1, -1, -1}};
    float *value = malloc(und_lattice_count(&l) * sizeof *value);
    assert_non_null(value);
    for (int a = 0; a < 3; a++)
        l.d[a] = 2.0 / (l.n[a] - 1);
    size_t i = 0;
    for (int z = 0; z < l.n[2]; z++)
        for (int y = 0; y < l.n[1]; y++)
            for (int x = 0; x < l.n[0]; x++)
                value[i++] = (float)und_shape_distance(
                    shape, und_vec(-1 + x * l.d[0], -1 + y * l.d[1], -1 + z * l.d[2]));
    und_distance_grid *v = und_distance_grid_create(&(und_distance_grid_def){l, value}, err);
    free(value);
    return v;
}

static const und_shape ball = {.kind = UND_SPHERE, .center = {0.05, -0.1, 0.02}, .radius = 0.6};

static und_distance_grid *ball_volume(int n)
{
    und_error err = {0};
    und_distance_grid *v = sample(&ball, n, &err);
    if (!v)
        fail_msg("%s", err.text);
    return v;
}

/* Distances and lengths of lines to second order in the spacing. */
static void test_order(void **state)
{
    (void)state;
    double distance[3] = {0}, line[3] = {0};
    for (int level = 0; level < 3; level++) {
        und_distance_grid *v = ball_volume(16 << level);
        for (int i = 0; i < 2000; i++) {
            und_vec3 p = noise_point(1, i), way = noise_point(4, i);
            double first, exact = und_shape_distance(&ball, p);
            if (exact > -0.4)
                distance[level] += fabs(und_distance_grid_distance(v, p) - exact);
            line[level] += fabs(und_distance_grid_line(v, p, way, -2, 3, &first) -
                                und_shape_line(&ball, p, way, -2, 3, &first));
        }
        und_distance_grid_release(v);
    }
    for (int level = 0; level < 2; level++) {
        assert_double_near(log2(distance[level] / distance[level + 1]), 2, 0.25);
        assert_double_near(log2(line[level] / line[level + 1]), 2, 0.4);
    }
}

/* On a rough field, with several crossings in a cell: where a line enters or leaves the value is zero, in
 * between it has one sign, and what the line measures is the sum. */
static void test_lines_are_exact(void **state)
{
    (void)state;
    enum { N = 9 };
    float value[N * N * N];
    for (int i = 0; i < N * N * N; i++)
        value[i] = (float)noise(9, i);
    und_distance_grid_def def = {{{N, N, N}, {0.25, 0.3, 0.2}, {-1, -1.2, -0.8}}, value};
    und_distance_grid *v = und_distance_grid_create(&def, NULL);
    assert_non_null(v);
    int crossings = 0;
    for (int i = 0; i < 500; i++) {
        und_vec3 p = noise_point(20, i), way = noise_point(30, i);
        if (i % 5 == 0)
            way = i % 2 ? und_vec(0, 1, 0) : und_vec(-0.5, 0, 0);
        double first, total = und_distance_grid_line(v, p, way, -3, 3, &first), sum = 0, begin = 3;
        for (double t = -3; t < 3;) {
            double next = fmin(und_distance_grid_next(v, p, way, t), 3);
            und_vec3 at = und_add(p, und_mul(way, next)), middle = und_add(p, und_mul(way, 0.5 * (t + next)));
            assert_true(next > t);
            if (next < 3) {
                assert_double_near(und_distance_grid_distance(v, at), 0, 1e-6);
                crossings++;
            }
            if (und_distance_grid_distance(v, middle) < 0) {
                sum += next - t;
                begin = fmin(begin, t);
            }
            t = next;
        }
        assert_double_near(total, sum, 1e-9);
        assert_double_near(first, begin, 1e-9);
    }
    assert_true(crossings > 2000);
    und_distance_grid_release(v);
}

/* Outside the lattice the distance goes on; the border is outside even where its values are not. */
static void test_border(void **state)
{
    (void)state;
    und_distance_grid *v = ball_volume(32);
    for (int i = 0; i < 500; i++) {
        und_vec3 p = und_mul(noise_point(40, i), 5);
        double exact = und_shape_distance(&ball, p), got = und_distance_grid_distance(v, p);
        if (exact > 0.1)
            assert_true(got > exact - 0.01 && got < 1.5 * exact);
    }
    und_bounds b = und_distance_grid_bounds(v);
    assert_true(b.low.x <= 0.05 - 0.6 && b.low.x > 0.05 - 0.6 - 0.15);
    assert_true(b.high.y >= -0.1 + 0.6 && b.high.y < -0.1 + 0.6 + 0.15);
    und_distance_grid_release(v);
    const und_shape all = {.kind = UND_SPHERE, .radius = 10};
    v = sample(&all, 17, NULL);
    assert_non_null(v);
    double first, length = und_distance_grid_line(v, und_vec(0, 0, 0), und_vec(1, 0, 0), -9, 9, &first);
    assert_true(length > 1.7 && length < 2 && first > -1 && first < -0.8);
    assert_true(und_distance_grid_distance(v, und_vec(1.1, 0, 0)) > 0);
    und_distance_grid_release(v);
}

/* As a member of a group, moved by its center, and as triangles. */
static void test_as_a_shape(void **state)
{
    (void)state;
    und_vec3 by = und_vec(0.3, 2, -1);
    und_shape *volume =
        und_shape_create(&(und_shape){.kind = UND_VOLUME, .center = by, .volume = ball_volume(48)}, NULL);
    und_shape *box = und_shape_create(&(und_shape){.kind = UND_BOX,
                                                   .center = und_add(by, und_vec(0.05, 0.5, 0.02)),
                                                   .half = und_vec(1, 0.6, 1)},
                                      NULL);
    und_shape **children = malloc(2 * sizeof *children);
    assert_true(volume && box && children);
    children[0] = volume;
    children[1] = box;
    und_shape *cut =
        und_shape_create(&(und_shape){.kind = UND_DIFFERENCE, .child_count = 2, .children = children}, NULL);
    assert_non_null(cut);
    double first, length = und_shape_column(cut, by.x + 0.05, by.z + 0.02, -9, 9, &first);
    assert_double_near(length, 0.6, 2e-3); /* the half below the box */
    assert_double_near(first, by.y - 0.1 - 0.6, 2e-3);
    assert_true(und_shape_distance(cut, und_add(by, und_vec(0.05, -0.2, 0))) < 0);
    assert_true(und_shape_distance(cut, und_add(by, und_vec(0.05, 0, 0))) > 0);
    und_soup soup;
    assert_int_equal(und_shape_mesh(volume, &soup, NULL), UND_OK);
    assert_true(soup.triangle_count > 500);
    for (int i = 0; i < 3 * soup.triangle_count; i++) {
        const float *p = soup.position + 3 * i;
        und_vec3 at = und_sub(und_vec(p[0], p[1], p[2]), by);
        assert_double_near(und_shape_distance(&ball, at), 0, 3e-3);
    }
    und_soup_destroy(&soup);
    und_shape_destroy(cut);
}

enum { SIDE = 40 };

/* A narrow band of the ball's distance, and a grid of another kind before it. */
static void write_ball(const char *name)
{
    static float value[SIDE * SIDE * SIDE];
    static uint8_t active[SIDE * SIDE * SIDE];
    double d = 2.0 / SIDE;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        und_vec3 p = und_vec(i % SIDE * d - 1, i / SIDE % SIDE * d - 1, i / SIDE / SIDE * d - 1);
        value[i] = (float)fmin(fmax(und_shape_distance(&ball, p), -3 * d), 3 * d);
        active[i] = i % 7 == 0;
    }
    const und_vdb_grid grids[] = {{.name = "density",
                                   .kind = UND_VDB_SCALAR,
                                   .n = {SIDE, SIDE, SIDE},
                                   .voxel = d,
                                   .origin = {-1, -1, -1},
                                   .value = {value},
                                   .active = active},
                                  {.name = "surface",
                                   .kind = UND_VDB_LEVEL_SET,
                                   .n = {SIDE, SIDE, SIDE},
                                   .voxel = d,
                                   .origin = {-1, -1, -1},
                                   .value = {value},
                                   .background = (float)(3 * d)}};
    und_vdb_def def = {.grid_count = 2, .grids = grids, .threads = 1};
    und_error err = {0};
    if (und_vdb_write(test_path(&folder, name), &def, &err) != UND_OK)
        fail_msg("%s", err.text);
}

static void expect_scene(const char *shape, const char *error)
{
    char text[512];
    snprintf(text, sizeof text,
             "scene { name = 'volume' }\nliquid.levelset { size = {4, 4, 4}, cells = 8,\nfill = %s }\n",
             shape);
    und_error err = {0};
    und_scene *scene = und_scene_from_text(text, test_path(&folder, "volume.lua"), NULL, 0, &err);
    if (!error && !scene)
        fail_msg("%s", err.text);
    if (error && (scene || !strstr(err.text, error) || !strstr(err.text, "volume.lua:3:")))
        fail_msg("expected \"%s\", found \"%s\"", error, err.text);
    if (!error) {
        const und_shape *s = und_scene_get(scene)->levelset.fills->shape;
        const und_shape moved = {.kind = UND_SPHERE, .center = {1.1, 1.8, 2.04}, .radius = 1.2};
        for (int i = 0; i < 500; i++) {
            und_vec3 p = und_add(moved.center, und_mul(noise_point(50, i), 1.5));
            double exact = und_shape_distance(&moved, p);
            if (fabs(exact) < 0.15)
                assert_double_near(und_shape_distance(s, p), exact, 3e-3); /* d^2 / 4 r */
        }
    }
    und_scene_destroy(scene);
}

static void test_scenes(void **state)
{
    (void)state;
    write_ball("ball.vdb");
    expect_scene("volume { file = 'ball.vdb', grid = 'surface', scale = 2, center = {1, 2, 2} }", NULL);
    expect_scene("union { volume { file = 'ball.vdb', grid = 'surface', scale = 2, center = {1, 2, 2} } }",
                 NULL);
    expect_scene("volume { file = 'ball.vdb', grid = 'fog' }", "there is no grid of floats named fog");
    expect_scene("volume { file = 'none.vdb' }", "cannot open \"none.vdb\"");
    expect_scene("volume { file = '../ball.vdb' }", "leads out of the scene's folder");
    expect_scene("volume { grid = 'surface' }", "missing key \"file\"");
    expect_scene("volume { file = 'ball.vdb', grid = 'surface', scale = 1e9 }", "expected a volume within");
    FILE *file = fopen(test_path(&folder, "text.vdb"), "wb");
    assert_non_null(file);
    fputs("no volume at all\n", file);
    fclose(file);
    expect_scene("volume { file = 'text.vdb' }", "text.vdb");
}

/* Cut short anywhere it is refused; with bits flipped it is refused or read as something finite. */
static void test_damaged_files(void **state)
{
    (void)state;
    write_ball("whole.vdb");
    FILE *file = fopen(test_path(&folder, "whole.vdb"), "rb");
    assert_non_null(file);
    static char data[1 << 20], mutant[1 << 20];
    size_t size = fread(data, 1, sizeof data, file);
    fclose(file);
    assert_true(size > 1000 && size < sizeof data);
    int refused = 0;
    for (uint64_t i = 0; i < 160; i++) {
        bool cut = i < 60;
        size_t length = cut ? (size_t)(und_random(5, 1, i) * (double)(size - 1)) : size;
        memcpy(mutant, data, size);
        for (uint64_t k = 0; !cut && k <= i % 4; k++) { /* half of them in the headers */
            size_t range = i % 2 ? size : 2000;
            mutant[und_random_bits(5, 2 + k, i) % range] ^= (char)(1 << und_random_bits(5, 20 + k, i) % 8);
        }
        file = fopen(test_path(&folder, "damaged.vdb"), "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(mutant, 1, length, file), length);
        fclose(file);
        und_lattice lattice;
        float *value = NULL;
        und_error err = {0};
        und_status status =
            und_vdb_read_lattice(test_path(&folder, "damaged.vdb"), "surface", &lattice, &value, &err);
        assert_int_equal(status == UND_OK, value != NULL);
        assert_false(cut && status == UND_OK);
        if (status == UND_OK) {
            und_distance_grid *v = und_distance_grid_create(&(und_distance_grid_def){lattice, value}, &err);
            refused += v == NULL;
            und_distance_grid_release(v);
        } else {
            refused++;
            assert_non_null(strstr(err.text, "damaged.vdb"));
        }
        free(value);
    }
    print_message("%d of 160 files refused\n", refused);
    assert_true(refused > 100);
}

static void test_wrong_volumes(void **state)
{
    (void)state;
    und_error err = {0};
    float value[27];
    for (int i = 0; i < 27; i++)
        value[i] = 1;
    const und_lattice good = {{3, 3, 3}, {1, 1, 1}, {0, 0, 0}};
    assert_null(und_distance_grid_create(&(und_distance_grid_def){good, value}, &err)); /* no inside */
    value[13] = -1;
    und_distance_grid *v = und_distance_grid_create(&(und_distance_grid_def){good, value}, &err);
    assert_non_null(v);
    assert_true(und_distance_grid_bytes(v) >= sizeof value);
    und_distance_grid_release(und_distance_grid_keep(v));
    assert_double_near(und_distance_grid_distance(v, und_vec(1, 1, 1)), -1, 1e-12);
    assert_true(isnan(und_distance_grid_distance(v, und_vec(NAN, 1, 1))) ||
                und_distance_grid_distance(v, und_vec(NAN, 1, 1)) > 0);
    double first;
    assert_double_near(und_distance_grid_line(v, und_vec(NAN, 1, 1), und_vec(1, NAN, 0), 0, 1, &first), 0, 0);
    und_distance_grid_release(v);
    const und_lattice wrong[] = {{{3, 3, 1}, {1, 1, 1}, {0, 0, 0}},
                                 {{3, 3, 3}, {1, 0, 1}, {0, 0, 0}},
                                 {{3, 3, 3}, {1, 1, NAN}, {0, 0, 0}},
                                 {{3, 3, 3}, {1, 1, 1}, {0, 0, 2e6}},
                                 {{2000, 2000, 2000}, {1, 1, 1}, {0, 0, 0}}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_null(und_distance_grid_create(&(und_distance_grid_def){wrong[i], value}, &err));
    value[5] = NAN;
    assert_null(und_distance_grid_create(&(und_distance_grid_def){good, value}, &err));
    und_distance_grid_release(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),         cmocka_unit_test(test_lines_are_exact),
        cmocka_unit_test(test_border),        cmocka_unit_test(test_as_a_shape),
        cmocka_unit_test(test_wrong_volumes), cmocka_unit_test(test_scenes),
        cmocka_unit_test(test_damaged_files),
    };
    return cmocka_run_group_tests_name("volume", tests, setup, teardown);
}
