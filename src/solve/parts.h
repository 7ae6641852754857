/* Connected parts of unknown cells that no known one touches: there the pressure is only known but for a
 * constant, and a right-hand side with a mean has no answer. */
#ifndef UND_SOLVE_PARTS_H
#define UND_SOLVE_PARTS_H

#include "solve/multigrid.h"

/* Unknown cells of a row with ways from each to the next, and a node of the union-find forest of them. */
typedef struct und_run {
    int32_t begin, end; /* x */
    int32_t parent;
    int32_t open; /* of a root: some cell of the part has a known one beside it */
    double sum;
    double cells;
} und_run;

typedef struct und_parts {
    const und_level *level; /* whose cells they are */
    int per_row;            /* room for runs of a row */
    und_run *run;           /* per_row for each row */
    int32_t *count;         /* of each row */
    int closed;             /* parts that no known cell touches */
} und_parts;

und_status und_parts_open(und_parts *parts, const und_level *level, und_error *err);
void und_parts_close(und_parts *parts);
void und_parts_set(und_parts *parts); /* once the level is */

/* Takes their mean out of values (of both colours) in each closed part; gives the largest |mean|. */
double und_parts_take_mean(und_parts *parts, double *const v[2]);

#endif
