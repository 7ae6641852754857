/* The arithmetic of equation 2 of Foster & Metaxas 1996.
 *
 * Forward steps with central differences make waves grow as a viscosity below zero would: along an axis by
 * a d C / 2, a being the speed along it, d the cell's size and C the sum over all axes of the cells crossed
 * in a step; the cross terms are covered, for 2 a b x y <= a b (x^2 + y^2).  A flux gets that viscosity
 * where the liquid's own does not reach it, and no more: where it does, this is equation 2 as printed.  The
 * donor cell has a d / 2, so C is the share of it that stability asks for; a larger one may be wished. */
#ifndef UND_FLOW_MARKER_FLOW_MOMENTUM_KERNEL_H
#define UND_FLOW_MARKER_FLOW_MOMENTUM_KERNEL_H

#include <math.h>

/* Momentum through a point between two velocities at distance d, over d, four times: of the convection by the
 * mean of both as printed, and of the viscosity.  `speeds` is the sum of the two that carry it, `own` four
 * times nu / d, and `share` that of the donor cell's viscosity, |a| d / 2, which there shall be at least. */
static inline double und_flux4(double speeds, double low, double high, double share, double own)
{
    double least = fabs(speeds) * share;
    return speeds * (low + high) - (least > own ? least : own) * (high - low);
}

static inline double und_larger(double a, double b)
{
    return a > b ? a : b;
}
static inline float und_largest(float a, float b, float c, float d)
{
    float ab = a > b ? a : b, cd = c > d ? c : d;
    return ab > cd ? ab : cd;
}

#endif
