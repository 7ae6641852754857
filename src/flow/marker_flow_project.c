/* Incompressibility as one system: the equations that relaxation (5 to 9) solves when it has converged. */
#include "flow/marker_flow_project_kernel.h"

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
    const und_marker_flow_parts *s = f->parts;
    const double *d = f->mac.d;
    const double weight[3] = {dt / (d[0] * d[0]), dt / (d[1] * d[1]), dt / (d[2] * d[2])};
    const und_set spans = und_marker_flow_spans(f);
    const und_marker_sides_args sides = {und_marker_flow_missing(f), s->kind, s->rhs, s->change};
    und_marker_push_args push = {.u = {f->u[0], f->u[1], f->u[2]},
                                 .p = f->p,
                                 .change = s->change,
                                 .label = f->label,
                                 .step = {f->mac.step[0], f->mac.step[1], f->mac.step[2]},
                                 .axes = und_marker_flow_axes(f)};
    und_marker_flow_per_cell(f, dt, push.push);
    und_marker_flow_find_kinds(f);
    und_pass(&f->device, und_marker_set_sides, &sides, &spans);
    und_poisson_set(poisson, s->kind, weight);
    const double safe = 0.9; /* the velocities round off once more */
    und_poisson_report solved = und_poisson_solve(poisson, s->rhs, s->change, safe * epsilon, max_iterations);
    und_pass(&f->device, und_marker_push, &push, &spans);
    push_outflows(f, push.push);
    und_marker_flow_report report = {.iterations = solved.iterations,
                                     .divergence = und_marker_flow_divergence(f)};
    report.converged = report.divergence < epsilon;
    return report;
}
