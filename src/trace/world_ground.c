/* Height fields as rays meet them: the ground and the water over it as grids, and the sides of the block that
 * is cut out; without sides the ground and the water go on far around. */
#include "trace/world_parts.h"

#include "base/status.h"

#include <stdlib.h>

enum { PATCH = 32 /* cells along a side: dry ones have no water */, SIDES = 4, BASE = 4 };
static const float FAR_AROUND = 60; /* sides of the domain */

static bool goes_on(const und_world_parts *w)
{
    return !w->stage->def.sides;
}

/* Places of nodes, one more around where the ground goes on. */
static void put_nodes(const und_world_parts *w, bool water, float *to)
{
    const und_mesh *m = &w->stage->mesh;
    int ring = goes_on(w);
    float far = FAR_AROUND * m->span;
    for (int j = -ring; j < m->nz + ring; j++)
        for (int i = -ring; i < m->nx + ring; i++) {
            int ci = i < 0 ? 0 : i < m->nx ? i : m->nx - 1, cj = j < 0 ? 0 : j < m->nz ? j : m->nz - 1;
            const float *node = und_mesh_node(m, ci, cj);
            *to++ = m->x0 + (float)ci * m->h + (float)(i - ci) * far;
            *to++ = node[M_GROUND] + (water ? node[M_DEPTH] : 0);
            *to++ = m->z0 + (float)cj * m->h + (float)(j - cj) * far;
        }
}

static bool is_wet(const und_world_parts *w, int i0, int j0, int wide, int high)
{
    const und_mesh *m = &w->stage->mesh;
    int ring = goes_on(w);
    for (int j = j0; j < j0 + high; j++)
        for (int i = i0; i < i0 + wide; i++) {
            int ci = i - ring, cj = j - ring;
            ci = ci < 0 ? 0 : ci < m->nx ? ci : m->nx - 1;
            cj = cj < 0 ? 0 : cj < m->nz ? cj : m->nz - 1;
            if (und_mesh_node(m, ci, cj)[M_DEPTH] > 0)
                return true;
        }
    return false;
}

/* Lists the patches to draw; `to` NULL: counts them. */
static size_t list_patches(const und_world_parts *w, bool water, int nx, int nz, struct RTCGrid *to)
{
    size_t count = 0;
    for (int j = 0; j + 1 < nz; j += PATCH)
        for (int i = 0; i + 1 < nx; i += PATCH) {
            int wide = (nx - i < PATCH + 1 ? nx - i : PATCH + 1),
                high = nz - j < PATCH + 1 ? nz - j : PATCH + 1;
            if (water && !is_wet(w, i, j, wide, high))
                continue;
            if (to)
                to[count] = (struct RTCGrid){.startVertexID = (unsigned)(j * nx + i),
                                             .stride = (unsigned)nx,
                                             .width = (uint16_t)wide,
                                             .height = (uint16_t)high};
            count++;
        }
    return count;
}

/* How deep the water is where rays meet it: both grids are the same triangles seen from above, so that what
 * is between them is linear in each. */
float und_world_depth(const und_world_parts *w, float x, float z)
{
    const und_mesh *m = &w->stage->mesh;
    float u = clampf((x - m->x0) * m->per_m, 0, (float)(m->nx - 1)),
          v = clampf((z - m->z0) * m->per_m, 0, (float)(m->nz - 1));
    int i = (int)u < m->nx - 2 ? (int)u : m->nx - 2, j = (int)v < m->nz - 2 ? (int)v : m->nz - 2;
    const float *a = m->depth + (size_t)j * (size_t)m->nx + (size_t)i, *c = a + m->nx;
    u -= (float)i;
    v -= (float)j;
    return u + v < 1 ? a[0] + u * (a[1] - a[0]) + v * (c[0] - a[0])
                     : c[1] + (1 - u) * (c[0] - c[1]) + (1 - v) * (a[1] - c[1]);
}

/* A film thinner than rays keep off surfaces is not there: they would begin below the ground, or above the
 * water, and be in it for ever. */
static void pass_film(const struct RTCFilterFunctionNArguments *a)
{
    const und_world_parts *w = a->geometryUserPtr;
    const struct RTCRay *ray = (const struct RTCRay *)a->ray;
    f3 from, dir;
    if (!und_world_filtered(a, &from, &dir))
        return;
    f3 p = f3_along(from, dir, ray->tfar);
    if (!(und_world_depth(w, p.x, p.z) > w->thinnest))
        a->valid[0] = 0;
}

static und_status add_grid(und_world_parts *w, bool water, und_error *err)
{
    const und_mesh *m = &w->stage->mesh;
    int ring = goes_on(w), nx = m->nx + 2 * ring, nz = m->nz + 2 * ring;
    size_t patches = list_patches(w, water, nx, nz, NULL);
    float *data[2];
    if (patches == 0)
        return UND_OK;
    RTCGeometry g = und_world_geometry(w, RTC_GEOMETRY_TYPE_GRID, (size_t)nx * (size_t)nz, 3, 1, data, err);
    if (!g)
        return UND_FAILED;
    struct RTCGrid *grid =
        rtcSetNewGeometryBuffer(g, RTC_BUFFER_TYPE_GRID, 0, RTC_FORMAT_GRID, sizeof *grid, patches);
    if (!grid) {
        rtcReleaseGeometry(g);
        return und_error_set(err, UND_FAILED, "out of memory for what rays meet");
    }
    put_nodes(w, water, data[0]);
    list_patches(w, water, nx, nz, grid);
    if (water) {
        rtcSetGeometryUserData(g, w);
        rtcSetGeometryIntersectFilterFunction(g, pass_film);
        rtcSetGeometryOccludedFilterFunction(g, pass_film);
    }
    und_world_attach(w, g, water ? UND_PART_WATER : UND_PART_GROUND,
                     water && !w->opaque_liquid ? UND_MASK_CLEAR : UND_MASK_OPAQUE);
    return UND_OK;
}

/* The node number k along a side of the block: low x, high x, low z, high z. */
static const float *side_node(const und_mesh *m, int side, int k, float out, float place[2])
{
    int i = side == 0 ? 0 : side == 1 ? m->nx - 1 : k, j = side == 2 ? 0 : side == 3 ? m->nz - 1 : k;
    place[0] = m->x0 + (float)i * m->h + (side == 0 ? -out : side == 1 ? out : 0);
    place[1] = m->z0 + (float)j * m->h + (side == 2 ? -out : side == 3 ? out : 0);
    return und_mesh_node(m, i, j);
}

static int side_length(const und_mesh *m, int side)
{
    return side < 2 ? m->nz : m->nx;
}

typedef struct strip {
    float *vertex;
    uint32_t *index;
    uint8_t *side;
    size_t corners, triangles;
} strip;

/* Upright faces all around, two triangles from each node to the next, counter-clockwise seen from outside. */
static void put_strips(const und_world_parts *w, bool water, float out, strip *s)
{
    const und_mesh *m = &w->stage->mesh;
    for (int side = 0; side < SIDES; side++) {
        bool turned = side == 0 || side == 3;
        for (int k = 0; k < side_length(m, side); k++) {
            float place[2];
            const float *node = side_node(m, side, k, out, place);
            float low = water ? node[M_GROUND] : m->base,
                  high = water ? node[M_GROUND] + maxf(node[M_DEPTH], 0) : node[M_GROUND];
            for (int up = 0; up < 2; up++) {
                float *to = s->vertex + 3 * (s->corners + (size_t)up);
                to[0] = place[0];
                to[1] = up ? high : low;
                to[2] = place[1];
            }
            for (uint32_t t = 0; t < 2 && k > 0; t++) {
                uint32_t a = (uint32_t)s->corners - 2,
                         quad[2][3] = {{a, a + 2, a + 1}, {a + 1, a + 2, a + 3}};
                for (int c = 0; c < 3; c++)
                    s->index[3 * s->triangles + (size_t)c] = quad[t][turned ? c : 2 - c];
                s->side[s->triangles++] = (uint8_t)side;
            }
            s->corners += 2;
        }
    }
}

static void put_base(const und_world_parts *w, strip *s)
{
    const und_mesh *m = &w->stage->mesh;
    static const uint32_t quad[6] = {0, 1, 2, 2, 1, 3};
    for (int c = 0; c < 4; c++) {
        float *to = s->vertex + 3 * (s->corners + (size_t)c);
        to[0] = c & 1 ? m->x1 : m->x0;
        to[1] = m->base;
        to[2] = c & 2 ? m->z1 : m->z0;
    }
    for (size_t c = 0; c < 6; c++)
        s->index[3 * s->triangles + c] = (uint32_t)s->corners + quad[c];
    s->side[s->triangles] = s->side[s->triangles + 1] = BASE;
    s->corners += 4;
    s->triangles += 2;
}

/* Walls are seen from inside alone. */
static void pass_wall(const struct RTCFilterFunctionNArguments *a)
{
    const struct RTCRay *ray = (const struct RTCRay *)a->ray;
    const struct RTCHit *hit = (const struct RTCHit *)a->hit;
    if (a->N == 1 && a->valid[0] == -1 &&
        !(ray->dir_x * hit->Ng_x + ray->dir_y * hit->Ng_y + ray->dir_z * hit->Ng_z > 0))
        a->valid[0] = 0;
}

static und_status add_sides(und_world_parts *w, und_world_part_kind kind, float out, und_error *err)
{
    const und_mesh *m = &w->stage->mesh;
    bool water = kind != UND_PART_CUT;
    size_t nodes = 2 * (size_t)(m->nx + m->nz), corners = 2 * nodes + 4;
    strip s = {0};
    uint8_t **sides = water ? &w->side_of_water : &w->cut_side;
    if (!*sides && !(*sides = und_alloc(corners, 1, "sides", err)))
        return UND_FAILED;
    size_t triangles = 2 * (nodes - SIDES) + (water ? 0 : 2);
    float *data[2];
    RTCGeometry g = und_world_geometry(w, RTC_GEOMETRY_TYPE_TRIANGLE, corners, 3, 1, data, err);
    if (!g || !(s.index = und_world_triangles(w, g, triangles, err)))
        return UND_FAILED;
    s.vertex = data[0];
    s.side = *sides;
    for (size_t k = 0; k < 3 * corners; k++)
        s.vertex[k] = 0;
    put_strips(w, water, out, &s);
    if (!water)
        put_base(w, &s);
    if (kind == UND_PART_WALL) {
        rtcSetGeometryIntersectFilterFunction(g, pass_wall);
        rtcSetGeometryOccludedFilterFunction(g, pass_wall);
    }
    und_world_attach(w, g, kind,
                     kind == UND_PART_WATER_SIDE && !w->opaque_liquid ? UND_MASK_CLEAR : UND_MASK_OPAQUE);
    return UND_OK;
}

und_status und_world_ground(und_world_parts *w, und_error *err)
{
    const und_mesh *m = &w->stage->mesh;
    bool pool = w->stage->def.ground_pattern == UND_GROUND_TILES;
    und_status status = add_grid(w, false, err);
    if (status == UND_OK)
        status = add_grid(w, true, err);
    if (status != UND_OK || goes_on(w))
        return status;
    if ((status = add_sides(w, UND_PART_CUT, 0, err)) ||
        (pool && (status = add_sides(w, UND_PART_WALL, 0, err))))
        return status;
    /* Rays from inside meet a pool's wall first. */
    return add_sides(w, UND_PART_WATER_SIDE, pool ? 1e-3f * m->h : 0, err);
}
