/* Kernels that find connected parts of unknown cells, and take means out of them; see
 * src/solve/components.h. */
#ifndef UND_SOLVE_COMPONENTS_KERNEL_H
#define UND_SOLVE_COMPONENTS_KERNEL_H

#include "solve/components.h"
#include "solve/multigrid_sides_kernel.h"

/* ---- Runs ---- */

/* A pack's cells from `own` on: bits of those that are unknown; `way` and `known`: that have a way to the one
 * before, that touch known ones. */
typedef struct und_run_bits {
    unsigned own, way, known;
} und_run_bits;

/* Adds a pack's cells, one by one, to the last run or to new ones. */
static inline und_run *und_add_to_runs(und_run *run, int32_t first, int *count, und_run *last, und_run_bits b,
                                       int x)
{
    for (int i = 0; i < UND_PACK_CELLS; i++) {
        if (!(b.own >> i & 1)) {
            last = NULL;
            continue;
        }
        if (!last || !(b.way >> i & 1)) {
            last = &run[*count];
            *last = (und_run){.begin = x + i, .end = x + i, .parent = first + *count};
            (*count)++;
        }
        last->end++;
        last->open |= b.known >> i & 1;
    }
    return last;
}

/* The runs of a row, from `first` on; where the next row's begin. */
static inline int32_t und_find_row_runs(const und_components_args *a, int32_t first, int y, int z)
{
    const und_level *level = a->level;
    const int row = y + z * level->n[1];
    int count = 0;
    und_run *const run = a->run + first, *last = NULL;
    for (int k = 0; k < level->packs; k++) {
        const size_t pack = und_level_pack(level, y, z) + (size_t)k;
        if (level->kind[pack] == UND_CELL_PACK_DRY) {
            last = NULL;
            continue;
        }
        const und_run_bits b = {und_level_unknown(level, y, z, k), level->link[0][pack],
                                level->link[3][pack]};
        if (last && (b.own & b.way) == UND_PACK_ALL) {
            last->end += UND_PACK_CELLS;
            last->open |= b.known != 0;
            continue;
        }
        last = und_add_to_runs(run, first, &count, last, b, UND_PACK_CELLS * k);
    }
    a->first[row] = first;
    a->count[row] = count;
    return first + count;
}
UND_INLINE void und_find_runs_item(const und_components_args *a, int z, int y)
{
    if (y == 0 && z == 0)
        *a->closed = 0;
    if (und_level_has_row(a->level, y, z))
        und_find_row_runs(a, (int32_t)((y + z * a->level->n[1]) * a->per_row), y, z);
}
/* Those of a slice one behind the other. */
UND_KERNEL_STATIC void und_find_runs_block(const void *args, const und_set *set, int z)
{
    const und_components_args a = *(const und_components_args *)args;
    int32_t first = (int32_t)(z * a.level->n[1] * a.per_row);
    (void)set;
    if (z == 0)
        *a.closed = 0;
    UND_LEVEL_EACH_ROW (a.level, y, z)
        first = und_find_row_runs(&a, first, y, z);
}
UND_KERNEL_ITEMS(und_find_runs, und_components_args)

/* ---- Parts ---- */

/* A run's root has the least number of all that are joined with it: whatever the order in which runs are
 * joined, by however many threads at once, a part's root is its first. */
static inline int32_t und_root_of(und_run *run, int32_t i)
{
    for (int32_t up = und_shared_int(&run[i].parent); up != i;) {
        const int32_t next = und_shared_int(&run[up].parent);
        if (next != up)
            und_shared_set(&run[i].parent, next); /* what was above it still is */
        i = up;
        up = next;
    }
    return i;
}

static inline void und_unite(und_run *run, int32_t a, int32_t b)
{
    for (;;) {
        a = und_root_of(run, a), b = und_root_of(run, b);
        const int32_t low = a < b ? a : b, high = a < b ? b : a;
        if (low == high || und_shared_replace_int(&run[high].parent, high, low))
            return;
    }
}

/* Has a cell x in [begin, end) of row (y, z) a way to its low neighbour along the axis? */
static inline bool und_has_way(const und_level *level, int axis, int y, int z, int begin, int end)
{
    const uint16_t *way = level->link[axis] + und_level_pack(level, y, z);
    for (int k = begin / UND_PACK_CELLS; k * UND_PACK_CELLS < end; k++) {
        unsigned bits = way[k];
        if (k * UND_PACK_CELLS < begin)
            bits &= (unsigned)UND_PACK_ALL << (begin - k * UND_PACK_CELLS);
        if ((k + 1) * UND_PACK_CELLS > end)
            bits &= (unsigned)UND_PACK_ALL >> ((k + 1) * UND_PACK_CELLS - end);
        if (bits)
            return true;
    }
    return false;
}

/* Runs of row (y, z) and of its low neighbour along the axis that have cells side by side. */
static inline void und_join_rows(const und_components_args *a, int axis, int y, int z)
{
    const und_level *level = a->level;
    und_run *run = a->run;
    int row = y + z * level->n[1], other = row - (axis == 1 ? 1 : level->n[1]);
    int32_t i = a->first[row], i_end = i + a->count[row];
    int32_t k = a->first[other], k_end = k + a->count[other];
    while (i < i_end && k < k_end) {
        int begin = run[i].begin > run[k].begin ? run[i].begin : run[k].begin;
        int end = run[i].end < run[k].end ? run[i].end : run[k].end;
        if (begin < end && und_has_way(level, axis, y, z, begin, end))
            und_unite(run, i, k);
        if (run[i].end < run[k].end)
            i++;
        else
            k++;
    }
}

static inline void und_join_row(const und_components_args *a, int y, int z)
{
    if (y > 0)
        und_join_rows(a, 1, y, z);
    if (z > 0)
        und_join_rows(a, 2, y, z);
}
UND_INLINE void und_join_runs_item(const und_components_args *a, int z, int y)
{
    if (und_level_has_row(a->level, y, z))
        und_join_row(a, y, z);
}
UND_KERNEL_STATIC void und_join_runs_block(const void *args, const und_set *set, int z)
{
    const und_components_args a = *(const und_components_args *)args;
    (void)set;
    UND_LEVEL_EACH_ROW (a.level, y, z)
        und_join_row(&a, y, z);
}
UND_KERNEL_ITEMS(und_join_runs, und_components_args)

/* Each run's parent becomes its root, which is open if one of them is. */
UND_INLINE void und_root_runs_item(const und_components_args *a, int z, int y)
{
    const int row = y + z * a->level->n[1];
    for (int32_t i = a->first[row], end = i + a->count[row]; i < end; i++) {
        const int32_t root = und_root_of(a->run, i);
        und_shared_set(&a->run[i].parent, root);
        if (root != i && a->run[i].open)
            und_shared_set(&a->run[root].open, 1);
    }
}
UND_KERNEL_STATIC void und_root_runs_block(const void *args, const und_set *set, int z)
{
    for (int y = 0; y < set->per_block; y++)
        und_root_runs_item(args, z, y);
}
UND_KERNEL_ITEMS(und_root_runs, und_components_args)

UND_INLINE void und_count_closed_item(const und_components_args *a, int z, int y)
{
    const int row = y + z * a->level->n[1];
    int32_t closed = 0;
    for (int32_t i = a->first[row], end = i + a->count[row]; i < end; i++)
        closed += a->run[i].parent == i && !a->run[i].open;
    if (closed > 0)
        und_shared_add(a->closed, closed);
}
UND_KERNEL_STATIC void und_count_closed_block(const void *args, const und_set *set, int z)
{
    for (int y = 0; y < set->per_block; y++)
        und_count_closed_item(args, z, y);
}
UND_KERNEL_ITEMS(und_count_closed, und_components_args)

/* ---- Means ---- */

/* Cells [*begin, *end) of colour c in a pack that are of the run; where the pack stands. */
static inline size_t und_cells_of_run(const und_components_args *a, const und_run *run, int c, int y, int z,
                                      int k, int *begin, int *end)
{
    int offset = und_colour_offset(c, y, z), first = run->begin - UND_PACK_CELLS * k,
        last = run->end - UND_PACK_CELLS * k;
    *begin = first > 0 ? (first - offset + 1) / 2 : 0;
    *end = last < UND_PACK_CELLS ? (last - offset + 1) / 2 : UND_CELL_PACK;
    return a->level->place[und_level_pack(a->level, y, z) + (size_t)k];
}

static inline void und_sum_run(const und_components_args *a, und_run *run, int y, int z)
{
    run->sum = 0;
    for (int k = run->begin / UND_PACK_CELLS; UND_PACK_CELLS * k < run->end; k++)
        for (int c = 0; c < 2; c++) {
            int begin, end;
            const double *value = a->v[c] + und_cells_of_run(a, run, c, y, z, k, &begin, &end);
            for (int q = begin; q < end; q++)
                run->sum += value[q];
        }
    run->cells = run->end - run->begin;
}

static inline void und_take_from_run(const und_components_args *a, const und_run *run, int y, int z,
                                     double mean)
{
    for (int k = run->begin / UND_PACK_CELLS; UND_PACK_CELLS * k < run->end; k++)
        for (int c = 0; c < 2; c++) {
            int begin, end;
            double *value = a->v[c] + und_cells_of_run(a, run, c, y, z, k, &begin, &end);
            for (int q = begin; q < end; q++)
                value[q] -= mean;
        }
}

static inline void und_take_from_row(const und_components_args *a, int y, int z)
{
    int row = y + z * a->level->n[1];
    for (int k = 0; k < a->count[row]; k++) {
        const und_run *own = &a->run[a->first[row] + k], *root = &a->run[own->parent];
        if (!root->open)
            und_take_from_run(a, own, y, z, root->sum / root->cells);
    }
}

UND_INLINE void und_sum_runs_item(const und_components_args *a, int z, int y)
{
    const int row = y + z * a->level->n[1];
    for (int k = 0; k < a->count[row]; k++)
        und_sum_run(a, &a->run[a->first[row] + k], y, z);
}
UND_KERNEL_STATIC void und_sum_runs_block(const void *args, const und_set *set, int z)
{
    for (int y = 0; y < set->per_block; y++)
        und_sum_runs_item(args, z, y);
}
UND_KERNEL_ITEMS(und_sum_runs, und_components_args)

/* What runs have goes to their roots, backwards: a root is met with all its part summed. */
UND_KERNEL_STATIC void und_gather_runs_block(const void *args, const und_set *set, int block)
{
    const und_components_args *a = args;
    und_run *run = a->run;
    double largest = 0;
    (void)set, (void)block;
    for (int row = a->level->n[1] * a->level->n[2] - 1; row >= 0; row--)
        for (int32_t first = a->first[row], i = first + a->count[row] - 1; i >= first; i--) {
            const double size = run[i].sum < 0 ? -run[i].sum : run[i].sum;
            if (run[i].parent != i) {
                run[run[i].parent].sum += run[i].sum;
                run[run[i].parent].cells += run[i].cells;
            } else if (!run[i].open && size > largest * run[i].cells) {
                largest = size / run[i].cells;
            }
        }
    *a->largest = largest;
}
UND_KERNEL_BLOCK(und_gather_runs, und_components_args)

UND_INLINE void und_take_means_item(const und_components_args *a, int z, int y)
{
    und_take_from_row(a, y, z);
}
UND_KERNEL_STATIC void und_take_means_block(const void *args, const und_set *set, int z)
{
    for (int y = 0; y < set->per_block; y++)
        und_take_means_item(args, z, y);
}
UND_KERNEL_ITEMS(und_take_means, und_components_args)

/* ---- Lifting ---- */

/* x of the grid: the level's first cell is at `first`. */
typedef struct und_lift_args {
    und_components_args of;
    double *x;
    ptrdiff_t first, step[3];
} und_lift_args;

/* The less of what is there and a value, or the more. */
static inline void und_shared_bound(double *p, double value, bool more)
{
    uint64_t now = und_shared_load((const uint64_t *)(const void *)p), by;
    double is;
    __builtin_memcpy(&by, &value, sizeof by);
    do
        __builtin_memcpy(&is, &now, sizeof is);
    while ((more ? value > is : value < is) && !und_shared_replace((uint64_t *)(void *)p, &now, by));
}

UND_INLINE void und_lift_begin_item(const und_lift_args *a, int z, int y)
{
    const int row = y + z * a->of.level->n[1];
    for (int32_t i = a->of.first[row], end = i + a->of.count[row]; i < end; i++) {
        a->of.run[i].sum = __builtin_inf();
        a->of.run[i].cells = -__builtin_inf();
    }
}
UND_KERNEL_STATIC void und_lift_begin_block(const void *args, const und_set *set, int z)
{
    for (int y = 0; y < set->per_block; y++)
        und_lift_begin_item(args, z, y);
}
UND_KERNEL_ITEMS(und_lift_begin, und_lift_args)

/* The least and the most that a run has, into its part's. */
UND_INLINE void und_lift_survey_item(const und_lift_args *a, int z, int y)
{
    const int row = y + z * a->of.level->n[1];
    const double *x = a->x + a->first + y * a->step[1] + z * a->step[2];
    for (int32_t i = a->of.first[row], end = i + a->of.count[row]; i < end; i++) {
        und_run *own = &a->of.run[i], *root = &a->of.run[own->parent];
        double least = __builtin_inf(), most = -__builtin_inf();
        for (int k = own->begin; k < own->end && !root->open; k++) {
            least = x[k] < least ? x[k] : least;
            most = x[k] > most ? x[k] : most;
        }
        und_shared_bound(&root->sum, least, false);
        und_shared_bound(&root->cells, most, true);
    }
}
UND_KERNEL_STATIC void und_lift_survey_block(const void *args, const und_set *set, int z)
{
    for (int y = 0; y < set->per_block; y++)
        und_lift_survey_item(args, z, y);
}
UND_KERNEL_ITEMS(und_lift_survey, und_lift_args)

UND_INLINE void und_lift_item(const und_lift_args *a, int z, int y)
{
    const int row = y + z * a->of.level->n[1];
    double *x = a->x + a->first + y * a->step[1] + z * a->step[2];
    for (int32_t i = a->of.first[row], end = i + a->of.count[row]; i < end; i++) {
        const und_run *own = &a->of.run[i], *root = &a->of.run[own->parent];
        const double by = root->cells - 2 * root->sum;
        for (int k = own->begin; k < own->end && !root->open; k++)
            x[k] += by;
    }
}
UND_KERNEL_STATIC void und_lift_block(const void *args, const und_set *set, int z)
{
    for (int y = 0; y < set->per_block; y++)
        und_lift_item(args, z, y);
}
UND_KERNEL_ITEMS(und_lift, und_lift_args)

#endif
