/* Films, and walls, that no point of the mesh's lattice is in: on which of its edges they are, and where. */
#include "base/parallel.h"
#include "base/status.h"
#include "geom/shell_edges.h"
#include "surface/frame_mesh_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of an edge: what is on it is so far from its ends, and from what is beside it. */
static const double APART = 1e-3;
static const double LEAST_WALL = 0.02; /* of an edge: thinner is no wall */
static const double STEEP = 0.25;      /* cosine: an edge goes through a wall at least as straight as that */
static const double OFF = 0.02;        /* of an edge: so far off is what is of a wall's other side */
static const double OPPOSITE = -0.5;   /* cosine: the same of the ways out of a wall on its two sides */

typedef und_frame_mesh_films films;
typedef und_frame_mesh_lattice lattice;

/* An edge of the lattice. */
typedef struct edge {
    size_t at, next;
    int axis;
    double length; /* m */
} edge;

static void point_of(const lattice *p, size_t at, int point[3])
{
    point[2] = (int)(at / (size_t)p->step[2]);
    point[1] = (int)(at % (size_t)p->step[2] / (size_t)p->step[1]);
    point[0] = (int)(at % (size_t)p->step[1]);
}

/* Those on the box's sides and between: what is beyond them is none of the liquid's. */
static bool is_inner(const lattice *p, const int point[3], int axis, int by)
{
    return point[axis] + by > 0 && point[axis] + by < p->n[axis] - 1;
}

static edge edge_at(const lattice *p, size_t at, int axis)
{
    int point[3];
    point_of(p, at, point);
    const double *place = p->at[axis] + point[axis];
    return (edge){at, at + (size_t)p->step[axis], axis, place[1] - place[0]};
}

/* Whether there may be liquid near the row of points along x that one is in. */
static bool has_row(const films *f, size_t at)
{
    const size_t row = at / (size_t)f->p->step[1];
    return !f->rows || f->rows[row >> 6] >> (row & 63) & 1;
}

static bool is_solid(const films *f, size_t at)
{
    return !(f->room[at] > 0);
}

static int label_of(const films *f, size_t at)
{
    return is_solid(f, at) ? UND_SHELL_SOLID : f->field[at] < 0 ? UND_SHELL_LIQUID : UND_SHELL_AIR;
}

/* ---- Where things are on an edge ---- */

/* Where a point is: in the open, and what is told of walls is how far they are; or in a solid, and it is how
 * deep. */
enum { OPEN = 1, INSIDE = -1 };

/* The way away from the nearest wall: along each axis to where it is further away.  What is on the other side
 * of a thin wall, or of a gap, is not looked at so. */
static void way_from_wall(const films *f, size_t at, int where, double way[3])
{
    int point[3];
    point_of(f->p, at, point);
    for (int a = 0; a < 3; a++) {
        way[a] = 0;
        for (int by = -1; by <= 1; by += 2) {
            const double length = fabs(f->p->at[a][point[a] + by] - f->p->at[a][point[a]]);
            const size_t next = (size_t)((ptrdiff_t)at + by * f->p->step[a]);
            if (!is_inner(f->p, point, a, by) || !(length > 0))
                continue;
            const double rise = where * (double)(f->room[next] - f->room[at]) / length;
            way[a] = rise > fabs(way[a]) ? by * rise : way[a];
        }
    }
}

/* How steeply it grows along an edge, away from its other end. */
static double slope_from(const films *f, size_t at, int where, int axis, bool up)
{
    double way[3];
    way_from_wall(f, at, where, way);
    return fmin(fmax(up ? way[axis] : -way[axis], STEEP), 1);
}

/* Whether a wall, or a gap, is between two points along an axis, not just beside them. */
static bool faces_apart(const films *f, size_t at, size_t next, int where, int axis)
{
    double low[3], high[3], both = 0, sizes[2] = {0};
    way_from_wall(f, at, where, low);
    way_from_wall(f, next, where, high);
    for (int a = 0; a < 3; a++) {
        both += low[a] * high[a];
        sizes[0] += low[a] * low[a];
        sizes[1] += high[a] * high[a];
    }
    return -low[axis] > STEEP && high[axis] > STEEP && both < OPPOSITE * sqrt(sizes[0] * sizes[1]);
}

/* From a point at one end of an edge on towards the other: where the wall is, and the film on it, m. */
typedef struct layer {
    double wall, film;
} layer;

static layer layer_before(const films *f, const edge *e, bool from_low)
{
    const size_t at = from_low ? e->at : e->next;
    const int where = is_solid(f, at) ? INSIDE : OPEN;
    const double slope = slope_from(f, at, where, e->axis, !from_low);
    return (layer){where * (double)f->room[at] / slope, (double)f->field[at] / slope};
}

/* Whether what the point at one end of an edge is in, a solid or the open, is that thin there that what it
 * has is of the other side. */
static bool is_thin(const films *f, const edge *e, bool low)
{
    const size_t in = low ? e->at : e->next, other = low ? e->next : e->at;
    const int where = is_solid(f, other) ? INSIDE : OPEN;
    int point[3];
    point_of(f->p, in, point);
    if (!is_inner(f->p, point, e->axis, low ? -1 : 1))
        return false;
    const size_t beyond = (size_t)((ptrdiff_t)in + (low ? -1 : 1) * f->p->step[e->axis]);
    const double of_this_side =
        where * (double)f->room[other] - slope_from(f, other, where, e->axis, low) * e->length;
    return where * f->room[beyond] > where * f->room[in] &&
           where * (double)f->room[in] > of_this_side + OFF * e->length &&
           faces_apart(f, low ? beyond : other, low ? other : beyond, where, e->axis);
}

/* Of an edge from a solid to the open: from there on, in parts of it. */
static layer layer_on(const films *f, const edge *e, bool *thin)
{
    const bool solid_low = is_solid(f, e->at);
    const size_t solid = solid_low ? e->at : e->next, open = solid_low ? e->next : e->at;
    const bool gap = is_thin(f, e, !solid_low);
    layer l = layer_before(f, e, !solid_low);
    *thin = gap || is_thin(f, e, solid_low);
    if (gap) {
        const double film = l.wall - l.film, wall = e->length - layer_before(f, e, solid_low).wall;
        return (layer){wall / e->length, (wall - film) / e->length};
    }
    if (*thin)
        return (layer){l.wall / e->length, l.film / e->length};
    l.wall = (double)f->room[open] / (double)(f->room[open] - f->room[solid]);
    const double there = (double)f->field[open] + l.wall * (double)(f->field[solid] - f->field[open]);
    l.film = there < 0 ? l.wall * (double)f->field[open] / ((double)f->field[open] - there) : l.wall;
    return l;
}

/* ---- Which edges ---- */

/* Whether liquid at one end is held together with more of it by what is between a solid and the air alone: on
 * a side with these crosswise. */
static bool is_crosswise(const films *f, const edge *e)
{
    const bool solid_low = is_solid(f, e->at);
    const size_t solid = solid_low ? e->at : e->next, liquid = solid_low ? e->next : e->at;
    bool any = false;
    for (int way = 0; way < 4; way++) {
        const ptrdiff_t by = (way % 2 ? 1 : -1) * f->p->step[(e->axis + 1 + way / 2) % 3];
        any = any || (label_of(f, (size_t)((ptrdiff_t)solid + by)) == UND_SHELL_LIQUID &&
                      label_of(f, (size_t)((ptrdiff_t)liquid + by)) == UND_SHELL_AIR);
    }
    return any;
}

/* In front of a thin wall, where that is must be told for what points show too; and elsewhere whether what
 * they show goes on along the wall. */
static unsigned find_film(const films *f, const edge *e, bool *thin)
{
    const layer l = layer_on(f, e, thin);
    if (label_of(f, is_solid(f, e->at) ? e->next : e->at) == UND_SHELL_LIQUID)
        return is_thin(f, e, !is_solid(f, e->at)) ? UND_SHELL_FILM | UND_SHELL_GAP
               : *thin || is_crosswise(f, e)      ? UND_SHELL_FILM
                                                  : 0;
    return l.film < l.wall - APART && l.film < 1 ? UND_SHELL_FILM : 0;
}

/* Whether what is on both sides of a wall, or of a gap, leaves it some width. */
static bool is_wide(const films *f, const edge *e, int where)
{
    return where * (double)(f->room[e->at] + f->room[e->next]) < e->length &&
           faces_apart(f, e->at, e->next, where, e->axis) &&
           layer_before(f, e, true).wall + layer_before(f, e, false).wall < (1 - LEAST_WALL) * e->length;
}

static unsigned find_wall(const films *f, const edge *e)
{
    if (!is_wide(f, e, OPEN))
        return 0;
    const layer low = layer_before(f, e, true), high = layer_before(f, e, false);
    const double least = APART * e->length;
    const bool film_low = low.film >= 0 && low.film < low.wall - least,
               film_high = high.film >= 0 && high.film < high.wall - least;
    return UND_SHELL_WALL | (film_low ? UND_SHELL_FILM_LOW : 0) | (film_high ? UND_SHELL_FILM_HIGH : 0);
}

/* In solids the liquid's surface goes on as straight, so it tells what is in gaps between them. */
static unsigned find_gap(const films *f, const edge *e)
{
    return f->field[e->at] < 0 && f->field[e->next] < 0 && is_wide(f, e, INSIDE)
               ? UND_SHELL_FILM | UND_SHELL_GAP
               : 0;
}

static void set_bits(const films *f, size_t at, int axis, unsigned bits)
{
    f->edges[at] = (uint16_t)(f->edges[at] | bits << (UND_SHELL_EDGE_BITS * axis));
}

static void clear_bits(const films *f, size_t at, int axis)
{
    f->edges[at] = (uint16_t)(f->edges[at] & ~(UND_SHELL_EDGE << (UND_SHELL_EDGE_BITS * axis)));
}

static void find_edge(const films *f, size_t at, int axis)
{
    const size_t next = at + (size_t)f->p->step[axis];
    const float near = (float)f->p->grid->dx;
    if (fabsf(f->room[at]) > near || fabsf(f->room[next]) > near || !has_row(f, next))
        return;
    const edge e = edge_at(f->p, at, axis);
    bool thin = false;
    unsigned bits = 0;
    if (is_solid(f, at) == is_solid(f, next)) {
        bits = is_solid(f, at) ? find_gap(f, &e) : find_wall(f, &e);
        thin = bits != 0;
    } else
        bits = find_film(f, &e, &thin);
    set_bits(f, at, axis, bits);
    if (bits && thin)
        f->edges[at] |= UND_FRAME_MESH_THIN;
}

static void find_edges(const films *f)
{
    const lattice *p = f->p;
    PARALLEL_FOR(und_workers(p->threads, (size_t)p->step[2] * (size_t)p->n[2], 1 << 15))
    for (int z = 1; z < p->n[2] - 1; z++)
        for (int y = 1; y < p->n[1] - 1; y++) {
            const size_t row = (size_t)(y * p->step[1] + z * p->step[2]);
            for (int x = 1; x < p->n[0] - 1 && has_row(f, row); x++) {
                const int point[3] = {x, y, z};
                for (int axis = 0; axis < 3; axis++)
                    if (p->grid->n[axis] > 1 && is_inner(p, point, axis, 1))
                        find_edge(f, row + (size_t)x, axis);
            }
        }
}

/* ---- Closing ----
 *
 * A film goes on to the next edges around, where it has come down to the wall; and further where it would
 * hang together with itself by an edge alone. */

/* A side of cells beside an edge: its edges, from each corner to the next. */
typedef struct side {
    size_t at[4];
    int axis[4];
    und_shell_ring ring;
} side;

static const bool UP[4] = {true, true, false, false};

/* One of the four around an edge, two along each of the other axes; the edge is its first or third. */
static int side_of(const films *f, size_t at, int axis, int way, side *s)
{
    const int other = (axis + 1 + way / 2) % 3, own = way % 2 ? 0 : 2;
    const size_t u = (size_t)f->p->step[axis], v = (size_t)f->p->step[other], low = own == 0 ? at : at - v;
    const size_t corner[4] = {low, low + u, low + u + v, low + v}, first[4] = {low, low + u, low + v, low};
    int label[4];
    unsigned bits[4];
    for (int i = 0; i < 4; i++) {
        s->at[i] = first[i];
        s->axis[i] = i % 2 ? other : axis;
        label[i] = label_of(f, corner[i]);
        bits[i] = und_shell_edge_bits(f->edges + first[i], s->axis[i]);
    }
    s->ring = und_shell_ring_of(label, bits, UP);
    return own;
}

typedef struct list {
    size_t *edges; /* 3 times the point, and the axis */
    size_t count, room;
} list;

static bool add(list *l, size_t at, int axis)
{
    if (l->count == l->room) {
        const size_t room = 2 * l->room + 1024;
        size_t *edges = realloc(l->edges, room * sizeof *edges);
        if (!edges)
            return false;
        l->edges = edges;
        l->room = room;
    }
    l->edges[l->count++] = 3 * at + (size_t)axis;
    return true;
}

static bool list_all(const films *f, list *l)
{
    const size_t wide = (size_t)f->p->step[1], rows = (size_t)f->p->n[1] * (size_t)f->p->n[2];
    for (size_t row = 0; row < rows; row++)
        for (size_t at = row * wide; at < (row + 1) * wide && has_row(f, at); at++)
            for (int axis = 0; axis < 3 && f->edges[at]; axis++)
                if (und_shell_edge_bits(f->edges + at, axis) && !add(l, at, axis))
                    return false;
    return true;
}

/* Walls, and gaps, that are an edge wide are none. */
static bool drop_narrow(const films *f, const list *l)
{
    bool any = false;
    for (size_t i = 0; i < l->count; i++) {
        const size_t at = l->edges[i] / 3;
        const int axis = (int)(l->edges[i] % 3);
        const bool gap = is_solid(f, at) && is_solid(f, at + (size_t)f->p->step[axis]);
        bool ends[4];
        for (int way = 0; way < 4; way++) {
            side s;
            const int own = side_of(f, at, axis, way, &s);
            ends[way] =
                gap ? und_shell_ring_closed(&s.ring, own, UP[own]) != 0 : und_shell_ring_alone(&s.ring, own);
        }
        if (!(ends[0] && ends[1]) && !(ends[2] && ends[3]))
            continue;
        clear_bits(f, at, axis);
        any = true;
    }
    return any;
}

/* Lets an edge's films, as bits, go on over the sides that are chosen, as bits. */
static bool go_on(const films *f, list *l, size_t id, unsigned films_of, unsigned ways)
{
    for (int way = 0; way < 4; way++) {
        side s;
        und_shell_end ends[4];
        const int own = side_of(f, id / 3, (int)(id % 3), way, &s);
        const int count = ways >> way & 1 ? und_shell_ring_ends(&s.ring, UP, ends) : 0;
        for (int i = 0; i < count; i++) {
            const size_t at = s.at[ends[i].dry];
            const int axis = s.axis[ends[i].dry];
            int point[3];
            point_of(f->p, at, point);
            const bool inner = is_inner(f->p, point, axis, 0) && is_inner(f->p, point, axis, 1) &&
                               has_row(f, at) && has_row(f, at + (size_t)f->p->step[axis]);
            if (ends[i].film != own || !(ends[i].film_bit & films_of) || !inner)
                continue;
            const unsigned before = und_shell_edge_bits(f->edges + at, axis);
            set_bits(f, at, axis, ends[i].dry_bit);
            if (!before && !add(l, at, axis))
                return false;
        }
    }
    return true;
}

/* The sides, as bits, on which one of an edge's films ends. */
static unsigned ends_of(const films *f, size_t id, unsigned film)
{
    unsigned ways = 0;
    for (int way = 0; way < 4; way++) {
        side s;
        und_shell_end ends[4];
        const int own = side_of(f, id / 3, (int)(id % 3), way, &s);
        const int count = und_shell_ring_ends(&s.ring, UP, ends);
        for (int i = 0; i < count; i++)
            ways |= ends[i].film == own && ends[i].film_bit == film ? 1U << way : 0;
    }
    return ways;
}

static bool widen(const films *f, list *l)
{
    static const unsigned FILMS[3] = {UND_SHELL_FILM, UND_SHELL_FILM_LOW, UND_SHELL_FILM_HIGH};
    for (bool any = true; any;) {
        any = false;
        for (size_t i = 0; i < l->count; i++)
            for (int k = 0; k < 3; k++) {
                const size_t id = l->edges[i];
                if (!(und_shell_edge_bits(f->edges + id / 3, (int)(id % 3)) & FILMS[k]))
                    continue;
                const unsigned ways = ends_of(f, id, FILMS[k]);
                if (ways != 3 && ways != 12 && ways != 15)
                    continue;
                if (!go_on(f, l, id, FILMS[k], ways))
                    return false;
                any = any || ends_of(f, id, FILMS[k]) != ways;
            }
    }
    return true;
}

/* Whether it is two sheets at once that pass an edge, which have but its vertices in common. */
static bool is_pinched(const films *f, size_t id)
{
    unsigned closed[4], pairs[2];
    for (int way = 0; way < 4; way++) {
        side s;
        const int own = side_of(f, id / 3, (int)(id % 3), way, &s);
        closed[way] = und_shell_ring_closed(&s.ring, own, UP[own]);
    }
    pairs[0] = closed[0] & closed[1];
    pairs[1] = closed[2] & closed[3];
    return (pairs[0] & ~(closed[2] ^ closed[3])) != 0 || (pairs[1] & ~(closed[0] ^ closed[1])) != 0;
}

/* What could not go on is none. */
static bool drop_pinched(const films *f, const list *l)
{
    bool any = false;
    for (size_t i = 0; i < l->count; i++)
        if (und_shell_edge_bits(f->edges + l->edges[i] / 3, (int)(l->edges[i] % 3)) &&
            is_pinched(f, l->edges[i])) {
            clear_bits(f, l->edges[i] / 3, (int)(l->edges[i] % 3));
            any = true;
        }
    return any;
}

und_status und_frame_mesh_find_films(und_frame_mesh_films *f, und_error *err)
{
    list l = {0};
    find_edges(f);
    bool good = list_all(f, &l);
    while (good && drop_narrow(f, &l))
        ;
    const size_t wet = l.count;
    unsigned char *films_of = good ? malloc(wet + 1) : NULL;
    good = good && films_of;
    for (size_t i = 0; good && i < wet; i++)
        films_of[i] = (unsigned char)und_shell_edge_bits(f->edges + l.edges[i] / 3, (int)(l.edges[i] % 3));
    for (size_t i = 0; good && i < wet; i++)
        good = go_on(f, &l, l.edges[i], films_of[i] & ~(unsigned)UND_SHELL_WALL, 15);
    good = good && widen(f, &l);
    while (good && drop_pinched(f, &l))
        ;
    free(l.edges);
    free(films_of);
    return good ? UND_OK : und_error_set(err, UND_FAILED, "no memory for films");
}

/* ---- Their vertices ---- */

/* The gradient at a point. */
static void gradient(const films *f, const float *values, size_t at, double out[3])
{
    int point[3];
    point_of(f->p, at, point);
    for (int a = 0; a < 3; a++) {
        const double *place = f->p->at[a] + point[a];
        const int low = is_inner(f->p, point, a, -1) && place[-1] < place[0],
                  high = is_inner(f->p, point, a, 1) && place[1] > place[0];
        const ptrdiff_t step = f->p->step[a];
        const double rise =
            (double)values[(ptrdiff_t)at + high * step] - (double)values[(ptrdiff_t)at - low * step];
        out[a] = low + high > 0 ? rise / (place[high] - place[-low]) : 0;
    }
}

typedef struct vertices {
    const films *f;
    const edge *e;
    float *position, *normal;
} vertices;

/* The next one, in parts of the edge from the low end, with its normal from how far it is to the liquid's
 * surface or into the solid at one of the ends. */
static void put(vertices *v, double part, bool wall, size_t end)
{
    int point[3];
    double normal[3];
    point_of(v->f->p, v->e->at, point);
    gradient(v->f, wall ? v->f->room : v->f->field, end, normal);
    for (int a = 0; a < 3; a++) {
        const double from = v->f->p->at[a][point[a]];
        *v->position++ = (float)(from + (a == v->e->axis ? part * v->e->length : 0));
        *v->normal++ = (float)(wall ? -normal[a] : normal[a]);
    }
}

static double between(double value, double low, double high)
{
    return value > low ? value < high ? value : high : low;
}

/* From an end in the air to the wall, which is a film's that may have come down to it. */
static layer settled(layer l)
{
    l.wall = between(l.wall, 3 * APART, 1 - APART);
    l.film = between(l.film, APART, l.wall - APART);
    return l;
}

static void put_film(vertices *v)
{
    const edge *e = v->e;
    bool thin;
    const bool solid_low = is_solid(v->f, e->at);
    const layer l = settled(layer_on(v->f, e, &thin));
    const size_t open = solid_low ? e->next : e->at;
    const bool film = label_of(v->f, open) == UND_SHELL_AIR;
    if (solid_low || film)
        put(v, solid_low ? 1 - l.wall : l.film, solid_low, open);
    if (!solid_low || film)
        put(v, solid_low ? 1 - l.film : l.wall, !solid_low, open);
}

/* Of a wall between the ends what is on the side of one of them. */
static void put_side(vertices *v, bool low, unsigned bits)
{
    const edge *e = v->e;
    const size_t end = low ? e->at : e->next;
    const bool liquid = label_of(v->f, end) == UND_SHELL_LIQUID;
    layer l = layer_before(v->f, e, low);
    l = settled((layer){l.wall / e->length, l.film / e->length});
    const bool film = bits & (low ? UND_SHELL_FILM_LOW : UND_SHELL_FILM_HIGH);
    for (int k = 0; k < 2; k++) {
        const bool wall = low ? k == 1 : k == 0;
        const double part = wall ? l.wall : l.film;
        if (wall ? liquid || film : film && !liquid)
            put(v, low ? part : 1 - part, wall, end);
    }
}

static void put_gap(vertices *v)
{
    const edge *e = v->e;
    put(v, between(layer_before(v->f, e, true).wall / e->length, APART, 1 - 2 * APART), true, e->at);
    put(v, 1 - between(layer_before(v->f, e, false).wall / e->length, APART, 1 - 2 * APART), true, e->next);
}

void und_frame_mesh_put(const void *context, size_t at, int axis, float *position, float *normal)
{
    const films *f = context;
    const edge e = edge_at(f->p, at, axis);
    const unsigned bits = und_shell_edge_bits(f->edges + at, axis);
    vertices v = {f, &e, position, normal};
    if (is_solid(f, e.at) && is_solid(f, e.next))
        put_gap(&v);
    else if (bits & UND_SHELL_WALL) {
        put_side(&v, true, bits);
        put_side(&v, false, bits);
    } else
        put_film(&v);
}
