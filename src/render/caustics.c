/* Light gathered and scattered by the waves on its way to the bottom: the illumination map of Kass & Miller
 * 1990.  Samples are evenly spaced on the terrain, A; each is followed back along the light to where it went
 * through the surface were that flat, W, bent there by the true normal (Snell), and moved to where it lands
 * on a flat bottom, B.  We let A be where light lands through a flat surface, not through none, so that a
 * flat surface over any bottom gives exactly 1. */
#include "render/internal.h"
#include "stage/optics.h"

#include <stdlib.h>
#include <string.h>

/* MARGIN: texels beyond the edges from which light is followed too, through a surface that goes on there. */
enum { STEPS = 16, WIDE = 4, MARGIN = 24, BAND = 32, UNIT = 1 << 18 };

/* Cones of radius 2 texels around a point in the window's middle, in whole 1/UNIT: sums are exact. */
static und_status make_kernel(und_caustics *c, und_error *err)
{
    c->kernel = und_alloc((size_t)STEPS * STEPS * WIDE * WIDE, sizeof(float), "caustics", err);
    if (!c->kernel)
        return UND_FAILED;
    for (int k = 0; k < STEPS * STEPS; k++) {
        double fx = (double)(k % STEPS) / STEPS, fz = (double)(k / STEPS) / STEPS, cone[WIDE * WIDE], sum = 0;
        for (int q = 0; q < WIDE * WIDE; q++) {
            double dx = q % WIDE - 1 - fx, dz = (double)(q / WIDE) - 1 - fz;
            sum += cone[q] = fmax(0, 2 - sqrt(dx * dx + dz * dz));
        }
        int left = UNIT, largest = 0;
        float *out = c->kernel + k * WIDE * WIDE;
        for (int q = 0; q < WIDE * WIDE; q++) {
            int whole = (int)lrint(UNIT * cone[q] / sum);
            left -= whole;
            out[q] = (float)whole;
            largest = out[q] > out[largest] ? q : largest;
        }
        out[largest] += (float)left;
        for (int q = 0; q < WIDE * WIDE; q++)
            out[q] /= UNIT;
    }
    return UND_OK;
}

static und_status allocate(und_caustics *c, const und_mesh *m, int asked, und_error *err)
{
    int per_node = m->nx <= 800 && m->nz <= 800 ? 2 : 1, density = m->nx <= 1200 && m->nz <= 1200 ? asked : 1;
    int nx = (m->nx - 1) * per_node + 1, nz = (m->nz - 1) * per_node + 1;
    if (!c->kernel && make_kernel(c, err) != UND_OK)
        return UND_FAILED;
    if (c->light && c->nx == nx && c->nz == nz && c->density == density)
        return UND_OK;
    c->nx = nx;
    c->nz = nz;
    c->per_node = per_node;
    c->density = density;
    free(c->light);
    free(c->landing);
    free(c->reach);
    size_t columns = (size_t)(nx + 2 * MARGIN) * (size_t)density,
           rows = (size_t)(nz + 2 * MARGIN) * (size_t)density;
    c->light = und_alloc((size_t)nx * (size_t)nz, sizeof(float), "caustics", err);
    c->landing = und_alloc(columns * rows * 2, sizeof(int32_t), "caustics", err);
    c->reach = und_alloc(rows * 2, sizeof(int32_t), "caustics", err);
    return c->light && c->landing && c->reach ? UND_OK : UND_FAILED;
}

typedef struct beam {
    f3 down;     /* the sun's light */
    f3 flat;     /* the same behind a flat surface, per metre of depth */
    float ratio; /* index of refraction */
    float thin;  /* m; shallower water bends less */
} beam;

/* From A to B, in metres. */
static void follow(const und_mesh *m, const beam *b, float *x, float *z)
{
    float here[4], entry[4], bent[3];
    und_stage_mesh_water_at(m, *x, *z, here);
    float depth = here[M_DEPTH];
    if (!(depth > 0))
        return;
    float wx = *x - b->flat.x * depth, wz = *z - b->flat.z * depth;
    und_stage_mesh_water_at(m, wx, wz, entry);
    float fade = clampf(entry[M_DEPTH] / b->thin, 0, 1);
    f3 n = f3_unit(f3_make(-fade * entry[M_WX], 1, -fade * entry[M_WZ]));
    float normal[3] = {n.x, n.y, n.z}, down[3] = {b->down.x, b->down.y, b->down.z};
    if (!und_refract(down, normal, b->ratio, bent) || bent[1] > -0.05f)
        return;
    float height = fade > 0 ? maxf(entry[M_GROUND] + entry[M_DEPTH] - here[M_GROUND], 0) : depth;
    float fall = mixf(depth, height, fade) / -bent[1];
    float bx = wx + bent[0] * fall, bz = wz + bent[2] * fall;
    if (und_stage_mesh_ground(m, bx, bz) > entry[M_GROUND] + entry[M_DEPTH] && entry[M_DEPTH] > 0)
        return; /* through a wall */
    *x = bx;
    *z = bz;
}

/* In 1/STEPS texels; what leaves the domain is out of everybody's way. */
static int32_t landing(float t, int n)
{
    return t > -8 && t < (float)(n + 8) ? (int32_t)lrintf(t * STEPS) : -8 * STEPS; /* also NaN */
}

static void land_row(const und_mesh *m, und_caustics *c, const beam *b, int row)
{
    int columns = (c->nx + 2 * MARGIN) * c->density;
    float texel = m->h / (float)c->per_node, step = 1 / (float)c->density;
    float tz = ((float)row + 0.5f) * step - 0.5f - MARGIN;
    int32_t *out = c->landing + (size_t)row * (size_t)columns * 2, low = INT32_MAX, high = INT32_MIN;
    for (int k = 0; k < columns; k++, out += 2) {
        float tx = ((float)k + 0.5f) * step - 0.5f - MARGIN;
        float ax = m->x0 + tx * texel, az = m->z0 + tz * texel, x = ax, z = az;
        follow(m, b, &x, &z);
        out[0] = landing(tx + (x - ax) / texel, c->nx);
        out[1] = landing(tz + (z - az) / texel, c->nz);
        low = out[1] < low ? out[1] : low;
        high = out[1] > high ? out[1] : high;
    }
    c->reach[2 * row] = (low >> 4) - 1;
    c->reach[2 * row + 1] = (high >> 4) + 2;
}

/* All that lands in the rows [first, last), in the order of the samples. */
static void gather_band(und_caustics *c, int first, int last)
{
    int columns = (c->nx + 2 * MARGIN) * c->density, rows = (c->nz + 2 * MARGIN) * c->density;
    float share = 1 / (float)(c->density * c->density);
    memset(c->light + (size_t)first * (size_t)c->nx, 0,
           (size_t)(last - first) * (size_t)c->nx * sizeof(float));
    for (int row = 0; row < rows; row++) {
        const int32_t *reach = c->reach + 2 * row;
        if (reach[1] < first || reach[0] >= last)
            continue;
        const int32_t *at = c->landing + (size_t)row * (size_t)columns * 2;
        for (int k = 0; k < columns; k++, at += 2) {
            int i = (at[0] >> 4) - 1, j = (at[1] >> 4) - 1;
            if (j + WIDE <= first || j >= last || i + WIDE <= 0 || i >= c->nx)
                continue;
            const float *kernel = c->kernel + ((at[1] & 15) * STEPS + (at[0] & 15)) * WIDE * WIDE;
            int p0 = i < 0 ? -i : 0, p1 = i + WIDE > c->nx ? c->nx - i : WIDE;
            for (int q = 0; q < WIDE; q++, kernel += WIDE) {
                if (j + q < first || j + q >= last)
                    continue;
                float *out = c->light + (ptrdiff_t)(j + q) * c->nx + i;
                if (p0 == 0 && p1 == WIDE) {
                    for (int p = 0; p < WIDE; p++)
                        out[p] += share * kernel[p];
                } else {
                    for (int p = p0; p < p1; p++)
                        out[p] += share * kernel[p];
                }
            }
        }
    }
}

und_status und_caustics_build(und_render *r, und_error *err)
{
    const und_mesh *m = &r->stage->mesh;
    und_caustics *c = &r->caustics;
    if (r->stage->def.caustics < 1)
        return UND_OK;
    und_status status = allocate(c, m, r->stage->def.caustics == 1 ? 1 : 2, err);
    if (status != UND_OK)
        return status;
    f3 sun = r->stage->sky.sun;
    sun.y = maxf(sun.y, 0.05f);
    sun = f3_unit(sun);
    beam b = {.down = f3_scale(sun, -1),
              .ratio = (float)r->stage->def.refraction,
              .thin = maxf(0.15f * m->h, 1e-6f)};
    float s = 1 / b.ratio, down = sqrtf(1 - s * s * (1 - sun.y * sun.y));
    b.flat = f3_make(-sun.x * s / down, -1, -sun.z * s / down);
    PARALLEL_FOR(r->stage->threads)
    for (int row = 0; row < (c->nz + 2 * MARGIN) * c->density; row++)
        land_row(m, c, &b, row);
    PARALLEL_FOR(r->stage->threads)
    for (int band = 0; band < (c->nz + BAND - 1) / BAND; band++)
        gather_band(c, band * BAND, (band + 1) * BAND < c->nz ? (band + 1) * BAND : c->nz);
    return UND_OK;
}

float und_caustics_at(const und_render *r, float x, float z)
{
    const und_caustics *c = &r->caustics;
    if (r->stage->def.caustics < 1)
        return 1;
    float k = (float)c->per_node / r->stage->mesh.h, u = (x - r->stage->mesh.x0) * k,
          v = (z - r->stage->mesh.z0) * k;
    float un = u > 0 ? minf(u, (float)(c->nx - 1)) : 0, vn = v > 0 ? minf(v, (float)(c->nz - 1)) : 0;
    int i = (int)un < c->nx - 2 ? (int)un : c->nx - 2, j = (int)vn < c->nz - 2 ? (int)vn : c->nz - 2;
    const float *a = c->light + (size_t)j * (size_t)c->nx + (size_t)i, *b = a + c->nx;
    float fx = un - (float)i, fz = vn - (float)j;
    float light = mixf(mixf(a[0], a[1], fx), mixf(b[0], b[1], fx), fz);
    float outside = fabsf(u - un) + fabsf(v - vn); /* there nothing is known */
    return outside > 0 ? mixf(1, light, 1 / (1 + 0.1f * outside)) : light;
}
