/* Triangles into signed distances.  The signs come from counting how often the lattice's lines enter and
 * leave the mesh, as und_trimesh does: parts may overlap, and open meshes are put to the vote. */
#include "geom/mesh_band.h"
#include "geom/sequence.h"

#include "base/pages.h"
#include "base/parallel.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* The lines of the lattice along one axis: line (a, b) passes the points where the other two are a and b. */
typedef struct line_set {
    int axis, across[2]; /* across[1] is the slower of the two in memory */
    size_t stride[3];    /* of points along axis and the two across */
    const int *n;
    int32_t *turn; /* [point]: how much more the line enters than leaves, between the point before and this */
    int32_t *total; /* [line]: all along it */
} line_set;

/* How often the edge p q crosses the ray from the line to higher coordinates: 1 upwards, -1 downwards; turned
 * round exactly the opposite.  As edge_turn of trimesh.c. */
static inline int edge_turn(const double p[2], const double q[2])
{
    bool p_below = p[1] < 0, q_below = q[1] < 0;
    if (p_below == q_below)
        return 0;
    double side = p[0] * q[1] - p[1] * q[0];
    return p_below ? side > 0 : -(side < 0);
}

/* Where the line meets the triangle; c are its corners seen along the line, from the line on. */
static double meeting(double c[3][2], const double along[3])
{
    double w[3], sum = 0, low = fmin(along[0], fmin(along[1], along[2]));
    double high = fmax(along[0], fmax(along[1], along[2])), place = 0;
    for (int k = 0; k < 3; k++) {
        const double *p = c[(k + 1) % 3], *q = c[(k + 2) % 3];
        w[k] = p[0] * q[1] - p[1] * q[0];
        sum += w[k];
    }
    for (int k = 0; k < 3; k++)
        place += w[k] * along[k];
    place = sum != 0 ? place / sum : 0.5 * (low + high);
    return fmin(fmax(place, low), high);
}

/* The lattice points from first to last that a stretch holds. */
static inline bool points_in(double low, double high, int n, int *first, int *last)
{
    if (!(high >= 0 && low <= n - 1))
        return false;
    *first = low > 0 ? (int)ceil(low) : 0;
    *last = high < n - 1 ? (int)floor(high) : n - 1;
    return *first <= *last;
}

static void cross_line(const line_set *l, const und_corners *t, int a, int b)
{
    double c[3][2], along[3];
    for (int k = 0; k < 3; k++) {
        c[k][0] = t->at[k][l->across[0]] - a;
        c[k][1] = t->at[k][l->across[1]] - b;
        along[k] = t->at[k][l->axis];
    }
    int turn = edge_turn(c[0], c[1]) + edge_turn(c[1], c[2]) + edge_turn(c[2], c[0]);
    if (turn == 0)
        return;
    int n = l->n[l->axis];
    double place = meeting(c, along);
    l->total[(size_t)b * (size_t)l->n[l->across[0]] + (size_t)a] += turn;
    if (!(place < n - 1))
        return;
    int next = place < 0 ? 0 : (int)floor(place) + 1;
    l->turn[(size_t)a * l->stride[1] + (size_t)b * l->stride[2] + (size_t)next * l->stride[0]] += turn;
}

/* Of the lines with low <= b < high. */
static void cross_lines(const line_set *l, const und_corners *triangle, int count, int low, int high)
{
    for (int i = 0; i < count; i++) {
        const und_corners *t = &triangle[i];
        double least[2], most[2];
        for (int k = 0; k < 2; k++) {
            double p = t->at[0][l->across[k]], q = t->at[1][l->across[k]], r = t->at[2][l->across[k]];
            least[k] = fmin(p, fmin(q, r));
            most[k] = fmax(p, fmax(q, r));
        }
        int from[2], to[2];
        if (!points_in(least[1], most[1], l->n[l->across[1]], &from[1], &to[1]) || from[1] >= high ||
            to[1] < low || !points_in(least[0], most[0], l->n[l->across[0]], &from[0], &to[0]))
            continue;
        for (int b = from[1] > low ? from[1] : low; b <= to[1] && b < high; b++)
            for (int a = from[0]; a <= to[0]; a++)
                cross_line(l, t, a, b);
    }
}

/* A point gets a vote for each of the two halves of its line that says it is inside. */
static void count_votes(const line_set *l, int low, int high, uint8_t *votes)
{
    int n = l->n[l->axis], width = l->n[l->across[0]];
    for (int b = low; b < high; b++)
        for (int a = 0; a < width; a++) {
            size_t at = (size_t)a * l->stride[1] + (size_t)b * l->stride[2];
            int total = l->total[(size_t)b * (size_t)width + (size_t)a], below = 0;
            for (int i = 0; i < n; i++, at += l->stride[0]) {
                below += l->turn[at];
                l->turn[at] = 0;
                votes[at] = (uint8_t)(votes[at] + (below != 0) + (below != total));
            }
        }
}

enum { SLAB = 16 }; /* lines side by side, that one thread crosses with all triangles */

/* Votes along one axis where the mesh is closed, of two; along three where it is open, of six. */
static void vote(const und_corners *triangle, int count, bool closed, const int n[3], int threads,
                 int32_t *turn, int32_t *total, uint8_t *votes)
{
    size_t stride[3] = {1, (size_t)n[0], (size_t)n[0] * (size_t)n[1]};
    for (int axis = 0; axis < (closed ? 1 : 3); axis++) {
        int p = axis == 0 ? 1 : 0, q = axis == 2 ? 1 : 2, slabs = (n[q] + SLAB - 1) / SLAB;
        line_set l = {axis, {p, q}, {stride[axis], stride[p], stride[q]}, n, turn, total};
        memset(total, 0, (size_t)n[p] * (size_t)n[q] * sizeof *total);
        PARALLEL_FOR(threads)
        for (int s = 0; s < slabs; s++) {
            int low = s * SLAB, high = low + SLAB < n[q] ? low + SLAB : n[q];
            cross_lines(&l, triangle, count, low, high);
            count_votes(&l, low, high, votes);
        }
    }
}

static und_status set_signs(const und_corners *triangle, int count, bool closed, const int n[3], int threads,
                            float *distance, und_error *err)
{
    size_t points = (size_t)n[0] * (size_t)n[1] * (size_t)n[2];
    size_t row[3] = {(size_t)n[0], (size_t)n[1], (size_t)n[2]}, lines = row[1] * row[2];
    lines = row[0] * row[2] > lines ? row[0] * row[2] : lines;
    lines = row[0] * row[1] > lines ? row[0] * row[1] : lines;
    int32_t *turn = und_pages_alloc(points * sizeof *turn, "signs of a mesh", err);
    int32_t *total = und_alloc(lines, sizeof *total, "signs of a mesh", err);
    uint8_t *votes = und_pages_alloc(points, "signs of a mesh", err);
    bool room = turn && total && votes;
    if (room) {
        vote(triangle, count, closed, n, threads, turn, total, votes);
        for (size_t i = 0; i < points; i++)
            distance[i] = votes[i] > (closed ? 1 : 3) ? -distance[i] : distance[i];
    }
    und_pages_free(turn);
    free(total);
    und_pages_free(votes);
    return room ? UND_OK : UND_FAILED;
}

und_status und_corners_distance(const und_corners *triangle, int count, und_sign_rule rule, const int n[3],
                                double reach, int threads, float *distance, int32_t *nearest, und_error *err)
{
    und_status status = und_mesh_band(triangle, count, n, reach, threads, distance, nearest, err);
    if (status != UND_OK || rule == UND_SIGN_NONE)
        return status;
    return set_signs(triangle, count, rule == UND_SIGN_CLOSED, n, threads, distance, err);
}

und_status und_lattice_cubes(const und_lattice *lattice, double reach, und_error *err)
{
    double d = lattice->d[0], longest = 0;
    bool good = d > 0 && isfinite(d);
    for (int axis = 0; axis < 3; axis++) {
        good &= lattice->n[axis] >= 1 && isfinite(lattice->origin[axis]);
        good &= fabs(lattice->d[axis] - d) <= 1e-6 * d;
        longest = fmax(longest, lattice->n[axis]);
    }
    if (!good)
        return und_error_set(err, UND_INVALID, "distances to a mesh: expected a lattice of cubes");
    if (!(reach > 0 && reach <= (longest + UND_REACH_BEYOND) * d))
        return und_error_set(err, UND_INVALID,
                             "distances to a mesh: expected a reach of at most %g spacings, found %g",
                             longest + UND_REACH_BEYOND, reach / d);
    return UND_OK;
}

enum { CORNERS_CHUNK = 4096 };

/* The mesh where the pose puts it, in the lattice's units. */
static void place_corners(const und_trimesh *mesh, const und_pose *pose, const und_lattice *lattice,
                          int threads, und_corners *corners)
{
    int count = und_trimesh_count(mesh), chunks = (count + CORNERS_CHUNK - 1) / CORNERS_CHUNK;
    int workers = und_workers(threads, (size_t)count, 2 * (size_t)CORNERS_CHUNK);
    const double *o = lattice->origin;
    double scale = 1 / lattice->d[0];
    PARALLEL_FOR(workers)
    for (int chunk = 0; chunk < chunks; chunk++)
        for (int i = chunk * CORNERS_CHUNK; i < count && i < (chunk + 1) * CORNERS_CHUNK; i++)
            for (int k = 0; k < 3; k++) {
                und_vec3 p = und_pose_point(pose, und_trimesh_corner(mesh, i, k));
                corners[i].at[k][0] = (p.x - o[0]) * scale;
                corners[i].at[k][1] = (p.y - o[1]) * scale;
                corners[i].at[k][2] = (p.z - o[2]) * scale;
            }
}

und_status und_mesh_distance(const und_trimesh *mesh, const und_pose *pose, const und_lattice *lattice,
                             double reach, int threads, float *distance, int32_t *nearest, und_error *err)
{
    if (und_lattice_cubes(lattice, reach, err) != UND_OK)
        return UND_INVALID;
    und_pose rest = und_motion_at(NULL, 0);
    size_t points = und_lattice_count(lattice);
    double d = lattice->d[0];
    int count = und_trimesh_count(mesh);
    und_sign_rule rule = und_trimesh_open_edges(mesh) == 0 ? UND_SIGN_CLOSED : UND_SIGN_OPEN;
    und_corners *corners = und_alloc((size_t)count, sizeof *corners, "a mesh on a lattice", err);
    int32_t *own = nearest ? NULL : und_pages_alloc(points * sizeof *own, "a mesh on a lattice", err);
    und_status status = corners && (nearest || own) ? UND_OK : UND_FAILED;
    if (status == UND_OK) {
        place_corners(mesh, pose ? pose : &rest, lattice, threads, corners);
        status = und_corners_distance(corners, count, rule, lattice->n, reach / d, threads, distance,
                                      nearest ? nearest : own, err);
    }
    for (size_t i = 0; status == UND_OK && i < points; i++)
        distance[i] *= (float)d;
    free(corners);
    und_pages_free(own);
    return status;
}
