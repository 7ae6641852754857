/* Spray and foam on the height field of the cells model (Foster & Metaxas 1996, section 4.3). */
#ifndef UND_LIQUID_CELLS_SPRAY_H
#define UND_LIQUID_CELLS_SPRAY_H

#include "liquid/splash.h"
#include "spray/foam.h"
#include "surface/height.h"

#include <undine/cells.h>

typedef double und_foam_column __attribute__((vector_size(32)));

typedef struct und_cells_spray {
    und_height *height;
    und_spray *spray;
    und_foam *foam; /* NULL: none */
    uint64_t seed;
    und_foam_column *foam_column; /* the height field as foam sees it, with the columns beside the domain */
    double film, per[2];          /* m; columns per metre along x and z */
    float *top, *ground;          /* [column]: the height field as drops see it */
    /* Of the substep, set before emit and fly. */
    double substep; /* since the start, a whole number */
    double time, dt;
    und_ledger *ledger, *lost; /* what rounding lost of each entry is kept beside the ledger */
} und_cells_spray;

/* Spray, and foam where the def asks for it, on `height`, which stays the caller's. */
und_cells_spray *und_cells_spray_create(const und_cells_def *def, und_height *height, und_error *err);
void und_cells_spray_destroy(und_cells_spray *spray);

/* After the surface moved: drops leave from just below it where it rises faster than the threshold, with the
 * liquid's velocity there. */
void und_cells_emit(und_cells_spray *spray);

/* After that: drops fly over dt; where they come down the column gets their water and foam is born; foam
 * floats. */
void und_cells_fly(und_cells_spray *spray);

und_status und_cells_spray_frame(const und_cells_spray *spray, und_frame *frame, und_error *err);
und_status und_cells_spray_save(und_cells_spray *spray, und_frame *state, und_error *err);
und_status und_cells_spray_restore(und_cells_spray *spray, const und_frame *state, und_error *err);

#endif
