#include "geom/trimesh_tree.h"

#include "base/status.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const double far_away = 1e6; /* m */

/* A triangle while the tree is built. */
typedef struct part {
    int source; /* triangle of the def */
    float low[3], high[3];
} part;

typedef struct builder {
    const und_trimesh_def *def;
    int *vertex; /* where each vertex' place first appears */
    part *part;
    int count;
    und_trimesh *mesh;
    double pad;
} builder;

und_status und_trimesh_check(const und_trimesh_def *def, und_error *err)
{
    if (def->triangle_count < 1 || def->triangle_count > UND_TRIMESH_MAX)
        return und_error_set(err, UND_INVALID, "expected 1 to %d triangles, found %d", UND_TRIMESH_MAX,
                             def->triangle_count);
    if (def->vertex_count < 3 || def->vertex_count > 3 * UND_TRIMESH_MAX)
        return und_error_set(err, UND_INVALID, "expected 3 to %d vertices, found %d", 3 * UND_TRIMESH_MAX,
                             def->vertex_count);
    for (int i = 0; i < def->vertex_count; i++) {
        und_vec3 v = def->vertex[i];
        if (!(fabs(v.x) <= far_away && fabs(v.y) <= far_away && fabs(v.z) <= far_away))
            return und_error_set(err, UND_INVALID,
                                 "vertex %d: expected numbers of at most %g m, found %g %g %g", i + 1,
                                 far_away, v.x, v.y, v.z);
    }
    for (int i = 0; i < def->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            if (def->triangle[i][k] < 0 || def->triangle[i][k] >= def->vertex_count)
                return und_error_set(err, UND_INVALID, "triangle %d: there is no vertex %d", i + 1,
                                     def->triangle[i][k] + 1);
    return UND_OK;
}

typedef struct placed {
    und_vec3 at;
    int vertex;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    if (p->at.x != q->at.x)
        return p->at.x < q->at.x ? -1 : 1;
    if (p->at.y != q->at.y)
        return p->at.y < q->at.y ? -1 : 1;
    if (p->at.z != q->at.z)
        return p->at.z < q->at.z ? -1 : 1;
    return (p->vertex > q->vertex) - (p->vertex < q->vertex);
}

/* Programs that write normals or textures often give a corner a vertex per face. */
static und_status weld(builder *b, und_error *err)
{
    const und_trimesh_def *def = b->def;
    size_t count = (size_t)def->vertex_count;
    placed *list = und_alloc(count, sizeof *list, "a mesh", err);
    b->vertex = und_alloc(count, sizeof *b->vertex, "a mesh", err);
    if (!list || !b->vertex) {
        free(list);
        return UND_FAILED;
    }
    for (size_t i = 0; i < count; i++)
        list[i] = (placed){def->vertex[i], (int)i};
    qsort(list, count, sizeof *list, by_place);
    for (size_t i = 0, first = 0; i < count; i++) {
        if (list[i].at.x != list[first].at.x || list[i].at.y != list[first].at.y ||
            list[i].at.z != list[first].at.z)
            first = i;
        b->vertex[list[i].vertex] = list[first].vertex;
    }
    free(list);
    return UND_OK;
}

static und_status keep_parts(builder *b, und_error *err)
{
    b->part = und_alloc((size_t)b->def->triangle_count, sizeof *b->part, "a mesh", err);
    if (!b->part)
        return UND_FAILED;
    for (int i = 0; i < b->def->triangle_count; i++) {
        const int *t = b->def->triangle[i];
        int p = b->vertex[t[0]], q = b->vertex[t[1]], r = b->vertex[t[2]];
        if (p != q && q != r && r != p)
            b->part[b->count++].source = i;
    }
    if (b->count == 0)
        return und_error_set(err, UND_INVALID, "no triangle has three different corners");
    return UND_OK;
}

static int by_edge(const void *a, const void *b)
{
    uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return (p > q) - (p < q);
}

/* In a closed mesh as many triangles run along an edge one way as the other. */
static und_status count_open_edges(builder *b, und_error *err)
{
    size_t count = 3 * (size_t)b->count;
    uint64_t *edge = und_alloc(count, sizeof *edge, "a mesh", err);
    if (!edge)
        return UND_FAILED;
    for (size_t i = 0; i < count; i++) {
        const int *t = b->def->triangle[b->part[i / 3].source];
        uint64_t from = (uint64_t)b->vertex[t[i % 3]], to = (uint64_t)b->vertex[t[(i + 1) % 3]];
        edge[i] = from < to ? from << 33 | to << 1 : to << 33 | from << 1 | 1;
    }
    qsort(edge, count, sizeof *edge, by_edge);
    long open = 0;
    for (size_t i = 0; i < count;) {
        long ways = 0;
        uint64_t ends = edge[i] >> 1;
        for (; i < count && edge[i] >> 1 == ends; i++)
            ways += edge[i] & 1 ? -1 : 1;
        open += labs(ways);
    }
    b->mesh->open_edges = open;
    free(edge);
    return UND_OK;
}

static void find_bounds(builder *b)
{
    und_vec3 low = und_vec(INFINITY, INFINITY, INFINITY), high = und_mul(low, -1);
    for (int i = 0; i < 3 * b->count; i++) {
        und_vec3 v = b->def->vertex[b->def->triangle[b->part[i / 3].source][i % 3]];
        low = und_vec(fmin(low.x, v.x), fmin(low.y, v.y), fmin(low.z, v.z));
        high = und_vec(fmax(high.x, v.x), fmax(high.y, v.y), fmax(high.z, v.z));
    }
    b->mesh->middle = und_mul(und_add(low, high), 0.5);
    b->mesh->half = und_mul(und_sub(high, low), 0.5);
    /* more than what the rounding of floats can do in a walk */
    b->pad = 4e-6 * und_length(b->mesh->half);
}

static und_vec3 corner_of(const builder *b, int source, int k)
{
    return und_sub(b->def->vertex[b->def->triangle[source][k]], b->mesh->middle);
}

/* The sum of the tetrahedra from the middle to the triangles. */
static void find_volume(builder *b)
{
    double sum = 0;
    for (int i = 0; i < b->count; i++) {
        int t = b->part[i].source;
        sum += und_dot(corner_of(b, t, 0), und_cross(corner_of(b, t, 1), corner_of(b, t, 2))) / 6;
    }
    b->mesh->volume = sum;
}

static void bound_parts(builder *b)
{
    for (int i = 0; i < b->count; i++) {
        part *p = &b->part[i];
        for (int k = 0; k < 3; k++) {
            und_vec3 v = corner_of(b, p->source, k);
            const float c[3] = {(float)v.x, (float)v.y, (float)v.z};
            for (int a = 0; a < 3; a++) {
                p->low[a] = k == 0 ? c[a] : fminf(p->low[a], c[a]);
                p->high[a] = k == 0 ? c[a] : fmaxf(p->high[a], c[a]);
            }
        }
    }
}

typedef struct tree_box {
    float low[3], high[3];
} tree_box;

static const tree_box empty_box = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void box_add(tree_box *box, const float low[3], const float high[3])
{
    for (int a = 0; a < 3; a++) {
        box->low[a] = fminf(box->low[a], low[a]);
        box->high[a] = fmaxf(box->high[a], high[a]);
    }
}

static float box_area(const tree_box *box)
{
    float x = box->high[0] - box->low[0], y = box->high[1] - box->low[1], z = box->high[2] - box->low[2];
    return x < 0 ? 0 : x * y + y * z + z * x;
}

static tree_box box_of(const part *parts, int count)
{
    tree_box box = empty_box;
    for (int i = 0; i < count; i++)
        box_add(&box, parts[i].low, parts[i].high);
    return box;
}

static float part_middle(const part *p, int axis)
{
    return 0.5F * (p->low[axis] + p->high[axis]);
}

enum { BINS = 16 };

/* Which bin along the axis a part falls into. */
typedef struct binning {
    int axis;
    float low, scale;
} binning;

static int bin_of(const binning *bins, const part *p)
{
    int bin = (int)((part_middle(p, bins->axis) - bins->low) * bins->scale);
    return bin < 0 ? 0 : bin < BINS ? bin : BINS - 1;
}

/* The cheapest bin to split before: number times area on either side; 0 where there is none. */
static int cheapest_split(const part *parts, int count, const binning *bins, float *least)
{
    tree_box box[BINS], all = empty_box;
    int number[BINS] = {0}, below = 0, best = 0;
    float right[BINS];
    for (int i = 0; i < BINS; i++)
        box[i] = empty_box;
    for (int i = 0; i < count; i++) {
        int bin = bin_of(bins, &parts[i]);
        number[bin]++;
        box_add(&box[bin], parts[i].low, parts[i].high);
    }
    for (int i = BINS - 1; i > 0; i--) {
        box_add(&all, box[i].low, box[i].high);
        right[i] = box_area(&all);
    }
    all = empty_box;
    for (int i = 1; i < BINS; i++) {
        below += number[i - 1];
        box_add(&all, box[i - 1].low, box[i - 1].high);
        float cost = (float)below * box_area(&all) + (float)(count - below) * right[i];
        if (below > 0 && below < count && cost < *least) {
            *least = cost;
            best = i;
        }
    }
    return best;
}

/* Reorders the parts and returns how many go to the first half. */
static int split(part *parts, int count, bool by_cost)
{
    binning best = {0};
    int best_bin = 0, first = 0;
    float least = INFINITY;
    for (int axis = 0; axis < 3 && by_cost; axis++) {
        float low = INFINITY, high = -INFINITY;
        for (int i = 0; i < count; i++) {
            low = fminf(low, part_middle(&parts[i], axis));
            high = fmaxf(high, part_middle(&parts[i], axis));
        }
        binning bins = {axis, low, BINS / (high - low)};
        int bin = high > low && isfinite(bins.scale) ? cheapest_split(parts, count, &bins, &least) : 0;
        if (bin > 0) {
            best = bins;
            best_bin = bin;
        }
    }
    if (best_bin == 0)
        return count / 2;
    for (int i = 0; i < count; i++)
        if (bin_of(&best, &parts[i]) < best_bin) {
            part p = parts[first];
            parts[first++] = parts[i];
            parts[i] = p;
        }
    return first;
}

static int build_node(builder *b, int from, int count, int depth);

static void set_child(builder *b, int node, int k, int from, int count, int depth)
{
    tree_box box = box_of(b->part + from, count);
    int child = count > LEAF_MAX ? build_node(b, from, count, depth + 1) : from;
    tree_node *n = &b->mesh->node[node];
    for (int a = 0; a < 3; a++) {
        n->middle[a][k] = count > 0 ? 0.5F * (box.low[a] + box.high[a]) : 0;
        n->half[a][k] = count > 0 ? 0.5F * (box.high[a] - box.low[a]) + (float)b->pad : -INFINITY;
    }
    n->child[k] = count > 0 ? child : 0;
    n->count[k] = count > LEAF_MAX ? 0 : count;
}

/* Which of the ranges start[i] .. start[i + 1] to split next: the one that most lines meet, or once a path
 * has become long the one with most parts; -1 where all are small enough. */
static int widest(const builder *b, const int *start, int ranges, bool by_cost)
{
    int best = -1;
    float most = -1;
    for (int i = 0; i < ranges; i++) {
        int count = start[i + 1] - start[i];
        if (count <= LEAF_MAX)
            continue;
        tree_box box = box_of(b->part + start[i], count);
        float size = by_cost ? box_area(&box) : (float)count;
        if (size > most) {
            most = size;
            best = i;
        }
    }
    return best;
}

static int build_node(builder *b, int from, int count, int depth)
{
    int node = b->mesh->node_count++, ranges = 1, start[TREE_WIDTH + 1] = {from, from + count};
    bool by_cost = depth < DEPTH_BY_COST;
    for (int i; ranges < TREE_WIDTH && (i = widest(b, start, ranges, by_cost)) >= 0; ranges++) {
        memmove(start + i + 2, start + i + 1, (size_t)(ranges - i) * sizeof *start);
        start[i + 1] = start[i] + split(b->part + start[i], start[i + 2] - start[i], by_cost);
    }
    for (int k = 0; k < TREE_WIDTH; k++)
        set_child(b, node, k, k < ranges ? start[k] : 0, k < ranges ? start[k + 1] - start[k] : 0, depth);
    return node;
}

/* The triangles in the order of the tree. */
static void put_triangles(builder *b)
{
    und_trimesh *mesh = b->mesh;
    bool turn = mesh->volume < 0;
    for (int i = 0; i < b->count; i++)
        for (int k = 0; k < 3; k++) {
            int from = turn ? 2 - k : k, source = b->part[i].source;
            und_vec3 v = corner_of(b, source, from);
            mesh->triangle[i].corner[k][0] = v.x;
            mesh->triangle[i].corner[k][1] = v.y;
            mesh->triangle[i].corner[k][2] = v.z;
            if (mesh->color)
                memcpy(mesh->color[3 * i + k], b->def->color[b->def->triangle[source][from]],
                       sizeof *mesh->color);
        }
    mesh->volume = fabs(mesh->volume);
}

static und_status build(builder *b, und_error *err)
{
    und_trimesh *mesh = b->mesh;
    und_status status = weld(b, err);
    if (status == UND_OK)
        status = keep_parts(b, err);
    if (status == UND_OK)
        status = count_open_edges(b, err);
    if (status != UND_OK)
        return status;
    find_bounds(b);
    find_volume(b);
    const double half = und_length(mesh->half);
    if (!(fabs(mesh->volume) > 1e-12 * half * half * half))
        return und_error_set(err, UND_INVALID, "the mesh has no volume");
    mesh->triangle_count = b->count;
    mesh->triangle = und_alloc((size_t)b->count, sizeof *mesh->triangle, "a mesh", err);
    /* every node has at least two children that are not empty, and a leaf at least one triangle */
    mesh->node = und_alloc((size_t)b->count, sizeof *mesh->node, "a mesh", err);
    if (b->def->color)
        mesh->color = und_alloc(3 * (size_t)b->count, sizeof *mesh->color, "a mesh", err);
    if (!mesh->triangle || !mesh->node || (b->def->color && !mesh->color))
        return UND_FAILED;
    bound_parts(b);
    build_node(b, 0, b->count, 0);
    tree_node *fewer = realloc(mesh->node, (size_t)mesh->node_count * sizeof *fewer);
    mesh->node = fewer ? fewer : mesh->node;
    put_triangles(b);
    return UND_OK;
}

und_trimesh *und_trimesh_create(const und_trimesh_def *def, und_error *err)
{
    if (und_trimesh_check(def, err) != UND_OK)
        return NULL;
    builder b = {.def = def, .mesh = und_alloc(1, sizeof *b.mesh, "a mesh", err)};
    if (!b.mesh)
        return NULL;
    atomic_init(&b.mesh->holders, 1);
    und_status status = build(&b, err);
    free(b.vertex);
    free(b.part);
    if (status != UND_OK) {
        und_trimesh_release(b.mesh);
        return NULL;
    }
    return b.mesh;
}

und_trimesh *und_trimesh_keep(und_trimesh *mesh)
{
    atomic_fetch_add(&mesh->holders, 1);
    return mesh;
}

void und_trimesh_release(und_trimesh *mesh)
{
    if (!mesh || atomic_fetch_sub(&mesh->holders, 1) > 1)
        return;
    free(mesh->triangle);
    free(mesh->color);
    free(mesh->node);
    free(mesh);
}
