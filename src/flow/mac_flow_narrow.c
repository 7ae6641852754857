/* What liquid takes along from where solids leave it little room.
 *
 * Through a gap of a fiftieth of a cell it goes fifty times as fast as through the cells behind, and a face
 * there has a fiftieth of their momentum.  Carried along as it is that speed would fill whole faces: each
 * step would pump more through the gap, without end. */
#include "flow/mac_flow_narrow_kernel.h"
#include "flow/mac_flow_parts.h"

void und_mac_flow_bound_narrow(und_mac_flow *s, const und_solids *solids, int reach, double cells_per_speed)
{
    const double least = 0.25; /* cells that it crosses in the step: films on walls that cut cells do less */
    und_narrow_args args = {.mac = s->mac, .reach = reach, .fast = (float)(least / cells_per_speed)};
    und_set faces[3];
    und_pass find[3], take[3];
    const und_step steps[2] = {{.passes = find, .count = 3}, {.passes = take, .count = 3}};
    und_mac_flow_get(s, UND_GET_U, reach + 1);
    und_mac_flow_take_next(s);
    for (int a = 0; a < 3; a++) {
        args.open[a] = solids->open[a];
        args.u[a] = s->u[a];
        args.next[a] = s->next[a];
        args.gained[a] = s->gained[a];
        args.latest[a] = s->latest[a];
        faces[a] = und_set_cells(&s->mac, UND_ROWS_INSIDE, &s->flows[a]);
        find[a] = UND_PASS_AXIS(und_narrow_bound, a, &args, &faces[a]);
        take[a] = UND_PASS_AXIS(und_narrow_take, a, &args, &faces[a]);
    }
    und_pass_steps(&s->device, steps, 2);
    und_mac_flow_give_back(s, &s->next[0]);
}

void und_mac_flow_ease_surface(und_mac_flow *s, const und_distance *d, const und_solids *solids)
{
    und_narrow_surface_args args = {.mac = s->mac, .phi = d->phi};
    und_set faces[3];
    und_pass passes[3];
    und_distance_get_phi(d, 1);
    for (int a = 0; a < 3; a++) {
        args.open[a] = solids->open[a];
        args.u[a] = s->u[a];
        faces[a] = und_set_cells(&s->mac, UND_ROWS_INSIDE, &s->flows[a]);
        passes[a] = UND_PASS_AXIS(und_narrow_surface, a, &args, &faces[a]);
    }
    und_pass_run(&s->device, passes, 3);
}
