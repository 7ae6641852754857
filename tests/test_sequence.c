/* Meshes that move and deform: where they are and how fast, against motions that are known. */
#include "tests/folder.h"
#include "tests/test.h"

#include "geom/sequence.h"
#include "scene/scene.h"
#include "tests/ball.h"

static const und_vec3 cube_vertex[8] = {{-0.4, -0.4, -0.4}, {0.4, -0.4, -0.4}, {-0.4, 0.4, -0.4},
                                        {0.4, 0.4, -0.4},   {-0.4, -0.4, 0.4}, {0.4, -0.4, 0.4},
                                        {-0.4, 0.4, 0.4},   {0.4, 0.4, 0.4}};
static const int cube_triangle[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                         {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};

static und_status add_cube(und_sequence *s, double degrees, und_vec3 shift, double time, und_error *err)
{
    und_vec3 vertex[8];
    und_quat turn = und_quat_euler(und_vec(0, 0, degrees));
    for (int i = 0; i < 8; i++)
        vertex[i] = und_add(und_quat_rotate(turn, cube_vertex[i]), shift);
    und_trimesh_def def = {
        .vertex_count = 8, .triangle_count = 12, .vertex = vertex, .triangle = cube_triangle};
    return und_sequence_add(s, &def, time, err);
}

enum { N = 24 };

typedef struct picture {
    und_lattice lattice;
    float distance[N * N * N], velocity[3][N * N * N];
} picture;

static picture *render(const und_sequence *s, double time, const und_pose *pose, double reach, int threads)
{
    picture *p = malloc(sizeof *p);
    assert_non_null(p);
    double d = 2.0 / N;
    p->lattice = (und_lattice){{N, N, N}, {d, d, d}, {-1 + 0.5 * d, -1 + 0.5 * d, -1 + 0.5 * d}};
    float *const velocity[3] = {p->velocity[0], p->velocity[1], p->velocity[2]};
    und_error err = {0};
    if (und_sequence_render(s, time, pose, &p->lattice, reach, threads, p->distance, velocity, &err) !=
        UND_OK)
        fail_msg("%s", err.text);
    return p;
}

static und_vec3 place(const picture *p, int i)
{
    const double *o = p->lattice.origin;
    double d = p->lattice.d[0];
    return und_vec(o[0] + i % N * d, o[1] + i / N % N * d, o[2] + i / N / N * d);
}

static und_sequence *new_sequence(double thickness)
{
    und_sequence *s = und_sequence_create(thickness, NULL);
    assert_non_null(s);
    return s;
}

/* The box's distance where the cube has moved to, and its velocity wherever that is told. */
static void test_translated(void **state)
{
    (void)state;
    und_sequence *s = new_sequence(0);
    und_error err = {0};
    for (int i = 0; i < 4; i++)
        assert_int_equal(add_cube(s, 0, und_vec(0.1 * i, -0.05 * i, 0.02 * i), 0.5 * i, &err), UND_OK);
    assert_int_equal(und_sequence_open_edges(s), 0);
    const double times[] = {-1, 0, 0.2, 0.5, 1.3, 1.5, 2};
    for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
        double t = times[k], at = fmin(fmax(t, 0), 1.5) * 2, reach = 0.3;
        bool moves = t > 0 && t <= 1.5;
        und_vec3 speed = moves ? und_vec(0.2, -0.1, 0.04) : und_vec(0, 0, 0);
        picture *p = render(s, t, NULL, reach, 2);
        und_shape box = {.kind = UND_BOX,
                         .center = und_vec(0.1 * at, -0.05 * at, 0.02 * at),
                         .half = und_vec(0.4, 0.4, 0.4)};
        for (int i = 0; i < N * N * N; i++) {
            double exact = fmin(fmax(und_shape_distance(&box, place(p, i)), -reach), reach);
            assert_double_near(p->distance[i], exact, 1e-6);
            bool near = fabsf(p->distance[i]) < (float)reach;
            assert_double_near(p->velocity[0][i], near ? speed.x : 0, 1e-5);
            assert_double_near(p->velocity[1][i], near ? speed.y : 0, 1e-5);
            assert_double_near(p->velocity[2][i], near ? speed.z : 0, 1e-5);
        }
        assert_double_near(und_sequence_speed(s, t), und_length(speed), 1e-5);
        free(p);
    }
    und_bounds box = und_sequence_bounds(s, 0.6, 0.9);
    assert_double_near(box.low.x, -0.4 + 0.1, 1e-6);
    assert_double_near(box.high.x, 0.4 + 0.2, 1e-6);
    assert_double_near(box.low.y, -0.4 - 0.1, 1e-6);
    und_sequence_destroy(s);
}

/* A cube that turns: spin x the nearest point, which for a chord of the turn is off by half its angle.  The
 * error falls with the time between frames. */
static double turning_error(double degrees, const und_pose *pose)
{
    und_sequence *s = new_sequence(0);
    und_error err = {0};
    double spin = 2; /* rad/s about z */
    double step = degrees * acos(-1) / 180 / spin, worst = 0;
    for (int i = 0; i < 4; i++)
        assert_int_equal(add_cube(s, degrees * i, und_vec(0, 0, 0), step * i, &err), UND_OK);
    picture *p = render(s, 1.5 * step, pose, 0.2, 2);
    und_quat turn = und_quat_euler(und_vec(0, 0, 1.5 * degrees));
    und_pose total = pose ? *pose : (und_pose){.rotation = {.w = 1}};
    total.rotation = und_quat_mul(total.rotation, turn);
    und_shape box = {.kind = UND_BOX, .half = und_vec(0.4, 0.4, 0.4)};
    for (int i = 0; i < N * N * N; i++) {
        und_vec3 own = und_pose_local(&total, place(p, i));
        double distance = und_shape_distance(&box, own);
        if (!(distance > 0.01 && distance < 0.15)) /* outside, where the nearest point is one */
            continue;
        und_vec3 on =
            und_vec(fmin(fmax(own.x, -0.4), 0.4), fmin(fmax(own.y, -0.4), 0.4), fmin(fmax(own.z, -0.4), 0.4));
        und_vec3 v = und_quat_rotate(total.rotation, und_cross(und_vec(0, 0, spin), on));
        und_vec3 got = und_vec(p->velocity[0][i], p->velocity[1][i], p->velocity[2][i]);
        worst = fmax(worst, und_length(und_sub(got, v)));
    }
    free(p);
    und_sequence_destroy(s);
    return worst;
}

static void test_turning(void **state)
{
    (void)state;
    und_pose pose = {und_vec(0.05, 0.1, -0.1), und_quat_euler(und_vec(30, -40, 10))};
    for (int posed = 0; posed < 2; posed++) {
        double coarse = turning_error(16, posed ? &pose : NULL);
        double fine = turning_error(4, posed ? &pose : NULL);
        assert_true(fine < 0.02);
        assert_true(coarse < 0.2);
        assert_true(fine < coarse / 3);
    }
}

static void test_threads(void **state)
{
    (void)state;
    und_sequence *s = new_sequence(0);
    for (int i = 0; i < 3; i++) {
        ball b = make_ball(10, 0.5 + 0.1 * i, und_vec(0, 0.05 * i, 0), 0);
        assert_int_equal(und_sequence_add(s, &b.def, i, NULL), UND_OK);
        free_ball(&b);
    }
    picture *one = render(s, 1.25, NULL, 0.4, 1);
    for (int threads = 2; threads <= 7; threads += 5) {
        picture *p = render(s, 1.25, NULL, 0.4, threads);
        assert_memory_equal(p->distance, one->distance, sizeof one->distance);
        assert_memory_equal(p->velocity, one->velocity, sizeof one->velocity);
        free(p);
    }
    free(one);
    und_sequence_destroy(s);
}

/* Frames whose triangles differ: the first stands until the second replaces it. */
static void test_other_triangles(void **state)
{
    (void)state;
    und_sequence *s = new_sequence(0);
    assert_int_equal(add_cube(s, 0, und_vec(0, 0, 0), 0, NULL), UND_OK);
    ball b = make_ball(12, 0.6, und_vec(0, 0, 0), 1);
    assert_int_equal(und_sequence_add(s, &b.def, 1, NULL), UND_OK);
    free_ball(&b);
    assert_true(und_sequence_open_edges(s) > 0);
    for (int k = 0; k < 2; k++) {
        picture *p = render(s, k == 0 ? 0.99 : 1, NULL, 0.5, 2);
        und_shape box = {.kind = UND_BOX, .half = und_vec(0.4, 0.4, 0.4)};
        for (int i = 0; i < N * N * N; i++) {
            double exact = k == 0 ? und_shape_distance(&box, place(p, i)) : und_length(place(p, i)) - 0.6;
            if (k == 0 || place(p, i).y < 0.3) /* the ball is open at its top */
                assert_double_near(p->distance[i], fmin(fmax(exact, -0.5), 0.5), k == 0 ? 1e-6 : 0.02);
            assert_double_near(p->velocity[0][i], 0, 0);
        }
        free(p);
    }
    und_sequence_destroy(s);
}

/* A flat sheet is solid within half its thickness. */
static void test_sheet(void **state)
{
    (void)state;
    const int triangle[2][3] = {{0, 1, 2}, {0, 2, 3}};
    und_sequence *s = new_sequence(0.2), *body = new_sequence(0);
    und_error err = {0};
    for (int i = 0; i < 2; i++) {
        double y = 0.3 * i;
        const und_vec3 vertex[4] = {{-0.5, y, -0.5}, {-0.5, y, 0.5}, {0.5, y, 0.5}, {0.5, y, -0.5}};
        und_trimesh_def def = {
            .vertex_count = 4, .triangle_count = 2, .vertex = vertex, .triangle = triangle};
        assert_int_equal(und_sequence_add(s, &def, i, &err), UND_OK);
        assert_int_equal(und_sequence_add(body, &def, i, &err), UND_INVALID); /* no volume */
    }
    picture *p = render(s, 0.5, NULL, 0.3, 2);
    und_shape core = {.kind = UND_BOX, .center = und_vec(0, 0.15, 0), .half = und_vec(0.5, 1e-9, 0.5)};
    for (int i = 0; i < N * N * N; i++) {
        double exact = fmin(und_shape_distance(&core, place(p, i)) - 0.1, 0.3);
        assert_double_near(p->distance[i], exact, 1e-6);
        if (exact < 0.299)
            assert_double_near(p->velocity[1][i], 0.3, 1e-6);
    }
    free(p);
    und_sequence_destroy(s);
    und_sequence_destroy(body);
}

static void test_wrong_frames(void **state)
{
    (void)state;
    und_error err = {0};
    assert_null(und_sequence_create(-1, &err));
    assert_null(und_sequence_create(NAN, &err));
    und_sequence *s = new_sequence(0);
    assert_int_equal(add_cube(s, 0, und_vec(0, 0, 0), 1, &err), UND_OK);
    const double times[] = {1, 0.5, NAN, INFINITY};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        assert_int_equal(add_cube(s, 0, und_vec(0, 0, 0), times[i], &err), UND_INVALID);
    assert_int_equal(add_cube(s, 0, und_vec(0, NAN, 0), 2, &err), UND_INVALID);
    const int wrong[1][3] = {{0, 1, 8}};
    und_trimesh_def def = {.vertex_count = 8, .triangle_count = 1, .vertex = cube_vertex, .triangle = wrong};
    assert_int_equal(und_sequence_add(s, &def, 2, &err), UND_INVALID);
    assert_int_equal(add_cube(s, 0, und_vec(0, 0, 0), 2, &err), UND_OK);
    assert_true(und_sequence_bytes(s) > 2 * 8 * 12);
    und_sequence_destroy(s);
    und_sequence_destroy(NULL);
}

static void write_cube(const char *name, double x, int triangles)
{
    FILE *file = fopen(test_path(&folder, name), "w");
    assert_non_null(file);
    for (int i = 0; i < 8; i++)
        fprintf(file, "v %g %g %g\n", cube_vertex[i].x + x, cube_vertex[i].y, cube_vertex[i].z);
    for (int i = 0; i < triangles; i++)
        fprintf(file, "f %d %d %d\n", cube_triangle[i][0] + 1, cube_triangle[i][1] + 1,
                cube_triangle[i][2] + 1);
    fclose(file);
}

static void expect_scene(const char *solid, const char *error)
{
    char text[512];
    snprintf(text, sizeof text,
             "scene { name = 'cube' }\nliquid.levelset { size = {4, 4, 4}, cells = 8,\nsolids = %s }\n",
             solid);
    und_error err = {0};
    und_scene *scene = und_scene_from_text(text, test_path(&folder, "cube.lua"), NULL, 0, &err);
    if (!error && !scene)
        fail_msg("%s", err.text);
    if (error && (scene || !strstr(err.text, error) || !strstr(err.text, "cube.lua:3:")))
        fail_msg("expected \"%s\", found \"%s\"", error, err.text);
    if (!error) {
        const und_obstacle_def *def = und_scene_get(scene)->levelset.obstacles;
        assert_true(def->sequence && !def->shape);
        assert_double_near(und_sequence_speed(def->sequence, 1.1), 2 * 0.1 * 12, 1e-4);
        assert_double_near(und_sequence_speed(def->sequence, 0.9), 0, 0);
        assert_double_near(und_sequence_bounds(def->sequence, 9, 9).high.x, 2 * (0.4 + 0.2), 1e-6);
    }
    und_scene_destroy(scene);
}

static void test_scenes(void **state)
{
    (void)state;
    for (int i = 7; i < 10; i++) {
        char name[32];
        snprintf(name, sizeof name, "cube.%03d.obj", i);
        write_cube(name, 0.1 * (i - 7), 12);
    }
    write_cube("open.1.obj", 0, 10);
    write_cube("bad.1.obj", 0, 0);
    expect_scene(
        "{ sequence = { files = 'cube.###.obj', first = 7, last = 9, fps = 12, start = 1, scale = 2 } }",
        NULL);
    expect_scene(
        "{ { sequence = { files = 'cube.###.obj', first = 7, last = 9, fps = 12, start = 1, scale = 2 "
        "}, name = 'cube' } }",
        NULL);
    expect_scene("{ sequence = { files = 'cube.###.obj', first = 7, last = 10 } }",
                 "cannot open \"cube.010.obj\"");
    expect_scene("{ sequence = { files = 'cube.obj', last = 9 } }", "expected a name with one number in it");
    expect_scene("{ sequence = { files = '#cube.#.obj', last = 9 } }",
                 "expected a name with one number in it");
    expect_scene("{ sequence = { files = '../cube.#.obj', last = 9 } }", "leads out of the scene's folder");
    expect_scene("{ sequence = { files = 'cube.###.obj', first = 7, last = 6 } }",
                 "expected 1 to 1000 frames");
    expect_scene("{ sequence = { files = 'open.#.obj', last = 1 } }",
                 "expected closed meshes, found 4 open edges");
    expect_scene("{ sequence = { files = 'bad.#.obj', last = 1 } }", "bad.1.obj");
    expect_scene(
        "{ shape = sphere { radius = 1 }, sequence = { files = 'cube.###.obj', first = 7, last = 9 } }",
        "expected either a shape or a sequence");
    expect_scene("{ { name = 'nothing' } }", "missing key \"shape\" or \"sequence\"");
}

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_translated), cmocka_unit_test(test_turning),
        cmocka_unit_test(test_threads),    cmocka_unit_test(test_other_triangles),
        cmocka_unit_test(test_sheet),      cmocka_unit_test(test_wrong_frames),
        cmocka_unit_test(test_scenes),
    };
    return cmocka_run_group_tests_name("sequence", tests, setup, teardown);
}
