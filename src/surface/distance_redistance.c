/* Redistancing: beside the surface phi is divided by the length of its gradient, which leaves the surface
 * where it is, and stays; further out the upwind Eikonal equation is iterated in a few passes over the band
 * at once, each from the one before, so that the order of cells does not matter. */
#include "surface/distance_parts.h"
#include "surface/redistance_kernel.h"

#include <assert.h>
#include <math.h>

enum {
    WIDEST = 17, /* cells */
    STARTED = WIDEST + 7,
    PASSED = (17321 * WIDEST + 9999) / 10000,
    READ = 3,     /* slices away that passes read, */
    TOGETHER = 3, /* of them one behind the other: so many slices are in the cache */
    FINISHED = 2
};

/* All that is done, in order. */
typedef struct redistancing {
    und_set slices, near, beyond;
    und_redistance_args start[STARTED], pass[PASSED], finish;
    und_distance_beside_args beside;
    und_pass starts[STARTED], passes[READ * PASSED], finishes[FINISHED], end;
    und_step step[STARTED + READ * PASSED + FINISHED + 1];
    int steps;
} redistancing;

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
static void add_start(redistancing *r, und_distance *d, int order)
{
    und_distance_parts *p = d->parts;
    und_redistance_args *args = r->start;
    und_pass *pass = r->starts;
    int n = 0;
    args[n] = args_of(d);
    pass[n] = UND_PASS(und_redistance_signs, &args[n], &r->slices);
    args[++n] = args_of(d);
    args[n].out = p->near;
    pass[n] = UND_PASS(und_redistance_front, &args[n], &r->slices);
    for (int i = 1; i < d->width; i++) {
        args[++n] = args_of(d);
        args[n].in = p->near;
        args[n].out = p->wide;
        args[n].corners = i + 1 == d->width;
        pass[n] = UND_PASS(und_redistance_grow, &args[n], &r->slices);
        swap_masks(&p->near, &p->wide);
    }
    args[++n] = args_of(d);
    args[n].in = p->near;
    args[n].out = p->wide;
    pass[n] = UND_PASS(und_redistance_join, &args[n], &r->slices);
    args[n].change = p->change[0]; /* all rows are looked at first */
    const und_redistance_args *near = &args[n];
    pass[++n] = order == 2 ? UND_PASS(und_redistance_start_2, near, &r->near)
                           : UND_PASS(und_redistance_start_1, near, &r->near);
    pass[++n] = UND_PASS_NONE(&r->slices); /* what starts looks two slices away */
    pass[++n] = UND_PASS(und_redistance_settle, near, &r->near);
    pass[++n] = UND_PASS(und_redistance_shut, near, &r->slices);
    pass[++n] = UND_PASS(und_redistance_leave, near, &r->slices);
    r->steps = und_pass_chain_steps(r->step, pass, n + 1);
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

static und_pass pass_of(const und_distance *d, int order, const und_redistance_args *args,
                        const und_set *rows)
{
    if (d->mac.n[2] > 1)
        return order == 2 ? UND_PASS(und_redistance_pass_23, args, rows)
                          : UND_PASS(und_redistance_pass_13, args, rows);
    return order == 2 ? UND_PASS(und_redistance_pass_22, args, rows)
                      : UND_PASS(und_redistance_pass_12, args, rows);
}

/* What is `width` away along a diagonal is so many neighbours away. */
static int passes_of(int width)
{
    return (int)ceilf(1.7321f * (float)width);
}

/* All that passes read, added up: three values on either side in each, and before, which cells are near,
 * which are beside the surface, and the slopes there.  Distances come from the surface, so that about two
 * widths do in practice. */
static int reach_beyond(int width)
{
    return 3 * passes_of(width) + width + 4;
}

static void add_passes(redistancing *r, und_distance *d, int order)
{
    und_distance_parts *p = d->parts;
    const int passes = passes_of(d->width);
    und_pass *pass = r->passes;
    int count = 0;
    for (int i = 0; i < passes; i++) {
        und_redistance_args *args = &r->pass[i];
        *args = args_of(d);
        args->cells = p->wide;
        args->before = p->change[0];
        args->change = p->change[1];
        pass[count++] = pass_of(d, order, args, &r->slices);
        swap_fields(d);
        const bool more = i + 1 < passes && (i + 1) % TOGETHER != 0;
        for (int k = 1; k < READ && more; k++)
            pass[count++] = UND_PASS_NONE(&r->slices);
        if (!more) {
            r->steps += und_pass_chain_steps(r->step + r->steps, pass, count);
            pass += count;
            count = 0;
        }
    }
}

/* The band; beyond it both arrays are the same. */
static void add_finish(redistancing *r, und_distance *d)
{
    r->finish = args_of(d);
    r->beside = (und_distance_beside_args){d->mac, d->phi};
    r->finishes[0] = UND_PASS(und_redistance_band, &r->finish, &r->slices);
    r->finishes[1] = UND_PASS(und_redistance_finish, &r->finish, &r->near);
    r->steps += und_pass_chain_steps(r->step + r->steps, r->finishes, FINISHED);
    r->end = UND_PASS(und_distance_beside_row, &r->beside, &r->beyond);
    r->step[r->steps++] = (und_step){.passes = &r->end, .count = 1};
}

void und_distance_redistance(und_distance *d, int order)
{
    const und_set slices = und_set_slices(&d->mac, UND_ROWS_INSIDE);
    redistancing r = {.slices = slices, .near = slices, .beyond = und_set_rows(&d->mac, UND_ROWS_ALL)};
    assert(d->width <= WIDEST);
    und_distance_get(d, reach_beyond(d->width));
    r.near.cells = &d->parts->wide;
    add_start(&r, d, order);
    add_passes(&r, d, order);
    add_finish(&r, d);
    und_pass_steps(&d->device, r.step, r.steps);
}
