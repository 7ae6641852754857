/* The cells model behind the liquid interface. */
#ifndef UND_LIQUID_CELLS_H
#define UND_LIQUID_CELLS_H

#include "liquid/liquid.h"

#include <undine/cells.h>

und_liquid *und_cells_liquid(und_cells *cells);
und_grid und_cells_grid(const und_cells_def *def);

/* The longest step, s, that the shortest waves of a height field allow; infinite where there are none. */
double und_cells_longest_swing(const und_cells_def *def);

#endif
