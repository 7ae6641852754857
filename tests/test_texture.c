/* Texture particles: the nearest of points, lookups, and what becomes of particles in flows that are known.
 */
#include "tests/distance_frame.h"

#include "base/random.h"
#include "surface/frame_mesh.h"
#include "surface/nearest.h"
#include "surface/texture.h"

enum { CELLS = 20 };
static const double DX = 1.0 / CELLS, LOW[3] = {0.25, -0.5, 1}; /* of distance_frame() */

/* A ball of radius 0.2 that moves with the velocity SPEED, and from the time SECOND on another beside it. */
static double ball_time, second_at = INFINITY;
static const double SPEED[3] = {0.9, -0.3, 0.6};

static double ball(double x, double y, double z)
{
    double p[3] = {x - LOW[0] - 0.3 - ball_time * SPEED[0], y - LOW[1] - 0.6 - ball_time * SPEED[1],
                   z - LOW[2] - 0.4 - ball_time * SPEED[2]};
    double first = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]) - 0.2;
    double q[3] = {x - LOW[0] - 0.85, y - LOW[1] - 0.2, z - LOW[2] - 0.15};
    double second = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]) - 0.1;
    return ball_time >= second_at ? fmin(first, second) : first;
}

static double speed_x(double x, double y, double z)
{
    (void)x, (void)y, (void)z;
    return SPEED[0];
}
static double speed_y(double x, double y, double z)
{
    (void)x, (void)y, (void)z;
    return SPEED[1];
}
static double speed_z(double x, double y, double z)
{
    (void)x, (void)y, (void)z;
    return SPEED[2];
}

/* The frame at a time; `shift` cells are cut off the grid's low side along x. */
static und_frame ball_frame(int number, double time, int shift)
{
    und_frame f = und_frame_empty(number, time,
                                  (und_grid){.n = {CELLS - shift, CELLS, CELLS},
                                             .dx = DX,
                                             .origin = {LOW[0] + shift * DX, LOW[1], LOW[2]}});
    ball_time = time;
    add_samples(&f, "distance", "m", -1, ball);
    add_samples(&f, "velocity_x", "m/s", 0, speed_x);
    add_samples(&f, "velocity_y", "m/s", 1, speed_y);
    add_samples(&f, "velocity_z", "m/s", 2, speed_z);
    return f;
}

static und_texture *begin(double spacing, int threads)
{
    und_error err = {0};
    und_texture_def def = und_texture_def_default();
    def.spacing = spacing;
    def.threads = threads;
    und_frame f = ball_frame(1, 0, 0);
    und_texture *t = und_texture_create(&def, &f, &err);
    assert_non_null(t);
    und_frame_clear(&f);
    return t;
}

static void advance(und_texture *t, int number, double time, int shift)
{
    und_error err = {0};
    und_frame f = ball_frame(number, time, shift);
    assert_int_equal(und_texture_advance(t, &f, &err), UND_OK);
    und_frame_clear(&f);
}

static und_frame frame_of(const und_texture *t)
{
    und_error err = {0};
    und_frame own = und_frame_empty(1, 0, (und_grid){.n = {1, 1, 1}, .dx = 1});
    assert_int_equal(und_texture_frame(t, &own, &err), UND_OK);
    return own;
}

/* To be changed. */
static und_item *item_of(und_frame *f, const char *name)
{
    und_item *item = f->items;
    while (strcmp(item->name, name) != 0)
        item++;
    return item;
}

static double number(uint64_t stream, uint64_t index)
{
    return und_random(5, stream, index);
}

/* Against looking at all points, also where many are at the same place. */
static void test_nearest_is_nearest(void **state)
{
    (void)state;
    enum { POINTS = 3000, PLACES = 60 };
    static float points[3 * POINTS];
    und_error err = {0};
    for (int i = 0; i < 3 * POINTS; i++)
        points[i] = i % 3 == 2 ? (float)floor(4 * number(1, (uint64_t)i)) : (float)number(1, (uint64_t)i);
    for (int i = 0; i < 300; i++)
        memcpy(points + 3 * i, points, 3 * sizeof *points);
    und_nearest tree;
    assert_int_equal(und_nearest_build(&tree, points, POINTS, 2, &err), UND_OK);
    for (int k = 0; k < PLACES; k++) {
        float at[3] = {(float)number(2, (uint64_t)(3 * k)), (float)number(2, (uint64_t)(3 * k + 1)),
                       4 * (float)number(2, (uint64_t)(3 * k + 2))};
        und_neighbour list[UND_NEAREST_MOST];
        int most = k % 2 ? 64 : 7;
        assert_int_equal(und_nearest_find(&tree, at, most, INFINITY, list), most);
        int nearer = 0, same = 0;
        for (int i = 0; i < POINTS; i++) {
            float d[3] = {points[3 * i] - at[0], points[3 * i + 1] - at[1], points[3 * i + 2] - at[2]};
            float square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            nearer += square < list[0].squared;
            same += square == list[0].squared;
        }
        for (int i = 1; i < most; i++)
            assert_true(list[i].squared <= list[0].squared);
        assert_true(nearer < most && nearer + same >= most);
    }
    und_neighbour none[UND_NEAREST_MOST];
    assert_int_equal(und_nearest_find(&tree, (float[3]){9, 9, 9}, 64, 1, none), 0);
    und_nearest_free(&tree);
}

/* What particles remember becomes a linear function of where they are. */
static void make_linear(und_frame *f)
{
    const float *p = und_frame_find(f, "texture/position")->data;
    float *rest = und_frame_find(f, "texture/rest")->data;
    size_t count = und_frame_find(f, "texture/position")->dim[0];
    for (size_t i = 0; i < count; i++, p += 3, rest += 3) {
        rest[0] = 0.3f * p[0] - 2 * p[1] + 0.5f * p[2] + 1;
        rest[1] = p[0] + p[1] + p[2];
        rest[2] = -1.5f * p[2];
    }
}

static void test_lookups_are_linear(void **state)
{
    (void)state;
    und_error err = {0};
    und_texture *t = begin(0.5, 2);
    und_frame own = frame_of(t);
    make_linear(&own);
    und_texture_map *map = und_texture_map_create(&own, 2, &err);
    assert_non_null(map);
    assert_double_near(und_texture_map_side(map), 1, 1e-12);
    assert_null(und_texture_map_plate(map));
    float before[3] = {0};
    for (int k = 0; k <= 2000; k++) { /* round the ball, aslant */
        double turn = k * 1e-3 * M_PI;
        float at[3] = {(float)(LOW[0] + 0.3 + 0.2 * cos(turn)), (float)(LOW[1] + 0.6 + 0.16 * sin(turn)),
                       (float)(LOW[2] + 0.4 + 0.12 * sin(turn))};
        float rest[3];
        und_texture_map_look(map, at, 1, rest);
        double tolerance = 2e-3 * DX; /* of a gradient of 2: a thousandth of a cell */
        assert_double_near(rest[0], 0.3 * at[0] - 2 * at[1] + 0.5 * at[2] + 1, 2 * tolerance);
        assert_double_near(rest[1], (double)at[0] + at[1] + at[2], tolerance);
        assert_double_near(rest[2], -1.5 * at[2], tolerance);
        /* steps of 0.0006 m: no jump where one of the 64 takes the place of another */
        for (int a = 0; a < 3 && k > 0; a++)
            assert_double_near(rest[a], before[a], 2.5 * 0.2 * M_PI * 1e-3);
        memcpy(before, rest, sizeof before);
    }
    und_texture_map_destroy(map);
    und_frame_clear(&own);
    und_texture_destroy(t);
}

/* At first everything is where it is; then, carried, where it was. */
static void test_remembers(void **state)
{
    (void)state;
    und_error err = {0};
    und_texture *t = begin(0.5, 2);
    for (int k = 0; k <= 8; k++) {
        double time = 0.02 * k;
        if (k > 0)
            advance(t, 1 + k, time, k / 4); /* and the window moves with it */
        und_frame own = frame_of(t);
        const und_item *place = und_frame_find(&own, "texture/position"),
                       *rest = und_frame_find(&own, "texture/rest");
        assert_true(place->dim[0] > 700 && place->dim[0] < 1100);
        for (size_t i = 0; i < 3 * place->dim[0]; i++)
            assert_double_near(((float *)place->data)[i] - time * SPEED[i % 3], ((float *)rest->data)[i],
                               0.08 * DX); /* the ball of 4 cells is off its own values by 1/32 of one */
        und_texture_map *map = und_texture_map_create(&own, 2, &err);
        assert_non_null(map);
        und_texture_map_destroy(map);
        und_frame_clear(&own);
    }
    und_texture_destroy(t);
}

/* Liquid that appears far from all particles begins where it is then. */
static void test_new_liquid(void **state)
{
    (void)state;
    und_texture *t = begin(0.5, 2);
    second_at = 0.04;
    advance(t, 2, 0.02, 0);
    assert_int_equal(und_texture_counts(t).new_liquid, 0);
    advance(t, 3, 0.04, 0);
    und_texture_count told = und_texture_counts(t);
    second_at = INFINITY;
    assert_true(told.new_liquid > 150 && told.new_liquid < 300);
    und_frame own = frame_of(t);
    const float *place = und_frame_find(&own, "texture/position")->data,
                *rest = und_frame_find(&own, "texture/rest")->data;
    int found = 0;
    for (int i = 0; i < told.particles; i++) {
        double x = (double)place[3 * i] - LOW[0] - 0.85, y = (double)place[3 * i + 1] - LOW[1] - 0.2;
        if (x * x + y * y > 0.0121)
            continue;
        found++;
        for (int a = 0; a < 3; a++)
            assert_true(rest[3 * i + a] == place[3 * i + a]);
    }
    assert_int_equal(found, told.new_liquid);
    und_frame_clear(&own);
    /* gone again */
    advance(t, 4, 0.06, 0);
    assert_true(und_texture_counts(t).gone >= told.new_liquid);
    und_texture_destroy(t);
}

static uint64_t hash_with(int threads)
{
    und_texture *t = begin(0.4, threads);
    for (int k = 1; k <= 4; k++)
        advance(t, 1 + k, 0.03 * k, 0);
    und_frame own = frame_of(t);
    uint64_t hash = und_frame_hash(&own, 1);
    und_frame_clear(&own);
    und_texture_destroy(t);
    return hash;
}

static void test_same_bits(void **state)
{
    (void)state;
    uint64_t hash = hash_with(1);
    assert_int_equal(hash_with(2), hash);
    assert_int_equal(hash_with(7), hash);
}

static void expect_refused(und_frame *f, const char *text, und_status status)
{
    und_error err = {0};
    und_texture_def def = und_texture_def_default();
    assert_null(und_texture_create(&def, f, &err));
    assert_int_equal(err.status, status);
    assert_non_null(strstr(err.text, text));
    und_frame_clear(f);
}

static void test_frames_that_do_not_serve(void **state)
{
    (void)state;
    und_error err = {0};
    und_frame f = ball_frame(7, 0, 0);
    snprintf(item_of(&f, "velocity_x")->name, 8, "other");
    expect_refused(&f, "frame 7 holds no velocity: it was simulated with velocity = false", UND_INVALID);
    f = ball_frame(7, 0, 0);
    snprintf(item_of(&f, "distance")->name, 8, "other");
    expect_refused(&f, "frame 7 holds no distance", UND_INVALID);
    f = ball_frame(7, 0, 0);
    item_of(&f, "velocity_z")->dim[0]--;
    expect_refused(&f, "velocity_z", UND_FAILED);
    f = ball_frame(7, 0, 0);
    f.grid.dx = NAN;
    expect_refused(&f, "damaged", UND_FAILED);
    und_texture_def def = und_texture_def_default();
    def.spacing = NAN;
    f = ball_frame(7, 0, 0);
    assert_null(und_texture_create(&def, &f, &err));
    assert_non_null(strstr(err.text, "spacing"));
    und_frame_clear(&f);
    /* numbers that are none: the particles there stay where they are, or go */
    und_texture *t = begin(0.5, 2);
    f = ball_frame(2, 0.02, 0);
    float *u = und_frame_find(&f, "velocity_y")->data, *phi = und_frame_find(&f, "distance")->data;
    for (int i = 0; i < CELLS * CELLS * CELLS; i += 3) {
        u[i] = i % 2 ? NAN : INFINITY;
        phi[i] = NAN;
    }
    assert_int_equal(und_texture_advance(t, &f, &err), UND_OK);
    und_frame_clear(&f);
    f = frame_of(t);
    const und_item *place = und_frame_find(&f, "texture/position");
    for (size_t i = 0; i < und_item_count(place); i++)
        assert_true(isfinite(((const float *)place->data)[i]));
    und_frame_clear(&f);
    und_texture_destroy(t);
}

static void test_damaged_particles(void **state)
{
    (void)state;
    und_texture *t = begin(1, 1);
    for (int k = 0; k < 4; k++) {
        und_error err = {0};
        und_frame own = frame_of(t);
        assert_true(und_texture_in_frame(&own));
        if (k == 0)
            ((float *)und_frame_find(&own, "texture/position")->data)[4] = NAN;
        else if (k == 1)
            item_of(&own, "texture/rest")->dim[0]--;
        else if (k == 2)
            *(double *)und_frame_find(&own, "texture/side")->data = -1;
        else
            item_of(&own, "texture/rest")->type = UND_I32;
        assert_null(und_texture_map_create(&own, 1, &err));
        assert_int_equal(err.status, UND_FAILED);
        assert_non_null(strstr(err.text, "the texture particles are damaged"));
        und_frame_clear(&own);
    }
    und_texture_destroy(t);
}

/* The middle of the picture, its corners, and what is to the right and above. */
static void test_plate(void **state)
{
    (void)state;
    const und_plate plate = {.eye = {0, 1, 5},
                             .right = {1, 0, 0},
                             .up = {0, 1, 0},
                             .forward = {0, 0, -1},
                             .half = 0.5,
                             .aspect = 2};
    const struct {
        float place[3], uv[2];
    } known[] = {{{0, 1, 0}, {0.5f, 0.5f}},
                 {{5, 3.5f, 0}, {1, 1}},
                 {{-5, -1.5f, 0}, {0, 0}},
                 {{2.5f, 1, 0}, {0.75f, 0.5f}},
                 {{0, 2, 3}, {0.5f, 1}}};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        float uv[2];
        und_plate_project(&plate, known[k].place, uv);
        assert_double_near(uv[0], known[k].uv[0], 1e-6);
        assert_double_near(uv[1], known[k].uv[1], 1e-6);
    }
    float uv[2];
    und_plate_project(&plate, (float[3]){0, 0, 9}, uv); /* behind the eye */
    assert_true(isfinite(uv[0]) && isfinite(uv[1]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nearest_is_nearest), cmocka_unit_test(test_lookups_are_linear),
        cmocka_unit_test(test_remembers),          cmocka_unit_test(test_new_liquid),
        cmocka_unit_test(test_same_bits),          cmocka_unit_test(test_frames_that_do_not_serve),
        cmocka_unit_test(test_damaged_particles),  cmocka_unit_test(test_plate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
