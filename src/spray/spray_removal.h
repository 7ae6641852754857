/* und_spray_remove as a step, for callers who have more to do in the same region. */
#ifndef UND_SPRAY_SPRAY_REMOVAL_H
#define UND_SPRAY_SPRAY_REMOVAL_H

#include "grid/pass.h"
#include "spray/spray.h"

typedef struct und_spray_removal {
    void *arrays[12];
    const int32_t *landed;
    int landed_count, count; /* drops before */
    und_set set;
    und_pass pass;
} und_spray_removal;
/* From now on the landed are not counted. */
und_step und_spray_remove_step(und_spray *spray, und_spray_removal *removal);

#endif
