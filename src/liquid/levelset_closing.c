/* Gaps between liquid and a wall, or liquid, that close within a step.
 *
 * Beyond the surface the flow is only carried on, so what comes into such a gap may be more than it has room
 * for, and would be pressed out again in the next step.  Cells that the flow is about to overfill count as
 * liquid while the pressure is found, as films do, and take in just what they have room for.  Most are known
 * by the flow and gravity; those that only the pressure drives liquid into, once it is found: where they are
 * many it is found again, as long as that drives it into more. */
#include "liquid/levelset_state.h"
#include "surface/distance_refresh_kernel.h"
#include "surface/volume_parts.h"

#include <math.h>

static const float LEAST_ROOM = 0.1f; /* of a cell */
static const float SLIT = 0.2f;       /* of a face: the pressure would drive a jet through one */
static const float MARGIN = 0.05f;    /* of a cell: so much more than there is room for */
static const double MANY = 1e-2;      /* of the liquid: too much in all */
enum { FURTHEST = 5 };                /* cells that a gap may have */

typedef struct search {
    const und_levelset *s;
    const und_volume *v;
    const und_volume_walls *walls;
    const float *phi;
    int reach;    /* cells: how wide gaps are that may close */
    bool pressed; /* the flow has its pressure */
} search;

static bool has_slit(const search *f, size_t at)
{
    for (int a = 0; a < 3; a++) {
        const float *open = f->walls->open[a] + at, low = open[-f->s->mac.step[a]];
        if ((open[0] > 0 && open[0] < SLIT) || (low > 0 && low < SLIT))
            return true;
    }
    return false;
}

/* A cell of a gap: what there is room for; below 0: it is none. */
static float space_in(const search *f, size_t at)
{
    const float room = und_volume_room(f->walls, at);
    if (!f->v->parts->own[at] || !(room > LEAST_ROOM) || !(f->phi[at] >= 0) ||
        (f->walls->room && has_slit(f, at)))
        return -1;
    const float space = room - und_volume_cells(f->v->c[at]);
    return space > 0 ? space : 0;
}

static bool is_open(const search *f, size_t at, int axis, bool high)
{
    return f->walls->open[axis][high ? at : at - (size_t)f->s->mac.step[axis]] >= 0.5f;
}

/* What there is of `flow` to come: what cells from one on along `step` hold. */
static float comes(const search *f, size_t at, ptrdiff_t step, float flow)
{
    float sum = 0;
    for (int i = 0; i < f->reach && sum < flow && f->v->parts->inside[at]; i++) {
        const float has = und_volume_cells(f->v->c[at]);
        sum += has > 0 ? has : 0;
        at = (size_t)((ptrdiff_t)at + step);
    }
    return sum < flow ? sum : flow;
}

/* What flows into a cell in the step over a face, of a cell. */
static float inflow(const search *f, size_t at, int axis, bool high)
{
    const und_levelset *s = f->s;
    const ptrdiff_t step = high ? s->mac.step[axis] : -s->mac.step[axis];
    const size_t next = (size_t)((ptrdiff_t)at + step), face = high ? at : next;
    const float u = s->flow.u[axis][face] + (f->pressed ? 0 : (float)(s->def.gravity[axis] * s->kick));
    const float flow = (high ? -u : u) * (float)(s->dt / s->def.dx) * f->walls->open[axis][face];
    return flow > 0 ? comes(f, next, step, flow) : flow;
}

/* The same, where the pressure knows of the liquid's faces alone: into air goes on what comes from the other
 * side, and nothing comes by a side of the domain. */
static float known_inflow(const search *f, size_t at, int axis, bool high)
{
    const ptrdiff_t step = f->s->mac.step[axis];
    const size_t low = at - (size_t)step, next = high ? at + (size_t)step : low,
                 other = high ? low : at + (size_t)step;
    if (!f->v->parts->inside[next])
        return 0;
    if (!f->pressed || f->phi[next] < 0)
        return inflow(f, at, axis, high);
    const bool comes_from_there = f->v->parts->inside[other] && f->phi[other] < 0;
    const float flow = comes_from_there && is_open(f, at, axis, high) ? inflow(f, at, axis, !high) : 0;
    return flow > 0 ? -flow : 0;
}

/* From a cell on along the axis the last of its gap before liquid that comes in, and how much does; 0: there
 * is none within `wide` cells.  At a wall, where that counts as an end too, 0 comes in. */
static float find_end(const search *f, size_t *cell, int axis, bool high, int *wide, bool *wall)
{
    const ptrdiff_t step = high ? f->s->mac.step[axis] : -f->s->mac.step[axis];
    *wall = false;
    for (;; *cell = (size_t)((ptrdiff_t)*cell + step)) {
        const size_t next = (size_t)((ptrdiff_t)*cell + step);
        if (!is_open(f, *cell, axis, high)) {
            *wall = true;
            return 0;
        }
        if (f->phi[next] < 0 && f->v->parts->own[next])
            return fmaxf(inflow(f, *cell, axis, high), 0);
        if (--*wide <= 0 || space_in(f, next) < 0)
            return 0;
    }
}

/* The gap that a cell is in, from a wall or liquid, which is up the axis or down, to liquid: what flows into
 * it in the step beside what it has room for, of a cell; 0 where there is none.  A jet that turns along the
 * wall is none: what comes over one face of it leaves by another. */
static float overfills(const search *f, size_t at, int axis, bool up)
{
    const ptrdiff_t step = up ? f->s->mac.step[axis] : -f->s->mac.step[axis];
    size_t from = at, to = at;
    int wide = f->reach;
    bool wall, other_wall;
    const float in = find_end(f, &to, axis, !up, &wide, &other_wall);
    if (!(in > 0))
        return 0;
    const float across = find_end(f, &from, axis, up, &wide, &wall);
    if (!wall && !(across > 0))
        return 0;
    float over = in + across;
    for (size_t cell = to;; cell = (size_t)((ptrdiff_t)cell + step)) {
        over -= space_in(f, cell);
        for (int way = 0; way < (f->s->mac.n[2] > 1 ? 6 : 4); way++)
            over += way / 2 != axis ? known_inflow(f, cell, way / 2, way % 2) : 0;
        if (cell == from)
            return over;
    }
}

/* By the most that a gap it is in gets too much. */
static float overfilled(const search *f, size_t at)
{
    float most = 0;
    for (int way = 0; way < (f->s->mac.n[2] > 1 ? 6 : 4); way++) {
        const float over = overfills(f, at, way / 2, way % 2);
        most = over > most ? over : most;
    }
    return most;
}

/* Of UND_LANES cells from x on in a row: bits of those from which liquid is so near along an axis that it may
 * be at the other end of their gap. */
static unsigned before_liquid(const search *f, const int cell[3], int axis, bool up)
{
    const und_mac *m = &f->s->mac;
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    const int last = up ? m->n[axis] - cell[axis] : cell[axis] + 1; /* steps to the layer beside the domain */
    const ptrdiff_t step = up ? m->step[axis] : -m->step[axis];
    und_lanes_int wet = {0};
    for (int by = 1; by <= f->reach && (axis == 0 || by <= last); by++)
        wet |= und_lanes_load(f->phi + ((ptrdiff_t)at + by * step)) < 0;
    return und_lanes_bits(wet);
}

/* Bits of cells from `cell` on so near to a wall that they may be between it and liquid. */
static unsigned before_walls(const search *f, const int cell[3])
{
    const und_mac *m = &f->s->mac;
    const bool *closed = f->walls->closed;
    const int axes = m->n[2] > 1 ? 3 : 2;
    unsigned bits = 0, near = 0, ends[2] = {0};
    for (int a = 1; a < axes; a++) {
        if (cell[a] < f->reach && closed[2 * a])
            bits |= before_liquid(f, cell, a, true);
        if (cell[a] >= m->n[a] - f->reach && closed[2 * a + 1])
            bits |= before_liquid(f, cell, a, false);
    }
    for (int i = 0; i < UND_LANES; i++) {
        ends[0] |= cell[0] + i < f->reach && closed[0] ? 1u << i : 0;
        ends[1] |= cell[0] + i >= m->n[0] - f->reach && closed[1] ? 1u << i : 0;
    }
    for (int side = 0; side < 2; side++)
        bits |= ends[side] ? ends[side] & before_liquid(f, cell, 0, side == 0) : 0;
    if (f->walls->room)
        near = und_lanes_bits(und_lanes_load(f->walls->distance + und_mac_at(m, cell[0], cell[1], cell[2])) <
                              (float)(f->reach + 1));
    for (int way = 0; near && way < 2 * axes; way++)
        bits |= near & before_liquid(f, cell, way / 2, way % 2);
    return bits;
}

/* The same of some between liquid on two sides. */
static unsigned between_liquid(const search *f, const int cell[3], unsigned some)
{
    unsigned bits = 0;
    for (int a = 0; a < (f->s->mac.n[2] > 1 ? 3 : 2); a++) {
        const unsigned above = some & ~bits ? some & before_liquid(f, cell, a, true) : 0;
        bits |= above ? above & before_liquid(f, cell, a, false) : 0;
    }
    return bits;
}

/* Those of a row into list[]; how much they would have too much, and how many they are. */
static int64_t find_in_row(const search *f, int row, int32_t *list, int32_t *count)
{
    const und_mac *m = &f->s->mac;
    const und_lanes none = {0}, furthest = und_lanes_all((float)f->reach);
    int64_t sum = 0;
    *count = 0;
    for (int x = 0; x < m->n[0]; x += UND_LANES) {
        const size_t from = und_mac_row(m, row) + (size_t)x;
        const und_lanes phi = und_lanes_load(f->phi + from);
        unsigned bits =
            und_lanes_bits((phi >= none) & (phi < furthest)) & und_volume_row_bits((size_t)(m->n[0] - x));
        const int cell[3] = {x, row % m->n[1], row / m->n[1]};
        if (bits) /* one side is no further than half of such a gap */
            bits &= before_walls(f, cell) |
                    between_liquid(f, cell, bits & und_lanes_bits(phi < 0.5f * (float)f->reach));
        for (; bits; bits &= bits - 1) {
            const size_t at = from + (size_t)__builtin_ctz(bits);
            const float over = space_in(f, at) > 0 ? overfilled(f, at) : 0;
            if (!(over > MARGIN))
                continue;
            list[(*count)++] = (int32_t)at;
            sum += und_volume_units(over);
        }
    }
    return sum;
}

static void find_gaps(const search *f, und_place p)
{
    const und_volume_parts *parts = f->v->parts;
    const int row = p.y + p.z * f->s->mac.n[1];
    parts->row_sum[row] = find_in_row(f, row, parts->extra + p.at, &parts->row_count[row]);
}
UND_KERNEL(find_gaps, search, UND_EACH_ROW)

/* Adds cells to the list; how much they would have too much, cells.  At first films are found too, and phi is
 * copied, in one go. */
static double find(const search *f, und_levelset_pressed *to, const und_volume_filming *films)
{
    enum { PASSES = 2 };
    const und_mac *m = &f->s->mac;
    const und_volume_parts *p = f->v->parts;
    const und_set slices = und_set_slices(m, UND_ROWS_INSIDE);
    const und_distance_copy_args copy = {*m, f->s->surface.phi, to->surface.phi};
    const und_set all = und_set_rows(m, UND_ROWS_ALL);
    const und_pass copied = UND_PASS(und_distance_copy_row, &copy, &all);
    und_pass passes[PASSES] = {UND_PASS(find_gaps, f, &slices)};
    und_step steps[1 + PASSES];
    int64_t sum = 0;
    int count = 0;
    if (films) {
        passes[1] = und_volume_films_pass(films, &slices);
        steps[count++] = (und_step){.passes = &copied, .count = 1};
    }
    count += und_pass_chain_steps(steps + count, passes, films ? PASSES : 1);
    und_volume_borrow(f->v);
    und_pass_steps(&f->s->device, steps, count);
    UND_MAC_EACH_ROW (m, row) {
        memcpy(to->closing + to->closing_count, p->extra + und_mac_row(m, row),
               (size_t)p->row_count[row] * sizeof *to->closing);
        to->closing_count += p->row_count[row];
        sum += p->row_sum[row];
    }
    und_volume_give_back(f->v);
    return (double)sum / UND_VOLUME_ONE;
}

static search search_of(const und_levelset *s, const float *phi, const und_volume_walls *walls)
{
    const int reach = (int)ceil(s->furthest);
    return (search){.s = s,
                    .v = und_levelset_volumes(s),
                    .walls = walls,
                    .phi = phi,
                    .reach = reach < FURTHEST ? reach : FURTHEST};
}

void und_levelset_closing_find(const und_levelset *s, und_levelset_pressed *p, const und_volume_walls *walls)
{
    const und_volume_filming films = {und_levelset_volumes(s), &s->surface, walls};
    const search f = search_of(s, s->surface.phi, walls);
    find(&f, p, &films);
}

bool und_levelset_closing_find_more(const und_levelset *s, und_levelset_pressed *p,
                                    const und_volume_walls *walls)
{
    const double dx = s->def.dx, liquid = s->ledger.measured / (dx * dx * dx);
    const int before = p->closing_count;
    search f = search_of(s, p->surface.phi, walls);
    f.pressed = true;
    const bool many = find(&f, p, NULL) > MANY * liquid;
    p->closing_count = many ? p->closing_count : before;
    return many;
}

void und_levelset_closing_gain(const und_levelset *s, const und_levelset_pressed *p,
                               const und_volume_walls *walls, float *gain)
{
    for (int i = 0; i < p->closing_count; i++) {
        const size_t at = (size_t)p->closing[i];
        gain[at] -= und_volume_room(walls, at) - und_volume_cells(und_levelset_volume_cells(s)[at]);
    }
}
