/* A liquid's velocity and pressure on a staggered grid: the explicit momentum step, its boundaries, and
 * incompressibility, after Foster & Metaxas 1996, section 3. */
#ifndef UND_FLOW_MARKER_FLOW_H
#define UND_FLOW_MARKER_FLOW_H

#include "grid/pass.h"
#include "solve/poisson.h"

#include <undine/step.h>
#include <undine/walls.h>

/* Solid cells, and those of the layer beside the domain, are a wall: one of a list.  In two dimensions there
 * is no flow along z, and the walls there count as nothing: the layers beside hold no velocities. */
typedef struct und_marker_flow {
    und_mac mac;
    und_device device;
    uint8_t *label;  /* und_label of each cell; the layer beside is UND_CELL_SOLID */
    uint8_t *wall;   /* of a Solid cell: which of the walls */
    double *u[3];    /* velocity on high faces, m/s */
    double *next[3]; /* tentative velocity; swapped with u after the momentum step */
    double *p;       /* pressure over density, m2/s2; in Surface cells what presses on the surface */
    int wall_count;
    const und_wall_def *walls;
    int32_t *row_low, *row_high; /* per row: the liquid (Full or Surface) cells lie in [low, high) */
    long full, surface;          /* cells */
    bool sheds;     /* some inflow comes in at a slant: what its walls do depends on where there is air */
    double *shrink; /* per cell, 1/s: what Full cells are to lose of their volume; 0: they keep it (eq. 4) */
    struct und_marker_flow_parts
        *parts; /* lists of faces at walls, and what the stages need for themselves */
} und_marker_flow;

/* Arrays are zero, all cells Empty and those beside Solid with the wall of their side (0 to 5). */
und_status und_marker_flow_open(und_marker_flow *f, const und_mac *mac, const und_wall_def *walls,
                                int wall_count, int threads, und_error *err);
void und_marker_flow_close(und_marker_flow *f);

/* After `label` of Solid cells or `wall` changed, or u was filled from outside: finds the faces between walls
 * and the rest, and clears those inside walls until walls are set. */
void und_marker_flow_walls_changed(und_marker_flow *f);

/* After the trackers said which cells hold liquid (anything but Empty and Solid): which of them are Surface,
 * beside an Empty one, and which Full; counts them and finds the rows' ends.  Empty cells have no pressure.
 */
void und_marker_flow_label(und_marker_flow *f);

/* Velocities at walls (3.2.1, 3.2.2): across them, and inside them so that the differences along them come
 * out right.  Outflow faces take the velocity of the face before them unless `keep_outflow`. */
void und_marker_flow_set_walls(und_marker_flow *f, double time, bool keep_outflow);

/* Velocities of the open faces of Surface cells (3.2.3); over dt gravity acts on those that follow freely, as
 * where liquid hangs on a wall; 0: they stay.  Then of the Empty cells around, as far as markers and
 * differences see: the mean of what is known beside. */
void und_marker_flow_set_surface(und_marker_flow *f, const double gravity[3], double dt);

/* The rule for one Surface cell: bit 2 a of `open` is its low side along axis a, bit 2 a + 1 the high one;
 * low[a] and high[a] are the velocities there, d the cell's size. */
void und_marker_flow_open_faces(unsigned open, const double d[3], double low[3], double high[3]);

typedef struct und_momentum {
    double gravity[3]; /* m/s2 */
    double viscosity;  /* m2/s */
    double upwind;     /* 0 to 1 */
    bool plain;        /* equation 2 as printed */
} und_momentum;

/* The longest stable step, and what ruled it; INFINITY where nothing moves. */
double und_marker_flow_longest_step(const und_marker_flow *f, const und_momentum *m, double courant,
                                    und_step_limit *limit);

/* Equation 2 on every face between two liquid cells; u is the tentative velocity then, and walls are to be
 * set again. */
void und_marker_flow_momentum(und_marker_flow *f, const und_momentum *m, double dt);

typedef struct und_marker_flow_report {
    int iterations;
    double divergence; /* the largest left in a Full cell, 1/s */
    bool converged;
} und_marker_flow_report;

/* Equations 5 to 9, all red cells and then all black ones of a chess board, until the divergence is below
 * epsilon everywhere. */
und_marker_flow_report und_marker_flow_relax(und_marker_flow *f, double dt, double beta0, double epsilon,
                                             int max_sweeps);

/* The same equations as one system. */
und_marker_flow_report und_marker_flow_project(und_marker_flow *f, und_poisson *poisson, double dt,
                                               double epsilon, int max_iterations);

double und_marker_flow_divergence(const und_marker_flow *f); /* the largest in a Full cell, 1/s (eq. 5) */

/* How much of what flows through a face of a cell across `axis` is liquid, 0 to 1: what comes in, or what
 * leaves a Surface cell. */
typedef double und_wet_fn(void *context, const int cell[3], int axis, bool comes_in);

/* m3 that came in through inflow faces and left through these and outflow faces over dt, with the present
 * velocity; in a fixed order. */
void und_marker_flow_through(const und_marker_flow *f, double dt, und_wet_fn *wet, void *context, double *in,
                             double *out);

#endif
