#include "solve/components.h"

#include "base/pages.h"
#include "base/status.h"
#include "grid/field.h"
#include "solve/components_kernel.h"

enum { AT_ROWS = UND_AT_OWN, AT_RUNS, AT_ONE };

static const und_field fields[] = {
    UND_FIELD(und_components, count, AT_ROWS), UND_FIELD(und_components, first, AT_ROWS),
    UND_FIELD(und_components, run, AT_RUNS, .sparse = true), UND_FIELD(und_components, counted, AT_ONE),
    UND_FIELD(und_components, largest, AT_ONE)};
enum { FIELDS = sizeof fields / sizeof *fields };

und_status und_components_open(und_components *components, und_device device, const und_level *level,
                               und_error *err)
{
    size_t rows = (size_t)level->n[1] * (size_t)level->n[2];
    *components = (und_components){.device = device, .level = level, .per_row = level->n[0]};
    if (rows * (size_t)components->per_row > INT32_MAX)
        return und_error_set(err, UND_INVALID, "the grid of %d x %d x %d cells is too large", level->n[0],
                             level->n[1], level->n[2]);
    const size_t own[] = {rows, rows * (size_t)components->per_row, 1};
    components->rows = und_level_set(level);
    components->rows.per_block = level->n[1];
    components->rows.worth = (size_t)level->n[0] * rows;
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

static und_components_args args_of(const und_components *c, double *const v[2])
{
    return (und_components_args){.level = c->level,
                                 .run = c->run,
                                 .first = c->first,
                                 .count = c->count,
                                 .per_row = c->per_row,
                                 .closed = c->counted,
                                 .v = {v ? v[0] : NULL, v ? v[1] : NULL},
                                 .largest = c->largest};
}

int und_components_find(und_components *c, und_pass passes[UND_MULTIGRID_BESIDE])
{
    c->rows.list = c->level;
    c->args = args_of(c, NULL);
    passes[0] = UND_PASS(und_find_runs, &c->args, &c->rows);
    passes[1] = UND_PASS(und_join_runs, &c->args, &c->rows);
    passes[2] = UND_PASS(und_root_runs, &c->args, &c->rows);
    passes[3] = UND_PASS(und_count_closed, &c->args, &c->rows);
    return 4;
}

double und_components_take_mean(und_components *c, double *const v[2])
{
    static const und_set one = {.blocks = 1};
    const und_components_args args = args_of(c, v);
    if (!c->closed)
        return 0;
    const und_pass passes[] = {UND_PASS(und_sum_runs, &args, &c->rows),
                               UND_PASS(und_gather_runs, &args, &one),
                               UND_PASS(und_take_means, &args, &c->rows)};
    const und_step steps[] = {{.passes = passes, .count = 1},
                              {.passes = passes + 1, .count = 1},
                              {.passes = passes + 2, .count = 1}};
    und_pass_steps(&c->device, steps, 3);
    return *c->largest;
}

void und_components_lift(const und_components *c, double *x, ptrdiff_t first, const ptrdiff_t step[3])
{
    const und_lift_args args = {
        .of = args_of(c, NULL), .x = x, .first = first, .step = {step[0], step[1], step[2]}};
    const und_pass passes[] = {UND_PASS(und_lift_begin, &args, &c->rows),
                               UND_PASS(und_lift_survey, &args, &c->rows),
                               UND_PASS(und_lift, &args, &c->rows)};
    const und_step steps[] = {{.passes = passes, .count = 1},
                              {.passes = passes + 1, .count = 1},
                              {.passes = passes + 2, .count = 1}};
    if (c->closed)
        und_pass_steps(&c->device, steps, 3);
}
