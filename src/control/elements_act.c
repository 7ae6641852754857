/* What elements do to the velocity: sources give it, forces add to it, modifiers lead it. */
#include "base/maths.h"
#include "control/elements_kernel.h"
#include "control/elements_state.h"
#include "geom/value.h"

#include <assert.h>
#include <math.h>

static const double FRAME = 1.0 / 24; /* s: what alpha is the way gone in */

static int axes(const und_mac *m)
{
    return m->n[2] == 1 ? 2 : 3;
}

/* Is the high face of the cell one of a held cell that lies in the source? */
static bool is_given(const und_elements *e, const element *one, int axis, const int at[3])
{
    const cell_box *b = &one->box;
    int next[3] = {at[0], at[1], at[2]};
    next[axis]++;
    return (one->inside[cell_box_at(b, at[0], at[1], at[2])] < one->edge &&
            und_mask_has(&e->held, at[0], at[1], at[2])) ||
           (one->inside[cell_box_at(b, next[0], next[1], next[2])] < one->edge &&
            und_mask_has(&e->held, next[0], next[1], next[2]));
}

/* The next stretch of such faces in a row of the box, from *x on; its length, at most ELEMENT_PART. */
static int given_stretch(const und_elements *e, const element *one, int axis, int *x, int y, int z)
{
    int end = one->box.low[0] + one->box.n[0] - (axis == 0), count = 0;
    while (*x < end && !is_given(e, one, axis, (const int[3]){*x, y, z}))
        ++*x;
    while (*x + count < end && count < ELEMENT_PART &&
           is_given(e, one, axis, (const int[3]){*x + count, y, z}))
        count++;
    return count;
}

/* With s: copies what is given to its velocity; without: renders what is given. */
static void give(const und_elements *e, const element *one, und_mac_flow *s)
{
    const cell_box *b = &one->box;
    for (int axis = 0; axis < axes(&e->mac); axis++)
        for (int z = b->low[2]; z < b->low[2] + b->n[2] - (axis == 2); z++)
            for (int y = b->low[1]; y < b->low[1] + b->n[1] - (axis == 1); y++)
                for (int x = b->low[0], count; (count = given_stretch(e, one, axis, &x, y, z)) > 0;
                     x += count) {
                    float *given = one->given[axis] + cell_box_at(b, x, y, z);
                    if (!s)
                        und_element_row(e, one, axis, x, y, z, count, given);
                    else
                        und_mac_flow_written(s, axis, x, y, z, count);
                    for (int i = 0; s && i < count; i++)
                        s->u[axis][und_mac_at(&e->mac, x + i, y, z)] = given[i];
                }
}

void und_element_give(const und_elements *e, element *one)
{
    give(e, one, NULL);
}

void und_elements_pour(const und_elements *e, und_mac_flow *s)
{
    for (int i = 0; i < e->count; i++)
        if (e->list[i].active && e->list[i].def.role == UND_ELEMENT_SOURCE)
            give(e, &e->list[i], s);
}

/* Through the high faces along the axis of the cells of a row, out of held ones into others. */
static double row_outflow(const und_elements *e, const und_mac_flow *s, const und_solids *solids, int axis,
                          int y, int z)
{
    size_t row = und_mac_at(&e->mac, 0, y, z);
    double sum = 0;
    for (int x = -1; x < e->mac.n[0]; x++) {
        int here = und_mask_has(&e->held, x, y, z);
        int there = und_mask_has(&e->held, x + (axis == 0), y + (axis == 1), z + (axis == 2));
        ptrdiff_t at = (ptrdiff_t)row + x;
        if (here != there)
            sum += (here - there) * (double)solids->open[axis][at] * (double)s->u[axis][at];
    }
    return sum;
}

double und_elements_outflow(const und_elements *e, const und_mac_flow *s, const und_solids *solids)
{
    double sum = 0, face = e->mac.d[0] * e->mac.d[0];
    for (int axis = 0; axis < axes(&e->mac) && e->any_held; axis++)
        for (int z = e->mac.n[2] == 1 ? 0 : -1; z < e->mac.n[2]; z++)
            for (int y = -1; y < e->mac.n[1]; y++)
                if (und_present_has(e->mac.present, y, z))
                    sum += row_outflow(e, s, solids, axis, y, z);
    return sum * face;
}

/* Is there liquid in the cell, which no source has and is not in the drain? */
static bool gives(const und_elements *e, const element *one, const und_mac_flow *s, const int at[3])
{
    const cell_box *b = &one->box;
    bool in_box = true;
    for (int a = 0; a < 3; a++) {
        if (at[a] < 0 || at[a] >= s->mac.n[a])
            return false;
        in_box = in_box && at[a] >= b->low[a] && at[a] < b->low[a] + b->n[a];
    }
    return und_mask_has(&s->liquid, at[0], at[1], at[2]) &&
           !(e->any_held && und_mask_has(&e->held, at[0], at[1], at[2])) &&
           !(in_box && one->inside[cell_box_at(b, at[0], at[1], at[2])] < 0);
}

/* Into a cell of a drain from the liquid around it, m/s in all. */
static double cell_inflow(const und_elements *e, const element *one, const und_mac_flow *s,
                          const und_solids *solids, const int at[3])
{
    double sum = 0;
    for (int side = 0; side < 6; side++) {
        int axis = side / 2, from[3] = {at[0], at[1], at[2]};
        from[axis] += side % 2 ? 1 : -1;
        if (!gives(e, one, s, from))
            continue;
        size_t face = und_mac_at(&s->mac, at[0], at[1], at[2]) - (side % 2 ? 0 : (size_t)s->mac.step[axis]);
        double in = (double)s->u[axis][face] * (side % 2 ? -1 : 1) * (double)solids->open[axis][face];
        sum += in > 0 ? in : 0;
    }
    return sum;
}

static double drain_inflow(const und_elements *e, const element *one, const und_mac_flow *s,
                           const und_solids *solids)
{
    const cell_box *b = &one->box;
    double sum = 0;
    for (int z = b->low[2]; z < b->low[2] + b->n[2]; z++)
        for (int y = b->low[1]; y < b->low[1] + b->n[1]; y++)
            for (int x = b->low[0]; x < b->low[0] + b->n[0]; x++) {
                const int at[3] = {x, y, z};
                bool inside =
                    x >= 0 && y >= 0 && z >= 0 && x < s->mac.n[0] && y < s->mac.n[1] && z < s->mac.n[2];
                if (inside && one->inside[cell_box_at(b, x, y, z)] < 0)
                    sum += cell_inflow(e, one, s, solids, at);
            }
    return sum;
}

double und_elements_inflow(const und_elements *e, const und_mac_flow *s, const und_solids *solids)
{
    double sum = 0;
    for (int i = 0; i < e->count; i++)
        if (e->list[i].active && e->list[i].def.role == UND_ELEMENT_DRAIN)
            sum += drain_inflow(e, &e->list[i], s, solids);
    return sum * e->mac.d[0] * e->mac.d[0];
}

/* How much of an element with a region acts on `count` high faces: 0 outside, 1 inside, fading over `soft`.
 */
static void weights(const und_elements *e, const element *one, int axis, int x, int y, int z, int count,
                    float *out)
{
    const cell_box *b = &one->box;
    const float *low = one->inside + cell_box_at(b, x, y, z);
    const float *high = one->inside + cell_box_at(b, x + (axis == 0), y + (axis == 1), z + (axis == 2));
    float soft = (float)(one->def.soft / e->mac.d[0]);
    if (soft > 0)
        for (int i = 0; i < count; i++) {
            float w = -0.5f * (low[i] + high[i]) / soft;
            out[i] = w > 0 ? (w < 1 ? w : 1) : 0;
        }
    else
        for (int i = 0; i < count; i++)
            out[i] = low[i] + high[i] < 0 ? 1 : 0;
}

/* Something done to faces of the flow: `count` of them, the high ones of the cells from (x, y, z) on, whose
 * velocities stand at u; ELEMENT_PART at most. */
typedef struct part {
    int axis, x, y, z, count;
    float *u;
    const float *weight;
} part;

/* Steps of the caller's that the first action does in its own region, before it acts. */
typedef struct ahead_of_it {
    const und_step *steps;
    int count;
} ahead_of_it;

typedef struct action {
    const und_elements *e;
    ahead_of_it *ahead; /* NULL: none */
    const element *one; /* NULL: gravity */
    void (*part)(const struct action *a, const part *p);
    double dt;
    float way; /* of a modifier that is the same everywhere */
} action;

/* Within a region: only where it acts. */
static void act_inside(const action *a, const part *whole)
{
    float weight[ELEMENT_PART];
    part p = *whole;
    weights(a->e, a->one, p.axis, p.x, p.y, p.z, p.count, weight);
    for (int from = 0, to; from < whole->count; from = to) {
        while (from < whole->count && !(weight[from] > 0))
            from++;
        for (to = from; to < whole->count && weight[to] > 0;)
            to++;
        p.x = whole->x + from;
        p.count = to - from;
        p.u = whole->u + from;
        p.weight = weight + from;
        if (p.count > 0)
            a->part(a, &p);
    }
}

typedef struct act_args {
    const action *action;
    const und_mac_flow *s;
    cell_box box;
    int axis;
} act_args;

static inline void act_row(const act_args *w, und_place place)
{
    static const float ones[ELEMENT_PART] = {[0 ... ELEMENT_PART - 1] = 1};
    const action *a = w->action;
    const int end = w->box.low[0] + w->box.n[0], y = place.y, z = place.z;
    float *u = w->s->u[w->axis] + place.at;
    for (int x = w->box.low[0], from, to;
         und_mask_stretch(&w->s->flows[w->axis], y, z, x, &from, &to) && from < end; x = to) {
        to = to < end ? to : end;
        for (; from < to; from += ELEMENT_PART) {
            const int count = to - from < ELEMENT_PART ? to - from : ELEMENT_PART;
            const part p = {w->axis, from, y, z, count, u + from, ones};
            (a->one && a->one->inside ? act_inside : a->part)(a, &p);
        }
    }
}
UND_KERNEL(act_row, act_args, UND_EACH_ROW)

/* The cells whose high faces along the axis the action may reach. */
static cell_box faces_of(const action *a, int axis)
{
    const und_mac *m = &a->e->mac;
    double low[3] = {-INFINITY, -INFINITY, -INFINITY}, high[3] = {INFINITY, INFINITY, INFINITY};
    if (a->one && a->one->kind->bounds)
        a->one->kind->bounds(a->one->ready, a->e->time, low, high);
    cell_box box = und_element_box(m, low, high, 1);
    for (int k = 0; k < 3; k++) {
        int from = box.low[k], to = box.low[k] + box.n[k];
        if (a->one && a->one->inside) {
            const cell_box *b = &a->one->box;
            from = b->low[k] > from ? b->low[k] : from;
            to = b->low[k] + b->n[k] < to ? b->low[k] + b->n[k] : to;
        }
        if (k == axis && to > m->n[k]) /* the layer beside has no high face of its own */
            to = m->n[k];
        if (k == axis && a->one && a->one->inside && to == a->one->box.low[k] + a->one->box.n[k])
            to--;
        box.low[k] = from;
        box.n[k] = to > from ? to - from : 0;
    }
    return box;
}

enum { MOST_AHEAD = 4 };

/* Behind what is to come before it; a card takes what it knows. */
static void run_behind(ahead_of_it *ahead, const und_mac_flow *s, int threads, const und_pass *pass)
{
    const und_device device = {.threads = threads, .card = s->device.card};
    und_step steps[MOST_AHEAD + 1] = {0};
    int count = 0;
    for (; ahead && count < ahead->count; count++)
        steps[count] = ahead->steps[count];
    if (pass)
        steps[count++] = (und_step){.passes = pass, .count = 1};
    und_pass_steps(&device, steps, count);
    if (ahead)
        ahead->count = 0;
}

static void act(const action *a, und_mac_flow *s, int axis)
{
    const act_args args = {a, s, faces_of(a, axis), axis};
    const cell_box *b = &args.box;
    const int high[3] = {b->low[0] + b->n[0], b->low[1] + b->n[1], b->low[2] + b->n[2]};
    const und_set rows = und_set_box(&s->mac, b->low, high, 1);
    run_behind(a->ahead, s, a->one && a->one->serial ? 1 : a->e->threads, &UND_PASS(act_row, &args, &rows));
}

static void pull(const und_elements *e, und_mac_flow *s, int axis, double gain, ahead_of_it *ahead)
{
    const und_pull_args args = {s->u[axis], (float)gain};
    const und_set faces = und_set_cells(&s->mac, UND_ROWS_FACES, &s->flows[axis]);
    run_behind(ahead, s, e->threads, &UND_PASS(und_pull, &args, &faces));
}

static void force_part(const action *a, const part *p)
{
    float force[ELEMENT_PART], dt = (float)a->dt;
    und_element_row(a->e, a->one, p->axis, p->x, p->y, p->z, p->count, force);
    for (int i = 0; i < p->count; i++)
        p->u[i] += dt * p->weight[i] * force[i];
}

/* alpha is the way gone in 1/24 s, so that the length of the steps does not matter: 1 - alpha is what is left
 * of it, and that of several steps multiplies. */
static float way_in(float alpha, double dt)
{
    return alpha < 1 ? (float)(1 - und_pow(1 - (double)alpha, dt / FRAME)) : 1;
}

/* alpha at faces, 0 to 1, into the way that is gone. */
static void ways(const action *a, const part *p, float *out)
{
    const und_mac *m = &a->e->mac;
    const und_value *alpha = &a->one->alpha;
    double y = und_mac_middle(m, 1, p->y + (p->axis == 1 ? 0.5 : 0));
    double z = und_mac_middle(m, 2, p->z + (p->axis == 2 ? 0.5 : 0));
    float last = 0, way = 0;
    for (int i = 0; i < p->count; i++) {
        double x = und_mac_middle(m, 0, p->x + i + (p->axis == 0 ? 0.5 : 0));
        double it = alpha->fn ? und_value_at(alpha, x, y, z, a->e->time) : alpha->number;
        float whole = p->weight[i] * (it > 0 ? (it < 1 ? (float)it : 1) : 0);
        if (whole != last)
            way = way_in(last = whole, a->dt);
        out[i] = way;
    }
}

/* Equation 4.5. */
static void modify_part(const action *a, const part *p)
{
    float to[ELEMENT_PART], way[ELEMENT_PART];
    und_element_row(a->e, a->one, p->axis, p->x, p->y, p->z, p->count, to);
    ways(a, p, way);
    for (int i = 0; i < p->count; i++)
        p->u[i] = (1 - way[i]) * p->u[i] + way[i] * to[i];
}

/* With the same alpha everywhere. */
static void modify_evenly(const action *a, const part *p)
{
    float to[ELEMENT_PART], way = a->way;
    und_element_row(a->e, a->one, p->axis, p->x, p->y, p->z, p->count, to);
    for (int i = 0; i < p->count; i++)
        p->u[i] = (1 - way) * p->u[i] + way * to[i];
}

static bool is_gravity(const element *one)
{
    return !one->inside && one->kind == &und_field_value_kind && !one->serial;
}

void und_elements_force(const und_elements *e, und_mac_flow *s, const double gravity[3], double dt,
                        const und_step *before, int steps)
{
    ahead_of_it ahead = {before, steps};
    assert(steps <= MOST_AHEAD);
    for (int axis = 0; axis < axes(&e->mac); axis++) {
        double all = gravity[axis];
        for (int i = 0; i < e->count; i++) /* what is the same everywhere costs nothing */
            if (e->list[i].active && e->list[i].def.role == UND_ELEMENT_FORCE && is_gravity(&e->list[i]))
                all += e->list[i].now[axis].number;
        if (all != 0)
            pull(e, s, axis, all * dt, &ahead);
    }
    for (int i = 0; i < e->count; i++) {
        const element *one = &e->list[i];
        action a = {.e = e, .one = one, .part = force_part, .dt = dt, .ahead = &ahead};
        if (one->active && one->def.role == UND_ELEMENT_FORCE && !is_gravity(one))
            for (int axis = 0; axis < axes(&e->mac); axis++)
                act(&a, s, axis);
    }
    run_behind(&ahead, s, e->threads, NULL); /* where nothing acts */
}

void und_elements_modify(const und_elements *e, und_mac_flow *s, double dt)
{
    for (int i = 0; i < e->count; i++) {
        const element *one = &e->list[i];
        bool even = !one->inside && !one->alpha.fn;
        double alpha = fmin(fmax(one->alpha.number, 0), 1);
        action a = {.e = e,
                    .one = one,
                    .part = even ? modify_evenly : modify_part,
                    .dt = dt,
                    .way = even ? way_in((float)alpha, dt) : 0};
        if (one->active && one->def.role == UND_ELEMENT_VELOCITY)
            for (int axis = 0; axis < axes(&e->mac); axis++)
                act(&a, s, axis);
    }
}
