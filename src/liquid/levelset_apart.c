/* Liquid comes off solids: Rasmussen et al. 2004, 5.5.2.
 *
 * Behind liquid that leaves a solid there is air, in the solid, so that the flow draws it out between them.
 * The paper asks how the flow leaves; here the pressure has been asked before whether the solid holds it
 * (solids.loose), or flow that turns away from a wall below the surface would leave air there. */
#include "flow/mac_flow_parts.h"
#include "liquid/levelset_state.h"

#include <math.h>
#include <string.h>

static const float LEAVES = 0.1f; /* of the speed: along the normal */
static const float LEAST = 0.02f; /* cells in a step: what is slower is at rest */

/* The velocity in the middle of a cell. */
static float middle(const und_mac *m, float *const u[3], int axis, size_t at)
{
    return 0.5f * (u[axis][at] + u[axis][at - (size_t)m->step[axis]]);
}

/* Whether the cell so far in front of the solid that a cell is in is not held by it. */
static bool loose_before(const und_levelset *s, const int cell[3], const float normal[3], float before)
{
    const und_mac *m = &s->mac;
    const float out = before - s->solids.distance[und_mac_at(m, cell[0], cell[1], cell[2])];
    int front[3];
    for (int a = 0; a < 3; a++) {
        front[a] = (int)floorf((float)cell[a] + 0.5f + out * normal[a]);
        if (front[a] < 0 || front[a] >= m->n[a])
            return false;
    }
    return und_mask_has(&s->solids.loose, front[0], front[1], front[2]);
}

/* Whether the flow in a cell at or in a solid leaves that, and the solid's normal. */
static bool leaves(const und_levelset *s, size_t at, float normal[3])
{
    const und_mac *m = &s->mac;
    const und_solids *solids = &s->solids;
    float square = 1e-12f, along = 0, speed = 0;
    for (int a = 0; a < 3; a++) {
        const size_t step = (size_t)m->step[a];
        normal[a] = m->n[a] > 1 ? solids->distance[at + step] - solids->distance[at - step] : 0;
        square += normal[a] * normal[a];
    }
    for (int a = 0; a < 3; a++) {
        float way = m->n[a] > 1 ? middle(m, s->flow.u, a, at) - middle(m, solids->u, a, at) : 0;
        normal[a] /= sqrtf(square);
        along += way * normal[a];
        speed += way * way;
    }
    return along > LEAVES * sqrtf(speed) && along * (float)(s->dt / s->def.dx) > LEAST;
}

/* Whether a cell beside this one, which is in a solid, is not held by it, and the flow goes that way. */
static bool loose_beside(const und_levelset *s, const int cell[3], size_t at)
{
    const und_mac *m = &s->mac;
    for (int i = 0; i < (m->n[2] > 1 ? 6 : 4); i++) {
        const int a = i / 2, way = i % 2 ? 1 : -1;
        const size_t next = i % 2 ? at + (size_t)m->step[a] : at - (size_t)m->step[a];
        int beside[3] = {cell[0], cell[1], cell[2]};
        beside[a] += way;
        if (s->solids.distance[next] >= 0 &&
            und_mask_has(&s->solids.loose, beside[0], beside[1], beside[2]) &&
            (float)way * (middle(m, s->flow.u, a, next) - middle(m, s->solids.u, a, next)) > 0)
            return true;
    }
    return false;
}

/* Air there is as far from the liquid as the solid's surface: in the solid, behind liquid that it does not
 * hold or where there was air before; and such liquid ends at it. */
static bool comes_apart(const und_levelset *s, const int cell[3], size_t at)
{
    const und_mask *loose = &s->solids.loose;
    float normal[3];
    if (s->solids.distance[at] >= 0)
        return und_mask_has(loose, cell[0], cell[1], cell[2]) && leaves(s, at, normal);
    if (loose_beside(s, cell, at))
        return true;
    return leaves(s, at, normal) && (s->surface.phi[at] >= 0 || loose_before(s, cell, normal, 0) ||
                                     loose_before(s, cell, normal, 0.5f));
}

typedef bool apart_fn(const und_levelset *s, const int cell[3], size_t at);

typedef struct apart_args {
    const und_levelset *s;
    apart_fn *fn;
    int *changed; /* whether phi did */
} apart_args;

static inline void mark_row(const apart_args *a, und_place p)
{
    const float deepest = -2, furthest = 1.5f; /* cells */
    const und_levelset *s = a->s;
    const und_mask *apart = &s->solids.apart;
    memset(und_mask_row(apart, p.y, p.z), 0, (size_t)apart->words * sizeof *apart->bits);
    const und_span span = und_mac_span(&s->mac, p.y, p.z);
    for (int x = span.begin; x < span.end; x++) {
        const size_t at = p.at + (size_t)x;
        const float wall = s->solids.distance[at];
        if (!(wall < furthest && wall > deepest) || !und_solids_lets_go(&s->solids, s->solids.owner[at]) ||
            !a->fn(s, (const int[3]){x, p.y, p.z}, at))
            continue;
        if (wall < 0)
            und_mask_row(apart, p.y, p.z)[(x + 1) >> 6] |= UINT64_C(1) << ((x + 1) & 63);
        if (s->surface.phi[at] < -wall) {
            s->surface.phi[at] = -wall;
            __atomic_store_n(a->changed, 1, __ATOMIC_RELAXED);
        }
    }
}
UND_KERNEL(mark_row, apart_args, UND_EACH_ROW)

/* Cells at solids that let go, of which fn says so, come apart from them: whether phi changed. */
static bool mark(und_levelset *s, apart_fn *fn)
{
    int changed = 0;
    const apart_args args = {s, fn, &changed};
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    und_pass(&s->device, mark_row, &args, &rows);
    return changed;
}

static bool is_air(const und_levelset *s, const int cell[3], size_t at)
{
    (void)cell;
    return s->solids.distance[at] < 0 && s->surface.phi[at] >= 0;
}

/* What is before cells that deep in a solid, and the flow beside them. */
static void get_before(const und_levelset *s)
{
    enum { BEFORE = 3, BESIDE = 2 };
    const und_halo_field loose = und_halo_of_mask(&s->mac, &s->solids.loose, BEFORE);
    und_halo_get(s->device.halo, &loose, 1);
    und_mac_flow_get(&s->flow, UND_GET_U, BESIDE);
}

void und_levelset_come_apart(und_levelset *s)
{
    if (!s->solids.separate)
        return;
    get_before(s);
    if (mark(s, comes_apart))
        und_distance_refresh(&s->surface);
}

/* Cells in solids that came apart are air still, whatever was carried there from further on in the solid. */
typedef struct stay_args {
    float *phi;
    const float *distance;
} stay_args;

UND_INLINE void stay(const stay_args *a, und_place p)
{
    const und_lanes phi = und_lanes_load(a->phi + p.at), out = -und_lanes_load(a->distance + p.at);
    und_lanes_store_some(a->phi + p.at, und_lanes_max(phi, out), p.which);
}
UND_KERNEL(stay, stay_args, UND_EACH_CELL)

static void stay_apart(und_levelset *s)
{
    const stay_args args = {s->surface.phi, s->solids.distance};
    const und_set cells = und_set_cells(&s->mac, UND_ROWS_INSIDE, &s->solids.apart);
    und_pass(&s->device, stay, &args, &cells);
}

void und_levelset_into_solids(und_levelset *s, bool moved)
{
    const bool some = s->solids.separate;
    if (some && moved)
        mark(s, is_air); /* what came off is off still */
    else if (some)
        stay_apart(s);
    und_distance_into_solids_but(&s->surface, s->solids.distance, some ? &s->solids.apart : NULL,
                                 !s->solids.push[0]);
}
