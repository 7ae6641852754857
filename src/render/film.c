/* The tone curve: bright things keep their colour and roll off, as on film. */
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

void und_render_tone(const und_render *render, und_image *image)
{
    if (!render->def.tone || render->is_section || !image->rgb)
        return;
    PARALLEL_FOR(render->threads)
    for (int j = 0; j < image->height; j++) {
        float *row = image->rgb + 3 * (size_t)j * (size_t)image->width;
        for (int i = 0; i < image->width; i++, row += 3) {
            f3 c = und_film(f3_of(row));
            row[0] = c.x;
            row[1] = c.y;
            row[2] = c.z;
        }
    }
}
