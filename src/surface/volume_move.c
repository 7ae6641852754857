/* What cells hold goes along with the flow: over faces, one axis after the other, in as many parts as it
 * takes for none to cross more than a cell.
 *
 * Weymouth & Yue 2010: between the axes a cell of the liquid is not full, since the flow keeps its volume in
 * all axes together only; what it lacks is lent to it, and taken back after the last.  So whatever the flow
 * is, all that a cell loses another gets. */
#include "surface/volume_parts.h"

#include <math.h>
#include <string.h>

enum { AHEAD = 4 };                 /* chunks: so early memory is asked for what is read next */
static const float FURTHEST = 0.9f; /* cells that are crossed in a part */
static const float FULL = 1 - 1e-4f, MIST = 1e-5f; /* of a cell's room: what a plane has no say in */
static const float TRACE = 0.005f;                 /* of a contact line's thickness: is left of a film */
static const float LEAST_ROOM = 0.05f;             /* cells with less say nothing about the surface */
static const float RISEN = 1.6f;                   /* cells: phi beside liquid that is no distance to it */

typedef struct move {
    const und_volume *v;
    const und_distance *d;
    const und_volume_walls *walls;
    const und_volume_flow *flow;
    float whole, reach; /* cells at 1 m/s; cells at most */
    float per;          /* as whole, of a part */
    float stays;        /* cells: a layer on walls that does not come along */
    int axes, parts;
    bool fresh; /* in the first part phi still is where what cells hold is */
} move;

/* ---- Which cells ---- */

static float fastest_at(const move *m, size_t at)
{
    float most = 0;
    for (int a = 0; a < m->axes; a++) {
        const float *u = m->flow->u[a] + at, high = fabsf(u[0]), low = fabsf(u[-m->v->mac.step[a]]);
        most = high > most ? high : most;
        most = low > most ? low : most;
    }
    return most * m->whole;
}

/* Of UND_LANES cells from x on in a row: bits of those at open sides. */
static unsigned beside_open(const move *m, int x, int y, int z)
{
    const int *n = m->v->mac.n, at[3] = {x, y, z};
    const bool *closed = m->walls->closed;
    for (int a = 1; a < m->axes; a++)
        if ((at[a] == 0 && !closed[2 * a]) || (at[a] == n[a] - 1 && !closed[2 * a + 1]))
            return UND_LANES_ALL;
    const unsigned low = x == 0 && !closed[0] ? 1 : 0;
    return n[0] - 1 - x < UND_LANES && !closed[1] ? low | 1u << (n[0] - 1 - x) : low;
}

UND_INLINE und_lanes fastest_of(const move *m, size_t at)
{
    und_lanes most = {0};
    for (int a = 0; a < m->axes; a++) {
        const und_lanes high = und_lanes_load(m->flow->u[a] + at);
        const und_lanes low = und_lanes_load(m->flow->u[a] + at - m->v->mac.step[a]);
        most = und_lanes_max(und_lanes_max(high, -high), most);
        most = und_lanes_max(und_lanes_max(low, -low), most);
    }
    return most * m->whole;
}

/* Whether the cells beside some have what the flow may ask for: where liquid leaves by an open side, and none
 * comes in, or solids draw back, they may be empty though phi is still below 0. */
UND_INLINE und_lanes_int among_full(const move *m, size_t at)
{
    const int32_t *c = m->v->c + at, least = UND_VOLUME_ONE / 2;
    und_lanes_int empty = {0};
    for (int a = 0; a < m->axes; a++) {
        const ptrdiff_t step = m->v->mac.step[a];
        const float *open = m->walls->open[a] + at;
        const und_lanes_int high = und_lanes_int_load(c + step) < least;
        const und_lanes_int low = und_lanes_int_load(c - step) < least;
        if (und_lanes_bits(high | low))
            empty |= (high & (und_lanes_load(open) > 0)) | (low & (und_lanes_load(open - step) > 0));
    }
    return ~empty;
}

/* Inside of the liquid, further than the surface comes, cells are full. */
UND_INLINE und_lanes_int kinds_at(const move *m, size_t at, unsigned open)
{
    const und_lanes phi = und_lanes_load(m->d->phi + at), room = und_volume_rooms(m->walls, at);
    const und_lanes_int c = und_lanes_int_load(m->v->c + at), dry = (und_lanes_int){0} + UND_VOLUME_DRY;
    const und_lanes off = und_volumes_cells(c) - 1;
    const und_lanes_int empty = (c == 0) & ((phi > m->reach + 0.6f) | ~(room > 0));
    und_lanes_int full = (off < 0.05f) & (off > -0.05f) & (room == 1) & ~und_lanes_where(open);
    if (und_lanes_bits(full & (phi < -1)))
        full &= among_full(m, at);
    const und_lanes_int deep = (phi < -(m->reach + 1)) & full; /* however fast */
    und_lanes_int kind = und_lanes_int_select(empty, dry, dry + UND_VOLUME_DEEP);
    if (und_lanes_bits(empty | deep) == UND_LANES_ALL)
        return kind;
    const und_lanes own = 1.3f * fastest_of(m, at), most = und_lanes_all(m->reach);
    const und_lanes reach = und_lanes_select(own < most, own, most);
    const und_lanes_int active = (phi < reach + 0.6f) | (c != 0);
    const und_lanes_int near = und_lanes_int_select(active, dry + UND_VOLUME_ACTIVE, dry);
    return und_lanes_int_select(empty | deep | ((phi < -(reach + 1)) & full), kind, near);
}

static void set_kinds_of_row(const move *m, int row)
{
    const und_mac *mac = &m->v->mac;
    const int y = row % mac->n[1], z = row / mac->n[1];
    const uint8_t *own = m->v->parts->own + und_mac_row(mac, row);
    uint8_t *kind = m->v->parts->kind + und_mac_row(mac, row);
    for (int x = 0; x < mac->n[0]; x += UND_LANES) {
        const und_lanes_int others = (und_lanes_int){0} + UND_VOLUME_OTHERS;
        const und_lanes_int here = und_lanes_int_select(
            und_lanes_bytes(own + x) != 0,
            kinds_at(m, und_mac_row(mac, row) + (size_t)x, beside_open(m, x, y, z)), others);
        und_lanes_bytes_store_some(kind + x, here, und_volume_row_bits((size_t)(mac->n[0] - x)));
    }
    for (int begin, end = -1; m->flow->held && und_mask_stretch(m->flow->held, y, z, end, &begin, &end);)
        for (int x = begin; x < end; x++)
            if (own[x])
                kind[x] = UND_VOLUME_HELD;
}

static void set_kinds(const move *m)
{
    const und_mac *mac = &m->v->mac;
    uint8_t *kind = m->v->parts->kind;
    PARALLEL_FOR(und_workers(m->v->threads, mac->count, 1 << 15))
    for (int row = 0; row < und_mac_rows(mac); row++)
        set_kinds_of_row(m, row);
    for (int i = 0; i < m->flow->inflow_count; i++)
        if (kind[m->flow->inflow[i].into] != UND_VOLUME_HELD)
            kind[m->flow->inflow[i].into] = UND_VOLUME_ACTIVE;
}

/* Around what phi does not show, cells count too, as far as it comes. */
static void wake(const move *m, int x, int y, int z)
{
    const und_mac *mac = &m->v->mac;
    const size_t at = und_mac_at(mac, x, y, z);
    const int by = (int)ceilf(fminf(1.3f * fastest_at(m, at), m->reach)) + 1, from[3] = {x, y, z};
    int low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = from[a] - by > 0 ? from[a] - by : 0;
        high[a] = from[a] + by < mac->n[a] - 1 ? from[a] + by : mac->n[a] - 1;
    }
    for (int k = low[2]; k <= high[2]; k++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int i = low[0]; i <= high[0]; i++) {
                uint8_t *kind = m->v->parts->kind + und_mac_at(mac, i, j, k);
                if (__atomic_load_n(kind, __ATOMIC_RELAXED) == UND_VOLUME_DRY)
                    __atomic_store_n(kind, UND_VOLUME_ACTIVE, __ATOMIC_RELAXED);
            }
}

/* Bits of cells whose films have just come to be liquid, as thick as they are: phi around is not yet a
 * distance to them. */
static unsigned look_risen(const move *m, size_t at)
{
    const float *phi = m->d->phi + at;
    und_lanes beside = und_lanes_load(phi);
    const und_lanes_int wet = (beside < 0) & (und_lanes_int_load(m->v->c + at) > 0);
    if (!und_lanes_bits(wet))
        return 0;
    for (int a = 0; a < m->axes; a++) {
        const ptrdiff_t step = m->v->mac.step[a];
        beside = und_lanes_max(beside, und_lanes_max(und_lanes_load(phi + step), und_lanes_load(phi - step)));
    }
    return und_lanes_bits(wet & (beside > und_lanes_all(RISEN)));
}

static void wake_active(const move *m, int row, size_t at)
{
    const und_mac *mac = &m->v->mac;
    if (__atomic_load_n(&m->v->parts->kind[at], __ATOMIC_RELAXED) == UND_VOLUME_ACTIVE)
        wake(m, (int)(at - und_mac_row(mac, row)), row % mac->n[1], row / mac->n[1]);
}

/* What is woken holds nothing, and wakes no others: the same in any order. */
static void wake_around_thin(const move *m)
{
    const und_mac *mac = &m->v->mac;
    PARALLEL_FOR(und_workers(m->v->threads, mac->count, 1 << 15))
    for (int row = 0; row < und_mac_rows(mac); row++) {
        UND_VOLUME_ALOFT(m->v, m->d->phi, row, at)
        if (m->d->phi[at] > 0.9f || m->v->film[at])
            wake_active(m, row, at);
        const size_t end = und_mac_row(mac, row) + (size_t)mac->n[0];
        for (size_t from = und_mac_row(mac, row); from < end; from += UND_LANES)
            for (unsigned bits = look_risen(m, from) & und_volume_row_bits(end - from); bits;
                 bits &= bits - 1)
                wake_active(m, row, from + (size_t)__builtin_ctz(bits));
    }
}

/* Beyond open sides: where it goes and nothing comes from. */
static void open_sides(const move *m)
{
    const und_mac *mac = &m->v->mac;
    for (int side = 0; side < 2 * m->axes; side++) {
        const int axis = side / 2, a = (axis + 1) % 3, b = (axis + 2) % 3;
        int at[3];
        at[axis] = side % 2 ? mac->n[axis] : -1;
        for (at[b] = 0; at[b] < mac->n[b]; at[b]++)
            for (at[a] = 0; at[a] < mac->n[a]; at[a]++)
                m->v->parts->kind[und_mac_at(mac, at[0], at[1], at[2])] =
                    m->walls->closed[side] ? UND_VOLUME_DRY : UND_VOLUME_OUT;
    }
}

static bool is_moved(const move *m, size_t at)
{
    const uint8_t kind = m->v->parts->kind[at];
    return kind == UND_VOLUME_ACTIVE || kind == UND_VOLUME_HELD;
}

static unsigned look_moved(const void *context, size_t at)
{
    const und_lanes_int kind = und_lanes_bytes(((const move *)context)->v->parts->kind + at);
    return und_lanes_bits((kind == UND_VOLUME_ACTIVE) | (kind == UND_VOLUME_HELD));
}

static int parts_needed(const move *m)
{
    const und_volume_parts *p = m->v->parts;
    const int blocks = und_volume_chunk_blocks(m->v);
    float most = 0;
    PARALLEL_FOR(und_workers(m->v->threads, (size_t)p->count, UND_VOLUME_TO_SHARE))
    for (int block = 0; block < blocks; block++) {
        und_lanes all = {0};
        p->block_most[block] = 0;
        for (const und_volume_chunk *k = p->chunk + (size_t)block * UND_VOLUME_CHUNKS;
             k < und_volume_chunk_end(m->v, block); k++)
            all = und_lanes_max(
                und_lanes_select(und_lanes_where(k->bits), fastest_of(m, (size_t)k->at), und_lanes_all(0)),
                all);
        for (int i = 0; i < UND_LANES; i++)
            p->block_most[block] = fmaxf(p->block_most[block], all[i]);
    }
    for (int block = 0; block < blocks; block++)
        most = fmaxf(most, p->block_most[block]);
    const int parts = (int)fminf(ceilf(most / FURTHEST), 100);
    return parts < 1 ? 1 : parts;
}

/* ---- Fluxes ---- */

/* Over high faces of UND_LANES cells along an axis. */
typedef struct faces {
    und_lanes speed, open; /* cells in this part of the step; open part */
    und_lanes_int kind[2]; /* of the cells below and above */
    und_lanes_int up;      /* flows up the axis */
    und_lanes_int shut;    /* no flow goes over: what comes from other grids they say themselves */
} faces;

UND_INLINE faces faces_at(const move *m, int axis, size_t at)
{
    const uint8_t *kind = m->v->parts->kind + at;
    faces f = {.speed = und_lanes_load(m->flow->u[axis] + at) * m->per,
               .open = und_lanes_load(m->walls->open[axis] + at),
               .kind = {und_lanes_bytes(kind), und_lanes_bytes(kind + m->v->mac.step[axis])}};
    f.up = f.speed > 0;
    for (int side = 0; side < 2; side++)
        f.shut |= (f.kind[side] == UND_VOLUME_DRY) | (f.kind[side] == UND_VOLUME_OTHERS);
    return f;
}

/* Of full cells, and of held ones. */
UND_INLINE und_lanes_int full_fluxes(const move *m, const faces *f, und_lanes way)
{
    const und_lanes_int held = und_lanes_int_select(f->up, f->kind[0], f->kind[1]) == UND_VOLUME_HELD;
    return und_volumes_units(f->open * und_lanes_select(held, m->flow->poured * way, way));
}

/* Some faces that planes are to be found for. */
typedef struct batch {
    int count;
    size_t face[UND_LANES], from[UND_LANES];
    float part[UND_LANES], slope[3][UND_LANES], way[UND_LANES], open[UND_LANES];
    int32_t most[UND_LANES];
} batch;

/* The gradient of phi in cells from one on, as und_volume_gradient has it. */
UND_INLINE void gradients(const move *m, size_t at, und_lanes slope[3])
{
    const und_volume_walls *walls = m->walls;
    const uint8_t *inside = m->v->parts->inside + at;
    const float *phi = m->d->phi + at;
    const und_lanes own = und_lanes_load(phi);
    und_lanes_int thin = {0};
    if (walls->room)
        thin = und_lanes_bytes(walls->beside_thin + at) != 0;
    for (int a = 0; a < 3; a++) {
        const ptrdiff_t step = m->v->mac.step[a];
        und_lanes_int low = und_lanes_bytes(inside - step) != 0, high = und_lanes_bytes(inside + step) != 0;
        if (und_lanes_bits(thin)) {
            low &= ~thin | (und_lanes_load(walls->open[a] + at - step) > 0);
            high &= ~thin | (und_lanes_load(walls->open[a] + at) > 0);
        }
        const und_lanes rise = und_lanes_select(high, und_lanes_load(phi + step), own) -
                               und_lanes_select(low, und_lanes_load(phi - step), own);
        slope[a] = und_lanes_select(low & high, 0.5f * rise, rise);
    }
}

/* phi knows the slope better than what cells hold, as long as it is a distance there (Sussman & Puckett 2000,
 * "A coupled level set and volume-of-fluid method"); not at solids, in which it only goes on straight.  Bits
 * of the cells where it does. */
UND_INLINE unsigned slopes_of_phi(const move *m, size_t at, und_lanes slope[3])
{
    const float near = 1.5f, least = 0.5f; /* cells; of a gradient, which is 1 */
    if (!m->fresh)
        return 0;
    const und_lanes phi = und_lanes_load(m->d->phi + at);
    und_lanes_int known = (phi < near) & (phi > -near);
    if (m->walls->room)
        known &= ~(und_lanes_load(m->walls->distance + at) < near);
    gradients(m, at, slope);
    known &= slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2] > least * least;
    return und_lanes_bits(known);
}

/* What is beyond a wall from a cell, or has no room, is as full as the cell. */
static void leave_out(const move *m, size_t at, unsigned bits, und_lanes f[UND_VOLUME_AROUND])
{
    const und_lanes middle = f[UND_VOLUME_STAY], none = {0}, own = und_lanes_select(middle < 0, none, middle);
    const und_lanes_int beside =
        (und_lanes_bytes(m->walls->beside_thin + at) != 0) | (und_lanes_load(m->walls->distance + at) < 1);
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        f[k] = und_lanes_select(f[k] < 0, own, f[k]);
    for (bits &= und_lanes_bits(beside); bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        for (int k = 0; k < UND_VOLUME_AROUND; k++)
            if (!und_volume_way(m->walls->open, m->v->mac.step, at + (size_t)i, k))
                f[k][i] = own[i];
    }
}

/* Of the surface in cells from one on, of which those of `bits` matter. */
UND_INLINE void find_slopes(const move *m, size_t at, unsigned bits, und_lanes slope[3])
{
    const ptrdiff_t *step = m->v->mac.step;
    und_lanes f[UND_VOLUME_AROUND], found[3];
    slope[0] = slope[1] = slope[2] = (und_lanes){0};
    const unsigned known = slopes_of_phi(m, at, slope);
    if (!(bits & ~known))
        return;
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 3; y++) {
            const float *row = m->v->parts->fraction + at + ((z - 1) * step[2] + (y - 1) * step[1]);
            for (int x = 0; x < 3; x++)
                f[x + 3 * y + 9 * z] = und_lanes_load(row + x - 1);
        }
    if (m->walls->room)
        leave_out(m, at, bits & ~known, f);
    und_volume_slope(f, found);
    for (int a = 0; a < 3; a++)
        slope[a] = und_lanes_select(und_lanes_where(known), slope[a], found[a]);
}

static void finish(const move *m, int axis, batch *b)
{
    const und_lanes slope[3] = {und_lanes_load(b->slope[0]), und_lanes_load(b->slope[1]),
                                und_lanes_load(b->slope[2])};
    float flux[UND_LANES];
    und_lanes_store(flux,
                    und_volume_plane_flux(und_lanes_load(b->part), slope, axis, und_lanes_load(b->way)));
    for (int i = 0; i < b->count; i++) {
        const int32_t units = und_volume_units(b->open[i] * flux[i]), most = b->most[i];
        m->v->parts->flux[b->face[i]] = units > most ? most : units < -most ? -most : units;
    }
    b->count = 0;
}

/* ---- Films ---- */

/* A contact line is somewhere in the cell where a film ends: it comes to the next once that is as full as a
 * puddle is thick, or as the film behind it. */
static bool ends_in(const move *m, size_t at)
{
    const und_volume *v = m->v;
    int32_t behind = 0;
    if (v->c[at] >= und_volume_units(m->flow->pin))
        return false;
    for (int way = 0; way < 2 * m->axes; way++) {
        const size_t step = (size_t)v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
        behind = v->parts->inside[next] && v->c[next] > behind ? v->c[next] : behind;
    }
    return v->c[at] < behind - behind / 8;
}

/* Of what runs off a wall, and nothing follows, the wall holds a layer back. */
static int32_t leaves_most(const move *m, size_t from, size_t behind, int32_t most)
{
    const int32_t c = m->v->c[from], follows = m->v->parts->inside[behind] ? m->v->c[behind] : 0;
    if (follows <= 0)
        return most;
    const int32_t stays = und_volume_units(follows > c / 2 ? TRACE * m->flow->pin : m->stays);
    const int32_t leaves = c / 2 > stays ? c - stays : c / 2;
    return most < leaves ? most : leaves;
}

/* The same of a film on a slanted wall, from column to column: as it lies anyhow in their cells, as much of
 * what is in a cell goes as the flow goes of the cell.  Off the wall none does. */
static bool slanted_flux(const move *m, int axis, size_t to, const batch *b, const float normal[3])
{
    const und_volume *v = m->v;
    const int i = b->count;
    const size_t from = b->from[i], step = (size_t)v->mac.step[axis];
    const size_t behind = to > from ? from - step : from + step;
    v->parts->flux[b->face[i]] = 0;
    if (axis == und_volume_across(normal) ||
        und_volume_film_stands(v, m->walls, behind, from, to, normal, m->flow->pin))
        return false;
    const float part = und_volume_film_part(m->walls, from, b->open[i]);
    const int32_t most = leaves_most(m, from, behind, b->most[i]);
    const int32_t flux = und_volume_units(b->way[i] * part * und_volume_cells(v->c[from]));
    v->parts->flux[b->face[i]] = flux > most ? most : flux < -most ? -most : flux;
    return false;
}

/* What goes over a face out of the last of the batch, which is a film: its slope is the wall's.  False: the
 * flux is known, as none goes on at a film's end that stands, and along a wall that cuts the cell all of it
 * does. */
static bool film_flux(const move *m, int axis, size_t to, batch *b)
{
    const und_volume *v = m->v;
    const int i = b->count;
    const size_t from = b->from[i], step = (size_t)v->mac.step[axis],
                 behind = to > from ? from - step : from + step;
    float distance, slope[3];
    if (!und_volume_leans(v, m->walls, from, &distance, slope))
        return true;
    const bool slanted = und_volume_is_slanted(v, m->walls, m->d->phi, from, slope);
    const bool across = axis == und_volume_across(slope), off = (to > from) == (slope[axis] > 0);
    if (slanted && (!across || off))
        return slanted_flux(m, axis, to, b, slope);
    if (v->c[to] <= 0 && fabsf(slope[axis]) < 0.5f && ends_in(m, from) && !und_volume_is_hole(v, to, slope))
        return false;
    const float space = und_volume_room(m->walls, from);
    b->most[i] = leaves_most(m, from, behind, b->most[i]);
    if (v->film[to] && v->c[to] > v->c[from] && v->c[behind] <= 0) /* drawn back: as thick as before it */
        b->part[i] = und_volume_cells(v->c[to]) / (space > 1e-3f ? space : 1e-3f);
    if (!und_volume_is_straight(slope)) {
        const float open = b->open[i] < space ? b->open[i] : space,
                    part = b->part[i] < 1.5f ? b->part[i] : 1.5f;
        const int32_t flux = und_volume_units(open * (b->way[i] * part)), most = b->most[i];
        v->parts->flux[b->face[i]] = flux > most ? most : flux < -most ? -most : flux;
        return false;
    }
    for (int a = 0; a < 3; a++)
        b->slope[a][i] = slope[a];
    return true;
}

/* What comes out of active cells that hold `c`, wherever in them it is; where that matters planes are to say.
 */
typedef struct given {
    und_lanes part;
    und_lanes_int most, flux, planes;
} given;

UND_INLINE given give(const move *m, int axis, size_t at, const faces *f, und_lanes way, und_lanes_int c)
{
    const size_t step = (size_t)m->v->mac.step[axis];
    const float *u = m->flow->u[axis] + at;
    const und_lanes least = und_lanes_all(1e-3f), enough = und_lanes_all(1.5f);
    const float *low = at < step ? u : u - step; /* beside the domain nothing is given */
    const und_lanes behind = und_lanes_select(f->up, und_lanes_load(low), und_lanes_load(u + step));
    const und_lanes room =
        und_lanes_select(f->up, und_volume_rooms(m->walls, at), und_volume_rooms(m->walls, at + step));
    const uint8_t *film = m->v->film + at;
    given g = {.part = und_volumes_cells(c) / und_lanes_select(room > least, room, least)};
    g.most = und_lanes_int_select(und_lanes_int_select(f->up, behind<0, behind> 0), c / 2, c);
    g.planes = ~((g.part > FULL) | (g.part < MIST)) |
               (und_lanes_int_select(f->up, und_lanes_bytes(film), und_lanes_bytes(film + step)) != 0);
    const und_lanes part = und_lanes_select(g.part < enough, g.part, enough);
    const und_lanes_int flux = und_volumes_units(f->open * (way * part));
    g.flux = und_lanes_int_select(flux > g.most, g.most, und_lanes_int_select(flux < -g.most, -g.most, flux));
    return g;
}

static void add_planes(const move *m, int axis, size_t at, const faces *f, und_lanes way, const given *g,
                       unsigned bits, batch *b)
{
    const size_t step = (size_t)m->v->mac.step[axis];
    const unsigned up = und_lanes_bits(f->up);
    float part[UND_LANES], ways[UND_LANES], open[UND_LANES], slope[2][3][UND_LANES];
    und_lanes_int most = g->most;
    und_lanes_store(part, g->part);
    und_lanes_store(ways, way);
    und_lanes_store(open, f->open);
    for (int side = 0; side < 2; side++)
        if (bits & (side ? ~up : up)) {
            und_lanes found[3];
            find_slopes(m, side ? at + step : at, bits & (side ? ~up : up), found);
            for (int a = 0; a < 3; a++)
                und_lanes_store(slope[side][a], found[a]);
        }
    for (; bits; bits &= bits - 1) {
        const int lane = __builtin_ctz(bits), i = b->count, side = up >> lane & 1 ? 0 : 1;
        const size_t low = at + (size_t)lane, high = low + step;
        b->face[i] = low;
        b->from[i] = side ? high : low;
        b->part[i] = part[lane];
        b->way[i] = ways[lane];
        b->open[i] = open[lane];
        b->most[i] = most[lane];
        for (int a = 0; a < 3; a++)
            b->slope[a][i] = slope[side][a][lane];
        if ((!m->v->film[b->from[i]] || film_flux(m, axis, side ? low : high, b)) && ++b->count == UND_LANES)
            finish(m, axis, b);
    }
}

/* Over the high faces of the cells that `bits` says, at once or when the batch is full. */
static void set_flux(const move *m, int axis, size_t at, unsigned bits, batch *b)
{
    const und_volume *v = m->v;
    const und_lanes_int none = {0}, low = und_lanes_int_load(v->c + at),
                        high = und_lanes_int_load(v->c + at + m->v->mac.step[axis]);
    const faces f = faces_at(m, axis, at);
    const und_lanes way = und_volumes_clip(f.speed, 1);
    const und_lanes_int from = und_lanes_int_select(f.up, low, high),
                        to = und_lanes_int_select(f.up, high, low);
    const und_lanes_int kind = und_lanes_int_select(f.up, f.kind[0], f.kind[1]);
    const und_lanes_int deep = (f.kind[0] == UND_VOLUME_DEEP) | (f.kind[1] == UND_VOLUME_DEEP);
    const und_lanes_int open = ~f.shut & (f.open > 0) & (f.speed != 0) & ~und_volumes_crowded(to);
    const und_lanes_int whole = open & (deep | ((kind == UND_VOLUME_HELD) & (f.kind[0] != f.kind[1])));
    const und_lanes_int own = open & ~deep & (kind == UND_VOLUME_ACTIVE) & (from > 0);
    int32_t *to_flux = v->parts->flux + at;
    und_lanes_int flux = none;
    if (und_lanes_bits(whole) & bits)
        flux = whole & full_fluxes(m, &f, und_lanes_select(deep, f.speed, way));
    if (!(und_lanes_bits(own) & bits)) {
        und_lanes_int_store_some(to_flux, flux, bits);
        return;
    }
    const given g = give(m, axis, at, &f, way, from);
    und_lanes_int_store_some(to_flux, und_lanes_int_select(own, ~g.planes & g.flux, flux), bits);
    add_planes(m, axis, at, &f, way, &g, und_lanes_bits(own & g.planes) & bits, b);
}

/* What a chunk further on is to be read for: lists jump from row to row, which processors do not foresee. */
UND_INLINE void fetch_ahead(const move *m, int axis, const und_volume_chunk *k, const und_volume_chunk *end)
{
    if (end - k <= AHEAD)
        return;
    const size_t at = (size_t)k[AHEAD].at;
    const ptrdiff_t *step = m->v->mac.step;
    const int32_t *c = m->v->c + at;
    const float *u = m->flow->u[axis] + at, *near = (m->fresh ? m->d->phi : m->v->parts->fraction) + at;
    __builtin_prefetch(c);
    __builtin_prefetch(c + step[axis]);
    __builtin_prefetch(u);
    __builtin_prefetch(u + step[axis]);
    __builtin_prefetch(m->walls->open[axis] + at);
    __builtin_prefetch(m->v->parts->kind + at + step[axis]);
    __builtin_prefetch(m->v->parts->flux + at, 1);
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            __builtin_prefetch(near + y * step[1] + z * step[2]);
}

static void set_fluxes(const move *m, int axis)
{
    const und_volume_parts *p = m->v->parts;
    const size_t step = (size_t)m->v->mac.step[axis];
    PARALLEL_FOR(und_workers(m->v->threads, (size_t)p->count, UND_VOLUME_TO_SHARE))
    for (int block = 0; block < und_volume_chunk_blocks(m->v); block++) {
        batch b = {0};
        for (const und_volume_chunk *k = p->chunk + (size_t)block * UND_VOLUME_CHUNKS;
             k < und_volume_chunk_end(m->v, block); k++) {
            const size_t at = (size_t)k->at;
            const und_lanes_int kind = und_lanes_bytes(p->kind + at - step);
            const und_lanes_int moved = (kind == UND_VOLUME_ACTIVE) | (kind == UND_VOLUME_HELD);
            const und_lanes_int shut = (kind == UND_VOLUME_DRY) | (kind == UND_VOLUME_OTHERS);
            const unsigned low = k->bits & ~und_lanes_bits(moved), still = low & und_lanes_bits(shut);
            fetch_ahead(m, axis, k, und_volume_chunk_end(m->v, block));
            set_flux(m, axis, at, k->bits, &b);
            if (still)
                und_lanes_int_store_some(p->flux + at - step, (und_lanes_int){0}, still);
            if (low & ~still) /* whose faces are nobody else's */
                set_flux(m, axis, at - step, low & ~still, &b);
        }
        if (b.count > 0)
            finish(m, axis, &b);
    }
}

/* ---- Parts and axes ---- */

UND_INLINE und_lanes fractions_of(const move *m, size_t at, und_lanes_int c)
{
    const und_lanes room = und_volume_rooms(m->walls, at), none = {0}, all = und_lanes_all(1);
    const und_lanes part = und_volumes_cells(c) / room;
    return und_lanes_select(room > LEAST_ROOM,
                            und_lanes_select(part < none, none, und_lanes_select(part < all, part, all)),
                            -all);
}

/* Beside the domain fractions are as in the cells that they touch. */
static void copy_beside(const und_mac *m, int threads, float *f)
{
    const size_t wide = ((size_t)m->n[0] + 2) * sizeof *f;
    PARALLEL_FOR(und_workers(threads, m->count, 1 << 18))
    for (int z = 0; z < m->n[2]; z++) {
        for (int y = 0; y < m->n[1]; y++) {
            float *row = f + und_mac_at(m, 0, y, z);
            row[-1] = row[0];
            row[m->n[0]] = row[m->n[0] - 1];
        }
        memcpy(f + und_mac_at(m, -1, -1, z), f + und_mac_at(m, -1, 0, z), wide);
        memcpy(f + und_mac_at(m, -1, m->n[1], z), f + und_mac_at(m, -1, m->n[1] - 1, z), wide);
    }
    const size_t slice = (size_t)m->step[2] * sizeof *f;
    memcpy(f + und_mac_at(m, -1, -1, -1), f + und_mac_at(m, -1, -1, 0), slice);
    memcpy(f + und_mac_at(m, -1, -1, m->n[2]), f + und_mac_at(m, -1, -1, m->n[2] - 1), slice);
}

static void first_fractions(const move *m)
{
    const und_mac *mac = &m->v->mac;
    PARALLEL_FOR(und_workers(m->v->threads, mac->count, 1 << 15))
    for (int row = 0; row < und_mac_rows(mac); row++)
        for (size_t at = und_mac_row(mac, row), end = at + (size_t)mac->n[0]; at < end; at += UND_LANES)
            und_lanes_store_some(m->v->parts->fraction + at,
                                 fractions_of(m, at, und_lanes_int_load(m->v->c + at)),
                                 und_volume_row_bits(end - at));
    copy_beside(mac, m->v->threads, m->v->parts->fraction);
}

/* Over a face of which one side is deep: either side can tell it by itself. */
UND_INLINE und_lanes_int deep_fluxes(const move *m, int axis, size_t at)
{
    const faces f = faces_at(m, axis, at);
    return ~f.shut & full_fluxes(m, &f, f.speed);
}

/* What flows over faces of deep cells: all at once. */
static void move_deep(const move *m)
{
    const und_mac *mac = &m->v->mac;
    PARALLEL_FOR(und_workers(m->v->threads, mac->count, 1 << 15))
    for (int row = 0; row < und_mac_rows(mac); row++)
        for (size_t at = und_mac_row(mac, row), end = at + (size_t)mac->n[0]; at < end; at += UND_LANES) {
            const unsigned deep = und_volume_row_bits(end - at) &
                                  und_lanes_bits(und_lanes_bytes(m->v->parts->kind + at) == UND_VOLUME_DEEP);
            und_lanes_int sum = {0};
            if (!deep)
                continue;
            for (int a = 0; a < m->axes; a++)
                sum += deep_fluxes(m, a, at) - deep_fluxes(m, a, at - (size_t)mac->step[a]);
            und_lanes_int_store_some(m->v->c + at,
                                     und_lanes_int_load_some(m->v->c + at, deep) - m->parts * sum, deep);
        }
}

static void tell_leaving(const move *m, int side, size_t from, int32_t amount)
{
    int cell[3];
    und_volume_cell(&m->v->mac, from, cell);
    m->flow->leaves(m->flow->context, side, cell, amount);
}

/* What flows over open sides along the axis. */
static int64_t leaving(const move *m, int axis)
{
    const und_mac *mac = &m->v->mac;
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    int64_t sum = 0;
    for (int high = 0; high < 2; high++) {
        int at[3];
        at[axis] = high ? mac->n[axis] - 1 : -1;
        for (at[b] = 0; at[b] < mac->n[b] && !m->walls->closed[2 * axis + high]; at[b]++)
            for (at[a] = 0; at[a] < mac->n[a]; at[a]++) {
                const size_t face = und_mac_at(mac, at[0], at[1], at[2]);
                const size_t inner = high ? face : face + (size_t)mac->step[axis];
                const int32_t flux = is_moved(m, inner) ? m->v->parts->flux[face] : 0;
                sum += high ? flux : -flux;
                if (flux != 0 && m->flow->leaves)
                    tell_leaving(m, 2 * axis + high, inner, high ? flux : -flux);
            }
    }
    return sum;
}

/* What comes from other grids along the axis in part k of the step. */
static void let_in(const move *m, int axis, int k)
{
    for (int i = 0; i < m->flow->inflow_count; i++) {
        const und_volume_inflow *in = &m->flow->inflow[i];
        const int64_t all = in->amount;
        if (in->axis == axis)
            m->v->parts->flux[in->face] = (int32_t)(all * (k + 1) / m->parts - all * k / m->parts);
    }
}

/* Nobody asks for fractions after the last. */
static int64_t sweep(const move *m, int axis, int part, bool last)
{
    const und_volume *v = m->v;
    const und_volume_parts *p = v->parts;
    const size_t step = (size_t)v->mac.step[axis];
    const float *u = m->flow->u[axis], *open = m->walls->open[axis];
    set_fluxes(m, axis);
    let_in(m, axis, part);
    UND_VOLUME_EACH_CHUNK(v, k)
    {
        const size_t at = (size_t)k->at, low = at - step;
        if (end_ - k > AHEAD) {
            __builtin_prefetch(p->flux + k[AHEAD].at - step);
            __builtin_prefetch(p->flux + k[AHEAD].at);
            __builtin_prefetch(v->c + k[AHEAD].at, 1);
            __builtin_prefetch(u + k[AHEAD].at);
            __builtin_prefetch(open + k[AHEAD].at);
            __builtin_prefetch(p->extra + k[AHEAD].at, 1);
        }
        und_lanes_int more =
            und_lanes_int_load_some(p->flux + low, k->bits) - und_lanes_int_load_some(p->flux + at, k->bits);
        if (k->some) {
            const und_lanes over = und_lanes_load(open + at) * und_lanes_load(u + at) -
                                   und_lanes_load(open + low) * und_lanes_load(u + low);
            const und_lanes_int lent =
                und_lanes_where(k->some) & und_volumes_units(und_volumes_clip(m->per * over, 2));
            und_lanes_int_store_some(p->extra + at, und_lanes_int_load_some(p->extra + at, k->some) + lent,
                                     k->some);
            more += lent;
        }
        const und_lanes_int c = und_lanes_int_load_some(v->c + at, k->bits) + more;
        und_lanes_int_store_some(v->c + at, c, k->bits);
        if (!last)
            und_lanes_store_some(p->fraction + at, fractions_of(m, at, c), k->bits);
    }
    if (!last)
        copy_beside(&v->mac, v->threads, p->fraction);
    return leaving(m, axis);
}

/* Which cells of the liquid are lent to in a part of the step. */
static void lend(const move *m)
{
    const und_volume *v = m->v;
    UND_VOLUME_EACH_CHUNK(v, k)
    {
        const size_t at = (size_t)k->at;
        const und_lanes_int liquid = und_lanes_load(m->d->phi + at) < 0;
        const und_lanes_int active = und_lanes_bytes(v->parts->kind + at) == UND_VOLUME_ACTIVE;
        const und_lanes half = 0.5f * und_volume_rooms(m->walls, at);
        const und_lanes_int wet = und_volumes_cells(und_lanes_int_load(v->c + at)) > half;
        k->some = (uint16_t)(k->bits & und_lanes_bits(liquid & active & wet));
        und_lanes_int_store_some(v->parts->extra + at, (und_lanes_int){0}, k->some);
    }
}

static void take_back(const move *m)
{
    const und_volume *v = m->v;
    UND_VOLUME_EACH_CHUNK(v, k)
    {
        if (!k->some)
            continue;
        const und_lanes_int owed = und_lanes_int_load_some(v->parts->extra + k->at, k->some);
        und_lanes_int_store_some(v->c + k->at, und_lanes_int_load_some(v->c + k->at, k->some) - owed,
                                 k->some);
    }
}

int64_t und_volume_move(und_volume *v, const und_distance *d, const und_volume_walls *walls,
                        const und_volume_flow *flow)
{
    move m = {.v = v, .d = d, .walls = walls, .flow = flow, .whole = (float)flow->per_speed};
    int64_t left = 0;
    m.axes = v->mac.n[2] > 1 ? 3 : 2;
    m.reach = fminf((float)(flow->fastest * flow->per_speed), (float)flow->layers - 2);
    set_kinds(&m);
    open_sides(&m);
    wake_around_thin(&m);
    und_volume_list(v, look_moved, NULL, &m);
    m.parts = parts_needed(&m);
    m.per = m.whole / (float)m.parts;
    m.stays = flow->stays / sqrtf((float)m.parts);
    und_volume_find_unsure(v, flow);
    first_fractions(&m);
    move_deep(&m);
    for (int k = 0; k < m.parts; k++) {
        m.fresh = k == 0;
        lend(&m);
        const int first = (int)((flow->step + k) % m.axes), back = (int)((flow->step + k) / m.axes % 2);
        for (int a = 0; a < m.axes; a++)
            left +=
                sweep(&m, (first + (back ? m.axes - a : a)) % m.axes, k, k == m.parts - 1 && a == m.axes - 1);
        take_back(&m);
    }
    return left;
}
