#include "solve/system.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "solve/eights.h"
#include "solve/multigrid_kernel.h"
#include "solve/slices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

und_status und_system_open(und_system *s, const und_mac *mac, int threads, und_error *err)
{
    bool flat = mac->n[2] == 1;
    int n[3];
    double weight[3];
    *s = (und_system){.mac = *mac};
    for (int a = 0; a < 3; a++) {
        s->axis[a] = flat && a > 0 ? 3 - a : a;
        s->step[a] = mac->step[s->axis[a]];
        n[a] = mac->n[s->axis[a]];
        weight[a] = 1 / (mac->d[s->axis[a]] * mac->d[s->axis[a]]);
    }
    if (und_multigrid_open(&s->m, n, weight, threads, err) != UND_OK ||
        und_parts_open(&s->parts, &s->m.level[0], err) != UND_OK)
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

void und_system_close(und_system *s)
{
    und_multigrid_close(&s->m);
    und_parts_close(&s->parts);
    for (int c = 0; c < 2; c++) {
        und_pages_free(s->r[c]);
        und_pages_free(s->x[c]);
        und_pages_free(s->p[c]);
    }
    free(s->slice_sum);
    free(s->slice_bits);
}

/* Outside the segments x and p are 0. */
static void clear_left(und_system *s, int z)
{
    const und_level *level = &s->m.level[0];
    for (int y = 0; y < level->n[1]; y++) {
        size_t eight = und_level_eight(level, y, z), at = und_level_row(level, y, z);
        for (int k = 0; k < level->eights; k++, at += UND_EIGHT)
            for (int c = 0; c < 2 && und_level_has_left(level, eight + (size_t)k); c++) {
                memset(s->x[c] + at, 0, UND_EIGHT * sizeof *s->x[c]);
                memset(s->p[c] + at, 0, UND_EIGHT * sizeof *s->p[c]);
            }
    }
}

void und_system_set(und_system *s, const double full[3], const und_sides *sides)
{
    const double own[3] = {full[s->axis[0]], full[s->axis[1]], full[s->axis[2]]};
    und_multigrid_set(&s->m, own, sides);
    und_parts_set(&s->parts);
    for (int z = 0; z < s->m.level[0].n[2]; z++)
        clear_left(s, z);
}

/* A segment's cells of one colour, as the double passes read them: those of a whole segment need nothing
 * stored. */
typedef struct line {
    const und_segment *segment;
    int colour, z;
    size_t at;
    size_t grid;            /* its cell q stands at grid + 2 q in the grid's arrays */
    const float *cut;       /* weights of its sides where they are stored */
    const double *diagonal; /* NULL where it is whole */
    und_beside beside;
} line;

ALWAYS_INLINE line get_line(const und_system *s, const und_segment *segment, int colour, int z)
{
    const und_level *level = &s->m.level[0];
    int offset = segment->offset ^ colour;
    return (line){.segment = segment,
                  .colour = colour,
                  .z = z,
                  .at = segment->at,
                  .grid = und_system_row(s, segment->y, z) + (size_t)(2 * segment->low + offset),
                  .cut = segment->kind == UND_EIGHT_CUT ? und_coefficients(level, colour, segment) : NULL,
                  .diagonal = segment->kind == UND_EIGHT_WHOLE ? NULL : level->diagonal[colour] + segment->at,
                  .beside = und_level_beside(level, offset)};
}

/* Each line of a slice: `s` is the system, `z` the slice. */
#define EACH_LINE(l, s, z)                                                                          \
    for (und_segments in_ = und_level_slice(&(s)->m.level[0], z); in_.begin < in_.end; in_.begin++) \
        for (int c_ = 0; c_ < 2; c_++)                                                              \
            for (line l = get_line(s, in_.begin, c_, z), *once_ = &l; once_; once_ = NULL)

/* Four sums of weighted neighbours in v[], floats or doubles as READ has it, computed in double. */
#define SUM_FOUR(READ, w, v, side, q)                                       \
    ((w)[0] * (READ((v) + (q) + (side)[0]) + READ((v) + (q) + (side)[1])) + \
     (w)[1] * (READ((v) + (q) + (side)[2]) + READ((v) + (q) + (side)[3])) + \
     (w)[2] * (READ((v) + (q) + (side)[4]) + READ((v) + (q) + (side)[5])))

/* The same with stored weights k[], which are over the largest. */
#define CUT_SUM_FOUR(READ, largest, k, v, side, q)                                                    \
    ((largest) *                                                                                      \
     (UND_D4_OF(k) * READ((v) + (q) + (side)[0]) + UND_D4_OF((k) + 8) * READ((v) + (q) + (side)[1]) + \
      UND_D4_OF((k) + 16) * READ((v) + (q) + (side)[2]) +                                             \
      UND_D4_OF((k) + 24) * READ((v) + (q) + (side)[3]) +                                             \
      UND_D4_OF((k) + 32) * READ((v) + (q) + (side)[4]) +                                             \
      UND_D4_OF((k) + 40) * READ((v) + (q) + (side)[5])))

/* Where the weights of cells q and on are, of an eight's cells each. */
#define CUT_AT(k, q) ((k) + (q) / 8 * UND_COEFFICIENTS + (q) % 8)

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

/* Bits of the unknown cells of one colour of an eight: bit 2 i is its cell i. */
static inline unsigned colour_bits(const und_system *s, const line *l, int q)
{
    int eight = (l->segment->low + q) / UND_EIGHT, offset = l->segment->offset ^ l->colour;
    return und_level_unknown(&s->m.level[0], l->segment->y, l->z, eight) >> offset & 0x5555;
}

static void take_x(und_system *s, const double *x, int z)
{
    EACH_LINE(l, s, z)
    {
        const double *restrict from = x + l.grid;
        double *restrict to = s->x[l.colour] + l.at;
        for (int q = 0; q < l.segment->count; q += UND_EIGHT) {
            unsigned bits = colour_bits(s, &l, q);
            for (int i = 0; i < UND_EIGHT; i++)
                to[q + i] = bits >> 2 * i & 1 ? from[2 * (q + i)] : 0;
        }
    }
}

static void give_x(const und_system *s, double *x, int z)
{
    EACH_LINE(l, s, z)
    {
        const double *restrict from = s->x[l.colour] + l.at;
        double *restrict to = x + l.grid;
        if (!l.diagonal)
            for (int q = 0; q < l.segment->count; q++)
                to[2 * q] = from[q];
        for (int q = 0; q < l.segment->count && l.diagonal; q += UND_EIGHT) {
            unsigned bits = colour_bits(s, &l, q);
            for (int i = 0; i < UND_EIGHT; i++)
                if (bits >> 2 * i & 1)
                    to[2 * (q + i)] = from[q + i];
        }
    }
}

/* r = b, 0 where no cell is unknown. */
static void take_b(und_system *s, const line *l)
{
    double *restrict r = s->r[l->colour] + l->at;
    for (int q = 0; q < l->segment->count; q += UND_EIGHT) {
        unsigned bits = l->diagonal ? colour_bits(s, l, q) : 0x5555;
        if (s->b) {
            const float *restrict b = s->b + l->grid + 2 * q;
            for (int i = 0; i < UND_EIGHT; i++)
                r[q + i] = bits >> 2 * i & 1 ? (double)b[2 * i] : 0;
        } else {
            const double *restrict b = s->b_double + l->grid + 2 * q;
            for (int i = 0; i < UND_EIGHT; i++)
                r[q + i] = bits >> 2 * i & 1 ? b[2 * i] : 0;
        }
    }
}

static void measure(und_system *s, int z)
{
    int64_t bits = 0;
    EACH_LINE(l, s, z)
    {
        const double *r = s->r[l.colour] + l.at;
        for (int q = 0; q < l.segment->count; q++) {
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
    double mean = und_parts_take_mean(&s->parts, s->r);
    if (unfit)
        *unfit = mean;
    PARALLEL_FOR(level->threads)
    for (int z = 0; z < level->n[2]; z++)
        measure(s, z);
    return largest_residual(s);
}

/* The compiler makes a loop of its own for each kind. */
ALWAYS_INLINE void subtract(und_system *s, const line *l, int kind)
{
    const und_level *level = &s->m.level[0];
    const double w[3] = {level->full[0], level->full[1], level->full[2]}, full = level->full_diagonal;
    const double largest = level->largest;
    const double *own = s->x[l->colour] + l->at, *other = s->x[1 - l->colour] + l->at;
    const double *diagonals = l->diagonal;
    const float *cut = l->cut;
    double *r = s->r[l->colour] + l->at;
    const und_beside beside = l->beside;
    const ptrdiff_t *const side = beside.side;
    const int count = l->segment->count;
    const und_d4 whole = {full, full, full, full};
    for (int q = 0; q < count; q += 4) {
        und_d4 x = UND_D4(own + q);
        und_d4 sum = kind == UND_EIGHT_CUT ? CUT_SUM_FOUR(UND_D4, largest, CUT_AT(cut, q), other, side, q)
                                           : SUM_FOUR(UND_D4, w, other, side, q);
        und_d4 part = (kind == UND_EIGHT_WHOLE ? whole : UND_D4(diagonals + q)) * x - sum;
        if (kind != UND_EIGHT_WHOLE)
            part = WHERE_SOLVED(part, UND_D4(diagonals + q));
        UND_SET_D4(r + q) = UND_D4(r + q) - part;
    }
}

/* The largest of r = b - A x. */
static double true_residual(und_system *s)
{
    const und_level *level = &s->m.level[0];
    PARALLEL_FOR(level->threads)
    for (int z = 0; z < level->n[2]; z++) {
        EACH_LINE(l, s, z)
        {
            take_b(s, &l);
            if (l.cut)
                subtract(s, &l, UND_EIGHT_CUT);
            else if (l.diagonal)
                subtract(s, &l, UND_EIGHT_PLAIN);
            else
                subtract(s, &l, UND_EIGHT_WHOLE);
        }
        measure(s, z);
    }
    return s->parts.closed ? measure_fit(s, NULL) : largest_residual(s);
}

/* What the preconditioner is given: r, scaled so that floats can hold it. */
static void give_residual(void *context, int z)
{
    und_system *s = context;
    EACH_LINE(l, s, z)
    {
        const double *restrict r = s->r[l.colour] + l.at;
        float *restrict b = s->m.level[0].b[l.colour] + l.at;
        for (int q = 0; q < l.segment->count; q++)
            b[q] = (float)(s->scale * r[q]);
    }
}

ALWAYS_INLINE void advance_line(und_system *s, const line *l, int kind, und_i4 *bits)
{
    const und_level *level = &s->m.level[0];
    const double w[3] = {level->full[0], level->full[1], level->full[2]}, full = level->full_diagonal;
    const double alpha = s->alpha, scale = s->scale, most = level->largest;
    const float *own = s->p[l->colour] + l->at, *other = s->p[1 - l->colour] + l->at, *cut = l->cut;
    const double *diagonals = l->diagonal;
    double *r = s->r[l->colour] + l->at, *x = s->x[l->colour] + l->at;
    float *b = level->b[l->colour] + l->at;
    const und_beside beside = l->beside;
    const ptrdiff_t *const side = beside.side;
    const und_i4 magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    const int count = l->segment->count;
    const und_d4 whole = {full, full, full, full};
    und_i4 largest = *bits;
    for (int q = 0; q < count; q += 4) {
        und_d4 p = UND_D4_OF(own + q), left = UND_D4(r + q);
        und_d4 sum = kind == UND_EIGHT_CUT ? CUT_SUM_FOUR(UND_D4_OF, most, CUT_AT(cut, q), other, side, q)
                                           : SUM_FOUR(UND_D4_OF, w, other, side, q);
        und_d4 part = (kind == UND_EIGHT_WHOLE ? whole : UND_D4(diagonals + q)) * p - sum;
        if (kind != UND_EIGHT_WHOLE)
            part = WHERE_SOLVED(part, UND_D4(diagonals + q));
        left -= alpha * part;
        UND_SET_D4(x + q) = UND_D4(x + q) + alpha * p;
        UND_SET_D4(r + q) = left;
        UND_SET_F4(b + q) = __builtin_convertvector(scale * left, und_f4);
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
    EACH_LINE(l, s, z)
    {
        if (l.cut)
            advance_line(s, &l, UND_EIGHT_CUT, &bits);
        else if (l.diagonal)
            advance_line(s, &l, UND_EIGHT_PLAIN, &bits);
        else
            advance_line(s, &l, UND_EIGHT_WHOLE, &bits);
    }
    s->slice_bits[z] = 0;
    for (int i = 0; i < 4; i++)
        s->slice_bits[z] = bits[i] > s->slice_bits[z] ? bits[i] : s->slice_bits[z];
}

/* p A p of whole cells, in float and over the largest weight.  It is taken from differences, which lose no
 * digits, and a step that is a little too long or short does no harm. */
static inline double energy_of_whole(const und_system *s, const line *l)
{
    const float *w = s->m.level[0].weight;
    const float *own = s->p[l->colour] + l->at, *other = s->p[1 - l->colour] + l->at;
    const ptrdiff_t *side = l->beside.side;
    und_f8 total = {0};
    for (int q = 0; q < l->segment->count; q += 8) {
        und_f8 p = UND_F8(own + q);
        total += p * (w[0] * ((p - UND_F8(other + q + side[0])) + (p - UND_F8(other + q + side[1]))) +
                      w[1] * ((p - UND_F8(other + q + side[2])) + (p - UND_F8(other + q + side[3]))) +
                      w[2] * ((p - UND_F8(other + q + side[4])) + (p - UND_F8(other + q + side[5]))));
    }
    return und_f8_sum(&total);
}

/* The same of others, in double. */
ALWAYS_INLINE void add_energy(const und_system *s, const line *l, int kind, und_d4 *total)
{
    const und_level *level = &s->m.level[0];
    const float *own = s->p[l->colour] + l->at, *other = s->p[1 - l->colour] + l->at, *cut = l->cut;
    und_d4 here = *total;
    for (int q = 0; q < l->segment->count; q += 4) {
        und_d4 p = UND_D4_OF(own + q);
        und_d4 sum = kind == UND_EIGHT_CUT
                         ? CUT_SUM_FOUR(UND_D4_OF, level->largest, CUT_AT(cut, q), other, l->beside.side, q)
                         : SUM_FOUR(UND_D4_OF, level->full, other, l->beside.side, q);
        here += p * (UND_D4(l->diagonal + q) * p - sum);
    }
    *total = here;
}

/* Stage 0: p = z + beta p, where z is what the preconditioner gave; stage 1: p A p. */
static void direct(void *context, int stage, int z)
{
    und_system *s = context;
    const und_level *level = &s->m.level[0];
    const float beta = (float)s->beta;
    double whole = 0;
    und_d4 others = {0};
    EACH_LINE(l, s, z)
    {
        float *restrict own = s->p[l.colour] + l.at;
        const float *restrict given = level->x[l.colour] + l.at;
        const int count = l.segment->count;
        if (stage == 1) {
            if (l.cut)
                add_energy(s, &l, UND_EIGHT_CUT, &others);
            else if (l.diagonal)
                add_energy(s, &l, UND_EIGHT_PLAIN, &others);
            else
                whole += energy_of_whole(s, &l);
        } else if (beta == 0) { /* what was there before may be no number */
            memcpy(own, given, (size_t)count * sizeof *own);
        } else {
            SIMD
            for (int q = 0; q < count; q++)
                own[q] = given[q] + beta * own[q];
        }
    }
    if (stage == 1)
        s->slice_sum[z] = level->largest * whole + (others[0] + others[1] + others[2] + others[3]);
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
        EACH_LINE(l, s, slice)
    take_b(s, &l);
    und_multigrid_begin(&s->m, give_residual, s);
    und_multigrid_finish(&s->m);
    for (int slice = 0; slice < level->n[2]; slice++) {
        EACH_LINE(l, s, slice)
        for (int q = 0; q < l.segment->count; q++)
            s->x[l.colour][l.at + (size_t)q] = (double)level->x[l.colour][l.at + (size_t)q];
        give_x(s, z, slice);
    }
    s->b_double = NULL;
}

/* r = b and x = 0, or the x given. */
static void start(und_system *s, const double *x, bool warm, int z)
{
    EACH_LINE(l, s, z)
    {
        take_b(s, &l);
        if (!warm)
            memset(s->x[l.colour] + l.at, 0, (size_t)l.segment->count * sizeof(double));
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
    PARALLEL_FOR(level->threads)
    for (int z = 0; z < level->n[2]; z++)
        start(s, x, warm, z);
    report.largest = report.residual = largest_residual(s);
    if (s->parts.closed)
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
        report.residual = true_residual(s);
    }
    report.converged = finite && (report.residual < tolerance || report.residual == 0);
    if (finite) {
        und_parts_take_mean(&s->parts, s->x);
        PARALLEL_FOR(level->threads)
        for (int z = 0; z < level->n[2]; z++)
            give_x(s, x, z);
    }
    s->b = NULL;
    s->b_double = NULL;
    return report;
}
