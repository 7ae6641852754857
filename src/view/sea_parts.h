/* What the files of the painter of height fields share. */
#ifndef UND_VIEW_SEA_PARTS_H
#define UND_VIEW_SEA_PARTS_H

#include "view/gl.h"
#include "view/painter.h"
#include "view/sea_read.h"

/* Programs that draw; which parts of them are compiled depends on what the frame has and on the options. */
enum { SEA_SKY, SEA_GROUND, SEA_WATER, SEA_CUT_GROUND, SEA_CUT_WATER, SEA_SHADES };
enum { SEA_THING = SEA_SHADES, SEA_SHEETS, SEA_DROPS, SEA_KINDS };
/* What a pixel shows: sides are 2 to 5, low x, high x, low z, high z. */
enum { SEA_SHOWS_TOP = 1, SEA_SHOWS_SIDE, SEA_SHOWS_BODY = 6, SEA_SHOWS_FLOOR };
enum { SEA_GOOD = 1, SEA_DRIFT = 2, SEA_BODIES = 4, SEA_TINTED = 8, SEA_LINES = 16, SEA_VARIANTS = 32 };

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

enum { UND_SEA_BUFFERS = 10 };

/* What is in the water and over it. */
typedef struct und_sea_things {
    int corners, rain, spray, sheets; /* of bodies; drops; corners of sheets */
    GLuint array[4];                  /* bodies, rain, spray, sheets */
    GLuint buffer[UND_SEA_BUFFERS];
    GLuint poses;           /* of bodies: two texels each */
    float sun_row[3][4];    /* take a place to the shadow's map, 0 to 1 */
    double shaded_vertical; /* of the shadow; -1: none yet */
    float box[4];           /* where they are seen, -1 to 1 over the window */
    und_target shadow;      /* its depth counts */
    und_target seen;        /* bodies alone: light that they send, and how far they are */
} und_sea_things;

/* What a pass into a target of its own puts aside. */
typedef struct und_sea_aside {
    GLint buffer, viewport[4];
    GLboolean scissor;
} und_sea_aside;

typedef struct und_sea {
    und_painter painter;
    const und_picture_def *look;
    und_sea_reader *reader;
    und_sea_options options;
    bool software; /* the driver has no processor of its own to draw with */
    bool taken;    /* a frame */
    /* m, not exaggerated: of the water in the first frame, and how far down and up it went so far. */
    double level, low, high;
    und_sea_wish made; /* what the maps are like */
    bool made_good, made_caustics;
    int nx, nz, sample_nx;
    GLuint bed, ground_map, water_map; /* heights of the ground; und_sea_fields' maps */
    GLuint wet, drift;
    und_target light; /* caustics: 1 through flat water */
    GLuint noise, ripple, sky, paint, colormaps;
    GLuint caustics_program, shadow_program, grid_program, side_program, floor_program, sort_program,
        smooth_program, compose_program;
    GLuint program[SEA_KINDS][SEA_VARIANTS];
    GLuint no_array;
    und_sea_grid grid, light_grid;
    und_sea_things things;
    und_target picture; /* as drawn, with fewer pixels than the window or more; with `kinds` beside it */
    und_target smooth;  /* the same with smooth edges */
    GLuint kinds;       /* what each pixel shows */
    GLuint shades;      /* the picture's colours, with `passes` as depth: its own is looked at */
    GLuint passes;      /* which pass shades a pixel */
    und_lens lens;      /* of the picture; and what it shows */
    und_sea_options drawn;
    double drawn_tint[2];   /* range of the water's colours, m */
    int takes, drawn_takes; /* frames so far */
    int still;              /* times that the same was drawn */
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
void und_sea_grid_draw(const und_sea_grid *grid, GLuint program);

/* Draws into a target for a while, with nothing cut off. */
und_sea_aside und_sea_turn_to(GLuint buffer, int width, int height);
void und_sea_turn_back(const und_sea_aside *aside);

/* Bodies and drops (sea_things.c). */
und_status und_sea_things_create(und_sea *sea, und_error *err);
void und_sea_things_destroy(und_sea *sea);
void und_sea_things_take(und_sea *sea);
/* The shadow, and the picture that the water takes of bodies, so many pixels large. */
und_status und_sea_things_prepare(und_sea *sea, const und_lens *lens, int width, int height, und_error *err);
void und_sea_things_set(const und_sea *sea, GLuint program, bool seen); /* for programs that look at them */
void und_sea_things_draw(und_sea *sea, const und_lens *lens, bool for_water);
void und_sea_drops_draw(und_sea *sea, const und_lens *lens);

/* Programs for the frame and the options as they are (sea_draw.c). */
und_status und_sea_programs(und_sea *sea, und_error *err);
GLuint und_sea_use(const und_sea *sea, int kind, const und_lens *lens);
void und_sea_tint_range(const und_sea *sea, double *low, double *high); /* m, of the water's colours */
void und_sea_pictures_clear(und_sea *sea);
void und_sea_draw(und_painter *self, const und_lens *lens, double seconds);

bool und_sea_pick(const und_painter *self, const double origin[3], const double direction[3],
                  double point[3]);

void und_sea_panel(und_painter *self, und_ui *ui);
void und_sea_annotate(und_painter *self, const und_lens *lens, und_ui *ui);
const und_action *und_sea_actions(const und_painter *self, int *count);

#endif
