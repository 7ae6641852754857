/* Liquid that is put in, or taken out, cell by cell. */
#include "base/status.h"
#include "surface/chains_state.h"

#include <stdlib.h>
#include <string.h>

/* The links as they were, sorted by the rows of cells that they pass through. */
typedef struct links {
    const und_mac *mac;
    const uint8_t *change;
    int32_t *first;      /* [rows + 1] */
    und_point (*end)[2]; /* of each link */
} links;

/* The rows that a link passes through, inclusive. */
static void rows_of(const und_mac *m, und_point a, und_point b, int rows[2])
{
    double low = (fmin(a.y, b.y) - m->origin[1]) / m->d[1], high = (fmax(a.y, b.y) - m->origin[1]) / m->d[1];
    /* one more on each side: a place on a face belongs to either row */
    rows[0] = (int)fmin(fmax(floor(low) - 1, 0), m->n[1] - 1);
    rows[1] = (int)fmin(fmax(floor(high) + 1, 0), m->n[1] - 1);
}

static und_point next_of(const und_chains *s, int chain, int i)
{
    return und_point_of(s, i + 1 < s->first[chain + 1] ? i + 1 : s->first[chain]);
}

/* Counts the links of each row, or, with places for them, puts them there. */
static void sort_links(const und_chains *s, links *l, int32_t *at)
{
    for (int c = 0; c < s->chain_count; c++)
        for (int i = s->first[c]; i < s->first[c + 1]; i++) {
            und_point a = und_point_of(s, i), b = next_of(s, c, i);
            int rows[2];
            rows_of(&s->mac, a, b, rows);
            for (int row = rows[0]; row <= rows[1]; row++) {
                if (l->end) {
                    l->end[at[row]][0] = a;
                    l->end[at[row]][1] = b;
                }
                at[row]++;
            }
        }
}

static und_status take_links(const und_chains *s, links *l, und_error *err)
{
    size_t rows = (size_t)s->mac.n[1];
    int32_t *at = und_alloc(rows + 1, sizeof *at, "chains", err);
    l->first = und_alloc(rows + 1, sizeof *l->first, "chains", err);
    if (at && l->first) {
        sort_links(s, l, at);
        for (size_t row = 0; row < rows; row++) {
            l->first[row + 1] = l->first[row] + at[row];
            at[row] = l->first[row];
        }
        l->end = und_alloc((size_t)l->first[rows] + 1, sizeof *l->end, "chains", err);
        if (l->end)
            sort_links(s, l, at);
    }
    free(at);
    return l->end ? UND_OK : err->status;
}

/* Links that pass a place on its right, upwards less downwards. */
static int winding(const links *l, int row, double x, double y)
{
    int sum = 0;
    for (int i = l->first[row]; i < l->first[row + 1]; i++) {
        und_point a = l->end[i][0], b = l->end[i][1];
        if ((a.y <= y) == (b.y <= y))
            continue;
        double cross = (b.x - a.x) * (y - a.y) - (x - a.x) * (b.y - a.y);
        if (b.y > a.y)
            sum += cross > 0;
        else
            sum -= cross < 0;
    }
    return sum;
}

static bool holds(void *context, double x, double y, double z)
{
    const links *l = context;
    const und_mac *m = l->mac;
    (void)z;
    int i = (int)fmin(fmax((x - m->origin[0]) / m->d[0], 0), m->n[0] - 1);
    int j = (int)fmin(fmax((y - m->origin[1]) / m->d[1], 0), m->n[1] - 1);
    uint8_t change = l->change[und_mac_at(m, i, j, 0)];
    return change ? change == UND_CHAINS_FILL : winding(l, j, x, y) > 0;
}

und_status und_chains_change(und_chains *s, const uint8_t *change, const uint8_t *label, und_error *err)
{
    links l = {.mac = &s->mac, .change = change};
    size_t count = (size_t)s->count, chains = (size_t)s->chain_count;
    double *kept = und_alloc(3 * count + 1, sizeof *kept, "chains", err);
    int32_t *first = und_alloc(chains + 1, sizeof *first, "chains", err);
    double *parts[3] = {s->place[0], s->place[1], s->spacing};
    und_status status = kept && first ? take_links(s, &l, err) : err->status;
    if (status == UND_OK) {
        for (size_t a = 0; a < 3; a++)
            memcpy(kept + a * count, parts[a], count * sizeof *kept);
        memcpy(first, s->first, (chains + 1) * sizeof *first);
        s->count = s->chain_count = 0;
        status = und_chains_add(s, holds, &l, label, 0, err);
        if (status != UND_OK) { /* as before; room never shrinks */
            double *back[3] = {s->place[0], s->place[1], s->spacing};
            for (size_t a = 0; a < 3; a++)
                memcpy(back[a], kept + a * count, count * sizeof *kept);
            memcpy(s->first, first, (chains + 1) * sizeof *first);
            s->count = (int)count;
            s->chain_count = (int)chains;
        }
    }
    free(kept);
    free(first);
    free(l.first);
    free(l.end);
    return status;
}
