/* What is one cell thick.
 *
 * In the middle of a sheet or a thread phi is least, and what is followed back to there stays what it was,
 * however much the flow draws the sheet thinner.  Within a cell the flow across it is linear between its
 * faces, so that the thickness grows by the part that they part by. */
#include "surface/distance_parts.h"
#include "surface/distance_thin_kernel.h"

void und_distance_draw_thin(und_distance *d, float *const u[3], double cells_per_speed)
{
    const und_distance_draw_args args = {.mac = d->mac,
                                         .phi = d->phi,
                                         .u = {u[0], u[1], u[2]},
                                         .negative = d->parts->negative,
                                         .band = d->band,
                                         .cells_per_speed = (float)cells_per_speed};
    const und_set rows = und_set_rows(&d->mac, UND_ROWS_INSIDE);
    und_distance_signs(d);
    und_pass(&d->device, und_distance_draw_word, &args, &rows);
}
