#include "surface/distance.h"

#include "base/status.h"
#include "grid/field.h"
#include "surface/distance_parts.h"
#include "surface/distance_refresh_kernel.h"
#include "surface/redistance_kernel.h"

#include <stdlib.h>

enum { SPARE = 192 }; /* values behind the last: words of 64 cells and batches are read whole */

enum {
    AT_CELLS,
    AT_ROWS,
    AT_BLOCKS,
    AT_ROWS_AROUND,
    AT_ROW
}; /* twice with all that a row looks at; of one */

#define FIELD(member) UND_FIELD_AT(und_distance, member, AT_CELLS)
#define PART(member, at) UND_FIELD_AT(und_distance_parts, member, at)

static const und_field fields[] = {FIELD(phi), FIELD(next)};
static const und_field part_fields[] = {PART(stage, AT_CELLS),       PART(taken, AT_ROWS),
                                        PART(row_extent, AT_ROWS),   PART(row_total, AT_ROWS),
                                        PART(block_most, AT_BLOCKS), PART(rows_changed, AT_ROWS_AROUND),
                                        PART(none, AT_ROW)};
enum { FIELDS = sizeof fields / sizeof *fields, PART_FIELDS = sizeof part_fields / sizeof *part_fields };

static und_status open_all(und_distance *d, und_error *err)
{
    static const char *const what = "the surface's distance";
    und_distance_parts *p = d->parts;
    const und_mac *m = &d->mac;
    const size_t rows = (size_t)und_mac_rows(m), around = 3 * (size_t)m->n[1] + 3; /* rows it can look at */
    const size_t count[] = {m->count + SPARE, rows, (size_t)und_set_rows(m, UND_ROWS_INSIDE).blocks,
                            2 * (rows + 2 * around), (size_t)m->step[1] + SPARE};
    und_mask *mask[] = {&d->band, &p->negative, &p->front, &p->near, &p->wide};
    for (size_t i = 0; i < sizeof mask / sizeof *mask; i++)
        if (und_mask_open(mask[i], m, what, err) != UND_OK)
            return err->status;
    if (und_field_open_all(d, fields, FIELDS, count, 0, what, err) ||
        und_field_open_all(p, part_fields, PART_FIELDS, count, 0, what, err))
        return err->status;
    for (size_t i = 0; i < 2; i++)
        p->change[i] = p->rows_changed + i * (rows + 2 * around) + around;
    for (size_t i = 0; i < count[AT_ROW]; i++)
        p->none[i] = UND_DISTANCE_NONE;
    return UND_OK;
}

und_status und_distance_open(und_distance *d, const und_mac *mac, int width, int threads, und_error *err)
{
    *d = (und_distance){.mac = *mac, .device = {threads}, .width = width};
    d->parts = und_alloc(1, sizeof *d->parts, "the surface", err);
    if (!d->parts || open_all(d, err) != UND_OK) {
        und_distance_close(d);
        return err->status;
    }
    for (size_t i = 0; i < mac->count; i++)
        d->phi[i] = d->next[i] = (float)width;
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
    const und_set all = und_set_list(phi, (int)d->mac.count, UND_DISTANCE_COPIED, 1);
    und_pass(&d->device, und_distance_copy_some, &args, &all);
}
