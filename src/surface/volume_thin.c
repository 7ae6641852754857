/* Liquid in the air that is thinner than cells: sheets, threads and rims, and what phi shows nothing of. */
#include "surface/volume_thin.h"

#include "surface/distance_parts.h"
#include "surface/volume_parts.h"

enum { GATHERING = 3 }; /* rounds */

und_volume_thinning und_volume_thinning_of(const und_volume *v, const und_distance *d,
                                           const und_volume_walls *walls, und_volume_thin_found *found)
{
    return (und_volume_thinning){.v = und_volume_arrays_of(v),
                                 .walls = *walls,
                                 .phi = d->phi,
                                 .refresh = und_distance_refresh_of(d),
                                 .none = &found->none_loose,
                                 .none_owes = found->none_owes};
}

und_set und_volume_thin_chunks(const und_volume *v)
{
    const int chunks = v->parts->listed[UND_VOLUME_LISTED], rows = und_mac_rows(&v->mac),
              least = (chunks + rows - 1) / rows;
    und_set s =
        und_set_list(v->parts->chunk, chunks, least > UND_VOLUME_CHUNKS ? least : UND_VOLUME_CHUNKS, 1);
    s.worth = 8 * (size_t)v->parts->listed[UND_VOLUME_CELLS];
    return s;
}

/* What is taken along is of those beside; beads go on in each round, and to one that others may go to.  Debts
 * are few, and far from each other. */
static void get_beside(const und_volume *v, const und_distance *d, const und_volume_walls *walls)
{
    enum { TAKES = 2 * UND_VOLUME_TAKES, GATHERS = 2 * GATHERING, TOLD_BY = 2 };
    const int pays = 2 * (walls->room ? 2 : UND_VOLUME_PAY_FURTHEST);
    und_volume_get_cells(v, TAKES + pays + GATHERS + TOLD_BY);
    und_distance_get_phi(d, TAKES + pays + GATHERS + TOLD_BY);
}

void und_volume_thin(const und_volume *v, const und_distance *d, const und_volume_thinning *t,
                     und_pass breaks, const und_pass *leaves, int count)
{
    enum { ROUNDS = UND_VOLUME_THIN_ROUNDS, STEPS = 3 + 2 * (GATHERING + ROUNDS) + UND_VOLUME_THIN_LEAVES };
    const und_set chunks = und_volume_thin_chunks(v);
    const und_pass chosen = UND_PASS(und_volume_thin_choose, t, &chunks),
                   beads = UND_PASS(und_volume_thin_find_beads, t, &chunks),
                   gathered = UND_PASS(und_volume_thin_gather, t, &chunks),
                   lent = UND_PASS(und_volume_thin_lend, t, &chunks);
    und_volume_thin_paying paying[ROUNDS];
    und_pass asks[ROUNDS], pays[ROUNDS];
    und_step steps[STEPS];
    int n = 0;
    *t->none = t->none_owes[0] = true;
    steps[n++] = (und_step){.passes = &chosen, .count = 1};
    for (int round = 0; round < GATHERING; round++) {
        steps[n++] = (und_step){.passes = &beads, .count = 1, .unless = t->none};
        steps[n++] = (und_step){.passes = &gathered, .count = 1, .unless = t->none};
    }
    steps[n++] = (und_step){.passes = &breaks, .count = 1};
    for (int round = 0; round < ROUNDS; round++) {
        t->none_owes[round + 1] = true;
        paying[round] = (und_volume_thin_paying){*t, round};
        asks[round] = UND_PASS(und_volume_thin_ask, &paying[round], &chunks);
        pays[round] = UND_PASS(und_volume_thin_pay, &paying[round], &chunks);
        steps[n++] = (und_step){.passes = &asks[round], .count = 1, .unless = &t->none_owes[round]};
        steps[n++] = (und_step){.passes = &pays[round], .count = 1, .unless = &t->none_owes[round + 1]};
    }
    steps[n++] = (und_step){.passes = &lent, .count = 1};
    for (int i = 0; i < count; i++)
        steps[n++] = (und_step){.passes = &leaves[i], .count = 1};
    get_beside(v, d, &t->walls);
    und_pass_steps(&v->device, steps, n);
}
