/* What the files of the cells' volumes share. */
#ifndef UND_SURFACE_VOLUME_PARTS_H
#define UND_SURFACE_VOLUME_PARTS_H

#include "grid/reduce.h"
#include "surface/volume.h"
#include "surface/volume_film_flow_kernel.h"
#include "surface/volume_layers_kernel.h"
#include "surface/volume_list_kernel.h"
#include "surface/volume_walls_kernel.h"

#include <math.h>
#include <string.h>

/* Scratch; but for `inside` and `own`, nothing goes on from step to step. */
enum { UND_VOLUME_CELLS, UND_VOLUME_LISTED, UND_VOLUME_COUNTS };
enum { UND_VOLUME_TOLD = 256 }; /* of a list: cells, chunks */
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
    uint8_t *told;           /* room for what passes find out for those behind them */
    int32_t *listed;         /* how many: UND_VOLUME_CELLS and UND_VOLUME_LISTED */
    ptrdiff_t around[UND_VOLUME_AROUND]; /* from a cell to each of its neighbours */
    und_volume_chunk *row_chunk;         /* [row][per_row], while the list is made */
    int per_row;
    int32_t *row_count;  /* of each row's part of the list: cells */
    int32_t *row_chunks; /* of the list before each row: chunks; behind the last row too */
    int32_t *block_count, *block_chunks, *together; /* the same of blocks of rows, while the list is made */
    int32_t *row_left;                              /* the same of those that are looked at again */
    uint16_t *wakes; /* [row][per_row], while it is looked which cells the flow goes through */
    float *block_most;
    int64_t *row_sum;
    und_total *row_total;
    int32_t *row_most, most; /* of rows, and of all, as und_volume_sum found it */
    uint8_t *row_films;      /* of rows: whether und_volume_find_films found some */
    uint8_t *row_layers;     /* the same of layers that walls slow down */
} und_volume_parts;

enum { UND_VOLUME_CHUNKS = 128 };

/* What kernels know of it, as it is now: what is borrowed, and where the list is, too. */
und_volume_arrays und_volume_arrays_of(const und_volume *v);

/* What others have of cells, of the surface and of the flow, so many slices beyond one's own; of cells alone;
 * and of rows, all that they have. */
void und_volume_get(const und_volume *v, const und_distance *d, float *const u[3], int reach);
void und_volume_get_cells(const und_volume *v, int reach);
void und_volume_get_rows(const und_volume *v, void *values, size_t size);
/* What films and layers are told by: cells, phi and viscosities. */
void und_volume_get_told(const und_volume *v, const und_distance *d, const und_volume_films *films,
                         int reach);

/* The grid's own cells for which fn (NULL: any) says so, into parts->chunk, of those that `look` (NULL: all)
 * finds. */
void und_volume_list(und_volume *v, und_volume_look_fn *look, und_volume_choose_fn *fn, const void *context);
/* The same by a kernel of its own, which calls und_volume_mark_rows with what it has of
 * und_volume_list_args_of; what all cells hold may be found with it, as und_volume_sum has it. */
und_volume_list_args und_volume_list_args_of(const und_volume *v);
void und_volume_list_by(und_volume *v, und_pass marks);
int64_t und_volume_list_and_sum(und_volume *v, und_pass marks);
/* Room for what passes find of a list; it holds anything. */
static inline und_volume_listed *und_volume_room_for_listed(const und_volume *v)
{
    return (und_volume_listed *)(void *)v->parts->told;
}

/* Its chunks, for passes. */
static inline und_set und_volume_chunks(const und_volume *v)
{
    und_set s = und_set_list(v->parts->chunk, v->parts->listed[UND_VOLUME_LISTED], UND_VOLUME_CHUNKS, 1);
    s.worth = 8 * (size_t)v->parts->listed[UND_VOLUME_CELLS]; /* a cell costs more than one of a plain pass */
    return s;
}

/* The same as steps, of which some may be before and behind; the first five are given. */
typedef struct und_volume_listing {
    und_volume *v;
    und_volume_look_fn *look;
    und_volume_choose_fn *fn;
    const void *context;
    und_pass marks; /* instead; of no set yet */
    bool sums;      /* and others' cells count */
    und_volume_list_args list;
    und_set rows, once, some, each, chunks;
    und_pass pass[4];
    und_halo_field counts;
} und_volume_listing;
enum { UND_VOLUME_LIST_STEPS = 4 };
void und_volume_list_steps(und_volume_listing *l, und_step steps[UND_VOLUME_LIST_STEPS]);

/* Lists that rows have, row_count[] cells each, become one: what is given is of_row, list, first and all, and
 * `sum` where something is summed of all rows, others' too. */
typedef struct und_volume_row_listing {
    und_volume_row_lists lists;
    und_set rows, once;
    und_pass pass[3];
    und_halo_field sums;
} und_volume_row_listing;
enum { UND_VOLUME_LISTING_ROWS = 3 };
void und_volume_list_rows_steps(const und_volume *v, const und_volume_row_lists *lists,
                                und_volume_row_listing *l, und_step steps[UND_VOLUME_LISTING_ROWS]);

/* Solids are put where they come to within a step, and the flow goes over what they leave of faces then: of
 * cells that they pass meanwhile some get too much for it, and their neighbours as much too little.  Those
 * that are marked, inside of the liquid, even that out among themselves, over open faces: the pressure would
 * stir the liquid for it.  Others' phi is there, from und_volume_leave_solids. */
void und_volume_even(und_volume *v, const und_volume_walls *walls, und_pass marks);

void und_volume_get_films(const und_volume *v, const und_distance *d); /* what others have for it */

/* What kernels know of how they run. */
und_volume_film_flow und_volume_film_flow_of(const und_volume_films *films);
#define UND_VOLUME_FILMS(v, phi, row, at) UND_VOLUME_FILMS_OF(v, (v)->parts->row_films, phi, row, at)

/* Of what phi shows too walls at rest slow down layers of up to a few cells, all through: their mean speed is
 * a film's.  So are those that cells hold next to nothing of: what phi says of cells that walls cut may be
 * but the level beside these.  So many steps, which whoever begins does before the end. */
enum { UND_VOLUME_SLOWING = 2 };
typedef struct und_volume_slowing {
    und_volume_layering layers;
    und_set rows;
    und_pass pass[UND_VOLUME_SLOWING];
    und_step step[UND_VOLUME_SLOWING];
} und_volume_slowing;
int und_volume_slow_layers_begin(const und_volume *v, const und_distance *d, const und_volume_walls *walls,
                                 const und_volume_films *films, und_volume_slowing *to);
void und_volume_slow_layers_end(const und_volume *v);

#endif
