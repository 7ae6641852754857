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

/* What its kernels are given. */
typedef struct und_components_args {
    const und_level *level;
    und_run *run;
    int32_t *first, *count; /* of each row: its first run, and how many it has */
    ptrdiff_t per_row;      /* at most */
    int32_t *closed;        /* parts that no known cell touches */
    double *v[2], *largest; /* values whose means are taken out; of these the largest */
} und_components_args;

typedef struct und_components {
    und_device device;
    const und_level *level; /* whose cells they are */
    int per_row;            /* runs of a row at most */
    und_run *run; /* of rows one behind the other, with room for all that a slab of slices may have */
    int32_t *first, *count; /* of each row: its first run, and how many it has */
    int32_t *counted;       /* parts that no known cell touches, as kernels found */
    int closed;             /* and once it has been asked for */
    double *largest;        /* mean that was taken out */
    und_set rows;           /* slices, and their rows */
    und_components_args args;
} und_components;

und_status und_components_open(und_components *components, und_device device, const und_level *level,
                               und_error *err);
void und_components_close(und_components *components);

/* Once the level is set: passes that find them, one after the other; how many. */
int und_components_find(und_components *components, und_pass passes[UND_MULTIGRID_BESIDE]);

/* Takes their mean out of values (of both colours) in each closed part; gives the largest |mean|. */
double und_components_take_mean(und_components *components, double *const v[2]);

/* Lifts x of the grid in each closed part, as und_pressure_lift has it; where the level's first cell is in
 * it. */
void und_components_lift(const und_components *components, double *x, ptrdiff_t first,
                         const ptrdiff_t step[3]);

#endif
