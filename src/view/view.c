/* The viewer's window: events in, pictures out. */
#include "view/view.h"

#include "base/stage.h"
#include "base/status.h"
#include "view/gl.h"
#include "view/view_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 2 };                 /* pixels between panes */
static const double TURN = 0.006; /* radians that a pixel of dragging turns */

__attribute__((format(printf, 2, 3))) static void say(und_view *v, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(v->note, sizeof v->note, format, list);
    va_end(list);
    v->note_until = v->clock + 6;
}

static void follow_timeline(und_view *v)
{
    und_frame_player *players[UND_VIEW_PANES];
    for (int i = 0; i < v->def.count; i++)
        players[i] = v->pane[i].player;
    und_timeline_follow(&v->timeline, players, v->def.count);
}

static void start_timeline(und_view *v)
{
    v->timeline = und_timeline_begin();
    v->timeline.playing = !v->def.paused;
    follow_timeline(v);
}

static und_status open_view(und_view *v, und_error *err)
{
    und_status status = UND_OK;
    for (int i = 0; i < v->def.count && status == UND_OK; i++)
        status = und_pane_open(&v->pane[i], &v->def, i, err);
    if (status != UND_OK)
        return status;
    char title[300];
    snprintf(title, sizeof title, "%s - Undine", v->pane[0].scene->name);
    und_screen_def window = {.title = title,
                             .width = v->def.width,
                             .height = v->def.height,
                             .offscreen = v->def.offscreen,
                             .small = v->def.small};
    v->window = und_screen_create(&window, err);
    v->ui = v->window ? und_ui_create(und_screen_scale(v->window), err) : NULL;
    if (!v->ui)
        return err->status;
    und_screen_size(v->window, &v->width, &v->height);
    snprintf(v->scene_path, sizeof v->scene_path, "out/%s-moment.lua", v->pane[0].scene->name);
    snprintf(v->state_path, sizeof v->state_path, "out/%s-moment", v->pane[0].scene->name);
    if (v->pane[0].player)
        start_timeline(v);
    else if (!v->def.paused)
        und_live_play(v->pane[0].live, true);
    v->clock = und_clock();
    return UND_OK;
}

und_view *und_view_create(const und_view_def *def, und_error *err)
{
    und_view *v = und_alloc(1, sizeof *v, "the viewer", err);
    if (!v)
        return NULL;
    v->def = *def;
    v->def.width = def->width > 0 ? def->width : 1280;
    v->def.height = def->height > 0 ? def->height : 800;
    v->size = 1;
    if (open_view(v, err) != UND_OK) {
        und_view_destroy(v);
        return NULL;
    }
    return v;
}

void und_view_destroy(und_view *v)
{
    if (!v)
        return;
    for (int i = 0; i < v->def.count; i++)
        und_pane_close(&v->pane[i]); /* painters first: they need the window's OpenGL */
    und_ui_destroy(v->ui);
    und_screen_destroy(v->window);
    free(v);
}

/* Dragging: orbit, or pan with shift, the middle button, or where all is flat. */
static void drag_camera(und_view *v, double dx, double dy)
{
    bool pan = v->button[UND_BUTTON_MIDDLE] || (v->mods & UND_MOD_SHIFT) || v->camera.flat;
    if (!v->button[UND_BUTTON_LEFT] && !v->button[UND_BUTTON_RIGHT] && !v->button[UND_BUTTON_MIDDLE])
        return;
    if (pan)
        und_camera_pan(&v->camera, -dx / v->height, dy / v->height);
    else
        und_camera_orbit(&v->camera, dx * TURN, dy * TURN);
    v->follow = false;
}

static void use_mouse(und_view *v, const und_event *event)
{
    double dx = event->x - v->mouse[0], dy = event->y - v->mouse[1];
    if (event->kind == UND_EVENT_BUTTON) {
        v->button[event->button] = event->down;
        v->mods = event->mods;
    }
    if (event->kind == UND_EVENT_SCROLL) {
        und_camera_zoom(&v->camera, pow(0.88, event->y));
        v->follow = false;
        return;
    }
    v->mouse[0] = event->x;
    v->mouse[1] = event->y;
    und_pane *pane = &v->pane[0];
    if (pane->editor && und_editor_event(pane->editor, event, &pane->lens, pane->painter)) {
        v->button[UND_BUTTON_LEFT] = false; /* a body hangs on the mouse, and the view stands */
        return;
    }
    if (!und_mouse_tools_event(v, event) && event->kind == UND_EVENT_MOVE)
        drag_camera(v, dx, dy);
}

void und_view_event(und_view *v, const und_event *event)
{
    if (event->kind == UND_EVENT_CLOSE)
        v->quit = true;
    if (event->kind == UND_EVENT_SIZE) {
        v->width = (int)event->x;
        v->height = (int)event->y;
        return;
    }
    bool taken = und_ui_event(v->ui, event);
    if (event->kind == UND_EVENT_KEY && event->key > 0 && event->key < UND_KEY_COUNT) {
        v->key[event->key] = event->down && !taken;
        v->mods = event->mods;
        if (!taken && event->down)
            und_menus_key(v, event);
    } else if (event->kind == UND_EVENT_BUTTON && !event->down && taken) {
        v->button[event->button] = false;
    } else if (!taken && (event->kind == UND_EVENT_MOVE || event->kind == UND_EVENT_BUTTON ||
                          event->kind == UND_EVENT_SCROLL)) {
        use_mouse(v, event);
    } else if (event->kind == UND_EVENT_MOVE) {
        v->mouse[0] = event->x;
        v->mouse[1] = event->y;
    }
}

/* W A S D Q E, while they are down: a fifth of what is seen a second, five times as fast with shift. */
static void fly(und_view *v, double seconds)
{
    double right = v->key['D'] - v->key['A'], up = v->key['E'] - v->key['Q'], on = v->key['W'] - v->key['S'];
    double way = fmin(seconds, 0.1) * v->camera.distance * (v->mods & UND_MOD_SHIFT ? 2.0 : 0.4);
    if (v->mods & (UND_MOD_CONTROL | UND_MOD_ALT) || (right == 0 && up == 0 && on == 0))
        return;
    v->follow = false;
    if (v->camera.flat)
        und_camera_fly(&v->camera, right * way, (on != 0 ? on : up) * way, 0);
    else
        und_camera_fly(&v->camera, right * way, up * way, on * way);
}

/* All that a painter shows, from the side that shows most of it. */
static void frame_bounds(und_view *v, const double low[3], const double high[3])
{
    double look[3], eye[3], angle = 40 * M_PI / 180, span = 0;
    for (int a = 0; a < 3; a++) {
        look[a] = (low[a] + high[a]) / 2;
        span = fmax(span, high[a] - low[a]);
    }
    memcpy(eye, (double[]){look[0] + 0.4 * span, look[1] + 0.85 * span, look[2] + 1.45 * span}, sizeof eye);
    if (v->camera.flat) {
        double aspect = (double)v->width / v->def.count / v->height, height = high[1] - low[1];
        memcpy(eye, (double[]){look[0], look[1], look[2] + 1.12 * fmax(height, (high[0] - low[0]) / aspect)},
               sizeof eye);
    }
    und_camera_look(&v->camera, eye, look, angle);
}

void und_view_look_home(und_view *v)
{
    double low[3], high[3], eye[3], look[3], angle;
    und_pane *pane = &v->pane[0];
    if (!pane->painter)
        return;
    pane->painter->class->bounds(pane->painter, low, high);
    v->size = fmax(hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]), 1e-6);
    if (!v->camera.flat && und_pane_camera(pane, eye, look, &angle))
        und_camera_look(&v->camera, eye, look, angle);
    else if (!v->camera.flat && pane->look.framed.any)
        frame_bounds(v, pane->look.framed.low, pane->look.framed.high);
    else
        frame_bounds(v, low, high);
}

static und_status take_frames(und_view *v, und_error *err)
{
    und_status status = UND_OK;
    if (v->pane[0].player)
        follow_timeline(v);
    for (int i = 0; i < v->def.count && status == UND_OK; i++)
        status = und_pane_take(&v->pane[i], err);
    if (v->pane[0].slice && v->pane[1].slice)
        und_slice_match(v->pane[0].slice, v->pane[1].slice);
    if (status == UND_OK && !v->framed && v->pane[0].painter) {
        v->camera.flat = strcmp(v->pane[0].painter->class->name, "flat") == 0;
        und_view_look_home(v);
        und_mouse_tools_reset(v);
        v->framed = true;
    }
    double eye[3], look[3], angle;
    if (v->follow && !v->camera.flat && und_pane_camera(&v->pane[0], eye, look, &angle))
        und_camera_look(&v->camera, eye, look, angle);
    return status;
}

static void match_painters(und_view *v)
{
    und_painter *first = v->pane[0].painter, *second = v->pane[1].painter;
    if (first && second && first->class == second->class && first->class->match)
        first->class->match(second, first);
}

static void draw_panes(und_view *v)
{
    int above = v->pane[0].player && !v->bare ? (int)und_ui_strip_height(v->ui) : 0; /* the timeline */
    und_screen_bind(v->window);
    glDisable(GL_SCISSOR_TEST);
    glClearColor(0.05f, 0.06f, 0.08f, 1);
    glClear(GL_COLOR_BUFFER_BIT | GL_DEPTH_BUFFER_BIT);
    match_painters(v);
    for (int i = 0; i < v->def.count; i++) {
        int width = (v->width - GAP * (v->def.count - 1)) / v->def.count; /* the same for both */
        v->pane[i].lens = und_camera_lens(
            &v->camera, (int[]){i * (width + GAP), above, width, v->height - above}, v->height, v->size);
        und_pane_draw(&v->pane[i], v->clock);
    }
    und_screen_bind(v->window);
    glViewport(0, 0, v->width, v->height);
}

static void measure(und_view *v, double began)
{
    enum { KEPT = sizeof v->drawn / sizeof *v->drawn };
    double now = und_clock();
    v->picture_time = now - began;
    v->drawn[v->pictures++ % KEPT] = now;
    int back = v->pictures < KEPT ? v->pictures : KEPT;
    while (back > 2 && now - v->drawn[(v->pictures - back) % KEPT] > 1)
        back--;
    double over = now - v->drawn[(v->pictures - back) % KEPT];
    v->picture_rate = back > 1 && over > 0 ? (back - 1) / over : 0;
}

/* The picture as it is drawn: what is shown may be gone from the buffer. */
static void take_shot(und_view *v)
{
    v->shot_error.status = UND_OK;
    und_status status = und_view_shoot(v, v->shot_path, &v->shot_error);
    if (!v->shot_quietly)
        say(v, "%.400s", status == UND_OK ? v->shot_path : v->shot_error.text);
    v->shot_quietly = false;
    v->shot_path[0] = 0;
}

/* Nothing moves: there is no need to draw the same picture sixty times a second. */
static bool idle(const und_view *v)
{
    bool moving = v->pane[0].live ? v->pane[0].state.playing : v->timeline.playing;
    for (int i = 0; i < UND_KEY_COUNT; i++)
        moving |= v->key[i];
    return !moving && v->clock > v->last_event + 0.5 && v->clock > v->note_until && v->framed;
}

bool und_view_frame(und_view *v, und_error *err)
{
    if (idle(v))
        und_screen_wait(v->window, 0.2);
    double began = und_clock(), seconds = began - v->clock;
    v->clock = began;
    und_event event;
    while (und_screen_event(v->window, &event)) {
        und_view_event(v, &event);
        v->last_event = v->clock;
    }
    fly(v, seconds);
    if (v->pane[0].player)
        und_timeline_advance(&v->timeline, seconds);
    if (take_frames(v, err) != UND_OK)
        return false;
    if (v->pane[0].live && v->pane[0].state.notes != v->notes_seen) {
        v->notes_seen = v->pane[0].state.notes;
        say(v, "%s", v->pane[0].state.note);
    }
    if (v->pane[0].editor) {
        int notes;
        const char *note = und_editor_note(v->pane[0].editor, &notes);
        if (notes != v->notes_seen)
            say(v, "%s", note);
        v->notes_seen = notes;
    }
    draw_panes(v);
    und_ui_begin(v->ui, v->width, v->height, seconds);
    und_menus_draw(v);
    und_ui_end(v->ui);
    if (v->shot_path[0])
        take_shot(v);
    glFinish(); /* what a picture takes, not what ordering it takes */
    measure(v, began);
    und_screen_show(v->window);
    return !v->quit;
}

void und_view_read(und_view *v, unsigned char *rgb)
{
    und_screen_bind(v->window);
    und_gl_read(0, 0, v->width, v->height, rgb);
}
und_live *und_view_live(und_view *v)
{
    return v->pane[0].live;
}
und_timeline *und_view_timeline(und_view *v)
{
    return v->pane[0].player ? &v->timeline : NULL;
}
void und_view_settle(und_view *v)
{
    for (int i = 0; i < v->def.count; i++)
        if (v->pane[i].live)
            und_live_settle(v->pane[i].live);
        else
            und_frame_player_settle(v->pane[i].player);
    if (v->pane[0].editor)
        und_editor_settle(v->pane[0].editor);
}
bool und_view_where(const und_view *v, const char *label, double rect[4])
{
    return und_ui_where(v->ui, label, rect);
}
const und_lens *und_view_lens(const und_view *v)
{
    return &v->pane[0].lens;
}
bool und_view_project(const und_view *v, const double point[3], double *x, double *y)
{
    const und_pane *pane = &v->pane[0];
    const double drawn[3] = {point[0], point[1] * und_painter_stretch(pane->painter), point[2]};
    return und_lens_project(&pane->lens, drawn, x, y);
}
