/* Incompressibility cell by cell.  Foster & Metaxas 1996, equations 5 to 9.
 *
 * Red cells and then black ones, as on a chess board: a face has one of each beside it, so all cells of a
 * colour may be done at once.  They are done row by row, every other row at a time, so that a row may
 * touch the faces of the rows beside it.  Faces at walls do not move; beta is the constant of equation 7
 * all the same, by which cells at walls relax more slowly. */
#include "flow/marker_flow_parts.h"

#include "base/parallel.h"

#include <math.h>

void und_marker_flow_find_kinds(und_marker_flow *f)
{
    const und_marker_flow_parts *s = f->parts;
    _Static_assert((int)UND_CELL_EMPTY == UND_POISSON_CLOSED && (int)UND_CELL_SURFACE == UND_POISSON_KNOWN &&
                       (int)UND_CELL_FULL == UND_POISSON_UNKNOWN,
                   "all but Solid cells have their label's number");
    PARALLEL_FOR(und_marker_flow_byte_workers(f, f->mac.count))
    for (int b = 0; b < und_marker_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++) {
            size_t first = und_mac_row(&f->mac, row);
            for (size_t i = first; i < first + (size_t)f->mac.n[0]; i++)
                s->kind[i] = f->label[i] == UND_CELL_SOLID ? UND_POISSON_CLOSED : f->label[i];
        }
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

typedef struct relaxation {
    double per_cell[3]; /* 1 / d */
    double push[3];     /* dt / d */
    double beta;
} relaxation;

static bool none_is(const uint8_t *kind, int count, uint8_t which)
{
    int found = 0;
    for (int x = 0; x < count; x++)
        found |= kind[x] == which;
    return !found;
}

/* Most rows are full of liquid from end to end, and so are those beside: what need not be asked cell by cell.
 * Bit 0: all cells of the row are Full; bit 1 + side: none beside it at that side is a wall. */
static uint8_t find_ease(const und_marker_flow *f, int row)
{
    int count = f->row_high[row] - f->row_low[row];
    const uint8_t *kind = f->parts->kind + und_mac_row(&f->mac, row) + f->row_low[row];
    bool full = none_is(kind, count, UND_POISSON_CLOSED) && none_is(kind, count, UND_POISSON_KNOWN);
    unsigned ease = full;
    for (int side = 2; full && side < 2 * und_marker_flow_axes(f); side++) {
        ptrdiff_t to = side % 2 ? f->mac.step[side / 2] : -f->mac.step[side / 2];
        ease |= (unsigned)none_is(kind + to, count, UND_POISSON_CLOSED) << (1 + side);
    }
    return (uint8_t)ease;
}

/* The high or low faces of a row along y or z move where there is no wall: eq. 8. */
static void push_faces(double *restrict u, const double *restrict change, const uint8_t *kind,
                       const uint8_t *beside, double push, int low, int high, bool all)
{
    if (all)
        for (int x = low; x < high; x++)
            u[x] = u[x] + push * change[x];
    else
        for (int x = low; x < high; x++) {
            bool moves = (kind[x] != UND_POISSON_CLOSED) & (beside[x] != UND_POISSON_CLOSED);
            u[x] = u[x] + (moves ? push * change[x] : 0);
        }
}

/* Along x each face has two cells that may push it, one of either colour. */
static void push_along(double *restrict u, const double *restrict change, const uint8_t *kind, double push,
                       int low, int high, bool all)
{
    for (int x = low - 1; x < high; x += all ? high - low : 1) { /* the ends, or all */
        bool moves = (kind[x] != UND_POISSON_CLOSED) & (kind[x + 1] != UND_POISSON_CLOSED);
        u[x] = u[x] + (moves ? push * (change[x] - change[x + 1]) : 0);
    }
    for (int x = low; all && x < high - 1; x++)
        u[x] = u[x] + push * (change[x] - change[x + 1]);
}

/* D of the row's cells whose turn it is, 0 elsewhere. */
static void find_missing(const und_marker_flow *f, const relaxation *r, size_t first, int low, int high,
                         int colour, bool full, double *restrict missing)
{
    const double *u = f->u[0] + first, *v = f->u[1] + first, *w = f->u[2] + first;
    const double *below = v - f->mac.step[1], *behind = w - f->mac.step[2];
    const uint8_t *kind = f->parts->kind + first;
    double per_x = r->per_cell[0], per_y = r->per_cell[1], per_z = r->per_cell[2];
    const double *shrink = f->shrink + first;
    for (int x = low; x < high; x++) /* eq. 5 */
        missing[x] =
            -(per_x * (u[x] - u[x - 1]) + per_y * (v[x] - below[x]) + per_z * (w[x] - behind[x])) - shrink[x];
    for (int x = low + ((low & 1) == colour); x < high; x += 2)
        missing[x] = 0;
    for (int x = low; !full && x < high; x++)
        missing[x] = kind[x] == UND_POISSON_UNKNOWN ? missing[x] : 0;
    missing[low - 1] = missing[high] = 0;
}

/* One colour of a row; the largest |D| it had. */
static double relax_row(und_marker_flow *f, const relaxation *r, int row, int colour)
{
    const und_mac *m = &f->mac;
    int low = f->row_low[row], high = f->row_high[row];
    size_t first = und_mac_row(m, row);
    if (f->parts->row_count[2 * row] == 0)
        return 0;
    unsigned ease = f->parts->ease[row];
    double *restrict change = und_marker_flow_scratch(f, und_thread());
    find_missing(f, r, first, low, high, colour, ease & 1, change);
    double most = und_most_size(change + low, high - low);
    double *restrict p = f->p + first, beta = r->beta;
    const uint8_t *kind = f->parts->kind + first;
    for (int x = low; x < high; x++) {
        change[x] = beta * change[x]; /* eq. 6 */
        p[x] = p[x] + change[x];      /* eq. 9 */
    }
    push_along(f->u[0] + first, change, kind, r->push[0], low, high, ease & 1);
    for (int a = 1; a < und_marker_flow_axes(f); a++) {
        ptrdiff_t step = m->step[a];
        push_faces(f->u[a] + first, change, kind, kind + step, r->push[a], low, high,
                   ease >> (2 + 2 * a) & 1);
        push_faces(f->u[a] + first - step, change, kind, kind - step, -r->push[a], low, high,
                   ease >> (1 + 2 * a) & 1);
    }
    return most;
}

/* The largest |D| that cells had in their turn. */
static double sweep(und_marker_flow *f, const relaxation *r)
{
    int rows = und_mac_rows(&f->mac), ny = f->mac.n[1];
    double most = 0;
    for (int half = 0; half < 4; half++) {
        int colour = half / 2, parity = half % 2;
        PARALLEL_FOR(und_marker_flow_workers(f, (size_t)f->full))
        for (int b = 0; b < und_marker_flow_blocks(f); b++)
            for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++)
                if (((row % ny + row / ny) & 1) == parity)
                    f->parts->row_most[row] = relax_row(f, r, row, colour ^ parity);
        for (int row = 0; row < rows; row++)
            if (((row % ny + row / ny) & 1) == parity && !(f->parts->row_most[row] <= most))
                most = f->parts->row_most[row];
    }
    return most;
}

und_marker_flow_report und_marker_flow_relax(und_marker_flow *f, double dt, double beta0, double epsilon,
                                             int max_sweeps)
{
    relaxation r = {0};
    double bend = 0;
    und_marker_flow_per_cell(f, 1, r.per_cell);
    und_marker_flow_per_cell(f, dt, r.push);
    for (int a = 0; a < 3; a++)
        bend += r.per_cell[a] * r.per_cell[a];
    r.beta = beta0 / (2 * dt * bend); /* eq. 7 */
    und_marker_flow_find_kinds(f);
    for (int row = 0; row < und_mac_rows(&f->mac); row++)
        f->parts->ease[row] = find_ease(f, row);
    und_marker_flow_report report = {.divergence = und_marker_flow_divergence(f)};
    while (report.divergence >= epsilon && report.iterations < max_sweeps) {
        report.iterations++;
        /* Cells that were right in their turn are not yet right together. */
        if (sweep(f, &r) < epsilon || report.iterations == max_sweeps)
            report.divergence = und_marker_flow_divergence(f);
    }
    report.converged = report.divergence < epsilon;
    return report;
}
