/* A staggered grid (Foster & Metaxas 1996, figure 1): a value of a cell, or of its high face along an axis,
 * stands at the cell's index.  There is one layer of cells beside the domain on all sides. */
#ifndef UND_GRID_MAC_H
#define UND_GRID_MAC_H

#include <undine/types.h>

typedef struct und_mac {
    int n[3];          /* cells inside; n[2] == 1: two-dimensional */
    double d[3];       /* their size, m */
    double origin[3];  /* the low corner of cell (0, 0, 0), m */
    ptrdiff_t step[3]; /* from a cell to the next along each axis; step[0] == 1, step[1] is a multiple of 8 */
    size_t first;      /* index of cell (0, 0, 0); a multiple of 8 */
    size_t count;      /* values of an array, with some behind the last so that rows may be read in eights */
} und_mac;

und_mac und_mac_make(const int n[3], const double d[3], const double origin[3]);

/* x, y, z from -1 (the layer beside) to n. */
static inline size_t und_mac_at(const und_mac *m, int x, int y, int z)
{
    return (size_t)((ptrdiff_t)m->first + x + y * m->step[1] + z * m->step[2]);
}

/* Rows are lines of cells along x: row (y, z) inside the domain. */
static inline int und_mac_rows(const und_mac *m)
{
    return m->n[1] * m->n[2];
}
static inline size_t und_mac_row(const und_mac *m, int row) /* index of its cell 0 */
{
    return und_mac_at(m, 0, row % m->n[1], row / m->n[1]);
}

/* The middle of cell x along the axis; x + 0.5 is its high face. */
static inline double und_mac_middle(const und_mac *m, int axis, double x)
{
    return m->origin[axis] + (x + 0.5) * m->d[axis];
}

#endif
