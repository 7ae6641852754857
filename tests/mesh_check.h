/* What a mesh of loose triangles is: closed, its volume, its area. */
#ifndef UND_TESTS_MESH_CHECK_H
#define UND_TESTS_MESH_CHECK_H

#include "tests/test.h"

typedef struct mesh_edge {
    float from[3], to[3];
    int direction; /* +1 as the triangle goes, -1 against it */
} mesh_edge;

static inline int compare_mesh_edges(const void *a, const void *b)
{
    const mesh_edge *e = a, *f = b;
    const float *p[2] = {e->from, e->to}, *q[2] = {f->from, f->to};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            if (p[i][k] != q[i][k])
                return p[i][k] < q[i][k] ? -1 : 1;
    return 0;
}

static inline int compare_points(const float *p, const float *q)
{
    for (int k = 0; k < 3; k++)
        if (p[k] != q[k])
            return p[k] < q[k] ? -1 : 1;
    return 0;
}

/* How many edges are not those of exactly two triangles, one in each direction. */
static inline long open_edges(const float *position, int triangles)
{
    size_t count = 3 * (size_t)triangles;
    mesh_edge *edges = calloc(count + 1, sizeof *edges);
    assert_non_null(edges);
    for (size_t i = 0; i < count; i++) {
        const float *a = position + 3 * i, *b = position + 3 * (i % 3 == 2 ? i - 2 : i + 1);
        int turned = compare_points(a, b) > 0;
        memcpy(edges[i].from, turned ? b : a, sizeof edges[i].from);
        memcpy(edges[i].to, turned ? a : b, sizeof edges[i].to);
        edges[i].direction = turned ? -1 : 1;
    }
    qsort(edges, count, sizeof *edges, compare_mesh_edges);
    long open = 0;
    for (size_t i = 0, j; i < count; i = j) {
        int sum = 0;
        for (j = i; j < count && compare_mesh_edges(&edges[i], &edges[j]) == 0; j++)
            sum += edges[j].direction;
        open += sum != 0 || j - i != 2;
    }
    free(edges);
    return open;
}

typedef struct mesh_size {
    double volume, area; /* the volume is positive where triangles face outward */
} mesh_size;

static inline mesh_size measure_mesh(const float *position, int triangles)
{
    mesh_size size = {0, 0};
    for (int i = 0; i < triangles; i++) {
        const float *p = position + 9 * (size_t)i;
        double a[3], b[3], cross[3], square = 0, triple = 0;
        for (int k = 0; k < 3; k++) {
            a[k] = (double)p[3 + k] - (double)p[k];
            b[k] = (double)p[6 + k] - (double)p[k];
        }
        for (int k = 0; k < 3; k++) {
            cross[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
            square += cross[k] * cross[k];
            triple += cross[k] * (double)p[k];
        }
        size.area += 0.5 * sqrt(square);
        size.volume += triple / 6;
    }
    return size;
}

#endif
