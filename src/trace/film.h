/* The picture: a camera's rays, filtered and averaged into layers until the noise is below what was asked.
 *
 * Noise is measured as it is seen.  A pixel's samples come in batches of UND_FILM_BATCH, whose spread gives
 * the standard error of its mean.  How far the displayed value (after exposure, tone curve and the sRGB
 * curve: 0 black, 1 white) moves when the mean is that much higher or lower is its noise, as a share of the
 * displayed value or, in the dark, of UND_FILM_DARK.  Highlights beyond white have none.  The squares are
 * smoothed over 5 x 5 pixels, so that a pixel whose few samples agree by chance does not stop before its
 * neighbours. */
#ifndef UND_TRACE_FILM_H
#define UND_TRACE_FILM_H

#include "trace/path.h"

enum { UND_FILM_BATCH = 8 };
#define UND_FILM_DARK 0.25f

/* A thin lens. */
typedef struct und_film_lens {
    f3 eye, right, up, forward;     /* when the shutter opens; unit vectors */
    f3 eye1, right1, up1, forward1; /* when it closes */
    float half_height;              /* tangent of half the vertical angle */
    float radius;                   /* of the lens, m; 0: a pinhole */
    float focus;                    /* m along forward to what is sharp */
    float time[2];                  /* of the shutter, s about the frame's time */
} und_film_lens;

typedef struct und_film_def {
    int width, height;
    int least, most; /* samples per pixel, rounded up to whole batches; at least two */
    float noise;     /* to be reached, 0.02; 0: always the most */
    und_filter filter;
    float filter_radius; /* pixels; 0: the filter's own */
    float gain;          /* of exposure: part of the picture */
    bool tone;           /* is it displayed through the tone curve? */
    uint64_t seed;
    int threads;
    bool (*stop)(void);                        /* NULL: never */
    void (*told)(void *context, double share); /* about how much is done, by one thread at a time; or NULL */
    void *told_context;
} und_film_def;

/* What the light along a ray comes from: und_trace_path() in a world, or a test's own.  `first` is never
 * NULL. */
typedef struct und_subject {
    f3 (*look)(const void *of, const und_ray *ray, und_dice *dice, und_hit *first);
    const void *of;
} und_subject;

/* Rows from the top.  Depth, velocity and id are not mixed: they are of the sample nearest to the middle of
 * pixel and lens. */
typedef struct und_layers {
    int width, height;
    float *rgb;      /* [pixels][3], linear */
    float *alpha;    /* share of samples that met something */
    float *depth;    /* m along forward; infinite where nothing was met */
    float *normal;   /* [pixels][3], mean, unit; 0 where nothing was met */
    float *velocity; /* [pixels][3], m/s */
    float *id;
    float *samples; /* how many were taken */
} und_layers;

und_status und_layers_create(und_layers *layers, int width, int height, und_error *err);
void und_layers_destroy(und_layers *layers);
/* As EXR: R G B A N.x N.y N.z in half floats; Z (1e10 where nothing was met), velocity.x .y .z (m/s), id and
 * samples in whole ones. */
und_status und_layers_write(const und_layers *layers, const char *path, und_error *err);

typedef struct und_film_report {
    double samples; /* mean per pixel */
    double noise;   /* reached: root of the mean square over pixels */
    double reached; /* share of pixels whose noise is below the target */
    double paths;   /* from the camera */
    double rays;    /* that they were made of */
    double dropped; /* paths with light that was no number, which was left out */
    double cleaned; /* pixels whose noise was a lone bright path */
} und_film_report;

/* UND_STOPPED where `stop` said so.  The same bits at any number of threads. */
und_status und_film_expose(const und_film_def *def, const und_film_lens *lens, und_subject subject,
                           und_layers *layers, und_film_report *report, und_error *err);

#endif
