/* Solids in the flow: what they leave open of faces and cells, walls thinner than a cell, motion. */
#include "base/random.h"
#include "tests/solids_model.h"

static const bool closed[UND_SIDES] = {false};
static const bool opened[UND_SIDES] = {true, true, true, true, true, true};

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

/* A plate that moves, and turns too in every second trial. */
static und_motion *plate_motion(const und_mac *m, uint64_t trial, double cells)
{
    und_key keys[2] = {{.time = 0, .position = {0.4, 0.5, 0.5}}, {.time = 1}};
    keys[0].rotation =
        und_vec(0, trial % 3 ? 360 * uniform(trial, 1) : 0, trial % 3 ? 360 * uniform(trial, 2) : 0);
    if (m->n[2] == 1)
        keys[0].rotation.y = 0;
    keys[1] = keys[0];
    keys[1].time = 1;
    und_vec3 normal = und_quat_rotate(und_quat_euler(keys[0].rotation), und_vec(1, 0, 0));
    keys[1].position = und_add(keys[0].position, und_mul(normal, cells * m->d[0]));
    if (trial % 2)
        keys[1].rotation.z += 40 * (uniform(trial, 3) - 0.5);
    und_error err;
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    assert_non_null(motion);
    return motion;
}

static void move_plates(const und_mac *m, uint64_t trials)
{
    for (uint64_t trial = 0; trial < trials; trial++) {
        double w = 0.02 + 1.2 * uniform(trial, 10) * uniform(trial, 11), cells = 12;
        und_shape *wall = make(&(und_shape){.kind = UND_BOX, .half = {0.5 * w * m->d[0], 3, 3}});
        und_motion *motion = plate_motion(m, trial, cells);
        und_solids s = open_one(m, &(und_obstacle_def){.shape = wall, .motion = motion}, closed, 2);
        double dt = (trial % 4 == 0 ? 3 : 3 * uniform(trial, 12)) / cells;
        for (double time = 0; time + dt < 1; time += dt) {
            und_pose from = und_motion_at(motion, time);
            assert_true(und_solids_move(&s, time, dt));
            long count = overtaken(&s, &from, 0.5 * w * m->d[0]);
            if (count > 0)
                fail_msg("trial %d: %ld cells are overtaken by a plate of %g cells", (int)trial, count, w);
        }
        assert_true(und_solids_move(&s, 1 - 1e-3, 2));
        assert_false(und_solids_move(&s, 1, 1)); /* it rests */
        for (size_t i = 0; i < m->count; i++)
            assert_true(s.u[0][i] == 0 && s.u[1][i] == 0 && s.u[2][i] == 0);
        und_solids_close(&s);
        und_motion_destroy(motion);
        und_shape_destroy(wall);
    }
}

static void test_plates(void **state)
{
    (void)state;
    const und_mac m = cube(24), flat = und_mac_make((const int[3]){40, 40, 1},
                                                    (const double[3]){1 / 40.0, 1 / 40.0, 1 / 40.0},
                                                    (const double[3]){0, 0, 0.5 - 0.5 / 40});
    move_plates(&m, (uint64_t)test_cases(24, 6));
    move_plates(&flat, (uint64_t)test_cases(200, 40));
}

/* The room that a ball leaves, the open parts of a plane of faces through it, and the order in which both
 * come right. */
static void test_ball(void **state)
{
    (void)state;
    const double r = 0.31, pi = acos(-1), c[3] = {0.503, 0.478, 0.511};
    double error[3][2];
    for (int k = 0; k < 3; k++) {
        const int n = 16 << k;
        const und_mac m = cube(n);
        und_shape *ball = make(&(und_shape){.kind = UND_SPHERE, .center = {c[0], c[1], c[2]}, .radius = r});
        und_solids s = open_one(&m, &(und_obstacle_def){.shape = ball}, closed, 2);
        double room = 0, area = 0, worst = 0;
        int plane = n / 2 - 1;
        for (int z = 0; z < n; z++)
            for (int y = 0; y < n; y++) {
                area += (double)s.open[0][und_mac_at(&m, plane, y, z)] / (n * n);
                for (int x = 0; x < n; x++) {
                    size_t at = und_mac_at(&m, x, y, z);
                    room += (double)s.room[at] / pow(n, 3);
                    und_vec3 p =
                        und_vec(und_mac_middle(&m, 0, x), und_mac_middle(&m, 1, y), und_mac_middle(&m, 2, z));
                    double d = (und_length(und_sub(p, und_vec(c[0], c[1], c[2]))) - r) * n;
                    worst = fmax(worst, fabs(fmax(fmin(d, UND_SOLIDS_REACH), -UND_SOLIDS_REACH) -
                                             (double)s.distance[at]));
                }
            }
        error[k][0] = room - (1 - 4.0 / 3 * pi * r * r * r);
        error[k][1] = area - (1 - pi * (r * r - (0.5 - c[0]) * (0.5 - c[0])));
        print_message("ball, %2d cells: room out by %.3g, a section by %.3g, distance by %.2g\n", n,
                      error[k][0], error[k][1], worst);
        assert_true(worst < 1e-5);
        und_solids_close(&s);
        und_shape_destroy(ball);
    }
    for (int i = 0; i < 2; i++) {
        double order = 0.5 * log2(fabs(error[0][i] / error[2][i]));
        print_message("order %.2f\n", order);
        assert_true(order > 1.8);
        assert_true(fabs(error[2][i]) < 1e-3);
    }
}

/* A box that turns and drifts: its velocity is a rigid body's, over the interval too, where its faces are in
 * the end. */
static void test_turning_box(void **state)
{
    (void)state;
    const und_mac m = cube(32);
    const double dt = 0.01, turn = 90, pi = acos(-1);
    und_error err;
    und_key keys[2] = {{.time = 0, .position = {0.4, 0.5, 0.5}},
                       {.time = 1, .position = {0.6, 0.5, 0.5}, .rotation = {0, 0, turn}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    und_shape *box = make(&(und_shape){.kind = UND_BOX, .half = {0.2, 0.15, 0.1}});
    und_solids s = open_one(&m, &(und_obstacle_def){.shape = box, .motion = motion}, closed, 2);
    assert_true(und_solids_move(&s, 0.5, dt));
    const double spin = turn * pi / 180;
    und_pose then = und_motion_at(motion, 0.5 + dt);
    double worst = 0;
    long faces = 0;
    for (int z = 0; z < 32; z++)
        for (int y = 0; y < 32; y++)
            for (int x = 0; x < 31; x++) {
                size_t at = und_mac_at(&m, x, y, z);
                und_vec3 p = und_vec((x + 1) / 32.0, (y + 0.5) / 32, (z + 0.5) / 32);
                und_vec3 own = und_pose_local(&then, p);
                if (!(und_shape_distance(box, own) < 1.4 / 32)) {
                    if (und_shape_distance(box, own) > 3.6 / 32)
                        assert_true(s.u[0][at] == 0);
                    continue;
                }
                worst = fmax(worst, fabs((double)s.u[0][at] - (0.2 - spin * (p.y - 0.5))));
                faces++;
            }
    print_message("a turning box: the velocity of %ld faces is out by %.2g m/s\n", faces, worst);
    assert_true(faces > 1000);
    assert_true(worst < 3e-5); /* what a sine is less than its arc: (spin dt)^2 / 6 of it */
    und_solids_close(&s);
    und_motion_destroy(motion);
    und_shape_destroy(box);
}

static uint64_t field_hash(const und_solids *s)
{
    uint64_t hash = 0;
    const und_mac *m = &s->mac;
    for (int z = 0; z < m->n[2]; z++)
        for (int y = 0; y < m->n[1]; y++)
            for (int x = 0; x < m->n[0]; x++) {
                size_t at = und_mac_at(m, x, y, z);
                const float value[] = {s->distance[at], s->room[at],    s->open[0][at], s->open[1][at],
                                       s->open[2][at],  s->u[0][at],    s->u[1][at],    s->u[2][at],
                                       s->push[0][at],  s->push[1][at], s->push[2][at]};
                for (int k = 0; k < 11; k++) {
                    uint32_t bits;
                    assert_true(isfinite(value[k]));
                    memcpy(&bits, &value[k], sizeof bits);
                    hash = und_random_mix(hash ^ bits) + 1;
                }
            }
    return hash;
}

/* Two that move, one at rest and a container; one comes from outside. */
static void test_history(void **state)
{
    (void)state;
    const und_mac m =
        und_mac_make((const int[3]){30, 26, 28}, (const double[3]){1, 1, 1}, (const double[3]){0});
    und_error err;
    und_key ball_keys[2] = {{.time = 0, .position = {-20, 13, 13}}, {.time = 1, .position = {20, 9, 14}}};
    und_key plate_keys[2] = {{.time = 0, .position = {14, 13, 13}},
                             {.time = 0.7, .position = {14, 13, 13}, .rotation = {0, 90, 0}}};
    und_motion *fly = und_motion_create(ball_keys, 2, UND_EASE_SPLINE, &err),
               *turn = und_motion_create(plate_keys, 2, UND_EASE_LINEAR, &err);
    und_shape *ball = make(&(und_shape){.kind = UND_SPHERE, .radius = 4}),
              *plate = make(&(und_shape){.kind = UND_BOX, .half = {8, 5, 0.2}}),
              *post = make(
                  &(und_shape){.kind = UND_CYLINDER, .center = {20, 10, 8}, .half = {0, 9, 0}, .radius = 2}),
              *room = make(&(und_shape){.kind = UND_BOX, .center = {15, 13, 14}, .half = {14.2, 12.3, 13.1}});
    const und_obstacle_def defs[4] = {{.shape = ball, .motion = fly},
                                      {.shape = plate, .motion = turn},
                                      {.shape = post},
                                      {.shape = room, .inside_out = true}};
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
        und_solids s;
        assert_int_equal(
            und_solids_open(&s, &m, defs, 4, opened, k == 2 ? 0.6 : 0, (const int[3]){1, 2, 7}[k], &err),
            UND_OK);
        for (int step = 0; step < 8 && k < 2; step++)
            und_solids_move(&s, step * 0.08 * (1 + k % 2), k ? 0.11 : 0.08);
        und_solids_move(&s, 0.65, 0.03);
        hash[k] = field_hash(&s);
        und_solids_close(&s);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] == hash[2]);
    und_motion_destroy(fly);
    und_motion_destroy(turn);
    und_shape_destroy(ball);
    und_shape_destroy(plate);
    und_shape_destroy(post);
    und_shape_destroy(room);
}

static und_shape *cup(double radius, double half, double thickness)
{
    und_shape **parts = malloc(2 * sizeof *parts);
    assert_non_null(parts);
    parts[0] = make(&(und_shape){.kind = UND_CYLINDER, .half = {0, half, 0}, .radius = radius});
    parts[1] = make(&(und_shape){.kind = UND_CYLINDER,
                                 .center = {0, thickness, 0},
                                 .half = {0, half, 0},
                                 .radius = radius - thickness});
    return make(&(und_shape){.kind = UND_DIFFERENCE, .child_count = 2, .children = parts});
}

/* Walls of known thickness; a ball has none; a turning cup's speed at its rim. */
static void test_audit(void **state)
{
    (void)state;
    const und_mac m = cube(32);
    und_error err;
    const double pi = acos(-1), thickness = 0.7 / 32;
    und_key keys[2] = {{.time = 0, .position = {0.5, 1.5, 0.5}},
                       {.time = 1, .position = {0.5, 0.5, 0.5}, .rotation = {0, 0, 90}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    und_shape *pot = cup(0.2, 0.25, thickness), *ball = make(&(und_shape){.kind = UND_SPHERE, .radius = 0.3}),
              *floor_ = make(&(und_shape){.kind = UND_PLANE, .center = {0, 0.2, 0}, .half = {0, 1, 0}});
    const und_obstacle_def defs[3] = {{.shape = pot, .motion = motion}, {.shape = ball}, {.shape = floor_}};
    und_solids s;
    und_thin_wall list[3];
    assert_int_equal(und_solids_open(&s, &m, defs, 3, closed, 0, 2, &err), UND_OK);
    und_solids_audit(&s, 0, 0.05, 21, list);
    assert_double_near(list[0].thickness, 0.7, 1e-3);
    for (int a = 0; a < 3; a++)
        assert_true(list[0].place[a] > 0 && list[0].place[a] < 1);
    double corner = und_length(und_vec(0.2, 0.25, 0.2)), v = 1;
    assert_true(list[0].speed > v && list[0].speed < v + 0.5 * pi * corner);
    assert_true(list[1].thickness > UND_SOLIDS_THICK && list[2].thickness > UND_SOLIDS_THICK);
    assert_true(list[1].speed == 0 && list[2].speed == 0);
    und_solids_close(&s);
    und_motion_destroy(motion);
    und_shape_destroy(pot);
    und_shape_destroy(ball);
    und_shape_destroy(floor_);
}

/* What frames hold: the ball's corners at its radius, the plane within the domain, a bowl from above. */
static void test_frame(void **state)
{
    (void)state;
    const und_mac m = cube(24);
    und_error err;
    und_shape *ball = make(&(und_shape){.kind = UND_SPHERE, .radius = 0.1}),
              *slope = make(&(und_shape){.kind = UND_PLANE, .center = {0, 0.2, 0}, .half = {0.3, 1, 0}}),
              *bowl = make(&(und_shape){.kind = UND_SPHERE, .center = {0.5, 0.5, 0.5}, .radius = 0.47});
    und_key keys[2] = {{.time = 0, .position = {0.5, 0.9, 0.5}}, {.time = 1, .position = {0.5, 0.4, 0.5}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    const und_obstacle_def list[3] = {
        {.shape = ball, .motion = motion}, {.shape = slope}, {.shape = bowl, .inside_out = true}};
    for (int k = 0; k < 3; k++) {
        und_solids s = open_one(&m, &list[k], closed, 2);
        und_solids_move(&s, 0.4, 0.1);
        und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {24, 24, 24}, .dx = 1.0 / 24});
        assert_int_equal(und_solids_frame(&s, 0.5, &frame, &err), UND_OK);
        const und_item *distance = und_frame_find(&frame, "solid/distance"),
                       *position = und_frame_find(&frame, "solid/mesh_position"),
                       *normal = und_frame_find(&frame, "solid/mesh_normal");
        assert_true(distance && position && normal);
        assert_int_equal(und_item_count(distance), 24 * 24 * 24);
        assert_int_equal(distance->is_static, k != 0);
        assert_true(position->dim[0] > 30 && position->dim[0] == normal->dim[0]);
        const float *p = position->data, *n = normal->data;
        double sign = k == 2 ? -1 : 1, worst = 0, lowest = 1;
        und_vec3 shift = k == 0 ? und_vec(0.5, 0.65, 0.5) : und_vec(0, 0, 0);
        for (size_t i = 0; i < 3 * position->dim[0]; i += 3) {
            und_vec3 q = und_vec((double)p[i], (double)p[i + 1], (double)p[i + 2]),
                     out = und_vec((double)n[i], (double)n[i + 1], (double)n[i + 2]);
            und_vec3 beyond = und_add(q, und_mul(out, 0.01));
            worst = fmax(worst, fabs(und_shape_distance(list[k].shape, und_sub(q, shift))));
            assert_true(sign * und_shape_distance(list[k].shape, und_sub(beyond, shift)) > 0.005);
            lowest = fmin(lowest, out.y);
        }
        assert_true(worst < 1e-3);
        assert_true(k == 2 ? lowest > -0.3 : k == 1 || lowest < -0.9);
        und_frame_clear(&frame);
        und_solids_close(&s);
    }
    und_motion_destroy(motion);
    und_shape_destroy(ball);
    und_shape_destroy(slope);
    und_shape_destroy(bowl);
}

/* What solids push into a cell, in m/s of a face. */
static double pushed_at(const und_solids *s, size_t at)
{
    double sum = 0;
    for (int a = 0; a < 3; a++)
        sum -= (double)s->push[a][at] - (double)s->push[a][at - (size_t)s->mac.step[a]];
    return sum;
}

enum { PUSH_CELLS = 16 };

/* Boxes, the first `moving` of which move. */
typedef struct pushing {
    const char *what;
    int count, moving;
    und_vec3 low[3], high[3], way[3]; /* cells, and m/s */
    double ahead, behind; /* m/s times faces: what the first pushes before it, and draws after it */
} pushing;

static void push_boxes(const pushing *p)
{
    const und_mac m = cube(PUSH_CELLS);
    const double dt = 0.02 / PUSH_CELLS;
    und_obstacle_def defs[3] = {{0}};
    und_shape *shape[3];
    und_motion *motion[3];
    und_error err;
    und_solids s;
    for (int i = 0; i < p->count; i++) {
        und_vec3 middle = und_mul(und_add(p->low[i], p->high[i]), 0.5 / PUSH_CELLS);
        und_vec3 half = und_mul(und_sub(p->high[i], p->low[i]), 0.5 / PUSH_CELLS);
        const und_key keys[2] = {{.time = 0, .position = middle},
                                 {.time = 1, .position = und_add(middle, p->way[i])}};
        defs[i].shape = shape[i] = make(&(und_shape){.kind = UND_BOX, .half = half});
        defs[i].motion = motion[i] = und_motion_create(keys, i < p->moving ? 2 : 1, UND_EASE_LINEAR, &err);
    }
    assert_int_equal(und_solids_open(&s, &m, defs, p->count, closed, 0, 1, &err), UND_OK);
    assert_true(und_solids_move(&s, 0, dt));
    const und_vec3 middle = und_motion_at(defs[0].motion, dt).position;
    double sum[2] = {0};
    for (int row = 0; row < und_mac_rows(&m); row++)
        for (int x = 0; x < PUSH_CELLS; x++) {
            const size_t at = und_mac_row(&m, row) + (size_t)x;
            und_vec3 place = und_vec(und_mac_middle(&m, 0, x), und_mac_middle(&m, 1, row % PUSH_CELLS),
                                     und_mac_middle(&m, 2, row / PUSH_CELLS));
            bool ahead = und_dot(und_sub(place, middle), p->way[0]) > 0;
            sum[ahead] += s.room[at] > 0 ? pushed_at(&s, at) : 0;
        }
    print_message("%s: %.5g ahead, %.5g behind\n", p->what, sum[1], sum[0]);
    assert_double_near(sum[1], p->ahead, 1e-3);
    assert_double_near(sum[0], p->behind, 1e-3);
    und_solids_close(&s);
    for (int i = 0; i < p->count; i++) {
        und_shape_destroy(shape[i]);
        und_motion_destroy(motion[i]);
    }
}

static const pushing pushings[] = {
    {"a plunger", 1, 1, {{4, 1.3, 4}}, {{12, 9, 12}}, {{0, -1, 0}}, 64, -64},
    {"one within a cell of the floor", 1, 1, {{4, 0.4, 4}}, {{12, 9, 12}}, {{0, -1, 0}}, 64, -64},
    {"one drawn up", 1, 1, {{4, 0.4, 4}}, {{12, 9, 12}}, {{0, 2, 0}}, 128, -128},
    {"a piston through a side", 1, 1, {{-3, -2, -2}}, {{2.4, 18, 18}}, {{1, 0, 0}}, 256, 0},
    {"a paddle beside a side", 1, 1, {{11, -2, 2}}, {{15.4, 9, 14}}, {{1, 0, 0}}, 108, -108},
    {"one above a block",
     2,
     1,
     {{3, 4.6, 3}, {-1, -1, -1}},
     {{11, 11, 12}, {17, 3.7, 17}},
     {{0, -1, 0}},
     72,
     -72},
    {"within a cell of a block",
     2,
     1,
     {{3, 4.1, 3}, {-1, -1, -1}},
     {{11, 11, 12}, {17, 3.7, 17}},
     {{0, -1, 0}},
     72,
     -72},
    {"a piston over a floor",
     2,
     1,
     {{-3, 2, -2}, {-1, -1, -1}},
     {{5.4, 18, 18}, {17, 2.45, 17}},
     {{1, 0, 0}},
     16 * 13.55,
     0},
    {"into a corner",
     3,
     1,
     {{-3, 2, -2}, {-1, -1, -1}, {6.3, -1, -1}},
     {{5.4, 18, 18}, {17, 2.45, 17}, {17, 9, 17}},
     {{1, 0, 0}},
     16 * 13.55,
     0},
    {"a wall of 0.6 cells over a floor",
     2,
     1,
     {{5, 2, -2}, {-1, -1, -1}},
     {{5.6, 18, 18}, {17, 2.45, 17}},
     {{1, 0, 0}},
     16 * 13.55,
     -16 * 13.55},
    {"towards another",
     2,
     2,
     {{-3, 3, 3}, {7.2, -3, -3}},
     {{5.7, 12, 12}, {12.4, 20, 20}},
     {{1, 0, 0}, {-0.5, 0, 0}},
     81 + 128 - 128,
     0},
    {"in a cup that rises",
     3,
     3,
     {{4.4, 6, -3}, {-2, -3, -3}, {12.3, -3, -3}},
     {{8.7, 10, 19}, {19, 4.45, 19}, {19, 19, 19}},
     {{1, 0, 0}, {0, 0.5, 0}, {0, 0.5, 0}},
     16 * (4 + 0.5 * 5.3),
     16 * (-4 + 0.5 * 7)},
};

/* Its area times its speed, wherever a solid is: over a closed side of the domain, beside solids at rest and
 * others that move. */
static void pushes_are_areas_swept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof pushings / sizeof *pushings; i++)
        push_boxes(&pushings[i]);
}

/* Liquid left of a thin wall: what appears right of it goes, what grows over open faces stays, and what is
 * lost within the liquid comes back. */
static void test_guard(void **state)
{
    (void)state;
    const int n = 12;
    const und_mac m = cube(n);
    und_error err;
    und_mask was;
    und_shape *wall = make(&(und_shape){.kind = UND_BOX, .center = {0.5, 0.5, 0.5}, .half = {0.01, 3, 3}});
    und_solids s = open_one(&m, &(und_obstacle_def){.shape = wall}, closed, 2);
    assert_int_equal(und_mask_open(&was, &m, "a set", &err), UND_OK);
    float *phi = calloc(m.count, sizeof *phi);
    assert_non_null(phi);
    for (int row = 0; row < und_mac_rows(&m); row++)
        for (int x = 0; x < n; x++) {
            bool liquid = x < n / 2 && row % n < 5;
            phi[und_mac_row(&m, row) + (size_t)x] = liquid ? -1 : 1;
            if (liquid)
                und_mask_add(&was, x, row % n, row / n);
        }
    size_t beyond = und_mac_at(&m, n / 2, 2, 6), above = und_mac_at(&m, n / 2 - 1, 5, 6),
           within = und_mac_at(&m, n / 2 - 1, 1, 6);
    phi[beyond] = -0.25f;
    phi[above] = -0.25f;
    phi[within] = 0.25f;
    double leaked = 0;
    und_solids_guard(&s, &was, phi, 2, &leaked);
    assert_true(phi[beyond] > 0 && phi[above] < 0 && phi[within] < 0);
    assert_double_near(leaked * n * n * n, 0.75 * (double)s.room[beyond], 1e-6);
    free(phi);
    und_mask_close(&was);
    und_solids_close(&s);
    und_shape_destroy(wall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),    cmocka_unit_test(test_plane),
        cmocka_unit_test(test_walls),   cmocka_unit_test(test_plates),
        cmocka_unit_test(test_ball),    cmocka_unit_test(test_turning_box),
        cmocka_unit_test(test_history), cmocka_unit_test(test_audit),
        cmocka_unit_test(test_frame),   cmocka_unit_test(pushes_are_areas_swept),
        cmocka_unit_test(test_guard)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
