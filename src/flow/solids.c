#include "flow/solids_parts.h"

#include "base/status.h"
#include "grid/field.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { ROW = 256, MOST = 255, SPARE = 16, LOOKS = 8 };

/* Closed sides stop what comes to them; in two dimensions nothing goes along z. */
float und_solids_side(const und_solids *s, int axis, int x)
{
    if (axis == 2 && s->mac.n[2] == 1)
        return 0;
    if (x == -1)
        return s->parts->side_open[2 * axis];
    if (x == s->mac.n[axis] - 1)
        return s->parts->side_open[2 * axis + 1];
    return 1;
}

/* Beside the domain all is shut, where faces are not its sides. */
static inline void shut_row(const und_solids *s, und_place p)
{
    const und_span part = und_mac_span_beside(&s->mac, p.y, p.z);
    for (int a = 0; a < 3; a++)
        memset(s->open[a] + (ptrdiff_t)p.at + part.begin, 0,
               (size_t)(part.end - part.begin) * sizeof *s->open[a]);
}

static inline void open_row(const und_solids_job *j, und_place p)
{
    const und_solids *s = j->s;
    const int n = s->mac.n[0];
    if (s->mac.present)
        shut_row(s, p);
    for (int a = 0; a < 3; a++) {
        float *row = s->open[a] + p.at;
        if ((a != 1 && p.y < 0) || (a != 2 && p.z < 0) || p.y == s->mac.n[1] || p.z == s->mac.n[2])
            continue;
        const float part = a == 0 ? 1 : und_solids_side(s, a, a == 1 ? p.y : p.z);
        const und_span span = und_mac_span(&s->mac, p.y, p.z);
        for (int x = span.begin; x < span.end; x++)
            row[x] = part;
        if (a == 0 && und_mac_has(&s->mac, -1, p.y, p.z))
            row[-1] = und_solids_side(s, 0, -1);
        if (a == 0 && und_mac_has(&s->mac, n - 1, p.y, p.z))
            row[n - 1] = und_solids_side(s, 0, n - 1);
    }
}
UND_KERNEL(open_row, und_solids_job, UND_EACH_ROW)

static void open_all(und_solids *s)
{
    const int low[3] = {-1, -1, -1};
    const int beside = s->mac.present ? 1 : 0, /* of all rows they are shut already */
        high[3] = {s->mac.n[0], s->mac.n[1] + beside, s->mac.n[2] + beside};
    const und_set rows = und_set_box(&s->mac, low, high, 1);
    und_pass(&s->device, open_row, &(und_solids_job){.s = s}, &rows);
}

static und_cell_box whole(const und_mac *m)
{
    return (und_cell_box){{-1, -1, -1}, {m->n[0] + 1, m->n[1] + 1, m->n[2] + 1}};
}

static void fill_far(und_solids *s, float *distance, float *node, const und_cell_box *b)
{
    for (int z = b->low[2]; z < b->high[2]; z++)
        for (int y = b->low[1]; y < b->high[1]; y++) {
            size_t row = und_mac_at(&s->mac, 0, y, z);
            for (int x = b->low[0]; x < b->high[0]; x++)
                distance[row + (size_t)x] = node[row + (size_t)x] = UND_SOLIDS_REACH;
        }
}

/* The distances in a box go back to those of what never moves. */
static void restore(und_solids *s, const und_cell_box *b)
{
    und_solids_parts *p = s->parts;
    const size_t width = (size_t)(b->high[0] - b->low[0]);
    if (!p->rest[0])
        fill_far(s, s->distance, p->node, b);
    for (int z = b->low[2]; z < b->high[2]; z++)
        for (int y = b->low[1]; y < b->high[1]; y++) {
            size_t row = und_mac_at(&s->mac, b->low[0], y, z);
            memset(p->passed + row, 0, width);
            if (!p->rest[0])
                continue;
            memcpy(s->distance + row, p->rest[0] + row, width * sizeof *s->distance);
            memcpy(p->node + row, p->rest[1] + row, width * sizeof *p->node);
            memcpy(s->owner + row, p->rest_owner + row, width);
        }
}

static und_cell_box overlap(const und_cell_box *a, const und_cell_box *b)
{
    und_cell_box o;
    for (int k = 0; k < 3; k++) {
        o.low[k] = a->low[k] > b->low[k] ? a->low[k] : b->low[k];
        o.high[k] = a->high[k] < b->high[k] ? a->high[k] : b->high[k];
    }
    return o;
}

/* In cells. */
static double beyond_sides(const und_solids *s, int solid, und_vec3 p, double d)
{
    return und_solids_beyond_sides(s, solid, p, d * s->mac.d[0]) / s->mac.d[0];
}

/* Into a row of centres, or of corners (half a cell on; owner NULL): the nearer of what is there and this
 * solid. */
static void merge_row(und_solids *s, int solid, const und_cell_box *b, int y, int z, double on, float *field,
                      uint8_t *owner)
{
    const und_mac *m = &s->mac;
    const und_obstacle_def *def = &s->parts->defs[solid];
    const und_pose *pose = &s->parts->state[solid].to;
    const double scale = (def->inside_out ? -1 : 1) / m->d[0], reach = UND_SOLIDS_REACH;
    const int low = m->low[0]; /* rows begin with the whole grid's, so that all windows have the same bits */
    und_vec3 start = und_pose_local(pose, und_solids_place(m, on - low, y + on, z + on));
    und_vec3 next = und_pose_local(pose, und_solids_place(m, on - low + 1, y + on, z + on));
    und_vec3 step = und_sub(next, start);
    double distance[ROW];
    for (int x = b->low[0]; x < b->high[0]; x += ROW) {
        int count = b->high[0] - x < ROW ? b->high[0] - x : ROW;
        size_t at = und_mac_at(m, x, y, z);
        und_shape_distances(s->parts->defs[solid].shape, start, step, x + low, count, distance);
        for (int k = 0; k < count; k++) {
            double d = und_larger(und_smaller(distance[k] * scale, reach), -reach);
            d = beyond_sides(s, solid, und_solids_place(m, x + k + on, y + on, z + on), d);
            bool nearer = (float)d < field[at + (size_t)k];
            field[at + (size_t)k] = nearer ? (float)d : field[at + (size_t)k];
            if (owner && nearer)
                owner[at + (size_t)k] = (uint8_t)solid;
        }
    }
}

static inline void merge_rows(const und_solids_job *j, und_place p)
{
    merge_row(j->s, j->solid, j->box, p.y, p.z, 0, j->s->distance, j->s->owner);
    merge_row(j->s, j->solid, j->box, p.y, p.z, 0.5, j->s->parts->node, NULL);
}
UND_KERNEL(merge_rows, und_solids_job, UND_EACH_ROW)

static void merge(und_solids *s, int solid, const und_cell_box *b)
{
    const und_set rows = und_cell_box_rows(&s->mac, b);
    und_pass(&s->device, merge_rows, &((und_solids_job){s, b, solid}), &rows);
}

static bool overlaps_some(const und_cell_box *a, const und_cell_box *box, int count)
{
    for (int i = 0; i < count; i++) {
        und_cell_box both = overlap(a, &box[i]);
        if (!und_cell_box_empty(&both))
            return true;
    }
    return false;
}

/* Those that move, or those that never do, into the boxes. */
static void merge_all(und_solids *s, bool moving, const und_cell_box *box, int count)
{
    und_error err;
    for (int k = 0; k < s->count; k++) {
        const und_cell_box *near = &s->parts->state[k].near;
        bool rendered = und_solids_on_lattice(s, k);
        if (s->parts->ever_moves[k] != moving || !overlaps_some(near, box, count))
            continue;
        if (rendered && und_solids_render(s, k, &err) != UND_OK) {
            s->failed = true;
            continue;
        }
        for (int i = 0; i < count; i++) {
            const und_cell_box within = overlap(near, &box[i]);
            if (rendered)
                und_solids_merge_rendered(s, k, &within);
            else
                merge(s, k, &within);
        }
    }
}

double und_solids_distance_of(const und_solids *s, int solid, und_vec3 p)
{
    const und_obstacle_def *def = &s->parts->defs[solid];
    if (!s->parts->defs[solid].shape)
        return INFINITY;
    double d = und_shape_distance(s->parts->defs[solid].shape, und_pose_local(&s->parts->state[solid].to, p));
    return und_solids_beyond_sides(s, solid, p, def->inside_out ? -d : d);
}

static und_bounds own_bounds(const und_obstacle_def *def, double low_time, double high_time)
{
    if (def->inside_out) {
        double far = INFINITY;
        return (und_bounds){{-far, -far, -far}, {far, far, far}};
    }
    return def->sequence ? und_sequence_bounds(def->sequence, low_time, high_time)
                         : und_shape_bounds(def->shape);
}

static und_vec3 corner_of(const und_bounds *b, int corner)
{
    return und_vec(corner & 1 ? b->high.x : b->low.x, corner & 2 ? b->high.y : b->low.y,
                   corner & 4 ? b->high.z : b->low.z);
}

static bool finite_bounds(const und_bounds *b)
{
    return isfinite(b->low.x) && isfinite(b->low.y) && isfinite(b->low.z) && isfinite(b->high.x) &&
           isfinite(b->high.y) && isfinite(b->high.z);
}

static int clamp_cell(double x, int low, int high)
{
    return x > low ? (x < high ? (int)x : high) : low;
}

/* Cells within reach of the bounds at a pose. */
static und_cell_box near_box(const und_mac *m, const und_bounds *bounds, const und_pose *pose)
{
    if (!finite_bounds(bounds))
        return whole(m);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = 0; i < 8; i++) {
        und_vec3 c = und_pose_point(pose, corner_of(bounds, i));
        const double p[3] = {c.x, c.y, c.z};
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], und_mac_cells_along(m, a, p[a]));
            high[a] = fmax(high[a], und_mac_cells_along(m, a, p[a]));
        }
    }
    und_cell_box b;
    for (int a = 0; a < 3; a++) { /* a corner of a cell is half a cell on from its centre */
        b.low[a] = clamp_cell(floor(low[a]) - UND_SOLIDS_REACH - 1, -1, m->n[a] + 1);
        b.high[a] = clamp_cell(ceil(high[a]) + UND_SOLIDS_REACH + 1, -1, m->n[a] + 1);
    }
    return b;
}

static und_cell_box hull(const und_cell_box *a, const und_cell_box *b)
{
    und_cell_box h;
    for (int k = 0; k < 3; k++) {
        h.low[k] = a->low[k] < b->low[k] ? a->low[k] : b->low[k];
        h.high[k] = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
    }
    return h;
}

static und_vec3 turned(const und_quat *to, const und_quat *from, und_vec3 v)
{
    und_quat back = {to->w, -to->x, -to->y, -to->z};
    return und_quat_rotate(*from, und_quat_rotate(back, v));
}

/* What moves within the interval is as fast as its points move on the mean: then the liquid makes room for
 * just what the solid comes to fill.  Of a turn that is the mean of the ways to and from where they are: the
 * way to there alone has a part outwards, by which a container would grow. */
static void set_velocity(und_solid_state *state, const und_motion *motion, double time, double dt)
{
    static const und_vec3 unit[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    und_vec3 spin = {0};
    if (dt > 0) {
        state->velocity = und_mul(und_sub(state->to.position, state->from.position), 1 / dt);
        for (int a = 0; a < 3; a++)
            state->turn[a] = und_mul(und_sub(turned(&state->from.rotation, &state->to.rotation, unit[a]),
                                             turned(&state->to.rotation, &state->from.rotation, unit[a])),
                                     0.5 / dt);
        if (!memcmp(&state->to.rotation, &state->from.rotation, sizeof state->to.rotation))
            memset(state->turn, 0, sizeof state->turn);
        return;
    }
    state->velocity = und_motion_velocity(motion, time, &spin);
    for (int a = 0; a < 3; a++)
        state->turn[a] = und_cross(spin, unit[a]);
}

static bool jumps(const und_solids *s, int solid, double time, double dt)
{
    return s->jump > 0 && !s->parts->defs[solid].sequence && und_solids_way_of(s, solid, time, dt) > s->jump;
}

static void set_state(und_solids *s, int solid, double time, double dt)
{
    und_solid_state *state = &s->parts->state[solid];
    const und_obstacle_def *def = &s->parts->defs[solid];
    und_bounds bounds = own_bounds(def, time, time + dt);
    memset(state, 0, sizeof *state);
    state->from = und_motion_at(def->motion, time);
    state->to = dt > 0 ? und_motion_at(def->motion, time + dt) : state->from;
    set_velocity(state, def->motion, time, dt);
    state->near = near_box(&s->mac, &bounds, &state->to);
    if (def->sequence) {
        state->clock[0] = und_sequence_clock(def->sequence, time);
        state->clock[1] = und_sequence_clock(def->sequence, time + dt);
    }
    if (!memcmp(&state->from, &state->to, sizeof state->from) && state->clock[0] == state->clock[1])
        return;
    state->time = time;
    state->dt = dt;
    if (jumps(s, solid, time, dt)) {
        state->from = state->to;
        set_velocity(state, NULL, time, dt);
        return;
    }
    for (int k = 0; k < LOOKS; k++) {
        und_pose pose = und_motion_at(def->motion, time + dt * k / LOOKS);
        und_cell_box then = near_box(&s->mac, &bounds, &pose);
        state->near = hull(&state->near, &then);
    }
}

und_vec3 und_solids_velocity_of(const und_solids *s, int solid, und_vec3 p)
{
    const und_solid_state *state = &s->parts->state[solid];
    und_vec3 arm = und_sub(p, state->to.position), v = state->velocity;
    v = und_add(v, und_mul(state->turn[0], arm.x));
    v = und_add(v, und_mul(state->turn[1], arm.y));
    return und_add(v, und_mul(state->turn[2], arm.z));
}

static void mark_passed(und_solids *s, int solid, const und_cell_box *within)
{
    const und_cell_box b = overlap(&s->parts->state[solid].near, within);
    und_solids_mark_passed(s, solid, &b);
}

/* Distances of what moves, over those of what rests, in these boxes; then all that follows from them. */
static void redo(und_solids *s, const und_cell_box *box, int count)
{
    for (int i = 0; i < count; i++)
        restore(s, &box[i]);
    merge_all(s, true, box, count);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < s->count; k++)
            if (s->parts->ever_moves[k])
                mark_passed(s, k, &box[i]);
    for (int i = 0; i < count; i++)
        und_solids_find_thin(s, &box[i]);
    for (int i = 0; i < count; i++)
        und_solids_cut(s, &box[i]);
    for (int i = 0; i < count; i++)
        und_solids_split(s, &box[i]);
}

static double volume(const und_cell_box *b)
{
    double width = b->high[0] - b->low[0], height = b->high[1] - b->low[1], depth = b->high[2] - b->low[2];
    return und_cell_box_empty(b) ? 0 : width * height * depth;
}

/* Where a solid was and where it is: one box, or two where they are apart; how many. */
static int boxes_of(const und_cell_box *was, const und_cell_box *is, und_cell_box box[2])
{
    und_cell_box both = hull(was, is);
    bool one = volume(&both) <= volume(was) + volume(is);
    box[0] = one ? both : *was;
    box[1] = *is;
    return one ? 1 : 2;
}

bool und_solids_move(und_solids *s, double time, double dt)
{
    und_solids_parts *p = s->parts;
    und_error err;
    int count = 0;
    bool moves = false;
    for (int i = 0; i < s->count; i++) {
        und_solid_state old = p->state[i];
        if (!p->ever_moves[i])
            continue;
        set_state(s, i, time, dt);
        moves |= p->state[i].dt > 0;
        if (!memcmp(&old, &p->state[i], sizeof old))
            continue;
        if (p->defs[i].sequence && und_solids_deform(s, i, &err) != UND_OK)
            s->failed = true;
        count += boxes_of(&old.near, &p->state[i].near, &p->box[count]);
    }
    redo(s, p->box, count);
    return moves;
}

/* ---- Storage ---- */

enum { SOME = 1, MOVING = 2, MIXED = 4, MESHES = 8, DEFORMING = 16 };

/* Whoever has a part of the grid finds them beyond it too, by the solids' shapes. */
#define FIELD(member, ...) UND_FIELD(und_solids, member, UND_AT_CELLS, ##__VA_ARGS__)
#define FACES(member, a, ...) UND_FIELD(und_solids, member[a], UND_AT_FACES_X + a, ##__VA_ARGS__)
#define PART(member, ...) UND_FIELD(und_solids_parts, member, UND_AT_CELLS, ##__VA_ARGS__)

static const und_field fields[] = {
    FACES(open, 0, .outside = 1),
    FACES(open, 1, .outside = 1),
    FACES(open, 2, .outside = 1),
    FACES(u, 0),
    FACES(u, 1),
    FACES(u, 2),
    FACES(push, 0, .when = MOVING),
    FACES(push, 1, .when = MOVING),
    FACES(push, 2, .when = MOVING),
    FIELD(distance, .when = SOME, .outside = UND_SOLIDS_REACH),
    FIELD(room, .when = SOME, .outside = 1),
    FIELD(owner, .when = SOME),
    FIELD(plain_room, .when = SOME, .outside = 1),
    FIELD(beside_thin, .when = SOME, .sparse = true),
};
static const und_field part_fields[] = {
    UND_FIELD(und_solids_parts, node, UND_AT_NODES, .when = SOME, .outside = UND_SOLIDS_REACH),
    PART(thin, .when = SOME, .sparse = true),
    PART(passed, .when = SOME, .sparse = true),
    PART(split, .when = SOME, .sparse = true),
    PART(way_out, .when = SOME, .sparse = true),
    PART(rest[0], .when = MIXED, .outside = UND_SOLIDS_REACH),
    UND_FIELD(und_solids_parts, rest[1], UND_AT_NODES, .when = MIXED, .outside = UND_SOLIDS_REACH),
    PART(rest_owner, .when = MIXED),
    PART(lattice[0], .when = MESHES),
    UND_FIELD(und_solids_parts, lattice[1], UND_AT_NODES, .when = MESHES),
    PART(drift[0], .when = DEFORMING),
    PART(drift[1], .when = DEFORMING),
    PART(drift[2], .when = DEFORMING),
    PART(deform[0], .when = DEFORMING),
    PART(deform[1], .when = DEFORMING),
    PART(deform[2], .when = DEFORMING),
    UND_FIELD(und_solids_parts, row_total, UND_AT_ROWS, .when = SOME),
    UND_FIELD(und_solids_parts, thin_rows, UND_AT_ROWS_BESIDE, .when = SOME),
};
enum { FIELDS = sizeof fields / sizeof *fields, PART_FIELDS = sizeof part_fields / sizeof *part_fields };

static und_status open_fields(und_solids *s, und_error *err)
{
    const und_solids_parts *p = s->parts;
    const und_mac *m = &s->mac;
    unsigned asked = s->any ? SOME : 0;
    asked |= p->some_move ? MOVING : 0;
    asked |= p->some_move && p->some_rest ? MIXED : 0;
    for (int i = 0; i < s->count; i++) {
        asked |= und_solids_on_lattice(s, i) ? MESHES : 0;
        asked |= p->defs[i].sequence ? DEFORMING : 0;
    }
    const und_field_room room = {.mac = m, .spare = SPARE, .asked = asked};
    if (und_field_open_all(s, fields, FIELDS, &room, "solids", err) != UND_OK)
        return err->status;
    return und_field_open_all(s->parts, part_fields, PART_FIELDS, &room, "solids", err);
}

static und_status open_lists(und_solids *s, const und_obstacle_def *defs, und_error *err)
{
    und_solids_parts *p = s->parts;
    size_t count = (size_t)s->count;
    p->defs = und_alloc(count, sizeof *p->defs, "solids", err);
    p->state = und_alloc(count, sizeof *p->state, "solids", err);
    p->ever_moves = und_alloc(count, sizeof *p->ever_moves, "solids", err);
    p->deformed = und_alloc(count, sizeof *p->deformed, "solids", err);
    p->leaks = und_alloc(count, (size_t)s->mac.n[2] * sizeof *p->leaks, "solids", err);
    p->box = und_alloc(2 * count, sizeof *p->box, "solids", err);
    if (!p->defs || !p->state || !p->ever_moves || !p->deformed || !p->leaks || !p->box)
        return UND_FAILED;
    for (int i = 0; i < s->count; i++) {
        p->defs[i] = defs[i];
        p->defs[i].shape = defs[i].sequence ? NULL : defs[i].shape;
        p->ever_moves[i] = und_motion_moves(defs[i].motion) || defs[i].sequence;
        p->some_move |= p->ever_moves[i];
        p->some_rest |= !p->ever_moves[i];
    }
    return UND_OK;
}

/* A solid that moves carries liquid, and draws it along, unless it is to let go. */
static und_separate manner_of(const und_solids *s, const und_obstacle_def *def, int solid)
{
    return def->separate == UND_SEPARATE_AT_AIR && s->parts->ever_moves[solid] ? UND_SEPARATE_NEVER
                                                                               : def->separate;
}

/* What solids that rub or let go need. */
static und_status open_manners(und_solids *s, const und_obstacle_def *defs, und_error *err)
{
    bool rub = false, let_go = false;
    for (int i = 0; i < s->count; i++) {
        if (!(defs[i].friction >= 0 && defs[i].friction <= 1))
            return und_error_set(err, UND_INVALID, "obstacle %d: friction: expected 0 to 1, found %g", i + 1,
                                 defs[i].friction);
        rub |= defs[i].friction > 0;
        let_go |= manner_of(s, &defs[i], i) != UND_SEPARATE_NEVER;
    }
    if (rub && (!(s->friction = und_alloc((size_t)s->count, sizeof *s->friction, "solids", err)) ||
                !(s->gone = und_alloc((size_t)s->count, sizeof *s->gone, "solids", err))))
        return UND_FAILED;
    if (let_go && (!(s->separate = und_alloc((size_t)s->count, sizeof *s->separate, "solids", err)) ||
                   und_mask_open(&s->loose, &s->mac, "cells that solids let go", err) != UND_OK ||
                   und_mask_open(&s->apart, &s->mac, "cells that solids let go", err) != UND_OK))
        return UND_FAILED;
    for (int i = 0; i < s->count; i++) {
        if (rub)
            s->friction[i] = (float)defs[i].friction;
        if (let_go)
            s->separate[i] = (uint8_t)manner_of(s, &defs[i], i);
    }
    return UND_OK;
}

static und_status place_all(und_solids *s, double time, und_error *err)
{
    und_solids_parts *p = s->parts;
    const und_cell_box all = whole(&s->mac);
    for (int i = 0; i < s->count; i++) {
        set_state(s, i, time, 0);
        if (p->defs[i].sequence && und_solids_deform(s, i, err) != UND_OK)
            return UND_FAILED;
    }
    fill_far(s, s->distance, p->node, &all);
    merge_all(s, false, &all, 1);
    if (p->rest[0]) {
        memcpy(p->rest[0], s->distance, s->mac.count * sizeof *s->distance);
        memcpy(p->rest[1], p->node, s->mac.count * sizeof *p->node);
        memcpy(p->rest_owner, s->owner, s->mac.count);
    }
    merge_all(s, true, &all, 1);
    und_solids_find_thin(s, &all);
    und_solids_cut(s, &all);
    und_solids_split(s, &all);
    return s->failed ? und_error_set(err, UND_FAILED, "out of memory: a mesh as a solid") : UND_OK;
}

static und_status open_solids(und_solids *s, const und_obstacle_def *defs, double time, und_error *err)
{
    if (s->count > MOST)
        return und_error_set(err, UND_INVALID, "%d obstacles are more than the %d that a liquid can have",
                             s->count, MOST);
    for (int i = 0; i < s->count; i++)
        if (!defs[i].shape && !defs[i].sequence)
            return und_error_set(err, UND_INVALID, "obstacle %d has no shape", i + 1);
    if (open_lists(s, defs, err) || open_fields(s, err) || open_manners(s, defs, err))
        return err->status;
    return place_all(s, time, err);
}

und_status und_solids_open(und_solids *s, const und_mac *mac, const und_obstacle_def *defs, int count,
                           const bool side_open[6], double time, int threads, und_error *err)
{
    *s = (und_solids){
        .mac = *mac, .device = {.threads = threads}, .count = count, .any = count > 0, .none = count == 0};
    assert(mac->d[0] == mac->d[1] && mac->d[0] == mac->d[2]);
    s->parts = und_alloc(1, sizeof *s->parts, "solids", err);
    if (!s->parts)
        return err->status;
    memcpy(s->parts->side_open, side_open, sizeof s->parts->side_open);
    const und_status status = count == 0 ? open_fields(s, err) : open_solids(s, defs, time, err);
    if (status == UND_OK && count == 0)
        open_all(s);
    if (status != UND_OK)
        und_solids_close(s);
    return status;
}

void und_solids_rows_came(und_solids *s)
{
    open_all(s);
}

und_status und_solids_shift(und_solids *s, const und_mac *mac, const bool side_open[6], double time,
                            und_error *err)
{
    s->mac = *mac;
    memcpy(s->parts->side_open, side_open, sizeof s->parts->side_open);
    if (!s->any) {
        open_all(s);
        return UND_OK;
    }
    memset(s->parts->passed, 0, mac->count);
    return place_all(s, time, err);
}

void und_solids_close(und_solids *s)
{
    und_solids_parts *p = s->parts;
    und_field_close_all(s, fields, FIELDS);
    free(s->friction);
    free(s->gone);
    free(s->separate);
    und_mask_close(&s->loose);
    und_mask_close(&s->apart);
    if (p) {
        und_field_close_all(p, part_fields, PART_FIELDS);
        for (int i = 0; i < s->count && p->skin; i++)
            und_solids_skin_free(&p->skin[i]);
        free(p->skin);
        for (int i = 0; i < s->count && p->deformed; i++)
            und_trimesh_release(p->deformed[i].mesh);
        free(p->deformed);
        free(p->defs);
        free(p->state);
        free(p->ever_moves);
        free(p->leaks);
        free(p->box);
        free(p);
    }
    *s = (und_solids){0};
}
