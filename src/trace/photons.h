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
    int nearest;  /* photons in an estimate, about */
    uint64_t seed;
    int bounces;
    int threads;
    bool (*stop)(void); /* asked often; then those sent so far are all; NULL: never */
    /* Tests bring their own beams; NULL: und_lights_emit(). */
    und_ray (*emit)(const und_lights *lights, const und_box *bounds, double count, const float u[4],
                    f3 *flux);
} und_photons_def;

und_photons *und_photons_create(const und_photons_def *def, und_error *err);
void und_photons_destroy(und_photons *photons);

/* Is light of the sun and of lamps that came off or through this matter the photons' to bring?  Whoever adds
 * their estimate to a surface must count no such light there in another way. */
static inline bool und_photons_carry(const und_matter *matter)
{
    return matter->kind == UND_MATTER_DIELECTRIC ||
           (matter->kind == UND_MATTER_METAL && matter->roughness < 0.3f);
}

/* Irradiance at a place on a surface with this normal (of the side that is looked at), from caustic photons
 * alone.  `within`: does the place lie in a dielectric, as a pool's floor does?  Light does not spill over a
 * shore. */
f3 und_photons_at(const und_photons *photons, f3 place, f3 normal, bool within);

#endif
