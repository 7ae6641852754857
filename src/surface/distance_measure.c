/* How much liquid there is, and how much surface. */
#include "grid/present.h"
#include "surface/distance_parts.h"
#include "surface/plane_kernel.h"

#include <math.h>
#include <stdlib.h>

double und_distance_part(double distance, const double gradient[3])
{
    const double *g = gradient;
    return und_plane_part(distance * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), g);
}

/* A cell that is no further from the surface than this can be cut by it. */
#define REACH 0.8661f

/* By differences over two cells; over one at the domain's sides. */
static void gradient_at(const und_distance *d, const int c[3], double out[3])
{
    const und_mac *m = &d->mac;
    const float *v = d->phi + und_mac_at(m, c[0], c[1], c[2]);
    for (int a = 0; a < 3; a++) {
        ptrdiff_t low = c[a] > 0 ? m->step[a] : 0, high = c[a] + 1 < m->n[a] ? m->step[a] : 0;
        double over = (low > 0) + (high > 0);
        out[a] = over > 0 ? ((double)v[high] - (double)v[-low]) / over : 0;
    }
}

/* Of what is thinner than cells there is no gradient. */
static double part_at(double phi, const double gradient[3])
{
    double length = fabs(gradient[0]) + fabs(gradient[1]) + fabs(gradient[2]);
    return length > 0.1 ? und_distance_part(phi, gradient) : fmin(fmax(0.5 - phi, 0), 1);
}

/* Is there liquid in one of the cells that share a face or an edge with a cell?  Where there is none, a small
 * distance is that to a particle alone. */
static bool beside_liquid(const und_distance *d, const int c[3])
{
    const und_mac *m = &d->mac;
    const float *v = d->phi + und_mac_at(m, c[0], c[1], c[2]);
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++)
                if (abs(x) + abs(y) + abs(z) < 3 && v[x + y * m->step[1] + z * m->step[2]] < 0)
                    return true;
    return false;
}

typedef struct measure_args {
    const und_distance *d;
    const float *room; /* NULL: all cells are open */
} measure_args;

/* Of cells near the surface. */
static double cut_volume(const und_distance *d, const int cell[3], double phi)
{
    double gradient[3];
    if (phi >= 0 && !beside_liquid(d, cell))
        return 0;
    gradient_at(d, cell, gradient);
    return part_at(phi, gradient);
}

/* Beyond the band signs are as they were. */
static inline und_totals measure_volume(const measure_args *a, und_place p)
{
    const und_distance *d = a->d;
    const und_mask *negative = &d->parts->negative;
    const und_lanes phi = und_lanes_load(d->phi + p.at);
    const unsigned near = und_mask_sixteen(&d->band, und_mask_row(&d->band, p.y, p.z), p.x) & p.which;
    const unsigned below = und_mask_sixteen(negative, und_mask_row(negative, p.y, p.z), p.x) & ~near;
    const unsigned deep = (near & und_lanes_bits(phi <= -REACH)) | below;
    const und_doubles nothing = {0};
    und_totals t = {.sum = und_doubles_select(und_doubles_where(deep & p.which), nothing + 1, nothing)};
    for (unsigned bits = near & ~deep & und_lanes_bits(phi < REACH); bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        t.sum[i] = cut_volume(d, (const int[]){p.x + i, p.y, p.z}, (double)phi[i]);
    }
    if (a->room)
        t.sum *= und_doubles_of(und_doubles_floats_load(a->room + p.at));
    return t;
}
UND_KERNEL_SUM(measure_volume, measure_args)

/* The area of the plane within each cell is what its part loses as the plane moves. */
static inline und_totals measure_area(const measure_args *a, und_place p)
{
    const double small = 1e-3;
    const und_lanes phi = und_lanes_load(a->d->phi + p.at);
    und_totals t = {0};
    for (unsigned bits = p.which & und_lanes_bits((phi < REACH) & (phi > -REACH)); bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        double gradient[3], at = (double)phi[i];
        gradient_at(a->d, (const int[]){p.x + i, p.y, p.z}, gradient);
        t.sum[i] = (part_at(at - small, gradient) - part_at(at + small, gradient)) / (2 * small);
    }
    return t;
}
UND_KERNEL_SUM(measure_area, measure_args)

double und_distance_volume(const und_distance *d, const float *room)
{
    const measure_args args = {d, room};
    const und_set rows = und_set_rows(&d->mac, UND_ROWS_INSIDE);
    und_distance_get_phi(d, 1);
    const und_total all =
        und_reduce(&d->device, &UND_PASS(measure_volume, &args, &rows), 1, d->parts->row_total);
    return all.sum * d->mac.d[0] * d->mac.d[1] * d->mac.d[2];
}

double und_distance_area(const und_distance *d)
{
    const measure_args args = {d, NULL};
    const und_set cells = und_set_cells(&d->mac, UND_ROWS_INSIDE, &d->band);
    und_distance_get_phi(d, 1);
    const und_total all =
        und_reduce(&d->device, &UND_PASS(measure_area, &args, &cells), 1, d->parts->row_total);
    return all.sum * d->mac.d[0] * d->mac.d[1];
}

typedef struct extent_args {
    und_mac mac;
    const float *phi;
    const int32_t *held; /* NULL: nothing */
    und_row_extent *row;
} extent_args;

/* Of UND_LANES cells of a row from x on, bits of those before n with liquid. */
UND_INLINE unsigned look_wet(const extent_args *a, size_t row, int x, int n)
{
    const int left = n - x;
    und_lanes_int wet = und_lanes_load(a->phi + row + x) < 0;
    if (a->held)
        wet |= und_lanes_int_load(a->held + row + x) != 0;
    return und_lanes_bits(wet) & (left < UND_LANES ? (1u << left) - 1 : UND_LANES_ALL);
}

/* Of a row: the first and one behind the last cell with liquid, looked for from both ends. */
UND_INLINE void find_extent(const extent_args *a, und_place p)
{
    const und_span span = und_mac_span(&a->mac, p.y, p.z);
    const int n = span.end;
    int first = span.begin, last = first + (n - 1 - first) / UND_LANES * UND_LANES;
    while (first < n && !look_wet(a, p.at, first, n))
        first += UND_LANES;
    while (last > first && !look_wet(a, p.at, last, n))
        last -= UND_LANES;
    a->row[p.z * a->mac.n[1] + p.y] =
        first < n ? (und_row_extent){first + __builtin_ctz(look_wet(a, p.at, first, n)),
                                     last + 32 - __builtin_clz(look_wet(a, p.at, last, n))}
                  : (und_row_extent){a->mac.n[0], 0};
}
UND_KERNEL(find_extent, extent_args, UND_EACH_ROW)

bool und_distance_bounds(const und_distance *d, const int32_t *held, int low[3], int high[3],
                         und_present *wet)
{
    const und_mac *m = &d->mac;
    if (!d->parts) /* not opened yet */
        return false;
    const extent_args args = {*m, d->phi, held, d->parts->row_extent};
    const und_set rows = und_set_rows(m, UND_ROWS_INSIDE);
    und_pass(&d->device, find_extent, &args, &rows);
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
