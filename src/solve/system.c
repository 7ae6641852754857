#include "solve/system.h"

#include "base/status.h"
#include "solve/system_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

und_status und_system_open(und_system *s, const und_mac *mac, int threads, und_scratch *scratch,
                           und_error *err)
{
    bool flat = mac->whole[2] == 1;
    und_multigrid_box box;
    double weight[3];
    *s = (und_system){.mac = *mac};
    for (int a = 0; a < 3; a++) {
        const int k = s->axis[a] = flat && a > 0 ? 3 - a : a;
        s->step[a] = mac->step[k];
        box.whole[a] = mac->whole[k];
        box.low[a] = mac->low[k];
        box.high[a] = mac->low[k] + mac->n[k];
        weight[a] = 1 / (mac->d[k] * mac->d[k]);
    }
    box.sparse = mac->present;
    if (und_multigrid_open(&s->m, &box, weight, threads, err) != UND_OK ||
        und_components_open(&s->components, s->m.device, &s->m.level[0], err) != UND_OK)
        return err->status;
    und_level *level = &s->m.level[0];
    for (int a = 0; a < 3; a++)
        s->before[a] = box.low[a] - level->low[a];
    size_t slices = (size_t)level->n[2];
    for (int c = 0; c < 2; c++) {
        und_level_add_array(level, &s->r[c], UND_CELL_PACK * sizeof *s->r[c], false);
        und_level_add_array(level, &s->x[c], UND_CELL_PACK * sizeof *s->x[c], true);
        und_level_add_array(level, &s->p[c], UND_CELL_PACK * sizeof *s->p[c], true);
    }
    if (und_multigrid_lend(&s->m, scratch, err) != UND_OK)
        return err->status;
    static const char *const what = "slices of the pressure's system";
    if (!(s->slice_bits = und_alloc(3 * slices, sizeof *s->slice_bits, what, err)))
        return err->status;
    s->slice_bits_b = s->slice_bits + slices;
    s->slice_bits_given = s->slice_bits_b + slices;
    return UND_OK;
}

void und_system_close(und_system *s)
{
    und_multigrid_close(&s->m);
    und_components_close(&s->components);
    free(s->slice_bits);
}

void und_system_set(und_system *s, const double full[3], const und_sides *sides)
{
    const double own[3] = {full[s->axis[0]], full[s->axis[1]], full[s->axis[2]]};
    und_pass beside[UND_MULTIGRID_BESIDE];
    und_components_passes(&s->components, beside);
    und_multigrid_set(&s->m, own, sides, beside);
    s->set = und_level_set(&s->m.level[0]);
}

void und_system_done(und_system *s)
{
    und_multigrid_done(&s->m);
}

static und_system_args args_of(const und_system *s, int64_t *most)
{
    const und_level *level = &s->m.level[0];
    return (und_system_args){
        .list = level->list,
        .full = {level->full[0], level->full[1], level->full[2]},
        .largest = level->largest,
        .full_diagonal = level->full_diagonal,
        .diagonal = {level->diagonal[0], level->diagonal[1]},
        .coefficient = {level->coefficient[0], level->coefficient[1]},
        .inverse = level->inverse[0],
        .full_inverse = level->full_inverse,
        .r = {s->r[0], s->r[1]},
        .x = {s->x[0], s->x[1]},
        .p = {s->p[0], s->p[1]},
        .z = {level->x[0], level->x[1]},
        .b = {level->b[0], level->b[1]},
        .scale = s->scale,
        .most = most,
        .given = s->b,
        .given_double = s->b_double,
        .grid = s->grid,
        .unit = s->unit,
        .first =
            (ptrdiff_t)s->mac.first - s->before[0] - s->before[1] * s->step[1] - s->before[2] * s->step[2],
        .step = {s->step[0], s->step[1], s->step[2]},
        .unknown = level->unknown,
    };
}

/* What others have found in their slices. */
static void get_bits(const und_system *s, int64_t *slice_bits)
{
    const und_halo_field bits = und_level_sums(&s->m.level[0], slice_bits, sizeof *slice_bits);
    und_halo_get(s->m.device.halo, &bits, 1);
}

/* Arrays of both colours, of all that the passes read which follow. */
static void get_doubles(const und_system *s, double *const v[2], int reach)
{
    und_halo_field halo[2];
    for (int c = 0; c < 2; c++)
        halo[c] = und_level_halo(&s->m.level[0], v[c], sizeof *v[c], reach);
    und_halo_get(s->m.device.halo, halo, 2);
}

static double largest_of(const und_system *s, const int64_t *slice_bits)
{
    int64_t bits = 0;
    double largest;
    for (int z = 0; z < s->m.level[0].n[2]; z++)
        bits = slice_bits[z] > bits ? slice_bits[z] : bits;
    memcpy(&largest, &bits, sizeof largest);
    return largest;
}

/* The same, once a pass has found it. */
static double found(const und_system *s, int64_t *slice_bits)
{
    get_bits(s, slice_bits);
    return largest_of(s, slice_bits);
}

/* The largest |r|, after its mean was taken out of closed parts; `unfit`: the largest of those, may be NULL.
 */
static double measure_fit(und_system *s, double *unfit)
{
    const und_system_args args = args_of(s, s->slice_bits);
    get_doubles(s, s->r, UND_HALO_ALL);
    double mean = und_components_take_mean(&s->components, s->r);
    if (unfit)
        *unfit = mean;
    und_pass(&s->m.device, und_measure, &args, &s->set);
    return found(s, s->slice_bits);
}

/* Slices beyond its own in which r is kept, and p in one more: so that of each iteration only z is asked of
 * others. */
static int reach_of_r(const und_system *s)
{
    return und_multigrid_first_reach(&s->m);
}

/* The largest of r = b - A x. */
static double true_residual(und_system *s)
{
    const und_system_args args = args_of(s, s->slice_bits);
    get_doubles(s, s->x, reach_of_r(s) + 1);
    und_pass_chain(
        &s->m.device,
        (const und_pass[]){UND_PASS(und_take_r, &args, &s->set), UND_PASS(und_subtract, &args, &s->set)}, 2);
    return s->components.closed ? measure_fit(s, NULL) : found(s, s->slice_bits);
}

/* ---- Iterations ---- */

enum {
    AT_ONCE = 6, /* iterations of a region */
    STEPS = 12   /* of one, besides those of the cycle */
};

/* Iterations, all in one region: what is done in each depends on numbers that those before it have found, so
 * that each has all the steps that it may take, of which some are left out. */
typedef struct iterations {
    und_system *s;
    und_system_args args;
    und_energy_args energy_args;
    int count, most;
    double before, energy_of_z;
    bool over, end; /* nothing more is to be done; after this iteration it is expected to be */
    bool directed;  /* p is the next direction already */
    bool not_directed, not_fused[2], not_last[2], not_down; /* what is left out */
    und_pass first[UND_MULTIGRID_FIRST], fused[2][UND_MULTIGRID_FIRST], down[UND_MULTIGRID_FIRST], energy[2],
        advance[2], reckon, aim, look;
    und_halo_field sums[UND_MULTIGRID_SUMS], bits, z[2];
    und_step steps[1 + UND_MULTIGRID_REST + AT_ONCE * (STEPS + UND_MULTIGRID_REST)];
} iterations;

/* p A p, over the largest weight, by z A z, z being what the preconditioner gave, and what is known of the
 * direction before (Chronopoulos & Gear 1989) is there before p is; but not where most of it cancels. */
static void reckon(const void *args, const und_set *set, int block)
{
    const double most = 0.5;
    iterations *i = *(iterations *const *)args;
    und_system *s = i->s;
    (void)set, (void)block;
    const double product = und_multigrid_sums(&s->m, &i->energy_of_z);
    i->over = i->over || i->count >= i->most || !(product > 0);
    if (!i->over) {
        s->beta = s->product > 0 ? product / s->product : 0;
        s->product = product;
        i->args.beta = (float)s->beta;
        const double energy = i->energy_of_z - s->beta * s->beta * s->energy;
        i->directed = !(s->beta < most && energy > most * i->energy_of_z);
        s->energy = energy;
    }
    i->not_directed = i->over || !i->directed;
}

/* How far to go along the direction.  If the residual falls as it did the last time, this is the end: nothing
 * is smoothed in vain. */
static void aim(const void *args, const und_set *set, int block)
{
    iterations *i = *(iterations *const *)args;
    und_system *s = i->s;
    (void)set, (void)block;
    if (!i->over && i->directed)
        und_multigrid_sums(&s->m, &s->energy);
    i->over = i->over || !(s->energy > 0) || !isfinite(s->product / s->energy);
    if (!i->over) {
        i->args.alpha = s->product / s->energy / (s->scale * s->m.level[0].largest);
        i->end = s->residual * (s->residual / i->before) < s->tolerance;
        i->before = s->residual;
    }
    for (int k = 0; k < 2; k++) {
        const bool other = i->over || (k == 0) != i->directed;
        i->not_fused[k] = other || i->end;
        i->not_last[k] = other || !i->end;
    }
}

/* Has the residual that is carried along come below the tolerance? */
static void look(const void *args, const und_set *set, int block)
{
    iterations *i = *(iterations *const *)args;
    und_system *s = i->s;
    (void)set, (void)block;
    if (!i->over) {
        i->count++;
        s->residual = largest_of(s, s->slice_bits);
        i->over = !(s->residual >= s->tolerance);
    }
    i->not_down = i->over || !i->end;
}

static int plan_iteration(iterations *i, und_step *steps)
{
    const und_multigrid *m = &i->s->m;
    int own = 0;
    steps[own++] = (und_step){.passes = &i->reckon, .count = 1, .halo = i->sums, .halos = UND_MULTIGRID_SUMS};
    steps[own] = und_multigrid_energy(m, i->advance, i->s->p, &i->energy_args, i->energy, &i->not_directed);
    steps[own].halo = i->z;
    steps[own++].halos = 2;
    steps[own++] = (und_step){.passes = &i->aim, .count = 1, .halo = i->sums, .halos = UND_MULTIGRID_SUMS};
    for (int k = 0; k < 2; k++) {
        steps[own++] = und_multigrid_first(m, i->advance + 1 - k, 1 + k, i->fused[k], &i->not_fused[k]);
        steps[own++] = (und_step){
            .passes = i->advance + 1 - k, .count = 1 + k, .chain = true, .unless = &i->not_last[k]};
        for (int at = own - 2; at < own && k == 1; at++) { /* those that make p */
            steps[at].halo = i->z;
            steps[at].halos = 2;
        }
    }
    steps[own++] = (und_step){.passes = &i->look, .count = 1, .halo = &i->bits, .halos = 1};
    steps[own++] = und_multigrid_first(m, NULL, 0, i->down, &i->not_down);
    return own + und_multigrid_rest(m, steps + own, &i->over);
}

/* Conjugate gradients until the residual that is carried along is below the tolerance.  What it was made from
 * is kept by r, x and p; directions are stored in float, but what they do to x and r is the same. */
static void iterate(und_system *s, int max_iterations, int *count)
{
    static const und_kernel reckon_kernel = {"reckon", reckon}, aim_kernel = {"aim", aim},
                            look_kernel = {"look", look};
    static const und_set one = {.blocks = 1};
    const und_multigrid *m = &s->m;
    iterations own, *const i = &own;
    s->residual = i->before = largest_of(s, s->slice_bits);
    s->scale = 1 / s->residual;
    s->product = s->energy = 0;
    i->s = s;
    i->args = args_of(s, s->slice_bits);
    i->count = *count;
    i->most = max_iterations;
    i->over = false;
    i->reckon = (und_pass){&reckon_kernel, &i, &one};
    i->aim = (und_pass){&aim_kernel, &i, &one};
    i->look = (und_pass){&look_kernel, &i, &one};
    i->advance[0] = UND_PASS(und_direct, &i->args, &s->set);
    i->advance[1] = UND_PASS(und_advance, &i->args, &s->set);
    const und_pass residual = UND_PASS(und_give_residual, &i->args, &s->set);
    und_multigrid_sums_halo(m, i->sums);
    i->bits = und_level_sums(&m->level[0], s->slice_bits, sizeof *s->slice_bits);
    for (int c = 0; c < 2; c++)
        i->z[c] = und_level_halo(&m->level[0], m->level[0].x[c], sizeof(float), reach_of_r(s) + 1);
    for (bool begun = false; !i->over; begun = true) {
        int steps = 0;
        if (!begun) {
            i->steps[steps++] = und_multigrid_first(m, &residual, 1, i->first, NULL);
            steps += und_multigrid_rest(m, i->steps + steps, NULL);
        }
        for (int k = 0; k < AT_ONCE; k++)
            steps += plan_iteration(i, i->steps + steps);
        und_pass_steps(&m->device, i->steps, steps);
    }
    *count = i->count;
}

/* The cycle for r as it is. */
static void cycle(und_system *s)
{
    und_pass first[UND_MULTIGRID_FIRST];
    und_step steps[1 + UND_MULTIGRID_REST];
    const und_system_args args = args_of(s, NULL);
    steps[0] = und_multigrid_first(&s->m, &UND_PASS(und_give_residual, &args, &s->set), 1, first, NULL);
    und_pass_steps(&s->m.device, steps, 1 + und_multigrid_rest(&s->m, steps + 1, NULL));
}

void und_system_precondition(und_system *s, const double *r, double *z)
{
    s->scale = s->unit = 1;
    s->b = NULL;
    s->b_double = r;
    s->grid = z;
    const und_system_args args = args_of(s, s->slice_bits);
    und_pass(&s->m.device, und_take_r, &args, &s->set);
    get_doubles(s, s->r, reach_of_r(s));
    cycle(s);
    und_pass_chain(
        &s->m.device,
        (const und_pass[]){UND_PASS(und_keep_z, &args, &s->set), UND_PASS(und_give_x, &args, &s->set)}, 2);
    s->b_double = NULL;
    s->grid = NULL;
}

/* r = b; then from the x given r = b - A x.  That x is of another system, in which the surface was elsewhere:
 * where a cell's middle has come near to it, a little pressure too much is a hundred times b, so that x is
 * relaxed there first.  A dam break at 128 cells then takes 4 iterations; 6 with x as it is, 5 from 0.  Gives
 * the largest |r|; and where the surface or a wall is, that of the x that was given. */
static double start(und_system *s, bool warm, double *given)
{
    const und_system_args args = args_of(s, s->slice_bits), of_b = args_of(s, s->slice_bits_b),
                          of_given = args_of(s, s->slice_bits_given);
    if (!warm) {
        und_pass(&s->m.device, und_take_cold, &of_b, &s->set);
        get_doubles(s, s->r, reach_of_r(s));
        get_bits(s, s->slice_bits_b);
        memcpy(s->slice_bits, s->slice_bits_b, (size_t)s->m.level[0].n[2] * sizeof *s->slice_bits);
        return *given = largest_of(s, s->slice_bits);
    }
    const und_pass passes[] = {
        UND_PASS(und_take_warm, &of_b, &s->set), UND_PASS(und_relax_red, &of_given, &s->set),
        UND_PASS(und_relax_black, &args, &s->set), UND_PASS(und_subtract, &args, &s->set)};
    const int alone = s->m.device.halo ? 1 : 0; /* what is given others have to give too */
    if (alone) {
        und_pass_chain(&s->m.device, passes, alone);
        get_doubles(s, s->r, reach_of_r(s) + 2);
        get_doubles(s, s->x, reach_of_r(s) + 3);
    }
    und_pass_chain(&s->m.device, passes + alone, 4 - alone);
    get_bits(s, s->slice_bits_b);
    *given = found(s, s->slice_bits_given);
    return found(s, s->slice_bits);
}

und_system_report und_system_solve(und_system *s, double *x, bool warm, double tolerance, double relative,
                                   int max_iterations)
{
    und_system_report report = {0};
    double before = INFINITY, given;
    /* Of r, which is double as x is and gets what the same p does to x: it strays from b - A x by roundings
     * alone, 1e-16 of x, which may be the square of the grid's cells across times b. */
    const double drift = 1e-9, at_rest = 0.1;
    s->grid = x;
    report.residual = start(s, warm, &given);
    report.largest = largest_of(s, s->slice_bits_b);
    if (s->components.closed)
        report.residual = measure_fit(s, &report.unfit);
    bool finite = isfinite(report.residual) && isfinite(report.largest);
    s->tolerance = tolerance + relative * report.largest;
    /* Where the x given was not good enough, relaxing it may be, but leaves what is smooth: pools would be
     * less at rest.  There what is just good enough step by step adds up, and costs an iteration now and then
     * to be better. */
    bool more = report.residual >= s->tolerance || given >= (warm ? at_rest : 1) * s->tolerance;
    /* The residual carried along may be smaller than the true one: then again from that, while it helps. */
    while (more && report.residual > 0 && report.residual < 0.9 * before &&
           report.iterations < max_iterations) {
        before = report.residual;
        iterate(s, max_iterations, &report.iterations);
        report.residual =
            s->tolerance > drift * report.largest ? largest_of(s, s->slice_bits) : true_residual(s);
        more = report.residual >= s->tolerance;
    }
    report.converged = finite && (report.residual < s->tolerance || report.residual == 0);
    if (finite) {
        const und_system_args args = args_of(s, NULL);
        if (s->components.closed)
            get_doubles(s, s->x, UND_HALO_ALL);
        und_components_take_mean(&s->components, s->x);
        und_pass(&s->m.device, und_give_x, &args, &s->set);
    }
    s->b = NULL;
    s->b_double = NULL;
    s->grid = NULL;
    return report;
}

/* ---- Closed parts ---- */

/* The least and the most that a run has, into its part's. */
static void survey_run(const und_system *s, const double *x, int y, int z, int32_t i)
{
    und_run *run = s->components.run, *root = &run[run[i].parent];
    for (int k = run[i].begin; k < run[i].end; k++) {
        const double value = x[und_system_at(s, k, y, z)];
        root->sum = fmin(root->sum, value);
        root->cells = fmax(root->cells, value);
    }
}

static void lift_run(const und_system *s, double *x, int y, int z, int32_t i)
{
    const und_run *run = s->components.run, *root = &run[run[i].parent];
    const double by = root->cells - 2 * root->sum;
    for (int k = run[i].begin; k < run[i].end; k++)
        x[und_system_at(s, k, y, z)] += by;
}

void und_system_lift(und_system *s, double *x)
{
    const und_components *c = &s->components;
    const int *n = c->level->n, rows = c->closed ? n[1] * n[2] : 0;
    const und_halo_field all = und_halo_of(&s->mac, x, sizeof *x, UND_HALO_ALL);
    und_halo_get(s->m.device.halo, &all, rows > 0);
    for (int turn = 0; turn < 3; turn++)
        for (int row = 0; row < rows; row++)
            for (int32_t i = c->first[row], end = i + c->count[row]; i < end; i++) {
                und_run *run = &c->run[i];
                if (c->run[run->parent].open)
                    continue;
                if (turn == 0) {
                    run->sum = INFINITY;
                    run->cells = -INFINITY;
                } else if (turn == 1)
                    survey_run(s, x, row % n[1], row / n[1], i);
                else
                    lift_run(s, x, row % n[1], row / n[1], i);
            }
}
