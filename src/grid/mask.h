/* Sets of cells (or of faces, each at the cell whose high face it is) as bits, row by row: the traversal
 * lists of Wrenninge 2003, 4.4.2.  The layer beside the domain belongs to it. */
#ifndef UND_GRID_MASK_H
#define UND_GRID_MASK_H

#include "grid/mac.h"

typedef struct und_mask {
    int n[3];       /* the grid's cells */
    int words;      /* of a row */
    uint64_t *bits; /* [n[2] + 2][n[1] + 2][words]; bit x + 1 of row (y, z) is cell x; the rest is 0 */
} und_mask;

und_status und_mask_open(und_mask *m, const und_mac *mac, const char *what, und_error *err); /* empty */
void und_mask_close(und_mask *m);

/* y from -1 to n[1], z from -1 to n[2]. */
static inline uint64_t *und_mask_row(const und_mask *m, int y, int z)
{
    return m->bits + ((size_t)(z + 1) * (size_t)(m->n[1] + 2) + (size_t)(y + 1)) * (size_t)m->words;
}
static inline bool und_mask_has(const und_mask *m, int x, int y, int z)
{
    return und_mask_row(m, y, z)[(x + 1) >> 6] >> ((x + 1) & 63) & 1;
}
static inline void und_mask_add(und_mask *m, int x, int y, int z)
{
    und_mask_row(m, y, z)[(x + 1) >> 6] |= UINT64_C(1) << ((x + 1) & 63);
}

/* Sixteen cells of a row from x on (-1 or above), cell x at bit 0; x + 16 may lie beyond the row. */
static inline unsigned und_mask_sixteen(const und_mask *m, const uint64_t *row, int x)
{
    int w = (x + 1) >> 6, shift = (x + 1) & 63;
    uint64_t bits = w < m->words ? row[w] >> shift : 0;
    if (shift > 48 && w + 1 < m->words)
        bits |= row[w + 1] << (64 - shift);
    return (unsigned)(bits & 0xffff);
}

/* The cells of a row in growing order: their x into list[], which has room for n[0] + 2; how many. */
static inline int und_mask_list(const und_mask *m, int y, int z, int32_t *list)
{
    const uint64_t *row = und_mask_row(m, y, z);
    int count = 0;
    for (int w = 0; w < m->words; w++)
        for (uint64_t bits = row[w]; bits; bits &= bits - 1)
            list[count++] = 64 * w - 1 + __builtin_ctzll(bits);
    return count;
}

/* Bits `bit` to `bit` + 63 of a row, of which what is beyond its end may be anything; the row is not one of
 * the set's last slice. */
static inline uint64_t und_mask_bits(const uint64_t *row, int bit)
{
    int w = bit >> 6, shift = bit & 63;
    return row[w] >> shift | row[w + 1] << 1 << (63 - shift);
}

/* The cells of a row, up to `lanes` (at most 32) neighbours at a time: the first at or after x, where bit i
 * of `which` says whether x + i is another; n[0] + 1 where none is. for (int x = -1; (x = und_mask_batch(m,
 * row, x, lanes, &which)) <= n[0]; x += lanes) */
static inline int und_mask_batch(const und_mask *m, const uint64_t *row, int x, int lanes, unsigned *which)
{
    int w = (x + 1) >> 6;
    *which = 0;
    if (w >= m->words)
        return m->n[0] + 1;
    uint64_t bits = row[w] & ~UINT64_C(0) << ((x + 1) & 63);
    while (!bits) {
        if (++w >= m->words)
            return m->n[0] + 1;
        bits = row[w];
    }
    int bit = __builtin_ctzll(bits);
    bits >>= bit;
    if (bit > 64 - lanes && w + 1 < m->words)
        bits |= row[w + 1] << (64 - bit);
    *which = (unsigned)bits & (unsigned)((UINT64_C(1) << lanes) - 1);
    return 64 * w + bit - 1;
}

/* The stretches of a row: the first cell at or after x that is in the set and the first after that which is
 * not; false where none is. */
bool und_mask_stretch(const und_mask *m, int y, int z, int x, int *begin, int *end);

/* out: the cells of `in` and those that share a face with one of them; the layer beside included.  out is
 * not in. */
void und_mask_grow(const und_mask *in, und_mask *out, int threads);

void und_mask_clear(und_mask *m);
void und_mask_copy(const und_mask *from, und_mask *to);
void und_mask_remove(und_mask *m, const und_mask *others); /* what is in both goes */
void und_mask_unite(und_mask *m, const und_mask *others);
long und_mask_count(const und_mask *m);
/* Cells in rows of each slice z from -1 to n[2], count[0] and on: to share work out evenly. */
void und_mask_count_slices(const und_mask *m, int32_t *count);

#endif
