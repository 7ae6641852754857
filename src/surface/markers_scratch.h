/* What the files of the markers share. */
#ifndef UND_SURFACE_MARKERS_SCRATCH_H
#define UND_SURFACE_MARKERS_SCRATCH_H

#include "surface/markers.h"
#include "surface/markers_kernel.h"

enum {
    UND_MARKER_CHUNKS = 64, /* at most, into which sorting divides the markers */
    UND_MARKER_WALLS = 256  /* as many as a byte tells apart */
};

typedef struct und_markers_scratch {
    double *spare;                 /* [capacity] to sort into */
    uint64_t *wet;                 /* [cells] what their markers stand for */
    int32_t *row;                  /* [capacity] of each marker, or -1: taken out; then where it goes */
    int32_t *first;                /* [chunks][rows] */
    uint8_t *kind;                 /* of each cell, while they are labelled */
    int32_t gone;                  /* some are to be taken out; */
    int32_t left;                  /* then how many there are */
    double owed[UND_MARKER_WALLS]; /* births of each wall, less than one */
    int32_t unsorted;              /* moves since markers were sorted */
    double per[3];                 /* cells per metre */
} und_markers_scratch;

/* A lattice of about `per_cell` points to a cell, as many along each axis as can be. */
void und_markers_lattice(const und_mac *m, int per_cell, int points[3]);

/* Blocks of markers, of all of them. */
static inline und_set und_markers_all(const und_markers *s)
{
    enum { BLOCK = 4096, WORTH = 2 };
    return und_set_list(s, s->count, BLOCK, WORTH);
}
/* Where several threads count in the same cells they have to take care, which costs more than twice as much;
 * so few let one do it. */
static inline und_device und_markers_counters(const und_markers *s, int few)
{
    enum { ENOUGH = 1 << 14 };
    const bool shared = s->count >= ENOUGH && s->device.threads >= few;
    return (und_device){.threads = shared ? s->device.threads : 1, .halo = s->device.halo};
}

/* The place of a marker in cells from the grid's low corner. */
static inline void und_markers_cells(const und_markers *s, const double place[3], double cells[3])
{
    und_markers_to_cells(&s->mac, s->scratch->per, place, cells);
}

static inline size_t und_markers_cell(const und_markers *s, int i)
{
    return und_markers_cell_of(&s->mac, s->scratch->per, s->place, (size_t)i);
}

#endif
