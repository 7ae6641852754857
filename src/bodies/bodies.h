/* Rigid bodies in six degrees of freedom: mass from shape and density, gravity, forces, and contacts with
 * each other, the ground and walls (found by the Open Dynamics Engine). */
#ifndef UND_BODIES_BODIES_H
#define UND_BODIES_BODIES_H

#include "geom/motion.h"
#include "geom/shape.h"
#include "grid/frame.h"

#include <undine/bodies.h>

/* What bodies bump into besides each other. */
typedef struct und_bodies_world {
    double gravity; /* m/s2, downwards */
    /* Samples of the ground at cell centres, [nz][stride]; NULL: none.  Read when created. */
    int nx, nz, stride;
    double dx, origin[2]; /* x and z of the low corner of the first cell */
    double dz;            /* of cells along z; 0: as along x */
    const float *ground;
    bool wall[UND_EDGES]; /* the domain's edges that are walls for bodies, without end upwards */
    int spare;            /* bodies that may be added later */
    double time;          /* at the start, s: where led bodies are then */
} und_bodies_world;

typedef struct und_bodies und_bodies;

/* Velocities and spins of the defs are those of the centre of mass, at the release where a body is held.
 * Between two bodies the larger bounce counts, and the root of the product of the frictions; ground and walls
 * take the body's.  Ground goes on beyond the domain as at its edge.
 * Borrows the defs (shapes, motions, skeletons).  UND_INVALID where a body has no volume, no end or no mass.
 */
und_bodies *und_bodies_create(const und_body_def *defs, int count, const und_bodies_world *world,
                              und_error *err);
void und_bodies_destroy(und_bodies *bodies);

/* The centre of mass of a body that can be made, in its own coordinates. */
und_vec3 und_body_center(const und_body_def *def);

/* Between steps: one more, of those spare (the def is borrowed); all after the first `count` gone again;
 * other gravity; another ground, as many samples as before. */
und_status und_bodies_add(und_bodies *bodies, const und_body_def *def, und_error *err);
void und_bodies_drop(und_bodies *bodies, int count);
void und_bodies_set_gravity(und_bodies *bodies, double gravity);
und_status und_bodies_set_ground(und_bodies *bodies, const float *ground, und_error *err);

/* Solid boxes besides, from now on: borrowed.  Where they touch they are one solid. */
void und_bodies_boxes(und_bodies *bodies, const und_bounds *boxes, int count);

int und_bodies_count(const und_bodies *bodies);
und_body_state und_bodies_state(const und_bodies *bodies, int i);
double und_bodies_mass(const und_bodies *bodies, int i);   /* kg */
double und_bodies_volume(const und_bodies *bodies, int i); /* m3 */
bool und_bodies_led(const und_bodies *bodies, int i);      /* held or led now: forces do not move it */

/* The pose of the shape's own coordinates (not of the centre of mass), for und_pose_point and the like. */
und_pose und_bodies_pose(const und_bodies *bodies, int i);
und_vec3 und_bodies_middle(const und_bodies *bodies, int i); /* the centre of its volume, in the world */

/* 1/mass and the world-axes inverse inertia, both 0 where the body is led: what a unit impulse does. */
double und_bodies_inverse_mass(const und_bodies *bodies, int i);
void und_bodies_inverse_inertia(const und_bodies *bodies, int i, double out[9]);
void und_bodies_inertia(const und_bodies *bodies, int i, double out[9]); /* world axes, kg m2; led or not */

/* Adds a force (N) at a place, or a torque (N m), for the next step alone; nothing where the body is led. */
void und_bodies_push(und_bodies *bodies, int i, und_vec3 force, und_vec3 at);
void und_bodies_twist(und_bodies *bodies, int i, und_vec3 torque);

/* Lets a held or led body go, and with a bone its whole figure; with the velocity it is led with. */
void und_bodies_let_go(und_bodies *bodies, int i, double time);

/* One step of all bodies from time to time + dt: led ones go where they are led, with the velocity that
 * takes them there; free ones by forces, gravity and contacts.  The same bits whatever came before. */
void und_bodies_step(und_bodies *bodies, double time, double dt);

/* Speed of a body's material at a place, m/s. */
und_vec3 und_bodies_speed_at(const und_bodies *bodies, int i, und_vec3 at);

/* The state as a checkpoint keeps it: borrowed, `count` doubles.  After they were overwritten, taken over. */
double *und_bodies_saved(und_bodies *bodies, size_t *count);
void und_bodies_restored(und_bodies *bodies, double time);

/* Adds the triangles, once for all frames, and the states: see und_meshes_frame(); centres are centres of
 * mass.  The frame must not outlive the bodies. */
und_status und_bodies_frame(const und_bodies *bodies, und_frame *frame, und_error *err);

#endif
