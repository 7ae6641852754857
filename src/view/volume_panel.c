/* Panels, menus and what is written over pictures of liquid in space. */
#include "view/colormap.h"
#include "view/volume_parts.h"

#include <math.h>
#include <stdio.h>

/* ---- Menus and keys ---- */

UND_SWITCH(liquid, und_space, show.liquid)
UND_SWITCH(clay, und_space, show.clay)
UND_SWITCH(marched, und_space, show.marched)
UND_SWITCH(solids, und_space, show.solids)
UND_SWITCH(floor, und_space, show.floor)
UND_SWITCH(boxes, und_space, show.boxes)
UND_SWITCH(axes, und_space, show.axes)
UND_SWITCH(through, und_space, show.through)
UND_SWITCH(drops, und_space, show.set[UND_SET_SPRAY])
UND_SWITCH(foam, und_space, show.set[UND_SET_FOAM])
UND_SWITCH(markers, und_space, show.set[UND_SET_MARKERS])
UND_SWITCH(level, und_space, show.set[UND_SET_LEVEL])
UND_SWITCH(texture, und_space, show.set[UND_SET_TEXTURE])
UND_SWITCH(control, und_space, show.set[UND_SET_CONTROL])

static bool has_distance(const void *context)
{
    const und_space *v = context;
    const und_space_world *w = &v->world;
    return und_space_has_phi(v) && !w->made && !w->matter.painted;
}

static void next_tint(void *context)
{
    und_space *v = context;
    v->show.tint = (und_space_tint)((v->show.tint + 1) % UND_TINTS);
}

const und_action *und_space_actions(const und_painter *self, int *count)
{
    static const und_action actions[] = {
        {"Show", "Liquid", 'O', 0, switch_liquid, is_liquid, NULL},
        {"Show", "Clay: the shape alone", 'Y', 0, switch_clay, is_clay, NULL},
        {"Show", "Distance, not triangles", 'M', 0, switch_marched, is_marched, has_distance},
        {"Show", "Solids", 'U', 0, switch_solids, is_solids, NULL},
        {"Show", "Floor", 'G', 0, switch_floor, is_floor, NULL},
        {"Show", "Boxes and their sizes", 'Z', 0, switch_boxes, is_boxes, NULL},
        {"Show", "Axes", 'J', 0, switch_axes, is_axes, NULL},
        {"Show", "Drops", 'V', 0, switch_drops, is_drops, NULL},
        {"Show", "Foam", 'V', UND_MOD_SHIFT, switch_foam, is_foam, NULL},
        {"Show", "Markers", 'I', 0, switch_markers, is_markers, NULL},
        {"Show", "Level-set particles", 'I', UND_MOD_SHIFT, switch_level, is_level, NULL},
        {"Show", "Texture particles", 'T', UND_MOD_SHIFT, switch_texture, is_texture, NULL},
        {"Show", "Control particles", 'K', 0, switch_control, is_control, NULL},
        {"Show", "Particles through the liquid", 'H', 0, switch_through, is_through, NULL},
        {"Show", "Next colours of particles", 'T', 0, next_tint, NULL, NULL},
    };
    (void)self;
    *count = sizeof actions / sizeof *actions;
    return actions;
}

/* ---- The panel ---- */

static void panel_sets(und_space *v, und_ui *ui)
{
    bool any = false;
    for (int k = 0; k < UND_SETS; k++) {
        const und_space_set *s = &v->marks.set[k];
        if (s->all == 0)
            continue;
        any = true;
        und_ui_check(ui, und_space_set_label((und_space_set_name)k), &v->show.set[k]);
        und_ui_beside(ui);
        if (s->count < s->all)
            und_ui_text(ui, "%zu of %zu", s->count, s->all);
        else
            und_ui_text(ui, "%zu", s->all);
    }
    if (v->marks.trouble[0])
        und_ui_text(ui, "%s", v->marks.trouble);
    if (!any)
        return;
    int tint = (int)v->show.tint;
    if (und_ui_choice(ui, "Colours", &tint, und_space_tint_names, UND_TINTS))
        v->show.tint = (und_space_tint)tint;
    und_ui_slider(ui, "Size of particles", &v->show.grain_size, 0.2, 10, "%.1f x", true);
    und_ui_check(ui, "Through the liquid", &v->show.through);
}

void und_space_panel(und_painter *self, und_ui *ui)
{
    und_space *v = (und_space *)self;
    und_ui_check(ui, "Liquid", &v->show.liquid);
    if (has_distance(v)) {
        if (und_ui_radio(ui, "Distance", v->show.marched))
            v->show.marched = true;
        und_ui_tip(ui, "lines of sight go through the distance to the surface");
        und_ui_beside(ui);
        if (und_ui_radio(ui, "Triangles", !v->show.marched))
            v->show.marched = false;
    }
    if (v->world.large)
        und_ui_text(ui, "Triangles: more than %d cells along an axis", (int)v->most_texels);
    und_ui_check(ui, "Clay", &v->show.clay);
    und_ui_tip(ui, "the shape alone, neither clear nor shining");
    und_ui_check(ui, "Solids", &v->show.solids);
    und_ui_check(ui, "Floor", &v->show.floor);
    und_ui_check(ui, "Boxes", &v->show.boxes);
    und_ui_beside(ui);
    und_ui_check(ui, "Axes", &v->show.axes);
    und_ui_line(ui);
    panel_sets(v, ui);
    if (v->skin.count > 0)
        und_ui_text(ui, "%zu triangles, %.0f ms", v->world.skin.triangles, 1e3 * v->world.seconds);
}

/* ---- Over the picture ---- */

static void write_at(const und_lens *lens, und_ui *ui, const double p[3], unsigned color, const char *text)
{
    double x, y, width, height;
    if (!und_lens_project(lens, p, &x, &y) || !und_lens_holds(lens, x, y))
        return;
    und_ui_text_size(ui, text, &width, &height);
    und_ui_draw_rect(ui, x - width / 2 - 4, y - height / 2 - 2, x + width / 2 + 4, y + height / 2 + 2,
                     0x10151b99, true);
    und_ui_draw_text(ui, x - width / 2, y - height / 2, color, text);
}

/* The sizes of a box, at the edges that are nearest to the eye. */
static void write_box(const und_lens *lens, und_ui *ui, const double low[3], const double high[3],
                      double cell, unsigned color)
{
    for (int axis = 0; axis < 3; axis++) {
        double p[3], size = high[axis] - low[axis];
        char text[64];
        for (int a = 0; a < 3; a++) {
            bool far = fabs((double)lens->eye[a] - low[a]) > fabs((double)lens->eye[a] - high[a]);
            p[a] = a == axis ? (low[a] + high[a]) / 2 : far ? high[a] : low[a];
        }
        if (axis != 1)
            p[1] = low[1];
        else /* the height, at a side of the silhouette */
            p[0] = p[0] == low[0] ? high[0] : low[0];
        snprintf(text, sizeof text, "%.4g m, %.0f cells", size, size / cell);
        write_at(lens, ui, p, color, text);
    }
}

static void write_axes(const und_space *v, const und_lens *lens, und_ui *ui)
{
    static const char *const names[3] = {"x", "y", "z"};
    static const unsigned colors[3] = {0xff7a6cff, 0x86dd76ff, 0x8fb2ffff};
    for (int axis = 0; axis < 3; axis++) {
        double p[3] = {v->world.low[0], v->world.low[1], v->world.low[2]};
        p[axis] += 1.06 * und_space_axis_length(v);
        write_at(lens, ui, p, colors[axis], names[axis]);
    }
}

static bool tints_something(const und_space *v)
{
    bool any = false;
    for (int k = 0; k < UND_SETS; k++)
        any = any || (v->show.set[k] && v->marks.set[k].count > 0 && v->marks.set[k].has[v->show.tint]);
    return any && v->show.tint != UND_TINT_PLAIN;
}

void und_space_annotate(und_painter *self, const und_lens *lens, und_ui *ui)
{
    und_space *v = (und_space *)self;
    const und_space_world *w = &v->world;
    if (!v->taken)
        return;
    if (v->show.boxes)
        write_box(lens, ui, w->low, w->high, w->cell, 0xf2f5f8ff);
    if (v->show.boxes && w->window)
        write_box(lens, ui, w->grid_low, w->grid_high, w->cell, 0xffc070ff);
    if (v->show.axes)
        write_axes(v, lens, ui);
    if (!tints_something(v))
        return;
    bool sign = v->show.tint == UND_TINT_SIGN, speed = v->show.tint == UND_TINT_SPEED;
    double height = 0.3 * lens->height, top = lens->window_height - lens->y - height - 20;
    und_legend_draw(ui, lens->x + 14, top, height, sign ? UND_MAP_DIVERGING : UND_MAP_EVEN, v->marks.low,
                    v->marks.high,
                    sign    ? "side"
                    : speed ? "speed"
                            : "radius",
                    sign    ? ""
                    : speed ? "m/s"
                            : "m");
}
