#include "bodies/mass.h"

static und_moments of_axes(und_vec3 center, double volume, und_vec3 square)
{
    return (und_moments){
        volume, center, {volume * square.x, 0, 0, 0, volume * square.y, 0, 0, 0, volume * square.z}};
}

/* A tube with half a ball at either end: S across is the same about any axis, S along adds each half ball's
 * distance, (l + z)^2 with the mean of z over half a ball 3/8 r. */
static und_moments of_capsule(const und_shape *s)
{
    double pi = M_PI, r = s->radius, l = und_length(s->half);
    double tube = 2 * pi * r * r * l, ball = 4.0 / 3 * pi * r * r * r;
    double across = tube * r * r / 4 + ball * r * r / 5;
    double along = tube * l * l / 3 + ball * (l * l + 0.75 * l * r + r * r / 5);
    und_vec3 axis = und_unit(s->half);
    double d[3] = {axis.x, axis.y, axis.z};
    und_moments m = {.volume = tube + ball, .center = s->center};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m.spread[3 * i + j] = (i == j ? across : 0) + (along - across) * d[i] * d[j];
    return m;
}

/* Sums over lines, about a place: first[i], second[i][j] of the volume. */
typedef struct sums {
    double volume, first[3], second[9];
} sums;

enum { LINES = 96 };

/* Lines along one axis give the moments in the two others, each stretch at one place of the plane. */
static void add_lines(const und_shape *shape, const double low[3], const double high[3], int axis, sums *out)
{
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    double du = (high[u] - low[u]) / LINES, dv = (high[v] - low[v]) / LINES;
    double long_ = high[axis] - low[axis], first;
    for (int j = 0; j < LINES; j++)
        for (int i = 0; i < LINES; i++) {
            double p[3] = {0}, d[3] = {0};
            double a = (i + 0.5) * du - 0.5 * (high[u] - low[u]),
                   b = (j + 0.5) * dv - 0.5 * (high[v] - low[v]);
            p[u] = 0.5 * (low[u] + high[u]) + a;
            p[v] = 0.5 * (low[v] + high[v]) + b;
            p[axis] = low[axis];
            d[axis] = 1;
            double part = du * dv *
                          und_shape_line(shape, und_vec(p[0], p[1], p[2]), und_vec(d[0], d[1], d[2]),
                                         -0.01 * long_, 1.01 * long_, &first);
            /* three directions give the volume, two each moment along an axis, one each product */
            out->volume += part / 3;
            out->first[u] += part * a / 2;
            out->first[v] += part * b / 2;
            out->second[4 * u] += part * a * a / 2;
            out->second[4 * v] += part * b * b / 2;
            out->second[3 * u + v] += part * a * b;
        }
}

static und_moments by_lines(const und_shape *shape)
{
    und_bounds bounds = und_shape_bounds(shape);
    double low[3] = {bounds.low.x, bounds.low.y, bounds.low.z};
    double high[3] = {bounds.high.x, bounds.high.y, bounds.high.z};
    sums s = {0};
    for (int k = 0; k < 3; k++)
        if (!(low[k] < high[k]))
            return (und_moments){.center = shape->center};
    for (int axis = 0; axis < 3; axis++)
        add_lines(shape, low, high, axis, &s);
    und_moments m = {.volume = s.volume, .center = shape->center};
    if (!(s.volume > 0))
        return m;
    double c[3];
    for (int k = 0; k < 3; k++)
        c[k] = s.first[k] / s.volume;
    m.center = und_add(und_mul(und_add(bounds.low, bounds.high), 0.5), und_vec(c[0], c[1], c[2]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) /* of a pair (i, j) and (j, i) one is summed, the other 0 */
            m.spread[3 * i + j] =
                s.second[3 * i + j] + (i == j ? 0 : s.second[3 * j + i]) - s.volume * c[i] * c[j];
    return m;
}

static bool apart(const und_bounds *a, const und_bounds *b)
{
    return a->high.x <= b->low.x || b->high.x <= a->low.x || a->high.y <= b->low.y || b->high.y <= a->low.y ||
           a->high.z <= b->low.z || b->high.z <= a->low.z;
}

static bool children_apart(const und_shape *s)
{
    for (int i = 0; i < s->child_count; i++)
        for (int j = 0; j < i; j++) {
            und_bounds a = und_shape_bounds(s->children[i]), b = und_shape_bounds(s->children[j]);
            if (!apart(&a, &b))
                return false;
        }
    return true;
}

/* Two bodies apart by d spread by V1 V2 / (V1 + V2) d d^T more than each about its own centre. */
static und_moments joined(const und_moments *a, const und_moments *b)
{
    und_moments all = {.volume = a->volume + b->volume};
    if (!(all.volume > 0))
        return *a;
    und_vec3 away = und_sub(b->center, a->center);
    double share = b->volume / all.volume, d[3] = {away.x, away.y, away.z};
    all.center = und_add(a->center, und_mul(away, share));
    for (int i = 0; i < 9; i++)
        all.spread[i] = a->spread[i] + b->spread[i] + a->volume * share * d[i / 3] * d[i % 3];
    return all;
}

static und_moments of_parts(const und_shape *s)
{
    und_moments all = und_mass_of_shape(s->children[0]);
    for (int i = 1; i < s->child_count; i++) {
        und_moments next = und_mass_of_shape(s->children[i]);
        all = joined(&all, &next);
    }
    return all;
}

und_moments und_mass_of_shape(const und_shape *s)
{
    double pi = M_PI, r = s->radius, rr = r * r;
    und_vec3 h = s->half, hh = und_vec(h.x * h.x, h.y * h.y, h.z * h.z);
    switch (s->kind) {
    case UND_SPHERE:
        return of_axes(s->center, 4.0 / 3 * pi * rr * r, und_vec(rr / 5, rr / 5, rr / 5));
    case UND_ELLIPSOID:
        return of_axes(s->center, 4.0 / 3 * pi * h.x * h.y * h.z, und_mul(hh, 1.0 / 5));
    case UND_BOX:
        return of_axes(s->center, 8 * h.x * h.y * h.z, und_mul(hh, 1.0 / 3));
    case UND_CYLINDER:
        return of_axes(s->center, 2 * pi * rr * h.y, und_vec(rr / 4, hh.y / 3, rr / 4));
    case UND_CAPSULE:
        return of_capsule(s);
    case UND_UNION:
        return children_apart(s) ? of_parts(s) : by_lines(s);
    default:
        return by_lines(s);
    }
}

void und_moments_inertia(const und_moments *m, double density, double inertia[9])
{
    double trace = m->spread[0] + m->spread[4] + m->spread[8];
    for (int i = 0; i < 9; i++)
        inertia[i] = density * ((i % 4 == 0 ? trace : 0) - m->spread[i]);
}
