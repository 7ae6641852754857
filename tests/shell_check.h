/* What an indexed mesh is: closed and manifold, its Euler characteristic, its volume. */
#ifndef UND_TESTS_SHELL_CHECK_H
#define UND_TESTS_SHELL_CHECK_H

#include "tests/test.h"

#include "geom/shell.h"

typedef struct shell_edge {
    int32_t from, to; /* as the triangle goes */
    int32_t opposite;
} shell_edge;

static inline int compare_shell_edges(const void *a, const void *b)
{
    const shell_edge *e = a, *f = b;
    return e->from != f->from ? (e->from > f->from) - (e->from < f->from) : (e->to > f->to) - (e->to < f->to);
}

typedef struct shell_size {
    double volume, area;
    long euler;  /* vertices - edges + triangles: 2 less a handle's 2 for each part */
    long broken; /* edges that are not of two triangles, one in each direction; vertices with no or several
                    rings of triangles */
} shell_size;

static inline const shell_edge *find_shell_edge(const shell_edge *edges, size_t count, int32_t from,
                                                int32_t to)
{
    shell_edge key = {from, to, 0};
    return bsearch(&key, edges, count, sizeof key, compare_shell_edges);
}

/* Around a vertex: from an edge to the next until it comes back; that must have been all of them. */
static inline bool one_ring(const shell_edge *edges, size_t count, const shell_edge *first, size_t degree)
{
    const shell_edge *at = first;
    for (size_t k = 0; k < degree; k++) {
        at = find_shell_edge(edges, count, first->from, at->opposite);
        if (!at)
            return false;
        if (at == first)
            return k == degree - 1;
    }
    return false;
}

static inline shell_edge *shell_edges(const und_shell *s)
{
    size_t count = 3 * (size_t)s->triangle_count;
    shell_edge *edges = calloc(count + 1, sizeof *edges);
    assert_non_null(edges);
    for (size_t i = 0; i < count; i++) {
        const int32_t *v = s->triangle + i - i % 3;
        edges[i] = (shell_edge){v[i % 3], v[(i + 1) % 3], v[(i + 2) % 3]};
        assert_in_range(v[i % 3], 0, s->vertex_count - 1);
    }
    qsort(edges, count, sizeof *edges, compare_shell_edges);
    return edges;
}

static inline shell_size measure_shell(const und_shell *s)
{
    size_t count = 3 * (size_t)s->triangle_count;
    shell_edge *edges = shell_edges(s);
    shell_size size = {.euler = (long)s->vertex_count - (long)count / 2 + s->triangle_count};
    long seen = 0;
    for (size_t i = 0, j; i < count; i = j) {
        for (j = i; j < count && edges[j].from == edges[i].from; j++)
            size.broken += (j > i && edges[j].to == edges[j - 1].to) || edges[j].from == edges[j].to ||
                           !find_shell_edge(edges, count, edges[j].to, edges[j].from);
        size.broken += !one_ring(edges, count, &edges[i], j - i);
        seen++;
    }
    size.broken += s->vertex_count - seen;
    for (int t = 0; t < s->triangle_count; t++) {
        double p[3][3], cross[3], square = 0;
        for (int i = 0; i < 3; i++)
            for (int k = 0; k < 3; k++)
                p[i][k] = (double)s->position[3 * s->triangle[3 * t + i] + k];
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            cross[k] = (p[1][u] - p[0][u]) * (p[2][v] - p[0][v]) - (p[1][v] - p[0][v]) * (p[2][u] - p[0][u]);
            square += cross[k] * cross[k];
            size.volume += cross[k] * p[0][k] / 6;
        }
        size.area += 0.5 * sqrt(square);
    }
    free(edges);
    return size;
}

#endif
