/* Marching cubes (Lorensen & Cline 1987), with the cases derived from one rule instead of a table. */
#include "geom/isosurface.h"

#include "base/parallel.h"
#include "base/status.h"
#include "geom/vec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Corners of a cell are numbered by bits: 1 is high x, 2 high y, 4 high z.  An edge is that from a corner
 * along an axis whose bit it lacks: 3 * corner + axis. */
enum { CORNERS = 8, CASES = 1 << CORNERS, EDGES = 3 * CORNERS, MOST_LOOPS = 4, MOST_EDGES = 12 };

/* Crossings are kept this far, of an edge, from its ends, so that no two corners of a triangle coincide. */
static const double END = 1e-3;
/* The cosine of the angle between gradient and triangle from which on there is a crease. */
static const double CREASE = 0.5;

/* What the surface does in a cell with some corners inside: closed loops through crossed edges. */
typedef struct cell_case {
    int loops, triangles;
    int first[MOST_LOOPS + 1]; /* of each loop in edge */
    int edge[MOST_EDGES];
} cell_case;

static int edge_between(int a, int b)
{
    int axis = (a ^ b) >> 1; /* 1, 2, 4 to 0, 1, 2 */
    return 3 * (a & b) + axis;
}

/* The corners of a side, counter-clockwise seen from outside the cell. */
static void side_corners(int axis, int high, int corner[4])
{
    int u = 1 << (axis + 1) % 3, v = 1 << (axis + 2) % 3, base = high << axis;
    corner[0] = base;
    corner[1] = base | (high ? u : v);
    corner[2] = base | u | v;
    corner[3] = base | (high ? v : u);
}

/* Around each side: where the way around it comes inside, the surface runs to where the way next leaves the
 * inside.  Seen from the cell beyond the side that is the same line backwards, so that all fits. */
static void link_side(int inside, const int corner[4], int next[EDGES])
{
    for (int i = 0; i < 4; i++) {
        int out = corner[i], in = corner[(i + 1) % 4];
        if (inside >> out & 1 || !(inside >> in & 1))
            continue;
        int last = (i + 1) % 4;
        while (inside >> corner[(last + 1) % 4] & 1)
            last = (last + 1) % 4;
        next[edge_between(out, in)] = edge_between(corner[last], corner[(last + 1) % 4]);
    }
}

static int loop_triangles(int length)
{
    return length <= 4 ? length - 2 : length;
}

static void derive_case(int inside, cell_case *c)
{
    int next[EDGES], corner[4], count = 0;
    for (int e = 0; e < EDGES; e++)
        next[e] = -1;
    for (int side = 0; side < 6; side++) {
        side_corners(side / 2, side % 2, corner);
        link_side(inside, corner, next);
    }
    *c = (cell_case){0};
    for (int e = 0; e < EDGES; e++) {
        if (next[e] < 0)
            continue;
        for (int at = e; next[at] >= 0;) {
            int to = next[at];
            c->edge[count++] = at;
            next[at] = -1;
            at = to;
        }
        c->first[++c->loops] = count;
        c->triangles += loop_triangles(count - c->first[c->loops - 1]);
    }
}

typedef struct mesher {
    const und_lattice *lattice;
    const float *field;
    ptrdiff_t step[3];
    cell_case cases[CASES];
    float *position, *normal;
} mesher;

/* Which corners of the cell, whose lowest is at index `at`, are inside. */
static int corners_inside(const mesher *m, ptrdiff_t at)
{
    int inside = 0;
    for (int c = 0; c < CORNERS; c++) {
        ptrdiff_t i = at + (c & 1) * m->step[0] + (c >> 1 & 1) * m->step[1] + (c >> 2) * m->step[2];
        inside |= (m->field[i] < 0 && isfinite(m->field[i])) << c;
    }
    return inside;
}

typedef struct vertex {
    double p[3], normal[3];
} vertex;

/* The field's gradient at a point, times twice the distance where it is between two neighbours. */
static double slope(const mesher *m, const int at[3], int axis)
{
    const und_lattice *l = m->lattice;
    ptrdiff_t i = at[0] * m->step[0] + at[1] * m->step[1] + at[2] * m->step[2];
    int low = at[axis] > 0, high = at[axis] < l->n[axis] - 1;
    double rise = (double)m->field[i + high * m->step[axis]] - (double)m->field[i - low * m->step[axis]];
    double g = low + high > 0 ? rise / ((low + high) * l->d[axis]) : 0;
    return isfinite(g) ? g : 0;
}

static vertex crossing(const mesher *m, const int cell[3], int edge)
{
    const und_lattice *l = m->lattice;
    int corner = edge / 3, axis = edge % 3;
    int low[3] = {cell[0] + (corner & 1), cell[1] + (corner >> 1 & 1), cell[2] + (corner >> 2)};
    int high[3] = {low[0], low[1], low[2]};
    high[axis]++;
    ptrdiff_t i = low[0] * m->step[0] + low[1] * m->step[1] + low[2] * m->step[2];
    double a = (double)m->field[i], b = (double)m->field[i + m->step[axis]], part = a / (a - b);
    part = isfinite(part) ? und_larger(END, und_smaller(1 - END, part)) : 0.5;
    vertex v;
    for (int k = 0; k < 3; k++) {
        double from = slope(m, low, k), to = slope(m, high, k);
        v.p[k] = l->origin[k] + (low[k] + (k == axis ? part : 0)) * l->d[k];
        v.normal[k] = from + part * (to - from);
    }
    return v;
}

static void face_normal(const vertex *a, const vertex *b, const vertex *c, double out[3])
{
    for (int k = 0; k < 3; k++) {
        int u = (k + 1) % 3, v = (k + 2) % 3;
        out[k] = (b->p[u] - a->p[u]) * (c->p[v] - a->p[v]) - (b->p[v] - a->p[v]) * (c->p[u] - a->p[u]);
    }
}

/* Makes it as long as 1; false where it is 0. */
static bool make_unit(double v[3])
{
    double most = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2]))), square = 0;
    for (int k = 0; k < 3 && most > 0; k++) {
        v[k] /= most;
        square += v[k] * v[k];
    }
    for (int k = 0; k < 3 && most > 0; k++)
        v[k] /= sqrt(square);
    return most > 0;
}

/* Where the field says nothing of the normal, or at a crease, the normal is the triangle's own. */
static void put_triangle(const mesher *m, size_t triangle, const vertex *a, const vertex *b, const vertex *c)
{
    const vertex *corner[3] = {a, b, c};
    double own[3];
    face_normal(a, b, c, own);
    bool flat = make_unit(own);
    for (int i = 0; i < 3; i++) {
        double n[3] = {corner[i]->normal[0], corner[i]->normal[1], corner[i]->normal[2]};
        bool known = make_unit(n);
        if (flat && !(known && n[0] * own[0] + n[1] * own[1] + n[2] * own[2] > CREASE))
            memcpy(n, own, sizeof n);
        else if (!known)
            n[1] = 1;
        for (int k = 0; k < 3; k++) {
            m->position[9 * triangle + (size_t)(3 * i + k)] = (float)corner[i]->p[k];
            m->normal[9 * triangle + (size_t)(3 * i + k)] = (float)n[k];
        }
    }
}

static double distance2(const vertex *a, const vertex *b)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (a->p[k] - b->p[k]) * (a->p[k] - b->p[k]);
    return sum;
}

/* Four corners are cut along the shorter diagonal, more are joined to their middle. */
static size_t put_loop(const mesher *m, size_t triangle, const vertex *v, int length)
{
    if (length == 3) {
        put_triangle(m, triangle, &v[0], &v[1], &v[2]);
    } else if (length == 4) {
        int turn = distance2(&v[0], &v[2]) > distance2(&v[1], &v[3]);
        put_triangle(m, triangle, &v[turn], &v[turn + 1], &v[turn + 2]);
        put_triangle(m, triangle + 1, &v[turn], &v[turn + 2], &v[(turn + 3) % 4]);
    } else {
        vertex middle = {{0}, {0}};
        for (int i = 0; i < length; i++)
            for (int k = 0; k < 3; k++) {
                middle.p[k] += v[i].p[k] / length;
                middle.normal[k] += v[i].normal[k] / length;
            }
        for (int i = 0; i < length; i++)
            put_triangle(m, triangle + (size_t)i, &v[i], &v[(i + 1) % length], &middle);
    }
    return triangle + (size_t)loop_triangles(length);
}

static size_t put_cell(const mesher *m, size_t triangle, const int cell[3], const cell_case *c)
{
    vertex v[MOST_EDGES];
    for (int i = 0; i < c->first[c->loops]; i++)
        v[i] = crossing(m, cell, c->edge[i]);
    for (int i = 0; i < c->loops; i++)
        triangle = put_loop(m, triangle, v + c->first[i], c->first[i + 1] - c->first[i]);
    return triangle;
}

/* Rows of cells along x: counts the triangles of each, or, where there is room, puts them from first[row]. */
static void for_rows(const mesher *m, int threads, size_t *first, bool put)
{
    const int *n = m->lattice->n;
    int rows = (n[1] - 1) * (n[2] - 1);
    PARALLEL_FOR(threads)
    for (int row = 0; row < rows; row++) {
        int y = row % (n[1] - 1), z = row / (n[1] - 1);
        size_t triangle = put ? first[row] : 0;
        for (int x = 0; x < n[0] - 1; x++) {
            const cell_case *c = &m->cases[corners_inside(m, x + y * m->step[1] + z * m->step[2])];
            if (c->loops == 0)
                continue;
            triangle =
                put ? put_cell(m, triangle, (const int[3]){x, y, z}, c) : triangle + (size_t)c->triangles;
        }
        if (!put)
            first[row] = triangle;
    }
}

static und_status make(mesher *m, int threads, size_t *first, und_isosurface *out, und_error *err)
{
    const int *n = m->lattice->n;
    size_t rows = (size_t)(n[1] - 1) * (size_t)(n[2] - 1), total = 0;
    for_rows(m, threads, first, false);
    for (size_t row = 0; row < rows; row++) {
        size_t count = first[row];
        first[row] = total;
        total += count;
    }
    if (total > INT_MAX / 9)
        return und_error_set(err, UND_FAILED, "a surface of %zu triangles, at most %d", total, INT_MAX / 9);
    out->position = und_alloc(9 * total, sizeof *out->position, "a surface's corners", err);
    out->normal = und_alloc(9 * total, sizeof *out->normal, "a surface's normals", err);
    if (!out->position || !out->normal) {
        und_isosurface_free(out);
        return err->status;
    }
    m->position = out->position;
    m->normal = out->normal;
    for_rows(m, threads, first, true);
    out->triangle_count = (int)total;
    return UND_OK;
}

und_status und_isosurface_make(const und_lattice *lattice, const float *field, int threads,
                               und_isosurface *out, und_error *err)
{
    const int *n = lattice->n;
    *out = (und_isosurface){0};
    if (n[0] < 2 || n[1] < 2 || n[2] < 2)
        return UND_OK; /* no cell */
    mesher *m = und_alloc(1, sizeof *m, "a mesher", err);
    size_t *first = und_alloc((size_t)(n[1] - 1) * (size_t)(n[2] - 1), sizeof *first, "rows", err);
    und_status status = UND_FAILED;
    if (m && first) {
        *m = (mesher){.lattice = lattice, .field = field, .step = {1, n[0], (ptrdiff_t)n[0] * n[1]}};
        for (int inside = 0; inside < CASES; inside++)
            derive_case(inside, &m->cases[inside]);
        status = make(m, und_threads(threads), first, out, err);
    }
    free(m);
    free(first);
    return status;
}

void und_isosurface_free(und_isosurface *surface)
{
    free(surface->position);
    free(surface->normal);
    *surface = (und_isosurface){0};
}
