/* The narrow band around triangles, exactly: each point asks a tree of boxes, starting from the triangle that
 * was nearest to the point before.  OpenVDB's meshToVolume, tried on a ball of 101760 triangles on 128^3
 * points with a reach of 5 spacings, takes as long (0.9 s of one core) and is exact beside the triangles
 * only: two spacings away a tenth of its points are more than 0.01 off, the worst by half a spacing. */
#include "geom/mesh_band.h"

#include "base/parallel.h"
#include "base/status.h"
#include "geom/vec.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 8, LEVELS = 8, STACK = (WIDTH - 1) * LEVELS + 1 };

/* Boxes side by side: of triangles on the lowest level, of the nodes of the level below on the others.  One
 * that is not used has a half of minus infinity. */
typedef struct box_node {
    float middle[3][WIDTH], half[3][WIDTH];
} box_node;

typedef struct sorted_triangle {
    und_vec3 a, ab, ac, normal; /* normal: unit; 0 where the triangle has no area */
    int source;
} sorted_triangle;

/* Triangles in the order of a space-filling curve; eight that follow each other are a node, and so on up. */
typedef struct band_tree {
    sorted_triangle *triangle;
    box_node *node;    /* all levels, the lowest first */
    int start[LEVELS]; /* of each level */
    int levels;
} band_tree;

typedef struct keyed {
    uint64_t key;
    int index;
} keyed;

static int by_key(const void *a, const void *b)
{
    const keyed *p = a, *q = b;
    if (p->key != q->key)
        return p->key < q->key ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* 16 bits, two empty ones between each two. */
static uint64_t spread_bits(uint64_t v)
{
    v = (v | v << 16) & 0x0000ff0000ffULL;
    v = (v | v << 8) & 0x00f00f00f00fULL;
    v = (v | v << 4) & 0x0c30c30c30c3ULL;
    return (v | v << 2) & 0x249249249249ULL;
}

static void set_keys(const und_corners *triangle, int count, keyed *key)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, size = 0;
    for (int i = 0; i < count; i++)
        for (int axis = 0; axis < 3; axis++) {
            double sum = triangle[i].at[0][axis] + triangle[i].at[1][axis] + triangle[i].at[2][axis];
            low[axis] = und_smaller(low[axis], sum);
            high[axis] = und_larger(high[axis], sum);
        }
    for (int axis = 0; axis < 3; axis++)
        size = und_larger(size, high[axis] - low[axis]);
    for (int i = 0; i < count; i++) {
        key[i] = (keyed){.index = i};
        for (int axis = 0; axis < 3 && size > 0; axis++) {
            double sum = triangle[i].at[0][axis] + triangle[i].at[1][axis] + triangle[i].at[2][axis];
            key[i].key |= spread_bits((uint64_t)((sum - low[axis]) / size * 65535)) << axis;
        }
    }
}

static und_vec3 corner_of(const und_corners *t, int k)
{
    return und_vec(t->at[k][0], t->at[k][1], t->at[k][2]);
}

typedef struct box {
    double low[3], high[3];
} box;

static const box empty_box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void set_box(box_node *node, int k, const box *b)
{
    for (int axis = 0; axis < 3; axis++) {
        double middle = 0.5 * (b->low[axis] + b->high[axis]), half = 0.5 * (b->high[axis] - b->low[axis]);
        node->middle[axis][k] = (float)middle;
        node->half[axis][k] = (float)(half + 2e-7 * (fabs(middle) + half));
    }
}

static void set_leaves(band_tree *t, const und_corners *triangle, int count, const keyed *key)
{
    for (int i = 0; i < count; i++) {
        const und_corners *c = &triangle[key[i].index];
        und_vec3 a = corner_of(c, 0), ab = und_sub(corner_of(c, 1), a), ac = und_sub(corner_of(c, 2), a);
        t->triangle[i] = (sorted_triangle){a, ab, ac, und_unit(und_cross(ab, ac)), key[i].index};
        box b = empty_box;
        for (int k = 0; k < 9; k++) {
            b.low[k % 3] = und_smaller(b.low[k % 3], c->at[k / 3][k % 3]);
            b.high[k % 3] = und_larger(b.high[k % 3], c->at[k / 3][k % 3]);
        }
        set_box(&t->node[i / WIDTH], i % WIDTH, &b);
    }
}

static void set_parents(band_tree *t, int level, int count)
{
    for (int i = 0; i < count; i++) {
        const box_node *below = &t->node[t->start[level - 1] + i];
        box b = empty_box;
        for (int axis = 0; axis < 3; axis++)
            for (int k = 0; k < WIDTH; k++) {
                double middle = below->middle[axis][k], half = below->half[axis][k];
                b.low[axis] = und_smaller(b.low[axis], middle - half);
                b.high[axis] = und_larger(b.high[axis], middle + half);
            }
        set_box(&t->node[t->start[level] + i / WIDTH], i % WIDTH, &b);
    }
}

static void free_tree(band_tree *t)
{
    free(t->triangle);
    free(t->node);
}

static und_status make_tree(const und_corners *triangle, int count, band_tree *t, und_error *err)
{
    int total = 0, groups[LEVELS + 1] = {count};
    *t = (band_tree){0};
    do {
        groups[t->levels + 1] = (groups[t->levels] + WIDTH - 1) / WIDTH;
        t->start[t->levels++] = total;
        total += groups[t->levels];
    } while (groups[t->levels] > 1);
    keyed *key = und_alloc((size_t)count, sizeof *key, "a mesh on a lattice", err);
    t->triangle = und_alloc((size_t)count, sizeof *t->triangle, "a mesh on a lattice", err);
    t->node = und_alloc((size_t)total, sizeof *t->node, "a mesh on a lattice", err);
    bool room = key && t->triangle && t->node;
    if (room) {
        for (int i = 0; i < total; i++)
            for (int k = 0; k < 3 * WIDTH; k++)
                t->node[i].half[k / WIDTH][k % WIDTH] = -INFINITY;
        set_keys(triangle, count, key);
        qsort(key, (size_t)count, sizeof *key, by_key);
        set_leaves(t, triangle, count, key);
        for (int level = 1; level < t->levels; level++)
            set_parents(t, level, groups[level]);
    } else {
        free_tree(t);
    }
    free(key);
    return room ? UND_OK : UND_FAILED;
}

static inline double edge_square(und_vec3 from, und_vec3 edge)
{
    double length = und_dot(edge, edge), s = length > 0 ? und_dot(from, edge) / length : 0;
    und_vec3 gap = und_sub(from, und_mul(edge, und_smaller(und_larger(s, 0), 1)));
    return und_dot(gap, gap);
}

/* The nearest point is on the plane where p lies over the triangle, else on an edge. */
static double triangle_square(const sorted_triangle *t, und_vec3 p)
{
    und_vec3 pa = und_sub(p, t->a), bc = und_sub(t->ac, t->ab), pb = und_sub(pa, t->ab);
    und_vec3 across = und_cross(t->normal, pa);
    double height = und_dot(t->normal, pa), to_ab = und_dot(across, t->ab), to_ac = -und_dot(across, t->ac);
    double to_bc = und_dot(und_cross(t->normal, pb), bc);
    if (to_ab <= 0 && to_ac <= 0 && to_bc <= 0 && (height != 0 || und_dot(t->normal, t->normal) > 0))
        return height * height;
    double square = und_smaller(edge_square(pa, t->ab), edge_square(pa, t->ac));
    return und_smaller(square, edge_square(pb, bc));
}

typedef float floats __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(4 * WIDTH)));

/* Squares of the distances to a node's boxes, a little less than exact; which are at most `most`, as bits. */
static inline unsigned boxes_within(const box_node *node, const float p[3], float most, float square[WIDTH])
{
    floats sum = {0};
    for (int axis = 0; axis < 3; axis++) {
        floats out = p[axis] - *(const floats *)node->middle[axis];
        out = (floats)((ints)out & INT32_MAX) - *(const floats *)node->half[axis];
        out = (floats)((ints)out & (out > 0));
        sum += out * out;
    }
    sum *= 0.999999F;
    memcpy(square, &sum, sizeof sum);
    ints hit = sum <= most;
    unsigned bits = 0;
    for (int k = 0; k < WIDTH; k++)
        bits |= (unsigned)hit[k] & 1U << k;
    return bits;
}

/* The nearest so far: of those as near as each other, the first of the mesh. */
typedef struct found {
    double square;
    int triangle; /* in the tree's order, or -1 */
} found;

static inline void try_triangle(const band_tree *t, int i, und_vec3 p, found *best)
{
    double square = triangle_square(&t->triangle[i], p);
    bool first = best->triangle >= 0 && t->triangle[i].source < t->triangle[best->triangle].source;
    if (square < best->square || (square == best->square && first))
        *best = (found){square, i};
}

static void find_nearest(const band_tree *t, und_vec3 p, found *best)
{
    struct {
        int level, node;
        float square;
    } stack[STACK];
    const float q[3] = {(float)p.x, (float)p.y, (float)p.z};
    int top = 1;
    stack[0].level = t->levels - 1;
    stack[0].node = 0;
    stack[0].square = 0;
    while (top > 0) {
        float square[WIDTH];
        top--;
        if ((double)stack[top].square > best->square)
            continue;
        int level = stack[top].level, node = stack[top].node, base = top;
        unsigned hits =
            boxes_within(&t->node[t->start[level] + node], q, (float)best->square * 1.000001F, square);
        for (; hits != 0; hits &= hits - 1) {
            int k = __builtin_ctz(hits);
            if (level == 0) {
                try_triangle(t, node * WIDTH + k, p, best);
                continue;
            }
            int at = top++;
            for (; at > base && stack[at - 1].square < square[k]; at--) /* the nearest on top */
                stack[at] = stack[at - 1];
            stack[at].level = level - 1;
            stack[at].node = node * WIDTH + k;
            stack[at].square = square[k];
        }
    }
}

enum { BLOCK = 4 }; /* points along each edge that are looked at together */

typedef struct band {
    const int *n;
    double reach;
    float *distance;
    int32_t *nearest;
} band;

static int smaller_of(int a, int b)
{
    return a < b ? a : b;
}

static void fill_block(const band_tree *t, const band *b, const int low[3])
{
    const int *n = b->n;
    int high[3];
    und_vec3 middle;
    double half = 0;
    for (int axis = 0; axis < 3; axis++)
        high[axis] = smaller_of(low[axis] + BLOCK, n[axis]);
    middle =
        und_vec(0.5 * (low[0] + high[0] - 1), 0.5 * (low[1] + high[1] - 1), 0.5 * (low[2] + high[2] - 1));
    half = und_length(und_sub(middle, und_vec(low[0], low[1], low[2])));
    found near = {(b->reach + half) * (b->reach + half), -1};
    find_nearest(t, middle, &near);
    for (int z = low[2]; z < high[2]; z++)
        for (int y = low[1]; y < high[1]; y++)
            for (int x = low[0]; x < high[0]; x++) {
                size_t at = ((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x;
                found best = {b->reach * b->reach, -1};
                if (near.triangle >= 0) {
                    try_triangle(t, near.triangle, und_vec(x, y, z), &best);
                    find_nearest(t, und_vec(x, y, z), &best);
                }
                near.triangle = best.triangle >= 0 ? best.triangle : near.triangle;
                float d = (float)sqrt(best.square);
                bool within = best.triangle >= 0 && d < (float)b->reach;
                b->distance[at] = within ? d : (float)b->reach;
                b->nearest[at] = within ? t->triangle[best.triangle].source : -1;
            }
}

und_status und_mesh_band(const und_corners *triangle, int count, const int n[3], double reach, int threads,
                         float *distance, int32_t *nearest, und_error *err)
{
    band_tree tree;
    und_status status = make_tree(triangle, count, &tree, err);
    if (status != UND_OK)
        return status;
    band b = {n, reach, distance, nearest};
    int slabs = (n[2] + BLOCK - 1) / BLOCK, rows = (n[1] + BLOCK - 1) / BLOCK;
    PARALLEL_FOR(threads)
    for (int row = 0; row < slabs * rows; row++)
        for (int x = 0; x < n[0]; x += BLOCK)
            fill_block(&tree, &b, (int[3]){x, row % rows * BLOCK, row / rows * BLOCK});
    free_tree(&tree);
    return UND_OK;
}
