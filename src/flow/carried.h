/* A value that the liquid carries with it, at the middles of cells, such as its temperature. */
#ifndef UND_FLOW_CARRIED_H
#define UND_FLOW_CARRIED_H

#include "flow/mac_flow.h"

typedef struct und_carried {
    und_mac mac;
    und_device device;
    float *value; /* all of it is state */
    float *next;
    und_mask known[2]; /* cells whose value is known, by turns */
    und_mask had; /* cells that may have another value than those that nothing was ever near; all, at first */
    float *own, *b; /* of the diffusion's system */
    double *x;
} und_carried;

/* Rows that the grid does not have are as if they had the value `outside`. */
und_status und_carried_open(und_carried *c, const und_mac *mac, float outside, int threads, und_error *err);
void und_carried_close(und_carried *c);

/* The value of the liquid (phi < 0) goes on into up to `layers` cells around it, each the mean of those known
 * beside it; then all moves with the flow u over a time in which a speed of 1 m/s crosses `cells_per_speed`
 * cells: MacCormack's rule, limited to the values around where a cell came from. */
void und_carried_move(und_carried *c, const float *phi, float *const u[3], double cells_per_speed,
                      und_trace_order trace, int layers);

/* What was known in the last move, before that. */
const und_mask *und_carried_known(const und_carried *c, int layers);

/* Slices beyond its own that phi is read in for that, beside those of layers. */
int und_carried_reach(int layers);

/* What a cell's side that is not open has: false where nothing passes it. */
typedef struct und_carried_wall {
    bool (*at)(void *context, const int cell[3], int axis, int side, double *value); /* side: 0 low, 1 high */
    void *context; /* at is called from one thread */
} und_carried_wall;

/* Implicit diffusion among the cells of `liquid` by `number` = diffusivity dt / dx^2; nothing passes the
 * surface.  wall may be NULL: nothing passes walls. */
und_mac_flow_report und_carried_diffuse(und_carried *c, const und_mask *liquid, const und_solids *solids,
                                        und_pressure *system, double number, const und_carried_wall *wall,
                                        double tolerance, int max_iterations);

#endif
