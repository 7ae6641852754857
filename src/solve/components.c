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

enum { CELLS = 2 * UND_CELL_PACK };

void und_components_passes(und_components *c, und_pass passes[UND_MULTIGRID_BESIDE])
{
    enum { ROWS = 64 };
    const und_level *level = c->level;
    const int rows = level->n[1] * level->n[2];
    c->rows = und_set_list(level, rows, ROWS, level->n[0]);
    c->rows.worth /= 4;
    c->once = und_set_list(level, 1, 1, 1);
    c->joining = (und_joining){.n = {level->n[0], level->n[1], level->n[2]},
                               .packs = level->packs,
                               .present = level->present,
                               .unknown = level->unknown,
                               .link = {level->link[0], level->link[1], level->link[2], level->link[3]},
                               .run = c->run,
                               .first = c->first,
                               .count = c->count,
                               .blocks = c->rows.blocks,
                               .per_block = c->rows.per_block,
                               .closed = &c->closed};
    passes[0] = UND_PASS(und_run_count, &c->joining, &c->rows);
    passes[1] = UND_PASS(und_run_add_up, &c->joining, &c->once);
    passes[2] = UND_PASS(und_run_set, &c->joining, &c->rows);
    passes[3] = UND_PASS(und_run_join, &c->joining, &c->rows);
    passes[4] = UND_PASS(und_run_settle, &c->joining, &c->rows);
    passes[5] = UND_PASS(und_run_count_closed, &c->joining, &c->rows);
}

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
static const und_kernel sum_kernel = {"sum_components", sum_slice}, take_kernel = {"take_means", take_slice};

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
