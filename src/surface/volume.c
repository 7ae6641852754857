#include "surface/volume.h"

#include "base/status.h"
#include "grid/field.h"
#include "grid/present.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float BEHIND = 1; /* cells: from a solid to what may be behind it */
static void mark_inside(und_volume *v)
{
    const und_mac *m = &v->mac;
    UND_MAC_EACH_STRETCH(m, first, count)
    {
        memset(v->parts->inside + first, 1, count);
        memset(v->parts->own + first, 1, count);
    }
}

void und_volume_others(und_volume *v, const uint8_t *others)
{
    v->parts->others = false;
    for (size_t i = 0; i < v->mac.count; i++) {
        v->parts->own[i] = v->parts->inside[i] && !others[i];
        v->parts->others |= v->parts->inside[i] && others[i];
    }
}

void und_volume_rows_came(und_volume *v)
{
    mark_inside(v);
}

enum { AT_ROW_ENDS = UND_AT_OWN, AT_CHUNKS, AT_LISTED }; /* chunks of all rows; and behind them */

#define FIELD(member, ...) UND_FIELD(und_volume, member, UND_AT_CELLS, ##__VA_ARGS__)
#define PART(member, at) UND_FIELD(und_volume_parts, member, at)

static const und_field fields[] = {FIELD(c, .halo = UND_HALO_CROSSED), FIELD(film, .halo = UND_HALO_CROSSED)};
static const und_field part_fields[] = {
    PART(inside, UND_AT_CELLS),   PART(own, UND_AT_CELLS),        PART(kind, UND_AT_CELLS),
    PART(mark, UND_AT_CELLS),     PART(unsure, UND_AT_CELLS),

    PART(chunk, AT_LISTED),       PART(row_chunk, AT_LISTED),     PART(wakes, AT_CHUNKS),
    PART(row_count, UND_AT_ROWS), PART(row_sum, UND_AT_ROWS),     PART(row_total, UND_AT_ROWS),
    PART(row_most, UND_AT_ROWS),  PART(block_count, UND_AT_ROWS), PART(block_chunks, UND_AT_ROWS),
    PART(row_films, UND_AT_ROWS), PART(block_most, UND_AT_ROWS),  PART(row_chunks, AT_ROW_ENDS),
    PART(row_left, AT_ROW_ENDS),  PART(row_layers, UND_AT_ROWS)};
enum { FIELDS = sizeof fields / sizeof *fields, PART_FIELDS = sizeof part_fields / sizeof *part_fields };

void und_volume_get_cells(const und_volume *v, int reach)
{
    const und_halo_field halo[] = {und_field_halo(v, &fields[0], &v->mac, reach),
                                   und_field_halo(v, &fields[1], &v->mac, reach)};
    und_halo_get(v->device.halo, halo, 2);
}

void und_volume_get(const und_volume *v, const und_distance *d, float *const u[3], int reach)
{
    und_volume_get_cells(v, reach);
    und_distance_get_flow(d, u, reach);
}

static und_halo_field of_rows(const und_volume *v, void *values, size_t size)
{
    und_halo_field rows = und_halo_of_slices(&v->mac, values, size, 0, v->mac.n[2]);
    rows.step = v->mac.n[1];
    rows.count = (size_t)v->mac.n[1];
    return rows;
}

void und_volume_get_rows(const und_volume *v, void *values, size_t size)
{
    const und_halo_field rows = of_rows(v, values, size);
    und_halo_get(v->device.halo, &rows, 1);
}

void und_volume_borrow(const und_volume *v)
{
    und_volume_parts *p = v->parts;
    const size_t bytes = v->mac.count * sizeof(int32_t);
    p->extra = und_scratch_take(p->scratch, bytes);
    p->part = und_scratch_take(p->scratch, bytes);
    p->fraction = und_scratch_take(p->scratch, bytes);
    p->to = und_scratch_take(p->scratch, v->mac.count);
    p->flux = p->spare = und_scratch_take(p->scratch, bytes); /* only ever one of them is used */
}

void und_volume_give_back(const und_volume *v)
{
    und_volume_parts *p = v->parts;
    und_scratch_give_back(p->scratch, p->extra);
    p->extra = p->part = p->flux = p->spare = NULL;
    p->fraction = NULL;
    p->to = NULL;
}

und_status und_volume_open(und_volume *v, const und_mac *mac, int threads, und_scratch *scratch,
                           und_error *err)
{
    static const char *const what = "the cells' volumes";
    *v = (und_volume){.mac = *mac, .device = {.threads = threads}};
    und_volume_parts *p = v->parts = und_alloc(1, sizeof *p, what, err);
    if (!p)
        return err->status;
    p->per_row = (mac->n[0] + UND_LANES - 1) / UND_LANES;
    const size_t most = 4 * und_scratch_bytes(mac->count * sizeof(int32_t)) + und_scratch_bytes(mac->count) +
                        und_scratch_bytes(UND_VOLUME_FACES * mac->count * sizeof *p->kept);
    if (!(p->scratch = und_scratch_join(scratch, most, err)))
        return err->status;
    p->lent = most;
    if (und_scratch_keep_zeroed(p->scratch, 2 * und_scratch_bytes(mac->count * sizeof *p->over), err))
        return err->status;
    const size_t rows = (size_t)und_mac_rows(mac), chunks = rows * (size_t)p->per_row;
    const size_t own[] = {rows + 1, chunks, chunks + UND_VOLUME_AHEAD};
    const und_field_room room = {.mac = mac, .own = own};
    if (und_field_open_all(v, fields, FIELDS, &room, what, err) ||
        und_field_open_all(p, part_fields, PART_FIELDS, &room, what, err))
        return err->status;
    mark_inside(v);
    UND_MAC_EACH_STRETCH(mac, first, count) /* UND_VOLUME_GAINS, until it moves */
    memset(p->unsure + first, 1, count);
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        p->around[k] = und_volume_step(mac, k);
    return UND_OK;
}

void und_volume_close(und_volume *v)
{
    if (!v->parts)
        return;
    und_scratch_leave(v->parts->scratch, v->parts->lent);
    und_field_close_all(v->parts, part_fields, PART_FIELDS);
    und_field_close_all(v, fields, FIELDS);
    free(v->parts);
    *v = (und_volume){0};
}

void und_volume_shift(und_volume *v, const und_mac *mac)
{
    v->mac = *mac;
    for (int z = -1; z <= mac->n[2]; z++)
        for (int y = -1; y <= mac->n[1]; y++) {
            const und_span part = und_mac_part(mac, y, z);
            for (int x = part.begin; x < part.end; x++)
                if (!v->parts->inside[und_mac_at(mac, x, y, z)])
                    v->c[und_mac_at(mac, x, y, z)] = 0;
        }
}

/* ---- Lists ---- */

/* Chunks of a row as they are found: the last one, where `bits` is not 0, is still to be written. */
typedef struct row_chunks {
    und_volume_chunk *next;
    int32_t at;
    unsigned bits;
} row_chunks;

static void end_chunk(row_chunks *c)
{
    if (c->bits)
        *c->next++ = (und_volume_chunk){.at = c->at, .bits = (uint16_t)c->bits};
}

/* A chunk begins with a cell of the list: so there are fewer. */
static void add_to_chunks(row_chunks *c, int32_t from, unsigned chosen)
{
    int begin = 0;
    if (c->bits && c->at + UND_LANES > from) {
        begin = c->at + UND_LANES - from;
        c->bits |= chosen << (UND_LANES - begin) & UND_LANES_ALL;
    }
    chosen &= ~0u << begin;
    if (!chosen)
        return;
    end_chunk(c);
    begin = __builtin_ctz(chosen);
    c->at = from + begin;
    c->bits = chosen >> begin;
}

/* What all of its cells hold, and the most. */
static void sum_row(const und_volume *v, und_place p)
{
    const int row = p.y + p.z * v->mac.n[1];
    const int32_t *c = v->c + p.at;
    const uint8_t *own = v->parts->own + p.at;
    const bool others = v->parts->others;
    int64_t all = 0;
    int32_t most = 0;
    const und_span span = und_mac_span(&v->mac, p.y, p.z);
    for (int x = span.begin; x < span.end && !others; x++) {
        all += c[x];
        most = c[x] > most ? c[x] : most;
    }
    for (int x = span.begin; x < span.end && others; x++) {
        const int32_t units = own[x] ? c[x] : 0;
        all += units;
        most = units > most ? units : most;
    }
    v->parts->row_sum[row] = all;
    v->parts->row_most[row] = most;
}
UND_KERNEL(sum_row, und_volume, UND_EACH_ROW)

int64_t und_volume_summed(const und_volume *v)
{
    und_volume_parts *p = v->parts;
    const und_halo_field rows[] = {of_rows(v, p->row_sum, sizeof *p->row_sum),
                                   of_rows(v, p->row_most, sizeof *p->row_most)};
    int64_t sum = 0;
    p->most = 0;
    und_halo_get(v->device.halo, rows, 2);
    UND_MAC_EACH_ROW (&v->mac, row) {
        sum += p->row_sum[row];
        p->most = p->row_most[row] > p->most ? p->row_most[row] : p->most;
    }
    return sum;
}

/* Of a row: how many cells are chosen, and how many chunks these are in. */
static void mark_row(const und_volume_listing *l, und_place p)
{
    und_volume_parts *parts = l->v->parts;
    const und_mac *m = &l->v->mac;
    const int row = p.y + p.z * m->n[1];
    const size_t begin = und_mac_row_begin(m, row), end = und_mac_row_end(m, row);
    und_volume_chunk *const first = parts->row_chunk + (size_t)row * (size_t)parts->per_row;
    row_chunks chunks = {.next = first};
    int count = 0;
    for (size_t from = begin; from < end; from += UND_LANES) {
        const unsigned inside = und_volume_row_bits(end - from);
        unsigned chosen = (l->look ? l->look(l->context, from) : ~0u) & inside;
        if (parts->others)
            chosen &= und_lanes_bits(und_lanes_bytes(parts->own + from) != 0);
        for (unsigned bits = l->fn ? chosen : 0; bits; bits &= bits - 1)
            if (!l->fn(l->context, from + (size_t)__builtin_ctz(bits)))
                chosen &= ~(bits & -bits);
        und_lanes_bytes_store_some(parts->mark + from, und_lanes_where(chosen) & 1, inside);
        count += __builtin_popcount(chosen);
        if (chosen)
            add_to_chunks(&chunks, (int32_t)from, chosen);
    }
    end_chunk(&chunks);
    parts->row_count[row] = count;
    parts->row_chunks[row] = (int32_t)(chunks.next - first);
    if (l->sums)
        sum_row(l->v, p);
    if (l->cleared)
        memset(l->cleared + begin, 0, end - begin);
}

/* Of a block of rows; those that are not there have none. */
static void mark_rows(const und_volume_listing *l, und_place p)
{
    und_volume_parts *parts = l->v->parts;
    const und_mac *m = &l->v->mac;
    int32_t count = 0, chunks = 0;
    for (int row = (int)p.at; row < (int)p.at + p.x; row++) {
        if (!und_mac_has_row(m, row))
            continue;
        mark_row(l, (und_place){.at = und_mac_row(m, row), .y = row % m->n[1], .z = row / m->n[1]});
        count += parts->row_count[row];
        chunks += parts->row_chunks[row];
    }
    parts->block_count[p.y] = count;
    parts->block_chunks[p.y] = chunks;
}
UND_KERNEL(mark_rows, und_volume_listing, UND_EACH_BLOCK)

/* Blocks are few. */
static void add_blocks_up(const und_volume_listing *l, und_place p)
{
    und_volume_parts *parts = l->v->parts;
    int32_t count = 0, chunks = 0;
    (void)p;
    for (int block = 0; block < l->rows.blocks; block++) {
        const int32_t own = parts->block_chunks[block];
        count += parts->block_count[block];
        parts->block_chunks[block] = chunks;
        chunks += own;
    }
    parts->count = count;
    parts->chunk_count = parts->row_chunks[l->rows.rows] = chunks;
}
UND_KERNEL(add_blocks_up, und_volume_listing, UND_EACH_BLOCK)

/* What is before each row of a block, and its chunks. */
static void list_rows(const und_volume_listing *l, und_place p)
{
    const und_volume_parts *parts = l->v->parts;
    int32_t first = parts->block_chunks[p.y];
    for (int row = (int)p.at; row < (int)p.at + p.x; row++) {
        const int32_t own = und_mac_has_row(&l->v->mac, row) ? parts->row_chunks[row] : 0;
        parts->row_chunks[row] = first;
        memcpy(parts->chunk + first, parts->row_chunk + (size_t)row * (size_t)parts->per_row,
               (size_t)own * sizeof *parts->chunk);
        first += own;
    }
}
UND_KERNEL(list_rows, und_volume_listing, UND_EACH_BLOCK)

void und_volume_list_steps(und_volume_listing *l, und_step steps[UND_VOLUME_LIST_STEPS])
{
    l->rows = und_set_shared(&l->v->device, &l->v->mac, UND_ROWS_INSIDE);
    l->once = und_set_list(l->v, 1, 1, 1);
    l->pass[0] = UND_PASS(mark_rows, l, &l->rows);
    l->pass[1] = UND_PASS(add_blocks_up, l, &l->once);
    l->pass[2] = UND_PASS(list_rows, l, &l->rows);
    for (int i = 0; i < UND_VOLUME_LIST_STEPS; i++)
        steps[i] = (und_step){.passes = &l->pass[i], .count = 1};
    l->counts = und_halo_of_slices(&l->v->mac, l->v->parts->block_count, sizeof *l->v->parts->block_count, 0,
                                   l->v->mac.n[2]);
    steps[1].halo = &l->counts;
    steps[1].halos = l->sums;
}

static void list(und_volume_listing *l)
{
    und_step steps[UND_VOLUME_LIST_STEPS];
    und_volume_list_steps(l, steps);
    und_pass_steps(&l->v->device, steps, UND_VOLUME_LIST_STEPS);
}

void und_volume_list(und_volume *v, und_volume_look_fn *look, und_volume_choose_fn *fn, const void *context)
{
    list(&(und_volume_listing){.v = v, .look = look, .fn = fn, .context = context});
}

int64_t und_volume_list_and_sum(und_volume *v, und_volume_look_fn *look, const void *context,
                                uint8_t *cleared)
{
    list(&(und_volume_listing){.v = v, .look = look, .context = context, .sums = true, .cleared = cleared});
    return und_volume_summed(v);
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

enum { IN_TURN = 4 };

/* One after the other, in one region. */
static void run_in_turn(const und_volume *v, const und_pass *passes, int count)
{
    und_step steps[IN_TURN];
    for (int i = 0; i < count; i++)
        steps[i] = (und_step){.passes = &passes[i], .count = 1};
    und_pass_steps(&v->device, steps, count);
}

/* Passes over chunks of the list, some at a time. */
typedef struct chunk_args {
    und_volume *v;
    const und_distance *d;
    const und_volume_walls *walls;
} chunk_args;
#define EACH_CHUNK(a, p, k) \
    for (und_volume_chunk *k = (a)->v->parts->chunk + (p).at, *k##_end = k + (p).x; k < k##_end; k++)

static inline void set_out(const chunk_args *a, und_place p)
{
    EACH_CHUNK(a, p, k)
    und_volume_set_out(a->v, k, a->v->c);
}
UND_KERNEL(set_out, chunk_args, UND_EACH_BLOCK)

static inline void give_out(const chunk_args *a, und_place p)
{
    EACH_CHUNK(a, p, k)
    und_volume_give_out(a->v, k, a->v->c);
}
UND_KERNEL(give_out, chunk_args, UND_EACH_BLOCK)

static size_t fullest_around(const und_volume *v, const und_volume_walls *walls, size_t at)
{
    const und_volume_parts *p = v->parts;
    size_t best = at;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + p->around[k]);
        if (v->c[next] > 0 && v->c[next] > v->c[best] && p->own[next] &&
            !(p->held && p->kind[next] == UND_VOLUME_HELD) && und_volume_linked(v, walls, at, k))
            best = next;
    }
    return best;
}

/* A cell further, where none around holds anything. */
static size_t fullest_near(const und_volume *v, const und_volume_walls *walls, size_t at)
{
    size_t best = fullest_around(v, walls, at);
    for (int k = 0; k < UND_VOLUME_AROUND && v->c[best] <= 0; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + v->parts->around[k]);
        if (v->parts->own[next] && und_volume_linked(v, walls, at, k))
            best = fullest_around(v, walls, next);
    }
    return v->c[best] > 0 ? best : at;
}

static void pay_from(const und_volume *v, size_t at, size_t from)
{
    const int32_t part = v->c[from] < -v->c[at] ? v->c[from] : -v->c[at];
    v->c[from] -= part;
    v->c[at] += part;
}

void und_volume_pay_one(const und_volume *v, const und_volume_walls *walls, size_t at)
{
    for (size_t from; v->c[at] < 0 && (from = fullest_near(v, walls, at)) != at;)
        pay_from(v, at, from);
}

/* The fullest of the cells so many away from one, along x, y or z. */
static size_t fullest_away(const und_volume *v, const int cell[3], size_t at, int away)
{
    const int *n = v->mac.n, deep = n[2] > 1 ? away : 0;
    size_t best = at;
    for (int z = cell[2] - deep; z <= cell[2] + deep; z++)
        for (int y = cell[1] - away; y <= cell[1] + away; y++)
            for (int x = cell[0] - away; x <= cell[0] + away; x++) {
                const bool shell =
                    abs(x - cell[0]) == away || abs(y - cell[1]) == away || abs(z - cell[2]) == away;
                if (!shell || x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2])
                    continue;
                const size_t next = und_mac_at(&v->mac, x, y, z);
                if (v->parts->own[next] && v->c[next] > 0 && v->c[next] > v->c[best] &&
                    !(v->parts->held && v->parts->kind[next] == UND_VOLUME_HELD))
                    best = next;
            }
    return best;
}

void und_volume_pay_far(const und_volume *v, const und_volume_walls *walls, size_t at)
{
    int cell[3];
    und_volume_pay_one(v, walls, at);
    und_mac_cell(&v->mac, at, cell);
    for (int away = 2; v->c[at] < 0 && away <= UND_VOLUME_PAY_FURTHEST && !walls->room; away++)
        for (size_t from; v->c[at] < 0 && (from = fullest_away(v, cell, at, away)) != at;)
            pay_from(v, at, from);
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

/* Whether the surface is between a cell and one that it is open to, or at most two axes away over such:
 * beside the edge of a solid the cell below is shut. */
static bool is_above_liquid(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at,
                            int from)
{
    for (int way = 0; way < 6; way++) {
        const size_t step = (size_t)v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
        if (way / 2 != from && v->parts->inside[next] && walls->open[way / 2][way % 2 ? at : next] > 0 &&
            (phi[next] < HAIR || (from < 0 && is_above_liquid(v, walls, phi, next, way / 2))))
            return true;
    }
    return false;
}

bool und_volume_is_cut(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at)
{
    if (fabsf(phi[at]) > UND_VOLUME_BESIDE)
        return false;
    return phi[at] < 0 || !walls->room || !walls->beside_thin[at] || is_above_liquid(v, walls, phi, at, -1);
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
    UND_MAC_EACH_STRETCH(m, first, count)
    for (size_t at = first; at < first + count; at++)
        v->c[at] = und_volume_units(und_volume_part(v, walls, d->phi, at));
}

und_pass und_volume_sum_pass(const und_volume *v, const und_set *rows)
{
    return UND_PASS(sum_row, v, rows);
}

int64_t und_volume_sum(const und_volume *v)
{
    const und_set rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    const und_pass pass = und_volume_sum_pass(v, &rows);
    und_pass_run(&v->device, &pass, 1);
    return und_volume_summed(v);
}

double und_volume_fullest(const und_volume *v)
{
    return (double)v->parts->most / UND_VOLUME_ONE;
}
bool und_volume_is_overfull(const und_volume *v)
{
    return und_volume_crowded(v->parts->most);
}

typedef struct showing {
    const und_volume *v;
    const und_distance *d;
    const und_volume_walls *walls;
} showing;

static double shown_at(const showing *w, size_t at)
{
    if (!w->v->parts->own[at])
        return 0;
    if (w->v->film[at])
        return (double)und_volume_cells(w->v->c[at]);
    return und_volume_is_behind(w->v, w->walls, w->d->phi[at], at)
               ? 0
               : (double)und_volume_part(w->v, w->walls, w->d->phi, at);
}

static inline und_totals show_cells(const showing *w, und_place p)
{
    und_totals t = {0};
    for (unsigned bits = p.which; bits; bits &= bits - 1)
        t.sum[__builtin_ctz(bits)] = shown_at(w, p.at + (size_t)__builtin_ctz(bits));
    return t;
}
UND_KERNEL_SUM(show_cells, showing)

double und_volume_shown(const und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    const showing w = {v, d, walls};
    const und_set rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    return und_reduce(&v->device, &UND_PASS(show_cells, &w, &rows), 1, v->parts->row_total).sum;
}

und_level_set_particles_lost und_volume_lost(const und_volume *v, float *const u[3], double per_speed)
{
    return (und_level_set_particles_lost){.held = v->c,
                                          .least = UND_VOLUME_ONE / 50,
                                          .most = UND_VOLUME_ONE - UND_VOLUME_ONE / 50,
                                          .gains = v->parts->unsure,
                                          .u = {u[0], u[1], u[2]},
                                          .per_speed = (float)per_speed};
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

/* What leaves a cell is all but what phi encloses of it, */
static inline void lift_buried(const chunk_args *a, und_place p)
{
    const und_volume *v = a->v;
    const und_volume_parts *parts = v->parts;
    EACH_CHUNK(a, p, k)
    {
        k->gives = k->bits;
        UND_VOLUME_OF_CHUNK(k, k->bits, at)
        {
            const int32_t part = und_volume_units(und_volume_part(v, a->walls, a->d->phi, at));
            parts->extra[at] = v->c[at] < 0 ? 0 : v->c[at] < part ? v->c[at] : part;
            v->c[at] -= parts->extra[at];
            parts->to[at] = way_out(v, a->walls, at);
        }
    }
}
UND_KERNEL(lift_buried, chunk_args, UND_EACH_BLOCK)

/* which it has again then. */
static inline void put_back(const chunk_args *a, und_place p)
{
    EACH_CHUNK(a, p, k)
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    a->v->c[at] += a->v->parts->extra[at];
}
UND_KERNEL(put_back, chunk_args, UND_EACH_BLOCK)

void und_volume_leave_solids(und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    enum { ROUNDS = 6, IN_ROUND = 2, PART = 2 }; /* a cell gets from one that may give where others are */
    und_volume_parts *p = v->parts;
    if (walls->room) {
        und_volume_get_cells(v, ROUNDS * IN_ROUND);
        und_distance_get_phi(d, ROUNDS * IN_ROUND + PART);
    }
    for (int round = 0; round < ROUNDS && walls->room; round++) {
        und_volume_list(v, NULL, is_buried, &(buried){v, walls});
        if (p->count == 0)
            return;
        const chunk_args args = {v, d, walls};
        const und_set chunks = und_volume_chunks(v);
        const und_pass passes[] = {UND_PASS(lift_buried, &args, &chunks), UND_PASS(set_out, &args, &chunks),
                                   UND_PASS(give_out, &args, &chunks), UND_PASS(put_back, &args, &chunks)};
        run_in_turn(v, passes, 4);
    }
}

static inline void find_excess(const chunk_args *a, und_place p)
{
    EACH_CHUNK(a, p, k)
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    a->v->parts->extra[at] = a->v->c[at] - und_volume_units(und_volume_room(a->walls, at));
}
UND_KERNEL(find_excess, chunk_args, UND_EACH_BLOCK)

static inline void find_even(const chunk_args *a, und_place p)
{
    const float even = 0.15f; /* of the difference to a neighbour */
    const und_volume_parts *parts = a->v->parts;
    EACH_CHUNK(a, p, k)
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    {
        parts->spare[at] = 0;
        for (int way = 0; way < 6; way++) {
            const size_t step = (size_t)a->v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
            if (parts->own[next] && parts->mark[next] && a->walls->open[way / 2][way % 2 ? at : next] > 0)
                parts->spare[at] += (int32_t)(even * (float)(parts->extra[next] - parts->extra[at]));
        }
    }
}
UND_KERNEL(find_even, chunk_args, UND_EACH_BLOCK)

static inline void take_even(const chunk_args *a, und_place p)
{
    EACH_CHUNK(a, p, k)
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    {
        a->v->parts->extra[at] += a->v->parts->spare[at];
        a->v->c[at] += a->v->parts->spare[at];
    }
}
UND_KERNEL(take_even, chunk_args, UND_EACH_BLOCK)

void und_volume_even(und_volume *v, const und_volume_walls *walls, und_volume_choose_fn *fn,
                     const void *context)
{
    enum { ROUNDS = 8 };
    const chunk_args args = {v, NULL, walls};
    und_volume_get_cells(v, ROUNDS);
    und_volume_list(v, NULL, fn, context);
    const und_set chunks = und_volume_chunks(v);
    const und_pass passes[] = {UND_PASS(find_excess, &args, &chunks), UND_PASS(find_even, &args, &chunks),
                               UND_PASS(take_even, &args, &chunks)};
    run_in_turn(v, passes, 1);
    for (int round = 0; round < ROUNDS; round++)
        run_in_turn(v, passes + 1, 2);
}
