/* Friction of solids (Rasmussen et al. 2004, 5.5.1).  There the velocity in the solid is what rubs, by being
 * followed and interpolated; along a wall that lies with the grid nothing is, so that the faces beside it are
 * dragged as well. */
#include "base/maths.h"
#include "flow/mac_flow_parts.h"
#include "flow/mac_flow_rub_kernel.h"

#define FRAME (1.0 / 24) /* s: in which the part of the way is gone, as with modifiers */

void und_mac_flow_rub(und_mac_flow *s, const und_solids *solids, double dt)
{
    const int axes = s->mac.n[2] > 1 ? 3 : 2;
    und_rub_args args = {
        .mac = s->mac, .distance = solids->distance, .owner = solids->owner, .gone = solids->gone};
    und_set faces[3];
    und_pass find[3], take[3];
    const und_step steps[2] = {{.passes = find, .count = axes}, {.passes = take, .count = axes}};
    if (!solids->friction)
        return;
    for (int i = 0; i < solids->count; i++)
        solids->gone[i] = (float)(1 - und_pow(1 - (double)solids->friction[i], dt / FRAME));
    und_mac_flow_get(s, UND_GET_U, 1);
    und_mac_flow_take_next(s);
    for (int a = 0; a < 3; a++) {
        args.u[a] = s->u[a];
        args.next[a] = s->next[a];
        args.solid_u[a] = solids->u[a];
        faces[a] = und_set_cells(&s->mac, UND_ROWS_INSIDE, &s->flows[a]);
        find[a] = UND_PASS_AXIS(und_rub_find, a, &args, &faces[a]);
        take[a] = UND_PASS_AXIS(und_rub_take, a, &args, &faces[a]);
    }
    und_pass_steps(&s->device, steps, 2);
    und_mac_flow_give_back(s, &s->next[0]);
}
