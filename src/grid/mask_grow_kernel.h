/* Cells of a mask and those beside them. */
#ifndef UND_GRID_MASK_GROW_KERNEL_H
#define UND_GRID_MASK_GROW_KERNEL_H

#include "grid/pass.h"

typedef struct und_grow_args {
    und_mask in, out;
} und_grow_args;

/* out: the cells of `in` and those that share a face with one of them, the layer beside included; out is not
 * in.  A row of all. */
UND_INLINE void und_grow_row(const und_grow_args *a, und_place p)
{
    const und_mask *in = &a->in;
    const int words = in->words, used = (in->n[0] + 2) & 63; /* bits of a row's last word */
    const uint64_t *own = und_mask_row(in, p.y, p.z);
    const uint64_t *const below = p.y >= 0 ? und_mask_row(in, p.y - 1, p.z) : own,
                          *const above = p.y < in->n[1] ? und_mask_row(in, p.y + 1, p.z) : own,
                          *const back = p.z >= 0 ? und_mask_row(in, p.y, p.z - 1) : own,
                          *const front = p.z < in->n[2] ? und_mask_row(in, p.y, p.z + 1) : own;
    uint64_t *out = und_mask_row(&a->out, p.y, p.z);
    for (int w = 0; w < words; w++)
        out[w] = own[w] | own[w] << 1 | own[w] >> 1 | (w > 0 ? own[w - 1] >> 63 : 0) |
                 (w + 1 < words ? own[w + 1] << 63 : 0) | below[w] | above[w] | back[w] | front[w];
    if (used)
        out[words - 1] &= ~UINT64_C(0) >> (64 - used);
}
UND_KERNEL(und_grow_row, und_grow_args, UND_EACH_ROW)

#endif
