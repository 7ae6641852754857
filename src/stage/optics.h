/* What light does where air and water meet, and what pictures make of it: optics.glsl, as C has it, and what
 * shaders have as functions of their own.  Directions are unit vectors. */
#ifndef UND_STAGE_OPTICS_H
#define UND_STAGE_OPTICS_H

#include "stage/f3.h"

#include <math.h>

/* Snell's law: sine of the angle behind the surface, from the cosine in front of it.  `ratio` is the index
 * behind over the index in front.  Larger than 1: total reflection. */
static inline double und_snell_sine(double cosine, double ratio)
{
    return sqrt(fmax(0, 1 - cosine * cosine)) / ratio;
}

#define OPTICS static inline
#define CONSTANT static const
#define REAL double
#define FRESNEL und_fresnel
#define ROOT sqrt
#include "stage/fresnel.glsl"
#undef REAL
#undef FRESNEL
#undef ROOT
#define REAL float
#define FRESNEL und_fresnelf
#define ROOT sqrtf
#include "stage/optics.glsl"
#undef REAL
#undef FRESNEL
#undef ROOT
#undef OPTICS
#undef CONSTANT

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
