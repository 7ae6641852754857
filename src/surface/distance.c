#include "surface/distance.h"

#include "base/status.h"
#include "grid/field.h"
#include "surface/distance_parts.h"
#include "surface/distance_refresh_kernel.h"
#include "surface/redistance_kernel.h"

#include <stdlib.h>

enum { SPARE = 192 }; /* values behind the last: words of 64 cells and batches are read whole */

/* Of rows, twice with all that a row looks at; of the cells of one. */
enum { AT_BLOCKS = UND_AT_OWN, AT_ROWS_AROUND, AT_ROW };

#define FIELD(member, ...) UND_FIELD(und_distance, member, UND_AT_CELLS, ##__VA_ARGS__)
#define PART(member, at, ...) UND_FIELD(und_distance_parts, member, at, ##__VA_ARGS__)

static const und_field fields[] = {FIELD(phi, .halo = UND_HALO_DISTANCE),
                                   FIELD(next, .halo = UND_HALO_DISTANCE)};
static const und_field part_fields[] = {PART(stage, UND_AT_CELLS, .halo = UND_HALO_CROSSED),
                                        PART(taken, UND_AT_ROWS),
                                        PART(row_extent, UND_AT_ROWS),
                                        PART(row_total, UND_AT_ROWS),
                                        PART(block_most, AT_BLOCKS),
                                        PART(rows_changed, AT_ROWS_AROUND),
                                        PART(none, AT_ROW)};
enum { FIELDS = sizeof fields / sizeof *fields, PART_FIELDS = sizeof part_fields / sizeof *part_fields };

/* All air. */
static und_status open_phi(und_distance *d, const und_field_room *room, const char *what, und_error *err)
{
    const float far = (float)d->width;
    und_field all[FIELDS];
    for (int i = 0; i < FIELDS; i++) {
        all[i] = fields[i];
        all[i].outside = far;
    }
    if (und_field_open_all(d, all, FIELDS, room, what, err) != UND_OK)
        return err->status;
    for (size_t i = 0; i < d->mac.count && !d->mac.present; i++)
        d->phi[i] = d->next[i] = far;
    return UND_OK;
}

static und_status open_all(und_distance *d, und_error *err)
{
    static const char *const what = "the surface's distance";
    und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    const size_t rows = (size_t)und_mac_rows(m), around = 3 * (size_t)m->n[1] + 3; /* rows it can look at */
    const size_t blocks = (size_t)und_set_rows(m, UND_ROWS_INSIDE).blocks, slices = (size_t)m->n[2],
                 own[] = {blocks > slices ? blocks : slices, 2 * (rows + 2 * around),
                          (size_t)m->step[1] + SPARE};
    const und_field_room room = {.mac = m, .spare = SPARE, .own = own};
    und_mask *mask[] = {&d->band, &p->negative, &p->front, &p->near, &p->wide};
    for (size_t i = 0; i < sizeof mask / sizeof *mask; i++)
        if (und_mask_open(mask[i], m, what, err) != UND_OK)
            return err->status;
    if (open_phi(d, &room, what, err) || und_field_open_all(p, part_fields, PART_FIELDS, &room, what, err))
        return err->status;
    for (size_t i = 0; i < 2; i++)
        p->change[i] = p->rows_changed + i * (rows + 2 * around) + around;
    for (size_t i = 0; i < own[AT_ROW - UND_AT_OWN]; i++)
        p->none[i] = UND_DISTANCE_NONE;
    return UND_OK;
}

und_status und_distance_open(und_distance *d, const und_mac *mac, int width, int threads, und_error *err)
{
    *d = (und_distance){.mac = *mac, .device = {.threads = threads}, .width = width};
    d->parts = und_alloc(1, sizeof *d->parts, "the surface", err);
    if (!d->parts || open_all(d, err) != UND_OK) {
        und_distance_close(d);
        return err->status;
    }
    return UND_OK;
}

void und_distance_close(und_distance *d)
{
    und_distance_parts *p = d->parts;
    if (p) {
        und_mask *mask[] = {&d->band, &p->negative, &p->front, &p->near, &p->wide};
        for (size_t i = 0; i < sizeof mask / sizeof *mask; i++)
            und_mask_close(mask[i]);
        und_field_close_all(d, fields, FIELDS);
        und_field_close_all(p, part_fields, PART_FIELDS);
    }
    free(p);
    *d = (und_distance){0};
}

void und_distance_get_phi(const und_distance *d, int reach)
{
    const und_halo_field phi = und_halo_of(&d->mac, d->phi, sizeof *d->phi, reach);
    und_halo_get(d->device.halo, &phi, 1);
}

void und_distance_get(const und_distance *d, int reach)
{
    const und_halo_field halo[] = {
        und_field_halo(d, &fields[0], &d->mac, reach), und_field_halo(d, &fields[1], &d->mac, reach),
        und_halo_of_mask(&d->mac, &d->band, reach), und_halo_of_mask(&d->mac, &d->parts->negative, reach)};
    und_halo_get(d->device.halo, halo, sizeof halo / sizeof *halo);
}

void und_distance_get_flow(const und_distance *d, float *const u[3], int reach)
{
    und_halo_field halo[3];
    for (int a = 0; a < 3; a++)
        halo[a] = und_halo_of(&d->mac, u[a], sizeof *u[a], reach);
    und_halo_get(d->device.halo, halo, 3);
    und_distance_get(d, reach);
}

void und_distance_beside(const und_distance *d, float *phi)
{
    const und_distance_beside_args args = {d->mac, phi};
    const und_set rows = und_set_rows(&d->mac, UND_ROWS_ALL);
    und_pass(&d->device, und_distance_beside_row, &args, &rows);
}

und_distance_refresh_args und_distance_refresh_of(const und_distance *d)
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
    const und_distance_refresh_args args = und_distance_refresh_of(d);
    und_distance_refresh_row(&args, (und_place){.at = und_mac_at(&d->mac, 0, y, z), .y = y, .z = z});
}

void und_distance_refresh_rows(und_distance *d, const uint8_t *some)
{
    und_distance_refresh_args args = und_distance_refresh_of(d);
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
    const und_distance_copy_args args = {d->mac, d->phi, phi};
    const und_set rows = und_set_rows(&d->mac, UND_ROWS_ALL);
    und_pass(&d->device, und_distance_copy_row, &args, &rows);
}
