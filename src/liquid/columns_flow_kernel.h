/* The volume model, row by row: flows (equations 3 to 6), what they may take (equation 9), and the water that
 * they move (equation 7).  See columns_flow.c. */
#ifndef UND_LIQUID_COLUMNS_FLOW_KERNEL_H
#define UND_LIQUID_COLUMNS_FLOW_KERNEL_H

#include "grid/pass.h"
#include "liquid/columns_kernel.h"

typedef struct und_columns_flow_args {
    und_pipes pipes;
    int nx, nz;
    size_t first; /* index of column (0, 0) */
    ptrdiff_t stride;
    double dt, *depth;
    const float *ground, *load, *share_z; /* und_columns; load NULL: nothing presses */
    float *flow[PIPES], *before[PIPES];   /* und_columns; before[0] NULL: the new flow moves the water */
    float *rise, *keep, ahead;
    und_columns_row *rows;
    bool last; /* round of scaling back */
} und_columns_flow_args;

/* For each UND_LANES columns of the row at p: `at` is the first one's index, `x` its column. */
#define UND_COLUMNS_EACH(a, p, x, at, which)                                                          \
    for (int x = 0; x < (a)->nx; x += UND_LANES)                                                      \
        for (size_t at = (p).at + (size_t)x, which = und_columns_left((a)->nx - x), once_ = 1; once_; \
             once_ = 0)
UND_INLINE size_t und_columns_left(int left)
{
    return left < UND_LANES ? (1u << left) - 1 : UND_LANES_ALL;
}

UND_INLINE und_doubles und_columns_wide(const float *values, size_t at, int half)
{
    return und_doubles_of(und_doubles_floats_load(values + at + half * UND_DOUBLES));
}

/* ---- Flow ---- */

/* A row of columns as its pipes see it, with those beside it. */
typedef struct und_columns_lane {
    double *top; /* of column 0 */
    float *depth;
    size_t at;
} und_columns_lane;

enum { UND_COLUMNS_BESIDE = 16 }; /* of a lane, in front and behind */

UND_INLINE size_t und_columns_lent(int stride) /* floats, for two lanes */
{
    return 2 * 3 * (size_t)(stride + 2 * UND_COLUMNS_BESIDE);
}

/* With the surface where it would be `ahead` from now. */
UND_INLINE und_columns_lane und_columns_see(const und_columns_flow_args *a, int z, size_t at, float *lent)
{
    const size_t length = (size_t)a->stride + 2 * UND_COLUMNS_BESIDE;
    float *own = lent + (size_t)(z & 1) * 3 * length;
    const und_columns_lane l = {(double *)(void *)own + UND_COLUMNS_BESIDE,
                                own + 2 * length + UND_COLUMNS_BESIDE, at};
    for (int x = -UND_LANES; x <= a->nx; x += UND_LANES) {
        und_doubles depth[UND_HALVES];
        for (int k = 0; k < UND_HALVES; k++) {
            const int from = x + k * UND_DOUBLES;
            const size_t here = (size_t)((ptrdiff_t)at + from);
            const und_doubles_floats rise = und_doubles_floats_load(a->rise + here);
            depth[k] = und_doubles_load(a->depth + here);
            const und_doubles top =
                und_columns_wide(a->ground, here, 0) + depth[k] + und_doubles_of(a->ahead * rise);
            __builtin_memcpy(l.top + from, &top, sizeof top);
        }
        und_lanes_store(l.depth + x, und_lanes_of_doubles(depth));
    }
    return l;
}

UND_INLINE und_columns_few und_columns_of_lane(const und_columns_flow_args *a, const und_columns_lane *l,
                                               int x)
{
    const size_t at = (size_t)((ptrdiff_t)l->at + x);
    und_columns_few c = {.depth = und_lanes_load(l->depth + x),
                         .ground = und_lanes_load(a->ground + at),
                         .load = a->load ? und_lanes_load(a->load + at) : (und_lanes){0}};
    for (int k = 0; k < UND_HALVES; k++)
        c.top[k] = und_doubles_load(l->top + x + k * UND_DOUBLES);
    return c;
}

UND_INLINE und_lanes und_columns_size(und_lanes v)
{
    return (und_lanes)((und_lanes_int)v & INT32_MAX);
}

/* All pipes that start in a row: equations 3 to 6. */
UND_INLINE void und_columns_flow_row(const und_columns_flow_args *a, int z, const und_columns_lane *own_lane,
                                     const und_columns_lane *next, bool mean)
{
    const und_pipes *pipes = &a->pipes;
    const float walls = (float)((z == 0) + (z == a->nz - 1));
    const und_lanes share_x = und_lanes_all(pipes->straight + walls * pipes->beside),
                    diagonal = und_lanes_all(pipes->diagonal);
    const und_place p = {.at = own_lane->at};
    und_lanes fastest = {0}, shallowest = und_lanes_all(3e38f);
    UND_COLUMNS_EACH(a, p, x, at, which)
    {
        const und_columns_few own = und_columns_of_lane(a, own_lane, x),
                              right = und_columns_of_lane(a, own_lane, x + 1),
                              below = und_columns_of_lane(a, next, x),
                              down = und_columns_of_lane(a, next, x + 1),
                              up = und_columns_of_lane(a, next, x - 1);
        const und_columns_few *const to[PIPES] = {&right, &below, &down, &up};
        const und_lanes share[PIPES] = {share_x, und_lanes_load(a->share_z + x), diagonal, diagonal};
        und_lanes all = {0};
        for (int k = 0; k < PIPES; k++) {
            const und_lanes flow = und_lanes_load(a->flow[k] + at),
                            now = und_pipe_flow(flow, &own, to[k], share[k], pipes);
            if (mean)
                und_lanes_store_some(a->before[k] + at, flow, (unsigned)which);
            und_lanes_store_some(a->flow[k] + at, now, (unsigned)which);
            all = k == 0 ? und_columns_size(now) : all + und_columns_size(now);
        }
        fastest = und_lanes_max(all, fastest); /* between walls nothing flows */
        shallowest = und_lanes_min(und_lanes_select(und_lanes_where((unsigned)which), own.depth, shallowest),
                                   shallowest);
    }
    a->rows[z].fastest = und_lanes_most(fastest);
    a->rows[z].shallowest = (double)und_lanes_least(shallowest);
}

/* Some rows: each is seen once, by itself and by the one before it. */
UND_INLINE void und_columns_flow_rows(const und_columns_flow_args *a, und_place p)
{
    const int first = (int)p.at, end = first + p.x;
    size_t at = a->first + (size_t)(first * a->stride);
    und_columns_lane own = und_columns_see(a, first, at, p.lent);
    for (int z = first; z < end; z++) {
        at += (size_t)a->stride;
        const und_columns_lane next = und_columns_see(a, z + 1, at, p.lent);
        if (a->before[0])
            und_columns_flow_row(a, z, &own, &next, true);
        else
            und_columns_flow_row(a, z, &own, &next, false);
        own = next;
    }
}
UND_KERNEL(und_columns_flow_rows, und_columns_flow_args, UND_EACH_BLOCK)

/* ---- Scaling back: equation 9 ---- */

/* Pipes that end in a column come from these. */
UND_INLINE size_t und_columns_from(const und_columns_flow_args *a, int pipe, size_t at)
{
    const ptrdiff_t from[PIPES] = {1, a->stride, a->stride + 1, a->stride - 1};
    return at - (size_t)from[pipe];
}

/* What flows out of and into columns by the mean of old and new flow, as speeds, m/s. */
typedef struct und_columns_exchange {
    und_doubles out[UND_HALVES], in[UND_HALVES];
} und_columns_exchange;

UND_INLINE und_doubles und_columns_moving(const und_columns_flow_args *a, int pipe, size_t at, int half)
{
    const size_t from = at + (size_t)(half * UND_DOUBLES);
    return und_doubles_of(0.5f * (und_doubles_floats_load(a->flow[pipe] + from) +
                                  und_doubles_floats_load(a->before[pipe] + from)));
}

UND_INLINE und_columns_exchange und_columns_exchange_at(const und_columns_flow_args *a, size_t at)
{
    und_columns_exchange e;
    const und_doubles none = {0};
    for (int h = 0; h < UND_HALVES; h++) {
        e.out[h] = e.in[h] = none;
        for (int k = 0; k < PIPES; k++) {
            const und_doubles leaves = und_columns_moving(a, k, at, h),
                              comes = und_columns_moving(a, k, und_columns_from(a, k, at), h);
            e.out[h] += und_doubles_select(leaves > 0, leaves, none);
            e.in[h] += und_doubles_select(leaves < 0, -leaves, none);
            e.out[h] += und_doubles_select(comes < 0, -comes, none);
            e.in[h] += und_doubles_select(comes > 0, comes, none);
        }
    }
    return e;
}

UND_INLINE und_lanes und_columns_above(und_lanes v) /* 0 */
{
    return und_lanes_max(v, (und_lanes){0});
}

/* What leaves, or comes, by the new flow through all pipes. */
UND_INLINE und_lanes und_columns_through(const und_columns_flow_args *a, size_t at, bool leaves)
{
    und_lanes pair[PIPES];
    for (int k = 0; k < PIPES; k++) {
        const und_lanes out = und_lanes_load(a->flow[k] + at),
                        in = und_lanes_load(a->flow[k] + und_columns_from(a, k, at));
        pair[k] = und_columns_above(leaves ? out : -out) + und_columns_above(leaves ? -in : in);
    }
    return pair[0] + pair[1] + pair[2] + pair[3];
}

/* What columns into which `in` flows let their pipes keep, where they take `out`: a little less than all, so
 * that rounding leaves no column below zero, and less than what makes it scale back, so that once is enough.
 * Next to nothing is nothing: denormal numbers are slow. */
UND_INLINE und_lanes und_columns_kept(const und_columns_flow_args *a, size_t at, und_lanes in, und_lanes out)
{
    const float margin = 2e-6f, nothing = 1e-25f;
    const und_lanes none = {0}, one = und_lanes_all(1);
    und_doubles depth[UND_HALVES];
    for (int k = 0; k < UND_HALVES; k++)
        depth[k] = und_doubles_load(a->depth + at + k * UND_DOUBLES) + 1e-28;
    const und_lanes has = und_columns_above(und_lanes_of_doubles(depth) + in - nothing),
                    part =
                        (1 - 2 * margin) * has / und_lanes_select(out > nothing, out, und_lanes_all(nothing));
    return und_lanes_select(part < 1 - margin, und_lanes_select(part > margin, part, none), one);
}

/* What the columns of a row let their pipes keep: in the last round only what they have themselves, without
 * counting on what flows in, so that no round is needed after it. */
UND_INLINE void und_columns_judge_row(const und_columns_flow_args *a, und_place p)
{
    und_columns_row *row = &a->rows[p.z];
    const float dt = (float)a->dt, counted = a->last ? 0 : dt;
    unsigned scaled = 0;
    row->scaled = false;
    if (!row->judged && !(a->last && row->tight))
        return;
    UND_COLUMNS_EACH(a, p, x, at, which)
    {
        und_lanes keep;
        if (a->before[0]) {
            und_columns_exchange e = und_columns_exchange_at(a, at);
            for (int k = 0; k < UND_HALVES; k++) {
                e.in[k] *= a->last ? 0 : a->dt;
                e.out[k] *= a->dt;
            }
            keep = und_columns_kept(a, at, und_lanes_of_doubles(e.in), und_lanes_of_doubles(e.out));
        } else
            keep = und_columns_kept(a, at, counted * und_columns_through(a, at, false),
                                    dt * und_columns_through(a, at, true));
        und_lanes_store_some(a->keep + at, keep, (unsigned)which);
        scaled |= und_lanes_bits(keep < 1) & (unsigned)which;
    }
    row->scaled = scaled != 0;
}
UND_KERNEL(und_columns_judge_row, und_columns_flow_args, UND_EACH_ROW)

/* Pipes of a row keep what the column they empty says: the one they start at, or the other.  Nothing is left
 * of flows so small that denormal numbers would round them up. */
UND_INLINE void und_columns_scale_row(const und_columns_flow_args *a, und_place p)
{
    const float least = 1e-30f;
    const und_lanes none = {0};
    if (!a->rows[p.z].scaled && !(p.z + 1 < a->nz && a->rows[p.z + 1].scaled))
        return;
    UND_COLUMNS_EACH(a, p, x, at, which)
    for (int k = 0; k < PIPES; k++) {
        const size_t other = at + (at - und_columns_from(a, k, at));
        const und_lanes flow = und_lanes_load(a->flow[k] + at),
                        before = a->before[0] ? und_lanes_load(a->before[k] + at) : none,
                        moves = a->before[0] ? flow + before : flow;
        und_lanes keep =
            und_lanes_select(moves > 0, und_lanes_load(a->keep + at), und_lanes_load(a->keep + other));
        const und_lanes_int some = und_columns_size(keep * moves) > least;
        if (a->before[0]) {
            keep = und_lanes_select(some, keep, none);
            und_lanes_store_some(a->flow[k] + at, flow * keep, (unsigned)which);
            und_lanes_store_some(a->before[k] + at, before * keep, (unsigned)which);
        } else
            und_lanes_store_some(a->flow[k] + at, und_lanes_select(some, flow * keep, none), (unsigned)which);
    }
}
UND_KERNEL(und_columns_scale_row, und_columns_flow_args, UND_EACH_ROW)

/* ---- Water: equation 7 ---- */

/* By the new flow. */
UND_INLINE und_lanes und_columns_rise(const und_columns_flow_args *a, size_t at, und_doubles rise[UND_HALVES])
{
    und_lanes fast = {0};
    for (int k = 0; k < PIPES; k++) {
        const size_t from = und_columns_from(a, k, at);
        const und_lanes more = und_lanes_load(a->flow[k] + from) - und_lanes_load(a->flow[k] + at);
        fast = k == 0 ? more : fast + more;
        for (int h = 0; h < UND_HALVES; h++) {
            const und_doubles exact =
                und_columns_wide(a->flow[k], from, h) - und_columns_wide(a->flow[k], at, h);
            rise[h] = k == 0 ? exact : rise[h] + exact;
        }
    }
    return fast;
}

/* By the mean of old and new flow, as printed. */
UND_INLINE und_lanes und_columns_rise_by_mean(const und_columns_flow_args *a, size_t at,
                                              und_doubles rise[UND_HALVES])
{
    const und_columns_exchange e = und_columns_exchange_at(a, at);
    for (int h = 0; h < UND_HALVES; h++)
        rise[h] = e.in[h] - e.out[h];
    return und_lanes_of_doubles(rise);
}

/* Between walls nothing rises. */
UND_INLINE void und_columns_move(const und_columns_flow_args *a, und_place p, bool mean)
{
    und_doubles deepest = {0};
    und_lanes quickest = {0};
    UND_COLUMNS_EACH(a, p, x, at, which)
    {
        und_doubles rise[UND_HALVES];
        const und_lanes here = mean ? und_columns_rise_by_mean(a, at, rise) : und_columns_rise(a, at, rise);
        for (int h = 0; h < UND_HALVES; h++) {
            double *depth = a->depth + at + h * UND_DOUBLES;
            const und_doubles now = und_doubles_load(depth) + a->dt * rise[h];
            und_doubles_store_some(depth, now, (unsigned)which >> h * UND_DOUBLES & UND_DOUBLES_ALL);
            deepest = und_doubles_select(now > deepest, now, deepest);
        }
        und_lanes_store_some(a->rise + at, here, (unsigned)which);
        quickest = und_lanes_max(here, quickest);
    }
    double most = 0;
    for (int i = 0; i < UND_DOUBLES; i++)
        most = deepest[i] > most ? deepest[i] : most;
    a->rows[p.z].deepest = mean ? most : (double)(float)most;
    a->rows[p.z].quickest = und_lanes_most(quickest);
}
UND_INLINE void und_columns_move_row(const und_columns_flow_args *a, und_place p)
{
    if (a->before[0])
        und_columns_move(a, p, true);
    else
        und_columns_move(a, p, false);
}
UND_KERNEL(und_columns_move_row, und_columns_flow_args, UND_EACH_ROW)

/* ---- What is seen ---- */

typedef struct und_columns_top_args {
    const double *depth;
    const float *ground, *displaced; /* und_columns; may be NULL */
    float *top;
} und_columns_top_args;

/* The surface as drops meet it. */
UND_INLINE void und_columns_top(const und_columns_top_args *a, und_place p)
{
    und_doubles top[UND_HALVES];
    for (int k = 0; k < UND_HALVES; k++) {
        top[k] = und_columns_wide(a->ground, p.at, k) + und_doubles_load(a->depth + p.at + k * UND_DOUBLES);
        if (a->displaced)
            top[k] += und_columns_wide(a->displaced, p.at, k);
    }
    und_lanes_store_some(a->top + p.at, und_lanes_of_doubles(top), p.which);
}
UND_KERNEL(und_columns_top, und_columns_top_args, UND_EACH_INSIDE)

#endif
