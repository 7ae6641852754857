/* Grids of a scene that source each other (Rasmussen et al. 2004, 5.4): an acyclic graph. */
#include "base/status.h"
#include "base/words.h"
#include "liquid/levelset.h"
#include "scene/blocks.h"

#include <lauxlib.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void und_begin_grid(reader *r)
{
    und_scene *scene = r->scene;
    if (scene->view.grid_count == 0) {
        und_begin_liquid(r, UND_MODEL_LEVELSET);
        return;
    }
    if (!scene->grids[0].name)
        und_read_fail(r, "a scene has only one liquid, unless each of its grids has a name");
    if (scene->view.grid_count == UND_GRIDS_MAX)
        und_read_fail(r, "expected at most %d grids", (int)UND_GRIDS_MAX);
    scene->view.levelset = und_levelset_def_default();
}

void und_end_grid(reader *r)
{
    und_scene *scene = r->scene;
    und_named_grid *grid = &scene->grids[scene->view.grid_count];
    grid->def = scene->view.levelset;
    grid->name = grid->def.name;
    grid->line = r->line;
    if (!grid->name && scene->view.grid_count > 0)
        und_read_fail(r, "missing key \"name\": a scene with several grids names each");
    if (!grid->name && grid->from_count > 0)
        und_read_fail(r, "missing key \"name\": a grid that others source has one");
    if (grid->name && grid->def.window.on)
        und_read_fail(r, "window: a grid that sources others, or is sourced, stays where it is");
    for (int i = 0; i < scene->view.grid_count; i++)
        if (strcmp(scene->grids[i].name, grid->name) == 0)
            und_read_fail(r, "there is a grid of the name \"%s\" already", grid->name);
    scene->view.grid_count++;
}

static void add_from(reader *r, const field *f, und_named_grid *grid)
{
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, f->expected);
    if (grid->from_count == UND_GRIDS_MAX)
        und_read_fail(r, "expected at most %d names", (int)UND_GRIDS_MAX);
    const char *name = lua_tostring(r->L, -1);
    char *copy = und_scene_alloc(r, strlen(name) + 1, 1);
    grid->from_name[grid->from_count++] = memcpy(copy, name, strlen(name));
}

void und_read_from(reader *r, const field *f, void *def)
{
    (void)def;
    und_named_grid *grid = &r->scene->grids[r->scene->view.grid_count];
    if (lua_type(r->L, -1) != LUA_TTABLE) {
        add_from(r, f, grid);
        return;
    }
    lua_Unsigned count = lua_rawlen(r->L, -1);
    for (int i = 0; i < (int)(count < UND_GRIDS_MAX + 1 ? count : UND_GRIDS_MAX + 1); i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        add_from(r, f, grid);
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
}

/* "FILE:LINE: liquid.levelset \"NAME\": TEXT" as a Lua error. */
static _Noreturn void fail(lua_State *L, const und_scene *scene, const und_named_grid *grid,
                           const char *format, ...) __attribute__((format(printf, 4, 5)));
static _Noreturn void fail(lua_State *L, const und_scene *scene, const und_named_grid *grid,
                           const char *format, ...)
{
    char text[600];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    luaL_error(L, "%s:%d: liquid.levelset \"%s\": %s", scene->view.path, grid->line, grid->name, text);
    abort(); /* luaL_error does not return */
}

static int find_grid(const und_scene *scene, const char *name)
{
    for (int i = 0; i < scene->view.grid_count; i++)
        if (scene->grids[i].name && strcmp(scene->grids[i].name, name) == 0)
            return i;
    return -1;
}

static void find_names(lua_State *L, und_scene *scene, und_named_grid *grid)
{
    for (int k = 0; k < grid->from_count; k++) {
        const char *names[UND_GRIDS_MAX], *name = grid->from_name[k];
        for (int i = 0; i < scene->view.grid_count; i++)
            names[i] = scene->grids[i].name;
        const char *near = und_suggest(name, names, scene->view.grid_count);
        grid->from[k] = find_grid(scene, name);
        if (grid->from[k] < 0)
            fail(L, scene, grid, "from: there is no grid \"%s\"%s%s%s", name, near ? " (did you mean \"" : "",
                 near ? near : "", near ? "\"?)" : "");
    }
}

/* Puts those that a grid takes from before it; one that is met on the way to itself closes a circle. */
static void visit(lua_State *L, und_scene *scene, int i, int state[UND_GRIDS_MAX])
{
    und_named_grid *grid = &scene->grids[i];
    if (state[i] == 2)
        return;
    if (state[i] == 1)
        fail(L, scene, grid, "from: the grids go round in a circle: liquid comes to it from itself");
    state[i] = 1;
    for (int k = 0; k < grid->from_count; k++)
        visit(L, scene, grid->from[k], state);
    state[i] = 2;
    scene->view.grid_order[scene->ordered++] = i;
}

/* The cells that both grids have, in those of the upper one. */
static bool shared_cells(const und_levelset_def *down, const und_levelset_def *up, int low[3], int n[3])
{
    bool any = true;
    for (int a = 0; a < 3; a++) {
        int shift = (int)lround((down->origin[a] - up->origin[a]) / up->dx), end = shift + down->n[a];
        low[a] = shift > 0 ? shift : 0;
        n[a] = (end < up->n[a] ? end : up->n[a]) - low[a];
        any = any && n[a] > 0;
    }
    return any;
}

/* Is what both have the band along an open side, with the lower grid going on beyond it?  Which side; -1: no.
 */
static int side_of(const und_levelset_def *down, const und_levelset_def *up, const int low[3], const int n[3])
{
    for (int side = 0; side < UND_SIDES; side++) {
        int axis = side / 2, begin = side % 2 ? up->n[axis] - UND_BAND : 0;
        double beyond = side % 2 ? down->origin[axis] + down->n[axis] * down->dx -
                                       (up->origin[axis] + up->n[axis] * up->dx)
                                 : up->origin[axis] - down->origin[axis];
        if (up->open[side] && low[axis] == begin && n[axis] == UND_BAND && beyond > 0.5 * up->dx)
            return side;
    }
    return -1;
}

static void check_pair(lua_State *L, const und_scene *scene, const und_named_grid *grid,
                       const und_named_grid *from)
{
    const und_levelset_def *down = &grid->def, *up = &from->def;
    int low[3], n[3];
    if (!(fabs(down->dx - up->dx) <= 1e-6 * up->dx))
        fail(L, scene, grid, "its cells are %g m wide, those of \"%s\" %g m: expected the same", down->dx,
             from->name, up->dx);
    if (und_levelset_has_volumes(down) != und_levelset_has_volumes(up))
        fail(L, scene, grid, "surface: it or \"%s\" has \"volume\": expected both to", from->name);
    if ((down->n[2] == 1) != (up->n[2] == 1))
        fail(L, scene, grid, "it or \"%s\" is one cell deep: expected both to be", from->name);
    for (int a = 0; a < 3; a++) {
        double shift = (down->origin[a] - up->origin[a]) / up->dx;
        if (!(fabs(shift - round(shift)) <= 1e-3))
            fail(L, scene, grid, "it stands %.6g cells from \"%s\" along %c: expected whole cells", shift,
                 from->name, "xyz"[a]);
    }
    if (!shared_cells(down, up, low, n))
        fail(L, scene, grid,
             "it shares no cells with \"%s\": expected the %d along an open side of that (origin and size)",
             from->name, (int)UND_BAND);
    int side = side_of(down, up, low, n);
    if (side < 0)
        fail(L, scene, grid,
             "it shares %d x %d x %d cells with \"%s\": expected those along an open side of that, %d deep, "
             "and "
             "more cells beyond",
             n[0], n[1], n[2], from->name, (int)UND_BAND);
    if (down->open[side ^ 1])
        fail(L, scene, grid, "open: its %s lies in \"%s\", from which liquid comes", und_side_names[side ^ 1],
             from->name);
}

/* The defs of the grids that each begins in; und_scene_connect fills in where their bands are. */
static void connect(und_scene *scene, und_named_grid *grid)
{
    for (int k = 0; k < grid->from_count; k++) {
        const und_levelset_def *up = &scene->grids[grid->from[k]].def;
        und_upstream_def *u = &grid->upstream[k];
        u->name = grid->from_name[k];
        memcpy(u->n, up->n, sizeof u->n);
        memcpy(u->origin, up->origin, sizeof u->origin);
        memcpy(u->open, up->open, sizeof u->open);
        u->heat = up->heat != NULL;
        u->volume = und_levelset_has_volumes(up);
        u->dx = up->dx; /* this grid's own may differ by rounding */
    }
    grid->def.upstream_count = grid->from_count;
    grid->def.upstreams = grid->upstream;
    grid->def.seed = scene->seed;
}

static void choose(und_scene *scene, int which)
{
    scene->view.levelset = scene->grids[which].def;
    scene->view.grid = und_levelset_grid(&scene->view.levelset);
    scene->view.grid_name = scene->grids[which].name;
    scene->chosen = which;
}

void und_check_grids(lua_State *L, und_scene *scene)
{
    int state[UND_GRIDS_MAX] = {0};
    scene->view.grids = scene->grids;
    if (scene->view.grid_count == 0)
        return;
    for (int i = 0; i < scene->view.grid_count; i++)
        find_names(L, scene, &scene->grids[i]);
    for (int i = 0; i < scene->view.grid_count; i++)
        visit(L, scene, i, state);
    for (int i = 0; i < scene->view.grid_count; i++) {
        for (int k = 0; k < scene->grids[i].from_count; k++)
            check_pair(L, scene, &scene->grids[i], &scene->grids[scene->grids[i].from[k]]);
        connect(scene, &scene->grids[i]);
    }
    choose(scene, 0);
}

und_status und_scene_choose(und_scene *scene, const char *name, und_error *err)
{
    int which = find_grid(scene, name);
    if (which < 0 && !(scene->view.grid_count > 0 && scene->grids[0].name))
        return und_error_set(err, UND_INVALID, "%s: no grid of it has a name", scene->view.path);
    if (which < 0) {
        const char *names[UND_GRIDS_MAX];
        for (int i = 0; i < scene->view.grid_count; i++)
            names[i] = scene->grids[i].name;
        const char *near = und_suggest(name, names, scene->view.grid_count);
        return und_error_set(err, UND_INVALID, "%s: there is no grid \"%s\"%s%s%s", scene->view.path, name,
                             near ? " (did you mean \"" : "", near ? near : "", near ? "\"?)" : "");
    }
    choose(scene, which);
    return UND_OK;
}

void und_scene_connect(und_scene *scene, und_band_sink sink, const und_upstream_def *upstreams)
{
    und_named_grid *grid = &scene->grids[scene->chosen];
    for (int k = 0; k < grid->from_count && upstreams; k++)
        grid->upstream[k] = upstreams[k];
    scene->view.levelset.sink = sink;
}
