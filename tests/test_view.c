/* The viewer as a person meets it: synthetic mouse and keys in, pixels out. */
#include "tests/play_cache.h"
#include "tests/test.h"
#include "view/colormap.h"
#include "view/sea_parts.h"
#include "view/view_parts.h"

#include <unistd.h>

enum { SIDE = 640, STEPS_A_SECOND = 96 };
static const double depth = 0.4, middle = 4;

static const char pond[] =
    "scene { name = 'pond', frames = 480, fps = 48, substeps = 2 }\n"
    "liquid.waves { size = {8, 8}, cells = 160, ground = -0.4, level = 0, order = 2 }\n"
    "camera { eye = {4, 9, 4.4}, look = {4, 0, 4} }\n";

static und_view *open_view(const und_view_def *def)
{
    und_error err;
    und_view *view = und_view_create(def, &err);
    if (!view)
        fail_msg("%s", err.text);
    return view;
}

static und_view *open_text_on(const char *name, const char *text, bool small)
{
    char path[64];
    snprintf(path, sizeof path, "%s.%d.lua", name, (int)getpid());
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    und_view_def def = {.paths = {path},
                        .count = 1,
                        .width = SIDE,
                        .height = SIDE,
                        .offscreen = true,
                        .paused = true,
                        .small = small};
    und_view *view = open_view(&def);
    remove(path);
    return view;
}

static und_view *open_text(const char *name, const char *text)
{
    return open_text_on(name, text, false);
}

static void draw(und_view *view)
{
    und_error err;
    und_view_settle(view);
    assert_true(und_view_frame(view, &err));
}

static void event(und_view *view, und_event e)
{
    und_view_event(view, &e);
    draw(view);
}

static void key(und_view *view, int k, unsigned mods)
{
    event(view, (und_event){.kind = UND_EVENT_KEY, .key = k, .mods = mods, .down = true});
    event(view, (und_event){.kind = UND_EVENT_KEY, .key = k, .mods = mods});
}

static void steps(und_view *view, int count)
{
    und_live_step(und_view_live(view), count);
    draw(view);
}

/* The mouse onto a place of the liquid. */
static void point(und_view *view, double x, double y, double z, double at[2])
{
    assert_true(und_lens_project(und_view_lens(view), (double[]){x, y, z}, &at[0], &at[1]));
    event(view, (und_event){.kind = UND_EVENT_MOVE, .x = at[0], .y = at[1]});
}

static void button(und_view *view, const double at[2], bool down)
{
    event(view, (und_event){.kind = UND_EVENT_BUTTON, .down = down, .x = at[0], .y = at[1]});
}

/* Drags a slider's grab to a share of its length. */
static void slide(und_view *view, const char *label, double share)
{
    double r[4];
    if (!und_view_where(view, label, r))
        fail_msg("there is no slider %s", label);
    double at[2] = {r[0] + share * (r[2] - r[0]), (r[1] + r[3]) / 2};
    event(view, (und_event){.kind = UND_EVENT_MOVE, .x = at[0], .y = at[1]});
    button(view, at, true);
    button(view, at, false);
}

/* What the colour of a pixel says: 0 to 1 of what the legend spans. */
static double value_of(const unsigned char *rgb)
{
    double best = 1e9, value = 0;
    for (int i = 0; i <= 255; i++) {
        float color[3];
        und_colormap(UND_MAP_DIVERGING, i / 255.0, color);
        double off = 0;
        for (int c = 0; c < 3; c++)
            off += pow(rgb[c] - 255 * (double)color[c], 2);
        if (off < best) {
            best = off;
            value = i / 255.0;
        }
    }
    return value;
}

/* Heights along a line from the middle to the left, as seen, m; sample i is at i * 0.02 m. */
enum { SAMPLES = 155 };
static void read_line(und_view *view, double line[SAMPLES])
{
    static unsigned char rgb[SIDE][SIDE][3];
    double low, high, x, y;
    und_view_read(view, rgb[0][0]);
    und_sea_tint_range((const und_sea *)view->pane[0].painter, &low, &high);
    for (int i = 0; i < SAMPLES; i++) {
        assert_true(und_lens_project(und_view_lens(view), (double[]){middle - 0.02 * i, 0, middle}, &x, &y));
        assert_true(x >= 0 && x < SIDE && y >= 0 && y < SIDE);
        line[i] = low + value_of(rgb[(int)y][(int)x]) * (high - low);
    }
}

/* The foremost crest: its height, and where it is, m from the middle: the mean of where it is above half. */
typedef struct crest {
    double height, place;
} crest;

static crest foremost_crest(const double line[SAMPLES])
{
    double highest = 0, sum = 0, moment = 0;
    crest found = {0};
    for (int i = 0; i < SAMPLES; i++)
        highest = fmax(highest, line[i]);
    int i = SAMPLES - 1;
    while (i > 0 && line[i] < 0.6 * highest)
        i--;
    for (; i > 0 && line[i] > 0.5 * highest; i--) {
        found.height = fmax(found.height, line[i]);
        sum += line[i] - 0.5 * highest;
        moment += (line[i] - 0.5 * highest) * 0.02 * i;
    }
    found.place = sum > 0 ? moment / sum : 0;
    return found;
}

/* A pond seen from above, its heights as colours, stirred for half a second. */
static und_view *stirred_pond(void)
{
    und_view *view = open_text("pond", pond);
    double at[2];
    draw(view);
    key(view, 'H', 0);
    point(view, middle, 0, middle, at);
    button(view, at, true);
    steps(view, STEPS_A_SECOND / 2);
    button(view, at, false);
    return view;
}

static void wave_runs_from_the_hand_at_its_speed(void **state)
{
    (void)state;
    und_view *view = stirred_pond();
    key(view, UND_KEY_TAB, 0); /* no panel over the water */
    double line[SAMPLES], where[2];
    for (int i = 0; i < 2; i++) {
        steps(view, STEPS_A_SECOND / 2);
        read_line(view, line);
        where[i] = foremost_crest(line).place;
    }
    assert_double_near((where[1] - where[0]) / 0.5, sqrt(9.81 * depth), 0.05 * sqrt(9.81 * depth));
    und_view_destroy(view);
}

/* The height of the foremost crest, m, a second later, with the slider of the damping at a share. */
static double crest_later(double share)
{
    und_view *view = stirred_pond();
    slide(view, "damping", share);
    key(view, UND_KEY_TAB, 0);
    steps(view, STEPS_A_SECOND);
    double line[SAMPLES];
    read_line(view, line);
    und_view_destroy(view);
    return foremost_crest(line).height;
}

/* Equation 17 slows the motion at the rate of the damping: heights fall at half of it. */
static void slider_damps_the_wave(void **state)
{
    (void)state;
    double free = crest_later(0), damped = crest_later(0.4); /* of 5 per second */
    assert_true(damped > 0);
    assert_double_near(log(free / damped), 0.4 * 5 / 2, 0.15);
}

static bool enabled(const und_choice *c)
{
    return !c->action->enabled || c->action->enabled(c->context);
}

/* What has a key is in a menu, and no key does two things. */
static void check_keys(und_view *view, const char *mode)
{
    und_choice list[UND_VIEW_ACTIONS];
    int count = und_menus_collect(view, list);
    assert_in_range(count, 10, UND_VIEW_ACTIONS - 1);
    for (int i = 0; i < count; i++) {
        const und_action *a = list[i].action;
        assert_true(a->menu[0] && a->label[0]);
        for (int j = 0; j < i && a->key && enabled(&list[i]); j++) {
            const und_action *b = list[j].action;
            if (enabled(&list[j]) && a->key == b->key && a->mods == b->mods)
                fail_msg("%s: key %d (%c): %s and %s", mode, a->key, a->key & 127, a->label, b->label);
        }
        if (a->key && a->key < 128 && strchr("WASDQE", a->key) && !a->mods)
            fail_msg("%s: %c, which flies, is %s's", mode, a->key, a->label);
    }
}

/* One of each kind that is painted. */
static const char *const scenes[] = {
    pond,
    "scene { name = 'columns', frames = 3 }\nliquid.columns { size = {2, 2}, cells = 16, ground = -1, "
    "level = 0 }\n",
    "scene { name = 'cells', frames = 3 }\n"
    "liquid.cells { size = {1, 1}, cells = 16, fill = { box { max = {0.4, 0.6, 1} } } }\n",
    "scene { name = 'level', frames = 3 }\n"
    "liquid.levelset { size = {1, 1, 1}, cells = 16, fill = box { max = {0.4, 0.6, 1} } }\n",
};

static void keys_do_one_thing_each(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        und_view *view = open_text("keys", scenes[k]);
        draw(view);
        check_keys(view, view->pane[0].scene->name);
        key(view, 'X', 0); /* a slice, and its keys */
        check_keys(view, view->pane[0].scene->name);
        und_view_destroy(view);
    }
}

static void mouse_turns_and_moves_the_view(void **state)
{
    (void)state;
    und_view *view = open_text("turn", pond);
    draw(view);
    double turn = view->camera.turn, climb = view->camera.climb, distance = view->camera.distance;
    const double at[2] = {500, 500};
    key(view, '0', 0); /* the hand only looks */
    event(view, (und_event){.kind = UND_EVENT_MOVE, .x = at[0], .y = at[1]});
    button(view, at, true);
    event(view, (und_event){.kind = UND_EVENT_MOVE, .x = 400, .y = 450});
    button(view, (double[]){400, 450}, false);
    assert_true(view->camera.turn > turn + 0.3);
    assert_true(view->camera.climb < climb - 0.2);
    event(view, (und_event){.kind = UND_EVENT_SCROLL, .y = 2});
    assert_double_near(view->camera.distance, distance * 0.88 * 0.88, 1e-9);
    key(view, 'F', 0);
    assert_double_near(view->camera.turn, turn, 1e-9);
    assert_double_near(view->camera.distance, distance, 1e-9);
    double before[3];
    memcpy(before, view->camera.target, sizeof before);
    event(view, (und_event){
                    .kind = UND_EVENT_BUTTON, .button = UND_BUTTON_MIDDLE, .down = true, .x = 400, .y = 450});
    event(view, (und_event){.kind = UND_EVENT_MOVE, .x = 464, .y = 450}); /* a tenth of the height */
    event(view, (und_event){.kind = UND_EVENT_BUTTON, .button = UND_BUTTON_MIDDLE, .x = 464, .y = 450});
    double way = hypot(hypot(view->camera.target[0] - before[0], view->camera.target[1] - before[1]),
                       view->camera.target[2] - before[2]);
    assert_double_near(way, 0.2 * distance * tan(view->camera.view_angle / 2), 1e-6);
    und_view_destroy(view);
}

/* A key that stays down plays once, and steps on and on; hands have their limits. */
static void keys_repeat_where_that_is_meant(void **state)
{
    (void)state;
    und_view *view = open_text("held", pond);
    und_event held = {.kind = UND_EVENT_KEY, .key = '.', .down = true};
    draw(view);
    for (int i = 0; i < 4; i++, held.repeat = true)
        event(view, held);
    draw(view);
    assert_double_near(view->pane[0].state.time, 4.0 / STEPS_A_SECOND, 1e-9);
    held = (und_event){.kind = UND_EVENT_KEY, .key = 'H', .down = true};
    for (int i = 0; i < 4; i++, held.repeat = true)
        event(view, held);
    assert_true(((const und_sea *)view->pane[0].painter)->options.tinted);
    for (int i = 0; i < 200; i++)
        und_view_event(view, &(und_event){.kind = UND_EVENT_KEY, .key = ']', .down = true});
    assert_true(view->tools.radius <= view->size);
    und_view_destroy(view);
}

/* A hand on the water pours; reset takes it back. */
static void pouring_adds_and_reset_takes_back(void **state)
{
    (void)state;
    und_view *view = open_text("pour", pond);
    double at[2], start;
    draw(view);
    start = view->pane[0].state.ledger.measured;
    key(view, '2', 0);
    point(view, middle, 0, middle, at);
    button(view, at, true);
    steps(view, 48);
    button(view, at, false);
    steps(view, 1);
    const und_ledger *ledger = &view->pane[0].state.ledger;
    assert_double_near(ledger->measured - start, 0.5 * view->tools.strength[UND_TOOL_POUR], 1e-6);
    assert_double_near(ledger->sources, ledger->measured - start, 1e-6);
    key(view, UND_KEY_BACKSPACE, 0);
    steps(view, 1);
    assert_double_near(view->pane[0].state.ledger.measured, start, 1e-9);
    und_view_destroy(view);
}

/* Heights that are drawn four times as large: the hand is where the mouse is, its ring around it, and balls
 * fall from over the water as it truly is. */
static void hands_reach_stretched_water(void **state)
{
    (void)state;
    static unsigned char rgb[2][SIDE][SIDE][3];
    und_view *view =
        open_text("high", "scene { name = 'high', frames = 480, fps = 48 }\n"
                          "liquid.waves { size = {8, 8}, cells = 80, ground = 9.6, level = 10 }\n"
                          "film { vertical = 4 }\n"
                          "camera { eye = {4, 48, 10}, look = {4, 40, 4} }\n");
    double at[2], nearest = INFINITY, farthest = 0;
    draw(view);
    key(view, UND_KEY_TAB, 0);
    key(view, '6', 0);
    event(view, (und_event){.kind = UND_EVENT_MOVE, .x = -9, .y = -9}); /* nowhere */
    draw(view);
    und_view_read(view, rgb[0][0][0]);
    point(view, middle, 40, middle, at); /* as drawn */
    und_view_read(view, rgb[1][0][0]);
    for (int k = 0; k < 3; k++)
        assert_double_near(view->tools.place[k], k == 1 ? 10 : middle, 1e-3);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++)
            if (memcmp(rgb[0][y][x], rgb[1][y][x], 3) != 0) {
                double away = hypot(x + 0.5 - at[0], y + 0.5 - at[1]);
                nearest = fmin(nearest, away);
                farthest = fmax(farthest, away);
            }
    double side[2], radius = view->tools.ball_radius;
    assert_true(und_view_project(view, (double[]){middle + radius, 10, middle}, &side[0], &side[1]));
    assert_double_near(farthest, side[0] - at[0], 3); /* wide as the ball, and not as high */
    assert_true(nearest > 0.4 * (side[0] - at[0]));
    button(view, at, true);
    button(view, at, false);
    steps(view, 1);
    const und_sea_fields *fields = und_sea_reader_fields(((und_sea *)view->pane[0].painter)->reader);
    assert_int_equal(fields->bodies, 1);
    assert_double_near((double)fields->pose[1], 10 + 6 * radius, 0.01); /* it fell for a step */
    und_view_destroy(view);
}

/* What OpenGL 3.3 shows OpenGL ES 3.0 shows too. */
static void small_devices_show_the_same(void **state)
{
    (void)state;
    static unsigned char rgb[2][3 * SIDE * SIDE];
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        for (int small = 0; small < 2; small++) {
            und_view *view = open_text_on("small", scenes[k], small);
            draw(view);
            steps(view, 3);
            key(view, UND_KEY_TAB, 0);
            und_view_read(view, rgb[small]);
            und_view_destroy(view);
        }
        double apart = 0, spread = 0;
        for (size_t i = 0; i < sizeof rgb[0]; i++) {
            double a = rgb[0][i], b = rgb[1][i];
            apart += fabs(a - b);
            spread += fabs(a - rgb[0][i % 3]);
        }
        assert_true(spread / sizeof rgb[0] > 2);         /* there is something to see */
        assert_double_near(apart / sizeof rgb[0], 0, 1); /* on average, of 255 */
    }
}

/* Two caches, linked: the same camera, the same moment, the same choices. */
static void two_caches_are_seen_alike(void **state)
{
    (void)state;
    test_folder place;
    char other[256];
    test_folder_make(&place);
    snprintf(other, sizeof other, "%s", test_path(&place, "b"));
    play_cache(other, 1, 6, 24);
    play_cache(test_path(&place, "a"), 1, 6, 24);
    und_view *view = open_view(&(und_view_def){.paths = {test_path(&place, "a"), other},
                                               .count = 2,
                                               .width = SIDE,
                                               .height = SIDE / 2,
                                               .offscreen = true,
                                               .paused = true});
    draw(view);
    draw(view);
    check_keys(view, "two caches");
    key(view, UND_KEY_RIGHT, 0);
    key(view, UND_KEY_RIGHT, 0);
    draw(view);
    assert_int_equal(view->pane[0].number, 3);
    assert_int_equal(view->pane[1].number, 3);
    key(view, 'H', 0); /* a choice of the first pane */
    und_view_event(
        view,
        &(und_event){.kind = UND_EVENT_BUTTON, .button = UND_BUTTON_RIGHT, .down = true, .x = 500, .y = 100});
    und_view_event(view, &(und_event){.kind = UND_EVENT_MOVE, .x = 520, .y = 130});
    und_view_event(view,
                   &(und_event){.kind = UND_EVENT_BUTTON, .button = UND_BUTTON_RIGHT, .x = 520, .y = 130});
    key(view, UND_KEY_TAB, 0);
    draw(view);
    static unsigned char rgb[SIDE / 2][SIDE][3];
    und_view_read(view, rgb[0][0]);
    int bright = 0;
    double apart = 0;
    for (int y = 60; y < SIDE / 2 - 20; y++)
        for (int x = 2; x < SIDE / 2 - 120; x++) { /* but for the name above and the legend */
            for (int c = 0; c < 3; c++)
                apart = fmax(apart, abs(rgb[y][x][c] - rgb[y][x + SIDE / 2 + 1][c]));
            bright += rgb[y][x][1] > 40;
        }
    assert_true(bright > 10000);
    assert_double_near(apart, 0, 3); /* of 255: patterns begin at the window's corner */
    und_view_destroy(view);
    test_folder_remove(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wave_runs_from_the_hand_at_its_speed),
        cmocka_unit_test(slider_damps_the_wave),
        cmocka_unit_test(keys_do_one_thing_each),
        cmocka_unit_test(mouse_turns_and_moves_the_view),
        cmocka_unit_test(keys_repeat_where_that_is_meant),
        cmocka_unit_test(pouring_adds_and_reset_takes_back),
        cmocka_unit_test(hands_reach_stretched_water),
        cmocka_unit_test(two_caches_are_seen_alike),
        cmocka_unit_test(small_devices_show_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
