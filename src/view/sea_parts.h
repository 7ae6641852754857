/* What the files of the painter of height fields share. */
#ifndef UND_VIEW_SEA_PARTS_H
#define UND_VIEW_SEA_PARTS_H

#include "view/gl.h"
#include "view/painter.h"
#include "view/sea_read.h"

/* Programs that draw; which parts of them are compiled depends on what the frame has and on the options. */
enum { SEA_SKY, SEA_GROUND, SEA_WATER, SEA_CUT_GROUND, SEA_CUT_WATER, SEA_KINDS };
enum { SEA_GOOD = 1, SEA_DRIFT = 2, SEA_BODIES = 4, SEA_TINTED = 8, SEA_VARIANTS = 16 };

enum { SEA_WATER_CLEAR, SEA_WATER_OPAQUE, SEA_WATER_HIDDEN };

/* What a person chose. */
typedef struct und_sea_options {
    int quality; /* 0: fast, 1: good */
    bool caustics, wet, lines, tinted;
    int water;       /* SEA_WATER_... */
    double vertical; /* on top of the scene's */
} und_sea_options;

/* Triangles over a grid of vertices, whose numbers count along x first. */
typedef struct und_sea_grid {
    GLuint array, indices;
    int size[2], count; /* vertices; indices */
} und_sea_grid;

/* Which cells of a grid are wanted: those whose tiles have a bit of `wanted`. */
typedef struct und_sea_picked {
    const unsigned char *tile;
    unsigned wanted;
} und_sea_picked;

typedef struct und_sea {
    und_painter painter;
    const und_render_def *look;
    und_sea_reader *reader;
    und_sea_options options;
    bool software;     /* the driver has no processor of its own to draw with */
    bool taken;        /* a frame */
    und_sea_wish made; /* what the maps are like */
    bool made_good, made_caustics;
    int nx, nz, sample_nx;
    GLuint bed, ground_map, water_map; /* heights of the ground; und_sea_fields' maps */
    GLuint wet, drift;
    und_target light; /* caustics: 1 through flat water */
    GLuint noise, ripple, sky, paint, colormaps;
    GLuint caustics_program, program[SEA_KINDS][SEA_VARIANTS];
    GLuint no_array;
    und_sea_grid grid, dry_grid, light_grid;
    und_target picture; /* where it is smaller than the window, or has more samples */
} und_sea;

double und_sea_vertical(const und_sea *sea); /* the whole exaggeration */
und_sea_wish und_sea_wish_of(const und_sea *sea);

/* Uploads what the reader has, and makes the maps (sea_maps.c). */
und_status und_sea_maps_create(und_sea *sea, und_error *err);
void und_sea_maps_destroy(und_sea *sea);
und_status und_sea_maps_take(und_sea *sea, und_error *err);
/* Again, where an option that they depend on has changed. */
void und_sea_maps_refresh(und_sea *sea);
/* The plan's place in the maps, for the program in use. */
void und_sea_set_plan(const und_sea *sea, GLuint program);
/* Sets the grid's cells, all where `picked` is NULL; the grid covers `window` of the plan. */
void und_sea_grid_fill(und_sea_grid *grid, const float window[4], const und_sea_picked *picked);
void und_sea_grid_draw(const und_sea_grid *grid, GLuint program);

/* Programs for the frame and the options as they are (sea_draw.c). */
und_status und_sea_programs(und_sea *sea, und_error *err);
void und_sea_tint_range(const und_sea *sea, double *low, double *high); /* m, of the water */
void und_sea_draw(und_painter *self, const und_lens *lens, double seconds);

bool und_sea_pick(const und_painter *self, const double origin[3], const double direction[3],
                  double point[3]);

void und_sea_panel(und_painter *self, und_ui *ui);
void und_sea_annotate(und_painter *self, const und_lens *lens, und_ui *ui);
const und_action *und_sea_actions(const und_painter *self, int *count);

#endif
