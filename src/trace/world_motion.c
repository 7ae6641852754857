/* The liquid while the shutter is open: its distance at some moments, between which it is linear.
 *
 * Liquid that is at y when the shutter closes was at x = y - v(y) s a time s before.  So the distance at x
 * was that of the frame at y, which is searched for by y = x + v(y) s; v is held on outwards from the liquid
 * for as far as it may have come.  Where flows meet there may be no such y: what is found then is off by how
 * far its way back misses x, and nothing was there. */
#include "trace/world_level.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"

#include <string.h>

enum {
    BESIDE = 2,
    NEAR = 2 /* cells beyond the surface at which velocities are the flow's own */,
    MOST = 24
};

static const size_t MEMORY = (size_t)1 << 30; /* bytes, that all moments may take; of large grids two do */

typedef struct motion {
    und_traced_level *level;
    float *
        velocity; /* [nodes][4]: cells in the shutter's time, and how many cells from the liquid, from 1 on */
    size_t *list, count;
    int reach; /* cells that liquid comes at most */
} motion;

static void cell_velocity(const und_traced_level *l, const int cell[3], float scale, float v[3])
{
    const und_grid *g = &l->grid;
    for (int a = 0; a < 3; a++) {
        size_t nx = (size_t)(g->n[0] + (a == 0)), ny = (size_t)(g->n[1] + (a == 1));
        const float *low = l->face[a] + ((size_t)cell[2] * ny + (size_t)cell[1]) * nx + (size_t)cell[0];
        v[a] = 0.5f * (low[0] + low[a == 0 ? 1 : a == 1 ? nx : nx * ny]) * scale * l->per_m[a];
    }
    float square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    if (!(square < (float)(MOST * MOST)))
        memset(v, 0, 3 * sizeof *v);
}

/* Velocities of the liquid and next to it: with `keep` they are noted, without, the largest is found. */
static void seed(motion *m, float shutter, bool keep)
{
    const und_traced_level *l = m->level;
    const float high = NEAR * l->small, low = keep ? -(float)(m->reach + 3) * l->small : -high;
    float most = 0;
    int cell[3];
    for (cell[2] = 0; cell[2] < l->grid.n[2]; cell[2]++)
        for (cell[1] = 0; cell[1] < l->grid.n[1]; cell[1]++)
            for (cell[0] = 0; cell[0] < l->grid.n[0]; cell[0]++) {
                size_t node = (size_t)((cell[2] + BESIDE) * l->step[2] + (cell[1] + BESIDE) * l->step[1] +
                                       cell[0] + BESIDE);
                float v[4] = {0, 0, 0, 1};
                if (!(l->phi[node] < high && l->phi[node] > low))
                    continue;
                cell_velocity(l, cell, shutter, v);
                most = maxf(most, v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
                if (!keep)
                    continue;
                memcpy(m->velocity + 4 * node, v, sizeof v);
                m->list[m->count++] = node;
            }
    if (!keep)
        m->reach = most > 0.01f ? (int)ceilf(sqrtf(most)) : 0;
}

static bool on_border(const und_traced_level *l, size_t node)
{
    ptrdiff_t at = (ptrdiff_t)node;
    for (int a = 2; a >= 0; a--) {
        ptrdiff_t i = at / l->step[a];
        at -= i * l->step[a];
        if (i == 0 || i == l->n[a] - 1)
            return true;
    }
    return false;
}

/* One layer more, each node with the mean of those around it that were known before. */
static void widen(motion *m, size_t from, size_t to, float layer)
{
    const und_traced_level *l = m->level;
    for (size_t k = from; k < to; k++) {
        if (on_border(l, m->list[k]))
            continue;
        for (int side = 0; side < 6; side++) {
            size_t node = m->list[k] + (size_t)(side & 1 ? l->step[side / 2] : -l->step[side / 2]);
            if (m->velocity[4 * node + 3] == 0) {
                m->velocity[4 * node + 3] = layer;
                m->list[m->count++] = node;
            }
        }
    }
    for (size_t k = to; k < m->count; k++) {
        float sum[4] = {0}, *own = m->velocity + 4 * m->list[k];
        size_t last = (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2];
        for (int side = 0; side < 6; side++) {
            size_t node = m->list[k] + (size_t)(side & 1 ? l->step[side / 2] : -l->step[side / 2]);
            const float *other = m->velocity + 4 * node;
            if (node >= last || !(other[3] > 0 && other[3] < layer))
                continue;
            for (int a = 0; a < 3; a++)
                sum[a] += other[a];
            sum[3]++;
        }
        for (int a = 0; a < 3 && sum[3] > 0; a++)
            own[a] = sum[a] / sum[3];
    }
}

static const float *velocity_near(const motion *m, const float place[3])
{
    const und_traced_level *l = m->level;
    ptrdiff_t node = 0;
    for (int a = 0; a < 3; a++)
        node += (ptrdiff_t)(place[a] + 0.5f) * l->step[a];
    return m->velocity + 4 * node;
}

static void go(const und_traced_level *l, const float from[3], const float *velocity, float part, float to[3])
{
    for (int a = 0; a < 3; a++)
        to[a] = maxf(minf(from[a] + part * velocity[a], (float)(l->n[a] - 1) - 0.51f), 0.5f);
}

static float linear(const und_traced_level *l, const float p[3])
{
    int at[3];
    float part[3], v[8];
    for (int a = 0; a < 3; a++) {
        at[a] = (int)p[a];
        part[a] = p[a] - (float)at[a];
    }
    const float *phi = l->phi + at[2] * l->step[2] + at[1] * l->step[1] + at[0];
    for (int c = 0; c < 8; c++)
        v[c] = phi[(c & 1) + (c >> 1 & 1) * l->step[1] + (c >> 2) * l->step[2]];
    for (int a = 0, half = 4; a < 3; a++, half /= 2)
        for (int c = 0; c < half; c++)
            v[c] = mixf(v[2 * c], v[2 * c + 1], part[a]);
    return v[0];
}

/* The distance at a node a part of the shutter's time before the frame's. */
static float distance_before(const motion *m, size_t node, float part)
{
    const und_traced_level *l = m->level;
    float x[3], y[3], back[3], miss = 0;
    ptrdiff_t at = (ptrdiff_t)node;
    for (int a = 2; a >= 0; a--) {
        x[a] = (float)(at / l->step[a]);
        at %= l->step[a];
    }
    go(l, x, m->velocity + 4 * node, part, y);
    const float *v = velocity_near(m, y);
    if (v[3] > 0) {
        go(l, x, v, part, y);
        v = velocity_near(m, y);
    }
    if (v[3] > 0) {
        go(l, y, v, -part, back);
        for (int a = 0; a < 3; a++)
            miss += (back[a] - x[a]) * (back[a] - x[a]);
    }
    return maxf(linear(l, y), (sqrtf(miss) - 1) * l->small);
}

static und_status make_moments(motion *m, int threads, und_error *err)
{
    enum { BLOCK = 4096 };
    und_traced_level *l = m->level;
    size_t nodes = (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2];
    size_t room = MEMORY / (nodes * sizeof *l->phi);
    int most = room < 2 ? 2 : room < UND_LEVEL_MOMENTS ? (int)room : UND_LEVEL_MOMENTS;
    int moments = m->reach + 1 < most ? m->reach + 1 : most;
    int blocks = (int)((m->count + BLOCK - 1) / BLOCK);
    for (int k = 0; k + 1 < moments; k++) {
        float *phi = und_pages_alloc((nodes + 16) * sizeof *phi, "the liquid's distance", err);
        float part = 1 - (float)k / (float)(moments - 1);
        if (!phi)
            return UND_FAILED;
        l->at[k] = phi;
        memcpy(phi, l->phi, nodes * sizeof *phi);
        PARALLEL_FOR(und_workers(threads, m->count, BLOCK))
        for (int b = 0; b < blocks; b++)
            for (size_t i = (size_t)b * BLOCK; i < ((size_t)b + 1) * BLOCK && i < m->count; i++)
                phi[m->list[i]] = distance_before(m, m->list[i], part);
    }
    l->moments = moments;
    l->at[moments - 1] = l->phi;
    return UND_OK;
}

und_status und_trace_level_move(und_traced_level *l, float shutter, int threads, und_error *err)
{
    motion m = {.level = l};
    size_t nodes = (size_t)l->n[0] * (size_t)l->n[1] * (size_t)l->n[2];
    if (!l->face[0] || !(shutter > 0))
        return UND_OK;
    seed(&m, shutter, false);
    if (m.reach == 0)
        return UND_OK;
    m.velocity = und_pages_alloc_sparse(4 * nodes * sizeof *m.velocity, "the liquid's motion", err);
    m.list = und_pages_alloc_sparse(nodes * sizeof *m.list, "the liquid's motion", err);
    und_status status = m.velocity && m.list ? UND_OK : UND_FAILED;
    if (status == UND_OK) {
        seed(&m, shutter, true);
        size_t from = 0;
        for (int layer = 0; layer < m.reach; layer++) {
            size_t to = m.count;
            widen(&m, from, to, (float)(layer + 2));
            from = to;
        }
        status = make_moments(&m, threads, err);
    }
    und_pages_free(m.velocity);
    und_pages_free(m.list);
    return status;
}
