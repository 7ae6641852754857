/* Where the liquid is, as a path: chains as they are, markers by what lies close between them, or cells. */
#include "base/maths.h"
#include "render/plot_draw.h"
#include "surface/enclose.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SAMPLES = 1 << 23 };

/* Takes the least of a lattice's values and the distance to a place, within `reach`. */
static void splat(const und_plot_body *b, float *to, double x, double y, double reach)
{
    double u = (x - b->x0) / b->hx, v = (y - b->y0) / b->hy, ru = reach / b->hx, rv = reach / b->hy;
    if (!(u + ru > 0 && v + rv > 0 && u - ru < b->nx && v - rv < b->ny))
        return; /* NaN too */
    int i0 = (int)fmax(ceil(u - ru), 0), i1 = (int)fmin(floor(u + ru), b->nx - 1);
    int j0 = (int)fmax(ceil(v - rv), 0), j1 = (int)fmin(floor(v + rv), b->ny - 1);
    for (int j = j0; j <= j1; j++)
        for (int i = i0; i <= i1; i++) {
            float distance = (float)und_hypot((i - u) * b->hx, (j - v) * b->hy);
            float *at = to + (size_t)j * (size_t)b->nx + (size_t)i;
            *at = distance < *at ? distance : *at;
        }
}

/* Where markers are few a Full cell may have none: it is filled all the same. */
static void splat_full_cells(const und_plot_data *d, const und_plot_body *b, float *to, double reach)
{
    enum { POINTS = 3 };
    for (int c = 0; c < d->nx * d->ny; c++)
        for (int k = 0; k < POINTS * POINTS && d->label[c] == UND_CELL_FULL; k++)
            splat(b, to, d->x0 + (c % d->nx + (k % POINTS + 0.5) / POINTS) * d->dx,
                  d->y0 + (c / d->nx + (k / POINTS + 0.5) / POINTS) * d->dy, reach);
}

/* The same from each place on the lattice's lines where `field` passes through `level`. */
static void splat_crossings(const und_plot_body *b, const float *field, double level, float *to, double reach)
{
    for (int j = 0; j < b->ny; j++)
        for (int i = 0; i < b->nx; i++)
            for (int axis = 0; axis < 2; axis++) {
                if ((axis ? j : i) + 1 >= (axis ? b->ny : b->nx))
                    continue;
                size_t c = (size_t)j * (size_t)b->nx + (size_t)i;
                double a = (double)field[c] - level,
                       e = (double)field[c + (axis ? (size_t)b->nx : 1)] - level;
                if ((a < 0) == (e < 0))
                    continue;
                double t = a / (a - e);
                splat(b, to, b->x0 + (i + (axis ? 0 : t)) * b->hx, b->y0 + (j + (axis ? t : 0)) * b->hy,
                      reach);
            }
}

static bool body_lattice(const und_plot_data *d, double pad, und_plot_body *b)
{
    for (int per_cell = 5; per_cell > 1; per_cell--) {
        b->hx = d->dx / per_cell;
        b->hy = d->dy / per_cell;
        double nx = d->nx * per_cell + 2 * ceil(pad / b->hx) + 1,
               ny = d->ny * per_cell + 2 * ceil(pad / b->hy) + 1;
        if (nx * ny > MOST_SAMPLES)
            continue;
        b->nx = (int)nx;
        b->ny = (int)ny;
        b->x0 = d->x0 - ceil(pad / b->hx) * b->hx;
        b->y0 = d->y0 - ceil(pad / b->hy) * b->hy;
        return true;
    }
    return false;
}

/* Does the square of the lattice that begins at a sample lie in what is open? */
static bool is_open(const und_plot_data *d, const und_plot_body *b, int i, int j)
{
    double x = (b->x0 + (i + 0.5) * b->hx - d->x0) / d->dx, y = (b->y0 + (j + 0.5) * b->hy - d->y0) / d->dy;
    return x > 0 && y > 0 && x < d->nx && y < d->ny && d->label[(int)y * d->nx + (int)x] != UND_CELL_SOLID;
}

/* The sample nearest to a marker. */
static size_t sample_at(const und_plot_body *b, const float place[3])
{
    double u = fmin(fmax(((double)place[0] - b->x0) / b->hx + 0.5, 0), b->nx - 1);
    double v = fmin(fmax(((double)place[1] - b->y0) / b->hy + 0.5, 0), b->ny - 1);
    return (size_t)v * (size_t)b->nx + (size_t)u;
}

/* Each piece of the body has the area that its markers stand for; as it is where there is no memory. */
static void show_areas(const und_plot_data *d, und_plot_body *b, double most)
{
    size_t count = (size_t)b->nx * (size_t)b->ny;
    uint8_t *counts = malloc(count);
    und_enclosing e = {.lattice = {{b->nx, b->ny, 1}, {b->hx, b->hy, 1}, {b->x0, b->y0, 0}},
                       .field = b->inside,
                       .counts = counts,
                       .in = most,
                       .out = most,
                       .threads = 1};
    und_error err;
    for (size_t c = 0; c < count; c++)
        b->inside[c] = -b->inside[c];
    for (size_t c = 0; counts && c < count; c++)
        counts[c] = is_open(d, b, (int)(c % (size_t)b->nx), (int)(c / (size_t)b->nx));
    if (counts && und_enclose_open(&e, &err) == UND_OK) {
        for (size_t k = 0; k < d->markers; k++) {
            int32_t piece = e.piece[sample_at(b, d->marker + 3 * k)];
            double share = (double)d->share[k];
            if (piece >= 0 && share > 0 && share <= 1)
                e.volume[piece] += share * d->dx * d->dy;
        }
        (void)und_enclose(&e, &err);
    }
    und_enclose_close(&e);
    free(counts);
    for (size_t c = 0; c < count; c++)
        b->inside[c] = -b->inside[c];
}

/* The closing of the markers by a disc (Serra 1982): all that no disc of radius `wide` reaches without
 * covering a marker, with a rim of half the markers' spacing, or as wide as shows what they stand for. */
und_plot_body und_plot_body_make(const und_plot_data *d)
{
    und_plot_body b = {0};
    double cell = fmax(d->dx, d->dy), wide = 0.7 * cell, wet = 0;
    for (int j = 0; j < d->ny; j++)
        for (int i = 0; i < d->nx; i++)
            wet += und_plot_wet(d, i, j);
    if (d->chain || !d->marker || d->markers == 0 || !body_lattice(d, 1.5 * wide, &b))
        return b;
    double spacing = sqrt(fmax(wet, 1) * d->dx * d->dy / (double)d->markers);
    double rim = fmin(fmax(0.55 * spacing, 0.06 * cell), 0.35 * cell);
    size_t count = (size_t)b.nx * (size_t)b.ny;
    float *near = malloc(count * sizeof *near), *deep = malloc(count * sizeof *deep);
    if (!near || !deep) {
        free(near);
        free(deep);
        return b;
    }
    for (size_t c = 0; c < count; c++) {
        near[c] = (float)(1.5 * wide);
        deep[c] = (float)(1.5 * wide);
    }
    for (size_t k = 0; k < d->markers; k++)
        splat(&b, near, (double)d->marker[3 * k], (double)d->marker[3 * k + 1], 1.5 * wide);
    splat_full_cells(d, &b, near, 1.5 * wide);
    splat_crossings(&b, near, wide, deep, 1.5 * wide);
    for (size_t c = 0; c < count; c++)
        deep[c] = ((double)near[c] < wide ? deep[c] : -deep[c]) - (float)(wide - rim);
    free(near);
    b.inside = deep;
    if (d->share)
        show_areas(d, &b, 0.5 * wide);
    return b;
}

/* A square of the lattice with samples a, b, c, d around it: the corners of what is inside, up to 6, and
 * where the surface passes. */
typedef struct piece {
    double corner[8][2];
    int corners;
    double edge[4][2];
    int edges;
} piece;

static piece cut_square(const und_plot_body *b, int i, int j)
{
    static const int step[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    piece p = {0};
    for (int k = 0; k < 4; k++) {
        const int *s = step[k], *e = step[(k + 1) % 4];
        double a = (double)b->inside[(size_t)(j + s[1]) * (size_t)b->nx + (size_t)(i + s[0])];
        double c = (double)b->inside[(size_t)(j + e[1]) * (size_t)b->nx + (size_t)(i + e[0])];
        if (a > 0) {
            p.corner[p.corners][0] = b->x0 + (i + s[0]) * b->hx;
            p.corner[p.corners++][1] = b->y0 + (j + s[1]) * b->hy;
        }
        if ((a > 0) == (c > 0))
            continue;
        double t = a / (a - c), x = b->x0 + (i + s[0] + t * (e[0] - s[0])) * b->hx,
               y = b->y0 + (j + s[1] + t * (e[1] - s[1])) * b->hy;
        p.corner[p.corners][0] = p.edge[p.edges][0] = x;
        p.corner[p.corners++][1] = p.edge[p.edges++][1] = y;
    }
    return p;
}

void und_plot_rectangle(cairo_t *cr, double x0, double y0, double x1, double y1)
{
    cairo_move_to(cr, x0, y0);
    cairo_line_to(cr, x1, y0);
    cairo_line_to(cr, x1, y1);
    cairo_line_to(cr, x0, y1);
    cairo_close_path(cr);
}

static void body_path(cairo_t *cr, const und_plot_body *b, bool lines)
{
    for (int j = 0; j + 1 < b->ny; j++)
        for (int i = 0, run = 0; i + 1 < b->nx; i++) {
            piece p = cut_square(b, i, j);
            bool whole = p.corners == 4 && p.edges == 0, last = i + 2 == b->nx;
            run += whole;
            if (run > 0 && (!whole || last) && !lines)
                und_plot_rectangle(cr, b->x0 + (i + whole - run) * b->hx, b->y0 + j * b->hy,
                                   b->x0 + (i + whole) * b->hx, b->y0 + (j + 1) * b->hy);
            run = whole ? run : 0;
            if (p.edges == 0)
                continue;
            for (int k = 0; k < p.corners && !lines; k++)
                (k ? cairo_line_to : cairo_move_to)(cr, p.corner[k][0], p.corner[k][1]);
            if (!lines)
                cairo_close_path(cr);
            for (int k = 0; k + 1 < p.edges && lines; k += 2) {
                cairo_move_to(cr, p.edge[k][0], p.edge[k][1]);
                cairo_line_to(cr, p.edge[k + 1][0], p.edge[k + 1][1]);
            }
        }
}

static void chain_path(cairo_t *cr, const und_plot_data *d)
{
    for (size_t c = 0; c < d->chains; c++) {
        bool begun = false;
        for (int32_t k = d->first[c]; k < d->first[c + 1]; k++) {
            double x = (double)d->chain[3 * (size_t)k], y = (double)d->chain[3 * (size_t)k + 1];
            if (!(fabs(x) < 1e12 && fabs(y) < 1e12))
                continue;
            (begun ? cairo_line_to : cairo_move_to)(cr, x, y);
            begun = true;
        }
        if (begun)
            cairo_close_path(cr);
    }
}

static void cells_path(cairo_t *cr, const und_plot_data *d)
{
    for (int j = 0; j < d->ny; j++)
        for (int i = 0, run = 0; i <= d->nx; i++) {
            bool wet = und_plot_wet(d, i, j);
            if (run > 0 && !wet)
                und_plot_rectangle(cr, d->x0 + (i - run) * d->dx, d->y0 + j * d->dy, d->x0 + i * d->dx,
                                   d->y0 + (j + 1) * d->dy);
            run = wet ? run + 1 : 0;
        }
}

void und_plot_liquid_path(cairo_t *cr, const und_plot_data *d, const und_plot_body *body)
{
    cairo_new_path(cr);
    cairo_set_fill_rule(cr, d->chain ? CAIRO_FILL_RULE_EVEN_ODD : CAIRO_FILL_RULE_WINDING);
    if (d->chain)
        chain_path(cr, d);
    else if (body->inside)
        body_path(cr, body, false);
    else
        cells_path(cr, d);
}

void und_plot_surface_path(cairo_t *cr, const und_plot_data *d, const und_plot_body *body)
{
    cairo_new_path(cr);
    if (d->chain)
        chain_path(cr, d);
    else if (body->inside)
        body_path(cr, body, true);
}
