/* What acts alike everywhere. */
#ifndef UND_CONTROL_ELEMENTS_KERNEL_H
#define UND_CONTROL_ELEMENTS_KERNEL_H

#include "grid/pass.h"

typedef struct und_pull_args {
    float *u;
    float gain; /* m/s */
} und_pull_args;

/* Gravity (Wrenninge 2003, 4.4.4). */
UND_INLINE void und_pull(const und_pull_args *a, und_place p)
{
    und_lanes_store_some(a->u + p.at, und_lanes_load(a->u + p.at) + a->gain, p.which);
}
UND_KERNEL(und_pull, und_pull_args, UND_EACH_CELL)

#endif
