/* Particles are put in the order of their boxes: what each block has in each pile of boxes is counted, then
 * where these go, then each pile is put in order by itself. */
#ifndef UND_SURFACE_LEVEL_SET_PARTICLES_SORT_KERNEL_H
#define UND_SURFACE_LEVEL_SET_PARTICLES_SORT_KERNEL_H

#include "surface/level_set_particles_parts.h"

typedef struct und_particles_sort_args {
    und_particles_list of;
    int blocks;
    int32_t *box, *order, *first, *block_count; /* of und_level_set_particles_parts */
    int32_t *end;    /* of each pile, in the order: the last block's places then stand there */
    int32_t *sorted; /* room for the order */
} und_particles_sort_args;

/* The box of each, and how many of a block are in each pile. */
static inline void und_particles_find_boxes(const und_particles_sort_args *a, und_place block)
{
    const und_particles_list *t = &a->of;
    const und_mac *m = &t->mac;
    const int axis = und_level_set_particles_axis(m), piles = und_level_set_particles_piles(m);
    int32_t *count = a->block_count + (size_t)block.y * (size_t)piles;
    __builtin_memset(count, 0, (size_t)piles * sizeof *count);
    for (size_t i = block.at; i < block.at + (size_t)block.x; i++) {
        int at[3];
        bool inside = t->radius[i] != 0;
        for (int k = 0; k < 3; k++) {
            float place = t->place[k][i];
            bool there = und_level_set_particles_inside(m, k, place);
            at[k] = there ? (int)(place + 0.5F) - 1 - m->low[k] : 0;
            inside &= there;
        }
        inside = inside && und_mac_has(m, at[0], at[1], at[2]); /* or it is far from all liquid */
        a->box[i] = inside ? (int32_t)und_mac_at(m, at[0], at[1], at[2]) : -1;
        count[at[axis] + 1] += inside;
    }
}
UND_KERNEL(und_particles_find_boxes, und_particles_sort_args, UND_EACH_BLOCK)

/* How many are in each pile of each block becomes where the first of these goes. */
static inline void und_particles_share_out(const und_particles_sort_args *a, und_place once)
{
    const und_particles_list *t = &a->of;
    const und_mac *m = &t->mac;
    const int piles = und_level_set_particles_piles(m);
    int32_t before = 0;
    (void)once;
    if (!m->present)
        a->first[und_mac_at(m, -1, -1, m->n[2] == 1 ? 0 : -1)] = 0;
    for (int pile = 0; pile < piles; pile++)
        for (int block = 0; block < a->blocks; block++) {
            int32_t *count = a->block_count + (size_t)block * (size_t)piles + pile, here = *count;
            *count = before;
            before += here;
        }
}
UND_KERNEL(und_particles_share_out, und_particles_sort_args, UND_EACH_BLOCK)

static inline void und_particles_sort_block(const und_particles_sort_args *a, und_place block)
{
    const und_particles_list *t = &a->of;
    const und_mac *m = &t->mac;
    const int axis = und_level_set_particles_axis(m), piles = und_level_set_particles_piles(m);
    int32_t *next = a->block_count + (size_t)block.y * (size_t)piles;
    for (size_t i = block.at; i < block.at + (size_t)block.x; i++)
        if (a->box[i] >= 0)
            a->order[next[(int)(t->place[axis][i] + 0.5F) - m->low[axis]]++] = (int32_t)i;
}
UND_KERNEL(und_particles_sort_block, und_particles_sort_args, UND_EACH_BLOCK)

/* The boxes of a row: without gaps to the next, or what there is of it. */
static inline und_span und_particles_boxes_of(const und_mac *m, int y, int z)
{
    return m->present ? und_mac_span_beside(m, y, z) : (und_span){-1, (int32_t)m->step[1] - 1};
}
static inline ptrdiff_t und_particles_count_boxes(const und_mac *m, int y, int z)
{
    const und_span boxes = und_particles_boxes_of(m, y, z);
    return boxes.end - boxes.begin;
}

/* Numbers of those in a row's boxes become where they begin, as does what is in front of the row where no row
 * before it sees to that; where the next row's begin. */
static inline int32_t und_particles_set_row_begins(const und_mac *m, int32_t *next, int y, int z,
                                                   int32_t before)
{
    int32_t *boxes = next + und_mac_at(m, und_particles_boxes_of(m, y, z).begin, y, z);
    if (!und_present_has(m->present, y, z))
        return before;
    if (m->present)
        boxes[-1] = before;
    for (ptrdiff_t k = 0, count = und_particles_count_boxes(m, y, z); k < count; k++) {
        const int32_t here = boxes[k];
        boxes[k] = before;
        before += here;
    }
    return before;
}

/* The order of those of a pile, begin to end in it, is that of their boxes. */
static inline void und_particles_sort_pile(const und_particles_sort_args *a, und_place block)
{
    const und_particles_list *t = &a->of;
    const und_mac *m = &t->mac;
    const int pile = block.y, begin = pile > 0 ? a->end[pile - 1] : 0, end = a->end[pile];
    const bool flat = m->n[2] == 1;
    const int z = flat ? 0 : pile - 1, low = flat ? pile - 1 : -1, high = flat ? low : m->n[1];
    /* Counted a place further on than their box, so that in the end each box has where its own begin. */
    int32_t *next = a->first + 1, before = begin;
    for (int y = low; y <= high; y++)
        if (und_present_has(m->present, y, z))
            __builtin_memset(next + und_mac_at(m, und_particles_boxes_of(m, y, z).begin, y, z), 0,
                             (size_t)und_particles_count_boxes(m, y, z) * sizeof *next);
    for (int32_t k = begin; k < end; k++)
        next[a->box[a->order[k]]]++;
    for (int y = low; y <= high; y++)
        before = und_particles_set_row_begins(m, next, y, z, before);
    for (int32_t k = begin; k < end; k++)
        a->sorted[next[a->box[a->order[k]]]++] = a->order[k];
    __builtin_memcpy(a->order + begin, a->sorted + begin, (size_t)(end - begin) * sizeof *a->sorted);
}
UND_KERNEL(und_particles_sort_pile, und_particles_sort_args, UND_EACH_BLOCK)

typedef struct und_particles_put_args {
    const int32_t *order, *count;
    const float *from;
    float *to;
} und_particles_put_args;

static inline void und_particles_put(const und_particles_put_args *a, und_place block)
{
    const int end = (int)block.at + block.x;
    for (int i = (int)block.at; i < (end < *a->count ? end : *a->count); i++)
        a->to[i] = a->from[a->order[i]];
}
UND_KERNEL(und_particles_put, und_particles_put_args, UND_EACH_SOME)

static inline void und_particles_put_back(const und_particles_put_args *a, und_place block)
{
    const int end = (int)block.at + block.x, count = end < *a->count ? end : *a->count;
    if ((int)block.at < count)
        __builtin_memcpy(a->to + block.at, a->from + block.at,
                         (size_t)(count - (int)block.at) * sizeof *a->to);
}
UND_KERNEL(und_particles_put_back, und_particles_put_args, UND_EACH_SOME)

#endif
