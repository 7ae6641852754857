#include "solve/multigrid.h"

#include "base/pages.h"
#include "base/status.h"
#include "solve/multigrid_coarse_kernel.h"
#include "solve/multigrid_cycle.h"
#include "solve/multigrid_kernel.h"

#include <stdlib.h>
#include <string.h>

/* Sweeps over red and black before the coarser level, and the same in reverse order after it: so the cycle is
 * symmetric.  More on coarser levels, where they cost little. */
enum {
    SWEEPS_FINEST = 2,
    SWEEPS_COARSER = 4,
    SWEEPS_COARSEST = 16,
    MOST_PASSES = UND_MULTIGRID_FIRST - UND_MULTIGRID_BEFORE
};
_Static_assert(MOST_PASSES >= 4 * SWEEPS_COARSEST, "passes of the coarsest level");

enum { HALOS = 4 };

typedef struct way {
    und_pass passes[MOST_PASSES];
    und_halo_field halo[HALOS]; /* what it begins with, as far as its passes read, added up */
    int count, halos;
} way;

/* What kernels are given, where those of a card can read it. */
typedef struct arguments {
    und_sweep_args sweep[UND_MULTIGRID_LEVELS][2];
    und_restrict_args restriction[UND_MULTIGRID_LEVELS];
    und_correct_args correction[UND_MULTIGRID_LEVELS];
} arguments;

typedef struct und_cycle {
    arguments *args;
    und_energy_args energy;
    und_coarse_args coarse; /* levels that a card does in one launch */
    und_pass coarse_pass;
    und_set set[UND_MULTIGRID_LEVELS];
    way down[UND_MULTIGRID_LEVELS], up[UND_MULTIGRID_LEVELS];
} und_cycle;

und_status und_multigrid_cycle_open(und_multigrid *m, und_error *err)
{
    static const char *const what = "passes of multigrid";
    m->cycle = und_alloc(1, sizeof *m->cycle, what, err);
    if (m->cycle)
        m->cycle->args = und_pages_alloc_read_only(sizeof *m->cycle->args, what, err);
    return m->cycle && m->cycle->args ? UND_OK : err->status;
}

void und_multigrid_cycle_close(und_multigrid *m)
{
    if (m->cycle)
        und_pages_free(m->cycle->args);
    free(m->cycle);
}

static int sweeps_of(const und_multigrid *m, int level)
{
    return level == m->count - 1 ? SWEEPS_COARSEST : level == 0 ? SWEEPS_FINEST : SWEEPS_COARSER;
}

static void add(way *w, und_pass pass)
{
    w->passes[w->count++] = pass;
}

static void add_halos(way *w, const und_level *level, float *const values[2], int reach)
{
    for (int c = 0; c < 2; c++)
        w->halo[w->halos++] = und_level_halo(level, values[c], sizeof(float), reach);
}

/* A coarser cell is made of slices two apart, at most. */
int und_multigrid_first_reach(const und_multigrid *m)
{
    return m->cycle->down[0].count + 1;
}

/* The finest level's way down begins with what is set just before it. */
static void set_halos(und_multigrid *m, int i)
{
    way *down = &m->cycle->down[i], *up = &m->cycle->up[i];
    const und_level *level = &m->level[i];
    down->halos = up->halos = 0;
    if (i > 0) {
        add_halos(down, level, level->b, down->count + 1);
        add_halos(down, level, level->x, down->count + 1);
    }
    if (i == m->count - 1)
        return;
    add_halos(up, level, level->x, up->count + 1);
    add_halos(up, level + 1, level[1].x, up->count + 1);
}

static und_step step_of(const way *w, const bool *unless)
{
    return (und_step){.passes = w->passes,
                      .count = w->count,
                      .chain = true,
                      .unless = unless,
                      .halo = w->halo,
                      .halos = w->halos};
}

static void set_args(und_multigrid *m, int i)
{
    und_cycle *c = m->cycle;
    const und_level *level = &m->level[i], *coarse = level + 1;
    c->set[i] = und_level_set(level);
    for (unsigned colour = 0; colour < 2; colour++)
        c->args->sweep[i][colour] =
            (und_sweep_args){.list = level->list,
                             .colour = colour,
                             .w = {level->weight[0], level->weight[1], level->weight[2]},
                             .full = level->full_inverse,
                             .diagonal = 1 / level->full_inverse,
                             .b = level->b[colour],
                             .inverse = level->inverse[colour],
                             .coefficient = level->coefficient[colour],
                             .other = level->x[1 - colour],
                             .x = level->x[colour]};
    if (i == m->count - 1)
        return;
    c->args->restriction[i] = (und_restrict_args){.fine = c->args->sweep[i][0],
                                                  .halved = level->halved[0],
                                                  .list = coarse->list,
                                                  .children = coarse->children,
                                                  .inverse = coarse->inverse[0],
                                                  .full = coarse->full_inverse,
                                                  .b = {coarse->b[0], coarse->b[1]},
                                                  .x = coarse->x[0]};
    c->args->correction[i] = (und_correct_args){.list = level->list,
                                                .halved = level->halved[0],
                                                .inverse = level->inverse[0],
                                                .coarse = {coarse->x[0], coarse->x[1]},
                                                .x = level->x[0]};
}

/* Red cells have their first values already: black ones are next. */
static void set_passes(und_multigrid *m, int i)
{
    und_cycle *c = m->cycle;
    way *down = &c->down[i], *up = &c->up[i];
    const bool coarsest = i == m->count - 1;
    down->count = up->count = 0;
    for (int stage = 1; stage < 2 * sweeps_of(m, i); stage++)
        add(down, UND_PASS(und_smooth, &c->args->sweep[i][stage % 2], &c->set[i]));
    add(coarsest ? down : up, coarsest ? UND_PASS(und_smooth, &c->args->sweep[i][1], &c->set[i])
                                       : UND_PASS(und_correct, &c->args->correction[i], &c->set[i]));
    if (!coarsest)
        add(down, UND_PASS_NONE(&c->set[i]));
    if (!coarsest)
        add(down, UND_PASS(und_restrict, &c->args->restriction[i], &c->set[i]));
    for (int stage = coarsest ? 2 : 1; stage <= 2 * sweeps_of(m, i); stage++)
        add(coarsest ? down : up, UND_PASS(und_smooth, &c->args->sweep[i][stage % 2], &c->set[i]));
}

static und_energy_args energy_of(const und_multigrid *m, float *const v[2])
{
    const und_level *level = &m->level[0];
    return (und_energy_args){.list = level->list,
                             .w = {level->weight[0], level->weight[1], level->weight[2]},
                             .v = {v[0], v[1]},
                             .b = {level->b[0], level->b[1]},
                             .known = {level->known[0], level->known[1]},
                             .coefficient = {level->coefficient[0], level->coefficient[1]},
                             .beside = {level->beside[0], level->beside[1]},
                             .some = m->some_sums,
                             .product = m->slice_product,
                             .energy = m->slice_energy};
}

/* Of a card's time a launch takes as much as so many packs. */
enum { COARSE_PACKS = 512 };

int und_multigrid_coarse(const und_multigrid *m)
{
    int first = m->count;
    while (first > 1 &&
           m->level[first - 1].n[2] * m->level[first - 1].n[1] * m->level[first - 1].packs <= COARSE_PACKS)
        first--;
    return m->device.card ? first : m->count;
}

static void set_coarse(und_multigrid *m)
{
    static const und_set one = {.blocks = 1};
    und_cycle *c = m->cycle;
    const arguments *args = c->args;
    c->coarse = (und_coarse_args){.level = m->level,
                                  .sweep = args->sweep,
                                  .restriction = args->restriction,
                                  .correction = args->correction,
                                  .first = und_multigrid_coarse(m),
                                  .last = m->count - 1,
                                  .sweeps = SWEEPS_COARSER,
                                  .last_sweeps = SWEEPS_COARSEST};
    c->coarse_pass = UND_PASS(und_coarse, &c->coarse, &one);
}

void und_multigrid_cycle_set(und_multigrid *m)
{
    for (int i = 0; i < m->count; i++) {
        set_args(m, i);
        set_passes(m, i);
    }
    m->cycle->energy = energy_of(m, m->level[0].x);
    way *last = m->count > 1 ? &m->cycle->up[0] : &m->cycle->down[0];
    add(last, UND_PASS(und_sum_some, &m->cycle->energy, &m->cycle->set[0]));
    add(last, UND_PASS(und_sum, &m->cycle->energy, &m->cycle->set[0]));
    for (int i = 0; i < m->count; i++)
        set_halos(m, i);
    set_coarse(m);
}

void und_multigrid_sums_halo(const und_multigrid *m, und_halo_field halo[UND_MULTIGRID_SUMS])
{
    const und_level *level = &m->level[0];
    double *const sums[UND_MULTIGRID_SUMS] = {m->slice_product, m->slice_energy};
    for (int i = 0; i < UND_MULTIGRID_SUMS; i++)
        halo[i] = und_level_sums(level, sums[i], sizeof *sums[i]);
}

und_step und_multigrid_first(const und_multigrid *m, const und_pass *before, int count,
                             und_pass passes[UND_MULTIGRID_FIRST], const bool *unless)
{
    const way *down = &m->cycle->down[0];
    for (int i = 0; i < count; i++)
        passes[i] = before[i];
    memcpy(passes + count, down->passes, (size_t)down->count * sizeof *passes);
    return (und_step){.passes = passes, .count = count + down->count, .chain = true, .unless = unless};
}

int und_multigrid_rest(const und_multigrid *m, und_step *steps, const bool *unless)
{
    const int coarse = m->cycle->coarse.first;
    int own = 0;
    for (int i = 1; i < coarse; i++)
        steps[own++] = step_of(&m->cycle->down[i], unless);
    if (coarse < m->count)
        steps[own++] = (und_step){.passes = &m->cycle->coarse_pass, .count = 1, .unless = unless};
    for (int i = (coarse < m->count ? coarse : m->count - 1) - 1; i >= 0; i--)
        steps[own++] = step_of(&m->cycle->up[i], unless);
    return own;
}

und_step und_multigrid_energy(const und_multigrid *m, const und_pass *before, float *const v[2],
                              und_energy_args *args, und_pass passes[3], const bool *unless)
{
    *args = energy_of(m, v);
    passes[0] = *before;
    passes[1] = UND_PASS(und_sum_some, args, &m->cycle->set[0]);
    passes[2] = UND_PASS(und_sum, args, &m->cycle->set[0]);
    return (und_step){.passes = passes, .count = 3, .chain = true, .unless = unless};
}
