/* Parts of rows of a grid that there is something in or near: und_present of mac.h. */
#ifndef UND_GRID_PRESENT_H
#define UND_GRID_PRESENT_H

#include "grid/mac.h"

und_present *und_present_open(const und_mac *mac, und_error *err); /* none, and whole rows */
und_present *und_present_open_parts(const und_mac *mac, und_error *err);
void und_present_close(und_present *p);

void und_present_clear(und_present *p, const und_mac *mac);
/* Row (y, z), which is of the grid or beside it. */
static inline void und_present_add(und_present *p, int y, int z)
{
    p->bits[(size_t)(z + 1) * (size_t)p->words + (size_t)((y + 1) >> 6)] |= UINT64_C(1) << ((y + 1) & 63);
}
/* A part of it, and what is between that and what it had. */
void und_present_add_part(und_present *p, int y, int z, und_span part);
/* Cells from low to below high, as far as they are of the grid or beside it. */
void und_present_add_box(und_present *p, const und_mac *mac, const int low[3], const int high[3]);
/* And those up to so many away from them, along each axis. */
void und_present_grow(und_present *p, const und_mac *mac, int by);
/* Those of another window of the same grid. */
void und_present_add_window(und_present *p, const und_mac *mac, const und_present *other, const und_mac *of);
/* Parts become whole words of a mask's bits. */
void und_present_unite(und_present *p, const und_mac *mac, const und_present *more);
/* Whether the parts of rows of a slice are in places of their own, and read no others', where rows begin so
 * many values behind each other; `reads` are parts with UND_PRESENT_APART around them, owner has room for
 * und_present_owners. */
bool und_present_fits(const und_present *p, const und_present *reads, const und_mac *mac, int pitch,
                      uint16_t *owner);
int und_present_longest(const und_present *p, const und_mac *mac); /* part of a row */
size_t und_present_owners(const und_mac *mac);
/* Whether p does not have some of them. */
bool und_present_lacks(const und_present *p, const und_mac *mac, const und_present *some);
void und_present_count(und_present *p, const und_mac *mac);

#endif
