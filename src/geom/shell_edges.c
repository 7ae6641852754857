/* The surface around a side of a cell whose edges have something between their ends.
 *
 * The liquid is between two surfaces: from the one that liquid and solids are inside of the air is outwards,
 * from the one that solids are inside of the liquid.  Where solids are dry both are the same, and neither is
 * drawn: what comes there along the one goes on along the other. */
#include "geom/shell_edges.h"

#include <string.h>

enum { AIR = UND_SHELL_AIR, LIQUID = UND_SHELL_LIQUID, SOLID = UND_SHELL_SOLID };

/* What is between an edge's ends, from the low one on: how many there are. */
static int find_between(unsigned bits, int between[3])
{
    int count = 0;
    if (bits & UND_SHELL_WALL) {
        if (bits & UND_SHELL_FILM_LOW)
            between[count++] = LIQUID;
        between[count++] = SOLID;
        if (bits & UND_SHELL_FILM_HIGH)
            between[count++] = LIQUID;
    } else if (bits & UND_SHELL_FILM)
        between[count++] = LIQUID;
    return count;
}

static bool is_crossing(int label, int next)
{
    return (label == LIQUID) != (next == LIQUID);
}

int und_shell_crossings(int low, int high, unsigned bits)
{
    int between[4], crossings = 0, at = low;
    const int count = find_between(bits, between);
    between[count] = high;
    for (int i = 0; i <= count; at = between[i++])
        crossings += is_crossing(at, between[i]);
    return crossings;
}

static int after(const und_shell_ring *r, int i)
{
    return i + 1 < r->count ? i + 1 : 0;
}

static bool is_border(const und_shell_ring *r, const bool *in, int i)
{
    return in[i] != in[after(r, i)];
}

/* The border from which on a run begins, the first after a place. */
static int next_border(const und_shell_ring *r, const bool *in, int i)
{
    do
        i = after(r, i);
    while (!is_border(r, in, i));
    return i;
}

/* Around each run of what is out: from the border where it ends back to where it begins, or the other way. */
static void go_around(und_shell_ring *r, const bool *in, bool back)
{
    for (int i = 0; i < r->count; i++) {
        if (!is_border(r, in, i) || !in[i])
            continue;
        const int end = next_border(r, in, i);
        r->next[back ? end : i] = back ? i : end;
    }
}

/* What is liquid alone, in the air, is by itself: it counts as air for what is joined. */
static void leave_drops(und_shell_ring *r, bool *in)
{
    bool liquid[UND_SHELL_MOST_NODES];
    memcpy(liquid, in, sizeof liquid);
    for (int i = 0; i < r->count; i++) {
        if (!is_border(r, liquid, i) || liquid[i])
            continue;
        const int end = next_border(r, liquid, i);
        bool solid = false;
        for (int k = after(r, i); k != after(r, end); k = after(r, k))
            solid = solid || r->label[k] == SOLID;
        if (solid)
            continue;
        r->next[i] = end;
        for (int k = after(r, i); k != after(r, end); k = after(r, k))
            in[k] = false;
    }
}

/* Where solids are dry nothing is drawn. */
static void leave_out_dry(und_shell_ring *r)
{
    bool crossing[UND_SHELL_MOST_NODES];
    for (int i = 0; i < r->count; i++)
        crossing[i] = is_crossing(r->label[i], r->label[after(r, i)]);
    for (int i = 0; i < r->count; i++)
        while (crossing[i] && r->next[i] >= 0 && !crossing[r->next[i]])
            r->next[i] = r->next[r->next[i]];
    for (int i = 0; i < r->count; i++)
        r->next[i] = crossing[i] ? r->next[i] : -1;
}

static void link(und_shell_ring *r)
{
    bool wet[UND_SHELL_MOST_NODES], solid[UND_SHELL_MOST_NODES], open[UND_SHELL_MOST_NODES];
    for (int i = 0; i < UND_SHELL_MOST_NODES; i++) {
        r->next[i] = -1;
        wet[i] = i < r->count && r->label[i] != AIR;
        solid[i] = i < r->count && r->label[i] == SOLID;
        open[i] = !solid[i];
    }
    leave_drops(r, wet);
    go_around(r, wet, true);
    if (r->gap)
        go_around(r, open, true);
    else
        go_around(r, solid, false);
    leave_out_dry(r);
}

und_shell_ring und_shell_ring_of(const int corner[4], const unsigned bits[4], const bool up[4])
{
    und_shell_ring r = {0};
    for (int i = 0; i < 4; i++) {
        int between[3];
        const int count = find_between(bits[i], between);
        r.gap = r.gap || (bits[i] & UND_SHELL_FILM && bits[i] & UND_SHELL_GAP);
        r.corner[i] = r.count;
        r.label[r.count++] = corner[i];
        for (int k = 0; k < count; k++)
            r.label[r.count++] = between[up[i] ? k : count - 1 - k];
    }
    r.corner[4] = r.count;
    link(&r);
    return r;
}

int und_shell_ring_crossing(const und_shell_ring *r, int border, int edge, bool up)
{
    int before = 0, all = 0;
    for (int i = r->corner[edge]; i < r->corner[edge + 1]; i++) {
        const bool crossing = is_crossing(r->label[i], r->label[after(r, i)]);
        before += crossing && i < border;
        all += crossing;
    }
    return up ? before : all - 1 - before;
}

static int edge_of(const und_shell_ring *r, int border)
{
    int edge = 0;
    while (border >= r->corner[edge + 1])
        edge++;
    return edge;
}

static bool is_corner(const und_shell_ring *r, int i)
{
    return i == r->corner[0] || i == r->corner[1] || i == r->corner[2] || i == r->corner[3];
}

/* The bit of the film between a solid and the air at a border, whose edge has that film or may have it. */
static unsigned film_bit(const und_shell_ring *r, int border, int edge, bool up)
{
    const int first = r->corner[edge], last = r->corner[edge + 1] % r->count;
    if (r->label[first] == SOLID || r->label[last] == SOLID)
        return UND_SHELL_FILM;
    return (r->label[border] == AIR) == up ? UND_SHELL_FILM_LOW : UND_SHELL_FILM_HIGH;
}

int und_shell_ring_ends(const und_shell_ring *r, const bool up[4], und_shell_end ends[4])
{
    bool wet[UND_SHELL_MOST_NODES], air[UND_SHELL_MOST_NODES];
    und_shell_ring drops = *r;
    int count = 0;
    for (int i = 0; i < r->count; i++)
        wet[i] = r->label[i] != AIR;
    leave_drops(&drops, wet);
    for (int i = 0; i < r->count; i++)
        air[i] = !wet[i];
    for (int i = 0; i < r->count; i++) {
        if (!is_border(r, air, i) || air[i])
            continue;
        const int end = next_border(r, air, i), last = after(r, end);
        const bool film_first = r->label[i] == LIQUID && !is_corner(r, i) && r->label[last] == SOLID,
                   film_last = r->label[last] == LIQUID && !is_corner(r, last) && r->label[i] == SOLID;
        if (!film_first && !film_last)
            continue;
        const int film = film_first ? i : end, dry = film_first ? end : i;
        und_shell_end *to = &ends[count++];
        to->film = edge_of(r, film);
        to->dry = edge_of(r, dry);
        to->film_bit = film_bit(r, film, to->film, up[to->film]);
        to->dry_bit = film_bit(r, dry, to->dry, up[to->dry]);
    }
    return count;
}

unsigned und_shell_ring_closed(const und_shell_ring *r, int edge, bool up)
{
    const int first = r->corner[edge], last = r->corner[edge + 1] - 1;
    unsigned pairs = 0;
    for (int i = first; i <= last; i++) {
        const int next = r->next[i], low = up ? i - first : last - i, high = up ? next - first : last - next;
        if (next >= first && next <= last)
            pairs |= 1U << (low < high ? 4 * low + high : 4 * high + low);
    }
    return pairs;
}

bool und_shell_ring_alone(const und_shell_ring *r, int edge)
{
    int solids = 0, here = 0;
    for (int i = 0; i < r->count; i++) {
        solids += r->label[i] == SOLID;
        here += r->label[i] == SOLID && i > r->corner[edge] && i < r->corner[edge + 1];
    }
    return here > 0 && solids == here;
}
