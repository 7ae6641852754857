/* Pieces of water, in bands of rows: runs of wet cells, which of them touch, and what is put right in each.
 * See waves_pieces.c. */
#ifndef UND_LIQUID_WAVES_PIECES_KERNEL_H
#define UND_LIQUID_WAVES_PIECES_KERNEL_H

#include "grid/pass.h"
#include "liquid/waves_kernel.h"

#include <undine/height_field.h>

enum { BAND = 64 }; /* rows that are joined by one thread */

typedef struct und_waves_pieces_args {
    int nx, nz, words, runs_per_row;
    size_t first; /* index of cell (0, 0) */
    ptrdiff_t stride;
    const double *inflow[UND_EDGES]; /* of each cell along the edge, m; NULL: it is closed */
    double *height, *row_inflow;     /* und_waves, as are those below */
    float *rise;
    const float *ground;
    const uint64_t *wet;
    const double *gain;
    uint8_t *plain;
    und_waves_run *runs;
    int *first_run, *run_count;
    double shallow;
} und_waves_pieces_args;

/* ---- Which runs hang together ---- */

UND_INLINE int und_waves_find_root(und_waves_run *runs, int i)
{
    while (runs[i].parent != i)
        i = runs[i].parent = runs[runs[i].parent].parent;
    return i;
}

/* The smaller index becomes the root, so that the outcome does not depend on the order of joining. */
UND_INLINE void und_waves_join(und_waves_run *runs, int a, int b)
{
    a = und_waves_find_root(runs, a);
    b = und_waves_find_root(runs, b);
    if (a < b)
        runs[b].parent = a;
    else
        runs[a].parent = b;
}

/* Joins the runs of row z to those of the row before that they touch. */
UND_INLINE void und_waves_join_row(und_waves_run *runs, const int *first_run, const int *run_count, int z)
{
    const und_waves_run *above = runs + first_run[z - 1], *here = runs + first_run[z];
    int a = 0, b = 0;
    while (a < run_count[z - 1] && b < run_count[z]) {
        if (above[a].first <= here[b].last && here[b].first <= above[a].last)
            und_waves_join(runs, first_run[z - 1] + a, first_run[z] + b);
        if (above[a].last < here[b].last)
            a++;
        else
            b++;
    }
}

/* ---- Runs ---- */

UND_INLINE size_t und_waves_word(const und_waves_pieces_args *a, int word, int z)
{
    return (size_t)z * (size_t)a->words + (size_t)word;
}

/* Height of water that open edges let into a cell over the step, m.  The first order's step knows by how much
 * the flow through them changes, and here it is what the level makes it: at the end of the step, so that a
 * long one does not drain the water below what stands outside. */
UND_INLINE double und_waves_edge_inflow(const und_waves_pieces_args *a, int x, int z)
{
    const int index[UND_EDGES] = {z, z, x, x};
    const bool touches[UND_EDGES] = {x == 0, x == a->nx - 1, z == 0, z == a->nz - 1};
    double in = 0;
    for (int e = 0; e < UND_EDGES; e++)
        if (touches[e] && a->inflow[e])
            in += a->inflow[e][index[e]];
    return in;
}

/* Whether cells of the word exchange water with the outside. */
UND_INLINE bool und_waves_at_edge(const und_waves_pieces_args *a, int word, int z)
{
    return (word == 0 && a->inflow[UND_LOW_X]) || (word == a->words - 1 && a->inflow[UND_HIGH_X]) ||
           (z == 0 && a->inflow[UND_LOW_Z]) || (z == a->nz - 1 && a->inflow[UND_HIGH_Z]);
}

UND_INLINE double und_waves_above(double v) /* 0 */
{
    return v > 0 ? v : 0;
}

UND_INLINE void und_waves_add_cell(const und_waves_pieces_args *a, und_waves_run *run, int x, int z)
{
    const size_t at = (size_t)((ptrdiff_t)a->first + z * a->stride + x);
    const double depth = a->height[at] - (double)a->ground[at], some = und_waves_above(depth),
                 rise = (double)a->rise[at];
    run->last = x;
    run->gain += rise + und_waves_above(-depth);
    run->weight += some < a->shallow ? some : a->shallow;
    run->depth += some;
    run->before += depth - rise;
}

UND_INLINE void und_waves_add_plain_word(const und_waves_pieces_args *a, und_waves_run *run, int word, int z)
{
    run->last = word * STRIP + STRIP - 1;
    run->gain += a->gain[und_waves_word(a, word, z)];
    run->weight += STRIP * a->shallow;
}

/* Cuts a row into runs; what came in through the edges is noted.  A band's runs stand one after the other. */
UND_INLINE void und_waves_find_runs(const und_waves_pieces_args *a, int z)
{
    a->first_run[z] = z % BAND == 0 ? z * a->runs_per_row : a->first_run[z - 1] + a->run_count[z - 1];
    und_waves_run *runs = a->runs + a->first_run[z], *open = NULL;
    int count = 0;
    double inflow = 0;
    for (int word = 0; word < a->words; word++) {
        const size_t w = und_waves_word(a, word, z);
        const bool edge = und_waves_at_edge(a, word, z);
        if (edge)
            a->plain[w] = false;
        for (int i = 0; i < STRIP; i++) {
            if (!(a->wet[w] >> i & 1)) {
                open = NULL;
                if (a->wet[w] == 0)
                    break;
                continue;
            }
            const int x = word * STRIP + i;
            if (!open) {
                open = &runs[count];
                *open = (und_waves_run){.first = x, .parent = a->first_run[z] + count};
                count++;
            }
            if (a->plain[w]) {
                und_waves_add_plain_word(a, open, word, z);
                break;
            }
            und_waves_add_cell(a, open, x, z);
            if (edge) {
                const double in = und_waves_edge_inflow(a, x, z);
                open->gain -= in;
                inflow += in;
            }
        }
    }
    a->run_count[z] = count;
    a->row_inflow[z] = inflow;
}

/* The runs of a band, and which of them touch. */
UND_INLINE void und_waves_band_runs(const und_waves_pieces_args *a, und_place p)
{
    for (int z = (int)p.at; z < (int)p.at + p.x; z++) {
        und_waves_find_runs(a, z);
        if (z > (int)p.at)
            und_waves_join_row(a->runs, a->first_run, a->run_count, z);
    }
}
UND_KERNEL(und_waves_band_runs, und_waves_pieces_args, UND_EACH_BLOCK)

/* ---- What is put right ---- */

/* Lowers a stretch of deep water by the same amount everywhere.  The motion is left alone where that is
 * nothing to it: what it makes of the volume is put right again in the next step. */
UND_INLINE void und_waves_lower_plain(const und_waves_pieces_args *a, size_t at, double by)
{
    const bool slight = by < 1e-7 * a->shallow && by > -1e-7 * a->shallow;
    for (int i = 0; i < STRIP; i += UND_DOUBLES)
        und_doubles_store_some(a->height + at + i, und_doubles_load(a->height + at + i) - by,
                               UND_DOUBLES_ALL);
    for (int i = 0; i < STRIP && !slight; i += UND_LANES)
        und_lanes_store(a->rise + at + i, und_lanes_load(a->rise + at + i) - (float)by);
}

/* "If h < b, set h(j) and h(j-1) to b": the cell is dry and has no motion. */
UND_INLINE void und_waves_lower_cells(const und_waves_pieces_args *a, size_t at, unsigned which,
                                      const und_waves_run *root)
{
    const und_doubles none = {0}, shallow = none + a->shallow;
    const und_doubles_floats moved = und_doubles_floats_load(a->rise + at);
    const und_doubles ground = und_doubles_of(und_doubles_floats_load(a->ground + at)),
                      rise = root->undo ? none : und_doubles_of(moved),
                      old = und_doubles_load(a->height + at) - (root->undo ? und_doubles_of(moved) : none),
                      depth = old - ground;
    const und_doubles part = root->by_depth ? depth : und_doubles_select(depth < shallow, depth, shallow),
                      by = root->share * part, left = depth - by;
    const und_doubles_int gives = (depth > 0) & (left > 0);
    const und_doubles now = und_doubles_select(gives, old - by, old);
    const und_doubles_int dry = (depth <= 0) | (now <= ground) | (left <= 0);
    und_doubles_store_some(a->height + at, und_doubles_select(dry, ground, now), which);
    und_doubles_floats_store_some(
        a->rise + at,
        und_doubles_rounded(und_doubles_select(dry, none, und_doubles_select(gives, rise - by, rise))),
        which);
}

UND_INLINE void und_waves_lower_run(const und_waves_pieces_args *a, int z, const und_waves_run *run,
                                    const und_waves_run *root)
{
    const size_t row = (size_t)((ptrdiff_t)a->first + z * a->stride);
    for (int x = run->first, end; x <= run->last; x = end) {
        const bool plain = a->plain[und_waves_word(a, x / STRIP, z)];
        end = (x / STRIP + 1) * STRIP;
        if (plain && !root->by_depth) {
            und_waves_lower_plain(a, row + (size_t)x, root->share * a->shallow);
            continue;
        }
        end = end < run->last + 1 ? end : run->last + 1;
        for (int i = x; i < end; i += UND_DOUBLES) {
            const int some = end - i < UND_DOUBLES ? end - i : UND_DOUBLES;
            und_waves_lower_cells(a, row + (size_t)i, (1u << some) - 1, root);
        }
    }
}

UND_INLINE void und_waves_band_conserve(const und_waves_pieces_args *a, und_place p)
{
    for (int z = (int)p.at; z < (int)p.at + p.x; z++)
        for (int i = 0; i < a->run_count[z]; i++) {
            const und_waves_run *run = a->runs + a->first_run[z] + i;
            int parent = run->parent; /* not compressed here: others read it */
            while (a->runs[parent].parent != parent)
                parent = a->runs[parent].parent;
            und_waves_lower_run(a, z, run, a->runs + parent);
        }
}
UND_KERNEL(und_waves_band_conserve, und_waves_pieces_args, UND_EACH_BLOCK)

#endif
