/* Balls of triangles for tests. */
#ifndef UND_TESTS_BALL_H
#define UND_TESTS_BALL_H

#include "geom/trimesh.h"

#include <stdlib.h>

typedef struct ball {
    und_vec3 *vertex;
    int (*triangle)[3];
    und_trimesh_def def;
} ball;

/* `rings` from pole to pole and twice as many around; without the first `missing` rings. */
static inline ball make_ball(int rings, double radius, und_vec3 center, int missing)
{
    int around = 2 * rings, count = 0, vertices = (rings + 1) * around;
    ball b = {.vertex = malloc((size_t)vertices * sizeof *b.vertex),
              .triangle = malloc(2 * (size_t)(rings * around) * sizeof *b.triangle)};
    assert_true(b.vertex && b.triangle);
    double step = acos(-1) / rings;
    for (int i = 0; i < vertices; i++) {
        int ring = i / around;
        double width = ring == 0 || ring == rings ? 0 : sin(ring * step);
        und_vec3 v =
            und_vec(width * cos(i % around * step), cos(ring * step), width * sin(i % around * step));
        b.vertex[i] = und_add(center, und_mul(v, radius));
    }
    for (int i = missing * around; i < rings * around; i++) {
        int next = i / around * around + (i + 1) % around;
        const int quad[4] = {i, next, next + around, i + around};
        for (int half = 0; half < 2; half++, count++)
            for (int k = 0; k < 3; k++)
                b.triangle[count][k] = quad[(2 * half + k) % 4];
    }
    b.def = (und_trimesh_def){
        .vertex_count = vertices, .triangle_count = count, .vertex = b.vertex, .triangle = b.triangle};
    return b;
}

static inline void free_ball(ball *b)
{
    free(b->vertex);
    free(b->triangle);
}

static inline und_trimesh *ball_mesh(int rings, double radius, und_vec3 center, int missing)
{
    ball b = make_ball(rings, radius, center, missing);
    und_error err = {0};
    und_trimesh *mesh = und_trimesh_create(&b.def, &err);
    if (!mesh)
        fail_msg("%s", err.text);
    free_ball(&b);
    return mesh;
}

#endif
