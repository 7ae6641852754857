#include "scene/read.h"

#include "base/status.h"
#include "base/words.h"

#include <assert.h>
#include <lauxlib.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MESSAGE = 900,
    LIST_MAX = 1000000,
    POINTS_MAX = 10000,
    OUTSIDE = 16 /* times Lua's own memory limit is what a scene may need beside it */
};

reader und_read_begin(lua_State *L, und_scene *scene, const char *name)
{
    reader r = {.scene = scene, .L = L};
    lua_Debug ar;
    if (!scene->box.loading)
        luaL_error(L, "%s works only while the scene is loaded", name);
    /* the function that calls the constructor; level 0 is the constructor itself */
    if (lua_getstack(L, 1, &ar) && lua_getinfo(L, "l", &ar) && ar.currentline > 0)
        r.line = ar.currentline;
    und_read_enter(&r, name, 0);
    return r;
}

void und_read_enter(reader *r, const char *key, int index)
{
    if (r->depth == PATH_MAX_DEPTH)
        und_read_fail(r, "tables nested too deeply");
    r->path[r->depth].key = key;
    r->path[r->depth++].index = index;
}

void und_read_leave(reader *r)
{
    r->depth--;
}

void und_read_path(const reader *r, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < r->depth && used < size; i++) {
        int n = r->path[i].key ? snprintf(text + used, size - used, "%s%s", i ? "." : "", r->path[i].key)
                               : snprintf(text + used, size - used, "[%d]", r->path[i].index);
        used += n > 0 ? (size_t)n : 0;
    }
}

void und_read_fail(reader *r, const char *format, ...)
{
    char path[128], text[MESSAGE];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    und_read_path(r, path, sizeof path);
    int line = und_locate(r->scene->view.text, r->scene->text_size, r->line, r);
    lua_pushfstring(r->L, "%s:%d: %s: %s", r->scene->view.path, line, path, text);
    lua_error(r->L);
    abort(); /* lua_error does not return, but does not say so */
}

void und_number_text(double x, char *text, size_t size)
{
    if (isnan(x)) /* %g shows its sign, which depends on the machine */
        snprintf(text, size, "nan");
    else
        snprintf(text, size, "%g", x);
}

/* What stands on top of the stack, in words. */
static void found_text(lua_State *L, char *text, size_t size)
{
    switch (lua_type(L, -1)) {
    case LUA_TNUMBER:
        if (lua_isinteger(L, -1))
            snprintf(text, size, "%lld", (long long)lua_tointeger(L, -1));
        else
            und_number_text(lua_tonumber(L, -1), text, size);
        break;
    case LUA_TSTRING:
        snprintf(text, size, "\"%.60s\"", lua_tostring(L, -1));
        break;
    case LUA_TBOOLEAN:
        snprintf(text, size, "%s", lua_toboolean(L, -1) ? "true" : "false");
        break;
    case LUA_TNIL:
    case LUA_TNONE:
        snprintf(text, size, "nothing");
        break;
    case LUA_TUSERDATA:
        snprintf(text, size, luaL_testudata(L, -1, "shape") ? "a shape" : "a map");
        break;
    default:
        snprintf(text, size, "a %s", luaL_typename(L, -1));
    }
}

void und_read_expected(reader *r, const char *what)
{
    char found[80];
    found_text(r->L, found, sizeof found);
    und_read_fail(r, "expected %s, found %s", what, found);
}

void *und_scene_alloc(reader *r, size_t count, size_t size)
{
    und_scene *scene = r->scene;
    scene->held += (double)count * (double)size;
    if (scene->held > OUTSIDE * (double)scene->box.limits.memory)
        und_read_fail(r, "the scene's tables and pictures need more than %g MiB",
                      OUTSIDE * (double)scene->box.limits.memory / 0x1p20);
    und_sandbox_charge(r->L, (double)count * (1 + (double)size / 64));
    owned *place = und_scene_own(r, free);
    place->resource = calloc(count ? count : 1, size);
    if (!place->resource)
        luaL_error(r->L, "out of memory: %f bytes", (double)count * (double)size);
    return place->resource;
}

owned *und_scene_own(reader *r, void (*release)(void *))
{
    owned *place = calloc(1, sizeof *place);
    if (!place)
        luaL_error(r->L, "out of memory");
    place->release = release;
    place->next = r->scene->owned;
    r->scene->owned = place;
    return place;
}

field_walk und_fields_walk(const field *fields)
{
    return (field_walk){.next = {fields}};
}

const field *und_fields_next(field_walk *walk)
{
    while (walk->depth >= 0) {
        const field *f = walk->next[walk->depth];
        if (!f->key) {
            walk->depth--;
            continue;
        }
        walk->next[walk->depth]++;
        if (f->type != F_INCLUDE)
            return f;
        assert(walk->depth == 0);
        walk->next[++walk->depth] = f->inside;
    }
    return NULL;
}

static const char *field_nearest(const field *fields, const char *word)
{
    const char *words[64];
    int count = 0;
    field_walk walk = und_fields_walk(fields);
    for (const field *f; count < 64 && (f = und_fields_next(&walk)) != NULL;)
        words[count++] = f->key;
    return und_suggest(word, words, count);
}

static const field *find_field(const field *fields, const char *key)
{
    field_walk walk = und_fields_walk(fields);
    const field *f;
    while ((f = und_fields_next(&walk)) != NULL && strcmp(f->key, key) != 0)
        ;
    return f;
}

/* What does the same under another name, where no name is like it. */
static const char *meant(const field *fields, const char *word)
{
    static const char *const other[][2] = {{"foam", "spray"}, {"splash", "spray"}};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (strcmp(word, other[i][0]) == 0 && find_field(fields, other[i][1]))
            return other[i][1];
    return field_nearest(fields, word);
}

static void fail_unknown(reader *r, const field *fields, const char *key)
{
    const char *near = meant(fields, key);
    if (near)
        und_read_fail(r, "unknown key \"%.60s\" (did you mean \"%s\"?)", key, near);
    if (strcmp(key, "bodies") == 0)
        und_read_fail(
            r, "unknown key \"bodies\": bodies float in liquid.waves, liquid.columns and liquid.cells; "
               "here what moves is a solid with keys");
    char known[MESSAGE / 2] = "";
    size_t used = 0;
    field_walk walk = und_fields_walk(fields);
    for (const field *f; used < sizeof known && (f = und_fields_next(&walk)) != NULL;) {
        int n = snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", f->key);
        used += n > 0 ? (size_t)n : 0;
    }
    und_read_fail(r, "unknown key \"%.60s\"; there are: %s", key, known);
}

/* The first unknown key in the alphabet's order, as Lua's own order changes from run to run. */
static void check_keys(reader *r, const field *fields)
{
    const char *unknown = NULL;
    for (lua_pushnil(r->L); lua_next(r->L, -2); lua_pop(r->L, 1)) {
        if (lua_type(r->L, -2) != LUA_TSTRING) {
            lua_pop(r->L, 1);
            char found[80];
            found_text(r->L, found, sizeof found);
            und_read_fail(r, "expected keys with names (key = value), found a value at %s", found);
        }
        const char *key = lua_tostring(r->L, -2);
        if (!find_field(fields, key) && (!unknown || strcmp(key, unknown) < 0))
            unknown = key;
    }
    if (!unknown)
        return;
    und_read_enter(r, unknown, 0);
    int line = und_locate(r->scene->view.text, r->scene->text_size, r->line, r);
    und_read_leave(r);
    r->line = -line; /* found already */
    fail_unknown(r, fields, unknown);
}

bool und_read_has(reader *r, const char *key)
{
    lua_pushstring(r->L, key);
    bool has = lua_rawget(r->L, -2) != LUA_TNIL;
    lua_pop(r->L, 1);
    return has;
}

static void range_text(const field *f, const char *what, char *text, size_t size)
{
    const char *open = f->unit ? " (" : "", *unit = f->unit ? f->unit : "", *close = f->unit ? ")" : "";
    if (f->low == 0 && f->high == 0)
        snprintf(text, size, "%s%s%s%s", what, open, unit, close);
    else if (isinf(f->high))
        snprintf(text, size, "%s of at least %g%s%s%s", what, f->low, open, unit, close);
    else
        snprintf(text, size, "%s from %g to %g%s%s%s", what, f->low, f->high, open, unit, close);
}

double und_read_number(reader *r, const field *f)
{
    char what[96];
    double x = lua_tonumber(r->L, -1);
    bool any = f->low == 0 && f->high == 0;
    bool fits = lua_type(r->L, -1) == LUA_TNUMBER && (any ? isfinite(x) : x >= f->low && x <= f->high);
    if (!fits) {
        bool whole = f->type == F_INTEGER || f->type == F_SEED;
        bool finite = lua_type(r->L, -1) != LUA_TNUMBER || isfinite(x);
        range_text(f, whole ? "a whole number" : finite ? "a number" : "a finite number", what, sizeof what);
        und_read_expected(r, what);
    }
    return x;
}

static lua_Integer read_integer(reader *r, const field *f)
{
    double x = und_read_number(r, f);
    int whole = 0;
    lua_Integer n = lua_tointegerx(r->L, -1, &whole);
    if (!whole || (double)n != x)
        und_read_expected(r, "a whole number");
    return n;
}

void und_read_row(reader *r, double *out, int count)
{
    for (int i = 0; i < count; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        out[i] = und_read_number(r, &(field){.type = F_NUMBER});
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
}

int und_read_numbers(reader *r, double *out, int low, int high, const char *what)
{
    if (lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, what);
    int count = (int)(lua_rawlen(r->L, -1) > 1000 ? 1000 : lua_rawlen(r->L, -1));
    if (count < low || count > high)
        und_read_fail(r, "expected %s, found %d numbers", what, count);
    und_read_row(r, out, count);
    for (int i = 0; i < count; i++)
        if (fabs(out[i]) > UND_FARTHEST)
            und_read_fail(r, "expected numbers from %g to %g, found %g", -UND_FARTHEST, UND_FARTHEST, out[i]);
    for (lua_pushnil(r->L); lua_next(r->L, -2); lua_pop(r->L, 1))
        if (lua_type(r->L, -2) != LUA_TNUMBER)
            und_read_fail(r, "expected %s, found a table with names in it", what);
    return count;
}

void und_read_color(reader *r, const field *f, float out[3])
{
    double c[3];
    if (lua_type(r->L, -1) == LUA_TNUMBER)
        c[0] = c[1] = c[2] = und_read_number(r, &(field){.type = F_NUMBER});
    else
        und_read_numbers(r, c, 3, 3, "a colour {red, green, blue}");
    for (int i = 0; i < 3; i++) {
        if (!(c[i] >= 0 && c[i] <= f->high))
            und_read_fail(r, "expected colours from 0 to %g, found %g", f->high, c[i]);
        out[i] = (float)c[i];
    }
}

void und_read_choice(reader *r, const char *const *choices, int *out)
{
    const char *word = lua_type(r->L, -1) == LUA_TSTRING ? lua_tostring(r->L, -1) : NULL;
    char what[200] = "";
    size_t used = 0;
    int count = 0;
    for (; choices[count]; count++)
        if (word && strcmp(word, choices[count]) == 0) {
            *out = count;
            return;
        }
    for (int i = 0; i < count && used < sizeof what; i++)
        used += (size_t)snprintf(what + used, sizeof what - used, "%s\"%s\"",
                                 i == 0           ? ""
                                 : i == count - 1 ? " or "
                                                  : ", ",
                                 choices[i]);
    const char *near = word ? und_suggest(word, choices, count) : NULL;
    if (near)
        und_read_fail(r, "expected %s, found \"%.60s\" (did you mean \"%s\"?)", what, word, near);
    und_read_expected(r, what);
}

bool und_read_switch(reader *r, const field *f, void *def, const char *expected)
{
    bool word = lua_type(r->L, -1) == LUA_TBOOLEAN;
    if (!word && lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, expected);
    if (!word)
        und_read_table(r, f->inside, def);
    return !word || lua_toboolean(r->L, -1);
}

static const char *read_name(reader *r)
{
    size_t length = 0;
    const char *word = lua_type(r->L, -1) == LUA_TSTRING ? lua_tolstring(r->L, -1, &length) : NULL;
    bool good = word && length > 0 && length < sizeof r->scene->name;
    for (size_t i = 0; good && i < length; i++)
        good = (word[i] >= 'a' && word[i] <= 'z') || (word[i] >= 'A' && word[i] <= 'Z') ||
               (word[i] >= '0' && word[i] <= '9') || word[i] == '_' || word[i] == '-';
    if (!good)
        und_read_expected(r, "a name of letters, digits, _ and -, at most 127 of them");
    char *copy = und_scene_alloc(r, length + 1, 1);
    memcpy(copy, word, length);
    return copy;
}

/* In two dimensions x and y are enough, and z is in the middle of the one layer of cells. */
static void read_points(reader *r, und_points *out)
{
    const char *what = "a list of points {{x, y, z}, ...}";
    if (lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, what);
    lua_Unsigned count = lua_rawlen(r->L, -1);
    if (count < 2 || count > POINTS_MAX)
        und_read_fail(r, "expected %s, from 2 to %d of them, found %.0f", what, POINTS_MAX, (double)count);
    double(*points)[3] = und_scene_alloc(r, count, sizeof *points);
    const und_grid grid = und_scene_grid(r->scene);
    for (int i = 0; i < (int)count; i++) {
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        points[i][2] = grid.origin[2] + 0.5 * und_grid_size(&grid, 2);
        und_read_numbers(r, points[i], r->scene->curve ? 2 : 3, 3, "a point {x, y, z}");
        if (i > 0 && memcmp(points[i], points[i - 1], sizeof *points) == 0)
            und_read_fail(r, "expected another point than the one before it");
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
    *out = (und_points){(int)count, (const double(*)[3])points};
}

static void read_counts(reader *r, const field *f, int *out)
{
    double n[3];
    und_read_numbers(r, n, 3, 3, "{nx, ny, nz}");
    for (int i = 0; i < 3; i++) {
        if (!(n[i] >= f->low && n[i] <= f->high && n[i] == floor(n[i])))
            und_read_fail(r, "expected whole numbers from %g to %g, found %g", f->low, f->high, n[i]);
        out[i] = (int)n[i];
    }
}

/* Numbers that stay what they are, one or a row of them. */
static void read_constant(reader *r, const field *f, void *at)
{
    double row[3] = {0};
    switch (f->type) {
    case F_NUMBER:
        *(double *)at = und_read_number(r, f);
        break;
    case F_INTEGER:
        *(int *)at = (int)read_integer(r, f);
        break;
    case F_SEED:
        *(uint64_t *)at = (uint64_t)read_integer(r, f);
        break;
    case F_COLOR:
        und_read_color(r, f, at);
        break;
    case F_PAIR:
        und_read_numbers(r, at, r->scene->curve ? 1 : 2, 2, "two numbers {x, z}");
        break;
    case F_PLACE:
        und_read_numbers(r, row, r->scene->curve ? 1 : 2, 2, "a place {x, z}");
        memcpy(at, (double[3]){row[0], 0, row[1]}, 3 * sizeof(double));
        break;
    case F_POINT:
        und_read_numbers(r, row, 3, 3, "three numbers {x, y, z}");
        *(und_vec3 *)at = und_vec(row[0], row[1], row[2]);
        break;
    case F_POINTS:
        read_points(r, at);
        break;
    case F_COUNTS:
        read_counts(r, f, at);
        break;
    default:
        break;
    }
}

static void read_field(reader *r, const field *f, void *def)
{
    void *at = (char *)def + f->offset;
    switch (f->type) {
    case F_NUMBER:
    case F_INTEGER:
    case F_SEED:
    case F_COLOR:
    case F_PAIR:
    case F_PLACE:
    case F_POINT:
    case F_POINTS:
    case F_COUNTS:
        read_constant(r, f, at);
        break;
    case F_FLAG:
        if (lua_type(r->L, -1) != LUA_TBOOLEAN)
            und_read_expected(r, "true or false");
        *(bool *)at = lua_toboolean(r->L, -1);
        break;
    case F_VALUE:
    case F_RATE:
    case F_SPACE:
        und_read_value(r, f, at);
        break;
    case F_FLOW:
        und_read_flow(r, f, at);
        break;
    case F_VECTOR:
    case F_TRACK:
        und_read_vector(r, f, at);
        break;
    case F_CHOICE:
        und_read_choice(r, f->choices, at);
        break;
    case F_PICTURE:
        *(const und_image **)at = und_read_picture(r);
        break;
    case F_SHAPE:
        *(const und_shape **)at = und_read_shape(r);
        break;
    case F_NAME:
        *(const char **)at = read_name(r);
        break;
    case F_OTHER:
        f->read(r, f, def);
        break;
    case F_INCLUDE: /* walked through */
        break;
    }
}

void und_read_table(reader *r, const field *fields, void *def)
{
    if (lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, "a table { key = value, ... }");
    luaL_checkstack(r->L, 16, "scene");
    check_keys(r, fields);
    field_walk walk = und_fields_walk(fields);
    for (const field *f; (f = und_fields_next(&walk)) != NULL;) {
        lua_pushstring(r->L, f->key);
        if (lua_rawget(r->L, -2) != LUA_TNIL) {
            und_read_enter(r, f->key, 0);
            read_field(r, f, def);
            und_read_leave(r);
        } else if (f->required) {
            und_read_fail(r, "missing key \"%s\" (%s)", f->key, f->doc);
        }
        lua_pop(r->L, 1);
    }
}

void *und_read_list(reader *r, const field *fields, size_t size, void (*init)(void *item),
                    void (*finish)(reader *r, void *item), int *count)
{
    if (lua_type(r->L, -1) != LUA_TTABLE)
        und_read_expected(r, "a list of tables {{ key = value, ... }, ...}");
    for (lua_pushnil(r->L); lua_next(r->L, -2); lua_pop(r->L, 1))
        if (lua_type(r->L, -2) != LUA_TNUMBER)
            und_read_fail(r,
                          "expected a list of tables {{ key = value, ... }, ...}, found one table; put it in "
                          "a second pair of braces");
    lua_Unsigned length = lua_rawlen(r->L, -1);
    if (length > LIST_MAX)
        und_read_fail(r, "expected at most %d, found %.0f", LIST_MAX, (double)length);
    char *items = und_scene_alloc(r, length, size);
    for (int i = 0; i < (int)length; i++) {
        void *item = items + (size_t)i * size;
        lua_rawgeti(r->L, -1, i + 1);
        und_read_enter(r, NULL, i + 1);
        if (init)
            init(item);
        und_read_table(r, fields, item);
        if (finish)
            finish(r, item);
        und_read_leave(r);
        lua_pop(r->L, 1);
    }
    *count = (int)length;
    return items;
}
