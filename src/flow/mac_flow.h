/* A liquid's velocity on a staggered grid, in steps longer than a cell's crossing: advection along the flow,
 * implicit diffusion, and a projection that sees the surface and the solids within cells (Wrenninge
 * 2003, 4.4.4 to 4.4.8). */
#ifndef UND_FLOW_MAC_FLOW_H
#define UND_FLOW_MAC_FLOW_H

#include "base/scratch.h"
#include "flow/solids.h"
#include "grid/pass.h"
#include "solve/pressure.h"
#include "surface/distance.h"

typedef struct und_mac_flow {
    und_mac mac;
    und_device device;
    int crosses;       /* cells that liquid comes in a step, at most: so far others' are asked for */
    float *u[3];       /* m/s, of high faces; those of the layer beside the domain included */
    float *next[3];    /* while a stage needs it: what u becomes */
    float *gained[3];  /* m/s: half of what forces and pressure gave in the step before, but for blows; NULL:
                          not kept */
    float *latest[3];  /* the same with blows, of faces that flow */
    double *p;         /* pressure over density, m2/s2 */
    und_mask liquid;   /* cells with phi < 0 and some face open */
    und_mask asked;    /* those whose pressure the last projection found: but held ones */
    und_mask flows[3]; /* faces that are not closed and touch a cell of the liquid: what advects, is forced
                          and projected */
    struct und_mac_flow_parts *parts;
} und_mac_flow;

/* What stages need for themselves alone, `scratch` lends; NULL: it has memory of its own. */
und_status und_mac_flow_open(und_mac_flow *s, const und_mac *mac, int threads, und_scratch *scratch,
                             und_error *err);
void und_mac_flow_close(und_mac_flow *s);

/* After u, or p, was written from outside, from a state too: what und_mac_flow_extend does not reach is
 * cleared by the next call of it. */
void und_mac_flow_restored(und_mac_flow *s);
/* The same for the high faces along the axis of `count` cells from (x, y, z) on; by any number of threads. */
void und_mac_flow_written(und_mac_flow *s, int axis, int x, int y, int z, int count);
const und_mask *und_mac_flow_written_faces(und_mac_flow *s); /* [3]: those that were, for whoever adds some */

/* Book keeping, 4.4.2: sets liquid and flows. */
void und_mac_flow_label(und_mac_flow *s, const und_distance *d, const und_solids *solids);

/* The same; and pressure is 0 where the liquid has been and is no longer near (phi is `width` or more): of
 * what is left behind nothing is known. */
void und_mac_flow_label_and_forget(und_mac_flow *s, const und_distance *d, const und_solids *solids);

/* The fastest that a face of the flow moves, m/s; infinite where one has no number.  And the same but for a
 * few, so small a part of them: at least the fastest over `times`, which are 1 or more, and in eight steps.
 */
double und_mac_flow_fastest(const und_mac_flow *s, double few, double times, double *usual);

typedef enum und_advection { UND_ADVECT_SEMI_LAGRANGIAN, UND_ADVECT_MACCORMACK } und_advection;

/* Before u is carried along, where solids leave less than a quarter of a face, and it crosses more than a
 * quarter of a cell: it is no faster there than in wider faces beside it, or up to `reach` cells away where
 * the gap ends.  What flows over faces in the step is known by then. */
void und_mac_flow_bound_narrow(und_mac_flow *s, const und_solids *solids, int reach, double cells_per_speed);

/* After what flows over faces has flowed, and before the surface moves: where the cell that it is in has less
 * than a quarter of the face towards the air, that is no faster than the surface. */
void und_mac_flow_ease_surface(und_mac_flow *s, const und_distance *d, const und_solids *solids);

/* Equation 3.2 on all faces of `flows`: u is to be known as far around them as the liquid comes in the step
 * (und_mac_flow_extend).  MacCormack's correction is limited to the values around where the face came from.
 */
void und_mac_flow_advect(und_mac_flow *s, double cells_per_speed, und_trace_order trace, und_advection rule);

/* Second order in time: forces and pressure act for half of the step where the liquid comes from and for half
 * where it goes to.  What they gave in the step before stands for the first half: it is carried along with u
 * and taken off where it arrives, since they act for the whole step there,
 *     u' = A(u + g/2) - g/2 + (forces and pressure),
 * which differs from A(u) by terms of second order alone, and where nothing moves not at all.  A turning body
 * loses 1 - cos(angle) of its spin in a step without this, the angle's fourth power over 24 with it. */
/* After und_mac_flow_open.  The velocity beyond the surface goes on as it changes inside, where the last two
 * changes agree, as a body that turns needs it; else it stays as it is. */
und_status und_mac_flow_keep_gained(und_mac_flow *s, bool goes_on, und_error *err);
void und_mac_flow_scale_gained(und_mac_flow *s,
                               double factor); /* to the next step's length; before advection */
/* Before und_mac_flow_extend, which finds what was gained and extends it too; held cells' faces gain nothing
 * (NULL: none are held).  What was gained differs from the step before by as much again, or by what is no
 * blow, m/s: more is left out. */
void und_mac_flow_find_gained(und_mac_flow *s, const und_mask *held, double sudden);

/* u is given to faces beyond `flows`, layer by layer, up to `layers` cells away: each the mean of those known
 * beside it; those further away are 0.  Then those in solids have the solids' velocity along the solid's
 * normal and keep their own across it; closed sides of the domain let nothing through, and what is beside the
 * domain has the velocity of the faces it touches. */
void und_mac_flow_extend(und_mac_flow *s, const und_solids *solids, int layers);

/* Equation 3.6: implicit diffusion over dt; the liquid slips along solids, or sticks to them. */
typedef struct und_mac_flow_report {
    int iterations;
    double residual;   /* over the right-hand side's largest */
    double divergence; /* the largest left in a cell, 1/s */
    bool converged;
    int closed; /* pockets that touch no air */
} und_mac_flow_report;

und_mac_flow_report und_mac_flow_diffuse(und_mac_flow *s, const und_solids *solids, und_pressure *system,
                                         double viscosity, bool stick, double dt, double tolerance,
                                         int max_iterations);

/* Friction of solids that have any: faces of the flow within half a cell of one go a part of the way to its
 * velocity, along it: the friction in 1/24 s, at once where that is 1; less up to a cell away. */
void und_mac_flow_rub(und_mac_flow *s, const und_solids *solids, double dt);

/* What a projection is made of. */
typedef struct und_mac_flow_projection {
    const und_distance *surface;
    und_solids *solids; /* where they may let go, solids->loose becomes what they do not hold in this step */
    double dt;          /* s: in which the pressure acts */
    double everywhere;  /* what the liquid gains in the step, as a part of its volume, */
    double time;        /* s: and in which it does; 0: dt */
    const float *grown; /* of each cell, besides; NULL: nothing */
    const und_step *growing; /* makes it, in one go with what needs it; NULL: it is there */
    int growing_steps;
    double pull;          /* m2/s2: pressure over density, so much below the air's, at which solids let go */
    bool keen;            /* the surface counts to a thousandth of a cell, not to a hundredth */
    const und_mask *held; /* cells whose faces' velocities are given, and are put back by who gives them;
                             NULL: none */
    double *pressure;     /* over density, m2/s2: of cells that are asked, from what is there on */
    double tolerance;
    int max_iterations;
} und_mac_flow_projection;

/* Equations 4.6 and 4.7 with cut cells and the surface's place within a cell (ghost fluid). */
und_mac_flow_report und_mac_flow_project(und_mac_flow *s, und_pressure *system,
                                         const und_mac_flow_projection *what);

/* Once more, of a flow that has been projected and other cells of which are liquid now: the pressures of both
 * together are the step's. */
und_mac_flow_report und_mac_flow_project_again(und_mac_flow *s, und_pressure *system,
                                               const und_mac_flow_projection *what);

/* The flow pushed for dt by a pressure that is known, over density, m2/s2: equation 4.7 alone.  keen: as it
 * was found where the gain was. */
void und_mac_flow_push(und_mac_flow *s, const und_distance *d, const double *pressure, double dt, bool keen);

/* After und_mac_flow_extend: the air within `reach` cells of the liquid keeps its volume too, by the same
 * projection, so that what is squeezed out between two surfaces, or at a wall, gets out of the way.  The
 * liquid's velocities are given; the pressure beyond the reach is 0 (Rasmussen et al. 2004, 5.2).  Air within
 * two cells of cells that are held (NULL: none) stays as it is: it would eat into what is put back there in
 * each step. */
und_mac_flow_report und_mac_flow_free_air(und_mac_flow *s, const und_distance *d, const und_solids *solids,
                                          und_pressure *system, const und_mask *held, float reach,
                                          double tolerance, int max_iterations);
/* Its velocity is as und_mac_flow_extend had it again: the liquid that comes there next is to bring its own
 * velocity, not to meet that of jets of air. */
void und_mac_flow_plain_air(und_mac_flow *s);

#endif
