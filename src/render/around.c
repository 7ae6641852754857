/* How dark the table is around what stands on it. */
#include "base/maths.h"
#include "render/internal.h"

/* Share of a hemisphere of rays, as many at each height as a level surface is lit from there, that meet
 * nothing; the liquid lets most of the light through where it is not painted. */
static float open_share(const und_scenery *stage, f3 p)
{
    enum { RAYS = 48 };
    float sum = 0;
    for (int k = 0; k < RAYS; k++) {
        float turn = 6.2831853f * ((float)k * 0.61803399f), out = sqrtf(((float)k + 0.5f) / RAYS), t;
        f3 dir = f3_make(out * und_cosf(turn), sqrtf(1 - out * out), out * und_sinf(turn));
        int32_t id;
        bool hidden = stage->soup.count > 0 && und_tree_hit(&stage->soup, p, dir, 1e9f, &t, &id);
        bool wet = !hidden && stage->liquid.count > 0 && und_tree_hit(&stage->liquid, p, dir, 1e9f, &t, &id);
        sum += hidden || (wet && stage->texture) ? 0 : wet ? 0.6f : 1;
    }
    return sum / RAYS;
}

und_status und_around_make(und_drawn_around *a, const und_scenery *stage, und_error *err)
{
    size_t count = (size_t)AROUND_SIZE * AROUND_SIZE;
    if (!a->open && !(a->open = und_alloc(count, sizeof *a->open, "shade", err)))
        return UND_FAILED;
    float side = 2.5f * maxf(stage->box.high.x - stage->box.low.x, stage->box.high.z - stage->box.low.z);
    a->texel = side / (AROUND_SIZE - 1);
    a->x0 = 0.5f * (stage->box.low.x + stage->box.high.x) - 0.5f * side;
    a->z0 = 0.5f * (stage->box.low.z + stage->box.high.z) - 0.5f * side;
    PARALLEL_FOR(stage->threads)
    for (int j = 0; j < AROUND_SIZE; j++)
        for (int i = 0; i < AROUND_SIZE; i++)
            a->open[j * AROUND_SIZE + i] = open_share(
                stage, f3_make(a->x0 + (float)i * a->texel, stage->mesh.low + 1e-3f * stage->mesh.span,
                               a->z0 + (float)j * a->texel));
    return UND_OK;
}

float und_around_open(const und_drawn_around *a, f3 p)
{
    float u = (p.x - a->x0) / a->texel, v = (p.z - a->z0) / a->texel;
    if (!(u >= 0 && v >= 0 && u < AROUND_SIZE - 1 && v < AROUND_SIZE - 1))
        return 1;
    int i = (int)u, j = (int)v;
    const float *o = a->open + j * AROUND_SIZE + i;
    return mixf(mixf(o[0], o[1], u - (float)i), mixf(o[AROUND_SIZE], o[AROUND_SIZE + 1], u - (float)i),
                v - (float)j);
}
