/* Paths from the eye.
 *
 * A path is followed from surface to surface.  Where it meets something that sends light from many directions
 * to many others, one light is also looked for directly (next-event estimation), and the two ways to find the
 * same light share it by their densities (Veach & Guibas 1995).  A light counts as directly seen only where
 * nothing at all lies between, dielectrics included; so each kind of light is found in one way:
 *
 *   from the eye or a diffuse surface (D),   sky and constant       sun and lamps
 *   by way of
 *   - nothing                                light sample + path    light sample + path
 *   - rough metal                            light sample + path    light sample + path
 *   - what carries photons
 *     (dielectrics, metal up to a roughness)
 *       from the eye, off a smooth coat
 *       or off rough metal                   path (rough: + light sample)   the same; the sun as a glint
 *       from D                               path (rough: + light sample)   photons; without any: as the sky
 *
 * Radiance is carried over the square of the index of refraction, which stays the same along a ray: a camera
 * under water and a furnace need no care, and the irradiance that photons bring to a place in a medium is
 * divided by that square. */
#include "trace/path.h"

#include "base/maths.h"
#include "stage/bend.h"
#include "trace/light_parts.h"
#include "trace/matter.h"
#include "trace/media.h"

enum { PENDING = 8, PASSES = 256 };

static const float pi = 3.14159265f;

typedef struct walk {
    und_ray ray;
    f3 through; /* how much of what comes along the ray reaches the eye */
    und_media media;
    f3 place, normal; /* of the surface that the ray left */
    float density;    /* of its direction; infinite: lights were not looked for from there */
    float blur2;      /* square of what smooth water spread the sun's image by */
    int bounces, splits;
    int surfaces; /* of smooth dielectrics, passed since blur2 was 0 */
    bool eye;     /* straight from the camera */
    bool diffuse; /* was scattered so that clamping applies */
    bool broad;   /* the last that was no carrier of photons sent light to all sides */
    bool photons; /* sun and lamps reach this ray's end as photons */
} walk;

typedef struct tracer {
    const und_paths *paths;
    und_dice *dice;
    f3 light;
    int pending;
    walk later[PENDING];
} tracer;

static float largest(f3 c)
{
    return maxf(maxf(c.x, c.y), c.z);
}

static void add(tracer *t, const walk *w, f3 light)
{
    f3 c = f3_times(w->through, light);
    float most = largest(c);
    if (!(isfinite(c.x + c.y + c.z))) {
        t->dice->dropped++;
        return;
    }
    if (w->diffuse && most > t->paths->clamp)
        c = f3_scale(c, t->paths->clamp / most);
    t->light = f3_add(t->light, c);
}

/* Three numbers, of which the first two belong together. */
static void roll(und_dice *dice, float u[3])
{
    dice->next += dice->next & 1;
    for (int k = 0; k < 3; k++)
        u[k] = und_dice_roll(dice);
}

static bool cast(tracer *t, const und_ray *ray, und_hit *hit)
{
    t->dice->rays++;
    const und_world *world = t->paths->world;
    return world->cast(world, ray, hit) && hit->t < INFINITY;
}

/* Share of light that was found along the ray, when lights were also looked for from where it began. */
static float path_share(const tracer *t, const walk *w)
{
    if (isinf(w->density))
        return 1;
    float other = und_lights_density(t->paths->lights, w->place, w->normal, w->ray.dir);
    return w->density / (w->density + other);
}

/* The ray met nothing. */
static void escape(tracer *t, const walk *w)
{
    const und_lights *lights = t->paths->lights;
    bool glint = w->blur2 > 0, sun = !w->photons;
    f3 light = und_lights_beyond(lights, w->ray.dir, sun && !glint);
    if (sun && glint)
        light = f3_add(light, und_lights_glint(lights, w->ray.dir, sqrtf(w->blur2)));
    if (largest(light) > 0)
        add(t, w, f3_scale(light, path_share(t, w)));
}

/* What a medium sends back on a stretch of the ray: the deep colour, in the light of sky and sun above, as
 * far as it hides what is behind.  Somewhere on the stretch the sun is looked for; surfaces of dielectrics
 * are no obstacle. */
static void add_scatter(tracer *t, const walk *w, const und_medium *m, float distance, f3 left)
{
    if (largest(m->scatter) <= 0)
        return;
    const und_paths *p = t->paths;
    f3 towards, up = f3_make(0, 1, 0), light = und_lights_ambient(p->lights, up);
    f3 sun = und_lights_sun(p->lights, &towards), hidden = f3_sub(f3_gray(1), left);
    float high = maxf(towards.y, 0);
    if (high > 0 && largest(hidden) > 0.02f && !w->diffuse) {
        float mean = (m->absorption.x + m->absorption.y + m->absorption.z) / 3, u = und_dice_roll(t->dice);
        float deep = mean > 0 ? -und_logf(1 - u * (1 - und_expf(-mean * distance))) / mean : u * distance;
        und_ray ray = w->ray;
        ray.from = f3_along(w->ray.from, w->ray.dir, w->ray.near + minf(deep, distance));
        ray.dir = towards;
        ray.near = 0;
        ray.far = INFINITY;
        t->dice->rays++;
        high = p->world->blocked(p->world, &ray) ? 0 : high;
    }
    light = f3_along(light, sun, high);
    add(t, w, f3_times(f3_times(m->scatter, light), hidden));
}

/* The stretch of the ray up to `distance`: absorption of what it is in, or the air. */
static void pass(tracer *t, walk *w, float distance)
{
    const und_world *world = t->paths->world;
    const und_medium *m = und_media_here(&w->media);
    if (m) {
        f3 left = und_left(m->absorption, minf(distance, 1e9f));
        add_scatter(t, w, m, minf(distance, 1e9f), left);
        w->through = f3_times(w->through, left);
    } else if (world->air && !w->diffuse && isfinite(distance)) {
        float through = 1;
        f3 color = f3_gray(0);
        world->air(world, &w->ray, distance, &through, &color);
        add(t, w, color);
        w->through = f3_scale(w->through, through);
    }
}

/* What is met, from the side the ray comes from. */
typedef struct meeting {
    und_hit hit;
    f3 out;          /* back along the ray */
    f3 normal, face; /* towards it */
    float ratio;     /* of indices */
} meeting;

static void face_ray(meeting *m, f3 dir)
{
    m->out = f3_scale(dir, -1);
    float side = f3_dot(m->hit.face, dir) > 0 ? -1 : 1;
    m->face = f3_scale(m->hit.face, side);
    m->normal = und_matter_normal(f3_scale(m->hit.normal, side), m->face, m->out);
}

/* Sends the ray on from the surface, to the given side of its face. */
static void leave(walk *w, const meeting *m, f3 dir, bool behind)
{
    float side = f3_dot(dir, m->face);
    if (behind ? side > 0 : side < 0) /* bumpy normals may send it to the wrong one */
        dir = f3_along(dir, m->face, -2 * side);
    w->ray.from = f3_along(m->hit.place, m->face, behind ? -m->hit.offset : m->hit.offset);
    w->ray.dir = dir;
    w->ray.near = 0;
    w->ray.far = INFINITY;
    w->ray.camera = w->eye = false;
}

/* Is anything at all between a surface and a light? */
static bool hidden(tracer *t, const walk *w, const meeting *m, const und_light_sample *s)
{
    und_ray ray = w->ray;
    ray.from = f3_along(m->hit.place, m->face, m->hit.offset);
    ray.dir = s->dir;
    ray.near = 0;
    ray.far = s->distance * 0.9999f;
    const und_world *world = t->paths->world;
    und_hit other;
    if (!world->meets)
        return cast(t, &ray, &other);
    t->dice->rays++;
    return world->meets(world, &ray);
}

/* Looks for a light directly.  False: from here that is of no use. */
static bool look_for_light(tracer *t, const walk *w, const meeting *m)
{
    const und_lights *lights = t->paths->lights;
    const und_medium *medium = und_media_here(&w->media);
    if (medium && !und_lights_have_lamps(lights))
        return false;
    float u[3], density;
    roll(t->dice, u);
    und_light_sample s = und_lights_sample(lights, m->hit.place, m->normal, u);
    if (!(s.density > 0) || f3_dot(s.dir, m->face) <= 0)
        return true;
    bool far = isinf(s.distance);
    if (far && medium)
        return true;
    if (w->photons) {
        if (!far || isinf(s.density))
            return true;
        s.radiance = und_lights_beyond(lights, s.dir, false);
    }
    f3 value =
        f3_times(und_matter_value(&m->hit.matter, m->normal, m->out, s.dir, m->ratio, &density), s.radiance);
    value = isinf(s.density) ? value : f3_scale(value, 1 / (s.density + density));
    if (!(largest(f3_times(value, w->through)) > 0) || hidden(t, w, m, &s))
        return true;
    if (medium)
        value = f3_times(value, und_left(medium->absorption, s.distance));
    add(t, w, value);
    return true;
}

/* Paths that can bring little more end, the others stand for them.  Ending more of them costs more in noise
 * than it saves. */
static bool survives(tracer *t, walk *w)
{
    if (++w->bounces > t->paths->bounces)
        return false;
    float keep = minf(6 * largest(w->through), 1);
    if (w->bounces < 3 || keep >= 0.8f)
        return keep > 0;
    keep = maxf(keep, 0.02f);
    if (und_dice_roll(t->dice) >= keep)
        return false;
    w->through = f3_scale(w->through, 1 / keep);
    return true;
}

/* Something opaque. */
static bool bounce(tracer *t, walk *w, meeting *m)
{
    const und_photons *photons = t->paths->photons;
    const und_matter *matter = &m->hit.matter;
    const und_medium *medium = und_media_here(&w->media);
    float index = medium ? medium->index : 1;
    m->ratio = matter->index / index;
    bool carries = und_photons_carry(matter), metal = matter->kind == UND_MATTER_METAL;
    w->photons = carries && photons && w->broad;
    if (photons && !metal) {
        f3 color = und_matter_diffuse(matter, m->normal, m->out, m->ratio);
        f3 falls = und_photons_at(photons, m->hit.place, m->normal, medium != NULL);
        add(t, w, f3_scale(f3_times(color, falls), 1 / (pi * index * index)));
    }
    bool smooth = metal && und_matter_smooth(matter), looked = !smooth && look_for_light(t, w, m);
    float u[3];
    roll(t->dice, u);
    und_scatter s;
    if (!und_matter_sample(matter, m->normal, m->out, m->ratio, u, &s))
        return false;
    bool mirror = isinf(s.density);
    if (!mirror && f3_dot(s.dir, m->face) <= 0)
        return false;
    w->through = f3_times(w->through, s.weight);
    w->place = m->hit.place;
    w->normal = m->normal;
    w->density = looked ? s.density : INFINITY;
    leave(w, m, s.dir, false);
    if (!mirror) {
        w->blur2 = 0;
        w->surfaces = 0;
        w->diffuse |= !metal;
        w->ray.spread = maxf(w->ray.spread, metal ? 0.3f * matter->roughness * matter->roughness : 0.1f);
    }
    if (!carries)
        w->broad = !metal && !mirror;
    return survives(t, w);
}

/* Over or through the surface of a smooth dielectric. */
static void go_on(const tracer *t, walk *w, const meeting *m, f3 dir, const und_media *beyond)
{
    /* The sun is seen in one surface; by way of more, or in drops, which are no clean balls and smaller than
     * a pixel, its light comes from about there. */
    bool image = w->surfaces == 0 && m->hit.id != UND_ID_SPRAY;
    float spread = (beyond ? 0.5f : 1) * (image ? 1 : 12) * t->paths->glint;
    w->surfaces++;
    w->blur2 += spread * spread;
    w->density = INFINITY;
    if (beyond)
        w->media = *beyond;
    leave(w, m, dir, beyond != NULL);
}

/* Both ways, each with its share; the one over the surface is followed later. */
static void split(tracer *t, walk *w, const meeting *m, float front, const und_media *beyond)
{
    walk *other = &t->later[t->pending++];
    f3 n = m->normal, d = w->ray.dir;
    float bent[3] = {d.x, d.y, d.z};
    w->splits--;
    *other = *w;
    other->through = f3_scale(w->through, front);
    go_on(t, other, m, f3_unit(und_mirrored(m->out, n)), NULL);
    w->through = f3_scale(w->through, 1 - front);
    und_refract((float[3]){d.x, d.y, d.z}, (float[3]){n.x, n.y, n.z}, m->ratio, bent);
    go_on(t, w, m, f3_unit(f3_of(bent)), beyond);
}

/* The surface of a dielectric. */
static bool cross(tracer *t, walk *w, meeting *m)
{
    const und_matter *matter = &m->hit.matter;
    und_media beyond;
    m->ratio = und_media_meet(&w->media, &m->hit, w->ray.dir, &beyond);
    if (m->ratio == 1) { /* within another: nothing to see */
        bool eye = w->eye;
        leave(w, m, w->ray.dir, true);
        w->eye = eye;
        w->media = beyond;
        w->density = INFINITY;
        return true;
    }
    w->photons = t->paths->photons && w->broad;
    bool smooth = und_matter_smooth(matter);
    float front = und_fresnelf(f3_dot(m->normal, m->out), m->ratio);
    if (smooth && w->splits > 0 && t->pending < PENDING && front > 0.002f && front < 0.998f) {
        split(t, w, m, front, &beyond);
        return ++w->bounces <= t->paths->bounces;
    }
    bool looked = !smooth && look_for_light(t, w, m);
    float u[3] = {0};
    if (smooth)
        u[2] = und_dice_roll(t->dice);
    else
        roll(t->dice, u);
    und_scatter s;
    if (!und_matter_sample(matter, m->normal, m->out, m->ratio, u, &s))
        return false;
    go_on(t, w, m, s.dir, s.through ? &beyond : NULL);
    if (!smooth) {
        w->blur2 = 0;
        w->surfaces = 0;
        w->place = m->hit.place;
        w->normal = m->normal;
        w->density = looked && !s.through ? s.density : INFINITY;
    }
    return survives(t, w);
}

/* Something that lets part of the light straight on: what it holds is followed later, or, where that is
 * little or much else is under way, chance takes one of the two.  False: the path does not go on behind it.
 */
static bool go_through(tracer *t, walk *w, meeting *m)
{
    const float little = 0.02f;
    float clear = m->hit.clear;
    if (t->pending < PENDING && largest(w->through) * (1 - clear) > little) {
        walk held = *w;
        held.through = f3_scale(w->through, 1 - clear);
        held.splits = 0;
        if (bounce(t, &held, m))
            t->later[t->pending++] = held;
        w->through = f3_scale(w->through, clear);
    } else if (und_dice_roll(t->dice) >= clear) {
        return false;
    }
    w->ray.near = m->hit.t + 2 * m->hit.offset;
    return true;
}

/* Follows a path to its end. */
static void follow(tracer *t, walk *w, und_hit *first)
{
    for (int k = 0; k < PASSES; k++) {
        meeting m;
        f3 glow;
        float lamp;
        if (!(f3_dot(w->ray.dir, w->ray.dir) < 2)) { /* damaged: no number */
            t->dice->dropped++;
            return;
        }
        bool met = cast(t, &w->ray, &m.hit);
        if (first && !(met && m.hit.clear > 0.5f)) {
            *first = m.hit;
            first->t = met ? m.hit.t : INFINITY;
            first = NULL;
        }
        if (!met && w->ray.dir.y > 0) /* no water reaches up to the sky: it left by a gap between surfaces */
            w->media.count = 0;
        und_ray ray = w->ray;
        ray.far = met ? m.hit.t : INFINITY;
        if (und_lights_meet(t->paths->lights, &ray, w->eye, &lamp, &glow)) {
            pass(t, w, lamp - w->ray.near);
            if (!w->photons)
                add(t, w, f3_scale(glow, path_share(t, w)));
            return;
        }
        pass(t, w, ray.far - w->ray.near);
        if (!met) {
            escape(t, w);
            return;
        }
        f3 emission = f3_of(m.hit.matter.emission);
        if (largest(emission) > 0)
            add(t, w, emission);
        face_ray(&m, w->ray.dir);
        if (m.hit.clear > 0 && go_through(t, w, &m))
            continue;
        if (!(m.hit.matter.kind == UND_MATTER_DIELECTRIC ? cross(t, w, &m) : bounce(t, w, &m)))
            return;
    }
}

f3 und_trace_path(const und_paths *paths, const und_ray *ray, und_dice *dice, und_hit *first)
{
    tracer t = {.paths = paths, .dice = dice};
    t.pending = 1;
    walk *start = &t.later[0];
    *start = (walk){.ray = *ray, .through = f3_gray(1), .density = INFINITY, .splits = 1, .eye = true};
    und_matter matter;
    if (paths->world->within && paths->world->within(paths->world, ray->from, &matter))
        und_media_enter(&start->media, &matter, UND_ID_LIQUID);
    while (t.pending > 0) {
        walk w = t.later[--t.pending];
        follow(&t, &w, first);
        first = NULL;
    }
    return t.light;
}
