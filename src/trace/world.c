/* The world of a frame: what rays meet, and in what order it is asked. */
#include "base/maths.h"
#include "trace/world_parts.h"

#include "base/status.h"
#include "surface/frame_mesh.h"

#include <stdlib.h>

/* Cells: thinner films are a shine on wet ground.  Less than that no sample can tell from none. */
static const float THINNEST = 0.01f;

static const float DULL = 0.05f; /* spread of rays that left something dull is more */

static bool sane(const und_ray *ray)
{
    return f3_dot(ray->dir, ray->dir) > 0.5f && f3_dot(ray->from, ray->from) < 1e24f && ray->near < ray->far;
}

/* How far it is to the table; infinite where the ray does not go there. */
static float table_distance(const und_world_parts *w, const und_ray *ray)
{
    float t = (w->table - ray->from.y) / ray->dir.y;
    return w->is_table && ray->dir.y != 0 && t > ray->near ? t : INFINITY;
}

static struct RTCRay scene_ray(const und_ray *ray, float far, unsigned mask)
{
    return (struct RTCRay){.org_x = ray->from.x,
                           .org_y = ray->from.y,
                           .org_z = ray->from.z,
                           .tnear = ray->near,
                           .dir_x = ray->dir.x,
                           .dir_y = ray->dir.y,
                           .dir_z = ray->dir.z,
                           .time = clampf(ray->time, 0, 1),
                           .tfar = far,
                           .mask = mask};
}

static bool cast_scene(const und_world_parts *w, const und_ray *ray, float far, struct RTCRayHit *found)
{
    struct RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    unsigned mask = UND_MASK_OPAQUE | UND_MASK_CLEAR;
    found->ray = scene_ray(ray, far, ray->spread > 0 && ray->spread < DULL ? mask | UND_MASK_AIRY : mask);
    found->hit.geomID = RTC_INVALID_GEOMETRY_ID;
    rtcIntersect1(w->scene, &context, found);
    return found->hit.geomID != RTC_INVALID_GEOMETRY_ID;
}

/* Rounding of places grows with how far away they are. */
static float offset_at(const und_world_parts *w, f3 place, float t)
{
    const und_box *b = &w->base.bounds;
    float size = maxf(maxf(fabsf(place.x), fabsf(place.y)), fabsf(place.z));
    float span = maxf(maxf(b->high.x - b->low.x, b->high.y - b->low.y), b->high.z - b->low.z);
    return 2e-6f * span + 1e-6f * maxf(size, t);
}

/* Normals for shading stay on the side of the surface that the ray is on. */
static void keep_side(und_hit *hit, f3 dir)
{
    const float least = 0.02f;
    float side = f3_dot(hit->face, dir) > 0 ? 1 : -1, seen = side * f3_dot(hit->normal, dir);
    if (!(seen > least))
        hit->normal = f3_unit(f3_along(hit->normal, dir, side * (least - seen)));
}

static void look_liquid(const und_world_parts *w, const und_ray *ray, const und_level_hit *found,
                        und_hit *hit)
{
    const und_traced_level *l = &w->level;
    float place[3];
    for (int a = 0; a < 3; a++)
        place[a] = (float)(l->origin[a] + (double)found->node[a] * (double)l->cell[a]);
    hit->t = found->t;
    hit->place = f3_of(place);
    und_trace_level_normals(l, found, ray->dir, &hit->face, &hit->normal);
    hit->velocity = ray->camera ? und_trace_level_velocity(l, hit->place) : f3_gray(0);
    hit->matter = w->water;
    hit->offset = 2e-3f * l->small + offset_at(w, hit->place, 0);
    hit->id = UND_ID_LIQUID;
}

/* But for films thinner than the offset with which rays go on: they would begin behind them, and take all
 * that comes then for liquid. */
static bool cast_liquid(const und_world_parts *w, const und_ray *ray, float far, und_hit *hit)
{
    enum { FILMS = 4 };
    float near = ray->near;
    und_level_hit found;
    for (int k = 0; k < FILMS && und_trace_level_cast(&w->level, ray, near, far, &found); k++) {
        look_liquid(w, ray, &found, hit);
        if (found.leaves ||
            und_trace_level_within(&w->level, f3_along(hit->place, hit->face, -hit->offset), ray->time))
            return true;
        near = found.t + hit->offset;
    }
    return false;
}

static bool cast(const und_world *world, const und_ray *ray, und_hit *hit)
{
    const und_world_parts *w = (const und_world_parts *)world;
    hit->t = INFINITY;
    hit->clear = 0;
    if (!sane(ray))
        return false;
    float table = table_distance(w, ray), far = minf(table, ray->far);
    struct RTCRayHit found;
    bool scene = w->any && cast_scene(w, ray, far, &found);
    far = scene ? found.ray.tfar : far;
    if (w->level.phi && cast_liquid(w, ray, far, hit)) {
        ; /* nothing is before it */
    } else if (scene || table < ray->far) {
        hit->t = far;
        hit->place = f3_along(ray->from, ray->dir, far);
        hit->velocity = f3_gray(0);
        if (scene) {
            und_world_look(w, ray, &found, hit);
        } else {
            hit->place.y = w->table;
            hit->face = f3_make(0, 1, 0);
            und_world_look_ground(w, ray, hit);
        }
        hit->offset = offset_at(w, hit->place, far);
    } else {
        return false;
    }
    keep_side(hit, ray->dir);
    return true;
}

static bool any_between(const und_world_parts *w, const und_ray *ray, unsigned mask, bool liquid)
{
    if (!sane(ray))
        return false;
    if (table_distance(w, ray) < ray->far)
        return true;
    if (w->any) {
        struct RTCIntersectContext context;
        rtcInitIntersectContext(&context);
        struct RTCRay test = scene_ray(ray, ray->far, mask);
        rtcOccluded1(w->scene, &context, &test);
        if (test.tfar < 0)
            return true;
    }
    und_level_hit met;
    return liquid && w->level.phi && und_trace_level_cast(&w->level, ray, ray->near, ray->far, &met);
}

static bool blocked(const und_world *world, const und_ray *ray)
{
    const und_world_parts *w = (const und_world_parts *)world;
    return any_between(w, ray, UND_MASK_OPAQUE, w->opaque_liquid);
}

static bool meets(const und_world *world, const und_ray *ray)
{
    return any_between((const und_world_parts *)world, ray, UND_MASK_OPAQUE | UND_MASK_CLEAR, true);
}

/* Is the next of the skin's triangles above one through which a ray would leave? */
static bool within_skin(const und_world_parts *w, f3 place)
{
    const und_ray up = {.from = place, .dir = {0, 1, 0}, .far = INFINITY, .time = 1};
    struct RTCRayHit found;
    und_hit hit = {.place = place};
    if (!w->stage->liquid.count || !cast_scene(w, &up, INFINITY, &found) || found.hit.geomID != UND_PART_SKIN)
        return false;
    und_world_look(w, &up, &found, &hit);
    return hit.face.y > 0;
}

static bool within_heights(const und_world_parts *w, f3 place)
{
    const und_mesh *m = &w->stage->mesh;
    float water[4];
    if (w->stage->drawing != UND_DRAWS_HEIGHTS || !(place.x > m->x0 && place.x < m->x1) ||
        !(place.z > m->z0 && place.z < m->z1))
        return false;
    und_stage_mesh_water_at(m, place.x, place.z, water);
    return place.y > water[M_GROUND] && place.y < water[M_GROUND] + water[M_DEPTH];
}

static bool within(const und_world *world, f3 place, und_matter *matter)
{
    const und_world_parts *w = (const und_world_parts *)world;
    *matter = w->water;
    if (w->opaque_liquid || !(f3_dot(place, place) < 1e24f))
        return false;
    return w->level.phi ? und_trace_level_within(&w->level, place, 1)
                        : within_heights(w, place) || within_skin(w, place);
}

/* The sky at the horizon comes in with the distance: as a share of the light that the air is in, of the sky
 * and half the sun. */
static void hazy_air(const und_world *world, const und_ray *ray, float distance, float *through, f3 *color)
{
    const und_scenery *stage = ((const und_world_parts *)world)->stage;
    f3 far = und_sky_at(&stage->sky, f3_unit(f3_make(ray->dir.x, UND_HORIZON, ray->dir.z)));
    f3 light = f3_along(und_sky_ambient(&stage->sky, f3_make(0, 1, 0)), stage->sky.sun_color,
                        0.5f * maxf(stage->sky.sun.y, 0));
    float hidden = distance < INFINITY ? 1 - und_expf(-maxf(distance, 0) / (float)stage->def.haze) : 0;
    *through = 1 - hidden;
    *color = f3_make(hidden * far.x / maxf(light.x, 1e-6f), hidden * far.y / maxf(light.y, 1e-6f),
                     hidden * far.z / maxf(light.z, 1e-6f));
}

static und_matter find_water(const und_picture_def *def, bool painted)
{
    und_matter m = {.kind = UND_MATTER_DIELECTRIC, .index = (float)def->refraction, .priority = 1};
    for (int a = 0; a < 3; a++) {
        m.absorption[a] = def->absorption[a];
        m.scatter[a] = def->water_color[a];
        m.color[a] = painted ? 0.8f : 1;
    }
    if (painted) /* the coat mirrors as much as is asked for, head on */
        m.kind = def->gloss > 0 ? UND_MATTER_GLOSSY : UND_MATTER_DIFFUSE;
    return def->looks.liquid.given ? def->looks.liquid.matter : m;
}

static void widen(und_box *b, f3 low, f3 high)
{
    b->low = f3_make(minf(b->low.x, low.x), minf(b->low.y, low.y), minf(b->low.z, low.z));
    b->high = f3_make(maxf(b->high.x, high.x), maxf(b->high.y, high.y), maxf(b->high.z, high.z));
}

static und_box find_bounds(const und_scenery *stage)
{
    const und_mesh *m = &stage->mesh;
    und_box b = stage->box;
    if (stage->drawing == UND_DRAWS_HEIGHTS)
        b = (und_box){f3_make(m->x0, m->base, m->z0), f3_make(m->x1, m->high, m->z1)};
    if (stage->soup.count)
        widen(&b, stage->soup.low, stage->soup.high);
    if (stage->liquid.count)
        widen(&b, stage->liquid.low, stage->liquid.high);
    return b;
}

/* The liquid in a box: its distance, or where it is painted or has none its skin. */
static und_status take_liquid(und_world_parts *w, const und_frame *frame, und_error *err)
{
    und_scenery *stage = w->stage;
    if (stage->texture || !und_frame_mesh_has_distance(frame))
        return und_world_skin(w, err);
    float cell = (float)frame->grid.dx;
    und_level_def def = {.into_solids = UND_INTO_SOLIDS, .shutter = w->shutter, .threads = stage->threads};
    if (w->table > stage->box.low.y - 0.1f * cell) /* it stands on the table */
        def.below = UND_INTO_SOLIDS;
    return und_trace_level_open(&w->level, frame, &def, err);
}

static und_status build(und_world_parts *w, const und_frame *frame, und_error *err)
{
    und_scenery *stage = w->stage;
    und_status status = UND_OK;
    w->is_table = stage->drawing == UND_DRAWS_BOX;
    w->table = stage->mesh.low;
    w->thinnest =
        maxf(4 * offset_at(w, w->base.bounds.high, 4 * stage->mesh.span), THINNEST * stage->mesh.cell);
    if (!(w->device = rtcNewDevice("threads=1"))) /* builds the same tree each time */
        return und_error_set(err, UND_FAILED, "Embree cannot be used: error %d", rtcGetDeviceError(NULL));
    w->scene = rtcNewScene(w->device);
    rtcSetSceneFlags(w->scene, RTC_SCENE_FLAG_ROBUST);
    if (stage->drawing == UND_DRAWS_BOX)
        status = take_liquid(w, frame, err) ? err->status : und_world_tank(w, err);
    else
        status = und_world_ground(w, err);
    if (status != UND_OK || (status = und_world_objects(w, frame, err)) ||
        (status = und_world_sheets(w, frame, err)) || (status = und_world_drops(w, frame, err)))
        return status;
    rtcCommitScene(w->scene);
    enum RTCError trouble = rtcGetDeviceError(w->device);
    if (trouble != RTC_ERROR_NONE)
        return und_error_set(err, UND_FAILED, "frame %d: Embree could not build the scene: error %d",
                             frame->number, trouble);
    return UND_OK;
}

und_world *und_world_create(und_scenery *stage, const und_frame *frame, und_error *err)
{
    if (und_scenery_is_flat(stage)) {
        und_error_set(err, UND_INVALID, "frame %d is drawn flat: there is nothing in it that rays could meet",
                      frame->number);
        return NULL;
    }
    und_world_parts *w = und_alloc(1, sizeof *w, "a frame's world", err);
    if (!w)
        return NULL;
    w->stage = stage;
    w->base = (und_world){
        .cast = cast, .blocked = blocked, .meets = meets, .within = within, .bounds = find_bounds(stage)};
    if (stage->def.haze > 0 && isfinite(stage->def.haze))
        w->base.air = hazy_air;
    w->water = find_water(&stage->def, stage->texture);
    w->opaque_liquid = w->water.kind != UND_MATTER_DIELECTRIC;
    w->shutter = stage->def.motion_blur && stage->def.shutter > 0 ? (float)stage->def.shutter : 0;
    if (build(w, frame, err) == UND_OK)
        return &w->base;
    und_world_destroy(&w->base);
    return NULL;
}

void und_world_destroy(und_world *world)
{
    und_world_parts *w = (und_world_parts *)world;
    if (!w)
        return;
    if (w->scene)
        rtcReleaseScene(w->scene);
    if (w->device)
        rtcReleaseDevice(w->device);
    und_trace_level_close(&w->level);
    free(w->object[0]);
    free(w->object[1]);
    free(w->owner);
    free(w->cut_side);
    free(w->side_of_water);
    free(w->drop_speed);
    free(w->rain_shown);
    free(w);
}
