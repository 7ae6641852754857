/* Gaps between liquid and a wall that close within a step.
 *
 * Beyond the surface the flow is only carried on, so what comes into such a gap may be more than it has room
 * for, and would be pressed out again in the next step.  Cells at walls that the flow is about to overfill
 * count as liquid while the pressure is found, as films do, and take in just what they have room for. */
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

static const float FURTHEST = 1;      /* cells: phi of cells that the surface may come to */
static const float DEEP = -0.5f;      /* cells: phi beside them; of thinner liquid there may be too little */
static const float LEAST_ROOM = 0.1f; /* of a cell */
static const float MARGIN = 0.05f;    /* of a cell: so much more than there is room for */

/* What would flow into a cell in the step, of a cell; 0 where no wall stops it, or none of it comes from the
 * liquid. */
static float inflow(const und_levelset *s, size_t at)
{
    const und_mac *m = &s->mac;
    const float per = (float)(s->dt / s->def.dx);
    float sum = 0;
    bool wet = false, wall = false;
    for (int way = 0; way < (m->n[2] > 1 ? 6 : 4); way++) {
        const int a = way / 2;
        const size_t step = (size_t)m->step[a], face = way % 2 ? at : at - step,
                     next = way % 2 ? at + step : at - step;
        wall = wall || s->solids.open[a][face] < 0.5f;
        if (!und_levelset_volumes(s)->parts->inside[next])
            continue; /* nothing comes in by a side */
        const float u = s->flow.u[a][face] + (float)(s->def.gravity[a] * s->dt);
        const float in = (way % 2 ? -u : u) * per * s->solids.open[a][face];
        wet = wet || (in > 0 && s->surface.phi[next] < DEEP);
        sum += in;
    }
    return wet && wall ? sum : 0;
}

void und_levelset_closing_find(und_levelset *s, const und_volume_walls *walls)
{
    const und_mac *m = &s->mac;
    const und_volume *v = und_levelset_volumes(s);
    const float *phi = s->surface.phi;
    s->closing_count = 0;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (size_t at = und_mac_row(m, row), end = at + (size_t)m->n[0]; at < end; at++) {
            if (!(phi[at] >= 0 && phi[at] < FURTHEST))
                continue;
            const float room = und_volume_room(walls, at), space = room - und_volume_cells(v->c[at]);
            if (room > LEAST_ROOM && space > 0 && v->parts->own[at] && inflow(s, at) > space + MARGIN)
                s->closing[s->closing_count++] = (int32_t)at;
        }
}

void und_levelset_closing_gain(const und_levelset *s, const und_volume_walls *walls, float *gain)
{
    for (int i = 0; i < s->closing_count; i++) {
        const size_t at = (size_t)s->closing[i];
        gain[at] -= und_volume_room(walls, at) - und_volume_cells(und_levelset_volume_cells(s)[at]);
    }
}
