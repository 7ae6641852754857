/* The cells model behind the liquid interface. */
#ifndef UND_LIQUID_CELLS_H
#define UND_LIQUID_CELLS_H

#include "liquid/liquid.h"

#include <undine/cells.h>

und_liquid *und_cells_liquid(und_cells *cells);
und_grid und_cells_grid(const und_cells_def *def);

#endif
