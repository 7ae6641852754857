/* Redistancing at words of masks and at cells: see surface/distance_redistance.c. */
#ifndef UND_SURFACE_REDISTANCE_KERNEL_H
#define UND_SURFACE_REDISTANCE_KERNEL_H

#include "grid/mask_kernel.h"
#include "grid/pass.h"
#include "surface/distance_kernel.h"
#include "surface/distance_refresh_kernel.h"

/* Further away than anything, in cells. */
#define UND_DISTANCE_NONE 1e4f

typedef struct und_redistance_args {
    und_mac mac;
    float *phi, *next;
    const float *none; /* a row further away than anything, which stands for what is beyond the domain */
    und_mask band, negative, front;
    und_mask in, out;      /* cells near the surface, and what becomes of them */
    und_mask cells;        /* of a pass */
    uint8_t *change;       /* of rows: whether it changes values, */
    const uint8_t *before; /* and whether the one before did */
    float width;
    bool keeps_thin, corners;
} und_redistance_args;

/* ---- Which cells ---- */

/* Signs anew where the band is: elsewhere they have not changed. */
UND_INLINE void und_redistance_signs(const und_redistance_args *a, und_place p)
{
    const int n = a->mac.n[0], w = p.x;
    uint64_t *negative = und_mask_row(&a->negative, p.y, p.z) + w;
    if (und_mask_row(&a->band, p.y, p.z)[w])
        *negative = und_word_of(a->phi + p.at, n, w, false, 0) & und_word_inside(n, w);
    *negative = und_distance_end_signs(a->phi + p.at, n, w, *negative);
}
UND_KERNEL(und_redistance_signs, und_redistance_args, UND_EACH_WORD)

/* Cells with a neighbour on the other side of the surface, and `out` the same. */
UND_INLINE void und_redistance_front(const und_redistance_args *a, und_place p)
{
    const int w = p.x, words = a->negative.words, *n = a->mac.n;
    const uint64_t *own = und_mask_row(&a->negative, p.y, p.z);
    const uint64_t low = own[w] << 1 | (w > 0 ? own[w - 1] >> 63 : 0);
    const uint64_t high = own[w] >> 1 | (w + 1 < words ? own[w + 1] << 63 : 0);
    uint64_t bits = (own[w] ^ low) | (own[w] ^ high);
    if (p.y > 0)
        bits |= own[w] ^ und_mask_row(&a->negative, p.y - 1, p.z)[w];
    if (p.y < n[1] - 1)
        bits |= own[w] ^ und_mask_row(&a->negative, p.y + 1, p.z)[w];
    if (p.z > 0)
        bits |= own[w] ^ und_mask_row(&a->negative, p.y, p.z - 1)[w];
    if (p.z < n[2] - 1)
        bits |= own[w] ^ und_mask_row(&a->negative, p.y, p.z + 1)[w];
    bits &= und_word_inside(n[0], w);
    und_mask_row(&a->front, p.y, p.z)[w] = und_mask_row(&a->out, p.y, p.z)[w] = bits;
}
UND_KERNEL(und_redistance_front, und_redistance_args, UND_EACH_WORD)

/* Of a row's word: with the bits that come in from the words beside it. */
typedef struct und_word_wide {
    uint64_t own, low, high;
} und_word_wide;
UND_INLINE und_word_wide und_word_unite(und_word_wide a, const uint64_t *v, int w, int words)
{
    a.own |= v[w];
    a.low |= w > 0 ? v[w - 1] : 0;
    a.high |= w + 1 < words ? v[w + 1] : 0;
    return a;
}

/* out: in, and what shares an edge with a cell of it, or with `corners` a corner. */
UND_INLINE void und_redistance_grow(const und_redistance_args *a, und_place p)
{
    const int w = p.x, words = a->in.words;
    const ptrdiff_t y = words, slice = y * (a->mac.n[1] + 2);
    const uint64_t *v = und_mask_row(&a->in, p.y, p.z);
    const uint64_t *diagonal[4] = {v - slice - y, v - slice + y, v + slice - y, v + slice + y};
    und_word_wide all = und_word_unite((und_word_wide){0}, v, w, words);
    uint64_t edges = 0;
    all = und_word_unite(und_word_unite(all, v - y, w, words), v + y, w, words);
    all = und_word_unite(und_word_unite(all, v - slice, w, words), v + slice, w, words);
    for (int i = 0; i < 4; i++) {
        edges |= diagonal[i][w];
        if (a->corners)
            all = und_word_unite(all, diagonal[i], w, words);
    }
    const uint64_t grown = all.own | all.own << 1 | all.own >> 1 | all.low >> 63 | all.high << 63 | edges;
    und_mask_row(&a->out, p.y, p.z)[w] = grown & und_word_inside(a->mac.n[0], w);
}
UND_KERNEL(und_redistance_grow, und_redistance_args, UND_EACH_WORD)

/* out: what is near the surface, and what was. */
UND_INLINE void und_redistance_join(const und_redistance_args *a, und_place p)
{
    und_mask_row(&a->out, p.y, p.z)[p.x] =
        und_mask_row(&a->in, p.y, p.z)[p.x] | und_mask_row(&a->band, p.y, p.z)[p.x];
}
UND_KERNEL(und_redistance_join, und_redistance_args, UND_EACH_WORD)

/* out: of what is near, what is not beside the surface, whose distance stays. */
UND_INLINE void und_redistance_leave(const und_redistance_args *a, und_place p)
{
    und_mask_row(&a->out, p.y, p.z)[p.x] =
        und_mask_row(&a->in, p.y, p.z)[p.x] & ~und_mask_row(&a->front, p.y, p.z)[p.x];
}
UND_KERNEL(und_redistance_leave, und_redistance_args, UND_EACH_WORD)

/* ---- Cells beside the surface ---- */

/* The values of a batch and of two neighbours on both sides along an axis; beyond the domain such as go on
 * straight.  Where what is thin is kept and the surface is between the last cell and the next, as in a layer
 * of one cell, straight is the slope on its other side: so both see the same slopes, and dividing by them
 * leaves the surface where it is. */
UND_INLINE void und_line_across(const und_redistance_args *a, size_t cell, int axis, int at,
                                und_lanes line[5])
{
    const float *v = a->phi + cell;
    const ptrdiff_t step = a->mac.step[axis];
    const int n = a->mac.n[axis];
    if (at >= 2 && at + 2 < n) {
        for (int k = 0; k < 5; k++)
            line[k] = und_lanes_load(v + (k - 2) * step);
        return;
    }
    for (int k = 0; k < 5; k++) {
        const int there = at + k - 2, inside = there < 0 ? 0 : there > n - 1 ? n - 1 : there;
        const int by = inside == there || n == 1 ? 0 : there < 0 ? 1 : -1;
        const int off = there < inside ? inside - there : there - inside;
        const und_lanes border = und_lanes_load(v + (inside - at) * step);
        const und_lanes next = und_lanes_load(v + (inside + by - at) * step);
        const und_lanes after = und_lanes_load(v + (inside + (n > 2 ? 2 : 1) * by - at) * step);
        und_lanes slope = border - next;
        if (a->keeps_thin)
            slope = und_lanes_select((border < 0) ^ (next < 0), next - after, slope);
        line[k] = border + (float)off * slope;
    }
}

/* The same of one cell, from the last of a row inwards. */
UND_INLINE float und_slope_beyond(const und_redistance_args *a, const float *last, int inwards)
{
    const int n = a->mac.n[0];
    const float next = last[n > 1 ? inwards : 0], after = last[n > 2 ? 2 * inwards : n > 1 ? inwards : 0];
    return a->keeps_thin && (*last < 0) != (next < 0) ? next - after : *last - next;
}

/* Along x the two ends of the row are beyond the domain. */
UND_INLINE void und_line_along(const und_redistance_args *a, const float *row, int x, und_lanes line[5])
{
    float stretch[UND_LANES + 4];
    const int n = a->mac.n[0];
    if (x >= 2 && x + UND_LANES + 2 <= n) {
        for (int k = 0; k < 5; k++)
            line[k] = und_lanes_load(row + x + k - 2);
        return;
    }
    __builtin_memcpy(stretch, row + x - 2, sizeof stretch);
    for (int k = -2; k < 0; k++)
        if (k - (x - 2) >= 0)
            stretch[k - (x - 2)] = row[0] - (float)k * und_slope_beyond(a, row, 1);
    for (int k = n; k < n + 2; k++)
        if (k - (x - 2) < UND_LANES + 4)
            stretch[k - (x - 2)] = row[n - 1] + (float)(k - n + 1) * und_slope_beyond(a, row + n - 1, -1);
    for (int k = 0; k < 5; k++)
        line[k] = und_lanes_load(stretch + k);
}

UND_INLINE und_lanes und_steepest_crossing(const und_lanes line[5])
{
    return und_lanes_max(und_crossing(line[2], line[1]), und_crossing(line[2], line[3]));
}

/* Their distances: phi over its slope, and no further than linear crossings. */
UND_INLINE und_lanes und_front_distance(const und_redistance_args *a, und_place p, int order)
{
    und_lanes x[5], y[5], z[5];
    und_line_along(a, a->phi + p.at - p.x, p.x, x);
    und_line_across(a, p.at, 1, p.y, y);
    und_line_across(a, p.at, 2, p.z, z);
    const und_lanes slope =
        und_slope_length(und_slope_make(x, order), und_slope_make(y, order), und_slope_make(z, order));
    const und_lanes crossing = und_lanes_max(und_steepest_crossing(x), und_steepest_crossing(y));
    return und_size(x[2]) / und_lanes_max(slope, und_lanes_max(crossing, und_steepest_crossing(z)));
}

/* Whole batches are written faster than parts of them, as far as they do not leave the row. */
UND_INLINE void und_redistance_store(const und_mac *m, float *to, und_place p, und_lanes v)
{
    if (p.x + UND_LANES < m->step[1])
        und_lanes_store(to + p.at, und_lanes_select(und_lanes_where(p.which), v, und_lanes_load(to + p.at)));
    else
        und_lanes_store_some(to + p.at, v, p.which);
}

/* next: what the passes start from.  Cells that are near neither now nor before keep what they have. */
UND_INLINE void und_redistance_start(const und_redistance_args *a, und_place p, int order)
{
    const und_lanes width = und_lanes_all(a->width), tiny = und_lanes_all(1e-6f);
    const unsigned front = und_mask_lanes(&a->front, p.x, p.y, p.z) & p.which;
    const und_lanes_int near = und_lanes_where(und_mask_lanes(&a->in, p.x, p.y, p.z));
    const und_lanes v = und_lanes_load(a->phi + p.at);
    und_lanes away = und_lanes_select(near, und_size(v), width);
    if (front)
        away = und_lanes_select(und_lanes_where(front), und_front_distance(a, p, order), away);
    away = und_lanes_min(und_lanes_max(away, tiny), width); /* the side stays known */
    und_redistance_store(&a->mac, a->next, p, und_signed(away, und_sign(v)));
}
UND_INLINE void und_redistance_start_1(const und_redistance_args *a, und_place p)
{
    und_redistance_start(a, p, 1);
}
UND_KERNEL(und_redistance_start_1, und_redistance_args, UND_EACH_CELL)
UND_INLINE void und_redistance_start_2(const und_redistance_args *a, und_place p)
{
    und_redistance_start(a, p, 2);
}
UND_KERNEL(und_redistance_start_2, und_redistance_args, UND_EACH_CELL)

/* phi is what next is. */
UND_INLINE void und_redistance_settle(const und_redistance_args *a, und_place p)
{
    und_redistance_store(&a->mac, a->phi, p, und_lanes_load(a->next + p.at));
}
UND_KERNEL(und_redistance_settle, und_redistance_args, UND_EACH_CELL)

/* Nothing comes from beyond the ends of rows; and passes have yet to look at them. */
UND_INLINE void und_redistance_shut(const und_redistance_args *a, und_place p)
{
    a->change[p.z * a->mac.n[1] + p.y] = 1;
    float *phi = a->phi + p.at, *next = a->next + p.at;
    const int n = a->mac.n[0];
    const und_span span = und_mac_span_beside(&a->mac, p.y, p.z);
    if (span.begin < 0)
        phi[-1] = next[-1] = UND_DISTANCE_NONE;
    if (span.end > n)
        phi[n] = next[n] = UND_DISTANCE_NONE;
}
UND_KERNEL(und_redistance_shut, und_redistance_args, UND_EACH_ROW)

/* ---- The others, pass by pass ---- */

/* Upwind along an axis: where the next values on one side stand; `reach` of those are inside the domain. */
typedef struct und_side {
    const float *at[3];
} und_side;
UND_INLINE und_side und_side_make(const und_redistance_args *a, const float *v, ptrdiff_t step, int reach)
{
    und_side s;
    for (int i = 0; i < 3; i++)
        s.at[i] = reach > i ? v + (i + 1) * step : a->none;
    return s;
}

UND_INLINE und_upwind und_upwind_of(und_side low, und_side high, und_lanes_int sign, int order)
{
    /* Both are on the same side of the surface as the cell, or beyond the domain. */
    const und_lanes a = und_size(und_lanes_load(low.at[0])), b = und_size(und_lanes_load(high.at[0]));
    if (order == 1)
        return (und_upwind){und_lanes_min(a, b), und_lanes_all(1)};
    const und_lanes_int lower = a < b;
    const und_lanes second = und_lanes_select(lower, und_lanes_load(low.at[1]), und_lanes_load(high.at[1]));
    const und_lanes third = und_lanes_select(lower, und_lanes_load(low.at[2]), und_lanes_load(high.at[2]));
    return und_upwind_make(und_lanes_min(a, b), und_signed(second, sign), und_signed(third, sign));
}

#define UND_REDISTANCE_SETTLED 2e-4f /* cells: a change that is none */

/* Whether a row looks at such as the pass before changed.  It is beside the first and the last of the next
 * slice here, too: no harm is in that. */
UND_INLINE bool und_redistance_looks(const und_redistance_args *a, int row)
{
    const ptrdiff_t slice = a->mac.n[1];
    const uint8_t *c = a->before + row;
    unsigned any = c[0];
    for (int k = 1; k <= 3; k++)
        any |= (unsigned)(c[k] | c[-k] | c[k * slice] | c[-k * slice]);
    return any != 0;
}

/* Whether it changes any of them. */
UND_INLINE unsigned und_redistance_pass_some(const und_redistance_args *a, und_place p, int order, int axes)
{
    const und_mac *m = &a->mac;
    const float *v = a->phi + p.at;
    const ptrdiff_t y = m->step[1], z = m->step[2];
    const und_lanes own = und_lanes_load(v);
    const und_lanes_int sign = und_sign(own);
    und_upwind along_z = {{0}, {0}};
    /* The row behind this one comes soon; of what it looks at these are far from all that was read. */
    __builtin_prefetch(v + y + 3 * z + UND_LANES - 1);
    __builtin_prefetch(a->next + p.at + y + UND_LANES - 1, 1);
    const und_upwind along_x =
        und_upwind_of(und_side_make(a, v, -1, 3), und_side_make(a, v, 1, 3), sign, order);
    const und_upwind along_y =
        und_upwind_of(und_side_make(a, v, -y, p.y), und_side_make(a, v, y, m->n[1] - 1 - p.y), sign, order);
    if (axes == 3)
        along_z = und_upwind_of(und_side_make(a, v, -z, p.z), und_side_make(a, v, z, m->n[2] - 1 - p.z), sign,
                                order);
    und_lanes u = und_upwind_solve(along_x, along_y, along_z, order, axes);
    u = und_signed(und_lanes_min(u, und_lanes_all(a->width)), sign);
    und_redistance_store(m, a->next, p, u);
    return und_lanes_bits(und_size(u - own) > UND_REDISTANCE_SETTLED) & p.which;
}

/* From phi to next, which are the same but for cells of the set. */
UND_INLINE void und_redistance_pass(const und_redistance_args *a, und_place row, int order, int axes)
{
    const int number = row.z * a->mac.n[1] + row.y;
    const uint64_t *bits = und_mask_row(&a->cells, row.y, row.z);
    unsigned changed = 0;
    und_place p = row;
    if (und_redistance_looks(a, number))
        for (; und_set_next(&a->cells, bits, row.at, &p); p.x += UND_LANES)
            changed |= und_redistance_pass_some(a, p, order, axes);
    a->change[number] = changed != 0;
}
#define UND_REDISTANCE_PASS(order, axes)                                                         \
    UND_INLINE void und_redistance_pass_##order##axes(const und_redistance_args *a, und_place p) \
    {                                                                                            \
        und_redistance_pass(a, p, order, axes);                                                  \
    }                                                                                            \
    UND_KERNEL(und_redistance_pass_##order##axes, und_redistance_args, UND_EACH_ROW)
UND_REDISTANCE_PASS(1, 2)
UND_REDISTANCE_PASS(1, 3)
UND_REDISTANCE_PASS(2, 2)
UND_REDISTANCE_PASS(2, 3)

/* ---- The band ---- */

UND_INLINE void und_redistance_band(const und_redistance_args *a, und_place p)
{
    und_mask_row(&a->band, p.y, p.z)[p.x] = und_mask_row(&a->front, p.y, p.z)[p.x];
}
UND_KERNEL(und_redistance_band, und_redistance_args, UND_EACH_WORD)

/* What was worked on is in it if it is nearer than the width; both arrays are the same. */
UND_INLINE void und_redistance_finish(const und_redistance_args *a, und_place p)
{
    const und_lanes v = und_lanes_load(a->phi + p.at);
    und_redistance_store(&a->mac, a->next, p, v);
    und_mask_add_lanes(&a->band, p.x, p.y, p.z, und_lanes_bits(und_size(v) < a->width) & p.which);
}
UND_KERNEL(und_redistance_finish, und_redistance_args, UND_EACH_CELL)

#endif
