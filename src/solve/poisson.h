/* The pressure's system on a staggered grid, by conjugate gradients preconditioned by multigrid. */
#ifndef UND_SOLVE_POISSON_H
#define UND_SOLVE_POISSON_H

#include "grid/mac.h"

/* What a cell is to the system. */
enum { UND_POISSON_CLOSED, UND_POISSON_KNOWN, UND_POISSON_UNKNOWN };

typedef struct und_poisson und_poisson;

und_poisson *und_poisson_create(const und_mac *mac, int threads, und_error *err);
void und_poisson_destroy(und_poisson *poisson);

/* The cells of the system that follows, kind[] as the grid lays them out, the layer beside it included.  For
 * each unknown cell i
 *     sum over its six sides of weight[axis] (x_i - x_n) = b_i
 * where n is the cell at that side: an unknown one, a known one (x_n = 0), or a closed one, whose side is
 * left out.  Allocates nothing.  Converges fast where weights are as 1 / d^2 of the grid. */
void und_poisson_set(und_poisson *poisson, const uint8_t *kind, const double weight[3]);

typedef struct und_poisson_report {
    int iterations;
    double residual; /* the largest |b - A x| that is left: of the true residual, not of a recurrence */
    bool converged;
} und_poisson_report;

/* Solves from the x given (often 0) until the largest residual is below `tolerance`.  Parts of the liquid
 * that touch no known cell have their mean taken out of b, and of x.  The same bits at any thread count.  x
 * outside unknown cells is not touched. */
und_poisson_report und_poisson_solve(und_poisson *poisson, const double *b, double *x, double tolerance,
                                     int max_iterations);

/* z = M r, the preconditioner alone: one V-cycle, symmetric and positive definite. */
void und_poisson_precondition(und_poisson *poisson, const double *r, double *z);

#endif
