/* What cells hold goes along with the flow: over faces, one axis after the other, in as many parts as it
 * takes for none to cross more than a cell.
 *
 * Weymouth & Yue 2010: between the axes a cell of the liquid is not full, since the flow keeps its volume in
 * all axes together only; what it lacks is lent to it, and taken back after the last.  So whatever the flow
 * is, all that a cell loses another gets. */
#include "surface/volume_parts.h"
#include "surface/volume_pay_kernel.h"

#include <math.h>
#include <string.h>

static const float FURTHEST = 0.9f; /* cells that are crossed in a part */
static const float LEAVES = 0.5f;   /* cells in a part: off a wall */
static const float TRACE = 0.005f;  /* of a contact line's thickness: is left of a film */

typedef struct move {
    und_volume_move_args args;
    und_volume_arrays cells;
    const und_volume *v;
    const und_distance *d;
    const und_volume_walls *walls;
    const und_volume_flow *flow;
    float stays; /* cells: a layer on walls that does not come along */
} move;

/* ---- Which cells ---- */

/* Around what phi does not show, cells count too, as far as it comes. */
static void wake(const und_volume_move_args *m, size_t at, const int from[3])
{
    const int *n = m->mac.n;
    const float fastest = und_volume_fastest(m, at)[0];
    const int by = (int)ceilf(fminf(1.3f * fastest, m->reach)) + 1;
    int low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = from[a] - by > 0 ? from[a] - by : 0;
        high[a] = from[a] + by < n[a] - 1 ? from[a] + by : n[a] - 1;
    }
    for (int k = low[2]; k <= high[2]; k++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int i = low[0]; i <= high[0]; i++) {
                uint8_t *kind = m->kind + und_mac_at(&m->mac, i, j, k);
                if (__atomic_load_n(kind, __ATOMIC_RELAXED) == UND_VOLUME_DRY)
                    __atomic_store_n(kind, UND_VOLUME_ACTIVE, __ATOMIC_RELAXED);
            }
}

/* What is woken holds nothing, and wakes no others: the same in any order. */
static void wake_around_thin(const und_volume_move_args *m, und_place p)
{
    const uint16_t *wakes = m->wakes + (size_t)(p.y + p.z * m->mac.n[1]) * (size_t)m->per_row;
    const und_span span = und_mac_span(&m->mac, p.y, p.z);
    for (int some = span.begin / UND_LANES; some * UND_LANES < span.end; some++)
        for (unsigned bits = wakes[some]; bits; bits &= bits - 1) {
            const int x = some * UND_LANES + __builtin_ctz(bits);
            wake(m, p.at + (size_t)x, (const int[3]){x, p.y, p.z});
        }
}
UND_KERNEL(wake_around_thin, und_volume_move_args, UND_EACH_ROW)

/* Cells that get something from other grids. */
static void wake_inflow(const move *m, und_place p)
{
    const und_volume_move_args *a = &m->args;
    const und_lanes_int active = (und_lanes_int){0} + UND_VOLUME_ACTIVE;
    (void)p;
    for (int i = 0; i < m->flow->inflow_count; i++) {
        const size_t into = m->flow->inflow[i].into;
        int cell[3];
        und_mac_cell(&a->mac, into, cell);
        if (a->kind[into] == UND_VOLUME_HELD)
            continue;
        const int row = cell[1] + cell[2] * a->mac.n[1];
        uint16_t *wakes = a->wakes + (size_t)row * (size_t)a->per_row + cell[0] / UND_LANES;
        a->kind[into] = UND_VOLUME_ACTIVE;
        *wakes |= (uint16_t)((und_volume_wakers(a, into, active) & 1) << cell[0] % UND_LANES);
    }
}
UND_KERNEL(wake_inflow, move, UND_EACH_BLOCK)

static unsigned look_moved(const void *context, size_t at)
{
    return und_lanes_bits(und_volume_moved(&((const move *)context)->args, at));
}

/* Kinds, the list, and in how many parts it goes. */
static int find_cells(const move *m, und_volume *v)
{
    enum { STEPS = UND_VOLUME_LIST_STEPS + 4 };
    const und_set rows = und_set_shared(&v->device, &v->mac, UND_ROWS_INSIDE),
                  once = und_set_list(m, 1, 1, 1);
    const und_halo_field crossed =
        und_halo_of_slices(&v->mac, v->parts->block_most, sizeof(float), 0, v->mac.n[2]);
    const und_pass kinds = UND_PASS(und_volume_kinds, &m->args, &rows);
    const und_pass inflow = UND_PASS(wake_inflow, m, &once);
    const und_pass thin = UND_PASS(wake_around_thin, &m->args, &rows);
    const und_pass survey = UND_PASS(und_volume_survey, &m->args, &rows);
    und_volume_listing listing = {.v = v, .look = look_moved, .context = m};
    und_step steps[STEPS] = {
        {.passes = &kinds, .count = 1}, {.passes = &inflow, .count = 1}, {.passes = &thin, .count = 1}};
    und_volume_list_steps(&listing, steps + 3);
    steps[STEPS - 1] = (und_step){.passes = &survey, .count = 1};
    und_pass_steps(&v->device, steps, STEPS);
    und_halo_get(v->device.halo, &crossed, 1);
    float most = 0;
    for (int block = 0; block < rows.blocks; block++)
        most = fmaxf(most, v->parts->block_most[block]);
    const int parts = (int)fminf(ceilf(most / FURTHEST), 100);
    return parts < 1 ? 1 : parts;
}

/* ---- Fluxes ---- */

/* Some faces that planes are to be found for: two vectors of them at once, as each has long to wait for
 * itself. */
enum { AT_ONCE = 2 * UND_LANES, ROOM = 3 * UND_LANES };
typedef struct batch {
    int count;
    int32_t face[ROOM], most[ROOM];
    float part[ROOM], slope[3][ROOM], way[ROOM], open[ROOM];
} batch;

/* The first of them. */
static void finish(const und_volume_move_args *m, int axis, batch *b)
{
    const int count = b->count < AT_ONCE ? b->count : AT_ONCE;
    int32_t units[AT_ONCE];
    for (int first = 0; first < count; first += UND_LANES) {
        const und_lanes slope[3] = {und_lanes_load(b->slope[0] + first), und_lanes_load(b->slope[1] + first),
                                    und_lanes_load(b->slope[2] + first)};
        const und_lanes flux = und_volume_plane_flux(und_lanes_load(b->part + first), slope, axis,
                                                     und_lanes_load(b->way + first));
        const und_lanes_int all = und_volumes_units(und_lanes_load(b->open + first) * flux);
        const und_lanes_int kept = und_volumes_at_most(all, und_lanes_int_load(b->most + first));
        memcpy(units + first, &kept, sizeof kept);
    }
    for (int i = 0; i < count; i++)
        m->flux[b->face[i]] = units[i];
    b->count -= count;
}

/* And the others are the first. */
static void finish_some(const und_volume_move_args *m, int axis, batch *b)
{
    enum { REST = UND_LANES * sizeof(float) };
    finish(m, axis, b);
    memcpy(b->face, b->face + AT_ONCE, REST);
    memcpy(b->most, b->most + AT_ONCE, REST);
    memcpy(b->part, b->part + AT_ONCE, REST);
    memcpy(b->way, b->way + AT_ONCE, REST);
    memcpy(b->open, b->open + AT_ONCE, REST);
    for (int a = 0; a < 3; a++)
        memcpy(b->slope[a], b->slope[a] + AT_ONCE, REST);
}

static void pack(int32_t *to, und_lanes_int v, unsigned which)
{
    float packed[UND_LANES] = {0};
    und_lanes_pack(packed, (und_lanes)v, which);
    memcpy(to, packed, sizeof packed);
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
    for (int way = 0; way < 2 * m->args.axes; way++) {
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
static bool slanted_flux(const move *m, int axis, size_t from, size_t to, const batch *b,
                         const float normal[3])
{
    const und_volume *v = m->v;
    const int i = b->count;
    const size_t step = (size_t)v->mac.step[axis], behind = to > from ? from - step : from + step;
    v->parts->flux[b->face[i]] = 0;
    if (axis == und_volume_across(normal) ||
        und_volume_film_stands(&m->cells, m->walls, behind, from, to, normal, m->flow->pin))
        return false;
    const float part = und_volume_film_part(m->walls, from, b->open[i]);
    const int32_t most = leaves_most(m, from, behind, b->most[i]);
    const int32_t flux = und_volume_units(b->way[i] * part * und_volume_cells(v->c[from]));
    v->parts->flux[b->face[i]] = flux > most ? most : flux < -most ? -most : flux;
    return false;
}

/* What falls off a ceiling is not at it any more after the first part of a step; nor is what leaves a wall so
 * fast: however thin it is, it would be put back to the wall in each part. */
static bool comes_off(const und_volume_walls *walls, const float normal[3], float way)
{
    return fabsf(way) > LEAVES || walls->gravity[0] * (double)normal[0] +
                                          walls->gravity[1] * (double)normal[1] +
                                          walls->gravity[2] * (double)normal[2] >
                                      0;
}

/* What goes over a face out of the last of the batch, which is a film: its slope is the wall's.  False: the
 * flux is known, as none goes on at a film's end that stands, and along a wall that cuts the cell all of it
 * does. */
static bool film_flux(const move *m, int axis, size_t from, size_t to, batch *b)
{
    const und_volume *v = m->v;
    const int i = b->count;
    const size_t step = (size_t)v->mac.step[axis], behind = to > from ? from - step : from + step;
    float distance, slope[3];
    if (!und_volume_leans(&m->cells, m->walls, from, &distance, slope))
        return true;
    const bool slanted = und_volume_is_slanted(&m->cells, m->walls, m->d->phi, from, slope);
    const bool across = axis == und_volume_across(slope), off = (to > from) == (slope[axis] > 0);
    if (slanted && (!across || off))
        return slanted_flux(m, axis, from, to, b, slope);
    if (v->c[to] <= 0 && fabsf(slope[axis]) < 0.5f && ends_in(m, from) &&
        !und_volume_is_hole(&m->cells, to, slope))
        return false;
    const float space = und_volume_room(m->walls, from);
    b->most[i] = leaves_most(m, from, behind, b->most[i]);
    if (v->film[to] && v->c[to] > v->c[from] && v->c[behind] <= 0) /* drawn back: as thick as before it */
        b->part[i] = und_volume_cells(v->c[to]) / (space > 1e-3f ? space : 1e-3f);
    if (!und_volume_is_straight(slope) || (across && off && comes_off(m->walls, slope, b->way[i]))) {
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

/* ---- Planes ---- */

/* Of UND_LANES faces from one on: what planes need to know. */
typedef struct planes {
    const und_volume_faces *f;
    const und_volume_given *g;
    und_lanes way, slope[3];
} planes;

static void find_planes(const und_volume_move_args *m, int axis, size_t at, unsigned bits, planes *p)
{
    const unsigned up = und_lanes_bits(p->f->up);
    und_lanes found[2][3] = {{{0}}};
    for (int side = 0; side < 2; side++)
        if (bits & (side ? ~up : up))
            und_volume_slopes(m, side ? at + (size_t)m->mac.step[axis] : at, bits & (side ? ~up : up),
                              found[side]);
    for (int a = 0; a < 3; a++)
        p->slope[a] = und_lanes_select(p->f->up, found[0][a], found[1][a]);
}

/* Behind those of the batch: it does not count them yet. */
static void put_planes(size_t at, const planes *p, unsigned bits, batch *b)
{
    und_lanes_int face = {0};
    for (int i = 0; i < UND_LANES; i++)
        face[i] = (int32_t)at + i;
    pack(b->face + b->count, face, bits);
    pack(b->most + b->count, p->g->most, bits);
    und_lanes_pack(b->part + b->count, p->g->part, bits);
    und_lanes_pack(b->way + b->count, p->way, bits);
    und_lanes_pack(b->open + b->count, p->f->open, bits);
    for (int a = 0; a < 3; a++)
        und_lanes_pack(b->slope[a] + b->count, p->slope[a], bits);
}

static void add_planes(const move *m, int axis, size_t at, const und_volume_faces *f, und_lanes way,
                       const und_volume_given *g, unsigned bits, batch *b)
{
    const size_t step = (size_t)m->v->mac.step[axis];
    planes p = {f, g, way, {{0}}};
    find_planes(&m->args, axis, at, bits, &p);
    unsigned films = bits & und_lanes_bits(g->film);
    put_planes(at, &p, bits & ~films, b);
    b->count += __builtin_popcount(bits & ~films);
    if (b->count >= AT_ONCE)
        finish_some(&m->args, axis, b);
    for (; films; films &= films - 1) {
        const size_t low = at + (size_t)__builtin_ctz(films), high = low + step;
        const bool up = und_lanes_bits(f->up) & films & -films;
        put_planes(at, &p, films & -films, b);
        if (film_flux(m, axis, up ? low : high, up ? high : low, b) && ++b->count == AT_ONCE)
            finish_some(&m->args, axis, b);
    }
}

/* Over the high faces of the cells that `bits` says, at once or when the batch is full. */
static void set_flux(const move *m, int axis, size_t at, unsigned bits, batch *b)
{
    const und_volume_move_args *a = &m->args;
    const und_lanes_int none = {0}, low = und_lanes_int_load(a->c + at),
                        high = und_lanes_int_load(a->c + at + a->mac.step[axis]);
    const und_volume_faces f = und_volume_faces_at(a, axis, at);
    const und_lanes way = und_volumes_clip(f.speed, 1);
    const und_lanes_int from = und_lanes_int_select(f.up, low, high),
                        to = und_lanes_int_select(f.up, high, low);
    const und_lanes_int kind = und_lanes_int_select(f.up, f.kind[0], f.kind[1]);
    const und_lanes_int deep = (f.kind[0] == UND_VOLUME_DEEP) | (f.kind[1] == UND_VOLUME_DEEP);
    const und_lanes_int open = ~f.shut & (f.open > 0) & (f.speed != 0) & ~und_volumes_crowded(to);
    const und_lanes_int whole = open & (deep | ((kind == UND_VOLUME_HELD) & (f.kind[0] != f.kind[1])));
    const und_lanes_int own = open & ~deep & (kind == UND_VOLUME_ACTIVE) & (from > 0);
    und_lanes_int flux = none;
    if (und_lanes_bits(whole) & bits)
        flux = whole & und_volume_full_fluxes(a, &f, und_lanes_select(deep, f.speed, way));
    if (!(und_lanes_bits(own) & bits)) {
        und_lanes_int_store_some(a->flux + at, flux, bits);
        return;
    }
    const und_volume_given g = und_volume_give(a, axis, at, &f, way, from);
    und_lanes_int_store_some(a->flux + at, und_lanes_int_select(own, ~g.planes & g.flux, flux), bits);
    const unsigned cut = und_lanes_bits(own & g.planes) & bits;
    if (cut)
        add_planes(m, axis, at, &f, way, &g, cut, b);
}

/* What a chunk further on is to be read for: lists jump from row to row, which processors do not foresee. */
UND_INLINE void fetch_ahead(const und_volume_move_args *m, int axis, ptrdiff_t at)
{
    const ptrdiff_t *step = m->mac.step;
    und_volume_fetch(m->u[axis], at);
    und_volume_fetch(m->u[axis], at + step[axis]);
    und_volume_fetch(m->open[axis], at);
    und_volume_fetch(m->c, at);
    und_volume_fetch(m->c, at + step[axis]);
    und_volume_fetch(m->flux, at);
    und_volume_fetch(m->fresh ? m->phi : m->fraction, at + step[1] + step[2]);
}

/* What comes from other grids along the axis in a part of the step: into some rows. */
static void let_in(const move *m, int axis, und_place p)
{
    const und_volume_move_args *a = &m->args;
    for (int i = 0; i < m->flow->inflow_count; i++) {
        const und_volume_inflow *in = &m->flow->inflow[i];
        const int64_t all = in->amount;
        int cell[3];
        und_mac_cell(&a->mac, in->into, cell);
        const int row = cell[1] + cell[2] * a->mac.n[1];
        if (in->axis == axis && row >= (int)p.at && row < (int)p.at + p.x)
            a->flux[in->face] = (int32_t)(all * (a->part + 1) / a->parts - all * a->part / a->parts);
    }
}

/* Over faces of a slice. */
static void set_fluxes(const move *m, und_place p, int axis)
{
    const und_volume_move_args *a = &m->args;
    const size_t step = (size_t)a->mac.step[axis];
    const und_volume_chunk *const begin = a->chunk + a->row_chunks[p.at],
                                  *const end = a->chunk + a->row_chunks[p.at + (size_t)p.x];
    batch b = {0};
    for (const und_volume_chunk *k = begin; k < end; k++) {
        const size_t at = (size_t)k->at;
        const und_lanes_int below = und_lanes_bytes(a->kind + at - step);
        const und_lanes_int shut = (below == UND_VOLUME_DRY) | (below == UND_VOLUME_OTHERS);
        const unsigned low = k->bits & ~und_lanes_bits(und_volume_moved(a, at - step));
        const unsigned still = low & und_lanes_bits(shut);
        fetch_ahead(a, axis, k[UND_VOLUME_AHEAD].at);
        set_flux(m, axis, at, k->bits, &b);
        if (still)
            und_lanes_int_store_some(a->flux + at - step, (und_lanes_int){0}, still);
        if (low & ~still) /* whose faces are nobody else's */
            set_flux(m, axis, at - step, low & ~still, &b);
    }
    if (b.count > 0)
        finish(a, axis, &b);
    let_in(m, axis, p);
}
UND_KERNEL_AXES(set_fluxes, move, UND_EACH_BLOCK)

/* ---- What cells owe ---- */

/* A cell that gave away more of what it was lent than it had gets that back while those that it gave it to
 * are near, or from what left. */

static bool is_beside_out(const move *m, size_t at)
{
    for (int side = 0; side < 2 * m->args.axes && !m->flow->leaves; side++) {
        const size_t step = (size_t)m->v->mac.step[side / 2];
        if (m->args.kind[side % 2 ? at + step : at - step] == UND_VOLUME_OUT)
            return true;
    }
    return false;
}

/* What nobody around can pay a cell gets back from what left beside it. */
static void pay_by_left(const move *m, und_place p)
{
    const und_volume_chunk *const first = m->v->parts->chunk + p.at;
    for (const und_volume_chunk *k = first; k < first + p.x; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
    if (m->v->c[at] < 0 && is_beside_out(m, at)) {
        int cell[3];
        und_mac_cell(&m->v->mac, at, cell);
        __atomic_fetch_add(&m->args.row_sum[cell[1] + cell[2] * m->v->mac.n[1]], m->v->c[at],
                           __ATOMIC_RELAXED);
        m->v->c[at] = 0;
        und_volume_refresh(&m->args, at);
    }
}
UND_KERNEL(pay_by_left, move, UND_EACH_BLOCK)

/* Some threads may tell a cell, and all of them the same. */
static void refresh_shared(const und_volume_move_args *a, size_t at)
{
    int cell[3];
    und_mac_cell(&a->mac, at, cell);
    if (!und_mac_has(&a->mac, cell[0], cell[1], cell[2]))
        return;
    const und_lanes part = und_volume_fractions(a, at, und_lanes_int_load_some(a->c + at, 1));
    const float own = part[0];
    __atomic_store(&a->fraction[at], &own, __ATOMIC_RELAXED);
}

/* Cells that owed, and those that may have paid, are as full as they are now: what was lent them counts no
 * more. */
static void refresh_around(const move *m, und_place p)
{
    enum { AROUND = UND_VOLUME_AROUND };
    const und_volume_parts *parts = m->v->parts;
    const und_volume_chunk *const first = parts->chunk + p.at;
    for (const und_volume_chunk *k = first; k < first + p.x; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
    for (int i = 0; i < AROUND * AROUND; i++) {
        const size_t beside = (size_t)((ptrdiff_t)at + parts->around[i / AROUND]);
        const size_t next = (size_t)((ptrdiff_t)beside + parts->around[i % AROUND]);
        if (parts->own[beside] && parts->own[next])
            refresh_shared(&m->args, next);
    }
}
UND_KERNEL(refresh_around, move, UND_EACH_BLOCK)

/* ---- Parts and axes ---- */

/* What leaves over open sides along the axis is told. */
static void tell_leaving(const move *m, int axis)
{
    const und_mac *mac = &m->v->mac;
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    for (int high = 0; high < 2; high++) {
        int at[3];
        at[axis] = high ? mac->n[axis] - 1 : 0;
        for (at[b] = 0; at[b] < mac->n[b] && !m->walls->closed[2 * axis + high]; at[b]++)
            for (at[a] = 0; at[a] < mac->n[a]; at[a]++) {
                const size_t inner = und_mac_at(mac, at[0], at[1], at[2]);
                const int32_t flux = und_volume_leaves(&m->args, inner, axis, high);
                if (flux != 0)
                    m->flow->leaves(m->flow->context, 2 * axis + high, at, flux);
            }
    }
}

enum { AXES = 3, FURTHER = 2, PASSES = AXES * (2 + 2 * FURTHER) + 1 };
enum { PARTS = 6 }; /* of a step that one parallel region does */

enum { ROUNDS = 2, PAYING = 2 * ROUNDS + 2 };

typedef struct part_of_step {
    move m[AXES];
    und_pass pass[PASSES], pays[PAYING];
    und_volume_pay_args round[ROUNDS];
    bool none[ROUNDS];
    int count;
} part_of_step;

/* Slices beyond the next that fluxes are told by: that which a cell at the other side of a face is beside,
 * and where there are solids what is before it. */
static int further(const move *m, int axis)
{
    return (axis == 2) + (m->args.room != NULL);
}

/* The axis whose turn it is. */
static int axis_of(const move *m, int part, int a)
{
    const int axes = m->args.axes, turn = (int)((m->flow->step + part) % axes);
    const bool back = (m->flow->step + part) / axes % 2;
    return (turn + (back ? axes - a : a)) % axes;
}

static void add_axis(const move *whole, int part, int a, const und_set *slices, part_of_step *to)
{
    const int axis = axis_of(whole, part, a);
    move *m = &to->m[a];
    *m = *whole;
    m->args.part = part;
    m->args.fresh = part == 0;
    m->args.ends = a == whole->args.axes - 1;
    m->args.last = m->args.ends && part == whole->args.parts - 1;
    for (int i = 0; i < further(whole, axis); i++)
        to->pass[to->count++] = UND_PASS_NONE(slices);
    to->pass[to->count++] = UND_PASS_AXIS(set_fluxes, axis, m, slices);
    for (int i = 0; i < further(whole, axis); i++)
        to->pass[to->count++] = UND_PASS_NONE(slices);
    to->pass[to->count++] = UND_PASS_AXIS(und_volume_add, axis, &m->args, slices);
}

/* In each round those that are left of the one before ask. */
static int add_paying(const move *whole, const und_set *chunks, part_of_step *p, und_step *steps)
{
    int count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        p->none[round] = true;
        p->round[round] = (und_volume_pay_args){.m = whole->args, .none = &p->none[round]};
        p->pays[count] = UND_PASS(und_volume_ask, &p->round[round], chunks);
        p->pays[count + 1] = UND_PASS(und_volume_pay, &p->round[round], chunks);
        steps[count] = (und_step){
            .passes = &p->pays[count], .count = 1, .unless = round > 0 ? &p->none[round - 1] : NULL};
        steps[count + 1] = (und_step){.passes = &p->pays[count + 1], .count = 1, .unless = &p->none[round]};
        count += 2;
    }
    if (whole->args.any_open && !whole->flow->leaves) {
        p->pays[count] = UND_PASS(pay_by_left, whole, chunks);
        steps[count] = (und_step){.passes = &p->pays[count], .count = 1};
        count++;
    }
    p->pays[count] = UND_PASS(refresh_around, whole, chunks);
    steps[count] = (und_step){.passes = &p->pays[count], .count = 1, .unless = &p->none[0]};
    return count + 1;
}

/* Some parts of the step, an axis after the other: all in one go where nobody asks what leaves. */
static void move_parts(const move *whole, int first, int end)
{
    const und_device device = whole->v->device;
    const und_set slices = und_set_slices(&whole->v->mac, UND_ROWS_INSIDE);
    part_of_step parts[PARTS];
    const und_set chunks = und_volume_chunks(whole->v);
    und_step steps[PARTS * (PASSES + PAYING)];
    int count = 0;
    for (int part = first; part < end; part++) {
        part_of_step *p = &parts[part - first];
        p->count = 0;
        if (part == 0)
            p->pass[p->count++] = UND_PASS(und_volume_begin, &whole->args, &slices);
        for (int a = 0; a < whole->args.axes; a++) {
            add_axis(whole, part, a, &slices, p);
            if (!whole->flow->leaves)
                continue;
            und_pass_chain(&device, p->pass, p->count);
            p->count = 0;
            tell_leaving(&p->m[a], axis_of(whole, part, a));
        }
        if (p->count > 0)
            count += und_pass_chain_steps(steps + count, p->pass, p->count);
        count += add_paying(whole, &chunks, p, steps + count);
        if (whole->flow->leaves) {
            und_pass_steps(&device, steps, count);
            count = 0;
        }
    }
    und_pass_steps(&device, steps, count);
}

static und_volume_move_args args_of(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                                    const und_volume_flow *flow)
{
    const und_volume_parts *p = v->parts;
    und_volume_move_args m = {.mac = v->mac,
                              .axes = v->mac.n[2] > 1 ? 3 : 2,
                              .c = v->c,
                              .flux = p->flux,
                              .extra = p->extra,
                              .fraction = p->fraction,
                              .kind = p->kind,
                              .unsure = p->unsure,
                              .to = p->to,
                              .inside = p->inside,
                              .own = p->own,
                              .others = p->others,
                              .film = v->film,
                              .beside_thin = walls->beside_thin,
                              .phi = d->phi,
                              .distance = walls->distance,
                              .room = walls->room,
                              .held = flow->held,
                              .chunk = p->chunk,
                              .row_chunks = p->row_chunks,
                              .wakes = p->wakes,
                              .per_row = p->per_row,
                              .block_most = p->block_most,
                              .row_sum = p->row_sum,
                              .whole = (float)flow->per_speed,
                              .poured = flow->poured};
    for (int a = 0; a < 3; a++) {
        m.u[a] = flow->u[a];
        m.open[a] = walls->open[a];
    }
    for (int side = 0; side < 2 * m.axes; side++) {
        m.closed[side] = walls->closed[side];
        m.any_open |= !walls->closed[side];
    }
    m.reach = fminf((float)(flow->fastest * flow->per_speed), (float)flow->layers - 2);
    return m;
}

/* In a part of the step a flux across slices is told by two on either side and where there are solids one
 * more, one across others by those beside; and what a cell gets of what it owes is told by who asks the one
 * that it asks, two away, by what these see, two away, in each round.  Before all of them, cells are woken as
 * far as liquid comes. */
static int reach_beyond(const move *m)
{
    enum { IN_ROUND = 3 * UND_VOLUME_PAY_REACH, IN_PART = 8 + ROUNDS * IN_ROUND };
    const int parts = (int)ceil(m->flow->fastest * m->flow->per_speed / (double)FURTHEST);
    return (parts < 1 ? 1 : parts) * IN_PART + (int)ceilf(m->args.reach) + 2;
}

int64_t und_volume_move(und_volume *v, const und_distance *d, const und_volume_walls *walls,
                        const und_volume_flow *flow)
{
    move m = {.args = args_of(v, d, walls, flow),
              .cells = und_volume_arrays_of(v),
              .v = v,
              .d = d,
              .walls = walls,
              .flow = flow};
    int64_t left = 0;
    v->parts->held = flow->held != NULL;
    und_volume_get(v, d, flow->u, reach_beyond(&m));
    m.args.parts = find_cells(&m, v);
    m.args.per = m.args.whole / (float)m.args.parts;
    m.stays = flow->stays / sqrtf((float)m.args.parts);
    for (int part = 0; part < m.args.parts; part += PARTS)
        move_parts(&m, part, part + PARTS < m.args.parts ? part + PARTS : m.args.parts);
    und_volume_get_rows(v, v->parts->row_sum, sizeof *v->parts->row_sum);
    UND_MAC_EACH_ROW (&v->mac, row)
        left += v->parts->row_sum[row];
    return left;
}
