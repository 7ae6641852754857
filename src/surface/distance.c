#include "surface/distance.h"

#include "base/pages.h"
#include "base/status.h"
#include "surface/distance_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE = 192 }; /* values behind the last: words of 64 cells and batches are read whole */

static und_status open_parts(und_distance *d, und_error *err)
{
    und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    und_mask *mask[] = {&d->band, &p->negative, &p->front, &p->near, &p->wide};
    for (size_t i = 0; i < sizeof mask / sizeof *mask; i++)
        if (und_mask_open(mask[i], m, "the surface's cells", err) != UND_OK)
            return err->status;
    size_t rows = (size_t)und_mac_rows(m);
    p->per_row = m->n[0] / UND_LANES + 2;
    p->batch = und_pages_alloc(rows * (size_t)p->per_row * sizeof *p->batch, "the surface's cells", err);
    p->batches = und_pages_alloc(rows * sizeof *p->batches, "the surface's rows", err);
    p->row_sum = und_pages_alloc(rows * sizeof *p->row_sum, "the surface's rows", err);
    p->stage = und_pages_alloc((m->count + SPARE) * sizeof *p->stage, "the surface's distance", err);
    if (!p->stage)
        return err->status;
    size_t around = 3 * (size_t)m->n[1] + 3; /* rows that a row can look at */
    p->look = und_pages_alloc(rows, "the surface's rows", err);
    p->rows_changed = und_pages_alloc(2 * (rows + 2 * around), "the surface's rows", err);
    if (!p->look || !p->rows_changed)
        return err->status;
    for (size_t i = 0; i < 2; i++)
        p->change[i] = p->rows_changed + i * (rows + 2 * around) + around;
    p->none = und_pages_alloc(((size_t)m->step[1] + SPARE) * sizeof *p->none, "the surface's rows", err);
    if (!p->batch || !p->batches || !p->row_sum || !p->none)
        return err->status;
    for (size_t i = 0; i < (size_t)m->step[1] + SPARE; i++)
        p->none[i] = UND_DISTANCE_NONE;
    return UND_OK;
}

und_status und_distance_open(und_distance *d, const und_mac *mac, int width, int threads, und_error *err)
{
    *d = (und_distance){.mac = *mac, .threads = threads, .width = width};
    size_t bytes = (mac->count + SPARE) * sizeof *d->phi;
    d->parts = und_alloc(1, sizeof *d->parts, "the surface", err);
    d->phi = d->parts ? und_pages_alloc(bytes, "the surface's distance", err) : NULL;
    d->next = d->phi ? und_pages_alloc(bytes, "the surface's distance", err) : NULL;
    if (!d->next || open_parts(d, err) != UND_OK) {
        und_distance_close(d);
        return err->status;
    }
    for (size_t i = 0; i < mac->count; i++)
        d->phi[i] = d->next[i] = (float)width;
    return UND_OK;
}

void und_distance_close(und_distance *d)
{
    und_pages_free(d->phi);
    und_pages_free(d->next);
    und_mask_close(&d->band);
    if (d->parts) {
        und_mask *mask[] = {&d->parts->negative, &d->parts->front, &d->parts->near, &d->parts->wide};
        for (size_t i = 0; i < sizeof mask / sizeof *mask; i++)
            und_mask_close(mask[i]);
        und_pages_free(d->parts->batch);
        und_pages_free(d->parts->batches);
        und_pages_free(d->parts->row_sum);
        und_pages_free(d->parts->look);
        und_pages_free(d->parts->stage);
        und_pages_free(d->parts->rows_changed);
        und_pages_free(d->parts->none);
    }
    free(d->parts);
    *d = (und_distance){0};
}

/* Bit i: |v[i]| below a limit, v[i] below 0; up to 64 of a row of n + 2 from word w on. */
static int word_cells(const und_distance *d, int w)
{
    int left = d->mac.n[0] + 2 - 64 * w;
    return left < 64 ? left : 64;
}
static uint64_t near_bits(const float *v, int count, float limit)
{
    uint64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= (uint64_t)(fabsf(v[i]) < limit) << i;
    return bits;
}
static uint64_t negative_bits(const float *v, int count)
{
    uint64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= (uint64_t)(v[i] < 0) << i;
    return bits;
}

/* Those of the cells beside the domain, at both ends of the row. */
static void negative_ends(const und_distance *d, int y, int z)
{
    const und_mask *m = &d->parts->negative;
    uint64_t *row = und_mask_row(m, y, z);
    int n = d->mac.n[0];
    uint64_t first = row[0] >> 1 & 1, last = row[n >> 6] >> (n & 63) & 1;
    row[0] = (row[0] & ~UINT64_C(1)) | first;
    uint64_t bit = UINT64_C(1) << ((n + 1) & 63);
    row[(n + 1) >> 6] = (row[(n + 1) >> 6] & ~bit) | (last ? bit : 0);
}

static void signs_of_row(und_distance *d, int y, int z)
{
    const uint64_t *band = und_mask_row(&d->band, y, z);
    uint64_t *negative = und_mask_row(&d->parts->negative, y, z);
    const float *phi = d->phi + und_mac_at(&d->mac, 0, y, z) - 1;
    bool any = false;
    for (int w = 0; w < d->band.words; w++)
        if (band[w]) {
            negative[w] = negative_bits(phi + 64 * w, word_cells(d, w)) & und_distance_inside(d, w);
            any = true;
        }
    if (any)
        negative_ends(d, y, z);
}

void und_distance_signs(und_distance *d)
{
    int threads = und_distance_workers(d), blocks = und_distance_blocks(d);
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        for (int r = block * UND_DISTANCE_ROWS; r < und_distance_block_end(d, block); r++)
            signs_of_row(d, r % d->mac.n[1], r / d->mac.n[1]);
}

static void list_row(und_distance *d, const und_mask *cells, int row)
{
    und_distance_parts *p = d->parts;
    const uint64_t *bits = und_mask_row(cells, row % d->mac.n[1], row / d->mac.n[1]);
    und_batch *out = p->batch + (size_t)row * (size_t)p->per_row;
    int count = 0, done = 1; /* bits of the row up to this one are in batches */
    for (int w = 0; w < cells->words; w++) {
        uint64_t left = bits[w] & und_distance_inside(d, w);
        for (;;) {
            if (done > 64 * w)
                left &= done - 64 * w < 64 ? ~UINT64_C(0) << (done - 64 * w) : 0;
            if (!left)
                break;
            int first = 64 * w + __builtin_ctzll(left);
            uint32_t lanes = und_mask_lanes(cells, bits, first);
            int inside = d->mac.n[0] + 1 - first;
            if (inside < UND_LANES)
                lanes &= (1u << inside) - 1;
            out[count++] = (und_batch){first - 1, lanes};
            done = first + UND_LANES;
        }
    }
    p->batches[row] = count;
}

void und_distance_list(und_distance *d, const und_mask *cells)
{
    int threads = und_distance_workers(d), blocks = und_distance_blocks(d);
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        for (int r = block * UND_DISTANCE_ROWS; r < und_distance_block_end(d, block); r++)
            list_row(d, cells, r);
}

void und_distance_beside(const und_distance *d, float *phi)
{
    const und_mac *m = &d->mac;
    const int *n = m->n;
    int threads = und_distance_workers(d);
    PARALLEL_FOR(threads)
    for (int z = 0; z < n[2]; z++) {
        for (int y = 0; y < n[1]; y++) {
            float *row = phi + und_mac_at(m, 0, y, z);
            row[-1] = row[0];
            row[n[0]] = row[n[0] - 1];
        }
        size_t bytes = (size_t)(n[0] + 2) * sizeof *phi;
        memcpy(phi + und_mac_at(m, -1, -1, z), phi + und_mac_at(m, -1, 0, z), bytes);
        memcpy(phi + und_mac_at(m, -1, n[1], z), phi + und_mac_at(m, -1, n[1] - 1, z), bytes);
    }
    size_t slice = (size_t)m->step[2] * sizeof *phi;
    memcpy(phi + und_mac_at(m, -1, -1, -1), phi + und_mac_at(m, -1, -1, 0), slice);
    memcpy(phi + und_mac_at(m, -1, -1, n[2]), phi + und_mac_at(m, -1, -1, n[2] - 1), slice);
}

void und_distance_refresh_row(und_distance *d, int y, int z)
{
    float width = (float)d->width;
    size_t first = und_mac_at(&d->mac, 0, y, z);
    float *phi = d->phi + first, *next = d->next + first;
    for (int x = 0; x < d->mac.n[0]; x++) {
        float v = phi[x] < width ? phi[x] : width; /* so that NaN is air */
        v = v > -width ? v : -width;
        phi[x] = next[x] = v;
    }
    uint64_t *band = und_mask_row(&d->band, y, z), *negative = und_mask_row(&d->parts->negative, y, z);
    for (int w = 0; w < d->band.words; w++) {
        const float *v = phi - 1 + 64 * w;
        uint64_t inside = und_distance_inside(d, w);
        band[w] = near_bits(v, word_cells(d, w), width) & inside;
        negative[w] = negative_bits(v, word_cells(d, w)) & inside;
    }
    negative_ends(d, y, z);
}

void und_distance_refresh(und_distance *d)
{
    int threads = und_distance_workers(d), blocks = und_distance_blocks(d);
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++)
        for (int r = block * UND_DISTANCE_ROWS; r < und_distance_block_end(d, block); r++)
            und_distance_refresh_row(d, r % d->mac.n[1], r / d->mac.n[1]);
    und_distance_beside(d, d->phi);
}
