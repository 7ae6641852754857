/* Fewer triangles where a surface is flat: vertices are pulled onto neighbours, with the sums of squared
 * distances from planes of Garland & Heckbert 1997 to tell how far off that is. */
#include "base/status.h"
#include "geom/shell.h"
#include "geom/vec.h"

#include <stdlib.h>
#include <string.h>

enum { PASSES = 40, RISE = 8, MOST_RING = 24, TERMS = 10 };

/* A triangle that is made must face, within 60 degrees, where the one that it comes of did ... */
static const double TURN = 0.5;
/* ... and twice its area over its longest edge's square be at least this, or no worse than that one's. */
static const double SLIVER = 0.05;

typedef struct thinner {
    und_shell *shell;
    double tolerance, longest;
    double (*planes)[TERMS + 1]; /* of each vertex: a quadratic form, the sum of the squared distances from
                                    them times their triangles' areas; and the areas */
    int32_t *first, *around;     /* triangles at each vertex: around[first[v]] to around[first[v + 1]] */
    bool *changed;               /* the ring of the vertex is no longer what first and around say */
} thinner;

static und_vec3 place_of(const und_shell *s, int32_t v)
{
    const float *p = s->position + 3 * (size_t)v;
    return und_vec((double)p[0], (double)p[1], (double)p[2]);
}

static void add_plane(double q[TERMS + 1], und_vec3 n, double d, double area)
{
    const double v[4] = {n.x, n.y, n.z, d};
    for (int i = 0, k = 0; i < 4; i++)
        for (int j = i; j < 4; j++, k++)
            q[k] += area * v[i] * v[j];
    q[TERMS] += area;
}

/* The mean square of a place's distances from the planes of two vertices. */
static double off_planes(const double a[TERMS + 1], const double b[TERMS + 1], und_vec3 p)
{
    const double v[4] = {p.x, p.y, p.z, 1};
    double sum = 0;
    for (int i = 0, k = 0; i < 4; i++)
        for (int j = i; j < 4; j++, k++)
            sum += (i == j ? 1 : 2) * (a[k] + b[k]) * v[i] * v[j];
    double area = a[TERMS] + b[TERMS];
    return area > 0 ? sum / area : 0;
}

/* Places are taken from the surface's first vertex, so that far from the origin little is lost. */
static und_vec3 near_place(const thinner *t, int32_t v)
{
    return und_sub(place_of(t->shell, v), place_of(t->shell, 0));
}

static void gather_planes(thinner *t)
{
    const und_shell *s = t->shell;
    for (int i = 0; i < s->triangle_count; i++) {
        const int32_t *v = s->triangle + 3 * (size_t)i;
        und_vec3 a = near_place(t, v[0]), b = near_place(t, v[1]), c = near_place(t, v[2]);
        und_vec3 cross = und_cross(und_sub(b, a), und_sub(c, a)), n = und_unit(cross);
        for (int k = 0; k < 3; k++)
            add_plane(t->planes[v[k]], n, -und_dot(n, a), und_length(cross));
    }
}

static void find_rings(thinner *t)
{
    const und_shell *s = t->shell;
    memset(t->first, 0, ((size_t)s->vertex_count + 2) * sizeof *t->first);
    memset(t->changed, 0, (size_t)s->vertex_count * sizeof *t->changed);
    for (int i = 0; i < 3 * s->triangle_count; i++)
        t->first[s->triangle[i] + 2]++;
    for (int v = 0; v < s->vertex_count; v++)
        t->first[v + 2] += t->first[v + 1];
    for (int i = 0; i < 3 * s->triangle_count; i++)
        t->around[t->first[s->triangle[i] + 1]++] = i / 3;
}

/* The vertices around one, each once: the one after it in each of its triangles. */
static int ring_of(const thinner *t, int32_t v, int32_t ring[MOST_RING])
{
    int count = 0;
    for (int32_t k = t->first[v]; k < t->first[v + 1]; k++) {
        const int32_t *corner = t->shell->triangle + 3 * (size_t)t->around[k];
        int at = corner[0] == v ? 0 : corner[1] == v ? 1 : 2;
        if (count == MOST_RING)
            return MOST_RING + 1;
        ring[count++] = corner[(at + 1) % 3];
    }
    return count;
}

static double shape_of(und_vec3 cross, und_vec3 a, und_vec3 b, und_vec3 c)
{
    und_vec3 ab = und_sub(b, a), bc = und_sub(c, b), ca = und_sub(a, c);
    double longest = fmax(und_dot(ab, ab), fmax(und_dot(bc, bc), und_dot(ca, ca)));
    return longest > 0 ? und_length(cross) / longest : 0;
}

/* Do the triangles that stay keep their sides and some shape where `from` goes to `to`? */
static bool keeps_faces(const thinner *t, int32_t from, int32_t to)
{
    for (int32_t k = t->first[from]; k < t->first[from + 1]; k++) {
        const int32_t *corner = t->shell->triangle + 3 * (size_t)t->around[k];
        if (corner[0] == to || corner[1] == to || corner[2] == to)
            continue;
        und_vec3 p[3], q[3];
        for (int i = 0; i < 3; i++) {
            p[i] = place_of(t->shell, corner[i]);
            q[i] = place_of(t->shell, corner[i] == from ? to : corner[i]);
            und_vec3 edge = und_sub(place_of(t->shell, corner[i]), place_of(t->shell, to));
            if (corner[i] != from && und_dot(edge, edge) > t->longest * t->longest)
                return false;
        }
        und_vec3 was = und_cross(und_sub(p[1], p[0]), und_sub(p[2], p[0]));
        und_vec3 is = und_cross(und_sub(q[1], q[0]), und_sub(q[2], q[0]));
        double shape = shape_of(is, q[0], q[1], q[2]);
        if (!(und_dot(was, is) > TURN * und_length(was) * und_length(is)) ||
            !(shape > SLIVER || shape >= shape_of(was, p[0], p[1], p[2])))
            return false;
    }
    return true;
}

/* Pulling keeps the surface what it is where the two have just the two neighbours in common that their
 * triangles have (the link condition), and it is no tetrahedron. */
static bool keeps_form(const thinner *t, const int32_t *ring, int count, int32_t to)
{
    int32_t other[MOST_RING];
    int others = ring_of(t, to, other), common = 0;
    if (others > MOST_RING || count + others - 4 > MOST_RING || count + others <= 6)
        return false;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < others; j++)
            common += ring[i] == other[j];
    return common == 2;
}

static void pull(thinner *t, int32_t from, int32_t to, const int32_t *ring, int count)
{
    for (int32_t k = t->first[from]; k < t->first[from + 1]; k++) {
        int32_t *corner = t->shell->triangle + 3 * (size_t)t->around[k];
        bool goes = corner[0] == to || corner[1] == to || corner[2] == to;
        for (int i = 0; i < 3; i++)
            corner[i] = goes ? -1 : corner[i] == from ? to : corner[i];
    }
    for (int k = 0; k <= TERMS; k++)
        t->planes[to][k] += t->planes[from][k];
    t->changed[from] = true;
    for (int i = 0; i < count; i++)
        t->changed[ring[i]] = true;
}

/* Pulls a vertex onto the nearest neighbour that will do. */
static bool thin_vertex(thinner *t, int32_t v, double square)
{
    int32_t ring[MOST_RING], best = -1;
    double nearest = INFINITY;
    int count = ring_of(t, v, ring);
    if (count < 3 || count > MOST_RING)
        return false;
    for (int i = 0; i < count; i++) {
        und_vec3 edge = und_sub(place_of(t->shell, ring[i]), place_of(t->shell, v));
        double length = und_dot(edge, edge);
        if (!t->changed[ring[i]] && length < nearest &&
            off_planes(t->planes[v], t->planes[ring[i]], near_place(t, ring[i])) <= square &&
            keeps_form(t, ring, count, ring[i]) && keeps_faces(t, v, ring[i])) {
            best = ring[i];
            nearest = length;
        }
    }
    if (best >= 0)
        pull(t, v, best, ring, count);
    return best >= 0;
}

static void drop_triangles(und_shell *s)
{
    int count = 0;
    for (int i = 0; i < s->triangle_count; i++)
        if (s->triangle[3 * i] >= 0)
            memmove(s->triangle + 3 * count++, s->triangle + 3 * i, 3 * sizeof *s->triangle);
    s->triangle_count = count;
}

/* Vertices of no triangle go; the others keep their order. */
static void drop_vertices(und_shell *s, int32_t *number)
{
    int count = 0;
    memset(number, 0, (size_t)s->vertex_count * sizeof *number);
    for (int i = 0; i < 3 * s->triangle_count; i++)
        number[s->triangle[i]] = 1;
    float *list[3] = {s->position, s->normal, s->velocity};
    for (int v = 0; v < s->vertex_count; v++) {
        if (!number[v])
            continue;
        for (int k = 0; k < 3 && list[k]; k++)
            memmove(list[k] + 3 * count, list[k] + 3 * v, 3 * sizeof *list[k]);
        number[v] = count++;
    }
    for (int i = 0; i < 3 * s->triangle_count; i++)
        s->triangle[i] = number[s->triangle[i]];
    s->vertex_count = count;
}

/* What is nearly flat goes first: the tolerance rises from pass to pass. */
static void thin(thinner *t)
{
    und_shell *s = t->shell;
    gather_planes(t);
    for (int pass = 1, gone = 1; pass <= PASSES && (gone > s->vertex_count / 500 || pass <= RISE); pass++) {
        double allowed = t->tolerance * (pass < RISE ? (double)pass / RISE : 1);
        gone = 0;
        find_rings(t);
        for (int32_t v = 0; v < s->vertex_count; v++)
            if (!t->changed[v] && t->first[v] < t->first[v + 1])
                gone += thin_vertex(t, v, allowed * allowed);
        drop_triangles(s);
    }
    drop_vertices(s, t->first);
}

und_status und_shell_thin(und_shell *shell, double tolerance, double longest, und_error *err)
{
    if (!(tolerance > 0) || shell->triangle_count == 0)
        return UND_OK;
    size_t vertices = (size_t)shell->vertex_count;
    thinner t = {.shell = shell, .tolerance = tolerance, .longest = longest};
    t.planes = und_alloc(vertices, sizeof *t.planes, "a surface's planes", err);
    t.first = und_alloc(vertices + 2, sizeof *t.first, "a surface's rings", err);
    t.around = und_alloc(3 * (size_t)shell->triangle_count, sizeof *t.around, "a surface's rings", err);
    t.changed = und_alloc(vertices, sizeof *t.changed, "a surface's rings", err);
    bool good = t.planes && t.first && t.around && t.changed;
    if (good)
        thin(&t);
    free(t.planes);
    free(t.first);
    free(t.around);
    free(t.changed);
    return good ? UND_OK : UND_FAILED;
}
