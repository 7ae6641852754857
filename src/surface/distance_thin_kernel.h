/* What is one cell thick. */
#ifndef UND_SURFACE_DISTANCE_THIN_KERNEL_H
#define UND_SURFACE_DISTANCE_THIN_KERNEL_H

#include "grid/mask_kernel.h"
#include "grid/pass.h"

#define UND_DISTANCE_THINNEST 0.03f /* cells, half of it: what is thinner is gone */

/* Cells of a word that differ from both neighbours along an axis. */
static inline uint64_t und_distance_bits_between(uint64_t own, uint64_t low, uint64_t high)
{
    return (own ^ low) & (own ^ high);
}

typedef struct und_distance_draw_args {
    und_mac mac;
    float *phi, *u[3];
    und_mask negative, band;
    float cells_per_speed;
} und_distance_draw_args;

static inline void und_distance_draw_cell(const und_distance_draw_args *d, size_t cell, const bool thin[3])
{
    float apart = 0, axes = 0, *phi = &d->phi[cell];
    for (int a = 0; a < 3; a++)
        if (thin[a]) {
            apart += d->u[a][cell] - d->u[a][cell - (size_t)d->mac.step[a]];
            axes++;
        }
    const float grown = 1 + d->cells_per_speed * apart / axes, most = grown > 0 ? grown : 0;
    const float sign = *phi < 0 ? -1.0f : 1.0f, size = sign * *phi * (most < 2 ? most : 2);
    *phi = grown < 1 && size < UND_DISTANCE_THINNEST ? -sign * UND_DISTANCE_THINNEST : sign * size;
}

UND_INLINE void und_distance_draw_word(const und_distance_draw_args *d, und_place p)
{
    const und_mask *m = &d->negative;
    const int w = p.x, words = m->words;
    const uint64_t *own = und_mask_row(m, p.y, p.z);
    const uint64_t low = own[w] << 1 | (w > 0 ? own[w - 1] >> 63 : 0);
    const uint64_t high = own[w] >> 1 | (w + 1 < words ? own[w + 1] << 63 : 0);
    const uint64_t thin[3] = {
        und_distance_bits_between(own[w], low, high),
        und_distance_bits_between(own[w], und_mask_row(m, p.y - 1, p.z)[w], und_mask_row(m, p.y + 1, p.z)[w]),
        und_distance_bits_between(own[w], und_mask_row(m, p.y, p.z - 1)[w],
                                  und_mask_row(m, p.y, p.z + 1)[w])};
    uint64_t any = (thin[0] | thin[1] | thin[2]) & und_mask_row(&d->band, p.y, p.z)[w];
    for (any &= und_word_inside(d->mac.n[0], w); any; any &= any - 1) {
        const int bit = __builtin_ctzll(any);
        const bool axes[3] = {thin[0] >> bit & 1, thin[1] >> bit & 1, thin[2] >> bit & 1};
        und_distance_draw_cell(d, p.at + (size_t)(64 * w + bit) - 1, axes);
    }
}
UND_KERNEL(und_distance_draw_word, und_distance_draw_args, UND_EACH_WORD)

#endif
