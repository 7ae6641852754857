/* The implicit step: equation 19 along the rows, equation 20 along the columns.
 *
 * Both solve for the change of h rather than for h: with A h(n) = h(n-1) + (1 - tau) v, v = h(n-1) - h(n-2),
 * the change h(n) - h(n-1) = c obeys A c = (1 - tau) v - (A - 1) h(n-1), whose right side is exactly zero in
 * water at rest.  Changes are small, so float holds them to full relative accuracy while the heights
 * themselves are double.
 *
 * The second-order step takes h and the flows between columns by the trapezoidal rule, first along x, then
 * along z: (1 - L_x/4) c = -div q + L_x h / 2.  Each half keeps the energy g h^2 + q^2 / d, so that the whole
 * is stable at any dt and does not damp. */
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
    float implicit;  /* part of it in the matrix: 1, or 1/4 */
    float explicit;  /* and on the right side: 1, or 1/2 */
    float kept;      /* (1 - tau) dt: times the rise, the motion kept */
    bool second;
} scheme;

static scheme scheme_of(const und_waves *s)
{
    bool second = s->def.order == 2;
    return (scheme){.stiffness = (float)(s->def.gravity * s->dt * s->dt / (s->grid.dx * s->grid.dx)),
                    .implicit = second ? 0.25f : 1.0f,
                    .explicit = second ? 0.5f : 1.0f,
                    .kept = (float)(und_waves_kept(s) * s->dt),
                    .second = second};
}

/* Coupling and flow between `count` cells at `a` and those at `b`: flow is towards a.  `flux` is the second
 * order's flow at those faces, NULL for the first. */
static inline void faces(const und_waves *s, const scheme *k, int count, size_t a, size_t b,
                         const float *flux, float *restrict coupling, float *restrict flow)
{
    const double *ha = s->height + a, *hb = s->height + b;
    const float *ga = s->ground + a, *gb = s->ground + b;
    float explicit = k->explicit;
    SIMD
    for (int i = 0; i < count; i++) {
        float step = (float)(hb[i] - ha[i]);
        float face = und_waves_face((float)(ha[i] - (double)ga[i]), (float)(hb[i] - (double)gb[i]), step);
        coupling[i] = k->stiffness * face;
        flow[i] = explicit * coupling[i] * step;
    }
    if (s->head)
        for (int i = 0; i < count; i++)
            flow[i] += explicit * coupling[i] * (s->head[b + (size_t)i] - s->head[a + (size_t)i]);
    if (flux) {
        float cells = k->kept / (float)s->grid.dx;
        for (int i = 0; i < count; i++)
            flow[i] -= cells * und_waves_open(flux[i], (float)(ha[i] - (double)ga[i]),
                                              (float)(hb[i] - (double)gb[i]), coupling[i]);
    }
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

enum { TILE = UND_LANES * UND_LANES, AHEAD_CELLS = 4 * UND_LANES, AHEAD_ROWS = 6 };

/* One tile of UND_LANES rows and columns: couplings, and flows that come in from the right, row by row. */
static void row_faces(const und_waves *s, const scheme *k, int x, int z, float *restrict coupling,
                      float *restrict flow)
{
    int last = s->nx - 1 - x;
    for (int r = 0; r < UND_LANES; r++) {
        size_t at = und_waves_at(s, x, z + r < s->nz ? z + r : s->nz - 1);
        prefetch(s->height + at + AHEAD_CELLS, UND_LANES * sizeof(double));
        prefetch(s->ground + at + AHEAD_CELLS, UND_LANES * sizeof(float));
        prefetch(s->rise + at + AHEAD_CELLS, UND_LANES * sizeof(float));
        faces(s, k, UND_LANES, at, at + 1, k->second ? s->flux_x + at : NULL, coupling + r * UND_LANES,
              flow + r * UND_LANES);
        if (last < UND_LANES)
            coupling[r * UND_LANES + last] = flow[r * UND_LANES + last] = 0;
    }
}

/* The part of the right side that belongs to the cell itself: the motion kept, and the open edges. */
static void row_rhs(const und_waves *s, const scheme *k, int x, int z, float *restrict coupling,
                    float *restrict rhs)
{
    int last = s->nx - 1 - x;
    for (int r = 0; r < UND_LANES; r++) {
        int row = z + r < s->nz ? z + r : s->nz - 1;
        size_t at = und_waves_at(s, x, row);
        float *b = rhs + r * UND_LANES, *c = coupling + r * UND_LANES;
        const float *rise = s->rise + at;
        float kept = k->second ? 0 : k->kept; /* the second order's motion is in the flow */
        for (int i = 0; i < UND_LANES; i++)
            b[i] = kept * rise[i];
        for (int i = 0; i < UND_LANES; i++)
            c[i] *= k->implicit;
        if (x == 0)
            b[0] += edge_rhs(k, &s->edge[UND_LOW_X], row, s->height[at], 0);
        if (last < UND_LANES) {
            c[last] = k->explicit * s->edge[UND_HIGH_X].coupling[row];
            b[last] += edge_rhs(k, &s->edge[UND_HIGH_X], row, s->height[at + (size_t)last], 0);
        }
    }
}

/* Eliminates one tile's cells, in lanes; `low` and `flow_low` are the couplings and flows at its left side.
 */
static void eliminate_tile(const und_waves *s, int x, const float *restrict coupling,
                           const float *restrict flow, float *restrict rhs, float *restrict low,
                           float *restrict flow_low, float *c, float *solution)
{
    for (int i = 0; i < UND_LANES; i++) {
        const float *high = coupling + i * UND_LANES, *in = flow + i * UND_LANES;
        float *b = rhs + i * UND_LANES, *ci = c + i * UND_LANES, *xi = solution + i * UND_LANES;
        SIMD
        for (int l = 0; l < UND_LANES; l++)
            b[l] += in[l] - flow_low[l];
        und_tridiag_forward(UND_LANES, low, high, b, ci - UND_LANES, xi - UND_LANES, ci, xi);
        memcpy(low, high, UND_LANES * sizeof *low);
        memcpy(flow_low, in, UND_LANES * sizeof *low);
        if (x + i == s->nx - 1) { /* the outer coupling leads to no cell */
            memset(low, 0, UND_LANES * sizeof *low);
            memset(ci, 0, UND_LANES * sizeof *ci);
        }
    }
}

/* Solves UND_LANES rows side by side. */
static void solve_rows(und_waves *s, const scheme *k, int z)
{
    int tiles = (s->nx + UND_LANES - 1) / UND_LANES;
    size_t length = (size_t)tiles * TILE;
    float *c = scratch(s) + UND_LANES, *x = c + length + UND_LANES, zero[UND_LANES] = {0};
    float rows[3][TILE], coupling[TILE], flow[TILE], rhs[TILE], low[UND_LANES], flow_low[UND_LANES] = {0};
    memset(c - UND_LANES, 0, sizeof zero);
    memset(x - UND_LANES, 0, sizeof zero);
    for (int r = 0; r < UND_LANES; r++)
        low[r] = k->explicit * s->edge[UND_LOW_X].coupling[z + r < s->nz ? z + r : s->nz - 1];
    for (int t = 0; t < tiles; t++) {
        row_faces(s, k, t * UND_LANES, z, rows[0], rows[1]);
        row_rhs(s, k, t * UND_LANES, z, rows[0], rows[2]);
        und_transpose_tile(rows[0], coupling);
        und_transpose_tile(rows[1], flow);
        und_transpose_tile(rows[2], rhs);
        eliminate_tile(s, t * UND_LANES, coupling, flow, rhs, low, flow_low, c + t * TILE, x + t * TILE);
    }
    const float *x_high = zero;
    for (int t = tiles - 1; t >= 0; t--) {
        for (int i = UND_LANES - 1; i >= 0; i--) {
            float *xi = x + t * TILE + i * UND_LANES;
            und_tridiag_back(UND_LANES, c + t * TILE + i * UND_LANES, x_high, xi);
            x_high = xi;
        }
        und_transpose_tile(x + t * TILE, rows[0]);
        for (int r = 0; r < UND_LANES && z + r < s->nz; r++)
            memcpy(s->middle + und_waves_at(s, t * UND_LANES, z + r), rows[0] + r * UND_LANES,
                   UND_LANES * sizeof(float));
    }
}

void und_waves_rows(und_waves *s)
{
    scheme k = scheme_of(s);
    int blocks = (s->nz + UND_LANES - 1) / UND_LANES;
    PARALLEL_FOR(s->threads)
    for (int i = 0; i < blocks; i++)
        solve_rows(s, &k, i * UND_LANES);
}

/* Equation 20's couplings and right side for the cells of a strip in row z; flow is kept for the next row. */
static void column_system(const und_waves *s, const scheme *k, int x, int z, float *restrict coupling,
                          float *restrict rhs, float *restrict flow)
{
    const und_waves_edge *low = &s->edge[UND_LOW_Z], *high = &s->edge[UND_HIGH_Z];
    size_t at = und_waves_at(s, x, z), next = at + (size_t)s->stride;
    const float *here = s->middle + at, *there = s->middle + next;
    int real = s->nx - x < STRIP ? s->nx - x : STRIP;
    for (int i = 0; i < STRIP; i++)
        rhs[i] = -flow[i];
    for (int i = 0; z == 0 && i < real; i++)
        rhs[i] += edge_rhs(k, low, x + i, s->height[at + (size_t)i], here[i]);
    if (z + 1 < s->nz) {
        faces(s, k, STRIP, at, next, k->second ? s->flux_z + at : NULL, coupling, flow);
        for (int i = 0; i < STRIP; i++) {
            flow[i] += k->explicit * coupling[i] * (there[i] - here[i]);
            rhs[i] += flow[i];
            coupling[i] *= k->implicit;
        }
    } else {
        memset(coupling, 0, STRIP * sizeof *coupling);
        for (int i = 0; i < real; i++) {
            coupling[i] = k->explicit * high->coupling[x + i];
            rhs[i] += edge_rhs(k, high, x + i, s->height[at + (size_t)i], here[i]);
        }
    }
}

/* The wet mask of a word that is not plain: cells that had water or were given some (or lost what they had
 * not). */
static uint64_t wet_mask(const double *restrict old, const double *restrict new, const float *restrict ground)
{
    uint64_t mask = 0;
    for (int i = 0; i < STRIP; i++)
        mask |= (uint64_t)(old[i] > (double)ground[i] || new[i] != (double)ground[i]) << i;
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
    float part[8];
    memcpy(part, v, sizeof part);
    for (int i = 8; i < STRIP; i += 8)
        for (int j = 0; j < 8; j++)
            part[j] = v[i + j] < part[j] ? v[i + j] : part[j];
    float least = part[0];
    for (int j = 1; j < 8; j++)
        least = part[j] < least ? part[j] : least;
    return least;
}

/* Puts the new heights in place, and notes for the pieces which cells are wet and what has appeared.  The
 * rise is left as the change of height; und_waves_conserve makes it a speed. */
static void apply_row(und_waves *s, int x, int z, const float *restrict solution)
{
    size_t at = und_waves_at(s, x, z), word = (size_t)z * (size_t)s->words + (size_t)(x / STRIP);
    double *restrict h = s->height + at;
    float *restrict rise = s->rise + at;
    const float *restrict ground = s->ground + at;
    const float *middle = s->middle + at;
    double now[STRIP], gain[STRIP];
    float change[STRIP], least[STRIP];
    for (int i = 0; i < STRIP; i++)
        change[i] = middle[i] + solution[i];
    SIMD
    for (int i = 0; i < STRIP; i++) {
        double old = h[i], new = old + (double)change[i], floor = (double)ground[i];
        float before = (float)(old - floor), after = (float)(new - floor);
        least[i] = before < after ? before : after;
        gain[i] = new - old;
        now[i] = new;
    }
    memcpy(rise, change, sizeof change);
    bool plain = strip_least(least) >= (float)s->shallow;
    s->plain[word] = plain;
    s->gain[word] = strip_sum(gain);
    s->wet[word] = plain ? UINT64_MAX : wet_mask(h, now, ground);
    memcpy(h, now, sizeof now);
}

static void solve_strip(und_waves *s, const scheme *k, int x)
{
    float *c = scratch(s), *solution = c + (size_t)s->nz * STRIP;
    float low[STRIP] = {0}, high[STRIP], rhs[STRIP], flow[STRIP] = {0}, zero[STRIP] = {0};
    for (int i = 0; i < STRIP && x + i < s->nx; i++)
        low[i] = k->explicit * s->edge[UND_LOW_Z].coupling[x + i];
    const float *c_low = zero, *x_low = zero;
    for (int z = 0; z < s->nz; z++) {
        float *cz = c + z * STRIP, *xz = solution + z * STRIP;
        size_t ahead = und_waves_at(s, x, z + AHEAD_ROWS < s->nz ? z + AHEAD_ROWS : z);
        prefetch(s->height + ahead, STRIP * sizeof(double));
        prefetch(s->ground + ahead, STRIP * sizeof(float));
        prefetch(s->middle + ahead, STRIP * sizeof(float));
        column_system(s, k, x, z, high, rhs, flow);
        und_tridiag_forward(STRIP, low, high, rhs, c_low, x_low, cz, xz);
        memcpy(low, high, sizeof low);
        c_low = cz;
        x_low = xz;
    }
    const float *x_high = zero;
    for (int z = s->nz - 1; z >= 0; z--) {
        float *xz = solution + z * STRIP;
        size_t ahead = und_waves_at(s, x, z >= AHEAD_ROWS ? z - AHEAD_ROWS : z);
        prefetch(s->height + ahead, STRIP * sizeof(double));
        prefetch(s->ground + ahead, STRIP * sizeof(float));
        prefetch(s->middle + ahead, STRIP * sizeof(float));
        prefetch(s->rise + ahead, STRIP * sizeof(float));
        und_tridiag_back(STRIP, c + z * STRIP, x_high, xz);
        apply_row(s, x, z, xz);
        x_high = xz;
    }
}

void und_waves_columns(und_waves *s)
{
    scheme k = scheme_of(s);
    PARALLEL_FOR(s->threads)
    for (int strip = 0; strip < s->words; strip++)
        solve_strip(s, &k, strip * STRIP);
}
