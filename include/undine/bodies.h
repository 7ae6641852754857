/* Undine: rigid bodies that float, sink and are led. */
#ifndef UNDINE_BODIES_H
#define UNDINE_BODIES_H

#include <undine/shape.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct und_skeleton und_skeleton; /* joints and keys; see und_skeleton_* */

/* A rigid body, free or led. */
typedef struct und_body_def {
    const und_shape *shape;   /* in its own coordinates; a plane has no size and is not allowed */
    double density;           /* kg/m3 */
    double mass;              /* kg; above 0 it counts instead of the density */
    double ballast;           /* kg; a small weight in it besides, which moves its centre of mass; 0 */
    double ballast_at[3];     /* where that is, own coordinates, m */
    double position[3];       /* of its own origin at the start, m */
    double rotation[3];       /* degrees about x, then y, then z */
    double velocity[3];       /* m/s */
    double spin[3];           /* rad/s */
    bool has_still;           /* waves: the room that it takes up is counted from this plane at the start, */
    double still[3];          /* not from the water around it: level at x = z = 0, m, slopes along x and z */
    double release;           /* s; held where it is, or led, until then; 0 */
    const und_motion *motion; /* led along keys until released; NULL: held */
    const und_skeleton
        *skeleton; /* led by a skeleton's bone instead; released, it hangs on its parent's body */
    int bone;
    bool release_wet; /* of a skeleton: the whole figure is released when one of its bones meets water, too */
    double hold;      /* strength with which a released figure's joint goes on with its keys: 1 holds all that
                         hangs on it straight out against its weight, 0 is limp; 0 */
    double drag;      /* of the water, on the area that faces it: about 0.5 for a ball, 1 for a box; 0.6 */
    double bounce;    /* 0 to 1: how much of the speed is left after a bump; 0.3 */
    double friction;  /* 0.4 */
    float color[3];   /* linear; negative: the shape's own, or dark red */
} und_body_def;

und_body_def und_body_def_default(void);

/* Where a body's centre of mass is and how it moves. */
typedef struct und_body_state {
    double position[3]; /* m */
    double rotation[4]; /* unit quaternion, w first */
    double velocity[3]; /* m/s */
    double spin[3];     /* rad/s, world axes */
} und_body_state;

#ifdef __cplusplus
}
#endif

#endif
