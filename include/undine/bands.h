/* Undine: what a grid hands on to those further down the flow. */
#ifndef UNDINE_BANDS_H
#define UNDINE_BANDS_H

#include <undine/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Grids that source others: what one keeps after each substep for those further down the flow, of the cells
 * along its open sides (Rasmussen et al. 2004, 5.4). */
enum { UND_BAND = 3 }; /* cells deep */

typedef struct und_band {
    int side;         /* that it lies along */
    int low[3], n[3]; /* its cells in the grid */
    /* Where in the values its distances are (cells, [z][y][x]); velocities of its cells' faces along x, y and
     * z, from the low faces of the first cells on (m/s); temperatures; and what cells hold (of a cell). */
    size_t from[6];
    /* Where cells have volumes, of each face of the side: what has left by it since the start, with the flow
     * and as drops, each in whole cells and parts of 2^-24 of one, and the last drop's velocity (m/s). */
    size_t gone;
    size_t first_face; /* of the grid's, which are those of its bands in turn */
} und_band;
enum { UND_BAND_GONE = 7 }; /* numbers of a face */

typedef struct und_bands {
    int axes;    /* 2: the grid is one cell deep, and nothing moves along z */
    bool heat;   /* there are temperatures */
    bool volume; /* cells have what they hold */
    int count;
    und_band band[UND_SIDES];
    size_t values, faces;
} und_bands;

und_bands und_levelset_bands(const int n[3], const bool open[UND_SIDES], bool heat, bool volume);

#ifdef __cplusplus
}
#endif

#endif
