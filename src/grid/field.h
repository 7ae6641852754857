/* Fields: the arrays of a part.  Each is told in a table, by which they are opened and closed: what numbers
 * it has, where they lie, and how far beyond its own slices of the grid whoever has but a part of that has to
 * know them.  So whoever owns the memory, on this machine, on a device or on several, is asked in one place.
 * Kernels get plain pointers.
 *
 *     enum { AT_CHUNKS = UND_AT_OWN };
 *     static const und_field fields[] = {UND_FIELD(part, phi, UND_AT_CELLS, .halo = UND_HALO_CROSSED),
 *                                        UND_FIELD(part, sum, UND_AT_ROWS), UND_FIELD(part, chunk,
 * AT_CHUNKS)};
 *
 *     und_field_open_all(p, fields, 3, &(und_field_room){.mac = mac, .own = (const size_t[]){chunks}},
 *                        "the part", err)
 */
#ifndef UND_GRID_FIELD_H
#define UND_GRID_FIELD_H

#include "grid/halo.h"

/* Where values lie; the first are as und_mac_carry has them. */
enum {
    UND_AT_FACES_X, /* high faces across x, */
    UND_AT_FACES_Y,
    UND_AT_FACES_Z,
    UND_AT_CELLS,       /* the middles of cells, */
    UND_AT_NODES,       /* their high corners: these all have the grid's layout */
    UND_AT_ROWS,        /* rows of cells inside the domain, */
    UND_AT_ROWS_BESIDE, /* with those beside it */
    UND_AT_OWN          /* and on: what a part counts itself */
};

/* Slices beyond its own whose values its readers look at, at most. */
typedef enum und_halo_width {
    UND_HALO_NONE,    /* none: it is used where it was made, or made there again */
    UND_HALO_BESIDE,  /* UND_HALO_FEW at most: those beside, and one more for differences */
    UND_HALO_CROSSED, /* as many as liquid crosses in a step, there and back */
    UND_HALO_DISTANCE /* as far as distances are known, added up over the passes that make them */
} und_halo_width;

enum { UND_HALO_FEW = 2 };

typedef struct und_field {
    size_t offset; /* of the pointer, in its part */
    und_type type;
    int each; /* so many numbers are a value */
    int at;   /* UND_AT_... */
    und_halo_width halo;
    unsigned when; /* bits: only where the part asks for one of these; 0: always */
    bool sparse;   /* few places will ever be touched: in small pages */
    int with; /* so many that follow it in the list lie in one block with it, each a little more than pages
                 behind the one before: what belongs to one cell is in different lines of the cache */
    float outside; /* of bytes, or floats: what rows that the grid does not have are as if they had; of a
                      block the first one's */
} und_field;

/* UND_FIELD(part, member, at, .halo = ..., .when = ..., .sparse = true) */
#define UND_FIELD(part, member, at_, ...)                                                                    \
    {                                                                                                        \
        .offset = offsetof(part, member), .type = UND_FIELD_TYPE(*((part *)NULL)->member),                   \
        .each = (int)(sizeof *((part *)NULL)->member / UND_FIELD_BYTES(*((part *)NULL)->member)), .at = at_, \
        ##__VA_ARGS__                                                                                        \
    }
/* What is none of these is bytes. */
#define UND_FIELD_TYPE(value) \
    _Generic(value, float : UND_F32, float * : UND_F32, double : UND_F64, int32_t : UND_I32, int32_t * : UND_I32, default : UND_U8)
#define UND_FIELD_BYTES(value) \
    _Generic(value, float : 4, float * : 4, double : 8, int32_t : 4, int32_t * : 4, default : 1)

static inline size_t und_field_size(const und_field *f) /* of a value, bytes */
{
    static const size_t of[] = {[UND_F32] = 4, [UND_F64] = 8, [UND_I32] = 4, [UND_U8] = 1};
    return (size_t)f->each * of[f->type];
}

/* What fields are opened for. */
typedef struct und_field_room {
    const und_mac *mac; /* NULL: all is the part's own */
    size_t spare;       /* values behind the grid's last that are read, but not used */
    const size_t *own;  /* [at - UND_AT_OWN]: how many values */
    unsigned asked;     /* und_field.when */
} und_field_room;

/* All 0, but where the grid does not have all rows (und_mac.present) those of cells their `outside`.  Where
 * memory does not suffice those that were opened are there, to be closed. */
und_status und_field_open_all(void *part, const und_field *list, int fields, const und_field_room *room,
                              const char *what, und_error *err);
/* The same of those that are not open yet. */
und_status und_field_open_more(void *part, const und_field *list, int fields, const und_field_room *room,
                               const char *what, und_error *err);
void und_field_close_all(void *part, const und_field *list, int fields);

/* One of the grid's layout, as it is asked of others: no further than its entry tells. */
und_halo_field und_field_halo(const void *part, const und_field *f, const und_mac *mac, int reach);

#endif
