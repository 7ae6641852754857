/* A body in tests: of a shape, a density and a place. */
#ifndef UND_TESTS_BODY_H
#define UND_TESTS_BODY_H

#include "bodies/bodies.h"

static inline und_body_def body(const und_shape *shape, double density, double x, double y, double z)
{
    und_body_def def = und_body_def_default();
    def.shape = shape;
    def.density = density;
    def.position[0] = x;
    def.position[1] = y;
    def.position[2] = z;
    return def;
}

#endif
