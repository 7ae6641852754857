/* Meshes as solids, at rest, moving and deforming. */
#include "base/random.h"
#include "geom/sequence.h"
#include "tests/solids_model.h"

static const bool closed[UND_SIDES] = {false};
static const int triangle[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                                    {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};

/* A box of triangles about a centre. */
static und_trimesh_def box_of(und_vec3 vertex[8], und_vec3 center, und_vec3 half)
{
    for (int i = 0; i < 8; i++)
        vertex[i] = und_add(
            center, und_vec(i & 1 ? half.x : -half.x, i & 2 ? half.y : -half.y, i & 4 ? half.z : -half.z));
    return (und_trimesh_def){.vertex_count = 8, .triangle_count = 12, .vertex = vertex, .triangle = triangle};
}

static und_shape *mesh_box(und_vec3 half)
{
    und_vec3 vertex[8];
    und_error err;
    und_trimesh_def def = box_of(vertex, und_vec(0, 0, 0), half);
    und_trimesh *mesh = und_trimesh_create(&def, &err);
    assert_non_null(mesh);
    return make(&(und_shape){.kind = UND_MESH, .mesh = mesh, .center = {0.01, 0.02, -0.03}});
}

/* A box is the same as triangles, turned and moving, but for floats. */
static void test_same(void **state)
{
    (void)state;
    const und_vec3 half = {0.2, 0.13, 0.01};
    const int sizes[2][3] = {{24, 24, 24}, {24, 24, 1}};
    und_error err;
    for (int flat = 0; flat < 2; flat++) {
        const und_mac m = und_mac_make(sizes[flat], (const double[3]){1 / 24.0, 1 / 24.0, 1 / 24.0},
                                       (const double[3]){0, 0, flat ? 0.5 : 0});
        und_key keys[2] = {{.time = 0, .position = {0.4, 0.5, 0.51}, .rotation = {flat ? 0 : 20, 0, 10}},
                           {.time = 1, .position = {0.6, 0.51, 0.5}, .rotation = {flat ? 0 : 90, 0, 50}}};
        und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
        und_shape *mesh = mesh_box(half),
                  *box = make(&(und_shape){.kind = UND_BOX, .center = {0.01, 0.02, -0.03}, .half = half});
        und_solids a = open_one(&m, &(und_obstacle_def){.shape = mesh, .motion = motion}, closed, 2),
                   b = open_one(&m, &(und_obstacle_def){.shape = box, .motion = motion}, closed, 2);
        assert_true(und_solids_move(&a, 0.3, 0.1) && und_solids_move(&b, 0.3, 0.1));
        double worst[4] = {0};
        for (int row = 0; row < und_mac_rows(&m); row++)
            for (int x = 0; x < m.n[0]; x++) {
                size_t at = und_mac_row(&m, row) + (size_t)x;
                worst[0] = fmax(worst[0], fabs((double)(a.distance[at] - b.distance[at])));
                worst[1] = fmax(worst[1], fabs((double)(a.room[at] - b.room[at])));
                for (int k = 0; k < 3; k++) {
                    worst[2] = fmax(worst[2], fabs((double)(a.open[k][at] - b.open[k][at])));
                    worst[3] = fmax(worst[3], fabs((double)(a.u[k][at] - b.u[k][at])));
                }
            }
        print_message("triangles for a box: distance out by %.2g, room %.2g, open %.2g, u %.2g\n", worst[0],
                      worst[1], worst[2], worst[3]);
        assert_false(a.failed);
        assert_true(worst[0] < 1e-4 && worst[1] < 1e-3 && worst[2] < 2e-3 && worst[3] < 1e-6);
        und_solids_close(&a);
        und_solids_close(&b);
        und_motion_destroy(motion);
        und_shape_destroy(mesh);
        und_shape_destroy(box);
    }
}

static und_sequence *sequence_of(const und_vec3 *center, const und_vec3 *half, int count, double thickness)
{
    und_error err;
    und_sequence *sequence = und_sequence_create(thickness, &err);
    assert_non_null(sequence);
    for (int i = 0; i < count; i++) {
        und_vec3 vertex[8];
        und_trimesh_def def = box_of(vertex, center[i], half[i]);
        assert_int_equal(und_sequence_add(sequence, &def, i, &err), UND_OK);
    }
    return sequence;
}

/* A box that grows along x by its own vertices while its motion lifts it. */
static void test_growing(void **state)
{
    (void)state;
    const und_mac m = cube(32);
    const und_vec3 center[2] = {{0, 0, 0}, {0, 0, 0}}, half[2] = {{0.1, 0.1, 0.1}, {0.3, 0.1, 0.1}};
    und_error err;
    und_key keys[2] = {{.time = 0, .position = {0.5, 0.4, 0.5}}, {.time = 1, .position = {0.5, 0.7, 0.5}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    und_sequence *sequence = sequence_of(center, half, 2, 0);
    und_obstacle_def def = {.sequence = sequence, .motion = motion};
    und_solids s = open_one(&m, &def, closed, 2);
    assert_true(und_solids_move(&s, 0.45, 0.05));
    und_shape *box = make(&(und_shape){.kind = UND_BOX, .center = {0.5, 0.55, 0.5}, .half = {0.2, 0.1, 0.1}});
    und_solids same = open_one(&m, &(und_obstacle_def){.shape = box}, closed, 2);
    for (int row = 0; row < und_mac_rows(&m); row++)
        for (int x = 0; x < m.n[0]; x++) {
            size_t at = und_mac_row(&m, row) + (size_t)x;
            assert_double_near((double)s.room[at], (double)same.room[at], 1e-5);
        }
    und_solids_close(&same);
    und_shape_destroy(box);
    /* its end is at x = 0.7 then, and goes at 0.2 m/s; it rises at 0.3 m/s */
    size_t end = und_mac_at(&m, 22, 17, 15), top = und_mac_at(&m, 15, 20, 15);
    assert_double_near((double)s.u[0][end], 0.2, 1e-5);
    assert_double_near((double)s.u[1][end], 0.3, 1e-5);
    assert_double_near((double)s.u[1][top], 0.3, 1e-5);
    assert_double_near((double)s.u[0][und_mac_at(&m, 9, 17, 15)], -0.2, 1e-5);
    assert_false(und_solids_move(&s, 1, 1));
    assert_true(und_solids_move(&s, 0, 0.5));
    und_thin_wall wall;
    und_solids_audit(&s, 0, 0.1, 11, &wall);
    assert_true(wall.thickness > UND_SOLIDS_THICK);
    assert_true(wall.speed > 0.49 && wall.speed < 0.6);
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {32, 32, 32}, .dx = 1.0 / 32});
    assert_int_equal(und_solids_frame(&s, 0.5, &frame, &err), UND_OK);
    const und_item *position = und_frame_find(&frame, "solid/mesh_position");
    assert_non_null(position);
    assert_int_equal(position->dim[0], 36);
    for (int i = 0; i < 36; i++)
        assert_double_near(fabs((double)((const float *)position->data)[3 * i] - 0.5), 0.2, 1e-6);
    und_frame_clear(&frame);
    und_solids_close(&s);
    und_motion_destroy(motion);
    und_sequence_destroy(sequence);
}

/* Thin plates across the domain that vertices or a motion carry, up to 3 cells a step; and a sheet. */
static void test_plates(void **state)
{
    (void)state;
    const und_mac m = cube(20);
    for (int trial = 0; trial < 9; trial++) {
        const bool sheet = trial % 3 == 2;
        const double d = m.d[0], w = (0.05 + 0.9 * und_random(3, 0, (uint64_t)trial)) * d, way = 9 * d;
        const und_vec3 center[2] = {{0.3, 0.5, 0.5}, {0.3 + way, 0.5, 0.5}};
        const und_vec3 half[2] = {{0.5 * w, 3, 3}, {0.5 * w, 3, 3}};
        und_error err;
        und_key keys[2] = {{.time = 0, .rotation = {0, 0, 0}}, {.time = 1, .rotation = {0, 0, 5}}};
        if (trial % 3 == 0)
            keys[1].position = und_vec(way, 0, 0);
        und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
        und_shape *mesh = mesh_box(half[0]);
        und_sequence *sequence = sequence_of(center, half, 2, sheet ? 0.2 * d : 0);
        mesh->center = center[0];
        und_obstacle_def def = {.shape = trial % 3 ? NULL : mesh, .sequence = trial % 3 ? sequence : NULL};
        def.motion = trial % 3 == 2 ? NULL : motion;
        und_solids s = open_one(&m, &def, closed, 2);
        double dt = (trial < 3 ? 3 : 0.2 + und_random(3, 1, (uint64_t)trial)) / 9;
        for (double time = 0; time + dt < 1; time += dt) {
            und_pose from = und_motion_at(def.motion, time);
            double x = trial % 3 ? 0.3 + way * time : 0.3;
            from.position = und_pose_point(&from, und_vec(x, 0.5, 0.5));
            assert_true(und_solids_move(&s, time, dt));
            assert_false(s.failed);
            if (sheet && trial < 3)
                continue; /* a sheet is not followed on its way */
            long count = overtaken(&s, &from, 0.5 * w + (sheet ? 1.2 * d : 0));
            if (count > 0)
                fail_msg("trial %d: %ld cells are overtaken by a plate of %g cells", trial, count, w / d);
        }
        und_solids_close(&s);
        und_motion_destroy(motion);
        und_sequence_destroy(sequence);
        und_shape_destroy(mesh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_growing),
                                       cmocka_unit_test(test_plates)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
