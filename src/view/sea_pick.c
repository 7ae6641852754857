/* What a ray meets: the heights as they are in the reader. */
#include "view/sea_parts.h"

#include <math.h>
#include <string.h>

/* The higher of ground and water, m, between texels as the shaders have it. */
static double top_at(const und_sea_fields *f, double x, double z)
{
    double u = fmin(fmax((x - f->x0) / f->h, 0), f->nx - 1), v = fmin(fmax((z - f->z0) / f->h, 0), f->nz - 1);
    int i = (int)fmin(u, f->nx - 2), j = (int)fmin(v, f->nz - 2);
    size_t row = (size_t)f->nx, at = (size_t)j * row + (size_t)i,
           corner[4] = {at, at + 1, at + row, at + row + 1};
    double fx = u - i, fz = v - j, ground = 0, depth = 0;
    for (int k = 0; k < 4; k++) {
        double weight = (k & 1 ? fx : 1 - fx) * (k >> 1 ? fz : 1 - fz);
        ground += weight * (double)f->ground[corner[k]];
        depth += weight * (double)f->water_map[4 * corner[k]];
    }
    return ground + fmax(depth, 0);
}

/* The stretch of a ray within a box; false: it passes by. */
static bool within(const double low[3], const double high[3], const double from[3], const double along[3],
                   double *enter, double *leave)
{
    *enter = 0;
    *leave = 1e30;
    for (int a = 0; a < 3; a++) {
        if (fabs(along[a]) < 1e-12) {
            if (from[a] < low[a] || from[a] > high[a])
                return false;
            continue;
        }
        double t[2] = {(low[a] - from[a]) / along[a], (high[a] - from[a]) / along[a]};
        *enter = fmax(*enter, fmin(t[0], t[1]));
        *leave = fmin(*leave, fmax(t[0], t[1]));
    }
    return *enter <= *leave;
}

/* Moeller & Trumbore 1997: where the ray goes through a triangle; infinite: it does not. */
static double through_triangle(const float *p, const double from[3], const double along[3])
{
    double a[3], b[3], c[3], n[3], q[3];
    for (int k = 0; k < 3; k++) {
        a[k] = (double)p[3 + k] - (double)p[k];
        b[k] = (double)p[6 + k] - (double)p[k];
        c[k] = from[k] - (double)p[k];
    }
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        n[k] = along[l] * b[m] - along[m] * b[l];
        q[k] = c[l] * a[m] - c[m] * a[l];
    }
    double det = a[0] * n[0] + a[1] * n[1] + a[2] * n[2];
    double u = (c[0] * n[0] + c[1] * n[1] + c[2] * n[2]) / det;
    double v = (along[0] * q[0] + along[1] * q[1] + along[2] * q[2]) / det;
    double t = (b[0] * q[0] + b[1] * q[1] + b[2] * q[2]) / det;
    return u >= 0 && v >= 0 && u + v <= 1 && t > 0 ? t : INFINITY;
}

/* A vector in the axes of what is turned by q (x, y, z, w). */
static void into_axes(const float q[4], const double v[3], double out[3])
{
    double x[3], w = (double)q[3];
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        x[k] = v[l] * (double)q[m] - v[m] * (double)q[l] + w * v[k]; /* v x q + w v */
    }
    for (int k = 0; k < 3; k++) {
        int l = (k + 1) % 3, m = (k + 2) % 3;
        out[k] = v[k] + 2 * (x[l] * (double)q[m] - x[m] * (double)q[l]);
    }
}

static double to_bodies(const und_sea *s, const double from[3], const double along[3])
{
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    double nearest = INFINITY, vertical = und_sea_vertical(s);
    const double way[3] = {along[0], along[1] / vertical, along[2]};
    for (int i = 0; i < f->bodies; i++) {
        const float *pose = f->pose + 8 * i;
        double at[3] = {from[0] - (double)pose[0], from[1] / vertical - (double)pose[1],
                        from[2] - (double)pose[2]};
        double own_at[3], own_way[3];
        into_axes(pose + 4, at, own_at);
        into_axes(pose + 4, way, own_way);
        for (int c = f->first[i]; c < f->first[i + 1]; c += 3)
            nearest = fmin(nearest, through_triangle(f->mesh + 3 * c, own_at, own_way));
    }
    return nearest;
}

/* By steps of half a texel, then by halves. */
static double to_heights(const und_sea *s, const double from[3], const double along[3])
{
    enum { HALVES = 40 };
    const und_sea_fields *f = und_sea_reader_fields(s->reader);
    double low[3], high[3], enter, leave;
    s->painter.class->bounds(&s->painter, low, high);
    if (!within(low, high, from, along, &enter, &leave))
        return INFINITY;
    double level = hypot(along[0], along[2]), pace = 0.5 * f->h / fmax(level, 1e-3);
    double before = enter, t = enter;
    for (int first = 1; before < leave || first; first = 0) {
        double x = from[0] + t * along[0], z = from[2] + t * along[2];
        if (from[1] + t * along[1] <= top_at(f, x, z))
            break;
        if (t >= leave)
            return INFINITY;
        before = t;
        t = fmin(t + pace, leave);
    }
    for (int k = 0; k < HALVES; k++) {
        double middle = 0.5 * (before + t);
        bool under = from[1] + middle * along[1] <=
                     top_at(f, from[0] + middle * along[0], from[2] + middle * along[2]);
        *(under ? &t : &before) = middle;
    }
    return t;
}

bool und_sea_pick(const und_painter *self, const double origin[3], const double direction[3], double point[3])
{
    const und_sea *s = (const und_sea *)self;
    if (!s->taken)
        return false;
    double t = fmin(to_heights(s, origin, direction), to_bodies(s, origin, direction));
    for (int a = 0; a < 3; a++)
        point[a] = origin[a] + t * direction[a];
    point[1] /= und_sea_vertical(s);
    return isfinite(t);
}
