/* What is done to cells of a list: in solids, and where there is too much; and what phi shows. */
#ifndef UND_SURFACE_VOLUME_CHUNKS_KERNEL_H
#define UND_SURFACE_VOLUME_CHUNKS_KERNEL_H

#include "grid/reduce.h"
#include "surface/volume_cells_kernel.h"
#include "surface/volume_list_kernel.h"

#define UND_VOLUME_BURIED_ROOM 0.02f

typedef struct und_volume_chunk_args {
    und_volume_arrays v;
    und_volume_walls walls;
    const float *phi;
} und_volume_chunk_args;

/* What looks for cells in solids knows. */
typedef struct und_volume_burying {
    und_volume_list_args list;
    und_volume_arrays v;
    und_volume_walls walls;
} und_volume_burying;

/* Passes over chunks of the list, some at a time. */
#define UND_VOLUME_EACH_CHUNK(a, p, k) \
    for (und_volume_chunk *k = (a)->v.chunk + (p).at, *k##_end = k + (p).x; k < k##_end; k++)

static inline void und_volume_set_out_some(const und_volume_chunk_args *a, und_place p)
{
    UND_VOLUME_EACH_CHUNK(a, p, k)
    und_volume_set_out(&a->v, k, a->v.c, UND_VOLUME_PRESSED * UND_VOLUME_ONE);
}
UND_KERNEL(und_volume_set_out_some, und_volume_chunk_args, UND_EACH_BLOCK)

static inline void und_volume_give_out_some(const und_volume_chunk_args *a, und_place p)
{
    UND_VOLUME_EACH_CHUNK(a, p, k)
    und_volume_give_out(&a->v, k, a->v.c);
}
UND_KERNEL(und_volume_give_out_some, und_volume_chunk_args, UND_EACH_BLOCK)

/* The steepest way out of the solid. */
static inline uint8_t und_volume_way_out(const und_volume_arrays *v, const und_volume_walls *walls, size_t at)
{
    static const float over_length[4] = {0, 1, 0.70710678f, 0.57735027f};
    float best = 0.01f;
    uint8_t to = UND_VOLUME_STAY;
    for (int k = 0; k < UND_VOLUME_AROUND; k++) {
        const size_t next = (size_t)((ptrdiff_t)at + und_volume_step(&v->mac, k));
        const int axes = (k % 3 != 1) + (k / 3 % 3 != 1) + (k / 9 != 1);
        const float slope = (walls->distance[next] - walls->distance[at]) * over_length[axes];
        if (v->own[next] && slope > best) {
            best = slope;
            to = (uint8_t)k;
        }
    }
    return to;
}

/* There is next to no room, or its middle is in the solid and a wall is before it. */
static inline bool und_volume_is_buried(const void *context, size_t at)
{
    const und_volume_burying *b = context;
    const und_volume_walls *w = &b->walls;
    if (b->v.c[at] == 0 || !(w->room[at] < UND_VOLUME_BURIED_ROOM || w->distance[at] < 0))
        return false;
    if (w->beside_thin[at] && !(w->room[at] > 0))
        return false; /* which side it is of is not known here */
    return w->room[at] < UND_VOLUME_BURIED_ROOM ||
           !und_volume_way(w->open, b->v.mac.step, at, und_volume_way_out(&b->v, w, at));
}

/* What leaves a cell is all but what phi encloses of it, */
static inline void und_volume_lift_buried(const und_volume_chunk_args *a, und_place p)
{
    const und_volume_arrays *v = &a->v;
    const und_volume_arrays *parts = v;
    UND_VOLUME_EACH_CHUNK(a, p, k)
    {
        k->gives = k->bits;
        UND_VOLUME_OF_CHUNK(k, k->bits, at)
        {
            const int32_t part = und_volume_units(und_volume_part(v, &a->walls, a->phi, at));
            parts->extra[at] = v->c[at] < 0 ? 0 : v->c[at] < part ? v->c[at] : part;
            v->c[at] -= parts->extra[at];
            parts->to[at] = und_volume_way_out(v, &a->walls, at);
        }
    }
}
UND_KERNEL(und_volume_lift_buried, und_volume_chunk_args, UND_EACH_BLOCK)

/* which it has again then. */
static inline void und_volume_put_back(const und_volume_chunk_args *a, und_place p)
{
    UND_VOLUME_EACH_CHUNK(a, p, k)
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    a->v.c[at] += a->v.extra[at];
}
UND_KERNEL(und_volume_put_back, und_volume_chunk_args, UND_EACH_BLOCK)

/* Cells in solids, of a list. */
UND_INLINE void und_volume_mark_buried(const und_volume_burying *b, und_place p)
{
    und_volume_mark_rows(&b->list, p, NULL, und_volume_is_buried, b);
}
UND_KERNEL(und_volume_mark_buried, und_volume_burying, UND_EACH_BLOCK)

/* ---- Evening out ---- */

static inline void und_volume_find_excess(const und_volume_chunk_args *a, und_place p)
{
    UND_VOLUME_EACH_CHUNK(a, p, k)
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    a->v.extra[at] = a->v.c[at] - und_volume_units(und_volume_room(&a->walls, at));
}
UND_KERNEL(und_volume_find_excess, und_volume_chunk_args, UND_EACH_BLOCK)

static inline void und_volume_find_even(const und_volume_chunk_args *a, und_place p)
{
    const float even = 0.15f; /* of the difference to a neighbour */
    const und_volume_arrays *parts = &a->v;
    UND_VOLUME_EACH_CHUNK(a, p, k)
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    {
        parts->spare[at] = 0;
        for (int way = 0; way < 6; way++) {
            const size_t step = (size_t)a->v.mac.step[way / 2], next = way % 2 ? at + step : at - step;
            if (parts->own[next] && parts->mark[next] && a->walls.open[way / 2][way % 2 ? at : next] > 0)
                parts->spare[at] += (int32_t)(even * (float)(parts->extra[next] - parts->extra[at]));
        }
    }
}
UND_KERNEL(und_volume_find_even, und_volume_chunk_args, UND_EACH_BLOCK)

static inline void und_volume_take_even(const und_volume_chunk_args *a, und_place p)
{
    UND_VOLUME_EACH_CHUNK(a, p, k)
    UND_VOLUME_OF_CHUNK(k, k->bits, at)
    {
        a->v.extra[at] += a->v.spare[at];
        a->v.c[at] += a->v.spare[at];
    }
}
UND_KERNEL(und_volume_take_even, und_volume_chunk_args, UND_EACH_BLOCK)

/* ---- What phi shows ---- */

static inline double und_volume_shown_at(const und_volume_chunk_args *w, size_t at)
{
    if (!w->v.own[at])
        return 0;
    if (w->v.film[at])
        return (double)und_volume_cells(w->v.c[at]);
    return und_volume_is_behind(&w->v, &w->walls, w->phi[at], at)
               ? 0
               : (double)und_volume_part(&w->v, &w->walls, w->phi, at);
}

static inline und_totals und_volume_show_cells(const und_volume_chunk_args *w, und_place p)
{
    und_totals t = {0};
    for (unsigned bits = p.which; bits; bits &= bits - 1)
        t.sum[__builtin_ctz(bits)] = und_volume_shown_at(w, p.at + (size_t)__builtin_ctz(bits));
    return t;
}
UND_KERNEL_SUM(und_volume_show_cells, und_volume_chunk_args)

#endif
