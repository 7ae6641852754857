/* Foam: bits that float where spray came down, carried by the surface, until their life is over (Foster &
 * Metaxas 1996, section 4.3). */
#ifndef UND_SPRAY_FOAM_H
#define UND_SPRAY_FOAM_H

#include "grid/frame.h"

#include <undine/spray.h>

typedef struct und_foam und_foam;

und_foam *und_foam_create(const und_froth_def *def, uint64_t seed, int threads, und_error *err);
void und_foam_destroy(und_foam *foam);

/* A bit of foam where a drop of this radius landed; dropped where there are too many. */
void und_foam_add(und_foam *foam, double x, double z, double radius);

/* Velocity of the surface along x and z and its height at a place; false: there is no water, and foam ends.
 * Called from several threads at once; what it says must depend on the place alone. */
typedef bool und_surface_fn(void *context, double x, double z, double velocity[2], double *height);

/* Over dt: bits grow older and go with the surface, by the velocity half way; those that are left keep their
 * order. */
void und_foam_step(und_foam *foam, double dt, und_surface_fn *surface, void *context);

int und_foam_count(const und_foam *foam);

/* Adds "foam/position" [count][3], "foam/radius", "foam/age" and "foam/life" [count]. */
und_status und_foam_frame(const und_foam *foam, und_frame *frame, und_error *err);

/* The whole state, as items "foam_..." of a checkpoint; save borrows the arrays. */
und_status und_foam_save(und_foam *foam, und_frame *state, und_error *err);
und_status und_foam_restore(und_foam *foam, const und_frame *state, und_error *err);

#endif
