/* Triangles and spheres of a frame's world: solids and bodies, a liquid's skin, sheets, drops. */
#include "trace/world_parts.h"

#include "base/random.h"
#include "base/status.h"
#include "stage/rigid.h"

#include <stdlib.h>
#include <string.h>

RTCGeometry und_world_geometry(und_world_parts *w, enum RTCGeometryType type, size_t vertices, int floats,
                               int moments, float *data[2], und_error *err)
{
    RTCGeometry g = rtcNewGeometry(w->device, type);
    enum RTCFormat format = floats == 4 ? RTC_FORMAT_FLOAT4 : RTC_FORMAT_FLOAT3;
    rtcSetGeometryTimeStepCount(g, (unsigned)moments);
    for (unsigned k = 0; k < (unsigned)moments; k++) {
        data[k] = rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_VERTEX, k, format,
                                          (size_t)floats * sizeof(float), vertices);
        if (!data[k]) {
            rtcReleaseGeometry(g);
            und_error_set(err, UND_FAILED, "out of memory for what rays meet");
            return NULL;
        }
    }
    return g;
}

uint32_t *und_world_triangles(und_world_parts *w, RTCGeometry g, size_t triangles, und_error *err)
{
    (void)w;
    uint32_t *index = rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                              3 * sizeof(uint32_t), triangles);
    if (!index) {
        rtcReleaseGeometry(g);
        und_error_set(err, UND_FAILED, "out of memory for what rays meet");
    }
    return index;
}

void und_world_attach(und_world_parts *w, RTCGeometry g, und_world_part_kind kind, unsigned mask)
{
    rtcSetGeometryMask(g, mask);
    rtcCommitGeometry(g);
    rtcAttachGeometryByID(w->scene, g, (unsigned)kind);
    rtcReleaseGeometry(g);
    w->any = true;
}

/* Loose triangles, each with its own corners; `list`: which of them, or NULL for the first `count`. */
static und_status add_triangles(und_world_parts *w, und_world_part_kind kind, unsigned mask,
                                const float *position, const float *speed, const uint32_t *list, size_t count,
                                und_error *err)
{
    float *data[2];
    int moments = speed && w->shutter > 0 ? 2 : 1;
    if (count == 0)
        return UND_OK;
    RTCGeometry g = und_world_geometry(w, RTC_GEOMETRY_TYPE_TRIANGLE, 3 * count, 3, moments, data, err);
    uint32_t *index = g ? und_world_triangles(w, g, count, err) : NULL;
    if (!index)
        return UND_FAILED;
    for (size_t k = 0; k < count; k++) {
        size_t from = 9 * (list ? list[k] : k);
        for (size_t c = 0; c < 9; c++) { /* the last moment is the frame's */
            data[moments - 1][9 * k + c] = position[from + c];
            if (moments > 1)
                data[0][9 * k + c] = position[from + c] - w->shutter * speed[from + c];
        }
        for (size_t c = 0; c < 3; c++)
            index[3 * k + c] = (uint32_t)(3 * k + c);
    }
    und_world_attach(w, g, kind, mask);
    return UND_OK;
}

static void own(int32_t *owner, const int32_t *first, size_t count, int32_t id)
{
    for (size_t i = 0; i < count; i++)
        for (int32_t k = first[i] / 3; k < first[i + 1] / 3; k++)
            owner[k] = id + (int32_t)i;
}

/* Whose a triangle is: bodies come first, solids after them. */
static void find_owners(und_world_parts *w, const und_frame *frame, const und_rigid *bodies)
{
    size_t count = w->stage->soup.count, solids = 0, before = bodies->corners / 3;
    if (bodies->count > 0)
        own(w->owner, bodies->first, bodies->count, UND_ID_BODY);
    for (size_t k = before; k < count; k++)
        w->owner[k] = UND_ID_SOLID;
    const int32_t *first = und_stage_solids_find(frame, 3 * (count - before), &solids);
    if (first && solids < UND_ID_BODY - UND_ID_SOLID)
        own(w->owner + before, first, solids, UND_ID_SOLID);
}

und_look und_world_look_of(const und_world_parts *w, int32_t owner)
{
    const und_looks *l = &w->stage->def.looks;
    return owner >= UND_ID_BODY ? und_look_of(l->bodies, l->body_count, owner - UND_ID_BODY)
                                : und_look_of(l->solids, l->solid_count, owner - UND_ID_SOLID);
}

static bool all_sane(const float *v, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (!(fabsf(v[k]) < 1e9f))
            return false;
    return true;
}

/* Of the corners of the frame's solids: v + w x (p - x) of each; false: they are not known to move. */
static bool move_solids(und_world_parts *w, const und_frame *frame, size_t before)
{
    und_drawn_mesh *soup = &w->stage->soup;
    const und_item *item = und_frame_find(frame, "solid/motion");
    size_t solids = 0;
    const int32_t *first = und_stage_solids_find(frame, 3 * soup->count - before, &solids);
    if (!first || !item || item->type != UND_F32 || !item->data || item->rank != 2 ||
        item->dim[0] != solids || item->dim[1] != 9 || !all_sane(item->data, 9 * solids))
        return false;
    for (size_t i = 0; i < solids; i++) {
        const float *m = (const float *)item->data + 9 * i;
        for (size_t c = before + (size_t)first[i]; c < before + (size_t)first[i + 1]; c++) {
            f3 arm = f3_sub(f3_of(soup->frame_position + 3 * c), f3_of(m));
            f3 v = f3_add(f3_of(m + 3), f3_cross(f3_of(m + 6), arm));
            memcpy(soup->speed + 3 * c, (float[3]){v.x, v.y, v.z}, 3 * sizeof(float));
        }
    }
    return true;
}

/* How fast corners are, m/s; NULL: nothing moves. */
static const float *find_speed(und_world_parts *w, const und_frame *frame, const und_rigid *bodies)
{
    und_drawn_mesh *soup = &w->stage->soup;
    if (!soup->speed || soup->frame_position != soup->placed)
        return NULL;
    if (!bodies->spin)
        memset(soup->speed, 0, 3 * bodies->corners * sizeof *soup->speed);
    bool moves = 3 * soup->count > bodies->corners && move_solids(w, frame, bodies->corners);
    return (moves || bodies->spin) && all_sane(soup->speed, 9 * soup->count) ? soup->speed : NULL;
}

und_status und_world_objects(und_world_parts *w, const und_frame *frame, und_error *err)
{
    und_drawn_mesh *soup = &w->stage->soup;
    size_t count = soup->count, number[2] = {0};
    und_rigid bodies;
    if (count == 0)
        return UND_OK;
    if (!und_rigid_find(frame, &bodies))
        bodies = (und_rigid){0};
    w->owner = und_alloc(count, sizeof *w->owner, "objects", err);
    for (int k = 0; k < 2; k++)
        w->object[k] = und_alloc(count, sizeof *w->object[k], "objects", err);
    if (!w->owner || !w->object[0] || !w->object[1])
        return UND_FAILED;
    find_owners(w, frame, &bodies);
    for (size_t k = 0; k < count; k++) {
        und_look look = und_world_look_of(w, w->owner[k]);
        int clear = look.given && look.matter.kind == UND_MATTER_DIELECTRIC;
        w->object[clear][number[clear]++] = (uint32_t)k;
    }
    const float *p = soup->frame_position, *speed = w->speed = find_speed(w, frame, &bodies);
    und_status status =
        add_triangles(w, UND_PART_OBJECTS, UND_MASK_OPAQUE, p, speed, w->object[0], number[0], err);
    return status == UND_OK
               ? add_triangles(w, UND_PART_GLASS, UND_MASK_CLEAR, p, speed, w->object[1], number[1], err)
               : status;
}

static und_status add_shell(und_world_parts *w, und_world_part_kind kind, unsigned mask,
                            const und_shell *shell, und_error *err)
{
    size_t vertices = (size_t)shell->vertex_count, triangles = (size_t)shell->triangle_count;
    float *data[2];
    RTCGeometry g = und_world_geometry(w, RTC_GEOMETRY_TYPE_TRIANGLE, vertices, 3, 1, data, err);
    uint32_t *index = g ? und_world_triangles(w, g, triangles, err) : NULL;
    if (!index)
        return UND_FAILED;
    memcpy(data[0], shell->position, 3 * vertices * sizeof *shell->position);
    memcpy(index, shell->triangle, 3 * triangles * sizeof *index);
    und_world_attach(w, g, kind, mask);
    return UND_OK;
}

und_status und_world_skin(und_world_parts *w, und_error *err)
{
    const und_drawn_mesh *skin = &w->stage->liquid;
    unsigned mask = w->opaque_liquid ? UND_MASK_OPAQUE : UND_MASK_CLEAR;
    if (skin->count > 0 && skin->shell)
        return add_shell(w, UND_PART_SKIN, mask, skin->shell, err);
    return add_triangles(w, UND_PART_SKIN, mask, skin->frame_position, NULL, NULL, skin->count, err);
}

bool und_world_filtered(const struct RTCFilterFunctionNArguments *a, f3 *from, f3 *dir)
{
    const struct RTCRay *ray = (const struct RTCRay *)a->ray;
    if (a->N != 1 || a->valid[0] != -1)
        return false;
    *from = f3_make(ray->org_x, ray->org_y, ray->org_z);
    *dir = f3_make(ray->dir_x, ray->dir_y, ray->dir_z);
    return true;
}

float und_world_chance(f3 from, f3 dir, uint32_t stream)
{
    const float v[6] = {dir.x, dir.y, dir.z, from.x, from.y, from.z};
    uint64_t bits[3];
    memcpy(bits, v, sizeof bits);
    return (float)(und_random_bits(bits[0], bits[1], bits[2] ^ (uint64_t)stream << 48) >> 40) * 0x1p-24f;
}

float und_world_rim(const und_world_parts *w, uint32_t triangle, float u, float v)
{
    const float *rim = w->rim ? w->rim + 3 * (size_t)triangle : NULL;
    float value = rim ? rim[0] * (1 - u - v) + rim[1] * u + rim[2] * v : 0;
    return value > 0 ? minf(value, 1) : 0;
}

float und_world_film(const und_world_parts *w, f3 dir, f3 normal, float rim, float *mirrored)
{
    float one =
        und_fresnelf(maxf(fabsf(f3_dot(dir, normal)), UND_LEAST_THROUGH), (float)w->stage->def.refraction);
    *mirrored = und_both_faces(one);
    return (1 - *mirrored) * (1 - UND_FILM_VEIL - UND_FILM_RIM * rim * rim);
}

/* Rays go through a film as often as light does. */
static void pass_film(const struct RTCFilterFunctionNArguments *a)
{
    const und_world_parts *w = a->geometryUserPtr;
    const struct RTCHit *hit = (const struct RTCHit *)a->hit;
    f3 from, dir;
    if (!und_world_filtered(a, &from, &dir))
        return;
    f3 normal = f3_unit(f3_make(hit->Ng_x, hit->Ng_y, hit->Ng_z));
    float mirrored, rim = und_world_rim(w, hit->primID, hit->u, hit->v);
    float through = und_world_film(w, dir, normal, rim, &mirrored);
    if (und_world_chance(from, dir, hit->primID + 1) < through)
        a->valid[0] = 0;
}

und_status und_world_sheets(und_world_parts *w, const und_frame *frame, und_error *err)
{
    und_drawn_mesh *sheet = &w->stage->sheet;
    size_t corners;
    const float *p = und_find_corners(frame, "sheet/mesh_position", &corners);
    und_status status = und_stage_soup_set(sheet, p, corners / 3, err);
    if (status != UND_OK || sheet->count == 0)
        return status;
    const und_item *rim = und_frame_find(frame, "sheet/mesh_rim");
    if (rim && rim->type == UND_F32 && rim->data && und_item_count(rim) == 3 * sheet->count)
        w->rim = rim->data;
    if ((status = add_triangles(w, UND_PART_SHEET, UND_MASK_AIRY, p, NULL, NULL, sheet->count, err)))
        return status;
    RTCGeometry g = rtcGetGeometry(w->scene, UND_PART_SHEET);
    rtcSetGeometryUserData(g, w);
    rtcSetGeometryIntersectFilterFunction(g, pass_film);
    rtcCommitGeometry(g);
    return UND_OK;
}
