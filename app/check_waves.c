#include "check.h"

#include "geom/motion.h"
#include "geom/shape.h"

#include <math.h>

/* Cells a wave may cross in a step before the implicit scheme visibly flattens it. */
static const double FAST = 8;

/* An object is looked for at a hundred times along its way. */
void check_waves_in_vain(survey *s)
{
    enum { LOOKS = 100 };
    const und_waves_def *def = &s->scene->waves;
    for (int i = 0; i < def->object_count; i++) {
        const und_object_def *object = &def->objects[i];
        und_bounds b = und_shape_bounds(object->shape);
        und_vec3 middle = und_mul(und_add(b.low, b.high), 0.5);
        double reach = 0.5 * und_length(und_sub(b.high, b.low));
        bool seen = false;
        for (int k = 0; k <= LOOKS && !seen; k++) {
            und_pose pose = und_motion_at(object->motion, s->seconds * k / LOOKS);
            und_vec3 p = und_pose_point(&pose, middle);
            seen = !check_outside(s, p.x - reach, p.x + reach, p.z - reach, p.z + reach);
        }
        if (!seen)
            check_warn(s, "object %d never comes into the domain", i + 1);
    }
}

void check_waves(survey *s)
{
    double cells = check_wave_speed(s, s->deepest);
    if (cells > FAST)
        check_warn(s,
                   "waves cross %.0f cells a step, which flattens the short ones; substeps = %.0f would make "
                   "it %.0f",
                   cells, ceil(s->scene->substeps * cells / FAST), FAST);
    check_height_field_bodies(s, s->scene->waves.bodies, s->scene->waves.body_count);
}
