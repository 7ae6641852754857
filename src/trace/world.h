/* What rays can meet: the liquid, the ground, solids, bodies and drops of one frame, over the time that the
 * shutter is open.  Built once per frame, read by all threads. */
#ifndef UND_TRACE_WORLD_H
#define UND_TRACE_WORLD_H

#include "stage/f3.h"
#include "stage/scenery.h"

typedef struct und_ray {
    f3 from, dir; /* dir: unit */
    float near, far;
    float time;   /* 0 to 1: from when the shutter opens until it closes */
    float spread; /* half the angle of the ray's cone: what is smaller than it at the hit is averaged; 0:
                   * light's own, which drops and films in the air do not stop */
    bool camera;  /* straight from it: liquid that it meets says its velocity */
} und_ray;

/* Of what a picture's layer `id` tells apart. */
enum {
    UND_ID_NONE,
    UND_ID_LIQUID,
    UND_ID_GROUND,
    UND_ID_SPRAY,
    UND_ID_TANK,
    UND_ID_SOLID = 16, /* + its number */
    UND_ID_BODY = 4096 /* + its number */
};

typedef struct und_hit {
    float t; /* m along the ray; infinite: nothing was met */
    f3 place;
    f3 normal;   /* for shading: smooth, bumpy; unit; points out of the thing, whatever side the ray is on */
    f3 face;     /* of the surface itself, unit, outwards */
    f3 velocity; /* m/s */
    und_matter matter; /* with the colour of this place */
    float offset;      /* m; a ray that leaves from here begins this far along its face normal's side */
    float clear;       /* share of the light that goes straight on, as past a thin pane; 0 of most things */
    int id;
} und_hit;

typedef struct und_world und_world;

/* Tests and other worlds bring their own functions. */
struct und_world {
    /* The nearest surface between near and far; false: none. */
    bool (*cast)(const und_world *world, const und_ray *ray, und_hit *hit);
    /* Is there anything opaque between near and far?  Dielectrics (and drops) are not. */
    bool (*blocked)(const und_world *world, const und_ray *ray);
    /* Anything at all, dielectrics too?  NULL: as cast() says. */
    bool (*meets)(const und_world *world, const und_ray *ray);
    /* The dielectric that a place lies in, where a camera may stand: false: air.  NULL: always air. */
    bool (*within)(const und_world *world, f3 place, und_matter *matter);
    /* What the air carries (far aerosol of spray, haze) along `distance` of the ray: the share of light that
     * comes through, and how much of the light around it sends to the eye.  NULL: clear. */
    void (*air)(const und_world *world, const und_ray *ray, float distance, float *through, f3 *color);
    und_box bounds; /* of the scene that is looked at: where light is aimed */
};

/* A frame's world, from what was prepared of it (und_scenery_prepare). */
und_world *und_world_create(und_scenery *stage, const und_frame *frame, und_error *err);
void und_world_destroy(und_world *world);

#endif
