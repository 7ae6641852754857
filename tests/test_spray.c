/* Spray against the known flights: parabolas, quadratic drag, wind; order, bits, capacity, restore. */
#include "tests/test.h"

#include "base/random.h"
#include "geom/value.h"
#include "spray/spray.h"

#include <float.h>

static const double G = 9.81;
static const float RADIUS = 0.005f;

static und_spray_def a_def(int most)
{
    return (und_spray_def){.on = true, .most = most, .radius = {0.004, 0.012}};
}

static und_spray *a_spray(const und_spray_def *def, int threads)
{
    und_error err = {0};
    und_spray *spray = und_spray_create(def, G, 7, threads, &err);
    assert_non_null(spray);
    return spray;
}

/* Everything is beside this domain: a flat floor of `height`. */
static und_spray_floor flat(double height)
{
    static const float none[1] = {0};
    return (und_spray_floor){
        .nx = 1, .nz = 1, .stride = 1, .dx = 1e-3, .origin = {1e3, 1e3}, .height = none, .outside = height};
}

/* k of v' = -g - k v |v| for a drop of RADIUS: 1/2 air Cd pi r^2 / (water 4/3 pi r^3). */
static double drag_of(double drag)
{
    double r = (double)RADIUS;
    return drag * 0.5 * 1.2 * 0.47 * M_PI * r * r / (1000 * 4.0 / 3.0 * M_PI * r * r * r);
}

static void throw_up(und_spray *spray, double speed)
{
    double place[3] = {0.3, 0, -0.2}, velocity[3] = {0.5, speed, 0.25};
    assert_true(und_spray_add(spray, place, velocity, RADIUS));
}

/* Without drag any dt gives the height v^2 / 2g at v / g, and the drop comes down after 2 v / g at the speed
 * it left with, v 2 v_x / g away.  Rounding grows with the steps. */
static void parabolas_are_exact(void **state)
{
    (void)state;
    const double speeds[] = {2, 2.5, 4, 6};
    const int steps[] = {1, 7, 1000}; /* until the top */
    for (int k = 0; k < 12; k++) {
        double v = speeds[k / 3], top = v / G, dt = top / steps[k % 3];
        double close = (steps[k % 3] + 4) * (double)FLT_EPSILON;
        und_spray_def def = a_def(4);
        und_spray *spray = a_spray(&def, 1);
        und_spray_floor floor = flat(0);
        throw_up(spray, v);
        for (int n = 0; n < steps[k % 3]; n++)
            und_spray_step(spray, n * dt, dt, &floor);
        assert_double_near(spray->place[1][0], v * v / (2 * G), close * v * v / (2 * G));
        assert_double_near(spray->speed[1][0], 0, close * v);
        /* Coming down takes a step that is no part of the flight: the landing lies within a step. */
        dt *= 0.96;
        for (int n = 0; n < 2 * steps[k % 3] + 2 && !spray->landed_count; n++)
            und_spray_step(spray, 0, dt, &floor);
        assert_int_equal(spray->landed_count, 1);
        assert_int_equal(spray->landed[0], 0);
        assert_int_equal(spray->landed_by[0], 0);
        assert_double_near(spray->age[0], 2 * top, 4 * close * top);
        assert_double_near(spray->place[1][0], 0, close * v);
        assert_double_near(spray->place[0][0], 0.3 + 0.5 * 2 * top, 4 * close);
        assert_double_near(spray->place[2][0], -0.2 + 0.25 * 2 * top, 4 * close);
        assert_double_near(spray->speed[1][0], -v, 4 * close * v);
        und_spray_destroy(spray);
    }
}

/* The highest place of a drop thrown straight up at v0, with drag, and the speed after `seconds`. */
static void fly_with_drag(double drag, double v0, double dt, double seconds, double *top, double *last)
{
    und_spray_def def = a_def(1);
    und_spray_floor floor = flat(-1e5);
    double place[3] = {0}, speed[3] = {0, v0, 0};
    def.drag = drag;
    und_spray *spray = a_spray(&def, 1);
    und_spray_add(spray, place, speed, RADIUS);
    *top = 0;
    for (double t = 0; t < seconds - 0.5 * dt; t += dt) {
        double y = spray->place[1][0], v = spray->speed[1][0];
        und_spray_step(spray, t, dt, &floor);
        /* The parabola through both ends has its top between the samples. */
        if (v > 0 && spray->speed[1][0] <= 0)
            *top = y + 0.5 * v * v * dt / (v - spray->speed[1][0]);
    }
    *last = spray->speed[1][0];
    und_spray_destroy(spray);
}

static void drag_follows_the_solution(void **state)
{
    (void)state;
    double k = drag_of(40), v0 = 6, high = log(1 + k * v0 * v0 / G) / (2 * k), error[3];
    double terminal = sqrt(G / k), top, last;
    for (int i = 0; i < 3; i++) {
        fly_with_drag(40, v0, 0.02 / (1 << i), 4, &top, &last);
        error[i] = fabs(top - high);
    }
    assert_true(error[0] < 0.01 * high);
    assert_true(error[1] < 0.3 * error[0] && error[2] < 0.3 * error[1]); /* second order */
    fly_with_drag(40, v0, 0.005, 5, &top, &last);
    assert_double_near(last, -terminal, 1e-3 * terminal);
    fly_with_drag(1, v0, 0.01, 20, &top, &last);
    assert_double_near(last, -sqrt(G / drag_of(1)), 1e-3 * sqrt(G / drag_of(1)));
    /* Falling from rest: v = terminal tanh(g t / terminal). */
    fly_with_drag(40, 0, 0.005, 0.2, &top, &last);
    assert_double_near(last, -terminal * tanh(G * 0.2 / terminal), 1e-3 * terminal);
}

static void any_step_is_stable(void **state)
{
    (void)state;
    const double steps[] = {0.1, 1, 10, 100};
    for (int i = 0; i < 4; i++) {
        double top, last;
        fly_with_drag(1e4, 50, steps[i], 50 * steps[i], &top, &last);
        assert_true(last <= 0 && last >= -G * steps[i]);
    }
}

static void wind_wins(const void *context, double t, double out[3])
{
    (void)context;
    out[0] = t >= 0 ? 3 : 1e30;
    out[1] = 0;
    out[2] = -4;
}

/* A light drop moves with the wind and falls at terminal speed; without drag the wind does nothing. */
static void wind_carries(void **state)
{
    (void)state;
    und_spray_floor floor = flat(-1e5);
    for (int dragged = 0; dragged < 2; dragged++) {
        und_spray_def def = a_def(1);
        def.drag = dragged ? 1000 : 0;
        def.wind = (und_vector){.fn = wind_wins};
        und_spray *spray = a_spray(&def, 1);
        double place[3] = {0}, speed[3] = {0};
        und_spray_add(spray, place, speed, RADIUS);
        for (int n = 0; n < 4000; n++)
            und_spray_step(spray, n * 1e-3, 1e-3, &floor);
        double terminal = sqrt(G / drag_of(1000));
        assert_double_near(spray->speed[0][0], dragged ? 3 : 0, 1e-3);
        assert_double_near(spray->speed[1][0], dragged ? -terminal : -G * 4, dragged ? 1e-3 : 1e-2);
        assert_double_near(spray->speed[2][0], dragged ? -4 : 0, 1e-3);
        und_spray_destroy(spray);
    }
}

enum { SIDE = 16, MANY = 20000 };

static und_spray_floor hills(float height[SIDE * SIDE])
{
    for (int i = 0; i < SIDE * SIDE; i++)
        height[i] = 0.2f * (float)und_random(5, 1, (uint64_t)i);
    return (und_spray_floor){.nx = SIDE,
                             .nz = SIDE,
                             .stride = SIDE,
                             .dx = 0.25,
                             .origin = {-1, -2},
                             .height = height,
                             .outside = -0.5};
}

static void throw_many(und_spray *spray, int count, uint64_t stream)
{
    for (int i = 0; i < count; i++) {
        double r[7];
        for (int k = 0; k < 7; k++)
            r[k] = und_random(11, stream + (uint64_t)k, (uint64_t)i);
        double place[3] = {5 * r[0] - 1.5, 0.5 * r[1] + 0.2, 5 * r[2] - 2.5};
        double speed[3] = {4 * r[3] - 2, 4 * r[4] - 1, 4 * r[5] - 2};
        assert_true(und_spray_add(spray, place, speed, (float)(0.001 + 0.01 * r[6])));
    }
}

/* Each drop lands on the cell it is over, at that cell's height, and no other has passed its floor. */
static void drops_land_on_their_cell(void **state)
{
    (void)state;
    float height[SIDE * SIDE];
    und_spray_floor floor = hills(height);
    und_spray_def def = a_def(MANY);
    und_spray *spray = a_spray(&def, 2);
    throw_many(spray, MANY, 20);
    und_spray_step(spray, 0, 0.3, &floor);
    assert_in_range(spray->landed_count, MANY / 20, MANY);
    int k = 0;
    for (int i = 0; i < spray->count; i++) {
        float x = spray->place[0][i], y = spray->place[1][i], z = spray->place[2][i];
        int cell = und_spray_cell(&floor, x, z);
        if (k < spray->landed_count && spray->landed[k] == i) {
            k++;
            assert_true(spray->speed[1][i] <= 0);
            assert_true(spray->age[i] < 0.3f);
            continue;
        }
        double h = x >= -1 && x < 3 && z >= -2 && z < 2
                       ? (double)height[(int)((z + 2) * 4) * SIDE + (int)((x + 1) * 4)]
                       : -0.5;
        assert_true(cell < 0 ? h == -0.5 : h == (double)height[cell]);
        assert_true(y >= h || spray->speed[1][i] > 0);
    }
    assert_int_equal(k, spray->landed_count);
    und_spray_destroy(spray);
}

/* Rising drops pass the water that rises with them, but not the ground. */
static void ground_stops_rising_drops(void **state)
{
    (void)state;
    float height[1] = {1}, ground[1] = {0.5f};
    und_spray_floor floor = {
        .nx = 1, .nz = 1, .stride = 1, .dx = 10, .origin = {-5, -5}, .height = height, .ground = ground};
    und_spray_def def = a_def(4);
    und_spray *spray = a_spray(&def, 1);
    double water[3] = {0, 0.7, 0}, rock[3] = {0, 0.2, 0}, speed[3] = {0, 3, 0};
    und_spray_add(spray, water, speed, RADIUS);
    und_spray_add(spray, rock, speed, RADIUS);
    und_spray_step(spray, 0, 0.01, &floor);
    assert_int_equal(spray->landed_count, 1);
    assert_int_equal(spray->landed[0], 1);
    und_spray_destroy(spray);
}

/* Everything with an id that 5 divides meets one of seven things. */
static void meet_fifths(void *context, const und_spray *spray, int first, int count, uint8_t *met)
{
    (void)context;
    for (int i = 0; i < count; i++)
        if (spray->id[first + i] % 5 == 0)
            met[i] = (uint8_t)(1 + spray->id[first + i] % 7);
}

static void removal_keeps_the_order(void **state)
{
    (void)state;
    und_spray_floor floor = flat(-1e5);
    und_spray_def def = a_def(MANY);
    und_spray *spray = a_spray(&def, 2);
    throw_many(spray, MANY, 30);
    float *radius = malloc(MANY * sizeof *radius);
    assert_non_null(radius);
    memcpy(radius, spray->radius, MANY * sizeof *radius);
    double before = und_spray_in_flight(spray), landed = 0;
    floor.meet = meet_fifths;
    und_spray_step(spray, 0, 0.001, &floor);
    assert_int_equal(spray->landed_count, MANY / 5);
    for (int k = 0; k < spray->landed_count; k++) {
        assert_int_equal(spray->landed[k], 5 * k);
        assert_int_equal(spray->landed_by[k], 1 + 5 * k % 7);
        landed += und_spray_volume(spray->radius[spray->landed[k]]);
    }
    und_spray_remove(spray);
    assert_int_equal(spray->landed_count, 0);
    assert_int_equal(spray->count, MANY / 5 * 4);
    for (int i = 0; i < spray->count; i++) {
        int was = i / 4 * 5 + 1 + i % 4;
        assert_int_equal(spray->id[i], was);
        assert_true(spray->radius[i] == radius[was]);
    }
    assert_double_near(und_spray_in_flight(spray) + landed, before, 1e-12 * before);
    und_spray_remove(spray); /* nothing left to remove */
    assert_int_equal(spray->count, MANY / 5 * 4);
    free(radius);
    und_spray_destroy(spray);
}

/* Twenty steps with drag, wind, landing and new drops. */
static void run(und_spray *spray, int from, int to)
{
    float height[SIDE * SIDE];
    und_spray_floor floor = hills(height);
    for (int n = from; n < to; n++) {
        throw_many(spray, 700, 100 + 10 * (uint64_t)n);
        und_spray_step(spray, n * 0.02, 0.02, &floor);
        und_spray_remove(spray);
    }
}

static uint64_t hash_of(und_spray *spray)
{
    und_error err = {0};
    und_frame state = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    assert_int_equal(und_spray_save(spray, &state, &err), UND_OK);
    uint64_t hash = und_frame_hash(&state, 1);
    und_frame_clear(&state);
    return hash;
}

static und_spray_def windy_def(void)
{
    und_spray_def def = a_def(MANY);
    def.drag = 2;
    def.wind = und_vector_constant(3, 0, 1);
    return def;
}

static void same_bits_at_any_thread_count(void **state)
{
    (void)state;
    const int threads[] = {1, 2, 7};
    uint64_t hash[3];
    double volume[3];
    for (int i = 0; i < 3; i++) {
        und_spray_def def = windy_def();
        und_spray *spray = a_spray(&def, threads[i]);
        run(spray, 0, 20);
        assert_in_range(spray->count, 2500, 13000);
        hash[i] = hash_of(spray);
        volume[i] = und_spray_in_flight(spray);
        und_spray_destroy(spray);
    }
    assert_true(hash[0] == hash[1] && hash[0] == hash[2]);
    assert_true(volume[0] == volume[1] && volume[0] == volume[2]);
}

static void restored_spray_goes_on_alike(void **state)
{
    (void)state;
    und_error err = {0};
    und_spray_def def = windy_def();
    und_spray *spray = a_spray(&def, 2), *other = a_spray(&def, 1);
    und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    run(spray, 0, 9);
    assert_int_equal(und_spray_save(spray, &saved, &err), UND_OK);
    assert_int_equal(und_spray_restore(other, &saved, &err), UND_OK);
    und_frame_clear(&saved);
    run(spray, 9, 20);
    run(other, 9, 20);
    assert_true(hash_of(spray) == hash_of(other));
    und_spray_destroy(spray);
    und_spray_destroy(other);
}

static void damaged_states_are_refused(void **state)
{
    (void)state;
    und_spray_def def = a_def(100), small = a_def(10);
    und_spray *spray = a_spray(&def, 1), *other = a_spray(&small, 1);
    throw_many(spray, 50, 1);
    for (int how = 0; how < 5; how++) {
        und_error err = {0};
        und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        assert_int_equal(und_spray_save(spray, &saved, &err), UND_OK);
        assert_int_equal(und_spray_restore(spray, &saved, &err), UND_OK);
        float bad[50];
        memcpy(bad, saved.items[3].data, sizeof bad);
        bad[17] = how == 0 ? NAN : INFINITY;
        if (how < 2)
            saved.items[3].data = bad;
        else if (how == 2)
            saved.items[4].dim[0] = 49;
        else if (how == 3)
            saved.count--;
        int status = und_spray_restore(how < 4 ? spray : other, &saved, &err);
        assert_int_equal(status, UND_FAILED);
        assert_non_null(strstr(err.text, "the checkpoint"));
        und_frame_clear(&saved);
    }
    und_spray_destroy(spray);
    und_spray_destroy(other);
}

static void full_air_takes_no_more(void **state)
{
    (void)state;
    und_spray_def def = a_def(3);
    und_spray *spray = a_spray(&def, 1);
    double place[3] = {0}, speed[3] = {0, 1, 0}, nowhere[3] = {0, NAN, 0}, fast[3] = {INFINITY, 0, 0};
    assert_false(und_spray_add(spray, nowhere, speed, RADIUS));
    assert_false(und_spray_add(spray, place, fast, RADIUS));
    assert_false(und_spray_add(spray, place, speed, NAN));
    assert_false(und_spray_add(spray, place, speed, 0));
    for (int i = 0; i < 3; i++)
        assert_true(und_spray_add(spray, place, speed, RADIUS));
    assert_false(und_spray_add(spray, place, speed, RADIUS));
    assert_int_equal(spray->count, 3);
    assert_double_near(und_spray_in_flight(spray), 3 * und_spray_volume(RADIUS), 1e-20);
    und_spray_destroy(spray);
    und_error err = {0};
    def.most = 0;
    assert_null(und_spray_create(&def, G, 0, 1, &err));
    assert_int_equal(err.status, UND_INVALID);
    def = (und_spray_def){.most = 3, .drag = NAN};
    assert_null(und_spray_create(&def, G, 0, 1, &err));
    assert_non_null(strstr(err.text, "drag"));
    def = (und_spray_def){.most = 3, .sheets = true, .sheet_tear = -1};
    assert_null(und_spray_create(&def, G, 0, 1, &err));
    assert_non_null(strstr(err.text, "sheet_tear"));
}

static void frames_hold_the_drops(void **state)
{
    (void)state;
    und_error err = {0};
    und_spray_def def = a_def(10);
    und_spray *spray = a_spray(&def, 1);
    throw_many(spray, 10, 3);
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    assert_int_equal(und_spray_frame(spray, &frame, &err), UND_OK);
    const und_item *position = und_frame_find(&frame, "spray/position"),
                   *velocity = und_frame_find(&frame, "spray/velocity"),
                   *radius = und_frame_find(&frame, "spray/radius"), *id = und_frame_find(&frame, "spray/id");
    assert_non_null(und_frame_find(&frame, "spray/age"));
    assert_true(position && velocity && radius && id);
    assert_true(position->rank == 2 && position->dim[0] == 10 && position->dim[1] == 3 && radius->rank == 1);
    for (int i = 0; i < 10; i++) {
        for (int a = 0; a < 3; a++) {
            assert_true(((float *)position->data)[3 * i + a] == spray->place[a][i]);
            assert_true(((float *)velocity->data)[3 * i + a] == spray->speed[a][i]);
        }
        assert_true(((float *)radius->data)[i] == spray->radius[i]);
        assert_int_equal(((int32_t *)id->data)[i], i);
    }
    und_frame_clear(&frame);
    und_spray_destroy(spray);
}

/* Drops that split at 0.8 a second become e^(0.8 t) times as many; none of their volume and next to nothing
 * of their momentum is lost. */
static void drops_split(void **state)
{
    (void)state;
    enum { START = 20000 };
    und_spray_floor floor = flat(-1e5);
    und_spray_def def = a_def(1 << 17);
    und_spray *spray = a_spray(&def, 2);
    spray->split = 0.8;
    throw_many(spray, START, 30);
    double before = und_spray_in_flight(spray), momentum[2] = {0};
    for (int i = 0; i < spray->count; i++)
        momentum[0] += und_spray_volume(spray->radius[i]) * (double)spray->speed[0][i];
    for (int k = 1; k <= 100; k++) {
        und_spray_step(spray, 0, 0.01, &floor);
        double expected = exp(0.8 * 0.01 * k);
        assert_double_near((double)spray->count / START, expected, 0.02 * expected);
        assert_double_near(und_spray_in_flight(spray) + spray->rounding, before, 1e-12 * before);
    }
    for (int i = 0; i < spray->count; i++)
        momentum[1] += und_spray_volume(spray->radius[i]) * (double)spray->speed[0][i];
    assert_double_near(momentum[1], momentum[0], 1e-5 * fabs(momentum[0]));
    /* The first to land takes along what rounding kept. */
    double rounding = spray->rounding;
    assert_true(rounding != 0 && fabs(rounding) < 1e-6 * before);
    assert_true(und_spray_give_back(spray, 0) == und_spray_volume(spray->radius[0]) + rounding);
    assert_true(spray->rounding == 0);
    und_spray_destroy(spray);
}

/* The same at any thread count and after a restore; where the air is full drops stay whole. */
static void splitting_has_the_same_bits(void **state)
{
    (void)state;
    und_error err = {0};
    und_frame saved = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    und_spray *all[3];
    for (int i = 0; i < 3; i++) {
        und_spray_def def = windy_def();
        def.most = 1 << 17;
        all[i] = a_spray(&def, 1 + 2 * i);
        all[i]->split = 3;
        if (i < 2)
            run(all[i], 0, 20);
    }
    assert_true(hash_of(all[0]) == hash_of(all[1]));
    assert_int_equal(und_spray_save(all[0], &saved, &err), UND_OK);
    assert_int_equal(und_spray_restore(all[2], &saved, &err), UND_OK);
    und_frame_clear(&saved);
    run(all[1], 20, 25);
    run(all[2], 20, 25);
    assert_true(hash_of(all[2]) == hash_of(all[1]));
    for (int i = 0; i < 3; i++)
        und_spray_destroy(all[i]);

    und_spray_def full = a_def(100);
    und_spray *spray = a_spray(&full, 1);
    und_spray_floor floor = flat(-1e5);
    spray->split = 1000;
    throw_many(spray, 100, 30);
    double before = und_spray_in_flight(spray);
    und_spray_step(spray, 0, 0.01, &floor);
    assert_int_equal(spray->count, 100);
    assert_true(und_spray_in_flight(spray) == before && spray->rounding == 0);
    und_spray_destroy(spray);
}

/* Cells that are not square: drops land in the one below them. */
static void cells_need_not_be_square(void **state)
{
    (void)state;
    float height[6] = {0.1f, 0.2f, 0.3f, 0.4f, 0.5f, 0.6f};
    und_spray_floor floor = {.nx = 2,
                             .nz = 3,
                             .stride = 2,
                             .dx = 0.5,
                             .dz = 0.1,
                             .origin = {1, 2},
                             .height = height,
                             .outside = -9};
    und_spray_def def = a_def(8);
    und_spray *spray = a_spray(&def, 1);
    double speed[3] = {0};
    for (int i = 0; i < 6; i++) {
        double place[3] = {1.25 + 0.5 * (i % 2), 0.7, 2.05 + 0.1 * (i / 2)};
        assert_true(und_spray_add(spray, place, speed, RADIUS));
        assert_int_equal(und_spray_cell(&floor, (float)place[0], (float)place[2]), i);
    }
    und_spray_step(spray, 0, 0.5, &floor);
    assert_int_equal(spray->landed_count, 6);
    for (int i = 0; i < 6; i++)
        assert_double_near(spray->place[1][i], height[i], 1e-6);
    und_spray_destroy(spray);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parabolas_are_exact),
        cmocka_unit_test(drag_follows_the_solution),
        cmocka_unit_test(any_step_is_stable),
        cmocka_unit_test(wind_carries),
        cmocka_unit_test(drops_land_on_their_cell),
        cmocka_unit_test(ground_stops_rising_drops),
        cmocka_unit_test(removal_keeps_the_order),
        cmocka_unit_test(same_bits_at_any_thread_count),
        cmocka_unit_test(restored_spray_goes_on_alike),
        cmocka_unit_test(damaged_states_are_refused),
        cmocka_unit_test(full_air_takes_no_more),
        cmocka_unit_test(frames_hold_the_drops),
        cmocka_unit_test(drops_split),
        cmocka_unit_test(splitting_has_the_same_bits),
        cmocka_unit_test(cells_need_not_be_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
