/* A seven-point system on a grid, by conjugate gradients in double, preconditioned by multigrid in float:
 * what src/solve/poisson.h and src/solve/pressure.h have in common. */
#ifndef UND_SOLVE_SYSTEM_H
#define UND_SOLVE_SYSTEM_H

#include "grid/mac.h"
#include "solve/components.h"
#include "solve/multigrid.h"

/* Its axes may be in another order than the grid's: slices are along the longer of y and z where a grid is
 * flat.  r and x are double, and so is the system; directions need not be. */
typedef struct und_system {
    und_mac mac;
    ptrdiff_t step[3]; /* of the grid, along our axes */
    int axis[3];       /* ours: which of the grid's */
    int before[3];     /* cells that the finest level has before the grid's first, along our axes */
    und_multigrid m;
    und_components components;
    double *r[2], *x[2];
    float *p[2];
    int64_t *slice_bits;       /* of the largest |r|: ordered as the numbers are, with NaN above all */
    int64_t *slice_bits_b;     /* and of the largest |b| */
    int64_t *slice_bits_given; /* and where the surface or a wall is, of the x that was given */
    double unit;               /* while it is solved: of the grid's x, which times it is ours */
    const float *b;            /* and one of them */
    const double *b_double;
    double *grid;     /* the grid's x */
    und_set set;      /* the finest level's packs */
    double tolerance; /* of the largest |r| */
    struct und_iteration *now;
    double *tree; /* two of so many values, to sum those of slices in */
    int room;
} und_system;

/* What it needs between setting and und_system_done, `scratch` lends; NULL: it has memory of its own. */
und_status und_system_open(und_system *s, const und_mac *mac, int threads, und_scratch *scratch,
                           und_error *err);
void und_system_close(und_system *s);

/* Index in the grid's arrays of a cell of ours.  Levels and packs are the whole grid's, of which the arrays
 * may be a window: so the answer is the same whatever the window, and so is the order of its sums. */
static inline size_t und_system_at(const und_system *s, int x, int y, int z)
{
    return (size_t)((ptrdiff_t)s->mac.first + (x - s->before[0]) + (y - s->before[1]) * s->step[1] +
                    (z - s->before[2]) * s->step[2]);
}

/* Arrays as the grid lays them out, and along its axes: what is unknown; weights of high sides, in multiples
 * of the full one, read between unknown cells alone (NULL: all are 1); and of both sides to known cells along
 * each axis (NULL: there are none). */
typedef struct und_system_sides {
    const und_mask *unknown;
    const float *const *weight;
    const float *known[3];
} und_system_sides;

/* full[]: weights of sides that are wholly open. */
void und_system_set(und_system *s, const double full[3], const und_system_sides *sides);
/* What has been set is no longer needed: where it shares its scratch, before others take from that. */
void und_system_done(und_system *s);

typedef struct und_system_report {
    int iterations;
    double residual; /* the largest |b - A x| that is left: of the true residual, not of a recurrence */
    double largest;  /* the largest |b| */
    double unfit;    /* the largest |mean| taken out of b */
    bool converged;
} und_system_report;

/* Until the largest residual is below tolerance + relative times the largest |b|. */
/* As und_pressure_lift has it. */
void und_system_lift(und_system *s, double *x);

und_system_report und_system_solve(und_system *s, double *x, bool warm, double tolerance, double relative,
                                   int max_iterations);

/* z = M r, the preconditioner alone: one V-cycle, symmetric and positive definite. */
void und_system_precondition(und_system *s, const double *r, double *z);

#endif
