/* What cells hold goes along with the flow: over faces, one axis after the other, in as many parts as it
 * takes for none to cross more than a cell.
 *
 * Weymouth & Yue 2010: between the axes a cell of the liquid is not full, since the flow keeps its volume in
 * all axes together only; what it lacks is lent to it, and taken back after the last.  So whatever the flow
 * is, all that a cell loses another gets. */
#include "surface/volume_parts.h"

#include <math.h>
#include <string.h>

static const float FURTHEST = 0.9f;                /* cells that are crossed in a part */
static const float FULL = 1 - 1e-4f, MIST = 1e-5f; /* of a cell's room: what a plane has no say in */
static const float LEAST_ROOM = 0.05f;             /* cells with less say nothing about the surface */

typedef struct move {
    const und_volume *v;
    const und_distance *d;
    const und_volume_walls *walls;
    const und_volume_flow *flow;
    float whole, reach; /* cells at 1 m/s; cells at most */
    float per;          /* as whole, of a part */
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

static bool is_beside_open(const move *m, int x, int y, int z)
{
    const int at[3] = {x, y, z};
    for (int a = 0; a < m->axes; a++)
        if ((at[a] == 0 && !m->walls->closed[2 * a]) ||
            (at[a] == m->v->mac.n[a] - 1 && !m->walls->closed[2 * a + 1]))
            return true;
    return false;
}

/* Inside of the liquid, further than the surface comes, cells are full. */
static uint8_t kind_at(const move *m, size_t at, int x, int y, int z)
{
    const float phi = m->d->phi[at];
    const int32_t c = m->v->c[at];
    if (c == 0 && (phi > m->reach + 0.6f || !(und_volume_room(m->walls, at) > 0)))
        return UND_VOLUME_DRY;
    const bool full = fabsf(und_volume_cells(c) - 1) < 0.05f && und_volume_room(m->walls, at) == 1 &&
                      !is_beside_open(m, x, y, z);
    if (phi < -(m->reach + 1) && full)
        return UND_VOLUME_DEEP; /* however fast */
    const float own = 1.3f * fastest_at(m, at), reach = own < m->reach ? own : m->reach;
    if (phi < -(reach + 1) && full)
        return UND_VOLUME_DEEP;
    return phi < reach + 0.6f || c != 0 ? UND_VOLUME_ACTIVE : UND_VOLUME_DRY;
}

static void set_kinds(const move *m)
{
    const und_mac *mac = &m->v->mac;
    uint8_t *kind = m->v->parts->kind;
    PARALLEL_FOR(und_workers(m->v->threads, mac->count, 1 << 15))
    for (int row = 0; row < und_mac_rows(mac); row++) {
        const int y = row % mac->n[1], z = row / mac->n[1];
        const size_t first = und_mac_row(mac, row);
        for (int x = 0; x < mac->n[0]; x++) {
            const size_t at = first + (size_t)x;
            const bool held = m->flow->held && und_mask_has(m->flow->held, x, y, z);
            kind[at] = !m->v->parts->own[at] ? UND_VOLUME_OTHERS
                       : held                ? UND_VOLUME_HELD
                                             : kind_at(m, at, x, y, z);
        }
    }
    for (int i = 0; i < m->flow->inflow_count; i++)
        if (kind[m->flow->inflow[i].into] != UND_VOLUME_HELD)
            kind[m->flow->inflow[i].into] = UND_VOLUME_ACTIVE;
}

/* No flow goes over the face: what comes from other grids they say themselves. */
static bool is_shut(const uint8_t *kind, size_t low, size_t high)
{
    return kind[low] == UND_VOLUME_DRY || kind[high] == UND_VOLUME_DRY || kind[low] == UND_VOLUME_OTHERS ||
           kind[high] == UND_VOLUME_OTHERS;
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

/* What is woken holds nothing, and wakes no others: the same in any order. */
static void wake_around_thin(const move *m)
{
    const und_mac *mac = &m->v->mac;
    PARALLEL_FOR(und_workers(m->v->threads, mac->count, 1 << 15))
    for (int row = 0; row < und_mac_rows(mac); row++)
        UND_VOLUME_ALOFT(m->v, m->d->phi, row, at)
    if ((m->d->phi[at] > 0.9f || m->v->film[at]) &&
        __atomic_load_n(&m->v->parts->kind[at], __ATOMIC_RELAXED) == UND_VOLUME_ACTIVE)
        wake(m, (int)(at - und_mac_row(mac, row)), row % mac->n[1], row / mac->n[1]);
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

static bool is_moved(const void *context, size_t at)
{
    const uint8_t kind = ((const move *)context)->v->parts->kind[at];
    return kind == UND_VOLUME_ACTIVE || kind == UND_VOLUME_HELD;
}

/* All but eights of cells that are dry, or deep. */
static unsigned look_moved(const void *context, size_t at)
{
    const uint8_t *kind = ((const move *)context)->v->parts->kind + at;
    const uint64_t deep = UND_VOLUME_DEEP * UINT64_C(0x0101010101010101);
    unsigned bits = 0;
    for (int i = 0; i < UND_LANES; i += 8) {
        uint64_t eight;
        memcpy(&eight, kind + i, sizeof eight);
        bits |= eight == 0 || eight == deep ? 0 : 0xffu << i;
    }
    return bits;
}
_Static_assert(UND_VOLUME_DRY == 0, "eights of dry cells are 0");

static int parts_needed(const move *m)
{
    const und_volume_parts *p = m->v->parts;
    float most = 0;
    PARALLEL_FOR(und_workers(m->v->threads, (size_t)p->count, UND_VOLUME_TO_SHARE))
    for (int block = 0; block < (p->count + UND_VOLUME_BLOCK - 1) / UND_VOLUME_BLOCK; block++) {
        p->block_most[block] = 0;
        for (int i = block * UND_VOLUME_BLOCK; i < p->count && i < (block + 1) * UND_VOLUME_BLOCK; i++)
            p->block_most[block] = fmaxf(p->block_most[block], fastest_at(m, (size_t)p->list[i]));
    }
    for (int block = 0; block < (p->count + UND_VOLUME_BLOCK - 1) / UND_VOLUME_BLOCK; block++)
        most = fmaxf(most, p->block_most[block]);
    const int parts = (int)fminf(ceilf(most / FURTHEST), 100);
    return parts < 1 ? 1 : parts;
}

/* ---- Fluxes ---- */

/* Out of held cells. */
static inline int32_t held_flux(const move *m, float open, float way)
{
    return und_volume_full_flux(open, m->flow->poured * way);
}

/* Over a face of which one side is deep: either side can tell it by itself. */
static inline int32_t deep_flux(const move *m, int axis, size_t face)
{
    const float open = m->walls->open[axis][face], way = m->flow->u[axis][face] * m->per;
    const uint8_t *kind = m->v->parts->kind;
    const size_t beyond = face + (size_t)m->v->mac.step[axis];
    if (is_shut(kind, face, beyond))
        return 0;
    return kind[way > 0 ? face : beyond] == UND_VOLUME_HELD ? held_flux(m, open, way)
                                                            : und_volume_full_flux(open, way);
}

/* Some faces that planes are to be found for. */
typedef struct batch {
    int count;
    size_t face[UND_LANES];
    float part[UND_LANES], slope[3][UND_LANES], way[UND_LANES], open[UND_LANES];
    int32_t most[UND_LANES];
} batch;

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

/* phi knows the slope better than what cells hold, as long as it is a distance there (Sussman & Puckett 2000,
 * "A coupled level set and volume-of-fluid method"); not at solids, in which it only goes on straight. */
static bool slope_of_phi(const move *m, size_t at, float slope[3])
{
    const float near = 1.5f, least = 0.5f; /* cells; of a gradient, which is 1 */
    if (!m->fresh || !(fabsf(m->d->phi[at]) < near) || (m->walls->room && m->walls->distance[at] < near))
        return false;
    und_volume_gradient(m->v, m->walls, m->d->phi, at, slope);
    return slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2] > least * least;
}

/* The slope of the surface in a cell; of films that of their wall.  False: a film's end that stands. */
static bool slope_at(const move *m, int axis, size_t at, size_t next, float slope[3])
{
    const und_volume *v = m->v;
    float distance, f[UND_VOLUME_AROUND];
    if (v->film[at] && und_volume_leans(v, m->walls, at, &distance, slope))
        return !(v->c[at] < und_volume_units(m->flow->pin) && v->c[next] <= 0 && fabsf(slope[axis]) < 0.5f);
    if (slope_of_phi(m, at, slope))
        return true;
    const float *fraction = v->parts->fraction + at, own = fraction[0] < 0 ? 0 : fraction[0];
    const ptrdiff_t *around = v->parts->around;
    for (int k = 0; k < UND_VOLUME_AROUND; k++)
        f[k] = fraction[around[k]];
    for (int k = 0; k < UND_VOLUME_AROUND && m->walls->room; k++)
        f[k] = f[k] < 0 || !und_volume_linked(v, m->walls, at, k) ? own : f[k];
    und_volume_slope(f, slope);
    return true;
}

/* Over the high face of a cell, at once or when the batch is full. */
static void set_flux(const move *m, int axis, size_t at, batch *b)
{
    const und_volume *v = m->v;
    const uint8_t *kind = v->parts->kind;
    const size_t step = (size_t)v->mac.step[axis], high = at + step;
    if (v->c[at] <= 0 && v->c[high] <= 0 && kind[at] == UND_VOLUME_ACTIVE &&
        kind[high] == UND_VOLUME_ACTIVE) {
        v->parts->flux[at] = 0;
        return;
    }
    const float way = und_volume_clip(m->flow->u[axis][at] * m->per, 1), open = m->walls->open[axis][at];
    int32_t *flux = &v->parts->flux[at];
    *flux = 0;
    if (is_shut(kind, at, high) || !(open > 0) || way == 0)
        return;
    const size_t from = way > 0 ? at : high, to = way > 0 ? high : at;
    if (und_volume_crowded(v->c[to]))
        return;
    if (kind[at] == UND_VOLUME_DEEP || kind[high] == UND_VOLUME_DEEP) {
        *flux = deep_flux(m, axis, at);
        return;
    }
    if (kind[from] == UND_VOLUME_HELD)
        *flux = kind[to] == UND_VOLUME_HELD ? 0 : held_flux(m, open, way);
    const int32_t c = v->c[from];
    if (kind[from] != UND_VOLUME_ACTIVE || c <= 0)
        return;
    const float space = und_volume_room(m->walls, from), room = space > 1e-3f ? space : 1e-3f;
    const float part = und_volume_cells(c) / room;
    const float other = m->flow->u[axis][way > 0 ? at - step : high]; /* by the face behind */
    const int32_t most = (way > 0 ? other < 0 : other > 0) ? c / 2 : c;
    if (part > FULL || part < MIST) { /* wherever in the cell it is */
        const int32_t full = und_volume_full_flux(open, way * (part < 1.5f ? part : 1.5f));
        *flux = full > most ? most : full < -most ? -most : full;
        return;
    }
    float slope[3];
    if (!slope_at(m, axis, from, to, slope))
        return;
    const int i = b->count++;
    b->face[i] = at;
    b->part[i] = part;
    b->way[i] = way;
    b->open[i] = open;
    b->most[i] = most;
    for (int a = 0; a < 3; a++)
        b->slope[a][i] = slope[a];
    if (b->count == UND_LANES)
        finish(m, axis, b);
}

static void set_fluxes(const move *m, int axis)
{
    const und_volume_parts *p = m->v->parts;
    const size_t step = (size_t)m->v->mac.step[axis];
    PARALLEL_FOR(und_workers(m->v->threads, (size_t)p->count, UND_VOLUME_TO_SHARE))
    for (int block = 0; block < (p->count + UND_VOLUME_BLOCK - 1) / UND_VOLUME_BLOCK; block++) {
        batch b = {0};
        for (int i = block * UND_VOLUME_BLOCK; i < p->count && i < (block + 1) * UND_VOLUME_BLOCK; i++) {
            const size_t at = (size_t)p->list[i];
            set_flux(m, axis, at, &b);
            if (!is_moved(m, at - step)) /* whose face is nobody else's */
                set_flux(m, axis, at - step, &b);
        }
        if (b.count > 0)
            finish(m, axis, &b);
    }
}

/* ---- Parts and axes ---- */

static float fraction_of(const move *m, size_t at)
{
    const float room = und_volume_room(m->walls, at), c = und_volume_cells(m->v->c[at]);
    if (!(room > LEAST_ROOM))
        return -1;
    const float part = c / room;
    return part < 0 ? 0 : part < 1 ? part : 1;
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
        for (size_t x = 0, first = und_mac_row(mac, row); x < (size_t)mac->n[0]; x++)
            m->v->parts->fraction[first + x] = fraction_of(m, first + x);
    copy_beside(mac, m->v->threads, m->v->parts->fraction);
}

/* What flows over faces of deep cells: all at once. */
static void move_deep(const move *m)
{
    const und_mac *mac = &m->v->mac;
    const uint8_t *kind = m->v->parts->kind;
    PARALLEL_FOR(und_workers(m->v->threads, mac->count, 1 << 15))
    for (int row = 0; row < und_mac_rows(mac); row++)
        for (size_t x = 0, first = und_mac_row(mac, row); x < (size_t)mac->n[0]; x++) {
            const size_t at = first + x;
            if (kind[at] != UND_VOLUME_DEEP)
                continue;
            int32_t sum = 0;
            for (int a = 0; a < m->axes; a++) {
                const size_t step = (size_t)mac->step[a];
                sum += deep_flux(m, a, at) - deep_flux(m, a, at - step);
            }
            m->v->c[at] -= m->parts * sum;
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

static int64_t sweep(const move *m, int axis, int k)
{
    const und_volume *v = m->v;
    const und_volume_parts *p = v->parts;
    const size_t step = (size_t)v->mac.step[axis];
    const float *u = m->flow->u[axis], *open = m->walls->open[axis];
    set_fluxes(m, axis);
    let_in(m, axis, k);
    UND_VOLUME_EACH(v, p->count, at, p->list)
    {
        const size_t low = at - step;
        int32_t lent = 0;
        if (p->mark[at])
            lent = und_volume_units(und_volume_clip(m->per * (open[at] * u[at] - open[low] * u[low]), 2));
        v->c[at] += p->flux[low] - p->flux[at] + lent;
        p->extra[at] += lent;
        p->fraction[at] = fraction_of(m, at);
    }
    copy_beside(&v->mac, v->threads, p->fraction);
    return leaving(m, axis);
}

int64_t und_volume_move(und_volume *v, const und_distance *d, const und_volume_walls *walls,
                        const und_volume_flow *flow)
{
    und_volume_parts *p = v->parts;
    move m = {.v = v, .d = d, .walls = walls, .flow = flow, .whole = (float)flow->per_speed};
    int64_t left = 0;
    m.axes = v->mac.n[2] > 1 ? 3 : 2;
    m.reach = fminf((float)(flow->fastest * flow->per_speed), (float)flow->layers - 2);
    set_kinds(&m);
    open_sides(&m);
    wake_around_thin(&m);
    und_volume_list(v, look_moved, is_moved, &m);
    m.parts = parts_needed(&m);
    m.per = m.whole / (float)m.parts;
    first_fractions(&m);
    move_deep(&m);
    for (int k = 0; k < m.parts; k++) {
        m.fresh = k == 0;
        UND_VOLUME_EACH(v, p->count, at, p->list)
        {
            const float half = 0.5f * und_volume_room(walls, at);
            p->extra[at] = 0;
            p->mark[at] =
                d->phi[at] < 0 && p->kind[at] == UND_VOLUME_ACTIVE && und_volume_cells(v->c[at]) > half;
        }
        const int first = (int)((flow->step + k) % m.axes), back = (int)((flow->step + k) / m.axes % 2);
        for (int a = 0; a < m.axes; a++)
            left += sweep(&m, (first + (back ? m.axes - a : a)) % m.axes, k);
        UND_VOLUME_EACH(v, p->count, at, p->list)
        v->c[at] -= p->extra[at];
    }
    return left;
}
