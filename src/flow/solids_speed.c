/* How fast solids will be. */
#include "flow/solids_parts.h"

enum { LOOKS = 4 }; /* at the velocity, over an interval */

/* A bound of the speed of any point of a rigid solid, m/s. */
static double speed_of(const und_obstacle_def *def, double time)
{
    und_vec3 spin, velocity = und_motion_velocity(def->motion, time, &spin);
    und_bounds b = und_shape_bounds(def->shape);
    double reach[3] = {fmax(fabs(b.low.x), fabs(b.high.x)), fmax(fabs(b.low.y), fabs(b.high.y)),
                       fmax(fabs(b.low.z), fabs(b.high.z))};
    double turning = und_length(spin), far = und_length(und_vec(reach[0], reach[1], reach[2]));
    return und_length(velocity) + (turning > 0 && isfinite(far) ? turning * far : 0);
}

double und_solids_fastest(const und_solids *s, double time, double dt)
{
    double most = 0;
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < LOOKS && s->parts->ever_moves[i] && s->parts->defs[i].shape; k++)
            most = fmax(most, speed_of(&s->parts->defs[i], time + (k + 0.5) / LOOKS * dt));
    return most;
}
