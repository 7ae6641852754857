/* Distances of many points in a row: the formulas of und_shape_distance, in loops that vectorise. */
#include "geom/shape.h"

enum { AT_ONCE = 64 };

/* Points from + k of a line, seen from a shape's centre. */
typedef struct row {
    und_vec3 start, step;
    int from, count;
} row;

static void sphere_row(const row *r, double radius, double *restrict out)
{
    for (int k = 0; k < r->count; k++) {
        double t = r->from + k;
        double x = r->start.x + t * r->step.x, y = r->start.y + t * r->step.y, z = r->start.z + t * r->step.z;
        out[k] = sqrt(x * x + y * y + z * z) - radius;
    }
}

static void box_row(const row *r, und_vec3 half, double *restrict out)
{
    for (int k = 0; k < r->count; k++) {
        double t = r->from + k;
        double x = fabs(r->start.x + t * r->step.x) - half.x, y = fabs(r->start.y + t * r->step.y) - half.y,
               z = fabs(r->start.z + t * r->step.z) - half.z;
        double ox = und_larger(x, 0), oy = und_larger(y, 0), oz = und_larger(z, 0);
        double inside = und_smaller(und_larger(x, und_larger(y, z)), 0);
        out[k] = sqrt(ox * ox + oy * oy + oz * oz) + inside;
    }
}

static void cylinder_row(const row *r, double radius, double half, double *restrict out)
{
    for (int k = 0; k < r->count; k++) {
        double t = r->from + k;
        double x = r->start.x + t * r->step.x, y = r->start.y + t * r->step.y, z = r->start.z + t * r->step.z;
        double side = sqrt(x * x + z * z) - radius, end = fabs(y) - half;
        double a = und_larger(side, 0), b = und_larger(end, 0);
        out[k] = sqrt(a * a + b * b) + und_smaller(und_larger(side, end), 0);
    }
}

static void capsule_row(const row *r, und_vec3 half, double radius, double *restrict out)
{
    double square = und_dot(half, half), scale = square > 0 ? 1 / square : 0;
    for (int k = 0; k < r->count; k++) {
        double t = r->from + k;
        double x = r->start.x + t * r->step.x, y = r->start.y + t * r->step.y, z = r->start.z + t * r->step.z;
        double along = (x * half.x + y * half.y + z * half.z) * scale;
        along = und_smaller(und_larger(along, -1), 1);
        x -= half.x * along;
        y -= half.y * along;
        z -= half.z * along;
        out[k] = sqrt(x * x + y * y + z * z) - radius;
    }
}

static void plane_row(const row *r, und_vec3 normal, double *restrict out)
{
    double start = und_dot(r->start, normal), step = und_dot(r->step, normal);
    for (int k = 0; k < r->count; k++)
        out[k] = start + (r->from + k) * step;
}

static void row_distances(const und_shape *s, const row *line, double *out);

static void group_row(const und_shape *s, const row *line, double *restrict out)
{
    double other[AT_ONCE];
    row_distances(s->children[0], line, out);
    for (int i = 1; i < s->child_count; i++) {
        row_distances(s->children[i], line, other);
        if (s->kind == UND_UNION)
            for (int k = 0; k < line->count; k++)
                out[k] = und_smaller(out[k], other[k]);
        else {
            double sign = s->kind == UND_DIFFERENCE ? -1 : 1;
            for (int k = 0; k < line->count; k++)
                out[k] = und_larger(out[k], sign * other[k]);
        }
    }
}

/* At most AT_ONCE points. */
static void row_distances(const und_shape *s, const row *line, double *out)
{
    row own = *line;
    own.start = und_sub(line->start, s->center);
    switch (s->kind) {
    case UND_SPHERE:
        sphere_row(&own, s->radius, out);
        return;
    case UND_BOX:
        box_row(&own, s->half, out);
        return;
    case UND_CYLINDER:
        cylinder_row(&own, s->radius, s->half.y, out);
        return;
    case UND_CAPSULE:
        capsule_row(&own, s->half, s->radius, out);
        return;
    case UND_PLANE:
        plane_row(&own, s->half, out);
        return;
    case UND_UNION:
    case UND_INTERSECTION:
    case UND_DIFFERENCE:
        group_row(s, line, out);
        return;
    case UND_ELLIPSOID:
    case UND_MESH:
    case UND_VOXELS:
    case UND_VOLUME:
        break;
    }
    for (int k = 0; k < line->count; k++)
        out[k] = und_shape_distance(s, und_add(line->start, und_mul(line->step, line->from + k)));
}

void und_shape_distances(const und_shape *shape, und_vec3 origin, und_vec3 step, int from, int count,
                         double *distance)
{
    for (int k = 0; k < count; k += AT_ONCE) {
        row line = {.start = origin, .step = step, .from = from + k};
        line.count = count - k < AT_ONCE ? count - k : AT_ONCE;
        row_distances(shape, &line, distance + k);
    }
}
