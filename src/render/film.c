/* The tone curve: bright things keep their colour and roll off, as on film. */
#include "base/random.h"
#include "render/internal.h"

/* Rational fit to the film curve of the Academy's reference rendering (Narkowicz 2015). */
static float curve(float x)
{
    x = maxf(x, 0) * 0.55f;
    return clampf(x * (2.51f * x + 0.03f) / (x * (2.43f * x + 0.59f) + 0.14f), 0, 1);
}

f3 und_film(f3 c)
{
    /* The curve pales colours; dyes of film are purer than that. */
    float mean = (c.x + c.y + c.z) / 3;
    c = f3_mix(c, f3_gray(mean), -0.2f);
    return f3_make(curve(c.x), curve(c.y), curve(c.z));
}

/* Half a step of eight bits, up or down, so that smooth skies show no bands; the slope of the sRGB curve is
 * about 2.2 sqrt(v). */
static float dither(float v, uint64_t index)
{
    float noise = (float)(und_random_bits(5, 0, index) >> 40) * 0x1p-24f - 0.5f;
    return clampf(v + noise * (2.2f / 255) * sqrtf(v), 0, 1);
}

void und_render_tone(const und_render *render, und_image *image)
{
    if (!render->def.tone || und_is_flat(render) || !image->rgb)
        return;
    PARALLEL_FOR(render->threads)
    for (int j = 0; j < image->height; j++) {
        size_t first = 3 * (size_t)j * (size_t)image->width;
        for (size_t at = first; at < first + 3 * (size_t)image->width; at += 3) {
            f3 c = und_film(f3_of(image->rgb + at));
            image->rgb[at] = dither(c.x, at);
            image->rgb[at + 1] = dither(c.y, at + 1);
            image->rgb[at + 2] = dither(c.z, at + 2);
        }
    }
}
