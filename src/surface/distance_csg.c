/* Shapes put into the liquid, taken out of it, or all that is left of it. */
#include "geom/shape.h"
#include "surface/distance_parts.h"

#include <math.h>

static float combined(und_csg operation, float phi, float shape)
{
    switch (operation) {
    case UND_CSG_UNION:
        return fminf(phi, shape);
    case UND_CSG_INTERSECTION:
        return fmaxf(phi, shape);
    case UND_CSG_DIFFERENCE:
        return fmaxf(phi, -shape);
    }
    return phi;
}

/* Cells of a row from `begin` on, to but not including `end`.  A distance changes by no more than a place
 * does, so that far from the shape cells need not be asked one by one; half of that, for some shapes' are
 * estimates. */
static void combine_row(und_distance *d, und_csg operation, const und_shape *shape, int y, int z, int begin,
                        int end)
{
    const und_mac *m = &d->mac;
    float *phi = d->phi + und_mac_at(m, 0, y, z), width = (float)d->width;
    for (int x = begin; x < end;) {
        und_vec3 place = {und_mac_middle(m, 0, x), und_mac_middle(m, 1, y), und_mac_middle(m, 2, z)};
        double away = und_shape_distance(shape, place) / m->d[0], beyond = fabs(away) - d->width;
        int same = beyond > 4 ? (int)fmin(0.5 * beyond, end - x) : 1;
        float value = (float)fmin(fmax(away, -d->width), d->width);
        for (int i = 0; i < same; i++)
            phi[x + i] = fmaxf(fminf(combined(operation, phi[x + i], value), width), -width);
        x += same;
    }
}

typedef struct combine_args {
    und_distance *d;
    und_csg operation;
    const und_shape *shape;
    int begin, end;
} combine_args;

static inline void combine(const combine_args *a, und_place p)
{
    const und_span span = und_mac_span(&a->d->mac, p.y, p.z);
    combine_row(a->d, a->operation, a->shape, p.y, p.z, a->begin > span.begin ? a->begin : span.begin,
                a->end < span.end ? a->end : span.end);
    und_distance_refresh_at(a->d, p.y, p.z);
}
UND_KERNEL(combine, combine_args, UND_EACH_ROW)

/* The first cell whose middle is not below a place, within the domain. */
static int cell_at(const und_mac *m, int axis, double place)
{
    double cell = ceil((place - m->origin[axis]) / m->d[axis] - 0.5) - m->low[axis];
    return (int)fmin(fmax(cell, 0), m->n[axis]);
}

void und_distance_csg(und_distance *d, und_csg operation, const und_shape *shape)
{
    const und_mac *m = &d->mac;
    und_bounds bounds = und_shape_bounds(shape);
    const double low[3] = {bounds.low.x, bounds.low.y, bounds.low.z};
    const double high[3] = {bounds.high.x, bounds.high.y, bounds.high.z};
    int begin[3], end[3];
    for (int a = 0; a < 3; a++) {
        bool all = operation == UND_CSG_INTERSECTION; /* what is far from the shape goes, too */
        double margin = d->width * m->d[0];
        begin[a] = all ? 0 : cell_at(m, a, low[a] - margin);
        end[a] = all ? m->n[a] : cell_at(m, a, high[a] + margin);
    }
    const combine_args args = {d, operation, shape, begin[0], end[0]};
    const und_set rows = und_set_box(m, begin, end, 1);
    if (rows.rows == 0)
        return;
    und_pass(&d->device, combine, &args, &rows);
    und_distance_beside(d, d->phi);
}
