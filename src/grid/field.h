/* Fields: the arrays of a part, so many values for each cell of a grid (or high face across an axis), for
 * each of its rows, or whatever else the part counts.  A part has them in one table, by which they are opened
 * and closed: whoever owns the memory, on this machine or a device, is asked in one place.  Kernels get plain
 * pointers.
 *
 *     enum { AT_CELLS, AT_ROWS };
 *     static const und_field fields[] = {UND_FIELD_AT(part, phi, AT_CELLS), UND_FIELD_AT(part, sum,
 * AT_ROWS)};
 *
 *     und_field_open_all(p, fields, 2, (const size_t[]){mac->count, rows}, 0, "the part", err)
 */
#ifndef UND_GRID_FIELD_H
#define UND_GRID_FIELD_H

#include <undine/types.h>

typedef struct und_field {
    size_t offset; /* of the pointer, in its part */
    size_t size;   /* of a value, bytes */
    int at;        /* what there is one for */
    unsigned when; /* bits: only where the part asks for one of these; 0: always */
    bool sparse;   /* few places will ever be touched: in small pages */
    int with; /* so many that follow it in the list lie in one block with it, each a little more than pages
                 behind the one before: what belongs to one cell is in different lines of the cache */
    float outside; /* of a whole number, or a float: what rows that the grid does not have are as if they had;
                      of a block the first one's */
} und_field;

/* UND_FIELD_AT(part, member, at, .when = ..., .sparse = true) */
#define UND_FIELD_AT(part, member, at_, ...)                                                               \
    {                                                                                                      \
        .offset = offsetof(part, member), .size = sizeof *((part *)NULL)->member, .at = at_, ##__VA_ARGS__ \
    }

/* All 0, but where the grid does not have all rows (und_mac.present) those of cells their `outside`;
 * count[at] values each.  Where memory does not suffice those that were opened are there, to be closed. */
und_status und_field_open_all(void *part, const und_field *list, int fields, const size_t *count,
                              unsigned asked, bool sparse, const char *what, und_error *err);
void und_field_close_all(void *part, const und_field *list, int fields);

#endif
