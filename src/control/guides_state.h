/* What the files of the control particles share. */
#ifndef UND_CONTROL_GUIDES_STATE_H
#define UND_CONTROL_GUIDES_STATE_H

#include "control/guides.h"

#include <math.h>

/* A particle as it is now, in cells. */
typedef struct guide_now {
    float place[3], radius, half; /* half: of a cylinder's length */
    float normal[3];
    float strength, value[3];
    int32_t group;     /* -1: it reaches no cell */
    int16_t low, high; /* slices that it reaches */
} guide_now;

typedef struct guide_group {
    und_guide_def def;
    int first, now;   /* its particles in its kind's list: the first, and how many now */
    int most;         /* particles in a frame */
    int32_t *link[3]; /* of each in a frame: which it is in the one before, the next and the one after; -1 */
    int linked;       /* the frame for which; -1: none */
    double *fastest;  /* [frame_count]: m/s from each frame to the next */
} guide_group;

/* The particles of one kind, and the cells they act on. */
typedef struct guide_field {
    und_guide_kind kind;
    int capacity; /* 0: there are none */
    guide_now *list;
    int32_t *order; /* by the first slice, then as in the list; such as reach many come last */
    int32_t *block_count;
    int32_t *first; /* [slices + 2]: where in the order a slice's begin */
    int acting;     /* in the order */
    und_guide_cell *cell;
    int32_t (*span)[2];      /* of each row: its cells from .. to that are touched */
    int *row_low, *row_high; /* of each slice: rows that are */
    bool rendered;
    double time, until; /* when, and until when it would be the same */
} guide_field;

struct und_guides {
    und_mac mac;
    int threads, count;
    guide_group *groups;
    guide_field field[UND_GUIDE_KINDS];
    und_mask held;
    bool any_held;
    double *sums; /* [slices + 1][GUIDES_SUMS]: of each slice, that beside the domain first */
};

enum {
    GUIDES_BLOCK = 4096,    /* particles that a thread takes at a time */
    GUIDES_REACH = 8,       /* slices: such as reach more are looked at in each slice */
    GUIDES_MARGIN = 2,      /* cells around shapes that add and erase in which phi follows them */
    GUIDES_TO_SHARE = 2048, /* fewer particles are done by one thread */
    GUIDES_SUMS = 5
};

/* The axis that slices lie across: of a grid one cell deep they are rows. */
static inline int guides_axis(const und_mac *m)
{
    return m->n[2] == 1 ? 1 : 2;
}
static inline int guides_slices(const und_mac *m)
{
    return m->n[guides_axis(m)];
}

/* How far a particle reaches along an axis, in cells. */
static inline double guide_reach(const guide_now *p, int axis)
{
    double n = (double)p->normal[axis], across = 1 - n * n;
    if (p->half < 0)
        return (double)p->radius;
    return (double)p->half * fabs(n) + (double)p->radius * sqrt(across > 0 ? across : 0);
}

/* guides_pose.c: particles of a group as they are at `time`, with the velocity that leads to time + dt. */
und_status und_guide_open_group(guide_group *group, und_error *err);
void und_guide_close_group(guide_group *group);
bool und_guide_acts(const guide_group *group, double time);
/* Until when nothing of it changes; `time` itself where it moves. */
double und_guide_rests(const guide_group *group, double time);
int und_guide_count(const guide_group *group, double time);
void und_guide_link(guide_group *group, double time);
void und_guide_pose(const guide_group *group, const und_mac *mac, double time, double dt, int begin, int end,
                    guide_now *list);

/* guides_splat.c */
void und_guide_render(und_guides *g, guide_field *f, double time, double dt);

/* The cells of row (y, z) that are touched: false where none is, or there is no such row. */
static inline bool guide_row(const und_guides *g, const guide_field *f, int y, int z, int *begin, int *end)
{
    const und_mac *m = &g->mac;
    if (f->capacity == 0 || y < 0 || z < 0 || y >= m->n[1] || z >= m->n[2])
        return false;
    const int32_t *span = f->span[y + m->n[1] * z];
    *begin = span[0];
    *end = span[1];
    return span[0] < span[1];
}

/* What is asked on the face between two cells: the mean of both, weighted by alpha. */
typedef struct guide_face {
    float alpha, value;
    bool hard;
} guide_face;

static inline guide_face guide_face_of(const und_guide_cell *low, const und_guide_cell *high, int axis)
{
    float sum = low->alpha + high->alpha, part = sum > 0 ? high->alpha / sum : 0;
    float from = low->alpha > 0 ? low->value[axis] : high->value[axis];
    float to = high->alpha > 0 ? high->value[axis] : from;
    return (guide_face){0.5F * sum, from + part * (to - from), low->hard + high->hard > 0};
}

/* guides_rows.c: rows of touched cells, or of faces that such cells have, shared out by slices; each slice
 * has GUIDES_SUMS numbers to sum up, which the next such call clears. */
typedef struct guide_work {
    const und_guides *g;
    const guide_field *f;
    und_stream *s;
    const und_stream *flow;
    const und_distance *d;
    const und_solids *solids;
    const und_mask *held;
    const und_guide_state *state;
    float *field;
    uint8_t *touched;
    double dt;
} guide_work;

typedef void guide_face_fn(const guide_work *w, int axis, int y, int z, int begin, int end, double *sum);
typedef void guide_cell_fn(const guide_work *w, int y, int z, int begin, int end, double *sum);
void und_guide_for_faces(const guide_work *w, guide_face_fn *fn);
void und_guide_for_cells(const guide_work *w, guide_cell_fn *fn);
double und_guide_sum(const und_guides *g, int k);
double und_guide_largest(const und_guides *g, int k);

/* How far of the way alpha goes in dt: 1 - alpha is what is left of it after 1/24 s, and that of several
 * steps multiplies, so that their length does not matter. */
float und_guide_way(float alpha, double dt);

#endif
