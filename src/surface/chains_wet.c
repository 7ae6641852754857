/* How much of each cell the chains enclose: exactly, link by link. */
#include "surface/chains_state.h"

#include <string.h>

/* A piece of a link within one cell, places in cells.  Enclosed is the sum of x dy around: the piece adds its
 * way up to all cells on its left, and of its own cell what lies on its left there. */
static void add_piece(und_chains *s, und_point a, und_point b)
{
    const int *n = s->mac.n;
    double x = (a.x + b.x) / 2, y = (a.y + b.y) / 2, up = b.y - a.y;
    int i = (int)fmin(fmax(floor(x), 0), n[0] - 1), j = (int)fmin(fmax(floor(y), 0), n[1] - 1);
    size_t at = (size_t)j * (size_t)n[0] + (size_t)i;
    s->cover[0][at] += up * (x - i);
    s->cover[1][at] += up;
}

/* Cell by cell, as it crosses their faces. */
static void add_link(und_chains *s, und_point a, und_point b)
{
    const double from[2] = {a.x, a.y}, way[2] = {b.x - a.x, b.y - a.y};
    int at[2] = {(int)floor(a.x), (int)floor(a.y)}, end[2] = {(int)floor(b.x), (int)floor(b.y)};
    und_point last = a;
    for (;;) {
        double when[2];
        for (int k = 0; k < 2; k++) /* the part of the way at which it comes to the next cell */
            when[k] = at[k] == end[k] ? INFINITY : (at[k] + (way[k] > 0) - from[k]) / way[k];
        int axis = when[1] < when[0];
        if (at[axis] == end[axis])
            break;
        und_point next = {a.x + when[axis] * way[0], a.y + when[axis] * way[1]};
        add_piece(s, last, next);
        last = next;
        at[axis] += way[axis] > 0 ? 1 : -1;
    }
    add_piece(s, last, b);
}

static und_point in_cells(const und_chains *s, int i)
{
    const und_mac *m = &s->mac;
    return (und_point){(s->place[0][i] - m->origin[0]) / m->d[0], (s->place[1][i] - m->origin[1]) / m->d[1]};
}

void und_chains_wet(und_chains *s)
{
    const und_mac *m = &s->mac;
    size_t cells = (size_t)m->n[0] * (size_t)m->n[1];
    for (int k = 0; k < 2; k++)
        memset(s->cover[k], 0, cells * sizeof **s->cover);
    for (int c = 0; c < s->chain_count; c++)
        for (int end = s->first[c + 1], i = s->first[c], last = end - 1; i < end; last = i++)
            add_link(s, in_cells(s, last), in_cells(s, i));
    for (int y = 0; y < m->n[1]; y++) {
        double up = 0; /* of all links on the right */
        for (int x = m->n[0] - 1; x >= 0; x--) {
            size_t at = (size_t)y * (size_t)m->n[0] + (size_t)x;
            s->cover[0][at] = fmin(fmax(up + s->cover[0][at], 0), 1);
            up += s->cover[1][at];
        }
    }
}

double und_chains_part(const und_chains *s, size_t cell)
{
    const und_mac *m = &s->mac;
    size_t from = cell - und_mac_at(m, 0, 0, 0), row = (size_t)m->step[1];
    return s->cover[0][from / row * (size_t)m->n[0] + from % row];
}
