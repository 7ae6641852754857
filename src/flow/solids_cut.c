/* How much of faces and cells the solids leave open, from their distance at the corners of cells. */
#include "flow/solids_parts.h"

#include <string.h>

static const float LEAST = 1e-3f; /* of a face: less is closed */
/* Cells: a corner nearer to a wall is in it.  Faces that lie in a wall are closed, and cells have their room
 * up to it, whichever way their corners were rounded. */
static const float ON_WALL = 1e-4f;
static const float NEAR = 2; /* cells: faces nearer than that have the solid's velocity */

/* The part of a triangle where what is linear between its corners is above 0. */
static float triangle_part(float a, float b, float c)
{
    bool pa = a > 0, pb = b > 0, pc = c > 0;
    int above = pa + pb + pc;
    if (above == 0 || above == 3)
        return above ? 1 : 0;
    bool one = above == 1; /* corner a is made the one that differs from the two others */
    float t = a;
    if (pb == one && pa != one) {
        a = b;
        b = t;
    } else if (pc == one && pa != one) {
        a = c;
        c = t;
    }
    float part = a / (a - b) * (a / (a - c));
    return one ? part : 1 - part;
}

/* The same of a square, corners in order around it: exact for a straight edge of a solid, and saddles are
 * decided by their middle. */
static float square_part(float a, float b, float c, float d)
{
    float middle = 0.25f * (a + b + c + d);
    return 0.25f * (triangle_part(a, b, middle) + triangle_part(b, c, middle) + triangle_part(c, d, middle) +
                    triangle_part(d, a, middle));
}

static float face_part(const float *node, ptrdiff_t b, ptrdiff_t c)
{
    return square_part(node[0], node[-b], node[-b - c], node[-c]);
}

/* The part of a cell: pyramids from its centre over its faces' open parts, and over the solid's surface in
 * it, whose area is what opposite faces differ by.  Exact for a plane. */
static float cell_part(const float *node, const und_mac *m)
{
    static const ptrdiff_t step[3] = {1, 2, 4};
    float corner[8], pyramids = 0, square = 0, sum = 0;
    for (int k = 0; k < 8; k++) {
        const float d = node[-(k & 1 ? 0 : m->step[0]) - (k & 2 ? 0 : m->step[1]) - (k & 4 ? 0 : m->step[2])];
        corner[k] = d > -ON_WALL && d < ON_WALL ? 1e-20f : d; /* open by next to nothing */
        sum += corner[k];
    }
    for (int a = 0; a < 3; a++) {
        ptrdiff_t b = step[(a + 1) % 3], c = step[(a + 2) % 3];
        float high = face_part(corner + 7, b, c), low = face_part(corner + 7 - step[a], b, c);
        pyramids += high + low;
        square += (high - low) * (high - low);
    }
    float part = pyramids / 6 + sqrtf(square) * sum / 24;
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

static float low4(float a, float b, float c, float d)
{
    float l = a < b ? a : b, h = c < d ? c : d;
    return l < h ? l : h;
}
static float high4(float a, float b, float c, float d)
{
    float l = a > b ? a : b, h = c > d ? c : d;
    return l > h ? l : h;
}

/* Marks what is cut with -1. */
static void sort_faces(const float *restrict node, ptrdiff_t b, ptrdiff_t c, int from, int to,
                       float *restrict open)
{
    for (int x = from; x < to; x++) {
        float p = node[x], q = node[x - b], r = node[x - c], t = node[x - b - c];
        float cut = high4(p, q, r, t) > ON_WALL ? -1.0f : 0.0f;
        open[x] = low4(p, q, r, t) > ON_WALL ? 1.0f : cut;
    }
}

/* What solids leave open of a face, by the corners of cells. */
static float open_part(const und_solids *s, const float *node, int axis, size_t at)
{
    const float *n = node + at;
    const ptrdiff_t b = s->mac.step[(axis + 1) % 3], c = s->mac.step[(axis + 2) % 3];
    const float open = high4(n[0], n[-b], n[-c], n[-b - c]) > ON_WALL ? face_part(n, b, c) : 0;
    return open < LEAST ? 0 : open;
}

static float more(float a, float b)
{
    return a > b ? a : b;
}

/* The same by places all over the face; axis 3: of the cell. */
static float sampled_part(const und_solids *s, const int cell[3], int axis)
{
    const und_mac *m = &s->mac;
    const und_solids_around here = {s, cell};
    const int across = m->n[2] > 1 ? 4 : 8;
    const int count[3] = {axis == 0 ? 1 : across, axis == 1 ? 1 : across,
                          axis == 2 || m->n[2] == 1 ? 1 : across};
    float sum = 0;
    for (int k = 0; k < count[0] * count[1] * count[2]; k++) {
        const int of[3] = {k % count[0], k / count[0] % count[1], k / count[0] / count[1]};
        double at[3];
        for (int a = 0; a < 3; a++)
            at[a] = cell[a] + (a == axis ? 0.5 : (of[a] + 0.5) / count[a] - 0.5);
        const und_vec3 place = und_solids_place(m, at[0], at[1], at[2]);
        const float d = (float)(und_solids_nearest(&here, place) / m->d[0]), part = 0.5f + d * (float)across;
        sum += !(d > ON_WALL) ? 0 : part < 1 ? part : 1;
    }
    return sum / (float)(count[0] * count[1] * count[2]);
}

/* At an edge corners of cells know the side that they are nearer to, and not how much of a face the solid
 * shuts: a slot of 6 cells would be up to one too wide.  So at the edges of solids that let go, by which jets
 * draw together, places on the face tell, as long as the solid rests and is known by its shape. */
static float part_at_edge(const und_solids *s, const int cell[3], int axis, size_t at, float open)
{
    const float edge = 0.15f; /* that corners leave open too much */
    const size_t next = at + (size_t)s->mac.step[axis];
    const int owner = und_solids_face_owner(s, at, next);
    if ((s->distance[at] < 0 && s->distance[next] < 0) || !und_solids_lets_go(s, owner) ||
        s->parts->ever_moves[owner] || !s->parts->defs[owner].shape || und_solids_on_lattice(s, owner))
        return open;
    const float sampled = sampled_part(s, cell, axis);
    return sampled < open - edge ? sampled : open;
}

/* Of a face: less is shut.  Cells that are open by no more hold nothing, where a surface meets them what
 * flows through them grew, and what a solid presses out through them would be fifty times as fast as it. */
static const float SLIVER = 0.02f;
static const float GAP = 0.1f; /* corners that show less may know nothing of a gap, */
static const double BETWEEN =
    1.5; /* cells: nor how wide it is, each knowing but the nearer of two solids so near */

/* Whether what corners of cells show open of a face or a cell may be less than there is. */
static bool is_gap(const und_solids *s, const int cell[3], float open)
{
    if (!und_solids_in_gap(s, cell))
        return false;
    if (open < GAP)
        return true;
    const und_vec3 place = und_solids_place(&s->mac, cell[0], cell[1], cell[2]);
    int near = 0;
    for (int k = 0; k < s->count; k++)
        near += und_cell_box_has(&s->parts->state[k].near, cell) &&
                und_solids_distance_of(s, k, place) < BETWEEN * s->mac.d[0];
    return near > 1;
}

static void cut_faces(const und_solids *s, int axis, int y, int z, int from, int to)
{
    const und_mac *m = &s->mac;
    const size_t row = und_mac_at(m, 0, y, z);
    const ptrdiff_t b = m->step[(axis + 1) % 3], c = m->step[(axis + 2) % 3];
    const float *node = s->parts->node + row;
    const uint8_t *thin = s->parts->thin + row, *next = thin + m->step[axis];
    float *open = s->open[axis] + row;
    sort_faces(node, b, c, from, to, open);
    for (int x = from; x < to; x++) {
        const size_t at = row + (size_t)x;
        if (open[x] < 0)
            open[x] =
                part_at_edge(s, (const int[3]){x, y, z}, axis, at, open_part(s, s->parts->node, axis, at));
        const int cell[3] = {x, y, z};
        if (open[x] < 1 && is_gap(s, cell, open[x]))
            open[x] = more(open[x], sampled_part(s, cell, axis));
        if (open[x] < SLIVER)
            open[x] = 0;
        if (open[x] > 0 && (thin[x] | next[x]) && und_solids_between(s, (const int[3]){x, y, z}, axis) >= 0)
            open[x] = 0;
    }
}

/* And the domain's sides. */
static void close_sides(const und_solids *s, int axis, int y, int z, int from, int to)
{
    const und_mac *m = &s->mac;
    float *open = s->open[axis] + und_mac_at(m, 0, y, z);
    if (axis != 0) {
        float side = und_solids_side(s, axis, axis == 1 ? y : z);
        for (int x = from; x < to && side < 1; x++)
            open[x] *= side;
        return;
    }
    for (int x = from; x<to; x += m->n[0] - 1 - x> 0 ? m->n[0] - 1 - x : 1)
        open[x] *= und_solids_side(s, 0, x);
}

static void cut_cells(const und_solids *s, int y, int z, int from, int to)
{
    const und_mac *m = &s->mac;
    const size_t row = und_mac_at(m, 0, y, z);
    const float *node = s->parts->node + row;
    float *room = s->room + row;
    for (int x = from; x < to; x++) {
        const float *n = node + x, *f = n - m->step[2];
        ptrdiff_t b = m->step[1];
        float low = low4(n[0], n[-1], n[-b], n[-1 - b]), low2 = low4(f[0], f[-1], f[-b], f[-1 - b]);
        float high = high4(n[0], n[-1], n[-b], n[-1 - b]), high2 = high4(f[0], f[-1], f[-b], f[-1 - b]);
        float cut = high > 0 || high2 > 0 ? -1.0f : 0.0f;
        room[x] = low > 0 && low2 > 0 ? 1.0f : cut;
    }
    for (int x = from; x < to; x++) {
        const int cell[3] = {x, y, z};
        if (room[x] < 0)
            room[x] = cell_part(node + x, m);
        if (room[x] < 1 && is_gap(s, cell, room[x]))
            room[x] = more(room[x], sampled_part(s, cell, 3));
    }
}

/* A component of a solid's velocity along a row is linear. */
typedef struct velocity_line {
    int solid;
    double start, step; /* m/s, at the face of the whole grid's cell 0 and from one to the next */
} velocity_line;

static velocity_line line_of(const und_solids *s, int solid, int axis, int y, int z)
{
    const double half[3] = {axis == 0 ? 0.5 : 0, axis == 1 ? 0.5 : 0, axis == 2 ? 0.5 : 0};
    velocity_line line = {.solid = solid};
    if (!s->parts->ever_moves[solid])
        return line;
    und_vec3 v = und_solids_velocity_of(
        s, solid, und_solids_place(&s->mac, half[0] - s->mac.low[0], y + half[1], z + half[2]));
    und_vec3 on = und_mul(s->parts->state[solid].turn[0], s->mac.d[0]);
    line.start = axis == 0 ? v.x : axis == 1 ? v.y : v.z;
    line.step = axis == 0 ? on.x : axis == 1 ? on.y : on.z;
    return line;
}

/* What a deforming mesh adds at the face between two cells: the mean of those that it owns. */
static double drift(const und_solids *s, int solid, int axis, size_t a, size_t b)
{
    if (!s->parts->defs[solid].sequence)
        return 0;
    double sum = 0;
    int count = 0;
    for (int k = 0; k < 2; k++) {
        size_t at = k ? b : a;
        und_vec3 v = und_solids_drift(s, solid, at);
        sum += axis == 0 ? v.x : axis == 1 ? v.y : v.z;
        count += s->owner[at] == solid && s->distance[at] < UND_SOLIDS_REACH;
    }
    return count ? sum / count : 0;
}

/* Which of the solids that move shuts a face: the only one that is near, or of several that which is furthest
 * over the corner where solids are deepest; -1: none. */
static int pusher(const und_solids *s, const int cell[3], int axis, int owner)
{
    const und_mac *m = &s->mac;
    const und_solids_parts *p = s->parts;
    const int b = (axis + 1) % 3, c = (axis + 2) % 3;
    int near = 0, only = -1, found = p->ever_moves[owner] ? owner : -1, deepest[3] = {0};
    for (int k = 0; k < s->count; k++)
        if (p->ever_moves[k] && und_cell_box_has(&p->state[k].near, cell)) {
            near++;
            only = k;
        }
    if (near <= 1)
        return near ? only : found;
    float least = INFINITY;
    for (int k = 0; k < 4; k++) {
        int corner[3] = {cell[0], cell[1], cell[2]};
        corner[b] -= k & 1;
        corner[c] -= k >> 1;
        float d = p->node[und_mac_at(m, corner[0], corner[1], corner[2])];
        if (d < least) {
            least = d;
            memcpy(deepest, corner, sizeof deepest);
        }
    }
    und_vec3 place = und_solids_place(m, deepest[0] + 0.5, deepest[1] + 0.5, deepest[2] + 0.5);
    double nearest = INFINITY;
    for (int k = 0; k < s->count; k++)
        if (p->ever_moves[k] && und_cell_box_has(&p->state[k].near, cell)) {
            double d = und_solids_distance_of(s, k, place);
            found = d < nearest ? k : found;
            nearest = und_smaller(d, nearest);
        }
    return found;
}

/* The velocity of a solid at faces of a row: of the one that was asked for last, at first. */
typedef struct face_row {
    const und_solids *solids;
    int axis, y, z;
    velocity_line line;
} face_row;

static float speed_of(face_row *r, int solid, int x)
{
    const und_mac *m = &r->solids->mac;
    size_t at = und_mac_at(m, x, r->y, r->z);
    if (solid < 0)
        return 0;
    if (solid != r->line.solid)
        r->line = line_of(r->solids, solid, r->axis, r->y, r->z);
    return (float)(r->line.start + (x + m->low[0]) * r->line.step +
                   drift(r->solids, solid, r->axis, at, at + (size_t)m->step[r->axis]));
}

/* Of a face: the solids' velocity, and what those that move bring through it.  Of what they shut, some may be
 * shut already by those at rest; and what corners show as open may be so by a thin wall. */
static void set_face(face_row *r, int x, float open, float *u, float *push)
{
    const und_solids *s = r->solids;
    const int cell[3] = {x, r->y, r->z}, axis = r->axis;
    const size_t at = und_mac_at(&s->mac, x, r->y, r->z), next = at + (size_t)s->mac.step[axis];
    const float *rest = s->parts->rest[1];
    const int solid = und_solids_mover(s, at, next);
    const float still = rest ? open_part(s, rest, axis, at) : 1,
                corners = open_part(s, s->parts->node, axis, at), shown = more(corners, open);
    const bool side = und_solids_side(s, axis, cell[axis]) < 1;
    *u = still > 0 && !(side && shown > 0) ? speed_of(r, solid, x) : 0;
    if (!(s->distance[at] > UND_SOLIDS_DEEP) && !(s->distance[next] > UND_SOLIDS_DEEP))
        return; /* no cell that has room is beside it */
    if (shown > open && !side)
        *push += (shown - open) * speed_of(r, und_solids_between(s, cell, axis), x);
    if (still > shown)
        *push += (still - shown) * speed_of(r, pusher(s, cell, axis, solid), x);
}

static void set_velocities(const und_solids *s, int axis, int y, int z, int from, int to)
{
    const size_t row = und_mac_at(&s->mac, 0, y, z), next = row + (size_t)s->mac.step[axis];
    const uint8_t *passed = s->parts->passed;
    const float *open = s->open[axis] + row;
    float *u = s->u[axis] + row, *push = s->push[axis] + row;
    face_row faces = {.solids = s, .axis = axis, .y = y, .z = z, .line.solid = -1};
    for (int x = from; x < to; x++) {
        size_t a = row + (size_t)x, b = next + (size_t)x;
        u[x] = push[x] = 0;
        if (s->distance[a] < NEAR || s->distance[b] < NEAR || (passed[a] | passed[b]))
            set_face(&faces, x, open[x], &u[x], &push[x]);
    }
}

/* Faces along an axis are there from the layer beside the domain on, and within it across. */
static void cut_row(und_solids *s, const und_cell_box *b, int y, int z)
{
    const int *n = s->mac.n;
    for (int a = 0; a < (n[2] > 1 ? 3 : 2); a++) {
        int least[3] = {a == 0 ? -1 : 0, a == 1 ? -1 : 0, a == 2 ? -1 : 0};
        int from = b->low[0] > least[0] ? b->low[0] : least[0], to = b->high[0] < n[0] ? b->high[0] : n[0];
        if (y < least[1] || z < least[2] || y >= n[1] || z >= n[2] || from >= to)
            continue;
        cut_faces(s, a, y, z, from, to);
        if (s->push[a])
            set_velocities(s, a, y, z, from, to);
        close_sides(s, a, y, z, from, to);
    }
    int from = b->low[0] > 0 ? b->low[0] : 0, to = b->high[0] < n[0] ? b->high[0] : n[0];
    if (y >= 0 && z >= 0 && y < n[1] && z < n[2])
        cut_cells(s, y, z, from, to);
}

static inline void cut(const und_solids_job *j, und_place p)
{
    cut_row(j->s, j->box, p.y, p.z);
}
UND_KERNEL(cut, und_solids_job, UND_EACH_ROW)

void und_solids_cut(und_solids *s, const und_cell_box *b)
{
    const und_set rows = und_cell_box_rows(&s->mac, b);
    und_pass(&s->device, cut, &((und_solids_job){.s = s, .box = b}), &rows);
}
