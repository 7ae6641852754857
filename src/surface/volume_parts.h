/* What the files of the cells' volumes share. */
#ifndef UND_SURFACE_VOLUME_PARTS_H
#define UND_SURFACE_VOLUME_PARTS_H

#include "grid/reduce.h"
#include "surface/volume.h"
#include "surface/volume_kernel.h"

#include <math.h>
#include <string.h>

/* Scratch; but for `inside` and `own`, nothing goes on from step to step. */
typedef struct und_volume_parts {
    uint8_t *inside;      /* 1 in the domain, 0 beside it */
    uint8_t *own;         /* the same, but 0 in cells that are another grid's */
    uint8_t *kind;        /* UND_VOLUME_DRY and so on */
    bool others, held;    /* whether some are another grid's; whether the flow of some is given */
    uint8_t *mark;        /* of cells of the list */
    uint8_t *unsure;      /* bits: why what particles know of a cell is not enough */
    und_scratch *scratch; /* which lends, while they are borrowed, the next six; at most so much */
    size_t lent;
    int32_t *flux;           /* over high faces */
    int32_t *extra;          /* what a cell holds besides what phi encloses */
    int32_t *spare;          /* one more, which is flux */
    int32_t *part;           /* what phi encloses */
    float *fraction;         /* of a cell's room that is full; -1 where there is next to none */
    uint8_t *to;             /* where a cell hands over to: UND_VOLUME_STAY, or another of its neighbours */
    float *kept;             /* [films][6] of their faces, while the flow is made */
    int32_t *area, *over;    /* in und_volume_fit alone, lent, of 0: what `part` gains as phi falls by 1; and
                                what moves phi of what a cell holds besides */
    und_volume_chunk *chunk; /* cells that are looked at, in order */
    int chunk_count, count;  /* chunks, and cells */
    ptrdiff_t around[UND_VOLUME_AROUND]; /* from a cell to each of its neighbours */
    und_volume_chunk *row_chunk;         /* [row][per_row], while the list is made */
    int per_row;
    int32_t *row_count;                  /* of each row's part of the list: cells */
    int32_t *row_chunks;                 /* of the list before each row: chunks; behind the last row too */
    int32_t *block_count, *block_chunks; /* the same of blocks of rows, while the list is made */
    int32_t *row_left;                   /* the same of those that are looked at again */
    uint16_t *wakes; /* [row][per_row], while it is looked which cells the flow goes through */
    float *block_most;
    int64_t *row_sum;
    und_total *row_total;
    int32_t *row_most, most; /* of rows, and of all, as und_volume_sum found it */
    uint8_t *row_films;      /* of rows: whether und_volume_find_films found some */
    uint8_t *row_layers;     /* the same of layers that walls slow down */
} und_volume_parts;

enum { UND_VOLUME_CHUNKS = 128, UND_VOLUME_FACES = 6 };

/* What others have of cells, of the surface and of the flow, so many slices beyond one's own; of cells alone;
 * and of rows, all that they have. */
void und_volume_get(const und_volume *v, const und_distance *d, float *const u[3], int reach);
void und_volume_get_cells(const und_volume *v, int reach);
void und_volume_get_rows(const und_volume *v, void *values, size_t size);
/* What films and layers are told by: cells, phi and viscosities. */
void und_volume_get_told(const und_volume *v, const und_distance *d, const und_volume_films *films,
                         int reach);

/* Which of the UND_LANES cells from one on are worth a look, as bits. */
typedef unsigned und_volume_look_fn(const void *context, size_t at);
/* The grid's own cells for which fn (NULL: any) says so, into parts->chunk, of those that `look` (NULL: all)
 * finds. */
typedef bool und_volume_choose_fn(const void *context, size_t at);
void und_volume_list(und_volume *v, und_volume_look_fn *look, und_volume_choose_fn *fn, const void *context);
/* Those that `look` finds, and what all cells hold, as und_volume_sum has it; bytes of all become 0. */
int64_t und_volume_list_and_sum(und_volume *v, und_volume_look_fn *look, const void *context,
                                uint8_t *cleared);
/* Its chunks, for passes. */
static inline und_set und_volume_chunks(const und_volume *v)
{
    und_set s = und_set_list(v->parts->chunk, v->parts->chunk_count, UND_VOLUME_CHUNKS, 1);
    s.worth = 8 * (size_t)v->parts->count; /* a cell costs more than one of a plain pass */
    return s;
}

/* The same as steps, of which some may be before and behind; the first four are given. */
typedef struct und_volume_listing {
    und_volume *v;
    und_volume_look_fn *look;
    und_volume_choose_fn *fn;
    const void *context;
    bool sums;        /* what all of each row's cells hold is found beside; and others' cells count */
    uint8_t *cleared; /* of all cells, becomes 0 beside; NULL: none */
    und_set rows, once;
    und_pass pass[3];
    und_halo_field counts;
} und_volume_listing;
enum { UND_VOLUME_LIST_STEPS = 3 };
void und_volume_list_steps(und_volume_listing *l, und_step steps[UND_VOLUME_LIST_STEPS]);

/* Solids are put where they come to within a step, and the flow goes over what they leave of faces then: of
 * cells that they pass meanwhile some get too much for it, and their neighbours as much too little.  Those
 * that fn chooses, inside of the liquid, even that out among themselves, over open faces: the pressure would
 * stir the liquid for it.  Others' phi is there, from und_volume_leave_solids. */
void und_volume_even(und_volume *v, const und_volume_walls *walls, und_volume_choose_fn *fn,
                     const void *context);

/* und_volume_find_films as a pass over slices or rows. */
typedef struct und_volume_filming {
    const und_volume *v;
    const und_distance *d;
    const und_volume_walls *walls;
} und_volume_filming;
void und_volume_get_films(const und_volume *v, const und_distance *d); /* what others have for it */
und_pass und_volume_films_pass(const und_volume_filming *f, const und_set *rows);

/* 1/s: by so much walls slow down what is so many cells thick and goes at so many m/s. */
double und_volume_drag(const und_volume_films *f, size_t at, double thick, double speed);
/* How thick the liquid is that lies on a wall which cuts a cell, cells; no number where that is not known. */
float und_volume_held_layer(const und_volume *v, const und_volume_walls *walls, size_t at);
void und_volume_solid_normal(const und_volume *v, const und_volume_walls *walls, size_t at, float normal[3]);

#define UND_VOLUME_NEAR 2.6f        /* cells: of phi, what und_volume_fit looks at */
#define UND_VOLUME_AREA_ONE 0x1p20f /* in area[]: so many are 1 */
enum { UND_VOLUME_UNKNOWN = 255 };  /* in to[]: not looked for yet */
/* In mark[]: cells at the surface, those from which little goes far or not; others; 0 is in those that are
 * not looked at. */
enum { UND_VOLUME_NEAR_ONLY = 1, UND_VOLUME_FREE, UND_VOLUME_OTHER };

/* What phi encloses, as a pass over the list's chunks: part[], area[], extra[], films, and what the chunks
 * and mark[] say of cells. */
typedef struct und_volume_enclosing {
    und_volume *v;
    const und_volume_walls *walls;
    const float *phi;
    bool tracked; /* particles have the shape: what they cannot know well is unsure[] */
} und_volume_enclosing;
und_pass und_volume_encloses_pass(const und_volume_enclosing *e, const und_set *chunks);

/* Of the list, those that a chunk's `gives` says hand what they hold of amounts[] to the neighbour that `to`
 * says: 13 is itself, and one more is one further along x, three along y, nine along z. In two turns, since
 * a cell that gives may be given to: of a chunk, how much it is, into spare[]; then all of it. */
void und_volume_set_out(const und_volume *v, const und_volume_chunk *k, const int32_t *amounts);
void und_volume_give_out(const und_volume *v, const und_volume_chunk *k, int32_t *amounts);
/* What a cell owes the fullest cells around it pay, or those around them, each at most what it holds. */
void und_volume_pay_one(const und_volume *v, const und_volume_walls *walls, size_t at);
/* The same, and where there are no solids then cells further off. */
enum { UND_VOLUME_PAY_FURTHEST = 8 };
void und_volume_pay_far(const und_volume *v, const und_volume_walls *walls, size_t at);

/* Some chunks further on, which is to be fetched by the time it is worked on. */
static inline const und_volume_chunk *und_volume_ahead(const und_volume_chunk *k, const und_volume_chunk *end)
{
    enum { AHEAD = 6 };
    return end - k > AHEAD ? k + AHEAD : k;
}

/* What is read of it and of the rows around it. */
UND_INLINE void und_volume_fetch_around(const und_mac *m, const void *values, const und_volume_chunk *k,
                                        const und_volume_chunk *end)
{
    const ptrdiff_t at = und_volume_ahead(k, end)->at;
    und_volume_fetch(values, at);
    und_volume_fetch(values, at + m->step[1]);
    und_volume_fetch(values, at + m->step[2]);
}

/* Sums over the cells around by und_volume_weight, of numbers over 2^less; whole ones, so that in what order
 * does not matter. */
UND_INLINE und_lanes_int und_volumes_weighted(const und_mac *m, const int32_t *first, int less)
{
    und_lanes_int low = {0}, high = {0}, amid = {0};
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++) {
            const int32_t *at = first + y * m->step[1] + z * m->step[2];
            const int weight = (y == 0) + (z == 0);
            low += (und_lanes_int_load(at - 1) >> less) << weight;
            high += (und_lanes_int_load(at + 1) >> less) << weight;
#ifdef UND_ONE_LANE
            amid += (und_lanes_int_load(at) >> less) << weight;
#endif
        }
#ifndef UND_ONE_LANE
    amid = und_lanes_int_amid(low, high);
#endif
    return low + high + (amid << 1);
}
/* Those that hold something though their middles are in the air. */
static inline unsigned und_volume_aloft(const und_volume *v, const float *phi, size_t at)
{
    und_lanes_int c;
    memcpy(&c, v->c + at, sizeof c);
    return und_lanes_bits((c != 0) & (und_lanes_load(phi + at) >= und_lanes_all(0)));
}

/* For each of them in a row, in order. */
#define UND_VOLUME_ALOFT(v, phi, row, at)                                                                    \
    for (size_t at_ = und_mac_row_begin(&(v)->mac, row), end_ = und_mac_row_end(&(v)->mac, row); at_ < end_; \
         at_ += UND_LANES)                                                                                   \
        for (size_t bits_ = und_volume_aloft(v, phi, at_) & und_volume_row_bits(end_ - at_), at;             \
             bits_ != 0 && (at = at_ + (size_t)__builtin_ctzll(bits_), 1); bits_ &= bits_ - 1)

/* The same of those that were films when these were looked for. */
static inline unsigned und_volume_films_at(const und_volume *v, const float *phi, size_t at)
{
    const unsigned films = und_lanes_bits(und_lanes_bytes(v->film + at) != 0);
    return films ? films & und_volume_aloft(v, phi, at) : 0;
}
#define UND_VOLUME_FILMS(v, phi, row, at)                                                           \
    for (size_t at_ = und_mac_row_begin(&(v)->mac, row),                                            \
                end_ = (v)->parts->row_films[row] ? und_mac_row_end(&(v)->mac, row) : at_;          \
         at_ < end_; at_ += UND_LANES)                                                              \
        for (size_t bits_ = und_volume_films_at(v, phi, at_) & und_volume_row_bits(end_ - at_), at; \
             bits_ != 0 && (at = at_ + (size_t)__builtin_ctzll(bits_), 1); bits_ &= bits_ - 1)

static inline ptrdiff_t und_volume_step(const und_mac *m, int k) /* to neighbour k */
{
    return (k % 3 - 1) + (k / 3 % 3 - 1) * m->step[1] + (k / 9 - 1) * m->step[2];
}

static inline und_lanes und_volume_rooms(const und_volume_walls *walls, size_t at)
{
    return walls->room ? und_lanes_load(walls->room + at) : und_lanes_all(1);
}
static inline float und_volume_room(const und_volume_walls *walls, size_t at)
{
    return walls->room ? walls->room[at] : 1;
}

/* Whether neighbour k is on the same side of walls: those that no cell shows, and those that a cell and its
 * neighbour are both half in. */
static inline bool und_volume_linked(const und_volume *v, const und_volume_walls *walls, size_t at, int k)
{
    return !walls->room || !(walls->beside_thin[at] || walls->distance[at] < 1) ||
           und_volume_way(walls->open, v->mac.step, at, k);
}

/* Whether gravity pulls from neighbour k to the cell. */
static inline bool und_volume_is_up(const und_volume_walls *walls, int k)
{
    const double *g = walls->gravity;
    return (k % 3 - 1) * g[0] + (k / 3 % 3 - 1) * g[1] + (k / 9 - 1) * g[2] < 0;
}

/* Cells of a chunk from the lowest of `bits` on. */
#define UND_VOLUME_OF_CHUNK(k, which, cell) \
    for (size_t bits_ = (which), cell;      \
         bits_ != 0 && (cell = (size_t)(k)->at + (size_t)__builtin_ctzll(bits_), 1); bits_ &= bits_ - 1)

#define UND_VOLUME_BESIDE 1.2f /* cells: further from the surface a cell is full or empty */
/* Whether the surface may cut a cell: beside walls that no cell shows one of the air has liquid only where
 * there is some on the same side. */
bool und_volume_is_cut(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at);
/* Whether a cell is behind a solid: phi goes on from the liquid's side into walls of two cells, so its
 * surface is in them and seen from the other side, where neither the cell nor those that it is open to hold
 * any. */
bool und_volume_is_behind(const und_volume *v, const und_volume_walls *walls, float phi, size_t at);
/* The gradient of phi, of what is on the same side. */
static inline void und_volume_gradient(const und_volume *v, const und_volume_walls *walls, const float *phi,
                                       size_t at, float slope[3])
{
    const uint8_t *inside = v->parts->inside;
    const bool thin = walls->room && walls->beside_thin[at];
    for (int a = 0; a < 3; a++) {
        const size_t step = (size_t)v->mac.step[a];
        const bool low = inside[at - step] && (!thin || walls->open[a][at - step] > 0);
        const bool high = inside[at + step] && (!thin || walls->open[a][at] > 0);
        const float from = low ? phi[at - step] : phi[at], to = high ? phi[at + step] : phi[at];
        slope[a] = low && high ? 0.5f * (to - from) : to - from;
    }
}
/* By how much a surface of that slope faces the way that the solid in the cell does (a cosine); how much of
 * the cell phi encloses beside that. */
float und_volume_along(const und_volume *v, const und_volume_walls *walls, size_t at, const float slope[3]);
float und_volume_part(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at);

/* The wall that what is in a cell lies on: how far its surface is from the cell's middle, and its normal;
 * false where there is none, or the cell before it holds half as much, or more. */
bool und_volume_leans(const und_volume *v, const und_volume_walls *walls, size_t at, float *distance,
                      float normal[3]);
/* Bits of UND_LANES cells: of all others it is false. */
unsigned und_volume_may_lean(const und_volume *v, const und_volume_walls *walls, size_t at);
/* Whether a wall of this normal lies along the grid. */
static inline bool und_volume_is_straight(const float normal[3])
{
    const float a = normal[0] * normal[0], b = normal[1] * normal[1], c = normal[2] * normal[2];
    const float most = a > b ? (a > c ? a : c) : b > c ? b : c;
    return most > 0.998f * (a + b + c);
}
static inline int und_volume_across(const float normal[3])
{
    const float size[3] = {fabsf(normal[0]), fabsf(normal[1]), fabsf(normal[2])};
    return size[0] > size[1] ? (size[0] > size[2] ? 0 : 2) : size[1] >= size[2] ? 1 : 2;
}
/* Whether the wall of this normal at a cell cuts cells aslant, and films run along it by themselves.  Then
 * what is on it is told by columns of cells, as the wall cuts them anyhow, along the axis across. */
bool und_volume_is_slanted(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at,
                           const float normal[3]);
/* The film on a slanted wall of this normal around a cell: how thick it is, cells. */
float und_volume_film_thickness(const und_volume *v, const und_volume_walls *walls, size_t at,
                                const float normal[3]);
/* Whether such a film's contact line stands in a cell: it does not go on to the next. */
bool und_volume_film_stands(const und_volume *v, const und_volume_walls *walls, size_t behind, size_t from,
                            size_t to, const float normal[3], float pin);
/* Of what is in a cell on a slanted wall, what a face that is open so far lets over: the rest goes round the
 * corner that the wall makes there. */
static inline float und_volume_film_part(const und_volume_walls *walls, size_t at, float open)
{
    return open < walls->room[at] ? open / walls->room[at] : 1;
}
/* Whether a film closes over a dry cell at a wall of this normal: films go round most of it. */
bool und_volume_is_hole(const und_volume *v, size_t at, const float normal[3]);
bool und_volume_is_film(const und_volume *v, const und_volume_walls *walls, const float *phi, size_t at,
                        int32_t part);

#endif
