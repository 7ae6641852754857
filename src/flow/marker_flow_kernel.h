/* Arithmetic on a staggered grid of doubles, several cells at a time, and on labels. */
#ifndef UND_FLOW_MARKER_FLOW_KERNEL_H
#define UND_FLOW_MARKER_FLOW_KERNEL_H

#include "grid/reduce.h"

#include <undine/walls.h>

/* Of ends of spans. */
UND_INLINE int und_marker_sooner(int a, int b)
{
    return a < b ? a : b;
}
UND_INLINE int und_marker_later(int a, int b)
{
    return a > b ? a : b;
}
/* A span grows to hold another one. */
UND_INLINE void und_marker_stretch(int32_t *low, int32_t *high, int32_t other_low, int32_t other_high)
{
    if (other_low >= other_high)
        return;
    const bool none = *low >= *high;
    *low = none ? other_low : und_marker_sooner(*low, other_low);
    *high = none ? other_high : und_marker_later(*high, other_high);
}

/* Of UND_DOUBLES places the first `count`. */
UND_INLINE unsigned und_marker_first(int count)
{
    return count < UND_DOUBLES ? (1u << (count > 0 ? count : 0)) - 1 : UND_DOUBLES_ALL;
}

/* Whether some of so many bytes are `which`; all are looked at. */
UND_INLINE bool und_marker_any(const uint8_t *bytes, int count, uint8_t which)
{
    int found = 0;
    for (int x = 0; x < count; x++)
        found |= bytes[x] == which;
    return found;
}

/* Of UND_DOUBLES cells those that hold liquid. */
UND_INLINE unsigned und_marker_liquid(const uint8_t *label)
{
    return und_doubles_bytes_are(label, UND_CELL_FULL) | und_doubles_bytes_are(label, UND_CELL_SURFACE);
}

/* ---- Incompressibility ---- */

typedef struct und_marker_missing_args {
    const double *u[3], *shrink;
    ptrdiff_t step[2];  /* along y and z */
    double per_cell[3]; /* 1 / d; 0 where there is no flow */
} und_marker_missing_args;

/* Equation 5, less what is to be missing. */
UND_INLINE und_doubles und_marker_missing(const und_marker_missing_args *a, size_t at)
{
    const double *u = a->u[0] + at, *v = a->u[1] + at, *w = a->u[2] + at;
    return -(a->per_cell[0] * (und_doubles_load(u) - und_doubles_load(u - 1)) +
             a->per_cell[1] * (und_doubles_load(v) - und_doubles_load(v - a->step[0])) +
             a->per_cell[2] * (und_doubles_load(w) - und_doubles_load(w - a->step[1]))) -
           und_doubles_load(a->shrink + at);
}

typedef struct und_marker_divergence_args {
    und_marker_missing_args missing;
    const uint8_t *label;
} und_marker_divergence_args;

UND_INLINE und_doubles und_marker_divergence(const und_marker_divergence_args *a, und_place p)
{
    const und_doubles none = {0};
    return und_doubles_some(und_doubles_bytes_are(a->label + p.at, UND_CELL_FULL),
                            und_doubles_abs(und_marker_missing(&a->missing, p.at)), none);
}
UND_KERNEL_LARGEST(und_marker_divergence, und_marker_divergence_args)

/* ---- How fast it is ---- */

typedef struct und_marker_speed_args {
    const double *u[3];
    ptrdiff_t step[2];
    double per_cell[3];
    const uint8_t *label;
} und_marker_speed_args;

/* The speed in cells, in cells along all axes together; per_cell: over how long. */
UND_INLINE und_doubles und_marker_cells(const double *const u[3], const ptrdiff_t step[2],
                                        const double per_cell[3], size_t at)
{
    const double *x = u[0] + at, *y = u[1] + at, *z = u[2] + at;
    const und_doubles across[3][2] = {
        {und_doubles_abs(und_doubles_load(x)), und_doubles_abs(und_doubles_load(x - 1))},
        {und_doubles_abs(und_doubles_load(y)), und_doubles_abs(und_doubles_load(y - step[0]))},
        {und_doubles_abs(und_doubles_load(z)), und_doubles_abs(und_doubles_load(z - step[1]))}};
    return und_doubles_max(across[0][0], across[0][1]) * per_cell[0] +
           und_doubles_max(across[1][0], across[1][1]) * per_cell[1] +
           und_doubles_max(across[2][0], across[2][1]) * per_cell[2];
}

UND_INLINE und_doubles und_marker_speed(const und_marker_speed_args *a, und_place p)
{
    const und_doubles none = {0};
    return und_doubles_some(und_marker_liquid(a->label + p.at),
                            und_marker_cells(a->u, a->step, a->per_cell, p.at), none);
}
UND_KERNEL_LARGEST(und_marker_speed, und_marker_speed_args)

#endif
