/* The implicit step: equation 19 along the rows, equation 20 along the columns. */
#include "liquid/waves_solve_kernel.h"
#include "liquid/waves_state.h"

/* What the steps of both orders need to know. */
static und_waves_scheme scheme_of(const und_waves *s)
{
    const bool second = s->def.order == 2;
    const double dx = s->height_field.grid.dx;
    return (und_waves_scheme){.stiffness = (float)(s->def.height_field.gravity * s->dt * s->dt / (dx * dx)),
                              .outer = second ? 0.5f : 1.0f,
                              .kept = (float)(und_waves_kept(s) * s->dt / s->rise_time),
                              .cells = (float)(und_waves_kept(s) * s->dt / dx),
                              .second = second};
}

static und_waves_end end_of(const und_waves *s, int e)
{
    const und_height_field *p = &s->height_field;
    const bool along_z = e == UND_LOW_X || e == UND_HIGH_X;
    const size_t first = und_height_field_edge_cell(p, e, 0);
    return (und_waves_end){.edge = s->edge[e],
                           .first = first,
                           .along = along_z ? p->stride : 1,
                           .inwards = (ptrdiff_t)(und_height_field_inner_cell(p, e, 0) - first)};
}

static und_waves_solve_args args_of(const und_waves *s, int low, int high, const float *flux)
{
    const und_height_field *p = &s->height_field;
    return (und_waves_solve_args){.scheme = scheme_of(s),
                                  .low = end_of(s, low),
                                  .high = end_of(s, high),
                                  .first = p->mac.first,
                                  .stride = p->stride,
                                  .nx = p->nx,
                                  .nz = p->nz,
                                  .words = s->words,
                                  .height = s->height,
                                  .rise = s->rise,
                                  .middle = s->middle,
                                  .ground = s->ground,
                                  .head = p->head,
                                  .flux = flux,
                                  .wet = s->wet,
                                  .gain = s->gain,
                                  .least = s->least,
                                  .plain = s->plain,
                                  .shallow = (float)s->shallow};
}

/* So many lines side by side, each with room for its elimination. */
static und_set lines(const und_waves *s, int blocks, int cells)
{
    und_set set = und_set_list(s->height, blocks, 1, cells);
    set.worth *= 4; /* as that of height_field.rows */
    set.lent = s->scratch;
    set.lent_each = s->scratch_stride;
    return set;
}

void und_waves_rows(und_waves *s)
{
    const und_height_field *p = &s->height_field;
    const und_set rows = lines(s, (p->nz + LANES - 1) / LANES, LANES * p->nx);
    const und_waves_solve_args args = args_of(s, UND_LOW_X, UND_HIGH_X, s->flux_x);
    und_pass(&p->device, und_waves_solve_rows, &args, &rows);
}

void und_waves_columns(und_waves *s)
{
    const und_height_field *p = &s->height_field;
    const und_set columns = lines(s, s->words, STRIP * p->nz);
    const und_waves_solve_args args = args_of(s, UND_LOW_Z, UND_HIGH_Z, s->flux_z);
    und_pass(&p->device, und_waves_solve_columns, &args, &columns);
}
