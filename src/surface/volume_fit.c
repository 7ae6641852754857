/* phi follows what cells hold.
 *
 * What a cell holds beside what phi encloses of it goes to the surface, is evened out along it, and phi is
 * shifted there by as much as the surface's area makes of it. */
#include "surface/distance_parts.h"
#include "surface/volume_encloses_kernel.h"
#include "surface/volume_fit_kernel.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVENING_ALONE = 4, PAYING = 2 }; /* rounds */
static const double SHOWN = 0.005;      /* of all: as long as phi moves by more it is gone on */
static const double LITTLE_LEFT = 0.25; /* of a cell's share of that: less may be left */

typedef struct fit {
    und_volume *v;
    und_distance *d;
    const und_volume_walls *walls;
    und_volume_fit_args args;
} fit;

enum {
    REMAINING = 4, /* steps */
    MOST_STEPS = 2 * UND_VOLUME_FIT_TO_SURFACE + UND_VOLUME_FIT_EVENING + 2 * PAYING + 8 + REMAINING,
    MOST_PASSES = MOST_STEPS + 1
};

typedef struct way {
    und_volume_fit_args args[UND_VOLUME_FIT_EVENING], end;
    und_volume_enclosing encloses;
    und_set chunks, all, slices, rows, beyond, one;
    und_distance_beside_args beside;
    und_volume_remaining remaining;
    und_set blocks;
    und_halo_field extra, left;
    und_pass pass[MOST_PASSES];
    und_step step[MOST_STEPS];
    int passes, steps;
} way;

static void add(way *w, und_pass pass, const bool *unless)
{
    w->pass[w->passes] = pass;
    w->step[w->steps++] = (und_step){.passes = &w->pass[w->passes++], .count = 1, .unless = unless};
}

static void add_shift(way *w, und_volume_fit_found *found)
{
    for (int round = 0; round < UND_VOLUME_FIT_TO_SURFACE; round++) {
        const bool *unless = round > 0 ? &found->none[round - 1] : NULL;
        add(w, UND_PASS(und_volume_fit_find_far, &w->args[round], &w->chunks), unless);
        add(w, UND_PASS(und_volume_fit_bring_near, &w->args[round], &w->chunks), &found->none[round]);
    }
    const und_pass *evening = &w->pass[w->passes];
    for (int round = 0; round < w->args->f.rounds; round++)
        w->pass[w->passes++] = UND_PASS(und_volume_fit_even_out, &w->args[round], &w->slices);
    const int steps = und_pass_chain_steps(w->step + w->steps, evening, w->args->f.rounds);
    w->step[w->steps].halo = &w->extra;
    w->step[w->steps].halos = 1;
    w->steps += steps;
    for (int round = 0; round < PAYING; round++) {
        add(w, UND_PASS(und_volume_fit_find_payers, w->args, &w->chunks), &found->paid);
        add(w, UND_PASS(und_volume_fit_pay, w->args, &w->chunks), &found->paid);
    }
    add(w, UND_PASS(und_volume_fit_set_over, w->args, &w->chunks), NULL);
    add(w, UND_PASS(und_volume_fit_shift, w->args, &w->chunks), NULL);
    add(w, UND_PASS(und_volume_fit_set_phi, w->args, &w->chunks), NULL);
}

/* And as it was the last time, what follows from phi. */
static void add_end(way *w, und_volume_fit_found *found)
{
    add(w, UND_PASS(und_volume_fit_judge, &w->end, &w->one), NULL);
    w->step[w->steps - 1].halo = &w->left;
    w->step[w->steps - 1].halos = 1;
    w->pass[w->passes] = UND_PASS(und_volume_fit_clear, w->args, &w->all);
    w->pass[w->passes + 1] = UND_PASS(und_volume_fit_refresh, w->args, &w->rows);
    w->step[w->steps++] = (und_step){.passes = &w->pass[w->passes], .count = 2, .unless = &found->more};
    w->passes += 2;
    add(w, UND_PASS(und_distance_beside_row, &w->beside, &w->beyond), &found->more);
}

/* From then on those cells are looked at that have something left.  The new list is in row_chunk[], behind
 * the one before it or in front of it; over it where there is no room for both, in one block. */
static void add_remaining(way *w, const und_volume *v, const int32_t *row_first, const bool *unless)
{
    und_volume_parts *p = v->parts;
    const int rows = und_mac_rows(&v->mac);
    const bool first = p->chunk == p->row_chunk,
               fits = (size_t)rows * (size_t)p->per_row / 2 >= (size_t)p->listed[UND_VOLUME_LISTED];
    w->blocks = und_set_rows(&v->mac, UND_ROWS_INSIDE);
    w->blocks = und_set_list(v, rows, first && !fits ? rows : w->blocks.per_block, 1);
    w->blocks.worth = (size_t)rows + 4 * (size_t)p->listed[UND_VOLUME_LISTED];
    w->remaining =
        (und_volume_remaining){.from = p->chunk,
                               .to = p->row_chunk + (first && fits ? p->listed[UND_VOLUME_LISTED] : 0),
                               .row_first = row_first,
                               .row_left = p->row_left,
                               .row_count = p->row_count,
                               .block_chunks = p->block_chunks,
                               .block_count = p->block_count,
                               .rows = rows,
                               .blocks = w->blocks.blocks,
                               .mark = p->mark,
                               .count = &p->listed[UND_VOLUME_CELLS],
                               .chunk_count = &p->listed[UND_VOLUME_LISTED]};
    add(w, UND_PASS(und_volume_remaining_count, &w->remaining, &w->blocks), unless);
    add(w, UND_PASS(und_volume_remaining_add_up, &w->remaining, &w->one), unless);
    add(w, UND_PASS(und_volume_remaining_put, &w->remaining, &w->blocks), unless);
    add(w, UND_PASS(und_volume_remaining_number, &w->remaining, &w->blocks), unless);
}

/* Slices beyond one's own: as many as what is looked at in a cell is told by, and paying and evening out go
 * further. */
enum { TOLD_BY = 2, PAYS = 2 * PAYING };
static int reach_of_extra(const fit *f)
{
    return f->args.f.rounds + PAYS + TOLD_BY;
}
static int reach_of(const fit *f)
{
    const int first = 2 * UND_VOLUME_FIT_TO_SURFACE, then = reach_of_extra(f);
    return (first > then ? first : then) + TOLD_BY;
}

/* What it begins with. */
static void get_beside(const fit *f)
{
    const und_volume *v = f->v;
    const int reach = reach_of(f);
    const und_halo_field unsure = und_halo_of(&v->mac, v->parts->unsure, sizeof *v->parts->unsure, reach);
    und_volume_get_cells(v, reach);
    und_distance_get_phi(f->d, reach);
    und_halo_get(v->device.halo, &unsure, 1);
}

/* Of cells of others who has them knows whether they have something left.  What moves phi of those that have
 * none stays as it was. */
static void get_left(const fit *f, const int32_t *row_first)
{
    const und_volume *v = f->v;
    const und_volume_parts *p = v->parts;
    und_volume_chunk *const end = p->chunk + row_first[und_mac_rows(&v->mac)];
    und_halo_field halo[] = {und_halo_of(&v->mac, p->mark, sizeof *p->mark, reach_of(f)),
                             und_halo_of(&v->mac, p->over, sizeof *p->over, 1),
                             und_halo_of(&v->mac, p->area, sizeof *p->area, 1)};
    halo[0].type = UND_U8;
    halo[1].type = halo[2].type = UND_I32;
    for (const und_volume_chunk *k = p->chunk + row_first[0]; k < end; k++)
        und_lanes_bytes_store_some(p->mark + k->at, (und_lanes_int){0}, k->bits & ~(unsigned)k->left);
    und_halo_get(v->device.halo, halo, 3);
    und_volume_get_cells(v, reach_of(f));
    und_distance_get_phi(f->d, reach_of(f));
    for (und_volume_chunk *k = p->chunk + row_first[0]; k < end; k++)
        k->left = (uint16_t)(k->bits & und_lanes_bits(und_lanes_bytes(p->mark + k->at) != 0));
}

/* Whether phi moved by more than enough. */
static bool go_once(fit *f, int all_count)
{
    const und_volume *v = f->v;
    const und_mac *m = &v->mac;
    und_volume_fit_args *args = &f->args;
    und_volume_fit_found *found = args->found;
    args->f.v = und_volume_arrays_of(v);
    way w = {.chunks = und_volume_chunks(v),
             .all = und_set_list(args->all, all_count, UND_VOLUME_CHUNKS, UND_LANES),
             .slices = und_set_slices(m, UND_ROWS_INSIDE),
             .rows = und_set_rows(m, UND_ROWS_INSIDE),
             .beyond = und_set_rows(m, UND_ROWS_ALL),
             .one = und_set_list(args, 1, 1, 1),
             .beside = {*m, args->f.phi},
             .encloses = {args->f.v, args->f.walls, args->f.phi, args->f.tracked},
             .extra = und_halo_of(m, v->parts->extra, sizeof *v->parts->extra, reach_of_extra(f)),
             .left = und_halo_of_slices(m, v->parts->row_sum, sizeof *v->parts->row_sum, 0, m->n[2]),
             .end = *args};
    w.slices.count = w.chunks.count;
    w.extra.type = UND_I32;
    for (int i = 0; i < UND_VOLUME_FIT_EVENING; i++) {
        w.args[i] = *args;
        w.args[i].round = i;
    }
    *found = (und_volume_fit_found){.none = {true, true, true}, .paid = true, .left = v->parts->row_sum};
    memset(found->left, 0, (size_t)m->n[2] * sizeof *found->left);
    add(&w, UND_PASS(und_volume_encloses, &w.encloses, &w.chunks), NULL);
    add_shift(&w, found);
    add_end(&w, found);
    if (!v->device.halo)
        add_remaining(&w, v, args->row_first, &found->done);
    und_pass_steps(&v->device, w.step, w.steps);
    if (found->more && v->device.halo) {
        w.passes = w.steps = 0;
        get_left(f, args->row_first);
        add_remaining(&w, v, args->row_first, NULL);
        und_pass_steps(&v->device, w.step, w.steps);
    }
    if (found->more)
        v->parts->chunk = w.remaining.to;
    return found->more;
}

/* Cells near the surface; films are no more.  What all cells hold. */
static int64_t list_near(und_volume *v, const und_distance *d)
{
    und_volume_nearing near = {und_volume_list_args_of(v), v->c, v->parts->kind, d->phi};
    near.list.sums = true;
    near.list.cleared = v->film;
    return und_volume_list_and_sum(v, UND_PASS(und_volume_mark_near, &near, NULL));
}

void und_volume_fit(und_volume *v, und_distance *d, const und_volume_walls *walls, bool tracked)
{
    fit f = {.v = v,
             .d = d,
             .walls = walls,
             .args = {.f = {.walls = *walls,
                            .phi = d->phi,
                            .tracked = tracked,
                            .rounds = tracked ? UND_VOLUME_FIT_EVENING : EVENING_ALONE},
                      .found = (und_volume_fit_found *)(void *)v->parts->told,
                      .row_chunks = v->parts->row_chunks,
                      .refresh = und_distance_refresh_of(d)}};
    und_volume_fit_args *args = &f.args;
    und_volume_leave_solids(v, d, walls);
    get_beside(&f);
    v->parts->over = und_scratch_take_zeroed(v->parts->scratch);
    v->parts->area = v->parts->over + und_scratch_bytes(v->mac.count * sizeof(int32_t)) / sizeof(int32_t);
    args->f.enough = SHOWN * (double)list_near(v, d);
    const und_volume_parts all = *v->parts;
    const int all_cells = all.listed[UND_VOLUME_CELLS], all_chunks = all.listed[UND_VOLUME_LISTED];
    args->f.little = (int32_t)fmin(LITTLE_LEFT * args->f.enough / (all_cells + 1), UND_VOLUME_ONE);
    for (int n = 0; n < UND_VOLUME_AROUND; n++)
        args->f.up |= (unsigned)und_volume_is_up(walls, n) << n;
    args->all = all.chunk;
    args->row_first = all.row_chunks;
    for (; go_once(&f, all_chunks); args->round++)
        args->row_first = all.row_left;
    v->parts->chunk = all.chunk;
    v->parts->listed[UND_VOLUME_LISTED] = all_chunks;
    v->parts->listed[UND_VOLUME_CELLS] = all_cells;
    if (v->device.halo) { /* what came from others since may be other cells that these were made for */
        memset(v->parts->over, 0, v->mac.count * sizeof *v->parts->over);
        memset(v->parts->area, 0, v->mac.count * sizeof *v->parts->area);
    }
    v->parts->over = v->parts->area = NULL;
    und_scratch_give_back_zeroed(v->parts->scratch);
}
