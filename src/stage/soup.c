/* Objects: a soup of triangles, and a picture of it from the sun for its shadow. */
#include "base/random.h"
#include "stage/scenery.h"

#include <stdlib.h>
#include <string.h>

enum { SHADOW_SIZE = 512 };

void und_drawn_corners(const und_drawn_mesh *mesh, size_t triangle, float corner[9])
{
    if (mesh->shell)
        und_shell_corners(mesh->shell, mesh->shell->position, triangle, corner);
    else
        memcpy(corner, mesh->position + 9 * triangle, 9 * sizeof *corner);
}

void und_drawn_normals(const und_drawn_mesh *mesh, size_t triangle, float normal[9])
{
    if (!mesh->shell) {
        memcpy(normal, mesh->normal + 9 * triangle, 9 * sizeof *normal);
        return;
    }
    und_shell_corners(mesh->shell, mesh->shell->normal, triangle, normal);
    if (mesh->crease[triangle] == 0)
        return;
    float own[3];
    und_isosurface_creases(mesh->shell, (int)triangle, own);
    f3 unit = f3_unit(f3_of(own));
    for (int c = 0; c < 3; c++)
        if (mesh->crease[triangle] >> c & 1)
            memcpy(normal + 3 * c, (float[3]){unit.x, unit.y, unit.z}, 3 * sizeof *normal);
}

static f3 face_normal(const float *p)
{
    return f3_cross(f3_sub(f3_of(p + 3), f3_of(p)), f3_sub(f3_of(p + 6), f3_of(p)));
}

static size_t slot_of(const float *p, size_t slots)
{
    uint32_t bits[3];
    memcpy(bits, p, sizeof bits);
    return (size_t)und_random_bits(bits[0], bits[1], bits[2]) & (slots - 1);
}

/* Corners at the same place are chained; each takes the mean of the faces there that nearly agree with its
 * own, so that balls are round and boxes keep their edges. */
static void smooth_normals(und_drawn_mesh *soup)
{
    size_t corners = 3 * soup->count;
    const float *position = soup->frame_position;
    for (size_t s = 0; s < soup->slots; s++)
        soup->slot[s] = -1;
    for (size_t c = 0; c < corners; c++) {
        int32_t *slot = soup->slot + slot_of(position + 3 * c, soup->slots);
        soup->next[c] = *slot;
        *slot = (int32_t)c;
    }
    for (size_t c = 0; c < corners; c++) {
        const float *p = position + 3 * c;
        f3 own = f3_unit(face_normal(position + 9 * (c / 3))), sum = own;
        int32_t other = soup->slot[slot_of(p, soup->slots)];
        for (int k = 0; other >= 0 && k < 64; k++, other = soup->next[other]) {
            if (memcmp(p, position + 3 * (size_t)other, 3 * sizeof(float)) != 0)
                continue;
            f3 n = face_normal(position + 9 * (size_t)(other / 3));
            if (f3_dot(f3_unit(n), own) > 0.75f)
                sum = f3_add(sum, f3_unit(n));
        }
        f3 n = f3_unit(sum);
        memcpy(soup->normal + 3 * c, (float[3]){n.x, n.y, n.z}, 3 * sizeof(float));
    }
}

static und_status soup_allocate(und_drawn_mesh *soup, size_t count, und_error *err)
{
    if (count <= soup->capacity)
        return UND_OK;
    free(soup->normal);
    free(soup->next);
    free(soup->slot);
    free(soup->posed);
    soup->capacity = 0;
    soup->slots = 64;
    while (soup->slots < 3 * count)
        soup->slots *= 2;
    soup->normal = und_alloc(9 * count, sizeof(float), "objects", err);
    soup->next = und_alloc(3 * count, sizeof(int32_t), "objects", err);
    soup->slot = und_alloc(soup->slots, sizeof(int32_t), "objects", err);
    soup->posed = und_alloc(9 * count, sizeof(float), "objects", err);
    if (!soup->normal || !soup->next || !soup->slot || !soup->posed)
        return UND_FAILED;
    soup->capacity = count;
    return UND_OK;
}

/* The deepest first: how far along the light's way back each texel's nearest triangle lies. */
static void shadow_triangle(und_drawn_mesh *soup, f3 sun, const float *p)
{
    float u[3], v[3], w[3];
    for (int k = 0; k < 3; k++) {
        f3 q = f3_of(p + 3 * k);
        u[k] = (f3_dot(q, soup->u) - soup->u0) / soup->texel;
        v[k] = (f3_dot(q, soup->v) - soup->v0) / soup->texel;
        w[k] = f3_dot(q, sun);
    }
    float area = (u[1] - u[0]) * (v[2] - v[0]) - (v[1] - v[0]) * (u[2] - u[0]);
    if (fabsf(area) < 1e-12f)
        return;
    int i0 = (int)maxf(floorf(minf(minf(u[0], u[1]), u[2])), 0);
    int i1 = (int)minf(ceilf(maxf(maxf(u[0], u[1]), u[2])), SHADOW_SIZE - 1);
    int j0 = (int)maxf(floorf(minf(minf(v[0], v[1]), v[2])), 0);
    int j1 = (int)minf(ceilf(maxf(maxf(v[0], v[1]), v[2])), SHADOW_SIZE - 1);
    for (int j = j0; j <= j1; j++)
        for (int i = i0; i <= i1; i++) {
            float x = (float)i - u[0], y = (float)j - v[0];
            float s = (x * (v[2] - v[0]) - y * (u[2] - u[0])) / area;
            float t = (y * (u[1] - u[0]) - x * (v[1] - v[0])) / area;
            if (s < -1e-4f || t < -1e-4f || s + t > 1.0001f)
                continue;
            float depth = w[0] + s * (w[1] - w[0]) + t * (w[2] - w[0]),
                  *at = soup->shadow + j * SHADOW_SIZE + i;
            *at = maxf(*at, depth);
        }
}

static void sun_axes(und_drawn_mesh *soup, f3 sun)
{
    f3 side = fabsf(sun.y) > 0.9f ? f3_make(1, 0, 0) : f3_make(0, 1, 0);
    soup->u = f3_unit(f3_cross(side, sun));
    soup->v = f3_cross(sun, soup->u);
}

static void make_shadow(und_drawn_mesh *soup, f3 sun)
{
    float low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (size_t k = 0; k < 3 * soup->count; k++) {
        f3 p = f3_of(soup->position + 3 * k);
        float u = f3_dot(p, soup->u), v = f3_dot(p, soup->v);
        low[0] = minf(low[0], u);
        high[0] = maxf(high[0], u);
        low[1] = minf(low[1], v);
        high[1] = maxf(high[1], v);
    }
    soup->texel = maxf(maxf(high[0] - low[0], high[1] - low[1]) / (SHADOW_SIZE - 8), 1e-6f);
    soup->u0 = low[0] - 4 * soup->texel;
    soup->v0 = low[1] - 4 * soup->texel;
    for (size_t k = 0; k < (size_t)SHADOW_SIZE * SHADOW_SIZE; k++)
        soup->shadow[k] = -INFINITY;
    for (size_t k = 0; k < soup->count; k++)
        shadow_triangle(soup, sun, soup->position + 9 * k);
}

/* What moves, and all places where it is while the shutter is open. */
static void find_moving(und_scenery *stage, const float *velocity)
{
    und_drawn_mesh *soup = &stage->soup;
    float shutter = (float)stage->def.shutter, least = 1e-4f * stage->mesh.span;
    soup->velocity = NULL;
    soup->moving = (und_box){f3_gray(INFINITY), f3_gray(-INFINITY)};
    float *sun = soup->moving_sun;
    sun[0] = sun[2] = INFINITY;
    sun[1] = sun[3] = -INFINITY;
    sun_axes(soup, stage->sky.sun);
    if (stage->def.blur < 2 || !velocity)
        return;
    const float *v = velocity, *p = soup->frame_position;
    for (size_t k = 0; k < 9 * soup->count; k++)
        if (!(fabsf(v[k] * shutter) < 1e9f))
            return;
    for (size_t k = 0; k < 3 * soup->count; k++, v += 3, p += 3) {
        if (f3_dot(f3_of(v), f3_of(v)) * shutter * shutter < least * least)
            continue;
        soup->velocity = velocity;
        for (int end = 0; end < 2; end++) {
            f3 q = f3_along(f3_of(p), f3_of(v), -(float)end * shutter);
            und_box *b = &soup->moving;
            float a = f3_dot(q, soup->u), c = f3_dot(q, soup->v);
            b->low = f3_make(minf(b->low.x, q.x), minf(b->low.y, q.y), minf(b->low.z, q.z));
            b->high = f3_make(maxf(b->high.x, q.x), maxf(b->high.y, q.y), maxf(b->high.z, q.z));
            sun[0] = minf(sun[0], a);
            sun[1] = maxf(sun[1], a);
            sun[2] = minf(sun[2], c);
            sun[3] = maxf(sun[3], c);
        }
    }
}

und_status und_stage_soup_pose(und_scenery *stage, float back, und_error *err)
{
    und_drawn_mesh *soup = &stage->soup;
    if (soup->velocity) {
        for (size_t k = 0; k < 9 * soup->count; k++)
            soup->posed[k] = soup->frame_position[k] - back * soup->velocity[k];
        soup->position = soup->posed;
    }
    f3 low = f3_gray(INFINITY), high = f3_gray(-INFINITY);
    const float *p = soup->position;
    for (size_t k = 0; k < 3 * soup->count; k++, p += 3) {
        low = f3_make(minf(low.x, p[0]), minf(low.y, p[1]), minf(low.z, p[2]));
        high = f3_make(maxf(high.x, p[0]), maxf(high.y, p[1]), maxf(high.z, p[2]));
    }
    soup->low = low;
    soup->high = high;
    make_shadow(soup, stage->sky.sun);
    return und_tree_build(soup, err);
}

und_status und_stage_soup_set(und_drawn_mesh *soup, const float *position, size_t count, und_error *err)
{
    soup->count = 0;
    soup->shell = NULL;
    for (size_t k = 0; k < 9 * count; k++)
        if (!(fabsf(position[k]) < 1e9f))
            return UND_OK; /* nothing that could be drawn */
    und_status status = count ? soup_allocate(soup, count, err) : UND_OK;
    if (status != UND_OK || count == 0)
        return status;
    soup->count = count;
    soup->position = soup->frame_position = position;
    smooth_normals(soup);
    return UND_OK;
}

und_status und_stage_soup_take(und_scenery *stage, const und_frame *frame, und_error *err)
{
    und_drawn_mesh *soup = &stage->soup;
    const float *speed;
    und_status status = und_rigid_take(stage, frame, &speed, err);
    soup->velocity = NULL;
    if (status != UND_OK || soup->count == 0)
        return status;
    if (!soup->shadow &&
        !(soup->shadow = und_alloc((size_t)SHADOW_SIZE * SHADOW_SIZE, sizeof(float), "shadow", err)))
        return UND_FAILED;
    find_moving(stage, speed);
    return und_stage_soup_pose(stage, 0, err);
}

/* Four taps around the point, each blended over its neighbours: a soft edge. */
float und_stage_soup_sun(const und_drawn_mesh *soup, f3 p)
{
    float u = (f3_dot(p, soup->u) - soup->u0) / soup->texel,
          v = (f3_dot(p, soup->v) - soup->v0) / soup->texel;
    if (!(u >= 2 && v >= 2 && u < SHADOW_SIZE - 3 && v < SHADOW_SIZE - 3))
        return 1;
    f3 sun = f3_cross(soup->u, soup->v);
    float w = f3_dot(p, sun) + 1.5f * soup->texel, hidden = 0;
    int i = (int)u, j = (int)v;
    float fx = u - (float)i, fy = v - (float)j;
    for (int q = -1; q <= 2; q++)
        for (int k = -1; k <= 2; k++) {
            float wx = k == -1 ? 1 - fx : k == 2 ? fx : 1, wy = q == -1 ? 1 - fy : q == 2 ? fy : 1;
            hidden += soup->shadow[(j + q) * SHADOW_SIZE + i + k] > w ? wx * wy : 0;
        }
    return 1 - hidden / 9;
}
