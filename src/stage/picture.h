/* What a picture is made with, whoever draws it: its size, camera, light and materials. */
#ifndef UND_STAGE_PICTURE_H
#define UND_STAGE_PICTURE_H

#include "grid/frame.h"
#include "io/image.h"
#include "stage/extent.h"
#include "stage/look.h"
#include "stage/paint.h"

typedef enum und_ground_pattern {
    UND_GROUND_NATURAL, /* sand, rock and grass */
    UND_GROUND_TILES,   /* of a swimming pool */
} und_ground_pattern;

/* What stands around a liquid in cells. */
typedef enum und_tank_kind {
    UND_TANK_NONE,
    UND_TANK_GLASS, /* panes */
    UND_TANK_TILES, /* walls of a pool, seen from inside alone */
    UND_TANK_UNSAID /* und_picture_follow_size() has not been called yet */
} und_tank_kind;

/* How much is done for a picture. */
typedef enum und_quality {
    UND_QUALITY_UNSAID,  /* preview while a scene is simulated, review of a cache */
    UND_QUALITY_PREVIEW, /* the quick pictures of render/ */
    UND_QUALITY_REVIEW,  /* traced (trace.h), to look at */
    UND_QUALITY_FINAL,   /* traced, to keep */
} und_quality;

typedef enum und_filter {
    UND_FILTER_BLACKMAN, /* Blackman and Harris', 1.5 pixels: smooth and fairly sharp */
    UND_FILTER_GAUSSIAN, /* of a third of its radius, 1.5 pixels: soft */
    UND_FILTER_TENT,     /* 1 pixel */
    UND_FILTER_BOX,      /* half a pixel: each for itself, as some compositors want it */
} und_filter;

/* What a panel of a plot shows, besides the solids: bits. */
enum { UND_PLOT_MARKERS = 1, UND_PLOT_VELOCITY = 2, UND_PLOT_PRESSURE = 4 };
enum { UND_PLOT_PANELS = 4 };

/* What a picture is made with.  Colours are linear RGB. */
typedef struct und_picture_def {
    int width, height;    /* pixels, 1280 x 720 */
    int samples;          /* supersampling along each axis, 2 */
    und_vector eye, look; /* m; where they are the same `framed` is */
    und_extent framed;    /* none: the whole domain */
    double fov;           /* vertical, degrees, 40 */
    und_vector sun;       /* direction towards the sun, {-0.5, 0.65, -0.4} */
    float sun_color[3];   /* light of the sun: what it makes of a white wall turned to it */
    float sky_zenith[3], sky_horizon[3];
    double clouds;        /* 0 to 1: how much of the sky they cover, 0.35 */
    const und_image *sky; /* an environment map (latitude-longitude, y up), or NULL: the built-in sky */
    double sky_turn;      /* degrees about y */
    float water_color[3]; /* what deep water scatters back */
    float absorption[3];  /* 1/m */
    float dye_color[3];   /* of water full of dye */
    double dye_strength;  /* 1/m; how fast full dye hides what is behind it, 8 */
    und_paint paint;      /* of liquid in a box of cells that has texture particles: it is then opaque */
    double gloss;         /* 0 to 1: how much of the water's mirror painted liquid has, 0.6 */
    double refraction;    /* index of water, 1.333 */
    double ripples;       /* 0 to 1: fine surface detail too small for the grid, 0.35 */
    double ripple_size;   /* m; wavelength of the largest ripples; 0: three cells */
    double shore;         /* m; depth at which water shows fully; 0: 0.15 cells */
    int caustics;         /* light samples per texel along each axis: 0 (none), 1 or 2; 2 */
    und_ground_pattern ground_pattern;
    double tile;                    /* m; side of a tile, 0.3 */
    double grout;                   /* m; width of the lines between tiles, 0.012 */
    float tile_color[3];            /* light blue */
    float grout_color[3];           /* white */
    und_tank_kind tank;             /* around a liquid in cells: none */
    const und_image *ground_map;    /* colours over the whole domain, low z first, or NULL: ground_color */
    float ground_color[3];          /* sand */
    float rock_color[3];            /* where the ground is steep */
    double rock_slope;              /* degrees; steeper ground is rock, 38 */
    float grass_color[3];           /* where the ground is high and flat */
    double grass_height;            /* m; infinite: none */
    double grain;                   /* size of the ground's pattern, in sides of the domain, 0.35 */
    double texture;                 /* 0 to 1 and more: how strong the ground's pattern and bumps are, 1 */
    double wet_darkening;           /* 0.5: wet ground is up to half as bright */
    double sheen;                   /* 0 to 1: how much of water's reflection wet ground has, 0.5 */
    double drying;                  /* s until wet ground is dry, 8 */
    double foam;                    /* brightness of foam where a frame has it, 1 */
    double haze;                    /* m; distance at which the air has taken 63 %; infinite: none */
    double exposure;                /* stops, 0; part of the linear picture too */
    double shutter;                 /* s; how long what moves is seen moving, 1/60 */
    int blur;                       /* moments in that time at which objects are drawn; 0 or 1: one, 0 */
    double rain_width;              /* m; of a drop, 0.004 */
    bool tone;                      /* filmic curve for PNG and MP4; EXR stays linear */
    double vertical;                /* height exaggeration, 1 */
    bool sides;                     /* draw the cut faces of the block of water and ground */
    float background[3];            /* behind a curve drawn as a section */
    und_quality quality;            /* how much is done */
    double noise;                   /* of traced pictures, as film.h measures it; 0: the quality's */
    int least_samples;              /* of a traced pixel; 0: the quality's */
    int most_samples;               /* the same */
    int bounces;                    /* of a traced path, at most; 0: the quality's */
    und_filter filter;              /* over which a traced pixel is a mean */
    double filter_radius;           /* pixels; 0: the filter's own */
    double photons;                 /* sent for caustics, in millions; below 0: the quality's; 0: none */
    double sun_angle;               /* degrees across the sun, of traced pictures, 0.53 */
    double lens;                    /* m; radius of the lens of traced pictures; 0: all is sharp */
    double focus;                   /* m to what is sharp; 0: to `look` */
    const char *title;              /* over a plot, or NULL */
    unsigned plot[UND_PLOT_PANELS]; /* what the panels of a plot show, from left to right */
    int plot_panels;                /* 0: markers and velocity, and pressure where there is room for it */
    const und_vector *focus_at;     /* m; the point that is sharp, instead; NULL: none */
    const und_lamp *lamps;          /* of traced pictures */
    int lamp_count;
    und_looks looks;    /* the same */
    bool motion_blur;   /* true */
    int threads;        /* 0: one per core */
    bool (*stop)(void); /* asked often while drawing, by any thread; NULL: never stops */
    void (*told)(void *context, double share); /* how much of a traced picture is done; NULL: nobody */
    void *told_context;
} und_picture_def;

und_picture_def und_picture_def_default(void);

und_status und_picture_check(const und_picture_def *def, und_error *err);

/* Is it left to the frames what a picture frames?  Of a liquid in cells, by und_extent; without a camera. */
bool und_picture_has_camera(const und_picture_def *def);

/* The camera of a picture of the frame, for a liquid in a box of cells. */
und_plate und_picture_plate(const und_picture_def *def, const und_frame *frame);

#endif
