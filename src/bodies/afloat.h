/* Bodies that float in a flow which does not feel them (Foster & Metaxas 1996, section 5).  They go from
 * frame to frame by what frames hold, so that a run and a pass over its cache give the same bits. */
#ifndef UND_BODIES_AFLOAT_H
#define UND_BODIES_AFLOAT_H

#include "bodies/bodies.h"
#include "grid/frame.h"

typedef struct und_afloat_def {
    int body_count;
    const und_body_def *bodies;
    double gravity[3];
    double density; /* of the liquid, kg/m3 */
    double damping; /* of the relative velocity, eq. 16; see und_body_def.drag for each body */
    int nodes;      /* along the longest edge of a body, 16 */
    int threads;
} und_afloat_def;

typedef struct und_afloat und_afloat;

/* `frame` is the first: bodies start in it.  It needs "label", "pressure" and "velocity_x", "_y", "_z" (and
 * "surface" where heights track the liquid). */
und_afloat *und_afloat_create(const und_afloat_def *def, const und_frame *frame, und_error *err);
void und_afloat_destroy(und_afloat *afloat);

/* From the frame seen last to this one, with pressure and velocity in between taken linearly in time. */
und_status und_afloat_advance(und_afloat *afloat, const und_frame *frame, und_error *err);

/* Adds the bodies to a frame: see und_bodies_frame. */
und_status und_afloat_frame(const und_afloat *afloat, und_frame *frame, und_error *err);

/* A checkpoint's part, with what is kept of the frame seen last. */
und_status und_afloat_save(und_afloat *afloat, und_frame *state, und_error *err);
und_status und_afloat_restore(und_afloat *afloat, const und_frame *state, und_error *err);

#endif
