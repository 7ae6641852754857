/* Patterns that repeat, baked once: noise for sand and clouds, lace for foam, ripples for water. */
#include "base/maths.h"
#include "base/random.h"
#include "stage/scenery.h"

#include <stdlib.h>

static float lattice(int x, int y, int period, uint64_t stream)
{
    int px = x % period, py = y % period;
    return (float)(2 * und_random(11, stream, (uint64_t)(py * period + px)) - 1);
}

/* Value noise with quintic steps, of the given period in lattice cells. */
static float value_noise(float u, float v, int period, uint64_t stream)
{
    float x = u * (float)period, y = v * (float)period;
    int i = (int)x, j = (int)y;
    float fx = x - (float)i, fy = y - (float)j;
    float sx = fx * fx * fx * (fx * (6 * fx - 15) + 10), sy = fy * fy * fy * (fy * (6 * fy - 15) + 10);
    float a = mixf(lattice(i, j, period, stream), lattice(i + 1, j, period, stream), sx);
    float b = mixf(lattice(i, j + 1, period, stream), lattice(i + 1, j + 1, period, stream), sx);
    return mixf(a, b, sy);
}

static float layered_noise(float u, float v)
{
    float sum = 0, weight = 1, total = 0;
    for (int octave = 0, period = 4; octave < 6; octave++, period *= 2, weight *= 0.62f) {
        sum += weight * value_noise(u, v, period, (uint64_t)octave);
        total += weight * weight;
    }
    return 0.9f * sum / sqrtf(total);
}

/* Distance between the two nearest of scattered points: zero along the walls between cells. */
static float cell_walls(float u, float v, int period, uint64_t stream)
{
    float x = u * (float)period, y = v * (float)period;
    int ci = (int)x, cj = (int)y;
    float first = 9, second = 9;
    for (int j = cj - 1; j <= cj + 1; j++)
        for (int i = ci - 1; i <= ci + 1; i++) {
            uint64_t cell = (uint64_t)(((j + period) % period) * period + (i + period) % period);
            float px = (float)i + (float)und_random(12, stream, 2 * cell) - x;
            float py = (float)j + (float)und_random(12, stream, 2 * cell + 1) - y;
            float d = sqrtf(px * px + py * py);
            second = minf(second, maxf(first, d));
            first = minf(first, d);
        }
    return second - first;
}

static float lace(float u, float v)
{
    float bend = 0.035f;
    float wu = u + bend * value_noise(u, v, 8, 21) + 1, wv = v + bend * value_noise(u, v, 8, 22) + 1;
    wu -= floorf(wu);
    wv -= floorf(wv);
    float coarse = 1 - stepf(0, 0.35f, cell_walls(wu, wv, 12, 31));
    float fine = 1 - stepf(0, 0.4f, cell_walls(wu, wv, 29, 32));
    float grain = 0.5f + 0.5f * value_noise(u, v, 64, 33);
    return clampf(0.6f * coarse + 0.33f * fine + 0.17f * grain, 0, 1);
}

static void slopes(float *texel, int row)
{
    for (int i = 0; i < TILE; i++) {
        int left = (i + TILE - 1) % TILE, right = (i + 1) % TILE;
        int up = (row + TILE - 1) % TILE, down = (row + 1) % TILE;
        float *t = texel + (row * TILE + i) * PATTERN;
        t[P_DX] =
            0.5f * TILE * (texel[(row * TILE + right) * PATTERN] - texel[(row * TILE + left) * PATTERN]);
        t[P_DZ] = 0.5f * TILE * (texel[(down * TILE + i) * PATTERN] - texel[(up * TILE + i) * PATTERN]);
    }
}

/* Slopes of many small waves of random phase, shorter ones lower; root mean square slope 1.
 * Two such seas, so that mixing them in time never shows a moving picture of one. */
static void ripple_row(float *texel, int row)
{
    enum { WAVES = 56 };
    for (int w = 0; w < WAVES; w++) {
        double angle = 2 * M_PI * und_random(13, 1, (uint64_t)w);
        double length = 2 + 17 * und_pow(und_random(13, 2, (uint64_t)w), 1.5);
        int kx = (int)lrint(length * und_cos(angle)), kz = (int)lrint(length * und_sin(angle));
        double k = und_hypot(kx, kz), phase = 2 * M_PI * und_random(13, 3, (uint64_t)w);
        if (k < 1)
            continue;
        double slope = und_pow(k, -0.35) * sqrt(2.0 / WAVES) * 2.1;
        for (int i = 0; i < TILE; i++) {
            double wave = slope * und_cos(2 * M_PI * (kx * i + kz * row) / TILE + phase);
            float *t = texel + (row * TILE + i) * PATTERN + 2 * (w & 1);
            t[0] += (float)(wave * kx / k);
            t[1] += (float)(wave * kz / k);
        }
    }
}

und_status und_pattern_bake(und_pattern *noise, und_pattern *ripple, int threads, und_error *err)
{
    size_t count = (size_t)TILE * TILE * PATTERN;
    noise->texel = und_alloc(count, sizeof(float), "noise", err);
    ripple->texel = und_alloc(count, sizeof(float), "ripples", err);
    if (!noise->texel || !ripple->texel)
        return UND_FAILED;
    PARALLEL_FOR(threads)
    for (int j = 0; j < TILE; j++) {
        for (int i = 0; i < TILE; i++) {
            float u = (float)i / TILE, v = (float)j / TILE;
            float *t = noise->texel + (j * TILE + i) * PATTERN;
            t[P_NOISE] = layered_noise(u, v);
            t[P_LACE] = lace(u, v);
        }
        ripple_row(ripple->texel, j);
    }
    PARALLEL_FOR(threads)
    for (int j = 0; j < TILE; j++)
        slopes(noise->texel, j);
    return UND_OK;
}

void und_pattern_at(const und_pattern *pattern, float u, float v, float out[PATTERN])
{
    float x = u * TILE, y = v * TILE;
    x = clampf(x, -1e8f, 1e8f);
    y = clampf(y, -1e8f, 1e8f);
    float bx = floorf(x), by = floorf(y), fx = x - bx, fy = y - by;
    int i = (int)bx & (TILE - 1), j = (int)by & (TILE - 1);
    int i1 = (i + 1) & (TILE - 1), j1 = (j + 1) & (TILE - 1);
    const float *a = pattern->texel + (j * TILE + i) * PATTERN,
                *b = pattern->texel + (j * TILE + i1) * PATTERN;
    const float *c = pattern->texel + (j1 * TILE + i) * PATTERN,
                *d = pattern->texel + (j1 * TILE + i1) * PATTERN;
    SIMD
    for (int k = 0; k < PATTERN; k++)
        out[k] = mixf(mixf(a[k], b[k], fx), mixf(c[k], d[k], fx), fy);
}
