/* Rigid things as frames hold them for the renderer: their triangles once, and where they are in each frame.
 */
#ifndef UND_BODIES_MESHES_H
#define UND_BODIES_MESHES_H

#include "geom/mesh.h"
#include "grid/frame.h"

#include <undine/bodies.h>

/* The triangles of all things, one thing after the other.  Made at create; zeroed is empty. */
typedef struct und_meshes {
    int count;       /* things */
    int capacity;    /* of corners */
    int32_t *first;  /* [count + 1]: first corner of each thing; three corners a triangle */
    float *position; /* [corners][3], m, about the thing's centre and in its axes */
    float *color;    /* [corners][3], linear */
    bool changes;    /* things are added while frames are made: they do not stay as they are */
} und_meshes;

/* Adds a thing's triangles; `center` is in the shape's own coordinates.  The colour is und_soup_paint's. */
und_status und_meshes_add(und_meshes *meshes, const und_shape *shape, und_vec3 center, const float color[3],
                          und_error *err);
void und_meshes_destroy(und_meshes *meshes);

/* Adds what never changes (unless told so), "bodies/mesh_position" and "bodies/mesh_color" [corners][3] and
 * "bodies/mesh_first" [count + 1], borrowed from the meshes; and of the things' states, each `stride` bytes
 * after the one before, "bodies/position" [count][3] (the centre), "bodies/rotation" [count][4] (w first),
 * "bodies/velocity" (of the centre) and "bodies/spin" [count][3].  Nothing where there are no things. */
und_status und_meshes_frame(const und_meshes *meshes, const und_body_state *states, size_t stride,
                            und_frame *frame, und_error *err);

#endif
