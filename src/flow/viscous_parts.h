/* What the files of the viscous step share. */
#ifndef UND_FLOW_VISCOUS_PARTS_H
#define UND_FLOW_VISCOUS_PARTS_H

#include "flow/viscous.h"
#include "flow/viscous_kernel.h"

struct und_viscous {
    und_mac mac;
    und_device device;
    int axes; /* of the grid: 2 or 3 */
    bool coupled;
    float own_share;     /* of shear stress that a component's own derivative bears in the split solver */
    und_mask unknown[3]; /* faces */
    uint8_t *kind[3];
    float *inverse; /* of the viscosity; negative where there is no liquid */
    float *cell;    /* 2 nu dt / dx^2 times the cell's part of liquid */
    /* Of edges, at the cell whose high sides along two axes meet there; by the third axis.  The stress on it
     * times its root is the sum over both components of edge[..] times the difference across; [0] for the
     * component with the lower number. */
    float *edge[3][2];
    float *mass[3];
    float *base[3];           /* the velocity before forces acted; NULL where coupled, which needs it not */
    float *weight[3], *known; /* of the preconditioner's system, while it is set */
    double *x[3], *r[3], *p[3], *q[3];
    und_pressure *level[3];
    double scale;   /* of level's weights */
    und_total *row; /* of passes that sum */
};

/* viscous_weights.c: everything down to `mass`. */
void und_viscous_set_weights(und_viscous *v, const und_viscous_flow *flow);
/* Faces of open sides have the velocity of the next ones inside. */
void und_viscous_follow_border(und_viscous *v, const und_viscous_flow *flow);

#endif
