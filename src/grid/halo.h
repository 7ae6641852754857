/* Halos: what whoever has a part of the grid's slices needs of those beside it.
 *
 * Before values are read further than its own slices a stage says which and how far: their reach, in slices.
 * Between begin and end they may be on their way, and whatever does not read them can be done.  A machine
 * that has the whole grid has them already: both do nothing.
 *
 * A high face lies in the slice of its cell, so slices are all that there is to ask for: of cells, of faces
 * across any axis, of masks, of the packs of a level that is halved.  What has been summed for each slice is
 * asked for too, of all of them (UND_HALO_ALL): so everybody adds up the same, in the same order. */
#ifndef UND_GRID_HALO_H
#define UND_GRID_HALO_H

#include "grid/mask.h"

enum { UND_HALO_ALL = 1 << 24 };

typedef struct und_halo_field {
    void *values;
    size_t size;           /* of a value, bytes */
    und_type type;         /* of its numbers, where that is known to be other than float */
    ptrdiff_t first, step; /* slice z begins at value first + z step */
    size_t count;          /* and has so many; or */
    const uint32_t *begin; /* it begins here, and ends where the next begins: NULL, or from slice 0 on */
    int slices;            /* of the domain, which there are from 0 on; */
    bool before, behind;   /* and one beside the domain, there; */
    int low;               /* slice 0 is this one of the whole grid, */
    int halved;            /* whose slices this is the half of, so many times */
    int reach;             /* slices beyond one's own */
} und_halo_field;

/* Of the grid's layout: with the slices beside the domain. */
static inline und_halo_field und_halo_of(const und_mac *m, void *values, size_t size, int reach)
{
    return (und_halo_field){.values = values,
                            .size = size,
                            .first = (ptrdiff_t)und_mac_at(m, -1, -1, 0),
                            .step = m->step[2],
                            .count = (size_t)m->step[2],
                            .slices = m->n[2],
                            .before = true,
                            .behind = true,
                            .low = m->low[2],
                            .reach = reach};
}
static inline und_halo_field und_halo_of_mask(const und_mac *m, const und_mask *mask, int reach)
{
    const ptrdiff_t slice = (ptrdiff_t)(mask->n[1] + 2) * mask->words;
    return (und_halo_field){.values = mask->bits,
                            .size = sizeof *mask->bits,
                            .type = UND_U8,
                            .first = slice,
                            .step = slice,
                            .count = (size_t)slice,
                            .slices = m->n[2],
                            .before = true,
                            .behind = true,
                            .low = m->low[2],
                            .reach = reach};
}
/* A value for each of so many slices from `first` on. */
static inline und_halo_field und_halo_of_slices(const und_mac *m, void *values, size_t size, int first,
                                                int slices)
{
    return (und_halo_field){.values = values,
                            .size = size,
                            .first = -first,
                            .step = 1,
                            .count = 1,
                            .slices = m->n[2],
                            .before = first<0, .behind = first + slices> m->n[2],
                            .low = m->low[2],
                            .reach = UND_HALO_ALL};
}

typedef struct und_halo { /* of whoever has others beside */
    void *context;
    int own[2]; /* its slices, of the whole grid: those from one to below the other, of which some may be
                   beside the domain */
    void (*begin)(void *context, const und_halo_field *fields, int count);
    void (*end)(void *context, const und_halo_field *fields, int count);
} und_halo;

/* Whether a slice of the whole grid is one's own. */
static inline bool und_halo_owns(const und_halo *halo, int z)
{
    return !halo || (z >= halo->own[0] && z < halo->own[1]);
}

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
static inline void und_halo_get(const und_halo *halo, const und_halo_field *fields, int count)
{
    und_halo_begin(halo, fields, count);
    und_halo_end(halo, fields, count);
}

#endif
