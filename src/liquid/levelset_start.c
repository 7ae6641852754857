/* The liquid at the start. */
#include "base/pages.h"
#include "base/status.h"
#include "flow/solids_parts.h"
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
                if (und_mac_has(m, x, y, z))
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
                for (int x = und_mac_part(m, y, z).begin; x < und_mac_part(m, y, z).end && x < m->n[0]; x++) {
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

/* Whether what ends that way would lie level. */
static bool faces_up(const und_levelset *s, const float out[3])
{
    double up = 0;
    for (int a = 0; a < 3; a++)
        up -= (double)out[a] * s->def.gravity[a];
    return up > 0.5 * und_levelset_pull(s);
}

/* Whether a fill ends at the wall that a cell is in, or at: straight in front of it, one and a half cells
 * away, it is deep.  Where cells hold their volume its surface has to face the wall too, as one that meets it
 * at an angle is to stay as it is; in corners of walls, where there is no one slope, it has to be deeper.  A
 * level below a ceiling stays one. */
static bool ends_at_wall(const und_levelset *s, int x, int y, int z)
{
    const float before = 1.5f, enough = -0.5f, deeper = -1.2f; /* cells */
    const float facing = 0.9f, along = 0.98f, same = 0.999f;   /* cells per cell */
    const float at_all = 0.1f;                                 /* cells */
    const int cell[3] = {x, y, z};
    const size_t at = und_mac_at(&s->mac, x, y, z);
    const float *wall = s->solids.distance, *phi = s->surface.phi;
    float normal[3], out[3];
    const bool corner = growing(s, wall, at, normal) < facing;
    const float depth = sample_along(s, phi, cell, normal, before - wall[at]);
    if (!s->volume || !(depth < enough))
        return depth < enough;
    growing(s, phi, at, out);
    const bool up = faces_up(s, out);
    if (up && !(fabsf(sample_along(s, phi, cell, normal, -wall[at])) < at_all))
        return false;
    return (corner && depth < deeper) || wall[at] - sample_along(s, wall, cell, out, 1) > (up ? same : along);
}

/* Fills that end at a wall touch it all along, in its corners too: air that is caught there, with no pressure
 * of its own, would swallow more than it has room for. */
static und_status touch_walls(und_levelset *s, und_error *err)
{
    const float near = 0.5f, enough = -0.5f; /* cells: from the wall, and below the surface */
    const float *wall = s->solids.distance;
    const und_mac *m = &s->mac;
    float *deep = und_pages_alloc_some(m->count * sizeof *deep, m->present, "the liquid at the start", err);
    if (!deep)
        return err->status;
    for (int z = 0; z < m->n[2]; z++)
        for (int y = 0; y < m->n[1]; y++)
            for (int x = 0; x < m->n[0] && und_present_has(m->present, y, z); x++) {
                if (!und_mac_has(m, x, y, z))
                    continue;
                size_t at = und_mac_at(m, x, y, z);
                if (wall[at] < near && !(wall[at] < -2))
                    deep[at] = ends_at_wall(s, x, y, z);
            }
    UND_MAC_EACH_STRETCH(m, first, count)
    for (size_t i = first; i < first + count; i++)
        if (deep[i] > 0)
            s->surface.phi[i] = fminf(s->surface.phi[i], enough);
    und_pages_free(deep);
    und_distance_refresh(&s->surface);
    return UND_OK;
}

/* ---- Walls that fills end at ---- */

static const double BEHIND = 0.1;  /* cells: a wall so near behind a fill's end is where it ends */
static const double FACES = 0.98;  /* cosine: and it lies along the wall; */
static const double SAME = 0.999;  /* one that faces up, and may be a level, all but in it */
static const double LONGEST = 2.5; /* cells: the surface is looked for so far */
static const float BESIDE = 1.5f;  /* cells: from walls to cells that see their fill end there */
static const double SMALL = 1e-4;  /* cells: to take differences over */

static und_vec3 out_of_fills(const und_levelset *s, und_vec3 p, bool flat)
{
    return und_unit(und_solids_normal(und_levelset_from_fills, s, p, SMALL * s->def.dx, flat));
}

/* Whether the end of a fill, at a place near a cell, is that of the liquid at a wall, which has no surface.
 */
static bool ends_in_wall(const und_levelset *s, const int cell[3], und_vec3 p)
{
    const und_vec3 out = out_of_fills(s, p, s->mac.n[2] == 1),
                   q = und_add(p, und_mul(out, BEHIND * s->def.dx));
    const double place[3] = {q.x, q.y, q.z}, way[3] = {out.x, out.y, out.z};
    for (int a = 0; a < 3; a++) {
        const double at = (place[a] - s->mac.origin[a]) / s->mac.d[a] - s->mac.low[a];
        if ((way[a] < -FACES && at < 0 && !s->open[2 * a]) ||
            (way[a] > FACES && at > s->mac.n[a] && !s->open[2 * a + 1]))
            return true;
    }
    const und_solids_around here = {&s->solids, cell};
    if (!s->solids.any || (und_solids_nearest(&here, q) > 0 && und_solids_sees(&s->solids, cell, q)))
        return false;
    const bool up = faces_up(s, (const float[3]){(float)out.x, (float)out.y, (float)out.z});
    if (up && !(fabs(und_solids_nearest(&here, p)) < BEHIND * s->def.dx))
        return false;
    /* Else p may be in the midst of a wall. */
    const und_vec3 near = up ? p : und_solids_place(&s->mac, cell[0], cell[1], cell[2]);
    const und_vec3 wall =
        und_solids_normal(und_solids_nearest, &here, near, SMALL * s->def.dx, s->mac.n[2] == 1);
    return fabs(und_dot(und_unit(wall), out)) > (up ? SAME : FACES);
}

static und_vec3 further(und_vec3 p, int axis, double by)
{
    return und_add(p, und_vec(axis == 0 ? by : 0, axis == 1 ? by : 0, axis == 2 ? by : 0));
}

/* How far the surface is that fills which a place is in have along an axis, cells; at a wall they have none.
 */
static double surface_along(const und_levelset *s, const int cell[3], und_vec3 p, int axis, double sign,
                            bool *at_wall)
{
    const double dx = s->def.dx;
    double low = 0, high = 0;
    while (high < LONGEST && und_levelset_from_fills(s, further(p, axis, sign * high * dx)) < 0) {
        low = high;
        high += 0.25;
    }
    if (!(high < LONGEST))
        return INFINITY;
    for (int i = 0; i < 30; i++) {
        const double middle = 0.5 * (low + high);
        if (und_levelset_from_fills(s, further(p, axis, sign * middle * dx)) < 0)
            low = middle;
        else
            high = middle;
    }
    const und_vec3 end = further(p, axis, sign * high * dx), out = out_of_fills(s, end, s->mac.n[2] == 1);
    if (!ends_in_wall(s, cell, end))
        return high * fabs(axis == 0 ? out.x : axis == 1 ? out.y : out.z);
    *at_wall = true;
    return INFINITY;
}

static bool is_beside_wall(const und_levelset *s, const int cell[3])
{
    for (int a = 0; a < 3; a++)
        if (s->mac.n[a] > 1 &&
            ((cell[a] < 2 && !s->open[2 * a]) || (cell[a] + 2 >= s->mac.n[a] && !s->open[2 * a + 1])))
            return true;
    const float wall = s->solids.any ? s->solids.distance[und_mac_at(&s->mac, cell[0], cell[1], cell[2])] : 1;
    return s->solids.any && wall < BESIDE && wall > 0;
}

/* Whether what is nearest of the end of a fill is not in the plane that all happens in. */
static bool ends_across(const und_levelset *s, const int cell[3])
{
    const und_vec3 p = und_solids_place(&s->mac, cell[0], cell[1], cell[2]);
    return s->mac.n[2] == 1 && fabs(out_of_fills(s, p, false).z) > FACES;
}

/* In a cell whose fill ends at a wall phi is how far the surface is. */
static float depth_at(const und_levelset *s, const int cell[3])
{
    const und_mac *m = &s->mac;
    const und_vec3 p = und_solids_place(m, cell[0], cell[1], cell[2]);
    const float phi = s->surface.phi[und_mac_at(m, cell[0], cell[1], cell[2])];
    const double depth = -und_levelset_from_fills(s, p);
    bool at_wall = ends_across(s, cell);
    double least = LONGEST;
    if (!(depth > 0 && depth < LONGEST))
        return phi;
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++)
        for (int sign = -1; sign <= 1; sign += 2)
            least = fmin(least, surface_along(s, cell, p, a, sign, &at_wall));
    return at_wall ? (float)-fmax(depth, least) : phi;
}

static inline void see_row(const und_levelset_starting *a, und_place p)
{
    und_levelset *s = a->s;
    const und_span span = und_mac_span(&s->mac, p.y, p.z);
    for (int x = span.begin; x < span.end; x++) {
        const int cell[3] = {x, p.y, p.z};
        float *phi = &s->surface.phi[p.at + (size_t)x];
        if (*phi < 0 && *phi > (float)-LONGEST && (is_beside_wall(s, cell) || ends_across(s, cell)))
            *phi = depth_at(s, cell);
    }
}
UND_KERNEL(see_row, und_levelset_starting, UND_EACH_ROW)

/* Fills that end at a wall, or within it, have no surface there. */
static void see_surface(und_levelset *s)
{
    const und_levelset_starting start = und_levelset_starting_of(s);
    und_pass(&s->device, see_row, &start, &start.rows);
    und_distance_refresh(&s->surface);
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
    if (s->volume && s->def.fill_count > 0)
        see_surface(s); /* first: corners of fills at walls, which are none, would bend what is beside them */
    if (wall && s->def.fill_count > 0)
        und_levelset_redistance(s);
    if (s->def.has_level)
        fill_to_level(s);
    UND_MAC_EACH_STRETCH(&s->mac, first, count)
    for (size_t i = first; i < first + count; i++)
        if (!isfinite(s->surface.phi[i]))
            return und_error_set(err, UND_INVALID, "levelset: the liquid at the start is not finite");
    if (wall) {
        und_distance_into_solids(&s->surface, wall);
        und_levelset_into_solids(s, false); /* as each step will */
    }
    und_levelset_volume_fill(s); /* now: layers below the lowest middles of cells are none to phi */
    if (s->volume && s->def.fill_count > 0)
        und_levelset_fill_cells(s);
    und_levelset_redistance(s);
    if (wall)
        und_distance_refresh(&s->surface); /* as each step does, and a run that goes on from here */
    if (s->particles)
        und_level_set_particles_seed(s->particles, &s->surface, wall);
    if (s->particles && wall)
        und_level_set_particles_leave(s->particles, s->solids.beside_thin);
    und_levelset_heat_fill(s);
    und_mac_flow_restored(&s->flow);
    und_mac_flow_label(&s->flow, &s->surface, &s->solids);
    und_levelset_find_speeds(s);
    und_mac_flow_extend(&s->flow, &s->solids, s->layers);
    return UND_OK;
}
