/* After und_volume_fit: liquid in the air that is thinner than a cell, with no more of it near.  Which of its
 * cells break up a kernel says (und_volume_thin_choose_breaking), of the thickness there, in cells; 0 is what
 * phi shows nothing of, gathered into beads.  Others say how much leaves (und_volume_thin_take_away): it may
 * be more than the cell has, by what is there for it around (und_volume_thin_beside). */
#ifndef UND_SURFACE_VOLUME_THIN_H
#define UND_SURFACE_VOLUME_THIN_H

#include "surface/volume.h"
#include "surface/volume_thin_kernel.h"

enum { UND_VOLUME_TAKES = 1 }; /* they are so near */

typedef struct und_volume_thin_found {
    bool none_loose, none_owes[UND_VOLUME_THIN_ROUNDS + 1];
} und_volume_thin_found;

/* What these kernels know; and the cells that und_volume_fit looked at, in no more blocks than there are
 * rows. */
und_volume_thinning und_volume_thinning_of(const und_volume *v, const und_distance *d,
                                           const und_volume_walls *walls, und_volume_thin_found *found);
und_set und_volume_thin_chunks(const und_volume *v);

/* All of it in one region; what leaves by so many passes, one after the other. */
enum { UND_VOLUME_THIN_LEAVES = 4 };
void und_volume_thin(const und_volume *v, const und_distance *d, const und_volume_thinning *t,
                     und_pass breaks, const und_pass *leaves, int count);

#endif
