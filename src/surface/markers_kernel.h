/* Markers in the grid's cells: how many are in each, what they stand for there, and so which cells hold
 * liquid. */
#ifndef UND_SURFACE_MARKERS_KERNEL_H
#define UND_SURFACE_MARKERS_KERNEL_H

#include "base/maths_kernel.h"
#include "base/shared.h"
#include "grid/pass.h"

#include <undine/walls.h>

/* Markers are kept this far (in cells) inside of their cell where they touch what is solid. */
#define UND_MARKER_EDGE 1e-9

UND_INLINE void und_markers_to_cells(const und_mac *m, const double per[3], const double place[3],
                                     double cells[3])
{
    for (int a = 0; a < 3; a++)
        cells[a] = (place[a] - m->origin[a]) * per[a];
}

/* The cell that holds it along an axis; the nearest inside. */
UND_INLINE int und_markers_inside(const und_mac *m, int axis, double cells)
{
    const int last = m->n[axis] - 1;
    return !(cells > 0) ? 0 : cells < last ? (int)cells : last;
}

UND_INLINE size_t und_markers_cell_of(const und_mac *m, const double per[3], double *const place[3], size_t i)
{
    const double at[3] = {place[0][i], place[1][i], place[2][i]};
    double cells[3];
    und_markers_to_cells(m, per, at, cells);
    return und_mac_at(m, und_markers_inside(m, 0, cells[0]), und_markers_inside(m, 1, cells[1]),
                      und_markers_inside(m, 2, cells[2]));
}

/* ---- How many are in each cell ---- */

typedef struct und_markers_count_args {
    und_mac mac;
    double per[3], *place[3];
    int32_t *per_cell;
    bool alone; /* nobody else counts */
} und_markers_count_args;

UND_INLINE void und_markers_count(const und_markers_count_args *a, und_place p)
{
    for (size_t i = p.at; i < p.at + (size_t)p.x; i++) {
        int32_t *count = a->per_cell + und_markers_cell_of(&a->mac, a->per, a->place, i);
        if (a->alone)
            ++*count;
        else
            und_shared_add(count, 1);
    }
}
UND_KERNEL(und_markers_count, und_markers_count_args, UND_EACH_BLOCK)

/* ---- Labels ---- */

enum { UND_MARKERS_NONE, UND_MARKERS_SOME, UND_MARKERS_SOLID }; /* of cells */

typedef struct und_markers_label_args {
    und_mac mac;
    const int32_t *per_cell;
    uint8_t *kind, *label;
} und_markers_label_args;

/* Of a row, with the layer beside the domain. */
UND_INLINE void und_markers_find_kinds(const und_markers_label_args *a, und_place row)
{
    const uint8_t *label = a->label + row.at - 1;
    const int32_t *count = a->per_cell + row.at - 1;
    uint8_t *restrict kind = a->kind + row.at - 1;
    for (int i = 0; i < a->mac.n[0] + 2; i++) {
        const uint8_t some = count[i] > 0 ? UND_MARKERS_SOME : UND_MARKERS_NONE;
        kind[i] = label[i] == UND_CELL_SOLID ? UND_MARKERS_SOLID : some;
    }
}
UND_KERNEL(und_markers_find_kinds, und_markers_label_args, UND_EACH_ROW)

/* A cell without markers may be one that they left between them. */
UND_INLINE void und_markers_label_row(const und_markers_label_args *a, und_place row)
{
    const und_mac *m = &a->mac;
    const uint8_t *kind = a->kind + row.at;
    uint8_t *restrict label = a->label + row.at;
    const int dimensions = m->n[2] == 1 ? 2 : 3;
    const ptrdiff_t sy = m->step[1], sz = dimensions == 3 ? m->step[2] : 0;
    for (int x = 0; x < m->n[0]; x++) {
        const uint8_t side[6] = {kind[x - 1],  kind[x + 1],  kind[x - sy],
                                 kind[x + sy], kind[x - sz], kind[x + sz]}; /* in 2D: of itself */
        uint8_t air = 0, liquid = 0;
        for (int k = 0; k < 6; k++) {
            air |= (uint8_t)((side[k] == UND_MARKERS_NONE) & (k < 2 * dimensions));
            liquid = (uint8_t)(liquid + (side[k] == UND_MARKERS_SOME));
        }
        const bool hole = !air & (liquid >= dimensions);
        const uint8_t open = ((kind[x] == UND_MARKERS_SOME) | hole) ? UND_CELL_FULL : UND_CELL_EMPTY;
        label[x] = kind[x] == UND_MARKERS_SOLID ? UND_CELL_SOLID : open;
    }
}
UND_KERNEL(und_markers_label_row, und_markers_label_args, UND_EACH_ROW)

/* ---- What they stand for ---- */

/* Sums are of whole numbers, the same in any order; 64 bits hold 16 million cells' worth of markers in one.
 */
#define UND_MARKERS_UNIT 0x1p-40 /* of a cell */

typedef struct und_markers_wet_args {
    und_mac mac;
    double per[3], *place[3];
    const double *share;
    const uint8_t *label;
    uint64_t *wet;
    double half[3],
        full;   /* the box of a marker as a full cell has it: half its sides, in cells, and its share */
    bool alone; /* nobody else adds */
} und_markers_wet_args;

/* Along an axis: the cells into which a marker's box reaches, its own first, and how much of it is there. */
typedef struct und_markers_reach {
    int beside; /* -1, 0 or 1: the other one */
    double part[2];
} und_markers_reach;

UND_INLINE und_markers_reach und_markers_reach_of(double in_cell, double half)
{
    const double low = in_cell - half, high = in_cell + half;
    if (low < 0)
        return (und_markers_reach){-1, {high / (2 * half), -low / (2 * half)}};
    if (high > 1)
        return (und_markers_reach){1, {(1 - low) / (2 * half), (high - 1) / (2 * half)}};
    return (und_markers_reach){0, {1, 0}};
}

UND_INLINE void und_markers_add(uint64_t *sum, double share, bool alone)
{
    const uint64_t units = (uint64_t)(share * (1 / UND_MARKERS_UNIT) + 0.5);
    if (alone)
        *sum += units;
    else
        und_shared_sum(sum, units);
}

/* The size of one's box that stands for more, or less. */
UND_INLINE double und_markers_size(const und_markers_wet_args *a, double share)
{
    const double part = share / a->full;
    if (__builtin_fabs(part - 1) < 1e-9)
        return 1;
    return a->mac.n[2] == 1 ? __builtin_sqrt(part) : und_cube_root(part);
}

/* A box that reaches into other cells; what reaches into what is solid stays in the cell. */
UND_INLINE void und_markers_spread(const und_markers_wet_args *a, size_t at, const double in_cell[3],
                                   const double half[3], double all)
{
    und_markers_reach r[3];
    for (int i = 0; i < 3; i++) {
        r[i] = und_markers_reach_of(in_cell[i], half[i]);
        if (r[i].beside && a->label[(size_t)((ptrdiff_t)at + r[i].beside * a->mac.step[i])] == UND_CELL_SOLID)
            r[i] = (und_markers_reach){0, {1, 0}};
    }
    for (int k = 0; k < 8; k++) {
        double share = all;
        ptrdiff_t to = (ptrdiff_t)at;
        for (int i = 0; i < 3; i++) {
            const int over = k >> i & 1;
            share *= r[i].part[over];
            to += over * r[i].beside * a->mac.step[i];
        }
        if (share > 0 && a->label[to] != UND_CELL_SOLID)
            und_markers_add(a->wet + to, share, a->alone);
    }
}

UND_INLINE void und_markers_wet_cells(const und_markers_wet_args *a, und_place p)
{
    const und_mac *m = &a->mac;
    double last = 0, half[3] = {0}; /* most stand for the same */
    for (size_t i = p.at; i < p.at + (size_t)p.x; i++) {
        const double share = a->share[i], place[3] = {a->place[0][i], a->place[1][i], a->place[2][i]};
        double cells[3], in_cell[3];
        int home[3];
        bool over = false;
        if (share != last || i == p.at) {
            const double size = und_markers_size(a, share);
            for (int k = 0; k < 3; k++)
                half[k] = und_double_min(size * a->half[k], 0.5);
            last = share;
        }
        und_markers_to_cells(m, a->per, place, cells);
        for (int k = 0; k < 3; k++) {
            home[k] = und_markers_inside(m, k, cells[k]);
            in_cell[k] = cells[k] - home[k];
            over |= in_cell[k] < half[k] || in_cell[k] > 1 - half[k];
        }
        const size_t at = und_mac_at(m, home[0], home[1], home[2]);
        if (over)
            und_markers_spread(a, at, in_cell, half, share);
        else
            und_markers_add(a->wet + at, share, a->alone);
    }
}
UND_KERNEL(und_markers_wet_cells, und_markers_wet_args, UND_EACH_BLOCK)

#endif
