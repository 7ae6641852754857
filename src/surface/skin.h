/* The skin of the liquid that markers fill: triangles to draw. */
#ifndef UND_SURFACE_SKIN_H
#define UND_SURFACE_SKIN_H

#include "geom/isosurface.h"
#include "surface/markers.h"

/* Where markers fill half of what is around, seen through a hat of one cell and smoothed once, on a lattice
 * of half cells; where there is less of it, in thin sheets, 0.7 of the most around. Against the domain's
 * sides it is flat; into what is solid it goes by half a cell, where it is closed, so that drawn solids leave
 * no gap.  Each piece of it is moved out or in, a little, until it encloses what its markers stand for; those
 * by themselves are drops of their share.  `label` says what is Solid, and which cells without markers hold
 * liquid. */
und_status und_skin_make(const und_markers *markers, int per_cell, const uint8_t *label, und_isosurface *skin,
                         und_error *err);

#endif
