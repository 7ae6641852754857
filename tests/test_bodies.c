/* Rigid bodies against formulas: flight, spin, bumps, rest, friction, and the same bits
 * after a checkpoint. */
#include "tests/test.h"

#include "bodies/bodies.h"
#include "bodies/skeleton.h"
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

static und_body_def body(const und_shape *shape, double x, double y, double z)
{
    und_body_def def = und_body_def_default();
    def.shape = shape;
    def.position[0] = x;
    def.position[1] = y;
    def.position[2] = z;
    return def;
}

static und_bodies *make(const und_body_def *defs, int count, const und_bodies_world *world)
{
    und_error err = {0};
    und_bodies *b = und_bodies_create(defs, count, world, &err);
    if (!b)
        fail_msg("%s", err.text);
    return b;
}

static double run(und_bodies *b, double time, double dt, int steps)
{
    for (int i = 0; i < steps; i++)
        und_bodies_step(b, time + i * dt, dt);
    return time + steps * dt;
}

static const float flat[4] = {0, 0, 0, 0};
static const und_bodies_world space = {.gravity = 0};
static const und_bodies_world earth = {.gravity = 9.81};
static const und_bodies_world floor_world = {
    .gravity = 9.81, .nx = 2, .nz = 2, .stride = 2, .dx = 10, .origin = {-10, -10}, .ground = flat};

/* ---- mass ---- */

static void test_mass_or_density(void **state)
{
    (void)state;
    und_shape s = sphere(0.5);
    und_body_def defs[2] = {body(&s, 0, 0, 0), body(&s, 5, 0, 0)};
    defs[0].density = 700;
    defs[1].mass = 3;
    und_bodies *b = make(defs, 2, &space);
    assert_int_equal(und_bodies_count(b), 2);
    assert_double_near(und_bodies_mass(b, 0), 700 * pi / 6, 1e-9);
    assert_double_near(und_bodies_mass(b, 1), 3, 0);
    assert_double_near(und_bodies_inverse_mass(b, 1), 1.0 / 3, 1e-15);
    assert_double_near(und_bodies_volume(b, 1), pi / 6, 1e-12);
    double inverse[9];
    und_bodies_inverse_inertia(b, 1, inverse);
    assert_double_near(inverse[4], 1 / (0.4 * 3 * 0.25), 1e-12);
    assert_double_near(inverse[1], 0, 1e-15);
    und_bodies_destroy(b);
}

/* ---- flight ---- */

static void test_free_fall(void **state)
{
    (void)state;
    und_shape s = sphere(0.1);
    und_body_def def = body(&s, 0, 10, 0);
    def.velocity[0] = 2;
    def.velocity[1] = 3;
    und_bodies *b = make(&def, 1, &earth);
    int n = 480;
    double dt = 1.0 / 240;
    run(b, 0, dt, n);
    und_body_state now = und_bodies_state(b, 0);
    assert_double_near(now.position[0], 4, 1e-12);
    /* speeds first, then places: y = v n dt - g dt^2 n (n + 1) / 2 */
    assert_double_near(now.position[1], 10 + 3 * n * dt - 9.81 * dt * dt * n * (n + 1) / 2, 1e-10);
    assert_double_near(now.velocity[1], 3 - 9.81 * n * dt, 1e-11);
    und_bodies_destroy(b);
}

static void test_pushes(void **state)
{
    (void)state;
    und_shape s = box(0.5, 0.5, 0.5);
    und_body_def def = body(&s, 1, 2, 3);
    def.mass = 6;
    und_bodies *b = make(&def, 1, &space);
    /* 12 N for 0.1 s at the side: 0.2 m/s, and 0.5 m * 12 N * 0.1 s over the inertia of 1 kg m2 */
    und_bodies_push(b, 0, und_vec(0, 12, 0), und_vec(1.5, 2, 3));
    und_bodies_twist(b, 0, und_vec(2, 0, 0));
    und_bodies_step(b, 0, 0.1);
    und_body_state now = und_bodies_state(b, 0);
    assert_double_near(now.velocity[1], 0.2, 1e-12);
    assert_double_near(now.spin[2], 0.6, 1e-12);
    assert_double_near(now.spin[0], 0.2, 1e-12);
    und_bodies_step(b, 0.1, 0.1); /* for one step alone */
    assert_double_near(und_bodies_state(b, 0).velocity[1], 0.2, 1e-12);
    und_bodies_destroy(b);
}

/* The body's own origin need not be its centre of mass. */
static void test_pose_about_the_centre_of_mass(void **state)
{
    (void)state;
    und_shape s = box(0.1, 0.2, 0.3);
    s.center = und_vec(1, 0, 0);
    und_body_def def = body(&s, 5, 0, 0);
    def.rotation[1] = 90; /* x to -z */
    def.spin[1] = pi;
    und_bodies *b = make(&def, 1, &space);
    und_body_state now = und_bodies_state(b, 0);
    assert_double_near(now.position[0], 5, 1e-12);
    assert_double_near(now.position[2], -1, 1e-12);
    run(b, 0, 0.01, 100); /* half a turn about the centre of mass */
    und_pose pose = und_bodies_pose(b, 0);
    assert_double_near(pose.position.x, 5, 1e-9);
    assert_double_near(pose.position.z, -2, 1e-9);
    und_vec3 corner = und_pose_point(&pose, und_vec(1, 0.2, 0));
    assert_double_near(corner.z, -1, 1e-9);
    und_vec3 speed = und_bodies_speed_at(b, 0, und_vec(5, 0, -2));
    assert_double_near(speed.x, -pi, 1e-9);
    und_bodies_destroy(b);
}

static und_vec3 angular_momentum(const und_bodies *b, double *energy)
{
    und_body_state now = und_bodies_state(b, 0);
    double inverse[9], spin[3] = {now.spin[0], now.spin[1], now.spin[2]}, L[3];
    und_bodies_inverse_inertia(b, 0, inverse);
    /* solve inverse L = spin by Cramer's rule */
    double *m = inverse;
    double det = m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                 m[2] * (m[3] * m[7] - m[4] * m[6]);
    for (int k = 0; k < 3; k++) {
        double c[9];
        memcpy(c, m, sizeof c);
        for (int r = 0; r < 3; r++)
            c[3 * r + k] = spin[r];
        L[k] = (c[0] * (c[4] * c[8] - c[5] * c[7]) - c[1] * (c[3] * c[8] - c[5] * c[6]) +
                c[2] * (c[3] * c[7] - c[4] * c[6])) /
               det;
    }
    *energy = 0.5 * (L[0] * spin[0] + L[1] * spin[1] + L[2] * spin[2]);
    return und_vec(L[0], L[1], L[2]);
}

/* A spin about the middle axis tumbles; the angular momentum stays, and nearly the energy. */
static void test_tumbling(void **state)
{
    (void)state;
    und_shape s = box(0.1, 0.25, 0.5);
    und_body_def def = body(&s, 0, 0, 0);
    def.rotation[0] = 20;
    def.spin[1] = 6;
    def.spin[2] = 0.05;
    und_bodies *b = make(&def, 1, &space);
    double energy, later, lowest = 6;
    und_vec3 L = angular_momentum(b, &energy);
    for (int i = 0; i < 2400; i++) {
        und_bodies_step(b, i / 240.0, 1 / 240.0);
        und_vec3 now = angular_momentum(b, &later);
        assert_double_near(und_length(und_sub(now, L)) / und_length(L), 0, 1e-9);
        assert_double_near(later / energy, 1, 0.01);
        lowest = fmin(lowest, und_bodies_state(b, 0).spin[1]);
    }
    assert_true(lowest < 5.5); /* it does tumble */
    und_bodies_destroy(b);
}

/* A needle that turns by more than a radian a step does not gain energy. */
static void test_fast_spin(void **state)
{
    (void)state;
    und_shape s = box(0.5, 0.005, 0.01);
    und_body_def def = body(&s, 0, 0, 0);
    def.spin[0] = 100;
    def.spin[1] = 50;
    und_bodies *b = make(&def, 1, &space);
    double energy, later;
    angular_momentum(b, &energy);
    for (int i = 0; i < 600; i++) {
        und_bodies_step(b, i / 60.0, 1 / 60.0);
        angular_momentum(b, &later);
        assert_true(later > 0 && later < 1.07 * energy); /* 1e-4 a step at most */
    }
    und_bodies_destroy(b);
}

/* A sliver that falls between the cells its triangles are cut from still rests on the ground. */
static void test_sliver(void **state)
{
    (void)state;
    und_shape a = sphere(1), b = sphere(1), *parts[2] = {&a, &b};
    b.center.y = 1.998;
    und_shape s = {.kind = UND_INTERSECTION, .child_count = 2, .children = parts};
    und_body_def def = body(&s, 0, 0, 0);
    und_bodies *made = make(&def, 1, &floor_world);
    run(made, 0, 1 / 240.0, 960);
    assert_true(und_bodies_state(made, 0).position[1] > -0.02);
    und_bodies_destroy(made);
}

/* A disc that wobbles by a small angle does so at (I3 / I1) spin, in space. */
static void test_wobble(void **state)
{
    (void)state;
    und_shape s = {.kind = UND_CYLINDER, .radius = 0.5, .half = {0, 0.05, 0}};
    und_body_def def = body(&s, 0, 0, 0);
    def.spin[1] = 10;
    def.spin[0] = 0.1;
    und_bodies *b = make(&def, 1, &space);
    double across = (3 * 0.25 + 0.01) / 12, along = 0.125, rate = 10 * along / across;
    double L[2] = {across * 0.1, along * 10}, tilt = L[0] / L[1];
    double dt = 1e-4;
    int half = (int)(pi / rate / dt + 0.5); /* half a wobble: the axis is on the other side of L */
    run(b, 0, dt, half);
    und_pose pose = und_bodies_pose(b, 0);
    und_vec3 axis = und_quat_rotate(pose.rotation, und_vec(0, 1, 0));
    assert_double_near(axis.x, 2 * tilt, 0.01 * tilt);
    assert_double_near(axis.z, 0, 0.01 * tilt);
    und_bodies_destroy(b);
}

/* ---- bumps ---- */

static void test_equal_balls_swap_velocities(void **state)
{
    (void)state;
    und_shape s = sphere(0.1);
    und_body_def defs[2] = {body(&s, -0.5, 0, 0), body(&s, 0.5, 0, 0)};
    defs[0].bounce = defs[1].bounce = 1;
    defs[0].velocity[0] = 3;
    defs[1].velocity[0] = -1;
    und_bodies *b = make(defs, 2, &space);
    run(b, 0, 1 / 240.0, 240);
    assert_double_near(und_bodies_state(b, 0).velocity[0], -1, 1e-4);
    assert_double_near(und_bodies_state(b, 1).velocity[0], 3, 1e-4);
    und_bodies_destroy(b);
}

static void test_unequal_balls(void **state)
{
    (void)state;
    und_shape s = sphere(0.1);
    und_body_def defs[2] = {body(&s, -0.5, 0, 0), body(&s, 0.5, 0, 0)};
    defs[0].bounce = defs[1].bounce = 0.5;
    defs[0].mass = 1;
    defs[1].mass = 3;
    defs[0].velocity[0] = 4;
    und_bodies *b = make(defs, 2, &space);
    run(b, 0, 1 / 240.0, 240);
    /* the momentum of 4 kg m/s is shared; they part with half the speed at which they met */
    assert_double_near(und_bodies_state(b, 0).velocity[0], -0.5, 1e-4);
    assert_double_near(und_bodies_state(b, 1).velocity[0], 1.5, 1e-4);
    und_bodies_destroy(b);
}

static void test_bouncing_height(void **state)
{
    (void)state;
    und_shape s = sphere(0.1);
    for (int k = 0; k < 3; k++) {
        und_body_def def = body(&s, 0, 1.1, 0);
        def.bounce = 0.4 + 0.3 * k;
        und_bodies *b = make(&def, 1, &floor_world);
        double dt = 1 / 2000.0, top = 0;
        bool bounced = false;
        for (int i = 0; i < 2000; i++) {
            und_bodies_step(b, i * dt, dt);
            und_body_state now = und_bodies_state(b, 0);
            if (bounced && now.velocity[1] < 0)
                break; /* at the top of the first bounce */
            bounced = bounced || now.velocity[1] > 0;
            top = bounced ? now.position[1] - 0.1 : 0;
        }
        assert_double_near(top, def.bounce * def.bounce, 0.01);
        und_bodies_destroy(b);
    }
}

/* Comes to rest where it touches, and stays still. */
static void check_rest(const und_shape *shape, double height, double turn, const und_bodies_world *world)
{
    und_body_def def = body(shape, 0.03, height + 0.3, 0.02);
    def.rotation[0] = turn;
    und_bodies *b = make(&def, 1, world);
    double lowest = height, time = run(b, 0, 1 / 240.0, 0);
    for (int i = 0; i < 1200; i++) {
        time = run(b, time, 1 / 240.0, 1);
        lowest = fmin(lowest, und_bodies_state(b, 0).position[1]);
    }
    und_body_state before = und_bodies_state(b, 0);
    assert_double_near(before.position[1], height, 5e-4 * height);
    assert_true(lowest > 0.85 * height);
    run(b, time, 1 / 240.0, 240);
    und_body_state after = und_bodies_state(b, 0);
    assert_double_near(after.position[1], before.position[1], 1e-6);
    assert_double_near(after.velocity[1], 0, 1e-5);
    for (int k = 0; k < 3; k++)
        assert_double_near(after.spin[k], 0, 1e-4);
    und_bodies_destroy(b);
}

static void test_rest(void **state)
{
    (void)state;
    und_shape s = sphere(0.2);
    check_rest(&s, 0.2, 0, &floor_world);
    s = box(0.3, 0.2, 0.25);
    check_rest(&s, 0.2, 0, &floor_world);
    s = (und_shape){.kind = UND_CYLINDER, .radius = 0.3, .half = {0, 0.15, 0}};
    check_rest(&s, 0.15, 0, &floor_world);
    s = (und_shape){.kind = UND_CAPSULE, .radius = 0.1, .half = {0.2, 0, 0}};
    check_rest(&s, 0.1, 0, &floor_world);
    s = (und_shape){.kind = UND_ELLIPSOID, .half = {0.3, 0.1, 0.2}};
    check_rest(&s, 0.1, 0, &floor_world);
    s = (und_shape){.kind = UND_CYLINDER, .radius = 0.2, .half = {0, 0.3, 0}};
    check_rest(&s, 0.2, 90, &floor_world); /* lying */
}

/* A brick of triangles rests as the box does. */
static void test_mesh_body(void **state)
{
    (void)state;
    und_shape s = {.kind = UND_MESH, .mesh = brick()};
    s.center = und_vec(-0.3, -0.2, -0.25);
    check_rest(&s, 0.2, 0, &floor_world);

    und_shape ball = sphere(0.15); /* and a ball stays on top of it */
    und_body_def defs[2] = {body(&s, 0, 0.2, 0), body(&ball, 0.02, 0.8, 0.01)};
    und_bodies *b = make(defs, 2, &floor_world);
    run(b, 0, 1 / 240.0, 720);
    assert_double_near(und_bodies_state(b, 1).position[1], 0.55, 2e-3);
    assert_double_near(und_bodies_state(b, 0).position[1], 0.2, 1e-3);
    und_bodies_destroy(b);
    und_trimesh_release(s.mesh);
}

/* Five boxes on each other, and what a slow solver would let sink. */
static void test_tower(void **state)
{
    (void)state;
    und_shape s = box(0.2, 0.1, 0.2);
    und_body_def defs[5];
    for (int i = 0; i < 5; i++) {
        defs[i] = body(&s, 0.02 * (i % 2), 0.1 + 0.2 * i, 0);
        defs[i].mass = 1 + 4 * i; /* heavy on light */
    }
    und_bodies *b = make(defs, 5, &floor_world);
    run(b, 0, 1 / 240.0, 2400);
    for (int i = 0; i < 5; i++) {
        und_body_state now = und_bodies_state(b, i);
        assert_double_near(now.position[1], 0.1 + 0.2 * i, 0.002);
        assert_double_near(now.position[0], 0.02 * (i % 2), 0.002);
        assert_double_near(now.velocity[1], 0, 1e-4);
    }
    und_bodies_destroy(b);
}

static void test_rest_on_uneven_ground(void **state)
{
    (void)state;
    /* flat around the middle, but with a hill far away, so that it is no plane */
    static float ground[40 * 40];
    ground[0] = 1;
    und_bodies_world world = {
        .gravity = 9.81, .nx = 40, .nz = 40, .stride = 40, .dx = 0.1, .origin = {-2, -2}, .ground = ground};
    und_shape s = sphere(0.2);
    check_rest(&s, 0.2, 0, &world);
    s = box(0.3, 0.2, 0.25);
    check_rest(&s, 0.2, 0, &world);
}

/* A ball rolls into the middle of a bowl. */
static void test_ball_in_a_bowl(void **state)
{
    (void)state;
    enum { N = 60 };
    static float ground[N * N];
    for (int z = 0; z < N; z++)
        for (int x = 0; x < N; x++)
            ground[z * N + x] = (float)(0.2 * (pow((x + 0.5) * 0.1 - 3, 2) + pow((z + 0.5) * 0.1 - 3, 2)));
    und_bodies_world world = {
        .gravity = 9.81, .nx = N, .nz = N, .stride = N, .dx = 0.1, .origin = {-3, -3}, .ground = ground};
    und_shape s = sphere(0.2);
    und_body_def def = body(&s, 1, 0.45, 0);
    def.friction = 0;
    und_bodies *b = make(&def, 1, &world);
    double lowest = 1, farthest = 0;
    for (int i = 0; i < 2400; i++) {
        und_bodies_step(b, i / 240.0, 1 / 240.0);
        und_body_state now = und_bodies_state(b, 0);
        double bottom = 0.2 * now.position[0] * now.position[0];
        lowest = fmin(lowest, now.position[1] - bottom);
        farthest = fmax(farthest, fabs(now.position[0]));
        assert_double_near(now.position[2], 0, 1e-3);
    }
    assert_true(lowest > 0.19);   /* never in the ground */
    assert_true(farthest < 1.02); /* and never higher than it began */
    und_bodies_destroy(b);
}

static void test_walls_hold(void **state)
{
    (void)state;
    und_bodies_world world = floor_world;
    for (int i = 0; i < UND_EDGES; i++)
        world.wall[i] = true;
    und_shape shapes[3] = {box(0.2, 0.2, 0.2), sphere(0.2), {.kind = UND_ELLIPSOID, .half = {0.3, 0.2, 0.2}}};
    for (int k = 0; k < 12; k++) {
        und_body_def def = body(&shapes[k % 3], 0, 0.5, 0);
        int edge = k / 3, axis = edge < 2 ? 0 : 2;
        double sign = edge % 2 ? 1 : -1;
        def.velocity[axis] = 40 * sign; /* 0.67 m a step: more than its size */
        def.rotation[1] = 30;
        und_bodies *b = make(&def, 1, &world);
        for (int i = 0; i < 300; i++) {
            und_bodies_step(b, i / 60.0, 1 / 60.0);
            assert_true(sign * und_bodies_state(b, 0).position[axis] < 10.5);
        }
        assert_true(fabs(und_bodies_state(b, 0).position[axis]) < 9.9);
        und_bodies_destroy(b);
    }
}

/* A slope by turned gravity: the box stays below the angle of friction and slides with g (sin - mu cos)
 * above. */
static void test_friction_on_a_slope(void **state)
{
    (void)state;
    enum { N = 20 };
    static float ground[N * N];
    for (int k = 0; k < 2; k++) {
        double slope = k == 0 ? 0.3 : 0.6, angle = atan(slope), mu = 0.4;
        for (int i = 0; i < N * N; i++)
            ground[i] = (float)(slope * (i % N + 0.5));
        und_bodies_world world = {
            .gravity = 9.81, .nx = N, .nz = N, .stride = N, .dx = 1, .origin = {0, 0}, .ground = ground};
        und_shape s = box(0.3, 0.1, 0.3);
        und_vec3 normal = und_vec(-sin(angle), cos(angle), 0);
        und_body_def def = body(&s, 10 + 0.1 * normal.x, 10 * slope + 0.1 * normal.y, 10);
        def.rotation[2] = angle * 180 / pi;
        def.friction = mu;
        und_bodies *b = make(&def, 1, &world);
        run(b, 0, 1 / 480.0, 480);
        und_body_state now = und_bodies_state(b, 0);
        double expected = k == 0 ? 0 : 9.81 * (sin(angle) - mu * cos(angle));
        assert_double_near(-now.velocity[0] / cos(angle), expected, 0.02 * (k == 0 ? 0.1 : expected));
        und_bodies_destroy(b);
    }
}

/* ---- led bodies ---- */

static void test_led_body_pushes(void **state)
{
    (void)state;
    und_error err;
    und_key keys[2] = {{.time = 0}, {.time = 10, .position = {10, 0, 0}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    und_shape pusher = box(0.2, 0.2, 0.2), ball = sphere(0.1);
    und_body_def defs[2] = {body(&pusher, 0, 0, 0), body(&ball, 0.5, 0, 0)};
    defs[0].motion = motion;
    defs[0].release = 2;
    defs[0].bounce = defs[1].bounce = 0;
    und_bodies *b = make(defs, 2, &space);
    assert_true(und_bodies_led(b, 0));
    assert_double_near(und_bodies_inverse_mass(b, 0), 0, 0);
    double time = run(b, 0, 0.01, 100);
    assert_double_near(und_bodies_state(b, 0).position[0], 1, 1e-12);
    assert_double_near(und_bodies_state(b, 0).velocity[0], 1, 1e-9);
    assert_double_near(und_bodies_state(b, 1).velocity[0], 1, 1e-3);
    assert_double_near(und_bodies_state(b, 1).position[0], 1.3, 0.002);
    und_bodies_push(b, 0, und_vec(1e6, 0, 0), und_vec(0, 0, 0)); /* forces do not move it */
    time = run(b, time, 0.01, 100);
    assert_double_near(und_bodies_state(b, 0).position[0], 2, 1e-12);
    run(b, time, 0.01, 100); /* free: goes on with the velocity of the motion */
    assert_false(und_bodies_led(b, 0));
    assert_double_near(und_bodies_state(b, 0).position[0], 3, 1e-3);
    und_bodies_destroy(b);
    und_motion_destroy(motion);
}

static void test_held_until_release(void **state)
{
    (void)state;
    und_shape s = sphere(0.1);
    und_body_def def = body(&s, 0, 5, 0);
    def.release = 0.5;
    def.velocity[0] = 2;
    und_bodies *b = make(&def, 1, &earth);
    double time = run(b, 0, 0.01, 50);
    assert_double_near(und_bodies_state(b, 0).position[1], 5, 0);
    assert_double_near(und_bodies_speed_at(b, 0, und_vec(0, 5, 0)).x, 0, 0);
    run(b, time, 0.01, 50);
    assert_double_near(und_bodies_state(b, 0).position[0], 1, 1e-12);
    assert_double_near(und_bodies_state(b, 0).position[1], 5 - 9.81 * 1e-4 * 50 * 51 / 2, 1e-12);
    und_bodies_destroy(b);
}

/* A bone that swings leads its ellipsoid for ever, with the speed of the swing, and knocks a ball away. */
static void test_led_by_a_skeleton(void **state)
{
    (void)state;
    static const char text[] = "skeleton arm\n"
                               "bone base ellipsoid 0.1 0.1 0.1\n"
                               "bone arm on base joint 0 0 0 ellipsoid 0.1 0.1 0.5 at 0 0 0.5\n"
                               "key 0 arm 0 at 0 0 0\n"
                               "key 1 arm 0 at 4 0 0\n";
    und_error err = {0};
    und_skeleton *skeleton = und_skeleton_parse(text, strlen(text), "arm.skel", &err);
    assert_non_null(skeleton);
    und_shape ball = sphere(0.1);
    und_body_def defs[2] = {body(und_skeleton_shape(skeleton, 1), 0, 0, 0), body(&ball, 2, 0, 0.5)};
    defs[0].skeleton = skeleton;
    defs[0].bone = 1;
    defs[0].release = INFINITY;
    und_bodies *b = make(defs, 2, &space);
    for (int i = 0; i < 200; i++) {
        und_bodies_step(b, 0.01 * i, 0.01);
        und_pose pose = und_bodies_pose(b, 0), led = und_skeleton_pose(skeleton, 1, 0.01 * i + 0.01);
        assert_double_near(pose.position.x, led.position.x, 1e-12);
        assert_double_near(pose.position.z, led.position.z, 1e-12);
        und_vec3 before = und_skeleton_pose(skeleton, 1, 0.01 * i).position;
        assert_double_near(und_bodies_state(b, 0).velocity[0], (led.position.x - before.x) / 0.01, 1e-9);
    }
    assert_true(und_bodies_led(b, 0));
    assert_true(und_bodies_state(b, 1).velocity[0] > 3); /* hit at 4 to 6 m/s */
    und_bodies_destroy(b);
    defs[0].bone = 2;
    assert_null(und_bodies_create(defs, 1, &space, &err));
    assert_int_equal(err.status, UND_INVALID);
    und_skeleton_destroy(skeleton);
}

/* A box on a led platform is carried along by friction. */
static void test_platform_carries(void **state)
{
    (void)state;
    und_error err;
    und_key keys[2] = {{.time = 0}, {.time = 10, .position = {5, 0, 0}}};
    und_motion *motion = und_motion_create(keys, 2, UND_EASE_LINEAR, &err);
    und_shape platform = box(1, 0.1, 1), cargo = box(0.2, 0.2, 0.2);
    und_body_def defs[2] = {body(&platform, 0, 0, 0), body(&cargo, 0, 0.3, 0)};
    defs[0].motion = motion;
    defs[0].release = INFINITY;
    und_bodies *b = make(defs, 2, &earth);
    run(b, 0, 1 / 240.0, 480);
    assert_double_near(und_bodies_state(b, 1).velocity[0], 0.5, 1e-4);
    assert_double_near(und_bodies_state(b, 1).position[1], 0.3, 1e-3);
    und_bodies_destroy(b);
    und_motion_destroy(motion);
}

/* ---- checkpoints ---- */

enum { MANY = 40 };

static void heap(und_body_def defs[MANY], const und_shape *shapes, int kinds)
{
    for (int i = 0; i < MANY; i++) {
        defs[i] =
            body(&shapes[i % kinds], 0.3 * (i % 3) - 0.3, 0.3 + 0.35 * (i / 9), 0.3 * (i / 3 % 3) - 0.3);
        defs[i].position[0] += 0.01 * (i % 7);
        defs[i].rotation[0] = 10 * i;
        defs[i].spin[2] = 0.3 * (i % 5);
        defs[i].bounce = 0.1 * (i % 8);
    }
}

static void test_same_bits_after_restore(void **state)
{
    (void)state;
    und_shape lump[2] = {sphere(0.1), box(0.08, 0.08, 0.08)}, *parts[2] = {&lump[0], &lump[1]};
    lump[1].center.x = 0.1;
    und_shape shapes[7] = {sphere(0.14),
                           box(0.1, 0.12, 0.14),
                           {.kind = UND_CYLINDER, .radius = 0.12, .half = {0, 0.1, 0}},
                           {.kind = UND_CAPSULE, .radius = 0.08, .half = {0.05, 0.05, 0}},
                           {.kind = UND_ELLIPSOID, .half = {0.15, 0.1, 0.12}},
                           {.kind = UND_UNION, .child_count = 2, .children = parts},
                           {.kind = UND_DIFFERENCE, .child_count = 2, .children = parts}};
    static float ground[20 * 20];
    for (int i = 0; i < 20 * 20; i++)
        ground[i] = (float)(0.05 * sin(i % 20) * sin(i / 20));
    und_bodies_world world = {.gravity = 9.81,
                              .nx = 20,
                              .nz = 20,
                              .stride = 20,
                              .dx = 0.1,
                              .origin = {-1, -1},
                              .ground = ground,
                              .wall = {true, true, true, true}};
    und_body_def defs[MANY];
    heap(defs, shapes, 7);
    und_bodies *a = make(defs, MANY, &world), *b = make(defs, MANY, &world);
    double time = run(a, 0, 1 / 240.0, 150);
    size_t count, same;
    const double *from = und_bodies_saved(a, &count);
    double *to = und_bodies_saved(b, &same);
    assert_int_equal(count, same);
    assert_true(count >= 13 * MANY);
    memcpy(to, from, count * sizeof *to);
    und_bodies_restored(b, time);
    run(a, time, 1 / 240.0, 150);
    run(b, time, 1 / 240.0, 150);
    assert_memory_equal(from, to, count * sizeof *to);
    for (int i = 0; i < MANY; i++) { /* and nothing fell through or blew up */
        und_body_state now = und_bodies_state(a, i);
        assert_true(now.position[1] > 0 && now.position[1] < 3);
        assert_true(fabs(now.position[0]) < 1 && fabs(now.position[2]) < 1);
        assert_true(fabs(now.velocity[1]) < 5);
    }
    und_bodies_destroy(a);
    und_bodies_destroy(b);
}

/* ---- frames and errors ---- */

static const float *item_data(const und_frame *frame, const char *name, size_t rows, size_t columns,
                              bool is_static)
{
    const und_item *item = und_frame_find(frame, name);
    assert_non_null(item);
    assert_int_equal(item->dim[0], rows);
    assert_int_equal(item->dim[1], columns);
    assert_int_equal(item->is_static, is_static);
    return item->data;
}

/* Triangles are about the centre of mass and the same in every frame; what moves is the state. */
static void test_frame(void **state)
{
    (void)state;
    und_shape s = box(0.5, 0.5, 0.5), off = s, ball = sphere(0.5);
    off.center = und_vec(7, 0, 0);
    und_body_def defs[3] = {body(&s, 1, 2, 3), body(&off, 9, 2, 3), body(&ball, -5, 2, 3)};
    defs[1].velocity[0] = 4;
    defs[1].color[0] = 0.25F;
    defs[0].spin[1] = 2;
    und_bodies *b = make(defs, 3, &space);
    und_frame frame[2];
    und_error err;
    for (int k = 0; k < 2; k++) {
        frame[k] = und_frame_empty(k, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
        assert_int_equal(und_bodies_frame(b, &frame[k], &err), UND_OK);
        assert_int_equal(frame[k].count, 7);
        run(b, 0, 1 / 240.0, 60);
    }
    const und_item *first = und_frame_find(&frame[0], "bodies/mesh_first");
    assert_true(first->type == UND_I32 && first->rank == 1 && first->is_static);
    const int32_t *f = first->data;
    assert_true(first->dim[0] == 4 && f[0] == 0 && f[1] == 36 && f[2] == 72 && f[3] > 1000);
    const float *p = item_data(&frame[0], "bodies/mesh_position", (size_t)f[3], 3, true),
                *c = item_data(&frame[0], "bodies/mesh_color", (size_t)f[3], 3, true);
    for (int i = 0; i < 3 * 72; i++)
        assert_double_near(fabsf(p[i]), 0.5, 1e-6);
    for (int i = 72; i < f[3]; i++)
        assert_double_near(und_length(und_vec(p[3 * i], p[3 * i + 1], p[3 * i + 2])), 0.5, 1e-6);
    for (int i = 0; i < 36; i++)
        assert_true(c[3 * (i + 36)] == 0.25F);
    assert_double_near(item_data(&frame[0], "bodies/position", 3, 3, false)[3], 16, 1e-6);
    assert_double_near(item_data(&frame[0], "bodies/velocity", 3, 3, false)[3], 4, 0);
    assert_double_near(item_data(&frame[0], "bodies/rotation", 3, 4, false)[0], 1, 0);
    assert_double_near(item_data(&frame[0], "bodies/spin", 3, 3, false)[1], 2, 0);
    assert_double_near(item_data(&frame[1], "bodies/position", 3, 3, false)[3], 17, 1e-5);
    assert_double_near(item_data(&frame[1], "bodies/rotation", 3, 4, false)[0], cos(0.25), 1e-5);
    assert_memory_equal(p, item_data(&frame[1], "bodies/mesh_position", (size_t)f[3], 3, true),
                        3 * (size_t)f[3] * sizeof *p);
    und_frame_clear(&frame[0]);
    und_frame_clear(&frame[1]);
    und_bodies_destroy(b);
}

static void refuse(const und_body_def *def, const char *part)
{
    und_error err = {0};
    assert_null(und_bodies_create(def, 1, &space, &err));
    assert_int_equal(err.status, UND_INVALID);
    if (!strstr(err.text, part) || !strstr(err.text, "body 1"))
        fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static void test_wrong_bodies(void **state)
{
    (void)state;
    und_shape s = sphere(1), plane = {.kind = UND_PLANE, .half = {0, 1, 0}};
    und_body_def def = body(&s, 0, 0, 0);
    def.density = 0;
    refuse(&def, "mass");
    def.density = NAN;
    refuse(&def, "mass");
    def = body(&s, 0, 0, 0);
    def.mass = -1;
    refuse(&def, "mass");
    def = body(&s, NAN, 0, 0);
    refuse(&def, "position");
    def = body(&s, 0, 0, 0);
    def.spin[2] = INFINITY;
    refuse(&def, "spin");
    def = body(&plane, 0, 0, 0);
    refuse(&def, "without end");
    def = body(NULL, 0, 0, 0);
    refuse(&def, "shape");
    def = body(&s, 0, 0, 0);
    def.bounce = 1.5;
    refuse(&def, "bounce");
    und_shape *twice[2] = {&s, &s};
    und_shape nothing = {.kind = UND_DIFFERENCE, .child_count = 2, .children = twice};
    def = body(&nothing, 0, 0, 0);
    refuse(&def, "volume");
}

/* Bad numbers stay with the body that has them. */
static void test_bad_numbers_in_a_checkpoint(void **state)
{
    (void)state;
    und_shape s = sphere(0.5);
    und_body_def defs[2] = {body(&s, 0, 0.4, 0), body(&s, 0.6, 0.4, 0)};
    und_bodies *b = make(defs, 2, &floor_world);
    size_t count;
    und_bodies_saved(b, &count)[0] = NAN;
    und_bodies_restored(b, 0);
    und_bodies_push(b, 1, und_vec(NAN, 0, 0), und_vec(0, 0, 0));
    run(b, 0, 0.01, 200);
    assert_double_near(und_bodies_state(b, 1).position[1], 0.5, 2e-3);
    und_bodies_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mass_or_density),
        cmocka_unit_test(test_free_fall),
        cmocka_unit_test(test_pushes),
        cmocka_unit_test(test_pose_about_the_centre_of_mass),
        cmocka_unit_test(test_tumbling),
        cmocka_unit_test(test_fast_spin),
        cmocka_unit_test(test_sliver),
        cmocka_unit_test(test_wobble),
        cmocka_unit_test(test_equal_balls_swap_velocities),
        cmocka_unit_test(test_unequal_balls),
        cmocka_unit_test(test_bouncing_height),
        cmocka_unit_test(test_rest),
        cmocka_unit_test(test_mesh_body),
        cmocka_unit_test(test_tower),
        cmocka_unit_test(test_rest_on_uneven_ground),
        cmocka_unit_test(test_ball_in_a_bowl),
        cmocka_unit_test(test_walls_hold),
        cmocka_unit_test(test_friction_on_a_slope),
        cmocka_unit_test(test_led_body_pushes),
        cmocka_unit_test(test_held_until_release),
        cmocka_unit_test(test_led_by_a_skeleton),
        cmocka_unit_test(test_platform_carries),
        cmocka_unit_test(test_same_bits_after_restore),
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_wrong_bodies),
        cmocka_unit_test(test_bad_numbers_in_a_checkpoint),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
