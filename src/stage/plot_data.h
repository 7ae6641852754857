/* Two-dimensional cells as a plot shows them: what is drawn, and the scales and colours it is drawn with. */
#ifndef UND_STAGE_PLOT_DATA_H
#define UND_STAGE_PLOT_DATA_H

#include "grid/frame.h"
#include "stage/rigid.h"

#include <undine/walls.h>

/* A frame's cells, all of it checked: what is missing or damaged is NULL. */
typedef struct und_plot_data {
    int nx, ny;
    double x0, y0, dx, dy; /* m */
    const uint8_t *label;  /* [ny][nx] */
    const float *pressure; /* [ny][nx], Pa */
    const float *u, *v;    /* [ny][nx + 1] and [ny + 1][nx], m/s; both or none */
    const float *marker;   /* [markers][3], m */
    const float *share;    /* [markers], of a cell: what each stands for */
    const float *chain;    /* [first[chains]][3], m */
    const int32_t *first;  /* [chains + 1] */
    size_t markers, chains;
    double time;      /* s */
    und_rigid bodies; /* none: count is 0 */
} und_plot_data;

/* Is it a frame that is drawn as a plot?  Then `data` is filled in. */
bool und_stage_plot_read(const und_frame *frame, und_plot_data *data);

/* A field of the frame with one float per column, or NULL. */
const float *und_column_field(const und_frame *frame, const char *name);

static inline bool und_plot_wet(const und_plot_data *d, int i, int j)
{
    return i >= 0 && j >= 0 && i < d->nx && j < d->ny &&
           (d->label[j * d->nx + i] == UND_CELL_FULL || d->label[j * d->nx + i] == UND_CELL_SURFACE);
}

/* Velocity at the middle of a cell; what is no number is 0. */
void und_stage_plot_velocity(const und_plot_data *d, int i, int j, double out[2]);

/* What arrows and colours mean, kept from frame to frame so that a movie does not flicker. */
typedef struct und_plot_scale {
    double speed;    /* m/s of the key's arrow, that few are longer than */
    double pressure; /* Pa at the colours' upper end */
    double suction;  /* Pa at their lower end, 0 or less */
} und_plot_scale;

void und_stage_plot_observe(und_plot_scale *scale, const und_plot_data *d);

/* Colour maps of even steps (plot_color.c): t from 0 to 1, sRGB. */
void und_stage_plot_color(double t, double rgb[3]);
/* A colour of Ottosson's Oklab as sRGB, what no screen has cut off. */
void und_stage_plot_oklab(double lightness, double a, double b, double rgb[3]);

#endif
