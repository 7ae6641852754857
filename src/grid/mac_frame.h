/* Items of a frame that lie over the cells or faces of a staggered grid. */
#ifndef UND_GRID_MAC_FRAME_H
#define UND_GRID_MAC_FRAME_H

#include "grid/frame.h"
#include "grid/mac.h"

enum { UND_MAC_CELLS = 3 }; /* in the place of an axis: the cells themselves */

/* Adds one over the cells, or the faces across `axis` (0 to 2). */
und_item *und_mac_item(const und_mac *mac, und_frame *frame, const char *name, const char *unit,
                       und_type type, int axis, und_error *err);

/* The same, of numbers `from` laid out as the grid, times scale, as float; outside: what they are in rows
 * that the grid does not have. */
und_status und_mac_add_floats(const und_mac *mac, und_frame *frame, const char *name, const char *unit,
                              int axis, const float *from, double scale, double outside, und_error *err);
und_status und_mac_add_doubles(const und_mac *mac, und_frame *frame, const char *name, const char *unit,
                               int axis, const double *from, double scale, und_error *err);

/* The way back: values of an item of such a shape, times scale, to where the grid has them. */
void und_mac_take_floats(const und_mac *mac, const float *from, int axis, double scale, float *to);

#endif
