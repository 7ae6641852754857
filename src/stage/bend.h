/* Rays at a surface and in what is behind it, as vectors. */
#ifndef UND_STAGE_BEND_H
#define UND_STAGE_BEND_H

#include "stage/f3.h"
#include "stage/optics.h"

/* What is left of each colour. */
static inline f3 und_left(f3 absorption, float way)
{
    return f3_make(und_beer(absorption.x, way), und_beer(absorption.y, way), und_beer(absorption.z, way));
}

static inline f3 und_mirror(f3 d, f3 n)
{
    return f3_along(d, n, -2 * f3_dot(d, n));
}

/* The bent ray, or the mirrored one where none leaves. */
static inline f3 und_bend(f3 d, f3 n, float ratio)
{
    float a[3] = {d.x, d.y, d.z}, b[3] = {n.x, n.y, n.z}, out[3];
    return und_refract(a, b, ratio, out) ? f3_of(out) : und_mirror(d, n);
}

#endif
