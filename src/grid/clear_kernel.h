/* Words that become 0. */
#ifndef UND_GRID_CLEAR_KERNEL_H
#define UND_GRID_CLEAR_KERNEL_H

#include "grid/pass.h"

typedef struct und_clear_args {
    uint64_t *at;
} und_clear_args;

UND_INLINE void und_clear(const und_clear_args *a, und_place p)
{
    for (int i = 0; i < p.x; i++)
        a->at[p.at + (size_t)i] = 0;
}
UND_KERNEL(und_clear, und_clear_args, UND_EACH_SOME)

#endif
