/* Liquid comes off solids: Rasmussen et al. 2004, 5.5.2. */
#ifndef UND_LIQUID_LEVELSET_APART_KERNEL_H
#define UND_LIQUID_LEVELSET_APART_KERNEL_H

#include "base/shared.h"
#include "grid/pass.h"

#define UND_APART_LEAVES 0.1f /* of the speed: along the normal */
#define UND_APART_LEAST 0.02f /* cells in a step: what is slower is at rest */

typedef struct und_apart_args {
    und_mac mac;
    float *phi;
    const float *distance;
    float *u[3], *solid_u[3];
    float per_speed; /* cells in the step at 1 m/s */
    const uint8_t *owner, *separate;
    int never;  /* of what separate[] says */
    bool again; /* what came off is off still; else cells come apart */
    und_mask loose, apart;
    int32_t *changed; /* 1: phi did */
} und_apart_args;

/* The velocity in the middle of a cell. */
static inline float und_apart_middle(const und_mac *m, float *const u[3], int axis, size_t at)
{
    return 0.5f * (u[axis][at] + u[axis][at - (size_t)m->step[axis]]);
}

/* Whether the cell so far in front of the solid that a cell is in is not held by it. */
static inline bool und_apart_loose_before(const und_apart_args *s, const int cell[3], const float normal[3],
                                          float before)
{
    const und_mac *m = &s->mac;
    const float out = before - s->distance[und_mac_at(m, cell[0], cell[1], cell[2])];
    int front[3];
    for (int a = 0; a < 3; a++) {
        front[a] = (int)__builtin_floorf((float)cell[a] + 0.5f + out * normal[a]);
        if (front[a] < 0 || front[a] >= m->n[a])
            return false;
    }
    return und_mask_has(&s->loose, front[0], front[1], front[2]);
}

/* Whether the flow in a cell at or in a solid leaves that, and the solid's normal. */
static inline bool und_apart_leaves(const und_apart_args *s, size_t at, float normal[3])
{
    const und_mac *m = &s->mac;
    float square = 1e-12f, along = 0, speed = 0;
    for (int a = 0; a < 3; a++) {
        const size_t step = (size_t)m->step[a];
        normal[a] = m->n[a] > 1 ? s->distance[at + step] - s->distance[at - step] : 0;
        square += normal[a] * normal[a];
    }
    for (int a = 0; a < 3; a++) {
        float way =
            m->n[a] > 1 ? und_apart_middle(m, s->u, a, at) - und_apart_middle(m, s->solid_u, a, at) : 0;
        normal[a] /= __builtin_sqrtf(square);
        along += way * normal[a];
        speed += way * way;
    }
    return along > UND_APART_LEAVES * __builtin_sqrtf(speed) && along * s->per_speed > UND_APART_LEAST;
}

/* Whether a cell beside this one, which is in a solid, is not held by it, and the flow goes that way. */
static inline bool und_apart_loose_beside(const und_apart_args *s, const int cell[3], size_t at)
{
    const und_mac *m = &s->mac;
    for (int i = 0; i < (m->n[2] > 1 ? 6 : 4); i++) {
        const int a = i / 2, way = i % 2 ? 1 : -1;
        const size_t next = i % 2 ? at + (size_t)m->step[a] : at - (size_t)m->step[a];
        int beside[3] = {cell[0], cell[1], cell[2]};
        beside[a] += way;
        if (s->distance[next] >= 0 && und_mask_has(&s->loose, beside[0], beside[1], beside[2]) &&
            (float)way * (und_apart_middle(m, s->u, a, next) - und_apart_middle(m, s->solid_u, a, next)) > 0)
            return true;
    }
    return false;
}

/* Air there is as far from the liquid as the solid's surface: in the solid, behind liquid that it does not
 * hold or where there was air before; and such liquid ends at it. */
static inline bool und_apart_comes(const und_apart_args *s, const int cell[3], size_t at)
{
    const und_mask *loose = &s->loose;
    float normal[3];
    if (s->distance[at] >= 0)
        return und_mask_has(loose, cell[0], cell[1], cell[2]) && und_apart_leaves(s, at, normal);
    if (und_apart_loose_beside(s, cell, at))
        return true;
    return und_apart_leaves(s, at, normal) &&
           (s->phi[at] >= 0 || und_apart_loose_before(s, cell, normal, 0) ||
            und_apart_loose_before(s, cell, normal, 0.5f));
}

/* Whether a cell in a solid was air. */
static inline bool und_apart_is_air(const und_apart_args *s, size_t at)
{
    return s->distance[at] < 0 && s->phi[at] >= 0;
}

static inline void und_apart_row(const und_apart_args *s, und_place p)
{
    const float deepest = -2, furthest = 1.5f; /* cells */
    uint64_t *apart = und_mask_row(&s->apart, p.y, p.z);
    __builtin_memset(apart, 0, (size_t)s->apart.words * sizeof *apart);
    const und_span span = und_mac_span(&s->mac, p.y, p.z);
    for (int x = span.begin; x < span.end; x++) {
        const size_t at = p.at + (size_t)x;
        const float wall = s->distance[at];
        if (!(wall < furthest && wall > deepest) || !s->separate || s->separate[s->owner[at]] == s->never ||
            !(s->again ? und_apart_is_air(s, at) : und_apart_comes(s, (const int[3]){x, p.y, p.z}, at)))
            continue;
        if (wall < 0)
            apart[(x + 1) >> 6] |= UINT64_C(1) << ((x + 1) & 63);
        if (s->phi[at] < -wall) {
            s->phi[at] = -wall;
            und_shared_set(s->changed, 1);
        }
    }
}
UND_KERNEL(und_apart_row, und_apart_args, UND_EACH_ROW)

/* Cells in solids that came apart are air still, whatever was carried there from further on in the solid. */
typedef struct und_apart_stay_args {
    float *phi;
    const float *distance;
} und_apart_stay_args;

UND_INLINE void und_apart_stay(const und_apart_stay_args *a, und_place p)
{
    const und_lanes phi = und_lanes_load(a->phi + p.at), out = -und_lanes_load(a->distance + p.at);
    und_lanes_store_some(a->phi + p.at, und_lanes_max(phi, out), p.which);
}
UND_KERNEL(und_apart_stay, und_apart_stay_args, UND_EACH_CELL)

#endif
