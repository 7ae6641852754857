/* What cells hold at the start.  phi tells it where it is the distance to a plane; of what is thinner than a
 * cell or round, fills tell it along lines, on which they are known exactly. */
#include "flow/solids_parts.h"
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
static const float BROUGHT_NEARER = 0.02f; /* cells: there phi is the distance to something else, */
static const float BESIDE = 2;             /* cells: from solids */

double und_levelset_from_fills(const void *levelset, und_vec3 p)
{
    const und_levelset *s = levelset;
    double least = INFINITY;
    for (int i = 0; i < s->def.fill_count; i++)
        least = fmin(least, und_shape_distance(s->def.fills[i].shape, p));
    return least / s->def.dx;
}

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

/* How much of it is in fills, and in no solid. */
static double in_fills(const line *l)
{
    const int solids = l->s->solids.any ? l->s->solids.count : 0;
    return outside(l, solids, 0, solids, 0, 1) - outside(l, solids, 0, solids + l->s->def.fill_count, 0, 1);
}

/* Along lines across an axis: how much of a cell is filled, and how much lines differ. */
static double along_axis(const und_levelset *s, const int cell[3], int axis, int count, double *differs)
{
    const und_mac *m = &s->mac;
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
        const double in = in_fills(&l);
        sum += in;
        squares += in * in;
    }
    const double mean = sum / (n[0] * n[1]);
    *differs = squares / (n[0] * n[1]) - mean * mean;
    return mean;
}

/* Where ends of a fill are on more sides than one it is not known which way it lies: lines across it are all
 * alike. */
static double filled(const und_levelset *s, const int cell[3], const double slope[3])
{
    const int axes = s->mac.n[2] > 1 ? 3 : 2;
    const bool known = slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2] > STRAIGHT * STRAIGHT;
    const int lines = axes == 2 ? FLAT : known ? FEW : MANY;
    const double most = fmax(fabs(slope[0]), fmax(fabs(slope[1]), fabs(slope[2])));
    double part = 0, least = INFINITY, differs;
    for (int a = 0; a < axes; a++) {
        if (known && fabs(slope[a]) < most)
            continue;
        const double found = along_axis(s, cell, a, lines, &differs);
        if (differs < least) {
            least = differs;
            part = found;
        }
    }
    return part;
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

/* Beside solids only what is thin: phi, and all that follows from it, has its own idea of what these leave of
 * cells, and a pool is to be at rest.  Where something else is nearer than fills, what phi says may be more
 * than they tell. */
static void fill_cell(und_levelset *s, const und_volume *v, const int cell[3])
{
    const und_mac *m = &s->mac;
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    const float *rooms = und_levelset_volume_rooms(s), room = rooms ? rooms[at] : 1;
    const und_vec3 p = und_solids_place(m, cell[0], cell[1], cell[2]);
    const double own = und_levelset_from_fills(s, p);
    double slope[3];
    if (!(fabs(own) < NEAR) || (s->solids.any && s->solids.beside_thin[at]) ||
        (!find_slope(s, p, own, slope) && s->solids.any && s->solids.distance[at] < BESIDE))
        return;
    const float part = (float)filled(s, cell, slope);
    const int32_t units = und_volume_units(part < room ? part : room);
    const bool other = s->surface.phi[at] < (float)own - BROUGHT_NEARER;
    v->c[at] = other && v->c[at] > units ? v->c[at] : units;
}

enum { FILL_WORTH = 8 }; /* cells of a plain pass */

typedef struct fill_args {
    und_levelset *s;
} fill_args;

static inline void fill_row(const fill_args *a, und_place p)
{
    und_levelset *s = a->s;
    const und_volume *v = und_levelset_volumes(s);
    for (int x = 0; x < s->mac.n[0]; x++)
        if (v->parts->own[p.at + (size_t)x])
            fill_cell(s, v, (const int[]){x, p.y, p.z});
}
UND_KERNEL(fill_row, fill_args, UND_EACH_ROW)

void und_levelset_fill_cells(und_levelset *s)
{
    const fill_args args = {s};
    und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    rows.worth *= FILL_WORTH;
    und_pass(&s->device, fill_row, &args, &rows);
}
