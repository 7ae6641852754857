/* The timeline: how it goes on, and what the mouse does in its panel. */
#include "tests/play_cache.h"
#include "tests/test.h"

#include "view/gl.h"
#include "view/screen.h"
#include "view/timeline.h"

enum { WIDTH = 900, HEIGHT = 240, START = 5, END = 44 };

static und_timeline standing(void)
{
    und_timeline line = und_timeline_begin();
    line.first = 10;
    line.last = 29;
    line.fps = 20;
    und_timeline_go(&line, 10);
    return line;
}

static void run_key(und_timeline *line, int key)
{
    int count, found = 0;
    const und_action *actions = und_timeline_actions(&count);
    for (int i = 0; i < count; i++)
        if (actions[i].key == key) {
            actions[i].run(line);
            found++;
        }
    assert_int_equal(found, 1);
}

static void plays_by_the_clock(void **state)
{
    (void)state;
    und_timeline line = standing();
    und_timeline_advance(&line, 5);
    assert_int_equal(und_timeline_frame(&line), 10); /* it stands */
    line.playing = true;
    for (int i = 0; i < 10; i++) /* slow pictures: frames are skipped, time is not lost */
        und_timeline_advance(&line, 0.0333);
    assert_double_near(line.frame, 10 + 20 * 0.333, 1e-9);
    assert_int_equal(und_timeline_frame(&line), 17);
    line.speed = -0.5;
    und_timeline_advance(&line, 0.2);
    assert_double_near(line.frame, 10 + 20 * 0.333 - 2, 1e-9);
    double before = line.frame;
    und_timeline_advance(&line, NAN);
    und_timeline_advance(&line, -1);
    und_timeline_advance(&line, INFINITY);
    assert_double_near(line.frame, before, 0);
    line.held = true; /* by the mouse */
    und_timeline_advance(&line, 0.2);
    assert_double_near(line.frame, before, 0);
}

/* Round and round every frame has its share of time; without loop it stops at the end. */
static void loops_and_ends(void **state)
{
    (void)state;
    for (int way = -1; way <= 1; way += 2) {
        und_timeline line = standing();
        line.playing = true;
        line.speed = way;
        int seen[40] = {0};
        for (int i = 0; i < 4000; i++) { /* ten rounds of a second, 400 pictures each */
            und_timeline_advance(&line, 1.0 / 400);
            seen[und_timeline_frame(&line)]++;
        }
        for (int i = 0; i < 40; i++)
            if (i >= 10 && i <= 29)
                assert_true(abs(seen[i] - 200) <= 2);
            else
                assert_int_equal(seen[i], 0);
        und_timeline_advance(&line, 12345.6); /* a window that slept */
        assert_in_range(und_timeline_frame(&line), 10, 29);
        line.loop = false;
        und_timeline_advance(&line, 3);
        assert_int_equal(und_timeline_frame(&line), way > 0 ? 29 : 10);
        assert_false(line.playing);
        run_key(&line, ' '); /* plays again from its start */
        assert_int_equal(und_timeline_frame(&line), way > 0 ? 10 : 29);
        assert_true(line.playing);
        line.grows = true; /* the end is not the end of a run that goes on */
        und_timeline_advance(&line, 3);
        assert_int_equal(line.playing, way > 0);
    }
}

static void waits_where_every_frame_is_wanted(void **state)
{
    (void)state;
    und_timeline line = standing();
    line.playing = line.every_frame = true;
    for (int i = 1; i < 15; i++) {
        und_timeline_advance(&line, 0.7);
        assert_int_equal(und_timeline_frame(&line), 10 + i);
    }
    line.waiting = true;
    und_timeline_advance(&line, 0.7);
    assert_int_equal(und_timeline_frame(&line), 24);
    line.waiting = false;
    und_timeline_advance(&line, 0.025); /* never faster than the clock */
    assert_double_near(line.frame, 24.5, 1e-9);
}

static void keys(void **state)
{
    (void)state;
    und_timeline line = standing();
    run_key(&line, UND_KEY_RIGHT);
    run_key(&line, UND_KEY_RIGHT);
    assert_int_equal(und_timeline_frame(&line), 12);
    run_key(&line, UND_KEY_LEFT);
    assert_int_equal(und_timeline_frame(&line), 11);
    run_key(&line, ' ');
    assert_true(line.playing);
    run_key(&line, UND_KEY_END);
    assert_int_equal(und_timeline_frame(&line), 29);
    assert_false(line.playing);
    run_key(&line, UND_KEY_RIGHT); /* loops */
    assert_int_equal(und_timeline_frame(&line), 10);
    run_key(&line, 'L');
    assert_false(line.loop);
    run_key(&line, UND_KEY_LEFT);
    assert_int_equal(und_timeline_frame(&line), 10);
    run_key(&line, ']');
    assert_double_near(line.speed, 2, 0);
    for (int i = 0; i < 20; i++)
        run_key(&line, '[');
    assert_double_near(line.speed, 1.0 / 16, 0);
    run_key(&line, 'B');
    assert_double_near(line.speed, -1.0 / 16, 0);
    run_key(&line, UND_KEY_HOME);
    und_timeline_go(&line, NAN);
    und_timeline_go(&line, 1e300);
    assert_int_equal(und_timeline_frame(&line), 29);
}

/* start + sources is due; the correction is what the scheme lost. */
static void volumes_are_the_ledgers(void **state)
{
    (void)state;
    und_ledger ledger = {
        .start = 10, .sources = 4, .drains = 1, .left = 3, .correction = -0.5, .measured = 9.5};
    assert_double_near(und_timeline_due(&ledger), 10, 1e-12);
    assert_double_near(und_timeline_gain(&ledger), -5, 1e-12);
    assert_double_near(und_timeline_gain(&(und_ledger){.measured = 1}), 0, 0);
}

/* Two caches in one panel. */
typedef struct table {
    und_screen *screen;
    und_ui *ui;
    und_frame_player *players[2];
    int count;
    und_timeline line;
} table;

static void draw(table *t)
{
    und_timeline_follow(&t->line, t->players, t->count);
    und_screen_bind(t->screen);
    glViewport(0, 0, WIDTH, HEIGHT);
    glClearColor(0, 0, 0, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    und_ui_begin(t->ui, WIDTH, HEIGHT, 1 / 60.0);
    if (und_ui_strip(t->ui, "Timeline"))
        und_timeline_panel(&t->line, t->players, t->count, t->ui);
    und_ui_panel_end(t->ui);
    und_ui_end(t->ui);
    und_screen_show(t->screen);
}

static void mouse(table *t, und_event_kind kind, bool down, double x, double y)
{
    und_event event = {.kind = kind, .down = down, .x = x, .y = y};
    und_ui_event(t->ui, &event);
    draw(t);
}

static void find(const table *t, const char *label, double r[4])
{
    if (!und_ui_where(t->ui, label, r))
        fail_msg("%s is not drawn", label);
}

static void click(table *t, const char *label)
{
    double r[4];
    find(t, label, r);
    double x = (r[0] + r[2]) / 2, y = (r[1] + r[3]) / 2;
    mouse(t, UND_EVENT_MOVE, false, x, y);
    mouse(t, UND_EVENT_BUTTON, true, x, y);
    draw(t); /* a button that stays down does its thing once */
    mouse(t, UND_EVENT_BUTTON, false, x, y);
    draw(t);
}

static int open_table(void **state)
{
    static table t;
    und_error err = {0};
    char a[128], b[128];
    test_folder_make_fast(&folder);
    snprintf(a, sizeof a, "%s/slow", folder.path);
    snprintf(b, sizeof b, "%s/fast", folder.path);
    play_cache(a, START, END, 20);     /* 0 to 1.95 s */
    play_cache(b, 100, 100 + 120, 50); /* 0 to 2.4 s */
    t = (table){.line = und_timeline_begin(), .count = 2};
    t.players[0] = und_frame_player_create(a, NULL, 0, &err);
    t.players[1] = und_frame_player_create(b, NULL, 0, &err);
    t.screen =
        und_screen_create(&(und_screen_def){.width = WIDTH, .height = HEIGHT, .offscreen = true}, &err);
    t.ui = t.screen ? und_ui_create(1, &err) : NULL;
    if (!t.ui || !t.players[0] || !t.players[1]) {
        fprintf(stderr, "%s\n", err.text);
        return -1;
    }
    *state = &t;
    return 0;
}

static int close_table(void **state)
{
    table *t = *state;
    und_frame_player_destroy(t->players[0]);
    und_frame_player_destroy(t->players[1]);
    und_ui_destroy(t->ui);
    und_screen_destroy(t->screen);
    return teardown(state);
}

/* Two players of unequal rate and range show the same time. */
static void reels_go_by_time(void **state)
{
    table *t = *state;
    und_timeline_follow(&t->line, t->players, 2);
    assert_int_equal(t->line.first, 100); /* in frames of the faster one */
    assert_int_equal(t->line.last, 220);
    assert_double_near(t->line.fps, 50, 0);
    static const int expected[][2] = {{100, START}, {150, START + 20}, {197, START + 39}, {220, END}};
    for (int i = 0; i < 4; i++) {
        und_timeline_go(&t->line, expected[i][0]);
        und_timeline_follow(&t->line, t->players, 2);
        for (int k = 0; k < 2; k++) {
            und_frame_player_settle(t->players[k]);
            und_frame_player_take(t->players[k]);
        }
        assert_double_near(und_timeline_time(&t->line), (expected[i][0] - 100) / 50.0, 1e-12);
        assert_int_equal(und_frame_player_frame_at(t->players[0], und_timeline_time(&t->line)),
                         expected[i][1]);
    }
    assert_string_equal(und_timeline_name(t->players, 2, 0), "slow");
    und_frame_player *same[2] = {t->players[1], t->players[1]};
    assert_non_null(strstr(und_timeline_name(same, 2, 0), "/fast"));
}

static void buttons_and_switches(void **state)
{
    table *t = *state;
    t->count = 1; /* the slow one alone */
    t->line = und_timeline_begin();
    draw(t);
    draw(t);
    assert_int_equal(und_timeline_frame(&t->line), START);
    click(t, "Forward");
    assert_int_equal(und_timeline_frame(&t->line), START + 1);
    click(t, "Forward");
    click(t, "Back");
    assert_int_equal(und_timeline_frame(&t->line), START + 1);
    click(t, "Last");
    assert_int_equal(und_timeline_frame(&t->line), END);
    click(t, "First");
    assert_int_equal(und_timeline_frame(&t->line), START);
    click(t, "Play/pause");
    assert_true(t->line.playing);
    click(t, "Play/pause");
    assert_false(t->line.playing);
    click(t, "percent");
    assert_true(t->line.percent);
    click(t, "percent");
}

/* A white column at that x, from its darkness on both sides: where the head stands. */
static double head_in(const table *t, double x0, double x1, double y)
{
    (void)t;
    static unsigned char rgb[HEIGHT][WIDTH][3];
    und_gl_read(0, 0, WIDTH, HEIGHT, rgb[0][0]);
    double sum = 0, weight = 0;
    for (int x = (int)x0; x < (int)x1; x++) {
        const unsigned char *c = rgb[(int)y][x];
        if (c[0] > 150 && c[1] > 150 && c[2] > 150) {
            sum += (x + 0.5) * c[0];
            weight += c[0];
        }
    }
    return weight > 0 ? sum / weight : -1;
}

/* The mouse takes the head along, and it is drawn where the frame is. */
static void scrubbing(void **state)
{
    table *t = *state;
    t->count = 1;
    t->line = und_timeline_begin();
    t->line.playing = true;
    draw(t);
    draw(t);
    double r[4];
    find(t, "frames", r);
    double y = r[1] + 0.6 * (r[3] - r[1]), last = 0;
    mouse(t, UND_EVENT_MOVE, false, r[0] + 200, y);
    mouse(t, UND_EVENT_BUTTON, true, r[0] + 200, y);
    for (double x = r[0] + 200; x < r[2] - 40; x += 61) {
        mouse(t, UND_EVENT_MOVE, false, x, y);
        draw(t);
        assert_true(t->line.held);
        und_timeline_advance(&t->line, 0.3); /* not while it is held */
        assert_double_near(t->line.frame, und_timeline_frame(&t->line), 0);
        assert_true(t->line.frame > last);
        last = t->line.frame;
        double step = (r[2] - r[0]) / (END - START);
        assert_double_near(head_in(t, r[0] + 150, r[2], r[1] + 24), x, step / 2 + 1.5);
    }
    mouse(t, UND_EVENT_MOVE, false, r[2] + 300, y); /* beyond: the last frame */
    assert_int_equal(und_timeline_frame(&t->line), END);
    mouse(t, UND_EVENT_MOVE, false, r[0] - 300, y);
    assert_int_equal(und_timeline_frame(&t->line), START);
    mouse(t, UND_EVENT_BUTTON, false, r[0] - 300, y);
    assert_false(t->line.held);
    und_timeline_advance(&t->line, 0.1);
    assert_double_near(t->line.frame, START + 2, 1e-9); /* what played goes on from there */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plays_by_the_clock),
        cmocka_unit_test(loops_and_ends),
        cmocka_unit_test(waits_where_every_frame_is_wanted),
        cmocka_unit_test(keys),
        cmocka_unit_test(volumes_are_the_ledgers),
        cmocka_unit_test(reels_go_by_time),
        cmocka_unit_test(buttons_and_switches),
        cmocka_unit_test(scrubbing),
    };
    return cmocka_run_group_tests(tests, open_table, close_table);
}
