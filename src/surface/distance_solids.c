/* The liquid's distance goes on into solids. */
#include "surface/distance_parts.h"
#include "surface/distance_solids_kernel.h"

#include <math.h>
#include <string.h>

static const und_distance_reach FIRST = {1, 1, 0, INFINITY, 0.1f}, ANEW = {1, 1, 0, 0.98f, -INFINITY},
                                KNOWN = {0.1f, 2.5f, 0.02f, INFINITY, 0.1f};
static void into_solids(und_distance *d, const float *wall, const und_mask *kept, und_distance_reach from)
{
    enum { PASSES = 3 }; /* the later ones have good values where the first met such as are in the solid */
    if (!wall)
        return;
    const int far = PASSES * (d->width + 4); /* out of the deepest, and between two places */
    und_distance_get(d, far);
    if (kept) {
        const und_halo_field others = und_halo_of_mask(&d->mac, kept, far);
        und_halo_get(d->device.halo, &others, 1);
    }
    und_into_args args = {.mac = d->mac,
                          .phi = d->phi,
                          .next = d->next,
                          .wall = wall,
                          .from = from,
                          .taken = d->parts->taken,
                          .width = (float)d->width,
                          .keeps_thin = d->keeps_thin};
    const und_set band = und_set_cells(&d->mac, UND_ROWS_INSIDE, &d->band);
    if (kept)
        args.kept = *kept;
    memset(args.taken, 0, (size_t)und_mac_rows(&d->mac));
    for (int i = 0; i < PASSES; i++) {
        und_pass(&d->device, und_into_cells, &args, &band);
        und_pass(&d->device, und_into_take_cells, &args, &band);
    }
    und_distance_refresh_rows(d, args.taken);
}

void und_distance_into_solids(und_distance *d, const float *wall)
{
    into_solids(d, wall, NULL, FIRST);
}

void und_distance_into_solids_but(und_distance *d, const float *wall, const und_mask *kept, bool known)
{
    into_solids(d, wall, kept, known ? KNOWN : ANEW);
}
