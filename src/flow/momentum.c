/* The explicit step of the momentum equations.  Foster & Metaxas 1996, equations 2 and 3. */
#include "flow/flow_parts.h"
#include "flow/momentum_kernel.h"

#include "base/parallel.h"

#include <string.h>

/* The liquid's speed in each cell of a row, in cells a second along all axes together. */
static double row_speed(const und_flow *f, int row)
{
    size_t first = und_mac_row(&f->mac, row);
    size_t sy = (size_t)f->mac.step[1], sz = (size_t)f->mac.step[2];
    double per[3], most = 0;
    und_flow_per_cell(f, 1, per);
    const double *u = f->u[0], *v = f->u[1], *w = f->u[2];
    for (size_t i = first + (size_t)f->row_low[row]; i < first + (size_t)f->row_high[row]; i++) {
        double speed = und_larger(fabs(u[i]), fabs(u[i - 1])) * per[0] +
                       und_larger(fabs(v[i]), fabs(v[i - sy])) * per[1] +
                       und_larger(fabs(w[i]), fabs(w[i - sz])) * per[2];
        bool liquid = (f->label[i] == UND_CELL_FULL) | (f->label[i] == UND_CELL_SURFACE);
        speed = liquid ? speed : 0;
        most = speed > most ? speed : most;
    }
    return most;
}

/* Liquid at rest that begins to fall shall not cross more cells in a step than liquid that moves. */
static double longest_fall(const und_flow *f, const double gravity[3], double courant)
{
    double longest = INFINITY;
    for (int a = 0; a < und_flow_axes(f); a++)
        if (gravity[a] != 0)
            longest = fmin(longest, sqrt(courant * f->mac.d[a] / fabs(gravity[a])));
    return longest;
}

double und_flow_longest_step(const und_flow *f, const und_momentum *m, double courant, und_step_limit *limit)
{
    *limit = UND_LIMIT_COURANT;
    if (f->full + f->surface == 0)
        return INFINITY;
    PARALLEL_FOR(und_flow_workers(f, (size_t)(f->full + f->surface)))
    for (int b = 0; b < und_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_flow_block_end(f, b); row++)
            f->parts->row_most[row] = row_speed(f, row);
    double most = 0, bend = 0;
    for (int row = 0; row < und_mac_rows(&f->mac); row++)
        most = und_larger(f->parts->row_most[row], most);
    for (int a = 0; a < und_flow_axes(f); a++)
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

/* Cells that the flow crosses in a step, along all axes together; in walls 0. */
static void find_courant(und_flow *f, int row, double dt, bool plain)
{
    const und_flow_parts *s = f->parts;
    size_t first = und_mac_row(&f->mac, row);
    size_t sy = (size_t)f->mac.step[1], sz = (size_t)f->mac.step[2];
    double per[3];
    und_flow_per_cell(f, dt, per);
    const double *u = f->u[0], *v = f->u[1], *w = f->u[2];
    for (size_t i = first + (size_t)s->near_low[row]; i < first + (size_t)s->near_high[row]; i++) {
        double cells = und_larger(fabs(u[i]), fabs(u[i - 1])) * per[0] +
                       und_larger(fabs(v[i]), fabs(v[i - sy])) * per[1] +
                       und_larger(fabs(w[i]), fabs(w[i - sz])) * per[2];
        bool none = (f->label[i] == UND_CELL_SOLID) | plain;
        s->courant[i] = none ? 0 : (float)cells;
    }
}

/* What the faces along one axis need, with the axis first and the others after it; d is the cell's size and
 * step 0 where there is no such axis. */
typedef struct across {
    const double *u[3];
    const double *p;
    const uint8_t *label;
    const float *courant;
    ptrdiff_t step[3];
    double share[3]; /* dt / d */
    double own[3];   /* nu / d */
    double fall;     /* g dt */
    double upwind;
} across;

static across across_of(const und_flow *f, const und_momentum *m, double dt, int axis)
{
    across k = {.p = f->p,
                .label = f->label,
                .courant = f->parts->courant,
                .fall = m->gravity[axis] * dt,
                .upwind = m->plain ? 0 : m->upwind};
    for (int i = 0; i < 3; i++) {
        int a = (axis + i) % 3;
        bool is = a < und_flow_axes(f);
        k.u[i] = f->u[a];
        k.step[i] = is ? f->mac.step[a] : 0;
        k.share[i] = is ? dt / f->mac.d[a] : 0;
        k.own[i] = m->viscosity / f->mac.d[a];
    }
    return k;
}

/* The flux through the edge between face i and the next one along the second or third axis. */
static inline double edge_flux(const across *k, int b, const double *u, const double *v, const float *c,
                               ptrdiff_t i)
{
    ptrdiff_t sa = k->step[0], sb = k->step[b];
    return und_flux(0.5 * (v[i] + v[i + sa]), u[i], u[i + sb],
                    (double)und_largest(c[i], c[i + sa], c[i + sb], c[i + sa + sb]), k->own[b], k->upwind);
}

/* Equation 2 on the high faces of the cells [from, to), where there is liquid on both sides. */
static void step_row(across k, double *restrict next, ptrdiff_t from, ptrdiff_t to)
{
    const double *u = k.u[0], *v = k.u[1], *w = k.u[2], *p = k.p;
    const float *c = k.courant;
    ptrdiff_t sa = k.step[0], sb = k.step[1], sc = k.step[2];
    for (ptrdiff_t i = from; i < to; i++) {
        double low = und_flux(0.5 * (u[i - sa] + u[i]), u[i - sa], u[i], (double)c[i], k.own[0], k.upwind);
        double high =
            und_flux(0.5 * (u[i] + u[i + sa]), u[i], u[i + sa], (double)c[i + sa], k.own[0], k.upwind);
        double gain = k.share[0] * (low - high + (p[i] - p[i + sa])) +
                      k.share[1] * (edge_flux(&k, 1, u, v, c, i - sb) - edge_flux(&k, 1, u, v, c, i)) +
                      k.share[2] * (edge_flux(&k, 2, u, w, c, i - sc) - edge_flux(&k, 2, u, w, c, i)) +
                      k.fall;
        uint8_t here = k.label[i], there = k.label[i + sa];
        bool liquid = ((here == UND_CELL_FULL) | (here == UND_CELL_SURFACE)) &
                      ((there == UND_CELL_FULL) | (there == UND_CELL_SURFACE));
        next[i] = liquid ? u[i] + gain : u[i];
    }
}

static void carry_over(und_flow *f, int axis, size_t from, int32_t low, int32_t high)
{
    if (low < high)
        memcpy(f->next[axis] + from + low, f->u[axis] + from + low, sizeof(double) * (size_t)(high - low));
}

static void step_rows(und_flow *f, const across k[3], int block)
{
    const und_flow_parts *s = f->parts;
    for (int row = block * UND_ROWS_AT_ONCE; row < und_flow_block_end(f, block); row++) {
        size_t first = und_mac_row(&f->mac, row);
        int32_t low = f->row_low[row], high = f->row_high[row];
        for (int a = 0; a < und_flow_axes(f); a++) {
            step_row(k[a], f->next[a], (ptrdiff_t)first + low, (ptrdiff_t)first + high);
            bool none = low >= high;
            carry_over(f, a, first, s->near_low[row], none ? s->near_high[row] : low);
            carry_over(f, a, first, none ? s->near_high[row] : high, s->near_high[row]);
        }
    }
}

/* A face inside a thin wall, or at a wall's edge, has liquid faces on several sides and holds the mean of
 * what they should see.  Their fluxes are put right here. */
static void mend_shared(und_flow *f, const across k[3])
{
    const und_flow_parts *s = f->parts;
    for (size_t n = 0; n < s->shareds; n++) {
        const und_ghost *g = &s->ghost[s->shared[n]];
        const across *at = &k[g->axis];
        for (size_t i = g->first; i < g->first + g->count; i++) {
            const und_mirror *mirror = &s->mirror[i];
            size_t user = mirror->user;
            if (!und_is_liquid(f->label[user]) || !und_is_liquid(f->label[user + (size_t)at->step[0]]))
                continue;
            int b = (mirror->side / 2 - g->axis + 3) % 3;
            bool high = mirror->side % 2;
            size_t edge = high ? user : g->at, beyond = edge + (size_t)at->step[b];
            const double *u = at->u[0], *v = at->u[b];
            const float *c = at->courant;
            size_t ahead = (size_t)at->step[0];
            double right = mirror->scale * u[user] + mirror->offset;
            double speed = 0.5 * (v[edge] + v[edge + ahead]);
            double courant = (double)und_largest(c[edge], c[edge + ahead], c[beyond], c[beyond + ahead]);
            double made = und_flux(speed, u[edge], u[beyond], courant, at->own[b], at->upwind);
            double meant = und_flux(speed, high ? u[user] : right, high ? right : u[user], courant,
                                    at->own[b], at->upwind);
            f->next[g->axis][user] += at->share[b] * (high ? made - meant : meant - made);
        }
    }
}

/* Outflow faces go on from where they are; all others at walls are set anew. */
static void carry_ports(und_flow *f)
{
    const und_flow_parts *s = f->parts;
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        f->next[w->axis][w->at] = f->u[w->axis][w->at];
    }
}

void und_flow_momentum(und_flow *f, const und_momentum *m, double dt)
{
    int workers = und_flow_workers(f, (size_t)(f->full + f->surface));
    PARALLEL_FOR(workers)
    for (int b = 0; b < und_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_flow_block_end(f, b); row++)
            find_courant(f, row, dt, m->plain);
    across k[3];
    for (int a = 0; a < und_flow_axes(f); a++)
        k[a] = across_of(f, m, dt, a);
    PARALLEL_FOR(workers)
    for (int b = 0; b < und_flow_blocks(f); b++)
        step_rows(f, k, b);
    mend_shared(f, k);
    carry_ports(f);
    for (int a = 0; a < 3; a++) {
        double *old = f->u[a];
        f->u[a] = f->next[a];
        f->next[a] = old;
    }
}
