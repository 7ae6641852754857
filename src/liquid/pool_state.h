/* What the files of the pool share among themselves. */
#ifndef UND_LIQUID_POOL_STATE_H
#define UND_LIQUID_POOL_STATE_H

#include "liquid/pool.h"

/* Raises a cell by `height` (m), or lowers it as far as there is water; "add or subtract the amounts from the
 * current and last values of h" (Kass & Miller 1990): motion stays.  Returns what was added. */
double und_pool_add_water(und_pool *p, size_t at, double height);

/* Enters what came (m3) or, below 0, went into the ledger. */
void und_pool_book(und_pool *p, double volume);

und_status und_pool_create_rain(und_pool *p, und_error *err);
void und_pool_flow_over_edges(und_pool *p, double dt);

#endif
