#include "geom/trimesh_tree.h"

#include <stdint.h>

int und_trimesh_count(const und_trimesh *mesh)
{
    return mesh->triangle_count;
}

long und_trimesh_open_edges(const und_trimesh *mesh)
{
    return mesh->open_edges;
}

double und_trimesh_volume(const und_trimesh *mesh)
{
    return mesh->volume;
}

size_t und_trimesh_bytes(const und_trimesh *mesh)
{
    size_t each = sizeof *mesh->triangle + (mesh->color ? 3 * sizeof *mesh->color : 0);
    return sizeof *mesh + (size_t)mesh->triangle_count * each + (size_t)mesh->node_count * sizeof *mesh->node;
}

und_bounds und_trimesh_bounds(const und_trimesh *mesh)
{
    return (und_bounds){und_sub(mesh->middle, mesh->half), und_add(mesh->middle, mesh->half)};
}

und_vec3 und_trimesh_corner(const und_trimesh *mesh, int triangle, int corner)
{
    const double *v = mesh->triangle[triangle].corner[corner];
    return und_add(mesh->middle, und_vec(v[0], v[1], v[2]));
}

const float *und_trimesh_color(const und_trimesh *mesh, int triangle, int corner)
{
    return mesh->color ? mesh->color[3 * triangle + corner] : NULL;
}

/* A line in coordinates where it is the third axis: the axis along which it is steepest comes last, and the
 * other two are sheared, so that a point's first two coordinates say how the line passes it. */
typedef struct sheared {
    int axis[3];
    double origin[3]; /* the line's point nearest to the mesh's middle, axes in that order */
    double shear[2];
    double rise;  /* of the third coordinate per t */
    double shift; /* t at the origin */
    float low[2]; /* of the line on the plane where the third coordinate is 0 */
    float slope[2], steep[2];
} sheared;

static sheared shear_line(const und_trimesh *mesh, und_vec3 origin, und_vec3 direction)
{
    und_vec3 p = und_sub(origin, mesh->middle);
    double shift = -und_dot(p, direction) / und_dot(direction, direction);
    p = und_add(p, und_mul(direction, shift));
    const double o[3] = {p.x, p.y, p.z}, d[3] = {direction.x, direction.y, direction.z};
    int z = fabs(d[0]) > fabs(d[1]) ? 0 : 1;
    z = fabs(d[2]) > fabs(d[z]) ? 2 : z;
    sheared l = {.axis = {(z + 1) % 3, (z + 2) % 3, z}, .rise = d[z], .shift = shift};
    for (int i = 0; i < 3; i++)
        l.origin[i] = o[l.axis[i]];
    for (int i = 0; i < 2; i++) {
        l.shear[i] = d[l.axis[i]] / d[z];
        l.low[i] = (float)(l.origin[i] - l.shear[i] * l.origin[2]);
        l.slope[i] = (float)l.shear[i];
        l.steep[i] = fabsf(l.slope[i]);
    }
    return l;
}

/* How often the edge p q, seen along the line, crosses the ray from the line to the right: 1 upwards, -1
 * downwards.  Turned round it gives exactly the opposite, so the edges of a closed mesh add up to 0; the sum
 * over a triangle's edges is 1, 0 or -1. */
static inline int edge_turn(const double p[3], const double q[3])
{
    bool p_below = p[1] < 0, q_below = q[1] < 0;
    if (p_below == q_below)
        return 0;
    double side = p[0] * q[1] - p[1] * q[0];
    return p_below ? side > 0 : -(side < 0);
}

/* The third coordinate where the line meets the triangle; never beyond its corners'. */
static double meeting(double c[3][3])
{
    double a = c[1][0] * c[2][1] - c[1][1] * c[2][0], b = c[2][0] * c[0][1] - c[2][1] * c[0][0];
    double d = c[0][0] * c[1][1] - c[0][1] * c[1][0], sum = a + b + d;
    double low = fmin(c[0][2], fmin(c[1][2], c[2][2])), high = fmax(c[0][2], fmax(c[1][2], c[2][2]));
    double z = sum != 0 ? (a * c[0][2] + b * c[1][2] + d * c[2][2]) / sum : 0.5 * (low + high);
    return fmin(fmax(z, low), high);
}

/* 1 where the line enters through the triangle, -1 where it leaves, 0 where it passes by. */
static int cross_triangle(const tree_triangle *triangle, const sheared *l, double *t)
{
    double c[3][3];
    for (int k = 0; k < 3; k++) {
        const double *v = triangle->corner[k];
        c[k][2] = v[l->axis[2]] - l->origin[2];
        c[k][1] = v[l->axis[1]] - l->origin[1] - l->shear[1] * c[k][2];
    }
    if ((c[0][1] < 0) == (c[1][1] < 0) && (c[1][1] < 0) == (c[2][1] < 0))
        return 0;
    for (int k = 0; k < 3; k++)
        c[k][0] = triangle->corner[k][l->axis[0]] - l->origin[0] - l->shear[0] * c[k][2];
    int turn = edge_turn(c[0], c[1]) + edge_turn(c[1], c[2]) + edge_turn(c[2], c[0]);
    if (turn == 0)
        return 0;
    *t = meeting(c) / l->rise + l->shift;
    return l->rise > 0 ? -turn : turn;
}

enum { BATCH = 64 };

typedef struct crossing {
    double t;
    int triangle, turn;
} crossing;

/* Crossings in the order of t, the first 64 that come after those of the batch before. */
typedef struct batch {
    crossing at[BATCH];
    int count;
    bool more;     /* come after these */
    crossing last; /* of the batch before */
} batch;

static inline bool comes_before(const crossing *a, const crossing *b)
{
    return a->t < b->t || (a->t == b->t && a->triangle < b->triangle);
}

static void keep_crossing(batch *b, const crossing *c)
{
    if (!comes_before(&b->last, c))
        return;
    if (b->count == BATCH) {
        b->more = true;
        if (!comes_before(c, &b->at[BATCH - 1]))
            return;
        b->count--;
    }
    int i = b->count++;
    for (; i > 0 && comes_before(c, &b->at[i - 1]); i--)
        b->at[i] = b->at[i - 1];
    b->at[i] = *c;
}

typedef float floats __attribute__((vector_size(4 * TREE_WIDTH), aligned(4), may_alias));
typedef int32_t ints __attribute__((vector_size(4 * TREE_WIDTH)));

/* Which of a node's boxes the line may pass through, as bits: the rectangle around a box seen along the line.
 */
static inline unsigned touched(const tree_node *node, const sheared *l)
{
    const int *axis = l->axis;
    floats z = *(const floats *)node->middle[axis[2]], depth = *(const floats *)node->half[axis[2]];
    floats x = *(const floats *)node->middle[axis[0]] - l->slope[0] * z - l->low[0];
    floats y = *(const floats *)node->middle[axis[1]] - l->slope[1] * z - l->low[1];
    floats wide = *(const floats *)node->half[axis[0]] + l->steep[0] * depth;
    floats high = *(const floats *)node->half[axis[1]] + l->steep[1] * depth;
    ints hit = (x <= wide) & (-x <= wide) & (y <= high) & (-y <= high);
    unsigned bits = 0;
    for (int k = 0; k < TREE_WIDTH; k++)
        bits |= (unsigned)hit[k] & 1U << k;
    return bits;
}

static void next_batch(const und_trimesh *mesh, const sheared *l, batch *b)
{
    int stack[TREE_STACK], top = 0;
    b->count = 0;
    b->more = false;
    stack[top++] = 0;
    while (top > 0) {
        const tree_node *node = &mesh->node[stack[--top]];
        for (unsigned hits = touched(node, l); hits != 0; hits &= hits - 1) {
            int k = __builtin_ctz(hits);
            if (node->count[k] == 0)
                stack[top++] = node->child[k];
            for (int i = node->child[k]; i < node->child[k] + node->count[k]; i++) {
                crossing c = {.triangle = i};
                c.turn = cross_triangle(&mesh->triangle[i], l, &c.t);
                if (c.turn != 0)
                    keep_crossing(b, &c);
            }
        }
    }
}

static const crossing before_all = {-INFINITY, -1, 0};

/* How often the part of the line below `t`, or above it, enters more than it leaves towards t. */
static void windings(const und_trimesh *mesh, und_vec3 p, und_vec3 direction, int *below, int *above)
{
    sheared l = shear_line(mesh, p, direction);
    batch b;
    b.last = before_all;
    *below = *above = 0;
    do {
        next_batch(mesh, &l, &b);
        for (int i = 0; i < b.count; i++) {
            if (b.at[i].t < 0)
                *below += b.at[i].turn;
            else
                *above -= b.at[i].turn;
        }
        if (b.more)
            b.last = b.at[b.count - 1];
    } while (b.more);
}

static bool is_inside(const und_trimesh *mesh, und_vec3 p)
{
    static const und_vec3 axis[3] = {{0, 1, 0}, {1, 0, 0}, {0, 0, 1}};
    int below, above, votes = 0;
    windings(mesh, p, axis[0], &below, &above);
    if (mesh->open_edges == 0)
        return below != 0;
    votes = (below != 0) + (above != 0);
    for (int i = 1; i < 3; i++) {
        windings(mesh, p, axis[i], &below, &above);
        votes += (below != 0) + (above != 0);
    }
    return votes > 3;
}

double und_trimesh_line(const und_trimesh *mesh, und_vec3 origin, und_vec3 direction, double low, double high,
                        double *first)
{
    double total = 0, from = INFINITY;
    int winding = 0;
    bool found = false;
    *first = high;
    if (!(und_dot(direction, direction) > 0)) {
        bool inside = low < high && is_inside(mesh, origin);
        *first = inside ? low : high;
        return inside ? high - low : 0;
    }
    sheared l = shear_line(mesh, origin, direction);
    batch b;
    b.last = before_all;
    do {
        next_batch(mesh, &l, &b);
        for (int i = 0; i < b.count; i++) {
            double start = fmax(from, low), end = fmin(b.at[i].t, high);
            bool inside = winding != 0;
            if (mesh->open_edges > 0 && start < end)
                inside = is_inside(mesh, und_add(origin, und_mul(direction, 0.5 * (start + end))));
            if (inside && start < end) {
                total += end - start;
                *first = found ? *first : start;
                found = true;
            }
            winding += b.at[i].turn;
            from = b.at[i].t;
        }
        if (b.more)
            b.last = b.at[b.count - 1];
    } while (b.more);
    return total;
}

double und_trimesh_next(const und_trimesh *mesh, und_vec3 origin, und_vec3 direction, double after)
{
    if (!(und_dot(direction, direction) > 0))
        return INFINITY;
    sheared l = shear_line(mesh, origin, direction);
    batch b;
    b.last = (crossing){.t = after, .triangle = mesh->triangle_count};
    next_batch(mesh, &l, &b);
    return b.count > 0 ? b.at[0].t : INFINITY;
}

static und_vec3 vec_of(const double v[3])
{
    return und_vec(v[0], v[1], v[2]);
}

/* Square of the distance to the segment from a along `edge`. */
static double edge_square(und_vec3 from_a, und_vec3 edge)
{
    double length = und_dot(edge, edge), s = length > 0 ? und_dot(from_a, edge) / length : 0;
    und_vec3 gap = und_sub(from_a, und_mul(edge, fmin(fmax(s, 0), 1)));
    return und_dot(gap, gap);
}

/* The nearest point is on the plane where p lies over the triangle, else on an edge. */
static double triangle_square(const tree_triangle *t, und_vec3 p)
{
    und_vec3 a = vec_of(t->corner[0]), b = vec_of(t->corner[1]), c = vec_of(t->corner[2]);
    und_vec3 ab = und_sub(b, a), bc = und_sub(c, b), ca = und_sub(a, c);
    und_vec3 pa = und_sub(p, a), pb = und_sub(p, b), pc = und_sub(p, c);
    und_vec3 normal = und_cross(ab, bc);
    double area = und_dot(normal, normal);
    if (area > 0 && und_dot(und_cross(normal, ab), pa) >= 0 && und_dot(und_cross(normal, bc), pb) >= 0 &&
        und_dot(und_cross(normal, ca), pc) >= 0) {
        double height = und_dot(normal, pa);
        return height * height / area;
    }
    return fmin(edge_square(pa, ab), fmin(edge_square(pb, bc), edge_square(pc, ca)));
}

/* Squares of the distances to a node's boxes, a little less than exact. */
static inline void box_squares(const tree_node *node, const float p[3], float square[TREE_WIDTH])
{
    for (int k = 0; k < TREE_WIDTH; k++) {
        float sum = 0;
        for (int a = 0; a < 3; a++) {
            float out = fmaxf(fabsf(p[a] - node->middle[a][k]) - node->half[a][k], 0);
            sum += out * out;
        }
        square[k] = sum * 0.999999F;
    }
}

static double nearest_square(const und_trimesh *mesh, und_vec3 p)
{
    struct {
        int node;
        float square;
    } stack[TREE_STACK];
    const float q[3] = {(float)p.x, (float)p.y, (float)p.z};
    double best = INFINITY;
    int top = 0;
    stack[top].node = 0;
    stack[top++].square = 0;
    while (top > 0) {
        float square[TREE_WIDTH];
        top--;
        if (!((double)stack[top].square < best))
            continue;
        const tree_node *node = &mesh->node[stack[top].node];
        int base = top;
        box_squares(node, q, square);
        for (int k = 0; k < TREE_WIDTH; k++) {
            if (!((double)square[k] < best))
                continue;
            for (int i = node->child[k]; i < node->child[k] + node->count[k]; i++)
                best = fmin(best, triangle_square(&mesh->triangle[i], p));
            if (node->count[k] > 0)
                continue;
            int at = top++;
            for (; at > base && stack[at - 1].square < square[k]; at--) /* the nearest on top */
                stack[at] = stack[at - 1];
            stack[at].node = node->child[k];
            stack[at].square = square[k];
        }
    }
    return best;
}

double und_trimesh_distance(const und_trimesh *mesh, und_vec3 p)
{
    und_vec3 q = und_sub(p, mesh->middle);
    double away = und_length(q);
    if (!(away < 1e15)) /* beyond what floats can tell, or not a number */
        return away;
    double distance = sqrt(nearest_square(mesh, q));
    return is_inside(mesh, p) ? -distance : distance;
}
