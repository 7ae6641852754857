#include "stage/paint.h"

#include "base/maths.h"
#include "base/random.h"
#include "stage/scenery.h"

const char *const und_paint_names[] = {"none", "plate", "checker", "marble", NULL};

/* The picture between its pixels' middles, held at its edges; v is 0 at the bottom. */
static f3 plate_color(const und_image *image, const float uv[2])
{
    float x = clampf(uv[0], 0, 1) * (float)image->width - 0.5f,
          y = (1 - clampf(uv[1], 0, 1)) * (float)image->height - 0.5f;
    x = clampf(x, 0, (float)(image->width - 1));
    y = clampf(y, 0, (float)(image->height - 1));
    int i = (int)x, j = (int)y, right = i + 1 < image->width ? 3 : 0;
    const float *top = image->rgb + 3 * ((size_t)j * (size_t)image->width + (size_t)i);
    const float *low = j + 1 < image->height ? top + 3 * (size_t)image->width : top;
    f3 a = f3_mix(f3_of(top), f3_of(top + right), x - (float)i);
    f3 b = f3_mix(f3_of(low), f3_of(low + right), x - (float)i);
    return f3_mix(a, b, y - (float)j);
}

/* The integral of a wave that is 1 and -1 by turns, each for a length of 1. */
static float wave_sum(float x)
{
    float t = x - 2 * floorf(0.5f * x);
    return t < 1 ? t : 2 - t;
}

static float wave_mean(float x, float wide)
{
    wide = maxf(wide, 1e-3f);
    return (wave_sum(x + 0.5f * wide) - wave_sum(x - 0.5f * wide)) / wide;
}

static float lattice(const int at[3], int corner, uint64_t octave)
{
    uint32_t x = (uint32_t)(at[0] + (corner & 1)), y = (uint32_t)(at[1] + (corner >> 1 & 1)),
             z = (uint32_t)(at[2] + (corner >> 2));
    return 2 * (float)und_random(x | (uint64_t)y << 32, z, octave) - 1;
}

/* Value noise with quintic steps. */
static float noise(const float p[3], uint64_t octave)
{
    int at[3];
    float part[3], v[8];
    for (int a = 0; a < 3; a++) {
        float low = floorf(clampf(p[a], -1e6f, 1e6f)), f = p[a] - low;
        at[a] = (int)low;
        part[a] = f * f * f * (f * (6 * f - 15) + 10);
    }
    for (int c = 0; c < 8; c++)
        v[c] = lattice(at, c, octave);
    for (int a = 2, half = 4; a >= 0; a--, half /= 2)
        for (int c = 0; c < half; c++)
            v[c] = mixf(v[c], v[c + half], part[a]);
    return v[0];
}

static float turbulence(const float p[3], float wide)
{
    float sum = 0, weight = 1;
    for (int octave = 0; octave < 5; octave++, weight *= 0.5f) {
        float scale = (float)(1 << octave), q[3] = {scale * p[0], scale * p[1], scale * p[2]};
        float seen = 1 - stepf(0.4f, 1, scale * wide); /* what a pixel cannot show is left out */
        sum += seen > 0 ? weight * seen * noise(q, (uint64_t)octave) : 0;
    }
    return sum;
}

/* How much of the second colour there is; p and wide in sizes. */
static float marble_share(const float p[3], float wide)
{
    float slow[3] = {0.6f * p[0], 0.6f * p[1], 0.6f * p[2]};
    float t = 0.55f * p[0] + 0.75f * p[1] + 0.35f * p[2] + 0.9f * turbulence(slow, 0.6f * wide);
    float vein = 1 - fabsf(2 * (t - floorf(t)) - 1), mean = 0.4f;
    return mixf(und_powf(vein, 2.2f), mean, stepf(0.3f, 1.2f, wide));
}

void und_paint_at(const und_paint *paint, const und_texture_map *map, const float rest[3], float wide,
                  float rgb[3])
{
    const und_plate *plate = und_texture_map_plate(map);
    f3 color = f3_of(paint->color[0]), other = f3_of(paint->color[1]);
    float p[3], uv[2];
    double size = paint->size > 0 ? paint->size : 0.1 * und_texture_map_side(map);
    for (int a = 0; a < 3; a++) /* shifted, lest a cube's side lie in that of a box of liquid */
        p[a] = (float)((double)rest[a] / size) + 0.137f;
    wide = (float)((double)wide / size);
    if (paint->kind == UND_PAINT_PLATE && plate && paint->image) {
        und_plate_project(plate, rest, uv);
        color = plate_color(paint->image, uv);
    } else if (paint->kind == UND_PAINT_CHECKER) {
        float waves = wave_mean(p[0], wide) * wave_mean(p[1], wide) * wave_mean(p[2], wide);
        color = f3_mix(color, other, 0.5f + 0.5f * waves);
    } else if (paint->kind == UND_PAINT_MARBLE) {
        color = f3_mix(color, other, marble_share(p, wide));
    }
    rgb[0] = color.x;
    rgb[1] = color.y;
    rgb[2] = color.z;
}
