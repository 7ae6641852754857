/* Liquid comes off solids: Rasmussen et al. 2004, 5.5.2.
 *
 * Behind liquid that leaves a solid there is air, in the solid, so that the flow draws it out between them.
 * The paper asks how the flow leaves; here the pressure has been asked before whether the solid holds it
 * (solids.loose), or flow that turns away from a wall below the surface would leave air there. */
#include "flow/mac_flow_parts.h"
#include "liquid/levelset_apart_kernel.h"
#include "liquid/levelset_state.h"

/* Cells at solids that let go come apart from them, or those that were air are it still: whether phi changed.
 */
static bool mark(und_levelset *s, bool again)
{
    int32_t changed = 0;
    const und_solids *solids = &s->solids;
    const und_apart_args args = {.mac = s->mac,
                                 .phi = s->surface.phi,
                                 .distance = solids->distance,
                                 .u = {s->flow.u[0], s->flow.u[1], s->flow.u[2]},
                                 .solid_u = {solids->u[0], solids->u[1], solids->u[2]},
                                 .per_speed = (float)(s->dt / s->def.dx),
                                 .owner = solids->owner,
                                 .separate = solids->separate,
                                 .never = UND_SEPARATE_NEVER,
                                 .again = again,
                                 .loose = solids->loose,
                                 .apart = solids->apart,
                                 .changed = &changed};
    const und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    und_pass(&s->device, und_apart_row, &args, &rows);
    return changed;
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
    if (mark(s, false))
        und_distance_refresh(&s->surface);
}

static void stay_apart(und_levelset *s)
{
    const und_apart_stay_args args = {s->surface.phi, s->solids.distance};
    const und_set cells = und_set_cells(&s->mac, UND_ROWS_INSIDE, &s->solids.apart);
    und_pass(&s->device, und_apart_stay, &args, &cells);
}

void und_levelset_into_solids(und_levelset *s, bool moved)
{
    const bool some = s->solids.separate;
    if (some && moved)
        mark(s, true); /* what came off is off still */
    else if (some)
        stay_apart(s);
    und_distance_into_solids_but(&s->surface, s->solids.distance, some ? &s->solids.apart : NULL,
                                 !s->solids.push[0]);
}
