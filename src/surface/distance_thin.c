/* What is one cell thick.
 *
 * In the middle of a sheet or a thread phi is least, and what is followed back to there stays what it was,
 * however much the flow draws the sheet thinner.  Within a cell the flow across it is linear between its
 * faces, so that the thickness grows by the part that they part by. */
#include "surface/distance_parts.h"

#include <math.h>

#define THINNEST 0.03f /* cells, half of it: what is thinner is gone */

/* Cells of a word that differ from both neighbours along an axis. */
static inline uint64_t between(uint64_t own, uint64_t low, uint64_t high)
{
    return (own ^ low) & (own ^ high);
}

static void draw_cell(und_distance *d, float *const u[3], float cells_per_speed, size_t cell,
                      const bool thin[3])
{
    float apart = 0, axes = 0, *phi = &d->phi[cell];
    for (int a = 0; a < 3; a++)
        if (thin[a]) {
            apart += u[a][cell] - u[a][cell - (size_t)d->mac.step[a]];
            axes++;
        }
    float grown = 1 + cells_per_speed * apart / axes;
    float size = fabsf(*phi) * fminf(fmaxf(grown, 0.0f), 2.0f);
    float sign = *phi < 0 ? -1.0f : 1.0f;
    *phi = grown < 1 && size < THINNEST ? -sign * THINNEST : sign * size;
}

static void draw_row(und_distance *d, float *const u[3], float cells_per_speed, int row)
{
    const und_mac *m = &d->mac;
    const und_mask *negative = &d->parts->negative;
    int y = row % m->n[1], z = row / m->n[1], words = negative->words;
    const uint64_t *own = und_mask_row(negative, y, z), *band = und_mask_row(&d->band, y, z);
    const uint64_t *beside[4] = {und_mask_row(negative, y - 1, z), und_mask_row(negative, y + 1, z),
                                 und_mask_row(negative, y, z - 1), und_mask_row(negative, y, z + 1)};
    for (int w = 0; w < words; w++) {
        uint64_t low = own[w] << 1 | (w > 0 ? own[w - 1] >> 63 : 0);
        uint64_t high = own[w] >> 1 | (w + 1 < words ? own[w + 1] << 63 : 0);
        uint64_t thin[3] = {between(own[w], low, high), between(own[w], beside[0][w], beside[1][w]),
                            between(own[w], beside[2][w], beside[3][w])};
        uint64_t any = (thin[0] | thin[1] | thin[2]) & band[w] & und_distance_inside(d, w);
        for (; any; any &= any - 1) {
            int bit = __builtin_ctzll(any);
            const bool axes[3] = {thin[0] >> bit & 1, thin[1] >> bit & 1, thin[2] >> bit & 1};
            draw_cell(d, u, cells_per_speed, und_mac_row(m, row) + (size_t)(64 * w + bit) - 1, axes);
        }
    }
}

void und_distance_draw_thin(und_distance *d, float *const u[3], double cells_per_speed)
{
    int threads = und_distance_workers(d), blocks = und_distance_blocks(d);
    und_distance_signs(d);
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        for (int r = block * UND_DISTANCE_ROWS; r < und_distance_block_end(d, block); r++)
            draw_row(d, u, (float)cells_per_speed, r);
}
