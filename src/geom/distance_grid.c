#include "geom/distance_grid.h"

#include "base/status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct und_distance_grid {
    atomic_int holders;
    und_lattice lattice;
    size_t stride[3];
    und_bounds bounds;
    float value[];
};

static const double far_away = 1e6; /* m */

static und_status check(const und_distance_grid_def *def, und_error *err)
{
    const und_lattice *l = &def->lattice;
    double count = 1;
    for (int a = 0; a < 3; a++) {
        if (l->n[a] < 2)
            return und_error_set(err, UND_INVALID, "expected at least 2 values along each axis, found %d",
                                 l->n[a]);
        double high = l->origin[a] + (l->n[a] - 1) * l->d[a];
        if (!(l->d[a] > 0 && fabs(l->origin[a]) <= far_away && fabs(high) <= far_away))
            return und_error_set(err, UND_INVALID, "expected a volume within %g m, found %g to %g m",
                                 far_away, l->origin[a], high);
        count *= l->n[a];
    }
    if (count > UND_DISTANCE_GRID_MAX)
        return und_error_set(err, UND_INVALID, "expected at most %d values, found %d x %d x %d",
                             (int)UND_DISTANCE_GRID_MAX, l->n[0], l->n[1], l->n[2]);
    for (size_t i = 0; i < und_lattice_count(l); i++)
        if (!isfinite(def->value[i]))
            return und_error_set(err, UND_INVALID, "value %.0f is not finite", (double)i + 1);
    return UND_OK;
}

/* The border is outside; returns whether anything is inside, with the bounds set. */
static bool close_volume(und_distance_grid *v)
{
    const und_lattice *l = &v->lattice;
    float least = (float)(0.5 * fmin(l->d[0], fmin(l->d[1], l->d[2])));
    int low[3] = {l->n[0], l->n[1], l->n[2]}, high[3] = {-1, -1, -1};
    size_t i = 0;
    for (int z = 0; z < l->n[2]; z++)
        for (int y = 0; y < l->n[1]; y++)
            for (int x = 0; x < l->n[0]; x++, i++) {
                const int at[3] = {x, y, z};
                bool border = false;
                for (int a = 0; a < 3; a++)
                    border |= at[a] == 0 || at[a] == l->n[a] - 1;
                if (border && !(v->value[i] >= least))
                    v->value[i] = least;
                for (int a = 0; a < 3 && v->value[i] < 0; a++) {
                    low[a] = at[a] < low[a] ? at[a] : low[a];
                    high[a] = at[a] > high[a] ? at[a] : high[a];
                }
            }
    double from[3], to[3];
    for (int a = 0; a < 3; a++) {
        from[a] = l->origin[a] + (low[a] - 1) * l->d[a];
        to[a] = l->origin[a] + (high[a] + 1) * l->d[a];
    }
    v->bounds = (und_bounds){und_vec(from[0], from[1], from[2]), und_vec(to[0], to[1], to[2])};
    return high[0] >= 0;
}

und_distance_grid *und_distance_grid_create(const und_distance_grid_def *def, und_error *err)
{
    if (check(def, err) != UND_OK)
        return NULL;
    size_t bytes = und_lattice_count(&def->lattice) * sizeof *def->value;
    und_distance_grid *v = und_alloc(1, sizeof *v + bytes, "a volume", err);
    if (!v)
        return NULL;
    atomic_init(&v->holders, 1);
    v->lattice = def->lattice;
    v->stride[0] = 1;
    v->stride[1] = (size_t)v->lattice.n[0];
    v->stride[2] = v->stride[1] * (size_t)v->lattice.n[1];
    memcpy(v->value, def->value, bytes);
    if (close_volume(v))
        return v;
    und_error_set(err, UND_INVALID, "no value is below 0: the volume has no inside");
    free(v);
    return NULL;
}

und_distance_grid *und_distance_grid_keep(und_distance_grid *volume)
{
    atomic_fetch_add(&volume->holders, 1);
    return volume;
}

void und_distance_grid_release(und_distance_grid *volume)
{
    if (volume && atomic_fetch_sub(&volume->holders, 1) == 1)
        free(volume);
}

size_t und_distance_grid_bytes(const und_distance_grid *volume)
{
    return sizeof *volume + und_lattice_count(&volume->lattice) * sizeof *volume->value;
}

und_bounds und_distance_grid_bounds(const und_distance_grid *volume)
{
    return volume->bounds;
}

/* A cell of the lattice: its corners' values, x fastest. */
typedef struct cell {
    double corner[8];
} cell;

static cell cell_at(const und_distance_grid *v, const int at[3])
{
    const float *first =
        v->value + (size_t)at[0] + (size_t)at[1] * v->stride[1] + (size_t)at[2] * v->stride[2];
    cell c;
    for (int k = 0; k < 8; k++)
        c.corner[k] =
            first[(size_t)(k & 1) + (size_t)(k >> 1 & 1) * v->stride[1] + (size_t)(k >> 2) * v->stride[2]];
    return c;
}

/* p from 0 to 1 along each axis. */
static double value_in(const cell *c, const double p[3])
{
    double row[4];
    for (int k = 0; k < 4; k++)
        row[k] = c->corner[2 * k] + p[0] * (c->corner[2 * k + 1] - c->corner[2 * k]);
    double near = row[0] + p[1] * (row[1] - row[0]), far = row[2] + p[1] * (row[3] - row[2]);
    return near + p[2] * (far - near);
}

static int cell_index(const und_distance_grid *v, int axis, double p)
{
    return (int)fmin(fmax(floor(p), 0), v->lattice.n[axis] - 2); /* NaN becomes 0 */
}

double und_distance_grid_distance(const und_distance_grid *v, und_vec3 place)
{
    const und_lattice *l = &v->lattice;
    const double world[3] = {place.x, place.y, place.z};
    double p[3], square = 0;
    int at[3];
    for (int a = 0; a < 3; a++) {
        double high = l->origin[a] + (l->n[a] - 1) * l->d[a];
        double nearest = fmin(fmax(world[a], l->origin[a]), high), gap = world[a] - nearest;
        square += gap * gap;
        double index = (nearest - l->origin[a]) / l->d[a];
        at[a] = cell_index(v, a, index);
        p[a] = index - at[a];
    }
    cell c = cell_at(v, at);
    return value_in(&c, p) + sqrt(square);
}

/* A line on its way from cell to cell, in the lattice's units; [t, next] is the stretch in the one at hand.
 */
typedef struct walk {
    const und_distance_grid *v;
    double origin[3], direction[3];
    int at[3];
    double t, next;
    int axis; /* across which it leaves */
} walk;

static void find_exit(walk *w)
{
    w->next = INFINITY;
    for (int a = 0; a < 3; a++) {
        if (w->direction[a] == 0)
            continue;
        double t = (w->at[a] + (w->direction[a] > 0) - w->origin[a]) / w->direction[a];
        if (t < w->next) {
            w->next = t;
            w->axis = a;
        }
    }
    w->next = und_larger(w->next, w->t);
}

static bool walk_on(walk *w)
{
    int a = w->axis;
    w->t = w->next;
    w->at[a] += w->direction[a] > 0 ? 1 : -1;
    if (w->at[a] < 0 || w->at[a] > w->v->lattice.n[a] - 2)
        return false;
    find_exit(w);
    return true;
}

/* To the cell that the line is in at `low` or enters after it; false: it meets none. */
static bool walk_begin(walk *w, const und_distance_grid *v, und_vec3 origin, und_vec3 direction, double low)
{
    const und_lattice *l = &v->lattice;
    const double from[3] = {origin.x, origin.y, origin.z}, way[3] = {direction.x, direction.y, direction.z};
    double in = low, out = INFINITY;
    *w = (walk){.v = v};
    for (int a = 0; a < 3; a++) {
        double o = (from[a] - l->origin[a]) / l->d[a], d = way[a] / l->d[a], most = l->n[a] - 1;
        w->origin[a] = o;
        w->direction[a] = d;
        if (d == 0 && !(o >= 0 && o <= most))
            return false;
        if (d != 0) {
            in = und_larger(in, ((d > 0 ? 0 : most) - o) / d);
            out = und_smaller(out, ((d > 0 ? most : 0) - o) / d);
        }
    }
    if (!(in < out) || !isfinite(in))
        return false;
    w->t = in;
    for (int a = 0; a < 3; a++)
        w->at[a] = cell_index(v, a, w->origin[a] + in * w->direction[a]);
    find_exit(w);
    return true;
}

/* A cubic of u from 0 to 3, as its coefficients from the constant on. */
typedef struct cubic {
    double c[4];
} cubic;

static double cubic_at(const cubic *f, double u)
{
    return ((f->c[3] * u + f->c[2]) * u + f->c[1]) * u + f->c[0];
}

/* Along a line the value in a cell is a cubic: from four places by Newton's forward differences. */
static cubic cubic_of(const walk *w, const cell *c, double end)
{
    double f[4];
    for (int k = 0; k < 4; k++) {
        double t = w->t + (end - w->t) * k / 3, p[3];
        for (int a = 0; a < 3; a++) {
            double at = w->origin[a] + (w->direction[a] == 0 ? 0 : t * w->direction[a]) - w->at[a];
            p[a] = fmin(fmax(at, 0), 1);
        }
        f[k] = value_in(c, p);
    }
    double first = f[1] - f[0], second = f[2] - 2 * f[1] + f[0], third = f[3] - 3 * f[2] + 3 * f[1] - f[0];
    return (cubic){{f[0], first - second / 2 + third / 3, (second - third) / 2, third / 6}};
}

static double root_between(const cubic *f, double a, double b)
{
    bool inside = cubic_at(f, a) < 0;
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (a + b);
        if ((cubic_at(f, middle) < 0) == inside)
            a = middle;
        else
            b = middle;
    }
    return b;
}

/* Places where the sign changes, in order: at most one between turning points.  Returns how many. */
static int find_roots(const cubic *f, double root[3])
{
    double a = 3 * f->c[3], b = f->c[2], c = f->c[1], stop[4] = {0}, under = b * b - a * c;
    int stops = 1, count = 0;
    if (under > 0) {
        double q = -(b + copysign(sqrt(under), b)), e = a != 0 ? q / a : NAN, g = q != 0 ? c / q : NAN;
        double turn[2] = {fmin(e, g), fmax(e, g)};
        for (int k = 0; k < 2; k++)
            if (turn[k] > stop[stops - 1] && turn[k] < 3)
                stop[stops++] = turn[k];
    }
    stop[stops++] = 3;
    for (int k = 0; k + 1 < stops; k++)
        if ((cubic_at(f, stop[k]) < 0) != (cubic_at(f, stop[k + 1]) < 0))
            root[count++] = root_between(f, stop[k], stop[k + 1]);
    return count;
}

/* 1: the whole cell is inside, -1: outside, 0: the surface may pass it. */
static int side_of(const cell *c)
{
    int inside = 0;
    for (int k = 0; k < 8; k++)
        inside += c->corner[k] < 0;
    return inside == 8 ? 1 : inside == 0 ? -1 : 0;
}

/* The stretches inside of the cell at hand, up to `end`. */
static void measure_cell(const walk *w, const cell *c, double end, double *total, double *first, bool *found)
{
    cubic f = cubic_of(w, c, end);
    double stop[5] = {0}, span = (end - w->t) / 3;
    int count = find_roots(&f, stop + 1);
    stop[count + 1] = 3;
    for (int k = 0; k <= count; k++) {
        if (!(cubic_at(&f, 0.5 * (stop[k] + stop[k + 1])) < 0))
            continue;
        *total += (stop[k + 1] - stop[k]) * span;
        *first = *found ? *first : w->t + stop[k] * span;
        *found = true;
    }
}

double und_distance_grid_line(const und_distance_grid *v, und_vec3 origin, und_vec3 direction, double low,
                              double high, double *first)
{
    walk w;
    double total = 0;
    bool found = false;
    *first = high;
    if (!(und_dot(direction, direction) > 0)) {
        bool inside = low < high && und_distance_grid_distance(v, origin) < 0;
        *first = inside ? low : high;
        return inside ? high - low : 0;
    }
    for (bool more = walk_begin(&w, v, origin, direction, low); more && w.t < high; more = walk_on(&w)) {
        cell c = cell_at(v, w.at);
        double end = und_smaller(w.next, high);
        int side = side_of(&c);
        if (side > 0) {
            total += end - w.t;
            *first = found ? *first : w.t;
            found = true;
        } else if (side == 0) {
            measure_cell(&w, &c, end, &total, first, &found);
        }
    }
    return total;
}

double und_distance_grid_next(const und_distance_grid *v, und_vec3 origin, und_vec3 direction, double after)
{
    walk w;
    if (!(und_dot(direction, direction) > 0))
        return INFINITY;
    for (bool more = walk_begin(&w, v, origin, direction, after); more; more = walk_on(&w)) {
        cell c = cell_at(v, w.at);
        if (side_of(&c) != 0)
            continue;
        cubic f = cubic_of(&w, &c, w.next);
        double root[3], span = (w.next - w.t) / 3;
        int count = find_roots(&f, root);
        for (int k = 0; k < count; k++)
            if (w.t + root[k] * span > after)
                return w.t + root[k] * span;
    }
    return INFINITY;
}
