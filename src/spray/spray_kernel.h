/* What kernels know of drops. */
#ifndef UND_SPRAY_SPRAY_KERNEL_H
#define UND_SPRAY_SPRAY_KERNEL_H

#include "base/lanes.h"

#define UND_SPRAY_FASTEST 1e4  /* m/s; beyond it a float no longer knows where a drop is after a second */
#define UND_SPRAY_FARTHEST 1e6 /* m */

static inline double und_spray_volume(float radius) /* m3 of one drop */
{
    double r = (double)radius;
    return 4.0 / 3.0 * 3.14159265358979323846 * r * r * r;
}

#endif
