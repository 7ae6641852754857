/* Where the surface lies in the cells that markers and chains fill in part, and what pressure that makes.
 *
 * The paper gives a Surface cell the pressure of the air.  The air's is that of the surface, wherever it lies
 * in the cell: along the axis on which the cells around differ most, the pressure grows from there as it does
 * in the Full cells beyond. */
#include "base/maths.h"
#include "liquid/cells_kernel.h"
#include "liquid/cells_state.h"

#include <math.h>

enum { SEEN = 3 }; /* cells inwards */

/* In cells: how far from the middle of its cell the surface may lie, below it and above. */
static const double LOWEST = -0.5, HIGHEST = 1;
/* Of gravity: what the pressure grows by at most. */
static const double MOST_GROWTH = 2;
/* How the shortest waves die away, which the surface makes where it crosses layers of cells. */
static const double CALM = 0.6;

/* What markers stand for, or chains enclose, of a cell that is not Solid. */
static double wet_of(const und_cells *s, size_t at)
{
    return s->markers ? und_markers_density(s->markers, at) : und_chains_part(s->chains, at);
}

static double part_of(const und_cells *s, size_t at)
{
    if (s->flow.label[at] == UND_CELL_FULL)
        return 1;
    return fmin(wet_of(s, at), 1);
}

double und_cells_wet(const und_cells *s, int x, int y, int z)
{
    size_t at = und_mac_at(&s->mac, x, y, z);
    if (s->flow.label[at] == UND_CELL_SOLID)
        return 0;
    if (!s->height)
        return part_of(s, at);
    double above = und_cells_height(s, x, z) - und_mac_middle(&s->mac, 1, y - 0.5);
    return fmin(fmax(above / s->mac.d[1], 0), 1);
}

double und_cells_wet_volume(const und_cells *s)
{
    const und_mac *m = &s->mac;
    double cells = 0;
    for (int row = 0; row < und_mac_rows(m); row++) {
        size_t first = und_mac_row(m, row);
        double sum = 0;
        for (int x = 0; x < m->n[0]; x++)
            sum += s->flow.label[first + (size_t)x] == UND_CELL_SOLID ? 0 : part_of(s, first + (size_t)x);
        cells += sum;
    }
    return cells * m->d[0] * m->d[1] * m->d[2];
}

/* What a Surface cell has beside it: liquid rests on what is solid below, and along a wall its surface goes
 * on as it is. */
static double part_beside(const und_cells *s, size_t at, ptrdiff_t to, bool below)
{
    size_t there = (size_t)((ptrdiff_t)at + to);
    if (s->flow.label[there] != UND_CELL_SOLID)
        return part_of(s, there);
    return below ? 1 : part_of(s, at);
}

typedef struct facing {
    int axis;
    double steep;      /* 0 to 1: how much more liquid there is inwards than outwards */
    ptrdiff_t inwards; /* to the next cell */
    bool down;         /* gravity pulls that way */
} facing;

/* How the cells on both sides of one differ along an axis, and so which way the surface faces there. */
static facing facing_along(const und_cells *s, size_t at, int axis)
{
    double pull = s->def.gravity[axis];
    double low = part_beside(s, at, -s->mac.step[axis], pull < 0);
    double high = part_beside(s, at, s->mac.step[axis], pull > 0);
    return (facing){.axis = axis,
                    .steep = fabs(low - high),
                    .inwards = low > high ? -s->mac.step[axis] : s->mac.step[axis],
                    .down = low > high ? pull < 0 : pull > 0};
}

/* How far the surface stands over the middle of a Surface cell, outwards, in cells: by the liquid in it and
 * in those before and behind it. */
static double height_of(const und_cells *s, size_t at, const facing *f)
{
    size_t in = (size_t)((ptrdiff_t)at + f->inwards), out = (size_t)((ptrdiff_t)at - f->inwards);
    double own = wet_of(s, at), inner = part_beside(s, at, f->inwards, f->down), outer = 0;
    if (s->flow.label[in] == UND_CELL_FULL) /* it is, as far as there is liquid above it */
        inner = fmin(wet_of(s, in) + 4 * own, 1);
    if (s->flow.label[out] != UND_CELL_SOLID)
        outer = s->flow.label[out] == UND_CELL_FULL ? 1 : wet_of(s, out);
    return fmin(fmax(inner + own + outer - 1.5, LOWEST), HIGHEST);
}

/* What calms short waves: a pressure against how much faster the surface comes out of a cell than out of
 * those beside it, all of it for waves two cells long, little for long ones.  A pressure c w makes waves lose
 * exp(-k c t / 2): those two cells long exp(-CALM / 2) in 1/omega. */
static double calming(const und_cells *s, size_t at, const facing *f, double gravity)
{
    const double pi = 3.14159265358979323846, *u = s->flow.u[f->axis];
    size_t step = (size_t)s->mac.step[f->axis];
    double own = (u[at] + u[at - step]) / 2, sum = 0;
    for (int a = 0; a < (s->mac.n[2] > 1 ? 3 : 2); a++)
        for (int side = -1; a != f->axis && side <= 1; side += 2) {
            size_t there = (size_t)((ptrdiff_t)at + side * s->mac.step[a]);
            bool solid = s->flow.label[there] == UND_CELL_SOLID;
            double ahead = solid ? 0 : (own - (u[there] + u[there - step]) / 2) / 4;
            sum += CALM * sqrt(gravity * s->mac.d[a] / pi) * ahead;
        }
    return f->inwards < 0 ? sum : -sum;
}

/* By how much the pressure grows inwards from one cell to the next: the line through the surface that fits
 * the Full cells best; in a film at rest what its weight makes. */
static double growth_of(const und_cells *s, size_t at, const facing *f, double height, double on_surface)
{
    double sum = 0, all = 0;
    for (int k = 1; k <= SEEN; k++) {
        at = (size_t)((ptrdiff_t)at + f->inwards);
        if (s->flow.label[at] == UND_CELL_FULL) {
            sum += (s->flow.p[at] - on_surface) * (height + k);
            all += (height + k) * (height + k);
        } else if (s->flow.label[at] != UND_CELL_SURFACE)
            break;
    }
    if (all > 0)
        return fmax(sum / all, 0);
    bool rests = f->down && s->flow.label[at] == UND_CELL_SOLID;
    return rests ? fabs(s->def.gravity[f->axis]) * s->mac.d[f->axis] : 0;
}

static double pressure_along(const und_cells *s, size_t at, const facing *f, double on_surface)
{
    const double *g = s->def.gravity, gravity = und_hypot(und_hypot(g[0], g[1]), g[2]);
    double height = height_of(s, at, f), growth = growth_of(s, at, f, height, on_surface);
    double most = MOST_GROWTH * gravity * s->mac.d[f->axis];
    if (!(growth > 0))
        return 0;
    return height * fmin(growth, most) + fmin(fmax(calming(s, at, f, gravity), -most), most);
}

double und_cells_under_surface(const und_cells *s, size_t at, double on_surface)
{
    const double alike = 1e-6;
    int axes = s->mac.n[2] > 1 ? 3 : 2, count = 0;
    facing f[3];
    double most = alike, sum = 0;
    for (int a = 0; a < axes; a++) {
        f[a] = facing_along(s, at, a);
        most = fmax(most, f[a].steep);
    }
    for (int a = 0; a < axes; a++)
        if (f[a].steep > most - alike) {
            sum += pressure_along(s, at, &f[a], on_surface);
            count++;
        }
    return count > 0 ? sum / count : 0;
}

void und_cells_keep_density(und_cells *s)
{
    const double steps = 4, weightless = 0.25; /* dt; s */
    const und_mac *m = &s->mac;
    const double *g = s->def.gravity, gravity = und_hypot(und_hypot(g[0], g[1]), g[2]);
    const double side = fmin(m->d[0], m->d[1]), falls = gravity > 0 ? sqrt(side / gravity) / 2 : weightless;
    const und_set rows = und_set_rows(m, UND_ROWS_INSIDE);
    if (!s->markers || !s->def.keep_volume)
        return;
    const und_cells_density_args args = {.mac = *m,
                                         .label = s->flow.label,
                                         .wet = und_markers_units(s->markers),
                                         .p = s->flow.p,
                                         .shrink = s->flow.shrink,
                                         .heavy = gravity * side,
                                         .rate = s->flow.surface > 0 ? 1 / fmax(falls, steps * s->dt) : 0};
    und_pass(&s->flow.device, und_cells_even_density, &args, &rows);
}
