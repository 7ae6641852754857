/* Liquid that the level set has lost flies on as drops, falls, and is given back where it comes down. */
#include "base/hash.h"
#include "base/maths.h"
#include "base/status.h"
#include "flow/solids_parts.h"
#include "grid/field.h"
#include "grid/sample.h"
#include "liquid/levelset_state.h"
#include "spray/spray_removal.h"
#include "surface/volume_kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a drop met. */
enum { MET_FLOOR, MET_LIQUID, MET_EDGE, MET_WALL };

enum { SLIDING = 4096 }; /* drops of a block */

static const float NEAR = 0.3f;    /* cells: so near to the surface a drop is a part of it */
static const float DEEP = -0.7f;   /* cells: so deep in it even one that has just left */
static const double LONGEST = 0.5; /* s: that counts as just */

typedef struct und_levelset_spray {
    und_spray *drops;
    double volume;  /* m3 of a drop */
    float radius;   /* m */
    float floor[1]; /* m: the domain's bottom */
    /* What drops brought since: to which cells, and how much. */
    int brought_count, brought_most;
    int32_t *cell;
    float *brought;
    float *from[3]; /* where drops were, m: of so many; where cells have volumes they stay on their side of
                       solids */
    int from_count;
    int32_t *landing; /* of drops that have come down: the cell that gets them, NONE: they are left */
} und_levelset_spray;

enum { AT_BROUGHT = UND_AT_OWN, AT_DROPS };
enum { NONE = -1 };

#define FIELD(member, at) UND_FIELD(und_levelset_spray, member, at)

static const und_field fields[] = {FIELD(cell, AT_BROUGHT),  FIELD(brought, AT_BROUGHT),
                                   FIELD(from[0], AT_DROPS), FIELD(from[1], AT_DROPS),
                                   FIELD(from[2], AT_DROPS), FIELD(landing, AT_DROPS)};
enum { FIELDS = sizeof fields / sizeof *fields };

und_status und_levelset_spray_open(und_levelset *s, und_error *err)
{
    const double dx = s->def.dx;
    und_levelset_spray *p = s->spray = und_alloc(1, sizeof *p, "spray", err);
    if (!p)
        return err->status;
    und_spray_def def = und_spray_def_default();
    def.on = true;
    def.most = s->def.spray_most;
    /* each particle stands for its share of the cells that they are seeded in */
    p->volume = dx * dx * dx / (s->particles ? s->particles->def.per_cell : 1);
    p->radius = (float)und_cbrt(p->volume * 3 / (4 * 3.14159265358979323846));
    p->floor[0] = (float)s->def.origin[1];
    p->brought_most = 8 * s->def.spray_most;
    const size_t own[] = {(size_t)p->brought_most, (size_t)def.most};
    if (!(p->drops = und_spray_create(&def, -s->def.gravity[1], s->def.seed, s->device.threads, err)) ||
        und_field_open_all(p, fields, FIELDS, &(und_field_room){.own = own}, "spray", err))
        return err->status;
    return UND_OK;
}

void und_levelset_spray_close(und_levelset *s)
{
    und_levelset_spray *p = s->spray;
    if (!p)
        return;
    und_spray_destroy(p->drops);
    und_field_close_all(p, fields, FIELDS);
    free(p);
}

static void velocity_at(const und_levelset *s, const float place[3], float velocity[3])
{
    und_lanes at[3], found[3];
    for (int a = 0; a < 3; a++)
        at[a] = und_lanes_all(place[a]);
    und_sample_velocity(&s->mac, s->flow.u, at, found);
    for (int a = 0; a < 3; a++)
        velocity[a] = found[a][0];
}

void und_levelset_throw_drop(void *context, const float place[3], float radius)
{
    und_levelset *s = context;
    und_levelset_spray *p = s->spray;
    double at[3], speed[3];
    float velocity[3];
    (void)radius;                                /* of a particle that may overlap many others */
    if (!p || s->ledger.correction > -p->volume) /* no liquid is missing: the level set has it still */
        return;
    velocity_at(s, place, velocity);
    for (int a = 0; a < 3; a++) {
        at[a] = s->def.origin[a] + (double)place[a] * s->def.dx;
        speed[a] = (double)velocity[a];
    }
    if (und_spray_add(p->drops, at, speed, p->radius)) {
        s->ledger.spray_out += und_spray_volume(p->radius);
        s->ledger.correction += und_spray_volume(p->radius);
    }
}

static void cells_of(const und_levelset *s, const und_spray *drops, int i, float place[3])
{
    for (int a = 0; a < 3; a++)
        place[a] = (float)(((double)drops->place[a][i] - s->def.origin[a]) / s->def.dx);
}

/* Drops fly on where the grid does not reach, and meet nothing there but the domain's sides. */
static bool in_window(const und_levelset *s, const float place[3])
{
    const und_mac *m = &s->mac;
    for (int a = 0; a < 3; a++) {
        const int high = m->low[a] + m->n[a]; /* beyond the domain's own sides is what is beside the grid */
        if ((m->low[a] > 0 && !(place[a] >= (float)m->low[a])) ||
            (high < m->whole[a] && !(place[a] <= (float)high)))
            return false;
    }
    return true;
}

/* A drop's place, off the sides of the domain: a solid that ends there would be beside its way. */
static und_vec3 off_sides(const und_levelset *s, float *const of[3], int drop)
{
    const double off = 1e-3 * s->def.dx;
    double place[3];
    for (int a = 0; a < 3; a++) {
        const double low = s->def.origin[a] + off, high = low + s->mac.whole[a] * s->def.dx - 2 * off;
        place[a] = fmin(fmax((double)of[a][drop], low), high);
    }
    return und_vec(place[0], place[1], place[2]);
}

/* Where a drop came to a solid on its way, in cells; false: nowhere. */
static bool stop_at_solids(const und_levelset *s, int drop, float place[3])
{
    und_levelset_spray *p = s->spray;
    und_vec3 met;
    if (!s->solids.any || drop >= p->from_count ||
        !und_solids_hit(&s->solids, off_sides(s, p->from, drop), off_sides(s, p->drops->place, drop), &met))
        return false;
    const double at[3] = {met.x, met.y, met.z};
    for (int a = 0; a < 3; a++)
        place[a] = (float)((at[a] - s->def.origin[a]) / s->def.dx);
    return true;
}

static void keep_places(und_levelset *s)
{
    und_levelset_spray *p = s->spray;
    p->from_count = s->volume && s->solids.any ? p->drops->count : 0;
    for (int a = 0; a < 3 && p->from_count > 0; a++)
        memcpy(p->from[a], p->drops->place[a], (size_t)p->from_count * sizeof *p->from[a]);
}

/* Whether gravity holds on a side of the domain what comes down there. */
static bool is_floor(const und_levelset *s, int side)
{
    const double *g = s->def.gravity, along = side % 2 ? g[side / 2] : -g[side / 2];
    return along > 0 && along * along > 0.25 * (g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
}

/* Up to UND_LANES drops, where they are in cells; those beyond the last are like none. */
typedef struct some_drops {
    int first, count;
    und_lanes at[3];
    und_between between[3];
} some_drops;

static void find_drops(const und_levelset *s, const und_spray *drops, int first, int end, some_drops *d)
{
    float place[UND_LANES] = {0};
    d->first = first;
    d->count = end - first < UND_LANES ? end - first : UND_LANES;
    for (int a = 0; a < 3; a++) {
        for (int i = 0; i < d->count; i++)
            place[i] = (float)(((double)drops->place[a][first + i] - s->def.origin[a]) / s->def.dx);
        d->at[a] = und_lanes_load(place);
        d->between[a] = und_between_middles(&s->mac, a, d->at[a]);
    }
}

/* Drops are anywhere: what is read around them is asked for while those before are looked at. */
static void fetch_around(const und_levelset *s, const some_drops *d)
{
    const und_mac *m = &s->mac;
    const und_lanes_int index = d->between[0].low + d->between[1].low + d->between[2].low + (int32_t)m->first;
    for (int i = 0; i < d->count; i++)
        for (int k = 0; k < 4; k++)
            __builtin_prefetch(s->surface.phi + index[i] + k % 2 * m->step[1] + k / 2 * m->step[2]);
}

/* Where cells have volumes drops land on solids and floors too, as films; along other sides they slide. */
static und_lanes_int meet_walls(const und_levelset *s, const some_drops *d)
{
    und_lanes wall = und_lanes_all(1);
    if (s->solids.any)
        und_sample_cells(&s->mac, s->solids.distance, d->at, &wall, NULL);
    und_lanes_int down = wall < 0;
    for (int a = 0; a < (s->mac.n[2] > 1 ? 3 : 2); a++) {
        if (is_floor(s, 2 * a))
            down |= d->at[a] < 0;
        if (is_floor(s, 2 * a + 1))
            down |= d->at[a] > (float)s->mac.whole[a];
    }
    return down;
}

/* Those that are in the window, and that are beyond open sides. */
static void find_inside(const und_levelset *s, const some_drops *d, und_lanes_int *known, und_lanes_int *edge)
{
    const und_mac *m = &s->mac;
    *edge = (und_lanes_int){0};
    *known = ~*edge;
    for (int a = 0; a < 3; a++) {
        const int high = m->low[a] + m->n[a]; /* beyond the domain's own sides is what is beside the grid */
        if (s->def.open[2 * a])
            *edge |= d->at[a] < 0;
        if (s->def.open[2 * a + 1])
            *edge |= d->at[a] > (float)m->whole[a];
        if (m->low[a] > 0)
            *known &= d->at[a] >= (float)m->low[a];
        if (high < m->whole[a])
            *known &= d->at[a] <= (float)high;
    }
}

/* Those that the grid has something around: elsewhere there is air. */
static und_lanes_int are_near(const und_levelset *s, const some_drops *d)
{
    const und_mac *m = &s->mac;
    unsigned near = UND_LANES_ALL;
    for (int i = 0; i < d->count && m->present; i++) {
        int cell[3];
        for (int a = 0; a < 3; a++) {
            const float place = floorf(d->at[a][i] - 0.5f) - (float)m->low[a], most = (float)m->n[a];
            cell[a] = (int)fminf(fmaxf(place, -1), most);
        }
        if (!und_mac_has(m, cell[0], cell[1], cell[2]))
            near &= ~(1u << i);
    }
    return und_lanes_where(near);
}

static void meet_some(const und_levelset *s, const und_spray *drops, const some_drops *d, uint8_t *met)
{
    const double young = s->volume ? fmin(und_levelset_breakup_time(s), LONGEST) : 0;
    const unsigned all = und_volume_row_bits((size_t)d->count);
    float near[UND_LANES] = {0};
    und_lanes_int known, edge, wall = {0};
    find_inside(s, d, &known, &edge);
    const und_lanes phi =
        und_lanes_select(are_near(s, d), und_sample_between(&s->mac, s->surface.phi, d->between, NULL),
                         und_lanes_all((float)s->layers));
    for (int i = 0; i < d->count && s->volume; i++)
        near[i] = (double)drops->age[d->first + i] < young ? DEEP : NEAR;
    const und_lanes_int liquid = ~edge & known & (phi < und_lanes_load(near));
    if (s->volume)
        wall = ~edge & ~liquid & known & meet_walls(s, d);
    und_lanes_bytes_store_some(met, (edge & MET_EDGE) | (liquid & MET_LIQUID) | (wall & MET_WALL), all);
    for (unsigned bits = s->volume && s->solids.any ? und_lanes_bits(known) & all : 0; bits; bits &= bits - 1)
        if (stop_at_solids(s, d->first + __builtin_ctz(bits), (float[3]){0}))
            met[__builtin_ctz(bits)] = MET_WALL;
}

static void meet(void *context, const und_spray *drops, int first, int count, uint8_t *met)
{
    const und_levelset *s = context;
    some_drops now, next;
    find_drops(s, drops, first, first + count, &next);
    for (int i = 0; i < count; i += UND_LANES) {
        now = next;
        if (i + UND_LANES < count) {
            find_drops(s, drops, first + i + UND_LANES, first + count, &next);
            fetch_around(s, &next);
        }
        meet_some(s, drops, &now, met + i);
    }
}

/* Its volume goes to the cells of liquid around it; what is left where there are none waits for all. */
static void give_back(und_levelset *s, const float place[3], double volume)
{
    und_levelset_spray *p = s->spray;
    size_t at[8];
    int count = 0;
    for (int k = 0; k < 8; k++) {
        int cell[3];
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            cell[a] = (int)floorf(place[a] - 0.5f) + (k >> a & 1) - s->mac.low[a];
            inside = inside && cell[a] >= 0 && cell[a] < s->mac.n[a];
        }
        inside = inside && und_mac_has(&s->mac, cell[0], cell[1], cell[2]);
        size_t i = inside ? und_mac_at(&s->mac, cell[0], cell[1], cell[2]) : 0;
        if (inside && s->surface.phi[i] < 0)
            at[count++] = i;
    }
    if (count == 0 || p->brought_count + count > p->brought_most) {
        s->pending += volume;
        return;
    }
    const double dx3 = s->def.dx * s->def.dx * s->def.dx;
    for (int k = 0; k < count; k++) {
        p->cell[p->brought_count] = (int32_t)at[k];
        p->brought[p->brought_count++] = (float)(volume / (count * dx3));
    }
}

/* A drop that has left goes on in the grid that begins there. */
static void pass_on(und_levelset *s, int drop, const float place[3], double volume)
{
    const double amount = volume / (s->def.dx * s->def.dx * s->def.dx) * UND_VOLUME_ONE;
    float speed[3];
    for (int a = 0; a < 3; a++)
        speed[a] = s->spray->drops->speed[a][drop];
    if (s->volume && s->bands)
        und_levelset_bands_drop_left(s, place, speed, floor(amount + 0.5));
}

/* Whether a drop leaves the domain, by what it met. */
static bool leaves(const und_levelset *s, int met, const float place[3])
{
    return met == MET_EDGE || (met == MET_FLOOR && (s->def.open[2] || !in_window(s, place)));
}

/* Where cells have volumes: which of them get drops that have come down. */
static void find_landings(void *context, const und_spray *drops, const int32_t *drop, const uint8_t *by,
                          int count)
{
    const und_levelset *s = context;
    const und_volume_walls walls = und_levelset_walls(s);
    for (int k = 0; k < count; k++) {
        float place[3];
        cells_of(s, drops, drop[k], place);
        const bool left = leaves(s, by[k], place);
        stop_at_solids(s, drop[k], place);
        s->spray->landing[drop[k]] = left ? NONE : und_levelset_volume_landing(s, &walls, place);
    }
}

static void land_in_cell(und_levelset *s, int drop, double volume, bool last)
{
    const int32_t at = s->spray->landing[drop];
    volume = und_levelset_volume_land(s, at, volume, last);
    und_ledger_add(&s->ledger.spray_back, &s->lost[3], volume);
    if (at != NONE)
        return;
    float place[3];
    cells_of(s, s->spray->drops, drop, place);
    stop_at_solids(s, drop, place);
    und_ledger_add(&s->ledger.left, &s->lost[2], volume);
    pass_on(s, drop, place, volume);
}

static void land_in_liquid(und_levelset *s, int drop, int met, double volume)
{
    float place[3];
    cells_of(s, s->spray->drops, drop, place);
    und_ledger_add(&s->ledger.spray_back, &s->lost[3], volume);
    if (!leaves(s, met, place)) {
        give_back(s, place, volume);
        return;
    }
    und_ledger_add(&s->ledger.left, &s->lost[2], volume);
    pass_on(s, drop, place, volume);
}

static void land(und_levelset *s)
{
    enum { AHEAD = 16 }; /* drops whose cells are fetched: these are anywhere */
    und_spray *drops = s->spray->drops;
    for (int k = 0; k < drops->landed_count; k++) {
        const int i = drops->landed[k];
        const double volume = und_spray_give_back(drops, i);
        if (s->volume && k + AHEAD < drops->landed_count)
            und_levelset_volume_fetch(s, s->spray->landing[drops->landed[k + AHEAD]]);
        if (s->volume)
            land_in_cell(s, i, volume, k + 1 == drops->count);
        else
            land_in_liquid(s, i, drops->landed_by[k], volume);
    }
}

/* Gravity that is aslant; along y it is the drops' own. */
static void pull_aside(und_levelset *s)
{
    und_spray *drops = s->spray->drops;
    for (int a = 0; a < (s->mac.n[2] > 1 ? 3 : 1); a += 2) {
        float kick = (float)(s->def.gravity[a] * s->dt);
        for (int i = 0; i < drops->count && kick != 0; i++)
            drops->speed[a][i] += kick;
    }
}

/* How far it is to the nearest solid, in cells, and the unit vector away from it. */
static float solid_at(const und_levelset *s, const float place[3], float normal[3])
{
    und_lanes at[3], distance, slope[3];
    for (int a = 0; a < 3; a++)
        at[a] = und_lanes_all(place[a]);
    und_sample_slopes(&s->mac, s->solids.distance, at, 0.25f, &distance, slope);
    for (int a = 0; a < 3; a++)
        normal[a] = slope[a][0];
    const float length = sqrtf(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    for (int a = 0; a < 3; a++)
        normal[a] /= length > 0 ? length : 1;
    return distance[0];
}

static void slide_one(const und_levelset *s, und_spray *drops, int i)
{
    float place[3], normal[3];
    cells_of(s, drops, i, place);
    for (int a = 0; a < 3; a++) {
        bool low = place[a]<0, high = place[a]>(float) s->mac.whole[a];
        if (!low && !high)
            continue;
        drops->place[a][i] = (float)(s->def.origin[a] + (high ? s->mac.whole[a] * s->def.dx : 0));
        drops->speed[a][i] = 0;
    }
    float depth = s->solids.any && in_window(s, place) ? solid_at(s, place, normal) : 1;
    if (depth >= 0)
        return;
    float into = 0;
    for (int a = 0; a < 3; a++)
        into += drops->speed[a][i] * normal[a];
    for (int a = 0; a < 3; a++) {
        drops->place[a][i] -= depth * normal[a] * (float)s->def.dx;
        drops->speed[a][i] -= into < 0 ? into * normal[a] : 0;
    }
}

/* Drops slide along closed sides and solids: those of a block. */
static inline void slide(const und_levelset *s, und_place block)
{
    und_spray *drops = s->spray->drops;
    const int end = (int)block.at + block.x;
    for (int first = (int)block.at; first < end; first += UND_LANES) {
        some_drops d;
        find_drops(s, drops, first, end, &d);
        und_lanes_int out = {0};
        for (int a = 0; a < 3; a++)
            out |= (d.at[a] < 0) | (d.at[a] > (float)s->mac.whole[a]);
        for (unsigned bits =
                 (s->solids.any ? UND_LANES_ALL : und_lanes_bits(out)) & und_volume_row_bits((size_t)d.count);
             bits; bits &= bits - 1)
            slide_one(s, drops, first + __builtin_ctz(bits));
    }
}
UND_KERNEL(slide, und_levelset, UND_EACH_BLOCK)

void und_levelset_spray_step(und_levelset *s)
{
    und_levelset_spray *p = s->spray;
    if (!p)
        return;
    if (p->drops->count > 0) {
        const und_spray_floor floor = {.nx = 1,
                                       .nz = 1,
                                       .stride = 1,
                                       .dx = s->mac.whole[0] * s->def.dx,
                                       .dz = s->mac.whole[2] * s->def.dx,
                                       .origin = {s->def.origin[0], s->def.origin[2]},
                                       .height = p->floor,
                                       .ground = p->floor,
                                       .outside = s->def.origin[1],
                                       .meet = meet,
                                       .down = s->volume ? find_landings : NULL,
                                       .context = s};
        pull_aside(s);
        keep_places(s);
        und_spray_step(p->drops, s->time, s->dt, &floor);
        land(s);
        und_spray_removal removal;
        const und_step removes = und_spray_remove_step(p->drops, &removal);
        und_set flying = und_set_list(p->drops->place[0], p->drops->count, SLIDING, 1);
        flying.worth /= 2; /* fewer than as many take less than threads to begin */
        const und_pass slides = UND_PASS(slide, s, &flying);
        const und_step steps[] = {removes, {.passes = &slides, .count = 1}};
        und_pass_steps(&s->device, steps, 2);
    }
}

/* Cells that a drop may be in, or touch, until the end of the substep ahead: along an axis. */
static void way_along(const und_levelset *s, int drop, int a, int *low, int *high)
{
    enum { AROUND = 4 };
    const und_spray *drops = s->spray->drops;
    const float place = (float)(((double)drops->place[a][drop] - s->def.origin[a]) / s->def.dx);
    const double more = fabs(s->def.gravity[a]) * s->dt,
                 far = s->dt * (fabs((double)drops->speed[a][drop]) + more) / s->def.dx + AROUND;
    const double most = s->mac.whole[a], from = floor((double)place - far), to = ceil((double)place + far);
    *low = (int)fmin(fmax(from, 0), most);
    *high = (int)fmin(fmax(to, 0), most);
}

/* Whether it comes to one of the sides that hold it. */
static bool comes_down(const und_levelset *s, int drop, const bool floors[UND_SIDES])
{
    bool down = false;
    for (int a = 0; a < 3 && !down; a++) {
        int low, high;
        if (!floors[2 * a] && !floors[2 * a + 1])
            continue;
        way_along(s, drop, a, &low, &high);
        down = (floors[2 * a] && low == 0) || (floors[2 * a + 1] && high == s->mac.whole[a]);
    }
    return down;
}

typedef struct reach {
    bool any;
    int low[3], high[3];
} reach;

static void add_reach(reach *all, const int low[3], const int high[3])
{
    for (int a = 0; a < 3; a++) {
        all->low[a] = all->any && all->low[a] < low[a] ? all->low[a] : low[a];
        all->high[a] = all->any && all->high[a] > high[a] ? all->high[a] : high[a];
    }
    all->any = true;
}

/* Of some drops. */
static reach reach_of(const und_levelset *s, int first, int end, int count, const int (*low)[3],
                      const int (*high)[3])
{
    bool floors[UND_SIDES];
    reach all = {0};
    for (int side = 0; side < UND_SIDES; side++)
        floors[side] = !s->def.open[side] && (is_floor(s, side) || side == 2);
    for (int i = first; i < end; i++) {
        int from[3], to[3];
        bool down = comes_down(s, i, floors);
        if (!down && count == 0)
            continue;
        for (int a = 0; a < 3; a++)
            way_along(s, i, a, &from[a], &to[a]);
        for (int k = 0; k < count && !down; k++)
            down = from[0] < high[k][0] && to[0] > low[k][0] && from[1] < high[k][1] && to[1] > low[k][1] &&
                   from[2] < high[k][2] && to[2] > low[k][2];
        if (down)
            add_reach(&all, from, to);
    }
    return all;
}

enum { REACHES = 64 }; /* shares of the drops */

typedef struct reaching {
    const und_levelset *s;
    int count;
    const int (*low)[3], (*high)[3];
    reach *of;
} reaching;

static inline void find_reach(const reaching *r, und_place share)
{
    const int64_t drops = r->s->spray->drops->count;
    for (int i = (int)share.at; i < (int)share.at + share.x; i++)
        r->of[i] = reach_of(r->s, (int)(drops * i / REACHES), (int)(drops * (i + 1) / REACHES), r->count,
                            r->low, r->high);
}
UND_KERNEL(find_reach, reaching, UND_EACH_BLOCK)

bool und_levelset_spray_reach(const und_levelset *s, int count, const int (*low)[3], const int (*high)[3],
                              int reach_low[3], int reach_high[3])
{
    const int drops = s->spray ? s->spray->drops->count : 0;
    reach of[REACHES] = {0}, all = {0};
    const reaching args = {s, count, low, high, of};
    const und_set shares = und_set_list(s, REACHES, 1, drops / (8 * REACHES) + 1);
    if (drops > 0)
        und_pass(&s->device, find_reach, &args, &shares);
    for (int i = 0; i < REACHES; i++)
        if (of[i].any)
            add_reach(&all, of[i].low, of[i].high);
    for (int a = 0; a < 3 && all.any; a++) {
        reach_low[a] = all.low[a];
        reach_high[a] = all.high[a];
    }
    return all.any;
}

bool und_levelset_spray_grows(const und_levelset *s)
{
    return s->spray && s->spray->brought_count > 0;
}

void und_levelset_spray_grow(und_levelset *s, float *grown)
{
    und_levelset_spray *p = s->spray;
    for (int i = 0; p && i < p->brought_count; i++)
        grown[p->cell[i]] += p->brought[i];
    if (p)
        p->brought_count = 0;
}

/* A cell's place in the whole grid. */
static void place_of(const und_mac *m, int32_t cell, int at[3])
{
    und_mac_cell(m, (size_t)cell, at);
    for (int a = 0; a < 3; a++)
        at[a] += m->low[a];
}

/* The cell that another window's is, or -1. */
static int32_t same_cell(const und_mac *from, const und_mac *to, int32_t cell)
{
    int there[3];
    place_of(from, cell, there);
    for (int a = 0; a < 3; a++) {
        there[a] -= to->low[a];
        if (there[a] < 0 || there[a] >= to->n[a])
            return -1;
    }
    return (int32_t)und_mac_at(to, there[0], there[1], there[2]);
}

void und_levelset_spray_window(und_levelset *s, const und_mac *before, bool carried)
{
    und_levelset_spray *p = s->spray;
    int kept = 0;
    for (int i = 0; i < p->brought_count && carried; i++) {
        int32_t cell = same_cell(before, &s->mac, p->cell[i]);
        double volume = (double)p->brought[i] * s->def.dx * s->def.dx * s->def.dx;
        if (cell < 0) {
            und_ledger_add(&s->ledger.left, &s->lost[2], volume);
            continue;
        }
        p->cell[kept] = cell;
        p->brought[kept++] = p->brought[i];
    }
    p->brought_count = kept;
}

int und_levelset_spray_state(und_levelset *s, und_state_field *list)
{
    und_levelset_spray *p = s->spray;
    const size_t most = (size_t)p->brought_most;
    list[0] = (und_state_field){"spray_cell", UND_I32, p->cell, 0, &p->brought_count, 1, most, true};
    list[1] = (und_state_field){"spray_brought", UND_F32, p->brought, 0, &p->brought_count, 1, most, true};
    return 2;
}

uint64_t und_levelset_spray_hash(und_levelset *s)
{
    const und_levelset_spray *p = s->spray;
    uint64_t hash = und_hash_piece(&p->brought_count, sizeof p->brought_count, 0);
    for (int i = 0; i < p->brought_count; i++) {
        int at[3];
        place_of(&s->mac, p->cell[i], at);
        hash = und_hash_piece(at, sizeof at, hash);
        hash = und_hash_piece(&p->brought[i], sizeof p->brought[i], hash);
    }
    return hash;
}

und_status und_levelset_spray_restored(const und_levelset *s, und_error *err)
{
    const und_levelset_spray *p = s->spray;
    for (int i = 0; i < p->brought_count; i++)
        if (p->cell[i] < 0 || (size_t)p->cell[i] >= s->mac.count || !isfinite(p->brought[i]))
            return und_error_set(err, UND_FAILED, "the checkpoint is damaged: spray in a cell that is none");
    return UND_OK;
}

und_spray *und_levelset_drops(const und_levelset *s)
{
    return s->spray ? s->spray->drops : NULL;
}
