/* The layers of a plot: liquid, pressure, markers, surface, solids, arrows. */
#include "base/maths.h"
#include "base/random.h"
#include "render/plot_draw.h"

#include <math.h>
#include <stdlib.h>

static const double LIQUID[3] = {0.80, 0.90, 0.97}, SURFACE[3] = {0.12, 0.40, 0.66},
                    MARKER[3] = {0.16, 0.47, 0.76}, ARROW[3] = {0.09, 0.13, 0.24},
                    CONCRETE[3] = {0.74, 0.735, 0.72}, CONCRETE_EDGE[3] = {0.36, 0.355, 0.34};

static void color(cairo_t *cr, const double rgb[3], double alpha)
{
    cairo_set_source_rgba(cr, rgb[0], rgb[1], rgb[2], alpha);
}

/* Strokes the path with a line that many units wide, whatever the axes are. */
static void stroke(const und_plot_layer *l, double width)
{
    cairo_save(l->cr);
    cairo_set_matrix(l->cr, &l->page);
    cairo_set_line_width(l->cr, width * l->unit);
    cairo_set_line_cap(l->cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(l->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke(l->cr);
    cairo_restore(l->cr);
}

void und_plot_liquid(const und_plot_layer *l)
{
    und_plot_liquid_path(l->cr, l->data, l->body);
    color(l->cr, LIQUID, 1);
    cairo_fill(l->cr);
}

void und_plot_surface(const und_plot_layer *l)
{
    und_plot_surface_path(l->cr, l->data, l->body);
    color(l->cr, SURFACE, 1);
    stroke(l, 1.3);
}

/* Pressure in wet cells, carried on into the two rings of cells around them; 0 elsewhere. */
static void spread_pressure(const und_plot_data *d, float *p, unsigned char *ring)
{
    enum { RINGS = 2 };
    size_t count = (size_t)d->nx * (size_t)d->ny;
    for (size_t c = 0; c < count; c++) {
        bool wet = und_plot_wet(d, (int)(c % (size_t)d->nx), (int)(c / (size_t)d->nx));
        ring[c] = wet ? 0 : RINGS + 1;
        p[c] = wet && fabsf(d->pressure[c]) < 1e15f ? d->pressure[c] : 0;
    }
    for (int pass = 0; pass < RINGS; pass++)
        for (size_t c = 0; c < count; c++) {
            int i = (int)(c % (size_t)d->nx), j = (int)(c / (size_t)d->nx), found = 0;
            double sum = 0;
            for (int k = 0; k < 9 && ring[c] > pass; k++) {
                int ni = i + k % 3 - 1, nj = j + k / 3 - 1;
                if (ni < 0 || nj < 0 || ni >= d->nx || nj >= d->ny || ring[nj * d->nx + ni] != pass)
                    continue;
                sum += (double)p[nj * d->nx + ni];
                found++;
            }
            if (found == 0)
                continue;
            p[c] = (float)(sum / found);
            ring[c] = (unsigned char)(pass + 1);
        }
}

/* Between the middles of cells, held at the edges. */
static double between(const und_plot_data *d, const float *p, double u, double v)
{
    u = fmin(fmax(u - 0.5, 0), d->nx - 1);
    v = fmin(fmax(v - 0.5, 0), d->ny - 1);
    int i = (int)u, j = (int)v, i1 = i + 1 < d->nx ? i + 1 : i, j1 = j + 1 < d->ny ? j + 1 : j;
    const float *a = p + (size_t)j * (size_t)d->nx, *b = p + (size_t)j1 * (size_t)d->nx;
    double fu = u - i, fv = v - j;
    double low = (double)a[i] * (1 - fu) + (double)a[i1] * fu,
           high = (double)b[i] * (1 - fu) + (double)b[i1] * fu;
    return low * (1 - fv) + high * fv;
}

static void color_row(const und_plot_layer *l, const float *p, int fine, int row, uint32_t *to)
{
    const und_plot_data *d = l->data;
    const und_plot_scale *s = l->scale;
    double range = s->pressure - s->suction, rgb[3];
    for (int k = 0; k < d->nx * fine; k++) {
        double value = between(d, p, (k + 0.5) / fine, d->ny - (row + 0.5) / fine);
        und_stage_plot_color(range > 0 ? (value - s->suction) / range : 0, rgb);
        to[k] = (uint32_t)lrint(255 * rgb[0]) << 16 | (uint32_t)lrint(255 * rgb[1]) << 8 |
                (uint32_t)lrint(255 * rgb[2]);
    }
}

static void paint_pressure(const und_plot_layer *l, const float *p)
{
    enum { MOST = 1 << 22 };
    const und_plot_data *d = l->data;
    double cells = (double)d->nx * d->ny;
    int fine = (int)fmin(fmax(sqrt(MOST / cells), 1), 8);
    if (d->nx * fine > 32767 || d->ny * fine > 32767) /* larger than cairo's pictures */
        fine = 1;
    cairo_surface_t *image = cairo_image_surface_create(CAIRO_FORMAT_RGB24, d->nx * fine, d->ny * fine);
    if (cairo_surface_status(image) == CAIRO_STATUS_SUCCESS) {
        unsigned char *pixels = cairo_image_surface_get_data(image);
        int stride = cairo_image_surface_get_stride(image);
        for (int row = 0; row < d->ny * fine; row++)
            color_row(l, p, fine, row, (uint32_t *)(void *)(pixels + (size_t)row * (size_t)stride));
        cairo_surface_mark_dirty(image);
        cairo_save(l->cr);
        cairo_translate(l->cr, d->x0, d->y0 + d->ny * d->dy);
        cairo_scale(l->cr, d->dx / fine, -d->dy / fine);
        cairo_set_source_surface(l->cr, image, 0, 0);
        cairo_pattern_set_extend(cairo_get_source(l->cr), CAIRO_EXTEND_PAD);
        cairo_paint(l->cr);
        cairo_restore(l->cr);
    }
    cairo_surface_destroy(image);
}

void und_plot_pressure(const und_plot_layer *l)
{
    const und_plot_data *d = l->data;
    size_t count = (size_t)d->nx * (size_t)d->ny;
    float *p = d->pressure ? malloc(count * sizeof *p) : NULL;
    unsigned char *ring = p ? malloc(count) : NULL;
    if (ring) {
        spread_pressure(d, p, ring);
        cairo_save(l->cr);
        und_plot_liquid_path(l->cr, d, l->body);
        cairo_clip(l->cr);
        paint_pressure(l, p);
        cairo_restore(l->cr);
    }
    free(ring);
    free(p);
}

static void dot(cairo_t *cr, double x, double y)
{
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x, y);
}

/* Dots a quarter as wide as their spacing, within what can be seen. */
void und_plot_markers(const und_plot_layer *l)
{
    enum { AT_ONCE = 2000 };
    const und_plot_data *d = l->data;
    double wet = 1;
    for (int j = 0; j < d->ny; j++)
        for (int i = 0; i < d->nx; i++)
            wet += und_plot_wet(d, i, j);
    size_t count = d->marker ? d->markers : 0;
    double spacing = sqrt(wet * d->dx * d->dy * l->window->sx * l->window->sy / fmax((double)count, 1));
    double wide = fmin(fmax(0.42 * spacing / l->unit, 0.9), 3);
    color(l->cr, MARKER, 1);
    cairo_new_path(l->cr);
    for (size_t k = 0; k < count; k++) {
        double x = (double)d->marker[3 * k], y = (double)d->marker[3 * k + 1];
        if (fabs(x) < 1e12 && fabs(y) < 1e12)
            dot(l->cr, x, y);
        if (k % AT_ONCE == AT_ONCE - 1 || k + 1 == count)
            stroke(l, wide);
    }
}

static bool solid(const und_plot_data *d, int i, int j)
{
    return i >= 0 && j >= 0 && i < d->nx && j < d->ny && d->label[j * d->nx + i] == UND_CELL_SOLID;
}

static void speckle(const und_plot_layer *l, double gray, uint64_t stream)
{
    const und_plot_data *d = l->data;
    cairo_new_path(l->cr);
    for (int j = 0; j < d->ny; j++)
        for (int i = 0; i < d->nx; i++) {
            uint64_t c = (uint64_t)j * (uint64_t)d->nx + (uint64_t)i;
            if (solid(d, i, j))
                dot(l->cr, d->x0 + (i + und_random(31, stream, 2 * c)) * d->dx,
                    d->y0 + (j + und_random(31, stream, 2 * c + 1)) * d->dy);
        }
    cairo_set_source_rgb(l->cr, gray, gray, gray);
    stroke(l, 1.5);
}

/* Lines between solid cells and what is not. */
static void solid_edges(const und_plot_layer *l)
{
    const und_plot_data *d = l->data;
    cairo_new_path(l->cr);
    for (int j = 0; j <= d->ny; j++)
        for (int i = 0; i <= d->nx; i++) {
            double x = d->x0 + i * d->dx, y = d->y0 + j * d->dy;
            if (i > 0 && i < d->nx && j < d->ny && solid(d, i, j) != solid(d, i - 1, j)) {
                cairo_move_to(l->cr, x, y);
                cairo_line_to(l->cr, x, y + d->dy);
            }
            if (j > 0 && j < d->ny && i < d->nx && solid(d, i, j) != solid(d, i, j - 1)) {
                cairo_move_to(l->cr, x, y);
                cairo_line_to(l->cr, x + d->dx, y);
            }
        }
    color(l->cr, CONCRETE_EDGE, 1);
    stroke(l, 1.2);
}

void und_plot_solids(const und_plot_layer *l)
{
    const und_plot_data *d = l->data;
    cairo_new_path(l->cr);
    cairo_set_fill_rule(l->cr, CAIRO_FILL_RULE_WINDING);
    for (int j = 0; j < d->ny; j++)
        for (int i = 0, run = 0; i <= d->nx; i++) {
            bool here = solid(d, i, j);
            if (run > 0 && !here)
                und_plot_rectangle(l->cr, d->x0 + (i - run) * d->dx, d->y0 + j * d->dy, d->x0 + i * d->dx,
                                   d->y0 + (j + 1) * d->dy);
            run = here ? run + 1 : 0;
        }
    color(l->cr, CONCRETE, 1);
    cairo_fill(l->cr);
    if (l->window->sx * d->dx > 4 * l->unit && l->window->sy * d->dy > 4 * l->unit) {
        speckle(l, 0.58, 1);
        speckle(l, 0.85, 2);
    }
    solid_edges(l);
}

/* Cells in a block that has one arrow: about 18 along the longer side. */
static int block_size(const und_plot_data *d)
{
    int longer = d->nx > d->ny ? d->nx : d->ny, block = (longer + 9) / 18;
    return block > 1 ? block : 1;
}

double und_plot_arrow_length(const und_plot_layer *l)
{
    const und_plot_data *d = l->data;
    return 1.7 * block_size(d) * fmin(d->dx * l->window->sx, d->dy * l->window->sy);
}

void und_plot_arrow(cairo_t *cr, double x, double y, double dx, double dy, double unit)
{
    double length = und_hypot(dx, dy);
    if (!(length > 0.9 * unit))
        return;
    double tx = dx / length, ty = dy / length, head = fmin(0.5 * length, 8 * unit), wing = 0.38 * head,
           half = 0.7 * unit * fmin(1, length / (8 * unit)), shaft = length - 0.9 * head;
    const double outline[7][2] = {{0, half},   {shaft, half},          {length - head, wing},
                                  {length, 0}, {length - head, -wing}, {shaft, -half},
                                  {0, -half}};
    double x0 = x - 0.5 * dx, y0 = y - 0.5 * dy;
    for (int k = 0; k < 7; k++) {
        double px = x0 + outline[k][0] * tx - outline[k][1] * ty,
               py = y0 + outline[k][0] * ty + outline[k][1] * tx;
        (k ? cairo_line_to : cairo_move_to)(cr, px, py);
    }
    cairo_close_path(cr);
}

/* The mean over a block's wet cells, at their middle. */
static bool block_arrow(const und_plot_data *d, int i0, int j0, int block, double at[2], double v[2])
{
    int wet = 0;
    at[0] = at[1] = v[0] = v[1] = 0;
    for (int j = j0; j < j0 + block && j < d->ny; j++)
        for (int i = i0; i < i0 + block && i < d->nx; i++) {
            double one[2];
            if (!und_plot_wet(d, i, j))
                continue;
            und_stage_plot_velocity(d, i, j, one);
            v[0] += one[0];
            v[1] += one[1];
            at[0] += d->x0 + (i + 0.5) * d->dx;
            at[1] += d->y0 + (j + 0.5) * d->dy;
            wet++;
        }
    for (int k = 0; k < 2 && wet; k++) {
        at[k] /= wet;
        v[k] /= wet;
    }
    return wet > 0;
}

void und_plot_arrows(const und_plot_layer *l)
{
    const und_plot_data *d = l->data;
    const und_plot_window *w = l->window;
    if (!d->u || !(l->scale->speed > 0))
        return;
    int block = block_size(d);
    double per_speed = und_plot_arrow_length(l) / l->scale->speed, at[2], v[2];
    cairo_save(l->cr);
    cairo_set_matrix(l->cr, &l->page);
    cairo_new_path(l->cr);
    for (int j = 0; j < d->ny; j += block)
        for (int i = 0; i < d->nx; i += block)
            if (block_arrow(d, i, j, block, at, v)) {
                /* The few that are faster than the scale end at three times the key's arrow. */
                double scale = per_speed / fmax(1, und_hypot(v[0], v[1]) / (3 * l->scale->speed));
                und_plot_arrow(l->cr, w->left + (at[0] - d->x0) * w->sx,
                               w->top + w->height - (at[1] - d->y0) * w->sy, v[0] * scale, -v[1] * scale,
                               l->unit);
            }
    cairo_set_source_rgba(l->cr, 1, 1, 1, 0.75); /* a rim, so that they stand out from markers */
    cairo_set_line_width(l->cr, 1.6 * l->unit);
    cairo_set_line_join(l->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_fill_rule(l->cr, CAIRO_FILL_RULE_WINDING);
    cairo_stroke_preserve(l->cr);
    color(l->cr, ARROW, 1);
    cairo_fill(l->cr);
    cairo_restore(l->cr);
}
