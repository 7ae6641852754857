/* A liquid as the distance to its surface, which rays meet where it changes its sign: within the grid's box,
 * where it is closed flat, and outside of solids. */
#ifndef UND_TRACE_WORLD_LEVEL_H
#define UND_TRACE_WORLD_LEVEL_H

#include "grid/frame.h"
#include "trace/world.h"

#include <stdint.h>

enum { UND_LEVEL_BRICK = 8 /* cells */, UND_LEVEL_MOMENTS = 9 };

/* What a brick of cells between nodes holds of the surface. */
enum { UND_BRICK_PLAIN, UND_BRICK_SURFACE, UND_BRICK_ROOM /* as well as the border of solids */ };

/* Nodes are the cells' centres and two more beyond each wall.  Places in nodes are counted from the first. */
typedef struct und_traced_level {
    int n[3]; /* nodes */
    ptrdiff_t step[3];
    float *phi;                   /* m; negative in the liquid */
    int moments;                  /* of the time that the shutter is open, evenly spaced */
    float *at[UND_LEVEL_MOMENTS]; /* phi at each; the last is `phi`, the frame's */
    float *room;                  /* m; positive where no solid is; NULL: none is */
    double origin[3];
    float per_m[3], cell[3];
    float small;           /* the least of `cell` */
    float reach;           /* m; no way through the box is longer */
    float low[3], high[3]; /* the liquid is closed there, in nodes */
    int bricks[3];
    uint8_t *brick;
    und_grid grid;
    const float *face[3]; /* velocities, the frame's; NULL: not known */
} und_traced_level;

typedef struct und_level_def {
    double into_solids; /* cells that the liquid reaches into solids */
    double below;       /* cells that it goes on below the box's floor, where that stands on something */
    float shutter;      /* s */
    int threads;
} und_level_def;

/* None, with phi NULL, where the frame has no distance; UND_FAILED where an item is not what it should be.
 * The frame's velocities are borrowed. */
und_status und_trace_level_open(und_traced_level *level, const und_frame *frame, const und_level_def *def,
                                und_error *err);
void und_trace_level_close(und_traced_level *level);

/* Makes the moments before the frame's (world_motion.c). */
und_status und_trace_level_move(und_traced_level *level, float shutter, int threads, und_error *err);

typedef struct und_level_hit {
    float t;
    float node[3];
    float time; /* as the ray's */
    int wall;   /* axis of the wall of the box that was met; -1: none */
    bool room;  /* the border of a solid was met */
    bool leaves;
} und_level_hit;

/* The first place between near and far at which the ray gets into or out of the liquid. */
bool und_trace_level_cast(const und_traced_level *level, const und_ray *ray, float near, float far,
                          und_level_hit *hit);

/* Outward normals where the ray met it: of the surface itself, and of a smooth one near it. */
void und_trace_level_normals(const und_traced_level *level, const und_level_hit *hit, f3 dir, f3 *face,
                             f3 *smooth);
f3 und_trace_level_velocity(const und_traced_level *level, f3 place);
bool und_trace_level_within(const und_traced_level *level, f3 place, float time); /* 0 to 1, of the shutter */

#endif
