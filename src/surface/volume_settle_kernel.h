/* Films on slanted walls go round the corners that these have in cells, and lie against them: along one axis
 * after the other, and then towards the wall.  In each of these it is found from what cells hold what each
 * gives, and then it goes, so it is the same in any order. */
#ifndef UND_SURFACE_VOLUME_SETTLE_KERNEL_H
#define UND_SURFACE_VOLUME_SETTLE_KERNEL_H

#include "grid/pass.h"
#include "surface/volume_list_kernel.h"
#include "surface/volume_walls_kernel.h"

#define UND_SETTLING_NEAR 1.5f   /* cells: from a slanted wall what is there is a film's */
#define UND_SETTLING_OUT 0.9f    /* cells: phi of what it shows nothing of */
#define UND_SETTLING_ROOM 0.05f  /* of a cell: films settle where there is so much room */
enum { UND_SETTLING_STAYS = 6 }; /* in to[]: else which of six ways */

typedef struct und_volume_settling {
    und_volume_list_args list;
    und_volume_arrays v;
    und_volume_walls walls;
    const float *phi, *u[3];
    float per_speed, pin; /* as und_volume_flow */
    int axis;
} und_volume_settling;

/* ---- Which cells ---- */

/* Whether what is in a cell is no part of what phi shows. */
UND_INLINE bool und_volume_is_out(const und_volume_settling *s, size_t at)
{
    return s->v.film[at] || s->phi[at] > UND_SETTLING_OUT;
}

UND_INLINE unsigned und_volume_settling_look(const void *settling, size_t at)
{
    const und_volume_settling *s = settling;
    return und_volume_aloft(s->v.c, s->phi, at) &
           und_lanes_bits(und_lanes_load(s->walls.distance + at) < UND_SETTLING_NEAR);
}

UND_INLINE bool und_volume_settling_choose(const void *settling, size_t at)
{
    const und_volume_settling *s = settling;
    float normal[3];
    if (!und_volume_is_out(s, at))
        return false;
    und_volume_solid_normal(&s->v, &s->walls, at, normal);
    return und_volume_is_slanted(&s->v, &s->walls, s->phi, at, normal);
}

static inline void und_volume_settling_mark(const und_volume_settling *s, und_place p)
{
    und_volume_mark_rows(&s->list, p, und_volume_settling_look, und_volume_settling_choose, s);
}
UND_KERNEL(und_volume_settling_mark, und_volume_settling, UND_EACH_SOME)

/* For each of them in a block of rows. */
#define UND_VOLUME_EACH_SETTLING(s, p, at)                                                              \
    for (const und_volume_chunk *k_ = (s)->list.chunk + (s)->list.row_chunks[(p).at],                   \
                                *end_ = (s)->list.chunk + (s)->list.row_chunks[(p).at + (size_t)(p).x]; \
         k_ < end_; k_++)                                                                               \
    UND_VOLUME_OF_CHUNK(k_, k_->bits, at)

/* What a cell that holds so much may give of that. */
UND_INLINE int32_t und_volume_settling_gives(const und_volume_settling *s, size_t from, size_t to,
                                             int32_t amount, int32_t has)
{
    const uint8_t *kind = s->v.kind;
    amount = amount < has ? amount : has;
    return amount <= 0 || und_volume_crowded(s->v.c[to]) || kind[from] == UND_VOLUME_HELD ||
                   kind[to] == UND_VOLUME_HELD
               ? 0
               : amount;
}

UND_INLINE void und_volume_settling_move(const und_volume_settling *s, size_t from, size_t to, int32_t amount)
{
    if (amount == 0)
        return;
    und_shared_add(&s->v.c[from], -amount);
    und_shared_add(&s->v.c[to], amount);
}

/* ---- Round corners ---- */

/* The cell further out, over which a film goes along the axis to where the wall comes nearer and shuts the
 * way; the cell itself: there is none. */
UND_INLINE size_t und_volume_settling_over(const und_volume_settling *s, size_t at, const float normal[3])
{
    const int across = und_volume_across(normal);
    const size_t step = (size_t)s->v.mac.step[across];
    const bool up = normal[across] > 0;
    const size_t out = up ? at + step : at - step;
    return s->v.own[out] && s->walls.open[across][up ? at : out] > 0 ? out : at;
}

/* What goes low along the axis, or high, of a film that holds so much. */
static inline int32_t und_volume_settling_round(const und_volume_settling *s, size_t at, size_t out,
                                                bool high, const float normal[3], int32_t has)
{
    const und_volume_arrays *v = &s->v;
    const float *open = s->walls.open[s->axis];
    const size_t step = (size_t)v->mac.step[s->axis];
    const size_t face = high ? out : out - step, to = high ? out + step : out - step;
    const size_t own = high ? at : at - step, behind = high ? at - step : at;
    /* What is before the cell further out may be air, which falls. */
    const float speed = s->u[s->axis][open[own] > 0 ? own : v->film[out] ? face : behind];
    const float way = (high ? 1 : -1) * speed * s->per_speed;
    const float part = und_volume_film_part(&s->walls, at, open[own]);
    if (!(way > 0) || !(part < 1) || !v->own[to] || !(open[face] > 0) ||
        und_volume_film_stands(v, &s->walls, high ? at - step : at + step, at, to, normal, s->pin))
        return 0;
    return und_volume_settling_gives(
        s, at, to, und_volume_units((way < 1 ? way : 1) * (1 - part) * und_volume_cells(has)), has);
}

/* In extra[] and part[]. */
static inline void und_volume_settling_find_round(const und_volume_settling *s, und_place p)
{
    UND_VOLUME_EACH_SETTLING(s, p, at)
    {
        float normal[3];
        und_volume_solid_normal(&s->v, &s->walls, at, normal);
        const size_t out = und_volume_settling_over(s, at, normal);
        const bool goes = s->v.film[at] && und_volume_across(normal) != s->axis && out != at;
        const int32_t has = s->v.c[at],
                      low = goes ? und_volume_settling_round(s, at, out, false, normal, has) : 0;
        s->v.extra[at] = low;
        s->v.part[at] = goes ? und_volume_settling_round(s, at, out, true, normal, has - low) : 0;
    }
}
UND_KERNEL(und_volume_settling_find_round, und_volume_settling, UND_EACH_BLOCK)

static inline void und_volume_settling_go_round(const und_volume_settling *s, und_place p)
{
    const size_t step = (size_t)s->v.mac.step[s->axis];
    UND_VOLUME_EACH_SETTLING(s, p, at)
    {
        float normal[3];
        if (s->v.extra[at] == 0 && s->v.part[at] == 0)
            continue;
        und_volume_solid_normal(&s->v, &s->walls, at, normal);
        const size_t out = und_volume_settling_over(s, at, normal);
        und_volume_settling_move(s, at, out - step, s->v.extra[at]);
        und_volume_settling_move(s, at, out + step, s->v.part[at]);
    }
}
UND_KERNEL(und_volume_settling_go_round, und_volume_settling, UND_EACH_BLOCK)

/* ---- Towards the wall ---- */

UND_INLINE size_t und_volume_settling_next(const und_volume_settling *s, size_t at, int way)
{
    const size_t step = (size_t)s->v.mac.step[way / 2];
    return way % 2 ? at + step : at - step;
}

/* As far as there is room: in extra[], and in to[] where to. */
static inline void und_volume_settling_find_in(const und_volume_settling *s, und_place p)
{
    UND_VOLUME_EACH_SETTLING(s, p, at)
    {
        float normal[3];
        und_volume_solid_normal(&s->v, &s->walls, at, normal);
        const int axis = und_volume_across(normal), way = 2 * axis + (normal[axis] < 0);
        const size_t in = und_volume_settling_next(s, at, way), face = way % 2 ? at : in;
        const bool goes = s->v.own[in] && s->walls.open[axis][face] > 0 && und_volume_is_out(s, in) &&
                          s->walls.room[in] > UND_SETTLING_ROOM;
        const int32_t amount =
            goes ? und_volume_settling_gives(s, at, in, und_volume_units(s->walls.room[in]) - s->v.c[in],
                                             s->v.c[at])
                 : 0;
        s->v.extra[at] = amount;
        s->v.to[at] = (uint8_t)(amount > 0 ? way : UND_SETTLING_STAYS);
    }
}
UND_KERNEL(und_volume_settling_find_in, und_volume_settling, UND_EACH_BLOCK)

/* Whether a cell is the first of those that go into one. */
static inline bool und_volume_settling_is_first(const und_volume_settling *s, size_t in, size_t at)
{
    for (int way = 0; way < 6; way++) {
        const size_t next = und_volume_settling_next(s, in, way);
        if (s->v.mark[next] && s->v.to[next] == (way ^ 1))
            return next == at;
    }
    return false;
}

static inline void und_volume_settling_go_in(const und_volume_settling *s, und_place p)
{
    UND_VOLUME_EACH_SETTLING(s, p, at)
    {
        const int way = s->v.to[at];
        if (way == UND_SETTLING_STAYS)
            continue;
        const size_t in = und_volume_settling_next(s, at, way);
        if (und_volume_settling_is_first(s, in, at))
            und_volume_settling_move(s, at, in, s->v.extra[at]);
    }
}
UND_KERNEL(und_volume_settling_go_in, und_volume_settling, UND_EACH_BLOCK)

#endif
