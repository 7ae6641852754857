/* The nodes that a floating body is made of, and the boxes that Solid cells are. */
#ifndef UND_BODIES_HULL_H
#define UND_BODIES_HULL_H

#include "bodies/flow_sample.h"
#include "geom/shape.h"

typedef struct und_node {
    und_vec3 at;   /* from the centre of mass, own coordinates */
    double volume; /* m3 */
} und_node;

typedef struct und_hull {
    int count;
    und_node *nodes;
    und_vec3 half; /* half the size of the lattice's cells, own coordinates */
} und_hull;

/* `across` nodes along the longest edge; together they have the volume given, and their centre is at `middle`
 * from the centre of mass. */
und_status und_hull_open(und_hull *hull, const und_shape *shape, double volume, und_vec3 middle, int across,
                         und_error *err);
void und_hull_close(und_hull *hull);

/* Solid cells as few boxes. */
typedef struct und_blocks {
    int count, limit;
    und_bounds *boxes;
    uint8_t *taken; /* scratch, one per cell */
} und_blocks;

und_status und_blocks_open(und_blocks *blocks, const und_flow_sample_grid *g, und_error *err);
void und_blocks_close(und_blocks *blocks);
/* Allocates only where more boxes are needed than ever before. */
und_status und_blocks_make(und_blocks *blocks, const und_flow_sample_grid *g, const uint8_t *label,
                           und_error *err);

#endif
