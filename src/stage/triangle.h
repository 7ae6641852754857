/* Places in a triangle, and what is between its corners. */
#ifndef UND_STAGE_TRIANGLE_H
#define UND_STAGE_TRIANGLE_H

#include "stage/f3.h"

/* Weights of a triangle's second and third corners at p, which lies in it. */
static inline void und_weights(const float *triangle, f3 p, float *s, float *t)
{
    f3 a = f3_of(triangle), e1 = f3_sub(f3_of(triangle + 3), a), e2 = f3_sub(f3_of(triangle + 6), a),
       d = f3_sub(p, a);
    float d11 = f3_dot(e1, e1), d12 = f3_dot(e1, e2), d22 = f3_dot(e2, e2), q1 = f3_dot(d, e1),
          q2 = f3_dot(d, e2);
    float det = d11 * d22 - d12 * d12;
    *s = det > 0 ? clampf((d22 * q1 - d12 * q2) / det, 0, 1) : 0;
    *t = det > 0 ? clampf((d11 * q2 - d12 * q1) / det, 0, 1 - *s) : 0;
}

static inline f3 und_blend(const float *corner, float s, float t)
{
    return f3_add(f3_scale(f3_of(corner), 1 - s - t),
                  f3_add(f3_scale(f3_of(corner + 3), s), f3_scale(f3_of(corner + 6), t)));
}

#endif
