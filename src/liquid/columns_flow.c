/* The volume model: columns and pipes.  O'Brien & Hodgins 1995, section 3.1.
 *
 * Equations 6 and 7 as printed, with the heights of the old time and the mean of old and new flow, make every
 * wave grow by sqrt(1 + (w dt)^2 / 2) a step.  Here the new flow alone moves the water: the step is then
 * symplectic, and waves keep their height as long as w dt < 2.  The mean is kept as an option, for study.
 *
 * Waves of two or three columns then go on for ever; smoothing takes smoothing (w dt)^2 of their energy a
 * step: |lambda|^2 = 1 - smoothing (w dt)^2, stable for w dt < 2 / sqrt(1 + 2 smoothing). */
#include "base/maths.h"
#include "liquid/columns_flow_kernel.h"
#include "liquid/columns_state.h"

#include <math.h>

enum { ROUNDS = 4 }; /* of scaling back by the paper's rule */

static double straight_share(const und_columns *s)
{
    return 1 / (1 + 2 * s->def.diagonal);
}

/* The waves that turn fastest are the ones whose neighbours are opposite: w^2 = most g d / dx^2. */
static double stiffest(const und_columns *s)
{
    return s->nz == 1 ? 4 : fmax(8 * straight_share(s), 4);
}

/* Stable is what turns by less than pi a step, w dt < 2.  But three waves that each turn by a third of a full
 * turn a step, w dt = sqrt(3), feed each other where they are high, and roughen the water; so fewer. */
double und_columns_longest_step(const und_columns *s)
{
    const double safe = 0.8;
    double deepest = fmin(s->deepest, s->def.pipe_depth);
    double turn = sqrt(stiffest(s) * (1 + 2 * s->def.smoothing) * s->def.height_field.gravity * deepest) /
                  s->height_field.grid.dx;
    return turn > 0 ? safe * 2 / turn : INFINITY;
}

/* A wall mirrors the columns along it, and with them the diagonal pipes that would lead out: they carry what
 * the pipe along the wall does.  So a wave runs along a wall as it does in the open; a curve, with walls on
 * both sides, has pipes of the full section. */
void und_columns_set_pipes(und_columns *s)
{
    double dx = s->height_field.grid.dx,
           straight = s->dt * s->def.height_field.gravity / (dx * dx) * straight_share(s);
    s->pipes.straight = (float)straight;
    s->pipes.diagonal = s->pipes.beside = (float)(straight * s->def.diagonal);
    s->pipes.kept = (float)und_exp(-s->def.height_field.damping * s->dt);
    s->pipes.reach = (float)fmin(s->def.pipe_depth, 1e9);
    for (int x = 0; x < s->nx; x++)
        s->share_z[x] = und_columns_straight(s, PIPE_Z, x, 0);
}

static int walls_beside(const und_columns *s, int pipe, int x, int z)
{
    return pipe == PIPE_X ? (z == 0) + (z == s->nz - 1) : (x == 0) + (x == s->nx - 1);
}

float und_columns_straight(const und_columns *s, int pipe, int x, int z)
{
    return s->pipes.straight + (float)walls_beside(s, pipe, x, z) * s->pipes.beside;
}

/* Pressure that resists the rise of the surface calms short waves and leaves long ones, as viscosity does:
 * the pipes see the surface where it would be `smoothing` steps ahead. */
float und_columns_ahead(const und_columns *s)
{
    return (float)(s->def.smoothing * s->dt);
}

static und_columns_flow_args args_of(const und_columns *s)
{
    bool pressed = false;
    for (int z = 0; s->load && z < s->nz; z++)
        pressed |= s->rows[z].pressed;
    und_columns_flow_args a = {.pipes = s->pipes,
                               .nx = s->nx,
                               .nz = s->nz,
                               .first = s->height_field.mac.first,
                               .stride = s->stride,
                               .dt = s->dt,
                               .depth = s->depth,
                               .ground = s->ground,
                               .load = pressed ? s->load : NULL,
                               .share_z = s->share_z,
                               .rise = s->rise,
                               .keep = s->keep,
                               .ahead = und_columns_ahead(s),
                               .rows = s->rows};
    for (int k = 0; k < PIPES; k++) {
        a.flow[k] = s->flow[k];
        a.before[k] = s->before[k];
    }
    return a;
}

/* Some rows a block, each with room for two lanes. */
static und_set bands(const und_columns *s)
{
    const und_height_field *p = &s->height_field;
    und_set rows = und_set_rows(&p->mac, UND_ROWS_INSIDE);
    rows.worth = p->rows.worth;
    rows.lent = s->lanes;
    rows.lent_each = und_columns_lent(s->stride);
    return rows;
}

void und_columns_flow(und_columns *s)
{
    const und_columns_flow_args args = args_of(s);
    const und_set rows = bands(s);
    und_pass(&s->height_field.device, und_columns_flow_rows, &args, &rows);
}

/* A row is tight unless its shallowest column has more than all pipes around it could take. */
static bool find_tight(und_columns *s)
{
    bool any = false;
    for (int z = 0; z < s->nz; z++) {
        double own = (double)s->rows[z].fastest, before = z > 0 ? (double)s->rows[z - 1].fastest : 0;
        double most =
            2 * own + 3 * before; /* its pipes and the one that ends here; three from the row before */
        if (s->before[0])
            most = INFINITY;
        s->rows[z].tight = s->rows[z].judged = s->rows[z].shallowest * (1 - 1e-5) <= s->dt * most;
        any |= s->rows[z].tight;
    }
    return any;
}

/* Where the rows beside it were scaled back, a row must be judged again. */
static bool next_round(und_columns *s)
{
    bool any = false;
    for (int z = 0; z < s->nz; z++)
        any |= s->rows[z].judged && s->rows[z].scaled;
    for (int z = 0; z < s->nz && any; z++) {
        bool near = false;
        for (int k = z > 0 ? z - 1 : 0; k <= z + 1 && k < s->nz; k++)
            near |= s->rows[k].scaled;
        s->rows[z].judged = s->rows[z].tight && near;
    }
    return any;
}

/* Equation 9: where a column would have less than nothing, all pipes that empty it are scaled back, and again
 * until none has.  All columns of a round judge by the same flows, so no order matters; flows only ever
 * shrink; and the round after ROUNDS is the last by its rule. */
void und_columns_scale_back(und_columns *s)
{
    const und_height_field *p = &s->height_field;
    und_columns_flow_args args = args_of(s);
    if (!find_tight(s))
        return;
    for (int round = 0; round <= ROUNDS; round++) {
        args.last = round == ROUNDS;
        und_pass(&p->device, und_columns_judge_row, &args, &p->rows);
        if (!next_round(s))
            return;
        und_pass(&p->device, und_columns_scale_row, &args, &p->rows);
        s->rounds = round + 1 > s->rounds ? round + 1 : s->rounds;
    }
    for (int z = 0; z < s->nz; z++) /* what the last round said holds for this step alone */
        for (int x = 0; x < s->nx && s->rows[z].scaled; x++)
            s->keep[und_columns_at(s, x, z)] = 1;
}

/* Equation 7. */
void und_columns_move_water(und_columns *s)
{
    const und_columns_flow_args args = args_of(s);
    const und_set rows = bands(s);
    und_pass(&s->height_field.device, und_columns_move_row, &args, &rows);
    s->deepest = 0;
    for (int z = 0; z < s->nz; z++)
        s->deepest = fmax(s->deepest, s->rows[z].deepest);
}

und_column und_columns_column(const und_columns *s, size_t at)
{
    double depth = s->depth[at];
    return (und_column){(double)s->ground[at] + depth, (float)depth, s->ground[at],
                        s->load ? s->load[at] : 0};
}

double und_columns_pipe_flux(const und_columns *s, int pipe, int x, int z)
{
    double share = straight_share(s) * (1 + walls_beside(s, pipe, x, z) * s->def.diagonal);
    return (double)s->flow[pipe][und_columns_at(s, x, z)] * s->height_field.grid.dx / share;
}

double und_columns_pipe_speed(const und_columns *s, int pipe, int x, int z)
{
    size_t at = und_columns_at(s, x, z), other = at + (pipe == PIPE_X ? 1 : (size_t)s->stride);
    const und_column a = und_columns_column(s, at), b = und_columns_column(s, other);
    double depth = (double)und_pipe_depth(&a, &b, s->pipes.reach);
    return depth > (double)UND_FILM ? und_columns_pipe_flux(s, pipe, x, z) / depth : 0;
}

/* By the column's own depth: a pipe at the water's edge may be all but dry while its flow goes on, and is no
 * measure.  And no faster than a column a step, since what leaves a column is at most all of it. */
void und_columns_speed(const und_columns *s, int x, int z, double out[2])
{
    double depth = fmin(s->depth[und_columns_at(s, x, z)], (double)s->pipes.reach);
    double most = s->height_field.grid.dx / s->dt;
    out[0] = 0.5 * (und_columns_pipe_flux(s, PIPE_X, x - 1, z) + und_columns_pipe_flux(s, PIPE_X, x, z));
    out[1] = 0.5 * (und_columns_pipe_flux(s, PIPE_Z, x, z - 1) + und_columns_pipe_flux(s, PIPE_Z, x, z));
    for (int k = 0; k < 2; k++)
        out[k] = depth > (double)UND_FILM ? fmax(-most, fmin(out[k] / depth, most)) : 0;
}
