/* A field on a lattice, moved in or out, piece by piece, until each piece encloses what it should. */
#ifndef UND_SURFACE_ENCLOSE_H
#define UND_SURFACE_ENCLOSE_H

#include "geom/isosurface.h"

#include <undine/types.h>

typedef struct und_enclosing {
    und_lattice lattice;   /* with one point along z it is flat, and volumes are areas times d[2] */
    float *field;          /* below 0 inside */
    const uint8_t *counts; /* per point: does the box that begins there count? */
    double in, out;        /* how far the surface may move */
    int threads;
    int32_t *piece; /* per point: the piece it belongs to wherever the surface comes to lie, or -1 */
    int pieces;
    double *volume; /* [pieces] that each is to enclose, m3: 0 at first */
    float *part;    /* of each box inside */
} und_enclosing;

/* Finds the pieces: what hangs together where the surface is out furthest.  To be closed, also where it
 * failed. */
und_status und_enclose_open(und_enclosing *e, und_error *err);
/* Moves the field of each piece to where that encloses its volume, or as close to it as may be. */
und_status und_enclose(und_enclosing *e, und_error *err);
void und_enclose_close(und_enclosing *e);

#endif
