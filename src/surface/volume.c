#include "surface/volume.h"

#include "base/pages.h"
#include "base/status.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float BEHIND = 1; /* cells: from a solid to what may be behind it */
static void mark_inside(und_volume *v)
{
    const und_mac *m = &v->mac;
    for (int row = 0; row < und_mac_rows(m); row++)
        memset(v->parts->inside + und_mac_row(m, row), 1, (size_t)m->n[0]);
    memcpy(v->parts->own, v->parts->inside, m->count);
}

void und_volume_others(und_volume *v, const uint8_t *others)
{
    for (size_t i = 0; i < v->mac.count; i++)
        v->parts->own[i] = v->parts->inside[i] && !others[i];
}

und_status und_volume_open(und_volume *v, const und_mac *mac, int threads, und_error *err)
{
    static const char *const what = "the cells' volumes";
    *v = (und_volume){.mac = *mac, .threads = threads};
    und_volume_parts *p = v->parts = und_alloc(1, sizeof *p, what, err);
    if (!p)
        return err->status;
    p->per_row = (mac->n[0] + UND_LANES - 1) / UND_LANES;
    const size_t rows = (size_t)und_mac_rows(mac), chunks = rows * (size_t)p->per_row;
    struct {
        void **to;
        size_t size, count;
    } const arrays[] = {
        {(void **)&v->c, sizeof *v->c, mac->count},
        {(void **)&v->film, sizeof *v->film, mac->count},
        {(void **)&p->inside, sizeof *p->inside, mac->count},
        {(void **)&p->own, sizeof *p->own, mac->count},
        {(void **)&p->kind, sizeof *p->kind, mac->count},
        {(void **)&p->to, sizeof *p->to, mac->count},
        {(void **)&p->mark, sizeof *p->mark, mac->count},
        {(void **)&p->unsure, sizeof *p->unsure, mac->count},
        {(void **)&p->flux, sizeof *p->flux, mac->count},
        {(void **)&p->extra, sizeof *p->extra, mac->count},
        {(void **)&p->spare, sizeof *p->spare, mac->count},
        {(void **)&p->part, sizeof *p->part, mac->count},
        {(void **)&p->area, sizeof *p->area, mac->count},
        {(void **)&p->over, sizeof *p->over, mac->count},
        {(void **)&p->fraction, sizeof *p->fraction, mac->count},
        {(void **)&p->list, sizeof *p->list, mac->count},
        {(void **)&p->chunk, sizeof *p->chunk, chunks},
        {(void **)&p->row_chunk, sizeof *p->row_chunk, chunks},
        {(void **)&p->row_count, sizeof *p->row_count, rows},
        {(void **)&p->row_chunks, sizeof *p->row_chunks, rows + 1},
        {(void **)&p->row_left, sizeof *p->row_left, rows + 1},
        {(void **)&p->row_sum, sizeof *p->row_sum, rows},
        {(void **)&p->row_most, sizeof *p->row_most, rows},
        {(void **)&p->block_most, sizeof *p->block_most, chunks / UND_VOLUME_CHUNKS + 1},
    };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        if (!(*arrays[i].to = und_pages_alloc(arrays[i].count * arrays[i].size, what, err)))
            return err->status;
    mark_inside(v);
    memset(p->unsure, UND_VOLUME_GAINS, mac->count); /* until it moves */
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        p->around[k] = und_volume_step(mac, k);
    return UND_OK;
}

void und_volume_close(und_volume *v)
{
    und_volume_parts *p = v->parts;
    if (!p)
        return;
    void *const arrays[] = {v->c,          v->film,     p->inside,  p->own,      p->kind,       p->to,
                            p->mark,       p->flux,     p->extra,   p->spare,    p->part,       p->area,
                            p->over,       p->fraction, p->list,    p->chunk,    p->row_chunk,  p->row_count,
                            p->row_chunks, p->row_left, p->row_sum, p->row_most, p->block_most, p->unsure};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        und_pages_free(arrays[i]);
    free(p);
    *v = (und_volume){0};
}

void und_volume_shift(und_volume *v, const und_mac *mac)
{
    v->mac = *mac;
    for (size_t i = 0; i < mac->count; i++)
        v->c[i] = v->parts->inside[i] ? v->c[i] : 0;
}

/* ---- Lists ---- */

typedef struct row_args {
    const und_volume *v;
    und_volume_look_fn *look;
    und_volume_choose_fn *fn;
    const void *context;
    bool sums;
} row_args;

static inline int row_of(const row_args *a, und_place p)
{
    return p.z * a->v->mac.n[1] + p.y;
}

/* What all of its cells hold, and the most. */
static inline void sum_row(const row_args *a, und_place p)
{
    und_volume_parts *parts = a->v->parts;
    const int32_t *c = a->v->c + p.at;
    const uint8_t *own = parts->own + p.at;
    int64_t all = 0;
    int32_t most = 0;
    for (int x = 0; x < a->v->mac.n[0]; x++) {
        const int32_t units = own[x] ? c[x] : 0;
        all += units;
        most = units > most ? units : most;
    }
    parts->row_sum[row_of(a, p)] = all;
    parts->row_most[row_of(a, p)] = most;
}
UND_KERNEL(sum_row, row_args, UND_EACH_ROW)

static int64_t sum_of_rows(und_volume_parts *p, int rows)
{
    int64_t sum = 0;
    p->most = 0;
    for (int row = 0; row < rows; row++) {
        sum += p->row_sum[row];
        p->most = p->row_most[row] > p->most ? p->row_most[row] : p->most;
    }
    return sum;
}

/* Of a row: how many cells are chosen, and how many chunks these are in. */
static inline void mark_row(const row_args *a, und_place place)
{
    und_volume_parts *p = a->v->parts;
    const int row = row_of(a, place);
    const size_t begin = place.at, end = begin + (size_t)a->v->mac.n[0];
    und_volume_chunk *const first = p->row_chunk + (size_t)row * (size_t)p->per_row, *chunk = first;
    int count = 0;
    memset(p->mark + begin, 0, end - begin);
    for (size_t from = begin; from < end; from += UND_LANES) {
        const unsigned own =
            und_lanes_bits(und_lanes_bytes(p->own + from) != 0) & und_volume_row_bits(end - from);
        unsigned chosen = (a->look ? a->look(a->context, from) : ~0u) & own;
        for (unsigned bits = a->fn ? chosen : 0; bits; bits &= bits - 1)
            if (!a->fn(a->context, from + (size_t)__builtin_ctz(bits)))
                chosen &= ~(bits & -bits);
        und_lanes_bytes_store_some(p->mark + from, (und_lanes_int){0} + 1, chosen);
        count += __builtin_popcount(chosen);
        if (chosen)
            *chunk++ = (und_volume_chunk){.at = (int32_t)from, .bits = (uint16_t)chosen};
    }
    p->row_count[row] = count;
    p->row_chunks[row] = (int32_t)(chunk - first);
    if (a->sums)
        sum_row(a, place);
}
UND_KERNEL(mark_row, row_args, UND_EACH_ROW)

/* Numbers become sums of those before; the sum of all. */
static int add_up(int32_t *numbers, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        const int own = numbers[i];
        numbers[i] = sum;
        sum += own;
    }
    return sum;
}
static inline void count_rows(const row_args *a, und_place all)
{
    und_volume_parts *p = a->v->parts;
    p->count = add_up(p->row_count, all.x);
    p->chunk_count = p->row_chunks[all.x] = add_up(p->row_chunks, all.x);
}
UND_KERNEL(count_rows, row_args, UND_EACH_BLOCK)

static inline void list_row(const row_args *a, und_place place)
{
    und_volume_parts *p = a->v->parts;
    const int row = row_of(a, place), end = p->row_chunks[row + 1];
    const und_volume_chunk *from = p->row_chunk + (size_t)row * (size_t)p->per_row;
    int32_t *out = p->list + p->row_count[row];
    for (int chunk = p->row_chunks[row]; chunk < end; chunk++, from++) {
        p->chunk[chunk] = *from;
        for (unsigned bits = from->bits; bits; bits &= bits - 1)
            *out++ = from->at + __builtin_ctz(bits);
    }
}
UND_KERNEL(list_row, row_args, UND_EACH_ROW)

static void list(const row_args *a)
{
    const int rows = und_mac_rows(&a->v->mac);
    const und_set each = und_set_rows(&a->v->mac, UND_ROWS_INSIDE);
    const und_set all = und_set_list(a->v->parts->row_count, rows, rows, 1);
    const und_pass pass[] = {UND_PASS(mark_row, a, &each), UND_PASS(count_rows, a, &all),
                             UND_PASS(list_row, a, &each)};
    const und_step step[] = {
        {&pass[0], 1, false, NULL}, {&pass[1], 1, false, NULL}, {&pass[2], 1, false, NULL}};
    und_pass_steps(&(und_device){a->v->threads}, step, sizeof step / sizeof *step);
}

void und_volume_list(und_volume *v, und_volume_look_fn *look, und_volume_choose_fn *fn, const void *context)
{
    list(&(row_args){v, look, fn, context, false});
}

int64_t und_volume_list_and_sum(und_volume *v, und_volume_look_fn *look, const void *context)
{
    list(&(row_args){v, look, NULL, context, true});
    return sum_of_rows(v->parts, und_mac_rows(&v->mac));
}

void und_volume_set_out(const und_volume *v, const und_volume_chunk *k, const int32_t *amounts)
{
    const und_volume_parts *p = v->parts;
    UND_VOLUME_OF_CHUNK(k, k->gives, at)
    {
        const int32_t most = UND_VOLUME_AT_ONCE * UND_VOLUME_ONE, own = amounts[at];
        const bool stays =
            p->to[at] == UND_VOLUME_STAY || und_volume_crowded(amounts[(ptrdiff_t)at + p->around[p->to[at]]]);
        p->spare[at] = stays ? 0 : own > most ? most : own < -most ? -most : own;
    }
}

/* Whole numbers are the same added in any order. */
void und_volume_give_out(const und_volume *v, const und_volume_chunk *k, int32_t *amounts)
{
    const und_volume_parts *p = v->parts;
    UND_VOLUME_OF_CHUNK(k, k->gives, at)
    {
        const int32_t amount = p->spare[at];
        if (amount == 0)
            continue;
        __atomic_fetch_sub(&amounts[at], amount, __ATOMIC_RELAXED);
        __atomic_fetch_add(&amounts[(ptrdiff_t)at + p->around[p->to[at]]], amount, __ATOMIC_RELAXED);
    }
}

void und_volume_hand_out(und_volume *v, int32_t *amounts)
{
    UND_VOLUME_EACH_CHUNK(v, k)
    und_volume_give_out(v, k, amounts);
}

void und_volume_hand_over(und_volume *v, int32_t *amounts)
{
    UND_VOLUME_EACH_CHUNK(v, k)
    und_volume_set_out(v, k, amounts);
    und_volume_hand_out(v, amounts);
}

/* ---- Where particles know better ---- */

void und_volume_find_unsure(und_volume *v, const und_volume_flow *flow)
{
    const float whole = (float)flow->per_speed;
    const float keeps = 0.002f, least = 0.25f; /* of its volume, in a step; cells that are crossed in it */
    memset(v->parts->unsure, 0, v->mac.count);
    UND_VOLUME_EACH_CHUNK(v, k)
    {
        und_lanes gain = {0}, square = {0};
        for (int a = 0; a < (v->mac.n[2] > 1 ? 3 : 2); a++) {
            const und_lanes high = und_lanes_load(flow->u[a] + k->at);
            const und_lanes low = und_lanes_load(flow->u[a] + k->at - v->mac.step[a]);
            gain += high - low;
            square += (high + low) * (high + low);
        }
        gain *= whole;
        const und_lanes_int slow = square * (whole * whole) < 4 * least * least;
        const uint8_t *kind = v->parts->kind + k->at;
        und_lanes_int held = und_lanes_bytes(kind) == UND_VOLUME_HELD;
        for (int way = 0; way < 6; way++) {
            const ptrdiff_t step = v->mac.step[way / 2];
            held |= und_lanes_bytes(kind + (way % 2 ? step : -step)) == UND_VOLUME_HELD;
        }
        und_lanes_bytes_store_some(v->parts->unsure + k->at,
                                   (held | slow | (gain > keeps) | (gain < -keeps)) & UND_VOLUME_GAINS,
                                   k->bits);
    }
}

/* ---- What phi encloses ---- */

float und_volume_along(const und_volume *v, const und_volume_walls *walls, size_t at, const float slope[3])
{
    float product = 0, own = 0, wall = 0;
    if (!walls->room || !(walls->room[at] < 1) || walls->beside_thin[at])
        return 0;
    for (int a = 0; a < 3; a++) {
        const size_t step = (size_t)v->mac.step[a];
        const float rise = v->mac.n[a] > 1 ? walls->distance[at + step] - walls->distance[at - step] : 0;
        product += slope[a] * rise;
        own += slope[a] * slope[a];
        wall += rise * rise;
    }
    return own > 0.01f && wall > 0 ? und_volume_clip(product / sqrtf(own * wall), 1) : 0;
}

static const float HAIR = 0.02f; /* cells: phi of cells that their surface goes through */

bool und_volume_is_cut(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at)
{
    if (fabsf(phi[at]) > UND_VOLUME_BESIDE)
        return false;
    if (phi[at] < 0 || !walls->room || !walls->beside_thin[at])
        return true;
    for (int way = 0; way < 6; way++) {
        const size_t step = (size_t)v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
        if (v->parts->inside[next] && walls->open[way / 2][way % 2 ? at : next] > 0 && phi[next] < HAIR)
            return true;
    }
    return false;
}

bool und_volume_is_behind(const und_volume *v, const und_volume_walls *walls, float phi, size_t at)
{
    if (!walls->room || !(walls->distance[at] < (phi < 0 ? 0 : BEHIND)) || v->c[at] > 0)
        return false;
    for (int way = 0; way < 6; way++) {
        const size_t step = (size_t)v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
        if (walls->open[way / 2][way % 2 ? at : next] > 0 && v->c[next] > 0)
            return false;
    }
    return true;
}

/* Of what is thinner than cells there is no gradient. */
float und_volume_part(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at)
{
    const float room = und_volume_room(walls, at);
    float slope[3];
    if (!und_volume_is_cut(v, walls, phi, at))
        return phi[at] < 0 ? room : 0;
    und_volume_gradient(v, walls, phi, at, slope);
    const double g[3] = {(double)slope[0], (double)slope[1], (double)slope[2]}, value = (double)phi[at];
    const double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    const double part = length > 0.1 ? und_plane_part(value * length, g) : fmin(fmax(0.5 - value, 0), 1);
    return und_volume_within((float)part, room, und_volume_along(v, walls, at, slope));
}

void und_volume_fill(und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    const und_mac *m = &v->mac;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (size_t x = 0, first = und_mac_row(m, row); x < (size_t)m->n[0]; x++)
            v->c[first + x] = und_volume_units(und_volume_part(v, walls, d->phi, first + x));
}

int64_t und_volume_sum(const und_volume *v)
{
    const row_args args = {.v = v};
    const und_set rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    und_pass(&(und_device){v->threads}, sum_row, &args, &rows);
    return sum_of_rows(v->parts, und_mac_rows(&v->mac));
}

double und_volume_fullest(const und_volume *v)
{
    return (double)v->parts->most / UND_VOLUME_ONE;
}
bool und_volume_is_overfull(const und_volume *v)
{
    return und_volume_crowded(v->parts->most);
}

double und_volume_shown(const und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    const und_mac *m = &v->mac;
    double sum = 0;
    for (int row = 0; row < und_mac_rows(m); row++)
        for (size_t x = 0, first = und_mac_row(m, row); x < (size_t)m->n[0]; x++) {
            const size_t at = first + x;
            if (!v->parts->own[at])
                continue;
            if (v->film[at])
                sum += (double)und_volume_cells(v->c[at]);
            else if (!und_volume_is_behind(v, walls, d->phi[at], at))
                sum += (double)und_volume_part(v, walls, d->phi, at);
        }
    return sum;
}

und_level_set_particles_lost und_volume_lost(const und_volume *v)
{
    return (und_level_set_particles_lost){
        .held = v->c, .least = UND_VOLUME_ONE / 50, .most = UND_VOLUME_ONE - UND_VOLUME_ONE / 50};
}

/* ---- Solids ---- */

typedef struct buried {
    const und_volume *v;
    const und_volume_walls *walls;
} buried;

static const float LEAST_ROOM = 0.02f;

/* The steepest way out of the solid. */
static uint8_t way_out(const und_volume *v, const und_volume_walls *walls, size_t at)
{
    static const float over_length[4] = {0, 1, 0.70710678f, 0.57735027f};
    float best = 0.01f;
    uint8_t to = UND_VOLUME_STAY;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + und_volume_step(&v->mac, k));
        const int axes = (k % 3 != 1) + (k / 3 % 3 != 1) + (k / 9 != 1);
        const float slope = (walls->distance[next] - walls->distance[at]) * over_length[axes];
        if (v->parts->own[next] && slope > best) {
            best = slope;
            to = (uint8_t)k;
        }
    }
    return to;
}

/* There is next to no room, or its middle is in the solid and a wall is before it. */
static bool is_buried(const void *context, size_t at)
{
    const buried *b = context;
    const und_volume_walls *w = b->walls;
    if (b->v->c[at] == 0 || !(w->room[at] < LEAST_ROOM || w->distance[at] < 0))
        return false;
    if (w->beside_thin[at] && !(w->room[at] > 0))
        return false; /* which side it is of is not known here */
    return w->room[at] < LEAST_ROOM || !und_volume_way(w->open, b->v->mac.step, at, way_out(b->v, w, at));
}

void und_volume_leave_solids(und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    enum { ROUNDS = 6 };
    und_volume_parts *p = v->parts;
    for (int round = 0; round < ROUNDS && walls->room; round++) {
        und_volume_list(v, NULL, is_buried, &(buried){v, walls});
        if (p->count == 0)
            return;
        UND_VOLUME_EACH_CHUNK(v, k)
        {
            k->gives = k->bits;
            UND_VOLUME_OF_CHUNK(k, k->bits, at)
            {
                const int32_t part = und_volume_units(und_volume_part(v, walls, d->phi, at));
                p->extra[at] = v->c[at] < 0 ? 0 : v->c[at] < part ? v->c[at] : part;
                v->c[at] -= p->extra[at];
                p->to[at] = way_out(v, walls, at);
            }
        }
        und_volume_hand_over(v, v->c);
        UND_VOLUME_EACH(v, p->count, at, p->list)
        v->c[at] += p->extra[at];
    }
}

void und_volume_even(und_volume *v, const und_volume_walls *walls, und_volume_choose_fn *fn,
                     const void *context)
{
    enum { ROUNDS = 8 };
    const float even = 0.15f; /* of the difference to a neighbour */
    const und_volume_parts *p = v->parts;
    und_volume_list(v, NULL, fn, context);
    UND_VOLUME_EACH(v, p->count, at, p->list)
    p->extra[at] = v->c[at] - und_volume_units(und_volume_room(walls, at));
    for (int round = 0; round < ROUNDS; round++) {
        UND_VOLUME_EACH(v, p->count, at, p->list)
        {
            p->spare[at] = 0;
            for (int way = 0; way < 6; way++) {
                const size_t step = (size_t)v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
                if (p->own[next] && p->mark[next] && walls->open[way / 2][way % 2 ? at : next] > 0)
                    p->spare[at] += (int32_t)(even * (float)(p->extra[next] - p->extra[at]));
            }
        }
        UND_VOLUME_EACH(v, p->count, at, p->list)
        {
            p->extra[at] += p->spare[at];
            v->c[at] += p->spare[at];
        }
    }
}
