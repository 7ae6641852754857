/* What cells hold at the start.  phi tells it where it is the distance to a plane; of what is thinner than a
 * cell or round, fills tell it along lines, on which they are known exactly. */
#include "flow/solids_parts.h"
#include "geom/value.h"
#include "liquid/levelset_state.h"
#include "surface/volume_parts.h"

#include <math.h>

/* Lines through a cell: in space so many by so many, and FEW where a fill ends straight on. */
enum { FEW = 8, MANY = 16, FLAT = 64 };
static const double NEAR = 1.2;      /* cells: fills whose ends are further away fill a cell, or not */
static const double STRAIGHT = 0.95; /* of a slope: less, and fills end on other sides too */
/* Cells: from the middle of one that has a corner of a film to the film's other side; and a distance that
 * does not go on as it was. */
static const double FURTHER = 1.5, BENT = 0.5;
static const double BROUGHT_NEARER = 0.02;     /* cells: there the level is nearer than fills */
static const double ON_WALL = 0.05;            /* cells */
static const double AWAY = 0.95, SMALL = 1e-4; /* cosine; cells: to take differences over */
static const float BESIDE = 2;                 /* cells: from solids */

double und_levelset_from_fills(const void *levelset, und_vec3 p)
{
    const und_levelset *s = levelset;
    double least = INFINITY;
    for (int i = 0; i < s->def.fill_count; i++)
        least = fmin(least, und_shape_distance(s->def.fills[i].shape, p));
    return least / s->def.dx;
}

/* What of a cell counts: all, or what is before, or behind, the middle of the wall that it is at. */
typedef struct part_of_cell {
    const int *cell;
    double side; /* 0, 1 or -1 */
    und_vec3 middle, out;
} part_of_cell;

/* A line through a cell, from side to side. */
typedef struct line {
    const und_levelset *s;
    const int *cell;
    und_vec3 from, along;
} line;

static const und_shape *solid_on(const line *l, int i, bool *inside_out, und_vec3 *from, und_vec3 *along)
{
    const und_solids_parts *parts = l->s->solids.parts;
    const und_solid_state *state = &parts->state[i];
    const und_shape *shape = parts->defs[i].shape;
    if (!shape || !und_cell_box_has(&state->near, l->cell))
        return NULL;
    *inside_out = parts->defs[i].inside_out;
    *from = und_pose_local(&state->to, l->from);
    *along = und_sub(und_pose_local(&state->to, und_add(l->from, l->along)), *from);
    return shape;
}

/* How much of a line between two places is in none of the solids, of which there may be 0, nor of the fills,
 * from one of these on: solids count first. */
static double outside(const line *l, int solids, int i, int end, double low, double high)
{
    const und_shape *shape;
    und_vec3 from = l->from, along = l->along;
    double sum = 0, begin, stop;
    bool inside_out = false;
    if (i == end)
        return high - low;
    shape = i < solids ? solid_on(l, i, &inside_out, &from, &along) : l->s->def.fills[i - solids].shape;
    if (!shape)
        return outside(l, solids, i + 1, end, low, high);
    while (low < high && und_shape_stretch(shape, from, along, low, high, inside_out, 0, &begin, &stop)) {
        sum += outside(l, solids, i + 1, end, begin, stop);
        low = stop;
    }
    return sum;
}

/* How much of what counts of it is in fills, and in no solid. */
static double in_fills(const line *l, const part_of_cell *part)
{
    const int solids = l->s->solids.any ? l->s->solids.count : 0;
    const double before = part->side * und_dot(und_sub(l->from, part->middle), part->out);
    const double rises = part->side * und_dot(l->along, part->out);
    const double low = rises > 0 ? fmax(0, -before / rises) : 0;
    const double high = rises < 0 ? fmin(1, -before / rises) : before < 0 && rises == 0 ? 0 : 1;
    if (!(low < high))
        return 0;
    return outside(l, solids, 0, solids, low, high) -
           outside(l, solids, 0, solids + l->s->def.fill_count, low, high);
}

/* Along lines across an axis: how much of a cell is filled, and how much lines differ. */
static double along_axis(const und_levelset *s, const part_of_cell *part, int axis, int count,
                         double *differs)
{
    const und_mac *m = &s->mac;
    const int *cell = part->cell;
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    const int n[2] = {m->n[a] > 1 ? count : 1, m->n[b] > 1 ? count : 1};
    double sum = 0, squares = 0;
    for (int k = 0; k < n[0] * n[1]; k++) {
        double from[3], along[3] = {0};
        from[axis] = und_mac_middle(m, axis, cell[axis] - 0.5);
        from[a] = und_mac_middle(m, a, cell[a] - 0.5 + (k % n[0] + 0.5) / n[0]);
        from[b] = und_mac_middle(m, b, cell[b] - 0.5 + (k / n[0] + 0.5) / n[1]);
        along[axis] = m->d[axis];
        const line l = {s, cell, und_vec(from[0], from[1], from[2]), und_vec(along[0], along[1], along[2])};
        const double in = in_fills(&l, part);
        sum += in;
        squares += in * in;
    }
    const double mean = sum / (n[0] * n[1]);
    *differs = squares / (n[0] * n[1]) - mean * mean;
    return mean;
}

/* Where ends of a fill are on more sides than one it is not known which way it lies: lines across it are all
 * alike. */
static double filled(const und_levelset *s, const part_of_cell *part, const double slope[3])
{
    const int axes = s->mac.n[2] > 1 ? 3 : 2;
    const bool known = slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2] > STRAIGHT * STRAIGHT;
    const int lines = axes == 2 ? FLAT : known ? FEW : MANY;
    const double most = fmax(fabs(slope[0]), fmax(fabs(slope[1]), fabs(slope[2])));
    double found = 0, least = INFINITY, differs;
    for (int a = 0; a < axes; a++) {
        if (known && fabs(slope[a]) < most)
            continue;
        const double along = along_axis(s, part, a, lines, &differs);
        if (differs < least) {
            least = differs;
            found = along;
        }
    }
    return found;
}

/* How much fills come nearer along an axis, so many cells either way of a place that is `own` from them;
 * whether one ends on both sides, and is between. */
static double rise(const und_levelset *s, und_vec3 p, double own, int axis, double cells, bool *ends)
{
    const double by = cells * s->def.dx;
    const und_vec3 way = und_vec(axis == 0 ? by : 0, axis == 1 ? by : 0, axis == 2 ? by : 0);
    const double high = und_levelset_from_fills(s, und_add(p, way)),
                 low = und_levelset_from_fills(s, und_sub(p, way));
    *ends = *ends || (high > 0 && low > 0 && high + low - 2 * own > BENT);
    return 0.5 * (high - low) / cells;
}

/* The slope of the distance at a place; whether the fill there is thin. */
static bool find_slope(const und_levelset *s, und_vec3 p, double own, double slope[3])
{
    bool thin = false;
    for (int a = 0; a < 3; a++) {
        slope[a] = s->mac.n[a] > 1 ? rise(s, p, own, a, 1, &thin) : 0;
        if (s->mac.n[a] > 1 && !thin)
            rise(s, p, own, a, FURTHER, &thin);
    }
    return thin;
}

/* ---- At walls thinner than cells ---- */

static bool is_in(const und_mac *m, const int cell[3])
{
    for (int a = 0; a < 3; a++)
        if (cell[a] < 0 || cell[a] >= m->n[a])
            return false;
    return true;
}

static und_vec3 out_of_fills(const und_levelset *s, und_vec3 p)
{
    return und_unit(und_solids_normal(und_levelset_from_fills, s, p, SMALL * s->def.dx, s->mac.n[2] == 1));
}

/* Whether a fill near a place is a layer: along an axis it ends on both sides, which face away from each
 * other.  A pool is thin where it meets a wall that it ends in, but phi knows it there. */
static bool is_layer(const und_levelset *s, und_vec3 p)
{
    for (int k = 0; k < 6; k++) {
        const double by = (k % 2 ? 1 : FURTHER) * s->def.dx;
        const und_vec3 way = und_vec(k / 2 == 0 ? by : 0, k / 2 == 1 ? by : 0, k / 2 == 2 ? by : 0);
        const und_vec3 high = und_add(p, way), low = und_sub(p, way);
        if (s->mac.n[k / 2] > 1 && und_levelset_from_fills(s, high) > 0 &&
            und_levelset_from_fills(s, low) > 0 &&
            und_dot(out_of_fills(s, high), out_of_fills(s, low)) < -AWAY)
            return true;
    }
    return false;
}

/* How much fills have of a cell's part that is another's, or its own; thin is whether one is so there. */
static double filled_on(const und_levelset *s, const int cell[3], double side, bool *thin)
{
    const und_vec3 p = und_solids_place(&s->mac, cell[0], cell[1], cell[2]);
    part_of_cell part = {.cell = cell, .side = side};
    const double own = und_levelset_from_fills(s, p);
    double slope[3];
    if (side != 0 && !und_solids_wall_middle(&s->solids, cell, &part.middle, &part.out))
        part.side = 0;
    *thin = (find_slope(s, p, own, slope) && fabs(own) < NEAR && is_layer(s, p)) || *thin;
    return side < 0 && part.side == 0 ? 0 : filled(s, &part, slope);
}

/* What a cell has of fills on its side of the wall that it is at, its own and what cells beside it leave it;
 * thin: whether any of that is. */
static double filled_on_side(const und_levelset *s, const int cell[3], bool *thin)
{
    const und_mac *m = &s->mac;
    const und_solids_parts *parts = s->solids.parts;
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    const bool walled = parts->thin[at] == UND_THIN_WALL && parts->split[at].far > 0;
    double sum = filled_on(s, cell, walled ? 1 : 0, thin);
    for (int way = 0; way < (m->n[2] > 1 ? 6 : 4); way++) {
        int next[3] = {cell[0], cell[1], cell[2]};
        next[way / 2] += way % 2 ? 1 : -1;
        const size_t there = is_in(m, next) ? und_mac_at(m, next[0], next[1], next[2]) : at;
        const und_thin_split *split = &parts->split[there];
        if (there == at || !parts->thin[there])
            continue;
        if (split->to_near == (way ^ 1))
            sum += filled_on(s, next, 1, thin);
        if (split->to_far == (way ^ 1) && split->far > 0)
            sum += filled_on(s, next, -1, thin);
    }
    return sum;
}

/* Whether a fill that a place is near lies on the nearest wall: over a gap that no cell shows phi has it on
 * the wall as well, and cells what phi has. */
static bool lies_on_wall(const und_levelset *s, const int cell[3], und_vec3 p)
{
    const und_solids_around here = {&s->solids, cell};
    const und_vec3 out =
        und_unit(und_solids_normal(und_solids_nearest, &here, p, SMALL * s->def.dx, s->mac.n[2] == 1));
    const und_vec3 wall = und_sub(p, und_mul(out, und_solids_nearest(&here, p)));
    for (int k = 0; k < 27; k++) { /* a cell along the wall the fill may end */
        const und_vec3 by = und_vec(k % 3 - 1, k / 3 % 3 - 1, s->mac.n[2] > 1 ? k / 9 - 1 : 0);
        const und_vec3 along = und_mul(und_sub(by, und_mul(out, und_dot(by, out))), s->def.dx);
        if (und_levelset_from_fills(s, und_add(wall, along)) < ON_WALL)
            return true;
    }
    return false;
}

/* How far a place is above the level, cells. */
static double above_level(const und_levelset *s, und_vec3 p)
{
    return (p.y - und_value_at(&s->def.level, p.x, s->mac.origin[1], p.z, 0)) / s->def.dx;
}

/* Beside solids only what is thin: phi, and all that follows from it, has its own idea of what these leave of
 * cells, and a pool is to be at rest.  Where the level is nearer than fills, what phi says may be more than
 * they tell. */
static void fill_cell(und_levelset *s, const und_volume *v, const int cell[3])
{
    const und_mac *m = &s->mac;
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    const float *rooms = und_levelset_volume_rooms(s), room = rooms ? rooms[at] : 1;
    const und_vec3 p = und_solids_place(m, cell[0], cell[1], cell[2]);
    const double own = und_levelset_from_fills(s, p);
    const bool beside = s->solids.any && s->solids.beside_thin[at];
    double slope[3], found;
    bool thin = false;
    if (beside && s->solids.parts->thin[at] == UND_THIN_SHUT)
        return;
    if (beside && fabs(own) < NEAR + 1) {
        found = filled_on_side(s, cell, &thin);
        thin = thin && lies_on_wall(s, cell, p);
    } else {
        if (!(fabs(own) < NEAR))
            return;
        thin = find_slope(s, p, own, slope);
        found = filled(s, &(part_of_cell){.cell = cell}, slope);
    }
    if (!thin && (beside || (s->solids.any && s->solids.distance[at] < BESIDE)))
        return;
    const int32_t units = und_volume_units((float)found < room ? (float)found : room);
    const bool other = s->def.has_level && above_level(s, p) < own - BROUGHT_NEARER;
    v->c[at] = other && v->c[at] > units ? v->c[at] : units;
}

static inline void fill_row(const und_levelset_starting *a, und_place p)
{
    und_levelset *s = a->s;
    const und_volume *v = und_levelset_volumes(s);
    const und_span span = und_mac_span(&s->mac, p.y, p.z);
    for (int x = span.begin; x < span.end; x++)
        if (v->parts->own[p.at + (size_t)x])
            fill_cell(s, v, (const int[]){x, p.y, p.z});
}
UND_KERNEL(fill_row, und_levelset_starting, UND_EACH_ROW)

void und_levelset_fill_cells(und_levelset *s)
{
    const und_levelset_starting start = und_levelset_starting_of(s);
    und_pass(&s->device, fill_row, &start, &start.rows);
}
