/* Inside a mesh of triangles: what trimesh_build.c makes and trimesh.c walks through. */
#ifndef UND_GEOM_TRIMESH_TREE_H
#define UND_GEOM_TRIMESH_TREE_H

#include "geom/trimesh.h"

#include <stdatomic.h>

enum {
    TREE_WIDTH = 8,
    LEAF_MAX = 2,
    /* Splits by cost, then by number: no path is longer than DEPTH_BY_COST + 20 nodes, as a mesh has no more
     * than 2^20 triangles, and a walk leaves at most TREE_WIDTH - 1 nodes of each level waiting. */
    DEPTH_BY_COST = 20,
    TREE_STACK = (TREE_WIDTH - 1) * (DEPTH_BY_COST + 20) + TREE_WIDTH
};

/* Boxes side by side.  Each holds a node (count 0) or `count` triangles from `child` on.  A box that is
 * not used has a half of minus infinity. */
typedef struct tree_node {
    float middle[3][TREE_WIDTH], half[3][TREE_WIDTH];
    int child[TREE_WIDTH], count[TREE_WIDTH];
} tree_node;

typedef struct tree_triangle {
    double corner[3][3]; /* relative to the mesh's middle */
} tree_triangle;

struct und_trimesh {
    atomic_int holders;
    int triangle_count, node_count;
    long open_edges;
    double volume;
    und_vec3 middle; /* of its bounds */
    und_vec3 half;
    tree_triangle *triangle;
    float (*color)[3]; /* [3 * triangle_count], or NULL */
    tree_node *node;   /* the first is the root */
};

#endif
