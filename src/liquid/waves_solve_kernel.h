/* The implicit step's lines: rows, LANES side by side, and columns, STRIP side by side.
 *
 * Both solve for the change of h rather than for h: with A h(n) = h(n-1) + (1 - tau) v, v = h(n-1) - h(n-2),
 * the change h(n) - h(n-1) = c obeys A c = (1 - tau) v - (A - 1) h(n-1), whose right side is exactly zero in
 * water at rest.  Changes are small, so float holds them to full relative accuracy while the heights
 * themselves are double.
 *
 * The second-order step takes h and the flows between columns by the trapezoidal rule, first along x, then
 * along z: (1 - L_x/4) c = -div q + L_x h / 2.  Each half keeps the energy g h^2 + q^2 / d, so that the whole
 * is stable at any dt and does not damp; und_waves_lates says where it does. */
#ifndef UND_LIQUID_WAVES_SOLVE_KERNEL_H
#define UND_LIQUID_WAVES_SOLVE_KERNEL_H

#include "grid/pass.h"
#include "liquid/waves_kernel.h"
#include "solve/transpose_kernel.h"
#include "solve/tridiag_kernel.h"

/* What the steps of both orders need to know. */
typedef struct und_waves_scheme {
    float stiffness; /* g dt^2 / dx^2: times a depth, the f of eq. 16 */
    float outer;     /* part of an open edge's coupling in the matrix: 1, or 1/2 */
    float kept;      /* 1 - tau, for a step as long as the last one: times the rise, the motion kept */
    float cells;     /* (1 - tau) dt / dx: times a flow, the height it moves */
    bool second;
} und_waves_scheme;

/* An edge that lines end at, and where its cells are. */
typedef struct und_waves_end {
    und_waves_edge edge;
    size_t first;             /* the index of its first cell, */
    ptrdiff_t along, inwards; /* and from one to the next, and to the one further in */
} und_waves_end;

typedef struct und_waves_solve_args {
    und_waves_scheme scheme;
    und_waves_end low, high;
    size_t first; /* index of cell (0, 0) */
    ptrdiff_t stride;
    int nx, nz, words;
    double *height;
    float *rise, *middle;
    const float *ground, *head, *flux; /* along the lines; head may be NULL, and flux in the first order */
    /* What the columns tell the pieces of each word of cells: und_waves. */
    uint64_t *wet;
    double *gain;
    float *least;
    uint8_t *plain;
    float shallow;
} und_waves_solve_args;

UND_INLINE size_t und_waves_place(const und_waves_solve_args *a, int x, int z)
{
    return (size_t)((ptrdiff_t)a->first + z * a->stride + x);
}

/* Asks for the cells that a later tile or row will need: too many streams for the processor to foresee. */
UND_INLINE void und_waves_fetch(const void *from, int bytes)
{
    for (int i = 0; i < bytes; i += 64)
        und_lanes_fetch((const char *)from + i);
}

/* ---- The ends of lines ---- */

/* What an open edge adds to the system of lines that end at it, by lane. */
typedef struct und_waves_ends {
    _Alignas(64) float outside[STRIP]; /* coupling to what stands there */
    float lean[STRIP];                 /* what it takes off the coupling to the cell further in */
    float in[STRIP];                   /* to the right side, m */
} und_waves_ends;

UND_INLINE void und_waves_ends_clear(int lanes, und_waves_ends *e)
{
    for (int i = 0; i < lanes; i++)
        e->outside[i] = e->lean[i] = e->in[i] = 0;
}

/* The i-th cell's, where the part of the step before has changed the level by c, and in the cell further in
 * by c_inner. */
UND_INLINE void und_waves_end_cell(const und_waves_solve_args *a, const und_waves_end *side, int i, float c,
                                   float c_inner, und_waves_ends *end, int lane)
{
    const und_waves_edge *edge = &side->edge;
    const und_waves_scheme *k = &a->scheme;
    const size_t at = side->first + (size_t)(i * side->along);
    const double h = a->height[at];
    const float by = k->second ? (float)(edge->outside[i] - h) : edge->drive[i];
    end->outside[lane] = k->outer * edge->coupling[i] - edge->change[i];
    end->lean[lane] = k->outer * edge->inner[i];
    end->in[lane] = end->outside[lane] * c + edge->coupling[i] * (by - c);
    if (edge->inner[i] > 0) { /* the first order counts with differences of flows: the old step is in them */
        const float step = k->second ? (float)(h - a->height[at + (size_t)side->inwards]) : 0;
        end->in[lane] += edge->inner[i] * step + end->lean[lane] * (c - c_inner);
    }
}

/* ---- Lines ---- */

/* Lines side by side, one per lane: rows, or columns. */
typedef struct und_waves_line {
    float *c, *x;                  /* of the cell to come; those before it stand in front */
    _Alignas(64) float low[STRIP]; /* its coupling to the cell before */
    float given[STRIP];            /* what flows from it to the cell before */
} und_waves_line;

/* How far the elimination has come in UND_LANES of them. */
typedef struct und_waves_front {
    und_lanes low, given;
    und_tridiag_row before; /* the cell to come */
} und_waves_front;

/* What happens at the faces to the next cells and in the cells themselves. */
typedef struct und_waves_link {
    und_lanes depth, depth_next; /* of the cells and of the next ones */
    und_lanes step;              /* of the surface to them, m */
    und_lanes slope;             /* of what drives the flow, m: the step, and what else acts */
    und_lanes flux;              /* the flow there so far, m2/s; of the second order */
    und_lanes drift;             /* the step of the change that the lines across made, m; likewise */
    und_lanes base;              /* the cells' own right side, m */
} und_waves_link;

/* Cells c and x of a line stand side by side; space for the cell before the first. */
UND_INLINE void und_waves_line_begin(int lanes, und_waves_line *l, float *scratch, const und_waves_ends *low)
{
    l->c = scratch + 2 * lanes;
    l->x = scratch + 3 * lanes;
    for (int i = 0; i < lanes; i++) {
        scratch[i] = scratch[lanes + i] = 0;
        l->low[i] = low->outside[i];
        l->given[i] = -low->in[i]; /* what comes in is given to no cell */
    }
}

UND_INLINE void und_waves_line_next(int lanes, und_waves_line *l)
{
    l->c += 2 * lanes;
    l->x += 2 * lanes;
}

UND_INLINE und_tridiag_row und_waves_line_row(const float *c, const float *x)
{
    return (und_tridiag_row){und_lanes_load(c), und_lanes_load(x)};
}

/* Of the lanes from the i-th on. */
UND_INLINE und_waves_front und_waves_front_load(int lanes, const und_waves_line *l, int i)
{
    return (und_waves_front){und_lanes_load(l->low + i), und_lanes_load(l->given + i),
                             und_waves_line_row(l->c - 2 * lanes + i, l->x - 2 * lanes + i)};
}
UND_INLINE void und_waves_front_store(const und_waves_front *f, und_waves_line *l, int i)
{
    und_lanes_store(l->low + i, f->low);
    und_lanes_store(l->given + i, f->given);
}

UND_INLINE void und_waves_eliminate(und_waves_front *f, und_lanes high, und_lanes rhs, float *c, float *x)
{
    f->before = und_tridiag_forward(f->low, high, rhs, f->before);
    und_lanes_store(c, f->before.c);
    und_lanes_store(x, f->before.x);
}

/* Eliminates cells that have next ones: eq. 13's flows through both faces. */
UND_INLINE void und_waves_eliminate_cells(const und_waves_scheme *k, und_waves_front *f,
                                          const und_waves_link *to, float *c, float *x)
{
    und_lanes high = k->stiffness * und_waves_faces(to->depth, to->depth_next, to->step),
              flow = high * to->slope;
    if (k->second) {
        const und_lanes late = und_waves_lates(to->depth, to->depth_next, to->step);
        flow = late * high * (to->slope + (1 - late) * to->drift) -
               k->cells * und_waves_open(to->flux, to->depth, to->depth_next, high);
        high *= late * late;
    }
    und_waves_eliminate(f, high, to->base + flow - f->given, c, x);
    f->low = high;
    f->given = flow;
}

/* Takes the lean off the coupling of the first cells, just eliminated, to the next. */
UND_INLINE void und_waves_line_lean(int lanes, const und_waves_line *l, const und_waves_ends *low)
{
    float *c = l->c - 2 * lanes, *x = l->x - 2 * lanes;
    const float *high = l->low;
    for (int i = 0; i < lanes; i++)
        if (low->lean[i] > 0) {
            const float before = 1 + low->outside[i] + high[i], now = before - low->lean[i];
            c[i] = (high[i] - low->lean[i]) / now;
            x[i] *= before / now;
        }
}

/* Eliminates the last cells, coupled to the outside, and leaves the line ready to go back. */
UND_INLINE void und_waves_line_end(int lanes, und_waves_line *l, const und_waves_ends *high,
                                   const float *base)
{
    for (int i = 0; i < lanes; i += UND_LANES) {
        und_waves_front f = und_waves_front_load(lanes, l, i);
        const und_lanes rhs = und_lanes_load(base + i) + und_lanes_load(high->in + i) - f.given;
        f.low -= und_lanes_load(high->lean + i);
        und_waves_eliminate(&f, und_lanes_load(high->outside + i), rhs, l->c + i, l->x + i);
    }
    und_waves_line_next(lanes, l);
    for (int i = 0; i < lanes; i++)
        l->x[i] = 0;
}

/* The solution of the cells before, of UND_LANES from the i-th on: overwrites x, from the last cell to the
 * first. */
UND_INLINE und_lanes und_waves_line_back(int lanes, const und_waves_line *l, int i)
{
    float *c = l->c - 2 * lanes + i, *x = l->x - 2 * lanes + i;
    const und_lanes change = und_tridiag_back(und_waves_line_row(c, x), und_lanes_load(l->x + i));
    und_lanes_store(x, change);
    return change;
}
UND_INLINE void und_waves_line_before(int lanes, und_waves_line *l)
{
    enum { BACK_CELLS = 8 };
    l->c -= 2 * lanes;
    l->x -= 2 * lanes;
    und_waves_fetch(l->c - BACK_CELLS * 2 * lanes, 2 * lanes * (int)sizeof *l->c);
}

/* ---- Rows: equation 19 ---- */

enum { TILE = 16, AHEAD_CELLS = 4 * TILE };

/* TILE columns of LANES rows, turned into lanes. */
typedef struct und_waves_tile {
    _Alignas(64) float depth[(TILE + 1) * LANES];
    float step[TILE * LANES], slope[TILE * LANES], flux[TILE * LANES], rise[TILE * LANES];
} und_waves_tile;

/* One row's part of a tile. */
UND_INLINE void und_waves_tile_row(const und_waves_solve_args *a, size_t at, float *depth, float *step)
{
    for (int i = 0; i < TILE; i += UND_LANES) {
        const size_t from = at + (size_t)i;
        und_lanes_store(depth + i, und_waves_depths(a->height, a->ground, from));
        und_lanes_store(step + i, und_waves_steps(a->height, from, from + 1));
    }
    und_waves_fetch(a->height + at + AHEAD_CELLS, TILE * sizeof *a->height);
    und_waves_fetch(a->ground + at + AHEAD_CELLS, TILE * sizeof *a->ground);
    und_waves_fetch(a->rise + at + AHEAD_CELLS, TILE * sizeof *a->rise);
}

/* The tile at cell x of the LANES rows from z; rows past the last are dry. */
UND_INLINE void und_waves_tile_fill(const und_waves_solve_args *a, int x, int z, und_waves_tile *t)
{
    _Alignas(64) float depth[LANES * TILE], step[LANES * TILE];
    const size_t stride = (size_t)a->stride, first = und_waves_place(a, x, z);
    for (int r = 0; r < LANES; r++) {
        const size_t at = und_waves_place(a, x, z + r), next = at + TILE;
        und_waves_tile_row(a, at, depth + r * TILE, step + r * TILE);
        t->depth[TILE * LANES + r] = (float)(a->height[next] - (double)a->ground[next]);
    }
    und_transpose(LANES, TILE, depth, TILE, t->depth, LANES);
    und_transpose(LANES, TILE, step, TILE, t->step, LANES);
    und_transpose(LANES, TILE, a->rise + first, stride, t->rise, LANES);
    if (a->scheme.second)
        und_transpose(LANES, TILE, a->flux + first, stride, t->flux, LANES);
    if (!a->head)
        return;
    for (int r = 0; r < LANES; r++)
        for (int i = 0; i < TILE; i++) {
            const float *head = a->head + und_waves_place(a, x + i, z + r);
            t->slope[i * LANES + r] = t->step[i * LANES + r] + head[1] - head[0];
        }
}

/* Eliminates columns [first, last) of a tile; the last column of the domain is not among them. */
UND_INLINE void und_waves_tile_eliminate(const und_waves_solve_args *a, und_waves_line *l,
                                         const und_waves_tile *t, int first, int last)
{
    const float *slope = a->head ? t->slope : t->step;
    const float weight = a->scheme.second ? 0 : a->scheme.kept; /* the second's motion is in the flows */
    for (int r = 0; r < LANES; r += UND_LANES) {
        und_waves_front f = und_waves_front_load(LANES, l, r);
        float *c = l->c + r, *x = l->x + r;
        for (int i = first * LANES + r; i < last * LANES; i += LANES, c += 2 * LANES, x += 2 * LANES) {
            const und_waves_link next = {.depth = und_lanes_load(t->depth + i),
                                         .depth_next = und_lanes_load(t->depth + i + LANES),
                                         .step = und_lanes_load(t->step + i),
                                         .slope = und_lanes_load(slope + i),
                                         .flux = und_lanes_load(t->flux + i),
                                         .base = weight * und_lanes_load(t->rise + i)};
            und_waves_eliminate_cells(&a->scheme, &f, &next, c, x);
        }
        und_waves_front_store(&f, l, r);
    }
    l->c += 2 * LANES * (last - first);
    l->x += 2 * LANES * (last - first);
}

/* Takes a tile's columns back: their change becomes rows again. */
UND_INLINE void und_waves_tile_return(const und_waves_solve_args *a, und_waves_line *l, int x, int z)
{
    const int ahead = x > AHEAD_CELLS ? x - AHEAD_CELLS : 0;
    for (int i = 0; i < TILE; i++) {
        for (int r = 0; r < LANES; r += UND_LANES)
            (void)und_waves_line_back(LANES, l, r);
        und_waves_line_before(LANES, l);
    }
    for (int r = 0; r < LANES; r++)
        und_lanes_fetch(a->middle + und_waves_place(a, ahead, z + r));
    und_transpose(TILE, LANES, l->x, 2 * (size_t)LANES, a->middle + und_waves_place(a, x, z),
                  (size_t)a->stride);
}

/* The first order's motion is in the rise: half a cell's change counts from it. */
UND_INLINE void und_waves_row_ends(const und_waves_solve_args *a, const und_waves_end *side, int z,
                                   und_waves_ends *end)
{
    und_waves_ends_clear(LANES, end);
    for (int r = 0; r < LANES && z + r < a->nz; r++) {
        und_waves_end_cell(a, side, z + r, 0, 0, end, r);
        if (!a->scheme.second)
            end->in[r] -= side->edge.change[z + r] * a->scheme.kept *
                          a->rise[side->first + (size_t)((z + r) * side->along)];
    }
}

/* LANES rows side by side. */
UND_INLINE void und_waves_solve_rows(const und_waves_solve_args *a, und_place p)
{
    und_waves_tile t;
    und_waves_line l;
    und_waves_ends low, high;
    _Alignas(64) float rhs[LANES];
    const int z = (int)p.at * LANES, last = (a->nx - 1) / TILE * TILE, rest = a->nx - 1 - last;
    und_waves_row_ends(a, &a->low, z, &low);
    und_waves_row_ends(a, &a->high, z, &high);
    und_waves_line_begin(LANES, &l, p.lent, &low);
    for (int x = 0; x <= last; x += TILE) {
        und_waves_tile_fill(a, x, z, &t);
        if (x == 0) {
            und_waves_tile_eliminate(a, &l, &t, 0, 1);
            und_waves_line_lean(LANES, &l, &low);
        }
        und_waves_tile_eliminate(a, &l, &t, x == 0, x < last ? TILE : rest);
    }
    for (int r = 0; r < LANES; r++)
        rhs[r] = (a->scheme.second ? 0 : a->scheme.kept) * t.rise[rest * LANES + r];
    und_waves_line_end(LANES, &l, &high, rhs);
    for (int i = rest + 1; i < TILE; i++) { /* cells past the end of the line do not change */
        for (int r = 0; r < LANES; r++)
            l.c[r] = l.x[r] = 0;
        und_waves_line_next(LANES, &l);
    }
    for (int r = 0; r < LANES; r++)
        l.x[r] = 0;
    for (int x = last; x >= 0; x -= TILE)
        und_waves_tile_return(a, &l, x, z);
}
UND_KERNEL(und_waves_solve_rows, und_waves_solve_args, UND_EACH_BLOCK)

/* ---- Columns: equation 20 ---- */

enum { AHEAD_ROWS = 6 };

/* Depths of row z of a strip, by lane; the least of them is for the pieces. */
UND_INLINE void und_waves_strip_begin(const und_waves_solve_args *a, int x, int z, float *depth)
{
    und_lanes least = und_lanes_all(3e38f);
    for (int i = 0; i < STRIP; i += UND_LANES) {
        const und_lanes own = und_waves_depths(a->height, a->ground, und_waves_place(a, x + i, z));
        und_lanes_store(depth + i, own);
        least = und_lanes_min(own, least);
    }
    a->least[(size_t)z * (size_t)a->words + (size_t)(x / STRIP)] = und_lanes_least(least);
}

/* What UND_LANES cells of a strip meet at the faces to the next row. */
UND_INLINE und_waves_link und_waves_strip_link(const und_waves_solve_args *a, size_t at, size_t next,
                                               und_lanes depth)
{
    und_doubles depths[UND_HALVES], steps[UND_HALVES];
    und_waves_link to = {.depth = depth, .base = und_lanes_load(a->middle + at)};
    for (int k = 0; k < UND_HALVES; k++) {
        const size_t beside = next + (size_t)(k * UND_DOUBLES);
        const und_doubles h = und_doubles_load(a->height + beside);
        depths[k] = h - und_doubles_of(und_doubles_floats_load(a->ground + beside));
        steps[k] = h - und_doubles_load(a->height + at + k * UND_DOUBLES);
    }
    to.depth_next = und_lanes_of_doubles(depths);
    to.slope = to.step = und_lanes_of_doubles(steps);
    if (a->scheme.second) {
        to.flux = und_lanes_load(a->flux + at);
        to.drift = und_lanes_load(a->middle + next) - to.base;
    }
    if (a->head)
        to.slope = to.step + und_lanes_load(a->head + next) - und_lanes_load(a->head + at);
    return to;
}

/* Eliminates row z of a strip, which is not the last.  The unknown is the change over rows and columns
 * together, c: A c = middle + (A - 1) of what the rows left of h. */
UND_INLINE void und_waves_strip_eliminate(const und_waves_solve_args *a, und_waves_line *l, int x, int z,
                                          float *depth)
{
    und_lanes least = und_lanes_all(3e38f);
    const size_t ahead = und_waves_place(a, x, z + AHEAD_ROWS < a->nz ? z + AHEAD_ROWS : z);
    und_waves_fetch(a->height + ahead, STRIP * sizeof(double));
    und_waves_fetch(a->ground + ahead, STRIP * sizeof(float));
    und_waves_fetch(a->middle + ahead, STRIP * sizeof(float));
    if (a->scheme.second)
        und_waves_fetch(a->flux + ahead, STRIP * sizeof(float));
    for (int i = 0; i < STRIP; i += UND_LANES) {
        const size_t at = und_waves_place(a, x + i, z), next = at + (size_t)a->stride;
        const und_waves_link to = und_waves_strip_link(a, at, next, und_lanes_load(depth + i));
        und_waves_front f = und_waves_front_load(STRIP, l, i);
        und_waves_eliminate_cells(&a->scheme, &f, &to, l->c + i, l->x + i);
        und_waves_front_store(&f, l, i);
        und_lanes_store(depth + i, to.depth_next);
        least = und_lanes_min(to.depth_next, least);
    }
    und_waves_line_next(STRIP, l);
    a->least[(size_t)(z + 1) * (size_t)a->words + (size_t)(x / STRIP)] = und_lanes_least(least);
}

/* Which cells of a word that is not plain are wet: those that had water or were given some (or lost what
 * they had not). */
UND_INLINE uint64_t und_waves_wet_word(const und_waves_solve_args *a, size_t at, const float *change)
{
    uint64_t wet = 0;
    for (int i = 0; i < STRIP; i += UND_DOUBLES) {
        const und_doubles h = und_doubles_load(a->height + at + i),
                          floor = und_doubles_of(und_doubles_floats_load(a->ground + at + i)),
                          by = und_doubles_of(und_doubles_floats_load(change + i));
        wet |= (uint64_t)und_doubles_bits((h > floor) | (h + by != floor)) << i;
    }
    return wet;
}

/* Puts the new heights in place, and notes for the pieces which cells are wet and what has appeared, summed
 * in a fixed order that fills vectors.  The rise is left as the change of height, as it came out after
 * rounding. */
UND_INLINE void und_waves_strip_apply(const und_waves_solve_args *a, const und_waves_line *l, int x, int z)
{
    enum { SUMS = 8 };
    const size_t at = und_waves_place(a, x, z), word = (size_t)z * (size_t)a->words + (size_t)(x / STRIP);
    _Alignas(64) float change[STRIP];
    double part[SUMS];
    und_doubles gain[SUMS / UND_DOUBLES] = {{0}};
    und_lanes least = und_lanes_all(3e38f);
    for (int i = 0; i < STRIP; i += UND_LANES) {
        const und_lanes by = und_waves_line_back(STRIP, l, i);
        und_lanes_store(change + i, by);
        least = und_lanes_min(by, least);
    }
    const float fall = und_lanes_least(least);
    a->plain[word] = a->least[word] + (fall < 0 ? fall : 0) >= a->shallow;
    a->wet[word] = a->plain[word] ? UINT64_MAX : und_waves_wet_word(a, at, change);
    for (int i = 0; i < STRIP; i += UND_LANES) {
        und_doubles rise[UND_HALVES];
        for (int k = 0; k < UND_HALVES; k++) {
            const int from = i + k * UND_DOUBLES;
            double *h = a->height + at + from;
            const und_doubles old = und_doubles_load(h),
                              new = old + und_doubles_of(und_doubles_floats_load(change + from));
            rise[k] = new - old;
            gain[from % SUMS / UND_DOUBLES] += rise[k];
            __builtin_memcpy(h, &new, sizeof new);
        }
        und_lanes_store(a->rise + at + i, und_lanes_of_doubles(rise));
    }
    __builtin_memcpy(part, gain, sizeof part);
    a->gain[word] = ((part[0] + part[4]) + (part[2] + part[6])) + ((part[1] + part[5]) + (part[3] + part[7]));
}

UND_INLINE void und_waves_column_ends(const und_waves_solve_args *a, const und_waves_end *side, int x,
                                      und_waves_ends *end)
{
    und_waves_ends_clear(STRIP, end);
    for (int i = 0; i < STRIP && x + i < a->nx; i++) {
        const size_t at = side->first + (size_t)((x + i) * side->along);
        const bool inner = side->edge.inner[x + i] > 0;
        und_waves_end_cell(a, side, x + i, a->middle[at], inner ? a->middle[at + (size_t)side->inwards] : 0,
                           end, i);
    }
}

/* STRIP columns side by side; the new heights are put in place on the way back. */
UND_INLINE void und_waves_solve_columns(const und_waves_solve_args *a, und_place p)
{
    und_waves_line l;
    und_waves_ends low, high;
    _Alignas(64) float depth[STRIP];
    const int x = (int)p.at * STRIP, last = a->nz - 1;
    und_waves_column_ends(a, &a->low, x, &low);
    und_waves_column_ends(a, &a->high, x, &high);
    und_waves_line_begin(STRIP, &l, p.lent, &low);
    und_waves_strip_begin(a, x, 0, depth);
    for (int z = 0; z < last; z++) {
        und_waves_strip_eliminate(a, &l, x, z, depth);
        if (z == 0)
            und_waves_line_lean(STRIP, &l, &low);
    }
    und_waves_line_end(STRIP, &l, &high, a->middle + und_waves_place(a, x, last));
    for (int z = last; z >= 0; z--) {
        const size_t ahead = und_waves_place(a, x, z >= AHEAD_ROWS ? z - AHEAD_ROWS : z);
        und_waves_fetch(a->height + ahead, STRIP * sizeof(double));
        und_waves_fetch(a->rise + ahead, STRIP * sizeof(float));
        und_waves_strip_apply(a, &l, x, z);
        und_waves_line_before(STRIP, &l);
    }
}
UND_KERNEL(und_waves_solve_columns, und_waves_solve_args, UND_EACH_BLOCK)

#endif
