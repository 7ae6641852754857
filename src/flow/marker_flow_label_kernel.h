/* Which cells are Full and which Surface, row by row. */
#ifndef UND_FLOW_MARKER_FLOW_LABEL_KERNEL_H
#define UND_FLOW_MARKER_FLOW_LABEL_KERNEL_H

#include "flow/marker_flow_parts.h"

typedef struct und_marker_label_args {
    und_mac mac;
    uint8_t *label, *found; /* those to come: neighbours read the old ones */
    int32_t *low, *high, *wet_low, *wet_high, (*count)[2];
    double *p;
} und_marker_label_args;

UND_INLINE void und_marker_find_labels(const und_marker_label_args *a, und_place row)
{
    const uint8_t *at = a->label + row.at;
    uint8_t *restrict out = a->found + row.at;
    const ptrdiff_t sy = a->mac.step[1], sz = a->mac.n[2] > 1 ? a->mac.step[2] : 0;
    for (int x = 0; x < a->mac.n[0]; x++) {
        const bool liquid = (at[x] == UND_CELL_FULL) | (at[x] == UND_CELL_SURFACE);
        const bool air = (at[x - 1] == UND_CELL_EMPTY) | (at[x + 1] == UND_CELL_EMPTY) |
                         (at[x - sy] == UND_CELL_EMPTY) | (at[x + sy] == UND_CELL_EMPTY) |
                         (at[x - sz] == UND_CELL_EMPTY) | (at[x + sz] == UND_CELL_EMPTY);
        out[x] = liquid ? (air ? UND_CELL_SURFACE : UND_CELL_FULL) : at[x];
    }
}
UND_KERNEL(und_marker_find_labels, und_marker_label_args, UND_EACH_ROW)

UND_INLINE int32_t und_marker_count(const uint8_t *label, int count, uint8_t which)
{
    enum { MOST = 255 }; /* that a byte can count */
    int32_t sum = 0;
    for (int from = 0; from < count; from += MOST) {
        const int to = count - from < MOST ? count : from + MOST;
        uint8_t some = 0;
        for (int x = from; x < to; x++)
            some = (uint8_t)(some + (label[x] == which));
        sum += some;
    }
    return sum;
}

/* Liquid that left a cell leaves no pressure behind. */
UND_INLINE void und_marker_clear_pressure(const und_marker_label_args *a, size_t first, int from, int to)
{
    const und_doubles none = {0};
    for (int x = from; x < to; x += UND_DOUBLES) {
        const size_t at = first + (size_t)x;
        const unsigned left = und_doubles_bytes_are(a->label + at, UND_CELL_EMPTY) & und_marker_first(to - x);
        if (left)
            und_doubles_store_some(a->p + at, none, left);
    }
}

UND_INLINE void und_marker_keep_labels(const und_marker_label_args *a, und_place row)
{
    const int n = a->mac.n[0], number = und_marker_flow_row(&a->mac, row);
    int low = 0, high = 0;
    const uint8_t *restrict found = a->found + row.at;
    uint8_t *restrict label = a->label + row.at;
    for (int x = 0; x < n; x++)
        label[x] = found[x];
    const int32_t full = und_marker_count(label, n, UND_CELL_FULL),
                  surface = und_marker_count(label, n, UND_CELL_SURFACE);
    if (full + surface > 0) {
        while (!und_is_liquid(label[low]))
            low++;
        for (high = n; !und_is_liquid(label[high - 1]);)
            high--;
    }
    a->low[number] = low;
    a->high[number] = high;
    a->count[number][0] = full;
    a->count[number][1] = surface;
    und_marker_clear_pressure(a, row.at, a->wet_low[number], a->wet_high[number]);
    a->wet_low[number] = low;
    a->wet_high[number] = high;
}
UND_KERNEL(und_marker_keep_labels, und_marker_label_args, UND_EACH_ROW)

#endif
