/* Velocities of faces around the liquid, row by row. */
#ifndef UND_FLOW_MARKER_FLOW_EXTEND_KERNEL_H
#define UND_FLOW_MARKER_FLOW_EXTEND_KERNEL_H

#include "flow/marker_flow_parts.h"

enum { UND_MARKER_AIR = 4 }; /* shift of the bits that say: in the air */

typedef struct und_marker_extend_args {
    und_mac mac;
    int axes;
    double *u[3], *next[3];
    const uint8_t *label;
    uint8_t *known, *told, *air;
    int32_t *low, *high;                   /* of each row: where velocities are kept, */
    const int32_t *reach_low, *reach_high; /* and will be */
    bool second;                           /* layer */
} und_marker_extend_args;

UND_INLINE void und_marker_copy(uint8_t *restrict to, const uint8_t *restrict from, int count)
{
    for (int x = 0; x < count; x++)
        to[x] = from[x];
}
UND_INLINE void und_marker_forget(uint8_t *restrict bytes, int from, int to)
{
    for (int x = from; x < to; x++)
        bytes[x] = 0;
}

/* Bit a for each cell of a row: its high face along a is known, for there is liquid beside it; bit 4 + a: it
 * lies in the air.  All bits that occur. */
UND_INLINE unsigned und_marker_find_known(const und_marker_extend_args *k, size_t first, int low, int high)
{
    const uint8_t *label = k->label + first;
    uint8_t *restrict known = k->known + first;
    und_marker_forget(known, low, high);
    for (int a = 0; a < k->axes; a++) {
        const uint8_t *next = label + k->mac.step[a];
        const uint8_t air_bit = (uint8_t)(1 << (UND_MARKER_AIR + a)), known_bit = (uint8_t)(1 << a);
        for (int x = low; x < high; x++) {
            const bool solid = (label[x] == UND_CELL_SOLID) | (next[x] == UND_CELL_SOLID);
            const bool air = (label[x] == UND_CELL_EMPTY) & (next[x] == UND_CELL_EMPTY);
            const uint8_t beside = solid ? 0 : known_bit;
            known[x] |= air ? air_bit : beside;
        }
    }
    unsigned any = 0;
    for (int x = low; x < high; x++)
        any |= known[x];
    return any;
}

/* Finds which faces of a row are known and which lie in the air; those are cleared. */
UND_INLINE void und_marker_sort_faces(const und_marker_extend_args *k, und_place row)
{
    const int number = und_marker_flow_row(&k->mac, row);
    int32_t low = k->low[number], high = k->high[number]; /* of the time before */
    int from = k->reach_low[number], to = k->reach_high[number];
    und_marker_stretch(&low, &high, from, to);
    k->low[number] = from;
    k->high[number] = to;
    uint8_t *known = k->known + row.at;
    const unsigned any = und_marker_find_known(k, row.at, low, high);
    k->air[number] = any >> UND_MARKER_AIR != 0;
    und_marker_forget(k->told + row.at, low, high);
    for (int x = low; k->air[number] && x < high; x++)
        for (int a = 0, air = known[x] >> UND_MARKER_AIR; air >> a; a++)
            if (air >> a & 1)
                k->u[a][row.at + (size_t)x] = k->next[a][row.at + (size_t)x] = 0;
    if (from >= to)
        from = to = high;
    und_marker_forget(known, low, from);
    und_marker_forget(known, to, high);
}
UND_KERNEL(und_marker_sort_faces, und_marker_extend_args, UND_EACH_ROW)

/* The mean of the known faces beside one, in a fixed order. */
UND_INLINE double und_marker_mean_beside(const und_marker_extend_args *k, int axis, size_t at, bool second)
{
    const double *u = k->u[axis];
    double sum = 0;
    int count = 0;
    for (int a = 0; a < k->axes; a++) {
        const size_t step = (size_t)k->mac.step[a], beside[2] = {at - step, at + step};
        for (int side = 0; side < 2; side++) {
            const size_t n = beside[side];
            const int there = (k->known[n] | (second ? k->told[n] : 0)) >> axis & 1;
            sum += there ? u[n] : 0;
            count += there;
        }
    }
    return sum / count;
}

/* Which faces of `count` cells in the air have known ones beside them.  First by those that `known` says,
 * then by those and the ones made first. */
UND_INLINE void und_marker_find_next(const und_marker_extend_args *k, size_t at, int count, bool second,
                                     uint8_t *restrict next)
{
    const uint8_t *known = k->known + at, *told = k->told + at;
    const uint8_t use_told = second ? 255 : 0;
    und_marker_forget(next, 0, count);
    for (int side = 0; side < 2 * k->axes; side++) {
        const ptrdiff_t to = side % 2 ? k->mac.step[side / 2] : -k->mac.step[side / 2];
        for (int x = 0; x < count; x++)
            next[x] |= known[x + to] | (told[x + to] & use_told);
    }
    for (int x = 0; x < count; x++)
        next[x] = (uint8_t)(next[x] & known[x] >> UND_MARKER_AIR & ~(told[x] & use_told));
}

/* A layer of a row: the faces that are made are written by this row alone, and none reads them. */
UND_INLINE void und_marker_extend(const und_marker_extend_args *k, und_place row, bool second)
{
    enum { STRIP = UND_LANES > 1 ? 256 : 1 };
    uint8_t next[STRIP];
    const int number = und_marker_flow_row(&k->mac, row), end = k->high[number];
    for (int low = k->low[number]; k->air[number] && low < end; low += STRIP) {
        const int count = und_marker_sooner(end - low, STRIP);
        const size_t at = row.at + (size_t)low;
        und_marker_find_next(k, at, count, second, next);
        for (int x = 0; x < count; x++)
            for (int a = 0; next[x] >> a; a++)
                if (next[x] >> a & 1)
                    k->u[a][at + (size_t)x] = und_marker_mean_beside(k, a, at + (size_t)x, second);
        if (!second)
            und_marker_copy(k->told + at, next, count);
    }
}
UND_INLINE void und_marker_extend_first(const und_marker_extend_args *k, und_place row)
{
    und_marker_extend(k, row, false);
}
UND_KERNEL(und_marker_extend_first, und_marker_extend_args, UND_EACH_ROW)
UND_INLINE void und_marker_extend_second(const und_marker_extend_args *k, und_place row)
{
    und_marker_extend(k, row, true);
}
UND_KERNEL(und_marker_extend_second, und_marker_extend_args, UND_EACH_ROW)

#endif
