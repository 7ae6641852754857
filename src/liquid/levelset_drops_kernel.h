/* Drops that set out: how large they are, by what law, where and how fast; and where each goes in the list.
 *
 * How large they are on average is Hinze's largest drop that a turbulent flow leaves whole (1955,
 * "Fundamentals of the hydrodynamic mechanism of splitting in dispersion processes"), but no larger than
 * surface tension holds together in the fall; how they differ, Villermaux's gamma distribution of what
 * threads leave (2007, "Fragmentation").  Each has a whole number of parts of UND_VOLUME_ONE. */
#ifndef UND_LIQUID_LEVELSET_DROPS_KERNEL_H
#define UND_LIQUID_LEVELSET_DROPS_KERNEL_H

#include "base/maths_kernel.h"
#include "base/random.h"
#include "grid/pass.h"
#include "grid/sample.h"
#include "spray/spray_kernel.h"
#include "surface/volume_cells_kernel.h"

enum { UND_STREAM_BREAK = 301, UND_STREAM_CREST, UND_STREAM_DROP };
enum { UND_DROP_ORDER = 4 };  /* of the gamma distribution */
#define UND_DROP_FINEST 0.25  /* cells: mean diameter, at least, so that drops are not too many */
#define UND_DROP_STIRRED 0.17 /* Smagorinsky's constant */
#define UND_DROP_APART 0.5    /* of the speed by which the cell's flow differs: drops' own */
#define UND_DROP_NEAR 2       /* cells: so near to a solid it is looked whether they would begin in it */
#define UND_DROP_PI 3.14159265358979323846

/* Of all blocks together: how many, and what they have, of UND_VOLUME_ONE. */
typedef struct und_dropped {
    int64_t parts;
    int32_t count;
} und_dropped;

typedef struct und_dropping {
    und_mac mac;
    float *u[3];
    const float *distance; /* to solids; NULL: there are none */
    const uint8_t *beside_thin;
    double dx, origin[3], pull, tension; /* m, m/s2, m3/s2 */
    double quantum;                      /* m3: UND_VOLUME_ONE have a cell's */
    uint64_t seed, step;                 /* what is drawn in a substep */
    int own[2];                          /* slices of the whole grid, of which drops are one's own */
    float *place[3], *speed[3], *radius, *age;
    int32_t *id;
    double born;
    int count, most; /* drops that there are, and how many more there may be */
    int32_t *before; /* of each block: how many drops it has; then, of those before it */
    int64_t *parts;  /* what its own have */
    int blocks;
    und_dropped *all;
} und_dropping;

/* ---- Random numbers ---- */

/* Of drop k of a cell in this substep: the i-th of its random numbers, 0 to 1. */
typedef struct und_drop_dice {
    uint64_t seed, cell;
} und_drop_dice;

UND_INLINE und_drop_dice und_drop_dice_of(const und_dropping *d, const int cell[3])
{
    const und_mac *m = &d->mac;
    const uint64_t whole[3] = {(uint64_t)m->whole[0], (uint64_t)m->whole[1], (uint64_t)m->whole[2]};
    const uint64_t at =
        (uint64_t)(cell[0] + m->low[0]) +
        whole[0] * ((uint64_t)(cell[1] + m->low[1]) + whole[1] * (uint64_t)(cell[2] + m->low[2]));
    return (und_drop_dice){d->seed, d->step ^ at};
}

static inline double und_drop_roll(const und_drop_dice *d, int k, int i)
{
    return und_random(d->seed, UND_STREAM_DROP + (uint64_t)i, und_random_mix(d->cell) + (uint64_t)k);
}

/* ---- How large ---- */

/* 1/s: how fast the velocity changes with place, sqrt(2 S S). */
static inline double und_drop_strain(const und_dropping *d, size_t at)
{
    const und_mac *m = &d->mac;
    const int axes = m->n[2] > 1 ? 3 : 2;
    double slope[3][3] = {{0}}, sum = 0;
    for (int a = 0; a < axes; a++)
        for (int b = 0; b < axes; b++) {
            const float *u = d->u[a] + at;
            const ptrdiff_t low = m->step[a], by = m->step[b];
            slope[a][b] =
                a == b ? (double)u[0] - (double)u[-low]
                       : 0.25 * ((double)u[by] + (double)u[by - low] - (double)u[-by] - (double)u[-by - low]);
        }
    for (int a = 0; a < axes; a++)
        for (int b = 0; b < axes; b++)
            sum += 0.5 * (slope[a][b] + slope[b][a]) * (slope[a][b] + slope[b][a]);
    return __builtin_sqrt(sum) / d->dx;
}

/* Cells: Hinze's 0.725 (sigma / rho)^(3/5) eps^(-2/5), at most the capillary length.  What the cells' flow
 * loses to smaller eddies is eps = (0.17 dx)^2 |S|^3 (Smagorinsky). */
static inline float und_drop_diameter(const und_dropping *d, double strain)
{
    const double way = UND_DROP_STIRRED * d->dx, eps = way * way * strain * strain * strain;
    const double most = __builtin_sqrt(d->tension / und_double_max(d->pull, 1e-3));
    const double turbulent =
        eps > 0 ? 0.725 * und_pow_above_0(d->tension, 0.6) * und_pow_above_0(eps, -0.4) : __builtin_inf();
    return (float)und_double_max(und_double_min(turbulent, most) / d->dx, UND_DROP_FINEST);
}

/* Parts of UND_VOLUME_ONE of drop k, by the law, and of all drops on average. */
static inline double und_drop_units(const und_drop_dice *dice, int k, float diameter, double *mean)
{
    const double across = (double)diameter;
    double product = 1;
    for (int i = 0; i < UND_DROP_ORDER; i++)
        product *= 1 - und_drop_roll(dice, k, i);
    const double wide = -und_log_above_0(product) / UND_DROP_ORDER;
    *mean = UND_DROP_PI / 6 * across * across * across * UND_VOLUME_ONE;
    return und_double_max(__builtin_floor(*mean * wide * wide * wide), 1);
}

/* The whole number of parts that a drop of so many m3 has. */
static inline double und_drop_parts(double quantum, double volume)
{
    return __builtin_floor(volume / quantum + 0.5);
}

/* m: of a drop of at most so many parts; how many it has then. */
static inline float und_drop_radius(double quantum, double units, double *parts)
{
    float radius = (float)und_cube_root(units * quantum * 3 / (4 * UND_DROP_PI));
    if (und_drop_parts(quantum, und_spray_volume(radius)) > units)
        radius *= 1 - 0x1p-23f;
    *parts = und_drop_parts(quantum, und_spray_volume(radius));
    return radius;
}

/* ---- Where they go ---- */

/* Whether drops of a cell are one's own: others have those of their slices. */
static inline bool und_drop_is_own(const und_dropping *d, const int cell[3])
{
    const int slice = cell[2] + d->mac.low[2];
    return d->mac.whole[2] == 1 || (slice >= d->own[0] && slice < d->own[1]);
}

/* Up to UND_LANES drops of a cell, from drop k on; more may come. */
typedef struct und_drop_some {
    int count, k;
    double from[3][UND_LANES]; /* cells of the whole grid */
    float radius[UND_LANES];
} und_drop_some;

/* Those that would begin in a solid begin in the middle of the cell. */
static inline void und_drop_leave_solids(const und_dropping *d, const int cell[3], size_t at,
                                         und_drop_some *some, und_lanes place[3])
{
    und_lanes wall = {0};
    if (!d->distance || !(d->distance[at] < UND_DROP_NEAR || d->beside_thin[at]))
        return;
    und_sample_cells(&d->mac, d->distance, place, &wall, NULL);
    const unsigned in = d->beside_thin[at] ? UND_LANES_ALL : und_lanes_bits(wall < 0);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < some->count; i++)
            if (in >> i & 1) {
                some->from[a][i] = d->mac.low[a] + cell[a] + 0.5;
                place[a][i] = (float)some->from[a][i];
            }
}

/* A speed that water can have. */
UND_INLINE float und_drop_speed(double speed)
{
    const double most = 0.999 * UND_SPRAY_FASTEST;
    return (float)(speed > -most ? und_double_min(speed, most) : speed < 0 ? -most : 0);
}

/* They set out with the speed the flow has there and some of their own, as the drops from *number on. */
static inline void und_drop_set_out(const und_dropping *d, const int cell[3], size_t at, double strain,
                                    const und_drop_dice *dice, und_drop_some *some, int *number)
{
    und_lanes place[3] = {{0}}, flow[3];
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < some->count; i++)
            place[a][i] = (float)some->from[a][i];
    und_drop_leave_solids(d, cell, at, some, place);
    und_sample_velocity(&d->mac, d->u, place, flow);
    for (int i = 0; i < some->count; i++, ++*number) {
        const int to = *number;
        for (int a = 0; a < 3; a++) {
            const double own =
                a == 2 && d->mac.n[2] == 1
                    ? 0
                    : (double)flow[a][i] +
                          UND_DROP_APART * strain * d->dx *
                              (2 * und_drop_roll(dice, some->k + i, UND_DROP_ORDER + 3 + a) - 1);
            d->place[a][to] = (float)(d->origin[a] + some->from[a][i] * d->dx);
            d->speed[a][to] = und_drop_speed(own);
        }
        d->radius[to] = some->radius[i];
        d->age[to] = 0;
        const double born = d->born + (to - d->count);
        d->id[to] = (int32_t)((int64_t)born & 0x7fffffff);
    }
    some->k += some->count;
    some->count = 0;
}

/* ---- Their numbers ---- */

/* Blocks are few. */
static inline void und_drop_number(const und_dropping *d, und_place p)
{
    int32_t count = 0;
    (void)p;
    for (int block = 0; block < d->blocks; block++) {
        const int32_t own = d->before[block], room = d->most - count;
        d->before[block] = count;
        count += own < room ? own : room;
    }
    d->all->count = count;
}
UND_KERNEL(und_drop_number, und_dropping, UND_EACH_BLOCK)

static inline void und_drop_add_up(const und_dropping *d, und_place p)
{
    int64_t parts = 0;
    (void)p;
    for (int block = 0; block < d->blocks; block++)
        parts += d->parts[block];
    d->all->parts = parts;
}
UND_KERNEL(und_drop_add_up, und_dropping, UND_EACH_BLOCK)

#endif
