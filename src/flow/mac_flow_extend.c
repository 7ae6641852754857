/* The velocity beyond the liquid, for what is followed through it (Wrenninge 2003, 4.4.8), and in solids. */
#include "flow/mac_flow_parts.h"

#include "base/pages.h"
#include "flow/mac_flow_extend_kernel.h"

#include <assert.h>
#include <string.h>

static size_t slice_words(const und_mask *m)
{
    return (size_t)(m->n[1] + 2) * (size_t)m->words;
}

static void add_inside(und_mask *slice, int axis)
{
    for (int y = axis == 1 ? -1 : 0; y < slice->n[1]; y++)
        for (int x = axis == 0 ? -1 : 0; x < slice->n[0]; x++)
            und_mask_add(slice, x, y, -1);
}

und_status und_mac_flow_extend_open(und_mac_flow_extend_parts *e, const und_mac *mac, und_error *err)
{
    *e = (und_mac_flow_extend_parts){0};
    for (int a = 0; a < 3; a++)
        if (und_mask_open(&e->set[a], mac, "the flow's faces", err) != UND_OK ||
            und_mask_open(&e->known[0][a], mac, "the flow's faces", err) != UND_OK ||
            und_mask_open(&e->known[1][a], mac, "the flow's faces", err) != UND_OK)
            return UND_FAILED;
    for (int a = 0; a < 4; a++) {
        und_mask slice = e->set[0];
        slice.bits = und_pages_alloc(slice_words(&slice) * sizeof *slice.bits, "the domain's faces", err);
        *(a < 3 ? &e->inside[a] : &e->none) = slice.bits;
        if (!slice.bits)
            return UND_FAILED;
        if (a < 3)
            add_inside(&slice, a);
    }
    return UND_OK;
}

void und_mac_flow_extend_close(und_mac_flow_extend_parts *e)
{
    for (int a = 0; a < 3; a++) {
        und_mask_close(&e->set[a]);
        und_mask_close(&e->known[0][a]);
        und_mask_close(&e->known[1][a]);
        und_pages_free(e->inside[a]);
    }
    und_pages_free(e->none);
}

static int dimensions_of(const und_mac *m)
{
    return m->n[2] == 1 ? 2 : 3;
}

void und_mac_flow_set_all(und_mac_flow *s)
{
    und_mac_flow_extend_parts *e = &s->parts->extend;
    for (int a = 0; a < dimensions_of(&s->mac); a++)
        for (int z = a == 2 ? -1 : 0; z < s->mac.n[2]; z++)
            for (int y = -1; y <= s->mac.n[1]; y++)
                if (und_present_has(s->mac.present, y, z)) {
                    const und_span words = und_mask_words(&e->set[a], y, z);
                    memcpy(und_mask_row(&e->set[a], y, z) + words.begin,
                           e->inside[a] + (y + 1) * e->set[a].words + words.begin,
                           (size_t)(words.end - words.begin) * sizeof *e->inside[a]);
                }
}

void und_mac_flow_restored(und_mac_flow *s)
{
    und_mac_flow_set_all(s);
    und_mac_flow_find_pressed(s);
    s->parts->gained_anywhere = true;
}

void und_mac_flow_written(und_mac_flow *s, int axis, int x, int y, int z, int count)
{
    for (int i = 0; s->parts && i < count; i++)
        if (!und_mask_has_shared(&s->parts->extend.set[axis], x + i, y, z))
            und_mask_add_shared(&s->parts->extend.set[axis], x + i, y, z);
}

const und_mask *und_mac_flow_written_faces(und_mac_flow *s)
{
    return s->parts ? s->parts->extend.set : NULL;
}

/* ---- All of it ---- */

enum { MOST_LAYERS = 64, BEHIND = 3, BESIDE = 2, SOME_BESIDE = 4 }; /* passes, and those behind the layers */

/* What runs in one region, axis by axis: what was gained, and layers; what is behind them too, if it asks for
 * nothing of other axes.  Each slice goes through all of them while it is in the cache; but where changes go
 * on they are seen from three slices away. */
typedef struct way {
    und_extend_gain_args gain[3];
    und_extend_layer_args layer[3][MOST_LAYERS];
    und_extend_solid_args solid, solid_of[3]; /* of all axes, and of each */
    und_extend_beside_args copied;
    und_pass passes[3][1 + MOST_LAYERS + BEHIND], behind[BEHIND];
    und_pass beside[BESIDE];
    und_step steps[3 * (1 + MOST_LAYERS + BEHIND) + BEHIND + BESIDE];
    und_set slices;
    int count;
} way;

static void add_passes(way *w, const und_pass *passes, int count, bool chain)
{
    if (chain)
        w->count += und_pass_chain_steps(w->steps + w->count, passes, count);
    for (int i = 0; i < count && !chain; i++)
        w->steps[w->count++] = (und_step){.passes = passes + i, .count = 1};
}

static void add_axis(way *w, const und_mac_flow *s, int axis, int layers, bool settles)
{
    und_mac_flow_extend_parts *e = &s->parts->extend;
    und_pass *passes = w->passes[axis];
    int count = 0;
    w->gain[axis] = (und_extend_gain_args){s->parts->gain, axis};
    if (s->parts->gains)
        passes[count++] = UND_PASS(und_extend_gain, &w->gain[axis], &w->slices);
    for (int i = 0; i < layers; i++) {
        w->layer[axis][i] =
            (und_extend_layer_args){.mac = s->mac,
                                    .axis = axis,
                                    .fields = s->parts->gains ? UND_EXTEND_FIELDS : 1,
                                    .goes_on = s->parts->goes_on,
                                    .field = {s->u[axis], s->gained[axis]},
                                    .known = i == 0 ? s->flows[axis] : e->known[(i - 1) % 2][axis],
                                    .out = e->known[i % 2][axis],
                                    .inside = e->inside[axis],
                                    .none = e->none};
        passes[count++] = UND_PASS(und_extend_layer, &w->layer[axis][i], &w->slices);
    }
    w->solid_of[axis] = w->solid;
    w->solid_of[axis].low = axis;
    w->solid_of[axis].high = axis + 1;
    if (settles)
        passes[count++] = UND_PASS(und_extend_settle, &w->solid_of[axis], &w->slices);
    add_passes(w, passes, count, !s->parts->goes_on);
}

/* For what comes behind the layers. */
static und_extend_solid_args solid_args(const und_mac_flow *s, const und_solids *solids, int layers)
{
    und_mac_flow_extend_parts *e = &s->parts->extend;
    und_extend_solid_args args = {.mac = s->mac,
                                  .high = dimensions_of(&s->mac),
                                  .any = solids->any,
                                  .distance = solids->distance,
                                  .friction = solids->friction,
                                  .owner = solids->owner,
                                  .separate = solids->separate,
                                  .never = UND_SEPARATE_NEVER};
    for (int a = 0; a < 3; a++) {
        args.known[a] = layers > 0 ? e->known[(layers - 1) % 2][a] : s->flows[a];
        args.changed[a] = e->known[layers % 2][a];
        args.flows[a] = s->flows[a];
        args.set[a] = e->set[a];
        args.u[a] = s->u[a];
        args.next[a] = s->next[a];
        args.open[a] = solids->open[a];
        args.solid_u[a] = solids->u[a];
    }
    return args;
}

/* Each layer is made of those beside it, or where changes go on of three; what slips along solids, of
 * velocities beside it. */
static int reach_beyond(const und_mac_flow *s, int layers)
{
    return (s->parts->goes_on ? 3 : 1) * layers + 1;
}

/* Passes that are behind the layers. */
static void add_behind(way *w, const und_mac_flow *s, const und_set *deep, const und_set *high)
{
    w->behind[0] = UND_PASS(und_extend_slip, &w->solid, &w->slices);
    w->behind[1] = UND_PASS(und_extend_take, &w->solid, &w->slices);
    w->behind[2] = UND_PASS(und_extend_settle, &w->solid, &w->slices);
    if (w->solid.any)
        add_passes(w, w->behind, BEHIND, !s->parts->goes_on);
    w->copied = (und_extend_beside_args){.mac = s->mac,
                                         .fields = s->parts->gains ? UND_EXTEND_FIELDS : 1,
                                         .wide = deep->count / (s->mac.n[2] + 1)};
    for (int a = 0; a < 3; a++) {
        w->copied.field[0][a] = s->u[a];
        w->copied.field[1][a] = s->gained[a];
    }
    w->beside[0] = UND_PASS(und_extend_slices_beside, &w->copied, deep);
    w->beside[1] = UND_PASS(und_extend_rows_beside, &w->copied, high);
    add_passes(w, w->beside, BESIDE, false);
}

void und_mac_flow_extend(und_mac_flow *s, const und_solids *solids, int layers)
{
    const int *n = s->mac.n, worth = 4 * n[0];
    const int wide = s->device.card ? n[0] + 2 : 1; /* cells along x that are places of their own */
    const und_set deep = und_set_list(s, (n[2] + 1) * wide, SOME_BESIDE, worth),
                  high = und_set_list(s, (n[1] + 2) * wide, SOME_BESIDE, worth);
    way w;
    assert(layers <= MOST_LAYERS);
    und_mac_flow_get(
        s, UND_GET_U | UND_GET_FLOWS | (s->parts->gains ? UND_GET_GAINED | UND_GET_LATEST | UND_GET_SET : 0),
        reach_beyond(s, layers));
    und_mac_flow_take_next(s);
    w.count = 0;
    w.slices = und_set_slices(&s->mac, UND_ROWS_FACES);
    w.solid = solid_args(s, solids, layers);
    for (int a = 0; a < dimensions_of(&s->mac); a++)
        add_axis(&w, s, a, layers, !solids->any);
    add_behind(&w, s, &deep, &high);
    und_pass_steps(&s->device, w.steps, w.count);
    und_mac_flow_give_back(s, &s->next[0]);
    s->parts->gains = false;
}
