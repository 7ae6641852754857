/* Menus, keys, help and the corner: all from the tables of actions. */
#include "view/view_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int add(und_choice *list, int count, const und_action *actions, int more, void *context)
{
    for (int i = 0; i < more && count < UND_VIEW_ACTIONS; i++)
        list[count++] = (und_choice){&actions[i], context};
    return count;
}

int und_menus_collect(und_view *v, und_choice list[UND_VIEW_ACTIONS])
{
    int more = 0, count = 0;
    const und_action *actions = und_view_actions(&more);
    count = add(list, count, actions, more, v);
    if (v->pane[0].live) {
        actions = und_mouse_tools_actions(&more);
        count = add(list, count, actions, more, v);
    } else {
        actions = und_timeline_actions(&more);
        count = add(list, count, actions, more, &v->timeline);
    }
    for (int i = 0; i < v->def.count; i++) {
        und_painter *painter = v->pane[i].painter;
        if (painter && painter->class->actions && i == 0) {
            actions = painter->class->actions(painter, &more);
            count = add(list, count, actions, more, painter);
        }
    }
    if (v->pane[0].editor) {
        actions = und_editor_actions(v->pane[0].editor, &more);
        count = add(list, count, actions, more, v->pane[0].editor);
    }
    if (v->pane[0].slice) {
        actions = und_slice_actions(&more);
        count = add(list, count, actions, more, v->pane[0].slice);
    }
    return count;
}

static bool enabled(const und_choice *c)
{
    return !c->action->enabled || c->action->enabled(c->context);
}

bool und_menus_key(und_view *v, const und_event *event)
{
    und_choice list[UND_VIEW_ACTIONS];
    int count = und_menus_collect(v, list);
    unsigned shift =
        event->key == '/' || event->key == '=' ? UND_MOD_SHIFT : 0; /* on some keyboards it takes shift */
    for (int i = 0; i < count; i++)
        if (list[i].action->key == event->key &&
            ((list[i].action->mods & ~(unsigned)UND_MOD_REPEATS) | shift) == (event->mods | shift) &&
            (!event->repeat || list[i].action->mods & UND_MOD_REPEATS) && enabled(&list[i])) {
            list[i].action->run(list[i].context);
            return true;
        }
    return false;
}

/* "Ctrl+S", "Space". */
static void key_name(const und_action *action, char *text, size_t size)
{
    static const struct {
        int key;
        const char *name;
    } names[] = {{' ', "Space"},
                 {'/', "?"},
                 {UND_KEY_ESCAPE, "Esc"},
                 {UND_KEY_ENTER, "Enter"},
                 {UND_KEY_TAB, "Tab"},
                 {UND_KEY_BACKSPACE, "Backspace"},
                 {UND_KEY_DELETE, "Delete"},
                 {UND_KEY_RIGHT, "Right"},
                 {UND_KEY_LEFT, "Left"},
                 {UND_KEY_DOWN, "Down"},
                 {UND_KEY_UP, "Up"},
                 {UND_KEY_PAGE_UP, "Page up"},
                 {UND_KEY_PAGE_DOWN, "Page down"},
                 {UND_KEY_HOME, "Home"},
                 {UND_KEY_END, "End"}};
    char plain[8] = {(char)action->key};
    const char *name = action->key < 128 ? plain : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].key == action->key)
            name = names[i].name;
    if (action->key >= UND_KEY_F1 && action->key < UND_KEY_F1 + 12) {
        snprintf(plain, sizeof plain, "F%d", action->key - UND_KEY_F1 + 1);
        name = plain;
    }
    snprintf(text, size, "%s%s%s%s", action->mods & UND_MOD_CONTROL ? "Ctrl+" : "",
             action->mods & UND_MOD_ALT ? "Alt+" : "", action->mods & UND_MOD_SHIFT ? "Shift+" : "", name);
}

static void draw_entry(und_view *v, const und_choice *c)
{
    char key[32];
    key_name(c->action, key, sizeof key);
    bool checked = c->action->checked && c->action->checked(c->context);
    if (und_ui_entry(v->ui, c->action->label, key, checked, enabled(c)))
        c->action->run(c->context);
}

/* Has a menu of that name been drawn already? */
static bool drawn(const und_choice *list, int count, const char *menu)
{
    for (int i = 0; i < count; i++)
        if (strcmp(list[i].action->menu, menu) == 0)
            return true;
    return false;
}

static void draw_menus(und_view *v, const und_choice *list, int count)
{
    und_ui_menu_bar(v->ui);
    for (int i = 0; i < count; i++) {
        if (drawn(list, i, list[i].action->menu) || !und_ui_menu(v->ui, list[i].action->menu))
            continue;
        for (int k = i; k < count; k++)
            if (strcmp(list[k].action->menu, list[i].action->menu) == 0)
                draw_entry(v, &list[k]);
        und_ui_menu_end(v->ui);
    }
    und_ui_menu_bar_end(v->ui);
}

static void draw_help(und_view *v, const und_choice *list, int count)
{
    if (und_ui_panel(v->ui, "Keys and mouse", v->width / 2.0 - 280, 60, 560)) {
        und_ui_text(v->ui, "Left button: the hand, or turn the view.  Right: turn.  Middle, or Shift: move.");
        und_ui_text(v->ui, "Wheel: nearer and farther.  W A S D, Q E: fly, with Shift faster.");
        for (int i = 0; i < count; i++) {
            if (drawn(list, i, list[i].action->menu))
                continue;
            und_ui_line(v->ui);
            for (int k = i; k < count; k++) {
                char key[32];
                const und_action *action = list[k].action;
                key_name(action, key, sizeof key);
                if (strcmp(action->menu, list[i].action->menu) != 0 || !key[0] || !enabled(&list[k]))
                    continue;
                und_ui_text(v->ui, "%s", key);
                und_ui_column(v->ui, 110);
                und_ui_text(v->ui, "%s", action->label);
            }
        }
        if (und_ui_button(v->ui, "Close"))
            v->help = false;
    }
    und_ui_panel_end(v->ui);
}

static void draw_corner(und_view *v)
{
    const und_pane *pane = &v->pane[0];
    const und_live_state *state = &pane->state;
    if (und_ui_corner(v->ui, "rates", -8, und_ui_menu_height(v->ui) + 4)) {
        if (pane->live) {
            und_ui_text(v->ui, "%8.2f s   %s", state->time,
                        state->failed    ? "failed"
                        : state->playing ? ""
                                         : "paused");
            und_ui_text(v->ui, "simulation %.0f steps/s, %.2f x real time", state->steps_a_second,
                        state->real_time);
        } else {
            und_ui_text(v->ui, "frame %d, %.3f s", pane->number, pane->time);
        }
        und_ui_text(v->ui, "drawing %.0f pictures/s, %.1f ms", v->picture_rate, 1e3 * v->picture_time);
    }
    und_ui_panel_end(v->ui);
}

static void draw_note(und_view *v)
{
    const char *text = v->clock < v->note_until ? v->note : NULL;
    for (int i = 0; i < v->def.count && !text; i++)
        text = v->pane[i].trouble[0] ? v->pane[i].trouble : NULL;
    if (!text || !*text)
        return;
    double width, height,
        y = v->height - 30 - (v->pane[0].player && !v->bare ? und_ui_strip_height(v->ui) : 0);
    und_ui_text_size(v->ui, text, &width, &height);
    double x = fmax((v->width - width) / 2, 8);
    und_ui_draw_rect(v->ui, x - 10, y - 6, x + width + 10, y + height + 6, 0x0e1319e0, true);
    und_ui_draw_text(v->ui, x, y, 0xffe9c0ff, text);
}

static void draw_show(und_view *v, und_painter *painter)
{
    if (v->pane[0].slice && und_ui_section(v->ui, "Slice", true)) {
        und_slice_panel(v->pane[0].slice, v->ui);
        und_ui_line(v->ui);
    }
    painter->class->panel(painter, v->ui);
}

static void draw_timeline(und_view *v)
{
    und_frame_player *players[UND_VIEW_PANES];
    for (int i = 0; i < v->def.count; i++)
        players[i] = v->pane[i].player;
    if (und_ui_strip(v->ui, "Timeline"))
        und_timeline_panel(&v->timeline, players, v->def.count, v->ui);
    und_ui_panel_end(v->ui);
}

/* Whose water is where. */
static void draw_names(und_view *v)
{
    und_frame_player *players[UND_VIEW_PANES] = {v->pane[0].player, v->pane[1].player};
    for (int i = 0; i < v->def.count && v->def.count > 1; i++) {
        double width, height, x = v->pane[i].lens.x + 12, y = und_ui_menu_height(v->ui) + 10;
        const char *name = und_timeline_name(players, v->def.count, i);
        und_ui_text_size(v->ui, name, &width, &height);
        und_ui_draw_rect(v->ui, x - 6, y - 4, x + width + 6, y + height + 4, 0x0e1319c0, true);
        und_ui_draw_text(v->ui, x, y, und_timeline_color(i), name);
    }
}

void und_menus_draw(und_view *v)
{
    und_choice list[UND_VIEW_ACTIONS];
    int count = und_menus_collect(v, list);
    for (int i = 0; i < v->def.count; i++) {
        und_pane *pane = &v->pane[i];
        if (pane->painter && pane->painter->class->annotate)
            pane->painter->class->annotate(pane->painter, &pane->lens, v->ui);
        if (pane->slice) {
            bool off = und_ui_hovered(v->ui);
            und_slice_mouse(pane->slice, off ? -1 : v->mouse[0], off ? -1 : v->mouse[1]);
            double panel[4];
            bool covered = pane->live && !v->bare && und_ui_where(v->ui, "Liquid", panel);
            und_slice_left(pane->slice, covered ? panel[2] : 0);
            und_slice_annotate(pane->slice, &pane->lens, v->ui);
        }
    }
    und_mouse_tools_annotate(v);
    if (v->pane[0].editor)
        und_editor_annotate(v->pane[0].editor, &v->pane[0].lens, v->ui);
    draw_names(v);
    draw_note(v);
    if (v->bare)
        return;
    draw_menus(v, list, count);
    draw_corner(v);
    if (v->pane[0].live)
        und_mouse_tools_panel(v);
    else
        draw_timeline(v);
    if (v->pane[0].editor)
        und_editor_panel(v->pane[0].editor, v->ui);
    und_painter *painter = v->pane[0].painter;
    if (painter && painter->class->panel) {
        if (und_ui_panel(v->ui, "Show", -10, und_ui_menu_height(v->ui) + (v->pane[0].live ? 84 : 64), 0))
            draw_show(v, painter);
        und_ui_panel_end(v->ui);
    }
    if (v->help)
        draw_help(v, list, count);
}
