/* Cells that a solid passes within an interval: their liquid was before it, and is behind it unless it moves
 * along.  Seen from the solid a cell's centre goes a way that bends little; it has been passed where that way
 * leads into the solid on one of its sides and out of it on another. */
#include "flow/solids_parts.h"

#include <string.h>

enum { PIECES = 64, LOOKS = 8 };
static const double DEEPEST = 0.9; /* cells: what is deeper in a solid has no open face */
static const double FAR = 1.5;     /* cells */
static const double SMALL = 1e-5;  /* cells: to take differences over */
static const double STRIDE = 0.5;  /* cells that a piece of the way is long */
static const double ALIGNED =
    0.5; /* the cosine between normals: above, a way in and one out are on one side */

/* The solid's poses on its way, and what else the search needs. */
typedef struct way {
    const und_obstacle_def *def;
    const und_mac *mac;
    int pieces;
    const und_pose *pose; /* pieces + 1 */
} way;

/* The distance of the solid in one of its poses. */
typedef struct posed {
    const und_obstacle_def *def;
    const und_pose *pose;
} posed;

static double posed_distance(const void *context, und_vec3 p)
{
    const posed *at = context;
    double d = und_shape_distance(at->def->shape, und_pose_local(at->pose, p));
    return at->def->inside_out ? -d : d;
}

/* How much of a stretch of the line from + t along is solid. */
static double solid_within(const way *w, und_vec3 from, und_vec3 along, double low, double high)
{
    double first, inside = und_shape_line(w->def->shape, from, along, low, high, &first);
    return w->def->inside_out ? high - low - inside : inside;
}

/* The first t from 0 to 1 where the line is in the solid; above 1 where it is not. */
static double first_solid(const way *w, und_vec3 from, und_vec3 to)
{
    und_vec3 along = und_sub(to, from);
    double first, low = 0, high = 1;
    if (!w->def->inside_out)
        return und_shape_line(w->def->shape, from, along, 0, 1, &first) > 1e-9 ? first : 2;
    if (!(solid_within(w, from, along, 0, 1) > 1e-9))
        return 2;
    while (high - low > 1e-6) {
        double middle = 0.5 * (low + high);
        if (solid_within(w, from, along, 0, middle) > 1e-9)
            high = middle;
        else
            low = middle;
    }
    return high;
}

static und_vec3 on_line(und_vec3 from, und_vec3 to, double t)
{
    return und_add(from, und_mul(und_sub(to, from), t));
}

/* A point as it is seen from the solid at its k-th pose; out of the solid where it is in it. */
static bool seen_outside(const way *w, int k, und_vec3 p, und_vec3 *local)
{
    const posed solid = {w->def, &w->pose[k]};
    bool out = und_solids_way_out(posed_distance, &solid, w->mac, &p);
    *local = und_pose_local(&w->pose[k], p);
    return out;
}

static und_vec3 normal_at(const way *w, und_vec3 local)
{
    const und_pose rest = und_motion_at(NULL, 0);
    const posed solid = {w->def, &rest};
    return und_unit(und_solids_normal(posed_distance, &solid, local, SMALL * w->mac->d[0], false));
}

/* What has been met on the way. */
typedef struct meeting {
    und_vec3 in, out; /* the first way in, the last out */
    bool met;
} meeting;

static void go_on(const way *w, meeting *m, und_vec3 from, und_vec3 to)
{
    double entry = first_solid(w, from, to);
    if (!(entry <= 1))
        return;
    m->in = m->met ? m->in : on_line(from, to, entry);
    m->out = on_line(to, from, first_solid(w, to, from));
    m->met = true;
}

/* Whether the solid passes a point.  One that it covers in the end, or did in the beginning, is taken to be
 * at the nearest place out of it, as its cell stands for that. */
static bool passes(const way *w, und_vec3 p)
{
    und_vec3 at, end;
    meeting m = {0};
    if (!seen_outside(w, 0, p, &at) || !seen_outside(w, w->pieces, p, &end))
        return true;
    for (int k = 1; k <= w->pieces; k++) {
        und_vec3 next = und_pose_local(&w->pose[k], p);
        go_on(w, &m, at, next);
        at = next;
    }
    go_on(w, &m, at, end);
    return m.met && und_dot(normal_at(w, m.in), normal_at(w, m.out)) < ALIGNED;
}

/* How far the points of a solid go that end up in the box: it is furthest at a corner; in cells. */
static double longest_way(const und_solids *s, int solid, const und_cell_box *b)
{
    const und_solid_state *state = &s->parts->state[solid];
    const und_motion *motion = s->parts->defs[solid].motion;
    double most = 0;
    for (int corner = 0; corner < 8; corner++) {
        und_vec3 p =
            und_solids_place(&s->mac, corner & 1 ? b->high[0] : b->low[0],
                             corner & 2 ? b->high[1] : b->low[1], corner & 4 ? b->high[2] : b->low[2]);
        und_vec3 own = und_pose_local(&state->to, p), last = und_pose_point(&state->from, own);
        double length = 0;
        for (int k = 1; k <= LOOKS; k++) {
            und_pose pose = und_motion_at(motion, state->time + state->dt * k / LOOKS);
            und_vec3 next = und_pose_point(&pose, own);
            length += und_length(und_sub(next, last));
            last = next;
        }
        most = und_larger(length, most);
    }
    return most / s->mac.d[0];
}

/* A look at the distances that spares most cells the search: what is thick passes nothing unless it goes
 * further than it is thick. */
static bool may_pass(const und_solids *s, const int cell[3], double distance, double reach)
{
    if (!(distance > -DEEPEST) || (distance > reach && reach < UND_SOLIDS_REACH))
        return false;
    return (distance > 0 && reach > FAR) || und_solids_is_thin(s, cell);
}

/* A deforming mesh is taken to move as its nearest part does, from one end of the interval to the other. */
static bool passes_cell(const und_solids *s, int solid, const way *w, const int cell[3])
{
    const und_solid_state *state = &s->parts->state[solid];
    und_vec3 p = und_solids_place(&s->mac, cell[0], cell[1], cell[2]);
    if (!w->def->sequence)
        return passes(w, p);
    und_vec3 drift = und_solids_drift(s, solid, und_mac_at(&s->mac, cell[0], cell[1], cell[2]));
    und_pose pose[2] = {state->from, state->to};
    pose[0].position = und_sub(pose[0].position, und_mul(drift, state->dt));
    return passes(&(way){w->def, w->mac, 1, pose}, p);
}

typedef struct marking {
    const und_solids *s;
    const und_cell_box *box;
    const way *way;
    double reach;
    int solid;
} marking;

static inline void mark_row(const marking *k, und_place p)
{
    const und_solids *s = k->s;
    uint8_t *passed = s->parts->passed + p.at;
    const float *distance = s->distance + p.at;
    const uint8_t mark = (uint8_t)(k->solid + 1);
    for (int x = k->box->low[0]; x < k->box->high[0]; x++) {
        const int cell[3] = {x, p.y, p.z};
        const bool known = passed[x] && passed[x] <= mark;
        if (!known && may_pass(s, cell, (double)distance[x], k->reach) &&
            passes_cell(s, k->solid, k->way, cell))
            passed[x] = mark;
    }
}
UND_KERNEL(mark_row, marking, UND_EACH_ROW)

void und_solids_mark_passed(und_solids *s, int solid, const und_cell_box *b)
{
    const und_solid_state *state = &s->parts->state[solid];
    const und_obstacle_def *def = &s->parts->defs[solid];
    const bool jumped = !def->sequence && !memcmp(&state->from, &state->to, sizeof state->from);
    if (und_cell_box_empty(b) || !(state->dt > 0) || !def->shape || jumped)
        return;
    und_pose pose[PIECES + 1];
    double reach = longest_way(s, solid, &state->near);
    int pieces = (int)ceil(und_smaller(reach / STRIDE, PIECES));
    const way w = {def, &s->mac, pieces < 1 ? 1 : pieces, pose};
    for (int k = 0; k < w.pieces; k++)
        pose[k] = und_motion_at(def->motion, state->time + state->dt * k / w.pieces);
    pose[w.pieces] = state->to;
    if (def->sequence)
        reach += und_sequence_speed(def->sequence, state->time + state->dt) * state->dt / s->mac.d[0];
    const marking all = {s, b, &w, reach, solid};
    const und_set rows = und_cell_box_rows(&s->mac, b);
    und_pass(&s->device, mark_row, &all, &rows);
}
