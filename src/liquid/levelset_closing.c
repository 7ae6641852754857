/* Gaps between liquid and a wall, or liquid, that close within a step.
 *
 * Beyond the surface the flow is only carried on, so what comes into such a gap may be more than it has room
 * for, and would be pressed out again in the next step.  Cells that the flow is about to overfill count as
 * liquid while the pressure is found, as films do, and take in just what they have room for.  Most are known
 * by the flow and gravity; those that only the pressure drives liquid into, once it is found: where they are
 * many it is found again, as long as that drives it into more. */
#include "flow/mac_flow_parts.h"
#include "grid/mask_kernel.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <math.h>
#include <string.h>

static const float LEAST_ROOM = 0.1f; /* of a cell */
static const float SLIT = 0.2f;       /* of a face: the pressure would drive a jet through one */
static const float MARGIN = 0.05f;    /* of a cell: so much more than there is room for */
static const double MANY = 2e-3;      /* of the liquid: too much in all */
enum { FURTHEST = 5 };                /* cells that a gap may have */

typedef struct search {
    const und_levelset *s;
    const und_volume *v;
    const und_volume_walls *walls;
    const float *phi;
    double dt, kick; /* s: of the step, and for how long forces act before it */
    int reach;       /* cells: how wide gaps are that may close */
    bool pressed;    /* the flow has its pressure */
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

/* How much of a face is open. */
static float openness(const search *f, size_t at, int axis, bool high)
{
    const size_t step = (size_t)f->s->mac.step[axis];
    if (f->s->solids.none && f->v->parts->inside[high ? at + step : at - step])
        return 1;
    return f->walls->open[axis][high ? at : at - step];
}

static bool is_open(const search *f, size_t at, int axis, bool high)
{
    return openness(f, at, axis, high) >= 0.5f;
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
    const float u = s->flow.u[axis][face] + (f->pressed ? 0 : (float)(s->def.gravity[axis] * f->kick));
    const float flow = (high ? -u : u) * (float)(f->dt / s->def.dx) * openness(f, at, axis, high);
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

/* Where the gap that a cell is in ends on one side of it. */
typedef struct gap_end {
    size_t last; /* its cell there, */
    int away;    /* so many cells on */
    float comes; /* over that cell's face, 0 at a wall */
    bool wall;
} gap_end;

/* Nothing comes, and there is no wall, where the gap does not end within the reach. */
static gap_end find_end(const search *f, size_t at, int axis, bool high)
{
    const ptrdiff_t step = high ? f->s->mac.step[axis] : -f->s->mac.step[axis];
    gap_end end = {.last = at};
    for (;; end.last = (size_t)((ptrdiff_t)end.last + step)) {
        const size_t next = (size_t)((ptrdiff_t)end.last + step);
        end.wall = !is_open(f, end.last, axis, high);
        if (end.wall)
            return end;
        if (f->phi[next] < 0 && f->v->parts->own[next]) {
            end.comes = fmaxf(inflow(f, end.last, axis, high), 0);
            return end;
        }
        if (++end.away >= f->reach || space_in(f, next) < 0)
            return (gap_end){.away = f->reach};
    }
}

/* The gap from a wall or liquid, which is up the axis or down, to liquid: what flows into it in the step
 * beside what it has room for, of a cell; 0 where there is none.  A jet that turns along the wall is none:
 * what comes over one face of it leaves by another. */
static float overfills(const search *f, const gap_end *from, const gap_end *to, int axis, bool up)
{
    const ptrdiff_t step = up ? f->s->mac.step[axis] : -f->s->mac.step[axis];
    if (!(to->comes > 0) || from->away + to->away >= f->reach || (!from->wall && !(from->comes > 0)))
        return 0;
    float over = to->comes + from->comes;
    for (size_t cell = to->last;; cell = (size_t)((ptrdiff_t)cell + step)) {
        over -= space_in(f, cell);
        for (int way = 0; way < (f->s->mac.n[2] > 1 ? 6 : 4); way++)
            over += way / 2 != axis ? known_inflow(f, cell, way / 2, way % 2) : 0;
        if (cell == from->last)
            return over;
    }
}

/* By the most that a gap along some axes, as bits, gets too much that a cell is in. */
static float overfilled(const search *f, size_t at, unsigned axes)
{
    float most = 0;
    for (; axes; axes &= axes - 1) {
        const int axis = __builtin_ctz(axes);
        const gap_end low = find_end(f, at, axis, false);
        if (!low.wall && !(low.comes > 0))
            continue;
        const gap_end high = find_end(f, at, axis, true);
        const float over[2] = {overfills(f, &low, &high, axis, false), overfills(f, &high, &low, axis, true)};
        for (int i = 0; i < 2; i++)
            most = over[i] > most ? over[i] : most;
    }
    return most;
}

/* ---- Where there may be gaps ---- */

static void mark_wet(const search *f, und_place p)
{
    const und_mask *wet = &f->s->wet;
    const und_span words = und_mask_words(wet, p.y, p.z);
    for (int w = words.begin; w < words.end; w++)
        und_mask_row(wet, p.y, p.z)[w] =
            und_word_of(f->phi + p.at, wet->n[0], w, false, 0) & und_word_inside(wet->n[0], w);
}
UND_KERNEL(mark_wet, search, UND_EACH_ROW)

enum { WORDS = 512 }; /* of rows that are looked at in one go */

/* Some rows of a slice: words of their cells, of those with liquid so near along an axis, or any, that it may
 * be at the other end of their gap, of those for which that may be a wall, of those that may be in one. */
typedef struct rows {
    int y, end, z, words;
    uint64_t near[6][WORDS], any[WORDS], walled[WORDS], found[WORDS];
} rows;

/* At the ends of rows there may be some too many. */
static void look_along(const search *f, rows *r, int axis, bool up)
{
    const und_mask *wet = &f->s->wet;
    uint64_t *near = r->near[2 * axis + up];
    memset(near, 0, (size_t)((r->end - r->y) * r->words) * sizeof *near);
    for (int by = 1; by <= f->reach; by++) {
        const int y = axis == 1 ? up ? by : -by : 0, z = r->z + (axis == 2 ? up ? by : -by : 0);
        const int first = r->y > -y ? r->y : -y, end = r->end < wet->n[1] - y ? r->end : wet->n[1] - y;
        if (z < 0 || z >= wet->n[2] || first >= end)
            continue;
        const uint64_t *from = und_mask_row(wet, first + y, z);
        uint64_t *to = near + (first - r->y) * r->words;
        for (int i = 0, count = (end - first) * r->words; i < count; i++)
            to[i] |= axis != 0 ? from[i]
                     : up      ? from[i] >> by | from[i + 1] << (64 - by)
                               : from[i] << by | from[i - 1] >> (64 - by);
    }
}

/* Word w of a row's cells from first to below end. */
static uint64_t word_between(int first, int end, int w)
{
    return und_word_inside(end, w) & ~und_word_inside(first, w);
}

static uint64_t walled_word(const search *f, const rows *r, int y, int w, int i)
{
    const int *n = f->s->mac.n, axes = n[2] > 1 ? 3 : 2, cell[3] = {0, y, r->z};
    const bool *closed = f->walls->closed;
    uint64_t bits = 0;
    for (int side = 0; side < 2 * axes; side++) {
        const int a = side / 2, from = side % 2 ? n[a] - f->reach : 0, low = from > 0 ? from : 0;
        const bool near = a == 0 || (cell[a] >= from && cell[a] < from + f->reach);
        if (closed[side] && near)
            bits |= r->near[side ^ 1][i] & (a > 0 ? ~UINT64_C(0) : word_between(low, from + f->reach, w));
    }
    const uint64_t rest = f->walls->room ? r->any[i] & ~bits : 0;
    if (rest)
        bits |= rest & und_word_of(f->walls->distance + und_mac_at(&f->s->mac, 0, y, r->z), n[0], w, false,
                                   (float)(f->reach + 1));
    return bits;
}

static void look_around(const search *f, rows *r)
{
    const int axes = f->s->mac.n[2] > 1 ? 3 : 2, count = (r->end - r->y) * r->words;
    const uint64_t *wet = und_mask_row(&f->s->wet, r->y, r->z);
    for (int way = 0; way < 2 * axes; way++)
        look_along(f, r, way / 2, way % 2);
    memset(r->any, 0, sizeof r->any);
    for (int way = 0; way < 2 * axes; way++)
        for (int i = 0; i < count; i++)
            r->any[i] |= r->near[way][i];
    for (int i = 0; i < count; i++)
        r->walled[i] = walled_word(f, r, r->y + i / r->words, i % r->words, i);
    for (int i = 0; i < count; i++) {
        uint64_t between = 0;
        for (int a = 0; a < axes; a++)
            between |= r->near[2 * a][i] & r->near[2 * a + 1][i];
        r->found[i] = (between | r->walled[i]) & ~wet[i] & und_word_inside(f->s->mac.n[0], i % r->words);
    }
}

/* Axes, as bits, along which a cell of a word may be in a gap. */
static unsigned axes_at(const rows *r, int word, int bit, int axes)
{
    unsigned bits = 0;
    for (int a = 0; a < axes; a++) {
        const uint64_t low = r->near[2 * a][word], high = r->near[2 * a + 1][word];
        bits |= (unsigned)(((low & high) | ((low | high) & r->walled[word])) >> bit & 1) << a;
    }
    return bits;
}

/* What comes into a drain is taken. */
static bool drains(const search *f, size_t at)
{
    int cell[3];
    und_mac_cell(&f->s->mac, at, cell);
    return f->s->def.element_count > 0 && und_elements_drains_at(f->s->elements, cell[0], cell[1], cell[2]);
}

/* Cells of a word, from the one at `from` on, that would have too much, into list[]; how much in all. */
static int64_t find_in_word(const search *f, const rows *r, int word, size_t from, int32_t *list,
                            int32_t *count)
{
    const int axes = f->s->mac.n[2] > 1 ? 3 : 2;
    const float furthest = (float)f->reach;
    int64_t sum = 0;
    for (uint64_t bits = r->found[word]; bits; bits &= bits - 1) {
        const int i = __builtin_ctzll(bits);
        const size_t at = from + (size_t)i;
        /* One side is no further than half of a gap between liquid. */
        if (!(f->phi[at] < (r->walled[word] >> i & 1 ? furthest : 0.5f * furthest)))
            continue;
        const float over = space_in(f, at) > 0 ? overfilled(f, at, axes_at(r, word, i, axes)) : 0;
        if (!(over > MARGIN))
            continue;
        list[(*count)++] = (int32_t)at;
        sum += drains(f, at) ? 0 : und_volume_units(over);
    }
    return sum;
}

static void find_in_rows(const search *f, rows *r)
{
    const und_mac *m = &f->s->mac;
    const und_volume_parts *parts = f->v->parts;
    look_around(f, r);
    for (int y = r->y; y < r->end; y++) {
        const int row = y + r->z * m->n[1], first = (y - r->y) * r->words;
        const size_t at = und_mac_row(m, row);
        int64_t sum = 0;
        parts->row_count[row] = 0;
        for (int w = 0; w < r->words; w++)
            sum += find_in_word(f, r, first + w, at + (size_t)(64 * w) - 1,
                                parts->extra + und_mac_row_begin(&f->s->mac, row), &parts->row_count[row]);
        parts->row_sum[row] = sum;
    }
}

static void find_gaps_block(const void *args, const und_set *set, int block)
{
    const search *f = args;
    const und_place first = und_set_row(set, block * set->per_block);
    const int end = first.y + und_set_end(set, block) - block * set->per_block;
    rows r = {.z = first.z, .words = f->s->wet.words};
    const int most = WORDS / r.words;
    for (int y = first.y; y < end; y = r.end) {
        y = f->s->present ? und_present_next(f->s->present, y, end, r.z) : y;
        r.y = r.end = y;
        while (r.end < end && r.end < y + most && und_present_has(f->s->present, r.end, r.z))
            r.end++;
        if (r.end == y)
            break;
        find_in_rows(f, &r);
    }
}
static const und_kernel find_gaps = {.name = "find_gaps", .block = find_gaps_block};

/* A gap goes on that far, with what is beside it, and what comes into it comes from as far behind its end. */
static void get_beside(const search *f)
{
    const und_levelset *s = f->s;
    und_halo_field phi = und_halo_of(&s->mac, NULL, sizeof *f->phi, f->reach + 1);
    memcpy(&phi.values, &f->phi, sizeof phi.values); /* others' come there */
    und_volume_get_cells(f->v, 2 * f->reach + 1);
    und_mac_flow_get(&s->flow, UND_GET_U, f->reach + 1);
    und_halo_get(s->device.halo, &phi, 1);
}

/* Adds cells to list[count]; how much they would have too much, cells. */
static double find(const search *f, int32_t *list, int *count)
{
    enum { STEPS = 2 };
    const und_mac *m = &f->s->mac;
    const und_volume_parts *p = f->v->parts;
    const und_set slices = und_set_slices(m, UND_ROWS_INSIDE), inside = und_set_rows(m, UND_ROWS_INSIDE);
    const und_pass mark = UND_PASS(mark_wet, f, &inside), look = {&find_gaps, f, &slices};
    const und_step steps[STEPS] = {{.passes = &mark, .count = 1}, {.passes = &look, .count = 1}};
    int64_t sum = 0;
    und_volume_borrow(f->v);
    get_beside(f);
    und_pass_steps(&f->s->device, steps, STEPS);
    und_volume_get_rows(f->v, p->row_sum, sizeof *p->row_sum);
    UND_MAC_EACH_ROW (m, row) {
        memcpy(list + *count, p->extra + und_mac_row_begin(m, row), (size_t)p->row_count[row] * sizeof *list);
        *count += p->row_count[row];
        sum += p->row_sum[row];
    }
    und_volume_give_back(f->v);
    return (double)sum / UND_VOLUME_ONE;
}

static search search_of(const und_levelset *s, const float *phi, const und_volume_walls *walls, double dt)
{
    const int reach = (int)ceil(s->furthest);
    return (search){.s = s,
                    .v = und_levelset_volumes(s),
                    .walls = walls,
                    .phi = phi,
                    .dt = dt,
                    .kick = und_levelset_kick(s, dt),
                    .reach = reach < FURTHEST ? reach : FURTHEST};
}

static double liquid_of(const und_levelset *s) /* cells */
{
    return s->ledger.measured / (s->def.dx * s->def.dx * s->def.dx);
}

double und_levelset_closing_soon(und_levelset *s, double dt)
{
    const und_volume_walls walls = und_levelset_walls(s);
    const search f = search_of(s, s->surface.phi, &walls, dt);
    if (s->closing_within != dt) {
        s->closing_count = 0;
        s->closing_much = find(&f, s->closing, &s->closing_count);
        s->closing_within = dt;
    }
    return s->closing_much / liquid_of(s);
}

void und_levelset_closing_forget(und_levelset *s)
{
    s->closing_within = 0;
}

void und_levelset_closing_find(und_levelset *s, und_levelset_pressed *p)
{
    und_levelset_closing_soon(s, s->dt);
    p->closing_count = s->closing_count;
}

bool und_levelset_closing_find_more(const und_levelset *s, und_levelset_pressed *p,
                                    const und_volume_walls *walls)
{
    const int before = p->closing_count;
    search f = search_of(s, p->surface.phi, walls, s->dt);
    f.pressed = true;
    const bool many = find(&f, p->closing, &p->closing_count) > MANY * liquid_of(s);
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
