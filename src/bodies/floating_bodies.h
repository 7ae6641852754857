/* Bodies that float in a flow which does not feel them (Foster & Metaxas 1996, section 5).  They go from
 * frame to frame by what frames hold, so that a run and a pass over its cache give the same bits.
 *
 * A body is made of nodes, each with a share of its volume.  On the part of a node below the surface act the
 * slope of the pressure (eq. 13) and a damping proportional to its velocity relative to the liquid's (eq.
 * 16):
 *
 *     -grad p dV - damping drag rho dV (v - u)
 *
 * so that the body comes to move with the liquid at the rate damping * drag * (mass displaced / its mass). */
#ifndef UND_BODIES_FLOATING_BODIES_H
#define UND_BODIES_FLOATING_BODIES_H

#include "bodies/bodies.h"
#include "grid/frame.h"

typedef struct und_floating_bodies_def {
    int body_count;
    const und_body_def *bodies;
    double gravity[3]; /* m/s2; {0, -9.81, 0} */
    double density;    /* of the liquid, kg/m3; 1000 */
    double damping;    /* 1/s, times the drag of each body; 5 */
    int nodes;         /* along the longest edge of a body; 16 */
    int threads;       /* 0: all */
} und_floating_bodies_def;

und_floating_bodies_def und_floating_bodies_def_default(void);

typedef struct und_floating_bodies und_floating_bodies;

/* `frame` is the first: bodies start in it.  It needs "label", "pressure" and "velocity_x", "_y", "_z" (and
 * "surface" with "ground" where heights track the liquid).  Sides and floor of the domain and Solid cells are
 * walls for bodies.  Borrows what the bodies point to. */
und_floating_bodies *und_floating_bodies_create(const und_floating_bodies_def *def, const und_frame *frame,
                                                und_error *err);
void und_floating_bodies_destroy(und_floating_bodies *floating_bodies);

/* From the frame seen last to this one, with pressure and velocity in between taken linearly in time. */
und_status und_floating_bodies_advance(und_floating_bodies *floating_bodies, const und_frame *frame,
                                       und_error *err);

und_bodies *und_floating_bodies_bodies(und_floating_bodies *floating_bodies);

/* Adds the bodies to a frame: see und_bodies_frame. */
und_status und_floating_bodies_frame(const und_floating_bodies *floating_bodies, und_frame *frame,
                                     und_error *err);

/* A checkpoint's part, with what is kept of the frame seen last. */
und_status und_floating_bodies_save(und_floating_bodies *floating_bodies, und_frame *state, und_error *err);
und_status und_floating_bodies_restore(und_floating_bodies *floating_bodies, const und_frame *state,
                                       und_error *err);

#endif
