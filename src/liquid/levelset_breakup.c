/* Liquid in the air that gets thinner than a cell, and what crests throw off (levelset_crest.c), breaks up
 * into drops, of a size that the flow makes, not the grid. */
#include "flow/mac_flow_parts.h"
#include "liquid/levelset_breakup_kernel.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"
#include "surface/volume_thin.h"

#include <math.h>

double und_levelset_pull(const und_levelset *s)
{
    const double *g = s->def.gravity;
    return sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

/* s: in which what is a cell thick falls as far.  Thin liquid breaks up in about this time, and for as long
 * drops fly through what they came from. */
double und_levelset_breakup_time(const und_levelset *s)
{
    const double pull = und_levelset_pull(s);
    return pull > 0 ? sqrt(s->def.dx / pull) : INFINITY;
}

/* Whether drops are where a float knows how they move. */
static bool is_near(const und_levelset *s)
{
    double furthest = 0;
    for (int a = 0; a < 3; a++) {
        const double low = s->def.origin[a] - s->def.dx, high = low + (s->mac.whole[a] + 2) * s->def.dx;
        furthest = fmax(furthest, fmax(fabs(low), fabs(high)));
    }
    return furthest < UND_SPRAY_FARTHEST;
}

und_dropped *und_levelset_dropped(const und_volume *v)
{
    und_dropped *dropped = (und_dropped *)(void *)(v->parts->told + UND_VOLUME_TOLD / 2);
    *dropped = (und_dropped){0};
    return dropped;
}

und_dropping und_levelset_dropping(const und_levelset *s, int blocks, und_dropped *dropped)
{
    const und_spray *drops = und_levelset_drops(s);
    const und_volume_parts *parts = und_levelset_volumes(s)->parts;
    const und_halo *halo = s->device.halo;
    und_dropping d = {.mac = s->mac,
                      .distance = s->solids.any ? s->solids.distance : NULL,
                      .beside_thin = s->solids.beside_thin,
                      .dx = s->def.dx,
                      .pull = und_levelset_pull(s),
                      .tension = UND_LEVELSET_TENSION / s->def.density,
                      .quantum = und_levelset_quantum(s),
                      .seed = s->def.seed,
                      .step = und_random_mix((uint64_t)s->substeps),
                      .own = {halo ? halo->own[0] : 0, halo ? halo->own[1] : s->mac.whole[2]},
                      .radius = drops->radius,
                      .age = drops->age,
                      .id = drops->id,
                      .born = drops->born,
                      .count = drops->count,
                      .most = is_near(s) ? drops->capacity - drops->count : 0,
                      .before = parts->block_count,
                      .parts = parts->row_sum,
                      .blocks = blocks,
                      .all = dropped};
    for (int a = 0; a < 3; a++) {
        d.u[a] = s->flow.u[a];
        d.origin[a] = s->def.origin[a];
        d.place[a] = drops->place[a];
        d.speed[a] = drops->speed[a];
    }
    return d;
}

void und_levelset_book_drops(und_levelset *s, const und_dropped *dropped)
{
    und_spray *drops = und_levelset_drops(s);
    drops->count += dropped->count;
    drops->born += dropped->count;
    s->ledger.spray_out += (double)dropped->parts * und_levelset_quantum(s);
    und_levelset_volume_numbers(s)[UND_LEVELSET_FLYING] += (double)dropped->parts;
}

void und_levelset_break_up(und_levelset *s, const und_volume_walls *walls)
{
    const und_volume *v = und_levelset_volumes(s);
    const und_set chunks = und_volume_thin_chunks(v), once = und_set_list(s, 1, 1, 1);
    und_volume_thin_found *found = (und_volume_thin_found *)(void *)v->parts->told;
    und_dropped *const dropped = und_levelset_dropped(v);
    const double time = und_levelset_breakup_time(s);
    const und_breakup b = {.t = und_volume_thinning_of(v, &s->surface, walls, found),
                           .d = und_levelset_dropping(s, chunks.blocks, dropped),
                           .rate = s->def.spray ? s->dt / time : 0};
    const und_pass leaves[UND_VOLUME_THIN_LEAVES] = {
        UND_PASS(und_breakup_count, &b, &chunks), UND_PASS(und_drop_number, &b.d, &once),
        UND_PASS(und_breakup_throw, &b, &chunks), UND_PASS(und_drop_add_up, &b.d, &once)};
    und_mac_flow_get(&s->flow, UND_GET_U,
                     2 * UND_VOLUME_TAKES + 1); /* how large drops are, and where they go */
    und_volume_thin(v, &s->surface, &b.t, UND_PASS(und_breakup_choose, &b, &chunks), leaves,
                    UND_VOLUME_THIN_LEAVES);
    und_levelset_book_drops(s, dropped);
}
