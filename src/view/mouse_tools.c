/* The mouse as a hand on a liquid that runs, and the panel of what can be turned there. */
#include "view/view_parts.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { RING = 48 };                                  /* sides of the circle where the hand is */
static const double NARROWEST = 0.004, WIDEST = 0.2; /* mouse tools, in sizes of what is shown */
/* What is not turned stays: in the meantime it may have changed by itself. */
static const und_tuning as_it_is = {NAN, NAN, NAN, NAN, 0};

static const struct {
    const char *name, *tip, *strength, *format;
} tools[UND_VIEW_TOOLS] = {
    [UND_TOOL_NONE] = {"Look", "drag turns the view", NULL, NULL},
    [UND_TOOL_STIR] = {"Stir", "press, and the water swings under the mouse", "amplitude", "%.3g m"},
    [UND_TOOL_POUR] = {"Pour", "adds water", "rate of pouring", "%.3g m3/s"},
    [UND_TOOL_DRAIN] = {"Drain", "takes water", "rate of draining", "%.3g m3/s"},
    [UND_TOOL_RAISE] = {"Raise the ground", "builds hills and dams", "speed of raising", "%.3g m/s"},
    [UND_TOOL_DIG] = {"Dig", "makes hollows and channels", "speed of digging", "%.3g m/s"},
    [UND_TOOL_LIQUID] = {"Paint liquid", "fills empty cells", NULL, NULL},
    [UND_TOOL_SOLID] = {"Paint solid", "walls", NULL, NULL},
    [UND_TOOL_INFLOW] = {"Paint inflow", "walls from which liquid comes", NULL, NULL},
    [UND_TOOL_ERASE] = {"Erase", "what was painted, or liquid", NULL, NULL},
    [UND_TOOL_BALL] = {"Drop a ball", "click, and one falls there", NULL, NULL},
};

static bool can(const und_view *v, int tool)
{
    const und_pane *pane = &v->pane[0];
    if (!pane->live)
        return false;
    return tool == UND_TOOL_NONE ||
           (tool == UND_TOOL_BALL ? pane->state.has_balls : (pane->state.tools >> tool & 1) != 0);
}

void und_mouse_tools_reset(und_view *v)
{
    und_mouse_tools *h = &v->tools;
    double low[3], high[3];
    const und_painter *painter = v->pane[0].painter;
    painter->class->bounds(painter, low, high);
    double span = fmax(high[0] - low[0], high[2] - low[2]);
    if (v->camera.flat)
        span = fmax(high[0] - low[0], high[1] - low[1]);
    h->radius = 0.04 * span;
    h->strength[UND_TOOL_STIR] = 0.012 * span;
    h->strength[UND_TOOL_POUR] = h->strength[UND_TOOL_DRAIN] = M_PI * pow(h->radius, 3);
    h->strength[UND_TOOL_RAISE] = h->strength[UND_TOOL_DIG] = 0.5 * h->radius;
    memcpy(h->usual, h->strength, sizeof h->usual);
    h->period = 0.35 * sqrt(span);
    h->flow = sqrt(9.81 * span) / 3;
    h->direction = -90;
    h->ball_radius = 0.03 * span;
    h->ball_density = 400;
    h->rain = 20 / (span * span) * 16;
    for (int tool = UND_TOOL_STIR; tool < UND_VIEW_TOOLS && h->tool == UND_TOOL_NONE; tool++)
        if (can(v, tool))
            h->tool = tool; /* the first that it has: people want to stir at once */
}

/* What is under the mouse. */
static bool find(und_view *v)
{
    und_pane *pane = &v->pane[0];
    double origin[3], direction[3];
    if (!pane->painter || !und_lens_holds(&pane->lens, v->mouse[0], v->mouse[1]))
        return false;
    und_lens_ray(&pane->lens, v->mouse[0], v->mouse[1], origin, direction);
    return pane->painter->class->pick(pane->painter, origin, direction, v->tools.place);
}

static void post(und_view *v)
{
    const und_mouse_tools *h = &v->tools;
    und_mouse_tool hand = {
        .tool = h->down ? (und_tool)h->tool : UND_TOOL_NONE, .radius = h->radius, .period = h->period};
    double angle = h->direction * M_PI / 180;
    hand.strength = h->tool < UND_TOOLS ? h->strength[h->tool] : 0;
    hand.velocity[0] = h->tool == UND_TOOL_INFLOW ? h->flow * cos(angle) : 0;
    hand.velocity[1] = h->tool == UND_TOOL_INFLOW ? h->flow * sin(angle) : 0;
    memcpy(hand.place, h->place, sizeof hand.place);
    memcpy(hand.from, h->place, sizeof hand.from);
    und_live_hand(v->pane[0].live, &hand);
}

/* From where it can be seen falling. */
static void drop_ball(und_view *v)
{
    und_ball ball = {.radius = v->tools.ball_radius, .density = v->tools.ball_density};
    memcpy(ball.place, v->tools.place, sizeof ball.place);
    ball.place[1] += 6 * ball.radius;
    und_live_throw(v->pane[0].live, &ball);
}

bool und_mouse_tools_event(und_view *v, const und_event *event)
{
    und_mouse_tools *h = &v->tools;
    bool moves = event->kind == UND_EVENT_MOVE,
         left = event->kind == UND_EVENT_BUTTON && event->button == UND_BUTTON_LEFT;
    if (!v->pane[0].live)
        return false;
    h->shown = find(v);
    if (left && !event->down && h->down) {
        h->down = false;
        post(v);
        return true;
    }
    if (moves && h->down) {
        if (h->shown)
            post(v);
        return true;
    }
    if (!left || !event->down || !h->shown || h->tool == UND_TOOL_NONE ||
        (event->mods & (UND_MOD_SHIFT | UND_MOD_ALT)))
        return false;
    if (h->tool == UND_TOOL_BALL) {
        drop_ball(v);
        v->button[UND_BUTTON_LEFT] = false; /* moving on does not turn the view */
        return true;
    }
    h->down = true;
    post(v);
    return true;
}

/* Dark on the light ground of what is flat. */
static unsigned ring_color(bool flat, bool down)
{
    if (flat)
        return down ? 0xd06010ff : 0x203040b0;
    return down ? 0xffe08cff : 0xffffffb0;
}

void und_mouse_tools_annotate(und_view *v)
{
    const und_mouse_tools *h = &v->tools;
    if (!v->pane[0].live || !h->shown || h->tool == UND_TOOL_NONE)
        return;
    double radius = h->tool == UND_TOOL_BALL ? h->ball_radius : h->radius, before[2] = {0}, now[2];
    double up = radius / und_painter_stretch(v->pane[0].painter); /* round wherever it stands upright */
    bool had = false;
    for (int i = 0; i <= RING; i++) {
        double angle = 2 * M_PI * i / RING, point[3];
        memcpy(point, h->place, sizeof point);
        point[0] += radius * cos(angle);
        point[v->camera.flat ? 1 : 2] += (v->camera.flat ? up : radius) * sin(angle);
        bool seen = und_view_project(v, point, &now[0], &now[1]);
        if (seen && had)
            und_ui_draw_line(v->ui, before[0], before[1], now[0], now[1], ring_color(v->camera.flat, h->down),
                             1.5);
        memcpy(before, now, sizeof before);
        had = seen;
    }
}

static void tool_panel(und_view *v)
{
    und_mouse_tools *h = &v->tools;
    double span = v->size, *strength = h->tool < UND_TOOLS ? &h->strength[h->tool] : NULL;
    for (int tool = 0; tool < UND_VIEW_TOOLS; tool++)
        if (can(v, tool)) {
            if (und_ui_radio(v->ui, tools[tool].name, h->tool == tool))
                h->tool = tool;
            und_ui_tip(v->ui, tools[tool].tip);
        }
    if (h->tool == UND_TOOL_NONE)
        return;
    if (h->tool == UND_TOOL_BALL) {
        und_ui_slider(v->ui, "ball's radius", &h->ball_radius, 0.005 * span, 0.1 * span, "%.3g m", false);
        und_ui_slider(v->ui, "ball's density", &h->ball_density, 50, 8000, "%.0f kg/m3", true);
        und_ui_text(v->ui, "%d balls left", v->pane[0].state.balls_left);
        return;
    }
    und_ui_slider(v->ui, "width", &h->radius, NARROWEST * span, WIDEST * span, "%.3g m", true);
    if (tools[h->tool].strength)
        und_ui_slider(v->ui, tools[h->tool].strength, strength, 0.01 * h->usual[h->tool],
                      20 * h->usual[h->tool], tools[h->tool].format, true);
    if (h->tool == UND_TOOL_STIR)
        und_ui_slider(v->ui, "period", &h->period, 0.05, 20, "%.2f s", true);
    if (h->tool == UND_TOOL_INFLOW) {
        und_ui_slider(v->ui, "speed of inflow", &h->flow, 0, 3 * sqrt(9.81 * span), "%.2f m/s", false);
        und_ui_slider(v->ui, "direction", &h->direction, -180, 180, "%.0f degrees", false);
    }
}

static void tuning_panel(und_view *v)
{
    const und_live_state *state = &v->pane[0].state;
    und_live *live = v->pane[0].live;
    und_tuning tuning = state->tuning, turned = as_it_is;
    double step = state->time_step, frame = 1 / v->pane[0].scene->fps, speed = state->speed;
    if (und_ui_slider(v->ui, "time step", &step, frame / 64, 4 * frame, "%.4f s", true))
        und_live_time_step(live, step);
    if (und_ui_slider(v->ui, "speed", &speed, 0, 4, speed > 0 ? "%.2f x real time" : "as fast as it can",
                      false))
        und_live_speed(live, speed);
    if (isfinite(tuning.gravity) &&
        und_ui_slider(v->ui, "gravity", &tuning.gravity, 0, 30, "%.2f m/s2", false))
        turned.gravity = tuning.gravity;
    if (state->has_damping && und_ui_slider(v->ui, "damping", &tuning.damping, 0, 5, "%.3f 1/s", false))
        turned.damping = tuning.damping;
    if (state->has_viscosity &&
        und_ui_slider(v->ui, "viscosity", &tuning.viscosity, 0, 0.1, "%.2g m2/s", true))
        turned.viscosity = tuning.viscosity;
    if (tuning.order > 0) {
        bool keeps = tuning.order == 2;
        if (und_ui_check(v->ui, "waves last (order 2)", &keeps))
            turned.order = keeps ? 2 : 1;
    }
    if (state->has_rain) {
        bool rains = tuning.rain > 0;
        if (und_ui_check(v->ui, "rain", &rains)) {
            turned.rain = rains ? v->tools.rain : 0;
        }
        if (und_ui_slider(v->ui, "drops", &v->tools.rain, 0.01, 200, "%.3g /m2/s", true) && rains) {
            turned.rain = v->tools.rain;
        }
    }
    if (memcmp(&turned, &as_it_is, sizeof turned) != 0)
        und_live_tune(live, &turned);
}

static void play(void *context)
{
    und_view *v = context;
    und_live_play(v->pane[0].live, !v->pane[0].state.playing);
}
static void step(void *context)
{
    und_live_step(((und_view *)context)->pane[0].live, 1);
}
static void reset(void *context)
{
    und_live_reset(((und_view *)context)->pane[0].live);
}
/* A name that is not taken yet: what was saved before stays.  NAME.lua, NAME-2.lua and so on. */
static void find_free(char *path, size_t size)
{
    char *ending = strstr(path, ".lua"), kept[8] = "", base[200];
    if (ending && strlen(ending) == 4) {
        memcpy(kept, ending, 5);
        *ending = 0;
    }
    size_t length = strlen(path), digits = length;
    while (digits > 0 && isdigit((unsigned char)path[digits - 1]))
        digits--;
    bool numbered = digits < length && digits > 0 && path[digits - 1] == '-';
    snprintf(base, sizeof base, "%.*s", (int)fmin(numbered ? digits - 1 : length, sizeof base - 1), path);
    snprintf(path, size, "%s%s", base, kept);
    for (int i = 2; access(path, F_OK) == 0 && i < 10000; i++)
        snprintf(path, size, "%s-%d%s", base, i, kept);
}

static void save_scene(void *context)
{
    und_view *v = context;
    find_free(v->scene_path, sizeof v->scene_path);
    und_live_save_scene(v->pane[0].live, v->scene_path);
}
static void save_checkpoint(void *context)
{
    und_view *v = context;
    find_free(v->state_path, sizeof v->state_path);
    und_live_save_checkpoint(v->pane[0].live, v->state_path);
}

void und_mouse_tools_panel(und_view *v)
{
    und_ui *ui = v->ui;
    const und_live_state *state = &v->pane[0].state;
    if (und_ui_panel(ui, "Liquid", 10, und_ui_menu_height(ui) + 10, 0)) {
        if (und_ui_button(ui, state->playing ? "Pause" : "Play"))
            play(v);
        und_ui_beside(ui);
        if (und_ui_button(ui, "Step"))
            step(v);
        und_ui_beside(ui);
        if (und_ui_button(ui, "Reset"))
            reset(v);
        if (und_ui_section(ui, "Mouse tool", true))
            tool_panel(v);
        if (und_ui_section(ui, "Tune", true))
            tuning_panel(v);
        if (und_ui_section(ui, "Save the moment", false)) {
            und_ui_field(ui, "scene", v->scene_path, sizeof v->scene_path);
            if (und_ui_button(ui, "Save as a scene"))
                save_scene(v);
            und_ui_field(ui, "folder", v->state_path, sizeof v->state_path);
            if (und_ui_button(ui, "Save as a checkpoint"))
                save_checkpoint(v);
        }
    }
    und_ui_panel_end(ui);
}

static bool is_playing(const void *context)
{
    return ((const und_view *)context)->pane[0].state.playing;
}
static void rain(void *context)
{
    und_view *v = context;
    und_tuning turned = as_it_is;
    turned.rain = v->pane[0].state.tuning.rain > 0 ? 0 : v->tools.rain;
    und_live_tune(v->pane[0].live, &turned);
}
static bool rains(const void *context)
{
    return ((const und_view *)context)->pane[0].state.tuning.rain > 0;
}
static bool can_rain(const void *context)
{
    return ((const und_view *)context)->pane[0].state.has_rain;
}
static void set_radius(und_view *v, double factor)
{
    v->tools.radius = fmin(fmax(v->tools.radius * factor, NARROWEST * v->size), WIDEST * v->size);
}
static void wider(void *context)
{
    set_radius(context, 1.25);
}
static void narrower(void *context)
{
    set_radius(context, 0.8);
}

/* A tool of each kind, for keys and the menu. */
#define TOOL(NAME, KIND)                                               \
    static void take_##NAME(void *context)                             \
    {                                                                  \
        ((und_view *)context)->tools.tool = KIND;                      \
    }                                                                  \
    static bool holds_##NAME(const void *context)                      \
    {                                                                  \
        return ((const und_view *)context)->tools.tool == (int)(KIND); \
    }                                                                  \
    static bool has_##NAME(const void *context)                        \
    {                                                                  \
        return can(context, KIND);                                     \
    }
TOOL(look, UND_TOOL_NONE)
TOOL(stir, UND_TOOL_STIR)
TOOL(pour, UND_TOOL_POUR)
TOOL(drain, UND_TOOL_DRAIN)
TOOL(raise, UND_TOOL_RAISE)
TOOL(dig, UND_TOOL_DIG)
TOOL(liquid, UND_TOOL_LIQUID)
TOOL(solid, UND_TOOL_SOLID)
TOOL(inflow, UND_TOOL_INFLOW)
TOOL(erase, UND_TOOL_ERASE)
TOOL(ball, UND_TOOL_BALL)
#define TOOL_ACTION(NAME, LABEL, KEY)                                      \
    {                                                                      \
        "Mouse tool", LABEL, KEY, 0, take_##NAME, holds_##NAME, has_##NAME \
    }

const und_action *und_mouse_tools_actions(int *count)
{
    static const und_action actions[] = {
        {"Run", "Play or pause", ' ', 0, play, is_playing, NULL},
        {"Run", "One step", '.', UND_MOD_REPEATS, step, NULL, NULL},
        {"Run", "Start again", UND_KEY_BACKSPACE, 0, reset, NULL, NULL},
        {"Run", "Rain", 'R', 0, rain, rains, can_rain},
        {"Run", "Save the moment as a scene", 'S', UND_MOD_CONTROL, save_scene, NULL, NULL},
        {"Run", "Save the moment as a checkpoint", 'K', UND_MOD_CONTROL, save_checkpoint, NULL, NULL},
        TOOL_ACTION(look, "Look around", '0'),
        TOOL_ACTION(stir, "Stir the water", '1'),
        TOOL_ACTION(pour, "Pour water", '2'),
        TOOL_ACTION(drain, "Drain water", '3'),
        TOOL_ACTION(raise, "Raise ground", '4'),
        TOOL_ACTION(dig, "Dig ground", '5'),
        TOOL_ACTION(ball, "Balls", '6'),
        TOOL_ACTION(liquid, "Liquid", '1'),
        TOOL_ACTION(solid, "Solid", '2'),
        TOOL_ACTION(inflow, "Inflow", '3'),
        TOOL_ACTION(erase, "Eraser", '4'),
        {"Mouse tool", "Wider", ']', UND_MOD_REPEATS, wider, NULL, NULL},
        {"Mouse tool", "Narrower", '[', UND_MOD_REPEATS, narrower, NULL, NULL},
    };
    *count = sizeof actions / sizeof *actions;
    return actions;
}
