/* Over a slice: its legend, arrows and probe; and its panel and keys. */
#include "view/colormap.h"
#include "view/slice_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ARROWS = 26, LEGEND_HEIGHT = 230 };
static const float MISSING = -1e37f; /* below: no value */

/* Linear between the middles of cells as the picture has it; part: which of a texel. */
static double plane_at(const und_slice *s, double u, double v, int part)
{
    const und_slice_plane *p = &s->plane;
    double extent[4], sum = 0, weight = 0, at[2];
    int low[2], high[2];
    und_slice_extent(s, extent);
    for (int k = 0; k < 2; k++) {
        double share = ((k ? v : u) - extent[2 * k]) / (extent[2 * k + 1] - extent[2 * k]);
        at[k] = fmin(fmax(share * p->n[k] - 0.5, 0), p->n[k] - 1);
        low[k] = (int)at[k];
        high[k] = low[k] + (low[k] < p->n[k] - 1);
        at[k] -= low[k];
    }
    bool nearest = part == 0 && (!s->look.smooth || und_slice_chosen(s)->whole);
    for (int k = 0; k < 4; k++) {
        int i = k % 2 ? high[0] : low[0], j = k / 2 ? high[1] : low[1];
        float value = p->texel[4 * ((size_t)j * (size_t)p->n[0] + (size_t)i) + (size_t)part];
        double share[2] = {k % 2 ? at[0] : 1 - at[0], k / 2 ? at[1] : 1 - at[1]};
        double w = nearest ? (k % 2 == (at[0] >= 0.5)) && (k / 2 == (at[1] >= 0.5)) : share[0] * share[1];
        if (value > MISSING) {
            sum += w * (double)value;
            weight += w;
        }
    }
    return weight > 0.01 ? sum / weight : NAN;
}

double und_slice_height(const und_slice *s, double u, double v)
{
    return plane_at(s, u, v, 3);
}

/* The ray through a place of the window among heights that are not stretched; its direction has length 1. */
static void ray_through(const und_slice *s, const und_lens *lens, double x, double y, double origin[3],
                        double along[3])
{
    und_lens_ray(lens, x, y, origin, along);
    origin[1] /= s->stretch;
    along[1] /= s->stretch;
    double length = hypot(hypot(along[0], along[1]), along[2]);
    for (int a = 0; a < 3; a++)
        along[a] /= length;
}

/* Where a ray meets the plane: straight, or for heights found by going along it. */
static bool meet(const und_slice *s, const double origin[3], const double along[3], double point[3])
{
    enum { STEPS = 400 };
    double extent[4];
    und_slice_extent(s, extent);
    int a = s->plane.axis;
    double t = (s->plane.place - origin[a]) / along[a];
    if (s->source.heights) {
        double far = 0, before = INFINITY;
        for (int k = 0; k < 3; k++)
            far += fabs(origin[k] - s->source.origin[k]) + s->source.n[k] * s->source.size[k];
        t = INFINITY;
        for (int i = 0; i <= STEPS && !isfinite(t); i++) {
            double at = far * i / STEPS, u = origin[2] + at * along[2], v = origin[0] + at * along[0];
            double over = origin[1] + at * along[1] - und_slice_height(s, u, v);
            if (over <= 0 && before > 0 && isfinite(before))
                t = far / STEPS * (i - 1 + before / (before - over));
            before = over;
        }
    }
    for (int k = 0; k < 3; k++)
        point[k] = origin[k] + t * along[k];
    double u = point[s->plane.along], v = point[s->plane.across];
    return t > 0 && isfinite(t) && u >= extent[0] && u <= extent[1] && v >= extent[2] && v <= extent[3];
}

bool und_slice_probe(const und_slice *s, const und_lens *lens, double x, double y, double *value,
                     double point[3])
{
    double origin[3], along[3];
    if (!s->look.on || !s->has_frame || s->stale || !und_lens_holds(lens, x, y))
        return false;
    ray_through(s, lens, x, y, origin, along);
    if (!meet(s, origin, along, point))
        return false;
    double u = point[s->plane.along], v = point[s->plane.across];
    if (s->look.liquid_only && (plane_at(s, u, v, 1) > 0 || plane_at(s, u, v, 2) < 0))
        return false;
    *value = plane_at(s, u, v, 0);
    return true;
}

static void draw_probe(const und_slice *s, const und_lens *lens, und_ui *ui)
{
    double value, point[3], width, height;
    if (!und_slice_probe(s, lens, s->mouse[0], s->mouse[1], &value, point))
        return;
    const und_slice_field *field = und_slice_chosen(s);
    char text[160], where[96];
    if (isnan(value))
        snprintf(text, sizeof text, "%s: none", field->name);
    else
        snprintf(text, sizeof text, "%s%s %.4g %s", und_slice_differs(s) ? "difference of " : "", field->name,
                 value, field->unit);
    snprintf(where, sizeof where, "%.3g, %.3g, %.3g m", point[0], point[1], point[2]);
    double x = s->mouse[0] + 16, y = s->mouse[1] + 10, wide;
    und_ui_text_size(ui, text, &width, &height);
    und_ui_text_size(ui, where, &wide, &height);
    und_ui_draw_rect(ui, x - 7, y - 4, x + fmax(width, wide) + 7, y + 2 * height + 4, 0x0e1319e0, true);
    und_ui_draw_text(ui, x, y, 0xf2f4f6ff, text);
    und_ui_draw_text(ui, x, y + height, 0x9fb0bdff, where);
    und_ui_draw_circle(ui, s->mouse[0], s->mouse[1], 4, 0xf2f4f6ff, 1.5);
}

/* An arrow from a place of the plane, as long as the velocity says. */
static void draw_arrow(const und_slice *s, const und_lens *lens, und_ui *ui, const double at[2],
                       const double reach[2])
{
    double from[3], to[3], x0, y0, x1, y1;
    und_slice_point(s, at[0] - 0.5 * reach[0], at[1] - 0.5 * reach[1], from);
    und_slice_point(s, at[0] + 0.5 * reach[0], at[1] + 0.5 * reach[1], to);
    if (!und_lens_project(lens, from, &x0, &y0) || !und_lens_project(lens, to, &x1, &y1) ||
        !und_lens_holds(lens, x0, y0) || !und_lens_holds(lens, x1, y1))
        return;
    double dx = x1 - x0, dy = y1 - y0, length = hypot(dx, dy), head = fmin(0.4 * length, 7);
    if (length < 1.5)
        return;
    dx *= head / length;
    dy *= head / length;
    for (int pass = 0; pass < 2; pass++) { /* dark below, so that it is seen on any colour */
        unsigned color = pass ? 0xffffffff : 0x000000a0;
        double width = pass ? 1.3 : 3;
        und_ui_draw_line(ui, x0, y0, x1, y1, color, width);
        und_ui_draw_line(ui, x1, y1, x1 - dx + 0.5 * dy, y1 - dy - 0.5 * dx, color, width);
        und_ui_draw_line(ui, x1, y1, x1 - dx - 0.5 * dy, y1 - dy + 0.5 * dx, color, width);
    }
}

/* Arrows a step apart; the fastest are a little longer than that. */
static void draw_arrows(und_slice *s, const und_lens *lens, und_ui *ui)
{
    double extent[4], flow[2];
    und_slice_extent(s, extent);
    double step = fmax(extent[1] - extent[0], extent[3] - extent[2]) / ARROWS, fastest = 0;
    for (int pass = 0; pass < 2; pass++)
        for (double v = extent[2] + 0.5 * step; v < extent[3]; v += step)
            for (double u = extent[0] + 0.5 * step; u < extent[1]; u += step) {
                if (!und_slice_flow(&s->source, s->plane.axis, s->plane.place, u, v, flow))
                    continue;
                fastest = fmax(fastest, hypot(flow[0], flow[1]));
                double scale = s->reach > 0 ? 1.3 * step / s->reach : 0;
                double reach[2] = {scale * flow[0], scale * flow[1]};
                if (pass == 1)
                    draw_arrow(s, lens, ui, (double[]){u, v}, reach);
                else
                    s->reach = fmax(s->reach, fastest);
            }
    s->reach = fmax(0.98 * s->reach, fastest); /* slowly back after a splash */
}

static void draw_frame(const und_slice *s, const und_lens *lens, und_ui *ui)
{
    double e[4], last[2] = {0}, point[3], x, y;
    und_slice_extent(s, e);
    bool was = false;
    for (int i = 0; i <= 4; i++) {
        und_slice_point(s, i % 4 == 1 || i % 4 == 2 ? e[1] : e[0], i % 4 >= 2 ? e[3] : e[2], point);
        bool seen = und_lens_project(lens, point, &x, &y) && und_lens_holds(lens, x, y);
        if (seen && was)
            und_ui_draw_line(ui, last[0], last[1], x, y, 0xffffff60, 1);
        was = seen;
        last[0] = x;
        last[1] = y;
    }
}

void und_slice_left(und_slice *s, double pixels)
{
    s->left = pixels;
}

void und_slice_annotate(und_slice *s, const und_lens *lens, und_ui *ui)
{
    if (!s->look.on || !s->has_frame)
        return;
    und_slice_refresh(s);
    const und_slice_field *field = und_slice_chosen(s);
    if (!s->source.heights)
        draw_frame(s, lens, ui);
    if (s->look.arrows)
        draw_arrows(s, lens, ui);
    char title[96];
    snprintf(title, sizeof title, "%s%s", und_slice_differs(s) ? "difference, " : "", field->name);
    double top = lens->window_height - lens->y - lens->height, x = lens->x + s->left + 14.0;
    double y = top + fmax(lens->height - LEGEND_HEIGHT - 48.0, 40); /* panels stand above */
    und_legend_draw(ui, x, y, LEGEND_HEIGHT, und_slice_map(s), s->range[0], s->range[1], title, field->unit);
    if (s->look.arrows && s->reach > 0) {
        char text[64];
        snprintf(text, sizeof text, "longest arrow %.3g m/s", s->reach);
        double width, height;
        und_ui_text_size(ui, text, &width, &height);
        und_ui_draw_rect(ui, x, y + LEGEND_HEIGHT + 4, x + width + 16, y + LEGEND_HEIGHT + height + 12,
                         0x14181cc0, true);
        und_ui_draw_text(ui, x + 8, y + LEGEND_HEIGHT + 8, 0xf2f4f6ff, text);
    }
    draw_probe(s, lens, ui);
}

void und_slice_mouse(und_slice *s, double x, double y)
{
    s->mouse[0] = x;
    s->mouse[1] = y;
}

/* The panel. */

static void choose_field(und_slice *s, und_ui *ui)
{
    const char *names[UND_SLICE_FIELDS];
    int chosen = 0;
    for (int i = 0; i < s->source.count; i++) {
        names[i] = s->source.field[i].name;
        chosen = strcmp(names[i], s->look.field) == 0 ? i : chosen;
    }
    if (und_ui_choice(ui, "field", &chosen, names, s->source.count))
        snprintf(s->look.field, sizeof s->look.field, "%s", names[chosen]);
}

static void set_axis(und_slice *s, int axis)
{
    s->look.axis = axis;
    s->look.place = NAN; /* the middle */
}

static void choose_plane(und_slice *s, und_ui *ui)
{
    static const char *const axes[] = {"across x", "across y", "across z"};
    if (s->source.heights)
        return;
    for (int a = 0; a < 3; a++) {
        if (und_ui_radio(ui, axes[a], s->look.axis == a))
            set_axis(s, a);
        if (a < 2)
            und_ui_beside(ui);
    }
    und_slice_refresh(s);
    int a = s->look.axis;
    double half = 0.5 * s->source.size[a], low = s->source.origin[a] + half;
    und_ui_slider(ui, "place", &s->look.place, low,
                  s->source.origin[a] + s->source.n[a] * s->source.size[a] - half, "%.3f m", false);
}

static void choose_colors(und_slice *s, und_ui *ui)
{
    const char *names[UND_MAPS + 1] = {"usual colours"};
    for (int i = 0; i < UND_MAPS; i++)
        names[i + 1] = und_colormap_names[i];
    int map = s->look.map + 1;
    if (und_ui_choice(ui, "colours", &map, names, UND_MAPS + 1))
        s->look.map = map - 1;
    und_ui_check(ui, "range by itself", &s->look.automatic);
    und_ui_tip(ui, "from the middle 94 of 100 values in the liquid; it only grows while frames are played");
    if (s->look.automatic) {
        und_ui_beside(ui);
        if (und_ui_button(ui, "Restart"))
            s->ranged = !(s->stale = true);
        return;
    }
    double low = fmin(s->most[0], s->look.low), high = fmax(s->most[1], s->look.high);
    und_ui_slider(ui, "lowest", &s->look.low, low, high, "%.4g", false);
    und_ui_slider(ui, "highest", &s->look.high, low, high, "%.4g", false);
}

void und_slice_panel(und_slice *s, und_ui *ui)
{
    und_ui_check(ui, "slice", &s->look.on);
    if (!s->look.on)
        return;
    if (!s->has_frame) {
        und_ui_text(ui, "such frames have no planes to show");
        return;
    }
    und_slice_refresh(s);
    choose_field(s, ui);
    choose_plane(s, ui);
    choose_colors(s, ui);
    und_ui_check(ui, "only in the liquid", &s->look.liquid_only);
    und_ui_check(ui, "surface line", &s->look.line);
    und_ui_beside(ui);
    und_ui_check(ui, "arrows", &s->look.arrows);
    und_ui_check(ui, "smooth", &s->look.smooth);
    und_ui_beside(ui);
    und_ui_check(ui, "seen through", &s->look.through);
    if (s->has_other && und_slice_alike(&s->source, &s->other))
        und_ui_check(ui, "difference", &s->look.difference);
    else if (s->has_other)
        und_ui_text(ui, "no difference: their cells are not the same");
    und_ui_slider(ui, "opacity", &s->look.opacity, 0.1, 1, "%.2f", false);
}

/* Keys. */

UND_SWITCH(on, und_slice, look.on)
UND_SWITCH(arrows, und_slice, look.arrows)
UND_SWITCH(liquid_only, und_slice, look.liquid_only)

static void next_axis(void *context)
{
    und_slice *s = context;
    set_axis(s, (s->look.axis + 1) % 3);
}

static void move(und_slice *s, double cells)
{
    int a = s->look.axis;
    if (!s->has_frame || s->source.heights)
        return;
    und_slice_refresh(s);
    double low = s->source.origin[a] + 0.5 * s->source.size[a];
    double high = low + (s->source.n[a] - 1) * s->source.size[a];
    s->look.place = fmin(fmax(s->look.place + cells * s->source.size[a], low), high);
}

static void move_up(void *context)
{
    move(context, 1);
}

static void move_down(void *context)
{
    move(context, -1);
}

static void next_field(void *context)
{
    und_slice *s = context;
    for (int i = 0; s->has_frame && i < s->source.count; i++)
        if (strcmp(s->source.field[i].name, s->look.field) == 0) {
            const char *next = s->source.field[(i + 1) % s->source.count].name;
            snprintf(s->look.field, sizeof s->look.field, "%s", next);
            return;
        }
}

static bool has_frame(const void *context)
{
    return ((const und_slice *)context)->has_frame;
}

const und_action *und_slice_actions(int *count)
{
    static const und_action actions[] = {
        {"Slice", "Slice", 'X', 0, switch_on, is_on, has_frame},
        {"Slice", "Across the next axis", 'X', UND_MOD_SHIFT, next_axis, NULL, is_on},
        {"Slice", "Move up", UND_KEY_PAGE_UP, UND_MOD_REPEATS, move_up, NULL, is_on},
        {"Slice", "Move down", UND_KEY_PAGE_DOWN, UND_MOD_REPEATS, move_down, NULL, is_on},
        {"Slice", "Next field", 'N', 0, next_field, NULL, is_on},
        {"Slice", "Arrows", 'N', UND_MOD_SHIFT, switch_arrows, is_arrows, is_on},
        {"Slice", "Only in the liquid", 0, 0, switch_liquid_only, is_liquid_only, is_on},
    };
    *count = sizeof actions / sizeof *actions;
    return actions;
}
