/* Rays that meet objects, by Embree. */
#include "stage/scenery.h"

#include <embree3/rtcore.h>
#include <string.h>

/* Embree's own words on a failure are its numbers. */
static und_status failed(RTCDevice device, und_error *err)
{
    return und_error_set(err, UND_FAILED, "Embree cannot take a frame's objects: error %d",
                         rtcGetDeviceError(device));
}

/* All corners of loose triangles are vertices of their own. */
static bool add_triangles(und_drawn_mesh *soup)
{
    RTCGeometry geometry = rtcNewGeometry(soup->device, RTC_GEOMETRY_TYPE_TRIANGLE);
    const und_shell *shell = soup->shell;
    const size_t corners = 3 * soup->count, vertices = shell ? (size_t)shell->vertex_count : corners;
    float *vertex = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                            3 * sizeof *vertex, vertices);
    uint32_t *index = rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                              3 * sizeof *index, soup->count);
    if (vertex && index) {
        memcpy(vertex, shell ? shell->position : soup->position, 3 * vertices * sizeof *vertex);
        for (size_t k = 0; k < corners; k++)
            index[k] = shell ? (uint32_t)shell->triangle[k] : (uint32_t)k;
        rtcCommitGeometry(geometry);
        rtcAttachGeometry(soup->scene, geometry);
    }
    rtcReleaseGeometry(geometry);
    return vertex && index;
}

und_status und_tree_build(und_drawn_mesh *soup, und_error *err)
{
    if (!soup->device && !(soup->device = rtcNewDevice("threads=1"))) /* builds the same tree each time */
        return failed(NULL, err);
    if (soup->scene)
        rtcReleaseScene(soup->scene);
    if (!(soup->scene = rtcNewScene(soup->device)))
        return failed(soup->device, err);
    rtcSetSceneFlags(soup->scene, RTC_SCENE_FLAG_ROBUST);
    if (!add_triangles(soup))
        return failed(soup->device, err);
    rtcCommitScene(soup->scene);
    return UND_OK;
}

void und_tree_free(und_drawn_mesh *soup)
{
    if (soup->scene)
        rtcReleaseScene(soup->scene);
    if (soup->device)
        rtcReleaseDevice(soup->device);
    soup->scene = NULL;
    soup->device = NULL;
}

bool und_tree_hit(const und_drawn_mesh *soup, f3 from, f3 dir, float far, float *distance, int32_t *triangle)
{
    if (!soup->scene)
        return false;
    struct RTCIntersectContext context;
    struct RTCRayHit ray = {.ray = {.org_x = from.x,
                                    .org_y = from.y,
                                    .org_z = from.z,
                                    .dir_x = dir.x,
                                    .dir_y = dir.y,
                                    .dir_z = dir.z,
                                    .tfar = far,
                                    .mask = UINT32_MAX},
                            .hit = {.geomID = RTC_INVALID_GEOMETRY_ID}};
    rtcInitIntersectContext(&context);
    rtcIntersect1(soup->scene, &context, &ray);
    if (ray.hit.geomID == RTC_INVALID_GEOMETRY_ID || !(ray.ray.tfar > 0))
        return false;
    *distance = ray.ray.tfar;
    *triangle = (int32_t)ray.hit.primID;
    return true;
}

/* Where the ray enters the box, or infinity. */
float und_box_enter(const und_box *box, f3 from, f3 inverse, float far)
{
    float ax = (box->low.x - from.x) * inverse.x, bx = (box->high.x - from.x) * inverse.x;
    float ay = (box->low.y - from.y) * inverse.y, by = (box->high.y - from.y) * inverse.y;
    float az = (box->low.z - from.z) * inverse.z, bz = (box->high.z - from.z) * inverse.z;
    float enter = maxf(maxf(minf(ax, bx), minf(ay, by)), maxf(minf(az, bz), 0));
    float leave = minf(minf(maxf(ax, bx), maxf(ay, by)), minf(maxf(az, bz), far));
    return enter <= leave ? enter : INFINITY;
}
