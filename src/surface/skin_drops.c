/* Markers that are away from all others are drops. */
#include "base/maths.h"
#include "base/parallel.h"
#include "base/status.h"
#include "geom/vec.h"
#include "surface/skin_parts.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { FACES = 20, LARGEST = 1000 };               /* of an icosahedron; of a drop's size in `order` */
static const double ICOSAHEDRON = 2.5361507101204; /* its volume, of radius 1 */

/* Of the filling that is surface: above the first a marker is part of the bulk, below the second a whole
 * drop. */
static const double BULK = 0.6, ALONE = 0.3;

/* The most that is filled, of what is surface there, at the points of the lattice around a place in cells. */
static double filling_at(const und_skin *k, const double cells[3])
{
    const int *n = k->lattice.n;
    size_t low[3];
    double most = 0;
    for (int a = 0; a < 3; a++)
        low[a] = (size_t)und_larger(0, und_smaller(2 * (cells[a] - k->low[a]) + 1, n[a] - 1.5));
    for (size_t c = 0; c < 8; c++) {
        size_t x = c & 1, y = c >> 1 & 1, z = c >> 2;
        size_t at = ((low[2] + z) * (size_t)n[1] + low[1] + y) * (size_t)n[0] + low[0] + x;
        most = und_larger(most, (double)k->filled[at] / (double)k->level[at]);
    }
    return most;
}

/* 0: part of the bulk, up to 1: a drop of its own. */
static double aloneness(const und_skin *k, int i)
{
    const und_markers *s = k->markers;
    const double place[3] = {s->place[0][i], s->place[1][i], s->place[2][i]};
    double cells[3];
    und_markers_cells(s, place, cells);
    if (k->full[und_skin_holder(k, cells)])
        return 0;
    double filling = filling_at(k, cells);
    double t = und_larger(0, und_smaller(1, (BULK - filling) / (BULK - ALONE)));
    return t * t * (3 - 2 * t);
}

void und_skin_find_drops(und_skin *k)
{
    enum { BLOCK = 4096 };
    int blocks = (k->markers->count + BLOCK - 1) / BLOCK;
    PARALLEL_FOR(k->threads)
    for (int block = 0; block < blocks; block++) {
        int end = block == blocks - 1 ? k->markers->count : (block + 1) * BLOCK;
        for (int i = block * BLOCK; i < end; i++)
            k->order[i] = (int32_t)lround(LARGEST * aloneness(k, i));
    }
}

double und_skin_alone(const und_skin *k, int i)
{
    return (double)k->order[i] / LARGEST;
}

void und_skin_set_alone(und_skin *k, int i)
{
    k->order[i] = LARGEST;
}

/* Corners of an icosahedron: (0, +-1, +-golden) and its turns. */
static und_vec3 icosahedron_corner(int i)
{
    double golden = 0.5 * (1 + sqrt(5)), length = sqrt(1 + golden * golden);
    double one = (i & 1 ? 1 : -1) / length, other = (i & 2 ? golden : -golden) / length;
    switch (i / 4) {
    case 0:
        return und_vec(0, one, other);
    case 1:
        return und_vec(one, other, 0);
    default:
        return und_vec(other, 0, one);
    }
}

/* Its faces: three corners that are neighbours, counter-clockwise seen from outside. */
static void icosahedron(und_vec3 corner[FACES][3])
{
    int faces = 0;
    double most = 1.2; /* twice the square of the edge is 1.1 * 2; of other pairs far more */
    for (int a = 0; a < 12; a++)
        for (int b = a + 1; b < 12; b++)
            for (int c = b + 1; c < 12; c++) {
                und_vec3 p = icosahedron_corner(a), q = icosahedron_corner(b), r = icosahedron_corner(c);
                if (und_length(und_sub(p, q)) > most || und_length(und_sub(q, r)) > most ||
                    und_length(und_sub(r, p)) > most)
                    continue;
                bool outward = und_dot(und_cross(und_sub(q, p), und_sub(r, p)), p) > 0;
                corner[faces][0] = p;
                corner[faces][1] = outward ? q : r;
                corner[faces++][2] = outward ? r : q;
            }
}

/* The place of drop i, wholly inside the domain. */
static void drop_place(const und_markers *s, int i, double radius, double place[3])
{
    for (int a = 0; a < 3; a++) {
        double low = s->mac.origin[a], high = low + s->mac.n[a] * s->mac.d[a];
        place[a] = und_larger(low + radius, und_smaller(high - radius, s->place[a][i]));
    }
}

static void put_drops(const und_skin *k, size_t triangle, und_isosurface *out)
{
    const und_markers *s = k->markers;
    const double largest = und_cbrt(s->mac.d[0] * s->mac.d[1] * s->mac.d[2] / ICOSAHEDRON);
    und_vec3 corner[FACES][3];
    icosahedron(corner);
    for (int i = 0; i < s->count; i++) {
        double radius = largest * und_cbrt(s->share[i] * und_skin_alone(k, i)), place[3];
        drop_place(s, i, radius, place);
        for (int f = 0; f < FACES && k->order[i] > 0; f++, triangle++)
            for (size_t c = 0; c < 3; c++) {
                const double unit[3] = {corner[f][c].x, corner[f][c].y, corner[f][c].z};
                for (size_t a = 0; a < 3; a++) {
                    out->normal[9 * triangle + 3 * c + a] = (float)unit[a];
                    out->position[9 * triangle + 3 * c + a] = (float)(place[a] + radius * unit[a]);
                }
            }
    }
}

und_status und_skin_add_drops(const und_skin *k, const und_isosurface *bulk, und_isosurface *out,
                              und_error *err)
{
    size_t first = (size_t)bulk->triangle_count, count = first;
    for (int i = 0; i < k->markers->count; i++)
        count += k->order[i] > 0 ? FACES : 0;
    if (count > INT_MAX / 9)
        return und_error_set(err, UND_FAILED, "a skin of %zu triangles, at most %d", count, INT_MAX / 9);
    out->position = und_alloc(9 * count, sizeof *out->position, "a skin's corners", err);
    out->normal = und_alloc(9 * count, sizeof *out->normal, "a skin's normals", err);
    if (!out->position || !out->normal) {
        und_isosurface_free(out);
        return err->status;
    }
    out->triangle_count = (int)count;
    if (first > 0) {
        memcpy(out->position, bulk->position, 9 * first * sizeof *out->position);
        memcpy(out->normal, bulk->normal, 9 * first * sizeof *out->normal);
    }
    put_drops(k, first, out);
    return UND_OK;
}
