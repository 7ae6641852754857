/* Equation 3.2: the velocity is what it was where the liquid came from (Stam 1999), corrected by MacCormack's
 * rule (Selle, Fedkiw, Kim, Liu & Rossignac 2008) where that is asked for. */
#include "flow/mac_flow_parts.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "flow/mac_flow_advect_kernel.h"

#include <stdlib.h>

enum {
    THINNEST = 8, /* slices of a slab */
    SLABS_PER_THREAD = 3,
    FEWEST = 24 /* slices that a thread has: of fewer, most of what they look at is another's */
};
static const float ROUNDED = 0.01f; /* cells: more than a place is rounded by */
static const float CORRECTED = -1;  /* a slice, in place of its reach */

und_status und_mac_flow_advect_open(und_mac_flow_advect_parts *a, const und_mac *mac, und_error *err)
{
    *a = (und_mac_flow_advect_parts){0};
    const size_t slices = (size_t)mac->n[2] + 1;
    a->reach = und_pages_alloc(slices * sizeof *a->reach, "slices", err);
    a->away = a->reach ? und_pages_alloc_read_only(slices * sizeof *a->away, "slices", err) : NULL;
    a->free = a->away ? und_alloc(slices, sizeof *a->free, "slices", err) : NULL;
    bool ok = a->free && und_mask_open(&a->whole, mac, "faces", err) == UND_OK;
    for (int i = 0; ok && i < 3; i++)
        ok = und_mask_open(&a->shut[i], mac, "closed faces", err) == UND_OK;
    return ok ? UND_OK : UND_FAILED;
}

void und_mac_flow_advect_close(und_mac_flow_advect_parts *a)
{
    und_pages_free(a->reach);
    und_pages_free(a->away);
    free(a->free);
    und_mask_close(&a->whole);
    for (int i = 0; i < 3; i++)
        und_mask_close(&a->shut[i]);
}

/* A component's slices: block i is slice z = i - 1. */
typedef struct component {
    const und_advect_args *args;
    und_mac_flow_advect_parts *parts;
    int axis;
    und_set flows, shut, rows;
    und_set slabs; /* of its slices, a block each */
} component;

static component component_of(const und_mac_flow *s, const und_advect_args *args, int axis)
{
    component c = {.args = args,
                   .parts = &s->parts->advect,
                   .axis = axis,
                   .rows = und_set_slices(&s->mac, UND_ROWS_FACES)};
    const int threads = und_workers(s->device.threads, s->mac.count, UND_MAC_FLOW_CELLS_TO_SHARE);
    const int most = c.rows.blocks / THINNEST, slabs = threads == 1 ? 1
                                                       : c.rows.blocks < FEWEST * threads
                                                           ? 0
                                                           : SLABS_PER_THREAD * threads;
    c.flows = c.shut = c.rows;
    c.flows.cells = &s->flows[axis];
    c.shut.cells = &s->parts->advect.shut[axis];
    c.slabs = (und_set){.blocks = slabs < most ? slabs : most, .worth = s->mac.count};
    return c;
}

static void guess(const component *c, int i)
{
    c->args->reach[i] = 0;
    und_advect_know_kernel[c->axis].block(c->args, &c->rows, i);
    und_advect_guess_shut_kernel[c->axis].block(c->args, &c->shut, i);
    und_advect_guess_kernel[c->axis].block(c->args, &c->flows, i);
}

static void correct_slice(const component *c, int i)
{
    und_advect_correct_kernel[c->axis].block(c->args, &c->flows, i);
    c->args->reach[i] = CORRECTED;
}

/* How many slices away those are that the correction of one looks at. */
static int reach_of(const component *c, int i)
{
    return (int)(c->args->reach[i] + ROUNDED) + 1;
}

static void guess_slice(const void *args, const und_set *set, int slice)
{
    (void)set;
    guess(args, slice);
}
static const und_kernel guess_kernel = {.name = "advect_guess", .block = guess_slice};

/* Each slice is corrected as soon as all those are guessed that it looks at, while what the guess wrote is
 * still in the cache; those that look beyond the slab are left.  What is kept of a slice in between lies
 * where that of the one lay that was corrected last: there it is in the cache too. */
static void move_slab(const void *args, const und_set *set, int slab)
{
    const component *c = args;
    const int slices = c->rows.blocks,
              last = set->blocks - 1; /* the first slice has faces of one axis alone */
    const int low = (slices * slab + last) / set->blocks, high = (slices * (slab + 1) + last) / set->blocks;
    const ptrdiff_t step = c->args->mac.step[2];
    int *free = c->parts->free + low, count = 0; /* slices of the arrays, the last is taken first */
    for (int i = high - 1; i >= low; i--)
        free[count++] = i;
    for (int front = low, next = low; front < high; front++) {
        c->parts->away[front] = (free[--count] - front) * step;
        guess(c, front);
        for (; next <= front && (next + reach_of(c, next) <= front || front == slices - 1); next++)
            if (next - reach_of(c, next) >= low || low == 0) {
                correct_slice(c, next);
                free[count++] = next + (int)(c->parts->away[next] / step);
            }
    }
}
static const und_kernel slab_kernel = {.name = "advect_slab", .block = move_slab};

static void move_rest(const void *args, const und_set *set, int slice)
{
    const component *c = args;
    (void)set;
    if (c->args->reach[slice] != CORRECTED)
        correct_slice(c, slice);
}
static const und_kernel rest_kernel = {.name = "advect_rest", .block = move_rest};

/* All in one region. */
enum { PASSES = 4, STEPS = 3 }; /* of a component; and the last step puts back all of them */
typedef struct route {
    component component[3];
    und_set faces[3], all;
    und_pass passes[3][PASSES + 1], back[3];
    und_step steps[3 * (STEPS + 1) + 1];
    int count;
} route;

static void add_step(route *r, const und_pass *passes, int count)
{
    r->steps[r->count++] = (und_step){.passes = passes, .count = count};
}

/* A card has all of a pass done before the next: slabs are for caches. */
static void add_component(route *r, const und_advect_args *args, int axis, und_advection rule, bool carded)
{
    const component *c = &r->component[axis];
    und_pass *p = r->passes[axis];
    if (args->sum) {
        *p = UND_PASS_AXIS(und_advect_add_gained, axis, args, &r->all);
        add_step(r, p++, 1);
    }
    if (rule == UND_ADVECT_SEMI_LAGRANGIAN) {
        p[0] = UND_PASS_AXIS(und_advect_take_over, axis, args, &r->faces[axis]);
        add_step(r, p, 1);
    } else if (args->mac.n[2] == 1 || carded) {
        p[0] = UND_PASS_AXIS(und_advect_know, axis, args, &c->rows);
        p[1] = UND_PASS_AXIS(und_advect_guess_shut, axis, args, &c->shut);
        p[2] = UND_PASS_AXIS(und_advect_guess, axis, args, &c->flows);
        p[3] = UND_PASS_AXIS(und_advect_correct, axis, args, &c->flows);
        add_step(r, p, 2);
        add_step(r, p + 2, 1);
        add_step(r, p + 3, 1);
    } else if (c->slabs.blocks == 0) {
        p[0] = (und_pass){&guess_kernel, c, &c->rows};
        p[1] = UND_PASS_AXIS(und_advect_correct, axis, args, &c->flows);
        add_step(r, p, 1);
        add_step(r, p + 1, 1);
    } else {
        p[0] = (und_pass){&slab_kernel, c, &c->slabs};
        p[1] = (und_pass){&rest_kernel, c, &c->rows};
        add_step(r, p, 1);
        add_step(r, p + 1, 1);
    }
}

/* Values are between two places; what is corrected is made of guesses around where it goes to. */
static int reach_beyond(const und_mac_flow *s, bool corrects)
{
    return (corrects ? 2 : 1) * (s->crosses + 2);
}

void und_mac_flow_advect(und_mac_flow *s, double cells_per_speed, und_trace_order trace, und_advection rule)
{
    const und_mac_flow_advect_parts *parts = &s->parts->advect;
    const bool corrects = rule == UND_ADVECT_MACCORMACK, second = s->gained[0] != NULL;
    float *const first = und_mac_flow_take(s);
    und_mac_flow_get(s, UND_GET_U | UND_GET_GAINED | UND_GET_FLOWS | UND_GET_SHUT, reach_beyond(s, corrects));
    und_advect_args args = {.mac = s->mac,
                            .cells_per_speed = (float)cells_per_speed,
                            .third = trace == UND_TRACE_RK3,
                            .sum = second ? first : NULL,
                            .guess = corrects ? und_mac_flow_take(s) : NULL,
                            .low = corrects ? und_mac_flow_take(s) : NULL,
                            .high = corrects ? und_mac_flow_take(s) : NULL,
                            .away = parts->away,
                            .reach = parts->reach,
                            .whole = parts->whole,
                            .scale = s->parts->scale};
    for (int z = 0; z <= s->mac.n[2]; z++)
        parts->away[z] = 0;
    route r = {.all = und_set_rows(&s->mac, UND_ROWS_ALL)};
    for (int a = 0; a < 3; a++) {
        args.u[a] = s->u[a];
        args.to[a] = corrects ? und_mac_flow_take(s) : NULL;
        args.next[a] = second ? s->gained[a] : a == 0 ? first : und_mac_flow_take(s);
        args.moved[a] = args.sum ? args.sum : s->u[a];
        args.gained[a] = s->gained[a];
        args.latest[a] = s->latest[a];
        args.flows[a] = s->flows[a];
        args.shut[a] = parts->shut[a];
        r.component[a] = component_of(s, &args, a);
        r.faces[a] = und_set_cells(&s->mac, UND_ROWS_FACES, &s->flows[a]);
        r.back[a] = UND_PASS_AXIS(und_advect_put_back, a, &args, &r.faces[a]);
        add_component(&r, &args, a, rule, s->device.card);
    }
    add_step(&r, r.back, 3);
    und_pass_steps(&s->device, r.steps, r.count);
    und_scratch_give_back(s->parts->scratch, first);
}
