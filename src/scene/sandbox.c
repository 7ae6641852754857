#include "scene/sandbox.h"

#include "base/status.h"
#include "base/words.h"

#include <lauxlib.h>
#include <lualib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    HOOK_EVERY = 1000, /* instructions */
    STRING_MAX = 1 << 16,
    COMPARED = 256,  /* bytes of strings, in the time of an instruction */
    COPIED = 16,     /* values of ..., likewise */
    LEVEL_WORK = 32, /* instructions in the time in which Lua looks at a call that another one was made in */
    PRINT_MAX = 1000,
    CANDIDATES = 256
};

und_limits und_limits_default(void)
{
    return (und_limits){
        .memory = (size_t)256 << 20, .load_work = 2e9, .call_work = 1e7, .step_work = 2e10, .seconds = 60};
}

und_sandbox *und_sandbox_of(lua_State *L)
{
    void *box;
    lua_getallocf(L, &box);
    return box;
}

/* Where the scene is, 0 if in none of its lines; allocates nothing. */
static int line_now(lua_State *L)
{
    lua_Debug ar;
    for (int level = 0; L && lua_getstack(L, level, &ar); level++)
        if (lua_getinfo(L, "l", &ar) && ar.currentline > 0)
            return ar.currentline;
    return 0;
}

/* A new string; false if it is too long. */
static bool note_string(und_sandbox *box, size_t size)
{
    if (size <= STRING_MAX) {
        box->longest = size > box->longest ? size : box->longest;
        return true;
    }
    if (box->hit == UND_LIMIT_NONE) {
        box->hit = UND_LIMIT_STRING;
        box->hit_line = line_now(box->lua);
    }
    return false;
}

/* Memory counts as work, so that a loop of large allocations ends as soon as a loop of instructions.  Lua
 * tells what it allocates where there was nothing: comparing strings is work that no hook sees, so that their
 * length is capped and the longest makes every instruction count for more. */
static void *allocate(void *context, void *old, size_t old_size, size_t size)
{
    und_sandbox *box = context;
    size_t held = old ? old_size : 0;
    if (size == 0) {
        free(old);
        box->used -= held;
        return NULL;
    }
    if (size > held) {
        box->work_left -= 1 + (double)(size - held) / 64;
        bool too_long = !old && old_size == LUA_TSTRING && !note_string(box, size);
        if (too_long || size - held > box->limits.memory || box->used > box->limits.memory - (size - held) ||
            box->work_left < 0) {
            box->refused = true;
            return NULL;
        }
    }
    void *now = realloc(old, size);
    if (!now) {
        box->refused = false;
        return size <= held ? old : NULL; /* Lua relies on shrinking */
    }
    box->used = box->used - held + size;
    return now;
}

static void hit_limit(lua_State *L, und_sandbox *box, und_limit limit, int line)
{
    if (box->hit == UND_LIMIT_NONE) {
        box->hit = limit;
        box->hit_line = line;
        box->hit_work = box->work;
    }
    luaL_error(L, "limit");
}

/* Processor time of this thread: neither a busy machine nor the solver's other threads may stop a scene. */
static double worked(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void check_limits(lua_State *L, und_sandbox *box, int line)
{
    double now = worked();
    if (box->deadline == 0)
        box->deadline = now + box->limits.seconds;
    if (box->hit != UND_LIMIT_NONE || box->work_left < 0)
        hit_limit(L, box, UND_LIMIT_WORK, line);
    if (now > box->deadline)
        hit_limit(L, box, UND_LIMIT_TIME, line);
    if (box->step_left < box->work - box->work_left)
        hit_limit(L, box, UND_LIMIT_STEP, line);
}

void und_sandbox_charge(lua_State *L, double work)
{
    und_sandbox *box = und_sandbox_of(L);
    box->work_left -= work;
    box->unchecked += work;
    if (box->unchecked < HOOK_EVERY && box->work_left >= 0)
        return; /* the clock is slow to read */
    box->unchecked = 0;
    check_limits(L, box, line_now(L));
}

/* About how many values `...` has, which one instruction may copy. */
static int extra_values(lua_State *L, const lua_Debug *ar)
{
    int count = 1;
    while (lua_getlocal(L, ar, -count)) {
        lua_pop(L, 1);
        count *= 2;
    }
    return count / 2;
}

static void count_hook(lua_State *L, lua_Debug *ar)
{
    und_sandbox *box = und_sandbox_of(L);
    double each = 1 + (double)(box->longest / COMPARED) + (double)(extra_values(L, ar) / COPIED);
    box->work_left -= HOOK_EVERY * each;
    lua_getinfo(L, "l", ar);
    check_limits(L, box, ar->currentline);
}

int und_sandbox_call(und_sandbox *box, int arguments, int results, double work)
{
    double left = box->work_left, deadline = box->deadline, before = box->work;
    box->work_left = box->work = work;
    box->deadline = 0;
    int status = lua_pcall(box->lua, arguments, results, 0);
    if (status == LUA_ERRMEM && box->hit == UND_LIMIT_NONE && box->refused) {
        box->hit = box->work_left < 0 ? UND_LIMIT_WORK : UND_LIMIT_MEMORY;
        box->hit_work = work;
    }
    box->step_left -= work - box->work_left;
    box->work = before;
    box->work_left = left;
    box->deadline = deadline;
    return status;
}

void und_sandbox_begin(und_sandbox *box)
{
    box->step_left = box->limits.step_work;
}

void und_sandbox_explain(const und_sandbox *box, char *text, size_t size)
{
    if (box->hit == UND_LIMIT_WORK)
        snprintf(text, size, "stopped after %g instructions: a loop without end?", box->hit_work);
    else if (box->hit == UND_LIMIT_STEP)
        snprintf(text, size, "stopped after %g instructions in all calls together", box->limits.step_work);
    else if (box->hit == UND_LIMIT_TIME)
        snprintf(text, size, "stopped after %g s of processor time: a loop without end?",
                 box->limits.seconds);
    else if (box->hit == UND_LIMIT_STRING)
        snprintf(text, size, "stopped at a string of more than %d KiB", STRING_MAX >> 10);
    else
        snprintf(text, size, "stopped at its memory limit (%zu MiB)", box->limits.memory >> 20);
}

/* How many calls are within each other now, or up to twice that. */
static int call_depth(lua_State *L)
{
    lua_Debug ar;
    int level = 16;
    while (lua_getstack(L, level, &ar))
        level *= 2;
    return level;
}

/* pcall, but no scene may catch a limit and go on.  After a call that failed Lua looks through all those that
 * it was made in, for how much of its stack they need: no hook sees that. */
static int protected_call(lua_State *L)
{
    und_sandbox *box = und_sandbox_of(L);
    luaL_checkany(L, 1);
    int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
    if (status == LUA_ERRMEM && box->hit == UND_LIMIT_NONE)
        box->hit = UND_LIMIT_MEMORY;
    if (box->hit != UND_LIMIT_NONE)
        return lua_error(L);
    if (status != LUA_OK)
        und_sandbox_charge(L, LEVEL_WORK * (double)call_depth(L));
    lua_pushboolean(L, status == LUA_OK);
    lua_insert(L, 1);
    return lua_gettop(L);
}

/* A library function whose work grows with the table it gets, charged for it. */
static int charged(lua_State *L)
{
    double length = lua_type(L, 1) == LUA_TTABLE ? (double)lua_rawlen(L, 1) : 0;
    und_sandbox_charge(L, length * lua_tonumber(L, lua_upvalueindex(2)));
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* What table.sort compares with where it is given nothing: no hook sees long strings compared. */
static int is_less(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TSTRING && lua_type(L, 2) == LUA_TSTRING) {
        size_t a = lua_rawlen(L, 1), b = lua_rawlen(L, 2);
        und_sandbox_charge(L, (double)(a < b ? a : b) / 16);
    }
    lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLT));
    return 1;
}

static int sort(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    if (lua_isnil(L, 2)) {
        lua_pushcfunction(L, is_less);
        lua_replace(L, 2);
    }
    und_sandbox_charge(L, 30 * (double)lua_rawlen(L, 1));
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 2, 0);
    return 0;
}

/* string.rep, charged for its count: it counts even where it repeats nothing. */
static int repeat(lua_State *L)
{
    lua_Number count = luaL_checknumber(L, 2);
    if (count > 0)
        und_sandbox_charge(L, count / 16);
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

/* string.byte, charged for how many it gives. */
static int bytes(lua_State *L)
{
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    und_sandbox_charge(L, lua_gettop(L));
    return lua_gettop(L);
}

/* Pushes what tostring shows: not where a table lies in memory, which is another place in each run. */
static const char *tell(lua_State *L, int at, size_t *length)
{
    const int type = lua_type(L, at);
    const bool plain = type == LUA_TNIL || type == LUA_TBOOLEAN || type == LUA_TNUMBER || type == LUA_TSTRING;
    if (!plain && luaL_getmetafield(L, at, "__tostring") == LUA_TNIL) {
        if (luaL_getmetafield(L, at, "__name") != LUA_TSTRING)
            lua_pushstring(L, luaL_typename(L, at));
        return lua_tolstring(L, -1, length);
    }
    if (!plain)
        lua_pop(L, 1);
    return luaL_tolstring(L, at, length);
}

static int to_string(lua_State *L)
{
    luaL_checkany(L, 1);
    tell(L, 1, NULL);
    return 1;
}

/* string.format, whose %s shows what tostring does. */
static int format(lua_State *L)
{
    const char *at = luaL_checkstring(L, 1);
    for (int argument = 2; (at = strchr(at, '%')) != NULL; at++) {
        at++;
        if (*at == '%')
            continue;
        at += strspn(at, "-+ #0123456789.");
        if (*at == 'p')
            return luaL_error(
                L, "string.format: %%p is not available: it would show another number in each run");
        if (*at == 's' && argument <= lua_gettop(L)) {
            tell(L, argument, NULL);
            lua_replace(L, argument);
        }
        argument++;
        if (!*at)
            break;
    }
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, 1);
    return 1;
}

/* To the terminal, which takes some characters for orders; they are shown as Lua writes them. */
static void put_plain(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool upper = c == 0xc2 && i + 1 < length && ((unsigned char)text[i + 1] & 0xe0) == 0x80;
        if (upper || c == 0x7f || (c < 0x20 && c != '\n' && c != '\t'))
            fprintf(stderr, "\\%d", c);
        else
            fputc(c, stderr);
        if (upper)
            fprintf(stderr, "\\%d", (unsigned char)text[++i]);
    }
}

static int print_line(lua_State *L)
{
    und_sandbox *box = und_sandbox_of(L);
    int count = lua_gettop(L);
    if (box->printed++ >= PRINT_MAX)
        return luaL_error(L, "print: more than %d lines", (int)PRINT_MAX);
    for (int i = 1; i <= count; i++) {
        size_t length;
        const char *text = tell(L, i, &length);
        if (i > 1)
            fputc('\t', stderr);
        put_plain(text, length);
        lua_pop(L, 1);
    }
    fputc('\n', stderr);
    return 0;
}

/* pairs in a fixed order (numbers, then words), because Lua's own changes from run to run. */
typedef struct sort_key {
    int type;
    double number;
    lua_Integer whole; /* which doubles do not tell apart */
    const char *word;
    size_t length;
    lua_Integer place; /* in the list of keys as found */
} sort_key;

static int compare_keys(const void *a, const void *b)
{
    const sort_key *p = a, *q = b;
    if (p->type != q->type)
        return p->type < q->type ? -1 : 1;
    if (p->type == LUA_TSTRING) {
        int order = memcmp(p->word, q->word, p->length < q->length ? p->length : q->length);
        return order ? order : (p->length > q->length) - (p->length < q->length);
    }
    if (p->number != q->number)
        return p->number < q->number ? -1 : 1;
    return (p->whole > q->whole) - (p->whole < q->whole);
}

static int pairs_next(lua_State *L)
{
    for (;;) {
        lua_Integer i = lua_tointeger(L, lua_upvalueindex(3)) + 1;
        lua_pushinteger(L, i);
        lua_replace(L, lua_upvalueindex(3));
        if (lua_rawgeti(L, lua_upvalueindex(2), i) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, lua_upvalueindex(1)) != LUA_TNIL)
            return 2;
        lua_pop(L, 2);
    }
}

static int sorted_pairs(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    lua_newtable(L); /* 2: the keys as found */
    lua_Integer count = 0;
    for (lua_pushnil(L); lua_next(L, 1); count++) {
        lua_pop(L, 1);
        int type = lua_type(L, -1);
        if (type != LUA_TNUMBER && type != LUA_TSTRING)
            return luaL_error(L, "pairs: keys must be numbers or strings, found a %s", lua_typename(L, type));
        lua_pushvalue(L, -1);
        lua_rawseti(L, 2, count + 1);
    }
    sort_key *keys = lua_newuserdatauv(L, (size_t)count * sizeof *keys + 1, 0); /* 3 */
    for (lua_Integer i = 0; i < count; i++) {
        int type = lua_rawgeti(L, 2, i + 1);
        keys[i] = (sort_key){.type = type, .place = i + 1};
        if (type == LUA_TSTRING)
            keys[i].word = lua_tolstring(L, -1, &keys[i].length);
        else {
            keys[i].number = lua_tonumber(L, -1);
            keys[i].whole = lua_tointeger(L, -1);
        }
        lua_pop(L, 1);
    }
    qsort(keys, (size_t)count, sizeof *keys, compare_keys);
    lua_pushvalue(L, 1);
    lua_createtable(L, (int)(count < 1 << 24 ? count : 0), 0);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, 2, keys[i].place);
        lua_rawseti(L, -2, i + 1);
    }
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, pairs_next, 3);
    return 1;
}

/* What Lua has and a scene does not. */
static const char *absent_reason(const char *name)
{
    static const char *const file[] = {"os", "io", "require", "package", "dofile", "loadfile", NULL};
    static const char *const other[] = {
        "load",           "debug",        "coroutine", "setmetatable", "xpcall",
        "collectgarbage", "getmetatable", "rawset",    "rawget",       "rawequal",
        "rawlen",         "next",         "warn",      "utf8",         "find",
        "match",          "gmatch",       "gsub",      "dump",         "pack",
        "unpack",         "packsize",     "move",      "randomseed",   NULL};
    for (int i = 0; file[i]; i++)
        if (strcmp(name, file[i]) == 0)
            return "a scene cannot run programs or open files by itself";
    for (int i = 0; other[i]; i++)
        if (strcmp(name, other[i]) == 0)
            return "scenes do without it";
    return NULL;
}

enum { FEW = 8 }; /* names that a message has room for */

static int by_alphabet(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names in the table at 1, which stay there. */
static int names_in(lua_State *L, const char *words[CANDIDATES])
{
    int count = 0;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
        if (lua_type(L, -2) == LUA_TSTRING && count < CANDIDATES)
            words[count++] = lua_tostring(L, -2);
    qsort(words, (size_t)count, sizeof *words, by_alphabet);
    return count;
}

/* "; there are: ..." of a table with few names; pushed. */
static const char *push_names(lua_State *L, const char *what, const char *const *words, int count)
{
    luaL_Buffer text;
    luaL_buffinit(L, &text);
    for (int i = 0; i < count && count <= FEW; i++) {
        luaL_addstring(&text, i == 0 ? "; there are: " : ", ");
        luaL_addstring(&text, what);
        luaL_addstring(&text, *what ? "." : "");
        luaL_addstring(&text, words[i]);
    }
    luaL_pushresult(&text);
    return lua_tostring(L, -1);
}

static int missing_key(lua_State *L)
{
    const char *what = lua_tostring(L, lua_upvalueindex(1));
    if (lua_type(L, 2) != LUA_TSTRING)
        return 0;
    const char *name = lua_tostring(L, 2), *dot = *what ? "." : "";
    const char *words[CANDIDATES];
    const char *reason = absent_reason(name);
    if (reason)
        return luaL_error(L, "%s%s%s is not available: %s", what, dot, name, reason);
    int count = names_in(L, words);
    const char *near = und_suggest(name, words, count);
    if (near)
        return luaL_error(L, "unknown name \"%s%s%s\" (did you mean \"%s\"?)", what, dot, name, near);
    return luaL_error(L, "unknown name \"%s%s%s\"%s", what, dot, name, push_names(L, what, words, count));
}

static int called(lua_State *L)
{
    const char *what = lua_tostring(L, lua_upvalueindex(1));
    const char *words[CANDIDATES];
    int count = names_in(L, words);
    return luaL_error(L, "%s is not a function%s", *what ? what : "_ENV", push_names(L, what, words, count));
}

void und_sandbox_strict(lua_State *L, const char *what)
{
    lua_createtable(L, 0, 1);
    lua_pushstring(L, what);
    lua_pushcclosure(L, missing_key, 1);
    lua_setfield(L, -2, "__index");
    lua_pushstring(L, what);
    lua_pushcclosure(L, called, 1);
    lua_setfield(L, -2, "__call");
    lua_setmetatable(L, -2);
}

/* Copies the functions named from the table at `from` to the one on top. */
static void copy_names(lua_State *L, int from, const char *const *names)
{
    for (int i = 0; names[i]; i++) {
        lua_getfield(L, from, names[i]);
        lua_setfield(L, -2, names[i]);
    }
}

static void copy_charged(lua_State *L, int from, const char *name, double factor)
{
    lua_getfield(L, from, name);
    lua_pushnumber(L, factor);
    lua_pushcclosure(L, charged, 2);
    lua_setfield(L, -2, name);
}

static void open_string(lua_State *L, int globals)
{
    static const char *const names[] = {"char", "len", "lower", "reverse", "sub", "upper", NULL};
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 0);
    lua_newtable(L);
    copy_names(L, lua_gettop(L) - 1, names);
    lua_getfield(L, -2, "byte");
    lua_pushcclosure(L, bytes, 1);
    lua_setfield(L, -2, "byte");
    lua_getfield(L, -2, "rep");
    lua_pushcclosure(L, repeat, 1);
    lua_setfield(L, -2, "rep");
    lua_getfield(L, -2, "format");
    lua_pushcclosure(L, format, 1);
    lua_setfield(L, -2, "format");
    und_sandbox_strict(L, "string");
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_pop(L, 2);
    lua_setfield(L, globals, "string");
    lua_pop(L, 1);
}

static void open_table(lua_State *L, int globals)
{
    luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 0);
    int from = lua_gettop(L);
    lua_newtable(L);
    copy_charged(L, from, "concat", 1);
    copy_charged(L, from, "insert", 1);
    copy_charged(L, from, "remove", 1);
    lua_getfield(L, from, "sort");
    lua_pushcclosure(L, sort, 1);
    lua_setfield(L, -2, "sort");
    copy_charged(L, from, "unpack", 1);
    lua_getfield(L, from, "pack");
    lua_setfield(L, -2, "pack");
    und_sandbox_strict(L, "table");
    lua_setfield(L, globals, "table");
    lua_pop(L, 1);
}

static int open_libraries(lua_State *L)
{
    static const char *const names[] = {"_VERSION", "assert",   "error", "ipairs",
                                        "select",   "tonumber", "type",  NULL};
    luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
    int from = lua_gettop(L);
    lua_newtable(L);
    int globals = lua_gettop(L);
    copy_names(L, from, names);
    lua_pushcfunction(L, protected_call);
    lua_setfield(L, globals, "pcall");
    lua_pushcfunction(L, sorted_pairs);
    lua_setfield(L, globals, "pairs");
    lua_pushcfunction(L, to_string);
    lua_setfield(L, globals, "tostring");
    lua_pushcfunction(L, print_line);
    lua_setfield(L, globals, "print");
    lua_pushvalue(L, globals);
    lua_setfield(L, globals, "_G");
    open_string(L, globals);
    open_table(L, globals);
    lua_pushvalue(L, globals);
    und_math_open(L);
    und_noise_open(L);
    lua_getfield(L, globals, "math");
    und_sandbox_strict(L, "math");
    lua_pop(L, 1);
    und_sandbox_strict(L, "");
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
    return 0;
}

und_status und_sandbox_open(und_sandbox *box, const und_limits *limits, und_error *err)
{
    *box = (und_sandbox){
        .limits = *limits, .work_left = limits->load_work, .step_left = INFINITY, .seed = 1, .loading = true};
    box->lua = lua_newstate(allocate, box);
    if (!box->lua)
        return und_error_set(err, UND_FAILED, "out of memory: the scene's Lua state");
    lua_pushcfunction(box->lua, open_libraries);
    if (und_sandbox_call(box, 0, 0, limits->load_work) != LUA_OK) {
        und_sandbox_close(box);
        return und_error_set(err, UND_FAILED, "out of memory: the scene's libraries");
    }
    lua_sethook(box->lua, count_hook, LUA_MASKCOUNT, HOOK_EVERY);
    return UND_OK;
}

void und_sandbox_close(und_sandbox *box)
{
    if (box->lua)
        lua_close(box->lua);
    box->lua = NULL;
}
