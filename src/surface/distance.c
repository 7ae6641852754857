#include "surface/distance.h"

#include "base/pages.h"
#include "base/status.h"
#include "surface/distance_parts.h"
#include "surface/distance_refresh_kernel.h"
#include "surface/redistance_kernel.h"

#include <stdlib.h>

enum { COPIED = 1 << 14 }; /* values in one go */
enum { SPARE = 192 };      /* values behind the last: words of 64 cells and batches are read whole */

static und_status open_parts(und_distance *d, und_error *err)
{
    und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    und_mask *mask[] = {&d->band, &p->negative, &p->front, &p->near, &p->wide};
    for (size_t i = 0; i < sizeof mask / sizeof *mask; i++)
        if (und_mask_open(mask[i], m, "the surface's cells", err) != UND_OK)
            return err->status;
    size_t rows = (size_t)und_mac_rows(m);
    p->block_most = und_pages_alloc((size_t)und_set_rows(m, UND_ROWS_INSIDE).blocks * sizeof *p->block_most,
                                    "the surface's rows", err);
    p->row_extent = und_pages_alloc(rows * sizeof *p->row_extent, "the surface's rows", err);
    p->row_total = und_pages_alloc(rows * sizeof *p->row_total, "the surface's rows", err);
    p->stage = und_pages_alloc((m->count + SPARE) * sizeof *p->stage, "the surface's distance", err);
    if (!p->stage)
        return err->status;
    size_t around = 3 * (size_t)m->n[1] + 3; /* rows that a row can look at */
    p->taken = und_pages_alloc(rows, "the surface's rows", err);
    p->rows_changed = und_pages_alloc(2 * (rows + 2 * around), "the surface's rows", err);
    if (!p->taken || !p->rows_changed)
        return err->status;
    for (size_t i = 0; i < 2; i++)
        p->change[i] = p->rows_changed + i * (rows + 2 * around) + around;
    p->none = und_pages_alloc(((size_t)m->step[1] + SPARE) * sizeof *p->none, "the surface's rows", err);
    if (!p->block_most || !p->row_extent || !p->row_total || !p->none)
        return err->status;
    for (size_t i = 0; i < (size_t)m->step[1] + SPARE; i++)
        p->none[i] = UND_DISTANCE_NONE;
    return UND_OK;
}

und_status und_distance_open(und_distance *d, const und_mac *mac, int width, int threads, und_error *err)
{
    *d = (und_distance){.mac = *mac, .device = {threads}, .width = width};
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
        und_distance_parts *p = d->parts;
        und_mask *mask[] = {&p->negative, &p->front, &p->near, &p->wide};
        for (size_t i = 0; i < sizeof mask / sizeof *mask; i++)
            und_mask_close(mask[i]);
        und_pages_free(d->parts->row_total);
        und_pages_free(d->parts->block_most);
        und_pages_free(d->parts->row_extent);
        und_pages_free(d->parts->taken);
        und_pages_free(d->parts->stage);
        und_pages_free(d->parts->rows_changed);
        und_pages_free(d->parts->none);
    }
    free(d->parts);
    *d = (und_distance){0};
}

void und_distance_beside(const und_distance *d, float *phi)
{
    const und_distance_beside_args args = {d->mac, phi};
    const und_set rows = und_set_rows(&d->mac, UND_ROWS_ALL);
    und_pass(&d->device, und_distance_beside_row, &args, &rows);
}

static und_distance_refresh_args refresh_of(const und_distance *d)
{
    return (und_distance_refresh_args){.mac = d->mac,
                                       .phi = d->phi,
                                       .next = d->next,
                                       .band = d->band,
                                       .negative = d->parts->negative,
                                       .width = (float)d->width};
}

void und_distance_refresh_at(und_distance *d, int y, int z)
{
    const und_distance_refresh_args args = refresh_of(d);
    und_distance_refresh_row(&args, (und_place){.at = und_mac_at(&d->mac, 0, y, z), .y = y, .z = z});
}

void und_distance_refresh_rows(und_distance *d, const uint8_t *some)
{
    und_distance_refresh_args args = refresh_of(d);
    const und_set rows = und_set_rows(&d->mac, UND_ROWS_INSIDE);
    args.some = some;
    und_pass(&d->device, und_distance_refresh_row, &args, &rows);
    und_distance_beside(d, d->phi);
}

void und_distance_refresh(und_distance *d)
{
    und_distance_refresh_rows(d, NULL);
}

void und_distance_copy(const und_distance *d, float *phi)
{
    const und_distance_copy_args args = {d->phi, phi};
    const und_set all = und_set_list(phi, (int)d->mac.count, COPIED, 1);
    und_pass(&d->device, und_distance_copy_some, &args, &all);
}
