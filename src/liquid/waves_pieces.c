/* Volume: what the step made or lost is found and put right for each connected piece of water.
 *
 * The step moves water only between neighbours, so it keeps the volume of every piece but for rounding and
 * for cells it left below the ground; those are raised to the ground, which makes water from nothing.  "For
 * each connected piece of the fluid, calculate the old volume and the new volume. If the new volume is
 * different, distribute the difference uniformly" (Kass & Miller 1990).  A piece here is a connected set of
 * cells wet before or after the step: no water can have left it.  Water shallower than `shallow` takes its
 * part in proportion to its depth, so that no cell is overdrawn. */
#include "liquid/waves_pieces_kernel.h"
#include "liquid/waves_state.h"

static und_waves_run *row_runs(const und_waves *s, int z)
{
    return s->runs + s->first_run[z];
}

/* Sums of the pieces, at their roots: added up in row order, so that they have the same bits at any thread
 * count. */
static void sum_pieces(und_waves *s)
{
    for (int z = 0; z < s->height_field.nz; z++)
        for (int i = 0; i < s->run_count[z]; i++) {
            und_waves_run *run = &row_runs(s, z)[i],
                          *root = &s->runs[und_waves_find_root(s->runs, run->parent)];
            if (run != root) {
                root->gain += run->gain;
                root->weight += run->weight;
                root->depth += run->depth;
                root->before += run->before;
            }
        }
}

/* The whole depth of a run; its cells in plain words were left out so far. */
static double plain_depth(const und_waves *s, const und_waves_run *run, int z)
{
    double sum = 0;
    for (int x = run->first; x <= run->last; x++)
        if (s->plain[(size_t)z * (size_t)s->words + (size_t)(x / STRIP)])
            sum += und_waves_depth(s, und_waves_at(s, x, z));
    return sum;
}

/* A piece with more to give back than its shallow share allows gives in proportion to depth. */
static void sum_deep_pieces(und_waves *s)
{
    bool any = false;
    for (int z = 0; z < s->height_field.nz; z++)
        for (int i = 0; i < s->run_count[z]; i++) {
            und_waves_run *run = &row_runs(s, z)[i];
            if (run == &s->runs[run->parent] && run->gain > run->weight)
                any = run->by_depth = true;
        }
    for (int z = 0; any && z < s->height_field.nz; z++)
        for (int i = 0; i < s->run_count[z]; i++) {
            und_waves_run *run = &row_runs(s, z)[i],
                          *root = &s->runs[und_waves_find_root(s->runs, run->parent)];
            if (root->by_depth)
                root->depth += plain_depth(s, run, z);
        }
}

/* The correction of each piece per weight; what a piece cannot give or take goes into the ledger. */
static void share_out(und_waves *s)
{
    double cell = s->height_field.grid.dx * s->height_field.grid.dx;
    for (int z = 0; z < s->height_field.nz; z++)
        for (int i = 0; i < s->run_count[z]; i++) {
            und_waves_run *run = &row_runs(s, z)[i];
            if (run != &s->runs[run->parent])
                continue;
            double capacity = run->by_depth ? run->depth : run->weight;
            if (capacity <=
                0) { /* nothing is left of it: the piece stays as it was, and the edges let nothing in */
                run->undo = true;
                und_ledger_add(&s->height_field.ledger.left, &s->height_field.lost.left,
                               -(run->gain + run->before) * cell);
                continue;
            }
            run->share = run->gain / capacity;
            if (run->by_depth && run->share > 1) { /* the edges asked for more than there is */
                und_ledger_add(&s->height_field.ledger.left, &s->height_field.lost.left,
                               -(run->gain - run->depth) * cell);
                run->share = 1;
            }
        }
}

static und_waves_pieces_args args_of(const und_waves *s)
{
    const und_height_field *p = &s->height_field;
    und_waves_pieces_args a = {.nx = p->nx,
                               .nz = p->nz,
                               .words = s->words,
                               .runs_per_row = s->runs_per_row,
                               .first = p->mac.first,
                               .stride = p->stride,
                               .height = s->height,
                               .row_inflow = s->row_inflow,
                               .rise = s->rise,
                               .ground = s->ground,
                               .wet = s->wet,
                               .gain = s->gain,
                               .plain = s->plain,
                               .runs = s->runs,
                               .first_run = s->first_run,
                               .run_count = s->run_count,
                               .shallow = s->shallow};
    for (int e = 0; e < UND_EDGES; e++)
        a.inflow[e] = s->def.height_field.edge[e].kind == UND_EDGE_OPEN ? s->edge[e].inflow : NULL;
    return a;
}

static und_set bands(const und_waves *s)
{
    const und_height_field *p = &s->height_field;
    und_set set = und_set_list(s->runs, p->nz, BAND, p->nx);
    set.worth = p->rows.worth;
    return set;
}

void und_waves_find_pieces(und_waves *s)
{
    und_height_field *p = &s->height_field;
    const und_waves_pieces_args args = args_of(s);
    const und_set set = bands(s);
    und_pass(&p->device, und_waves_band_runs, &args, &set);
    for (int z = BAND; z < p->nz; z += BAND)
        und_waves_join_row(s->runs, s->first_run, s->run_count, z);
    for (int z = 0; z < p->nz; z++)
        und_ledger_add(&p->ledger.left, &p->lost.left, -s->row_inflow[z] * p->grid.dx * p->grid.dx);
    sum_pieces(s);
    sum_deep_pieces(s);
    share_out(s);
}

void und_waves_conserve(und_waves *s)
{
    const und_waves_pieces_args args = args_of(s);
    const und_set set = bands(s);
    und_pass(&s->height_field.device, und_waves_band_conserve, &args, &set);
}
