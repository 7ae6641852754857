/* Plots of two-dimensional cells: panels with axes, captions and keys around the layers. */
#include "base/maths.h"
#include "render/plot_draw.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double INK[3] = {0.13, 0.14, 0.17};

enum { ALIGN_LEFT, ALIGN_MIDDLE, ALIGN_RIGHT };

static double text_width(cairo_t *cr, const char *text)
{
    cairo_text_extents_t e;
    cairo_text_extents(cr, text, &e);
    return e.x_advance;
}

/* Text on the line y, at, about or before x. */
static void put_text(cairo_t *cr, double x, double y, int align, double size, const char *text)
{
    cairo_set_font_size(cr, size);
    cairo_move_to(cr, x - 0.5 * align * text_width(cr, text), y);
    cairo_show_text(cr, text);
}

static void ink(cairo_t *cr)
{
    cairo_set_source_rgb(cr, INK[0], INK[1], INK[2]);
}

/* 1, 2 or 5 times a power of ten that divides the range into some parts, at least `least` long. */
static double tick_step(double least)
{
    double ten = und_pow(10, floor(und_log10(least)));
    return least <= ten ? ten : least <= 2 * ten ? 2 * ten : least <= 5 * ten ? 5 * ten : 10 * ten;
}

static void tick_text(char text[32], double value, double step)
{
    int places = (int)fmin(fmax(-floor(und_log10(step) + 1e-9), 0), 9);
    if (fabs(value) < 0.5 * step)
        value = 0;
    if (step >= 1e5 || step < 1e-6)
        snprintf(text, 32, "%.3g", value);
    else
        snprintf(text, 32, "%.*f", places, value);
}

/* Ticks and their numbers along the lower edge (vertical: the left one). */
static void draw_ticks(const und_plot_layer *l, bool vertical, bool numbers)
{
    const und_plot_window *w = l->window;
    const und_plot_data *d = l->data;
    double unit = l->unit, from = vertical ? d->y0 : d->x0, scale = vertical ? w->sy : w->sx;
    double length = vertical ? w->height : w->width, range = length / scale;
    double step = tick_step(fmax((vertical ? 45 : 60) * unit, length / 9) / scale),
           first = ceil(from / step - 1e-6);
    cairo_set_line_width(l->cr, unit);
    for (int k = 0; k < 32 && (first + k) * step <= from + range * (1 + 1e-6); k++) {
        double value = (first + k) * step, along = (value - from) * scale;
        double x = vertical ? w->left : w->left + along, y = w->top + w->height - (vertical ? along : 0);
        char text[32];
        cairo_move_to(l->cr, x, y);
        cairo_rel_line_to(l->cr, vertical ? -5 * unit : 0, vertical ? 0 : 5 * unit);
        cairo_stroke(l->cr);
        tick_text(text, value, step);
        if (numbers)
            put_text(l->cr, x - (vertical ? 9 * unit : 0), y + (vertical ? 4.5 : 19) * unit,
                     vertical ? ALIGN_RIGHT : ALIGN_MIDDLE, 13 * unit, text);
    }
}

static void draw_axes(const und_plot_layer *l, bool numbers)
{
    const und_plot_window *w = l->window;
    cairo_t *cr = l->cr;
    ink(cr);
    cairo_set_line_width(cr, 1.2 * l->unit);
    cairo_rectangle(cr, w->left, w->top, w->width, w->height);
    cairo_stroke(cr);
    draw_ticks(l, false, true);
    draw_ticks(l, true, numbers);
    put_text(cr, w->left + 0.5 * w->width, w->top + w->height + 40 * l->unit, ALIGN_MIDDLE, 14 * l->unit,
             "x (m)");
    if (!numbers)
        return;
    cairo_save(cr);
    cairo_translate(cr, w->left - 50 * l->unit, w->top + 0.5 * w->height);
    cairo_rotate(cr, -0.5 * M_PI);
    put_text(cr, 0, 0, ALIGN_MIDDLE, 14 * l->unit, "y (m)");
    cairo_restore(cr);
}

/* An arrow of the scale's speed and what that is, above the panel at its right. */
static void draw_arrow_key(const und_plot_layer *l)
{
    const und_plot_window *w = l->window;
    char text[48];
    if (!l->data->u || !(l->scale->speed > 0))
        return;
    snprintf(text, sizeof text, "%.3g m/s", l->scale->speed);
    double y = w->top - 10 * l->unit, right = w->left + w->width, length = und_plot_arrow_length(l);
    ink(l->cr);
    put_text(l->cr, right, y, ALIGN_RIGHT, 13 * l->unit, text);
    double x = right - text_width(l->cr, text) - 8 * l->unit - 0.5 * length;
    cairo_new_path(l->cr);
    und_plot_arrow(l->cr, x, y - 4.5 * l->unit, length, 0, l->unit);
    cairo_fill(l->cr);
}

static void draw_color_bar(const und_plot_layer *l)
{
    enum { STOPS = 32 };
    const und_plot_window *w = l->window;
    double low = l->scale->suction, high = l->scale->pressure, unit = l->unit;
    double x = w->left + w->width + 16 * unit, wide = 14 * unit, rgb[3];
    if (!l->data->pressure || !(high > low))
        return;
    cairo_pattern_t *ramp = cairo_pattern_create_linear(0, w->top + w->height, 0, w->top);
    for (int k = 0; k <= STOPS; k++) {
        und_stage_plot_color((double)k / STOPS, rgb);
        cairo_pattern_add_color_stop_rgb(ramp, (double)k / STOPS, rgb[0], rgb[1], rgb[2]);
    }
    cairo_rectangle(l->cr, x, w->top, wide, w->height);
    cairo_set_source(l->cr, ramp);
    cairo_fill_preserve(l->cr);
    cairo_pattern_destroy(ramp);
    ink(l->cr);
    cairo_set_line_width(l->cr, unit);
    cairo_stroke(l->cr);
    double scale = w->height / (high - low), step = tick_step(fmax(45 * unit, w->height / 6) / scale);
    for (double value = ceil(low / step - 1e-6) * step; value <= high + 1e-6 * step; value += step) {
        char text[32];
        double y = w->top + w->height - (value - low) * scale;
        tick_text(text, value, step);
        cairo_move_to(l->cr, x + wide, y);
        cairo_rel_line_to(l->cr, 4 * unit, 0);
        cairo_stroke(l->cr);
        put_text(l->cr, x + wide + 8 * unit, y + 4.5 * unit, ALIGN_LEFT, 13 * unit, text);
    }
    put_text(l->cr, x, w->top - 10 * unit, ALIGN_LEFT, 13 * unit, "Pa");
}

static const char *panel_caption(const und_plot_data *d, unsigned layers)
{
    const char *points = d->chain ? "surface" : d->marker ? "markers" : "liquid";
    bool velocity = layers & UND_PLOT_VELOCITY, pressure = layers & UND_PLOT_PRESSURE;
    if (pressure)
        return velocity ? "pressure, velocity" : "pressure";
    if (layers & UND_PLOT_MARKERS && velocity)
        return d->chain ? "surface, velocity" : d->marker ? "markers, velocity" : "velocity";
    return velocity ? "velocity" : points;
}

static void draw_panel(und_plot_layer *l, unsigned layers, bool first)
{
    const und_plot_window *w = l->window;
    const und_plot_data *d = l->data;
    cairo_t *cr = l->cr;
    cairo_save(cr);
    cairo_rectangle(cr, w->left, w->top, w->width, w->height);
    cairo_clip(cr);
    cairo_translate(cr, w->left, w->top + w->height);
    cairo_scale(cr, w->sx, -w->sy);
    cairo_translate(cr, -d->x0, -d->y0);
    if (layers & UND_PLOT_PRESSURE)
        und_plot_pressure(l);
    else
        und_plot_liquid(l);
    if (layers & UND_PLOT_MARKERS)
        und_plot_markers(l);
    und_plot_surface(l);
    und_plot_solids(l);
    und_plot_bodies(l);
    if (layers & UND_PLOT_VELOCITY)
        und_plot_arrows(l);
    cairo_restore(cr);
    draw_axes(l, first);
    put_text(cr, w->left, w->top - 10 * l->unit, ALIGN_LEFT, 14 * l->unit, panel_caption(d, layers));
    if (layers & UND_PLOT_VELOCITY)
        draw_arrow_key(l);
    if (layers & UND_PLOT_PRESSURE)
        draw_color_bar(l);
}

/* Where panels stand: as large as the page allows, side by side in its middle.  Lengths in units. */
typedef struct layout {
    double unit, scale, left, top, width, height; /* of a panel */
    double step;                                  /* from panel to panel, without colour bars */
} layout;

enum { LEFT = 72, RIGHT = 28, TOP = 74, BOTTOM = 56, GAP = 30, BAR = 84 };

static layout arrange(const und_plot_page *page, const und_plot_data *d, const unsigned *panel, int panels)
{
    layout a = {.unit = fmax(sqrt(page->width * page->height), 1) / 960};
    double bars = 0, across = d->nx * d->dx, up = d->ny * d->dy * page->vertical;
    for (int k = 0; k < panels; k++)
        bars += panel[k] & UND_PLOT_PRESSURE && d->pressure ? BAR * a.unit : 0;
    double taken = (LEFT + RIGHT + (panels - 1) * GAP) * a.unit + bars;
    double wide = fmax(page->width - taken, 0.05 * page->width) / panels,
           high = fmax(page->height - (TOP + BOTTOM) * a.unit, 0.05 * page->height);
    a.scale = fmin(wide / across, high / up);
    a.width = a.scale * across;
    a.height = a.scale * up;
    a.step = a.width + GAP * a.unit;
    a.left = 0.5 * (page->width - panels * a.width - taken) + LEFT * a.unit;
    a.top = 0.5 * (page->height - a.height - (TOP + BOTTOM) * a.unit) + TOP * a.unit;
    return a;
}

/* Without a list of panels: markers and velocity, and pressure beside them where the page is wide enough. */
static int choose_panels(const und_plot_page *page, const und_plot_data *d, unsigned panel[UND_PLOT_PANELS])
{
    for (int k = 0; k < page->panels; k++)
        panel[k] = page->panel[k];
    if (page->panels > 0)
        return page->panels;
    panel[0] = UND_PLOT_MARKERS | UND_PLOT_VELOCITY;
    panel[1] = UND_PLOT_PRESSURE;
    bool fits = arrange(page, d, panel, 2).scale >= 0.95 * arrange(page, d, panel, 1).scale;
    return d->pressure && fits ? 2 : 1;
}

/* The scene's name and the time, in one line over all panels. */
static void draw_title(cairo_t *cr, const und_plot_page *page, const und_plot_data *d, const layout *a,
                       double right)
{
    char time[48];
    double y = a->top - 44 * a->unit, size = 19 * a->unit;
    snprintf(time, sizeof time, "t = %.3f s", d->time);
    ink(cr);
    put_text(cr, right, y, ALIGN_RIGHT, 16 * a->unit, time);
    double room = right - a->left - text_width(cr, time) - 20 * a->unit;
    if (!page->title)
        return;
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_BOLD);
    cairo_set_font_size(cr, size);
    double wide = text_width(cr, page->title);
    if (room > 0)
        put_text(cr, a->left, y, ALIGN_LEFT, size * fmin(1, room / fmax(wide, 1e-9)), page->title);
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
}

void und_plot_draw(cairo_t *cr, const und_plot_page *page, const und_plot_data *d,
                   const und_plot_scale *scale)
{
    unsigned panel[UND_PLOT_PANELS];
    int panels = choose_panels(page, d, panel);
    layout a = arrange(page, d, panel, panels);
    und_plot_body body = und_plot_body_make(d);
    und_plot_window w = {.left = a.left,
                         .top = a.top,
                         .width = a.width,
                         .height = a.height,
                         .sx = a.scale,
                         .sy = a.scale * page->vertical};
    und_plot_layer l = {.cr = cr, .window = &w, .data = d, .body = &body, .scale = scale, .unit = a.unit};
    cairo_get_matrix(cr, &l.page);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    for (int k = 0; k < panels; k++) {
        draw_panel(&l, panel[k], k == 0);
        w.left += a.step + (panel[k] & UND_PLOT_PRESSURE && d->pressure ? BAR * a.unit : 0);
    }
    draw_title(cr, page, d, &a, a.left + (panels - 1) * a.step + a.width);
    free(body.inside);
}
