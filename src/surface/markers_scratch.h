/* What the files of the markers share. */
#ifndef UND_SURFACE_MARKERS_SCRATCH_H
#define UND_SURFACE_MARKERS_SCRATCH_H

#include "base/parallel.h"
#include "surface/markers.h"

#include <math.h>

enum {
    UND_MARKER_CHUNKS = 64, /* at most, into which sorting divides the markers */
    UND_MARKER_WALLS = 256  /* as many as a byte tells apart */
};

typedef struct und_markers_scratch {
    double *spare;                 /* [capacity] to sort into */
    uint64_t *wet;                 /* [cells] what their markers stand for */
    int32_t *row;                  /* [capacity] of each marker, or -1: taken out; then where it goes */
    int32_t *first;                /* [chunks][rows] */
    uint8_t *kind;                 /* of each cell: und_markers_kind */
    double owed[UND_MARKER_WALLS]; /* births of each wall, less than one */
    int32_t unsorted;              /* moves since markers were sorted */
    double per[3];                 /* cells per metre */
} und_markers_scratch;

/* A lattice of about `per_cell` points to a cell, as many along each axis as can be. */
void und_markers_lattice(const und_mac *m, int per_cell, int points[3]);

/* Markers are kept this far (in cells) inside of their cell where they touch what is solid. */
static const double UND_MARKER_EDGE = 1e-9;

/* For a loop over all markers. */
static inline int und_markers_workers(const und_markers *s)
{
    enum { ENOUGH = 1 << 14 };
    return und_workers(s->threads, (size_t)s->count, ENOUGH);
}

/* The place of marker i in cells from the grid's low corner. */
static inline void und_markers_cells(const und_markers *s, const double place[3], double cells[3])
{
    for (int a = 0; a < 3; a++)
        cells[a] = (place[a] - s->mac.origin[a]) * s->scratch->per[a];
}

/* The cell that holds it along an axis; the nearest inside. */
static inline int und_markers_inside(const und_mac *m, int axis, double cells)
{
    int last = m->n[axis] - 1;
    return !(cells > 0) ? 0 : cells < last ? (int)cells : last;
}

static inline size_t und_markers_cell(const und_markers *s, int i)
{
    const double place[3] = {s->place[0][i], s->place[1][i], s->place[2][i]};
    double cells[3];
    und_markers_cells(s, place, cells);
    return und_mac_at(&s->mac, und_markers_inside(&s->mac, 0, cells[0]),
                      und_markers_inside(&s->mac, 1, cells[1]), und_markers_inside(&s->mac, 2, cells[2]));
}

#endif
