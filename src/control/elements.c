#include "control/elements.h"

#include "base/parallel.h"
#include "base/status.h"
#include "control/elements_state.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "grid/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16 }; /* that a thread takes at a time */

/* Cells beside the domain belong to the grid, but for z in two dimensions. */
static int beside(const und_mac *mac, int axis)
{
    return axis == 2 && mac->n[2] == 1 ? 0 : 1;
}

cell_box und_element_box(const und_mac *mac, const double low[3], const double high[3], int margin)
{
    cell_box box = {0};
    bool none = false;
    for (int a = 0; a < 3; a++) {
        int side = beside(mac, a), least = -side, most = mac->n[a] - 1 + side;
        double from = floor((low[a] - mac->origin[a]) / mac->d[a]) - mac->low[a] - margin;
        double to = floor((high[a] - mac->origin[a]) / mac->d[a]) - mac->low[a] + margin;
        none |= !(from <= to && from <= most && to >= least); /* NaN too */
        box.low[a] = none ? least : (int)fmax(from, least);
        box.n[a] = none ? 0 : (int)fmin(to, most) - box.low[a] + 1;
    }
    return none ? (cell_box){0} : box;
}

void und_element_bounds(const und_shape *shape, const und_pose *pose, double low[3], double high[3])
{
    und_bounds b = und_shape_bounds(shape);
    double x[2] = {b.low.x, b.high.x}, y[2] = {b.low.y, b.high.y}, z[2] = {b.low.z, b.high.z};
    bool endless = !isfinite(und_length(und_sub(b.high, b.low)));
    for (int a = 0; a < 3; a++) {
        low[a] = endless ? -INFINITY : INFINITY;
        high[a] = -low[a];
    }
    for (int corner = 0; corner < 8 && !endless; corner++) {
        und_vec3 p = und_pose_point(pose, und_vec(x[corner & 1], y[corner >> 1 & 1], z[corner >> 2]));
        const double at[3] = {p.x, p.y, p.z};
        for (int a = 0; a < 3; a++) {
            low[a] = fmin(low[a], at[a]);
            high[a] = fmax(high[a], at[a]);
        }
    }
}

static void region_row(const und_elements *e, element *one, int y, int z)
{
    const und_mac *m = &e->mac;
    const cell_box *b = &one->box;
    float *out = one->inside + cell_box_at(b, b->low[0], y, z);
    for (int i = 0; i < b->n[0]; i++) {
        und_vec3 p =
            und_vec(und_mac_middle(m, 0, b->low[0] + i), und_mac_middle(m, 1, y), und_mac_middle(m, 2, z));
        out[i] = (float)(und_shape_distance(one->def.shape, und_pose_local(&one->pose, p)) / m->d[0]);
    }
}

enum { REGION_WORTH = 8 }; /* cells of a plain pass: a shape is asked */

typedef struct region_args {
    const und_elements *e;
    element *one;
} region_args;

/* Of all rows, whether the grid has them yet or not. */
static inline void render_rows(const region_args *a, und_place p)
{
    const cell_box *b = &a->one->box;
    for (int row = (int)p.at; row < (int)p.at + p.x; row++)
        region_row(a->e, a->one, b->low[1] + row % b->n[1], b->low[2] + row / b->n[1]);
}
UND_KERNEL(render_rows, region_args, UND_EACH_BLOCK)

/* Makes inside[] anew where the region has moved. */
static void set_region(const und_elements *e, element *one, int margin)
{
    und_pose pose = und_motion_at(one->def.motion, e->time);
    double low[3], high[3];
    if (one->margin == margin && memcmp(&pose, &one->pose, sizeof pose) == 0)
        return;
    one->pose = pose;
    one->margin = margin;
    und_element_bounds(one->def.shape, &pose, low, high);
    one->box = und_element_box(&e->mac, low, high, margin);
    const region_args args = {e, one};
    const und_device device = {.threads = e->threads};
    const und_set rows = und_set_list(one, one->box.n[1] * one->box.n[2], ROWS, REGION_WORTH * one->box.n[0]);
    und_pass(&device, render_rows, &args, &rows);
}

static int margin_of(const element *one, int width)
{
    bool shapes = one->def.role == UND_ELEMENT_SOURCE || one->def.role == UND_ELEMENT_DRAIN;
    return shapes ? (width < ELEMENT_MARGIN ? width : ELEMENT_MARGIN) : 1;
}

enum { AT_REGION = UND_AT_OWN, SOURCES = 1 };

#define FIELD(member, ...) UND_FIELD(element, member, AT_REGION, ##__VA_ARGS__)

static const und_field fields[] = {FIELD(inside), FIELD(given[0], .when = SOURCES),
                                   FIELD(given[1], .when = SOURCES), FIELD(given[2], .when = SOURCES)};
enum { FIELDS = sizeof fields / sizeof *fields };

/* Room for the region wherever it goes: a box around it is nowhere longer than its diagonal. */
static und_status open_region(const und_elements *e, element *one, und_error *err)
{
    int margin = margin_of(one, ELEMENT_MARGIN);
    double low[3], high[3], diagonal = 0;
    und_pose pose = und_motion_at(NULL, 0);
    und_element_bounds(one->def.shape, &pose, low, high);
    for (int a = 0; a < 3; a++)
        diagonal += (high[a] - low[a]) * (high[a] - low[a]);
    one->room = 1;
    for (int a = 0; a < 3; a++) {
        double all = e->mac.n[a] + 2 * beside(&e->mac, a);
        one->room *= (size_t)fmin(all, ceil(sqrt(diagonal) / e->mac.d[a]) + 2 * margin + 2);
    }
    const und_field_room room = {.own = &one->room,
                                 .asked = one->def.role == UND_ELEMENT_SOURCE ? SOURCES : 0};
    return und_field_open_all(one, fields, FIELDS, &room, "an element's region", err);
}

static und_status open_element(const und_elements *e, element *one, und_error *err)
{
    const und_element_def *def = &one->def;
    bool needs = def->role == UND_ELEMENT_SOURCE || def->role == UND_ELEMENT_DRAIN;
    if (needs && !def->shape)
        return und_error_set(err, UND_INVALID, "a source or drain has a shape, and this has none");
    if (!(def->soft >= 0))
        return und_error_set(err, UND_INVALID, "expected soft to be at least 0 (m), found %g", def->soft);
    one->kind = def->field.kind ? def->field.kind : &und_field_value_kind;
    one->ready = def->field.kind ? def->field.data : one->now;
    if (one->kind->prepare) {
        if (!(one->made = one->kind->prepare(def->field.data, err)))
            return err->status;
        one->ready = one->made;
    }
    return def->shape ? open_region(e, one, err) : UND_OK;
}

und_elements *und_elements_create(const und_mac *mac, const und_element_def *defs, int count, int threads,
                                  und_error *err)
{
    und_error unused;
    err = err ? err : &unused;
    und_elements *e = und_alloc(1, sizeof *e, "elements", err);
    if (!e)
        return NULL;
    e->mac = *mac;
    e->threads = und_threads(threads);
    e->list = und_alloc((size_t)(count > 0 ? count : 1), sizeof *e->list, "elements", err);
    bool ok = e->list && und_mask_open(&e->held, mac, "elements", err) == UND_OK &&
              und_mask_open(&e->drained, mac, "elements", err) == UND_OK;
    for (int i = 0; i < count && ok; i++) {
        e->list[i].def = defs[i];
        e->count++;
        ok = open_element(e, &e->list[i], err) == UND_OK;
    }
    if (!ok) {
        und_elements_destroy(e);
        return NULL;
    }
    return e;
}

void und_elements_shift(und_elements *e, const und_mac *mac)
{
    e->mac = *mac;
    for (int i = 0; i < e->count; i++)
        e->list[i].margin = e->list[i].has_area = 0; /* its region is not made yet */
}

void und_elements_destroy(und_elements *e)
{
    if (!e)
        return;
    for (int i = 0; i < e->count; i++) {
        element *one = &e->list[i];
        if (one->made && one->kind->release)
            one->kind->release(one->made);
        und_field_close_all(one, fields, FIELDS);
    }
    und_mask_close(&e->held);
    und_mask_close(&e->drained);
    free(e->list);
    free(e);
}

void und_element_row(const und_elements *e, const element *one, int axis, int x, int y, int z, int count,
                     float *out)
{
    const und_mac *m = &e->mac;
    const double place[3] = {und_mac_middle(m, 0, x + (axis == 0 ? 0.5 : 0)),
                             und_mac_middle(m, 1, y + (axis == 1 ? 0.5 : 0)),
                             und_mac_middle(m, 2, z + (axis == 2 ? 0.5 : 0))};
    one->kind->row(one->ready, axis, place, m->d[0], count, e->time, out);
}

/* Its cells are of the set, or not. */
static void set_cells(const und_elements *e, const element *one, und_mask *cells, bool in)
{
    const cell_box *b = &one->box;
    for (int z = b->low[2]; z < b->low[2] + b->n[2]; z++)
        for (int y = b->low[1]; y < b->low[1] + b->n[1]; y++) {
            if (z < 0 || z >= e->mac.n[2] || y < 0 || y >= e->mac.n[1])
                continue;
            uint64_t *bits = und_mask_row(cells, y, z);
            const float *inside = one->inside + cell_box_at(b, b->low[0], y, z);
            for (int i = 0; i < b->n[0]; i++) {
                int x = b->low[0] + i;
                uint64_t bit = UINT64_C(1) << ((x + 1) & 63);
                if (!(inside[i] < one->edge) || x < 0 || x >= e->mac.n[0])
                    continue;
                bits[(x + 1) >> 6] = in ? bits[(x + 1) >> 6] | bit : bits[(x + 1) >> 6] & ~bit;
            }
        }
}

/* The cells of a source are held, until a drain further down the list has them. */
static void hold(und_elements *e, const element *one)
{
    set_cells(e, one, &e->held, one->def.role == UND_ELEMENT_SOURCE);
}

static void mark_drained(und_elements *e)
{
    if (e->any_drained)
        und_mask_clear(&e->drained);
    e->any_drained = false;
    for (int i = 0; i < e->count; i++)
        if (e->list[i].active && e->list[i].def.role == UND_ELEMENT_DRAIN && e->list[i].inside) {
            set_cells(e, &e->list[i], &e->drained, true);
            e->any_drained = true;
        }
}

void und_elements_hold_thin(und_elements *e)
{
    e->hold_thin = true;
}

/* How near to the shape of a source cells are held: in it, or where it is too thin for that, half a cell. */
static float edge_of(const und_elements *e, const element *one)
{
    const size_t count = (size_t)one->box.n[0] * (size_t)one->box.n[1] * (size_t)one->box.n[2];
    if (!e->hold_thin || one->def.role != UND_ELEMENT_SOURCE)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (one->inside[i] < 0)
            return 0;
    return 0.5f;
}

/* What is the same everywhere is asked once. */
static und_value asked(const und_value *v, double time)
{
    return v->fn && v->uniform ? und_value_constant(v->fn(v->context, 0, 0, 0, time)) : *v;
}

static void render_values(const und_elements *e, element *one)
{
    for (int a = 0; a < 3; a++)
        one->now[a] = asked(&one->def.field.value[a], e->time);
    one->alpha = asked(&one->def.alpha, e->time);
    one->serial = (one->kind->serial && one->kind->serial(one->ready)) ||
                  (one->def.role == UND_ELEMENT_VELOCITY && one->alpha.fn);
}

/* At a time, or all of its time within dt from then on. */
static bool is_active(const und_element_def *def, double time, double dt)
{
    const bool within = def->start >= time && def->end > def->start && def->end <= time + dt;
    return within || (time >= def->start && time < def->end);
}

void und_elements_render(und_elements *e, double time, double dt, const und_distance *d)
{
    bool held = false;
    e->time = time;
    for (int i = 0; i < e->count; i++) {
        element *one = &e->list[i];
        one->active = is_active(&one->def, time, dt);
        if (!one->active)
            continue;
        render_values(e, one);
        if (one->inside) {
            set_region(e, one, margin_of(one, d->width));
            one->edge = edge_of(e, one);
        }
        held |= one->def.role == UND_ELEMENT_SOURCE;
    }
    if (held || e->any_held)
        und_mask_clear(&e->held);
    e->any_held = held;
    for (int i = 0; i < e->count && held; i++) {
        element *one = &e->list[i];
        if (one->active && (one->def.role == UND_ELEMENT_SOURCE || one->def.role == UND_ELEMENT_DRAIN))
            hold(e, one);
    }
    for (int i = 0; i < e->count && held; i++)
        if (e->list[i].active && e->list[i].def.role == UND_ELEMENT_SOURCE)
            und_element_give(e, &e->list[i]);
    mark_drained(e);
}

void und_elements_place_drains(und_elements *e, double time, const und_distance *d)
{
    e->time = time;
    for (int i = 0; i < e->count; i++) {
        element *one = &e->list[i];
        if (one->def.role != UND_ELEMENT_DRAIN)
            continue;
        one->active = is_active(&one->def, time, 0);
        if (one->active)
            set_region(e, one, margin_of(one, d->width));
    }
    mark_drained(e);
}

const und_mask *und_elements_held(const und_elements *e)
{
    return e->any_held ? &e->held : NULL;
}

int und_elements_source_at(const und_elements *e, int x, int y, int z)
{
    for (int i = e->count - 1; i >= 0; i--) {
        const element *one = &e->list[i];
        const cell_box *b = &one->box;
        if (one->active && one->def.role == UND_ELEMENT_SOURCE && one->inside && x >= b->low[0] &&
            x < b->low[0] + b->n[0] && y >= b->low[1] && y < b->low[1] + b->n[1] && z >= b->low[2] &&
            z < b->low[2] + b->n[2] && one->inside[cell_box_at(b, x, y, z)] < one->edge)
            return i;
    }
    return -1;
}

const und_mask *und_elements_drained(const und_elements *e)
{
    return e->any_drained ? &e->drained : NULL;
}

/* Union with a source, difference with a drain, on the cells of a row; whether one changed. */
static bool fill_row(const element *one, const und_distance *d, int y, int z)
{
    const cell_box *b = &one->box;
    int from = b->low[0] > 0 ? b->low[0] : 0, to = b->low[0] + b->n[0];
    to = to < d->mac.n[0] ? to : d->mac.n[0];
    const float *inside = one->inside + cell_box_at(b, from, y, z);
    float *phi = d->phi + und_mac_at(&d->mac, from, y, z), width = (float)d->width;
    bool source = one->def.role == UND_ELEMENT_SOURCE, changed = false;
    for (int i = 0; i < to - from; i++) {
        float s = source ? inside[i] - one->edge : -inside[i];
        s = s < -width ? -width : s > width ? width : s;
        bool takes = source ? s < phi[i] : s > phi[i];
        phi[i] = takes ? s : phi[i];
        changed |= takes;
    }
    return changed;
}

bool und_elements_fill(const und_elements *e, und_distance *d, bool drains)
{
    bool changed = false;
    for (int i = 0; i < e->count; i++) {
        const element *one = &e->list[i];
        const und_element_role role = one->def.role;
        if (!one->active || !(role == UND_ELEMENT_SOURCE || (drains && role == UND_ELEMENT_DRAIN)) ||
            (!drains && one->edge > 0))
            continue;
        const cell_box *b = &one->box;
        for (int z = b->low[2]; z < b->low[2] + b->n[2]; z++)
            for (int y = b->low[1]; y < b->low[1] + b->n[1]; y++)
                if (z >= 0 && z < d->mac.n[2] && y >= 0 && y < d->mac.n[1])
                    changed |= fill_row(one, d, y, z);
    }
    if (changed)
        und_distance_refresh(d);
    return changed;
}
