/* Scattering: Lambert, mirrors and GGX microfacets (Walter et al. 2007), chosen by the normals that are seen
 * (Heitz 2018, by the construction of Dupuy & Benyoub 2023).
 *
 * Rough surfaces keep all light: a microfacet is met as often as it is seen, what it reflects or refracts
 * leaves, and a direction that would lead into the surface is mirrored out of it.  This stands for the
 * light that the usual form loses, which after all comes out on a later bounce between facets. */
#include "trace/matter.h"

#include "base/maths.h"
#include "stage/optics.h"

static const float pi = 3.14159265f;

static f3 metal_fresnel(const und_matter *m, float cosine)
{
    return f3_mix(f3_of(m->color), f3_gray(1), und_schlick(cosine));
}

/* Does the surface, with that normal, mirror to the side of its face that is seen? */
static bool mirrors_outwards(f3 normal, f3 face, f3 out)
{
    float seen = f3_dot(out, normal), least = minf(0.01f, 0.5f * f3_dot(out, face));
    return seen > 0 && f3_dot(und_mirrored(out, normal), face) >= least;
}

f3 und_matter_normal(f3 smooth, f3 face, f3 out)
{
    if (mirrors_outwards(smooth, face, out))
        return smooth;
    float part = 0.5f;
    f3 normal = face;
    for (int k = 2; k < 8; k++) {
        f3 between = f3_unit(f3_mix(smooth, face, part));
        bool good = mirrors_outwards(between, face, out);
        normal = good ? between : normal;
        part += ldexpf(good ? -1 : 1, -k);
    }
    return normal;
}

/* In a frame whose z is the normal. */
typedef struct facets {
    f3 s, t, n;
    f3 out;
    float alpha;
    float seen; /* visible normals are D(h) (out . h) * seen */
} facets;

static f3 to_local(const facets *f, f3 d)
{
    return f3_make(f3_dot(d, f->s), f3_dot(d, f->t), f3_dot(d, f->n));
}

static f3 to_world(const facets *f, f3 d)
{
    return f3_along(f3_along(f3_scale(f->s, d.x), f->t, d.y), f->n, d.z);
}

static facets facets_at(const und_matter *m, f3 n, f3 out)
{
    facets f = {.n = n, .alpha = m->roughness * m->roughness};
    und_across(n, &f.s, &f.t);
    f.out = to_local(&f, out);
    float c = maxf(f.out.z, 1e-6f), a2 = f.alpha * f.alpha;
    f.seen = 2 / (c + sqrtf(a2 + (1 - a2) * c * c)); /* Smith's masking over the cosine */
    return f;
}

static f3 facet_sample(const facets *f, const float u[2])
{
    f3 o = f3_unit(f3_make(f->alpha * f->out.x, f->alpha * f->out.y, f->out.z));
    float z = (1 - u[0]) * (1 + o.z) - o.z, r = sqrtf(maxf(1 - z * z, 0)), angle = 2 * pi * u[1];
    f3 h = f3_make(r * und_cosf(angle) + o.x, r * und_sinf(angle) + o.y, z + o.z);
    return f3_unit(f3_make(f->alpha * h.x, f->alpha * h.y, maxf(h.z, 1e-6f)));
}

/* How densely facets with the normal h are chosen, over (out . h). */
static float facet_density(const facets *f, f3 h)
{
    float a2 = f->alpha * f->alpha, k = (h.x * h.x + h.y * h.y) / a2 + h.z * h.z;
    return f->seen / (pi * a2 * k * k);
}

/* Density of directions off facets: those that see `in` and those that see its mirror image below. */
static int facets_of_reflection(const facets *f, f3 in, f3 h[2], float density[2])
{
    int count = 0;
    for (int k = 0; k < 2; k++) {
        f3 half = f3_add(f->out, f3_make(in.x, in.y, k ? -in.z : in.z));
        float length = sqrtf(f3_dot(half, half));
        if (!(half.z > 0 && length > 1e-6f))
            continue;
        h[count] = f3_scale(half, 1 / length);
        density[count] = 0.25f * facet_density(f, h[count]);
        count++;
    }
    return count;
}

/* The same behind the surface; Walter et al. 2007, eq. 16 and 17. */
static int facets_of_refraction(const facets *f, f3 in, float ratio, f3 h[2], float density[2])
{
    int count = 0;
    for (int k = 0; k < 2; k++) {
        f3 way = f3_make(in.x, in.y, k ? -in.z : in.z);
        f3 half = f3_along(f->out, way, ratio);
        float length = sqrtf(f3_dot(half, half));
        if (!(length > 1e-6f))
            continue;
        half = f3_scale(half, (half.z < 0 ? -1 : 1) / length);
        float a = f3_dot(f->out, half), b = f3_dot(way, half), sum = a + ratio * b;
        if (!(a > 0 && b < 0 && sum * sum > 1e-12f))
            continue;
        h[count] = half;
        density[count] = facet_density(f, half) * a * ratio * ratio * -b / (sum * sum);
        count++;
    }
    return count;
}

static f3 metal_value(const und_matter *m, const facets *f, f3 in, float *density)
{
    f3 h[2], value = f3_gray(0);
    float d[2];
    int count = facets_of_reflection(f, in, h, d);
    for (int k = 0; k < count; k++) {
        *density += d[k];
        value = f3_along(value, metal_fresnel(m, f3_dot(f->out, h[k])), d[k]);
    }
    return value;
}

/* Of what is reflected: the share of a dielectric. */
static float coat_value(const facets *f, f3 in, float ratio, float *density)
{
    f3 h[2];
    float d[2], value = 0;
    int count = facets_of_reflection(f, in, h, d);
    for (int k = 0; k < count; k++) {
        *density += d[k];
        value += d[k] * und_fresnelf(f3_dot(f->out, h[k]), ratio);
    }
    return value;
}

static float through_value(const facets *f, f3 in, float ratio)
{
    f3 h[2];
    float d[2], value = 0;
    int count = facets_of_refraction(f, in, ratio, h, d);
    for (int k = 0; k < count; k++)
        value += d[k] * (1 - und_fresnelf(f3_dot(f->out, h[k]), ratio));
    return value;
}

/* What lies under a coat takes all light that the coat does not reflect: white stays white. */
typedef struct coated {
    float front;  /* what the coat reflects */
    float mirror; /* share of samples that go to it */
    float ratio;
} coated;

/* Mean reflectance of the facets that are seen. */
static float facets_front(const facets *f, float ratio)
{
    enum { COUNT = 8 };
    float sum = 0;
    for (int k = 0; k < COUNT; k++) {
        float v = 0.618034f * (float)k, u[2] = {((float)k + 0.5f) / COUNT, v - floorf(v)};
        sum += und_fresnelf(f3_dot(f->out, facet_sample(f, u)), ratio);
    }
    return sum / COUNT;
}

static coated coat_of(const und_matter *m, f3 n, f3 out, float ratio)
{
    coated c = {.ratio = maxf(ratio, 1)};
    if (und_matter_smooth(m))
        c.front = und_fresnelf(f3_dot(n, out), c.ratio);
    else {
        facets f = facets_at(m, n, out);
        c.front = facets_front(&f, c.ratio);
    }
    float inner = (1 - c.front) * maxf(maxf(m->color[0], m->color[1]), m->color[2]);
    c.mirror = c.front > 0 ? clampf(c.front / (c.front + inner), 0.05f, 1) : 0;
    return c;
}

f3 und_matter_diffuse(const und_matter *m, f3 n, f3 out, float ratio)
{
    if (m->kind == UND_MATTER_DIFFUSE)
        return f3_of(m->color);
    if (m->kind != UND_MATTER_GLOSSY)
        return f3_gray(0);
    coated c = coat_of(m, n, out, ratio);
    return f3_scale(f3_of(m->color), 1 - c.front);
}

static f3 glossy_value(const und_matter *m, f3 n, f3 out, f3 in, float ratio, float *density)
{
    float c = f3_dot(n, in), k = c / pi;
    coated coat = coat_of(m, n, out, ratio);
    f3 value = f3_scale(f3_of(m->color), (1 - coat.front) * k);
    *density = (1 - coat.mirror) * k;
    if (und_matter_smooth(m))
        return value;
    facets f = facets_at(m, n, out);
    float rough = 0, shine = coat_value(&f, to_local(&f, in), coat.ratio, &rough);
    *density += coat.mirror * rough;
    return f3_add(value, f3_gray(shine));
}

f3 und_matter_value(const und_matter *m, f3 n, f3 out, f3 in, float ratio, float *density)
{
    *density = 0;
    float c = f3_dot(n, in);
    if (m->kind == UND_MATTER_DIELECTRIC) {
        if (und_matter_smooth(m))
            return f3_gray(0);
        facets f = facets_at(m, n, out);
        float all = 0, value = c > 0 ? coat_value(&f, to_local(&f, in), ratio, &all)
                                     : through_value(&f, to_local(&f, in), ratio);
        *density = value; /* what is reflected and what is refracted is chosen as it is shared */
        return f3_gray(value);
    }
    if (!(c > 0))
        return f3_gray(0);
    if (m->kind == UND_MATTER_DIFFUSE) {
        *density = c / pi;
        return f3_scale(f3_of(m->color), c / pi);
    }
    if (m->kind == UND_MATTER_GLOSSY)
        return glossy_value(m, n, out, in, ratio, density);
    if (und_matter_smooth(m))
        return f3_gray(0);
    facets f = facets_at(m, n, out);
    return metal_value(m, &f, to_local(&f, in), density);
}

static f3 cosine_sample(f3 n, const float u[2])
{
    f3 s, t;
    und_across(n, &s, &t);
    float r = sqrtf(u[0]), angle = 2 * pi * u[1], z = sqrtf(maxf(1 - u[0], 0));
    return f3_unit(f3_along(f3_along(f3_scale(s, r * und_cosf(angle)), t, r * und_sinf(angle)), n, z));
}

static bool dielectric_sample(const und_matter *m, f3 n, f3 out, float ratio, const float u[3],
                              und_scatter *s)
{
    bool smooth = und_matter_smooth(m);
    facets f;
    f3 h = n;
    if (!smooth) {
        f = facets_at(m, n, out);
        h = to_world(&f, facet_sample(&f, u));
    }
    float front = und_fresnelf(f3_dot(out, h), ratio), bent[3];
    *s = (und_scatter){.weight = f3_gray(1), .density = INFINITY};
    s->through = u[2] >= front;
    if (s->through &&
        !und_refract((float[3]){-out.x, -out.y, -out.z}, (float[3]){h.x, h.y, h.z}, ratio, bent))
        return false;
    s->dir = f3_unit(s->through ? f3_of(bent) : und_mirrored(out, h));
    float side = f3_dot(s->dir, n);
    if (s->through ? side > 0 : side < 0)
        s->dir = f3_along(s->dir, n, -2 * side);
    if (!smooth)
        und_matter_value(m, n, out, s->dir, ratio, &s->density);
    return s->density > 0;
}

/* One of many directions, off the coat or what lies under it. */
static bool broad_sample(const und_matter *m, f3 n, f3 out, float ratio, bool mirror, const float u[2],
                         und_scatter *s)
{
    if (mirror) {
        facets f = facets_at(m, n, out);
        s->dir = f3_unit(und_mirrored(out, to_world(&f, facet_sample(&f, u))));
        float side = f3_dot(s->dir, n);
        if (side < 0)
            s->dir = f3_along(s->dir, n, -2 * side);
    } else
        s->dir = cosine_sample(n, u);
    f3 value = und_matter_value(m, n, out, s->dir, ratio, &s->density);
    if (!(s->density > 0))
        return false;
    s->weight = f3_scale(value, 1 / s->density);
    return true;
}

bool und_matter_sample(const und_matter *m, f3 n, f3 out, float ratio, const float u[3], und_scatter *s)
{
    *s = (und_scatter){.density = INFINITY};
    float c = f3_dot(n, out);
    if (!(c > 0))
        return false;
    if (m->kind == UND_MATTER_DIELECTRIC)
        return dielectric_sample(m, n, out, ratio, u, s);
    bool metal = m->kind == UND_MATTER_METAL, smooth = und_matter_smooth(m);
    coated coat = {.mirror = metal};
    if (m->kind == UND_MATTER_GLOSSY)
        coat = coat_of(m, n, out, ratio);
    bool mirror = metal || u[2] < coat.mirror;
    if (!mirror || !smooth)
        return broad_sample(m, n, out, ratio, mirror, u, s);
    s->dir = f3_unit(und_mirrored(out, n));
    s->weight = metal ? metal_fresnel(m, c) : f3_gray(coat.front / coat.mirror);
    return true;
}
