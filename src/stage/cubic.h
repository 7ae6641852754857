/* Smooth curves through samples. */
#ifndef UND_STAGE_CUBIC_H
#define UND_STAGE_CUBIC_H

/* Weights of the cubic through four samples (Catmull & Rom 1974) at `t` between the middle two. */
static inline void und_cubic_weights(float t, float w[4])
{
    w[0] = 0.5f * t * (t * (2 - t) - 1);
    w[1] = 0.5f * (t * t * (3 * t - 5) + 2);
    w[2] = 0.5f * t * (t * (4 - 3 * t) + 1);
    w[3] = 0.5f * t * t * (t - 1);
}

#endif
