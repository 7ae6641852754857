/* Menus and panels, driven by synthetic input. */
#include "tests/test.h"
#include "view/gl.h"
#include "view/screen.h"
#include "view/ui.h"

enum { WIDTH = 400, HEIGHT = 300 };

typedef struct board {
    und_screen *screen;
    und_ui *ui;
    double damping;
    bool wet, chosen;
    int pressed, field;
    char text[32];
} board;

static const char *const fields[] = {"pressure", "speed"};

static void draw(board *b)
{
    und_screen_bind(b->screen);
    glViewport(0, 0, WIDTH, HEIGHT);
    glClearColor(0.5f, 0.5f, 0.5f, 1);
    glClear(GL_COLOR_BUFFER_BIT);
    und_ui_begin(b->ui, WIDTH, HEIGHT, 1 / 60.0);
    und_ui_menu_bar(b->ui);
    if (und_ui_menu(b->ui, "File")) {
        b->chosen |= und_ui_entry(b->ui, "Open", "Ctrl+O", false, true);
        und_ui_menu_end(b->ui);
    }
    und_ui_menu_bar_end(b->ui);
    if (und_ui_panel(b->ui, "Panel", 20, 40, 0)) {
        und_ui_slider(b->ui, "damping", &b->damping, 0, 10, "%.2f", false);
        und_ui_check(b->ui, "wet", &b->wet);
        b->pressed += und_ui_button(b->ui, "Reset");
        und_ui_choice(b->ui, "field", &b->field, fields, 2);
        und_ui_field(b->ui, "name", b->text, sizeof b->text);
    }
    und_ui_panel_end(b->ui);
    und_ui_draw_rect(b->ui, 350, 250, 380, 280, 0xff0000ff, true);
    und_ui_end(b->ui);
    und_screen_show(b->screen);
}

static bool event(board *b, und_event e)
{
    bool taken = und_ui_event(b->ui, &e);
    draw(b);
    return taken;
}

/* Clicks at a share of the widget's width. */
static bool click(board *b, const char *label, double share)
{
    double r[4];
    if (!und_ui_where(b->ui, label, r))
        fail_msg("%s is not drawn", label);
    double x = r[0] + share * (r[2] - r[0]), y = (r[1] + r[3]) / 2;
    event(b, (und_event){.kind = UND_EVENT_MOVE, .x = x, .y = y});
    bool taken = event(b, (und_event){.kind = UND_EVENT_BUTTON, .down = true, .x = x, .y = y});
    event(b, (und_event){.kind = UND_EVENT_BUTTON, .x = x, .y = y});
    draw(b); /* what opened knows its size then */
    draw(b);
    return taken;
}

static int open_board(void **state)
{
    static board b;
    und_error err;
    b = (board){.damping = 1};
    b.screen =
        und_screen_create(&(und_screen_def){.width = WIDTH, .height = HEIGHT, .offscreen = true}, &err);
    b.ui = b.screen ? und_ui_create(1, &err) : NULL;
    if (!b.ui)
        return -1;
    draw(&b);
    draw(&b); /* a panel knows its size after its first picture */
    *state = &b;
    return 0;
}

static int close_board(void **state)
{
    board *b = *state;
    und_ui_destroy(b->ui);
    und_screen_destroy(b->screen);
    return 0;
}

static void widgets_answer_the_mouse(void **state)
{
    board *b = *state;
    assert_true(click(b, "damping", 0.75));
    assert_double_near(b->damping, 7.5, 0.4);
    assert_true(click(b, "wet", 0.2));
    assert_true(b->wet);
    assert_true(click(b, "Reset", 0.5));
    assert_int_equal(b->pressed, 1);
    click(b, "field", 0.5);
    click(b, "speed", 0.5);
    assert_int_equal(b->field, 1);
    assert_false(b->chosen);
    click(b, "File", 0.5);
    click(b, "Open", 0.5);
    assert_true(b->chosen);
}

/* A click that is over before the next picture is one; each button is whose it went down on. */
static void clicks_are_quicker_than_pictures(void **state)
{
    board *b = *state;
    double r[4];
    assert_true(und_ui_where(b->ui, "Reset", r));
    und_event e = {.kind = UND_EVENT_BUTTON, .down = true, .x = (r[0] + r[2]) / 2, .y = (r[1] + r[3]) / 2};
    event(b, (und_event){.kind = UND_EVENT_MOVE, .x = e.x, .y = e.y});
    assert_true(und_ui_event(b->ui, &e));
    e.down = false;
    assert_true(und_ui_event(b->ui, &e));
    draw(b);
    draw(b);
    assert_int_equal(b->pressed, 1);
    assert_false(event(b, (und_event){.kind = UND_EVENT_BUTTON, .down = true, .x = 390, .y = 290}));
    assert_true(
        event(b, (und_event){.kind = UND_EVENT_BUTTON, .button = 1, .down = true, .x = e.x, .y = e.y}));
    assert_false(event(b, (und_event){.kind = UND_EVENT_BUTTON, .x = e.x, .y = e.y}));
    assert_true(event(b, (und_event){.kind = UND_EVENT_BUTTON, .button = 1, .x = 390, .y = 290}));
}

/* Panels that stand at a border go with it. */
static void panels_go_with_the_window(void **state)
{
    board *b = *state;
    double before[4], after[4];
    for (int i = 0; i < 4; i++) {
        int width = i < 2 ? WIDTH - 100 : WIDTH;
        und_ui_begin(b->ui, width, HEIGHT, 1 / 60.0);
        und_ui_panel(b->ui, "Right", -10, 30, 120);
        und_ui_text(b->ui, "here");
        und_ui_panel_end(b->ui);
        assert_true(und_ui_where(b->ui, "Right", i < 2 ? before : after));
        und_ui_end(b->ui);
    }
    assert_double_near(before[2], WIDTH - 110, 1);
    assert_double_near(after[2], WIDTH - 10, 1);
}

static void typing_goes_to_the_field(void **state)
{
    board *b = *state;
    assert_false(event(b, (und_event){.kind = UND_EVENT_KEY, .key = 'A', .down = true}));
    click(b, "name", 0.5);
    for (const char *c = "pond"; *c; c++)
        assert_true(event(b, (und_event){.kind = UND_EVENT_TEXT, .text = (unsigned char)*c}));
    assert_string_equal(b->text, "pond");
    assert_true(event(b, (und_event){.kind = UND_EVENT_KEY, .key = 'A', .down = true}));
    event(b, (und_event){.kind = UND_EVENT_KEY, .key = 'A'});
    event(b, (und_event){.kind = UND_EVENT_KEY, .key = UND_KEY_ESCAPE, .down = true});
    event(b, (und_event){.kind = UND_EVENT_KEY, .key = UND_KEY_ESCAPE});
    draw(b);
    assert_false(event(b, (und_event){.kind = UND_EVENT_KEY, .key = 'A', .down = true}));
}

/* What is not over a panel is the picture's; a drag that began there stays there. */
static void the_picture_keeps_its_mouse(void **state)
{
    board *b = *state;
    double panel[4];
    assert_true(und_ui_where(b->ui, "Panel", panel));
    assert_false(event(b, (und_event){.kind = UND_EVENT_BUTTON, .down = true, .x = 390, .y = 290}));
    assert_false(event(b, (und_event){.kind = UND_EVENT_MOVE, .x = panel[0] + 5, .y = panel[1] + 5}));
    assert_false(event(b, (und_event){.kind = UND_EVENT_BUTTON, .x = panel[0] + 5, .y = panel[1] + 5}));
    assert_false(event(b, (und_event){.kind = UND_EVENT_SCROLL, .y = 1, .x = 0}) &&
                 event(b, (und_event){.kind = UND_EVENT_MOVE, .x = 390, .y = 290}));
    unsigned char rgb[3];
    und_gl_read(365, HEIGHT - 265, 1, 1, rgb);
    assert_int_equal(rgb[0], 255);
    assert_int_equal(rgb[1], 0);
    und_gl_read(390, HEIGHT - 290, 1, 1, rgb);
    assert_in_range(rgb[1], 127, 128);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(widgets_answer_the_mouse, open_board, close_board),
        cmocka_unit_test_setup_teardown(clicks_are_quicker_than_pictures, open_board, close_board),
        cmocka_unit_test_setup_teardown(panels_go_with_the_window, open_board, close_board),
        cmocka_unit_test_setup_teardown(typing_goes_to_the_field, open_board, close_board),
        cmocka_unit_test_setup_teardown(the_picture_keeps_its_mouse, open_board, close_board),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
