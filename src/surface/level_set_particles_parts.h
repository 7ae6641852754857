/* What the files of the particles share.  They are sorted by boxes: cubes between the middles of eight cells,
 * each with the index of the lowest of these (from -1 to n - 1 along an axis; those at the domain's border
 * are cut by it).  So neighbours in the order mostly have the same eight values around them. */
#ifndef UND_SURFACE_LEVEL_SET_PARTICLES_PARTS_H
#define UND_SURFACE_LEVEL_SET_PARTICLES_PARTS_H

#include "grid/pass.h"
#include "grid/sample.h"
#include "surface/level_set_particles.h"

enum { UND_LEVEL_SET_PARTICLES_BLOCK = 4096 }; /* that a thread takes at a time: a multiple of UND_LANES */

typedef struct und_level_set_particles_parts {
    und_scratch *scratch; /* which lends, while they are borrowed, the next three; at most so much */
    size_t most;
    int32_t *box;         /* of each particle, -1: taken out; or what those that are listed reach */
    int32_t *order;       /* which particle comes where; or those of each block that are listed */
    int32_t *first;       /* [mac.count + 1]: of each box, where its particles begin, once they are sorted */
    int32_t *block_count; /* [blocks][piles]: of each block in each pile of boxes; [blocks]: listed */
    int32_t *row_births;  /* [rows of boxes + 1] */
    uint64_t *reached;    /* [mac.count]: lent, of 0, while escaped particles put phi right */
    int32_t *liquid;      /* [mac.count]: 0, but while air that was overrun is looked for */
    int32_t steps;        /* tidied since the start */
    int32_t seedings;     /* so far: the stream of random numbers of the next */
} und_level_set_particles_parts;

/* All particles, in blocks. */
static inline und_set und_level_set_particles_all(const und_level_set_particles *t)
{
    enum { WORTH = 2 }; /* cells */
    return und_set_list(t->radius, t->count, UND_LEVEL_SET_PARTICLES_BLOCK, WORTH);
}
static inline int und_level_set_particles_blocks(int count)
{
    return (count + UND_LEVEL_SET_PARTICLES_BLOCK - 1) / UND_LEVEL_SET_PARTICLES_BLOCK;
}
/* What kernels know of them: they may be run where neither the grid's owner nor the parts are. */
typedef struct und_particles_list {
    und_mac mac;
    int count;
    float *place[3], *radius;
} und_particles_list;
static inline und_particles_list und_level_set_particles_list(const und_level_set_particles *t)
{
    return (und_particles_list){t->mac, t->count, {t->place[0], t->place[1], t->place[2]}, t->radius};
}

/* UND_LANES of them from i on; behind the last there may be anything. */
UND_INLINE void und_level_set_particles_places(const und_particles_list *t, int i, und_lanes out[3])
{
    for (int a = 0; a < 3; a++)
        out[a] = und_lanes_load(t->place[a] + i);
}
UND_INLINE und_lanes und_level_set_particles_field(const und_particles_list *t, const float *value, int i)
{
    und_lanes place[3], out;
    und_level_set_particles_places(t, i, place);
    und_sample_cells(&t->mac, value, place, &out, NULL);
    return out;
}

/* Of those from i on the values around the first are read soon; as many are behind the last of `end`. */
UND_INLINE void und_level_set_particles_fetch(const und_particles_list *t, const float *value, int i, int end)
{
    enum { AHEAD = 4 * UND_LANES };
    const int k = i + AHEAD < end ? i + AHEAD : end - 1;
    und_sample_fetch(&t->mac, value, (const float[3]){t->place[0][k], t->place[1][k], t->place[2][k]});
}

/* Bits of those from i on that are before the end. */
static inline unsigned und_level_set_particles_before(int i, int end)
{
    return (1u << (end - i < UND_LANES ? end - i : UND_LANES)) - 1;
}

/* Whether a place along an axis is in the domain. */
static inline bool und_level_set_particles_inside(const und_mac *m, int axis, float place)
{
    return place >= (float)m->low[axis] && place <= (float)(m->low[axis] + m->n[axis]);
}

/* The cell that one is in. */
static inline void und_level_set_particles_cell_at(const und_particles_list *t, int i, int at[3])
{
    for (int a = 0; a < 3; a++) {
        float place = t->place[a][i];
        at[a] = place > (float)t->mac.low[a] ? (int)place - t->mac.low[a] : 0;
        at[a] = at[a] < t->mac.n[a] ? at[a] : t->mac.n[a] - 1;
    }
}
static inline size_t und_level_set_particles_cell(const und_particles_list *t, int i)
{
    int at[3];
    und_level_set_particles_cell_at(t, i, at);
    return und_mac_at(&t->mac, at[0], at[1], at[2]);
}

/* The same of UND_LANES places, */
UND_INLINE und_lanes_int und_level_set_particles_cells_of(const und_particles_list *t,
                                                          const und_lanes place[3])
{
    const und_mac *m = &t->mac;
    und_lanes_int cell = (und_lanes_int){0} + (int32_t)m->first;
    for (int a = 0; a < 3; a++) {
        const und_lanes_int last = (und_lanes_int){0} + (m->n[a] - 1);
        und_lanes_int at = __builtin_convertvector(place[a], und_lanes_int) - m->low[a];
        at = (place[a] > (float)m->low[a]) & und_lanes_int_select(at < last, at, last);
        cell += at * (int32_t)m->step[a];
    }
    return cell;
}
/* and of those from i on. */
UND_INLINE und_lanes_int und_level_set_particles_cells(const und_particles_list *t, int i)
{
    und_lanes place[3];
    und_level_set_particles_places(t, i, place);
    return und_level_set_particles_cells_of(t, place);
}

/* The axis across which boxes lie in piles, which threads share out. */
static inline int und_level_set_particles_axis(const und_mac *m)
{
    return m->n[2] == 1 ? 1 : 2;
}
static inline int und_level_set_particles_piles(const und_mac *m)
{
    return m->n[und_level_set_particles_axis(m)] + 1;
}

/* Borrows scratch for all that there are now. */
void und_level_set_particles_borrow(und_level_set_particles *t);
void und_level_set_particles_give_back(und_level_set_particles *t);

/* Puts them in the order of their boxes, those of a box in the order they had; such with no radius or no
 * place go. */
void und_level_set_particles_sort(und_level_set_particles *t);

/* Those further from the surface than the band go. */
void und_level_set_particles_drop_far(und_level_set_particles *t, const und_distance *d);
/* Boxes with too many lose some and such with too few get more.  Sorted. */
void und_level_set_particles_reseed(und_level_set_particles *t, const und_distance *d, const float *wall);

#endif
