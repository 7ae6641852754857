/* Drops take what they have from cells, and give it back where they land, in whole parts. */
#include "flow/solids_parts.h"
#include "liquid/levelset_drops_kernel.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <math.h>

/* A drop is of who has the slice that it sets out in: to others who find it too it has gone as well. */
int32_t und_levelset_volume_throw(und_levelset *s, const double place[3], const double speed[3], double units)
{
    double parts;
    const float radius = und_drop_radius(und_levelset_quantum(s), units, &parts);
    const double slice = floor((place[2] - s->def.origin[2]) / s->def.dx);
    if (s->mac.whole[2] > 1 && !und_halo_owns(s->device.halo, (int)fmin(fmax(slice, -1), s->mac.whole[2])))
        return (int32_t)parts;
    if (!und_spray_add(und_levelset_drops(s), place, speed, radius))
        return 0;
    s->ledger.spray_out += parts * und_levelset_quantum(s);
    und_levelset_volume_numbers(s)[UND_LEVELSET_FLYING] += parts;
    return (int32_t)parts;
}

/* The cell that a place is in, or, where that is solid or may be on the other side of a thin wall, the
 * nearest that it sees; else the one beside it with most room. */
static size_t landing(const und_levelset *s, const und_volume_walls *walls, const float place[3])
{
    const float enough = 0.05f;
    int cell[3];
    for (int a = 0; a < 3; a++) {
        const int at = (int)floorf(place[a]) - s->mac.low[a];
        cell[a] = at < 0 ? 0 : at < s->mac.n[a] ? at : s->mac.n[a] - 1;
    }
    const size_t at = und_mac_at(&s->mac, cell[0], cell[1], cell[2]);
    size_t best = at;
    if (!walls->room || (walls->room[at] >= enough && !walls->beside_thin[at]))
        return at;
    const und_vec3 there = und_vec(s->def.origin[0] + (double)place[0] * s->def.dx,
                                   s->def.origin[1] + (double)place[1] * s->def.dx,
                                   s->def.origin[2] + (double)place[2] * s->def.dx);
    if (und_solids_find_side(&s->solids, there, walls->room, enough, und_levelset_volumes(s)->parts->own,
                             &best))
        return best;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + und_volume_step(&s->mac, k));
        if (und_levelset_volumes(s)->parts->own[next] && walls->room[next] > walls->room[best])
            best = next;
    }
    return best;
}

int32_t und_levelset_volume_landing(const und_levelset *s, const und_volume_walls *walls,
                                    const float place[3])
{
    const size_t at = landing(s, walls, place);
    return und_levelset_volumes(s)->parts->own[at] ? (int32_t)at : -1;
}

void und_levelset_volume_fetch(const und_levelset *s, int32_t at)
{
    __builtin_prefetch(und_levelset_volumes(s)->c + (at < 0 ? 0 : at), 1);
    __builtin_prefetch(und_levelset_volumes(s)->parts->own + (at < 0 ? 0 : at));
}

/* In a cell, or where that is crowded, its neighbours; what there is no room for at all. */
static double put_down(const und_volume *v, size_t at, double units)
{
    for (int k = -1; k < UND_VOLUME_AROUND && units > 0; k++) {
        const size_t next = k < 0 ? at : (size_t)((ptrdiff_t)at + v->parts->around[k]);
        const double most = (double)UND_VOLUME_MOST * UND_VOLUME_ONE, part = fmin(units, most);
        if (!v->parts->own[next] || und_volume_crowded(v->c[next]))
            continue;
        v->c[next] += (int32_t)part;
        units -= part;
    }
    return units;
}

/* Whole numbers go back; what they are off is in the last drop's. */
double und_levelset_volume_land(und_levelset *s, int32_t at, double volume, bool last)
{
    double *flying = &und_levelset_volume_numbers(s)[UND_LEVELSET_FLYING];
    double units = last ? *flying : fmin(und_drop_parts(und_levelset_quantum(s), volume), *flying);
    if (at >= 0)
        units -= put_down(und_levelset_volumes(s), (size_t)at, units);
    *flying -= units;
    return units * und_levelset_quantum(s);
}
