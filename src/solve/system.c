#include "solve/system.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "solve/cell_packs.h"
#include "solve/multigrid_kernel.h"
#include "solve/slices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

und_status und_system_open(und_system *s, const und_mac *mac, int threads, und_error *err)
{
    bool flat = mac->whole[2] == 1;
    int n[3];
    double weight[3];
    *s = (und_system){.mac = *mac};
    for (int a = 0; a < 3; a++) {
        s->axis[a] = flat && a > 0 ? 3 - a : a;
        s->step[a] = mac->step[s->axis[a]];
        n[a] = mac->whole[s->axis[a]];
        weight[a] = 1 / (mac->d[s->axis[a]] * mac->d[s->axis[a]]);
    }
    if (und_multigrid_open(&s->m, n, weight, threads, err) != UND_OK ||
        und_components_open(&s->components, &s->m.level[0], err) != UND_OK)
        return err->status;
    const und_level *level = &s->m.level[0];
    size_t slices = (size_t)level->n[2];
    for (int c = 0; c < 2; c++)
        if (!(s->r[c] = und_pages_alloc(level->count * sizeof *s->r[c], "residuals", err)) ||
            !(s->x[c] = und_pages_alloc(level->count * sizeof *s->x[c], "the pressure", err)) ||
            !(s->p[c] = und_pages_alloc(level->count * sizeof *s->p[c], "search directions", err)))
            return err->status;
    if (!(s->slice_sum = und_alloc(slices, sizeof *s->slice_sum, "slices of the pressure's system", err)) ||
        !(s->slice_bits = und_alloc(slices, sizeof *s->slice_bits, "slices of the pressure's system", err)))
        return err->status;
    return UND_OK;
}

void und_system_window(und_system *s, const und_mac *mac)
{
    s->mac = *mac;
    for (int a = 0; a < 3; a++)
        s->step[a] = mac->step[s->axis[a]];
}

void und_system_close(und_system *s)
{
    und_multigrid_close(&s->m);
    und_components_close(&s->components);
    for (int c = 0; c < 2; c++) {
        und_pages_free(s->r[c]);
        und_pages_free(s->x[c]);
        und_pages_free(s->p[c]);
    }
    free(s->slice_sum);
    free(s->slice_bits);
}

/* x and p are 0 behind each stretch of packs. */
static void clear_gaps(und_system *s, int z)
{
    const und_level *level = &s->m.level[0];
    und_cell_packs in = und_level_slice(level, z);
    for (const und_cell_pack *e = in.begin; e < in.end; e++)
        for (int c = 0; c < 2 && und_level_is_last(level, e, z); c++) {
            memset(s->x[c] + und_cell_pack_at(e) + UND_CELL_PACK, 0, UND_CELL_PACK * sizeof *s->x[c]);
            memset(s->p[c] + und_cell_pack_at(e) + UND_CELL_PACK, 0, UND_CELL_PACK * sizeof *s->p[c]);
        }
}

void und_system_set(und_system *s, const double full[3], const und_sides *sides)
{
    const double own[3] = {full[s->axis[0]], full[s->axis[1]], full[s->axis[2]]};
    und_multigrid_set(&s->m, own, sides);
    und_components_set(&s->components);
    PARALLEL_FOR(s->m.level[0].threads)
    for (int z = 0; z < s->m.level[0].n[2]; z++)
        clear_gaps(s, z);
}

/* Each pack of some kinds in a slice. */
#define EACH_PACK(e, s, first, last, z)                                                                      \
    for (und_cell_packs in_ = und_level_list(&(s)->m.level[0], first, last, z); in_.begin; in_.begin = NULL) \
        for (const und_cell_pack *e = in_.begin; e < in_.end; e++)
#define EACH_OF_SLICE(e, s, z) EACH_PACK(e, s, UND_CELL_PACK_WHOLE, UND_CELL_PACK_CUT, z)

/* Four sums of weighted neighbours, as UND_PLAIN_SUM, of floats or doubles as READ has it, in double. */
#define SUM_FOUR(READ, w, v, at, beside, offset)                              \
    ((w)[0] * (READ((v) + (at) + (offset)-1) + READ((v) + (at) + (offset))) + \
     (w)[1] * (READ((v) + (beside)[0]) + READ((v) + (beside)[1])) +           \
     (w)[2] * (READ((v) + (beside)[2]) + READ((v) + (beside)[3])))

/* The same with stored weights k[], which are over the largest. */
#define CUT_SUM_FOUR(READ, most, k, v, at, beside, offset)                                                \
    ((most) *                                                                                             \
     ((UND_D4_OF(k) * READ((v) + (at) + (offset)-1) + UND_D4_OF((k) + 8) * READ((v) + (at) + (offset))) + \
      (UND_D4_OF((k) + 16) * READ((v) + (beside)[0]) + UND_D4_OF((k) + 24) * READ((v) + (beside)[1])) +   \
      (UND_D4_OF((k) + 32) * READ((v) + (beside)[2]) + UND_D4_OF((k) + 40) * READ((v) + (beside)[3]))))

/* Zero where a cell is not unknown, and where no side of it is open: there nothing is to be solved. */
#define WHERE_SOLVED(v, diagonal) ((und_d4)((und_i4)(v) & ((diagonal) > 0)))

static inline int64_t magnitude_bits(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & INT64_MAX;
}

static double largest_residual(const und_system *s)
{
    int64_t bits = 0;
    double largest;
    for (int z = 0; z < s->m.level[0].n[2]; z++)
        bits = s->slice_bits[z] > bits ? s->slice_bits[z] : bits;
    memcpy(&largest, &bits, sizeof largest);
    return largest;
}

static size_t grid_index(const und_system *s, const und_cell_pack *e, int z)
{
    return und_system_at(s, 2 * UND_CELL_PACK * e->k, e->y, z);
}

/* A pack's cells in the grid's order into its two colours, 0 where they are not unknown. */
#define SPLIT_PACK(from, bits, even, odd)                              \
    do {                                                               \
        for (int i_ = 0; i_ < UND_CELL_PACK; i_++) {                   \
            (even)[i_] = (bits) >> 2 * i_ & 1 ? (from)[2 * i_] : 0;    \
            (odd)[i_] = (bits) >> 2 * i_ & 2 ? (from)[2 * i_ + 1] : 0; \
        }                                                              \
    } while (0)

static void take_x(und_system *s, const double *x, int z)
{
    EACH_OF_SLICE(e, s, z)
    {
        const double *restrict from = x + grid_index(s, e, z);
        unsigned bits = und_level_unknown(&s->m.level[0], e->y, z, e->k), first = e->at & 1;
        double *restrict even = s->x[first] + und_cell_pack_at(e), *restrict odd =
                                                                       s->x[1 - first] + und_cell_pack_at(e);
        SPLIT_PACK(from, bits, even, odd);
    }
}

static void give_x(const und_system *s, double *x, int z)
{
    EACH_OF_SLICE(e, s, z)
    {
        unsigned bits = und_level_unknown(&s->m.level[0], e->y, z, e->k), first = e->at & 1;
        const double *even = s->x[first] + und_cell_pack_at(e), *odd = s->x[1 - first] + und_cell_pack_at(e);
        double *restrict to = x + grid_index(s, e, z);
        if (bits == 0xffff)
            for (int i = 0; i < UND_CELL_PACK; i++) {
                to[2 * i] = even[i];
                to[2 * i + 1] = odd[i];
            }
        for (int i = 0; i < 2 * UND_CELL_PACK && bits != 0xffff; i++)
            if (bits >> i & 1)
                to[i] = (i & 1 ? odd : even)[i / 2];
    }
}

/* r = b, 0 where no cell is unknown. */
static void take_b(und_system *s, const und_cell_pack *e, int z)
{
    unsigned bits = und_level_unknown(&s->m.level[0], e->y, z, e->k), first = e->at & 1;
    double *restrict even = s->r[first] + und_cell_pack_at(e), *restrict odd =
                                                                   s->r[1 - first] + und_cell_pack_at(e);
    size_t at = grid_index(s, e, z);
    if (s->b)
        SPLIT_PACK(s->b + at, bits, even, odd);
    else
        SPLIT_PACK(s->b_double + at, bits, even, odd);
}

static void measure(und_system *s, int z)
{
    int64_t bits = 0;
    EACH_OF_SLICE(e, s, z)
    for (int c = 0; c < 2; c++) {
        const double *r = s->r[c] + und_cell_pack_at(e);
        for (int q = 0; q < UND_CELL_PACK; q++) {
            int64_t here = magnitude_bits(r[q]);
            bits = here > bits ? here : bits;
        }
    }
    s->slice_bits[z] = bits;
}

/* The largest |r|, after its mean was taken out of closed parts; `unfit`: the largest of those, may be NULL.
 */
static double measure_fit(und_system *s, double *unfit)
{
    const und_level *level = &s->m.level[0];
    double mean = und_components_take_mean(&s->components, s->r);
    if (unfit)
        *unfit = mean;
    PARALLEL_FOR(level->threads)
    for (int z = 0; z < level->n[2]; z++)
        measure(s, z);
    return largest_residual(s);
}

/* A v of four of a pack's cells of one colour; v: float or double as READ has it.  The compiler makes a
 * loop of its own for each kind. */
#define APPLY_FOUR(READ, level, kind, e, colour, half, own, other, out)                                      \
    do {                                                                                                     \
        size_t offset_ = ((e)->at ^ (unsigned)(colour)) & 1, at_ = und_cell_pack_at(e) + 4 * (size_t)(half); \
        const float *k_ = und_coefficients(level, colour, e) + 4 * (half);                                   \
        const uint32_t *beside_ = (e)->beside;                                                               \
        und_d4 sum_ = (kind) == UND_CELL_PACK_CUT                                                            \
                          ? CUT_SUM_FOUR(READ, (level)->largest, k_, (other) + 4 * (half),                   \
                                         und_cell_pack_at(e), beside_, offset_)                              \
                          : SUM_FOUR(READ, (level)->full, (other) + 4 * (half), und_cell_pack_at(e),         \
                                     beside_, offset_);                                                      \
        if ((kind) == UND_CELL_PACK_WHOLE)                                                                   \
            (out) = (level)->full_diagonal * READ((own) + at_) - sum_;                                       \
        else                                                                                                 \
            (out) = WHERE_SOLVED(UND_D4((level)->diagonal[colour] + at_) * READ((own) + at_) - sum_,         \
                                 UND_D4((level)->diagonal[colour] + at_));                                   \
    } while (0)

ALWAYS_INLINE void subtract(und_system *s, int z, int kind)
{
    const und_level *level = &s->m.level[0];
    EACH_PACK(e, s, kind, kind, z)
    {
        take_b(s, e, z);
        for (int c = 0; c < 2; c++)
            for (int half = 0; half < 2; half++) {
                double *r = s->r[c] + und_cell_pack_at(e) + 4 * half;
                und_d4 part;
                APPLY_FOUR(UND_D4, level, kind, e, c, half, s->x[c], s->x[1 - c], part);
                UND_SET_D4(r) = UND_D4(r) - part;
            }
    }
}

/* The largest of r = b - A x. */
static double true_residual(und_system *s)
{
    const und_level *level = &s->m.level[0];
    PARALLEL_FOR(level->threads)
    for (int z = 0; z < level->n[2]; z++) {
        subtract(s, z, UND_CELL_PACK_WHOLE);
        subtract(s, z, UND_CELL_PACK_PLAIN);
        subtract(s, z, UND_CELL_PACK_CUT);
        measure(s, z);
    }
    return s->components.closed ? measure_fit(s, NULL) : largest_residual(s);
}

/* What the preconditioner is given: r, scaled so that floats can hold it. */
static void give_residual(void *context, int z)
{
    und_system *s = context;
    EACH_OF_SLICE(e, s, z)
    for (int c = 0; c < 2; c++) {
        const double *restrict r = s->r[c] + und_cell_pack_at(e);
        float *restrict b = s->m.level[0].b[c] + und_cell_pack_at(e);
        for (int q = 0; q < UND_CELL_PACK; q++)
            b[q] = (float)(s->scale * r[q]);
    }
}

ALWAYS_INLINE void advance_packs(und_system *s, int z, int kind, und_i4 *bits)
{
    const und_level *level = &s->m.level[0];
    const double alpha = s->alpha, scale = s->scale;
    const und_i4 magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    und_i4 largest = *bits;
    EACH_PACK(e, s, kind, kind, z)
    for (int c = 0; c < 2; c++)
        for (int half = 0; half < 2; half++) {
            size_t at = und_cell_pack_at(e) + 4 * (size_t)half;
            double *r = s->r[c] + at, *x = s->x[c] + at;
            und_d4 part;
            APPLY_FOUR(UND_D4_OF, level, kind, e, c, half, s->p[c], s->p[1 - c], part);
            und_d4 left = UND_D4(r) - alpha * part;
            UND_SET_D4(x) = UND_D4(x) + alpha * UND_D4_OF(s->p[c] + at);
            UND_SET_D4(r) = left;
            UND_SET_F4(level->b[c] + at) = __builtin_convertvector(scale * left, und_f4);
            und_i4 here = (und_i4)left & magnitude, more = here > largest;
            largest = (here & more) | (largest & ~more);
        }
    *bits = largest;
}

/* x += alpha p, r -= alpha A p, and r to the preconditioner. */
static void advance(void *context, int z)
{
    und_system *s = context;
    und_i4 bits = {0};
    advance_packs(s, z, UND_CELL_PACK_WHOLE, &bits);
    advance_packs(s, z, UND_CELL_PACK_PLAIN, &bits);
    advance_packs(s, z, UND_CELL_PACK_CUT, &bits);
    s->slice_bits[z] = 0;
    for (int i = 0; i < 4; i++)
        s->slice_bits[z] = bits[i] > s->slice_bits[z] ? bits[i] : s->slice_bits[z];
}

/* p A p of whole cells, in float and over the largest weight.  It is taken from differences, which lose no
 * digits, and a step that is a little too long or short does no harm. */
static double energy_of_whole(const und_system *s, int z)
{
    const und_level *level = &s->m.level[0];
    const float w[3] = {level->weight[0], level->weight[1], level->weight[2]};
    double sum = 0;
    EACH_PACK(e, s, UND_CELL_PACK_WHOLE, UND_CELL_PACK_WHOLE, z)
    {
        und_f8 total = {0};
        for (int c = 0; c < 2; c++) {
            size_t at = und_cell_pack_at(e), offset = (e->at ^ (unsigned)c) & 1;
            const float *v = s->p[1 - c];
            und_f8 p = UND_F8(s->p[c] + at);
            total += p * (w[0] * ((p - UND_F8(v + at + offset - 1)) + (p - UND_F8(v + at + offset))) +
                          w[1] * ((p - UND_F8(v + e->beside[0])) + (p - UND_F8(v + e->beside[1]))) +
                          w[2] * ((p - UND_F8(v + e->beside[2])) + (p - UND_F8(v + e->beside[3]))));
        }
        sum += und_f8_sum(&total);
    }
    return sum;
}

/* The same of others, in double. */
ALWAYS_INLINE double energy_of(const und_system *s, int z, int kind)
{
    const und_level *level = &s->m.level[0];
    und_d4 sum = {0};
    EACH_PACK(e, s, kind, kind, z)
    for (int c = 0; c < 2; c++)
        for (int half = 0; half < 2; half++) {
            und_d4 part;
            APPLY_FOUR(UND_D4_OF, level, kind, e, c, half, s->p[c], s->p[1 - c], part);
            sum += UND_D4_OF(s->p[c] + und_cell_pack_at(e) + 4 * half) * part;
        }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Stage 0: p = z + beta p, where z is what the preconditioner gave; stage 1: p A p. */
static void direct(void *context, int stage, int z)
{
    und_system *s = context;
    const und_level *level = &s->m.level[0];
    const float beta = (float)s->beta;
    if (stage == 1) {
        s->slice_sum[z] = level->largest * energy_of_whole(s, z) + energy_of(s, z, UND_CELL_PACK_PLAIN) +
                          energy_of(s, z, UND_CELL_PACK_CUT);
        return;
    }
    EACH_OF_SLICE(e, s, z)
    for (int c = 0; c < 2; c++) {
        float *p = s->p[c] + und_cell_pack_at(e);
        const float *given = level->x[c] + und_cell_pack_at(e);
        if (beta == 0) /* what was there before may be no number */
            UND_SET_F8(p) = UND_F8(given);
        else
            UND_SET_F8(p) = UND_F8(given) + beta * UND_F8(p);
    }
}

/* Conjugate gradients until the residual that is carried along is below the tolerance.  What it was made from
 * is kept by r, x and p; directions are stored in float, but what they do to x and r is the same. */
static void iterate(und_system *s, double tolerance, int max_iterations, int *iterations)
{
    const und_level *level = &s->m.level[0];
    double before = 0;
    s->scale = 1 / largest_residual(s);
    s->beta = 0;
    und_multigrid_begin(&s->m, give_residual, s);
    while (*iterations < max_iterations) {
        double product = und_multigrid_finish(&s->m), energy = 0;
        if (!(product > 0))
            return;
        s->beta = before > 0 ? product / before : 0;
        before = product;
        und_slices_run(direct, s, 2, level->n[2], level->threads);
        for (int z = 0; z < level->n[2]; z++)
            energy += s->slice_sum[z];
        if (!(energy > 0) || !isfinite(product / energy))
            return;
        s->alpha = product / energy / s->scale;
        und_multigrid_begin(&s->m, advance, s);
        ++*iterations;
        if (!(largest_residual(s) >= tolerance))
            return;
    }
}

void und_system_precondition(und_system *s, const double *r, double *z)
{
    const und_level *level = &s->m.level[0];
    s->scale = 1;
    s->b = NULL;
    s->b_double = r;
    for (int slice = 0; slice < level->n[2]; slice++)
        EACH_OF_SLICE(e, s, slice)
    take_b(s, e, slice);
    und_multigrid_begin(&s->m, give_residual, s);
    und_multigrid_finish(&s->m);
    for (int slice = 0; slice < level->n[2]; slice++) {
        EACH_OF_SLICE(e, s, slice)
        for (int c = 0; c < 2; c++)
            for (size_t i = und_cell_pack_at(e); i < und_cell_pack_at(e) + UND_CELL_PACK; i++)
                s->x[c][i] = (double)level->x[c][i];
        give_x(s, z, slice);
    }
    s->b_double = NULL;
}

/* r = b and x = 0, or the x given. */
static void start(und_system *s, const double *x, bool warm, int z)
{
    EACH_OF_SLICE(e, s, z)
    {
        take_b(s, e, z);
        for (int c = 0; c < 2 && !warm; c++)
            memset(s->x[c] + und_cell_pack_at(e), 0, UND_CELL_PACK * sizeof(double));
    }
    if (warm)
        take_x(s, x, z);
    measure(s, z);
}

und_system_report und_system_solve(und_system *s, double *x, bool warm, double tolerance, double relative,
                                   int max_iterations)
{
    const und_level *level = &s->m.level[0];
    und_system_report report = {0};
    double before = INFINITY;
    /* Of r, which is double as x is and gets what the same p does to x: it strays from b - A x by roundings
     * alone, 1e-16 of x, which may be the square of the grid's cells across times b. */
    const double drift = 1e-9;
    PARALLEL_FOR(level->threads)
    for (int z = 0; z < level->n[2]; z++)
        start(s, x, warm, z);
    report.largest = report.residual = largest_residual(s);
    if (s->components.closed)
        report.residual = measure_fit(s, &report.unfit);
    if (warm)
        report.residual = true_residual(s);
    bool finite = isfinite(report.residual) && isfinite(report.largest);
    tolerance += relative * report.largest;
    /* The residual carried along may be smaller than the true one: then again from that, while it helps. */
    while (report.residual >= tolerance && report.residual > 0 && report.residual < 0.9 * before &&
           report.iterations < max_iterations) {
        before = report.residual;
        iterate(s, tolerance, max_iterations, &report.iterations);
        report.residual = tolerance > drift * report.largest ? largest_residual(s) : true_residual(s);
    }
    report.converged = finite && (report.residual < tolerance || report.residual == 0);
    if (finite) {
        und_components_take_mean(&s->components, s->x);
        PARALLEL_FOR(level->threads)
        for (int z = 0; z < level->n[2]; z++)
            give_x(s, x, z);
    }
    s->b = NULL;
    s->b_double = NULL;
    return report;
}
