/* A small world for rays, for cases and tests: spheres, planes and slabs. */
#ifndef UND_VALIDATE_SMALL_WORLD_H
#define UND_VALIDATE_SMALL_WORLD_H

#include "trace/world.h"

#include <math.h>
#include <string.h>

typedef enum small_kind { SMALL_SPHERE, SMALL_PLANE, SMALL_SLAB } small_kind;

typedef struct small_thing {
    small_kind kind;
    f3 place;   /* middle of a sphere, a place on a plane, middle of a slab (which stands square to y) */
    f3 normal;  /* of a plane */
    float size; /* radius; thickness of a slab */
    und_matter matter;
    int id;
    float clear; /* share of the light that goes straight through */
} small_thing;

typedef struct small_world {
    und_world base;
    int count;
    const small_thing *thing;
} small_world;

/* Both ends of the ray's way through the thing; a plane has one. */
static inline int small_ways(const small_thing *thing, const und_ray *ray, float t[2])
{
    f3 to = f3_sub(thing->place, ray->from);
    if (thing->kind == SMALL_PLANE) {
        t[0] = f3_dot(to, thing->normal) / f3_dot(ray->dir, thing->normal);
        return 1;
    }
    if (thing->kind == SMALL_SLAB) {
        t[0] = (to.y - 0.5f * thing->size) / ray->dir.y;
        t[1] = (to.y + 0.5f * thing->size) / ray->dir.y;
        return 2;
    }
    double b = (double)to.x * ray->dir.x + (double)to.y * ray->dir.y + (double)to.z * ray->dir.z;
    double c = (double)to.x * to.x + (double)to.y * to.y + (double)to.z * to.z;
    double k = b * b - c + (double)thing->size * thing->size;
    if (k < 0)
        return 0;
    t[0] = (float)(b - sqrt(k));
    t[1] = (float)(b + sqrt(k));
    return 2;
}

static inline f3 small_normal(const small_thing *thing, f3 place)
{
    if (thing->kind == SMALL_PLANE)
        return thing->normal;
    f3 off = f3_sub(place, thing->place);
    return thing->kind == SMALL_SLAB ? f3_make(0, off.y < 0 ? -1 : 1, 0) : f3_unit(off);
}

static inline bool small_nearest(const und_world *world, const und_ray *ray, bool opaque, und_hit *hit)
{
    const small_world *w = (const small_world *)world;
    const small_thing *best = NULL;
    hit->t = ray->far;
    for (int k = 0; k < w->count; k++) {
        const small_thing *thing = &w->thing[k];
        if (opaque && thing->matter.kind == UND_MATTER_DIELECTRIC)
            continue;
        float t[2];
        int ways = small_ways(thing, ray, t);
        for (int j = 0; j < ways; j++)
            if (t[j] > ray->near && t[j] < hit->t) {
                hit->t = t[j];
                best = thing;
            }
    }
    if (!best)
        return false;
    hit->place = f3_along(ray->from, ray->dir, hit->t);
    hit->normal = hit->face = small_normal(best, hit->place);
    hit->velocity = f3_gray(0);
    hit->matter = best->matter;
    hit->offset = 1e-4f;
    hit->clear = best->clear;
    hit->id = best->id;
    return true;
}

static inline bool small_cast(const und_world *world, const und_ray *ray, und_hit *hit)
{
    return small_nearest(world, ray, false, hit);
}

static inline bool small_blocked(const und_world *world, const und_ray *ray)
{
    und_hit hit;
    return small_nearest(world, ray, true, &hit);
}

static inline small_world small_world_of(const small_thing *thing, int count)
{
    return (small_world){
        .base = {.cast = small_cast, .blocked = small_blocked, .bounds = {{-2, -2, -2}, {2, 2, 2}}},
        .count = count,
        .thing = thing};
}

#endif
