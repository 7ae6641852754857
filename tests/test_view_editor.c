/* Bodies put into a cached flow in the viewer are those that `undine float` puts there, bit for bit. */
#include "tests/folder.h"
#include "tests/same_items.h"
#include "tests/sim_model.h"

#include "cache/cache.h"
#include "scene/cached_scene.h"
#include "view/editor.h"
#include "view/gl.h"
#include "view/screen.h"
#include "view/view.h"

#include <time.h>

enum { FRAMES = 12 };

#define TIMES "scene { name = 'flow', start = 3, frames = 12, fps = 24 }\n"
static const char flat_flow[] = TIMES "liquid.cells { size = {1.6, 1, 0.05}, cells = {32, 20, 1},\n"
                                      "  track = 'markers', markers = 9, level = 0.3,\n"
                                      "  fill = box { max = {0.4, 0.7, 1} } }";
static const char deep_flow[] =
    TIMES "liquid.cells { size = {1.5, 0.6, 1}, cells = {15, 8, 10},\n"
          "  track = 'height', level = 0.25,\n"
          "  solids = { box { min = {0.7, 0, 0.3}, max = {0.8, 0.6, 0.6} } },\n"
          "  walls = { left = { kind = 'inflow', velocity = {0.4, 0, 0} }, right = 'outflow' } }";

static char folders[2][300];

typedef struct writer {
    und_scene *scene;
    und_sim *sim;
    und_cache *cache;
    int frames; /* written */
} writer;

static writer begin_flow(const char *text, const char *path)
{
    und_error err = {0};
    writer w = {.scene = und_scene_from_text(text, "flow.lua", NULL, 0, &err)};
    if (!w.scene)
        fail_msg("%s", err.text);
    w.sim = start(w.scene, 1);
    und_cache_def def = {.folder = path,
                         .name = "flow",
                         .model = "cells",
                         .scene_path = "flow.lua",
                         .scene_text = text,
                         .settings = "",
                         .start = 3,
                         .end = 2 + FRAMES,
                         .fps = 24,
                         .threads = 1,
                         .commit_every = -1}; /* readers see each frame at once */
    w.cache = und_cache_create(&def, true, &err);
    assert_non_null(w.cache);
    return w;
}

static void write_frames(writer *w, int count)
{
    und_error err = {0};
    und_ledger ledger = {0};
    for (; w->frames < count; w->frames++)
        if ((w->frames > 0 && und_sim_advance(w->sim, &err)) ||
            und_cache_write(w->cache, und_sim_frame(w->sim), &ledger, 1, &err))
            fail_msg("%s", err.text);
}

static void end_flow(writer *w)
{
    und_error err = {0};
    assert_int_equal(und_cache_close(w->cache, NULL, 0, &err), UND_OK);
    und_sim_destroy(w->sim);
    und_scene_destroy(w->scene);
}

static void write_flow(const char *text, const char *path)
{
    writer w = begin_flow(text, path);
    write_frames(&w, FRAMES);
    end_flow(&w);
}

static int setup(void **state)
{
    (void)state;
    test_folder_make_fast(&folder);
    snprintf(folders[0], sizeof folders[0], "%s/flat", folder.path);
    snprintf(folders[1], sizeof folders[1], "%s/deep", folder.path);
    write_flow(flat_flow, folders[0]);
    write_flow(deep_flow, folders[1]);
    return 0;
}

static und_editor *open_editor(const char *path, und_frame_player **player)
{
    und_error err = {0};
    *player = und_frame_player_create(path, NULL, 0, &err);
    if (!*player)
        fail_msg("%s", err.text);
    assert_true(und_editor_fits(*player));
    und_editor *editor = und_editor_create(*player, &err);
    if (!editor)
        fail_msg("%s", err.text);
    return editor;
}

static void close_editor(und_editor *editor, und_frame_player *player)
{
    und_editor_destroy(editor);
    und_frame_player_destroy(player);
}

static und_frame read_frame(const char *path, int number)
{
    und_error err = {0};
    und_frame frame = {0};
    und_cache *cache = und_cache_open(path, &err);
    assert_non_null(cache);
    if (und_cache_read(cache, number, &frame, &err) != UND_OK)
        fail_msg("%s", err.text);
    und_cache_close(cache, NULL, 0, &err);
    return frame;
}

static void add_some(und_editor *editor, bool flat)
{
    und_buoy ball = und_buoy_default(), box = und_buoy_default(), can = und_buoy_default();
    memcpy(ball.at, (double[]){0.31, 0.7, flat ? 0.025 : 0.41}, sizeof ball.at);
    box.kind = UND_BUOY_BOX;
    box.density = 700.0 / 3;
    memcpy(box.size, (double[]){0.2, 0.1, 0.12}, sizeof box.size);
    memcpy(box.at, (double[]){0.9, 0.45, flat ? 0.025 : 0.77}, sizeof box.at);
    box.spin[2] = 123.4;
    box.velocity[0] = -0.3;
    box.color[0] = 0.7f;
    box.color[1] = box.color[2] = 0.1f;
    can.kind = UND_BUOY_CYLINDER;
    memcpy(can.at, (double[]){1.2, 0.4, flat ? 0.025 : 0.2}, sizeof can.at);
    can.turn[2] = 100.0 / 7;
    can.release = 0.2;
    assert_int_equal(und_editor_add(editor, &ball), 0);
    assert_int_equal(und_editor_add(editor, &box), 1);
    assert_int_equal(und_editor_add(editor, &can), 2);
}

/* As `undine float` does it: the file, over the cache's frames; compared with what the editor shows. */
static void compare_with_float(und_editor *editor, const char *flow, const char *bodies_path)
{
    und_error err = {0};
    und_scene *bodies = und_scene_load_bodies(bodies_path, NULL, 0, &err);
    if (!bodies)
        fail_msg("%s", err.text);
    und_cache *cache = und_cache_open(flow, &err);
    und_cache_info info = und_cache_describe(cache);
    und_scene *scene = und_scene_of_cache(&info, NULL, 0, &err);
    und_floating_bodies_def def = und_sim_floating_bodies_def(und_scene_get(bodies), und_scene_get(scene), 2);
    und_floating_bodies *floating_bodies = NULL;
    for (int i = 3; i < 3 + FRAMES; i++) {
        und_frame frame = {0};
        assert_int_equal(und_cache_read(cache, i, &frame, &err), UND_OK);
        if (i == 3)
            floating_bodies = und_floating_bodies_create(&def, &frame, &err);
        else
            assert_int_equal(und_floating_bodies_advance(floating_bodies, &frame, &err), UND_OK);
        assert_non_null(floating_bodies);
        und_frame made = und_frame_empty(i, 0, frame.grid);
        assert_int_equal(und_floating_bodies_frame(floating_bodies, &made, &err), UND_OK);
        const und_frame *shown = und_editor_dress(editor, &frame);
        assert_ptr_not_equal(shown, &frame);
        assert_int_equal(same_items(&made, shown, true), 7);
        assert_int_equal(same_items(shown, &made, true), 7);
        assert_int_equal(shown->count, frame.count + 7); /* and all else is there */
        assert_true(und_frame_find(shown, "pressure")->data == und_frame_find(&frame, "pressure")->data);
        und_frame_clear(&made);
        und_frame_clear(&frame);
    }
    und_floating_bodies_destroy(floating_bodies);
    und_cache_close(cache, NULL, 0, &err);
    und_scene_destroy(scene);
    und_scene_destroy(bodies);
}

static void check_progress(und_editor *editor, int frames)
{
    int done, all;
    und_editor_progress(editor, &done, &all);
    assert_int_equal(done, frames);
    assert_int_equal(all, frames);
}

static void shown_is_what_float_makes(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        und_error err = {0};
        und_frame_player *player;
        und_editor *editor = open_editor(folders[k], &player);
        und_frame frame = read_frame(folders[k], 3);
        assert_ptr_equal(und_editor_dress(editor, &frame), &frame); /* no bodies yet */
        char path[400];
        snprintf(path, sizeof path, "%s/bodies%d.lua", folder.path, k);
        assert_int_equal(und_editor_save(editor, path, &err), UND_INVALID);
        add_some(editor, k == 0);
        und_editor_settle(editor);
        check_progress(editor, FRAMES);
        if (und_editor_save(editor, path, &err) != UND_OK)
            fail_msg("%s", err.text);
        compare_with_float(editor, folders[k], path);
        und_frame_clear(&frame);
        close_editor(editor, player);

        /* loaded again they are the same, in all their digits, and can be edited */
        editor = open_editor(folders[k], &player);
        assert_int_equal(und_editor_load(editor, path, &err), UND_OK);
        assert_int_equal(und_editor_count(editor), 3);
        assert_true(und_editor_get(editor, 1).density == 700.0 / 3);
        assert_true(und_editor_get(editor, 2).turn[2] == 100.0 / 7);
        assert_int_equal(und_editor_get(editor, 2).kind, UND_BUOY_CYLINDER);
        und_editor_settle(editor);
        compare_with_float(editor, folders[k], path);
        close_editor(editor, player);
    }
}

/* Until the player has so many frames of a cache that grows. */
static void await_frames(und_frame_player *player, int count)
{
    const struct timespec while_ = {.tv_nsec = 50000000};
    while (und_frame_player_info(player).row_count < count) {
        und_frame_player_seek(player, 2 + count, 0);
        und_frame_player_take(player);
        nanosleep(&while_, NULL);
    }
    assert_int_equal(und_frame_player_info(player).row_count, count);
}

/* In a flow that a run is still writing bodies go on as its frames come, as if they had all been there. */
static void bodies_go_on_as_the_flow_grows(void **state)
{
    (void)state;
    und_error err = {0};
    und_frame_player *player;
    char path[400], bodies[400];
    snprintf(path, sizeof path, "%s/grows", folder.path);
    snprintf(bodies, sizeof bodies, "%s/grows.lua", folder.path);
    writer w = begin_flow(flat_flow, path);
    write_frames(&w, 5);
    und_editor *editor = open_editor(path, &player);
    add_some(editor, true);
    und_editor_settle(editor);
    check_progress(editor, 5);
    write_frames(&w, 8);
    await_frames(player, 8);
    und_frame late = read_frame(path, 10);
    und_editor_dress(editor, &late);
    und_editor_settle(editor);
    check_progress(editor, 8);
    assert_true(und_editor_has_news(editor));
    und_editor_dress(editor, &late);
    assert_false(und_editor_has_news(editor));
    write_frames(&w, FRAMES);
    end_flow(&w);
    await_frames(player, FRAMES);
    und_editor_dress(editor, &late);
    und_editor_settle(editor);
    check_progress(editor, FRAMES);
    assert_int_equal(und_editor_save(editor, bodies, &err), UND_OK);
    compare_with_float(editor, path, bodies);
    und_frame_clear(&late);
    close_editor(editor, player);
}

static const float *places(const und_frame *frame)
{
    const und_item *item = und_frame_find(frame, "bodies/position");
    assert_non_null(item);
    return item->data;
}

/* A change is seen; what is taken away is gone. */
static void changes_are_seen(void **state)
{
    (void)state;
    und_frame_player *player;
    und_editor *editor = open_editor(folders[0], &player);
    und_frame late = read_frame(folders[0], 2 + FRAMES);
    add_some(editor, true);
    und_editor_settle(editor);
    float before = places(und_editor_dress(editor, &late))[1];
    assert_false(und_editor_has_news(editor));
    und_buoy heavy = und_editor_get(editor, 0);
    heavy.density = 5000;
    und_editor_set(editor, 0, &heavy);
    und_editor_settle(editor);
    assert_true(und_editor_has_news(editor));
    float after = places(und_editor_dress(editor, &late))[1];
    assert_true(after < before - 0.01f); /* it sinks */
    assert_false(und_editor_has_news(editor));
    /* held where it is until it is let go, at frame 8 */
    const float *at = places(und_editor_dress(editor, &late));
    assert_true(at[7] != 0.4f);
    und_frame early = read_frame(folders[0], 5);
    at = places(und_editor_dress(editor, &early));
    assert_true(at[6] == 1.2f && at[7] == 0.4f);
    for (int i = 0; i < 40; i++) { /* a mouse that moves faster than it is worked out */
        heavy.at[0] = 0.3 + 0.02 * i;
        und_editor_set(editor, 0, &heavy);
    }
    und_editor_settle(editor);
    und_frame_clear(&early);
    early = read_frame(folders[0], 3);
    assert_double_near((double)places(und_editor_dress(editor, &early))[0], 0.3 + 0.02 * 39, 1e-6);
    for (int i = 0; i < 3; i++)
        und_editor_remove(editor, 0);
    und_editor_settle(editor);
    assert_null(und_frame_find(und_editor_dress(editor, &late), "bodies/position"));
    und_frame_clear(&early);
    und_frame_clear(&late);
    add_some(editor, true);
    close_editor(editor, player); /* in the middle of its work */
}

/* Bodies that the editor does not know how to write stay as their file has them; others are added to them. */
static void what_it_does_not_know_stays(void **state)
{
    (void)state;
    und_error err = {0};
    und_frame_player *player;
    und_editor *editor = open_editor(folders[1], &player);
    char path[400], copy[400];
    snprintf(path, sizeof path, "%s/odd.lua", folder.path);
    snprintf(copy, sizeof copy, "%s/copy.lua", folder.path);
    static const char odd[] =
        "local r = 0.05\n"
        "bodies { { shape = union { sphere { radius = r }, box { size = {0.3, 0.02, 0.02} } },\n"
        "  density = 300, at = {0.3, 0.3, 0.5} } }\n";
    assert_int_equal(und_file_write(path, odd, strlen(odd), &err), UND_OK);
    assert_int_equal(und_editor_load(editor, path, &err), UND_OK);
    assert_int_equal(und_editor_count(editor), 0);
    und_buoy ball = und_buoy_default();
    memcpy(ball.at, (double[]){1.1, 0.4, 0.5}, sizeof ball.at);
    assert_int_equal(und_editor_add(editor, &ball), 0);
    und_editor_settle(editor);
    if (und_editor_save(editor, copy, &err) != UND_OK)
        fail_msg("%s", err.text);
    und_scene *scene = und_scene_load_bodies(copy, NULL, 0, &err);
    assert_non_null(scene);
    assert_int_equal(und_scene_get(scene)->floating_bodies.body_count, 2);
    und_scene_destroy(scene);
    compare_with_float(editor, folders[1], copy);
    /* nonsense is refused, and nothing is lost */
    assert_int_equal(und_file_write(path, "bodies {", 8, &err), UND_OK);
    assert_int_equal(und_editor_load(editor, path, &err), UND_INVALID);
    assert_non_null(strstr(err.text, "odd.lua"));
    assert_int_equal(und_editor_load(editor, "nowhere.lua", &err), UND_INVALID);
    assert_int_equal(und_editor_count(editor), 1);
    close_editor(editor, player);
}

static und_event mouse(und_event_kind kind, double x, double y, bool down)
{
    return (und_event){.kind = kind, .x = x, .y = y, .button = UND_BUTTON_LEFT, .down = down};
}

static void run(und_editor *editor, const char *label)
{
    int count = 0;
    const und_action *actions = und_editor_actions(editor, &count);
    for (int i = 0; i < count; i++)
        if (strcmp(actions[i].label, label) == 0) {
            assert_true(!actions[i].enabled || actions[i].enabled(editor));
            actions[i].run(editor);
            return;
        }
    fail_msg("there is no %s", label);
}

/* Draws the editor's panel, and tells whether it has a widget of that name. */
static bool panel_has(und_editor *editor, und_ui *ui, const char *label)
{
    double rect[4];
    und_ui_begin(ui, 600, 800, 0.1);
    und_editor_panel(editor, ui);
    und_ui_end(ui);
    return und_ui_where(ui, label, rect);
}

/* Clicks the middle of a widget. */
static void press(und_editor *editor, und_ui *ui, const char *label)
{
    double rect[4];
    for (int i = 0; i < 3; i++) /* as large as its contents only then */
        assert_true(panel_has(editor, ui, label));
    assert_true(und_ui_where(ui, label, rect));
    for (int k = 0; k < 3; k++) {
        und_event event =
            mouse(k == 0 ? UND_EVENT_MOVE : UND_EVENT_BUTTON, rect[0] + 8, 0.5 * (rect[1] + rect[3]), k == 1);
        und_ui_event(ui, &event);
        (void)panel_has(editor, ui, label);
    }
}

/* What a file says of damping is not offered to be changed while it stays as it is; it can be left out. */
static void what_is_fixed_can_be_left_out(void **state)
{
    (void)state;
    und_error err = {0};
    und_frame_player *player;
    und_editor *editor = open_editor(folders[0], &player);
    const und_screen_def screen_def = {.width = 600, .height = 800, .offscreen = true};
    und_screen *screen = und_screen_create(&screen_def, &err);
    und_ui *ui = screen ? und_ui_create(1, &err) : NULL;
    if (!ui)
        fail_msg("%s", err.text);
    char path[400];
    snprintf(path, sizeof path, "%s/fixed.lua", folder.path);
    static const char odd[] = "float { damping = 2 }\n"
                              "bodies { { shape = union { sphere { radius = 0.1 }, sphere { radius = 0.05 } "
                              "}, density = 300, at = {0.5, 0.5, 0.025} } }\n";
    assert_int_equal(und_file_write(path, odd, strlen(odd), &err), UND_OK);
    und_editor_open(editor, true);
    assert_false(panel_has(editor, ui, "Leave these out"));
    press(editor, ui, "Damping");
    assert_true(panel_has(editor, ui, "damping") && panel_has(editor, ui, "nodes"));
    und_frame frame = read_frame(folders[0], 3);
    for (int k = 0; k < 2; k++) {
        assert_int_equal(und_editor_load(editor, path, &err), UND_OK);
        und_editor_settle(editor);
        assert_int_equal(und_editor_fixed(editor), 1);
        assert_int_equal(und_frame_find(und_editor_dress(editor, &frame), "bodies/position")->dim[0], 1);
        assert_true(panel_has(editor, ui, "Save the bodies"));
        assert_false(panel_has(editor, ui, "damping") || panel_has(editor, ui, "nodes"));
        if (k == 0)
            press(editor, ui, "Leave these out");
        else
            run(editor, "Delete all bodies");
        und_editor_settle(editor);
        assert_int_equal(und_editor_fixed(editor), 0);
        assert_null(und_frame_find(und_editor_dress(editor, &frame), "bodies/position"));
        assert_true(panel_has(editor, ui, "damping") && panel_has(editor, ui, "nodes"));
    }
    und_frame_clear(&frame);
    und_ui_destroy(ui);
    und_screen_destroy(screen);
    close_editor(editor, player);
}

static void check_text(const char *path, const char *expected)
{
    und_error err = {0};
    char *text = NULL;
    size_t bytes;
    assert_int_equal(und_file_read(path, 1 << 20, &text, &bytes, &err), UND_OK);
    assert_string_equal(text, expected);
    free(text);
}

/* Only what was saved by the editor is written over, and only by what can be loaded again. */
static void files_of_others_stay(void **state)
{
    (void)state;
    static const char other[] = "-- two weeks of work\nbodies {}\n";
    und_error err = {0};
    und_frame_player *player;
    und_editor *editor = open_editor(folders[0], &player);
    char path[400], own[400], *text = NULL;
    size_t bytes;
    snprintf(path, sizeof path, "%s/work.lua", folder.path);
    snprintf(own, sizeof own, "%s/own.lua", folder.path);
    assert_int_equal(und_file_write(path, other, strlen(other), &err), UND_OK);
    add_some(editor, true);
    assert_int_equal(und_editor_save(editor, path, &err), UND_INVALID);
    assert_non_null(strstr(err.text, "work.lua"));
    check_text(path, other);
    assert_int_equal(und_editor_save(editor, folder.path, &err), UND_INVALID); /* a folder */
    assert_int_equal(und_editor_save(editor, own, &err), UND_OK);
    und_editor_remove(editor, 0);
    assert_int_equal(und_editor_save(editor, own, &err), UND_OK); /* its own */
    assert_int_equal(und_file_read(own, 1 << 20, &text, &bytes, &err), UND_OK);
    und_buoy bad = und_editor_get(editor, 0);
    bad.density = NAN;
    und_editor_set(editor, 0, &bad);
    assert_int_equal(und_editor_save(editor, own, &err), UND_INVALID);
    check_text(own, text);
    assert_int_equal(und_editor_load(editor, own, &err), UND_OK);
    assert_int_equal(und_editor_count(editor), 2);
    /* with the text of another in it, it is its own all the same */
    static const char odd[] = "bodies { { shape = union { sphere { radius = 0.1 }, sphere { radius = 0.05 } "
                              "}, density = 300, at = {0.5, 0.5, 0.025} } }\n";
    snprintf(path, sizeof path, "%s/strange.lua", folder.path);
    assert_int_equal(und_file_write(path, odd, strlen(odd), &err), UND_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(und_editor_load(editor, i ? own : path, &err), UND_OK);
        assert_int_equal(und_editor_fixed(editor), 1);
        assert_int_equal(und_editor_save(editor, own, &err), UND_OK);
    }
    free(text);
    close_editor(editor, player);
}

/* Numbers that no body may have are told, and the editor goes on. */
static void wrong_numbers_are_told(void **state)
{
    (void)state;
    und_error err = {0};
    und_frame_player *player;
    und_editor *editor = open_editor(folders[0], &player);
    und_buoy bad = und_buoy_default();
    bad.density = NAN;
    und_editor_add(editor, &bad);
    und_editor_settle(editor);
    char path[400];
    snprintf(path, sizeof path, "%s/bad.lua", folder.path);
    assert_int_equal(und_editor_save(editor, path, &err), UND_INVALID);
    bad.density = 300;
    bad.at[0] = 0.5;
    bad.at[1] = 0.5;
    und_editor_set(editor, 0, &bad);
    und_editor_settle(editor);
    check_progress(editor, FRAMES);
    close_editor(editor, player);
}

/* With the mouse: dropped where it is clicked, seen there, and dragged. */
static void the_mouse_drops_and_drags(void **state)
{
    (void)state;
    enum { WIDTH = 320, HEIGHT = 200 };
    und_error err = {0};
    und_frame_player *player;
    und_editor *editor = open_editor(folders[0], &player);
    und_screen *screen =
        und_screen_create(&(und_screen_def){.width = WIDTH, .height = HEIGHT, .offscreen = true}, &err);
    assert_non_null(screen);
    const und_picture_def look = {.vertical = 1};
    und_painter *painter = und_flat_create(&look, &err);
    assert_non_null(painter);
    und_frame frame = read_frame(folders[0], 8);
    und_camera camera = {.flat = true};
    und_camera_look(&camera, (double[]){0.8, 0.5, 1.025}, (double[]){0.8, 0.5, 0.025},
                    0.7); /* 5 mm a pixel */
    und_lens lens = und_camera_lens(&camera, (int[]){0, 0, WIDTH, HEIGHT}, HEIGHT, 2);
    assert_int_equal(painter->class->take(painter, und_editor_dress(editor, &frame), &err), UND_OK);
    und_event down = mouse(UND_EVENT_BUTTON, 200, 60, true), up = mouse(UND_EVENT_BUTTON, 200, 60, false);
    assert_false(und_editor_event(editor, &down, &lens, painter)); /* it is not open */
    und_editor_open(editor, true);
    assert_false(und_editor_event(editor, &down, &lens, painter)); /* nothing is there to be selected */
    und_buoy ball = und_buoy_default();
    memcpy(ball.at, (double[]){0.5, 0.8, 0.025}, sizeof ball.at);
    ball.release = 5.0 / 24; /* at the frame shown */
    und_editor_add(editor, &ball);
    und_editor_settle(editor);
    und_editor_dress(editor, &frame);
    und_event grab = mouse(UND_EVENT_BUTTON, 102, 41, true), drag = mouse(UND_EVENT_MOVE, 222, 61, false);
    assert_true(und_editor_event(editor, &grab, &lens, painter));
    assert_true(und_editor_event(editor, &drag, &lens, painter));
    assert_true(und_editor_event(editor, &up, &lens, painter));
    assert_false(und_editor_event(editor, &drag, &lens, painter)); /* it was let go */
    ball = und_editor_get(editor, 0);
    assert_double_near(ball.at[0], 0.5 + 120 * 0.005, 1e-5);
    assert_double_near(ball.at[1], 0.8 - 20 * 0.005, 1e-5);
    assert_true(ball.release == frame.time);
    und_editor_settle(editor);
    assert_int_equal(painter->class->take(painter, und_editor_dress(editor, &frame), &err), UND_OK);
    und_screen_bind(screen);
    painter->class->draw(painter, &lens, 0);
    unsigned char seen[HEIGHT][WIDTH][3];
    und_gl_read(0, 0, WIDTH, HEIGHT, seen[0][0]);
    assert_true(seen[60][220][0] > seen[60][220][2] + 50); /* red, where it is now */
    assert_true(seen[40][100][2] > 200);                   /* air, where it was */
    painter->class->destroy(painter);
    und_frame_clear(&frame);
    close_editor(editor, player);
    und_screen_destroy(screen);
}

/* Heights drawn three times as large: a body is found where it is seen, and follows the mouse. */
static void the_mouse_reaches_stretched_heights(void **state)
{
    (void)state;
    enum { WIDTH = 320, HEIGHT = 200 };
    const double factor = 3;
    und_error err = {0};
    und_frame_player *player;
    und_editor *editor = open_editor(folders[1], &player);
    und_screen *screen =
        und_screen_create(&(und_screen_def){.width = WIDTH, .height = HEIGHT, .offscreen = true}, &err);
    assert_non_null(screen);
    und_picture_def look = und_picture_def_default();
    look.vertical = factor;
    und_painter *painter = und_sea_create(&look, &err);
    assert_non_null(painter);
    und_frame frame = read_frame(folders[1], 3);
    und_camera camera = {0};
    und_camera_look(&camera, (double[]){0.4, 1.4, 2.5}, (double[]){0.4, 0.75, 0.5}, 0.7);
    und_lens lens = und_camera_lens(&camera, (int[]){0, 0, WIDTH, HEIGHT}, HEIGHT, 2);
    assert_int_equal(painter->class->take(painter, und_editor_dress(editor, &frame), &err), UND_OK);
    und_editor_open(editor, true);
    und_editor_stretch(editor, und_painter_stretch(painter));
    und_buoy ball = und_buoy_default();
    const double place[3] = {0.4, 0.3, 0.5};
    memcpy(ball.at, place, sizeof ball.at);
    und_editor_add(editor, &ball);
    und_editor_settle(editor);
    und_editor_dress(editor, &frame);
    double x, y, toward[2];
    assert_true(und_lens_project(&lens, (double[]){0.4, factor * 0.3, 0.5}, &x, &y));
    assert_true(und_lens_project(&lens, (double[]){0.5, factor * 0.3, 0.5}, &toward[0], &toward[1]));
    und_event grab = mouse(UND_EVENT_BUTTON, x, y, true),
              drag = mouse(UND_EVENT_MOVE, toward[0], toward[1], false),
              up = mouse(UND_EVENT_BUTTON, x, y, false);
    assert_true(und_editor_event(editor, &grab, &lens, painter));
    assert_true(und_editor_event(editor, &drag, &lens, painter));
    assert_true(und_editor_event(editor, &up, &lens, painter));
    ball = und_editor_get(editor, 0);
    assert_double_near(ball.at[0], 0.5, 1e-4);
    assert_double_near(ball.at[1], 0.3, 1e-4);
    assert_double_near(ball.at[2], 0.5, 1e-4);
    painter->class->destroy(painter);
    und_frame_clear(&frame);
    close_editor(editor, player);
    und_screen_destroy(screen);
}

static void send(und_view *view, und_event event)
{
    und_view_event(view, &event);
}

static void draw(und_view *view)
{
    und_error err;
    und_view_settle(view);
    assert_true(und_view_frame(view, &err));
}

static void click(und_view *view, double x, double y)
{
    send(view, mouse(UND_EVENT_MOVE, x, y, false));
    draw(view);
    send(view, mouse(UND_EVENT_BUTTON, x, y, true));
    draw(view);
    send(view, mouse(UND_EVENT_BUTTON, x, y, false));
    draw(view);
}

static void click_on(und_view *view, const char *label)
{
    double rect[4];
    draw(view);
    if (!und_view_where(view, label, rect))
        fail_msg("%s is not there", label);
    click(view, rect[0] + 8, 0.5 * (rect[1] + rect[3]));
}

/* In the whole viewer: keys and clicks put a body in, and it is seen in all frames. */
static void the_window_shows_them(void **state)
{
    (void)state;
    enum { WIDTH = 900, HEIGHT = 700 };
    static unsigned char before[HEIGHT][WIDTH][3], after[HEIGHT][WIDTH][3];
    und_error err = {0};
    und_view_def def = {.paths = {folders[0]},
                        .count = 1,
                        .width = WIDTH,
                        .height = HEIGHT,
                        .offscreen = true,
                        .paused = true};
    und_view *view = und_view_create(&def, &err);
    if (!view)
        fail_msg("%s", err.text);
    draw(view);
    draw(view);
    send(view, (und_event){.kind = UND_EVENT_KEY, .key = 'F', .mods = UND_MOD_CONTROL, .down = true});
    send(view, (und_event){.kind = UND_EVENT_KEY, .key = 'F', .mods = UND_MOD_CONTROL});
    draw(view);
    click_on(view, "Drop balls");
    double x, y;
    assert_true(und_lens_project(und_view_lens(view), (double[]){1.1, 0.7, 0.025}, &x, &y));
    und_view_read(view, before[0][0]);
    click(view, x, y);
    draw(view);
    und_view_read(view, after[0][0]);
    const unsigned char *was = before[(int)y][(int)x], *is = after[(int)y][(int)x];
    assert_true(was[0] > 230 && was[2] > 230);   /* air */
    assert_true(is[0] > is[2] + 60);             /* an orange ball */
    und_view_timeline(view)->frame = 2 + FRAMES; /* by then it has fallen */
    draw(view);
    draw(view);
    und_view_read(view, after[0][0]);
    assert_true(is[0] > 230 && is[2] > 230);
    int orange = 0; /* lower, wherever the waves took it; the panel's bar is not so red */
    for (int row = (int)y + 20; row < HEIGHT - und_view_lens(view)->y; row++)
        for (int column = 330; column < WIDTH; column++)
            orange += after[row][column][0] > after[row][column][2] + 60;
    assert_true(orange > 200);
    und_view_destroy(view);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shown_is_what_float_makes),
        cmocka_unit_test(bodies_go_on_as_the_flow_grows),
        cmocka_unit_test(changes_are_seen),
        cmocka_unit_test(what_it_does_not_know_stays),
        cmocka_unit_test(what_is_fixed_can_be_left_out),
        cmocka_unit_test(files_of_others_stay),
        cmocka_unit_test(wrong_numbers_are_told),
        cmocka_unit_test(the_mouse_drops_and_drags),
        cmocka_unit_test(the_mouse_reaches_stretched_heights),
        cmocka_unit_test(the_window_shows_them),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
