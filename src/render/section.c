/* A curve of water, drawn as a section: what figures 4 and 5 of Kass & Miller 1990 show. */
#include "base/maths.h"
#include "geom/value.h"
#include "render/internal.h"

/* Cubic from b to c that passes smoothly between samples a, b, c and d (Catmull and Rom). */
static float cubic(float a, float b, float c, float d, float t)
{
    return b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

static f3 sky_color(const und_scenery *stage, float height)
{
    f3 top = f3_of(stage->def.background), haze = f3_mix(top, f3_make(0.72f, 0.84f, 0.93f), 0.75f);
    return f3_mix(haze, top, clampf(height, 0, 1));
}

/* `below`: how far inside the ground, m, at right angles to its edge. */
static f3 earth_color(const und_render *r, float x, float y, float below, float span)
{
    float n[PATTERN], f[PATTERN], thick = 0.035f * span;
    und_pattern_at(&r->stage->pattern, x / (0.6f * span), y / (0.6f * span), n);
    und_pattern_at(&r->stage->pattern, x / (0.09f * span), y / (0.07f * span), f);
    float layer = 0.5f + 0.5f * und_sinf((0.75f * y + 0.8f * thick * n[P_NOISE]) / thick * 3.1f);
    f3 sand = f3_make(0.56f, 0.40f, 0.23f), clay = f3_make(0.35f, 0.235f, 0.135f),
       stone = f3_make(0.27f, 0.22f, 0.18f);
    f3 deep = f3_mix(stone, clay, stepf(0, 0.35f * span, y - r->section.y0));
    f3 color = f3_mix(deep, f3_mix(deep, sand, 0.45f), layer);
    color = f3_mix(sand, color, stepf(0, thick, below));
    return f3_scale(color, 1 + 0.05f * f[P_NOISE]);
}

static f3 water_color(float depth, float to_bottom, float span)
{
    f3 top = f3_make(0.14f, 0.54f, 0.76f), low = f3_make(0.010f, 0.10f, 0.26f);
    f3 color = f3_mix(top, low, 1 - und_expf(-depth / (0.16f * span)));
    return f3_mix(f3_scale(color, 0.82f), color, stepf(0, 0.03f * span, to_bottom));
}

/* The whole curve, with room below for the earth and above for the sky; heights are stretched where the water
 * would be flat. */
static und_section frame_curve(const und_scenery *stage, const und_image *image)
{
    const und_samples *s = &stage->samples;
    float low = INFINITY, high = -INFINITY, wet = -INFINITY;
    for (int i = 0; i < s->nx; i++) {
        low = minf(low, s->ground[i]);
        high = maxf(high, s->ground[i]);
        wet = s->ring[i] == 0 ? maxf(wet, s->surface[i]) : wet;
    }
    float across = (float)(s->dx * s->nx), aspect = (float)image->height / (float)image->width;
    float top = isfinite(wet) ? maxf(wet, minf(high, wet + 0.5f * (wet - low))) : high;
    float tall = maxf(top - low, 1e-3f * across);
    und_section w = {.x0 = (float)(s->x0 - 0.5 * s->dx), .sx = across / (float)image->width};
    float room = tall / 0.62f, natural = across * aspect;
    w.sy = (room > natural ? room : maxf(room, 0.35f * natural)) / (float)image->height;
    w.y0 = low - 0.18f * w.sy * (float)image->height;
    return w;
}

/* The part that the camera sees: it looks straight at the curve, and what it sees is as high as its angle is
 * at its distance. */
static und_section frame_camera(const und_scenery *stage, const und_image *image, const double eye[3],
                                const double look[3])
{
    double away = und_hypot(und_hypot(eye[0] - look[0], eye[1] - look[1]), eye[2] - look[2]);
    double size = 2 * away * und_tan(0.5 * stage->def.fov * M_PI / 180) / image->height;
    return (und_section){.x0 = (float)(look[0] - 0.5 * size * image->width),
                         .y0 = (float)(look[1] * stage->def.vertical - 0.5 * size * image->height),
                         .sx = (float)size,
                         .sy = (float)size};
}

/* The middle of the water's surface, that colours keep to while waves pass. */
static float mean_level(const und_samples *s)
{
    double sum = 0, count = 0;
    for (int i = 0; i < s->nx; i++)
        if (s->ring[i] == 0) {
            sum += s->surface[i];
            count++;
        }
    return count > 0 ? (float)(sum / count) : -INFINITY;
}

/* Without a camera the first picture is framed and the others keep to it. */
static void make_window(und_render *r, const und_image *image)
{
    double eye[3], look[3], apart = 0;
    float level = r->section.framed ? r->section.level : mean_level(&r->stage->samples);
    und_vector_at(&r->stage->def.eye, r->stage->time, eye);
    und_vector_at(&r->stage->def.look, r->stage->time, look);
    for (int k = 0; k < 3; k++)
        apart += fabs(eye[k] - look[k]);
    if (apart > 0 && isfinite(apart))
        r->section = frame_camera(r->stage, image, eye, look);
    else if (!r->section.framed)
        r->section = frame_curve(r->stage, image);
    r->section.framed = isfinite(level);
    r->section.level = level;
}

typedef struct place {
    float ground, surface, depth;
} place;

/* A wet sample beside a dry one: water stands level against ground that is higher, and runs out to nothing on
 * ground that is lower. */
static float shore_surface(float wet, float dry_ground, float t)
{
    return dry_ground >= wet ? wet : mixf(wet, dry_ground, t);
}

static place place_at(const und_samples *s, float x)
{
    float u = clampf((float)((x - s->x0) / s->dx), 0, (float)(s->nx - 1));
    int i = (int)u < s->nx - 1 ? (int)u : s->nx - 2;
    bool left = s->ring[i] == 0, right = s->ring[i + 1] == 0;
    float t = u - (float)i, b = s->surface[i], c = s->surface[i + 1];
    place p = {.ground = mixf(s->ground[i], s->ground[i + 1], t)};
    p.surface = p.ground;
    if (left && right) {
        float a = i > 0 && s->ring[i - 1] == 0 ? s->surface[i - 1] : b;
        float d = i + 2 < s->nx && s->ring[i + 2] == 0 ? s->surface[i + 2] : c;
        p.surface = cubic(a, b, c, d, t);
    } else if (left)
        p.surface = shore_surface(b, s->ground[i + 1], t);
    else if (right)
        p.surface = shore_surface(c, s->ground[i], 1 - t);
    p.depth = maxf(p.surface - p.ground, 0);
    return p;
}

/* A column of pixels: the curve at places across it, so that steep edges are smooth. */
enum { ACROSS = 8 };
typedef struct column {
    place at[ACROSS], middle;
    float ground_slope, water_slope; /* metres per metre */
    float foot;                      /* the lowest ground near, m */
    float wet;
} column;

static column make_column(const und_render *r, float x, float reach)
{
    const und_samples *s = &r->stage->samples;
    column c = {.middle = place_at(s, x)};
    float w = r->section.sx;
    for (int k = 0; k < ACROSS; k++)
        c.at[k] = place_at(s, x + w * (((float)k + 0.5f) / ACROSS - 0.5f));
    place before = place_at(s, x - w), after = place_at(s, x + w);
    c.ground_slope = (after.ground - before.ground) / (2 * w);
    c.water_slope = (after.surface - before.surface) / (2 * w);
    c.foot = c.middle.ground;
    for (int k = -ACROSS; k <= ACROSS; k++)
        c.foot = minf(c.foot, place_at(s, x + reach * (float)k / ACROSS).ground);
    float u = clampf((float)((x - s->x0) / s->dx), 0, (float)(s->nx - 1));
    int i = (int)u < s->nx - 1 ? (int)u : s->nx - 2;
    c.wet = mixf(s->wet[i], s->wet[i + 1], u - (float)i);
    return c;
}

/* Shares of the pixel at height y that are ground, and water above it. */
static void cover(const column *c, float y, float sy, float *ground, float *water)
{
    *ground = *water = 0;
    for (int k = 0; k < ACROSS; k++) {
        float low = clampf((c->at[k].ground - y) / sy + 0.5f, 0, 1);
        *ground += low / ACROSS;
        *water += maxf(clampf((c->at[k].surface - y) / sy + 0.5f, 0, 1) - low, 0) / ACROSS;
    }
}

static f3 wet_color(const und_render *r, const column *c, float y, float height)
{
    const und_section *w = &r->section;
    float span = w->sy * height, above = c->middle.surface - y;
    float near = und_expf(-maxf(above, 0) / (0.08f * span)); /* waves colour the water close to them alone */
    f3 color = water_color(maxf(mixf(w->level - y, above, near), 0), maxf(y - c->middle.ground, 0), span);
    float width = maxf(1.1f, height / 480), pixels = above / w->sy;
    float glow = 0.35f * und_expf(-maxf(pixels, 0) / (6 * width)) * clampf(c->middle.depth / w->sy, 0, 1);
    return f3_mix(color, f3_make(0.55f, 0.85f, 0.95f), glow);
}

static f3 section_pixel(const und_render *r, const column *c, float x, float y, float height)
{
    const und_section *w = &r->section;
    float span = w->sy * height, ground, water;
    cover(c, y, w->sy, &ground, &water);
    f3 sky = sky_color(r->stage, (y - w->level) / (0.6f * span)), color = sky;
    if (ground + water > 0) {
        float lean = sqrtf(1 + c->ground_slope * c->ground_slope);
        float below = maxf(maxf(c->middle.ground - y, 0) / lean, c->foot - y);
        f3 earth = earth_color(r, x, y, below, span);
        float soaked = und_expf(-below / (0.012f * span)) * c->wet * (float)r->stage->def.wet_darkening;
        earth = f3_scale(earth, (1 - 0.35f * und_expf(-below / w->sy / 2.5f)) * (1 - soaked));
        color = f3_scale(sky, 1 - ground - water);
        color = f3_along(color, earth, ground);
        color = f3_along(color, wet_color(r, c, y, height), water);
    }
    float steep = sqrtf(1 + c->water_slope * c->water_slope), above = (c->middle.surface - y) / w->sy;
    float line = maxf(1.1f, height / 480), thin = clampf(c->middle.depth / w->sy, 0, 1) * (1 - ground);
    return f3_mix(color, f3_make(0.93f, 0.98f, 1.0f),
                  thin * clampf(line + 0.5f - fabsf(above) / steep, 0, 1));
}

/* A bar of 1, 2 or 5 times a power of ten metres, about a sixth of the picture, with ticks at its ends. */
static void draw_scale(const und_section *w, und_image *image)
{
    float sixth = w->sx * (float)image->width / 6, ten = (float)und_pow(10, floor(und_log10((double)sixth)));
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
    make_window(r, image);
    const und_section *w = &r->section;
    PARALLEL_FOR(r->stage->threads)
    for (int i = 0; i < image->width; i++) {
        float x = w->x0 + ((float)i + 0.5f) * w->sx;
        column c = make_column(r, x, 0.035f * w->sy * (float)image->height);
        for (int j = 0; j < image->height; j++) {
            float y = w->y0 + ((float)(image->height - j) - 0.5f) * w->sy;
            f3 color = section_pixel(r, &c, x, y, (float)image->height);
            float *out = image->rgb + 3 * ((size_t)j * (size_t)image->width + (size_t)i);
            out[0] = color.x;
            out[1] = color.y;
            out[2] = color.z;
        }
    }
    draw_scale(w, image);
}
