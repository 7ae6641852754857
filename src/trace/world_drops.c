/* Drops in the air: spray as balls of water on their way, rain as streaks. */
#include "trace/world_parts.h"

#include "base/status.h"

#include <string.h>

typedef struct drops {
    const float *position, *velocity, *radius;
    size_t count;
} drops;

static const float *floats(const und_frame *frame, const char *name, size_t count)
{
    const und_item *item = und_frame_find(frame, name);
    bool fits = item && item->type == UND_F32 && item->data && und_item_count(item) == count;
    return fits ? item->data : NULL;
}

static drops find_drops(const und_frame *frame, const char *position, const char *velocity,
                        const char *radius)
{
    const und_item *item = und_frame_find(frame, position);
    drops d = {0};
    if (!item || item->type != UND_F32 || !item->data)
        return d;
    d.count = und_item_count(item) / 3;
    d.position = item->data;
    d.velocity = floats(frame, velocity, 3 * d.count);
    d.radius = radius ? floats(frame, radius, d.count) : NULL;
    return d;
}

/* A drop's place and radius, and its velocity, as pictures have them; false where they are not sane, or the
 * drop is before the lens. */
static bool find_drop(const und_world_parts *w, const drops *d, size_t k, float sphere[4], float speed[3])
{
    const und_picture_def *def = &w->stage->def;
    const und_shot *c = &w->stage->camera;
    const float most = 0.06f; /* of the distance, that a radius may be */
    float square = 0;
    sphere[3] = d->radius ? d->radius[k] : 0.5f * (float)def->rain_width;
    for (int a = 0; a < 3; a++) {
        float stretch = a == 1 ? (float)def->vertical : 1;
        sphere[a] = d->position[3 * k + (size_t)a] * stretch;
        speed[a] = d->velocity ? d->velocity[3 * k + (size_t)a] * stretch : 0;
        square += speed[a] * speed[a];
        if (!(fabsf(sphere[a]) < 1e9f))
            return false;
    }
    if (!(square < 1e8f && square * w->shutter * w->shutter < 1e12f))
        memset(speed, 0, 3 * sizeof *speed);
    f3 to = f3_sub(f3_of(sphere), c->eye);
    return sphere[3] > 0 && sphere[3] * sphere[3] < most * most * f3_dot(to, to);
}

static size_t count_drops(const und_world_parts *w, const drops *d)
{
    float sphere[4], speed[3];
    size_t count = 0;
    for (size_t k = 0; k < d->count; k++)
        count += find_drop(w, d, k, sphere, speed);
    return count < UINT32_MAX / 4 ? count : 0;
}

static und_status add_spray(und_world_parts *w, const drops *d, und_error *err)
{
    float sphere[4], speed[3], *data[2];
    size_t count = count_drops(w, d);
    int moments = w->shutter > 0 ? 2 : 1;
    if (count == 0)
        return UND_OK;
    if (!(w->drop_speed = und_alloc(3 * count, sizeof *w->drop_speed, "drops", err)))
        return UND_FAILED;
    RTCGeometry g = und_world_geometry(w, RTC_GEOMETRY_TYPE_SPHERE_POINT, count, 4, moments, data, err);
    if (!g)
        return UND_FAILED;
    for (size_t k = 0, to = 0; k < d->count; k++) {
        if (!find_drop(w, d, k, sphere, speed))
            continue;
        memcpy(data[moments - 1] + 4 * to, sphere, sizeof sphere);
        memcpy(w->drop_speed + 3 * to, speed, sizeof speed);
        for (int a = 0; a < 3; a++)
            sphere[a] -= w->shutter * speed[a];
        if (moments > 1)
            memcpy(data[0] + 4 * to, sphere, sizeof sphere);
        to++;
    }
    und_world_attach(w, g, UND_PART_DROPS, UND_MASK_AIRY);
    return UND_OK;
}

/* Rain is drawn to be seen, thin as it is: half a pixel wide at least, as often as that is too much, and the
 * tail of a streak fades. */
static void pass_rain(const struct RTCFilterFunctionNArguments *a)
{
    const und_world_parts *w = a->geometryUserPtr;
    const struct RTCHit *hit = (const struct RTCHit *)a->hit;
    f3 from, dir;
    if (!und_world_filtered(a, &from, &dir))
        return;
    float shown = w->rain_shown[hit->primID] * (1 - 0.6f * clampf(hit->u, 0, 1));
    if (und_world_chance(from, dir, hit->primID + 5) >= shown)
        a->valid[0] = 0;
}

static und_status add_rain(und_world_parts *w, const drops *d, und_error *err)
{
    const und_shot *c = &w->stage->camera;
    const float back = (float)w->stage->def.shutter, pixel = (float)w->stage->def.samples / c->focal;
    float sphere[4], speed[3], *data[2];
    size_t count = count_drops(w, d);
    if (count == 0)
        return UND_OK;
    if (!(w->rain_shown = und_alloc(count, sizeof *w->rain_shown, "rain", err)))
        return UND_FAILED;
    RTCGeometry g = und_world_geometry(w, RTC_GEOMETRY_TYPE_ROUND_LINEAR_CURVE, 2 * count, 4, 1, data, err);
    if (!g)
        return UND_FAILED;
    uint32_t *first =
        rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT, sizeof *first, count);
    if (!first) {
        rtcReleaseGeometry(g);
        return und_error_set(err, UND_FAILED, "out of memory for what rays meet");
    }
    for (size_t k = 0, to = 0; k < d->count; k++) {
        if (!find_drop(w, d, k, sphere, speed))
            continue;
        f3 away = f3_sub(f3_of(sphere), c->eye);
        float thin = sphere[3], wide = maxf(thin, 0.55f * pixel * sqrtf(f3_dot(away, away)));
        w->rain_shown[to] = 0.55f * clampf(thin / wide, 0.18f, 1);
        sphere[3] = wide;
        memcpy(data[0] + 8 * to, sphere, sizeof sphere);
        for (int a = 0; a < 3; a++)
            sphere[a] -= back * speed[a];
        memcpy(data[0] + 8 * to + 4, sphere, sizeof sphere);
        first[to] = (uint32_t)(2 * to);
        to++;
    }
    rtcSetGeometryUserData(g, w);
    rtcSetGeometryIntersectFilterFunction(g, pass_rain);
    und_world_attach(w, g, UND_PART_RAIN, UND_MASK_AIRY);
    return UND_OK;
}

und_status und_world_drops(und_world_parts *w, const und_frame *frame, und_error *err)
{
    const drops spray = find_drops(frame, "spray/position", "spray/velocity", "spray/radius"),
                rain = find_drops(frame, "rain/position", "rain/velocity", NULL);
    und_status status = add_spray(w, &spray, err);
    return status == UND_OK ? add_rain(w, &rain, err) : status;
}
