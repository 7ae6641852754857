/* How much liquid there is, and how much surface. */
#include "grid/present.h"
#include "surface/distance_measure_kernel.h"

double und_distance_part(double distance, const double gradient[3])
{
    return und_measure_plane(distance, gradient);
}

double und_distance_volume(const und_distance *d, const float *room)
{
    const und_measure_args args = {d->mac, d->phi, d->band, d->parts->negative, room};
    const und_set rows = und_set_rows(&d->mac, UND_ROWS_INSIDE);
    und_distance_get_phi(d, 1);
    const und_total all =
        und_reduce(&d->device, &UND_PASS(und_measure_volume, &args, &rows), 1, d->parts->row_total);
    return all.sum * d->mac.d[0] * d->mac.d[1] * d->mac.d[2];
}

double und_distance_area(const und_distance *d)
{
    const und_measure_args args = {d->mac, d->phi, d->band, d->parts->negative, NULL};
    const und_set cells = und_set_cells(&d->mac, UND_ROWS_INSIDE, &d->band);
    und_distance_get_phi(d, 1);
    const und_total all =
        und_reduce(&d->device, &UND_PASS(und_measure_area, &args, &cells), 1, d->parts->row_total);
    return all.sum * d->mac.d[0] * d->mac.d[1];
}

bool und_distance_bounds(const und_distance *d, const int32_t *held, int low[3], int high[3],
                         und_present *wet)
{
    const und_mac *m = &d->mac;
    if (!d->parts) /* not opened yet */
        return false;
    const und_extent_args args = {*m, d->phi, held, d->parts->row_extent};
    const und_set rows = und_set_rows(m, UND_ROWS_INSIDE);
    und_pass(&d->device, und_measure_extent, &args, &rows);
    und_halo_field extents = und_halo_of_slices(m, args.row, sizeof *args.row, 0, m->n[2]);
    extents.step = m->n[1];
    extents.count = (size_t)m->n[1];
    und_halo_get(d->device.halo, &extents, 1);
    for (int a = 0; a < 3; a++) {
        low[a] = m->n[a];
        high[a] = 0;
    }
    UND_MAC_EACH_ROW (m, row) {
        const und_row_extent e = args.row[row];
        const int first[3] = {e.low, row % m->n[1], row / m->n[1]},
                  end[3] = {e.high, first[1] + 1, first[2] + 1};
        if (e.high > 0 && wet)
            und_present_add_part(wet, first[1], first[2], (und_span){e.low, e.high});
        for (int a = 0; a < 3 && e.high > 0; a++) {
            low[a] = first[a] < low[a] ? first[a] : low[a];
            high[a] = end[a] > high[a] ? end[a] : high[a];
        }
    }
    return high[0] > 0;
}
