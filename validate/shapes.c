/* Validation cases of the shapes that objects in the water are made of. */
#include "validate/cases.h"

#include "geom/shape.h"

/* The volume that a shape displaces, summed over the columns of a grid as the water sees it. */
static double displaced(const und_shape *shape, double dx)
{
    und_bounds b = und_shape_bounds(shape);
    double volume = 0, bottom;
    for (double z = b.low.z + dx / 2; z < b.high.z; z += dx)
        for (double x = b.low.x + dx / 2; x < b.high.x; x += dx)
            volume += und_shape_column(shape, x, z, b.low.y, b.high.y, &bottom) * dx * dx;
    return volume;
}

static und_status displacement(case_sink *sink, und_error *err)
{
    (void)err;
    double pi = acos(-1), ball = 4 * pi / 3;
    const und_shape sphere = {.kind = UND_SPHERE, .radius = 1};
    const und_shape ellipsoid = {.kind = UND_ELLIPSOID, .half = {1, 0.5, 2}};
    const und_shape capsule = {.kind = UND_CAPSULE, .half = {1, 0, 0}, .radius = 0.5};
    case_report(sink, (case_result){"a sphere's displaced volume, m3", displaced(&sphere, 0.01), ball,
                                    1e-3 * ball, "4/3 pi r^3"});
    case_report(sink, (case_result){"an ellipsoid's displaced volume, m3", displaced(&ellipsoid, 0.01), ball,
                                    1e-3 * ball, "4/3 pi a b c"});
    case_report(sink, (case_result){"a capsule's displaced volume, m3", displaced(&capsule, 0.01),
                                    pi * 0.25 * 2 + ball / 8, 1e-3, "pi r^2 l + 4/3 pi r^3"});
    return UND_OK;
}

const validation_case shape_cases[] = {{"displacement", "waves", displacement}, {0}};
