#include "solve/components.h"

#include "base/status.h"
#include "grid/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ROWS = UND_AT_OWN, AT_RUNS };

static const und_field fields[] = {UND_FIELD(und_components, count, AT_ROWS),
                                   UND_FIELD(und_components, first, AT_ROWS),
                                   UND_FIELD(und_components, run, AT_RUNS, .sparse = true)};
enum { FIELDS = sizeof fields / sizeof *fields };

und_status und_components_open(und_components *components, und_device device, const und_level *level,
                               und_error *err)
{
    size_t rows = (size_t)level->n[1] * (size_t)level->n[2];
    *components = (und_components){.device = device, .level = level, .per_row = level->n[0]};
    if (rows * (size_t)components->per_row > INT32_MAX)
        return und_error_set(err, UND_INVALID, "the grid of %d x %d x %d cells is too large", level->n[0],
                             level->n[1], level->n[2]);
    const size_t own[] = {rows, rows * (size_t)components->per_row};
    if (und_field_open_all(components, fields, FIELDS, &(und_field_room){.own = own},
                           "runs of the pressure's system", err) == UND_OK)
        return UND_OK;
    und_components_close(components);
    return err->status;
}

void und_components_close(und_components *components)
{
    und_field_close_all(components, fields, FIELDS);
    *components = (und_components){0};
}

enum { CELLS = 2 * UND_CELL_PACK, ALL = 0xffff };

/* The runs of a row, from `first` on; where the next row's begin.  `own`, `way` and `known`: bits of a pack's
 * cells that are unknown, that have a way to the one before, that touch known ones. */
static int32_t set_row(und_components *components, int32_t first, int y, int z)
{
    const und_level *level = components->level;
    int row = y + z * level->n[1], count = 0;
    und_run *run = components->run + first, *last = NULL;
    for (int k = 0; k < level->packs; k++) {
        size_t pack = und_level_pack(level, y, z) + (size_t)k;
        if (level->kind[pack] == UND_CELL_PACK_DRY) {
            last = NULL;
            continue;
        }
        unsigned own = und_level_unknown(level, y, z, k), way = level->link[0][pack];
        unsigned known = level->link[3][pack];
        if (last && (own & way) == ALL) {
            last->end += CELLS;
            last->open |= known != 0;
            continue;
        }
        for (int i = 0; i < CELLS; i++) {
            if (!(own >> i & 1)) {
                last = NULL;
                continue;
            }
            if (!last || !(way >> i & 1)) {
                int x = CELLS * k + i;
                last = &run[count];
                *last = (und_run){.begin = x, .end = x, .parent = first + count};
                count++;
            }
            last->end++;
            last->open |= known >> i & 1;
        }
    }
    components->first[row] = first;
    components->count[row] = count;
    return first + count;
}

static int32_t root_of(und_run *run, int32_t i)
{
    while (run[i].parent != i) {
        run[i].parent = run[run[i].parent].parent;
        i = run[i].parent;
    }
    return i;
}

static void unite(und_run *run, int32_t a, int32_t b)
{
    a = root_of(run, a), b = root_of(run, b);
    int32_t low = a < b ? a : b, high = a < b ? b : a;
    run[high].parent = low;
    run[low].open |= run[high].open;
}

/* Has a cell x in [begin, end) of row (y, z) a way to its low neighbour along the axis? */
static bool has_way(const und_level *level, int axis, int y, int z, int begin, int end)
{
    const uint16_t *way = level->link[axis] + und_level_pack(level, y, z);
    for (int k = begin / CELLS; k * CELLS < end; k++) {
        unsigned bits = way[k];
        if (k * CELLS < begin)
            bits &= (unsigned)ALL << (begin - k * CELLS);
        if ((k + 1) * CELLS > end)
            bits &= (unsigned)ALL >> ((k + 1) * CELLS - end);
        if (bits)
            return true;
    }
    return false;
}

/* Runs of row (y, z) and of its low neighbour along the axis that have cells side by side. */
static void join_rows(und_components *components, int axis, int y, int z)
{
    const und_level *level = components->level;
    und_run *run = components->run;
    int row = y + z * level->n[1], other = row - (axis == 1 ? 1 : level->n[1]);
    int32_t i = components->first[row], i_end = i + components->count[row];
    int32_t k = components->first[other], k_end = k + components->count[other];
    while (i < i_end && k < k_end) {
        int begin = run[i].begin > run[k].begin ? run[i].begin : run[k].begin;
        int end = run[i].end < run[k].end ? run[i].end : run[k].end;
        if (begin < end && has_way(level, axis, y, z, begin, end))
            unite(run, i, k);
        if (run[i].end < run[k].end)
            i++;
        else
            k++;
    }
}

enum { SLAB = 8 }; /* slices */

/* Rows of a slab of slices, and which of their runs are joined within it. */
static void slab_block(const void *args, const und_set *set, int slab)
{
    und_components *components = *(und_components *const *)args;
    const int rows = components->level->n[1], low = slab * SLAB, all = components->level->n[2],
              high = low + SLAB < all ? low + SLAB : all;
    int32_t first = low * rows * components->per_row;
    (void)set;
    for (int z = low; z < high; z++)
        UND_LEVEL_EACH_ROW (components->level, y, z) {
            first = set_row(components, first, y, z);
            if (y > 0)
                join_rows(components, 1, y, z);
            if (z > low)
                join_rows(components, 2, y, z);
        }
}

/* Whatever the order in which runs are joined, a part's root is its first. */
static void join_block(const void *args, const und_set *set, int block)
{
    und_components *components = *(und_components *const *)args;
    const int *n = components->level->n;
    und_run *run = components->run;
    (void)set, (void)block;
    for (int z = SLAB; z < n[2]; z += SLAB)
        UND_LEVEL_EACH_ROW (components->level, y, z)
            join_rows(components, 2, y, z);
    components->closed = 0;
    for (int row = 0; row < n[1] * n[2]; row++)
        for (int32_t i = components->first[row], end = i + components->count[row]; i < end; i++)
            components->closed += run[i].parent == i && !run[i].open;
    for (int row = 0; row < n[1] * n[2] && components->closed; row++)
        for (int32_t i = components->first[row], end = i + components->count[row]; i < end; i++)
            run[i].parent = root_of(run, i); /* a root comes before what it holds: one link is left */
}

und_set und_components_slabs(const und_components *components)
{
    const int *n = components->level->n;
    return (und_set){.blocks = (n[2] + SLAB - 1) / SLAB, .worth = (size_t)n[0] * (size_t)n[1] * (size_t)n[2]};
}

const und_kernel und_components_find = {.name = "find_components", .block = slab_block},
                 und_components_join = {.name = "join_components", .block = join_block};

/* Cells [*begin, *end) of colour c in a pack that are of the run; where the pack stands. */
static size_t cells_of_run(const und_components *components, const und_run *run, int c, int y, int z, int k,
                           int *begin, int *end)
{
    int offset = und_colour_offset(c, y, z), first = run->begin - CELLS * k, last = run->end - CELLS * k;
    *begin = first > 0 ? (first - offset + 1) / 2 : 0;
    *end = last < CELLS ? (last - offset + 1) / 2 : UND_CELL_PACK;
    return components->level->place[und_level_pack(components->level, y, z) + (size_t)k];
}

static void sum_run(const und_components *components, und_run *run, int y, int z, double *const v[2])
{
    run->sum = 0;
    for (int k = run->begin / CELLS; CELLS * k < run->end; k++)
        for (int c = 0; c < 2; c++) {
            int begin, end;
            const double *value = v[c] + cells_of_run(components, run, c, y, z, k, &begin, &end);
            for (int q = begin; q < end; q++)
                run->sum += value[q];
        }
    run->cells = run->end - run->begin;
}

static void take_from_run(const und_components *components, const und_run *run, int y, int z,
                          double *const v[2], double mean)
{
    for (int k = run->begin / CELLS; CELLS * k < run->end; k++)
        for (int c = 0; c < 2; c++) {
            int begin, end;
            double *value = v[c] + cells_of_run(components, run, c, y, z, k, &begin, &end);
            for (int q = begin; q < end; q++)
                value[q] -= mean;
        }
}

static void take_from_row(const und_components *components, int y, int z, double *const v[2])
{
    int row = y + z * components->level->n[1];
    for (int k = 0; k < components->count[row]; k++) {
        const und_run *own = &components->run[components->first[row] + k],
                      *root = &components->run[own->parent];
        if (!root->open)
            take_from_run(components, own, y, z, v, root->sum / root->cells);
    }
}

typedef struct mean_args {
    const und_components *components;
    double *v[2];
} mean_args;

static void sum_slice(const void *args, const und_set *set, int z)
{
    const mean_args *a = args;
    const int rows = a->components->level->n[1];
    (void)set;
    for (int y = 0; y < rows; y++)
        for (int k = 0, row = y + z * rows; k < a->components->count[row]; k++)
            sum_run(a->components, &a->components->run[a->components->first[row] + k], y, z, a->v);
}
static void take_slice(const void *args, const und_set *set, int z)
{
    const mean_args *a = args;
    (void)set;
    for (int y = 0; y < a->components->level->n[1]; y++)
        take_from_row(a->components, y, z, a->v);
}
static const und_kernel sum_kernel = {.name = "sum_components", .block = sum_slice},
                        take_kernel = {.name = "take_means", .block = take_slice};

double und_components_take_mean(und_components *components, double *const v[2])
{
    const int *n = components->level->n;
    und_run *run = components->run;
    double largest = 0;
    if (!components->closed)
        return 0;
    const mean_args args = {components, {v[0], v[1]}};
    const und_set slices = und_level_set(components->level);
    und_pass_run(&components->device, &(und_pass){&sum_kernel, &args, &slices}, 1);
    for (int row = n[1] * n[2] - 1; row >= 0; row--) /* backwards: a root is met with all its part summed */
        for (int32_t first = components->first[row], i = first + components->count[row] - 1; i >= first;
             i--) {
            if (run[i].parent != i) {
                run[run[i].parent].sum += run[i].sum;
                run[run[i].parent].cells += run[i].cells;
            } else if (!run[i].open && fabs(run[i].sum) > largest * run[i].cells) {
                largest = fabs(run[i].sum) / run[i].cells;
            }
        }
    und_pass_run(&components->device, &(und_pass){&take_kernel, &args, &slices}, 1);
    return largest;
}
