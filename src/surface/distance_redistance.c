/* Redistancing: beside the surface phi is divided by the length of its gradient, which leaves the surface
 * where it is, and stays; further out the upwind Eikonal equation is iterated in a few passes over the band
 * at once, each from the one before, so that the order of cells does not matter. */
#include "surface/distance_parts.h"
#include "surface/redistance_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { CHAINED = 24 }; /* passes that follow each other at most */

static und_redistance_args args_of(const und_distance *d)
{
    const und_distance_parts *p = d->parts;
    return (und_redistance_args){.mac = d->mac,
                                 .phi = d->phi,
                                 .next = d->next,
                                 .none = p->none,
                                 .band = d->band,
                                 .negative = p->negative,
                                 .front = p->front,
                                 .change = p->change[1],
                                 .look = p->look,
                                 .width = (float)d->width,
                                 .keeps_thin = d->keeps_thin};
}

void und_distance_signs(und_distance *d)
{
    const und_redistance_args args = args_of(d);
    const und_set rows = und_set_rows(&d->mac, UND_ROWS_INSIDE);
    und_pass(&d->device, und_redistance_signs, &args, &rows);
}

static void swap_masks(und_mask *a, und_mask *b)
{
    const und_mask kept = *a;
    *a = *b;
    *b = kept;
}

/* near: all cells that can be nearer to the surface than the width.  Steps of edges, and a last one of
 * corners, get as far in every direction, but for what the first cells beside the surface are away.  Cells
 * that are near, or were, are started from; then those of `wide` are left, which are not beside the surface.
 */
static void start(und_distance *d, int order)
{
    und_distance_parts *p = d->parts;
    und_redistance_args args[CHAINED];
    und_pass pass[CHAINED];
    const und_set slices = und_set_slices(&d->mac, UND_ROWS_INSIDE);
    int n = 0;
    assert(d->width + 7 <= CHAINED);
    args[n] = args_of(d);
    pass[n] = UND_PASS(und_redistance_signs, &args[n], &slices);
    args[++n] = args_of(d);
    args[n].out = p->near;
    pass[n] = UND_PASS(und_redistance_front, &args[n], &slices);
    for (int i = 1; i < d->width; i++) {
        args[++n] = args_of(d);
        args[n].in = p->near;
        args[n].out = p->wide;
        args[n].corners = i + 1 == d->width;
        pass[n] = UND_PASS(und_redistance_grow, &args[n], &slices);
        swap_masks(&p->near, &p->wide);
    }
    args[++n] = args_of(d);
    args[n].in = p->near;
    args[n].out = p->wide;
    pass[n] = UND_PASS(und_redistance_join, &args[n], &slices);
    und_set cells = slices;
    cells.cells = &p->wide;
    const und_redistance_args near = args[n];
    pass[++n] = order == 2 ? UND_PASS(und_redistance_start_2, &near, &cells)
                           : UND_PASS(und_redistance_start_1, &near, &cells);
    pass[++n] = UND_PASS_NONE(&slices); /* what starts looks two slices away */
    pass[++n] = UND_PASS(und_redistance_settle, &near, &cells);
    pass[++n] = UND_PASS(und_redistance_shut, &near, &slices);
    pass[++n] = UND_PASS(und_redistance_leave, &near, &slices);
    und_pass_chain(&d->device, pass, n + 1);
}

/* parts->look: rows that look at such as the last pass changed.  A row is beside the first and the last of
 * the next slice here, too: no harm is in that. */
static void find_changes(und_distance *d)
{
    const uint8_t *change = d->parts->change[0];
    uint8_t *restrict look = d->parts->look;
    ptrdiff_t slice = d->mac.n[1], rows = und_mac_rows(&d->mac);
    for (ptrdiff_t i = 0; i < rows; i++) {
        const uint8_t *c = change + i;
        look[i] = c[0] | c[-1] | c[-2] | c[-3] | c[1] | c[2] | c[3] | c[-slice] | c[-2 * slice] |
                  c[-3 * slice] | c[slice] | c[2 * slice] | c[3 * slice];
    }
    memset(d->parts->change[1], 0, (size_t)rows);
}

static void swap_fields(und_distance *d)
{
    uint8_t *change = d->parts->change[0];
    d->parts->change[0] = d->parts->change[1];
    d->parts->change[1] = change;
    float *phi = d->phi;
    d->phi = d->next;
    d->next = phi;
}

static void pass_once(und_distance *d, int order)
{
    const und_redistance_args args = args_of(d);
    const und_set cells = und_set_cells(&d->mac, UND_ROWS_INSIDE, &d->parts->wide);
    find_changes(d);
    if (d->mac.n[2] > 1 && order == 2)
        und_pass(&d->device, und_redistance_pass_23, &args, &cells);
    else if (d->mac.n[2] > 1)
        und_pass(&d->device, und_redistance_pass_13, &args, &cells);
    else if (order == 2)
        und_pass(&d->device, und_redistance_pass_22, &args, &cells);
    else
        und_pass(&d->device, und_redistance_pass_12, &args, &cells);
    swap_fields(d);
}

/* The band; beyond it both arrays are the same. */
static void finish(und_distance *d)
{
    const und_redistance_args args = args_of(d);
    const und_set slices = und_set_slices(&d->mac, UND_ROWS_INSIDE);
    und_set cells = slices;
    cells.cells = &d->parts->wide;
    const und_pass passes[] = {UND_PASS(und_redistance_band, &args, &slices),
                               UND_PASS(und_redistance_finish, &args, &cells)};
    und_pass_chain(&d->device, passes, 2);
    und_distance_beside(d, d->phi);
}

void und_distance_redistance(und_distance *d, int order)
{
    und_distance_parts *p = d->parts;
    start(d, order);
    /* What is `width` away along a diagonal is so many neighbours away. */
    int passes = (int)ceilf(1.7321f * (float)d->width);
    memset(p->change[0], 1, (size_t)und_mac_rows(&d->mac));
    for (int i = 0; i < passes; i++)
        pass_once(d, order);
    finish(d);
}
