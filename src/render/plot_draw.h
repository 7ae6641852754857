/* What the files that draw plots share.  A page as large as 960 x 960 pixels has a unit of 1. */
#ifndef UND_RENDER_PLOT_DRAW_H
#define UND_RENDER_PLOT_DRAW_H

#include "render/plot.h"
#include "stage/picture.h"

#include <cairo.h>

/* Adds a rectangle whose corners are where its neighbours have theirs, to the last bit: no seams. */
void und_plot_rectangle(cairo_t *cr, double x0, double y0, double x1, double y1);
/* The liquid as a path to fill: chains, the body, or cells. */
void und_plot_liquid_path(cairo_t *cr, const und_plot_data *d, const und_plot_body *body);
/* Its surface as lines to stroke. */
void und_plot_surface_path(cairo_t *cr, const und_plot_data *d, const und_plot_body *body);

/* A window on the cells.  Layers are drawn with the axes in metres, `unit` metres being a unit of the page
 * (equal along both axes unless heights are stretched). */
typedef struct und_plot_window {
    double left, top, width, height; /* units of the page */
    double sx, sy;                   /* units per metre */
} und_plot_window;

typedef struct und_plot_layer {
    cairo_t *cr;         /* its axes are in metres */
    cairo_matrix_t page; /* the page's own axes */
    const und_plot_window *window;
    const und_plot_data *data;
    const und_plot_body *body;
    const und_plot_scale *scale;
    double unit; /* in units of the page */
} und_plot_layer;

/* Layers, drawn in this order (plot_layers.c). */
void und_plot_liquid(const und_plot_layer *l);
void und_plot_pressure(const und_plot_layer *l);
void und_plot_markers(const und_plot_layer *l);
void und_plot_surface(const und_plot_layer *l);
void und_plot_solids(const und_plot_layer *l);
void und_plot_bodies(const und_plot_layer *l); /* plot_bodies.c */
void und_plot_arrows(const und_plot_layer *l);
/* Length of an arrow of the speed that the scale has, in units of the page. */
double und_plot_arrow_length(const und_plot_layer *l);
/* Adds an arrow about (x, y), along (dx, dy), to the path. */
void und_plot_arrow(cairo_t *cr, double x, double y, double dx, double dy, double unit);

typedef struct und_plot_page {
    double width, height;
    const char *title;
    double vertical; /* height exaggeration */
    unsigned panel[UND_PLOT_PANELS];
    int panels; /* 0: what fits */
} und_plot_page;

/* The whole figure. */
void und_plot_draw(cairo_t *cr, const und_plot_page *page, const und_plot_data *d,
                   const und_plot_scale *scale);

#endif
