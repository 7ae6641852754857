/* What the files of the skin share. */
#ifndef UND_SURFACE_SKIN_PARTS_H
#define UND_SURFACE_SKIN_PARTS_H

#include "surface/markers_scratch.h"
#include "surface/skin.h"

typedef struct und_skin {
    const und_markers *markers;
    const uint8_t *label;
    int per_cell, threads;
    int32_t *count;       /* of markers, in each cell of the grid */
    int low[3], known[3]; /* the first cell that points cover; how many cells are known around them */
    uint8_t *kind, *full, *buried; /* of those */
    int32_t *layer;                /* the first of each layer in `order`; there are one more */
    int32_t *order;                /* markers, layer by layer; then how large a drop each is */
    und_lattice lattice;  /* points half a cell apart, from half a cell before the first that is covered */
    float *filled, *open; /* at points: of what is open, how much liquid; how much of all is not solid */
    float *level;         /* what is surface; then the distance from it */
} und_skin;

enum { UND_SKIN_MARGIN = 2 }; /* cells known before and behind those that points cover */

/* Of the known cells. */
static inline size_t und_skin_cell(const und_skin *k, const int at[3])
{
    return ((size_t)at[2] * (size_t)k->known[1] + (size_t)at[1]) * (size_t)k->known[0] + (size_t)at[0];
}

/* That which holds a place (in cells). */
static inline size_t und_skin_holder(const und_skin *k, const double cells[3])
{
    int at[3];
    for (int a = 0; a < 3; a++)
        at[a] = und_markers_inside(&k->markers->mac, a, cells[a]) - k->low[a] + UND_SKIN_MARGIN;
    return und_skin_cell(k, at);
}

/* Which markers are drops of their own. */
void und_skin_find_drops(und_skin *skin);
double und_skin_alone(const und_skin *skin, int i); /* how much of marker i is drawn as one, 0 to 1 */
void und_skin_set_alone(und_skin *skin, int i);     /* all of it */

/* The bulk's triangles and those of the drops. */
und_status und_skin_add_drops(const und_skin *skin, const und_isosurface *bulk, und_isosurface *out,
                              und_error *err);

#endif
