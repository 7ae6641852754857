/* Fields along a curve: after Foster & Fedkiw 2001, whose 3D curves lead the liquid (Wrenninge 2003, 4.1.1).
 */
#include "base/status.h"
#include "control/elements.h"
#include "geom/vec.h"

#include <math.h>
#include <stdlib.h>

#define SPLINE(member_) offsetof(und_field_spline, member_)
#define VALUE_MAX 1e6

enum { PARTS = 16 }; /* of a segment, whose chords are tried first */

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
    double sag;         /* the curve is no further than this from the chords between at[] */
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
    for (int i = 0; i <= PARTS; i++)
        s->at[i] = point_on(s, (double)i / PARTS);
    und_vec3 bend = und_mul(s->c[2], 2), end = und_add(bend, und_mul(s->c[3], 6));
    s->sag = fmax(und_length(bend), und_length(end)) / (8.0 * PARTS * PARTS);
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

enum { STRIP = 64 }; /* places at a time */

/* Where on the curve places are nearest, by its chords. */
typedef struct strip {
    const curve *c;
    und_vec3 first;
    double step;
    int count;
    double best[STRIP]; /* the square of the distance */
    double t[STRIP];    /* the segment's number and the part of it */
} strip;

/* The places that come nearer to a chord than `limit` along x, y and z: from *from to *to. */
static bool reach(const strip *p, und_vec3 a, und_vec3 b, double limit, int *from, int *to)
{
    if (p->first.y < fmin(a.y, b.y) - limit || p->first.y > fmax(a.y, b.y) + limit ||
        p->first.z < fmin(a.z, b.z) - limit || p->first.z > fmax(a.z, b.z) + limit)
        return false;
    double low = (fmin(a.x, b.x) - limit - p->first.x) / p->step,
           high = (fmax(a.x, b.x) + limit - p->first.x) / p->step;
    *from = (int)fmin(fmax(ceil(low), 0), p->count);
    *to = (int)fmin(fmax(floor(high) + 1, 0), p->count);
    return *from < *to;
}

static void try_chord(strip *p, und_vec3 a, und_vec3 b, double start, double limit)
{
    int from, to;
    if (!reach(p, a, b, limit, &from, &to))
        return;
    und_vec3 way = und_sub(b, a), at = und_sub(p->first, a);
    double square = und_dot(way, way), per = square > 0 ? 1 / square : 0;
    for (int i = from; i < to; i++) {
        double x = at.x + i * p->step;
        double s = (x * way.x + at.y * way.y + at.z * way.z) * per;
        s = s > 0 ? s : 0;
        s = s < 1 ? s : 1;
        double dx = x - s * way.x, dy = at.y - s * way.y, dz = at.z - s * way.z;
        double away = dx * dx + dy * dy + dz * dz;
        bool nearer = away < p->best[i];
        p->best[i] = nearer ? away : p->best[i];
        p->t[i] = nearer ? start + s * (1.0 / PARTS) : p->t[i];
    }
}

static void search(strip *p)
{
    const curve *c = p->c;
    double end = p->first.x + p->step * (p->count - 1);
    for (int k = 0; k < c->count; k++) {
        const segment *s = &c->list[k];
        if (p->first.y < s->low.y || p->first.y > s->high.y || p->first.z < s->low.z ||
            p->first.z > s->high.z || end < s->low.x || p->first.x > s->high.x)
            continue;
        double limit = c->spline.radius + s->sag;
        for (int i = 0; i < PARTS; i++)
            try_chord(p, s->at[i], s->at[i + 1], k + (double)i / PARTS, limit);
    }
}

/* The field at the places from..to of a strip, all nearest to one segment.  From where a chord is nearest one
 * step of Newton's method for (C(t) - p) . C'(t) = 0 is as good as the square of how good the chord was. */
static void field_near(const strip *p, const segment *on, double number, int axis, int from, int to,
                       float *out)
{
    const und_vec3 c0 = und_sub(on->c[0], p->first), c1 = on->c[1], c2 = on->c[2], c3 = on->c[3];
    const double step = p->step, per_radius = 1 / p->c->spline.radius;
    const double speed = p->c->spline.speed, most_pull = 6.75 * p->c->spline.pull; /* as given at a third */
    for (int i = from; i < to; i++) {
        double t = p->t[i] - number, px = i * step;
        und_vec3 way = {c0.x - px + t * (c1.x + t * (c2.x + t * c3.x)),
                        c0.y + t * (c1.y + t * (c2.y + t * c3.y)), c0.z + t * (c1.z + t * (c2.z + t * c3.z))};
        und_vec3 slope = {c1.x + t * (2 * c2.x + 3 * t * c3.x), c1.y + t * (2 * c2.y + 3 * t * c3.y),
                          c1.z + t * (2 * c2.z + 3 * t * c3.z)};
        und_vec3 bend = {2 * c2.x + 6 * t * c3.x, 2 * c2.y + 6 * t * c3.y, 2 * c2.z + 6 * t * c3.z};
        double rate = und_dot(slope, slope) + und_dot(way, bend);
        double better = t - und_dot(way, slope) / rate;
        better = und_larger(und_smaller(better, 1), 0);
        t = rate > 0 ? better : t;
        way =
            (und_vec3){c0.x - px + t * (c1.x + t * (c2.x + t * c3.x)),
                       c0.y + t * (c1.y + t * (c2.y + t * c3.y)), c0.z + t * (c1.z + t * (c2.z + t * c3.z))};
        slope = (und_vec3){c1.x + t * (2 * c2.x + 3 * t * c3.x), c1.y + t * (2 * c2.y + 3 * t * c3.y),
                           c1.z + t * (2 * c2.z + 3 * t * c3.z)};
        double length = sqrt(und_dot(way, way)), steep = sqrt(und_dot(slope, slope));
        double away = und_smaller(length * per_radius, 1), left = 1 - away, fall = left * (1 + away);
        double towards = axis == 0 ? way.x : axis == 1 ? way.y : way.z;
        double along = axis == 0 ? slope.x : axis == 1 ? slope.y : slope.z;
        along = steep > 0 ? along / steep : 0;
        towards = length > 0 ? towards / length : 0;
        out[i] = (float)(speed * fall * fall * along + most_pull * away * left * left * towards);
    }
}

static void row(const void *ready, int axis, const double place[3], double step, int count, double time,
                float *out)
{
    const curve *c = ready;
    strip p = {.c = c, .step = step};
    (void)time;
    for (int from = 0; from < count; from += STRIP) {
        p.first = und_vec(place[0] + from * step, place[1], place[2]);
        p.count = count - from < STRIP ? count - from : STRIP;
        for (int i = 0; i < p.count; i++) {
            p.best[i] = INFINITY;
            p.t[i] = -1;
            out[from + i] = 0;
        }
        search(&p);
        for (int i = 0, end; i < p.count; i = end) { /* stretches nearest to one segment, or to none */
            int which = p.t[i] < 0 ? -1 : p.t[i] < c->count ? (int)p.t[i] : c->count - 1;
            for (end = i + 1; end < p.count && p.t[end] >= which && p.t[end] < which + 1;)
                end++;
            if (which >= 0)
                field_near(&p, &c->list[which], which, axis, i, end, out + from);
        }
    }
}

const und_field_kind und_field_spline_kind = {.name = "spline",
                                              .size = sizeof(und_field_spline),
                                              .prepare = prepare,
                                              .release = free,
                                              .bounds = bounds,
                                              .row = row};
