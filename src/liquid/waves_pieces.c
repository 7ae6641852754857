/* Volume: what the step made or lost is found and put right for each connected piece of water.
 *
 * The step moves water only between neighbours, so it keeps the volume of every piece but for rounding and
 * for cells it left below the ground; those are raised to the ground, which makes water from nothing.  "For
 * each connected piece of the fluid, calculate the old volume and the new volume. If the new volume is
 * different, distribute the difference uniformly" (Kass & Miller 1990).  A piece here is a connected set of
 * cells wet before or after the step: no water can have left it.  Water shallower than `shallow` takes its
 * part in proportion to its depth, so that no cell is overdrawn. */
#include "base/parallel.h"
#include "liquid/waves_state.h"

#include <math.h>

enum { BAND = 64 }; /* rows that are joined by one thread */

static und_waves_run *row_runs(const und_waves *s, int z)
{
    return s->runs + s->first_run[z];
}

static int find_root(und_waves_run *runs, int i)
{
    while (runs[i].parent != i)
        i = runs[i].parent = runs[runs[i].parent].parent;
    return i;
}

/* The smaller index becomes the root, so that the outcome does not depend on the order of joining. */
static void join(und_waves_run *runs, int a, int b)
{
    a = find_root(runs, a);
    b = find_root(runs, b);
    if (a < b)
        runs[b].parent = a;
    else
        runs[a].parent = b;
}

/* Height of water that open edges let into a cell over the step, m.  The first order's step knows by how much
 * the flow through them changes, and here it is what the level makes it: at the end of the step, so that a
 * long one does not drain the water below what stands outside. */
static double edge_inflow(const und_waves *s, int x, int z)
{
    double in = 0;
    const int index[UND_EDGES] = {z, z, x, x};
    const bool touches[UND_EDGES] = {x == 0, x == s->height_field.nx - 1, z == 0,
                                     z == s->height_field.nz - 1};
    for (int e = 0; e < UND_EDGES; e++)
        if (touches[e] && s->def.height_field.edge[e].kind == UND_EDGE_OPEN)
            in += s->edge[e].inflow[index[e]];
    return in;
}

static void add_cell(const und_waves *s, und_waves_run *run, int x, int z)
{
    size_t at = und_waves_at(s, x, z);
    double depth = und_waves_depth(s, at);
    run->last = x;
    run->gain += (double)s->rise[at] + fmax(-depth, 0);
    run->weight += fmin(fmax(depth, 0), s->shallow);
    run->depth += fmax(depth, 0);
    run->before += depth - (double)s->rise[at];
}

static void add_plain_word(const und_waves *s, und_waves_run *run, int word, int z)
{
    run->last = word * STRIP + STRIP - 1;
    run->gain += s->gain[(size_t)z * (size_t)s->words + (size_t)word];
    run->weight += STRIP * s->shallow;
}

/* Whether cells of the word exchange water with the outside. */
static bool at_edge(const und_waves *s, int word, int z)
{
    return (word == 0 && s->def.height_field.edge[UND_LOW_X].kind == UND_EDGE_OPEN) ||
           (word == s->words - 1 && s->def.height_field.edge[UND_HIGH_X].kind == UND_EDGE_OPEN) ||
           (z == 0 && s->def.height_field.edge[UND_LOW_Z].kind == UND_EDGE_OPEN) ||
           (z == s->height_field.nz - 1 && s->def.height_field.edge[UND_HIGH_Z].kind == UND_EDGE_OPEN);
}

/* Cuts a row into runs; returns what came in through the edges.  A band's runs stand one after the other. */
static double find_runs(und_waves *s, int z)
{
    s->first_run[z] = z % BAND == 0 ? z * s->runs_per_row : s->first_run[z - 1] + s->run_count[z - 1];
    und_waves_run *runs = row_runs(s, z), *open = NULL;
    int count = 0;
    double inflow = 0;
    for (int word = 0; word < s->words; word++) {
        size_t w = (size_t)z * (size_t)s->words + (size_t)word;
        bool edge = at_edge(s, word, z);
        if (edge)
            s->plain[w] = false;
        if (s->wet[w] == 0) {
            open = NULL;
            continue;
        }
        for (int i = 0; i < STRIP; i++) {
            if (!(s->wet[w] >> i & 1)) {
                open = NULL;
                continue;
            }
            int x = word * STRIP + i;
            if (!open) {
                open = &runs[count];
                *open = (und_waves_run){.first = x, .parent = s->first_run[z] + count};
                count++;
            }
            if (s->plain[w]) {
                add_plain_word(s, open, word, z);
                break;
            }
            add_cell(s, open, x, z);
            if (edge) {
                double in = edge_inflow(s, x, z);
                open->gain -= in;
                inflow += in;
            }
        }
    }
    s->run_count[z] = count;
    return inflow;
}

/* Joins the runs of row z to those of the row before that they touch. */
static void join_row(und_waves *s, int z)
{
    const und_waves_run *above = row_runs(s, z - 1), *here = row_runs(s, z);
    int a = 0, b = 0;
    while (a < s->run_count[z - 1] && b < s->run_count[z]) {
        if (above[a].first <= here[b].last && here[b].first <= above[a].last)
            join(s->runs, s->first_run[z - 1] + a, s->first_run[z] + b);
        if (above[a].last < here[b].last)
            a++;
        else
            b++;
    }
}

/* Sums of the pieces, at their roots: added up in row order, so that they have the same bits at any thread
 * count. */
static void sum_pieces(und_waves *s)
{
    for (int z = 0; z < s->height_field.nz; z++)
        for (int i = 0; i < s->run_count[z]; i++) {
            und_waves_run *run = &row_runs(s, z)[i], *root = &s->runs[find_root(s->runs, run->parent)];
            if (run != root) {
                root->gain += run->gain;
                root->weight += run->weight;
                root->depth += run->depth;
                root->before += run->before;
            }
        }
}

/* The whole depth of a run; its cells in plain words were left out so far. */
static double plain_depth(const und_waves *s, const und_waves_run *run, int z)
{
    double sum = 0;
    for (int x = run->first; x <= run->last; x++)
        if (s->plain[(size_t)z * (size_t)s->words + (size_t)(x / STRIP)])
            sum += und_waves_depth(s, und_waves_at(s, x, z));
    return sum;
}

/* A piece with more to give back than its shallow share allows gives in proportion to depth. */
static void sum_deep_pieces(und_waves *s)
{
    bool any = false;
    for (int z = 0; z < s->height_field.nz; z++)
        for (int i = 0; i < s->run_count[z]; i++) {
            und_waves_run *run = &row_runs(s, z)[i];
            if (run == &s->runs[run->parent] && run->gain > run->weight)
                any = run->by_depth = true;
        }
    for (int z = 0; any && z < s->height_field.nz; z++)
        for (int i = 0; i < s->run_count[z]; i++) {
            und_waves_run *run = &row_runs(s, z)[i], *root = &s->runs[find_root(s->runs, run->parent)];
            if (root->by_depth)
                root->depth += plain_depth(s, run, z);
        }
}

/* The correction of each piece per weight; what a piece cannot give or take goes into the ledger. */
static void share_out(und_waves *s)
{
    double cell = s->height_field.grid.dx * s->height_field.grid.dx;
    for (int z = 0; z < s->height_field.nz; z++)
        for (int i = 0; i < s->run_count[z]; i++) {
            und_waves_run *run = &row_runs(s, z)[i];
            if (run != &s->runs[run->parent])
                continue;
            double capacity = run->by_depth ? run->depth : run->weight;
            if (capacity <=
                0) { /* nothing is left of it: the piece stays as it was, and the edges let nothing in */
                run->undo = true;
                und_ledger_add(&s->height_field.ledger.left, &s->height_field.lost.left,
                               -(run->gain + run->before) * cell);
                continue;
            }
            run->share = run->gain / capacity;
            if (run->by_depth && run->share > 1) { /* the edges asked for more than there is */
                und_ledger_add(&s->height_field.ledger.left, &s->height_field.lost.left,
                               -(run->gain - run->depth) * cell);
                run->share = 1;
            }
        }
}

void und_waves_find_pieces(und_waves *s)
{
    PARALLEL_FOR(s->height_field.threads)
    for (int band = 0; band < (s->height_field.nz + BAND - 1) / BAND; band++)
        for (int z = band * BAND; z < s->height_field.nz && z < (band + 1) * BAND; z++) {
            s->row_inflow[z] = find_runs(s, z);
            if (z > band * BAND)
                join_row(s, z);
        }
    for (int z = BAND; z < s->height_field.nz; z += BAND)
        join_row(s, z);
    for (int z = 0; z < s->height_field.nz; z++)
        und_ledger_add(&s->height_field.ledger.left, &s->height_field.lost.left,
                       -s->row_inflow[z] * s->height_field.grid.dx * s->height_field.grid.dx);
    sum_pieces(s);
    sum_deep_pieces(s);
    share_out(s);
}

/* Lowers a stretch of deep water by the same amount everywhere.  The motion is left alone where that is
 * nothing to it: what it makes of the volume is put right again in the next step. */
static void lower_plain(und_waves *s, size_t at, double by)
{
    double *restrict h = s->height + at;
    float *restrict rise = s->rise + at, less = (float)by;
    SIMD
    for (int i = 0; i < STRIP; i++)
        h[i] -= by;
    if (fabs(by) < 1e-7 * s->shallow)
        return;
    SIMD
    for (int i = 0; i < STRIP; i++)
        rise[i] -= less;
}

/* "If h < b, set h(j) and h(j-1) to b": the cell is dry and has no motion. */
static void lower_cell(und_waves *s, size_t at, const und_waves_run *root)
{
    if (root->undo) {
        s->height[at] -= (double)s->rise[at];
        s->rise[at] = 0;
    }
    double depth = und_waves_depth(s, at);
    double by = root->share * (root->by_depth ? depth : fmin(depth, s->shallow));
    if (depth > 0 && depth - by > 0) {
        s->height[at] -= by;
        s->rise[at] = (float)((double)s->rise[at] - by);
    }
    if (depth <= 0 || s->height[at] <= (double)s->ground[at] || depth - by <= 0) {
        s->height[at] = (double)s->ground[at];
        s->rise[at] = 0;
    }
}

static void conserve_row(und_waves *s, int z)
{
    for (int i = 0; i < s->run_count[z]; i++) {
        const und_waves_run *run = &row_runs(s, z)[i];
        int parent = run->parent; /* not compressed here: other threads read it */
        while (s->runs[parent].parent != parent)
            parent = s->runs[parent].parent;
        const und_waves_run *root = &s->runs[parent];
        for (int x = run->first; x <= run->last;) {
            bool plain = s->plain[(size_t)z * (size_t)s->words + (size_t)(x / STRIP)];
            if (plain && !root->by_depth) {
                lower_plain(s, und_waves_at(s, x, z), root->share * s->shallow);
                x += STRIP;
            } else {
                lower_cell(s, und_waves_at(s, x, z), root);
                x++;
            }
        }
    }
}

void und_waves_conserve(und_waves *s)
{
    PARALLEL_FOR(s->height_field.threads)
    for (int band = 0; band < (s->height_field.nz + BAND - 1) / BAND; band++)
        for (int z = band * BAND; z < s->height_field.nz && z < (band + 1) * BAND; z++)
            conserve_row(s, z);
}
