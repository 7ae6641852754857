/* The tone curve: bright things keep their colour and roll off, as on film. */
#include "base/random.h"
#include "stage/optics.h"
#include "stage/scenery.h"

f3 und_stage_film(f3 c)
{
    float mean = (c.x + c.y + c.z) / 3;
    return f3_make(und_film_part(c.x, mean), und_film_part(c.y, mean), und_film_part(c.z, mean));
}

/* Half a step of eight bits, up or down, so that smooth skies show no bands; the slope of the sRGB curve is
 * about 2.2 sqrt(v). */
static float dither(float v, uint64_t index)
{
    float noise = (float)(und_random_bits(5, 0, index) >> 40) * 0x1p-24f - 0.5f;
    return clampf(v + noise * (2.2f / 255) * sqrtf(v), 0, 1);
}

void und_scenery_tone(const und_scenery *stage, und_image *image)
{
    if (!stage->def.tone || und_scenery_is_flat(stage) || !image->rgb)
        return;
    PARALLEL_FOR(stage->threads)
    for (int j = 0; j < image->height; j++) {
        size_t first = 3 * (size_t)j * (size_t)image->width;
        for (size_t at = first; at < first + 3 * (size_t)image->width; at += 3) {
            f3 c = und_stage_film(f3_of(image->rgb + at));
            image->rgb[at] = dither(c.x, at);
            image->rgb[at + 1] = dither(c.y, at + 1);
            image->rgb[at + 2] = dither(c.z, at + 2);
        }
    }
}
