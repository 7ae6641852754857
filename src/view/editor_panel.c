/* The editor's panel and its entries of the menu. */
#include "view/editor_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const kinds[UND_BUOY_KINDS] = {"ball", "box", "cylinder", "egg"};
static const char *const drops[UND_BUOY_KINDS] = {"Drop balls", "Drop boxes", "Drop cylinders", "Drop eggs"};

/* Linear colours to choose from. */
static const struct {
    const char *name;
    float color[3];
} paints[] = {
    {"dark red", {-1, -1, -1}},      {"orange", {0.85f, 0.25f, 0.03f}}, {"yellow", {0.85f, 0.6f, 0.05f}},
    {"green", {0.08f, 0.38f, 0.1f}}, {"blue", {0.05f, 0.16f, 0.55f}},   {"violet", {0.3f, 0.08f, 0.45f}},
    {"white", {0.8f, 0.8f, 0.78f}},  {"wood", {0.36f, 0.19f, 0.08f}},   {"another", {0, 0, 0}}};
enum { PAINTS = sizeof paints / sizeof *paints };

void und_buoy_paint(und_buoy *b, int which)
{
    static const int turns[] = {1, 4, 2, 0, 6, 3, 5}; /* neighbours that differ well */
    memcpy(b->color, paints[turns[which % 7]].color, sizeof b->color);
}

static int paint_of(const und_buoy *b)
{
    for (int i = 0; i < PAINTS - 1; i++)
        if (memcmp(b->color, paints[i].color, sizeof b->color) == 0 || (i == 0 && b->color[0] < 0))
            return i;
    return PAINTS - 1;
}

/* Sliders of what a body is; true: something was changed. */
static bool shape_panel(const und_editor *e, und_ui *ui, und_buoy *b, bool *painted)
{
    const char *names[PAINTS];
    double largest = 0.5 * (e->high[1] - e->low[1]), least = 0.01 * largest;
    int paint = paint_of(b);
    bool round = b->kind == UND_BUOY_BALL, upright = b->kind == UND_BUOY_CYLINDER;
    bool changed = und_ui_slider(ui, round || upright ? "diameter" : "length", &b->size[0], least, largest,
                                 "%.3g m", true);
    if (!round)
        changed |= und_ui_slider(ui, "height", &b->size[1], least, largest, "%.3g m", true);
    if (!round && !upright)
        changed |= und_ui_slider(ui, "width", &b->size[2], least, largest, "%.3g m", true);
    changed |= und_ui_slider(ui, "density", &b->density, 10, 10000, "%.4g kg/m3", true);
    und_ui_tip(ui, "lighter than the liquid it floats");
    for (int i = 0; i < PAINTS; i++)
        names[i] = paints[i].name;
    if (und_ui_choice(ui, "colour", &paint, names, PAINTS - (paint < PAINTS - 1)) && paint < PAINTS - 1) {
        memcpy(b->color, paints[paint].color, sizeof b->color);
        changed = *painted = true;
    }
    return changed;
}

static void tool_panel(und_editor *e, und_ui *ui)
{
    if (und_ui_radio(ui, "Select and move", e->tool == 0))
        e->tool = 0;
    und_ui_tip(ui, "click a body, drag it: it is let go at the moment shown");
    for (int k = 0; k < UND_BUOY_KINDS; k++) {
        if (k % 2)
            und_ui_beside(ui);
        if (und_ui_radio(ui, drops[k], e->tool == 1 + k)) {
            e->tool = 1 + k;
            if (k == UND_BUOY_EGG && e->model.size[0] == e->model.size[1]) /* longer than a ball */
                e->model.size[0] *= 1.5;
        }
    }
}

/* A slider for each axis along which bodies move, or about which they turn. */
static bool sliders(const und_editor *e, und_ui *ui, const char *const names[3], double v[3], double most,
                    const char *format, bool about)
{
    bool changed = false;
    for (int a = e->flat && about ? 2 : 0; a < (e->flat && !about ? 2 : 3); a++)
        changed |= und_ui_slider(ui, names[a], &v[a], -most, most, format, false);
    return changed;
}

static bool place_panel(const und_editor *e, und_ui *ui, und_buoy *b)
{
    static const char *const places[] = {"x", "y", "z"},
                             *const speeds[] = {"velocity x", "velocity y", "velocity z"},
                             *const turns[] = {"turn about x", "turn about y", "turn about z"},
                             *const spins[] = {"spin about x", "spin about y", "spin about z"};
    double top = 2 * e->high[1] - e->low[1];
    bool changed = false;
    for (int a = 0; a < (e->flat ? 2 : 3); a++)
        changed |=
            und_ui_slider(ui, places[a], &b->at[a], e->low[a], a == 1 ? top : e->high[a], "%.3f m", false);
    und_ui_text(ui, "let go at %.3f s", b->release);
    und_ui_beside(ui);
    if (und_ui_button(ui, "at the start")) {
        b->release = 0;
        changed = true;
    }
    if (!und_ui_section(ui, "How it sets out", false))
        return changed;
    changed |= sliders(e, ui, speeds, b->velocity, 5, "%.2f m/s", false);
    changed |= sliders(e, ui, turns, b->turn, 180, "%.0f degrees", true);
    changed |= sliders(e, ui, spins, b->spin, 720, "%.0f degrees/s", true);
    return changed;
}

static void body_panel(und_editor *e, und_ui *ui)
{
    int number = e->selected + 1;
    if (e->count == 0)
        return;
    if (und_ui_integer(ui, "body", &number, 0, e->count))
        e->selected = number - 1;
    if (e->selected < 0 || e->selected >= e->count)
        return;
    und_buoy b = e->buoys[e->selected];
    und_ui_text(ui, "a %s", kinds[b.kind]);
    und_ui_beside(ui);
    bool gone = und_ui_button(ui, "Delete");
    bool painted, changed = shape_panel(e, ui, &b, &painted);
    changed |= place_panel(e, ui, &b);
    if (changed && !gone)
        und_editor_set(e, e->selected, &b);
    if (gone)
        und_editor_remove(e, e->selected);
}

/* How far the thread has come. */
static void progress_bar(und_editor *e, und_ui *ui)
{
    int done, all;
    und_editor_progress(e, &done, &all);
    und_floater *f = &e->floater;
    char trouble[sizeof f->trouble];
    pthread_mutex_lock(&f->lock);
    memcpy(trouble, f->trouble, sizeof trouble);
    pthread_mutex_unlock(&f->lock);
    if (trouble[0])
        und_ui_text(ui, "%s", trouble);
    und_ui_area a = und_ui_canvas(ui, "worked out", 0, 8);
    double share = all > 0 ? (double)done / all : 0;
    und_ui_draw_rect(ui, a.x0, a.y0, a.x1, a.y1, 0x2a3440ff, true);
    und_ui_draw_rect(ui, a.x0, a.y0, a.x0 + share * (a.x1 - a.x0), a.y1, share < 1 ? 0xe0a040ff : 0x4aa06cff,
                     true);
    und_ui_text(ui, all > 0 ? "%d of %d frames" : "no bodies yet: choose what to drop, and click", done, all);
}

static void save(void *context)
{
    und_editor *e = context;
    und_error err;
    if (und_editor_save(e, e->save_path, &err) == UND_OK)
        und_editor_say(e, "saved; now: undine float CACHE %s", e->save_path);
    else
        und_editor_say(e, "%.500s", err.text);
}

static void load(und_editor *e)
{
    und_error err;
    if (und_editor_load(e, e->load_path, &err) == UND_OK)
        und_editor_say(e, "%d bodies from %s", e->count + e->fixed_count, e->load_path);
    else
        und_editor_say(e, "%.500s", err.text);
}

/* What the text of another says of damping, and of bodies unlike those here, stays as it is. */
static void fixed_panel(und_editor *e, und_ui *ui)
{
    und_ui_text(ui, "%d more are as %s has them,\nand so is the damping", e->fixed_count, e->fixed_path);
    if (und_ui_button(ui, "Leave these out"))
        und_editor_drop_fixed(e);
}

static void damping_panel(und_editor *e, und_ui *ui)
{
    if (!und_ui_section(ui, "Damping", false))
        return;
    bool changed = und_ui_slider(ui, "damping", &e->damping, 0, 50, "%.3g 1/s", false);
    if (und_ui_integer(ui, "nodes", &e->nodes, 1, 64) || changed)
        und_editor_changed(e);
}

static void file_panel(und_editor *e, und_ui *ui)
{
    und_ui_field(ui, "to", e->save_path, sizeof e->save_path);
    if (und_ui_button(ui, "Save the bodies"))
        save(e);
    und_ui_tip(ui, "a file of that name that was not saved here stays as it is");
    und_ui_field(ui, "from", e->load_path, sizeof e->load_path);
    if (und_ui_button(ui, "Load bodies"))
        load(e);
}

void und_editor_panel(und_editor *e, und_ui *ui)
{
    if (!e->open)
        return;
    und_editor_follow(e);
    if (und_ui_panel(ui, "Floating bodies", 10, und_ui_menu_height(ui) + 10, 0)) {
        tool_panel(e, ui);
        progress_bar(e, ui);
        if (e->tool > 0 && und_ui_section(ui, "What is dropped", true)) {
            e->model.kind = (und_buoy_kind)(e->tool - 1);
            (void)shape_panel(e, ui, &e->model, &e->painted);
        }
        if (e->tool == 0 && und_ui_section(ui, "The body selected", true))
            body_panel(e, ui);
        if (e->fixed)
            fixed_panel(e, ui);
        else
            damping_panel(e, ui);
        if (und_ui_section(ui, "File", true))
            file_panel(e, ui);
    }
    und_ui_panel_end(ui);
}

void und_editor_open(und_editor *e, bool open)
{
    e->open = open;
    e->moves = false;
}

/* ---- the menu ---- */

static void toggle(void *context)
{
    und_editor *e = context;
    und_editor_open(e, !e->open);
}
static bool is_open(const void *context)
{
    return ((const und_editor *)context)->open;
}
static void remove_selected(void *context)
{
    und_editor *e = context;
    und_editor_remove(e, e->selected);
}
static bool has_selected(const void *context)
{
    const und_editor *e = context;
    return e->open && e->selected >= 0 && e->selected < e->count;
}
static void copy_selected(void *context)
{
    und_editor *e = context;
    und_buoy b = e->buoys[e->selected];
    double aside = 2.2 * und_buoy_radius(&b);
    b.at[0] += b.at[0] + aside < e->high[0] ? aside : -aside;
    if (und_editor_add(e, &b) < 0)
        und_editor_say(e, "no more than %d bodies", UND_BUOYS);
}
static void remove_all(void *context)
{
    und_editor *e = context;
    e->count = 0;
    e->selected = -1;
    e->moves = false;
    und_editor_drop_fixed(e);
}
static bool has_any(const void *context)
{
    const und_editor *e = context;
    return e->open && e->count + e->fixed_count > 0;
}

const und_action *und_editor_actions(const und_editor *e, int *count)
{
    static const und_action list[] = {
        {"Bodies", "Floating bodies...", 'F', UND_MOD_CONTROL, toggle, is_open, NULL},
        {"Bodies", "Copy the body", 'D', UND_MOD_CONTROL, copy_selected, NULL, has_selected},
        {"Bodies", "Delete the body", UND_KEY_DELETE, 0, remove_selected, NULL, has_selected},
        {"Bodies", "Delete all bodies", UND_KEY_DELETE, UND_MOD_SHIFT, remove_all, NULL, has_any},
        {"Bodies", "Save bodies", 'S', UND_MOD_CONTROL, save, NULL, has_any},
    };
    (void)e;
    *count = sizeof list / sizeof *list;
    return list;
}
