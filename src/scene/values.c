/* What depends on place or time: functions of the scene, tables, maps, key frames. */
#include "geom/value.h"

#include "base/status.h"
#include "scene/read.h"

#include <errno.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAP "map"

enum { TABLE_MAX = 1 << 28 };

const char *const und_easings[] = {"linear", "spline", NULL}; /* in the order of und_easing */

/* Remembers the first failure of a callback; what went wrong is on top of the stack or in box->hit. */
static void remember(const callback *c, int status, const char *where)
{
    und_scene *scene = c->scene;
    lua_State *L = scene->box.lua;
    const char *file = scene->view.path, *found = luaL_typename(L, -1);
    char text[256] = "";
    lua_Debug ar = {0};
    if (status == LUA_OK && lua_type(L, -1) == LUA_TNUMBER)
        und_number_text(lua_tonumber(L, -1), text, sizeof text);
    else
        snprintf(text, sizeof text, "%s%s", lua_type(L, -1) == LUA_TNIL ? "" : "a ", found);
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->reference);
    lua_getinfo(L, ">S", &ar);
    const char *expected = c->numbers == 0 ? "a finite number" : c->numbers == 2 ? "{x, z}" : "{x, y, z}";
    if (scene->box.hit != UND_LIMIT_NONE) {
        und_sandbox_explain(&scene->box, text, sizeof text);
        int line = scene->box.hit_line > 0 ? scene->box.hit_line : ar.linedefined;
        und_error_set(&scene->trouble, UND_INVALID, "%s:%d: %s: %s (at %s)", file, line, c->what, text,
                      where);
    } else if (status == LUA_OK) {
        und_error_set(&scene->trouble, UND_INVALID,
                      "%s:%d: %s: expected the function to return %s, found %s at %s", file, ar.linedefined,
                      c->what, expected, text, where);
    } else if (lua_type(L, -1) == LUA_TSTRING) {
        und_error_set(&scene->trouble, UND_INVALID, "%s (in %s, at %s)", lua_tostring(L, -1), c->what, where);
    } else {
        und_error_set(&scene->trouble, UND_INVALID, "%s:%d: %s: an error that is %s, at %s", file,
                      ar.linedefined, c->what, text, where);
    }
}

/* Pushes the function and what it is called with; how many arguments.  `where` describes them. */
static int push_call(const callback *c, double x, double y, double z, double t, char where[96])
{
    lua_State *L = c->scene->box.lua;
    lua_rawgeti(L, LUA_REGISTRYINDEX, c->reference);
    lua_pushnumber(L, x);
    if (c->space)
        lua_pushnumber(L, y);
    lua_pushnumber(L, z);
    lua_pushnumber(L, t);
    if (c->space)
        snprintf(where, 96, "x = %g, y = %g, z = %g, t = %g", x, y, z, t);
    else
        snprintf(where, 96, "x = %g, z = %g, t = %g", x, z, t);
    return c->space ? 4 : 3;
}

static double call_value(const void *context, double x, double y, double z, double t)
{
    const callback *c = context;
    lua_State *L = c->scene->box.lua;
    double result = 0;
    char where[96];
    pthread_mutex_lock(&c->scene->lock);
    if (c->scene->trouble.status == UND_OK && lua_checkstack(L, 8)) {
        int top = lua_gettop(L);
        int arguments = push_call(c, x, y, z, t, where);
        int status = und_sandbox_call(&c->scene->box, arguments, 1, c->scene->box.limits.call_work);
        if (status == LUA_OK && lua_type(L, -1) == LUA_TNUMBER && isfinite(lua_tonumber(L, -1)))
            result = lua_tonumber(L, -1);
        else
            remember(c, status, where);
        lua_settop(L, top);
    }
    pthread_mutex_unlock(&c->scene->lock);
    return result;
}

static double call_negated(const void *context, double x, double y, double z, double t)
{
    return -call_value(context, x, y, z, t);
}

/* The numbers of the list on top, without raising an error. */
static bool take_numbers(lua_State *L, int count, double *out)
{
    if (lua_type(L, -1) != LUA_TTABLE || (int)lua_rawlen(L, -1) != count)
        return false;
    for (int i = 0; i < count; i++) {
        bool good = lua_rawgeti(L, -1, i + 1) == LUA_TNUMBER && fabs(lua_tonumber(L, -1)) <= UND_FARTHEST;
        out[i] = lua_tonumber(L, -1);
        if (!good)
            return false; /* the message shows it */
        lua_pop(L, 1);
    }
    return true;
}

static void call_vector(const void *context, double t, double out[3])
{
    const callback *c = context;
    lua_State *L = c->scene->box.lua;
    double n[3] = {0, 0, 0};
    out[0] = out[1] = out[2] = 0;
    pthread_mutex_lock(&c->scene->lock);
    if (c->scene->trouble.status == UND_OK && lua_checkstack(L, 8)) {
        int top = lua_gettop(L);
        lua_rawgeti(L, LUA_REGISTRYINDEX, c->reference);
        lua_pushnumber(L, t);
        int status = und_sandbox_call(&c->scene->box, 1, 1, c->scene->box.limits.call_work);
        if (status == LUA_OK && take_numbers(L, c->numbers, n)) {
            out[0] = n[0];
            out[1] = c->numbers == 3 ? n[1] : 0;
            out[2] = c->numbers == 3 ? n[2] : n[1];
        } else {
            char where[96];
            snprintf(where, sizeof where, "t = %g", t);
            remember(c, status, where);
        }
        lua_settop(L, top);
    }
    pthread_mutex_unlock(&c->scene->lock);
}

static callback *new_callback(reader *r, int numbers)
{
    callback *c = und_scene_alloc(r, 1, sizeof *c);
    c->scene = r->scene;
    c->numbers = numbers;
    und_read_path(r, c->what, sizeof c->what);
    lua_pushvalue(r->L, -1);
    c->reference = luaL_ref(r->L, LUA_REGISTRYINDEX);
    return c;
}

void und_read_trouble(reader *r)
{
    und_scene *scene = r->scene;
    if (scene->trouble.status == UND_OK)
        return;
    lua_pushstring(r->L, scene->trouble.text);
    if (scene->box.hit == UND_LIMIT_NONE)
        scene->trouble = (und_error){0};
    lua_error(r->L);
}

void und_read_value_negated(und_value *v)
{
    if (v->fn == call_value)
        v->fn = call_negated;
    else
        v->number = -v->number;
}

/* n samples in the middles of n equal stretches of the domain. */
static void spread(const und_grid *grid, und_table *table)
{
    int n[2] = {table->nx, table->nz};
    for (int i = 0; i < 2; i++) {
        double size = grid->n[2 * i] * und_grid_size(grid, 2 * i);
        table->low[i] = grid->origin[2 * i] + 0.5 * size / n[i];
        table->high[i] = grid->origin[2 * i] + size - 0.5 * size / n[i];
    }
}

static const und_table *read_samples(reader *r)
{
    und_grid grid = und_scene_grid(r->scene);
    lua_Unsigned rows = lua_rawlen(r->L, -1), columns = 0;
    bool flat = lua_rawgeti(r->L, -1, 1) == LUA_TNUMBER;
    columns = lua_type(r->L, -1) == LUA_TTABLE ? lua_rawlen(r->L, -1) : 0;
    lua_pop(r->L, 1);
    if (flat) {
        columns = rows;
        rows = 1;
    }
    if (rows == 0 || columns == 0 || rows > TABLE_MAX / columns)
        und_read_fail(
            r, "expected a table of rows of numbers {{...}, {...}, ...}, or a list of numbers for a curve");
    if ((rows == 1) != (grid.n[2] == 1))
        und_read_fail(r, grid.n[2] == 1 ? "expected a list of numbers, as the liquid is a curve; found rows"
                                        : "expected rows of numbers {{...}, {...}, ...}; found a single row");
    und_table *table = und_scene_alloc(r, 1, sizeof *table);
    table->nx = (int)columns;
    table->nz = (int)rows;
    table->sample = und_scene_alloc(r, rows * columns, sizeof *table->sample);
    for (int i = 0; i < (int)rows && !flat; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        if (lua_type(r->L, -1) != LUA_TTABLE || lua_rawlen(r->L, -1) != columns)
            und_read_fail(r, "expected a row of %d numbers, as the first has", (int)columns);
        und_read_row(r, table->sample + (size_t)i * columns, (int)columns);
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
    if (flat)
        und_read_row(r, table->sample, (int)columns);
    spread(&grid, table);
    return table;
}

/* In the middle of the domain, at the start. */
static void probe(reader *r, const und_grid *grid, const und_value *value)
{
    double at[3];
    for (int i = 0; i < 3; i++)
        at[i] = grid->origin[i] + 0.5 * grid->n[i] * und_grid_size(grid, i);
    und_value_at(value, at[0], at[1], at[2], 0);
    und_read_trouble(r);
}

void und_read_value(reader *r, const field *f, und_value *out)
{
    und_grid grid = und_scene_grid(r->scene);
    *out = (und_value){0};
    int type = lua_type(r->L, -1);
    if (type == LUA_TNUMBER) {
        out->number = und_read_number(r, f);
    } else if (type == LUA_TFUNCTION) {
        callback *c = new_callback(r, 0);
        c->space = f->type == F_SPACE;
        *out = (und_value){.fn = call_value, .context = c};
        probe(r, &grid, out);
    } else if (type == LUA_TTABLE && f->type == F_VALUE) {
        *out = und_value_table(read_samples(r));
    } else if (luaL_testudata(r->L, -1, MAP) && f->type == F_VALUE) {
        und_table *table = und_scene_alloc(r, 1, sizeof *table);
        *table = *(und_table *)lua_touserdata(r->L, -1);
        spread(&grid, table);
        *out = und_value_table(table);
    } else {
        und_read_expected(r, f->type == F_VALUE  ? "a number, a function(x, z, t), a table of rows or map{}"
                             : f->type == F_RATE ? "a number or a function(x, z, t)"
                                                 : "a number or a function(x, y, z, t)");
    }
}

void und_read_function(reader *r, und_value *out)
{
    callback *c = new_callback(r, 0);
    c->space = true;
    *out = (und_value){.fn = call_value, .context = c};
}

/* A velocity from one function: Lua is called once per place and time, not for each component. */
typedef struct flow_call {
    callback call;
    bool time_only, known;
    double at[4], value[3]; /* of the last call */
} flow_call;

typedef struct flow_part {
    flow_call *flow;
    int axis;
} flow_part;

/* Three numbers, or a list of three, as results of the call: from `first` on the stack.  In two dimensions
 * the list may have two. */
static bool take_flow(lua_State *L, int first, bool flat, double out[3])
{
    if (lua_type(L, first) == LUA_TTABLE) {
        lua_settop(L, first);
        out[2] = 0;
        return take_numbers(L, flat && lua_rawlen(L, first) == 2 ? 2 : 3, out);
    }
    for (int i = 0; i < 3; i++) {
        out[i] = lua_tonumber(L, first + i);
        if (lua_type(L, first + i) != LUA_TNUMBER || !(fabs(out[i]) <= UND_FARTHEST)) {
            lua_settop(L, first + i); /* the message shows it */
            return false;
        }
    }
    return true;
}

static void call_flow(flow_call *f, const double at[4])
{
    callback *c = &f->call;
    lua_State *L = c->scene->box.lua;
    char where[96];
    memset(f->value, 0, sizeof f->value);
    if (c->scene->trouble.status != UND_OK || !lua_checkstack(L, 12))
        return;
    int top = lua_gettop(L), arguments = 1;
    if (f->time_only) {
        lua_rawgeti(L, LUA_REGISTRYINDEX, c->reference);
        lua_pushnumber(L, at[3]);
        snprintf(where, sizeof where, "t = %g", at[3]);
    } else {
        arguments = push_call(c, at[0], at[1], at[2], at[3], where);
    }
    int status = und_sandbox_call(&c->scene->box, arguments, 3, c->scene->box.limits.call_work);
    if (status != LUA_OK || !take_flow(L, top + 1, c->scene->curve, f->value)) {
        memset(f->value, 0, sizeof f->value);
        remember(c, status, where);
    }
    lua_settop(L, top);
}

static double flow_value(const void *context, double x, double y, double z, double t)
{
    const flow_part *part = context;
    flow_call *f = part->flow;
    double at[4] = {x, y, z, t};
    pthread_mutex_lock(&f->call.scene->lock);
    if (!f->known || (f->time_only ? f->at[3] != t : memcmp(f->at, at, sizeof at) != 0)) {
        call_flow(f, at);
        memcpy(f->at, at, sizeof at);
        f->known = true;
    }
    double value = f->value[part->axis];
    pthread_mutex_unlock(&f->call.scene->lock);
    return value;
}

void und_read_flow(reader *r, const field *f, und_value out[3])
{
    const char *what = "{x, y, z}, or a function(t) or function(x, y, z, t) that returns it";
    if (lua_type(r->L, -1) != LUA_TFUNCTION) {
        double number[3] = {0, 0, 0};
        und_read_numbers(r, number, r->scene->curve ? 2 : 3, 3, what);
        for (int i = 0; i < 3; i++) {
            if (f->high > 0 && !(fabs(number[i]) <= f->high))
                und_read_fail(r, "expected numbers from %g to %g, found %g", -f->high, f->high, number[i]);
            out[i] = und_value_constant(number[i]);
        }
        return;
    }
    flow_call *flow = und_scene_alloc(r, 1, sizeof *flow);
    flow_part *parts = und_scene_alloc(r, 3, sizeof *parts);
    lua_Debug ar;
    lua_pushvalue(r->L, -1);
    lua_getinfo(r->L, ">u", &ar);
    flow->call = *new_callback(r, 3);
    flow->call.space = true;
    flow->time_only = ar.nparams == 1 && !ar.isvararg;
    for (int i = 0; i < 3; i++) {
        parts[i] = (flow_part){flow, i};
        out[i] = (und_value){.fn = flow_value, .context = &parts[i], .uniform = flow->time_only};
    }
    und_grid grid = und_scene_grid(r->scene);
    probe(r, &grid, out);
}

static void motion_vector(const void *context, double t, double out[3])
{
    und_vec3 p = und_motion_at(context, t).position;
    out[0] = p.x;
    out[1] = p.y;
    out[2] = p.z;
}

void und_read_vector(reader *r, const field *f, und_vector *out)
{
    int numbers = f->type == F_TRACK ? 2 : 3;
    const char *what = numbers == 2 ? "a place {x, z}, a function(t) that returns one, or { keys = {...} }"
                                    : "{x, y, z}, a function(t) that returns it, or { keys = {...} }";
    *out = (und_vector){0};
    if (lua_type(r->L, -1) == LUA_TFUNCTION) {
        double probe[3];
        *out = (und_vector){.fn = call_vector, .context = new_callback(r, numbers)};
        call_vector(out->context, 0, probe);
        und_read_trouble(r);
    } else if (lua_type(r->L, -1) == LUA_TTABLE && und_read_has(r, "keys")) {
        path_def path = {.easing = UND_EASE_SPLINE};
        und_read_table(r, numbers == 2 ? und_track_fields : und_path_fields, &path);
        *out = (und_vector){.fn = motion_vector, .context = und_read_motion(r, &path)};
    } else {
        double n[3];
        n[1] = 0;
        und_read_numbers(r, n, numbers == 2 && r->scene->curve ? 1 : numbers, numbers, what);
        *out = numbers == 2 ? und_vector_constant(n[0], 0, n[1]) : und_vector_constant(n[0], n[1], n[2]);
    }
}

void und_read_keys(reader *r, const field *f, void *path)
{
    path_def *p = path;
    p->keys = und_read_list(r, f->inside, sizeof(und_key), NULL, NULL, &p->count);
}

static void release_motion(void *motion)
{
    und_motion_destroy(motion);
}

const und_motion *und_read_motion(reader *r, const path_def *path)
{
    und_error err = {0};
    owned *place = und_scene_own(r, release_motion);
    und_motion *motion = und_motion_create(path->keys, path->count, path->easing, &err);
    if (!motion)
        und_read_fail(r, "%s", err.text);
    place->resource = motion;
    return motion;
}

/* Remembers a file that the scene reads, by the name it has there. */
static char *note_file(reader *r, const char *name, char *path)
{
    und_scene_view *view = &r->scene->view;
    for (int i = 0; i < view->file_count; i++)
        if (strcmp(view->files[i].name, name) == 0)
            return path;
    char *copy = und_scene_alloc(r, strlen(name) + 1, 1);
    memcpy(copy, name, strlen(name));
    r->scene->files_read[view->file_count++] = (und_named_file){copy, path};
    return path;
}

static char *find_kept(reader *r, const char *name)
{
    const und_scene_finder *finder = r->scene->finder;
    char path[UND_PATH_MAX];
    und_error err = {0};
    owned *file = und_scene_own(r, free);
    if (finder->find(finder->context, name, path, &err) != UND_OK)
        und_read_fail(r, "%s", err.text);
    file->resource = realpath(path, NULL);
    if (!file->resource)
        und_read_fail(r, "cannot open %s: %s", path, strerror(errno));
    return file->resource;
}

static char *find_in_folder(reader *r, const char *name)
{
    const char *folder = r->scene->folder;
    struct stat info;
    for (const char *p = name; *p; p += strcspn(p, "/"), p += *p == '/')
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
            und_read_fail(r, "\"%.200s\" leads out of the scene's folder", name);
    if (name[0] == '/')
        und_read_fail(r, "expected a name relative to the scene's folder, found the absolute name \"%.200s\"",
                      name);
    if (name[0] == '\0')
        und_read_fail(r, "expected the name of a file in the scene's folder, found \"\"");
    size_t size = strlen(folder) + strlen(name) + 2;
    char *joined = und_scene_alloc(r, size, 1);
    snprintf(joined, size, "%s/%s", folder, name);
    owned *top = und_scene_own(r, free), *file = und_scene_own(r, free);
    top->resource = realpath(folder, NULL);
    file->resource = top->resource ? realpath(joined, NULL) : NULL;
    if (!file->resource)
        und_read_fail(r, "cannot open \"%.200s\": %s", name, strerror(errno));
    size_t length = strlen(top->resource);
    length -= length == 1; /* the root */
    const char *real = file->resource;
    if (strncmp(real, top->resource, length) != 0 || real[length] != '/')
        und_read_fail(r, "\"%.200s\" leads out of the scene's folder", name);
    if (stat(real, &info) != 0 || !S_ISREG(info.st_mode))
        und_read_fail(r, "\"%.200s\" is not a file", name);
    return file->resource;
}

char *und_scene_file(reader *r, const char *name)
{
    if (++r->scene->files > FILES_MAX)
        und_read_fail(r, "more than %d files in one scene", FILES_MAX);
    return note_file(r, name, r->scene->finder ? find_kept(r, name) : find_in_folder(r, name));
}

static void release_image(void *image)
{
    und_image_destroy(image);
    free(image);
}

const und_image *und_read_picture(reader *r)
{
    und_error err = {0};
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, "the name of a PNG, EXR or HDR file");
    const char *file = und_scene_file(r, lua_tostring(r->L, -1));
    owned *place = und_scene_own(r, release_image);
    und_image *image = calloc(1, sizeof *image);
    if (!image)
        luaL_error(r->L, "out of memory: a picture");
    place->resource = image;
    if (und_image_read(file, image, &err) != UND_OK)
        und_read_fail(r, "%s", err.text);
    return image;
}

/* A picture from function(x, z), which returns a colour: the middles of texels over the whole domain. */
static const und_image *paint_picture(reader *r)
{
    enum { LONGER = 1024 };
    und_grid grid = und_scene_grid(r->scene);
    if (grid.n[0] == 0)
        und_read_fail(r, "expected the liquid before a map that is a function");
    double x = grid.n[0] * und_grid_size(&grid, 0), z = grid.n[2] * und_grid_size(&grid, 2);
    int nx = x >= z ? LONGER : (int)ceil(LONGER * x / z - 1e-9);
    int nz = z >= x ? LONGER : (int)ceil(LONGER * z / x - 1e-9);
    und_error err = {0};
    owned *place = und_scene_own(r, release_image);
    und_image *image = calloc(1, sizeof *image);
    if (!image)
        luaL_error(r->L, "out of memory: a picture");
    place->resource = image;
    if (und_image_create(image, nx > 2 ? nx : 2, nz > 2 ? nz : 2, &err) != UND_OK)
        und_read_fail(r, "%s", err.text);
    float *out = image->rgb;
    for (int j = 0; j < image->height; j++)
        for (int i = 0; i < image->width; i++, out += 3) {
            lua_pushvalue(r->L, -1);
            lua_pushnumber(r->L, grid.origin[0] + x * (i + 0.5) / image->width);
            lua_pushnumber(r->L, grid.origin[2] + z * (j + 0.5) / image->height);
            lua_call(r->L, 2, 1);
            und_read_color(r, &(field){.type = F_COLOR, .high = 1000}, out);
            lua_pop(r->L, 1);
        }
    return image;
}

void und_read_ground_map(reader *r, const field *f, void *def)
{
    const und_image **out = (const und_image **)(void *)((char *)def + f->offset);
    if (lua_type(r->L, -1) != LUA_TFUNCTION && lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, f->expected);
    *out = lua_type(r->L, -1) == LUA_TFUNCTION ? paint_picture(r) : und_read_picture(r);
}

typedef struct map_def {
    const char *file;
    double low, high;
} map_def;

static void read_file_name(reader *r, const field *f, void *def)
{
    (void)f;
    if (lua_type(r->L, -1) != LUA_TSTRING)
        und_read_expected(r, "the name of a PNG or EXR file");
    ((map_def *)def)->file = und_scene_file(r, lua_tostring(r->L, -1));
}

const field und_map_fields[] = {
    {"file", F_OTHER, .read = read_file_name, .required = true, .expected = "the name of a PNG or EXR file",
     .doc = "a PNG, grey or colour (its luma counts), 8 or 16 bits, or an EXR (Y or R), laid over the whole "
            "domain"},
    {"low", F_NUMBER, .offset = offsetof(map_def, low), .doc = "the value where the picture is black, 0"},
    {"high", F_NUMBER, .offset = offsetof(map_def, high), .doc = "the value where it is white, 1"},
    {0}};

static int make_map(lua_State *L)
{
    und_scene *scene = lua_touserdata(L, lua_upvalueindex(1));
    reader r = und_read_begin(L, scene, "map");
    map_def def = {.high = 1};
    und_error err = {0};
    lua_settop(L, 1);
    und_read_table(&r, und_map_fields, &def);
    und_table *table = lua_newuserdatauv(L, sizeof *table, 0);
    luaL_setmetatable(L, MAP);
    *table = (und_table){0};
    owned *place = und_scene_own(&r, free);
    float *gray = NULL;
    if (und_map_read(def.file, &table->nx, &table->nz, &gray, &err) != UND_OK)
        und_read_fail(&r, "%s", err.text);
    place->resource = gray;
    size_t count = (size_t)table->nx * (size_t)table->nz;
    table->sample = und_scene_alloc(&r, count, sizeof *table->sample);
    for (size_t i = 0; i < count; i++)
        table->sample[i] = def.low + (def.high - def.low) * (double)gray[i];
    return 1;
}

void und_maps_open(lua_State *L, und_scene *scene)
{
    luaL_newmetatable(L, MAP);
    lua_pop(L, 1);
    lua_pushlightuserdata(L, scene);
    lua_pushcclosure(L, make_map, 1);
    lua_setfield(L, -2, "map");
}
