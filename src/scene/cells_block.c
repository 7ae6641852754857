/* liquid.cells{} into a und_cells_def. */
#include "geom/shape.h"
#include "liquid/cells.h"
#include "scene/blocks.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

enum { CELLS_MAX = 4096, FOAM_MAX = 1 << 24 };

#define CELLS_TOTAL ((double)(1 << 28))
#define FOREVER 1e9
#define SPEED 1e6

#define CELLS(member_) offsetof(und_cells_def, member_)

/* One number: along the longest edge, and as many along the others as make cells most nearly cubes. */
static void spread_cells(reader *r, const field *f, und_cells_def *cells)
{
    const double *size = r->scene->size;
    double longest = fmax(size[0], fmax(size[1], size[2])), count = und_read_number(r, f);
    if (count != floor(count))
        und_read_expected(r, "a whole number, or {nx, ny, nz}");
    for (int i = 0; i < 3; i++)
        cells->n[i] = (int)fmax(1, round(count * size[i] / longest));
}

static void read_cells(reader *r, const field *f, void *def)
{
    und_cells_def *cells = def;
    double n[3] = {0, 0, 1}, *size = r->scene->size;
    if (lua_type(r->L, -1) == LUA_TNUMBER) {
        spread_cells(r, f, cells);
    } else {
        und_read_numbers(r, n, r->scene->curve ? 2 : 3, 3, "a number of cells, or {nx, ny, nz}");
        for (int i = 0; i < 3; i++) {
            if (!(n[i] >= 1 && n[i] <= f->high && n[i] == floor(n[i])))
                und_read_fail(r, "expected whole numbers from 1 to %g, found %g", f->high, n[i]);
            cells->n[i] = (int)n[i];
        }
    }
    if (r->scene->curve && cells->n[2] != 1)
        und_read_fail(r, "size = {x, y} is a domain one cell deep; found %d along z", cells->n[2]);
    if ((double)cells->n[0] * cells->n[1] * cells->n[2] > CELLS_TOTAL)
        und_read_fail(r, "expected at most 2^28 cells in all, found %d x %d x %d", cells->n[0], cells->n[1],
                      cells->n[2]);
    r->scene->curve = cells->n[2] == 1;
    for (int i = 0; i < 3; i++)
        cells->cell[i] = size[i] > 0 ? size[i] / cells->n[i] : cells->cell[0];
}

/* In the order of und_wall_kind. */
static const char *const wall_kinds[] = {"slip", "stick", "inflow", "outflow", NULL};

#define WALL(member_) offsetof(und_wall_def, member_)
#define WALL_DOC "\"slip\", \"stick\", \"inflow\" or \"outflow\""

static const field wall_fields[] = {
    {"kind", F_CHOICE, NULL, .required = true, .offset = WALL(kind), .choices = wall_kinds, .doc = WALL_DOC},
    {"velocity", F_FLOW, "m/s", 0, SPEED, .offset = WALL(velocity),
     .doc = "of what comes in, or of a wall that sticks, along itself"},
    {"markers", F_NUMBER, "1/s", 0, 1e9, .offset = WALL(markers),
     .doc = "inflow: markers born per second, at most 1000 to a cell of liquid; 0: as many as keep their "
            "density"},
    {0}};

/* Of the table on top. */
static void check_wall(reader *r, const und_wall_def *wall)
{
    bool velocity = und_read_has(r, "velocity");
    if (wall->kind == UND_WALL_INFLOW && !velocity)
        und_read_fail(r, "missing key \"velocity\" (m/s) of what comes in");
    if ((wall->kind == UND_WALL_SLIP || wall->kind == UND_WALL_OUTFLOW) && velocity)
        und_read_fail(r, "only what is \"inflow\" or \"stick\" has a velocity, this is \"%s\"",
                      wall_kinds[wall->kind]);
    if (wall->kind != UND_WALL_INFLOW && und_read_has(r, "markers"))
        und_read_fail(r, "only an \"inflow\" has markers, this is \"%s\"", wall_kinds[wall->kind]);
}

static void read_wall(reader *r, const field *f, void *def)
{
    und_wall_def *wall = (und_wall_def *)(void *)((char *)def + f->offset);
    *wall = (und_wall_def){0};
    if (lua_type(r->L, -1) == LUA_TTABLE) {
        und_read_table(r, wall_fields, wall);
        check_wall(r, wall);
        return;
    }
    und_read_choice(r, wall_kinds, (int *)&wall->kind);
    if (wall->kind == UND_WALL_INFLOW)
        und_read_fail(r, "an inflow has a velocity: { kind = \"inflow\", velocity = {...} }");
}

static void read_side(reader *r, const field *f, void *def)
{
    if (r->scene->curve && f->offset >= CELLS(wall[4]))
        und_read_fail(r, "a domain one cell deep has no \"%s\"", f->key);
    read_wall(r, f, def);
}

#define SIDE(name_, which_, doc_)                                                                \
    {                                                                                            \
        name_, F_OTHER, .offset = CELLS(wall[which_]), .read = read_side, .inside = wall_fields, \
                        .expected = "a word or a table", .doc = doc_                             \
    }

static const field side_fields[] = {SIDE("left", 0, "the side at low x"),
                                    SIDE("right", 1, "the side at high x"),
                                    SIDE("bottom", 2, "the side at low y"),
                                    SIDE("top", 3, "the side at high y"),
                                    SIDE("back", 4, "the side at low z"),
                                    SIDE("front", 5, "the side at high z"),
                                    {0}};

static void read_walls(reader *r, const field *f, void *def)
{
    und_read_table(r, f->inside, def);
}

typedef struct solid_read {
    und_solid_def solid; /* first: a shape alone is one */
    und_look look;
} solid_read;

static const field solid_fields[] = {
    {"shape", F_SHAPE, NULL, .required = true, .offset = offsetof(und_solid_def, shape), .doc = "what it is"},
    {"wall", F_OTHER, .offset = offsetof(und_solid_def, wall), .read = read_wall, .inside = wall_fields,
     .expected = "a word or a table", .doc = "what it does to the liquid at it; it slips along"},
    {"material", F_OTHER, .offset = offsetof(solid_read, look), .read = und_read_look,
     .expected = MATERIAL_EXPECTED,
     .doc = "what it is made of, in ray-traced pictures; cells are told apart by nothing: the same for all"},
    {0}};

static bool same_look(const und_look *a, const und_look *b)
{
    return a->paint == b->paint && memcmp(&a->matter, &b->matter, sizeof a->matter) == 0 &&
           a->texture == b->texture && a->texture_size == b->texture_size;
}

static void read_solids(reader *r, const field *f, void *def)
{
    und_cells_def *cells = def;
    const shape_list list = {solid_fields, sizeof(solid_read), .expected = f->expected};
    solid_read *read = und_read_shapes(r, &list, &cells->solid_count);
    und_solid_def *solids = und_scene_alloc(r, (size_t)cells->solid_count, sizeof *solids);
    const und_look *one = NULL;
    for (int i = 0; i < cells->solid_count; i++) {
        solids[i] = read[i].solid;
        if (one && read[i].look.given && !same_look(one, &read[i].look))
            und_read_fail(r,
                          "[%d].material: expected the same as of the others: a solid cell does not know "
                          "which of them it belongs to",
                          i + 1);
        one = read[i].look.given ? &read[i].look : one;
    }
    cells->solids = solids;
    und_looks *looks = &r->scene->view.render.looks;
    if (one)
        und_add_looks(r, &looks->solids, &looks->solid_count, 0, &(look_list){one, sizeof *one, 0, 1});
}

static const field fill_fields[] = {
    {"shape", F_SHAPE, NULL, .required = true, .offset = offsetof(und_fill_def, shape),
     .doc = "where the liquid is"},
    {"velocity", F_FLOW, "m/s", 0, SPEED, .offset = offsetof(und_fill_def, velocity),
     .doc = "with which it sets out"},
    {"chain", F_INTEGER, NULL, 0, 1e6, .offset = offsetof(und_fill_def, chain),
     .doc = "markers on its outline, where chains track it; 0: one every half cell"},
    {0}};

static void read_fills(reader *r, const field *f, void *def)
{
    und_cells_def *cells = def;
    const shape_list list = {fill_fields, sizeof(und_fill_def), .expected = f->expected};
    cells->fills = und_read_shapes(r, &list, &cells->fill_count);
}

#define GATE(member_) offsetof(und_gate_def, member_)

static const field gate_fields[] = {
    {"shape", F_SHAPE, NULL, .offset = GATE(shape),
     .doc = "the cells in it; with a side, only the part of the side in it"},
    {"side", F_CHOICE, .offset = GATE(side), .choices = und_side_names,
     .doc = "a side of the domain, whole or where the shape is: \"left\", \"right\", \"bottom\", \"top\", "
            "\"back\" or \"front\""},
    {"kind", F_CHOICE, NULL, .required = true, .offset = GATE(wall.kind), .choices = wall_kinds,
     .doc = WALL_DOC},
    {"velocity", F_FLOW, "m/s", 0, SPEED, .offset = GATE(wall.velocity),
     .doc = "of what comes in, or of a wall that sticks, along itself"},
    {"markers", F_NUMBER, "1/s", 0, 1e9, .offset = GATE(wall.markers),
     .doc = "inflow: markers born per second, at most 1000 to a cell of liquid; 0: as many as keep their "
            "density"},
    {"start", F_NUMBER, "s", -FOREVER, INFINITY, .offset = GATE(start), .doc = "when it begins"},
    {"stop", F_NUMBER, "s", -FOREVER, INFINITY, .offset = GATE(end), .doc = "when it ends"},
    {0}};

static void init_gate(void *item)
{
    *(und_gate_def *)item = (und_gate_def){.side = -1, .end = INFINITY};
}

static void check_gate(reader *r, void *item)
{
    und_gate_def *gate = item;
    if (!gate->shape && gate->side < 0)
        und_read_fail(r, "missing key \"shape\" or \"side\"");
    if (r->scene->curve && gate->side >= 4)
        und_read_fail(r, "a domain one cell deep has no \"%s\"", und_side_names[gate->side]);
    if (!(gate->end > gate->start))
        und_read_fail(r, "expected it to stop after it starts, found start = %g, stop = %g", gate->start,
                      gate->end);
    check_wall(r, &gate->wall);
}

static void read_gates(reader *r, const field *f, void *def)
{
    und_cells_def *cells = def;
    cells->gates =
        und_read_list(r, f->inside, sizeof(und_gate_def), init_gate, check_gate, &cells->gate_count);
}

#define MAKER(member_) offsetof(und_wave_maker, member_)

static const field maker_fields[] = {
    {"amplitude", F_NUMBER, "m", 0, 1e6, true, MAKER(amplitude), .doc = "of the waves"},
    {"wavelength", F_NUMBER, "m", 1e-6, 1e9, true, MAKER(wavelength), .doc = "from crest to crest"},
    {"depth", F_NUMBER, "m", 1e-6, 1e9, true, MAKER(depth), .doc = "mean depth of the liquid"},
    {"frequency", F_NUMBER, "rad/s", 0, 1e6, .offset = MAKER(frequency),
     .doc = "of the pattern; 0: that of free waves of the wavelength"},
    {"direction", F_NUMBER, "degrees", -3600, 3600, .offset = MAKER(direction),
     .doc = "where the waves go, from x towards z"},
    {"mean", F_NUMBER, "m2/s", -1e9, 1e9, .offset = MAKER(mean), .doc = "the pattern's mean, A of eq. 17"},
    {"time", F_NUMBER, "s", 1e-6, 1e9, true, MAKER(time),
     .doc = "how long the pattern needs to make the waves, in the place of eq. 17's time step"},
    {"printed", F_FLAG, .offset = MAKER(printed),
     .doc = "as strong as eq. 18 has it, whose units do not fit; else as makes waves of the amplitude"},
    {"start", F_NUMBER, "s", -FOREVER, INFINITY, .offset = MAKER(start), .doc = "when it begins"},
    {"stop", F_NUMBER, "s", -FOREVER, INFINITY, .offset = MAKER(end), .doc = "when it ends"},
    {0}};

static void init_maker(void *item)
{
    ((und_wave_maker *)item)->end = INFINITY;
}

static void read_makers(reader *r, const field *f, void *def)
{
    und_cells_def *cells = def;
    cells->makers =
        und_read_list(r, f->inside, sizeof(und_wave_maker), init_maker, NULL, &cells->maker_count);
}

static const field froth_fields[] = {
    {"life", F_NUMBER, "s/mm", 0, 1e6, .offset = offsetof(und_froth_def, life),
     .doc = "how long it lasts on average, per millimetre of the drop's radius"},
    {"most", F_INTEGER, NULL, 1, FOAM_MAX, .offset = offsetof(und_froth_def, most),
     .doc = "bits of foam at once"},
    {0}};

static void read_froth(reader *r, const field *f, void *def)
{
    und_froth_def *foam = &((und_cells_def *)def)->foam;
    foam->on = und_read_switch(r, f, foam, "true, false or { life = ..., most = ... }");
}

typedef struct revolve_read {
    double axis[2];
    int around, along;
} revolve_read;

#define REVOLVE(member_) offsetof(revolve_read, member_)

static const field revolve_fields[] = {
    {"axis", F_PAIR, "m", .offset = REVOLVE(axis), .doc = "where the upright axis stands, {x, z}"},
    {"around", F_INTEGER, NULL, 3, 4096, .offset = REVOLVE(around), .doc = "facets around the axis"},
    {"along", F_INTEGER, NULL, 1, 64, .offset = REVOLVE(along),
     .doc = "samples of the spline from one marker to the next"},
    {0}};

/* The axis stands at the domain's left side, in its middle along z, where nothing is said. */
static void read_revolve(reader *r, const field *f, void *def)
{
    und_cells_def *cells = def;
    revolve_read read = {.axis = {cells->origin[0], cells->origin[2] + 0.5 * cells->n[2] * cells->cell[2]},
                         .around = 96,
                         .along = 3};
    if (und_read_switch(r, f, &read, "true, false or { axis = ..., around = ..., along = ... }"))
        cells->revolve = (und_revolve_def){read.axis[0], read.axis[1], read.around, read.along};
}

static const char *const tracks[] = {"markers", "chains", "height", NULL};
static const char *const pressure_rules[] = {"multigrid", "relax", NULL};

const field und_cells_fields[] = {
    {"size", F_OTHER, "m", 1e-6, 1e6, true, .read = und_read_size, .expected = "{x, y, z}, or {x, y}",
     .doc = "the domain's lengths; {x, y}: one cell deep, two-dimensional"},
    {"cells", F_OTHER, NULL, 1, CELLS_MAX, true, .read = read_cells, .expected = "a number or {nx, ny, nz}",
     .doc = "how many, along the longest edge (as nearly cubes as fit) or {nx, ny, nz}"},
    {"origin", F_OTHER, "m", -1e9, 1e9, .offset = CELLS(origin), .read = und_read_components,
     .expected = "{x, y, z}", .doc = "the domain's low corner"},
    {"gravity", F_OTHER, "m/s2", -1e4, 1e4, .offset = CELLS(gravity), .read = und_read_gravity,
     .expected = "a number or {x, y, z}", .doc = "pull downwards, or {x, y, z}"},
    {"density", F_NUMBER, "kg/m3", 1e-3, 1e6, .offset = CELLS(density), .doc = "of the liquid"},
    {"viscosity", F_NUMBER, "m2/s", 0, 1e6, .offset = CELLS(viscosity),
     .doc = "kinematic: water 1e-6, thick soup 0.003"},
    {"surface_pressure", F_SPACE, "Pa", -1e12, 1e12, .offset = CELLS(pressure),
     .doc = "what presses on the surface, a function of place and time"},
    LIST("wave_makers", read_makers, maker_fields, "travelling pressure on the surface that makes waves"),
    {"walls", F_OTHER, .read = read_walls, .inside = side_fields, .expected = "a table",
     .doc = "what the domain's sides do; liquid slips along where nothing is said"},
    {"solids", F_OTHER, .read = read_solids, .inside = solid_fields, .expected = SHAPES_EXPECTED,
     .doc = "things in the way: the cells whose middle lies in one"},
    LIST("gates", read_gates, gate_fields, "places where, for a time, liquid comes in or leaves"),
    {"fill", F_OTHER, .read = read_fills, .inside = fill_fields, .expected = SHAPES_EXPECTED,
     .doc = "liquid at the start"},
    {"level", F_VALUE, "m", -1e9, 1e9, .offset = CELLS(level),
     .doc = "liquid stands up to here at the start, besides what is filled"},
    {"track", F_CHOICE, .offset = CELLS(track), .choices = tracks,
     .doc = "how the liquid's place is followed: \"markers\", \"chains\" or \"height\""},
    {"markers", F_INTEGER, NULL, 1, UND_MARKERS_MOST, .offset = CELLS(markers_per_cell),
     .doc = "in a cell at the start, where markers track the liquid"},
    {"revolve", F_OTHER, .read = read_revolve, .inside = revolve_fields, .expected = "true or a table",
     .doc = "chains: turned about an axis they make a round surface"},
    {"keep_volume", F_FLAG, .offset = CELLS(keep_volume),
     .doc = "what following the surface loses or gains is put back"},
    {"surface_in_cell", F_FLAG, .offset = CELLS(surface_in_cell),
     .doc = "pressure counts from where the surface is in its cell; false: as the paper prints it"},
    {"spray", F_OTHER, .offset = CELLS(spray), .read = und_read_spray, .inside = und_spray_fields,
     .expected = "true or a table", .doc = "height: drops that leave the liquid where it rises fast"},
    {"split", F_NUMBER, "1/s", 0, 1e3, .offset = CELLS(split),
     .doc = "how often a drop in the air splits in two"},
    {"foam", F_OTHER, .read = read_froth, .inside = froth_fields, .expected = "true or a table",
     .doc = "foam where spray lands"},
    {"pressure", F_CHOICE, .offset = CELLS(pressure_rule), .choices = pressure_rules,
     .doc = "how the pressure is found: \"multigrid\", or \"relax\", cell by cell"},
    {"relaxation", F_NUMBER, NULL, 1, 1.999, .offset = CELLS(beta0), .doc = "relax: beta0 of eq. 7"},
    {"epsilon", F_NUMBER, "1/s", 1e-12, 1e6, .offset = CELLS(epsilon), .doc = "the largest divergence left"},
    {"sweeps", F_INTEGER, NULL, 0, 1e7, .offset = CELLS(max_sweeps),
     .doc = "of relaxation, or iterations, in a step at most; 0: 10,000 or 100"},
    {"courant", F_NUMBER, NULL, 1e-3, 1, .offset = CELLS(courant),
     .doc = "cells that liquid may cross in a step, eq. 3"},
    {"upwind", F_NUMBER, NULL, 0, 1, .offset = CELLS(upwind),
     .doc = "donor-cell share of the convection, on top of what stability needs"},
    {"plain", F_FLAG, .offset = CELLS(plain), .doc = "eq. 2 as printed, whatever the step: for study"},
    {"max_step", F_NUMBER, "s", 1e-9, INFINITY, .offset = CELLS(max_step),
     .doc = "no step is longer than this"},
    LIST("bodies", und_read_floating_bodies, und_body_fields, "things that float in it, and do not move it"),
    {"keep_flow", F_FLAG, .offset = CELLS(keep_flow),
     .doc = "writes pressure and velocity with each frame: floating bodies need them"},
    {0}};

static void check_whole(reader *r, const und_cells_def *cells)
{
    static const char *const only_height[] = {"spray", "foam"};
    for (int i = 0; i < 2; i++)
        if (cells->track != UND_TRACK_HEIGHT && und_read_has(r, only_height[i]))
            und_read_fail(r, "only track = \"height\" has %s, this is \"%s\"", only_height[i],
                          tracks[cells->track]);
    if (cells->revolve.around > 0 && cells->track != UND_TRACK_CHAINS)
        und_read_fail(r, "only track = \"chains\" has revolve, this is \"%s\"", tracks[cells->track]);
    if (cells->track == UND_TRACK_CHAINS && cells->n[2] != 1)
        und_read_fail(r, "chains follow a liquid in two dimensions: expected one cell along z, found %d",
                      cells->n[2]);
    if (cells->foam.on && !cells->spray.on)
        und_read_fail(r, "foam is where spray lands, and there is no spray");
}

void und_read_cells(reader *r)
{
    und_cells_def *cells = &r->scene->view.cells;
    und_begin_liquid(r, UND_MODEL_CELLS);
    und_read_table(r, und_cells_fields, cells);
    cells->has_level = und_read_has(r, "level");
    if (!und_read_has(r, "markers"))
        cells->markers_per_cell = cells->n[2] == 1 ? 25 : 27;
    check_whole(r, cells);
    r->scene->view.grid = und_cells_grid(cells);
}
