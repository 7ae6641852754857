/* Hands on water over a ground: what they add, move and turn, with both models. */
#include "tests/state_hash.h"

#include "liquid/columns.h"
#include "liquid/waves.h"

enum { WAVES, COLUMNS, MODELS };

static und_liquid *make(int model, const und_height_field_def *height_field)
{
    und_error err = {0};
    und_waves_def waves = und_waves_def_default();
    und_columns_def columns = und_columns_def_default();
    waves.height_field = columns.height_field = *height_field;
    columns.smoothing = 0;
    und_liquid *made = NULL;
    if (model == WAVES) {
        und_waves *w = und_waves_create(&waves, &err);
        made = w ? und_waves_liquid(w) : NULL;
    } else {
        und_columns *c = und_columns_create(&columns, &err);
        made = c ? und_columns_liquid(c) : NULL;
    }
    if (!made)
        fail_msg("%s", err.text);
    return made;
}

static und_height_field_def a_pond(int n, double dx, double depth)
{
    und_height_field_def height_field = und_height_field_def_default();
    height_field.nx = height_field.nz = n;
    height_field.dx = dx;
    height_field.ground = (und_value){.number = -depth};
    height_field.threads = 2;
    return height_field;
}

static void step(und_liquid *l, double dt)
{
    while (!l->class->step(l, dt))
        ;
}

static void destroy(und_liquid *l)
{
    l->class->destroy(l);
}

/* Touches and steps; the hand is held. */
static void hold(und_liquid *l, und_mouse_tool hand, int steps, double dt)
{
    memcpy(hand.from, hand.place, sizeof hand.from);
    hand.held = 0;
    for (int i = 0; i < steps; i++) {
        l->class->touch(l, &hand, dt);
        step(l, dt);
        hand.held += dt;
    }
}

static void run(und_liquid *l, int steps, double dt)
{
    for (int i = 0; i < steps; i++)
        step(l, dt);
}

/* A field of a frame, as numbers to be freed. */
static float *field_of(und_liquid *l, const char *name)
{
    und_frame frame = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
    und_error err;
    assert_int_equal(l->class->frame(l, &frame, &err), UND_OK);
    const und_item *item = und_frame_find(&frame, name);
    assert_non_null(item);
    float *copy = malloc(und_item_bytes(item));
    assert_non_null(copy);
    memcpy(copy, item->data, und_item_bytes(item));
    und_frame_clear(&frame);
    return copy;
}

static double level_at(und_liquid *l, int nx, int x, int z)
{
    float *surface = field_of(l, "surface");
    double level = (double)surface[z * nx + x];
    free(surface);
    return level;
}

static void ledger_closes(und_liquid *l)
{
    und_ledger ledger = l->class->ledger(l);
    assert_double_near(ledger.measured, und_ledger_expected(&ledger), 1e-12 * ledger.start);
    assert_double_near(ledger.correction, 0, 1e-12 * ledger.start);
}

static const und_tuning unchanged = {NAN, NAN, NAN, NAN, 0};

/* 0.3 m3/s for half a second, along a line; then a third of it out again; and no more than there is. */
static void pouring_and_draining_are_in_the_ledger(void **state)
{
    (void)state;
    for (int model = 0; model < MODELS; model++) {
        und_height_field_def height_field = a_pond(48, 0.1, 0.5);
        und_liquid *l = make(model, &height_field);
        und_mouse_tool hand = {
            .tool = UND_TOOL_POUR, .radius = 0.4, .strength = 0.3, .from = {1, 0, 1}, .place = {1, 0, 1}};
        for (int i = 0; i < 30; i++) {
            memcpy(hand.from, hand.place, sizeof hand.from);
            hand.place[0] += 0.08;
            l->class->touch(l, &hand, 1.0 / 60);
            step(l, 1.0 / 60);
        }
        und_ledger ledger = l->class->ledger(l);
        assert_double_near(ledger.sources, 0.15, 1e-13);
        ledger_closes(l);
        hand =
            (und_mouse_tool){.tool = UND_TOOL_DRAIN, .radius = 0.6, .strength = 0.1, .place = {2.4, 0, 2.4}};
        hold(l, hand, 30, 1.0 / 60);
        assert_double_near(l->class->ledger(l).drains, 0.05, 1e-13);
        ledger_closes(l);
        hand.strength = 1e4;
        hand.radius = 5;
        hold(l, hand, 60, 1.0 / 60);
        ledger = l->class->ledger(l);
        assert_true(ledger.measured >= 0 && ledger.measured < 0.01 * ledger.start);
        assert_true(ledger.drains <= ledger.start + 0.15 + 1e-9);
        ledger_closes(l);
        destroy(l);
    }
}

/* The ground rises by strength times time in the middle, the water stays as deep as it was on it, and flows
 * off afterwards; what was raised can be dug again. */
static void raising_and_digging_keep_the_water(void **state)
{
    (void)state;
    enum { N = 48 };
    for (int model = 0; model < MODELS; model++) {
        und_height_field_def height_field = a_pond(N, 0.1, 0.5);
        height_field.damping = 1;
        und_liquid *l = make(model, &height_field);
        /* The middle of a cell, so that the bump is whole there. */
        und_mouse_tool hand = {
            .tool = UND_TOOL_RAISE, .radius = 0.6, .strength = 3, .place = {2.45, 0, 2.45}};
        memcpy(hand.from, hand.place, sizeof hand.from);
        l->class->touch(l, &hand, 0.1);
        float *ground = field_of(l, "ground"), *surface = field_of(l, "surface");
        assert_double_near((double)ground[24 * N + 24], -0.5 + 0.3, 1e-6);
        assert_double_near((double)ground[24 * N + 27], -0.5 + 0.3 * 0.5, 1e-6); /* half-way to the rim */
        assert_double_near((double)ground[24 * N + 31], -0.5, 0);
        for (int i = 0; i < N * N; i++)
            assert_double_near((double)(surface[i] - ground[i]), 0.5, 1e-6);
        assert_double_near(l->class->ledger(l).measured, l->class->ledger(l).start, 1e-13 * 0.5 * 23.04);
        free(ground);
        free(surface);
        hand.tool = UND_TOOL_NONE;
        l->class->touch(l, &hand, 0.1);
        run(l, 300, 1.0 / 60);
        assert_true(fabs(level_at(l, N, 24, 24) - level_at(l, N, 5, 5)) < 0.03); /* level again */
        ledger_closes(l);
        hand.tool = UND_TOOL_DIG;
        l->class->touch(l, &hand, 0.1);
        ground = field_of(l, "ground");
        assert_double_near((double)ground[24 * N + 24], -0.5, 1e-6);
        free(ground);
        hand.strength = 10;
        hold(l, hand, 120, 1.0 / 60); /* a pit into which all runs */
        ledger_closes(l);
        assert_double_near(l->class->ledger(l).sources + l->class->ledger(l).drains, 0, 0);
        destroy(l);
    }
}

/* When the surface is highest at a cell, s, between steps by a parabola. */
typedef struct crest {
    double last, before, highest, time;
} crest;

static void watch(crest *c, double level, double time, double dt)
{
    if (c->last > c->highest && c->last >= c->before && c->last >= level) {
        double bend = c->before - 2 * c->last + level;
        c->highest = c->last;
        c->time = time - dt + (bend < 0 ? 0.5 * dt * (c->before - level) / bend : 0);
    }
    c->before = c->last;
    c->last = level;
}

/* One beat of a hand makes a ring, which runs at sqrt(g depth). */
static void a_stirred_ring_runs_at_the_speed_of_waves(void **state)
{
    (void)state;
    enum { N = 180, NEAR = 30, FAR = 70 };
    const double dx = 0.05, depth = 0.4, dt = 1.0 / 120;
    for (int model = 0; model < MODELS; model++) {
        und_height_field_def height_field = a_pond(N, dx, depth);
        und_liquid *l = make(model, &height_field);
        double middle = 90.5 * dx;
        und_mouse_tool hand = {.tool = UND_TOOL_STIR,
                               .radius = 0.5,
                               .strength = 0.02,
                               .period = 0.6,
                               .place = {middle, 0, middle}};
        memcpy(hand.from, hand.place, sizeof hand.from);
        crest at[3] = {{0}};
        for (int i = 0; i < 280; i++) {
            if (i == 36) /* half a beat: down, then let go */
                hand.tool = UND_TOOL_NONE;
            l->class->touch(l, &hand, dt);
            step(l, dt);
            hand.held += dt;
            float *surface = field_of(l, "surface");
            watch(&at[0], (double)surface[90 * N + 90 + NEAR], (i + 1) * dt, dt);
            watch(&at[1], (double)surface[90 * N + 90 + FAR], (i + 1) * dt, dt);
            watch(&at[2], (double)surface[(90 + FAR) * N + 90], (i + 1) * dt, dt);
            free(surface);
        }
        double speed = (FAR - NEAR) * dx / (at[1].time - at[0].time);
        assert_double_near(speed, sqrt(9.81 * depth), 0.03 * sqrt(9.81 * depth));
        assert_double_near(at[2].time, at[1].time, 0.01); /* round */
        assert_true(at[1].highest > 1e-4 && at[1].highest < at[0].highest);
        ledger_closes(l);
        assert_double_near(l->class->ledger(l).sources, 0, 0); /* pressure adds no water */
        destroy(l);
    }
}

static double tilted(const void *context, double x, double y, double z, double t)
{
    (void)y;
    (void)z;
    (void)t;
    return 0.01 * cos(M_PI * x / *(const double *)context);
}

/* The highest at the end of a pond that swings, within a time. */
static double swing(und_liquid *l, double seconds, double dt)
{
    double most = 0;
    for (int i = 0; i < (int)lround(seconds / dt); i++) {
        step(l, dt);
        most = fmax(most, fabs(level_at(l, 64, 0, 1)));
    }
    return most;
}

/* h'' + damping h' + w^2 h = 0: with the damping turned on, swings fall by exp(-damping t / 2), and with a
 * quarter of the gravity they take twice as long. */
static void damping_and_gravity_turn_while_it_runs(void **state)
{
    (void)state;
    double side = 6.4;
    for (int model = 0; model < MODELS; model++) {
        und_height_field_def height_field = a_pond(64, 0.1, 0.5);
        height_field.nz = 4;
        height_field.surface = (und_value){.fn = tilted, .context = &side};
        und_liquid *l = make(model, &height_field);
        double period = 2 * side / sqrt(9.81 * 0.5), dt = period / 400;
        double free_swing = swing(l, period, dt);
        assert_double_near(swing(l, 2 * period, dt), free_swing, 0.02 * free_swing); /* nothing damps yet */
        und_tuning tuning = unchanged, now;
        tuning.damping = 2 * log(2) / (3 * period); /* half of it after three periods */
        l->class->tune(l, &tuning);
        l->class->tuning(l, &now);
        assert_double_near(now.damping, tuning.damping, 0);
        double first = swing(l, period, dt);
        swing(l, 2 * period, dt);
        double later = swing(l, period, dt);
        assert_double_near(later / first, 0.5, 0.01);
        tuning.damping = 0;
        tuning.gravity = 9.81 / 4;
        l->class->tune(l, &tuning);
        double before = level_at(l, 64, 0, 1), crossed[2] = {0};
        int crossings = 0;
        for (int i = 0; i < 1200 && crossings < 2; i++) {
            step(l, dt);
            double level = level_at(l, 64, 0, 1);
            if (before * level < 0)
                crossed[crossings++] = i - level / (level - before);
            before = level;
        }
        assert_int_equal(crossings, 2);
        assert_double_near((crossed[1] - crossed[0]) * dt, period, 0.01 * period); /* half of twice as long */
        destroy(l);
    }
}

/* Nobody did anything: the same bits, also where a hand hovers and sliders are at what they are. */
static void untouched_is_untouched(void **state)
{
    (void)state;
    double side = 4.8;
    for (int model = 0; model < MODELS; model++) {
        und_height_field_def height_field = a_pond(48, 0.1, 0.5);
        height_field.surface = (und_value){.fn = tilted, .context = &side};
        und_liquid *a = make(model, &height_field), *b = make(model, &height_field);
        und_tuning now;
        b->class->tuning(b, &now);
        assert_double_near(now.gravity, 9.81, 0);
        assert_int_equal(isnan(now.viscosity), model == COLUMNS);
        b->class->tune(b, &now);
        b->class->tune(b, &unchanged);
        und_mouse_tool wrong[] = {{.tool = UND_TOOL_NONE},
                                  {.tool = UND_TOOL_POUR, .radius = NAN, .strength = 1},
                                  {.tool = UND_TOOL_STIR, .radius = 1, .strength = INFINITY, .period = 1},
                                  {.tool = UND_TOOL_RAISE, .radius = 0, .strength = 1},
                                  {.tool = UND_TOOL_DIG, .radius = 1, .strength = 1, .place = {NAN, 0, 0}},
                                  {.tool = UND_TOOL_SOLID, .radius = 1}};
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            b->class->touch(b, &wrong[i], 1.0 / 60);
            step(a, 1.0 / 60);
            step(b, 1.0 / 60);
        }
        assert_true(state_hash(a, NULL) == state_hash(b, NULL));
        assert_false(b->class->throw_ball(b, &(und_ball){.radius = NAN, .density = 500}));
        assert_int_equal(b->class->balls_left(b), 8);
        und_mouse_tool hand = {
            .tool = UND_TOOL_STIR, .radius = 0.5, .strength = 0.02, .period = 0.5, .place = {2, 0, 2}};
        hold(b, hand, 10, 1.0 / 60);
        run(a, 10, 1.0 / 60);
        assert_true(state_hash(a, NULL) != state_hash(b, NULL));
        destroy(a);
        destroy(b);
    }
}

static double tallest(und_liquid *l, int cells)
{
    float *surface = field_of(l, "surface"), most = 0;
    for (int i = 0; i < cells; i++)
        most = fmaxf(most, fabsf(surface[i]));
    free(surface);
    return (double)most;
}

/* Stirred for a second, let go, and looked at eight steps later: waves last as they are made, as nearly as
 * with short steps; the paper's step takes most of them.  It can be turned, and a state knows it. */
static void waves_last_unless_turned(void **state)
{
    (void)state;
    double left[3];
    for (int i = 0; i < 3; i++) {
        und_height_field_def height_field = a_pond(64, 4.0 / 64, 0.4);
        double dt = i == 2 ? 1.0 / 240 : 1.0 / 24;
        und_liquid *l = make(0, &height_field);
        und_tuning tuning = unchanged, now;
        tuning.order = i == 0 ? 1 : 0;
        l->class->tune(l, &tuning);
        l->class->tuning(l, &now);
        assert_double_near(now.order, i == 0 ? 1 : 2, 0);
        und_mouse_tool hand = {
            .tool = UND_TOOL_STIR, .radius = 0.3, .strength = 0.03, .period = 0.5, .place = {2, 0, 2}};
        hold(l, hand, (int)round(1 / dt), dt);
        und_frame kept = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
        state_hash(l, &kept);
        und_liquid *other = make(0, &height_field);
        und_error err;
        assert_int_equal(other->class->restore(other, &kept, &err), UND_OK);
        run(other, (int)round(8.0 / 24 / dt), dt);
        run(l, (int)round(8.0 / 24 / dt), dt);
        assert_true(state_hash(l, NULL) == state_hash(other, NULL));
        left[i] = tallest(l, 64 * 64);
        und_frame_clear(&kept);
        destroy(l);
        destroy(other);
    }
    assert_true(left[1] > 5 * left[0]);
    assert_true(left[1] > 0.5 * left[2]);
}

/* All that a person can do to it. */
static void do_everything(und_liquid *l)
{
    const double dt = 1.0 / 60;
    und_mouse_tool hand = {.tool = UND_TOOL_RAISE, .radius = 1, .strength = 0.5, .place = {1.5, 0, 3}};
    hold(l, hand, 10, dt);
    assert_true(l->class->throw_ball(
        l, &(und_ball){.place = {2, 0.4, 2}, .velocity = {1, 0, 0.5}, .radius = 0.25, .density = 400}));
    und_tuning tuning = {.gravity = 5, .damping = 0.2, .viscosity = 1e-4, .rain = 20, .order = 1};
    l->class->tune(l, &tuning);
    hand = (und_mouse_tool){
        .tool = UND_TOOL_STIR, .radius = 0.6, .strength = 0.03, .period = 0.4, .place = {3, 0, 2}};
    hold(l, hand, 20, dt);
    assert_true(l->class->throw_ball(l, &(und_ball){.place = {3, 1, 3}, .radius = 0.2, .density = 3000}));
    hand.tool = UND_TOOL_POUR;
    hand.strength = 0.2;
    hold(l, hand, 20, dt);
    hand.tool = UND_TOOL_DIG;
    hold(l, hand, 5, dt);
}

/* A state keeps what hands did: another model goes on from it with the same bits, whatever was done to that
 * one; and threads do not matter. */
static void what_was_touched_is_saved(void **state)
{
    (void)state;
    for (int model = 0; model < MODELS; model++) {
        und_height_field_def height_field = a_pond(48, 0.1, 0.5);
        und_liquid *a = make(model, &height_field), *c = make(model, &height_field);
        height_field.threads = 1;
        und_liquid *b = make(model, &height_field);
        und_frame clean = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}}),
                  kept = clean;
        state_hash(a, &clean);
        do_everything(a);
        do_everything(c);
        state_hash(a, &kept);
        assert_true(state_hash(a, NULL) == state_hash(c, NULL));
        und_error err;
        assert_int_equal(b->class->restore(b, &kept, &err), UND_OK);
        assert_true(state_hash(a, NULL) == state_hash(b, NULL));
        assert_int_equal(b->class->balls_left(b), 6);
        assert_true(c->class->throw_ball(c, &(und_ball){.place = {1, 1, 1}, .radius = 0.3, .density = 600}));
        c->class->tune(c, &(und_tuning){.gravity = 20, .damping = 1, .viscosity = 0, .rain = 0});
        hold(c, (und_mouse_tool){.tool = UND_TOOL_DIG, .radius = 2, .strength = 1, .place = {2, 0, 2}}, 5,
             0.02);
        assert_int_equal(c->class->restore(c, &kept, &err), UND_OK);
        und_liquid *all[] = {a, b, c};
        for (int i = 0; i < 3; i++)
            run(all[i], 40, 1.0 / 60);
        assert_true(state_hash(a, NULL) == state_hash(b, NULL));
        assert_true(state_hash(a, NULL) == state_hash(c, NULL));
        und_liquid *fresh = make(model, &height_field);
        assert_int_equal(a->class->restore(a, &clean, &err), UND_OK);
        und_mouse_tool hand = {.tool = UND_TOOL_POUR, .radius = 0.5, .strength = 0.2, .place = {1, 0, 2}};
        hold(a, hand, 20, 1.0 / 60);
        hold(fresh, hand, 20, 1.0 / 60);
        assert_true(state_hash(a, NULL) == state_hash(fresh, NULL));
        ledger_closes(b);
        for (int i = 0; i < 3; i++)
            destroy(all[i]);
        destroy(fresh);
        und_frame_clear(&clean);
        und_frame_clear(&kept);
    }
}

static double ball_height(und_liquid *l, int i)
{
    float *position = field_of(l, "bodies/position");
    double y = (double)position[3 * i + 1];
    free(position);
    return y;
}

/* Archimedes: half as dense as water, half under it; denser than water, on the ground.  A ninth is not
 * there. */
static void balls_float_or_sink(void **state)
{
    (void)state;
    for (int model = 0; model < MODELS; model++) {
        und_height_field_def height_field = a_pond(48, 0.1, 0.8);
        height_field.damping = 0.5;
        und_liquid *l = make(model, &height_field);
        assert_int_equal(l->class->balls_left(l), 8);
        assert_true(
            l->class->throw_ball(l, &(und_ball){.place = {1.5, 0.6, 1.5}, .radius = 0.25, .density = 500}));
        assert_true(
            l->class->throw_ball(l, &(und_ball){.place = {3.3, 0.6, 3.3}, .radius = 0.2, .density = 2500}));
        run(l, 6, 1.0 / 60);
        assert_double_near(ball_height(l, 0), 0.6 - 0.5 * 9.81 * 0.01, 0.01); /* it falls freely, at first */
        double highest = 0;
        for (int i = 0; i < 60; i++) {
            step(l, 1.0 / 60);
            highest = fmax(highest, fabs(level_at(l, 48, 32, 15)));
        }
        assert_true(highest > 0.002); /* it makes waves */
        run(l, 540, 1.0 / 60);
        double level = level_at(l, 48, 40, 10);
        assert_double_near(ball_height(l, 0), level, 0.04);
        assert_double_near(ball_height(l, 1), -0.8 + 0.2, 0.01);
        ledger_closes(l);
        for (int i = 0; i < 6; i++)
            assert_true(l->class->throw_ball(
                l, &(und_ball){.place = {0.5 + 0.6 * i, 0.5, 2.4}, .radius = 0.1, .density = 800}));
        assert_int_equal(l->class->balls_left(l), 0);
        assert_false(l->class->throw_ball(l, &(und_ball){.place = {1, 1, 1}, .radius = 0.1, .density = 800}));
        run(l, 60, 1.0 / 60);
        ledger_closes(l);
        destroy(l);
    }
}

/* Rain that a person starts: each drop's volume is in the ledger; stopped, those in the air still come down.
 */
static void rain_starts_and_stops(void **state)
{
    (void)state;
    for (int model = 0; model < MODELS; model++) {
        und_height_field_def height_field = a_pond(48, 0.1, 0.5);
        und_liquid *l = make(model, &height_field);
        und_tuning tuning = unchanged, now;
        tuning.rain = 10;
        l->class->tune(l, &tuning);
        run(l, 240, 1.0 / 60);
        l->class->tuning(l, &now);
        assert_double_near(now.rain, 10, 0);
        double came = l->class->ledger(l).sources, drop = 4.0 / 3 * M_PI * pow(0.025, 3);
        assert_true(came > 0);
        assert_double_near(came / drop, round(came / drop), 1e-6);
        tuning.rain = 0;
        l->class->tune(l, &tuning);
        run(l, 240, 1.0 / 60);
        double after = l->class->ledger(l).sources;
        assert_true(after > came);
        /* all that fell: ten on each of 4.8 m x 4.8 m in four seconds */
        assert_double_near(after / drop, 10 * 4 * 4.8 * 4.8, 2);
        run(l, 120, 1.0 / 60);
        assert_double_near(l->class->ledger(l).sources, after, 0);
        ledger_closes(l);
        destroy(l);
    }
}

static double squall(const void *context, double x, double y, double z, double t)
{
    (void)context;
    (void)y;
    (void)z;
    return t < 0.5 ? 0 : 40 * x;
}

/* Where only the damping was turned, the scene's rain begins when it should and falls as it should, also
 * after a state was restored, in one that was never touched and in one whose rain was turned meanwhile. */
static void rain_keeps_its_times_where_others_turn(void **state)
{
    (void)state;
    for (int model = 0; model < MODELS; model++)
        for (int by_function = 0; by_function < 2; by_function++) {
            und_height_field_def height_field = a_pond(32, 0.1, 0.5);
            height_field.rain.on = true;
            height_field.rain.rate = by_function ? (und_value){.fn = squall} : (und_value){.number = 50};
            height_field.rain.max_rate = by_function ? 130 : 0;
            height_field.rain.radius = 0.02;
            height_field.rain.top = 1;
            height_field.rain.start = 0.5;
            height_field.rain.end = 0.8;
            und_liquid *a = make(model, &height_field), *b = make(model, &height_field),
                       *c = make(model, &height_field);
            und_tuning tuning = unchanged;
            tuning.damping = 0.25;
            a->class->tune(a, &tuning);
            run(a, 6, 1.0 / 60);
            und_frame kept = und_frame_empty(0, 0, (und_grid){.n = {1, 1, 1}, .dx = 1, .origin = {0, 0, 0}});
            state_hash(a, &kept);
            tuning.rain = 200;
            c->class->tune(c, &tuning);
            run(c, 12, 1.0 / 60);
            und_error err;
            assert_int_equal(b->class->restore(b, &kept, &err), UND_OK);
            assert_int_equal(c->class->restore(c, &kept, &err), UND_OK);
            und_liquid *all[] = {a, b, c};
            for (int i = 0; i < 3; i++) {
                run(all[i], 24, 1.0 / 60); /* to its start */
                assert_double_near(all[i]->class->ledger(all[i]).sources, 0, 0);
                run(all[i], 90, 1.0 / 60); /* and till all is down: 0.3 s of it on 3.2 m x 3.2 m */
                double drop = 4.0 / 3 * M_PI * pow(0.02, 3), rate = by_function ? 40 * 1.6 : 50;
                double drops = all[i]->class->ledger(all[i]).sources / drop;
                assert_double_near(drops, rate * 0.3 * 3.2 * 3.2, by_function ? 40 : 2);
                assert_true(state_hash(all[i], NULL) == state_hash(a, NULL));
            }
            for (int i = 0; i < 3; i++)
                destroy(all[i]);
            und_frame_clear(&kept);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pouring_and_draining_are_in_the_ledger),
        cmocka_unit_test(raising_and_digging_keep_the_water),
        cmocka_unit_test(a_stirred_ring_runs_at_the_speed_of_waves),
        cmocka_unit_test(damping_and_gravity_turn_while_it_runs),
        cmocka_unit_test(untouched_is_untouched),
        cmocka_unit_test(what_was_touched_is_saved),
        cmocka_unit_test(waves_last_unless_turned),
        cmocka_unit_test(balls_float_or_sink),
        cmocka_unit_test(rain_starts_and_stops),
        cmocka_unit_test(rain_keeps_its_times_where_others_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
