/* Many symmetric tridiagonal systems side by side, one per lane, so that the recurrence runs down memory
 * while the lanes fill vectors; or one alone.  Row i of each system is
 *
 *     (1 + low + high) x[i] - low x[i-1] - high x[i+1] = rhs
 *
 * with low and high the couplings to the neighbours, as in Kass & Miller 1990, eqs 15 and 16.  At an end the
 * outer coupling only adds to the diagonal: its neighbour is held at zero. */
#ifndef UND_SOLVE_TRIDIAG_KERNEL_H
#define UND_SOLVE_TRIDIAG_KERNEL_H

#include "base/lanes.h"

/* forward eliminates x[i-1] by the row before (zeros stand before the first), and leaves x[i] = x + c x[i+1];
 * back puts the row after's solution in. */
#define UND_TRIDIAG(real, row, forward, back)                         \
    typedef struct row {                                              \
        real c, x;                                                    \
    } row;                                                            \
    UND_INLINE row forward(real low, real high, real rhs, row before) \
    {                                                                 \
        const real scale = 1 / (1 + low * (1 - before.c) + high);     \
        return (row){high * scale, (rhs + low * before.x) * scale};   \
    }                                                                 \
    UND_INLINE real back(row own, real x_high)                        \
    {                                                                 \
        return own.x + own.c * x_high;                                \
    }
UND_TRIDIAG(und_lanes, und_tridiag_row, und_tridiag_forward, und_tridiag_back)
UND_TRIDIAG(float, und_tridiag_row_one, und_tridiag_forward_one, und_tridiag_back_one)

#endif
