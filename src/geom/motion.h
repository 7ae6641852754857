/* Key-framed motion: position and rotation as functions of time. */
#ifndef UND_GEOM_MOTION_H
#define UND_GEOM_MOTION_H

#include "geom/vec.h"

#include <undine/shape.h>

typedef struct und_quat {
    double w, x, y, z;
} und_quat;

typedef struct und_pose {
    und_vec3 position;
    und_quat rotation; /* unit */
} und_pose;

typedef struct und_key {
    double time;
    und_vec3 position;
    und_vec3 rotation; /* degrees about x, then y, then z */
} und_key;

typedef enum und_easing { UND_EASE_LINEAR, UND_EASE_SPLINE, UND_EASE_MONOTONE } und_easing;

/* Keys sorted by strictly growing time, at least one; held before the first and after the last.  A spline is
 * Catmull-Rom with tangents for uneven times, at rest at the first and last key, so that the velocity has no
 * jumps; rotations go the short way (slerp between neighbours).  A monotone one is a spline that never goes
 * beyond its keys: at rest at each coordinate's turning points.  NULL with the error set where keys are out
 * of order. */
und_motion *und_motion_create(const und_key *keys, int count, und_easing easing, und_error *err);
void und_motion_destroy(und_motion *motion);
/* Makes a spline pass a key with this velocity, m/s. */
void und_motion_set_velocity(und_motion *motion, int key, und_vec3 velocity);
bool und_motion_moves(const und_motion *motion);               /* at any time */
und_pose und_motion_at(const und_motion *motion, double time); /* NULL: at rest at the origin */
/* The velocity just before a time, so at a key what led to it, m/s; the spin in world axes, rad/s. */
und_vec3 und_motion_velocity(const und_motion *motion, double time, und_vec3 *spin);

und_quat und_quat_euler(und_vec3 degrees);
und_quat und_quat_mul(und_quat a, und_quat b); /* b, then a */
und_vec3 und_quat_rotate(und_quat q, und_vec3 v);
und_vec3 und_pose_point(const und_pose *pose, und_vec3 local);     /* own coordinates to world */
und_vec3 und_pose_local(const und_pose *pose, und_vec3 world);     /* and back */
und_pose und_pose_on(const und_pose *base, const und_pose *local); /* a pose in another's coordinates */

#endif
