/* What models of water over a ground share: the samples and their places, the start, the volume, and what
 * comes and goes.  Such a model holds a und_height_field, which looks at the model's own water.
 *
 * In order: und_height_field_init; the model makes its arrays and points the height field to them;
 * und_height_field_start_at for each cell; und_height_field_create_sources; und_height_field_close when it
 * ends. */
#ifndef UND_LIQUID_HEIGHT_FIELD_H
#define UND_LIQUID_HEIGHT_FIELD_H

#include "grid/reduce.h"
#include "grid/state.h"
#include "liquid/liquid.h"
#include "spray/rain.h"

#include <undine/height_field.h>

enum { UND_HEIGHT_FIELD_PARTS = 8 }; /* at most, of the state */
/* Numbers of a state's item "touched", which it has where mouse tools did something. */
enum {
    UND_TOUCHED_GROUND, /* it was moved */
    UND_TOUCHED_TUNED,
    UND_TOUCHED_GRAVITY,
    UND_TOUCHED_DAMPING,
    UND_TOUCHED_VISCOSITY,
    UND_TOUCHED_RAIN, /* it was turned: it is what follows, and not the def's */
    UND_TOUCHED_RATE,
    UND_TOUCHED_RADIUS,
    UND_TOUCHED_SPLASH,
    UND_TOUCHED_TOP,
    UND_TOUCHED_SPEED,
    UND_TOUCHED_WIND_X,
    UND_TOUCHED_WIND_Z,
    UND_TOUCHED_FLOOR,
    UND_TOUCHED_CAPACITY,
    UND_TOUCHED_ORDER,
    UND_TOUCHED_COUNT
};
enum { UND_HEIGHT_FIELD_ROW = 64 }; /* rows are padded to a multiple of this */
enum {
    UND_HEIGHT_FIELD_TOOLS = 1 << UND_TOOL_STIR | 1 << UND_TOOL_POUR | 1 << UND_TOOL_DRAIN |
                             1 << UND_TOOL_RAISE | 1 << UND_TOOL_DIG
}; /* what a hand can do */

typedef struct und_height_field_edge {
    int count;          /* of cells along it */
    double *rest_level; /* the water's own level at the start, m */
    double wave_number; /* of the incoming wave, along the edge, 1/m */
    float *slant;       /* of an open one, see height_field_slant.c, m */
    float *slant_rate;  /* its change, m/s */
    float *slant_usual; /* what it was on average of late, m */
    float *tallest;     /* wave of late, m */
    float *left;        /* of its slant, through its ends in the last step, m */
    double *met;        /* of an open one: the level that it met over the step, m */
    double *passed;     /* the flow that left through it, over c, m */
} und_height_field_edge;

typedef struct und_height_field {
    const char *model;               /* "waves", for messages */
    const und_height_field_def *def; /* borrowed */
    und_grid grid;
    int nx, nz, stride, threads;
    und_mac mac;             /* of its cells, where arrays have them: y is 0 */
    und_mac faces[2];        /* of those that have a next one along x, and along z */
    und_set rows, across[2]; /* of both, a row a block */
    und_device device;
    double time;

    /* The model's arrays, borrowed. */
    double *water;       /* the surface's height, or the depth, m */
    const float *floor;  /* what the water counts from, m; NULL: it is the depth */
    const float *ground; /* m */
    float *head;         /* outside pressure as a height of water, m; NULL: none */

    und_rain *rain; /* NULL: none */
    und_height_field_edge edge[UND_EDGES];
    float *slant; /* what the edges have of them, [slant_count]; NULL: none is open */
    size_t slant_count;
    float *along;       /* scratch for the longest of them, see height_field_slant.c */
    double *met;        /* the edges' */
    und_total *row_sum; /* scratch, [nz] */
    und_ledger ledger;
    und_ledger lost; /* by rounding, of each entry */

    void (*dried)(void *context, size_t at); /* told of a cell that lost its last water; NULL: nobody */
    /* Raises the ground of a cell by so much and the water on it with it; false: not this cell. */
    bool (*lift)(void *context, size_t at, double by);
    void *context;

    und_mouse_tool hand;        /* of the step under way or to come; its tool is none where there is none */
    double hand_from, hand_end; /* s; when that step begins and ends */
    int patch[4];               /* cells that the hand presses on: x0, x1, z0, z1, half open */
    bool ground_moved;          /* by a hand: the def does not say what it is */
    bool tuned;                 /* likewise gravity, damping, viscosity or rain */
    bool rain_turned;           /* it: where only the others were, rain keeps its times and its function */
    double touched[UND_TOUCHED_COUNT]; /* as a state keeps it */
    und_height_field_def def_before;   /* where it was tuned: as it was */
    double viscosity_before;
    double *viscosity; /* the model's, m2/s; NULL: it has none */
    int order_before;
    int *order; /* likewise */
} und_height_field;

static inline size_t und_height_field_at(const und_height_field *p, int x, int z)
{
    return und_mac_at(&p->mac, x, 0, z);
}
/* Where a cell's middle is, m. */
static inline double und_height_field_x(const und_height_field *p, int x)
{
    return p->grid.origin[0] + (x + 0.5) * p->grid.dx;
}
static inline double und_height_field_z(const und_height_field *p, int z)
{
    return p->grid.origin[2] + (z + 0.5) * p->grid.dx;
}
static inline double und_height_field_depth(const und_height_field *p, size_t at)
{
    return p->floor ? p->water[at] - (double)p->floor[at] : p->water[at];
}
/* Height of what the water stands on, and of its surface. */
static inline double und_height_field_bottom(const und_height_field *p, size_t at)
{
    return (double)(p->floor ? p->floor : p->ground)[at];
}
static inline double und_height_field_surface(const und_height_field *p, size_t at)
{
    return p->floor ? p->water[at] : (double)p->ground[at] + p->water[at];
}
static inline double und_height_field_cell_area(const und_height_field *p)
{
    return p->grid.dx * p->grid.dx;
}

/* The cell that a place is in, or the nearest. */
int und_height_field_cell_x(const und_height_field *p, double x);
int und_height_field_cell_z(const und_height_field *p, double z);

/* The grid that a def describes. */
und_grid und_height_field_grid(const und_height_field_def *def);

/* Checks the def and sets the grid, where arrays have its cells, and the threads; rows have `beside` cells
 * behind the last at least.  The def must outlive the height field, which stays where it is. */
und_status und_height_field_init(und_height_field *p, const char *model, const und_height_field_def *def,
                                 int beside, und_error *err);
void und_height_field_close(und_height_field *p);

/* Says so at once where the model and a frame of it cannot fit, rather than hours into a run. */
und_status und_height_field_check_memory(const und_height_field *p, size_t bytes_per_cell, und_error *err);
/* Does the def press on the water: does it need a head? */
bool und_height_field_presses(const und_height_field_def *def);

/* A value of the def at a cell at the start; an error where it is no sensible number. */
und_status und_height_field_sample(const und_height_field *p, const und_value *value, const char *what, int x,
                                   int z, double *out, und_error *err);
/* The ground and the surface there, the latter nowhere below the ground. */
und_status und_height_field_start_at(const und_height_field *p, int x, int z, float *ground, double *surface,
                                     und_error *err);

/* After the water stands as it does at the start: edges and rain. */
und_status und_height_field_create_sources(und_height_field *p, und_error *err);

/* Springs, drains, drops, rain, rivers and falls over [time, time + dt). */
void und_height_field_add_sources(und_height_field *p, double dt);
/* The head at time + dt, where there is one. */
void und_height_field_press(und_height_field *p, double dt);

/* A hand, between steps.  `head` is the model's array for pressure, zero unless the def presses; NULL: it has
 * none, and the hand does not stir. */
void und_height_field_touch(und_height_field *p, const und_mouse_tool *hand, double dt, float *head);
/* What of the tuning is the height field's.  The def is the model's own copy. */
void und_height_field_tuning(const und_height_field *p, und_tuning *tuning);
void und_height_field_tune(und_height_field *p, und_height_field_def *def, const und_tuning *tuning);

/* The i-th cell along an edge, and the cell beside it, further in. */
size_t und_height_field_edge_cell(const und_height_field *p, int edge, int i);
size_t und_height_field_inner_cell(const und_height_field *p, int edge, int i);
/* The level outside an open edge, with the wave that comes in and without the slant. */
double und_height_field_outside_level(const und_height_field *p, int edge, int i, double time);
/* The height that the incoming wave has there, m. */
double und_height_field_incoming(const und_height_field *p, int edge, int i, double time);
/* What waves that leave at a slant add to it, m. */
static inline double und_height_field_slant(const und_height_field *p, int edge, int i)
{
    return (double)p->edge[edge].slant[i] - (double)p->edge[edge].slant_usual[i];
}
/* Takes the slants of the edges across an axis, 0: x or 1: z, a step further, from what they met at a time;
 * waves are as fast as water `reach` m deep at most.  What leaves of them through the corners follows when
 * the edges around those have let the water pass.  Or all of it at once. */
void und_height_field_advance_slants(und_height_field *p, int axis, double time, double dt, double reach);
void und_height_field_advance_all_slants(und_height_field *p, double time, double dt, double reach);
void und_height_field_slants_leave(und_height_field *p, int axis, double time, double dt, double reach);

double und_height_field_volume(const und_height_field *p);     /* m3; the same bits at any thread count */
und_ledger und_height_field_ledger(const und_height_field *p); /* with the volume measured now */

/* What a frame shows: a field [nz][nx] from an array of the model (nothing where it is NULL), the surface,
 * and the drops of rain, where there is any. */
und_status und_height_field_frame_field(const und_height_field *p, und_frame *frame, const char *name,
                                        const char *unit, bool is_static, const float *from, und_error *err);
und_status und_height_field_frame_surface(const und_height_field *p, und_frame *frame, und_error *err);
und_status und_height_field_frame_rain(const und_height_field *p, und_frame *frame, und_error *err);

/* The height field's parts of the model's state, after the `count` listed; the new count.  Time and ledger,
 * and the rain: the water is the model's to list. */
/* One of the model's arrays as a part, [nz][stride]; nothing where it is NULL. */
und_state_field und_height_field_part(const und_height_field *p, const char *name, und_type type,
                                      void *array);
int und_height_field_parts(und_height_field *p, und_state_field *list, int count);
int und_height_field_rain_parts(und_height_field *p, und_state_field *list, int count);

/* What mouse tools did: a part only where they did; and back from a state, before its parts are: flags,
 * tuning and rain as they were, or as the def says.  The def is the model's own copy. */
int und_height_field_touched_part(und_height_field *p, und_state_field *list, int count);
und_status und_height_field_restore_touched(und_height_field *p, und_height_field_def *def,
                                            const und_frame *state, und_error *err);
/* The def's ground, where the model has its own. */
und_status und_height_field_sample_ground(const und_height_field *p, float *ground, und_error *err);

#endif
