/* Fields along a curve: after Foster & Fedkiw 2001, whose 3D curves lead the liquid (Wrenninge 2003, 4.1.1).
 */
#include "base/status.h"
#include "control/elements.h"
#include "geom/vec.h"

#include <math.h>
#include <stdlib.h>

#define SPLINE(member_) offsetof(und_field_spline, member_)
#define VALUE_MAX 1e6

enum { PARTS = 16, NEWTON = 3 }; /* of a segment, whose ends are tried first; steps from the nearest on */

const field und_field_spline_keys[] = {{"points", F_POINTS, "m", .required = true, .offset = SPLINE(points),
                                        .doc = "that the curve passes, in their order"},
                                       {"radius", F_NUMBER, "m", 1e-6, 1e6, true, SPLINE(radius),
                                        .doc = "how far from the curve it acts, falling off to 0"},
                                       {"speed", F_NUMBER, "m/s or m/s2", -VALUE_MAX, VALUE_MAX,
                                        .offset = SPLINE(speed), .doc = "along the curve, on it"},
                                       {"pull", F_NUMBER, "m/s or m/s2", -VALUE_MAX, VALUE_MAX,
                                        .offset = SPLINE(pull),
                                        .doc = "towards the curve, a third of the radius beside it"},
                                       {0}};

/* The cubic from one point to the next: c[0] + t c[1] + t^2 c[2] + t^3 c[3], 0 <= t <= 1. */
typedef struct segment {
    und_vec3 c[4];
    und_vec3 at[PARTS + 1];
    und_vec3 low, high; /* outside it the field is 0 */
    double longest;     /* from one of at[] to the next */
} segment;

typedef struct curve {
    und_field_spline spline;
    und_vec3 low, high;
    int count;
    segment list[];
} curve;

static und_vec3 point_on(const segment *s, double t)
{
    return und_add(s->c[0], und_mul(und_add(s->c[1], und_mul(und_add(s->c[2], und_mul(s->c[3], t)), t)), t));
}

static und_vec3 slope_on(const segment *s, double t)
{
    return und_add(s->c[1], und_mul(und_add(und_mul(s->c[2], 2), und_mul(s->c[3], 3 * t)), t));
}

static und_vec3 smaller(und_vec3 a, und_vec3 b)
{
    return und_vec(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
}

static und_vec3 larger(und_vec3 a, und_vec3 b)
{
    return und_vec(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
}

/* Catmull & Rom 1974: at a point the curve runs as from the point before it to the one after. */
static void set_segment(segment *s, const und_vec3 p[4], double radius)
{
    und_vec3 in = und_mul(und_sub(p[2], p[0]), 0.5), out = und_mul(und_sub(p[3], p[1]), 0.5);
    und_vec3 way = und_sub(p[2], p[1]);
    s->c[0] = p[1];
    s->c[1] = in;
    s->c[2] = und_sub(und_mul(way, 3), und_add(und_mul(in, 2), out));
    s->c[3] = und_sub(und_add(in, out), und_mul(way, 2));
    for (int i = 0; i <= PARTS; i++) {
        s->at[i] = point_on(s, (double)i / PARTS);
        if (i > 0)
            s->longest = fmax(s->longest, und_length(und_sub(s->at[i], s->at[i - 1])));
    }
    /* a cubic stays within the hull of its Bezier points */
    und_vec3 hull[4] = {p[1], und_add(p[1], und_mul(in, 1.0 / 3)), und_sub(p[2], und_mul(out, 1.0 / 3)),
                        p[2]};
    s->low = s->high = p[1];
    for (int i = 1; i < 4; i++) {
        s->low = smaller(s->low, hull[i]);
        s->high = larger(s->high, hull[i]);
    }
    und_vec3 around = und_vec(radius, radius, radius);
    s->low = und_sub(s->low, around);
    s->high = und_add(s->high, around);
}

static und_vec3 point_at(const und_points *p, int i)
{
    return und_vec(p->at[i][0], p->at[i][1], p->at[i][2]);
}

/* The point at either end has itself mirrored beyond it, so that the curve runs on straight. */
static und_vec3 point_beyond(const und_points *p, int i)
{
    if (i < 0)
        return und_sub(und_mul(point_at(p, 0), 2), point_at(p, 1));
    if (i >= p->count)
        return und_sub(und_mul(point_at(p, p->count - 1), 2), point_at(p, p->count - 2));
    return point_at(p, i);
}

static void *prepare(const void *data, und_error *err)
{
    const und_field_spline *spline = data;
    const und_points *p = &spline->points;
    if (p->count < 2 || !(spline->radius > 0 && isfinite(spline->radius)) || !isfinite(spline->speed) ||
        !isfinite(spline->pull)) {
        und_error_set(err, UND_INVALID,
                      "a spline: expected at least 2 points and a radius above 0, found %d and %g", p->count,
                      spline->radius);
        return NULL;
    }
    for (int i = 0; i < p->count; i++)
        if (!isfinite(und_length(point_at(p, i)))) {
            und_error_set(err, UND_INVALID, "a spline: point %d is not finite", i + 1);
            return NULL;
        }
    curve *c = und_alloc(1, sizeof *c + (size_t)(p->count - 1) * sizeof *c->list, "a spline", err);
    if (!c)
        return NULL;
    c->spline = *spline;
    c->count = p->count - 1;
    for (int i = 0; i < c->count; i++) {
        und_vec3 around[4];
        for (int k = 0; k < 4; k++)
            around[k] = point_beyond(p, i + k - 1);
        segment *s = &c->list[i];
        set_segment(s, around, spline->radius);
        c->low = i ? smaller(c->low, s->low) : s->low;
        c->high = i ? larger(c->high, s->high) : s->high;
    }
    return c;
}

static void bounds(const void *ready, double time, double low[3], double high[3])
{
    const curve *c = ready;
    (void)time;
    low[0] = c->low.x;
    low[1] = c->low.y;
    low[2] = c->low.z;
    high[0] = c->high.x;
    high[1] = c->high.y;
    high[2] = c->high.z;
}

/* Where on the segment the place is nearest: t, and the square of the distance.  Newton's method for
 * (C(t) - p) . C'(t) = 0, within the part on either side of the nearest of at[]. */
static double nearest_on(const segment *s, und_vec3 p, double limit, double *t)
{
    double best = INFINITY;
    int which = 0;
    for (int i = 0; i <= PARTS; i++) {
        und_vec3 way = und_sub(s->at[i], p);
        double square = und_dot(way, way);
        which = square < best ? i : which;
        best = und_smaller(best, square);
    }
    *t = (double)which / PARTS;
    if (sqrt(best) - s->longest > limit)
        return INFINITY;
    double low = fmax(0, *t - 1.0 / PARTS), high = fmin(1, *t + 1.0 / PARTS), at = *t;
    for (int k = 0; k < NEWTON; k++) {
        und_vec3 way = und_sub(point_on(s, at), p), slope = slope_on(s, at);
        und_vec3 bend = und_add(und_mul(s->c[2], 2), und_mul(s->c[3], 6 * at));
        double rate = und_dot(slope, slope) + und_dot(way, bend);
        if (!(rate > 0))
            break;
        at = fmin(fmax(at - und_dot(way, slope) / rate, low), high);
        way = und_sub(point_on(s, at), p);
        if (und_dot(way, way) < best) {
            best = und_dot(way, way);
            *t = at;
        }
    }
    return best;
}

static double component(und_vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static float field_at(const curve *c, int axis, und_vec3 p)
{
    double radius = c->spline.radius, best = radius * radius, t, nearest = 0;
    const segment *on = NULL;
    for (int i = 0; i < c->count; i++) {
        const segment *s = &c->list[i];
        if (p.x < s->low.x || p.x > s->high.x || p.y < s->low.y || p.y > s->high.y || p.z < s->low.z ||
            p.z > s->high.z)
            continue;
        double square = nearest_on(s, p, sqrt(best), &t);
        if (square < best) {
            best = square;
            nearest = t;
            on = s;
        }
    }
    if (!on)
        return 0;
    double away = sqrt(best) / radius, fall = (1 - away * away) * (1 - away * away);
    double pull = 6.75 * away * (1 - away) * (1 - away); /* 1 at a third */
    und_vec3 along = und_unit(slope_on(on, nearest)), towards = und_unit(und_sub(point_on(on, nearest), p));
    return (float)(c->spline.speed * fall * component(along, axis) +
                   c->spline.pull * pull * component(towards, axis));
}

static void row(const void *ready, int axis, const double place[3], double step, int count, double time,
                float *out)
{
    const curve *c = ready;
    bool beside = place[1] < c->low.y || place[1] > c->high.y || place[2] < c->low.z || place[2] > c->high.z;
    (void)time;
    for (int i = 0; i < count; i++)
        out[i] = beside ? 0 : field_at(c, axis, und_vec(place[0] + i * step, place[1], place[2]));
}

const und_field_kind und_field_spline_kind = {.name = "spline",
                                              .size = sizeof(und_field_spline),
                                              .prepare = prepare,
                                              .release = free,
                                              .bounds = bounds,
                                              .row = row};
