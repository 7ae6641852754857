/* The implicit step: equation 19 along the rows, equation 20 along the columns.
 *
 * Both solve for the change of h rather than for h: with A h(n) = h(n-1) + (1 - tau) v, v = h(n-1) - h(n-2),
 * the change h(n) - h(n-1) = c obeys A c = (1 - tau) v - (A - 1) h(n-1), whose right side is exactly zero in
 * water at rest.  Changes are small, so float holds them to full relative accuracy while the heights
 * themselves are double.
 *
 * The second-order step takes h and the flows between columns by the trapezoidal rule, first along x, then
 * along z: (1 - L_x/4) c = -div q + L_x h / 2.  Each half keeps the energy g h^2 + q^2 / d, so that the whole
 * is stable at any dt and does not damp; und_waves_late says where it does. */
#include "base/parallel.h"
#include "liquid/waves_kernel.h"
#include "liquid/waves_state.h"
#include "solve/transpose_kernel.h"
#include "solve/tridiag_kernel.h"

#include <math.h>
#include <omp.h>
#include <string.h>

static float *scratch(const und_waves *s)
{
    return s->scratch + s->scratch_stride * (size_t)omp_get_thread_num();
}

/* What the steps of both orders need to know. */
typedef struct scheme {
    float stiffness; /* g dt^2 / dx^2: times a depth, the f of eq. 16 */
    float outer;     /* part of an open edge's coupling in the matrix: 1, or 1/2 */
    float kept;      /* (1 - tau) dt: times the rise, the motion kept */
    float cells;     /* (1 - tau) dt / dx: times a flow, the height it moves */
    bool second;
} scheme;

static scheme scheme_of(const und_waves *s)
{
    bool second = s->def.order == 2;
    return (scheme){.stiffness = (float)(s->def.gravity * s->dt * s->dt / (s->grid.dx * s->grid.dx)),
                    .outer = second ? 0.5f : 1.0f,
                    .kept = (float)(und_waves_kept(s) * s->dt),
                    .cells = (float)(und_waves_kept(s) * s->dt / s->grid.dx),
                    .second = second};
}

/* Asks for the cells that a later tile or row will need: too many streams for the processor to foresee. */
static inline void prefetch(const void *from, int bytes)
{
    for (int i = 0; i < bytes; i += 64)
        __builtin_prefetch((const char *)from + i);
}

/* What an open edge adds to the right side of its cell, whose height so far is h, c above that before the
 * step. */
static inline float edge_rhs(const scheme *k, const und_waves_edge *edge, int i, double h, float c)
{
    float by = k->second ? (float)(edge->outside[i] - h) - 0.5f * edge->drive[i] : edge->drive[i];
    return edge->coupling[i] * (by - c);
}

/* The elimination on its way along lines side by side, one per lane: rows, or columns. */
typedef struct line {
    float *c, *x;                       /* of the cell to come; those before it stand in front */
    int turn;                           /* which of the pairs below belongs to the cell to come */
    _Alignas(64) float low[2][STRIP];   /* its coupling to the cell before */
    _Alignas(64) float given[2][STRIP]; /* what flows from it to the cell before */
} line;

/* What happens at the faces to the next cells and in the cells themselves, by lane. */
typedef struct face {
    const float *depth, *depth_next; /* of the cells and of the next ones */
    const float *step;               /* of the surface to them, m */
    const float *slope;              /* of what drives the flow, m: the step, and what else acts */
    const float *flux;               /* the flow there so far, m2/s, where the scheme keeps it; or NULL */
    const float *base;               /* the cells' own right side, m */
} face;

/* Cells c and x of a line stand side by side; space for the cell before the first. */
static inline void line_begin(int lanes, line *l, float *scratch, const float *low)
{
    l->c = scratch + 2 * lanes;
    l->x = scratch + 3 * lanes;
    l->turn = 0;
    memset(scratch, 0, 2 * (size_t)lanes * sizeof *scratch);
    memset(l->given[0], 0, sizeof l->given[0]);
    memcpy(l->low[0], low, (size_t)lanes * sizeof *low);
}

static inline void line_eliminate(int lanes, line *l, const float *high, const float *rhs)
{
    und_tridiag_forward(lanes, l->low[l->turn], high, rhs, l->c - 2 * lanes, l->x - 2 * lanes, l->c, l->x);
    l->c += 2 * lanes;
    l->x += 2 * lanes;
    l->turn = !l->turn;
}

/* Eliminates cells that have next ones: eq. 13's flows through both faces. */
static inline __attribute__((always_inline)) void line_cell(int lanes, const scheme *k, line *l,
                                                            const face *f)
{
    _Alignas(64) float rhs[STRIP];
    float *restrict high = l->low[!l->turn], *restrict flow = l->given[!l->turn];
    const float *restrict given = l->given[l->turn], *restrict base = f->base;
    const float *depth = f->depth, *depth_next = f->depth_next, *step = f->step, *slope = f->slope;
    float stiffness = k->stiffness, cells = k->cells;
    SIMD
    for (int i = 0; i < lanes; i++) {
        high[i] = stiffness * und_waves_face(depth[i], depth_next[i], step[i]);
        flow[i] = high[i] * slope[i];
        rhs[i] = base[i] + flow[i] - given[i];
    }
    SIMD
    for (int i = 0; i < (f->flux ? lanes : 0); i++) {
        float late = und_waves_late(depth[i], depth_next[i], step[i]);
        flow[i] = late * flow[i] - cells * und_waves_open(f->flux[i], depth[i], depth_next[i], high[i]);
        high[i] *= late * late;
        rhs[i] = base[i] + flow[i] - given[i];
    }
    line_eliminate(lanes, l, high, rhs);
}

/* Eliminates the last cells, coupled to the outside, and leaves the line ready to go back. */
static inline void line_end(int lanes, line *l, const float *outside, const float *base)
{
    _Alignas(64) float rhs[STRIP];
    for (int i = 0; i < lanes; i++)
        rhs[i] = base[i] - l->given[l->turn][i];
    line_eliminate(lanes, l, outside, rhs);
    memset(l->x, 0, (size_t)lanes * sizeof *l->x);
}

/* The solution of the cells before: overwrites x, from the last cell to the first. */
static inline const float *line_back(int lanes, line *l)
{
    const float *x_high = l->x;
    l->c -= 2 * lanes;
    l->x -= 2 * lanes;
    und_tridiag_back(lanes, l->c, x_high, l->x);
    return l->x;
}

enum { TILE = UND_LANES * UND_LANES, AHEAD_CELLS = 4 * UND_LANES, AHEAD_ROWS = 6 };

/* A tile of UND_LANES rows and columns. */
typedef struct tile {
    _Alignas(64) float depth[TILE + UND_LANES], step[TILE], slope[TILE], flux[TILE], base[TILE];
} tile;

/* One row's part of a tile. */
static inline void row_values(const und_waves *s, float kept, size_t at, tile *restrict t, int first)
{
    const double *h = s->height + at;
    const float *ground = s->ground + at, *rise = s->rise + at;
    float *depth = t->depth + first, *step = t->step + first, *base = t->base + first;
    SIMD
    for (int i = 0; i < UND_LANES; i++) {
        depth[i] = (float)(h[i] - (double)ground[i]);
        step[i] = (float)(h[i + 1] - h[i]);
        base[i] = kept * rise[i];
    }
    prefetch(h + AHEAD_CELLS, UND_LANES * sizeof *h);
    prefetch(ground + AHEAD_CELLS, UND_LANES * sizeof *ground);
    prefetch(rise + AHEAD_CELLS, UND_LANES * sizeof *rise);
}

/* The tile at cell x of the UND_LANES rows from z, turned into lanes; rows past the last repeat it. */
static void fill_tile(const und_waves *s, const scheme *k, int x, int z, tile *t)
{
    tile rows;
    float kept = k->second ? 0 : k->kept; /* the second order's motion is in the flows */
    for (int r = 0; r < UND_LANES; r++) {
        size_t at = und_waves_at(s, x, z + r < s->nz ? z + r : s->nz - 1), next = at + UND_LANES;
        row_values(s, kept, at, &rows, r * UND_LANES);
        t->depth[TILE + r] = (float)(s->height[next] - (double)s->ground[next]);
        for (int i = 0; s->head && i < UND_LANES; i++)
            rows.slope[r * UND_LANES + i] =
                rows.step[r * UND_LANES + i] + s->head[at + (size_t)i + 1] - s->head[at + (size_t)i];
        if (k->second)
            memcpy(rows.flux + r * UND_LANES, s->flux_x + at, UND_LANES * sizeof *rows.flux);
    }
    und_transpose_tile(rows.depth, t->depth);
    und_transpose_tile(rows.step, t->step);
    und_transpose_tile(rows.base, t->base);
    if (s->head)
        und_transpose_tile(rows.slope, t->slope);
    if (k->second)
        und_transpose_tile(rows.flux, t->flux);
}

/* Couplings of UND_LANES rows to the outside, and what comes in from there. */
static void row_edge(const und_waves *s, const scheme *k, int e, int x, int z, float *coupling, float *base)
{
    for (int r = 0; r < UND_LANES; r++) {
        int row = z + r < s->nz ? z + r : s->nz - 1;
        coupling[r] = k->outer * s->edge[e].coupling[row] - und_waves_half(s, e, row);
        base[r] += edge_rhs(k, &s->edge[e], row, s->height[und_waves_at(s, x, row)], 0);
    }
}

/* Eliminates `count` columns of a tile; the last column of the domain is not among them. */
static void eliminate_tile(const und_waves *s, const scheme *k, line *l, const tile *t, int count)
{
    const float *slope = s->head ? t->slope : t->step, *flux = k->second ? t->flux : NULL;
    for (int i = 0; i < count * UND_LANES; i += UND_LANES) {
        face f = {t->depth + i, t->depth + i + UND_LANES, t->step + i,
                  slope + i,    flux ? flux + i : NULL,   t->base + i};
        line_cell(UND_LANES, k, l, &f);
    }
}

/* Takes `count` columns back and puts them, as rows again, where the half-way change is kept. */
static void return_tile(und_waves *s, line *l, int x, int z, int count)
{
    _Alignas(64) float lanes[TILE] = {0}, rows[TILE];
    for (int i = (count - 1) * UND_LANES; i >= 0; i -= UND_LANES)
        memcpy(lanes + i, line_back(UND_LANES, l), UND_LANES * sizeof *lanes);
    und_transpose_tile(lanes, rows);
    for (int r = 0; r < UND_LANES && z + r < s->nz; r++)
        memcpy(s->middle + und_waves_at(s, x, z + r), rows + r * UND_LANES, UND_LANES * sizeof *rows);
}

/* Solves UND_LANES rows side by side. */
static void solve_rows(und_waves *s, const scheme *k, int z)
{
    tile t;
    line l;
    float outside[UND_LANES], in[UND_LANES] = {0};
    int last = (s->nx - 1) / UND_LANES * UND_LANES;
    row_edge(s, k, UND_LOW_X, 0, z, outside, in);
    line_begin(UND_LANES, &l, scratch(s), outside);
    for (int x = 0; x <= last; x += UND_LANES) {
        fill_tile(s, k, x, z, &t);
        for (int r = 0; x == 0 && r < UND_LANES; r++)
            t.base[r] += in[r];
        eliminate_tile(s, k, &l, &t, x < last ? UND_LANES : s->nx - 1 - last);
    }
    float *base = t.base + (s->nx - 1 - last) * UND_LANES;
    row_edge(s, k, UND_HIGH_X, s->nx - 1, z, outside, base);
    line_end(UND_LANES, &l, outside, base);
    for (int x = last; x >= 0; x -= UND_LANES)
        return_tile(s, &l, x, z, x < last ? UND_LANES : s->nx - last);
}

void und_waves_rows(und_waves *s)
{
    scheme k = scheme_of(s);
    int blocks = (s->nz + UND_LANES - 1) / UND_LANES;
    PARALLEL_FOR(s->threads)
    for (int i = 0; i < blocks; i++)
        solve_rows(s, &k, i * UND_LANES);
}

/* The wet mask of a word that is not plain: cells that had water or were given some (or lost what they had
 * not). */
static uint64_t wet_mask(const float *restrict before, const double *restrict h, const float *restrict ground)
{
    uint64_t mask = 0;
    for (int i = 0; i < STRIP; i++)
        mask |= (uint64_t)(before[i] > 0 || h[i] != (double)ground[i]) << i;
    return mask;
}

/* Sum and least of a strip, in a fixed order that fills vectors. */
static double strip_sum(const double *restrict v)
{
    double part[8] = {0};
    for (int i = 0; i < STRIP; i += 8)
        for (int j = 0; j < 8; j++)
            part[j] += v[i + j];
    return ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

static float strip_least(float *restrict v)
{
    for (int half = STRIP / 2; half >= 8; half /= 2) {
        SIMD
        for (int i = 0; i < half; i++)
            v[i] = v[i + half] < v[i] ? v[i + half] : v[i];
    }
    float least = v[0];
    for (int i = 1; i < 8; i++)
        least = v[i] < least ? v[i] : least;
    return least;
}

/* Puts the new heights in place, and notes for the pieces which cells are wet and what has appeared.  The
 * rise is left as the change of height, as it came out after rounding; und_waves_conserve makes it a speed.
 */
static void apply_row(und_waves *s, int x, int z, const float *restrict solution)
{
    size_t at = und_waves_at(s, x, z), word = (size_t)z * (size_t)s->words + (size_t)(x / STRIP);
    double *restrict h = s->height + at;
    float *restrict rise = s->rise + at;
    const float *restrict ground = s->ground + at, *restrict middle = s->middle + at;
    _Alignas(64) double gain[STRIP];
    _Alignas(64) float before[STRIP], least[STRIP];
    SIMD
    for (int i = 0; i < STRIP; i++) {
        float change = middle[i] + solution[i];
        double old = h[i], new = old + (double)change;
        before[i] = (float)(old - (double)ground[i]);
        least[i] = change < 0 ? before[i] + change : before[i];
        gain[i] = new - old;
        h[i] = new;
        rise[i] = (float)gain[i];
    }
    bool plain = strip_least(least) >= (float)s->shallow;
    s->plain[word] = plain;
    s->gain[word] = strip_sum(gain);
    s->wet[word] = plain ? UINT64_MAX : wet_mask(before, h, ground);
}

/* What the cells of a strip in row z meet at the faces to the next row. */
static void column_faces(const und_waves *s, int x, int z, float *restrict depth, float *restrict step,
                         float *restrict slope)
{
    size_t at = und_waves_at(s, x, z), next = at + (size_t)s->stride;
    const double *h = s->height + at, *h_next = s->height + next;
    const float *ground = s->ground + next, *middle = s->middle + at, *middle_next = s->middle + next;
    SIMD
    for (int i = 0; i < STRIP; i++) {
        depth[i] = (float)(h_next[i] - (double)ground[i]);
        step[i] = (float)(h_next[i] - h[i]);
        slope[i] = step[i] + (middle_next[i] - middle[i]);
    }
    for (int i = 0; s->head && i < STRIP; i++)
        slope[i] += s->head[next + (size_t)i] - s->head[at + (size_t)i];
    size_t ahead = und_waves_at(s, x, z + AHEAD_ROWS < s->nz ? z + AHEAD_ROWS : z);
    prefetch(s->height + ahead, STRIP * sizeof(double));
    prefetch(s->ground + ahead, STRIP * sizeof(float));
    prefetch(s->middle + ahead, STRIP * sizeof(float));
}

/* Couplings of a strip's columns to the outside, and what comes in from there. */
static void column_edge(const und_waves *s, const scheme *k, int e, int x, int z, float *coupling,
                        float *base)
{
    memset(coupling, 0, STRIP * sizeof *coupling);
    for (int i = 0; i < STRIP && x + i < s->nx; i++) {
        size_t at = und_waves_at(s, x + i, z);
        coupling[i] = k->outer * s->edge[e].coupling[x + i] - und_waves_half(s, e, x + i);
        base[i] += edge_rhs(k, &s->edge[e], x + i, s->height[at], s->middle[at]);
    }
}

/* Solves STRIP columns side by side, and puts the new heights in place on the way back. */
static void solve_strip(und_waves *s, const scheme *k, int x)
{
    line l;
    _Alignas(64) float outside[STRIP], low[STRIP] = {0}, high[STRIP] = {0}, zero[STRIP] = {0};
    _Alignas(64) float depth[2][STRIP], step[STRIP], slope[STRIP];
    column_edge(s, k, UND_LOW_Z, x, 0, outside, low);
    line_begin(STRIP, &l, scratch(s), outside);
    for (int i = 0; i < STRIP; i++)
        depth[0][i] = (float)und_waves_depth(s, und_waves_at(s, x + i, 0));
    for (int z = 0; z < s->nz - 1; z++) {
        const float *flux = k->second ? s->flux_z + und_waves_at(s, x, z) : NULL;
        face f = {depth[z & 1], depth[~z & 1], step, slope, flux, z == 0 ? low : zero};
        column_faces(s, x, z, depth[~z & 1], step, slope);
        line_cell(STRIP, k, &l, &f);
    }
    column_edge(s, k, UND_HIGH_Z, x, s->nz - 1, outside, high);
    for (int i = 0; s->nz == 1 && i < STRIP; i++)
        high[i] += low[i];
    line_end(STRIP, &l, outside, high);
    for (int z = s->nz - 1; z >= 0; z--) {
        size_t ahead = und_waves_at(s, x, z >= AHEAD_ROWS ? z - AHEAD_ROWS : z);
        prefetch(s->height + ahead, STRIP * sizeof(double));
        prefetch(s->ground + ahead, STRIP * sizeof(float));
        prefetch(s->middle + ahead, STRIP * sizeof(float));
        prefetch(s->rise + ahead, STRIP * sizeof(float));
        apply_row(s, x, z, line_back(STRIP, &l));
    }
}

void und_waves_columns(und_waves *s)
{
    scheme k = scheme_of(s);
    PARALLEL_FOR(s->threads)
    for (int strip = 0; strip < s->words; strip++)
        solve_strip(s, &k, strip * STRIP);
}
