/* The passes of multigrid's V-cycle: what src/solve/multigrid.c has for those that open and set its levels.
 */
#ifndef UND_SOLVE_MULTIGRID_CYCLE_H
#define UND_SOLVE_MULTIGRID_CYCLE_H

#include "solve/multigrid.h"

und_status und_multigrid_cycle_open(und_multigrid *m, und_error *err);
void und_multigrid_cycle_close(und_multigrid *m);
void und_multigrid_cycle_set(und_multigrid *m); /* once the levels are */
int und_multigrid_coarse(
    const und_multigrid *m); /* the first level that a card does at once with all others */

und_status und_multigrid_plan_open(und_multigrid *m, und_error *err); /* once they are open */
void und_multigrid_plan_close(und_multigrid *m);

#endif
