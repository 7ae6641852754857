/* The arithmetic of the cells' volumes: functions of plain arguments and a place. */
#ifndef UND_SURFACE_VOLUME_KERNEL_H
#define UND_SURFACE_VOLUME_KERNEL_H

#include "grid/mac.h"
#include "surface/plane_kernel.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    UND_VOLUME_DRY,
    UND_VOLUME_ACTIVE,
    UND_VOLUME_DEEP,
    UND_VOLUME_HELD,
    UND_VOLUME_OUT,
    UND_VOLUME_OTHERS /* another grid's */
};
enum { UND_VOLUME_STAY = 13, UND_VOLUME_AROUND = 27 }; /* neighbours, of which one is the cell itself */

/* UND_LANES cells of a row, from one on. */
typedef struct und_volume_chunk {
    int32_t at;
    uint16_t bits;    /* of those that are on the list */
    uint16_t some;    /* of those that a pass wants to know again */
    uint16_t gives;   /* of those that hand over */
    uint16_t film;    /* what und_volume_fit knows: of films; */
    uint16_t evens;   /* of those at the surface, which exchange what they have too much; */
    uint16_t left;    /* of those that phi does not show well yet; */
    uint16_t with[6]; /* and with neighbours each way, */
    uint16_t far[6];  /* of which those from where little of it goes on */
} und_volume_chunk;

/* In unsure[].  Beyond the surface the flow is made up: where it gains or loses volume so do phi and the
 * particles, and what cells hold does not; so in sources, and where it is slow fluxes are off by less. Sheets
 * may be thinner than particles can tell, gaps close, and along walls there are films. */
enum {
    UND_VOLUME_GAINS = 1,
    UND_VOLUME_SLOW = 2,
    UND_VOLUME_POURS = 4,
    UND_VOLUME_THIN = 8,
    UND_VOLUME_WALL = 16,
    UND_VOLUME_GAINS_MUCH = 32, /* particles there know nothing */
    UND_VOLUME_BY_FLOW = UND_VOLUME_GAINS | UND_VOLUME_SLOW | UND_VOLUME_POURS | UND_VOLUME_GAINS_MUCH
};

/* The first two and the last, of cells in a flow that crosses `whole` cells in a step at 1 m/s, by
 * what it is at their high and low faces along so many axes. */
UND_INLINE und_lanes_int und_volumes_unsure_by(const und_lanes high[3], const und_lanes low[3], int axes,
                                               float whole)
{
    const float keeps = 0.002f, much = 0.3f; /* of its volume, in a step */
    const float least = 0.25f;               /* cells that are crossed in it */
    und_lanes gain = {0}, square = {0};
    for (int a = 0; a < axes; a++) {
        gain += high[a] - low[a];
        square += (high[a] + low[a]) * (high[a] + low[a]);
    }
    gain *= whole;
    return (((gain > keeps) | (gain < -keeps)) & UND_VOLUME_GAINS) |
           (((gain > much) | (gain < -much)) & UND_VOLUME_GAINS_MUCH) |
           ((square * (whole * whole) < 4 * least * least) & UND_VOLUME_SLOW);
}
UND_INLINE und_lanes_int und_volumes_unsure(const und_mac *m, const float *const u[3], float whole, size_t at)
{
    const int axes = m->n[2] > 1 ? 3 : 2;
    und_lanes high[3], low[3];
    for (int a = 0; a < axes; a++) {
        high[a] = und_lanes_load(u[a] + at);
        low[a] = und_lanes_load(u[a] + at - m->step[a]);
    }
    return und_volumes_unsure_by(high, low, axes, whole);
}

/* Of UND_LANES cells those before the end of a row of which `left` are still to come. */
UND_INLINE unsigned und_volume_row_bits(size_t left)
{
    return left < UND_LANES ? (1u << left) - 1 : UND_LANES_ALL;
}

/* Chunks: so early memory is asked for what is read next; there are as many behind the last of a list. */
enum { UND_VOLUME_AHEAD = 8 };

/* UND_LANES values that are read soon: they are in two lines of memory, most often. */
UND_INLINE void und_volume_fetch(const void *values, ptrdiff_t at)
{
    const char *first = (const char *)values + (ptrdiff_t)sizeof(float) * at;
    __builtin_prefetch(first);
    __builtin_prefetch(first + sizeof(und_lanes) - 1);
}

UND_INLINE float und_volume_cells(int32_t units)
{
    return (float)units * 0x1p-24f;
}
/* Towards 0: so what goes from one cell to another is minus what comes back. */
UND_INLINE int32_t und_volume_units(float cells)
{
    return (int32_t)(cells * 0x1p24f);
}

UND_INLINE und_lanes und_volumes_cells(und_lanes_int units)
{
    return __builtin_convertvector(units, und_lanes) * 0x1p-24f;
}
UND_INLINE und_lanes_int und_volumes_units(und_lanes cells)
{
    return __builtin_convertvector(cells * 0x1p24f, und_lanes_int);
}

UND_INLINE und_lanes und_volumes_clip(und_lanes v, float most)
{
    const und_lanes high = und_lanes_all(most);
    return und_lanes_select(v < -high, -high, und_lanes_select(v < high, v, high));
}
UND_INLINE float und_volume_clip(float v, float most)
{
    return v < -most ? -most : v < most ? v : most;
}

/* A cell that holds so much gets no more: so no number overflows, however liquid is pressed together.  Of
 * neighbours together it gets less than twice that at once. */
enum { UND_VOLUME_MOST = 60, UND_VOLUME_AT_ONCE = 2 }; /* cells */
/* Cells: where a solid has come over liquid and before it there is so much in a cell already, what more there
 * is stays in the solid until it has gone on. */
enum { UND_VOLUME_PRESSED = 8 };
UND_INLINE bool und_volume_crowded(int32_t units)
{
    return units > UND_VOLUME_MOST << 24 || units < -(UND_VOLUME_MOST << 24);
}

UND_INLINE und_lanes_int und_volumes_crowded(und_lanes_int units)
{
    return (units > UND_VOLUME_MOST << 24) | (units < -(UND_VOLUME_MOST << 24));
}

/* 1 2 1 along each axis, of neighbour k. */
UND_INLINE float und_volume_weight(int k)
{
    return (float)((k % 3 == 1 ? 2 : 1) * (k / 3 % 3 == 1 ? 2 : 1) * (k / 9 == 1 ? 2 : 1));
}

/* Whether a way over open faces, one along each axis that it differs in, leads to neighbour k. */
UND_INLINE bool und_volume_way(const float *const open[3], const ptrdiff_t step[3], size_t at, int k)
{
    static const uint8_t orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int by[3] = {k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1};
    for (int o = 0; o < 6; o++) {
        ptrdiff_t p = (ptrdiff_t)at;
        bool leads = true;
        for (int i = 0; i < 3 && leads; i++) {
            const int a = orders[o][i];
            if (by[a] == 0)
                continue;
            leads = open[a][by[a] > 0 ? p : p - step[a]] > 0;
            p += by[a] * step[a];
        }
        if (leads)
            return true;
    }
    return false;
}

/* The interface's slope by differences of the 27 fractions around a cell (Youngs); `up` where all are alike.
 */
UND_INLINE void und_volume_slope(const und_lanes f[UND_VOLUME_AROUND], und_lanes slope[3])
{
    static const float w[3] = {1, 2, 1};
    const und_lanes zero = {0};
    slope[0] = slope[1] = slope[2] = zero;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) {
            const float both = w[i] * w[j];
            slope[0] -= both * (f[2 + 3 * i + 9 * j] - f[3 * i + 9 * j]);
            slope[1] -= both * (f[i + 6 + 9 * j] - f[i + 9 * j]);
            slope[2] -= both * (f[i + 3 * j + 18] - f[i + 3 * j]);
        }
    und_lanes size = zero;
    for (int a = 0; a < 3; a++)
        size += und_lanes_max(slope[a], -slope[a]);
    slope[1] = und_lanes_select(size > 1e-5f, slope[1], und_lanes_all(1));
}

/* What liquid has of a cell that a wall leaves `room` of, where it would have `part` without it, and the
 * liquid's surface and the wall's face the same way by so much (a cosine).  Where they face the same way it
 * is what lies on the wall, where they face each other what both have; in between in proportion to the angle,
 * as of two planes through the middle of a ball, with the product where they are at right angles. */
UND_INLINE float und_volume_within(float part, float room, float cosine)
{
    const float beyond = part + room - 1, both = part < room ? part : room;
    const float x = cosine < 0 ? -cosine : cosine, apart = 1 - x > 0 ? 1 - x : 0;
    /* 1 - acos(x) / (pi / 2) (Abramowitz & Stegun 4.4.45) */
    const float share = 1 - __builtin_sqrtf(apart) * (1 + x * (-0.1350f + x * (0.0473f - 0.0119f * x)));
    return share * (cosine < 0 ? both : beyond > 0 ? beyond : 0) + (1 - share) * (part * room);
}

UND_INLINE und_lanes und_volumes_within(und_lanes part, und_lanes room, und_lanes cosine)
{
    const und_lanes none = {0}, beyond = part + room - 1, both = und_lanes_select(part < room, part, room);
    const und_lanes x = und_lanes_select(cosine < none, -cosine, cosine);
    const und_lanes apart = und_lanes_select(1 - x > none, 1 - x, none);
    const und_lanes share = 1 - und_lanes_sqrt(apart) * (1 + x * (-0.1350f + x * (0.0473f - 0.0119f * x)));
    const und_lanes lies = und_lanes_select(beyond > none, beyond, none);
    return share * und_lanes_select(cosine < none, both, lies) + (1 - share) * (part * room);
}

/* What flows over a face of the inside of the liquid, or out of a cell that is held. */
UND_INLINE int32_t und_volume_full_flux(float open, float way)
{
    return und_volume_units(open * way);
}

/* What a plane of this slope that leaves `part` of a cell full lets over a face along the axis, where the
 * flow goes `way` (at most 1, of either sign): of a whole cell, as the way is. */
UND_INLINE und_lanes und_volume_plane_flux(und_lanes part, const und_lanes slope[3], int axis, und_lanes way)
{
    const und_lanes zero = {0}, one = und_lanes_all(1);
    const und_lanes value = und_planes_value(part, slope);
    const und_lanes_int up = way > zero;
    const und_lanes begin = und_lanes_select(up, one - way, zero), end = und_lanes_select(up, one, -way);
    const und_lanes flux = und_planes_slab(value, slope, axis, begin, end);
    return und_lanes_select(up, flux, -flux);
}

#endif
