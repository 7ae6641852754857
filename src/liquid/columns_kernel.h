/* The arithmetic of a pipe.  O'Brien & Hodgins 1995, equations 3 to 6. */
#ifndef UND_LIQUID_COLUMNS_KERNEL_H
#define UND_LIQUID_COLUMNS_KERNEL_H

#include "base/lanes.h"

#include <stdbool.h>

/* A pipe belongs to the column it starts at: one value, so that what leaves one column enters the other
 * (eq. 8). */
enum { PIPE_X, PIPE_Z, PIPE_DOWN, PIPE_UP, PIPES }; /* to (x+1, z), (x, z+1), (x+1, z+1), (x-1, z+1) */

/* What is known of a row of columns. */
typedef struct und_columns_row {
    float fastest;     /* the largest |flow| of its pipes, m/s */
    float quickest;    /* the fastest rise, m/s; 0 at least */
    double shallowest; /* m */
    double deepest;    /* m */
    bool pressed;      /* something presses on it */
    bool tight;        /* its pipes might take more than a column has */
    bool judged;       /* in the round of scaling back under way */
    bool scaled;       /* a column of it scales its pipes back */
} und_columns_row;

/* What all pipes have in common in a step. */
typedef struct und_pipes {
    float straight, diagonal; /* dt g / dx^2 times the share of the section, 1/(m s) */
    float beside; /* what a straight pipe along a wall has besides: the wall mirrors the diagonals */
    float kept;   /* of the flow, after damping */
    float reach;  /* m; how deep a pipe goes at most */
} und_pipes;

static const float UND_FILM = 1e-9f; /* m; thinner water does not flow */

/* A column as its pipes see it. */
typedef struct und_column {
    double top; /* of the water, m; kept apart from the depth, so that level water is level over any ground */
    float depth; /* m */
    float ground;
    float load; /* outside pressure as a head of water, m */
} und_column;

/* The same of UND_LANES. */
typedef struct und_columns_few {
    und_doubles top[UND_HALVES];
    und_lanes depth, ground, load;
} und_columns_few;

/* How deep the water in the pipe between two columns is, m.  The paper's columns stand on level ground and
 * all pipes are alike; here the pipe is as deep as the mean of its columns, so that waves run at sqrt(g d)
 * over any ground, and no more than twice what stands above the sill between them: a dry ledge is a wall. */
#define UND_PIPE_DEPTH(name, column, real, less, more)                                         \
    UND_INLINE real name(const column *a, const column *b, real reach)                         \
    {                                                                                          \
        const real fall = a->ground - b->ground, mean = 0.5f * (a->depth + b->depth);          \
        const real above =                                                                     \
            more(less(a->depth, a->depth + fall), less(b->depth, b->depth - fall)); /* sill */ \
        return less(less(mean, 2 * above), reach);                                             \
    }
UND_INLINE float und_pipe_less(float a, float b)
{
    return a < b ? a : b;
}
UND_INLINE float und_pipe_more(float a, float b)
{
    return a > b ? a : b;
}
UND_PIPE_DEPTH(und_pipe_depth, und_column, float, und_pipe_less, und_pipe_more)
UND_PIPE_DEPTH(und_pipe_depths, und_columns_few, und_lanes, und_lanes_min, und_lanes_max)

/* The flow from a to b after the step, as the speed at which it lowers column a, m/s: Q / (dx dz).
 * `share` is dt g / dx^2 times the pipe's share of the section. */
UND_INLINE und_lanes und_pipe_flow(und_lanes flow, const und_columns_few *a, const und_columns_few *b,
                                   und_lanes share, const und_pipes *p)
{
    und_doubles step[UND_HALVES];
    for (int k = 0; k < UND_HALVES; k++)
        step[k] = a->top[k] - b->top[k];
    const und_lanes depth = und_pipe_depths(a, b, und_lanes_all(p->reach)),
                    moved = p->kept * flow +
                            share * depth * (und_lanes_of_doubles(step) + (a->load - b->load)), /* eqs 5, 6 */
        size = und_lanes_select(moved < 0, -moved, moved);
    return und_lanes_select((depth > UND_FILM) & (size > 1e-30f), moved,
                            (und_lanes){0}); /* denormal numbers are slow */
}

#endif
