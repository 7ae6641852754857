#include "base/status.h"
#include "surface/chains_state.h"

#include <stdlib.h>
#include <string.h>

/* Chains that enclose less than this share of a cell go. */
static const double SMALLEST = 0.01;

und_chains *und_chains_create(const und_mac *mac, int threads, und_error *err)
{
    und_chains *s = und_alloc(1, sizeof *s, "chains", err);
    if (!s)
        return NULL;
    s->mac = *mac;
    s->device.threads = threads;
    size_t cells = (size_t)mac->n[0] * (size_t)mac->n[1];
    s->bucket_first = und_alloc(cells + 2, sizeof *s->bucket_first, "chains", err);
    s->queue = und_alloc(cells, sizeof *s->queue, "chains", err);
    for (int k = 0; k < 2; k++)
        s->cover[k] = und_alloc(cells, sizeof **s->cover, "chains", err);
    if (!s->bucket_first || !s->queue || !s->cover[0] || !s->cover[1] ||
        und_chains_reserve(s, 1, err) != UND_OK) {
        und_chains_destroy(s);
        return NULL;
    }
    return s;
}

void und_chains_destroy(und_chains *s)
{
    if (!s)
        return;
    for (int a = 0; a < 2; a++)
        free(s->place[a]);
    for (int a = 0; a < 3; a++)
        free(s->spare[a]);
    void *const all[] = {s->spacing,      s->first,       s->next,  s->prev,     s->flag,
                         s->bucket_first, s->bucket_link, s->queue, s->cover[0], s->cover[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    free(s);
}

/* A longer array with the same beginning. */
static bool grow(void *array, size_t used, size_t room, size_t size, und_error *err)
{
    void *old, *new = und_alloc(room, size, "markers of chains", err);
    if (!new)
        return false;
    memcpy(&old, array, sizeof old);
    if (used)
        memcpy(new, old, used * size);
    memcpy(array, &new, sizeof new);
    free(old);
    return true;
}

und_status und_chains_reserve(und_chains *s, int more, und_error *err)
{
    enum { PER_CELL = 4, PER_MARKER = 32, LINKS = 8 };
    double cells = (double)s->mac.n[0] * s->mac.n[1];
    double wanted = PER_CELL * cells + PER_MARKER * ((double)s->count + more);
    if (!(wanted < INT32_MAX / LINKS))
        return und_error_set(err, UND_INVALID, "cells: chain: %d markers are too many", more);
    if (s->count + more <= s->capacity && wanted <= s->capacity)
        return UND_OK;
    size_t room = (size_t)wanted, used = (size_t)s->count, chains = (size_t)s->chain_count + 1;
    if (!grow(&s->place[0], used, room, sizeof(double), err) ||
        !grow(&s->place[1], used, room, sizeof(double), err) ||
        !grow(&s->spacing, used, room, sizeof(double), err) ||
        !grow(&s->first, s->first ? chains : 0, room + 1, sizeof(int32_t), err) ||
        !grow(&s->spare[0], 0, room, sizeof(double), err) ||
        !grow(&s->spare[1], 0, room, sizeof(double), err) ||
        !grow(&s->spare[2], 0, room, sizeof(double), err) || !grow(&s->next, 0, room, sizeof(int32_t), err) ||
        !grow(&s->prev, 0, room, sizeof(int32_t), err) || !grow(&s->flag, 0, room, 1, err) ||
        !grow(&s->bucket_link, 0, room * LINKS, sizeof(int32_t), err))
        return err->status;
    s->capacity = (int)room;
    s->bucket_room = (int)room * LINKS;
    return UND_OK;
}

und_status und_chains_make_room(und_chains *s, und_error *err)
{
    return 2 * s->count > s->capacity ? und_chains_reserve(s, s->count, err) : UND_OK;
}

void und_chains_append(und_chains *s, const und_point *place, const double *spacing, int count)
{
    for (int i = 0; i < count; i++) {
        s->place[0][s->count + i] = place[i].x;
        s->place[1][s->count + i] = place[i].y;
        s->spacing[s->count + i] = spacing[i];
    }
    s->count += count;
    s->first[++s->chain_count] = s->count;
}

static double cell_area(const und_chains *s)
{
    return s->mac.d[0] * s->mac.d[1];
}

/* m2; positive where the chain goes counterclockwise. */
static double area_of(const und_chains *s, int chain)
{
    double twice = 0;
    int begin = s->first[chain], end = s->first[chain + 1];
    und_point start = und_point_of(s, begin);
    for (int i = begin + 1; i + 1 < end; i++)
        twice += und_point_cross(und_point_from(start, und_point_of(s, i)),
                                 und_point_from(start, und_point_of(s, i + 1)));
    return twice / 2;
}

double und_chains_volume(const und_chains *s)
{
    double area = 0;
    for (int c = 0; c < s->chain_count; c++)
        area += area_of(s, c);
    return area * s->mac.d[2];
}

int und_chains_count(const und_chains *s, int *markers)
{
    if (markers)
        *markers = s->count;
    return s->chain_count;
}

void und_chains_link(und_chains *s)
{
    for (int c = 0; c < s->chain_count; c++)
        for (int i = s->first[c]; i < s->first[c + 1]; i++) {
            s->next[i] = i + 1 < s->first[c + 1] ? i + 1 : s->first[c];
            s->prev[i] = i > s->first[c] ? i - 1 : s->first[c + 1] - 1;
        }
}

/* Copies the chain that marker i is on to the place of marker `begin`: how many markers it has. */
static int copy_chain(und_chains *s, int i, int begin)
{
    int n = begin;
    for (int k = i; !s->flag[k]; k = s->next[k]) {
        s->flag[k] = 1;
        s->spare[0][n] = s->place[0][k];
        s->spare[1][n] = s->place[1][k];
        s->spare[2][n++] = s->spacing[k];
    }
    return n - begin;
}

/* Whether a chain among the spare ones is too little to be followed: a small share of a cell, or a sliver
 * that is all as thin as what meets. */
static bool is_little(const und_chains *s, int begin, int count)
{
    double twice = 0, length = 0;
    und_point start = {s->spare[0][begin], s->spare[1][begin]}, last = start;
    for (int k = 1; k <= count; k++) {
        int i = begin + k % count;
        und_point p = {s->spare[0][i], s->spare[1][i]};
        twice += und_point_cross(und_point_from(start, last), und_point_from(start, p));
        length += und_point_gap(last, p);
        last = p;
    }
    double thinnest = (twice < 0 ? UND_CHAINS_AIR_GAP / 2 : UND_CHAINS_FILM) * und_chains_cell(s);
    return count < 4 || fabs(twice / 2) < SMALLEST * cell_area(s) || fabs(twice) < thinnest * length;
}

void und_chains_unlink(und_chains *s)
{
    int count = 0;
    s->chain_count = 0;
    memset(s->flag, 0, (size_t)s->count);
    for (int i = 0; i < s->count; i++)
        if (s->next[i] != UND_GONE && !s->flag[i]) {
            int n = copy_chain(s, i, count);
            if (is_little(s, count, n))
                continue;
            count += n;
            s->first[++s->chain_count] = count;
        }
    double *old[3] = {s->place[0], s->place[1], s->spacing};
    s->place[0] = s->spare[0];
    s->place[1] = s->spare[1];
    s->spacing = s->spare[2];
    memcpy(s->spare, old, sizeof old);
    s->count = count;
}

/* How often the link from a to b goes upwards, less downwards, past the right of p. */
static int passes(und_point a, und_point b, und_point p)
{
    if ((a.y <= p.y) == (b.y <= p.y))
        return 0;
    double side = und_point_cross(und_point_from(a, b), und_point_from(a, p));
    if (a.y <= p.y)
        return side > 0 ? 1 : 0;
    return side < 0 ? -1 : 0;
}

/* How many times the chains go around p, without the link that begins with marker `but`. */
static int winding_but(const und_chains *s, und_point p, int but)
{
    int sum = 0;
    for (int c = 0; c < s->chain_count; c++)
        for (int end = s->first[c + 1], i = s->first[c], last = end - 1; i < end; last = i++)
            if (last != but)
                sum += passes(und_point_of(s, last), und_point_of(s, i), p);
    return sum;
}

int und_chains_winding(const und_chains *s, und_point p)
{
    return winding_but(s, p, -1);
}

/* Whether what lies to the right of a chain is gone around by none, as most of its links have it: a tangle
 * that could not be undone in this step does not decide about the rest. */
static bool is_outline(const und_chains *s, int chain)
{
    enum { ASKED = 32 };
    int begin = s->first[chain], end = s->first[chain + 1], stride = (end - begin + ASKED - 1) / ASKED;
    double for_it = 0, all = 0;
    for (int i = begin; i < end; i += stride) {
        und_point a = und_point_of(s, i), b = und_point_of(s, i + 1 < end ? i + 1 : begin);
        und_point middle = {(a.x + b.x) / 2, (a.y + b.y) / 2};
        bool is = winding_but(s, middle, i) - (b.y < a.y) == 0;
        for_it += is ? fabs(b.y - a.y) : 0;
        all += fabs(b.y - a.y);
    }
    return 2 * for_it >= all;
}

/* Chains that do not cross go between regions that differ by one in how often they are gone around.  Liquid
 * is where that is 1 or more, so only chains with 0 on their right are its outline. */
void und_chains_uncover(und_chains *s)
{
    int kept = 0, count = 0;
    for (int c = 0; c < s->chain_count; c++)
        s->flag[c] = is_outline(s, c);
    for (int c = 0, begin = 0, end; c < s->chain_count; c++, begin = end) {
        end = s->first[c + 1];
        if (!s->flag[c])
            continue;
        for (int i = begin; i < end; i++, count++) {
            s->place[0][count] = s->place[0][i];
            s->place[1][count] = s->place[1][i];
            s->spacing[count] = s->spacing[i];
        }
        s->first[++kept] = count;
    }
    s->chain_count = kept;
    s->count = count;
}
