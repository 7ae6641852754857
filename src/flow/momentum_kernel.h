/* The arithmetic of equation 2 of Foster & Metaxas 1996.
 *
 * Forward steps with central differences make waves grow as a viscosity below zero would: along an axis by
 * a d C / 2, a being the speed along it, d the cell's size and C the sum over all axes of the cells crossed
 * in a step; the cross terms are covered, for 2 a b x y <= a b (x^2 + y^2).  A flux gets that viscosity
 * where the liquid's own does not reach it, and no more: where it does, this is equation 2 as printed. */
#ifndef UND_FLOW_MOMENTUM_KERNEL_H
#define UND_FLOW_MOMENTUM_KERNEL_H

#include <math.h>

/* Momentum through a point between two velocities at distance d, over d: of the convection by the mean of
 * both as printed, and of the viscosity.  `own` is nu / d, `upwind` the donor-cell share on top; all that is
 * added amounts to the donor cell's at most. */
static inline double und_flux(double speed, double low, double high, double courant, double own,
                              double upwind)
{
    double donor = 0.5 * fabs(speed), needed = donor * courant;
    double rate = (needed > own ? needed : own) + upwind * donor, limit = donor + own;
    rate = rate < limit ? rate : limit;
    return speed * (0.5 * (low + high)) - rate * (high - low);
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
