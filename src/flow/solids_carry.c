/* Liquid beside walls that move: on which side of them it stays. */
#include "flow/solids_parts.h"

#include "base/parallel.h"

#include <string.h>

enum { ABOUT = 2 };               /* cells around a place that are looked at */
static const double CLEAR = 0.01; /* cells: before a wall */

/* A place that the solid has taken along. */
static und_vec3 taken_along(const und_solids *s, int solid, und_vec3 p, size_t at)
{
    const und_solid_state *state = &s->parts->state[solid];
    p = und_pose_point(&state->to, und_pose_local(&state->from, p));
    return s->parts->defs[solid].sequence ? und_add(p, und_mul(und_solids_drift(s, solid, at), state->dt))
                                          : p;
}

static void cell_at(const und_mac *m, und_vec3 place, int cell[3])
{
    const double at[3] = {place.x, place.y, place.z};
    for (int a = 0; a < 3; a++) {
        const double cells = (at[a] - m->origin[a]) / m->d[a] - m->low[a];
        cell[a] = cells > 0 ? (int)und_smaller(cells, m->n[a] - 1) : 0;
    }
}

und_vec3 und_solids_carried(const und_solids *s, int solid, const int cell[3])
{
    const und_mac *m = &s->mac;
    const und_solids_around here = {s, cell};
    und_vec3 p = taken_along(s, solid, und_solids_place(m, cell[0], cell[1], cell[2]),
                             und_mac_at(m, cell[0], cell[1], cell[2]));
    und_solids_way_out(und_solids_nearest, &here, m, &p);
    return p;
}

/* The first t from 0 to 1 where a line, in the solid's own coordinates, is in it; above 1 where it is not. */
static double first_solid(const und_obstacle_def *def, und_vec3 from, und_vec3 along)
{
    double first, low = 0, high = 1, inside = und_shape_line(def->shape, from, along, 0, 1, &first);
    if (!def->inside_out)
        return inside > 1e-9 ? first : 2;
    if (!(inside < 1 - 1e-9))
        return 2;
    while (high - low > 1e-6) {
        const double middle = 0.5 * (low + high);
        if (und_shape_line(def->shape, from, along, 0, middle, &first) < middle - 1e-9)
            high = middle;
        else
            low = middle;
    }
    return low;
}

bool und_solids_hit(const und_solids *s, und_vec3 from, und_vec3 to, und_vec3 *before)
{
    const und_mac *m = &s->mac;
    int cell[3];
    double best = 2;
    cell_at(m, to, cell);
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    for (int i = 0; i < s->count; i++) {
        const und_pose *pose = &s->parts->state[i].to;
        if (!s->parts->defs[i].shape || !und_cell_box_has(&s->parts->state[i].near, cell))
            continue;
        const und_vec3 start = und_pose_local(pose, taken_along(s, i, from, at));
        const und_vec3 along = und_sub(und_pose_local(pose, to), start);
        const double t = first_solid(&s->parts->defs[i], start, along), length = und_length(along);
        if (t < best) {
            best = t;
            *before = und_pose_point(
                pose,
                und_add(start,
                        und_mul(along, und_larger(t - CLEAR * m->d[0] / und_larger(length, 1e-30), 0))));
        }
    }
    if (best <= 1)
        und_solids_way_out(und_solids_nearest, &(und_solids_around){s, cell}, m, before);
    return best <= 1;
}

bool und_solids_find_side(const und_solids *s, und_vec3 place, const float *room, float enough,
                          const uint8_t *marked, size_t *found)
{
    const und_mac *m = &s->mac;
    int middle[3], low[3], high[3];
    double best = INFINITY;
    cell_at(m, place, middle);
    for (int a = 0; a < 3; a++) {
        low[a] = middle[a] - ABOUT > 0 ? middle[a] - ABOUT : 0;
        high[a] = middle[a] + ABOUT < m->n[a] - 1 ? middle[a] + ABOUT : m->n[a] - 1;
    }
    place.z = m->n[2] > 1 ? place.z : und_mac_middle(m, 2, 0);
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                const int cell[3] = {x, y, z};
                const size_t next = und_mac_at(m, x, y, z);
                const und_vec3 way = und_sub(und_solids_place(m, x, y, z), place);
                const double far = und_dot(way, way);
                if (marked[next] && room[next] >= enough && far < best && und_solids_sees(s, cell, place)) {
                    best = far;
                    *found = next;
                }
            }
    return isfinite(best);
}

/* Of walls too thin for the grid each side of a cell belongs to a cell that has its middle there. */
bool und_solids_side_room(const und_solids *s, float *room)
{
    const und_mac *m = &s->mac;
    bool any = false;
    for (int row = 0; row < und_mac_rows(m) && s->any && !any; row++)
        any = und_solids_thin_row(s, row % m->n[1], row / m->n[1]);
    if (!any)
        return false;
    memcpy(room, s->plain_room, m->count * sizeof *room);
    for (int row = 0; row < und_mac_rows(m); row++) {
        const int y = row % m->n[1], z = row / m->n[1];
        const size_t first = und_mac_row(m, row);
        for (int x = 0; x < m->n[0] && und_solids_thin_row(s, y, z); x++) {
            const size_t at = first + (size_t)x;
            const und_thin_split *split = &s->parts->split[at];
            if (!s->parts->thin[at])
                continue;
            const uint8_t way[2] = {split->to_near, split->to_far};
            const float part[2] = {split->near, split->far};
            for (int k = 0; k < 2; k++) {
                const ptrdiff_t by = way[k] < 6 ? (way[k] % 2 ? 1 : -1) * m->step[way[k] / 2] : 0;
                if (way[k] <= 6 && part[k] > 0)
                    room[(size_t)((ptrdiff_t)at + by)] += part[k];
            }
        }
    }
    return true;
}
