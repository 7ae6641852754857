/* Heights between the samples of a frame, and what is drawn from them. */
#ifndef UND_VIEW_SEA_FINE_H
#define UND_VIEW_SEA_FINE_H

#include "stage/scenery.h"
#include "view/sea_read.h"

typedef struct und_sea_fine {
    int scale, nx, nz; /* texels per sample, and all */
    int sample_nx, sample_nz;
    float *ground, *depth;         /* [nz][nx], m, exaggerated */
    float *rows[2];                /* [samples_nz][nx]: ground and depth, fine along x alone */
    float *shadow;                 /* [nz][nx], m: up to there the sun is hidden */
    float *water_map, *ground_map; /* [nz][nx][4], as und_sea_fields has them */
    float soft;                    /* m: height of the penumbra */
} und_sea_fine;

/* Room for so many samples, each `scale` texels; *fresh: nothing is in it yet. */
und_status und_sea_fine_allocate(und_sea_fine *fine, int nx, int nz, int scale, bool *fresh, und_error *err);
void und_sea_fine_free(und_sea_fine *fine);

/* Makes all of it, the ground's part only where that is new.  `sun` is towards it. */
void und_sea_fine_make(und_sea_fine *fine, const und_samples *samples, double vertical, f3 sun,
                       bool new_ground, int threads);

#endif
