/* How fast solids will be. */
#include "flow/solids_parts.h"

enum { LOOKS = 4 }; /* at the velocity, over an interval */

/* How far the points of a shape are from its origin at most along each axis, m. */
static double reach_of(const und_obstacle_def *def, double time)
{
    const und_bounds b =
        def->sequence ? und_sequence_bounds(def->sequence, time, time) : und_shape_bounds(def->shape);
    return und_length(und_vec(fmax(fabs(b.low.x), fabs(b.high.x)), fmax(fabs(b.low.y), fabs(b.high.y)),
                              fmax(fabs(b.low.z), fabs(b.high.z))));
}

double und_solids_way_of(const und_solids *s, int solid, double time, double dt)
{
    const und_obstacle_def *def = &s->parts->defs[solid];
    const und_pose from = und_motion_at(def->motion, time), to = und_motion_at(def->motion, time + dt);
    const double same = from.rotation.w * to.rotation.w + from.rotation.x * to.rotation.x +
                        from.rotation.y * to.rotation.y + from.rotation.z * to.rotation.z;
    const double far = reach_of(def, time), turned = 2 * sqrt(fmax(0, 1 - same * same)); /* about the angle */
    return und_length(und_sub(to.position, from.position)) +
           (turned > 1e-6 && isfinite(far) ? turned * far : 0);
}

double und_solids_speed_of(const und_solids *s, int solid, double time)
{
    const und_obstacle_def *def = &s->parts->defs[solid];
    und_vec3 spin, velocity = und_motion_velocity(def->motion, time, &spin);
    double turning = und_length(spin), far = reach_of(def, time);
    double own = def->sequence ? und_sequence_speed(def->sequence, time) : 0;
    return und_length(velocity) + (turning > 0 && isfinite(far) ? turning * far : 0) + own;
}

double und_solids_way(const und_solids *s, double time, double dt)
{
    double most = 0;
    for (int i = 0; i < s->count; i++)
        if (s->parts->ever_moves[i])
            most = fmax(most, und_solids_way_of(s, i, time, dt));
    return most;
}

double und_solids_fastest(const und_solids *s, double time, double dt)
{
    double most = 0;
    for (int i = 0; i < s->count; i++)
        for (int k = 0; k < LOOKS && s->parts->ever_moves[i]; k++)
            most = fmax(most, und_solids_speed_of(s, i, time + (k + 0.5) / LOOKS * dt));
    return most;
}
