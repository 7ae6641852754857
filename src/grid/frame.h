/* Frames: the hub between models (which write them) and the cache, the exporters and the renderer (which
 * read them). */
#ifndef UND_GRID_FRAME_H
#define UND_GRID_FRAME_H

#include <undine/types.h>

und_frame und_frame_empty(int number, double time, und_grid grid);
void und_frame_clear(und_frame *frame); /* frees the items and what they own */
/* Has no items any more, but keeps their memory for those that are added next: frames that are made again and
 * again cost no new pages. */
void und_frame_recycle(und_frame *frame);

size_t und_type_size(und_type type);
size_t und_item_count(const und_item *item); /* number of values */
size_t und_item_bytes(const und_item *item);

/* What a new item is: everything but its data. */
typedef struct und_item_def {
    const char *name, *unit;
    und_kind kind;
    und_type type;
    bool is_static;
    int rank;
    size_t dim[4];
} und_item_def;

/* Adds an item with zeroed data of its own; NULL with the error set where memory ran out. */
und_item *und_frame_add(und_frame *frame, const und_item_def *def, und_error *err);

/* The same of floats that are all `outside` and of which few rows, of so many values each, will be written:
 * each is to be told by und_item_add_row. */
und_item *und_frame_add_rows(und_frame *frame, const und_item_def *def, size_t values, double outside,
                             und_error *err);
/* No row of an item was written so far. */
und_status und_item_keep_rows(und_item *item, size_t values, double outside, und_error *err);
static inline void und_item_add_row(und_item *item, size_t row)
{
    item->rows->bits[row >> 6] |= UINT64_C(1) << (row & 63);
}
/* Whether the first of its values from begin to below end was written; so it is with all up to `*next`. */
bool und_item_written(const und_item *item, size_t begin, size_t end, size_t *next);

/* Adds an item whose data stays the caller's. */
und_item *und_frame_borrow(und_frame *frame, const und_item_def *def, void *data, und_error *err);

/* A field of floats on the grid's cells, or on the faces along an axis (-1: cells), [z][y][x].  *data is NULL
 * where the frame does not have it; UND_FAILED where it does not fit the grid. */
und_status und_frame_field(const und_frame *frame, const char *name, int faces_along, const float **data,
                           und_error *err);

/* Places, [count][3], all of them sane; NULL and 0 where there are none such. */
const float *und_frame_points(const und_frame *frame, const char *name, size_t *count);

/* The domain, m, of which the frame's grid is a window: the item "domain".  False, and nothing set, where it
 * has none: the grid is the domain then. */
bool und_frame_domain(const und_frame *frame, double low[3], double high[3]);

/* Adds a copy of an item, or one whose data stays that item's. */
und_status und_frame_copy_item(und_frame *to, const und_item *item, und_error *err);
und_status und_frame_borrow_item(und_frame *to, const und_item *item, und_error *err);
/* Adds copies of all items to `to`, which then owns them. */
und_status und_frame_copy(const und_frame *from, und_frame *to, und_error *err);

/* Hash of numbers, names, shapes and contents of all items. */
uint64_t und_frame_hash(const und_frame *frame, int threads);

#endif
