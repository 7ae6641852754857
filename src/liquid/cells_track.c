/* Where the liquid is, by whichever of the three ways follows it (Foster & Metaxas 1996, section 4). */
#include "base/status.h"
#include "geom/shape.h"
#include "geom/value.h"
#include "liquid/cells_state.h"

#include <math.h>
#include <string.h>

/* A list of fills, of which the first `count` hold a place; the level counts as the one before the first. */
typedef struct fills {
    const und_cells_def *def;
    int first, count;
} fills;

static bool in_fill(const und_cells_def *def, int i, double x, double y, double z)
{
    if (i < 0)
        return def->has_level && y < und_value_at(&def->level, x, 0, z, 0);
    return und_shape_distance(def->fills[i].shape, (und_vec3){x, y, z}) < 0;
}

static bool inside(void *context, double x, double y, double z)
{
    const fills *f = context;
    for (int i = f->first; i < f->count; i++)
        if (in_fill(f->def, i, x, y, z))
            return true;
    return false;
}

/* A place in the fill, and in none before it. */
static bool inside_last(void *context, double x, double y, double z)
{
    const fills *f = context;
    fills before = {f->def, f->first, f->count - 1};
    return in_fill(f->def, f->count - 1, x, y, z) && !inside(&before, x, y, z);
}

/* Height of the liquid on a column: what the fills hold of it, standing on the ground. */
static double height_at(const und_cells *s, double x, double z, double ground)
{
    const und_cells_def *def = &s->def;
    double top = s->mac.origin[1] + s->mac.n[1] * s->mac.d[1], h = ground;
    if (def->has_level) {
        double level = und_value_at(&def->level, x, 0, z, 0);
        h = level <= h ? h : level; /* NaN shows */
    }
    for (int i = 0; i < def->fill_count; i++) {
        double bottom;
        h = fmax(h, ground + und_shape_column(def->fills[i].shape, x, z, ground, top, &bottom));
    }
    return h > top ? top : h;
}

/* Short waves that the surface makes where it crosses layers of cells lose a tenth in 1/omega. */
double und_cells_smoothing(const und_cells *s)
{
    return 0.1 * sqrt(fabs(s->def.gravity[1]) * 3.14159265358979323846 / fmin(s->mac.d[0], s->mac.d[2]));
}

static und_status fill_heights(und_cells *s, und_error *err)
{
    s->height = und_height_create(&s->mac, s->threads, err);
    if (!s->height)
        return err->status;
    und_height *t = s->height;
    for (int i = 0; i < s->def.gate_count; i++)
        t->ground_moves |= s->def.gates[i].side < 0;
    und_height_ground(t, s->flow.label);
    t->smoothing = und_cells_smoothing(s);
    for (int z = 0; z < s->mac.n[2]; z++)
        for (int x = 0; x < s->mac.n[0]; x++) {
            size_t at = (size_t)z * (size_t)t->stride + (size_t)x;
            t->h[at] =
                height_at(s, und_mac_middle(&s->mac, 0, x), und_mac_middle(&s->mac, 2, z), t->ground[at]);
            if (!isfinite(t->h[at]))
                return und_error_set(err, UND_INVALID, "cells: level: expected a height, found %g", t->h[at]);
            for (int y = 0; y < s->mac.n[1]; y++) /* as at rest */
                s->flow.p[und_mac_at(&s->mac, x, y, z)] =
                    fmax(-s->def.gravity[1] * (t->h[at] - und_mac_middle(&s->mac, 1, y)), 0);
        }
    return UND_OK;
}

static und_status fill_chains(und_cells *s, und_error *err)
{
    const und_cells_def *def = &s->def;
    s->chains = und_chains_create(&s->mac, s->threads, err);
    if (!s->chains)
        return err->status;
    for (int i = def->has_level ? -1 : 0; i < def->fill_count; i++) {
        fills f = {def, -1, i + 1};
        if (und_chains_add(s->chains, inside_last, &f, s->flow.label, i < 0 ? 0 : def->fills[i].chain, err))
            return err->status;
    }
    return UND_OK;
}

static und_status fill_markers(und_cells *s, und_error *err)
{
    fills f = {&s->def, -1, s->def.fill_count};
    s->markers = und_markers_create(&s->mac, s->def.seed, s->threads, err);
    if (!s->markers)
        return err->status;
    return und_markers_fill(s->markers, inside, &f, s->flow.label, s->def.markers_per_cell, err);
}

/* Whose liquid a place in a cell that holds some is: of the last fill that holds it, or of the nearest one,
 * where only the rim of one is in the cell; -1: the level's. */
static int owner_of(const und_cells_def *def, double x, double y, double z)
{
    double nearest = def->has_level ? fmax(y - und_value_at(&def->level, x, 0, z, 0), 0) : INFINITY;
    int owner = -1;
    for (int i = 0; i < def->fill_count; i++) {
        double away = fmax(und_shape_distance(def->fills[i].shape, (und_vec3){x, y, z}), 0);
        if (away <= nearest) {
            nearest = away;
            owner = i;
        }
    }
    return owner;
}

/* The velocity of a fill on all faces of a cell; components that are 0 leave those of the liquid beside. */
static void start_cell(und_cells *s, const und_fill_def *fill, const int cell[3])
{
    const und_mac *m = &s->mac;
    size_t at = und_mac_at(m, cell[0], cell[1], cell[2]);
    for (int side = 0; side < (m->n[2] > 1 ? 6 : 4); side++) {
        int a = side / 2;
        const und_value *velocity = &fill->velocity[a];
        double c[3] = {cell[0], cell[1], cell[2]};
        c[a] += side % 2 ? 0.5 : -0.5;
        if (velocity->fn || velocity->number != 0)
            s->flow.u[a][side % 2 ? at : at - (size_t)m->step[a]] =
                und_value_at(velocity, und_mac_middle(m, 0, c[0]), und_mac_middle(m, 1, c[1]),
                             und_mac_middle(m, 2, c[2]), 0);
    }
}

static bool any_fill_moves(const und_cells_def *def)
{
    for (int i = 0; i < 3 * def->fill_count; i++) {
        const und_value *velocity = &def->fills[i / 3].velocity[i % 3];
        if (velocity->fn || velocity->number != 0)
            return true;
    }
    return false;
}

/* All the liquid of a fill begins with its velocity, that in cells of which it covers only a part too. */
static void start_velocities(und_cells *s)
{
    const und_mac *m = &s->mac;
    if (!any_fill_moves(&s->def))
        return;
    for (int z = 0; z < m->n[2]; z++)
        for (int y = 0; y < m->n[1]; y++)
            for (int x = 0; x < m->n[0]; x++) {
                uint8_t label = s->flow.label[und_mac_at(m, x, y, z)];
                if (label != UND_CELL_FULL && label != UND_CELL_SURFACE)
                    continue;
                int owner = owner_of(&s->def, und_mac_middle(m, 0, x), und_mac_middle(m, 1, y),
                                     und_mac_middle(m, 2, z));
                if (owner >= 0)
                    start_cell(s, &s->def.fills[owner], (const int[3]){x, y, z});
            }
}

und_status und_cells_fill(und_cells *s, und_error *err)
{
    und_status (*const fill[])(und_cells *, und_error *) = {fill_markers, fill_chains, fill_heights};
    if (fill[s->def.track](s, err) != UND_OK)
        return err->status;
    if (s->height && s->def.spray.on && !(s->spray = und_cells_spray_create(&s->def, s->height, err)))
        return err->status;
    und_cells_find_labels(s);
    start_velocities(s);
    und_marker_flow_walls_changed(&s->flow); /* none in solids */
    return UND_OK;
}

double und_cells_surface_at(const und_cells *s, int x, int y, int z)
{
    double middle = und_mac_middle(&s->mac, 1, y), d = s->mac.d[1];
    size_t at = und_mac_at(&s->mac, x, y, z), over = at + (size_t)s->mac.step[1];
    if (s->flow.label[over] == UND_CELL_FULL || s->flow.label[over] == UND_CELL_SURFACE)
        return middle;
    if (s->height)
        return und_cells_height(s, x, z);
    return middle + (und_cells_wet(s, x, y, z) - 0.5) * d;
}

/* What presses on the surface in a cell, over density. */
static double applied(const und_cells *s, int x, int y, int z)
{
    double c[3] = {und_mac_middle(&s->mac, 0, x), und_mac_middle(&s->mac, 1, y),
                   und_mac_middle(&s->mac, 2, z)};
    double p = und_value_at(&s->def.pressure, c[0], und_cells_surface_at(s, x, y, z), c[2], s->time);
    p = p / s->def.density + und_cells_made_pressure(s, x, z);
    /* The surface is at its height, not at the cell's middle; the side of a step of several cells has air at
     * it, whatever is above.  The labels know which: at a face the height rounds to either side. */
    uint8_t over = s->flow.label[und_mac_at(&s->mac, x, y + 1, z)];
    if (s->height && s->def.surface_in_cell && over != UND_CELL_FULL && over != UND_CELL_SURFACE)
        p += -s->def.gravity[1] * (und_cells_height(s, x, z) - c[1]);
    if (!s->height && s->def.surface_in_cell)
        p += und_cells_under_surface(s, und_mac_at(&s->mac, x, y, z), p);
    return p;
}

typedef struct press_args {
    const und_cells *of;
} press_args;
static inline void press_row(const press_args *a, und_place row)
{
    const und_cells *s = a->of;
    int number = row.y + s->mac.n[1] * row.z, high = s->flow.row_high[number];
    const uint8_t *label = s->flow.label + row.at, *next;
    for (int x = s->flow.row_low[number]; x < high; x = (int)(next - label) + 1) {
        next = memchr(label + x, UND_CELL_SURFACE, (size_t)(high - x));
        if (!next)
            return;
        s->flow.p[row.at + (size_t)(next - label)] = applied(s, (int)(next - label), row.y, row.z);
    }
}
UND_KERNEL(press_row, press_args, UND_EACH_ROW)

/* Surface cells have the pressure applied to them.  Functions of a scene are called from one thread. */
static void press(const und_cells *s)
{
    enum { WORTH = 8 }; /* cells, that one of them is */
    und_set rows = und_set_rows(&s->mac, UND_ROWS_INSIDE);
    const und_device device = {.threads = s->def.pressure.fn ? 1 : s->threads};
    rows.worth = WORTH * (size_t)s->flow.surface;
    und_pass(&device, press_row, &(press_args){s}, &rows);
}

void und_cells_find_labels(und_cells *s)
{
    if (s->markers)
        und_markers_label(s->markers, s->flow.label);
    else if (s->chains)
        und_chains_label(s->chains, s->flow.label);
    else
        und_height_label(s->height, s->flow.label);
    und_marker_flow_label(&s->flow);
    if (s->markers)
        und_markers_wet(s->markers, s->flow.label, s->def.markers_per_cell);
    else if (s->chains)
        und_chains_wet(s->chains);
    und_cells_rule_makers(s);
    press(s);
}

double und_cells_volume(const und_cells *s)
{
    if (s->markers)
        return und_cells_wet_volume(s);
    return s->chains ? und_chains_volume(s->chains) : und_height_volume(s->height);
}

/* Steps ask for no memory: room for births is made before them. */
void und_cells_make_room(und_cells *s, double dt)
{
    und_error err; /* where there is no room, births are missed */
    if (s->chains)
        (void)und_chains_make_room(s->chains, &err);
    if (!s->markers)
        return;
    int most = und_markers_expected(s->markers, s->flow.u, s->flow.label, s->flow.wall, s->walls,
                                    s->wall_count, s->def.markers_per_cell, dt);
    (void)und_markers_reserve(s->markers, most, &err);
}

/* Markers leave one by one, and what a solid comes over is taken out: what they stand for less than flows
 * says is shared out among all. */
static void make_up(und_cells *s, double through, double before)
{
    const double most = 0.01; /* of what they stand for, in a step */
    double cell = s->mac.d[0] * s->mac.d[1] * s->mac.d[2], all = cell * und_markers_stand_for(s->markers);
    s->owed += through - (all - before);
    if (!s->def.keep_volume || !(all > 0))
        return;
    double part = fmin(fmax(s->owed / all, -most), most);
    und_markers_scale(s->markers, 1 + part);
    s->owed -= cell * und_markers_stand_for(s->markers) - all;
}

static void move_markers(und_cells *s, double through)
{
    double cell = s->mac.d[0] * s->mac.d[1] * s->mac.d[2];
    double before = cell * und_markers_stand_for(s->markers);
    und_markers_move(s->markers, s->flow.u, s->flow.label, s->flow.wall, s->walls, s->dt);
    und_markers_birth(s->markers, s->flow.u, s->flow.label, s->flow.wall, s->walls, s->wall_count,
                      s->def.markers_per_cell, s->dt, &s->missed);
    make_up(s, through, before);
}

static void move_heights(und_cells *s, double through)
{
    double gained = und_height_move(s->height, s->flow.u, s->flow.label, s->dt);
    if (s->def.keep_volume)
        und_height_add(s->height, through - gained);
}

/* Markers are born wherever something comes in; chains and heights rise where there is liquid already.  What
 * leaves a Surface cell is the wet part of it; under a height all of its floor is wet. */
static double wet_part(void *context, const int c[3], int axis, bool comes_in)
{
    const und_cells *s = context;
    uint8_t label = s->flow.label[und_mac_at(&s->mac, c[0], c[1], c[2])];
    if (comes_in)
        return s->markers || label == UND_CELL_FULL || label == UND_CELL_SURFACE;
    return s->height && axis == 1 ? 1 : und_cells_wet(s, c[0], c[1], c[2]);
}

static und_inflows inflows_of(const und_cells *s)
{
    return (und_inflows){s->flow.u, s->flow.label, s->flow.wall, s->walls, s->wall_count};
}

void und_cells_pour(und_cells *s)
{
    const und_inflows inflows = inflows_of(s);
    if (s->chains && und_chains_pour(s->chains, &inflows))
        und_cells_find_labels(s);
}

void und_cells_track(und_cells *s)
{
    double in, out, before = s->ledger.measured;
    const und_inflows inflows = inflows_of(s);
    und_marker_flow_through(&s->flow, s->dt, wet_part, s, &in, &out);
    if (s->markers)
        move_markers(s, in - out);
    else if (s->chains)
        und_chains_move(s->chains, &inflows, s->dt);
    else
        move_heights(s, in - out);
    und_ledger_add(&s->ledger.sources, &s->lost.sources, in);
    und_ledger_add(&s->ledger.left, &s->lost.left, out);
    if (s->markers) /* what they fill is known when cells have their labels */
        return;
    s->ledger.measured = und_cells_volume(s);
    /* Chains show where liquid is, not how much: what they gain and lose is told. */
    s->ledger.correction += s->ledger.measured - before - (in - out);
    if (s->chains && s->def.keep_volume)
        und_chains_owe(s->chains, s->ledger.correction);
}

void und_cells_measure(und_cells *s)
{
    und_ledger *l = &s->ledger;
    if (!s->markers)
        return;
    l->measured = und_cells_volume(s);
    l->correction += l->measured - und_ledger_expected(l);
}

void und_cells_splash(und_cells *s)
{
    und_cells_spray *spray = s->spray;
    if (!spray)
        return;
    spray->substep = s->substeps;
    spray->time = s->time;
    spray->dt = s->dt;
    spray->ledger = &s->ledger;
    spray->lost = &s->lost;
    und_cells_emit(spray);
    und_cells_fly(spray);
    s->ledger.measured = und_cells_volume(s);
}
