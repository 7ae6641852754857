/* Vectors and small functions of single numbers, for pictures: inline, single precision. */
#ifndef UND_STAGE_F3_H
#define UND_STAGE_F3_H

#include "base/maths.h"

#include <math.h>

/* Inline, unlike the library's; a NaN first gives the second. */
static inline float minf(float a, float b)
{
    return a < b ? a : b;
}
static inline float maxf(float a, float b)
{
    return a > b ? a : b;
}

typedef struct f3 {
    float x, y, z;
} f3;

static inline f3 f3_make(float x, float y, float z)
{
    return (f3){x, y, z};
}
static inline f3 f3_of(const float v[3])
{
    return (f3){v[0], v[1], v[2]};
}
static inline f3 f3_gray(float v)
{
    return (f3){v, v, v};
}
static inline f3 f3_add(f3 a, f3 b)
{
    return (f3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline f3 f3_sub(f3 a, f3 b)
{
    return (f3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline f3 f3_times(f3 a, f3 b)
{
    return (f3){a.x * b.x, a.y * b.y, a.z * b.z};
}
static inline f3 f3_scale(f3 a, float s)
{
    return (f3){a.x * s, a.y * s, a.z * s};
}
static inline f3 f3_along(f3 a, f3 d, float t) /* a + t d */
{
    return (f3){a.x + t * d.x, a.y + t * d.y, a.z + t * d.z};
}
static inline f3 f3_mix(f3 a, f3 b, float t)
{
    return (f3){a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z)};
}
static inline float f3_dot(f3 a, f3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline f3 f3_cross(f3 a, f3 b)
{
    return (f3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline f3 f3_unit(f3 a)
{
    float l = sqrtf(f3_dot(a, a));
    return l > 0 ? f3_scale(a, 1 / l) : (f3){0, 1, 0};
}
static inline f3 und_inverse(f3 d) /* 1 / d, finite */
{
    return (f3){1 / (fabsf(d.x) > 1e-9f ? d.x : 1e-9f), 1 / (fabsf(d.y) > 1e-9f ? d.y : 1e-9f),
                1 / (fabsf(d.z) > 1e-9f ? d.z : 1e-9f)};
}
static inline float clampf(float v, float low, float high)
{
    return v < low ? low : v > high ? high : v; /* NaN stays */
}
static inline float mixf(float a, float b, float t)
{
    return a + t * (b - a);
}
static inline float stepf(float low, float high, float v) /* smooth from 0 at low to 1 at high */
{
    float t = clampf((v - low) / (high - low), 0, 1);
    return t * t * (3 - 2 * t);
}

typedef struct und_box {
    f3 low, high;
} und_box;

#endif
