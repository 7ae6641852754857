/* How the levels of multigrid are set: passes over their rows and packs. */
#include "base/pages.h"
#include "base/status.h"
#include "grid/present.h"
#include "solve/multigrid_coarse_kernel.h"
#include "solve/multigrid_cycle.h"

#include <stdlib.h>
#include <string.h>

/* ---- What is known of a level at once ---- */

static void begin_level(und_level *level)
{
    uint8_t *kind = level->kind;
    level->kind = level->kind_before;
    level->kind_before = kind;
    level->full_diagonal = 0;
    for (int a = 0; a < 3; a++)
        level->full_diagonal += level->full[a] * 2;
    level->full_inverse = level->full_diagonal > 0 ? (float)(level->largest / level->full_diagonal) : 0;
}

static void begin_finest(und_level *level, const double full[3])
{
    level->largest = 0;
    for (int a = 0; a < 3; a++)
        level->largest = full[a] > level->largest ? full[a] : level->largest;
    for (int a = 0; a < 3; a++) {
        level->full[a] = full[a];
        level->weight[a] = level->largest > 0 ? (float)(full[a] / level->largest) : 0;
    }
    begin_level(level);
}

static void begin_coarser(const und_level *fine, und_level *coarse)
{
    coarse->largest = 1;
    for (int a = 0; a < 3; a++) {
        coarse->weight[a] = fine->weight[a];
        for (int k = 0; k < 3; k++)
            coarse->weight[a] *= !fine->halved[k] ? 1 : k == a ? 0.5f : 2;
        coarse->full[a] = (double)coarse->weight[a];
    }
    begin_level(coarse);
}

/* Rows of a coarser level that rows of the finer one are in. */
static void coarsen_present(const und_level *fine, und_level *coarse)
{
    const und_mac own = und_level_mac(coarse);
    for (int z = 0; z < fine->n[2]; z++)
        UND_LEVEL_EACH_ROW (fine, y, z) {
            const int low[2] = {fine->halved[1] ? (y + fine->shift[1]) / 2 : y,
                                fine->halved[2] ? (z + fine->shift[2]) / 2 : z};
            und_present_add(coarse->present, low[0], low[1]);
        }
    und_present_count(coarse->present, &own);
}

/* Rows only ever come. */
static void find_present(und_multigrid *m)
{
    const und_mac own = und_level_mac(&m->level[0]);
    const int before = own.present ? own.present->rows : 0;
    if (!own.present)
        return;
    und_present_count(m->level[0].present, &own);
    for (int i = 1; i < m->count && own.present->rows != before; i++)
        coarsen_present(&m->level[i - 1], &m->level[i]);
}

/* ---- Passes ---- */

enum {
    STEPS = 7, /* of a level, at most, and of all */
    PASSES = 10
};

typedef struct und_multigrid_plan {
    und_level_args *args; /* of each level, where kernels of a card can read them */
    und_set_coarse_args coarse;
    und_set rows[UND_MULTIGRID_LEVELS], ends[UND_MULTIGRID_LEVELS], packs[UND_MULTIGRID_LEVELS],
        slices[UND_MULTIGRID_LEVELS]; /* each with the slices as its blocks; but of the last there is one */
    und_pass passes[PASSES * UND_MULTIGRID_LEVELS + UND_MULTIGRID_BESIDE];
    und_step steps[STEPS * UND_MULTIGRID_LEVELS + UND_MULTIGRID_BESIDE + 1];
    int count, steps_count;
    const und_pass *beside, *beside_end; /* what is still to be done beside others */
} plan;

static void add(plan *p, und_pass pass)
{
    p->passes[p->count++] = pass;
    p->steps[p->steps_count].count++;
}

static void end_step(plan *p)
{
    p->steps_count++;
    p->steps[p->steps_count] = (und_step){.passes = p->passes + p->count};
}

/* With one of those beside. */
static void end_both(plan *p)
{
    if (p->beside < p->beside_end)
        add(p, *p->beside++);
    end_step(p);
}

/* Arrays of all levels: how long they are has been added up.  Whoever does this, it is not a card. */
static void lend_block(const void *args, const und_set *set, int block)
{
    und_multigrid *m = *(und_multigrid *const *)args;
    (void)set, (void)block;
    for (int i = 0; i < m->count; i++) {
        und_level *level = &m->level[i];
        const uint32_t cells = m->total[i];
        level->cells = 2 * (size_t)(cells - UND_CELL_PACK); /* with those behind stretches */
        for (int k = 0; k < level->arrays; k++) {
            const void *array = und_scratch_take(m->scratch, cells / UND_CELL_PACK * level->array[k].size);
            memcpy((char *)level + level->array[k].to, &array, sizeof array);
            m->lent = m->lent ? m->lent : array;
        }
    }
}
static const und_kernel lend_kernel = {.name = "lend_packs", .block = lend_block};

static void set_sets(plan *p, und_multigrid *m, const und_sides *sides, int i)
{
    const und_level *level = &m->level[i];
    const int *n = level->n;
    const und_set rows = {.blocks = n[2],
                          .worth = (size_t)n[0] * (size_t)n[1] * (size_t)n[2],
                          .per_block = n[1],
                          .list = level};
    p->args[i] = (und_level_args){
        .level = &m->level[i], .finest = i == 0, .second = i == 1, .sides = *sides, .total = &m->total[i]};
    p->rows[i] = p->ends[i] = p->packs[i] = p->slices[i] = rows;
    p->ends[i].per_block = n[1] + 1;
    p->packs[i].per_block = n[1] * level->packs;
    p->slices[i].blocks = 1;
    p->slices[i].per_block = n[2] + 1;
    p->slices[i].worth = 1;
}

static const und_set one = {.blocks = 1};

/* Which cells are unknown, and how much room packs need. */
static void plan_room(plan *p, int fine, int count, bool card)
{
    for (int i = 0; i < fine; i++) {
        add(p, UND_PASS(und_find_packs, &p->args[i], &p->rows[i]));
        end_step(p);
    }
    for (int i = 0; i < fine && card; i++)
        add(p, UND_PASS(und_add_rows, &p->args[i], &p->ends[i]));
    if (card)
        end_step(p);
    for (int i = 0; i < fine; i++)
        add(p, UND_PASS(und_add_slices, &p->args[i], &p->slices[i]));
    if (fine < count)
        add(p, UND_PASS(und_find_coarse, &p->coarse, &one));
    end_step(p);
}

/* Where they stand. */
static void plan_places(plan *p, und_multigrid *const *m, int fine)
{
    add(p, (und_pass){&lend_kernel, m, &one});
    end_step(p);
    for (int i = 0; i < fine; i++)
        add(p, UND_PASS(und_place_packs, &p->args[i], &p->rows[i]));
    end_step(p);
}

/* Its sides and kinds.  How its packs are related to the finer level's is found beside the next one's sides.
 */
static void plan_packs(plan *p, int i, bool card)
{
    if (i > 0)
        add(p, UND_PASS(und_find_sides, &p->args[i], &p->packs[i]));
    if (i > 1)
        add(p, UND_PASS(und_set_families, &p->args[i - 1], &p->packs[i - 1]));
    if (i > 0)
        end_both(p);
    add(p, UND_PASS(und_set_packs, &p->args[i], &p->packs[i]));
    if (i > 0)
        end_both(p);
    else
        end_step(p);
    if (!card)
        return;
    add(p, UND_PASS(und_count_row, &p->args[i], &p->rows[i]));
    end_step(p);
    add(p, UND_PASS(und_list_row, &p->args[i], &p->rows[i]));
    end_step(p);
}

und_status und_multigrid_plan_open(und_multigrid *m, und_error *err)
{
    static const char *const what = "passes of multigrid";
    m->plan = und_alloc(1, sizeof *m->plan, what, err);
    if (m->plan)
        m->plan->args = und_pages_alloc_read_only(UND_MULTIGRID_LEVELS * sizeof *m->plan->args, what, err);
    return m->plan && m->plan->args ? UND_OK : err->status;
}

void und_multigrid_plan_close(und_multigrid *m)
{
    if (m->plan)
        und_pages_free(m->plan->args);
    free(m->plan);
}

void und_multigrid_done(und_multigrid *m)
{
    if (m->lent)
        und_scratch_give_back(m->scratch, m->lent);
    m->lent = NULL;
}

void und_multigrid_set(und_multigrid *m, const double full[3], const und_sides *sides, const und_pass *beside,
                       int count)
{
    plan *p = m->plan;
    const bool card = m->device.card != NULL;
    const int fine = und_multigrid_coarse(m);
    und_multigrid_done(m);
    find_present(m);
    begin_finest(&m->level[0], full);
    p->count = p->steps_count = 0;
    p->steps[0] = (und_step){.passes = p->passes};
    p->beside = beside;
    p->beside_end = beside + count;
    for (int i = 0; i < m->count; i++) {
        if (i > 0)
            begin_coarser(&m->level[i - 1], &m->level[i]);
        set_sets(p, m, sides, i);
    }
    p->coarse = (und_set_coarse_args){p->args, fine, m->count - 1};
    plan_room(p, fine, m->count, card);
    plan_places(p, &m, fine);
    for (int i = 0; i < fine; i++)
        plan_packs(p, i, card);
    if (fine > 1)
        add(p, UND_PASS(und_set_families, &p->args[fine - 1], &p->packs[fine - 1]));
    if (fine < m->count)
        add(p, UND_PASS(und_set_coarse, &p->coarse, &one));
    do
        end_both(p);
    while (p->beside < p->beside_end);
    und_pass_steps(&m->device, p->steps, p->steps_count);
    und_multigrid_cycle_set(m);
}
