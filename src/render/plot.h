/* Two-dimensional cells as a plot: the body of liquid that markers stand for. */
#ifndef UND_RENDER_PLOT_H
#define UND_RENDER_PLOT_H

#include "stage/plot_data.h"

/* How deep places lie in the liquid of the markers: a lattice of samples, some to a cell. */
typedef struct und_plot_body {
    int nx, ny;
    double x0, y0, hx, hy; /* m; the first sample and their distances */
    float *inside;         /* [ny][nx], m; positive in the liquid; NULL: cells show where it is */
} und_plot_body;

/* From the markers; none where there are no markers, too many cells or no memory. */
und_plot_body und_plot_body_make(const und_plot_data *d);

#endif
