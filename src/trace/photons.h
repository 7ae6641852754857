/* Caustics: light of the sun and of lamps that reached a diffuse surface through or off dielectrics and
 * metal, as photons (Jensen 2001), looked up by place. */
#ifndef UND_TRACE_PHOTONS_H
#define UND_TRACE_PHOTONS_H

#include "trace/light.h"

typedef struct und_photons und_photons;

typedef struct und_photons_def {
    const und_world *world;
    const und_lights *lights;
    size_t count; /* sent */
    int nearest;  /* photons in an estimate */
    uint64_t seed;
    int bounces;
    int threads;
} und_photons_def;

und_photons *und_photons_create(const und_photons_def *def, und_error *err);
void und_photons_destroy(und_photons *photons);

/* Irradiance at a place on a surface with this normal, from caustic photons alone. */
f3 und_photons_at(const und_photons *photons, f3 place, f3 normal);

#endif
