#include "solve/system.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "grid/slices.h"
#include "solve/cell_packs.h"
#include "solve/multigrid_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

und_status und_system_open(und_system *s, const und_mac *mac, int threads, und_error *err)
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
    if (und_multigrid_open(&s->m, &box, weight, threads, err) != UND_OK ||
        und_components_open(&s->components, &s->m.level[0], err) != UND_OK)
        return err->status;
    const und_level *level = &s->m.level[0];
    for (int a = 0; a < 3; a++)
        s->before[a] = box.low[a] - level->low[a];
    size_t slices = (size_t)level->n[2];
    for (int c = 0; c < 2; c++)
        if (!(s->r[c] = und_pages_alloc(level->count * sizeof *s->r[c], "residuals", err)) ||
            !(s->x[c] = und_pages_alloc(level->count * sizeof *s->x[c], "the pressure", err)) ||
            !(s->p[c] = und_pages_alloc(level->count * sizeof *s->p[c], "search directions", err)))
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
    for (int c = 0; c < 2; c++) {
        und_pages_free(s->r[c]);
        und_pages_free(s->x[c]);
        und_pages_free(s->p[c]);
    }
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

static double largest_of(const und_system *s, const int64_t *slice_bits)
{
    int64_t bits = 0;
    double largest;
    for (int z = 0; z < s->m.level[0].n[2]; z++)
        bits = slice_bits[z] > bits ? slice_bits[z] : bits;
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
    const double unit = s->unit;
    EACH_OF_SLICE(e, s, z)
    {
        const double *restrict from = x + grid_index(s, e, z);
        unsigned bits = und_level_unknown(&s->m.level[0], e->y, z, e->k), first = e->at & 1;
        double *restrict even = s->x[first] + und_cell_pack_at(e), *restrict odd =
                                                                       s->x[1 - first] + und_cell_pack_at(e);
        SPLIT_PACK(from, bits, even, odd);
        for (int i = 0; i < UND_CELL_PACK; i++) {
            even[i] *= unit;
            odd[i] *= unit;
        }
    }
}

static void give_x(const und_system *s, double *x, int z)
{
    const double scale = 1 / s->unit;
    EACH_OF_SLICE(e, s, z)
    {
        const unsigned bits = und_level_unknown(&s->m.level[0], e->y, z, e->k), first = e->at & 1;
        const double *even = s->x[first] + und_cell_pack_at(e), *odd = s->x[1 - first] + und_cell_pack_at(e);
        double *restrict to = x + grid_index(s, e, z);
        if (bits == 0xffff)
            for (int i = 0; i < UND_CELL_PACK; i++) {
                to[2 * i] = scale * even[i];
                to[2 * i + 1] = scale * odd[i];
            }
        for (int i = 0; i < 2 * UND_CELL_PACK && bits != 0xffff; i++)
            if (bits >> i & 1)
                to[i] = scale * (i & 1 ? odd : even)[i / 2];
    }
}

static int64_t larger_of_pack(const double *r, int64_t bits)
{
    for (int q = 0; q < UND_CELL_PACK; q++) {
        int64_t here = magnitude_bits(r[q]);
        bits = here > bits ? here : bits;
    }
    return bits;
}

/* Sixteen floats of the grid into doubles of their two colours, 0 where bits are not set. */
static inline void split_floats(const float *from, unsigned bits, double *even, double *odd)
{
    const und_i8 bit = {1, 2, 4, 8, 16, 32, 64, 128}, own = (und_i8){0} + (int)bits;
    const und_f8 low = (und_f8)((und_i8)UND_F8(from) & ((own & bit) != 0));
    const und_f8 high = (und_f8)((und_i8)UND_F8(from + 8) & (((own >> 8) & bit) != 0));
    const und_f8 evens = __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
    const und_f8 odds = __builtin_shufflevector(low, high, 1, 3, 5, 7, 9, 11, 13, 15);
    for (int i = 0; i < UND_CELL_PACK; i++) {
        even[i] = (double)evens[i];
        odd[i] = (double)odds[i];
    }
}

/* r = b, 0 where no cell is unknown. */
static inline void take_b(und_system *s, const und_cell_pack *e, int z)
{
    unsigned bits = und_level_unknown(&s->m.level[0], e->y, z, e->k), first = e->at & 1;
    double *restrict even = s->r[first] + und_cell_pack_at(e), *restrict odd =
                                                                   s->r[1 - first] + und_cell_pack_at(e);
    size_t at = grid_index(s, e, z);
    if (s->b)
        split_floats(s->b + at, bits, even, odd);
    else
        SPLIT_PACK(s->b_double + at, bits, even, odd);
}

static void measure(und_system *s, int z)
{
    int64_t bits = 0;
    EACH_OF_SLICE(e, s, z)
    for (int c = 0; c < 2; c++)
        bits = larger_of_pack(s->r[c] + und_cell_pack_at(e), bits);
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
    return largest_of(s, s->slice_bits);
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
    int64_t bits = s->slice_bits[z];
    EACH_PACK(e, s, kind, kind, z)
    for (int c = 0; c < 2; c++) {
        double *r = s->r[c] + und_cell_pack_at(e);
        for (int half = 0; half < 2; half++) {
            und_d4 part;
            APPLY_FOUR(UND_D4, level, kind, e, c, half, s->x[c], s->x[1 - c], part);
            UND_SET_D4(r + 4 * half) = UND_D4(r + 4 * half) - part;
        }
        bits = larger_of_pack(r, bits);
    }
    s->slice_bits[z] = bits;
}

/* r, which is b, becomes b - A x; and the largest of it. */
static void find_residual(und_system *s, int z)
{
    s->slice_bits[z] = 0;
    subtract(s, z, UND_CELL_PACK_WHOLE);
    subtract(s, z, UND_CELL_PACK_PLAIN);
    subtract(s, z, UND_CELL_PACK_CUT);
}

/* The largest of r = b - A x. */
static double true_residual(und_system *s)
{
    const und_level *level = &s->m.level[0];
    PARALLEL_FOR(level->threads)
    for (int z = 0; z < level->n[2]; z++) {
        EACH_OF_SLICE(e, s, z)
        take_b(s, e, z);
        find_residual(s, z);
    }
    return s->components.closed ? measure_fit(s, NULL) : largest_of(s, s->slice_bits);
}

/* What the preconditioner is given: r, scaled so that floats can hold it. */
static void give_residual(void *context, int stage, int z)
{
    und_system *s = context;
    (void)stage;
    EACH_OF_SLICE(e, s, z)
    for (int c = 0; c < 2; c++) {
        const double *restrict r = s->r[c] + und_cell_pack_at(e);
        float *restrict b = s->m.level[0].b[c] + und_cell_pack_at(e);
        for (int q = 0; q < UND_CELL_PACK; q++)
            b[q] = (float)(s->scale * r[q]);
    }
}

/* p = z + beta p, where z is what the preconditioner gave. */
static void direct(und_system *s, int z)
{
    const und_level *level = &s->m.level[0];
    const float beta = (float)s->beta;
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

ALWAYS_INLINE double energy_of(const und_system *s, int z, int kind)
{
    double sum = 0;
    EACH_PACK(e, s, kind, kind, z)
    for (int c = 0; c < 2; c++) {
        und_f8 part;
        und_cell_pack_apply(&s->m.level[0], s->p, c, e, kind, &part);
        part *= UND_F8(s->p[c] + und_cell_pack_at(e));
        sum += und_f8_sum(&part);
    }
    return sum;
}

/* Stage 0: the next direction; stage 1: p A p. */
static void direct_and_sum(void *context, int stage, int z)
{
    und_system *s = context;
    if (stage == 0)
        direct(s, z);
    else
        s->m.slice_energy[z] = energy_of(s, z, UND_CELL_PACK_WHOLE) + energy_of(s, z, UND_CELL_PACK_PLAIN) +
                               energy_of(s, z, UND_CELL_PACK_CUT);
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
static void advance(und_system *s, int z)
{
    und_i4 bits = {0};
    advance_packs(s, z, UND_CELL_PACK_WHOLE, &bits);
    advance_packs(s, z, UND_CELL_PACK_PLAIN, &bits);
    advance_packs(s, z, UND_CELL_PACK_CUT, &bits);
    s->slice_bits[z] = 0;
    for (int i = 0; i < 4; i++)
        s->slice_bits[z] = bits[i] > s->slice_bits[z] ? bits[i] : s->slice_bits[z];
}

static void advance_only(void *context, int stage, int z)
{
    (void)stage;
    advance(context, z);
}

/* Stage 0: the next direction; stage 1: along it. */
static void direct_and_advance(void *context, int stage, int z)
{
    if (stage == 0)
        direct(context, z);
    else
        advance(context, z);
}

/* p A p, over the largest weight.  By z A z, z being what the preconditioner gave, and what is known of the
 * direction before (Chronopoulos & Gear 1989) it is there before p is; but not where most of it cancels. */
static double find_energy(und_system *s, double energy_of_z)
{
    const und_level *level = &s->m.level[0];
    const double most = 0.5;
    double energy = energy_of_z - s->beta * s->beta * s->energy;
    s->directed = !(s->beta < most && energy > most * energy_of_z);
    if (!s->directed)
        return energy;
    und_slices_run(direct_and_sum, s, 2, level->n[2], level->threads);
    energy = 0;
    for (int z = 0; z < level->n[2]; z++)
        energy += s->m.slice_energy[z];
    return energy;
}

/* Conjugate gradients until the residual that is carried along is below the tolerance.  What it was made from
 * is kept by r, x and p; directions are stored in float, but what they do to x and r is the same. */
static void iterate(und_system *s, double tolerance, int max_iterations, int *iterations)
{
    const und_level *level = &s->m.level[0];
    double residual = largest_of(s, s->slice_bits), residual_before = residual;
    s->scale = 1 / residual;
    s->product = s->energy = 0;
    und_multigrid_begin(&s->m, give_residual, 1, s);
    while (*iterations < max_iterations) {
        double energy, product = und_multigrid_finish(&s->m, &energy);
        if (!(product > 0))
            return;
        s->beta = s->product > 0 ? product / s->product : 0;
        s->product = product;
        s->energy = find_energy(s, energy);
        if (!(s->energy > 0) || !isfinite(product / s->energy))
            return;
        s->alpha = product / s->energy / (s->scale * level->largest);
        /* If it falls as it did the last time, this is the end: nothing is smoothed in vain. */
        const bool end = residual * (residual / residual_before) < tolerance;
        und_slice_fn *go = s->directed ? advance_only : direct_and_advance;
        if (end)
            und_slices_run(go, s, s->directed ? 1 : 2, level->n[2], level->threads);
        else
            und_multigrid_begin(&s->m, go, s->directed ? 1 : 2, s);
        ++*iterations;
        residual_before = residual;
        residual = largest_of(s, s->slice_bits);
        if (!(residual >= tolerance))
            return;
        if (end)
            und_multigrid_begin(&s->m, NULL, 0, NULL);
    }
}

void und_system_precondition(und_system *s, const double *r, double *z)
{
    const und_level *level = &s->m.level[0];
    s->scale = s->unit = 1;
    s->b = NULL;
    s->b_double = r;
    for (int slice = 0; slice < level->n[2]; slice++)
        EACH_OF_SLICE(e, s, slice)
    take_b(s, e, slice);
    double unused;
    und_multigrid_begin(&s->m, give_residual, 1, s);
    und_multigrid_finish(&s->m, &unused);
    for (int slice = 0; slice < level->n[2]; slice++) {
        EACH_OF_SLICE(e, s, slice)
        for (int c = 0; c < 2; c++)
            for (size_t i = und_cell_pack_at(e); i < und_cell_pack_at(e) + UND_CELL_PACK; i++)
                s->x[c][i] = (double)level->x[c][i];
        give_x(s, z, slice);
    }
    s->b_double = NULL;
}

/* Gauss-Seidel on cells of one colour, r being b; the largest residual that they had. */
ALWAYS_INLINE int64_t relax(und_system *s, int c, int z, int kind)
{
    const und_level *level = &s->m.level[0];
    int64_t bits = 0;
    EACH_PACK(e, s, kind, kind, z)
    {
        double left[UND_CELL_PACK];
        for (int half = 0; half < 2; half++) {
            const size_t at = und_cell_pack_at(e) + 4 * (size_t)half;
            const und_d4 diagonal = UND_D4(level->diagonal[c] + at);
            und_d4 part;
            APPLY_FOUR(UND_D4, level, kind, e, c, half, s->x[c], s->x[1 - c], part);
            part = WHERE_SOLVED(UND_D4(s->r[c] + at) - part, diagonal);
            UND_SET_D4(left + 4 * half) = part;
            UND_SET_D4(s->x[c] + at) = UND_D4(s->x[c] + at) + WHERE_SOLVED(part / diagonal, diagonal);
        }
        bits = larger_of_pack(left, bits);
    }
    return bits;
}

typedef struct begin {
    und_system *s;
    const double *x; /* NULL: 0 */
} begin;

/* r = b; then from the x given r = b - A x.  That x is of another system, in which the surface was elsewhere:
 * where a cell's middle has come near to it, a little pressure too much is a hundred times b, so that x is
 * relaxed there first.  A dam break at 128 cells then takes 4 iterations; 6 with x as it is, 5 from 0. */
static void start(void *context, int stage, int z)
{
    const begin *from = context;
    und_system *s = from->s;
    if (stage == 3) {
        find_residual(s, z);
    } else if (stage > 0) {
        const int64_t plain = relax(s, stage - 1, z, UND_CELL_PACK_PLAIN);
        const int64_t cut = relax(s, stage - 1, z, UND_CELL_PACK_CUT);
        if (stage == 1)
            s->slice_bits_given[z] = plain > cut ? plain : cut;
    } else {
        int64_t bits = 0;
        EACH_OF_SLICE(e, s, z)
        {
            take_b(s, e, z);
            for (int c = 0; c < 2; c++) {
                bits = larger_of_pack(s->r[c] + und_cell_pack_at(e), bits);
                if (!from->x)
                    memset(s->x[c] + und_cell_pack_at(e), 0, UND_CELL_PACK * sizeof(double));
            }
        }
        s->slice_bits[z] = s->slice_bits_b[z] = s->slice_bits_given[z] = bits;
        if (from->x)
            take_x(s, from->x, z);
    }
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
    und_slices_run(start, &(begin){s, warm ? x : NULL}, warm ? 4 : 1, level->n[2], level->threads);
    report.largest = largest_of(s, s->slice_bits_b);
    report.residual = s->components.closed ? measure_fit(s, &report.unfit) : largest_of(s, s->slice_bits);
    bool finite = isfinite(report.residual) && isfinite(report.largest);
    tolerance += relative * report.largest;
    /* Where the x given was not good enough, relaxing it may be, but leaves what is smooth: pools would be
     * less at rest. */
    bool more = report.residual >= tolerance || largest_of(s, s->slice_bits_given) >= tolerance;
    /* The residual carried along may be smaller than the true one: then again from that, while it helps. */
    while (more && report.residual > 0 && report.residual < 0.9 * before &&
           report.iterations < max_iterations) {
        before = report.residual;
        iterate(s, tolerance, max_iterations, &report.iterations);
        report.residual =
            tolerance > drift * report.largest ? largest_of(s, s->slice_bits) : true_residual(s);
        more = report.residual >= tolerance;
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
