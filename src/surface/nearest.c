#include "surface/nearest.h"

#include "base/parallel.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAF = 8, SHARED = 6 /* levels of the tree that are made one by one */, PARALLEL = 4096 };

/* While the tree is made: points by number, not moved. */
typedef struct maker {
    const float *points;
    int32_t *id;
    uint8_t *axis;
} maker;

static float along(const maker *m, int32_t id, int axis)
{
    return m->points[3 * (size_t)id + (size_t)axis];
}

/* Points at the same place along the axis are told apart by their numbers. */
static bool before(const maker *m, int32_t a, int32_t b, int axis)
{
    float pa = along(m, a, axis), pb = along(m, b, axis);
    return pa < pb || (pa == pb && a < b);
}

static int widest_axis(const maker *m, int begin, int end)
{
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = begin; i < end; i++)
        for (int a = 0; a < 3; a++) {
            float p = along(m, m->id[i], a);
            low[a] = p < low[a] ? p : low[a];
            high[a] = p > high[a] ? p : high[a];
        }
    int axis = high[1] - low[1] > high[0] - low[0];
    return high[2] - low[2] > high[axis] - low[axis] ? 2 : axis;
}

static void swap(int32_t *id, int i, int j)
{
    int32_t kept = id[i];
    id[i] = id[j];
    id[j] = kept;
}

/* Hoare's selection: the middle of the range is then where it would be if all were sorted. */
static void select_middle(const maker *m, int begin, int end, int middle, int axis)
{
    int32_t *id = m->id;
    for (int low = begin, high = end - 1; low < high;) {
        int32_t pivot = id[low + (high - low) / 2];
        int i = low, j = high;
        while (i <= j) {
            while (before(m, id[i], pivot, axis))
                i++;
            while (before(m, pivot, id[j], axis))
                j--;
            if (i <= j)
                swap(id, i++, j--);
        }
        if (middle <= j)
            high = j;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

/* The range of a node: the digits of its number, from the top one on, choose halves. */
static void node_range(int count, int level, int node, int *begin, int *end)
{
    *begin = 0;
    *end = count;
    for (int bit = level - 1; bit >= 0 && *end - *begin > LEAF; bit--) {
        int middle = *begin + (*end - *begin) / 2;
        if (node >> bit & 1)
            *begin = middle + 1;
        else
            *end = middle;
    }
}

/* A range that ends as a leaf above its level is met by several nodes; it has nothing left to do. */
static void split_node(const maker *m, int begin, int end, bool deeper)
{
    if (end - begin <= LEAF)
        return;
    int middle = begin + (end - begin) / 2, axis = widest_axis(m, begin, end);
    select_middle(m, begin, end, middle, axis);
    m->axis[middle] = (uint8_t)axis;
    if (deeper) {
        split_node(m, begin, middle, true);
        split_node(m, middle + 1, end, true);
    }
}

und_status und_nearest_build(und_nearest *tree, const float *points, int count, int threads, und_error *err)
{
    size_t room = count > 0 ? (size_t)count : 1;
    *tree = (und_nearest){.count = count,
                          .place = und_alloc(3 * room, sizeof(float), "nearest points", err),
                          .id = und_alloc(room, sizeof(int32_t), "nearest points", err),
                          .axis = und_alloc(room, 1, "nearest points", err)};
    if (!tree->place || !tree->id || !tree->axis) {
        und_nearest_free(tree);
        return UND_FAILED;
    }
    maker m = {points, tree->id, tree->axis};
    for (int i = 0; i < count; i++)
        tree->id[i] = i;
    int workers = und_workers(threads, (size_t)count, PARALLEL);
    for (int level = 0; level <= SHARED; level++) {
        PARALLEL_FOR(workers)
        for (int node = 0; node < 1 << level; node++) {
            int begin, end;
            node_range(count, level, node, &begin, &end);
            split_node(&m, begin, end, level == SHARED);
        }
    }
    for (int i = 0; i < count; i++)
        memcpy(tree->place + 3 * (size_t)i, points + 3 * (size_t)tree->id[i], 3 * sizeof(float));
    return UND_OK;
}

void und_nearest_free(und_nearest *tree)
{
    free(tree->place);
    free(tree->id);
    free(tree->axis);
    *tree = (und_nearest){0};
}

typedef struct search {
    const und_nearest *tree;
    const float *place;
    int most, count;
    float far; /* squared: nothing beyond it is wanted */
    und_neighbour *list;
} search;

static bool farther(und_neighbour a, und_neighbour b)
{
    return a.squared > b.squared || (a.squared == b.squared && a.at > b.at);
}

/* A heap with the farthest at its top. */
static void sink(und_neighbour *list, int count, int i)
{
    und_neighbour one = list[i];
    for (int child; (child = 2 * i + 1) < count; i = child) {
        if (child + 1 < count && farther(list[child + 1], list[child]))
            child++;
        if (!farther(list[child], one))
            break;
        list[i] = list[child];
    }
    list[i] = one;
}

static void rise(und_neighbour *list, int i)
{
    und_neighbour one = list[i];
    for (int parent; i > 0 && farther(one, list[parent = (i - 1) / 2]); i = parent)
        list[i] = list[parent];
    list[i] = one;
}

static void consider(search *s, int at)
{
    const float *p = s->tree->place + 3 * (size_t)at, *q = s->place;
    float d[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
    und_neighbour one = {d[0] * d[0] + d[1] * d[1] + d[2] * d[2], at};
    if (one.squared > s->far)
        return;
    if (s->count < s->most) {
        s->list[s->count] = one;
        rise(s->list, s->count++);
    } else if (farther(s->list[0], one)) {
        s->list[0] = one;
        sink(s->list, s->count, 0);
    }
    if (s->count == s->most)
        s->far = s->list[0].squared;
}

static void search_range(search *s, int begin, int end)
{
    while (end - begin > LEAF) {
        int middle = begin + (end - begin) / 2, axis = s->tree->axis[middle];
        float ahead = s->place[axis] - s->tree->place[3 * (size_t)middle + (size_t)axis];
        if (ahead < 0)
            search_range(s, begin, middle);
        else
            search_range(s, middle + 1, end);
        if (ahead * ahead > s->far)
            return;
        consider(s, middle);
        if (ahead < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    for (int i = begin; i < end; i++)
        consider(s, i);
}

int und_nearest_find(const und_nearest *tree, const float place[3], int most, float far,
                     und_neighbour list[UND_NEAREST_MOST])
{
    search s = {tree, place, most < UND_NEAREST_MOST ? most : UND_NEAREST_MOST, 0, far * far, list};
    search_range(&s, 0, tree->count);
    return s.count;
}
