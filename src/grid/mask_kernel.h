/* Bits of masks from values, and lanes from bits. */
#ifndef UND_GRID_MASK_KERNEL_H
#define UND_GRID_MASK_KERNEL_H

#include "base/lanes.h"
#include "grid/mask.h"

/* The cells inside the domain in word w of a row of n: bits 1 to n of the row. */
UND_INLINE uint64_t und_word_inside(int n, int w)
{
    const uint64_t all = ~UINT64_C(0), from = w == 0 ? all << 1 : all;
    const int end = n + 1 - 64 * w;
    return end >= 64 ? from : end <= 0 ? 0 : from & ~(all << end);
}

/* Word w of a row of n and the two beside it: which of its values are above a level, or below.  `row` is its
 * cell 0. */
UND_INLINE uint64_t und_word_of(const float *row, int n, int w, bool above, float level)
{
    uint64_t bits = 0;
    const int end = n + 2 - 64 * w;
    for (int b = 0; b < 64 && b < end; b += UND_LANES) {
        const und_lanes v = und_lanes_load(row + 64 * w + b - 1);
        bits |= (uint64_t)und_lanes_bits(above ? v > level : v < level) << b;
    }
    return bits;
}

/* Of UND_LANES cells from x on those that are in a mask. */
UND_INLINE unsigned und_mask_lanes(const und_mask *m, int x, int y, int z)
{
    const uint64_t *row = und_mask_row(m, y, z);
    const int w = (x + 1) >> 6, shift = (x + 1) & 63;
    uint64_t lanes = row[w] >> shift;
    if (shift > 64 - UND_LANES && w + 1 < m->words)
        lanes |= row[w + 1] << (64 - shift);
    return (unsigned)lanes & UND_LANES_ALL;
}
UND_INLINE void und_mask_add_lanes(const und_mask *m, int x, int y, int z, unsigned lanes)
{
    uint64_t *row = und_mask_row(m, y, z);
    const int w = (x + 1) >> 6, shift = (x + 1) & 63;
#ifdef UND_CARD /* where others have the word's other cells */
    if (lanes)
        und_shared_or(&row[w], (uint64_t)lanes << shift);
    return;
#endif
    row[w] |= (uint64_t)lanes << shift;
    if (shift > 64 - UND_LANES && w + 1 < m->words)
        row[w + 1] |= (uint64_t)lanes >> (64 - shift);
}

#endif
