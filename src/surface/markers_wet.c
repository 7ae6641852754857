/* How much of each cell its markers fill. */
#include "base/maths.h"
#include "geom/vec.h"
#include "surface/markers_scratch.h"

#include <string.h>

/* Sums are of whole numbers, the same in any order; 64 bits hold 16 million cells' worth of markers in one.
 */
static const double UNIT = 0x1p-40; /* of a cell */

/* Along an axis: the cells into which a marker's box reaches, its own first, and how much of it is there. */
typedef struct reach {
    int beside; /* -1, 0 or 1: the other one */
    double part[2];
} reach;

static reach reach_of(double in_cell, double half)
{
    double low = in_cell - half, high = in_cell + half;
    if (low < 0)
        return (reach){-1, {high / (2 * half), -low / (2 * half)}};
    if (high > 1)
        return (reach){1, {(1 - low) / (2 * half), (high - 1) / (2 * half)}};
    return (reach){0, {1, 0}};
}

static void add(uint64_t *sum, double share, bool alone)
{
    uint64_t units = (uint64_t)(share * (1 / UNIT) + 0.5);
    if (alone)
        *sum += units;
    else {
        UND_PRAGMA(omp atomic)
        *sum += units;
    }
}

/* The box of a marker as a full cell has it: half its sides, in cells, and the share of the cell. */
typedef struct boxes {
    double half[3], share;
    bool flat;
} boxes;

/* The size of one's box that stands for more, or less. */
static double size_of(const boxes *b, double share)
{
    double part = share / b->share;
    return fabs(part - 1) < 1e-9 ? 1 : b->flat ? sqrt(part) : und_cbrt(part);
}

/* What reaches into what is solid stays in the cell. */
static void add_marker(const und_markers *s, const uint8_t *label, const boxes *b, int i, bool alone)
{
    const und_mac *m = &s->mac;
    double size = size_of(b, s->share[i]);
    const double half[3] = {fmin(size * b->half[0], 0.5), fmin(size * b->half[1], 0.5),
                            fmin(size * b->half[2], 0.5)};
    const double place[3] = {s->place[0][i], s->place[1][i], s->place[2][i]};
    double cells[3], in_cell[3];
    int home[3], count = 1;
    und_markers_cells(s, place, cells);
    for (int a = 0; a < 3; a++) {
        home[a] = und_markers_inside(m, a, cells[a]);
        in_cell[a] = cells[a] - home[a];
        count = in_cell[a] < half[a] || in_cell[a] > 1 - half[a] ? 8 : count;
    }
    size_t at = und_mac_at(m, home[0], home[1], home[2]);
    if (count == 1) {
        add(s->scratch->wet + at, s->share[i], alone);
        return;
    }
    reach r[3];
    for (int a = 0; a < 3; a++) {
        r[a] = reach_of(in_cell[a], half[a]);
        if (r[a].beside && label[(size_t)((ptrdiff_t)at + r[a].beside * m->step[a])] == UND_CELL_SOLID)
            r[a] = (reach){0, {1, 0}};
    }
    for (int k = 0; k < count; k++) {
        double share = s->share[i];
        ptrdiff_t to = (ptrdiff_t)at;
        for (int a = 0; a < 3; a++) {
            int over = k >> a & 1;
            share *= r[a].part[over];
            to += over * r[a].beside * m->step[a];
        }
        if (share > 0 && label[to] != UND_CELL_SOLID)
            add(s->scratch->wet + to, share, alone);
    }
}

void und_markers_wet(und_markers *s, const uint8_t *label, int per_cell)
{
    enum { BLOCK = 4096 };
    const und_mac *m = &s->mac;
    int points[3], blocks = (s->count + BLOCK - 1) / BLOCK, workers = und_markers_workers(s);
    und_markers_lattice(m, per_cell, points);
    boxes b = {.share = 1.0 / (points[0] * points[1] * points[2]), .flat = m->n[2] == 1};
    for (int a = 0; a < 3; a++)
        b.half[a] = a == 2 && b.flat ? 0 : 0.5 / points[a];
    memset(s->scratch->wet, 0, m->count * sizeof *s->scratch->wet);
    PARALLEL_FOR(workers)
    for (int block = 0; block < blocks; block++) {
        int end = block == blocks - 1 ? s->count : (block + 1) * BLOCK;
        for (int i = block * BLOCK; i < end; i++)
            add_marker(s, label, &b, i, workers == 1);
    }
}

double und_markers_density(const und_markers *s, size_t cell)
{
    return (double)s->scratch->wet[cell] * UNIT;
}

double und_markers_stand_for(const und_markers *s)
{
    enum { BLOCK = 1024 };
    double all = 0;
    for (int from = 0; from < s->count; from += BLOCK) {
        int to = s->count - from < BLOCK ? s->count : from + BLOCK;
        double sum = 0;
        for (int i = from; i < to; i++)
            sum += s->share[i];
        all += sum;
    }
    return all;
}

void und_markers_scale(und_markers *s, double factor)
{
    for (int i = 0; i < s->count; i++)
        s->share[i] = fmin(s->share[i] * factor, 1);
}
