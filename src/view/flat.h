/* What the files that draw liquid in two dimensions share. */
#ifndef UND_VIEW_FLAT_H
#define UND_VIEW_FLAT_H

#include "stage/plot_data.h"
#include "view/gl.h"
#include "view/painter.h"

typedef enum und_flat_kind { UND_FLAT_NOTHING, UND_FLAT_CELLS, UND_FLAT_CURVE } und_flat_kind;

/* What colours show. */
typedef enum und_flat_field {
    UND_FLAT_PLAIN,
    UND_FLAT_PRESSURE,
    UND_FLAT_SPEED,
    UND_FLAT_VORTICITY,
    UND_FLAT_FIELDS
} und_flat_field;

/* Samples of how much of a place is liquid, some to a cell; the surface is where it is 1/2. */
typedef struct und_flat_lattice {
    int nx, ny, per_cell;
    float *share; /* [ny][nx] */
    size_t capacity;
} und_flat_lattice;

typedef struct und_flat_program {
    GLuint cells, curve, dots, arrows, triangles, streaks;
} und_flat_program;

/* A buffer of vertices that grows. */
typedef struct und_flat_buffer {
    GLuint array, buffer;
    size_t room; /* bytes */
    int count;   /* vertices or instances */
} und_flat_buffer;

typedef struct und_flat_streaks und_flat_streaks;

typedef struct und_flat {
    und_painter painter;
    const und_picture_def *look;
    und_flat_program program;
    GLuint maps; /* colours */
    GLuint cells_texture, fields_texture, fill_texture, curve_texture;
    int cells_size[2], fill_size[2], curve_size[2]; /* of those textures */
    und_flat_buffer markers, drops, arrows, bodies, trails;
    und_flat_streaks *streaks; /* NULL: never shown */

    und_flat_kind kind;
    int nx, ny;
    double x0, y0, dx, dy, z; /* m; z: of the plane */
    double stretch;           /* of heights: 1, but for curves that would be flat */
    double low, high;         /* m; heights of a curve that are shown */
    double time;              /* s, of the frame */
    float *flow;              /* [ny][nx][2], m/s; of wet cells, 0 elsewhere */
    uint8_t *wet;             /* [ny][nx] */
    size_t room;              /* cells for which there is memory */
    float *curve;             /* [nx][4]: surface, ground, is it wet, how wet is the ground */
    float *field;             /* [ny][nx][4], what colours show, shares of a range */
    und_flat_lattice fill;
    bool has_flow, has_pressure, has_markers;
    bool has_fill;  /* more is known than which cells are wet */
    double spacing; /* m between markers, about */
    double drop;    /* m; the widest drop's radius */
    und_plot_scale scale;
    double vorticity;                 /* 1/s at the end of the colours */
    double taken[UND_FLAT_FIELDS][2]; /* the ranges that `field` has shares of */

    /* What is shown. */
    und_flat_field colors;
    bool show_markers, show_arrows, show_cells, show_grid, show_surface, show_streaks, hold;
} und_flat;

/* The view as shaders want it: metres from the grid's low corner. */
typedef struct und_flat_view {
    double middle[2], half[2]; /* m */
    double pixel[2];           /* m */
    int width, height;
} und_flat_view;
und_flat_view und_flat_view_of(const und_flat *flat, const und_lens *lens);

/* flat_fill.c: the lattice from markers, chains or heights; false: none of these, cells tell. */
bool und_flat_fill(und_flat_lattice *lattice, const und_plot_data *d, const float *surface,
                   const float *ground);

/* flat_take.c */
und_status und_flat_take(und_painter *self, const und_frame *frame, und_error *err);
const char *und_flat_title(und_flat_field field, const char **unit);
void und_flat_range(const und_flat *flat, und_flat_field field, double *low, double *high, int *map);

/* flat_draw.c */
und_status und_flat_programs(und_flat *flat, und_error *err);
void und_flat_draw(und_painter *self, const und_lens *lens, double seconds);
void und_flat_upload(und_flat_buffer *buffer, const void *data, size_t bytes, int count);

/* flat_arrows.c: arrows of the view, [count][4]: place and way in pixels from the lower left corner. */
int und_flat_arrows(const und_flat *flat, const und_flat_view *view, float (*arrow)[4], int most);
double und_flat_arrow_pixels(const und_flat *flat, const und_flat_view *view); /* of the scale's speed */

/* flat_streaks.c: on to the frame that was taken; what there is to draw, the ends of each piece in pixels and
 * how strong it is. */
und_status und_flat_streaks_move(und_flat *flat, und_error *err);
int und_flat_streaks_list(und_flat *flat, const und_flat_view *view, const float (**list)[5]);

#endif
