#include "surface/enclose.h"

#include "base/parallel.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>

enum { PASSES = 8 }; /* that look for a piece's place */

/* The part of a simplex of `n` corners where a linear field is below 0; corners come sorted, lowest first. */
static double part_of_simplex(const double *v, int n)
{
    int below = 0;
    while (below < n && v[below] < 0)
        below++;
    if (below == 0 || below == n)
        return below > 0;
    if (n == 4 &&
        below == 2) { /* a wedge: what the lowest corner cuts off, and what the other leaves of it */
        double a = v[0] / (v[0] - v[2]), b = v[0] / (v[0] - v[3]), c = v[1] / (v[1] - v[2]),
               d = v[1] / (v[1] - v[3]);
        return a * b * (1 - c) + b * c * (1 - d) + c * d;
    }
    int corner = below == 1 ? 0 : n - 1; /* the one that the surface cuts off */
    double part = 1;
    for (int i = 0; i < n; i++)
        part *= i == corner ? 1 : v[corner] / (v[corner] - v[i]);
    return below == 1 ? part : 1 - part;
}

static void sort(double *v, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && v[k] < v[k - 1]; k--) {
            double swap = v[k];
            v[k] = v[k - 1];
            v[k - 1] = swap;
        }
}

/* The part of a box inside, by simplices from its first corner to its last along its edges (Kuhn 1960). */
static double part_of_box(const double corner[8], bool flat)
{
    static const int way[6][3] = {{1, 3, 7}, {2, 3, 7}, {1, 5, 7}, {4, 5, 7}, {2, 6, 7}, {4, 6, 7}};
    double sum = 0;
    for (int k = 0; k < (flat ? 2 : 6); k++) {
        double v[4] = {corner[0], corner[way[k][0]], corner[way[k][1]], flat ? 0 : corner[way[k][2]]};
        sort(v, flat ? 3 : 4);
        sum += part_of_simplex(v, flat ? 3 : 4);
    }
    return sum / (flat ? 2 : 6);
}

/* Corners of the box that begins at a point: how many, and how far each is. */
static int corners_of(const und_lattice *l, size_t to[8])
{
    int count = l->n[2] > 1 ? 8 : 4;
    for (int c = 0; c < count; c++)
        to[c] =
            (size_t)(c & 1) + (size_t)l->n[0] * ((size_t)(c >> 1 & 1) + (size_t)l->n[1] * (size_t)(c >> 2));
    return count;
}

static int32_t piece_of_box(const und_enclosing *e, size_t at, const size_t to[8], int corners)
{
    int32_t piece = -1;
    for (int c = 0; c < corners && piece < 0; c++)
        piece = e->piece[at + to[c]];
    return piece;
}

static double part_at(const und_enclosing *e, size_t at, const size_t to[8], int corners, double move)
{
    double v[8], low = INFINITY, high = -INFINITY;
    for (int c = 0; c < corners; c++) {
        v[c] = (double)e->field[at + to[c]] - move;
        low = v[c] < low ? v[c] : low;
        high = v[c] > high ? v[c] : high;
    }
    return high < 0 ? 1 : low >= 0 ? 0 : part_of_box(v, corners == 4);
}

/* What the pieces enclose where each has moved by so much. */
static void measure(const und_enclosing *e, const double *move, double *volume)
{
    const und_lattice *l = &e->lattice;
    size_t to[8], plane = (size_t)l->n[0] * (size_t)l->n[1];
    int corners = corners_of(l, to), layers = corners == 4 ? 1 : l->n[2] - 1;
    const double box = l->d[0] * l->d[1] * l->d[2];
    PARALLEL_FOR(e->threads)
    for (int z = 0; z < layers; z++)
        for (int y = 0; y + 1 < l->n[1]; y++)
            for (int x = 0; x + 1 < l->n[0]; x++) {
                size_t at = (size_t)z * plane + (size_t)y * (size_t)l->n[0] + (size_t)x;
                int32_t piece = e->counts[at] ? piece_of_box(e, at, to, corners) : -1;
                e->part[at] = piece < 0 ? 0 : (float)part_at(e, at, to, corners, move[piece]);
            }
    for (int i = 0; i < e->pieces; i++)
        volume[i] = 0;
    for (size_t at = 0; at < (size_t)layers * plane; at++) /* in order */
        if (e->part[at] > 0)
            volume[piece_of_box(e, at, to, corners)] += box * (double)e->part[at];
}

/* All points that hang together with one, without the recursion; `stack` has room for all. */
static void flood(und_enclosing *e, size_t from, int32_t piece, int32_t *stack)
{
    const und_lattice *l = &e->lattice;
    size_t depth = 1;
    stack[0] = (int32_t)from;
    e->piece[from] = piece;
    while (depth > 0) {
        int32_t at = stack[--depth],
                at_axis[3] = {at % l->n[0], at / l->n[0] % l->n[1], at / (l->n[0] * l->n[1])};
        const int32_t step[3] = {1, l->n[0], l->n[0] * l->n[1]};
        for (int side = 0; side < 6; side++) {
            int a = side / 2, to = at_axis[a] + (side % 2 ? 1 : -1);
            int32_t next = at + (side % 2 ? step[a] : -step[a]);
            if (to < 0 || to >= l->n[a] || e->piece[next] >= 0 || !((double)e->field[next] < e->out))
                continue;
            e->piece[next] = piece;
            stack[depth++] = next;
        }
    }
}

und_status und_enclose_open(und_enclosing *e, und_error *err)
{
    size_t points = und_lattice_count(&e->lattice);
    int32_t *stack = und_alloc(points, sizeof *stack, "pieces", err);
    e->piece = und_alloc(points, sizeof *e->piece, "pieces", err);
    e->part = und_alloc(points, sizeof *e->part, "pieces", err);
    e->pieces = 0;
    if (!stack || !e->piece || !e->part) {
        free(stack);
        return err->status;
    }
    for (size_t i = 0; i < points; i++)
        e->piece[i] = -1;
    for (size_t i = 0; i < points; i++)
        if (e->piece[i] < 0 && (double)e->field[i] < e->out)
            flood(e, i, e->pieces++, stack);
    free(stack);
    e->volume = und_alloc((size_t)e->pieces + 1, sizeof *e->volume, "pieces", err);
    return e->volume ? UND_OK : err->status;
}

/* Where a piece is looked for: between two moves, with what it encloses there. */
typedef struct search {
    double move[2], volume[2];
    int kept; /* the end that stayed last: its excess counts half then (the Illinois rule) */
} search;

static double guess(const search *s, double wanted)
{
    double low = wanted - s->volume[0], high = s->volume[1] - wanted;
    low *= s->kept == 0 ? 0.5 : 1;
    high *= s->kept == 1 ? 0.5 : 1;
    if (!(low > 0))
        return s->move[0];
    return high > 0 ? (s->move[0] * high + s->move[1] * low) / (low + high) : s->move[1];
}

static void narrow(search *s, double move, double volume, double wanted)
{
    int end = volume < wanted ? 0 : 1;
    s->move[end] = move;
    s->volume[end] = volume;
    s->kept = 1 - end;
}

und_status und_enclose(und_enclosing *e, und_error *err)
{
    size_t pieces = (size_t)e->pieces + 1;
    search *s = und_alloc(pieces, sizeof *s, "pieces", err);
    double *move = und_alloc(2 * pieces, sizeof *move, "pieces", err), *found = move ? move + pieces : NULL;
    if (!s || !move) {
        free(s);
        free(move);
        return err->status;
    }
    for (int pass = -2; pass <= PASSES; pass++) {
        for (int i = 0; i < e->pieces; i++)
            move[i] = pass < 0 ? (pass == -2 ? -e->in : e->out) : guess(&s[i], e->volume[i]);
        if (pass == PASSES)
            break;
        measure(e, move, found);
        for (int i = 0; i < e->pieces; i++)
            if (pass < 0) {
                s[i].move[pass + 2] = move[i];
                s[i].volume[pass + 2] = found[i];
                s[i].kept = -1;
            } else if (s[i].volume[0] < e->volume[i] && e->volume[i] < s[i].volume[1])
                narrow(&s[i], move[i], found[i], e->volume[i]);
    }
    size_t points = und_lattice_count(&e->lattice);
    for (size_t i = 0; i < points; i++)
        e->field[i] -= e->piece[i] < 0 ? 0 : (float)move[e->piece[i]];
    free(s);
    free(move);
    return UND_OK;
}

void und_enclose_close(und_enclosing *e)
{
    free(e->piece);
    free(e->part);
    free(e->volume);
    e->piece = NULL;
    e->part = NULL;
    e->volume = NULL;
}
