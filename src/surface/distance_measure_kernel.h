/* How much liquid there is, how much surface, and where. */
#ifndef UND_SURFACE_DISTANCE_MEASURE_KERNEL_H
#define UND_SURFACE_DISTANCE_MEASURE_KERNEL_H

#include "grid/reduce.h"
#include "surface/distance_parts.h"
#include "surface/plane_kernel.h"

typedef struct und_measure_args {
    und_mac mac;
    const float *phi;
    und_mask band, negative;
    const float *room; /* NULL: all cells are open */
} und_measure_args;

/* und_distance_part. */
static inline double und_measure_plane(double distance, const double g[3])
{
    return und_plane_part(distance * __builtin_sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]), g);
}

/* A cell that is no further from the surface than this can be cut by it. */
#define UND_MEASURE_REACH 0.8661f

/* By differences over two cells; over one at the domain's sides. */
static inline void und_measure_gradient_at(const und_measure_args *d, const int c[3], double out[3])
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
static inline double und_measure_part_at(double phi, const double gradient[3])
{
    double length = __builtin_fabs(gradient[0]) + __builtin_fabs(gradient[1]) + __builtin_fabs(gradient[2]);
    const double flat = 0.5 - phi > 0 ? 0.5 - phi : 0;
    return length > 0.1 ? und_measure_plane(phi, gradient) : flat < 1 ? flat : 1;
}

/* Is there liquid in one of the cells that share a face or an edge with a cell?  Where there is none, a small
 * distance is that to a particle alone. */
static inline bool und_measure_beside_liquid(const und_measure_args *d, const int c[3])
{
    const und_mac *m = &d->mac;
    const float *v = d->phi + und_mac_at(m, c[0], c[1], c[2]);
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++)
                if (x * x + y * y + z * z < 3 && v[x + y * m->step[1] + z * m->step[2]] < 0)
                    return true;
    return false;
}

/* Of cells near the surface. */
static inline double und_measure_cut_volume(const und_measure_args *d, const int cell[3], double phi)
{
    double gradient[3];
    if (phi >= 0 && !und_measure_beside_liquid(d, cell))
        return 0;
    und_measure_gradient_at(d, cell, gradient);
    return und_measure_part_at(phi, gradient);
}

/* Beyond the band signs are as they were. */
static inline und_totals und_measure_volume(const und_measure_args *a, und_place p)
{
    const und_mask *negative = &a->negative;
    const und_lanes phi = und_lanes_load(a->phi + p.at);
    const unsigned near = und_mask_sixteen(&a->band, und_mask_row(&a->band, p.y, p.z), p.x) & p.which;
    const unsigned below = und_mask_sixteen(negative, und_mask_row(negative, p.y, p.z), p.x) & ~near;
    const unsigned deep = (near & und_lanes_bits(phi <= -UND_MEASURE_REACH)) | below;
    const und_doubles nothing = {0};
    und_totals t = {.sum = und_doubles_select(und_doubles_where(deep & p.which), nothing + 1, nothing)};
    for (unsigned bits = near & ~deep & und_lanes_bits(phi < UND_MEASURE_REACH); bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        t.sum[i] = und_measure_cut_volume(a, (const int[]){p.x + i, p.y, p.z}, (double)phi[i]);
    }
    if (a->room)
        t.sum *= und_doubles_of(und_doubles_floats_load(a->room + p.at));
    return t;
}
UND_KERNEL_SUM(und_measure_volume, und_measure_args)

/* The area of the plane within each cell is what its part loses as the plane moves. */
static inline und_totals und_measure_area(const und_measure_args *a, und_place p)
{
    const double small = 1e-3;
    const und_lanes phi = und_lanes_load(a->phi + p.at);
    und_totals t = {0};
    for (unsigned bits = p.which & und_lanes_bits((phi < UND_MEASURE_REACH) & (phi > -UND_MEASURE_REACH));
         bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        double gradient[3], at = (double)phi[i];
        und_measure_gradient_at(a, (const int[]){p.x + i, p.y, p.z}, gradient);
        t.sum[i] = (und_measure_part_at(at - small, gradient) - und_measure_part_at(at + small, gradient)) /
                   (2 * small);
    }
    return t;
}
UND_KERNEL_SUM(und_measure_area, und_measure_args)

typedef struct und_extent_args {
    und_mac mac;
    const float *phi;
    const int32_t *held; /* NULL: nothing */
    und_row_extent *row;
} und_extent_args;

/* Of UND_LANES cells of a row from x on, bits of those before n with liquid. */
UND_INLINE unsigned und_measure_look_wet(const und_extent_args *a, size_t row, int x, int n)
{
    const int left = n - x;
    und_lanes_int wet = und_lanes_load(a->phi + row + x) < 0;
    if (a->held)
        wet |= und_lanes_int_load(a->held + row + x) != 0;
    return und_lanes_bits(wet) & (left < UND_LANES ? (1u << left) - 1 : UND_LANES_ALL);
}

/* Of a row: the first and one behind the last cell with liquid, looked for from both ends. */
UND_INLINE void und_measure_extent(const und_extent_args *a, und_place p)
{
    const und_span span = und_mac_span(&a->mac, p.y, p.z);
    const int n = span.end;
    int first = span.begin, last = first + (n - 1 - first) / UND_LANES * UND_LANES;
    while (first < n && !und_measure_look_wet(a, p.at, first, n))
        first += UND_LANES;
    while (last > first && !und_measure_look_wet(a, p.at, last, n))
        last -= UND_LANES;
    a->row[p.z * a->mac.n[1] + p.y] =
        first < n ? (und_row_extent){first + __builtin_ctz(und_measure_look_wet(a, p.at, first, n)),
                                     last + 32 - __builtin_clz(und_measure_look_wet(a, p.at, last, n))}
                  : (und_row_extent){a->mac.n[0], 0};
}
UND_KERNEL(und_measure_extent, und_extent_args, UND_EACH_ROW)

#endif
