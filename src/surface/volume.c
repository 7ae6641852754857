#include "surface/volume.h"

#include "base/card.h"
#include "base/status.h"
#include "grid/field.h"
#include "grid/present.h"
#include "surface/volume_chunks_kernel.h"
#include "surface/volume_films_kernel.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void mark_inside(und_volume *v)
{
    const und_mac *m = &v->mac;
    UND_MAC_EACH_STRETCH(m, first, count)
    {
        memset(v->parts->inside + first, 1, count);
        memset(v->parts->own + first, 1, count);
    }
}

und_volume_arrays und_volume_arrays_of(const und_volume *v)
{
    const und_volume_parts *p = v->parts;
    und_volume_arrays flat = {.mac = v->mac,
                              .c = v->c,
                              .film = v->film,
                              .inside = p->inside,
                              .own = p->own,
                              .kind = p->kind,
                              .mark = p->mark,
                              .unsure = p->unsure,
                              .to = p->to,
                              .extra = p->extra,
                              .spare = p->spare,
                              .part = p->part,
                              .area = p->area,
                              .over = p->over,
                              .fraction = p->fraction,
                              .row_films = p->row_films,
                              .chunk = p->chunk,
                              .others = p->others,
                              .held = p->held};
    memcpy(flat.around, p->around, sizeof flat.around);
    return flat;
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

enum {
    AT_ROW_ENDS = UND_AT_OWN,
    AT_CHUNKS,
    AT_LISTED,
    AT_COUNTS,
    AT_TOLD
}; /* chunks of all rows; and behind them */

#define FIELD(member, ...) UND_FIELD(und_volume, member, UND_AT_CELLS, ##__VA_ARGS__)
#define PART(member, at) UND_FIELD(und_volume_parts, member, at)

static const und_field fields[] = {FIELD(c, .halo = UND_HALO_CROSSED), FIELD(film, .halo = UND_HALO_CROSSED)};
static const und_field part_fields[] = {PART(inside, UND_AT_CELLS),
                                        PART(own, UND_AT_CELLS),
                                        PART(kind, UND_AT_CELLS),
                                        PART(mark, UND_AT_CELLS),
                                        PART(unsure, UND_AT_CELLS),

                                        PART(chunk, AT_LISTED),
                                        PART(row_chunk, AT_LISTED),
                                        PART(wakes, AT_CHUNKS),
                                        PART(row_count, UND_AT_ROWS),
                                        PART(row_sum, UND_AT_ROWS),
                                        PART(row_total, UND_AT_ROWS),
                                        PART(row_most, UND_AT_ROWS),
                                        PART(block_count, UND_AT_ROWS),
                                        PART(block_chunks, UND_AT_ROWS),
                                        PART(row_films, UND_AT_ROWS),
                                        PART(block_most, UND_AT_ROWS),
                                        PART(row_chunks, AT_ROW_ENDS),
                                        PART(row_left, AT_ROW_ENDS),
                                        PART(row_layers, UND_AT_ROWS),
                                        PART(listed, AT_COUNTS),
                                        PART(together, UND_AT_ROWS),
                                        PART(told, AT_TOLD)};
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
    *v = (und_volume){.mac = *mac, .device = {.threads = threads, .card = und_card_of_process()}};
    und_volume_parts *p = v->parts = und_alloc(1, sizeof *p, what, err);
    if (!p)
        return err->status;
    const int lanes = v->device.card ? 1 : UND_LANES; /* of kernels that go by chunks */
    p->per_row = (mac->n[0] + lanes - 1) / lanes;
    const size_t most = 4 * und_scratch_bytes(mac->count * sizeof(int32_t)) + und_scratch_bytes(mac->count) +
                        und_scratch_bytes(UND_VOLUME_FACES * mac->count * sizeof *p->kept);
    if (!(p->scratch = und_scratch_join(scratch, most, err)))
        return err->status;
    p->lent = most;
    if (und_scratch_keep_zeroed(p->scratch, 2 * und_scratch_bytes(mac->count * sizeof *p->over), err))
        return err->status;
    const size_t rows = (size_t)und_mac_rows(mac), chunks = rows * (size_t)p->per_row;
    const size_t own[] = {rows + 1, chunks, chunks + UND_VOLUME_AHEAD, UND_VOLUME_COUNTS, UND_VOLUME_TOLD};
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

static inline void mark_rows(const und_volume_listing *l, und_place p)
{
    und_volume_mark_rows(&l->list, p, l->look, l->fn, l->context);
}
UND_KERNEL(mark_rows, und_volume_listing, UND_EACH_SOME)

und_volume_list_args und_volume_list_args_of(const und_volume *v)
{
    und_volume_parts *p = v->parts;
    return (und_volume_list_args){.mac = v->mac,
                                  .c = v->c,
                                  .own = p->own,
                                  .others = p->others,
                                  .mark = p->mark,
                                  .row_chunk = p->row_chunk,
                                  .chunk = p->chunk,
                                  .per_row = p->per_row,
                                  .apart = v->device.card,
                                  .rows = und_mac_rows(&v->mac),
                                  .row_count = p->row_count,
                                  .row_chunks = p->row_chunks,
                                  .block_count = p->block_count,
                                  .block_chunks = p->block_chunks,
                                  .together = p->together,
                                  .count = &p->listed[UND_VOLUME_CELLS],
                                  .chunk_count = &p->listed[UND_VOLUME_LISTED],
                                  .row_sum = p->row_sum,
                                  .row_most = p->row_most};
}

static void list_on_card(und_volume_listing *l)
{
    const int rows = l->list.rows, together = UND_VOLUME_ROWS_TOGETHER;
    if (l->pass[0].kernel == &mark_rows_kernel) /* which is done here */
        l->rows = und_set_list(l->v, rows, 1, 1);
    l->some = und_set_list(l->v, (rows + together - 1) / together, 1, 1);
    l->each = und_set_list(l->v, rows, 1, 1);
    l->chunks = und_set_list(l->v, rows * l->list.per_row, 1, 1);
    l->pass[1] = UND_PASS(und_volume_add_rows, &l->list, &l->some);
    l->pass[2] = UND_PASS(und_volume_find_first, &l->list, &l->each);
    l->pass[3] = UND_PASS(und_volume_put_chunk, &l->list, &l->chunks);
}

void und_volume_list_steps(und_volume_listing *l, und_step steps[UND_VOLUME_LIST_STEPS])
{
    l->rows = und_set_shared(&l->v->device, &l->v->mac, UND_ROWS_INSIDE);
    l->once = und_set_list(l->v, 1, 1, 1);
    l->list = und_volume_list_args_of(l->v);
    l->list.blocks = l->rows.blocks;
    l->pass[0] = l->marks.kernel ? l->marks : UND_PASS(mark_rows, l, &l->rows);
    l->pass[0].set = &l->rows;
    l->pass[1] = UND_PASS(und_volume_add_blocks_up, &l->list, &l->once);
    l->pass[2] = UND_PASS(und_volume_list_rows, &l->list, &l->rows);
    l->pass[3] = UND_PASS_NONE(&l->once);
    if (l->v->device.card)
        list_on_card(l);
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

void und_volume_list_by(und_volume *v, und_pass marks)
{
    list(&(und_volume_listing){.v = v, .marks = marks});
}

int64_t und_volume_list_and_sum(und_volume *v, und_pass marks)
{
    list(&(und_volume_listing){.v = v, .marks = marks, .sums = true});
    return und_volume_summed(v);
}

void und_volume_list_rows_steps(const und_volume *v, const und_volume_row_lists *lists,
                                und_volume_row_listing *l, und_step steps[UND_VOLUME_LISTING_ROWS])
{
    l->rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    l->once = und_set_list(v, 1, 1, 1);
    l->lists = *lists;
    l->lists.mac = v->mac;
    l->lists.count = v->parts->row_count;
    l->lists.before = v->parts->block_count;
    l->lists.blocks = l->rows.blocks;
    l->lists.per_block = l->rows.per_block;
    l->pass[0] = UND_PASS(und_volume_sum_lists, &l->lists, &l->rows);
    l->pass[1] = UND_PASS(und_volume_add_lists_up, &l->lists, &l->once);
    l->pass[2] = UND_PASS(und_volume_put_lists, &l->lists, &l->rows);
    l->rows.worth = (size_t)l->rows.rows; /* most of them have none */
    for (int i = 0; i < UND_VOLUME_LISTING_ROWS; i++)
        steps[i] = (und_step){.passes = &l->pass[i], .count = 1};
    if (lists->sum) {
        l->sums = of_rows(v, lists->sum, sizeof *lists->sum);
        steps[0].halo = &l->sums;
        steps[0].halos = 1;
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

/* ---- What phi encloses ---- */

void und_volume_fill(und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    const und_mac *m = &v->mac;
    const und_volume_arrays cells = und_volume_arrays_of(v);
    UND_MAC_EACH_STRETCH(m, first, count)
    for (size_t at = first; at < first + count; at++)
        v->c[at] = und_volume_units(und_volume_part(&cells, walls, d->phi, at));
}

int64_t und_volume_sum(const und_volume *v)
{
    const und_volume_list_args args = und_volume_list_args_of(v);
    const und_set rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    und_pass(&v->device, und_volume_sum_row, &args, &rows);
    return und_volume_summed(v);
}

double und_volume_fullest(const und_volume *v)
{
    return (double)v->parts->most / UND_VOLUME_ONE;
}

double und_volume_shown(const und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    const und_volume_chunk_args args = {und_volume_arrays_of(v), *walls, d->phi};
    const und_set rows = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    return und_reduce(&v->device, &UND_PASS(und_volume_show_cells, &args, &rows), 1, v->parts->row_total).sum;
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

void und_volume_leave_solids(und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    enum { ROUNDS = 6, IN_ROUND = 2, PART = 2 }; /* a cell gets from one that may give where others are */
    und_volume_parts *p = v->parts;
    if (walls->room) {
        und_volume_get_cells(v, ROUNDS * IN_ROUND);
        und_distance_get_phi(d, ROUNDS * IN_ROUND + PART);
    }
    for (int round = 0; round < ROUNDS && walls->room; round++) {
        const und_volume_burying burying = {und_volume_list_args_of(v), und_volume_arrays_of(v), *walls};
        und_volume_list_by(v, UND_PASS(und_volume_mark_buried, &burying, NULL));
        if (p->listed[UND_VOLUME_CELLS] == 0)
            return;
        const und_volume_chunk_args args = {und_volume_arrays_of(v), *walls, d->phi};
        const und_set chunks = und_volume_chunks(v);
        const und_pass passes[] = {UND_PASS(und_volume_lift_buried, &args, &chunks),
                                   UND_PASS(und_volume_set_out_some, &args, &chunks),
                                   UND_PASS(und_volume_give_out_some, &args, &chunks),
                                   UND_PASS(und_volume_put_back, &args, &chunks)};
        run_in_turn(v, passes, 4);
    }
}

void und_volume_even(und_volume *v, const und_volume_walls *walls, und_pass marks)
{
    enum { ROUNDS = 8 };
    const und_volume_chunk_args args = {und_volume_arrays_of(v), *walls, NULL};
    und_volume_get_cells(v, ROUNDS);
    und_volume_list_by(v, marks);
    const und_set chunks = und_volume_chunks(v);
    const und_pass passes[] = {UND_PASS(und_volume_find_excess, &args, &chunks),
                               UND_PASS(und_volume_find_even, &args, &chunks),
                               UND_PASS(und_volume_take_even, &args, &chunks)};
    run_in_turn(v, passes, 1);
    for (int round = 0; round < ROUNDS; round++)
        run_in_turn(v, passes + 1, 2);
}
