/* Equation 3.2: the velocity is what it was where the liquid came from (Stam 1999), corrected by MacCormack's
 * rule (Selle, Fedkiw, Kim, Liu & Rossignac 2008) where that is asked for. */
#include "flow/mac_flow_parts.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "flow/mac_flow_kernel.h"
#include "grid/sample.h"

#include <stdlib.h>

enum {
    THINNEST = 8, /* slices of a slab */
    SLABS_PER_THREAD = 4,
    CORRECTED = -1 /* a slice, in place of its reach */
};
static const float ROUNDED = 0.01f; /* cells: more than a place is rounded by */

und_status und_mac_flow_advect_open(und_mac_flow_advect_parts *a, const und_mac *mac, und_error *err)
{
    *a = (und_mac_flow_advect_parts){0};
    a->guess = und_pages_alloc(mac->count * sizeof *a->guess, "velocity", err);
    a->high = und_pages_alloc(mac->count * sizeof *a->high, "velocity", err);
    a->reach = und_alloc((size_t)mac->n[2] + 1, sizeof *a->reach, "slices", err);
    bool ok = a->guess && a->high && a->reach && und_mask_open(&a->whole, mac, "faces", err) == UND_OK;
    for (int i = 0; ok && i < 3; i++)
        ok = und_mask_open(&a->shut[i], mac, "closed faces", err) == UND_OK;
    return ok ? UND_OK : UND_FAILED;
}

void und_mac_flow_advect_close(und_mac_flow_advect_parts *a)
{
    und_pages_free(a->guess);
    und_pages_free(a->high);
    free(a->reach);
    und_mask_close(&a->whole);
    for (int i = 0; i < 3; i++)
        und_mask_close(&a->shut[i]);
}

typedef struct move {
    und_mac_flow *s;
    float cells_per_speed;
    bool third;
    const float *moved[3]; /* what is carried along: u, or more */
    float *to[3];          /* cells: where the flow takes a face of the component that is moved */
} move;

/* What is done with the faces of a component that stand from index `at` on in a row, at `place`; bits of
 * `which` say with which.  reach: at least so many cells along z will be looked at from there. */
typedef void batch_fn(const move *v, int axis, size_t at, const und_lanes place[3], unsigned which,
                      und_lanes *reach);

static void each_batch(const move *v, int axis, int y, int z, batch_fn *fn, und_lanes *reach)
{
    const und_mac *m = &v->s->mac;
    const und_mask *flows = &v->s->flows[axis];
    const uint64_t *row = und_mask_row(flows, y, z);
    const size_t first = und_mac_at(m, 0, y, z);
    und_lanes place[3] = {und_lanes_all(0), und_lanes_all((float)(y + m->low[1]) + (axis == 1 ? 1 : 0.5f)),
                          und_lanes_all((float)(z + m->low[2]) + (axis == 2 ? 1 : 0.5f))};
    unsigned which;
    for (int x = -1; (x = und_mask_batch(flows, row, x, UND_LANES, &which)) <= m->n[0]; x += UND_LANES) {
        place[0] = und_lanes_count() + ((float)(x + m->low[0]) + (axis == 0 ? 1 : 0.5f));
        fn(v, axis, (size_t)((ptrdiff_t)first + x), place, which, reach);
    }
}

static void each_face(const move *v, int axis, batch_fn *fn)
{
    const und_mac *m = &v->s->mac;
    const int wide = m->n[1] + 1, rows = wide * (m->n[2] + 1);
    int threads = und_workers(v->s->threads, m->count, UND_MAC_FLOW_CELLS_TO_SHARE);
    PARALLEL_FOR(threads)
    for (int block = 0; block < rows; block += UND_MAC_FLOW_ROWS) {
        und_lanes unused = {0};
        for (int row = block; row < rows && row < block + UND_MAC_FLOW_ROWS; row++)
            each_batch(v, axis, row % wide - 1, row / wide - 1, fn, &unused);
    }
}

static void take_over(const move *v, int axis, size_t at, const und_lanes place[3], unsigned which,
                      und_lanes *reach)
{
    (void)reach;
    und_lanes speed[3], foot[3], value;
    und_faces_velocity(&v->s->mac, v->s->u, axis, at, speed);
    und_sample_trace(&v->s->mac, v->s->u, place, speed, -v->cells_per_speed, v->third, foot);
    und_sample_faces(&v->s->mac, v->moved[axis], axis, foot, &value, NULL);
    und_lanes_store_some(v->s->next[axis] + at, value, which);
}

/* Where faces come from; where they go to is kept, for `correct`. */
UND_INLINE void follow(const move *v, size_t at, const und_lanes place[3], const und_lanes speed[3],
                       unsigned which, und_lanes foot[3], und_lanes *reach)
{
    const und_mac *m = &v->s->mac;
    const und_lanes furthest = und_lanes_all((float)m->n[2]), none = {0};
    und_lanes to[3];
    und_sample_trace(m, v->s->u, place, speed, -v->cells_per_speed, v->third, foot);
    und_sample_trace(m, v->s->u, place, speed, v->cells_per_speed, v->third, to);
    for (int a = 0; a < 3; a++)
        und_lanes_store_some(v->to[a] + at, to[a], which);
    const und_lanes way = to[2] - place[2], far = und_lanes_max(way, -way);
    const und_lanes bounded = und_lanes_select(far < furthest, far, furthest);
    *reach = und_lanes_max(und_lanes_select(und_lanes_where(which), bounded, none), *reach);
}

/* The same as take_over, with the range of the values it is made of: its low end is kept in next. */
static void guess(const move *v, int axis, size_t at, const und_lanes place[3], unsigned which,
                  und_lanes *reach)
{
    und_mac_flow_advect_parts *p = &v->s->parts->advect;
    und_lanes speed[3], foot[3], value;
    und_sample_range range;
    und_faces_velocity(&v->s->mac, v->s->u, axis, at, speed);
    follow(v, at, place, speed, which, foot, reach);
    und_sample_faces(&v->s->mac, v->moved[axis], axis, foot, &value, &range);
    und_lanes_store_some(p->guess + at, value, which);
    und_lanes_store_some(v->s->next[axis] + at, range.low, which);
    und_lanes_store_some(p->high + at, range.high, which);
}

/* Whether all guesses around the places are known. */
static unsigned places_known(const und_mac_flow *s, int axis, const und_lanes place[3])
{
    const und_mask *whole = &s->parts->advect.whole;
    const ptrdiff_t row = 64 * whole->words, step[3] = {1, row, row * (whole->n[1] + 2)};
    und_lanes_int bit = {0};
    bit += (int32_t)(step[0] + step[1] + step[2]);
    for (int a = 0; a < (s->mac.n[2] == 1 ? 2 : 3); a++) {
        const float low = (float)s->mac.low[a];
        bit += (a == axis ? und_between_make(whole->n[a], step[a], place[a] - low, 0)
                          : und_between_make(whole->n[a], step[a], place[a] + 0.5f - low, 1))
                   .low;
    }
    unsigned known = 0;
    for (int i = 0; i < UND_LANES; i++)
        known |= (unsigned)(whole->bits[bit[i] >> 6] >> (bit[i] & 63) & 1) << i;
    return known;
}

/* The guess is followed forward: what does not come back to the face is twice its error. */
static void correct(const move *v, int axis, size_t at, const und_lanes place[3], unsigned which,
                    und_lanes *reach)
{
    const und_mac *m = &v->s->mac;
    const und_mac_flow_advect_parts *p = &v->s->parts->advect;
    und_lanes foot[3], back;
    (void)reach;
    for (int a = 0; a < 3; a++)
        foot[a] = und_lanes_select(und_lanes_where(which), und_lanes_load(v->to[a] + at), place[a]);
    und_lanes value = und_lanes_load(p->guess + at);
    unsigned known = places_known(v->s, axis, foot) & which;
    if (known) {
        und_sample_faces(m, p->guess, axis, foot, &back, NULL);
        und_lanes better = value + 0.5f * (und_lanes_load(v->moved[axis] + at) - back);
        better = und_lanes_max(better, und_lanes_load(v->s->next[axis] + at));
        better = und_lanes_min(better, und_lanes_load(p->high + at));
        value = und_lanes_select(und_lanes_where(known), better, value);
    }
    und_lanes_store_some(v->s->next[axis] + at, value, which);
}

/* Places between faces that flow or are shut, whose guess is what they have: a row at a time. */
static void know_row(und_mac_flow *s, const float *moved, int axis, int y, int z)
{
    und_mac_flow_advect_parts *p = &s->parts->advect;
    const int words = p->whole.words, sides = s->mac.n[2] == 1 ? 2 : 4;
    const uint64_t *flows[4], *shut[4];
    uint64_t *whole = und_mask_row(&p->whole, y, z);
    uint64_t before = 0, any = 0; /* of the word behind, which comes first */
    for (int i = 0; i < sides; i++) {
        flows[i] = und_mask_row(&s->flows[axis], y + i % 2, z + i / 2);
        shut[i] = und_mask_row(&p->shut[axis], y + i % 2, z + i / 2);
    }
    for (int w = words - 1; w >= 0; w--) {
        uint64_t all = flows[0][w] | shut[0][w];
        for (int i = 1; i < sides && all; i++)
            all &= flows[i][w] | shut[i][w];
        whole[w] = all & (all >> 1 | before << 63);
        before = all;
        any |= shut[0][w];
    }
    const size_t row = und_mac_at(&s->mac, 0, y, z);
    unsigned which;
    for (int x = -1;
         any && (x = und_mask_batch(&p->shut[axis], shut[0], x, UND_LANES, &which)) <= s->mac.n[0];
         x += UND_LANES) {
        size_t at = (size_t)((ptrdiff_t)row + x);
        und_lanes_store_some(p->guess + at, und_lanes_load(moved + at), which);
    }
}

static void know_slice(und_mac_flow *s, const float *moved, int axis, int z)
{
    for (int y = -1; y < s->mac.n[1] && (z >= 0 || s->mac.n[2] > 1); y++)
        know_row(s, moved, axis, y, z);
}

/* Slices z = i - 1 of faces.  How many slices away those are that the correction of one looks at. */
static void guess_slice(const move *v, int axis, int i)
{
    und_mac_flow *s = v->s;
    und_lanes far = {0};
    int reach = 0;
    know_slice(s, v->moved[axis], axis, i - 1);
    for (int y = -1; y < s->mac.n[1]; y++)
        each_batch(v, axis, y, i - 1, guess, &far);
    for (int k = 0; k < UND_LANES; k++)
        reach = (int)(far[k] + ROUNDED) > reach ? (int)(far[k] + ROUNDED) : reach;
    s->parts->advect.reach[i] = reach + 1;
}

static void correct_slice(const move *v, int axis, int i)
{
    und_lanes unused = {0};
    for (int y = -1; y < v->s->mac.n[1]; y++)
        each_batch(v, axis, y, i - 1, correct, &unused);
    v->s->parts->advect.reach[i] = CORRECTED;
}

/* Each slice is corrected as soon as all those are guessed that it looks at, while what the guess wrote is
 * still in the cache; those that look beyond the slab are left. */
static void move_slab(const move *v, int axis, int low, int high)
{
    const int *reach = v->s->parts->advect.reach, slices = v->s->mac.n[2] + 1;
    for (int front = low, next = low; front < high; front++) {
        guess_slice(v, axis, front);
        for (; next <= front && (next + reach[next] <= front || front == slices - 1); next++)
            if (next - reach[next] >= low || low == 0)
                correct_slice(v, axis, next);
    }
}

static void guess_and_correct(const move *v, int axis)
{
    const und_mac *m = &v->s->mac;
    const int slices = m->n[2] + 1,
              threads = und_workers(v->s->threads, m->count, UND_MAC_FLOW_CELLS_TO_SHARE);
    if (slices < 2 * THINNEST) {
        PARALLEL_FOR(threads)
        for (int z = -1; z < m->n[2]; z++)
            know_slice(v->s, v->moved[axis], axis, z);
        each_face(v, axis, guess);
        each_face(v, axis, correct);
        return;
    }
    int slabs = threads == 1 ? 1 : SLABS_PER_THREAD * threads;
    slabs = slabs < slices / THINNEST ? slabs : slices / THINNEST;
    PARALLEL_FOR(threads)
    for (int i = 0; i < slabs; i++)
        move_slab(v, axis, slices * i / slabs, slices * (i + 1) / slabs);
    PARALLEL_FOR(threads)
    for (int i = 0; i < slices; i++)
        if (v->s->parts->advect.reach[i] != CORRECTED)
            correct_slice(v, axis, i);
}

/* Takes it over.  What was gained on the way is taken off where it arrives, and what u is then is kept, to
 * know what is gained in this step. */
static void put_back(const move *v, int axis, size_t at, const und_lanes place[3], unsigned which,
                     und_lanes *reach)
{
    (void)place;
    (void)reach;
    float *gained = v->s->gained[axis];
    und_lanes value = und_lanes_load(v->s->next[axis] + at);
    if (gained) {
        value -= v->s->parts->scale * und_lanes_load(gained + at);
        und_lanes_store_some(gained + at, -value, which);
    }
    und_lanes_store_some(v->s->u[axis] + at, value, which);
}

void und_mac_flow_advect(und_mac_flow *s, double cells_per_speed, und_trace_order trace, und_advection rule)
{
    const und_mac_flow_system_parts *scratch = &s->parts->system;
    move v = {.s = s,
              .cells_per_speed = (float)cells_per_speed,
              .third = trace == UND_TRACE_RK3,
              .to = {scratch->known, scratch->b, scratch->weight}};
    for (int a = 0; a < 3; a++) {
        v.moved[a] = und_mac_flow_moved(s, a);
        if (rule == UND_ADVECT_SEMI_LAGRANGIAN) {
            each_face(&v, a, take_over);
        } else {
            guess_and_correct(&v, a);
        }
    }
    for (int a = 0; a < 3; a++)
        each_face(&v, a, put_back);
}
