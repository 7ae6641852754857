/* What follows from phi: the band, signs, and the layer beside the domain. */
#ifndef UND_SURFACE_DISTANCE_REFRESH_KERNEL_H
#define UND_SURFACE_DISTANCE_REFRESH_KERNEL_H

#include "grid/mask_kernel.h"
#include "grid/pass.h"

typedef struct und_distance_refresh_args {
    und_mac mac;
    float *phi, *next;
    und_mask band, negative;
    const uint8_t *some; /* rows; NULL: all */
    float width;
} und_distance_refresh_args;

/* Within the width, and both arrays the same; so that NaN is air. */
UND_INLINE void und_distance_clamp(const und_distance_refresh_args *a, size_t at, unsigned which)
{
    const und_lanes width = und_lanes_all(a->width), v = und_lanes_load(a->phi + at);
    const und_lanes low = und_lanes_select(v < width, v, width);
    const und_lanes value = und_lanes_select(low > -width, low, -width);
    und_lanes_store_some(a->phi + at, value, which);
    und_lanes_store_some(a->next + at, value, which);
}

/* Signs beside the domain are those of the cells it touches. */
UND_INLINE uint64_t und_distance_end_signs(const float *row, int n, int w, uint64_t negative)
{
    const int last = n + 1 - 64 * w;
    if (w == 0)
        negative = (negative & ~UINT64_C(1)) | (row[0] < 0);
    if (last >= 0 && last < 64)
        negative = (negative & ~(UINT64_C(1) << last)) | (uint64_t)(row[n - 1] < 0) << last;
    return negative;
}

UND_INLINE void und_distance_refresh_row(const und_distance_refresh_args *a, und_place p)
{
    const int n = a->mac.n[0];
    const float *phi = a->phi + p.at;
    if (a->some && !a->some[p.z * a->mac.n[1] + p.y])
        return;
    const und_span span = und_mac_span(&a->mac, p.y, p.z), words = und_mac_words(&a->mac, p.y, p.z);
    for (int x = span.begin; x < span.end; x += UND_LANES)
        und_distance_clamp(a, p.at + (size_t)x,
                           span.end - x < UND_LANES ? (1u << (span.end - x)) - 1 : UND_LANES_ALL);
    for (int w = words.begin; w < words.end; w++) {
        const uint64_t inside = und_word_inside(n, w);
        const uint64_t near =
            und_word_of(phi, n, w, false, a->width) & und_word_of(phi, n, w, true, -a->width);
        und_mask_row(&a->band, p.y, p.z)[w] = near & inside;
        und_mask_row(&a->negative, p.y, p.z)[w] =
            und_distance_end_signs(phi, n, w, und_word_of(phi, n, w, false, 0) & inside);
    }
}
UND_KERNEL(und_distance_refresh_row, und_distance_refresh_args, UND_EACH_ROW)

/* The same of a cell, where others of its row may change at once; signs beside the domain are those of the
 * cells it touches. */
UND_INLINE void und_distance_change_cell(const und_distance_refresh_args *a, size_t at, const int cell[3])
{
    const float width = a->width, low = a->phi[at] < width ? a->phi[at] : width,
                phi = low > -width ? low : -width;
    a->phi[at] = a->next[at] = phi;
    und_mask_set_shared(&a->band, cell[0], cell[1], cell[2], phi < width && phi > -width);
    for (int beside = -(cell[0] == 0); beside <= (cell[0] == a->mac.n[0] - 1); beside++)
        und_mask_set_shared(&a->negative, cell[0] + beside, cell[1], cell[2], phi < 0);
}

typedef struct und_distance_beside_args {
    und_mac mac;
    float *phi;
} und_distance_beside_args;

/* A row of the domain, or beside it: what is outside is as the nearest cell inside. */
UND_INLINE void und_distance_beside_row(const und_distance_beside_args *a, und_place p)
{
    const int *n = a->mac.n;
    const int y = p.y < 0 ? 0 : p.y < n[1] ? p.y : n[1] - 1, z = p.z < 0 ? 0 : p.z < n[2] ? p.z : n[2] - 1;
    const float *from = a->phi + und_mac_at(&a->mac, 0, y, z);
    float *to = a->phi + p.at;
    const und_span span = und_mac_span_beside(&a->mac, p.y, p.z), inside = und_mac_span(&a->mac, p.y, p.z);
    for (int x = inside.begin; x < inside.end && to != from; x++)
        to[x] = from[x];
    if (span.begin < 0)
        to[-1] = from[0];
    if (span.end > n[0])
        to[n[0]] = from[n[0] - 1];
}
UND_KERNEL(und_distance_beside_row, und_distance_beside_args, UND_EACH_ROW)

typedef struct und_distance_copy_args {
    und_mac mac;
    const float *from;
    float *to;
} und_distance_copy_args;

/* A row, with what is beside it. */
UND_INLINE void und_distance_copy_row(const und_distance_copy_args *a, und_place p)
{
    const und_span span = und_mac_span_beside(&a->mac, p.y, p.z);
    for (ptrdiff_t x = span.begin; x < span.end; x++)
        a->to[(ptrdiff_t)p.at + x] = a->from[(ptrdiff_t)p.at + x];
}
UND_KERNEL(und_distance_copy_row, und_distance_copy_args, UND_EACH_ROW)

#endif
