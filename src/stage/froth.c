/* Bits of foam as soft round patches in the mesh's foam (Foster & Metaxas 1996, section 4.3). */
#include "stage/scenery.h"

/* A drop's foam is as many times as wide as the drop: a film of bubbles one deep holds the air that it took
 * along. */
static const float SPREAD = 8, MOST = 0.7f; /* more would hide the lace */

static const float *rows_of(const und_frame *frame, const char *name, size_t count)
{
    const und_item *item = und_frame_find(frame, name);
    bool fits = item && item->type == UND_F32 && item->data && und_item_count(item) == count;
    return fits ? item->data : NULL;
}

/* Adds a patch whose share of the nodes around it is as its area; smaller ones than the nodes' distance are
 * spread over it. */
static void add_patch(const und_foam_plan *m, float x, float z, float radius, float share)
{
    float wide = maxf(radius, 2.2f * m->h), u = (x - m->x0) / m->h, v = (z - m->z0) / m->h,
          reach = wide / m->h;
    if (!(u + reach > 0 && v + reach > 0 && u - reach < (float)m->nx && v - reach < (float)m->nz))
        return;
    /* The mean of (1 - q^2)^2 over a disc is a third. */
    share *= 3 * minf(radius * radius / (wide * wide), 1);
    int i0 = (int)maxf(ceilf(u - reach), 0), i1 = (int)minf(floorf(u + reach), (float)(m->nx - 1));
    int j0 = (int)maxf(ceilf(v - reach), 0), j1 = (int)minf(floorf(v + reach), (float)(m->nz - 1));
    for (int j = j0; j <= j1; j++)
        for (int i = i0; i <= i1; i++) {
            float du = ((float)i - u) / reach, dv = ((float)j - v) / reach, q = 1 - du * du - dv * dv;
            float *foam = m->foam + ((size_t)j * (size_t)m->nx + (size_t)i) * (size_t)m->stride;
            if (q > 0)
                *foam += maxf(MOST - *foam, 0) * minf(share * q * q, 0.5f); /* one patch alone is thin */
        }
}

bool und_froth_splat(const und_frame *frame, const und_foam_plan *plan)
{
    const und_item *place = und_frame_find(frame, "foam/position");
    if (!place || place->type != UND_F32 || !place->data || place->rank != 2 || place->dim[1] != 3 ||
        place->dim[0] == 0)
        return false;
    size_t count = place->dim[0];
    const float *p = place->data, *radius = rows_of(frame, "foam/radius", count),
                *age = rows_of(frame, "foam/age", count), *life = rows_of(frame, "foam/life", count);
    for (size_t k = 0; k < count; k++) {
        float old = age && life && life[k] > 0 ? clampf(age[k] / life[k], 0, 1) : 0;
        float size = SPREAD * (radius ? radius[k] : 0.005f) * (1 + 0.6f * old);
        float fresh = 1 - old * old;
        if (size > 0 && size < 1e6f && fresh > 0 && fabsf(p[3 * k]) < 1e9f && fabsf(p[3 * k + 2]) < 1e9f)
            add_patch(plan, p[3 * k], p[3 * k + 2], size, fresh);
    }
    return true;
}
