/* Wet ground remembers the water: Kass & Miller 1990, "Rendering with caustic shading". */
#include "stage/scenery.h"

/* Under water wetness is 1, elsewhere it falls by a constant amount per second until 0.  A film, thinner than
 * a few thousandths of a cell, wets in part: a single drop of rain does not paint every cell it touches. */
void und_wetness_advance(und_scenery *stage, double time)
{
    und_samples *s = &stage->samples;
    size_t count = (size_t)s->nx * (size_t)s->nz;
    double passed = s->observed ? time - s->time : 0;
    bool anew = !s->observed || passed < 0; /* frames out of order start over */
    float drop = anew ? 1 : (float)(stage->def.drying > 0 ? passed / stage->def.drying : 1);
    float film = 0.005f * (float)s->dx;
    for (size_t c = 0; c < count; c++)
        s->wet[c] = maxf(clampf(s->depth[c] / film, 0, 1), s->wet[c] - drop);
    s->time = time;
}

static float blur3(float a, float b, float c)
{
    return 0.25f * a + 0.5f * b + 0.25f * c;
}

/* A binomial filter over 3 x 3 samples, so that the edge does not alias. */
void und_wetness_smooth(und_samples *s, int threads)
{
    int nx = s->nx, nz = s->nz;
    PARALLEL_FOR(threads)
    for (int j = 0; j < nz; j++) {
        const float *in = s->wet + (size_t)j * (size_t)nx;
        float *out = s->wet_scratch + (size_t)j * (size_t)nx;
        for (int i = 0; i < nx; i++)
            out[i] = blur3(in[i > 0 ? i - 1 : i], in[i], in[i < nx - 1 ? i + 1 : i]);
    }
    PARALLEL_FOR(threads)
    for (int j = 0; j < nz; j++) {
        const float *in = s->wet_scratch + (size_t)j * (size_t)nx;
        const float *up = j > 0 ? in - nx : in, *down = j < nz - 1 ? in + nx : in;
        float *out = s->wet_smooth + (size_t)j * (size_t)nx;
        for (int i = 0; i < nx; i++)
            out[i] = blur3(up[i], in[i], down[i]);
    }
}
