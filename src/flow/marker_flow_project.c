/* Incompressibility as one system: the equations that relaxation (5 to 9) solves when it has converged. */
#include "flow/marker_flow_parts.h"

#include "base/parallel.h"

#include <math.h>

static void set_row(und_marker_flow *f, int row, const double per_cell[3])
{
    und_marker_flow_parts *s = f->parts;
    size_t first = und_mac_row(&f->mac, row);
    for (size_t i = first + (size_t)f->row_low[row]; i < first + (size_t)f->row_high[row]; i++) {
        bool full = s->kind[i] == UND_POISSON_UNKNOWN;
        double missing = und_marker_flow_missing(f, i, per_cell);
        s->rhs[i] = full ? missing : 0;
        s->change[i] = 0;
    }
}

/* Faces between two cells of liquid: eq. 8 for both at once.  The change is zero in Surface cells. */
static void push_row(und_marker_flow *f, int row, const double push[3])
{
    und_marker_flow_parts *s = f->parts;
    size_t first = und_mac_row(&f->mac, row);
    size_t from = first + (size_t)f->row_low[row], to = first + (size_t)f->row_high[row];
    const double *change = s->change;
    for (int a = 0; a < und_marker_flow_axes(f); a++) {
        size_t step = (size_t)f->mac.step[a];
        double *u = f->u[a];
        const uint8_t *label = f->label;
        for (size_t i = from; i < to; i++) {
            bool here = (label[i] == UND_CELL_FULL) | (label[i] == UND_CELL_SURFACE);
            bool there = (label[i + step] == UND_CELL_FULL) | (label[i + step] == UND_CELL_SURFACE);
            double by = push[a] * (change[i] - change[i + step]);
            u[i] = u[i] + ((here & there) ? by : 0);
        }
    }
    for (size_t i = from; i < to; i++)
        f->p[i] = f->p[i] + change[i]; /* eq. 9 */
}

static void push_outflows(und_marker_flow *f, const double push[3])
{
    const und_marker_flow_parts *s = f->parts;
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        size_t beyond = w->at + (size_t)f->mac.step[w->axis], cell = w->high ? w->at : beyond;
        bool open = s->kind[w->high ? beyond : w->at] == UND_POISSON_KNOWN;
        if (open && f->label[cell] == UND_CELL_FULL)
            f->u[w->axis][w->at] += (w->high ? 1 : -1) * push[w->axis] * s->change[cell];
    }
}

und_marker_flow_report und_marker_flow_project(und_marker_flow *f, und_poisson *poisson, double dt,
                                               double epsilon, int max_iterations)
{
    und_marker_flow_parts *s = f->parts;
    const double *d = f->mac.d;
    double per_cell[3], push[3];
    und_marker_flow_per_cell(f, 1, per_cell);
    und_marker_flow_per_cell(f, dt, push);
    const double weight[3] = {dt / (d[0] * d[0]), dt / (d[1] * d[1]), dt / (d[2] * d[2])};
    int workers = und_marker_flow_workers(f, (size_t)(f->full + f->surface));
    und_marker_flow_find_kinds(f);
    PARALLEL_FOR(workers)
    for (int b = 0; b < und_marker_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++)
            set_row(f, row, per_cell);
    und_poisson_set(poisson, s->kind, weight);
    const double safe = 0.9; /* the velocities round off once more */
    und_poisson_report solved = und_poisson_solve(poisson, s->rhs, s->change, safe * epsilon, max_iterations);
    PARALLEL_FOR(workers)
    for (int b = 0; b < und_marker_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++)
            push_row(f, row, push);
    push_outflows(f, push);
    und_marker_flow_report report = {.iterations = solved.iterations,
                                     .divergence = und_marker_flow_divergence(f)};
    report.converged = report.divergence < epsilon;
    return report;
}
