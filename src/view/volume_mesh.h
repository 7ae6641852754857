/* Triangles as the painter of liquid in space keeps them, and those of a frame's liquid. */
#ifndef UND_VIEW_VOLUME_MESH_H
#define UND_VIEW_VOLUME_MESH_H

#include "stage/paint.h"
#include "view/volume_world.h"

und_status und_triangles_reserve(und_triangles *t, size_t corners, size_t triangles, und_error *err);
/* Adds a corner, for which there is room; the colour is linear, its fourth part the gloss. */
void und_triangles_corner(und_triangles *t, const float place[3], const float normal[3],
                          const float color[4]);
void und_triangles_close(und_triangles *t); /* a triangle of the last three */
void und_triangles_free(und_triangles *t);

/* How far a ray goes to the first; infinite: to none. */
double und_triangles_cast(const und_triangles *t, const double origin[3], const double direction[3]);

typedef struct und_space_mesh_def {
    double into_solids;     /* cells */
    bool coarse;            /* of every other cell */
    const und_paint *paint; /* NULL: none */
    int threads;
} und_space_mesh_def;

und_status und_space_mesh(const und_frame *frame, const und_space_mesh_def *def, und_triangles *skin,
                          und_error *err);

#endif
