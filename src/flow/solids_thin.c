/* Walls thinner than a cell.  A cell stands for a place outside the solids: its centre, or where that is in a
 * wall the nearest place out of it.  At thin walls a face is open only where nothing solid is on the straight
 * way between the places of its two cells; so whatever goes from cell to cell stays on one side of a wall,
 * however thin and whatever its angle.  At thick walls (more than the diagonal of a cell) a cell sees one
 * side only, and the open parts of faces alone tell. */
#include "flow/solids_parts.h"

static const double REACHES = 1.2; /* cells: from a wall to cells that it may concern */
static const double PROBE =
    0.95; /* cells into a wall: as deep there is 1.9 thick, and the diagonal is 1.73 */
static const double DEEP = 0.86;
static const double EDGE = 1.3, CORNER = 1.6; /* cells into right-angled ones: as deep there */
static const double APART = 1.25; /* cells: two neighbours so far from solids in sum have none in between */
static const double CLEAR = 0.01; /* cells: from a wall to the places that cells stand for */
static const double SMALL = 1e-5; /* cells: to take differences over */
static const double NUDGE = 1e-3; /* cells: out of the middle of a wall */

double und_solids_between_corners(const und_solids *s, const double place[3])
{
    const und_mac *m = &s->mac;
    int low[3];
    double part[3], sum = 0;
    for (int a = 0; a < 3; a++) {
        double q = und_smaller(und_larger(place[a], 0), m->n[a]);
        low[a] = (int)q < m->n[a] - 1 ? (int)q : m->n[a] - 1;
        part[a] = q - low[a];
    }
    const float *node = s->parts->node + und_mac_at(m, low[0], low[1], low[2]);
    for (int k = 0; k < 8; k++) {
        double w = 1;
        ptrdiff_t at = 0;
        for (int a = 0; a < 3; a++) {
            w *= k >> a & 1 ? part[a] : 1 - part[a];
            at -= k >> a & 1 ? 0 : m->step[a];
        }
        sum += w * (double)node[at];
    }
    return sum;
}

static void corner_gradient(const und_solids *s, size_t at, double g[3])
{
    const und_mac *m = &s->mac;
    g[0] = g[1] = g[2] = 0;
    for (int k = 0; k < 8; k++) {
        ptrdiff_t down = 0;
        for (int a = 0; a < 3; a++)
            down += k >> a & 1 ? 0 : m->step[a];
        double value = (double)s->parts->node[(ptrdiff_t)at - down];
        for (int a = 0; a < 3; a++)
            g[a] += (k >> a & 1 ? 0.25 : -0.25) * value;
    }
}

/* Whether the solid beside a cell is deep so far inside it, in a direction that is told that well. */
static bool is_deep(const und_solids *s, const int cell[3], double probe, double told)
{
    const und_mac *m = &s->mac;
    size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    for (int a = 0; a < 3; a++)
        if (cell[a] < 0 || cell[a] >= m->n[a])
            return false; /* there are no corners to tell */
    double g[3], place[3];
    corner_gradient(s, at, g);
    double length = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    if (!(length > told))
        return false;
    for (int a = 0; a < 3; a++)
        place[a] = cell[a] + 0.5 - g[a] / length * ((double)s->distance[at] + probe);
    if (und_solids_between_corners(s, place) < -DEEP)
        return true;
    if (s->push[0])
        return false;
    /* Of walls of 2 to 3 cells corners on both sides miss the middle: some cells beside them would be at a
     * thin wall and others not. */
    const und_vec3 probed = und_solids_place(m, place[0] - 0.5, place[1] - 0.5, place[2] - 0.5);
    return und_solids_nearest(&(und_solids_around){s, cell}, probed) < -DEEP * m->d[0];
}

bool und_solids_is_thin(const und_solids *s, const int cell[3])
{
    return !is_deep(s, cell, PROBE, 0.7);
}

/* At the edge of a thick solid, over which sheets run: all of it is one side.  By default cells that have
 * their middle in it are shut: in one whose corner is cut off a jet would follow the edge round. */
static bool is_edge(const und_solids *s, const int cell[3])
{
    const size_t at = und_mac_at(&s->mac, cell[0], cell[1], cell[2]);
    return s->separate && s->separate[s->owner[at]] == UND_SEPARATE_ALWAYS &&
           (is_deep(s, cell, EDGE, 0.5) || is_deep(s, cell, CORNER, 0.5));
}

double und_solids_nearest(const void *context, und_vec3 p)
{
    const und_solids_around *here = context;
    const und_solids *s = here->solids;
    double least = INFINITY;
    for (int i = 0; i < s->count; i++)
        if (und_cell_box_has(&s->parts->state[i].near, here->cell))
            least = und_smaller(und_solids_distance_of(s, i, p), least);
    return least;
}

und_vec3 und_solids_normal(und_solids_distance_fn *distance, const void *context, und_vec3 p, double small,
                           bool flat)
{
    static const und_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double g[3] = {0};
    for (int a = 0; a < (flat ? 2 : 3); a++)
        g[a] = distance(context, und_add(p, und_mul(unit[a], small))) -
               distance(context, und_add(p, und_mul(unit[a], -small)));
    return und_mul(und_vec(g[0], g[1], g[2]), 0.5 / small);
}

bool und_solids_way_out(und_solids_distance_fn *distance, const void *context, const und_mac *m, und_vec3 *p)
{
    const bool flat = m->n[2] == 1;
    const double cell = m->d[0];
    double d = distance(context, *p);
    for (int attempt = 0; attempt < 3 && !(d >= CLEAR * cell); attempt++) {
        und_vec3 g = und_solids_normal(distance, context, *p, SMALL * cell, flat);
        if (und_length(g) < 0.5) { /* in the middle of a wall: to one of its sides */
            *p = und_add(*p, und_mul(und_vec(3, 5, flat ? 0 : 7), NUDGE * cell));
            g = und_solids_normal(distance, context, *p, SMALL * cell, flat);
            d = distance(context, *p);
        }
        *p = und_add(*p, und_mul(und_unit(g), 2 * CLEAR * cell - d));
        d = distance(context, *p);
    }
    return d > 0;
}

/* The place that a cell stands for; false where none was found. */
static bool place_of(const und_solids *s, const int cell[3], und_vec3 *place)
{
    const und_solids_around here = {s, cell};
    *place = und_solids_place(&s->mac, cell[0], cell[1], cell[2]);
    if ((double)s->distance[und_mac_at(&s->mac, cell[0], cell[1], cell[2])] > 2 * CLEAR)
        return true;
    return und_solids_way_out(und_solids_nearest, &here, &s->mac, place);
}

typedef struct one_solid {
    const und_solids *solids;
    int solid;
} one_solid;

static double own_distance(const void *context, und_vec3 p)
{
    const one_solid *one = context;
    return und_solids_distance_of(one->solids, one->solid, p);
}

/* Whether one of several solids beside a cell is a thin wall, which the others hide: a gate in a thick floor.
 */
static bool meets_thin(const und_solids *s, const int cell[3])
{
    const und_mac *m = &s->mac;
    const und_vec3 centre = und_solids_place(m, cell[0], cell[1], cell[2]);
    int near = 0;
    for (int i = 0; i < s->count; i++)
        near += und_cell_box_has(&s->parts->state[i].near, cell);
    for (int i = 0; i < s->count && near > 1; i++) {
        const one_solid one = {s, i};
        if (!und_cell_box_has(&s->parts->state[i].near, cell))
            continue;
        const double distance = own_distance(&one, centre);
        if (!(fabs(distance) < REACHES * m->d[0]))
            continue;
        const und_vec3 g = und_solids_normal(own_distance, &one, centre, SMALL * m->d[0], m->n[2] == 1);
        const und_vec3 probe = und_sub(centre, und_mul(und_unit(g), distance + PROBE * m->d[0]));
        if (!(und_length(g) > 0.7) || own_distance(&one, probe) > -DEEP * m->d[0])
            return true;
    }
    return false;
}

/* What the one presses is to get out through it, and corners of cells, which know the nearest solid alone,
 * show it neither as open nor as between thick ones. */
bool und_solids_in_gap(const und_solids *s, const int cell[3])
{
    const und_solids_parts *p = s->parts;
    int near = 0;
    bool moves = false;
    if (!(s->distance[und_mac_at(&s->mac, cell[0], cell[1], cell[2])] > UND_SOLIDS_DEEP))
        return false;
    for (int k = 0; k < s->count && !(moves && near > 1); k++)
        if (und_cell_box_has(&p->state[k].near, cell)) {
            near++;
            moves = moves || p->ever_moves[k];
        }
    return moves && near > 1;
}

static uint8_t thin_at(und_solids *s, const int cell[3])
{
    und_solids_parts *p = s->parts;
    size_t at = und_mac_at(&s->mac, cell[0], cell[1], cell[2]);
    double distance = (double)s->distance[at], scale = 1 / s->mac.d[0];
    und_vec3 place;
    if (p->passed[at])
        return UND_THIN_SHUT;
    if (!(fabs(distance) < REACHES) || is_edge(s, cell) ||
        ((!und_solids_is_thin(s, cell) || und_solids_in_gap(s, cell)) && !meets_thin(s, cell)))
        return UND_THIN_NOT;
    if (distance < 0 || !place_of(s, cell, &place))
        return UND_THIN_SHUT; /* a cell in the midst of a wall has liquid of two sides */
    und_vec3 way = und_sub(place, und_solids_place(&s->mac, cell[0], cell[1], cell[2]));
    p->way_out[at][0] = (float)(way.x * scale);
    p->way_out[at][1] = (float)(way.y * scale);
    p->way_out[at][2] = (float)(way.z * scale);
    return UND_THIN_WALL;
}

static inline void find_thin(const und_solids_job *j, und_place p)
{
    uint8_t *thin = j->s->parts->thin + p.at;
    for (int x = j->box->low[0]; x < j->box->high[0]; x++)
        thin[x] = thin_at(j->s, (const int[3]){x, p.y, p.z});
}
UND_KERNEL(find_thin, und_solids_job, UND_EACH_ROW)

void und_solids_find_thin(und_solids *s, const und_cell_box *b)
{
    const und_set rows = und_cell_box_rows(&s->mac, b);
    if (und_cell_box_empty(b))
        return;
    und_pass(&s->device, find_thin, &((und_solids_job){.s = s, .box = b}), &rows);
    und_solids_mark_sides(s, b);
}

/* The place as found before, or where the cell is at no thin wall but its neighbour is, now. */
static bool known_place(const und_solids *s, const int cell[3], und_vec3 *place)
{
    size_t at = und_mac_at(&s->mac, cell[0], cell[1], cell[2]);
    const float *way = s->parts->way_out[at];
    if (s->parts->thin[at] == UND_THIN_SHUT)
        return false;
    if (s->parts->thin[at] == UND_THIN_NOT)
        return place_of(s, cell, place);
    und_vec3 centre = und_solids_place(&s->mac, cell[0], cell[1], cell[2]);
    und_vec3 by = und_vec((double)way[0], (double)way[1], (double)way[2]);
    *place = und_add(centre, und_mul(by, s->mac.d[0]));
    return true;
}

static bool solid_between(const und_solids *s, int solid, und_vec3 a, und_vec3 b)
{
    const und_obstacle_def *def = &s->parts->defs[solid];
    const und_pose *pose = &s->parts->state[solid].to;
    und_vec3 from = und_pose_local(pose, a), to = und_pose_local(pose, b);
    double first, inside = und_shape_line(s->parts->defs[solid].shape, from, und_sub(to, from), 0, 1, &first);
    return def->inside_out ? inside < 1 - 1e-9 : inside > 1e-9;
}

static int first_between(const und_solids *s, const int cell[3], und_vec3 a, und_vec3 b)
{
    for (int i = 0; i < s->count; i++) {
        const und_cell_box *near = &s->parts->state[i].near;
        if (s->parts->defs[i].shape && und_cell_box_has(near, cell) && solid_between(s, i, a, b))
            return i;
    }
    return -1;
}

/* Which solid a face near some has its velocity from: that which passed a cell beside it, or the nearer. */
int und_solids_mover(const und_solids *s, size_t at, size_t next)
{
    const uint8_t *passed = s->parts->passed;
    if (passed[at] | passed[next])
        return (passed[at] ? passed[at] : passed[next]) - 1;
    return und_solids_face_owner(s, at, next);
}

int und_solids_between(const und_solids *s, const int cell[3], int axis)
{
    int next[3] = {cell[0], cell[1], cell[2]};
    und_vec3 a, b;
    next[axis]++;
    size_t at = und_mac_at(&s->mac, cell[0], cell[1], cell[2]), beside = at + (size_t)s->mac.step[axis];
    bool shut = s->parts->thin[at] == UND_THIN_SHUT || s->parts->thin[beside] == UND_THIN_SHUT;
    if (!shut && (double)s->distance[at] > 0 && (double)s->distance[beside] > 0 &&
        (double)(s->distance[at] + s->distance[beside]) > APART)
        return -1;
    if (!known_place(s, cell, &a) || !known_place(s, next, &b))
        return und_solids_mover(s, at, beside);
    return first_between(s, cell, a, b);
}

bool und_solids_side_of(const und_solids *s, const int cell[3], const int other[3])
{
    und_vec3 a, b;
    return place_of(s, cell, &a) && known_place(s, other, &b) && first_between(s, cell, a, b) < 0;
}

bool und_solids_sees(const und_solids *s, const int cell[3], und_vec3 place)
{
    und_vec3 a;
    return known_place(s, cell, &a) && first_between(s, cell, a, place) < 0;
}
