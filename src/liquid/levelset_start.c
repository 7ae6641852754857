/* The liquid at the start. */
#include "base/pages.h"
#include "base/status.h"
#include "geom/value.h"
#include "grid/sample.h"
#include "liquid/levelset_state.h"

#include <math.h>

/* Liquid below the level, which is a function of place. */
static void fill_to_level(und_levelset *s)
{
    const und_mac *m = &s->mac;
    for (int z = 0; z < m->n[2]; z++)
        for (int x = 0; x < m->n[0]; x++) {
            double px = und_mac_middle(m, 0, x), pz = und_mac_middle(m, 2, z);
            double level = und_value_at(&s->def.level, px, m->origin[1], pz, 0);
            for (int y = 0; y < m->n[1]; y++) {
                float *phi = &s->surface.phi[und_mac_at(m, x, y, z)];
                double above = (und_mac_middle(m, 1, y) - level) / s->def.dx;
                *phi = above < (double)*phi ? (float)above : *phi;
            }
        }
    und_distance_refresh(&s->surface);
}

/* The fill's velocity on the faces of cells that it covers. */
static void set_velocity(und_levelset *s, const und_fill_def *fill)
{
    const und_mac *m = &s->mac;
    bool moves = false;
    for (int a = 0; a < 3; a++)
        moves = moves || fill->velocity[a].fn || fill->velocity[a].number != 0;
    if (!moves)
        return;
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++)
        for (int z = -1; z < m->n[2]; z++)
            for (int y = -1; y < m->n[1]; y++)
                for (int x = -1; x < m->n[0]; x++) {
                    und_vec3 p = und_vec(und_mac_middle(m, 0, a == 0 ? x + 0.5 : x),
                                         und_mac_middle(m, 1, a == 1 ? y + 0.5 : y),
                                         und_mac_middle(m, 2, a == 2 ? z + 0.5 : z));
                    if (und_shape_distance(fill->shape, p) < 2 * s->def.dx)
                        s->flow.u[a][und_mac_at(m, x, y, z)] =
                            (float)und_value_at(&fill->velocity[a], p.x, p.y, p.z, 0);
                }
}

static float sample_along(const und_levelset *s, const float *of, const int cell[3], const float way[3],
                          float far)
{
    const und_mac *m = &s->mac;
    und_lanes place[3], value;
    for (int a = 0; a < 3; a++)
        place[a] = und_lanes_all((float)(m->low[a] + cell[a]) + 0.5f + way[a] * far);
    und_sample_cells(m, of, place, &value, NULL);
    return value[0];
}

/* The direction in which a of grows at a cell, and how fast. */
static float growing(const und_levelset *s, const float *of, size_t at, float way[3])
{
    const und_mac *m = &s->mac;
    float square = 1e-12f;
    for (int a = 0; a < 3; a++) {
        way[a] = m->n[a] > 1 ? 0.5f * (of[at + (size_t)m->step[a]] - of[at - (size_t)m->step[a]]) : 0;
        square += way[a] * way[a];
    }
    for (int a = 0; a < 3; a++)
        way[a] /= sqrtf(square);
    return sqrtf(square);
}

/* Whether a fill ends at the wall that a cell is in, or at: straight in front of it, one and a half cells
 * away, it is deep.  Where cells hold their volume its surface has to face the wall too, as one that meets it
 * at an angle is to stay as it is; in corners of walls, where there is no one slope, it has to be deeper. */
static bool ends_at_wall(const und_levelset *s, int x, int y, int z)
{
    const float before = 1.5f, enough = -0.5f, deeper = -1.2f, facing = 0.9f; /* cells, and cells per cell */
    const int cell[3] = {x, y, z};
    const size_t at = und_mac_at(&s->mac, x, y, z);
    const float *wall = s->solids.distance, *phi = s->surface.phi;
    float normal[3], out[3];
    const bool corner = growing(s, wall, at, normal) < facing;
    const float depth = sample_along(s, phi, cell, normal, before - wall[at]);
    if (!s->volume || !(depth < enough) || (corner && depth < deeper))
        return depth < enough;
    growing(s, phi, at, out);
    return wall[at] - sample_along(s, wall, cell, out, 1) > facing;
}

/* Fills that end at a wall touch it all along, in its corners too: air that is caught there, with no pressure
 * of its own, would swallow more than it has room for. */
static und_status touch_walls(und_levelset *s, und_error *err)
{
    const float near = 0.5f, enough = -0.5f; /* cells: from the wall, and below the surface */
    const float *wall = s->solids.distance;
    const und_mac *m = &s->mac;
    float *deep = und_pages_alloc(m->count * sizeof *deep, "the liquid at the start", err);
    if (!deep)
        return err->status;
    for (int z = 0; z < m->n[2]; z++)
        for (int y = 0; y < m->n[1]; y++)
            for (int x = 0; x < m->n[0]; x++) {
                size_t at = und_mac_at(m, x, y, z);
                if (wall[at] < near && !(wall[at] < -2))
                    deep[at] = ends_at_wall(s, x, y, z);
            }
    for (size_t i = 0; i < m->count; i++)
        if (deep[i] > 0)
            s->surface.phi[i] = fminf(s->surface.phi[i], enough);
    und_pages_free(deep);
    und_distance_refresh(&s->surface);
    und_distance_redistance(&s->surface, s->def.redistance);
    return UND_OK;
}

und_status und_levelset_fill(und_levelset *s, und_error *err)
{
    const float *wall = s->solids.any ? s->solids.distance : NULL;
    for (int i = 0; i < s->def.fill_count; i++) {
        und_distance_csg(&s->surface, UND_CSG_UNION, s->def.fills[i].shape);
        set_velocity(s, &s->def.fills[i]);
    }
    if (wall && s->def.fill_count > 0 && touch_walls(s, err) != UND_OK)
        return err->status;
    if (s->def.has_level)
        fill_to_level(s);
    for (size_t i = 0; i < s->mac.count; i++)
        if (!isfinite(s->surface.phi[i]))
            return und_error_set(err, UND_INVALID, "levelset: the liquid at the start is not finite");
    if (wall) {
        und_distance_into_solids(&s->surface, wall);
        und_levelset_into_solids(s, false); /* as each step will */
        und_solids_pin(&s->solids, s->surface.phi);
    }
    und_levelset_volume_fill(s); /* now: layers below the lowest middles of cells are none to phi */
    und_distance_redistance(&s->surface, s->def.redistance);
    if (wall)
        und_solids_unpin(&s->solids, s->surface.phi);
    if (s->particles)
        und_level_set_particles_seed(s->particles, &s->surface, wall);
    if (s->particles && wall)
        und_level_set_particles_leave(s->particles, s->solids.beside_thin);
    und_levelset_heat_fill(s);
    und_mac_flow_restored(&s->flow);
    und_mac_flow_label(&s->flow, &s->surface, &s->solids);
    s->fastest = und_mac_flow_fastest(&s->flow);
    und_mac_flow_extend(&s->flow, &s->solids, s->layers);
    return UND_OK;
}
