#include "solve/poisson.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"
#include "solve/eights.h"
#include "solve/multigrid_kernel.h"
#include "solve/parts.h"
#include "solve/slices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is said of a cell in a byte: how many of its sides along each axis are not closed, and whether it is
 * unknown (0 if not). */
enum { SIDES_X = 3, SHIFT_Y = 2, SHIFT_Z = 4, UNKNOWN_BIT = 64, CODES = 128, CHUNK = 256 };
enum { CELLS_TO_SHARE = 1 << 17 }; /* of all kinds; fewer are set by one thread */
enum { WHOLE = UNKNOWN_BIT | 2 | 2 << SHIFT_Y | 2 << SHIFT_Z }; /* no side is closed */

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Its axes may be in another order than the grid's: slices are along the longer of y and z where a grid is
 * flat.  r and x are double, and so is the system; directions need not be. */
struct und_poisson {
    und_mac mac;
    ptrdiff_t step[3]; /* of the grid, along our axes */
    int axis[3];       /* ours: which of the grid's */
    double weight[3], largest_weight;
    double diagonal_of[CODES]; /* by a cell's code */
    float inverse_of[CODES];   /* for the preconditioner */
    und_multigrid m;
    und_parts parts;
    uint8_t *code[2];
    double *r[2], *x[2];
    float *p[2];
    double *slice_sum;
    int64_t *slice_bits; /* of the largest |r|: ordered as the numbers are, with NaN above all */
    const uint8_t *kind; /* while the system is set */
    const double *b;     /* while it is solved */
    double scale;        /* of r, for the preconditioner */
    double beta, alpha;
};

static und_status allocate(und_poisson *s, und_error *err)
{
    const und_level *level = &s->m.level[0];
    size_t slices = (size_t)level->n[2];
    for (int c = 0; c < 2; c++) {
        s->code[c] = und_pages_alloc(level->count * sizeof *s->code[c], "the pressure's system", err);
        s->r[c] = s->code[c] ? und_pages_alloc(level->count * sizeof *s->r[c], "residuals", err) : NULL;
        s->x[c] = s->r[c] ? und_pages_alloc(level->count * sizeof *s->x[c], "the pressure", err) : NULL;
        s->p[c] = s->x[c] ? und_pages_alloc(level->count * sizeof *s->p[c], "search directions", err) : NULL;
        if (!s->p[c])
            return err->status;
    }
    s->slice_sum = und_alloc(slices, sizeof *s->slice_sum, "slices of the pressure's system", err);
    s->slice_bits = s->slice_sum
                        ? und_alloc(slices, sizeof *s->slice_bits, "slices of the pressure's system", err)
                        : NULL;
    return s->slice_bits ? UND_OK : err->status;
}

und_poisson *und_poisson_create(const und_mac *mac, int threads, und_error *err)
{
    und_poisson *s = und_alloc(1, sizeof *s, "the pressure's system", err);
    if (!s)
        return NULL;
    bool flat = mac->n[2] == 1;
    int n[3];
    double weight[3];
    s->mac = *mac;
    for (int a = 0; a < 3; a++) {
        s->axis[a] = flat && a > 0 ? 3 - a : a;
        s->step[a] = mac->step[s->axis[a]];
        n[a] = mac->n[s->axis[a]];
        weight[a] = 1 / (mac->d[s->axis[a]] * mac->d[s->axis[a]]);
    }
    und_status status = und_multigrid_open(&s->m, n, weight, threads, err);
    if (status == UND_OK)
        status = und_parts_open(&s->parts, &s->m.level[0], err);
    if (status == UND_OK)
        status = allocate(s, err);
    if (status == UND_OK)
        return s;
    und_poisson_destroy(s);
    return NULL;
}

void und_poisson_destroy(und_poisson *s)
{
    if (!s)
        return;
    und_multigrid_close(&s->m);
    und_parts_close(&s->parts);
    for (int c = 0; c < 2; c++) {
        und_pages_free(s->code[c]);
        und_pages_free(s->r[c]);
        und_pages_free(s->x[c]);
        und_pages_free(s->p[c]);
    }
    free(s->slice_sum);
    free(s->slice_bits);
    free(s);
}

static size_t grid_row(const und_poisson *s, int y, int z)
{
    return (size_t)((ptrdiff_t)s->mac.first + y * s->step[1] + z * s->step[2]);
}

/* Unknown cells of a row: its span in q, rounded to eights; none: 0 to 0. */
static void find_span(const uint8_t *kind, int n, int *low, int *high)
{
    const uint8_t *first = memchr(kind, UND_POISSON_UNKNOWN, (size_t)n);
    const uint8_t *last = first ? memrchr(kind, UND_POISSON_UNKNOWN, (size_t)n) : NULL;
    *low = first ? (int)(first - kind) / 16 * 8 : 0;
    *high = last ? (int)(last - kind) / 16 * 8 + 8 : 0;
}

static void set_span(und_poisson *s, int y, int z, int low, int high)
{
    und_level *level = &s->m.level[0];
    size_t row = (size_t)(y + z * level->n[1]), at = und_level_row(level, y, z);
    int old_low = level->low[row], old_high = level->high[row];
    if (old_low < low || old_high > high)
        for (int c = 0; c < 2; c++) {
            memset(s->x[c] + at + old_low, 0, (size_t)(old_high - old_low) * sizeof *s->x[c]);
            memset(s->p[c] + at + old_low, 0, (size_t)(old_high - old_low) * sizeof *s->p[c]);
        }
    und_level_set_span(level, y, z, low, high);
}

/* Codes of cells x in [begin, end); 0 from n on. */
static void code_cells(const und_poisson *s, const uint8_t *restrict k, int begin, int end,
                       uint8_t *restrict code)
{
    const ptrdiff_t sy = s->step[1], sz = s->step[2];
    int n = s->m.level[0].n[0], stop = end < n ? end : n;
    for (int i = begin; i < stop; i++) {
        uint8_t x = (uint8_t)((k[i - 1] != UND_POISSON_CLOSED) + (k[i + 1] != UND_POISSON_CLOSED));
        uint8_t y = (uint8_t)((k[i - sy] != UND_POISSON_CLOSED) + (k[i + sy] != UND_POISSON_CLOSED));
        uint8_t z = (uint8_t)((k[i - sz] != UND_POISSON_CLOSED) + (k[i + sz] != UND_POISSON_CLOSED));
        uint8_t all = (uint8_t)(x | y << SHIFT_Y | z << SHIFT_Z | UNKNOWN_BIT);
        code[i - begin] = k[i] == UND_POISSON_UNKNOWN ? all : 0;
    }
    for (int i = stop > begin ? stop : begin; i < end; i++)
        code[i - begin] = 0;
}

/* The longest stretch of eights of which no side is closed. */
static void set_inner(und_poisson *s, int y, int z)
{
    und_level *level = &s->m.level[0];
    size_t row = (size_t)(y + z * level->n[1]), at = und_level_row(level, y, z);
    const uint64_t full = 0x0101010101010101u * WHOLE;
    int low = level->high[row], high = low, begin = level->low[row];
    for (int q = begin; q < level->high[row]; q += 8) {
        uint64_t eight[2];
        memcpy(&eight[0], s->code[0] + at + q, sizeof eight[0]);
        memcpy(&eight[1], s->code[1] + at + q, sizeof eight[1]);
        if (eight[0] != full || eight[1] != full)
            begin = q + 8;
        else if (q + 8 - begin > high - low)
            low = begin, high = q + 8;
    }
    und_level_set_inner(level, row, low, high);
}

static void set_row(und_poisson *s, int y, int z)
{
    und_level *level = &s->m.level[0];
    const uint8_t *kind = s->kind + grid_row(s, y, z);
    size_t at = und_level_row(level, y, z);
    int low, high;
    find_span(kind, level->n[0], &low, &high);
    set_span(s, y, z, low, high);
    for (int begin = low; begin < high; begin += CHUNK / 2) {
        int n = begin + CHUNK / 2 < high ? CHUNK / 2 : high - begin;
        uint8_t code[CHUNK];
        code_cells(s, kind, 2 * begin, 2 * (begin + n), code);
        for (int c = 0; c < 2; c++) {
            int offset = und_colour_offset(c, y, z);
            uint8_t *restrict own = s->code[c] + at + begin;
            float *restrict inverse = level->inverse[c] + at + begin;
            for (int q = 0; q < n; q++)
                own[q] = code[2 * q + offset];
            for (int q = 0; q < n; q++)
                inverse[q] = s->inverse_of[own[q]];
        }
    }
    set_inner(s, y, z);
    und_parts_set_row(&s->parts, y, z, kind, s->step);
}

static bool is_known_beside(const und_poisson *s, const uint8_t *k, int begin, int end)
{
    size_t count = end > begin ? (size_t)(end - begin) : 0;
    bool found = memchr(k + begin - 1, UND_POISSON_KNOWN, count + 2);
    for (int a = 1; a < 3 && !found; a++)
        found = memchr(k + begin - s->step[a], UND_POISSON_KNOWN, count) ||
                memchr(k + begin + s->step[a], UND_POISSON_KNOWN, count);
    return found;
}

static bool kind_sides(void *context, int axis, int y, int z, int begin, int end, float *restrict weight)
{
    const und_poisson *s = context;
    const uint8_t *restrict k = s->kind + grid_row(s, y, z);
    const float *w = s->m.level[0].weight;
    int n = s->m.level[0].n[0], stop = end < n ? end : n;
    if (axis == 3 && !is_known_beside(s, k, begin, stop))
        return false;
    for (int i = stop > begin ? stop : begin; i < end; i++)
        weight[i - begin] = 0;
    if (axis < 3) {
        const ptrdiff_t step = s->step[axis];
        for (int i = begin; i < stop; i++) {
            bool both = (k[i] == UND_POISSON_UNKNOWN) & (k[i + step] == UND_POISSON_UNKNOWN);
            weight[i - begin] = both ? w[axis] : 0;
        }
        return true;
    }
    for (int i = begin; i < stop; i++)
        weight[i - begin] = 0;
    for (int a = 0; a < 3; a++) {
        const ptrdiff_t step = s->step[a];
        for (int i = begin; i < stop; i++) {
            int sides = (k[i - step] == UND_POISSON_KNOWN) + (k[i + step] == UND_POISSON_KNOWN);
            weight[i - begin] += k[i] == UND_POISSON_UNKNOWN ? w[a] * (float)sides : 0;
        }
    }
    return true;
}

static void set_tables(und_poisson *s)
{
    const float *w = s->m.level[0].weight;
    for (int code = 0; code < CODES; code++) {
        int sides[3] = {code & SIDES_X, code >> SHIFT_Y & SIDES_X, code >> SHIFT_Z & SIDES_X};
        double sum = 0;
        float rounded = 0;
        for (int a = 0; a < 3 && code & UNKNOWN_BIT; a++) {
            sum += s->weight[a] * sides[a];
            rounded += w[a] * (float)sides[a];
        }
        s->diagonal_of[code] = sum;
        s->inverse_of[code] = rounded > 0 ? 1 / rounded : 0;
    }
    s->inverse_of[WHOLE] = s->m.level[0].full_inverse;
}

void und_poisson_set(und_poisson *s, const uint8_t *kind, const double weight[3])
{
    und_level *level = &s->m.level[0];
    double largest = fmax(weight[0], fmax(weight[1], weight[2]));
    s->kind = kind;
    s->largest_weight = largest;
    for (int a = 0; a < 3; a++) {
        s->weight[a] = weight[s->axis[a]];
        level->weight[a] = largest > 0 ? (float)(s->weight[a] / largest) : 0;
    }
    und_level_set_full(level);
    set_tables(s);
    PARALLEL_FOR(und_workers(level->most_threads, s->mac.count, CELLS_TO_SHARE))
    for (int z = 0; z < level->n[2]; z++)
        for (int y = 0; y < level->n[1]; y++)
            set_row(s, y, z);
    und_parts_join(&s->parts);
    und_multigrid_set(&s->m, kind_sides, s);
    s->kind = NULL;
}

/* A row of one colour, as the double passes read it. */
typedef struct line {
    size_t at;
    size_t grid;                          /* cell q of the colour stands at grid + 2 q in the grid's arrays */
    int low, inner_low, inner_high, high; /* as the level has them */
    und_beside beside;
} line;

static line get_line(const und_poisson *s, int colour, int y, int z)
{
    const und_level *level = &s->m.level[0];
    int offset = und_colour_offset(colour, y, z), row = y + z * level->n[1];
    return (line){.at = und_level_row(level, y, z),
                  .grid = grid_row(s, y, z) + (size_t)offset,
                  .low = level->low[row],
                  .inner_low = level->inner_low[row],
                  .inner_high = level->inner_high[row],
                  .high = level->high[row],
                  .beside = und_level_beside(level, offset)};
}

/* Four sums of weighted neighbours in v[], floats or doubles as READ has it, computed in double. */
#define SUM_FOUR(READ, w, v, side, q)                                       \
    ((w)[0] * (READ((v) + (q) + (side)[0]) + READ((v) + (q) + (side)[1])) + \
     (w)[1] * (READ((v) + (q) + (side)[2]) + READ((v) + (q) + (side)[3])) + \
     (w)[2] * (READ((v) + (q) + (side)[4]) + READ((v) + (q) + (side)[5])))

/* Zero where a cell is not unknown, and where no side of it is open: there nothing is to be solved. */
#define WHERE_SOLVED(v, diagonal) ((und_d4)((und_i4)(v) & ((diagonal) > 0)))

/* Of four cells, in the ends of rows: between them it is that of whole cells. */
ALWAYS_INLINE und_d4 diagonals(const und_poisson *s, const uint8_t *code)
{
    const double *of = s->diagonal_of;
    return (und_d4){of[code[0]], of[code[1]], of[code[2]], of[code[3]]};
}

static inline int64_t magnitude_bits(double v)
{
    int64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits & INT64_MAX;
}

static double largest_residual(const und_poisson *s)
{
    int64_t bits = 0;
    double largest;
    for (int z = 0; z < s->m.level[0].n[2]; z++)
        bits = s->slice_bits[z] > bits ? s->slice_bits[z] : bits;
    memcpy(&largest, &bits, sizeof largest);
    return largest;
}

static void take_x(und_poisson *s, const double *x, int z)
{
    for (int y = 0; y < s->m.level[0].n[1]; y++)
        for (int c = 0; c < 2 && !und_level_is_dry(&s->m.level[0], y, z); c++) {
            line l = get_line(s, c, y, z);
            const uint8_t *restrict code = s->code[c] + l.at;
            const double *restrict from = x + l.grid;
            double *restrict to = s->x[c] + l.at;
            for (int q = l.low; q < l.high; q++)
                to[q] = code[q] ? from[2 * q] : 0;
        }
}

static void give_x(const und_poisson *s, double *x, int z)
{
    for (int y = 0; y < s->m.level[0].n[1]; y++)
        for (int c = 0; c < 2 && !und_level_is_dry(&s->m.level[0], y, z); c++) {
            line l = get_line(s, c, y, z);
            const uint8_t *restrict code = s->code[c] + l.at;
            const double *restrict from = s->x[c] + l.at;
            double *restrict to = x + l.grid;
            for (int q = l.low; q < l.high; q++)
                if (code[q])
                    to[2 * q] = from[q];
        }
}

/* Cells [low, high) of a line, whole or not; the compiler makes a loop of its own of each. */
ALWAYS_INLINE void set_residual_of(und_poisson *s, int c, const line *l, int low, int high, bool whole)
{
    const double w[3] = {s->weight[0], s->weight[1], s->weight[2]}, full = s->diagonal_of[WHOLE];
    const double *b = s->b + l->grid, *own = s->x[c] + l->at, *other = s->x[1 - c] + l->at;
    const uint8_t *code = s->code[c] + l->at;
    double *r = s->r[c] + l->at;
    const und_beside beside = l->beside;
    const ptrdiff_t *const side = beside.side;
    for (int q = low; q < high; q += 4) {
        und_d4 x = UND_D4(own + q), sum = SUM_FOUR(UND_D4, w, other, side, q);
        und_d4 left = {b[2 * q], b[2 * q + 2], b[2 * q + 4], b[2 * q + 6]};
        if (whole) {
            left -= full * x - sum;
        } else {
            und_d4 diagonal = diagonals(s, code + q);
            left = WHERE_SOLVED(left - (diagonal * x - sum), diagonal);
        }
        UND_SET_D4(r + q) = left;
    }
}

/* r = b - A x. */
static void set_residual(und_poisson *s, int z)
{
    for (int y = 0; y < s->m.level[0].n[1]; y++)
        for (int c = 0; c < 2 && !und_level_is_dry(&s->m.level[0], y, z); c++) {
            line l = get_line(s, c, y, z);
            set_residual_of(s, c, &l, l.low, l.inner_low, false);
            set_residual_of(s, c, &l, l.inner_low, l.inner_high, true);
            set_residual_of(s, c, &l, l.inner_high, l.high, false);
        }
}

static void measure_residual(und_poisson *s, int z)
{
    int64_t bits = 0;
    for (int y = 0; y < s->m.level[0].n[1]; y++)
        for (int c = 0; c < 2 && !und_level_is_dry(&s->m.level[0], y, z); c++) {
            line l = get_line(s, c, y, z);
            const double *r = s->r[c] + l.at;
            for (int q = l.low; q < l.high; q++) {
                int64_t here = magnitude_bits(r[q]);
                bits = here > bits ? here : bits;
            }
        }
    s->slice_bits[z] = bits;
}

static double true_residual(und_poisson *s)
{
    const und_level *level = &s->m.level[0];
    PARALLEL_FOR(level->threads)
    for (int z = 0; z < level->n[2]; z++) {
        set_residual(s, z);
        measure_residual(s, z);
    }
    if (!s->parts.any_closed)
        return largest_residual(s);
    und_parts_take_mean(&s->parts, s->r);
    PARALLEL_FOR(level->threads)
    for (int z = 0; z < level->n[2]; z++)
        measure_residual(s, z);
    return largest_residual(s);
}

/* What the preconditioner is given: r, scaled so that floats can hold it. */
static void give_residual(void *context, int z)
{
    und_poisson *s = context;
    const und_level *level = &s->m.level[0];
    for (int y = 0; y < level->n[1]; y++)
        for (int c = 0; c < 2 && !und_level_is_dry(&s->m.level[0], y, z); c++) {
            line l = get_line(s, c, y, z);
            const double *restrict r = s->r[c] + l.at;
            float *restrict b = level->b[c] + l.at;
            for (int q = l.low; q < l.high; q++)
                b[q] = (float)(s->scale * r[q]);
        }
}

ALWAYS_INLINE void advance_cells(und_poisson *s, int c, const line *l, int low, int high, bool whole,
                                 und_i4 *bits)
{
    const double w[3] = {s->weight[0], s->weight[1], s->weight[2]}, full = s->diagonal_of[WHOLE];
    const double alpha = s->alpha, scale = s->scale;
    const uint8_t *code = s->code[c] + l->at;
    const float *own = s->p[c] + l->at, *other = s->p[1 - c] + l->at;
    double *r = s->r[c] + l->at, *x = s->x[c] + l->at;
    float *b = s->m.level[0].b[c] + l->at;
    const und_beside beside = l->beside;
    const ptrdiff_t *const side = beside.side;
    const und_i4 magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    und_i4 largest = *bits;
    for (int q = low; q < high; q += 4) {
        und_d4 p = UND_D4_OF(own + q), sum = SUM_FOUR(UND_D4_OF, w, other, side, q), left = UND_D4(r + q);
        if (whole) {
            left -= alpha * (full * p - sum);
        } else {
            und_d4 diagonal = diagonals(s, code + q);
            left = WHERE_SOLVED(left - alpha * (diagonal * p - sum), diagonal);
        }
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
    und_poisson *s = context;
    und_i4 bits = {0};
    for (int y = 0; y < s->m.level[0].n[1]; y++)
        for (int c = 0; c < 2 && !und_level_is_dry(&s->m.level[0], y, z); c++) {
            line l = get_line(s, c, y, z);
            advance_cells(s, c, &l, l.low, l.inner_low, false, &bits);
            advance_cells(s, c, &l, l.inner_low, l.inner_high, true, &bits);
            advance_cells(s, c, &l, l.inner_high, l.high, false, &bits);
        }
    s->slice_bits[z] = 0;
    for (int i = 0; i < 4; i++)
        s->slice_bits[z] = bits[i] > s->slice_bits[z] ? bits[i] : s->slice_bits[z];
}

/* p A p of whole cells [low, high), in float and over the largest weight.  It is taken from differences,
 * which lose no digits, and a step that is a little too long or short does no harm. */
static inline double energy_of_whole(const und_poisson *s, int c, const line *l, int low, int high)
{
    const float *w = s->m.level[0].weight, *own = s->p[c] + l->at, *other = s->p[1 - c] + l->at;
    const ptrdiff_t *side = l->beside.side;
    und_f8 total = {0};
    for (int q = low; q < high; q += 8) {
        und_f8 p = UND_F8(own + q);
        total += p * (w[0] * ((p - UND_F8(other + q + side[0])) + (p - UND_F8(other + q + side[1]))) +
                      w[1] * ((p - UND_F8(other + q + side[2])) + (p - UND_F8(other + q + side[3]))) +
                      w[2] * ((p - UND_F8(other + q + side[4])) + (p - UND_F8(other + q + side[5]))));
    }
    return low < high ? und_f8_sum(&total) : 0;
}

/* The same of others, in double. */
static inline void add_energy_of_ends(const und_poisson *s, int c, const line *l, int low, int high,
                                      und_d4 *total)
{
    const float *own = s->p[c] + l->at, *other = s->p[1 - c] + l->at;
    const uint8_t *code = s->code[c] + l->at;
    und_d4 here = *total;
    for (int q = low; q < high; q += 4) {
        und_d4 p = UND_D4_OF(own + q), sum = SUM_FOUR(UND_D4_OF, s->weight, other, l->beside.side, q);
        here += p * (diagonals(s, code + q) * p - sum);
    }
    *total = here;
}

/* Stage 0: p = z + beta p, where z is what the preconditioner gave; stage 1: p A p. */
static void direct(void *context, int stage, int z)
{
    und_poisson *s = context;
    const und_level *level = &s->m.level[0];
    const float beta = (float)s->beta;
    double inner = 0;
    und_d4 ends = {0};
    for (int y = 0; y < level->n[1]; y++)
        for (int c = 0; c < 2 && !und_level_is_dry(&s->m.level[0], y, z); c++) {
            line l = get_line(s, c, y, z);
            float *restrict own = s->p[c] + l.at;
            const float *restrict given = level->x[c] + l.at;
            if (stage == 1) {
                inner += energy_of_whole(s, c, &l, l.inner_low, l.inner_high);
                add_energy_of_ends(s, c, &l, l.low, l.inner_low, &ends);
                add_energy_of_ends(s, c, &l, l.inner_high, l.high, &ends);
            } else if (beta == 0) { /* what was there before may be no number */
                memcpy(own + l.low, given + l.low, (size_t)(l.high - l.low) * sizeof *own);
            } else {
                SIMD
                for (int q = l.low; q < l.high; q++)
                    own[q] = given[q] + beta * own[q];
            }
        }
    if (stage == 1)
        s->slice_sum[z] = s->largest_weight * inner + (ends[0] + ends[1] + ends[2] + ends[3]);
}

/* Conjugate gradients until the residual that is carried along is below the tolerance.  What it was made from
 * is kept by r, x and p; directions are stored in float, but what they do to x and r is the same. */
static void iterate(und_poisson *s, double tolerance, int max_iterations, int *iterations)
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

void und_poisson_precondition(und_poisson *s, const double *r, double *z)
{
    const und_level *level = &s->m.level[0];
    s->scale = 1;
    for (int slice = 0; slice < level->n[2]; slice++) {
        take_x(s, r, slice);
        for (int y = 0; y < level->n[1]; y++)
            for (int c = 0; c < 2; c++) {
                line l = get_line(s, c, y, slice);
                memcpy(s->r[c] + l.at + l.low, s->x[c] + l.at + l.low,
                       (size_t)(l.high - l.low) * sizeof(double));
            }
    }
    und_multigrid_begin(&s->m, give_residual, s);
    und_multigrid_finish(&s->m);
    for (int slice = 0; slice < level->n[2]; slice++) {
        for (int y = 0; y < level->n[1]; y++)
            for (int c = 0; c < 2; c++) {
                line l = get_line(s, c, y, slice);
                for (int q = l.low; q < l.high; q++)
                    s->x[c][l.at + (size_t)q] = level->x[c][l.at + (size_t)q];
            }
        give_x(s, z, slice);
    }
}

und_poisson_report und_poisson_solve(und_poisson *s, const double *b, double *x, double tolerance,
                                     int max_iterations)
{
    const und_level *level = &s->m.level[0];
    und_poisson_report report = {0};
    double before = INFINITY;
    s->b = b;
    PARALLEL_FOR(level->threads)
    for (int z = 0; z < level->n[2]; z++)
        take_x(s, x, z);
    report.residual = true_residual(s);
    bool finite = isfinite(report.residual);
    /* The residual carried along may be smaller than the true one: then again from that, while it helps. */
    while (report.residual >= tolerance && report.residual > 0 && report.residual < 0.9 * before &&
           report.iterations < max_iterations) {
        before = report.residual;
        iterate(s, tolerance, max_iterations, &report.iterations);
        report.residual = true_residual(s);
    }
    report.converged = report.residual < tolerance || report.residual == 0;
    if (finite) {
        und_parts_take_mean(&s->parts, s->x);
        PARALLEL_FOR(level->threads)
        for (int z = 0; z < level->n[2]; z++)
            give_x(s, x, z);
    }
    s->b = NULL;
    return report;
}
