/* How fast solids will be. */
#include "flow/solids_parts.h"

enum { LOOKS = 4 }; /* at the velocity, over an interval */

double und_solids_speed_of(const und_solids *s, int solid, double time)
{
    const und_obstacle_def *def = &s->parts->defs[solid];
    und_vec3 spin, velocity = und_motion_velocity(def->motion, time, &spin);
    und_bounds b =
        def->sequence ? und_sequence_bounds(def->sequence, time, time) : und_shape_bounds(def->shape);
    und_vec3 reach = und_vec(fmax(fabs(b.low.x), fabs(b.high.x)), fmax(fabs(b.low.y), fabs(b.high.y)),
                             fmax(fabs(b.low.z), fabs(b.high.z)));
    double turning = und_length(spin), far = und_length(reach);
    double own = def->sequence ? und_sequence_speed(def->sequence, time) : 0;
    return und_length(velocity) + (turning > 0 && isfinite(far) ? turning * far : 0) + own;
}

double und_solids_fastest(const und_solids *s, double time, double dt)
{
    double most = 0;
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < LOOKS && s->parts->ever_moves[i]; k++)
            most = fmax(most, und_solids_speed_of(s, i, time + (k + 0.5) / LOOKS * dt));
    return most;
}
