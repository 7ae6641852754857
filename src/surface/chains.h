/* Chains of markers along the outline of a liquid in two dimensions (Foster & Metaxas 1996, section 4.2). */
#ifndef UND_SURFACE_CHAINS_H
#define UND_SURFACE_CHAINS_H

#include "grid/frame.h"
#include "grid/mac.h"
#include "surface/markers.h"

typedef struct und_chains und_chains;

und_chains *und_chains_create(const und_mac *mac, int threads, und_error *err);
void und_chains_destroy(und_chains *chains);

/* Adds closed chains around where inside() says so (and no Solid cell is), with `markers` markers shared out
 * by length; 0: one every half cell.  Where that is less than one a cell, more come when they move.  Liquid
 * lies to the left of the direction of a chain. */
und_status und_chains_add(und_chains *chains, und_inside_fn *inside, void *context, const uint8_t *label,
                          int markers, und_error *err);

/* Draws the chains anew around what they hold and the cells, by index, where `change` is UND_CHAINS_FILL, and
 * not around those where it is UND_CHAINS_DRY or that are Solid.  Where there is no memory they stay as they
 * are. */
enum { UND_CHAINS_FILL = 1, UND_CHAINS_DRY = 2 };
und_status und_chains_change(und_chains *chains, const uint8_t *change, const uint8_t *label, und_error *err);

/* Where liquid comes in: velocity on high faces, cells, and what their walls are. */
typedef struct und_inflows {
    double *const *u;
    const uint8_t *label, *wall;
    const und_wall_def *walls;
    int wall_count;
} und_inflows;

/* Begins chains along openings that no liquid is before: thin ones, which then grow by what flows in. Whether
 * there are any.  There may be less than there should where room is short. */
bool und_chains_pour(und_chains *chains, const und_inflows *in);

/* Moves all markers as und_markers_move does, then keeps the chains well: inserts where links are longer than
 * they should be, deletes both markers of a pair that is too close, splits a chain that meets itself and
 * merges chains that meet; chains that enclose less than a small share of a cell go.  Where a chain lies
 * along a wall of any kind it stays there, and its markers at openings stand still while liquid comes in. */
void und_chains_move(und_chains *chains, const und_inflows *in, double dt);

/* Room for as many markers again as there are, or an error; for between steps, which ask for none. */
und_status und_chains_make_room(und_chains *chains, und_error *err);

/* There is so much liquid too much now, m3: in the next move the free surface goes in, or out, a little, to
 * take that back.  Chains do not know what flows through walls, so that it is for the caller to say, after
 * each move. */
void und_chains_owe(und_chains *chains, double volume);

/* Cells by region growing (figure 5): Surface cells hold a marker, the rest is grown Empty from where it is
 * known to be outside and Full inside.  Writes UND_CELL_FULL or UND_CELL_EMPTY; Solid ones stay. */
void und_chains_label(und_chains *chains, uint8_t *label);

/* Finds what the chains enclose of cells; then: how much of one, 0 to 1. */
void und_chains_wet(und_chains *chains);
double und_chains_part(const und_chains *chains, size_t cell);

double und_chains_volume(const und_chains *chains);           /* m3: enclosed area times the cell's depth */
int und_chains_count(const und_chains *chains, int *markers); /* chains */

/* Adds "chain/position" [markers][3] and "chain/first" [chains + 1]. */
und_status und_chains_frame(const und_chains *chains, und_frame *frame, und_error *err);

und_status und_chains_save(und_chains *chains, und_frame *state, und_error *err);
und_status und_chains_restore(und_chains *chains, const und_frame *state, und_error *err);

#endif
