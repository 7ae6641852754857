/* What the height-field model keeps, for the files that make up its step. */
#ifndef UND_LIQUID_WAVES_STATE_H
#define UND_LIQUID_WAVES_STATE_H

#include "base/maths.h"
#include "base/stage.h"
#include "geom/motion.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "liquid/floats.h"
#include "liquid/height_field.h"
#include "liquid/waves.h"
#include "liquid/waves_kernel.h"

#include <math.h>

enum {
    STAGE_OBJECTS,
    STAGE_SOURCES,
    STAGE_EDGES,
    STAGE_ROWS,
    STAGE_FLOW_X,
    STAGE_COLUMNS,
    STAGE_FLOW_Z,
    STAGE_PIECES,
    STAGE_CONSERVE,
    STAGE_FILMS,
    STAGE_TRANSPORT,
    STAGE_COUNT
};

struct und_waves {
    und_liquid liquid;
    und_waves_def def;
    und_height_field height_field; /* its water is `height`, which counts from `ground` */
    int words;
    double dt;
    double shallow; /* m; shallower water takes its part of a correction in proportion to its depth */
    und_stage stages[STAGE_COUNT];

    double *height;   /* h, m; equal to the ground where dry */
    float *rise;      /* h(n-1) - h(n-2), m */
    double rise_time; /* the step it belongs to, s; at the start 1, so that the rise is a speed */
    float *ground;    /* b, m, with the submerged part of objects on top of it */
    float *bed;       /* the ground without objects; the same array where there are none */
    float *bare;      /* the bed's, where there are any */
    float *middle;    /* h after the rows less h before them (eq. 19), m */
    float *head;      /* outside pressure as a height of water, m; NULL: nothing ever pressed.  What presses
                         now is the height field's */

    uint64_t *wet;  /* [nz][words]: cells wet before or after the step */
    double *gain;   /* [nz][words]: height that appeared in a word that is plain */
    float *least;   /* [nz][words]: the smallest depth before the step, m */
    uint8_t *plain; /* [nz][words]: all cells wet before and after, none shallow */
    und_waves_run *runs;
    int *first_run;     /* per row */
    int *run_count;     /* per row */
    double *row_inflow; /* per row: height that open edges let in, m */
    int runs_per_row;

    und_waves_edge edge[UND_EDGES];
    double open;    /* first order: what the edges' couplings would make of a metre of level all over, m */
    float *scratch; /* per thread */
    size_t scratch_stride;

    und_body_def *body_defs; /* the def's objects, which are led, and its bodies */
    und_floats floats;

    float *flux_x, *flux_z;   /* through the faces at high x and high z, m2/s; NULL unless wanted */
    float *speed_x, *speed_z; /* of the water at cell centres, m/s */
    float *foam, *dye, *texture_u, *texture_v;
    float *carried; /* scratch of the transport */
};

static inline size_t und_waves_at(const und_waves *s, int x, int z)
{
    return und_height_field_at(&s->height_field, x, z);
}
static inline double und_waves_x(const und_waves *s, int x)
{
    return und_height_field_x(&s->height_field, x);
}
static inline double und_waves_z(const und_waves *s, int z)
{
    return und_height_field_z(&s->height_field, z);
}
static inline double und_waves_depth(const und_waves *s, size_t at)
{
    return s->height[at] - (double)s->ground[at];
}

/* Equation 17's tau for the step under way: 1 - tau is what is kept of the motion. */
double und_waves_kept(const und_waves *s);

/* The stages of a step, in order. */
void und_waves_move_bodies(und_waves *s, double dt);
void und_waves_prepare_edges(und_waves *s, double dt);
void und_waves_rows(und_waves *s);
void und_waves_columns(und_waves *s);
void und_waves_flux_x(und_waves *s);                /* after the rows */
void und_waves_flux_z(und_waves *s);                /* after the columns */
void und_waves_cross_edges(und_waves *s, int axis); /* after the part of the step along it */
void und_waves_find_pieces(und_waves *s);
void und_waves_conserve(und_waves *s);
void und_waves_slow_films(und_waves *s);
void und_waves_transport(und_waves *s);

/* Bodies: waves_objects.c, waves_balls.c. */
und_status und_waves_create_bodies(und_waves *s, und_error *err);
void und_waves_destroy_bodies(und_waves *s);
void und_waves_place_bodies(und_waves *s); /* new ones stand in the water as it is */
void und_waves_see_bodies(und_waves *s);   /* after a restore: as they stood in it when it was saved */
bool und_waves_throw_ball(und_liquid *liquid, const und_ball *ball);
int und_waves_balls_left(const und_liquid *liquid);
void und_waves_ground_bodies(und_waves *s); /* the bed has moved */
/* `moved`: the bed as it is now is not the def's. */
und_status und_waves_restore_bodies(und_waves *s, const und_frame *state, bool moved, und_error *err);

/* Arrays that not every scene has: of these, those that are not there yet are opened, or they are closed. */
enum {
    WAVES_FLOW = 1,
    WAVES_SPEED = 2,
    WAVES_CARRIES = 4,
    WAVES_FOAM = 8,
    WAVES_DYE = 16,
    WAVES_TEXTURE = 32,
    WAVES_HEAD = 64,
    WAVES_BED = 128
};
und_status und_waves_make_room(und_waves *s, unsigned which, und_error *err);
void und_waves_end_room(und_waves *s, unsigned which);

und_status und_waves_create_edges(und_waves *s, und_error *err);
void und_waves_destroy_edges(und_waves *s);
und_status und_waves_start_flow(und_waves *s, und_error *err); /* from the rise at the start */
und_status und_waves_find_flow(und_waves *s, und_error *err);  /* from the rise as it is */
und_status und_waves_need_flow(und_waves *s, und_error *err);  /* room for it, as the order asks */

/* What a frame and a checkpoint hold. */
und_status und_waves_write_frame(und_liquid *liquid, und_frame *frame, und_error *err);
und_status und_waves_save(und_liquid *liquid, und_frame *state, und_error *err);
und_status und_waves_inspect(und_liquid *liquid, und_frame *state, und_error *err);
und_status und_waves_restore(und_liquid *liquid, const und_frame *state, und_error *err);

#endif
