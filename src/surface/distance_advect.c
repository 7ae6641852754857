/* The surface moves with the flow: phi is followed back along it.
 *
 * Linear interpolation takes from everything round what its chords cut off: a ball of 6 cells is half gone
 * after 20 cells.  So near the surface second differences along the axes are taken into account as a cubic
 * polynomial does it, limited where they jump: kinks stay kinks. */
#include "surface/distance_advect_kernel.h"
#include "surface/distance_parts.h"
#include "surface/distance_refresh_kernel.h"

/* What moves comes no further than two cells less than the width, to a place between two, with one more on
 * either side for second differences; what is thin is looked at from one more. */
static int reach_beyond(const und_distance *d)
{
    return d->width + 1;
}

void und_distance_advect(und_distance *d, float *const u[3], double cells_per_speed, und_trace_order trace)
{
    const und_distance_advect_args args = {.mac = d->mac,
                                           .phi = d->phi,
                                           .next = d->next,
                                           .u = {u[0], u[1], u[2]},
                                           .back = -(float)cells_per_speed,
                                           .third = trace == UND_TRACE_RK3};
    const und_distance_beside_args beside = {d->mac, d->next};
    const und_set band = und_set_cells(&d->mac, UND_ROWS_INSIDE, &d->band),
                  rows = und_set_rows(&d->mac, UND_ROWS_ALL);
    const und_pass passes[] = {UND_PASS(und_distance_follow, &args, &band),
                               UND_PASS(und_distance_beside_row, &beside, &rows)};
    und_distance_get_flow(d, u, reach_beyond(d));
    const und_step steps[] = {{.passes = &passes[0], .count = 1}, {.passes = &passes[1], .count = 1}};
    und_pass_steps(&d->device, steps, d->keeps_thin ? 2 : 1);
    float *phi = d->phi;
    d->phi = d->next;
    d->next = phi;
    if (d->keeps_thin)
        return;
    und_distance_draw_thin(d, u, cells_per_speed);
    und_distance_beside(d, d->phi);
}
