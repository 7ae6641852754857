/* Heights from a grid of cells: the ground is made of voxels and cells need not be square.  What is drawn is
 * the smoothest ground whose voxels are the same, and the water's surface where it meets that ground, on
 * square samples. */
#include "stage/scenery.h"

#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 48, RINGS = 2 };
static const float PULL = 0.03f; /* of the voxels on the smooth ground: it forgets within some 4 cells */

static int held(int k, int n)
{
    return k < 0 ? 0 : k > n - 1 ? n - 1 : k;
}

/* The ground goes on beyond the edges as it came. */
static float along_x(const und_drawn_voxels *v, const float *row, int i)
{
    int k = held(i, v->nx), back = held(2 * k - i, v->nx);
    return k == i ? row[k] : 2 * row[k] - row[back];
}

static float beyond(const und_drawn_voxels *v, const float *field, int i, int j)
{
    int k = held(j, v->nz), back = held(2 * k - j, v->nz);
    float here = along_x(v, field + (size_t)k * (size_t)v->nx, i);
    return k == j ? here : 2 * here - along_x(v, field + (size_t)back * (size_t)v->nx, i);
}

/* A sweep of smoothing.  A voxel is solid where its middle is, so that the ground it came from lies within
 * half a voxel of its top. */
static void smooth_row(const und_drawn_voxels *v, const float *from, float *to, float half, int j)
{
    for (int i = 0; i < v->nx; i++) {
        float sum = 0;
        for (int k = 0; k < 9; k++) {
            sum += beyond(v, from, i + k % 3 - 1, j + k / 3 - 1) *
                   (float)((k % 3 == 1 ? 2 : 1) * (k / 3 == 1 ? 2 : 1)) / 16;
        }
        float raw = v->raw[j * v->nx + i];
        to[j * v->nx + i] = clampf(mixf(sum, raw, PULL), raw - half, raw + half);
    }
}

static void smooth_ground(und_drawn_voxels *v, float half, int threads)
{
    size_t count = (size_t)v->nx * (size_t)v->nz;
    memcpy(v->smooth, v->raw, count * sizeof(float));
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        PARALLEL_FOR(threads)
        for (int j = 0; j < v->nz; j++)
            smooth_row(v, v->smooth, v->level, half, j);
        float *swap = v->smooth;
        v->smooth = v->level;
        v->level = swap;
    }
}

/* Carries the water's level on over ground that is at least nearly as high, so that the shore is where the
 * smooth ground comes out of it; elsewhere it lies under the ground. */
static void extend_level(und_drawn_voxels *v, const float *surface, float half)
{
    size_t count = (size_t)v->nx * (size_t)v->nz;
    for (size_t c = 0; c < count; c++) {
        float depth = isfinite(surface[c]) ? surface[c] - v->raw[c] : 0;
        /* A film lies on the ground that is drawn, wherever that is; deeper water has its own level. */
        float own = stepf(0.04f * half, 0.5f * half, depth);
        v->level[c] = depth > 0 ? mixf(v->smooth[c] + depth, surface[c], own) : v->smooth[c] - half;
        v->ring[c] = own > 0.5f ? 0 : RINGS + 1;
    }
    for (int ring = 0; ring < RINGS; ring++)
        for (size_t c = 0; c < count; c++) {
            int i = (int)(c % (size_t)v->nx), j = (int)(c / (size_t)v->nx);
            float sum = 0;
            int found = 0;
            for (int k = 0; k < 9 && v->ring[c] > ring; k++) {
                int ni = held(i + k % 3 - 1, v->nx), nj = held(j + k / 3 - 1, v->nz);
                if (v->ring[nj * v->nx + ni] != ring)
                    continue;
                sum += v->level[nj * v->nx + ni];
                found++;
            }
            bool film = v->level[c] > v->smooth[c];
            if (found == 0 || film || v->raw[c] < sum / (float)found - half)
                continue;
            v->level[c] = sum / (float)found;
            v->ring[c] = (unsigned char)(ring + 1);
        }
}

/* The cubic through four (Catmull & Rom 1974), held within the middle two where they differ by a cliff. */
static float cubic(float a, float b, float c, float d, float t, float cliff)
{
    float y = b + 0.5f * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
    bool steep = fabsf(b - a) > cliff || fabsf(c - b) > cliff || fabsf(d - c) > cliff;
    return steep ? clampf(y, minf(b, c), maxf(b, c)) : y;
}

/* At a place in cells. */
static float sample(const und_drawn_voxels *v, const float *field, double x, double z, float cliff)
{
    x = fmin(fmax(x - 0.5, 0), v->nx - 1);
    z = fmin(fmax(z - 0.5, 0), v->nz - 1);
    int i = (int)x, j = (int)z;
    float row[4];
    for (int q = 0; q < 4; q++) {
        const float *line = field + (size_t)held(j + q - 1, v->nz) * (size_t)v->nx;
        row[q] = cubic(line[held(i - 1, v->nx)], line[i], line[held(i + 1, v->nx)], line[held(i + 2, v->nx)],
                       (float)(x - i), cliff);
    }
    return cubic(row[0], row[1], row[2], row[3], (float)(z - j), cliff);
}

static und_status voxels_allocate(und_drawn_voxels *v, int nx, int nz, int columns, int rows, und_error *err)
{
    if (v->raw && v->nx == nx && v->nz == nz && v->columns == columns && v->rows == rows)
        return UND_OK;
    size_t cells = (size_t)nx * (size_t)nz, samples = (size_t)columns * (size_t)rows;
    und_stage_voxels_free(v);
    v->nx = nx;
    v->nz = nz;
    v->columns = columns;
    v->rows = rows;
    v->raw = und_alloc(cells, sizeof(float), "ground of cells", err);
    v->smooth = und_alloc(cells, sizeof(float), "ground of cells", err);
    v->level = und_alloc(cells, sizeof(float), "ground of cells", err);
    v->ring = und_alloc(cells, 1, "ground of cells", err);
    v->ground = und_alloc(samples, sizeof(float), "samples of a picture", err);
    v->surface = und_alloc(samples, sizeof(float), "samples of a picture", err);
    v->new_ground = true;
    return v->raw && v->smooth && v->level && v->ring && v->ground && v->surface ? UND_OK : UND_FAILED;
}

void und_stage_voxels_free(und_drawn_voxels *v)
{
    void *owned[] = {v->raw, v->smooth, v->level, v->ring, v->ground, v->surface};
    for (size_t k = 0; k < sizeof owned / sizeof *owned; k++)
        free(owned[k]);
    *v = (und_drawn_voxels){0};
}

static void take_ground(und_drawn_voxels *v, const float *ground)
{
    for (size_t c = 0; c < (size_t)v->nx * (size_t)v->nz; c++) {
        float g = ground && fabsf(ground[c]) < 1e9f ? ground[c] : 0;
        v->new_ground = v->new_ground || g != v->raw[c];
        v->raw[c] = g;
    }
}

und_status und_stage_voxels_take(und_scenery *stage, const und_frame *frame, und_error *err)
{
    enum { MOST = 16384 };
    und_drawn_voxels *v = &stage->voxels;
    const und_grid *g = &frame->grid;
    const float *surface = und_column_field(frame, "surface");
    double dx = und_grid_size(g, 0), dz = und_grid_size(g, 2), h = fmin(dx, dz);
    double columns = fmax(rint(g->n[0] * dx / h), 2), rows = fmax(rint(g->n[2] * dz / h), 1);
    if (!surface || !(columns <= MOST && rows <= MOST))
        return und_error_set(err, UND_INVALID, "frame %d: a picture needs the field \"surface\"",
                             frame->number);
    if (voxels_allocate(v, g->n[0], g->n[2], (int)columns, (int)rows, err) != UND_OK)
        return UND_FAILED;
    float half = 0.5f * (float)und_grid_size(g, 1);
    take_ground(v, und_column_field(frame, "ground"));
    if (v->new_ground)
        smooth_ground(v, half, stage->threads);
    extend_level(v, surface, half);
    v->h = h;
    PARALLEL_FOR(stage->threads)
    for (int j = 0; j < v->rows; j++)
        for (int i = 0; i < v->columns; i++) {
            size_t c = (size_t)j * (size_t)v->columns + (size_t)i;
            double x = (i + 0.5) * h / dx, z = (j + 0.5) * h / dz;
            v->ground[c] = sample(v, v->smooth, x, z, 3 * half);
            v->surface[c] = sample(v, v->level, x, z, 3 * half);
        }
    v->new_ground = false;
    return UND_OK;
}
