/* Figures that are let go: joints that hold together, limits, strength, and the same bits again. */
#include "tests/test.h"

#include "bodies/bodies.h"
#include "bodies/skeleton.h"

#include <string.h>

static const double pi = 3.14159265358979323846, g = 9.81;

static const float flat[4] = {0, 0, 0, 0};
static const und_bodies_world earth = {.gravity = 9.81};
static const und_bodies_world space = {.gravity = 0};
static const und_bodies_world floor_world = {
    .gravity = 9.81, .nx = 2, .nz = 2, .stride = 2, .dx = 10, .origin = {-10, -10}, .ground = flat};

enum { MOST = 8 };

typedef struct figure {
    und_skeleton *skeleton;
    und_body_def defs[MOST];
    int count;
    und_bodies *bodies;
} figure;

/* All of it is let go at `release`; the root never where `hung`. */
static void open(figure *f, const char *text, double release, bool hung, double hold,
                 const und_bodies_world *world)
{
    und_error err = {0};
    *f = (figure){.skeleton = und_skeleton_parse(text, strlen(text), "test.skel", &err)};
    if (!f->skeleton)
        fail_msg("%s", err.text);
    f->count = und_skeleton_bones(f->skeleton);
    assert_true(f->count <= MOST);
    for (int i = 0; i < f->count; i++) {
        und_body_def *d = &f->defs[i];
        *d = und_body_def_default();
        d->shape = und_skeleton_shape(f->skeleton, i);
        d->skeleton = f->skeleton;
        d->bone = i;
        d->density = 1000;
        d->hold = hold;
        d->release = hung && i == 0 ? INFINITY : release;
    }
    f->bodies = und_bodies_create(f->defs, f->count, world, &err);
    if (!f->bodies)
        fail_msg("%s", err.text);
}

static void destroy(figure *f)
{
    und_bodies_destroy(f->bodies);
    und_skeleton_destroy(f->skeleton);
}

/* Where a bone's joint is, as it sees it and as its parent does: how far apart, m. */
static double gap(const figure *f, int bone)
{
    const und_pose *own = und_skeleton_ellipsoid(f->skeleton, bone);
    int parent = und_skeleton_parent(f->skeleton, bone);
    const und_pose *on = und_skeleton_ellipsoid(f->skeleton, parent);
    und_pose a = und_bodies_pose(f->bodies, bone), b = und_bodies_pose(f->bodies, parent);
    und_vec3 here = und_pose_point(&a, und_pose_local(own, und_vec(0, 0, 0)));
    und_vec3 there = und_pose_point(&b, und_pose_local(on, und_skeleton_hinge(f->skeleton, bone)));
    return und_length(und_sub(here, there));
}

/* Degrees about x between a bone and the upright. */
static double lean(const figure *f, int bone)
{
    und_body_state now = und_bodies_state(f->bodies, bone);
    return 2 * atan2(now.rotation[1], now.rotation[0]) * 180 / pi;
}

static const char arm_text[] = "skeleton arm\n"
                               "bone base ellipsoid 0.1 0.1 0.1\n"
                               "bone arm on base joint 0 -0.2 0 ellipsoid 0.05 0.4 0.07 at 0 -0.5 0 %s\n"
                               "key 0 at 0 3 0 arm %g\n";

static void arm(figure *f, const char *limits, double angle, double hold)
{
    char text[512];
    snprintf(text, sizeof text, arm_text, limits, angle);
    open(f, text, 0, true, hold, &earth);
}

/* A limb that hangs from one that is led swings as a compound pendulum does. */
static void a_limp_limb_is_a_pendulum(void **state)
{
    (void)state;
    figure f;
    arm(&f, "limits -60 60", 4, 0);
    const double dt = 1.0 / 500, own = (0.16 + 0.0049) / 5, d = 0.5;
    double exact = 2 * pi * sqrt((own + d * d) / (g * d)), last = 0, first = 0, latest = 0, apart = 0;
    int turns = 0;
    for (int i = 1; i < 4000 && turns < 5; i++) {
        und_bodies_step(f.bodies, (i - 1) * dt, dt);
        double w = und_bodies_state(f.bodies, 1).spin[0];
        if (w * last < 0) {
            latest = (i - w / (w - last)) * dt;
            first = turns++ == 0 ? latest : first;
        }
        last = w;
        apart = fmax(apart, gap(&f, 1));
    }
    double period = 2 * (latest - first) / 4;
    print_message("period %g of %g s, %g m apart\n", period, exact, apart);
    assert_int_equal(turns, 5);
    assert_double_near(period / exact, 1, 0.005);
    assert_true(apart < 1e-3);
    destroy(&f);
}

/* It rests on its limit, not beyond; and does not turn about an axis that has none. */
static void limits_stop_a_limb(void **state)
{
    (void)state;
    figure f;
    arm(&f, "limits 35 150", 120, 0);
    double least = 180;
    for (int i = 0; i < 3000; i++) {
        und_bodies_step(f.bodies, i / 300.0, 1 / 300.0);
        least = fmin(least, lean(&f, 1));
    }
    print_message("at rest at %g degrees, at least %g\n", lean(&f, 1), least);
    assert_double_near(lean(&f, 1), 35, 0.5);
    assert_true(least > 34);
    und_body_state now = und_bodies_state(f.bodies, 1);
    assert_double_near(now.rotation[2], 0, 1e-6);
    assert_double_near(now.rotation[3], 0, 1e-6);
    assert_true(fabs(now.spin[0]) < 0.01);
    destroy(&f);
}

/* Strength 1 just holds a limb straight out: 1.5 does; 0.5 lets it sink to below 30 degrees, where sin(a) =
 * 1/2. */
static void strength_holds_a_pose(void **state)
{
    (void)state;
    static const double strength[2] = {1.5, 0.5}, rest[2] = {90, 30};
    for (int k = 0; k < 2; k++) {
        figure f;
        arm(&f, "limits -170 170", 90, strength[k]);
        for (int i = 0; i < 6000; i++)
            und_bodies_step(f.bodies, i / 300.0, 1 / 300.0);
        print_message("strength %g: %g degrees\n", strength[k], lean(&f, 1));
        if (k == 0)
            assert_double_near(lean(&f, 1), rest[k], 2);
        else
            assert_true(lean(&f, 1) <= rest[k] + 2);
        destroy(&f);
    }
}

static const char man_text[] =
    "skeleton man\n"
    "bone body ellipsoid 0.15 0.3 0.1\n"
    "bone head on body joint 0 0.3 0 ellipsoid 0.08 0.11 0.09 at 0 0.1 0\n"
    "bone arm_left on body joint 0.18 0.22 0 ellipsoid 0.05 0.3 0.05 at 0 -0.27 0\n"
    "bone thigh_left on body joint 0.08 -0.27 0 ellipsoid 0.07 0.22 0.07 at 0 -0.2 0\n"
    "bone shank_left on thigh_left joint 0 -0.42 0 ellipsoid 0.05 0.22 0.05 at 0 -0.2 0\n"
    "mirror left right\n"
    "key 0 at 0 2 0 turn 0 head 0 arm 0 0 5 thigh 0 shank 0\n"
    "key 1 at 0 2.5 2 turn 120 head 20 arm -160 0 20 thigh -90 shank 100\n";

/* In space nothing but the joints acts: momentum and angular momentum of a figure thrown with its limbs on
 * the move are kept, and it loses energy at most. */
static void joints_keep_momentum(void **state)
{
    (void)state;
    figure f;
    open(&f, man_text, 0.5, false, 0, &space);
    double first[6] = {0}, energy = 0;
    for (int i = 0; i < 1500; i++) {
        und_bodies_step(f.bodies, i / 500.0, 1 / 500.0);
        if (i < 252)
            continue;
        double sum[6] = {0}, now_energy = 0;
        for (int k = 0; k < f.count; k++) {
            und_body_state now = und_bodies_state(f.bodies, k);
            double m = und_bodies_mass(f.bodies, k), I[9], *p = now.position, *v = now.velocity,
                   *w = now.spin;
            und_bodies_inertia(f.bodies, k, I);
            for (int a = 0; a < 3; a++) {
                int b = (a + 1) % 3, c = (a + 2) % 3;
                double own = I[3 * a] * w[0] + I[3 * a + 1] * w[1] + I[3 * a + 2] * w[2];
                sum[a] += m * v[a];
                sum[3 + a] += m * (p[b] * v[c] - p[c] * v[b]) + own;
                now_energy += 0.5 * m * v[a] * v[a] + 0.5 * w[a] * own;
            }
        }
        if (i == 252) {
            memcpy(first, sum, sizeof first);
            energy = now_energy;
        }
        for (int a = 0; a < 6; a++)
            assert_double_near(sum[a], first[a], 0.01 * (fabs(first[2]) + fabs(first[3])));
        assert_true(now_energy < 1.01 * energy);
        for (int k = 1; k < f.count; k++)
            assert_true(gap(&f, k) < 0.01);
    }
    destroy(&f);
}

/* Dropped on the ground it comes to lie there, whole; and a state in between goes on with the same bits. */
static void a_limp_figure_comes_to_lie(void **state)
{
    (void)state;
    figure f, again;
    open(&f, man_text, 0.3, false, 0, &floor_world);
    open(&again, man_text, 0.3, false, 0, &floor_world);
    double worst = 0;
    size_t count;
    for (int i = 0; i < 1500; i++) {
        und_bodies_step(f.bodies, i / 300.0, 1 / 300.0);
        for (int k = 1; k < f.count; k++)
            worst = fmax(worst, gap(&f, k));
        if (i == 500) {
            double *to = und_bodies_saved(again.bodies, &count);
            memcpy(to, und_bodies_saved(f.bodies, &count), count * sizeof *to);
            und_bodies_restored(again.bodies, 501 / 300.0);
        } else if (i > 500) {
            und_bodies_step(again.bodies, i / 300.0, 1 / 300.0);
        }
    }
    double *a = und_bodies_saved(f.bodies, &count), *b = und_bodies_saved(again.bodies, &count);
    assert_memory_equal(a, b, count * sizeof *a);
    for (int k = 0; k < f.count; k++) {
        und_body_state now = und_bodies_state(f.bodies, k);
        double speed = hypot(hypot(now.velocity[0], now.velocity[1]), now.velocity[2]);
        print_message("%s at %g m, %g m/s\n", und_skeleton_bone_name(f.skeleton, k), now.position[1], speed);
        assert_true(now.position[1] > 0.02 && now.position[1] < 0.45);
        assert_true(speed < 0.05);
    }
    print_message("joints up to %g m apart\n", worst);
    assert_true(worst < 0.03);
    destroy(&f);
    destroy(&again);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_limp_limb_is_a_pendulum),  cmocka_unit_test(limits_stop_a_limb),
        cmocka_unit_test(strength_holds_a_pose),      cmocka_unit_test(joints_keep_momentum),
        cmocka_unit_test(a_limp_figure_comes_to_lie),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
