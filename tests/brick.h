/* A body of triangles that several tests use. */
#ifndef UND_TESTS_BRICK_H
#define UND_TESTS_BRICK_H

#include "tests/test.h"

#include "geom/trimesh.h"

/* A brick of triangles, 0.6 x 0.4 x 0.5 m, with a corner at its own origin. */
static inline und_trimesh *brick(void)
{
    und_vec3 vertex[8];
    for (int i = 0; i < 8; i++)
        vertex[i] = und_vec(i & 1 ? 0.6 : 0, i & 2 ? 0.4 : 0, i & 4 ? 0.5 : 0);
    static const int triangle[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                                        {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};
    und_trimesh_def mesh = {.vertex_count = 8, .triangle_count = 12, .vertex = vertex, .triangle = triangle};
    und_error err = {0};
    und_trimesh *made = und_trimesh_create(&mesh, &err);
    if (!made)
        fail_msg("%s", err.text);
    return made;
}

#endif
