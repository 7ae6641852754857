/* What the liquid carries: how it goes on around it, moves and spreads. */
#ifndef UND_FLOW_CARRIED_KERNEL_H
#define UND_FLOW_CARRIED_KERNEL_H

#include "grid/mask_kernel.h"
#include "grid/pass.h"
#include "grid/sample.h"

typedef struct und_carried_args {
    und_mac mac;
    const float *phi;
    float *value, *next, *b, *u[3];
    und_mask known, grown; /* cells whose value is known; in a layer, and with it */
    float cells_per_speed;
    bool third;
} und_carried_args;

/* ---- Into the cells around the liquid ---- */

UND_INLINE void und_carried_know(const und_carried_args *a, und_place p)
{
    uint64_t *bits = und_mask_row(&a->known, p.y, p.z);
    const und_span words = und_mac_words(&a->mac, p.y, p.z);
    for (int w = words.begin; w < words.end; w++)
        bits[w] = und_word_of(a->phi + p.at, a->mac.n[0], w, false, 0) & und_word_inside(a->mac.n[0], w);
}
UND_KERNEL(und_carried_know, und_carried_args, UND_EACH_ROW)

/* The mean of those beside a cell that are known; nothing is beside the domain. */
static inline float und_carried_mean(const und_carried_args *a, const int at[3], size_t cell)
{
    float sum = 0, count = 0;
    for (int k = 0; k < (a->mac.n[2] > 1 ? 3 : 2); k++)
        for (int side = -1; side <= 1; side += 2) {
            const int beside[3] = {at[0] + (k == 0 ? side : 0), at[1] + (k == 1 ? side : 0),
                                   at[2] + (k == 2 ? side : 0)};
            if (und_mask_has(&a->known, beside[0], beside[1], beside[2])) {
                sum += a->value[(size_t)((ptrdiff_t)cell + side * a->mac.step[k])];
                count++;
            }
        }
    return sum / count;
}

/* A layer of a row. */
UND_INLINE void und_carried_extend(const und_carried_args *a, und_place p)
{
    const int words = a->known.words;
    const und_span part = und_mac_words(&a->mac, p.y, p.z);
    const uint64_t *own = und_mask_row(&a->known, p.y, p.z), *const beside[4] = {
                                                                 und_mask_row(&a->known, p.y - 1, p.z),
                                                                 und_mask_row(&a->known, p.y + 1, p.z),
                                                                 und_mask_row(&a->known, p.y, p.z - 1),
                                                                 und_mask_row(&a->known, p.y, p.z + 1)};
    uint64_t *now = und_mask_row(&a->grown, p.y, p.z);
    for (int w = part.begin; w < part.end; w++) {
        uint64_t all = own[w] | own[w] << 1 | own[w] >> 1 | (w > 0 ? own[w - 1] >> 63 : 0) |
                       (w + 1 < words ? own[w + 1] << 63 : 0);
        for (int i = 0; i < 4; i++)
            all |= beside[i][w];
        now[w] = all & und_word_inside(a->mac.n[0], w);
        for (uint64_t bits = now[w] & ~own[w]; bits; bits &= bits - 1) {
            const int at[3] = {64 * w - 1 + __builtin_ctzll(bits), p.y, p.z};
            const size_t cell = p.at + (size_t)at[0];
            a->value[cell] = und_carried_mean(a, at, cell);
        }
    }
}
UND_KERNEL(und_carried_extend, und_carried_args, UND_EACH_ROW)

/* ---- With the flow ---- */

UND_INLINE void und_carried_middles(const und_mac *m, und_place p, und_lanes place[3])
{
    place[0] = und_lanes_count() + ((float)(p.x + m->low[0]) + 0.5f);
    place[1] = und_lanes_all((float)(p.y + m->low[1]) + 0.5f);
    place[2] = und_lanes_all((float)(p.z + m->low[2]) + 0.5f);
}

UND_INLINE void und_carried_guess(const und_carried_args *a, und_place p)
{
    const und_mac *m = &a->mac;
    und_lanes place[3], speed[3], foot[3], value;
    und_carried_middles(m, p, place);
    und_sample_velocity(m, a->u, place, speed);
    und_sample_trace(m, a->u, place, speed, -a->cells_per_speed, a->third, foot);
    und_sample_cells(m, a->value, foot, &value, NULL);
    und_lanes_store_some(a->next + p.at, value, p.which);
}
UND_KERNEL(und_carried_guess, und_carried_args, UND_EACH_CELL)

/* The guess is followed forward: what does not come back is twice its error.  Into b. */
UND_INLINE void und_carried_correct(const und_carried_args *a, und_place p)
{
    const und_mac *m = &a->mac;
    und_lanes place[3], speed[3], foot[3], back, value;
    und_sample_range range;
    und_carried_middles(m, p, place);
    und_sample_velocity(m, a->u, place, speed);
    und_sample_trace(m, a->u, place, speed, -a->cells_per_speed, a->third, foot);
    und_sample_cells(m, a->value, foot, &value, &range);
    und_sample_trace(m, a->u, place, speed, a->cells_per_speed, a->third, foot);
    und_sample_cells(m, a->next, foot, &back, NULL);
    value = und_lanes_load(a->next + p.at) + 0.5f * (und_lanes_load(a->value + p.at) - back);
    value = und_lanes_min(und_lanes_max(value, range.low), range.high);
    und_lanes_store_some(a->b + p.at, value, p.which);
}
UND_KERNEL(und_carried_correct, und_carried_args, UND_EACH_CELL)

UND_INLINE void und_carried_take(const und_carried_args *a, und_place p)
{
    und_lanes_store_some(a->value + p.at, und_lanes_load(a->b + p.at), p.which);
}
UND_KERNEL(und_carried_take, und_carried_args, UND_EACH_CELL)

/* ---- Diffusion ---- */

typedef struct und_carried_spread_args {
    und_mac mac;
    und_mask liquid;
    const float *open[3];
    float *value, *own, *b, old;
    const double *x;
} und_carried_spread_args;

/* What flows into a cell from those beside it that are liquid. */
static inline float und_carried_inflow(const und_carried_spread_args *a, const int at[3], size_t i)
{
    const und_mac *m = &a->mac;
    float sum = 0;
    for (int side = 0; side < (m->n[2] > 1 ? 6 : 4); side++) {
        const int k = side / 2, way = side % 2 ? 1 : -1;
        const int beside[3] = {at[0] + (k == 0 ? way : 0), at[1] + (k == 1 ? way : 0),
                               at[2] + (k == 2 ? way : 0)};
        const size_t next = i + (size_t)(way * m->step[k]), face = way > 0 ? i : next;
        if (und_mask_has(&a->liquid, beside[0], beside[1], beside[2]))
            sum += a->open[k][face] * (a->value[next] - a->value[i]);
    }
    return sum;
}

UND_INLINE void und_carried_set(const und_carried_spread_args *a, und_place p)
{
    for (unsigned left = p.which; left; left &= left - 1) {
        const int k = __builtin_ctz(left);
        const size_t i = p.at + (size_t)k;
        a->own[i] = a->old;
        a->b[i] = und_carried_inflow(a, (const int[]){p.x + k, p.y, p.z}, i);
    }
}
UND_KERNEL(und_carried_set, und_carried_spread_args, UND_EACH_CELL)

UND_INLINE void und_carried_change(const und_carried_spread_args *a, und_place p)
{
    for (unsigned left = p.which; left; left &= left - 1) {
        const size_t i = p.at + (size_t)__builtin_ctz(left);
        a->value[i] = (float)((double)a->value[i] + a->x[i]);
    }
}
UND_KERNEL(und_carried_change, und_carried_spread_args, UND_EACH_CELL)

#endif
