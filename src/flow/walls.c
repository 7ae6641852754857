/* Velocities at walls.  Foster & Metaxas 1996, sections 3.2.1 and 3.2.2. */
#include "flow/marker_flow_walls_kernel.h"
#include "geom/value.h"

#include <math.h>
#include <string.h>

enum { AT_ONCE = 1024 }; /* items of a list that are a block */

static double value_at(const und_value *value, const double place[3], double time)
{
    return und_value_at(value, place[0], place[1], place[2], time);
}

/* The middle of the high face of a cell. */
static void face_place(const und_mac *m, size_t at, int axis, double place[3])
{
    int c[3];
    und_marker_flow_place(m, at, c);
    for (int a = 0; a < 3; a++)
        place[a] = und_mac_middle(m, a, c[a] + (a == axis ? 0.5 : 0));
}

/* Across a wall that stands still there is no flow. */
static void set_value(const und_marker_flow *f, und_wall_face *w, double time)
{
    double place[3];
    face_place(&f->mac, w->at, w->axis, place);
    w->value = w->kind == UND_WALL_INFLOW ? value_at(&f->walls[w->wall].velocity[w->axis], place, time) : 0;
}

double und_marker_flow_inflow(const und_marker_flow *f, const und_wall_face *w, int axis, size_t at)
{
    double place[3];
    face_place(&f->mac, at, axis, place);
    return value_at(&f->walls[w->wall].velocity[axis], place, f->parts->walls_at);
}

/* The mean of what the two walls do in which a face inside walls lies: w0 = w1 where liquid slides along
 * (3.2.1), and where it has the wall's velocity W at the wall, (w0 + w1) / 2 = W. */
static void set_mirror(const und_marker_flow *f, const und_ghost *g, und_mirror *mirror, double time)
{
    double place[3], user[3];
    face_place(&f->mac, g->at, g->axis, place);
    face_place(&f->mac, mirror->user, g->axis, user);
    for (int a = 0; a < 3; a++)
        place[a] = 0.5 * (place[a] + user[a]);
    mirror->scale = mirror->offset = 0;
    for (int half = 0; half < 2; half++) {
        const und_wall_def *w = &f->walls[f->wall[g->at + (size_t)(half * f->mac.step[g->axis])]];
        bool slides = w->kind == UND_WALL_SLIP || w->kind == UND_WALL_OUTFLOW;
        mirror->scale += slides ? 0.5 : -0.5;
        mirror->offset += slides ? 0 : value_at(&w->velocity[g->axis], place, time);
    }
}

static void add_face(und_marker_flow *f, size_t at, int axis, bool high)
{
    und_marker_flow_parts *s = f->parts;
    size_t step = (size_t)f->mac.step[axis], solid = high ? at + step : at;
    const und_wall_def *wall = &f->walls[f->wall[solid]];
    size_t before = high ? at - step : at + step;
    bool through = f->label[high ? before : before + step] == UND_CELL_SOLID; /* a passage one cell long */
    und_wall_face *w = &s->face[s->faces];
    *w = (und_wall_face){.at = at,
                         .before = through ? at : before,
                         .axis = (uint8_t)axis,
                         .wall = f->wall[solid],
                         .kind = (uint8_t)wall->kind,
                         .high = high,
                         .timed = wall->kind == UND_WALL_INFLOW && wall->velocity[axis].fn};
    s->timed |= w->timed;
    if (!w->timed)
        set_value(f, w, 0);
    if (wall->kind == UND_WALL_INFLOW || wall->kind == UND_WALL_OUTFLOW)
        s->port[s->ports++] = s->faces;
    s->faces++;
}

static bool is_timed(const und_marker_flow *f, size_t solid, int axis)
{
    const und_wall_def *w = &f->walls[f->wall[solid]];
    return (w->kind == UND_WALL_STICK || w->kind == UND_WALL_INFLOW) && w->velocity[axis].fn;
}

/* A face inside a wall serves the faces beside it: those between two cells that are not solid, or if there
 * are none those across the wall. */
static void add_ghost(und_marker_flow *f, size_t at, int axis, const int c[3])
{
    und_marker_flow_parts *s = f->parts;
    const und_mac *m = &f->mac;
    size_t ahead = (size_t)m->step[axis];
    und_ghost *g = &s->ghost[s->ghosts];
    for (int solids = 0; solids < 2; solids++) {
        *g = (und_ghost){.at = at, .first = s->mirrors, .axis = (uint8_t)axis};
        for (int side = 0; side < 2 * und_marker_flow_axes(f); side++) {
            int b = side / 2, to = c[b] + (side % 2 ? 1 : -1);
            if (b == axis || to < -1 || to > m->n[b])
                continue;
            size_t user = at + (size_t)(side % 2 ? m->step[b] : -m->step[b]);
            int solid = (f->label[user] == UND_CELL_SOLID) + (f->label[user + ahead] == UND_CELL_SOLID);
            if (solid == solids)
                s->mirror[g->first + g->count++] = (und_mirror){.user = user, .side = (uint8_t)(side ^ 1)};
        }
        if (g->count == 0)
            continue;
        g->timed = is_timed(f, at, axis) || is_timed(f, at + ahead, axis);
        s->timed |= g->timed;
        g->shared = solids == 0 && g->count > 1;
        for (int i = 0; !g->timed && i < g->count; i++)
            set_mirror(f, g, &s->mirror[g->first + (size_t)i], 0);
        if (g->shared)
            s->shared[s->shareds++] = s->ghosts;
        s->mirrors += g->count;
        s->ghosts++;
        return;
    }
}

static void find_faces(und_marker_flow *f, int axis, int y, int z)
{
    const und_mac *m = &f->mac;
    size_t ahead = (size_t)m->step[axis];
    for (int x = -1; x <= m->n[0] - (axis == 0); x++) {
        size_t at = und_mac_at(m, x, y, z);
        bool low = f->label[at] == UND_CELL_SOLID, high = f->label[at + ahead] == UND_CELL_SOLID;
        if (low && high) {
            f->u[axis][at] = f->next[axis][at] = 0;
            add_ghost(f, at, axis, (int[3]){x, y, z});
        } else if (low || high)
            add_face(f, at, axis, high);
    }
}

void und_marker_flow_walls_changed(und_marker_flow *f)
{
    und_marker_flow_parts *s = f->parts;
    const und_mac *m = &f->mac;
    bool flat = und_marker_flow_axes(f) == 2;
    s->timed = false;
    s->timed_at = NAN;
    s->faces = s->mirrors = s->ghosts = s->ports = s->shareds = 0;
    memset(s->known, 0, m->count); /* beside the domain only ports set these */
    memset(s->kind, UND_POISSON_CLOSED, m->count);
    for (int row = 0; row < und_mac_rows(m); row++) { /* until the next call to extend knows better */
        s->near_low[row] = s->wet_low[row] = 0;
        s->near_high[row] = s->wet_high[row] = m->n[0];
    }
    for (int axis = 0; axis < und_marker_flow_axes(f); axis++)
        for (int z = flat ? 0 : -1; z <= (flat ? 0 : m->n[2] - (axis == 2)); z++)
            for (int y = -1; y <= m->n[1] - (axis == 1); y++)
                find_faces(f, axis, y, z);
}

/* Functions are called from one thread. */
static void set_timed(und_marker_flow *f, double time)
{
    und_marker_flow_parts *s = f->parts;
    if (!s->timed || s->timed_at == time)
        return;
    s->timed_at = time;
    for (size_t i = 0; i < s->faces; i++)
        if (s->face[i].timed)
            set_value(f, &s->face[i], time);
    for (size_t i = 0; i < s->ghosts; i++)
        for (int k = 0; s->ghost[i].timed && k < s->ghost[i].count; k++)
            set_mirror(f, &s->ghost[i], &s->mirror[s->ghost[i].first + (size_t)k], time);
}

/* Liquid leaves as it comes (3.2.2).  It does not come back: what comes in through a face that has the
 * velocity of the face before it comes faster and faster.  Where there is no surface to give way, it may. */
static void let_out(und_marker_flow *f, und_wall_face *w)
{
    double speed = f->u[w->axis][w->before];
    w->shut = f->surface > 0 && (w->high ? speed < 0 : speed > 0);
    f->u[w->axis][w->at] = w->shut ? 0 : speed;
}

/* An inflow's velocity in front of its face, and how far along the wall what comes in there gets while it
 * crosses the first layer of cells, in cells; false: it goes straight, or not at all. */
static bool drift_of(const und_marker_flow *f, const und_wall_face *w, double drift[3])
{
    const und_mac *m = &f->mac;
    double into = w->high ? -w->value : w->value;
    bool any = false;
    if (w->kind != UND_WALL_INFLOW || !(into > 0))
        return false;
    for (int a = 0; a < 3; a++) {
        const double most = 8; /* cells; what comes in flatter clings to the wall */
        size_t cell = w->high ? w->at : w->at + (size_t)m->step[w->axis];
        double along =
            a == w->axis || a >= und_marker_flow_axes(f) ? 0 : und_marker_flow_inflow(f, w, a, cell);
        drift[a] = fmin(fmax(along / into * m->d[w->axis] / m->d[a], -most), most);
        any |= drift[a] != 0;
    }
    return any;
}

/* The cell in front of the wall that is so many from another along the axes; 0: outside. */
static size_t beside(const und_marker_flow *f, const int from[3], const int by[3])
{
    int c[3];
    for (int a = 0; a < 3; a++) {
        c[a] = from[a] + by[a];
        if (c[a] < 0 || c[a] >= f->mac.n[a])
            return 0;
    }
    return und_mac_at(&f->mac, c[0], c[1], c[2]);
}

/* The face of a cell towards the wall that an inflow is in, and what kind of wall is there; -1: none. */
static int wall_behind(const und_marker_flow *f, const und_wall_face *w, size_t cell, size_t *face)
{
    size_t step = (size_t)f->mac.step[w->axis], wall = w->high ? cell + step : cell - step;
    if (!cell || f->label[cell] == UND_CELL_SOLID || f->label[wall] != UND_CELL_SOLID)
        return -1;
    *face = w->high ? cell : wall;
    return (int)f->walls[f->wall[wall]].kind;
}

/* Whether there is nothing but the mouth where the liquid drifts to, in the next cells. */
static bool amid_mouth(const und_marker_flow *f, const und_wall_face *w, const int from[3],
                       const double drift[3])
{
    bool amid = true;
    size_t face;
    for (int a = 0; a < 3; a++) {
        int by[3] = {0};
        by[a] = (drift[a] > 0) - (drift[a] < 0);
        amid &= wall_behind(f, w, beside(f, from, by), &face) == UND_WALL_INFLOW;
    }
    return amid;
}

/* What comes in at a slant leaves the wall at the mouth's edge, and there is air between the two.  The cells
 * beside the mouth that it crosses hold both.  A wall that lets nothing through would draw the liquid to it
 * and brake it, so while there is air beyond them the air comes in with the liquid's velocity. */
static void shed(und_marker_flow *f, const und_wall_face *w)
{
    double drift[3], longest = 0;
    int from[3], beyond[3], by[3];
    size_t face = 0;
    if (!drift_of(f, w, drift))
        return;
    f->sheds = true;
    und_marker_flow_place(&f->mac, w->high ? w->at : w->at + (size_t)f->mac.step[w->axis], from);
    for (int a = 0; a < 3; a++) {
        beyond[a] = (int)(drift[a] < 0 ? floor(drift[a]) - 1 : drift[a] > 0 ? ceil(drift[a]) + 1 : 0);
        longest = fmax(longest, fabs(drift[a]));
    }
    size_t end = beside(f, from, beyond);
    if (!end || f->label[end] != UND_CELL_EMPTY || amid_mouth(f, w, from, drift))
        return;
    int parts = (int)ceil(longest);
    for (int i = 8; i < 8 * (parts + 1); i++) { /* the up to 8 cells that a cell covers on its way */
        for (int a = 0; a < 3; a++) {
            double way = drift[a] * (i / 8) / parts;
            by[a] = (int)(i >> a & 1 ? ceil(way) : floor(way));
        }
        int kind = wall_behind(f, w, beside(f, from, by), &face);
        if (kind == UND_WALL_SLIP || kind == UND_WALL_STICK)
            f->u[w->axis][face] = w->value;
    }
}

void und_marker_flow_set_walls(und_marker_flow *f, double time, bool keep_outflow)
{
    und_marker_flow_parts *s = f->parts;
    const und_walls_args args = {
        .u = {f->u[0], f->u[1], f->u[2]}, .face = s->face, .ghost = s->ghost, .mirror = s->mirror};
    const und_set faces = und_set_list(&args, (int)s->faces, AT_ONCE, 1),
                  ghosts = und_set_list(&args, (int)s->ghosts, AT_ONCE, 1);
    s->walls_at = time;
    set_timed(f, time);
    und_pass(&f->device, und_walls_across, &args, &faces);
    f->sheds = false;
    for (size_t i = 0; i < s->ports; i++)
        shed(f, &s->face[s->port[i]]);
    for (size_t i = 0; i < s->ports && !keep_outflow; i++)
        if (s->face[s->port[i]].kind == UND_WALL_OUTFLOW)
            let_out(f, &s->face[s->port[i]]);
    und_pass(&f->device, und_walls_inside, &args, &ghosts);
}
