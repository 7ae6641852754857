/* The light that comes back along a ray: path tracing with next-event estimation, nested dielectrics and
 * caustics from photons. */
#ifndef UND_TRACE_PATH_H
#define UND_TRACE_PATH_H

#include "trace/photons.h"

typedef struct und_paths {
    const und_world *world;
    const und_lights *lights;
    const und_photons *photons; /* NULL: caustics by chance alone (a furnace) */
    int bounces;                /* most */
    float clamp;                /* what a path may add after its first diffuse bounce; infinite: anything */
    float glint;                /* radians by which waves too small to see spread the sun's image, 0.03; 0 */
} und_paths;

/* Numbers in [0, 1) for one path: the same for the same (seed, pixel, sample), whatever the thread. */
typedef struct und_dice {
    uint64_t seed, pixel;
    uint32_t sample, next;
    uint32_t rays, dropped; /* for reports: rays cast, and light left out since it was no number */
} und_dice;
float und_dice_roll(und_dice *dice);

/* What the ray meets first, for layers: NULL where it is not asked for. */
f3 und_trace_path(const und_paths *paths, const und_ray *ray, und_dice *dice, und_hit *first);

#endif
