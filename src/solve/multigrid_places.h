/* Where the packs of multigrid's levels stand: what src/solve/multigrid_levels.c sets levels with. */
#ifndef UND_SOLVE_MULTIGRID_PLACES_H
#define UND_SOLVE_MULTIGRID_PLACES_H

#include "solve/multigrid.h"

/* Finds the packs of a row from its first unknown cell to its last; false: there is none. */
bool und_level_find_packs(const und_level *level, int y, int z, int *begin, int *end);

/* Gives each pack with unknown cells in a slice its place from `at` on, and one of 0 behind each stretch of
 * them; where the next slice begins.  Only counts where `place` is NULL. */
uint32_t und_level_place_slice(const und_level *level, int z, uint32_t at, uint32_t *place);

/* Where slices begin, of which slice_begin has the sizes, and arrays are. */
void und_multigrid_place(und_multigrid *m, und_level *level);

/* The packs of a slice, by their kinds. */
void und_level_list_packs(und_level *level, int z);

/* The packs that those of a coarser slice are made of, and which cells of the coarser level those' are in. */
void und_level_set_families(und_level *fine, const und_level *coarse, int z);

#endif
