/* Layers on walls that phi shows, of up to a few cells: walls slow them down as they do films. */
#include "surface/volume_layers_kernel.h"
#include "surface/volume_parts.h"

enum { TOLD_BY = 4 }; /* cells around say how thick a layer is */

void und_volume_slow_layers(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                            const und_volume_films *films)
{
    und_volume_borrow(v);
    const und_volume_layering l = {.v = und_volume_arrays_of(v),
                                   .walls = *walls,
                                   .phi = d->phi,
                                   .f = und_volume_film_flow_of(films),
                                   .row_layers = v->parts->row_layers};
    const und_set rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    const und_pass passes[2] = {UND_PASS(und_volume_layer_find_rates, &l, &rows),
                                UND_PASS(und_volume_layer_slow_row, &l, &rows)};
    const und_step steps[2] = {{.passes = &passes[0], .count = 1}, {.passes = &passes[1], .count = 1}};
    und_volume_get_told(v, d, films, TOLD_BY + 1);
    und_distance_get_flow(d, films->u, 2);
    und_pass_steps(&v->device, steps, 2);
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
