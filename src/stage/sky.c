/* The sky: a gradient with glow around the sun and clouds, or a picture of it.  Baked into one square map. */
#include "base/maths.h"
#include "stage/optics.h"
#include "stage/scenery.h"

#include <stdlib.h>

enum { SKY_SIZE = 1024 };

/* The octahedron unfolded: direction to square and back (Meyer et al. 2010). */
f3 und_sky_unfold(float u, float v)
{
    float x = 2 * u - 1, z = 2 * v - 1, y = 1 - fabsf(x) - fabsf(z);
    if (y < 0) {
        float fx = (1 - fabsf(z)) * (x < 0 ? -1.0f : 1.0f), fz = (1 - fabsf(x)) * (z < 0 ? -1.0f : 1.0f);
        x = fx;
        z = fz;
    }
    return f3_unit(f3_make(x, y, z));
}

void und_sky_fold(f3 d, float *u, float *v)
{
    float s = 1 / (fabsf(d.x) + fabsf(d.y) + fabsf(d.z)), x = d.x * s, z = d.z * s;
    if (d.y < 0) {
        float fx = (1 - fabsf(z)) * (x < 0 ? -1.0f : 1.0f), fz = (1 - fabsf(x)) * (z < 0 ? -1.0f : 1.0f);
        x = fx;
        z = fz;
    }
    *u = 0.5f * x + 0.5f;
    *v = 0.5f * z + 0.5f;
}

/* How much cloud stands in a direction: noise on a plane overhead. */
static float cloud_at(const und_pattern *noise, f3 d, float cover)
{
    if (d.y <= 0.01f || cover <= 0)
        return 0;
    float t = 1 / (d.y + 0.12f), u = 0.11f * d.x * t, v = 0.11f * d.z * t, n[PATTERN], m[PATTERN], w[PATTERN];
    und_pattern_at(noise, 0.5f * u + 0.31f, 0.5f * v + 0.7f, w);
    und_pattern_at(noise, u + 0.03f * w[P_NOISE], v + 0.03f * w[P_NOISE], n);
    und_pattern_at(noise, 3.7f * u + 0.2f, 3.7f * v + 0.4f, m);
    float density = 0.6f * n[P_NOISE] + 0.35f * w[P_NOISE] + 0.13f * m[P_NOISE];
    float edge = 0.75f - 1.5f * cover;
    return stepf(edge, edge + 0.6f, density) * stepf(0.01f, 0.16f, d.y);
}

static f3 built_in(const und_picture_def *def, const und_pattern *noise, f3 sun, f3 sun_color, f3 d)
{
    f3 zenith = f3_of(def->sky_zenith), horizon = f3_of(def->sky_horizon);
    float towards = maxf(f3_dot(d, sun), 0), height = maxf(d.y, 0);
    f3 color = f3_mix(horizon, zenith, 1 - und_expf(-2.6f * height) * (1 - 0.4f * height));
    /* Light scattered forward, more of it low over the horizon. */
    float glow =
        0.05f * und_powf(towards, 6) + 0.10f * und_powf(towards, 48) + 0.25f * und_powf(towards, 600);
    color = f3_along(color, sun_color, glow * (1 + 0.8f * (1 - height)));
    float cloud = cloud_at(noise, d, (float)def->clouds);
    if (cloud > 0) {
        /* Thin edges are bright, thick middles grey, more so away from the sun. */
        float shade = 0.34f * (1 - 0.45f * cloud) + 0.10f * und_powf(towards, 4) * (1.2f - cloud);
        f3 white = f3_add(f3_scale(sun_color, shade), f3_scale(horizon, 0.25f));
        color = f3_mix(color, white, 0.92f * cloud);
    }
    if (d.y < 0.1f) {
        f3 below = f3_scale(f3_mix(horizon, f3_gray(f3_dot(horizon, f3_gray(1.0f / 3))), 0.35f), 0.40f);
        color = f3_mix(color, below, stepf(-0.1f, 0.8f, -d.y));
    }
    return color;
}

static f3 from_picture(const und_image *picture, double turn, f3 d)
{
    float u = (float)(und_atan2f(d.z, d.x) / (2 * M_PI) + turn / 360 + 0.5),
          v = und_acosf(clampf(d.y, -1, 1)) / (float)M_PI;
    float x = (u - floorf(u)) * (float)picture->width - 0.5f, y = v * (float)picture->height - 0.5f;
    float bx = floorf(x), by = floorf(y), fx = x - bx, fy = y - by;
    int w = picture->width, h = picture->height, i = ((int)bx % w + w) % w, i1 = (i + 1) % w;
    int j = by < 0 ? 0 : (int)by, j1 = j + 1 < h && by >= 0 ? j + 1 : j;
    const float *p = picture->rgb;
    f3 a = f3_mix(f3_of(p + 3 * ((size_t)j * (size_t)w + (size_t)i)),
                  f3_of(p + 3 * ((size_t)j * (size_t)w + (size_t)i1)), fx);
    f3 b = f3_mix(f3_of(p + 3 * ((size_t)j1 * (size_t)w + (size_t)i)),
                  f3_of(p + 3 * ((size_t)j1 * (size_t)w + (size_t)i1)), fx);
    return f3_mix(a, b, fy);
}

/* Irradiance over pi, as a linear function of the normal: exact for the parts of the sky that are constant
 * or linear in the direction (Ramamoorthi & Hanrahan 2001: constant part times 1, linear part times 2/3). */
static void fit_ambient(und_sky *sky, const und_picture_def *def)
{
    /* Under the built-in sky bright land and water around send light up. */
    f3 bounce = f3_along(f3_scale(f3_of(def->sky_horizon), 0.35f), sky->sun_color, 0.16f);
    enum { STEPS = 64 };
    double sum[4][3] = {{0}}, total = 0;
    for (int j = 0; j < STEPS; j++)
        for (int i = 0; i < 2 * STEPS; i++) {
            double y = 1 - 2 * (j + 0.5) / STEPS, s = sqrt(1 - y * y), a = M_PI * (i + 0.5) / STEPS;
            f3 d = f3_make((float)(s * und_cos(a)), (float)y, (float)(s * und_sin(a))),
               c = und_sky_at(sky, d);
            c = d.y < 0 && !def->sky ? bounce : c;
            double basis[4] = {1, 3 * d.x, 3 * d.y, 3 * d.z};
            total += 1;
            for (int b = 0; b < 4; b++) {
                sum[b][0] += basis[b] * c.x;
                sum[b][1] += basis[b] * c.y;
                sum[b][2] += basis[b] * c.z;
            }
        }
    for (int b = 0; b < 4; b++) {
        double f = (b ? 2.0 / 3 : 1) / total;
        sky->ambient[b] = f3_make((float)(f * sum[b][0]), (float)(f * sum[b][1]), (float)(f * sum[b][2]));
    }
}

und_status und_sky_bake(und_sky *sky, const und_picture_def *def, const float sun[3],
                        const und_pattern *noise, int threads, und_error *err)
{
    f3 towards = f3_unit(f3_of(sun));
    if (sky->baked && towards.x == sky->sun.x && towards.y == sky->sun.y && towards.z == sky->sun.z)
        return UND_OK;
    if (!sky->texel)
        sky->texel = und_alloc((size_t)SKY_SIZE * SKY_SIZE * 4, sizeof(float), "sky", err);
    if (!sky->texel)
        return UND_FAILED;
    sky->size = SKY_SIZE;
    sky->sun = towards;
    sky->sun_color = f3_scale(f3_of(def->sun_color), stepf(-0.05f, 0.02f, towards.y));
    PARALLEL_FOR(threads)
    for (int j = 0; j < SKY_SIZE; j++)
        for (int i = 0; i < SKY_SIZE; i++) {
            f3 d = und_sky_unfold((float)i / (SKY_SIZE - 1), (float)j / (SKY_SIZE - 1));
            f3 c = def->sky ? from_picture(def->sky, def->sky_turn, d)
                            : built_in(def, noise, towards, sky->sun_color, d);
            float *t = sky->texel + ((size_t)j * SKY_SIZE + (size_t)i) * 4;
            t[0] = c.x;
            t[1] = c.y;
            t[2] = c.z;
        }
    fit_ambient(sky, def);
    sky->baked = true;
    return UND_OK;
}

f3 und_sky_at(const und_sky *sky, f3 d)
{
    float u, v;
    und_sky_fold(d, &u, &v);
    float x = clampf(u, 0, 1) * (float)(sky->size - 1), y = clampf(v, 0, 1) * (float)(sky->size - 1);
    int i = (int)x, j = (int)y, n = sky->size;
    i = i < 0 ? 0 : i > n - 2 ? n - 2 : i;
    j = j < 0 ? 0 : j > n - 2 ? n - 2 : j;
    float fx = x - (float)i, fy = y - (float)j, out[4];
    const float *a = sky->texel + ((size_t)j * (size_t)n + (size_t)i) * 4, *b = a + (size_t)n * 4;
    SIMD
    for (int k = 0; k < 4; k++)
        out[k] = mixf(mixf(a[k], a[k + 4], fx), mixf(b[k], b[k + 4], fx), fy);
    return f3_make(out[0], out[1], out[2]);
}

f3 und_sky_disc(const und_sky *sky, f3 d)
{
    float c = f3_dot(d, sky->sun);
    return f3_scale(sky->sun_color, und_sun_disc(c));
}
