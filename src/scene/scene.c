#include "scene/scene.h"

#include "base/status.h"
#include "base/words.h"
#include "liquid/levelset.h"
#include "scene/blocks.h"
#include "stage/size.h"

#include <ctype.h>
#include <errno.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT_MAX = 16 << 20, CHAINS_MAX = 20000 };

const char *und_model_name(und_model model)
{
    static const char *const names[] = {"", "waves", "columns", "cells", "levelset"};
    return names[model];
}

/* scene{}, camera{} and so on: the block's number is upvalue 2. */
static int read_block(lua_State *L)
{
    und_scene *scene = lua_touserdata(L, lua_upvalueindex(1));
    int which = (int)lua_tointeger(L, lua_upvalueindex(2));
    reader r = und_read_begin(L, scene, und_blocks[which].name);
    lua_settop(L, 1);
    bool many = und_blocks[which].read == und_read_levelset ||
                und_blocks[which].read == und_read_material_block ||
                und_blocks[which].read == und_read_bodies_block;
    if (scene->blocks_seen & 1U << which && !many)
        und_read_fail(&r, "a scene has only one");
    scene->blocks_seen |= 1U << which;
    und_blocks[which].read(&r);
    return 0;
}

static const char *find_setting(und_scene *scene, const char *name)
{
    const char *value = NULL;
    for (int i = 0; i < scene->setting_count; i++)
        if (strcmp(scene->settings[i].name, name) == 0) {
            scene->settings[i].used = true;
            value = scene->settings[i].value; /* the last one counts */
        }
    return value;
}

static void push_flag(reader *r, const char *name, const char *value)
{
    static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};
    for (int i = 0; i < 8; i++)
        if (strcmp(value, words[i]) == 0) {
            lua_pushboolean(r->L, i % 2);
            return;
        }
    und_read_fail(r, "--set %s: expected true or false, found \"%.100s\"", name, value);
}

/* param(name, default): the default, or what --set says, as the same type. */
static int read_param(lua_State *L)
{
    und_scene *scene = lua_touserdata(L, lua_upvalueindex(1));
    reader r = und_read_begin(L, scene, "param");
    lua_settop(L, 2);
    if (lua_type(L, 1) != LUA_TSTRING) {
        lua_settop(L, 1);
        und_read_expected(&r, "a name and a default: param(\"cells\", 64)");
    }
    const char *name = lua_tostring(L, 1);
    int type = lua_type(L, 2);
    if (type != LUA_TNUMBER && type != LUA_TBOOLEAN && type != LUA_TSTRING)
        und_read_expected(&r, "a default that is a number, a string, true or false");
    if (scene->param_count == PARAMS_MAX)
        und_read_fail(&r, "more than %d parameters", PARAMS_MAX);
    char *copy = und_scene_alloc(&r, strlen(name) + 1, 1);
    scene->params[scene->param_count++] = memcpy(copy, name, strlen(name));
    const char *value = find_setting(scene, name);
    if (!value)
        return 1;
    if (type == LUA_TBOOLEAN)
        push_flag(&r, name, value);
    else if (type == LUA_TSTRING)
        lua_pushstring(L, value);
    else if (lua_stringtonumber(L, value) == 0)
        und_read_fail(&r, "--set %s: expected a number, found \"%.100s\"", name, value);
    return 1;
}

static void open_language(lua_State *L, und_scene *scene)
{
    lua_pushglobaltable(L);
    lua_newtable(L);
    for (int i = 0; und_blocks[i].name; i++) {
        const char *dot = strchr(und_blocks[i].name, '.');
        lua_pushlightuserdata(L, scene);
        lua_pushinteger(L, i);
        lua_pushcclosure(L, read_block, 2);
        lua_setfield(L, dot ? -2 : -3, dot ? dot + 1 : und_blocks[i].name);
    }
    und_sandbox_strict(L, "liquid");
    lua_setfield(L, -2, "liquid");
    und_shapes_open(L, scene);
    und_maps_open(L, scene);
    lua_pushlightuserdata(L, scene);
    lua_pushcclosure(L, read_param, 1);
    lua_setfield(L, -2, "param");
    lua_pop(L, 1);
}

static void check_bodies(lua_State *L, const und_scene *scene)
{
    const und_scene_view *v = &scene->view;
    const char *wrong = NULL;
    if (scene->only_bodies && v->floating_bodies.body_count == 0)
        wrong = "no bodies: expected bodies { { shape = ..., density = ..., at = {x, y, z} }, ... }";
    else if (!scene->only_bodies && v->floating_bodies.body_count > 0 && v->model != UND_MODEL_CELLS)
        wrong = "bodies { ... } float in the flow of liquid.cells; those of liquid.columns are its own";
    else if (!scene->only_bodies && v->floating_bodies.body_count > 0 && !v->cells.keep_flow)
        wrong = "bodies float by the flow that is kept with each frame: expected keep_flow = true";
    if (wrong) {
        lua_pushfstring(L, "%s: %s", v->path, wrong);
        lua_error(L);
    }
}

/* What can only be said when the whole file has run. */
static void check_whole(lua_State *L, und_scene *scene)
{
    const char *path = scene->view.path;
    if (scene->view.begin != 0 && scene->view.model && !scene->view.height_field) {
        lua_pushfstring(
            L, "%s: scene.begin: only liquid.waves and liquid.columns begin at another time than 0", path);
        lua_error(L);
    }
    for (int i = 0; i < scene->setting_count; i++) {
        const setting_use *s = &scene->settings[i];
        if (s->used)
            continue;
        const char *near = und_suggest(s->name, scene->params, scene->param_count);
        if (near)
            lua_pushfstring(L, "%s: --set %s: the scene has no such param (did you mean \"%s\"?)", path,
                            s->name, near);
        else
            lua_pushfstring(L, "%s: --set %s: the scene has %s", path, s->name,
                            scene->param_count ? "no such param" : "no param() at all");
        lua_error(L);
    }
    if (!scene->view.model && !scene->only_bodies) {
        lua_pushfstring(L,
                        "%s: no liquid: expected liquid.waves { ... }, liquid.columns { ... }, "
                        "liquid.cells { ... } or liquid.levelset { ... }",
                        path);
        lua_error(L);
    }
    check_bodies(L, scene);
    scene->view.waves.height_field.seed = scene->view.columns.height_field.seed = scene->view.cells.seed =
        scene->seed;
    und_check_grids(L, scene);
}

/* Lua's compiler takes time with the square of the length of a chain of conditions, and no hook runs then. */
static void check_chains(lua_State *L, const und_scene *scene)
{
    static const char *const words[] = {"or", "and", "elseif"};
    const char *text = scene->view.text, *end = text + scene->text_size;
    int count = 0;
    for (const char *p = text; p < end;) {
        size_t length = 0;
        while (p + length < end && isalpha((unsigned char)p[length]))
            length++;
        for (int i = 0; i < 3; i++)
            count += length == strlen(words[i]) && memcmp(p, words[i], length) == 0;
        p += length ? length : 1;
    }
    if (count > CHAINS_MAX)
        luaL_error(L, "%s: more than %d conditions (and, or, elseif) in one scene", scene->view.path,
                   (int)CHAINS_MAX);
}

/* Lua's "'}' expected (to close '{' at line 3) near 'level'" is nearly always a comma left out.  What comes
 * next must be able to begin an entry of a table: a name, a number, a text or a brace. */
static bool comma_missing(const char *text)
{
    const char *near = strstr(text, "'}' expected"), *last = near;
    while (last && (near = strstr(last, " near ")) != NULL)
        last = near + 6;
    if (!last || *last != '\'')
        return false;
    return isalnum((unsigned char)last[1]) || strchr("_\"{.", last[1]);
}

/* The whole load, as a Lua function so that nothing in it can fail outside a protected call. */
static int run_scene(lua_State *L)
{
    und_scene *scene = lua_touserdata(L, 1);
    const char *text = scene->view.text;
    size_t skip = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    open_language(L, scene);
    check_chains(L, scene);
    const char *chunk = lua_pushfstring(L, "@%s", scene->view.path);
    int status = luaL_loadbufferx(L, text + skip, scene->text_size - skip, chunk, "t");
    if (status == LUA_ERRSYNTAX && comma_missing(lua_tostring(L, -1))) {
        lua_pushliteral(L, " (is a comma missing before this?)");
        lua_concat(L, 2);
    }
    if (status != LUA_OK)
        lua_error(L);
    lua_call(L, 0, 0);
    check_whole(L, scene);
    return 0;
}

static und_status run_failed(und_scene *scene, int status, und_error *err)
{
    lua_State *L = scene->box.lua;
    const char *path = scene->view.path;
    if (scene->trouble.status != UND_OK) {
        *err = scene->trouble;
        return err->status;
    }
    if (scene->box.hit != UND_LIMIT_NONE) {
        char text[200];
        und_sandbox_explain(&scene->box, text, sizeof text);
        if (scene->box.hit_line > 0)
            return und_error_set(err, UND_INVALID, "%s:%d: %s", path, scene->box.hit_line, text);
        return und_error_set(err, UND_INVALID, "%s: %s", path, text);
    }
    if (status == LUA_ERRMEM)
        return und_error_set(err, UND_FAILED, "%s: out of memory", path);
    if (lua_type(L, -1) == LUA_TSTRING && lua_rawlen(L, -1) > 0) {
        const char *text = lua_tostring(L, -1), *slash = strrchr(path, '/');
        bool placed = strstr(text, slash ? slash + 1 : path) != NULL; /* Lua shortens long paths in front */
        return und_error_set(err, UND_INVALID, "%s%s%s", placed ? "" : path, placed ? "" : ": ", text);
    }
    return und_error_set(err, UND_INVALID, "%s: the scene raised an error without a text", path);
}

/* The longest side of the domain, of all grids together, m. */
static double span_of(const und_scene_view *v)
{
    double span = 0;
    for (int a = 0; a < 3; a++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = 0; i < (v->grid_count > 0 ? v->grid_count : 1); i++) {
            const und_grid g = v->grid_count > 0 ? und_levelset_grid(&v->grids[i].def) : v->grid;
            low = fmin(low, g.origin[a]);
            high = fmax(high, g.origin[a] + g.n[a] * und_grid_size(&g, a));
        }
        span = v->height_field && a == 1 ? span : fmax(span, high - low);
    }
    return span;
}

/* Is the liquid in one grid whose sides are walls? */
static bool has_walls(const und_scene_view *v)
{
    bool open = v->grid_count > 1;
    for (int side = 0; side < UND_SIDES; side++)
        open |= v->levelset.open[side] && side / 2 != 1;
    return v->model && !open;
}

static und_status run(und_scene *scene, und_error *err)
{
    lua_pushcfunction(scene->box.lua, run_scene);
    lua_pushlightuserdata(scene->box.lua, scene);
    int status = und_sandbox_call(&scene->box, 1, 0, scene->box.limits.load_work);
    if (status != LUA_OK)
        return run_failed(scene, status, err);
    scene->box.loading = false;
    und_picture_wear_liquid(&scene->view.render);
    und_picture_follow_size(&scene->view.render, scene->view.model ? span_of(&scene->view) : 1,
                            !scene->view.height_field, has_walls(&scene->view));
    return UND_OK;
}

/* The file's base name without its ending, with _ for what a name cannot have. */
static void name_from_path(const char *path, char *name, size_t size)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
    length = length < size - 1 ? length : size - 1;
    for (size_t i = 0; i < length; i++) {
        char c = base[i];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
        name[i] = good ? c : '_';
    }
    name[length] = '\0';
    if (length == 0)
        snprintf(name, size, "scene");
}

/* The text as a resource of the scene, or NULL. */
static char *keep_text(und_scene *scene, const char *text, size_t size)
{
    owned *place = calloc(1, sizeof *place);
    char *copy = malloc(size + 1);
    if (!place || !copy) {
        free(place);
        free(copy);
        return NULL;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    *place = (owned){.next = scene->owned, .release = free, .resource = copy};
    scene->owned = place;
    return copy;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const setting_use *)a)->name, ((const setting_use *)b)->name);
}

static und_status keep_settings(und_scene *scene, const und_setting *settings, int count, und_error *err)
{
    size_t size = 1;
    if (count > SETTINGS_MAX)
        return und_error_set(err, UND_INVALID, "more than %d --set", SETTINGS_MAX);
    for (int i = 0; i < count; i++) {
        const char *name = settings[i].name, *value = settings[i].value;
        int last = 0;
        for (int j = i + 1; j < count; j++)
            last += strcmp(settings[j].name, name) == 0;
        if (last)
            continue; /* a later one replaces it */
        setting_use *s = &scene->settings[scene->setting_count++];
        s->name = keep_text(scene, name, strlen(name));
        s->value = keep_text(scene, value, strlen(value));
        if (!s->name || !s->value)
            return und_error_set(err, UND_FAILED, "out of memory: settings");
        size += strlen(name) + strlen(value) + 2;
    }
    qsort(scene->settings, (size_t)scene->setting_count, sizeof *scene->settings, by_name);
    char *all = und_alloc(size, 1, "settings", err);
    size_t used = 0;
    if (!all)
        return UND_FAILED;
    for (int i = 0; i < scene->setting_count; i++)
        used += (size_t)snprintf(all + used, size - used, "%s%s=%s", i ? " " : "", scene->settings[i].name,
                                 scene->settings[i].value);
    scene->view.settings = keep_text(scene, all, used);
    free(all);
    return scene->view.settings ? UND_OK : und_error_set(err, UND_FAILED, "out of memory: settings");
}

static und_status load(und_scene *scene, const char *text, size_t size, const char *path,
                       const und_limits *limits, und_error *err)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (slash == path ? 1 : (size_t)(slash - path)) : 1;
    scene->text_size = size;
    scene->view.text = keep_text(scene, text, size);
    scene->view.path = keep_text(scene, path, strlen(path));
    scene->folder = keep_text(scene, slash ? path : ".", folder);
    if (!scene->view.text || !scene->view.path || !scene->folder)
        return und_error_set(err, UND_FAILED, "%s: out of memory", path);
    name_from_path(path, scene->name, sizeof scene->name);
    scene->view.name = scene->name;
    scene->view.start = 1;
    scene->view.end = 240;
    scene->view.fps = 24;
    scene->view.substeps = 1;
    scene->seed = 1;
    scene->view.waves = und_waves_def_default();
    scene->view.columns = und_columns_def_default();
    scene->view.cells = und_cells_def_default();
    scene->view.levelset = und_levelset_def_default();
    scene->view.floating_bodies = und_floating_bodies_def_default();
    scene->view.render = und_picture_def_default();
    und_picture_unsaid(&scene->view.render);
    und_status status = und_sandbox_open(&scene->box, limits, err);
    return status == UND_OK ? run(scene, err) : status;
}

/* What a scene is made of. */
typedef struct source {
    const char *text;
    size_t size;
    const char *path;
    const und_setting *settings;
    int count;
    bool only_bodies;
    const und_scene_finder *finder;
} source;

static und_scene *create(const source *s, const und_limits *limits, und_error *err)
{
    und_error unused;
    und_scene *scene = und_alloc(1, sizeof *scene, "a scene", err);
    if (!scene)
        return NULL;
    pthread_mutex_init(&scene->lock, NULL);
    scene->only_bodies = s->only_bodies;
    scene->finder = s->finder;
    scene->view.files = scene->files_read;
    if (keep_settings(scene, s->settings, s->count, err) != UND_OK ||
        load(scene, s->text, s->size, s->path, limits, err ? err : &unused) != UND_OK) {
        und_scene_destroy(scene);
        return NULL;
    }
    scene->finder = NULL;
    return scene;
}

und_scene *und_scene_load_text(const char *text, size_t size, const char *path, const und_setting *settings,
                               int count, const und_limits *limits, und_error *err)
{
    source s = {.text = text, .size = size, .path = path, .settings = settings, .count = count};
    return create(&s, limits, err);
}

und_scene *und_scene_from_text(const char *text, const char *path, const und_setting *settings, int count,
                               und_error *err)
{
    und_limits limits = und_limits_default();
    return und_scene_load_text(text, strlen(text), path, settings, count, &limits, err);
}

und_scene *und_scene_bodies_from_text(const char *text, const char *path, const und_setting *settings,
                                      int count, und_error *err)
{
    return und_scene_from_kept(text, path, settings, count, true, NULL, err);
}

und_scene *und_scene_from_kept(const char *text, const char *path, const und_setting *settings, int count,
                               bool only_bodies, const und_scene_finder *finder, und_error *err)
{
    und_limits limits = und_limits_default();
    source s = {text, strlen(text), path, settings, count, only_bodies, finder};
    return create(&s, &limits, err);
}

static und_scene *load_file(const char *path, const und_setting *settings, int count, bool only_bodies,
                            und_error *err)
{
    struct stat info;
    und_limits limits = und_limits_default();
    FILE *file = NULL;
    /* looked at first, as opening a pipe would wait */
    if (stat(path, &info) != 0 || (S_ISREG(info.st_mode) && !(file = fopen(path, "rb")))) {
        und_error_set(err, UND_INVALID, "%s: cannot open the scene: %s", path, strerror(errno));
        return NULL;
    }
    und_scene *scene = NULL;
    char *text = NULL;
    if (!S_ISREG(info.st_mode))
        und_error_set(err, UND_INVALID, "%s: cannot open the scene: it is not a file", path);
    else if (info.st_size > TEXT_MAX)
        und_error_set(err, UND_INVALID, "%s: a scene of more than %d MiB", path, TEXT_MAX >> 20);
    else if ((text = und_alloc((size_t)info.st_size + 1, 1, path, err)) != NULL) {
        size_t size = fread(text, 1, (size_t)info.st_size, file);
        if (ferror(file))
            und_error_set(err, UND_FAILED, "%s: cannot read the scene: %s", path, strerror(errno));
        else
            scene = create(&(source){text, size, path, settings, count, only_bodies, NULL}, &limits, err);
    }
    free(text);
    if (file)
        fclose(file);
    return scene;
}

und_scene *und_scene_load(const char *path, const und_setting *settings, int count, und_error *err)
{
    return load_file(path, settings, count, false, err);
}

und_scene *und_scene_load_bodies(const char *path, const und_setting *settings, int count, und_error *err)
{
    return load_file(path, settings, count, true, err);
}

void und_scene_destroy(und_scene *scene)
{
    if (!scene)
        return;
    und_sandbox_close(&scene->box);
    for (owned *place = scene->owned, *next; place; place = next) {
        next = place->next;
        if (place->resource)
            place->release(place->resource);
        free(place);
    }
    pthread_mutex_destroy(&scene->lock);
    free(scene);
}

const und_scene_view *und_scene_get(const und_scene *scene)
{
    return &scene->view;
}

const char *und_scene_name(const und_scene *scene)
{
    return scene->view.name;
}

int und_scene_start(const und_scene *scene)
{
    return scene->view.start;
}

int und_scene_end(const und_scene *scene)
{
    return scene->view.end;
}

double und_scene_fps(const und_scene *scene)
{
    return scene->view.fps;
}

void und_scene_begin_calls(und_scene *scene)
{
    und_sandbox_begin(&scene->box);
}

und_status und_scene_trouble(const und_scene *scene, und_error *err)
{
    if (scene->trouble.status != UND_OK && err)
        *err = scene->trouble;
    return scene->trouble.status;
}
