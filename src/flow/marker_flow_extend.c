/* Velocities around the liquid, as far as markers and differences see: two layers of faces, each the mean of
 * the faces known beside it. */
#include "flow/marker_flow_parts.h"

#include "base/parallel.h"

#include <string.h>

enum { REACH = 3, AIR = 4 }; /* cells; shift of the bits that say: in the air */

static int least(int a, int b)
{
    return a < b ? a : b;
}
static int most(int a, int b)
{
    return a > b ? a : b;
}

static void stretch(int32_t *low, int32_t *high, int32_t other_low, int32_t other_high)
{
    if (other_low >= other_high)
        return;
    bool none = *low >= *high;
    *low = none ? other_low : least(*low, other_low);
    *high = none ? other_high : most(*high, other_high);
}

/* Each row's reach becomes that of the rows up to REACH away along y or z.  Row by row from the one end, then
 * from the other, with the last REACH rows' own reaches at hand. */
static void spread(int32_t *low, int32_t *high, int count, int step)
{
    int32_t own_low[2 * REACH + 1], own_high[2 * REACH + 1]; /* of rows i - REACH to i + REACH */
    for (int k = -REACH; k <= REACH; k++) {
        bool inside = k >= 0 && k < count;
        own_low[k + REACH] = inside ? low[k * step] : 0;
        own_high[k + REACH] = inside ? high[k * step] : 0;
    }
    for (int i = 0; i < count; i++) {
        for (int k = 0; k <= 2 * REACH; k++)
            stretch(&low[i * step], &high[i * step], own_low[k], own_high[k]);
        memmove(own_low, own_low + 1, sizeof own_low - sizeof *own_low);
        memmove(own_high, own_high + 1, sizeof own_high - sizeof *own_high);
        bool inside = i + REACH + 1 < count;
        own_low[2 * REACH] = inside ? low[(i + REACH + 1) * step] : 0;
        own_high[2 * REACH] = inside ? high[(i + REACH + 1) * step] : 0;
    }
}

/* The cell in front of a wall. */
static size_t cell_before(const und_marker_flow *f, const und_wall_face *w)
{
    return w->high ? w->at : w->at + (size_t)f->mac.step[w->axis];
}

/* The cells around liquid and around inflows. */
static void find_reach(und_marker_flow *f)
{
    und_marker_flow_parts *s = f->parts;
    const und_mac *m = &f->mac;
    memcpy(s->reach_low, f->row_low, sizeof *f->row_low * (size_t)und_mac_rows(m));
    memcpy(s->reach_high, f->row_high, sizeof *f->row_high * (size_t)und_mac_rows(m));
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        int c[3];
        und_marker_flow_place(m, cell_before(f, w), c);
        int row = c[1] + m->n[1] * c[2];
        if (w->kind == UND_WALL_INFLOW)
            stretch(&s->reach_low[row], &s->reach_high[row], c[0], c[0] + 1);
    }
    for (int z = 0; z < m->n[2]; z++)
        spread(s->reach_low + z * m->n[1], s->reach_high + z * m->n[1], m->n[1], 1);
    for (int y = 0; y < m->n[1]; y++)
        spread(s->reach_low + y, s->reach_high + y, m->n[2], m->n[1]);
    for (int row = 0; row < und_mac_rows(m); row++)
        if (s->reach_low[row] < s->reach_high[row]) {
            s->reach_low[row] = most(s->reach_low[row] - REACH, 0);
            s->reach_high[row] = least(s->reach_high[row] + REACH, m->n[0]);
        }
}

/* Bit a for each cell of a row: its high face along a is known, for there is liquid beside it; bit 4 + a: it
 * lies in the air.  All bits that occur. */
static unsigned find_known(const und_marker_flow *f, size_t first, int low, int high)
{
    const uint8_t *label = f->label + first;
    uint8_t *restrict known = f->parts->known + first;
    memset(known + low, 0, (size_t)(high - low));
    for (int a = 0; a < und_marker_flow_axes(f); a++) {
        const uint8_t *next = label + f->mac.step[a];
        const uint8_t air_bit = (uint8_t)(1 << (AIR + a)), known_bit = (uint8_t)(1 << a);
        for (int x = low; x < high; x++) {
            bool solid = (label[x] == UND_CELL_SOLID) | (next[x] == UND_CELL_SOLID);
            bool air = (label[x] == UND_CELL_EMPTY) & (next[x] == UND_CELL_EMPTY);
            uint8_t beside = solid ? 0 : known_bit;
            known[x] |= air ? air_bit : beside;
        }
    }
    unsigned any = 0;
    for (int x = low; x < high; x++)
        any |= known[x];
    return any;
}

/* Finds which faces of a row are known and which lie in the air; those are cleared. */
static void sort_row(und_marker_flow *f, int row)
{
    und_marker_flow_parts *s = f->parts;
    int low = s->near_low[row], high = s->near_high[row]; /* of the time before */
    int from = s->reach_low[row], to = s->reach_high[row];
    stretch(&low, &high, from, to);
    s->near_low[row] = from;
    s->near_high[row] = to;
    size_t first = und_mac_row(&f->mac, row);
    uint8_t *known = s->known + first;
    unsigned any = find_known(f, first, low, high);
    s->air[row] = any >> AIR != 0;
    memset(s->told + first + low, 0, (size_t)(high - low));
    for (int x = low; s->air[row] && x < high; x++)
        for (int a = 0, air = known[x] >> AIR; air >> a; a++)
            if (air >> a & 1)
                f->u[a][first + (size_t)x] = f->next[a][first + (size_t)x] = 0;
    if (from >= to)
        from = to = high;
    memset(known + low, 0, (size_t)(from - low));
    memset(known + to, 0, (size_t)(high - to));
}

/* The mean of the known faces beside one, in a fixed order. */
static double mean_beside(const und_marker_flow *f, int axis, size_t at, bool second)
{
    const und_marker_flow_parts *s = f->parts;
    double sum = 0;
    int count = 0;
    for (int side = 0; side < 2 * und_marker_flow_axes(f); side++) {
        size_t n = at + (size_t)(side % 2 ? f->mac.step[side / 2] : -f->mac.step[side / 2]);
        int there = (s->known[n] | (second ? s->told[n] : 0)) >> axis & 1;
        sum += there ? f->u[axis][n] : 0;
        count += there;
    }
    return sum / count;
}

/* Which faces of `count` cells in the air have known ones beside them.  First by those that `known` says,
 * then by those and the ones made first. */
static void find_next(const und_marker_flow *f, size_t at, int count, bool second, uint8_t *restrict next)
{
    const uint8_t *known = f->parts->known + at, *told = f->parts->told + at;
    uint8_t use_told = second ? 255 : 0;
    memset(next, 0, (size_t)count);
    for (int side = 0; side < 2 * und_marker_flow_axes(f); side++) {
        ptrdiff_t to = side % 2 ? f->mac.step[side / 2] : -f->mac.step[side / 2];
        for (int x = 0; x < count; x++)
            next[x] |= known[x + to] | (told[x + to] & use_told);
    }
    for (int x = 0; x < count; x++)
        next[x] = (uint8_t)(next[x] & known[x] >> AIR & ~(told[x] & use_told));
}

static void tell_row(und_marker_flow *f, int row, bool second)
{
    enum { STRIP = 256 };
    uint8_t next[STRIP];
    und_marker_flow_parts *s = f->parts;
    for (int low = s->near_low[row]; low < s->near_high[row]; low += STRIP) {
        int count = least(s->near_high[row] - low, STRIP);
        size_t at = und_mac_row(&f->mac, row) + (size_t)low;
        find_next(f, at, count, second, next);
        for (int x = 0; x < count; x++)
            for (int a = 0; next[x] >> a; a++)
                if (next[x] >> a & 1)
                    f->u[a][at + (size_t)x] = mean_beside(f, a, at + (size_t)x, second);
        if (!second)
            memcpy(s->told + at, next, (size_t)count);
    }
}

static void tell_rows(und_marker_flow *f, bool second)
{
    PARALLEL_FOR(und_marker_flow_workers(f, (size_t)(f->full + f->surface)))
    for (int b = 0; b < und_marker_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++)
            if (f->parts->air[row])
                tell_row(f, row, second);
}

/* What comes into empty cells has all of the inflow's velocity, not only that across the wall. */
static void tell_inflow(und_marker_flow *f, const und_wall_face *w)
{
    und_marker_flow_parts *s = f->parts;
    size_t cell = cell_before(f, w);
    s->known[w->at] |= (uint8_t)(1 << w->axis);
    if (!(w->high ? w->value < 0 : w->value > 0))
        return;
    for (int side = 0; side < 2 * und_marker_flow_axes(f); side++) {
        int a = side / 2;
        size_t at = side % 2 ? cell : cell - (size_t)f->mac.step[a];
        if (a == w->axis || !(s->known[at] >> (AIR + a) & 1))
            continue;
        f->u[a][at] = und_marker_flow_inflow(f, w, a, at);
        s->known[at] = (uint8_t)((s->known[at] & ~(1 << (AIR + a))) | 1 << a);
    }
}

void und_marker_flow_extend(und_marker_flow *f)
{
    und_marker_flow_parts *s = f->parts;
    find_reach(f);
    PARALLEL_FOR(und_marker_flow_byte_workers(f, und_marker_flow_cells(f)))
    for (int b = 0; b < und_marker_flow_blocks(f); b++)
        for (int row = b * UND_ROWS_AT_ONCE; row < und_marker_flow_block_end(f, b); row++)
            sort_row(f, row);
    for (size_t i = 0; i < s->ports; i++) {
        const und_wall_face *w = &s->face[s->port[i]];
        if (w->kind == UND_WALL_INFLOW)
            tell_inflow(f, w);
    }
    tell_rows(f, false);
    tell_rows(f, true);
}
