/* What the files of the cells' volumes share. */
#ifndef UND_SURFACE_VOLUME_PARTS_H
#define UND_SURFACE_VOLUME_PARTS_H

#include "base/parallel.h"
#include "surface/volume.h"
#include "surface/volume_kernel.h"

#include <string.h>

/* Scratch; but for `inside` and `own`, nothing goes on from step to step. */
typedef struct und_volume_parts {
    uint8_t *inside; /* 1 in the domain, 0 beside it */
    uint8_t *own;    /* the same, but 0 in cells that are another grid's */
    uint8_t *kind;   /* UND_VOLUME_DRY and so on */
    uint8_t *to;     /* where a cell hands over to: UND_VOLUME_STAY, or another of its neighbours */
    uint8_t *mark;   /* of cells of the list */
    int32_t *flux;   /* over high faces */
    int32_t *extra;  /* what a cell holds besides what phi encloses */
    int32_t *spare;  /* one more */
    int32_t *part;   /* what phi encloses */
    float *area;     /* what that gains as phi falls by 1 */
    float *fraction; /* of a cell's room that is full; -1 where there is next to none */
    int32_t *list;   /* cells that are looked at, in order */
    int count;
    ptrdiff_t around[UND_VOLUME_AROUND]; /* from a cell to each of its neighbours */
    int32_t *row_count;                  /* of each row */
    float *block_most;
    int64_t *row_sum;
    int32_t *row_most, most; /* of rows, and of all, as und_volume_sum found it */
} und_volume_parts;

enum { UND_VOLUME_BLOCK = 1024, UND_VOLUME_TO_SHARE = 4096, UND_VOLUME_ROWS = 16 };

/* For each cell of the list, in blocks that threads share. */
#define UND_VOLUME_EACH(v, count, at, list)                                                      \
    PARALLEL_FOR(und_workers((v)->threads, (size_t)(count), UND_VOLUME_TO_SHARE))                \
    for (int block_ = 0; block_ < ((count) + UND_VOLUME_BLOCK - 1) / UND_VOLUME_BLOCK; block_++) \
        for (size_t i_ = (size_t)block_ * UND_VOLUME_BLOCK, at;                                  \
             i_ < (size_t)(count) && i_ < (size_t)(block_ + 1) * UND_VOLUME_BLOCK &&             \
             (at = (size_t)(list)[i_], 1);                                                       \
             i_++)

/* Which of the UND_LANES cells from one on are worth a look, as bits. */
typedef unsigned und_volume_look_fn(const void *context, size_t at);
/* The grid's own cells for which fn says so, into parts->list, of those that `look` (NULL: all) finds. */
typedef bool und_volume_choose_fn(const void *context, size_t at);
void und_volume_list(und_volume *v, und_volume_look_fn *look, und_volume_choose_fn *fn, const void *context);

/* Those that hold something though their middles are in the air. */
static inline unsigned und_volume_aloft(const und_volume *v, const float *phi, size_t at)
{
    und_lanes_int c;
    memcpy(&c, v->c + at, sizeof c);
    return und_lanes_bits((c != 0) & (und_lanes_load(phi + at) >= und_lanes_all(0)));
}

/* Of UND_LANES cells those before the end of a row of which `left` are still to come. */
static inline unsigned und_volume_row_bits(size_t left)
{
    return left < UND_LANES ? (1u << left) - 1 : UND_LANES_ALL;
}

/* For each of them in a row, in order. */
#define UND_VOLUME_ALOFT(v, phi, row, at)                                                          \
    for (size_t at_ = und_mac_row(&(v)->mac, row), end_ = at_ + (size_t)(v)->mac.n[0]; at_ < end_; \
         at_ += UND_LANES)                                                                         \
        for (size_t bits_ = und_volume_aloft(v, phi, at_) & und_volume_row_bits(end_ - at_), at;   \
             bits_ != 0 && (at = at_ + (size_t)__builtin_ctzll(bits_), 1); bits_ &= bits_ - 1)

static inline void und_volume_cell(const und_mac *m, size_t at, int cell[3])
{
    ptrdiff_t left = (ptrdiff_t)at - (ptrdiff_t)m->first;
    cell[2] = (int)(left / m->step[2]);
    left -= cell[2] * m->step[2];
    cell[1] = (int)(left / m->step[1]);
    cell[0] = (int)(left - cell[1] * m->step[1]);
}

static inline ptrdiff_t und_volume_step(const und_mac *m, int k) /* to neighbour k */
{
    return (k % 3 - 1) + (k / 3 % 3 - 1) * m->step[1] + (k / 9 - 1) * m->step[2];
}

static inline float und_volume_room(const und_volume_walls *walls, size_t at)
{
    return walls->room ? walls->room[at] : 1;
}

/* Whether neighbour k is on the same side of walls that no cell shows. */
static inline bool und_volume_linked(const und_volume *v, const und_volume_walls *walls, size_t at, int k)
{
    return !walls->room || !walls->beside_thin[at] || und_volume_way(walls->open, v->mac.step, at, k);
}

/* Whether the surface may cut a cell: beside walls that no cell shows one of the air has liquid only where
 * there is some on the same side. */
bool und_volume_is_cut(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at);
/* The gradient of phi, of what is on the same side; by how much a surface of that slope faces the way that
 * the solid in the cell does (a cosine); how much of the cell phi encloses beside that. */
void und_volume_gradient(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at,
                         float slope[3]);
float und_volume_along(const und_volume *v, const und_volume_walls *walls, size_t at, const float slope[3]);
float und_volume_part(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at);

/* The wall that what is in a cell lies on: how far its surface is from the cell's middle, and its normal;
 * false where there is none, or the cell before it holds half as much, or more. */
bool und_volume_leans(const und_volume *v, const und_volume_walls *walls, size_t at, float *distance,
                      float normal[3]);
bool und_volume_is_film(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at,
                        int32_t part);

#endif
