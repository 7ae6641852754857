/* The pressure of a liquid with cut cells: a system on a staggered grid whose sides have weights of their
 * own, by conjugate gradients preconditioned by multigrid. */
#ifndef UND_SOLVE_PRESSURE_H
#define UND_SOLVE_PRESSURE_H

#include "base/scratch.h"
#include "grid/pass.h"

typedef struct und_pressure und_pressure;

/* What it needs while it is set, `scratch` lends, until und_pressure_done; NULL: it has memory of its own. */
und_pressure *und_pressure_create(const und_mac *mac, int threads, und_scratch *scratch, und_error *err);
/* Who has slices of the grid beside these: solving asks of them what it needs.  Setting needs all of the grid
 * at each, and asks for that. */
void und_pressure_share(und_pressure *s, const und_device *device); /* its halo and its card */
void und_pressure_destroy(und_pressure *pressure);
/* Arrays are of another window of the same grid from now on; where memory does not suffice all stays as it
 * was.  What is solved, and every bit of it, does not depend on the window: levels and the order of sums are
 * the whole grid's, of which only what is around the window is stored. */
und_status und_pressure_window(und_pressure *pressure, const und_mac *mac, und_error *err);

/* For each cell i of `unknown` (cells inside the domain)
 *     sum over its six sides of weight (x_i - x_n), where n is unknown too, + known_i x_i = b_i
 * weight[axis] is of a cell's high side, 0 or above; it is read only between two unknown cells; 1 is a side
 * that is wholly open, and NULL: all are.  known[] is 0 or above: weights of sides to cells whose x is 0, or
 * any other addition to the diagonal.  Arrays are laid out as the grid.  Allocates nothing; copies what it
 * needs. */
void und_pressure_set(und_pressure *pressure, const und_mask *unknown, const float *const weight[3],
                      float *known);

/* What has been set is no longer needed. */
void und_pressure_done(und_pressure *pressure);

typedef struct und_pressure_report {
    int iterations;
    double residual; /* the largest |b - A x| that is left, over the largest |b|: true, not a recurrence's */
    bool converged;
    int closed;   /* parts of the liquid without any known side */
    double unfit; /* the largest mean of b that was taken out of one of them, over the largest |b| */
} und_pressure_report;

/* Solves from x = 0, or from the x given where `warm`, until the largest residual is below tolerance times
 * the largest |b|.  Parts that nothing known touches have their mean taken out of b, and of x.  x of cells
 * that are not unknown is not touched, nor is any where b is no number.  x is double: a float under 128 cells
 * of water leaves 5e-5 of b by its rounding alone.  The same bits at any thread count. */
und_pressure_report und_pressure_solve(und_pressure *pressure, const float *b, double *x, bool warm,
                                       double tolerance, int max_iterations);

/* The same where x times `unit` is what the system is of. */
und_pressure_report und_pressure_solve_in(und_pressure *pressure, const float *b, double *x, double unit,
                                          bool warm, double tolerance, int max_iterations);

/* After a solve: x of parts that nothing known touches, which is known but for a constant, is all above 0,
 * the least as much as it differs there. */
void und_pressure_lift(und_pressure *pressure, double *x);

/* z = M r, the preconditioner alone: one V-cycle, symmetric and positive definite. */
void und_pressure_precondition(und_pressure *pressure, const double *r, double *z);

#endif
