/* The painter of liquid in two dimensions: cells as FM96's figures show them, and curves of water as
 * sections. */
#include "view/flat.h"

#include "base/status.h"
#include "view/colormap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const field_names[UND_FLAT_FIELDS] = {"water", "pressure", "speed", "vorticity"};

static void destroy(und_painter *self)
{
    und_flat *f = (und_flat *)self;
    GLuint *textures[] = {&f->maps, &f->cells_texture, &f->fields_texture, &f->fill_texture,
                          &f->curve_texture};
    GLuint programs[] = {f->program.cells,  f->program.curve,   f->program.dots,
                         f->program.arrows, f->program.streaks, f->program.triangles};
    und_flat_buffer *buffers[] = {&f->markers, &f->drops, &f->arrows, &f->bodies, &f->trails};
    for (size_t i = 0; i < sizeof textures / sizeof *textures; i++)
        glDeleteTextures(1, textures[i]);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        glDeleteProgram(programs[i]);
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        glDeleteBuffers(1, &buffers[i]->buffer);
        glDeleteVertexArrays(1, &buffers[i]->array);
    }
    free(f->flow);
    free(f->wet);
    free(f->field);
    free(f->curve);
    free(f->fill.share);
    free(f->streaks);
    free(f);
}

static void bounds(const und_painter *self, double low[3], double high[3])
{
    const und_flat *f = (const und_flat *)self;
    bool curve = f->kind == UND_FLAT_CURVE;
    low[0] = f->x0;
    high[0] = f->x0 + f->nx * f->dx;
    low[1] = curve ? f->low * f->stretch : f->y0;
    high[1] = curve ? f->high * f->stretch : f->y0 + f->ny * f->dy;
    low[2] = high[2] = f->z;
}

/* The place in the plane, within what is shown. */
static bool pick(const und_painter *self, const double origin[3], const double direction[3], double point[3])
{
    const und_flat *f = (const und_flat *)self;
    double way = direction[2] != 0 ? (f->z - origin[2]) / direction[2] : NAN, low[3], high[3];
    if (f->kind == UND_FLAT_NOTHING || !(way >= 0))
        return false;
    bounds(self, low, high);
    for (int a = 0; a < 3; a++)
        point[a] = origin[a] + way * direction[a];
    if (!(point[0] >= low[0] && point[0] <= high[0] && point[1] >= low[1] && point[1] <= high[1]))
        return false;
    point[1] /= f->stretch;
    return true;
}

static double stretch(const und_painter *self)
{
    return ((const und_flat *)self)->stretch;
}

static void panel(und_painter *self, und_ui *ui)
{
    und_flat *f = (und_flat *)self;
    if (f->kind != UND_FLAT_CELLS) {
        und_ui_text(ui, "A curve of water, as a section");
        if (f->stretch != 1)
            und_ui_text(ui, "Heights are %.3g times as large", f->stretch);
        return;
    }
    int colors = (int)f->colors;
    if (und_ui_choice(ui, "Colour", &colors, field_names, UND_FLAT_FIELDS))
        f->colors = (und_flat_field)colors;
    if (f->colors != UND_FLAT_PLAIN) {
        und_ui_check(ui, "Hold the range", &f->hold);
        und_ui_tip(ui, "Colours and arrows mean the same in all frames from now on");
    }
    und_ui_check(ui, "Markers", &f->show_markers);
    und_ui_check(ui, "Velocity arrows", &f->show_arrows);
    und_ui_check(ui, "Streaks", &f->show_streaks);
    und_ui_tip(ui, "dust in the liquid, and the way it came");
    und_ui_check(ui, "Surface line", &f->show_surface);
    und_ui_check(ui, "Kinds of cells", &f->show_cells);
    und_ui_tip(ui, "Surface cells orange, Full cells blue");
    und_ui_check(ui, "Grid lines", &f->show_grid);
}

static const unsigned INK = 0xf2f4f6ff, PAPER = 0x14181cc0;

/* A line with its ends, and words behind it. */
static void draw_key(und_ui *ui, double x, double y, double length, bool arrow, const char *text)
{
    double end = x + length, back = arrow ? end - 8 : end, width, height;
    und_ui_draw_line(ui, x, y, end, y, INK, 2);
    und_ui_draw_line(ui, end, arrow ? y : y - 4, back, y + 4, INK, 2);
    if (arrow)
        und_ui_draw_line(ui, end, y, back, y - 4, INK, 2);
    else
        und_ui_draw_line(ui, x, y - 4, x, y + 4, INK, 2);
    und_ui_text_size(ui, text, &width, &height);
    und_ui_draw_text(ui, end + 8, y - 0.5 * height, INK, text);
}

/* 1, 2 or 5 times a power of ten metres, about an eighth of the picture. */
static double bar_length(const und_flat_view *v)
{
    double eighth = v->pixel[0] * v->width / 8;
    if (!(eighth > 1e-9) || !(eighth < 1e9))
        return 0;
    double ten = pow(10, floor(log10(eighth)));
    return eighth >= 5 * ten ? 5 * ten : eighth >= 2 * ten ? 2 * ten : ten;
}

/* How long a length is in the picture, and an arrow of the scale's speed: where they end. */
static double draw_keys(const und_flat *f, const und_flat_view *v, double x, double bottom, und_ui *ui)
{
    bool arrows = f->kind == UND_FLAT_CELLS && f->show_arrows && f->has_flow && f->scale.speed > 0;
    double metres = bar_length(v), bar = metres / v->pixel[0], arrow = und_flat_arrow_pixels(f, v), width,
           height;
    char length[32], speed[32];
    snprintf(length, sizeof length, metres < 1 ? "%.3g cm" : "%.3g m", metres < 1 ? 100 * metres : metres);
    snprintf(speed, sizeof speed, "%.3g m/s", f->scale.speed);
    und_ui_text_size(ui, length, &width, &height);
    double right = x + bar + 16 + width;
    und_ui_text_size(ui, speed, &width, &height);
    right = arrows ? fmax(right, x + arrow + 16 + width) : right;
    und_ui_draw_rect(ui, x - 8, bottom - (arrows ? 50 : 26), right, bottom, PAPER, true);
    if (metres > 0)
        draw_key(ui, x, bottom - 13, bar, false, length);
    if (arrows)
        draw_key(ui, x, bottom - 37, arrow, true, speed);
    return right;
}

/* What is under the mouse: where it is, and what colours and arrows would say of it. */
static void draw_readout(const und_flat *f, const und_lens *lens, double left, double bottom, und_ui *ui)
{
    double x, y, origin[3], along[3], p[3], value[UND_FLAT_FIELDS] = {0}, low, high, width, height;
    char text[160];
    if (!und_ui_mouse(ui, &x, &y) || !und_lens_holds(lens, x, y))
        return;
    und_lens_ray(lens, x, y, origin, along);
    if (!pick(&f->painter, origin, along, p))
        return;
    int length = snprintf(text, sizeof text, "x %.3g m, y %.3g m", p[0], p[1]);
    int i = (int)((p[0] - f->x0) / f->dx), j = (int)((p[1] - f->y0) / f->dy), c = j * f->nx + i;
    if (f->kind == UND_FLAT_CELLS && i >= 0 && j >= 0 && i < f->nx && j < f->ny && f->wet[c]) {
        for (int k = UND_FLAT_PRESSURE; k < UND_FLAT_FIELDS; k++) {
            low = f->taken[k][0];
            high = f->taken[k][1];
            value[k] = low + (double)f->field[4 * c + k - UND_FLAT_PRESSURE] * (high - low);
        }
        if (f->has_pressure)
            length +=
                snprintf(text + length, sizeof text - (size_t)length, ",  %.4g Pa", value[UND_FLAT_PRESSURE]);
        if (f->has_flow)
            snprintf(text + length, sizeof text - (size_t)length, ",  %.3g m/s,  %.3g 1/s",
                     value[UND_FLAT_SPEED], value[UND_FLAT_VORTICITY]);
    }
    und_ui_text_size(ui, text, &width, &height);
    und_ui_draw_rect(ui, left, bottom - 26, left + width + 16, bottom, PAPER, true);
    und_ui_draw_text(ui, left + 8, bottom - 13 - 0.5 * height, INK, text);
}

static void annotate(und_painter *self, const und_lens *lens, und_ui *ui)
{
    const und_flat *f = (const und_flat *)self;
    if (f->kind == UND_FLAT_NOTHING)
        return;
    und_flat_view v = und_flat_view_of(f, lens);
    double left = lens->x + 18, bottom = lens->window_height - lens->y - 10;
    double right = draw_keys(f, &v, left, bottom, ui);
    draw_readout(f, lens, right + 6, bottom, ui);
    if (f->kind != UND_FLAT_CELLS || f->colors == UND_FLAT_PLAIN)
        return;
    double low, high, tall = fmin(260, 0.5 * lens->height);
    int map;
    const char *unit, *title = und_flat_title(f->colors, &unit);
    und_flat_range(f, f->colors, &low, &high, &map);
    double wide = und_legend_width(ui, low, high, title, unit), x = lens->x + lens->width - 10 - wide;
    und_legend_draw(ui, x, bottom - tall, tall, map, low, high, title, unit);
}

UND_SWITCH(markers, und_flat, show_markers)
UND_SWITCH(arrows, und_flat, show_arrows)
UND_SWITCH(streaks, und_flat, show_streaks)
UND_SWITCH(cells, und_flat, show_cells)
UND_SWITCH(grid, und_flat, show_grid)

static void do_next_color(void *context)
{
    und_flat *f = context;
    f->colors = (und_flat_field)((f->colors + 1) % UND_FLAT_FIELDS);
}
static bool are_cells(const void *context)
{
    return ((const und_flat *)context)->kind == UND_FLAT_CELLS;
}

static const und_action *actions(const und_painter *self, int *count)
{
    static const und_action list[] = {
        {"Show", "Next colours", 'C', 0, do_next_color, NULL, are_cells},
        {"Show", "Markers", 'M', 0, switch_markers, is_markers, are_cells},
        {"Show", "Velocity arrows", 'V', 0, switch_arrows, is_arrows, are_cells},
        {"Show", "Streaks", 'T', 0, switch_streaks, is_streaks, are_cells},
        {"Show", "Kinds of cells", 'K', 0, switch_cells, is_cells, are_cells},
        {"Show", "Grid lines", 'G', 0, switch_grid, is_grid, are_cells},
    };
    (void)self;
    *count = sizeof list / sizeof *list;
    return list;
}

/* The same layers, and colours and arrows that mean the same. */
static void match(und_painter *self, und_painter *other)
{
    und_flat *f = (und_flat *)self;
    const und_flat *like = (const und_flat *)other;
    f->colors = like->colors;
    f->show_markers = like->show_markers;
    f->show_arrows = like->show_arrows;
    f->show_streaks = like->show_streaks;
    f->show_cells = like->show_cells;
    f->show_grid = like->show_grid;
    f->show_surface = like->show_surface;
    f->scale = like->scale;
    f->vorticity = like->vorticity;
    f->hold = true;
}

static const und_painter_class flat_class = {
    .name = "flat",
    .destroy = destroy,
    .take = und_flat_take,
    .bounds = bounds,
    .draw = und_flat_draw,
    .annotate = annotate,
    .panel = panel,
    .pick = pick,
    .actions = actions,
    .match = match,
    .stretch = stretch,
};

und_painter *und_flat_create(const und_picture_def *look, und_error *err)
{
    und_flat *f = und_alloc(1, sizeof *f, "the painter", err);
    if (!f)
        return NULL;
    f->painter.class = &flat_class;
    f->look = look;
    f->stretch = 1;
    f->show_markers = f->show_arrows = f->show_surface = true;
    if (und_flat_programs(f, err) != UND_OK) {
        destroy(&f->painter);
        return NULL;
    }
    f->maps = und_colormap_texture();
    return &f->painter;
}
