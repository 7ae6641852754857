/* Solids that end at a closed side of the domain, or beyond it, go on there.  Their far end is none to the
 * liquid; cells beside the side would have room up to it, and a surface that phi goes on to within. */
#include "flow/solids_parts.h"

static const double NEAR = 2;     /* cells: deeper the nearest surface is no matter */
static const double STEP = 0.5;   /* cells */
static const double AT = 1e-4;    /* cells: what ends so near a side ends at it */
static const double SMALL = 1e-5; /* cells: to take differences over */
enum { STEPS = 6 };

static double plain_distance(const und_solids *s, int solid, und_vec3 p)
{
    const und_obstacle_def *def = &s->parts->defs[solid];
    const double d = und_shape_distance(def->shape, und_pose_local(&s->parts->state[solid].to, p));
    return def->inside_out ? -d : d;
}

typedef struct own_solid {
    const und_solids *solids;
    int solid;
} own_solid;

static double own_distance(const void *context, und_vec3 p)
{
    const own_solid *own = context;
    return plain_distance(own->solids, own->solid, p);
}

/* The ways in from closed sides that a place is no further from than that, m; whether there are any. */
static bool inwards(const und_solids *s, und_vec3 p, double near, und_vec3 *way)
{
    const und_mac *m = &s->mac;
    const double place[3] = {p.x, p.y, p.z};
    double to[3] = {0};
    bool any = false;
    for (int side = 0; side < (m->n[2] > 1 ? 6 : 4); side++) {
        const int a = side / 2;
        const double end = und_mac_middle(m, a, side % 2 ? m->n[a] - 0.5 : -0.5);
        const double away = side % 2 ? end - place[a] : place[a] - end;
        if (s->parts->side_open[side] || away > near)
            continue;
        to[a] += side % 2 ? -1 : 1;
        any = true;
    }
    *way = und_vec(to[0], to[1], to[2]);
    return any;
}

/* The nearest place to one beyond closed sides that is in the domain. */
static und_vec3 at_sides(const und_solids *s, und_vec3 p)
{
    const und_mac *m = &s->mac;
    double place[3] = {p.x, p.y, p.z};
    for (int side = 0; side < (m->n[2] > 1 ? 6 : 4); side++) {
        const int a = side / 2;
        const double end = und_mac_middle(m, a, side % 2 ? m->n[a] - 0.5 : -0.5);
        const bool beyond = side % 2 ? place[a] > end : place[a] < end;
        place[a] = beyond && !s->parts->side_open[side] ? end : place[a];
    }
    return und_vec(place[0], place[1], place[2]);
}

/* Of a place within the solid as it goes on: d where its far ends are counted. */
static double within(const und_solids *s, int solid, und_vec3 p, double d)
{
    const und_mac *m = &s->mac;
    const double dx = m->d[0];
    const own_solid own = {s, solid};
    und_vec3 at = p, way;
    double here = d;
    if (!inwards(s, p, -d + AT * dx, &way))
        return d;
    for (int i = 0; i <= STEPS && here < 0; i++) {
        const und_vec3 out = und_solids_normal(own_distance, &own, at, SMALL * dx, m->n[2] == 1);
        const bool known = und_length(out) > 0.5;
        const und_vec3 end = und_sub(at, und_mul(out, here));
        if (!inwards(s, known ? end : at, known ? AT * dx : -here + AT * dx, &way))
            return und_smaller(d, here + und_dot(out, und_sub(p, at)));
        at = und_add(at, und_mul(way, STEP * dx));
        here = plain_distance(s, solid, at);
    }
    return d;
}

double und_solids_beyond_sides(const und_solids *s, int solid, und_vec3 p, double d)
{
    const double near = NEAR * s->mac.d[0];
    und_vec3 way;
    if (!(fabs(d) < near))
        return d;
    if (d >= 0 && inwards(s, p, 0, &way)) {
        p = at_sides(s, p);
        const double there = plain_distance(s, solid, p);
        d = there < 0 ? there : d;
    }
    return d < 0 ? within(s, solid, p, d) : d;
}
