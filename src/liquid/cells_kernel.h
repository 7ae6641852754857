/* How much of their volume the cells of markers are to lose. */
#ifndef UND_LIQUID_CELLS_KERNEL_H
#define UND_LIQUID_CELLS_KERNEL_H

#include "surface/markers_kernel.h"

typedef struct und_cells_density_args {
    und_mac mac;
    const uint8_t *label;
    const uint64_t *wet; /* in UND_MARKERS_UNIT */
    const double *p;
    double *shrink;
    double heavy; /* m2/s2: the pressure of a layer of cells; 0: nothing weighs */
    double rate;  /* 1/s */
} und_cells_density_args;

/* Full cells that markers only half fill give way until they do, and those where they crowd let them out:
 * then what they stand for is what they show, everywhere.  Nothing holds together what flies, and nothing
 * presses on it: it stays as it is. */
UND_INLINE void und_cells_even_density(const und_cells_density_args *a, und_place row)
{
    const uint8_t *label = a->label + row.at;
    const uint64_t *wet = a->wet + row.at;
    const double *p = a->p + row.at, heavy = a->heavy;
    double *restrict shrink = a->shrink + row.at;
    for (int x = 0; x < a->mac.n[0]; x++) {
        const double density = (double)wet[x] * UND_MARKERS_UNIT;
        const double loose = label[x] == UND_CELL_FULL ? und_double_max(1 - density, -1) : 0;
        const double pressed = heavy > 0 ? und_double_min(und_double_max(p[x] / heavy, 0), 1) : 1;
        shrink[x] = a->rate * pressed * loose;
    }
}
UND_KERNEL(und_cells_even_density, und_cells_density_args, UND_EACH_ROW)

#endif
