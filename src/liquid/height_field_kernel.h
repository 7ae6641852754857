/* Cell arithmetic of what height fields share. */
#ifndef UND_LIQUID_HEIGHT_FIELD_KERNEL_H
#define UND_LIQUID_HEIGHT_FIELD_KERNEL_H

#include "grid/reduce.h"

typedef struct und_height_field_depth_args {
    const double *water;
    const float *floor; /* und_height_field */
} und_height_field_depth_args;

UND_INLINE und_totals und_height_field_depths(const und_height_field_depth_args *a, und_place p)
{
    und_doubles depth = und_doubles_load(a->water + p.at);
    if (a->floor)
        depth -= und_doubles_of(und_doubles_floats_load(a->floor + p.at));
    return (und_totals){.sum = depth};
}
UND_KERNEL_SUM(und_height_field_depths, und_height_field_depth_args)

#endif
