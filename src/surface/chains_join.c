/* Chains that meet are connected anew: of two links a -> a' and b -> b' become a -> b' and b -> a'.  That
 * splits a chain in two where both are its own, and makes two chains one where they are not. */
#include "surface/chains_state.h"

#include <string.h>

static const double SHORTER = 0.9; /* what connecting anew makes of the length of two links at most */
enum { MOST_PASSES = 16, FEWEST = 4 };

/* The buckets that a link may meet others in: first x, y and last x, y. */
static void buckets_of(const und_chains *s, int i, int range[4])
{
    const und_mac *m = &s->mac;
    und_point a = und_point_of(s, i), b = und_point_of(s, s->next[i]);
    double margin = UND_CHAINS_AIR_GAP * und_chains_cell(s) / 2;
    double low[2] = {fmin(a.x, b.x) - margin, fmin(a.y, b.y) - margin};
    double high[2] = {fmax(a.x, b.x) + margin, fmax(a.y, b.y) + margin};
    for (int k = 0; k < 2; k++) {
        double per_bucket = m->n[k] * m->d[k] / s->buckets[k], last = s->buckets[k] - 1;
        range[k] = (int)fmin(fmax((low[k] - m->origin[k]) / per_bucket, 0), last);
        range[2 + k] = (int)fmin(fmax((high[k] - m->origin[k]) / per_bucket, 0), last);
    }
}

/* Buckets as large as the longest links, so that a link is in four at most. */
static void size_buckets(und_chains *s)
{
    double longest = fmax(s->mac.d[0], s->mac.d[1]);
    for (int i = 0; i < s->count; i++)
        if (s->next[i] != UND_GONE)
            longest = fmax(longest, 2 * s->spacing[i]);
    for (int k = 0; k < 2; k++) {
        int most = (int)(s->mac.n[k] * s->mac.d[k] / longest);
        s->buckets[k] = most > s->mac.n[k] ? s->mac.n[k] : most > 1 ? most : 1;
    }
}

/* Sorts links into buckets by counting, in the order of markers. */
static void fill_buckets(und_chains *s)
{
    int total = s->buckets[0] * s->buckets[1], range[4];
    int32_t *first = s->bucket_first;
    memset(first, 0, ((size_t)total + 2) * sizeof *first);
    for (int i = 0; i < s->count; i++) {
        if (s->next[i] == UND_GONE)
            continue;
        buckets_of(s, i, range);
        for (int y = range[1]; y <= range[3]; y++)
            for (int x = range[0]; x <= range[2]; x++)
                first[y * s->buckets[0] + x + 2]++;
    }
    for (int k = 2; k < total + 2; k++)
        first[k] += first[k - 1];
    for (int i = 0; i < s->count; i++) {
        if (s->next[i] == UND_GONE)
            continue;
        buckets_of(s, i, range);
        for (int y = range[1]; y <= range[3]; y++)
            for (int x = range[0]; x <= range[2]; x++) {
                int32_t at = first[y * s->buckets[0] + x + 1]++;
                if (at < s->bucket_room)
                    s->bucket_link[at] = i;
            }
    }
}

static double side_of(und_point a, und_point b, und_point p)
{
    return und_point_cross(und_point_from(a, b), und_point_from(a, p));
}

static bool cross(und_point a, und_point a_next, und_point b, und_point b_next)
{
    double p = side_of(a, a_next, b), q = side_of(a, a_next, b_next);
    double r = side_of(b, b_next, a), t = side_of(b, b_next, a_next);
    return ((p > 0 && q < 0) || (p < 0 && q > 0)) && ((r > 0 && t < 0) || (r < 0 && t > 0));
}

static double distance_to(und_point a, und_point b, und_point p)
{
    und_point ab = und_point_from(a, b), ap = und_point_from(a, p);
    double square = und_point_dot(ab, ab), part = square > 0 ? und_point_dot(ab, ap) / square : 0;
    return und_point_gap(und_point_add(a, ab, fmin(fmax(part, 0), 1)), p);
}

/* Whether the chain from marker i to j has fewer than FEWEST markers. */
static bool is_near(const und_chains *s, int i, int j)
{
    for (int k = 1; k < FEWEST; k++, i = s->next[i])
        if (i == j)
            return true;
    return false;
}

/* How long the two connections would be, against the links that they replace. */
static bool is_shorter(und_point a, und_point a_next, und_point b, und_point b_next, double links)
{
    return und_point_gap(a, b_next) + und_point_gap(b, a_next) < SHORTER * links;
}

/* The same with a link more on all four ends, which tells of gaps that are wider than links are long. */
static bool is_shorter_around(const und_chains *s, int i, int j, double links)
{
    int i_next = s->next[i], j_next = s->next[j];
    const int from[4] = {s->prev[i], s->prev[j], i_next, j_next};
    for (int k = 0; k < 4; k++)
        links += und_point_gap(und_point_of(s, from[k]), und_point_of(s, s->next[from[k]]));
    return is_shorter(und_point_of(s, s->prev[i]), und_point_of(s, s->next[i_next]),
                      und_point_of(s, s->prev[j]), und_point_of(s, s->next[j_next]), links);
}

/* Links that face each other closely. */
static bool touch(const und_chains *s, int i, int j, double air_gap)
{
    int i_next = s->next[i], j_next = s->next[j];
    und_point a = und_point_of(s, i), a_next = und_point_of(s, i_next);
    und_point b = und_point_of(s, j), b_next = und_point_of(s, j_next);
    und_point u = und_point_from(a, a_next), v = und_point_from(b, b_next);
    if (und_point_dot(u, v) >= 0)
        return false;
    double gap = fmin(fmin(distance_to(a, a_next, b), distance_to(a, a_next, b_next)),
                      fmin(distance_to(b, b_next, a), distance_to(b, b_next, a_next)));
    double links = und_point_length(u) + und_point_length(v), cell = und_chains_cell(s);
    und_point a_middle = {(a.x + a_next.x) / 2, (a.y + a_next.y) / 2};
    und_point b_middle = {(b.x + b_next.x) / 2, (b.y + b_next.y) / 2};
    bool few = is_near(s, i_next, j) || is_near(s, j_next, i);
    if (side_of(a, a_next, b_middle) < 0 && side_of(b, b_next, a_middle) < 0) /* air is between them */
        return gap < air_gap * cell &&
               (few || is_shorter(a, a_next, b, b_next, links) || is_shorter_around(s, i, j, links));
    /* The two sides of a tip are left alone. */
    double film = UND_CHAINS_FILM * fmin(cell, 2 * fmin(s->spacing[i], s->spacing[j]));
    return gap < film && !few && is_shorter(a, a_next, b, b_next, links);
}

static bool meet(const und_chains *s, int i, int j, double air_gap)
{
    int i_next = s->next[i], j_next = s->next[j];
    if (i_next == j || j_next == i)
        return false;
    return cross(und_point_of(s, i), und_point_of(s, i_next), und_point_of(s, j), und_point_of(s, j_next)) ||
           touch(s, i, j, air_gap);
}

static void connect(und_chains *s, int i, int j)
{
    int i_next = s->next[i], j_next = s->next[j];
    s->next[i] = j_next;
    s->prev[j_next] = i;
    s->next[j] = i_next;
    s->prev[i_next] = j;
    s->flag[i] = s->flag[j] = 1; /* no more in the buckets they were put in */
}

/* Connects link i anew with the first one that it meets. */
static bool join_link(und_chains *s, int i, double air_gap)
{
    int range[4];
    buckets_of(s, i, range);
    for (int y = range[1]; y <= range[3]; y++)
        for (int x = range[0]; x <= range[2]; x++) {
            int bucket = y * s->buckets[0] + x;
            int end =
                s->bucket_first[bucket + 1] < s->bucket_room ? s->bucket_first[bucket + 1] : s->bucket_room;
            for (int k = s->bucket_first[bucket]; k < end; k++) {
                int j = s->bucket_link[k];
                if (j > i && !s->flag[j] && meet(s, i, j, air_gap)) {
                    connect(s, i, j);
                    return true;
                }
            }
        }
    return false;
}

/* Connections make the chains shorter, or close air, so this comes to an end. */
bool und_chains_join(und_chains *s, double air_gap)
{
    bool any = false, more = s->count > 0;
    if (more)
        size_buckets(s);
    for (int pass = 0; more && pass < MOST_PASSES; pass++) {
        more = false;
        fill_buckets(s);
        memset(s->flag, 0, (size_t)s->count);
        for (int i = 0; i < s->count; i++)
            if (s->next[i] != UND_GONE && !s->flag[i] && join_link(s, i, air_gap))
                more = any = true;
    }
    return any;
}
