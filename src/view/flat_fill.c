/* How much of each place is liquid: from markers, from the outlines of chains, from heights. */
#include "view/flat.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SAMPLES = 1 << 22 };

static bool make_room(und_flat_lattice *l, const und_plot_data *d, int per_cell)
{
    while (per_cell > 1 && (double)d->nx * d->ny * per_cell * per_cell > MOST_SAMPLES)
        per_cell--;
    l->per_cell = per_cell;
    l->nx = d->nx * per_cell;
    l->ny = d->ny * per_cell;
    size_t need = (size_t)l->nx * (size_t)l->ny;
    if (need > l->capacity) {
        free(l->share);
        l->share = malloc(need * sizeof *l->share);
        l->capacity = l->share ? need : 0;
    }
    if (l->share)
        memset(l->share, 0, need * sizeof *l->share);
    return l->share;
}

/* Quadratic B-spline about a sample's middle: weights of it and its two neighbours. */
static int spread(double at, double weight[3])
{
    double middle = floor(at), t = at - middle - 0.5;
    weight[0] = 0.5 * (0.5 - t) * (0.5 - t);
    weight[1] = 0.75 - t * t;
    weight[2] = 0.5 * (0.5 + t) * (0.5 + t);
    return (int)middle;
}

static void add_marker(und_flat_lattice *l, double x, double y, float amount)
{
    double wx[3], wy[3];
    if (!(x > -1 && y > -1 && x < l->nx + 1 && y < l->ny + 1))
        return; /* NaN too */
    int i = spread(x, wx), j = spread(y, wy);
    for (int b = 0; b < 3; b++)
        for (int a = 0; a < 3; a++) {
            int to_x = i + a - 1, to_y = j + b - 1;
            /* What falls over the edge comes back: liquid at a wall is as dense as elsewhere. */
            to_x = to_x < 0 ? 0 : to_x < l->nx ? to_x : l->nx - 1;
            to_y = to_y < 0 ? 0 : to_y < l->ny ? to_y : l->ny - 1;
            l->share[(size_t)to_y * (size_t)l->nx + (size_t)to_x] += amount * (float)(wx[a] * wy[b]);
        }
}

/* The markers of a cell in the middle of the liquid. */
static double markers_in_full(const und_plot_data *d)
{
    double full = 0, wet = 0;
    for (int c = 0; c < d->nx * d->ny; c++) {
        full += d->label[c] == UND_CELL_FULL;
        wet += d->label[c] == UND_CELL_FULL || d->label[c] == UND_CELL_SURFACE;
    }
    return (double)d->markers / fmax(full + 0.5 * (wet - full), 1);
}

/* Full cells are full, however few markers they have. */
static void fill_full_cells(und_flat_lattice *l, const und_plot_data *d)
{
    for (int y = 0; y < l->ny; y++)
        for (int x = 0; x < l->nx; x++) {
            float *share = l->share + (size_t)y * (size_t)l->nx + (size_t)x;
            bool full = d->label[y / l->per_cell * d->nx + x / l->per_cell] == UND_CELL_FULL;
            *share = full || *share > 1 ? 1 : *share;
        }
}

static void fill_by_markers(und_flat_lattice *l, const und_plot_data *d)
{
    double across = l->per_cell / d->dx, up = l->per_cell / d->dy;
    float amount = (float)(l->per_cell * l->per_cell / fmax(markers_in_full(d), 1));
    for (size_t k = 0; k < d->markers; k++)
        add_marker(l, ((double)d->marker[3 * k] - d->x0) * across,
                   ((double)d->marker[3 * k + 1] - d->y0) * up, amount);
    fill_full_cells(l, d);
}

static void fill_by_heights(und_flat_lattice *l, const und_plot_data *d, const float *surface,
                            const float *ground)
{
    for (int x = 0; x < l->nx; x++) {
        double u = fmin(fmax((x + 0.5) / l->per_cell - 0.5, 0), d->nx - 1);
        int i = (int)u, next = i + 1 < d->nx ? i + 1 : i;
        bool dry = ground && !(surface[i] > ground[i]), dry_next = ground && !(surface[next] > ground[next]);
        double t = dry_next ? 0 : dry ? 1 : u - i; /* a shore is no slope */
        double h = ((double)surface[i] * (1 - t) + (double)surface[next] * t - d->y0) * l->per_cell / d->dy;
        for (int y = 0; y < l->ny && !(dry && dry_next); y++)
            l->share[(size_t)y * (size_t)l->nx + (size_t)x] = (float)fmin(fmax(h - y, 0), 1);
    }
}

/* The integral up to x of the share of a line, from low to high, that lies left of a place. */
static double left_of(double x, double low, double high)
{
    if (x <= low)
        return 0;
    return x < high ? 0.5 * (x - low) * (x - low) / (high - low) : x - 0.5 * (low + high);
}

/* A piece of a line within one row, dy high: what it adds to the mean winding number of each sample, as
 * differences along the row. */
static void add_line_in_row(und_flat_lattice *l, int row, double x0, double x1, double dy)
{
    float *to = l->share + (size_t)row * (size_t)l->nx;
    double low = fmin(x0, x1), high = fmax(x0, x1), before = 0;
    for (int i = (int)floor(low); i <= (int)floor(high) + 1 && i < l->nx; i++) {
        double mean = left_of(i + 1, low, high) - left_of(i, low, high);
        to[i < 0 ? 0 : i] += (float)((mean - before) * dy);
        before = mean;
    }
}

static void add_line(und_flat_lattice *l, double x0, double y0, double x1, double y1)
{
    double low = fmax(fmin(y0, y1), 0), high = fmin(fmax(y0, y1), l->ny), sign = y1 > y0 ? 1 : -1;
    if (!(high > low))
        return;
    double slope = (x1 - x0) / (y1 - y0);
    for (int row = (int)low; row < l->ny && row < high; row++) {
        double a = fmax(low, row), b = fmin(high, row + 1.0);
        double xa = fmin(fmax(x0 + (a - y0) * slope, -2), l->nx + 1.0);
        double xb = fmin(fmax(x0 + (b - y0) * slope, -2), l->nx + 1.0);
        add_line_in_row(l, row, xa, xb, sign * (b - a));
    }
}

static void fill_by_chains(und_flat_lattice *l, const und_plot_data *d)
{
    double across = l->per_cell / d->dx, up = l->per_cell / d->dy;
    for (size_t c = 0; c < d->chains; c++) {
        size_t count = (size_t)(d->first[c + 1] - d->first[c]);
        for (size_t k = 0; k < count; k++) {
            const float *from = d->chain + 3 * ((size_t)d->first[c] + k);
            const float *to = d->chain + 3 * ((size_t)d->first[c] + (k + 1) % count);
            double p[4] = {((double)from[0] - d->x0) * across, ((double)from[1] - d->y0) * up,
                           ((double)to[0] - d->x0) * across, ((double)to[1] - d->y0) * up};
            if (fabs(p[0]) + fabs(p[1]) + fabs(p[2]) + fabs(p[3]) < 1e9)
                add_line(l, p[0], p[1], p[2], p[3]);
        }
    }
    for (int y = 0; y < l->ny; y++) {
        double sum = 0;
        for (int x = 0; x < l->nx; x++) {
            float *share = l->share + (size_t)y * (size_t)l->nx + (size_t)x;
            sum += (double)*share;
            *share = (float)fmin(fabs(sum), 1);
        }
    }
}

bool und_flat_fill(und_flat_lattice *l, const und_plot_data *d, const float *surface, const float *ground)
{
    if (d->chain) {
        if (!make_room(l, d, 6))
            return false;
        fill_by_chains(l, d);
    } else if (surface) {
        if (!make_room(l, d, 6))
            return false;
        fill_by_heights(l, d, surface, ground);
    } else if (d->marker && d->markers > 0) {
        if (!make_room(l, d, 3))
            return false;
        fill_by_markers(l, d);
    } else
        return false;
    return true;
}
