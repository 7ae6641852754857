/* What the files of the control particles share. */
#ifndef UND_CONTROL_CONTROL_PARTICLES_STATE_H
#define UND_CONTROL_CONTROL_PARTICLES_STATE_H

#include "control/control_particles.h"
#include "grid/pass.h"

#include <math.h>

/* A particle as it is now, in cells of the whole grid: so in a window of it all comes out the same. */
typedef struct control_now {
    float place[3], radius;
    float value[3], strength;
} control_now;

/* What of the places before, next and after a particle makes up its place and velocity; or of the next place
 * and the velocities at both ends. */
typedef struct control_mix {
    double place[3], rate[3];
} control_mix;

/* A def's frames, of which those of a loader are in memory by turns; and what is known of all of them. */
typedef struct control_frame_cache {
    und_control_particle_def def; /* its frames are these: */
    und_control_particle_frame
        *frames; /* a loader's: without pointers where they are not in memory; else NULL */
    void **memory;
    uint64_t *hash; /* of each when it was checked */
    uint8_t *state; /* of each: REEL_ bits */
    int number;     /* of the def, from 1 */
    int low, high;  /* those in memory; none where low is above high */
    int most;       /* particles in a frame, and how fast they are from each to the next, m/s: */
    double *fastest;
    bool looked; /* these are known */
} control_frame_cache;

enum { FRAME_KNOWN = 1, FRAME_HELD = 2, FRAME_VELOCITY = 4 };

/* Of all defs; control particles on several grids may share them. */
typedef struct control_frame_caches {
    int users, count;
    control_frame_cache *frame_cache;
} control_frame_caches;

typedef struct control_group {
    control_frame_cache *frame_cache;
    und_control_particle_def def;
    int first, now;   /* its particles in its kind's list: the first, and how many now */
    int room;         /* in each of these: */
    int32_t *link[3]; /* of each in a frame: which it is in the one before, the next and the one after; -1 */
    int linked;       /* the frame for which; -1: none */
    bool straight;    /* all of these go up one by one, or are -1: from start[] on */
    int32_t start[3];
    /* As it is now: the frame, whether it goes on to the next and how far that is, and splines by which of
     * the frames before and after have the particle, or with velocities. */
    int frame;
    bool moves;
    double part, age;
    double cell; /* 1/m */
    float half;  /* of a cylinder's length, in cells; 0: its radius; below 0: a sphere */
    float bands; /* in a cell */
    control_mix mix[4], led;
} control_group;

/* The particles of one kind, and the cells they act on. */
typedef struct control_field {
    und_control_particle_kind kind;
    int capacity;         /* 0: there are none */
    control_now *now;     /* as the defs have them, one group after the other */
    float (*normal)[3];   /* theirs; NULL where there are only spheres */
    int32_t *list;        /* which of them act, by their piles and then as the defs have them */
    int32_t *pile;        /* of each of them; -1: it reaches no cell */
    int32_t *block_count; /* [blocks][piles] */
    float *block_reach;   /* the farthest of each block that is not large */
    int32_t *block_told;  /* those of each block that reach the whole grid; */
    int told;             /* and of all */
    int32_t *first;       /* [piles + 1]: where in the list a pile begins */
    int acting;           /* in the list */
    int reach;            /* slices, of those that are not large */
    und_control_particle_cell *cell;
    int32_t (*span)[2];      /* of each row: its cells from .. to that are touched */
    int *row_low, *row_high; /* of each slice: rows that are */
    bool rendered;
    double time, until; /* when, and until when it would be the same */
} control_field;

struct und_control_particles {
    und_mac mac;
    int threads, count;
    control_frame_caches *frame_caches;
    control_group *groups;
    control_field field[UND_CONTROL_KINDS];
    und_mask held;
    bool any_held;
    double *sums; /* [slices + 1][CONTROL_SUMS]: of each slice, that beside the domain first */
};

enum {
    CONTROL_SLAB = 8,                   /* slices that a thread takes at a time, or more */
    CONTROL_BANDS = 16,                 /* parts of a slice: their cells stay in the cache */
    CONTROL_BLOCK = 4096,               /* particles that a thread takes at a time */
    CONTROL_BATCH = 128,                /* particles whose splines are followed at a time */
    CONTROL_REACH = 8,                  /* slices: such as reach more are looked at in each slice */
    CONTROL_AROUND = CONTROL_REACH + 1, /* slices around a window's that such as reach it may be in */
    CONTROL_MARGIN = 2,                 /* cells around shapes that add and erase in which phi follows them */
    CONTROL_WORTH = 16,                 /* cells of a plain pass that a particle costs as much as */
    CONTROL_STRETCH = 8,                /* cells, in whole numbers of which rows are touched: a power of 2 */
    CONTROL_SUMS = 5
};

/* The axis that slices lie across: of a grid one cell deep they are rows. */
static inline int control_axis(const und_mac *m)
{
    return m->n[2] == 1 ? 1 : 2;
}
static inline int control_slices(const und_mac *m)
{
    return m->n[control_axis(m)];
}

/* Particles lie in piles, CONTROL_BANDS in each slice by where they are across the whole grid's, and one of
 * large ones. */
static inline int control_piles(const und_mac *m)
{
    return CONTROL_BANDS * (control_slices(m) + 2 * CONTROL_AROUND) + 1;
}
static inline int control_pile_of_slice(int slice)
{
    return CONTROL_BANDS * (slice + CONTROL_AROUND);
}

/* Half of a particle's length, in cells; below 0: a sphere. */
static inline float control_half(const control_group *group, float radius)
{
    return group->half > 0 || group->half < 0 ? group->half : radius;
}

/* control_frame_cache.c */
control_frame_caches *und_control_frame_caches_open(const und_control_particle_def *defs, int count,
                                                    und_error *err);
void und_control_frame_caches_close(control_frame_caches *frame_caches); /* where it was the last user's */
/* Has a loader's frames low .. high in memory and no others; none where low is above high.  UND_FAILED where
 * one is not what it was at first. */
und_status und_control_frame_cache_hold(control_frame_cache *frame_cache, int low, int high, und_error *err);
bool und_control_frame_cache_led(const control_frame_cache *frame_cache,
                                 int frame); /* by velocities to the next one? */

/* control_particles_pose.c */
und_status und_control_particle_open_group(control_group *group, und_error *err);
void und_control_particle_close_group(control_group *group);
/* Looks at all frames, one after the other: how many particles they have, and how fast these are. */
und_status und_control_particle_look(control_group *group, const und_mac *mac, und_error *err);
und_status und_control_particle_fetch(control_group *group, double time, und_error *err);
/* Until when nothing of it changes; `time` itself where it moves. */
double und_control_particle_rests(const control_group *group, double time);
int und_control_particle_count(const control_group *group, double time); /* that act */
/* Sets it as it is at `time`, with velocities that lead to time + dt, and then halfway there: before the
 * others. */
void und_control_particle_set(control_group *group, const und_mac *mac, double time, double dt);
/* Its particles [begin, end) as they are now, which follow each other in the kind's arrays.  count[] of each
 * pile grows, so does the farthest reach of those that are not large, and how many reach the whole grid. */
void und_control_particle_pose(const control_group *group, const und_mac *mac, const control_field *f,
                               int begin, int end, int32_t *count, float *reach, int32_t *told);

/* control_particles_splat.c */
void und_control_particle_render(und_control_particles *g, control_field *f, double time, double dt);

/* The cells of row (y, z) that are touched: false where none is, or there is no such row. */
static inline bool control_row(const und_control_particles *g, const control_field *f, int y, int z,
                               int *begin, int *end)
{
    const und_mac *m = &g->mac;
    if (f->capacity == 0 || y < 0 || z < 0 || y >= m->n[1] || z >= m->n[2])
        return false;
    const int32_t *span = f->span[y + m->n[1] * z];
    const und_span part = und_mac_part(m, y, z);
    *begin = span[0] > part.begin ? span[0] : part.begin;
    *end = span[1] < part.end ? span[1] : part.end;
    return *begin < *end;
}

/* What is asked on the face between two cells: the mean of both, weighted by alpha. */
typedef struct control_face {
    float alpha, value;
    bool hard;
} control_face;

static inline control_face control_face_of(const und_control_particle_cell *low,
                                           const und_control_particle_cell *high, int axis)
{
    float sum = low->alpha + high->alpha, part = sum > 0 ? high->alpha / sum : 0;
    float from = low->alpha > 0 ? low->value[axis] : high->value[axis];
    float to = high->alpha > 0 ? high->value[axis] : from;
    return (control_face){0.5F * sum, from + part * (to - from), low->hard + high->hard > 0};
}

/* control_particles_rows.c: rows of touched cells, or of faces that such cells have, shared out by slices;
 * each slice has CONTROL_SUMS numbers to sum up, which the next such call clears. */
typedef struct control_work {
    const und_control_particles *g;
    const control_field *f;
    und_mac_flow *s;
    const und_mac_flow *flow;
    const und_distance *d;
    const und_solids *solids;
    const und_mask *held;
    const und_control_particle_state *state;
    float *field;
    uint8_t *touched;
    double dt;
} control_work;

typedef void control_face_fn(const control_work *w, int axis, int y, int z, int begin, int end, double *sum);
typedef void control_cell_fn(const control_work *w, int y, int z, int begin, int end, double *sum);
void und_control_particle_for_faces(const control_work *w, control_face_fn *fn);
void und_control_particle_for_cells(const control_work *w, control_cell_fn *fn);
double und_control_particle_sum(const und_control_particles *g, int k);
double und_control_particle_largest(const und_control_particles *g, int k);

/* How far of the way alpha goes in dt: 1 - alpha is what is left of it after 1/24 s, and that of several
 * steps multiplies, so that their length does not matter. */
float und_control_particle_way(float alpha, double dt);

#endif
