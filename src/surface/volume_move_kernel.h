/* What cells hold goes along with the flow: which cells it goes through, and what is added to them.
 *
 * Passes over slices: those of one part of the step follow each other as a chain, while what they read is in
 * the cache. */
#ifndef UND_SURFACE_VOLUME_MOVE_KERNEL_H
#define UND_SURFACE_VOLUME_MOVE_KERNEL_H

#include "grid/pass.h"
#include "surface/volume_kernel.h"

#define UND_VOLUME_LEAST_ROOM 0.05f   /* of a cell: those with less say nothing about the surface */
#define UND_VOLUME_RISEN 1.6f         /* cells: phi beside liquid that is no distance to it */
#define UND_VOLUME_FULL (1 - 1e-4f)   /* of a cell's room: a plane has no say in what has more, */
#define UND_VOLUME_MIST 1e-5f         /* or less */
enum { UND_VOLUME_PAY_NOBODY = 255 }; /* in to[] */
#define UND_VOLUME_ALOFT_FROM 0.9f    /* cells: phi of what it shows nothing of */

/* Of either sign. */
UND_INLINE und_lanes_int und_volumes_at_most(und_lanes_int units, und_lanes_int most)
{
    return und_lanes_int_select(units > most, most, und_lanes_int_select(units < -most, -most, units));
}

typedef struct und_volume_move_args {
    und_mac mac;
    int axes, parts, part;
    int32_t *c, *flux, *extra; /* extra: what cells were lent */
    float *fraction;
    uint8_t *kind, *unsure, *to; /* to: whom cells ask that owe something (volume_pay_kernel.h) */
    const uint8_t *inside, *own, *film, *beside_thin;
    const float *phi, *u[3], *open[3], *distance;
    const float *room; /* NULL: there are no solids */
    const und_mask *held;
    bool closed[6], any_open;
    bool others;             /* some cells are another grid's */
    und_volume_chunk *chunk; /* those of row r begin at row_chunks[r], and end at row_chunks[r + 1] */
    const int32_t *row_chunks;
    uint16_t *wakes; /* of each UND_LANES cells of rows: bits of those that wake others */
    int per_row;
    float *block_most;  /* of each block of rows: what is crossed in the step, cells */
    int64_t *row_sum;   /* of each row: what left by open sides */
    float whole, reach; /* cells at 1 m/s; cells at most */
    float per;          /* as whole, of a part */
    float poured;       /* what held cells give, over what the flow takes */
    bool fresh;         /* in the first part phi still is where what cells hold is */
    bool ends, last;    /* the last axis of a part of the step; of all */
} und_volume_move_args;

UND_INLINE und_lanes und_volume_rooms_at(const float *room, size_t at)
{
    return room ? und_lanes_load(room + at) : und_lanes_all(1);
}

/* ---- Which cells ---- */

/* Of UND_LANES cells from x on in a row: bits of those at open sides. */
UND_INLINE unsigned und_volume_beside_open(const und_volume_move_args *m, int x, int y, int z)
{
    const int *n = m->mac.n, at[3] = {x, y, z};
    const bool *closed = m->closed;
    for (int a = 1; a < m->axes; a++)
        if ((at[a] == 0 && !closed[2 * a]) || (at[a] == n[a] - 1 && !closed[2 * a + 1]))
            return UND_LANES_ALL;
    const unsigned low = x == 0 && !closed[0] ? 1 : 0;
    return n[0] - 1 - x < UND_LANES && !closed[1] ? low | 1u << (n[0] - 1 - x) : low;
}

UND_INLINE und_lanes und_volume_fastest(const und_volume_move_args *m, size_t at)
{
    und_lanes most = {0};
    for (int a = 0; a < m->axes; a++) {
        const und_lanes high = und_lanes_load(m->u[a] + at),
                        low = und_lanes_load(m->u[a] + at - m->mac.step[a]);
        most = und_lanes_max(und_lanes_max(high, -high), most);
        most = und_lanes_max(und_lanes_max(low, -low), most);
    }
    return most * m->whole;
}

/* Whether the cells beside some have what the flow may ask for: where liquid leaves by an open side, and none
 * comes in, or solids draw back, they may be empty though phi is still below 0. */
UND_INLINE und_lanes_int und_volume_among_full(const und_volume_move_args *m, size_t at, und_lanes_int asked)
{
    const int32_t *c = m->c + at, least = und_volume_units(0.5f);
    und_lanes_int empty = {0};
    for (int a = 0; a < m->axes; a++) {
        const ptrdiff_t step = m->mac.step[a];
        const float *open = m->open[a] + at;
        const und_lanes_int high = und_lanes_int_load(c + step) < least;
        const und_lanes_int low = und_lanes_int_load(c - step) < least;
        if (und_lanes_bits((high | low) & asked))
            empty |= (high & (und_lanes_load(open) > 0)) | (low & (und_lanes_load(open - step) > 0));
    }
    return ~empty;
}

/* Inside of the liquid, further than the surface comes, cells are full. */
UND_INLINE und_lanes_int und_volume_kind(const und_volume_move_args *m, size_t at, unsigned open)
{
    const und_lanes phi = und_lanes_load(m->phi + at), room = und_volume_rooms_at(m->room, at);
    const und_lanes_int c = und_lanes_int_load(m->c + at), dry = (und_lanes_int){0} + UND_VOLUME_DRY;
    const und_lanes off = und_volumes_cells(c) - 1;
    const und_lanes_int empty = (c == 0) & ((phi > m->reach + 0.6f) | ~(room > 0));
    if (und_lanes_bits(empty) == UND_LANES_ALL)
        return dry;
    und_lanes_int full = (off < 0.05f) & (off > -0.05f) & (room == 1) & ~und_lanes_where(open);
    if (und_lanes_bits(full & (phi < -1)))
        full &= und_volume_among_full(m, at, full);
    const und_lanes_int deep = (phi < -(m->reach + 1)) & full; /* however fast */
    const und_lanes_int kind = und_lanes_int_select(empty, dry, dry + UND_VOLUME_DEEP);
    if (und_lanes_bits(empty | deep) == UND_LANES_ALL)
        return kind;
    const und_lanes own = 1.3f * und_volume_fastest(m, at), most = und_lanes_all(m->reach);
    const und_lanes reach = und_lanes_select(own < most, own, most);
    const und_lanes_int active = (phi < reach + 0.6f) | (c != 0);
    const und_lanes_int near = und_lanes_int_select(active, dry + UND_VOLUME_ACTIVE, dry);
    return und_lanes_int_select(empty | deep | ((phi < -(reach + 1)) & full), kind, near);
}

/* Those whose films have just come to be liquid, as thick as they are: phi around is not yet a distance to
 * them. */
UND_INLINE und_lanes_int und_volume_risen(const und_volume_move_args *m, size_t at, und_lanes_int wet)
{
    const float *phi = m->phi + at;
    und_lanes beside = und_lanes_load(phi);
    wet &= beside < 0;
    if (!und_lanes_bits(wet))
        return wet;
    for (int a = 0; a < m->axes; a++) {
        const ptrdiff_t step = m->mac.step[a];
        beside = und_lanes_max(beside, und_lanes_max(und_lanes_load(phi + step), und_lanes_load(phi - step)));
    }
    return wet & (beside > und_lanes_all(UND_VOLUME_RISEN));
}

/* Of UND_LANES cells, bits of the active ones around which cells count too: what is there phi does not
 * show. */
UND_INLINE unsigned und_volume_wakers(const und_volume_move_args *m, size_t at, und_lanes_int kind)
{
    const und_lanes_int active = kind == UND_VOLUME_ACTIVE;
    if (!und_lanes_bits(active))
        return 0;
    const und_lanes phi = und_lanes_load(m->phi + at);
    const und_lanes_int c = und_lanes_int_load(m->c + at), film = und_lanes_bytes(m->film + at) != 0;
    const und_lanes_int aloft = (c != 0) & (phi >= 0) & ((phi > UND_VOLUME_ALOFT_FROM) | film);
    return und_lanes_bits(active & (aloft | und_volume_risen(m, at, active & (c > 0))));
}

UND_INLINE void und_volume_fill_row(uint8_t *row, int count, int value)
{
    for (int x = 0; x < count; x += UND_LANES)
        und_lanes_bytes_store_some(row + x, (und_lanes_int){0} + value,
                                   und_volume_row_bits((size_t)(count - x)));
}

/* Beyond open sides is where it goes and nothing comes from. */
UND_INLINE void und_volume_kinds_beside(const und_volume_move_args *m, und_place p)
{
    const int at[3] = {0, p.y, p.z};
    const und_span span = und_mac_span(&m->mac, p.y, p.z);
    uint8_t *row = m->kind + p.at;
    for (int side = 0; side < 2 * m->axes; side++) {
        const int a = side / 2, n = m->mac.n[a], out = m->closed[side] ? UND_VOLUME_DRY : UND_VOLUME_OUT;
        if (a == 0 && und_mac_has(&m->mac, side ? n : -1, p.y, p.z))
            row[side ? n : -1] = (uint8_t)out;
        else if (a > 0 && at[a] == (side % 2 ? n - 1 : 0))
            und_volume_fill_row((side % 2 ? row + m->mac.step[a] : row - m->mac.step[a]) + span.begin,
                                span.end - span.begin, out);
    }
}

UND_INLINE void und_volume_kinds(const und_volume_move_args *m, und_place p)
{
    const und_span span = und_mac_span(&m->mac, p.y, p.z);
    uint16_t *wakes = m->wakes + (size_t)(p.y + p.z * m->mac.n[1]) * (size_t)m->per_row;
    for (int x = span.begin / UND_LANES * UND_LANES; x < span.end; x += UND_LANES) {
        const size_t at = p.at + (size_t)x;
        const unsigned bits = und_span_bits(span, x, UND_LANES);
        const unsigned open = m->any_open ? und_volume_beside_open(m, x, p.y, p.z) : 0;
        und_lanes_int own = {0}, kind = und_volume_kind(m, at, open);
        own = ~own;
        if (m->others) {
            own = und_lanes_bytes(m->own + at) != 0;
            kind = und_lanes_int_select(own, kind, (und_lanes_int){0} + UND_VOLUME_OTHERS);
        }
        if (m->held) {
            const unsigned held = und_mask_sixteen(m->held, und_mask_row(m->held, p.y, p.z), x);
            kind = und_lanes_int_select(und_lanes_where(held & UND_LANES_ALL) & own,
                                        (und_lanes_int){0} + UND_VOLUME_HELD, kind);
        }
        und_lanes_bytes_store_some(m->kind + at, kind, bits);
        wakes[x / UND_LANES] = (uint16_t)(und_volume_wakers(m, at, kind) & bits);
    }
    und_volume_kinds_beside(m, p);
}
UND_KERNEL(und_volume_kinds, und_volume_move_args, UND_EACH_ROW)

/* Where particles do not know better, of a chunk: the flow gains or loses, is slow, or pours. */
UND_INLINE void und_volume_find_gains(const und_volume_move_args *m, const und_volume_chunk *k)
{
    const uint8_t *kind = m->kind + k->at;
    und_lanes_int unsure = und_volumes_unsure(&m->mac, m->u, m->whole, (size_t)k->at);
    if (m->held) {
        und_lanes_int pours = und_lanes_bytes(kind) == UND_VOLUME_HELD;
        for (int way = 0; way < 6; way++) {
            const ptrdiff_t step = m->mac.step[way / 2];
            pours |= und_lanes_bytes(kind + (way % 2 ? step : -step)) == UND_VOLUME_HELD;
        }
        unsure |= pours & UND_VOLUME_POURS;
    }
    und_lanes_bytes_store_some(m->unsure + k->at, unsure, k->bits);
}

/* Of a block of rows: how far the flow goes, and what it gains. */
UND_INLINE void und_volume_survey(const und_volume_move_args *m, und_place p)
{
    und_lanes most = {0};
    for (int row = (int)p.at; row < (int)p.at + p.x; row++) {
        const int y = row % m->mac.n[1], z = row / m->mac.n[1], end = m->row_chunks[row + 1];
        if (!und_present_has(m->mac.present, y, z))
            continue;
        const und_span span = und_mac_span(&m->mac, y, z);
        und_volume_fill_row(m->unsure + und_mac_at(&m->mac, span.begin, y, z), span.end - span.begin, 0);
        for (int i = m->row_chunks[row]; i < end; i++) {
            const und_volume_chunk *k = m->chunk + i;
            for (int a = 0; a < m->axes; a++) {
                und_volume_fetch(m->u[a], k[UND_VOLUME_AHEAD].at);
                und_volume_fetch(m->u[a], k[UND_VOLUME_AHEAD].at - m->mac.step[a]);
            }
            const und_lanes fastest = und_volume_fastest(m, (size_t)k->at), none = {0};
            most = und_lanes_max(und_lanes_select(und_lanes_where(k->bits), fastest, none), most);
            und_volume_find_gains(m, k);
        }
    }
    m->block_most[p.y] = und_lanes_most(most);
}
UND_KERNEL(und_volume_survey, und_volume_move_args, UND_EACH_BLOCK)

/* ---- Faces ---- */

/* Over high faces of UND_LANES cells along an axis. */
typedef struct und_volume_faces {
    und_lanes speed, open; /* cells in this part of the step; open part */
    und_lanes_int kind[2]; /* of the cells below and above */
    und_lanes_int up;      /* flows up the axis */
    und_lanes_int shut;    /* no flow goes over: what comes from other grids they say themselves */
} und_volume_faces;

UND_INLINE und_volume_faces und_volume_faces_at(const und_volume_move_args *m, int axis, size_t at)
{
    const uint8_t *kind = m->kind + at;
    und_volume_faces f = {.speed = und_lanes_load(m->u[axis] + at) * m->per,
                          .open = und_lanes_load(m->open[axis] + at),
                          .kind = {und_lanes_bytes(kind), und_lanes_bytes(kind + m->mac.step[axis])}};
    f.up = f.speed > 0;
    for (int side = 0; side < 2; side++)
        f.shut |= (f.kind[side] == UND_VOLUME_DRY) | (f.kind[side] == UND_VOLUME_OTHERS);
    return f;
}

/* Of full cells, and of held ones. */
UND_INLINE und_lanes_int und_volume_full_fluxes(const und_volume_move_args *m, const und_volume_faces *f,
                                                und_lanes way)
{
    const und_lanes_int held = und_lanes_int_select(f->up, f->kind[0], f->kind[1]) == UND_VOLUME_HELD;
    return und_volumes_units(f->open * und_lanes_select(held, m->poured * way, way));
}

/* Over a face of which one side is deep: either side can tell it by itself. */
UND_INLINE und_lanes_int und_volume_deep_fluxes(const und_volume_move_args *m, int axis, size_t at)
{
    const und_volume_faces f = und_volume_faces_at(m, axis, at);
    return ~f.shut & und_volume_full_fluxes(m, &f, und_volumes_clip(f.speed, 1));
}

/* ---- Before the first part ---- */

UND_INLINE und_lanes und_volume_fractions(const und_volume_move_args *m, size_t at, und_lanes_int c)
{
    const und_lanes cells = und_volumes_cells(c), none = {0}, all = und_lanes_all(1);
    if (!m->room)
        return und_lanes_min(und_lanes_max(cells, none), all);
    const und_lanes room = und_lanes_load(m->room + at), part = cells / room;
    return und_lanes_select(room > UND_VOLUME_LEAST_ROOM, und_lanes_min(und_lanes_max(part, none), all),
                            -all);
}

/* Beside the domain fractions are as in the cells that they touch. */
UND_INLINE void und_volume_copy_beside(const und_volume_move_args *m, und_place p)
{
    const int *n = m->mac.n;
    const bool y_side[3] = {p.y == 0, true, p.y == n[1] - 1}, z_side[3] = {p.z == 0, true, p.z == n[2] - 1};
    const und_span span = und_mac_span_beside(&m->mac, p.y, p.z);
    float *row = m->fraction + p.at;
    if (span.begin < 0)
        row[-1] = row[0];
    if (span.end > n[0])
        row[n[0]] = row[n[0] - 1];
    for (int k = 0; k < 9; k++)
        if (k != 4 && y_side[k % 3] && z_side[k / 3])
            for (int x = span.begin; x < span.end; x += UND_LANES)
                und_lanes_store_some(row + (k % 3 - 1) * m->mac.step[1] + (k / 3 - 1) * m->mac.step[2] + x,
                                     und_lanes_load(row + x), und_volume_row_bits((size_t)(span.end - x)));
}

/* Which cells of the liquid are lent to in a part of the step. */
UND_INLINE void und_volume_lend(const und_volume_move_args *m, und_volume_chunk *k, und_lanes_int c)
{
    const und_lanes_int liquid = und_lanes_load(m->phi + k->at) < 0;
    const und_lanes_int active = und_lanes_bytes(m->kind + k->at) == UND_VOLUME_ACTIVE;
    const und_lanes half = 0.5f * und_volume_rooms_at(m->room, (size_t)k->at);
    const und_lanes_int wet = und_volumes_cells(c) > half;
    k->some = (uint16_t)(k->bits & und_lanes_bits(liquid & active & wet));
    und_lanes_int_store_some(m->extra + k->at, (und_lanes_int){0}, k->some);
}

/* Of what rows around have on the list the first, and what is behind the last, of x. */
UND_INLINE void und_volume_extent(const und_volume_move_args *m, und_place p, int *low, int *high)
{
    const int *n = m->mac.n;
    *low = n[0];
    *high = 0;
    for (int k = 0; k < 9; k++) {
        const int y = p.y + k % 3 - 1, z = p.z + k / 3 - 1, row = y + z * n[1];
        if (y < 0 || y >= n[1] || z < 0 || z >= n[2])
            continue;
        const int begin = m->row_chunks[row], end = m->row_chunks[row + 1];
        const int32_t first = (int32_t)und_mac_at(&m->mac, 0, y, z);
        if (end == begin)
            continue;
        const int from = m->chunk[begin].at - first, to = m->chunk[end - 1].at - first + UND_LANES;
        *low = from < *low ? from : *low;
        *high = to > *high ? to : *high;
    }
}

/* What flows over faces of deep cells: all at once. */
UND_INLINE void und_volume_move_deep(const und_volume_move_args *m, size_t at, unsigned deep)
{
    und_lanes_int sum = {0};
    for (int a = 0; a < m->axes; a++) { /* rows are short: what the next one is to be read for */
        und_volume_fetch(m->u[a], (ptrdiff_t)at + m->mac.step[1]);
        und_volume_fetch(m->open[a], (ptrdiff_t)at + m->mac.step[1]);
    }
    for (int a = 0; a < m->axes; a++)
        sum += und_volume_deep_fluxes(m, a, at) - und_volume_deep_fluxes(m, a, at - (size_t)m->mac.step[a]);
    und_lanes_int_store_some(m->c + at, und_lanes_int_load_some(m->c + at, deep) - m->parts * sum, deep);
}

/* Of a row: fractions around what is on the list, and all that its deep cells get. */
UND_INLINE void und_volume_begin(const und_volume_move_args *m, und_place p)
{
    const und_span span = und_mac_span(&m->mac, p.y, p.z);
    const int row = p.y + p.z * m->mac.n[1];
    int low, high;
    und_volume_extent(m, p, &low, &high);
    for (int x = span.begin / UND_LANES * UND_LANES; x < span.end; x += UND_LANES) {
        const size_t at = p.at + (size_t)x;
        const unsigned bits = und_span_bits(span, x, UND_LANES);
        const unsigned deep = bits & und_lanes_bits(und_lanes_bytes(m->kind + at) == UND_VOLUME_DEEP);
        if (x + UND_LANES >= low && x <= high) {
            und_volume_fetch(m->c, (ptrdiff_t)at + m->mac.step[1]);
            und_lanes_store_some(m->fraction + at, und_volume_fractions(m, at, und_lanes_int_load(m->c + at)),
                                 bits);
        }
        if (deep)
            und_volume_move_deep(m, at, deep);
    }
    if (low <= high)
        und_volume_copy_beside(m, p);
    for (int i = m->row_chunks[row], end = m->row_chunks[row + 1]; i < end; i++) {
        und_volume_fetch(m->phi, m->chunk[i + UND_VOLUME_AHEAD].at);
        und_volume_lend(m, m->chunk + i, und_lanes_int_load(m->c + m->chunk[i].at));
    }
    m->row_sum[row] = 0;
}
UND_KERNEL(und_volume_begin, und_volume_move_args, UND_EACH_ROW)

/* ---- What comes over faces ---- */

/* Of UND_LANES cells those that give and get. */
UND_INLINE und_lanes_int und_volume_moved(const und_volume_move_args *m, size_t at)
{
    const und_lanes_int kind = und_lanes_bytes(m->kind + at);
    return (kind == UND_VOLUME_ACTIVE) | (kind == UND_VOLUME_HELD);
}

/* What flows out of a cell at a side. */
UND_INLINE int32_t und_volume_leaves(const und_volume_move_args *m, size_t inner, int axis, bool high)
{
    const uint8_t kind = m->kind[inner];
    const int32_t flux = m->flux[high ? inner : inner - (size_t)m->mac.step[axis]];
    return kind != UND_VOLUME_ACTIVE && kind != UND_VOLUME_HELD ? 0 : high ? flux : -flux;
}

/* What flows over open sides along the axis: of a row. */
UND_INLINE int64_t und_volume_leaving(const und_volume_move_args *m, und_place p, int axis)
{
    const int *n = m->mac.n, at[3] = {0, p.y, p.z};
    int64_t sum = 0;
    for (int high = 0; high < 2; high++) {
        const und_span span = und_mac_span(&m->mac, p.y, p.z), end = {high ? n[0] - 1 : 0, high ? n[0] : 1},
                       of = axis == 0 ? end : span;
        if (!und_mac_has(&m->mac, of.begin, p.y, p.z) || m->closed[2 * axis + high] ||
            (axis > 0 && at[axis] != (high ? n[axis] - 1 : 0)))
            continue;
        for (int x = of.begin; x < of.end; x++)
            sum += und_volume_leaves(m, p.at + (size_t)x, axis, high);
    }
    return sum;
}

UND_INLINE void und_volume_add_chunk(const und_volume_move_args *m, und_volume_chunk *k, int axis)
{
    const size_t at = (size_t)k->at, low = at - (size_t)m->mac.step[axis];
    const float *u = m->u[axis], *open = m->open[axis];
    und_lanes_int more =
        und_lanes_int_load_some(m->flux + low, k->bits) - und_lanes_int_load_some(m->flux + at, k->bits);
    und_lanes_int owed = {0};
    if (k->some) {
        const und_lanes over = und_lanes_load(open + at) * und_lanes_load(u + at) -
                               und_lanes_load(open + low) * und_lanes_load(u + low);
        const und_lanes_int lent =
            und_lanes_where(k->some) & und_volumes_units(und_volumes_clip(m->per * over, 2));
        owed = und_lanes_int_load_some(m->extra + at, k->some) + lent;
        if (!m->ends)
            und_lanes_int_store_some(m->extra + at, owed, k->some);
        more += lent;
    }
    und_lanes_int c = und_lanes_int_load_some(m->c + at, k->bits) + more;
    if (!m->last) /* nobody asks for them any more */
        und_lanes_store_some(m->fraction + at, und_volume_fractions(m, at, c), k->bits);
    c -= m->ends ? owed : (und_lanes_int){0};
    und_lanes_int_store_some(m->c + at, c, k->bits);
    if (m->ends && !m->last)
        und_volume_lend(m, k, c);
    const und_lanes_int owes = (und_lanes_bytes(m->kind + at) == UND_VOLUME_ACTIVE) & (c < 0);
    k->gives = (uint16_t)(m->ends ? k->bits & und_lanes_bits(owes) : 0);
    if (m->ends)
        und_lanes_bytes_store_some(m->to + at, (und_lanes_int){0} + UND_VOLUME_PAY_NOBODY, k->bits);
}

/* Of a row.  What was lent is taken back at the end of a part. */
UND_INLINE void und_volume_add(const und_volume_move_args *m, und_place p, int axis)
{
    const int row = p.y + p.z * m->mac.n[1], begin = m->row_chunks[row], end = m->row_chunks[row + 1];
    for (int i = begin; i < end; i++) {
        const ptrdiff_t ahead = m->chunk[i + UND_VOLUME_AHEAD].at;
        und_volume_fetch(m->c, ahead);
        und_volume_fetch(m->flux, ahead);
        und_volume_fetch(m->flux, ahead - m->mac.step[axis]);
        und_volume_fetch(m->extra, ahead);
        und_volume_fetch(m->fraction, ahead);
        und_volume_add_chunk(m, m->chunk + i, axis);
    }
    if (begin < end && !m->last)
        und_volume_copy_beside(m, p);
    if (begin < end && m->any_open)
        m->row_sum[row] += und_volume_leaving(m, p, axis);
}
UND_KERNEL_AXES(und_volume_add, und_volume_move_args, UND_EACH_ROW)

/* ---- What planes say ---- */

/* The gradient of phi in cells from one on, as und_volume_gradient has it. */
UND_INLINE void und_volume_gradients(const und_volume_move_args *m, size_t at, und_lanes slope[3])
{
    const uint8_t *inside = m->inside + at;
    const float *phi = m->phi + at;
    const und_lanes own = und_lanes_load(phi);
    und_lanes_int thin = {0};
    if (m->room)
        thin = und_lanes_bytes(m->beside_thin + at) != 0;
    for (int a = 0; a < 3; a++) {
        const ptrdiff_t step = m->mac.step[a];
        und_lanes_int low = und_lanes_bytes(inside - step) != 0, high = und_lanes_bytes(inside + step) != 0;
        if (und_lanes_bits(thin)) {
            low &= ~thin | (und_lanes_load(m->open[a] + at - step) > 0);
            high &= ~thin | (und_lanes_load(m->open[a] + at) > 0);
        }
        const und_lanes rise = und_lanes_select(high, und_lanes_load(phi + step), own) -
                               und_lanes_select(low, und_lanes_load(phi - step), own);
        slope[a] = und_lanes_select(low & high, 0.5f * rise, rise);
    }
}

/* phi knows the slope better than what cells hold, as long as it is a distance there (Sussman & Puckett 2000,
 * "A coupled level set and volume-of-fluid method"); not at solids, in which it only goes on straight.  Bits
 * of the cells where it does. */
UND_INLINE unsigned und_volume_slopes_of_phi(const und_volume_move_args *m, size_t at, und_lanes slope[3])
{
    const float near = 1.5f, least = 0.5f; /* cells; of a gradient, which is 1 */
    if (!m->fresh)
        return 0;
    const und_lanes phi = und_lanes_load(m->phi + at);
    und_lanes_int known = (phi < near) & (phi > -near);
    if (m->room)
        known &= ~(und_lanes_load(m->distance + at) < near);
    und_volume_gradients(m, at, slope);
    known &= slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2] > least * least;
    return und_lanes_bits(known);
}

/* What is beyond a wall from a cell, or has no room, is as full as the cell. */
UND_INLINE void und_volume_leave_out(const und_volume_move_args *m, size_t at, unsigned bits,
                                     und_lanes f[UND_VOLUME_AROUND])
{
    const und_lanes middle = f[UND_VOLUME_STAY], none = {0}, own = und_lanes_select(middle < 0, none, middle);
    const und_lanes_int beside =
        (und_lanes_bytes(m->beside_thin + at) != 0) | (und_lanes_load(m->distance + at) < 1);
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        f[k] = und_lanes_select(f[k] < 0, own, f[k]);
    for (bits &= und_lanes_bits(beside); bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        for (int k = 0; k < UND_VOLUME_AROUND; k++)
            if (!und_volume_way(m->open, m->mac.step, at + (size_t)i, k))
                f[k][i] = own[i];
    }
}

/* Of the surface in cells from one on, of which those of `bits` matter. */
UND_INLINE void und_volume_slopes(const und_volume_move_args *m, size_t at, unsigned bits, und_lanes slope[3])
{
    const ptrdiff_t *step = m->mac.step;
    und_lanes f[UND_VOLUME_AROUND], found[3];
    slope[0] = slope[1] = slope[2] = (und_lanes){0};
    const unsigned known = und_volume_slopes_of_phi(m, at, slope);
    if (!(bits & ~known))
        return;
    for (int z = 0; z < 3; z++)
        for (int y = 0; y < 3; y++) {
            const float *row = m->fraction + at + ((z - 1) * step[2] + (y - 1) * step[1]);
            for (int x = 0; x < 3; x++)
                f[x + 3 * y + 9 * z] = und_lanes_load(row + x - 1);
        }
    if (m->room)
        und_volume_leave_out(m, at, bits & ~known, f);
    und_volume_slope(f, found);
    for (int a = 0; a < 3; a++)
        slope[a] = und_lanes_select(und_lanes_where(known), slope[a], found[a]);
}

/* What comes out of active cells that hold `c`, wherever in them it is; where that matters planes are to
 * say. */
typedef struct und_volume_given {
    und_lanes part;
    und_lanes_int most, flux, planes, film;
} und_volume_given;

UND_INLINE und_volume_given und_volume_give(const und_volume_move_args *m, int axis, size_t at,
                                            const und_volume_faces *f, und_lanes way, und_lanes_int c)
{
    const size_t step = (size_t)m->mac.step[axis];
    const float *u = m->u[axis] + at;
    const und_lanes least = und_lanes_all(1e-3f), enough = und_lanes_all(1.5f);
    const float *low = at < step ? u : u - step; /* beside the domain nothing is given */
    const und_lanes behind = und_lanes_select(f->up, und_lanes_load(low), und_lanes_load(u + step));
    const uint8_t *film = m->film + at;
    und_volume_given g = {.part = und_volumes_cells(c)};
    if (m->room) {
        const und_lanes room =
            und_lanes_select(f->up, und_lanes_load(m->room + at), und_lanes_load(m->room + at + step));
        g.part /= und_lanes_max(room, least);
    }
    g.most = und_lanes_int_select(und_lanes_int_select(f->up, behind<0, behind> 0), c / 2, c);
    g.film = und_lanes_int_select(f->up, und_lanes_bytes(film), und_lanes_bytes(film + step)) != 0;
    g.planes = ~((g.part > UND_VOLUME_FULL) | (g.part < UND_VOLUME_MIST)) | g.film;
    const und_lanes part = und_lanes_select(g.part < enough, g.part, enough);
    const und_lanes_int flux = und_volumes_units(f->open * (way * part));
    g.flux = und_volumes_at_most(flux, g.most);
    return g;
}

#endif
