/* What the painter of height fields takes from a frame, by the reading that the preview has: heights without
 * what no picture can use, wet ground that remembers, sky and sun, bodies and drops. */
#ifndef UND_VIEW_SEA_READ_H
#define UND_VIEW_SEA_READ_H

#include "grid/frame.h"
#include "render/render.h"

/* Fields are [nz][nx], and of them all only heights are always there.  Heights are as the frame has them: the
 * vertical exaggeration is the painter's. */
typedef struct und_sea_fields {
    int nx, nz;
    double h, x0, z0;              /* m: distance of samples, and where the first is */
    const float *ground, *surface; /* m; the surface runs on under the shore */
    const float *wet;              /* 0 to 1 */
    const float *open;             /* share of the sky that the ground sees */
    const float *shadow;           /* m; up to there the sun is hidden */
    float penumbra;                /* m, of height */
    const float *drift;            /* [nz][nx][4]: foam, dye, velocity along x and z; NULL: none */
    bool has_foam, has_dye, has_flow;
    bool new_ground, new_sky;        /* since the frame before */
    float low, high, ground_high;    /* m: of ground, of ground and water, of ground */
    float water_low, water_high;     /* m: of the water where there is some */
    float base;                      /* m: where the block ends below */
    float sun[3], sun_color[3];      /* towards it; irradiance / pi */
    float ambient[4][3];             /* of the sky: constant, x, y and z parts of a linear fit */
    int sky_size;                    /* a square map, folded as und_sky_fold has it */
    const float *sky;                /* [size][size][4] */
    int corners;                     /* of bodies, three a triangle */
    const float *position, *normal;  /* [corners][3], m */
    const float *color;              /* the same, linear; NULL: grey */
    int rain_count, spray_count;     /* drops */
    const float *rain, *rain_speed;  /* [count][3], m and m/s; the speeds may be NULL */
    const float *spray, *spray_size; /* [count][3], and radii, m, or NULL */
    const float *spray_speed;        /* [count][3], m/s, or NULL */
    double time;                     /* s */
} und_sea_fields;

typedef struct und_sea_reader und_sea_reader;

und_sea_reader *und_sea_reader_create(const und_render_def *look, und_error *err);
void und_sea_reader_destroy(und_sea_reader *reader);

/* The patterns of sand, clouds and foam, and of ripples: [size][size][4], each repeats. */
void und_sea_reader_patterns(const und_sea_reader *reader, int *size, const float **noise,
                             const float **ripple);

/* Reads a frame.  Drops and the bodies' colours are the frame's, and gone with it; the rest stays until the
 * next. */
und_status und_sea_reader_take(und_sea_reader *reader, const und_frame *frame, double vertical,
                               und_error *err);
/* The shadows once more, where heights are drawn `vertical` times as large. */
void und_sea_reader_shade(und_sea_reader *reader, double vertical);
const und_sea_fields *und_sea_reader_fields(const und_sea_reader *reader);

#endif
