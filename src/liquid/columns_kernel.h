/* The arithmetic of a pipe.  O'Brien & Hodgins 1995, equations 3 to 6. */
#ifndef UND_LIQUID_COLUMNS_KERNEL_H
#define UND_LIQUID_COLUMNS_KERNEL_H

/* Inline, unlike the library's. */
static inline float und_pipe_less(float a, float b)
{
    return a < b ? a : b;
}
static inline float und_pipe_more(float a, float b)
{
    return a > b ? a : b;
}

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

/* How deep the water in the pipe between two columns is, m.  The paper's columns stand on level ground and
 * all pipes are alike; here the pipe is as deep as the mean of its columns, so that waves run at sqrt(g d)
 * over any ground, and no more than twice what stands above the sill between them: a dry ledge is a wall. */
static inline float und_pipe_depth(und_column a, und_column b, float reach)
{
    float fall = a.ground - b.ground, mean = 0.5f * (a.depth + b.depth);
    float above = und_pipe_more(und_pipe_less(a.depth, a.depth + fall),
                                und_pipe_less(b.depth, b.depth - fall)); /* top - sill */
    return und_pipe_less(und_pipe_less(mean, 2 * above), reach);
}

/* The flow from a to b after the step, as the speed at which it lowers column a, m/s: Q / (dx dz).
 * `share` is dt g / dx^2 times the pipe's share of the section. */
static inline float und_pipe_flow(float flow, und_column a, und_column b, float share, const und_pipes *p)
{
    float depth = und_pipe_depth(a, b, p->reach);
    float moved =
        p->kept * flow + share * depth * ((float)(a.top - b.top) + (a.load - b.load)); /* eqs 5, 6 */
    float size = moved < 0 ? -moved : moved;
    return depth > UND_FILM && size > 1e-30f ? moved : 0; /* denormal numbers are slow */
}

#endif
