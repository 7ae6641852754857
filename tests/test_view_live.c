/* A scene that runs in its thread: orders, frames and failures. */
#include "tests/live_model.h"

#include <time.h>

static double wall(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The first frame is there and it stands; steps are as many as asked, and the orders between them are done
 * between them. */
static void orders_are_done_in_order(void **state)
{
    (void)state;
    und_live *live = open_live(write_scene("pond", pond));
    und_live_state now;
    und_live_state_now(live, &now);
    assert_false(now.playing);
    assert_double_near(now.time, 0, 0);
    assert_double_near(now.time_step, dt, 1e-15);
    assert_true(now.tools >> UND_TOOL_STIR & 1 && now.tools >> UND_TOOL_DIG & 1);
    assert_true(now.has_damping && now.has_viscosity && now.has_rain && now.has_balls);
    const und_frame *frame = und_live_take(live);
    assert_non_null(frame);
    assert_double_near(frame->time, 0, 0);
    assert_null(und_live_take(live));

    und_live_step(live, 7);
    now = settled(live);
    assert_double_near(now.time, 7 * dt, 1e-12);
    assert_false(now.playing);
    frame = und_live_take(live); /* the newest, not one of those before it */
    assert_non_null(frame);
    assert_double_near(frame->time, 7 * dt, 1e-12);

    und_live_step(live, 3);
    und_live_time_step(live, 0.1);
    und_live_step(live, 2);
    und_live_tune(live, &(und_tuning){.gravity = 4, .damping = NAN, .viscosity = NAN, .rain = NAN});
    und_live_time_step(live, 0.01);
    und_live_step(live, 1);
    now = settled(live);
    assert_double_near(now.time, 10 * dt + 0.2 + 0.01, 1e-12);
    assert_double_near(now.time_step, 0.01, 0);
    assert_double_near(now.tuning.gravity, 4, 0);
    for (int i = 0; i < 1000; i++) /* more than can wait */
        und_live_step(live, 1);
    now = settled(live);
    assert_double_near(now.time, 10 * dt + 0.2 + 0.01 + 10, 1e-9);
    und_live_destroy(live);
}

/* Held through steps it acts in each; a click between two steps acts in one; what it added is in the ledger
 * of the newest frame. */
static void hands_act_in_steps(void **state)
{
    (void)state;
    und_live *live = open_live(write_scene("pond", pond));
    und_mouse_tool hand = a_hand(UND_TOOL_POUR, 0.6), none = {.tool = UND_TOOL_NONE};
    und_live_hand(live, &hand);
    und_live_step(live, 10);
    und_live_hand(live, &none);
    und_live_step(live, 10);
    assert_double_near(settled(live).ledger.sources, 0.6 * 10 * dt, 1e-12);
    und_live_hand(live, &hand);
    und_live_hand(live, &none);
    und_live_step(live, 5);
    assert_double_near(settled(live).ledger.sources, 0.6 * 11 * dt, 1e-12);
    hand.place[0] = 1;
    und_live_hand(live, &hand);
    hand.place[0] = 3; /* drawn across: along the whole way */
    und_live_hand(live, &hand);
    hand.tool = UND_TOOL_RAISE;
    hand.strength = 6;
    hand.place[0] = 1;
    und_live_hand(live, &hand);
    hand.place[0] = 3;
    und_live_hand(live, &hand);
    und_live_step(live, 1);
    und_live_state now = settled(live);
    assert_double_near(now.ledger.measured, und_ledger_expected(&now.ledger), 1e-12 * now.ledger.start);
    size_t count;
    const float *ground = field(und_live_take(live), "ground", &count);
    for (int x = 10; x < 30; x++)
        assert_double_near((double)ground[20 * 40 + x], -0.5 + 0.1, 0.01);
    assert_double_near((double)ground[20 * 40 + 1], -0.5, 0);
    und_live_throw(live, &(und_ball){.place = {2, 1, 2}, .radius = 0.2, .density = 500});
    now = settled(live);
    assert_int_equal(now.balls_left, 7);
    assert_int_equal(now.notes, 0);
    und_live_destroy(live);
}

/* Real time and no faster, and the window gets frames meanwhile. */
static void it_plays_by_the_clock(void **state)
{
    (void)state;
    und_live *live = open_live(write_scene("pond", pond));
    double start = wall();
    int frames = 0;
    und_live_state now = {0};
    und_live_play(live, true);
    while (frames < 6 || now.time < 0.3) {
        frames += und_live_take(live) != NULL;
        und_live_state_now(live, &now);
    }
    double passed = wall() - start;
    assert_true(now.playing);
    assert_true(now.time >= 0.3 && now.time <= passed + 2 * dt);
    assert_true(frames >= 6 && frames <= (int)(passed / dt) + 2);
    assert_true(now.steps_a_second > 0 && now.steps_a_second < 90);
    und_live_speed(live, 0.25);
    und_live_settle(live);
    start = wall(); /* before the look at it, and read again after the other: no time is left out */
    und_live_state_now(live, &now);
    double before = now.time;
    while (now.time < before + 4 * dt)
        und_live_state_now(live, &now);
    assert_true(now.time - before <= 0.25 * (wall() - start) + 2 * dt);
    und_live_speed(live, 0);
    before = now.time;
    while (now.time < before + 5) /* as fast as it can */
        und_live_state_now(live, &now);
    und_live_play(live, false);
    before = settled(live).time;
    assert_false(settled(live).playing);
    assert_double_near(settled(live).time, before, 0);
    und_live_destroy(live);
}

/* Each step of it takes long. */
static und_live *open_slow(void)
{
    return open_live(write_scene("slow", "scene { fps = 30 }\n"
                                         "local function slow()\n"
                                         "  local s = 0 for i = 1, 300000 do s = s + i % 7 end return 0 * s\n"
                                         "end\n"
                                         "local springs = {}\n"
                                         "for i = 1, 12 do springs[i] = { center = {2, 2}, radius = 0.5, "
                                         "rate = slow } end\n"
                                         "liquid.waves { size = {4, 4}, cells = 16, springs = springs }\n"));
}

/* Asking for frames and for the state goes on while a step is made. */
static void taking_never_waits_for_a_step(void **state)
{
    (void)state;
    und_live *live = open_slow();
    und_live_state now;
    int asked = 0;
    while (und_live_take(live))
        ;
    /* Who waited could ask twice while two steps are made. */
    for (int round = 1; round <= 200 && asked <= 10; round++) {
        asked = 0;
        und_live_step(live, 2);
        do {
            asked += und_live_take(live) == NULL;
            und_live_state_now(live, &now);
            nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
        } while (now.time < (2 * round - 0.1) / 30);
        assert_double_near(now.time, 2.0 * round / 30, 1e-12);
    }
    assert_true(asked > 10);
    und_live_destroy(live);
}

/* Any number of orders can be posted meanwhile, and all count. */
static void posting_never_waits_for_a_step(void **state)
{
    (void)state;
    und_live *live = open_slow();
    und_live_state now = {0};
    bool at_once; /* all was posted before the steps were made, in one of some rounds */
    int round = 0;
    do {
        und_live_step(live, 2);
        for (int i = 1; i <= 300; i++)
            und_live_speed(live, i);
        und_live_state_now(live, &now);
        at_once = now.time < 2.0 * ++round / 30 - 1e-9;
        settled(live);
    } while (!at_once && round < 200);
    assert_true(at_once);
    und_live_time_step(live, 0.3);
    und_tuning tuning = {.gravity = 4, .damping = NAN, .viscosity = NAN, .rain = NAN};
    und_live_tune(live, &tuning);
    tuning = (und_tuning){.gravity = NAN, .damping = 0.5, .viscosity = NAN, .rain = 3};
    und_live_tune(live, &tuning);
    tuning = (und_tuning){.gravity = NAN, .damping = NAN, .viscosity = 0.01, .rain = NAN};
    und_live_tune(live, &tuning);
    und_live_time_step(live, NAN);
    now = settled(live);
    assert_double_near(now.time, 2.0 * round / 30, 1e-12);
    assert_double_near(now.speed, 300, 0);
    assert_double_near(now.time_step, 0.3, 1e-15);
    assert_double_near(now.tuning.gravity, 4, 0);
    assert_double_near(now.tuning.damping, 0.5, 0);
    assert_double_near(now.tuning.viscosity, 0.01, 0);
    assert_double_near(now.tuning.rain, 3, 0);
    und_live_destroy(live);
}

/* Pause and reset are done after the step under way, however many were still to do; those before a moment
 * that is to be saved are done. */
static void pausing_cuts_steps(void **state)
{
    (void)state;
    und_live *live = open_slow();
    und_live_state now;
    enum { MANY = 100000 }; /* which would take hours */
    const double step = 1.0 / 30;
    for (int i = 0; i < 1000; i++)
        und_live_step(live, 1);
    und_live_time_step(live, step);
    und_live_step(live, MANY);
    do
        und_live_state_now(live, &now);
    while (now.time < 0.5 * step);
    und_live_play(live, false);
    now = settled(live);
    assert_false(now.playing);
    assert_true(now.time < 900 * step);
    und_live_step(live, 1); /* what is asked for afterwards is done */
    assert_double_near(settled(live).time, now.time + step, 1e-12);
    und_live_step(live, MANY);
    und_live_reset(live);
    und_live_step(live, 2);
    now = settled(live);
    assert_double_near(now.time, 2 * step, 1e-12);
    char saved[256];
    snprintf(saved, sizeof saved, "%s/slow-moment.lua", folder.path);
    und_live_step(live, 2);
    und_live_save_scene(live, saved);
    und_live_step(live, MANY);
    und_live_play(live, false);
    now = settled(live);
    assert_true(now.time > 3.5 * step && now.time < 900 * step);
    und_live_destroy(live);
}

/* As it was at first, whatever was done. */
static void reset_begins_anew(void **state)
{
    (void)state;
    und_live *live = open_live(write_scene("pond", pond));
    size_t count, again;
    const float *first = field(und_live_take(live), "surface", &count);
    float *kept = malloc(count * sizeof *kept);
    assert_non_null(kept);
    memcpy(kept, first, count * sizeof *kept);
    und_mouse_tool hand = a_hand(UND_TOOL_DIG, 1);
    und_live_hand(live, &hand);
    und_live_tune(live, &(und_tuning){.gravity = 3, .damping = 2, .viscosity = 1, .rain = 5});
    und_live_throw(live, &(und_ball){.place = {2, 1, 2}, .radius = 0.2, .density = 500});
    und_live_time_step(live, 0.05);
    und_live_step(live, 10);
    und_live_reset(live);
    und_live_state now = settled(live);
    assert_double_near(now.time, 0, 0);
    assert_double_near(now.time_step, dt, 1e-15);
    assert_double_near(now.tuning.gravity, 9.81, 0);
    assert_double_near(now.tuning.rain, 0, 0);
    assert_int_equal(now.balls_left, 8);
    const und_frame *frame = und_live_take(live);
    assert_non_null(frame);
    assert_memory_equal(field(frame, "surface", &again), kept, count * sizeof *kept);
    const float *ground = field(frame, "ground", &again);
    for (size_t i = 0; i < again; i++)
        assert_double_near((double)ground[i], -0.5, 0);
    und_live_step(live, 5); /* the hand is gone */
    assert_double_near(settled(live).ledger.measured, 8, 1e-6);
    free(kept);
    und_live_destroy(live);
}

/* A scene that fails on the way says where and why; it can be begun anew.  One that does not load is an
 * error. */
static void failures_are_told(void **state)
{
    (void)state;
    und_error err = {0};
    assert_null(
        und_live_create(write_scene("wrong", "liquid.waves { size = {4, 4}, cellz = 4 }"), NULL, 0, 1, &err));
    assert_int_equal(err.status, UND_INVALID);
    assert_non_null(strstr(err.text, "cellz"));
    assert_null(und_live_create("nowhere.lua", NULL, 0, 1, &err));
    assert_null(und_live_create(
        write_scene("falls", "liquid.waves { size = {4, 4}, cells = 8, ground = function(x) return x < 1 and "
                             "1e9 or 0 end }"),
        NULL, 0, 1, &err));

    und_live *live = open_live(write_scene(
        "boom", "scene { fps = 30 }\n"
                "liquid.waves { size = {4, 4}, cells = 16, springs = { { center = {2, 2}, radius = 0.5,\n"
                "  rate = function(x, z, t) if t > 0.15 then error('boom') end return 0.1 end } } }\n"));
    und_live_step(live, 20);
    und_live_state now = settled(live);
    assert_true(now.failed);
    assert_false(now.playing);
    assert_int_equal(now.notes, 1);
    assert_non_null(strstr(now.note, "boom.lua:3"));
    und_live_play(live, true);
    und_live_step(live, 3);
    und_live_throw(live, &(und_ball){.place = {2, 1, 2}, .radius = 0.2, .density = 500});
    assert_false(settled(live).playing);
    und_live_reset(live);
    und_live_step(live, 3);
    now = settled(live);
    assert_false(now.failed);
    assert_double_near(now.time, 0.1, 1e-12);
    und_live_step(live, 20);
    assert_true(settled(live).failed);
    und_live_destroy(live);
}

/* A ball that cannot be is another thing than none that is left. */
static void balls_that_are_not_thrown(void **state)
{
    (void)state;
    und_live *live = open_live(write_scene("pond", pond));
    und_ball ball = {.place = {2, 1, 2}, .radius = 2e4, .density = 500};
    und_live_throw(live, &ball);
    und_live_state now = settled(live);
    assert_int_equal(now.balls_left, 8);
    assert_non_null(strstr(now.note, "radius"));
    ball.radius = 0.2;
    ball.place[0] = 2e6;
    und_live_throw(live, &ball);
    assert_non_null(strstr(settled(live).note, "too far away"));
    ball.place[0] = 2;
    ball.density = NAN;
    und_live_throw(live, &ball);
    assert_non_null(strstr(settled(live).note, "density"));
    ball.density = 500;
    for (int i = 0; i < 8; i++)
        und_live_throw(live, &ball);
    now = settled(live);
    assert_int_equal(now.balls_left, 0);
    assert_int_equal(now.notes, 3);
    und_live_throw(live, &ball);
    assert_string_equal(settled(live).note, "no ball is left");
    und_live_destroy(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_done_in_order),
        cmocka_unit_test(hands_act_in_steps),
        cmocka_unit_test(it_plays_by_the_clock),
        cmocka_unit_test(taking_never_waits_for_a_step),
        cmocka_unit_test(posting_never_waits_for_a_step),
        cmocka_unit_test(pausing_cuts_steps),
        cmocka_unit_test(reset_begins_anew),
        cmocka_unit_test(failures_are_told),
        cmocka_unit_test(balls_that_are_not_thrown),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
