/* Particles on the wrong side of the surface put the level set right. */
#include "surface/level_set_particles_correct_kernel.h"

/* ---- What the grid cannot hold ----
 *
 * Beyond the liquid the flow is made up: where liquid closes in on air it leads air into the liquid, and what
 * leaves the liquid is thinner than cells.  The liquid's own flow keeps its volume, and so the number of its
 * particles in a cell tells how much of it there is.  Escaped air among much liquid was overrun, and goes;
 * escaped liquid where there is little of it is on its own. */

typedef struct judging {
    const und_particles_correct_args *args;
    const und_level_set_particles_lost *lost;
    float much, little; /* particles */
} judging;

typedef void listed_fn(const judging *j, int32_t *list, int32_t *count);

/* In order: of those that go somebody is told. */
static void for_lists(const judging *j, listed_fn *fn)
{
    const int each = j->args->per_block, blocks = (j->args->of.count + each - 1) / each;
    for (int block = 0; block < blocks; block++)
        fn(j, j->args->order + (size_t)block * (size_t)each, &j->args->block_count[block]);
}

static void mark_cells(const judging *j, int32_t *list, int32_t *count)
{
    for (int32_t k = 0; k < *count; k++)
        j->args->liquid[und_level_set_particles_cell(&j->args->of, list[k])] = 1;
}
static void unmark_cells(const judging *j, int32_t *list, int32_t *count)
{
    for (int32_t k = 0; k < *count; k++)
        j->args->liquid[und_level_set_particles_cell(&j->args->of, list[k])] = 0;
}

/* Those that go have no radius. */
static void judge(const judging *j, int32_t *list, int32_t *count)
{
    const und_particles_list *t = &j->args->of;
    for (int32_t k = 0; k < *count; k++) {
        int32_t i = list[k];
        const int32_t liquid = j->args->liquid[und_level_set_particles_cell(t, i)] - 1;
        const bool air = t->radius[i] > 0;
        if (air ? (float)liquid < j->much : (float)liquid >= j->little)
            continue;
        const float place[3] = {t->place[0][i], t->place[1][i], t->place[2][i]};
        if (!air && j->lost->fn)
            j->lost->fn(j->lost->context, place, t->radius[i]);
        t->radius[i] = 0;
    }
}
static void keep_others(const judging *j, int32_t *list, int32_t *count)
{
    int32_t kept = 0;
    for (int32_t k = 0; k < *count; k++)
        if (j->args->of.radius[list[k]] != 0)
            list[kept++] = list[k];
    *count = kept;
}

/* What cells hold is not known. */
static void take_lost(und_level_set_particles *t, const und_particles_correct_args *args,
                      const und_level_set_particles_lost *lost, const und_set *all)
{
    const float per_cell = (float)t->def.per_cell;
    const judging j = {args, lost, lost->much * per_cell, lost->little * per_cell};
    for_lists(&j, mark_cells);
    und_pass(&t->device, und_particles_count_liquid, args, all);
    for_lists(&j, judge);
    for_lists(&j, unmark_cells);
    for_lists(&j, keep_others);
}

static bool all_are_judged(const und_level_set_particles_lost *lost)
{
    return lost && !lost->held;
}

/* A card has many threads; there is room for as many blocks as sorting needs numbers. */
static int per_block(const und_level_set_particles *t)
{
    enum { FEWEST = 32 };
    const int piles = und_level_set_particles_piles(&t->mac), all = UND_LEVEL_SET_PARTICLES_BLOCK;
    return !t->device.card ? all : piles * FEWEST >= all ? FEWEST : all / piles + 1;
}

static und_particles_correct_args args_of(const und_level_set_particles *t, const und_distance *d,
                                          const und_level_set_particles_lost *lost)
{
    const und_level_set_particles_parts *p = t->parts;
    und_particles_correct_args a = {.of = und_level_set_particles_list(t),
                                    .phi = d->phi,
                                    .width = d->width,
                                    .band = d->band,
                                    .all_are_judged = all_are_judged(lost),
                                    .per_block = per_block(t),
                                    .box = p->box,
                                    .order = p->order,
                                    .block_count = p->block_count,
                                    .reached = p->reached,
                                    .liquid = p->liquid};
    if (!lost)
        return a;
    a.held = lost->held;
    a.least = lost->least;
    a.most = lost->most;
    a.gains = lost->gains;
    for (int axis = 0; axis < 3; axis++)
        a.u[axis] = lost->u[axis];
    a.per_speed = lost->per_speed;
    return a;
}

/* phi+ is the largest of phi and of the spheres of the escaped air, phi- the least of phi and of those of the
 * liquid; what is nearer to 0 is taken (Enright et al. 2002, eq. 11 to 13). */
void und_level_set_particles_correct(und_level_set_particles *t, und_distance *d,
                                     const und_level_set_particles_lost *lost)
{
    t->parts->reached = und_scratch_take_zeroed(t->parts->scratch);
    und_level_set_particles_borrow(t);
    const und_particles_correct_args args = args_of(t, d, lost);
    und_set all = und_level_set_particles_all(t);
    all = und_set_list(all.list, all.count, args.per_block, (int)all.worth / (all.count + 1));
    const und_pass find = UND_PASS(und_particles_find_escaped, &args, &all),
                   reach = UND_PASS(und_particles_reach_listed, &args, &all),
                   settle = UND_PASS(und_particles_settle_block, &args, &all);
    const und_step steps[] = {{.passes = &find, .count = 1}, {.passes = &settle, .count = 1}},
                   judged[] = {{.passes = &reach, .count = 1}, {.passes = &settle, .count = 1}};
    und_pass_steps(&t->device, steps, args.all_are_judged ? 1 : 2);
    if (args.all_are_judged) {
        take_lost(t, &args, lost, &all);
        und_pass_steps(&t->device, judged, 2);
    }
    und_level_set_particles_give_back(t);
    und_scratch_give_back_zeroed(t->parts->scratch);
    t->parts->reached = NULL;
}
