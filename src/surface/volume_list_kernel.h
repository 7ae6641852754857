/* Lists of cells, in chunks: which are worth it is found row by row, how many are before each block of rows
 * is added up, and then they are put one behind the other.  And sums of what rows hold. */
#ifndef UND_SURFACE_VOLUME_LIST_KERNEL_H
#define UND_SURFACE_VOLUME_LIST_KERNEL_H

#include "grid/pass.h"
#include "surface/volume_kernel.h"

/* Which of the UND_LANES cells from one on are worth a look, as bits; and whether one of these is. */
typedef unsigned und_volume_look_fn(const void *context, size_t at);
typedef bool und_volume_choose_fn(const void *context, size_t at);

/* Chunks of row r are found from row_chunk[r * per_row] on. */
typedef struct und_volume_list_args {
    und_mac mac;
    const int32_t *c;
    const uint8_t *own;
    bool others;
    uint8_t *mark, *cleared; /* cleared: of all cells, becomes 0 beside; NULL: none */
    und_volume_chunk *row_chunk, *chunk;
    int per_row, rows, blocks;
    bool apart; /* each chunk has but one cell, as where kernels have one lane */
    int32_t *row_count, *row_chunks, *block_count, *block_chunks, *together, *count, *chunk_count;
    bool sums; /* what all of each row's cells hold is found beside */
    int64_t *row_sum;
    int32_t *row_most;
} und_volume_list_args;

/* Chunks of a row as they are found: the last one, where `bits` is not 0, is still to be written. */
typedef struct und_volume_row_chunks {
    und_volume_chunk *next;
    int32_t at;
    unsigned bits;
} und_volume_row_chunks;

static inline void und_volume_end_chunk(und_volume_row_chunks *c)
{
    if (c->bits)
        *c->next++ = (und_volume_chunk){.at = c->at, .bits = (uint16_t)c->bits};
}

/* A chunk begins with a cell of the list: so there are fewer. */
static inline void und_volume_add_to_chunks(und_volume_row_chunks *c, int32_t from, unsigned chosen)
{
    int begin = 0;
    if (c->bits && c->at + UND_LANES > from) {
        begin = c->at + UND_LANES - from;
        c->bits |= chosen << (UND_LANES - begin) & UND_LANES_ALL;
    }
    chosen &= ~0u << begin;
    if (!chosen)
        return;
    und_volume_end_chunk(c);
    begin = __builtin_ctz(chosen);
    c->at = from + begin;
    c->bits = chosen >> begin;
}
static inline void und_volume_add_apart(und_volume_row_chunks *c, int32_t from, unsigned chosen)
{
    for (; chosen; chosen &= chosen - 1)
        *c->next++ = (und_volume_chunk){.at = from + __builtin_ctz(chosen), .bits = 1};
}

/* What all of its cells hold, and the most. */
static inline void und_volume_sum_row(const und_volume_list_args *v, und_place p)
{
    const int row = p.y + p.z * v->mac.n[1];
    const int32_t *c = v->c + p.at;
    const uint8_t *own = v->own + p.at;
    const bool others = v->others;
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
    v->row_sum[row] = all;
    v->row_most[row] = most;
}
UND_KERNEL(und_volume_sum_row, und_volume_list_args, UND_EACH_ROW)

/* Of a row: how many cells are chosen, and how many chunks these are in. */
UND_INLINE void und_volume_mark_row(const und_volume_list_args *l, und_place p, und_volume_look_fn *look,
                                    und_volume_choose_fn *fn, const void *context)
{
    const und_mac *m = &l->mac;
    const int row = p.y + p.z * m->n[1];
    const size_t begin = und_mac_row_begin(m, row), end = und_mac_row_end(m, row);
    und_volume_chunk *const first = l->row_chunk + (size_t)row * (size_t)l->per_row;
    und_volume_row_chunks chunks = {.next = first};
    int count = 0;
    for (size_t from = begin; from < end; from += UND_LANES) {
        const unsigned inside = und_volume_row_bits(end - from);
        unsigned chosen = (look ? look(context, from) : ~0u) & inside;
        if (l->others)
            chosen &= und_lanes_bits(und_lanes_bytes(l->own + from) != 0);
        for (unsigned bits = fn ? chosen : 0; bits; bits &= bits - 1)
            if (!fn(context, from + (size_t)__builtin_ctz(bits)))
                chosen &= ~(bits & -bits);
        und_lanes_bytes_store_some(l->mark + from, und_lanes_where(chosen) & 1, inside);
        count += __builtin_popcount(chosen);
        if (l->apart)
            und_volume_add_apart(&chunks, (int32_t)from, chosen);
        else if (chosen)
            und_volume_add_to_chunks(&chunks, (int32_t)from, chosen);
    }
    und_volume_end_chunk(&chunks);
    l->row_count[row] = count;
    l->row_chunks[row] = (int32_t)(chunks.next - first);
    if (l->sums)
        und_volume_sum_row(l, p);
    if (l->cleared)
        __builtin_memset(l->cleared + begin, 0, end - begin);
}

/* Of a block of rows; those that are not there have none.  What is looked for is known where this is made a
 * kernel of, so nobody calls pointers. */
UND_INLINE void und_volume_mark_rows(const und_volume_list_args *l, und_place p, und_volume_look_fn *look,
                                     und_volume_choose_fn *fn, const void *context)
{
    const und_mac *m = &l->mac;
    int32_t count = 0, chunks = 0;
    for (int row = (int)p.at; row < (int)p.at + p.x; row++) {
        if (!und_mac_has_row(m, row))
            continue;
        const und_place place = {.at = und_mac_row(m, row), .y = row % m->n[1], .z = row / m->n[1]};
        und_volume_mark_row(l, place, look, fn, context);
        count += l->row_count[row];
        chunks += l->row_chunks[row];
    }
    l->block_count[p.y] = count;
    l->block_chunks[p.y] = chunks;
}

/* Blocks are few. */
static inline void und_volume_add_blocks_up(const und_volume_list_args *l, und_place p)
{
    int32_t count = 0, chunks = 0;
    (void)p;
    for (int block = 0; block < l->blocks; block++) {
        const int32_t own = l->block_chunks[block];
        count += l->block_count[block];
        l->block_chunks[block] = chunks;
        chunks += own;
    }
    *l->count = count;
    *l->chunk_count = l->row_chunks[l->rows] = chunks;
}
UND_KERNEL(und_volume_add_blocks_up, und_volume_list_args, UND_EACH_BLOCK)

/* What is before each row of a block, and its chunks. */
static inline void und_volume_list_rows(const und_volume_list_args *l, und_place p)
{
    int32_t first = l->block_chunks[p.y];
    for (int row = (int)p.at; row < (int)p.at + p.x; row++) {
        const int32_t own = und_mac_has_row(&l->mac, row) ? l->row_chunks[row] : 0;
        l->row_chunks[row] = first;
        __builtin_memcpy(l->chunk + first, l->row_chunk + (size_t)row * (size_t)l->per_row,
                         (size_t)own * sizeof *l->chunk);
        first += own;
    }
}
UND_KERNEL(und_volume_list_rows, und_volume_list_args, UND_EACH_BLOCK)

/* The same on a card, where each row is a block: how many some rows have, what is before each row, and then
 * each chunk, which is one cell, goes to its place. */
enum { UND_VOLUME_ROWS_TOGETHER = 128 };
static inline void und_volume_add_rows(const und_volume_list_args *l, und_place p)
{
    const int first = (int)p.at * UND_VOLUME_ROWS_TOGETHER, end = first + UND_VOLUME_ROWS_TOGETHER;
    int32_t count = 0;
    for (int row = first; row < (end < l->rows ? end : l->rows); row++)
        count += l->block_count[row];
    l->together[p.at] = count;
}
UND_KERNEL(und_volume_add_rows, und_volume_list_args, UND_EACH_SOME)

static inline void und_volume_find_first(const und_volume_list_args *l, und_place p)
{
    const int row = (int)p.at, own = row / UND_VOLUME_ROWS_TOGETHER;
    int32_t first = 0;
    for (int i = 0; i < own; i++)
        first += l->together[i];
    for (int i = own * UND_VOLUME_ROWS_TOGETHER; i < row; i++)
        first += l->block_count[i];
    l->block_chunks[row] = first;
    if (row == l->rows - 1)
        *l->count = *l->chunk_count = l->row_chunks[l->rows] = first + l->block_count[row];
}
UND_KERNEL(und_volume_find_first, und_volume_list_args, UND_EACH_SOME)

static inline void und_volume_put_chunk(const und_volume_list_args *l, und_place p)
{
    const size_t row = p.at / (size_t)l->per_row, k = p.at % (size_t)l->per_row;
    if (k == 0)
        l->row_chunks[row] = l->block_chunks[row];
    if (k < (size_t)l->block_count[row])
        l->chunk[l->block_chunks[row] + (int32_t)k] = l->row_chunk[row * (size_t)l->per_row + k];
}
UND_KERNEL(und_volume_put_chunk, und_volume_list_args, UND_EACH_SOME)

/* ---- Lists of cells, found row by row ---- */

typedef struct und_volume_listed {
    int64_t sum; /* of what rows have */
    int count;   /* cells on the list, with those that it began with */
} und_volume_listed;

typedef struct und_volume_row_lists {
    und_mac mac;
    int32_t *of_row; /* of each row, from where its first cell is on, */
    int32_t *count;  /* so many cells; */
    int64_t *sum;    /* and of what is summed; then, of each block of rows at its first one; NULL: nothing */
    int32_t *before; /* of each block: cells; then those of the blocks before */
    int blocks, per_block;
    int32_t *list; /* they come behind the first `first` */
    int first;
    und_volume_listed *all;
} und_volume_row_lists;

static inline void und_volume_sum_lists(const und_volume_row_lists *l, und_place p)
{
    int32_t count = 0;
    int64_t sum = 0;
    for (int row = (int)p.at; row < (int)p.at + p.x; row++)
        if (und_mac_has_row(&l->mac, row)) {
            count += l->count[row];
            sum += l->sum ? l->sum[row] : 0;
        }
    l->before[p.y] = count;
    if (l->sum)
        l->sum[p.at] = sum;
}
UND_KERNEL(und_volume_sum_lists, und_volume_row_lists, UND_EACH_BLOCK)

/* Blocks are few. */
static inline void und_volume_add_lists_up(const und_volume_row_lists *l, und_place p)
{
    und_volume_listed all = {.count = l->first};
    (void)p;
    for (int block = 0; block < l->blocks; block++) {
        const int32_t own = l->before[block];
        l->before[block] = all.count;
        all.count += own;
        all.sum += l->sum ? l->sum[block * l->per_block] : 0;
    }
    *l->all = all;
}
UND_KERNEL(und_volume_add_lists_up, und_volume_row_lists, UND_EACH_BLOCK)

static inline void und_volume_put_lists(const und_volume_row_lists *l, und_place p)
{
    int32_t *to = l->list + l->before[p.y];
    for (int row = (int)p.at; row < (int)p.at + p.x; row++) {
        if (!und_mac_has_row(&l->mac, row))
            continue;
        __builtin_memcpy(to, l->of_row + und_mac_row_begin(&l->mac, row), (size_t)l->count[row] * sizeof *to);
        to += l->count[row];
    }
}
UND_KERNEL(und_volume_put_lists, und_volume_row_lists, UND_EACH_BLOCK)

#endif
