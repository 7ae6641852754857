/* Many symmetric tridiagonal systems side by side, one per lane, so that the recurrence runs down memory
 * while the lanes fill vectors.  Row i of each system is
 *
 *     (1 + low + high) x[i] - low x[i-1] - high x[i+1] = rhs
 *
 * with low and high the couplings to the neighbours, as in Kass & Miller 1990, eqs 15 and 16.  At an end the
 * outer coupling only adds to the diagonal: its neighbour is held at zero. */
#ifndef UND_SOLVE_TRIDIAG_KERNEL_H
#define UND_SOLVE_TRIDIAG_KERNEL_H

#include "base/parallel.h"

/* Eliminates x[i-1]: leaves x[i] = x + c x[i+1].  x_low and c_low are the row before's (zeros for the first).
 */
static inline void und_tridiag_forward(int lanes, const float *restrict low, const float *restrict high,
                                       const float *restrict rhs, const float *restrict c_low,
                                       const float *restrict x_low, float *restrict c, float *restrict x)
{
    SIMD
    for (int l = 0; l < lanes; l++) {
        float scale = 1.0f / (1.0f + low[l] * (1.0f - c_low[l]) + high[l]);
        c[l] = high[l] * scale;
        x[l] = (rhs[l] + low[l] * x_low[l]) * scale;
    }
}

/* Puts the row after's solution in. */
static inline void und_tridiag_back(int lanes, const float *restrict c, const float *restrict x_high,
                                    float *restrict x)
{
    SIMD
    for (int l = 0; l < lanes; l++)
        x[l] += c[l] * x_high[l];
}

#endif
