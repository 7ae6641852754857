/* A curve of water, drawn as a section: what figures 4 and 5 of Kass & Miller 1990 show. */
#include "render/internal.h"

/* The window on the section, in metres. */
typedef struct window {
    float x0, y0; /* m at the left and at the bottom */
    float sx, sy; /* spacing of pixels, m: heights may be stretched */
    float level;  /* the highest water, m */
} window;

/* Cubic through the samples, held at the ends. */
static float curve_at(const float *v, int n, float u)
{
    u = clampf(u, 0, (float)(n - 1));
    int i = (int)u < n - 1 ? (int)u : n - 2;
    float t = u - (float)i, a = v[i > 0 ? i - 1 : 0], b = v[i], c = v[i + 1],
          d = v[i + 2 < n ? i + 2 : n - 1];
    return b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

static f3 sky_color(const und_render *r, float height)
{
    f3 top = f3_of(r->def.background), haze = f3_mix(top, f3_make(0.72f, 0.84f, 0.93f), 0.75f);
    return f3_mix(haze, top, clampf(height, 0, 1));
}

static f3 earth_color(const und_render *r, float x, float y, float below, float span)
{
    float n[PATTERN], f[PATTERN], thick = 0.035f * span;
    und_pattern_at(&r->pattern, x / (0.6f * span), y / (0.6f * span), n);
    und_pattern_at(&r->pattern, x / (0.09f * span), y / (0.07f * span), f);
    float layer = 0.5f + 0.5f * sinf((0.75f * y - 0.25f * below + 0.8f * thick * n[P_NOISE]) / thick * 3.1f);
    f3 sand = f3_make(0.55f, 0.42f, 0.27f), clay = f3_make(0.38f, 0.27f, 0.17f),
       stone = f3_make(0.27f, 0.22f, 0.18f);
    f3 deep = f3_mix(clay, stone, stepf(0, 0.3f * span, below));
    f3 color = f3_mix(deep, f3_mix(deep, sand, 0.45f), layer);
    color = f3_mix(sand, color, stepf(0, thick, below));
    return f3_scale(color, 1 + 0.05f * f[P_NOISE]);
}

static f3 water_color(float depth, float to_bottom, float span)
{
    f3 top = f3_make(0.24f, 0.62f, 0.80f), low = f3_make(0.02f, 0.14f, 0.30f);
    f3 color = f3_mix(top, low, 1 - expf(-depth / (0.16f * span)));
    return f3_mix(f3_scale(color, 0.82f), color, stepf(0, 0.03f * span, to_bottom));
}

static window make_window(const und_render *r, const und_image *image)
{
    const und_samples *s = &r->samples;
    float low = INFINITY, high = -INFINITY, wet = -INFINITY;
    for (int i = 0; i < s->nx; i++) {
        low = minf(low, s->ground[i]);
        high = maxf(high, s->ground[i]);
        wet = s->ring[i] == 0 ? maxf(wet, s->surface[i]) : wet;
    }
    float across = (float)(s->dx * s->nx), aspect = (float)image->height / (float)image->width;
    float top = isfinite(wet) ? maxf(wet, minf(high, wet + 0.5f * (wet - low))) : high;
    float tall = maxf(top - low, 1e-3f * across);
    window w = {.x0 = (float)(s->x0 - 0.5 * s->dx), .sx = across / (float)image->width};
    /* Room below for the earth and above for the sky; heights are stretched where the water would be flat. */
    float room = tall / 0.62f, natural = across * aspect;
    w.sy = (room > natural ? room : maxf(room, 0.35f * natural)) / (float)image->height;
    w.level = isfinite(wet) ? wet : low;
    w.y0 = low - 0.18f * w.sy * (float)image->height;
    return w;
}

typedef struct place {
    float ground, surface, depth;
} place;

static place place_at(const und_samples *s, float x)
{
    float u = (float)((x - s->x0) / s->dx);
    place p = {.ground = curve_at(s->ground, s->nx, u), .depth = curve_at(s->depth, s->nx, u)};
    p.surface = p.ground + p.depth;
    return p;
}

/* Share of a pixel below a line that passes `above` pixels above its middle, given the line's slope. */
static float below_line(float above, float slope)
{
    float soft = 0.5f * (1 + minf(fabsf(slope), 8) * 0.8f);
    return clampf(0.5f + above / (2 * soft), 0, 1);
}

static f3 section_pixel(const und_render *r, const window *w, const und_image *image, int px, int py)
{
    const und_samples *s = &r->samples;
    float x = w->x0 + ((float)px + 0.5f) * w->sx, y = w->y0 + ((float)(image->height - py) - 0.5f) * w->sy;
    float span = w->sy * (float)image->height;
    place p = place_at(s, x), q = place_at(s, x + w->sx);
    float ground_slope = (q.ground - p.ground) / w->sy, water_slope = (q.surface - p.surface) / w->sy;
    f3 color = sky_color(r, (y - w->level) / (0.6f * span));
    float steep = sqrtf(1 + water_slope * water_slope), above = (p.surface - y) / w->sy;
    if (p.depth > 0) {
        f3 water = water_color(maxf(0.7f * (w->level - y) + 0.3f * (p.surface - y), 0), y - p.ground, span);
        color = f3_mix(color, water, below_line(above, water_slope));
        float width = maxf(1.1f, (float)image->height / 480), line = fabsf(above) / steep;
        float thin = clampf(p.depth / w->sy, 0, 1);
        color = f3_mix(color, f3_make(0.93f, 0.98f, 1.0f), thin * clampf(width + 0.5f - line, 0, 1));
        float glow = expf(-maxf(above, 0) / (6 * width)) * (above > 0 ? 0.35f : 0);
        color = f3_mix(color, f3_make(0.55f, 0.85f, 0.95f), thin * glow);
    }
    f3 earth = earth_color(r, x, y, maxf(p.ground - y, 0), span);
    float rim = expf(-maxf((p.ground - y) / w->sy, 0) / 2.5f);
    earth = f3_scale(earth, 1 - 0.35f * rim);
    return f3_mix(color, earth, below_line((p.ground - y) / w->sy, ground_slope));
}

/* A bar of 1, 2 or 5 times a power of ten metres, about a sixth of the picture, with ticks at its ends. */
static void draw_scale(const window *w, und_image *image)
{
    float sixth = w->sx * (float)image->width / 6, ten = powf(10, floorf(log10f(sixth)));
    float length = sixth >= 5 * ten ? 5 * ten : sixth >= 2 * ten ? 2 * ten : ten;
    int unit = image->height / 240 > 1 ? image->height / 240 : 1, x0 = 12 * unit,
        y0 = image->height - 12 * unit;
    int x1 = x0 + (int)(length / w->sx), half = 3 * unit;
    for (int y = y0 - half; y < y0 + half + unit; y++)
        for (int x = x0; x <= x1; x++) {
            bool bar = y >= y0 && y < y0 + unit, tick = x < x0 + unit || x > x1 - unit;
            if ((!bar && !tick) || x < 0 || y < 0 || x >= image->width || y >= image->height)
                continue;
            float *out = image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
            for (int k = 0; k < 3; k++)
                out[k] = mixf(out[k], 0.95f, 0.75f);
        }
}

void und_section_draw(und_render *r, und_image *image)
{
    window w = make_window(r, image);
    PARALLEL_FOR(r->threads)
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++) {
            f3 c = section_pixel(r, &w, image, x, y);
            float *out = image->rgb + 3 * ((size_t)y * (size_t)image->width + (size_t)x);
            out[0] = c.x;
            out[1] = c.y;
            out[2] = c.z;
        }
    draw_scale(&w, image);
}
