/* What floating bodies feel of a frame: where the liquid is, its velocity and the slope of its pressure, at
 * any place. */
#ifndef UND_BODIES_FLOW_SAMPLE_H
#define UND_BODIES_FLOW_SAMPLE_H

#include "geom/vec.h"
#include "grid/frame.h"

#include <undine/walls.h>

/* What the frames of a flow have in common. */
typedef struct und_flow_sample_grid {
    int n[3];
    double d[3], origin[3];
    double gravity[3], density;
    bool has_surface; /* heights track the liquid */
    int threads;
    uint8_t *mark[2]; /* scratch: which values are known, before and after a pass */
} und_flow_sample_grid;

/* One frame: items as they are in it, and what is made of them. */
typedef struct und_flow_sample {
    double time;
    uint8_t *label;
    float *pressure, *velocity[3];
    float *surface, *ground; /* where heights track the liquid */
    bool pressed;            /* there is pressure in Full cells: the flow has made a step */
    float *slope[3];         /* of the pressure on faces, Pa/m, and some cells beyond the liquid */
    float *level;            /* [nz][nx] the surface's height, m; else [nz][ny + 2][nx], a layer below the
                                floor and one above: 1 in the liquid, 1/2 in Surface cells, 0 in the air */
} und_flow_sample;

/* One of the arrays that a frame gives. */
typedef struct und_flow_sample_part {
    const char *item;  /* in a frame */
    const char *saved; /* in a checkpoint */
    und_type type;
    int rank;
    size_t dim[3];
    void *data;
} und_flow_sample_part;

enum { UND_FLOW_SAMPLE_PARTS = 7 };

/* Their number: the surface's are there only where heights track the liquid. */
int und_flow_sample_parts(const und_flow_sample_grid *g, const und_flow_sample *sample,
                          und_flow_sample_part list[UND_FLOW_SAMPLE_PARTS]);

und_status und_flow_sample_grid_open(und_flow_sample_grid *g, const und_frame *frame, und_error *err);
void und_flow_sample_grid_close(und_flow_sample_grid *g);
und_status und_flow_sample_open(und_flow_sample *sample, const und_flow_sample_grid *g, und_error *err);
void und_flow_sample_close(und_flow_sample *sample);

/* Takes over the items of a frame, and makes the rest of them. */
und_status und_flow_sample_load(und_flow_sample *sample, const und_flow_sample_grid *g,
                                const und_frame *frame, und_error *err);
void und_flow_sample_make(und_flow_sample *sample, const und_flow_sample_grid *g);
/* Where a frame is from before the flow's first step, and has no pressure yet, that of the next counts. */
void und_flow_sample_press(und_flow_sample *sample, const und_flow_sample *next,
                           const und_flow_sample_grid *g);

/* How far a place is below the surface, m (negative: above), `share` of the way from one frame to another. */
double und_flow_sample_depth(const und_flow_sample_grid *g, const und_flow_sample *from,
                             const und_flow_sample *to, double share, und_vec3 at);
/* The slope of the pressure and the velocity. */
void und_flow_sample_flow(const und_flow_sample_grid *g, const und_flow_sample *from,
                          const und_flow_sample *to, double share, und_vec3 at, und_vec3 *slope,
                          und_vec3 *velocity);

#endif
