/* Layers on walls that phi shows, of up to a few cells: walls slow them down as they do films. */
#include "surface/volume_layers_kernel.h"
#include "surface/volume_parts.h"

enum { TOLD_BY = 4 }; /* cells around say how thick a layer is */

int und_volume_slow_layers_begin(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                                 const und_volume_films *films, und_volume_slowing *to)
{
    und_volume_borrow(v);
    to->layers = (und_volume_layering){.v = und_volume_arrays_of(v),
                                       .walls = *walls,
                                       .phi = d->phi,
                                       .f = und_volume_film_flow_of(films),
                                       .row_layers = v->parts->row_layers};
    to->rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    to->pass[0] = UND_PASS(und_volume_layer_find_rates, &to->layers, &to->rows);
    to->pass[1] = UND_PASS(und_volume_layer_slow_row, &to->layers, &to->rows);
    for (int i = 0; i < UND_VOLUME_SLOWING; i++)
        to->step[i] = (und_step){.passes = &to->pass[i], .count = 1};
    und_volume_get_told(v, d, films, TOLD_BY + 1);
    und_distance_get_flow(d, films->u, 2);
    return UND_VOLUME_SLOWING;
}

void und_volume_slow_layers_end(const und_volume *v)
{
    und_volume_give_back(v);
}

void und_volume_leave_layers(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                             const float *nu, float *left)
{
    const und_volume_layering l = {
        .v = und_volume_arrays_of(v), .walls = *walls, .phi = d->phi, .nu = nu, .left = left};
    const und_set rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    und_distance_get_phi(d, TOLD_BY);
    und_pass(&v->device, und_volume_layer_leave_layers, &l, &rows);
}
