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
#include <string.h>

static float *scratch(const und_waves *s)
{
    return s->scratch + s->scratch_stride * (size_t)und_thread();
}

/* What the steps of both orders need to know. */
typedef struct scheme {
    float stiffness; /* g dt^2 / dx^2: times a depth, the f of eq. 16 */
    float outer;     /* part of an open edge's coupling in the matrix: 1, or 1/2 */
    float kept;      /* 1 - tau, for a step as long as the last one: times the rise, the motion kept */
    float cells;     /* (1 - tau) dt / dx: times a flow, the height it moves */
    bool second;
} scheme;

static scheme scheme_of(const und_waves *s)
{
    bool second = s->def.order == 2;
    return (scheme){.stiffness = (float)(s->def.height_field.gravity * s->dt * s->dt /
                                         (s->height_field.grid.dx * s->height_field.grid.dx)),
                    .outer = second ? 0.5f : 1.0f,
                    .kept = (float)(und_waves_kept(s) * s->dt / s->rise_time),
                    .cells = (float)(und_waves_kept(s) * s->dt / s->height_field.grid.dx),
                    .second = second};
}

/* Asks for the cells that a later tile or row will need: too many streams for the processor to foresee. */
static inline void prefetch(const void *from, int bytes)
{
    for (int i = 0; i < bytes; i += 64)
        __builtin_prefetch((const char *)from + i);
}

/* What an open edge adds to the system of lines that end at it, by lane. */
typedef struct ends {
    _Alignas(64) float outside[STRIP]; /* coupling to what stands there */
    float lean[STRIP];                 /* what it takes off the coupling to the cell further in */
    float in[STRIP];                   /* to the right side, m */
} ends;

/* The i-th cell's, where the part of the step before has changed the level by c, and in the cell further in
 * by c_inner. */
static inline void end_cell(const und_waves *s, const scheme *k, int e, int i, float c, float c_inner,
                            ends *end, int lane)
{
    const und_waves_edge *edge = &s->edge[e];
    double h = s->height[und_height_field_edge_cell(&s->height_field, e, i)];
    float by = k->second ? (float)(edge->outside[i] - h) : edge->drive[i];
    end->outside[lane] = k->outer * edge->coupling[i] - edge->change[i];
    end->lean[lane] = k->outer * edge->inner[i];
    end->in[lane] = end->outside[lane] * c + edge->coupling[i] * (by - c);
    if (edge->inner[i] > 0) { /* the first order counts with differences of flows: the old step is in them */
        float step =
            k->second ? (float)(h - s->height[und_height_field_inner_cell(&s->height_field, e, i)]) : 0;
        end->in[lane] += edge->inner[i] * step + end->lean[lane] * (c - c_inner);
    }
}

enum { BACK_CELLS = 8 };

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
    const float *drift; /* with flux: the step of the change that the lines across made, m; or NULL */
    const float *base;  /* the cells' own right side is this times the weight, m */
    float weight;
} face;

/* Cells c and x of a line stand side by side; space for the cell before the first. */
static inline void line_begin(int lanes, line *l, float *scratch, const ends *low)
{
    l->c = scratch + 2 * lanes;
    l->x = scratch + 3 * lanes;
    l->turn = 0;
    memset(scratch, 0, 2 * (size_t)lanes * sizeof *scratch);
    memcpy(l->low[0], low->outside, (size_t)lanes * sizeof *low->outside);
    for (int i = 0; i < lanes; i++)
        l->given[0][i] = -low->in[i]; /* what comes in is given to no cell */
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
    float stiffness = k->stiffness, cells = k->cells, weight = f->weight;
    SIMD
    for (int i = 0; i < lanes; i++) {
        high[i] = stiffness * und_waves_face(depth[i], depth_next[i], step[i]);
        flow[i] = high[i] * slope[i];
        rhs[i] = weight * base[i] + flow[i] - given[i];
    }
    SIMD
    for (int i = 0; i < (f->flux ? lanes : 0); i++) {
        float late = und_waves_late(depth[i], depth_next[i], step[i]);
        float drift = f->drift ? (1 - late) * f->drift[i] : 0;
        flow[i] = late * high[i] * (slope[i] + drift) -
                  cells * und_waves_open(f->flux[i], depth[i], depth_next[i], high[i]);
        high[i] *= late * late;
        rhs[i] = weight * base[i] + flow[i] - given[i];
    }
    line_eliminate(lanes, l, high, rhs);
}

/* Takes the lean off the coupling of the first cells, just eliminated, to the next. */
static inline void line_lean(int lanes, line *l, const ends *low)
{
    float *c = l->c - 2 * lanes, *x = l->x - 2 * lanes;
    const float *high = l->low[l->turn];
    for (int i = 0; i < lanes; i++)
        if (low->lean[i] > 0) {
            float before = 1 + low->outside[i] + high[i], now = before - low->lean[i];
            c[i] = (high[i] - low->lean[i]) / now;
            x[i] *= before / now;
        }
}

/* Eliminates the last cells, coupled to the outside, and leaves the line ready to go back. */
static inline void line_end(int lanes, line *l, const ends *high, const float *base)
{
    _Alignas(64) float rhs[STRIP];
    for (int i = 0; i < lanes; i++) {
        rhs[i] = base[i] + high->in[i] - l->given[l->turn][i];
        l->low[l->turn][i] -= high->lean[i];
    }
    line_eliminate(lanes, l, high->outside, rhs);
    memset(l->x, 0, (size_t)lanes * sizeof *l->x);
}

/* Passes over cells past the end of the line: they do not change. */
static inline void line_skip(int lanes, line *l, int count)
{
    memset(l->c, 0, 2 * (size_t)lanes * (size_t)(count + 1) * sizeof *l->c);
    l->c += 2 * lanes * count;
    l->x += 2 * lanes * count;
}

/* The solution of the cells before: overwrites x, from the last cell to the first. */
static inline const float *line_back(int lanes, line *l)
{
    const float *x_high = l->x;
    l->c -= 2 * lanes;
    l->x -= 2 * lanes;
    prefetch(l->c - BACK_CELLS * 2 * lanes, 2 * lanes * (int)sizeof *l->c);
    und_tridiag_back(lanes, l->c, x_high, l->x);
    return l->x;
}

enum { TILE = 16, AHEAD_CELLS = 4 * TILE, AHEAD_ROWS = 6 };

/* TILE columns of LANES rows, turned into lanes. */
typedef struct tile {
    _Alignas(64) float depth[(TILE + 1) * LANES], step[TILE * LANES], slope[TILE * LANES], flux[TILE * LANES],
        rise[TILE * LANES];
} tile;

/* One row's part of a tile. */
static inline void row_values(const und_waves *s, size_t at, float *restrict depth, float *restrict step)
{
    const double *h = s->height + at;
    const float *ground = s->ground + at;
    SIMD
    for (int i = 0; i < TILE; i++) {
        depth[i] = (float)(h[i] - (double)ground[i]);
        step[i] = (float)(h[i + 1] - h[i]);
    }
    prefetch(h + AHEAD_CELLS, TILE * sizeof *h);
    prefetch(ground + AHEAD_CELLS, TILE * sizeof *ground);
    prefetch(s->rise + at + AHEAD_CELLS, TILE * sizeof *ground);
}

/* The tile at cell x of the LANES rows from z; rows past the last are dry. */
static void fill_tile(const und_waves *s, const scheme *k, int x, int z, tile *t)
{
    _Alignas(64) float depth[LANES * TILE], step[LANES * TILE];
    size_t stride = (size_t)s->height_field.stride, first = und_waves_at(s, x, z);
    for (int r = 0; r < LANES; r++) {
        size_t at = und_waves_at(s, x, z + r), next = at + TILE;
        row_values(s, at, depth + r * TILE, step + r * TILE);
        t->depth[TILE * LANES + r] = (float)(s->height[next] - (double)s->ground[next]);
    }
    und_transpose(LANES, TILE, depth, TILE, t->depth, LANES);
    und_transpose(LANES, TILE, step, TILE, t->step, LANES);
    und_transpose(LANES, TILE, s->rise + first, stride, t->rise, LANES);
    if (k->second)
        und_transpose(LANES, TILE, s->flux_x + first, stride, t->flux, LANES);
    if (!s->height_field.head)
        return;
    for (int r = 0; r < LANES; r++)
        for (int i = 0; i < TILE; i++) {
            const float *head = s->height_field.head + und_waves_at(s, x + i, z + r);
            t->slope[i * LANES + r] = t->step[i * LANES + r] + head[1] - head[0];
        }
}

/* The first order's motion is in the rise: half a cell's change counts from it. */
static void row_ends(const und_waves *s, const scheme *k, int e, int z, ends *end)
{
    memset(end, 0, sizeof *end);
    for (int r = 0; r < LANES && z + r < s->height_field.nz; r++) {
        end_cell(s, k, e, z + r, 0, 0, end, r);
        if (!k->second)
            end->in[r] -= s->edge[e].change[z + r] * k->kept *
                          s->rise[und_height_field_edge_cell(&s->height_field, e, z + r)];
    }
}

/* Eliminates columns [first, last) of a tile; the last column of the domain is not among them. */
static void eliminate_tile(const und_waves *s, const scheme *k, line *l, const tile *t, int first, int last)
{
    const float *slope = s->height_field.head ? t->slope : t->step, *flux = k->second ? t->flux : NULL;
    float weight = k->second ? 0 : k->kept; /* the second order's motion is in the flows */
    for (int i = first * LANES; i < last * LANES; i += LANES) {
        face f = {.depth = t->depth + i,
                  .depth_next = t->depth + i + LANES,
                  .step = t->step + i,
                  .slope = slope + i,
                  .flux = flux ? flux + i : NULL,
                  .base = t->rise + i,
                  .weight = weight};
        line_cell(LANES, k, l, &f);
    }
}

/* Takes a tile's columns back: their change becomes rows again. */
static void return_tile(und_waves *s, line *l, int x, int z)
{
    int ahead = x > AHEAD_CELLS ? x - AHEAD_CELLS : 0;
    for (int i = 0; i < TILE; i++)
        line_back(LANES, l);
    for (int r = 0; r < LANES; r++)
        __builtin_prefetch(s->middle + und_waves_at(s, ahead, z + r), 1);
    und_transpose(TILE, LANES, l->x, 2 * LANES, s->middle + und_waves_at(s, x, z),
                  (size_t)s->height_field.stride);
}

/* Solves LANES rows side by side. */
static void solve_rows(und_waves *s, const scheme *k, int z)
{
    tile t;
    line l;
    ends low, high;
    float rhs[LANES];
    int last = (s->height_field.nx - 1) / TILE * TILE, rest = s->height_field.nx - 1 - last;
    row_ends(s, k, UND_LOW_X, z, &low);
    row_ends(s, k, UND_HIGH_X, z, &high);
    line_begin(LANES, &l, scratch(s), &low);
    for (int x = 0; x <= last; x += TILE) {
        fill_tile(s, k, x, z, &t);
        if (x == 0) {
            eliminate_tile(s, k, &l, &t, 0, 1);
            line_lean(LANES, &l, &low);
        }
        eliminate_tile(s, k, &l, &t, x == 0, x < last ? TILE : rest);
    }
    for (int r = 0; r < LANES; r++)
        rhs[r] = (k->second ? 0 : k->kept) * t.rise[rest * LANES + r];
    line_end(LANES, &l, &high, rhs);
    line_skip(LANES, &l, TILE - 1 - rest);
    for (int x = last; x >= 0; x -= TILE)
        return_tile(s, &l, x, z);
}

void und_waves_rows(und_waves *s)
{
    scheme k = scheme_of(s);
    int blocks = (s->height_field.nz + LANES - 1) / LANES;
    PARALLEL_FOR(s->height_field.threads)
    for (int i = 0; i < blocks; i++)
        solve_rows(s, &k, i * LANES);
}

/* The wet mask of a word that is not plain: cells that had water or were given some (or lost what they had
 * not). */
static uint64_t wet_mask(const double *restrict h, const float *restrict ground, const float *restrict change)
{
    uint64_t mask = 0;
    for (int i = 0; i < STRIP; i++) {
        double floor = (double)ground[i];
        mask |= (uint64_t)(h[i] > floor || h[i] + (double)change[i] != floor) << i;
    }
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

static float strip_least(const float *restrict v)
{
    float part[8], least;
    memcpy(part, v, sizeof part);
    for (int i = 8; i < STRIP; i += 8) {
        SIMD
        for (int j = 0; j < 8; j++)
            part[j] = v[i + j] < part[j] ? v[i + j] : part[j];
    }
    least = part[0];
    for (int j = 1; j < 8; j++)
        least = part[j] < least ? part[j] : least;
    return least;
}

/* Puts the new heights in place, and notes for the pieces which cells are wet and what has appeared.  The
 * rise is left as the change of height, as it came out after rounding. */
static void apply_row(und_waves *s, int x, int z, const float *restrict change)
{
    size_t at = und_waves_at(s, x, z), word = (size_t)z * (size_t)s->words + (size_t)(x / STRIP);
    double *restrict h = s->height + at;
    float *restrict rise = s->rise + at;
    _Alignas(64) double gain[STRIP];
    float fall = strip_least(change);
    s->plain[word] = s->least[word] + (fall < 0 ? fall : 0) >= (float)s->shallow;
    s->wet[word] = s->plain[word] ? UINT64_MAX : wet_mask(h, s->ground + at, change);
    SIMD
    for (int i = 0; i < STRIP; i++) {
        double old = h[i], new = old + (double)change[i];
        gain[i] = new - old;
        h[i] = new;
        rise[i] = (float)gain[i];
    }
    s->gain[word] = strip_sum(gain);
}

/* What the cells of a strip in row z meet at the faces to the next row. */
typedef struct strip {
    _Alignas(64) float depth[2][STRIP]; /* of even and of odd rows */
    float step[STRIP], slope[STRIP], drift[STRIP];
} strip;

static void column_faces(const und_waves *s, const scheme *k, int x, int z, strip *restrict t)
{
    size_t at = und_waves_at(s, x, z), next = at + (size_t)s->height_field.stride;
    const double *h = s->height + at, *h_next = s->height + next;
    const float *ground = s->ground + next, *middle = s->middle + at, *middle_next = s->middle + next;
    float *depth = t->depth[~z & 1];
    SIMD
    for (int i = 0; i < STRIP; i++) {
        depth[i] = (float)(h_next[i] - (double)ground[i]);
        t->step[i] = (float)(h_next[i] - h[i]);
    }
    s->least[(size_t)(z + 1) * (size_t)s->words + (size_t)(x / STRIP)] = strip_least(depth);
    for (int i = 0; k->second && i < STRIP; i++)
        t->drift[i] = middle_next[i] - middle[i];
    for (int i = 0; s->height_field.head && i < STRIP; i++)
        t->slope[i] =
            t->step[i] + s->height_field.head[next + (size_t)i] - s->height_field.head[at + (size_t)i];
    size_t ahead = und_waves_at(s, x, z + AHEAD_ROWS < s->height_field.nz ? z + AHEAD_ROWS : z);
    prefetch(s->height + ahead, STRIP * sizeof(double));
    prefetch(s->ground + ahead, STRIP * sizeof(float));
    prefetch(s->middle + ahead, STRIP * sizeof(float));
}

static void column_ends(const und_waves *s, const scheme *k, int e, int x, ends *end)
{
    memset(end, 0, sizeof *end);
    for (int i = 0; i < STRIP && x + i < s->height_field.nx; i++) {
        size_t at = und_height_field_edge_cell(&s->height_field, e, x + i);
        bool inner = s->edge[e].inner[x + i] > 0;
        end_cell(s, k, e, x + i, s->middle[at],
                 inner ? s->middle[und_height_field_inner_cell(&s->height_field, e, x + i)] : 0, end, i);
    }
}

/* Solves STRIP columns side by side, and puts the new heights in place on the way back.  The unknown is the
 * change over rows and columns together, c: A c = middle + (A - 1) of what the rows left of h. */
static void solve_strip(und_waves *s, const scheme *k, int x)
{
    line l;
    strip t;
    ends low, high;
    _Alignas(64) float last[STRIP];
    column_ends(s, k, UND_LOW_Z, x, &low);
    column_ends(s, k, UND_HIGH_Z, x, &high);
    line_begin(STRIP, &l, scratch(s), &low);
    for (int i = 0; i < STRIP; i++)
        t.depth[0][i] = (float)und_waves_depth(s, und_waves_at(s, x + i, 0));
    s->least[x / STRIP] = strip_least(t.depth[0]);
    for (int z = 0; z < s->height_field.nz - 1; z++) {
        size_t at = und_waves_at(s, x, z);
        face f = {.depth = t.depth[z & 1],
                  .depth_next = t.depth[~z & 1],
                  .step = t.step,
                  .slope = s->height_field.head ? t.slope : t.step,
                  .flux = k->second ? s->flux_z + at : NULL,
                  .drift = t.drift,
                  .base = s->middle + at,
                  .weight = 1};
        column_faces(s, k, x, z, &t);
        line_cell(STRIP, k, &l, &f);
        if (z == 0)
            line_lean(STRIP, &l, &low);
    }
    memcpy(last, s->middle + und_waves_at(s, x, s->height_field.nz - 1), sizeof last);
    line_end(STRIP, &l, &high, last);
    for (int z = s->height_field.nz - 1; z >= 0; z--) {
        size_t ahead = und_waves_at(s, x, z >= AHEAD_ROWS ? z - AHEAD_ROWS : z);
        prefetch(s->height + ahead, STRIP * sizeof(double));
        prefetch(s->rise + ahead, STRIP * sizeof(float));
        apply_row(s, x, z, line_back(STRIP, &l));
    }
}

void und_waves_columns(und_waves *s)
{
    scheme k = scheme_of(s);
    PARALLEL_FOR(s->height_field.threads)
    for (int word = 0; word < s->words; word++)
        solve_strip(s, &k, word * STRIP);
}
