/* What light does where air and water meet.  Directions are unit vectors. */
#ifndef UND_RENDER_OPTICS_H
#define UND_RENDER_OPTICS_H

#include <math.h>

/* Snell's law: sine of the angle behind the surface, from the cosine in front of it.  `ratio` is the index
 * behind over the index in front.  Larger than 1: total reflection. */
static inline double und_snell_sine(double cosine, double ratio)
{
    return sqrt(fmax(0, 1 - cosine * cosine)) / ratio;
}

/* Share of unpolarised light that is reflected: the Fresnel equations, as in Born & Wolf, Principles of
 * Optics, section 1.5.2. */
static inline double und_fresnel(double cosine, double ratio)
{
    double c = fmin(fmax(cosine, 0), 1), s = und_snell_sine(c, ratio);
    if (s >= 1)
        return 1;
    double t = sqrt(1 - s * s); /* cosine behind the surface */
    double rs = (c - ratio * t) / (c + ratio * t);
    double rp = (ratio * c - t) / (ratio * c + t);
    return 0.5 * (rs * rs + rp * rp);
}

/* The same in single precision, for pictures. */
static inline float und_fresnelf(float cosine, float ratio)
{
    float c = fminf(fmaxf(cosine, 0), 1), s2 = (1 - c * c) / (ratio * ratio);
    if (s2 >= 1)
        return 1;
    float t = sqrtf(1 - s2);
    float rs = (c - ratio * t) / (c + ratio * t);
    float rp = (ratio * c - t) / (ratio * c + t);
    return 0.5f * (rs * rs + rp * rp);
}

/* Bends the ray `d` at a surface whose normal `n` points against it; 0 where it is totally reflected. */
static inline int und_refract(const float d[3], const float n[3], float ratio, float out[3])
{
    float c = -(d[0] * n[0] + d[1] * n[1] + d[2] * n[2]);
    float k = 1 - (1 - c * c) / (ratio * ratio);
    if (k < 0)
        return 0;
    float m = c / ratio - sqrtf(k);
    for (int i = 0; i < 3; i++)
        out[i] = d[i] / ratio + m * n[i];
    return 1;
}

#endif
