/* The levels of multigrid: which axes each halves, and its memory. */
#include "base/pages.h"
#include "base/status.h"
#include "grid/field.h"
#include "grid/present.h"
#include "solve/multigrid_cycle.h"
#include "solve/multigrid_kernel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum {
    CELLS = 2 * UND_CELL_PACK, /* of a pack, along x */
    FEWEST = 8                 /* cells of a level that is not coarsened further */
};
static const double COMPARABLE = 0.4; /* weight of an axis that is halved, over the largest */

enum {
    AT_PACKS = UND_AT_OWN,
    AT_PLACES,
    AT_SLICE_ENDS,
    AT_SLICE_KINDS,
    AT_SIDES,
    AT_LEVEL_ROWS,
    AT_ROW_KINDS
};
enum { FINEST = 1, COARSER = 2 };

#define FIELD(member, at, ...) UND_FIELD(und_level, member, at, ##__VA_ARGS__)

static const und_field fields[] = {
    FIELD(kind, AT_PACKS),
    FIELD(kind_before, AT_PACKS),
    FIELD(place, AT_PACKS),
    FIELD(list, AT_PACKS),
    FIELD(children, AT_PACKS, .when = COARSER),
    FIELD(link[0], AT_PACKS, .when = FINEST),
    FIELD(link[1], AT_PACKS, .when = FINEST),
    FIELD(link[2], AT_PACKS, .when = FINEST),
    FIELD(link[3], AT_PACKS, .when = FINEST),
    FIELD(number, AT_PLACES),
    FIELD(slice_begin, AT_SLICE_ENDS),
    FIELD(slice_size, AT_SLICE_ENDS),
    FIELD(row_begin, AT_LEVEL_ROWS),
    FIELD(row_size, AT_LEVEL_ROWS),
    FIELD(row_kinds, AT_ROW_KINDS),
    FIELD(list_end, AT_SLICE_KINDS),
    FIELD(side[0], AT_SIDES, .when = COARSER),
    FIELD(side[1], AT_SIDES, .when = COARSER),
    FIELD(side[2], AT_SIDES, .when = COARSER),
    FIELD(side[3], AT_SIDES, .when = COARSER),
};
enum { FIELDS = sizeof fields / sizeof *fields };

void und_level_add_array(und_level *level, void *to, size_t size, bool gaps)
{
    assert(level->arrays < UND_LEVEL_ARRAYS);
    level->array[level->arrays].to = (const char *)to - (const char *)level;
    level->array[level->arrays].size = size;
    level->array[level->arrays++].gaps = gaps;
}

static void add_arrays(und_level *level, bool finest)
{
    const size_t of_pack = UND_CELL_PACK * sizeof(float);
    for (int c = 0; c < 2; c++) {
        und_level_add_array(level, &level->x[c], of_pack, true);
        und_level_add_array(level, &level->b[c], of_pack, false);
        und_level_add_array(level, &level->inverse[c], of_pack, false);
        und_level_add_array(level, &level->coefficient[c], UND_COEFFICIENTS * sizeof(float), false);
        if (!finest)
            continue;
        und_level_add_array(level, &level->diagonal[c], UND_CELL_PACK * sizeof(double), false);
        und_level_add_array(level, &level->known[c], of_pack, false);
        und_level_add_array(level, &level->beside[c], sizeof(uint64_t), false);
    }
}

static und_status allocate(und_level *level, bool finest, und_error *err)
{
    level->packs = ((level->n[0] + 1) / 2 + UND_CELL_PACK - 1) / UND_CELL_PACK;
    level->count =
        UND_CELL_PACK * ((size_t)level->n[1] * (size_t)level->n[2] * (size_t)(level->packs + 1) + 3);
    if (level->count > UINT32_MAX || level->n[1] > UINT16_MAX || level->packs > UINT16_MAX)
        return und_error_set(err, UND_INVALID, "the grid of %d x %d x %d cells is too large", level->n[0],
                             level->n[1], level->n[2]);
    const size_t slices = (size_t)level->n[2], rows = (size_t)level->n[1] * slices,
                 packs = rows * (size_t)level->packs;
    const und_mac mac = und_level_mac(level);
    add_arrays(level, finest);
    level->side_pitch = CELLS * level->packs + CELLS;
    level->side_plane = level->side_pitch * (level->n[1] + 1);
    const size_t own[] = {packs,
                          level->count / UND_CELL_PACK,
                          slices + 1,
                          slices * UND_CELL_PACK_KINDS,
                          (size_t)level->side_plane * (slices + 1) + CELLS,
                          rows,
                          rows * UND_CELL_PACK_KINDS};
    const und_field_room room = {.mac = &mac, .own = own, .asked = finest ? FINEST : COARSER};
    const und_status status = und_mask_open(&level->unknown, &mac, "cells of multigrid", err);
    return status ? status : und_field_open_all(level, fields, FIELDS, &room, "a level of multigrid", err);
}

/* Halving an axis halves its weight and doubles the others', so that axes with weaker ones are left until
 * they have caught up. */
static bool plan_next(int n[3], double weight[3], bool halved[3])
{
    const double cells = (double)n[0] * n[1] * n[2];
    double largest = 0;
    for (int a = 0; a < 3; a++)
        if (n[a] > 1 && weight[a] > largest)
            largest = weight[a];
    bool any = false;
    for (int a = 0; a < 3; a++) {
        halved[a] = n[a] > 1 && weight[a] >= COMPARABLE * largest;
        any |= halved[a];
        n[a] = halved[a] ? (n[a] + 1) / 2 : n[a];
    }
    for (int a = 0; a < 3; a++)
        for (int k = 0; k < 3; k++)
            weight[a] *= !halved[k] ? 1 : k == a ? 0.5 : 2;
    return any && cells > FEWEST;
}

/* The cells of a level that there are, from low to below high. */
static void set_box(und_level *level, const int low[3], const int high[3])
{
    for (int a = 0; a < 3; a++) {
        level->low[a] = low[a] / (a == 0 ? CELLS : 2) * (a == 0 ? CELLS : 2);
        level->n[a] = high[a] - level->low[a];
    }
}

static void set_coarser_box(und_level *fine, und_level *coarse)
{
    int low[3], high[3];
    for (int a = 0; a < 3; a++) {
        const int by = fine->halved[a] ? 2 : 1;
        low[a] = fine->low[a] / by;
        high[a] = (fine->low[a] + fine->n[a] + by - 1) / by;
    }
    set_box(coarse, low, high);
    coarse->halvings = fine->halvings + fine->halved[2];
    for (int a = 0; a < 3; a++)
        fine->shift[a] = fine->halved[a] ? fine->low[a] - 2 * coarse->low[a] : 0;
}

und_status und_multigrid_open(und_multigrid *m, const und_multigrid_box *box, const double weight[3],
                              int threads, und_error *err)
{
    double w[3] = {weight[0], weight[1], weight[2]};
    int whole[3] = {box->whole[0], box->whole[1], box->whole[2]};
    bool more = true;
    *m = (und_multigrid){.device = {.threads = threads}};
    set_box(&m->level[0], box->low, box->high);
    const int slices = m->level[0].n[2];
    m->slice_product =
        und_pages_alloc(2 * (size_t)slices * sizeof *m->slice_product, "slices of multigrid", err);
    m->slice_energy = m->slice_product ? m->slice_product + slices : NULL;
    und_status status = m->slice_product ? und_multigrid_cycle_open(m, err) : err->status;
    while (more && status == UND_OK && m->count < UND_MULTIGRID_LEVELS) {
        und_level *level = &m->level[m->count++];
        const und_mac mac = und_level_mac(level);
        level->present = box->sparse ? und_present_open(&mac, err) : NULL;
        status = box->sparse && !level->present ? err->status : allocate(level, level == m->level, err);
        more = m->count < UND_MULTIGRID_LEVELS && plan_next(whole, w, level->halved);
        if (more)
            set_coarser_box(level, level + 1);
    }
    const size_t some = (size_t)slices * (size_t)und_level_most_sums(m->level);
    if (status == UND_OK &&
        !(m->some_sums = und_pages_alloc(2 * some * sizeof *m->some_sums, "slices of multigrid", err)))
        status = err->status;
    if (status == UND_OK &&
        !(m->total = und_pages_alloc(UND_MULTIGRID_LEVELS * sizeof *m->total, "levels of multigrid", err)))
        status = err->status;
    if (status == UND_OK)
        status = und_multigrid_plan_open(m, err);
    if (status != UND_OK)
        und_multigrid_close(m);
    return status;
}

und_status und_multigrid_lend(und_multigrid *m, und_scratch *scratch, und_error *err)
{
    size_t most = 0;
    for (int i = 0; i < m->count; i++)
        for (int k = 0; k < m->level[i].arrays; k++)
            most += und_scratch_bytes(m->level[i].count / UND_CELL_PACK * m->level[i].array[k].size);
    m->scratch = und_scratch_join(scratch, most, err);
    m->most = most;
    return m->scratch ? UND_OK : err->status;
}

void und_multigrid_close(und_multigrid *m)
{
    und_multigrid_done(m);
    und_scratch_leave(m->scratch, m->most);
    for (int i = 0; i < m->count; i++) {
        und_level *level = &m->level[i];
        und_mask_close(&level->unknown);
        und_present_close(level->present);
        und_field_close_all(level, fields, FIELDS);
    }
    und_pages_free(m->slice_product);
    und_pages_free(m->some_sums);
    und_pages_free(m->total);
    und_multigrid_cycle_close(m);
    und_multigrid_plan_close(m);
    *m = (und_multigrid){0};
}
