/* The picture: a camera's rays, filtered and averaged into layers until the noise is below what was asked. */
#ifndef UND_TRACE_FILM_H
#define UND_TRACE_FILM_H

#include "trace/path.h"

/* A thin lens. */
typedef struct und_lens {
    f3 eye, right, up, forward;     /* when the shutter opens; unit vectors */
    f3 eye1, right1, up1, forward1; /* when it closes */
    float half_height;              /* tangent of half the vertical angle */
    float radius;                   /* of the lens, m; 0: a pinhole */
    float focus;                    /* m along forward to what is sharp */
    float time[2];                  /* of the shutter, s about the frame's time */
} und_lens;

typedef struct und_film_def {
    int width, height;
    int least, most; /* samples per pixel */
    float noise;     /* standard error of a pixel's displayed mean, relative; 0: always the most */
    uint64_t seed;
    int threads;
    bool (*stop)(void);
} und_film_def;

/* Rows from the top. */
typedef struct und_layers {
    int width, height;
    float *rgb;      /* [pixels][3], linear */
    float *alpha;    /* share of samples that met something */
    float *depth;    /* m along forward; infinite where nothing was met */
    float *normal;   /* [pixels][3] */
    float *velocity; /* [pixels][3], m/s */
    float *id;
    float *samples; /* how many were taken */
} und_layers;

und_status und_layers_create(und_layers *layers, int width, int height, und_error *err);
void und_layers_destroy(und_layers *layers);

typedef struct und_film_report {
    double samples; /* mean per pixel */
    double noise;   /* reached: mean over pixels */
    double rays;
} und_film_report;

/* UND_STOPPED where `stop` said so.  The same bits at any number of threads. */
und_status und_film_expose(const und_film_def *def, const und_lens *lens, const und_paths *paths,
                           und_layers *layers, und_film_report *report, und_error *err);

#endif
