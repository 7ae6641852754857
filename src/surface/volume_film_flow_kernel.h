/* How walls slow films down. */
#ifndef UND_SURFACE_VOLUME_FILM_FLOW_KERNEL_H
#define UND_SURFACE_VOLUME_FILM_FLOW_KERNEL_H

#include "base/lanes.h"

#include <stddef.h>

/* Of und_volume_films what kernels know. */
typedef struct und_volume_film_flow {
    float *u[3];
    double dt, dx, gravity[3], pull, viscosity, least_viscosity;
    const float *viscosities;
    float contact;
} und_volume_film_flow;

/* 1/s: by so much walls slow down what is so many cells thick and goes at so many m/s. */
static inline double und_volume_drag(const und_volume_film_flow *f, size_t at, double thick, double speed)
{
    const double given = f->viscosities ? (double)f->viscosities[at] : f->viscosity;
    const double nu = und_double_max(given, f->least_viscosity), h = und_double_max(thick, 1e-3) * f->dx;
    const double reynolds = und_double_max(speed * h / nu, 1);
    return und_double_max(3 * nu / (h * h), 0.028 / __builtin_sqrt(__builtin_sqrt(reynolds)) * speed / h);
}

#endif
