/* What the column model keeps, for the files that make up its step. */
#ifndef UND_LIQUID_COLUMNS_STATE_H
#define UND_LIQUID_COLUMNS_STATE_H

#include "base/stage.h"
#include "bodies/bodies.h"
#include "liquid/columns.h"
#include "liquid/columns_kernel.h"
#include "liquid/floats.h"
#include "liquid/height_field.h"
#include "spray/spray.h"

enum {
    STAGE_SOURCES,
    STAGE_BODIES,
    STAGE_FLOW,
    STAGE_LIMIT,
    STAGE_VOLUME,
    STAGE_EDGES,
    STAGE_EMIT,
    STAGE_FLY,
    STAGE_COUNT
};

typedef struct und_columns_scratch und_columns_scratch; /* columns_bodies.h */

struct und_columns {
    und_liquid liquid;
    und_columns_def def;
    und_height_field height_field; /* its water is the depth */
    int nx, nz, stride, threads;
    double dt;        /* of the substep */
    double left, end; /* of a step under way: how much is to come, and when it ends, s */
    double closing;   /* share of a gap between body and surface that a substep closes */
    double substep;   /* since the start, a whole number */
    double deepest;   /* water after the last one, m */
    double lowest;    /* ground, m */
    und_pipes pipes;
    int rounds; /* of scaling back, the most so far */
    und_stage stages[STAGE_COUNT];

    /* One column and row beside the grid is there, with endless walls on it, so that no kernel has edges. */
    double *depth; /* V / (dx dz), m (eq. 2) */
    float *ground; /* m */
    float *flow[PIPES];
    float *before[PIPES]; /* the flow before the step, where the mean moves the water; else NULL */
    float *rise;          /* of the surface in the last substep, m/s (eq. 12) */
    float *head;          /* outside pressure as a height of water, m; NULL: nothing ever pressed */
    float *load;          /* E / (rho g), m; NULL: nothing ever presses */
    float *displaced;     /* m of the column that bodies take up below the water's level; NULL: no bodies */
    float *top;           /* the surface as it is seen, m; NULL unless there is spray */
    uint8_t *covered;     /* by a body that drops may hit; NULL unless there are both */
    float *keep;          /* what pipes that overdraw a column keep */
    float *lanes;         /* scratch, per thread */
    float *share_z;       /* per column: of its pipe along z, see und_columns_straight */
    und_columns_row *rows;

    und_floats floats; /* bodies */
    und_columns_scratch *scratch;
    und_spray *spray;
};

static inline size_t und_columns_at(const und_columns *s, int x, int z)
{
    return und_height_field_at(&s->height_field, x, z);
}
static inline double und_columns_x(const und_columns *s, double x) /* of the middle of column x */
{
    return s->height_field.grid.origin[0] + (x + 0.5) * s->height_field.grid.dx;
}
static inline double und_columns_z(const und_columns *s, double z)
{
    return s->height_field.grid.origin[2] + (z + 0.5) * s->height_field.grid.dx;
}
static inline double und_columns_level(const und_columns *s, size_t at) /* as it is seen, m */
{
    return (double)s->ground[at] + s->depth[at] + (s->displaced ? (double)s->displaced[at] : 0);
}

/* How far ahead the pipes see the surface, s. */
float und_columns_ahead(const und_columns *s);

und_column und_columns_column(const und_columns *s, size_t at);

/* dt g / dx^2 times the share that a straight pipe has of the section. */
float und_columns_straight(const und_columns *s, int pipe, int x, int z);

/* What flows along a straight pipe and the diagonals beside it, m2/s. */
double und_columns_pipe_flux(const und_columns *s, int pipe, int x, int z);
/* How fast the water in a straight pipe flows, m/s: Q over the pipe's section. */
double und_columns_pipe_speed(const und_columns *s, int pipe, int x, int z);
/* How fast the water in a column flows along x and z, m/s; no faster than a column a step. */
void und_columns_speed(const und_columns *s, int x, int z, double out[2]);

/* The stages of a substep, in order. */
void und_columns_push(und_columns *s);       /* bodies press on the water, and move */
void und_columns_set_pipes(und_columns *s);  /* for the substep's dt */
void und_columns_flow(und_columns *s);       /* eqs 3 to 6 */
void und_columns_scale_back(und_columns *s); /* eq. 9 */
void und_columns_move_water(und_columns *s); /* eq. 7 */
void und_columns_open_edges(und_columns *s);
void und_columns_emit(und_columns *s); /* eqs 12 to 15 */
void und_columns_fly(und_columns *s);

double und_columns_longest_step(const und_columns *s); /* s; that is stable */

/* Which of the drops first ... meet a body; for und_spray_step. */
void und_columns_meet(void *columns, const und_spray *spray, int first, int count, uint8_t *met);

und_status und_columns_create_bodies(und_columns *s, und_error *err);
bool und_columns_add_ball(und_columns *s, const und_ball *ball); /* between steps */

/* Arrays that not every scene has: those of these that are not there yet. */
enum {
    COLUMNS_MEAN = 1,
    COLUMNS_HEAD = 2,
    COLUMNS_LOAD = 4,
    COLUMNS_BODIES = 8,
    COLUMNS_SPRAY = 16,
    COLUMNS_COVER = 32
};
und_status und_columns_make_room(und_columns *s, unsigned which, und_error *err);

/* A person at it: columns_touch.c. */
void und_columns_touch(und_liquid *liquid, const und_mouse_tool *hand, double dt);
void und_columns_tuning(const und_liquid *liquid, und_tuning *tuning);
void und_columns_tune(und_liquid *liquid, const und_tuning *tuning);
bool und_columns_throw_ball(und_liquid *liquid, const und_ball *ball);
int und_columns_balls_left(const und_liquid *liquid);
bool und_columns_lift(void *columns, size_t at, double by);
/* Before a state's parts are restored: what mouse tools did to it; and after. */
und_status und_columns_restore_touched(und_columns *s, const und_frame *state, und_error *err);
und_status und_columns_follow_touched(und_columns *s, und_error *err);
void und_columns_destroy_bodies(und_columns *s);

/* What a frame and a checkpoint hold. */
und_status und_columns_write_frame(und_liquid *liquid, und_frame *frame, und_error *err);
und_status und_columns_save(und_liquid *liquid, und_frame *state, und_error *err);
und_status und_columns_restore(und_liquid *liquid, const und_frame *state, und_error *err);

#endif
