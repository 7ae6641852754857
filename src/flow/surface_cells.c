/* Velocities at the free surface.  Foster & Metaxas 1996, section 3.2.3. */
#include "flow/marker_flow_surface_kernel.h"

void und_marker_flow_open_faces(unsigned open, const double d[3], double low[3], double high[3])
{
    und_surface_open_faces(open, d, low, high);
}

void und_marker_flow_set_surface(und_marker_flow *f, const double gravity[3], double dt)
{
    const und_set spans = und_marker_flow_spans(f);
    und_surface_args args = {.mac = f->mac,
                             .u = {f->u[0], f->u[1], f->u[2]},
                             .label = f->label,
                             .wall = f->wall,
                             .walls = f->walls};
    for (int a = 0; a < 3; a++) {
        args.pull[a] = gravity[a];
        args.fall[a] = gravity[a] * dt;
    }
    und_pass(&f->device, und_surface_set, &args, &spans);
    und_marker_flow_extend(f);
}
