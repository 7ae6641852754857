/* The explicit step of the momentum equations.  Foster & Metaxas 1996, equations 2 and 3. */
#include "base/maths.h"
#include "flow/marker_flow_momentum_kernel.h"

#include <math.h>

/* Liquid at rest that begins to fall shall not cross more cells in a step than liquid that moves. */
static double longest_fall(const und_marker_flow *f, const double gravity[3], double courant)
{
    double longest = INFINITY;
    for (int a = 0; a < und_marker_flow_axes(f); a++)
        if (gravity[a] != 0)
            longest = fmin(longest, sqrt(courant * f->mac.d[a] / fabs(gravity[a])));
    return longest;
}

/* What comes in crosses no more cells either, in cells a second. */
static double fastest_inflow(const und_marker_flow *f)
{
    double most = 0;
    for (size_t i = 0; i < f->parts->ports; i++) {
        const und_wall_face *w = &f->parts->face[f->parts->port[i]];
        if (w->kind == UND_WALL_INFLOW)
            most = fmax(most, fabs(w->value) / f->mac.d[w->axis]);
    }
    return most;
}

double und_marker_flow_longest_step(const und_marker_flow *f, const und_momentum *m, double courant,
                                    und_step_limit *limit)
{
    *limit = UND_LIMIT_COURANT;
    double most = fastest_inflow(f), bend = 0;
    if (f->full + f->surface == 0)
        return most > 0 ? courant / most : INFINITY;
    und_marker_speed_args speed = {
        .u = {f->u[0], f->u[1], f->u[2]}, .step = {f->mac.step[1], f->mac.step[2]}, .label = f->label};
    const und_set spans = und_marker_flow_spans(f);
    und_marker_flow_per_cell(f, 1, speed.per_cell);
    const und_pass pass = UND_PASS(und_marker_speed, &speed, &spans);
    most = und_larger_total(und_largest(&f->device, &pass, 1, f->parts->row_most), most);
    for (int a = 0; a < und_marker_flow_axes(f); a++)
        bend += 1 / (f->mac.d[a] * f->mac.d[a]);
    const double safe = 0.9;
    double longest = longest_fall(f, m->gravity, courant);
    if (most > 0)
        longest = fmin(longest, courant / most);
    double viscous = m->viscosity > 0 ? safe / (2 * m->viscosity * bend) : INFINITY;
    if (viscous < longest)
        *limit = UND_LIMIT_VISCOSITY;
    return fmin(viscous, longest);
}

static und_momentum_across across_of(const und_marker_flow *f, const und_momentum *m, double dt, int axis)
{
    und_momentum_across k = {.push = dt / f->mac.d[axis], .fall = m->gravity[axis] * dt};
    for (int i = 0; i < 3; i++) {
        int a = (axis + i) % 3;
        bool is = a < und_marker_flow_axes(f);
        k.u[i] = f->u[a];
        k.step[i] = is ? f->mac.step[a] : 0;
        k.gain[i] = is ? 0.25 * dt / f->mac.d[a] : 0;
        k.own[i] = 4 * m->viscosity / f->mac.d[a];
    }
    return k;
}

static float largest_of(float a, float b, float c, float d)
{
    float ab = a > b ? a : b, cd = c > d ? c : d;
    return ab > cd ? ab : cd;
}

static double flux(double speeds, double low, double high, double share, double own)
{
    return und_momentum_flux4((und_doubles){speeds}, (und_doubles){low}, (und_doubles){high},
                              (und_doubles){share}, own)[0];
}

/* A face inside a thin wall, or at a wall's edge, has liquid faces on several sides and holds the mean of
 * what they should see.  Their fluxes are put right here. */
static void mend_shared(und_marker_flow *f, const und_momentum_across k[3])
{
    const und_marker_flow_parts *s = f->parts;
    for (size_t n = 0; n < s->shareds; n++) {
        const und_ghost *g = &s->ghost[s->shared[n]];
        const und_momentum_across *at = &k[g->axis];
        for (size_t i = g->first; i < g->first + g->count; i++) {
            const und_mirror *mirror = &s->mirror[i];
            size_t user = mirror->user;
            if (!und_is_liquid(f->label[user]) || !und_is_liquid(f->label[user + (size_t)at->step[0]]))
                continue;
            int b = (mirror->side / 2 - g->axis + 3) % 3;
            bool high = mirror->side % 2;
            size_t edge = high ? user : g->at, beyond = edge + (size_t)at->step[b];
            const double *u = at->u[0], *v = at->u[b];
            const float *c = s->share;
            size_t ahead = (size_t)at->step[0];
            double right = mirror->scale * u[user] + mirror->offset, own = at->own[b];
            double speeds = v[edge] + v[edge + ahead];
            double share = (double)largest_of(c[edge], c[edge + ahead], c[beyond], c[beyond + ahead]);
            double made = flux(speeds, u[edge], u[beyond], share, own);
            double meant = flux(speeds, high ? u[user] : right, high ? right : u[user], share, own);
            f->next[g->axis][user] += at->gain[b] * (high ? made - meant : meant - made);
        }
    }
}

/* Outflow faces go on from where they are; all others at walls are set anew. */
static void carry_ports(und_marker_flow *f)
{
    const und_marker_flow_parts *s = f->parts;
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        f->next[w->axis][w->at] = f->u[w->axis][w->at];
    }
}

/* What liquid reaches that falls an eighth of a cell: noise at the surface, m/s. */
static double slow_speed(const und_momentum *m, double d)
{
    return 0.5 * sqrt(d * und_hypot(und_hypot(m->gravity[0], m->gravity[1]), m->gravity[2]));
}

void und_marker_flow_momentum(und_marker_flow *f, const und_momentum *m, double dt)
{
    const und_marker_flow_parts *s = f->parts;
    const int axes = und_marker_flow_axes(f);
    const und_set spans = und_marker_flow_spans(f),
                  near = und_set_spans(&f->mac, s->near_low, s->near_high, spans.worth);
    und_momentum_slow_args slow = {.u = {f->u[0], f->u[1], f->u[2]}, .mac = f->mac, .label = f->label};
    und_momentum_share_args share = {.u = {f->u[0], f->u[1], f->u[2]},
                                     .step = {f->mac.step[1], f->mac.step[2]},
                                     .label = f->label,
                                     .share = s->share,
                                     .most = m->plain ? 0 : 1,
                                     .wished = (float)m->upwind};
    und_momentum_args step = {.mac = f->mac,
                              .axes = axes,
                              .next = {f->next[0], f->next[1], f->next[2]},
                              .p = f->p,
                              .share = s->share,
                              .label = f->label,
                              .low = f->row_low,
                              .high = f->row_high,
                              .near_low = s->near_low,
                              .near_high = s->near_high};
    const und_set tiles = und_momentum_tiles(&step, spans.worth);
    und_marker_flow_per_cell(f, dt, share.per_cell);
    for (int a = 0; a < 3; a++)
        slow.speed[a] = slow_speed(m, f->mac.d[a]);
    for (int a = 0; a < axes; a++)
        step.across[a] = across_of(f, m, dt, a);
    const und_pass passes[] = {UND_PASS(und_momentum_slow, &slow, &spans),
                               UND_PASS(und_momentum_share, &share, &near),
                               UND_PASS(und_momentum_step, &step, &tiles)};
    const und_step steps[] = {{.passes = passes, .count = 1, .unless = &m->plain},
                              {.passes = passes + 1, .count = 1},
                              {.passes = passes + 2, .count = 1}};
    und_pass_steps(&f->device, steps, 3);
    mend_shared(f, step.across);
    carry_ports(f);
    for (int a = 0; a < 3; a++) {
        double *old = f->u[a];
        f->u[a] = f->next[a];
        f->next[a] = old;
    }
}
