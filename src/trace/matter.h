/* How surfaces scatter light.  Directions are unit vectors that point away from the surface; normals lie on
 * the side of `out`, where the light goes to.  `ratio` is the index of refraction of the matter (behind the
 * surface) over the one in front of it. */
#ifndef UND_TRACE_MATTER_H
#define UND_TRACE_MATTER_H

#include "trace/world.h"

typedef struct und_scatter {
    f3 dir;
    f3 weight;     /* how much of what comes from dir goes to `out`: value / density */
    float density; /* per steradian; infinite: no other direction sends anything (a mirror) */
    bool through;  /* to the other side of the surface */
} und_scatter;

/* Does it send light from any direction to any other, or is it a mirror (perhaps over something diffuse)? */
static inline bool und_matter_smooth(const und_matter *m)
{
    return m->roughness < 0.03f;
}

/* A direction that light may come from, with as many chances as it matters.  u: three numbers in [0, 1).
 * False: none. */
bool und_matter_sample(const und_matter *m, f3 normal, f3 out, float ratio, const float u[3], und_scatter *s);

/* Share of the light from `in` that goes to `out`, per steradian, times the cosine of `in`; and how densely
 * und_matter_sample() chooses `in`.  Mirrors are left out of both. */
f3 und_matter_value(const und_matter *m, f3 normal, f3 out, f3 in, float ratio, float *density);

/* The normal by which a face is seen along `out`, both on that side of the face.  Smooth normals turn away at
 * the outline, and over steep facets: what is then a mirror at a grazing angle would send all that it meets
 * behind the face.  They are turned towards the face as little as need be. */
f3 und_matter_normal(f3 smooth, f3 face, f3 out);

/* Reflectance of what is diffuse in it. */
f3 und_matter_diffuse(const und_matter *m, f3 normal, f3 out, float ratio);

/* Two unit vectors that stand square to n and to each other (Duff et al. 2017). */
static inline void und_across(f3 n, f3 *s, f3 *t)
{
    float sign = copysignf(1, n.z), a = -1 / (sign + n.z), b = n.x * n.y * a;
    *s = f3_make(1 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *t = f3_make(b, sign + n.y * n.y * a, -n.y);
}
static inline f3 und_mirrored(f3 d, f3 n) /* of a direction that points away */
{
    return f3_sub(f3_scale(n, 2 * f3_dot(d, n)), d);
}

#endif
