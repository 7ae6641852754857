/* Liquid in the air that is thinner than cells: sheets, threads and rims, and what phi shows nothing of. */
#include "surface/distance_parts.h"
#include "surface/volume_parts.h"
#include "surface/volume_thin_kernel.h"

#include <math.h>
#include <string.h>

enum { GATHERING = 3 }; /* rounds */
enum { MOST_ALONG = 8 * UND_VOLUME_ONE };
static const float GONE = 0.5f; /* cells: phi where all has left */

typedef struct thin {
    und_volume *v;
    und_volume_breaks_fn *breaks;
    const void *context;
    und_volume_thinning args;
} thin;

/* Of those the ones that break up now; and cells that owe.  fraction[] has what is along then. */
static inline void choose_breaking(const thin *t, und_place block)
{
    const und_volume *v = t->v;
    und_volume_chunk *const first = v->parts->chunk + block.at;
    for (und_volume_chunk *k = first; k < first + block.x; k++) {
        k->gives = (uint16_t)(k->bits & und_lanes_bits(und_lanes_int_load(v->c + k->at) < 0));
        UND_VOLUME_OF_CHUNK(k, k->some, at)
        {
            int cell[3];
            und_mac_cell(&v->mac, at, cell);
            if (!(v->c[at] > 0) || !t->breaks(t->context, cell, v->parts->fraction[at]))
                continue;
            const unsigned along = und_volume_thin_find_along(&t->args, at);
            memcpy(v->parts->fraction + at, &along, sizeof along);
            k->gives |= (uint16_t)(1u << (at - (size_t)k->at));
        }
    }
}
UND_KERNEL(choose_breaking, thin, UND_EACH_BLOCK)

static void find_breaking(const thin *t)
{
    enum { STEPS = 2 + 2 * GATHERING };
    const und_set chunks = und_volume_chunks(t->v);
    const und_pass chosen = UND_PASS(und_volume_thin_choose, &t->args, &chunks),
                   beads = UND_PASS(und_volume_thin_find_beads, &t->args, &chunks),
                   gathered = UND_PASS(und_volume_thin_gather, &t->args, &chunks),
                   breaking = UND_PASS(choose_breaking, t, &chunks);
    und_step steps[STEPS];
    int count = 0;
    steps[count++] = (und_step){.passes = &chosen, .count = 1};
    for (int round = 0; round < GATHERING; round++) {
        steps[count++] = (und_step){.passes = &beads, .count = 1, .unless = t->args.none};
        steps[count++] = (und_step){.passes = &gathered, .count = 1, .unless = t->args.none};
    }
    steps[count++] = (und_step){.passes = &breaking, .count = 1};
    *t->args.none = true;
    und_pass_steps(&t->v->device, steps, count);
}

static unsigned along_of(const thin *t, size_t at)
{
    unsigned along;
    memcpy(&along, t->v->parts->fraction + at, sizeof along);
    return along;
}

static int32_t thin_around(const thin *t, size_t at)
{
    int64_t sum = 0;
    for (unsigned along = along_of(t, at); along; along &= along - 1) {
        const int32_t c = t->v->c[(ptrdiff_t)at + t->v->parts->around[__builtin_ctz(along)]];
        sum += c > 0 ? c : 0;
    }
    return (int32_t)(sum < MOST_ALONG ? sum : MOST_ALONG);
}

/* phi shows as much less of the cell, or none where all has left. */
static void take(und_volume *v, und_distance *d, size_t at, int32_t amount)
{
    int cell[3];
    v->c[at] -= amount;
    if (!(d->phi[at] < GONE))
        return;
    und_mac_cell(&v->mac, at, cell);
    d->phi[at] = v->c[at] == 0 ? GONE : fminf(d->phi[at] + und_volume_cells(amount), GONE);
    und_distance_refresh_cell(d, cell);
}

/* First of the cell itself. */
static void take_away(const thin *t, und_distance *d, size_t at, int32_t amount)
{
    und_volume *v = t->v;
    int32_t part = amount < v->c[at] ? amount : v->c[at];
    if (part > 0 || v->c[at] == 0)
        take(v, d, at, part);
    amount -= part;
    for (unsigned along = along_of(t, at); along && amount > 0; along &= along - 1) {
        const size_t next = (size_t)((ptrdiff_t)at + v->parts->around[__builtin_ctz(along)]);
        if (!(v->c[next] > 0))
            continue;
        part = amount < v->c[next] ? amount : v->c[next];
        take(v, d, next, part);
        amount -= part;
    }
}

/* What is taken along is taken of those beside, of what others have left; beads go on in each round, and to
 * one that others may go to.  Debts are few, and far from each other. */
static void get_beside(const und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    enum { TAKES = 2 * UND_VOLUME_TAKES, GATHERS = 2 * GATHERING, TOLD_BY = 2 };
    const int pays = 2 * (walls->room ? 2 : UND_VOLUME_PAY_FURTHEST);
    und_volume_get_cells(v, TAKES + pays + GATHERS + TOLD_BY);
    und_distance_get_phi(d, TAKES + pays + GATHERS + TOLD_BY);
}

void und_volume_thin(und_volume *v, und_distance *d, const und_volume_walls *walls,
                     und_volume_breaks_fn *breaks, und_volume_thin_fn *fn, void *context)
{
    bool none;
    const thin t = {v, breaks, context, {und_volume_arrays_of(v), *walls, d->phi, &none}};
    const und_volume_parts *p = v->parts;
    get_beside(v, d, walls);
    find_breaking(&t);
    for (const und_volume_chunk *k = p->chunk; k < p->chunk + p->chunk_count; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
    und_volume_pay_far(v, walls, at); /* as long as somebody is near who can */
    for (const und_volume_chunk *k = p->chunk; k < p->chunk + p->chunk_count; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
        {
            int cell[3];
            und_mac_cell(&v->mac, at, cell);
            if (v->c[at] > 0)
                take_away(&t, d, at, fn(context, cell, at, thin_around(&t, at)));
        }
}
