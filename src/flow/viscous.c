/* The viscous step's system, by conjugate gradients preconditioned by multigrid on each component. */
#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "flow/viscous_parts.h"

#include <math.h>
#include <stdlib.h>

/* A change of velocities below this part of the fastest is rounding. */
static const double ROUNDING = 1e-7;
/* Of the split solver.  A stiff shear flow keeps 1 - 1 / share of its strain in a step and a pure strain
 * 1 - 2 / share: 1 is as printed, where the second turns around each step and never ends; with 1.5 both are a
 * third. */
static const float OWN_SHARE = 1.5f;

/* ---- Storage ---- */

static bool open_component(und_viscous *v, const und_mac *mac, int a, und_error *err)
{
    static const char *const what = "the viscosity's system";
    const size_t n = mac->count;
    double **const doubles[] = {&v->x[a], &v->r[a], &v->p[a], &v->q[a]};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++)
        if (!(*doubles[i] = und_pages_alloc(n * sizeof(double), what, err)))
            return false;
    return (v->kind[a] = und_pages_alloc(n, what, err)) &&
           (v->mass[a] = und_pages_alloc(n * sizeof(float), what, err)) &&
           (v->weight[a] = und_pages_alloc(n * sizeof(float), what, err)) &&
           (v->coupled || (v->base[a] = und_pages_alloc(n * sizeof(float), what, err))) &&
           und_mask_open(&v->unknown[a], mac, what, err) == UND_OK &&
           (v->level[a] = und_pressure_create(mac, v->threads, NULL, err));
}

static int blocks_of(const und_mac *m)
{
    return (und_mac_rows(m) + UND_VISCOUS_ROWS - 1) / UND_VISCOUS_ROWS;
}

static bool open_all(und_viscous *v, const und_mac *mac, und_error *err)
{
    static const char *const what = "the viscosity's system";
    const size_t bytes = mac->count * sizeof(float);
    for (int a = 0; a < v->axes; a++)
        if (!open_component(v, mac, a, err))
            return false;
    for (int c = v->axes == 3 ? 0 : 2; c < 3; c++)
        for (int k = 0; k < 2; k++)
            if (!(v->edge[c][k] = und_pages_alloc(bytes, what, err)))
                return false;
    if (v->axes == 2 && !(v->weight[2] = und_pages_alloc(bytes, what, err)))
        return false;
    return (v->inverse = und_pages_alloc(bytes, what, err)) &&
           (v->cell = und_pages_alloc(bytes, what, err)) && (v->known = und_pages_alloc(bytes, what, err)) &&
           (v->block_sum = und_alloc((size_t)blocks_of(mac), sizeof(double), what, err)) &&
           (v->block_most = und_alloc((size_t)blocks_of(mac), sizeof(double), what, err));
}

und_viscous *und_viscous_create(const und_mac *mac, bool coupled, int threads, und_error *err)
{
    und_viscous *v = und_alloc(1, sizeof *v, "the viscosity's system", err);
    if (!v)
        return NULL;
    v->mac = *mac;
    v->threads = threads;
    v->axes = mac->n[2] == 1 ? 2 : 3;
    v->coupled = coupled;
    v->own_share = coupled ? 1 : OWN_SHARE;
    if (!open_all(v, mac, err)) {
        und_viscous_destroy(v);
        return NULL;
    }
    return v;
}

void und_viscous_destroy(und_viscous *v)
{
    if (!v)
        return;
    for (int a = 0; a < 3; a++) {
        void *const pages[] = {v->x[a],    v->r[a],      v->p[a],       v->q[a],       v->kind[a],
                               v->mass[a], v->weight[a], v->edge[a][0], v->edge[a][1], v->base[a]};
        for (size_t i = 0; i < sizeof pages / sizeof *pages; i++)
            und_pages_free(pages[i]);
        und_mask_close(&v->unknown[a]);
        und_pressure_destroy(v->level[a]);
    }
    und_pages_free(v->inverse);
    und_pages_free(v->cell);
    und_pages_free(v->known);
    free(v->block_sum);
    free(v->block_most);
    free(v);
}

/* ---- Passes over the unknown faces ---- */

/* Work on faces [begin, end) of a component in a row; gives what is summed, and the largest of what is
 * looked at into most. */
typedef double pass_fn(und_viscous *v, const void *context, int axis, size_t row, int begin, int end,
                       double *most);

typedef struct total {
    double sum, most;
} total;

static double run_row(und_viscous *v, pass_fn *fn, const void *context, int row, double *most)
{
    const und_mac *m = &v->mac;
    double sum = 0;
    for (int a = 0; a < v->axes; a++)
        for (int begin, end = -1;
             und_mask_stretch(&v->unknown[a], row % m->n[1], row / m->n[1], end, &begin, &end);)
            sum += fn(v, context, a, und_mac_row(m, row), begin, end, most);
    return sum;
}

static total run(und_viscous *v, pass_fn *fn, const void *context)
{
    const int rows = und_mac_rows(&v->mac), blocks = blocks_of(&v->mac);
    int threads = und_workers(v->threads, v->mac.count, UND_VISCOUS_CELLS_TO_SHARE);
    PARALLEL_FOR(threads)
    for (int block = 0; block < blocks; block++) {
        double sum = 0, most = 0;
        for (int row = block * UND_VISCOUS_ROWS; row < rows && row < (block + 1) * UND_VISCOUS_ROWS; row++)
            sum += run_row(v, fn, context, row, &most);
        v->block_sum[block] = sum;
        v->block_most[block] = most;
    }
    total all = {0};
    for (int block = 0; block < blocks; block++) {
        all.sum += v->block_sum[block];
        all.most =
            v->block_most[block] > all.most || isnan(v->block_most[block]) ? v->block_most[block] : all.most;
    }
    return all;
}

static inline void note(double value, double *most)
{
    double size = fabs(value);
    *most = size > *most || isnan(size) ? size : *most;
}

/* ---- Passes ---- */

static und_viscous_args args_of(const und_viscous *v)
{
    und_viscous_args args = {.mac = v->mac,
                             .axes = v->axes,
                             .coupled = v->coupled,
                             .own_share = v->own_share,
                             .cell = v->cell,
                             .known = v->known};
    for (int a = 0; a < 3; a++) {
        args.kind[a] = v->kind[a];
        args.mass[a] = v->mass[a];
        args.edge[a][0] = v->edge[a][0];
        args.edge[a][1] = v->edge[a][1];
        args.x[a] = v->x[a];
        args.r[a] = v->r[a];
        args.p[a] = v->p[a];
        args.q[a] = v->q[a];
        args.weight[a] = v->weight[a];
        args.base[a] = v->base[a];
    }
    return args;
}

/* At faces of all components. */
static void pass(const und_viscous *v, const und_mask faces[3], const und_kernel kernel[3],
                 const und_viscous_args *args)
{
    und_set sets[3];
    und_pass passes[3];
    for (int a = 0; a < v->axes; a++) {
        sets[a] = und_set_cells(&v->mac, UND_ROWS_INSIDE, &faces[a]);
        passes[a] = (und_pass){&kernel[a], args, &sets[a]};
    }
    und_pass_run(&(und_device){v->threads}, passes, v->axes);
}

/* Sums p q. */
static double energy(und_viscous *v, const void *context, int axis, size_t row, int begin, int end,
                     double *most)
{
    (void)context, (void)most;
    const double *p = v->p[axis] + row, *q = v->q[axis] + row;
    double sum = 0;
    for (int x = begin; x < end; x++)
        sum += p[x] * q[x];
    return sum;
}

/* ---- Its preconditioner ---- */

/* The largest weight of a component. */
static double find_largest(und_viscous *v, const void *context, int axis, size_t row, int begin, int end,
                           double *most)
{
    (void)context;
    for (int x = begin; x < end; x++) {
        size_t i = row + (size_t)x;
        note((double)v->cell[i], most);
        note((double)v->cell[i + (size_t)v->mac.step[axis]], most);
        for (int b = 0; b < v->axes; b++)
            if (b != axis) {
                const float *own = v->edge[3 - axis - b][axis > b];
                note((double)(own[i] * own[i]), most);
            }
    }
    return 0;
}

static void set_preconditioner(und_viscous *v)
{
    const double largest = fmax(1, run(v, find_largest, NULL).most);
    und_viscous_args args = args_of(v);
    args.divide = (float)(1 / largest);
    for (int a = 0; a < v->axes; a++) {
        const und_set faces = und_set_cells(&v->mac, UND_ROWS_INSIDE, &v->unknown[a]);
        und_pass_run(&(und_device){v->threads}, &UND_PASS_AXIS(und_viscous_sides, a, &args, &faces), 1);
        und_pressure_set(v->level[a], &v->unknown[a], (const float *const *)v->weight, v->known);
        v->scale[a] = 1 / largest;
    }
}

/* q = P r, up to the scale; sums r q and finds the largest q. */
static double take_product(und_viscous *v, const void *context, int axis, size_t row, int begin, int end,
                           double *most)
{
    (void)context;
    const double *r = v->r[axis] + row, scale = v->scale[axis];
    double *q = v->q[axis] + row, sum = 0;
    for (int x = begin; x < end; x++) {
        q[x] *= scale;
        sum += r[x] * q[x];
        note(q[x], most);
    }
    return sum;
}

static total precondition(und_viscous *v)
{
    for (int a = 0; a < v->axes; a++)
        und_pressure_precondition(v->level[a], v->r[a], v->q[a]);
    return run(v, take_product, NULL);
}

/* ---- Conjugate gradients ---- */

/* The change of velocities, into x.  It ends where the preconditioner finds but little left to change. */
static und_mac_flow_report solve(und_viscous *v, double fastest, double tolerance, int max_iterations)
{
    und_mac_flow_report report = {.converged = true};
    und_viscous_args turn = args_of(v), advance = turn;
    total left = precondition(v);
    double first = left.most, enough = fmax(tolerance * first, ROUNDING * fastest);
    while (left.most > enough && report.iterations < max_iterations && left.sum > 0) {
        pass(v, v->unknown, und_viscous_turn_kernel, &turn);
        pass(v, v->unknown, und_viscous_apply_kernel, &turn);
        const double done = run(v, energy, NULL).sum;
        advance.factor = left.sum / done;
        if (!(done > 0) || !isfinite(advance.factor))
            break;
        pass(v, v->unknown, und_viscous_advance_kernel, &advance);
        report.iterations++;
        total next = precondition(v);
        turn.factor = next.sum / left.sum;
        left = next;
    }
    report.residual = first > 0 ? left.most / first : first;
    report.converged = left.most <= enough;
    return report;
}

/* ---- The step ---- */

static double find_fastest(und_viscous *v, const void *context, int axis, size_t row, int begin, int end,
                           double *most)
{
    const und_viscous_flow *f = context;
    (void)v;
    for (int x = begin; x < end; x++)
        note((double)f->flow->u[axis][row + (size_t)x], most);
    return 0;
}

void und_viscous_keep(und_viscous *v, const und_mac_flow *flow)
{
    und_viscous_args args = args_of(v);
    if (v->coupled)
        return;
    for (int a = 0; a < 3; a++)
        args.u[a] = flow->u[a];
    pass(v, flow->flows, und_viscous_keep_base_kernel, &args);
}

und_mac_flow_report und_viscous_step(und_viscous *v, const und_viscous_flow *flow)
{
    und_viscous_args args = args_of(v), force = args;
    for (int a = 0; a < 3; a++) {
        args.u[a] = flow->flow->u[a];
        force.u[a] = v->coupled ? flow->flow->u[a] : v->base[a];
        force.solid_u[a] = flow->solids->u[a];
    }
    und_viscous_set_weights(v, flow);
    pass(v, v->unknown, und_viscous_force_face_kernel, &force);
    set_preconditioner(v);
    if (!v->coupled) {
        pass(v, v->unknown, und_viscous_guess_kernel, &args);
        pass(v, v->unknown, und_viscous_apply_kernel, &args);
        pass(v, v->unknown, und_viscous_take_guess_kernel, &args);
    }
    double fastest = run(v, find_fastest, flow).most;
    und_mac_flow_report report = solve(v, fastest, flow->tolerance, flow->max_iterations);
    pass(v, v->unknown, und_viscous_give_kernel, &args);
    und_viscous_follow_border(v, flow);
    return report;
}
