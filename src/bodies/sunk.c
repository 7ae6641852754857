#include "bodies/sunk.h"

#include <math.h>

static const double pi = M_PI;

static und_sunk of_moment(double volume, und_vec3 moment)
{
    return (und_sunk){volume, und_mul(moment, volume > 0 ? 1 / volume : 0)};
}

static und_vec3 scaled(und_vec3 a, und_vec3 by)
{
    return und_vec(a.x * by.x, a.y * by.y, a.z * by.z);
}

/* A ball of radius 1 below a plane at s: pi (1 + s)^2 (2 - s) / 3, its moment -pi (1 - s^2)^2 / 4 along the
 * normal; an ellipsoid is one stretched. */
static und_sunk of_ellipsoid(und_vec3 center, und_vec3 half, und_vec3 at, und_vec3 up)
{
    und_vec3 normal = scaled(up, half);
    double length = und_length(normal), times = half.x * half.y * half.z;
    double s = und_larger(-1, und_smaller(und_dot(und_sub(at, center), up) / length, 1)), r = 1 - s * s;
    double volume = times * pi * (1 + s) * (1 + s) * (2 - s) / 3;
    und_vec3 moment = und_mul(scaled(normal, half), -times * pi * r * r / (4 * length));
    und_sunk below = of_moment(volume, moment);
    below.middle = und_add(below.middle, center);
    return below;
}

/* The part of a flat face below the plane, as pyramids with their tip on the plane: the cut itself has none,
 * so that the faces are the whole surface. */
static void add_face(const und_vec3 corner[4], const double above[4], und_vec3 tip, und_sunk *sum)
{
    und_vec3 cut[8];
    int count = 0;
    for (int k = 0; k < 4; k++) {
        int next = (k + 1) % 4;
        if (above[k] <= 0)
            cut[count++] = und_sub(corner[k], tip);
        if ((above[k] < 0 && above[next] > 0) || (above[k] > 0 && above[next] < 0)) {
            double part = above[k] / (above[k] - above[next]);
            und_vec3 along = und_mul(und_sub(corner[next], corner[k]), part);
            cut[count++] = und_sub(und_add(corner[k], along), tip);
        }
    }
    for (int k = 2; k < count; k++) {
        double volume = und_dot(cut[0], und_cross(cut[k - 1], cut[k])) / 6;
        und_vec3 base = und_add(cut[0], und_add(cut[k - 1], cut[k]));
        sum->volume += volume;
        sum->middle = und_add(sum->middle, und_mul(base, volume / 4));
    }
}

static und_sunk of_box(const und_shape *s, und_vec3 at, und_vec3 up)
{
    static const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
    double high = und_dot(und_sub(at, s->center), up);
    double reach = fabs(up.x) * s->half.x + fabs(up.y) * s->half.y + fabs(up.z) * s->half.z;
    if (fabs(high) >= reach)
        return (und_sunk){high > 0 ? 8 * s->half.x * s->half.y * s->half.z : 0, s->center};
    und_vec3 tip = und_mul(up, high); /* from the box's centre */
    und_sunk sum = {0};
    for (int f = 0; f < 6; f++) {
        und_vec3 corner[4];
        double above[4];
        for (int k = 0; k < 4; k++) {
            int c = faces[f][k];
            corner[k] = und_vec(c & 1 ? s->half.x : -s->half.x, c & 2 ? s->half.y : -s->half.y,
                                c & 4 ? s->half.z : -s->half.z);
            above[k] = und_dot(corner[k], up) - high;
        }
        add_face(corner, above, tip, &sum);
    }
    und_sunk below = of_moment(sum.volume, sum.middle);
    below.middle = und_add(below.middle, und_add(tip, s->center));
    return below;
}

/* A node is spread as its lattice cell reaches along the normal. */
static und_sunk of_nodes(const und_hull *hull, und_vec3 at, und_vec3 up)
{
    double reach = fabs(up.x) * hull->half.x + fabs(up.y) * hull->half.y + fabs(up.z) * hull->half.z;
    double high = und_dot(at, up), volume = 0;
    und_vec3 moment = {0, 0, 0};
    for (int i = 0; i < hull->count; i++) {
        const und_node *n = &hull->nodes[i];
        double in = und_larger(0, und_smaller(0.5 + 0.5 * (high - und_dot(n->at, up)) / reach, 1));
        und_vec3 middle = und_sub(n->at, und_mul(up, (1 - in) * reach));
        volume += in * n->volume;
        moment = und_add(moment, und_mul(middle, in * n->volume));
    }
    return of_moment(volume, moment);
}

bool und_sunk_needs_hull(const und_shape *shape)
{
    return shape->kind != UND_SPHERE && shape->kind != UND_ELLIPSOID && shape->kind != UND_BOX;
}

und_sunk und_sunk_below(const und_shape *s, const und_hull *hull, und_vec3 at, und_vec3 up)
{
    switch (s->kind) {
    case UND_SPHERE:
        return of_ellipsoid(s->center, und_vec(s->radius, s->radius, s->radius), at, up);
    case UND_ELLIPSOID:
        return of_ellipsoid(s->center, s->half, at, up);
    case UND_BOX:
        return of_box(s, at, up);
    default:
        return of_nodes(hull, at, up);
    }
}
