/* Which cells hold liquid, by region growing (Foster & Metaxas 1996, figure 5). */
#include "surface/chains_state.h"

#include <stdlib.h>

enum { UNKNOWN = 255 };

/* A chain that runs along the face of a cell belongs to the cell on its liquid side, rounding and the last
 * bit of a liquid at rest notwithstanding: links count this much further in, and as much shorter, in cells.
 */
static const double INWARD = 1e-3;

static void mark(const und_mac *m, uint8_t *label, int x, int y)
{
    if (!und_chains_solid(m, label, x, y))
        label[und_mac_at(m, x, y, 0)] = UND_CELL_FULL;
}

/* All cells that the link from a to b, places in cells, goes through. */
static void mark_link(const und_mac *m, uint8_t *label, und_point a, und_point b)
{
    int at[2] = {(int)floor(a.x), (int)floor(a.y)};
    const int end[2] = {(int)floor(b.x), (int)floor(b.y)};
    const double from[2] = {a.x, a.y}, way[2] = {b.x - a.x, b.y - a.y};
    mark(m, label, at[0], at[1]);
    for (int left = abs(end[0] - at[0]) + abs(end[1] - at[1]); left > 0; left--) {
        double when[2];
        for (int k = 0; k < 2; k++) /* the part of the way at which it comes to the next cell */
            when[k] = at[k] == end[k] ? INFINITY : (at[k] + (way[k] > 0) - from[k]) / way[k];
        int axis = when[1] < when[0];
        at[axis] += way[axis] > 0 ? 1 : -1;
        mark(m, label, at[0], at[1]);
    }
}

static void mark_surface(const und_chains *s, uint8_t *label)
{
    const und_mac *m = &s->mac;
    for (int c = 0; c < s->chain_count; c++)
        for (int end = s->first[c + 1], i = s->first[c], last = end - 1; i < end; last = i++) {
            und_point p[2] = {und_point_of(s, last), und_point_of(s, i)};
            for (int k = 0; k < 2; k++) {
                p[k].x = (p[k].x - m->origin[0]) / m->d[0];
                p[k].y = (p[k].y - m->origin[1]) / m->d[1];
            }
            und_point way = und_point_from(p[0], p[1]);
            double length = und_point_length(way);
            if (!(length > 0))
                continue;
            und_point along = {way.x / length * INWARD, way.y / length * INWARD};
            und_point inward = {-along.y, along.x};
            if (length < 3 * INWARD)
                along = (und_point){0, 0};
            mark_link(m, label, und_point_add(und_point_add(p[0], inward, 1), along, 1),
                      und_point_add(und_point_add(p[1], inward, 1), along, -1));
        }
}

/* Grows from one Unknown cell to all that can be reached over sides, up to the surface and solids. */
static void grow(und_chains *s, uint8_t *label, int x, int y, uint8_t what)
{
    const und_mac *m = &s->mac;
    static const int side[4][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    int waiting = 0;
    label[und_mac_at(m, x, y, 0)] = what;
    s->queue[waiting++] = y * m->n[0] + x;
    while (waiting > 0) {
        int cell = s->queue[--waiting];
        for (int k = 0; k < 4; k++) {
            int i = cell % m->n[0] + side[k][0], j = cell / m->n[0] + side[k][1];
            if (i < 0 || j < 0 || i >= m->n[0] || j >= m->n[1] || label[und_mac_at(m, i, j, 0)] != UNKNOWN)
                continue;
            label[und_mac_at(m, i, j, 0)] = what;
            s->queue[waiting++] = j * m->n[0] + i;
        }
    }
}

void und_chains_label(und_chains *s, uint8_t *label)
{
    const und_mac *m = &s->mac;
    for (int y = 0; y < m->n[1]; y++)
        for (int x = 0; x < m->n[0]; x++)
            if (!und_chains_solid(m, label, x, y))
                label[und_mac_at(m, x, y, 0)] = UNKNOWN;
    mark_surface(s, label);
    /* The paper alternates Empty and Full from one corner that stays empty.  Here the chains tell of every
     * region which it is, so that solids may lie between, and air in liquid in air. */
    for (int y = m->n[1] - 1; y >= 0; y--)
        for (int x = 0; x < m->n[0]; x++)
            if (label[und_mac_at(m, x, y, 0)] == UNKNOWN) {
                und_point middle = {und_mac_middle(m, 0, x), und_mac_middle(m, 1, y)};
                bool liquid = und_chains_winding(s, middle) > 0;
                grow(s, label, x, y, liquid ? UND_CELL_FULL : UND_CELL_EMPTY);
            }
}
