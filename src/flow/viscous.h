/* A viscosity that varies in space and time (Rasmussen et al. 2004, 5.1).
 *
 * Stresses are kept where differences of velocities fall: normal ones in the middle of a cell, shear ones on
 * its edges, each weighted by the liquid around it, so that the surface bears none (Batty & Bridson 2008).
 * With K u the force of them, both solvers find the change d of the velocity over dt from
 *     (M + dt L) d = -dt K u
 * where M is the liquid's part around each face.  Coupled: L is K itself, all of the stress is implicit.
 * Split (equations 8 to 16): L has each component's own derivatives alone, the others are taken from the u
 * before forces acted, that is explicitly; what forces added is in d.  As K and L are made of the same
 * viscosities in the same places, a motion without strain is without force, and K <= 2 L whatever the
 * viscosities are: nothing grows. */
#ifndef UND_FLOW_VISCOUS_H
#define UND_FLOW_VISCOUS_H

#include "flow/mac_flow.h"

typedef struct und_viscous und_viscous;

und_viscous *und_viscous_create(const und_mac *mac, bool coupled, int threads, und_error *err);
void und_viscous_share(und_viscous *v, const und_device *device); /* its halo and its card */
void und_viscous_destroy(und_viscous *v);

/* Before forces act on the flow: keeps what the split solver takes explicitly. */
void und_viscous_keep(und_viscous *v, const und_mac_flow *flow);

typedef struct und_viscous_flow {
    und_mac_flow *flow; /* labelled */
    const und_distance *surface;
    const und_solids *solids;
    const und_mask *held; /* cells whose faces' velocities are given; NULL: none */
    float *nu;            /* m2/s, of liquid cells */
    bool stick;           /* to solids and closed sides; false: slips along them */
    double dt;
    double tolerance; /* of the change of velocities: how far off it may be, as a part of its largest */
    int max_iterations;
} und_viscous_flow;

/* The flow after dt of viscosity.  The report's residual is in terms of the tolerance. */
und_mac_flow_report und_viscous_step(und_viscous *v, const und_viscous_flow *flow);

#endif
