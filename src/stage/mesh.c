/* From a frame to the mesh that is drawn. */
#include "base/pages.h"
#include "stage/cubic.h"
#include "stage/scenery.h"

#include <stdlib.h>
#include <string.h>

enum { RINGS = 3, FAR = 255 };

const float *und_column_field(const und_frame *frame, const char *name)
{
    const und_item *item = und_frame_find(frame, name);
    size_t need = (size_t)frame->grid.n[0] * (size_t)frame->grid.n[2];
    return item && item->type == UND_F32 && item->data && und_item_count(item) == need ? item->data : NULL;
}

static und_status samples_allocate(und_samples *s, int nx, int nz, und_error *err)
{
    if (s->ground && s->nx == nx && s->nz == nz)
        return UND_OK;
    size_t count = (size_t)nx * (size_t)nz;
    float **arrays[] = {&s->ground, &s->surface,    &s->depth,      &s->open,
                        &s->wet,    &s->wet_smooth, &s->wet_scratch};
    s->observed = false;
    s->nx = nx;
    s->nz = nz;
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        free(*arrays[a]);
        if (!(*arrays[a] = und_alloc(count, sizeof(float), "samples of a picture", err)))
            return UND_FAILED;
    }
    free(s->ring);
    return (s->ring = und_alloc(count, 1, "shores", err)) ? UND_OK : UND_FAILED;
}

/* Heights no picture can use (NaN, infinite, far away) become ones it can. */
static float clean(float height, float instead, float low, float high)
{
    return isfinite(height) ? clampf(height, low, high) : instead;
}

static void clean_heights(und_samples *s, const float *ground, const float *surface, double vertical)
{
    float span = (float)(s->dx * (s->nx > s->nz ? s->nx : s->nz)), lowest = INFINITY, highest = -INFINITY;
    size_t count = (size_t)s->nx * (size_t)s->nz;
    bool changed = !s->observed;
    for (size_t c = 0; c < count; c++) {
        float g = clean(ground ? ground[c] * (float)vertical : 0, 0, -10 * span, 10 * span);
        changed = changed || g != s->ground[c];
        s->ground[c] = g;
        lowest = minf(lowest, g);
        highest = maxf(highest, g);
    }
    for (size_t c = 0; c < count; c++) {
        s->surface[c] = clean(surface[c] * (float)vertical, s->ground[c], lowest - span, highest + span);
        s->depth[c] = s->surface[c] - s->ground[c];
        s->ring[c] = s->depth[c] > 0 ? 0 : FAR;
    }
    s->ground_changed = s->ground_changed || changed;
    if (s->observed)
        return;
    s->level = -INFINITY;
    for (size_t c = 0; c < count; c++)
        s->level = maxf(s->level, s->ring[c] == 0 ? s->surface[c] : -INFINITY);
    s->level = isfinite(s->level) ? s->level : highest;
}

/* Carries the surface on under the shore, so that where it meets the ground is found between samples.  Where
 * the ground falls away from a film of water the depth is mirrored instead. */
static void extend_row(und_samples *s, int j, int ring)
{
    for (int i = 0; i < s->nx; i++) {
        size_t c = (size_t)j * (size_t)s->nx + (size_t)i;
        if (s->ring[c] <= ring)
            continue;
        float surface = 0, depth = 0, weight = 0;
        for (int dj = -1; dj <= 1; dj++)
            for (int di = -1; di <= 1; di++) {
                int ni = i + di, nj = j + dj;
                if (ni < 0 || nj < 0 || ni >= s->nx || nj >= s->nz)
                    continue;
                size_t n = (size_t)nj * (size_t)s->nx + (size_t)ni;
                if (s->ring[n] != ring)
                    continue;
                float w = di && dj ? 0.5f : 1;
                surface += w * s->surface[n];
                depth += w * s->depth[n];
                weight += w;
            }
        if (weight == 0)
            continue;
        depth = minf(surface / weight - s->ground[c], ring == 0 ? -depth / weight : depth / weight);
        s->depth[c] = maxf(depth, -2 * (float)s->dx);
        s->surface[c] = s->ground[c] + s->depth[c];
        s->ring[c] = (unsigned char)(128 + ring + 1); /* not yet seen by its neighbours */
    }
}

static void extend_shores(und_samples *s, int threads)
{
    size_t count = (size_t)s->nx * (size_t)s->nz;
    for (int ring = 0; ring < RINGS; ring++) {
        PARALLEL_FOR(threads)
        for (int j = 0; j < s->nz; j++)
            extend_row(s, j, ring);
        for (size_t c = 0; c < count; c++)
            if (s->ring[c] == 128 + ring + 1)
                s->ring[c] = (unsigned char)(ring + 1);
    }
    for (size_t c = 0; c < count; c++)
        if (s->ring[c] == FAR) {
            s->depth[c] = -0.5f * (float)s->dx;
            s->surface[c] = s->ground[c] + s->depth[c];
        }
}

und_status und_samples_take(und_scenery *stage, const und_frame *frame, und_error *err)
{
    und_samples *s = &stage->samples;
    const und_grid *grid = &frame->grid;
    if (grid->n[0] < 2 || grid->n[2] < 1 || grid->n[0] > 65536 || grid->n[2] > 65536 || !(grid->dx > 0) ||
        !isfinite(grid->dx) || !isfinite(grid->origin[0]) || !isfinite(grid->origin[2]))
        return und_error_set(err, UND_INVALID, "frame %d: a picture needs a grid of at least two samples",
                             frame->number);
    und_status status = UND_OK;
    int nx = grid->n[0], nz = grid->n[2];
    const float *ground = und_column_field(frame, "ground"), *surface = und_column_field(frame, "surface");
    s->dx = grid->dx;
    bool cells = grid->n[1] > 1 || und_grid_size(grid, 2) != grid->dx;
    if (cells) {
        if ((status = und_stage_voxels_take(stage, frame, err)) != UND_OK)
            return status;
        nx = stage->voxels.columns;
        nz = stage->voxels.rows;
        ground = stage->voxels.ground;
        surface = stage->voxels.surface;
        s->dx = stage->voxels.h;
    }
    if (!surface)
        return und_error_set(err, UND_INVALID, "frame %d: a picture needs the field \"surface\"",
                             frame->number);
    if ((status = samples_allocate(s, nx, nz, err)) != UND_OK)
        return status;
    s->x0 = grid->origin[0] + 0.5 * s->dx;
    s->z0 = grid->origin[2] + 0.5 * s->dx;
    clean_heights(s, ground, surface, stage->def.vertical);
    und_wetness_advance(stage, frame->time);
    s->observed = true;
    if (!cells) /* theirs are made already */
        extend_shores(s, s->nz > 8 ? stage->threads : 1);
    return UND_OK;
}

/* How many mesh spacings per sample: few samples get more, so that shores and waves are round. */
static int mesh_scale(int n, int width)
{
    enum { FINE = 560 };
    int enough = (int)(0.44 * width), scale = (enough < FINE ? enough : FINE) / n;
    return scale < 1 ? 1 : scale > 6 ? 6 : scale;
}

static und_status mesh_allocate(und_scenery *stage, und_error *err)
{
    const und_samples *s = &stage->samples;
    und_mesh *m = &stage->mesh;
    int scale = mesh_scale(s->nx > s->nz ? s->nx : s->nz, stage->def.width);
    int nx = (s->nx - 1) * scale + 1, nz = (s->nz - 1) * scale + 1;
    m->scale = scale;
    m->cell = (float)s->dx;
    m->h = (float)(s->dx / scale);
    m->per_m = 1 / m->h;
    m->x0 = (float)s->x0;
    m->z0 = (float)s->z0;
    m->x1 = (float)(s->x0 + s->dx * (s->nx - 1));
    m->z1 = (float)(s->z0 + s->dx * (s->nz - 1));
    m->span = maxf(m->x1 - m->x0, m->z1 - m->z0);
    if (m->node && m->nx == nx && m->nz == nz)
        return UND_OK;
    size_t count = (size_t)nx * (size_t)nz;
    m->nx = nx;
    m->nz = nz;
    free(m->ground);
    free(m->depth);
    und_pages_free(m->node);
    free(stage->sun_scratch);
    m->ground = und_alloc(count, sizeof(float), "mesh", err);
    m->depth = und_alloc(count, sizeof(float), "mesh", err);
    m->node = und_pages_alloc(count * M_COUNT * sizeof(float), "mesh", err); /* a node per cache line */
    stage->sun_scratch = und_alloc(count, sizeof(float), "shadows", err);
    bool ok = m->ground && m->depth && m->node && stage->sun_scratch;
    return ok ? UND_OK : UND_FAILED;
}

static size_t held(int i, int j, const und_samples *s)
{
    i = i < 0 ? 0 : i > s->nx - 1 ? s->nx - 1 : i;
    j = j < 0 ? 0 : j > s->nz - 1 ? s->nz - 1 : j;
    return (size_t)j * (size_t)s->nx + (size_t)i;
}

typedef struct und_extras {
    const float *field[M_COUNT]; /* what the frame has of it, by node entry */
} und_extras;

static void mesh_row(und_mesh *m, const und_samples *s, const und_extras *extras, int j)
{
    int scale = m->scale, cj = j / scale;
    float wz[4], wx[4], tz = (float)(j - cj * scale) / (float)scale;
    und_cubic_weights(tz, wz);
    for (int i = 0; i < m->nx; i++) {
        int ci = i / scale;
        float tx = (float)(i - ci * scale) / (float)scale, ground = 0, depth = 0;
        size_t a = held(ci, cj, s), b = held(ci + 1, cj, s), c = held(ci, cj + 1, s),
               d = held(ci + 1, cj + 1, s);
        if (scale == 1) {
            ground = s->ground[a];
            depth = s->depth[a];
        } else {
            float low = INFINITY, high = -INFINITY;
            bool shore = false;
            und_cubic_weights(tx, wx);
            for (int q = 0; q < 4; q++)
                for (int p = 0; p < 4; p++) {
                    size_t n = held(ci + p - 1, cj + q - 1, s);
                    ground += wz[q] * wx[p] * s->ground[n];
                    depth += wz[q] * wx[p] * s->depth[n];
                    low = minf(low, s->ground[n]);
                    high = maxf(high, s->ground[n]);
                    shore |= s->ring[n] != 0;
                }
            if (shore) /* beside ground that rises from it the cubic would make a film deeper than it is */
                depth = minf(depth, maxf(maxf(s->depth[a], s->depth[b]), maxf(s->depth[c], s->depth[d])));
            if (high - low > 2 * m->cell) { /* beside a wall the cubic would overshoot */
                float held_ground =
                    clampf(ground, minf(minf(s->ground[a], s->ground[b]), minf(s->ground[c], s->ground[d])),
                           maxf(maxf(s->ground[a], s->ground[b]), maxf(s->ground[c], s->ground[d])));
                depth += ground - held_ground;
                ground = held_ground;
            }
            bool dry = s->ring[a] && s->ring[b] && s->ring[c] && s->ring[d];
            if (dry)
                depth = minf(depth, -1e-4f * m->cell);
        }
        size_t at = (size_t)j * (size_t)m->nx + (size_t)i;
        float *node = m->node + at * M_COUNT;
        m->ground[at] = node[M_GROUND] = ground;
        m->depth[at] = node[M_DEPTH] = depth;
        for (int k = M_OPEN; k < M_COUNT; k++) {
            const float *f = extras->field[k];
            node[k] = f ? mixf(mixf(f[a], f[b], tx), mixf(f[c], f[d], tx), tz) : 0;
            if (!isfinite(node[k]))
                node[k] = 0;
        }
    }
}

static void slope_row(und_mesh *m, int j)
{
    int up = j > 0 ? j - 1 : j, down = j < m->nz - 1 ? j + 1 : j;
    float fz = down > up ? 1 / (m->h * (float)(down - up)) : 0;
    for (int i = 0; i < m->nx; i++) {
        int left = i > 0 ? i - 1 : i, right = i < m->nx - 1 ? i + 1 : i;
        float fx = 1 / (m->h * (float)(right - left));
        size_t row = (size_t)j * (size_t)m->nx, l = row + (size_t)left, t = row + (size_t)right;
        size_t u = (size_t)up * (size_t)m->nx + (size_t)i, d = (size_t)down * (size_t)m->nx + (size_t)i;
        float *node = und_mesh_node(m, i, j);
        node[M_GX] = fx * (m->ground[t] - m->ground[l]);
        node[M_GZ] = fz * (m->ground[d] - m->ground[u]);
        float dx = fx * (m->depth[t] - m->depth[l]), dz = fz * (m->depth[d] - m->depth[u]);
        bool near = node[M_DEPTH] > -m->cell;
        node[M_WX] = near ? node[M_GX] + dx : 0;
        node[M_WZ] = near ? node[M_GZ] + dz : 0;
    }
}

static void mesh_range(und_mesh *m)
{
    size_t count = (size_t)m->nx * (size_t)m->nz;
    float low = INFINITY, high = -INFINITY, top = -INFINITY;
    for (size_t c = 0; c < count; c++) {
        low = minf(low, m->ground[c]);
        high = maxf(high, m->ground[c]);
        top = maxf(top, m->ground[c] + maxf(m->depth[c], 0));
    }
    m->low = low;
    m->high = top;
    m->ground_high = high;
    m->base = low - maxf(0.06f * m->span, 0.15f * (high - low));
}

und_status und_stage_mesh_build(und_scenery *stage, const und_frame *frame, und_error *err)
{
    und_samples *s = &stage->samples;
    und_mesh *m = &stage->mesh;
    und_status status = mesh_allocate(stage, err);
    if (status != UND_OK)
        return status;
    und_extras extras = {.field = {[M_OPEN] = s->open, [M_WET] = s->wet_smooth}};
    static const struct {
        int entry;
        const char *name;
    } own[] = {{M_FOAM, "foam"},   {M_DYE, "dye"},           {M_U, "texture_u"},
               {M_V, "texture_v"}, {M_FLOW_X, "velocity_x"}, {M_FLOW_Z, "velocity_z"}};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        if (s->nx == frame->grid.n[0] && s->nz == frame->grid.n[2])
            extras.field[own[k].entry] = und_column_field(frame, own[k].name);
    m->has_foam = extras.field[M_FOAM];
    m->has_dye = extras.field[M_DYE];
    m->has_texture = extras.field[M_U] && extras.field[M_V];
    m->has_flow = extras.field[M_FLOW_X] && extras.field[M_FLOW_Z];
    PARALLEL_FOR(stage->threads)
    for (int j = 0; j < m->nz; j++)
        mesh_row(m, s, &extras, j);
    PARALLEL_FOR(stage->threads)
    for (int j = 0; j < m->nz; j++)
        slope_row(m, j);
    mesh_range(m);
    und_foam_plan plan = {m->nx, m->nz, M_COUNT, m->x0, m->z0, m->h, m->node + M_FOAM};
    m->has_foam = und_froth_splat(frame, &plan) || m->has_foam;
    return UND_OK;
}

/* The cell around a place and the place in it; held at the edges. */
static inline void locate(const und_mesh *m, float x, float z, int *i, int *j, float *fx, float *fz)
{
    float u = (x - m->x0) * m->per_m, v = (z - m->z0) * m->per_m;
    u = u > 0 ? u : 0; /* also NaN */
    v = v > 0 ? v : 0;
    u = minf(u, (float)(m->nx - 1));
    v = minf(v, (float)(m->nz - 1));
    *i = (int)u < m->nx - 2 ? (int)u : m->nx - 2;
    *j = (int)v < m->nz - 2 ? (int)v : m->nz - 2;
    *fx = u - (float)*i;
    *fz = v - (float)*j;
}

void und_stage_mesh_at(const und_mesh *m, float x, float z, float out[M_COUNT])
{
    int i, j;
    float fx, fz;
    locate(m, x, z, &i, &j, &fx, &fz);
    const float *a = und_mesh_node(m, i, j), *b = a + M_COUNT, *c = und_mesh_node(m, i, j + 1),
                *d = c + M_COUNT;
    SIMD
    for (int k = 0; k < M_COUNT; k++)
        out[k] = mixf(mixf(a[k], b[k], fx), mixf(c[k], d[k], fx), fz);
}

void und_stage_mesh_water_at(const und_mesh *m, float x, float z, float out[4])
{
    int i, j;
    float fx, fz;
    locate(m, x, z, &i, &j, &fx, &fz);
    const float *a = und_mesh_node(m, i, j), *b = a + M_COUNT, *c = und_mesh_node(m, i, j + 1),
                *d = c + M_COUNT;
    SIMD
    for (int k = 0; k < 4; k++)
        out[k] = mixf(mixf(a[k], b[k], fx), mixf(c[k], d[k], fx), fz);
}

float und_stage_mesh_ground(const und_mesh *m, float x, float z)
{
    int i, j;
    float fx, fz;
    locate(m, x, z, &i, &j, &fx, &fz);
    const float *a = m->ground + (size_t)j * (size_t)m->nx + (size_t)i, *b = a + m->nx;
    return mixf(mixf(a[0], a[1], fx), mixf(b[0], b[1], fx), fz);
}
