/* Mouse tools on the cells: liquid, solids and inflows are painted, and taken away again. */
#include "liquid/cells_state.h"

#include <math.h>
#include <string.h>

static const double FASTEST = 100; /* m/s; no hand makes liquid faster */

/* The cells that a hand reaches on its way, half open, and the way. */
typedef struct stroke {
    const und_mac *mac;
    double from[3], way[3], square; /* m; m2: of the way's length */
    double radius;
    int low[3], high[3];
} stroke;

/* Where a coordinate is between cells; far beyond the grid is as good as just beyond. */
static int cell_of(const und_mac *m, int axis, double place)
{
    return (int)floor(fmin(fmax((place - m->origin[axis]) / m->d[axis], -1), m->n[axis]));
}

/* False: the hand is none.  One that is narrower than a cell still leaves no gaps. */
static bool stroke_of(const und_mac *m, const und_mouse_tool *hand, stroke *s)
{
    double diagonal = 0, sum = hand->radius;
    int axes = m->n[2] > 1 ? 3 : 2;
    *s = (stroke){.mac = m, .high = {m->n[0], m->n[1], m->n[2]}};
    for (int a = 0; a < axes; a++) {
        sum += fabs(hand->from[a]) + fabs(hand->place[a]);
        diagonal += m->d[a] * m->d[a];
    }
    if (!(sum < 1e12) || !(hand->radius > 0))
        return false;
    s->radius = fmax(hand->radius, 0.5 * sqrt(diagonal));
    for (int a = 0; a < axes; a++) {
        double near = fmin(hand->from[a], hand->place[a]), far = fmax(hand->from[a], hand->place[a]);
        int low = cell_of(m, a, near - s->radius), high = cell_of(m, a, far + s->radius) + 1;
        s->low[a] = low > 0 ? low : 0;
        s->high[a] = high < m->n[a] ? high : m->n[a];
        s->from[a] = hand->from[a];
        s->way[a] = hand->place[a] - hand->from[a];
        s->square += s->way[a] * s->way[a];
    }
    return true;
}

/* Is the middle of the cell within reach of the way? */
static bool reaches(const stroke *s, const int cell[3])
{
    double to[3] = {0}, along = 0, away = 0;
    int axes = s->mac->n[2] > 1 ? 3 : 2;
    for (int a = 0; a < axes; a++) {
        to[a] = und_mac_middle(s->mac, a, cell[a]) - s->from[a];
        along += to[a] * s->way[a];
    }
    double share = s->square > 0 ? fmin(fmax(along / s->square, 0), 1) : 0;
    for (int a = 0; a < axes; a++) {
        double aside = to[a] - share * s->way[a];
        away += aside * aside;
    }
    return away <= s->radius * s->radius;
}

/* Calls for each cell that the hand reaches; whether any of the calls says so. */
typedef bool cell_fn(und_cells *s, size_t at, int paint);
static bool for_cells(und_cells *s, const stroke *way, cell_fn *fn, int paint)
{
    bool any = false;
    for (int z = way->low[2]; z < way->high[2]; z++)
        for (int y = way->low[1]; y < way->high[1]; y++)
            for (int x = way->low[0]; x < way->high[0]; x++)
                if (reaches(way, (const int[3]){x, y, z}))
                    any |= fn(s, und_mac_at(&s->mac, x, y, z), paint);
    return any;
}

static bool is_wet(const und_cells *s, size_t at)
{
    return s->flow.label[at] == UND_CELL_FULL || s->flow.label[at] == UND_CELL_SURFACE;
}

static bool fill_cell(und_cells *s, size_t at, int paint)
{
    (void)paint;
    if (s->flow.label[at] != UND_CELL_EMPTY)
        return false;
    s->change[at] = UND_CHANGE_FILL;
    return true;
}

/* Solids of the scene stay what they are, but an inflow may be painted on them. */
static bool paint_cell(und_cells *s, size_t at, int paint)
{
    bool solid = s->flow.label[at] == UND_CELL_SOLID;
    if (s->painted[at] == paint || (solid && !s->painted[at] && paint == 1))
        return false;
    s->painted[at] = (uint8_t)paint;
    if (is_wet(s, at))
        s->change[at] = UND_CHANGE_DRY;
    return true;
}

static bool erase_cell(und_cells *s, size_t at, int paint)
{
    (void)paint;
    if (s->painted[at]) {
        s->painted[at] = 0;
        return true;
    }
    if (is_wet(s, at))
        s->change[at] = UND_CHANGE_DRY;
    return is_wet(s, at);
}

void und_cells_set_paints(und_cells *s)
{
    for (int i = 0; i < s->paints; i++) {
        und_wall_def *wall = &s->walls[s->first_paint + i];
        *wall = (und_wall_def){.kind = i == 0 || !s->is_painted ? UND_WALL_SLIP : UND_WALL_INFLOW};
        for (int a = 0; a < 3; a++)
            wall->velocity[a].number = s->paint_velocity[i][a];
    }
}

/* The inflow of that velocity: one that there is, or one that no cell has, or the nearest. */
static int inflow_of(und_cells *s, const double velocity[3])
{
    bool used[UND_PAINTS + 1] = {false};
    int best = 0, spare = 0;
    double nearest = INFINITY;
    for (size_t i = 0; i < s->mac.count; i++)
        used[s->painted[i]] = true;
    for (int i = UND_PAINTS - 1; i > 0; i--) {
        double away = 0;
        for (int a = 0; a < 3; a++) {
            double other = s->paint_velocity[i][a] - velocity[a];
            away += other * other;
        }
        if (away <= nearest) {
            nearest = away;
            best = i;
        }
        spare = used[1 + i] ? spare : i;
    }
    if (nearest > 0 && spare > 0) {
        memcpy(s->paint_velocity[spare], velocity, sizeof s->paint_velocity[spare]);
        best = spare;
    }
    return 1 + best;
}

/* Whether a place is in a cell that is to be filled. */
static bool in_filled(void *context, double x, double y, double z)
{
    const und_cells *s = context;
    const double place[3] = {x, y, z};
    int cell[3];
    for (int a = 0; a < 3; a++) {
        int at = cell_of(&s->mac, a, place[a]);
        cell[a] = at < 0 ? 0 : at < s->mac.n[a] ? at : s->mac.n[a] - 1;
    }
    return s->change[und_mac_at(&s->mac, cell[0], cell[1], cell[2])] == UND_CHANGE_FILL;
}

/* A column holds as much more, or less, as its cells that change. */
static void change_heights(und_cells *s, const stroke *way)
{
    und_height *t = s->height;
    const und_mac *m = &s->mac;
    double top = m->origin[1] + m->n[1] * m->d[1];
    for (int z = way->low[2]; z < way->high[2]; z++)
        for (int x = way->low[0]; x < way->high[0]; x++) {
            size_t at = und_height_at(t, x, z);
            double h = t->h[at], by = 0;
            for (int y = way->low[1]; y < way->high[1]; y++) {
                uint8_t change = s->change[und_mac_at(m, x, y, z)];
                double low = fmax(und_mac_middle(m, 1, y - 0.5), t->ground[at]),
                       high = und_mac_middle(m, 1, y + 0.5);
                by += change == UND_CHANGE_FILL ? m->d[1] : 0;
                by -= change == UND_CHANGE_DRY ? fmax(fmin(h, high) - low, 0) : 0;
            }
            t->h[at] = fmax(fmin(h + by, top), t->ground[at]);
        }
}

static bool changes(const und_cells *s, const stroke *way)
{
    uint8_t any = 0;
    for (int z = way->low[2]; z < way->high[2]; z++)
        for (int y = way->low[1]; y < way->high[1]; y++)
            for (int x = way->low[0]; x < way->high[0]; x++)
                any |= s->change[und_mac_at(&s->mac, x, y, z)];
    return any;
}

/* Liquid comes into cells and goes out of them; where there is no memory for it, it does not. */
static void change_liquid(und_cells *s, const stroke *way)
{
    und_error err;
    if (s->markers) {
        und_markers_take_out(s->markers, s->change, UND_CHANGE_DRY);
        (void)und_markers_fill_box(s->markers, in_filled, s, s->flow.label, s->def.markers_per_cell, way->low,
                                   way->high, &err);
    } else if (s->chains && changes(s, way))
        (void)und_chains_change(s->chains, s->change, s->flow.label, &err);
}

/* The faces of cells that are filled have the velocity of what comes, but for those at other liquid. */
static void start_velocity(und_cells *s, const stroke *way, const double velocity[3])
{
    const und_mac *m = &s->mac;
    for (int z = way->low[2]; z < way->high[2]; z++)
        for (int y = way->low[1]; y < way->high[1]; y++)
            for (int x = way->low[0]; x < way->high[0]; x++) {
                size_t at = und_mac_at(m, x, y, z);
                for (int side = 0; side < 6 && s->change[at] == UND_CHANGE_FILL; side++) {
                    size_t step = (size_t)m->step[side / 2], beside = side % 2 ? at + step : at - step;
                    if (s->flow.label[beside] == UND_CELL_EMPTY)
                        s->flow.u[side / 2][side % 2 ? at : beside] = velocity[side / 2];
                }
            }
}

static void forget_changes(und_cells *s, const stroke *way)
{
    for (int z = way->low[2]; z < way->high[2]; z++)
        for (int y = way->low[1]; y < way->high[1]; y++)
            memset(s->change + und_mac_at(&s->mac, way->low[0], y, z), 0,
                   (size_t)(way->high[0] - way->low[0]));
}

/* What was marked is done: first the columns, whose water the ground then carries. */
static void do_changes(und_cells *s, const stroke *way, bool walls, const double velocity[3])
{
    double before = und_cells_volume(s);
    if (s->height)
        change_heights(s, way);
    if (walls) {
        s->is_painted = true;
        und_cells_set_paints(s);
        und_cells_rebuild(s);
    }
    if (s->height) {
        s->height->ground_moves |= walls;
        (void)und_height_ground(s->height, s->flow.label); /* what is lost is seen below */
    } else
        change_liquid(s, way);
    start_velocity(s, way, velocity);
    und_cells_find_labels(s);
    double gain = und_cells_volume(s) - before;
    s->ledger.measured += gain; /* what labels make of markers is for the next move to tell */
    if (gain > 0)
        und_ledger_add(&s->ledger.sources, &s->lost.sources, gain);
    else
        und_ledger_add(&s->ledger.drains, &s->lost.drains, -gain);
}

void und_cells_touch(und_liquid *liquid, const und_mouse_tool *hand, double dt)
{
    und_cells *s = (und_cells *)liquid;
    stroke way;
    double velocity[3] = {0};
    bool walls = hand->tool == UND_TOOL_SOLID || hand->tool == UND_TOOL_INFLOW, any = false;
    (void)dt;
    if (!(liquid->class->tools >> hand->tool & 1) || !stroke_of(&s->mac, hand, &way) ||
        (s->paints == 0 && walls))
        return;
    for (int a = 0; a < (s->mac.n[2] > 1 ? 3 : 2); a++)
        velocity[a] = isnan(hand->velocity[a]) ? 0 : fmin(fmax(hand->velocity[a], -FASTEST), FASTEST);
    if (hand->tool == UND_TOOL_LIQUID)
        any = for_cells(s, &way, fill_cell, 0);
    else if (walls)
        any = for_cells(s, &way, paint_cell, hand->tool == UND_TOOL_SOLID ? 1 : inflow_of(s, velocity));
    else if (hand->tool == UND_TOOL_ERASE)
        any = for_cells(s, &way, erase_cell, 0);
    if (any)
        do_changes(s, &way, hand->tool != UND_TOOL_LIQUID && (walls || s->is_painted), velocity);
    forget_changes(s, &way);
}

void und_cells_tuning(const und_liquid *liquid, und_tuning *tuning)
{
    const und_cells *s = (const und_cells *)liquid;
    *tuning = (und_tuning){
        .gravity = -s->def.gravity[1], .damping = NAN, .viscosity = s->def.viscosity, .rain = NAN};
}

void und_cells_tune(und_liquid *liquid, const und_tuning *tuning)
{
    und_cells *s = (und_cells *)liquid;
    const double most_gravity = 1e3, most_viscosity = 1e3;
    double gravity = -tuning->gravity, viscosity = fmin(tuning->viscosity, most_viscosity);
    if (fabs(tuning->gravity) <= most_gravity && gravity != s->def.gravity[1]) {
        s->def.gravity[1] = gravity;
        s->is_tuned = true;
    }
    if (tuning->viscosity >= 0 && viscosity != s->def.viscosity) {
        s->def.viscosity = viscosity;
        s->is_tuned = true;
    }
    if (s->height)
        s->height->smoothing = und_cells_smoothing(s);
}
