/* liquid.levelset{} into a und_levelset_def; its elements are in elements_block.c. */
#include "liquid/levelset.h"

#include "geom/motion.h"
#include "scene/levelset_block.h"
#include "scene/sequence_block.h"

#include <lauxlib.h>
#include <math.h>
#include <string.h>

enum { CELLS_MAX = 4096, DROPS_MAX = 1 << 26 };

#define CELLS_TOTAL ((double)(1 << 30))

#define LEVELSET(member_) offsetof(und_levelset_def, member_)

const field und_placed_fields[] = {{"keys", F_OTHER, .read = und_read_keys, .inside = und_key_fields,
                                    .expected = "a list of keys {{ time = 0, at = {...} }, ...}",
                                    .doc = "where it is and when, in the order of time"},
                                   {"easing", F_CHOICE, .offset = offsetof(placed_read, path.easing),
                                    .choices = und_easings, .doc = "how it moves between the keys"},
                                   {"at", F_POINT, "m", .offset = offsetof(placed_read, pose.position),
                                    .doc = "where it stands, instead of keys"},
                                   {"turn", F_POINT, "degrees",
                                    .offset = offsetof(placed_read, pose.rotation),
                                    .doc = "how it is turned about x, then y, then z, instead of keys"},
                                   {0}};

const und_motion *und_read_placed(reader *r, const placed_read *placed)
{
    bool led = und_read_has(r, "keys"), put = und_read_has(r, "at") || und_read_has(r, "turn");
    if (led && put)
        und_read_fail(r, "expected either keys or \"at\" and \"turn\", found both: keys say where it is");
    if (!led && und_read_has(r, "easing"))
        und_read_fail(r, "easing is between keys, and there are none");
    path_def rest = {.keys = &placed->pose, .count = 1};
    return led ? und_read_motion(r, &placed->path) : put ? und_read_motion(r, &rest) : NULL;
}

/* Lengths, or "open" for axes that end nowhere: those are 0 here. */
static void read_size(reader *r, const field *f, void *def)
{
    und_levelset_def *l = def;
    double *size = r->scene->size;
    const bool all = lua_type(r->L, -1) == LUA_TSTRING && strcmp(lua_tostring(r->L, -1), "open") == 0;
    const int count = all ? 3 : lua_type(r->L, -1) == LUA_TTABLE ? (int)lua_rawlen(r->L, -1) : 0;
    bool any = all;
    for (int i = 0; i < 3; i++)
        size[i] = 0;
    for (int i = 0; i < count && i < 3 && !all; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        any |= lua_type(r->L, -1) == LUA_TSTRING && strcmp(lua_tostring(r->L, -1), "open") == 0;
        lua_pop(r->L, 1);
    }
    l->endless = any;
    if (!any) {
        und_read_size(r, f, def);
        return;
    }
    if (count < 2 || count > 3)
        und_read_expected(r, f->expected);
    for (int i = 0; i < count && !all; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        if (lua_type(r->L, -1) != LUA_TSTRING || strcmp(lua_tostring(r->L, -1), "open") != 0)
            size[i] = und_read_number(
                r, &(field){.type = F_NUMBER, .unit = f->unit, .low = f->low, .high = f->high});
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
    r->scene->curve = count == 2;
}

/* How large cells are: as many as fit, and of axes that end nowhere as many as can be counted. */
static void read_cell(reader *r, const field *f, void *def)
{
    und_levelset_def *l = def;
    double cells = 1;
    l->dx = und_read_number(r, f);
    for (int i = 0; i < 3; i++) {
        const double length = r->scene->size[i], n = fmax(1, round(length / l->dx));
        if (n > CELLS_MAX)
            und_read_fail(r, "expected at most %d cells along an axis: %g m are %g of them", CELLS_MAX,
                          length, n);
        const bool endless = length == 0 && !(r->scene->curve && i == 2);
        l->n[i] = endless ? UND_LEVELSET_ENDLESS : (int)n;
        cells *= l->n[i];
    }
    if (cells > CELLS_TOTAL && !l->endless)
        und_read_fail(r, "expected at most 2^30 cells in all, found %d x %d x %d", l->n[0], l->n[1], l->n[2]);
    r->scene->curve = l->n[2] == 1;
}

/* The domain's middle is where its corner would be, and it has no sides. */
static void set_endless(const reader *r, und_levelset_def *l)
{
    for (int i = 0; i < 3; i++) {
        if (r->scene->size[i] > 0 || l->n[i] != UND_LEVELSET_ENDLESS)
            continue;
        l->origin[i] -= UND_LEVELSET_ENDLESS / 2 * l->dx;
        l->open[2 * i] = l->open[2 * i + 1] = true;
    }
}

/* Cells are cubes: one number is along the longest edge. */
static void read_cells(reader *r, const field *f, void *def)
{
    und_levelset_def *l = def;
    const double *size = r->scene->size;
    double n[3] = {0, 0, 1}, longest = fmax(size[0], fmax(size[1], size[2]));
    bool each = lua_type(r->L, -1) == LUA_TTABLE;
    if (l->endless)
        return; /* und_read_levelset says so */
    if (each) {
        und_read_numbers(r, n, r->scene->curve ? 2 : 3, 3, f->expected);
    } else {
        double count = und_read_number(r, f);
        for (int i = 0; i < 3; i++)
            n[i] = count == floor(count) ? fmax(1, round(count * size[i] / longest)) : count;
    }
    l->dx = each ? size[0] / n[0] : longest / und_read_number(r, f);
    for (int i = 0; i < 3; i++) {
        if (!(n[i] >= 1 && n[i] <= f->high && n[i] == floor(n[i])))
            und_read_fail(r, "expected whole numbers from 1 to %g, found %g", f->high, n[i]);
        if (each && size[i] > 0 && fabs(n[i] * l->dx - size[i]) > 0.5 * l->dx)
            und_read_fail(
                r,
                "cells are cubes: %g along x are %g m wide, and along %c %.6g of those fit into %g m, "
                "not %g",
                n[0], l->dx, "xyz"[i], size[i] / l->dx, size[i], n[i]);
        l->n[i] = (int)n[i];
    }
    if (r->scene->curve && l->n[2] != 1)
        und_read_fail(r, "size = {x, y} is a domain one cell deep; found %d along z", l->n[2]);
    if (n[0] * n[1] * n[2] > CELLS_TOTAL)
        und_read_fail(r, "expected at most 2^30 cells in all, found %g x %g x %g", n[0], n[1], n[2]);
    r->scene->curve = l->n[2] == 1;
}

static void open_side(reader *r, und_levelset_def *l)
{
    int side = 0;
    und_read_choice(r, und_side_names, &side);
    if (r->scene->curve && side >= 4)
        und_read_fail(r, "a domain one cell deep has no \"%s\"", und_side_names[side]);
    l->open[side] = true;
}

static void read_open(reader *r, const field *f, void *def)
{
    if (lua_type(r->L, -1) != LUA_TTABLE) {
        open_side(r, def);
        return;
    }
    lua_Unsigned count = lua_rawlen(r->L, -1);
    for (lua_pushnil(r->L); lua_next(r->L, -2); lua_pop(r->L, 1))
        if (lua_type(r->L, -2) != LUA_TNUMBER || count > UND_SIDES)
            und_read_fail(r, "expected %s", f->expected);
    for (int i = 0; i < (int)count; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        open_side(r, def);
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
}

static const field fill_fields[] = {{"shape", F_SHAPE, NULL, .required = true,
                                     .offset = offsetof(und_fill_def, shape), .doc = "where the liquid is"},
                                    {"velocity", F_FLOW, "m/s", 0, UND_SPEED_MAX,
                                     .offset = offsetof(und_fill_def, velocity),
                                     .doc = "with which it sets out"},
                                    UND_TEMPERATURE(offsetof(und_fill_def, temperature), "of its own"),
                                    {0}};

static void read_fills(reader *r, const field *f, void *def)
{
    und_levelset_def *l = def;
    const shape_list list = {fill_fields, sizeof(und_fill_def), .expected = f->expected};
    l->fills = und_read_shapes(r, &list, &l->fill_count);
}

typedef struct solid_read {
    placed_read placed; /* first: und_placed_fields */
    und_obstacle_def solid;
    und_look look;
} solid_read;

#define SOLID(member_) offsetof(solid_read, solid.member_)

static void read_sequence(reader *r, const field *f, void *def)
{
    (void)f;
    ((solid_read *)def)->solid.sequence = und_read_sequence(r);
}

static void read_separate(reader *r, const field *f, void *def)
{
    if (!lua_isboolean(r->L, -1))
        und_read_expected(r, f->expected);
    ((solid_read *)def)->solid.separate = lua_toboolean(r->L, -1) ? UND_SEPARATE_ALWAYS : UND_SEPARATE_NEVER;
}

static const field solid_fields[] = {
    {"shape", F_SHAPE, NULL, .offset = SOLID(shape), .doc = "what it is, in its own coordinates"},
    {"sequence", F_OTHER, .read = read_sequence, .inside = und_sequence_fields,
     .expected = "a table { files = ... }", .doc = "a mesh that deforms, instead of a shape"},
    INCLUDE(und_placed_fields),
    {"container", F_FLAG, .offset = SOLID(inside_out),
     .doc = "all but the shape is solid: it holds the liquid"},
    UND_TEMPERATURE(SOLID(temperature), "of its surface; without it nothing passes"),
    {"friction", F_NUMBER, NULL, 0, 1, .offset = SOLID(friction),
     .doc = "0: liquid slips along it, 1: it sticks to it; in between, what goes in 1/24 s of its speed "
            "along it"},
    {"separate", F_OTHER, .read = read_separate, .expected = "true or false",
     .doc =
         "liquid comes off it wherever it would have to pull; false: it holds liquid by suction; without it "
         "liquid comes off beside air, if it never moves"},
    {"name", F_NAME, .offset = SOLID(name), .doc = "for reports"},
    {"material", F_OTHER, .offset = offsetof(solid_read, look), .read = und_read_look,
     .expected = MATERIAL_EXPECTED, .doc = "what it is made of, in ray-traced pictures"},
    {0}};

static void init_solid(void *item)
{
    ((solid_read *)item)->placed.path.easing = UND_EASE_SPLINE;
}

static void finish_solid(reader *r, void *item)
{
    solid_read *s = item;
    if ((s->solid.shape != NULL) == (s->solid.sequence != NULL))
        und_read_fail(r, s->solid.shape ? "expected either a shape or a sequence, found both"
                                        : "missing key \"shape\" or \"sequence\"");
    s->solid.motion = und_read_placed(r, &s->placed);
}

static void read_solids(reader *r, const field *f, void *def)
{
    und_levelset_def *l = def;
    const shape_list list = {solid_fields, sizeof(solid_read), SOLID(shape),
                             init_solid,   finish_solid,       f->expected};
    solid_read *read = und_read_shapes(r, &list, &l->obstacle_count);
    und_obstacle_def *solids = und_scene_alloc(r, (size_t)l->obstacle_count, sizeof *solids);
    for (int i = 0; i < l->obstacle_count; i++)
        solids[i] = read[i].solid;
    l->obstacles = solids;
    und_looks *looks = &r->scene->view.render.looks;
    const look_list look = {read, sizeof *read, offsetof(solid_read, look), l->obstacle_count};
    if (r->scene->view.grid_count == 0) /* the others' solids are those of the first, or look as they do */
        und_add_looks(r, &looks->solids, &looks->solid_count, 0, &look);
}

static const field spray_fields[] = {{"most", F_INTEGER, NULL, 1, DROPS_MAX, .offset = LEVELSET(spray_most),
                                      .doc = "drops in the air at once"},
                                     {0}};

static void read_spray(reader *r, const field *f, void *def)
{
    ((und_levelset_def *)def)->spray = und_read_switch(r, f, def, "true, false or { most = ... }");
}

static void read_viscosity(reader *r, const field *f, void *def)
{
    und_levelset_def *l = def;
    field space = *f;
    und_value value;
    space.type = F_SPACE;
    und_read_value(r, &space, &value);
    l->viscosity = value.number;
    l->viscosity_field = value;
}

static void read_cfl(reader *r, const field *f, void *def)
{
    field number = *f;
    number.type = F_NUMBER;
    number.low = 0.05;
    number.high = 100;
    double cfl = und_read_number(r, &number);
    lua_pushstring(r->L, "courant");
    if (lua_rawget(r->L, -3) != LUA_TNIL)
        und_read_fail(r, "is the old name of 1 / courant: expected one of them");
    lua_pop(r->L, 1);
    ((und_levelset_def *)def)->courant = 1 / cfl;
}

static const char *const viscosity_solvers[] = {"diffuse", "split", "coupled", NULL};
static const char *const velocity_rules[] = {"semi-lagrangian", "maccormack", NULL};
enum { SEMI_LAGRANGIAN = UND_SURFACE_VOLUME + 1 }; /* the old name of particles */
static const char *const surface_rules[] = {"particles", "weno", "volume", "semi-lagrangian", NULL};

const field und_levelset_fields[] = {
    {"name", F_NAME, .offset = LEVELSET(name),
     .doc = "of the grid, where a scene has several; what leaves by its open sides is then kept for others"},
    {"from", F_OTHER, .read = und_read_from, .expected = "a grid's name, or a list of names",
     .doc =
         "grids that liquid comes from over their open sides; three cells along such a side belong to both"},
    {"size", F_OTHER, "m", 1e-6, 1e6, true, .read = read_size,
     .expected = "{x, y, z}, or {x, y}, or \"open\"",
     .doc =
         "the domain's lengths, rounded to whole cells; {x, y}: one cell deep, two-dimensional; \"open\", or "
         "that for a length: it ends nowhere"},
    {"cell", F_OTHER, "m", 1e-6, 1e3, .read = read_cell, .expected = "a length (m)",
     .doc = "how large they are, instead of how many"},
    {"cells", F_OTHER, NULL, 1, CELLS_MAX, .read = read_cells, .expected = "a number or {nx, ny, nz}",
     .doc = "how many, along the longest edge or {nx, ny, nz}; they are cubes"},
    {"origin", F_OTHER, "m", -1e9, 1e9, .offset = LEVELSET(origin), .read = und_read_components,
     .expected = "{x, y, z}", .doc = "the domain's low corner; the middle of what ends nowhere"},
    {"gravity", F_OTHER, "m/s2", -1e4, 1e4, .offset = LEVELSET(gravity), .read = und_read_gravity,
     .expected = "a number or {x, y, z}", .doc = "pull downwards, or {x, y, z}"},
    {"density", F_NUMBER, "kg/m3", 1e-3, 1e6, .offset = LEVELSET(density), .doc = "of the liquid"},
    {"viscosity", F_OTHER, "m2/s", 0, 1e6, .read = read_viscosity,
     .expected = "a number or a function(x, y, z, t)",
     .doc = "kinematic: honey 0.005; 0: none, which suits water; or a function of place and time"},
    {"viscosity_solver", F_CHOICE, .offset = LEVELSET(viscosity_solver), .choices = viscosity_solvers,
     .doc = "\"coupled\", by which ropes buckle and coil and waves die as they should; \"split\"; or "
            "\"diffuse\", of a constant viscosity alone, without the stress at the surface"},
    {"temperature", F_OTHER, .read = und_read_heat, .inside = und_heat_fields, .expected = "a table",
     .doc = "that the liquid carries, and what viscosity it makes"},
    {"stick", F_FLAG, .offset = LEVELSET(stick),
     .doc = "liquid with a viscosity sticks to solids and sides; false: slips along them"},
    {"open", F_OTHER, .read = read_open,
     .expected = "a side of the domain (\"top\"), or a list of sides {\"left\", \"top\"}",
     .doc = "sides that liquid leaves by: \"left\", \"right\", \"bottom\", \"top\", \"back\", \"front\""},
    {"fill", F_OTHER, .read = read_fills, .inside = fill_fields, .expected = SHAPES_EXPECTED,
     .doc = "liquid at the start"},
    {"level", F_VALUE, "m", -1e9, 1e9, .offset = LEVELSET(level),
     .doc = "liquid stands up to here at the start, besides what is filled"},
    {"solids", F_OTHER, .read = read_solids, .inside = solid_fields, .expected = SHAPES_EXPECTED,
     .doc = "obstacles and containers, at rest and moving"},
    LIST("sources", und_read_sources, und_source_fields, "places that are always full of liquid"),
    LIST("drains", und_read_drains, und_drain_fields, "places that never hold liquid"),
    LIST("forces", und_read_forces, und_force_fields, "what pushes the liquid besides gravity"),
    LIST("modifiers", und_read_modifiers, und_modifier_fields, "velocities that the liquid is led to"),
    {"window", F_OTHER, .read = und_read_window, .inside = und_window_fields,
     .expected = "a table { follow = ... }, or false",
     .doc = "the grid is only a part of the domain, which moves and grows with what it is to hold; false: "
            "never, nor by itself in large domains"},
    LIST("control", und_read_control, und_control_fields,
         "control particles, which lead what is around them"),
    {"courant", F_NUMBER, NULL, 0, 20, .offset = LEVELSET(courant),
     .doc =
         "cells that liquid crosses in a step, all but the fastest: fewer are slower and more accurate; 0: "
         "3, but 1.67 where it is viscous or particles alone follow its surface"},
    {"cfl", F_OTHER, .read = read_cfl, .expected = "a number from 0.05 to 100",
     .doc = "the old name of 1 / courant"},
    {"max_step", F_NUMBER, "s", 1e-9, INFINITY, .offset = LEVELSET(max_step),
     .doc = "no step is longer than this"},
    {"trace", F_INTEGER, NULL, 2, 3, .offset = LEVELSET(trace),
     .doc =
         "order of the Runge-Kutta method by which the flow is followed back; the surface of water is by 3"},
    {"order", F_INTEGER, NULL, 0, 2, .offset = LEVELSET(order),
     .doc = "of the flow in time and beyond its surface: 2 keeps the spin of eddies and of what turns in the "
            "air; 0: 2, but 1 where the viscosity varies or control shapes the surface of a viscous liquid"},
    {"advection", F_CHOICE, .offset = LEVELSET(velocity_rule), .choices = velocity_rules,
     .doc = "of the velocity: \"maccormack\", second order, or \"semi-lagrangian\", which is smoother"},
    {"surface", F_CHOICE, .offset = LEVELSET(surface_rule), .choices = surface_rules,
     .doc = "how it is followed: \"volume\": each cell has what it holds, exactly, and particles keep the "
            "shape; "
            "\"particles\" alone correct it, as in the thesis; \"weno\": phi of fifth order"},
    {"redistance", F_INTEGER, NULL, 1, 2, .offset = LEVELSET(redistance),
     .doc = "order to which the surface stays put where distances are made anew"},
    {"particles", F_INTEGER, NULL, 0, 64, .offset = LEVELSET(particles),
     .doc = "in a cell near the surface, to correct it; 0: a plain level set"},
    {"reseed", F_INTEGER, NULL, 0, 1e6, .offset = LEVELSET(reseed),
     .doc = "steps from one reseeding of particles to the next; 0: never"},
    {"tolerance", F_NUMBER, NULL, 1e-10, 0.1, .offset = LEVELSET(tolerance),
     .doc = "of the pressure: what is left of its right-hand side"},
    {"iterations", F_INTEGER, NULL, 1, 1e6, .offset = LEVELSET(max_iterations),
     .doc = "of the pressure at most"},
    {"free_air", F_FLAG, .offset = LEVELSET(free_air),
     .doc = "the air near the liquid keeps its volume too while it moves the surface"},
    {"keep_volume", F_FLAG, .offset = LEVELSET(keep_volume),
     .doc = "what following the surface loses or gains is put back, and reported; \"volume\" loses none"},
    {"spray", F_OTHER, .read = read_spray, .inside = spray_fields, .expected = "true or a table",
     .doc = "liquid too thin for the cells, and what crests throw, flies on as drops"},
    {"velocity", F_FLAG, .offset = LEVELSET(keep_velocity), .doc = "writes the velocity with each frame"},
    {"pressure", F_FLAG, .offset = LEVELSET(keep_pressure), .doc = "writes the pressure with each frame"},
    {"tracers", F_FLAG, .offset = LEVELSET(keep_level_set_particles),
     .doc = "writes the particles that correct the surface with each frame, for a look at them"},
    {0}};

void und_read_levelset(reader *r)
{
    und_levelset_def *l = &r->scene->view.levelset;
    und_begin_grid(r);
    und_read_table(r, und_levelset_fields, l);
    if (und_read_has(r, "cells") == und_read_has(r, "cell") || (l->endless && und_read_has(r, "cells")))
        und_read_fail(r, l->endless                 ? "missing key \"cell\" (m): how large is one?"
                         : und_read_has(r, "cells") ? "expected either \"cells\" or \"cell\", found both"
                                                    : "missing key \"cells\"");
    set_endless(r, l);
    l->has_level = und_read_has(r, "level");
    if ((int)l->surface_rule == SEMI_LAGRANGIAN)
        l->surface_rule = UND_SURFACE_PARTICLES;
    r->scene->view.grid = und_levelset_grid(l);
    und_end_grid(r);
}
