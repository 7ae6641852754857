/* What is solid, and where liquid comes in and goes out (Foster & Metaxas 1996, sections 3.2.1 and 3.2.2). */
#include "base/status.h"
#include "geom/shape.h"
#include "liquid/cells_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The cells whose middle lies between low and high, [begin, end). */
static void range_of(const und_mac *m, int axis, double low, double high, int *begin, int *end)
{
    double a = (low - m->origin[axis]) / m->d[axis] - 0.5, b = (high - m->origin[axis]) / m->d[axis] - 0.5;
    *begin = (int)ceil(fmin(fmax(a, 0), m->n[axis]));
    *end = (int)floor(fmin(fmax(b, -1), m->n[axis] - 1.0)) + 1;
}

/* Makes the cells whose middle lies in the shape a wall. */
static void build(const und_mac *m, const und_shape *shape, int wall, uint8_t *label, uint8_t *walls)
{
    und_bounds box = und_shape_bounds(shape);
    double low[3] = {box.low.x, box.low.y, box.low.z}, high[3] = {box.high.x, box.high.y, box.high.z};
    int from[3], to[3];
    for (int a = 0; a < 3; a++)
        range_of(m, a, low[a], high[a], &from[a], &to[a]);
    for (int z = from[2]; z < to[2]; z++)
        for (int y = from[1]; y < to[1]; y++)
            for (int x = from[0]; x < to[0]; x++) {
                und_vec3 middle = {und_mac_middle(m, 0, x), und_mac_middle(m, 1, y), und_mac_middle(m, 2, z)};
                if (und_shape_distance(shape, middle) < 0) {
                    label[und_mac_at(m, x, y, z)] = UND_CELL_SOLID;
                    walls[und_mac_at(m, x, y, z)] = (uint8_t)wall;
                }
            }
}

/* The layer beside one side of the domain, where the shape, if there is one, holds the face it shares. */
static void build_side(const und_mac *m, int side, const und_shape *shape, int wall, uint8_t *walls)
{
    int axis = side / 2, from[3] = {0}, to[3] = {m->n[0], m->n[1], m->n[2]};
    double inwards[3] = {0};
    inwards[axis] = side % 2 ? -0.5 : 0.5;
    from[axis] = side % 2 ? m->n[axis] : -1;
    to[axis] = from[axis] + 1;
    for (int z = from[2]; z < to[2]; z++)
        for (int y = from[1]; y < to[1]; y++)
            for (int x = from[0]; x < to[0]; x++) {
                und_vec3 face = {und_mac_middle(m, 0, x + inwards[0]), und_mac_middle(m, 1, y + inwards[1]),
                                 und_mac_middle(m, 2, z + inwards[2])};
                if (!shape || und_shape_distance(shape, face) <= 0)
                    walls[und_mac_at(m, x, y, z)] = (uint8_t)wall;
            }
}

double und_cells_rounding(double time)
{
    return 1e-10 * fabs(time);
}

static bool acts(const und_gate_def *gate, double time)
{
    double soon = time + und_cells_rounding(time);
    return soon >= gate->start && soon < gate->end;
}

void und_cells_rebuild(und_cells *s)
{
    const und_cells_def *def = &s->def;
    uint8_t *label = s->flow.label, *wall = s->flow.wall;
    for (size_t i = 0; i < s->mac.count; i++) {
        bool was_gate = label[i] == UND_CELL_SOLID && s->solid_label[i] != UND_CELL_SOLID;
        if (s->solid_label[i] == UND_CELL_SOLID || was_gate)
            label[i] = s->solid_label[i];
        wall[i] = s->solid_wall[i];
    }
    for (int i = 0; i < def->gate_count; i++)
        if (s->gate_open[i]) {
            int which = UND_SIDES + def->solid_count + i;
            const und_gate_def *gate = &def->gates[i];
            if (gate->side >= 0)
                build_side(&s->mac, gate->side, gate->shape, which, wall);
            else
                build(&s->mac, gate->shape, which, label, wall);
        }
    for (size_t i = 0; s->is_painted && i < s->mac.count; i++)
        if (s->painted[i]) {
            label[i] = UND_CELL_SOLID;
            wall[i] = (uint8_t)(s->first_paint + s->painted[i] - 1);
        }
    und_marker_flow_walls_changed(&s->flow);
    s->walls_at = NAN;
}

void und_cells_turn_gates(und_cells *s)
{
    bool changed = false;
    for (int i = 0; i < s->def.gate_count; i++) {
        bool now = acts(&s->def.gates[i], s->time);
        changed |= now != s->gate_open[i];
        s->gate_open[i] = now;
    }
    if (!changed)
        return;
    und_cells_rebuild(s);
    if (s->height) { /* what finds no room below the top is gone */
        double lost = und_height_ground(s->height, s->flow.label);
        und_ledger_add(&s->ledger.left, &s->lost.left, lost);
        s->ledger.measured = und_cells_volume(s);
    }
    und_cells_find_labels(s);
}

double und_cells_next_turn(const und_cells *s)
{
    double next = INFINITY, soon = s->time + und_cells_rounding(s->time);
    for (int i = 0; i < s->def.gate_count; i++) {
        const und_gate_def *gate = &s->def.gates[i];
        next = gate->start > soon ? fmin(next, gate->start) : next;
        next = gate->end > soon ? fmin(next, gate->end) : next;
    }
    return next;
}

und_status und_cells_make_walls(und_cells *s, und_error *err)
{
    const und_cells_def *def = &s->def;
    s->first_paint = UND_SIDES + def->solid_count + def->gate_count;
    s->paints = s->first_paint + UND_PAINTS <= 1 + UINT8_MAX ? UND_PAINTS : 0;
    s->wall_count = s->first_paint + s->paints;
    s->walls = und_alloc((size_t)s->wall_count, sizeof *s->walls, "walls", err);
    s->solid_label = und_alloc(s->mac.count, 1, "solids", err);
    s->solid_wall = und_alloc(s->mac.count, 1, "solids", err);
    s->gate_open = und_alloc((size_t)def->gate_count + 1, 1, "gates", err);
    s->painted = und_alloc(s->mac.count, 1, "painted cells", err);
    s->change = und_alloc(s->mac.count, 1, "painted cells", err);
    if (!s->walls || !s->solid_label || !s->solid_wall || !s->gate_open || !s->painted || !s->change)
        return err->status;
    memcpy(s->walls, def->wall, sizeof def->wall);
    for (int i = 0; i < def->solid_count; i++)
        s->walls[UND_SIDES + i] = def->solids[i].wall;
    for (int i = 0; i < def->gate_count; i++)
        s->walls[UND_SIDES + def->solid_count + i] = def->gates[i].wall;
    if (und_marker_flow_open(&s->flow, &s->mac, s->walls, s->wall_count, s->threads, err) != UND_OK)
        return err->status;
    memcpy(s->solid_label, s->flow.label, s->mac.count);
    memcpy(s->solid_wall, s->flow.wall, s->mac.count);
    for (int i = 0; i < def->solid_count; i++)
        build(&s->mac, def->solids[i].shape, UND_SIDES + i, s->solid_label, s->solid_wall);
    for (int i = 0; i < def->gate_count; i++)
        s->gate_open[i] = acts(&def->gates[i], 0);
    und_cells_rebuild(s);
    return UND_OK;
}
