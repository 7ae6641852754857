/* Where the sun does not reach, and how much of the sky the ground sees. */
#include "stage/optics.h"
#include "stage/scenery.h"

/* The shadow of everything upwind of the light, swept across the mesh one line at a time: what hides the sun
 * at a node is the line before it, or its own shadow, lowered by the sun's slope. */
typedef struct sweep {
    bool along_x;     /* lines are columns */
    int lines, width; /* how many lines, nodes in each */
    int step;         /* +1: the sun stands at the low end */
    float shift;      /* nodes sideways per line */
    float drop;       /* metres per line */
} sweep;

static size_t sweep_node(const und_mesh *m, const sweep *w, int line, int k)
{
    return w->along_x ? (size_t)k * (size_t)m->nx + (size_t)line : (size_t)line * (size_t)m->nx + (size_t)k;
}

static float line_value(const und_mesh *m, const sweep *w, const float *shadow, int line, float at)
{
    at = clampf(at, 0, (float)(w->width - 1));
    int k = (int)at < w->width - 1 ? (int)at : w->width - 2;
    size_t a = sweep_node(m, w, line, k), b = sweep_node(m, w, line, k + 1);
    float ha = maxf(shadow[a], m->ground[a]), hb = maxf(shadow[b], m->ground[b]);
    return mixf(ha, hb, at - (float)k);
}

static sweep make_sweep(const und_mesh *m, f3 sun)
{
    sweep w = {.along_x = fabsf(sun.x) >= fabsf(sun.z)};
    float major = w.along_x ? sun.x : sun.z, minor = w.along_x ? sun.z : sun.x;
    w.lines = w.along_x ? m->nx : m->nz;
    w.width = w.along_x ? m->nz : m->nx;
    w.step = major > 0 ? -1 : 1;
    major = maxf(fabsf(major), 1e-4f);
    w.shift = clampf(minor / major, -1, 1);
    w.drop = m->h * sun.y / major;
    return w;
}

static void apply_row(und_mesh *m, const float *shadow, float soft, int j)
{
    for (int i = 0; i < m->nx; i++) {
        size_t c = (size_t)j * (size_t)m->nx + (size_t)i;
        float *node = m->node + c * M_COUNT;
        node[M_SUN_GROUND] = und_sun_over(shadow[c], m->ground[c], soft);
        node[M_SUN_WATER] = und_sun_over(shadow[c], m->ground[c] + maxf(m->depth[c], 0), soft);
    }
}

float und_stage_light_sweep(const und_mesh *m, f3 sun, float *shadow)
{
    sun.y = maxf(sun.y, 0.02f);
    sweep w = make_sweep(m, sun);
    int first = w.step > 0 ? 0 : w.lines - 1;
    for (int k = 0; k < w.width; k++)
        shadow[sweep_node(m, &w, first, k)] = -1e30f;
    for (int n = 1, line = first + w.step; n < w.lines; n++, line += w.step)
        for (int k = 0; k < w.width; k++)
            shadow[sweep_node(m, &w, line, k)] =
                line_value(m, &w, shadow, line - w.step, (float)k + w.shift) - w.drop;
    return maxf(0.6f * w.drop, 0.003f * m->span * w.drop / m->h);
}

void und_stage_light_shadows(und_scenery *stage)
{
    und_mesh *m = &stage->mesh;
    float soft = und_stage_light_sweep(m, stage->sky.sun, stage->sun_scratch);
    PARALLEL_FOR(stage->threads)
    for (int j = 0; j < m->nz; j++)
        apply_row(m, stage->sun_scratch, soft, j);
}

/* Share of the sky seen from a sample: one minus the mean squared sine of the horizon over eight directions.
 */
static float open_at(const und_samples *s, int i, int j)
{
    static const int direction[8][2] = {{1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1}};
    static const int distance[6] = {1, 2, 4, 8, 14, 24};
    float here = s->ground[(size_t)j * (size_t)s->nx + (size_t)i], hidden = 0;
    for (int d = 0; d < 8; d++) {
        float steepest = 0, unit = (float)s->dx * (direction[d][0] && direction[d][1] ? 1.41421356f : 1);
        for (int k = 0; k < 6; k++) {
            int ni = i + direction[d][0] * distance[k], nj = j + direction[d][1] * distance[k];
            if (ni < 0 || nj < 0 || ni >= s->nx || nj >= s->nz)
                break;
            float rise = s->ground[(size_t)nj * (size_t)s->nx + (size_t)ni] - here;
            steepest = maxf(steepest, rise / (unit * (float)distance[k]));
        }
        hidden += steepest * steepest / (1 + steepest * steepest);
    }
    return 1 - hidden / 8;
}

void und_stage_light_open(und_samples *s, int threads)
{
    if (!s->ground_changed)
        return;
    PARALLEL_FOR(threads)
    for (int j = 0; j < s->nz; j++)
        for (int i = 0; i < s->nx; i++)
            s->open[(size_t)j * (size_t)s->nx + (size_t)i] = open_at(s, i, j);
    s->ground_changed = false;
}
