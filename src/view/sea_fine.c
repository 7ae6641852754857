/* Heights between the samples, slopes and sunlight: what the maps of a sea are made of.  The processor does
 * this in a tenth of the time that OpenGL takes on the same processor. */
#include "view/sea_fine.h"

#include "stage/cubic.h"
#include "stage/optics.h"

#include <stdlib.h>
#include <string.h>

und_status und_sea_fine_allocate(und_sea_fine *f, int nx, int nz, int scale, bool *fresh, und_error *err)
{
    *fresh = !(f->water_map && f->sample_nx == nx && f->sample_nz == nz && f->scale == scale);
    if (!*fresh)
        return UND_OK;
    und_sea_fine_free(f);
    f->sample_nx = nx;
    f->sample_nz = nz;
    f->scale = scale;
    f->nx = (nx - 1) * scale + 1;
    f->nz = (nz - 1) * scale + 1;
    size_t count = (size_t)f->nx * (size_t)f->nz, rows = (size_t)f->nx * (size_t)nz;
    float **single[] = {&f->ground, &f->depth, &f->shadow};
    for (size_t k = 0; k < sizeof single / sizeof *single; k++)
        if (!(*single[k] = und_alloc(count, sizeof(float), "the sea's maps", err)))
            return UND_FAILED;
    for (int k = 0; k < 2; k++)
        if (!(f->rows[k] = und_alloc(rows, sizeof(float), "the sea's maps", err)))
            return UND_FAILED;
    f->ground_map = und_alloc(4 * count, sizeof(float), "the sea's maps", err);
    f->water_map = f->ground_map ? und_alloc(4 * count, sizeof(float), "the sea's maps", err) : NULL;
    return f->water_map ? UND_OK : UND_FAILED;
}

void und_sea_fine_free(und_sea_fine *f)
{
    float *owned[] = {f->ground, f->depth, f->rows[0], f->rows[1], f->shadow, f->water_map, f->ground_map};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    *f = (und_sea_fine){0};
}

/* Ground and depth between the middle two of four.  Beside a wall the cubic would overshoot: it is held
 * there, and the surface stays.  Between dry places it is dry. */
static void between(const float g[4], const float d[4], const float w[4], float wall, float *ground,
                    float *depth)
{
    float high = w[0] * g[0] + w[1] * g[1] + w[2] * g[2] + w[3] * g[3];
    float deep = w[0] * d[0] + w[1] * d[1] + w[2] * d[2] + w[3] * d[3];
    float least = minf(minf(g[0], g[1]), minf(g[2], g[3])), most = maxf(maxf(g[0], g[1]), maxf(g[2], g[3]));
    float held = clampf(high, minf(g[1], g[2]), maxf(g[1], g[2]));
    bool walled = most - least > wall;
    deep += walled ? high - held : 0;
    *ground = walled ? held : high;
    *depth = d[1] <= 0 && d[2] <= 0 ? minf(deep, -1e-4f * wall) : deep;
}

static int within(int k, int n)
{
    return k < 0 ? 0 : k > n - 1 ? n - 1 : k;
}

static void along_x(und_sea_fine *f, const und_samples *s, float vertical, float wall, int j)
{
    const float *ground = s->ground + (size_t)j * (size_t)s->nx,
                *depth = s->depth + (size_t)j * (size_t)s->nx;
    float *to_ground = f->rows[0] + (size_t)j * (size_t)f->nx,
          *to_depth = f->rows[1] + (size_t)j * (size_t)f->nx;
    float w[8][4];
    for (int part = 0; part < f->scale; part++)
        und_cubic_weights((float)part / (float)f->scale, w[part]);
    for (int i = 0, at = 0; at < f->nx; i++) {
        float g[4], d[4];
        for (int k = 0; k < 4; k++) {
            g[k] = vertical * ground[within(i + k - 1, s->nx)];
            d[k] = vertical * depth[within(i + k - 1, s->nx)];
        }
        for (int part = 0; part < f->scale && at < f->nx; part++, at++)
            between(g, d, w[part], wall, to_ground + at, to_depth + at);
    }
}

static void along_z(und_sea_fine *f, float wall, int j)
{
    int own = j / f->scale;
    float w[4];
    size_t row[4], to = (size_t)j * (size_t)f->nx;
    und_cubic_weights((float)(j - own * f->scale) / (float)f->scale, w);
    for (int k = 0; k < 4; k++)
        row[k] = (size_t)within(own + k - 1, f->sample_nz) * (size_t)f->nx;
    for (int i = 0; i < f->nx; i++) {
        float g[4], d[4];
        for (int k = 0; k < 4; k++) {
            g[k] = f->rows[0][row[k] + (size_t)i];
            d[k] = f->rows[1][row[k] + (size_t)i];
        }
        between(g, d, w, wall, f->ground + to + i, f->depth + to + i);
    }
}

static void make_heights(und_sea_fine *f, const und_samples *s, float vertical, int threads)
{
    float wall = 2 * (float)s->dx;
    if (f->scale == 1) {
        PARALLEL_FOR(threads)
        for (int j = 0; j < f->nz; j++)
            for (size_t c = (size_t)j * (size_t)f->nx; c < (size_t)(j + 1) * (size_t)f->nx; c++) {
                f->ground[c] = vertical * s->ground[c];
                f->depth[c] = vertical * s->depth[c];
            }
        return;
    }
    PARALLEL_FOR(threads)
    for (int j = 0; j < s->nz; j++)
        along_x(f, s, vertical, wall, j);
    PARALLEL_FOR(threads)
    for (int j = 0; j < f->nz; j++)
        along_z(f, wall, j);
}

/* Rows before and after, and one over the distance between them. */
typedef struct slope_rows {
    size_t up, row, down;
    float per_x, per_z;
} slope_rows;

static slope_rows rows_about(const und_sea_fine *f, float h, int j)
{
    int up = within(j - 1, f->nz), down = within(j + 1, f->nz);
    return (slope_rows){.up = (size_t)up * (size_t)f->nx,
                        .row = (size_t)j * (size_t)f->nx,
                        .down = (size_t)down * (size_t)f->nx,
                        .per_x = 0.5f / h,
                        .per_z = 1 / (h * (float)(down - up))};
}

static void water_row(und_sea_fine *f, float h, float cell, int j)
{
    slope_rows r = rows_about(f, h, j);
    const float *g = f->ground, *d = f->depth;
    for (int i = 0; i < f->nx; i++) {
        size_t c = r.row + (size_t)i, left = c - (i > 0), right = c + (i < f->nx - 1);
        size_t up = r.up + (size_t)i, down = r.down + (size_t)i;
        float per_x = i > 0 && i < f->nx - 1 ? r.per_x : 2 * r.per_x, *to = f->water_map + 4 * c;
        bool near = d[c] > -cell;
        to[0] = d[c];
        to[1] = near ? per_x * (g[right] + d[right] - g[left] - d[left]) : 0;
        to[2] = near ? r.per_z * (g[down] + d[down] - g[up] - d[up]) : 0;
        to[3] = und_sun_over(f->shadow[c], g[c] + maxf(d[c], 0), f->soft);
    }
}

static void ground_row(und_sea_fine *f, const und_samples *s, float h, int j)
{
    slope_rows r = rows_about(f, h, j);
    const float *g = f->ground;
    int own = j / f->scale, next = within(own + 1, s->nz);
    float tz = (float)(j - own * f->scale) / (float)f->scale;
    const float *open = s->open + (size_t)own * (size_t)s->nx,
                *below = s->open + (size_t)next * (size_t)s->nx;
    for (int i = 0; i < f->nx; i++) {
        size_t c = r.row + (size_t)i, left = c - (i > 0), right = c + (i < f->nx - 1);
        float per_x = i > 0 && i < f->nx - 1 ? r.per_x : 2 * r.per_x, *to = f->ground_map + 4 * c;
        int k = i / f->scale, beside = within(k + 1, s->nx);
        float tx = (float)(i - k * f->scale) / (float)f->scale;
        to[0] = per_x * (g[right] - g[left]);
        to[1] = r.per_z * (g[r.down + (size_t)i] - g[r.up + (size_t)i]);
        to[2] = mixf(mixf(open[k], open[beside], tx), mixf(below[k], below[beside], tx), tz);
        to[3] = und_sun_over(f->shadow[c], g[c], f->soft);
    }
}

void und_sea_fine_make(und_sea_fine *f, const und_samples *s, double vertical, f3 sun, bool new_ground,
                       int threads)
{
    float h = (float)(s->dx / f->scale);
    make_heights(f, s, (float)vertical, threads);
    if (new_ground) {
        und_mesh plain = {.nx = f->nx, .nz = f->nz, .h = h, .ground = f->ground};
        plain.span = h * (float)(f->nx > f->nz ? f->nx - 1 : f->nz - 1);
        f->soft = maxf(und_stage_light_sweep(&plain, sun, f->shadow), 1e-6f * h);
        PARALLEL_FOR(threads)
        for (int j = 0; j < f->nz; j++)
            ground_row(f, s, h, j);
    }
    PARALLEL_FOR(threads)
    for (int j = 0; j < f->nz; j++)
        water_row(f, h, (float)s->dx, j);
}
