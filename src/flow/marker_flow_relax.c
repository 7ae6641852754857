/* Incompressibility cell by cell.  Foster & Metaxas 1996, equations 5 to 9.
 *
 * Red cells and then black ones, as on a chess board: a face has one of each beside it, so all cells of a
 * colour may be done at once.  They are done row by row, every other row at a time, so that a row may
 * touch the faces of the rows beside it.  Faces at walls do not move; beta is the constant of equation 7
 * all the same, by which cells at walls relax more slowly. */
#include "flow/marker_flow_project_kernel.h"

static und_marker_kinds_args kinds_of(const und_marker_flow *f)
{
    return (und_marker_kinds_args){.mac = f->mac,
                                   .label = f->label,
                                   .kind = f->parts->kind,
                                   .ease = f->parts->ease,
                                   .low = f->row_low,
                                   .high = f->row_high};
}

void und_marker_flow_find_kinds(und_marker_flow *f)
{
    const und_marker_flow_parts *s = f->parts;
    const und_marker_kinds_args args = kinds_of(f);
    const und_set rows = und_marker_flow_byte_rows(f);
    und_pass(&f->device, und_marker_find_kinds, &args, &rows);
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        size_t solid = w->high ? w->at + (size_t)f->mac.step[w->axis] : w->at;
        s->kind[solid] = UND_POISSON_CLOSED;
    }
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        size_t solid = w->high ? w->at + (size_t)f->mac.step[w->axis] : w->at;
        if (w->kind == UND_WALL_OUTFLOW && !w->shut)
            s->kind[solid] = UND_POISSON_KNOWN;
    }
}

/* Rows with Full cells take turns. */
static void find_turns(und_marker_flow *f)
{
    const und_marker_flow_parts *s = f->parts;
    for (int row = 0; row < und_mac_rows(&f->mac); row++) {
        const int parity = (row % f->mac.n[1] + row / f->mac.n[1]) & 1;
        s->turn[parity][row] = s->count[row][0] > 0 ? f->row_high[row] : f->row_low[row];
        s->turn[1 - parity][row] = f->row_low[row];
    }
}

/* The largest |D| that cells had in their turn. */
static double sweep(und_marker_flow *f, und_marker_relax_args *args)
{
    double most = 0;
    for (int half = 0; half < 4; half++) {
        const und_set rows = und_set_spans(&f->mac, f->row_low, f->parts->turn[half % 2], (size_t)f->full);
        args->colour = half / 2;
        const und_pass pass = UND_PASS(und_marker_relax, args, &rows);
        most = und_larger_total(und_largest(&f->device, &pass, 1, f->parts->row_most), most);
    }
    return most;
}

und_marker_flow_report und_marker_flow_relax(und_marker_flow *f, double dt, double beta0, double epsilon,
                                             int max_sweeps)
{
    const und_marker_kinds_args kinds = kinds_of(f);
    const und_set rows = und_marker_flow_byte_rows(f);
    und_marker_relax_args args = {.missing = und_marker_flow_missing(f),
                                  .u = {f->u[0], f->u[1], f->u[2]},
                                  .p = f->p,
                                  .kind = f->parts->kind,
                                  .ease = f->parts->ease,
                                  .step = {f->mac.step[0], f->mac.step[1], f->mac.step[2]},
                                  .axes = und_marker_flow_axes(f),
                                  .wide = f->mac.n[1]};
    double bend = 0;
    und_marker_flow_per_cell(f, dt, args.push);
    for (int a = 0; a < 3; a++)
        bend += args.missing.per_cell[a] * args.missing.per_cell[a];
    args.beta = beta0 / (2 * dt * bend); /* eq. 7 */
    und_marker_flow_find_kinds(f);
    und_pass(&f->device, und_marker_find_ease, &kinds, &rows);
    find_turns(f);
    und_marker_flow_report report = {.divergence = und_marker_flow_divergence(f)};
    while (report.divergence >= epsilon && report.iterations < max_sweeps) {
        report.iterations++;
        /* Cells that were right in their turn are not yet right together. */
        if (sweep(f, &args) < epsilon || report.iterations == max_sweeps)
            report.divergence = und_marker_flow_divergence(f);
    }
    report.converged = report.divergence < epsilon;
    return report;
}
