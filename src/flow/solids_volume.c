/* How much liquid is beside thin walls.  A cell that such a wall is in has room on both sides of it: what is
 * on the side of the cell's middle is the cell's own, what is on the other belongs to the cell across; of a
 * cell whose middle is in the wall both belong to others.  So the volume does not change as a wall that
 * carries liquid moves through cells. */
#include "flow/solids_parts.h"

#include "surface/distance.h"

#include <math.h>

static const double LONGEST = 4;  /* cells: walls are looked for so far */
static const double SMALL = 1e-4; /* cells: to take differences over */

static bool inside(const und_mac *m, const int cell[3])
{
    for (int a = 0; a < 3; a++)
        if (cell[a] < 0 || cell[a] >= m->n[a])
            return false;
    return true;
}

/* The way (axis and sign) to the neighbour furthest along a direction that takes part in the flow. */
static uint8_t neighbour_along(const und_solids *s, const int cell[3], const double along[3])
{
    double most = 0.3;
    uint8_t found = UND_SPLIT_NOBODY;
    for (int way = 0; way < 6; way++) {
        int a = way / 2, to[3] = {cell[0], cell[1], cell[2]};
        double by = way % 2 ? along[a] : -along[a];
        to[a] += way % 2 ? 1 : -1;
        if (!(by > most) || !inside(&s->mac, to) ||
            s->parts->thin[und_mac_at(&s->mac, to[0], to[1], to[2])] == UND_THIN_SHUT)
            continue;
        most = by;
        found = (uint8_t)way;
    }
    return found;
}

/* How much of a line from a place on is solid, in cells, before it is no more. */
static double thickness(const und_solids *s, const int cell[3], und_vec3 from, und_vec3 along)
{
    double most = 0, first;
    und_vec3 way = und_mul(along, LONGEST * s->mac.d[0]);
    for (int i = 0; i < s->count; i++) {
        const und_obstacle_def *def = &s->parts->defs[i];
        const und_pose *pose = &s->parts->state[i].to;
        if (!def->shape || !und_cell_box_has(&s->parts->state[i].near, cell))
            continue;
        und_vec3 a = und_pose_local(pose, from), b = und_pose_local(pose, und_add(from, way));
        double in = und_shape_line(def->shape, a, und_sub(b, a), 0, 1, &first);
        most = und_larger(LONGEST * (def->inside_out ? 1 - in : in), most);
    }
    return most;
}

/* The wall beside a cell: which way it faces, how far its near side is (cells) and how thick it is. */
typedef struct thin_wall {
    und_vec3 out;
    double distance, thick;
} thin_wall;

static bool find_wall(const und_solids *s, const int cell[3], und_vec3 centre, thin_wall *w)
{
    const und_mac *m = &s->mac;
    const und_solids_around here = {s, cell};
    w->distance = und_solids_nearest(&here, centre) / m->d[0];
    w->out = und_solids_normal(und_solids_nearest, &here, centre, SMALL * m->d[0], m->n[2] == 1);
    if (!(fabs(w->distance) < LONGEST) || !(und_length(w->out) > 0.5))
        return false;
    w->out = und_unit(w->out);
    const und_vec3 surface = und_add(centre, und_mul(w->out, (SMALL - w->distance) * m->d[0]));
    w->thick = thickness(s, cell, surface, und_mul(w->out, -1)); /* from the wall's near side on */
    return true;
}

bool und_solids_wall_middle(const und_solids *s, const int cell[3], und_vec3 *place, und_vec3 *out)
{
    const und_vec3 centre = und_solids_place(&s->mac, cell[0], cell[1], cell[2]);
    thin_wall w;
    if (!find_wall(s, cell, centre, &w))
        return false;
    *place = und_sub(centre, und_mul(w.out, (w.distance + 0.5 * w.thick) * s->mac.d[0]));
    *out = w.out;
    return true;
}

static und_thin_split split_cell(const und_solids *s, const int cell[3])
{
    const und_mac *m = &s->mac;
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    const bool shut = s->parts->thin[at] == UND_THIN_SHUT;
    und_thin_split split = {s->room[at], 0, UND_SPLIT_OWN, UND_SPLIT_NOBODY};
    thin_wall w;
    if (!find_wall(s, cell, und_solids_place(m, cell[0], cell[1], cell[2]), &w)) {
        split.to_near = shut ? UND_SPLIT_NOBODY : UND_SPLIT_OWN;
        return split;
    }
    const double along[3] = {w.out.x, w.out.y, w.out.z}, against[3] = {-w.out.x, -w.out.y, -w.out.z};
    split.near = (float)(1 - und_distance_part(w.distance, along));
    split.far = (float)und_distance_part(w.distance + w.thick, along);
    split.to_far = neighbour_along(s, cell, against);
    if (shut)
        split.to_near = neighbour_along(s, cell, along);
    else if (split.far == 0)
        split.near = s->room[at]; /* exact where solids are thick but have an edge */
    return split;
}

static inline void split_row(const und_solids_job *j, und_place p)
{
    const und_solids *s = j->s;
    for (int x = j->box->low[0]; x < j->box->high[0]; x++) {
        const size_t at = p.at + (size_t)x;
        const uint8_t thin = s->parts->thin[at];
        s->plain_room[at] = thin ? 0 : s->room[at];
        if (thin)
            s->parts->split[at] = split_cell(s, (const int[3]){x, p.y, p.z});
    }
}
UND_KERNEL(split_row, und_solids_job, UND_EACH_ROW)

void und_solids_split(und_solids *s, const und_cell_box *b)
{
    und_cell_box inner;
    for (int a = 0; a < 3; a++) {
        inner.low[a] = b->low[a] > 0 ? b->low[a] : 0;
        inner.high[a] = b->high[a] < s->mac.n[a] ? b->high[a] : s->mac.n[a];
    }
    const und_set rows = und_cell_box_rows(&s->mac, &inner);
    und_pass(&s->device, split_row, &((und_solids_job){.s = s, .box = &inner}), &rows);
}

/* The part of a cell that is liquid, by what is on its side. */
static double part_of(const und_solids *s, const float *phi, const int cell[3])
{
    const und_mac *m = &s->mac;
    const size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    double gradient[3] = {0}, square = 0;
    bool mixed = false; /* else no surface but the wall is near */
    for (int a = 0; a < (m->n[2] > 1 ? 3 : 2); a++) {
        size_t low = at - (size_t)m->step[a], high = at + (size_t)m->step[a];
        bool below = cell[a] > 0 && s->open[a][low] > 0, above = cell[a] + 1 < m->n[a] && s->open[a][at] > 0;
        double to = (double)(above ? phi[high] : phi[at]), from = (double)(below ? phi[low] : phi[at]);
        gradient[a] = below && above ? 0.5 * (to - from) : to - from;
        square += gradient[a] * gradient[a];
        mixed |= (to < 0) != (phi[at] < 0) || (from < 0) != (phi[at] < 0);
    }
    if (!mixed || !(square > 1e-6))
        return phi[at] < 0 ? 1 : 0;
    return und_distance_part((double)phi[at] / sqrt(square), gradient);
}

static double part_along(const und_solids *s, const float *phi, const int cell[3], uint8_t way)
{
    int to[3] = {cell[0], cell[1], cell[2]};
    if (way == UND_SPLIT_NOBODY)
        return 0;
    if (way != UND_SPLIT_OWN)
        to[way / 2] += way % 2 ? 1 : -1;
    return part_of(s, phi, to);
}

typedef struct measure_args {
    const und_solids *s;
    const float *phi;
} measure_args;

static double volume_at(const measure_args *a, size_t at, const int cell[3])
{
    const und_thin_split *split = &a->s->parts->split[at];
    double volume = (double)split->near * part_along(a->s, a->phi, cell, split->to_near);
    if (split->far > 0)
        volume += (double)split->far * part_along(a->s, a->phi, cell, split->to_far);
    return volume;
}

static inline und_totals measure(const measure_args *a, und_place p)
{
    const uint8_t *thin = a->s->parts->thin + p.at;
    und_totals t = {0};
    for (unsigned bits = und_solids_thin_row(a->s, p.y, p.z) ? p.which : 0; bits; bits &= bits - 1) {
        const int i = __builtin_ctz(bits);
        if (thin[i])
            t.sum[i] = volume_at(a, p.at + (size_t)i, (const int[3]){p.x + i, p.y, p.z});
    }
    return t;
}
UND_KERNEL_SUM(measure, measure_args)

double und_solids_thin_volume(const und_solids *s, const float *phi)
{
    const und_mac *m = &s->mac;
    const measure_args args = {s, phi};
    const und_set rows = und_set_rows(m, UND_ROWS_INSIDE);
    if (!s->any)
        return 0;
    const und_total all = und_reduce(&s->device, &UND_PASS(measure, &args, &rows), 1, s->parts->row_total);
    return all.sum * m->d[0] * m->d[1] * m->d[2];
}
