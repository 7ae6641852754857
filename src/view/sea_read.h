/* What the painter of height fields takes from a frame, by the reading that the preview has: heights without
 * what no picture can use, wet ground that remembers, sky and sun, bodies and drops; and what lies between
 * the samples, so that few of them make round waves and shores. */
#ifndef UND_VIEW_SEA_READ_H
#define UND_VIEW_SEA_READ_H

#include "grid/frame.h"
#include "stage/picture.h"

typedef struct und_sea_fields {
    /* The frame's samples, [sample_nz][sample_nx]. */
    int sample_nx, sample_nz;
    double cell;        /* m from one to the next */
    const float *wet;   /* 0 to 1 */
    const float *drift; /* [sample_nz][sample_nx][4]: foam, dye, velocity along x and z; NULL: none */
    /* What is drawn: `scale` texels per sample, [nz][nx], heights `vertical` times as large. */
    int scale, nx, nz;
    double h, x0, z0;             /* m from one to the next, and where the first is */
    const float *ground;          /* m */
    const float *water_map;       /* [nz][nx][4]: depth (negative: dry), slopes of the surface, sun there */
    const float *ground_map;      /* [nz][nx][4]: slopes, share of the sky seen, sun there */
    float low, high, ground_high; /* m: of ground, of ground and water, of ground */
    float water_low, water_high;  /* m: of water deeper than a film; of all ground where there is none */
    float water_level;            /* m: its mean */
    float base;                   /* m: where the block ends below */
    bool new_ground, new_sky;     /* since the frame before */
    float sun[3], sun_color[3];   /* towards it; irradiance / pi */
    float ambient[4][3];          /* of the sky: constant, x, y and z parts of a linear fit */
    int sky_size;                 /* a square map, folded as und_sky_fold has it */
    const float *sky;             /* [size][size][4] */
    int bodies, corners;          /* three corners a triangle */
    bool new_bodies;              /* other ones than in the frame before */
    bool bodies_moved;
    const int32_t *first;        /* [bodies + 1]: first corner of each */
    const float *mesh;           /* [corners][3], m, about the body's centre and in its axes */
    int vertices;                /* corners that several triangles share are one */
    const float *vertex;         /* [vertices][10]: place, normal, colour (linear), body */
    const uint32_t *index;       /* [corners] */
    const float *reach;          /* [bodies]: m, of the farthest corner from the centre */
    const float *pose;           /* [bodies][8]: centre and 0, m, and turn (x, y, z, w) */
    int rain_count, spray_count; /* drops */
    const float *rain;           /* [count][3], m */
    const float *rain_speed;     /* the same, m/s, or NULL */
    const float *spray;          /* [count][3], m */
    const float *spray_size;     /* [count], radii, m, or NULL */
    const float *spray_speed;    /* [count][3], m/s, or NULL */
    int sheet_corners;           /* of sheets of water in the air, three a triangle */
    const float *sheet;          /* [corners][3], m */
    const float *sheet_normal;   /* the same */
    const float *sheet_rim;      /* [corners]: 1 at a rim to 0; or NULL */
    double time;                 /* s */
} und_sea_fields;

/* How it is to be drawn. */
typedef struct und_sea_wish {
    double vertical; /* exaggeration of heights */
    int texels;      /* about as many along the longer side, where samples are fewer */
} und_sea_wish;

typedef struct und_sea_reader und_sea_reader;

und_sea_reader *und_sea_reader_create(const und_picture_def *look, und_error *err);
void und_sea_reader_destroy(und_sea_reader *reader);

/* The patterns of sand, clouds and foam, and of ripples: [size][size][4], each repeats. */
void und_sea_reader_patterns(const und_sea_reader *reader, int *size, const float **noise,
                             const float **ripple);

/* Reads a frame.  Drops are the frame's, and gone with it; the rest stays until the
 * next. */
und_status und_sea_reader_take(und_sea_reader *reader, const und_frame *frame, const und_sea_wish *wish,
                               und_error *err);
/* The same frame once more, drawn otherwise. */
und_status und_sea_reader_remake(und_sea_reader *reader, const und_sea_wish *wish, und_error *err);
const und_sea_fields *und_sea_reader_fields(const und_sea_reader *reader);

#endif
