/* Connected parts of unknown cells that no known one touches: there the pressure is only known but for a
 * constant, and a right-hand side with a mean has no answer. */
#ifndef UND_SOLVE_COMPONENTS_H
#define UND_SOLVE_COMPONENTS_H

#include "solve/components_kernel.h"
#include "solve/multigrid.h"

typedef struct und_components {
    und_device device;
    const und_level *level; /* whose cells they are */
    int per_row;            /* runs of a row at most */
    und_run *run;           /* of rows one behind the other */
    int32_t *first, *count; /* of each row: its first run, and how many it has */
    int32_t closed;         /* parts that no known cell touches */
    und_joining joining;    /* while they are found */
    und_set rows, once;
} und_components;

und_status und_components_open(und_components *components, und_device device, const und_level *level,
                               und_error *err);
void und_components_close(und_components *components);

/* Finds them: passes for when the level is set, one after the other. */
void und_components_passes(und_components *components, und_pass passes[UND_MULTIGRID_BESIDE]);

/* Takes their mean out of values (of both colours) in each closed part; gives the largest |mean|. */
double und_components_take_mean(und_components *components, double *const v[2]);

#endif
