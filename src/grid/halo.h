/* Halos: what whoever has a part of the grid's slices needs of those beside it.
 *
 * Before a stage reads values further than its own slices it says which and how far: its reach, in slices.
 * Between begin and end they may be on their way, and whatever does not read them can be done.  A machine
 * that has the whole grid has them already: both do nothing.
 *
 * A high face lies in the slice of its cell, so slices are all that there is to ask for, of cells and of
 * faces across any axis. */
#ifndef UND_GRID_HALO_H
#define UND_GRID_HALO_H

#include "grid/mac.h"

typedef struct und_halo_field {
    void *values; /* of the grid's layout */
    size_t size;  /* of a value, bytes */
    int reach;    /* slices beyond one's own */
} und_halo_field;

typedef struct und_halo { /* of whoever has others beside */
    void *context;
    void (*begin)(void *context, const und_halo_field *fields, int count);
    void (*end)(void *context, const und_halo_field *fields, int count);
} und_halo;

/* halo: NULL where there is nobody else. */
static inline void und_halo_begin(const und_halo *halo, const und_halo_field *fields, int count)
{
    if (halo)
        halo->begin(halo->context, fields, count);
}
static inline void und_halo_end(const und_halo *halo, const und_halo_field *fields, int count)
{
    if (halo)
        halo->end(halo->context, fields, count);
}

#endif
