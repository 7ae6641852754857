/* Films go round edges of solids: triangles beneath them would cut through. */
#include "base/status.h"
#include "geom/vec.h"
#include "surface/frame_mesh_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 3, LOOKS = 16 };
static const double AT_WALL = 0.1, CUTS = 0.04, ENOUGH = 0.01; /* cells from the wall */
static const double FURTHEST = 2.5;                            /* cells that a vertex is moved */
static const double FACES = 0.7; /* cosine: less does a wall not face the way out */
static const double FLAT = 0.8, NEAR = 0.5;
static const double OPPOSITE = 0.3; /* of the sum of two normals: they face away from each other */

/* One of a triangle's edges that may cut through the solid; `low` and `high` are its ends. */
typedef struct cut {
    int32_t low, high, side; /* 3 times the triangle, and from which of its vertices */
} cut;

typedef struct bend {
    und_shell *shell;
    uint8_t *film;
    und_frame_mesh_surface_fn *surface;
    const void *context;
    const und_frame_mesh_box *box;
    double dx;
    cut *cuts;
    int cut_count;
    int32_t *middle; /* of each triangle's edges: the vertex in it; 0: none, as no cut makes the first */
    int added, more; /* vertices and triangles */
} bend;

static int compare_cuts(const void *a, const void *b)
{
    const cut *c = a, *d = b;
    return c->low != d->low     ? (c->low > d->low) - (c->low < d->low)
           : c->high != d->high ? (c->high > d->high) - (c->high < d->high)
                                : (c->side > d->side) - (c->side < d->side);
}

static und_vec3 vector(const float v[3])
{
    return und_vec((double)v[0], (double)v[1], (double)v[2]);
}

static und_vec3 vertex(const bend *b, int32_t v)
{
    return vector(b->shell->position + 3 * (size_t)v);
}

/* How far a place is in front of a sheet. */
static double surface_at(const bend *b, uint8_t sheet, und_vec3 place, und_vec3 *normal)
{
    const float at[3] = {(float)place.x, (float)place.y, (float)place.z};
    float slope[3];
    const double distance = (double)b->surface(b->context, sheet, at, slope);
    *normal = vector(slope);
    const double size = und_length(*normal);
    *normal = size > 0 ? und_mul(*normal, 1 / size) : *normal;
    return distance;
}

static bool cuts_through(const bend *b, int32_t from, int32_t to)
{
    und_vec3 unused;
    const und_vec3 a = vertex(b, from), c = vertex(b, to);
    const uint8_t sheet = b->film[from];
    return sheet && b->film[to] == sheet &&
           surface_at(b, sheet, und_mul(und_add(a, c), 0.5), &unused) < -CUTS * b->dx &&
           fabs(surface_at(b, sheet, a, &unused)) < AT_WALL * b->dx &&
           fabs(surface_at(b, sheet, c, &unused)) < AT_WALL * b->dx;
}

static void find_cuts(bend *b)
{
    b->cut_count = 0;
    for (int32_t side = 0; side < 3 * b->shell->triangle_count; side++) {
        const int32_t *v = b->shell->triangle + (side - side % 3);
        const int32_t from = v[side % 3], to = v[(side + 1) % 3];
        if (cuts_through(b, from, to))
            b->cuts[b->cut_count++] = (cut){from < to ? from : to, from < to ? to : from, side};
    }
    qsort(b->cuts, (size_t)b->cut_count, sizeof *b->cuts, compare_cuts);
}

static und_vec3 across(const bend *b, int32_t triangle)
{
    const int32_t *v = b->shell->triangle + 3 * (size_t)triangle;
    const und_vec3 a = vertex(b, v[0]);
    return und_cross(und_sub(vertex(b, v[1]), a), und_sub(vertex(b, v[2]), a));
}

/* Out of the solid from the middle of an edge: between the walls at its ends, or where these are opposite
 * sides of a plate, away from what the triangles beside it bound. */
static und_vec3 way_out(const bend *b, const cut *first, int count)
{
    und_vec3 low, high, sum = {0};
    surface_at(b, b->film[first->low], vertex(b, first->low), &low);
    surface_at(b, b->film[first->high], vertex(b, first->high), &high);
    const und_vec3 between = und_add(low, high);
    if (und_length(between) > OPPOSITE)
        return between;
    for (int i = 0; i < count; i++)
        sum = und_sub(sum, across(b, first[i].side / 3));
    return sum;
}

/* Of a way that of what is at sides of the box at both of its ends. */
static und_vec3 along_sides(const bend *b, const cut *first, und_vec3 way)
{
    const float *low = b->shell->position + 3 * (size_t)first->low,
                *high = b->shell->position + 3 * (size_t)first->high;
    double by[3] = {way.x, way.y, way.z};
    for (int a = 0; a < 3; a++)
        if (und_frame_mesh_at_side(b->box, a, (double)low[a]) &&
            und_frame_mesh_at_side(b->box, a, (double)high[a]) &&
            fabs((double)(low[a] - high[a])) < 2 * b->box->at)
            by[a] = 0;
    return und_vec(by[0], by[1], by[2]);
}

static und_vec3 within(const und_frame_mesh_box *b, und_vec3 place)
{
    return und_vec(und_frame_mesh_within(b, 0, place.x), und_frame_mesh_within(b, 1, place.y),
                   und_frame_mesh_within(b, 2, place.z));
}

/* To where the planes of a sheet at both ends of an edge meet, next to its middle (Kobbelt et al. 2001);
 * false: that is nowhere near to what is on the wall there. */
static bool find_corner(const bend *b, const cut *first, und_vec3 *place)
{
    und_vec3 unused;
    const und_vec3 low = vertex(b, first->low), high = vertex(b, first->high),
                   normal[2] = {vector(b->shell->normal + 3 * (size_t)first->low),
                                vector(b->shell->normal + 3 * (size_t)first->high)};
    const double along = und_dot(normal[0], normal[1]), part = 1 - along * along;
    if (!(fabs(along) < FLAT))
        return false;
    const und_vec3 middle = und_mul(und_add(low, high), 0.5);
    const double off[2] = {und_dot(normal[0], und_sub(low, middle)),
                           und_dot(normal[1], und_sub(high, middle))};
    const und_vec3 by = und_add(und_mul(normal[0], (off[0] - along * off[1]) / part),
                                und_mul(normal[1], (off[1] - along * off[0]) / part));
    const und_vec3 to = within(b->box, und_add(middle, by));
    const double out = surface_at(b, b->film[first->low], to, &unused);
    const bool near = und_length(und_sub(to, *place)) < NEAR * b->dx && out > -ENOUGH * b->dx;
    *place = near ? to : *place;
    return near;
}

/* The place on the wall that the middle of an edge is moved to; false: none is found. */
static bool find_place(const bend *b, const cut *first, int count, und_vec3 *place)
{
    const und_vec3 way = along_sides(b, first, way_out(b, first, count));
    const double size = und_length(way);
    double far = 0;
    *place = und_mul(und_add(vertex(b, first->low), vertex(b, first->high)), 0.5);
    for (int look = 0; look < LOOKS && size > 0 && far < FURTHEST * b->dx; look++) {
        und_vec3 normal;
        const double in = -surface_at(b, b->film[first->low], *place, &normal);
        if (!(in > ENOUGH * b->dx))
            return und_dot(normal, way) > FACES * size && (find_corner(b, first, place) || true);
        *place = within(b->box, und_add(*place, und_mul(way, in / size)));
        far += in;
    }
    return false;
}

static void add_vertex(bend *b, const cut *first, int count)
{
    und_shell *s = b->shell;
    und_vec3 place;
    if (!find_place(b, first, count, &place))
        return;
    const int32_t v = s->vertex_count + b->added++;
    const double at[3] = {place.x, place.y, place.z};
    const und_vec3 sum =
        und_add(vector(s->normal + 3 * (size_t)first->low), vector(s->normal + 3 * (size_t)first->high));
    const double size = und_length(sum), to[3] = {sum.x, sum.y, sum.z};
    for (int a = 0; a < 3; a++) {
        s->position[3 * (size_t)v + (size_t)a] = (float)at[a];
        s->normal[3 * (size_t)v + (size_t)a] =
            size > OPPOSITE ? (float)(to[a] / size) : s->normal[3 * (size_t)first->low + (size_t)a];
    }
    b->film[v] = b->film[first->low];
    for (int i = 0; i < count; i++)
        b->middle[first[i].side] = v;
    b->more += count;
}

/* Room for as many more vertices as there are edges that are cut, and for their triangles. */
static bool make_room(bend *b)
{
    und_shell *s = b->shell;
    const size_t vertices = (size_t)(s->vertex_count + b->cut_count),
                 triangles = (size_t)(s->triangle_count + b->cut_count);
    float *position = realloc(s->position, 3 * vertices * sizeof *position);
    s->position = position ? position : s->position;
    float *normal = realloc(s->normal, 3 * vertices * sizeof *normal);
    s->normal = normal ? normal : s->normal;
    int32_t *triangle = realloc(s->triangle, 3 * triangles * sizeof *triangle);
    s->triangle = triangle ? triangle : s->triangle;
    uint8_t *film = realloc(b->film, vertices);
    b->film = film ? film : b->film;
    return position && normal && triangle && film;
}

static void put(bend *b, int *next, int32_t u, int32_t v, int32_t w)
{
    int32_t *to = b->shell->triangle + 3 * (size_t)(*next)++;
    to[0] = u;
    to[1] = v;
    to[2] = w;
}

/* A triangle with vertices in some of its sides becomes two, three or four. */
static void divide(bend *b, int t, int *next)
{
    int32_t v[3], m[3];
    int sides = 0, turn = 0;
    for (int i = 0; i < 3; i++)
        sides += b->middle[3 * t + i] != 0;
    if (sides == 0)
        return;
    for (int i = 0; i < 3; i++) /* so that the first has one, and of two the last has none */
        if (b->middle[3 * t + i] != 0 && (sides != 2 || b->middle[3 * t + (i + 2) % 3] == 0))
            turn = i;
    for (int i = 0; i < 3; i++) {
        v[i] = b->shell->triangle[3 * t + (turn + i) % 3];
        m[i] = b->middle[3 * t + (turn + i) % 3];
    }
    if (sides == 1) {
        put(b, &t, v[0], m[0], v[2]);
        put(b, next, m[0], v[1], v[2]);
        return;
    }
    put(b, &t, m[0], v[1], m[1]);
    put(b, next, v[0], m[0], sides == 3 ? m[2] : m[1]);
    if (sides == 2)
        put(b, next, v[0], m[1], v[2]);
    else {
        put(b, next, m[2], m[1], v[2]);
        put(b, next, m[0], m[1], m[2]);
    }
}

/* Whether there was anything to bend; false with an error where there is no memory for it. */
static bool bend_once(bend *b, und_error *err)
{
    const int triangles = b->shell->triangle_count;
    b->added = b->more = 0;
    find_cuts(b);
    if (b->cut_count == 0)
        return false;
    memset(b->middle, 0, 3 * (size_t)triangles * sizeof *b->middle);
    if (!make_room(b))
        return und_error_set(err, UND_FAILED, "no memory for films") == UND_OK;
    for (int i = 0, end; i < b->cut_count; i = end) {
        for (end = i + 1; end < b->cut_count && b->cuts[end].low == b->cuts[i].low &&
                          b->cuts[end].high == b->cuts[i].high;)
            end++;
        add_vertex(b, b->cuts + i, end - i);
    }
    int next = triangles;
    for (int t = 0; t < triangles; t++)
        divide(b, t, &next);
    b->shell->triangle_count = next;
    b->shell->vertex_count += b->added;
    return b->added > 0;
}

und_status und_frame_mesh_bend(und_shell *shell, uint8_t **film, und_frame_mesh_surface_fn *surface,
                               const void *context, const und_frame_mesh_box *box, double dx, und_error *err)
{
    bend b = {.shell = shell, .film = *film, .surface = surface, .context = context, .box = box, .dx = dx};
    und_status status = UND_OK;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t sides = 3 * (size_t)shell->triangle_count + 1;
        b.cuts = und_alloc(sides, sizeof *b.cuts, "films", err);
        b.middle = und_alloc(sides, sizeof *b.middle, "films", err);
        status = b.cuts && b.middle ? UND_OK : UND_FAILED;
        const bool more = status == UND_OK && bend_once(&b, err);
        free(b.cuts);
        free(b.middle);
        if (!more)
            break;
    }
    *film = b.film;
    return status;
}
