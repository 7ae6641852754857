/* How much liquid there is, and how much surface. */
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

/* 64 bits of a row of a mask from bit `begin` on, -63 at least. */
static uint64_t bits_from(const uint64_t *row, int words, int begin)
{
    int w = begin >> 6, shift = begin & 63;
    uint64_t bits = w >= 0 && w < words ? row[w] >> shift : 0;
    if (shift > 0 && w + 1 >= 0 && w + 1 < words)
        bits |= row[w + 1] << (64 - shift);
    return bits;
}
/* Of those the cells inside the domain: bits 1 to n[0] of the row. */
static uint64_t inside_from(const und_mac *m, int begin)
{
    int low = 1 - begin, high = m->n[0] + 1 - begin;
    uint64_t bits = low > 0 ? (low < 64 ? ~UINT64_C(0) << low : 0) : ~UINT64_C(0);
    return high < 64 ? (high > 0 ? bits & ((UINT64_C(1) << high) - 1) : 0) : bits;
}

/* Of a row: cells of liquid. */
static double row_volume(const und_distance *d, const float *room, int row)
{
    const und_mac *m = &d->mac;
    int y = row % m->n[1], z = row / m->n[1];
    const uint64_t *band = und_mask_row(&d->band, y, z);
    const uint64_t *negative = und_mask_row(&d->parts->negative, y, z);
    size_t first = und_mac_row(m, row) - 1;
    double sum = 0;
    /* in words of the whole grid's row, so that the sum has the same bits in all windows of it */
    for (int begin = -(m->low[0] & 63); begin < m->n[0] + 1; begin += 64) {
        const uint64_t inside = inside_from(m, begin);
        uint64_t near = bits_from(band, d->band.words, begin) & inside, deep = 0;
        const size_t at = (size_t)((ptrdiff_t)first + begin);
        const float *phi = d->phi + at, *share = room ? room + at : NULL;
        for (uint64_t bits = near; bits; bits &= bits - 1) {
            int i = __builtin_ctzll(bits);
            deep |= (uint64_t)(phi[i] <= -REACH) << i;
        }
        deep |= bits_from(negative, d->band.words, begin) & inside &
                ~near; /* beyond the band signs are as they were */
        if (share)
            for (uint64_t bits = deep; bits; bits &= bits - 1)
                sum += (double)share[__builtin_ctzll(bits)];
        else
            sum += __builtin_popcountll(deep);
        for (uint64_t bits = near & ~deep; bits; bits &= bits - 1) {
            int i = __builtin_ctzll(bits);
            if (phi[i] >= REACH)
                continue;
            double gradient[3];
            const int cell[3] = {begin + i - 1, y, z};
            if (phi[i] >= 0 && !beside_liquid(d, cell))
                continue;
            gradient_at(d, cell, gradient);
            sum += part_at((double)phi[i], gradient) * (share ? (double)share[i] : 1);
        }
    }
    return sum;
}

/* The area of the plane within each cell is what its part loses as the plane moves. */
static double row_area(const und_distance *d, int row)
{
    const double small = 1e-3;
    const und_mac *m = &d->mac;
    int y = row % m->n[1], z = row / m->n[1];
    const uint64_t *band = und_mask_row(&d->band, y, z);
    const float *phi = d->phi + und_mac_row(m, row) - 1;
    double sum = 0;
    for (int w = 0; w < d->band.words; w++)
        for (uint64_t bits = band[w]; bits; bits &= bits - 1) {
            int i = 64 * w + __builtin_ctzll(bits);
            if (fabsf(phi[i]) >= REACH)
                continue;
            double gradient[3], at = (double)phi[i];
            gradient_at(d, (int[]){i - 1, y, z}, gradient);
            sum += (part_at(at - small, gradient) - part_at(at + small, gradient)) / (2 * small);
        }
    return sum;
}

typedef struct measure_args {
    const und_distance *d;
    const float *room;
} measure_args;

static inline void measure_volume(const measure_args *a, und_place p)
{
    const int row = p.z * a->d->mac.n[1] + p.y;
    a->d->parts->row_sum[row] = row_volume(a->d, a->room, row);
}
UND_KERNEL(measure_volume, measure_args, UND_EACH_ROW)
static inline void measure_area(const measure_args *a, und_place p)
{
    const int row = p.z * a->d->mac.n[1] + p.y;
    a->d->parts->row_sum[row] = row_area(a->d, row);
}
UND_KERNEL(measure_area, measure_args, UND_EACH_ROW)

static double sum_rows(const und_distance *d)
{
    double sum = 0;
    for (int r = 0; r < und_mac_rows(&d->mac); r++)
        sum += d->parts->row_sum[r];
    return sum;
}

double und_distance_volume(const und_distance *d, const float *room)
{
    const measure_args args = {d, room};
    const und_set rows = und_set_rows(&d->mac, UND_ROWS_INSIDE);
    und_pass(&d->device, measure_volume, &args, &rows);
    return sum_rows(d) * d->mac.d[0] * d->mac.d[1] * d->mac.d[2];
}

double und_distance_area(const und_distance *d)
{
    const measure_args args = {d, NULL};
    const und_set rows = und_set_rows(&d->mac, UND_ROWS_INSIDE);
    und_pass(&d->device, measure_area, &args, &rows);
    return sum_rows(d) * d->mac.d[0] * d->mac.d[1];
}

typedef struct extent_args {
    und_mac mac;
    const float *phi;
    und_row_extent *row;
} extent_args;

/* Of UND_LANES cells of a row from x on, bits of those with liquid. */
UND_INLINE unsigned look_wet(const extent_args *a, size_t row, int x)
{
    const int left = a->mac.n[0] - x;
    return und_lanes_bits(und_lanes_load(a->phi + row + x) < 0) &
           (left < UND_LANES ? (1u << left) - 1 : UND_LANES_ALL);
}

/* Of a row: the first and one behind the last cell with liquid, looked for from both ends. */
UND_INLINE void find_extent(const extent_args *a, und_place p)
{
    const int n = a->mac.n[0];
    int first = 0, last = (n - 1) / UND_LANES * UND_LANES;
    while (first < n && !look_wet(a, p.at, first))
        first += UND_LANES;
    while (last > first && !look_wet(a, p.at, last))
        last -= UND_LANES;
    a->row[p.z * a->mac.n[1] + p.y] =
        first < n ? (und_row_extent){first + __builtin_ctz(look_wet(a, p.at, first)),
                                     last + 32 - __builtin_clz(look_wet(a, p.at, last))}
                  : (und_row_extent){n, 0};
}
UND_KERNEL(find_extent, extent_args, UND_EACH_ROW)

bool und_distance_bounds(const und_distance *d, int low[3], int high[3])
{
    const und_mac *m = &d->mac;
    if (!d->parts) /* not opened yet */
        return false;
    const extent_args args = {*m, d->phi, d->parts->row_extent};
    const und_set rows = und_set_rows(m, UND_ROWS_INSIDE);
    und_pass(&d->device, find_extent, &args, &rows);
    for (int a = 0; a < 3; a++) {
        low[a] = m->n[a];
        high[a] = 0;
    }
    for (int row = 0; row < und_mac_rows(m); row++) {
        const und_row_extent e = args.row[row];
        const int first[3] = {e.low, row % m->n[1], row / m->n[1]},
                  end[3] = {e.high, first[1] + 1, first[2] + 1};
        for (int a = 0; a < 3 && e.high > 0; a++) {
            low[a] = first[a] < low[a] ? first[a] : low[a];
            high[a] = end[a] > high[a] ? end[a] : high[a];
        }
    }
    return high[0] > 0;
}
