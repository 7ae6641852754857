/* Passes: a kernel at all places of a set, whoever runs it.
 *
 * A kernel is a function of plain arguments and a place, in a file *_kernel.h: arithmetic on UND_LANES places
 * side by side, without memory of its own, without libm, in any order.  A set says which places.  A device
 * runs them: the threads of this machine, each with UND_LANES lanes.
 *
 *     typedef struct und_fall_args { float *v, by; } und_fall_args;
 *     UND_INLINE void und_fall(const und_fall_args *a, und_place p)
 *     {
 *         und_lanes_store_some(a->v + p.at, und_lanes_load(a->v + p.at) - a->by, p.which);
 *     }
 *     UND_KERNEL(und_fall, und_fall_args, UND_EACH_CELL)
 *
 *     und_pass(device, und_fall, &(und_fall_args){.v = v, .by = 1}, &set);
 */
#ifndef UND_GRID_PASS_H
#define UND_GRID_PASS_H

#include "base/card_entry.h"
#include "base/lanes.h"
#include "grid/halo.h"

typedef struct und_device {
    int threads;
    const und_halo *halo; /* who has slices of the grid beside these; NULL: all are here */
    und_card *card;       /* that runs what kernels it has; NULL: none */
} und_device;

/* ---- Places ---- */

/* UND_LANES places side by side, in a row of the grid or in a list. */
typedef struct und_place {
    size_t at;      /* the first one's index in arrays of the grid, or its number in the list */
    int x, y, z;    /* its cell, where it is one */
    unsigned which; /* bit i: the i-th of them counts */
    float *lent;    /* und_set.lent, of whoever does this place */
} und_place;

/* Blocks of places, each of which one thread does. */
typedef struct und_set {
    int blocks;
    size_t worth;             /* cells, or what costs as much: few are done before other threads are awake */
    const und_mac *mac;       /* of rows: */
    const und_mask *cells;    /* of those the cells of a mask; NULL: whole rows, */
    const int32_t *from, *to; /* or where these are not NULL, of each the cells [from, to) */
    int low[2];               /* y and z of the first row */
    int wide, rows;           /* rows of a slice, and of all */
    int per_block;            /* rows */
    int count;                /* of a list instead, items, `per_block` each */
    const void *list;         /* whatever a module's own UND_EACH_... knows about it */
    float *lent;              /* scratch, `lent_each` floats for each of those who do blocks; may be NULL */
    size_t lent_each;
} und_set;

/* Rows (y, z) of the grid. */
typedef enum und_rows {
    UND_ROWS_INSIDE, /* of cells */
    UND_ROWS_FACES,  /* where high faces are that a cell inside has: from -1 on */
    UND_ROWS_ALL     /* with the layer beside the domain */
} und_rows;

und_set und_set_rows(const und_mac *mac, und_rows rows);
/* The same, each slice a block; in two dimensions there is one, and rows are. */
und_set und_set_slices(const und_mac *mac, und_rows rows);
/* Whichever: slices where others have some, so that no block has rows of several machines. */
und_set und_set_shared(const und_device *device, const und_mac *mac, und_rows rows);
/* Of cells of a mask, or of high faces across an axis; whole rows where it is NULL. */
und_set und_set_cells(const und_mac *mac, und_rows rows, const und_mask *cells);
/* Of each row of cells inside the domain the cells [from, to), so many of them together. */
und_set und_set_spans(const und_mac *mac, const int32_t *from, const int32_t *to, size_t worth);
/* Of cells from low to below high, each worth so many. */
und_set und_set_box(const und_mac *mac, const int low[3], const int high[3], int worth);
/* Items of a list, so many a block, each worth so many cells. */
und_set und_set_list(const void *list, int count, int per_block, int worth);

static inline und_place und_set_row(const und_set *s, int row)
{
    const int y = row % s->wide + s->low[0], z = row / s->wide + s->low[1];
    return (und_place){und_mac_at(s->mac, 0, y, z), -1, y, z, UND_LANES_ALL, s->lent};
}
static inline int und_set_end(const und_set *s, int block) /* of its rows or items */
{
    const int end = (block + 1) * s->per_block, all = s->list ? s->count : s->rows;
    return end < all ? end : all;
}
/* The next places of a row of cells, from p->x on. */
static inline bool und_set_next_few(const und_mask *cells, const uint64_t *bits, size_t row, int lanes,
                                    und_place *p)
{
    p->x = und_mask_batch(cells, bits, p->x, lanes, &p->which);
    p->at = (size_t)((ptrdiff_t)row + p->x);
    return p->x <= cells->n[0];
}
static inline bool und_set_next(const und_mask *cells, const uint64_t *bits, size_t row, und_place *p)
{
    return und_set_next_few(cells, bits, row, UND_LANES, p);
}
/* The same of a row's span. */
static inline bool und_set_next_span(const und_set *s, int row, size_t first, und_place *p)
{
    const int left = s->to[row] - p->x;
    p->at = first + (size_t)p->x;
    p->which = left < UND_DOUBLES ? (1u << (left > 0 ? left : 0)) - 1 : UND_DOUBLES_ALL;
    return left > 0;
}
/* The same of what there is of a row inside the domain, up to below `end`. */
static inline bool und_set_next_inside(size_t row, int end, und_place *p)
{
    const int left = end - p->x;
    p->at = row + (size_t)p->x;
    p->which = left < UND_LANES ? (1u << (left > 0 ? left : 0)) - 1 : UND_LANES_ALL;
    return left > 0;
}

/* Of a row's words p.x becomes the first that there is; one behind the last. */
static inline int und_set_words(const und_set *s, und_place *p)
{
    const und_span words = und_mac_words(s->mac, p->y, p->z);
    p->x = words.begin;
    return words.end;
}

/* The first row of a block at or after one that the grid has. */
static inline int und_set_from(const und_set *s, int block, int row)
{
    return und_present_row(s->mac->present, s->low, s->wide, row, und_set_end(s, block));
}

/* For each row of a block: p.at is the index of its cell 0. */
#define UND_EACH_ROW_NUMBER(set, block, row)                                                            \
    for (int row = und_set_from(set, block, (block) * (set)->per_block); row < und_set_end(set, block); \
         row = und_set_from(set, block, row + 1))
#define UND_EACH_ROW(set, block, p)        \
    UND_EACH_ROW_NUMBER (set, block, row_) \
        for (und_place p = und_set_row(set, row_), *once_ = &p; once_; once_ = NULL)

#define UND_EACH_ROW_PLACES UND_PLACES_ROW

/* For each word of a row's bits: p.x is its number; bit i of it is cell 64 x + i - 1. */
#define UND_EACH_WORD(set, block, p) \
    UND_EACH_ROW (set, block, p)     \
        for (int end_ = und_set_words(set, &p); p.x < end_; p.x++)
#define UND_EACH_WORD_PLACES UND_PLACES_WORD
/* For each UND_LANES neighbours of the set's cells, or UND_DOUBLES. */
#define UND_EACH_CELL(set, block, p) UND_EACH_FEW(set, block, p, UND_LANES)
#define UND_EACH_DOUBLES(set, block, p) UND_EACH_FEW(set, block, p, UND_DOUBLES)
#define UND_EACH_FEW(set, block, p, lanes)                                                          \
    UND_EACH_ROW (set, block, of_)                                                                  \
        for (const uint64_t *bits_ = und_mask_row((set)->cells, of_.y, of_.z); bits_; bits_ = NULL) \
            for (und_place p = of_; und_set_next_few((set)->cells, bits_, of_.at, lanes, &p); p.x += (lanes))

#define UND_EACH_CELL_PLACES UND_PLACES_CELL
#define UND_EACH_DOUBLES_PLACES UND_PLACES_CELL

/* For each UND_DOUBLES neighbours of the rows' spans. */
#define UND_EACH_SPAN(set, block, p)       \
    UND_EACH_ROW_NUMBER (set, block, row_) \
        UND_EACH_OF_SPAN (set, row_, p)
#define UND_EACH_OF_SPAN(set, row, p)                                                                \
    for (und_place of_ = und_set_row(set, row), p = {.x = (set)->from[row], .y = of_.y, .z = of_.z}; \
         und_set_next_span(set, row, of_.at, &p); p.x += UND_DOUBLES)

#define UND_EACH_SPAN_PLACES UND_PLACES_CELL

/* For each UND_LANES cells of rows inside the domain. */
#define UND_EACH_INSIDE(set, block, p)                                                             \
    UND_EACH_ROW (set, block, of_)                                                                 \
        for (und_place p = {of_.at, und_mac_span((set)->mac, of_.y, of_.z).begin, of_.y, of_.z, 0, \
                            of_.lent};                                                             \
             und_set_next_inside(of_.at, und_mac_span((set)->mac, of_.y, of_.z).end, &p); p.x += UND_LANES)

#define UND_EACH_INSIDE_PLACES UND_PLACES_CELL

/* For each block of a list: p.at is the number of its first item, p.x how many it has, p.y its own number. */
#define UND_EACH_BLOCK(set, block, p)                                             \
    for (und_place p = {.at = (size_t)(block) * (size_t)(set)->per_block,         \
                       .x = und_set_end(set, block) - (block) * (set)->per_block, \
                       .y = (block),                                              \
                       .lent = (set)->lent},                                      \
                   *once_ = &p;                                                   \
         once_; once_ = NULL)

#define UND_EACH_BLOCK_PLACES UND_PLACES_BLOCK

/* The same where a block may be any part of the list. */
#define UND_EACH_SOME(set, block, p) UND_EACH_BLOCK (set, block, p)
#define UND_EACH_SOME_PLACES UND_PLACES_SOME

/* For each UND_LANES items of a list. */
#define UND_EACH_ITEM(set, block, p)                                       \
    for (und_place p = {.at = (size_t)(block) * (size_t)(set)->per_block}; \
         und_set_next_item(set, block, &p); p.at += UND_LANES)
static inline bool und_set_next_item(const und_set *s, int block, und_place *p)
{
    const int left = und_set_end(s, block) - (int)p->at;
    p->which = left < UND_LANES ? (1u << (left > 0 ? left : 0)) - 1 : UND_LANES_ALL;
    return left > 0;
}
#define UND_EACH_ITEM_PLACES UND_PLACES_ITEM

/* ---- Kernels ---- */

/* How a card's threads share a set out: what each has is a place of the UND_EACH_... with that name, */
typedef enum und_places {
    UND_PLACES_BLOCK, /* or a block; */
    UND_PLACES_ROW,
    UND_PLACES_ROW_TOTAL, /* a row, whose total is kept */
    UND_PLACES_CELL,      /* of rows, with those beside */
    UND_PLACES_WORD,
    UND_PLACES_ITEM,
    UND_PLACES_LISTED,   /* one of the set's `count` */
    UND_PLACES_SOME,     /* a block of one item */
    UND_PLACES_PACK,     /* eight of each of the `per_block` items that a block has at most */
    UND_PLACES_SIXTEEN,  /* sixteen of these, of any of three kinds */
    UND_PLACES_EACH,     /* each of the `per_block` items that a block has */
    UND_PLACES_TOGETHER, /* all of a block, by UND_TOGETHER threads that wait for each other in between */
    UND_PLACES_OF_PACK = 8,
    UND_PLACES_OF_SIXTEEN = 16,
    UND_PLACES_KINDS = 3
} und_places;

/* Who does a block together with others: one of so many. */
enum { UND_TOGETHER = 256 };
typedef struct und_together {
    uint32_t thread, threads;
} und_together;
/* What any of them did before is there for all of them behind it. */
UND_INLINE void und_together_wait(void)
{
#ifdef __NVPTX__
    __syncthreads();
#endif
}

typedef struct und_kernel {
    const char *name;
    void (*block)(const void *args, const und_set *set, int block);
    size_t args_size; /* 0: it is for this machine alone */
    und_places places;
    bool finds; /* its arguments are an und_found: what it finds is not in them */
    size_t
        keeps; /* not 0: in its arguments, at that offset less one, where it keeps the most of each block */
} und_kernel;

typedef struct und_found {
    const void *args;
    void *out; /* of each block, or row */
} und_found;

#ifndef UND_KERNEL_STATIC
#define UND_KERNEL_STATIC __attribute__((unused)) static
#endif
#ifdef UND_CARD /* entries for a card, instead of tables */
#include "grid/pass_card.h"
#else
#define UND_KERNEL_TABLE(fn, ...) UND_KERNEL_STATIC const und_kernel fn##_kernel = __VA_ARGS__;
#define UND_KERNEL_TABLE_AXES(fn, ...) UND_KERNEL_STATIC const und_kernel fn##_kernel[3] = {__VA_ARGS__};
#define UND_KERNEL_PLACES(fn, which, args_type, EACH, ...)                                       \
    UND_KERNEL_STATIC void fn##_block##which(const void *args_, const und_set *set_, int block_) \
    {                                                                                            \
        const args_type of_block_ = *(const args_type *)args_;                                   \
        EACH (set_, block_, place_)                                                              \
            fn(&of_block_, place_, ##__VA_ARGS__);                                               \
    }
#define UND_KERNEL_BLOCKS(fn, args_type)
#define UND_KERNEL_TOGETHERS(fn, args_type)
#define UND_KERNEL_ONE(fn, which, args_type, EACH, ...) \
    UND_KERNEL_PLACES(fn, which, args_type, EACH, ##__VA_ARGS__)
#endif

/* What is copied cannot be changed by what a kernel stores: so the compiler keeps it. */
#define UND_KERNEL(fn, args_type, EACH)      \
    typedef args_type fn##_args_of;          \
    UND_KERNEL_PLACES(fn, , args_type, EACH) \
    UND_KERNEL_TABLE(fn, {#fn, fn##_block, sizeof(args_type), EACH##_PLACES, false, 0})

/* The same where a card's threads have each one of the set's `count`: fn##_one(args, number). */
#define UND_KERNEL_LISTED(fn, args_type, EACH) \
    typedef args_type fn##_args_of;            \
    UND_KERNEL_ONE(fn, , args_type, EACH)      \
    UND_KERNEL_TABLE(fn, {#fn, fn##_block, sizeof(args_type), UND_PLACES_LISTED, false, 0})
#define UND_KERNEL_LISTED_AXES(fn, args_type, EACH)                                                     \
    typedef args_type fn##_args_of;                                                                     \
    UND_KERNEL_ONE(fn, _0, args_type, EACH, 0)                                                          \
    UND_KERNEL_ONE(fn, _1, args_type, EACH, 1)                                                          \
    UND_KERNEL_ONE(fn, _2, args_type, EACH, 2)                                                          \
    UND_KERNEL_TABLE_AXES(fn, {#fn "_0", fn##_block_0, sizeof(args_type), UND_PLACES_LISTED, false, 0}, \
                          {#fn "_1", fn##_block_1, sizeof(args_type), UND_PLACES_LISTED, false, 0},     \
                          {#fn "_2", fn##_block_2, sizeof(args_type), UND_PLACES_LISTED, false, 0})

/* The same for each axis, which is then a constant to the compiler: fn(args, place, axis). */
#define UND_KERNEL_AXES(fn, args_type, EACH)                                                        \
    typedef args_type fn##_args_of;                                                                 \
    UND_KERNEL_PLACES(fn, _0, args_type, EACH, 0)                                                   \
    UND_KERNEL_PLACES(fn, _1, args_type, EACH, 1)                                                   \
    UND_KERNEL_PLACES(fn, _2, args_type, EACH, 2)                                                   \
    UND_KERNEL_TABLE_AXES(fn, {#fn "_0", fn##_block_0, sizeof(args_type), EACH##_PLACES, false, 0}, \
                          {#fn "_1", fn##_block_1, sizeof(args_type), EACH##_PLACES, false, 0},     \
                          {#fn "_2", fn##_block_2, sizeof(args_type), EACH##_PLACES, false, 0})

/* One that does a block of a set in its own way, by fn##_block(args, set, block). */
#define UND_KERNEL_BLOCK(fn, args_type) \
    typedef args_type fn##_args_of;     \
    UND_KERNEL_BLOCKS(fn, args_type)    \
    UND_KERNEL_TABLE(fn, {#fn, fn##_block, sizeof(args_type), UND_PLACES_BLOCK, false, 0})

/* One block of one set, by fn##_together(args, set, who), whose parts end with und_together_wait. */
#define UND_KERNEL_TOGETHER(fn, args_type)                                                \
    UND_KERNEL_STATIC void fn##_block(const void *args_, const und_set *set_, int block_) \
    {                                                                                     \
        (void)block_;                                                                     \
        fn##_together(args_, set_, (und_together){0, 1});                                 \
    }                                                                                     \
    typedef args_type fn##_args_of;                                                       \
    UND_KERNEL_TOGETHERS(fn, args_type)                                                   \
    UND_KERNEL_TABLE(fn, {#fn, fn##_block, sizeof(args_type), UND_PLACES_TOGETHER, false, 0})

/* The most over all places: fn(args, place) gives a value for each lane; 0 where there is no place. */
#define UND_KERNEL_MOST(fn, args_type, EACH)    \
    typedef args_type fn##_args_of;             \
    UND_KERNEL_PLACES_MOST(fn, args_type, EACH) \
    UND_KERNEL_TABLE(fn, {#fn, fn##_block, sizeof(args_type), EACH##_PLACES, true, 0})
#ifndef UND_CARD
#define UND_KERNEL_PLACES_MOST(fn, args_type, EACH)                                                     \
    UND_KERNEL_STATIC void fn##_block(const void *args_, const und_set *set_, int block_)               \
    {                                                                                                   \
        const und_found found_ = *(const und_found *)args_;                                             \
        const args_type of_block_ = *(const args_type *)found_.args;                                    \
        und_lanes most_ = {0}, none_ = {0};                                                             \
        EACH (set_, block_, place_)                                                                     \
            most_ = und_lanes_max(                                                                      \
                und_lanes_select(und_lanes_where(place_.which), fn(&of_block_, place_), none_), most_); \
        ((float *)found_.out)[block_] = und_lanes_most(most_); /* of each block: the most in it */      \
    }
#endif
static inline float und_most_of(const float *block, int blocks)
{
    float most = 0;
    for (int i = 0; i < blocks; i++)
        most = block[i] > most ? block[i] : most;
    return most;
}

/* ---- Passes ---- */

typedef struct und_pass {
    const und_kernel *kernel;
    const void *args;
    const und_set *set;
} und_pass;

#define UND_PASS(fn, args, set) ((und_pass){&fn##_kernel, UND_PASS_ARGS(fn, args), set})
#define UND_PASS_AXIS(fn, axis, args, set) ((und_pass){&fn##_kernel[axis], UND_PASS_ARGS(fn, args), set})
#define UND_PASS_ARGS(fn, args) (1 ? (args) : (const fn##_args_of *)0)

/* Nothing, in a chain: the pass behind it may read two slices away what the one before it wrote. */
#define UND_PASS_NONE(set) ((und_pass){&und_pass_none, NULL, set})
extern const und_kernel und_pass_none;

/* All places of a set. */
#define und_pass(device, fn, args, set) und_pass_run(device, &UND_PASS(fn, args, set), 1)

/* Passes that do not depend on each other, at once. */
void und_pass_run(const und_device *device, const und_pass *passes, int count);

/* Passes over slices, one after the other: each may read what those before it wrote in its own slice and in
 * the ones beside it, and writes nothing that the one before it reads further away.  A slice goes through all
 * of them while it is in the cache.  All sets are of und_set_slices. */
enum { UND_PASS_CHAIN = 32 }; /* passes, at most */
void und_pass_chain(const und_device *device, const und_pass *passes, int count);

/* A step: passes that do not depend on each other, or a chain of them. */
typedef struct und_step {
    const und_pass *passes;
    int count;
    bool chain;
    const bool *unless; /* it is left out where steps before have set this; may be NULL; in memory that
                           kernels have (base/pages.h), where a card runs them */
    const und_halo_field *halo; /* what it reads of others' slices, that steps before have written */
    int halos;
} und_step;

/* Of a chain, as und_pass_chain runs it: how many steps that is, `count` at most. */
int und_pass_chain_steps(und_step *steps, const und_pass *passes, int count);

/* Steps one after the other, in one region.  Those that are worth little are done by one thread each. */
void und_pass_steps(const und_device *device, const und_step *steps, int count);

/* The most that kernels find which are made with UND_KERNEL_MOST, at most UND_PASS_MOST of them; `block` has
 * room for the blocks of all sets. */
enum { UND_PASS_MOST = 8 };
float und_pass_most(const und_device *device, const und_pass *passes, int count, float *block);

#endif
