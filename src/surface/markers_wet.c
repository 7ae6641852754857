/* How much of the cells at the surface markers fill, and how far. */
#include "geom/vec.h"
#include "surface/markers_scratch.h"

#include <string.h>

/* Sums are of whole numbers, the same in any order; 64 bits hold 16 million cells' worth of markers in one.
 */
static const double UNIT = 0x1p-40; /* of a cell */

/* A marker that stands alone is no layer: markers show at most so many times what they stand for. */
static const double LONELY = 3;

/* Along an axis: the cells into which a marker's box reaches, its own first, how much of it is there, and
 * where that part's middle is, from the cell's low side. */
typedef struct reach {
    int beside; /* -1, 0 or 1: the other one */
    double part[2], middle[2];
} reach;

static reach reach_of(double in_cell, double half)
{
    double low = in_cell - half, high = in_cell + half;
    reach r = {0, {1, 0}, {in_cell, 0}};
    if (low < 0) {
        r = (reach){-1, {high / (2 * half), -low / (2 * half)}, {high / 2, 1 + low / 2}};
    } else if (high > 1) {
        r = (reach){1, {(1 - low) / (2 * half), (high - 1) / (2 * half)}, {(1 + low) / 2, (high - 1) / 2}};
    }
    return r;
}

static inline uint64_t units_of(double share)
{
    return (uint64_t)(share * (1 / UNIT) + 0.5);
}

static void add(uint64_t *sums, double share, const double middle[3], bool alone)
{
    uint64_t units[4] = {units_of(share)};
    for (int a = 0; a < 3; a++)
        units[1 + a] = units_of(share * middle[a]);
    for (int k = 0; k < 4; k++) {
        if (alone)
            sums[k] += units[k];
        else {
            UND_PRAGMA(omp atomic)
            sums[k] += units[k];
        }
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
    return fabs(part - 1) < 1e-9 ? 1 : b->flat ? sqrt(part) : cbrt(part);
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
        add(s->scratch->wet + 4 * at, s->share[i], in_cell, alone);
        return;
    }
    reach r[3];
    for (int a = 0; a < 3; a++) {
        r[a] = reach_of(in_cell[a], half[a]);
        if (r[a].beside && label[(size_t)((ptrdiff_t)at + r[a].beside * m->step[a])] == UND_CELL_SOLID)
            r[a] = (reach){0, {1, 0}, {in_cell[a], 0}};
    }
    for (int k = 0; k < count; k++) {
        double share = s->share[i], middle[3];
        ptrdiff_t to = (ptrdiff_t)at;
        for (int a = 0; a < 3; a++) {
            int over = k >> a & 1;
            share *= r[a].part[over];
            middle[a] = r[a].middle[over];
            to += over * r[a].beside * m->step[a];
        }
        if (share > 0 && label[to] != UND_CELL_SOLID)
            add(s->scratch->wet + 4 * to, share, middle, alone);
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
    memset(s->scratch->wet, 0, 4 * m->count * sizeof *s->scratch->wet);
    PARALLEL_FOR(workers)
    for (int block = 0; block < blocks; block++) {
        int end = block == blocks - 1 ? s->count : (block + 1) * BLOCK;
        for (int i = block * BLOCK; i < end; i++)
            add_marker(s, label, &b, i, workers == 1);
    }
}

double und_markers_part(const und_markers *s, size_t cell)
{
    return und_smaller((double)s->scratch->wet[4 * cell] * UNIT, 1);
}

double und_markers_depth(const und_markers *s, size_t cell, int axis, bool from_high)
{
    const uint64_t *sums = s->scratch->wet + 4 * cell;
    if (sums[0] == 0)
        return 0;
    double middle = (double)sums[1 + axis] / (double)sums[0], depth = 2 * (from_high ? 1 - middle : middle);
    double part = UNIT * (double)sums[0];
    return (fmin(part, 1) + fmin(fmin(depth, LONELY * part), 1)) / 2;
}
