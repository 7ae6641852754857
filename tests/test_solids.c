/* Solids in the flow: what they leave open of faces and cells, walls thinner than a cell, motion. */
#include "base/random.h"
#include "flow/solids.h"
#include "geom/motion.h"
#include "geom/shape.h"
#include "test.h"

static const bool closed[UND_SIDES] = {false};
static const bool opened[UND_SIDES] = {true, true, true, true, true, true};

static und_mac cube(int n)
{
    return und_mac_make((const int[3]){n, n, n}, (const double[3]){1.0 / n, 1.0 / n, 1.0 / n},
                        (const double[3]){0, 0, 0});
}

static und_shape *make(const und_shape *like)
{
    und_error err;
    und_shape *shape = und_shape_create(like, &err);
    assert_non_null(shape);
    return shape;
}

static und_solids open_one(const und_mac *mac, const und_obstacle_def *def, const bool *sides, int threads)
{
    und_error err;
    und_solids s;
    assert_int_equal(und_solids_open(&s, mac, def, 1, sides, 0, threads, &err), UND_OK);
    return s;
}

static void test_none(void **state)
{
    (void)state;
    const und_mac m = und_mac_make((const int[3]){5, 4, 3}, (const double[3]){1, 1, 1}, (const double[3]){0});
    const bool sides[UND_SIDES] = {false, true, false, false, true, false};
    und_solids s;
    und_error err;
    assert_int_equal(und_solids_open(&s, &m, NULL, 0, sides, 0, 2, &err), UND_OK);
    assert_false(s.any);
    assert_null(s.distance);
    double sum[3] = {0};
    for (size_t i = 0; i < m.count; i++)
        for (int a = 0; a < 3; a++)
            sum[a] += (double)s.open[a][i];
    assert_double_near(sum[0], 4 * 3 * (4 + 1), 0);
    assert_double_near(sum[1], 5 * 3 * 3, 0);
    assert_double_near(sum[2], 5 * 4 * (2 + 1), 0);
    assert_double_near((double)s.open[0][und_mac_at(&m, 4, 2, 1)], 1, 0);
    assert_double_near((double)s.open[0][und_mac_at(&m, -1, 2, 1)], 0, 0);
    assert_double_near((double)s.open[2][und_mac_at(&m, 2, 2, -1)], 1, 0);
    assert_false(und_solids_move(&s, 0, 1));
    und_solids_close(&s);
}

/* All faces and cells against the plane's exact parts. */
static void test_plane(void **state)
{
    (void)state;
    const int n = 12;
    const und_mac m = cube(n);
    und_shape *plane =
        make(&(und_shape){.kind = UND_PLANE, .center = {0.5, 0.48, 0.51}, .half = {0.3, 1, -0.45}});
    und_solids s = open_one(&m, &(und_obstacle_def){.shape = plane}, opened, 2);
    const und_vec3 g = plane->half;
    double worst = 0, room_worst = 0;
    enum { FINE = 40 };
    for (int z = 2; z < 9; z += 2)
        for (int y = 0; y < n; y++)
            for (int x = 2; x < 9; x += 3) {
                double face = 0, room = 0;
                for (int j = 0; j < FINE; j++)
                    for (int k = 0; k < FINE; k++) {
                        double py = y + (j + 0.5) / FINE, pz = z + (k + 0.5) / FINE;
                        double h = (py / n - 0.48) * g.y + (pz / n - 0.51) * g.z;
                        double border = (0.5 - h / g.x) * n; /* open where x is beyond */
                        face += x + 1 > border;
                        room += fmin(fmax(x + 1 - border, 0), 1);
                    }
                size_t at = und_mac_at(&m, x, y, z);
                worst = fmax(worst, fabs(face / (FINE * FINE) - (double)s.open[0][at]));
                room_worst = fmax(room_worst, fabs(room / (FINE * FINE) - (double)s.room[at]));
            }
    print_message("a tilted plane: faces out by %.2g, cells by %.2g (sampled)\n", worst, room_worst);
    assert_true(worst < 0.02);
    assert_true(room_worst < 0.001);
    und_solids_close(&s);
    und_shape_destroy(plane);
}

/* Spreads marks over open faces from the cells that have one. */
static void flood(const und_solids *s, uint8_t *mark)
{
    const und_mac *m = &s->mac;
    size_t *stack = malloc(m->count * sizeof *stack), count = 0;
    assert_non_null(stack);
    for (size_t i = 0; i < m->count; i++)
        if (mark[i])
            stack[count++] = i;
    while (count > 0) {
        size_t at = stack[--count];
        for (int way = 0; way < 6; way++) {
            size_t step = (size_t)m->step[way / 2], next = way % 2 ? at + step : at - step;
            if (s->open[way / 2][way % 2 ? at : next] > 0 && !mark[next]) {
                mark[next] = 1;
                stack[count++] = next;
            }
        }
    }
    free(stack);
}

static double uniform(uint64_t stream, uint64_t index)
{
    return und_random(7, stream, index);
}

/* A wall through the whole cube, `thickness` cells, at a random angle; each third along an axis or a
 * diagonal.  The motion turns it. */
static und_motion *random_pose(const und_mac *m, uint64_t trial)
{
    double near = 0.5 + (uniform(trial, 0) - 0.5) * 4 / m->n[0];
    und_key key = {.position = {near, 0.5 + 0.01 * uniform(trial, 1), 0.5}};
    double step = trial % 3 == 2 ? 45 : 1;
    if (trial % 3)
        key.rotation = und_vec(floor(uniform(trial, 2) * 360 / step) * step,
                               floor(uniform(trial, 3) * 360 / step) * step,
                               floor(uniform(trial, 4) * 360 / step) * step);
    if (trial % 3 == 1)
        key.rotation.z += uniform(trial, 5);
    if (m->n[2] == 1)
        key.rotation.x = key.rotation.y = 0;
    und_error err;
    und_motion *motion = und_motion_create(&key, 1, UND_EASE_LINEAR, &err);
    assert_non_null(motion);
    return motion;
}

/* Cells on the other side of the wall that can be reached; *reached: the part of those on this side that can.
 */
static long crossed(const und_solids *s, const und_pose *pose, double thickness, double *reached)
{
    const und_mac *m = &s->mac;
    uint8_t *mark = calloc(m->count, 1);
    long count = 0, here = 0, of = 0;
    assert_non_null(mark);
    for (int pass = 0; pass < 2; pass++) {
        for (int z = 0; z < m->n[2]; z++)
            for (int y = 0; y < m->n[1]; y++)
                for (int x = 0; x < m->n[0]; x++) {
                    und_vec3 p =
                        und_vec(und_mac_middle(m, 0, x), und_mac_middle(m, 1, y), und_mac_middle(m, 2, z));
                    double side = und_pose_local(pose, p).x / m->d[0];
                    size_t at = und_mac_at(m, x, y, z);
                    if (pass == 0 && side > 0.5 * thickness + 3)
                        mark[at] = 1;
                    of += pass == 1 && side > 0.5 * thickness;
                    here += pass == 1 && side > 0.5 * thickness && mark[at];
                    count += pass == 1 && side < -0.5 * thickness && mark[at];
                }
        if (pass == 0)
            flood(s, mark);
    }
    free(mark);
    *reached = of ? (double)here / (double)of : 0;
    return count;
}

static void flood_walls(const und_mac *m, int trials)
{
    static const double thickness[] = {0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0, 1.1, 1.3, 1.5, 1.7, 1.74, 2, 2.5};
    double least = 1;
    for (int trial = 0; trial < trials; trial++) {
        double w = thickness[trial % 14], d = m->d[0], reached;
        und_shape *wall = make(&(und_shape){.kind = UND_BOX, .half = {0.5 * w * d, 3, 3}});
        und_motion *motion = random_pose(m, (uint64_t)(trial / 14 + 100 * trial));
        und_solids s = open_one(m, &(und_obstacle_def){.shape = wall, .motion = motion}, closed, 2);
        und_pose pose = und_motion_at(motion, 0);
        long leaks = crossed(&s, &pose, w, &reached);
        if (leaks > 0)
            fail_msg("trial %d: %ld cells beyond a wall of %g cells are reached", trial, leaks, w);
        least = fmin(least, reached);
        und_solids_close(&s);
        und_motion_destroy(motion);
        und_shape_destroy(wall);
    }
    print_message("%d walls: at least %.4f of the cells on one side hang together\n", trials, least);
    assert_true(least > 0.95);
}

static void test_walls(void **state)
{
    (void)state;
    const und_mac m = cube(20), flat = und_mac_make((const int[3]){30, 30, 1},
                                                    (const double[3]){1 / 30.0, 1 / 30.0, 1 / 30.0},
                                                    (const double[3]){0, 0, 0.5 - 0.5 / 30});
    flood_walls(&m, 14 * 30);
    flood_walls(&flat, 14 * 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_none), cmocka_unit_test(test_plane),
                                       cmocka_unit_test(test_walls)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
