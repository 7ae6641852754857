/* Velocities of faces at walls and in them, from lists.  Foster & Metaxas 1996, sections 3.2.1 and 3.2.2. */
#ifndef UND_FLOW_MARKER_FLOW_WALLS_KERNEL_H
#define UND_FLOW_MARKER_FLOW_WALLS_KERNEL_H

#include "flow/marker_flow_parts.h"

typedef struct und_walls_args {
    double *u[3];
    const und_wall_face *face;
    const und_ghost *ghost;
    const und_mirror *mirror;
} und_walls_args;

/* Across walls; outflows go on from where they are. */
UND_INLINE void und_walls_across(const und_walls_args *a, und_place p)
{
    for (const und_wall_face *w = a->face + p.at; w < a->face + p.at + p.x; w++)
        if (w->kind != UND_WALL_OUTFLOW)
            a->u[w->axis][w->at] = w->value;
}
UND_KERNEL(und_walls_across, und_walls_args, UND_EACH_BLOCK)

/* Inside walls: the mean of what the faces beside should see. */
UND_INLINE void und_walls_inside(const und_walls_args *a, und_place p)
{
    for (const und_ghost *g = a->ghost + p.at; g < a->ghost + p.at + p.x; g++) {
        double sum = 0;
        for (size_t k = g->first; k < g->first + g->count; k++)
            sum += a->mirror[k].scale * a->u[g->axis][a->mirror[k].user] + a->mirror[k].offset;
        a->u[g->axis][g->at] = sum / g->count;
    }
}
UND_KERNEL(und_walls_inside, und_walls_args, UND_EACH_BLOCK)

#endif
