/* The water around a body on a height field: sums over wet cells beside its footprint, for the plane that
 * fits their levels best and the mean of how they move. */
#ifndef UND_LIQUID_RIM_H
#define UND_LIQUID_RIM_H

#include "geom/vec.h"

typedef struct und_rim {
    double n, x, z, xx, zz, h, hx, hz, rise, speed[2];
} und_rim;

/* A cell at u, v from the body's middle, its water h high, rising and moving so; m and m/s. */
static inline void und_rim_add(und_rim *r, double u, double v, double h, double rise, const double speed[2])
{
    r->n++;
    r->x += u;
    r->z += v;
    r->xx += u * u;
    r->zz += v * v;
    r->h += h;
    r->hx += h * u;
    r->hz += h * v;
    r->rise += rise;
    r->speed[0] += speed[0];
    r->speed[1] += speed[1];
}

/* The slopes of the plane, not steeper than that (a splash beside a body is no slope it could slide down),
 * and its level at the middle.  There must be cells. */
static inline double und_rim_fit(const und_rim *r, double steepest, double slope[2])
{
    double spread[2] = {r->xx - r->x * r->x / r->n, r->zz - r->z * r->z / r->n};
    double along[2] = {r->hx - r->x * r->h / r->n, r->hz - r->z * r->h / r->n};
    for (int i = 0; i < 2; i++)
        slope[i] = spread[i] > 0 ? und_larger(-steepest, und_smaller(along[i] / spread[i], steepest)) : 0;
    return (r->h - slope[0] * r->x - slope[1] * r->z) / r->n;
}

#endif
