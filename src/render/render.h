/* Pictures of height-field water by the shading of Kass & Miller 1990, with what viewers expect now. */
#ifndef UND_RENDER_RENDER_H
#define UND_RENDER_RENDER_H

#include "grid/frame.h"
#include "io/image.h"

/* What a picture is made with.  Colours are linear RGB. */
typedef struct und_render_def {
    int width, height;    /* 1280 x 720 */
    int samples;          /* supersampling along each axis, 2 */
    und_vector eye, look; /* m */
    double fov;           /* vertical, degrees, 40 */
    und_vector sun;       /* direction towards the sun */
    float sun_color[3];   /* radiance scale */
    float sky_zenith[3], sky_horizon[3];
    double clouds;        /* 0 to 1: how much of the sky they cover */
    const und_image *sky; /* an environment map (latitude-longitude, y up), or NULL: the built-in sky */
    double sky_turn;      /* degrees about y */
    float water_color[3]; /* what deep water scatters back */
    float absorption[3];  /* 1/m */
    double refraction;    /* index of water, 1.333 */
    double ripples;       /* 0 to 1: fine surface detail too small for the grid */
    const und_image *ground_map; /* colours over the whole domain, or NULL: ground_color */
    float ground_color[3];       /* sand */
    float rock_color[3];         /* where the ground is steep */
    float grass_color[3];        /* where the ground is high and flat */
    double grass_height;         /* m; infinite: none */
    double wet_darkening;        /* 0.5: wet ground is up to half as bright */
    double drying;               /* s until wet ground is dry */
    double foam;                 /* brightness of foam where a frame has it */
    double haze;                 /* m; distance at which the air has taken 63 %; infinite: none */
    double exposure;             /* stops */
    bool tone;                   /* filmic curve for PNG and MP4; EXR stays linear */
    double vertical;             /* height exaggeration, 1 */
    bool sides;                  /* draw the cut faces of the block of water and ground */
    float background[3];         /* behind a curve drawn as a section */
    int threads;
} und_render_def;

und_render_def und_render_def_default(void);

typedef struct und_render und_render;

und_render *und_render_create(const und_render_def *def, und_error *err);
void und_render_destroy(und_render *render);

/* Takes note of a frame without drawing it: wet ground remembers.  Frames come in order. */
und_status und_render_observe(und_render *render, const und_frame *frame, und_error *err);

/* Observes the frame and draws it, linear, before tone. */
und_status und_render_draw(und_render *render, const und_frame *frame, und_image *image, und_error *err);

/* The tone curve, for PNG and MP4, in place. */
void und_render_tone(const und_render *render, und_image *image);

int und_render_stages(const und_render *render, const und_stage **list);

#endif
