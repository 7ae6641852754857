/* Which runs of unknown cells hang together: solve/components.h.
 *
 * Runs of each row are counted, how many are before a row is added up, and then they are there.  Those of
 * neighbouring rows that have cells side by side are joined by whoever comes to them: the root of two becomes
 * the one before the other (an atomic change of a root alone), so in whatever order that is, a part's root is
 * its first run in the end. */
#ifndef UND_SOLVE_COMPONENTS_KERNEL_H
#define UND_SOLVE_COMPONENTS_KERNEL_H

#include "base/shared.h"
#include "grid/mask.h"
#include "grid/pass.h"

enum { UND_RUN_PACK = 16, UND_RUN_ALL = 0xffff }; /* cells of a pack, their bits */

/* Unknown cells of a row with ways from each to the next, and a node of the union-find forest of them. */
typedef struct und_run {
    int32_t begin, end; /* x */
    int32_t parent;
    int32_t open;      /* of a root: some cell of the part has a known one beside it */
    double sum, cells; /* or the least and the most, in und_system_lift */
} und_run;

typedef struct und_joining {
    int n[3], packs;
    const und_present *present; /* rows that may have some; NULL: all */
    und_mask unknown;
    const uint16_t *link[4]; /* und_level's */
    und_run *run;
    int32_t *first, *count; /* of each row: its first run, and how many it has */
    int blocks, per_block;  /* of rows */
    int32_t *closed;        /* parts that no known cell touches */
} und_joining;

UND_INLINE size_t und_run_pack(const und_joining *j, int y, int z)
{
    return ((size_t)z * (size_t)j->n[1] + (size_t)y) * (size_t)j->packs;
}

/* ---- Runs of rows ---- */

/* The cells of a pack that begin runs. */
UND_INLINE unsigned und_run_begins(const und_joining *j, const uint64_t *row, size_t first, int k)
{
    return und_mask_sixteen(&j->unknown, row, UND_RUN_PACK * k) & ~(unsigned)j->link[0][first + (size_t)k];
}

static inline void und_run_count(const und_joining *j, und_place p)
{
    int32_t all = 0;
    for (int row = (int)p.at; row < (int)p.at + p.x; row++) {
        const int y = row % j->n[1], z = row / j->n[1];
        const uint64_t *own = und_mask_row(&j->unknown, y, z);
        int32_t count = 0;
        for (int k = 0; k < j->packs && und_present_has(j->present, y, z); k++)
            count += __builtin_popcount(und_run_begins(j, own, und_run_pack(j, y, z), k));
        j->count[row] = count;
        all += count;
    }
    j->first[p.at] = all;
}
UND_KERNEL(und_run_count, und_joining, UND_EACH_BLOCK)

/* Blocks are few. */
static inline void und_run_add_up(const und_joining *j, und_place p)
{
    int32_t first = 0;
    (void)p;
    for (int row = 0; row < j->n[1] * j->n[2]; row += j->per_block) {
        const int32_t own = j->first[row];
        j->first[row] = first;
        first += own;
    }
    *j->closed = 0;
}
UND_KERNEL(und_run_add_up, und_joining, UND_EACH_BLOCK)

/* The runs of a row, from `first` on. */
static inline void und_run_set_row(const und_joining *j, int32_t first, int y, int z)
{
    const uint64_t *row = und_mask_row(&j->unknown, y, z);
    const size_t pack = und_run_pack(j, y, z);
    und_run *last = NULL, *next = j->run + first;
    for (int k = 0; k < j->packs; k++) {
        const unsigned own = und_mask_sixteen(&j->unknown, row, UND_RUN_PACK * k),
                       begins = und_run_begins(j, row, pack, k), known = j->link[3][pack + (size_t)k];
        if (own == UND_RUN_ALL && !begins && last) {
            last->end += UND_RUN_PACK;
            last->open |= known != 0;
            continue;
        }
        for (int i = 0; i < UND_RUN_PACK && own; i++) {
            if (!(own >> i & 1))
                continue;
            if (begins >> i & 1) {
                last = next++;
                *last = (und_run){.begin = UND_RUN_PACK * k + i,
                                  .end = UND_RUN_PACK * k + i,
                                  .parent = (int32_t)(last - j->run)};
            }
            last->end++;
            last->open |= known >> i & 1;
        }
    }
}

static inline void und_run_set(const und_joining *j, und_place p)
{
    int32_t first = j->first[p.at];
    for (int row = (int)p.at; row < (int)p.at + p.x; row++) {
        j->first[row] = first;
        if (j->count[row] > 0)
            und_run_set_row(j, first, row % j->n[1], row / j->n[1]);
        first += j->count[row];
    }
}
UND_KERNEL(und_run_set, und_joining, UND_EACH_BLOCK)

/* ---- Parts ---- */

/* On the way up each run is moved to the one above its own, or further. */
UND_INLINE int32_t und_run_root(und_run *run, int32_t i)
{
    for (int32_t up; (up = und_shared_int(&run[i].parent)) != i; i = up) {
        const int32_t above = und_shared_int(&run[up].parent);
        if (above != up)
            und_shared_set(&run[i].parent, above);
    }
    return i;
}

UND_INLINE void und_run_unite(und_run *run, int32_t a, int32_t b)
{
    for (;;) {
        a = und_run_root(run, a);
        b = und_run_root(run, b);
        const int32_t low = a < b ? a : b, high = a < b ? b : a;
        if (low == high || und_shared_replace_int(&run[high].parent, high, low))
            return;
    }
}

/* Has a cell x in [begin, end) of row (y, z) a way to its low neighbour along the axis? */
static inline bool und_run_has_way(const und_joining *j, int axis, int y, int z, int begin, int end)
{
    const uint16_t *way = j->link[axis] + und_run_pack(j, y, z);
    for (int k = begin / UND_RUN_PACK; k * UND_RUN_PACK < end; k++) {
        unsigned bits = way[k];
        if (k * UND_RUN_PACK < begin)
            bits &= (unsigned)UND_RUN_ALL << (begin - k * UND_RUN_PACK);
        if ((k + 1) * UND_RUN_PACK > end)
            bits &= (unsigned)UND_RUN_ALL >> ((k + 1) * UND_RUN_PACK - end);
        if (bits)
            return true;
    }
    return false;
}

/* Runs of row (y, z) and of its low neighbour along the axis that have cells side by side. */
static inline void und_run_join_rows(const und_joining *j, int axis, int y, int z)
{
    und_run *run = j->run;
    const int row = y + z * j->n[1], other = row - (axis == 1 ? 1 : j->n[1]);
    int32_t i = j->first[row], i_end = i + j->count[row];
    int32_t k = j->first[other], k_end = k + j->count[other];
    while (i < i_end && k < k_end) {
        const int begin = run[i].begin > run[k].begin ? run[i].begin : run[k].begin;
        const int end = run[i].end < run[k].end ? run[i].end : run[k].end;
        if (begin < end && und_run_has_way(j, axis, y, z, begin, end))
            und_run_unite(run, i, k);
        if (run[i].end < run[k].end)
            i++;
        else
            k++;
    }
}

static inline void und_run_join(const und_joining *j, und_place p)
{
    for (int row = (int)p.at; row < (int)p.at + p.x; row++) {
        const int y = row % j->n[1], z = row / j->n[1];
        if (j->count[row] > 0 && y > 0)
            und_run_join_rows(j, 1, y, z);
        if (j->count[row] > 0 && z > 0)
            und_run_join_rows(j, 2, y, z);
    }
}
UND_KERNEL(und_run_join, und_joining, UND_EACH_BLOCK)

/* A run's parent is its part's root, which is open where one of them is. */
static inline void und_run_settle(const und_joining *j, und_place p)
{
    und_run *run = j->run;
    for (int row = (int)p.at; row < (int)p.at + p.x; row++)
        for (int32_t i = j->first[row], end = i + j->count[row]; i < end; i++) {
            const int32_t root = und_run_root(run, i);
            und_shared_set(&run[i].parent, root);
            if (root != i && und_shared_int(&run[i].open))
                und_shared_set(&run[root].open, 1);
        }
}
UND_KERNEL(und_run_settle, und_joining, UND_EACH_BLOCK)

static inline void und_run_count_closed(const und_joining *j, und_place p)
{
    for (int row = (int)p.at; row < (int)p.at + p.x; row++)
        for (int32_t i = j->first[row], end = i + j->count[row]; i < end; i++)
            if (j->run[i].parent == i && !j->run[i].open)
                und_shared_add(j->closed, 1);
}
UND_KERNEL(und_run_count_closed, und_joining, UND_EACH_BLOCK)

#endif
