/* What goes over faces as cells' contents move: of planes, of films, and what comes from other grids; which
 * cells are woken for it, and what is done where some owe afterwards. */
#ifndef UND_SURFACE_VOLUME_FLUX_KERNEL_H
#define UND_SURFACE_VOLUME_FLUX_KERNEL_H

#include "surface/volume_list_kernel.h"
#include "surface/volume_pay_kernel.h"
#include "surface/volume_walls_kernel.h"

#define UND_VOLUME_FLUX_LEAVES 0.5f  /* cells in a part: off a wall */
#define UND_VOLUME_FLUX_TRACE 0.005f /* of a contact line's thickness: is left of a film */

typedef struct und_volume_moving {
    und_volume_move_args args;
    und_volume_arrays cells;
    und_volume_walls walls;
    float pin, stays; /* cells: und_volume_flow's; a layer on walls that does not come along in a part */
    bool told;        /* somebody is told what leaves by open sides */
    int inflow_count;
    const und_volume_inflow *inflow;
} und_volume_moving;

/* What lists cells that the flow goes through knows. */
typedef struct und_volume_moved_cells {
    und_volume_list_args list;
    und_volume_move_args m;
} und_volume_moved_cells;

/* ---- Which cells ---- */

/* Around what phi does not show, cells count too, as far as it comes. */
static inline void und_volume_wake(const und_volume_move_args *m, size_t at, const int from[3])
{
    const int *n = m->mac.n;
    const float fastest = und_volume_fastest(m, at)[0];
    const int by = (int)__builtin_ceilf(1.3f * fastest < m->reach ? 1.3f * fastest : m->reach) + 1;
    int low[3], high[3];
    for (int a = 0; a < 3; a++) {
        low[a] = from[a] - by > 0 ? from[a] - by : 0;
        high[a] = from[a] + by < n[a] - 1 ? from[a] + by : n[a] - 1;
    }
    for (int k = low[2]; k <= high[2]; k++)
        for (int j = low[1]; j <= high[1]; j++)
            for (int i = low[0]; i <= high[0]; i++) {
                uint8_t *kind = m->kind + und_mac_at(&m->mac, i, j, k);
                if (und_shared_byte(kind) == UND_VOLUME_DRY)
                    und_shared_set_byte(kind, UND_VOLUME_ACTIVE);
            }
}

/* What is woken holds nothing, and wakes no others: the same in any order. */
static inline void und_volume_wake_around_thin(const und_volume_move_args *m, und_place p)
{
    const uint16_t *wakes = m->wakes + (size_t)(p.y + p.z * m->mac.n[1]) * (size_t)m->per_row;
    const und_span span = und_mac_span(&m->mac, p.y, p.z);
    for (int some = span.begin / UND_LANES; some * UND_LANES < span.end; some++)
        for (unsigned bits = wakes[some]; bits; bits &= bits - 1) {
            const int x = some * UND_LANES + __builtin_ctz(bits);
            und_volume_wake(m, p.at + (size_t)x, (const int[3]){x, p.y, p.z});
        }
}
UND_KERNEL(und_volume_wake_around_thin, und_volume_move_args, UND_EACH_ROW)

/* Cells that get something from other grids. */
static inline void und_volume_wake_inflow(const und_volume_moving *m, und_place p)
{
    const und_volume_move_args *a = &m->args;
    const und_lanes_int active = (und_lanes_int){0} + UND_VOLUME_ACTIVE;
    (void)p;
    for (int i = 0; i < m->inflow_count; i++) {
        const size_t into = m->inflow[i].into;
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
UND_KERNEL(und_volume_wake_inflow, und_volume_moving, UND_EACH_BLOCK)

static inline unsigned und_volume_look_moved(const void *context, size_t at)
{
    return und_lanes_bits(und_volume_moved(&((const und_volume_moved_cells *)context)->m, at));
}

UND_INLINE void und_volume_mark_moved(const und_volume_moved_cells *a, und_place p)
{
    und_volume_mark_rows(&a->list, p, und_volume_look_moved, NULL, a);
}
UND_KERNEL(und_volume_mark_moved, und_volume_moved_cells, UND_EACH_BLOCK)

/* ---- Fluxes ---- */

/* Some faces that planes are to be found for: two vectors of them at once, as each has long to wait for
 * itself. */
enum { UND_VOLUME_FLUX_AT_ONCE = 2 * UND_LANES, UND_VOLUME_FLUX_ROOM = 3 * UND_LANES };
typedef struct und_volume_flux_batch {
    int count;
    int32_t face[UND_VOLUME_FLUX_ROOM], most[UND_VOLUME_FLUX_ROOM];
    float part[UND_VOLUME_FLUX_ROOM], slope[3][UND_VOLUME_FLUX_ROOM], way[UND_VOLUME_FLUX_ROOM],
        open[UND_VOLUME_FLUX_ROOM];
} und_volume_flux_batch;

/* The first of them. */
static inline void und_volume_flux_finish(const und_volume_move_args *m, int axis, und_volume_flux_batch *b)
{
    const int count = b->count < UND_VOLUME_FLUX_AT_ONCE ? b->count : UND_VOLUME_FLUX_AT_ONCE;
    int32_t units[UND_VOLUME_FLUX_AT_ONCE];
    for (int first = 0; first < count; first += UND_LANES) {
        const und_lanes slope[3] = {und_lanes_load(b->slope[0] + first), und_lanes_load(b->slope[1] + first),
                                    und_lanes_load(b->slope[2] + first)};
        const und_lanes flux = und_volume_plane_flux(und_lanes_load(b->part + first), slope, axis,
                                                     und_lanes_load(b->way + first));
        const und_lanes_int all = und_volumes_units(und_lanes_load(b->open + first) * flux);
        const und_lanes_int kept = und_volumes_at_most(all, und_lanes_int_load(b->most + first));
        __builtin_memcpy(units + first, &kept, sizeof kept);
    }
    for (int i = 0; i < count; i++)
        m->flux[b->face[i]] = units[i];
    b->count -= count;
}

/* And the others are the first. */
static inline void und_volume_flux_finish_some(const und_volume_move_args *m, int axis,
                                               und_volume_flux_batch *b)
{
    enum { REST = UND_LANES * sizeof(float) };
    und_volume_flux_finish(m, axis, b);
    __builtin_memcpy(b->face, b->face + UND_VOLUME_FLUX_AT_ONCE, REST);
    __builtin_memcpy(b->most, b->most + UND_VOLUME_FLUX_AT_ONCE, REST);
    __builtin_memcpy(b->part, b->part + UND_VOLUME_FLUX_AT_ONCE, REST);
    __builtin_memcpy(b->way, b->way + UND_VOLUME_FLUX_AT_ONCE, REST);
    __builtin_memcpy(b->open, b->open + UND_VOLUME_FLUX_AT_ONCE, REST);
    for (int a = 0; a < 3; a++)
        __builtin_memcpy(b->slope[a], b->slope[a] + UND_VOLUME_FLUX_AT_ONCE, REST);
}

static inline void und_volume_flux_pack(int32_t *to, und_lanes_int v, unsigned which)
{
    float packed[UND_LANES] = {0};
    und_lanes_pack(packed, (und_lanes)v, which);
    __builtin_memcpy(to, packed, sizeof packed);
}

/* ---- Films ---- */

/* A contact line is somewhere in the cell where a film ends: it comes to the next once that is as full as a
 * puddle is thick, or as the film behind it. */
static inline bool und_volume_ends_in(const und_volume_moving *m, size_t at)
{
    const und_volume_arrays *v = &m->cells;
    int32_t behind = 0;
    if (v->c[at] >= und_volume_units(m->pin))
        return false;
    for (int way = 0; way < 2 * m->args.axes; way++) {
        const size_t step = (size_t)v->mac.step[way / 2], next = way % 2 ? at + step : at - step;
        behind = v->inside[next] && v->c[next] > behind ? v->c[next] : behind;
    }
    return v->c[at] < behind - behind / 8;
}

/* Of what runs off a wall, and nothing follows, the wall holds a layer back. */
static inline int32_t und_volume_leaves_most(const und_volume_moving *m, size_t from, size_t behind,
                                             int32_t most)
{
    const int32_t c = m->cells.c[from], follows = m->cells.inside[behind] ? m->cells.c[behind] : 0;
    if (follows <= 0)
        return most;
    const int32_t stays = und_volume_units(follows > c / 2 ? UND_VOLUME_FLUX_TRACE * m->pin : m->stays);
    const int32_t leaves = c / 2 > stays ? c - stays : c / 2;
    return most < leaves ? most : leaves;
}

/* The same of a film on a slanted wall, from column to column: as it lies anyhow in their cells, as much of
 * what is in a cell goes as the flow goes of the cell.  Off the wall none does. */
static inline bool und_volume_slanted_flux(const und_volume_moving *m, int axis, size_t from, size_t to,
                                           const und_volume_flux_batch *b, const float normal[3])
{
    const und_volume_arrays *v = &m->cells;
    const int i = b->count;
    const size_t step = (size_t)v->mac.step[axis], behind = to > from ? from - step : from + step;
    m->args.flux[b->face[i]] = 0;
    if (axis == und_volume_across(normal) ||
        und_volume_film_stands(&m->cells, &m->walls, behind, from, to, normal, m->pin))
        return false;
    const float part = und_volume_film_part(&m->walls, from, b->open[i]);
    const int32_t most = und_volume_leaves_most(m, from, behind, b->most[i]);
    const int32_t flux = und_volume_units(b->way[i] * part * und_volume_cells(v->c[from]));
    m->args.flux[b->face[i]] = flux > most ? most : flux < -most ? -most : flux;
    return false;
}

/* What falls off a ceiling is not at it any more after the first part of a step; nor is what leaves a wall so
 * fast: however thin it is, it would be put back to the wall in each part. */
static inline bool und_volume_comes_off(const und_volume_walls *walls, const float normal[3], float way)
{
    return __builtin_fabsf(way) > UND_VOLUME_FLUX_LEAVES || walls->gravity[0] * (double)normal[0] +
                                                                    walls->gravity[1] * (double)normal[1] +
                                                                    walls->gravity[2] * (double)normal[2] >
                                                                0;
}

/* What goes over a face out of the last of the und_volume_flux_batch, which is a film: its slope is the
 * wall's.  False: the flux is known, as none goes on at a film's end that stands, and along a wall that cuts
 * the cell all of it does. */
static inline bool und_volume_film_flux(const und_volume_moving *m, int axis, size_t from, size_t to,
                                        und_volume_flux_batch *b)
{
    const und_volume_arrays *v = &m->cells;
    const int i = b->count;
    const size_t step = (size_t)v->mac.step[axis], behind = to > from ? from - step : from + step;
    float distance, slope[3];
    if (!und_volume_leans(&m->cells, &m->walls, from, &distance, slope))
        return true;
    const bool slanted = und_volume_is_slanted(&m->cells, &m->walls, m->args.phi, from, slope);
    const bool across = axis == und_volume_across(slope), off = (to > from) == (slope[axis] > 0);
    if (slanted && (!across || off))
        return und_volume_slanted_flux(m, axis, from, to, b, slope);
    if (v->c[to] <= 0 && __builtin_fabsf(slope[axis]) < 0.5f && und_volume_ends_in(m, from) &&
        !und_volume_is_hole(&m->cells, to, slope))
        return false;
    const float space = und_volume_room(&m->walls, from);
    b->most[i] = und_volume_leaves_most(m, from, behind, b->most[i]);
    if (v->film[to] && v->c[to] > v->c[from] && v->c[behind] <= 0) /* drawn back: as thick as before it */
        b->part[i] = und_volume_cells(v->c[to]) / (space > 1e-3f ? space : 1e-3f);
    if (!und_volume_is_straight(slope) ||
        (across && off && und_volume_comes_off(&m->walls, slope, b->way[i]))) {
        const float open = b->open[i] < space ? b->open[i] : space,
                    part = b->part[i] < 1.5f ? b->part[i] : 1.5f;
        const int32_t flux = und_volume_units(open * (b->way[i] * part)), most = b->most[i];
        m->args.flux[b->face[i]] = flux > most ? most : flux < -most ? -most : flux;
        return false;
    }
    for (int a = 0; a < 3; a++)
        b->slope[a][i] = slope[a];
    return true;
}

/* ---- Planes ---- */

/* Of UND_LANES faces from one on: what planes need to know. */
typedef struct und_volume_flux_planes {
    const und_volume_faces *f;
    const und_volume_given *g;
    und_lanes way, slope[3];
} und_volume_flux_planes;

static inline void und_volume_find_planes(const und_volume_move_args *m, int axis, size_t at, unsigned bits,
                                          und_volume_flux_planes *p)
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

/* Behind those of the und_volume_flux_batch: it does not count them yet. */
static inline void und_volume_put_planes(size_t at, const und_volume_flux_planes *p, unsigned bits,
                                         und_volume_flux_batch *b)
{
    und_lanes_int face = {0};
    for (int i = 0; i < UND_LANES; i++)
        face[i] = (int32_t)at + i;
    und_volume_flux_pack(b->face + b->count, face, bits);
    und_volume_flux_pack(b->most + b->count, p->g->most, bits);
    und_lanes_pack(b->part + b->count, p->g->part, bits);
    und_lanes_pack(b->way + b->count, p->way, bits);
    und_lanes_pack(b->open + b->count, p->f->open, bits);
    for (int a = 0; a < 3; a++)
        und_lanes_pack(b->slope[a] + b->count, p->slope[a], bits);
}

static inline void und_volume_add_planes(const und_volume_moving *m, int axis, size_t at,
                                         const und_volume_faces *f, und_lanes way, const und_volume_given *g,
                                         unsigned bits, und_volume_flux_batch *b)
{
    const size_t step = (size_t)m->cells.mac.step[axis];
    und_volume_flux_planes p = {f, g, way, {{0}}};
    und_volume_find_planes(&m->args, axis, at, bits, &p);
    unsigned films = bits & und_lanes_bits(g->film);
    und_volume_put_planes(at, &p, bits & ~films, b);
    b->count += __builtin_popcount(bits & ~films);
    if (b->count >= UND_VOLUME_FLUX_AT_ONCE)
        und_volume_flux_finish_some(&m->args, axis, b);
    for (; films; films &= films - 1) {
        const size_t low = at + (size_t)__builtin_ctz(films), high = low + step;
        const bool up = und_lanes_bits(f->up) & films & -films;
        und_volume_put_planes(at, &p, films & -films, b);
        if (und_volume_film_flux(m, axis, up ? low : high, up ? high : low, b) &&
            ++b->count == UND_VOLUME_FLUX_AT_ONCE)
            und_volume_flux_finish_some(&m->args, axis, b);
    }
}

/* Over the high faces of the cells that `bits` says, at once or when the batch is full. */
static inline void und_volume_set_flux(const und_volume_moving *m, int axis, size_t at, unsigned bits,
                                       und_volume_flux_batch *b)
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
    const und_lanes_int open = ~f.shut & (f.open > 0) & (f.speed != 0) & (deep | ~und_volumes_crowded(to));
    const und_lanes_int whole = open & (deep | ((kind == UND_VOLUME_HELD) & (f.kind[0] != f.kind[1])));
    const und_lanes_int own = open & ~deep & (kind == UND_VOLUME_ACTIVE) & (from > 0);
    und_lanes_int flux = none;
    if (und_lanes_bits(whole) & bits)
        flux = whole & und_volume_full_fluxes(a, &f, way);
    if (!(und_lanes_bits(own) & bits)) {
        und_lanes_int_store_some(a->flux + at, flux, bits);
        return;
    }
    const und_volume_given g = und_volume_give(a, axis, at, &f, way, from);
    und_lanes_int_store_some(a->flux + at, und_lanes_int_select(own, ~g.planes & g.flux, flux), bits);
    const unsigned cut = und_lanes_bits(own & g.planes) & bits;
    if (cut)
        und_volume_add_planes(m, axis, at, &f, way, &g, cut, b);
}

/* What a chunk further on is to be read for: lists jump from row to row, which processors do not foresee. */
UND_INLINE void und_volume_fetch_ahead(const und_volume_move_args *m, int axis, ptrdiff_t at)
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
static inline void und_volume_let_in(const und_volume_moving *m, int axis, und_place p)
{
    const und_volume_move_args *a = &m->args;
    for (int i = 0; i < m->inflow_count; i++) {
        const und_volume_inflow *in = &m->inflow[i];
        const int64_t all = in->amount;
        int cell[3];
        und_mac_cell(&a->mac, in->into, cell);
        const int row = cell[1] + cell[2] * a->mac.n[1];
        if (in->axis == axis && row >= (int)p.at && row < (int)p.at + p.x)
            a->flux[in->face] = (int32_t)(all * (a->part + 1) / a->parts - all * a->part / a->parts);
    }
}

/* Over faces of a slice. */
static inline void und_volume_set_fluxes(const und_volume_moving *m, und_place p, int axis)
{
    const und_volume_move_args *a = &m->args;
    const size_t step = (size_t)a->mac.step[axis];
    const und_volume_chunk *const begin = a->chunk + a->row_chunks[p.at],
                                  *const end = a->chunk + a->row_chunks[p.at + (size_t)p.x];
    und_volume_flux_batch b = {0};
    for (const und_volume_chunk *k = begin; k < end; k++) {
        const size_t at = (size_t)k->at;
        const und_lanes_int below = und_lanes_bytes(a->kind + at - step);
        const und_lanes_int shut = (below == UND_VOLUME_DRY) | (below == UND_VOLUME_OTHERS);
        const unsigned low = k->bits & ~und_lanes_bits(und_volume_moved(a, at - step));
        const unsigned still = low & und_lanes_bits(shut);
        und_volume_fetch_ahead(a, axis, k[UND_VOLUME_AHEAD].at);
        und_volume_set_flux(m, axis, at, k->bits, &b);
        if (still)
            und_lanes_int_store_some(a->flux + at - step, (und_lanes_int){0}, still);
        if (low & ~still) /* whose faces are nobody else's */
            und_volume_set_flux(m, axis, at - step, low & ~still, &b);
    }
    if (b.count > 0)
        und_volume_flux_finish(a, axis, &b);
    und_volume_let_in(m, axis, p);
}
UND_KERNEL_AXES(und_volume_set_fluxes, und_volume_moving, UND_EACH_BLOCK)

/* ---- What cells owe ---- */

/* A cell that gave away more of what it was lent than it had gets that back while those that it gave it to
 * are near, or from what left. */

static inline bool und_volume_is_beside_out(const und_volume_moving *m, size_t at)
{
    for (int side = 0; side < 2 * m->args.axes && !m->told; side++) {
        const size_t step = (size_t)m->cells.mac.step[side / 2];
        if (m->args.kind[side % 2 ? at + step : at - step] == UND_VOLUME_OUT)
            return true;
    }
    return false;
}

/* What nobody around can pay a cell gets back from what left beside it. */
static inline void und_volume_pay_by_left(const und_volume_moving *m, und_place p)
{
    const und_volume_chunk *const first = m->cells.chunk + p.at;
    for (const und_volume_chunk *k = first; k < first + p.x; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
    if (m->cells.c[at] < 0 && und_volume_is_beside_out(m, at)) {
        int cell[3];
        und_mac_cell(&m->cells.mac, at, cell);
        und_shared_sum((uint64_t *)&m->args.row_sum[cell[1] + cell[2] * m->cells.mac.n[1]],
                       (uint64_t)(int64_t)m->cells.c[at]);
        m->cells.c[at] = 0;
        und_volume_refresh(&m->args, at);
    }
}
UND_KERNEL(und_volume_pay_by_left, und_volume_moving, UND_EACH_BLOCK)

/* Some threads may tell a cell, and all of them the same. */
static inline void und_volume_refresh_shared(const und_volume_move_args *a, size_t at)
{
    int cell[3];
    und_mac_cell(&a->mac, at, cell);
    if (!und_mac_has(&a->mac, cell[0], cell[1], cell[2]))
        return;
    const und_lanes part = und_volume_fractions(a, at, und_lanes_int_load_some(a->c + at, 1));
    und_shared_set_float(&a->fraction[at], part[0]);
}

/* Cells that owed, and those that may have paid, are as full as they are now: what was lent them counts no
 * more. */
static inline void und_volume_refresh_around(const und_volume_moving *m, und_place p)
{
    enum { AROUND = UND_VOLUME_AROUND };
    const und_volume_arrays *parts = &m->cells;
    const und_volume_chunk *const first = parts->chunk + p.at;
    for (const und_volume_chunk *k = first; k < first + p.x; k++)
        UND_VOLUME_OF_CHUNK(k, k->gives, at)
    for (int i = 0; i < AROUND * AROUND; i++) {
        const size_t beside = (size_t)((ptrdiff_t)at + parts->around[i / AROUND]);
        const size_t next = (size_t)((ptrdiff_t)beside + parts->around[i % AROUND]);
        if (parts->own[beside] && parts->own[next])
            und_volume_refresh_shared(&m->args, next);
    }
}
UND_KERNEL(und_volume_refresh_around, und_volume_moving, UND_EACH_BLOCK)

#endif
