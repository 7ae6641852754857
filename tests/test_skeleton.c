/* Figures: what their text says is where their bones are; flights obey Newton; damaged text is refused. */
#include "tests/test.h"

#include "base/random.h"
#include "bodies/skeleton.h"

static und_skeleton *parse(const char *text)
{
    und_error err = {0};
    und_skeleton *s = und_skeleton_parse(text, strlen(text), "a.skel", &err);
    if (!s)
        fail_msg("%s", err.text);
    return s;
}

static void assert_vec_near(und_vec3 v, double x, double y, double z, double tolerance)
{
    assert_double_near(v.x, x, tolerance);
    assert_double_near(v.y, y, tolerance);
    assert_double_near(v.z, z, tolerance);
}

static const char arm[] = "skeleton arm\n"
                          "bone base ellipsoid 0.1 0.1 0.1 color 0.25 0.5 1 # the root\n"
                          "bone upper on base joint 0 1 0 ellipsoid 0.1 0.5 0.2 at 0 0.5 0\n"
                          "bone lower on upper joint 0 1 0 ellipsoid 0.3 0.4 0.5 at 0 0.5 0 tilt 0 90 0\n"
                          "key 0 upper 0 lower 0 0 0 at 0 0 0\n"
                          "key 1 upper 90\n"
                          "key 2 lower 0 0 90 at 1 2 3\n";

static void chains_add_up(void **state)
{
    (void)state;
    und_skeleton *s = parse(arm);
    assert_int_equal(und_skeleton_bones(s), 3);
    int lower = und_skeleton_find(s, "lower");
    assert_int_equal(lower, 2);
    assert_string_equal(und_skeleton_bone_name(s, lower), "lower");
    assert_int_equal(und_skeleton_find(s, "hand"), -1);
    assert_double_near(und_skeleton_length(s), 2, 0);
    assert_double_near(und_skeleton_color(s, 0)[1], 0.5, 0);
    assert_double_near(und_skeleton_shape(s, lower)->half.z, 0.5, 0);
    assert_vec_near(und_skeleton_shape(s, lower)->center, 0, 0, 0, 0);

    assert_vec_near(und_skeleton_pose(s, lower, 0).position, 0, 2.5, 0, 1e-12);
    assert_vec_near(und_skeleton_pose(s, lower, -5).position, 0, 2.5, 0, 1e-12);
    /* at 2 s the upper lies along z; the lower turned about z at its joint, so it points along -x */
    und_pose pose = und_skeleton_pose(s, lower, 2);
    assert_vec_near(pose.position, 1 - 0.5, 2 + 1, 3 + 1, 1e-12);
    assert_vec_near(und_skeleton_joint(s, lower, 2).position, 1, 3, 4, 1e-12);
    assert_vec_near(und_skeleton_pose(s, lower, 1e9).position, 0.5, 3, 4, 1e-12);
    /* tilt about y: own z is the bone's x, which after the turns is the world's z */
    assert_vec_near(und_quat_rotate(pose.rotation, und_vec(0, 0, 1)), 0, 0, 1, 1e-12);
    und_skeleton_destroy(s);
}

/* Halfway between two keys of rest a cubic is halfway; a joint that a key does not name keeps to its own. */
static void joints_keep_to_their_own_keys(void **state)
{
    (void)state;
    und_skeleton *s = parse(arm);
    assert_vec_near(und_skeleton_joint(s, 2, 0.5).position, 0.15625, 1 + sqrt(0.5) + 0.3125,
                    sqrt(0.5) + 0.46875, 1e-12);
    und_skeleton_destroy(s);
}

static void a_figure_is_placed(void **state)
{
    (void)state;
    und_error err = {0};
    und_skeleton *s = parse(arm);
    for (int twice = 0; twice < 2; twice++)
        assert_int_equal(und_skeleton_place(s, und_vec(10, 0, 0), und_vec(0, 90, 0), 5, &err), UND_OK);
    /* (0.5, 3, 4) turned about y: x is the old z, z the old -x */
    assert_vec_near(und_skeleton_pose(s, 2, 7).position, 14, 3, -0.5, 1e-12);
    assert_vec_near(und_skeleton_pose(s, 2, 5).position, 10, 2.5, 0, 1e-12);
    assert_int_equal(und_skeleton_place(s, und_vec(NAN, 0, 0), und_vec(0, 0, 0), 0, &err), UND_INVALID);
    assert_int_equal(und_skeleton_place(s, und_vec(0, 0, 0), und_vec(0, 0, 0), INFINITY, &err), UND_INVALID);
    und_skeleton_destroy(s);
}

static void sides_are_mirror_images(void **state)
{
    (void)state;
    und_skeleton *s =
        parse("skeleton pair\nbone body ellipsoid 1 1 1\n"
              "bone arm_left on body joint 0.2 0.5 0 ellipsoid 0.1 0.3 0.1 at 0.05 -0.3 0.1 tilt 5 6 7\n"
              "bone hand_left on arm_left joint 0.1 -0.6 0 ellipsoid 0.1 0.1 0.1 at 0 -0.1 0\n"
              "mirror left right\n"
              "pose wave arm 20 30 40 hand -10 5\n"
              "key 0 pose wave\nkey 1 pose wave arm 90 -10 20\n");
    assert_int_equal(und_skeleton_bones(s), 5);
    const char *const names[][2] = {{"arm_left", "arm_right"}, {"hand_left", "hand_right"}};
    for (int i = 0; i < 2; i++)
        for (double t = 0; t < 1.1; t += 0.25) {
            und_pose l = und_skeleton_pose(s, und_skeleton_find(s, names[i][0]), t);
            und_pose r = und_skeleton_pose(s, und_skeleton_find(s, names[i][1]), t);
            assert_true(fabs(l.position.x) > 0.1);
            assert_vec_near(r.position, -l.position.x, l.position.y, l.position.z, 1e-12);
            und_vec3 a = und_quat_rotate(l.rotation, und_vec(1, 2, 3));
            assert_vec_near(und_quat_rotate(r.rotation, und_vec(-1, 2, 3)), -a.x, a.y, a.z, 1e-12);
        }
    und_skeleton_destroy(s);
}

/* Joints bend no further than their keys and move without jumps of speed. */
static void joints_do_not_overshoot(void **state)
{
    (void)state;
    und_skeleton *s =
        parse("skeleton knee\nbone thigh ellipsoid 1 1 1\n"
              "bone shank on thigh joint 0 -1 0 ellipsoid 1 1 1 at 0 -1 0\n"
              "key 0 shank 0\nkey 1 shank 0\nkey 1.1 shank 120\nkey 2 shank 120\nkey 5 shank 10\n");
    const double step = 1e-4;
    double last = 0, last_rate = 0;
    for (double t = 0; t < 6; t += step) {
        und_vec3 down = und_quat_rotate(und_skeleton_joint(s, 1, t).rotation, und_vec(0, -1, 0));
        double angle = atan2(-down.z, -down.y) * 180 / acos(-1), rate = (angle - last) / step;
        assert_true(angle > -1e-9 && angle < 120 + 1e-9);
        if (t > 1.1 && t < 2)
            assert_double_near(angle, 120, 1e-9);
        assert_double_near(rate, last_rate, 8); /* 120 degrees in 0.1 s: 72000 degrees/s2 at most */
        last = angle;
        last_rate = rate;
    }
    und_skeleton_destroy(s);
}

enum { BONES = 64 };

typedef struct motion_state {
    und_vec3 center, velocity;
    double momentum; /* angular, about the centre, along x */
} motion_state;

static double mass_of(const und_skeleton *s, int bone)
{
    und_vec3 h = und_skeleton_shape(s, bone)->half;
    return h.x * h.y * h.z;
}

/* Along x, about its own centre: the part of an ellipsoid's angular momentum that its spin makes. */
static double spin_momentum(const und_skeleton *s, int bone, double t, double step)
{
    und_quat a = und_skeleton_pose(s, bone, t - step).rotation,
             b = und_skeleton_pose(s, bone, t + step).rotation;
    und_pose now = und_skeleton_pose(s, bone, t);
    now.position = und_vec(0, 0, 0);
    und_quat turn = und_quat_mul(b, (und_quat){a.w, -a.x, -a.y, -a.z});
    und_vec3 spin = und_mul(und_vec(turn.x, turn.y, turn.z), (turn.w < 0 ? -1 : 1) / step);
    und_vec3 own = und_pose_local(&now, spin), axis = und_pose_local(&now, und_vec(1, 0, 0));
    und_vec3 h = und_skeleton_shape(s, bone)->half, square = und_vec(h.x * h.x, h.y * h.y, h.z * h.z);
    return mass_of(s, bone) / 5 *
           ((square.y + square.z) * own.x * axis.x + (square.z + square.x) * own.y * axis.y +
            (square.x + square.y) * own.z * axis.z);
}

/* From the world's poses alone, by differences in time. */
static motion_state measure(const und_skeleton *s, double t)
{
    const double step = 1e-3;
    motion_state m = {0};
    und_vec3 at[BONES], velocity[BONES];
    double mass = 0;
    assert_true(und_skeleton_bones(s) <= BONES);
    for (int i = 0; i < und_skeleton_bones(s); i++) {
        und_vec3 a = und_skeleton_pose(s, i, t - step).position,
                 b = und_skeleton_pose(s, i, t + step).position;
        at[i] = und_skeleton_pose(s, i, t).position;
        velocity[i] = und_mul(und_sub(b, a), 0.5 / step);
        m.center = und_add(m.center, und_mul(at[i], mass_of(s, i)));
        m.velocity = und_add(m.velocity, und_mul(velocity[i], mass_of(s, i)));
        mass += mass_of(s, i);
    }
    m.center = und_mul(m.center, 1 / mass);
    m.velocity = und_mul(m.velocity, 1 / mass);
    for (int i = 0; i < und_skeleton_bones(s); i++) {
        und_vec3 r = und_sub(at[i], m.center), v = und_sub(velocity[i], m.velocity);
        m.momentum += spin_momentum(s, i, t, step) + mass_of(s, i) * (r.y * v.z - r.z * v.y);
    }
    return m;
}

static char *document_example(void)
{
    char *all = read_text(UND_SOURCE_DIR "/doc/skeleton.md");
    char *from = strstr(all, "```skeleton\n");
    assert_non_null(from);
    from += strlen("```skeleton\n");
    char *end = strstr(from, "```");
    assert_non_null(end);
    char *text = strndup(from, (size_t)(end - from));
    free(all);
    return text;
}

/* Through the whole flight: the centre of mass on the parabola between its ends, the angular momentum one
 * number. */
static void assert_flies(const und_skeleton *s, double from, double to)
{
    und_vec3 first = measure(s, from).center, last = measure(s, to).center;
    double momentum = measure(s, 0.5 * (from + to)).momentum;
    for (int i = 1; i < 40; i++) {
        double share = i / 40.0, t = from + (to - from) * share;
        motion_state now = measure(s, t);
        und_vec3 line = und_add(first, und_mul(und_sub(last, first), share));
        assert_vec_near(now.center, line.x, line.y + 0.5 * 9.81 * (t - from) * (to - t), line.z, 1e-4);
        assert_double_near(now.momentum / momentum, 1, 0.01);
    }
}

static void a_flight_obeys_newton(void **state)
{
    (void)state;
    char *text = document_example();
    und_skeleton *s = parse(text);
    assert_int_equal(und_skeleton_bones(s), 6);
    assert_flies(s, 0.8, 1.6);
    /* the turn: slow, fast, slow, and complete */
    und_vec3 up = und_quat_rotate(und_skeleton_joint(s, 0, 1.6).rotation, und_vec(0, 1, 0));
    assert_vec_near(up, 0, 1, 0, 1e-9);
    assert_vec_near(und_skeleton_joint(s, 0, 1.6).position, 0, 1.28, 2, 1e-9);
    und_skeleton_destroy(s);
    free(text);
}

static void a_planted_foot_stays(void **state)
{
    (void)state;
    char *text = document_example();
    und_skeleton *s = parse(text);
    und_vec3 foot = und_vec(0, -0.9, 0);
    int leg = und_skeleton_find(s, "leg_left");
    und_pose start = und_skeleton_joint(s, leg, 0);
    und_vec3 first = und_pose_point(&start, foot);
    assert_vec_near(first, 0.09, 0, 0, 1e-12);
    for (double t = 0; t < 0.79; t += 0.013) { /* the last sample before take-off may lift */
        und_pose now = und_skeleton_joint(s, leg, t);
        assert_vec_near(und_pose_point(&now, foot), first.x, first.y, first.z, 1e-5);
    }
    und_skeleton_destroy(s);
    free(text);
}

/* The speed has no jump where a flight begins and ends, and where a plant does. */
static void spans_join_smoothly(void **state)
{
    (void)state;
    und_skeleton *s = parse("skeleton ball\nbone ball ellipsoid 0.1 0.1 0.1\n"
                            "key 0 at 0 1 0 turn 0\nkey 0.5 at 0 1.2 0.3 turn 0\nkey 1 at 0 1 2 turn 90\n"
                            "key 1.2 at 0 0.5 2.5 turn 90\nfly 0.5 1\n");
    const double step = 1e-6, joins[] = {0.5, 1};
    for (int i = 0; i < 2; i++) {
        und_vec3 a = und_skeleton_pose(s, 0, joins[i] - step).position;
        und_vec3 b = und_skeleton_pose(s, 0, joins[i]).position;
        und_vec3 c = und_skeleton_pose(s, 0, joins[i] + step).position;
        und_vec3 in = und_mul(und_sub(b, a), 1 / step), out = und_mul(und_sub(c, b), 1 / step);
        double vy = -0.2 / 0.5 + 9.81 * (i == 0 ? 0.25 : -0.25);
        assert_vec_near(in, 0, vy, 3.4, 1e-3);
        assert_vec_near(out, 0, vy, 3.4, 1e-3);
    }
    und_skeleton_destroy(s);
}

static und_skeleton *load_diver(void)
{
    und_error err = {0};
    und_skeleton *s = und_skeleton_load(UND_SOURCE_DIR "/scenes/models/diver.skel", &err);
    if (!s)
        fail_msg("%s", err.text);
    return s;
}

static und_vec3 place_of(const und_skeleton *s, const char *bone, double t)
{
    int index = und_skeleton_find(s, bone);
    assert_true(index >= 0);
    return und_skeleton_pose(s, index, t).position;
}

/* One and a half somersaults from 10 m: free flight, in head first and upright, down, up again. */
static void the_diver_dives(void **state)
{
    (void)state;
    const double leave = 1.08, enter = 2.86;
    und_skeleton *s = load_diver();
    assert_true(und_skeleton_length(s) > 8 && und_skeleton_length(s) < 12);
    assert_flies(s, leave, enter);
    motion_state entry = measure(s, enter - 0.002);
    assert_double_near(entry.velocity.y, -14.35, 0.1); /* sqrt(2 g (11.56 - 1.06)) from the highest point */
    assert_double_near(entry.center.z, -0.2, 0.2);
    und_vec3 hand = place_of(s, "hand_left", enter), foot = place_of(s, "foot_left", enter);
    und_vec3 body = und_unit(und_sub(hand, foot));
    assert_double_near(hand.y, 0.05, 0.1);
    assert_true(body.y < -cos(10 * acos(-1) / 180));
    /* off the platform by its own push, not by a jump of its speed */
    motion_state push = measure(s, leave - 0.012), flight = measure(s, leave + 0.002);
    assert_true(und_length(und_sub(push.velocity, flight.velocity)) < 0.6);
    double deepest = 0;
    for (double t = enter; t < enter + 2; t += 0.02)
        deepest = fmin(deepest, place_of(s, "pelvis", t).y);
    assert_true(deepest < -3 && deepest > -4);
    assert_true(und_length(measure(s, enter + 1.5).velocity) < 0.5); /* all but stopped, turning */
    assert_true(place_of(s, "head", und_skeleton_length(s)).y > 0.05);
    und_skeleton_destroy(s);
}

/* The feet stay on the platform and above it until the leap; the body is symmetric all the time. */
static void the_diver_stands_firm(void **state)
{
    (void)state;
    und_skeleton *s = load_diver();
    int foot = und_skeleton_find(s, "foot_left");
    for (double t = 0; t < 1.07; t += 0.01) {
        und_pose pose = und_skeleton_joint(s, foot, t);
        und_vec3 ball = und_pose_point(&pose, und_vec(0, -0.08, 0.13));
        assert_vec_near(ball, 0.09, 10, -3.055, 1e-3);
        assert_true(und_pose_point(&pose, und_vec(0, -0.08, -0.06)).y > 9.995);
    }
    for (int i = 0; i < und_skeleton_bones(s); i++) {
        const char *name = und_skeleton_bone_name(s, i), *side = strstr(name, "_left");
        char twin[64];
        snprintf(twin, sizeof twin, "%.*s_right", side ? (int)(side - name) : 0, name);
        for (double t = 0; t < 11; t += 0.37) {
            und_vec3 here = und_skeleton_pose(s, i, t).position;
            if (side)
                assert_vec_near(place_of(s, twin, t), -here.x, here.y, here.z, 1e-12);
            else if (!strstr(name, "_right"))
                assert_double_near(here.x, 0, 1e-12);
        }
    }
    und_skeleton_destroy(s);
}

/* How deep the middle line of one ellipsoid is inside another, m. */
static double depth_inside(const und_skeleton *s, int a, int b, double t)
{
    und_pose pa = und_skeleton_pose(s, a, t), pb = und_skeleton_pose(s, b, t);
    und_vec3 half = und_skeleton_shape(s, a)->half;
    und_vec3 end = half.y > half.z ? und_vec(0, half.y, 0) : und_vec(0, 0, half.z);
    double deepest = 0;
    for (int k = -8; k <= 8; k++) {
        und_vec3 p = und_pose_point(&pa, und_mul(end, 0.1 * k));
        deepest = fmax(deepest, -und_shape_distance(und_skeleton_shape(s, b), und_pose_local(&pb, p)));
    }
    return deepest;
}

static void no_limb_goes_through_the_diver(void **state)
{
    (void)state;
    static const char *const limbs[] = {"forearm_left", "hand_left", "shank_left", "foot_left"};
    static const char *const others[] = {"pelvis",          "belly",         "chest",       "head",
                                         "upper_arm_right", "forearm_right", "hand_right",  "thigh_left",
                                         "thigh_right",     "shank_left",    "shank_right", "foot_right"};
    und_skeleton *s = load_diver();
    for (size_t i = 0; i < sizeof limbs / sizeof *limbs; i++)
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            int a = und_skeleton_find(s, limbs[i]), b = und_skeleton_find(s, others[k]);
            assert_true(a >= 0 && b >= 0);
            bool joined = (strcmp(limbs[i], "shank_left") == 0 && strcmp(others[k], "thigh_left") == 0) ||
                          (strcmp(limbs[i], "foot_left") == 0 && strcmp(others[k], "shank_left") == 0);
            if (joined || a == b)
                continue;
            for (double t = 0; t < 10.5; t += 0.02)
                if (depth_inside(s, a, b, t) > 0.01)
                    fail_msg("%s is in %s at %g s", limbs[i], others[k], t);
        }
    und_skeleton_destroy(s);
}

/* Of the file, mirrored, or as far as keys go and a little farther; without keys a joint is stiff. */
static void joints_have_limits(void **state)
{
    (void)state;
    static const char text[] = "skeleton a\nbone body ellipsoid 1 1 1\n"
                               "bone arm_left on body ellipsoid 1 1 1 limits -90 30 -5 10 0 80\n"
                               "bone leg_left on body ellipsoid 1 1 1\nbone cap on body ellipsoid 1 1 1\n"
                               "mirror left right\nkey 0 leg -20 0 5 arm 5\nkey 1 leg 60\n";
    static const struct {
        const char *bone;
        double low[3], high[3];
    } rows[] = {{"arm_left", {-90, -5, 0}, {30, 10, 80}},
                {"arm_right", {-90, -10, -80}, {30, 5, 0}},
                {"leg_left", {-30, -10, -10}, {70, 10, 15}},
                {"leg_right", {-30, -10, -15}, {70, 10, 10}},
                {"cap", {0, 0, 0}, {0, 0, 0}}};
    und_error err = {0};
    und_skeleton *s = und_skeleton_parse(text, sizeof text - 1, "a.skel", &err);
    assert_non_null(s);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        und_vec3 low, high;
        const double degree = acos(-1) / 180, *l = rows[i].low, *h = rows[i].high;
        und_skeleton_limits(s, und_skeleton_find(s, rows[i].bone), &low, &high);
        assert_vec_near(low, l[0] * degree, l[1] * degree, l[2] * degree, 1e-12);
        assert_vec_near(high, h[0] * degree, h[1] * degree, h[2] * degree, 1e-12);
    }
    und_skeleton_destroy(s);
}

typedef struct refusal {
    const char *text, *message;
} refusal;

#define BODY "skeleton a\nbone body ellipsoid 1 1 1\n"
#define LIMBS BODY "bone thigh_left on body ellipsoid 1 1 1\nmirror left right\n"

static const refusal refusals[] = {
    {"", "a.skel:0: expected `skeleton` and a name"},
    {"\n# only words\n", "a.skel:2: expected `skeleton` and a name"},
    {"skeleton a\n", "a.skel:1: the skeleton has no bone"},
    {"bone body ellipsoid 1 1 1\n",
     "a.skel:1: expected `skeleton` and a name before anything else, found \"bone\""},
    {"skeleton\n", "a.skel:1: expected the skeleton's name, found the end of the line"},
    {"skeleton 1st\n", "a.skel:1: expected the skeleton's name, found \"1st\""},
    {"skeleton a\nskeleton b\n", "a.skel:2: a file has one skeleton, and here is a second"},
    {"skeleton a\nbones body\n", "a.skel:2: unknown statement \"bones\" (did you mean \"bone\"?)"},
    {"skeleton a\nkey 0 turn 1\n", "a.skel:2: expected a bone before `key`"},
    {"skeleton a\nbone turn ellipsoid 1 1 1\n",
     "a.skel:2: \"turn\" has a meaning of its own and cannot be a name"},
    {"skeleton a\nbone body\n", "a.skel:2: the bone \"body\" needs an ellipsoid"},
    {"skeleton a\nbone body elipsoid 1 1 1\n",
     "a.skel:2: unknown clause \"elipsoid\" (did you mean \"ellipsoid\"?)"},
    {"skeleton a\nbone body ellipsoid 1 1\n",
     "a.skel:2: expected the ellipsoid's three semi-axes in metres, found the end of the line"},
    {"skeleton a\nbone body ellipsoid 1 0 1\n",
     "a.skel:2: expected the ellipsoid's three semi-axes in metres from 0.0001 to 1000, found 0"},
    {"skeleton a\nbone body ellipsoid 1 nan 1\n",
     "a.skel:2: expected the ellipsoid's three semi-axes in metres, found \"nan\""},
    {"skeleton a\nbone body ellipsoid 1 1e999 1\n",
     "a.skel:2: expected the ellipsoid's three semi-axes in metres, found \"1e999\""},
    {"skeleton a\nbone body joint 0 0 0 ellipsoid 1 1 1\n",
     "a.skel:2: the first bone has no joint: keys place it"},
    {BODY "bone head ellipsoid 1 1 1\n",
     "a.skel:3: expected `on` and the bone that \"head\" hangs on: only the first has none"},
    {BODY "bone head on bdoy ellipsoid 1 1 1\n", "a.skel:3: unknown bone \"bdoy\" (did you mean \"body\"?)"},
    {BODY "bone body on body ellipsoid 1 1 1\n", "a.skel:3: there is already a bone \"body\""},
    {BODY "bone head on body ellipsoid 1 1 1 limits 20\n",
     "a.skel:3: expected the most turn in degrees, found the end of the line"},
    {BODY "bone head on body ellipsoid 1 1 1 limits 20 10\n",
     "a.skel:3: expected the most turn in degrees from 20 to 360, found 10"},
    {BODY "mirror left right\n", "a.skel:3: no bone's name ends in \"_left\""},
    {LIMBS "key 0 thihg 10\n", "a.skel:5: unknown bone \"thihg\" (did you mean \"thigh\"?)"},
    {LIMBS "key 0 thigh\n", "a.skel:5: expected a turn about x in degrees, found the end of the line"},
    {LIMBS "key 0 thigh 1 2 3 4\n", "a.skel:5: unknown bone \"4\""},
    {LIMBS "key -1 thigh 1\n", "a.skel:5: expected the key's time in seconds from 0 to 100000, found -1"},
    {LIMBS "key 0 body 1\n", "a.skel:5: \"body\" is the first bone: it turns by `turn` in a key"},
    {LIMBS "key 1\n", "a.skel:5: expected `at`, `turn`, `pose` or a bone, found the end of the line"},
    {LIMBS "pose tuck thigh 1\nkey 0 pose tukc\n",
     "a.skel:6: unknown pose \"tukc\" (did you mean \"tuck\"?)"},
    {LIMBS "pose tuck at 1 2 3\n", "a.skel:5: `at` belongs to keys: a pose sets joints alone"},
    {LIMBS "key 1 thigh 2\nkey 0 thigh 1\nkey 1 thigh_right 2\n",
     "a.skel:7: thigh_right is already set at 1 s, in line 5"},
    {LIMBS "fly 1 1\n", "a.skel:5: expected a second time at least 0.02 s after the first"},
    {LIMBS "fly 1 2\nplant 1.5 3 body\n", "a.skel:6: 1.5 to 3 s overlaps the 1 to 2 s of line 5"},
    {LIMBS "fly 0 90\n", "a.skel:5: `plant` and `fly` are for 60 s at most, all together"},
    {LIMBS "key 1 turn 0\nfly 1 2\n", "a.skel:6: a flight needs a key with `turn` at 2 s"},
    {LIMBS "key 1 turn 0\nkey 1.5 turn 5\nkey 2 turn 90\nfly 1 2\n",
     "a.skel:8: a key sets `turn` during a flight, which finds it"},
    {LIMBS "key 1 turn 0\nkey 2 turn 90\nfly 1 2\n", "a.skel:7: there must be a key with `at` at 1 s"},
    {LIMBS "key 1 at 0 0 0 turn 0\nkey 2 turn 90\nfly 1 2\n",
     "a.skel:7: a flight needs a key with `at` at 2 s"},
    {LIMBS "key 1 at 0 0 0\nkey 2 at 0 0 0\nplant 1 2 body\n",
     "a.skel:7: a key sets `at` at 2 s, where a planted bone leads to"},
    {BODY "\x01\n", "a.skel:3: a character that is not text (code 1)"},
};

static void mistakes_are_explained(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        und_error err = {0};
        const refusal *r = &refusals[i];
        assert_null(und_skeleton_parse(r->text, strlen(r->text), "a.skel", &err));
        assert_string_equal(err.text, r->message);
        assert_int_equal(err.status, UND_INVALID);
    }
}

static void too_much_is_refused(void **state)
{
    (void)state;
    char *text = calloc(1, 1 << 20);
    size_t n = (size_t)sprintf(text, "skeleton a\nbone b0 ellipsoid 1 1 1\n");
    for (int i = 1; i <= 128; i++)
        n += (size_t)sprintf(text + n, "bone b%d on b%d joint 0 1 0 ellipsoid 1 1 1\n", i, i - 1);
    und_error err = {0};
    assert_null(und_skeleton_parse(text, n, "a.skel", &err));
    assert_string_equal(err.text, "a.skel:130: more than 128 bones");
    n = (size_t)sprintf(text, BODY);
    memset(text + n, 'x', 1000);
    n += 1000;
    assert_null(und_skeleton_parse(text, n, "a.skel", &err));
    n = (size_t)sprintf(text, BODY "key 0 turn 1 ");
    for (int i = 0; i < 600; i++)
        n += (size_t)sprintf(text + n, "turn 1 ");
    assert_null(und_skeleton_parse(text, n, "a.skel", &err));
    assert_string_equal(err.text, "a.skel:3: a line of more than 512 words");
    assert_null(und_skeleton_parse("skeleton a\0b\n", 13, "a.skel", &err));
    assert_string_equal(err.text, "a.skel:1: a character that is not text (code 0)");
    assert_null(und_skeleton_load("no/such.skel", &err));
    assert_int_equal(err.status, UND_FAILED);
    free(text);
}

/* Whatever a skeleton that loads says, its poses are numbers. */
static void poses_are_finite(const und_skeleton *s)
{
    for (int i = 0; i < und_skeleton_bones(s); i++)
        for (double t = 0; t < 4; t += 0.7) {
            und_pose p = und_skeleton_pose(s, i, t);
            und_quat q = p.rotation;
            assert_true(isfinite(p.position.x) && isfinite(p.position.y) && isfinite(p.position.z));
            assert_double_near(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z, 1, 1e-9);
        }
}

static int try_text(const char *text, size_t size)
{
    und_error err = {0};
    und_skeleton *s = und_skeleton_parse(text, size, "a.skel", &err);
    if (!s) {
        assert_true(err.status != UND_OK && strncmp(err.text, "a.skel:", 7) == 0);
        return 0;
    }
    poses_are_finite(s);
    und_skeleton_destroy(s);
    return 1;
}

static void damaged_text_is_harmless(void **state)
{
    (void)state;
    static const char *const pieces[] = {"bone", "on",     "joint",   "key",       "pose",
                                         "at",   "turn",   "fly 0 1", "plant 0 1", "-",
                                         "nan",  "1e300",  "0",       "99999",     "\n",
                                         "#",    " ",      "body",    "arm",       "mirror left right",
                                         "\xff", "1e-300", "-0",      "0x1p3",     "leg_left"};
    char *good = document_example();
    size_t length = strlen(good);
    char *text = malloc(length + 64);
    int loaded = 0, tried = 0;
    for (size_t cut = 0; cut <= length; cut += 3, tried++)
        loaded += try_text(good, cut);
    for (uint64_t i = 0; i < test_times(1500); i++, tried++) {
        memcpy(text, good, length);
        size_t size = length;
        for (uint64_t k = 0; k < 1 + i % 3; k++) {
            uint64_t bits = und_random_bits(7, i, k);
            size_t at = bits % size;
            const char *piece = pieces[(bits >> 32) % (sizeof pieces / sizeof *pieces)];
            size_t n = strlen(piece);
            if ((bits >> 62) == 0)
                text[at] = (char)(bits >> 24);
            else if (at + n <= size)
                memcpy(text + at, piece, n);
        }
        loaded += try_text(text, size);
    }
    print_message("%d of %d skeletons refused\n", tried - loaded, tried);
    assert_true(loaded > 50 && loaded < tried - 50);
    free(text);
    free(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chains_add_up),
                                       cmocka_unit_test(joints_keep_to_their_own_keys),
                                       cmocka_unit_test(a_figure_is_placed),
                                       cmocka_unit_test(sides_are_mirror_images),
                                       cmocka_unit_test(joints_do_not_overshoot),
                                       cmocka_unit_test(a_flight_obeys_newton),
                                       cmocka_unit_test(a_planted_foot_stays),
                                       cmocka_unit_test(spans_join_smoothly),
                                       cmocka_unit_test(joints_have_limits),
                                       cmocka_unit_test(mistakes_are_explained),
                                       cmocka_unit_test(too_much_is_refused),
                                       cmocka_unit_test(damaged_text_is_harmless),
                                       cmocka_unit_test(the_diver_dives),
                                       cmocka_unit_test(the_diver_stands_firm),
                                       cmocka_unit_test(no_limb_goes_through_the_diver)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
