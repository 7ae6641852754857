#include "check.h"

#include "geom/shape.h"
#include "geom/value.h"
#include "liquid/cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const side_names[UND_SIDES] = {"left", "right", "bottom", "top", "back", "front"};

/* Times at which what changes is looked at. */
enum { LOOKS = 32 };

/* Substeps a frame that are a surprise. */
static const double MANY = 200;

/* The cells at the start, as the first frame has them. */
typedef struct cell_survey {
    survey *s;
    const und_cells_def *def;
    const uint8_t *label; /* [nz][ny][nx] */
    long count[4];        /* of each und_label */
    double speed;         /* the fastest that liquid is likely to be, m/s */
    int highest;          /* cell along y that liquid is or comes in at */
    bool brings, lets_out;
} cell_survey;

static uint8_t label_at(const cell_survey *c, int x, int y, int z)
{
    const int *n = c->def->n;
    if (x < 0 || y < 0 || z < 0 || x >= n[0] || y >= n[1] || z >= n[2])
        return UND_CELL_SOLID;
    return c->label[((size_t)z * (size_t)n[1] + (size_t)y) * (size_t)n[0] + (size_t)x];
}

static und_vec3 place(const und_cells_def *def, double x, double y, double z) /* in cells */
{
    return und_vec(def->origin[0] + x * def->cell[0], def->origin[1] + y * def->cell[1],
                   def->origin[2] + z * def->cell[2]);
}

static und_vec3 middle(const und_cells_def *def, int x, int y, int z)
{
    return place(def, x + 0.5, y + 0.5, z + 0.5);
}

static double cell_volume(const und_cells_def *def)
{
    return def->cell[0] * def->cell[1] * def->cell[2];
}

static double speed_of(const und_value velocity[3], und_vec3 p, double t)
{
    und_vec3 v = {und_value_at(&velocity[0], p.x, p.y, p.z, t), und_value_at(&velocity[1], p.x, p.y, p.z, t),
                  und_value_at(&velocity[2], p.x, p.y, p.z, t)};
    return und_length(v);
}

/* Are there cells whose middle lies in the shape, and all of them solid? */
static bool is_in_solid(const cell_survey *c, const und_shape *shape)
{
    const int *n = c->def->n;
    bool any = false;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                if (und_shape_distance(shape, middle(c->def, x, y, z)) < 0) {
                    any = true;
                    if (label_at(c, x, y, z) != UND_CELL_SOLID)
                        return false;
                }
    return any;
}

static placed placed_solid(const und_cells_def *def, int i)
{
    return (placed){.what = "solid",
                    .number = i + 1,
                    .shape = def->solids[i].shape,
                    .thin = "liquid passes through it; make it at least a cell thick, or use more cells"};
}

static void check_shapes(cell_survey *c)
{
    for (int i = 0; i < c->def->solid_count; i++) {
        const placed solid = placed_solid(c->def, i);
        check_placed(c->s, &solid);
        if (c->count[UND_CELL_FULL] + c->count[UND_CELL_SURFACE] == 0)
            check_swallowed(c->s, &solid);
    }
    for (int i = 0; i < c->def->fill_count; i++) {
        const und_fill_def *fill = &c->def->fills[i];
        check_placed(c->s, &(placed){.what = "fill",
                                     .number = i + 1,
                                     .shape = fill->shape,
                                     .thin = "there may be no liquid of it; use more cells"});
        if (is_in_solid(c, fill->shape))
            check_warn(c->s, "fill %d lies wholly in what is solid", i + 1);
    }
}

static void add_fill_speeds(cell_survey *c)
{
    for (int i = 0; i < c->def->fill_count; i++) {
        const und_fill_def *fill = &c->def->fills[i];
        und_bounds b = und_shape_bounds(fill->shape);
        und_vec3 p =
            isfinite(b.low.x + b.high.x) ? und_mul(und_add(b.low, b.high), 0.5) : middle(c->def, 0, 0, 0);
        c->speed = fmax(c->speed, speed_of(fill->velocity, p, 0));
    }
}

/* One face of a gate: the cell in the domain beside it, where liquid may be. */
typedef struct gate_face {
    int cell[3], axis, sign; /* the way into the domain */
} gate_face;

typedef void gate_face_fn(cell_survey *c, const und_gate_def *gate, const gate_face *face, void *context);

static bool in_gate(const cell_survey *c, const und_gate_def *gate, int x, int y, int z)
{
    const int *n = c->def->n;
    bool inside = x >= 0 && y >= 0 && z >= 0 && x < n[0] && y < n[1] && z < n[2];
    return inside && und_shape_distance(gate->shape, middle(c->def, x, y, z)) < 0;
}

/* All faces of a side that the gate has. */
static void each_side_face(cell_survey *c, const und_gate_def *gate, gate_face_fn *each, void *context)
{
    const int *n = c->def->n;
    int axis = gate->side / 2, high = gate->side % 2, at[3];
    int b = (axis + 1) % 3, d = (axis + 2) % 3;
    at[axis] = high ? n[axis] - 1 : 0;
    for (at[b] = 0; at[b] < n[b]; at[b]++)
        for (at[d] = 0; at[d] < n[d]; at[d]++) {
            double p[3] = {at[0] + 0.5, at[1] + 0.5, at[2] + 0.5};
            p[axis] = high ? n[axis] : 0;
            if (gate->shape && und_shape_distance(gate->shape, place(c->def, p[0], p[1], p[2])) > 0)
                continue;
            if (label_at(c, at[0], at[1], at[2]) != UND_CELL_SOLID)
                each(c, gate, &(gate_face){{at[0], at[1], at[2]}, axis, high ? -1 : 1}, context);
        }
}

/* All faces between the cells of a gate in the domain and others that are not solid. */
static void each_inner_face(cell_survey *c, const und_gate_def *gate, gate_face_fn *each, void *context)
{
    const int *n = c->def->n;
    for (int z = 0; z < n[2]; z++)
        for (int y = 0; y < n[1]; y++)
            for (int x = 0; x < n[0]; x++)
                for (int way = 0; way < 6 && in_gate(c, gate, x, y, z); way++) {
                    int at[3] = {x, y, z}, axis = way / 2, sign = way % 2 ? 1 : -1;
                    at[axis] += sign;
                    if (label_at(c, at[0], at[1], at[2]) != UND_CELL_SOLID &&
                        !in_gate(c, gate, at[0], at[1], at[2]))
                        each(c, gate, &(gate_face){{at[0], at[1], at[2]}, axis, sign}, context);
                }
}

static void each_face(cell_survey *c, const und_gate_def *gate, gate_face_fn *each, void *context)
{
    if (gate->side >= 0)
        each_side_face(c, gate, each, context);
    else
        each_inner_face(c, gate, each, context);
}

/* What comes in through a gate. */
typedef struct gate_flow {
    double time;
    long faces;
    double rate;    /* m3/s into the domain at the time; in two dimensions of a cell's depth */
    double fastest; /* m/s */
} gate_flow;

static void add_face(cell_survey *c, const und_gate_def *gate, const gate_face *face, void *context)
{
    gate_flow *flow = context;
    const und_cells_def *def = c->def;
    double p[3] = {face->cell[0] + 0.5, face->cell[1] + 0.5, face->cell[2] + 0.5};
    p[face->axis] -= 0.5 * face->sign;
    und_vec3 at = place(def, p[0], p[1], p[2]);
    double v = und_value_at(&gate->wall.velocity[face->axis], at.x, at.y, at.z, flow->time);
    flow->faces++;
    if (gate->wall.kind == UND_WALL_INFLOW && face->cell[1] > c->highest)
        c->highest = face->cell[1];
    flow->rate += face->sign * v * cell_volume(def) / def->cell[face->axis];
    flow->fastest = fmax(flow->fastest, speed_of(gate->wall.velocity, at, flow->time));
}

/* Markers asked for at an inflow, a gate or a whole side. */
static void check_births(cell_survey *c, const und_gate_def *gate, const char *which)
{
    gate_flow flow = {.time = fmax(gate->start, 0)};
    const und_wall_def *wall = &gate->wall;
    if (wall->kind != UND_WALL_INFLOW || !(wall->markers > 0) || c->def->track != UND_TRACK_MARKERS)
        return;
    each_face(c, gate, add_face, &flow);
    double most = flow.rate / cell_volume(c->def) * UND_MARKERS_MOST;
    if (most > 0 && wall->markers > most)
        check_warn(c->s,
                   "%s: markers: of %g a second %.3g are born, %d to a cell of liquid; %.3g keep their "
                   "density",
                   which, wall->markers, most, UND_MARKERS_MOST,
                   most / UND_MARKERS_MOST * c->def->markers_per_cell);
}

static void check_gate_place(cell_survey *c, const und_gate_def *gate, int number)
{
    gate_flow flow = {.time = fmax(gate->start, 0)};
    each_face(c, gate, add_face, &flow);
    if (flow.faces == 0)
        check_warn(c->s, "gate %d is beside no cell that liquid can be in: it lies in solids or outside",
                   number);
    if (gate->start > c->s->seconds)
        check_warn(c->s, "gate %d begins at %g s, after the last frame at %g s", number, gate->start,
                   c->s->seconds);
}

/* Is there an inflow, or an outflow? */
static bool has_flow(const und_cells_def *def, und_wall_kind kind)
{
    bool has = false;
    for (int i = 0; i < UND_SIDES; i++)
        has |= def->wall[i].kind == kind;
    for (int i = 0; i < def->gate_count; i++)
        has |= def->gates[i].wall.kind == kind;
    return has;
}

/* Volume that a gate brings in until the last frame, m3. */
static double check_gate(cell_survey *c, const und_gate_def *gate, int number)
{
    double from = fmax(gate->start, 0), to = fmin(gate->end, c->s->seconds), volume = 0;
    bool inflow = gate->wall.kind == UND_WALL_INFLOW;
    gate_flow flow = {.time = from};
    each_face(c, gate, add_face, &flow);
    c->lets_out |= gate->wall.kind == UND_WALL_OUTFLOW && flow.faces > 0;
    if (!inflow || flow.faces == 0 || !(to > from))
        return 0;
    c->brings = true;
    double most = 0;
    for (int i = 0; i < LOOKS; i++) {
        flow = (gate_flow){.time = from + (to - from) * (i + 0.5) / LOOKS};
        each_face(c, gate, add_face, &flow);
        volume += flow.rate * (to - from) / LOOKS;
        most = fmax(most, flow.rate);
        c->speed = fmax(c->speed, flow.fastest);
    }
    if (!(most > 0))
        check_warn(c->s,
                   "gate %d is an inflow, and its velocity never points into the domain: it takes liquid out "
                   "at that "
                   "rate",
                   number);
    return volume;
}

/* A side that is an inflow or an outflow for good is like a gate. */
static void check_gates(cell_survey *c)
{
    const und_cells_def *def = c->def;
    double volume = 0, room = (double)c->count[UND_CELL_EMPTY] * cell_volume(def);
    for (int i = 0; i < UND_SIDES; i++) {
        und_gate_def side = {.side = i, .wall = def->wall[i], .end = INFINITY};
        gate_flow flow = {0};
        if (i >= 4 && def->n[2] == 1)
            continue;
        each_face(c, &side, add_face, &flow);
        c->speed = fmax(c->speed, flow.fastest);
        c->lets_out |= side.wall.kind == UND_WALL_OUTFLOW;
        c->brings |= side.wall.kind == UND_WALL_INFLOW;
        volume += side.wall.kind == UND_WALL_INFLOW ? flow.rate * c->s->seconds : 0;
        if (side.wall.kind == UND_WALL_INFLOW && !(flow.rate > 0))
            check_warn(c->s, "the %s side is an inflow, and its velocity at the start does not point inwards",
                       side_names[i]);
    }
    for (int i = 0; i < def->gate_count; i++)
        volume += check_gate(c, &def->gates[i], i + 1);
    if (c->brings)
        printf("inflow     about %.4g m3 until the last frame; the air at the start is %.4g m3\n", volume,
               room);
    if (c->brings && !c->lets_out && volume > room)
        check_warn(c->s,
                   "more liquid comes in than there is room for, and nothing lets any out: where liquid has "
                   "nowhere to go the pressure has no solution");
    bool pull = def->gravity[0] != 0 || def->gravity[1] != 0 || def->gravity[2] != 0;
    if (c->lets_out && !pull && !c->brings)
        check_warn(c->s, "there is an outflow, but neither gravity nor an inflow drives liquid to it");
}

/* Air below the liquid of a column, which a height field cannot have. */
static void check_columns_of_air(cell_survey *c)
{
    const und_cells_def *def = c->def;
    long columns = 0;
    for (int z = 0; z < def->n[2]; z++)
        for (int x = 0; x < def->n[0]; x++) {
            bool air = false, over = false;
            for (int y = 0; y < def->n[1]; y++) {
                und_vec3 p = middle(def, x, y, z);
                bool liquid = def->has_level && p.y < und_value_at(&def->level, p.x, p.y, p.z, 0);
                for (int i = 0; i < def->fill_count && !liquid; i++)
                    liquid = und_shape_distance(def->fills[i].shape, p) < 0;
                bool solid = label_at(c, x, y, z) == UND_CELL_SOLID;
                over |= liquid && !solid && air;
                air = solid ? air : air || !liquid;
            }
            columns += over;
        }
    if (columns > 0)
        check_warn(c->s,
                   "in %ld columns there is air below liquid, and a height field has one surface in each: "
                   "markers can do that",
                   columns);
}

/* How far liquid may fall: from the highest that there is, or comes in, to the lowest cell of air; the speed
 * of that. */
static double falling_speed(const cell_survey *c)
{
    const und_cells_def *def = c->def;
    int highest = c->highest, lowest = def->n[1];
    for (int z = 0; z < def->n[2]; z++)
        for (int y = 0; y < def->n[1]; y++)
            for (int x = 0; x < def->n[0]; x++) {
                uint8_t label = label_at(c, x, y, z);
                if ((label == UND_CELL_FULL || label == UND_CELL_SURFACE) && y > highest)
                    highest = y;
                if (label == UND_CELL_EMPTY && y < lowest)
                    lowest = y;
            }
    int cells = highest >= lowest ? highest - lowest + 1 : 1;
    return sqrt(2 * fabs(def->gravity[1]) * cells * def->cell[1]);
}

/* Equation 3 with the speed that is likely, and the viscous limit. */
static void check_steps(cell_survey *c)
{
    const und_cells_def *def = c->def;
    double least = def->cell[0], bend = 0, frame = 1 / c->s->scene->fps;
    for (int a = 0; a < (def->n[2] > 1 ? 3 : 2); a++) {
        least = fmin(least, def->cell[a]);
        bend += 1 / (def->cell[a] * def->cell[a]);
    }
    for (int i = 0; i < def->maker_count; i++)
        c->speed = fmax(c->speed, sqrt(fabs(def->gravity[1]) * def->makers[i].amplitude));
    c->speed = fmax(c->speed, falling_speed(c));
    double courant = c->speed > 0 ? def->courant * least / c->speed : INFINITY;
    double viscous = def->viscosity > 0 ? 0.9 / (2 * def->viscosity * bend) : INFINITY;
    double waves = und_cells_longest_swing(def);
    double dt = fmin(fmin(fmin(courant, viscous), waves), fmin(def->max_step, frame));
    double steps = ceil(frame / dt - 1e-9);
    const char *rule = dt == frame     ? "the frame is shorter than any limit"
                       : dt == viscous ? "viscosity rules"
                       : dt == courant ? "eq. 3 rules (courant)"
                       : dt == waves   ? "the shortest waves rule"
                                       : "max_step rules";
    printf("speed      up to about %.3g m/s; eq. 3 allows steps of %.3g s, viscosity %.3g s\n", c->speed,
           courant, viscous);
    printf("substeps   about %.0f a frame when that fast: %s\n", steps, rule);
    if (dt == viscous && steps > MANY)
        check_warn(c->s, "viscosity needs %.0f steps a frame: cells twice as large need a quarter of that",
                   steps);
    else if (steps > MANY && dt != def->max_step)
        check_warn(c->s, "about %.0f steps a frame: fewer cells, or a slower inflow, need less", steps);
}

static bool in_solid(const void *context, und_vec3 at)
{
    const cell_survey *c = context;
    const und_cells_def *def = c->def;
    const double p[3] = {at.x, at.y, at.z};
    int cell[3];
    for (int a = 0; a < 3; a++) {
        double q = floor((p[a] - def->origin[a]) / def->cell[a]);
        if (!(q >= 0 && q < def->n[a]))
            return a == 1 && q < 0; /* below the floor; beside the domain is another matter, above is air */
        cell[a] = (int)q;
    }
    return label_at(c, cell[0], cell[1], cell[2]) == UND_CELL_SOLID;
}

/* False: the frame does not tell. */
static bool survey_cells(survey *s, const und_frame *frame, cell_survey *c)
{
    const und_item *label = und_frame_find(frame, "label");
    *c = (cell_survey){.s = s, .def = &s->scene->cells, .highest = -1};
    size_t cells = (size_t)c->def->n[0] * (size_t)c->def->n[1] * (size_t)c->def->n[2];
    if (!label || label->type != UND_U8 || und_item_count(label) != cells)
        return false;
    c->label = label->data;
    for (size_t i = 0; i < cells; i++)
        c->count[c->label[i] & 3]++;
    return true;
}

void check_cells_in_vain(survey *s, const und_frame *frame)
{
    cell_survey c;
    char which[32];
    if (!survey_cells(s, frame, &c))
        return;
    check_shapes(&c);
    for (int i = 0; i < c.def->gate_count; i++) {
        check_gate_place(&c, &c.def->gates[i], i + 1);
        snprintf(which, sizeof which, "gate %d", i + 1);
        check_births(&c, &c.def->gates[i], which);
    }
    for (int i = 0; i < UND_SIDES; i++)
        check_births(&c, &(und_gate_def){.side = i, .wall = c.def->wall[i]}, side_names[i]);
    long liquid = c.count[UND_CELL_FULL] + c.count[UND_CELL_SURFACE];
    if (liquid == 0 && !has_flow(c.def, UND_WALL_INFLOW))
        check_warn(s, "there is no liquid at the start and nothing brings any");
    if (liquid > 0 && c.count[UND_CELL_EMPTY] == 0 && c.count[UND_CELL_SURFACE] == 0 &&
        !has_flow(c.def, UND_WALL_OUTFLOW))
        check_warn(s, "the domain is filled to the brim, and nothing lets any out: there is no surface");
    check_max_step(s, c.def->max_step);
}

void check_cells(survey *s, const und_frame *frame)
{
    static const char *const tracks[] = {"markers", "chains", "a height field"};
    cell_survey c;
    if (!survey_cells(s, frame, &c))
        return;
    printf("liquid     %ld of %d cells (%ld full, %ld at the surface), %ld solid; followed by %s\n",
           c.count[UND_CELL_FULL] + c.count[UND_CELL_SURFACE], c.def->n[0] * c.def->n[1] * c.def->n[2],
           c.count[UND_CELL_FULL], c.count[UND_CELL_SURFACE], c.count[UND_CELL_SOLID], tracks[c.def->track]);
    add_fill_speeds(&c);
    check_gates(&c);
    if (c.def->track == UND_TRACK_HEIGHT)
        check_columns_of_air(&c);
    check_steps(&c);
    check_bodies(s, &(check_crowd){.count = s->scene->floating_bodies.body_count,
                                   .bodies = s->scene->floating_bodies.bodies,
                                   .density = c.def->density,
                                   .solid = "what is solid",
                                   .in_solid = in_solid,
                                   .context = &c});
}
