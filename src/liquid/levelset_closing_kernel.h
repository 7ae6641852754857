/* Gaps between liquid and a wall, or liquid, that close within a step: levelset_closing.c says what for.
 *
 * Where there may be some is told by words of bits, of cells with liquid near along an axis; what flows into
 * a gap by what stands in it, cell by cell.  Each row has a list of its own. */
#ifndef UND_LIQUID_LEVELSET_CLOSING_KERNEL_H
#define UND_LIQUID_LEVELSET_CLOSING_KERNEL_H

#include "grid/mask_kernel.h"
#include "grid/pass.h"
#include "surface/volume_cells_kernel.h"

#define UND_CLOSING_LEAST_ROOM 0.1f /* of a cell */
#define UND_CLOSING_SLIT 0.2f       /* of a face: the pressure would drive a jet through one */
#define UND_CLOSING_MARGIN 0.05f    /* of a cell: so much more than there is room for */
enum { UND_CLOSING_FURTHEST = 5 };  /* cells that a gap may have */

typedef struct und_closing {
    und_volume_arrays v;
    und_volume_walls walls;
    bool no_solids; /* then what walls say of faces inside is not looked at */
    const float *phi, *u[3];
    float falls[3];   /* m/s that gravity gives before the step; 0 where the flow has its pressure */
    float per_speed;  /* cells in the step at 1 m/s */
    int reach;        /* cells: how wide gaps are that may close */
    bool pressed;     /* the flow has its pressure */
    und_mask wet;     /* cells where phi is below 0 */
    und_mask drained; /* cells of drains; without bits: there are none */
    int32_t *of_row;  /* of each row, from where its first cell is on, */
    int32_t *count;   /* so many cells, */
    int64_t *over;    /* which would have so much too much, of UND_VOLUME_ONE */
} und_closing;

/* ---- What is too much ---- */

static inline bool und_closing_has_slit(const und_closing *f, size_t at)
{
    for (int a = 0; a < 3; a++) {
        const float *open = f->walls.open[a] + at, low = open[-f->v.mac.step[a]];
        if ((open[0] > 0 && open[0] < UND_CLOSING_SLIT) || (low > 0 && low < UND_CLOSING_SLIT))
            return true;
    }
    return false;
}

/* A cell of a gap: what there is room for; below 0: it is none. */
static inline float und_closing_space(const und_closing *f, size_t at)
{
    const float room = und_volume_room(&f->walls, at);
    if (!f->v.own[at] || !(room > UND_CLOSING_LEAST_ROOM) || !(f->phi[at] >= 0) ||
        (f->walls.room && und_closing_has_slit(f, at)))
        return -1;
    const float space = room - und_volume_cells(f->v.c[at]);
    return space > 0 ? space : 0;
}

/* How much of a face is open. */
static inline float und_closing_openness(const und_closing *f, size_t at, int axis, bool high)
{
    const size_t step = (size_t)f->v.mac.step[axis];
    if (f->no_solids && f->v.inside[high ? at + step : at - step])
        return 1;
    return f->walls.open[axis][high ? at : at - step];
}

static inline bool und_closing_is_open(const und_closing *f, size_t at, int axis, bool high)
{
    return und_closing_openness(f, at, axis, high) >= 0.5f;
}

/* What there is of `flow` to come: what cells from one on along `step` hold. */
static inline float und_closing_comes(const und_closing *f, size_t at, ptrdiff_t step, float flow)
{
    float sum = 0;
    for (int i = 0; i < f->reach && sum < flow && f->v.inside[at]; i++) {
        const float has = und_volume_cells(f->v.c[at]);
        sum += has > 0 ? has : 0;
        at = (size_t)((ptrdiff_t)at + step);
    }
    return sum < flow ? sum : flow;
}

/* What flows into a cell in the step over a face, of a cell. */
static inline float und_closing_inflow(const und_closing *f, size_t at, int axis, bool high)
{
    const ptrdiff_t step = high ? f->v.mac.step[axis] : -f->v.mac.step[axis];
    const size_t next = (size_t)((ptrdiff_t)at + step), face = high ? at : next;
    const float u = f->u[axis][face] + f->falls[axis];
    const float flow = (high ? -u : u) * f->per_speed * und_closing_openness(f, at, axis, high);
    return flow > 0 ? und_closing_comes(f, next, step, flow) : flow;
}

/* The same, where the pressure knows of the liquid's faces alone: into air goes on what comes from the other
 * side, and nothing comes by a side of the domain. */
static inline float und_closing_known_inflow(const und_closing *f, size_t at, int axis, bool high)
{
    const ptrdiff_t step = f->v.mac.step[axis];
    const size_t low = at - (size_t)step, next = high ? at + (size_t)step : low,
                 other = high ? low : at + (size_t)step;
    if (!f->v.inside[next])
        return 0;
    if (!f->pressed || f->phi[next] < 0)
        return und_closing_inflow(f, at, axis, high);
    const bool comes = f->v.inside[other] && f->phi[other] < 0;
    const float flow =
        comes && und_closing_is_open(f, at, axis, high) ? und_closing_inflow(f, at, axis, !high) : 0;
    return flow > 0 ? -flow : 0;
}

/* Where the gap that a cell is in ends on one side of it. */
typedef struct und_closing_end {
    size_t last; /* its cell there, */
    int away;    /* so many cells on */
    float comes; /* over that cell's face, 0 at a wall */
    bool wall;
} und_closing_end;

/* Nothing comes, and there is no wall, where the gap does not end within the reach. */
static inline und_closing_end und_closing_find_end(const und_closing *f, size_t at, int axis, bool high)
{
    const ptrdiff_t step = high ? f->v.mac.step[axis] : -f->v.mac.step[axis];
    und_closing_end end = {.last = at};
    for (;; end.last = (size_t)((ptrdiff_t)end.last + step)) {
        const size_t next = (size_t)((ptrdiff_t)end.last + step);
        end.wall = !und_closing_is_open(f, end.last, axis, high);
        if (end.wall)
            return end;
        if (f->phi[next] < 0 && f->v.own[next]) {
            const float comes = und_closing_inflow(f, end.last, axis, high);
            end.comes = comes > 0 ? comes : 0;
            return end;
        }
        if (++end.away >= f->reach || und_closing_space(f, next) < 0)
            return (und_closing_end){.away = f->reach};
    }
}

/* The gap from a wall or liquid, which is up the axis or down, to liquid: what flows into it in the step
 * beside what it has room for, of a cell; 0 where there is none.  A jet that turns along the wall is none:
 * what comes over one face of it leaves by another. */
static inline float und_closing_overfills(const und_closing *f, const und_closing_end *from,
                                          const und_closing_end *to, int axis, bool up)
{
    const ptrdiff_t step = up ? f->v.mac.step[axis] : -f->v.mac.step[axis];
    if (!(to->comes > 0) || from->away + to->away >= f->reach || (!from->wall && !(from->comes > 0)))
        return 0;
    float over = to->comes + from->comes;
    for (size_t cell = to->last;; cell = (size_t)((ptrdiff_t)cell + step)) {
        over -= und_closing_space(f, cell);
        for (int way = 0; way < 2 * und_volume_axes(&f->v.mac); way++)
            over += way / 2 != axis ? und_closing_known_inflow(f, cell, way / 2, way % 2) : 0;
        if (cell == from->last)
            return over;
    }
}

/* By the most that a gap along some axes, as bits, gets too much that a cell is in. */
static inline float und_closing_overfilled(const und_closing *f, size_t at, unsigned axes)
{
    float most = 0;
    for (; axes; axes &= axes - 1) {
        const int axis = __builtin_ctz(axes);
        const und_closing_end low = und_closing_find_end(f, at, axis, false);
        if (!low.wall && !(low.comes > 0))
            continue;
        const und_closing_end high = und_closing_find_end(f, at, axis, true);
        const float over[2] = {und_closing_overfills(f, &low, &high, axis, false),
                               und_closing_overfills(f, &high, &low, axis, true)};
        for (int i = 0; i < 2; i++)
            most = over[i] > most ? over[i] : most;
    }
    return most;
}

/* ---- Where there may be gaps ---- */

static inline void und_closing_mark_wet(const und_closing *f, und_place p)
{
    const und_mask *wet = &f->wet;
    const und_span words = und_mask_words(wet, p.y, p.z);
    for (int w = words.begin; w < words.end; w++)
        und_mask_row(wet, p.y, p.z)[w] =
            und_word_of(f->phi + p.at, wet->n[0], w, false, 0) & und_word_inside(wet->n[0], w);
}
UND_KERNEL(und_closing_mark_wet, und_closing, UND_EACH_ROW)

/* Word w of a row: of cells with liquid so near along an axis, or any, that it may be at the other end of
 * their gap, of those for which that may be a wall, of those that may be in one. */
typedef struct und_closing_word {
    int y, z, w;
    uint64_t near[6], any, walled, found;
} und_closing_word;

static inline uint64_t und_closing_look_along_row(const und_closing *f, const und_closing_word *r, bool up)
{
    const uint64_t *row = und_mask_row(&f->wet, r->y, r->z);
    const uint64_t here = row[r->w],
                   next = up ? (r->w + 1 < f->wet.words ? row[r->w + 1] : 0) : (r->w > 0 ? row[r->w - 1] : 0);
    uint64_t near = 0;
    for (int by = 1; by <= f->reach; by++)
        near |= up ? here >> by | next << (64 - by) : here << by | next >> (64 - by);
    return near;
}

static inline uint64_t und_closing_look_across(const und_closing *f, const und_closing_word *r, int axis,
                                               bool up)
{
    const int at = axis == 1 ? r->y : r->z, n = f->wet.n[axis], first = up ? at + 1 : at - f->reach,
              end = up ? at + f->reach + 1 : at;
    uint64_t near = 0;
    for (int i = first > 0 ? first : 0; i < end && i < n; i++)
        near |= und_mask_row(&f->wet, axis == 1 ? i : r->y, axis == 1 ? r->z : i)[r->w];
    return near;
}

/* Cells of the word from first to below end. */
static inline uint64_t und_closing_between(int first, int end, int w)
{
    return und_word_inside(end, w) & ~und_word_inside(first, w);
}

static inline uint64_t und_closing_walled(const und_closing *f, const und_closing_word *r)
{
    const int *n = f->v.mac.n, cell[3] = {0, r->y, r->z};
    uint64_t bits = 0;
    for (int side = 0; side < 2 * und_volume_axes(&f->v.mac); side++) {
        const int a = side / 2, from = side % 2 ? n[a] - f->reach : 0, low = from > 0 ? from : 0;
        const bool near = a == 0 || (cell[a] >= from && cell[a] < from + f->reach);
        if (f->walls.closed[side] && near)
            bits |=
                r->near[side ^ 1] & (a > 0 ? ~UINT64_C(0) : und_closing_between(low, from + f->reach, r->w));
    }
    const uint64_t rest = f->walls.room ? r->any & ~bits : 0;
    if (rest)
        bits |= rest & und_word_of(f->walls.distance + und_mac_at(&f->v.mac, 0, r->y, r->z), n[0], r->w,
                                   false, (float)(f->reach + 1));
    return bits;
}

static inline und_closing_word und_closing_look_around(const und_closing *f, int y, int z, int w)
{
    const int axes = und_volume_axes(&f->v.mac);
    und_closing_word r = {.y = y, .z = z, .w = w};
    uint64_t between = 0;
    for (int way = 0; way < 2 * axes; way++) {
        r.near[way] = way < 2 ? und_closing_look_along_row(f, &r, way % 2)
                              : und_closing_look_across(f, &r, way / 2, way % 2);
        r.any |= r.near[way];
    }
    if (!r.any)
        return r;
    r.walled = und_closing_walled(f, &r);
    for (int a = 0; a < axes; a++)
        between |= r.near[2 * a] & r.near[2 * a + 1];
    r.found = (between | r.walled) & ~und_mask_row(&f->wet, y, z)[w] & und_word_inside(f->wet.n[0], w);
    return r;
}

/* Axes, as bits, along which a cell of a word may be in a gap. */
static inline unsigned und_closing_axes(const und_closing_word *r, int bit, int axes)
{
    unsigned bits = 0;
    for (int a = 0; a < axes; a++) {
        const uint64_t low = r->near[2 * a], high = r->near[2 * a + 1];
        bits |= (unsigned)(((low & high) | ((low | high) & r->walled)) >> bit & 1) << a;
    }
    return bits;
}

/* Its cells that would have too much, into list[]; how much in all.  What comes into a drain is taken. */
static inline int64_t und_closing_find_in_word(const und_closing *f, const und_closing_word *r, int32_t *list,
                                               int32_t *count)
{
    const float furthest = (float)f->reach;
    const size_t from = und_mac_at(&f->v.mac, 64 * r->w - 1, r->y, r->z);
    int64_t sum = 0;
    for (uint64_t bits = r->found; bits; bits &= bits - 1) {
        const int i = __builtin_ctzll(bits);
        const size_t at = from + (size_t)i;
        /* One side is no further than half of a gap between liquid. */
        if (!(f->phi[at] < (r->walled >> i & 1 ? furthest : 0.5f * furthest)))
            continue;
        const float over =
            und_closing_space(f, at) > 0
                ? und_closing_overfilled(f, at, und_closing_axes(r, i, und_volume_axes(&f->v.mac)))
                : 0;
        if (!(over > UND_CLOSING_MARGIN))
            continue;
        list[(*count)++] = (int32_t)at;
        if (!(f->drained.bits && und_mask_has(&f->drained, 64 * r->w - 1 + i, r->y, r->z)))
            sum += und_volume_units(over);
    }
    return sum;
}

static inline void und_closing_find(const und_closing *f, und_place p)
{
    const und_mac *m = &f->v.mac;
    const int row = p.y + p.z * m->n[1];
    const und_span words = und_mac_words(m, p.y, p.z);
    int32_t count = 0;
    int64_t sum = 0;
    for (int w = words.begin; w < words.end; w++) {
        const und_closing_word r = und_closing_look_around(f, p.y, p.z, w);
        if (r.found)
            sum += und_closing_find_in_word(f, &r, f->of_row + und_mac_row_begin(m, row), &count);
    }
    f->count[row] = count;
    f->over[row] = sum;
}
UND_KERNEL(und_closing_find, und_closing, UND_EACH_ROW)

/* ---- What the pressure is told ---- */

typedef struct und_closing_gaining {
    const int32_t *list, *c;
    const float *room; /* NULL: all of each cell is open */
    float *gain;
} und_closing_gaining;

/* They take in what they have room for. */
static inline void und_closing_gain(const und_closing_gaining *g, und_place block)
{
    for (size_t i = block.at; i < block.at + (size_t)block.x; i++) {
        const int32_t at = g->list[i];
        g->gain[at] -= (g->room ? g->room[at] : 1) - und_volume_cells(g->c[at]);
    }
}
UND_KERNEL(und_closing_gain, und_closing_gaining, UND_EACH_BLOCK)

#endif
