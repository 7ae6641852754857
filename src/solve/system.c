#include "solve/system.h"

#include "base/pages.h"
#include "base/status.h"
#include "grid/present.h"
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
    if (!(s->slice_bits = und_pages_alloc(3 * slices * sizeof *s->slice_bits, what, err)))
        return err->status;
    s->slice_bits_b = s->slice_bits + slices;
    s->slice_bits_given = s->slice_bits_b + slices;
    for (s->room = 1; s->room < level->low[2] + level->n[2] + 1;)
        s->room *= 2;
    if (!(s->tree = und_pages_alloc(2 * (size_t)s->room * sizeof *s->tree, what, err)))
        return err->status;
    s->now = und_pages_alloc(sizeof *s->now, "the pressure's iterations", err);
    return s->now ? UND_OK : err->status;
}

/* Index in the grid's arrays of the finest level's first cell. */
static ptrdiff_t first_of(const und_system *s)
{
    return (ptrdiff_t)s->mac.first - s->before[0] - s->before[1] * s->step[1] - s->before[2] * s->step[2];
}

void und_system_close(und_system *s)
{
    und_multigrid_close(&s->m);
    und_components_close(&s->components);
    und_pages_free(s->slice_bits);
    und_pages_free(s->now);
    und_pages_free(s->tree);
}

/* Rows of the finest level that the grid has. */
static void add_present(const und_system *s, und_present *rows)
{
    const und_mac *m = &s->mac;
    const bool flat = s->axis[1] == 2;
    UND_MAC_EACH_ROW (m, row) {
        const int y = row % m->n[1], z = row / m->n[1];
        und_present_add(rows, (flat ? z : y) + s->before[1], (flat ? y : z) + s->before[2]);
    }
}

void und_system_set(und_system *s, const double full[3], const und_system_sides *of)
{
    double own[3];
    und_sides sides = {.unknown = *of->unknown,
                       .first = first_of(s),
                       .step = {s->step[0], s->step[1], s->step[2]},
                       .before = {s->before[0], s->before[1], s->before[2]},
                       .flat = s->axis[1] == 2};
    for (int a = 0; a < 3; a++) {
        own[a] = full[s->axis[a]];
        sides.weight[a] = of->weight ? of->weight[s->axis[a]] : NULL;
        sides.known[a] = of->known[s->axis[a]];
    }
    if (s->m.level[0].present)
        add_present(s, s->m.level[0].present);
    und_pass beside[UND_MULTIGRID_BESIDE];
    und_multigrid_set(&s->m, own, &sides, beside, und_components_find(&s->components, beside));
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
        .full_inverse = {level->full_inverse, level->full_inverse},
        .r = {s->r[0], s->r[1]},
        .x = {s->x[0], s->x[1]},
        .p = {s->p[0], s->p[1]},
        .z = {level->x[0], level->x[1]},
        .b = {level->b[0], level->b[1]},
        .now = s->now,
        .most = most,
        .given = s->b,
        .given_double = s->b_double,
        .grid = s->grid,
        .unit = s->unit,
        .first = first_of(s),
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

/* Iterations, all in one region: what is done in each depends on numbers that those before it have found
 * (und_iteration), so that each has all the steps that it may take, of which some are left out. */
typedef struct iterations {
    und_system *s;
    und_system_args args;
    und_energy_args energy_args;
    und_decide_args decide;
    und_pass first[UND_MULTIGRID_FIRST], fused[2][UND_MULTIGRID_FIRST], down[UND_MULTIGRID_FIRST], energy[3],
        advance[2], reckon, aim, look;
    und_halo_field sums[UND_MULTIGRID_SUMS], bits, z[2];
    und_step steps[1 + UND_MULTIGRID_REST + AT_ONCE * (STEPS + UND_MULTIGRID_REST)];
} iterations;

static int plan_iteration(iterations *i, und_step *steps)
{
    const und_multigrid *m = &i->s->m;
    const und_iteration *now = i->s->now;
    int own = 0;
    steps[own++] = (und_step){.passes = &i->reckon, .count = 1, .halo = i->sums, .halos = UND_MULTIGRID_SUMS};
    steps[own] = und_multigrid_energy(m, i->advance, i->s->p, &i->energy_args, i->energy, &now->not_directed);
    steps[own].halo = i->z;
    steps[own++].halos = 2;
    steps[own++] = (und_step){.passes = &i->aim, .count = 1, .halo = i->sums, .halos = UND_MULTIGRID_SUMS};
    for (int k = 0; k < 2; k++) {
        steps[own++] = und_multigrid_first(m, i->advance + 1 - k, 1 + k, i->fused[k], &now->not_fused[k]);
        steps[own++] = (und_step){
            .passes = i->advance + 1 - k, .count = 1 + k, .chain = true, .unless = &now->not_last[k]};
        for (int at = own - 2; at < own && k == 1; at++) { /* those that make p */
            steps[at].halo = i->z;
            steps[at].halos = 2;
        }
    }
    steps[own++] = (und_step){.passes = &i->look, .count = 1, .halo = &i->bits, .halos = 1};
    steps[own++] = und_multigrid_first(m, NULL, 0, i->down, &now->not_down);
    return own + und_multigrid_rest(m, steps + own, &now->over);
}

static void begin_iterations(iterations *i, und_system *s, int max_iterations, int count)
{
    static const und_set one = {.blocks = 1};
    const und_multigrid *m = &s->m;
    const und_level *level = &m->level[0];
    const double residual = largest_of(s, s->slice_bits);
    *s->now = (und_iteration){.residual = residual,
                              .before = residual,
                              .scale = 1 / residual,
                              .tolerance = s->tolerance,
                              .count = count,
                              .most = max_iterations};
    i->s = s;
    i->args = args_of(s, s->slice_bits);
    i->decide = (und_decide_args){.now = s->now,
                                  .product = m->slice_product,
                                  .energy = m->slice_energy,
                                  .bits = s->slice_bits,
                                  .slices = level->n[2],
                                  .low = (unsigned)level->low[2] + 1,
                                  .room = (unsigned)s->room,
                                  .tree = {s->tree, s->tree + s->room},
                                  .largest = level->largest};
    i->reckon = UND_PASS(und_reckon, &i->decide, &one);
    i->aim = UND_PASS(und_aim, &i->decide, &one);
    i->look = UND_PASS(und_look, &i->decide, &one);
    i->advance[0] = UND_PASS(und_direct, &i->args, &s->set);
    i->advance[1] = UND_PASS(und_advance, &i->args, &s->set);
    und_multigrid_sums_halo(m, i->sums);
    i->bits = und_level_sums(level, s->slice_bits, sizeof *s->slice_bits);
    for (int c = 0; c < 2; c++)
        i->z[c] = und_level_halo(level, level->x[c], sizeof(float), reach_of_r(s) + 1);
}

/* A card gains nothing by chains, and loses by launches: what comes next is asked for here. */
static int decide_on_card(iterations *i, und_step *steps)
{
    const und_iteration *now = i->s->now;
    steps[0] = (und_step){.passes = &i->reckon, .count = 1};
    steps[1] =
        und_multigrid_energy(&i->s->m, i->advance, i->s->p, &i->energy_args, i->energy, &now->not_directed);
    steps[2] = (und_step){.passes = &i->aim, .count = 1};
    steps[3] = (und_step){.passes = i->advance, .count = 1, .unless = &now->not_turned};
    steps[4] = (und_step){.passes = i->advance + 1, .count = 1, .unless = &now->over};
    steps[5] = (und_step){.passes = &i->look, .count = 1};
    return 6;
}
static void iterate_on_card(iterations *i, const und_pass *residual)
{
    const und_multigrid *m = &i->s->m;
    for (int begun = 0; !i->s->now->over; begun = 1) {
        int steps = 1;
        i->steps[0] = und_multigrid_first(m, residual, begun ? 0 : 1, i->first, NULL);
        steps += und_multigrid_rest(m, i->steps + steps, NULL);
        steps += decide_on_card(i, i->steps + steps);
        und_pass_steps(&m->device, i->steps, steps);
    }
}

/* Conjugate gradients until the residual that is carried along is below the tolerance.  What it was made from
 * is kept by r, x and p; directions are stored in float, but what they do to x and r is the same. */
static void iterate(und_system *s, int max_iterations, int *count)
{
    const und_multigrid *m = &s->m;
    iterations own, *const i = &own;
    begin_iterations(i, s, max_iterations, *count);
    const und_pass residual = UND_PASS(und_give_residual, &i->args, &s->set);
    if (m->device.card)
        iterate_on_card(i, &residual);
    for (bool begun = false; !s->now->over; begun = true) {
        int steps = 0;
        if (!begun) {
            i->steps[steps++] = und_multigrid_first(m, &residual, 1, i->first, NULL);
            steps += und_multigrid_rest(m, i->steps + steps, NULL);
        }
        for (int k = 0; k < AT_ONCE; k++)
            steps += plan_iteration(i, i->steps + steps);
        und_pass_steps(&m->device, i->steps, steps);
    }
    *count = s->now->count;
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
    s->now->scale = s->unit = 1;
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
    s->components.closed = *s->components.counted;
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

void und_system_lift(und_system *s, double *x)
{
    const und_halo_field all = und_halo_of(&s->mac, x, sizeof *x, UND_HALO_ALL);
    und_halo_get(s->m.device.halo, &all, s->components.closed > 0);
    und_components_lift(&s->components, x, first_of(s), s->step);
}
