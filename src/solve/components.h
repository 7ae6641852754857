/* Connected parts of unknown cells that no known one touches: there the pressure is only known but for a
 * constant, and a right-hand side with a mean has no answer. */
#ifndef UND_SOLVE_COMPONENTS_H
#define UND_SOLVE_COMPONENTS_H

#include "solve/multigrid.h"

/* Unknown cells of a row with ways from each to the next, and a node of the union-find forest of them. */
typedef struct und_run {
    int32_t begin, end; /* x */
    int32_t parent;
    int32_t open;      /* of a root: some cell of the part has a known one beside it */
    double sum, cells; /* or the least and the most, in und_system_lift */
} und_run;

typedef struct und_components {
    und_device device;
    const und_level *level; /* whose cells they are */
    int per_row;            /* runs of a row at most */
    und_run *run; /* of rows one behind the other, with room for all that a slab of slices may have */
    int32_t *first, *count; /* of each row: its first run, and how many it has */
    int closed;             /* parts that no known cell touches */
} und_components;

und_status und_components_open(und_components *components, und_device device, const und_level *level,
                               und_error *err);
void und_components_close(und_components *components);

/* Once the level is set: finds them in slabs of slices; then, in one block, joins these.  The passes'
 * arguments are a pointer to the components. */
extern const und_kernel und_components_find, und_components_join;
und_set und_components_slabs(const und_components *components);

/* Takes their mean out of values (of both colours) in each closed part; gives the largest |mean|. */
double und_components_take_mean(und_components *components, double *const v[2]);

#endif
