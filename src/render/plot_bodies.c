/* The layer of bodies: their outlines, seen along z. */
#include "base/maths.h"
#include "render/plot_draw.h"

#include <math.h>

/* The triangle as a path, always turned the same way round: front and back must not cancel each other. */
static void add_triangle(cairo_t *cr, float (*p)[3])
{
    float turn = (p[1][0] - p[0][0]) * (p[2][1] - p[0][1]) - (p[1][1] - p[0][1]) * (p[2][0] - p[0][0]);
    int second = turn > 0 ? 1 : 2;
    cairo_move_to(cr, (double)p[0][0], (double)p[0][1]);
    cairo_line_to(cr, (double)p[second][0], (double)p[second][1]);
    cairo_line_to(cr, (double)p[3 - second][0], (double)p[3 - second][1]);
    cairo_close_path(cr);
}

static double encoded(float linear)
{
    return und_pow(fmin(fmax((double)linear, 0), 1), 1 / 2.2);
}

/* A dark line under the body shows around it. */
static void draw_body(const und_plot_layer *l, const float *color)
{
    double rgb[3] = {0.77, 0.38, 0.32};
    for (int k = 0; k < 3 && color; k++)
        rgb[k] = encoded(color[k]);
    cairo_set_source_rgb(l->cr, 0.4 * rgb[0], 0.4 * rgb[1], 0.4 * rgb[2]);
    cairo_save(l->cr);
    cairo_set_matrix(l->cr, &l->page);
    cairo_set_line_width(l->cr, 2.4 * l->unit);
    cairo_set_line_join(l->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke_preserve(l->cr);
    cairo_restore(l->cr);
    cairo_set_source_rgb(l->cr, rgb[0], rgb[1], rgb[2]);
    cairo_fill(l->cr);
}

void und_plot_bodies(const und_plot_layer *l)
{
    const und_rigid *b = &l->data->bodies;
    for (size_t i = 0; i < b->count; i++) {
        float corner[3][3];
        cairo_new_path(l->cr);
        for (size_t k = (size_t)b->first[i]; k < (size_t)b->first[i + 1]; k += 3) {
            und_rigid_corners(b, i, k, 3, corner);
            add_triangle(l->cr, corner);
        }
        draw_body(l, b->color && b->first[i] < b->first[i + 1] ? b->color + 3 * b->first[i] : NULL);
    }
}
