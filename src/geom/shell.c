/* Marching cubes (Lorensen & Cline 1987), with the cases derived from one rule instead of a table.  Which
 * points are inside is kept as bits, so that whole words of points without a surface are passed over, and the
 * number of an edge's vertex is the count of bits before it. */
#include "geom/shell.h"

#include "base/parallel.h"
#include "base/status.h"
#include "geom/shell_edges.h"
#include "geom/vec.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Corners of a cell are numbered by bits: 1 is high x, 2 high y, 4 high z.  An edge is that from a corner
 * along an axis whose bit it lacks: 3 * corner + axis. */
enum { CORNERS = 8, CASES = 1 << CORNERS, EDGES = 3 * CORNERS, EACH = UND_SHELL_MOST_CROSSINGS };
enum { MOST_CROSSED = 12 * EACH, MOST_LOOPS = MOST_CROSSED / 2, WORD = 64 };

/* Crossings are kept this far, of an edge, from its ends, so that no two corners of a triangle coincide. */
static const double END = 1e-3;
/* What a normal is as long as where the field is level. */
static const double FAINT = 1e-30;

/* What the surface does in a cell with some corners inside: closed loops through crossed edges, each by EACH
 * times the edge's number, and the crossing's on that.  An odd edge has something between its ends. */
typedef struct cell_case {
    int loops, triangles, middles;
    int first[MOST_LOOPS + 1]; /* of each loop in edge */
    int edge[MOST_CROSSED];
    bool middle[MOST_LOOPS]; /* is it joined to its middle? */
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
static void link_side(int inside, const int corner[4], int next[EACH * EDGES])
{
    for (int i = 0; i < 4; i++) {
        int before = corner[i], in = corner[(i + 1) % 4];
        if (!(inside >> in & 1) || inside >> before & 1)
            continue;
        int last = (i + 1) % 4;
        while (inside >> corner[(last + 1) % 4] & 1)
            last = (last + 1) % 4;
        next[EACH * edge_between(before, in)] = EACH * edge_between(corner[last], corner[(last + 1) % 4]);
    }
}

/* The corners' labels, and the odd edges' bits. */
typedef struct odd_cell {
    int label[CORNERS];
    unsigned bits[EDGES];
} odd_cell;

/* The same of a side with odd edges; false: it has none. */
static bool link_odd_side(const odd_cell *odd, const int corner[4], int next[EACH * EDGES])
{
    int label[4], edge[4];
    unsigned bits[4], any = 0;
    bool up[4];
    for (int i = 0; i < 4; i++) {
        const int to = corner[(i + 1) % 4];
        label[i] = odd->label[corner[i]];
        edge[i] = edge_between(corner[i], to);
        bits[i] = odd->bits[edge[i]];
        up[i] = corner[i] < to;
        any |= bits[i];
    }
    if (!any)
        return false;
    const und_shell_ring r = und_shell_ring_of(label, bits, up);
    int number[UND_SHELL_MOST_NODES];
    for (int i = 0; i < 4; i++)
        for (int border = r.corner[i]; border < r.corner[i + 1]; border++)
            number[border] = EACH * edge[i] + und_shell_ring_crossing(&r, border, i, up[i]);
    for (int border = 0; border < r.count; border++)
        if (r.next[border] >= 0)
            next[number[border]] = number[r.next[border]];
    return true;
}

static bool share_side(int a, int b)
{
    const int corner[2] = {a / EACH / 3, b / EACH / 3}, axis[2] = {a / EACH % 3, b / EACH % 3};
    bool any = false;
    for (int side = 0; side < 3; side++)
        any =
            any || (axis[0] != side && axis[1] != side && (corner[0] >> side & 1) == (corner[1] >> side & 1));
    return any;
}

/* More than four corners are joined to their middle; and where a diagonal would lie in a side, of which the
 * cell beyond may have it too. */
static void end_loop(cell_case *c, int count, bool odd)
{
    const int *at = c->edge + c->first[c->loops], length = count - c->first[c->loops];
    const bool middle =
        length > 4 || (odd && length == 4 && (share_side(at[0], at[2]) || share_side(at[1], at[3])));
    c->middle[c->loops] = middle;
    c->first[++c->loops] = count;
    c->triangles += middle ? length : length > 2 ? length - 2 : 0;
    c->middles += middle;
}

static void derive_case(int inside, const odd_cell *odd, cell_case *c)
{
    int next[EACH * EDGES], corner[4], count = 0;
    for (int e = 0; e < EACH * EDGES; e++)
        next[e] = -1;
    for (int side = 0; side < 6; side++) {
        side_corners(side / 2, side % 2, corner);
        if (!odd || !link_odd_side(odd, corner, next))
            link_side(inside, corner, next);
    }
    *c = (cell_case){0};
    for (int e = 0; e < EACH * EDGES; e++) {
        if (next[e] < 0)
            continue;
        for (int at = e; next[at] >= 0;) {
            int to = next[at];
            c->edge[count++] = at;
            next[at] = -1;
            at = to;
        }
        end_loop(c, count, odd != NULL);
    }
}

/* A row of points along x, and the row of cells above and behind it. */
typedef struct row {
    size_t vertices, triangles; /* first how many, then the first one's number */
    size_t middles;
} row;

typedef struct mesher {
    const und_shell_def *def;
    ptrdiff_t step[3];
    int words, threads; /* words: of a row */
    cell_case cases[CASES];
    row *rows;
    uint64_t *inside;         /* [row][words] */
    uint64_t *cross[EACH][3]; /* [row][words]: is the edge from the point along the axis crossed, and crossed
                                 so many times more?  NULL: none is */
    uint64_t *odd[3];         /* the same: is it odd? */
    int32_t *rank[3];         /* [row][words]: number of the first vertex in the word */
    und_shell *out;
} mesher;

static int row_of(const mesher *m, int y, int z)
{
    return z * m->def->n[1] + y;
}

static bool is_inside(const und_shell_def *d, ptrdiff_t i)
{
    return d->field[i] < 0 && isfinite(d->field[i]) && !(d->room && !(d->room[i] > 0));
}

static void mark_row(const mesher *m, int y, int z)
{
    ptrdiff_t base = y * m->step[1] + z * m->step[2];
    uint64_t *inside = m->inside + (size_t)row_of(m, y, z) * (size_t)m->words;
    for (int k = 0; k < m->words; k++) {
        int from = k * WORD, to = from + WORD < m->def->n[0] ? from + WORD : m->def->n[0];
        uint64_t bits = 0;
        for (int x = from; x < to; x++)
            bits |= (uint64_t)is_inside(m->def, base + x) << (x - from);
        inside[k] = bits;
    }
}

/* The bits of a row's word, and of the points one further along x. */
typedef struct pair {
    uint64_t here, next;
} pair;

static pair bits_of(const mesher *m, int y, int z, int word)
{
    const uint64_t *inside = m->inside + (size_t)row_of(m, y, z) * (size_t)m->words + word;
    uint64_t after = word + 1 < m->words ? inside[1] << (WORD - 1) : 0;
    return (pair){inside[0], inside[0] >> 1 | after};
}

/* Bits of the points that have one further along x. */
static uint64_t not_last(const mesher *m, int word)
{
    int count = m->def->n[0] - 1 - word * WORD;
    return count >= WORD ? ~0ULL : (1ULL << count) - 1; /* count >= 0 */
}

/* The cells of a word that the surface passes. */
typedef struct cells {
    pair side[4]; /* rows (y, z), (y + 1, z), (y, z + 1), (y + 1, z + 1) */
    uint64_t active, odd;
} cells;

/* Bits of a word's points that the edge from them along an axis is odd, or that from the ones one further
 * along x. */
static uint64_t odd_at(const mesher *m, int y, int z, int axis, int word, bool next)
{
    const uint64_t *odd = m->odd[axis] + (size_t)row_of(m, y, z) * (size_t)m->words + (size_t)word;
    const uint64_t after = next && word + 1 < m->words ? odd[1] << (WORD - 1) : 0;
    return next ? odd[0] >> 1 | after : odd[0];
}

/* Bits of the cells of a word that have odd edges. */
static uint64_t find_odd(const mesher *m, int y, int z, int word)
{
    uint64_t any = 0;
    for (int edge = 0; edge < EDGES; edge++) {
        const int corner = edge / 3, axis = edge % 3, by = corner >> 1 & 1, bz = corner >> 2;
        if (!(corner >> axis & 1))
            any |= odd_at(m, y + by, z + bz, axis, word, corner & 1);
    }
    return any;
}

static cells cells_of(const mesher *m, int y, int z, int word)
{
    cells c;
    uint64_t any = 0, all = ~0ULL;
    for (int s = 0; s < 4; s++) {
        c.side[s] = bits_of(m, y + (s & 1), z + (s >> 1), word);
        any |= c.side[s].here | c.side[s].next;
        all &= c.side[s].here & c.side[s].next;
    }
    c.odd = m->odd[0] ? find_odd(m, y, z, word) & not_last(m, word) : 0;
    c.active = (any & ~all & not_last(m, word)) | c.odd;
    return c;
}

static int label_of(const und_shell_def *d, ptrdiff_t i)
{
    return d->room && !(d->room[i] > 0) ? UND_SHELL_SOLID
           : is_inside(d, i)            ? UND_SHELL_LIQUID
                                        : UND_SHELL_AIR;
}

static ptrdiff_t corner_from(const mesher *m, ptrdiff_t at, int corner)
{
    for (int axis = 0; axis < 3; axis++)
        at += corner >> axis & 1 ? m->step[axis] : 0;
    return at;
}

/* Of one of them, from a point on; `own` is made of one with odd edges. */
static const cell_case *case_of(const mesher *m, const cells *c, int bit, ptrdiff_t from, cell_case *own)
{
    int inside = 0;
    odd_cell odd = {0};
    for (int s = 0; s < 4; s++)
        inside |= (int)(c->side[s].here >> bit & 1) << 2 * s | (int)(c->side[s].next >> bit & 1)
                                                                   << (2 * s + 1);
    if (!(c->odd >> bit & 1))
        return &m->cases[inside];
    for (int corner = 0; corner < CORNERS; corner++) {
        const ptrdiff_t at = corner_from(m, from, corner);
        odd.label[corner] = label_of(m->def, at);
        for (int axis = 0; axis < 3; axis++)
            if (!(corner >> axis & 1))
                odd.bits[3 * corner + axis] = und_shell_edge_bits(m->def->edges + at, axis);
    }
    derive_case(inside, &odd, own);
    return own;
}

static ptrdiff_t first_point(const mesher *m, int y, int z, int word)
{
    return y * m->step[1] + z * m->step[2] + (ptrdiff_t)word * WORD;
}

/* How often the odd edges of a word are crossed. */
static void count_odd(const mesher *m, int y, int z, int word, int axis)
{
    const size_t to = (size_t)row_of(m, y, z) * (size_t)m->words + (size_t)word;
    const ptrdiff_t from = first_point(m, y, z, word);
    const int left = m->def->n[0] - word * WORD, points = left < WORD ? left : WORD;
    const uint16_t *edges = m->def->edges + from;
    unsigned any = 0;
    for (int bit = 0; bit < points; bit++)
        any |= edges[bit];
    m->odd[axis][to] = 0;
    for (int k = 1; k < EACH; k++)
        m->cross[k][axis][to] = 0;
    for (int bit = 0; bit < points && any; bit++) {
        const unsigned bits = und_shell_edge_bits(edges + bit, axis);
        if (!bits)
            continue;
        const ptrdiff_t at = from + bit;
        const int crossings =
            und_shell_crossings(label_of(m->def, at), label_of(m->def, at + m->step[axis]), bits);
        m->odd[axis][to] |= 1ULL << bit;
        m->cross[0][axis][to] &= ~(1ULL << bit);
        for (int k = 0; k < crossings; k++)
            m->cross[k][axis][to] |= 1ULL << bit;
    }
}

/* How many crossings of a word of edges there are, of those that are chosen. */
static int32_t crossings_of(const mesher *m, int axis, size_t word, uint64_t chosen)
{
    int count = 0;
    for (int k = 0; k < EACH && m->cross[k][axis]; k++)
        count += __builtin_popcountll(m->cross[k][axis][word] & chosen);
    return count;
}

/* The number of the first vertex on an edge from a row's point on. */
static int32_t first_vertex(const mesher *m, int axis, size_t word, int bit)
{
    return m->rank[axis][word] + crossings_of(m, axis, word, (1ULL << bit) - 1);
}

static void count_row(const mesher *m, int y, int z)
{
    const int *n = m->def->n;
    size_t index = (size_t)row_of(m, y, z);
    row r = {0};
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < m->words; k++) {
            size_t at = index * (size_t)m->words + (size_t)k;
            pair p = bits_of(m, y, z, k);
            uint64_t other = axis == 0 ? (p.next & not_last(m, k)) | (p.here & ~not_last(m, k)) : p.here;
            if (axis == 1 && y + 1 < n[1])
                other = bits_of(m, y + 1, z, k).here;
            if (axis == 2 && z + 1 < n[2])
                other = bits_of(m, y, z + 1, k).here;
            m->cross[0][axis][at] = p.here ^ other;
            m->rank[axis][at] = (int32_t)r.vertices; /* within the row */
            if (m->odd[axis])
                count_odd(m, y, z, k, axis);
            r.vertices += (size_t)crossings_of(m, axis, at, ~0ULL);
        }
    r.middles = r.vertices;
    m->rows[index] = r;
}

static void count_triangles(const mesher *m, int y, int z)
{
    row r = m->rows[row_of(m, y, z)];
    for (int k = 0; k < m->words; k++) {
        cells c = cells_of(m, y, z, k);
        for (uint64_t left = c.active; left; left &= left - 1) {
            cell_case own;
            const int bit = __builtin_ctzll(left);
            const cell_case *kind = case_of(m, &c, bit, first_point(m, y, z, k) + bit, &own);
            r.triangles += (size_t)kind->triangles;
            r.vertices += (size_t)kind->middles;
        }
    }
    m->rows[row_of(m, y, z)] = r;
}

/* The field's gradient at a point along an axis. */
static double slope(const mesher *m, const float *field, const int at[3], int axis)
{
    const double *place = m->def->at[axis];
    int k = at[axis];
    int low = k > 0 && place[k - 1] < place[k], high = k < m->def->n[axis] - 1 && place[k + 1] > place[k];
    ptrdiff_t i = at[0] * m->step[0] + at[1] * m->step[1] + at[2] * m->step[2];
    double rise = (double)field[i + high * m->step[axis]] - (double)field[i - low * m->step[axis]];
    double g = low + high > 0 ? rise / (place[k + high] - place[k - low]) : 0;
    return isfinite(g) ? g : 0;
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

/* Where along the edge from its low end a field is 0; not finite where it is not told. */
static double zero_of(const float *field, ptrdiff_t low, ptrdiff_t high)
{
    double a = (double)field[low], b = (double)field[high];
    return a / (a - b);
}

/* How far along the edge the surface is, and the field that it is the border of: the one that ends the inside
 * first, seen from the end inside. */
static double crossing(const mesher *m, ptrdiff_t low, ptrdiff_t high, bool low_inside, const float **border)
{
    const und_shell_def *d = m->def;
    ptrdiff_t out = low_inside ? high : low;
    bool by_room = d->room && !(d->room[out] > 0), by_field = !(d->field[out] < 0);
    double part = by_room ? zero_of(d->room, low, high) : zero_of(d->field, low, high);
    *border = by_room ? d->room : d->field;
    if (by_room && by_field) {
        double other = zero_of(d->field, low, high);
        if (low_inside ? other < part : other > part) {
            part = other;
            *border = d->field;
        }
    }
    return isfinite(part) ? und_larger(END, und_smaller(1 - END, part)) : 0.5;
}

/* The normal is left as long as the gradient, which weighs it where some are added up. */
static void put_vertex(const mesher *m, size_t vertex, const int low[3], int axis)
{
    const und_shell_def *d = m->def;
    const double *place = d->at[axis];
    int high[3] = {low[0], low[1], low[2]};
    high[axis]++;
    ptrdiff_t i = low[0] * m->step[0] + low[1] * m->step[1] + low[2] * m->step[2];
    bool low_inside = is_inside(d, i);
    const float *border;
    double part = crossing(m, i, i + m->step[axis], low_inside, &border), normal[3] = {0};
    bool flat = !(place[high[axis]] > place[low[axis]]);
    for (int k = 0; k < 3 && !flat; k++) {
        double from = slope(m, border, low, k), to = slope(m, border, high, k);
        normal[k] = (border == d->room ? -1 : 1) * (from + part * (to - from));
    }
    double most = fmax(fabs(normal[0]), fmax(fabs(normal[1]), fabs(normal[2])));
    if (!(most > FAINT))
        normal[axis] = (low_inside ? 1 : -1) * (flat ? 1 : FAINT);
    if (most > 1 / FAINT)
        make_unit(normal);
    for (int k = 0; k < 3; k++) {
        double from = d->at[k][low[k]], to = d->at[k][high[k]];
        m->out->position[3 * vertex + (size_t)k] = (float)(k == axis ? from + part * (to - from) : from);
        m->out->normal[3 * vertex + (size_t)k] = (float)normal[k];
    }
}

/* Those of an odd edge; how many there are. */
static int32_t put_odd(const mesher *m, int32_t vertex, const int low[3], int axis)
{
    const und_shell_def *d = m->def;
    const ptrdiff_t at = low[0] + low[1] * m->step[1] + low[2] * m->step[2];
    d->put(d->context, (size_t)at, axis, m->out->position + 3 * (size_t)vertex,
           m->out->normal + 3 * (size_t)vertex);
    return und_shell_crossings(label_of(d, at), label_of(d, at + m->step[axis]),
                               und_shell_edge_bits(d->edges + at, axis));
}

static void put_row_vertices(const mesher *m, int y, int z)
{
    size_t index = (size_t)row_of(m, y, z);
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < m->words; k++) {
            size_t at = index * (size_t)m->words + (size_t)k;
            int32_t vertex = m->rank[axis][at] + (int32_t)m->rows[index].vertices;
            m->rank[axis][at] = vertex; /* from now on of all rows */
            for (uint64_t left = m->cross[0][axis][at]; left; left &= left - 1) {
                const int bit = __builtin_ctzll(left), low[3] = {k * WORD + bit, y, z};
                if (m->odd[axis] && m->odd[axis][at] >> bit & 1)
                    vertex += put_odd(m, vertex, low, axis);
                else
                    put_vertex(m, (size_t)vertex++, low, axis);
            }
        }
}

static int32_t vertex_of(const mesher *m, const int cell[3], int crossing)
{
    int edge = crossing / EACH, corner = edge / 3, axis = edge % 3, x = cell[0] + (corner & 1);
    size_t at = (size_t)row_of(m, cell[1] + (corner >> 1 & 1), cell[2] + (corner >> 2)) * (size_t)m->words +
                (size_t)(x / WORD);
    return first_vertex(m, axis, at, x % WORD) + crossing % EACH;
}

static double distance2(const mesher *m, int32_t a, int32_t b)
{
    const float *p = m->out->position + 3 * (size_t)a, *q = m->out->position + 3 * (size_t)b;
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += ((double)p[k] - (double)q[k]) * ((double)p[k] - (double)q[k]);
    return sum;
}

/* In a cell without thickness all lies in a plane, whatever the normals of a border that others share. */
static void put_middle(const mesher *m, const int cell[3], int32_t vertex, const int32_t *v, int length)
{
    double place[3] = {0}, normal[3] = {0};
    for (int i = 0; i < length; i++)
        for (int k = 0; k < 3; k++) {
            place[k] += (double)m->out->position[3 * v[i] + k] / length;
            normal[k] += (double)m->out->normal[3 * v[i] + k];
        }
    for (int axis = 0; axis < 3; axis++)
        if (!(m->def->at[axis][cell[axis] + 1] > m->def->at[axis][cell[axis]]))
            normal[(axis + 1) % 3] = normal[(axis + 2) % 3] = 0;
    for (int k = 0; k < 3; k++) {
        m->out->position[3 * vertex + k] = (float)place[k];
        m->out->normal[3 * vertex + k] = (float)(normal[k] / length);
    }
}

static int32_t *put_triangle(int32_t *to, int32_t a, int32_t b, int32_t c)
{
    to[0] = a;
    to[1] = b;
    to[2] = c;
    return to + 3;
}

/* Four corners are cut along the shorter diagonal, more are joined to their middle. */
static int32_t *put_loop(const mesher *m, const int cell[3], int32_t *to, const int32_t *v, int length,
                         bool joined, int32_t *middle)
{
    if (length < 3)
        return to; /* where a film ends */
    if (length == 3)
        return put_triangle(to, v[0], v[1], v[2]);
    if (!joined) {
        int turn = distance2(m, v[0], v[2]) > distance2(m, v[1], v[3]);
        to = put_triangle(to, v[turn], v[turn + 1], v[turn + 2]);
        return put_triangle(to, v[turn], v[turn + 2], v[(turn + 3) % 4]);
    }
    put_middle(m, cell, *middle, v, length);
    for (int i = 0; i < length; i++)
        to = put_triangle(to, v[i], v[(i + 1) % length], *middle);
    ++*middle;
    return to;
}

static void put_row_triangles(const mesher *m, int y, int z)
{
    const row *r = &m->rows[row_of(m, y, z)];
    int32_t *to = m->out->triangle + 3 * r->triangles, middle = (int32_t)r->middles;
    for (int k = 0; k < m->words; k++) {
        cells c = cells_of(m, y, z, k);
        for (uint64_t left = c.active; left; left &= left - 1) {
            int bit = __builtin_ctzll(left), cell[3] = {k * WORD + bit, y, z};
            cell_case own;
            const cell_case *kind = case_of(m, &c, bit, first_point(m, y, z, k) + bit, &own);
            int32_t v[MOST_CROSSED];
            for (int i = 0; i < kind->first[kind->loops]; i++)
                v[i] = vertex_of(m, cell, kind->edge[i]);
            for (int i = 0; i < kind->loops; i++)
                to = put_loop(m, cell, to, v + kind->first[i], kind->first[i + 1] - kind->first[i],
                              kind->middle[i], &middle);
        }
    }
}

/* Whether the surface may pass a row of points, or the row of cells above and behind it. */
static bool may_pass(const mesher *m, int y, int z)
{
    const int *n = m->def->n;
    bool any = !m->def->rows;
    for (int k = 0; k < 4 && !any; k++) {
        const size_t at = (size_t)(z + (k >> 1)) * (size_t)n[1] + (size_t)(y + (k & 1));
        any = z + (k >> 1) < n[2] && y + (k & 1) < n[1] && (m->def->rows[at >> 6] >> (at & 63) & 1);
    }
    return any;
}

/* Calls it for all rows that it may pass; those of cells lack the last along y and z. */
static void for_rows(const mesher *m, bool of_cells, void (*call)(const mesher *m, int y, int z))
{
    const int *n = m->def->n;
    PARALLEL_FOR(m->threads)
    for (int z = 0; z < n[2] - of_cells; z++)
        for (int y = 0; y < n[1] - of_cells; y++)
            if (may_pass(m, y, z))
                call(m, y, z);
}

static void make_normals_unit(const und_shell *shell, int threads)
{
    enum { BLOCK = 1 << 14 };
    int blocks = (shell->vertex_count + BLOCK - 1) / BLOCK;
    PARALLEL_FOR(threads)
    for (int b = 0; b < blocks; b++)
        for (int v = b * BLOCK; v < (b + 1) * BLOCK && v < shell->vertex_count; v++) {
            float *n = shell->normal + 3 * (size_t)v;
            double unit[3] = {(double)n[0], (double)n[1], (double)n[2]};
            unit[1] = make_unit(unit) ? unit[1] : 1;
            for (int k = 0; k < 3; k++)
                n[k] = (float)unit[k];
        }
}

static und_status make(mesher *m, und_error *err)
{
    size_t rows = (size_t)m->def->n[1] * (size_t)m->def->n[2], vertices = 0, triangles = 0;
    for_rows(m, false, mark_row);
    for_rows(m, false, count_row);
    for_rows(m, true, count_triangles);
    for (size_t i = 0; i < rows; i++) {
        row count = m->rows[i];
        m->rows[i] = (row){vertices, triangles, vertices + count.middles};
        vertices += count.vertices;
        triangles += count.triangles;
    }
    if (triangles > INT_MAX / 9 || vertices > INT_MAX / 9)
        return und_error_set(err, UND_FAILED, "a surface of %zu triangles, at most %d", triangles,
                             INT_MAX / 9);
    und_shell *out = m->out;
    out->position = und_alloc(3 * vertices, sizeof *out->position, "a surface's vertices", err);
    out->normal = und_alloc(3 * vertices, sizeof *out->normal, "a surface's normals", err);
    out->triangle = und_alloc(3 * triangles, sizeof *out->triangle, "a surface's triangles", err);
    if (!out->position || !out->normal || !out->triangle) {
        und_shell_free(out);
        return UND_FAILED;
    }
    for_rows(m, false, put_row_vertices);
    for_rows(m, true, put_row_triangles);
    out->vertex_count = (int)vertices;
    out->triangle_count = (int)triangles;
    make_normals_unit(out, m->threads);
    return UND_OK;
}

und_status und_shell_make(const und_shell_def *def, und_shell *out, und_error *err)
{
    const int *n = def->n;
    *out = (und_shell){0};
    if (n[0] < 2 || n[1] < 2 || n[2] < 2)
        return UND_OK; /* no cell */
    mesher *m = und_alloc(1, sizeof *m, "a mesher", err);
    if (!m)
        return UND_FAILED;
    *m = (mesher){.def = def,
                  .step = {1, n[0], (ptrdiff_t)n[0] * n[1]},
                  .words = (n[0] + WORD - 1) / WORD,
                  .threads = und_workers(und_threads(def->threads),
                                         (size_t)n[0] * (size_t)n[1] * (size_t)n[2], 1 << 15),
                  .out = out};
    size_t rows = (size_t)n[1] * (size_t)n[2], words = rows * (size_t)m->words;
    m->rows = und_alloc(rows, sizeof *m->rows, "rows of a surface", err);
    m->inside =
        und_alloc((def->edges ? 1 + 3 * (EACH + 1) : 4) * words, sizeof *m->inside, "rows of a surface", err);
    m->rank[0] = und_alloc(3 * words, sizeof *m->rank[0], "rows of a surface", err);
    und_status status = UND_FAILED;
    if (m->rows && m->inside && m->rank[0]) {
        for (size_t axis = 0; axis < 3; axis++) {
            for (size_t k = 0; k < (def->edges ? EACH : 1); k++)
                m->cross[k][axis] = m->inside + (1 + 3 * k + axis) * words;
            m->odd[axis] = def->edges ? m->inside + (1 + 3 * EACH + axis) * words : NULL;
            m->rank[axis] = m->rank[0] + axis * words;
        }
        for (int inside = 0; inside < CASES; inside++)
            derive_case(inside, NULL, &m->cases[inside]);
        status = make(m, err);
    }
    free(m->rows);
    free(m->inside);
    free(m->rank[0]);
    free(m);
    return status;
}

void und_shell_free(und_shell *shell)
{
    free(shell->position);
    free(shell->normal);
    free(shell->velocity);
    free(shell->triangle);
    *shell = (und_shell){0};
}
