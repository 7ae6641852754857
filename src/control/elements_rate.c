/* What sources are to bring: speed times the area that the flow sees, however the cells lie.  Of what solids
 * take up nothing comes, and nothing of what would flow out of the shape into one. */
#include "control/elements_state.h"
#include "flow/solids_parts.h"

#include <math.h>
#include <string.h>

enum { FLAT_LINES = 256, LINES = 32, PLACES = 32, HALVINGS = 10 }; /* across the flow each way; on each */
enum { LOOKS = 4, PROBES = 9 }; /* at velocities, over an interval, and over a shape */

static double get(und_vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

/* Two axes across a direction; in two dimensions the second is z, along which all is the same. */
static void across(und_vec3 along, bool flat, und_vec3 axis[2])
{
    const und_vec3 aside = fabs(along.x) < 0.9 ? und_vec(1, 0, 0) : und_vec(0, 1, 0);
    const und_vec3 second = flat ? und_vec(0, 0, 1) : und_cross(along, aside);
    axis[1] = und_unit(second);
    axis[0] = und_cross(axis[1], along);
}

/* A shape in the part of the domain that it may be in. */
typedef struct view {
    const und_shape *shape;
    const und_pose *pose;
    const und_mac *mac;
    const und_solids *solids; /* NULL: none is near */
    und_cell_box cells;
    double low[3], high[3];
} view;

static bool meet(const und_cell_box *a, const und_cell_box *b)
{
    for (int k = 0; k < 3; k++)
        if (a->low[k] >= b->high[k] || b->low[k] >= a->high[k])
            return false;
    return true;
}

static double distance_at(const view *v, und_vec3 at)
{
    for (int a = 0; a < 3; a++)
        if (get(at, a) < und_mac_middle(v->mac, a, -0.5) ||
            get(at, a) > und_mac_middle(v->mac, a, v->mac->n[a] - 0.5))
            return INFINITY;
    return und_shape_distance(v->shape, und_pose_local(v->pose, at));
}

/* To the nearest solid, of those that may reach the shape; negative inside. */
static double solid_at(const view *v, und_vec3 at)
{
    double least = INFINITY;
    for (int i = 0; v->solids && i < v->solids->count; i++)
        if (meet(&v->solids->parts->state[i].near, &v->cells))
            least = fmin(least, und_solids_distance_of(v->solids, i, at));
    return least;
}

/* The same as distance_at of what solids leave of the shape. */
static double open_at(const view *v, und_vec3 at)
{
    const double away = distance_at(v, at);
    return away < INFINITY ? fmax(away, -solid_at(v, at)) : away;
}

static void range(const view *v, und_vec3 axis, double *low, double *length)
{
    double high = -INFINITY;
    *low = INFINITY;
    for (int corner = 0; corner < 8; corner++) {
        const und_vec3 at = und_vec(corner & 1 ? v->high[0] : v->low[0], corner & 2 ? v->high[1] : v->low[1],
                                    corner & 4 ? v->high[2] : v->low[2]);
        *low = fmin(*low, und_dot(at, axis));
        high = fmax(high, und_dot(at, axis));
    }
    *length = high - *low;
}

/* Along a line, on the last open stretch before the flow leaves the shape: how near it comes to that, or how
 * deep into it; INFINITY where it leaves into a solid, by more than half of `soft`.  How many places on it
 * are inside. */
static double nearest(const view *v, und_vec3 start, und_vec3 along, double length, double soft, int *inside)
{
    double best = 0, least = INFINITY, step = length / PLACES;
    bool shut = false;
    *inside = 0;
    for (int i = PLACES - 1; i >= 0; i--) {
        const double there = (i + 0.5) * step;
        const und_vec3 at = und_add(start, und_mul(along, there));
        const double open = open_at(v, at);
        *inside += open < 0;
        if (!shut && open > soft / 2 && distance_at(v, at) < 0) {
            shut = true;
            least = least < 0 ? least : INFINITY;
        }
        if (!shut && open < least) {
            least = open;
            best = there;
        }
    }
    for (int i = 0; i < HALVINGS && least < INFINITY; i++) {
        step /= 2;
        const double low = open_at(v, und_add(start, und_mul(along, best - step)));
        const double high = open_at(v, und_add(start, und_mul(along, best + step)));
        best += low < least && low <= high ? -step : high < least ? step : 0;
        least = fmin(least, fmin(low, high));
    }
    return least;
}

/* The area of the shape's shadow along a direction, and its volume: of lines that pass by within half of what
 * lies between them, a part counts. */
static double shadow(const view *v, und_vec3 along, bool flat, double *volume)
{
    und_vec3 axis[2];
    double from[3], length[3], sum = 0;
    long all = 0;
    across(along, flat, axis);
    range(v, along, &from[0], &length[0]);
    range(v, axis[0], &from[1], &length[1]);
    range(v, axis[1], &from[2], &length[2]);
    const int columns = flat ? FLAT_LINES : LINES, rows = flat ? 1 : LINES;
    const double between = fmin(length[1] / columns, flat ? INFINITY : length[2] / rows);
    const double soft = fmin(between, length[0]);
    for (int line = 0; line < columns * rows; line++) {
        const double x = from[1] + (line % columns + 0.5) / columns * length[1];
        const double y = from[2] + (line / columns + 0.5) / rows * length[2];
        const und_vec3 start =
            und_add(und_mul(along, from[0]), und_add(und_mul(axis[0], x), und_mul(axis[1], y)));
        int inside;
        sum += fmin(fmax(0.5 - nearest(v, start, along, length[0], soft, &inside) / soft, 0), 1);
        all += inside;
    }
    const double each = length[1] * length[2] / (columns * rows);
    *volume = (double)all * each * length[0] / PLACES;
    return sum * each;
}

/* The part of the domain that the shape may be in; false: none. */
static bool set_view(const und_elements *e, const element *one, const und_solids *solids, view *v)
{
    const und_mac *m = &e->mac;
    *v = (view){.shape = one->def.shape, .pose = &one->rated, .mac = m};
    und_element_bounds(v->shape, v->pose, v->low, v->high);
    for (int a = 0; a < 3; a++) {
        v->low[a] = fmax(v->low[a], und_mac_middle(m, a, -0.5));
        v->high[a] = fmin(v->high[a], und_mac_middle(m, a, m->n[a] - 0.5));
        if (m->n[a] == 1) { /* all of it or nothing, as the cells have it */
            v->low[a] = und_mac_middle(m, a, -0.5);
            v->high[a] = und_mac_middle(m, a, m->n[a] - 0.5);
        }
        if (!(v->low[a] < v->high[a]))
            return false;
    }
    const cell_box box = und_element_box(m, v->low, v->high, 1);
    for (int a = 0; a < 3; a++) {
        v->cells.low[a] = box.low[a];
        v->cells.high[a] = box.low[a] + box.n[a];
    }
    for (int i = 0; solids && i < solids->count; i++)
        if (meet(&solids->parts->state[i].near, &v->cells))
            v->solids = solids;
    return true;
}

/* Whether its velocity is the same everywhere. */
static bool is_even(const und_element_def *def)
{
    const und_value *u = def->field.value;
    return !def->field.kind && (!u[0].fn || u[0].uniform) && (!u[1].fn || u[1].uniform) &&
           (!u[2].fn || u[2].uniform);
}

static double component(const element *one, int axis, double time)
{
    const und_value *u = &one->def.field.value[axis];
    return u->fn ? u->fn(u->context, 0, 0, 0, time) : u->number;
}

/* To 2^-20: where only the speed changes it is the same to the bit, whatever came before. */
static und_vec3 direction_of(und_vec3 flow)
{
    const double fine = 1 << 20;
    const und_vec3 u = und_length(flow) > 0 ? und_unit(flow) : und_vec(1, 0, 0);
    return und_unit(
        und_vec(rint(u.x * fine) / fine + 0.0, rint(u.y * fine) / fine + 0.0, rint(u.z * fine) / fine + 0.0));
}

/* m3/s, and `volume`; the shadow is found anew where the source is elsewhere, or flows another way, than it
 * was found for, and where solids that move come near. */
static double rate(const und_elements *e, element *one, const und_solids *solids, double time)
{
    const bool flat = e->mac.n[2] == 1;
    const und_vec3 flow =
        und_vec(component(one, 0, time), component(one, 1, time), flat ? 0 : component(one, 2, time));
    const und_pose pose = und_motion_at(one->def.motion, e->time);
    const double speed = und_length(flow);
    const und_vec3 along = direction_of(flow);
    const bool same = one->has_area && memcmp(&pose, &one->rated, sizeof pose) == 0 &&
                      memcmp(&along, &one->along, sizeof along) == 0;
    view v;
    one->rated = pose;
    one->along = along;
    const bool some = set_view(e, one, solids, &v), passed = v.solids && solids->parts->some_move;
    if (same && !passed)
        return speed * one->area;
    one->has_area = !passed;
    one->area = one->volume = 0;
    if (some)
        one->area = shadow(&v, along, flat, &one->volume);
    return speed * one->area;
}

double und_elements_brings(und_elements *e, const und_solids *solids, double dt)
{
    double sum = 0;
    for (int i = 0; i < e->count; i++) {
        element *one = &e->list[i];
        const double begin = fmax(one->def.start, e->time), end = fmin(one->def.end, e->time + dt);
        if (one->def.role != UND_ELEMENT_SOURCE || !(end > begin))
            continue;
        if (!is_even(&one->def))
            return -1;
        sum += rate(e, one, solids, 0.5 * (begin + end)) * (end - begin);
    }
    return sum;
}

double und_elements_fills(und_elements *e, const und_solids *solids)
{
    double sum = 0;
    for (int i = 0; i < e->count; i++) {
        element *one = &e->list[i];
        if (one->def.role != UND_ELEMENT_SOURCE || !one->active)
            continue;
        if (!is_even(&one->def))
            return INFINITY;
        (void)rate(e, one, solids, e->time);
        sum += one->volume;
    }
    return sum;
}

/* ---- How fast they will be ---- */

/* The largest component of a source's velocity, of several places in it. */
static double speed_at(const und_elements *e, const element *one, const double low[3], const double high[3],
                       double time)
{
    const bool even = is_even(&one->def);
    double most = 0;
    for (int k = 0; k < (even ? 1 : PROBES); k++) {
        double place[3];
        for (int a = 0; a < 3; a++) {
            const double part = k == 0 ? 0.5 : (k - 1) >> a & 1 ? 0.9 : 0.1;
            place[a] = isfinite(low[a] + high[a]) ? low[a] + part * (high[a] - low[a]) : 0;
        }
        for (int a = 0; a < (e->mac.n[2] == 1 ? 2 : 3); a++) {
            const und_value *v = &one->def.field.value[a];
            float sample = 0;
            if (one->def.field.kind)
                one->kind->row(one->ready, a, place, e->mac.d[0], 1, time, &sample);
            const double u = one->def.field.kind ? (double)sample
                             : v->fn             ? v->fn(v->context, place[0], place[1], place[2], time)
                                                 : v->number;
            most = fmax(most, fabs(u));
        }
    }
    return most;
}

/* That of its shape. */
static double motion_at(const element *one, double time)
{
    und_vec3 spin = {0};
    const und_vec3 velocity = und_motion_velocity(one->def.motion, time, &spin);
    const und_bounds b = und_shape_bounds(one->def.shape);
    const double far = fmax(und_length(b.low), und_length(b.high)), turning = und_length(spin);
    return und_length(velocity) + (turning > 0 && isfinite(far) ? turning * far : 0);
}

double und_elements_fastest(const und_elements *e, double time, double dt, double *volume)
{
    double most = 0;
    *volume = 0;
    for (int i = 0; i < e->count; i++) {
        const element *one = &e->list[i];
        const double begin = fmax(one->def.start, time), end = fmin(one->def.end, time + dt);
        double low[3], high[3], size = 1;
        if (one->def.role != UND_ELEMENT_SOURCE || !(end > begin))
            continue;
        for (int k = 0; k < LOOKS; k++) {
            const double when = begin + (end - begin) * k / LOOKS;
            const und_pose pose = und_motion_at(one->def.motion, when);
            und_element_bounds(one->def.shape, &pose, low, high);
            most = fmax(most, speed_at(e, one, low, high, when));
            if (und_motion_moves(one->def.motion))
                most = fmax(most, motion_at(one, when));
        }
        for (int a = 0; a < 3; a++)
            size *= fmax(fmin(high[a], und_mac_middle(&e->mac, a, e->mac.n[a] - 0.5)) -
                             fmax(low[a], und_mac_middle(&e->mac, a, -0.5)),
                         0);
        *volume += size;
    }
    return most;
}
