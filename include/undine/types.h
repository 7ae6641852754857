/* Undine: the types that every part shares.  SI units, right-handed axes, y up. */
#ifndef UNDINE_TYPES_H
#define UNDINE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What became of a call.  The values are the program's exit codes. */
typedef enum und_status {
    UND_OK = 0,
    UND_FAILED = 1,   /* the environment said no: disk, memory, a damaged file */
    UND_INVALID = 2,  /* the input is wrong; the text says where and what was expected */
    UND_STOPPED = 130 /* asked to stop; what was written is valid */
} und_status;

typedef struct und_error {
    und_status status;
    char text[2048];
} und_error;

/* A place and time dependent number: a constant, or a function with its context. */
typedef double und_value_fn(const void *context, double x, double y, double z, double t);

typedef struct und_value {
    double number;    /* the value where fn is NULL */
    und_value_fn *fn; /* called from one thread at a time */
    const void *context;
    bool uniform; /* fn's result is the same everywhere: it may be asked once for a time */
} und_value;

/* A vector that depends on time: a camera's eye, a sun's direction. */
typedef void und_vector_fn(const void *context, double t, double out[3]);

typedef struct und_vector {
    double constant[3];
    und_vector_fn *fn;
    const void *context;
} und_vector;

/* A uniform grid of cells.  A two-dimensional one is one cell deep: a height field over the
 * x-z plane has n[1] == 1, a curve has n[2] == 1 too.  Cells are stored with x fastest, then y, then z. */
typedef struct und_grid {
    int n[3];
    double dx;        /* metres along x */
    double dy, dz;    /* along y and z; 0: cells are cubes */
    double origin[3]; /* the low corner of cell (0, 0, 0) */
} und_grid;

enum { UND_LOW_X, UND_HIGH_X, UND_LOW_Z, UND_HIGH_Z, UND_EDGES }; /* of a height field */
enum { UND_SIDES = 6 }; /* of a grid: low x, high x, low y, high y, low z, high z */

/* A frame is a bag of named things at one instant. */
typedef enum und_kind {
    UND_FIELD,     /* values at cell centres: [z][y][x], or [z][x] for a height field */
    UND_FACES,     /* values on faces, one more than cells along the component's axis */
    UND_PARTICLES, /* [count] or [count][3] */
    UND_BODIES,    /* [count][k] */
    UND_NUMBERS
} und_kind;

typedef enum und_type { UND_F32, UND_F64, UND_I32, UND_U8 } und_type;

/* Of an item only some rows of so many values each were written, bit i of bits: the i-th; all values of the
 * others are `outside`, and in memory that is not touched. */
typedef struct und_item_rows {
    size_t values;
    double outside;
    uint64_t bits[];
} und_item_rows;

typedef struct und_item {
    char name[48]; /* "surface", "rain/position" */
    char unit[16]; /* "m", "m/s", "1" */
    und_kind kind;
    und_type type;
    bool is_static; /* the same in every frame: the cache keeps it once */
    bool borrowed;  /* data belongs to somebody else */
    int rank;
    size_t dim[4]; /* slowest first */
    void *data;
    und_item_rows *rows; /* the item's own; NULL: all were written */
    bool paged;          /* data is of und_pages_alloc_of */
} und_item;

/* Size of a cell along an axis, m. */
static inline double und_grid_size(const und_grid *grid, int axis)
{
    double size[3] = {grid->dx, grid->dy, grid->dz};
    return size[axis] > 0 ? size[axis] : grid->dx;
}

typedef struct und_frame {
    int number;
    double time; /* seconds */
    und_grid grid;
    int count, capacity;
    int spares; /* items after the last that are gone, but whose memory may serve new ones */
    und_item *items;
} und_frame;

const und_item *und_frame_find(const und_frame *frame, const char *name); /* NULL: not there */

/* Every drop accounted for, in cubic metres since the start:
 * start + sources - drains - left - spray_out + spray_back + correction = measured, up to rounding. */
typedef struct und_ledger {
    double start;
    double sources; /* springs, rivers, rain that has landed, edges that let water in */
    double drains;
    double left; /* gone through open edges (negative: came in) */
    double spray_out, spray_back;
    double correction; /* what a scheme had to add (+) or remove (-) that no physics explains */
    double measured;   /* the sum over the cells now */
} und_ledger;

/* The time spent in a named stage of the step. */
typedef struct und_stage {
    const char *name;
    double seconds;
    long calls;
} und_stage;

#ifdef __cplusplus
}
#endif

#endif
