/* The water's velocity, recovered from the volume that flows between columns, and what it carries.
 *
 * Equation 13 says by how much h changes: by the difference of flows through a column's faces that grow by
 * -g d dh/dx dt a step (eq. 7 times the depth).  Adding those up gives flows whose difference is the change
 * of volume. */
#include "base/maths.h"
#include "liquid/waves_state.h"
#include "liquid/waves_transport_kernel.h"

static und_waves_flow_args flow_args(const und_waves *s, float *flow, ptrdiff_t beside)
{
    return (und_waves_flow_args){.height = s->height,
                                 .ground = s->ground,
                                 .middle = s->middle,
                                 .rise = s->rise,
                                 .head = s->height_field.head,
                                 .flow = flow,
                                 .beside = beside,
                                 .kept = (float)und_waves_kept(s),
                                 .push =
                                     (float)(s->def.height_field.gravity * s->dt / s->height_field.grid.dx),
                                 .second = s->def.order == 2};
}

void und_waves_flux_x(und_waves *s)
{
    const und_height_field *p = &s->height_field;
    const und_waves_flow_args args = flow_args(s, s->flux_x, 1);
    if (s->flux_x)
        und_pass(&p->device, und_waves_flow_x, &args, &p->across[0]);
}

void und_waves_flux_z(und_waves *s)
{
    const und_height_field *p = &s->height_field;
    const und_waves_flow_args args = flow_args(s, s->flux_z, p->stride);
    if (s->flux_z)
        und_pass(&p->device, und_waves_flow_z, &args, &p->across[1]);
}

static void find_speeds(const und_waves *s)
{
    const und_height_field *p = &s->height_field;
    const und_waves_speed_args args = {.height = s->height,
                                       .ground = s->ground,
                                       .flux_x = s->flux_x,
                                       .flux_z = s->flux_z,
                                       .speed_x = s->speed_x,
                                       .speed_z = s->speed_z,
                                       .row = p->stride,
                                       .gravity = s->def.height_field.gravity};
    und_pass(&p->device, und_waves_speed, &args, &p->rows);
}

/* Carries a field with the water; the field is then what was made of it, and the other way round. */
static void carry(und_waves *s, float **field)
{
    const und_height_field *p = &s->height_field;
    const und_waves_carry_args args = {.mac = p->mac,
                                       .height = s->height,
                                       .ground = s->ground,
                                       .speed_x = s->speed_x,
                                       .speed_z = s->speed_z,
                                       .field = *field,
                                       .carried = s->carried,
                                       .cells = (float)(s->dt / p->grid.dx)};
    und_pass(&p->device, und_waves_carry, &args, &p->rows);
    s->carried = *field;
    *field = args.carried;
}

static void make_foam(const und_waves *s)
{
    const und_height_field *p = &s->height_field;
    const und_foam_def *def = &s->def.foam;
    const und_waves_foam_args args = {.height = s->height,
                                      .ground = s->ground,
                                      .speed_x = s->speed_x,
                                      .speed_z = s->speed_z,
                                      .foam = s->foam,
                                      .gravity = s->def.height_field.gravity,
                                      .holds = 0.2 * p->grid.dx,
                                      .fade = (float)und_exp(-s->dt / def->life),
                                      .rate = (float)(def->rate * s->dt),
                                      .threshold = (float)def->threshold};
    und_pass(&p->device, und_waves_foam, &args, &p->rows);
}

void und_waves_transport(und_waves *s)
{
    float **const fields[] = {&s->foam, &s->dye, &s->texture_u, &s->texture_v};
    if (!s->speed_x)
        return;
    find_speeds(s);
    for (int i = 0; i < 4; i++)
        if (*fields[i])
            carry(s, fields[i]);
    if (s->foam)
        make_foam(s);
}
