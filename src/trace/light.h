/* Light that comes from outside: sky or environment map, sun, area lights.  Each can be looked at along a
 * ray, and sampled from a place. */
#ifndef UND_TRACE_LIGHT_H
#define UND_TRACE_LIGHT_H

#include "trace/world.h"

enum { UND_LIGHTS_MOST = 64 };

typedef struct und_lights_def {
    const struct und_sky *sky; /* baked: its picture, the sun's direction and colour; NULL: none */
    float sun_angle;           /* degrees across; 0.53 */
    const und_lamp *lamps;
    int lamp_count;
    f3 constant; /* added to the sky from every direction: a furnace */
} und_lights_def;

typedef struct und_lights und_lights;

typedef struct und_light_sample {
    f3 dir; /* towards the light */
    float distance;
    f3 radiance;
    float density; /* per steradian; 0: none; infinite (a sun of angle 0): radiance is irradiance */
} und_light_sample;

und_lights *und_lights_create(const und_lights_def *def, und_error *err);
void und_lights_destroy(und_lights *lights);

/* A direction to one light, chosen by how much it may matter, and what comes from there: all lights that lie
 * in it count, the nearest lamp before the sky.  u: three numbers in [0, 1).  normal: 0: of no surface. */
und_light_sample und_lights_sample(const und_lights *lights, f3 place, f3 normal, const float u[3]);
/* How densely und_lights_sample() would choose this direction, per steradian. */
float und_lights_density(const und_lights *lights, f3 place, f3 normal, f3 dir);
/* What a ray that meets nothing but the sky sees; with or without the sun's disc. */
f3 und_lights_beyond(const und_lights *lights, f3 dir, bool sun);
/* The nearest lamp along a ray, before `far`; false: none.  eye: only those that the camera may see. */
bool und_lights_meet(const und_lights *lights, const und_ray *ray, bool eye, float *t, f3 *radiance);
/* The sun as uneven water shows it: its light spread by `blur`, radians. */
f3 und_lights_glint(const und_lights *lights, f3 dir, float blur);
/* Irradiance / pi from the sky and what is constant, nothing in the way; and of a wall turned to the sun. */
f3 und_lights_ambient(const und_lights *lights, f3 normal);
f3 und_lights_sun(const und_lights *lights, f3 *towards);
bool und_lights_have_lamps(const und_lights *lights);

/* A photon: where it starts, outside `bounds` and aimed into it, and the flux (W per unit) it stands for when
 * `count` are sent.  u: four numbers in [0, 1).  Sun and lamps by their power; the sky sends none. */
und_ray und_lights_emit(const und_lights *lights, const und_box *bounds, double count, const float u[4],
                        f3 *flux);

#endif
